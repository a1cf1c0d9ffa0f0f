"""Scores what call sites mean against labels that people gave them by reading the code.

    python -m tests.benchmarks.edges.sites FILE... --clones DIR [--min-confidence 0.5] [--sure 0.99] [--misses]
        [--write]

FILE holds one site a line: `repo`, `commit`, `path`, `line`, `callee_text` (what is called, as it is written), `label`
(`internal`, `external` or `unknown`) and `targets`, the ids of the definitions that it may run. `--clones` holds
OWNER+NAME/repo or OWNER/NAME with history. A site that is internal is right where all edges from it with enough
confidence lead to targets and there is one; every edge from another site is wrong. Prints a row for each repository as
Markdown, with intervals of 95 % and how many of the edges with a confidence of `--sure` or more are wrong; with
`--misses` also what was not right. `--write` puts the counts into
`results.json`, under the language that the name of a file begins with.

`php_sites.jsonl` was used to find faults; `php_unseen_sites.jsonl` was drawn and labelled when the queries were done,
and so were the others. Faults that they showed are mended since: of today's rules they say what seen sites say. The
misses of the repositories in `HELD_OUT` were never read, and are not printed.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from causalist.evaluate.mining import find_clone
from causalist.graph import load_confidences
from causalist.graph.node_and_edge_arrays import _number_duplicates
from causalist.graph.program import Program
from causalist.graph.resolver import Resolver
from causalist.model.facts import Call, FileFacts
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import NodeKind, symbol_id
from causalist.parse import load_settings, parse_file
from causalist.source import BlobReader, scan_commit
from tests.benchmarks.edges.results import write_results
from tests.benchmarks.edges.rust_sites import wilson

HELD_OUT = {"zhanghai/MaterialFiles", "mobile-dev-inc/maestro", "GitTools/GitVersion", "greenshot/greenshot"}
_NO_CODE = (NodeKind.CONSTANT,)
_INDEXED = ("matlab", "odin", "starlark", "vhdl")  # languages in which a field before brackets is no function
_JOINS = re.compile(r"\s*(?:\?->|->|::|\?\.|\\|\.)\s*")
_TEXTS = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_INNERMOST = re.compile(r"(?<=\w)\[(?=[A-Z_])[^\[\](){}]*\]|(?<=\w)\s*<[^<>(){}]*>|\([^()]*\)|\s*\{[^{}]*\}")
# A class that an instance is made of is what is called: Ruby `A.new`, PowerShell `[A]::new`.
_MADE = re.compile(r"(?<=\w)\.new$|(?<=\])::[Nn]ew$")
_LAST_NAME = re.compile(r"[\w$]+(?=\W*$)")


class Found(NamedTuple):
    callee: str
    targets: dict[str, float]  # those with enough confidence, and their confidence


class Sites:
    """What every call of a commit means, by (path, 1-based line)."""

    def __init__(self, clone: Path, commit: str, min_confidence: float) -> None:
        settings = load_settings()
        self._program = Program.from_files(list(_facts(clone, commit)), settings)
        self._resolver = Resolver(self._program)
        self._resolver.prepare()
        self._min_confidence = min_confidence
        folded = (each for each in self._program.files if each.settings is not None and each.settings.names.folded)
        self._folded = {each.path for each in folded}  # files in which capitals tell nothing apart
        self._at: dict[tuple[str, int], list[tuple[int, Call]]] = {}
        for number, names in enumerate(self._program.files):
            for call in names.facts.calls:
                self._at.setdefault((names.path, call.row + 1), []).append((number, call))

    def find(self, path: str, line: int, text: str) -> Found | None:
        """What the call with this text in this line means; None where no such call was seen."""
        text = _MADE.sub("", bare(text.lower() if path in self._folded else text))
        last = _LAST_NAME.search(text)
        calls = [
            c
            for c in self._at.get((path, line), ())
            if last and (c[1].callee == text or c[1].callee.rpartition(".")[2].rstrip("?!") == last[0])
        ]
        head = _JOINS.split(text.removeprefix("new ").lstrip("\\"))[0].partition("(")[0]
        calls.sort(key=lambda each: _distance(each[1].callee, head, text.count("(")))
        if not calls:
            return None
        number, call = calls[0]
        targets, _ = self._resolver.resolve(
            number, call.scope, call.callee, guess=True, arguments=call.arguments, values=call.values
        )
        settings = self._program.files[number].settings
        table, language = load_confidences(), settings.name if settings else ""
        found: dict[str, float] = {}
        for target in targets:
            confidence = table.confidence_of(target.rule, EdgeKind.CALLS, language) / target.candidates
            kind = self._program.definition_of[target.definition].kind
            is_element = kind == NodeKind.FIELD and language in _INDEXED  # what `a.b(1)` reads
            if confidence >= self._min_confidence and kind not in _NO_CODE and not is_element:  # which is a reference
                found[self._id(target.definition)] = confidence
        return Found(call.callee, found)

    def _id(self, definition: int) -> str:
        names = self._program.files[self._program.file_of[definition]]
        local = definition - names.first
        qualname = names.facts.definitions[local].qualname + _number_duplicates(names)[local]
        return symbol_id(names.path, qualname)


def bare(text: str) -> str:
    """What is called without its arguments, type arguments and lambdas.

    >>> bare("new A<B<C>>(d(e)).f<G>")
    'new A().f'
    >>> bare("list.map { it.x() }.b<C>")
    'list.map.b'
    """
    text = _TEXTS.sub('""', text)
    while (shorter := _INNERMOST.sub(lambda m: "\0" if m[0][0] == "(" else "", text)) != text:
        text = shorter
    return text.replace("\0", "()")


def _distance(callee: str, head: str, n_calls: int) -> tuple[bool, int]:
    """How much less a chain fits what is written than another: by its first name, then by the calls inside of it."""
    return re.split(r"[.(]", callee.lstrip("."))[0] != head, abs(callee.count("()") - n_calls)


def _facts(clone: Path, commit: str) -> Iterator[tuple[str, FileFacts]]:
    with BlobReader(clone) as reader:
        for entry in scan_commit(clone, commit).entries:
            file = reader.read(entry)
            if not isinstance(file, str):
                yield entry.path, parse_file(entry.path, file.data)


def judge(site: Mapping[str, Any], found: Found | None) -> str:
    """`right`, `wrong` or `missed` of a site that is internal; `false` or `left alone` of others."""
    targets = set(found.targets if found else ())
    if site["label"] == "internal":
        return "missed" if not targets else "right" if targets <= set(site["targets"]) else "wrong"
    return "false" if targets else "left alone"


def judge_edges(site: Mapping[str, Any], found: Found | None, sure: float) -> Counter[str]:
    """The edges of a site that are `sure`, and those of them that are `sure and wrong`."""
    edges = [target for target, confidence in found.targets.items() if confidence >= sure] if found else []
    return Counter({"sure": len(edges), "sure and wrong": sum(target not in site["targets"] for target in edges)})


def _share(right: int, of: int) -> str:
    if not of:
        return "–"
    low, high = wilson(right, of)
    return f"{right / of:.3f} [{low:.2f}–{high:.2f}]"


def _shares(n: Counter[str]) -> dict[str, dict[str, object]]:
    """Precision and recall as `results.json` has them, with intervals of 95 %."""
    given, internal = n["right"] + n["wrong"] + n["false"], n["right"] + n["wrong"] + n["missed"]
    return {
        name: {
            "sites": n.total(),
            "right": n["right"],
            "of": of,
            "interval": [round(x, 3) for x in wilson(n["right"], of)],
        }
        for name, of in (("precision", given), ("recall", internal))
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--min-confidence", type=float, default=0.5)
    parser.add_argument("--sure", type=float, default=0.99, metavar="CONFIDENCE")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sites = [
        {**json.loads(line), "language": file.stem.partition("_")[0]}
        for file in arguments.files
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    counts: dict[str, Counter[str]] = {}
    spoken: dict[str, Counter[str]] = {}
    misses: list[str] = []
    for repo, commit in dict.fromkeys((site["repo"], site["commit"]) for site in sites):
        clone = find_clone(arguments.clones, repo)
        if clone is None:
            raise SystemExit(f"no clone of {repo} in {arguments.clones}")
        known = Sites(clone, commit, arguments.min_confidence)
        for site in sites:
            if (site["repo"], site["commit"]) == (repo, commit):
                found = known.find(site["path"], site["line"], site["callee_text"])
                verdict = judge(site, found)
                for key in (repo, "all"):
                    counts.setdefault(key, Counter())[verdict] += 1
                    counts[key].update(judge_edges(site, found, arguments.sure))
                spoken.setdefault(site["language"], Counter())[verdict] += 1
                if verdict not in ("right", "left alone") and repo not in HELD_OUT:
                    misses.append(f"{verdict}: {site['path']}:{site['line']} {site['callee_text']} {found}")
    out = sys.stdout
    out.write(
        "| repository | sites | internal | right | wrong | missed | edge from another | precision | recall "
        f"| edges of {arguments.sure} or more | wrong |\n"
    )
    out.write(f"|---|{'--:|' * 10}\n")
    for key in [*(key for key in counts if key != "all"), "all"]:
        n = counts[key]
        internal, given = n["right"] + n["wrong"] + n["missed"], n["right"] + n["wrong"] + n["false"]
        sure = f"{n['sure']} | {n['sure and wrong']}"
        shares = f"{_share(n['right'], given)} | {_share(n['right'], internal)} | {sure}"
        numbers = " | ".join(
            map(
                str,
                (internal + n["false"] + n["left alone"], internal, n["right"], n["wrong"], n["missed"], n["false"]),
            )
        )
        out.write(f"| {key} | {numbers} | {shares} |\n")
    out.writelines(f"{line}\n" for line in misses if arguments.misses)
    if arguments.write:
        write_results(sites={language: _shares(n) for language, n in spoken.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
