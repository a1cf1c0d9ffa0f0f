"""A question -> candidates, seeds, Personalized PageRank, fused scores."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.rank.lexical.bm25 import TellingLines, bm25, impacts, nodes_named
    from causalist.rank.lexical.build import Kept, build_lexical
    from causalist.rank.lexical.commit_messages import merge_commits, message_postings
    from causalist.rank.lexical.message_search import has_pair, message_words, n_telling_in, printing, repeats, said_in
    from causalist.rank.pagerank.transition import Unchanged, WalkWeights, build_transition, within
    from causalist.rank.query.query import (
        GENERATORS,
        LEAST_ALIKE,
        ROUTES,
        Pattern,
        Question,
        RoutePlan,
        as_printed,
        as_written,
        broadened,
        read_question,
        without_quotes,
    )
    from causalist.rank.scoring.calibration import confidence_of, default_calibration, evidence_of
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
    from causalist.rank.scoring.fusion import Linear, Ranking, Weights, default_weights, shipped_weights
    from causalist.rank.scoring.mentions import files_with_all, frame_rows
    from causalist.rank.scoring.ranking import (
        Chosen,
        best_inside,
        choose,
        explain,
        in_scope,
        rank_question,
        seed_shares,
    )
    from causalist.rank.scoring.scaling import Similarities
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
    "without_quotes",
]

__getattr__ = exports(
    __name__,
    {
        "pagerank.transition": "Unchanged WalkWeights build_transition within",
        "query.query": "GENERATORS LEAST_ALIKE Pattern Question ROUTES RoutePlan as_printed as_written "
        "broadened read_question without_quotes",
        "scoring.ranking": "Chosen best_inside choose explain in_scope rank_question seed_shares",
        "lexical.commit_messages": "merge_commits message_postings",
        "scoring.calibration": "confidence_of default_calibration evidence_of",
        "scoring.scaling": "Similarities",
        "scoring.fusion": "Linear Ranking Weights default_weights shipped_weights",
        "scoring.file_evidence": "churn_scores co_change_scores history_signals history_terms message_scores "
        "recency_scores similar_commit_scores similar_commits",
        "lexical.bm25": "TellingLines bm25 impacts nodes_named",
        "lexical.build": "Kept build_lexical",
        "scoring.mentions": "files_with_all frame_rows",
        "lexical.message_search": "has_pair message_words n_telling_in printing repeats said_in",
        "scoring.signals": "known_terms",
    },
)
