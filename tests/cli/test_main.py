"""What holds for every command: help, exit codes for the unexpected, streams, and what is not imported."""

import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from causalist.cli import COMMANDS, SUMMARIES, main
from causalist.cli._output import MESSAGES, say
from causalist.pipeline.repository import Repository
from tests.cli.commands import CHECKOUT, invoke, run

HELP = [(), *[(name,) for name in COMMANDS], ("graph", "export"), ("serve", "mcp")]


def test_the_slug_of_an_error_leads_to_its_entry_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, slug in ((Terminal(), f"\x1b]8;;{MESSAGES}#usage\x1b\\usage\x1b]8;;\x1b\\"), (io.StringIO(), "usage")):
        monkeypatch.setattr(sys, "stderr", stream)
        say("no \x1b[31m such thing", "usage")
        assert stream.getvalue() == f"causalist: {slug}: no \\x1b[31m such thing\n"
    assert tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["urls"]["Documentation"] in MESSAGES


class TestHelp:
    @pytest.mark.parametrize("names", HELP)
    def test_has_a_purpose_and_an_example(self, names: tuple[str, ...]) -> None:
        done = invoke(*names, "--help")
        assert (done.code, done.stderr) == (0, "")
        usage, _, purpose = done.stdout.splitlines()[:3]
        assert usage.startswith(f"Usage: {' '.join(('causalist', *names))} ")
        assert purpose.strip()[0].isupper() and purpose.rstrip().endswith(".")
        assert "Example:\n" in done.stdout
        example = done.stdout.partition("Example:\n")[2].splitlines()[0]
        assert example.startswith(f"    {' '.join(('causalist', *names))} ")

    def test_lists_every_command_in_order(self) -> None:
        listed = invoke("--help").stdout.partition("Commands:\n")[2].splitlines()
        assert [line.split()[0] for line in listed] == list(COMMANDS)
        assert not any(line.endswith("...") for line in listed)

    def test_the_list_says_what_each_command_says(self) -> None:
        """It is written down, so that no command is imported for it."""
        context = click.Context(main)
        found = {}
        for name in COMMANDS:
            command = main.get_command(context, name)
            assert command is not None and not command.hidden
            found[name] = command.get_short_help_str(300)
        assert found == SUMMARIES and list(SUMMARIES) == list(COMMANDS)

    def test_version(self) -> None:
        done = invoke("--version")
        assert done.code == 0 and done.stdout.startswith("causalist ")

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="each command runs in a fork")
    def test_imports_nothing_heavy(self) -> None:
        """Each command in a fork of a process that has imported what all of them do."""
        code = (
            "import os, sys\nfrom causalist.cli import main\n"
            "leave, os._exit = os._exit, sys.exit\n"  # a process of one command ends at once
            "heavy = 'scipy networkx tree_sitter multiprocessing filelock sqlite3 mcp anyio'.split()\n"
            f"for names in {HELP!r}:\n"
            "    if os.fork() == 0:\n"
            "        sys.argv = ['causalist', *names, '--help']\n"
            "        try: main()\n"
            "        except SystemExit: pass\n"
            "        late = ['numpy', *heavy] if names in ((), ('ask',)) else heavy\n"
            "        print(*names, [each for each in late if each in sys.modules], file=sys.stderr)\n"
            "        sys.stdout.flush()\n        sys.stderr.flush()\n        leave(0)\n"
            "    assert os.wait()[1] == 0"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.count("Usage: ") == len(done.stderr.splitlines()) == len(HELP)
        assert [line for line in done.stderr.splitlines() if not line.endswith("[]")] == []


class TestUnexpected:
    @pytest.fixture
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise KeyError("deep inside")

        monkeypatch.setattr(Repository, "open", fail)

    @pytest.mark.usefixtures("broken")
    def test_is_a_short_message(self) -> None:
        done = invoke("status")
        assert (done.code, done.stdout) == (2, "")
        assert done.stderr.startswith("causalist: internal: KeyError: 'deep inside'\n")
        assert "CAUSALIST_TRACEBACK=1" in done.stderr and "Traceback" not in done.stderr

    @pytest.mark.usefixtures("broken")
    def test_traceback_on_request(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CAUSALIST_TRACEBACK", "1")
        done = invoke("status")
        assert done.code == 2 and "Traceback" in done.stderr and "in fail" in done.stderr

    def test_interrupt(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("causalist.index.build.build_index", interrupt)
        done = invoke("index", "--repo", str(small))
        assert (done.code, done.stdout) == (130, "")
        assert done.stderr.startswith("causalist: interrupted")
        assert not (small / ".causalist" / "index.bin").exists()


class TestStreams:
    @pytest.mark.slow
    def test_any_locale(self, small: Path) -> None:
        (small / "naïve.py").write_text("def naïve_price(): pass\n", encoding="utf-8")
        settings = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = run("ask", "naïve_price", "--repo", ".", cwd=small, **settings)
        assert done.code == 0 and "naïve_price" in done.stdout
        done = run("ask", "žluťoučký", "--repo", ".", cwd=small, **settings)
        assert done.code == 1

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform != "linux", reason="names of folders are text there")
    def test_a_folder_whose_name_is_no_text(self, small: Path) -> None:
        folder = Path(os.fsdecode(os.fsencode(small) + b"-\xe9"))
        small.rename(folder)
        for option in ("--json", "--format=text"):
            done = run("ask", "price", option, cwd=folder)
            assert done.code == 0, done.stderr
        assert run("status", cwd=folder).code == 0
        assert json.loads(run("status", "--json", cwd=folder).stdout)["repository"]["root"] == str(folder)

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="pipes are another thing there")
    @pytest.mark.parametrize(
        "arguments", [("graph", "export", "--format", "jsonl", "--all"), ("ask", "token", "--json"), ("--help",)]
    )
    def test_closed_pipe_is_no_error(self, arguments: tuple[str, ...], taskboard_copy: Path) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.run(
            [sys.executable, "-m", "causalist", *arguments],
            cwd=taskboard_copy, stdout=writer, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, check=False,
        )  # fmt: skip
        os.close(writer)
        assert (process.returncode, process.stderr) == (0, b"")

    @pytest.mark.slow
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such file")
    def test_full_disk_is_an_error(self, small: Path) -> None:
        with Path("/dev/full").open("wb") as full:
            process = subprocess.run(
                [sys.executable, "-m", "causalist", "ask", "price"],
                cwd=small, stdout=full, stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, check=False,
            )  # fmt: skip
        assert process.returncode == 2
        assert b"causalist: usage: cannot write the results" in process.stderr


@pytest.mark.slow
def test_modules_in_the_repository_are_not_imported(tmp_path: Path) -> None:
    """`python -m` puts the current folder first on the import path; a repository must not get to run that way."""
    for name in ("numpy", "click", "tree_sitter"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('was run')\n")
    (tmp_path / "app.py").write_text("def total():\n    return 1\n")
    done = run("ask", "total", cwd=tmp_path)
    assert (done.code, "was run" in done.stderr) == (0, False), done.stderr
