"""Counts the files of repositories that a grammar loses, wholly or in part.

    python -m tests.benchmarks.edges.parse_loss LANGUAGE REPO... [--clones DIR] [--max-bytes 300000] [--show]

REPO is the folder of a repository, or with `--clones` owner/name, of which the newest commit is read. Prints a row for
each repository as Markdown: files of LANGUAGE; files with a syntax error; files with one whose text has a definition or
a call that the facts lack. A name before a bracket counts as a call, so that signatures count, too; names that files
without an error lack as well say nothing of errors and are left out. `--show` prints the places of errors, each with
the line that it begins in.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tree_sitter

from causalist.evaluate.mining import find_clone
from causalist.model.facts import FileFacts
from causalist.model.source import DiagnosticSlug
from causalist.parse import load_settings, parse_file
from causalist.parse.languages import load_parser
from causalist.parse.syntax_tree import parse_best
from causalist.source import BlobReader, scan_commit
from tests.benchmarks.edges.rust_sites import wilson

_DEFAULT_MAX_BYTES = 300_000
# Words before a name that they define, in any language that has them.
_DEFINED = re.compile(
    r"(?m)^[ \t]*(?:(?:public|private|internal|protected|static|virtual|abstract|override|final|extern|inline|async|rec"
    r"|automatic|mutable)\s+)*"
    r"(?:function|def|func|fun|fn|proc|sub|class|struct|enum|interface|trait|module|task|package|program|type|let|member\s+\w+\.|and"
    r"|@interface|@implementation|@protocol)\s+(?:automatic\s+)?(?:[\w\[\]:]+\s+)?(?P<name>[A-Za-z_]\w*)\s*(?:[({;:=<]|$)"
)
_CALLED = re.compile(r"\b(?P<name>[A-Za-z_]\w*)\s*\(")
_NO_CODE = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\(\*(?!\)).*?\*\)|<#.*?#>|(?m:^[ \t]*#[^\n]*)', re.DOTALL
)
_LAST_NAMES = re.compile(r"\w+")


class _File(NamedTuple):
    path: str
    data: bytes
    has_error: bool
    lacks: frozenset[str]


def count(clone: Path, language: str, max_bytes: int) -> Iterator[_File]:
    """Every file of a language in the newest commit of a repository, up to a size."""
    with BlobReader(clone) as reader:
        for entry in scan_commit(clone, "HEAD").entries:
            file = reader.read(entry)
            if isinstance(file, str) or len(file.data) > max_bytes:
                continue
            facts = parse_file(entry.path, file.data)
            if facts.language and load_settings()[facts.language].name == language and not facts.aside:
                has_error = any(each.slug == DiagnosticSlug.SYNTAX_ERROR for each in facts.diagnostics)
                yield _File(entry.path, file.data, has_error, frozenset(_lacking(file.data, facts)))


def _lacking(data: bytes, facts: FileFacts) -> set[str]:
    """The names that a text defines or calls, by expressions over its text, and the facts do not have."""
    text = _NO_CODE.sub(" ", data.decode(errors="replace"))
    seen = {match["name"] for pattern in (_DEFINED, _CALLED) for match in pattern.finditer(text)}
    known = {each.name for each in facts.definitions}
    for chain in (*(each.callee for each in facts.calls), *(each.name for each in facts.references)):
        known.update(_LAST_NAMES.findall(chain))
    known.update(name for each in facts.bindings for name in _LAST_NAMES.findall(each.target))
    return seen - known


def places_of_errors(path: str, data: bytes) -> Iterator[tuple[int, str]]:
    """The 1-based lines in which the innermost errors of a file begin, with what the lines say."""
    tree, _ = parse_best(data, load_parser(parse_file(path, data).language))
    lines = data.decode(errors="replace").split("\n")
    done = set()
    for node in _innermost(tree.root_node):
        row = data.count(b"\n", 0, node.start_byte)  # repairs may put something in the place of a line feed
        if row not in done:
            done.add(row)
            kind = f"missing {node.type}" if node.is_missing else "error"
            ends = f"{node.end_point.row + 1}:{node.end_point.column}"
            yield row + 1, f"[{kind} at {node.start_point.column}-{ends}] {lines[row].rstrip()[:180]}"


def _innermost(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        inside = [each for each in node.children if each.has_error]
        waiting.extend(reversed(inside))
        if node.is_missing or (node.is_error and not inside):
            yield node


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=sorted({each.name for each in load_settings().values()}))
    parser.add_argument("repositories", nargs="+", metavar="REPO")
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--max-bytes", type=int, default=_DEFAULT_MAX_BYTES)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    out, sums = sys.stdout, [0, 0, 0]
    out.write("| repository | files | with an error | that lose something |\n|---|--:|--:|--:|\n")
    shown: list[str] = []
    for repo in arguments.repositories:
        clone = find_clone(arguments.clones, repo) if arguments.clones else Path(repo)
        if clone is None:
            raise SystemExit(f"no clone of {repo} in {arguments.clones}")
        files = list(count(clone, arguments.language, arguments.max_bytes))
        usual = frozenset[str]().union(*(each.lacks for each in files if not each.has_error))
        broken = [each for each in files if each.has_error]
        losing = [each for each in broken if each.lacks - usual]
        numbers = [len(files), len(broken), len(losing)]
        sums = [a + b for a, b in zip(sums, numbers, strict=True)]
        out.write(f"| {repo} | {' | '.join(map(str, numbers))} |\n")
        for each in broken if arguments.show else ():
            lost = ", ".join(sorted(each.lacks - usual)[:12])
            shown.append(f"{repo}/{each.path}: {'loses ' + lost if lost else 'loses nothing'}")
            shown += [f"  {line:6} {text}" for line, text in list(places_of_errors(each.path, each.data))[:8]]
    shares = (f"{n} ({n / max(sums[0], 1):.2%}, {_interval(n, sums[0])})" for n in sums[1:])
    out.write(f"| all | {sums[0]} | {' | '.join(shares)} |\n")
    out.writelines(f"{line}\n" for line in shown)
    return 0


def _interval(n: int, of: int) -> str:
    low, high = wilson(n, of) if of else (0.0, 1.0)
    return f"{low:.2%}–{high:.2%}"


if __name__ == "__main__":
    sys.exit(main())
