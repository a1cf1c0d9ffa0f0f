"""A question -> candidates, seeds, Personalized PageRank, fused scores."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.rank.lexical.build import Kept, bm25, build_lexical, impacts, nodes_named
    from causalist.rank.lexical.commit_messages import merge_commits, message_postings
    from causalist.rank.lexical.message_search import has_pair, n_telling_in, said_in
    from causalist.rank.lexical.printers import message_words, printing, repeats
    from causalist.rank.lexical.snippet_lines import TellingLines
    from causalist.rank.pagerank.transition import Unchanged, WalkWeights, build_transition, within
    from causalist.rank.query.broaden import LEAST_ALIKE, as_written, broadened
    from causalist.rank.query.query import Pattern, Question, as_printed, read_question
    from causalist.rank.query.routes import GENERATORS, ROUTES, RoutePlan
    from causalist.rank.scoring.calibration import confidence_of, default_calibration, evidence_of
    from causalist.rank.scoring.choice import Chosen, choose
    from causalist.rank.scoring.dense import Similarities
    from causalist.rank.scoring.file_evidence import (
        churn_scores,
        co_change_scores,
        history_signals,
        history_terms,
        message_scores,
        recency_scores,
        similar_commit_scores,
        similar_commits,
    )
    from causalist.rank.scoring.fusion import Linear, Weights, default_weights, shipped_weights
    from causalist.rank.scoring.located import frame_rows
    from causalist.rank.scoring.mentions import files_with_all
    from causalist.rank.scoring.ranking import best_inside, explain, in_scope, rank_question
    from causalist.rank.scoring.scored import Ranking
    from causalist.rank.scoring.shares import seed_shares
    from causalist.rank.scoring.signals import known_terms

__all__ = [
    "GENERATORS",
    "LEAST_ALIKE",
    "ROUTES",
    "Chosen",
    "Kept",
    "Linear",
    "Pattern",
    "Question",
    "Ranking",
    "RoutePlan",
    "Similarities",
    "TellingLines",
    "Unchanged",
    "WalkWeights",
    "Weights",
    "as_printed",
    "as_written",
    "best_inside",
    "bm25",
    "broadened",
    "build_lexical",
    "build_transition",
    "choose",
    "churn_scores",
    "co_change_scores",
    "confidence_of",
    "default_calibration",
    "default_weights",
    "evidence_of",
    "explain",
    "files_with_all",
    "frame_rows",
    "has_pair",
    "history_signals",
    "history_terms",
    "impacts",
    "in_scope",
    "known_terms",
    "merge_commits",
    "message_postings",
    "message_scores",
    "message_words",
    "n_telling_in",
    "nodes_named",
    "printing",
    "rank_question",
    "read_question",
    "recency_scores",
    "repeats",
    "said_in",
    "seed_shares",
    "shipped_weights",
    "similar_commit_scores",
    "similar_commits",
    "within",
]

__getattr__ = exports(
    __name__,
    {
        "pagerank.transition": "Unchanged WalkWeights build_transition within",
        "query.broaden": "LEAST_ALIKE as_written broadened",
        "scoring.choice": "Chosen choose",
        "lexical.commit_messages": "merge_commits message_postings",
        "scoring.calibration": "confidence_of default_calibration evidence_of",
        "scoring.dense": "Similarities",
        "scoring.fusion": "Linear Weights default_weights shipped_weights",
        "scoring.file_evidence": "churn_scores co_change_scores history_signals history_terms message_scores "
        "recency_scores similar_commit_scores similar_commits",
        "lexical.build": "Kept bm25 build_lexical impacts nodes_named",
        "scoring.located": "frame_rows",
        "scoring.mentions": "files_with_all",
        "lexical.printers": "message_words printing repeats",
        "query.query": "Pattern Question as_printed read_question",
        "scoring.ranking": "best_inside explain in_scope rank_question",
        "query.routes": "GENERATORS ROUTES RoutePlan",
        "scoring.scored": "Ranking",
        "scoring.shares": "seed_shares",
        "scoring.signals": "known_terms",
        "lexical.snippet_lines": "TellingLines",
        "lexical.message_search": "has_pair n_telling_in said_in",
    },
)
