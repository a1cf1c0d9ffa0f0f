"""Pasted reports of many words: surer bodies, and fewer files."""

import pytest

from causalist.extract import NeededNode
from causalist.pipeline.pack_items import (
    OTHER_FILES_SHARE,
    REPORT_TERMS,
    USUAL_TERMS,
    favor_best_files,
    report_share,
)
from tests.graphs import NodeSpec, make_graph

GRAPH = make_graph(
    [
        *("a.py", "b.py", "c.py", "d.py"),
        NodeSpec("a.py::one"),
        NodeSpec("a.py::two"),
        NodeSpec("b.py::one"),
        NodeSpec("c.py::one"),
        NodeSpec("d.py::one"),
    ]
)


def needs(**needed: float) -> list[NeededNode]:
    return [NeededNode(GRAPH.nodes.ids.position(f"{name[0]}.py::{name[2:]}"), need) for name, need in needed.items()]


def test_a_report_is_told_by_its_distinct_words() -> None:
    words = [f"{a}{b}g" for a in "bcdfgklmnp" for b in "aeiou"]
    between = (USUAL_TERMS + REPORT_TERMS) // 2
    shares = [report_share(" ".join(words[:n])) for n in (USUAL_TERMS, between, REPORT_TERMS, 40)]
    assert shares == [0.0, 0.5, 1.0, 1.0]
    assert report_share(" ".join(words[:3] * 20)) == 0.0


def test_files_beyond_the_two_that_need_most_have_less_need() -> None:
    """By file: a.py .25 + .2 = .45, b.py .4, c.py .3, d.py .1."""
    given = needs(b_one=0.4, c_one=0.3, a_one=0.25, a_two=0.2, d_one=0.1)
    lowered = needs(b_one=0.4, a_one=0.25, a_two=0.2, c_one=0.3 * OTHER_FILES_SHARE, d_one=0.1 * OTHER_FILES_SHARE)
    assert favor_best_files(GRAPH, given, 1.0) == lowered
    assert favor_best_files(GRAPH, given, 0.0) == given
    half = favor_best_files(GRAPH, given, 0.5)
    assert half[3].probability == pytest.approx(0.3 * OTHER_FILES_SHARE**0.5)
