"""`causalist fleet`: many repositories as one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from causalist._internal.text import align_columns, count_noun
from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._repository import json_option
from causalist.cli._run import FAILURE, NOTHING_FOUND

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _fleet_option(command: _Command) -> _Command:
    return click.option(
        "--fleet", "folder", type=click.Path(path_type=Path), default=Path(), envvar="CAUSALIST_FLEET",
        help="Folder with fleet.toml.  [default: the current folder or above]",
    )(command)  # fmt: skip


@click.group("fleet")
def fleet_command() -> None:
    """Index many repositories and answer over all of them (extra `fleet`)."""


@fleet_command.command("add")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--list", "listed", type=click.Path(path_type=Path), help="File with a source in each line.")
@click.option("--name", default="", help="Name of the repository, if SOURCE is one.")
@click.option("--ref", default="HEAD", show_default=True, help="Branch, tag or commit to index.")
@_fleet_option
def add_command(sources: tuple[str, ...], listed: Path | None, name: str, ref: str, folder: Path) -> None:
    """Add repositories to fleet.toml, which is made if there is none.

    A SOURCE is a clone, a bare mirror, a folder that holds many of these at most three folders below, any other folder,
    or an address that git clones.

    \b
    Example:
      causalist fleet add ~/src/shop https://github.com/encode/httpx
    """
    from causalist.fleet import Fleet

    if not sources and listed is None:
        raise click.UsageError("Give at least one SOURCE, or a file of them with --list.")
    added = Fleet.add(folder, sources, listed=listed, name=name, ref=ref)
    emit_lines([f"added {each.name}  {each.source}" for each in added])


@fleet_command.command("remove")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_fleet_option
def remove_command(names: tuple[str, ...], folder: Path) -> None:
    """Remove repositories from fleet.toml, and delete what only they have in the store."""
    from causalist.fleet import Fleet

    fleet = Fleet.open(folder).remove(names)
    emit_lines([f"removed {name}" for name in names])
    say(f"{count_noun(fleet.clean(), 'object')} deleted")


@fleet_command.command("index")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--workers", type=click.IntRange(min=0),
              help="Processes on this machine; 0: this one.  [default: one per CPU]")  # fmt: skip
@click.option("--scheduler", default="", metavar="ADDRESS", help="Dask scheduler to use instead of processes.")
@click.option("--memory", default="4GB", show_default=True, metavar="SIZE",
              help="Memory of a process; a repository that needs more fails.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=3600.0, show_default=True,
              help="Seconds for a repository.")  # fmt: skip
@_fleet_option
@json_option
@click.pass_context
def index_command(
    context: click.Context,
    names: tuple[str, ...],
    workers: int | None,
    scheduler: str,
    memory: str,
    timeout: float,
    folder: Path,
    as_json: bool,
) -> None:
    """Index the repositories that changed, or those named.

    What is done stays, whatever happens to the rest: run the command again to go on. A repository that fails keeps its
    last index, and status says why.
    """
    from causalist.fleet import Fleet, IndexingOptions, parse_size

    if workers is None:
        from causalist.index.collect import n_processes
        from causalist.index.options import IndexOptions

        workers = n_processes(IndexOptions())
    fleet = Fleet.open(folder)
    n_wanted = len(names) or len(fleet.file.members)
    options = IndexingOptions(0 if n_wanted == 1 else min(workers, n_wanted), scheduler, parse_size(memory), timeout)
    with show_progress() as progress:
        shards = fleet.index(names, options=options, progress=progress)
    failed = [each for each in shards if each.error]
    if as_json:
        emit_document({"shards": [each.to_record() for each in shards]})
    else:
        n_ready = len(shards) - len(failed)
        emit_lines([f"{n_ready:,} of {count_noun(len(shards), 'repository', ',')} indexed, {len(failed):,} failed"])
    for each in failed:
        say(f"{each.name}: {each.error}")
    context.exit(FAILURE if failed and len(failed) == len(shards) else 0)


@fleet_command.command("push")
@click.argument("address")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--sign", "key", type=click.Path(path_type=Path), help="Private key; see `causalist fleet key`.")
@_fleet_option
def push_command(address: str, names: tuple[str, ...], key: Path | None, folder: Path) -> None:
    """Copy indexes to the store at ADDRESS: a folder, or what fsspec opens (s3://, gs://, abfs://).

    \b
    Example:
      causalist fleet push s3://ci/causalist --sign ci.key
    """
    from causalist.fleet import Fleet, FleetStore
    from causalist.fleet.transfer import copy_shards, read_private_key

    signer = None if key is None else read_private_key(key)
    shards = copy_shards(Fleet.open(folder).store, FleetStore(address), names, signer=signer)
    emit_lines([f"{count_noun(len(shards), 'repository')} pushed to {address}"])


@fleet_command.command("pull")
@click.argument("address")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--key", type=click.Path(path_type=Path), help="Public key; what it did not sign is refused.")
@_fleet_option
def pull_command(address: str, names: tuple[str, ...], key: Path | None, folder: Path) -> None:
    """Copy indexes from the store at ADDRESS, verified by their hashes.

    Repositories that are not in fleet.toml are added to it without a source: they change when they are pulled again.
    """
    from causalist.fleet import Fleet, FleetStore
    from causalist.fleet.transfer import read_public_key

    verifier = None if key is None else read_public_key(key)
    shards = Fleet.pull(folder, FleetStore(address), names, verifier=verifier)
    emit_lines([f"{count_noun(len(shards), 'repository')} pulled from {address}"])


@fleet_command.command("key")
@click.argument("file", type=click.Path(path_type=Path))
def key_command(file: Path) -> None:
    """Write a new private key to FILE and its public key to FILE.pub, for push --sign and pull --key."""
    from causalist.fleet.transfer import write_key_pair

    beside = write_key_pair(file)
    emit_lines([f"wrote {file} (keep it secret) and {beside}"])


@fleet_command.command("status")
@_fleet_option
@json_option
@click.pass_context
def status_command(context: click.Context, folder: Path, as_json: bool) -> None:
    """Show what is indexed, and what failed."""
    from causalist.fleet import Fleet

    status = Fleet.open(folder).status()
    if as_json:
        emit_document({"shards": [each.to_record() for each in status.shards], "absent": list(status.absent)})
    else:
        rows = [[s.name, s.commit[:12], f"{s.n_files:,} files", f"{s.n_nodes:,} nodes", s.error] for s in status.shards]
        emit_lines([*align_columns(rows), *(f"{name}  not indexed yet" for name in status.absent)])
    context.exit(0 if status.shards else NOTHING_FOUND)


@fleet_command.command("links")
@click.argument("name", default="", metavar="[NAME]")
@_fleet_option
@json_option
@click.pass_context
def links_command(context: click.Context, name: str, folder: Path, as_json: bool) -> None:
    """List the edges between repositories, or those of one."""
    from causalist.fleet import Fleet

    rows = Fleet.open(folder).links(name).to_pylist()
    if as_json:
        emit_document({"links": [{**row, "line": row["row"] + 1 if row["row"] >= 0 else None} for row in rows]})
    else:
        emit_lines(
            f"{row['source_repository']}:{row['source']} -> {row['target_repository']}:{row['target']}"
            f"  {row['kind']} ({row['rule']}, {row['confidence']:.2f})"
            for row in rows
        )
    context.exit(0 if rows else NOTHING_FOUND)
