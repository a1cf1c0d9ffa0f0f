"""Signals of a query for each node: one array in [0, 1] for each, and their weighted sum.

There are three passes. First definitions are scored; then files, which gain from a good definition; then definitions
again, with the scores of their files. Definitions and whole files fail on different queries, so that each helps the
other.

An answer needs the sum of some twenty signals and a few single values of them. Neither needs an array for each signal
times its weight. Signals of files do not need an element for every node either: most nodes are no files.
"""

from collections.abc import Iterator, Mapping, Set

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass
from causalist.model.graph import CodeGraph
from causalist.model.index import History, LexicalIndex, Postings
from causalist.model.protocols import NO_STEPS, Steps
from causalist.model.scores import TextMatches
from causalist.model.symbols import NodeKind, Role
from causalist.rank.lexical.bm25 import bm25, rarest_weight, said_by_names, share_of_names
from causalist.rank.lexical.query_expansion import (
    EXPANSION,
    expansion_terms,
    files_that_run,
    lead_terms,
    may_gain,
    other_terms,
    other_words,
    synonym_terms,
)
from causalist.rank.query.query import ROUTES, Generating, Question, above_zero
from causalist.rank.scoring.file_evidence import TOLD, history_signals, roles_asked_for, scores_by_tests
from causalist.rank.scoring.mentions import frame_scores, identifier_scores, literal_scores, mention_scores
from causalist.rank.scoring.scaling import DENSE, Similarities, beside, best_and_sum, dense_scores, scaled

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex


class Table(Mapping[str, Scores]):
    """Mapping from signal names to arrays of shape (n_nodes,), which are computed on request.

    `values` are of all nodes or, with `nodes` (ascending), of these alone: then they have shape (len(nodes),), and
    other nodes have 0. `weights`: factors by name, 0 for a missing name; without `weights` all are 1.
    """

    def __init__(
        self,
        values: Mapping[str, Scores],
        n_nodes: int,
        nodes: NDArray[np.int64] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._values = values
        self._n_nodes = n_nodes
        self._nodes = nodes
        self._weights = weights
        self._sum: Scores | None = None
        self._before: Table | None = None  # what the last signal was added to, if one was

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, name: str) -> Scores:
        values = self._values[name]
        return self._spread(values if self._weights is None else values * self._weights.get(name, 0.0))

    def at(self, node: int) -> Iterator[tuple[str, float]]:
        """Yield (name, value) of one node; nothing if the table does not have the node."""
        place = node
        if self._nodes is not None:
            place = int(np.searchsorted(self._nodes, node))
            if place == len(self._nodes) or self._nodes[place] != node:
                return
        for name, values in self._values.items():
            yield name, float(values[place] * (1.0 if self._weights is None else self._weights.get(name, 0.0)))

    def weighed(self, weights: Mapping[str, float]) -> "Table":
        """Return the same signals with these weights instead of their own."""
        return Table(self._values, self._n_nodes, self._nodes, weights)

    def with_more(self, signals: "Table") -> "Table":
        """Return these signals without weights, and others of the same nodes."""
        return Table({**self._values, **signals._values}, self._n_nodes, self._nodes)

    def without(self, names: Set[str]) -> "Table":
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
        return Table(values, self._n_nodes, self._nodes, self._weights)

    def with_one(self, name: str, values: Scores, weight: float = 1.0) -> "Table":
        """Return these signals and a last one of all nodes."""
        result = Table({**self._values, name: values}, self._n_nodes, None, {**(self._weights or {}), name: weight})
        result._sum = self._added_up() + values * weight if weight else self._added_up()
        result._before = self
        return result

    def summed(self, factors: Scores) -> Scores:
        """Return the sum of all signals times `factors`, both of shape (n_nodes,)."""
        total = self._added_up()
        return self._spread(total * (factors if self._nodes is None else factors[self._nodes]))

    def _added_up(self) -> Scores:
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

# What no question says: how much of an answer a definition can be, by its length and by its kind.
SIZE = "size"
KIND = "kind"
PRIORS = frozenset({SIZE, KIND})
# What says that a name is what is asked for, and nothing of what belongs to it.
NAMED = frozenset({"name coverage"})
# What a file has from the scores of its definitions.
LEADING = frozenset({"leading definition", "leading definitions"})

DECLARATIONS = (NodeKind.INTERFACE, NodeKind.TYPE, NodeKind.CONSTANT)
_MOST_ROWS = 400  # of a definition; what is longer is no likelier an answer
_LOGARITHMS = np.log1p(np.arange(_MOST_ROWS + 1.0))  # of each number of rows and 1


@dataclass(frozen=True, slots=True)
class Factors:
    """Prior factors in (0, 1] of lexical matches: by role of the file, and by kind of the definition."""

    role: Mapping[str, float]  # label -> factor
    kind: Mapping[str, float]  # label -> factor; "declarations only": of files and kinds that only declare


@dataclass(frozen=True, slots=True)
class Reading:
    """Signals of a query for one repository, without weights: everything that does not depend on a score.

    All arrays have shape (n_nodes,). `asked`: the query asks for the role of the node, so that no factor of the role
    applies. `role`, `kind`: factors by role of the file and by kind of the definition.
    """

    question: Question
    graph: CodeGraph
    is_file: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    role: Scores
    kind: Scores
    text: Scores  # BM25 of definitions, passages and module-level code; of other words as well
    file_text: Scores
    path: Scores
    name: Scores
    name_share: Scores
    name_coverage: Scores  # how much of the question stands in a name
    mention: Scores
    identifiers: Scores  # the share of the names in the question that stand in a definition
    literal: Scores
    literal_in_file: Scores
    frame: Scores  # how near to where a traceback ended
    synonyms: Scores  # BM25 of words that mean the same, of definitions
    synonyms_of_files: Scores
    leads: Scores  # BM25 of words that lead to the same, of definitions
    leads_of_files: Scores
    expansion: Scores  # words that stand beside those of the question, in whole files
    tested: Scores  # what the text of its tests says of a file
    past: Mapping[str, Scores]  # what commit messages say of files, by the name of the signal
    dense: Scores  # how near definitions and passages are in meaning; zeros without an embedder

    # -- passes

    def first_files(self) -> Mapping[str, Scores]:
        """Return signals of files that need no scores of definitions."""
        return self._of_files(
            {
                "text": self._file_text(),
                "path": self.path,
                "name": self._in_file(self.name * self.kind),
                "mention": self._in_file(self.mention),
                "literal": self.literal_in_file,
                "frame": self._in_file(self.frame),
                "looked up": self._in_file(self._looked_up()),
                "synonyms": beside(self.synonyms_of_files, self.file_text),
                "leads": beside(self.leads_of_files, self.file_text) * (self.file_text > 0),
                "tests": self.tested,
                EXPANSION: self.expansion,
                **self.past,
                DENSE: self._in_file(self.dense),
            }
        )

    def definitions(self) -> dict[str, Scores]:
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
            "text": scaled(self.text),
            "name": self.name,
            "name share": self.name_share,
            "name coverage": self.name_coverage,
            "path": of_file(self.path),
            "mention": self.mention,
            "literal": self.literal,
            "frame": self.frame,
            "looked up": self._looked_up(),
            "synonyms": beside(self.synonyms, self.text),
            "leads": beside(self.leads, self.text) * is_about,
            "tests": of_file(self.tested) * is_about,
            DENSE: self.dense,
        }
        found = (self.text, self.synonyms, self.mention, self.literal, self.frame, self.dense)
        signals[SIZE] = self._sizes(above_zero(found))
        if self.question.is_pattern:
            return {name: np.where(self.literal > 0, values, 0.0) for name, values in signals.items()}
        return signals

    def files(self, definitions: Scores) -> Mapping[str, Scores]:
        """Return signals of files; `definitions`: scores of definitions, by any weights."""
        best, total = best_and_sum(scaled(definitions) ** 2, self._owners, len(definitions))
        best = np.sqrt(best)
        first = self.first_files()
        leading = {
            "leading definition": best,
            "leading definitions": np.minimum(total / 3, 1.0),
        }
        both = self._of_files(leading)
        return first.with_more(both) if isinstance(first, Table) else {**first, **both}

    def definitions_again(self, files: Scores, before: Scores) -> dict[str, Scores]:
        """Return the signals that definitions have in the last pass in addition to those of the first.

        `files`: scores of files, `before`: those of definitions in the first pass. A node without a score in the first
        pass has none here: a file may have matched by words that are not in the query.
        """
        nodes = self.graph.nodes
        wanted = (nodes.files >= 0) & (nodes.kinds != NodeKind.FIELD) & (before > 0)
        return {
            "found file": scaled(files).take(np.maximum(nodes.files, 0)) * wanted,
            "identifiers": self.identifiers * wanted,
        }

    # -- parts

    @property
    def _owners(self) -> NDArray[np.int32]:
        return self.graph.nodes.files

    def _in_file(self, scores: Scores) -> Scores:
        result = np.zeros(len(scores))
        some = np.flatnonzero((scores > 0) & (self._owners >= 0))
        np.maximum.at(result, self._owners[some], scores[some])
        return result

    def _looked_up(self) -> Scores:
        """Return the scores of the named nodes where the query is little more than that name, else 0.

        Such a name is meant, however short it is.
        """
        return self.mention if ROUTES[self.question.route].names_decide else np.zeros(len(self.mention))

    def _file_text(self) -> Scores:
        return scaled(self.file_text)

    def _of_files(self, signals: Mapping[str, Scores]) -> Table:
        wanted = np.flatnonzero(self.is_file & (self.literal_in_file > 0) if self.question.is_pattern else self.is_file)
        return Table({name: values[wanted] for name, values in signals.items()}, len(self.is_file), wanted)

    def _sizes(self, found: NDArray[np.bool_]) -> Scores:
        """Return the size signal of the found nodes: 1 for _MOST_ROWS rows or more, else by the logarithm.

        Module-level code has the rows that are in no definition of the file. Rows are counted, because line ends must
        not matter.
        """
        nodes = self.graph.nodes
        some = np.flatnonzero(found)
        rows = (nodes.end_rows[some] - nodes.start_rows[some] + 1).astype(np.float64)
        is_file = self.is_file[some]
        if is_file.any():
            inside = (found & self.is_file).take(np.maximum(nodes.parents, 0)) & (nodes.parents >= 0)
            top = np.flatnonzero(inside)
            taken = np.bincount(nodes.parents[top], nodes.end_rows[top] - nodes.start_rows[top] + 1, len(found))
            rows = np.where(is_file, np.maximum(rows - taken[some], 0.0), rows)
        result = np.zeros(len(found))
        result[some] = _LOGARITHMS[np.minimum(rows, _MOST_ROWS).astype(np.intp)] / _LOGARITHMS[-1]
        return result


def read_against(
    question: Question,
    graph: CodeGraph,
    lexical: LexicalIndex,
    factors: Factors,
    matched: Mapping[int, TextMatches] | None = None,
    history: History | None = None,
    steps: Steps = NO_STEPS,
    similarities: Similarities | None = None,
) -> Reading:
    """Return the signals of a query for the nodes of a repository.

    `matched`: the places of the query's patterns; if the query is nothing but a pattern, no other node has a signal.
    `history`: what commits said of the files. `similarities`: what an embedder says. The generators are optional.
    """
    n, is_file = len(graph.nodes), graph.nodes.kinds == NodeKind.FILE
    by = Generating(ROUTES[question.route], n, steps)
    with steps.timed("candidates.terms"):
        terms = known_terms(question, lexical)
        said = {term for term, weight in question.terms.items() if weight >= 1.0} | question.title_terms
        meant = {lexical.terms.position(term) for term in said} - {-1}
        whole = rarest_weight(terms, lexical, n)
    literal, literal_in_file = literal_scores(matched or {}, graph.nodes.files, n)
    # Without the check of roles nothing is taken for a test, a page of documentation and the like.
    asked = steps.optional(
        "validate.roles", lambda: roles_asked_for(question, graph, lexical), lambda: np.ones(n, dtype=np.bool_)
    )
    roles = np.array([factors.role.get(role.label, 1.0) for role in Role])[graph.nodes.roles]

    def of_files() -> Scores:
        scores = bm25(lexical.files, terms, n)
        if question.asks_for_behaviour:
            scores = scores * np.where(files_that_run(graph), 1.0, factors.kind.get("declarations only", 1.0))
        return scores

    def of_names(postings: Postings) -> Scores:
        return np.minimum(bm25(postings, terms, n) / whole, 1.0)

    others = other_words(question, lexical)

    def of_other_words() -> tuple[Scores, ...]:
        both = synonym_terms(question, lexical), lead_terms(question, lexical)
        standing_in = {number: w for word, w in others.items() if (number := lexical.terms.position(word)) >= 0}
        standing_in = {number: weight for number, weight in standing_in.items() if number not in terms}
        found = (bm25(postings, each, n) for each in both for postings in (own, lexical.files))
        return (*found, bm25(own, standing_in, n))

    def of_what_stands_beside() -> tuple[Scores]:
        sources = np.where(is_file, 0.0, text) if question.is_brief else np.zeros(n)
        found = bm25(lexical.files, expansion_terms(sources, terms, lexical), n)
        return (scaled(np.where(may_gain(graph, asked), found, 0.0)),)

    own = lexical.definitions
    text, identifiers = by.scores("words", 2, lambda: (bm25(own, terms, n), identifier_scores(question, lexical, n)))
    (file_text,) = by.scores("files", 1, lambda: (of_files(),))
    (tested,) = by.scores("tests", 1, lambda: (scores_by_tests(scaled(file_text), asked, graph, lexical),))
    path, name, name_share, name_coverage = by.scores(
        "names",
        4,
        lambda: (
            of_names(lexical.paths),
            of_names(lexical.symbol_names),
            share_of_names(meant, lexical, n),
            said_by_names(question.terms, lexical, n),
        ),
    )
    (mention,) = by.scores("mentions", 1, lambda: (mention_scores(question, graph, lexical),))
    (frame,) = by.scores("frames", 1, lambda: (frame_scores(question, graph, lexical),))
    synonyms, synonyms_of_files, leads, leads_of_files, other_text = by.scores("synonyms", 5, of_other_words)
    (expansion,) = by.scores("expansion", 1, of_what_stands_beside)
    dense = dense_scores(None if question.is_pattern else similarities, by, n)
    past = history or History()
    told = by.scores("history", len(TOLD), lambda: tuple(history_signals(question, past, n, others).values()))
    return Reading(
        question=question,
        graph=graph,
        is_file=is_file,
        asked=asked,
        role=np.where(asked, 1.0, roles),
        kind=_kind_factors(question, graph, factors),
        text=text + other_text,
        file_text=file_text,
        path=path,
        name=name,
        name_share=name_share,
        name_coverage=name_coverage,
        mention=mention,
        identifiers=identifiers,
        literal=literal,
        literal_in_file=literal_in_file,
        frame=frame,
        synonyms=synonyms,
        synonyms_of_files=synonyms_of_files,
        leads=leads,
        leads_of_files=leads_of_files,
        expansion=expansion,
        tested=tested,
        past=dict(zip(TOLD, told, strict=True)),
        dense=dense,
    )


def known_terms(question: Question, lexical: LexicalIndex) -> dict[int, float]:
    """Return weight by term number, for the terms of the query that the repository has."""
    numbers = {lexical.terms.position(term): weight for term, weight in question.terms.items()}
    for term, weight in question.abbreviations.items():
        numbers.setdefault(lexical.terms.position(term), weight)
    for number, weight in other_terms(question.prose, question.terms, lexical).items():
        numbers.setdefault(number, weight)
    numbers.pop(-1, None)
    return numbers


def _kind_factors(question: Question, graph: CodeGraph, given: Factors) -> Scores:
    """Return the factor of each node by its kind.

    Declarations are less informative than running code, above all for queries about behavior.
    """
    factors = np.ones(len(NodeKind))
    for kind in DECLARATIONS:
        factors[kind] = given.kind.get(kind.label, 1.0)
        if question.asks_for_behaviour:
            factors[kind] *= given.kind.get("declarations only", 1.0)
    result: Scores = factors[kinds_as_judged(graph)]
    return result


def kinds_as_judged(graph: CodeGraph) -> NDArray[np.uint8]:
    """Return the kind of each node; the methods of an interface count as declarations."""
    kinds, parents = graph.nodes.kinds, graph.nodes.parents
    around = np.where(parents >= 0, kinds[np.maximum(parents, 0)], NodeKind.FILE)
    result: NDArray[np.uint8] = np.where(around == NodeKind.INTERFACE, NodeKind.INTERFACE, kinds).astype(np.uint8)
    return result
