"""`causalist serve`: servers for agents, editors and browsers."""

import math
import sys
from pathlib import Path

import click

from causalist.cli._output import say
from causalist.cli._repository import repository_options, require_extra


def _check_seconds(_: click.Context, __: click.Parameter, value: float) -> float:
    # click.FloatRange accepts NaN.
    if math.isnan(value):
        raise click.BadParameter("must be a number of seconds, not nan.")
    return value


def _check_folders(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[Path, ...]:
    if any(not value.strip() for value in values):
        raise click.BadParameter("must not be empty. Give a folder, or omit the option.")
    return tuple(map(Path, values))


_deadline_option = click.option(
    "--deadline", type=click.FloatRange(0, 3600, min_open=True), default=20, show_default=True, metavar="SECONDS",
    callback=_check_seconds, help="Longest time of an answer to a question. Then it has what was found by then."
)  # fmt: skip


@click.group("serve")
def serve_command() -> None:
    """Run a server for agents, editors or a browser.

    \b
    Example:
      causalist serve mcp --repo ~/projects/shop
    """


@serve_command.command("mcp")
@click.option("--repo", "repos", multiple=True, metavar="DIR", callback=_check_folders,
              help="Folder to serve. Repeatable.  [default: the open folders of the client, else the repository "
              "around the current folder]")  # fmt: skip
@click.option("--force", is_flag=True, help="Allow indexing a home directory or a file system root.")
@click.option("--wait", type=click.FloatRange(0, 3600), default=5, show_default=True, metavar="SECONDS",
              callback=_check_seconds, help="Longest wait of a call for the first index. Then the call searches "
              "the files as text, or reports the progress of the index.")  # fmt: skip
@click.option("--refresh-wait", type=click.FloatRange(0, 3600), default=1, show_default=True, metavar="SECONDS",
              callback=_check_seconds, help="Longest wait of a call for an index of the latest changes. Then the "
              "previous index answers, with a note that lists the stale files.")  # fmt: skip
@_deadline_option
@click.option("--tools", type=click.Choice(["default", "all"]), default="default", show_default=True,
              help="Tools to offer. Agents use a short list more often.")  # fmt: skip
@click.option("--reader", "readers", multiple=True, metavar="NAME",
              help="Let the tools of the memory use what only this reader may see. Repeatable.")  # fmt: skip
@click.option("--text-only", is_flag=True, help="Answer with text only, without structured content.")
@click.option("--http", is_flag=True, help="Use HTTP on 127.0.0.1, for several clients.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port for --http.  [default: any free port]")
def mcp_command(
    repos: tuple[Path, ...],
    force: bool,
    wait: float,
    refresh_wait: float,
    deadline: float,
    tools: str,
    readers: tuple[str, ...],
    text_only: bool,
    http: bool,
    port: int,
) -> None:
    """Serve the Model Context Protocol on standard input and output.

    Agents start this server; `causalist install` configures them. Requires the extra: pip install "causalist[mcp]".

    With --http, the address and the token that clients must send are printed on standard error. The environment
    variable CAUSALIST_TOKEN sets a fixed token.

    \b
    Example:
      causalist serve mcp --repo ~/projects/shop
      causalist serve mcp --http --port 8931 --repo ~/projects/shop --repo ~/projects/site
    """
    from causalist.servers.mcp.server import ServerOptions

    require_extra("mcp", "mcp", 2)
    from importlib.metadata import PackageNotFoundError, version

    from causalist.source import find_root, refuse_root

    roots = tuple(repo.resolve() for repo in repos) or (find_root(Path()),)
    for given in repos:
        find_root(given)
    asks_roots = not repos and not http
    if not force:
        if asks_roots:
            roots = tuple(root for root in roots if not _is_refused(root))
        for root in roots:
            refuse_root(root)
    try:
        number = version("causalist")
    except PackageNotFoundError:
        number = "0"
    pipes = None
    if not http:
        from causalist.servers.protocol_pipes import claim_pipes

        if sys.stdin is not None and sys.stdin.isatty():
            say(
                "waiting for Model Context Protocol messages on standard input; "
                "run `causalist install` to set up a client"
            )
        pipes = claim_pipes()
    from causalist.servers.mcp.server import serve, serve_http

    serving = ServerOptions(roots, number, wait, tools, not text_only, asks_roots, refresh_wait, deadline, readers)
    if pipes is not None:
        click.get_current_context().exit(serve(serving, pipes))
    import os

    from causalist.servers.http_guard import new_token
    from causalist.servers.mcp.http_server import listen

    chosen = os.environ.get("CAUSALIST_TOKEN", "")
    address = listen(port, chosen or new_token())
    say(f"serving {', '.join(map(str, roots))} at {address.url}")
    say("token: that of CAUSALIST_TOKEN" if chosen else f"token: {address.token}")
    click.get_current_context().exit(serve_http(serving, address))


@serve_command.command("lsp")
@repository_options
@click.option("--wait", type=click.FloatRange(0, 3600), default=20, show_default=True, metavar="SECONDS",
              callback=_check_seconds, help="Longest wait of a call for the index. Then the call reports its progress."
              )  # fmt: skip
@_deadline_option
def lsp_command(repo: Path | None, force: bool, wait: float, deadline: float) -> None:
    """Serve the Language Server Protocol on standard input and output.

    Editors start this server in addition to the server of a language. They send the open folders; use --repo for
    editors that do not. Requires the extra: pip install "causalist[lsp]".

    \b
    Example:
      causalist serve lsp
    """
    require_extra("lsp", "pygls", 2)
    from importlib.metadata import PackageNotFoundError, version

    from causalist.servers.protocol_pipes import claim_pipes
    from causalist.source import refuse_root

    if repo is not None and not force:
        refuse_root(repo.resolve())
    if sys.stdin is not None and sys.stdin.isatty():
        say("waiting for Language Server Protocol messages on standard input; docs/lsp.md describes the editor setup")
    pipes = claim_pipes()
    from causalist.servers.lsp.server import serve

    try:
        number = version("causalist")
    except PackageNotFoundError:
        number = "0"
    root = (repo or Path()).resolve()
    code = serve(root, pipes, version=number, wait_seconds=wait, answer_seconds=deadline)
    click.get_current_context().exit(code)


@serve_command.command("web")
@click.argument("folders", metavar="[PATH]...", nargs=-1, callback=_check_folders)
@repository_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on.  [default: any free port]")
@_deadline_option
def web_command(folders: tuple[Path, ...], repo: Path | None, force: bool, port: int, deadline: float) -> None:
    """Serve a web page for queries, to a browser on this machine.

    The page switches between several repositories. PATH is a repository, or a folder that holds repositories.

    The printed address contains a token that is valid for this run. Requires the extra: pip install "causalist[web]".

    \b
    Example:
      causalist serve web --repo ~/projects/shop
      causalist serve web ~/projects
    """
    require_extra("web", "starlette", 0)
    require_extra("web", "uvicorn", 0)
    from causalist.cli._output import emit
    from causalist.servers.live_repository import MAX_REPOSITORIES
    from causalist.servers.web import serve
    from causalist.source import find_root, refuse_root

    if folders and repo is not None:
        raise click.UsageError("give folders either with --repo or without it.")
    roots = [find_root(Path())]
    if repo is not None:
        find_root(repo)
        roots = [repo.resolve()]
    elif folders:
        roots = list(dict.fromkeys(root for folder in folders for root in _repositories_in(folder)))
    if len(roots) > MAX_REPOSITORIES:
        raise click.UsageError(f"a page shows at most {MAX_REPOSITORIES} repositories, and these are {len(roots)}.")
    if not force:
        for root in roots:
            refuse_root(root)

    def announce(address: str) -> None:
        emit(f"{address}\n")
        if len(roots) > 1:
            say(f"serving {len(roots)} repositories: {', '.join(root.name for root in roots)}")
        say("open this address in a browser; Ctrl+C ends the server")

    click.get_current_context().exit(serve(roots, port, deadline, announce))


def _repositories_in(folder: Path) -> list[Path]:
    """Return a folder, or the repositories below it if it is in none. Raises RepositoryNotFound."""
    from causalist.source import find_root
    from causalist.source.git import is_work_tree, repositories_below

    root = folder.resolve()
    below = [] if is_work_tree(find_root(folder)) else [each for each in repositories_below(root) if is_work_tree(each)]
    return below or [root]


def _is_refused(root: Path) -> bool:
    from causalist.errors import RefusedRoot
    from causalist.source import refuse_root

    try:
        refuse_root(root)
    except RefusedRoot:
        return True
    return False
