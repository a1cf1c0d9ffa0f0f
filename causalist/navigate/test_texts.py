"""Texts of tests as evidence of what they run: names that they write, and operators that run special methods.

In: a graph, its lexical index and the text of files. Out: the tests that write the name of a definition, and those that
have the code by which its special method runs.

A call whose receiver has no known type may run any method of its name. Edges that say so are left out where many
methods share the name, and of a test it is not asked that the way is certain.
"""

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph
from causalist.model.index import LexicalIndex
from causalist.model.symbols import CALLABLE_KINDS, NodeKind, Role, split_id
from causalist.navigate.implicit_calls import class_of_constructor
from causalist.rank import find_nodes_with_words

_RUNS = (*sorted(CALLABLE_KINDS), NodeKind.HANDLER)
_MAX_NAMING = 2000  # tests with the words of a name; of more, the name says nothing
_REPEATED = re.compile(r"~\d+$")
_SPECIAL = re.compile(r"__\w+__")
# The code that runs special methods of Python, by their names. Where a method is run by nearly anything there is none.
_RUN_BY = {
    "__repr__": r"\brepr\(|%r|!r\b",
    "__str__": r"\bstr\(|\bformat\b|\bprint\(|\b[fF]\"|\b[fF]'",
    "__bytes__": r"\bbytes\(",
    "__format__": r"\bformat\b|\b[fF]\"|\b[fF]'",
    "__hash__": r"\bhash\(|\bset\(|\{",
    "__bool__": r"\bif\b|\bnot\b|\bbool\(|\bassert \w+$|assert(?:True|False)",
    "__len__": r"\blen\(",
    "__eq__": r"==|assertEqual|\bin\b",
    "__ne__": r"!=|assertNotEqual",
    "__lt__": r"<(?!=)|\bsorted\(|\bmin\(|\bmax\(|assertLess",
    "__le__": r"<=|assertLessEqual",
    "__gt__": r">(?!=)|\bmax\(|assertGreater",
    "__ge__": r">=|assertGreaterEqual",
    "__getitem__": r"[\w)\]]\[",
    "__setitem__": r"\]\s*=(?!=)",
    "__delitem__": r"\bdel\b",
    "__contains__": r"\bin\b|assert(?:Not)?In\b",
    "__iter__": r"\bfor\b|\b(?:list|tuple|set|sorted|iter|dict)\(|\*",
    "__reversed__": r"\breversed\(",
    "__next__": r"\bnext\(|\bfor\b|\blist\(",
    "__enter__": r"\bwith\b",
    "__exit__": r"\bwith\b",
    "__aenter__": r"\basync with\b",
    "__aexit__": r"\basync with\b",
    "__add__": r"\+",
    "__radd__": r"\+|\bsum\(",
    "__iadd__": r"\+=",
    "__sub__": r"-",
    "__rsub__": r"-",
    "__mul__": r"\*",
    "__rmul__": r"\*",
    "__matmul__": r"@",
    "__truediv__": r"/",
    "__floordiv__": r"//",
    "__mod__": r"%",
    "__pow__": r"\*\*",
    "__and__": r"&",
    "__rand__": r"&",
    "__or__": r"\|",
    "__ror__": r"\|",
    "__ior__": r"\|=",
    "__xor__": r"\^",
    "__lshift__": r"<<",
    "__rshift__": r">>",
    "__invert__": r"~",
    "__neg__": r"-",
    "__abs__": r"\babs\(",
    "__round__": r"\bround\(",
    "__int__": r"\bint\(",
    "__float__": r"\bfloat\(",
    "__copy__": r"copy",
    "__deepcopy__": r"deepcopy",
    "__reduce__": r"pickle|copy",
    "__reduce_ex__": r"pickle|copy",
    "__getstate__": r"pickle|copy",
    "__setstate__": r"pickle|copy",
    "__delattr__": r"\bdel\b|\bdelattr\(",
    "__setattr__": r"\.\w+\s*=(?!=)|\bsetattr\(",
    "__dir__": r"\bdir\(",
    "__missing__": r"\[",
    "__instancecheck__": r"\bisinstance\(",
}


class TestTexts:
    """Texts of the tests of a graph, of which `is_test` is the mask. `read_text` returns the text of a path."""

    def __init__(
        self, graph: CodeGraph, is_test: NDArray[np.bool_], lexical: LexicalIndex, read_text: Callable[[str], str]
    ) -> None:
        self._graph = graph
        self._is_test = is_test
        self._lexical = lexical
        self._read_text = read_text
        self._lines: dict[str, list[str]] = {}

    def find_naming(self, node: int) -> list[int]:
        """Return the tests, ascending, whose text has the last name of a function as a word of its own.

        A constructor has the name of its class. Other special methods have none, and names that very many tests have
        the words of say nothing.
        """
        name = self.name_of(node)
        if not name.isidentifier() or _SPECIAL.fullmatch(name) or self._graph.kind(node) not in CALLABLE_KINDS:
            return []
        nodes = find_nodes_with_words(name, self._lexical)
        nodes = nodes[self._is_test[nodes] & np.isin(self._graph.nodes.kinds[nodes], _RUNS)]
        if len(nodes) > _MAX_NAMING:
            return []
        pattern = re.compile(rf"\b{re.escape(name)}\b")
        return [test for test in nodes.tolist() if pattern.search(self._text(test))]

    def count_named(self, node: int) -> int:
        """Return the number of functions outside of tests that have the last name of one of them, at least 1."""
        nodes, name = self._graph.nodes, self.name_of(node)
        position = self._lexical.names.position(name.lower())
        if position < 0:
            return 1
        first, last = (int(at) for at in self._lexical.name_indptr[position : position + 2])
        alike = self._lexical.name_nodes[first:last]
        alike = alike[np.isin(nodes.kinds[alike], sorted(CALLABLE_KINDS)) & (nodes.roles[alike] != Role.TEST)]
        return max(sum(self.name_of(each) == name for each in alike.tolist()), 1)

    def name_of(self, node: int) -> str:
        """Return the last name of a function; of a constructor that of its class."""
        owner = class_of_constructor(self._graph, node)
        symbol = split_id(self._graph.nodes.ids[owner if owner >= 0 else node])[1] or ""
        return _REPEATED.sub("", symbol).rpartition(".")[2]

    def runs_operator(self, test: int, node: int) -> bool | None:
        """Return True if a test has code that runs such a special method; None if the node is none with such code."""
        written = _RUN_BY.get(self.name_of(node))
        return None if written is None else re.search(written, self._text(test), re.MULTILINE) is not None

    def _text(self, node: int) -> str:
        nodes = self._graph.nodes
        path = split_id(nodes.ids[node])[0]
        if path not in self._lines:
            self._lines[path] = self._read_text(path).split("\n")
        return "\n".join(self._lines[path][int(nodes.start_rows[node]) : int(nodes.end_rows[node]) + 1])
