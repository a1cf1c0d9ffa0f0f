"""An answer that is due, and steps that do not end: in C, in `re`, in Python; steps that end their process."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from causalist.errors import DeadlinePassed, UsageError
from causalist.model.protocols import STAGES
from causalist.pipeline import repository as pipeline
from causalist.pipeline import retries as attempts
from causalist.pipeline import text_search as literals
from causalist.pipeline.guarded_steps import Session
from causalist.pipeline.repository import Repository
from causalist.servers import deadline_process, question_worker
from tests.cli.commands import CHECKOUT, Done, invoke
from tests.servers.wire import RawServer, are_gone, children_of

T = TypeVar("T")
QUESTION = 'what prints "price of an item" here'  # words, and a literal: an optional step
SECONDS = 3.0
PROMISED = 0.5  # seconds by which an answer may be late

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is forked"),
]


def ask(folder: Path, seconds: float = SECONDS, question: str = QUESTION, *more: str) -> Done:
    return invoke("ask", question, "--repo", str(folder), "--deadline", str(seconds), *more)


def in_time(work: Callable[[], Done], said: str, seconds: float = SECONDS) -> Done:
    """How a command ends that has to say something. It has to end in time at least once in three tries: other programs
    run, too."""
    for _ in range(3):
        began = time.monotonic()
        done = work()
        late = time.monotonic() - began - seconds
        if late < PROMISED and said in done.stderr:
            return done
    raise AssertionError(f"three times late or another message; now late by {late:.2f} s: {done.stderr}")


def patiently(work: Callable[[], T]) -> T:
    """What `work` returns in one of three tries: on a busy machine an answer may not be ready after a stopped step."""
    for _ in range(2):
        with suppress(DeadlinePassed):
            return work()
    return work()


def in_c(*_: object, **__: object) -> None:
    """Lets nothing else of Python run for hours: no handler of a signal, no other thread."""
    sum(range(10**12))


def in_re(*_: object) -> None:
    """The module looks at signals while it matches."""
    re.compile(r"(?:\w|\w\w?)+!$").match("a" * 60)


def in_python(*_: object) -> None:
    while True:
        try:
            time.sleep(60)
        except Exception:  # swallows what it can
            continue


def killed(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def indexed(small: Path) -> Path:
    assert invoke("index", "--repo", str(small)).code == 0
    return small


@pytest.mark.parametrize("stuck", [in_c, in_re, in_python, killed])
def test_a_step_that_does_not_end_is_left_out(
    stuck: Callable[..., None], indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(literals, "find_all_matches", stuck)
    done = in_time(partial(ask, indexed), "left out to answer within 3 s: candidates.literals (stopped)")
    assert done.code == 0 and "def price_of" in done.stdout
    assert are_gone(children_of(os.getpid()))


def test_python_is_stopped_where_it_stands_and_what_was_done_is_kept(
    indexed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The step sees the exception, so that its process was not ended."""

    def work(*_: object) -> None:
        try:
            in_python()
        finally:
            (tmp_path / "stopped").touch()

    monkeypatch.setattr(literals, "find_all_matches", work)
    assert ask(indexed).code == 0
    assert (tmp_path / "stopped").exists()


def test_of_two_steps_that_do_not_end_both_are_named(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ends its process and the second that of the spare; a third one answers."""
    monkeypatch.setattr(literals, "find_all_matches", killed)
    monkeypatch.setattr(attempts, "confidence_of", killed)
    done = ask(indexed, 30.0)
    assert done.code == 0 and "def price_of" in done.stdout
    assert "candidates.literals (stopped), deliver.confidence (stopped)" in done.stderr


def test_a_step_that_has_to_be_is_named_where_there_is_no_answer(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "render_answer_pack", in_c)
    said = "no answer within 3 s: deliver.packing had not ended by then; give more time"
    assert in_time(partial(ask, indexed), said).failed("deadline")
    assert are_gone(children_of(os.getpid()))
    monkeypatch.setattr(pipeline, "render_answer_pack", killed)
    assert "deliver.packing ended the process that answers" in ask(indexed, 30.0).failed("deadline")


def test_an_index_that_is_not_opened_in_time_is_said(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_worker, "open_in_time", in_c)
    said = "no answer within 3 s: opening the index had not ended by then"
    assert in_time(partial(ask, small), said).failed("deadline")


def test_nothing_found_is_not_said_where_a_step_was_stopped(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(literals, "find_all_matches", killed)
    message = ask(indexed, 30.0, 'zyx "wvu zyx"').failed("deadline")
    assert "nothing was found within 30 s; left out to answer within 30 s: candidates.literals (stopped)" in message


def test_with_time_enough_all_is_as_without_a_deadline(indexed: Path) -> None:
    for more in ((), ("--json",), ("--level", "file")):
        whole = invoke("ask", QUESTION, "--repo", str(indexed), *more)
        done = ask(indexed, 60.0, QUESTION, *more)
        times = re.compile(r'"timings_ms": \{[^}]*\}')
        assert (done.code, done.stderr) == (whole.code, whole.stderr)
        assert times.sub("", done.stdout) == times.sub("", whole.stdout)


def test_errors_are_those_of_the_process_that_answers(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("deep inside")

    monkeypatch.setattr(pipeline, "render_answer_pack", fail)
    assert "internal: KeyError: 'deep inside'" in ask(indexed, 60.0).stderr
    monkeypatch.setenv("CAUSALIST_TRACEBACK", "1")
    assert "in fail\n" in ask(indexed, 60.0).stderr


class TestWithoutForks:
    """As on Windows and macOS: a process that begins with nothing."""

    @pytest.fixture(autouse=True)
    def no_fork(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(deadline_process, "CAN_FORK", False)

    def test_the_answer_is_the_same(self, indexed: Path) -> None:
        done, whole = ask(indexed, 60.0), invoke("ask", QUESTION, "--repo", str(indexed))
        assert (done.code, done.stdout, done.stderr) == (0, whole.stdout, "")
        assert ask(indexed / "nowhere", 60.0).failed("repository-not-found")

    @pytest.mark.parametrize(("stuck", "said"), [
        ("in_python", "left out to answer within 6 s: candidates.dense (stopped)"),
        ("in_c", "no answer within 6 s: candidates.dense had not ended by then"),
    ])  # fmt: skip
    def test_a_step_that_does_not_end(
        self, stuck: str, said: str, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An embedder, because whatever is patched here is as it was in a process that begins with nothing."""
        info = tmp_path / "packages" / "causalist_stuck-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: causalist-stuck\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            f"[causalist.embedders]\nstuck = tests.servers.test_deadline_process:{stuck}\n"
        )
        monkeypatch.syspath_prepend(str(info.parent))
        done = in_time(lambda: ask(indexed, 6.0, QUESTION, "--embedder", "stuck"), said, 6.0)
        assert (done.code, "def price_of" in done.stdout) == ((0, True) if stuck == "in_python" else (2, False))
        assert are_gone(children_of(os.getpid()))


def test_the_worker_ends_with_the_process_that_started_it(indexed: Path) -> None:
    code = (
        "import sys\nfrom causalist.pipeline import text_search as literals\n"
        "from tests.servers.test_deadline_process import in_python\n"
        "literals.find_all_matches = in_python\nfrom causalist.cli import main\nmain()\n"
    )
    command = [sys.executable, "-c", code, "ask", QUESTION, "--repo", str(indexed), "--deadline", "4"]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not (below := children_of(process.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert below and are_gone(below)


def test_without_a_deadline_nothing_of_this_is_loaded(indexed: Path) -> None:
    code = (
        "import os, sys\nos._exit = lambda code: None\nfrom causalist.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith('causalist.servers')], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "ask", QUESTION, "--repo", str(indexed)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"


class TestServers:
    """A server forks the process that answers from the repository that it has open."""

    @pytest.fixture
    def served(self, indexed: Path) -> Repository:
        return replace(
            Repository.open(indexed), session=Session(ask_in_time=partial(deadline_process.ask_in_child, SECONDS))
        )

    def test_the_answer_is_the_same_and_cached(self, served: Repository, indexed: Path) -> None:
        whole = Repository.open(indexed).ask(QUESTION)
        first = served.ask(QUESTION)
        assert replace(first, timings_ms={}) == replace(whole, timings_ms={})
        assert first.timings_ms.keys() == whole.timings_ms.keys()
        assert served.session is not None and len(served.session.answers) == 1
        assert set(served.ask(QUESTION).timings_ms) == {"route", "route.cache", *STAGES}
        changed = next(path for path in indexed.rglob("*.py") if "def price_of" in path.read_text())
        changed.write_text("\n" + changed.read_text())
        assert "stale" in {d.slug for d in served.ask(QUESTION).diagnostics}

    @pytest.mark.parametrize("stuck", [in_c, in_re, in_python, killed])
    def test_a_step_that_does_not_end_is_left_out(
        self, stuck: Callable[..., None], served: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(literals, "find_all_matches", stuck)
        answer = patiently(lambda: served.ask(QUESTION))
        assert "candidates.literals (stopped)" in "".join(d.detail for d in answer.diagnostics if d.slug == "deadline")
        assert answer.pack is not None and "def price_of" in answer.pack.text
        assert served.session is not None and len(served.session.answers) == 0
        assert are_gone(children_of(os.getpid()))

    def test_a_step_that_keeps_failing_is_skipped(self, served: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise UsageError("no such thing")

        monkeypatch.setattr(literals, "find_all_matches", fail)
        said = [next(d.detail for d in served.ask(QUESTION).diagnostics if d.slug == "step-skipped") for _ in range(4)]
        assert ["not tried after 3 failures in a row" in each for each in said] == [False, False, False, True]

    def test_without_forks_steps_are_left_out_in_time(
        self, served: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(deadline_process, "CAN_FORK", False)
        assert served.ask(QUESTION).pack is not None
        assert served.session is not None and len(served.session.answers) == 1

    def test_a_server_answers_others_while_one_answer_is_stuck(self, indexed: Path) -> None:
        """The step holds the interpreter lock: in the server's own process, nobody would get an answer."""
        code = (
            "from causalist.pipeline import text_search as literals\n"
            "from tests.servers.test_deadline_process import in_c\n"
            "literals.find_all_matches = in_c\nfrom causalist.cli import main\nmain()\n"
        )
        program = [sys.executable, "-c", code, "serve", "mcp", "--repo", str(indexed), "--wait", "60"]
        with RawServer(indexed, program=[*program, "--deadline", "6"]) as server:
            server.start()
            call = {"name": "ask", "arguments": {"question": QUESTION}}
            message = {"jsonrpc": "2.0", "id": "stuck", "method": "tools/call", "params": call}

            def ask_and_ping() -> str:
                began = time.monotonic()
                server.write(json.dumps(message).encode() + b"\n")
                time.sleep(0.5)
                server.request("ping")
                assert time.monotonic() - began < 4.0
                text: str = server.response("stuck")["result"]["content"][0]["text"]
                if text.startswith("deadline: "):
                    raise DeadlinePassed(text)
                return text

            text = patiently(ask_and_ping)
            assert "candidates.literals (stopped)" in text and "def price_of" in text
