"""A message that a program printed -> the definitions that may print it, by their words alone."""

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import expression
from causalist.model.graph import CodeGraph
from causalist.model.lexical import LexicalIndex
from causalist.model.symbols import Role
from causalist.rank.lexical.bm25 import rarity
from causalist.rank.lexical.languages import DEFINES
from causalist.rank.terms import terms_of

_WORD = expression(r"\w+")
_MOST_WORDS = 64  # of a message that are read
# Words by which definitions are taken into account, the rarest first; more of them as long as those are few.
_FEWEST_RARE = 3
_MOST_CONSIDERED = 4_000
_FEWEST_TOGETHER = 2  # words of a message in a row that a definition has
_BY_LENGTH = 0.25  # of 0, 0.25 and 1 the best on development questions, see docs/decisions/0030


def message_words(text: str) -> list[str]:
    """The words of a message in small letters."""
    return [word.lower() for word in _WORD.findall(text)[:_MOST_WORDS]]


def printing(text: str, graph: CodeGraph, lexical: LexicalIndex, most: int) -> list[int]:
    """The `most` definitions, at most, that have most of a message in words that stand together in it, the best first.
    Whether a message stands there is for their text to say.

    A run of words that a definition has counts by its rarity times its length: who has many words has more of any
    message, but not in long runs. For the same reason all of it counts less for what is long.
    Tests are left out, which repeat messages and do not print them. Of what says them otherwise (`repeats`) a quarter
    as many follow: a message may be kept beside the code.
    """
    postings = lexical.definitions
    numbers = [_rarest(word, lexical) for word in _WORD.findall(text)[:_MOST_WORDS]]
    known = sorted({n for n in numbers if n >= 0}, key=lambda n: (int(postings.indptr[n + 1] - postings.indptr[n]), n))
    position = np.full(len(graph.nodes), -1, dtype=np.int32)
    n_considered = 0
    for place, number in enumerate(known):
        documents = _having(lexical, number)
        if place >= _FEWEST_RARE and n_considered + len(documents) > _MOST_CONSIDERED:
            break
        position[documents] = 0
        n_considered += len(documents)
    considered = np.flatnonzero((position == 0) & (graph.nodes.roles != Role.TEST))
    if not len(considered):
        return []
    position[:] = -1
    position[considered] = np.arange(len(considered))
    run, weight, longest, score = (np.zeros(len(considered)) for _ in range(4))
    rarities = {number: rarity(postings, number) for number in known}
    for number in [*numbers, -1]:  # the end of the message ends a run
        has = np.zeros(len(considered), dtype=np.bool_)
        if number >= 0:
            at = position[_having(lexical, number)]
            has[at[at >= 0]] = True
        ends = ~has & (run > 0)
        score += np.where(ends & (run > 1), weight * run, 0.0)
        longest = np.maximum(longest, run)
        run = np.where(has, run + 1, 0.0)
        weight = np.where(has, weight + rarities.get(number, 0.0), 0.0)
    some = np.flatnonzero(longest >= _FEWEST_TOGETHER)
    score = score[some] / (1.0 + _BY_LENGTH * np.log1p(postings.norms[considered[some]]))
    best = considered[some][np.lexsort((considered[some], -np.round(score, 9)))]
    is_other = repeats(graph)[best]
    return [*best[~is_other][:most].tolist(), *best[is_other][: most // 4].tolist()]


def repeats(graph: CodeGraph) -> NDArray[np.bool_]:
    """Shape (n_nodes,): what says messages and does not print them: pages, examples, and files in which nothing is
    defined, such as translations and settings."""
    nodes = graph.nodes
    defines = np.zeros(len(nodes), dtype=np.bool_)
    inside = nodes.files >= 0
    defines[nodes.files[inside & DEFINES[nodes.kinds]]] = True
    return np.isin(nodes.roles, [Role.DOCS, Role.EXAMPLE]) | ~(inside & defines[np.maximum(nodes.files, 0)])


def _rarest(word: str, lexical: LexicalIndex) -> int:
    """The number of the term of a word that says most, the whole of a word with parts; -1 for what nobody has."""
    terms = terms_of(word)
    return lexical.terms.position(terms[-1]) if terms else -1


def _having(lexical: LexicalIndex, number: int) -> NDArray[np.int32]:
    postings = lexical.definitions
    return postings.documents[int(postings.indptr[number]) : int(postings.indptr[number + 1])]
