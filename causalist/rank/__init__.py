"""A question -> candidates, seeds, Personalized PageRank, fused scores."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.rank.lexical.bm25 import (
        SnippetLines,
        bm25,
        find_nodes_by_name,
        find_nodes_with_words,
        impacts,
        rarity_of_shared_words,
        terms_of_nodes,
    )
    from causalist.rank.lexical.build import (
        BodyTerms,
        PreviousIndexRows,
        build_lexical,
        count_body,
        merge_commits,
        message_postings,
        with_longer_files,
    )
    from causalist.rank.lexical.printed_messages import (
        find_printers,
        find_repeaters,
        has_adjacent_pair,
        match_literals,
        message_terms,
        n_informative_words,
    )
    from causalist.rank.lexical.query_expansion import words_to_count
    from causalist.rank.lexical.question_encoder import nearest_stems, shipped_encoder
    from causalist.rank.lexical.word_counts import TermFinder
    from causalist.rank.pagerank import PreviousTransition, WalkWeights, build_transition, restrict_to
    from causalist.rank.query.query import (
        GENERATORS,
        MIN_SHARED_LETTERS,
        ROUTES,
        Generator,
        ParsedQuery,
        RoutePlan,
        TextPattern,
        parse_query,
        with_corpus_spelling,
        with_message_patterns,
        with_near_terms,
        without_quotes,
    )
    from causalist.rank.scoring.answer_confidence import calibration_features, confidence_of, default_calibration
    from causalist.rank.scoring.fusion import LinearModel, Ranking, Weights, default_weights, shipped_weights
    from causalist.rank.scoring.history_and_roles import (
        churn_scores,
        co_change_scores,
        history_signals,
        history_terms,
        message_scores,
        recency_scores,
        similar_commit_scores,
        similar_commits,
        user_interface_nodes,
    )
    from causalist.rank.scoring.mentions import files_with_all, find_given_names, frame_rows
    from causalist.rank.scoring.ranking import (
        Selection,
        best_definitions_in,
        boost_scope,
        choose,
        rank_question,
        reasons_for,
        seed_shares,
    )
    from causalist.rank.scoring.signals import Similarities, terms_in_vocabulary

__all__ = [
    "GENERATORS",
    "MIN_SHARED_LETTERS",
    "ROUTES",
    "BodyTerms",
    "Generator",
    "LinearModel",
    "ParsedQuery",
    "PreviousIndexRows",
    "PreviousTransition",
    "Ranking",
    "RoutePlan",
    "Selection",
    "Similarities",
    "SnippetLines",
    "TermFinder",
    "TextPattern",
    "WalkWeights",
    "Weights",
    "best_definitions_in",
    "bm25",
    "boost_scope",
    "build_lexical",
    "build_transition",
    "calibration_features",
    "choose",
    "churn_scores",
    "co_change_scores",
    "confidence_of",
    "count_body",
    "default_calibration",
    "default_weights",
    "files_with_all",
    "find_given_names",
    "find_nodes_by_name",
    "find_nodes_with_words",
    "find_printers",
    "find_repeaters",
    "frame_rows",
    "has_adjacent_pair",
    "history_signals",
    "history_terms",
    "impacts",
    "match_literals",
    "merge_commits",
    "message_postings",
    "message_scores",
    "message_terms",
    "n_informative_words",
    "nearest_stems",
    "parse_query",
    "rank_question",
    "rarity_of_shared_words",
    "reasons_for",
    "recency_scores",
    "restrict_to",
    "seed_shares",
    "shipped_encoder",
    "shipped_weights",
    "similar_commit_scores",
    "similar_commits",
    "terms_in_vocabulary",
    "terms_of_nodes",
    "user_interface_nodes",
    "with_corpus_spelling",
    "with_longer_files",
    "with_message_patterns",
    "with_near_terms",
    "without_quotes",
    "words_to_count",
]

__getattr__ = exports(
    __name__,
    {
        "pagerank": "PreviousTransition WalkWeights build_transition restrict_to",
        "query.query": "GENERATORS Generator MIN_SHARED_LETTERS ParsedQuery ROUTES RoutePlan TextPattern parse_query "
        "with_corpus_spelling with_message_patterns with_near_terms without_quotes",
        "scoring.ranking": "Selection best_definitions_in boost_scope choose rank_question reasons_for seed_shares",
        "scoring.answer_confidence": "calibration_features confidence_of default_calibration",
        "scoring.fusion": "LinearModel Ranking Weights default_weights shipped_weights",
        "scoring.history_and_roles": "churn_scores co_change_scores history_signals history_terms user_interface_nodes "
        "message_scores recency_scores similar_commit_scores similar_commits",
        "lexical.bm25": "SnippetLines bm25 find_nodes_by_name find_nodes_with_words impacts rarity_of_shared_words "
        "terms_of_nodes",
        "lexical.build": "BodyTerms PreviousIndexRows build_lexical count_body merge_commits message_postings "
        "with_longer_files",
        "scoring.mentions": "files_with_all find_given_names frame_rows",
        "lexical.printed_messages": "find_printers find_repeaters has_adjacent_pair match_literals message_terms "
        "n_informative_words",
        "lexical.query_expansion": "words_to_count",
        "lexical.word_counts": "TermFinder",
        "lexical.question_encoder": "nearest_stems shipped_encoder",
        "scoring.signals": "Similarities terms_in_vocabulary",
    },
)
