"""A file's edges follow from its own facts and the interfaces of all others: linked so, they are what they are when
everything is linked at once, array by array.

Four of eight language cases are each in the sample of one of the four tests; `--full-trials` has all in all tests.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from causalist.graph import LinkedPart, Linker, ParallelPlan, build_graph, needs_bodies, relink
from causalist.graph.node_and_edge_arrays import EdgeSites
from causalist.model.facts import FileFacts, ImportKind, body_bindings, has_same_interface, interface_of
from causalist.model.graph import CodeGraph, Edge, LinkedGraph
from causalist.parse import load_settings, parse_file
from tests.indexes import differences
from tests.languages.test_cases import read_case
from tests.pipeline.sample import SAMPLES
from tests.trials import count_of, part_of

pytestmark = pytest.mark.slow

_CASES = sorted((Path(__file__).parents[1] / "languages").glob("*/*.case"))
Files = Sequence[tuple[str, FileFacts]]


def without_bodies(files: Files, but: Iterable[int]) -> Files:
    """The files as a refresh has them that links those at `but` alone."""
    kept = set(but)
    return [
        (path, facts if i in kept or needs_bodies(path, facts, load_settings()) else interface_of(facts))
        for i, (path, facts) in enumerate(files)
    ]


def begun_at_once(work: Callable[[], LinkedPart]) -> Callable[[], LinkedPart]:
    part = work()
    return lambda: part


_EVERY = count_of(12, 3)  # file of a sample is tried; of the cases, which are made for this, each is


def check_each_alone(files: Files, every: int = 1) -> LinkedGraph:
    """Links each file alone, or one of `every`, into a graph in which its body was not yet written."""
    whole = build_graph(files, load_settings())
    bodies = dict(files)
    brought = build_graph(without_bodies(files, []), load_settings(), lambda path, _: bodies.pop(path))
    assert differences(brought.graph, whole.graph) == []
    assert not bodies
    spread = ParallelPlan(3, [facts.n_bytes for _, facts in files], begun_at_once)
    assert differences(build_graph(files, load_settings(), spread=spread).graph, whole.graph) == []
    for i in range(0, len(files), every):
        path, facts = files[i]
        before = [*files[:i], (path, interface_of(facts)), *files[i + 1 :]]
        previous = build_graph(before, load_settings()).graph
        again = relink(without_bodies(files, [i]), load_settings(), previous, {i}).linked
        assert differences(again.graph, whole.graph) == [], path
        assert again.file_nodes.tolist() == whole.file_nodes.tolist()
        assert again.document_nodes[i].tolist() == whole.document_nodes[i].tolist()
    return whole


def facts_of(files: Iterable[tuple[str, bytes]]) -> list[tuple[str, FileFacts]]:
    return [(path, parse_file(path, data)) for path, data in sorted(files)]


@pytest.mark.parametrize("case", part_of(_CASES, 0, 8), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_file_of_a_language_case(case: Path) -> None:
    check_each_alone(facts_of((path, text.encode()) for path, text in read_case(case.read_text("utf-8")).files))


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_files_of_a_sample(sample: str) -> None:
    root = SAMPLES / sample
    paths = [path for path in root.rglob("*") if path.is_file() and ".causalist" not in path.parts]
    check_each_alone(facts_of((path.relative_to(root).as_posix(), path.read_bytes()) for path in paths), _EVERY)


def check_with_one_linker(given: Iterable[tuple[str, bytes]], every: int = 1) -> int:
    """Edits one file after the other, or one of `every`, each further down by a line, and links it with what was made
    for the one before. Returns how often."""
    contents = dict(sorted(given))
    files = facts_of(contents.items())
    previous, linker, n_kept = build_graph(files, load_settings()).graph, None, 0
    for i in range(0, len(files), every):
        path, facts = files[i]
        moved = parse_file(path, b"\n" + contents[path])
        if not has_same_interface(moved, facts):
            continue
        files[i] = path, moved
        done = relink(without_bodies(files, [i]), load_settings(), previous, {i}, before=linker)
        n_kept += linker is not None and done.linker.program is linker.program
        previous, linker = done.linked.graph, done.linker
        assert differences(previous, build_graph(files, load_settings()).graph) == [], path
    return n_kept


@pytest.mark.parametrize("case", part_of(_CASES, 2, 8), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_linker_that_stays_links_each_file_of_a_language_case(case: Path) -> None:
    check_with_one_linker((path, text.encode()) for path, text in read_case(case.read_text("utf-8")).files)


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_a_linker_that_stays_links_files_of_a_sample(sample: str) -> None:
    root = SAMPLES / sample
    paths = [path for path in root.rglob("*") if path.is_file() and ".causalist" not in path.parts]
    files = ((path.relative_to(root).as_posix(), path.read_bytes()) for path in paths)
    assert check_with_one_linker(files, _EVERY) > 1


def edges_in(files: Files, order: Iterable[int]) -> dict[tuple[str, str, int], EdgeSites]:
    """All edges of one linker that links the files in this order, by the ids of their ends and kind."""
    linker = Linker.from_files(files, load_settings())
    for number in range(len(files)):
        linker.drafts.documents(number)
    linker.add_bases()
    for number in order:
        linker.link(number)
    drafts = linker.drafts
    return {(drafts[one].id, drafts[other].id, k): each for (one, other, k), each in linker.collector.edges.items()}


_ONE_TYPE_IN_TWO_FILES = {
    "Ask.cs": "namespace N;\nclass Ask { void Go(IReader reader, object o) { reader.Parse(o); } }\n",
    "Map.Read.cs": "namespace N;\npublic interface IReader {}\npublic static partial class Map {\n"
    "  public static int Parse(this IReader r) => 1;\n  public static int Parse(this IReader r, object o) => 1;\n}\n",
    "Map.cs": "namespace N;\npublic static partial class Map {\n  static int Go(object x) => Parse(x);\n"
    "  static int Parse(object value) => 2;\n}\n",
}


@pytest.mark.parametrize(
    "case", [*part_of(_CASES, 4, 8), None], ids=lambda path: f"{path.parent.name}/{path.stem}" if path else "one"
)
def test_what_is_found_in_a_file_does_not_depend_on_those_before(case: Path | None) -> None:
    given = read_case(case.read_text("utf-8")).files if case else _ONE_TYPE_IN_TWO_FILES.items()
    files = facts_of((path, text.encode()) for path, text in given)
    forwards = edges_in(files, range(len(files)))
    assert forwards == edges_in(files, reversed(range(len(files))))


def test_a_linker_whose_files_hold_for_others_is_made_anew() -> None:
    # A wildcard import that holds in all files of a project is in the tables of each.
    files = {"app.csproj": b"<Project/>", "a.cs": b"global using Shop;\nclass A {}\n", "b.cs": b"class B {}\n"}
    assert check_with_one_linker(files.items()) <= 1  # the project's file


def _seen_from_outside(facts: FileFacts) -> FileFacts:
    """A file without imports that are no other file's affair."""
    language = load_settings().get(facts.language)
    if language is None or language.modules.shows_side_effects or language.names.alike:
        return facts
    return replace(facts, imports=tuple(each for each in facts.imports if each.kind != ImportKind.SIDE_EFFECT))


@pytest.mark.parametrize("case", part_of(_CASES, 6, 8), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_file_rests_on_what_others_import_for_side_effects(case: Path) -> None:
    """Only the edges of the file itself, which are left out here, and what follows from them for its tests may."""
    files = facts_of((path, text.encode()) for path, text in read_case(case.read_text("utf-8")).files)
    whole = build_graph(files, load_settings()).graph
    for i, (path, _) in enumerate(files):
        others = [(p, f if j == i else _seen_from_outside(f)) for j, (p, f) in enumerate(files)]
        if others != files:
            assert _edges_from(build_graph(others, load_settings()).graph, path) == _edges_from(whole, path)


def _edges_from(graph: CodeGraph, path: str) -> set[Edge]:
    edges = (graph.edge(i) for i in range(len(graph.edges)))
    return {edge for edge in edges if edge.source.partition("::")[0] == path}


_SHOP = """import os
from .base import Base
LIMIT = 3
class Shop(Base):
    size = 1
    def __init__(self, clerk):
        helper = make()
        self.clerk = clerk
        self.till = helper
    def open(self, at: int):
        hour = at + 1
        door = Door()
        log(hour)
        return door
def make():
    return Till()
"""
_APP = """import { log } from "./log";
export class App {
  start(port) {
    const address = find(port);
    const server = listen(address);
    this.server = server;
    log(port);
    return address.host;
  }
}
"""


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "is_same"),
    [
        # What happens in a function is its own affair.
        ("a.py", _SHOP, "log(hour)", "log(hour)\n        tell(self.clerk, LIMIT)", True),
        ("a.py", _SHOP, "hour = at + 1", "minute = ask()", True),
        ("a.py", _SHOP, "log(hour)", "os.getenv('HOME')", True),
        ("a.py", _SHOP, "import os\n", "\n\nimport os\n", True),
        ("a.py", _SHOP, "LIMIT = 3", "LIMIT = 4", True),
        ("b.ts", _APP, "log(port);", "tell(port); const sum = add(1);", True),
        # What a function returns, and each variable that this rests on.
        ("a.py", _SHOP, "return door", "return Gate()", False),
        ("a.py", _SHOP, "door = Door()", "door = Gate()", False),
        ("a.py", _SHOP, "at: int)", "at: int) -> Door", False),
        ("a.py", _SHOP, "return Till()", "pass", False),
        ("b.ts", _APP, "find(port)", "seek(port)", False),
        ("b.ts", _APP, "start(port) {", "start(port): Server {", False),
        # What an attribute is set to.
        ("a.py", _SHOP, "helper = make()", "helper = Till()", False),
        ("a.py", _SHOP, "self.till = helper", "self.drawer = helper", False),
        ("a.py", _SHOP, "clerk):", "clerk: Clerk):", False),
        ("b.ts", _APP, "listen(address)", "serve(address)", False),
        # What is defined, and what it is made of.
        ("a.py", _SHOP, "class Shop(Base)", "class Shop", False),
        ("a.py", _SHOP, "def make", "def build", False),
        ("a.py", _SHOP, "size = 1", "size = Size()", False),
        ("a.py", _SHOP, "LIMIT = 3", "LIMIT = Limit()", False),
        ("b.ts", _APP, "log(port);", "function inner() {}", False),
        # What others may import, and what they find behind it.
        ("a.py", _SHOP, "import Base", "import Base as Root", False),
        ("a.py", _SHOP, "LIMIT = 3", "__all__ = ['Shop']", False),
        ("b.ts", _APP, "export class", "export default class", False),
        ("package.json", '{"name": "shop"}', "shop", "store", False),
        ("a.go", "package shop\n\nfunc f() {}\n", "package shop", "package store", False),
        ("a.go", "package shop\n\ntype T struct{}\n\nfunc (t T) F() {}\n", "(t T)", "(t *U)", False),
        ("a.rs", "struct S;\nimpl A for S { fn f(&self) {} }\n", "impl A", "impl B", False),
        ("A.java", "class A { void f(int a) {} }\n", "int a", "String a", False),
        ("a_test.rs", "#[test]\nfn f() {}\n", "#[test]\n", "", False),
        # Prose is seen by nobody.
        ("README.md", "# One\n\nText.\n", "# One", "# Two\n\n## More", True),
    ],
)
def test_what_others_may_see(path: str, text: str, old: str, new: str, is_same: bool) -> None:
    assert text.count(old) == 1
    before, after = (parse_file(path, each.encode()) for each in (text, text.replace(old, new)))
    assert has_same_interface(before, after) is is_same


def test_variables_on_which_nothing_depends_belong_to_bodies() -> None:
    facts = parse_file("a.py", _SHOP.encode())
    hidden = {facts.bindings[i].target for i in body_bindings(facts)}
    # `clerk` and `helper` are what attributes are set to, `door` is returned; `hour` and the parameters are not.
    assert hidden == {"hour", "at", "self"}


def test_a_file_that_is_seen_through_another_is_not_seen_in_it() -> None:
    """What b.py finds behind `shop().till` rests on a variable of a.py, whose bodies are not there."""
    files = facts_of(
        [
            ("a.py", b"class Till:\n    def ring(self): pass\nclass Shop:\n    def __init__(self):\n"
             b"        made = Till()\n        self.till = made\n        made.ring()\n"
             b"def shop():\n    found = Shop()\n    return found\n"),
            ("b.py", b"from a import shop\nshop().till.ring()\n"),
        ]
    )  # fmt: skip
    whole = check_each_alone(files)
    edges = {(e.source, e.target, e.kind) for e in map(whole.graph.edge, range(len(whole.graph.edges)))}
    assert ("b.py", "a.py::Till.ring", "calls") in edges
