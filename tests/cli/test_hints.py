"""What is said below a command line that is not understood, where it can be told what was meant."""

import shlex
from pathlib import Path

import pytest

from tests.cli.commands import invoke


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("ask where does auth happen", 'causalist ask "where does auth happen"'),
        ("ask 'what is' $x", "causalist ask 'what is $x'"),
        ("'where does auth happen'", 'causalist ask "where does auth happen"'),
        ("memory search who founded", 'causalist memory search "who founded"'),
        ("status FOLDER", "causalist status --repo FOLDER"),
        ("ask 'where is x' FOLDER", 'causalist ask "where is x" --repo FOLDER'),
        ("callers main FOLDER", "causalist callers main --repo FOLDER"),
        ("callees FOLDER/a.py FOLDER", "causalist callees FOLDER/a.py --repo FOLDER"),
    ],
)
def test_what_would_work(arguments: str, meant: str, tmp_path: Path) -> None:
    folder = str(tmp_path)
    done = invoke(*(each.replace("FOLDER", folder) for each in shlex.split(arguments)))
    assert done.code == 2 and done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("causalist: ") and last.endswith(": " + meant.replace("FOLDER", folder))


@pytest.mark.parametrize(
    "arguments", [["nosuch"], ["callers", "a", "b"], ["status", "no/such/folder"], ["ask"], ["ask", "x", "--nosuch"]]
)
def test_nothing_is_guessed(arguments: list[str]) -> None:
    done = invoke(*arguments)
    assert done.code == 2 and "causalist: " not in done.stderr and "Usage: " in done.stderr


def test_a_repository_is_named_once(tmp_path: Path) -> None:
    done = invoke("status", str(tmp_path), "--repo", str(tmp_path))
    assert done.code == 2 and "--repo" not in done.stderr
