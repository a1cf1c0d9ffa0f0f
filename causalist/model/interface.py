"""What of one file's facts the resolution of names in *other* files may read: its interface.

Everything else, the bodies, is read for the edges that leave the file itself and for no others: calls, references,
accesses, lookups, mentions, and local variables on which nothing depends that is seen from outside. Where two states
of a file have `same_interface`, the edges of all other files are the same. What is left out here must not be asked of
another file anywhere in `causalist.graph`; `tests/graph/test_incremental.py` links every file with the bodies of all
others taken away, and compares.
"""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from causalist.model.facts import Binding, FileFacts
from causalist.model.symbols import CALLABLE_KINDS
from causalist.model.type_notation import RETURNED

_NAME = re.compile(r"\w+")


def body_bindings(facts: FileFacts) -> list[int]:
    """Positions in `facts.bindings` of those that belong to bodies.

    These are plain variables of functions that nothing names which is read in the same function, or in one inside of
    it, for the sake of another file: nothing that the function returns, no attribute that it sets, no annotation, no
    base of a class in it, and no other variable that one of these names.
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
    seen += _outer_texts(facts)
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
    """The name of the variable or parameter of a function that a binding is of, "" if it is of none: nothing names it
    that stands elsewhere. `kinds`: of the definitions; `members`: those that belong to a type around which they do not
    stand."""
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


def _outer_texts(facts: FileFacts) -> Iterator[tuple[int, str]]:
    """(scope, text) of whatever a chain may be made of that is read for the sake of another file, but for bindings."""
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
    """The facts without their bodies."""
    hidden = set(body_bindings(facts))
    bindings = facts.bindings
    if hidden:
        bindings = tuple(binding for position, binding in enumerate(bindings) if position not in hidden)
    return replace(facts, bindings=bindings, calls=(), references=(), accesses=(), lookups=(), mentions=())


def named_only(facts: FileFacts) -> FileFacts:
    """What is left to know of a file when all files are linked: its definitions, passages, words and diagnostics."""
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
        returns=(),
        parameters=(),
    )


def same_interface(one: FileFacts, other: FileFacts) -> bool:
    """Whether two states of a file look the same from all other files."""
    return _without_places(interface_of(one)) == _without_places(interface_of(other))


def _without_places(facts: FileFacts) -> FileFacts:
    """An interface without what is told of the file's own nodes alone: places, documentation, words."""
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
        bindings=_unplaced(facts.bindings),
        passages=(),
        words=None,
        diagnostics=(),
        doc="",
        n_rows=0,
        n_bytes=0,
        secrets=(),
    )  # fmt: skip


def _unplaced(bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
    return tuple(binding._replace(row=0) for binding in bindings)
