"""Reviews of changes in small repositories; what is expected was written by hand."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from causalist.cli.review import _Row, _section
from causalist.pack import count_tokens
from causalist.review.broken_calls import behind_receiver, describe_misfit
from causalist.review.changes import compare_versions
from causalist.review.syntax_file import SyntaxFile
from causalist.review.versions import FileVersions
from tests.cli.commands import Done, invoke, write_all

PRICES = "def price(item, tax):\n    total = item.cost * tax\n    return round(total, 2)\n"
CART = "from shop.prices import price\n\n\ndef total(items):\n    return sum(price(each, 2) for each in items)\n"
TEST = "from shop.cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n"
FILES = {"shop/__init__.py": "", "shop/prices.py": PRICES, "shop/cart.py": CART, "tests/test_cart.py": TEST}


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change", "--allow-empty")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = write_all(tmp_path / "shop", FILES)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


def documented(folder: Path, *arguments: str) -> dict[str, list[dict[str, object]]]:
    done = invoke("review", "--json", *arguments, cwd=folder)
    assert done.code == 0, done.stderr
    found: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return found


def changed(old: bytes, new: bytes, path: str = "a.py") -> list[tuple[str, str]]:
    found = compare_versions([FileVersions(path, path, old, new)])
    return [(each.kind.value, each.node.partition("::")[2]) for each in found.definitions]


def test_kinds_of_changes() -> None:
    old = b"def a(x):\n    return x\n\ndef b():\n    return 1\n\ndef c():\n    pass\n\ndef same():\n    return 2\n"
    new = (
        b"def a(x, y):\n    return x\n\ndef b():\n    return 3\n\ndef same():\n    return 2\n\ndef d():\n    yield 1\n"
    )
    assert changed(old, new) == [("signature", "a"), ("body", "b"), ("added", "d"), ("removed", "c")]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (
            "a.py",
            b'def f():\n    """One."""\n    return 1\n',
            b'# note\ndef f():\n    """Two."""\n\n    return   1  # x\n',
        ),
        ("a.py", b"def f():\n    return 1\n", b"def f():\r\n    return 1\r\n"),
        ("a.js", b"function f() { return 1 }\n", b"/* x */\nfunction f() {\n  return 1\n}\n"),
        ("A.java", b"class A { int f() { return 1; } }\n", b"/** d */\nclass A {\n  int f() { return 1; }\n}\n"),
        ("a.go", b"package a\nfunc F() int { return 1 }\n", b"package a\n\n// F is.\nfunc F() int {\n\treturn 1\n}\n"),
        ("a.rb", b"def f\n  1\nend\n", b"# c\ndef f\n\n  1\nend\n"),
    ],
)
def test_comments_and_white_space_are_no_change(path: str, old: bytes, new: bytes) -> None:
    found = compare_versions([FileVersions(path, path, old, new)])
    assert found.definitions == ()
    assert found.files[0].note.startswith("no change in code")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", b"def f():\n    return 1\n", b"def f():\n    return 2\n"),
        ("a.rb", b"# of a file\ndef f\n  a # one\n  b\nend\n", b"# of a file\ndef f\n  a # one\n  c\nend\n"),
        ("a.rb", b"def f\n  b\nend\n", b"def f\n  # one\n  c # two\nend\n"),
        ("a.go", b"package a\n\nfunc f() int {\n\treturn 1\n}\n", b"package a\n\nfunc f() int {\n\treturn 2\n}\n"),
    ],
)
def test_a_body_with_other_code_is_found_without_a_tree(
    monkeypatch: pytest.MonkeyPatch, path: str, old: bytes, new: bytes
) -> None:
    monkeypatch.setattr(SyntaxFile, "read", None)  # calling it fails
    assert changed(old, new, path) == [("body", "f")]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", b'def f():\n    """One.\n    Two."""\n    g()\n', b'def f():\n    """One.\n    Three."""\n    g()\n'),
        ("a.py", b"def f():\n    'One.'\n    g()\n", b"def f():\n    'Two.'\n    g()\n"),
        ("a.rb", b"def f\n  a\n=begin\none\n=end\nend\n", b"def f\n  a\n=begin\ntwo\n=end\nend\n"),
        ("a.ts", b"function f() {\n  g(); /* a\n  b */\n}\n", b"function f() {\n  g(); /* a\n  c */\n}\n"),
        ("a.lua", b"function f()\n  --[[ a\n  b ]]\n  g()\nend\n", b"function f()\n  --[[ a\n  c ]]\n  g()\nend\n"),
        ("a.php", b"<?php\nfunction f() {\n  g(); # a\n}\n", b"<?php\nfunction f() {\n  g(); # b\n}\n"),
        ("a.ml", b"let f x =\n  (* a *)\n  g x\n", b"let f x =\n  (* b *)\n  g x\n"),
        ("a.rb", b"def f\n  a # one\n  b\nend\n", b"def f\n  # two\n  a\n  b # three\nend\n"),
        ("a.rb", b'def f\n  g("#{a}", b)\nend\n', b'def f\n  g("#{a}",\n    b)\nend\n'),
        ("a.js", b"function f() {\n  g(/a\\//, b)\n}\n", b"function f() {\n  g(/a\\//,\n    b)\n}\n"),
        ("a.rs", b"fn f() {\n    g(1,\n      2)\n}\n", b"fn f() {\n    g(1, 2)\n}\n"),
    ],
)  # fmt: skip
def test_lines_that_may_be_comments_are_left_to_the_tree(path: str, old: bytes, new: bytes) -> None:
    assert changed(old, new, path) == []


def test_indentation_that_means_something_is_a_change() -> None:
    old = b"def f(x):\n    if x:\n        a()\n        b()\n"
    assert changed(old, b"def f(x):\n    if x:\n        a()\n    b()\n") == [("body", "f")]


def test_moved_and_renamed_definitions() -> None:
    body = b"(x, y):\n    for each in x:\n        y.add(each * 2)\n    return sorted(y)\n"
    moved = compare_versions(
        [FileVersions("a.py", "a.py", b"def f" + body, b"A = 1\n"), FileVersions("", "b.py", None, b"def f" + body)]
    )
    pairs = [(each.kind.value, each.node, each.old.node if each.old else "") for each in moved.definitions]
    assert ("moved", "b.py::f", "a.py::f") in pairs
    assert changed(b"def f" + body, b"def g" + body) == [("moved", "g")]


def test_broken_syntax_raises_nothing() -> None:
    found = compare_versions([FileVersions("a.py", "a.py", b"def f():\n    return 1\n", b"def f(:\n    return ((\n")])
    assert found.files[0].note == "parts of it cannot be parsed"


def test_a_file_in_utf_16() -> None:
    from causalist.source import as_utf8

    old, new = (as_utf8(f"def f():\n    return {n}\n".encode("utf-16")) for n in (1, 2))
    assert changed(old, new) == [("body", "f")]


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.py", "def f(a, /, b: int, c=1, *d, e, g=2, **h): pass", "a b c? *d e= g=? **h"),
        ("a.ts", "function f(this: X, a: string, b?: number, c = 1, ...r: any[]) {}", "a b? c? *r"),
        ("a.py", "def f(a: Callable[..., None], b: tuple[int, ...], c): pass", "a b c"),
        ("a.ts", "function f(a: (...x: any[]) => void, b: number, ...c: string[]) {}", "a b *c"),
        ("a.go", "package a\nfunc f(a, b int, c ...string) {}", "a b *c"),
        ("A.java", "class A { void f(final int a, String... b) {} }", "a *b"),
        ("a.rs", "impl A { fn f(&self, a: i32) {} }", "a"),
        ("a.rb", "def f(a, b = 1, *c, d:, e: 2, **k, &l)\nend", "a b? *c d= e=? **k"),
        ("a.kt", "fun f(a: Int, b: Int = 1, vararg c: Int) {}", "a b? *c"),
        ("a.php", "<?php function f($a, $b = 1, ...$c) {}", "a b? *c"),
        ("a.c", "int f(void) { return 1; }", ""),
        ("a.cs", "class A { void f(int a, string b = null, params int[] c) {} }", "a b? *c"),
        ("a.py", "def f(url, *, params: dict = None, vararg=1): pass", "url params=? vararg=?"),
        ("a.ts", "function f(params: X, self: Y) {}", "params self"),
        ("a.go", "package a\nfunc f(params string, b int) {}", "params b"),
    ],
)
def test_parameters(path: str, source: str, expected: str) -> None:
    data = source.encode()
    found = compare_versions([FileVersions("", path, None, data)]).read[path]
    function = next(each for each in found.definitions if each.fact.name == "f")
    stars = {"list": "*", "map": "**"}
    written = [
        f"{stars.get(p.form, '')}{p.name}{'=' if p.form == 'keyword' else ''}{'?' if p.is_optional else ''}"
        for p in function.parameters or ()
    ]
    assert " ".join(written) == expected


def test_calls_with_their_arguments() -> None:
    syntax = SyntaxFile.read("a.py", b"x.f(1, k=2)\ng.h(f(*a))\n")
    assert syntax is not None
    first, second = syntax.calls(0, 100, frozenset({"f"}))
    assert [each.name for each in first.arguments] == ["", "k"]
    assert (first.is_open, second.is_open, second.row) == (False, True, 1)


def test_working_tree(shop: Path) -> None:
    write_all(shop, {"shop/prices.py": PRICES.replace("tax)", "tax, currency)"), "notes.txt": "x\n"})
    found = documented(shop)
    assert [(e["change"], e["node"]) for e in found["definitions"]] == [("signature", "shop/prices.py::price")]
    assert [(e["path"], e["line"], e["why"]) for e in found["broken_calls"]] == [
        ("shop/cart.py", 5, "nothing is given for 'currency'")
    ]
    assert [e["node"] for e in found["affected"]] == ["shop/cart.py::total"]
    assert [e["node"] for e in found["tests"]] == ["tests/test_cart.py::test_total"]
    assert [(e["path"], e["status"]) for e in found["files"]] == [
        ("notes.txt", "added"),
        ("shop/prices.py", "modified"),
    ]
    assert list(map(str, found["interface"])) == ["shop/prices.py::price"]


def test_calls_that_still_fit_are_not_reported(shop: Path) -> None:
    write_all(shop, {"shop/prices.py": PRICES.replace("tax)", "tax, currency=None)")})
    assert documented(shop)["broken_calls"] == []


def test_removed_and_renamed_functions(shop: Path) -> None:
    write_all(shop, {"shop/prices.py": PRICES.replace("price(", "cost_of(")})
    found = documented(shop)
    assert [(e["change"], e["node"], e["before"]) for e in found["definitions"]] == [
        ("moved", "shop/prices.py::cost_of", "shop/prices.py::price")
    ]
    assert [(e["path"], e["line"], e["why"]) for e in found["broken_calls"]] == [
        ("shop/cart.py", 5, "price is now cost_of")
    ]


GONE = """\
from shop.parts import Part


def pick(name):
    return name


class Box:
    def content(self):
        return pick(1)


def check():
    def helper(x):
        return x

    return helper(1)
"""
LEFT = "class Box:\n    pass\n\n\ndef check():\n    return pick(1)\n"


def test_calls_that_cannot_mean_what_was_removed(tmp_path: Path) -> None:
    """A parameter, an import, a method called without a receiver, a function in a function, and a stranger's method."""
    user = (
        "from shop.box import Box\n\n\n"
        "def with_parameter(pick):\n    return pick(1)\n\n\n"
        "def bare():\n    return content()\n\n\n"
        "def local(box):\n    return box.helper(1)\n\n\n"
        "def known(box):\n    return box.content()\n"
    )
    folder = write_all(tmp_path, {"shop/box.py": GONE, "user.py": user})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"shop/box.py": "from other import pick\n\n\n" + LEFT})
    found = documented(folder)["broken_calls"]
    assert [(e["path"], e["line"], e["why"]) for e in found] == [("user.py", 17, "content was removed")]
    write_all(folder, {"shop/box.py": LEFT})
    found = documented(folder)["broken_calls"]
    assert [(e["path"], e["line"]) for e in found] == [("shop/box.py", 6), ("user.py", 17)]
    write_all(folder, {"stranger.py": "import socket\n\n\ndef read(answer):\n    return answer.content()\n"})
    assert [(e["path"], e["line"]) for e in documented(folder)["broken_calls"]] == [("shop/box.py", 6)]


def test_commits_and_ranges(shop: Path) -> None:
    write_all(shop, {"shop/prices.py": PRICES.replace("2)", "3)")})
    commit(shop)
    git(shop, "mv", "shop/prices.py", "shop/costs.py")
    write_all(shop, {"logo.png": b"\x89PNG\x00\x01".decode("latin-1")})
    commit(shop)
    first = documented(shop, "HEAD~1")
    assert [(e["change"], e["node"]) for e in first["definitions"]] == [("body", "shop/prices.py::price")]
    second = documented(shop, "HEAD")
    assert [(e["path"], e["before"], e["status"], e["note"]) for e in second["files"]] == [
        ("logo.png", None, "added", "binary"),
        ("shop/costs.py", "shop/prices.py", "renamed", None),
    ]
    whole = documented(shop, "HEAD~2..HEAD")
    assert [e["status"] for e in whole["files"]] == ["added", "renamed"]
    root = documented(shop, "HEAD~2")
    assert {e["change"] for e in root["definitions"]} == {"added"}


def test_a_merge_is_compared_with_its_first_parent(shop: Path) -> None:
    git(shop, "checkout", "-q", "-b", "side")
    write_all(shop, {"side.py": "def side():\n    return 1\n"})
    commit(shop)
    git(shop, "checkout", "-q", "main")
    write_all(shop, {"own.py": "def own():\n    return 1\n"})
    commit(shop)
    git(shop, "merge", "-q", "--no-edit", "side")
    assert [e["node"] for e in documented(shop, "HEAD")["definitions"]] == ["side.py::side"]


def test_staged_is_not_the_working_tree(shop: Path) -> None:
    write_all(shop, {"shop/prices.py": PRICES.replace("tax)", "tax, currency)")})
    git(shop, "add", "-A")
    write_all(shop, {"shop/prices.py": PRICES})
    assert [e["line"] for e in documented(shop, "--staged")["broken_calls"]] == [5]
    assert invoke("review", cwd=shop).code == 1


PATCH = """--- a/shop/prices.py
+++ b/shop/prices.py
@@ -1,3 +1,3 @@
-def price(item, tax):
+def price(item, tax, currency):
     total = item.cost * tax
     return round(total, 2)
"""


def test_a_patch_is_applied_to_the_files(shop: Path) -> None:
    (shop / ".git" / "c.patch").write_text(PATCH)
    found = documented(shop, "--patch", ".git/c.patch")
    assert [(e["path"], e["line"]) for e in found["broken_calls"]] == [("shop/cart.py", 5)]
    assert (shop / "shop/prices.py").read_text() == PRICES


def test_a_patch_that_does_not_apply_names_its_hunk(shop: Path) -> None:
    (shop / ".git" / "c.patch").write_text(PATCH.replace("item.cost * tax", "item.cost"))
    message = invoke("review", "--patch", ".git/c.patch", cwd=shop).failed("usage")
    assert "hunk '@@ -1,3 +1,3 @@' of shop/prices.py" in message
    assert "line 2 should be '    total = item.cost'; the file has '    total = item.cost * tax'" in message


def test_without_git(tmp_path: Path) -> None:
    done = invoke("review", cwd=write_all(tmp_path / "plain", FILES))
    assert "not a git repository" in done.failed("git")


def test_an_unknown_commit(shop: Path) -> None:
    branch = git(shop, "branch", "--show-current").strip()
    assert f"no commit 'nowhere'; there are {branch}; check" in invoke("review", "nowhere", cwd=shop).failed("git")


def test_files_that_usually_change_too(shop: Path) -> None:
    for n in range(6):
        write_all(shop, {"shop/prices.py": PRICES + f"# {n}\n", "shop/cart.py": CART + f"# {n}\n"})
        commit(shop)
    write_all(shop, {"shop/prices.py": PRICES.replace("2)", "3)")})
    missing = documented(shop)["missing"]
    assert [(e["file"], e["n_both"]) for e in missing] == [("shop/cart.py", 6)]


def _with_broken_call(shop: Path, *arguments: str) -> Done:
    write_all(shop, {"shop/prices.py": PRICES.replace("tax)", "tax, currency)")})
    return invoke("review", *arguments, cwd=shop)


def test_conditions_for_a_build(shop: Path) -> None:
    assert _with_broken_call(shop, "--fail-on", "breaking,secrets").code == 3
    assert _with_broken_call(shop, "--fail-on", "secrets").code == 0
    assert "none of breaking" in _with_broken_call(shop, "--fail-on", "typos").stderr


def test_annotations(shop: Path) -> None:
    lines = _with_broken_call(shop, "--format", "github").stdout.splitlines()
    assert lines[0] == (
        "::error file=shop/cart.py,line=5,title=broken-call::calls shop/prices.py::price: "
        "nothing is given for 'currency'"
    )


def test_sarif_has_what_its_schema_requires(shop: Path) -> None:
    """Required by SARIF 2.1.0: version and runs; tool.driver.name of a run; message of a result."""
    document = json.loads(_with_broken_call(shop, "--format", "sarif").stdout)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert run["tool"]["driver"]["name"] == "causalist"
    assert {result["ruleId"] for result in run["results"]} <= rules
    first = run["results"][0]
    assert first["message"]["text"] and first["level"] in ("none", "note", "warning", "error")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "shop/cart.py"
    assert place["region"]["startLine"] == 5


def test_a_picture_has_the_change_its_users_and_what_breaks(shop: Path) -> None:
    write_all(shop, {"shop/prices.py": PRICES.replace("tax)", "tax, currency)")})
    svg = invoke("review", "--format", "svg", cwd=shop).stdout
    assert svg.count("(breaks)") == 1 and "red: breaks" in svg
    nodes = ["shop/prices.py::price", "shop/cart.py::total", "tests/test_cart.py::test_total"]
    assert re.findall(r'data-node="([^"]*)"', svg) == nodes


def test_markdown(shop: Path) -> None:
    text = _with_broken_call(shop, "--format", "markdown").stdout
    assert "### Call sites that no longer fit (1)" in text
    assert "- `shop/cart.py:5` calls `shop/prices.py::price`: nothing is given for 'currency'" in text


def test_added_secrets_are_placed_and_never_shown(shop: Path) -> None:
    token = "gh" + "p_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    write_all(shop, {"shop/prices.py": PRICES + f'TOKEN = "{token}"\n'})
    done = invoke("review", cwd=shop)
    assert "secrets added\n  shop/prices.py:4" in done.stdout
    assert token not in done.stdout


LAYERED = {
    "core/store.py": "def load():\n    return 1\n",
    "web/page.py": "from core.store import load\n\n\ndef draw():\n    return load()\n",
}


def layered(folder: Path, settings: str) -> Path:
    write_all(folder, {**LAYERED, "causalist.toml": settings})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"core/store.py": "from web.page import draw\n\n\ndef load():\n    return draw()\n"})
    return folder


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", []),
        ('[layers]\norder = ["web/", "core/"]\n', [(1, "core/ is below web/"), (5, "core/ is below web/")]),
        ('[layers]\norder = ["core/", "web/"]\n', []),  # the use that was there before is not the change's
        ('[layers]\nforbidden = ["core/ -> web/"]\n', [(1, "core/ may not use web/"), (5, "core/ may not use web/")]),
    ],
)
def test_rules_of_layers(tmp_path: Path, settings: str, expected: list[tuple[int, str]]) -> None:
    folder = layered(tmp_path / "shop", settings)
    found = documented(folder)["layers"]
    assert [(each["line"], each["rule"]) for each in found] == expected
    done = invoke("review", "--fail-on", "layers", cwd=folder)
    assert done.code == (3 if expected else 0)
    assert ("layer rules broken" in done.stdout) == bool(expected)


@pytest.mark.parametrize("value", ['order = ["views"]', 'forbidden = ["ui"]', 'forbidden = ["ui -> "]', "order = 1"])
def test_rules_that_say_nothing(tmp_path: Path, value: str) -> None:
    folder = layered(tmp_path / "shop", f"[layers]\n{value}\n")
    done = invoke("review", cwd=folder)
    assert done.code == 2
    assert "[layers]" in done.stderr


def test_the_pack_marks_the_change_and_keeps_to_its_budget(shop: Path) -> None:
    write_all(shop, {"shop/prices.py": PRICES.replace("tax)", "tax, currency)")})
    text = invoke("review", "--pack", cwd=shop).stdout
    assert "-def price(item, tax):\n+def price(item, tax, currency):\n     total = item.cost * tax\n" in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Calls that no longer fit", "## Changed", "## Users", "## Tests"]
    assert "shop/cart.py:5 calls `shop/prices.py::price`: nothing is given for 'currency'" in text
    assert "def test_total():" in text
    many = "".join(f"def f{i}(x):\n    return x * {i}\n\n\n" for i in range(60))
    write_all(shop, {"shop/many.py": many})
    for budget in (200, 500, 1500):
        cut = invoke("review", "--pack", "--max-tokens", str(budget), cwd=shop).stdout
        assert 0 < count_tokens(cut) <= budget
        assert "changed definitions" in cut.splitlines()[-1]  # what is left out is counted
    assert invoke("review", "--pack", "--max-tokens", "100", cwd=shop).code == 2


def test_the_pack_shows_no_secret(shop: Path) -> None:
    secret = "AKIA" + "IOSFODNN7ABCDEFG"  # in two parts, so that no scanner finds it here
    write_all(shop, {"shop/prices.py": PRICES + f'\n\ndef key():\n    return "{secret}"\n'})
    done = invoke("review", "--pack", cwd=shop)
    assert "def key():" in done.stdout
    assert secret not in done.stdout + done.stderr


def test_a_value_that_a_condition_sets_is_not_removed() -> None:
    """What stands in a condition is no definition of the graph; the name is there all the same."""
    old = b"import sys\n\nLIMIT = 1\n"
    new = b"import sys\n\nif sys.version_info > (3, 12):\n    LIMIT = 2\nelse:\n    LIMIT = 1\n"
    assert changed(old, new) == [("body", "")]
    assert changed(new, old) == [("body", "")]
    assert changed(old, b"import sys\n") == [("removed", "LIMIT")]


def test_a_module_of_ruby_around_a_class_is_not_what_was_added() -> None:
    wrapped = (
        b"module Shop\n  module Prices\n    class Tax\n      def rate\n        1\n      end\n    end\n  end\nend\n"
    )
    assert changed(b"", wrapped, "a.rb") == [("added", "Shop.Prices.Tax")]
    with_code = b"module Shop\n  LIMIT = 3\n  class Tax\n  end\nend\n"
    assert changed(b"", with_code, "a.rb") == [("added", "Shop")]


def test_a_second_call_by_the_same_name_may_mean_another_function(tmp_path: Path) -> None:
    """The caller has two calls of `jobs`, of two classes, and the changed one is known to be the second."""
    one = "class Box:\n    def jobs(self):\n        return []\n"
    user = (
        "from box import Box\n\n\ndef all_jobs(servers, boxes: list[Box]):\n"
        "    for server in servers:\n        server.jobs()\n"
        "    for box in boxes:\n        box.jobs()\n"
    )
    other = "class Server:\n    def jobs(self):\n        return []\n"
    folder = write_all(tmp_path, {"box.py": one, "server.py": other, "user.py": user})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(
        folder, {"box.py": one.replace("self", "self, names"), "user.py": user.replace("box.jobs()", "box.jobs(1)")}
    )
    assert documented(folder)["broken_calls"] == []
    write_all(folder, {"user.py": user})
    assert [each["line"] for each in documented(folder)["broken_calls"]] == [8]


def test_the_receiver_of_an_extension_method_is_no_argument_of_its_calls() -> None:
    code = (
        b"static class Texts {\n    public static int Measure(this Text text, bool trimmed) { return 1; }\n}\n"
        b"class User {\n    int One(Text s) { return s.Measure(true); }\n"
        b"    int Two(Text s) { return Texts.Measure(s, true); }\n    int Three(Text s) { return s.Measure(); }\n"
        b"    int Four(Ruler ruler) { return ruler.Measure(1, 2, 3); }\n}\n"
    )
    tree = SyntaxFile.read("a.cs", code)
    assert tree is not None
    parameters = tree.parameters(code.index(b"public"), code.index(b"}") + 1, is_method=True)
    calls = tree.calls(code.index(b"class User"), len(code), frozenset({"Measure"}))
    assert parameters is not None and [describe_misfit(call, parameters, "csharp") for call in calls] == [
        "", "", "nothing is given for 'trimmed'", "3 arguments in place of 1"
    ]  # fmt: skip
    # A call that fits only with the receiver as an argument may mean another method of that name.
    assert describe_misfit(calls[1], behind_receiver(parameters), "csharp") == "2 arguments in place of 1"


def test_a_field_of_another_type_is_not_one_that_moved() -> None:
    old = b"class Old:\n    logger: str = 'a'\n\n    def run(self):\n        return 1\n"
    new = b"class New:\n    logger: str = 'a'\n\n    def start(self, now, then):\n        return [now, then, 3]\n"
    found = compare_versions([FileVersions("a.py", "", old, None), FileVersions("", "b.py", None, new)])
    assert [(each.kind.value, each.node) for each in found.definitions] == [
        ("removed", "a.py::Old"),
        ("added", "b.py::New"),
    ]


def test_files_without_a_language_that_change_together_are_no_failure(tmp_path: Path) -> None:
    folder = write_all(tmp_path, {"ci/one.yml": "a: 0\n", "ci/two.yml": "b: 0\n"})
    git(folder, "init", "-q", "-b", "main")
    for n in range(1, 4):
        write_all(folder, {"ci/one.yml": f"a: {n}\n", "ci/two.yml": f"b: {n}\n"})
        commit(folder)
    write_all(folder, {"ci/one.yml": "a: 9\n"})
    found = documented(folder)
    assert found["missing"] == [] and [each["path"] for each in found["files"]] == ["ci/one.yml"]


def test_lines_for_a_terminal_are_no_wider_than_a_hundred_columns(tmp_path: Path) -> None:
    folders = "/".join(f"folder{n}" for n in range(6))
    names = [f"a_function_with_rather_a_long_name_{n}" for n in range(3)]
    before = "".join(f"def {name}(first):\n    return first\n\n\n" for name in names)
    users = f"import {folders.replace('/', '.')}.low as low\n" + "".join(
        f"\n\ndef use_{name}():\n    return low.{name}(1)\n" for name in names
    )
    folder = write_all(tmp_path, {f"{folders}/low.py": before, f"{folders}/high.py": users})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {f"{folders}/low.py": before.replace("first)", "first, second, third, fourth, fifth, sixth)")})
    lines = invoke("review", cwd=folder).stdout.split("\n")
    assert max(map(len, lines)) <= 100
    section = lines[lines.index("public interface changed") :]
    assert section[1:5] == [
        f"  {folders}/low.py",
        f"        1  {names[0]}  changed in signature: function",
        f"           - def {names[0]}(first)",
        f"           + def {names[0]}(first, second, third, fourth, fifth, sixth)",
    ]


def test_a_file_that_always_changes_too_is_missing_and_no_other(tmp_path: Path) -> None:
    """Cart and price changed together in each of six commits, the report once with them and four times alone."""
    folder = write_all(tmp_path / "shop", {f"{name}.py": "N = 0\n" for name in ("cart", "price", "report")})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    for number in range(1, 11):
        names = ("cart", "price") if number <= 6 else ("report",)
        names = (*names, "report") if number == 1 else names
        write_all(folder, {f"{name}.py": f"N = {number}\n" for name in names})
        commit(folder)
    write_all(folder, {"cart.py": "N = 99\n"})
    (found,) = documented(folder)["missing"]
    assert (found["file"], found["changed"], found["n_both"], found["n_commits"]) == ("price.py", "cart.py", 6, 6)
    git(folder, "checkout", "-q", ".")
    write_all(folder, {"report.py": "N = 99\n"})
    assert documented(folder)["missing"] == []


UPTIME = "long uptime(void) { return %d; }\n"


def test_a_call_of_functions_of_which_a_build_compiles_one_breaks_with_one_of_them(tmp_path: Path) -> None:
    """Three files for platforms: an edge to each has a third of the certainty, below the cut of one half."""
    files = {f"{name}/uptime.c": UPTIME % i for i, name in enumerate(("aix", "darwin", "linux"))}
    files["core.c"] = '#include "os.h"\n\nlong age(void) {\n    return uptime();\n}\n'
    files["os.h"] = "long uptime(void);\n"
    folder = write_all(tmp_path / "os", files)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"linux/uptime.c": "long uptime(int unit) { return unit; }\n"})
    found = documented(folder)
    assert [(e["path"], e["line"], e["target"]) for e in found["broken_calls"]] == [
        ("core.c", 4, "linux/uptime.c::uptime")
    ]
    edge = json.loads(invoke("callees", "age", "--json", cwd=folder).stdout)["edges"][0]
    assert edge["rule"] == "build-variant" and edge["confidence"] < 0.5
    impact = invoke("impact", "linux/uptime.c::uptime", "--min-confidence", "0.5", "--json", cwd=folder)
    assert [each["node"] for each in json.loads(impact.stdout)["affected"]] == ["core.c::age"]


def test_a_call_on_a_type_that_no_overload_takes_any_more(tmp_path: Path) -> None:
    """Arguments choose the overload, so that no edge leads from the calls with three. `Text.escape` is another one."""
    other = "    static String escape(String a) { return a; }\n"
    files = {
        "Marks.java": "class Marks {\n" + other + "    static String escape(String a, int b, int c) { return a; }\n}\n",
        "Text.java": 'class Text {\n    String escape(int a, int b, int c) { return ""; }\n}\n',
        "Page.java": 'class Page {\n    String a(Text t) {\n        Marks.escape("x");\n        t.escape(1, 2, 3);\n'
        '        return Marks.escape("x", 1, 2);\n    }\n}\n',
    }
    folder = write_all(tmp_path / "page", files)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"Marks.java": files["Marks.java"].replace("int c)", "int c, int d)")})
    found = documented(folder)["broken_calls"]
    assert [(e["path"], e["line"]) for e in found] == [("Page.java", 5)]


def test_branches_of_a_condition_are_no_overloads(tmp_path: Path) -> None:
    """One of the two branches still takes the call, but the build with the other one does not compile."""
    branches = "#ifdef A\nint width(void) { return 1; }\n#else\nint width(%s) { return 2; }\n#endif\n"
    folder = write_all(tmp_path / "os", {"a.c": branches % "void" + "int area(void) { return width(); }\n"})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"a.c": branches % "int unit" + "int area(void) { return width(); }\n"})
    found = documented(folder)["broken_calls"]
    assert [(e["line"], e["target"], e["why"]) for e in found] == [(6, "a.c::width~2", "nothing is given for 'unit'")]


@pytest.mark.slow
def test_defects_in_changed_functions_that_tests_notice(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test checks what `double` returns; none calls `hidden`, and the one of `silent` checks nothing."""
    pytest.importorskip("mutmut")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading those of this environment takes long
    code = "def double(x):\n    return x * 2\n\n\ndef silent(x):\n    return x + 1\n\n\ndef hidden(x):\n    return x\n"
    test = (
        "from shop.sums import double, silent\n\n\ndef test_double():\n    assert double(3) == 6\n\n\n"
        "def test_silent():\n    try:\n        silent(1)\n    except Exception:\n        pass\n"
    )
    write_all(shop, {"shop/sums.py": code, "tests/test_sums.py": test, "web.js": "function f() { return 1 }\n"})
    done = invoke("review", "--prove", "--json", "--max-mutants", "2", cwd=shop)
    assert done.code == 0, done.stderr
    assert "1 changed function of other languages: not broken" in done.stderr
    proofs = {each["node"].partition("::")[2]: each for each in json.loads(done.stdout)["proofs"]}
    assert list(proofs) == ["double", "silent", "hidden"]
    assert proofs["double"]["n_noticed"] == proofs["double"]["n_defects"] >= 2
    assert proofs["silent"]["n_noticed"] == 0 < proofs["silent"]["n_unnoticed"] == proofs["silent"]["n_defects"]
    assert proofs["hidden"]["why"] == "no test is known to reach it"
    text = invoke("review", "--prove", "--max-mutants", "2", cwd=shop).stdout
    lines = [" ".join(line.split()) for line in text.splitlines()]
    n = proofs["double"]["n_defects"]
    assert f"double {n} of {n} defects are noticed by tests" in lines
    assert f"silent no test notices: {proofs['silent']['n_defects']} defects" in lines
    assert "leave out --staged" in invoke("review", "--staged", "--prove", cwd=shop).stderr
    assert "not those of HEAD: check it out" in invoke("review", "HEAD", "--prove", cwd=shop).stderr
    assert "goes with" in invoke("review", "--prove", "--format", "sarif", cwd=shop).stderr
    assert json.loads(invoke("review", "--json", cwd=shop).stdout)["proofs"] is None
    commit(shop)  # which is checked out then, and nothing is run again
    done = invoke("review", "HEAD", "--prove", "--json", "--max-mutants", "2", cwd=shop)
    assert {each["node"].partition("::")[2]: each for each in json.loads(done.stdout)["proofs"]} == proofs


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (
            "A.java",
            b"class A {\n  int a = 1;\n  void f() {}\n}\n",
            b"class A {\n  int a = 1;\n  int b;\n  void f() {}\n}\n",
        ),
        ("a.rs", b"pub struct A {\n    a: u8,\n}\n", b"pub struct A {\n    a: u8,\n    b: u8,\n}\n"),
        ("a.ts", b"class A {\n  a = 1;\n}\n", b"class A {\n  a = 1;\n  b = 2;\n}\n"),
        ("a.cs", b"class A { int a; }\n", b"class A { int a; int b; }\n"),
    ],
)
def test_a_new_field_is_no_change_of_its_class(path: str, old: bytes, new: bytes) -> None:
    assert changed(old, new, path) == [("added", "A.b")]


def test_the_base_of_a_class_is_its_own() -> None:
    old, new = b"class A { int a; }\n", b"class A extends B { int a; int b; }\n"
    assert changed(old, new, "A.java") == [("signature", "A"), ("added", "A.b")]


def test_a_binding_that_may_change_is_no_part_of_a_signature_of_rust() -> None:
    old = b"pub fn f(mut a: u8) -> u8 { a }\npub fn g(a: &u8) {}\n"
    new = b"pub fn f(a: u8) -> u8 { a }\npub fn g(a: &mut u8) {}\n"
    assert changed(old, new, "a.rs") == [("body", "f"), ("signature", "g")]


def test_what_other_files_cannot_use_is_no_public_interface(tmp_path: Path) -> None:
    rust = "pub fn a({0}) {{}}\nfn b({0}) {{}}\npub(crate) fn c({0}) {{}}\npub trait T {{ fn d(&self, {0}); }}\n"
    script = "export function e({0}) {{ function inner({0}) {{ return 1 }} return inner() }}\n"
    old = {"a.rs": rust.format("x: u8"), "a.ts": script.format("x: string")}
    folder = write_all(tmp_path / "parts", old)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"a.rs": rust.format("x: u16"), "a.ts": script.format("x: number")})
    found = documented(folder)
    assert [each["change"] for each in found["definitions"]] == ["signature"] * 6
    assert list(map(str, found["interface"])) == ["a.rs::a", "a.rs::T.d", "a.ts::e"]


def test_users_in_a_new_file_and_unlikely_ones_are_not_listed(shop: Path) -> None:
    files = {
        "shop/prices.py": PRICES + "\n\nLIMIT = 3\n",
        "shop/new.py": "from shop.prices import price\n\nprice(1, 2)\n",
    }
    write_all(shop, {**files, "shop/prices.py": PRICES.replace("2)", "3)"), "shop/view.py": "import shop.new\n"})
    git(shop, "add", "-A")
    lines = invoke("review", "--staged", cwd=shop).stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("users that may run"))
    assert "shop/new.py" not in "".join(lines[first:])
    assert any("shop/cart.py" in line for line in lines[first:])


def test_tests_in_another_language_do_not_name_a_function(tmp_path: Path) -> None:
    code = "def shorten_path(x):\n    return x\n"
    files = {
        "src/paths.py": code,
        "tests/test_paths.py": 'def test_same(thing):\n    getattr(thing, "shorten_path")(1)\n',
        "tests/paths.test.js": 'it("other", () => {\n  expect("shorten_path").toBe(1);\n});\n',
    }
    folder = write_all(tmp_path / "mixed", files)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"src/paths.py": code.replace("return x", "return x + 1")})
    done = invoke("review", cwd=folder)
    assert "test_same  names shorten_path, line 1" in done.stdout
    assert "other" not in done.stdout


@pytest.mark.parametrize(
    ("path", "old", "new", "signature"),
    [
        ("a.rb", b"def f(a) # one\n  1\nend\n", b"def f(a)\n  2\nend\n", "def f(a)"),
        ("a.py", b"def f(a,  # one\n      b):\n    # two\n    g()\n", b"def f(a,\n      b):\n    h()\n", "def f(a, b)"),
        (
            "a.ts",
            b"function f(a = '//', // b\n  c = 1) { g() }\n",
            b"function f(a = '//', c = 1) { h() }\n",
            "function f(a = '//', c = 1)",
        ),
    ],
)  # fmt: skip
def test_comments_are_no_part_of_a_signature(path: str, old: bytes, new: bytes, signature: str) -> None:
    (found,) = compare_versions([FileVersions(path, path, old, new)]).definitions
    assert found.kind == "body"
    assert found.old is not None
    assert found.new is not None
    assert re.sub(r"\s+", " ", found.old.signature) == found.new.signature == signature


def test_brackets_that_say_nothing_in_go() -> None:
    old = b"package a\n\nvar (\n\tstd = New()\n)\n\nfunc (l *L) W() (*P) {\n}\n"
    new = b"package a\n\nvar std = New()\n\nfunc (l *L) W() *P {\n}\n"
    assert changed(old, new, "a.go") == []
    assert changed(b"package a\n\nfunc f() (*P) {\n}\n", b"package a\n\nfunc f() (*P, error) {\n}\n", "a.go") == [
        ("signature", "f")
    ]
    assert changed(b"package a\n\nvar a = 1\n", b"package a\n\nconst a = 1\n", "a.go") != []


def test_a_base_is_no_body_of_a_class() -> None:
    old = b"<?php\nclass A\n{\n  function f() { return 1; }\n}\n"
    found = compare_versions([FileVersions("a.php", "a.php", old, old.replace(b"A\n", b"A implements B\n"))])
    assert [(each.kind.value, each.is_edited) for each in found.definitions] == [("signature", False)]


def test_a_removed_test_is_no_public_interface(tmp_path: Path) -> None:
    folder = write_all(
        tmp_path / "a", {"src/a.py": "def f():\n    return 1\n", "tests/test_a.py": "class TestA:\n    x = 1\n"}
    )
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    (folder / "tests/test_a.py").unlink()
    (folder / "src/a.py").write_text("def f(a):\n    return 1\n")
    assert documented(folder)["interface"] == ["src/a.py::f"]


def test_what_stands_in_a_test_is_the_test(tmp_path: Path) -> None:
    base = "class Base:\n    def run(self):\n        return 1\n\n\ndef use(base: Base):\n    return base.run()\n"
    one = (
        "from a import Base\n\n\ndef test_one():\n    class Mine(Base):\n        def run(self):\n"
        "            return 2\n\n    assert Mine().run() == 2\n"
    )
    other = "from a import Base, use\n\n\ndef test_other():\n    assert use(Base()) == 1\n"
    folder = write_all(tmp_path / "a", {"a.py": base, "tests/test_one.py": one, "tests/test_other.py": other})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    (folder / "tests/test_one.py").write_text(one.replace("return 2", "return 3 - 1"))
    document = documented(folder)
    assert [(each["node"], each["probability"]) for each in document["tests"]] == [("tests/test_one.py::test_one", 1.0)]
    assert document["affected"] == []


def test_a_private_method_is_named_by_no_test(tmp_path: Path) -> None:
    code = (
        "<?php\nclass Store\n{\n  public function put($x) { $this->assertIsText($x); }\n"
        "  VISIBLE function assertIsText($x) { return 1; }\n}\n"
    )
    test = "<?php\nclass OtherTest extends TestCase\n{\n  public function test_it() { $this->assertIsText('a'); }\n}\n"
    found = {}
    for word in ("private", "public"):
        folder = write_all(
            tmp_path / word, {"src/Store.php": code.replace("VISIBLE", word), "tests/OtherTest.php": test}
        )
        git(folder, "init", "-q", "-b", "main")
        commit(folder)
        (folder / "src/Store.php").write_text(code.replace("VISIBLE", word).replace("return 1", "return 2"))
        found[word] = [each["node"] for each in documented(folder)["tests"]]
    assert found == {"private": [], "public": ["tests/OtherTest.php::OtherTest.test_it"]}


def test_a_test_that_surely_calls_another_function_of_the_name_is_none(tmp_path: Path) -> None:
    method = "{\n  public function write($x) { return 1; }\n}\n"
    classes = f"<?php\nclass Local\n{method}\nclass Memory\n{method}"
    test = (
        "<?php\nclass AllTest extends TestCase\n{\n"
        "  public function test_known() { $a = new Local(); $a->write(1); }\n"
        "  public function test_unknown($a) { $a->write(1); }\n}\n"
    )
    folder = write_all(tmp_path / "a", {"src/All.php": classes, "tests/AllTest.php": test})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    before, _, after = classes.rpartition("return 1")
    (folder / "src/All.php").write_text(f"{before}return 2{after}")
    assert [each["node"] for each in documented(folder)["tests"]] == ["tests/AllTest.php::AllTest.test_unknown"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", b"import os\nrun()\n", b"from a import (\n    b,\n    c as d,\n)\nimport os, sys\nrun()\n"),
        ("a.ts", b"run();\n", b"import type { A,\n  B } from 'y';\nimport './z';\nrun();\n"),
        ("a.go", b'package a\nimport "fmt"\n', b'package a\nimport (\n\t"fmt"\n\tx "y"\n)\n'),
        ("a.php", b"<?php\nnamespace A;\nuse B\\C;\n", b"<?php\nnamespace A;\nuse D\\{E, F as G};\n"),
        ("a.cs", b"using A;\nnamespace X;\n", b"using static B.C;\nglobal using D;\nnamespace X;\n"),
        ("a.rs", b"use a::b;\n", b"use a::{b, c::{d, e}};\n"),
        ("a.rb", b"run A\n", b"require 'x'\nrun A\n"),
    ],
)
def test_imports_outside_of_definitions(path: str, old: bytes, new: bytes) -> None:
    (change,) = compare_versions([FileVersions(path, path, old, new)]).definitions
    assert (change.label, change.is_import) == ("file", True)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", b"import os\n", b"import os\nrun()\n"),
        ("a.rb", b"use Rack::A\n", b"use Rack::B\n"),  # a call
        ("a.ts", b"export * from './a';\n", b"export * from './b';\n"),  # others import it from here
        ("a.cs", b"Run();\n", b"using (var x = F()) { Run(); }\n"),
    ],
)
def test_code_outside_of_definitions_that_is_no_import(path: str, old: bytes, new: bytes) -> None:
    (change,) = compare_versions([FileVersions(path, path, old, new)]).definitions
    assert (change.label, change.is_import) == ("file", False)


def test_users_of_a_file_do_not_use_its_imports(tmp_path: Path) -> None:
    files = {"low.py": "X = len('a')\n", "high.py": "import low\n\n\ndef f():\n    return low.X\n"}
    folder = write_all(tmp_path, files)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"low.py": "import os\n" + files["low.py"]})
    lines = invoke("review", cwd=folder).stdout.split("\n")
    assert lines[0].endswith("1 file; definitions: none")
    assert lines[1:] == ["", "other files", "  imports alone: low.py", ""]
    write_all(folder, {"low.py": files["low.py"] + "print(X)\n"})
    text = invoke("review", cwd=folder).stdout
    assert "definitions: none; code outside of them in 1 file" in text
    assert "users that may run what changed: 1\n" in text
    assert "+print(X)" in invoke("review", "--pack", cwd=folder).stdout


def test_a_field_with_another_name_is_a_renamed_one() -> None:
    """Of `left` and `right`, neither is known to be `high`, and `size` has no word of `count`."""
    old = b"class A:\n    max_entries: int\n    left: str\n    right: str\n\n\nclass B:\n    count: int\n"
    new = b"class A:\n    max_items: int\n    high: str\n\n\nclass B:\n    size: int\n"
    found = compare_versions([FileVersions("a.py", "a.py", old, new)]).definitions
    assert sorted((each.kind.value, each.node.partition("::")[2]) for each in found) == [
        ("added", "A.high"),
        ("added", "B.size"),
        ("moved", "A.max_items"),
        ("removed", "A.left"),
        ("removed", "A.right"),
        ("removed", "B.count"),
    ]


def test_what_is_open_to_others_by_the_words_of_each_language(tmp_path: Path) -> None:
    old = {
        "A.java": "public class A { int a(int x) { return x; } public int b(int x) { return x; } }\n"
        "class B { public void c(int x) {} }\npublic interface C { void d(int x); }\n",
        "A.cs": "public class A { void a(int x) {} public void b(int x) {} protected void c(int x) {} }\n"
        "public interface B { void d(int x); }\n",
        "a.php": "<?php class A { function a($x) {} final private function b($x) {} }\n",
        "a.kt": "class A {\n    @B private fun a(x: Int) {}\n    internal fun b(x: Int) {}\n    fun c(x: Int) {}\n}\n",
        "a.ts": "function a(x) {}\nfunction b(x) {}\nexport { b };\n@C()\nexport class D { e(x) {} private f(x) {} }\n",
        "a.js": "function a(x) {}\n",  # a script: its functions are those of all
    }
    folder = write_all(tmp_path, old)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {path: re.sub(r"\((.*?)x(.*?)\)", r"(\1x\2, \1y\2)", text) for path, text in old.items()})
    found = documented(folder)
    assert len(found["definitions"]) == 18
    assert list(map(str, found["interface"])) == [
        "A.cs::A.b", "A.cs::A.c", "A.cs::B.d", "A.java::A.b", "A.java::C.d", "a.js::a", "a.kt::A.c", "a.php::A.a",
        "a.ts::b", "a.ts::D.e",
    ]  # fmt: skip


def test_a_removed_file_is_one_row_and_public_changes_are_listed_once(shop: Path) -> None:
    names = ("one", "two", "three", "four")
    write_all(shop, {"shop/old.py": "".join(f"def {name}():\n    return 1\n\n\n" for name in names)})
    commit(shop)
    (shop / "shop/old.py").unlink()
    write_all(shop, {"shop/prices.py": PRICES.replace("item, tax", "item, tax, *rest")})
    text = invoke("review", cwd=shop).stdout
    assert "the file removed, 4 definitions: one, two, three, four" in text
    assert text.count("price(item, tax, *rest)") == 1
    assert "changed in signature: function" in text and "\nchanged in signature\n" not in text
    assert "- `shop/old.py` removed: one, two, three, four" in invoke("review", "--format", "markdown", cwd=shop).stdout


def test_of_a_long_signature_what_differs_is_shown(shop: Path) -> None:
    """The index keeps 240 characters of a signature, of which the last parameter is none."""
    many = ", ".join(f"a_parameter_{n}=None" for n in range(20))
    write_all(shop, {"shop/long.py": f"def f({many}, last=1):\n    return last\n"})
    commit(shop)
    write_all(shop, {"shop/long.py": f"def f({many}, final=1):\n    return final\n"})
    text = invoke("review", cwd=shop).stdout
    assert "- def f(…, last=1)\n" in text and "+ def f(…, final=1)\n" in text


def test_a_file_heads_its_rows_once() -> None:
    rows = [("b.py", "1"), ("a.py", "2"), ("b.py", "3")]
    assert list(_section("users", rows, lambda row: _Row(*row), 3)) == [
        "", "users", "  b.py", "    1", "    3", "  a.py", "    2",
    ]  # fmt: skip


def test_minitest_runs_methods_by_their_names(tmp_path: Path) -> None:
    files = {
        "lib/door.rb": "class Door\n  def open\n    1\n  end\nend\n",
        "test/door_test.rb": "class DoorTest < Minitest::Test\n  def test_open\n    assert Door.new.open\n  end\n\n"
        "  def test_other\n    assert true\n  end\n\n  def helper\n  end\nend\n",
    }
    folder = write_all(tmp_path, files)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"lib/door.rb": files["lib/door.rb"].replace("1", "2")})
    found = documented(folder)
    assert next(each["node"] for each in found["tests"]) == "test/door_test.rb::DoorTest.test_open"
    assert "2 may run it" not in invoke("review", cwd=folder).stdout
    write_all(folder, {"test/door_test.rb": files["test/door_test.rb"].replace("assert true", "assert 1")})
    assert documented(folder)["tests"][0]["node"] == "test/door_test.rb::DoorTest.test_other"


def test_a_small_name_of_go_is_not_that_of_another_folder(tmp_path: Path) -> None:
    files = {
        "main.go": "package main\n\nfunc start() int { return 1 }\n",
        "main_test.go": 'package main\n\nimport "testing"\n\nfunc TestIt(t *testing.T) { run(t, "start") }\n',
        "other/other_test.go": 'package other\n\nimport "testing"\n\nfunc TestIt(t *testing.T) { run(t, "start") }\n',
    }
    folder = write_all(tmp_path, files)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    write_all(folder, {"main.go": files["main.go"].replace("return 1", "return 2")})
    assert [each["node"] for each in documented(folder)["tests"]] == ["main_test.go::TestIt"]
