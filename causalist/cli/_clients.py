"""The clients that `install` knows: where each keeps its servers and its hooks, and what is written there.

The formats are those that the clients document. A client starts the server in a place of its own choice; where it can
say which folder is open, the entry makes it say so, and elsewhere the server looks around the current folder.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

# The name of the entry.
SERVER = "causalist"
# What every command line of the hook holds, by which it is found again.
HOOK_WORDS = "-m causalist hook prompt"
_HOOK_SECONDS = 5  # after which a client gives up waiting; the hook itself ends long before

Entry = Mapping[str, object]


def _usual(interpreter: str, arguments: list[str]) -> Entry:
    return {"command": interpreter, "args": arguments}


def _with_type(interpreter: str, arguments: list[str]) -> Entry:
    return {"type": "stdio", "command": interpreter, "args": arguments}


def _opencode(interpreter: str, arguments: list[str]) -> Entry:
    return {"type": "local", "command": [interpreter, *arguments], "enabled": True}


@dataclass(frozen=True, slots=True)
class Hook:
    """Where a client keeps what it runs before a prompt, and an entry of that list around a command line. `given` are
    members that its file has to have."""

    path: tuple[str, ...]
    project_file: str
    user_file: Callable[[], Path]
    item: Callable[[str], Entry]
    given: Mapping[str, object] = field(default_factory=dict)

    def file(self, scope: str, root: Path) -> Path:
        return self.user_file() if scope == "user" else root / self.project_file

    def entry(self) -> Entry:
        """What is written."""
        words = [sys.executable, "-P", *HOOK_WORDS.split()]
        return self.item(subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words))


@dataclass(frozen=True, slots=True)
class Client:
    """`key` is the member of the settings that holds servers by name; `folder` what the client replaces with the open
    folder, or None where it starts servers there. A client without `project_files` has settings of the user only; of
    several the first that is there counts. With `names_root` nothing tells the server which folder is open, so that the
    entry names one. `check` tells people how to see that it works."""

    title: str
    key: str
    project_files: tuple[str, ...]  # relative to the repository
    user_files: Callable[[], tuple[Path, ...]]
    folder: str | None
    check: str
    shape: Callable[[str, list[str]], Entry] = _usual
    hook: Hook | None = None
    names_root: bool = False

    def file(self, scope: str, root: Path) -> Path:
        files = self.user_files() if scope == "user" else tuple(root / name for name in self.project_files)
        return next((file for file in files if file.exists()), files[0])

    def entry(self, root: Path) -> Entry:
        """What is written: this interpreter by its path, because a client knows no environment of a shell."""
        # -P: the current folder is a repository, and must not be imported from.
        arguments = ["-P", "-m", "causalist", "serve", "mcp"]
        folder = str(root) if self.names_root else self.folder
        if folder is not None:
            arguments += ["--repo", folder]
        return self.shape(sys.executable, arguments)


def _folder(variable: str, *otherwise: str) -> Path:
    """What an environment variable says, or a folder in the home directory."""
    value = os.environ.get(variable)
    return Path(value) if value else Path.home().joinpath(*otherwise)


def _settings_folder(windows: str, mac: tuple[str, ...], other: str) -> Path:
    if sys.platform == "win32":
        return _folder("APPDATA", "AppData", "Roaming") / windows
    if sys.platform == "darwin":
        return Path.home().joinpath(*mac)
    return _folder("XDG_CONFIG_HOME", ".config") / other


def _claude_user_file() -> Path:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else Path.home()) / ".claude.json"


def _vscode_user_file() -> Path:
    return _settings_folder("Code", ("Library", "Application Support", "Code"), "Code") / "User" / "mcp.json"


def _zed_user_file() -> Path:
    return _settings_folder("Zed", (".config", "zed"), "zed") / "settings.json"


def _opencode_user_files() -> tuple[Path, ...]:
    folder = _folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return folder / "opencode.json", folder / "opencode.jsonc"


def _grouped(command: str) -> Entry:
    return {"hooks": [{"type": "command", "command": command, "timeout": _HOOK_SECONDS}]}


def _gemini_grouped(command: str) -> Entry:
    return {"hooks": [{"name": SERVER, "type": "command", "command": command, "timeout": _HOOK_SECONDS * 1000}]}


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        "claude-code": Client(
            "Claude Code",
            "mcpServers",
            (".mcp.json",),
            lambda: (_claude_user_file(),),
            None,
            "start `claude` in the repository, approve the server, and look at /mcp",
            _with_type,
            Hook(
                ("hooks", "UserPromptSubmit"),
                ".claude/settings.json",
                lambda: _folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
                _grouped,
            ),
        ),
        "cursor": Client(
            "Cursor",
            "mcpServers",
            (".cursor/mcp.json",),
            lambda: (Path.home() / ".cursor" / "mcp.json",),
            "${workspaceFolder}",
            "open the repository in Cursor and look for causalist among the MCP servers in its settings",
            _with_type,
            Hook(
                ("hooks", "beforeSubmitPrompt"),
                ".cursor/hooks.json",
                lambda: Path.home() / ".cursor" / "hooks.json",
                lambda command: {"command": command, "timeout": _HOOK_SECONDS},
                {"version": 1},
            ),
        ),
        "vscode": Client(
            "VS Code",
            "servers",
            (".vscode/mcp.json",),
            lambda: (_vscode_user_file(),),
            "${workspaceFolder}",
            "open the repository in VS Code and run `MCP: List Servers` from the command palette",
            _with_type,
        ),
        "codex": Client(
            "Codex",
            "mcp_servers",
            (".codex/config.toml",),
            lambda: (_folder("CODEX_HOME", ".codex") / "config.toml",),
            None,
            "run `codex mcp list` in the repository, or look at /mcp; a project's settings count once it is trusted",
            hook=Hook(
                ("hooks", "UserPromptSubmit"),
                ".codex/hooks.json",
                lambda: _folder("CODEX_HOME", ".codex") / "hooks.json",
                _grouped,
            ),
        ),
        "gemini-cli": Client(
            "Gemini CLI",
            "mcpServers",
            (".gemini/settings.json",),
            lambda: (Path.home() / ".gemini" / "settings.json",),
            None,
            "run `gemini mcp list` in the repository, or look at /mcp",
            hook=Hook(
                ("hooks", "BeforeAgent"),
                ".gemini/settings.json",
                lambda: Path.home() / ".gemini" / "settings.json",
                _gemini_grouped,
            ),
        ),
        "zed": Client(
            "Zed",
            "context_servers",
            (".zed/settings.json",),
            lambda: (_zed_user_file(),),
            None,
            "open the repository in Zed and look for causalist in the settings of the agent panel",
        ),
        "opencode": Client(
            "OpenCode",
            "mcp",
            ("opencode.json", "opencode.jsonc"),
            _opencode_user_files,
            None,
            "run `opencode mcp list` in the repository",
            _opencode,
        ),
        "windsurf": Client(
            "Windsurf",
            "mcpServers",
            (),
            lambda: (Path.home() / ".codeium" / "windsurf" / "mcp_config.json",),
            None,
            "open Windsurf's settings of Cascade and refresh the list of MCP servers",
            names_root=True,
        ),
    }
)
