"""Interface of a file: the facts that resolution of names in *other* files may read.

Everything else, the bodies, is read only for edges that leave the file itself: calls, references, accesses, lookups,
mentions, and local variables on which nothing visible outside depends. If two states of a file have the same interface,
the edges of all other files are the same. Nothing left out here may be asked of another file anywhere in
`causalist.graph`; `tests/graph/test_incremental.py` links every file with the bodies of all others removed, and
compares.
"""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from causalist.model.facts import Binding, FileFacts
from causalist.model.symbols import CALLABLE_KINDS
from causalist.model.type_notation import RETURNED

_NAME = re.compile(r"\w+")


def body_bindings(facts: FileFacts) -> list[int]:
    """Return positions in `facts.bindings` of those that belong to bodies.

    These are plain variables of functions that nothing visible to other files refers to: no return value, attribute,
    annotation or base of a class in the same function or one inside of it, and no other variable that one of these
    names.
    """
    definitions = facts.definitions
    kinds = [definition.kind for definition in definitions]
    parents = [min(definition.parent, position - 1) for position, definition in enumerate(definitions)]
    members = {local for local, _ in facts.owners}
    plain: dict[int, dict[str, list[int]]] = {}  # function -> first word of a name -> positions
    seen: list[tuple[int, str]] = []  # (scope, text) of what is read from outside
    for position, binding in enumerate(facts.bindings):
        scope, target, type_, value, _ = binding
        if not 0 <= scope < len(kinds):
            continue
        word = variable_of(binding, kinds, members)
        if word:
            plain.setdefault(scope, {}).setdefault(word, []).append(position)
        else:
            seen += [(scope, target), (scope, type_), (scope, value)]
    if not plain:
        return []
    seen += _exported_texts(facts)
    while seen:
        scope, text = seen.pop()
        words = None
        while 0 <= scope < len(parents):
            if scope in plain:
                words = words or _NAME.findall(text)
                for word in words:
                    for position in plain[scope].pop(word, ()):
                        binding = facts.bindings[position]
                        seen += [(scope, binding.type), (scope, binding.value)]
            scope = parents[scope]
    return sorted(position for names in plain.values() for positions in names.values() for position in positions)


def variable_of(binding: Binding, kinds: Sequence[int], members: Container[int]) -> str:
    """Return the name of the function variable or parameter that a binding sets, or "".

    Nothing in other scopes names such a variable. `kinds` are those of the definitions; `members` those that belong to
    a type outside of which they stand.
    """
    scope, target, type_, _, _ = binding
    if (
        not 0 <= scope < len(kinds)
        or "." in target
        or target == RETURNED
        or kinds[scope] not in CALLABLE_KINDS
        # Type parameters of a block, which become those of the type that its members belong to.
        or (scope in members and type_ and "'" not in target)
    ):
        return ""
    word = _NAME.search(target)
    return word[0] if word else ""


def _exported_texts(facts: FileFacts) -> Iterator[tuple[int, str]]:
    """Yield (scope, text) of everything but bindings that chains read for other files may contain."""
    for definition in facts.definitions:
        yield definition.parent, definition.name
    for local, returned in facts.returns:
        yield local, returned
    for local, owner in facts.owners:
        yield local, owner
    for local, types in facts.parameters:
        for each in types:
            yield local, each
    for base in facts.bases:
        yield base.definition, base.name
    for block in facts.implementations:
        yield block.scope, block.type
        yield block.scope, block.trait
    for entry in facts.imports:
        yield entry.scope, f"{entry.module} {entry.name} {entry.alias}"


def interface_of(facts: FileFacts) -> FileFacts:
    """Return the facts without their bodies."""
    hidden = set(body_bindings(facts))
    bindings = facts.bindings
    if hidden:
        bindings = tuple(binding for position, binding in enumerate(bindings) if position not in hidden)
    return replace(facts, bindings=bindings, calls=(), references=(), accesses=(), lookups=(), mentions=())


def strip_uses(facts: FileFacts) -> FileFacts:
    """Return the facts needed once all files are linked: definitions, passages, words, diagnostics."""
    return replace(
        facts,
        bases=(),
        implementations=(),
        calls=(),
        references=(),
        imports=(),
        exports=(),
        bindings=(),
        accesses=(),
        lookups=(),
        mentions=(),
        routes=(),
        returns=(),
        parameters=(),
        conditions=(),
    )


def has_same_interface(one: FileFacts, other: FileFacts) -> bool:
    """Return True if two states of a file look the same to all other files."""
    return _without_positions(interface_of(one)) == _without_positions(interface_of(other))


def _without_positions(facts: FileFacts) -> FileFacts:
    """Return an interface without data of the file's own nodes: positions, documentation, words."""
    return replace(
        facts,
        definitions=tuple(
            d._replace(
                start_byte=0, end_byte=0, start_row=0, end_row=0, doc="", text_byte=0,
                # What is written of a value there, or of a type, is read from its binding or base.
                signature=d.signature if d.kind in CALLABLE_KINDS else "",
            )
            for d in facts.definitions
        ),
        bases=tuple(base._replace(row=0) for base in facts.bases),
        implementations=tuple(block._replace(row=0) for block in facts.implementations),
        imports=tuple(entry._replace(row=0) for entry in facts.imports),
        exports=tuple(export._replace(row=0) for export in facts.exports),
        bindings=_bindings_without_rows(facts.bindings),
        routes=(),  # edges of routes are found again at each change
        passages=(),
        words=None,
        diagnostics=(),
        doc="",
        n_rows=0,
        n_bytes=0,
        secrets=(),
    )  # fmt: skip


def _bindings_without_rows(bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
    return tuple(binding._replace(row=0) for binding in bindings)
