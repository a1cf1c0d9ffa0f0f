"""docs/messages.md explains every slug and every reason, and none that does not exist."""

import ast
import re

import pytest

from causalist import errors
from causalist.source.rules import Reason
from tests.docs import tables
from tests.docs.blocks import DOCS, ROOT

_SLUG = re.compile(r"^### `([^`]+)`$", re.MULTILINE)


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "messages.md").read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def error_slugs() -> dict[str, type[errors.CausalistError]]:
    family = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.CausalistError)]
    slugs = {each.slug: each for each in family}
    assert len(slugs) == len(family), "two errors share a slug"
    return slugs


def diagnostic_slugs() -> set[str]:
    """Slugs of all `Diagnostic(...)` in the package: literals, and those of errors that are caught and noted."""
    found: set[str] = set()
    for file in sorted((ROOT / "causalist").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        caught = {
            handler.name: handler.type.id
            for handler in ast.walk(tree)
            if isinstance(handler, ast.ExceptHandler) and isinstance(handler.type, ast.Name)
            for handler.name in [handler.name]
        }
        for call in ast.walk(tree):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Diagnostic"):
                continue
            slug = call.args[0]
            if isinstance(slug, ast.Constant):
                found.add(slug.value)
            else:
                assert isinstance(slug, ast.Attribute) and isinstance(slug.value, ast.Name), f"{file}:{call.lineno}"
                assert slug.value.id in caught
                found |= _noted_errors(tree)
    return found


def _noted_errors(tree: ast.Module) -> set[str]:
    """Slugs of the errors whose handlers make a diagnostic of them."""
    found: set[str] = set()
    for handler in ast.walk(tree):
        if not (isinstance(handler, ast.ExceptHandler) and isinstance(handler.type, ast.Name)):
            continue
        makes_one = any(
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Diagnostic"
            for statement in handler.body
            for call in ast.walk(statement)
        )
        if makes_one:
            found.add(getattr(errors, handler.type.id).slug)
    return found


def test_every_error_has_an_entry(page: str) -> None:
    listed = _SLUG.findall(section(page, "Errors"))
    assert len(listed) == len(set(listed))
    assert set(listed) == {*error_slugs(), "internal"}


def test_every_diagnostic_has_an_entry(page: str) -> None:
    found = diagnostic_slugs()
    assert {"syntax-error", "not-utf-8", "index-not-writable", "index-unreadable"} <= found
    notes = section(page, "Notes about files")
    listed = _SLUG.findall(notes)
    assert len(listed) == len(set(listed))
    # What is an error elsewhere keeps its one entry under "Errors".
    assert set(listed) == found - set(error_slugs())


def test_every_reason_has_a_row(page: str) -> None:
    listed = [tables.codes(row[0])[0] for row in tables.rows_after(page, "## Files that stay out")]
    assert listed == [reason.value for reason in Reason]


def test_every_entry_says_what_to_do(page: str) -> None:
    entries = re.split(r"^### ", section(page, "Errors") + section(page, "Notes about files"), flags=re.MULTILINE)[1:]
    for entry in entries:
        assert "\n```text\n" in entry and "**What to do.**" in entry, entry.splitlines()[0]
