"""JSON documents of the commands, built by hand from `model/` so that its types stay free to change.

Lines are 1-based. A key is never left out: what does not apply or is not built yet is null.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from causalist.errors import CausalistError

if TYPE_CHECKING:
    from causalist.model.answer import Answer, CacheUse, RepositoryInfo, Standing, Status
    from causalist.model.diagnostic import Diagnostic
    from causalist.model.graph import Edge
    from causalist.model.pack import Pack
    from causalist.model.scores import Hit

# 1: the first.
FORMAT_VERSION = 1

Document: TypeAlias = dict[str, object]


def answer_document(answer: "Answer") -> Document:
    """`ask --json`."""
    walk = answer.pagerank
    return {
        "format_version": FORMAT_VERSION,
        "answer_id": answer.answer_id,
        "query": answer.query,
        "route": answer.route.value,
        "confidence": answer.confidence,
        "attempts": answer.attempts,
        "repository": _repository(answer.repository),
        "pagerank": walk
        and {
            "iterations": walk.iterations,
            "residual": walk.residual,
            "damping": walk.damping,
            "rung": walk.rung,
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


def unanswered_document(query: str, error: CausalistError) -> Document:
    """`ask --json` where there was nothing to ask: nothing was routed, walked or packed."""
    return {
        "format_version": FORMAT_VERSION,
        "answer_id": None,
        "query": query,
        "route": None,
        "confidence": None,
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
    """An edge, in `ask`, `callers`, `callees` and `graph export --format jsonl`."""
    return {
        "source": edge.source,
        "target": edge.target,
        "kind": edge.kind,
        "rule": edge.rule,
        "confidence": edge.confidence,
        "line": edge.line,
        "n": edge.n,
    }


def calls_document(node: str, edges: "Iterable[Edge]") -> Document:
    """`callees`, `readers` and `writers` with `--json`, and the first keys of `callers --json`."""
    return {"format_version": FORMAT_VERSION, "node": node, "edges": [edge_document(edge) for edge in edges]}


def callers_document(
    node: str,
    edges: "Iterable[Edge]",
    through: "Iterable[Edge]",
    references: "Iterable[Edge]",
    documentation: "Iterable[Edge]" = (),
) -> Document:
    """`callers --json`. `through` are calls of methods that the node overrides, `references` uses without a call,
    `documentation` are mentions in prose."""
    return {
        **calls_document(node, edges),
        "through": [edge_document(edge) for edge in through],
        "references": [edge_document(edge) for edge in references],
        "documentation": [edge_document(edge) for edge in documentation],
    }


def status_document(
    status: "Status", diagnostics: "Iterable[Diagnostic]", standing: "Standing | None" = None
) -> Document:
    """`status --json`; for `index --json` nobody looks how the index stands."""
    return {
        "format_version": FORMAT_VERSION,
        "repository": _repository(status.repository),
        "index_version": status.version,
        "learned_weights": status.learned,
        "languages": dict(status.languages),
        "skipped": dict(status.skipped),
        "examples": {reason: list(paths) for reason, paths in status.examples.items()},
        "notes": [
            {"path": note.path, "slug": note.slug, "detail": note.detail, "line": _line(note.row)}
            for note in status.notes
        ],
        "diagnostics": _diagnostics(diagnostics),
        "index": standing and _standing(standing),
        "facts_cache": standing and standing.cache and _cache(standing.cache),
    }


def _standing(standing: "Standing") -> Document:
    found = standing.found
    return {
        "path": standing.path,
        "bytes": standing.n_bytes,
        "commit": standing.commit,
        "dirty_files": standing.n_dirty,
        "was_current": found and not found.reasons,
        "reasons": found
        and [{"reason": each.reason, "detail": each.detail, "files": each.n_files} for each in found.reasons],
    }


def _cache(cache: "CacheUse") -> Document:
    return {
        "path": cache.path,
        "bytes": cache.n_bytes,
        "entries": cache.n_entries,
        "max_bytes": cache.most_bytes,
    }


def no_status_document(error: CausalistError) -> Document:
    """`status --json` and `index --json` (with `seconds` null) where there is nothing to index."""
    return {
        "format_version": FORMAT_VERSION,
        "repository": None,
        "index_version": None,
        "learned_weights": None,
        "languages": {},
        "skipped": {},
        "examples": {},
        "notes": [],
        "diagnostics": [_diagnostic_of(error)],
        "index": None,
        "facts_cache": None,
    }


def _repository(info: "RepositoryInfo") -> Document:
    return {
        "root": info.root,
        "commit": info.commit,
        "files": info.files,
        "nodes": info.nodes,
        "edges": info.edges,
        "stale": info.stale,
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
        "omitted": [{"node": omitted.node, "what": omitted.what} for omitted in pack.omitted],
    }


def _diagnostics(diagnostics: "Iterable[Diagnostic]") -> list[Document]:
    return [{"slug": d.slug, "detail": d.detail, "line": _line(d.row)} for d in diagnostics]


def _diagnostic_of(error: CausalistError) -> Document:
    return {"slug": error.slug, "detail": str(error), "line": None}


def _line(row: int) -> int | None:
    return row + 1 if row >= 0 else None
