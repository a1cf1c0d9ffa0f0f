"""Languages in which a static function may say that it is called on its first parameter: what is found on a value
beside the members of its type.

Such a function counts where the package that it stands in is in sight. A member of the type and of its bases comes
first; of these functions those for the nearest type do, and those for any value last.
"""

from collections.abc import Sequence

from causalist.graph.program.overloads import best, misfit
from causalist.graph.program.program import Program
from causalist.graph.rules import MOST_CANDIDATES
from causalist.graph.values import Value
from causalist.model.language import LanguageSettings

OUTSIDE = -1  # in the place of the type that a function is for: one that is not of the repository
ANYTHING = -2  # a type parameter, or what all types derive from
_TOP = ("object", "Object", "dynamic")


def note(program: Program, function: int, type_number: int, written: str) -> None:
    """Remembers a function that is for a type, by its number or, where that is none of the repository, its name."""
    names = program.files[program.file_of[function]]
    if type_number < 0:
        is_parameter = written in names.bindings.get(function - names.first, {})
        type_number = ANYTHING if is_parameter or written in _TOP else OUTSIDE
    program.extended[function] = type_number


def member(program: Program, file: int, value: Value, name: str, called: str | None) -> Value | None:
    """The function that a call of `name` on an instance may mean, where its type has no such member."""
    if called is None or value.kind != "instance" or not program.extended:
        return None
    found = _fitting(program, file, name, called)
    for base in program.linear_bases(value.number):
        for each in found:
            if program.extended[each] == base:
                return Value("definition", each, value.rule)
    for each in found:
        if program.extended[each] == ANYTHING:
            return Value("definition", each, "trait-in-scope")
    return None


def on_outside(
    program: Program, file: int, chain: str, arguments: str, value: Value | None
) -> Sequence[tuple[int, str]]:
    """(definition, rule) of those that a call of `chain` may mean whose receiver is of no type of the repository. If
    nothing is known of it, only those for any value, of a name that no method has."""
    name = chain.rpartition(".")[2]
    settings = program.files[file].settings
    if "." not in chain or settings is None or name in settings.builtin_methods:
        return []
    found = [each for each in _fitting(program, file, name, arguments) if program.extended[each] < 0]
    if value is None or value.kind == "unknown-member":
        if any(each not in program.extended for each in program.methods.get(name, ())):
            return []
        found = [each for each in found if program.extended[each] == ANYTHING]
    chosen = best(found, program.parameters, arguments, program.literals[settings.name])
    return [(each, _rule(program, file, each)) for each in chosen] if len(chosen) <= MOST_CANDIDATES else []


def takes(settings: LanguageSettings | None) -> bool:
    """Whether functions are written so in a language."""
    return settings is not None and settings.names.extensions


def _fitting(program: Program, file: int, name: str, arguments: str) -> list[int]:
    return [
        each
        for each in program.methods.get(name, ())
        if each in program.extended
        and _is_in_sight(program, file, each)
        and misfit(program.parameters.get(each), arguments, {}) is not None
    ]


def _is_in_sight(program: Program, file: int, function: int) -> bool:
    names, there = program.files[file], program.files[program.file_of[function]]
    package, own = there.facts.package, names.facts.package
    if there.settings is not names.settings:
        return False
    if not package or own == package or own.startswith(f"{package}."):
        return True
    around = f"{package}.{program.definition_of[function].qualname.rpartition('.')[0]}"
    return any(star.module in (package, around) for star in names.stars)


def _rule(program: Program, file: int, function: int) -> str:
    there = program.file_of[function]
    if there == file:
        return "same-file"
    return "package-scope" if program.files[there].facts.package == program.files[file].facts.package else "star-import"
