"""Messages as arrays and the scores that they give: by hand, and the same however they were read."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.index import CommitChange, Commits, History
from causalist.rank import (
    churn_scores,
    co_change_scores,
    history_signals,
    history_terms,
    merge_commits,
    message_scores,
    parse_query,
    recency_scores,
    similar_commit_scores,
    similar_commits,
)
from tests.indexes import differences
from tests.pasts import DAY, change, commits_of, past_of

_ALPHA, _BETA = log(1 + 0.5 / 2.5), log(1 + 1.5 / 1.5)  # idf among two documents, of which two and one have the term


@pytest.fixture
def past() -> History:
    return past_of("xy", change("A", "x", "Alpha beta"), change("B", "xy", "alpha"))


def asked(history: History, *words: str) -> dict[int, float]:
    return history_terms(dict.fromkeys(words, 1.0), history)


def test_messages_of_a_file_by_hand(past: History) -> None:
    # x has alpha 1 + 1/2 and beta 1, in all 2.5; y has alpha 1/2. The mean is 1.5.
    # norms: x 1.2 (0.25 + 0.75 * 2.5 / 1.5) = 1.8, y 1.2 (0.25 + 0.75 * 0.5 / 1.5) = 0.6.
    x = _ALPHA * 1.5 * 2.2 / (1.5 + 1.8) + _BETA * 2.2 / (1 + 1.8)
    y = _ALPHA * 0.5 * 2.2 / (0.5 + 0.6)
    assert message_scores(asked(past, "alpha", "beta"), past, 2) == pytest.approx([x, y])
    assert message_scores(asked(past, "gamma"), past, 2).tolist() == [0, 0]


def test_similar_commits_by_hand(past: History) -> None:
    # Lengths 2 and 1, mean 1.5; norms: A 1.2 (0.25 + 1) = 1.5, B 1.2 (0.25 + 0.5) = 0.9.
    best, other = (_ALPHA + _BETA) * 2.2 / 2.5, _ALPHA * 2.2 / 1.9
    part = (other / best) ** 2 / 2
    assert similar_commit_scores(asked(past, "alpha", "beta"), past, 2) == pytest.approx([1 + part, part])
    assert similar_commits(asked(past, "alpha", "beta"), past, 0, 5) == ["A", "B"]
    assert similar_commits(asked(past, "alpha", "beta"), past, 0, 1) == ["A"]
    assert similar_commits(asked(past, "beta"), past, 1, 5) == []
    assert similar_commits(asked(past, "beta"), past, 7, 5) == []


def test_the_signals_of_a_question_grow_with_the_number_of_commits_to_one(past: History) -> None:
    """Two commits: 2 / 52 of what a long history says."""
    signals = history_signals(parse_query("where is the beta of alpha?"), past, 2)
    assert sorted(signals) == ["messages", "similar commits"]
    assert all(scores.max() == pytest.approx(2 / 52) for scores in signals.values())
    assert signals["messages"][1] == pytest.approx(2 / 52 * _ALPHA / (_ALPHA + _BETA * 2.2 / 2.8))
    many = past_of("x", *(change(f"{i:04}", "x", "alpha") for i in range(950)))
    assert history_signals(parse_query("alpha?"), many, 1)["messages"].tolist() == pytest.approx([0.95])
    assert not any(scores.any() for scores in history_signals(parse_query("gamma?"), past, 2).values())


def test_other_words_count_beside_those_of_the_question(past: History) -> None:
    """Nobody wrote gamma; who asks for it means beta, of which x alone has anything."""
    signals = history_signals(parse_query("gamma?"), past, 2, {"beta": 0.4})
    assert [scores.tolist() for scores in signals.values()] == [[pytest.approx(2 / 52), 0.0]] * 2
    # What is asked for itself counts in full, whatever the other word would.
    plain = history_signals(parse_query("alpha beta?"), past, 2)
    both = history_signals(parse_query("alpha beta?"), past, 2, {"beta": 0.4})
    assert all((both[name] == plain[name]).all() for name in plain)


def test_commits_of_files_that_are_gone_do_not_count() -> None:
    past = past_of("x", change("A", "z", "beta beta"), change("B", "x", "beta alpha"))
    assert similar_commit_scores(asked(past, "beta"), past, 1).tolist() == [1.0]


def test_a_mass_edit_says_nothing() -> None:
    past = past_of("x", change("A", "", "beta", n_files=500), change("B", "x", "alpha"))
    assert asked(past, "beta") == {}
    assert len(past.commits) == 2


def test_scores_stand_at_the_nodes_of_files() -> None:
    past = past_of("xy", change("A", "y", "beta"))
    spread = History(past.commits, past.paths, np.array([3, 8], dtype=np.int32), past.indptr, past.files, past.messages)
    assert np.flatnonzero(message_scores(asked(spread, "beta"), spread, 10)).tolist() == [8]
    assert similar_commits(asked(spread, "beta"), spread, 8, 1) == ["A"]


def test_co_changes_support_the_partners_of_the_best() -> None:
    past = past_of("wxyz", change("A", "xy"), change("B", "wz"))
    # Strengths are 1 / (1 + 2). Of the best file x the partner counts whole, of w with half its score half.
    scores = co_change_scores(np.array([2.0, 4.0, 0.0, 0.0]), past, 2)
    assert scores == pytest.approx([0, 0, 1 / 3, 1 / 6])
    assert co_change_scores(np.array([2.0, 4.0, 0.0, 0.0]), past, 1) == pytest.approx([0, 0, 1 / 3, 0])
    assert not np.any(co_change_scores(np.zeros(4), past))


def test_churn_and_recency_by_hand() -> None:
    past = past_of(
        "xyz", change("C", "x", time=731 * DAY), change("B", "xy", time=366 * DAY), change("A", "x", time=DAY)
    )
    # Commits of now, of one and of two half-lives ago: x has 1 + 1/2 + 1/4, y 1/2.
    assert churn_scores(past, 3) == pytest.approx([1, log(1.5) / log(2.75), 0])
    assert recency_scores(past, 3, 365.0) == pytest.approx([1, 0.5, 0])


def test_without_history_everything_is_zero() -> None:
    for score in (message_scores, similar_commit_scores):
        assert score({}, History(), 3).tolist() == [0, 0, 0]
    assert churn_scores(History(), 3).tolist() == [0, 0, 0]
    assert recency_scores(History(), 3, 90).tolist() == [0, 0, 0]
    assert co_change_scores(np.ones(3), History()).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("message", "terms"), [
    ("Fix parseHTTP in the cache", {"fix": 1, "pars": 1, "http": 1, "parsehttp": 1, "cach": 1}),
    ("retry\n\nSigned-off-by: Ada Lovelace <ada@example.org>\nCo-authored-by: B <b@c.d>", {"retri": 1}),
    ("x\n\ngit-svn-id: https://example.org/trunk@12 0a1b\nChange-Id: I0123abc", {}),
    ("token: reject what is too old", {"token": 1, "reject": 1, "old": 1}),
    ("z" * 65 + " retry retry", {"retri": 2}),
])  # fmt: skip
def test_words_of_a_message(message: str, terms: dict[str, int]) -> None:
    commits = commits_of(change("C", "f", message))
    words = commits.words
    n_times = {commits.terms[i]: int(words.counts[words.indptr[i]]) for i in range(len(commits.terms))}
    assert n_times == terms


_names = st.sampled_from("abcdef")
_changes = st.lists(
    st.builds(
        change,
        name=st.integers(0, 10**6).map(str),
        files=st.sets(_names, max_size=4),
        message=st.lists(st.sampled_from(["token", "cache", "Retry", "getUsers", "a"]), max_size=6).map(" ".join),
        time=st.integers(0, 10**6),
        n_files=st.integers(1, 40),
        renames=st.lists(st.tuples(_names, _names), max_size=2, unique=True).map(sorted),
    ),
    max_size=8,
    unique_by=lambda each: each.name,
)


@given(_changes, _changes, st.data())
@pytest.mark.slow
def test_what_was_known_before_changes_nothing(
    now: list[CommitChange], gone: list[CommitChange], data: st.DataObject
) -> None:
    names = {each.name for each in now}
    gone = [each for each in gone if each.name not in names]
    kept = [each for each in now if data.draw(st.booleans())]
    known = commits_of(*data.draw(st.permutations([*kept, *gone])))
    fresh = [each for each in now if each not in kept]
    refreshed = merge_commits([each.name for each in now], known, fresh)
    assert differences(refreshed, commits_of(*now)) == []


def test_nothing_is_known_of_no_commits() -> None:
    assert differences(merge_commits([], commits_of(change("A", "x", "beta")), ()), commits_of()) == []
    assert len(Commits()) == 0
