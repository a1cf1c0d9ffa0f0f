"""Clients that `install` knows: their settings files, hooks and entry formats.

The formats are those that the clients document. A client starts the server in a folder of its choice. If the client can
insert the open folder into a command, the entry does so; otherwise the server searches around the current folder.
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
# Substring of every hook command line; identifies an installed hook.
HOOK_WORDS = "-m causalist hook prompt"
_HOOK_SECONDS = 5  # timeout of the client; the hook's own deadline is shorter

EntryData = Mapping[str, object]


def _command_entry(interpreter: str, arguments: list[str]) -> EntryData:
    return {"command": interpreter, "args": arguments}


def _stdio_entry(interpreter: str, arguments: list[str]) -> EntryData:
    return {"type": "stdio", "command": interpreter, "args": arguments}


def _opencode_entry(interpreter: str, arguments: list[str]) -> EntryData:
    return {"type": "local", "command": [interpreter, *arguments], "enabled": True}


@dataclass(frozen=True, slots=True)
class Hook:
    """Prompt hook of a client: path of the hook list, settings files and the entry for a command line.

    `given` are members that the settings file must have.
    """

    path: tuple[str, ...]
    project_file: str
    user_file: Callable[[], Path]
    item: Callable[[str], EntryData]
    given: Mapping[str, object] = field(default_factory=dict)

    def file(self, scope: str, root: Path) -> Path:
        """Return the settings file for a scope."""
        return self.user_file() if scope == "user" else root / self.project_file

    def entry(self) -> EntryData:
        """Return the hook entry to write."""
        words = [sys.executable, "-P", *HOOK_WORDS.split()]
        return self.item(subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words))


@dataclass(frozen=True, slots=True)
class Client:
    """Client with its settings files and entry format.

    `key` is the member of the settings that maps server names to entries. `folder` is the variable that the client
    replaces by the open folder, or None if it starts servers there. A client without `project_files` has user settings
    only. Of several files, the first that exists is used. With `names_root`, the entry names the repository, because
    the client does not tell which folder is open. `check` describes how to check the installation.
    """

    title: str
    key: str
    project_files: tuple[str, ...]  # relative to the repository
    user_files: Callable[[], tuple[Path, ...]]
    folder: str | None
    check: str
    shape: Callable[[str, list[str]], EntryData] = _command_entry
    hook: Hook | None = None
    names_root: bool = False

    def file(self, scope: str, root: Path) -> Path:
        """Return the settings file for a scope: the first that exists, else the first."""
        files = self.user_files() if scope == "user" else tuple(root / name for name in self.project_files)
        return next((file for file in files if file.exists()), files[0])

    def entry(self, root: Path) -> EntryData:
        """Return the server entry to write.

        It names this interpreter by its path, because a client does not know the environment of a shell.
        """
        # -P: modules must not be imported from the current folder, which is a repository.
        arguments = ["-P", "-m", "causalist", "serve", "mcp"]
        folder = str(root) if self.names_root else self.folder
        if folder is not None:
            arguments += ["--repo", folder]
        return self.shape(sys.executable, arguments)


def _folder_from_environment(variable: str, *otherwise: str) -> Path:
    """Return the folder in an environment variable, or a folder below the home directory."""
    value = os.environ.get(variable)
    return Path(value) if value else Path.home().joinpath(*otherwise)


def _settings_folder(windows: str, mac: tuple[str, ...], other: str) -> Path:
    if sys.platform == "win32":
        return _folder_from_environment("APPDATA", "AppData", "Roaming") / windows
    if sys.platform == "darwin":
        return Path.home().joinpath(*mac)
    return _folder_from_environment("XDG_CONFIG_HOME", ".config") / other


def _claude_user_file() -> Path:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else Path.home()) / ".claude.json"


def _vscode_user_file() -> Path:
    return _settings_folder("Code", ("Library", "Application Support", "Code"), "Code") / "User" / "mcp.json"


def _zed_user_file() -> Path:
    return _settings_folder("Zed", (".config", "zed"), "zed") / "settings.json"


def _opencode_user_files() -> tuple[Path, ...]:
    folder = _folder_from_environment("XDG_CONFIG_HOME", ".config") / "opencode"
    return folder / "opencode.json", folder / "opencode.jsonc"


def _hook_group(command: str) -> EntryData:
    return {"hooks": [{"type": "command", "command": command, "timeout": _HOOK_SECONDS}]}


def _gemini_hook_group(command: str) -> EntryData:
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
            _stdio_entry,
            Hook(
                ("hooks", "UserPromptSubmit"),
                ".claude/settings.json",
                lambda: _folder_from_environment("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
                _hook_group,
            ),
        ),
        "cursor": Client(
            "Cursor",
            "mcpServers",
            (".cursor/mcp.json",),
            lambda: (Path.home() / ".cursor" / "mcp.json",),
            "${workspaceFolder}",
            "open the repository in Cursor and look for causalist among the MCP servers in its settings",
            _stdio_entry,
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
            _stdio_entry,
        ),
        "codex": Client(
            "Codex",
            "mcp_servers",
            (".codex/config.toml",),
            lambda: (_folder_from_environment("CODEX_HOME", ".codex") / "config.toml",),
            None,
            "run `codex mcp list` in the repository, or look at /mcp; a project's settings count once it is trusted",
            hook=Hook(
                ("hooks", "UserPromptSubmit"),
                ".codex/hooks.json",
                lambda: _folder_from_environment("CODEX_HOME", ".codex") / "hooks.json",
                _hook_group,
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
                _gemini_hook_group,
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
            _opencode_entry,
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
