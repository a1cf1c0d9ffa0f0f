"""Which methods override or implement which: those of bases by name, those of traits by the block that they stand in,
those of interfaces that nobody names by the set of methods that implements them.

A method overrides the nearest one of each base that has it, so that a chain of overriding methods is a chain of edges.
What nobody can override is left out: constructors, private and static methods, as the language's settings say. Where
functions of one name are told apart by their parameters, an overriding method has the same ones.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from causalist.graph.program.overloads import required
from causalist.graph.program.program import Program
from causalist.graph.relations.structural_types import methods_of_types
from causalist.model.facts import MODULE_SCOPE
from causalist.model.language import LanguageSettings
from causalist.model.symbols import CALLABLE_KINDS, NodeKind

_WORD = re.compile(r"\w+")


class Override(NamedTuple):
    """`method` overrides or implements `base`; both are numbers of definitions."""

    method: int
    base: int
    rule: str


def overrides(
    program: Program,
    blocks: Iterable[tuple[int, int, int]],
    by_method_set: Iterable[tuple[int, int]],
    only: Collection[int] | None = None,
) -> Iterator[Override]:
    """All of a program, by rule, then by the number of the method; with `only` at least those of methods in these
    files.

    `blocks` are (trait, first, end): the definitions of a block that implements a trait. `by_method_set` are (type,
    interface) where nobody says that one implements the other.
    """
    yield from _of_bases(program, range(len(program.files)) if only is None else sorted(only))
    for trait, first, end in blocks:
        for method in range(first, end):
            base = program.member(trait, program.definition_of[method].name)
            if base >= 0 and base != method and _is_callable(program, method) and _is_callable(program, base):
                yield Override(method, base, "trait-method")
    yield from _of_method_sets(program, by_method_set)


def _of_bases(program: Program, files: Iterable[int]) -> Iterator[Override]:
    methods = (n for each in files for n in enumerate(program.files[each].facts.definitions, program.files[each].first))
    for number, definition in methods:
        if definition.kind not in (NodeKind.METHOD, NodeKind.FUNCTION):
            continue
        settings = program.files[program.file_of[number]].settings
        owner = _owner(program, number)
        if owner < 0 or settings is None or settings.types.structural or not program.bases(owner):
            continue
        if program.definition_of[owner].kind == NodeKind.TRAIT or _stands_alone(program, number, settings):
            continue
        found: dict[int, int] = {}  # the method found -> the base that has it
        for base in program.bases(owner):
            for each in program.linear_bases(base):
                method = _method_like(program, number, each, settings) if each != owner else -1
                if method >= 0:
                    found.setdefault(method, each)
                    break
        for method, base in found.items():
            # What a nearer method overrides itself is overridden through that one.
            nearer = (other for other in found.values() if other != base)
            if method != number and not any(base in program.linear_bases(other) for other in nearer):
                yield Override(number, method, "base-method")


def _owner(program: Program, number: int) -> int:
    """The type or constructor that a function is a method of, -1 for none and for those that stand in blocks."""
    parent = program.parent(number)
    if parent >= 0:
        return parent if program.is_type(parent) else -1
    if number in program.owner_of or "." not in program.definition_of[number].qualname:
        return -1
    owner = program.enclosing_owner(number)
    return owner if owner != number else -1


def _stands_alone(program: Program, number: int, settings: LanguageSettings) -> bool:
    """Whether a method is one that nothing can override and that overrides nothing."""
    definition = program.definition_of[number]
    if definition.name in settings.names.constructors:
        return True
    if settings.names.private and re.fullmatch(settings.names.private, definition.name):
        return True
    before = definition.signature.partition(definition.name)[0]
    return not set(settings.names.alone).isdisjoint(_WORD.findall(before))


def _method_like(program: Program, number: int, base: int, settings: LanguageSettings) -> int:
    """The method of `base` itself that the method `number` overrides, or -1."""
    name = program.definition_of[number].name
    names = program.files[program.file_of[base]]
    same = names.callables.get(f"{program.definition_of[base].qualname}.{name}")
    if same is None or program.parameters.get(number) is None:
        found = program.member(base, name)
        return found if found >= 0 and _may_be_overridden(program, found, settings) else -1
    fitting = [m for m in same if _may_be_overridden(program, m, settings) and _same_parameters(program, number, m)]
    own = required(program.parameters[number])
    chosen = [m for m in fitting if required(program.parameters[m]) == own] or fitting
    return chosen[0] if len(chosen) == 1 else -1


def _may_be_overridden(program: Program, number: int, settings: LanguageSettings) -> bool:
    return _is_callable(program, number) and not _stands_alone(program, number, settings)


def _is_callable(program: Program, number: int) -> bool:
    return program.definition_of[number].kind in CALLABLE_KINDS


def _same_parameters(program: Program, method: int, base: int) -> bool:
    """Whether both take the same types; a type parameter of the base, or of its type, may be any type."""
    own, others = required(program.parameters[method]), required(program.parameters.get(base))
    if own is None or others is None or len(own) != len(others):
        return False
    return all(_last(a) == _last(b) or _is_type_parameter(program, base, b) for a, b in zip(own, others, strict=True))


def _last(written: str) -> str:
    """A type without the package or type that it stands in."""
    return written.removesuffix("...").rpartition(".")[2] + ("..." if written.endswith("...") else "")


def _is_type_parameter(program: Program, method: int, written: str) -> bool:
    names = program.files[program.file_of[method]]
    name = (_WORD.match(written) or [""])[0]
    scope = method - names.first
    while scope != MODULE_SCOPE:
        definition = names.facts.definitions[scope]
        binding = names.bindings.get(scope, {}).get(name)
        if binding is not None:
            return True
        scope = definition.parent
    return False


def _of_method_sets(program: Program, implemented: Iterable[tuple[int, int]]) -> Iterator[Override]:
    implemented = list(implemented)
    members = methods_of_types(program) if implemented else {}

    def found(owner: int) -> dict[str, int]:
        methods: dict[str, int] = {}
        for base in program.linear_bases(owner):
            for name, method in members.get(base, {}).items():
                methods.setdefault(name, method)
        return methods

    sets: dict[int, dict[str, int]] = {}
    for owner, interface in implemented:
        for each in (owner, interface):
            if each not in sets:
                sets[each] = found(each)
        for name, base in sets[interface].items():
            method = sets[owner].get(name, base)
            if method != base:
                yield Override(method, base, "method-set")
