"""`causalist install`: tells an agent's client how to start the MCP server."""

import json
import os
import subprocess
from pathlib import Path

import click

from causalist.cli._clients import CLIENTS, SERVER
from causalist.cli._extras import need_extra
from causalist.cli._output import emit_lines, say
from causalist.cli._repository import repository_options
from causalist.errors import ExtraMissing, SettingsUnreadable, UsageError


@click.command("install")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--scope", type=click.Choice(["project", "user"]), default="project", show_default=True,
              help="For this repository, or for all that you open.")  # fmt: skip
@click.option("--print", "only_print", is_flag=True, help="Show what would be written, and where; write nothing.")
@click.option("--remove", is_flag=True, help="Undo what was installed.")
@repository_options
def command(client: str, scope: str, only_print: bool, remove: bool, repo: Path | None, force: bool) -> None:
    """Makes CLIENT start the MCP server.

    Adds one entry to the client's own settings and leaves the rest as it is, comments too. Beside a file that is
    changed stays a copy, named *.before-causalist.

    \b
    Example:
      causalist install claude-code
      causalist install vscode --scope user --print
    """
    from causalist.cli import _settings
    from causalist.source import find_root, refuse_root

    known = CLIENTS[client]
    root = Path()
    if scope == "project":
        root = find_root(repo or Path())
        if repo is not None:
            root = repo.resolve()
        if not force:
            refuse_root(root)
    file, path, entry = known.file(scope, root), (known.key, SERVER), known.entry()
    if scope == "project" and not file.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{file} is a link that leads out of the repository, to {file.resolve()}; change that one")
    snippet = json.dumps({known.key: {SERVER: entry}}, indent=2, ensure_ascii=False)
    try:
        change = (_settings.removed if remove else _settings.added)(file, path, entry)
    except SettingsUnreadable as error:
        by_hand = f'take "{SERVER}" out of "{known.key}" by hand' if remove else f"add this by hand:\n{snippet}"
        raise SettingsUnreadable(f"{error}. It is left as it is; {by_hand}") from error
    if only_print:
        what = "would be left as it is" if not change.is_needed else "would lose this" if remove else "would get this"
        say(f"{file} {what}:")
        emit_lines(snippet.split("\n"))
    elif not change.is_needed:
        emit_lines([f"{file} has no entry for {SERVER}" if remove else f"{file} is up to date"])
    elif remove:
        _settings.apply(change, keep_backup=False, own_folder=scope == "project" and file.parent != root)
        emit_lines([f"deleted {file}" if change.after is None else f"removed {SERVER} from {file}"])
    else:
        need_extra("mcp", "mcp", 2)
        _check_interpreter(str(entry["command"]))
        copy = _settings.apply(change, keep_backup=True)
        kept = [f"what it was is kept in {copy}"] if copy is not None else []
        emit_lines([f"wrote {file}", *kept, f"to see that it works: {known.check}"])


def _check_interpreter(interpreter: str) -> None:
    """Raises ExtraMissing unless a client, which has no PYTHONPATH of a shell, would find what it needs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    code = "from importlib.util import find_spec; raise SystemExit(not (find_spec('causalist') and find_spec('mcp')))"
    done = subprocess.run([interpreter, "-P", "-c", code], env=environment, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ExtraMissing(
            f"{interpreter} finds causalist or mcp only through PYTHONPATH, which a client does not set; install it "
            'there: pip install "causalist[mcp]"'
        )
