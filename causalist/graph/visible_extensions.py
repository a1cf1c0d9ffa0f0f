"""Extensions that a file may call: those that no library keeps to itself, and whose namespace or module it opens."""

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.overload_fit import misfit
from causalist.graph.program import Program
from causalist.graph.rules import RuleName
from causalist.model.node_ids import OPENED, NodeKind


def is_out_of_reach(program: Program, file: int, method: int, is_called: bool = True) -> bool:
    """Return True for what a call in `file` cannot mean: a getter, or what is private in another library."""
    if (settings := program.files[file].settings) is None or not settings.modules.libraries:
        return False
    definition, parent = program.definition_of[method], program.parent(method)
    around = program.definition_of[parent].name if method in program.extended and parent >= 0 else ""
    is_private = definition.name.startswith("_") or around.startswith(("_", "extension$"))
    is_getter = " get " in f" {definition.signature}"
    return is_getter is is_called or (is_private and program.packages.are_apart(file, program.file_of[method]))


def is_in_sight(program: Program, file: int, function: int, is_called: bool) -> bool:
    """Return True if a file sees an extension, by its namespace or by what it opens."""
    symbols, there = program.files[file], program.files[program.file_of[function]]
    package, own = there.facts.package, symbols.facts.package
    if there.settings is not symbols.settings or symbols.settings is None:
        return False
    if is_out_of_reach(program, file, function, is_called):
        return False
    if symbols.settings.modules.opened and there is not symbols and _is_unopened(program, symbols, there, function):
        return False
    if not package or own == package or own.startswith(f"{package}."):
        return True
    namespace = f"{package}.{program.definition_of[function].qualname.rpartition('.')[0]}"
    return any(star.module in (package, namespace) for star in symbols.stars)


def _is_unopened(program: Program, symbols: FileSymbols, there: FileSymbols, function: int) -> bool:
    """Return True for what stands in a module that does not open itself and that the file does not open."""
    module = program.parent(function)
    while module >= 0 and program.definition_of[module].kind != NodeKind.NAMESPACE:
        module = program.parent(module)
    if module < 0 or any(each.exported == f"{OPENED}{module - there.first}+" for each in there.facts.exports):
        return False
    full = f".{there.facts.package}.{program.definition_of[module].qualname}"
    return not any(full.endswith(f".{star.module}") for star in symbols.stars)


def find_fitting_extensions(program: Program, file: int, name: str, called: str | None) -> list[int]:
    """Return the extensions of a name that a file sees and that take what is given."""
    return [
        each
        for each in program.methods.get(name, ())
        if each in program.extended
        and is_in_sight(program, file, each, called is not None)
        and misfit(program.parameters.get(each), called or "", {}) is not None
    ]


def rule_of_extension(program: Program, file: int, function: int) -> str:
    """Return the rule by which a file knows an extension."""
    if program.file_of[function] == file:
        return RuleName.SAME_FILE
    same_package = package_of(program, function) == program.files[file].facts.package
    return RuleName.PACKAGE_SCOPE if same_package else RuleName.STAR_IMPORT


def written_owner(program: Program, extension: int) -> str:
    """Return the name of the type that an extension function is written for."""
    symbols = program.files[program.file_of[extension]]
    written = dict(symbols.facts.owners).get(extension - symbols.first, "")
    return written.partition("{")[0].partition("?")[0].rpartition(".")[2]


def package_of(program: Program, definition: int) -> str:
    """Return the package of the file of a definition."""
    return program.files[program.file_of[definition]].facts.package
