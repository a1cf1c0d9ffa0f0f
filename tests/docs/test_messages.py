"""docs/messages.md explains every slug and every reason, and none that does not exist."""

import ast
import re
from collections.abc import Iterator

import pytest

from causalist import errors
from causalist.model.source import DiagnosticSlug
from causalist.source.exclusion import SkipReason
from tests.docs import tables
from tests.docs.blocks import DOCS, ROOT

_SLUG = re.compile(r"^### `([^`]+)`$", re.MULTILINE)


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "messages.md").read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def notes_of(page: str) -> str:
    return section(page, "Notes about files") + section(page, "Notes about an answer")


def error_slugs() -> dict[str, type[errors.CausalistError]]:
    family = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.CausalistError)]
    slugs = {each.slug: each for each in family}
    assert len(slugs) == len(family), "two errors share a slug"
    return slugs


def diagnostic_slugs() -> set[str]:
    """Slugs of all `Diagnostic(...)` in the package: literals, and those of errors that are caught or handed over."""
    found: set[str] = set()
    for file in sorted((ROOT / "causalist").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "Diagnostic(" not in text:
            continue
        tree = ast.parse(text)
        made = _diagnostics(tree)
        found |= {slug for call in made if (slug := _slug_written(call)) is not None}
        noted = [call for call in made if _slug_written(call) is None]
        for scope, error in _errors_named(tree):
            inside = [call for call in _diagnostics(scope) if call in noted]
            noted = [call for call in noted if call not in inside]
            if inside:
                found.add(getattr(errors, error).slug)
        assert not noted, f"{file}:{noted[0].lineno}: a diagnostic whose slug this test cannot find out"
    return found


def _slug_written(call: ast.Call) -> str | None:
    """Return the slug of a diagnostic if the call itself names it: as a text, or as a member of the enum."""
    slug = call.args[0]
    if isinstance(slug, ast.Constant):
        return str(slug.value)
    if isinstance(slug, ast.Attribute) and isinstance(slug.value, ast.Name) and slug.value.id == "DiagnosticSlug":
        return DiagnosticSlug[slug.attr].value
    return None


def _errors_named(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Handlers of an error, and functions that are given one, each with the name of the error's class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name):
            yield node, node.type.id
        elif isinstance(node, ast.FunctionDef):
            given = [each.annotation.id for each in node.args.args if isinstance(each.annotation, ast.Name)]
            yield from ((node, name) for name in given if name in vars(errors))


def _diagnostics(tree: ast.AST) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Diagnostic"
    ]


def test_every_error_has_an_entry(page: str) -> None:
    listed = _SLUG.findall(section(page, "Errors"))
    assert len(listed) == len(set(listed))
    assert set(listed) == {*error_slugs(), "internal"}


@pytest.mark.slow
def test_every_diagnostic_has_an_entry(page: str) -> None:
    found = diagnostic_slugs()
    assert {"syntax-error", "not-utf-8", "index-not-writable", "index-unreadable"} <= found
    notes = notes_of(page)
    listed = _SLUG.findall(notes)
    assert len(listed) == len(set(listed))
    # What is an error elsewhere keeps its one entry under "Errors".
    assert set(listed) == found - set(error_slugs())


def test_every_reason_has_a_row(page: str) -> None:
    listed = [tables.codes(row[0])[0] for row in tables.rows_after(page, "## Files that stay out")]
    assert listed == [reason.value for reason in SkipReason]


def test_every_entry_says_what_to_do(page: str) -> None:
    entries = re.split(r"^### ", section(page, "Errors") + notes_of(page), flags=re.MULTILINE)[1:]
    for entry in entries:
        assert "\n```text\n" in entry and "**Fix.** " in entry, entry.splitlines()[0]
