"""docs/languages.md: what each language resolves, how often that is right, and what it misses.

    python -m tests.docs.languages [--write]

Made from the grammars, `causalist/graph/rule_precision.json`, `tests/benchmarks/edges/results.json` and the known gaps
that the language cases state.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from causalist.graph import RULES, Confidences, load_confidences
from causalist.model.graph import EdgeKind
from causalist.parse import load_settings
from tests.benchmarks.edges.results import load_results
from tests.docs.blocks import DOCS, ROOT, blocks_of, table, with_blocks

PAGE = DOCS / "languages.md"
_CASES = ROOT / "tests" / "languages"
_TITLES = {"cpp": "C++", "csharp": "C#", "javascript": "JavaScript", "php": "PHP", "typescript": "TypeScript"}
# A kind of edge for each group that is counted.
_KINDS = {"calls": EdgeKind.CALLS, "imports": EdgeKind.IMPORTS, "extends": EdgeKind.EXTENDS}
_GAP = re.compile(r"known gap:\s*(.*)")
_EXPECTATION = re.compile(r"(calls|references|extends|implements|imports|contains|no calls)\b")


def contents() -> dict[str, str]:
    """All generated blocks of the page by name."""
    settings: dict[str, Any] = {}
    for each in load_settings().values():
        settings.setdefault(each.name, each)
    results, confidences = load_results(), load_confidences()
    return {
        "overview": _overview(settings, results),
        **{name: _section(settings[name], results, confidences) for name in sorted(settings)},
    }


def title(name: str) -> str:
    return _TITLES.get(name, name.capitalize())


def _overview(settings: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    rows: list[tuple[object, ...]] = []
    for name in sorted(settings):
        own = [row["kinds"]["calls"] for row in results["repositories"] if row["language"] == name]
        known = results["calibration"].get(name)
        shares = [_median([each[key] for each in own]) for key in ("judged_precision", "recall")] if own else ["", ""]
        for i, sites in enumerate(results.get("sites", {}).get(name, {}).values() if not own else ()):
            shares[i] = f"{sites['right']} of {sites['of']} by hand"
        rows.append(
            (
                f"[{title(name)}](#{name})",
                ", ".join(f"`{e}`" for d in settings[name].dialects for e in d.extensions),
                len(own) or "none",
                *shares,
                f"{known['error']:.3f} ({known['interval'][0]:.3f}–{known['interval'][1]:.3f})" if known else "",
            )
        )
    head = ("language", "files", "repositories judged", "calls: precision", "calls: recall", "calibration error (95 %)")
    return table(head, rows)


def _section(settings: Any, results: Mapping[str, Any], confidences: Confidences) -> str:
    parts = ["### What is resolved\n\n", _rules(settings.name, confidences), "\n### Measured\n\n"]
    own = [row for row in results["repositories"] if row["language"] == settings.name]
    rows: list[tuple[object, ...]] = []
    for row in own:
        for kind in ("calls", "imports", "extends"):
            each = row["kinds"].get(kind)
            if each is not None and each["gold"]:
                shares = (f"{each[key]:.3f}" for key in ("judged_precision", "recall", "judged_f1"))
                rows.append((f"{row['repository']} @ {row['commit'][:7]}", kind, each["gold"], *shares))
    if rows:
        parts.append(table(("repository", "edges", "in the gold", "precision", "recall", "F1"), rows))
    else:
        parts.append("There is no compiler's gold for this language. Confidences are those of other languages.\n")
    known = results["calibration"].get(settings.name)
    if known:
        parts.append("\nCalls by confidence, each repository with the confidences fitted to all others:\n\n")
        bins: list[tuple[object, ...]] = [
            (f"{b['from']}–{b['to']}", b["edges"], f"{b['confidence']:.3f}", f"{b['precision']:.3f}")
            for b in known["bins"]
        ]
        parts.append(table(("confidence", "judged calls", "mean confidence", "right"), bins))
    for name, sites in results.get("sites", {}).get(settings.name, {}).items():
        low, high = sites["interval"]
        parts.append(
            f"\nOf {sites['sites']} call sites labelled by hand: {name} {sites['right']} of {sites['of']} "
            f"({low:.2f}–{high:.2f}).\n"
        )
    gaps = list(_gaps(settings.name))
    if gaps:
        parts.append("\n### Known gaps\n\n")
        parts += [f"- {text} ([`{path.rpartition('/')[2]}`](../{path}))\n" for text, path in gaps]
    return "".join(parts)


def _rules(language: str, confidences: Confidences) -> str:
    rows: list[tuple[object, ...]] = []
    for rule in RULES:
        for group, kind in _KINDS.items():
            counts = confidences.rules.get(rule.name, {}).get(group, {}).get("languages", {}).get(language)
            if counts is None:
                continue
            right, of = counts["right"], counts["right"] + counts["wrong"]
            said = confidences.confidence_of(rule.name, kind, language)
            rows.append((f"`{rule.name}`", group, rule.meaning, f"{right:,} of {of:,}", f"{said:.3f}"))
    if not rows:
        return "By the same rules as in other languages; none was measured here.\n"
    return table(("rule", "edges", "how they are found", "right", "confidence"), rows)


def _gaps(language: str) -> Iterator[tuple[str, str]]:
    """What the cases of a language say to be missing, with the path of the case."""
    for path in sorted((_CASES / language).glob("*.case")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found = _GAP.search(line)
            if found:
                words = [part.strip() for part in found[1].split("; ")]
                told = [part for part in words if not _EXPECTATION.match(part)] or words
                yield "; ".join(told).rstrip("."), path.relative_to(ROOT).as_posix()


def _median(values: list[float]) -> str:
    ordered = sorted(values)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return f"{middle:.2f}" if len(ordered) == 1 else f"{middle:.2f} ({ordered[0]:.2f}–{ordered[-1]:.2f})"


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in arguments:
        PAGE.write_text(with_blocks(text, "generated", contents()), encoding="utf-8")
        return 0
    return int(blocks_of(text, "generated") != contents())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
