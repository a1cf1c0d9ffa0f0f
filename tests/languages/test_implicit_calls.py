"""Constructors and special methods of each language have the users of their class.

A case says so in comments above its first file: `callers NODE: SOURCES` are calls, of the class too; `through NODE:
SOURCES` are uses by which a special method may run; `tests NODE: SOURCES` are tests that reach it. Each is complete.
"""

import re
from pathlib import Path

import pytest

from causalist import navigate
from causalist.model.graph import CodeGraph
from tests.languages.test_cases import graph_of, read_case

_FOLDER = Path(__file__).parent
_SAID = re.compile(r"^(?:#|//|--) (callers|through|tests) (\S+):(.*)$", re.MULTILINE)
_CASES = sorted(
    path.relative_to(_FOLDER).as_posix()
    for path in _FOLDER.glob("*/*.case")
    if _SAID.search(path.read_text(encoding="utf-8")) or path.name == "implicit_calls.case"
)


def found(graph: CodeGraph, what: str, name: str) -> set[str]:
    node = graph.nodes.ids.position(name)
    assert node >= 0, f"nothing is {name}"
    if what == "callers":
        return {edge.source for edge in navigate.calls_to(graph, node)}
    if what == "through":
        return {edge.source for edge in navigate.find_indirect_calls(graph, node)}
    changed = navigate.with_overloads_and_members(graph, [node])
    return {each.node for each in navigate.find_tests_reaching(graph, changed, max_depth=3, min_confidence=0.0)}


@pytest.mark.slow
@pytest.mark.parametrize("name", _CASES)
def test_users_of_the_class(name: str) -> None:
    text = (_FOLDER / name).read_text(encoding="utf-8")
    graph = graph_of(read_case(text).files)
    said = [(what, node, {each.strip() for each in rest.split(",")} - {""}) for what, node, rest in _SAID.findall(text)]
    assert said, "a case that says nothing"
    assert [(what, node, found(graph, what, node)) for what, node, _ in said] == said
