"""Files that were not read are said wherever they may change an answer; "none" and "not known" differ."""

import subprocess
from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from causalist.servers.mcp.more_tools import MORE_TOOLS
from causalist.servers.mcp.tools import TOOLS
from tests.cli.commands import invoke, write_all

PRICES = "def price_of(item):\n    return item\n"
USER = "from prices import price_of\n\n\ndef total(items):\n    return price_of(items)\n"


@pytest.fixture
def too_large(tmp_path: Path) -> Path:
    table = "".join(f"    'rate of zone {i}': ({i}, 'per unit and day'),\n" for i in range(50_000))
    write_all(tmp_path, {"prices.py": PRICES, "rates.py": f"{USER}\n\nRATES = {{\n{table}}}\n", "other.py": "x = 1\n"})
    assert (tmp_path / "rates.py").stat().st_size > 2_000_000
    return tmp_path


@pytest.mark.parametrize("command", [("callers",), ("impact",), ("tests",), ("readers",)])
def test_a_file_too_large_that_has_the_name(too_large: Path, command: tuple[str, ...]) -> None:
    done = invoke(*command, "price_of", cwd=too_large)
    assert done.code == 1
    assert "1 file that was not read has this name and may use it: rates.py (too large)" in done.stderr


def test_one_without_the_name_is_not_said(too_large: Path) -> None:
    assert "not read" not in invoke("callers", "other.py", cwd=too_large).stderr


def test_a_file_that_was_left_out_is_not_unknown(too_large: Path) -> None:
    done = invoke("verify", "rates.py", "price_of", cwd=too_large)
    assert done.code == 1 and done.stdout.splitlines() == [
        "unknown: rates.py -> price_of",
        "  cannot be told: one of the two is in a file that was not read",
    ]
    assert "rates.py was left out (too large)" in done.stderr
    shown = invoke("show", "rates.py:3", cwd=too_large)
    assert shown.code == 2 and "rates.py was left out (too large)" in shown.stderr
    tool = MORE_TOOLS["verify"]
    repository = Repository.open(too_large, exact_root=True)
    reply = tool.answer(repository, tool.read({"name": "rates.py::total", "to": "price_of"}))
    assert "rates.py was left out (too large)\nunknown: " in getattr(reply, "text", reply)


def test_a_file_that_is_not_checked_out(tmp_path: Path) -> None:
    write_all(tmp_path, {"a/prices.py": PRICES, "b/user.py": USER, "c/other.py": "x = 1\n"})

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    git("sparse-checkout", "init", "--cone")
    git("sparse-checkout", "set", "a")
    done = invoke("callers", "price_of", cwd=tmp_path)
    assert "1 file that was not read has this name and may use it: b/user.py (not checked out)" in done.stderr


def test_text_in_16_bits_is_read(tmp_path: Path) -> None:
    write_all(tmp_path, {"prices.py": PRICES})
    (tmp_path / "user.py").write_bytes(USER.encode("utf-16"))
    done = invoke("callers", "price_of", cwd=tmp_path)
    assert "user.py::total -> prices.py::price_of" in done.stdout
    assert "user.py:5" in done.stdout


def test_a_long_literal_hides_no_code(tmp_path: Path) -> None:
    code = "".join(f"export function f{i}() {{\n  return one();\n}}\n" for i in range(10))
    write_all(tmp_path, {"a.js": f"function one() {{}}\nconst FONT = '{'A' * 200_000}';\n{code}"})
    assert "a.js::f9 -> a.js::one" in invoke("callers", "one", cwd=tmp_path).stdout
    write_all(tmp_path, {"b.js": "var a=1;function b(){return a}" * 10_000 + "\n"})
    assert "unread-node" in invoke("callers", "b.js::b", cwd=tmp_path).stderr


def test_callers_and_callees_of_a_file(tmp_path: Path) -> None:
    write_all(tmp_path, {"prices.py": PRICES, "user.py": USER})
    done = invoke("callers", "prices.py", cwd=tmp_path)
    assert [line.split()[2:5] for line in done.stdout.splitlines()] == [
        ["user.py::total", "->", "prices.py::price_of"],
        ["user.py", "->", "prices.py"],
    ]
    assert "user.py::total -> prices.py::price_of" in invoke("callees", "user.py", cwd=tmp_path).stdout


def test_a_file_uses_its_own_function_if_something_in_it_does(tmp_path: Path) -> None:
    write_all(tmp_path, {"a.py": "def used():\n    pass\n\n\ndef unused():\n    used()\n"})
    assert invoke("verify", "a.py", "used", cwd=tmp_path).stdout.startswith("yes: a.py -> a.py::used")
    assert invoke("verify", "a.py", "unused", cwd=tmp_path).stdout.startswith("no: a.py -> a.py::unused")


def test_a_name_in_a_string_is_not_a_plain_no(tmp_path: Path) -> None:
    write_all(tmp_path, {"prices.py": PRICES, "settings.py": "HOOK = 'price_of'\n", "other.py": "x = 1\n"})
    done = invoke("verify", "settings.py", "price_of", cwd=tmp_path)
    assert done.stdout.startswith("unknown: settings.py -> prices.py::price_of")
    assert "settings.py:1" in done.stdout
    assert invoke("verify", "other.py", "price_of", cwd=tmp_path).stdout.startswith("no: ")


def test_a_file_that_became_too_large_is_said_after_a_refresh(tmp_path: Path) -> None:
    """Nothing that is indexed changes; the list of files left out does."""
    write_all(tmp_path, {"prices.py": PRICES, "other.py": "from prices import price_of\nprice_of(1)\n"})
    assert "not read" not in invoke("callers", "price_of", cwd=tmp_path).stderr
    write_all(tmp_path, {"rates.py": USER + "RATE = 1  # of one zone\n" * 90_000})
    assert "rates.py (too large)" in invoke("callers", "price_of", cwd=tmp_path).stderr
    (tmp_path / "rates.py").rename(tmp_path / "tariffs.py")
    assert "tariffs.py (too large)" in invoke("callers", "price_of", cwd=tmp_path).stderr
    (tmp_path / "tariffs.py").unlink()
    assert "not read" not in invoke("callers", "price_of", cwd=tmp_path).stderr


@pytest.mark.parametrize("tool", ["symbol", "impact", "tests", "state"])
def test_tools_of_agents_say_so_as_well(too_large: Path, tool: str) -> None:
    repository = Repository.open(too_large, exact_root=True)
    chosen = {**TOOLS, **MORE_TOOLS}[tool]
    reply = chosen.answer(repository, chosen.read({"name": "price_of"}))
    assert "1 file that was not read has this name and may use it: rates.py (too large)" in getattr(
        reply, "text", reply
    )


def test_a_name_that_only_they_may_define(too_large: Path) -> None:
    note = "1 file that was not read has this name and may define it: rates.py (too large)"
    assert note in invoke("find", "RATES", cwd=too_large).stderr
    assert "not read" not in invoke("find", "price_of", cwd=too_large).stderr
    tool = MORE_TOOLS["find"]
    reply = tool.answer(Repository.open(too_large, exact_root=True), tool.read({"name": "RATES"}))
    assert note in getattr(reply, "text", reply)
