"""Figures of `review` on clones: python -m tests.benchmarks.review planted|replay|missing REPOSITORY...

`planted` changes the signatures of functions of a repository (one more parameter that must be given, or one fewer;
fixed seed) and compares the reported calls with those that are written: of functions whose name is defined once, all
calls by that name, found by the module `ast` for Python and by regular expressions elsewhere. `replay` reviews past
commits, counts failures and measures times. `missing` leaves one file out of past commits and asks which one usually
changes too; beside it stand the plain counts of common commits.
"""

import argparse
import ast
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.model.graph import EdgeKind
from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role, file_id, split_id
from causalist.navigate.likely_changes import find_missing_files
from causalist.pipeline.repository import Repository, VersionFacts
from causalist.review.changes import compare_versions
from causalist.review.report import Review, review_change
from causalist.review.versions import compare_commits, first_parent
from causalist.source.git import RunningGit, git_arguments
from causalist.store import FactsCache, facts_path

_SEED = 20_26
_CALL = r"(?<![\w.$>:]){name}\s*\(|[.>:]{name}\s*\("


class Planted(NamedTuple):
    """A changed signature: reported and written calls, as (path, 1-based line)."""

    node: str
    reported: frozenset[tuple[str, int]]
    written: frozenset[tuple[str, int]]


def plant(root: Path, n: int, seed: int = _SEED) -> Iterator[Planted]:
    """Yield `n` changed signatures of functions with a name of their own and at least one call."""
    repository = Repository.open(root)
    graph = repository.index.graph
    nodes, ids = graph.nodes, graph.nodes.ids
    names = Counter((split_id(node)[1] or "").rpartition(".")[2].partition("~")[0] for node in ids)
    chosen = random.Random(seed)
    callables = [
        int(each) for each in np.flatnonzero(np.isin(nodes.kinds, sorted(CALLABLE_KINDS - {NodeKind.HANDLER})))
    ]
    candidates = [
        node
        for node in callables
        if nodes.roles[node] == Role.CODE
        and names[_leaf(ids[node])] == 1
        and len(_leaf(ids[node])) >= 6
        and any(graph.edges.kinds[e] == EdgeKind.CALLS for e in graph.incoming(node))
    ]
    chosen.shuffle(candidates)
    n_found = 0
    texts = {path: (root / path).read_bytes() for path in repository.index.manifest.paths if (root / path).is_file()}
    for node in candidates:
        path, _ = split_id(ids[node])
        name = _leaf(ids[node])
        data = texts[path]
        new = _with_parameter(path, data, int(nodes.start_bytes[node]), int(nodes.end_bytes[node]), name)
        written = _written_calls(texts, name, path, int(nodes.start_rows[node]) + 1)
        parameters = data[data.find(b"(", data.find(name.encode(), int(nodes.start_bytes[node]))) :].partition(b"{")[0][
            :400
        ]
        if new is None or not written or re.search(rb"[=*]|\.\.\.|\?:", parameters.partition(b")")[0]):
            continue  # one more argument may be taken for an optional one
        patch = _patch_of(path, data, new)
        review, _ = repository.review(patch=patch)
        yield Planted(ids[node], frozenset((each.path, each.line) for each in review.broken), frozenset(written))
        n_found += 1
        if n_found == n:
            return


def _leaf(node: str) -> str:
    return (split_id(node)[1] or "").rpartition(".")[2].partition("~")[0]


def _with_parameter(path: str, data: bytes, start: int, end: int, name: str) -> bytes | None:
    """Return the file with one more parameter, the first that must be given, in one line of the definition."""
    found = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"\s*(?:=\s*(?:async\s*)?)?\(").search(
        data, start, end
    )
    if found is None or b"{" in data[start : found.start()]:
        return None
    extension = path.rpartition(".")[2]
    added = {
        "py": b"planted", "go": b"planted bool", "java": b"Planted planted", "ts": b"planted: Planted",
        "js": b"planted", "php": b"$planted", "rb": b"planted", "kt": b"planted: Planted", "cs": b"Planted planted",
        "rs": b"planted: Planted", "c": b"void *planted",
    }.get(extension)  # fmt: skip
    if added is None:
        return None
    at = found.end()
    rest = data[at:end].lstrip()
    receiver = re.match(rb"\s*(?:self|cls|&(?:mut )?self)\b(?:\s*:\s*[\w\"]+)?\s*,?", data[at:end])
    if receiver:
        at += receiver.end()
        is_last = not receiver[0].endswith(b",")
        return data[:at] + (b", " + added if is_last else b" " + added + b",") + data[at:]
    return data[:at] + added + (b"" if rest.startswith(b")") else b", ") + data[at:]


def _patch_of(path: str, old: bytes, new: bytes) -> str:
    from difflib import unified_diff

    before = old.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    after = new.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    return "\n".join(unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm="", n=2)) + "\n"


def _written_calls(texts: dict[str, bytes], name: str, path: str, line: int) -> set[tuple[str, int]]:
    """Return the lines with calls of a name that one definition has. Those with `*` count no arguments and are left."""
    found: set[tuple[str, int]] = set()
    extension = path.rpartition(".")[2]
    for each, data in texts.items():
        if each.rpartition(".")[2] != extension or name.encode() not in data:
            continue
        if extension == "py":
            found |= {(each, row) for row in _python_calls(data, name)}
            continue
        text = re.sub(rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", _blank, data, flags=re.DOTALL)
        for matched in re.finditer(_CALL.format(name=re.escape(name)).encode(), text):
            start = matched.start() + matched[0].index(name.encode())
            row = data.count(b"\n", 0, start) + 1
            before = text[text.rfind(b"\n", 0, start) + 1 : start]
            if each == path and (abs(row - line) <= 3 and re.search(rb"\b(?:func|function|def|fun)\b", before)):
                continue
            is_declared = re.match(rb"\s*(?:[\w<>\[\],.?@*]+\s+)+\**$", before)
            is_used = re.search(rb"\b(?:return|new|throw|else|await)\s+$", before)
            if each == path and row - line in range(4) and is_declared and not is_used:
                continue
            found.add((each, row))
    return found


def _blank(matched: "re.Match[bytes]") -> bytes:
    return re.sub(rb"[^\n]", b" ", matched[0])


def _python_calls(data: bytes, name: str) -> Iterator[int]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        written = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        is_open = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        if written == name and not is_open:
            yield function.end_lineno or function.lineno


class Replayed(NamedTuple):
    """A past commit as `review` sees it; `failure` is the defect that it ran into, "" for none. Seconds are of CPU.

    `indexing` is the time of the index of the commit, `reviewing` that of all else.
    """

    commit: str
    n_definitions: int
    n_broken: int
    indexing: float
    reviewing: float
    failure: str
    review: Review | None


def replay(root: Path, n: int) -> Iterator[Replayed]:
    """Yield the last commits without merges. Errors that `review` states are failures here, too."""
    cache = FactsCache(facts_path())
    known: Index | None = None
    for commit in reversed(_commits(root, n)):
        start = between = time.process_time()
        try:
            there = Repository.at_commit(root, commit, cache=cache, known=known)
            known, between = there.index, time.process_time()
            versions = compare_commits(root, first_parent(root, commit), commit)
            comparison = compare_versions(versions, VersionFacts(cache, versions))
            with there.reading() as read:
                review = review_change(there.index, comparison, versions, read, before="", after=commit)
            counts, failure = (len(review.definitions), len(review.broken)), ""
        except Exception as error:
            counts, failure, review = (0, 0), f"{type(error).__name__}: {error}", None
        yield Replayed(commit, *counts, between - start, time.process_time() - between, failure, review)


def describe(root: Path, each: Replayed) -> dict[str, object]:
    """Return the changed definitions and broken calls of a commit, to be read by people, as JSON."""
    definitions = () if each.review is None else each.review.definitions
    broken = () if each.review is None else each.review.broken
    return {
        "repository": root.parent.name if root.name == "repo" else root.name,
        "commit": each.commit,
        "failure": each.failure,
        "definitions": [
            {
                "kind": change.kind.value,
                "node": change.node,
                "line": change.line,
                "was": "" if change.old is None else change.old.node,
                "signatures": ["" if side is None else side.signature for side in (change.old, change.new)],
                "edited": change.is_edited,
            }
            for change in definitions
        ],
        "broken": [call._asdict() for call in broken],
    }


def _commits(root: Path, n: int, *, skip: int = 0) -> list[str]:
    arguments = ("--no-merges", "--min-parents=1", f"--max-count={n}", f"--skip={skip}", "HEAD", "--")
    return RunningGit(git_arguments(root), "rev-list", *arguments).finish().check().output.decode().split()


class LeftOut(NamedTuple):
    """A file left out of a commit: is it named, how many files are, by `review` and by as many of the plain counts.

    `n_of_whole` are the files that are named of the whole commit, of which none is missing.
    """

    file: str
    n_said: int
    is_said: bool
    is_plain: bool
    is_plain_of_three: bool
    n_of_whole: int


def leave_out(root: Path, n: int, seed: int = _SEED) -> Iterator[LeftOut]:
    """Yield the files left out of commits. The index and its history are those of the parent of each commit."""
    known: Index | None = None
    chosen, cache = random.Random(seed), FactsCache(facts_path())
    for commit in reversed(_commits(root, n)):
        base = first_parent(root, commit)
        n_changed = sum(bool(each.before and each.after) for each in compare_commits(root, base, commit))
        if base is None or not 3 <= n_changed <= 60:
            continue
        index = known = Repository.at_commit(root, base, cache=cache, known=known).index
        ids, counts = index.graph.nodes.ids, _count_pairs(index)
        there = []
        for each in compare_commits(root, base, commit):
            node = ids.position(file_id(each.before)) if each.before and each.after else -1
            if node >= 0 and index.graph.nodes.roles[node] in (Role.CODE, Role.TEST):
                there.append(each.before)
        if not 3 <= len(there) <= 30:
            continue
        left = chosen.choice(sorted(there))
        rest = [path for path in there if path != left]
        said = [split_id(each.file)[0] for each in find_missing_files(index, rest, rest)]
        plain: Counter[str] = Counter()
        for path in rest:
            plain.update(counts.get(path, {}))
        first = sorted((p for p in plain if p not in rest), key=lambda p: (-plain[p], p))
        n_of_whole = len(find_missing_files(index, there, there))
        yield LeftOut(left, len(said), left in said, left in first[: len(said)], left in first[:3], n_of_whole)


def interval(hits: Sequence[bool], seed: int = _SEED) -> str:
    """Return a share with its 95 % bootstrap interval over the cases."""
    if not hits:
        return "none"
    drawn = np.random.default_rng(seed).integers(0, len(hits), (2_000, len(hits)))
    low, high = np.quantile(np.array(hits, dtype=float)[drawn].mean(axis=1), (0.025, 0.975))
    return f"{np.mean(hits):.3f} ({low:.3f}-{high:.3f})"


def _count_pairs(index: Index) -> dict[str, Counter[str]]:
    history, nodes = index.history, index.graph.nodes
    found: dict[str, Counter[str]] = {}
    paths = [split_id(nodes.ids[int(n)])[0] for n in history.nodes]
    is_code = [nodes.roles[int(n)] in (Role.CODE, Role.TEST) for n in history.nodes]
    for commit in range(len(history.indptr) - 1):
        files = history.files[history.indptr[commit] : history.indptr[commit + 1]].tolist()
        for one in files:
            found.setdefault(paths[one], Counter()).update(paths[o] for o in files if o != one and is_code[o])
    return found


def _count_left_out(found: Sequence[LeftOut]) -> Counter[str]:
    counts: Counter[str] = Counter(left_out=len(found))
    for each in found:
        counts.update(spoken=bool(each.n_said), named=each.is_said, files=each.n_said)
        counts.update(plain=each.is_plain, plain_of_three=each.is_plain_of_three, of_whole=bool(each.n_of_whole))
    return counts


def main() -> None:
    """Print the figures of each repository and their sum."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["planted", "replay", "missing"])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FILE", help="append what `replay` says of each commit, as JSON")
    given = parser.parse_args()
    total: Counter[str] = Counter()
    every: list[LeftOut] = []
    for root in given.repositories:
        own: Counter[str] = Counter()
        if given.what == "planted":
            for planted in plant(root, given.n):
                reported, written = planted.reported, planted.written
                own.update(changes=1, right=len(reported & written), reported=len(reported), written=len(written))
                if given.verbose:
                    wrong, lost = sorted(reported - written), sorted(written - reported)
                    print(f"  {planted.node} wrong={wrong[:3]} lost={lost[:3]}")
        elif given.what == "replay":
            times: list[float] = []
            for each in replay(root, given.n):
                own.update(commits=1, definitions=each.n_definitions, broken=each.n_broken, failed=bool(each.failure))
                times.append(each.reviewing)
                if given.verbose or each.failure:
                    print(f"  {each.commit[:10]} {each.n_definitions} {each.n_broken} {each.failure}", flush=True)
                if given.write is not None:
                    with given.write.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(describe(root, each)) + "\n")
            low, high = np.quantile(times, (0.5, 0.95))
            print(f"  seconds of CPU beside the index: median {low:.2f}, 95 % below {high:.2f}, most {max(times):.2f}")
        else:
            found = list(leave_out(root, given.n))
            every += found
            own.update(_count_left_out(found))
        print(root.name, dict(own), flush=True)
        total.update(own)
    print("all", dict(total))
    if every:
        spoken = [each for each in every if each.n_said]
        print("it speaks of", interval([bool(each.n_said) for each in every]))
        print("named where it speaks", interval([each.is_said for each in spoken]))
        print("as many plain counts there", interval([each.is_plain for each in spoken]))
        print("three plain counts there", interval([each.is_plain_of_three for each in spoken]))
        print("three plain counts of all", interval([each.is_plain_of_three for each in every]))
        print("it speaks of whole commits", interval([bool(each.n_of_whole) for each in every]))


if __name__ == "__main__":
    main()
