"""`tests`: which tests reach a node."""

import json
from math import exp
from pathlib import Path

import pytest

from causalist.navigate.affected_tests import TEST_WEIGHTS, TYPICAL_SIZE
from causalist.pipeline.repository import Repository
from tests.cli.commands import invoke, write_all
from tests.confidences import IMPORT, said

TESTS = {
    "tests/test_prices.py": (
        "from shop.prices import price_of\n\n\ndef helper():\n    return price_of(1)\n\n\n"
        "def test_price():\n    assert price_of(1)\n\n\ndef test_helped():\n    assert helper()\n"
    ),
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total([]) == 0\n",
}


def test_the_most_probable_first(small: Path) -> None:
    """The chance by uses is the product along the chain: a call of a test .95, any other
    outside of branches .94, each by its confidence.

    No test has a word of the function's name. The sizes of the tests say a little.
    """

    def joined(chance: float, text: str) -> float:
        odds = exp(TEST_WEIGHTS.bias) * (chance / (1 - chance)) ** TEST_WEIGHTS.way
        odds *= (len(text) / TYPICAL_SIZE) ** TEST_WEIGHTS.size
        return odds / (1 + odds)

    write_all(small, TESTS)
    done = invoke("tests", "with_tax", cwd=small)
    assert (done.code, done.stderr) == (0, "")
    called = 0.94 * float(said("same-file"))  # price_of calls with_tax
    helped = 0.95 * float(IMPORT) * called
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[:2] == ["3 tests, the most probable first", ""]
    assert [line.partition(" ")[2] for line in lines[2:4]] == [
        f"tests/test_prices.py::test_price calls shop/prices.py::price_of import {IMPORT} "
        "tests/test_prices.py:9 (depth 2)",
        "tests/test_prices.py::test_helped tests shop/prices.py::price_of test-helper 0.40 "
        "tests/test_prices.py:13 (depth 2)",
    ]
    by_helper = 0.95 * float(said("same-file")) * helped
    chances = [float(line.partition(" ")[0]) for line in lines[2:4]]
    assert chances == pytest.approx(
        [
            joined(helped, "def test_price():\n    assert price_of(1)"),
            joined(by_helper, "def test_helped():\n    assert helper()"),
        ],
        abs=0.011,
    )  # of confidences as they are printed
    assert lines[4].partition(" ")[2] == (
        f"tests/test_cart.py::test_total calls shop/cart.py::Cart.total constructed {said('constructed')} "
        "tests/test_cart.py:5 (depth 3)"
    )
    assert invoke("tests", "with_tax", "--max-depth", "2", cwd=small).stdout.startswith("2 tests, ")


def test_within_a_budget(small: Path) -> None:
    """There are 3 tests; the file that holds one is none."""
    write_all(small, TESTS)
    whole = invoke("tests", "with_tax", cwd=small).stdout.splitlines()
    for budget, n in (("--max=1", 1), ("--limit=2", 2), ("--share=50%", 2), ("--share=.1", 1), ("--share=100%", 3)):
        lines = invoke("tests", "with_tax", budget, cwd=small).stdout.splitlines()
        assert len(lines) == 2 + n + (n < 3), budget
        assert [line.split()[:2] for line in lines[2 : 2 + n]] == [line.split()[:2] for line in whole[2 : 2 + n]]
    both = invoke("tests", "with_tax", "--share=100%", "--max=1", cwd=small).stdout.splitlines()
    assert both[-1] == "and 2 more; --limit shows more of them"


@pytest.mark.parametrize("share", ["0", "0%", "101%", "2", "half", "", "nan"])
def test_what_is_no_share(small: Path, share: str) -> None:
    done = invoke("tests", "with_tax", f"--share={share}", cwd=small)
    assert (done.code, done.stdout) == (2, "")
    assert "must be a share such as 25% or 0.25" in done.stderr


def test_what_tests_it_itself(small: Path) -> None:
    write_all(small, TESTS)
    done = invoke("tests", "price_of", "--max-depth", "1", "--json", "--repo", str(small))
    document = json.loads(done.stdout)
    assert list(document) == ["format_version", "changed", "deleted", "n", "tests", "coverage"]
    assert (document["changed"], document["n"]) == (["shop/prices.py::price_of"], 2)
    found, helped = document["tests"]
    assert (helped["node"], helped["edge"]["rule"]) == ("tests/test_prices.py::test_helped", "test-helper")
    assert (found["node"], found["depth"], found["role"]) == ("tests/test_prices.py::test_price", 1, "test")
    assert found["edge"] == {
        "source": "tests/test_prices.py::test_price", "target": "shop/prices.py::price_of", "kind": "tests",
        "rule": "test-subject", "confidence": 0.95, "line": 9, "n": 1,
    }  # fmt: skip


def test_a_file_has_the_tests_of_what_it_holds(small: Path) -> None:
    write_all(small, TESTS)
    document = json.loads(invoke("tests", "shop/cart.py", "--json", "--repo", str(small)).stdout)
    # Of the file tests/test_cart.py, which is named after it, there is a test.
    assert {(each["node"], each["edge"]["rule"]) for each in document["tests"]} == {
        ("tests/test_cart.py::test_total", "test-subject")
    }


def test_none(small: Path) -> None:
    done = invoke("tests", "price_of", "--repo", str(small))
    assert (done.code, done.stdout) == (1, "")
    assert "no test is known to reach shop/prices.py::price_of\n" in done.stderr
    write_all(small, TESTS)
    least = invoke("tests", "with_tax", "--min-confidence", "0.9999", "--json", "--repo", str(small))
    assert least.code == 1 and json.loads(least.stdout)["tests"] == []


def test_changes_since_a_commit(committed: Path) -> None:
    write_all(committed, TESTS)
    report = (committed / "shop" / "cart.py").read_text()
    write_all(committed, {"shop/cart.py": report.replace("sum(", "max(")})
    document = json.loads(invoke("tests", "--diff", "HEAD", "--json", cwd=committed).stdout)
    assert "shop/cart.py::Cart.total" in document["changed"]
    assert invoke("tests", cwd=committed).code == 2
    assert invoke("tests", "with_tax", "--diff", "HEAD", cwd=committed).code == 2
    assert invoke("tests", "--diff", "nonsense", cwd=committed).code == 2


def test_several_nodes_are_joined(tmp_path: Path) -> None:
    """A test runs one of two functions with 1 - (1 - p)(1 - q); what runs one of them keeps its probability."""
    files = {
        "lib.py": "def first():\n    return 1\n\n\ndef second():\n    return 2\n",
        "app.py": "from lib import first, second\n\n\ndef both():\n    return first() + second()\n\n\n"
        "def one():\n    return second()\n",
    }
    folder = write_all(tmp_path, files)

    def chances(*names: str) -> dict[str, float]:
        found = Repository.open(folder, exact_root=True).impact(*names)
        return {each.node: each.probability for each in found}

    p, q, joined = chances("first"), chances("second"), chances("first", "second")
    assert set(joined) == {"app.py::both", "app.py::one"}
    assert joined["app.py::both"] == pytest.approx(1 - (1 - p["app.py::both"]) * (1 - q["app.py::both"]))
    assert joined["app.py::one"] == q["app.py::one"]
    assert "lib.py::second" not in chances("first", "second", "lib.py")  # changed itself, as a part of its file
    done = invoke("blast", "first", "second", cwd=folder)
    assert (done.code, done.stdout.splitlines()[0]) == (0, "2 affected, 0 of them in tests")
    assert invoke("tests", "first", "missing_name", cwd=folder).code == 2


def test_far_less_probable_tests_are_listed_up_to_ten(tmp_path: Path) -> None:
    """Three tests call it, and twelve name it in a string alone.

    By hand, at 0.9 and 0.41: the first three give 2.7 / 7.6 + 1.8 * 0.9 = 1.97, all of them 1 + 1.8 * 7.6 / 15 = 1.91.
    """
    named = "".join(f'def test_{n}(shop):\n    shop.run("refill")\n\n\n' for n in range(12))
    calls = "".join(f"\n\ndef test_refill_{n}():\n    assert refill() == 1\n" for n in range(3))
    calling = f"from box import refill\n{calls}"
    files = {"box.py": "def refill():\n    return 1\n", "tests/test_box.py": calling, "tests/test_shop.py": named}
    folder = write_all(tmp_path / "shop", files)
    lines = invoke("tests", "refill", cwd=folder).stdout.splitlines()
    assert lines[0] == "15 tests, the most probable first"
    assert all("test_refill_" in line for line in lines[2:5]) and lines[5] == "far less probable"
    assert len(lines) == 2 + 3 + 1 + 7 + 1 and lines[-1] == "and 5 more; --limit shows more of them"
    assert len(json.loads(invoke("tests", "refill", "--json", cwd=folder).stdout)["tests"]) == 3


def test_an_action_of_a_controller_is_not_meant_by_its_name(tmp_path: Path) -> None:
    files = {
        "app/controllers/notes_controller.rb": "class NotesController\n  def create\n    1\n  end\nend\n",
        "app/models/shelf.rb": "class Shelf\n  def create\n    1\n  end\nend\n",
        "test/user_test.rb": "class UserTest < Minitest::Test\n  def test_one\n    run('create')\n  end\nend\n",
    }
    folder = write_all(tmp_path / "notes", files)
    assert invoke("tests", "NotesController.create", cwd=folder).code == 1
    assert "UserTest.test_one" in invoke("tests", "Shelf.create", cwd=folder).stdout
