"""Parsing of a query into weighted terms and names, its rewriting, and the table of routes.

A long query is a title (its first line) and a body. Names are recognized in the forms in which people paste them:
identifiers, `Class.method`, `a.b.c`, `from a.b import c`, paths, and traceback frames.

A query whose words the repository does not have is rewritten in the repository's words.

Each route has one row in one table. The row lists the candidate generators that run on the route, and the other
settings that the route decides. The code reads this table: a generator that a row does not name is not run, and its
signals are zero.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from math import log

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.model.answer import Route
from causalist.model.index import LexicalIndex
from causalist.model.protocols import Step, Steps
from causalist.model.scores import Scores
from causalist.rank.query.blocks import SECTION_WEIGHTS, BlockKind, QueryBlock, Section, read_blocks
from causalist.rank.query.identifiers import MentionKind, QueryMention, find_mentions, find_messages
from causalist.rank.query.tracebacks import ExceptionMention, StackFrame, read_frames, without_colors
from causalist.rank.query.word_weights import (
    APART_SHARE,
    JOINED_SHARE,
    JoinedVerb,
    joined_verbs,
    parts_only_joined,
    without_phrases,
    word_weights,
)
from causalist.rank.terms import STOP_WORDS, stem, terms_of

_WORD = lazy_regex(r"\w+")
_EXPRESSION = lazy_regex(r"/([^\n]+)/(i?)")
_QUOTED_WHOLE = lazy_regex(r"([\"'])([^\n]+)\1")
_QUOTED = lazy_regex(r"\"([^\"\n]{1,200})\"")
_MIN_QUOTED_CHARACTERS = 3
_MAX_QUOTED_TEXTS = 3
# If a quoted text is not in the repository, it is a query in quotes from this number of words on, else a missing
# literal. Chosen by hand: messages of programs rarely have more words. For several lines half the number is enough.
_MIN_WORDS_OF_TEXT = 8
_MIN_WORDS_OF_LINES = 4
_EXPLORATORY = frozenset(["overview", "architecture", "structure", "organised", "organized", "layout"])
# "how does the cache work", "how middleware works"
_WORKINGS = lazy_regex(r"\W*(?:(?:explain|describe|show|tell me) )?how (?:(?:do|does) .+ work|.+ works)\W*$")
_MULTI_HOP = lazy_regex(
    r"\bwhy\b|\bhow (?:does|do|is|are)\b.*\b(?:reach|become|becomes|turn|get|end up)\b|\baffects?\b|related to"
)
_LETTERS = lazy_regex(r"[A-Za-z]+")
_HYPHENED = lazy_regex(r"(?<![\w-])([A-Za-z]+)-([A-Za-z]+)(?![\w-])", needs=("-",))
_ACRONYMS = lazy_regex(r"\b([A-Z]{2,})s\b")
_ACRONYM_AS_VERB = lazy_regex(r"\b([A-Z]{2,})(?:ed|ing)\b")
_BEHAVIOR = lazy_regex(
    r"(where|how|when|why|what)\s+(do|does|did|is|are|was|were|gets?|happens|makes?|limits?|decides?)\b"
)
# How a sentence begins in which a user asks; search terms and messages of commits do not begin like this.
_QUESTION = lazy_regex(
    r"(?:where|how|when|why|what|who|whose|which|if|after|can|could|may|does|do|is|are|was|were|will|i|my|we)\b"
)
_MAX_EXPLORED_CHARACTERS = 100  # characters of a query about how something works
_MAX_CHARACTERS = 20_000  # characters of a question that are read
_MAX_TITLE_CHARACTERS = 3_000  # characters of a title that decide the route
_MAX_ABBREVIATED_CHARACTERS = 3_000
_MIN_ABBREVIATED_LETTERS = 6
_MIN_ABBREVIATION_LETTERS = 3

TITLE_WEIGHT = 2.0  # chosen by hand: a title says what the body explains
ABBREVIATION_WEIGHT = 0.25  # measured on the development questions, see docs/benchmarks.md
# Weight of a name in a block of each kind; a name in the title weighs 1.
NAMED_WEIGHTS = {
    BlockKind.PROSE: 0.6,
    BlockKind.CODE: 0.6,
    BlockKind.OUTPUT: 0.3,
    BlockKind.TRACE: 0.0,
    BlockKind.DUMP: 0.0,
    BlockKind.FORM: 0.0,
}
PASTED_TERMS = 30
MIN_SECTION_WEIGHT = 0.1  # names in sections of less weight are ignored
# A query with more terms needs no synonyms in definitions and messages: its other terms describe the subject; see
# docs/decisions/0023.
BRIEF_TERMS = 7
BODY_SATURATION = 1.0  # a term that is repeated counts 1 + ln(occurrences) times this


@dataclass(frozen=True, slots=True)
class TextPattern:
    """A text or a regular expression to search for literally.

    `is_whole_query`: the pattern is the whole query. `is_printed`: a program printed the text and may have filled in
    parts, so that the literal that has most of it counts. `is_exact`: the text was certainly printed; if False, it
    counts only if a literal has it.
    """

    text: str
    is_expression: bool = False
    ignore_case: bool = False
    is_whole_query: bool = False
    is_printed: bool = False
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query after parsing.

    `terms`: weight by term, by its position and how informative such a word is; `written`: the word that a term comes
    from. `abbreviations`: weight by word that may abbreviate a longer word of the query. `title_terms`: the terms of
    the title. `named`: distinct mentions, those of the title first. `is_about_behavior`: the query is about what
    happens, so that running code answers it rather than a declaration. `is_question`: it begins as a user's question
    does. `patterns` are searched for in the text of files. `joined`: verbs with a particle; the word that both make is
    among the terms.
    """

    text: str
    terms: dict[str, float]
    abbreviations: dict[str, float]
    written: dict[str, str]
    title_terms: frozenset[str]
    named: tuple[QueryMention, ...]
    route: Route
    is_about_behavior: bool
    is_question: bool
    patterns: tuple[TextPattern, ...] = ()
    frames: tuple[StackFrame, ...] = ()
    raised: tuple[ExceptionMention, ...] = ()
    prose: str = ""
    joined: tuple[JoinedVerb, ...] = ()

    @property
    def is_brief(self) -> bool:
        """Return True if the query is only a title of few words that name nothing.

        Users who ask like this may not know the words of the code.
        """
        return len(self.terms) <= BRIEF_TERMS and self.terms.keys() <= self.title_terms and not self.named

    @property
    def is_pattern(self) -> bool:
        """Return True if the query asks for a pattern and for nothing else."""
        return any(pattern.is_whole_query for pattern in self.patterns)


def parse_query(text: str) -> ParsedQuery:
    """Return the parsed query with its terms and names; deterministic, no repository needed."""
    text = without_colors(text)[:_MAX_CHARACTERS]
    title, body = read_blocks(text)
    frames, raised = read_frames(text)
    title_counts = _prose_counts(without_phrases(title)) or _prose_counts(title)
    counts = _body_counts(body)
    weights: dict[str, float] = {}
    for term, information in word_weights(sorted(set(title_counts) | set(counts))).items():
        weight = min(title_counts.get(term, 0.0), 1.0) * (TITLE_WEIGHT if counts else 1.0)
        if term in counts:
            weight += _saturate(counts[term])
        weights[term] = weight * information
    prose = "\n".join([title, *(block.text for block in body if block.kind is BlockKind.PROSE)])
    joined = joined_verbs(prose)
    for part in sorted(parts_only_joined(prose, joined) & weights.keys()):
        weights[part] *= APART_SHARE
    mentions = _collect_mentions(title, body, raised)
    patterns = _patterns(text.strip(), title)
    if not any(pattern.is_whole_query for pattern in patterns):
        patterns += _message_patterns(title, body, raised)
    return ParsedQuery(
        text=text,
        terms=weights,
        abbreviations=_abbreviations(prose, weights),
        written=_words_by_term(text),
        title_terms=frozenset(title_counts),
        named=mentions,
        route=Route.LOOKUP
        if any(p.is_whole_query for p in patterns)
        else _route(title, mentions, frames, bool(counts)),
        patterns=patterns,
        is_about_behavior=bool(_BEHAVIOR.match(title.lower())),
        is_question=bool(_QUESTION.match(title.lower())),
        frames=frames,
        raised=raised,
        prose=prose[:_MAX_ABBREVIATED_CHARACTERS],
        joined=tuple(dict.fromkeys(joined)),
    )


def with_message_patterns(question: ParsedQuery) -> ParsedQuery | None:
    """Return the query for the code that printed a quoted literal, with parts filled in.

    The result is None if the query is not just a quoted literal, or if the literal has too few words.
    """
    pattern = next((p for p in question.patterns if p.is_whole_query and not p.is_expression), None)
    printed = find_messages("", (QueryBlock(BlockKind.OUTPUT, Section.NONE, pattern.text),), ()) if pattern else ()
    if not printed:
        return None
    patterns = tuple(TextPattern(text, is_printed=True) for text, _ in printed)
    return replace(question, patterns=patterns, route=Route.SIMPLE)


def without_quotes(question: ParsedQuery) -> ParsedQuery | None:
    r"""Return the query inside of a quoted literal, decoded if it is a JSON string.

    The result is None for text that reads as a literal: fewer than `_MIN_WORDS_OF_TEXT` words, or fewer than
    `_MIN_WORDS_OF_LINES` if it has several lines.

    >>> without_quotes(parse_query('"the cart\\nloses \\"all\\" items"')).text
    'the cart\nloses "all" items'
    >>> without_quotes(parse_query('"the cart loses all items"')) is None
    True
    """
    pattern = next((p for p in question.patterns if p.is_whole_query and not p.is_expression), None)
    if pattern is None:
        return None
    try:
        text = str(json.loads(f'"{pattern.text}"', strict=False))
    except ValueError:
        text = pattern.text
    text = text.encode("utf-8", "replace").decode("utf-8").strip()  # half of a surrogate pair is no character
    n_words = len(text.split())
    if n_words < (_MIN_WORDS_OF_LINES if "\n" in text else _MIN_WORDS_OF_TEXT):
        return None
    read = parse_query(text)
    return None if read.is_pattern else read


def _body_counts(body: tuple[QueryBlock, ...]) -> dict[str, float]:
    """Return the weighted count of each term in the prose and the pasted blocks of the body.

    In prose, every occurrence of a term counts. Pasted text was not written for this query: a word counts there once
    for each kind of block, and all words of a kind together count no more than PASTED_TERMS.
    """
    counts: dict[str, float] = {}
    pasted: dict[BlockKind, dict[str, float]] = {}
    for block in body:
        if block.weight <= 0:
            continue
        is_prose = block.kind is BlockKind.PROSE
        for term, n in (_prose_counts(without_phrases(block.text)) if is_prose else _term_counts(block.text)).items():
            if is_prose:
                counts[term] = counts.get(term, 0.0) + n * block.weight
            else:
                of_kind = pasted.setdefault(block.kind, {})
                of_kind[term] = max(of_kind.get(term, 0.0), block.weight)
    for of_kind in pasted.values():
        share = min(1.0, PASTED_TERMS / max(len(of_kind), 1))
        for term, weight in of_kind.items():
            counts[term] = counts.get(term, 0.0) + weight * share
    return counts


def _collect_mentions(
    title: str, body: tuple[QueryBlock, ...], raised: tuple[ExceptionMention, ...]
) -> tuple[QueryMention, ...]:
    """Return the mentions of the title, of the body and of raised errors, each once with its largest weight."""
    mentions = find_mentions(title, 1.0)
    for block in body:
        if NAMED_WEIGHTS[block.kind] and SECTION_WEIGHTS[block.section] >= MIN_SECTION_WEIGHT:
            mentions += find_mentions(block.text, NAMED_WEIGHTS[block.kind])
    mentions += [
        QueryMention(MentionKind.SYMBOL, error.type, NAMED_WEIGHTS[BlockKind.PROSE]) for error in raised if error.type
    ]
    best: dict[tuple[str, str, int], QueryMention] = {}
    for name in mentions:
        key = (name.kind, name.text, name.line)
        previous = best.get(key)
        if previous is None or previous.weight < name.weight:
            best[key] = name
    return tuple(best.values())


def _patterns(text: str, title: str) -> tuple[TextPattern, ...]:
    """Return the patterns of a query: a whole `"literal"` or `/expression/`, or literals in double quotes in its title.

    >>> expression, quoted = _patterns('/retry_.*_policy/i', '')[0], _patterns('why "E108"?', 'why "E108"?')[0]
    >>> expression.text, expression.is_expression, expression.ignore_case, expression.is_whole_query, quoted.text
    ('retry_.*_policy', True, True, True, 'E108')
    """
    expression = _EXPRESSION.fullmatch(text)
    if expression:
        return (TextPattern(expression[1], is_expression=True, ignore_case=bool(expression[2]), is_whole_query=True),)
    quoted_whole = _QUOTED_WHOLE.fullmatch(text)
    if quoted_whole:
        return (TextPattern(quoted_whole[2], is_whole_query=True),)
    quoted = dict.fromkeys(q.strip() for q in _QUOTED.findall(title))
    return tuple(TextPattern(q) for q in quoted if len(q) >= _MIN_QUOTED_CHARACTERS)[:_MAX_QUOTED_TEXTS]


def _message_patterns(
    title: str, body: tuple[QueryBlock, ...], raised: tuple[ExceptionMention, ...]
) -> tuple[TextPattern, ...]:
    """Return patterns for the messages that a program printed.

    The place that prints such a message is in the code.
    """
    return tuple(
        TextPattern(text, is_printed=True, is_exact=certain) for text, certain in find_messages(title, body, raised)
    )


def _words_by_term(text: str) -> dict[str, str]:
    """Return the shortest word of the query that each term comes from."""
    word_by_term: dict[str, str] = {}
    for word in _WORD.findall(text):
        for term in terms_of(word):
            if len(word) < len(word_by_term.get(term, word + "x")):
                word_by_term[term] = word.lower() if word.istitle() else word
    return word_by_term


def _abbreviations(text: str, weights: dict[str, float]) -> dict[str, float]:
    """Return the weight of each beginning of a longer word: `auth` for authentication, `req` for request."""
    result: dict[str, float] = {}
    for word in sorted({w.lower() for w in _LETTERS.findall(text[:_MAX_ABBREVIATED_CHARACTERS])}):
        if len(word) < _MIN_ABBREVIATED_LETTERS or word in STOP_WORDS:
            continue
        weight = ABBREVIATION_WEIGHT * weights.get(stem(word), 1.0)
        for length in range(_MIN_ABBREVIATION_LETTERS, len(word) - 2):
            if word[:length] not in weights:
                result[word[:length]] = max(result.get(word[:length], 0.0), weight)
    return result


def _saturate(count: float) -> float:
    return count if count < 1 else 1.0 + BODY_SATURATION * log(count)


def _prose_counts(text: str) -> dict[str, float]:
    """Return the number of occurrences of each term in prose.

    A word that a verb and its particle stand for together counts JOINED_SHARE for each occurrence. The ending of a verb
    behind an acronym, as in `OCRed`, is left out.
    """
    counts: dict[str, float] = {**_term_counts(_ACRONYM_AS_VERB.sub(r"\1", text))}
    if counts:
        for verb in joined_verbs(text):
            counts[verb.word] = counts.get(verb.word, 0.0) + JOINED_SHARE
    return counts


def _term_counts(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text):
        if word.lower() in STOP_WORDS or len(word) > 80 or len(word) == 1:
            continue
        for term in terms_of(word):
            if term not in STOP_WORDS and (len(term) > 1):
                counts[term] += 1
    return counts


def _route(title: str, mentions: tuple[QueryMention, ...], frames: tuple[StackFrame, ...], has_body: bool) -> Route:
    if frames:
        return Route.LOOKUP
    words = title.lower().split()
    for n in mentions:
        # "client/server" is no path. A path that is looked up ends in a file name.
        if n.kind is MentionKind.PATH and "." in n.text.rpartition("/")[2]:
            return Route.LOOKUP
        if n.kind in (MentionKind.SYMBOL, MentionKind.QUALIFIED) and len(words) <= 3:
            return Route.LOOKUP
    if not has_body and len(words) <= 6 and _EXPLORATORY & {stem_free.strip("?.,") for stem_free in words}:
        return Route.EXPLORATORY
    if _MULTI_HOP.search(title[:_MAX_TITLE_CHARACTERS].lower()):
        return Route.MULTI_HOP
    if not has_body and len(title) <= _MAX_EXPLORED_CHARACTERS and _WORKINGS.match(title.lower()):
        return Route.EXPLORATORY
    return Route.SIMPLE


# Letters of a common prefix, by attempt. Measured on words of development queries that their repository does not
# have: of the answers with five letters 29 % had a right file among the first five, of those with three 21 %, where
# five files at random have 12 % (docs/decisions/0009).
MIN_SHARED_LETTERS = (5, 3)
_MAX_NEAR_TERMS = 4  # terms that one word may stand for
_MAX_PREFIX_TERMS = 60  # a prefix of more terms is not informative


def with_corpus_spelling(question: ParsedQuery, lexical: LexicalIndex) -> ParsedQuery:
    """Return the query with its words spelled as in the repository.

    A query about how users log in gets `log_in` if more definitions have that than `login`. Words that were written as
    one word stay. What a hyphen joins, as in `e-mail`, is one word, too, if the repository has it, and the plural of an
    acronym, as in `VMs`, also stands for `vms`.
    """
    separate_by_word = {
        verb.word: verb.apart
        for verb in question.joined
        if verb.word in question.terms
        and verb.word not in question.written
        and _n_definitions(verb.apart, lexical) > _n_definitions(verb.word, lexical)
    }
    terms = {separate_by_word.get(term, term): weight for term, weight in question.terms.items()}
    joined = {verb.word for verb in question.joined}
    for parts, term in _other_spellings(question.prose.partition("\n")[0]):
        if term not in terms and term not in joined and _n_definitions(term, lexical):
            terms[term] = max((question.terms[part] for part in parts if part in question.terms), default=1.0)
    if terms == question.terms:
        return question
    title_terms = frozenset(separate_by_word.get(term, term) for term in question.title_terms)
    return replace(question, terms=terms, title_terms=title_terms)


def _other_spellings(prose: str) -> list[tuple[list[str], str]]:
    """Return (terms of what is written, another term that it may stand for).

    >>> _other_spellings("delete e-mails from VMs"), _other_spellings("well-known")
    ([(['e', 'mail'], 'email'), (['vm'], 'vms')], [(['well', 'known'], 'wellknown')])
    """
    hyphened = [([stem(part.lower()) for part in match.groups()], stem("".join(match.groups()).lower()))
                for match in _HYPHENED.finditer(prose)]  # fmt: skip
    return [*hyphened, *(([stem(word.lower())], stem(f"{word}s".lower())) for word in _ACRONYMS.findall(prose))]


def _n_definitions(term: str, lexical: LexicalIndex) -> int:
    """Return the number of definitions that contain a term."""
    at = lexical.terms.position(term)
    return 0 if at < 0 else int(lexical.definitions.indptr[at + 1] - lexical.definitions.indptr[at])


def with_near_terms(question: ParsedQuery, lexical: LexicalIndex, least_alike: int) -> ParsedQuery | None:
    """Return the query with terms added that begin like its unknown words, or None if there are none.

    Added are the terms that share the longest prefix with an unknown word, of at least `least_alike` letters.
    """
    terms = dict(question.terms)
    for term, weight in question.terms.items():
        if lexical.terms.position(term) >= 0:
            continue
        for length in range(len(term), least_alike - 1, -1):
            numbers = lexical.terms.prefix_range(term[:length])
            if len(numbers) > _MAX_PREFIX_TERMS:
                break
            similar_terms = sorted((lexical.terms[n] for n in numbers), key=lambda t: (abs(len(t) - len(term)), t))
            for other in similar_terms[:_MAX_NEAR_TERMS]:
                terms[other] = max(terms.get(other, 0.0), weight * length / len(term))
            if similar_terms:
                break
    return replace(question, terms=terms) if len(terms) > len(question.terms) else None


class Generator(StrEnum):
    """Candidate generators, in the order in which they run; `graph` and `pagerank` start from what the others found."""

    LITERALS = "literals"
    WORDS = "words"
    FILES = "files"
    TESTS = "tests"
    NAMES = "names"
    MENTIONS = "mentions"
    FRAMES = "frames"
    SYNONYMS = "synonyms"
    DENSE = "dense"
    SEMANTIC = "semantic"
    HISTORY = "history"
    GRAPH = "graph"
    PAGERANK = "pagerank"


GENERATORS: Mapping[Generator, str] = {
    Generator.LITERALS: "quoted texts, expressions and printed messages, looked for in the text of files",
    Generator.WORDS: "BM25 over the text of definitions, passages and module-level code",
    Generator.FILES: "BM25 over the text of whole files",
    Generator.TESTS: "files whose tests have the words, by the names of both",
    Generator.NAMES: "words of the question in names and paths",
    Generator.MENTIONS: "names, paths, imports, options and error codes that stand in the question",
    Generator.FRAMES: "frames of tracebacks",
    Generator.SYNONYMS: "BM25 over words that mean the same, or that code about the same has",
    Generator.DENSE: "definitions that mean what the question means, where an embedder is chosen",
    Generator.SEMANTIC: "definitions whose words mean what the question means, by the shipped encoder",
    Generator.HISTORY: "messages of commits, and commits that are like the question",
    Generator.GRAPH: "what the best definitions give to others that words found, and who uses what is named",
    Generator.PAGERANK: "places for what the walk reaches and no word led to",
}


def above_zero(signals: Sequence[Scores]) -> NDArray[np.bool_]:
    """Return a mask of the nodes where at least one of the signals is above zero.

    `signals` must have at least one element.
    """
    result = signals[0] > 0
    for each in signals[1:]:
        result |= each > 0
    return result


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """The settings of one route.

    `generators`: those that run. `graph_share`: the share of the slots for nodes that only PageRank reached; a route
    that relies more on the graph has more. `second_hop`: a node that takes such a slot joins the seeds before the next
    slot is filled, so that a chain is followed to its end. `names_decide`: named nodes count once more (signal `looked
    up`), because the query is little more than that name. `diversity_penalty`: penalty of a further definition of a
    file, times ln(1 + n) if n precede it (`diversify`). `words_first`: slots for nodes that only PageRank reached go
    back to lexical matches that are good enough.
    """

    generators: tuple[Generator, ...]
    graph_share: float
    second_hop: bool
    names_decide: bool
    diversity_penalty: float
    words_first: bool = True


_ALL = tuple(GENERATORS)
_DIVERSITY_PENALTY = 0.7

# Every row has all generators, because no measurement showed a gain from leaving one out. The rows differ in their use
# of the graph, of names and of files. A query that names its subject needs no slots for nodes that only the graph
# reaches. The penalties were measured (docs/decisions/0018). `skip` has no generator: the answer is cached.
ROUTES: Mapping[Route, RoutePlan] = {
    Route.LOOKUP: RoutePlan(_ALL, 0.0, second_hop=False, names_decide=True, diversity_penalty=_DIVERSITY_PENALTY),
    Route.SIMPLE: RoutePlan(_ALL, 0.2, second_hop=True, names_decide=False, diversity_penalty=_DIVERSITY_PENALTY),
    Route.MULTI_HOP: RoutePlan(
        _ALL, 0.3, second_hop=True, names_decide=False, diversity_penalty=_DIVERSITY_PENALTY, words_first=False
    ),
    Route.EXPLORATORY: RoutePlan(_ALL, 0.2, second_hop=True, names_decide=False, diversity_penalty=1.0),
    Route.SKIP: RoutePlan((), 0.0, second_hop=False, names_decide=False, diversity_penalty=0.0),
}


class GeneratorRun:
    """Runner of the generators of a route, each as an optional step `candidates.NAME`."""

    def __init__(self, plan: RoutePlan, n_nodes: int, steps: Steps) -> None:
        self._plan = plan
        self._n_nodes = n_nodes
        self._steps = steps

    def scores(self, name: Generator, n: int, work: Callable[[], tuple[Scores, ...]]) -> tuple[Scores, ...]:
        """Return the `n` signals of a generator, each of shape (n_nodes,).

        They are zeros if the generator does not run or is skipped. A node with any signal above zero is a candidate.
        """
        nothing = (np.zeros(self._n_nodes),) * n
        if name not in self._plan.generators:
            return nothing
        signals = self._steps.optional(Step(f"candidates.{name}"), work, lambda: nothing)
        if signals is not nothing:
            self._steps.record_count(name, int(np.count_nonzero(above_zero(signals))))
        return signals
