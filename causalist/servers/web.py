"""Web page for queries: a page (`page/`) and its JSON requests on the loopback interface.

In: folders. Out: answers as JSON behind `http_guard`. Repository content never becomes markup: it is sent as JSON and
shown as text, and the content policy allows only the files of the page. Colors of source, example questions and
elements of pictures are plain data, too.
"""

import asyncio
import json
import math
import os
import re
import signal
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from causalist.errors import CausalistError, UsageError
from causalist.model.lookup import EntryPointKind, OrderLevel
from causalist.model.node_ids import NodeKind, Role
from causalist.serialize.answers import answer_document, edge_document, read_options, read_question, status_document
from causalist.serialize.lookup_documents import list_tests, node_document, review_document, show_document
from causalist.servers.deadline_process import ANSWER_SECONDS, ask_in_child
from causalist.servers.http_guard import AccessRules, Guard, TokenRules, new_token, read_token
from causalist.servers.index_job import Stage
from causalist.servers.live_repository import (
    ALL_REPOSITORIES,
    LiveRepository,
    LiveView,
    Repositories,
    ShardRepository,
    ask_all,
    name_repository,
    repository_of_fleet,
)
from causalist.servers.protocol_pipes import run_in_thread

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    from causalist.fleet.access import FleetView, FleetViews
    from causalist.model.lookup import EntryPoint, Overview, ServedRoute
    from causalist.pipeline.repository import Repository

# More concurrent answers would wait for the interpreter lock.
_ANSWERS_AT_ONCE = 2
_MAX_CONNECTIONS = 64
# seconds of a request beyond those of an answer
_MORE_SECONDS = 40.0
# seconds that a request waits for the index before it returns the progress
_WAIT_SECONDS = 0.5
_INTERRUPTED = 130
_MAX_EDGES = 50  # callers, callees or tests
_MAX_ID_CHARACTERS = 4_000
_REPOSITORY = "repository"  # key and parameter of all requests
_Handler = Callable[[LiveRepository, dict[str, Any]], Awaitable[Response]]
_WholeHandler = Callable[["FleetView", dict[str, Any]], Awaitable[Response]]

# The nodes that each picture takes.
_PICTURES = {"impact": ("node",), "path": ("node", "to"), "topo": (), "review": ()}

_TYPES = {"index.html": "text/html", "app.css": "text/css", "app.js": "text/javascript",
          "icon.svg": "image/svg+xml"}  # fmt: skip
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class WebApp:
    """ASGI application for repositories in `roots`. `port` is its port, `token` its access token.

    With a `fleet` it is for the repositories of that instead, and each request sees those of its token. `digests` are
    the SHA-256 of the tokens that are valid then; None: `token` is.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        port: int,
        token: str,
        answer_seconds: float = ANSWER_SECONDS,
        fleet: "FleetViews | None" = None,
        digests: tuple[str, ...] | None = None,
    ) -> None:
        self._fleet = fleet
        self._answer_seconds = answer_seconds
        self.repositories = Repositories(roots, math.inf, partial(ask_in_child, answer_seconds))
        self._seconds = answer_seconds + _MORE_SECONDS
        self._token = token
        # Cookies ignore ports: with one name, two servers would overwrite each other's token.
        self._cookie = f"causalist-{port}"
        self._answering = asyncio.Semaphore(_ANSWERS_AT_ONCE)
        # Tests of what much code uses take a minute; pages that were left must not keep other answers waiting.
        self._finding_tests = asyncio.Semaphore(1)
        # By folder: the overview, which takes seconds in large repositories, and the state that it is of.
        self._overviews: dict[Path, tuple[Repository, dict[str, object]]] = {}
        page = [Route(f"/{name}", self._file(name), methods=["GET"]) for name in _TYPES if name != "index.html"]
        routes = [
            Route("/", self._index, methods=["GET"]),
            *page,
            Route("/api/ask", self._guard(self._ask, self._ask_all), methods=["POST"]),
            Route("/api/node", self._guard(self._node, self._inner(self._node)), methods=["POST"]),
            Route("/api/tests", self._guard(self._tests, self._inner(self._tests)), methods=["POST"]),
            Route("/api/review", self._guard(self._review), methods=["POST"]),
            Route("/api/picture", self._guard(self._picture), methods=["POST"]),
            Route("/api/overview", self._guard(self._overview), methods=["POST"]),
            Route("/api/status", self._guard(self._status, self._status_of_all), methods=["GET"]),
            Route("/api/repositories", self._guard(self._list_repositories), methods=["GET"]),
        ]
        open_paths = frozenset({"/", "/app.css", "/app.js", "/icon.svg"})
        rules = (
            TokenRules(port, token, open_paths=open_paths, cookie=self._cookie, digests=digests)
            if digests is not None
            else AccessRules(port, token, open_paths=open_paths, cookie=self._cookie)
        )
        self.application = Guard(Starlette(routes=routes), rules, _HEADERS)
        self._rules = rules

    def _file(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        content = (files("causalist.servers") / "page" / name).read_bytes()

        async def respond(request: Request) -> Response:
            return Response(content, media_type=f"{_TYPES[name]}; charset=utf-8")

        return respond

    async def _index(self, request: Request) -> Response:
        """Return the page; move a token from the address into a cookie, so that it leaves the address bar."""
        given = read_token(request.scope["query_string"])
        if given is None or not self._rules.is_token(given):
            return await self._file("index.html")(request)
        kept = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        response = RedirectResponse(f"/?{urlencode(kept)}" if kept else "/", status_code=303)
        response.set_cookie(self._cookie, quote(given, safe=""), httponly=True, samesite="strict", path="/")
        return response

    def _guard(
        self, answer: _Handler, whole: "_WholeHandler | None" = None
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that answers from the repository which a request names, else from the first.

        `whole` answers for all repositories of a fleet.
        """

        async def respond(request: Request) -> Response:
            try:
                async with asyncio.timeout(self._seconds):
                    params = await _read_json(request) if request.method == "POST" else dict(request.query_params)
                    name = params.pop(_REPOSITORY, None)
                    if name is not None and not isinstance(name, str):
                        raise UsageError(f"{_REPOSITORY} must be the name of a repository")
                    if self._fleet is not None and name == ALL_REPOSITORIES:
                        if whole is None:
                            raise UsageError("this is of one repository: name it")
                        return await whole((await self._find(request, None)).fleet, params)
                    return await answer(await self._find(request, name), params)
            except CausalistError as error:
                return _error_response(400 if isinstance(error, UsageError) else 422, error.slug, str(error))
            except TimeoutError:
                return _error_response(504, "too-slow", f"no answer within {self._seconds:.0f} seconds")
            except Exception as error:
                if os.environ.get("CAUSALIST_TRACEBACK"):
                    traceback.print_exc(file=sys.stderr)
                return _error_response(
                    500, "internal", f"{type(error).__name__}: {error}. This is a defect of Causalist."
                )

        return respond

    async def _find(self, request: Request, name: str | None) -> Any:
        """Return the repository of a name, the first without one. Raises UsageError."""
        if self._fleet is None:
            return self.repositories.get(name)[1]
        given = self._rules.token_of(request.scope["headers"])
        fleet = await run_in_thread(partial(self._fleet.of, given))
        return await run_in_thread(partial(repository_of_fleet, fleet, name))

    async def _ask(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        """Return the document of `ask --json`, with details of each node in it."""
        question = read_question(params)
        given = {name: value for name, value in params.items() if name != "question"}
        view = await live.view(_WAIT_SECONDS, _ignore_progress)
        repository = view.repository

        def open_part() -> "Repository | None":
            from causalist.pipeline.repository import Repository

            return Repository.open_part(live.root, question, exact_root=True, force=True)

        if repository is None:
            async with self._answering:
                repository = await run_in_thread(open_part)
        if repository is None:
            return _indexing_response(view)
        options = read_options(repository.settings.ask_options(), given)

        def work() -> dict[str, object]:
            if isinstance(live, ShardRepository):  # which has no session, and no folder to remember in
                answer = repository.ask(question, options, deadline=self._answer_seconds, remember=False)
            else:
                answer = repository.ask(question, options)
            shown = {hit.id: node_document(hit) for hit in answer.results}
            for node in (*answer.order, *(hop.node for hit in answer.results for hop in hit.path_from_seed)):
                if node not in shown:
                    shown[node] = node_document(repository.show(node).hit)
            return {"answer": answer_document(answer), "nodes": shown, "stage": view.stage and str(view.stage)}

        return _json_response(await self._answer(work))

    async def _ask_all(self, fleet: "FleetView", params: dict[str, Any]) -> Response:
        """Return what `_ask` does, of all repositories that a request may see; ids and paths begin with theirs."""
        question = read_question(params)
        given = {name: value for name, value in params.items() if name != "question"}

        def work() -> dict[str, object]:
            answer, shown, asked = ask_all(fleet, question, given, self._answer_seconds)
            return {"answer": answer_document(answer), "nodes": shown, "stage": None, "asked": asked}

        return _json_response(await self._answer(work))

    async def _status_of_all(self, fleet: "FleetView", params: dict[str, Any]) -> Response:
        counts = {key: sum(fleet.catalog.columns[f"n_{key}"]) for key in ("files", "nodes", "edges")}
        return _json_response({"repository": {"root": ""}, "index": None, "name": fleet.name, "commit": None, **counts})

    def _inner(self, answer: _Handler) -> "_WholeHandler":
        """Return a handler of requests whose node begins with its repository; so do those of the answer."""

        async def respond(fleet: "FleetView", params: dict[str, Any]) -> Response:
            name, inner = await run_in_thread(partial(fleet.split_name, _read_node(params)))
            if not name:
                raise UsageError("the id of the node must begin with a repository and a colon")
            response = await answer(ShardRepository(name, fleet), {"node": inner})
            return _json_response(name_repository(json.loads(bytes(response.body)), name), response.status_code)

        return respond

    async def _node(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        """Return a definition with its source and its colors, its callers, references and callees."""
        node = _read_node(params)

        def work(repository: "Repository", _: LiveView) -> dict[str, object]:
            callers, callees = repository.callers(node), repository.callees(node)
            references = repository.references(node)
            shown = repository.show(node)
            return {
                "node": show_document(shown),
                "colors": color_source(shown.hit.path, shown.text),
                **{
                    name: {"n": len(edges), "edges": [edge_document(edge) for edge in edges[:_MAX_EDGES]]}
                    for name, edges in (("callers", callers), ("references", references), ("callees", callees))
                },
            }

        return await self._answer_indexed(live, work)

    async def _tests(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        """Return the tests that may run a definition, by themselves: for what all code uses, this takes seconds."""
        node = _read_node(params)

        def work(repository: "Repository", _: LiveView) -> dict[str, object]:
            # What is outside of the repository has no tests.
            tests = () if repository.show(node).hit.kind == NodeKind.EXTERNAL.label else repository.tests(node)
            return {"n": len(tests), "tests": list_tests(tests, _MAX_EDGES)}

        return await self._answer_indexed(live, work, places=self._finding_tests)

    async def _review(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        """Return the document of `review --json` of the files as they are against HEAD."""
        if params:
            raise UsageError("the request takes nothing: {}")
        _refuse_shard(live)

        def work(repository: "Repository", view: LiveView) -> dict[str, object]:
            review, _ = repository.review()
            return {
                "review": review_document(review, _MAX_EDGES, _MAX_EDGES),
                "stage": view.stage and str(view.stage),
            }

        return await self._answer_indexed(live, work)

    async def _picture(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        """Return the elements of a picture: what depends on a node, a path, the order of files, or a change."""
        view = str(params.get("view"))
        wanted = _PICTURES.get(view)
        given = {name: value for name, value in params.items() if name != "view"}
        if wanted is None:
            raise UsageError(f"view must be one of {', '.join(_PICTURES)}")
        if set(given) != set(wanted) or not all(_is_node_id(value) for value in given.values()):
            raise UsageError(f"the picture {view} takes {' and '.join(wanted) or 'nothing'}: ids of nodes")
        if view == "review":
            _refuse_shard(live)

        def work(repository: "Repository", _: LiveView) -> dict[str, object]:
            from causalist.serialize import svg

            if view == "impact":
                return {"picture": svg.svg_elements(svg.draw_users(given["node"], repository))}
            if view == "path":
                trail = repository.path(given["node"], given["to"])
                return {"picture": svg.svg_elements(svg.draw_path(given["node"], given["to"], trail))}
            if view == "review":
                review, after = repository.review()
                if not review.files:
                    raise UsageError("nothing changed since HEAD")
                return {"picture": svg.svg_elements(svg.draw_review(review, svg.uses_of_change(review, after)))}
            order = repository.topo()
            if len(order.items) > svg.MAX_PICTURE_NODES:
                order = repository.topo(level=OrderLevel.FOLDER)
            return {"picture": svg.svg_elements(svg.draw_order(order))}

        return await self._answer_indexed(live, work)

    async def _overview(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        """Return what the repository is, and questions that it answers."""
        if params:
            raise UsageError("the request takes nothing: {}")

        def work(repository: "Repository", _: LiveView) -> dict[str, object]:
            made = self._overviews.get(live.root)
            if made is None or made[0] is not repository:
                made = self._overviews[live.root] = (repository, overview_document(repository))
            return made[1]

        return await self._answer_indexed(live, work)

    async def _status(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        def work(repository: "Repository", _: LiveView) -> dict[str, object]:
            """Return the document of `status --json` with the fields that the page shows."""
            info = repository.info()
            described = {"commit": info.commit, "files": info.files, "nodes": info.nodes, "edges": info.edges}
            if isinstance(live, ShardRepository):
                known: dict[str, Any] = status_document(repository.status(), repository.notes)
                no_folder = {**known["repository"], "root": ""}
                return {**known, "repository": no_folder, "name": live.name, **described}
            document = status_document(repository.status(), repository.notes, repository.index_status())
            return {**document, "name": live.root.name, **described}

        return await self._answer_indexed(live, work, wait_seconds=0)

    async def _list_repositories(self, live: LiveRepository, params: dict[str, Any]) -> Response:
        """Return the names and folders of what is served, in order."""
        if isinstance(live, ShardRepository):
            names = live.fleet.catalog.names
            return _json_response({"repositories": [{"name": n, "root": ""} for n in names], "all": len(names) > 1})
        served = self.repositories.by_name.items()
        return _json_response({"repositories": [{"name": name, "root": str(each.root)} for name, each in served]})

    async def _answer_indexed(
        self,
        live: LiveRepository,
        work: Callable[["Repository", LiveView], dict[str, object]],
        wait_seconds: float = _WAIT_SECONDS,
        places: asyncio.Semaphore | None = None,
    ) -> Response:
        """Return the answer of `work`, or the progress of indexing while there is no index.

        `places` limit how many are computed at once; by default it shares the limit of all answers.
        """
        view = await live.view(wait_seconds, _ignore_progress)
        repository = view.repository
        if repository is None:
            return _indexing_response(view)
        async with places or self._answering:
            return _json_response(await run_in_thread(partial(work, repository, view)))

    async def _answer(self, work: Callable[[], dict[str, object]]) -> dict[str, object]:
        async with self._answering:
            return await run_in_thread(work)


def _refuse_shard(live: LiveRepository) -> None:
    if isinstance(live, ShardRepository):
        raise UsageError("an index of a fleet has no files to compare with; `causalist review` does in a clone")


def _read_node(params: dict[str, Any]) -> str:
    """Return the id in a request about a node. Raises UsageError."""
    node = params.get("node")
    if not isinstance(node, str) or not _is_node_id(node) or set(params) != {"node"}:
        raise UsageError("the request must have one key, node, with the id of a node")
    return node


def _is_node_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID_CHARACTERS


def _json_response(document: dict[str, object], status: int = 200) -> Response:
    # ASCII only: names may contain lone surrogates.
    return Response(json.dumps(document, allow_nan=False), status, media_type="application/json")


def _indexing_response(view: LiveView) -> Response:
    stage = view.stage or Stage()
    return _json_response({"indexing": {"stage": str(stage), "percent": stage.percent}}, 202)


def _error_response(status: int, slug: str, message: str) -> Response:
    return _json_response({"error": {"slug": slug, "message": message}}, status)


async def _read_json(request: Request) -> dict[str, Any]:
    """Return the JSON body. Its content type is required: a cross-site form cannot send it unasked."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UsageError("the Content-Type must be application/json")
    try:
        params = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise UsageError("the body must be JSON in UTF-8") from None
    if not isinstance(params, dict):
        raise UsageError("the body must be a JSON object")
    return params


async def _ignore_progress(stage: Stage) -> None:
    """Discard a progress report; the page polls."""


def listen(port: int) -> socket.socket:
    """Return a listening socket on the loopback interface; port 0 is any free port. Raises UsageError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name != "nt":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise UsageError(f"cannot listen on port {port}: {error.strerror or error}. Choose another --port.") from error
    return listening


def serve(
    roots: Sequence[Path],
    port: int,
    answer_seconds: float,
    announce: Callable[[str], None],
    fleet: "FleetViews | None" = None,
    digests: tuple[str, ...] | None = None,
) -> int:
    """Serve the repositories in `roots`, or those of a fleet, until a signal arrives and return an exit code.

    `announce` receives the address with the token; `fleet` and `digests` are as in `WebApp`. Raises UsageError.
    """
    listening = listen(port)
    number, token = listening.getsockname()[1], new_token()
    door = WebApp(roots, number, token, answer_seconds, fleet, digests)
    address = f"http://127.0.0.1:{number}/"
    return asyncio.run(
        _serve(door, listening, partial(announce, address if digests is not None else f"{address}?token={token}"))
    )


async def _serve(door: WebApp, listening: socket.socket, announce: Callable[[], None]) -> int:
    import uvicorn

    from causalist.servers.http_guard import TimelyProtocol

    class Server(uvicorn.Server):
        """Leaves signals to the process that runs it."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        door.application, log_config=None, log_level="critical", access_log=False, lifespan="off", server_header=False,
        http=TimelyProtocol,
        date_header=False, limit_concurrency=_MAX_CONNECTIONS, timeout_keep_alive=5, timeout_graceful_shutdown=1,
        proxy_headers=False, ws="none",
    )  # fmt: skip
    server = Server(config)
    code = 0

    def end(with_code: int) -> None:
        nonlocal code
        code = with_code
        server.should_exit = True

    for name, with_code in (("SIGTERM", 0), ("SIGHUP", 0), ("SIGINT", _INTERRUPTED)):
        # Some platforms lack a signal or cannot handle it in an event loop.
        with suppress(AttributeError, NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), partial(end, with_code))
    await door.repositories.prepare()
    announce()
    try:
        await server.serve(sockets=[listening])
    finally:
        door.repositories.stop()
    return code


# Beyond these, source is shown without colors: regular expressions of a lexer may take long on hostile text.
_MAX_COLORED_LINES = 2_000
_MAX_COLORED_CHARACTERS = 120_000
_MAX_LINE_CHARACTERS = 1_000

# Types of tokens that have a color, the more special first: the class of the page that shows them.
_CLASSES = (
    ("Comment", "c"), ("Keyword", "k"), ("Literal.String", "s"), ("Literal.Number", "m"), ("Name.Function", "f"),
    ("Name.Class", "f"), ("Name.Decorator", "d"), ("Name.Builtin", "b"), ("Name.Tag", "k"), ("Name.Attribute", "b"),
    ("Operator.Word", "k"), ("Generic.Heading", "f"), ("Generic.Subheading", "f"),
)  # fmt: skip
# Files whose definitions are those of another language.
_SCRIPTED = (".vue", ".svelte", ".astro", ".html")

_MAX_QUESTIONS = 6
_MAX_DEFINITIONS = 40  # whose documentation gives questions
_MAX_WORDS = 9
# Methods of requests, the ones that change something first.
_METHODS = ("POST", "PUT", "PATCH", "GET", "ANY", "DELETE")
# Headings that say nothing of the code.
_PLAIN_HEADING = re.compile(
    r"\b(?:api|changelog|contents|contribut\w+|credits|development|documentation|examples?|faq|features|install\w*|"
    r"introduction|license|links|notes|overview|quickstart|readme|reference|requirements|setup|support|tests?|testing|"
    r"usage)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?:;](?:\s|$)| [-–—] ")
# "Sends the e-mail" says what does it; the first word of a noun phrase is no verb.
_THIRD_PERSON = re.compile(r"[A-Z][a-z]{2,}(?<!s)s\b")
_NOUNS = re.compile(
    r"(?:always|class|errors|failures|options|perhaps|routes|rows|settings|shapes|tests|this|types|values)\b"
)


def color_source(path: str, text: str) -> list[list[int | str]]:
    """Return lengths and classes in turn for each line: `[5, "k", 1, ""]` is a keyword of five characters, and a space.

    Lengths are in UTF-16 units, as scripts of pages count. The list is empty if the language is not known or the text
    is too long; lines after the limit are missing.
    """
    lines = text.split("\n")[:_MAX_COLORED_LINES]
    text = "\n".join(lines)[:_MAX_COLORED_CHARACTERS]
    lexer = _find_lexer(path, text)
    if lexer is None or any(len(line) > _MAX_LINE_CHARACTERS for line in lines):
        return []
    colored: list[list[int | str]] = [[]]
    for _, kind, value in lexer.get_tokens_unprocessed(text + "\n"):
        shown = _class_of(str(kind).removeprefix("Token."))
        for i, part in enumerate(value.split("\n")):
            if i:
                colored.append([])
            if not part:
                continue
            length = len(part.encode("utf-16-le", "surrogatepass")) // 2
            line = colored[-1]
            if line and line[-1] == shown:
                line[-2] = int(line[-2]) + length
            else:
                line += [length, shown]
    return colored[: len(lines)]


def _find_lexer(path: str, text: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    name = path.rpartition("/")[2]
    if name.endswith(_SCRIPTED) and not text.lstrip().startswith("<"):
        return get_lexer_by_name("typescript")
    try:
        lexer = get_lexer_for_filename(name)
    except ClassNotFound:
        return None
    # A definition of PHP has no opening tag.
    return get_lexer_by_name("php", startinline=True) if lexer.name == "PHP" and "<?" not in text else lexer


def _class_of(kind: str) -> str:
    return next((shown for prefix, shown in _CLASSES if kind == prefix or kind.startswith(f"{prefix}.")), "")


def overview_document(repository: "Repository") -> dict[str, object]:
    """Return what the page shows before the first question: the map in short, and questions of this repository."""
    overview = repository.map(max_tokens=4_000).overview
    return {
        "name": overview.name,
        "summary": overview.summary,
        "paragraph": overview.paragraph,
        "languages": [[each.language, each.n_files, each.n_lines] for each in overview.languages[:6]],
        "entries": [
            {"kind": each.kind, "name": each.name, "node": each.target} for each in overview.entries[:8] if each.target
        ],
        "definitions": [node_document(each.hit) for each in overview.definitions[:12]],
        "questions": [text for text, _ in find_questions(repository, overview)],
    }


def find_questions(repository: "Repository", overview: "Overview") -> list[tuple[str, str]]:
    """Return (question, node that it comes from) of this repository, at most six.

    They come in turn from headings of its documentation that name important definitions, from what these say of
    themselves, from its routes and from its entry points.
    """
    hits = [each.hit for each in overview.definitions[:_MAX_DEFINITIONS]]
    sources = [
        _headings(repository, [hit.id for hit in hits]),
        ((question, hit.id) for hit in hits if (question := _question_of(hit.doc))),
        _route_questions(repository),
        (
            (f"what does the command {each.name} run", each.target)
            for each in _entries(overview, EntryPointKind.COMMAND)
        ),
        ((f"what happens in {each.name}", each.target) for each in _entries(overview, EntryPointKind.RUN)),
    ]
    questions: list[tuple[str, str]] = []
    while sources and len(questions) < _MAX_QUESTIONS:
        for source in tuple(sources):
            chosen = next((each for each in source if not _is_repeated(each, questions)), None)
            if chosen is None:
                sources.remove(source)
            elif len(questions) < _MAX_QUESTIONS:
                questions.append(chosen)
    return questions


def _entries(overview: "Overview", kind: EntryPointKind) -> list["EntryPoint"]:
    return [each for each in overview.entries if each.kind is kind and each.target]


def _is_repeated(each: tuple[str, str], questions: Iterable[tuple[str, str]]) -> bool:
    return any(each[0] == question or each[1] == node for question, node in questions)


def _route_questions(repository: "Repository") -> Iterator[tuple[str, str]]:
    """Yield (question, handler) for the routes of the product, requests that change something first."""

    def order(route: "ServedRoute") -> tuple[int, int, str]:
        place = _METHODS.index(route.method) if route.method in _METHODS else len(_METHODS)
        return place, -route.path.count("/"), route.path

    for route in sorted(repository.routes(), key=order):
        if repository.show(route.handler).role == Role.CODE.label:
            yield f"what handles {route.method} {route.path}", route.handler


def _headings(repository: "Repository", nodes: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (heading, definition) of documentation that names one of `nodes` and shares a word with its name."""
    if not nodes:
        return
    for edge in repository.documentation(*nodes):
        heading = repository.show(edge.source).hit.signature.lstrip("#=* ").strip()
        words = heading.split()
        name = edge.target.rpartition("::")[2].lower()
        is_told = all(word.isascii() and not word.strip("`").endswith((")", ":")) for word in words)
        is_shared = any(len(word) > 4 and word.lower()[:-2] in name for word in words)
        is_plain = _PLAIN_HEADING.search(heading) is not None
        if 2 <= len(words) <= _MAX_WORDS and is_told and is_shared and not is_plain:
            yield heading.replace("`", ""), edge.target


def _question_of(doc: str) -> str:
    """Return the first sentence of a documentation comment as a question; "" if it makes none.

    >>> _question_of("Sends the reminder e-mail. It may fail.")
    'what sends the reminder e-mail'
    >>> _question_of("Full-text search over tasks, with an index.")
    'full-text search over tasks'
    >>> _question_of("See above.")
    ''
    """
    sentence = _SENTENCE_END.split(doc.strip(), maxsplit=1)[0].split(",")[0].strip()
    words = sentence.split()
    if (
        not 3 <= len(words) <= _MAX_WORDS
        or not words[0][:1].isalpha()
        or not sentence.isascii()
        or re.search("`|//", sentence)
    ):
        return ""
    plain = words[0] if words[0][1:] != words[0][1:].lower() else words[0].lower()
    lowered = " ".join([plain, *words[1:]])
    is_verb = _THIRD_PERSON.fullmatch(words[0]) is not None and _NOUNS.match(plain) is None
    return f"what {lowered}" if is_verb else lowered
