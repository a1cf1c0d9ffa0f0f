"""docs/python.md is what the docstrings say, and its example runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import causalist
from causalist.pipeline.repository import Repository
from tests.docs import python_page
from tests.docs.blocks import ROOT, blocks_of
from tests.docs.markdown import fenced_blocks


def text() -> str:
    return python_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_in_sync() -> None:
    assert blocks_of(text(), "generated") == python_page.contents(), (
        "read the difference, then `python -m tests.docs.python_page --write`"
    )


def test_every_public_name_and_method_is_there() -> None:
    for name in causalist.__all__:
        assert f"\n## `{name}`\n" in text()
    methods = {name for name, _ in python_page.members(Repository)}
    assert {"open", "ask", "find", "show", "callers", "impact", "verify", "map"} <= methods
    for name in methods:
        assert f"\n### `Repository.{name}`\n" in text()
    # Of each a reader learns what it gives and takes.
    assert "object at 0x" not in text() and "<class" not in text() and "<function" not in text()


@pytest.mark.slow
def test_the_example_runs(tmp_path: Path) -> None:
    example = next(block.text for block in fenced_blocks(text()) if block.language == "python")
    shutil.copytree(
        ROOT / "sample_repos" / "taskboard-api", tmp_path / "sample_repos" / "taskboard-api",
        ignore=shutil.ignore_patterns(".causalist"),
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("src/middleware/auth-middleware.ts:41  authenticateUser  ")
    assert "# where does user authentication happen?" in lines
    assert "1 src/middleware/auth-middleware.ts::acceptToken" in lines
