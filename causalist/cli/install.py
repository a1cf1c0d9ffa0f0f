"""`causalist install`: add the MCP server and the prompt hook to a client's settings."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import click

from causalist.cli._client_settings import FileEdit, SettingsEntry, add_entries, apply_edit, remove_entries
from causalist.cli._clients import CLIENTS, HOOK_WORDS, SERVER, Client
from causalist.cli._output import emit_lines, say
from causalist.cli._repository import repository_options, require_extra
from causalist.errors import ExtraMissing, SettingsUnreadable, UsageError


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

    known = CLIENTS[client]
    if scope == "project" and not known.project_files:
        raise UsageError(f"{known.title} has no project settings. Omit --scope.")
    scope = scope or ("project" if known.project_files else "user")
    if hook and known.hook is None:
        able = ", ".join(name for name, each in CLIENTS.items() if each.hook is not None)
        raise UsageError(f"{known.title} has no prompt hook. Clients with one: {able}")
    root = Path()
    if scope == "project" or known.names_root:
        root = find_root(repo or Path())
        if repo is not None:
            root = repo.resolve()
        if not force:
            refuse_root(root)
    parts = _collect_entries(known, scope, root, with_hook=hook or remove)
    for part in parts:
        if scope == "project" and not part.file.resolve().is_relative_to(root.resolve()):
            raise UsageError(f"{part.file} links to {part.file.resolve()}, outside of the repository. Edit that file.")
    changes = [(part, _plan_edit(part, known, remove=remove)) for part in parts]
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
        lines.append(f"to check the installation: {known.check}")
    emit_lines(lines)


def _collect_entries(known: Client, scope: str, root: Path, *, with_hook: bool) -> list[FileEntries]:
    """Return the entries by file, each file once."""
    server = SettingsEntry((known.key, SERVER), known.entry(root))
    parts = [FileEntries(known.file(scope, root), (server,), SERVER)]
    if with_hook and known.hook is not None:
        hook = SettingsEntry(known.hook.path, known.hook.entry(), HOOK_WORDS, known.hook.given)
        file = known.hook.file(scope, root)
        if file == parts[0].file:
            parts = [FileEntries(file, (server, hook), f"{SERVER} and its hook")]
        else:
            parts.append(FileEntries(file, (hook,), f"the hook of {SERVER}"))
    return parts


def _plan_edit(part: FileEntries, known: Client, *, remove: bool) -> FileEdit:
    try:
        return (remove_entries if remove else add_entries)(part.file, part.entries)
    except SettingsUnreadable as error:
        place = f'"{known.key}"' if not part.entries[0].words else '"hooks"'
        by_hand = (
            f'remove "{SERVER}" from {place} yourself' if remove else f"add this yourself:\n{_format_entries(part)}"
        )
        raise SettingsUnreadable(f"{error}. The file is unchanged; {by_hand}") from error


def _format_entries(part: FileEntries) -> str:
    """Return the entries of a file as a snippet of its format."""
    if part.file.suffix == ".toml":
        from causalist.cli import _toml_edit as _toml

        return _toml.with_member("", part.entries[0].path, part.entries[0].data).rstrip("\n")
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
