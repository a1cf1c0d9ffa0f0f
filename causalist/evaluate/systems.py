"""The ways of ranking that are compared: an index and a question in, paths or node ids out, best first."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from causalist.model.answer import AskOptions, Level
from causalist.model.symbols import Role, split_id
from causalist.pipeline import Repository
from causalist.rank import bm25, choose, default_weights, known_terms, rank_question, read_question

System = Callable[[Repository, str, int], list[str]]  # repository, question, length of the list

FUSED = "fused"
GRAPH_OFF = "graph off"
WHOLE_FILE = "whole-file BM25"
WHOLE_FILE_CODE = "whole-file BM25, code only"

_SCORE_DECIMALS = 12  # scores that differ by less are a tie, decided by path


def _files(repository: Repository, query: str, top_k: int, *, graph: bool) -> list[str]:
    return repository.rank_files(query, AskOptions(level=Level.FILE, top_k=top_k, graph=graph))


def _symbols(repository: Repository, query: str, top_k: int, *, graph: bool) -> list[str]:
    """What `rank_files` is for files, for level SYMBOL: ids of nodes without paths, order and pack."""
    options = AskOptions(level=Level.SYMBOL, top_k=top_k, graph=graph)
    index = repository.index
    ranking = rank_question(
        read_question(query), index.graph, index.lexical, index.transition, default_weights(), options
    )
    return [index.graph.nodes.ids[c.node] for c in choose(ranking, index.graph, options)]


def whole_file_bm25(repository: Repository, query: str, top_k: int, *, code_only: bool = False) -> list[str]:
    """Plain BM25 with one document a file, as a careful implementer would build it: the baseline to beat.

    A document is all the text of a file (definitions, comments, documentation alike) and the words of its path, three
    times. Identifiers are split and also kept whole, parts are stemmed; k1 = 1.2 and b = 0.75 are the usual defaults.
    The question goes through the same splitting, stop words are dropped, and each distinct term counts once: neither
    a title nor repetition raises a weight, names are not looked up, and tests and documentation are not demoted.

    `code_only` keeps just the files of Role.CODE, with the same scores. It is the stricter comparison where all right
    answers are code: it has the same knowledge of what tests and documentation are as the fused ranking.
    """
    index = repository.index
    nodes = index.graph.nodes
    terms = dict.fromkeys(known_terms(read_question(query), index.lexical), 1.0)
    scores = np.round(bm25(index.lexical.files, terms, len(nodes)), _SCORE_DECIMALS)
    if code_only:
        scores[nodes.roles != Role.CODE] = 0.0
    found = np.flatnonzero(scores > 0)
    best = found[np.lexsort((found, -scores[found]))][:top_k]
    return [split_id(nodes.ids[int(node)])[0] for node in best]


FILE_SYSTEMS: Mapping[str, System] = {
    FUSED: partial(_files, graph=True),
    GRAPH_OFF: partial(_files, graph=False),
    WHOLE_FILE: whole_file_bm25,
    WHOLE_FILE_CODE: partial(whole_file_bm25, code_only=True),
}
SYMBOL_SYSTEMS: Mapping[str, System] = {FUSED: partial(_symbols, graph=True), GRAPH_OFF: partial(_symbols, graph=False)}
