"""The clients that `install` knows: where each keeps its servers, and what is written there.

The formats are those that the clients document. A client starts the server in a place of its own choice; where it can
say which folder is open, the entry makes it say so, and elsewhere the server looks around the current folder.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

# The name of the entry.
SERVER = "causalist"


@dataclass(frozen=True, slots=True)
class Client:
    """`key` is the member of the settings that holds servers by name; `folder` what the client replaces with the open
    folder, or None where it starts servers there. `check` tells people how to see that it works."""

    title: str
    key: str
    project_file: str  # relative to the repository
    user_file: Callable[[], Path]
    folder: str | None
    check: str

    def file(self, scope: str, root: Path) -> Path:
        return self.user_file() if scope == "user" else root / self.project_file

    def entry(self) -> dict[str, object]:
        """What is written: this interpreter by its path, because a client knows no environment of a shell."""
        # -P: the current folder is a repository, and must not be imported from.
        arguments = ["-P", "-m", "causalist", "serve", "mcp"]
        if self.folder is not None:
            arguments += ["--repo", self.folder]
        return {"type": "stdio", "command": sys.executable, "args": arguments}


def _claude_user_file() -> Path:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else Path.home()) / ".claude.json"


def _vscode_user_file() -> Path:
    if sys.platform == "win32":
        folder = os.environ.get("APPDATA")
        base = Path(folder) if folder else Path.home() / "AppData" / "Roaming"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        folder = os.environ.get("XDG_CONFIG_HOME")
        base = Path(folder) if folder else Path.home() / ".config"
    return base / "Code" / "User" / "mcp.json"


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        "claude-code": Client(
            "Claude Code",
            "mcpServers",
            ".mcp.json",
            _claude_user_file,
            None,
            "start `claude` in the repository, approve the server, and look at /mcp",
        ),
        "cursor": Client(
            "Cursor",
            "mcpServers",
            ".cursor/mcp.json",
            lambda: Path.home() / ".cursor" / "mcp.json",
            "${workspaceFolder}",
            "open the repository in Cursor and look for causalist among the MCP servers in its settings",
        ),
        "vscode": Client(
            "VS Code",
            "servers",
            ".vscode/mcp.json",
            _vscode_user_file,
            "${workspaceFolder}",
            "open the repository in VS Code and run `MCP: List Servers` from the command palette",
        ),
    }
)
