"""A question of one ordinary word -> the definitions that have it as their name, in the order of `find`.

By its words `Token` is hardly better than `load_token`: both names have the word, and the longer definition has it more
often. A question of this one word asks for the definition of that name, as looking it up does.
"""

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph
from causalist.model.index import LexicalIndex
from causalist.model.scores import Transition
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, split_id
from causalist.rank.lexical.bm25 import nodes_named
from causalist.rank.query.query import Question

_WORD = lazy_regex(r"[^\W\d_][^\W_]*")
_NO_DEFINITIONS = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL, NodeKind.FIELD)
_USABLE = (*TYPE_KINDS, NodeKind.TYPE, NodeKind.FUNCTION)
_MAX_NAMESAKES = 5  # that come first; of a name that more bear the others stand where their text puts them
_STEP = 1e-3  # by which a score is raised above the next one: only the order is meant


def exact_namesakes(
    question: Question,
    graph: CodeGraph,
    lexical: LexicalIndex,
    transition: Transition,
    inside: NDArray[np.bool_] | None,
) -> list[int]:
    """Return the definitions whose name is the whole question, in its case, best first; none for other questions.

    Code comes before tests and documentation, then what more other nodes are linked with, as in `find`. A member of a
    namesake (a constructor) is left out. A word in small letters is more often a subject, such as `cache` or `auth`:
    it names only types and functions of code that others can use, and no variables, methods or local functions.
    """
    word = question.text.strip()
    if question.is_pattern or not _WORD.fullmatch(word):
        return []
    # An identifier of several words is looked up by its mention. `Error` is one word, and may have been raised.
    if any(named.text != word for named in question.named) or (question.named and not word[1:].islower()):
        return []
    nodes = graph.nodes
    is_subject = word.islower()
    found = [
        node
        for node in nodes_named(word, lexical)
        if graph.kind(node) not in _NO_DEFINITIONS
        and (inside is None or inside[node])
        and (not is_subject or _is_usable(node, graph))
        and (split_id(nodes.ids[node])[1] or "").rpartition(".")[2].partition("~")[0] == word
    ]
    all_found = set(found)
    found = [node for node in found if int(nodes.parents[node]) not in all_found]

    def place(node: int) -> tuple[bool, int, int, int]:
        return bool(nodes.roles[node] != Role.CODE), -int(transition.degrees[node]), len(nodes.ids[node]), node

    return sorted(found, key=place)[:_MAX_NAMESAKES]


def _is_usable(node: int, graph: CodeGraph) -> bool:
    """Return True for a type or function of code that does not stand inside a function."""
    parent = int(graph.nodes.parents[node])
    is_local = parent >= 0 and graph.kind(parent) in CALLABLE_KINDS
    return graph.kind(node) in _USABLE and graph.nodes.roles[node] == Role.CODE and not is_local


def with_these_first(scores: NDArray[np.float64], nodes: list[int]) -> NDArray[np.float64]:
    """Return a copy of scores, (n,), in which `nodes` come before all others and in their order. A score that is high
    enough stays.

    >>> with_these_first(np.array([3.0, 5.0, 4.0]), [1, 0]).round(3).tolist()
    [4.001, 5.0, 4.0]
    """
    raised = scores.copy()
    raised[nodes] = -np.inf
    least = float(raised.max(initial=0.0)) + _STEP
    for node in reversed(nodes):
        raised[node] = least = max(float(scores[node]), least)
        least += _STEP
    return raised
