"""`causalist install`: tells an agent's client how to start the MCP server, and what to run before a prompt."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import click

from causalist.cli._client_settings import Change, Entry, added, apply, removed
from causalist.cli._clients import CLIENTS, HOOK_WORDS, SERVER, Client
from causalist.cli._output import emit_lines, say
from causalist.cli._repository import need_extra, repository_options
from causalist.errors import ExtraMissing, SettingsUnreadable, UsageError


class Part(NamedTuple):
    """A file and what is to stand in it; `what` says to people what that is."""

    file: Path
    entries: tuple[Entry, ...]
    what: str


@click.command("install")
@click.argument("client", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
@click.option("--scope", type=click.Choice(["project", "user"]),
              help="Settings to change.  [default: project, if the client has such settings]")  # fmt: skip
@click.option("--hook", is_flag=True, help="Also install the prompt hook (causalist hook prompt).")
@click.option("--print", "only_print", is_flag=True, help="Show the entries and their files; write nothing.")
@click.option("--remove", is_flag=True, help="Remove the installed entries, including the hook.")
@repository_options
def command(
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
    parts = _parts(known, scope, root, with_hook=hook or remove)
    for part in parts:
        if scope == "project" and not part.file.resolve().is_relative_to(root.resolve()):
            raise UsageError(f"{part.file} links to {part.file.resolve()}, outside of the repository. Edit that file.")
    changes = [(part, _change(part, known, remove=remove)) for part in parts]
    if only_print:
        for part, change in changes:
            what = "would stay unchanged" if not change.is_needed else "would lose this" if remove else "would get this"
            say(f"{part.file} {what}:")
            emit_lines(_snippet(part).split("\n"))
        return
    if not remove:
        need_extra("mcp", "mcp", 2)
        _check_interpreter()
    if remove:  # what was not installed need not be told to be gone, unless there was nothing at all
        changes = [(part, change) for part, change in changes if change.is_needed] or changes[:1]
    lines = [line for part, change in changes for line in _carried_out(part, change, scope, root, remove=remove)]
    if not remove and any(change.is_needed for _, change in changes):
        lines.append(f"to check the installation: {known.check}")
    emit_lines(lines)


def _parts(known: Client, scope: str, root: Path, *, with_hook: bool) -> list[Part]:
    """The files that are concerned, each once."""
    server = Entry((known.key, SERVER), known.entry(root))
    parts = [Part(known.file(scope, root), (server,), SERVER)]
    if with_hook and known.hook is not None:
        hook = Entry(known.hook.path, known.hook.entry(), HOOK_WORDS, known.hook.given)
        file = known.hook.file(scope, root)
        if file == parts[0].file:
            parts = [Part(file, (server, hook), f"{SERVER} and its hook")]
        else:
            parts.append(Part(file, (hook,), f"the hook of {SERVER}"))
    return parts


def _change(part: Part, known: Client, *, remove: bool) -> Change:
    try:
        return (removed if remove else added)(part.file, part.entries)
    except SettingsUnreadable as error:
        place = f'"{known.key}"' if not part.entries[0].words else '"hooks"'
        by_hand = f'remove "{SERVER}" from {place} yourself' if remove else f"add this yourself:\n{_snippet(part)}"
        raise SettingsUnreadable(f"{error}. The file is unchanged; {by_hand}") from error


def _snippet(part: Part) -> str:
    """What the entries of a file look like by themselves."""
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


def _carried_out(part: Part, change: Change, scope: str, root: Path, *, remove: bool) -> list[str]:
    """Does it, and says in lines what was done."""
    file = part.file
    if not change.is_needed:
        return [f"{file} has no entry for {SERVER}" if remove else f"{file} is up to date"]
    if remove:
        apply(change, keep_backup=False, own_folder=scope == "project" and file.parent != root)
        return [f"deleted {file}" if change.after is None else f"removed {part.what} from {file}"]
    copy = apply(change, keep_backup=True)
    return [f"wrote {file}", *([f"the original is kept in {copy}"] if copy is not None else [])]


def _check_interpreter() -> None:
    """Raises ExtraMissing unless a client, which has no PYTHONPATH of a shell, would find what it needs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    code = "from importlib.util import find_spec; raise SystemExit(not (find_spec('causalist') and find_spec('mcp')))"
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environment, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ExtraMissing(
            f"{sys.executable} finds causalist or mcp only through PYTHONPATH, which a client does not set; install it "
            'there: pip install "causalist[mcp]"'
        )
