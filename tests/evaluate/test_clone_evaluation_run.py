"""From a data file and clones to a report: what is asked of which commit, what is skipped, what never changes."""

from pathlib import Path
from typing import Any

import pytest

from causalist.errors import EvaluationError, UsageError
from causalist.evaluate import Report
from causalist.evaluate.results import FILE_SYSTEMS, SnapshotFacts
from causalist.pipeline.repository import Repository
from tests.evaluate.clone_builders import check, row, write_rows
from tests.evaluate.conftest import Clones

pytestmark = pytest.mark.slow


def all_rows(clones: Clones) -> list[dict[str, Any]]:
    before, after = clones.shop
    return [
        row(id="after", base_commit=after, gold_files=["tokens.py"], hard=True),
        row(id="page", repo="acme/site", lang="javascript", base_commit=clones.site[0], query="render the page",
            gold_files=["src/page.js"]),
        row(id="before", base_commit=before, gold_symbols=["auth.py::validate"]),
        row(id="future", base_commit=before, gold_files=["auth.py", "tokens.py"], hard=True),
    ]  # fmt: skip


@pytest.fixture
def data(clones: Clones, tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", all_rows(clones))


def without_timings(report: Report) -> dict[str, Any]:
    return {key: value for key, value in report.to_json().items() if key != "timings"}


def test_each_question_is_asked_of_its_own_commit(data: Path, clones: Clones) -> None:
    report = check(data, clones.folder)
    ranks = {r.question.id: r.files for r in report.results}
    assert list(ranks) == ["after", "page", "before", "future"]
    for system in ("fused", "graph off", "whole-file BM25, code only"):
        assert ranks["before"][system] == (1,)
        assert ranks["after"][system] == (1,)
        assert ranks["page"][system] == (1,)


def test_the_future_does_not_leak(data: Path, clones: Clones) -> None:
    # tokens.py was added after the commit that is asked, and its commit is visited first.
    future = check(data, clones.folder).results[3]
    assert {ranks[1] for ranks in future.files.values()} == {None}
    assert future.unindexed == ("tokens.py",)
    git_dir = clones.folder / "acme+shop" / "repo"
    cache = SnapshotFacts()
    Repository.at_commit(git_dir, clones.shop[1], cache=cache)
    shared, alone = (Repository.at_commit(git_dir, clones.shop[0], cache=c) for c in (cache, None))
    for system in FILE_SYSTEMS.values():
        found = system(shared, "validate the token", 20)
        assert "tokens.py" not in found
        assert found == system(alone, "validate the token", 20)


def test_processes_do_not_change_the_report(data: Path, clones: Clones) -> None:
    one, two = check(data, clones.folder), check(data, clones.folder, processes=2)
    assert (one.timings.processes, two.timings.processes) == (1, 2)
    assert without_timings(one) == without_timings(two)


def test_progress_counts_every_question(clones: Clones, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl", [*all_rows(clones), row(id="absent", repo="acme/absent")])
    for processes in (1, 2):
        told: list[tuple[str, int, int]] = []
        check(data, clones.folder, processes=processes, progress=lambda *told_now, told=told: told.append(told_now))
        assert told[-1] == ("asking", 5, 5)
        assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_languages_and_limit_choose_questions(data: Path, clones: Clones) -> None:
    report = check(data, clones.folder, languages=("python",), limit=2)
    assert [r.question.id for r in report.results] == ["after", "before"]
    assert [r.question.id for r in check(data, clones.folder, languages=("javascript", "go")).results] == ["page"]


def test_missing_clones_and_commits_are_skipped_with_the_reason(clones: Clones, tmp_path: Path) -> None:
    missing = [
        row(id="no clone", repo="acme/absent"),
        row(id="no commit", base_commit="1" * 40),
        row(id="an option", base_commit="--all"),
    ]
    data = write_rows(tmp_path / "rows.jsonl", [*missing, *all_rows(clones)])
    report = check(data, clones.folder)
    assert len(report.results) == 4
    reasons = {s.question.id: s.reason for s in report.skipped}
    assert list(reasons) == ["no clone", "no commit", "an option"]
    assert "no clone at" in reasons["no clone"]
    assert str(clones.folder / "acme" / "absent") in reasons["no clone"]
    assert f"no commit '{'1' * 40}'" in reasons["no commit"]
    assert "'--all' is not the name of a commit" in reasons["an option"]
    assert [s["id"] for s in report.to_json()["skipped"]] == list(reasons)
    assert "skipped 1, acme/absent: no clone at" in report.to_text()


@pytest.mark.parametrize("processes", [1, 2])
def test_nothing_left_to_ask_is_an_error(clones: Clones, tmp_path: Path, processes: int) -> None:
    rows = [row(id="x", repo="acme/absent"), row(id="y"), row(id="z", repo="acme/site")]
    data = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(EvaluationError, match=r"none of the 3 questions could be asked; x: no clone at"):
        check(data, clones.folder, processes=processes)


def test_data_without_a_question_in_the_language(data: Path, clones: Clones) -> None:
    with pytest.raises(EvaluationError, match="no question in go; there are javascript, python"):
        check(data, clones.folder, languages=("go",))
    with pytest.raises(EvaluationError, match="holds no question"):
        check(write_rows(data.with_name("empty.jsonl"), []), clones.folder)


def test_malformed_data_names_the_line(data: Path, clones: Clones) -> None:
    data.write_text(data.read_text() + "{}\n")
    with pytest.raises(EvaluationError, match=r"rows\.jsonl, line 5: "):
        check(data, clones.folder)


def test_clones_that_are_no_folder(data: Path, clones: Clones) -> None:
    with pytest.raises(EvaluationError, match="is not a folder"):
        check(data, clones.folder / "absent")


@pytest.mark.parametrize("options", [{"top_k": 9}, {"limit": 0}, {"processes": 0}])
def test_options_out_of_range(data: Path, clones: Clones, options: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=rf"must be at least \d+.*, not {next(iter(options.values()))}$"):
        check(data, clones.folder, **options)


def test_cache_keeps_the_last_snapshot_decoded(clones: Clones) -> None:
    cache = SnapshotFacts()
    index = Repository.at_commit(clones.folder / "acme" / "site", clones.site[0], cache=cache).index
    key = next(iter(cache._memory))
    assert key[0] in set(index.manifest.blobs)
    first = cache.get_many([key])[key]
    assert cache.get_many([key])[key] is first
    cache.keep_only([])
    again = cache.get_many([key, ("unknown", "reader")])
    assert list(again) == [key]
    assert again[key] == first
    assert again[key] is not first
