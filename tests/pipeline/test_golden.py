"""Golden packs and ranks of the sample repository. `pytest --update-golden` rewrites them; read the diff."""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from causalist.model.answer import AskOptions, Level, Specificity
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import QUESTIONS, WHERE_AUTH

_GOLDEN = Path(__file__).parent / "golden"
_COLUMNS = ("question", "level", "specificity", "rank", "node", "top_reason")
_TOP_K = 10  # ranks below say little and change often


def check_golden(name: str, text: str, update: bool) -> None:
    path = _GOLDEN / name
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    assert path.exists(), f"no {path}; run pytest --update-golden, then read the file"
    assert text == path.read_bytes().decode(), f"{name} changed; if it should, run pytest --update-golden"


@pytest.mark.slow
@pytest.mark.parametrize("level", list(Level))
def test_pack(level: Level, sample: Repository, update_golden: bool) -> None:
    pack = sample.ask(WHERE_AUTH, AskOptions(top_k=8, level=level)).pack
    assert pack is not None
    check_golden(f"where-auth.{level}.txt", pack.text, update_golden)


def rank_rows(repository: Repository, questions: Iterable[str]) -> Iterator[tuple[object, ...]]:
    for question in questions:
        for level in Level:
            for specificity in (Specificity.LOG, Specificity.NONE):
                options = AskOptions(top_k=_TOP_K, level=level, specificity=specificity)
                for rank, hit in enumerate(repository.ask(question, options).results, start=1):
                    reason = ": ".join(part for part in (hit.reasons[0].signal, hit.reasons[0].detail) if part)
                    yield question, level, specificity, rank, hit.id, reason


def written(rows: Iterable[tuple[object, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(rows)
    return out.getvalue()


@pytest.mark.slow
def test_ranks(sample: Repository, update_golden: bool) -> None:
    check_golden("ranks.csv", written(rank_rows(sample, QUESTIONS)), update_golden)
