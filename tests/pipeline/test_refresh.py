"""Refreshing equals building afresh: the same edges, the same arrays and the same answers, to the last bit.

`python -m tests.benchmarks.refresh` does the same with more sequences.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from causalist import refresh
from causalist.errors import NothingToIndex
from causalist.model.answer import AskOptions, Level
from causalist.pipeline import Repository
from tests.edits import EDITS, MOVES, SMALL_EDITS, Edit, begin
from tests.indexes import differences, without_stamps
from tests.pipeline.sample import QUESTIONS, SAMPLES, copy_sample, edges_of, in_memory, plain_answer

_N_ROUNDS = 3


def check_equal(refreshed: Repository, rebuilt: Repository, history: list[str], n_questions: int) -> None:
    told = " / ".join(history)
    assert edges_of(refreshed) == edges_of(rebuilt), told
    assert differences(without_stamps(refreshed.index), without_stamps(rebuilt.index)) == [], told
    for question in QUESTIONS[:n_questions]:
        for level in Level:
            options = AskOptions(top_k=8, level=level)
            one, other = refreshed.ask(question, options), rebuilt.ask(question, options)
            one, other = plain_answer(one), plain_answer(other)
            for answer in (one, other):
                # What was built in memory knows no commit, and the id of an answer depends on it.
                del answer["repository"]["commit"], answer["answer_id"], answer["pack"]
            assert one == other, f"{question} after {told}"


def check_sequence(
    root: Path, seed: int, n_rounds: int, n_questions: int, edits: Sequence[Edit] = EDITS, most: int = 4
) -> list[str]:
    """Edits a repository at random, up to `most` times a round, and checks after each. Returns what was done."""
    chance = random.Random(seed)
    Repository.open(root)
    history: list[str] = []
    for _ in range(n_rounds):
        history += [chance.choice(edits)(root, chance) for _ in range(chance.randrange(1, most + 1))]
        try:
            rebuilt = in_memory(root)
        except NothingToIndex:
            with pytest.raises(NothingToIndex):
                Repository.open(root)
            continue
        check_equal(Repository.open(root), rebuilt, history, n_questions)
    return history


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
@pytest.mark.parametrize("seed", [1, 2])
def test_refreshing_equals_building_afresh(sample: str, seed: int, tmp_path: Path) -> None:
    root = copy_sample(tmp_path, sample)
    begin(root)
    check_sequence(root, seed, _N_ROUNDS, 1)


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
@pytest.mark.parametrize("seed", [3, 4])
def test_small_edits_equal_building_afresh(
    sample: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # These samples are so small that most names are in a good part of their files.
    monkeypatch.setattr(refresh, "_MOST_AFFECTED", 1.0)
    monkeypatch.setattr(refresh, "_MOST_NAMES", 10_000)
    root = copy_sample(tmp_path, sample)
    begin(root)
    check_sequence(root, seed, 5, 1, SMALL_EDITS, 2)


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
@pytest.mark.parametrize("seed", [5, 6])
def test_files_that_come_and_go_equal_building_afresh(
    sample: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "_MOST_AFFECTED", 1.0)
    monkeypatch.setattr(refresh, "_MOST_NAMES", 10_000)
    root = copy_sample(tmp_path, sample)
    begin(root)
    check_sequence(root, seed, 5, 1, MOVES, 2)


@pytest.mark.parametrize("edit", sorted({*EDITS, *SMALL_EDITS, *MOVES}, key=lambda edit: edit.__name__))
def test_each_edit_alone(edit, tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    begin(root)
    Repository.open(root)
    done = edit(root, random.Random(4))
    check_equal(Repository.open(root), in_memory(root), [done], 0)


def test_going_there_and_back_gives_the_first_index_again(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    before = Repository.open(root)
    path = root / "src" / "security" / "jwt-verifier.ts"
    text = path.read_text()
    path.unlink()
    without = Repository.open(root)
    assert differences(without_stamps(before.index), without_stamps(without.index))
    path.write_text(text)
    check_equal(Repository.open(root), before, ["delete and restore"], len(QUESTIONS))
