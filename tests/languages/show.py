"""What a grammar makes of one file: `python -m tests.languages.show FILE [--tree]`.

Prints the facts of the file, a line for each, in the order in which they stand in `FileFacts`; with `--tree` the syntax
tree with the names of its fields, which is what queries are written against.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import tree_sitter

from causalist.model.node_ids import NodeKind
from causalist.parse import dialect_of, load_grammar, parse_source
from causalist.parse.languages import dialect_for

_LONGEST = 60


def facts_of(path: str, data: bytes) -> Iterator[str]:
    """Definitions first; numbers before other facts are those of the definitions in which they stand, -1 for none."""
    grammar = load_grammar(dialect_for(path, data) or dialect_of(path))
    facts = parse_source(data, grammar)  # which hides no defect of a query
    yield f"language {facts.language}  package {facts.package!r}  doc {facts.doc!r}"
    for number, d in enumerate(facts.definitions):
        kind = NodeKind(d.kind).label
        rows = f"rows {d.start_row}-{d.end_row}"
        yield f"{number:3} in {d.parent:2}  {kind:9} {d.qualname}  {rows}  {d.signature!r}  {d.doc!r}"
    for name in ("bases", "implementations", "imports", "exports", "bindings", "calls", "references"):
        for fact in getattr(facts, name):
            yield f"{name}: {' '.join(str(part) if part != '' else '-' for part in fact)}"
    for name in ("returns", "owners", "parameters", "diagnostics"):
        for fact in getattr(facts, name):
            yield f"{name}: {fact}"


def tree_of(path: str, data: bytes) -> Iterator[str]:
    """One line for each node that has a name, with its field and, where it holds no other, its text."""
    root = load_grammar(dialect_for(path, data) or dialect_of(path)).parser.parse(data).root_node
    stack: list[tuple[tree_sitter.Node, int, str]] = [(root, 0, "")]
    while stack:
        node, depth, field = stack.pop()
        text = repr((node.text or b"").decode("utf-8", "replace")[:_LONGEST]) if not node.named_child_count else ""
        yield f"{'  ' * depth}{field + ': ' if field else ''}{node.type} {text}".rstrip()
        children = [(c, depth + 1, node.field_name_for_child(i) or "") for i, c in enumerate(node.children)]
        stack += [each for each in reversed(children) if each[0].is_named]


def main(arguments: list[str]) -> int:
    paths = [each for each in arguments if not each.startswith("-")]
    if len(paths) != 1 or not dialect_of(paths[0]):
        print(__doc__, file=sys.stderr)
        return 2
    show = tree_of if "--tree" in arguments else facts_of
    for line in show(paths[0], Path(paths[0]).read_bytes()):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
