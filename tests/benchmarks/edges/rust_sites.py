"""Sixty-four Rust call sites, labelled by reading the code: what Causalist makes of them.

    python -m tests.benchmarks.edges.rust_sites --clones DIR [--min-confidence 0.5] [--write | --sample]

`rust_sites.jsonl` holds one row a site: where it is (`column` counts bytes), what it calls, and the `label`: `inside`
with the definitions that may run (`targets`, as `path:Qual.name`), `external` for what no file of the repository
defines, or `unknowable` with the reason. `--sample` draws the sites again and prints them: of each repository 16 calls,
by a generator that is seeded with the repository's name, from all calls of functions and methods in tracked files.
Calls of what begins with a capital (tuple structs, variants) and of macros are not drawn, and neither is code in
folders called tests, benches, examples or fuzz or in files called tests.rs: there one builder is called over and over.
The sites are found with plain tree-sitter, not with Causalist's parser, and labelled before its edges were looked at.

An edge of calls answers a site if it starts at the definition around the site (a function, or the module) and leads to
something of the name that is called. Where that definition calls the name more than once, only edges first seen in the
site's line count, if there are any. Precision is the share of right ones among these edges at sites that can be known,
recall the share of `inside` sites with a right edge. Intervals are Wilson's, 95 %. `--write` puts the counts into
`results.json`.
"""

import argparse
import json
import math
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tree_sitter
import tree_sitter_rust

from causalist.evaluate.mining import find_clone
from causalist.model.graph import Edge
from causalist.model.node_ids import NodeKind
from causalist.pipeline.repository import Repository
from tests.benchmarks.edges.predictions import scorer_name
from tests.benchmarks.edges.results import MIN_CONFIDENCE, write_results

REPOSITORIES = {
    "casey/just": "4f41f609278edb6f1024e3dd7a9912946e1e7bc3",
    "rust-lang/mdBook": "641d06abe7d10d981ed61dd2711a30e4119666cd",
    "BurntSushi/ripgrep": "3fce3b5bb0236da2df6d99672afb8a719642eca7",
    "tokio-rs/axum": "3d78036dcac289d6c1d54934708acb6a5bd73686",
}
SITES = Path(__file__).parent / "rust_sites.jsonl"
_SITES_EACH = 16
_CALLERS = frozenset({NodeKind.FILE, NodeKind.NAMESPACE, NodeKind.FUNCTION, NodeKind.METHOD})
_ASIDE = frozenset({"tests", "benches", "examples", "fuzz"})


class Site(NamedTuple):
    """A call: `line` is 1-based, `column` 0-based in bytes, both of the name that is called."""

    path: str
    line: int
    column: int
    name: str


def sample(repo: str, clone: Path) -> list[Site]:
    """The sites of one repository, by place."""
    commit = REPOSITORIES[repo]
    listed = _git(clone, "ls-tree", "-r", "--name-only", "-z", commit).decode().split("\0")
    paths = sorted(path for path in listed if path.endswith(".rs") and not _is_aside(path))
    every = [site for path in paths for site in sorted(calls_in(path, _git(clone, "show", f"{commit}:{path}")))]
    return sorted(random.Random(repo).sample(every, _SITES_EACH))


def calls_in(path: str, data: bytes) -> Iterator[Site]:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
    waiting = [parser.parse(data).root_node]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        name = _called(node) if node.type == "call_expression" else None
        if name is not None and name.text is not None and not name.text[:1].isupper():
            yield Site(path, name.start_point.row + 1, name.start_point.column, name.text.decode())


def _called(call: tree_sitter.Node) -> tree_sitter.Node | None:
    """The last name of what is called, None where that is no name."""
    node = call.child_by_field_name("function")
    inner = {"generic_function": "function", "field_expression": "field", "scoped_identifier": "name"}
    while node is not None and node.type in inner:
        node = node.child_by_field_name(inner[node.type])
    return node if node is not None and node.type in ("identifier", "field_identifier") else None


def _is_aside(path: str) -> bool:
    *folders, name = path.split("/")
    return name == "tests.rs" or bool(_ASIDE.intersection(folders))


def _git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True).stdout


class Answer(NamedTuple):
    """What the graph says at a site: whether each of its edges there is right."""

    row: dict[str, Any]
    edges: tuple[Edge, ...]
    right: tuple[bool, ...]


def answers(repo: str, clone: Path, rows: Iterable[dict[str, Any]], min_confidence: float) -> Iterator[Answer]:
    repository = Repository.at_commit(clone, REPOSITORIES[repo])
    nodes = repository.index.graph.nodes
    starts: dict[str, list[Edge]] = {}
    for edge in repository.edges(kinds=("calls",), min_confidence=min_confidence):
        starts.setdefault(edge.source, []).append(edge)
    spans = [
        (int(nodes.end_bytes[i] - nodes.start_bytes[i]), nodes.ids[i], int(nodes.start_rows[i]), int(nodes.end_rows[i]))
        for i in range(len(nodes))
        if nodes.kinds[i] in _CALLERS
    ]
    for row in rows:
        inside = [each for each in spans if each[1].startswith(f"{row['path']}::") or each[1] == row["path"]]
        source = min(each for each in inside if each[2] < row["line"] <= each[3] + 1)[1]
        found = [each for each in starts.get(source, ()) if _leaf(each.target) == row["name"]]
        here = [each for each in found if each.line == row["line"]]
        edges = tuple(here or found)
        targets = row.get("targets", ())
        yield Answer(row, edges, tuple(scorer_name(each.target) in targets for each in edges))


def _leaf(node: str) -> str:
    return scorer_name(node).rpartition(":")[2].rpartition(".")[2]


def wilson(right: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share, after E. B. Wilson (1927).

    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.49, 0.943]
    """
    z = 1.96
    middle, width = right + z * z / 2, z * math.sqrt(right * (n - right) / n + z * z / 4)
    return (middle - width) / (n + z * z), (middle + width) / (n + z * z)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--min-confidence", type=float, default=MIN_CONFIDENCE)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and (arguments.sample or arguments.min_confidence != MIN_CONFIDENCE):
        parser.error(f"results are written for a confidence of at least {MIN_CONFIDENCE}")
    rows = [json.loads(line) for line in SITES.read_text(encoding="utf-8").splitlines()]
    found: list[Answer] = []
    for repo in REPOSITORIES:
        clone = find_clone(arguments.clones, repo)
        if clone is None:
            raise SystemExit(f"no clone of {repo} in {arguments.clones}")
        if arguments.sample:
            for site in sample(repo, clone):
                sys.stdout.write(f"{repo} {site.path}:{site.line}:{site.column} {site.name}\n")
        else:
            own = [row for row in rows if row["repo"] == repo]
            found += answers(repo, clone, own, arguments.min_confidence)
    if not arguments.sample:
        _say(found)
    if arguments.write:
        write_results(sites={"rust": _results(found)})
    return 0


def _say(found: Sequence[Answer]) -> None:
    for row, edges, right in found:
        said = ", ".join(f"{each.target} by {each.rule} {each.confidence:.2f}" for each in edges)
        meant = ", ".join(row.get("targets", ())) or row["label"]
        marks = {"inside": "hit" if any(right) else "missed", "unknowable": "aside"}
        mark = marks.get(row["label"], "wrong" if edges else "none")
        sys.stdout.write(f"{mark:7} {row['path']}:{row['line']} {row['name']} is {meant}; {said or 'no edge'}\n")
    for name, (hits, n) in _counts(found).items():
        low, high = wilson(hits, n)
        sys.stdout.write(f"{name} {hits}/{n} = {hits / n:.3f} [{low:.3f}, {high:.3f}]\n")


def _counts(found: Sequence[Answer]) -> dict[str, tuple[int, int]]:
    known = [each for each in found if each.row["label"] != "unknowable"]
    inside = [each for each in found if each.row["label"] == "inside"]
    return {
        "precision": (sum(sum(each.right) for each in known), sum(len(each.right) for each in known)),
        "recall": (sum(any(each.right) for each in inside), len(inside)),
    }


def _results(found: Sequence[Answer]) -> dict[str, Any]:
    """For `results.json`."""
    return {
        name: {"sites": len(found), "right": hits, "of": n, "interval": [round(x, 3) for x in wilson(hits, n)]}
        for name, (hits, n) in _counts(found).items()
    }


if __name__ == "__main__":
    sys.exit(main())
