"""Which files a commit touched, by the names that they have now, and which change together: numbers worked by hand."""

from itertools import pairwise

import numpy as np
import pytest

from causalist.index.history import HALF_LIFE_DAYS, MAX_PARTNERS, touched_files
from causalist.model.index import History
from tests.pasts import DAY, change, commits_of, past_of

_HALF_LIFE = int(HALF_LIFE_DAYS * DAY)


def partners(history: History, path: str) -> list[tuple[str, float, int]]:
    pairs, i = history.co_changes, list(history.paths).index(path)
    rows = slice(pairs.indptr[i], pairs.indptr[i + 1])
    return [
        (history.paths[int(o)], float(s), int(n))
        for o, s, n in zip(pairs.others[rows], pairs.strengths[rows], pairs.counts[rows], strict=True)
    ]


def touched(paths: str, *changes) -> list[str]:
    """The files of each commit, one letter each."""
    indptr, files = touched_files(commits_of(*changes), paths.split())
    return ["".join(paths.split()[f] for f in files[a:b]) for a, b in pairwise(indptr)]


def test_strengths_by_hand() -> None:
    past = past_of(
        "abc",
        change("2", "ab", time=_HALF_LIFE),
        change("1", "abc", time=0),  # a half-life older: counts 0.5
    )
    # changes: a and b 1 + 0.5, c 0.5. shared: a with b 1 / 1 + 0.5 / 2 = 1.25, c with the others 0.5 / 2 = 0.25.
    assert past.churn.tolist() == [1.5, 1.5, 0.5]
    assert past.last.tolist() == [_HALF_LIFE, _HALF_LIFE, 0]
    assert partners(past, "a") == [("b", pytest.approx(1.25 / 3.5), 2), ("c", pytest.approx(0.25 / 3.5), 1)]
    assert partners(past, "b") == [("a", pytest.approx(1.25 / 3.5), 2), ("c", pytest.approx(0.25 / 3.5), 1)]
    assert partners(past, "c") == [("a", pytest.approx(0.25 / 2.5), 1), ("b", pytest.approx(0.25 / 2.5), 1)]


def test_files_that_are_gone_still_make_a_commit_larger() -> None:
    # a and b share a commit of five files: 1 / (5 - 1) over 1 + 2.
    past = past_of("ab", change("1", "abxyz"))
    assert partners(past, "a") == [("b", pytest.approx(0.25 / 3), 1)]


def test_a_file_that_every_commit_changes_is_near_to_none() -> None:
    past = past_of(
        "abcL", *(change(f"{i}", f"{'abc'[i % 3]}L") for i in range(30)), change("x", "ab"), change("y", "ab")
    )
    # From the log: 10 of 30 commits with each, over 30 + 2. From a to the log 10 of 12.
    assert {name for name, _, _ in partners(past, "L")} == set("abc")
    assert all(strength == pytest.approx(10 / 32) for _, strength, _ in partners(past, "L"))
    assert partners(past, "a")[1] == ("b", pytest.approx(2 / 14), 2)


def test_only_the_strongest_partners_are_kept() -> None:
    names = [f"f{i:02}" for i in range(MAX_PARTNERS + 3)]
    past = past_of([*names, "hub"], *(change(f"{i}", [name, "hub"], time=-i) for i, name in enumerate(names)))
    # All of the same strength: by path.
    assert [name for name, _, _ in partners(past, "hub")] == names[:MAX_PARTNERS]


def test_a_clock_that_runs_ahead_counts_as_now() -> None:
    past = past_of("ab", change("2", "ab", time=0), change("1", "ab", time=10**10))
    assert past.churn.tolist() == [2.0, 2.0]


def test_a_file_is_followed_to_its_older_names() -> None:
    rename = change("2", "b", renames=[("a", "b")])
    assert touched("b c", change("3", "bc"), rename, change("1", "ac")) == ["bc", "b", "bc"]


def test_a_name_that_is_used_again_is_another_file() -> None:
    rename = change("2", "b", renames=[("a", "b")])
    # Before the move a is what b is now, since then it is another file.
    assert touched("a b", change("3", "a"), rename, change("1", "a")) == ["a", "b", "b"]


def test_renames_chain_and_swap() -> None:
    chain = [change("3", "c", renames=[("b", "c")]), change("2", "b", renames=[("a", "b")]), change("1", "a")]
    assert touched("c", *chain) == ["c", "c", "c"]
    swap = change("2", "ab", renames=[("a", "b"), ("b", "a")])
    assert touched("a b", swap, change("1", "a")) == ["ab", "b"]


def test_files_that_nobody_has_any_more_are_left_out() -> None:
    assert touched("a", change("2", "xy"), change("1", "ax")) == ["", "a"]


def test_without_commits_or_files_there_is_nothing() -> None:
    for past in (past_of("ab"), past_of("", change("1", "ab"))):
        assert len(past.co_changes.others) == 0
        assert len(past.co_changes.indptr) == len(past) + 1
        assert not np.any(past.churn)
