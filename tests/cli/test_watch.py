"""`causalist watch` as a process: what changes is in the index soon, what is ignored wakes nobody."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue

import pytest

from causalist.store import read_index
from tests.cli.commands import CHECKOUT, write_all
from tests.edits import git

pytest.importorskip("watchfiles")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="interrupts are sent as POSIX sends them")


class Watching:
    """The command on a folder; `line` waits for what it says next."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "causalist", "watch", "--repo", str(root), "--debounce", "50"]
        # A shell has its background jobs ignore interrupts, and so would what they start.
        self.process = subprocess.Popen(
            command, cwd=root, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.put(line)

    def line(self, seconds: float = 60.0) -> str:
        return self.lines.get(timeout=seconds)


def names(root: Path) -> set[str]:
    index = read_index(root / ".causalist" / "index.bin")
    assert index is not None
    return set(index.graph.nodes.ids)


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not until():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_the_index_follows_the_files_until_it_is_interrupted(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write_all(root, {"cart.py": "def total(): ...\n", ".gitignore": "build/\n", "build/made.py": "def made(): ...\n"})
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    watching = Watching(root)
    try:
        assert "watching: 2 files" in watching.line()
        (root / "cart.py").write_text("def total(): ...\ndef discount(): ...\n")
        assert "refreshed: 2 files" in watching.line()
        assert "cart.py::discount" in names(root)
        (root / "build" / "made.py").write_text("def made_again(): ...\n")
        with pytest.raises(Empty):
            watching.line(1.5)
        (root / "deep" / "er").mkdir(parents=True)
        time.sleep(0.5)
        (root / "deep" / "er" / "ship.py").write_text("def ship(): ...\n")
        wait(lambda: "deep/er/ship.py::ship" in names(root))
        (root / "deep" / "er" / "ship.py").unlink()
        wait(lambda: "deep/er/ship.py::ship" not in names(root))
    finally:
        watching.process.send_signal(signal.SIGINT)
        code = watching.process.wait(30)
    assert code == 130
    said = []
    while not watching.lines.empty():
        said.append(watching.line())
    assert "interrupted" in said[-1] and not any("Traceback" in line for line in said)


@pytest.mark.slow
def test_head_of_a_linked_work_tree_is_watched(tmp_path: Path) -> None:
    """Its HEAD lies in the main repository; a checkout that changes no file is seen by that alone."""
    main, linked = tmp_path / "shop", tmp_path / "linked"
    write_all(main, {"cart.py": "def total(): ...\n"})
    git(main, "init", "-q")
    git(main, "add", "-A")
    git(main, "commit", "-q", "-m", "begin")
    git(main, "commit", "-q", "--allow-empty", "-m", "go on")
    git(main, "worktree", "add", "-q", "--detach", str(linked))
    watching = Watching(linked)
    try:
        assert "watching: 1 files" in watching.line()
        before = git(main, "rev-parse", "HEAD~1").strip()
        git(linked, "checkout", "-q", "--detach", before)
        assert "refreshed: 1 files" in watching.line()
        index = read_index(linked / ".causalist" / "index.bin")
        assert index is not None and index.commit == before
    finally:
        watching.process.send_signal(signal.SIGINT)
        watching.process.wait(30)
