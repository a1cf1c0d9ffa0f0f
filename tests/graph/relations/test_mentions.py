"""What documentation means by the names of code in it; expected values are read off the texts."""

import time
from pathlib import Path

import pytest

from causalist.graph import build_graph
from causalist.graph.rules import RULES, RuleName, load_confidences
from causalist.model.graph import LINK_RULES, CodeGraph, EdgeKind
from causalist.parse import load_settings, parse_file

LABELS = Path(__file__).parents[2] / "benchmarks" / "mentions" / "labels.tsv"
OF_ROUTES = [LABELS.parents[1] / "routes" / name for name in ("names.tsv", "messages.tsv")]

AUTH = b"""
class Session:
    def verify(self): ...
    def close(self): ...

class Token:
    def verify(self): ...

def check_token(): ...
def check(): ...
MAX_AGE = 3
def outer():
    def inner_one(): ...
"""
STORE = b"""
class Store:
    def close(self): ...
    def drop_all(self): ...
"""


def mentions_of(text: str, path: str = "docs/guide.md", **more: bytes) -> set[tuple[str, str, int]]:
    """(target, rule, candidates) of what a document mentions."""
    files = {"app/auth.py": AUTH, "app/_store.py": STORE, path: text.encode()}
    files |= {name.replace("__", "/").replace("_DOT_", "."): data for name, data in more.items()}
    graph = graph_of(files)
    return {
        (edge.target, edge.rule, edge.candidates)
        for edge in map(graph.edge, range(len(graph.edges)))
        if edge.kind == "mentions" and edge.source.startswith(path)
    }


def graph_of(files: dict[str, bytes]) -> CodeGraph:
    return build_graph([(path, parse_file(path, data)) for path, data in files.items()], load_settings()).graph


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`Session.verify`", {("app/auth.py::Session.verify", "doc-qualified", 1)}),
        ("`app.auth.Session.verify()`", {("app/auth.py::Session.verify", "doc-qualified", 1)}),
        ("`app.store.Store`", {("app/_store.py::Store", "doc-qualified", 1)}),
        ("`auth.verify`", set()),  # a method is no member of its module
        ("`other.Session`", set()),
        ("`session.verify(key)`", {("app/auth.py::Session.verify", "doc-like-named", 1)}),
        ("`check_token`", {("app/auth.py::check_token", "doc-name", 1)}),
        ("`drop_all`", {("app/_store.py::Store.drop_all", "doc-name", 1)}),
        ("`MAX_AGE`", {("app/auth.py::MAX_AGE", "doc-name", 1)}),
        ("`check`", {("app/auth.py::check", "doc-word", 1)}),
        ("`verify`", set()),  # a plain word, and methods of two types
        ("`close()`", set()),
        ("`inner_one`", set()),  # stands in a function
        ("`app/auth.py`", {("app/auth.py", "doc-path", 1)}),
        ("[code](../app/auth.py)", {("app/auth.py", "doc-path", 1)}),
        ("`auth.py`", set()),  # everybody may have one
        ("`nothing_like_it`", set()),
        ("```\nfrom app.auth import check\nStore()\n```", {("app/auth.py::check", "doc-example", 1),
                                                           ("app/_store.py::Store", "doc-example", 1)}),
        ("::: app.auth.Token", {("app/auth.py::Token", "doc-role", 1)}),
    ],
)  # fmt: skip
def test_what_a_name_means(text: str, expected: set[tuple[str, str, int]]) -> None:
    assert mentions_of(f"# Guide\n\n{text}\n") == expected


def test_several_share_what_the_rule_is_worth() -> None:
    files = {"a/x.py": b"def open_it(): ...\n", "b/y.py": b"def open_it(): ...\n", "README.md": b"`open_it`\n"}
    graph = graph_of(files)
    found = [e for e in map(graph.edge, range(len(graph.edges))) if e.kind == "mentions"]
    assert [(e.source, e.target, e.candidates) for e in found] == [
        ("README.md", "a/x.py::open_it", 2),
        ("README.md", "b/y.py::open_it", 2),
    ]
    assert {e.confidence for e in found} == {0.85 / 2}
    # One in the same folder is meant before others.
    near = graph_of({**files, "b/notes.md": b"`open_it`\n"})
    assert [
        e.target for e in map(near.edge, range(len(near.edges))) if e.kind == "mentions" and e.source == "b/notes.md"
    ] == ["b/y.py::open_it"]


@pytest.mark.parametrize("path", ["CHANGELOG.md", "docs/changes.rst", "docs/releases/1.2.md", "HISTORY.md"])
def test_what_tells_the_past_mentions_nothing(path: str) -> None:
    assert mentions_of("`Session.verify`\n", path) == set()


def test_docstrings_of_tests_mention_and_those_of_code_do_not() -> None:
    test = b'def test_it():\n    """`Session.close` forgets."""\n'
    assert mentions_of(test.decode(), "tests/test_auth.py") == {("app/auth.py::Session.close", "doc-qualified", 1)}
    assert mentions_of(test.decode(), "app/other.py") == set()


def test_tests_and_examples_are_not_mentioned() -> None:
    assert mentions_of("`make_token`\n", tests__helper_DOT_py=b"def make_token(): ...\n") == set()


def test_a_file_is_named_by_its_path_or_to_developers() -> None:
    files = {"tools___DOT_ci__run_DOT_py": b"def f(): ...\n", "shop_DOT_toml": b"[a]\n"}
    assert mentions_of("Run `tools/.ci/run.py` first.", **files) == {("tools/.ci/run.py", "doc-path", 1)}
    assert mentions_of("Run `.ci/run.py` first.", **files) == set()  # in the folder of whoever reads it
    assert mentions_of("Put it into `shop.toml`.", **files) == set()
    assert mentions_of("Put it into `shop.toml`.", "docs/CONTRIBUTING.md", **files) == {("shop.toml", "doc-file", 1)}
    assert mentions_of("Put it into `shop.toml`.", "docs/guide.md", **files) == set()


def test_a_plain_word_means_nothing_that_is_the_languages_own_or_anothers() -> None:
    script = b'const http = require("http");\nconst PATH = 1;\n'
    script += b"function filter() {}\nfunction main() {}\nfunction serve() {}\n"
    text = "Of `http`, `filter`, `main`, `PATH`, `@serve` and `serve` one is meant."
    assert mentions_of(text, app__run_DOT_js=script) == {("app/run.js::serve", "doc-word", 1)}


@pytest.mark.slow
def test_a_name_that_much_is_called_by_is_looked_up_soon() -> None:
    code = "".join(f"class C{i}:\n    def fetch_all(self, x):\n        return x.fetch_all()\n" for i in range(3000))
    text = "".join(f"# Part {i}\n\nAsk `fetch_all`.\n\n" for i in range(300))
    files = {"app.py": code.encode(), "docs/guide.md": text.encode()}
    facts = [(path, parse_file(path, data)) for path, data in files.items()]
    start = time.process_time()
    graph = build_graph(facts, load_settings()).graph
    assert time.process_time() - start < 8.0  # what is quadratic takes minutes
    kinds = {graph.edge(i).kind for i in range(len(graph.edges))}
    assert kinds == {"contains"}  # three thousand meanings are none


def test_mentions_stand_in_their_section() -> None:
    graph = graph_of({"app/auth.py": AUTH, "README.md": b"# One\n\ntext\n\n## Two\n\n`Session` and `Session`\n"})
    (edge,) = [e for e in map(graph.edge, range(len(graph.edges))) if e.kind == "mentions"]
    assert (edge.source, edge.target, edge.line, edge.n) == ("README.md#two", "app/auth.py::Session", 7, 1)


def test_what_the_rules_are_worth_was_measured() -> None:
    """The confidences are those of the labels, by the rule of succession: (right + 1) / (labels + 2)."""
    labels: dict[str, list[tuple[str, bool]]] = {}
    for line in [each for file in (LABELS, *OF_ROUTES) for each in file.read_text("utf-8").splitlines()[1:]]:
        repository, rule, _, _, label = line.split("\t")
        assert label in ("right", "wrong")
        labels.setdefault(rule, []).append((repository, label == "right"))
    assert sum(map(len, labels.values())) >= 100
    table = load_confidences()
    by_oracle = {RuleName.OVERLOAD, RuleName.UNIQUE_SELECTOR}  # counted by libclang: docs/benchmarks.md
    assert {rule.name for rule in RULES if rule.read is not None} - LINK_RULES - by_oracle == labels.keys()
    for rule, found in labels.items():
        right, n, repositories = sum(each for _, each in found), len(found), len({each for each, _ in found})
        measured = table.measurement_of(rule, EdgeKind.MENTIONS, "")
        assert measured is not None
        assert measured[:4] == (round((right + 1) / (n + 2), 2), right, n - right, repositories), rule
