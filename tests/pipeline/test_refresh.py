"""Refreshing equals building afresh: the same edges, the same arrays and the same answers, to the last bit."""

import os
import random
from pathlib import Path

import pytest

from causalist.model.answer import AskOptions, Level
from causalist.pipeline import Repository
from tests.indexes import differences, without_stamps
from tests.pipeline.sample import QUESTIONS, copy_sample, edges_of, in_memory, plain_answer

_N_ROUNDS = 4


def _sources(root: Path) -> list[Path]:
    return sorted(path for path in (root / "src").rglob("*.ts"))


def _add_function(root: Path, chance: random.Random) -> str:
    path = chance.choice(_sources(root))
    number = chance.randrange(1000)
    with path.open("a") as file:
        file.write(f"\nexport function retryDelivery{number}(user: string) {{ return verifyToken(user); }}\n")
    return f"add a function to {path.name}"


def _remove_lines(root: Path, chance: random.Random) -> str:
    path = chance.choice(_sources(root))
    lines = path.read_text().splitlines(keepends=True)
    start = chance.randrange(len(lines))
    path.write_text("".join(lines[:start] + lines[start + chance.randrange(1, 9) :]))
    return f"remove lines of {path.name}"


def _delete(root: Path, chance: random.Random) -> str:
    path = chance.choice(_sources(root))
    path.unlink()
    return f"delete {path.name}"


def _rename(root: Path, chance: random.Random) -> str:
    path = chance.choice(_sources(root))
    path.rename(path.with_name(f"moved-{chance.randrange(1000)}-{path.name}"))
    return f"rename {path.name}"


def _swap(root: Path, chance: random.Random) -> str:
    one, other = chance.sample(_sources(root), 2)
    texts = one.read_text(), other.read_text()
    other.write_text(texts[0])
    one.write_text(texts[1])
    return f"swap {one.name} and {other.name}"


def _copy(root: Path, chance: random.Random) -> str:
    path = chance.choice(_sources(root))
    (root / "src" / f"copy-{chance.randrange(1000)}.ts").write_text(path.read_text())
    return f"copy {path.name}"


def _break(root: Path, chance: random.Random) -> str:
    path = chance.choice(_sources(root))
    path.write_text(path.read_text()[: chance.randrange(400)] + "}}}((( 'unfinished")
    return f"break {path.name}"


def _touch(root: Path, chance: random.Random) -> str:
    path = chance.choice(_sources(root))
    os.utime(path, ns=(10**18, 10**18 + chance.randrange(10**9)))
    return f"touch {path.name}"


def _prose(root: Path, chance: random.Random) -> str:
    (root / "docs" / "webhooks.md").write_text(f"# Hooks {chance.randrange(9)}\n\nA `verifyToken` call.\n")
    return "rewrite the documentation"


_EDITS = (_add_function, _remove_lines, _delete, _rename, _swap, _copy, _break, _touch, _prose)


def check_equal(refreshed: Repository, rebuilt: Repository, history: list[str]) -> None:
    told = " / ".join(history)
    assert edges_of(refreshed) == edges_of(rebuilt), told
    assert differences(without_stamps(refreshed.index), without_stamps(rebuilt.index)) == [], told
    for question in QUESTIONS:
        for level in Level:
            options = AskOptions(top_k=8, level=level)
            one, other = refreshed.ask(question, options), rebuilt.ask(question, options)
            assert plain_answer(one) == plain_answer(other), f"{question} after {told}"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_refreshing_equals_building_afresh(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    root = copy_sample(tmp_path)
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(10**18, 10**18))
    Repository.open(root)
    history: list[str] = []
    for _ in range(_N_ROUNDS):
        history += [chance.choice(_EDITS)(root, chance) for _ in range(chance.randrange(1, 4))]
        check_equal(Repository.open(root), in_memory(root), history)


def test_going_there_and_back_gives_the_first_index_again(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    before = Repository.open(root)
    path = root / "src" / "security" / "jwt-verifier.ts"
    text = path.read_text()
    path.unlink()
    without = Repository.open(root)
    assert differences(without_stamps(before.index), without_stamps(without.index))
    path.write_text(text)
    check_equal(Repository.open(root), before, ["delete and restore"])
