"""Whether a question is about what usually ranks lower, such as tests, so that it does not there.

"Where are the tests of the parser" asks for tests. "Why can a final class not be mocked" does so almost everywhere, but
not in a repository that is about mocks: there the word stands in the names of its code.
"""

import numpy as np
from numpy.typing import NDArray

from causalist.lazily import expression
from causalist.model.graph import CodeGraph
from causalist.model.lexical import LexicalIndex
from causalist.model.symbols import NodeKind, Role
from causalist.rank.question import Question
from causalist.rank.terms import stem

ASKED_WORDS: dict[Role, tuple[str, ...]] = {
    Role.TEST: ("test", "tests", "testing", "spec", "fixture", "mock"),
    Role.DOCS: ("docs", "documentation", "readme", "changelog", "guide"),
    Role.EXAMPLE: ("example", "examples", "benchmark", "demo", "sample"),
    Role.CONFIG: ("ci", "workflow", "config", "lint", "build", "packaging", "setup", "pyproject", "tsconfig"),
    Role.MIGRATION: ("migration", "migrations"),
    Role.GENERATED: ("generated",),
    Role.VENDORED: ("vendored", "vendor"),
}
_UNNAMED = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.FIELD, NodeKind.EXTERNAL)
# Definitions with a word in their name from which on a repository is about it: their share of all that are code, and
# how many there are. docs/decisions/0006 has the shares of forty repositories.
_SHARE_OF_SUBJECT = 0.01
_FEWEST_OF_SUBJECT = 10
# Tests of something: what is asked for beyond doubt.
_TESTS_OF = expression(
    r"\b(?:unit|integration|regression|existing|which)[ -]tests?\b|\btests? (?:of|for|that|which|cover\w*|check\w*)\b"
    r"|\b(?:is|are|was|were) (?:\S+ ){1,6}tested\b",
    needs=("test",),
)
_LONGEST_TITLE = 300  # characters in which that is looked for


def roles_asked_for(question: Question, graph: CodeGraph, lexical: LexicalIndex) -> NDArray[np.bool_]:
    """Shape (n_nodes,): nodes of a role that the title asks for."""
    wanted = np.zeros(len(Role), dtype=np.bool_)
    for role, words in ASKED_WORDS.items():
        stems = dict.fromkeys(stem(word) for word in words)
        said = [term for term in stems if term in question.title_terms]
        wanted[role] = any(not _is_subject(term, graph, lexical) for term in said)
    if not wanted[Role.TEST]:
        wanted[Role.TEST] = _TESTS_OF.search(question.text.split("\n", 1)[0][:_LONGEST_TITLE].lower()) is not None
    result: NDArray[np.bool_] = wanted[graph.nodes.roles]
    return result


def _is_subject(term: str, graph: CodeGraph, lexical: LexicalIndex) -> bool:
    """Whether the repository is about what a term says, so that it asks for nothing that is called by it."""
    number = lexical.terms.position(term)
    if number < 0:
        return False
    names, nodes = lexical.symbol_names, graph.nodes
    having = names.documents[int(names.indptr[number]) : int(names.indptr[number + 1])]
    n_having = int(np.count_nonzero((nodes.roles[having] == Role.CODE) & ~np.isin(nodes.kinds[having], _UNNAMED)))
    if n_having < _FEWEST_OF_SUBJECT:
        return False
    n_code = int(np.count_nonzero((nodes.roles == Role.CODE) & ~np.isin(nodes.kinds, _UNNAMED)))
    return n_having >= _SHARE_OF_SUBJECT * n_code
