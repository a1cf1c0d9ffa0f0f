"""Docstrings of the package follow PEP 257."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]

_MODULE = '"""Sums."""\n\n\n'


def _rules(code: str, path: str) -> set[str]:
    """Return the rules that `code`, as the file `path`, breaks under the project's settings."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise"]
    done = subprocess.run(
        [*command, "--stdin-filename", path, "-"], input=code, capture_output=True, text=True, cwd=_ROOT
    )
    assert done.returncode in (0, 1), done.stderr
    return set(re.findall(r"^\S+:\d+:\d+: ([A-Z]+\d+)", done.stdout, re.MULTILINE))


@pytest.mark.parametrize(
    ("docstring", "rules"),
    [
        ('"""Return the sum."""', set()),
        ('"""Return the sum.\n\n    Both may be negative.\n    """', set()),
        ('"""The sum."""', {"D401"}),
        ('"""Return the sum"""', {"D400"}),
        ('"""Return the sum\n    of both.\n    """', {"D205"}),
        ('"""Return the sum.\n\n    Both may be negative."""', {"D209"}),
        ("total += 0", {"D103"}),
    ],
)
def test_docstrings_of_the_package_are_checked(docstring: str, rules: set[str]) -> None:
    code = _MODULE + f"def double(total: int) -> int:\n    {docstring}\n    return total + total\n"
    assert _rules(code, "causalist/example.py") == rules


def test_special_methods_need_no_docstring() -> None:
    code = _MODULE + (
        'class Sum:\n    """A sum."""\n\n    def __init__(self, value: int) -> None:\n        self.value = value\n\n'
        "    def __len__(self) -> int:\n        return self.value\n"
    )
    assert _rules(code, "causalist/example.py") == set()
    assert _rules(code.replace("__len__", "length"), "causalist/example.py") == {"D102"}


def test_scripts_and_tests_need_no_docstrings() -> None:
    code = "def add(a: int, b: int) -> int:\n    return a + b\n"
    assert _rules(code, "causalist/example.py") == {"D100", "D103"}
    assert _rules(code, "tests/example.py") == set()
    assert _rules(code, ".ci/example.py") == set()
