"""Answers of the language server: symbols, lenses, hovers, call hierarchies, Causalist's requests.

In: a `Repository` and texts as the editor shows them. Out: types of the protocol; repository content is fenced, escaped
and cut to one line.

The requests `causalist/ask`, `causalist/context`, `causalist/impact` and `causalist/review` take plain JSON with the
names of the command line and return the documents of `--json`. Their subject is a query, the id of a node, or a
position in an open document, of a review the change of the folder.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types

from causalist._internal.text_formatting import count_noun, markdown_text, one_line
from causalist.errors import UnknownNode, UsageError
from causalist.model.answer import AskOptions
from causalist.model.graph import Edge
from causalist.model.lookup import ChangesWith
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role, file_id, split_id
from causalist.model.scores import Hit
from causalist.model.source import FileEntry
from causalist.parse import dialect_of
from causalist.serialize.answers import answer_document, read_options, read_question
from causalist.serialize.lookup_documents import impact_document, review_document
from causalist.servers.lsp.protocol import (
    SHOWN_KINDS,
    DefinitionLocator,
    DocumentText,
    PlacedDefinition,
    display_name,
    is_indexed,
    use_ranges,
)
from causalist.servers.text_answers import symbol_text

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository

MAX_SYMBOLS = 20
_MIN_CHANGE = 0.2  # probability of a file in a lens
_MAX_CHANGES = 2
_SIGNATURE_CHARACTERS = 400
_DOC_CHARACTERS = 300
_BACKTICKS = re.compile("`+")
_CALLABLE = frozenset(kind.label for kind in CALLABLE_KINDS)

SYMBOL_KINDS = {
    NodeKind.FILE: types.SymbolKind.File,
    NodeKind.NAMESPACE: types.SymbolKind.Namespace,
    NodeKind.CLASS: types.SymbolKind.Class,
    NodeKind.INTERFACE: types.SymbolKind.Interface,
    NodeKind.STRUCT: types.SymbolKind.Struct,
    NodeKind.ENUM: types.SymbolKind.Enum,
    NodeKind.TRAIT: types.SymbolKind.Interface,
    NodeKind.FUNCTION: types.SymbolKind.Function,
    NodeKind.METHOD: types.SymbolKind.Method,
    NodeKind.FIELD: types.SymbolKind.Field,
    NodeKind.CONSTANT: types.SymbolKind.Constant,
    NodeKind.TYPE: types.SymbolKind.Class,
    NodeKind.MACRO: types.SymbolKind.Function,
    NodeKind.PASSAGE: types.SymbolKind.String,
    NodeKind.ENTITY: types.SymbolKind.Key,
    NodeKind.EXTERNAL: types.SymbolKind.Package,
    NodeKind.HANDLER: types.SymbolKind.Event,
}
_KINDS = {kind.label: kind for kind in NodeKind}


class DocumentView(NamedTuple):
    """Repository as an editor shows it.

    `opened` returns the text of an open document by path, or None. `uri` maps a path to the editor's URI, and `path` is
    its inverse. `note` says what the answer may lack because waiting ended, "" if nothing.
    """

    repository: "Repository"
    opened: Callable[[str], DocumentText | None]
    uri: Callable[[str], str]
    path: Callable[[str], str | None]
    encoding: types.PositionEncodingKind | str
    places: DefinitionLocator
    note: str = ""

    def text(self, path: str) -> DocumentText | None:
        """Return the editor's text of a file, or the saved text; None if neither can be read."""
        opened = self.opened(path)
        if opened is not None:
            return opened
        source = self.repository.read(FileEntry(path, 0, 0))
        return None if isinstance(source, str) else DocumentText(source.data, self.encoding)

    def location(self, hit: Hit, text: DocumentText | None) -> tuple[types.Range, types.Range]:
        """Return the ranges (whole, name) of a node; its indexed rows if its text has changed."""
        if text is not None and hit.symbol is not None:
            for each in self.places.definitions(self.repository, hit.path, text):
                if each.node == hit.id:
                    return text.range(each.start, each.end), text.range(*each.name)
        is_passage = hit.symbol is None and hit.kind != NodeKind.FILE.label
        if text is not None and is_passage and is_indexed(self.repository, hit.path, text):
            start = text.position(hit.start_byte)
            return text.range(hit.start_byte, hit.end_byte), types.Range(start, start)
        start = types.Position(hit.start_row, 0)
        return types.Range(start, types.Position(max(hit.start_row, hit.end_row), 0)), types.Range(start, start)


def find_symbols(shown: DocumentView, query: str, limit: int = MAX_SYMBOLS) -> list[types.WorkspaceSymbol]:
    """Return the symbols for a query, best first: matching names for one word, else an answer."""
    repository = shown.repository
    if not query.strip():
        return []
    hits: Sequence[Hit] = ()
    if len(query.split()) == 1:
        hits = [hit for hit in repository.find(query, limit=limit) if hit.path]
    if not hits:
        hits = repository.ask(query, AskOptions(top_k=limit)).results
    texts: dict[str, DocumentText | None] = {}
    symbols = []
    for hit in hits:
        if hit.path not in texts:
            texts[hit.path] = shown.text(hit.path)
        _, name = shown.location(hit, texts[hit.path])
        symbols.append(
            types.WorkspaceSymbol(
                location=types.Location(shown.uri(hit.path), name),
                name=one_line(display_name(hit.id) if hit.symbol else _title(hit), 200),
                kind=SYMBOL_KINDS[_KINDS[hit.kind]],
                container_name=one_line(_container(hit), 200),
                data={"node": hit.id, "score": hit.score},
            )
        )
    return symbols


class LensKind(StrEnum):
    """Kinds of lenses: users of a definition, tests of a function, files that change with the file."""

    CALLERS = "callers"
    TESTS = "tests"
    CHANGES = "changes"


def code_lenses(
    repository: "Repository | None", path: str, text: DocumentText, placed: Sequence[PlacedDefinition], uri: str
) -> list[types.CodeLens]:
    """Return the unresolved lenses of a document: callers of each function and type, its tests, the file's companions.

    The latter two take an index to say anything, and are left out for tests. Nothing is looked up before a client
    resolves a lens, which it does for those on the screen.
    """

    def lens(kind: LensKind, node: str, place: types.Range) -> types.CodeLens:
        return types.CodeLens(range=place, data={"uri": uri, "node": node, "path": path, "lens": kind.value})

    file = -1 if repository is None else repository.index.graph.nodes.ids.position(file_id(path))
    is_code = repository is not None and file >= 0 and repository.index.graph.nodes.roles[file] == Role.CODE
    lenses = []
    for each in placed:
        if each.kind in SHOWN_KINDS:
            lenses.append(lens(LensKind.CALLERS, each.node, text.range(*each.name)))
            if is_code and each.kind in CALLABLE_KINDS:
                lenses.append(lens(LensKind.TESTS, each.node, text.range(*each.name)))
    if is_code and lenses:
        lenses.append(lens(LensKind.CHANGES, file_id(path), types.Range(types.Position(0, 0), types.Position(0, 0))))
    return lenses


def lens_title(repository: "Repository", kind: LensKind, node: str) -> tuple[str, bool]:
    """Return the title of a lens, and True if there is something to show."""
    if repository.index.graph.nodes.ids.position(node) < 0:
        return "not indexed yet", False
    if kind is LensKind.TESTS:
        n = len(repository.tests(node))
        return (count_noun(n, "test") if n else "no tests known"), n > 0
    if kind is LensKind.CHANGES:
        files = changing_files(repository, node)
        named = ", ".join(f"{_file_name(each.file, node)} {each.probability:.0%}" for each in files)
        return (f"changes with {named}" if files else "changes with no other file"), bool(files)
    edges = users_of(repository, node)
    n_tests = sum(is_test(repository, edge.source) for edge in edges)
    verb = "caller" if _kind_of_node(repository, node) in CALLABLE_KINDS else "use"
    title = f"{len(edges) or 'no'} {verb}{'' if len(edges) == 1 else 's'}{'' if edges else ' known'}"
    return title + (f" ({n_tests} in tests)" if n_tests else ""), bool(edges)


def changing_files(repository: "Repository", path: str) -> tuple[ChangesWith, ...]:
    """Return the one or two files that a change of a file most probably changes as well."""
    return repository.changes_with(path, least_probability=_MIN_CHANGE)[:_MAX_CHANGES]


def _file_name(path: str, beside: str) -> str:
    """Return the name of a file; with its folder, if it is that of the other file, too."""
    parts = path.split("/")
    is_alike = parts[-1] == beside.rpartition("/")[2]
    return one_line("/".join(parts[-2:] if is_alike else parts[-1:]), 60)


def users_of(repository: "Repository", node: str) -> tuple[Edge, ...]:
    """Return calls of a callable, or direct uses of another node: code first, then by confidence."""
    if _kind_of_node(repository, node) in CALLABLE_KINDS:
        edges = repository.callers(node)
    else:
        edges = tuple(each.edge for each in repository.impact(node, max_depth=1))
    return tuple(sorted(edges, key=lambda e: (is_test(repository, e.source), -e.confidence, e.source, e.kind)))


def user_locations(shown: DocumentView, node: str) -> list[types.Location]:
    """Return the first location of each user of a node."""
    locations = []
    for edge in users_of(shown.repository, node):
        for place in _use_ranges(shown, edge)[:1]:
            locations.append(types.Location(shown.uri(split_id(edge.source)[0]), place))
    return locations


def test_locations(shown: DocumentView, node: str) -> list[types.Location]:
    """Return the probable tests of a node, the most probable first."""
    locations = [definition_location(shown, each.node) for each in shown.repository.tests(node)]
    return [each for each in locations if each is not None]


def companion_locations(shown: DocumentView, node: str) -> list[types.Location]:
    """Return the files that most probably change with a file."""
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    return [types.Location(shown.uri(each.file), start) for each in changing_files(shown.repository, node)]


def build_hover(shown: DocumentView, node: str, place: types.Range, *, markdown: bool) -> types.Hover:
    """Return signature, documentation and use counts of a definition."""
    repository = shown.repository
    definition = repository.show(node)
    hit = definition.hit
    edges = users_of(repository, node)
    n_tests = sum(is_test(repository, edge.source) for edge in edges)
    is_callable = hit.kind in _CALLABLE
    facts = [
        hit.kind,
        f"{'called' if is_callable else 'used'} by {len(edges)}" + (f" ({n_tests} in tests)" if n_tests else ""),
        *([f"calls {definition.n_callees}"] if is_callable else []),
        *([f"layer {hit.layer}"] if hit.layer else []),
        *([f"{hit.tier}: used by {definition.fan_in} in all"] if hit.tier in ("hot", "core") else []),
    ]
    signature = one_line(hit.signature, _SIGNATURE_CHARACTERS) or display_name(node)
    doc = one_line(hit.doc, _DOC_CHARACTERS)
    unread = unread_note(shown, node)
    if markdown:
        fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(signature)), default=0))
        parts = [
            f"{fence}{dialect_of(hit.path)}\n{signature}\n{fence}",
            markdown_text(doc),
            f"Causalist: {' · '.join(facts)}",
        ]
        parts.append(markdown_text(unread))
        content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(part for part in parts if part))
    else:
        parts = [signature, doc, f"Causalist: {' · '.join(facts)}", unread]
        content = types.MarkupContent(types.MarkupKind.PlainText, "\n".join(part for part in parts if part))
    return types.Hover(content, place)


def unread_note(shown: DocumentView, node: str) -> str:
    """Return a note on files that were not read and may use a node; "" if there are none."""
    from causalist.index.source_text import describe_unread

    return describe_unread(shown.repository.unread(node))


def call_item(shown: DocumentView, node: str) -> types.CallHierarchyItem | None:
    """Return a node of the call hierarchy; None for an external node."""
    hit = _hit_of_node(shown.repository, node)
    if not hit.path:
        return None
    whole, name = shown.location(hit, shown.text(hit.path))
    return types.CallHierarchyItem(
        name=one_line(display_name(node), 200),
        kind=SYMBOL_KINDS[_KINDS[hit.kind]],
        uri=shown.uri(hit.path),
        range=_enclosing_range(whole, name),
        selection_range=name,
        detail=one_line(_container(hit), 200),
        data={"node": node},
    )


def incoming_calls(shown: DocumentView, node: str) -> list[types.CallHierarchyIncomingCall]:
    """Return the callers of a node: code first, then by confidence.

    One entry holds all call sites of a caller, which may call several classes with one constructor.
    """
    edges: dict[str, list[Edge]] = {}
    for edge in users_of(shown.repository, node):
        edges.setdefault(edge.source, []).append(edge)
    calls = []
    for source, own in edges.items():
        item = call_item(shown, source)
        if item is not None:
            places = [place for edge in own for place in _use_ranges(shown, edge)]
            calls.append(types.CallHierarchyIncomingCall(item, places))
    return calls


def outgoing_calls(shown: DocumentView, node: str) -> list[types.CallHierarchyOutgoingCall]:
    """Return the callees of a node inside the repository, by confidence."""
    calls = []
    for edge in shown.repository.callees(node):
        item = call_item(shown, edge.target)
        if item is not None:
            calls.append(types.CallHierarchyOutgoingCall(item, _use_ranges(shown, edge)))
    return calls


def definition_location(shown: DocumentView, node: str) -> types.Location | None:
    """Return the location of a definition, or None for an external node."""
    item = call_item(shown, node)
    return None if item is None else types.Location(item.uri, item.selection_range)


def is_test(repository: "Repository", node: str) -> bool:
    """Return True if a node is in a test file."""
    nodes = repository.index.graph.nodes
    return bool(nodes.roles[nodes.ids.position(node)] == Role.TEST)


def _use_ranges(shown: DocumentView, edge: Edge) -> list[types.Range]:
    """Return the ranges in which the source of an edge names its target."""
    source = _hit_of_node(shown.repository, edge.source)
    text = shown.text(source.path)
    line = (edge.line or source.start_row + 1) - 1
    if text is None:
        return [types.Range(types.Position(line, 0), types.Position(line, 0))]
    whole, _ = shown.location(source, text)
    end = len(text.data) if source.kind == NodeKind.FILE.label else text.byte(whole.end)
    return use_ranges(text, line, edge.n, edge.target, end)


def _hit_of_node(repository: "Repository", node: str) -> Hit:
    from causalist.extract import hit_of

    graph = repository.index.graph
    return hit_of(graph, repository.resolve(node), 0.0, 0.0, ())


def _kind_of_node(repository: "Repository", node: str) -> NodeKind:
    graph = repository.index.graph
    return graph.kind(graph.nodes.ids.position(node))


def _container(hit: Hit) -> str:
    """Return the path and the enclosing definition."""
    outer = (hit.symbol or "").rpartition(".")[0]
    return f"{hit.path} · {outer}" if outer else hit.path


def _title(hit: Hit) -> str:
    return hit.signature or hit.id.rpartition("#")[2] if "#" in hit.id else hit.path.rpartition("/")[2]


def _enclosing_range(whole: types.Range, name: types.Range) -> types.Range:
    """Return a range that includes the name, as the protocol requires."""
    start = min(whole.start, name.start, key=lambda p: (p.line, p.character))
    end = max(whole.end, name.end, key=lambda p: (p.line, p.character))
    return types.Range(start, end)


_MAX_AFFECTED = 200
_CONTEXT_TOKENS = 4000
# Parameters that name the subject or belong to the protocol; all others are options.
_PLACES = ("uri", "textDocument", "position", "workDoneToken", "partialResultToken")


def ask_document(shown: DocumentView, params: Mapping[str, Any]) -> dict[str, object]:
    """Return the answer to `question`; all other parameters are options of `ask`."""
    question = read_question(params)
    answer = shown.repository.ask(question, _options(shown, params))
    document = answer_document(answer)
    return {**document, "notes": [shown.note]} if shown.note else document


def context_document(shown: DocumentView, params: Mapping[str, Any]) -> dict[str, object]:
    """Return prompt text: the pack of `question`, or a definition with its users and callees."""
    if "question" in params:
        answer = shown.repository.ask(read_question(params), _options(shown, params))
        pack = answer.pack
        most = pack.max_tokens if pack else None
        return {"node": None, "text": pack.text if pack else "", "max_tokens": most, "notes": _notes(shown)}
    node = _node(shown, params)
    most = params.get("max_tokens", _CONTEXT_TOKENS)
    if isinstance(most, bool) or not isinstance(most, int) or not 200 <= most <= 100_000:
        raise UsageError(f"max_tokens must be an integer from 200 to 100,000, not {most!r}")
    text = symbol_text(shown.repository, node, most).text
    return {"node": node, "text": text, "max_tokens": most, "notes": _notes(shown)}


def impact_answer(shown: DocumentView, params: Mapping[str, Any]) -> dict[str, object]:
    """Return the document of `impact --json` for a node or position, with the location of each node."""
    node = _node(shown, params)
    depth, confidence = _limits(params)
    affected = shown.repository.impact(node, max_depth=depth, min_confidence=confidence)
    nearest = affected[:_MAX_AFFECTED]
    places = _places_of(shown, [each.node for each in nearest])
    mentions = [each for each in shown.repository.documentation(node) if each.confidence >= confidence]
    together = shown.repository.changes_with(node, affected=affected)[:_MAX_AFFECTED]
    document = impact_document([node], [], len(affected), nearest, mentions[:_MAX_AFFECTED], together)
    return {**document, "places": places, "notes": _notes(shown, shown.repository.describe_missing_history())}


def review_answer(shown: DocumentView, params: Mapping[str, Any]) -> dict[str, object]:
    """Return the document of `review --json` of the files as the editor shows them, with the location of each node.

    `staged` takes what is staged instead. Lists of users and tests have at most `limit` rows.
    """
    depth, confidence = _limits(params)
    staged, limit = params.get("staged", False), params.get("limit", _MAX_AFFECTED)
    if not isinstance(staged, bool):
        raise UsageError(f"staged must be true or false, not {staged!r}")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MAX_AFFECTED:
        raise UsageError(f"limit must be an integer from 1 to {_MAX_AFFECTED}, not {limit!r}")
    review, after = shown.repository.review(staged=staged, max_depth=depth, min_confidence=confidence)
    there = shown if after is shown.repository else shown._replace(repository=after)
    document = review_document(review, limit, limit)
    users = [each.node for each in (*review.affected[:limit], *review.tests[:limit])]
    places = _places_of(there, [*(each.node for each in review.definitions), *users])
    return {**document, "places": places, "notes": _notes(shown, *review.notes)}


def _limits(params: Mapping[str, Any]) -> tuple[int | None, float]:
    """Return the maximum depth and the minimum confidence in `params`. Raises UsageError."""
    depth, confidence = params.get("max_depth"), params.get("min_confidence", 0.0)
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int)):
        raise UsageError(f"max_depth must be an integer or omitted, not {depth!r}")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise UsageError(f"min_confidence must be between 0 and 1, not {confidence!r}")
    return depth, confidence


def _places_of(shown: DocumentView, nodes: Iterable[str]) -> dict[str, object]:
    """Return the location of each of the nodes that the index has."""
    ids, places = shown.repository.index.graph.nodes.ids, dict[str, object]()
    for node in dict.fromkeys(nodes):
        item = call_item(shown, node) if ids.position(node) >= 0 else None
        if item is not None:
            places[node] = {"uri": item.uri, "range": _range(item.selection_range)}
    return places


def _notes(shown: DocumentView, *more: str) -> list[str]:
    """Return what an answer may lack, in sentences."""
    return [each for each in (shown.note, *more) if each]


def _options(shown: DocumentView, params: Mapping[str, Any]) -> AskOptions:
    """Return the options in `params`, and the repository's settings for the others. Raises UsageError."""
    return read_options(
        shown.repository.settings.ask_options(),
        {name: value for name, value in params.items() if name not in (*_PLACES, "question")},
    )


def _node(shown: DocumentView, params: Mapping[str, Any]) -> str:
    """Return the id of the node in `params`. Raises UnknownNode, AmbiguousNode and UsageError.

    At a position it is what is named there, or else the definition around it.
    """
    ids = shown.repository.index.graph.nodes.ids
    if isinstance(params.get("node"), str):
        return ids[shown.repository.resolve(params["node"])]
    position, document = params.get("position"), params.get("textDocument")
    try:
        at = types.Position(int(position["line"]), int(position["character"]))  # type: ignore[index]
        uri = str(document["uri"])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        raise UsageError("the request must have a question, a node, or a textDocument and a position") from None
    path = shown.path(uri)
    text = shown.text(path) if path is not None else None
    if path is None or text is None:
        raise UnknownNode(f"{uri} is not indexed")
    node_and_span = shown.places.node_at(shown.repository, path, text, at)
    if node_and_span is not None:
        return node_and_span[0]
    around = shown.places.node_around(shown.repository, path, text, at.line)
    if around is None:
        raise UnknownNode("no known definition or use is at this position. Move it into a definition, or to a use.")
    return around


def _range(place: types.Range) -> dict[str, object]:
    return {
        "start": {"line": place.start.line, "character": place.start.character},
        "end": {"line": place.end.line, "character": place.end.character},
    }
