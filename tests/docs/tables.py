"""Tables of docs/architecture.md that repeat what the code says: `python -m tests.docs.tables [--write]`.

Tables that the code can write are written here. That of captures in docs/adding-a-language.md has sentences of its own;
`rows_after` and `codes` let tests compare what it lists.
"""

import ast
import re
import sys

from causalist._internal.dataclass_arrays import Arrays, flatten
from causalist.graph import RULES, Confidences, Evidence, load_confidences
from causalist.graph.rules import MAX_CANDIDATES
from causalist.model.graph import SYMMETRIC_KINDS, EdgeKind
from causalist.model.index import Index
from causalist.rank import WalkWeights
from tests.docs.blocks import DOCS, keep_in_sync, table

PAGE = DOCS / "architecture.md"
_CODE = re.compile(r"`([^`]+)`")
# What the arrays of each part of an index have one entry for.
_ENTRIES = {
    "manifest": "file of the scan, sorted by path; `blobs` are git object names, `unfit` the reasons of excluded files",
    "manifest.secrets": "file of the scan; span of bytes that is masked",
    "graph.nodes": "node, sorted by id",
    "graph.edges": "edge, sorted by source, target and kind; `incoming` lists edge numbers by target",
    "graph.unresolved": "node and name of unresolved calls, sorted; `texts` are the names",
    "lexical": "term, sorted; exact name with its nodes",
    "lexical.definitions": "posting: node and weighted count; `norms` by node: the length part of BM25",
    "lexical.files": "posting of a file as a whole",
    "lexical.paths": "posting of a word in a path; `counts` and `norms` are empty",
    "lexical.symbol_names": "posting of a word in a symbol name or heading; `counts` and `norms` are empty",
    "history": "file, sorted by node; `indptr` and `files` list the files that each commit touched",
    "history.commits": "commit, newest first; `files` lists its paths, `before` and `after` the ends of each rename",
    "history.commits.words": "posting: commit whose message has the term",
    "history.messages": "posting: file whose commit messages have the term",
    "history.co_changes": "file; co-changed files, strongest first",
    "transition": "entry of the transition matrix by target; degrees by node; above a million nodes also by source",
}


def contents() -> dict[str, str]:
    """All generated blocks of the page by name."""
    confidences = load_confidences()
    rules = table(
        ("rule", "evidence", "confidence of calls", "how the edge was found"),
        [(f"`{r.name}`", r.evidence.name.lower(), _confidence(confidences, r.name), r.meaning) for r in RULES],
    )
    weights = WalkWeights().table()
    kinds = [
        (
            f"`{kind.label}`",
            f"{weights[0, kind]:g}",
            f"{weights[1, kind]:g}" + (" (symmetric)" if kind in SYMMETRIC_KINDS else ""),
        )
        for kind in EdgeKind
    ]
    return {
        "packages": table(("Package", "Promise"), packages()),
        "rules": rules + f"\nMore than {MAX_CANDIDATES} candidates for one name make no edges.\n",
        "walk-weights": table(("kind", "along the edge", "against it"), list(kinds)),
    }


def packages() -> list[tuple[str, str]]:
    """Return (package or module at the top, summary of its docstring), by path; those of one name come first."""
    root = DOCS.parent / "causalist"
    tops = [path for path in root.glob("*.py") if not path.stem.startswith("__")]
    inside = [path.parent for path in root.rglob("__init__.py") if path.parent != root]
    rows = []
    for path in sorted([*tops, *inside], key=lambda each: each.relative_to(root).parts):
        source = path / "__init__.py" if path.is_dir() else path
        summary = (ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        rows.append((f"`{path.relative_to(root.parent).as_posix()}{'/' * path.is_dir()}`", summary))
    return rows


def arrays_table(index: Index) -> str:
    """Return the table of the arrays in an index file. A table of strings is one name, although it is two arrays."""
    found: Arrays = {}
    flatten(index, "index", found)
    parts: dict[str, list[str]] = {part: [] for part in _ENTRIES}
    for name, array in found.items():
        if name.endswith(".offsets"):
            continue
        part, _, field = name.removesuffix(".blob").removeprefix("index.").rpartition(".")
        kind = "strings" if name.endswith(".blob") else str(array.dtype)
        parts[part].append(f"`{field}` {kind}")
    return table(
        ("part", "arrays", "one entry for each"),
        [(f"`{part}`", ", ".join(fields), _ENTRIES[part]) for part, fields in parts.items()],
    )


def _confidence(confidences: Confidences, rule: str) -> str:
    """That of a rule over all languages, and the numbers of those that differ; of rules of imports and bases theirs."""
    groups = confidences.rules.get(rule)
    if not groups:
        evidence, stated, read = next((each.evidence, each.stated, each.read) for each in RULES if each.name == rule)
        if evidence is Evidence.STRUCTURE:
            return "1, by definition"
        if stated is not None:
            return f"{stated:.2f}, of labels" if read is not None else f"{stated:.2f}, chosen by hand"
        return f"{confidences.evidence[evidence.name.lower()]:.2f}, not measured"
    kinds, group = next(iter(groups.items()))
    shares = [each["confidence"] for each in group["languages"].values() if "confidence" in each]
    spread = f" ({min(shares):.2f}–{max(shares):.2f})" if shares else ""
    return f"{group['confidence']:.2f}{spread}" + ("" if kinds == "calls" else f", of {kinds}")


def rows_after(text: str, heading: str) -> list[list[str]]:
    """Cells of the first table after a heading, without its head."""
    _, found, rest = text.partition(f"\n{heading}\n")
    assert found, f"the page has no heading {heading!r}"
    lines = rest.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split(" | ")])
    return rows


def codes(cell: str) -> list[str]:
    """What stands between backticks in a cell."""
    return _CODE.findall(cell)


if __name__ == "__main__":
    from tests.docs.worked_example import compute

    sys.exit(keep_in_sync(PAGE, {**contents(), "arrays": arrays_table(compute().repository.index)}, sys.argv[1:]))
