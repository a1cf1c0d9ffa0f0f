"""Parts of an answer that say what it rests on: the repository, the walk, the files, and an id for all of it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from causalist.model.answer import AskOptions, Level, PageRankInfo, RepositoryInfo
from causalist.model.facts import Diagnostic
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.scores import Hit, Matched
from causalist.model.symbols import NodeKind
from causalist.rank import Ranking

_MOST_NAMED = 3  # files that a diagnostic names


def repository_info(root: Path, index: Index, *, stale: bool = False) -> RepositoryInfo:
    """What was searched."""
    graph = index.graph
    inside = graph.nodes.kinds[graph.edges.targets] != NodeKind.EXTERNAL
    return RepositoryInfo(
        root=str(root),
        commit=index.commit,
        files=int((graph.nodes.kinds == NodeKind.FILE).sum()),
        nodes=n_searched(graph),
        edges=int(inside.sum()),
        stale=stale,
    )


def n_searched(graph: CodeGraph) -> int:
    """The number of nodes inside the repository."""
    return int((graph.nodes.kinds != NodeKind.EXTERNAL).sum())


def partly_read(index: Index, results: Sequence[Hit]) -> tuple[Diagnostic, ...]:
    """One diagnostic for all files of the answer of which something could not be read; `status` knows the others."""
    answering = {hit.path for hit in results}
    paths = sorted({note.path for note in index.notes if note.path in answering})
    if not paths:
        return ()
    slugs = ", ".join(sorted({note.slug for note in index.notes if note.path in answering}))
    n_more = len(paths) - _MOST_NAMED
    named = ", ".join(paths[:_MOST_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
    return (Diagnostic("partly-read", f"read only in part ({slugs}): {named}; `causalist status` lists them", -1),)


def not_shown(
    matched: Mapping[int, Matched], results: Sequence[Hit], index: Index, level: Level
) -> tuple[Diagnostic, ...]:
    """How many matches of a pattern stand in nodes that are not among the results."""
    shown = {hit.node for hit in results}
    owners = index.graph.nodes.files
    rest = [n for n in matched if (int(owners[n]) if level is Level.FILE else n) not in shown]
    if not rest:
        return ()
    n_matches = sum(matched[n].n for n in rest)
    return (
        Diagnostic("more-matches", f"{n_matches} more in {len(rest)} other places; --top-k shows more of them", -1),
    )


def pagerank_info(ranking: Ranking, options: AskOptions) -> PageRankInfo | None:
    """How the walk ended; None where there was none."""
    result = ranking.pagerank
    if result is None:
        return None
    return PageRankInfo(result.n_iterations, result.residual, options.damping, result.rung)


def answer_id(index: Index, query: str, options: AskOptions) -> str:
    """A hash of index, question and options: the same answer has the same id."""
    digest = hashlib.sha256()
    digest.update(f"{index.version}\n{index.commit}\n".encode())
    digest.update(index.manifest.paths.blob.tobytes())
    digest.update(index.manifest.blobs.blob.tobytes())
    digest.update(repr((query, sorted(asdict(options).items()))).encode())
    return digest.hexdigest()[:16]
