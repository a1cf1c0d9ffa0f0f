"""The shell commands of all pages are run, as a reader runs them, unless a marker says why they are not.

They run one after the other in a copy of what the pages speak of, sample repositories and documentation, which is a git
repository of its own.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tests.docs.markdown import pages
from tests.docs.shell_blocks import REASONS, faults_of, shell_blocks
from tests.servers.ready_process import ready

pytestmark = pytest.mark.slow

_SECONDS = 120  # for one block, on a machine that does other things as well

RUN = [
    pytest.param(block.text, id=f"{page.relative_to(ROOT).as_posix()}:{block.line}")
    for page in pages()
    for block in shell_blocks(page.read_text(encoding="utf-8"))
    if not block.reason
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The program of this checkout is installed under its name, and no settings of the user count."""
    scripts = tmp_path_factory.mktemp("scripts")
    python = shlex.quote(sys.executable)
    program = shlex.join(ready([sys.executable, "-m", "causalist"]))
    for name, command in (("causalist", program), ("python", python), ("python3", python)):
        (scripts / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (scripts / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CAUSALIST_"))}
    home = tmp_path_factory.mktemp("home")
    return {
        **kept,
        "PATH": str(scripts) + os.pathsep + os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # those of this environment
    }


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """One copy for all blocks, so that each of its indexes is built once."""
    folder = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns(".causalist", "__pycache__", "node_modules")
    for name in ("sample_repos", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / ".gitignore", folder)
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--no-gpg-sign", "-m", "sample"),
    ):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True)
    return folder


@pytest.mark.parametrize("text", RUN)
@pytest.mark.slow
def test_the_block_runs(text: str, checkout: Path, environment: dict[str, str]) -> None:
    done = run(text, checkout, environment)
    assert done.returncode == 0, (
        f"this block ends with exit code {done.returncode}:\n{text}{done.stdout}{done.stderr}\n"
        "Correct it, or write a line `<!-- not run: REASON -->` before it. "
        f"REASON is one of {', '.join(REASONS)}, and the block has to show it."
    )


def run(text: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-e", "-u", "-o", "pipefail", "-c", text],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        timeout=_SECONDS, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_markers_have_a_reason_that_shows(page: Path) -> None:
    assert faults_of(page.read_text(encoding="utf-8")) == []


def test_most_of_the_readme_is_run() -> None:
    assert sum(str(each.id).startswith("README.md:") for each in RUN) >= 3


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("<!-- not run: boredom -->\n```bash\nls\n```\n", "line 1: the reason is 'boredom', not one of network,"),
        ("<!-- not run: network -->\n```bash\nls\n```\n", "line 2: nothing in the block shows the reason 'network'"),
        ("<!-- not run: network -->\n\n```bash\npip install a\n```\n", "line 1: no shell block follows the marker"),
        ("<!-- not run: network -->\n```python\nimport pip\n```\n", "line 1: no shell block follows the marker"),
    ],
)
def test_wrong_markers_are_found(page: str, fault: str) -> None:
    (found,) = faults_of(page)
    assert found.startswith(fault)


def test_markers_inside_of_a_block_are_text() -> None:
    assert faults_of("```text\n<!-- not run: boredom -->\n```\n") == []


def test_the_first_command_that_fails_ends_a_block(checkout: Path, environment: dict[str, str]) -> None:
    done = run("echo one\nfalse\necho two\n", checkout, environment)
    assert (done.returncode, done.stdout) == (1, "one\n")
