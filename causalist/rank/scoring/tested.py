"""Files of tests -> the files that they test, by name: what a test says is said of the code that it tests.

Tests tell in sentences what code does ("keeps the cookie when redirected"), and their own files rank low. Only names
say what a file of tests is about: what it imports and calls was measured as well and says less (docs/benchmarks.md).
"""

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import expression
from causalist.model.graph import CodeGraph
from causalist.model.lexical import LexicalIndex
from causalist.model.symbols import NodeKind, Role, split_id
from causalist.rank.lexical.build import nodes_named
from causalist.rank.top_k import first_by

_MARK = expression(
    r"^(?:tests?|specs?)[_-]+|^Test(?=[A-Z])|[_-](?:tests?|specs?|it|e2e)$"
    r"|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|Suite|IT)$"
)
_MOST_TESTS = 40  # files of tests that are looked at, the best first
_MOST_TESTED = 6  # files that one of them may mean; with more nothing is known


def scores_by_tests(
    texts: NDArray[np.float64], asked: NDArray[np.bool_], graph: CodeGraph, lexical: LexicalIndex
) -> NDArray[np.float64]:
    """Shape (n_nodes,): of each file of code the best of `texts` of the files of tests that are named like it, each
    divided by the square root of the number of files that it may mean.

    `texts`: how well the text of each file fits, at least 0. `asked`: nodes that are asked for by their role; tests
    that are looked for are no witnesses."""
    nodes = graph.nodes
    scores = np.zeros(len(nodes))
    found = np.flatnonzero((nodes.kinds == NodeKind.FILE) & (nodes.roles == Role.TEST) & ~asked & (texts > 0))
    is_code = (nodes.kinds == NodeKind.FILE) & (nodes.roles == Role.CODE)
    for test in first_by(texts, found, _MOST_TESTS).tolist():
        files = _meant_by(split_id(nodes.ids[test])[0], is_code, graph, lexical)
        for file in files:
            scores[file] = max(scores[file], texts[test] / np.sqrt(len(files)))
    return scores


def name_under_test(path: str) -> str:
    """The name of a file of tests without what says that it is one, in lower case.

    >>> [name_under_test(path) for path in ("tests/test_cookies.py", "src/router.test.ts", "a/HtmlParserTests.cs")]
    ['cookies', 'router', 'htmlparser']
    """
    name = path.rpartition("/")[2].partition(".")[0]
    while (shorter := _MARK.sub("", name, count=1)) not in ("", name):
        name = shorter
    return name.lower()


def _meant_by(path: str, is_code: NDArray[np.bool_], graph: CodeGraph, lexical: LexicalIndex) -> list[int]:
    """The files of code that are named like what a file of tests is about, those of the likest folders; none if they
    are many."""
    name = name_under_test(path)
    named = np.array([*nodes_named(name, lexical), *nodes_named(f"_{name}", lexical)], dtype=np.int64)
    files = named[is_code[named]].tolist()
    if len(files) > 1:
        own = set(path.lower().split("/")[:-1])
        paths = [split_id(graph.nodes.ids[file])[0].lower() for file in files]
        shared = [len(own.intersection(each.split("/")[:-1])) for each in paths]
        most = max(shared)
        files = [file for file, n in zip(files, shared, strict=True) if n == most]
    return files if len(files) <= _MOST_TESTED else []
