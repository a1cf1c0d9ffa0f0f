"""A repository that keeps itself current: what is waited for, what is answered meanwhile, what happens if it fails."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.errors import IndexingStopped, NothingToIndex
from causalist.pipeline.repository import Repository
from causalist.servers import index_job as job
from causalist.servers import live_repository as live
from causalist.servers.index_job import IndexJob, Stage
from causalist.servers.live_repository import FreshnessReport, LiveRepository, LiveView

pytestmark = pytest.mark.slow

LONG = 60.0


async def silent(stage: Stage) -> None:
    return None


def driven(root: Path, *steps: Callable[[LiveRepository], Any]) -> list[Any]:
    """What the steps return, each awaited if need be; processes are ended afterwards."""

    async def drive() -> list[Any]:
        repository = LiveRepository(root, LONG)
        results = []
        try:
            for step in steps:
                result = step(repository)
                results.append(await result if asyncio.iscoroutine(result) else result)
        finally:
            repository.stop()
        return results

    return asyncio.run(drive())


def look(repository: LiveRepository) -> Any:
    return repository.view(LONG, silent)


def names(view: LiveView) -> set[str]:
    assert view.repository is not None
    return {node for node in view.repository.index.graph.nodes.ids if "::" in node}


def test_an_index_is_made_and_kept(small: Path) -> None:
    (first, second) = driven(small, look, look)
    assert first == LiveView(first.repository, 1) and "shop/cart.py::Cart.total" in names(first)
    assert second.repository is first.repository
    assert (small / ".causalist" / "index.bin").exists()
    # What the process stored is what this one would have made.
    assert [*first.repository.index.graph.nodes.ids] == [*Repository.open(small, exact_root=True).index.graph.nodes.ids]


def test_a_stored_index_needs_no_process(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Repository.open(small, exact_root=True)

    def refuse(root: Path) -> None:
        raise AssertionError("started a process")

    monkeypatch.setattr(live, "IndexJob", refuse)
    (view,) = driven(small, lambda r: r.view(0, silent))
    assert "shop/cart.py::Cart.total" in names(view) and view.stage is None


def test_what_has_changed_is_looked_at_before_every_answer(small: Path) -> None:
    def change(_: LiveRepository) -> None:
        (small / "shop" / "new.py").write_text("def added():\n    return 1\n")
        (small / "shop" / "report.py").unlink()

    before, _, after = driven(small, look, change, look)
    assert names(after) - names(before) == {"shop/new.py::added"}
    assert "shop/report.py::print_invoice" in names(before) - names(after)


def test_the_older_index_answers_until_the_newer_one_is_there(small: Path) -> None:
    def change(_: LiveRepository) -> None:
        (small / "shop" / "new.py").write_text("def added():\n    return 1\n")

    before, _, meanwhile, after = driven(small, look, change, lambda r: r.view(0, silent), look)
    assert meanwhile.repository is before.repository and meanwhile.stage is not None
    assert (
        meanwhile.behind == FreshnessReport(False, ("shop/new.py",)) and meanwhile.generation == before.generation == 1
    )
    assert (
        after.stage is None and after.behind is None and after.generation == 2 and "shop/new.py::added" in names(after)
    )


def test_a_newer_index_is_not_waited_for_as_long_as_the_first(small: Path) -> None:
    async def drive() -> tuple[LiveView, LiveView]:
        repository = LiveRepository(small, 0.0)
        try:
            first = await repository.view(LONG, silent)
            (small / "shop" / "new.py").write_text("def added():\n    return 1\n")
            return first, await repository.view(LONG, silent)
        finally:
            repository.stop()

    first, second = asyncio.run(drive())
    assert "shop/cart.py::Cart.total" in names(first) and first.behind is None
    assert second.repository is first.repository and second.behind == FreshnessReport(False, ("shop/new.py",))


def test_a_file_that_was_saved_as_it_was_needs_no_new_index(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Repository.open(small, exact_root=True)
    monkeypatch.setattr(live, "IndexJob", None)
    content = (small / "shop" / "cart.py").read_bytes()

    def save(_: LiveRepository) -> None:
        (small / "shop" / "cart.py").write_bytes(content)

    before, _, after = driven(small, look, save, look)
    assert after == before and after.behind is None


def test_the_same_size_and_time_with_another_content_is_a_change(small: Path) -> None:
    """While the time of a file is too new to tell, its content decides."""

    def write(value: int) -> None:
        (small / "shop" / "new.py").write_text(f"def added_{value}():\n    return {value}\n")
        os.utime(small / "shop" / "new.py", ns=(time_of_new, time_of_new))

    time_of_new = time.time_ns()
    write(1)
    before, _, after = driven(small, look, lambda _: write(2), look)
    assert "shop/new.py::added_1" in names(before)
    assert "shop/new.py::added_2" in names(after) and "shop/new.py::added_1" not in names(after)


def test_one_process_does_one_job_after_the_other(small: Path) -> None:
    numbers = []

    def edit(repository: LiveRepository) -> None:
        (worker,) = job._idle_workers._by_root.values()
        numbers.append(worker.process.pid)
        (small / "shop" / "new.py").write_text(f"def added():\n    return {len(numbers)}\n")

    driven(small, look, edit, look, edit, look, edit)
    assert len(numbers) == 3 and len(set(numbers)) == 1
    assert job._idle_workers._by_root == {}


def test_a_process_that_was_killed_while_it_waited_is_replaced(small: Path) -> None:
    def kill(repository: LiveRepository) -> None:
        (worker,) = job._idle_workers._by_root.values()
        os.killpg(worker.process.pid, signal.SIGKILL)
        (small / "shop" / "new.py").write_text("def added():\n    return 1\n")

    _, _, view = driven(small, look, kill, look)
    assert "shop/new.py::added" in names(view)


def test_an_index_that_another_process_made_is_taken(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def edit_and_index(_: LiveRepository) -> None:
        (small / "shop" / "new.py").write_text("def added():\n    return 1\n")
        Repository.open(small, exact_root=True)
        monkeypatch.setattr(live, "IndexJob", None)

    before, _, after = driven(small, look, edit_and_index, look)
    assert "shop/new.py::added" in names(after) and after.generation == before.generation + 1


def test_nothing_to_index(tmp_path: Path) -> None:
    with pytest.raises(NothingToIndex):
        driven(tmp_path, look)
    assert not (tmp_path / ".causalist").exists()


def test_several_wait_for_one_process(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[IndexJob] = []

    def start(root: Path) -> IndexJob:
        started.append(IndexJob(root))
        return started[-1]

    monkeypatch.setattr(live, "IndexJob", start)

    async def three(repository: LiveRepository) -> list[LiveView]:
        return await asyncio.gather(look(repository), look(repository), look(repository))

    (views,) = driven(small, lambda r: three(r))
    assert len(started) == 1
    assert len({id(view.repository) for view in views}) == 1


def test_preparing_begins_before_anyone_asks(small: Path) -> None:
    async def prepared(repository: LiveRepository) -> None:
        await repository.prepare()
        assert repository._job is not None
        while not repository._job.ended.is_set():
            await asyncio.sleep(0.02)

    _, view = driven(small, prepared, lambda r: r.view(0, silent))
    assert "shop/cart.py::Cart.total" in names(view)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
class TestFailure:
    def test_a_killed_process_is_an_error_and_the_next_call_starts_another(
        self, large: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def killed(repository: LiveRepository) -> str:
            await repository.prepare()
            assert repository._job is not None
            os.killpg(repository._job._process.pid, signal.SIGKILL)
            with pytest.raises(IndexingStopped) as caught:
                await look(repository)
            assert repository._job is None
            meanwhile = await repository.view(0, silent)
            assert meanwhile.repository is None and meanwhile.stage is not None
            return str(caught.value)

        (message,) = driven(large, killed)
        assert "ended by signal 9" in message and str(large) in message

    def test_the_older_index_answers_where_a_newer_one_fails(
        self, small: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_: LiveRepository) -> None:
            (small / "shop" / "new.py").write_text("def added():\n    return 1\n")
            job.end_idle_worker(small)
            monkeypatch.setattr(job, "_START", "import os; os._exit(7)")

        before, _, after = driven(small, look, fail, look)
        assert after.repository is before.repository
        assert "ended with exit code 7" in str(after.failure)
        assert after.behind is not None and after.behind.changed == ("shop/new.py",)

    def test_all_who_wait_are_told_of_a_failure(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(job, "_START", "import time; time.sleep(1); raise SystemExit(7)")

        async def ask(repository: LiveRepository) -> list[Any]:
            return await asyncio.gather(*(look(repository) for _ in range(3)), return_exceptions=True)

        (results,) = driven(small, ask)
        assert [type(each) for each in results] == [IndexingStopped] * 3

    def test_a_defect_is_an_error(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        broken = (
            "import causalist.pipeline.repository as p; p.Repository.open = None; "
            "from causalist.servers import index_job as c; "
        )
        monkeypatch.setattr(job, "_START", f"import sys; {broken} c.main(sys.argv[2:])")
        with pytest.raises(IndexingStopped, match="indexing failed: TypeError"):
            driven(small, look)

    def test_a_process_that_cannot_be_started(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", str(small / "python"))
        with pytest.raises(IndexingStopped, match="cannot start"):
            driven(small, look)

    def test_a_folder_that_cannot_be_written(
        self, small: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(small.with_name("cache")))
        (small / ".causalist").symlink_to(small / "elsewhere")
        first, second = driven(small, look, look)
        assert "shop/cart.py::Cart.total" in names(first) and second.repository is first.repository
        # Said once, on standard error, and not in every answer.
        (said,) = caplog.messages
        assert said.startswith("index-not-writable: ") and first.repository.notes == ()
        assert not (small / "elsewhere").exists()
        monkeypatch.setattr(live, "IndexJob", None)  # what is stored in the cache folder needs no process
        (third,) = driven(small, look)
        assert names(third) == names(first)

    @pytest.mark.skipif(sys.platform != "linux", reason="names the folders that are used there")
    def test_no_folder_can_be_written(
        self, small: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        temporary = small.with_name("temporary")
        temporary.mkdir()
        monkeypatch.setenv("TMPDIR", str(temporary))
        monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
        (small / ".causalist").symlink_to(small / "elsewhere")
        first, second = driven(small, look, look)
        assert "shop/cart.py::Cart.total" in names(first) and second.repository is first.repository
        assert "kept in memory only" in caplog.messages[-1]
        assert [*temporary.iterdir()] == []


class TestStage:
    def test_in_words(self) -> None:
        assert str(Stage("indexing words", 7, 7)) == "7 of 7 files parsed, now indexing words"
        assert str(Stage("linking", 0, 0)) == "linking"

    def test_percent_rises(self) -> None:
        stages = [
            Stage(),
            Stage("parsing", 0, 9),
            Stage("parsing", 5, 9),
            Stage("parsing", 9, 9),
            Stage("linking", 9, 9),
        ]
        percents = [stage.percent for stage in [*stages, Stage("indexing words", 9, 9)]]
        assert percents == sorted(percents) and percents[0] == 0 and percents[-1] < 100


class TestManyAtOnce:
    def test_one_look_at_the_files_serves_all_who_ask_meanwhile(
        self, small: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Repository.open(small, exact_root=True)
        looks = []
        compared = LiveRepository._compare_index

        def counted(repository: LiveRepository, known: Repository | None) -> Any:
            looks.append(repository)
            return compared(repository, known)

        monkeypatch.setattr(LiveRepository, "_compare_index", counted)

        async def ask(repository: LiveRepository) -> list[LiveView]:
            return await asyncio.gather(*(repository.view(LONG, silent) for _ in range(30)))

        ((*views,),) = driven(small, ask)
        assert len({id(view.repository) for view in views}) == 1 and len(views) == 30
        # The one that was under way when the others came, and the next.
        assert len(looks) <= 2

    def test_whoever_asks_after_an_edit_gets_it_though_a_look_is_under_way(
        self, small: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Repository.open(small, exact_root=True)
        began, go_on = threading.Event(), threading.Event()
        compared = LiveRepository._compare_index

        def slow(repository: LiveRepository, known: Repository | None) -> Any:
            result = compared(repository, known)
            began.set()
            assert go_on.wait(LONG)  # the files have been looked at, and nobody knows yet
            return result

        monkeypatch.setattr(LiveRepository, "_compare_index", slow)

        async def ask(repository: LiveRepository) -> tuple[LiveView, LiveView]:
            first = asyncio.ensure_future(repository.view(LONG, silent))
            while not began.is_set():
                await asyncio.sleep(0.01)
            (small / "shop" / "late.py").write_text("def late():\n    return 1\n")
            second = asyncio.ensure_future(repository.view(LONG, silent))
            await asyncio.sleep(0.05)
            go_on.set()
            return await first, await second

        ((first, second),) = driven(small, ask)
        assert "shop/late.py::late" not in names(first) and "shop/late.py::late" in names(second)

    def test_a_look_that_another_index_overtook_is_repeated(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The stored index is current, and while that was found out a job has brought another one."""
        Repository.open(small, exact_root=True)
        compared = LiveRepository._compare_index

        async def ask(repository: LiveRepository) -> tuple[LiveView, LiveView]:
            before = await look(repository)
            (small / "shop" / "late.py").write_text("def late():\n    return 1\n")
            Repository.open(small, exact_root=True)
            known = repository._repository

            def overtaken(live: LiveRepository, known_then: Repository | None) -> Any:
                found = compared(live, known_then)
                monkeypatch.setattr(LiveRepository, "_compare_index", compared)
                live._repository, live._generation = known, live._generation + 1  # one more that is not current
                return found

            monkeypatch.setattr(LiveRepository, "_compare_index", overtaken)
            return before, await look(repository)

        ((before, after),) = driven(small, ask)
        assert "shop/late.py::late" in names(after) and after.generation == before.generation + 2

    def test_an_error_reaches_everyone(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> bool:
            raise NothingToIndex("nothing here")

        monkeypatch.setattr(LiveRepository, "_compare_index", broken)

        async def ask(repository: LiveRepository) -> list[Any]:
            return await asyncio.gather(*(repository.view(LONG, silent) for _ in range(5)), return_exceptions=True)

        (results,) = driven(small, ask)
        assert [type(each) for each in results] == [NothingToIndex] * 5
