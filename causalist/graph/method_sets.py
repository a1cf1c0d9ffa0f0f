"""Which types implement which interfaces, where nobody says so: a type that has all methods of an interface does.

Methods are compared by name and by the types that their signatures name, without the names of parameters. Methods that
a type is given by what it embeds count, as far as that is in the repository. An interface that embeds one from outside
asks for methods that nobody here knows, so nothing is said of it.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from causalist.graph.names import Program
from causalist.model.facts import MODULE_SCOPE
from causalist.model.symbols import NodeKind

_TOKEN = re.compile(r"[()\[\]{},]")
_NAMED = re.compile(r"([^\W\d]\w*)\s+(\S.*)")
_TYPE_WORDS = frozenset({"chan", "func", "map", "struct", "interface"})
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_FUNCTION = re.compile(r"\bfunc\s*\(")
_CUT = "…"  # ends a signature that is not kept as a whole
_MOST_METHODS = 200


def implementations(program: Program, derived_from_outside: set[int]) -> Iterator[tuple[int, int]]:
    """(type, interface) in the order of their numbers."""
    interfaces: list[tuple[int, dict[str, int]]] = []
    having: dict[str, list[int]] = {}  # name of a method -> types that have it
    methods_of: dict[int, dict[str, int]] = {}
    members = methods_of_types(program)
    for number, definition in enumerate(program.definition_of):
        settings = program.files[program.file_of[number]].settings
        if settings is None or not settings.types.structural or not program.is_type(number):
            continue
        bases = program.linear_bases(number)
        found: dict[str, int] = {}
        for base in bases:
            for name, method in members.get(base, {}).items():
                found.setdefault(name, method)
        is_interface = any(program.definition_of[b].kind == NodeKind.INTERFACE for b in (bases[0], bases[-1]))
        if definition.kind == NodeKind.INTERFACE:
            if 0 < len(found) <= _MOST_METHODS and not derived_from_outside.intersection(bases):
                interfaces.append((number, found))
        elif not (definition.kind == NodeKind.TYPE and is_interface):
            methods_of[number] = found
            for name in found:
                having.setdefault(name, []).append(number)
    signatures: dict[int, str] = {}
    for interface, wanted in interfaces:
        rarest = min(wanted, key=lambda name: (len(having.get(name, ())), name))
        for each in having.get(rarest, ()):
            if _has_all(program, methods_of[each], wanted, signatures):
                yield each, interface


def methods_of_types(program: Program) -> dict[int, dict[str, int]]:
    """The methods of each type, by name."""
    result: dict[int, dict[str, int]] = {}
    for number, definition in enumerate(program.definition_of):
        if definition.kind == NodeKind.METHOD:
            owner = program.owner_of.get(number, program.parent(number))
            if owner >= 0:
                result.setdefault(owner, {}).setdefault(definition.name, number)
    return result


def _has_all(program: Program, methods: dict[str, int], wanted: dict[str, int], signatures: dict[int, str]) -> bool:
    for name, method in wanted.items():
        own = methods.get(name)
        if own is None:
            return False
        if not name[0].isupper() and not _in_one_package(program, own, method):
            return False  # nobody else can have a method that only this package sees
        for each in (own, method):
            if each not in signatures:
                known_as = partial(_meaning, program, program.file_of[each])
                signatures[each] = comparable(program.definition_of[each].signature, name, known_as)
        a, b = signatures[own], signatures[method]
        if a != b and _CUT not in a + b:
            return False
    return True


def _in_one_package(program: Program, a: int, b: int) -> bool:
    package_of = program.packages.package_of
    return package_of[program.file_of[a]] == package_of[program.file_of[b]]


def _meaning(program: Program, file: int, written: str) -> str:
    """A name for a type that is the same in all files: a definition's number, or the package and the name."""
    head, _, last = written.partition(".")
    if not last:
        number = program.packages.definition(file, written, program.files)
        return written if number is None else f"#{number}"
    entry = program.files[file].imports.get(MODULE_SCOPE, {}).get(head)
    if entry is None:
        return written
    target, _ = program.target_module(file, entry)
    number = program.packages.definition(target, last, program.files) if target >= 0 else None
    return f"{entry.module}.{last}" if number is None else f"#{number}"


def comparable(signature: str, name: str, known_as: Callable[[str], str] = str) -> str:
    """The types of parameters and results in a method's signature; `known_as` gives a type's name one meaning
    everywhere.

    >>> comparable("func (s *S) Get(a, b int, f func(x int) error) (*p.T, error)", "Get")
    '(int,int,func(int)(error))(*p.T,error)'
    >>> comparable("Get(int, int, func(x int) error) (t *p.T, err error)", "Get")
    '(int,int,func(int)(error))(*p.T,error)'
    """
    matched = re.search(rf"(?:^|\)\s*|\s){re.escape(name)}\(", signature)
    if matched is None or _CUT in signature:
        return _CUT
    return _function(signature[matched.end() - 1 :], known_as)


def _function(text: str, known_as: Callable[[str], str]) -> str:
    """The types of `(a, b A) (c C)`."""
    end = _closing(text, 0)
    results = text[end + 1 :].strip()
    if results.startswith("(") and _closing(results, 0) == len(results) - 1:
        results = results[1:-1]
    return f"({_types(text[1:end], known_as)})({_types(results, known_as)})"


def _types(text: str, known_as: Callable[[str], str]) -> str:
    parts = [part for part in map(str.strip, _split(text)) if part]
    named = [_NAMED.fullmatch(part) for part in parts]
    if any(n and n[1] not in _TYPE_WORDS for n in named):
        written = ""
        types: list[str] = []
        for part, name in zip(reversed(parts), reversed(named), strict=True):
            written = name[2] if name and name[1] not in _TYPE_WORDS else written or part
            types.insert(0, written)
        parts = types
    return ",".join(_plain(part, known_as) for part in parts)


def _plain(text: str, known_as: Callable[[str], str]) -> str:
    inner = _FUNCTION.search(text)
    if inner:
        return _plain(text[: inner.start()], known_as) + "func" + _function(text[inner.end() - 1 :], known_as)
    text = re.sub(r"\s*([()\[\]{},])\s*", r"\1", text.replace("interface{}", "any").replace("interface {}", "any"))
    return _DOTTED.sub(lambda matched: known_as(matched[0]), text)


def _closing(text: str, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth == 0:
            return token.start()
    return len(text)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if token[0] == "," and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    return [*parts, text[start:]]
