"""Tools that `--tools all` adds: look-ups of the command line, reviews, and search in the document memory.

Look-ups return lists of ids, which the next call accepts, escaped and within their budget. A review has sections in
the order of what a reviewer acts on, ids, and counts of what is left out. It shows no source code: a client that asks
for a review has the change. `memory_search_graph`, `hipporag_retrieve` and `get_entity_neighborhood` read the memory
that `causalist memory add` keeps for the repository, as far as everyone, or a reader of the server, may see it;
`memory_update` changes it. A changed memory file is read again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from causalist._internal.text_formatting import count_noun, middle_cut, neutralize, one_line
from causalist.errors import RepositoryNotFound, UnreadNode, UsageError
from causalist.model.answer import MemoryMode, RetrievalMode
from causalist.model.lookup import Affected
from causalist.pack import count_tokens
from causalist.servers.mcp.tools import (
    MAX_CHARACTERS,
    Arguments,
    Parameter,
    Tool,
    budget_parameter,
    find_name_unindexed,
    name_parameter,
)
from causalist.servers.text_answers import Reply, format_node, truncate_to_budget

if TYPE_CHECKING:
    from causalist.memory import HippoIndex, MemoryPipeline
    from causalist.memory.document_sync import MemoryFile
    from causalist.model.graph import Edge
    from causalist.pipeline.repository import Repository
    from causalist.review.report import Review


_MAX_ROWS = 40  # of one section
_MAX_MISSING = 5
_PLACE_CHARACTERS = 300
_WHY_CHARACTERS = 200
_KINDS = ("signature", "removed", "moved", "body", "added")


def review_text(repository: "Repository", revision: str | None, max_tokens: int) -> Reply:
    """Return the review of the files as they are against HEAD, or of a commit or range. Raises GitError."""
    if revision is None:
        review, _ = repository.review()
    else:
        review, _ = repository.review_revision(repository.root, revision)
    if not review.files:
        return Reply("nothing changed\n")
    notes = "".join(f"note: {one_line(note, 300)}\n" for note in review.notes)
    n_files, n_definitions = len(review.files), len(review.definitions)
    text = f"{notes}{count_noun(n_files, 'file')} changed, {count_noun(n_definitions, 'definition')}\n"
    for title, rows in _list_sections(review):
        text += _fit_section(title, rows, max_tokens - count_tokens(text))
    reached = [each.node for each in (*review.tests, *review.affected)]
    nodes = dict.fromkeys([*(each.node for each in review.definitions), *reached])
    return Reply(truncate_to_budget(text, max_tokens), list(nodes))


def _list_sections(review: "Review") -> list[tuple[str, list[str]]]:
    def place(path: str, line: int) -> str:
        return f"{middle_cut(path, _PLACE_CHARACTERS)}:{line}"

    def users(affected: Sequence[Affected]) -> list[str]:
        return [f"{each.probability:.2f} {format_node(each.node)}" for each in affected]

    why = _WHY_CHARACTERS
    broken = [f"{place(e.path, e.line)} calls {format_node(e.target)}: {one_line(e.why, why)}" for e in review.broken]
    rules = [f"{place(e.path, e.line)} uses {format_node(e.target)}: {one_line(e.rule, why)}" for e in review.layers]
    missing = [
        f"{format_node(e.file)}  {e.probability:.2f}, {e.n_both} of {e.n_commits} commits of {format_node(e.changed)}"
        for e in review.missing[:_MAX_MISSING]
    ]
    return [
        ("calls that no longer fit", broken),
        ("layer rules broken", rules),
        ("lines that look like secrets", [place(each.path, each.line) for each in review.secrets]),
        ("usually changes too, and did not", missing),
        *((_title(kind), [format_node(e.node) for e in review.definitions if e.kind == kind]) for kind in _KINDS),
        ("tests to run, the most probable first", users(review.tests)),
        ("users that may run what changed", users(review.affected)),
    ]


def _title(kind: str) -> str:
    return {"signature": "changed in signature", "body": "changed in body", "moved": "moved or renamed"}.get(kind, kind)


def _fit_section(title: str, rows: Sequence[str], room: int) -> str:
    """Return the rows that fit, and the number of the others; no section takes more than half of the room."""
    if not rows:
        return ""
    head = f"{title} ({len(rows)}):\n"
    tokens_left, kept = room // 2 - count_tokens(head) - 8, list[str]()
    for row in rows[:_MAX_ROWS]:
        tokens_left -= count_tokens(row) + 3
        if tokens_left < 0:
            break
        kept.append(f"  {row}\n")
    rest = len(rows) - len(kept)
    return head + "".join(kept) + (f"  and {rest} more\n" if rest else "")


_MAX_CALLS = 10
_MAX_CUTS = 3  # of a cycle
_MAX_PROBLEMS = 3  # of data files


def _find(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.index.source_text import describe_unread
    from causalist.servers.text_answers import format_node

    hits = repository.find(arguments["name"], limit=arguments["limit"])
    note = ""
    if not any((hit.symbol or "").rpartition(".")[2] == arguments["name"] for hit in hits):
        note = describe_unread(repository.unread_words(arguments["name"]), "define")
        note = f"{neutralize(note)}\n" if note else ""
    if not hits:
        return Reply(f"{note}no node has a name like {arguments['name']!r}; `ask` searches by topic\n")
    lines = [f"{format_node(hit.id)}  {hit.kind}, line {hit.start_row + 1}" for hit in hits]
    return Reply(note + "\n".join(lines) + "\n", [hit.id for hit in hits])


def _map(repository: "Repository", arguments: Arguments) -> Reply:
    return Reply(repository.map(max_tokens=arguments["max_tokens"]).text)


def _tests(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import (
        format_node,
        format_unread,
        list_by_depth,
        resolve_names,
        truncate_to_budget,
    )

    nodes, note = resolve_names(repository, arguments["name"])
    named = ", ".join(map(format_node, nodes))
    note += format_unread(repository, *nodes)
    choice = repository.choose_tests(*nodes, max_depth=arguments["max_depth"])
    probable = choice.tests[: choice.n_probable]
    for problem in choice.problems[:_MAX_PROBLEMS]:
        note += f"note: {one_line(problem, 300)}\n"
    if choice.coverage is not None:
        from causalist.navigate.coverage import describe_coverage

        note += f"{one_line(describe_coverage(choice.coverage), 300)}\n"
    if not probable:
        return Reply(
            truncate_to_budget(f"{note}no test is known to reach {named}\n", arguments["max_tokens"]), [*nodes]
        )
    n_less = len(choice.tests) - len(probable)
    n_tests = f"{len(probable)} test{'s'[: len(probable) != 1]}"
    less = f", and {n_less} less probable" if n_less else ""
    head = f"{note}{n_tests} of {named}, the most probable first{less}\n"
    return Reply(list_by_depth(head, probable, arguments["max_tokens"]), [each.node for each in probable])


def _review(repository: "Repository", arguments: Arguments) -> Reply:

    return review_text(repository, arguments["revision"], arguments["max_tokens"])


def _state(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import format_node, format_unread, resolve_name, truncate_to_budget

    node, note = resolve_name(repository, arguments["name"])
    note += format_unread(repository, node)
    writers, readers = repository.writers(node), repository.readers(node)
    if not writers and not readers:
        return Reply(
            truncate_to_budget(
                f"{note}nothing is known that reads or writes {format_node(node)}\n", arguments["max_tokens"]
            )
        )
    written = f"written by {len(writers)}:\n{_format_sources(writers)}"
    text = f"{note}{written}read by {len(readers)}:\n{_format_sources(readers)}"
    nodes = dict.fromkeys(edge.source for edge in (*writers, *readers))
    return Reply(truncate_to_budget(text, arguments["max_tokens"]), [node, *nodes])


def _neighbors(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import format_node, format_sighting, resolve_name, truncate_to_budget

    node, note = resolve_name(repository, arguments["name"])
    groups = repository.neighbors(node, hops=arguments["hops"])
    parts, nodes = [note], {node: None}
    for group in groups:
        away = "" if group.hop == 1 else f", {group.hop} steps away"
        parts.append(f"{'used by' if group.direction == 'in' else 'uses'}, {group.kind} ({group.n}){away}:\n")
        for edge in group.edges:
            other = edge.source if group.direction == "in" else edge.target
            nodes[other] = None
            via = f"  from {format_node(edge.source)}" if group.hop > 1 and group.direction != "in" else ""
            parts.append(f"  {format_node(other)}{via}, {edge.confidence:.2g}{format_sighting(edge)}\n")
    text = "".join(parts) if groups else f"{note}{format_node(node)} is linked with nothing\n"
    return Reply(truncate_to_budget(text, arguments["max_tokens"]), list(nodes))


def _verify(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist._internal.text_formatting import one_line
    from causalist.servers.text_answers import format_node, format_sighting, resolve_name, truncate_to_budget

    start, note, end, other = arguments["name"], "", arguments["to"], ""
    try:
        (start, note), (end, other) = resolve_name(repository, start), resolve_name(repository, end)
    except UnreadNode as error:
        note = f"note: {one_line(str(error), 300)}\n"
    verdict = repository.verify(start, end)
    lines = [f"{note}{other}{verdict.known.value}: {format_node(start)} -> {format_node(end)} ({verdict.reason.value})"]
    for edge, line in zip(verdict.edges[:_MAX_CALLS], verdict.lines, strict=False):
        evidence = f"{edge.rule} {edge.confidence:.2g}{format_sighting(edge)}"
        lines.append(f"  line {edge.line}, {edge.kind}, {evidence}: `{one_line(line, 200)}`")
    lines += [f"  line {site.line}: {one_line(site.callee, 100)}(…)" for site in verdict.sites[:_MAX_CALLS]]
    if verdict.known != "yes" and verdict.calls:
        lines.append("  it is known to call " + ", ".join(format_node(e.target) for e in verdict.calls[:_MAX_CALLS]))
    return Reply(truncate_to_budget("\n".join(lines) + "\n", arguments["max_tokens"]), [start, end])


def _layers(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import format_node, truncate_to_budget

    layering = repository.layers()
    lines = [f"{size.layer}: {size.n_files} files, {size.n_definitions} definitions" for size in layering.sizes]
    lines.append(
        f"{len(layering.back_edges)} uses lead from a lower layer to a higher one" + ":"[: bool(layering.back_edges)]
    )
    for each in layering.back_edges:
        edge = each.edge
        lines.append(
            f"  {each.source_layer} -> {each.target_layer}: "
            f"{format_node(edge.source)} {edge.kind} {format_node(edge.target)}"
        )
    nodes = dict.fromkeys(each.edge.source for each in layering.back_edges)
    return Reply(truncate_to_budget("\n".join(lines) + "\n", arguments["max_tokens"]), list(nodes))


def _order(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import format_node, truncate_to_budget

    names = arguments["names"].replace(",", " ").split() if arguments["names"] else ()
    order = repository.topo(*names, revision=arguments["revision"])
    text = "".join(f"note: {one_line(note, 300)}\n" for note in order.notes)
    text += f"{count_noun(len(order.items), order.level.value)}, dependencies first\n" if order.items else ""
    cycle = None
    for item in order.items:
        if item.cycle is not None and item.cycle != cycle:
            members = order.cycles[item.cycle]
            cuts = [f"{format_node(cut.source)} -> {format_node(cut.target)}" for cut in members.cuts[:_MAX_CUTS]]
            text += f"cycle of {len(members.members)}, cheapest to cut: {', '.join(cuts)}\n"
        cycle = item.cycle
        text += f"{'  | ' if item.cycle is not None else '  '}{format_node(item.node)}\n"
    if not order.items:
        text += "the set has nothing to order\n"
    return Reply(truncate_to_budget(text, arguments["max_tokens"]), [item.node for item in order.items])


def _similar(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import format_node, resolve_name, truncate_to_budget

    node, note = resolve_name(repository, arguments["name"])
    pairs = repository.similar(node)
    if not pairs:
        return Reply(f"{note}no near-duplicate of {format_node(node)} is known\n", [node])
    lines = [f"{note}{count_noun(len(pairs), 'near-duplicate')} of {format_node(node)}\n"]
    for pair in pairs:
        differs = f"; {one_line(pair.differences[0], 200)}" if pair.differences else ""
        like = f"{pair.similarity:.2f} {pair.likeness}, merge {pair.probability:.2f}"
        place = f"{format_node(pair.other.node)}, lines {pair.other.start_line}-{pair.other.end_line}"
        lines.append(f"  {like}  {place}{differs}\n")
    nodes = [node, *(pair.other.node for pair in pairs)]
    return Reply(truncate_to_budget("".join(lines), arguments["max_tokens"]), nodes)


def _status(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.serialize.answers import status_lines
    from causalist.servers.text_answers import truncate_to_budget

    more = "; `causalist status --json` lists all"
    evidence = repository.observed_status(), repository.proven_status()
    lines = status_lines(repository.status(), repository.index_status(), evidence, is_refreshed=False, more_notes=more)
    return Reply(truncate_to_budget("\n".join(lines) + "\n", arguments["max_tokens"]))


def _format_sources(edges: "Iterable[Edge]") -> str:

    from causalist.servers.text_answers import format_node

    return "".join(f"  {format_node(edge.source)}, line {edge.line}, {edge.confidence:.2g}\n" for edge in edges)


_ANY = "Name as in symbol."
_SEVERAL = "Name as in symbol; several with commas."

MORE_TOOLS: Mapping[str, Tool] = {
    "find": Tool(
        "Find a name",
        "Finds definitions by a name or a part of one, if you know roughly how it is spelled, not where it is.",
        {
            "name": name_parameter("All or a part.", required=True),
            "limit": Parameter(int, "Most names.", 1, 100, 20),
        },
        _find,
        partial(find_name_unindexed, _find),
    ),
    "map": Tool(
        "Overview of the repository",
        "A one-page overview of the repository: its parts, entry points, most used definitions.",
        {"max_tokens": budget_parameter(2000)},
        _map,
    ),
    "tests": Tool(
        "Which tests cover it",
        "Lists tests that cover a definition or file, also through others: what to run after an edit.",
        {
            "name": name_parameter(_SEVERAL, required=True),
            "max_depth": Parameter(int, "Most steps; default all.", 1, 100),
            "max_tokens": budget_parameter(2000),
        },
        _tests,
    ),
    "review": Tool(
        "Review of a change",
        "Reviews a diff: changed definitions, calls that it breaks, forgotten files, tests to run. Call after edits.",
        {
            "revision": Parameter(str, "Commit or range A..B; default the working tree.", 1, 200),
            "max_tokens": budget_parameter(2000),
        },
        _review,
    ),
    "state": Tool(
        "Who reads and writes a value",
        "Lists what reads and what writes (sets, mutates) a field, constant or variable.",
        {
            "name": name_parameter("Field, constant, or what contains some.", required=True),
            "max_tokens": budget_parameter(2000),
        },
        _state,
    ),
    "neighbors": Tool(
        "Everything linked with a node",
        "Lists every kind of link around a definition or file: imports, subclasses, overrides, references, mentions.",
        {
            "name": name_parameter(_ANY, required=True),
            "hops": Parameter(int, "Steps away.", 1, 3, 1),
            "max_tokens": budget_parameter(2000),
        },
        _neighbors,
    ),
    "verify": Tool(
        "Check one claim of use",
        "Answers yes, no or unknown: does one definition use another? Shows the line that proves it.",
        {
            "name": name_parameter("What may use the other.", required=True),
            "to": name_parameter("What may be used.", required=True),
            "max_tokens": budget_parameter(1000),
        },
        _verify,
    ),
    "layers": Tool(
        "Architecture layers",
        "Shows the layers of the architecture, from ui to infra, and violations: lower using higher ones.",
        {"max_tokens": budget_parameter(2000)},
        _layers,
    ),
    "topo": Tool(
        "Order of dependencies",
        "Orders files or definitions, dependencies first: what to read, port or change first; names "
        "circular imports and cuts.",
        {
            "names": Parameter(str, "Folders, patterns, files, names; default all.", 1, MAX_CHARACTERS),
            "revision": Parameter(str, "Only what changed since a commit, or in A..B.", 1, 200),
            "max_tokens": budget_parameter(2000),
        },
        _order,
    ),
    "similar": Tool(
        "Near-duplicates",
        "Lists near-duplicates of a definition: code to change alike or merge, or written already.",
        {"name": name_parameter(_ANY, required=True), "max_tokens": budget_parameter(1000)},
        _similar,
    ),
    "status": Tool(
        "State of the index",
        "Says what is indexed: commit, languages, what was left out and why.",
        {"max_tokens": budget_parameter(1000)},
        _status,
    ),
}


_MAX_TOKENS = 4_000  # of an answer
_MAX_NEIGHBORS = 100
_MAX_NOTE_CHARACTERS = 100_000
_MAX_PASSAGE_CHARACTERS = 3_200  # characters of a passage that are shown


@dataclass(frozen=True, slots=True)
class Flag(Parameter):
    """Boolean parameter; `default` is 1 or 0."""

    def schema(self) -> dict[str, object]:
        """Return the parameter as JSON Schema."""
        return {"type": "boolean", "description": self.description, "default": bool(self.default)}

    def read(self, name: str, value: object) -> object:
        """Return `value` if it is a boolean. Raises UsageError."""
        if not isinstance(value, bool):
            raise UsageError(f"{name} must be true or false, not {str(value)[:80]!r}")
        return value


@dataclass(frozen=True, slots=True)
class Choice(Parameter):
    """Parameter with one of `choices` as its value."""

    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, object]:
        """Return the parameter as JSON Schema."""
        return {"type": "string", "description": self.description, "enum": list(self.choices)}

    def read(self, name: str, value: object) -> object:
        """Return `value` if it is one of the choices. Raises UsageError."""
        if value not in self.choices:
            raise UsageError(f"{name} must be one of {', '.join(self.choices)}, not {str(value)[:80]!r}")
        return value


class HasRoot(Protocol):
    """A repository, with its index or without."""

    @property
    def root(self) -> Path:
        """Folder of the repository."""


class _PipelineCache:
    """Cache of the pipeline of the last memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: tuple[Path, tuple[tuple[int, int], ...], MemoryPipeline] | None = None

    def get(self, repository: "HasRoot") -> "MemoryPipeline":
        """Return the pipeline of a repository's memory. Raises IndexUnreadable without one."""
        from causalist.memory.document_sync import MemoryFile

        memory_file = MemoryFile.locate(None, repository.root)
        files = (memory_file.path, memory_file.feedback_path, *(memory_file.base / name for name in _SETTINGS_FILES))
        with self._lock:
            state = tuple(map(_file_state, files))
            if self._known is None or self._known[:2] != (memory_file.path, state):
                pipeline = memory_file.open_pipeline(embedder=memory_file.default_embedder())
                self._known = (memory_file.path, state, pipeline)
            return self._known[2]


_SETTINGS_FILES = ("causalist.toml", "pyproject.toml")


def _file_state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


_pipelines = _PipelineCache()


def _search(repository: "HasRoot", arguments: Arguments) -> str:
    index: HippoIndex = _pipelines.get(repository).index
    query, top_k, readers = arguments["query"], arguments["limit"], _readers(arguments)
    mode = arguments["mode"] or (RetrievalMode.HIPPO if arguments["use_graph"] else RetrievalMode.HYBRID)
    if arguments["hops"]:
        if mode != RetrievalMode.HIPPO:
            raise UsageError("hops needs mode hippo, and use_graph")
        passages = index.retrieve_multi_hop(query, max_hops=arguments["hops"], top_k=top_k, readers=readers)
    else:
        passages = index.retrieve(query, mode=mode, top_k=top_k, readers=readers)
    rows = []
    for each in passages:
        disputed = _format_disputed(each.superseded_by, each.contradicted_by)
        rows.append((each.passage_id, each.text, each.metadata, disputed + ", ".join(each.entity_hits[:5])))
    return _format_passages(rows, query, "")


def _retrieve(repository: "HasRoot", arguments: Arguments) -> str:
    from causalist.memory.conflicts_and_confidence import ValidationSettings

    validation = ValidationSettings(
        half_life_days=arguments["half_life"],
        now=arguments["now"],
        reader=_readers(arguments),
        min_confidence=arguments["min_confidence"],
    )
    pipeline = _pipelines.get(repository).with_validation(validation)
    answer = pipeline.run(arguments["query"], arguments["mode"] or MemoryMode.EXECUTION)
    rows = []
    for hit in answer.hits[: arguments["limit"]]:
        others = [c.kept for c in answer.conflicts if c.against == hit.passage_id and c.reason != "supersedes"]
        against = _format_disputed(hit.superseded_by, others)
        sure = f"{against}relevant with {hit.posterior.mean:.0%} ({hit.posterior.low:.0%} to {hit.posterior.high:.0%})"
        rows.append((hit.passage_id, hit.text, hit.metadata, sure))
    calibration = "" if answer.is_calibrated else ", not calibrated by feedback"
    partial = "; nothing likely was found in three attempts" if answer.is_partial else ""
    return _format_passages(
        rows, arguments["query"], f"retrieval_confidence {answer.retrieval_confidence:.2f}{calibration}{partial}"
    )


def _readers(arguments: Arguments) -> tuple[str, ...]:
    """Return the readers of the server."""
    return tuple(arguments.get("readers", ()))


def _format_disputed(superseded_by: Sequence[str], contradicted_by: Sequence[str]) -> str:
    replaced = f"superseded by {', '.join(superseded_by)}; " if superseded_by else ""
    return replaced + (f"contradicted by {', '.join(contradicted_by)}; " if contradicted_by else "")


def _show_neighborhood(repository: "HasRoot", arguments: Arguments) -> str:
    index = _pipelines.get(repository).index.visible_to(_readers(arguments))
    info = index.entity(arguments["entity_id"])
    lines = [f"{one_line(info.name, 200)}  {info.type}, in {count_noun(len(info.passages), 'passage')}: "
             f"{one_line(', '.join(info.passages[:10]), 600)}\n"]  # fmt: skip
    if info.senses:
        lines.append(f"senses: {', '.join(info.senses)}\n")
    for each in index.entity_neighborhood(arguments["entity_id"], arguments["hops"]):
        lines.append(f"{one_line(each.entity, 200)}  {count_noun(each.hops, 'hop')}, {', '.join(each.kinds)}\n")
    shown = lines[:_MAX_NEIGHBORS]
    return "".join(shown) + (f"and {len(lines) - len(shown)} more\n" if len(lines) > len(shown) else "")


def _update_memory(repository: "HasRoot", arguments: Arguments) -> str:
    from causalist.memory.conflicts_and_confidence import ValidationSettings
    from causalist.memory.document_sync import MemoryFile
    from causalist.memory.document_text import front_matter, read_front_matter

    memory_file, readers = MemoryFile.locate(None, repository.root), _readers(arguments)
    action, passage, text = (arguments[name] for name in ("action", "passage_id", "text"))
    if action == "status":
        status = memory_file.status(readers=readers)
        shown = {k: len(v) if isinstance(v, list | dict) else v for k, v in status.items()}
        return "".join(f"{name}: {one_line(str(value), 300)}\n" for name, value in shown.items())
    if action == "export":
        return _export(memory_file, _pipelines.get(repository).index.visible_to(readers))
    if passage is None or (text is None and action == "feedback"):
        raise UsageError(f"{action} needs passage_id{' and text' if action == 'feedback' else ''}")
    if action == "forget":
        return f"{count_noun(len(memory_file.remove([passage], readers=readers)), 'passage')} removed\n"
    if text is None:
        return _add_documents(memory_file, passage)
    if action == "feedback":
        pipeline = _pipelines.get(repository).with_validation(ValidationSettings(reader=readers))
        for mode in MemoryMode:  # from the narrowest: the call does not say which one was asked
            answer = pipeline.run(text, mode=mode)
            if passage in {hit.passage_id for hit in answer.hits}:
                pipeline.feedback(answer.answer_id, [passage])
                return f"{count_noun(len(pipeline.store.rows), 'answer')} with feedback\n"
        raise UsageError(f"the answer to text has no passage {passage!r}")
    if memory_file.path.exists():
        index = memory_file.open()
        if passage in index and "path" in index.passage(passage)[1]:
            raise UsageError(f"{passage!r} belongs to a document; edit the document, or use another passage_id")
        if passage in index and passage not in index.visible_to(readers):
            raise UsageError(
                f"{passage!r} exists, and the readers of this server may not see it; use another passage_id"
            )
    note = text.removeprefix(front_matter(text)).lstrip("\n")
    return "remembered\n" if memory_file.put(passage, note, read_front_matter(text)) else "nothing changed\n"


def _export(memory_file: "MemoryFile", index: "HippoIndex") -> str:
    """Write the visible graph beside the memory: it is too long for an answer."""
    from causalist.memory.saved_memory import save_node_link

    path = memory_file.path.with_suffix(".json")
    save_node_link(path, index.to_node_link())
    return f"{count_noun(len(index), 'passage')} and their graph as node-link JSON are in {path}\n"


def _add_documents(memory_file: "MemoryFile", place: str) -> str:
    """Add a document or the documents of a folder, neither of which may be outside of the repository."""
    path = (memory_file.base / place).resolve()
    if not path.is_relative_to(memory_file.base.resolve()):
        raise UsageError(f"{place!r} is outside of the repository")
    try:
        done = memory_file.add([path])
    except RepositoryNotFound:
        raise UsageError(f"{place!r} is no document or folder; a note needs text") from None
    skipped = "".join(f"note: {one_line(name, 200)} is left out: {one_line(reason, 200)}\n"
                      for name, reason in sorted(done.skipped.items())[:_MAX_MISSING])  # fmt: skip
    return (f"{skipped}{done.documents} documents, {done.passages} passages: {done.changed} new or changed, "
            f"{done.removed} removed\n")  # fmt: skip


def _format_passages(rows: list[tuple[str, str, Mapping[str, Any], str]], query: str, note: str) -> str:
    """Return the passages that fit, in fences that their text cannot close."""
    from causalist.memory.documents import find_excerpt

    if not rows:
        return "nothing found: no passage of the memory contains a word or an entity of the query"
    parts = [f"note: {note}\n"] if note else []
    room = _MAX_TOKENS - sum(map(count_tokens, parts))
    for rank, (passage, text, metadata, why) in enumerate(rows, 1):
        line = next((f", {k} {metadata[k]}" for k in ("line", "page") if isinstance(metadata.get(k), int)), "")
        title = metadata.get("title")
        if isinstance(title, str) and not text.lstrip("#= \n").startswith(title):
            line += f", {one_line(title, 80)}"
        if len(text) > _MAX_PASSAGE_CHARACTERS:
            text = find_excerpt(text, query, length=_MAX_PASSAGE_CHARACTERS).text
        shown = neutralize(text)
        fence = "`" * max(3, 1 + max((len(run) for run in _backtick_runs(shown)), default=0))
        reason = f"  ({one_line(why, 200)})" if (why := why.rstrip("; ")) else ""
        part = f"{rank}. {one_line(passage, 200)}{line}{reason}\n{fence}\n{shown}\n{fence}\n"
        room -= count_tokens(part) + 1
        if room < 60:
            parts.append(f"and {len(rows) - rank + 1} more; ask for fewer with limit\n")
            break
        parts.append(part)
    return "".join(parts)


def _backtick_runs(text: str) -> list[str]:
    import re

    return re.findall(r"`+", text)


def _query_parameter() -> Parameter:
    return Parameter(str, "Names help.", 1, MAX_CHARACTERS, required=True)


_ACTIONS = ("add", "forget", "feedback", "status", "export")

MEMORY_TOOLS: Mapping[str, Tool] = {
    "memory_search_graph": Tool(
        "Search the documents",
        "Searches remembered notes, decisions and manuals by shared entities.",
        {
            "query": _query_parameter(),
            "limit": Parameter(int, "Passages.", 1, 50, 5),
            "use_graph": Flag(bool, "false: words alone.", 0, 1, 1),
            "mode": Choice(str, "Ranking.", 0, 0, choices=tuple(mode.value for mode in RetrievalMode)),
            "hops": Parameter(int, "Further hops.", 0, 10, 0),
        },
        _search,
        needs_index=False,
    ),
    "hipporag_retrieve": Tool(
        "Retrieve from memory",
        "Searches the same in six stages, with probabilities and contradictions.",
        {
            "query": _query_parameter(),
            "limit": Parameter(int, "Passages.", 1, 60, 5),
            "mode": Choice(str, "How broadly.", 0, 0, choices=tuple(mode.value for mode in MemoryMode)),
            "half_life": Parameter(float, "Days to half weight.", 0.001, 1e6),
            "now": Parameter(str, "Today's date.", 1, 40),
            "min_confidence": Parameter(float, "Of documents.", 0, 1, 0.0),
        },
        _retrieve,
        needs_index=False,
    ),
    "get_entity_neighborhood": Tool(
        "Neighbors of an entity",
        "Lists passages that name an entity, and near entities.",
        {
            "entity_id": Parameter(str, "Name or id.", 1, 200, required=True),
            "hops": Parameter(int, "Distance.", 1, 10, 1),
        },
        _show_neighborhood,
        needs_index=False,
    ),
    "memory_update": Tool(
        "Change the memory",
        "Adds a note or documents, forgets, exports, shows the state, or records which passage answered.",
        {
            "action": Choice(str, "What to do.", 0, 0, required=True, choices=_ACTIONS),
            "passage_id": Parameter(str, "Id; path of documents.", 1, 2_000),
            "text": Parameter(str, "Note, with front matter, or question.", 1, _MAX_NOTE_CHARACTERS),
        },
        _update_memory,
        is_writing=True,
        needs_index=False,
    ),
}
