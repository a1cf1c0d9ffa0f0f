"""The documentation site has every page, and is built without a network and without a warning."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import causalist
from tests.cli.commands import write_all
from tests.docs import site
from tests.docs.blocks import ROOT

pytestmark = pytest.mark.slow

REPOSITORY = "https://github.com/causalist/causalist"

# Runs mkdocs in a process that cannot open a connection.
_BUILD = """
import socket, sys
def refuse(*arguments): raise OSError("the site needs a network")
socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli(["build", "--strict", "--config-file", sys.argv[1], "--site-dir", sys.argv[2]])
"""


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    return site.hook()


def test_the_site_lists_every_page_once(hook: ModuleType) -> None:
    entries = site.listed(site.settings()["nav"])
    of_folders = [entry for entry in entries if entry.endswith("/")]
    in_folders = {page for page in site.pages_of_docs() if page.startswith(tuple(of_folders))}
    by_name = [entry for entry in entries if not entry.endswith("/")]
    assert all(any(page.startswith(folder) for page in in_folders) for folder in of_folders), "a folder without pages"
    added = {*hook.SHOWN, hook.API}
    assert sorted([*by_name, *in_folders]) == sorted([*site.pages_of_docs(), *added]), (
        "the list `nav` of mkdocs.yml and the pages of docs/ differ"
    )


def test_a_folder_stands_for_its_pages(hook: ModuleType) -> None:
    entries = site.listed(hook.expanded(site.settings()["nav"]))
    assert sorted(entries) == sorted([*site.pages_of_docs(), *hook.SHOWN, hook.API])


@pytest.mark.parametrize(
    ("link", "source", "name", "expected"),
    [
        ("docs/cli.md", "README.md", "index.md", "cli.md"),
        ("docs/cli.md#ask", "README.md", "index.md", "cli.md#ask"),
        ("LICENSE", "README.md", "index.md", f"{REPOSITORY}/blob/main/LICENSE"),
        ("sample_repos", "README.md", "index.md", f"{REPOSITORY}/tree/main/sample_repos"),
        ("CHANGELOG.md", "README.md", "index.md", "changelog.md"),
        ("../README.md", "docs/cli.md", "cli.md", "start.md"),
        ("../mcp.md", "docs/editors/helix.md", "editors/helix.md", "../mcp.md"),
        ("../../README.md#more", "docs/editors/helix.md", "editors/helix.md", "../start.md#more"),
        ("../tests/conftest.py", "docs/cli.md", "cli.md", f"{REPOSITORY}/blob/main/tests/conftest.py"),
        ("#here", "docs/cli.md", "cli.md", "#here"),
        ("https://example.org/docs/cli.md", "README.md", "index.md", "https://example.org/docs/cli.md"),
        ("mailto:a@example.org", "README.md", "index.md", "mailto:a@example.org"),
    ],
)
def test_links_lead_on_from_the_site(hook: ModuleType, link: str, source: str, name: str, expected: str) -> None:
    assert hook.link_from(link, source, name, REPOSITORY) == expected


def test_the_first_page_stands_for_a_folder(hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "docs" / "parts"
    folder.mkdir(parents=True)
    for name in ("b.md", "a.md"):
        (folder / name).touch()
    monkeypatch.setattr(hook, "ROOT", tmp_path)
    assert hook.link_from("parts/", "docs/cli.md", "cli.md", REPOSITORY) == "parts/a.md"
    (folder / "index.md").touch()
    assert hook.link_from("parts/", "docs/cli.md", "cli.md", REPOSITORY) == "parts/index.md"


def test_code_is_left_alone(hook: ModuleType) -> None:
    page = "[a](docs/a.md) `[b](docs/b.md)`\n```text\n[c](docs/c.md)\n```\n[d](docs/d.md)\n"
    expected = "[a](a.md) `[b](docs/b.md)`\n```text\n[c](docs/c.md)\n```\n[d](d.md)\n"
    assert hook.with_links(page, "README.md", "index.md", REPOSITORY) == expected


def test_every_public_name_has_an_entry(hook: ModuleType) -> None:
    assert re.findall(r"^::: causalist\.(\w+)$", hook.api_page(), re.M) == causalist.__all__


def test_language_models_get_a_list_of_all_pages(hook: ModuleType) -> None:
    address = site.settings()["site_url"]
    text = hook.llms_text(hook.expanded(site.settings()["nav"]), address)
    assert text.startswith("# Causalist\n\n> ")
    found = re.findall(r"^- \[([^\]]+)\]\((\S+)\)(?:: (.+))?$", text, re.M)
    assert len(found) == len(re.findall("^- ", text, re.M)) == len(site.pages_of_docs()) + len(hook.SHOWN) + 1
    told = {link.removeprefix(address): (title, about) for title, link, about in found}
    title, about = told["messages/"]
    assert title == "Messages" and about.startswith("Every error (`causalist: SLUG: …`) and note ")
    assert (
        told["security/"] == ("Threat model", "Who may attack, what stops it, and the test that tries it")
        and told[""][0]
    )


def build(root: Path, into: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _BUILD, str(root / "mkdocs.yml"), str(into)]
    return subprocess.run(
        command, cwd=root, env=_environment(), capture_output=True, encoding="utf-8", timeout=300, check=False
    )


def _environment() -> dict[str, str]:
    return os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}


@pytest.mark.slow
def test_the_site_is_built_without_a_network_and_loads_nothing_from_others(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    assert (tmp_path / "site" / "llms.txt").read_text(encoding="utf-8").startswith("# Causalist")
    # The link of an error on a terminal leads to an entry.
    assert 'id="empty-question"' in (tmp_path / "site" / "messages" / "index.html").read_text(encoding="utf-8")
    shown = (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")
    assert 'id="causalist.Repository.ask"' in shown
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(site.pages_of_docs())
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*?\bsrc=[\"']?((?:https?:)?//[^\"'> ]+)", text)
        loaded += re.findall(
            r"<link\b(?=[^>]*stylesheet|[^>]*preconnect)[^>]*?href=[\"']?((?:https?:)?//[^\"'> ]+)", text
        )
        assert not loaded, f"{page.relative_to(tmp_path)} loads {loaded}"


@pytest.mark.slow
def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    root = tmp_path / "root"
    ignored = shutil.ignore_patterns("node_modules", "__pycache__")
    for folder in (".ci", "docs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    write_all(root, {"causalist/__init__.py": '__all__ = ["ask"]\n\n\ndef ask() -> None:\n    """Return nothing."""\n'})
    for name in ("mkdocs.yml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, root)
    (first, *others) = [root / "docs" / name for name in site.pages_of_docs()]
    for page in [*others, *root.glob("*.md")]:  # pages without links take no time
        page.write_text(page.read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8")
    first.write_text("# Links\n\n[a](no-such-page.md), [b](../README.md#no-such-heading)\n", encoding="utf-8")
    done = build(root, tmp_path / "site")
    assert done.returncode == 1
    warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    assert len(warnings) == 2 and "no-such-page.md" in done.stderr and "#no-such-heading" in done.stderr, done.stderr
