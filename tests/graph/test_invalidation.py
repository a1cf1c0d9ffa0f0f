"""Which names an edit gives another meaning, worked out by hand."""

import pytest

from causalist.graph.invalidation import compare_interfaces, dependent_names
from causalist.model.facts import interface_of
from causalist.parse import load_settings, parse_file

_BEFORE = """from base import Base
LIMIT = 3
class Shop(Base):
    def open(self):
        return Door()
def make():
    return Shop()
"""


_PYTHON = load_settings()["python"]


def _names(path: str, before: str, after: str) -> set[str] | None:
    old, new = parse_file(path, before.encode()), parse_file(path, after.encode())
    change = compare_interfaces(old, new, load_settings().get(new.language))
    return None if change is None else set(change.names)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return Door()", "return Door() or log()", {"open"}),
        ("return Shop()", "return None", {"make"}),
        ("def make", "def sell():\n    pass\ndef make", {"sell"}),
        ("def make():\n    return Shop()\n", "", {"make"}),
        ("def make", "def build", {"make", "build"}),
        ("    def open", "    def close(self):\n        pass\n    def open", {"close"}),
        ("class Shop(Base)", "class Shop", {"Shop"}),
        ("LIMIT = 3", "LIMIT = Limit()", {"LIMIT"}),
        ("LIMIT = 3\n", "", {"LIMIT"}),
        ("import Base", "import Base as Root", {"Base", "Root"}),
        ("from base", "from root", {"Base"}),
        ("def open(self)", "def open(self, key: Key)", set()),
        # What has a special name in a type is used by who knows the type.
        ("    def open", "    def __enter__(self):\n        pass\n    def open", {"Shop"}),
        ("def make", "def __getattr__(name):\n    pass\ndef make", {"__getattr__"}),
        # An attribute has a name of its own, unless that is a special one.
        ("        return Door()", "        self.door = Door()\n        return Door()", {"door"}),
        (
            "        return Door()",
            "        self.__call__ = Door()\n        return Door()",
            {"Shop", "open", "__call__"},
        ),
        # A variable has none that others know.
        ("    return Shop()", "    shop = Shop()\n    return shop", {"make"}),
        ("import Base", "import *", None),
        ("LIMIT = 3", "__all__ = ['make']", None),
    ],
)
def test_names_of_a_change(old: str, new: str, names: set[str] | None) -> None:
    assert _names("a.py", _BEFORE, _BEFORE.replace(old, new)) == names


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.ts", "export class A {}\n", "export default class A {}\n"),
        ("a.js", "function f() {}\n", "function f() {}\nmodule.exports = f;\n"),
        ("a.go", "package a\n\nfunc f() {}\n", "package a\n\nfunc init() {}\n\nfunc f() {}\n"),
        ("a.go", "package a\n", "package b\n"),
        ("a.go", "package a\n\ntype T struct{}\n", "package a\n\ntype T struct{}\n\nfunc (t T) F() {}\n"),
        ("package.json", '{"name": "a"}', '{"name": "b"}'),
        ("a.rs", "struct S;\n", "struct S;\nimpl Clone for S {}\n"),
        ("a.ts", 'export * from "./b";\n', 'export * from "./c";\n'),
        ("a.rb", "require 'b'\n", "require 'b'\nrequire 'c'\n"),
        ("a.c", '#include "b.h"\n', '#include "c.h"\n'),
        ("a.lua", 'require("b")\n', 'require("c")\n'),
        ("a.sh", ". ./b.sh\n", ". ./c.sh\n"),
    ],
)
def test_what_no_name_tells(path: str, before: str, after: str) -> None:
    assert _names(path, before, after) is None


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.ts", 'import "./b";\nexport class A {}\n', 'import "./c";\nexport class A {}\n'),
        ("a.js", "function f() {}\n", "require('./b');\nfunction f() {}\n"),
        ("a.go", "package a\n", 'package a\n\nimport _ "example.org/b"\n'),
        ("a.php", "<?php\n", "<?php\nrequire __DIR__ . '/b.php';\n"),
    ],
)
def test_what_is_imported_for_its_side_effects_is_nobody_elses_affair(path: str, before: str, after: str) -> None:
    assert _names(path, before, after) == set()


def test_what_is_made_of_something() -> None:
    facts = interface_of(
        parse_file(
            "a.py",
            b"from shop import Shop as Store, Till\nclass Kiosk(Store):\n    pass\n"
            b"def run():\n    return Till().ring()\n"
            b"class Mall:\n    def __init__(self, first: Kiosk):\n        self.first = first\n        self.n = 1\n",
        )
    )
    assert dependent_names(facts, _PYTHON, {"Shop"}) == {"Store"}
    assert dependent_names(facts, _PYTHON, {"Store"}) >= {"Kiosk"}
    assert "run" in dependent_names(facts, _PYTHON, {"ring"})
    assert "first" in dependent_names(facts, _PYTHON, {"Kiosk"})
    assert dependent_names(facts, _PYTHON, {"unheard_of"}) == set()


def test_what_is_made_of_a_variable() -> None:
    """Of the `held` in `fill`, not of its namesake: the attribute, what a function inside returns, and what is made of
    these; the variables between are not told."""
    facts = interface_of(
        parse_file(
            "a.py",
            b"class Shop:\n    def fill(self):\n        held = Till()\n        kept = held\n        self.till = kept\n"
            b"        def inner():\n            return held\n        return inner\n"
            b"    def empty(self):\n        held = Bag()\n        self.bag = held\n        return held\n"
            b"def first(shop: Shop):\n    return shop.till\n",
        )
    )
    assert dependent_names(facts, _PYTHON, set(), {("Shop.fill", "held")}) == {"inner", "till"}
    assert dependent_names(facts, _PYTHON, {"till"}) == {"first"}
    assert dependent_names(facts, _PYTHON, {"inner"}) == {"fill"}
    assert dependent_names(facts, _PYTHON, set(), {("Shop.empty", "held")}) == {"empty", "bag"}
    assert dependent_names(facts, _PYTHON, {"Till"}) == {"inner", "till"}
    assert dependent_names(facts, None, {"till"}) == {"first"}
    assert dependent_names(facts, None, {"inner"}) == {"Shop", "fill"}, "without a mark for special names"


def test_the_words_of_a_title_name_nothing() -> None:
    before = 'describe("the door", () => {\n  function knock() {}\n  it("opens", () => { knock(); });\n});\n'
    assert _names("a.test.js", before, before.replace("opens", "shuts the lock")) == set()
    assert _names("a.test.js", before, before.replace("knock", "ring")) == {"knock", "ring"}


_SCRIPT = """. ./b.ps1
class Shop { [Door]$Door
  [Door] Open($key) { return 1 } }
function Get-Door($Name) { $x = 1 }
Describe 'a' { It 'b' { 1 } }
"""


@pytest.mark.parametrize(
    ("old", "new", "is_followed"),
    [
        ("$x = 1", "$y = Get-Door", True),
        ("It 'b'", "It 'c'", True),
        ("function Get-Door", "function New-Door", False),
        ("[Door] Open", "[Shop] Open", False),
        ("[Door]$Door", "[Shop]$Door", False),
        ("class Shop", "class Shop : Store", False),
        ("./b.ps1", "./c.ps1", False),
    ],
)
def test_names_that_are_alike_whatever_letters_are_capitals_are_not_followed(
    old: str, new: str, is_followed: bool
) -> None:
    assert (_names("a.ps1", _SCRIPT, _SCRIPT.replace(old, new)) is not None) == is_followed
