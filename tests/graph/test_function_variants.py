"""Functions between which a build chooses: what a condition denies, and what commands say of the set."""

import pytest

from causalist.graph import build_graph
from causalist.graph.function_variants import are_exclusive
from causalist.graph.invalidation import compare_interfaces
from causalist.model.graph import CodeGraph
from causalist.navigate.use_verification import verify_use
from causalist.parse import load_settings, parse_file

_HEADER = b"""\
#ifndef CONSOLE_H
#define CONSOLE_H
#if defined(_UNICODE) && !defined(PLAIN)
inline int console() { return 1; }
#else
inline int console() { return 2; }
#endif
#ifdef __linux__
inline int only_linux() { return 3; }
#endif
#endif
"""
_USE = b'#include "console.h"\nint speak() { return console() + only_linux(); }\n'


def _graph(header: bytes = _HEADER) -> CodeGraph:
    files = [("console.h", parse_file("console.h", header)), ("use.cpp", parse_file("use.cpp", _USE))]
    return build_graph(files, load_settings()).graph


@pytest.mark.slow
def test_the_certainty_of_a_set_is_shared_and_named() -> None:
    graph = _graph()
    edges = [graph.edge(e) for e in range(len(graph.edges)) if graph.edge(e).kind == "calls"]
    several = {e.target: (e.rule, e.candidates) for e in edges}
    assert several == {
        "console.h::console": ("build-variant", 2),
        "console.h::console~2": ("build-variant", 2),
        "console.h::only_linux": ("package-scope", 1),
    }
    one = next(e for e in edges if e.target == "console.h::console~2")
    assert one.confidence < 0.5 < 0.9 < one.certainty
    assert one.certainty == 2 * one.confidence


def test_a_use_of_one_of_a_set_is_a_use() -> None:
    graph = _graph()
    ids = graph.nodes.ids
    verdict = verify_use(graph, ids.position("use.cpp::speak"), ids.position("console.h::console~2"), 0.5)
    assert verdict.known == "yes"


def test_another_condition_is_another_interface() -> None:
    settings = load_settings()["cpp"]
    old, new = (parse_file("a.cpp", text) for text in (_HEADER, _HEADER.replace(b"__linux__", b"_WIN32")))
    change = compare_interfaces(old, new, settings)
    assert change is not None
    assert "only_linux" in change.names
    assert "console" not in change.names


def test_a_condition_denies_its_opposite() -> None:
    assert are_exclusive(("_UNICODE", "!PLAIN", "_UNICODE&&!PLAIN"), ("!(_UNICODE&&!PLAIN)",))
    assert are_exclusive(("0",), ())
    assert not are_exclusive(("__linux__",), ("_WIN32",))  # which a compiler defines is not known
