"""`install`: an entry in a client's own settings, and everything else as it was."""

import json
import os
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from causalist.cli import install as settings
from tests.cli.commands import CHECKOUT, Done, invoke
from tests.servers.wire import RawServer

PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "gemini-cli": ".gemini/settings.json",
    "zed": ".zed/settings.json",
    "opencode": "opencode.json",
}
KEYS = {
    "claude-code": "mcpServers",
    "cursor": "mcpServers",
    "vscode": "servers",
    "gemini-cli": "mcpServers",
    "zed": "context_servers",
    "opencode": "mcp",
}
TYPES = {"claude-code": "stdio", "cursor": "stdio", "vscode": "stdio", "opencode": "local"}
# Those that know no other way of saying which folder is open.
NAMING = ("cursor", "vscode")
CLIENTS = list(PROJECT_FILES)
STARTS_BY_NAME = settings.starts_by_name


pytestmark = pytest.mark.usefixtures("interpreter_is_checked_once")


@pytest.fixture(autouse=True)
def no_client_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def install(client: str, root: Path, *options: str) -> Done:
    return invoke("install", client, "--repo", str(root), *options)


def entry(client: str, root: Path) -> dict[str, Any]:
    found = json.loads((root / PROJECT_FILES[client]).read_text())[KEYS[client]]["causalist"]
    assert isinstance(found, dict)
    return found


def words_of(written: dict[str, Any]) -> list[str]:
    """The command line of an entry."""
    command = written["command"]
    return list(command) if isinstance(command, list) else [command, *written["args"]]


_ANSWERS: dict[tuple[str, ...], subprocess.CompletedProcess[bytes]] = {}


def ping(command: list[str], root: Path) -> subprocess.CompletedProcess[bytes]:
    """How a command line that an entry holds answers; each is run once, because clients share them."""
    key = tuple(command)
    if key not in _ANSWERS:
        _ANSWERS[key] = subprocess.run(
            [each.replace("${workspaceFolder}", str(root)) for each in command],
            input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
            capture_output=True,
            cwd=root,
            env={"HOME": str(root.parent), "PATH": os.environ["PATH"]},
            timeout=60,
        )
    return _ANSWERS[key]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.slow
class TestEveryClient:
    def test_a_new_file(self, client: str, root: Path) -> None:
        done = install(client, root)
        file = root / PROJECT_FILES[client]
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == f"wrote {file}" and "to check the installation: " in done.stdout
        assert list(json.loads(file.read_text())) == [KEYS[client]]
        written = entry(client, root)
        assert written.get("type") == TYPES.get(client)
        program, *arguments = words_of(written)
        assert Path(program).is_absolute() and arguments[:6] == ["-P", "-m", "causalist", "serve", "mcp", "--text-only"]
        assert arguments[6:] == (["--repo", "${workspaceFolder}"] if client in NAMING else [])

    def test_twice_is_as_good_as_once(self, client: str, root: Path) -> None:
        install(client, root)
        file = root / PROJECT_FILES[client]
        before, at = file.read_bytes(), file.stat().st_mtime_ns
        done = install(client, root)
        assert (done.code, done.stdout) == (0, f"{file} is up to date\n")
        assert (file.read_bytes(), file.stat().st_mtime_ns) == (before, at)

    def test_removing_what_was_new_leaves_nothing(self, client: str, root: Path) -> None:
        install(client, root)
        done = install(client, root, "--remove")
        assert (done.code, done.stdout) == (0, f"deleted {root / PROJECT_FILES[client]}\n")
        assert list(root.iterdir()) == []
        done = install(client, root, "--remove")
        assert done.code == 0 and "has no entry for causalist" in done.stdout

    @pytest.mark.parametrize(
        "text",
        [
            "{}", "{}\n", "",
            "\n", '{"KEY": {}}', '{\n  "KEY": {}\n}\n', '{\n\t"KEY": {\n\t\t"o": {"a": "x"}\n\t}\n}\n',
            '{"KEY": {"other": {"command": "x"}}}', '{\r\n  "inputs": [],\r\n  "KEY": {\r\n    "o": {}\r\n  }\r\n}\r\n',
            '\ufeff{\n  "KEY": {\n    "other": {}\n  }\n}', '{\n    "n": 7,\n    "projects": {"/a": {"KEY": {}}}\n}',
            '// mine\n{\n  // servers\n  "KEY": {\n    "other": {\n      "a": "x", // why\n    }, // last\n  },\n}\n',
            '{\n  "KEY": {\n    /* none yet */\n  }\n}', '{"naïve": "☃ \\u2603", "KEY": {"o\\"ther": {}}}',
        ],
    )  # fmt: skip
    def test_removing_gives_back_every_byte(self, text: str, client: str, root: Path) -> None:
        file = root / PROJECT_FILES[client]
        file.parent.mkdir(exist_ok=True)
        before = text.replace("KEY", KEYS[client]).encode()
        file.write_bytes(before)
        done = install(client, root)
        assert done.code == 0, done.stderr
        copy = file.with_name(f"{file.name}.before-causalist")
        assert f"the original is kept in {copy}\n" in done.stdout and copy.read_bytes() == before
        assert b'"causalist"' in file.read_bytes()
        if text.strip():
            # All that was there is there, in its order.
            parts = iter(file.read_text(encoding="utf-8"))
            kept = [c for c in before.decode() if not c.isspace() and c not in ",}"]
            assert all(c in parts for c in kept)
        assert install(client, root).stdout == f"{file} is up to date\n"
        assert install(client, root, "--remove").code == 0
        assert file.read_bytes() == before
        assert [path for path in root.rglob("*") if path.is_file()] == [file]

    @pytest.mark.parametrize(
        "data",
        [
            b"{",
            b'{"KEY": [}',
            b"\xff\xfe{}",
            b'{"KEY": []}',
            b'{"KEY": null}',
            b"[]",
            b"<xml/>",
            b'{"a": 1} trailing',
            b"[" * 9999,
        ],
    )
    def test_what_cannot_be_read_is_left_alone(self, data: bytes, client: str, root: Path) -> None:
        file = root / PROJECT_FILES[client]
        file.parent.mkdir(exist_ok=True)
        before = data.replace(b"KEY", KEYS[client].encode())
        file.write_bytes(before)
        for options in ((), ("--print",)):
            done = install(client, root, *options)
            assert (done.code, done.stdout) == (2, "")
            assert (
                f"settings-unreadable: {file} cannot be changed: " in done.stderr
                and "add this yourself:\n{" in done.stderr
            )
            shown = json.loads(done.stderr.partition("yourself:\n")[2])[KEYS[client]]["causalist"]
            assert words_of(shown)[0] == sys.executable
        assert file.read_bytes() == before
        assert [path for path in root.rglob("*") if path.is_file()] == [file]

    def test_print_writes_nothing(self, client: str, root: Path) -> None:
        done = install(client, root, "--print")
        assert done.code == 0 and f"{root / PROJECT_FILES[client]} would get this:" in done.stderr
        shown = json.loads(done.stdout)
        assert list(root.iterdir()) == []
        install(client, root)
        assert shown == json.loads((root / PROJECT_FILES[client]).read_text())
        assert "would stay unchanged" in install(client, root, "--print").stderr
        assert "would lose this" in install(client, root, "--print", "--remove").stderr
        assert entry(client, root)

    def test_the_written_command_works_from_the_clients_environment(self, client: str, root: Path) -> None:
        """No shell, no PYTHONPATH, no variables but those that every client passes on."""
        (root / "a.py").write_text("def price():\n    return 1\n")
        install(client, root)
        done = ping(words_of(entry(client, root)), root)
        assert (done.returncode, json.loads(done.stdout)) == (0, {"jsonrpc": "2.0", "id": 1, "result": {}}), done.stderr


class TestMerging:
    def test_what_a_user_added_to_the_entry_stays(self, root: Path) -> None:
        file = root / ".mcp.json"
        file.write_text('{"mcpServers": {"causalist": {"command": "/gone/python", "args": [], "env": {"A": "1"}}}}')
        assert install("claude-code", root).code == 0
        written = entry("claude-code", root)
        assert written["env"] == {"A": "1"} and written["command"] == sys.executable and written["type"] == "stdio"

    def test_an_update_keeps_the_copy_from_before_the_first(self, root: Path) -> None:
        file = root / ".mcp.json"
        file.write_text('{"mine": 1}')
        install("claude-code", root)
        file.write_text(file.read_text().replace(sys.executable, "/older/python"))
        assert "the original is kept" not in install("claude-code", root).stdout
        install("claude-code", root, "--remove")
        assert file.read_text() == '{"mine": 1}'

    def test_what_was_changed_meanwhile_stays(self, root: Path) -> None:
        file = root / ".mcp.json"
        file.write_text('{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
        install("claude-code", root)
        file.write_text(file.read_text().replace('"a": {}', '"a": {},\n    "b": {}'))
        done = install("claude-code", root, "--remove")
        assert done.stdout == f"removed causalist from {file}\n"
        assert file.read_text() == '{\n  "mcpServers": {\n    "a": {},\n    "b": {}\n  }\n}\n'
        assert list(root.iterdir()) == [file]

    @pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
    def test_permissions_and_links_stay(self, root: Path) -> None:
        real = root / "settings" / "real.json"
        real.parent.mkdir()
        real.write_text('{"key": "secret"}')
        real.chmod(0o600)
        (root / ".mcp.json").symlink_to(real)
        assert install("claude-code", root).code == 0
        assert (root / ".mcp.json").is_symlink() and "causalist" in real.read_text()
        for path in (real, root / ".mcp.json.before-causalist"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

    @pytest.mark.skipif(os.name == "nt", reason="links are another thing there")
    @pytest.mark.parametrize("name", [".mcp.json", ".cursor"])
    def test_a_repository_cannot_make_it_write_elsewhere(self, name: str, root: Path) -> None:
        target = root.parent / "elsewhere"
        (root / name).symlink_to(target)
        if name == ".cursor":
            target.mkdir()
        client = "claude-code" if name == ".mcp.json" else "cursor"
        assert "outside of the repository" in install(client, root).failed("usage")
        assert not target.is_file() and not (target / "mcp.json").exists()

    def test_writing_fails(self, root: Path) -> None:
        (root / ".cursor").write_text("a file where the folder belongs")
        done = install("cursor", root)
        assert done.code == 2 and "settings-unreadable: " in done.stderr and "cannot be read" in done.stderr
        (root / ".cursor").unlink()
        (root / ".cursor" / "mcp.json").mkdir(parents=True)
        assert install("cursor", root).code == 2 and (root / ".cursor" / "mcp.json").is_dir()


class TestScopes:
    def test_around_the_current_folder(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "inner").mkdir()
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        monkeypatch.chdir(root / "inner")
        assert invoke("install", "claude-code").code == 0
        assert (root / ".mcp.json").exists()

    @pytest.mark.skipif(sys.platform != "linux", reason="each platform has other folders")
    @pytest.mark.parametrize(
        ("client", "file"),
        [
            ("claude-code", ".claude.json"), ("cursor", ".cursor/mcp.json"), ("vscode", ".config/Code/User/mcp.json"),
            ("gemini-cli", ".gemini/settings.json"), ("zed", ".config/zed/settings.json"),
            ("opencode", ".config/opencode/opencode.json"),
        ],
    )  # fmt: skip
    def test_of_the_user(self, client: str, file: str, root: Path) -> None:
        home = Path.home()
        assert home != Path("/root") and str(home).startswith("/tmp")
        done = invoke("install", client, "--scope", "user")
        assert done.code == 0 and done.stdout.startswith(f"wrote {home / file}\n")
        assert "causalist" in json.loads((home / file).read_text())[KEYS[client]]
        assert invoke("install", client, "--scope", "user", "--remove").code == 0
        assert not (home / file).exists()

    def test_of_the_user_where_claude_is_configured_elsewhere(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root / "config"))
        assert invoke("install", "claude-code", "--scope", "user").code == 0
        assert (root / "config" / ".claude.json").exists()

    def test_a_home_directory_is_no_project(self) -> None:
        invoke("install", "claude-code", "--repo", str(Path.home())).failed("refused-root")

    def test_unknown(self, root: Path) -> None:
        assert invoke("install", "emacs").code == 2
        invoke("install", "cursor", "--repo", str(root / "nowhere")).failed("repository-not-found")


class TestProgramOnThePath:
    """A repository's settings name the program, so that they fit other machines."""

    @pytest.fixture
    def program(self, interpreter_is_checked_once: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """One that is installed beside others of the user, as pipx does it: by a link."""
        folder, environment = tmp_path / "bin", tmp_path / "environment" / "bin"
        folder.mkdir()
        environment.mkdir(parents=True)
        program = environment / ("causalist.exe" if os.name == "nt" else "causalist")
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        (folder / program.name).symlink_to(program)
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setattr(sysconfig, "get_path", lambda name, scheme="": str(environment))
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(settings, "starts_by_name", STARTS_BY_NAME)
        return program

    @pytest.mark.usefixtures("program")
    @pytest.mark.parametrize("client", CLIENTS)
    def test_no_path_is_written(self, client: str, root: Path) -> None:
        done = install(client, root)
        assert done.code == 0 and "path of this machine" not in done.stdout
        written = entry(client, root)
        assert words_of(written)[:4] == ["causalist", "serve", "mcp", "--text-only"]
        assert str(root) not in json.dumps(written) and sys.prefix not in json.dumps(written)

    @pytest.mark.usefixtures("program")
    def test_nor_by_the_hook(self, root: Path) -> None:
        assert install("claude-code", root, "--hook").code == 0
        hooks = json.loads((root / ".claude/settings.json").read_text())["hooks"]["UserPromptSubmit"]
        assert [hook["command"] for group in hooks for hook in group["hooks"]] == ["causalist hook prompt"]
        assert install("claude-code", root, "--hook").stdout.count("is up to date") == 2

    @pytest.mark.usefixtures("program")
    def test_settings_of_the_user_are_read_without_a_shell(self, root: Path) -> None:
        assert sys.executable in install("claude-code", root, "--scope", "user", "--print").stdout

    @pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
    def test_an_active_environment_ends(
        self, variable: str, program: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(variable, str(program.parents[1]))
        assert "path of this machine" in install("claude-code", root).stdout
        assert entry("claude-code", root)["command"] == sys.executable

    def test_a_program_of_that_name_may_be_another(
        self, program: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sysconfig, "get_path", lambda name, scheme="": str(root))
        assert install("claude-code", root).code == 0 and entry("claude-code", root)["command"] == sys.executable

    def test_removal_restores_the_file_also_where_the_program_came_or_went(
        self, program: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original = '{"mcpServers":{},  "other": [1]}'
        (root / ".mcp.json").write_text(original)
        assert install("claude-code", root, "--hook").code == 0
        program.unlink()
        assert install("claude-code", root, "--remove").code == 0
        assert (root / ".mcp.json").read_text() == original and not (root / ".claude").exists()


class TestInterpreter:
    def test_one_that_needs_pythonpath_is_refused(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        bare = root / "bare"
        bare.write_text("#!/bin/sh\nexit 1\n")
        bare.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(bare))
        assert "PYTHONPATH" in install("claude-code", root).failed("extra-missing")
        assert not (root / ".mcp.json").exists()

    @pytest.mark.slow
    def test_the_server_that_is_installed_answers(self, root: Path) -> None:
        (root / "a.py").write_text("def price():\n    return 1\n")
        install("vscode", root)
        written = entry("vscode", root)
        program = [written["command"], *(each.replace("${workspaceFolder}", str(root)) for each in written["args"])]
        with RawServer(root, program=program) as server:
            assert str(root) in server.start()["instructions"]
            assert "def price()" in server.call("ask", question="price")[0]
        assert CHECKOUT.exists()
