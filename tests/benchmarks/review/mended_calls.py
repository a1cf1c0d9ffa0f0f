"""How well broken calls are found: past commits change a signature, and mend the calls that it would have broken.

    python -m tests.benchmarks.review.mended_calls -n 10 [--of 1500] [--verbose] CLONE...

Commits are taken by a fixed seed from the last `--of` without merges. The parent is checked out into a copy, with one
changed function as it is after the commit and all else as before it. What `review` reports there is compared with the
calls that the commit itself changed. Those are read from the text alone, by brackets and commas, not by a grammar:

- A report is right if the commit removed or changed this call.
- A call counts as broken if the commit changed it, and the number of its arguments, or a name of one, fits the
  parameters before and not those after. Calls of a namesake that the same commit mends count too, so that recall is a
  lower bound. What changes in type alone is not asked for.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from causalist.model.node_ids import CALLABLE_KINDS
from causalist.pipeline.repository import Repository
from causalist.review.changes import ChangeKind, DefinitionVersion, compare_versions
from causalist.review.versions import FileVersions, compare_commits, first_parent
from tests.benchmarks.review.__main__ import _commits, _patch_of, interval

_SEED = 20261129
_LANGUAGES = (".py", ".ts", ".tsx", ".go", ".java")
_MAX_A_COMMIT = 3  # changed functions of one commit
_MAX_FILES = 40  # of a commit
_MAX_ROWS = 60  # of a call
_OPEN, _CLOSE = "([{", ")]}"
_QUOTED = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/|#[^\n]*",
    re.DOTALL,
)
_DECLARES = re.compile(r"(?:\b(?:def|func|function|class|interface|record)\s+(?:\([^()]*\)\s*)?|@)$")


class WrittenCall(NamedTuple):
    """A call as the text has it: its 1-based line, its arguments without white space, and if a dot stands before it."""

    line: int
    arguments: tuple[str, ...]
    is_behind_dot: bool


class Mended(NamedTuple):
    """What is reported of a changed function, and what the commit mended; a call is (path, line)."""

    commit: str
    node: str
    right: frozenset[tuple[str, int]]
    wrong: frozenset[tuple[str, int]]
    broken: frozenset[tuple[str, int]]  # by the text


def mended(root: Path, n: int, n_among: int) -> Iterator[Mended]:
    """Yield changed functions of up to `n` commits that change a signature and calls of it."""
    commits = _commits(root, n_among)
    random.Random(_SEED).shuffle(commits)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        _git(root, "clone", "--quiet", "--shared", "--no-checkout", str(root), str(copy))
        for commit in commits:
            found = _mended_in(root, copy, commit)
            yield from found
            n -= bool(found)
            if not n:
                return


def _mended_in(root: Path, copy: Path, commit: str) -> list[Mended]:
    parent = first_parent(root, commit)
    versions = compare_commits(root, parent, commit)
    if parent is None or len(versions) > _MAX_FILES:
        return []
    versions = [each for each in versions if each.path.endswith(_LANGUAGES)]
    by_name: dict[tuple[str, str], list[tuple[DefinitionVersion, DefinitionVersion]]] = {}
    for change in compare_versions(versions).definitions:
        old, new = change.old, change.new
        if old is None or new is None or old.fact.kind not in CALLABLE_KINDS or change.kind != ChangeKind.SIGNATURE:
            continue
        by_name.setdefault((_called_name(old), old.path.rpartition(".")[2]), []).append((old, new))
    results: list[Mended] = []
    for (name, suffix), pairs in by_name.items():
        shapes = {(_parameters(old), _parameters(new)) for old, new in pairs}
        own = {(old.path, row + 1) for old, _ in pairs for row in range(old.fact.start_row, old.fact.end_row + 1)}
        needs_receiver = suffix != "java" and pairs[0][0].is_method and name == pairs[0][0].fact.name
        broken = frozenset(
            (version.before, call.line)
            for version in versions
            if version.before.endswith(f".{suffix}")
            for call in _calls_that_went(version, name)
            if (version.before, call.line) not in own
            and (call.is_behind_dot or not needs_receiver)
            and all(
                before and after and _fits(call, before, suffix) is True and _fits(call, after, suffix) is False
                for before, after in shapes
            )
        )
        if not broken or len(results) >= _MAX_A_COMMIT:
            continue
        try:
            _git(copy, "checkout", "--quiet", "--force", parent)
        except subprocess.CalledProcessError:
            return []  # the clone lacks objects
        reported = _report(copy, pairs)
        right = frozenset(each for each in reported if _went(versions, *each))
        nodes = ", ".join(old.node for old, _ in pairs[:3])
        results.append(Mended(commit, nodes, right, frozenset(reported) - right, broken))
    return results


def _report(copy: Path, pairs: Sequence[tuple[DefinitionVersion, DefinitionVersion]]) -> list[tuple[str, int]]:
    """Return the calls that are reported for the new versions of some functions, by their lines before it."""
    by_path: dict[str, list[tuple[DefinitionVersion, DefinitionVersion]]] = {}
    for old, new in sorted(pairs, key=lambda pair: (pair[0].path, pair[0].fact.start_byte)):
        by_path.setdefault(old.path, []).append((old, new))
    patches, rows_of = "", dict[str, list[int]]()  # the row before of each row after, -1 in the functions themselves
    for path, edits in by_path.items():
        data = (copy / path).read_bytes()
        edited, at, row, rows = b"", 0, 0, list[int]()
        for old, new in edits:
            if old.fact.start_byte < at:
                continue  # inside of another one
            edited += data[at : old.fact.start_byte] + new.text
            rows += [*range(row, old.fact.start_row), *[-1] * (new.text.count(b"\n") + 1)]
            at, row = old.fact.end_byte, old.fact.end_row + 1
        rows += range(row, data.count(b"\n") + 2)
        patches += _patch_of(path, data, edited + data[at:])
        rows_of[path] = rows
    review, _ = Repository.open(copy, exact_root=True).review(patch=patches)
    lines = (
        (each.path, rows_of[each.path][each.line - 1] + 1 if each.path in rows_of else each.line)
        for each in review.broken
    )
    return [(path, line) for path, line in lines if line]


def _went(versions: Sequence[FileVersions], path: str, line: int) -> bool:
    """Return True if a commit removed or changed the call in a line: its text is there less often."""
    version = next((each for each in versions if each.before == path), None)
    if version is None:
        return False
    if version.new is None:
        return True
    rows = [(each or b"").decode("utf-8", "replace").splitlines() for each in (version.old, version.new)]
    before, after = (["".join(row.split()) for row in of_side] for of_side in rows)
    call = _whole_call("".join(before[line - 1 : line - 1 + _MAX_ROWS]))
    return "".join(before).count(call) > "".join(after).count(call)


def _whole_call(text: str) -> str:
    """Return a text up to where its brackets are closed."""
    depth, opened = 0, False
    for i, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        opened = opened or character in _OPEN
        if opened and depth <= 0:
            return text[: i + 1]
    return text


def _called_name(old: DefinitionVersion) -> str:
    is_constructor = old.fact.name in ("__init__", "constructor")
    return old.fact.qualname.split(".")[-2] if is_constructor and "." in old.fact.qualname else old.fact.name


def _calls_that_went(version: FileVersions, name: str) -> list[WrittenCall]:
    """Return the calls by a name before a change whose arguments are written less often after it."""
    if not version.before or not version.after:
        return []
    before, after = (
        _written_calls((each or b"").decode("utf-8", "replace"), name) for each in (version.old, version.new)
    )
    left = Counter(call.arguments for call in before) - Counter(call.arguments for call in after)
    return [call for call in before if left[call.arguments]] if after else []


def _written_calls(text: str, name: str) -> list[WrittenCall]:
    plain = _QUOTED.sub(
        lambda m: re.sub(r"[^\n\"'`]", "s", m[0]) if m[0][0] in "\"'`" else re.sub(r"[^\n]", " ", m[0]), text
    )
    calls = []
    for matched in re.finditer(rf"(?<![\w$]){re.escape(name)}(?:<[\w, .<>\[\]]*>)?\(", plain):
        line = plain[plain.rfind("\n", 0, matched.start()) + 1 : matched.start()]
        listed = _split(plain, matched.end())
        if listed is not None and not _DECLARES.search(line):
            calls.append(
                WrittenCall(plain.count("\n", 0, matched.start()) + 1, tuple(listed), line.rstrip().endswith("."))
            )
    return calls


def _split(text: str, start: int) -> list[str] | None:
    """Return what stands between commas up to the closing bracket, without white space; None if it is not closed."""
    parts, depth, part = [], 0, ""
    for character in text[start : start + 4000]:
        if depth == 0 and character in ")]}":
            parts.append(part)
            return [each for each in parts if each]
        if depth == 0 and character == ",":
            parts.append(part)
            part = ""
            continue
        depth += (character in _OPEN) - (character in _CLOSE)
        part += character if not character.isspace() else " " if part[-1:] not in ("", " ") else ""
    return None


class Parameters(NamedTuple):
    """Names of parameters in order, those without which a call does not fit, and if any number of others is taken."""

    names: tuple[str, ...]
    needed: frozenset[str]
    takes_more: bool
    only_named: frozenset[str]


def _parameters(version: DefinitionVersion) -> Parameters | None:
    """Return the parameters of a function from the text of its head."""
    text, name = version.text.decode("utf-8", "replace"), version.fact.name
    suffix = version.path.rpartition(".")[2]
    found = re.search(rf"(?<![\w$]){re.escape(name)}\s*(?:=\s*(?:async\s*)?)?(?:<[^()]*?>|\[[^()]*?\])?\s*\(", text)
    listed = (
        None
        if found is None
        else _split(re.sub(r"#[^\n]*|//[^\n]*" if suffix == "py" else r"//[^\n]*", "", text[found.end() :]), 0)
    )
    if listed is None:
        return None
    if suffix == "java":  # commas of generic types
        listed = _joined(listed)
    names, needed, named, takes_more, is_behind_star = [], set(), set(), False, False
    for place, each in enumerate(each.strip() for each in listed):
        if suffix == "py":
            if each in ("*", "/"):
                is_behind_star = is_behind_star or each == "*"
                continue
            if place == 0 and version.is_method and re.match(r"(?:self|cls)\b", each):
                continue
            if each.startswith("*"):
                takes_more, is_behind_star = True, True
                continue
            word = re.match(r"\w+", each)
            is_optional = "=" in each
        elif suffix in ("ts", "tsx"):
            takes_more = takes_more or each.startswith("...")
            word = re.match(r"(?:(?:public|private|protected|readonly)\s+)*(\w+)", each)
            is_optional = (
                re.match(r"(?:\w+\s+)*\w+\?", each) is not None or re.search(r"(?<![=<>])=(?!>)", each) is not None
            )
            if each.startswith(("...", "this:")):
                continue
        else:
            takes_more = takes_more or "..." in each
            word, is_optional = re.search(r"\w+$" if suffix == "java" else r"\w+", each), False
            if "..." in each:
                continue
        if word is None:
            word = re.match(r".*", each)
        assert word is not None
        own = word[word.lastindex or 0] if suffix != "go" else f"{place}"
        names.append(own)
        if is_behind_star:
            named.add(own)
        if not is_optional:
            needed.add(own)
    return Parameters(tuple(names), frozenset(needed), takes_more, frozenset(named))


def _joined(parts: Sequence[str]) -> list[str]:
    result: list[str] = []
    for each in parts:
        if result and result[-1].count("<") > result[-1].count(">"):
            result[-1] += "," + each
        else:
            result.append(each)
    return result


def _fits(call: WrittenCall, parameters: Parameters, suffix: str) -> bool | None:
    """Return True if the arguments of a call are as many as there are parameters, and named so; None: unknown."""
    if any(each.strip().startswith(("*", "...")) or each.strip().endswith("...") for each in call.arguments):
        return None
    n_given, named = 0, set()
    for each in call.arguments:
        keyword = re.match(r"\s*(\w+)\s*=(?!=)", each) if suffix == "py" else None
        if keyword is None:
            n_given += 1
        else:
            named.add(keyword[1])
    if suffix == "go" and n_given == 1 and len(parameters.names) > 1 and call.arguments[0].rstrip().endswith(")"):
        return None  # all results of another call
    placed = [each for each in parameters.names if each not in parameters.only_named]
    if parameters.takes_more:
        return None if n_given >= len([p for p in placed if p in parameters.needed]) else False
    covered = {*placed[:n_given], *named}
    return n_given <= len(placed) and named <= set(parameters.names) and parameters.needed <= covered


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("-n", type=int, default=10, help="commits of each repository")
    parser.add_argument("--of", type=int, default=1500)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    every: list[Mended] = []
    for root in given.repositories:
        own = []
        for each in mended(root.resolve(), given.n, given.of):
            own.append(each)
            if given.verbose:
                lost = sorted(each.broken - each.right - each.wrong)
                wrong = sorted(each.wrong)
                sys.stdout.write(f"  {each.commit[:10]} {each.node}: {len(each.right)} right, wrong {wrong[:5]}, "
                                 f"lost {lost[:5]} of {len(each.broken)}\n")  # fmt: skip
                sys.stdout.flush()
        _tell(root.parent.name if root.name == "repo" else root.name, own)
        every += own
    _tell("all", every)
    return 0


def _tell(name: str, found: Sequence[Mended]) -> None:
    n_commits = len({each.commit for each in found})
    judged = [is_right for each in found for is_right in (*[True] * len(each.right), *[False] * len(each.wrong))]
    lost = [call in each.right | each.wrong for each in found for call in sorted(each.broken)]
    sys.stdout.write(
        f"{name}: {n_commits} commits, {len(found)} functions; precision {interval(judged)} of {len(judged)}, "
        f"recall {interval(lost)} of {len(lost)}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
