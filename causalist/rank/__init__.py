"""A question -> candidates, seeds, Personalized PageRank, fused scores."""

from typing import TYPE_CHECKING

from causalist.lazily import exports

if TYPE_CHECKING:
    from causalist.rank._transition import Unchanged, WalkWeights, build_transition, within
    from causalist.rank.broaden import LEAST_ALIKE, as_written, broadened
    from causalist.rank.choice import Chosen, choose
    from causalist.rank.commits import merge_commits, message_postings
    from causalist.rank.confidence import confidence_of, default_calibration, evidence_of
    from causalist.rank.dense import Similarities
    from causalist.rank.fuse import Linear, Weights, default_weights
    from causalist.rank.history import (
        churn_scores,
        co_change_scores,
        history_signals,
        history_terms,
        message_scores,
        recency_scores,
        similar_commit_scores,
        similar_commits,
    )
    from causalist.rank.lexical import Kept, bm25, build_lexical, impacts, nodes_named
    from causalist.rank.located import frame_rows
    from causalist.rank.mentions import files_with_all
    from causalist.rank.printers import message_words, printing, repeats
    from causalist.rank.question import Pattern, Question, as_printed, read_question
    from causalist.rank.ranking import best_inside, explain, in_scope, rank_question
    from causalist.rank.routes import GENERATORS, ROUTES, RoutePlan
    from causalist.rank.scored import Ranking
    from causalist.rank.shares import seed_shares
    from causalist.rank.signals import known_terms
    from causalist.rank.telling import TellingLines
    from causalist.rank.wording import has_pair, n_telling_in, said_in

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
    "similar_commit_scores",
    "similar_commits",
    "within",
]

__getattr__ = exports(
    __name__,
    {
        "_transition": "Unchanged WalkWeights build_transition within",
        "broaden": "LEAST_ALIKE as_written broadened",
        "choice": "Chosen choose",
        "commits": "merge_commits message_postings",
        "confidence": "confidence_of default_calibration evidence_of",
        "dense": "Similarities",
        "fuse": "Linear Weights default_weights",
        "history": "churn_scores co_change_scores history_signals history_terms message_scores recency_scores "
        "similar_commit_scores similar_commits",
        "lexical": "Kept bm25 build_lexical impacts nodes_named",
        "located": "frame_rows",
        "mentions": "files_with_all",
        "printers": "message_words printing repeats",
        "question": "Pattern Question as_printed read_question",
        "ranking": "best_inside explain in_scope rank_question",
        "routes": "GENERATORS ROUTES RoutePlan",
        "scored": "Ranking",
        "shares": "seed_shares",
        "signals": "known_terms",
        "telling": "TellingLines",
        "wording": "has_pair n_telling_in said_in",
    },
)
