"""Language cases: minimal source with the expected edges beside it, in the languages' own comments.

A case is one file, `<language>/<case>.case`, that holds a whole repository; `--- file: PATH ---` in a comment starts
each of its files, and `--- link: PATH -> TARGET ---` is a symbolic link, both from the root. A line's expectations
stand in a comment at its end, separated by ";":

    save(1)              # calls store.py::save by import
    class A(Base): ...   # extends base.py::Base by import; defines app.py::A as class
    x.run()              # no calls
    x.close()            # calls a.py::A.close | b.py::B.close by name-only
    f()                  # calls app.py::f by same-file from g

The edge must have its first site on that line. A line that says something of a kind of edge says everything: no other
edge of that kind inside of the repository may start there. An alternative `outside` stands for what has no edge.
Edges to `external:` nodes are judged only where one is named. `from` names the definition that is the source,
`<module>` for none. Rules are given by name, never by confidence. Where today's answer is wrong, the comment above says
"known gap:" and what would be right.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from causalist.graph import build_graph
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.parse import load_settings, parse_file
from causalist.parse.languages import missing_languages

_FOLDER = Path(__file__).parent
_FILE = re.compile(r"(?:#|%|!|//|--|\(\*) --- file: (\S+) ---(?: \*\))?$")
_LINK = re.compile(r"(?:#|//|--) --- link: (\S+) -> (\S+) ---$")
_KINDS = "|".join(kind.label for kind in EdgeKind)
_COMMENT = re.compile(rf"(?:#|%|!|//|--|\(\*) +((?:(?:{_KINDS}|defines) \S+.*?)|no (?:{_KINDS})\b.*?)(?: \*\))?$")
_EDGE = re.compile(rf"({_KINDS}) (\S.*?) by ([\w-]+)(?: from (\S.*))?$")
_NONE = re.compile(rf"no ({_KINDS})$")
_DEFINES = re.compile(r"defines (\S.*) as (\w+)$")

Expected = tuple[str, str, int]  # target, rule, candidates


class Case(NamedTuple):
    """`files` are (path, text); `expectations` are (path, 1-based line, text of one expectation).

    `links` are (path, path that it leads to).
    """

    files: list[tuple[str, str]]
    expectations: list[tuple[str, int, str]]
    links: list[tuple[str, str]]


def read_case(text: str) -> Case:
    files: list[tuple[str, list[str]]] = []
    links: list[tuple[str, str]] = []
    for line in text.splitlines():
        header, link = _FILE.match(line), _LINK.match(line)
        if link:
            links.append((link[1], link[2]))
        elif header:
            files.append((header[1], []))
        elif files:
            files[-1][1].append(line)
    expectations = []
    for path, lines in files:
        for number, line in enumerate(lines, 1):
            comment = _COMMENT.search(line)
            if comment:
                expectations += [(path, number, each.strip()) for each in comment[1].split(";")]
    return Case([(path, "\n".join(lines) + "\n") for path, lines in files], expectations, links)


def graph_of(files: Iterable[tuple[str, str]], links: Iterable[tuple[str, str]] = ()) -> CodeGraph:
    """The code graph of (path, text) pairs, with symbolic links."""
    facts = []
    for path, text in sorted(files):
        facts.append((path, parse_file(path, text.encode())))
    return build_graph(facts, load_settings(), links=sorted(links)).graph


def problems(case: Case) -> Iterator[str]:
    """What does not hold, one line each."""
    graph = graph_of(case.files, case.links)
    edges = [graph.edge(i) for i in range(len(graph.edges))]
    expected: dict[tuple[str, int, str], set[Expected]] = {}
    for path, line, text in case.expectations:
        matched = _EDGE.match(text)
        if matched:
            kind, targets, rule, source = matched.groups()
            alternatives = targets.split(" | ")
            wanted = expected.setdefault((path, line, kind), set())
            wanted.update((target, rule, len(alternatives)) for target in alternatives if target != "outside")
            if source is not None:
                yield from _source_problems(edges, path, line, kind, alternatives, source)
        elif _NONE.match(text):
            expected.setdefault((path, line, text.split()[1]), set())
        elif _DEFINES.match(text):
            yield from _definition_problems(graph, path, line, text)
        else:
            yield f"{path}:{line}: not an expectation: {text!r}"
    for (path, line, kind), wanted in sorted(expected.items()):
        externals = any(target.startswith("external:") for target, _, _ in wanted)
        found = {
            (edge.target, edge.rule, edge.candidates)
            for edge in edges
            if _file_of(edge.source) == path
            and (edge.line, edge.kind) == (line, kind)
            and (externals or not edge.target.startswith("external:"))
        }
        for target, rule, candidates in sorted(wanted - found):
            yield f"{path}:{line}: missing: {kind} {target} by {rule} (1 of {candidates})"
        for target, rule, candidates in sorted(found - wanted):
            yield f"{path}:{line}: unexpected: {kind} {target} by {rule} (1 of {candidates})"


def _source_problems(
    edges: Iterable[Edge], path: str, line: int, kind: str, targets: list[str], source: str
) -> Iterator[str]:
    wanted = path if source == "<module>" else f"{path}::{source}"
    for edge in edges:
        at = (_file_of(edge.source), edge.line, edge.kind)
        if at == (path, line, kind) and edge.target in targets and edge.source != wanted:
            yield f"{path}:{line}: {kind} {edge.target} starts at {edge.source}, not at {wanted}"


def _definition_problems(graph: CodeGraph, path: str, line: int, text: str) -> Iterator[str]:
    matched = _DEFINES.match(text)
    assert matched
    number = graph.nodes.ids.position(matched[1])
    if number < 0:
        here = [
            graph.nodes.ids[i]
            for i in range(len(graph.nodes))
            if _file_of(graph.nodes.ids[i]) == path and graph.nodes.start_rows[i] == line - 1
        ]
        yield f"{path}:{line}: nothing is {matched[1]}; here start {here}"
        return
    if graph.kind(number).label != matched[2]:
        yield f"{path}:{line}: {matched[1]} is a {graph.kind(number).label}"
    if int(graph.nodes.start_rows[number]) != line - 1:
        yield f"{path}:{line}: {matched[1]} starts in line {int(graph.nodes.start_rows[number]) + 1}"


def _file_of(node: str) -> str:
    return node.partition("::")[0]


def check(text: str) -> None:
    """Fails unless every expectation of a case holds."""
    case = read_case(text)
    assert case.expectations, "a case without expectations"
    found = list(problems(case))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", sorted(p.relative_to(_FOLDER).as_posix() for p in _FOLDER.glob("*/*.case")))
def test_case(name: str) -> None:
    language = name.partition("/")[0]
    if language in {each[0] for each in missing_languages().values()}:
        pytest.skip(f"the extra of {language} is not installed; `.[dev]` has it")
    check((_FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("g()  # calls a.py::f by same-file", "missing: calls a.py::f"),
        ("f()  # no calls", "unexpected: calls a.py::f"),
        ("f()  # calls a.py::f by import", "missing: calls a.py::f by import"),
        ("f()  # calls a.py::f by same-file from f", "starts at a.py, not at a.py::f"),
        ("f()  # calls a.py::f", "not an expectation"),
        ("x = 1  # defines a.py::y as constant", "nothing is a.py::y"),
    ],
)
def test_a_wrong_expectation_is_noticed(line: str, problem: str) -> None:
    found = list(problems(read_case(f"# --- file: a.py ---\ndef f(): ...\n{line}\n")))
    assert any(problem in each for each in found), found
