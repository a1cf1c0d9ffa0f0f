"""The overview and known gaps in docs/languages.md, and the tables of docs/edges-by-language.md.

    python -m tests.docs.languages [--write]

Made from the grammars, the confidences of the package, `tests/benchmarks/edges/results.json` and the known gaps of the
language cases.
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
MEASURED = DOCS / "edges-by-language.md"
_CASES = ROOT / "tests" / "languages"
_TITLES = {
    "cpp": "C++",
    "csharp": "C#",
    "fsharp": "F#",
    "gdscript": "GDScript",
    "objc": "Objective-C",
    "javascript": "JavaScript",
    "matlab": "MATLAB",
    "ocaml": "OCaml",
    "php": "PHP",
    "powershell": "PowerShell",
    "systemverilog": "SystemVerilog",
    "vhdl": "VHDL",
    "typescript": "TypeScript",
}
# A kind of edge for each group that is counted.
_KINDS = {"calls": EdgeKind.CALLS, "imports": EdgeKind.IMPORTS, "extends": EdgeKind.EXTENDS}
_GAP = re.compile(r"known gap:\s*(.*?)(?: \*\))?$", re.MULTILINE)
_EXPECTATION = re.compile(r"(calls|references|extends|implements|imports|contains|no calls)\b")


def contents() -> dict[str, str]:
    """Generated blocks of docs/languages.md by name: the overview, and the gaps of each language that states any."""
    gaps = {name: list(_gaps(name)) for name in languages()}
    lists = {
        name: "Known gaps, each with its test case:\n\n"
        + "".join(f"- {text} ([`{path.rpartition('/')[2]}`](../{path}))\n" for text, path in found)
        for name, found in gaps.items()
        if found
    }
    return {"overview": _overview(_settings(), load_results()), **lists}


def measured() -> dict[str, str]:
    """Generated blocks of docs/edges-by-language.md by name: rules, repositories, calibration of each language."""
    results, confidences = load_results(), load_confidences()
    parts = {name: _section(name, results, confidences) for name in languages()}
    return {f"edges-{name}": text for name, text in parts.items() if text}


def languages() -> list[str]:
    return sorted(_settings())


def _settings() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in load_settings().values():
        found.setdefault(each.name, each)
    return found


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


def _section(name: str, results: Mapping[str, Any], confidences: Confidences) -> str:
    """Tables of one language, or nothing if no repository was judged and no call site labeled."""
    parts = []
    rules = _rules(name, confidences)
    if rules:
        parts.append(rules)
    rows: list[tuple[object, ...]] = []
    for row in (row for row in results["repositories"] if row["language"] == name):
        for kind in ("calls", "imports", "extends"):
            each = row["kinds"].get(kind)
            if each is not None and each["gold"]:
                shares = (f"{each[key]:.3f}" for key in ("judged_precision", "recall", "judged_f1"))
                rows.append((f"{row['repository']} @ {row['commit'][:7]}", kind, each["gold"], *shares))
    if rows:
        parts.append(table(("repository", "edges", "gold edges", "precision", "recall", "F1"), rows))
    known = results["calibration"].get(name)
    if known:
        bins: list[tuple[object, ...]] = [
            (f"{b['from']}–{b['to']}", b["edges"], f"{b['confidence']:.3f}", f"{b['precision']:.3f}")
            for b in known["bins"]
        ]
        parts.append(table(("confidence", "judged calls", "mean confidence", "right"), bins))
    for share, sites in results.get("sites", {}).get(name, {}).items():
        low, high = sites["interval"]
        parts.append(
            f"Of {sites['sites']} call sites labeled by hand: {share} {sites['right']} of {sites['of']} "
            f"({low:.2f}–{high:.2f}).\n"
        )
    return "\n".join(parts)


def _rules(language: str, confidences: Confidences) -> str:
    rows: list[tuple[object, ...]] = []
    for rule in RULES:
        for group, kind in _KINDS.items():
            counts = confidences.rules.get(rule.name, {}).get(group, {}).get("languages", {}).get(language)
            if counts is None:
                continue
            right, of = counts["right"], counts["right"] + counts["wrong"]
            said = confidences.confidence_of(rule.name, kind, language)
            rows.append((f"`{rule.name}`", group, f"{right:,} of {of:,}", f"{said:.3f}"))
    return table(("rule", "edges", "right", "confidence"), rows) if rows else ""


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
    is_same = True
    for page, blocks in ((PAGE, contents()), (MEASURED, measured())):
        text = page.read_text(encoding="utf-8")
        there = blocks_of(text, "generated")
        is_same = is_same and {name: there.get(name) for name in blocks} == blocks
        if "--write" in arguments:
            page.write_text(with_blocks(text, "generated", blocks), encoding="utf-8")
    return int(not is_same and "--write" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
