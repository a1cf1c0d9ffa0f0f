"""Terms of a repository for the words of a query that it lacks, and terms to add to a query.

In: the words of a query and the lexical index. Out: weights by term. No word of the query is removed.

A word may be missing for four reasons: another spelling (normalise, normalize), a compound written apart or together
(file system, filesystem), an abbreviation (cfg, config), or a typing error. The terms that are added weigh less than
the word. A word that the repository has in this form is never corrected.

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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph
from causalist.model.index import LexicalIndex
from causalist.model.node_ids import NodeKind
from causalist.model.string_table import StringTable
from causalist.rank.lexical.bm25 import rarity
from causalist.rank.terms import STOP_WORDS, damerau_distance, stem

if TYPE_CHECKING:  # memory over text needs no parser of questions about code
    from causalist.rank.query.query import ParsedQuery

SPELLING_WEIGHT = 1.0  # relative to the word: another spelling is the same word
COMPOUND_WEIGHT = 0.5
SHORT_WEIGHT = 0.25  # equal to `ABBREVIATION_WEIGHT`
TYPO_WEIGHT = 0.8
_MIN_TYPO_LETTERS = 5
_MIN_TWO_TYPOS_LETTERS = 9
_MAX_CORRECTED_WORDS = 6  # misspelled words of a query that are corrected
_MAX_CORRECTIONS = 2  # corrections of a misspelled word; with more, none is used
_MIN_DEFINITIONS = 2  # definitions that contain a correction
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
        # Adverbs that the stemmer does not map to the stem of their adjective.
        ("wly", r"wly$", "w"),
        ("eeply", r"eeply$", "eep"),
        ("zily", r"zily$", "zy"),
    )
)


def other_terms(text: str, weights: Mapping[str, float], lexical: LexicalIndex) -> dict[int, float]:
    """Return weight by term number, for terms that `text` means but does not contain.

    `weights`: the weights of the terms that `text` contains.
    """
    result: dict[int, float] = {}
    own = {lexical.terms.position(term) for term in weights}

    def add(term: str, weight: float) -> bool:
        number = lexical.terms.position(term)
        if number >= 0 and number not in own:
            result[number] = max(result.get(number, 0.0), weight)
        return number >= 0

    words = [w.lower() for w in _LETTERS.findall(text)]
    unknown: set[str] = set()
    explained: set[str] = set()
    for word in dict.fromkeys(words):
        weight = weights.get(stem(word), 0.0)
        if weight <= 0 or word in STOP_WORDS:
            continue
        spelled = [add(stem(other), weight * SPELLING_WEIGHT) for other in _spellings(word)]
        for other in _written_apart(word):
            add(other, weight * COMPOUND_WEIGHT)
        if lexical.terms.position(stem(word)) >= 0 or any(spelled):
            continue
        unknown.add(stem(word))
        is_known = [add(other, weight * SHORT_WEIGHT) for other in _short_forms().get(stem(word), ())]
        is_known += [add(part, weight * COMPOUND_WEIGHT) for part in _parts(word, lexical.terms)]
        if any(is_known):
            explained.add(stem(word))
    for first, second in dict.fromkeys(pairwise(words)):
        # "times out" means timeout, "logged in" login. Two words that the repository has stay two words.
        particle = second in STOP_WORDS and first not in STOP_WORDS
        if not particle and not (
            min(len(first), len(second)) >= _MIN_PART_LETTERS and {stem(first), stem(second)} & unknown
        ):
            continue
        weight = max(weights.get(stem(first), 0.0), weights.get(stem(second), 0.0))
        if weight <= 0:
            continue
        compounds = dict.fromkeys((stem(first + second), stem(stem(first) + second)))
        if particle:  # Python and Ruby separate the two words
            compounds |= dict.fromkeys((f"{first}_{second}", f"{stem(first)}_{second}"))
        is_known = [add(term, weight * COMPOUND_WEIGHT) for term in compounds]
        if any(is_known):
            explained |= {stem(first), stem(second)}
    long = [w for w in dict.fromkeys(words) if len(w) >= _MIN_TYPO_LETTERS and stem(w) in unknown - explained]
    for word in sorted(long, key=lambda w: (-weights[stem(w)], w))[:_MAX_CORRECTED_WORDS]:
        # Stemming a misspelled word may give another stem than misspelling the stem.
        near_terms = _near_terms(stem(word), lexical) or _near_terms(word, lexical)
        for other in near_terms:
            add(other, weights[stem(word)] * TYPO_WEIGHT / len(near_terms))
    return result


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
    forms: dict[str, dict[str, None]] = {}
    text = Path(__file__).with_name("abbreviations.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        short, *long = line.split()
        for word in long:
            forms.setdefault(stem(short), {})[stem(word)] = None
            forms.setdefault(stem(word), {})[stem(short)] = None
    return {word: tuple(others) for word, others in forms.items()}


def _written_apart(word: str) -> Iterator[str]:
    """Yield the identifiers that code may have for a compound: `git_ignore` and `gitIgnore` for gitignore."""
    if len(word) < 2 * _MIN_PART_LETTERS:
        return
    if stem(word) != word:
        yield word  # whole identifiers are not stemmed
    for at in range(_MIN_PART_LETTERS, len(word) - _MIN_PART_LETTERS + 1):
        yield f"{word[:at]}_{word[at:]}"


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


_NO_DEFINITIONS = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL)
# By kind. Indexing this table by the kinds of all nodes takes a fraction of the time of `np.isin`.
DEFINES = ~np.isin(np.arange(max(NodeKind) + 1), _NO_DEFINITIONS)
_RUNS = np.isin(np.arange(max(NodeKind) + 1), (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.PASSAGE, NodeKind.HANDLER))


def files_that_run(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return True for files that define a function or method with a body, or are prose.

    The result has shape (n_nodes,). Other files declare, or pass definitions on.
    """
    files, kinds, parents = graph.nodes.files, graph.nodes.kinds, graph.nodes.parents
    is_running = _RUNS[kinds] & (files >= 0)
    is_running &= (parents < 0) | (kinds[np.maximum(parents, 0)] != NodeKind.INTERFACE)
    result = np.zeros(len(graph.nodes), dtype=np.bool_)
    result[files[is_running]] = True
    return result


# A query with more words needs no synonyms: its other words describe the subject. Of a long query the title is used.
MAX_EXPANDED_WORDS = 14
# Weight of a replacement, relative to the query's word; 0.3 to 0.5 give equal results (docs/decisions/0023).
OTHER_WEIGHT = 0.4


@lru_cache(maxsize=1)
def _groups() -> dict[str, list[list[str]]]:
    """Return the groups of synonyms of each stem, as stems."""
    result: dict[str, list[list[str]]] = {}
    for line in _lines("synonyms.txt"):
        stems = [stem(word) for word in line.split()]
        for each in dict.fromkeys(stems):
            result.setdefault(each, []).append(stems)
    return result


@lru_cache(maxsize=1)
def _load_indirect_synonyms() -> dict[str, list[str]]:
    """Return the texts that follow each word of queries in `leads.txt`, by the stem of that word.

    The texts themselves are not stemmed here: stems are taken only of those that are asked for.
    """
    result: dict[str, list[str]] = {}
    for line in _lines("leads.txt"):
        word, _, synonyms = line.partition(" ")
        result.setdefault(stem(word), []).append(synonyms)
    return result


def _lines(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


def _synonyms(term: str) -> Iterable[str]:
    """Return the other stems of all groups of a stem; `log_in` belongs to the groups of `login`."""
    word = term.replace("_", "")
    return sorted({other for group in _groups().get(word, ()) for other in group} - {term, word})


def _indirect_synonyms(term: str) -> Iterable[str]:
    """Return the stems that a word of queries leads to."""
    return sorted({stem(word) for synonym in _load_indirect_synonyms().get(term, ()) for word in synonym.split()})


def synonym_terms(question: "ParsedQuery", lexical: LexicalIndex) -> dict[int, float]:
    """Return weight by number, for terms of the repository that are synonyms of a query term.

    Terms of the query itself are left out. Each weighs as much as the heaviest word that it replaces. A long query with
    a long title gives nothing.
    """
    return _replacement_terms(question, lexical, _synonyms)


def indirect_synonym_terms(question: "ParsedQuery", lexical: LexicalIndex) -> dict[int, float]:
    """Return the same as `synonym_terms`, for terms that a word of the query leads to."""
    return _replacement_terms(question, lexical, _indirect_synonyms)


def replacement_words(question: "ParsedQuery", lexical: LexicalIndex) -> dict[str, float]:
    """Return weight by term, for words of both lists that replace a word of a brief query.

    The weight is OTHER_WEIGHT times that of the replaced word. It is reduced if the other word is rarer in the
    repository, so that none contributes more than the replaced word would. A query that is not brief gives nothing.
    """
    result: dict[str, float] = {}
    for others_of in (_synonyms, _indirect_synonyms) if question.is_brief else ():
        for term, weight in question.terms.items():
            for other in others_of(term):
                if other not in question.terms:
                    share = OTHER_WEIGHT * weight * _relative_rarity(term, other, lexical)
                    result[other] = max(result.get(other, 0.0), share)
    return result


def _relative_rarity(term: str, other: str, lexical: LexicalIndex) -> float:
    """Return the rarity of `term` divided by that of `other`, at most 1.

    The result is 1 if the repository lacks one of the two.
    """
    term_number, other_number = lexical.terms.position(term), lexical.terms.position(other)
    if term_number < 0 or other_number < 0:
        return 1.0
    return min(1.0, rarity(lexical.definitions, term_number) / rarity(lexical.definitions, other_number))


def _replacement_terms(
    question: "ParsedQuery", lexical: LexicalIndex, others_of: Callable[[str], Iterable[str]]
) -> dict[int, float]:
    query_terms = question.terms if len(question.terms) <= MAX_EXPANDED_WORDS else {}
    if not query_terms and len(question.title_terms) <= MAX_EXPANDED_WORDS:
        query_terms = {term: question.terms[term] for term in question.title_terms if term in question.terms}
    result: dict[int, float] = {}
    for term, weight in query_terms.items():
        for other in others_of(term):
            if other in question.terms:
                continue
            number = lexical.terms.position(other)
            if number >= 0:
                result[number] = max(result.get(number, 0.0), weight)
    return result


def words_to_count(question: "ParsedQuery") -> dict[str, float]:
    """Return weight by term, for terms that decide which files may answer a query, without a repository.

    These are its own terms, their other spellings, and words of both lists.
    """
    result = dict(question.terms)

    def add(term: str, weight: float) -> None:
        if term not in question.terms:
            result[term] = max(result.get(term, 0.0), weight)

    for word in dict.fromkeys(w.lower() for w in _LETTERS.findall(question.prose)):
        weight = question.terms.get(stem(word), 0.0)
        if weight > 0 and word not in STOP_WORDS:
            for other in _spellings(word):
                add(stem(other), weight * SPELLING_WEIGHT)
    if len(question.terms) <= MAX_EXPANDED_WORDS:
        for others_of in (_synonyms, _indirect_synonyms):
            for term, weight in question.terms.items():
                for other in others_of(term):
                    add(other, OTHER_WEIGHT * weight)
    return result
