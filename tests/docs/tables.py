"""Tables of docs/architecture.md that repeat what the code says: `python -m tests.docs.tables [--write]`.

Tables that the code can write are written here. Others (arrays of an index file; captures and keys of language.toml on
the page that tells how to add a language) have sentences of their own; `rows_after` and `codes` let tests compare what
they list.
"""

import re
import sys

from causalist.graph import RULES, Confidences, Evidence, load_confidences
from causalist.graph.rules import MAX_CANDIDATES
from causalist.model.graph import SYMMETRIC_KINDS, EdgeKind
from causalist.rank import WalkWeights
from tests.docs.blocks import DOCS, keep_in_sync, table

PAGE = DOCS / "architecture.md"
_CODE = re.compile(r"`([^`]+)`")


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
        "rules": rules + f"\nMore than {MAX_CANDIDATES} candidates for one name make no edges.\n",
        "walk-weights": table(("kind", "along the edge", "against it"), list(kinds)),
    }


def _confidence(confidences: Confidences, rule: str) -> str:
    """That of a rule over all languages, and the numbers of those that differ; of rules of imports and bases theirs."""
    groups = confidences.rules.get(rule)
    if not groups:
        evidence, stated, read = next((each.evidence, each.stated, each.read) for each in RULES if each.name == rule)
        if evidence is Evidence.STRUCTURE:
            return "1, by definition"
        if stated is not None:
            return f"{stated:.2f}, of mentions" if read is not None else f"{stated:.2f}, chosen by hand"
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
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
