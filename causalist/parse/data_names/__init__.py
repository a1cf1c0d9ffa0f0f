"""Names that code and data share: what a file makes, reads, sets, renders or runs by a literal name.

In: the text of a file, with its tree and definitions if a grammar reads it, or its kind by its path. Out: `LinkFact`
facts, and definitions of formats without a grammar. What the names mean is found when the files are linked
(`graph.relations.links`).
"""

from bisect import bisect_right
from collections.abc import Sequence

from causalist.model.facts import MODULE_SCOPE, Definition, FileFacts, LinkFact, LinkForm
from causalist.parse.data_names.code import find_texts, read_code_links
from causalist.parse.data_names.plain_files import find_names
from causalist.parse.data_names.schemas import (
    SchemaBlock,
    TextOffsets,
    define,
    is_openapi,
    read_graphql,
    read_openapi,
    read_prisma,
    read_proto,
    read_returned_texts,
    read_sql,
    read_terraform,
    read_texts,
)

_MAX_LINKS = 6_000  # of one file
_DEFINING = {"sql": read_sql, "prisma": read_prisma}
_BLOCKS = {"proto": read_proto, "graphql": read_graphql, "terraform": read_terraform}


def read_file_links(kind: str, text: str) -> tuple[tuple[Definition, ...], tuple[LinkFact, ...]]:
    """Return the definitions and names in a file without a grammar, of a kind that `cleaned_text.link_kind` gives.

    Names outside of definitions belong to MODULE_SCOPE.
    """
    if kind in _DEFINING:
        return _DEFINING[kind](text)
    at = TextOffsets(text)
    if kind in _BLOCKS:
        blocks, names = _BLOCKS[kind](text)
        definitions = _definitions(at, blocks)
    else:
        blocks, definitions = [], ()
        names = list(read_texts(text) if kind == "texts" else find_names(kind, text))
        if kind == "yaml" and is_openapi(text):
            names = list(read_openapi(text))
    order = sorted(range(len(blocks)), key=lambda i: blocks[i].start)
    starts = [blocks[i].start for i in order]
    first: dict[tuple[int, int, str], LinkFact] = {}
    for each in sorted(names):
        scope = _innermost(blocks, order, starts, each.at)
        key = scope, int(each.form), each.name
        if key not in first and len(first) < _MAX_LINKS:
            first[key] = LinkFact(*key, at.row(each.at))
    return definitions, tuple(first.values())


def _definitions(at: TextOffsets, blocks: Sequence[SchemaBlock]) -> tuple[Definition, ...]:
    definitions: list[Definition] = []
    for block in blocks:
        qualname = f"{definitions[block.parent].qualname}.{block.name}" if block.parent >= 0 else block.name
        definitions.append(define(at, block.name, qualname, block.kind, block.start, block.end, block.parent))
    return tuple(definitions)


def _innermost(blocks: Sequence[SchemaBlock], order: Sequence[int], starts: Sequence[int], at: int) -> int:
    index = bisect_right(starts, at) - 1
    number = order[index] if index >= 0 else -1
    while number >= 0 and blocks[number].end <= at:
        number = blocks[number].parent
    return number


def read_markup_links(facts: FileFacts, markup: bytes) -> tuple[LinkFact, ...]:
    """Return the keys of texts that the markup of a component shows; they belong to the component."""
    owner = next((i for i, each in enumerate(facts.definitions) if each.qualname == "default"), MODULE_SCOPE)
    keys_of_code = {(each.scope, each.name) for each in facts.links}
    links = (LinkFact(owner, int(LinkForm.SHOW_TEXT), name, row) for name, row in find_texts(markup))
    return tuple(each for each in dict.fromkeys(links) if (each.scope, each.name) not in keys_of_code)[:_MAX_LINKS]


def read_returned_links(group: str, text: str) -> tuple[LinkFact, ...]:
    """Return the keys of the texts that a file of code returns as an array, each with its group before it."""
    at = TextOffsets(text)
    names = {f"{group}.{each.name}": at.row(each.at) for each in reversed(list(read_returned_texts(text)))}
    links = sorted((row, name) for name, row in names.items())
    return tuple(LinkFact(MODULE_SCOPE, int(LinkForm.HAVE_TEXT), name, row) for row, name in links[:_MAX_LINKS])


__all__ = ["read_code_links", "read_file_links", "read_markup_links", "read_returned_links"]
