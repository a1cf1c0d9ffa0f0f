"""Terms of a repository for the words of a query that it lacks, and terms to add to a query.

In: the words of a query and the lexical index. Out: weights by term. No word of the query is removed.

A word may be missing for four reasons: another spelling (normalise, normalize), a compound written apart or together
(file system, filesystem), an abbreviation (cfg, config), or a typing error. The terms that are added weigh less than
the word. A word that the repository has in this form is never corrected.

Pseudo-relevance feedback (Rocchio 1971) adds words of the results that match best, tests and documentation included. A
query about "a second call when the first is slow" shares only common words with the code that hedges. The best matches
of these words also contain "hedging", and so do the files that are meant.

Two lists give words of the same meaning. `synonyms.txt` has a group of words on each line: one author writes `remove`,
the other asks what deletes. `leads.txt` has a word of queries and then words of code: `expiry` leads to `ttl`,
`simultaneous` to `lock`. Both lists are general and small. Matches of such words are a signal of their own, so that
they never count as much as the query's words. If a query has few words and names nothing, such words also count in the
text of definitions and in commit messages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph
from causalist.model.index import LexicalIndex, Postings
from causalist.model.string_table import StringTable
from causalist.model.symbols import NodeKind, Role
from causalist.rank.lexical.bm25 import ROWS_AT_ONCE, rarity
from causalist.rank.query.query import ParsedQuery
from causalist.rank.terms import STOP_WORDS, stem
from causalist.rank.top_k import SCORE_DECIMALS, select_first

SPELLING_WEIGHT = 1.0  # of the word: it is the same word
COMPOUND_WEIGHT = 0.5
SHORT_WEIGHT = 0.25  # as of the beginnings of words, see `question`
TYPO_WEIGHT = 0.8
_MIN_TYPO_LETTERS = 5
_MIN_TWO_TYPOS_LETTERS = 9
_MAX_CORRECTED_WORDS = 6  # words of one question
_MAX_CORRECTIONS = 2  # terms that a slip may stand for; with more nothing is known
_MIN_DEFINITIONS = 2  # definitions that have what a slip stands for
_MIN_PART_LETTERS = 3

_LETTERS = lazy_regex(r"[A-Za-z]+")
_SPELLINGS = tuple(
    (lazy_regex(pattern, needs=(letters,)), replacement)
    for letters, pattern, replacement in (
        ("is", r"is(e|ed|es|er|ers|ing|ation|ations|able)$", r"iz\1"),
        ("iz", r"iz(e|ed|es|er|ers|ing|ation|ations|able)$", r"is\1"),
        ("ys", r"ys(e|ed|es|er|ers|ing)$", r"yz\1"),
        ("yz", r"yz(e|ed|es|er|ers|ing)$", r"ys\1"),
        ("our", r"(?<=[a-z]{2})our", "or"),
        ("or", r"(?<=[bhlv])or(?=$|s$|ed$|ing$|ful)", "our"),
        ("ogue", r"ogue(s?)$", r"og\1"),
        ("og", r"(?<=[al])og(s?)$", r"ogue\1"),
        ("re", r"(?<=nt)re(s?)$", r"er\1"),
        ("ce", r"(?<=en)ce(s|d?)$", r"se\1"),
        ("se", r"(?<=en)se(s|d?)$", r"ce\1"),
        ("grey", r"grey", "gray"),
        ("gray", r"gray", "grey"),
        # Adverbs that the stemmer leaves apart from what they are made of.
        ("wly", r"wly$", "w"),
        ("eeply", r"eeply$", "eep"),
        ("zily", r"zily$", "zy"),
    )
)


def other_terms(text: str, weights: Mapping[str, float], lexical: LexicalIndex) -> dict[int, float]:
    """Return weight by term number, for terms that `text` means but does not contain.

    `weights`: the weights of the terms that `text` contains.
    """
    found: dict[int, float] = {}
    own = {lexical.terms.position(term) for term in weights}

    def add(term: str, weight: float) -> bool:
        number = lexical.terms.position(term)
        if number >= 0 and number not in own:
            found[number] = max(found.get(number, 0.0), weight)
        return number >= 0

    words = [w.lower() for w in _LETTERS.findall(text)]
    unknown: set[str] = set()
    explained: set[str] = set()
    for word in dict.fromkeys(words):
        weight = weights.get(stem(word), 0.0)
        if weight <= 0 or word in STOP_WORDS:
            continue
        spelled = [add(stem(other), weight * SPELLING_WEIGHT) for other in _spellings(word)]
        if lexical.terms.position(stem(word)) >= 0 or any(spelled):
            continue
        unknown.add(stem(word))
        known = [add(other, weight * SHORT_WEIGHT) for other in _short_forms().get(stem(word), ())]
        known += [add(part, weight * COMPOUND_WEIGHT) for part in _parts(word, lexical.terms)]
        if any(known):
            explained.add(stem(word))
    for first, second in dict.fromkeys(pairwise(words)):
        # "times out" is timeout, "logged in" login; two words that the repository has are looked for as they stand.
        particle = second in STOP_WORDS and first not in STOP_WORDS
        if not particle and not (
            min(len(first), len(second)) >= _MIN_PART_LETTERS and {stem(first), stem(second)} & unknown
        ):
            continue
        weight = max(weights.get(stem(first), 0.0), weights.get(stem(second), 0.0))
        if weight <= 0:
            continue
        whole = dict.fromkeys((stem(first + second), stem(stem(first) + second)))
        if particle:  # Python and Ruby write it apart
            whole |= dict.fromkeys((f"{first}_{second}", f"{stem(first)}_{second}"))
        known = [add(term, weight * COMPOUND_WEIGHT) for term in whole]
        if any(known):
            explained |= {stem(first), stem(second)}
    long = [w for w in dict.fromkeys(words) if len(w) >= _MIN_TYPO_LETTERS and stem(w) in unknown - explained]
    for word in sorted(long, key=lambda w: (-weights[stem(w)], w))[:_MAX_CORRECTED_WORDS]:
        # The stem of a slip is not always the slip of a stem.
        meant = _near_terms(stem(word), lexical) or _near_terms(word, lexical)
        for other in meant:
            add(other, weights[stem(word)] * TYPO_WEIGHT / len(meant))
    return found


def _spellings(word: str) -> Iterator[str]:
    """Yield the other spellings of a word.

    >>> list(_spellings("normalised")), list(_spellings("color")), list(_spellings("colour"))
    (['normalized'], ['colour'], ['color'])
    """
    for pattern, replacement in _SPELLINGS:
        other, n = pattern.subn(replacement, word, count=1)
        if n:
            yield other


@lru_cache(maxsize=1)
def _short_forms() -> dict[str, tuple[str, ...]]:
    """Return the stems of the abbreviations and of the long forms of each stem."""
    found: dict[str, dict[str, None]] = {}
    text = Path(__file__).with_name("abbreviations.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        short, *long = line.split()
        for word in long:
            found.setdefault(stem(short), {})[stem(word)] = None
            found.setdefault(stem(word), {})[stem(short)] = None
    return {word: tuple(others) for word, others in found.items()}


def _parts(word: str, terms: StringTable) -> tuple[str, ...]:
    """Return the two terms of a compound word, or nothing: `filesystem` is file and system.

    The most even split is tried first.
    """
    for at in sorted(
        range(_MIN_PART_LETTERS, len(word) - _MIN_PART_LETTERS + 1), key=lambda i: (abs(2 * i - len(word)), i)
    ):
        if word[:at] in STOP_WORDS or word[at:] in STOP_WORDS:
            continue
        first, second = stem(word[:at]), stem(word[at:])
        if terms.position(first) >= 0 and terms.position(second) >= 0:
            return first, second
    return ()


def _near_terms(term: str, lexical: LexicalIndex) -> list[str]:
    """Return the terms within one or two slips of `term`, with the same first letter.

    A slip is a letter too much, too few, another one, or two exchanged letters (Damerau). If there are many such terms,
    none is returned.
    """
    if len(term) < _MIN_TYPO_LETTERS:
        return []
    most = 2 if len(term) >= _MIN_TWO_TYPOS_LETTERS else 1
    best: dict[int, list[str]] = {}
    letters = set(term)
    for number in _similar_terms(term, most, lexical):
        other = lexical.terms[number]
        if len(letters ^ set(other)) > 2 * most or not other.isalpha():
            continue
        distance = damerau_distance(term, other, most)
        if distance <= most:
            best.setdefault(distance, []).append(other)
    nearest = best[min(best)] if best else []
    return nearest if len(nearest) <= _MAX_CORRECTIONS else []


def _similar_terms(term: str, most: int, lexical: LexicalIndex) -> list[int]:
    """Return the terms with the first letter and about the length of `term`, that several definitions have."""
    among = lexical.terms.prefix_range(term[0])
    lengths = np.diff(lexical.terms.offsets[among.start : among.stop + 1])
    frequency = np.diff(lexical.definitions.indptr[among.start : among.stop + 1])
    fits = (np.abs(lengths - len(term)) <= most) & (lengths >= _MIN_TYPO_LETTERS - 1) & (frequency >= _MIN_DEFINITIONS)
    return [int(n) + among.start for n in np.flatnonzero(fits)]


def damerau_distance(a: str, b: str, most: int) -> int:
    """Return the Damerau distance (optimal string alignment) of two words, or `most` + 1 if it is more.

    >>> [damerau_distance(*pair, 2) for pair in (("recieve", "receive"), ("timout", "timeout"))]
    [1, 1]
    >>> damerau_distance("token", "broken", 1)
    2
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            value = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                value = min(value, previous[j - 2] + 1)
            row.append(value)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


_NO_DEFINITIONS = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL)
# By kind; looked up for all nodes, which takes a fraction of `np.isin`.
DEFINES = ~np.isin(np.arange(max(NodeKind) + 1), _NO_DEFINITIONS)
_RUNS = np.isin(np.arange(max(NodeKind) + 1), (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.PASSAGE, NodeKind.HANDLER))


def files_that_run(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return True for files that define a function or method with a body, or are prose.

    The result has shape (n_nodes,). Other files declare, or pass definitions on.
    """
    files, kinds, parents = graph.nodes.files, graph.nodes.kinds, graph.nodes.parents
    inside = _RUNS[kinds] & (files >= 0)
    inside &= (parents < 0) | (kinds[np.maximum(parents, 0)] != NodeKind.INTERFACE)
    result = np.zeros(len(graph.nodes), dtype=np.bool_)
    result[files[inside]] = True
    return result


Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

EXPANSION = "expansion"  # the signal
# Chosen on short questions; 5 to 20 and 10 to 25 are alike (docs/decisions/0023).
N_SOURCES = 8
N_WORDS = 15
MAX_COUNTED_OCCURRENCES = 3.0  # occurrences of a word in a source; further ones do not count
_MAX_SEARCHED_TERMS = 400  # terms in whose rows a node is searched for
_MIN_SEARCHED_ROWS = 512  # rows of such a term


def expansion_terms(text: Scores, terms: Mapping[int, float], lexical: LexicalIndex) -> dict[int, float]:
    """Return weight by number, in (0, 1], of the N_WORDS best words of the N_SOURCES best nodes.

    The best nodes are those by `text`. With t the number of times that a word occurs in a source, and df the number of
    documents of N that have it, the weight is

        sum over sources of text^2 * min(t, MAX_COUNTED_OCCURRENCES) * ln(N / df),  divided by the largest

    `text`: shape (n_nodes,), the match of definitions and passages, 0 for nodes that may not be read. `terms`: the
    numbers of the query's own words, which are not returned.
    """
    postings = lexical.definitions
    best = select_first(text, np.flatnonzero(text > 0), N_SOURCES)
    if not len(best):
        return {}
    share = np.zeros(len(text))
    share[best] = (text[best] / text[best[0]]) ** 2
    rows = _rows_of(best[share[best] > 0], postings)
    numbers = np.searchsorted(postings.indptr, rows, side="right") - 1
    said = share[postings.documents[rows]] * np.minimum(postings.counts[rows], MAX_COUNTED_OCCURRENCES)
    frequency = np.diff(postings.indptr)
    values = np.bincount(numbers, weights=said, minlength=len(frequency))
    values *= np.log(postings.n_documents / np.maximum(frequency, 1)) * (frequency >= _MIN_DEFINITIONS)
    values[list(terms)] = 0.0
    rounded = np.round(values, SCORE_DECIMALS)
    words = np.flatnonzero(rounded > 0)
    words = words[np.lexsort((words, -rounded[words]))][:N_WORDS]
    return {int(word): float(values[word] / values[words[0]]) for word in words}


def _rows_of(nodes: NDArray[np.int64], postings: Postings) -> NDArray[np.int64]:
    """Return the ascending positions in `postings.documents` of any of a few `nodes`.

    The rows of the terms that stand everywhere are most of all rows, and they are searched by halves. The rest is
    scanned, some rows at once: there are dozens of rows for each node of the repository, and allocating an array for
    all of them takes longer than looking at them.
    """
    documents, indptr = postings.documents, postings.indptr.astype(np.int64)
    least = max(_MIN_SEARCHED_ROWS, len(documents) // _MAX_SEARCHED_TERMS)
    many = np.flatnonzero(np.diff(indptr) > least)
    found = [_search_rows(nodes, documents, indptr[many], indptr[many + 1])]
    starts, stops = np.append(0, indptr[many + 1]).tolist(), np.append(indptr[many], len(documents)).tolist()
    for start, stop in zip(starts, stops, strict=True):
        for first in range(start, stop, ROWS_AT_ONCE):
            some = documents[first : min(first + ROWS_AT_ONCE, stop)]
            is_there, one = np.zeros((2, len(some)), dtype=np.bool_)
            for node in nodes.astype(documents.dtype):
                is_there |= np.equal(some, node, out=one)
            found.append(first + np.flatnonzero(is_there))
    return np.sort(np.concatenate(found))


def _search_rows(
    nodes: NDArray[np.int64], documents: NDArray[np.int32], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the positions of nodes in the rows `starts[i]:stops[i]`.

    The rows ascend and are never empty. The search goes by halves, in all rows at once.
    """
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    low, high = (np.repeat(each[:, None], len(nodes), axis=1) for each in (starts, stops - 1))
    for _ in range(int((stops - starts).max()).bit_length()):
        middle = (low + high) >> 1
        is_behind = documents[middle] < nodes
        low = np.minimum(np.where(is_behind, middle + 1, low), stops[:, None] - 1)
        high = np.where(is_behind, high, middle)
    is_there: NDArray[np.bool_] = documents[low] == nodes
    return low[is_there]


def expandable_files(graph: CodeGraph, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return True for files of code that run, and for files whose role is `asked` for.

    The result has shape (n_nodes,). A file that only declares shares words with everything that uses it.
    """
    code = (graph.nodes.kinds == NodeKind.FILE) & (asked | (graph.nodes.roles == Role.CODE))
    result: NDArray[np.bool_] = code & files_that_run(graph)
    return result


# A query with more words needs no synonyms: its other words describe the subject. Of a long query the title is used.
MAX_EXPANDED_WORDS = 14
# Weight of a replacement, relative to the query's word; 0.3 to 0.5 give equal results (docs/decisions/0023).
OTHER_WEIGHT = 0.4


@lru_cache(maxsize=1)
def _groups() -> dict[str, list[list[str]]]:
    """Return the groups of synonyms of each stem, as stems."""
    found: dict[str, list[list[str]]] = {}
    for line in _lines("synonyms.txt"):
        stems = [stem(word) for word in line.split()]
        for each in dict.fromkeys(stems):
            found.setdefault(each, []).append(stems)
    return found


@lru_cache(maxsize=1)
def _leads() -> dict[str, list[str]]:
    """Return the texts that follow each word of queries in `leads.txt`, by the stem of that word.

    The texts themselves are not stemmed here: stems are taken only of those that are asked for.
    """
    found: dict[str, list[str]] = {}
    for line in _lines("leads.txt"):
        asked, _, said = line.partition(" ")
        found.setdefault(stem(asked), []).append(said)
    return found


def _lines(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


def _synonyms(term: str) -> Iterable[str]:
    """Return the other stems of all groups of a stem; `log_in` belongs to the groups of `login`."""
    word = term.replace("_", "")
    return sorted({other for group in _groups().get(word, ()) for other in group} - {term, word})


def _indirect_synonyms(term: str) -> Iterable[str]:
    """Return the stems that a word of queries leads to."""
    return sorted({stem(word) for said in _leads().get(term, ()) for word in said.split()})


def synonym_terms(question: ParsedQuery, lexical: LexicalIndex) -> dict[int, float]:
    """Return weight by number, for terms of the repository that are synonyms of a query term.

    Terms of the query itself are left out. Each weighs as much as the heaviest word that it replaces. A long query with
    a long title gives nothing.
    """
    return _replacement_terms(question, lexical, _synonyms)


def indirect_synonym_terms(question: ParsedQuery, lexical: LexicalIndex) -> dict[int, float]:
    """Return the same as `synonym_terms`, for terms that a word of the query leads to."""
    return _replacement_terms(question, lexical, _indirect_synonyms)


def replacement_words(question: ParsedQuery, lexical: LexicalIndex) -> dict[str, float]:
    """Return weight by term, for words of both lists that replace a word of a brief query.

    The weight is OTHER_WEIGHT times that of the replaced word. It is reduced if the other word is rarer in the
    repository, so that none contributes more than the replaced word would. A query that is not brief gives nothing.
    """
    found: dict[str, float] = {}
    for others_of in (_synonyms, _indirect_synonyms) if question.is_brief else ():
        for term, weight in question.terms.items():
            for other in others_of(term):
                if other not in question.terms:
                    share = OTHER_WEIGHT * weight * _relative_rarity(term, other, lexical)
                    found[other] = max(found.get(other, 0.0), share)
    return found


def _relative_rarity(term: str, other: str, lexical: LexicalIndex) -> float:
    """Return the rarity of `term` divided by that of `other`, at most 1.

    The result is 1 if the repository lacks one of the two.
    """
    asked, said = lexical.terms.position(term), lexical.terms.position(other)
    if asked < 0 or said < 0:
        return 1.0
    return min(1.0, rarity(lexical.definitions, asked) / rarity(lexical.definitions, said))


def _replacement_terms(
    question: ParsedQuery, lexical: LexicalIndex, others_of: Callable[[str], Iterable[str]]
) -> dict[int, float]:
    asked = question.terms if len(question.terms) <= MAX_EXPANDED_WORDS else {}
    if not asked and len(question.title_terms) <= MAX_EXPANDED_WORDS:
        asked = {term: question.terms[term] for term in question.title_terms if term in question.terms}
    found: dict[int, float] = {}
    for term, weight in asked.items():
        for other in others_of(term):
            if other in question.terms:
                continue
            number = lexical.terms.position(other)
            if number >= 0:
                found[number] = max(found.get(number, 0.0), weight)
    return found
