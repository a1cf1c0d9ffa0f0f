"""The README's first commands have the form that people copy, and the output that it shows is real.

The commands run on a copy of the sample repository inside a git repository of its own, as in a checkout. What may
differ are the commit and the number of tokens, which the commit's digits change. A line `[...]` stands for lines that
are left out.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs import recording
from tests.docs.blocks import ROOT
from tests.docs.commands import commands_of
from tests.docs.markdown import Fenced, fenced_blocks

README = ROOT / "README.md"
OMITTED = "[...]"
_COMMIT = re.compile(r" @ [0-9a-f]{7}\b")
_TOKENS = re.compile(r"\b\d+ tokens\b")


@pytest.fixture(scope="module")
def text() -> str:
    return README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository that holds nothing but a copy of the sample repositories."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(
        ROOT / "sample_repos", folder / "sample_repos", ignore=shutil.ignore_patterns(".causalist", "__pycache__")
    )
    shutil.copy(ROOT / ".gitignore", folder)
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--no-gpg-sign", "-m", "sample"),
    ):
        subprocess.run(["git", *command], cwd=folder, env=_environment(), check=True)
    return folder


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "causalist", *words],
        cwd=folder, env=_environment(), capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


def bash_blocks(text: str) -> list[Fenced]:
    return [block for block in fenced_blocks(text) if block.language == "bash"]


def test_the_first_block_installs_and_asks(text: str) -> None:
    """One line that a fresh clone needs nothing else for."""
    (line,) = bash_blocks(text)[0].text.splitlines()
    environment, install, ask = line.split(" && ")
    assert environment == "python3 -m venv .venv"
    assert install == ".venv/bin/pip install -q ."
    assert ask.startswith(".venv/bin/causalist ask ") and "--repo sample_repos/taskboard-api" in ask


def test_the_second_block_runs_all_tests(text: str) -> None:
    (line,) = bash_blocks(text)[1].text.splitlines()
    environment, install, tests = line.split(" && ")
    assert environment == "python3 -m venv .venv"
    assert install == ".venv/bin/pip install -q -e '.[dev]'"
    assert tests == ".venv/bin/python -m pytest -n 3 --dist loadfile"


@pytest.mark.slow
def test_the_output_shown_is_real(text: str, checkout: Path) -> None:
    first = bash_blocks(text)[0]
    shown = next(b for b in fenced_blocks(text) if b.language == "text" and b.line > first.line)
    ((_, words),) = [c for c in commands_of(text) if c[0] == first.line]
    done = run(words, checkout)
    assert done.returncode == 0, done.stderr
    difference = compare(shown.text, done.stdout)
    assert not difference, f"{difference}\n\n{done.stdout}"


@pytest.mark.slow
def test_the_picture_shows_real_output(tmp_path: Path, update_golden: bool) -> None:
    drawn = recording.record(recording.make_repository(tmp_path / "taskboard-api"))
    if update_golden:
        recording.PICTURE.write_text(drawn, encoding="utf-8")
    assert recording.PICTURE.read_text(encoding="utf-8") == drawn, "python -m tests.docs.recording draws it again"
    ElementTree.fromstring(drawn)


def test_the_files_at_the_end_of_the_chain_do_not_say_auth() -> None:
    for name in ("jwt-verifier.ts", "crypto-utils.ts"):
        source = (ROOT / "sample_repos/taskboard-api/src/security" / name).read_text(encoding="utf-8")
        assert "auth" not in source.lower(), name


def compare(shown: str, real: str) -> str:
    """What of `shown` does not stand in `real`, in order; "" if all of it does.

    >>> compare("a\\n[...]\\nd\\n", "a\\nb\\nc\\nd\\n"), compare("a\\n[...]\\nd\\n", "a\\nd\\ne\\n")
    ('', 'the output goes on after what is shown')
    """
    lines = _normalised(real)
    position, is_free = 0, False
    for segment in _segments(_normalised(shown)):
        if segment is None:
            is_free = True
            continue
        places = range(position, len(lines) - len(segment) + 1) if is_free else range(position, position + 1)
        place = next((i for i in places if lines[i : i + len(segment)] == segment), -1)
        if place < 0:
            return "these lines are not in the output where they are shown:\n" + "\n".join(segment)
        position, is_free = place + len(segment), False
    return "" if is_free or position == len(lines) else "the output goes on after what is shown"


def _segments(lines: list[str]) -> list[list[str] | None]:
    """Runs of lines, and None for each `[...]`."""
    segments: list[list[str] | None] = []
    for line in lines:
        if line.strip() == OMITTED:
            segments.append(None)
        elif segments and segments[-1] is not None:
            segments[-1].append(line)
        else:
            segments.append([line])
    return segments


def _normalised(text: str) -> list[str]:
    text = _TOKENS.sub("N tokens", _COMMIT.sub("", text))
    return [line.rstrip() for line in text.strip("\n").splitlines()]
