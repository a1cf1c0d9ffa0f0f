"""Branches around calls: how many conditions decide if a function that runs also makes a call.

In: a graph and the text of files. Out: the share of runs of a caller that run one of its calls.

Rows are read by their indentation, which code of all languages has. A row is inside of each row above it that is
indented less and that no row between them closes. Where a file is not indented like that, calls have the share of those
of which nothing is known.
"""

import re
from collections.abc import Callable, Sequence

from causalist.model.graph import CodeGraph
from causalist.model.symbols import split_id

# The share of runs of a caller that run a call inside of that many branches. Measured on suites with coverage of each
# test, see docs/benchmarks.md.
SHARES_BY_BRANCHES = (0.93, 0.67, 0.42, 0.2)
LOOP_SHARE = 0.85  # of what is in a loop, which may have nothing to do
UNKNOWN_SHARE = 0.7  # where the text is not known
_BRANCH = re.compile(r"(?:if|elif|elsif|elseif|else|except|catch|rescue|case|when|unless|switch|match|select)\b")
_LOOP = re.compile(r"(?:for|foreach|while|until|loop)\b")
_ALTERNATIVE = re.compile(r"(?:elif|elsif|elseif|else|case|when)\b")
_CLOSING = " \t})"
_COMMENTS = ("#", "//", "*", "/*")
_FAR = 1_000_000  # more than any row is indented
_IN_QUOTES = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


class CallSites:
    """Calls of a graph, by the number of their edge. `read_text` returns the text of a path."""

    def __init__(self, graph: CodeGraph, read_text: Callable[[str], str]) -> None:
        self._graph = graph
        self._read_text = read_text
        self._lines: dict[str, list[str]] = {}
        self._shares: dict[int, float] = {}

    def share(self, number: int) -> float:
        """Return the share of runs of a caller that run the call of an edge at its first row."""
        if number not in self._shares:
            self._shares[number] = self._find_share(number)
        return self._shares[number]

    def _find_share(self, number: int) -> float:
        edges, nodes = self._graph.edges, self._graph.nodes
        source, row = int(edges.sources[number]), int(edges.rows[number])
        start, path = int(nodes.start_rows[source]), split_id(nodes.ids[source])[0]
        if path not in self._lines:
            self._lines[path] = self._read_text(path).split("\n")
        lines = self._lines[path]
        if not start <= row < len(lines):
            return UNKNOWN_SHARE
        n_branches, n_loops = _count_around(lines, start, row)
        name = split_id(nodes.ids[int(edges.targets[number])])[1] or ""
        n_branches += _is_behind_condition(lines[row], name.rpartition(".")[2])
        share = SHARES_BY_BRANCHES[min(n_branches, len(SHARES_BY_BRANCHES) - 1)]
        return share * LOOP_SHARE if n_loops else share


def _count_around(lines: Sequence[str], first: int, row: int) -> tuple[int, int]:
    """Return the numbers of the (branches, loops) behind row `first` that a row is inside of.

    >>> lines = ["def f():", "    if a:", "        for b in c:", "            d()", "    e()"]
    >>> _count_around(lines, 0, 3), _count_around(lines, 0, 4)
    ((1, 1), (0, 0))
    """
    n_branches = n_loops = 0
    text = lines[row].strip()
    is_code = text and not text.startswith(_COMMENTS)
    limit = len(lines[row]) - len(lines[row].lstrip()) if is_code else len(lines[row]) + _FAR
    for line in reversed(lines[first + 1 : row]):
        text = line.lstrip()
        indentation = len(line) - len(text)
        if indentation < limit and text and not text.startswith(_COMMENTS):
            limit = indentation
            head = text.lstrip(_CLOSING)
            if _BRANCH.match(head):
                n_branches += 1
            elif _LOOP.match(head):
                n_loops += 1
    return n_branches, n_loops


def _is_behind_condition(line: str, name: str) -> bool:
    """Return True if a row begins with a condition and has the name in what that decides.

    >>> _is_behind_condition("if (a) call();", "call"), _is_behind_condition("if (call(a)) {", "call")
    (True, False)
    >>> _is_behind_condition("elif call(a):", "call"), _is_behind_condition("if a: call()", "call")
    (True, True)
    """
    head = line.strip().lstrip(_CLOSING)
    if not _BRANCH.match(head):
        return False
    if _ALTERNATIVE.match(head):
        return True
    match = re.search(rf"\b{re.escape(name)}\b", head) if name else None
    depth, is_closed = 0, False
    for character in _IN_QUOTES.sub("", head[: match.start()]) if match else "":
        depth += (character in "([{") - (character in ")]}")
        is_closed = is_closed or (depth == 0 and character in ":)")
    return is_closed and depth == 0
