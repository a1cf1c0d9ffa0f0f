"""`causalist fleet`: many repositories as one."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from causalist._internal.text_formatting import align_columns, count_noun
from causalist.cli._output import emit, emit_document, emit_lines, say, show_progress
from causalist.cli._repository import (
    answer_each_meaning,
    json_option,
    limit_option,
    min_confidence_option,
    print_result,
    require_extra,
)
from causalist.cli._run import FAILURE, NOTHING_FOUND, StartTime
from causalist.cli.ask import FORMATS, read_argument, say_doubts

if TYPE_CHECKING:
    from causalist.fleet.access import FleetView
    from causalist.fleet.lookups import FleetNode

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _fleet_option(command: _Command) -> _Command:
    return click.option(
        "--fleet", "folder", type=click.Path(path_type=Path), default=Path(), envvar="CAUSALIST_FLEET",
        help="Folder with fleet.toml.  [default: the current folder or above]",
    )(command)  # fmt: skip


@click.group("fleet")
def fleet_command() -> None:
    """Index and ask many repositories.

    Needs the extra `fleet`.

    \b
    Example:
      causalist fleet add ~/src
      causalist fleet index
    """


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
    """Remove repositories from fleet.toml, and delete what only they have in the store.

    \b
    Example:
      causalist fleet remove encode/httpx
    """
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

    \b
    Example:
      causalist fleet index --workers 2
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
    from causalist.fleet.repository_shard import copy_shards, read_private_key

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

    \b
    Example:
      causalist fleet pull s3://team/causalist --key ci.key.pub
    """
    from causalist.fleet import Fleet, FleetStore
    from causalist.fleet.repository_shard import read_public_key

    verifier = None if key is None else read_public_key(key)
    shards = Fleet.pull(folder, FleetStore(address), names, verifier=verifier)
    emit_lines([f"{count_noun(len(shards), 'repository')} pulled from {address}"])


@fleet_command.command("key")
@click.argument("file", type=click.Path(path_type=Path))
def key_command(file: Path) -> None:
    """Write a new private key to FILE and its public key to FILE.pub, for push --sign and pull --key.

    \b
    Example:
      causalist fleet key ci.key
    """
    from causalist.fleet.repository_shard import write_key_pair

    beside = write_key_pair(file)
    emit_lines([f"wrote {file} (keep it secret) and {beside}"])


@fleet_command.command("status")
@_fleet_option
@json_option
@click.pass_context
def status_command(context: click.Context, folder: Path, as_json: bool) -> None:
    """Show what is indexed, and what failed.

    \b
    Example:
      causalist fleet status
    """
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
    """List the edges between repositories, or those of one.

    \b
    Example:
      causalist fleet links encode/httpx
    """
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


# -- questions


def _view_options(command: _Command) -> _Command:
    token = click.option(
        "--token", envvar="CAUSALIST_FLEET_TOKEN", metavar="TOKEN",
        help="Token of a caller, who sees what [[access]] in fleet.toml lets them see.  [default: the owner sees all]",
    )(command)  # fmt: skip
    return _fleet_option(json_option(token))


def _open_view(folder: Path, token: str | None) -> "FleetView":
    from causalist.fleet import Fleet
    from causalist.fleet.access import FleetView

    fleet = Fleet.open(folder)
    return FleetView.of(fleet.file, fleet.store, token=token)


def _resolve(view: "FleetView", names: Sequence[str]) -> "list[FleetNode]":
    from causalist.fleet.lookups import resolve_node

    return list(dict.fromkeys(resolve_node(view, name) for name in names))


def _say_left_out(names: Sequence[str], limit: int = 5) -> None:
    if names:
        more = f" and {len(names) - limit} more" if len(names) > limit else ""
        say(f"note: not searched, because too many repositories use it: {', '.join(names[:limit])}{more}")


@fleet_command.command("ask")
@click.argument("query")
@_view_options
@click.option("--repositories", "n_repositories", type=click.IntRange(min=1), default=None, metavar="N",
              help="How many repositories answer.  [default: the likeliest, up to 5]")  # fmt: skip
@click.option("--in", "names", multiple=True, metavar="NAME", help="Ask only this repository. Repeatable.")
@click.option("--top-k", type=int, default=20, show_default=True, help="Maximum number of results.")
@click.option("--level", type=click.Choice(["symbol", "file"]), default="symbol", show_default=True,
              help="Unit of the results.")  # fmt: skip
@click.option("--max-tokens", type=int, default=4000, show_default=True, help="Token budget of the pack.")
@click.option("--format", "pack_format", type=click.Choice(FORMATS),
              default="text", show_default=True, help="Format of the pack.")  # fmt: skip
@click.option("--deadline", type=float, metavar="S",
              help="Answer within S seconds, from fewer repositories if needed.")  # fmt: skip
@click.pass_context
def ask_command(
    context: click.Context,
    query: str,
    folder: Path,
    token: str | None,
    as_json: bool,
    n_repositories: int | None,
    names: tuple[str, ...],
    top_k: int,
    level: str,
    max_tokens: int,
    pack_format: str,
    deadline: float | None,
) -> None:
    """Answer QUERY from the repositories that it is most likely about, in one pack.

    \b
    Example:
      causalist fleet ask "where is a webhook signature checked"
    """
    from causalist.fleet.question import ask_fleet
    from causalist.model.answer import AskOptions, Level, PackFormat
    from causalist.pipeline.guarded_steps import Deadline
    from causalist.serialize.answers import answer_document

    began = context.find_object(StartTime)
    due = None if deadline is None else Deadline(deadline, gone=0.0 if began is None else began.seconds)
    options = AskOptions(top_k=top_k, level=Level(level), max_tokens=max_tokens, format=PackFormat(pack_format))
    result = ask_fleet(
        _open_view(folder, token),
        read_argument(query),
        options,
        deadline=due,
        n_repositories=n_repositories,
        names=names,
    )
    answer = result.answer
    say_doubts(answer)
    if as_json:
        asked = {
            "repositories": [each._asdict() for each in result.repositories], "left_out": list(result.left_out),
        }  # fmt: skip
        emit_document(answer_document(answer) | asked)
    elif answer.pack is not None:
        emit(answer.pack.text if answer.pack.text.endswith("\n") else f"{answer.pack.text}\n")
    if not answer.results:
        say("nothing found: no word of the query occurs in the repositories that were asked")
        context.exit(NOTHING_FOUND)


@fleet_command.command("find")
@click.argument("name")
@_view_options
@click.option("--kind", metavar="K", help="Only nodes of this kind: file, class, function, method, …")
@limit_option(20, "Maximum number of results.")
def find_command(name: str, folder: Path, token: str | None, kind: str | None, limit: int, as_json: bool) -> None:
    """Find nodes by NAME, or by repository:NAME, in all repositories.

    \b
    Example:
      causalist fleet find AuthMw
    """
    from causalist.cli.find_and_show import format_hits
    from causalist.fleet.lookups import find_nodes
    from causalist.serialize.lookup_documents import find_document

    hits = find_nodes(_open_view(folder, token), name, limit=limit, kind=kind)
    nothing = "" if hits else f"nothing{f' of kind {kind}' if kind else ''} has a name like {name!r}"
    print_result(find_document(name, hits) if as_json else None, format_hits(hits), nothing)


@fleet_command.command("callers")
@click.argument("node")
@_view_options
@min_confidence_option(0.0, "Minimum confidence of an edge.")
@answer_each_meaning
def callers_command(node: str, folder: Path, token: str | None, min_confidence: float, as_json: bool) -> None:
    """Show the calls of NODE in all repositories, those of other repositories first.

    \b
    Example:
      causalist fleet callers encode/httpx:httpx/_api.py::get
    """
    from causalist.cli.callers_and_impact import format_callers
    from causalist.fleet.lookups import find_callers
    from causalist.serialize.answers import callers_document

    view = _open_view(folder, token)
    (given,) = _resolve(view, [node])
    callers = find_callers(view, given)
    _say_left_out(callers.left_out)
    lists = [[e for e in each if e.certainty >= min_confidence] for each in callers[:4]]
    n_known = sum(map(len, callers[:4]))
    nothing = ""
    if not any(lists):
        weaker = f" with a confidence of {min_confidence:g} or more; {n_known} with less" if n_known else ""
        nothing = f"no calls to {given.id} are known{weaker}"
    edges, through, references, documents = lists
    document = callers_document(given.id, edges, through, references, documents) if as_json else None
    print_result(document, format_callers(edges, through, callers.types, references, documents), nothing)


@fleet_command.command("path")
@click.argument("source")
@click.argument("target")
@_view_options
@answer_each_meaning
def path_command(source: str, target: str, folder: Path, token: str | None, as_json: bool) -> None:
    """Show the most probable path from SOURCE to TARGET, which may be in another repository.

    \b
    Example:
      causalist fleet path shop/web:checkout money:round_amount
    """
    from causalist.cli.find_and_show import format_path
    from causalist.fleet.lookups import find_path, resolve_node
    from causalist.serialize.lookup_documents import path_document

    view = _open_view(folder, token)
    start, end = resolve_node(view, source), resolve_node(view, target)
    path, left_out = find_path(view, start, end)
    _say_left_out(left_out)
    nothing = "" if path is not None else f"the graph has no path from {start.id} to {end.id}"
    document = path_document(start.id, end.id, path, ()) if as_json else None
    print_result(document, format_path(path) if path is not None else (), nothing)
    if path is not None and not path.forward:
        say("note: no forward path is known; this path reverses some edges")


@fleet_command.command("impact")
@click.argument("nodes", nargs=-1, required=True, metavar="NODE...")
@_view_options
@click.option("--max-depth", type=click.IntRange(min=1), metavar="N", help="Maximum number of steps.")
@min_confidence_option(0.0, "Minimum confidence of a use.")
@limit_option(50, "Maximum number of affected nodes, of tests, and of mentions; nearest first.")
def impact_command(
    nodes: tuple[str, ...],
    folder: Path,
    token: str | None,
    max_depth: int | None,
    min_confidence: float,
    limit: int,
    as_json: bool,
) -> None:
    """Show the users of NODE, direct and indirect, in all repositories.

    \b
    Example:
      causalist fleet impact money:round_amount --max-depth 2
    """
    from causalist.cli.callers_and_impact import format_impact, format_mentions, select_nearest
    from causalist.fleet.lookups import find_impact
    from causalist.serialize.lookup_documents import impact_document

    view = _open_view(folder, token)
    given = _resolve(view, nodes)
    impact = find_impact(view, given, max_depth=max_depth, min_confidence=min_confidence)
    _say_left_out(impact.left_out)
    shown = select_nearest(impact.affected, limit)
    ids = [each.id for each in given]
    mentions = impact.documentation
    document = impact_document(ids, (), len(impact.affected), shown, mentions[:limit]) if as_json else None
    nothing = "" if impact.affected or mentions else f"nothing is known to use {', '.join(ids)}"
    lines = chain(format_impact(impact.affected, shown), format_mentions(mentions, limit))
    print_result(document, lines, nothing)


@fleet_command.command("tests")
@click.argument("nodes", nargs=-1, required=True, metavar="NODE...")
@_view_options
@click.option("--max-depth", type=click.IntRange(min=1), metavar="N", help="Maximum number of steps.")
@min_confidence_option(0.0, "Minimum confidence of a use.")
@limit_option(50, "Maximum number of tests; the most probable first.")
def tests_command(
    nodes: tuple[str, ...],
    folder: Path,
    token: str | None,
    max_depth: int | None,
    min_confidence: float,
    limit: int,
    as_json: bool,
) -> None:
    """Show the tests of all repositories that may run NODE, the most probable first.

    \b
    Example:
      causalist fleet tests money:round_amount
    """
    from causalist.cli.callers_and_impact import format_tests
    from causalist.fleet.lookups import find_tests
    from causalist.serialize.lookup_documents import tests_document

    view = _open_view(folder, token)
    given = _resolve(view, nodes)
    choice, left_out = find_tests(view, given, max_depth=max_depth, min_confidence=min_confidence)
    _say_left_out(left_out)
    ids = [each.id for each in given]
    shown = choice.tests[: limit if choice.n_probable is None else min(limit, choice.n_probable)]
    nothing = "" if choice.tests else f"no test is known to reach {', '.join(ids)}"
    document = tests_document(ids, (), len(choice.tests), shown) if as_json else None
    print_result(document, format_tests(choice.tests, shown, None), nothing)


@fleet_command.command("map")
@click.argument("name", required=False)
@_view_options
@limit_option(50, "Maximum number of repositories.")
@click.option("--max-tokens", type=int, default=2000, show_default=True, help="Token budget of the map of NAME.")
def map_command(name: str | None, folder: Path, token: str | None, limit: int, max_tokens: int, as_json: bool) -> None:
    """Show the repositories, those that others use most first; with NAME, the map of that repository.

    \b
    Example:
      causalist fleet map --limit 20
    """
    from causalist._internal.text_formatting import one_line
    from causalist.fleet.lookups import summarize
    from causalist.serialize.answers import FORMAT_VERSION
    from causalist.serialize.lookup_documents import map_document

    view = _open_view(folder, token)
    if name is not None:
        drawn = view.repository(name).map(max_tokens=max_tokens)
        print_result(map_document(drawn) if as_json else None, drawn.text.splitlines())
        return
    rows, n = summarize(view, limit)
    document = {"format_version": FORMAT_VERSION, "n": n, "repositories": [each._asdict() for each in rows]}
    lines = align_columns(
        [
            (each.name, count_noun(each.n_files, "file"), f"used by {each.used_by}", f"uses {each.uses}",
             one_line(each.about, 100))
            for each in rows
        ]
    )  # fmt: skip
    if n > len(rows):
        lines.append(f"and {n - len(rows)} more; --limit shows more of them")
    print_result(document if as_json else None, lines, "" if n else "no repository was indexed")


@fleet_command.group("serve")
def serve_group() -> None:
    """Run a server for agents or a browser, over all repositories.

    \b
    Example:
      causalist fleet serve mcp
    """


@serve_group.command("mcp")
@_fleet_option
@click.option("--token", envvar="CAUSALIST_FLEET_TOKEN", metavar="TOKEN",
              help="Token of the client on standard input.  [default: the owner, who sees all]")  # fmt: skip
@click.option("--http", is_flag=True, help="Use HTTP on 127.0.0.1, for several clients.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port for --http.  [default: any free port]")
@click.pass_context
def mcp_command(context: click.Context, folder: Path, token: str | None, http: bool, port: int) -> None:
    """Serve the Model Context Protocol on standard input and output.

    With --http, requests bring one of the tokens of [[access]] in fleet.toml, and see what it opens. Without [[access]]
    there is one token, which is printed on standard error; CAUSALIST_TOKEN sets it. Requires the extra `mcp`.

    \b
    Example:
      causalist fleet serve mcp
    """
    require_extra("mcp", "mcp", 2)
    from importlib.metadata import PackageNotFoundError, version

    from causalist.fleet import Fleet
    from causalist.fleet.access import FleetViews, read_access
    from causalist.servers.mcp.fleet import FleetHandlers, serve_fleet, serve_fleet_http

    fleet = Fleet.open(folder)
    access = read_access(fleet.file)
    try:
        number = version("causalist")
    except PackageNotFoundError:
        number = "0"
    handlers = FleetHandlers(FleetViews(fleet.file, fleet.store, token), number)
    if not http:
        from causalist.servers.protocol_pipes import claim_pipes

        context.exit(serve_fleet(handlers, claim_pipes()))
    import os

    from causalist.servers.http_guard import new_token
    from causalist.servers.mcp.http_server import listen

    chosen = os.environ.get("CAUSALIST_TOKEN", "")
    address = listen(port, chosen or new_token())
    say(f"serving {fleet.file.path} at {address.url}")
    token_source = "those of [[access]]" if access else "that of CAUSALIST_TOKEN" if chosen else address.token
    say(f"token: {token_source}")
    context.exit(serve_fleet_http(handlers, address))


@serve_group.command("web")
@_fleet_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on.  [default: any free port]")
@click.option("--deadline", type=float, default=20.0, show_default=True, metavar="S", help="Seconds for an answer.")
@click.pass_context
def web_command(context: click.Context, folder: Path, port: int, deadline: float) -> None:
    """Serve a web page for queries, to a browser on this machine.

    With [[access]] in fleet.toml, each visitor adds ?token=TOKEN to the address, and sees what it opens. Without, the
    printed address has a token that is valid for this run. Requires the extra `web`.

    \b
    Example:
      causalist fleet serve web
    """
    require_extra("web", "starlette", 0)
    require_extra("web", "uvicorn", 0)
    from causalist.fleet import Fleet
    from causalist.fleet.access import FleetViews, token_digests
    from causalist.servers.web import serve

    fleet = Fleet.open(folder)
    views = FleetViews(fleet.file, fleet.store).over_http()

    def announce(address: str) -> None:
        emit(f"{address}\n")
        say("open this address in a browser; Ctrl+C ends the server")

    context.exit(serve((), port, deadline, announce, views, token_digests(fleet.file)))
