"""Signals of a query for each node: one array in [0, 1] for each, and their weighted sum.

There are three passes. First definitions are scored; then files, which gain from a good definition; then definitions
again, with the scores of their files. Definitions and whole files fail on different queries, so that each helps the
other.

An answer needs the sum of some twenty signals and a few single values of them. Neither needs an array for each signal
times its weight. Signals of files do not need an element for every node either: most nodes are no files.

Scores are scaled to signals between 0 and 1, and pass from definitions to their files. Cosines of an embedder become a
signal as well. Cosines of one model are all close together, and lower for one query than for another. The informative
number is how far a definition exceeds the others of the same repository: their median. The form, and the weights of the
signal in `weights.json`, were chosen on short queries with one small model; docs/embedders.md has the figures.
"""

from collections.abc import Callable, Iterator, Mapping, Set

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.graph import CodeGraph
from causalist.model.index import History, LexicalIndex, Postings
from causalist.model.node_ids import NodeKind, Role
from causalist.model.protocols import NO_STEPS, Step, Steps
from causalist.model.scores import Scores, Signal, TextMatches
from causalist.rank.lexical.bm25 import bm25, impacts, max_idf_weight, name_coverage, name_share, query_coverage, rarity
from causalist.rank.lexical.query_expansion import (
    files_that_run,
    indirect_synonym_terms,
    other_terms,
    replacement_words,
    synonym_terms,
)
from causalist.rank.lexical.question_encoder import (
    bag_similarities,
    encode_once,
    shipped_encoder,
    similar_terms,
    without_unknown_names,
)
from causalist.rank.query.query import ROUTES, Generator, GeneratorRun, ParsedQuery, above_zero
from causalist.rank.scoring.history_and_roles import (
    HISTORY_SIGNALS,
    history_signals,
    queried_roles,
    scores_from_tests,
    superseded_factors,
    user_interface_factors,
)
from causalist.rank.scoring.mentions import frame_scores, identifier_scores, literal_scores, mention_scores

_N_SUMMED = 5  # best definitions of a file, whose scores are summed


def scale_to_max(scores: Scores) -> Scores:
    """Return the scores divided by the largest, if that is positive."""
    top = scores.max(initial=0.0)
    return scores / top if top > 0 else scores


def relative_to_max(scores: Scores, others: Scores) -> Scores:
    """Return the scores divided by the largest of both arrays.

    Scores that are small beside the others stay small.
    """
    top = max(scores.max(initial=0.0), others.max(initial=0.0))
    return scores / top if top > 0 else scores


def max_and_sum(scores: Scores, files: NDArray[np.int32], n: int) -> tuple[Scores, Scores]:
    """Return (best score, sum of the five best) of the nodes of each file."""
    nodes = np.flatnonzero((scores > 0) & (files >= 0))
    best, total = np.zeros(n), np.zeros(n)
    if not len(nodes):
        return best, total
    owners = files[nodes]
    # Nodes of a file are mostly adjacent, so that one pass is enough; sorting the scores takes ten times as long.
    if (owners[1:] < owners[:-1]).any():
        nodes = nodes[np.argsort(owners, kind="stable")]
        owners = files[nodes]
    remaining = scores[nodes]
    is_first = np.ones(len(owners), dtype=np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    group = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(starts, append=len(owners)))
    sums = np.zeros(len(starts))
    for n_removed in range(_N_SUMMED):
        top = np.maximum.reduceat(remaining, starts)
        if n_removed == 0:
            best[owners[starts]] = top
        sums += top
        if n_removed + 1 == _N_SUMMED:
            break
        # Remove one of the best scores; 0 remains if there are fewer.
        top_positions = np.flatnonzero(remaining == top.take(group))
        remaining[top_positions[np.concatenate([[True], group[top_positions[1:]] != group[top_positions[:-1]]])]] = 0.0
    total[owners[starts]] = sums
    return best, total


# (n_nodes,), indexed by NodeIndex
# Returns the cosines of all nodes with the query, 0 for nodes without a vector. May fail.
Similarities = Callable[[], Scores]

N_NEAREST = 200  # nodes with the largest cosines, which are candidates


def dense_scores(similarities: Similarities | None, by: GeneratorRun, n_nodes: int) -> Scores:
    """Return the signal of a query; zeros, and no step, without an embedder."""
    if similarities is None:
        return np.zeros(n_nodes)
    (scores,) = by.scores(Generator.DENSE, 1, lambda: (dense_signal(similarities()),))
    return scores


# A question whose words the code has needs no other words. Up to the first numbers the encoder counts in full, from the
# second ones on by _MIN_SEMANTIC: words of the question that the best definition has, and their share.
_FEW_WORDS, _MANY_WORDS = 3.5, 7.0
_LOW_SHARE, _HIGH_SHARE = 0.75, 1.0
_MIN_SEMANTIC = 0.2


def semantic_scores(
    question: ParsedQuery, terms: Mapping[int, float], lexical: LexicalIndex, files: NDArray[np.int32], by: GeneratorRun
) -> tuple[Scores, Scores]:
    """Return (signal of the shipped encoder, what `similar_word_scores` adds to BM25); zeros for patterns.

    `terms`: weight by number of the words of the query that the repository has. Without any, nothing is found, as
    a query for `frobnicate` wants no other code. `files`: the file nodes of all nodes.
    """

    def work() -> tuple[Scores, Scores]:
        encoder = shipped_encoder()
        vector = encode_once(without_unknown_names(question.prose, lexical, encoder), encoder)
        if vector is None:
            return np.zeros(n_nodes), np.zeros(n_nodes)
        # A file that stands in a part of an index as the words of the query says all of it, and is no definition.
        has_vector = lexical.bag_norms > 0
        covered = float(query_coverage(terms, lexical.definitions, n_nodes)[has_vector].max(initial=0.0))
        excess = max(
            (covered * len(terms) - _FEW_WORDS) / (_MANY_WORDS - _FEW_WORDS),
            (covered - _LOW_SHARE) / (_HIGH_SHARE - _LOW_SHARE),
        )
        factor = 1.0 - (1.0 - _MIN_SEMANTIC) * min(max(excess, 0.0), 1.0)
        return (
            dense_signal(bag_similarities(vector, lexical, files, encoder)) * factor,
            similar_word_scores(question, lexical, n_nodes),
        )

    n_nodes = len(files)
    if question.is_pattern or not terms:
        return np.zeros(n_nodes), np.zeros(n_nodes)
    signal, similar = by.scores(Generator.SEMANTIC, 2, work)
    return signal, similar


_MAX_SIMILAR_WORDS = 12  # words of a query, the heaviest, for which others stand in


def similar_word_scores(question: ParsedQuery, lexical: LexicalIndex, n: int) -> Scores:
    """Return what words with vectors near those of the query's add to BM25 of definitions, shape (n,).

    A definition with `mask` instead of *hidden* gets the impact of `mask`, times the square of the cosine of both, and
    no more than for a word as rare as *hidden*. Only the best word counts for each of the query, and only what exceeds
    the query's own word. So a definition about all parts of a query gains more than one about a single part, which the
    vector of the whole query does not tell apart.
    """
    own = lexical.definitions

    def weight(item: tuple[str, float]) -> tuple[float, str]:
        number = lexical.terms.position(item[0])
        return -item[1] * (rarity(own, number) if number >= 0 else float(np.log1p(own.n_documents))), item[0]

    heaviest = sorted(question.terms.items(), key=weight)[:_MAX_SIMILAR_WORDS]
    found = similar_terms([word for word, _ in heaviest], lexical.terms, shipped_encoder())
    in_query = {lexical.terms.position(word) for word in question.terms}
    result, best = np.zeros(n), np.zeros(n)
    for (word, times), (numbers, cosines) in zip(heaviest, found, strict=True):
        number = lexical.terms.position(word)
        rarest = rarity(own, number) if number >= 0 else float("inf")
        best[:] = 0.0
        for other, cosine in zip(numbers.tolist(), cosines.tolist(), strict=True):
            if other not in in_query:
                documents, values = impacts(own, other)
                share = times * cosine**2 * min(1.0, rarest / rarity(own, other))
                best[documents] = np.maximum(best[documents], share * values)
        if number >= 0:
            documents, values = impacts(own, number)
            best[documents] -= times * values
        result += np.maximum(best, 0.0)
    return result


def _median(values: Scores) -> float:
    """Return the median. `numpy.median` would import masked arrays, 4 ms of every question."""
    half = len(values) // 2
    parted = np.partition(values, (half - 1, half))
    return float(parted[half] if len(values) % 2 else (parted[half - 1] + parted[half]) / 2)


def dense_signal(cosines: Scores) -> Scores:
    """Return the signal of the N_NEAREST nodes by cosine; 0 for all others.

    The signal is the square of how far the cosine exceeds the median of all nonzero cosines, divided by how far the
    best does.

    >>> dense_signal(np.array([0.6, 0.0, 0.2, 0.4, 0.1])).round(2).tolist()  # the median is 0.3
    [1.0, 0.0, 0.0, 0.11, 0.0]
    """
    positive = cosines[cosines > 0]
    middle = _median(positive) if len(positive) > 1 else 0.0
    top = float(cosines.max(initial=0.0))
    if top <= middle:
        return np.zeros(len(cosines))
    result: Scores = (np.maximum(cosines - middle, 0.0) / (top - middle)) ** 2
    nearest = result[result > 0]  # many equal values, such as zeros, are slow to part
    if len(nearest) > N_NEAREST:
        result = np.where(result >= np.partition(nearest, -N_NEAREST)[-N_NEAREST], result, 0.0)
    return result


class SignalTable(Mapping[Signal, Scores]):
    """Mapping from signal names to arrays of shape (n_nodes,), which are computed on request.

    `values` are of all nodes or, with `nodes` (ascending), of these alone: then they have shape (len(nodes),), and
    other nodes have 0. `weights`: factors by name, 0 for a missing name; without `weights` all are 1.
    """

    def __init__(
        self,
        values: Mapping[Signal, Scores],
        n_nodes: int,
        nodes: NDArray[np.int64] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._values = values
        self._n_nodes = n_nodes
        self._nodes = nodes
        self._weights = weights
        self._sum: Scores | None = None
        self._before: SignalTable | None = None  # the table without the last signal, if `with_one` added it

    def __iter__(self) -> Iterator[Signal]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, name: Signal) -> Scores:
        values = self._values[name]
        return self._spread(values if self._weights is None else values * self._weights.get(name, 0.0))

    def values_at(self, node: int) -> Iterator[tuple[Signal, float]]:
        """Yield (name, value) of one node; nothing if the table does not have the node."""
        position = node
        if self._nodes is not None:
            position = int(np.searchsorted(self._nodes, node))
            if position == len(self._nodes) or self._nodes[position] != node:
                return
        for name, values in self._values.items():
            yield name, float(values[position] * (1.0 if self._weights is None else self._weights.get(name, 0.0)))

    def with_weights(self, weights: Mapping[str, float]) -> "SignalTable":
        """Return the same signals with these weights instead of their own."""
        return SignalTable(self._values, self._n_nodes, self._nodes, weights)

    def with_more(self, signals: "SignalTable") -> "SignalTable":
        """Return these signals without weights, and others of the same nodes."""
        return SignalTable({**self._values, **signals._values}, self._n_nodes, self._nodes)

    def without(self, names: Set[Signal]) -> "SignalTable":
        """Return the same signals without some.

        If these were added by `with_one`, the others are not summed again.
        """
        if names.isdisjoint(self._values):
            return self
        if self._before is not None:
            *_, last = self._values
            fewer = self._before.without(names)
            return fewer if last in names else fewer.with_one(last, self._values[last], (self._weights or {})[last])
        values = {name: values for name, values in self._values.items() if name not in names}
        return SignalTable(values, self._n_nodes, self._nodes, self._weights)

    def with_one(self, name: Signal, values: Scores, weight: float = 1.0) -> "SignalTable":
        """Return these signals and a last one of all nodes."""
        result = SignalTable(
            {**self._values, name: values}, self._n_nodes, None, {**(self._weights or {}), name: weight}
        )
        result._sum = self._total() + values * weight if weight else self._total()
        result._before = self
        return result

    def weighted_sum(self, factors: Scores) -> Scores:
        """Return the sum of all signals times `factors`, both of shape (n_nodes,)."""
        total = self._total()
        return self._spread(total * (factors if self._nodes is None else factors[self._nodes]))

    def _total(self) -> Scores:
        """Return the sum of all signals in their order, each times its weight."""
        if self._sum is None:
            total = np.zeros(self._n_nodes if self._nodes is None else len(self._nodes))
            part = np.empty_like(total)
            for name, values in self._values.items():
                weight = 1.0 if self._weights is None else self._weights.get(name, 0.0)
                if weight:
                    total += np.multiply(values, weight, out=part)
            self._sum = total
        return self._sum

    def _spread(self, values: Scores) -> Scores:
        if self._nodes is None:
            return values
        result = np.zeros(self._n_nodes)
        result[self._nodes] = values
        return result


# (n_nodes,), indexed by NodeIndex

# Priors: they depend on the length and the kind of a definition, not on the query.
PRIORS = frozenset({Signal.SIZE, Signal.KIND})
# Signals of exact names. They say nothing about related code, so the seeds of the walk do not use them.
NAME_SIGNALS = frozenset({Signal.NAME_COVERAGE})
# Signals of a file from the scores of its definitions.
LEADING = frozenset({Signal.LEADING_DEFINITION, Signal.LEADING_DEFINITIONS})

DECLARATIONS = (NodeKind.INTERFACE, NodeKind.TYPE, NodeKind.CONSTANT)
_MAX_ROWS = 400  # rows of a definition; longer ones are not more likely answers
_LOGARITHMS = np.log1p(np.arange(_MAX_ROWS + 1.0))  # log(rows + 1) by number of rows


@dataclass(frozen=True, slots=True)
class PriorFactors:
    """Prior factors in (0, 1] of lexical matches: by role of the file, and by kind of the definition."""

    role: Mapping[str, float]  # label -> factor
    kind: Mapping[str, float]  # label -> factor; "declarations only": of files and kinds that only declare


@dataclass(frozen=True, slots=True)
class QuerySignals:
    """Signals of a query for one repository, without weights: everything that does not depend on a score.

    All arrays have shape (n_nodes,). `asked`: the query asks for the role of the node, so that no factor of the role
    applies. `role`, `kind`: factors by role of the file and by kind of the definition.
    """

    question: ParsedQuery
    graph: CodeGraph
    is_file: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    role: Scores
    demotion: Scores  # factor of what draws an interface or was replaced
    kind: Scores
    text: Scores  # BM25 of definitions, passages and module-level code; of other words as well
    file_text: Scores
    path: Scores
    name: Scores
    name_share: Scores
    name_coverage: Scores  # share of the query in a name
    mention: Scores
    identifiers: Scores  # share of the names in the query that a definition contains
    literal: Scores
    literal_in_file: Scores
    frame: Scores  # nearness to the innermost frame of a traceback
    synonyms: Scores  # BM25 of synonyms, of definitions
    file_synonyms: Scores
    indirect_synonyms: Scores  # BM25 of indirect synonyms, of definitions
    file_indirect_synonyms: Scores
    tested: Scores  # match of the tests of a file
    past: Mapping[Signal, Scores]  # match of commit messages, by the name of the signal
    dense: Scores  # similarity by an embedder, of definitions and passages; zeros without one
    semantic: Scores  # similarity by the shipped encoder

    # -- passes

    def first_files(self) -> Mapping[Signal, Scores]:
        """Return signals of files that need no scores of definitions."""
        return self._of_files(
            {
                Signal.TEXT: self._file_text(),
                Signal.PATH: self.path,
                Signal.NAME: self._in_file(self.name * self.kind),
                Signal.MENTION: self._in_file(self.mention),
                Signal.LITERAL: self.literal_in_file,
                Signal.FRAME: self._in_file(self.frame),
                Signal.LOOKED_UP: self._in_file(self._looked_up()),
                Signal.SYNONYMS: relative_to_max(self.file_synonyms, self.file_text),
                Signal.INDIRECT_SYNONYMS: relative_to_max(self.file_indirect_synonyms, self.file_text)
                * (self.file_text > 0),
                Signal.TESTS: self.tested,
                **self.past,
                Signal.DENSE: self._in_file(self.dense),
                Signal.SEMANTIC: self._in_file(self.semantic),
            }
        )

    def definitions(self) -> dict[Signal, Scores]:
        """Return signals of definitions, passages and module-level code."""
        nodes = self.graph.nodes
        owner = np.maximum(nodes.files, 0)
        searched = (nodes.files >= 0) & (nodes.kinds != NodeKind.FIELD)

        def of_file(scores: Scores) -> Scores:
            result: Scores = scores.take(owner)
            result *= searched
            return result

        is_about = self.text > 0

        signals = {
            Signal.TEXT: scale_to_max(self.text),
            Signal.NAME: self.name,
            Signal.NAME_SHARE: self.name_share,
            Signal.NAME_COVERAGE: self.name_coverage,
            Signal.PATH: of_file(self.path),
            Signal.MENTION: self.mention,
            Signal.LITERAL: self.literal,
            Signal.FRAME: self.frame,
            Signal.LOOKED_UP: self._looked_up(),
            Signal.SYNONYMS: relative_to_max(self.synonyms, self.text),
            Signal.INDIRECT_SYNONYMS: relative_to_max(self.indirect_synonyms, self.text) * is_about,
            Signal.TESTS: of_file(self.tested) * is_about,
            Signal.DENSE: self.dense,
            Signal.SEMANTIC: self.semantic,
        }
        lexical_signals = (self.text, self.synonyms, self.mention, self.literal, self.frame, self.dense, self.semantic)
        signals[Signal.SIZE] = self._sizes(above_zero(lexical_signals))
        if self.question.is_pattern:
            return {name: np.where(self.literal > 0, values, 0.0) for name, values in signals.items()}
        return signals

    def files(self, definitions: Scores) -> Mapping[Signal, Scores]:
        """Return signals of files; `definitions`: scores of definitions, by any weights."""
        best, total = max_and_sum(scale_to_max(definitions) ** 2, self._owners, len(definitions))
        best = np.sqrt(best)
        first = self.first_files()
        leading = {
            Signal.LEADING_DEFINITION: best,
            Signal.LEADING_DEFINITIONS: np.minimum(total / 3, 1.0),
        }
        both = self._of_files(leading)
        return first.with_more(both) if isinstance(first, SignalTable) else {**first, **both}

    def definitions_again(self, files: Scores, before: Scores) -> dict[Signal, Scores]:
        """Return the signals that definitions have in the last pass in addition to those of the first.

        `files`: scores of files, `before`: those of definitions in the first pass. A node without a score in the first
        pass has none here: a file may have matched by words that are not in the query.
        """
        nodes = self.graph.nodes
        wanted = (nodes.files >= 0) & (nodes.kinds != NodeKind.FIELD) & (before > 0)
        return {
            Signal.FOUND_FILE: scale_to_max(files).take(np.maximum(nodes.files, 0)) * wanted,
            Signal.IDENTIFIERS: self.identifiers * wanted,
        }

    # -- parts

    @property
    def _owners(self) -> NDArray[np.int32]:
        return self.graph.nodes.files

    def _in_file(self, scores: Scores) -> Scores:
        result = np.zeros(len(scores))
        nodes = np.flatnonzero((scores > 0) & (self._owners >= 0))
        np.maximum.at(result, self._owners[nodes], scores[nodes])
        return result

    def _looked_up(self) -> Scores:
        """Return the scores of the named nodes where the query is little more than that name, else 0.

        Such a name is meant, however short it is.
        """
        return self.mention if ROUTES[self.question.route].names_decide else np.zeros(len(self.mention))

    def _file_text(self) -> Scores:
        return scale_to_max(self.file_text)

    def _of_files(self, signals: Mapping[Signal, Scores]) -> SignalTable:
        wanted = np.flatnonzero(self.is_file & (self.literal_in_file > 0) if self.question.is_pattern else self.is_file)
        return SignalTable({name: values[wanted] for name, values in signals.items()}, len(self.is_file), wanted)

    def _sizes(self, is_match: NDArray[np.bool_]) -> Scores:
        """Return the size signal of the found nodes: 1 for _MAX_ROWS rows or more, else by the logarithm.

        Module-level code has the rows that are in no definition of the file. Rows are counted, because line ends must
        not matter.
        """
        nodes = self.graph.nodes
        selected = np.flatnonzero(is_match)
        rows = (nodes.end_rows[selected] - nodes.start_rows[selected] + 1).astype(np.float64)
        is_file = self.is_file[selected]
        if is_file.any():
            is_nested = (is_match & self.is_file).take(np.maximum(nodes.parents, 0)) & (nodes.parents >= 0)
            top = np.flatnonzero(is_nested)
            n_nested_rows = np.bincount(
                nodes.parents[top], nodes.end_rows[top] - nodes.start_rows[top] + 1, len(is_match)
            )
            rows = np.where(is_file, np.maximum(rows - n_nested_rows[selected], 0.0), rows)
        result = np.zeros(len(is_match))
        result[selected] = _LOGARITHMS[np.minimum(rows, _MAX_ROWS).astype(np.intp)] / _LOGARITHMS[-1]
        return result


def compute_signals(
    question: ParsedQuery,
    graph: CodeGraph,
    lexical: LexicalIndex,
    factors: PriorFactors,
    matched: Mapping[int, TextMatches] | None = None,
    history: History | None = None,
    steps: Steps = NO_STEPS,
    similarities: Similarities | None = None,
    *,
    is_semantic: bool = True,
) -> QuerySignals:
    """Return the signals of a query for the nodes of a repository.

    `matched`: the places of the query's patterns; if the query is nothing but a pattern, no other node has a signal.
    `history`: what commits said of the files. `similarities`: what an embedder says. `is_semantic`: the shipped
    encoder is used. The generators are optional.
    """
    n, is_file = len(graph.nodes), graph.nodes.kinds == NodeKind.FILE
    by = GeneratorRun(ROUTES[question.route], n, steps)
    with steps.timed(Step.CANDIDATES_TERMS):
        terms = terms_in_vocabulary(question, lexical)
        query_terms = {term for term, weight in question.terms.items() if weight >= 1.0} | question.title_terms
        term_numbers = {lexical.terms.position(term) for term in query_terms} - {-1}
        max_weight = max_idf_weight(terms, lexical, n)
    literal, literal_in_file = literal_scores(matched or {}, graph.nodes.files, n)
    # If this step is skipped, no file counts as a test, as documentation and so on.
    has_queried_role = steps.optional(
        Step.VALIDATE_ROLES, lambda: queried_roles(question, graph, lexical), lambda: np.ones(n, dtype=np.bool_)
    )
    roles = np.array([factors.role.get(role.label, 1.0) for role in Role])[graph.nodes.roles]

    def file_scores() -> Scores:
        scores = bm25(lexical.files, terms, n)
        if question.is_about_behavior:
            scores = scores * np.where(files_that_run(graph), 1.0, factors.kind.get("declarations only", 1.0))
        return scores

    def name_scores(postings: Postings) -> Scores:
        return np.minimum(bm25(postings, terms, n) / max_weight, 1.0)

    others = replacement_words(question, lexical)

    def synonym_scores() -> tuple[Scores, ...]:
        both = synonym_terms(question, lexical), indirect_synonym_terms(question, lexical)
        standing_in = {number: w for word, w in others.items() if (number := lexical.terms.position(word)) >= 0}
        standing_in = {number: weight for number, weight in standing_in.items() if number not in terms}
        impact_sums = (bm25(postings, each, n) for each in both for postings in (own, lexical.files))
        return (*impact_sums, bm25(own, standing_in, n))

    own = lexical.definitions
    text, identifiers = by.scores(
        Generator.WORDS, 2, lambda: (bm25(own, terms, n), identifier_scores(question, lexical, n))
    )
    (file_text,) = by.scores(Generator.FILES, 1, lambda: (file_scores(),))
    (tested,) = by.scores(
        Generator.TESTS, 1, lambda: (scores_from_tests(scale_to_max(file_text), has_queried_role, graph, lexical),)
    )
    path, name, name_shares, name_coverages = by.scores(
        Generator.NAMES,
        4,
        lambda: (
            name_scores(lexical.paths),
            name_scores(lexical.symbol_names),
            name_share(term_numbers, lexical, n),
            name_coverage(question.terms, lexical, n),
        ),
    )
    (mention,) = by.scores(Generator.MENTIONS, 1, lambda: (mention_scores(question, graph, lexical),))
    (frame,) = by.scores(Generator.FRAMES, 1, lambda: (frame_scores(question, graph, lexical),))
    synonyms, file_synonyms, indirect_synonyms, file_indirect_synonyms, other_text = by.scores(
        Generator.SYNONYMS, 5, synonym_scores
    )
    dense = dense_scores(None if question.is_pattern else similarities, by, n)
    # What is quoted, or stands in a traceback, is meant as it is written.
    is_exact = bool(literal.any() or frame.any())
    semantic, similar_text = np.zeros(n), np.zeros(n)
    if is_semantic and not is_exact:
        semantic, similar_text = semantic_scores(question, terms, lexical, graph.nodes.files, by)
    past = history or History()
    past_signals = by.scores(
        Generator.HISTORY, len(HISTORY_SIGNALS), lambda: tuple(history_signals(question, past, n, others).values())
    )
    return QuerySignals(
        question=question,
        graph=graph,
        is_file=is_file,
        asked=has_queried_role,
        role=np.where(has_queried_role, 1.0, roles),
        demotion=user_interface_factors(question, graph) * superseded_factors(graph, has_queried_role),
        kind=_kind_factors(question, graph, factors),
        text=text + other_text + similar_text,
        file_text=file_text,
        path=path,
        name=name,
        name_share=name_shares,
        name_coverage=name_coverages,
        mention=mention,
        identifiers=identifiers,
        literal=literal,
        literal_in_file=literal_in_file,
        frame=frame,
        synonyms=synonyms,
        file_synonyms=file_synonyms,
        indirect_synonyms=indirect_synonyms,
        file_indirect_synonyms=file_indirect_synonyms,
        tested=tested,
        past=dict(zip(HISTORY_SIGNALS, past_signals, strict=True)),
        dense=dense,
        semantic=semantic,
    )


def terms_in_vocabulary(question: ParsedQuery, lexical: LexicalIndex) -> dict[int, float]:
    """Return weight by term number, for the terms of the query that the repository has."""
    numbers = {lexical.terms.position(term): weight for term, weight in question.terms.items()}
    for term, weight in question.abbreviations.items():
        numbers.setdefault(lexical.terms.position(term), weight)
    for number, weight in other_terms(question.prose, question.terms, lexical).items():
        numbers.setdefault(number, weight)
    numbers.pop(-1, None)
    return numbers


def _kind_factors(question: ParsedQuery, graph: CodeGraph, prior: PriorFactors) -> Scores:
    """Return the factor of each node by its kind.

    Declarations are less informative than running code, above all for queries about behavior.
    """
    factors = np.ones(len(NodeKind))
    for kind in DECLARATIONS:
        factors[kind] = prior.kind.get(kind.label, 1.0)
        if question.is_about_behavior:
            factors[kind] *= prior.kind.get("declarations only", 1.0)
    result: Scores = factors[effective_kinds(graph)]
    return result


def effective_kinds(graph: CodeGraph) -> NDArray[np.uint8]:
    """Return the kind of each node; the methods of an interface count as declarations."""
    kinds, parents = graph.nodes.kinds, graph.nodes.parents
    parent_kinds = np.where(parents >= 0, kinds[np.maximum(parents, 0)], NodeKind.FILE)
    result: NDArray[np.uint8] = np.where(parent_kinds == NodeKind.INTERFACE, NodeKind.INTERFACE, kinds).astype(np.uint8)
    return result
