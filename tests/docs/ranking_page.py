"""The tables of docs/ranking.md: `python -m tests.docs.ranking_page [--write]`."""

import json
import sys

from causalist.model.node_ids import Role
from causalist.rank import GENERATORS, ROUTES
from causalist.rank.scoring.history_and_roles import SUPERSEDED_FACTOR, USER_INTERFACE_FACTOR
from tests.docs.blocks import DOCS, ROOT, keep_in_sync, table

PAGE = DOCS / "ranking.md"
WEIGHTS = ROOT / "causalist/rank/scoring/weights.json"
CALIBRATION = ROOT / "causalist/rank/scoring/calibration.json"
_PASSES = ("definition", "file")


def contents() -> dict[str, str]:
    """All generated blocks of the page by name."""
    data = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    names = list(dict.fromkeys(name for part in _PASSES for name in data[part]["signals"]))
    signals = [(f"`{name}`", *(_cell(data[part]["signals"].get(name)) for part in _PASSES)) for name in names]
    kinds = [(f"`{kind}`", f"{value:g}") for kind, value in data["definition"]["kind"].items()]
    parts_with_roles = (data["factors"], data["definition"], data["file"])
    roles = [(f"`{role.label}`", *(f"{part['role'][role.label]:g}" for part in parts_with_roles)) for role in Role]
    heads = ("definitions", "files")
    parts = [
        f"Provenance: {data['provenance']}.\n",
        table(("signal", *heads), list(signals)),
        "Weight of the kind of a definition; other kinds have 0:\n",
        table(("kind", "weight"), list(kinds)),
        "Factor of the role of a file, unless the query is about that role. For a question of a user that names no "
        f"user interface, a file that draws one has {USER_INTERFACE_FACTOR} besides "
        "([benchmarks](benchmarks.md#user-interfaces)), and SQL that a later migration makes again "
        f"{SUPERSEDED_FACTOR}:\n",
        table(("role", "what words find", *heads), list(roles)),
    ]
    return {"routes": _routes(), "rank-weights": "\n".join(parts), "confidence": _confidence()}


def _routes() -> str:
    """What each generator is, and which run on which route."""
    heads = ("", *(f"`{route.value}`" for route in ROUTES))
    rows: list[tuple[object, ...]] = [
        (f"`{name}`: {what}", *(_yes(name in plan.generators) for plan in ROUTES.values()))
        for name, what in GENERATORS.items()
    ]
    rows.append(("share of slots reserved for graph evidence", *(f"{p.graph_share:g}" for p in ROUTES.values())))
    rows.append(
        ("a file that takes a slot becomes a seed for the next", *(_yes(p.second_hop) for p in ROUTES.values()))
    )
    rows.append(("a mention counts again (`looked up`)", *(_yes(p.names_decide) for p in ROUTES.values())))
    rows.append(
        (
            "penalty on the n-th further definition of a file, times ln(1 + n)",
            *(f"{p.diversity_penalty:g}" for p in ROUTES.values()),
        )
    )
    return table(heads, rows)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _confidence() -> str:
    data = json.loads(CALIBRATION.read_text(encoding="utf-8"))
    weights = [(f"`{name}`", f"{value:g}") for name, value in data["weights"].items()]
    given = [(f"level `{name}`", f"{value:g}") for name, value in data["level"].items()]
    return f"Provenance: {data['provenance']}.\n\n" + table(("feature", "weight"), [*weights, *given])


def _cell(weight: float | None) -> str:
    return "" if weight is None else f"{weight:g}"


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
