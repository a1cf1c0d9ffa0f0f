"""Options that name a repository, opening it for a command, and checks of optional extras."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from causalist.cli._output import emit_document, say, show_progress
from causalist.cli._run import import_numpy
from causalist.errors import ExtraMissing, NothingToIndex

if TYPE_CHECKING:
    from causalist.index.refresh_cache import RefreshCache
    from causalist.pipeline.repository import Repository

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _check_folder(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    if value is not None and not value.strip():
        raise click.BadParameter("must not be empty. Give a folder, or omit the option.")
    return None if value is None else Path(value)


def _check_confidence(_: click.Context, __: click.Parameter, value: float) -> float:
    # click.FloatRange accepts NaN.
    if math.isnan(value) or not 0.0 <= value <= 1.0:
        raise click.BadParameter(f"must be between 0 and 1, not {value:g}.")
    return value


def repo_option(command: _Command) -> _Command:
    """Add --repo."""
    return click.option(
        "--repo",
        metavar="DIR",
        callback=_check_folder,
        help="Folder to index.  [default: the repository around the current folder]",
    )(command)


def repository_options(command: _Command) -> _Command:
    """Add --repo and --force."""
    force = click.option("--force", is_flag=True, help="Allow indexing a home directory or a file system root.")
    return repo_option(force(command))


def json_option(command: _Command) -> _Command:
    """Add --json as the argument `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def min_confidence_option(default: float, effect: str) -> Callable[[_Command], _Command]:
    """Return a decorator that adds --min-confidence."""
    return click.option(
        "--min-confidence", type=float, default=default, show_default=True, callback=_check_confidence, help=effect
    )


def open_repository(
    repo: Path | None,
    *,
    force: bool,
    processes: int | None = None,
    submodules: bool | None = None,
    when_empty: Callable[[NothingToIndex], Mapping[str, object]] | None = None,
    refresh_cache: "RefreshCache | None" = None,
    anew: bool = False,
) -> "Repository":
    """Return the repository in the folder `repo`, or around the current folder. Raises CausalistError.

    `when_empty` makes the document that is printed before NothingToIndex propagates, for --json.
    """
    import_numpy()
    from causalist.index.options import IndexOptions
    from causalist.pipeline.repository import Repository

    with show_progress() as progress:
        options = IndexOptions(processes, progress, submodules, refresh_cache=refresh_cache, anew=anew)
        try:
            return Repository.open(repo or Path(), exact_root=repo is not None, force=force, options=options)
        except NothingToIndex as error:
            if when_empty is not None:
                emit_document(when_empty(error))
            raise


def report_notes(repository: "Repository") -> None:
    """Report the notes of opening, such as an index that could not be written."""
    for note in repository.notes:
        say(f"note: {note.slug}: {note.detail}")


def require_extra(extra: str, package: str, least_major: int) -> None:
    """Check that `package` is installed in major version `least_major` or later. Raises ExtraMissing."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version(package)
    except PackageNotFoundError:
        what = f"{package}, which is not installed"
    else:
        major = found.partition(".")[0]
        if major.isdecimal() and int(major) >= least_major:
            return
        what = f"{package} {least_major}, and {found} is installed"
    raise ExtraMissing(f'this needs {what}; run: pip install "causalist[{extra}]"')
