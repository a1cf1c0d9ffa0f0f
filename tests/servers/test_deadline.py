"""`ask --deadline`: an answer within that time, from whatever index there is by then."""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.cli.commands import Done, invoke, left_behind, run
from tests.servers.wire import are_gone, children_of, write_large

pytestmark = pytest.mark.slow

# Processes start slowly where many run; what is tested is that nobody waits for the index, which takes many seconds.
SLACK = 6.0


def asked(folder: Path, seconds: float, *more: str, question: str = "price of an item") -> Done:
    return invoke("ask", question, "--repo", str(folder), "--deadline", str(seconds), *more)


def test_in_time_the_index_is_made_and_kept(small: Path) -> None:
    done = asked(small, 60)
    assert done.code == 0 and "price_of" in done.stdout and done.stderr == ""
    assert (small / ".causalist" / "index.bin").exists()
    (small / "shop" / "late.py").write_text("def price_of_late():\n    pass\n")
    done = asked(small, 60)
    assert done.code == 0 and "price_of_late" in done.stdout and done.stderr == ""
    again = asked(small, 60)
    assert again.stdout == done.stdout == invoke("ask", "price of an item", "--repo", str(small)).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_without_an_index_by_then_it_fails(large: Path) -> None:
    began = time.monotonic()
    done = asked(large, 1.5, question="what does a worker do")
    assert time.monotonic() - began < 1.5 + SLACK
    assert "run `causalist index` once" in done.failed("deadline")
    assert are_gone(children_of(os.getpid()))
    assert left_behind(large) == []


def test_the_last_index_answers_where_a_new_one_takes_too_long(small: Path) -> None:
    invoke("index", "--repo", str(small))
    write_large(small)
    began = time.monotonic()
    done = asked(small, 1.5)
    assert time.monotonic() - began < 1.5 + SLACK
    assert done.code == 0 and "price_of" in done.stdout and "(older than the files)" in done.stdout
    assert "note: deadline: answered from an index that may be older than the files: 1.5 s" in done.stderr
    strict = asked(small, 1.5, "--strict")
    assert (strict.code, strict.stdout) == (2, "") and "strict" in strict.stderr


def test_what_is_wrong_is_said_as_without_a_deadline(tmp_path: Path) -> None:
    assert asked(tmp_path, 60).found_nothing("nothing-to-index")
    assert asked(tmp_path / "nowhere", 60).failed("repository-not-found")


@pytest.mark.parametrize("seconds", ["0", "-2", "nan", "inf"])
def test_no_time_is_bad_usage(seconds: str, small: Path) -> None:
    message = run("ask", "price", "--deadline", seconds, cwd=small).failed("usage")
    assert "--deadline" in message and "must be above 0 seconds" in message
