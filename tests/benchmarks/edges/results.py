"""The committed results of the benchmark of edges: `results.json`, from which `docs/languages.md` is made."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.edges.golds import Gold
from tests.benchmarks.edges.predictions import Prediction

RESULTS = Path(__file__).parent / "results.json"
MIN_CONFIDENCE = 0.5


def load_results() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    return content


def row_of(gold: Gold, edges: Iterable[Prediction], kinds: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """A repository in the results. Its language is the one that most of the judged files' edges are written in."""
    files = set(gold.meta["files"])
    spoken = Counter(each.language for each in edges if each.source.partition(":")[0] in files)
    shares = {"P": "precision", "Pj": "judged_precision", "R": "recall", "F1": "f1", "F1j": "judged_f1"}
    return {
        "name": gold.name,
        "repository": gold.repo,
        "commit": gold.commit,
        "language": min(spoken, key=lambda name: (-spoken[name], name)) if spoken else "",
        "kinds": {
            kind: {
                "gold": each["gold"],
                "predicted": each["predicted"],
                **{said: round(each[key], 4) for key, said in shares.items()},
            }
            for kind, each in kinds.items()
        },
    }


def write_results(
    repositories: Iterable[Mapping[str, Any]] = (),
    calibration: Mapping[str, Any] | None = None,
    sites: Mapping[str, Any] | None = None,
) -> None:
    """Puts these repositories in the place of what is known of them, and the calibration and the counts of sites by
    language, if there are any."""
    content = load_results()
    rows = {row["name"]: row for row in (*content.get("repositories", ()), *repositories)}
    content["min_confidence"] = MIN_CONFIDENCE
    content["repositories"] = [rows[name] for name in sorted(rows)]
    if calibration is not None:
        content["calibration"] = calibration
    if sites is not None:
        content["sites"] = {**content.get("sites", {}), **sites}
    order = ("min_confidence", "repositories", "calibration", "sites")
    text = json.dumps({key: content[key] for key in order if key in content}, indent=1, ensure_ascii=False)
    RESULTS.write_text(text + "\n", encoding="utf-8", newline="\n")
