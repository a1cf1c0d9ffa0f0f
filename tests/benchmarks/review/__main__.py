"""Figures of `review` on clones: python -m tests.benchmarks.review planted|replay|missing REPOSITORY...

`planted` changes the signatures of functions of a repository (one more parameter that must be given, or one fewer;
fixed seed) and compares the reported calls with those that are written: of functions whose name is defined once, all
calls by that name, found by the module `ast` for Python and by regular expressions elsewhere. `replay` reviews past
commits and counts failures. `missing` leaves one file out of past commits and asks which one usually changes too;
beside it stand the plain counts of common commits.
"""

import argparse
import ast
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.model.graph import EdgeKind
from causalist.model.index import Index
from causalist.model.symbols import CALLABLE_KINDS, NodeKind, Role, file_id, split_id
from causalist.pipeline.repository import Repository
from causalist.review.report import find_missing_files
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


def replay(root: Path, n: int) -> Iterator[tuple[str, int, int, float]]:
    """Yield (commit, changed definitions, broken calls, seconds of CPU) of the last commits with code; raises."""
    for commit in _commits(root, n):
        start = time.process_time()
        review, _ = Repository.review_revision(root, commit)
        yield commit, len(review.definitions), len(review.broken), time.process_time() - start


def _commits(root: Path, n: int, *, skip: int = 0) -> list[str]:
    arguments = ("--no-merges", "--min-parents=1", f"--max-count={n}", f"--skip={skip}", "HEAD", "--")
    return RunningGit(git_arguments(root), "rev-list", *arguments).finish().accepted().output.decode().split()


def leave_out(root: Path, n: int, seed: int = _SEED) -> Iterator[tuple[str, bool, bool]]:
    """Yield (file, is among the first three of `--missing`, of plain counts) for files left out of commits.

    The index and its history are those of the parent of each commit.
    """
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
        missing = [split_id(each.file)[0] for each in find_missing_files(index, rest, rest)[:3]]
        plain: Counter[str] = Counter()
        for path in rest:
            plain.update(counts.get(path, {}))
        first = sorted((p for p in plain if p not in rest), key=lambda p: (-plain[p], p))[:3]
        yield left, left in missing, left in first


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


def main() -> None:
    """Print the figures of each repository and their sum."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["planted", "replay", "missing"])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    total: Counter[str] = Counter()
    for root in given.repositories:
        own: Counter[str] = Counter()
        if given.what == "planted":
            for each in plant(root, given.n):
                own.update(changes=1, right=len(each.reported & each.written), reported=len(each.reported))
                own.update(written=len(each.written))
                if given.verbose:
                    wrong, lost = sorted(each.reported - each.written), sorted(each.written - each.reported)
                    print(f"  {each.node} wrong={wrong[:3]} lost={lost[:3]}")
        elif given.what == "replay":
            for commit, n_definitions, n_broken, seconds in replay(root, given.n):
                own.update(commits=1, definitions=n_definitions, broken=n_broken, milliseconds=int(1000 * seconds))
                if given.verbose:
                    print(f"  {commit[:10]} {n_definitions} {n_broken}")
        else:
            for _, is_named, is_plain in leave_out(root, given.n):
                own.update(left_out=1, named=is_named, plain=is_plain)
        print(root.name, dict(own), flush=True)
        total.update(own)
    print("all", dict(total))


if __name__ == "__main__":
    main()
