"""`causalist index`, `status` and `watch`: build, inspect and keep the index of a folder."""

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.stage_clock import StageClock
from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._repository import json_option, open_repository, report_notes, repository_options, require_extra
from causalist.errors import NothingToIndex
from causalist.serialize.answers import (
    empty_status_document,
    format_counts,
    status_document,
    status_lines,
    unfinished_status_document,
)

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository


@click.command("index")
@repository_options
@click.option(
    "--processes", type=click.IntRange(min=1), help="Number of parsing and linking processes.  [default: one per CPU]"
)
@click.option(
    "--submodules/--no-submodules",
    default=None,
    help="Index submodules and nested repositories; stored in the index."
    "  [default: no-submodules in a repository, else submodules]",
)
@click.option("--embedder", metavar="NAME", help="Compute the vectors of this embedder now, not at the first query.")
@click.option(
    "--profile",
    type=click.Choice(("cpu", "raw")),
    is_flag=False,
    flag_value="cpu",
    help="Print the processor time of each stage, in one process unless --processes is given."
    " `--profile raw` also parses all files with tree-sitter alone, for comparison.",
)
@click.option("--from", "address", metavar="ADDRESS", help="Begin with the index in this store of a fleet.")
@click.option("--as", "name", metavar="NAME", default="", help="Name there.  [default: that of the clone's origin]")
@click.option("--key", type=click.Path(path_type=Path), help="Public key that must have signed it.")
@json_option
def index_command(
    repo: Path | None,
    force: bool,
    processes: int | None,
    submodules: bool | None,
    embedder: str | None,
    profile: str | None,
    address: str | None,
    name: str,
    key: Path | None,
    as_json: bool,
) -> None:
    """Build or refresh the index.

    Other commands do this when they need it. --embedder gives every definition to that embedder, which may send it
    elsewhere.

    \b
    Example:
      causalist index --submodules
    """
    start = time.perf_counter()
    if address is not None:
        _begin_with(address, repo, name, key, force=force)
    elif name or key is not None:
        raise click.UsageError("--as and --key are for an index that is taken from a store; give --from ADDRESS.")
    clock = None if profile is None else StageClock.start()
    if clock is not None and processes is None:
        processes = 1
    repository = open_repository(
        repo,
        force=force,
        processes=processes,
        submodules=submodules,
        when_empty=(lambda error: {**empty_status_document(error), "seconds": None, "vectors": None})
        if as_json
        else None,
    )
    stages = None if clock is None else clock.stop()
    n_vectors = None if embedder is None else _update_vectors(repository, embedder)
    seconds = round(time.perf_counter() - start, 3)
    status = repository.status()
    report_notes(repository)
    raw = None
    if profile == "raw":
        from causalist.index.open import measure_raw_parse

        raw = measure_raw_parse(repository.index, repository.read)
    if as_json:
        profiled = {} if stages is None else {"stages": stages, "raw_parse": raw}
        emit_document(
            {**status_document(status, repository.notes), "seconds": seconds, "vectors": n_vectors, **profiled}
        )
        return
    info = status.repository
    lines = [
        f"{info.files} files: {format_counts(status.languages)}",
        f"{info.nodes} nodes, {info.edges} edges",
        f"left out: {format_counts(status.skipped) or 'nothing'}",
        *([f"set aside as generated or repeated: {format_counts(status.aside)}"] if status.aside else []),
    ]
    if status.notes:
        slugs = Counter(sorted(note.slug for note in status.notes))
        lines.append(f"notes: {format_counts(slugs)}; `causalist status` lists them")
    if n_vectors is not None:
        lines.append(f"vectors of {embedder}: {n_vectors}")
    lines.append(f"{seconds:.2f} s, {info.root}")
    if stages is not None:
        lines += _profile_lines(stages, raw or 0)
    emit_lines(lines)


def _begin_with(address: str, repo: Path | None, name: str, key: Path | None, *, force: bool) -> None:
    """Put the index in a store into the folder of that of `repo`; opening it reads the changes since."""
    from causalist.fleet import FleetStore
    from causalist.fleet.repository_shard import install_index, read_public_key
    from causalist.pipeline.repository import Repository

    root, _, _ = Repository.locate(repo or Path(), exact_root=repo is not None, force=force)
    shard = install_index(root, FleetStore(address), name, None if key is None else read_public_key(key))
    say(f"began with {shard.name} at {shard.commit[:12]}, from {address}")


def _profile_lines(stages: Mapping[str, float], raw: float) -> list[str]:
    """Return a table of seconds of processor time by stage, and with `raw` in terms of the raw parse."""
    whole = sum(stages.values())
    rows = [*stages.items(), ("all of it", whole)]
    if raw:
        rows.append(("tree-sitter alone, all files", raw))
    width = max(len(name) for name, _ in rows)
    header = f"{'processor time':{width}}  seconds  share" + ("  x raw parse" if raw else "")
    return [
        header,
        *(
            f"{name:{width}}  {seconds:7.2f}  {seconds / max(whole, 1e-9):5.0%}"
            + (f"  {seconds / raw:11.2f}" if raw else "")
            for name, seconds in rows
        ),
    ]


def _update_vectors(repository: "Repository", embedder: str) -> int:
    from causalist.index.embedding_similarity import update_vectors

    folders = () if repository.feedback_store is None else repository.feedback_store.places
    with show_progress() as progress:
        return update_vectors(embedder, repository.index, repository.read, folders, progress)


@click.command("status")
@repository_options
@json_option
def status_command(repo: Path | None, force: bool, as_json: bool) -> None:
    """Show what is indexed, what was left out and why.

    The command refreshes the index, as all commands do, and reports why a refresh was needed. While a process builds
    the first index, it only says so.

    \b
    Example:
      causalist status --json
    """
    from causalist.index.open import index_status, stored_index_status
    from causalist.index.options import IndexOptions
    from causalist.pipeline.repository import Repository

    # Opening refreshes the index, so check the stored one first.
    root, _, settings = Repository.locate(repo or Path(), exact_root=repo is not None, force=force)
    stored = stored_index_status(root, settings.index_options(IndexOptions()))
    if stored.path is None:
        from causalist.pipeline.first_answer import read_build

        build = read_build(root)
        if build is not None and build.is_running:
            if as_json:
                emit_document(unfinished_status_document(str(build)))
            else:
                emit_lines([f"root      {root}", f"index     none yet; {build}"])
            return
        if build is not None:
            say(f"note: partial: {build}")
    repository = open_repository(repo, force=force, when_empty=empty_status_document if as_json else None)
    status = repository.status()
    stored_status = index_status(root, repository.index, repository.read, stored)
    report_notes(repository)
    evidence = repository.observed_status(), repository.proven_status()
    if as_json:
        emit_document(status_document(status, repository.notes, stored_status, evidence))
    else:
        emit_lines(status_lines(status, stored_status, evidence, is_refreshed=True, more_notes="; --json lists all"))


@click.command("watch")
@repository_options
@click.option(
    "--debounce",
    type=click.IntRange(50, 60_000),
    default=500,
    show_default=True,
    metavar="MS",
    help="Quiet time, in milliseconds, before the index is refreshed.",
)
def watch_command(repo: Path | None, force: bool, debounce: int) -> None:
    """Refresh the index whenever files change.

    This is optional: other commands refresh the index when they need it. Ignored files are not watched. Requires the
    extra: pip install "causalist[watch]".

    \b
    Example:
      causalist watch --repo ~/projects/shop
    """
    require_extra("watch", "watchfiles", 1)
    from causalist.index.options import RefreshCache
    from causalist.source import wait_for_changes

    refresh_cache = RefreshCache()
    now = [open_repository(repo, force=force, refresh_cache=refresh_cache)]
    root, reported = now[0].root, None
    for _ in wait_for_changes(root, lambda: now[0].index.manifest.paths, quiet_ms=debounce):
        try:
            now[0] = open_repository(root, force=force, refresh_cache=refresh_cache)
        except NothingToIndex as error:
            say(f"{error.slug}: {error}")
            continue
        if now[0].index.scanned_at != reported:
            _report_index(now[0], "watching" if reported is None else "refreshed")
        reported = now[0].index.scanned_at


def _report_index(repository: "Repository", what: str) -> None:
    info = repository.info()
    say(f"{what}: {info.files} files, {info.nodes} nodes, {info.edges} edges")
    for note in repository.notes:
        say(f"note: {note.slug}: {note.detail}")
