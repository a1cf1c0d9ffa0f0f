"""JSON documents of `ask`, calls and `status`, the status as text, and queries of programs.

Lines are 1-based. Keys are never omitted: a value that does not apply is null. A query is plain JSON with the names of
the settings.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from causalist._internal.text_formatting import count_noun
from causalist.errors import CausalistError, UsageError
from causalist.model.answer import AskOptions, Route
from causalist.model.node_ids import split_id, unescape_path
from causalist.model.source import DiagnosticSlug

if TYPE_CHECKING:
    from causalist.model.answer import Answer, CacheUse, IndexStatus, Pack, RepositoryInfo, Status
    from causalist.model.graph import Edge
    from causalist.model.lookup import ObservedStatus, ProvenStatus
    from causalist.model.scores import Hit
    from causalist.model.source import Diagnostic

    Evidence: TypeAlias = tuple[ObservedStatus | None, ProvenStatus | None]

# 1: the first.
FORMAT_VERSION = 1
MAX_QUESTION_CHARACTERS = 20_000  # of a query: enough for a long issue with its traceback

Document: TypeAlias = dict[str, object]


def answer_document(answer: "Answer") -> Document:
    """Return the document of `ask --json`."""
    walk = answer.pagerank
    return {
        "format_version": FORMAT_VERSION,
        "answer_id": answer.answer_id,
        "query": answer.query,
        "route": answer.route.value,
        "confidence": answer.confidence,
        "sufficiency": answer.sufficiency,
        "attempts": answer.attempts,
        "repository": _repository(answer.repository),
        "pagerank": walk
        and {
            "iterations": walk.iterations,
            "residual": walk.residual,
            "damping": walk.damping,
            "rung": walk.outcome,
            "error_bound": walk.bound,
        },
        "results": [_result(rank, hit) for rank, hit in enumerate(answer.results, 1)],
        "edges": [edge_document(edge) for edge in answer.edges],
        "removed_edges": [edge_document(edge) for edge in answer.removed_edges],
        "order": list(answer.order),
        "diagnostics": _diagnostics(answer.diagnostics),
        "timings_ms": dict(answer.timings_ms),
        "generators": dict(answer.generators),
        "pack": answer.pack and _pack(answer.pack),
    }


def empty_answer_document(query: str, error: CausalistError) -> Document:
    """Return the document of `ask --json` for a folder without files to index."""
    return {
        "format_version": FORMAT_VERSION,
        "answer_id": None,
        "query": query,
        "route": None,
        "confidence": None,
        "sufficiency": None,
        "attempts": 0,
        "repository": None,
        "pagerank": None,
        "results": [],
        "edges": [],
        "removed_edges": [],
        "order": [],
        "diagnostics": [_diagnostic_of(error)],
        "timings_ms": {},
        "generators": {},
        "pack": None,
    }


def edge_document(edge: "Edge") -> Document:
    """Return an edge as in `ask`, `callers`, `callees` and `graph export --format jsonl`.

    `observed` is there only where runs say something of the edge, `proven` only where something broke with its target.
    """
    document: Document = {
        "source": edge.source,
        "target": edge.target,
        "kind": edge.kind,
        "rule": edge.rule,
        "confidence": edge.confidence,
        "line": edge.line,
        "n": edge.n,
    }
    if edge.observed is not None:
        document["observed"] = edge.observed._asdict()
    if edge.proven is not None:
        document["proven"] = edge.proven._asdict()
    return document


def calls_document(node: str, edges: "Iterable[Edge]") -> Document:
    """Return the document of `readers` and `writers`, and the first keys of `callers` and `callees`."""
    return {"format_version": FORMAT_VERSION, "node": node, "edges": [edge_document(edge) for edge in edges]}


def callees_document(node: str, edges: "Iterable[Edge]", overriding: "Mapping[str, Sequence[str]]") -> Document:
    """Return the document of `callees --json`. `overriding` has what may run in place of a callee."""
    return {**calls_document(node, edges), "overriding": {each: list(run) for each, run in overriding.items()}}


def callers_document(
    node: str,
    edges: "Iterable[Edge]",
    through: "Iterable[Edge]",
    references: "Iterable[Edge]",
    documentation: "Iterable[Edge]" = (),
) -> Document:
    """Return the document of `callers --json`.

    `through` are calls of methods that the node overrides and, for a special method, uses of its class. `references`
    are uses without a call, `documentation` mentions in prose.
    """
    return {
        **calls_document(node, edges),
        "through": [edge_document(edge) for edge in through],
        "references": [edge_document(edge) for edge in references],
        "documentation": [edge_document(edge) for edge in documentation],
    }


def status_document(
    status: "Status",
    diagnostics: "Iterable[Diagnostic]",
    stored: "IndexStatus | None" = None,
    evidence: "Evidence" = (None, None),
) -> Document:
    """Return the document of `status --json`; without `stored`, that of `index --json`.

    `evidence`: what runs saw, and what was proven.
    """
    observed, proven = evidence
    return {
        "format_version": FORMAT_VERSION,
        "repository": _repository(status.repository),
        "index_version": status.version,
        "learned_weights": status.learned,
        "languages": dict(status.languages),
        "skipped": dict(status.skipped),
        "examples": {reason: list(paths) for reason, paths in status.examples.items()},
        "aside": dict(status.aside),
        "aside_examples": {kind: list(paths) for kind, paths in status.aside_examples.items()},
        "notes": [
            {"path": note.path, "slug": note.slug, "detail": note.detail, "line": _line(note.row)}
            for note in status.notes
        ],
        "diagnostics": _diagnostics(diagnostics),
        "index": stored and _index_document(stored),
        "facts_cache": stored and stored.cache and _cache(stored.cache),
        "observed": observed
        and {
            "runs": len(observed.runs),
            "killed": len(observed.killed),
            "calls": observed.n_direct,
            "calls_through": observed.n_through,
            "stale": observed.n_stale,
            "tests": observed.n_tests,
        },
        "proven": proven
        and {
            "functions": proven.n_functions,
            "tests": proven.n_tests,
            "edges": proven.n_edges,
            "stale": proven.n_stale,
        },
    }


def _index_document(stored: "IndexStatus") -> Document:
    previous = stored.found
    return {
        "path": stored.path,
        "bytes": stored.n_bytes,
        "commit": stored.commit,
        "dirty_files": stored.n_dirty,
        "was_current": previous and not previous.reasons,
        "reasons": previous
        and [{"reason": each.reason, "detail": each.detail, "files": each.n_files} for each in previous.reasons],
    }


def _cache(cache: "CacheUse") -> Document:
    return {
        "path": cache.path,
        "bytes": cache.n_bytes,
        "entries": cache.n_entries,
        "max_bytes": cache.most_bytes,
    }


def unfinished_status_document(state: str) -> Document:
    """Return the document of `status --json` while a process builds the first index; `state` says how far it is."""
    return _status_without_index({"slug": DiagnosticSlug.PARTIAL, "detail": state, "line": None})


def empty_status_document(error: CausalistError) -> Document:
    """Return the document of `status --json` and `index --json` for a folder without files to index."""
    return _status_without_index(_diagnostic_of(error))


def _status_without_index(diagnostic: Document) -> Document:
    return {
        "format_version": FORMAT_VERSION,
        "repository": None,
        "index_version": None,
        "learned_weights": None,
        "languages": {},
        "skipped": {},
        "examples": {},
        "aside": {},
        "aside_examples": {},
        "notes": [],
        "diagnostics": [diagnostic],
        "index": None,
        "facts_cache": None,
        "observed": None,
        "proven": None,
    }


def _repository(info: "RepositoryInfo") -> Document:
    return {
        "root": info.root,
        "commit": info.commit,
        "files": info.files,
        "nodes": info.nodes,
        "edges": info.edges,
        "stale": info.stale,
        "parsed": info.parsed,
    }


def _result(rank: int, hit: "Hit") -> Document:
    return {
        "rank": rank,
        "node": hit.id,
        "path": hit.path,
        "symbol": hit.symbol,
        "kind": hit.kind,
        "start_line": hit.start_row + 1,
        "end_line": hit.end_row + 1,
        "score": hit.score,
        "pagerank": hit.pagerank,
        "reasons": [{"signal": r.signal, "value": r.value, "detail": r.detail} for r in hit.reasons],
        "path_from_seed": [{"node": hop.node, "edge": hop.edge, "line": hop.line} for hop in hit.path_from_seed],
        "seeds": hit.seeds if hit.seeds is None else [{"node": s.node, "share": s.share} for s in hit.seeds],
    }


def _pack(pack: "Pack") -> Document:
    return {
        "text": pack.text,
        "tokens": pack.tokens,
        "max_tokens": pack.max_tokens,
        "tokenizer": pack.tokenizer,
        "items": [
            {
                "node": place.node,
                "path": unescape_path(split_id(place.node)[0]),
                "start_line": place.start_line,
                "end_line": place.end_line,
                "rank": place.rank,
                "tokens": place.tokens,
                "shown": [list(lines) for lines in place.shown],
            }
            for place in pack.places
        ],
        "edges": [edge_document(edge) for edge in pack.edges],
        "omitted": [{"node": omitted.node, "what": omitted.what} for omitted in pack.omitted],
    }


def _diagnostics(diagnostics: "Iterable[Diagnostic]") -> list[Document]:
    return [{"slug": d.slug, "detail": d.detail, "line": _line(d.row)} for d in diagnostics]


def _diagnostic_of(error: CausalistError) -> Document:
    return {"slug": error.slug, "detail": str(error), "line": None}


def _line(row: int) -> int | None:
    return row + 1 if row >= 0 else None


MAX_NOTES = 20


def status_lines(
    status: "Status", stored: "IndexStatus", evidence: "Evidence", *, is_refreshed: bool, more_notes: str
) -> list[str]:
    """Return the status as lines.

    `evidence` is what runs saw, and what was proven. `is_refreshed`: the index was refreshed after the check.
    `more_notes` says where to find notes that are not listed.
    """
    info = status.repository
    lines = [
        f"root      {info.root}",
        f"commit    {info.commit or 'none'}{_format_dirty(stored)}",
        *_index_lines(stored, is_refreshed),
        f"files     {info.files}: {format_counts(status.languages)}",
        f"graph     {info.nodes} nodes, {info.edges} edges",
        *_evidence_lines(*evidence),
        f"weights   {'as shipped' if status.learned is None else status.learned}",
        f"left out  {sum(status.skipped.values())}",
    ]
    lines += _reason_lines(status.skipped, status.examples)
    lines.append(f"set aside {sum(status.aside.values())}")
    lines += _reason_lines(status.aside, status.aside_examples)
    lines.append(f"notes     {len(status.notes)}")
    for note in status.notes[:MAX_NOTES]:
        location = f"{note.path}:{note.row + 1}" if note.row >= 0 else note.path
        lines.append(f"  {location}: {note.slug}: {note.detail}")
    if len(status.notes) > MAX_NOTES:
        lines.append(f"  and {len(status.notes) - MAX_NOTES} more{more_notes}")
    return lines


def _evidence_lines(observed: "ObservedStatus | None", proven: "ProvenStatus | None") -> Iterator[str]:
    if observed is not None:
        killed = f", {len(observed.killed)} more killed" if observed.killed else ""
        yield (
            f"observed  {observed.n_direct + observed.n_through} calls and {observed.n_tests} tests in "
            f"{count_noun(len(observed.runs), 'run')}{killed}; {observed.n_stale} stale"
        )
    if proven is not None:
        yield (
            f"proven    {count_noun(proven.n_tests, 'test')} of {count_noun(proven.n_functions, 'function')}, "
            f"{proven.n_edges} edges; {proven.n_stale} stale"
        )


def _reason_lines(counts: "Mapping[str, int]", named: "Mapping[str, tuple[str, ...]]") -> list[str]:
    lines = []
    for reason, n in counts.items():
        examples = named.get(reason, ())
        more = ", …" if n > len(examples) > 0 else ""
        lines.append(f"  {n} {reason}: {', '.join(examples)}{more}")
    return lines


def _format_dirty(stored: "IndexStatus") -> str:
    if stored.n_dirty is None:
        return ""
    if stored.n_dirty == 0:
        return ", no file differs from it"
    return f", {stored.n_dirty} file{' differs' if stored.n_dirty == 1 else 's differ'} from it"


def _index_lines(standing: "IndexStatus", is_refreshed: bool) -> list[str]:
    """Return the lines on index and cache."""
    where = "in memory" if standing.path is None else f"{standing.path}, {_format_bytes(standing.n_bytes)}"
    reasons = standing.found.reasons if standing.found else ()
    state = "up to date"
    if reasons:
        state = "the stored index is not current:"
        if is_refreshed:
            state = "up to date, refreshed just now, because it was not:"
    lines = [f"index     {where}", f"state     {state}", *(f"  {each.reason}: {each.detail}" for each in reasons)]
    cache = standing.cache
    if cache is not None:
        used = f"{_format_bytes(cache.n_bytes)} of at most {_format_bytes(cache.most_bytes)}, {cache.n_entries} entries"
        lines.append(f"cache     {cache.path}, {used}")
    return lines


def _format_bytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"


def format_counts(counts: Mapping[str, int]) -> str:
    """Return counts in words.

    >>> format_counts({"python": 3, "text": 1})
    '3 python, 1 text'
    """
    return ", ".join(f"{n} {name}" for name, n in counts.items())


def read_question(params: Mapping[str, Any]) -> str:
    """Return the query in `params`. Raises UsageError."""
    question = params.get("question")
    if not isinstance(question, str):
        raise UsageError(f"question must be a string, not {question!r}")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise UsageError(f"question must have at most {MAX_QUESTION_CHARACTERS:,} characters, not {len(question):,}")
    return question


def read_options(defaults: AskOptions, given: Mapping[str, Any]) -> AskOptions:
    """Return `defaults` updated by plain JSON. Raises UsageError with the valid values."""
    # Only the server's side decides which embedder receives source code.
    fields = {field.name: field for field in dataclasses.fields(AskOptions) if field.name != "embedder"}
    chosen: dict[str, Any] = {}
    for name, value in given.items():
        if name not in fields:
            raise UsageError(f"unknown option {name[:80]!r}. Choose from {', '.join(fields)}.")
        chosen[name] = _read_option(name, value, getattr(AskOptions(), name))
    return dataclasses.replace(defaults, **chosen)


def _read_option(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, StrEnum):
        try:
            return type(default)(value)
        except ValueError:
            raise UsageError(f"{name} must be one of {', '.join(type(default))}, not {value!r}") from None
    if name == "route":
        try:
            return None if value is None else Route(value)
        except ValueError:
            raise UsageError(f"route must be one of {', '.join(Route)}, not {value!r}") from None
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise UsageError(f"{name} must be a list of patterns, not {value!r}")
        return tuple(value)
    wanted: Any = str if default is None else (int, float) if isinstance(default, float) else type(default)
    is_wanted = isinstance(value, wanted) and (isinstance(value, bool) == isinstance(default, bool))
    if not is_wanted and not (default is None and value is None):
        raise UsageError(f"{name} must be of type {_type_name(wanted)}, not {value!r}")
    return value


def _type_name(wanted: Any) -> str:
    return "number" if isinstance(wanted, tuple) else {str: "string", int: "integer", bool: "boolean"}[wanted]
