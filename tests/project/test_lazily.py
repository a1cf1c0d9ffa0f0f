"""Packages that load their modules late offer what they say, and a cold answer loads little."""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import causalist
from causalist.lazily import exports, expression
from causalist.pipeline import Repository
from tests.pipeline.sample import copy_sample

_LATE = ("extract", "graph", "navigate", "pack", "parse", "rank", "source", "store")
# What makes an index, what reads grammars, locks, databases, processes: none of it is needed where nothing changed.
_NOT_NEEDED = (
    "causalist.building", "causalist.refresh", "causalist.history", "causalist.graph.build", "causalist.parse.file",
    "causalist.parse.languages", "causalist.model.facts", "causalist.model.language", "causalist.overview",
    "causalist.store.facts_cache", "causalist.pack.render_html", "causalist.source.tree", "tree_sitter", "sqlite3",
    "multiprocessing", "concurrent.futures.process", "importlib.metadata", "tomllib", "filelock", "scipy", "networkx",
)  # fmt: skip


@pytest.mark.parametrize("name", _LATE)
def test_a_package_offers_what_it_says(name: str) -> None:
    package = importlib.import_module(f"causalist.{name}")
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(package.__all__), "a module of that name would be found in its place"
    for exported in package.__all__:
        assert getattr(package, exported) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_a_name_is_loaded_once_and_from_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    load = exports("causalist.extract", {"named": "hit_of named_edge"})
    monkeypatch.delattr("causalist.extract.hit_of", raising=False)
    assert load("hit_of") is importlib.import_module("causalist.extract.named").hit_of
    assert importlib.import_module("causalist.extract").__dict__["hit_of"] is load("hit_of")


def test_a_late_expression_is_the_expression() -> None:
    late, early = expression(r"(a+)(b)?", re.IGNORECASE), re.compile(r"(a+)(b)?", re.IGNORECASE)
    assert [m.span() for m in late.finditer("AAb a")] == [m.span() for m in early.finditer("AAb a")]
    assert late.sub("-", "xAb") == "x-" and late.pattern == early.pattern and late.groups == 2
    assert late.fullmatch("b") is None and late.match("ab")[2] == "b"  # type: ignore[index]


def test_a_cold_answer_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    Repository.open(root, exact_root=True)
    code = (
        "import sys\n"
        "from causalist.cli import main\n"
        "try:\n    main(['ask', 'where is a token verified', '--no-remember', '--repo', sys.argv[1]])\n"
        "except SystemExit as end:\n    assert end.code in (0, None), end.code\n"
        "print('\\n'.join(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(causalist.__file__).parents[1],
    )
    assert "verifyToken" in done.stdout
    loaded = set(done.stdout.splitlines())
    assert "causalist.rank.ranking" in loaded
    assert not loaded & set(_NOT_NEEDED)
