"""`causalist doctor` and `config`: what is installed and found, with remedies; settings; completion in shells."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from causalist._internal.text_formatting import align_columns
from causalist.cli._output import EDITORS, emit_document, emit_lines, say
from causalist.cli._repository import json_option, print_result, repo_option, repository_options
from causalist.cli._run import COMPLETION, NOTHING_FOUND
from causalist.errors import CausalistError, UsageError
from causalist.serialize.lookup_documents import config_document

if TYPE_CHECKING:
    from causalist.cli.install import Client
    from causalist.settings import Settings


_MIN_PYTHON_VERSION = (3, 11)
_GIT_SECONDS = 10.0
# Extras by the packages whose absence disables them.
_EXTRAS = {
    "mcp": ("mcp", "serve mcp"),
    "lsp": ("pygls", "serve lsp"),
    "web": ("starlette", "serve web"),
    "llm": ("llm", "ask --answer"),
    "pdf": ("pypdf", "memory add of PDF"),
    "watch": ("watchfiles", "watch without polling"),
    "tokens": ("bpe_openai", "ask --tokenizer o200k"),
    "prove": ("mutmut", "prove"),
    "fleet": ("distributed", "fleet"),
}


class State(StrEnum):
    """State of what was examined. `absent` is a choice, `wrong` needs the remedy."""

    OK = "ok"
    ABSENT = "absent"
    WRONG = "wrong"


class CheckResult(NamedTuple):
    """One thing that was examined; `remedy` is what mends it, or "" if nothing has to be done."""

    state: State
    subject: str
    detail: str
    remedy: str = ""


@click.command("doctor")
@repository_options
@json_option
@click.pass_context
def doctor_command(context: click.Context, repo: Path | None, force: bool, as_json: bool) -> None:
    """Show what is installed and found, with remedies.

    It looks at Python, git, grammars, extras, the index of the repository, the cache, and at the settings of agents and
    editors. It changes nothing. The exit code is 1 if anything is wrong.

    \b
    Example:
      causalist doctor --repo ~/src/shop
    """
    findings = list(examine(repo, force=force))
    if as_json:
        emit_document({"findings": [each._asdict() for each in findings]})
    else:
        rows = [[each.state.value, each.subject, each.detail] for each in findings]
        for line, each in zip(align_columns(rows), findings, strict=True):
            emit_lines([line, *([f"        {each.remedy}"] if each.remedy else [])])
    context.exit(NOTHING_FOUND if any(each.state is State.WRONG for each in findings) else 0)


def examine(repo: Path | None, *, force: bool = False) -> Iterator[CheckResult]:
    """Yield what is installed and found, program first."""
    yield from _examine_program()
    yield from _examine_grammars()
    yield from _examine_extras()
    yield from _examine_index(repo, force=force)
    yield _examine_cache()
    yield from _examine_clients((repo or Path()).resolve())
    yield from _examine_editors()


def _examine_program() -> Iterator[CheckResult]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("causalist")
    except PackageNotFoundError:
        number = "a checkout that is not installed"
    yield CheckResult(State.OK, "causalist", f"{number}, {Path(__file__).parents[1]}")
    is_recent = sys.version_info >= _MIN_PYTHON_VERSION
    wanted = ".".join(map(str, _MIN_PYTHON_VERSION))
    yield CheckResult(
        State.OK if is_recent else State.WRONG,
        "Python",
        f"{platform.python_version()}, {sys.executable}",
        "" if is_recent else f"install Python {wanted} or later",
    )
    program = shutil.which("git")
    if program is None:
        yield CheckResult(State.WRONG, "git", "not on the search path", "install git: without it there is no history")
        return
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_GIT_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        yield CheckResult(State.WRONG, "git", f"{program} does not run: {error}", "install git again")
        return
    yield CheckResult(State.OK, "git", f"{done.stdout.strip().removeprefix('git version ')}, {program}")


def _examine_grammars() -> Iterator[CheckResult]:
    from causalist.parse.languages import load_grammar, load_settings

    loaded: list[str] = []
    for dialect in sorted(load_settings()):
        try:
            load_grammar(dialect)
        except (CausalistError, ImportError, OSError, ValueError) as error:
            yield CheckResult(
                State.WRONG,
                f"grammar of {dialect}",
                f"does not load: {error}",
                "pip install --force-reinstall causalist",
            )
        else:
            loaded.append(dialect)
    yield CheckResult(State.OK, "grammars", f"{len(loaded)} load: {', '.join(loaded)}")


def _examine_extras() -> Iterator[CheckResult]:
    from importlib.util import find_spec

    from causalist.parse.languages import lone_missing_languages, missing_languages

    # Languages that share an extension hide one another in the first.
    known = (*missing_languages().values(), *lone_missing_languages().values())
    missing = sorted({language for language, _ in known})
    if missing:
        yield CheckResult(
            State.ABSENT, "languages", f"not installed: {', '.join(missing)}", 'pip install "causalist[languages]"'
        )
    for extra, (package, purpose) in _EXTRAS.items():
        if find_spec(package) is None:
            yield CheckResult(State.ABSENT, f"extra {extra}", f"for {purpose}", f'pip install "causalist[{extra}]"')
        else:
            yield CheckResult(State.OK, f"extra {extra}", f"for {purpose}")


def _examine_index(repo: Path | None, *, force: bool) -> Iterator[CheckResult]:
    from causalist.index.open import index_folders, stored_index_status
    from causalist.index.options import IndexOptions
    from causalist.model.answer import StalenessReason
    from causalist.pipeline.repository import Repository
    from causalist.store import INDEX_NAME

    try:
        root, _, settings = Repository.locate(repo or Path(), exact_root=repo is not None, force=force)
    except CausalistError as error:
        yield CheckResult(State.WRONG, "repository", f"{error.slug}: {error}")
        return
    yield CheckResult(State.OK, "repository", str(root))
    index_paths = [folder / INDEX_NAME for folder in index_folders(root)]
    index_path = next((each for each in index_paths if each.exists()), None)
    if index_path is None:
        yield CheckResult(State.ABSENT, "index", "none yet; the first question builds it", "causalist index")
        return
    size = f"{index_path} ({index_path.stat().st_size / 1e6:.1f} MB)"
    stored = stored_index_status(root, settings.index_options(IndexOptions()))
    # A file that was written just before may change again without other times: nothing has to be done.
    reasons = [each for each in stored.reasons if each.reason is not StalenessReason.UNSETTLED]
    if stored.path is None or reasons:
        why = "; ".join(each.detail for each in reasons) or "it cannot be read"
        yield CheckResult(State.ABSENT, "index", f"{size}, not current: {why}", "causalist index")
    else:
        yield CheckResult(State.OK, "index", f"{size}, current")


def _examine_cache() -> CheckResult:
    from causalist.store.facts_cache import MAX_CACHE_BYTES, facts_path

    path = facts_path()
    folder = path.parent
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(there, os.W_OK):
        return CheckResult(State.WRONG, "cache", f"{folder} is not writable", "set XDG_CACHE_HOME to a folder that is")
    size = path.stat().st_size if path.exists() else 0
    return CheckResult(State.OK, "cache", f"{path} ({size / 1e6:.1f} of at most {MAX_CACHE_BYTES / 1e6:,.0f} MB)")


def _examine_clients(root: Path) -> Iterator[CheckResult]:
    from causalist.cli.install import CLIENTS

    for name, client in CLIENTS.items():
        for scope in ("project", "user"):
            if scope == "project" and not client.project_files:
                continue
            finding = _examine_client(name, client, scope, client.file(scope, root))
            if finding is not None:
                yield finding


def _examine_client(name: str, client: "Client", scope: str, file: Path) -> CheckResult | None:
    """Return the state of the entry in a settings file; None if there is no such file."""
    from causalist.cli.install import installed_command

    if not file.exists():
        return None
    subject, again = f"{client.title}, {scope}", f"causalist install {name} --scope {scope}"
    try:
        command = installed_command(file, client)
    except CausalistError as error:
        return CheckResult(State.WRONG, subject, f"{file} cannot be read: {error}", "correct the file")
    if command is None:
        return CheckResult(State.ABSENT, subject, f"{file} has no entry", again)
    if not Path(command).exists() and shutil.which(command) is None:
        return CheckResult(State.WRONG, subject, f"{file} starts {command}, which is not there", again)
    return CheckResult(State.OK, subject, f"{file} starts {command}")


def _examine_editors() -> Iterator[CheckResult]:
    """Yield a result for each editor with settings: whether these name the program."""
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    for title, page, files in (
        ("Neovim", "neovim", (config / "nvim/init.lua", config / "nvim/init.vim")),
        ("Vim", "others", (home / ".vimrc", home / ".vim/vimrc")),
        ("Helix", "helix", (config / "helix/languages.toml",)),
        ("Emacs", "emacs", (home / ".emacs", home / ".emacs.d/init.el", config / "emacs/init.el")),
    ):
        found = [file for file in files if file.is_file()]
        with suppress(OSError):
            named = next((file for file in found if b"causalist" in file.read_bytes()), None)
            if named is not None:
                yield CheckResult(State.OK, title, f"{named} names causalist")
            elif found:
                yield CheckResult(State.ABSENT, title, f"{found[0]} does not name causalist", f"{EDITORS}{page}/")


# -- completion


class Shell(StrEnum):
    """Shells in which commands can be completed."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


# click completes for the other three; PowerShell asks by the same variables.
_POWERSHELL = """Register-ArgumentCompleter -Native -CommandName causalist -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $env:COMP_WORDS = $commandAst.ToString()
    $env:COMP_CWORD = $wordToComplete
    $env:_CAUSALIST_COMPLETE = "fish_complete"
    causalist | ForEach-Object {
        $kind, $rest = $_ -split ",", 2
        $value, $help = $rest -split "\\t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, "ParameterValue", $help)
    }
    Remove-Item Env:COMP_WORDS, Env:COMP_CWORD, Env:_CAUSALIST_COMPLETE
}
"""


def install_completion(shell: str, group: click.Group) -> None:
    """Write the script that completes commands to where the shell looks for it, and say so. Raises UsageError."""
    path, advice = completion_place(Shell(shell))
    script = completion_script(Shell(shell), group)
    try:
        if path.exists() and path.read_text(encoding="utf-8") == script:
            say(f"{path} is installed already")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(script, encoding="utf-8")
            say(f"wrote {path}")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    say(advice)


def completion_script(shell: Shell, group: click.Group) -> str:
    """Return the script of a shell."""
    from click.shell_completion import get_completion_class

    if shell is Shell.POWERSHELL:
        return _POWERSHELL
    kind = get_completion_class(shell.value)
    assert kind is not None
    completer = kind(group, {}, "causalist", COMPLETION)
    # Not `source()`: that asks the version of a Bash that may not be there.
    return completer.source_template % completer.source_vars()


def completion_place(shell: Shell) -> tuple[Path, str]:
    """Return (the file of a shell's script, what is to be done so that the shell reads it)."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if shell is Shell.BASH:
        return data / "bash-completion" / "completions" / "causalist", (
            "new shells complete commands if the package bash-completion is installed"
        )
    if shell is Shell.FISH:
        return config / "fish" / "completions" / "causalist.fish", "new shells complete commands"
    if shell is Shell.ZSH:
        folder = data / "zsh" / "site-functions"
        return folder / "_causalist", f"~/.zshrc needs, before compinit: fpath+=({folder})"
    path = (home / "Documents" if os.name == "nt" else config) / "PowerShell" / "causalist-completion.ps1"
    return path, f"$PROFILE needs: . {path}"


@click.command("config")
@repo_option
@json_option
def config_command(repo: Path | None, as_json: bool) -> None:
    """Show each setting, its value and its source.

    Settings are read from [tool.causalist] in pyproject.toml and from causalist.toml, both in the root of the
    repository. causalist.toml overrides pyproject.toml, and command-line options override both.

    \b
    Example:
      causalist config --repo ~/projects/shop
    """
    from causalist.pipeline.repository import Repository

    settings = Repository.settings_at(repo or Path(), exact_root=repo is not None)
    print_result(config_document(settings) if as_json else None, _format_settings(settings))


def _format_settings(settings: "Settings") -> list[str]:
    """Return the settings as TOML sections with `name = value # source: meaning` lines."""
    from causalist.settings import SETTINGS

    lines: list[str] = []
    for section in dict.fromkeys(each.section for each in SETTINGS):
        rows = []
        for each in SETTINGS:
            if each.section == section:
                value, source = settings.value(section, each.name), settings.source(section, each.name)
                assignment = f"# {each.name} is unset" if value is None else f"{each.name} = {_format_value(value)}"
                rows.append((assignment, f"# {source}", each.meaning))
        lines += [*([""] if lines else []), f"[{section}]", *align_columns(rows)]
    return lines


def _format_value(value: object) -> str:
    from causalist.cli._output import to_json

    return to_json(list(value) if isinstance(value, tuple) else value)
