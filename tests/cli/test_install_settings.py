"""`install` and `--remove` on settings as people have them: comments, other servers, other hooks, odd line ends.

The files are in `client_settings/`, one folder a client, written after the examples of the clients' own pages.
"""

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from causalist.cli.install import CLIENTS
from tests.cli.commands import Done, invoke

SETTINGS = Path(__file__).parent / "client_settings"
HOOKS = ("claude-code", "cursor", "codex", "gemini-cli")

# (client, recorded file, where it stands below the repository or the home directory, scope)
RECORDED = [
    ("claude-code", "mcp.json", ".mcp.json", "project"),
    ("claude-code", "claude.json", ".claude.json", "user"),
    ("claude-code", "settings.json", ".claude/settings.json", "project"),
    ("claude-code", "settings.json", ".claude/settings.json", "user"),
    ("cursor", "mcp.json", ".cursor/mcp.json", "project"),
    ("cursor", "hooks.json", ".cursor/hooks.json", "user"),
    ("vscode", "mcp.json", ".vscode/mcp.json", "project"),
    ("codex", "config.toml", ".codex/config.toml", "project"),
    ("codex", "config.toml", ".codex/config.toml", "user"),
    ("codex", "hooks.json", ".codex/hooks.json", "user"),
    ("gemini-cli", "settings.json", ".gemini/settings.json", "project"),
    ("zed", "settings.json", ".zed/settings.json", "project"),
    ("zed", "settings.json", ".config/zed/settings.json", "user"),
    ("opencode", "opencode.jsonc", "opencode.jsonc", "project"),
    ("opencode", "opencode.jsonc", ".config/opencode/opencode.jsonc", "user"),
    ("windsurf", "mcp_config.json", ".codeium/windsurf/mcp_config.json", "user"),
]


pytestmark = pytest.mark.usefixtures("interpreter_is_checked_once")


@pytest.fixture(autouse=True)
def no_client_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    if sys.platform != "linux":
        pytest.skip("each platform has other folders")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def install(client: str, scope: str, root: Path, *options: str) -> Done:
    with_hook = ["--hook"] if client in HOOKS and "--remove" not in options else []
    done = invoke("install", client, "--scope", scope, "--repo", str(root), *with_hook, *options)
    assert done.code == 0, done.stderr
    return done


def recorded(client: str, name: str, place: str, scope: str, root: Path) -> Path:
    """The recorded file where its client keeps it."""
    file = (root if scope == "project" else Path.home()) / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((SETTINGS / client / name).read_bytes())
    return file


def files_below(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("client", "name", "place", "scope"), RECORDED)
class TestRecorded:
    def test_every_byte_comes_back(self, client: str, name: str, place: str, scope: str, root: Path) -> None:
        file = recorded(client, name, place, scope, root)
        before, at = file.read_bytes(), files_below(root, Path.home())
        install(client, scope, root)
        changed = file.read_bytes()
        assert changed != before and b"causalist" in changed
        assert file.with_name(f"{file.name}.before-causalist").read_bytes() == before
        assert f"{file} is up to date\n" in install(client, scope, root).stdout
        assert file.read_bytes() == changed
        install(client, scope, root, "--remove")
        assert file.read_bytes() == before and files_below(root, Path.home()) == at

    def test_nothing_else_is_touched(self, client: str, name: str, place: str, scope: str, root: Path) -> None:
        """Every line is there as it was, in its order, but for a comma behind one."""
        file = recorded(client, name, place, scope, root)
        before = file.read_bytes().splitlines(keepends=True)
        install(client, scope, root)
        rest = iter(file.read_bytes().splitlines(keepends=True))
        for line in before:
            ending = line[len(line.rstrip(b"\r\n")) :]
            alike = {line, line.rstrip(b"\r\n") + ending}
            assert any(each in alike or _without_a_comma(each) == _without_a_comma(line) for each in rest), line

    def test_every_byte_comes_back_without_the_copy(
        self, client: str, name: str, place: str, scope: str, root: Path
    ) -> None:
        """The entry is cut out of what is there, when a user threw the copy away."""
        file = recorded(client, name, place, scope, root)
        before = file.read_bytes()
        install(client, scope, root)
        file.with_name(f"{file.name}.before-causalist").unlink()
        install(client, scope, root, "--remove")
        assert file.read_bytes() == before

    def test_what_a_user_changed_meanwhile_stays(
        self, client: str, name: str, place: str, scope: str, root: Path
    ) -> None:
        file = recorded(client, name, place, scope, root)
        before = file.read_bytes()
        install(client, scope, root)
        words = (b"npx", b"docker", b"check-style", b"uvx", b"guard", b"startup", b"bin/mcp", b"opencode.ai")
        word = next(each for each in words if each in before)
        file.write_bytes(file.read_bytes().replace(word, b"changed-by-hand"))
        install(client, scope, root, "--remove")
        assert file.read_bytes() == before.replace(word, b"changed-by-hand")

    def test_a_new_interpreter_replaces_the_old_one(
        self, client: str, name: str, place: str, scope: str, root: Path
    ) -> None:
        file = recorded(client, name, place, scope, root)
        before = file.read_bytes()
        install(client, scope, root)
        after = file.read_bytes()
        file.write_bytes(after.replace(sys.executable.encode(), b"/older/python"))
        install(client, scope, root)
        assert file.read_bytes() == after
        install(client, scope, root, "--remove")
        assert file.read_bytes() == before


def _without_a_comma(line: bytes) -> bytes:
    return line.replace(b",", b"")


HOOK_FILES = {
    "claude-code": (".claude/settings.json", "UserPromptSubmit"),
    "cursor": (".cursor/hooks.json", "beforeSubmitPrompt"),
    "codex": (".codex/hooks.json", "UserPromptSubmit"),
    "gemini-cli": (".gemini/settings.json", "BeforeAgent"),
}


@pytest.mark.parametrize("client", HOOKS)
class TestHook:
    def entry(self, client: str, root: Path) -> dict[str, Any]:
        name, event = HOOK_FILES[client]
        (item,) = json.loads((root / name).read_text())["hooks"][event]
        if "hooks" in item:
            (item,) = item["hooks"]
        assert isinstance(item, dict)
        return item

    def test_a_new_file(self, client: str, root: Path) -> None:
        install(client, "project", root)
        item = self.entry(client, root)
        words = shlex.split(item["command"])
        assert words == [sys.executable, "-P", "-m", "causalist", "hook", "prompt"]
        assert item["timeout"] == (5000 if client == "gemini-cli" else 5)
        assert item.get("type", "command") == "command"
        if client == "cursor":
            assert json.loads((root / ".cursor/hooks.json").read_text())["version"] == 1

    def test_removing_leaves_nothing(self, client: str, root: Path) -> None:
        install(client, "project", root)
        install(client, "project", root, "--remove")
        assert list(root.iterdir()) == []

    def test_one_after_the_other(self, client: str, root: Path) -> None:
        assert invoke("install", client, "--repo", str(root)).code == 0
        assert "hook prompt" not in "".join(file.read_text() for file in files_below(root))
        install(client, "project", root)
        assert self.entry(client, root)
        install(client, "project", root, "--remove")
        assert list(root.iterdir()) == []

    def test_print_writes_nothing(self, client: str, root: Path) -> None:
        done = install(client, "project", root, "--print")
        assert "causalist hook prompt" in done.stdout and '"mcp"' in done.stdout
        assert list(root.iterdir()) == []

    def test_a_list_that_is_none_is_left_alone(self, client: str, root: Path) -> None:
        name, event = HOOK_FILES[client]
        (root / name).parent.mkdir()
        (root / name).write_text(json.dumps({"hooks": {event: "mine"}}))
        done = invoke("install", client, "--repo", str(root), "--hook")
        assert (done.code, done.stdout) == (2, "")
        assert "causalist: settings-unreadable: " in done.stderr and "is a string, not a list" in done.stderr
        assert json.loads((root / name).read_text()) == {"hooks": {event: "mine"}}
        assert files_below(root) == {root / name}


@pytest.mark.parametrize("client", [name for name in CLIENTS if name not in HOOKS])
def test_clients_without_such_a_hook_say_so(client: str, root: Path) -> None:
    done = invoke("install", client, "--repo", str(root), "--hook")
    assert "Clients with one: claude-code, cursor, codex, gemini-cli" in done.failed("usage")


class TestCodex:
    def test_a_new_file(self, root: Path) -> None:
        install("codex", "project", root)
        document = tomllib.loads((root / ".codex/config.toml").read_text())
        entry = {"command": sys.executable, "args": ["-P", "-m", "causalist", "serve", "mcp", "--text-only"]}
        assert document == {"mcp_servers": {"causalist": entry}}

    def test_where_codex_has_a_home_of_its_own(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CODEX_HOME", str(root / "own"))
        install("codex", "user", root)
        assert {path.name for path in (root / "own").iterdir()} == {"config.toml", "hooks.json"}

    @pytest.mark.parametrize(
        "text",
        ["model = ", "[mcp_servers\n", "mcp_servers = {}\n", 'mcp_servers.causalist = {command = "x"}\n',
         "[[mcp_servers]]\n", 'mcp_servers = "none"\n', "a = 1\na = 2\n", '[mcp_servers]\ncausalist.command = "x"\n',
         "[[list]]\n[mcp_servers.causalist]\n[[list]]\n"],
    )  # fmt: skip
    def test_what_cannot_be_changed_safely_is_left_alone(self, text: str, root: Path) -> None:
        file = root / ".codex/config.toml"
        file.parent.mkdir()
        file.write_text(text)
        done = invoke("install", "codex", "--repo", str(root))
        assert (done.code, done.stdout) == (2, "") and f"settings-unreadable: {file} cannot be changed: " in done.stderr
        by_hand = tomllib.loads(done.stderr.partition("yourself:\n")[2])
        assert by_hand["mcp_servers"]["causalist"]["command"] == sys.executable
        assert file.read_text() == text and files_below(root) == {file}

    @pytest.mark.parametrize("text", ["", "\n", "model = 1", "\ufeffmodel = 1\n", "a = 1\r\n[b]\r\nc = 2\r\n", "# x\n"])
    def test_odd_files_come_back(self, text: str, root: Path) -> None:
        file = root / ".codex/config.toml"
        file.parent.mkdir()
        file.write_bytes(text.encode())
        install("codex", "project", root)
        assert "causalist" in tomllib.loads(file.read_text().removeprefix("\ufeff"))["mcp_servers"]
        install("codex", "project", root, "--remove")
        assert file.read_bytes() == text.encode()

    def test_an_older_entry_is_brought_up_to_date(self, root: Path) -> None:
        file = root / ".codex/config.toml"
        file.parent.mkdir()
        file.write_text(
            "[mcp_servers.causalist]\n# mine\ncommand = '/older/python' # why\nargs = [\n  '-m', # all\n"
            "  'causalist',\n]\nstartup_timeout_sec = 30\n\n[mcp_servers.causalist.env]\nA = '1'\n\n# next\n[b]\n"
        )
        install("codex", "project", root)
        text = file.read_text()
        entry = tomllib.loads(text)["mcp_servers"]["causalist"]
        assert entry["command"] == sys.executable and entry["args"][-2:] == ["mcp", "--text-only"]
        assert (entry["startup_timeout_sec"], entry["env"]) == (30, {"A": "1"})
        assert (
            "# mine\n" in text
            and " # why\n" in text
            and text.endswith("\n[mcp_servers.causalist.env]\nA = '1'\n\n# next\n[b]\n")
        )
        install("codex", "project", root, "--remove")
        assert file.read_text() == "\n# next\n[b]\n"

    def test_line_ends_and_tables_in_parts_stay(self, root: Path) -> None:
        file = root / ".codex/config.toml"
        file.parent.mkdir()
        others = (
            "[mcp_servers.docs]\r\nurl = 'x'\r\n\r\n",
            "# next\u2028b\r\n[b]\r\n\r\n",
            "# last\u2028z\r\n[mcp_servers.z]\r\n",
        )
        entry = "[mcp_servers.causalist]\r\ncommand = 'old' # why\r\n\r\n"
        file.write_bytes((others[0] + others[1] + entry + others[2]).encode())
        install("codex", "project", root)
        added = file.read_bytes().decode()
        assert added.startswith(others[0] + others[1]) and added.endswith("\r\n\r\n" + others[2])
        assert " # why\r\nargs = [" in added and added.count("\n") == added.count("\r\n")
        install("codex", "project", root, "--remove")
        assert file.read_bytes().decode() == "".join(others)

    def test_reading_loads_no_writer(self) -> None:
        code = (
            "import sys\nfrom causalist.cli._settings_edit import get_table\n"
            "assert get_table('[a]\\nb = 1\\n', ('a', 'b')) == 1\n"
            "print('tomlkit' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"


class TestWindsurf:
    def test_names_the_repository(self, root: Path) -> None:
        done = invoke("install", "windsurf", "--repo", str(root))
        file = Path.home() / ".codeium/windsurf/mcp_config.json"
        assert done.code == 0 and done.stdout.startswith(f"wrote {file}\n")
        entry = json.loads(file.read_text())["mcpServers"]["causalist"]
        assert entry["args"][-2:] == ["--repo", str(root)]

    def test_has_no_settings_of_a_project(self, root: Path) -> None:
        message = invoke("install", "windsurf", "--scope", "project", "--repo", str(root)).failed("usage")
        assert "no project settings" in message


def test_opencode_keeps_to_the_file_that_is_there(root: Path) -> None:
    (root / "opencode.jsonc").write_text("{} // mine\n")
    install("opencode", "project", root)
    assert not (root / "opencode.json").exists()
    assert (root / "opencode.jsonc").read_text().endswith("} // mine\n")


def test_the_help_names_every_client() -> None:
    text = " ".join(invoke("install", "--help").stdout.split())
    assert f"CLIENT is {', '.join(list(CLIENTS)[:-1])} or {list(CLIENTS)[-1]}." in text
