"""Every bad input ends in a clear message and the right exit code, and leaves nothing half written."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from causalist.errors import ConvergenceError
from tests.cli.commands import invoke, left_behind, run, write_all
from tests.pipeline.test_guarded_steps import OPTIONAL, QUESTION, failing

pytestmark = pytest.mark.slow

ASK_KEYS = {"format_version", "query", "results", "pack", "diagnostics"}


class TestFolders:
    def test_empty(self, tmp_path: Path) -> None:
        message = invoke("ask", "where is the price", "--repo", ".", cwd=tmp_path).found_nothing("nothing-to-index")
        assert "no files to search" in message
        assert left_behind(tmp_path) == [] and not (tmp_path / ".causalist" / "index.bin").exists()

    @pytest.mark.parametrize("command", [("ask", "price"), ("index",), ("status",), ("callers", "f"), ("callees", "f")])
    def test_empty_gives_one_document(self, command: tuple[str, ...], tmp_path: Path) -> None:
        done = invoke(*command, "--repo", str(tmp_path), "--json")
        assert done.code == 1
        assert json.loads(done.stdout)["format_version"] == 1
        assert "nothing-to-index" in done.stderr

    def test_empty_export(self, tmp_path: Path) -> None:
        target = tmp_path / "out.jsonl"
        done = invoke("graph", "export", "--format", "jsonl", "--repo", str(tmp_path), "--output", str(target))
        done.found_nothing("nothing-to-index")
        assert not target.exists()

    def test_without_git(self, small: Path) -> None:
        done = invoke("ask", "price", "--repo", str(small), "--json")
        assert done.code == 0
        assert json.loads(done.stdout)["repository"]["commit"] is None

    def test_with_git(self, committed: Path) -> None:
        done = invoke("ask", "price", "--repo", str(committed), "--json")
        assert len(json.loads(done.stdout)["repository"]["commit"]) == 40

    def test_around_the_current_folder(self, committed: Path) -> None:
        done = invoke("ask", "invoice", "--json", cwd=committed / "shop")
        assert json.loads(done.stdout)["repository"]["root"] == str(committed.resolve())
        assert not (committed / "shop" / ".causalist").exists()

    def test_exactly_the_folder(self, committed: Path) -> None:
        done = invoke("ask", "invoice", "--repo", ".", "--json", cwd=committed / "shop")
        assert json.loads(done.stdout)["repository"]["root"] == str((committed / "shop").resolve())

    def test_only_unsupported(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"a.png": b"\x89PNG", "b.dat": b"\0" * 100, ".env": b"KEY=1"})
        message = invoke("ask", "key", "--repo", str(tmp_path)).found_nothing("nothing-to-index")
        assert "2 binary" in message and "1 secret" in message

    def test_unknown(self, tmp_path: Path) -> None:
        message = invoke("ask", "price", "--repo", "nowhere", cwd=tmp_path).failed("repository-not-found")
        assert "nowhere does not exist" in message
        assert list(tmp_path.iterdir()) == []

    def test_a_file(self, small: Path) -> None:
        assert "is not a folder" in invoke("status", "--repo", str(small / "README.md")).failed("repository-not-found")

    def test_no_name(self) -> None:
        done = invoke("ask", "price", "--repo", "")
        assert (done.code, done.stdout) == (2, "") and "must not be empty" in done.stderr

    @pytest.mark.parametrize("command", [("ask", "price"), ("index",), ("status",), ("callers", "total")])
    def test_home(self, command: tuple[str, ...], small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(small))
        assert "home directory" in invoke(*command, "--repo", str(small)).failed("refused-root")
        assert not (small / ".causalist").exists()

    def test_home_by_force(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(small))
        assert invoke("ask", "price", "--repo", str(small), "--force").code == 0

    def test_unreadable(self, ordinary: tuple[Path, Callable[[], None]]) -> None:
        folder, become_ordinary = ordinary
        folder.chmod(0)
        become_ordinary()
        invoke("ask", "price", "--repo", str(folder)).failed("repository-not-found")

    def test_unreadable_inside(self, ordinary: tuple[Path, Callable[[], None]]) -> None:
        folder, become_ordinary = ordinary
        write_all(folder, {"locked/secret.py": "def price(): pass\n"})
        (folder / "locked").chmod(0)
        become_ordinary()
        assert invoke("ask", "price", "--repo", str(folder)).code == 0
        message = invoke("ask", "price", "--repo", str(folder), "--strict").failed("strict")
        assert "1 unreadable: locked/" in message

    def test_unwritable(self, ordinary: tuple[Path, Callable[[], None]]) -> None:
        folder, become_ordinary = ordinary
        folder.chmod(0o555)
        become_ordinary()
        done = invoke("ask", "price", "--repo", str(folder))
        assert done.code == 0 and done.stdout
        assert "index-not-writable" in done.stderr


class TestFiles:
    def test_syntax_error_in_every_file(self, tmp_path: Path) -> None:
        write_all(tmp_path, {f"m{i}.py": f"def broken_{i}(:\n    price = (\n" for i in range(30)})
        done = invoke("ask", "price", "--repo", str(tmp_path))
        assert done.code == 0 and done.stdout
        assert "note: partly-read: read only in part (syntax-error): m0.py, m1.py, m10.py and 17 more" in done.stderr
        status = invoke("status", "--repo", str(tmp_path))
        assert status.code == 0
        assert status.stdout.count(": syntax-error: ") == 20 and "and 10 more" in status.stdout
        message = invoke("ask", "price", "--repo", str(tmp_path), "--strict").failed("strict")
        assert "m0.py:1: syntax-error" in message and "10 more" in message

    def test_latin_1(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"coffee.py": b"# caf\xe9\ndef brew():\n    return 'caf\xe9'\n"})
        done = invoke("ask", "brew", "--repo", ".", cwd=tmp_path)
        assert done.code == 0 and "brew" in done.stdout
        assert "not-utf-8" in done.stderr
        assert "coffee.py:1: not-utf-8" in invoke("ask", "brew", "--strict", cwd=tmp_path).failed("strict")

    def test_a_line_of_5_mb(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"long.py": b"x = '" + b"price " * 850_000 + b"'\n"})
        assert "1 too large" in invoke("ask", "price", "--repo", str(tmp_path)).found_nothing("nothing-to-index")
        write_all(tmp_path, {"short.py": "def price(): pass\n"})
        done = invoke("ask", "price", "--repo", str(tmp_path), "--strict")
        assert done.code == 0 and "short.py" in done.stdout
        assert "1 too large: long.py" in invoke("status", "--repo", str(tmp_path)).stdout

    def test_a_long_line_of_prose(self, tmp_path: Path) -> None:
        write_all(tmp_path, {"long.md": b"# Prices\n\n" + b"price " * 150_000})
        done = invoke("ask", "price", "--repo", str(tmp_path), "--max-tokens", "300")
        assert done.code == 0 and len(done.stdout) < 5000

    @pytest.mark.skipif(os.name == "nt", reason="names of files are more limited there")
    def test_a_name_that_drives_a_terminal(self, tmp_path: Path) -> None:
        # A reset and a change of direction; click takes colours away by itself.
        write_all(tmp_path, {"a\x1bc\u202e.py": "def price(:\n"})
        for command in (("status",), ("ask", "price")):
            done = invoke(*command, "--repo", str(tmp_path))
            assert done.code == 0
            assert "\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout + done.stderr
            assert "a\\x1bc\\u202e.py" in done.stdout


class TestQuestions:
    @pytest.mark.parametrize("question", ["", " \n\t"])
    def test_empty(self, question: str, small: Path) -> None:
        invoke("ask", question, "--repo", str(small)).failed("empty-question")

    def test_empty_standard_input(self, small: Path) -> None:
        invoke("ask", "-", cwd=small).failed("empty-question")

    @pytest.mark.parametrize("question", ["qqqzzz", "where is the", "!?", "\u200b"])
    def test_no_known_word(self, question: str, small: Path) -> None:
        done = invoke("ask", question, "--repo", str(small))
        assert "no word of the query occurs" in done.found_nothing("nothing found")

    def test_no_known_word_gives_one_document(self, small: Path) -> None:
        done = invoke("ask", "qqqzzz", "--json", cwd=small)
        document = json.loads(done.stdout)
        assert done.code == 1 and document.keys() >= ASK_KEYS
        assert (document["results"], document["pack"], document["repository"]["files"]) == ([], None, 4)
        assert "nothing found" in done.stderr

    def test_bytes_that_are_no_text(self, small: Path) -> None:
        assert run("ask", b"price \xff", "--json", cwd=small).code == 0
        assert json.loads(run("ask", "-", "--json", cwd=small, stdin=b"\xff price").stdout)["query"] == "\ufffd price"


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "slug"),
        [
            (("--top-k", "0"), "usage"),
            (("--damping", "1"), "usage"),
            (("--damping", "nan"), "usage"),
            (("--max-tokens", "10"), "budget-too-small"),
            (("--max-tokens", "150", "--format", "json"), "budget-too-small"),
            (("--rank", "pagerank", "--no-graph"), "usage"),
        ],
    )
    def test_out_of_range(self, options: tuple[str, ...], slug: str, small: Path) -> None:
        invoke("ask", "price", "--repo", str(small), *options).failed(slug)
        assert left_behind(small) == []

    @pytest.mark.parametrize(
        "arguments",
        [
            ("ask",),
            ("ask", "price", "--top-k", "many"),
            ("ask", "price", "--format", "yaml"),
            ("ask", "two", "words"),
            ("index", "--processes", "0"),
            ("callers",),
            ("callers", "total", "--min-confidence", "nan"),
            ("callees", "total", "--min-confidence", "2"),
            ("graph", "export"),
            ("graph", "export", "--format", "svg"),
            ("eval",),
            ("nonsense",),
            ("--nonsense",),
        ],
    )
    def test_usage(self, arguments: tuple[str, ...]) -> None:
        done = invoke(*arguments)
        assert (done.code, done.stdout) == (2, "")
        assert "Usage: causalist" in done.stderr


class TestNodes:
    @pytest.mark.parametrize("command", ["callers", "callees"])
    def test_unknown(self, command: str, small: Path) -> None:
        assert "'nobody'" in invoke(command, "nobody", "--repo", str(small)).failed("unknown-node")

    @pytest.mark.parametrize("node", ["", " ", "::", "."])
    def test_no_name(self, node: str, small: Path) -> None:
        invoke("callers", node, "--repo", str(small)).failed("unknown-node")


@pytest.mark.parametrize("step", OPTIONAL)
def test_a_skipped_step_is_noted_and_strict_makes_it_a_failure(
    step: str, taskboard_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OPTIONAL[step], failing(ConvergenceError("made to fail")))
    arguments = ("ask", QUESTION, "--repo", str(taskboard_copy), "--explain", "--scope", "src")
    done = invoke(*arguments)
    assert done.code == 0 and "auth-middleware.ts" in done.stdout
    assert f"note: step-skipped: {step}: convergence: made to fail" in done.stderr
    strict = invoke(*arguments, "--strict")
    assert (strict.code, strict.stdout) == (2, "") and f"step-skipped: {step}: " in strict.stderr


def test_what_nobody_foresaw_is_said_at_the_door(taskboard_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPTIONAL["candidates.history"], failing(ZeroDivisionError("made to fail")))
    done = invoke("ask", QUESTION, "--repo", str(taskboard_copy))
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("causalist: internal: ZeroDivisionError: made to fail\nThis is a defect")
