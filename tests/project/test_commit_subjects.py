"""The check of commit subjects, as the commit-msg hook and CI call it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[2] / ".ci" / "check_commit_subject.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_commit_subject", _SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GOOD = (
    "rank: add the name-coverage signal",
    "store, rank: name the two walks",
    "test-data: x",
    "a: b",
    "_internal: read a file at once",
    "docs: " + "x" * 66,  # 72 characters
    "Merge branch 'w-docs'",
    'Revert "Rank names by all their words"',
    "fixup! rank: add the name-coverage signal",
)
BAD = (
    "",
    "Add a signal",
    "Rank: add a signal",
    "rank:add a signal",
    "rank: ",
    "rank add a signal",
    "rank, store, pack: three areas",
    "rank,store: no blank",
    "-rank: x",
    "2rank: x",
    "build(deps): bump x",
    "Merged: x",
    "fixup x",
    "docs: " + "x" * 67,  # 73 characters
)


@pytest.mark.parametrize("subject", GOOD)
def test_accepted(subject: str, script: ModuleType) -> None:
    assert script.fault_of(subject) == ""


@pytest.mark.parametrize("subject", BAD)
def test_refused(subject: str, script: ModuleType) -> None:
    assert script.fault_of(subject)


def test_the_length_is_named(script: ModuleType) -> None:
    assert script.fault_of("docs: " + "é" * 67) == "has 73 characters; at most 72 are allowed"


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("docs: say more\n\nBody: with a colon.\n", "docs: say more"),
        ("\n\n# written by git\ndocs: say more\n", "docs: say more"),
        ("docs: say more  \r\n", "docs: say more"),
        ("", ""),
        ("# only comments\n", ""),
        ("# ------------------------ >8 ------------------------\ndiff: no subject\n", ""),
    ],
)
def test_the_subject_of_a_message(message: str, subject: str, script: ModuleType) -> None:
    assert script.subject_of(message) == subject


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(_SCRIPT), *arguments],
        cwd=folder, env=_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=_environment(), capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def test_as_a_hook(tmp_path: Path) -> None:
    message = tmp_path / "COMMIT_EDITMSG"
    message.write_text("docs: say more\n\nBody.\n")
    done = check(tmp_path, str(message))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    message.write_text("Say more\n")
    done = check(tmp_path, str(message))
    assert done.returncode == 1
    assert done.stderr.startswith("'Say more': must have the form \"area: effect\"")


@pytest.mark.parametrize("arguments", [(), ("--since-base", "a", "b"), ("--help",)])
def test_other_arguments_get_the_usage(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = check(tmp_path, *arguments)
    assert done.returncode == 2
    assert "check_commit_subject.py FILE" in done.stderr


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """old (bad) -> base (bad) -> good, side (good), merge, revert."""
    git(tmp_path, "init", "-q", "-b", "main")
    for subject in ("Old one", "The base"):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", subject)
    git(tmp_path, "tag", "base")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "docs: say more")
    git(tmp_path, "checkout", "-q", "-b", "side", "base")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "rank: add a signal")
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "both together", "side")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", 'Revert "Old one"')
    return tmp_path


def test_commits_after_the_base_are_checked(
    history: Path, script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(history)
    monkeypatch.setattr(script, "BASE", git(history, "rev-parse", "base"))
    found = [subject for _, subject in script.subjects_since("base", "HEAD")]
    assert sorted(found) == ['Revert "Old one"', "docs: say more", "rank: add a signal"]
    assert script.main(["--since-base"]) == 0
    assert capsys.readouterr().out == "3 subjects checked\n"
    git(history, "commit", "-q", "--allow-empty", "-m", "Say more")
    assert script.main(["--since-base"]) == 1
    assert "'Say more'" in capsys.readouterr().err
    assert script.main(["--since-base", "HEAD~1"]) == 0


def test_a_history_without_the_base_is_no_success(history: Path) -> None:
    done = check(history, "--since-base")
    assert done.returncode == 2
    assert "fetch the whole history" in done.stderr
