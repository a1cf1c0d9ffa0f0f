"""`causalist install`: add the MCP server and the prompt hook to the settings of a client.

Clients have settings files, hooks and entry formats of their own, which are those that the clients document. A client
starts the server in a folder of its choice. If the client can insert the open folder into a command, the entry does so;
otherwise the server searches around the current folder.

A settings file is written atomically and a backup is kept. Removing entries restores the original bytes if the file was
not changed otherwise. Files are JSON with comments or TOML.
"""

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import click

from causalist.cli._output import emit_lines, say
from causalist.cli._repository import repository_options, require_extra
from causalist.cli._settings_edit import (
    NotJson,
    NotToml,
    get_member,
    get_table,
    with_item,
    with_member,
    with_table,
    without_items,
    without_member,
    without_table,
)
from causalist.errors import ExtraMissing, SettingsUnreadable, UsageError

# The name of the entry.
SERVER = "causalist"
# Substring of every hook command line; identifies an installed hook.
HOOK_WORDS = "causalist hook prompt"
_HOOK_SECONDS = 5  # timeout of the client; the hook's own deadline is shorter

EntryData = Mapping[str, object]


def starts_by_name() -> bool:
    """Return True if any shell of the user starts this installation as `causalist`.

    A virtual environment does not count: its programs are on the search path only while it is active.
    """
    found = shutil.which(SERVER)
    if found is None:
        return False
    program = Path(found).resolve()
    folders = (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    if program not in [(Path(folder) / Path(found).name).resolve() for folder in folders]:
        return False
    active = filter(None, (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")))
    return not any(program.is_relative_to(Path(folder).resolve()) for folder in active)


def _program(*, by_name: bool) -> list[str]:
    """Return the words that start the program: with `by_name` those that fit other machines, too."""
    # -P: modules must not be imported from the current folder, which is a repository.
    return [SERVER] if by_name else [sys.executable, "-P", "-m", SERVER]


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

    def entry(self, *, by_name: bool = False) -> EntryData:
        """Return the hook entry to write."""
        words = [*_program(by_name=by_name), *HOOK_WORDS.split()[1:]]
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

    def entry(self, root: Path, *, by_name: bool = False) -> EntryData:
        """Return the server entry to write.

        It names this interpreter by its path, because a client does not know the environment of a shell; with
        `by_name`, the program by its name.
        """
        program, *arguments = _program(by_name=by_name)
        # Text alone: several clients give a model the structured content instead, as JSON.
        arguments += ["serve", "mcp", "--text-only"]
        folder = str(root) if self.names_root else self.folder
        if folder is not None:
            arguments += ["--repo", folder]
        return self.shape(program, arguments)


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


_BACKUP = ".before-causalist"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Planned edit of a file: its text before and after, None where the file does not exist.

    `is_update` is true if the file already had an entry.
    """

    file: Path
    before: str | None
    after: str | None
    is_update: bool = False

    @property
    def is_needed(self) -> bool:
        """True if the edit changes the file."""
        return self.before != self.after

    @property
    def backup(self) -> Path:
        """Path of the backup file."""
        return self.file.with_name(self.file.name + _BACKUP)


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """Entry to store at `path`. It overrides an older entry and keeps other keys of it.

    With `words`, it is an item of the list at `path` and is recognized by this substring. `given` are further members
    of the file, which are added if they are missing.
    """

    path: tuple[str, ...]
    data: Mapping[str, object]
    words: str = ""
    given: Mapping[str, object] | None = None


def add_entries(file: Path, entries: Sequence[SettingsEntry]) -> FileEdit:
    """Return the edit that adds all entries to a file. Raises SettingsUnreadable."""
    before = _read_text(file)
    try:
        is_update = before is not None and any(_has_entry(file, before, entry) for entry in entries)
        return FileEdit(file, before, _with_entries(file, before, entries), is_update)
    except (NotJson, NotToml) as error:
        raise SettingsUnreadable(f"{file} cannot be changed: {error}") from error


def remove_entries(file: Path, entries: Sequence[SettingsEntry], also: Sequence[SettingsEntry] = ()) -> FileEdit:
    """Return the edit that removes all entries from a file.

    It restores the original text if adding the entries was the only change since, or those that may have been written
    instead: `also`. Raises SettingsUnreadable.
    """
    before = _read_text(file)
    if before is None:
        return FileEdit(file, None, None)
    change = FileEdit(file, before, before)
    try:
        there = [entry for entry in entries if _has_entry(file, before, entry)]
        if not there:
            return change
        earlier = _read_text(change.backup)
        # The entries may have been added one by one.
        for number in range(1, len(entries) + 1):
            for some in (*combinations(entries, number), *combinations(also, number)):
                if before == _with_entries(file, earlier, some):
                    return FileEdit(file, before, earlier)
        after = before
        for entry in there:
            after = _without_entry(file, after, entry)
            after = _without_empty_parents(file, after, entry.path[: len(entry.path) - (not entry.words)], earlier)
        return FileEdit(file, before, after)
    except (NotJson, NotToml) as error:
        raise SettingsUnreadable(f"{file} cannot be changed: {error}") from error


def apply_edit(change: FileEdit, *, keep_backup: bool, own_folder: bool = False) -> Path | None:
    """Carry out an edit and return the path of the backup, if one was written. Raises UsageError.

    `own_folder` says that the folder of a deleted file existed for that file only; it is deleted too if it is empty.
    """
    file = change.file.resolve()  # a link stays a link
    copy: Path | None = None
    try:
        if change.after is None:
            file.unlink()
            if own_folder:
                with suppress(OSError):  # other files are in it
                    file.parent.rmdir()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            mode = stat.S_IMODE(file.stat().st_mode) if change.before is not None else None
            # Do not back up a file that an earlier installation wrote.
            if keep_backup and change.before is not None and not change.is_update:
                copy = change.backup
                _write(copy, change.before, mode)
            _write(file, change.after, mode)
        if not keep_backup:
            change.backup.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {change.file}: {error.strerror or error}") from error
    return copy


def _with_entries(file: Path, text: str | None, entries: Sequence[SettingsEntry]) -> str:
    if text is None or not text.strip("\ufeff \t\r\n"):
        text = "" if _is_toml(file) else "{}\n"
    for entry in entries:
        text = _with_entry(file, text, entry)
    return text


def _with_entry(file: Path, text: str, entry: SettingsEntry) -> str:
    if _is_toml(file):
        current = get_table(text, entry.path)
        merged = _merge_entry(current, entry)
        return text if merged == current else with_table(text, entry.path, merged)
    for key, value in (entry.given or {}).items():
        if get_member(text, (key,)) is None:
            text = with_member(text, (key,), value)
    current = get_member(text, entry.path)
    if entry.words:
        if isinstance(current, list) and [item for item in current if _contains_words(item, entry.words)] == [
            dict(entry.data)
        ]:
            return text
        text = without_items(text, entry.path, lambda item: _contains_words(item, entry.words))
        return with_item(text, entry.path, dict(entry.data))
    merged = _merge_entry(current, entry)
    return text if merged == current else with_member(text, entry.path, merged)


def _merge_entry(current: object, entry: SettingsEntry) -> dict[str, object]:
    return {**current, **entry.data} if isinstance(current, dict) else dict(entry.data)


def _without_entry(file: Path, text: str, entry: SettingsEntry) -> str:
    if _is_toml(file):
        return without_table(text, entry.path)
    if entry.words:
        return without_items(text, entry.path, lambda item: _contains_words(item, entry.words))
    return without_member(text, entry.path)


def _without_empty_parents(file: Path, text: str, path: Sequence[str], earlier: str | None) -> str:
    """Return `text` without parents of a removed entry that are empty and were not in the earlier file."""
    for length in range(0 if _is_toml(file) else len(path), 0, -1):
        around = path[:length]
        is_there = earlier is not None and earlier.strip() and get_member(earlier, around) is not None
        if is_there or get_member(text, around) not in ({}, []):
            break
        text = without_member(text, around)
    return text


def _has_entry(file: Path, text: str, entry: SettingsEntry) -> bool:
    if not text.strip("\ufeff \t\r\n"):
        return False
    if _is_toml(file):
        return get_table(text, entry.path) is not None
    current = get_member(text, entry.path)
    if not entry.words:
        return current is not None
    return isinstance(current, list) and any(_contains_words(item, entry.words) for item in current)


def installed_command(file: Path, client: Client) -> str | None:
    """Return the program that the entry of a client starts; None without an entry. Raises SettingsUnreadable."""
    text = _read_text(file) or ""
    path = (client.key, SERVER)
    if not text.strip("\ufeff \t\r\n"):
        return None
    try:
        entry = get_table(text, path) if _is_toml(file) else get_member(text, path)
    except (NotJson, NotToml) as error:
        raise SettingsUnreadable(str(error)) from error
    command = entry.get("command") if isinstance(entry, dict) else None
    first = command[0] if isinstance(command, list) and command else command
    return first if isinstance(first, str) else None


def _contains_words(value: object, words: str) -> bool:
    """Return True if a string anywhere in a value contains these words."""
    if isinstance(value, str):
        return words in value
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_contains_words(each, words) for each in below)


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"


def _read_text(file: Path) -> str | None:
    """Return the file's text with its line ends, or None without a file. Raises SettingsUnreadable."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingsUnreadable(f"{file} cannot be changed: it is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise SettingsUnreadable(f"{file} cannot be read: {error.strerror or error}") from error


def _write(file: Path, text: str, mode: int | None) -> None:
    aside = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        # Settings may hold keys: never readable by more people than before.
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            aside.chmod(mode)
        aside.replace(file)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


class FileEntries(NamedTuple):
    """Settings file, the entries to add or remove, and their description for people."""

    file: Path
    entries: tuple[SettingsEntry, ...]
    what: str


@click.command("install")
@click.argument("client", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
@click.option("--scope", type=click.Choice(["project", "user"]),
              help="Settings to change.  [default: project, if the client has such settings]")  # fmt: skip
@click.option("--hook", is_flag=True, help="Also install the prompt hook (causalist hook prompt).")
@click.option("--print", "only_print", is_flag=True, help="Show the entries and their files; write nothing.")
@click.option("--remove", is_flag=True, help="Remove the installed entries, including the hook.")
@repository_options
def install_command(
    client: str, scope: str | None, hook: bool, only_print: bool, remove: bool, repo: Path | None, force: bool
) -> None:
    """Configure CLIENT to start the MCP server.

    CLIENT is claude-code, cursor, vscode, codex, gemini-cli, zed, opencode or windsurf.

    One entry is added to the client's settings; with --hook, a second one for `causalist hook prompt`. Other entries
    and comments are unchanged. The original of a changed file is kept as *.before-causalist.

    \b
    Example:
      causalist install claude-code --hook
      causalist install vscode --scope user --print
    """
    from causalist.source import find_root, refuse_root

    agent = CLIENTS[client]
    if scope == "project" and not agent.project_files:
        raise UsageError(f"{agent.title} has no project settings. Omit --scope.")
    scope = scope or ("project" if agent.project_files else "user")
    if hook and agent.hook is None:
        able = ", ".join(name for name, each in CLIENTS.items() if each.hook is not None)
        raise UsageError(f"{agent.title} has no prompt hook. Clients with one: {able}")
    root = Path()
    if scope == "project" or agent.names_root:
        root = find_root(repo or Path())
        if repo is not None:
            root = repo.resolve()
        if not force:
            refuse_root(root)
    # Settings in a repository are shared with other machines; those of the user are started without a shell.
    by_name = scope == "project" and starts_by_name()
    parts = _collect_entries(agent, scope, root, with_hook=hook or remove, by_name=by_name)
    others = _collect_entries(agent, scope, root, with_hook=hook or remove, by_name=not by_name)
    for part in parts:
        if scope == "project" and not part.file.resolve().is_relative_to(root.resolve()):
            raise UsageError(f"{part.file} links to {part.file.resolve()}, outside of the repository. Edit that file.")
    changes = [
        (part, _plan_edit(part, agent, also=other.entries if remove else None))
        for part, other in zip(parts, others, strict=True)
    ]
    if only_print:
        for part, change in changes:
            what = "would stay unchanged" if not change.is_needed else "would lose this" if remove else "would get this"
            say(f"{part.file} {what}:")
            emit_lines(_format_entries(part).split("\n"))
        return
    if not remove:
        require_extra("mcp", "mcp", 2)
        _check_interpreter()
    if remove:  # report files without an entry only if there is no entry at all
        changes = [(part, change) for part, change in changes if change.is_needed] or changes[:1]
    lines = [line for part, change in changes for line in _apply_and_describe(part, change, scope, root, remove=remove)]
    if not remove and any(change.is_needed for _, change in changes):
        if scope == "project" and not by_name:
            lines.append("the entry has a path of this machine; after `pipx install causalist[mcp]` it needs none")
        lines.append(f"to check the installation: {agent.check}")
    emit_lines(lines)


def _collect_entries(agent: Client, scope: str, root: Path, *, with_hook: bool, by_name: bool) -> list[FileEntries]:
    """Return the entries by file, each file once."""
    server = SettingsEntry((agent.key, SERVER), agent.entry(root, by_name=by_name))
    parts = [FileEntries(agent.file(scope, root), (server,), SERVER)]
    if with_hook and agent.hook is not None:
        hook = SettingsEntry(agent.hook.path, agent.hook.entry(by_name=by_name), HOOK_WORDS, agent.hook.given)
        file = agent.hook.file(scope, root)
        if file == parts[0].file:
            parts = [FileEntries(file, (server, hook), f"{SERVER} and its hook")]
        else:
            parts.append(FileEntries(file, (hook,), f"the hook of {SERVER}"))
    return parts


def _plan_edit(part: FileEntries, agent: Client, *, also: Sequence[SettingsEntry] | None) -> FileEdit:
    """Return the edit that adds the entries of a file; with `also`, that of `remove_entries`."""
    remove = also is not None
    try:
        return add_entries(part.file, part.entries) if also is None else remove_entries(part.file, part.entries, also)
    except SettingsUnreadable as error:
        place = f'"{agent.key}"' if not part.entries[0].words else '"hooks"'
        by_hand = (
            f'remove "{SERVER}" from {place} yourself' if remove else f"add this yourself:\n{_format_entries(part)}"
        )
        raise SettingsUnreadable(f"{error}. The file is unchanged; {by_hand}") from error


def _format_entries(part: FileEntries) -> str:
    """Return the entries of a file as a snippet of its format."""
    if part.file.suffix == ".toml":
        return with_table("", part.entries[0].path, part.entries[0].data).rstrip("\n")
    document: dict[str, object] = {}
    for entry in part.entries:
        document |= entry.given or {}
        value: object = [entry.data] if entry.words else entry.data
        for key in reversed(entry.path[1:]):
            value = {key: value}
        document[entry.path[0]] = value
    return json.dumps(document, indent=2, ensure_ascii=False)


def _apply_and_describe(part: FileEntries, change: FileEdit, scope: str, root: Path, *, remove: bool) -> list[str]:
    """Apply the edit and return lines that describe it."""
    file = part.file
    if not change.is_needed:
        return [f"{file} has no entry for {SERVER}" if remove else f"{file} is up to date"]
    if remove:
        apply_edit(change, keep_backup=False, own_folder=scope == "project" and file.parent != root)
        return [f"deleted {file}" if change.after is None else f"removed {part.what} from {file}"]
    copy = apply_edit(change, keep_backup=True)
    return [f"wrote {file}", *([f"the original is kept in {copy}"] if copy is not None else [])]


def _check_interpreter() -> None:
    """Check that the interpreter finds its packages without PYTHONPATH. Raises ExtraMissing.

    A client starts the server without the environment of a shell.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    code = "from importlib.util import find_spec; raise SystemExit(not (find_spec('causalist') and find_spec('mcp')))"
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environment, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ExtraMissing(
            f"{sys.executable} finds causalist or mcp only through PYTHONPATH, which a client does not set; install it "
            'there: pip install "causalist[mcp]"'
        )
