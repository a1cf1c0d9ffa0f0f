"""Several processes work on one repository at once: each gets a whole answer, and the same one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causalist.store import FOLDER, INDEX_NAME, read_index
from tests.cli.commands import CHECKOUT, left_behind
from tests.pipeline.sample import copy_sample

pytestmark = pytest.mark.slow

_QUESTION = "where are failed deliveries retried?"


def start(root: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "causalist", *arguments, "--repo", str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )


def test_two_that_index_and_three_that_ask(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    running = [start(root, "index") for _ in range(2)] + [start(root, "ask", _QUESTION) for _ in range(3)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in running]
    assert [code for _, code in ended] == [0] * 5, [told for told, _ in ended]
    assert [err for (_, err), _ in ended[2:]] == ["", "", ""]
    assert len({out for (out, _), _ in ended[2:]}) == 1
    assert read_index(root / FOLDER / INDEX_NAME) is not None
    assert left_behind(root) == []


def test_asking_while_files_change(tmp_path: Path) -> None:
    """Whoever asks gets the state before or after a change, never something between."""
    root = copy_sample(tmp_path)
    assert start(root, "index").wait(120) == 0
    changed = root / "src" / "webhooks" / "retry-policy.ts"
    assert changed.exists()
    running = []
    for number in range(4):
        changed.write_text(f"export function retryDelivery() {{ return 'state{number}'; }}\n")
        running.append(start(root, "ask", "retryDelivery", "--top-k", "1"))
    ended = [(process.communicate(timeout=120), process.returncode) for process in running]
    assert [code for _, code in ended] == [0] * 4, [told for told, _ in ended]
    for (out, _), _ in ended:
        assert sum(f"state{number}" in out for number in range(4)) == 1, out
    assert left_behind(root) == []
