"""Refreshing equals building afresh: the same edges, the same arrays and the same answers, to the last bit.

A sequence of edits is tried on one sample repository, the next on another, and every fourth kind of edit alone.
`--full-trials` tries each sequence on all and each kind, and
`python -m tests.benchmarks.refresh` does the same with more sequences.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from causalist import parse
from causalist.errors import NothingToIndex
from causalist.graph import Linker, build
from causalist.index import build as building
from causalist.index import graph_refresh
from causalist.index import open as indexing
from causalist.index.options import IndexOptions, RefreshCache
from causalist.model.answer import AskOptions, Level
from causalist.model.facts import FileFacts
from causalist.model.source import Scan
from causalist.parse.parser import parse_file
from causalist.pipeline.repository import Repository
from causalist.source import scan_folder
from causalist.store import FactsCache
from tests.cli.commands import write_all
from tests.edits import BODY_EDITS, EDITS, MOVES, SMALL_EDITS, Edit, begin
from tests.indexes import differences, without_stamps
from tests.pipeline.conftest import WorkTree
from tests.pipeline.sample import QUESTIONS, SAMPLES, copy_sample, edges_of, plain_answer
from tests.pipeline.sample import in_memory as build_in_memory
from tests.trials import part_of

pytestmark = pytest.mark.slow

_N_ROUNDS = 2
_SAMPLE_NAMES = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
_KEPT_EDITS = {7: BODY_EDITS, 8: BODY_EDITS, 9: SMALL_EDITS}
_FOLLOWED_EDITS = {3: SMALL_EDITS, 4: SMALL_EDITS, 5: MOVES, 6: MOVES}
_DOOR_USER = 'import { Door } from "./door";\nimport { Door as Other } from "./i";\nnew Door();\nnew Other();\n'


@lru_cache(1000)
def parse_once(path: str, data: bytes) -> FileFacts:
    """Facts follow from the path and the text alone, and most files stay as they are from one round to the next."""
    return parse_file(path, data)


def in_memory(root: Path) -> Repository:
    """The repository of a folder, built afresh."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "parse_file", parse_once)
        return build_in_memory(root)


def trials_of(seeds: Iterable[int]) -> list[tuple[int, str]]:
    """(seed, sample repository)."""
    return [(seed, name) for seed in seeds for name in part_of(_SAMPLE_NAMES, seed, len(_SAMPLE_NAMES))]


def check_equal(refreshed: Repository, rebuilt: Repository, history: list[str], n_questions: int) -> None:
    told = " / ".join(history)
    assert edges_of(refreshed) == edges_of(rebuilt), told
    assert differences(without_stamps(refreshed.index), without_stamps(rebuilt.index)) == [], told
    for question in QUESTIONS[:n_questions]:
        for level in Level:
            options = AskOptions(top_k=8, level=level)
            one, other = refreshed.ask(question, options), rebuilt.ask(question, options)
            one, other = plain_answer(one), plain_answer(other)
            for answer in (one, other):
                # What was built in memory knows no commit, and the id of an answer depends on it.
                del answer["repository"]["commit"], answer["answer_id"], answer["pack"]
            assert one == other, f"{question} after {told}"


def check_sequence(
    root: Path,
    seed: int,
    n_rounds: int,
    n_questions: int,
    edits: Sequence[Edit] = EDITS,
    most: int = 4,
    refresh_cache: RefreshCache | None = None,
) -> list[str]:
    """Edits a repository at random, up to `most` times a round, and checks after each. Returns what was done."""
    chance = random.Random(seed)
    options = IndexOptions(refresh_cache=refresh_cache)
    Repository.open(root, options=options)
    history: list[str] = []
    for _ in range(n_rounds):
        history += [chance.choice(edits)(root, chance) for _ in range(chance.randrange(1, most + 1))]
        try:
            rebuilt = in_memory(root)
        except NothingToIndex:
            with pytest.raises(NothingToIndex):
                Repository.open(root, options=options)
            continue
        check_equal(Repository.open(root, options=options), rebuilt, history, n_questions)
    return history


@pytest.mark.parametrize(("seed", "sample"), trials_of([1, 2]))
def test_refreshing_equals_building_afresh(seed: int, sample: str, tmp_path: Path) -> None:
    root = copy_sample(tmp_path, sample)
    begin(root)
    check_sequence(root, seed, _N_ROUNDS, 1)


@pytest.mark.parametrize(("seed", "sample"), trials_of(_FOLLOWED_EDITS))
def test_edits_that_are_followed_equal_building_afresh(
    seed: int, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # These samples are so small that most names are in a good part of their files.
    monkeypatch.setattr(graph_refresh, "_MAX_AFFECTED_SHARE", 1.0)
    monkeypatch.setattr(graph_refresh, "_MAX_CHANGED_NAMES", 10_000)
    root = copy_sample(tmp_path, sample)
    begin(root)
    check_sequence(root, seed, 3, 1, _FOLLOWED_EDITS[seed], 2)


@pytest.mark.parametrize(("seed", "sample"), trials_of(_KEPT_EDITS))
def test_what_a_process_keeps_changes_nothing(
    seed: int, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits = _KEPT_EDITS[seed]
    monkeypatch.setattr(graph_refresh, "_MAX_AFFECTED_SHARE", 1.0)
    monkeypatch.setattr(graph_refresh, "_MAX_CHANGED_NAMES", 10_000)
    kept: list[bool] = []
    relink = Linker.relink
    monkeypatch.setattr(Linker, "relink", lambda self, changed: kept.append(True) or relink(self, changed))
    root = copy_sample(tmp_path, sample)
    begin(root)
    check_sequence(root, seed, 4, 1, edits, 2, RefreshCache())
    assert kept or edits is SMALL_EDITS


_EACH_EDIT = sorted({*EDITS, *SMALL_EDITS, *MOVES}, key=lambda edit: edit.__name__)


@pytest.mark.parametrize("edit", part_of(_EACH_EDIT, 0, 4))
def test_each_edit_alone(edit, tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    begin(root)
    Repository.open(root)
    done = edit(root, random.Random(4))
    check_equal(Repository.open(root), in_memory(root), [done], 0)


def made_of(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    begin(root)
    Repository.open(root)
    return root


def test_what_a_package_passes_on_comes_in_sight_of_those_who_do_not_name_it(tmp_path: Path) -> None:
    root = made_of(
        tmp_path,
        {
            "pkg/__init__.py": "from .y import Other\n",
            "pkg/x.py": "class K:\n    def foozle(self):\n        return 1\n",
            "pkg/y.py": "class Other:\n    pass\n",
            "main.py": "import pkg\n\n\ndef run(o):\n    o.foozle()\n",
            **{f"m{i}.py": f"def f{i}():\n    return {i}\n" for i in range(9)},
        },
    )
    (root / "pkg" / "__init__.py").write_text("from .x import K\nfrom .y import Other\n")
    check_equal(Repository.open(root), in_memory(root), ["pass a module on"], 0)


_OTHERS = {f"m{i}.py": f"def f{i}():\n    return {i}\n" for i in range(9)}
_NEW = "class Door:\n    def unlatch(self):\n        return 1\n\n\ndef open_door():\n    return Door()\n"


@pytest.mark.parametrize(
    ("path", "text", "others"),
    [
        ("door.py", _NEW, {"use.py": "from door import open_door\n\n\ndef go():\n    open_door().unlatch()\n"}),
        ("door.py", _NEW, {"use.py": "def go(some):\n    some.unlatch()\n"}),
        ("door.py", _NEW, {"page.md": "# Page\n\nWhat `open_door()` does.\n"}),
        ("door.py", _NEW, {"page.md": "# Page\n\nSee `door.py`, [it](door.py).\n"}),
        ("door.py", _NEW, {"tests/test_door.py": "def test_it():\n    pass\n"}),
        ("a/door.py", _NEW, {"a/__init__.py": "from .door import *\n", "use.py": "import a\n\na.open_door()\n"}),
        ("a-door.ts", "export class Door {}\n", {"i.ts": 'export { Door } from "./a-door";\n', "u.ts": _DOOR_USER}),
        ("door.ts", "export class Door {}\n", {"door.js": "exports.Door = 1;\n", "u.ts": _DOOR_USER}),
        ("door.ts", "export default class Door {}\n", {"u.ts": 'import D from "./door";\nnew D();\n'}),
    ],
)
def test_a_file_that_comes_and_goes_is_seen_by_others(
    path: str, text: str, others: dict[str, str], tmp_path: Path
) -> None:
    root = made_of(tmp_path, {**_OTHERS, **others})
    before = edges_of(in_memory(root))
    (root / path).write_text(text)
    came = Repository.open(root)
    check_equal(came, in_memory(root), ["come"], 0)
    # Somebody else sees it, so that nothing but its own edges would be too little.
    assert any(not edge.source.startswith(path) and edge.target.startswith(path) for edge in edges_of(came))
    (root / path).unlink()
    gone = Repository.open(root)
    check_equal(gone, in_memory(root), ["go"], 0)
    assert edges_of(gone) == before


def test_what_is_defined_is_no_longer_only_declared_and_the_other_way_round(tmp_path: Path) -> None:
    bare, typed = "let turn x = x\n", "type t = int\nlet turn x = x\n"
    root = made_of(tmp_path, {**_OTHERS, "door.mli": "type t\nval turn : t -> t\n"})
    again = f"{typed}type t = int\n"
    for text, target in ((typed, "door.ml::t"), (bare, "door.mli::t"), (again, "door.ml::t~2"), (typed, "door.ml::t")):
        (root / "door.ml").write_text(text)
        now = Repository.open(root)
        check_equal(now, in_memory(root), [text], 0)
        assert {edge.target for edge in edges_of(now) if edge.source == "door.mli::turn"} == {target}


_GATE = """module gate
  type :: bar
  contains
    procedure :: run => run_bar
  end type
  type :: pin
  contains
    procedure :: run => run_pin
  end type
  interface
    module subroutine go(this)
      class(bar) :: this
    end subroutine
  end interface
contains
  subroutine run_bar(this)
    class(bar) :: this
  end subroutine
  subroutine run_pin(this)
    class(pin) :: this
  end subroutine
end module
"""
_GO = "    call this%run()\n"
_INNER = f"submodule (gate) inner\ncontains\n  module procedure go\n{_GO}  end procedure\nend submodule\n"


def test_what_a_module_declares_of_a_body_elsewhere_is_followed(tmp_path: Path) -> None:
    root = made_of(tmp_path, {**_OTHERS, "gate.f90": _GATE, "inner.f90": _INNER})
    of_pin = _GATE.replace("class(bar)", "class(pin)", 1)
    renamed = _GATE.replace("go(this)\n      class(bar) :: this", "go(that)\n      class(bar) :: that")
    pins, bars = {"gate.f90::gate.run_pin"}, {"gate.f90::gate.run_bar"}
    for path, text, targets in (
        ("gate.f90", of_pin, pins),
        ("inner.f90", _INNER.replace(_GO, _GO + _GO), pins),
        ("gate.f90", _GATE, bars),
        ("gate.f90", renamed, set()),
        ("gate.f90", _GATE, bars),
    ):
        (root / path).write_text(text)
        now = Repository.open(root)
        check_equal(now, in_memory(root), [path], 0)
        assert {each.target for each in edges_of(now) if each.source == "inner.f90::gate.go"} == targets


def test_a_link_that_comes_leads_elsewhere_and_goes_is_seen_by_imports_through_it(tmp_path: Path) -> None:
    """So is a file that comes behind it."""
    text = "def ring():\n    pass\n"
    files = {**_OTHERS, "old/bell.py": text, "new/bell.py": text, "use.py": "from way import bell\n\nbell.ring()\n"}
    root, keeper = made_of(tmp_path, files), RefreshCache()
    begin(root)
    way = root / "way"

    def rung() -> list[str]:
        opened = Repository.open(root, options=IndexOptions(refresh_cache=keeper))
        check_equal(opened, in_memory(root), ["a link"], 0)
        called = [e.target for e in edges_of(opened) if e.source == "use.py" and e.kind == "calls"]
        return [each for each in called if not each.startswith("external:")]

    assert rung() == []
    way.symlink_to("old")
    assert rung() == ["old/bell.py::ring"]
    way.unlink()
    way.symlink_to("new")
    assert rung() == ["new/bell.py::ring"]
    (root / "new" / "bell.py").unlink()
    assert rung() == []
    (root / "new" / "bell.py").write_text(text)
    assert rung() == ["new/bell.py::ring"]
    way.unlink()
    assert rung() == []


@pytest.mark.parametrize(
    ("path", "text"), [("other.py", _NEW), ("door.md", "# Door\n"), ("src/door.ts", "export const door = 1;\n")]
)
def test_an_ordinary_file_has_nothing_else_linked(
    path: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = made_of(tmp_path, {**_OTHERS, "src/m.ts": "export const m = 1;\n"})
    (root / path).write_text(text)
    with monkeypatch.context() as patched:
        patched.delattr(building, "build_graph")  # which links everything
        came = Repository.open(root)
    check_equal(came, in_memory(root), ["come"], 0)
    (root / path).unlink()
    with monkeypatch.context() as patched:
        patched.delattr(building, "build_graph")
        gone = Repository.open(root)
    check_equal(gone, in_memory(root), ["go"], 0)


_BASE = "class A:\n    def ring(self):\n        pass\n\n\nclass B:\n    def ring(self):\n        pass\n"
_KEEPER = "from shop import Shop\n\n\ndef keeper():\n    return Shop()\n"
_RUN = "from keep import keeper\n\n\ndef run():\n    keeper().made.ring()\n"
_METHOD = "from base import A, B\n\n\nclass Shop:\n    def __init__(self):\n"


@pytest.mark.parametrize(
    ("shop", "run"),
    [
        (f"{_METHOD}        self.made = A()\n", _RUN),
        (f"{_METHOD}        held = A()\n        self.made = held\n", _RUN),
        (f"{_METHOD}        held = A()\n        kept = held\n        self.made = kept\n", _RUN),
        (
            f"{_METHOD}        held = A()\n\n        def inner():\n            return held\n\n"
            "        self.made = inner()\n",
            _RUN,
        ),
        ("from base import A, B\n\n\nclass Shop:\n    def fill(self, held: A):\n        self.made = held\n", _RUN),
        (
            "from base import A, B\n\n\ndef fill():\n    held = A()\n    return held\n",
            "from shop import fill\n\n\ndef run():\n    fill().ring()\n",
        ),
    ],
)
def test_what_is_made_of_a_variable_is_followed_and_its_name_is_not(
    shop: str, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other file has a variable of that name, and a way in which its things are made."""
    others = {
        f"m{i}.py": f"class C{i}:\n    def __init__(self, held):\n        self.c{i} = held\n\n\n"
        f"def f{i}(kept):\n    return kept\n"
        for i in range(12)
    }
    root = made_of(tmp_path, {**others, "base.py": _BASE, "shop.py": shop, "keep.py": _KEEPER, "run.py": run})

    def rung(repository: Repository) -> list[str]:
        return [e.target for e in edges_of(repository) if e.source == "run.py::run" and e.target.endswith("ring")]

    assert rung(Repository.open(root)) == ["base.py::A.ring"]
    (root / "shop.py").write_text(shop.replace("A()", "B()").replace("held: A", "held: B"))
    with monkeypatch.context() as patched:
        patched.delattr(building, "build_graph")  # which links everything
        after = Repository.open(root)
    assert rung(after) == ["base.py::B.ring"]
    check_equal(after, in_memory(root), ["another value"], 0)


_READER = "class Reader:\n    def read(self):\n        return self.Store()\n"
_PAGE = "from base import Base\nfrom stores import Cache, Disk\n\n\nclass Page(Base):\n    Store = Cache\n"


@pytest.mark.parametrize(
    ("path", "text", "stores"),
    [
        ("page.py", _PAGE.replace("= Cache", "= Disk"), ["Disk"]),
        ("page.py", _PAGE.replace("(Base)", ""), []),
        ("base.py", "class Base:\n    pass\n", []),
        ("other.py", _PAGE.replace("Page", "Other").replace("= Cache", "= Disk"), ["Cache", "Disk"]),
        ("page.py", None, []),
    ],
)
def test_what_classes_below_a_mixin_declare_is_seen_by_it(
    path: str, text: str | None, stores: list[str], tmp_path: Path
) -> None:
    classes = "class Cache:\n    pass\n\n\nclass Disk:\n    pass\n"
    base = "from reader import Reader\n\n\nclass Base(Reader):\n    pass\n"
    root = made_of(tmp_path, {**_OTHERS, "reader.py": _READER, "stores.py": classes, "base.py": base, "page.py": _PAGE})

    def made(repository: Repository) -> list[str]:
        return [e.target.partition("::")[2] for e in edges_of(repository) if e.source == "reader.py::Reader.read"]

    assert made(Repository.open(root)) == ["Cache"]
    if text is None:
        (root / path).unlink()
    else:
        (root / path).write_text(text)
    after = Repository.open(root)
    assert made(after) == stores
    check_equal(after, in_memory(root), ["another class below"], 0)


def test_a_special_method_is_seen_by_who_knows_the_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is called by what is derived of it, and meant by prose."""
    others = {f"m{i}.py": f"class C{i}:\n    def __enter__(self):\n        return {i}\n" for i in range(20)}
    derived = "from shop import Shop\n\n\nclass Stall(Shop):\n    def __init__(self):\n        super().__init__()\n"
    page = "# Page\n\nWhat `Shop.__init__` does.\n"
    root = made_of(
        tmp_path,
        {**others, "shop.py": "class Shop:\n    pass\n", "stall.py": derived, "page.md": page},
    )
    (root / "shop.py").write_text("class Shop:\n    def __init__(self):\n        self.n = 1\n")
    with monkeypatch.context() as patched:
        patched.delattr(building, "build_graph")
        after = Repository.open(root)
    seen = {(edge.source, edge.kind) for edge in edges_of(after) if edge.target == "shop.py::Shop.__init__"}
    assert seen >= {("stall.py::Stall.__init__", "calls"), ("page.md#page", "mentions")}
    check_equal(after, in_memory(root), ["a way to make it"], 0)


def test_going_there_and_back_gives_the_first_index_again(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    before = Repository.open(root)
    path = root / "src" / "security" / "jwt-verifier.ts"
    text = path.read_text()
    path.unlink()
    without = Repository.open(root)
    assert differences(without_stamps(before.index), without_stamps(without.index))
    path.write_text(text)
    check_equal(Repository.open(root), before, ["delete and restore"], len(QUESTIONS))


def test_what_a_body_names_is_read_again(tmp_path: Path) -> None:
    user = "def go(door):\n    door.unlatch()\n"
    root = made_of(tmp_path, {**_OTHERS, "door.py": _NEW, "use.py": user})
    options = IndexOptions(refresh_cache=RefreshCache())
    rules = []
    for more in ("    pass\n", "    print(1)\n", "    Door()\n", "    print(2)\n"):
        (root / "use.py").write_text(user + more)
        repository = Repository.open(root, options=options)
        check_equal(repository, in_memory(root), [more], 0)
        rules += [edge.rule for edge in edges_of(repository) if edge.source == "use.py::go" and edge.kind == "calls"]
    assert rules == ["like-named", "like-named", "named-receiver", "like-named"]


def test_what_is_kept_of_a_file_goes_with_it(tmp_path: Path) -> None:
    """It is still there, and no longer to be searched; then it is as it was; then it is gone."""
    user = "from m1 import other\n\n\ndef f2():\n"
    root = made_of(tmp_path, {**_OTHERS, "lone.py": "def lone():\n    pass\n", "m2.py": f"{user}    pass\n"})
    options = IndexOptions(refresh_cache=RefreshCache())
    for lone in (b"def lone():\n    pass\n", b"\0\1\2", b"def lone():\n    pass\n", None):
        (root / "m2.py").write_text(f"{user}    other({lone!r})\n")
        (root / "lone.py").unlink() if lone is None else (root / "lone.py").write_bytes(lone)
        check_equal(Repository.open(root, options=options), in_memory(root), [repr(lone)], 1)


def test_what_is_kept_is_not_used_for_another_index(tmp_path: Path) -> None:
    """Somebody else refreshed in between, or what was kept could not be stored."""
    user = "from m1 import other\n\n\ndef f2():\n"
    root = made_of(tmp_path, {**_OTHERS, "m2.py": f"{user}    pass\n"})
    options = IndexOptions(refresh_cache=RefreshCache())
    for text in ("x = 1\n", "x = 2\n"):
        (root / "m1.py").write_text(f"def f1():\n    {text}")
        Repository.open(root, options=options)
    (root / "m1.py").write_text("def f1():\n    x = f2()\n\ndef other():\n    pass\n")
    Repository.open(root)
    (root / "m2.py").write_text(f"{user}    other()\n")
    check_equal(Repository.open(root, options=options), in_memory(root), ["by another"], 0)


def test_in_a_process_that_stays_all_kinds_of_changes_of_a_work_tree_are_seen(tree: WorkTree) -> None:
    """After each of them the index is that of a process that has seen nothing before, with and without a scan."""
    options = IndexOptions(refresh_cache=RefreshCache())
    scanned: list[Path] = []
    changes: list[tuple[Callable[[], object], bool]] = [
        (lambda: tree.write("app.py", "def checkout(order):\n    return order\n"), True),  # nothing kept yet
        (lambda: tree.write("store.py", "def save_order(order):\n    return [order]\n"), False),
        (lambda: tree.write("more.py", "import app\n\n\ndef more():\n    app.checkout(1)\n"), True),
        (lambda: tree.write("more.py", "import app\n\n\ndef more():\n    app.checkout(2)\n"), False),
        (tree.commit, True),
        (lambda: (tree.path / "README.md").unlink(), True),
        (lambda: tree.write(".causalistignore", "more.py\n"), True),
        (lambda: tree.write(".causalistignore", "app.py\n"), True),
        (lambda: tree.write("app.py", "x = 1\n"), True),  # of no concern, which a scan says
        (lambda: tree.write("store.py", "def save_order(order):\n    return 3\n"), False),
    ]

    def scan(root: Path, *arguments: Any, **named: Any) -> Scan:
        scanned.append(root)
        return scan_folder(root, *arguments, **named)

    Repository.open(tree.path, options=options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "scan_folder", scan)
        for i, (change, is_scanned) in enumerate(changes):
            scanned.clear()
            change()
            index = Repository.open(tree.path, options=options).index
            assert differences(without_stamps(index), without_stamps(in_memory(tree.path).index)) == [], i
            assert bool(scanned) == is_scanned, i


def test_routes_stay_where_an_edit_says_nothing_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process that stays. An edit counts that moves a row."""
    found: list[bool] = []
    relink_routes = build._GraphUpdate._relink_routes
    monkeypatch.setattr(build._GraphUpdate, "_relink_routes", lambda self: found.append(True) or relink_routes(self))
    files = {
        **{f"m{i}.js": f"exports.f{i} = () => {i};\n" for i in range(9)},
        "door.js": "exports.open = () => 1;\nexports.shut = () => {\n  return 2;\n};\n",
        "api.js": 'const { open } = require("./door");\napp.get("/door", open);\n',
        "other.js": "exports.other = () => {\n  return 3;\n};\n",
    }
    write_all(tmp_path, files)
    begin(tmp_path)
    options = IndexOptions(refresh_cache=RefreshCache())
    edits = [
        ("other.js", "return 3", "return 4", True),  # nothing is kept yet
        ("other.js", "return 4", "return 5", False),
        ("m3.js", "=> 3", "=> 33", False),
        ("door.js", "exports.open", "\nexports.open", True),
        ("api.js", "app.get", "\napp.get", True),
        ("other.js", "return 5", "return 6", False),
    ]
    Repository.open(tmp_path, options=options)
    for path, old, new, is_found in edits:
        text = (tmp_path / path).read_text()
        assert old in text
        (tmp_path / path).write_text(text.replace(old, new))
        found.clear()
        opened = Repository.open(tmp_path, options=options)
        assert bool(found) == is_found, (path, new)
        rebuilt = in_memory(tmp_path)
        check_equal(opened, rebuilt, [f"{path}: {new}"], 0)
        assert "external:route:GET /door" in set(opened.index.graph.nodes.ids)


def test_facts_that_are_searched_for_names_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    get = FactsCache.get_encoded

    def counted(self: FactsCache, keys: Iterable[Any]) -> dict[Any, tuple[bytes, bytes]]:
        wanted = list(keys)
        read.append(len(wanted))
        return get(self, wanted)

    monkeypatch.setattr(FactsCache, "get_encoded", counted)
    root, keeper = made_of(tmp_path, dict(_OTHERS)), RefreshCache()
    for i in range(3):
        with (root / "m1.py").open("a") as file:
            file.write(f"\n\ndef more{i}():\n    return f{i}()\n")
        refreshed = Repository.open(root, options=IndexOptions(refresh_cache=keeper))
        check_equal(refreshed, in_memory(root), [str(i)], 0)
    assert read == [8, 0, 0]
    monkeypatch.setattr(graph_refresh, "_MAX_ENCODED_BYTES", 0)
    (root / "m2.py").write_text("def other():\n    pass\n")
    Repository.open(root, options=IndexOptions(refresh_cache=keeper))
    assert read[3:] == [1] and not keeper.encoded  # m1.py as it is now


def test_edits_of_handlers_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_refresh, "_MAX_AFFECTED_SHARE", 1.0)
    root = tmp_path / "repo"
    files = {
        "src/door.js": "exports.open = () => 1;\nexports.shut = () => 2;\n",
        "src/api.js": 'const { open, shut } = require("./door");\napp.get("/door", (q) => {\n  open(q);\n});\n',
        "test/door.test.js": 'const { open } = require("../src/door");\n'
        'describe("door", () => {\n  function make() { return open(); }\n'
        '  it("opens", () => {\n    make();\n  });\n});\n',
        "src/user.js": 'const { shut } = require("./door");\nfunction use(door) { door.make(); shut(); }\n',
    }
    write_all(root, files)
    Repository.open(root)
    edits = [
        ("src/api.js", '"/door"', '"/door/:id"'),
        ("src/api.js", "  open(q);\n", "  shut(q);\n"),
        ("test/door.test.js", '"opens"', '"shuts and opens"'),
        ("test/door.test.js", "make", "build"),
        ("test/door.test.js", '  it("', '  it("opens twice", () => { open(); });\n  it("'),
        ("src/api.js", 'app.get("/door/:id"', 'app.unknown("/door/:id"'),
    ]
    for number, (path, old, new) in enumerate(edits, 1):
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))
        check_equal(Repository.open(root), in_memory(root), [f"{each[0]}: {each[2]}" for each in edits[:number]], 0)


def test_messages_follow_the_types_that_other_files_declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_refresh, "_MAX_AFFECTED_SHARE", 1.0)
    root = tmp_path / "repo"
    files = {
        "shop/Events.cs": "namespace Shop;\npublic class Paid {}\npublic class Repaid : Paid {}\n",
        "shop/Mails.cs": "namespace Shop;\npublic class Mails : IHandler<Paid> {\n  void Handle(Paid paid) {}\n}\n",
        "shop/Till.cs": "namespace Shop;\npublic class Till {\n  void Pay() { bus.Publish(new Repaid()); }\n}\n",
        "app/Clean.php": "<?php\nclass Clean { protected $signature = 'clean:all'; public function handle() {} }\n",
        "app/Plan.php": "<?php\nclass Plan { function run() { Artisan::call('clean:all'); dispatch(new Clean()); } }\n",
        "tasks.py": "def mail(): pass\n",
        "views.py": "from tasks import mail\ndef pay():\n    mail.delay()\n",
    }
    write_all(root, files)
    Repository.open(root)
    mails, clean, mail = "shop/Mails.cs::Mails.Handle", "app/Clean.php::Clean.handle", "tasks.py::mail"
    edits = [
        ("shop/Events.cs", " : Paid {}", " {}", {clean, mail}),
        ("shop/Events.cs", "Repaid {}", "Repaid : Paid {}", {mails, clean, mail}),
        ("shop/Events.cs", "class Paid", "class Payed", {clean, mail}),
        ("app/Clean.php", "clean:all", "clean:some", {clean, mail}),  # by its type still
        ("app/Clean.php", "function handle", "function other", {mail}),
        ("tasks.py", "def mail", "def post", set()),
    ]
    for number, (path, old, new, reached) in enumerate(edits, 1):
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))
        opened = Repository.open(root)
        check_equal(opened, in_memory(root), [f"{each[0]}: {each[2]}" for each in edits[:number]], 0)
        assert {edge.target for edge in edges_of(opened) if edge.kind == "emits"} == reached, new
