"""`doctor` names what is wrong and mends nothing; completion scripts make a shell complete commands."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from causalist.cli import main
from causalist.cli._run import COMPLETION
from causalist.cli.doctor_and_config import Shell, completion_place, completion_script, install_completion
from causalist.cli.install import CLIENTS, installed_command


def _findings(folder: Path) -> dict[str, dict[str, str]]:
    done = CliRunner().invoke(main, ["doctor", "--repo", str(folder), "--json"])
    assert done.exit_code in (0, 1), done.output
    return {each["subject"]: each for each in json.loads(done.stdout)["findings"]}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text("def total():\n    return 1\n")
    return tmp_path / "shop"


@pytest.mark.slow
def test_an_index_is_absent_then_current_then_not(shop: Path) -> None:
    assert _findings(shop)["index"]["state"] == "absent"
    assert not (shop / ".causalist").exists()
    assert CliRunner().invoke(main, ["index", "--repo", str(shop)]).exit_code == 0
    assert _findings(shop)["index"]["detail"].endswith("current")
    (shop / "more.py").write_text("X = 1\n")
    assert "not current" in _findings(shop)["index"]["detail"]


@pytest.mark.slow
def test_every_grammar_of_the_package_loads(shop: Path) -> None:
    assert _findings(shop)["grammars"]["detail"].startswith("38 load: ada, bash, c, cpp,")


def test_settings_of_an_editor_name_the_program_or_not(shop: Path, tmp_path: Path) -> None:
    assert not {"Neovim", "Helix"} & set(_findings(shop))
    for name in ("nvim/init.lua", "helix/languages.toml"):
        (tmp_path / "home" / name).parent.mkdir(parents=True)
        (tmp_path / "home" / name).write_text("")
    (tmp_path / "home/nvim/init.lua").write_text('vim.lsp.config("causalist", {})\n')
    found = _findings(shop)
    assert found["Neovim"]["state"] == "ok"
    assert (found["Helix"]["state"], found["Helix"]["remedy"][-15:]) == ("absent", "/editors/helix/")


def test_missing_languages_are_one_line(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {".zig": ("zig", "zig"), ".m": ("objc", "objc"), ".mm": ("objc", "objc")}
    monkeypatch.setattr("causalist.parse.languages.missing_languages", lambda: missing)
    alone = {".m": ("matlab", "matlab")}  # an extension that it shares with the other one
    monkeypatch.setattr("causalist.parse.languages.lone_missing_languages", lambda: alone)
    row = _findings(shop)["languages"]
    assert row["detail"] == "not installed: matlab, objc, zig" and row["remedy"] == 'pip install "causalist[languages]"'


@pytest.mark.slow
def test_a_client_that_starts_a_program_that_is_gone_is_named(shop: Path) -> None:
    (shop / ".mcp.json").write_text('{"mcpServers": {"causalist": {"command": "/gone/python", "args": []}}}')
    wrong = _findings(shop)["Claude Code, project"]
    assert wrong["state"] == "wrong" and "/gone/python, which is not there" in wrong["detail"]
    assert wrong["remedy"] == "causalist install claude-code --scope project"
    assert CliRunner().invoke(main, ["doctor", "--repo", str(shop)]).exit_code == 1
    (shop / ".mcp.json").write_text("{")
    assert _findings(shop)["Claude Code, project"]["remedy"] == "correct the file"


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_what_install_writes_is_found(name: str, shop: Path) -> None:
    client = CLIENTS[name]
    scope = "project" if client.project_files else "user"
    file = client.file(scope, shop)
    assert installed_command(file, client) is None
    done = CliRunner().invoke(main, ["install", name, "--repo", str(shop), "--scope", scope])
    assert done.exit_code == 0, done.output
    assert installed_command(file, client) == sys.executable


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_asks_and_gets_commands(shell: str) -> None:
    words = {"bash": ("causalist ver", "1"), "fish": ("causalist ver", "ver")}[shell]
    asked = {COMPLETION: f"{shell}_complete", "COMP_WORDS": words[0], "COMP_CWORD": words[1]}
    code = "import sys; sys.argv = ['causalist']; from causalist.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**asked, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert done.returncode == 0 and "verify" in done.stdout and "review" not in done.stdout


def test_a_real_bash_completes(tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("needs Bash")
    (tmp_path / "causalist").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c \"import sys; sys.argv = ['causalist'] + sys.argv[1:]; "
        f'from causalist.cli import main; main()" "$@"\n'
    )
    (tmp_path / "causalist").chmod(0o755)
    (tmp_path / "script").write_text(completion_script(Shell.BASH, main))
    ask = (
        f"PATH={tmp_path}:$PATH; . {tmp_path}/script; COMP_WORDS=(causalist obs); COMP_CWORD=1; "
        '_causalist_completion causalist; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["observe"]


@pytest.mark.parametrize("shell", list(Shell))
def test_scripts_are_written_once_to_where_the_shell_looks(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    install_completion(shell.value, main)
    path, _ = completion_place(shell)
    assert path.is_relative_to(tmp_path) and "causalist" in path.read_text()
    install_completion(shell.value, main)
    assert f"{path} is installed already" in capsys.readouterr().err
