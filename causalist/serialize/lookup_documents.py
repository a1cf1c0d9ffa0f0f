"""JSON documents of look-up commands, with the conventions of `answers`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from causalist.model.node_ids import split_id
from causalist.serialize.answers import FORMAT_VERSION, Document, edge_document

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import (
        Affected,
        ChangesWith,
        CoverageReport,
        DefinitionDetails,
        DependencyOrder,
        GraphPath,
        Health,
        LayerFile,
        Layering,
        LikeDefinition,
        Map,
        Neighbors,
        ObservedStatus,
        ServedRoute,
        SimilarCluster,
        SimilarPair,
        UnresolvedCall,
        Verdict,
    )
    from causalist.model.scores import Hit
    from causalist.prove import NodeProof, ProvenChange
    from causalist.review.report import Review
    from causalist.settings import Settings


def find_document(name: str, hits: "Iterable[Hit]") -> Document:
    """Return the document of `find --json`."""
    return {
        "format_version": FORMAT_VERSION,
        "name": name,
        "results": [{**node_document(hit), "score": hit.score} for hit in hits],
    }


def routes_document(routes: "Iterable[ServedRoute]") -> Document:
    """Return the document of `routes --json`."""
    return {
        "format_version": FORMAT_VERSION,
        "routes": [
            {
                "method": each.method,
                "path": each.path,
                "handler": each.handler,
                "file": split_id(each.handler)[0],
                "line": each.line,
                "requests": list(each.requests),
            }
            for each in routes
        ],
    }


def show_document(definition: "DefinitionDetails | None") -> Document:
    """Return the document of `show --json`; `node` is null without a definition."""
    if definition is None:
        return {"format_version": FORMAT_VERSION, "node": None}
    return {
        "format_version": FORMAT_VERSION,
        **node_document(definition.hit),
        "role": definition.role,
        "fan_in": definition.fan_in,
        "fan_out": definition.fan_out,
        "callers": definition.n_callers,
        "callees": definition.n_callees,
        "namesakes": list(definition.namesakes),
        "overrides": list(definition.overrides),
        "overridden_by": list(definition.overridden_by),
        "outline": [node_document(hit) for hit in definition.outline],
        "stale": definition.stale,
        "text": definition.text or None,
    }


def path_document(source: str, target: str, trail: "GraphPath | None", gaps: "Iterable[UnresolvedCall]") -> Document:
    """Return the document of `path --json`. `forward` is null without a path."""
    hops: list[Document] = []
    if trail is not None:
        edges = [None, *trail.edges]
        for hop, edge in zip(trail.hops, edges, strict=True):
            step = {"node": hop.node, "edge": hop.edge, "path": hop.path, "line": hop.line}
            hops.append({**step, "rule": edge and edge.rule, "confidence": edge and edge.confidence})
    return {
        "format_version": FORMAT_VERSION,
        "source": source,
        "target": target,
        "forward": trail and trail.forward,
        "probability": trail and trail.probability,
        "hops": hops,
        "gaps": [_gap(gap) for gap in gaps],
    }


def neighbors_document(node: str, groups: "Iterable[Neighbors]") -> Document:
    """Return the document of `neighbors --json`.

    `n` counts all edges of a group, listed or not. `layer` and `tier` belong to the farther end of an edge.
    """
    return {
        "format_version": FORMAT_VERSION,
        "node": node,
        "groups": [
            {
                "hop": group.hop,
                "direction": group.direction.value,
                "kind": group.kind,
                "n": group.n,
                "edges": [
                    {**edge_document(edge), "layer": layer, "tier": tier}
                    for edge, (layer, tier) in zip(group.edges, group.ends, strict=True)
                ],
            }
            for group in groups
        ],
    }


def topo_document(order: "DependencyOrder | None") -> Document:
    """Return the document of `topo --json`; `level` is null without an order."""
    items, cycles = (order.items, order.cycles) if order is not None else ((), ())
    return {
        "format_version": FORMAT_VERSION,
        "level": order and order.level.value,
        "n": len(items),
        "items": [{**item._asdict(), "uses": list(item.uses)} for item in items],
        "cycles": [
            {
                "members": list(cycle.members),
                "cuts": [
                    {
                        "source": cut.source,
                        "target": cut.target,
                        "confidence": round(cut.confidence, 4),
                        "n": cut.n,
                        "edge": edge_document(cut.edge),
                    }
                    for cut in cycle.cuts
                ],
            }
            for cycle in cycles
        ],
        "left_out": dict(order.left_out) if order is not None else {},
        "deleted": list(order.deleted) if order is not None else [],
    }


def similar_document(node: str | None, pairs: "Iterable[SimilarPair]") -> Document:
    """Return the document of `similar NODE --json`."""
    documents = [_similar_pair(pair) for pair in pairs]
    return {"format_version": FORMAT_VERSION, "node": node, "n": len(documents), "pairs": documents}


def similar_clusters_document(clusters: "Iterable[SimilarCluster]", n: int) -> Document:
    """Return the document of `similar --all --json`; `n` counts all clusters, listed or not."""
    return {
        "format_version": FORMAT_VERSION,
        "n": n,
        "clusters": [
            {
                "first": _like_definition(each.first),
                "n_lines": each.n_lines,
                "pairs": [_similar_pair(pair) for pair in each.pairs],
            }
            for each in clusters
        ],
    }


def _similar_pair(pair: "SimilarPair") -> Document:
    return {
        "one": _like_definition(pair.one),
        "other": _like_definition(pair.other),
        "similarity": round(pair.similarity, 4),
        "likeness": pair.likeness.value,
        "probability": round(pair.probability, 4),
        "callees": None if pair.callees is None else round(pair.callees, 4),
        "differences": list(pair.differences),
    }


def _like_definition(each: "LikeDefinition") -> Document:
    return dict(each._asdict())


def impact_document(
    changed: "Sequence[str]",
    deleted: "Sequence[str]",
    n: int,
    affected: "Sequence[Affected]",
    documentation: "Sequence[Edge]" = (),
    changes_with: "Sequence[ChangesWith]" = (),
) -> Document:
    """Return the document of `impact --json`.

    `n` counts all affected nodes, `affected` has the nearest of them, `documentation` the mentions in prose,
    `changes_with` the files that are likely to change with the changed ones; their `evidence` is "history" with a
    common commit, else "graph".
    """
    mentions = [edge_document(edge) for edge in documentation]
    together = [
        {
            "file": each.file,
            "evidence": "history" if each.n_both else "graph",
            "changed": each.changed,
            "probability": round(each.probability, 4),
            "n_both": each.n_both,
            "n_commits": each.n_commits,
            "role": each.role,
            "reasons": list(each.reasons),
        }
        for each in changes_with
    ]
    reached = _describe_reach(changed, deleted, n, "affected", affected)
    return {**reached, "documentation": mentions, "changes_with": together}


def tests_document(
    changed: "Sequence[str]",
    deleted: "Sequence[str]",
    n: int,
    tests: "Sequence[Affected]",
    coverage: "CoverageReport | None" = None,
) -> Document:
    """Return the document of `tests --json`.

    `n` counts all tests, `tests` has the most probable of them; `coverage` is what coverage data says, or null.
    """
    coverage_document = None if coverage is None else dict(coverage._asdict())
    return {**_describe_reach(changed, deleted, n, "tests", tests), "coverage": coverage_document}


def _describe_reach(
    changed: "Sequence[str]", deleted: "Sequence[str]", n: int, name: str, affected: "Sequence[Affected]"
) -> Document:
    return {
        "format_version": FORMAT_VERSION,
        "changed": list(changed),
        "deleted": list(deleted),
        "n": n,
        name: [_describe_affected(each) for each in affected],
    }


def _describe_affected(each: "Affected") -> Document:
    return {
        "node": each.node,
        "depth": each.depth,
        "probability": round(each.probability, 4),
        "role": each.role,
        "layer": each.layer,
        "tier": each.tier,
        "edge": edge_document(each.edge),
        "overridden_by": each.overridden_by or None,
        "run_with": each.run_with or None,
    }


def observed_document(status: "ObservedStatus | None") -> Document:
    """Return the document of `observe --json`; null values if nothing was recorded."""
    counts = ("n_direct", "n_through", "n_confirmed", "n_added", "n_lowered", "n_stale", "n_tests")
    return {
        "format_version": FORMAT_VERSION,
        "runs": [run._asdict() for run in (status.runs if status else ())],
        **{name: status and getattr(status, name) for name in counts},
        "killed": [run._asdict() for run in (status.killed if status else ())],
    }


def prove_document(node: str, proof: "NodeProof | None") -> Document:
    """Return the document of `prove --json`; null values for a folder without files.

    `proven` of a test counts the mutants with which it fails; `left_out` says why one was not run with any. `in_doubt`:
    nothing shows that it runs the function, but another process may.
    """
    if proof is None:
        return {"format_version": FORMAT_VERSION, "node": node or None, "time": None, "undecided": None,
                "more_tests": None, "tests": [], "edges": [], "mutants": []}  # fmt: skip
    record = proof.record
    tests = []
    for test, state in record.tests.items():
        mutants = record.proving(test)
        by = mutants[0].id if mutants else None
        tests.append({"test": test, "proven": len(mutants), "by": by, "left_out": state.left_out or None,
                      "in_doubt": record.is_in_doubt(test)})  # fmt: skip
    return {
        "format_version": FORMAT_VERSION,
        "node": node,
        "time": record.time,
        "undecided": proof.n_undecided,
        "more_tests": proof.n_more_tests,
        "tests": tests,
        "edges": [
            {
                "source": each.source.id,
                "target": each.target.id,
                "direct": each.is_direct,
                "mutant": each.mutant,
                "test": each.test,
            }
            for each in proof.edges
        ],
        "mutants": [
            {
                "id": each.id,
                "line": each.line,
                "what": each.what,
                "noticed": any(outcome != "passed" for outcome in each.outcomes.values()),
                "outcomes": each.outcomes,
            }
            for each in record.mutants.values()
        ],
    }


def review_document(
    review: "Review", limit: int, n_tests: int, proofs: "Iterable[ProvenChange] | None" = None
) -> Document:
    """Return the document of `review --json`. Lists of users and tests are cut, with their full number beside them.

    `proofs` is null unless functions were broken.
    """
    return {
        "format_version": FORMAT_VERSION,
        "before": review.before,
        "after": review.after,
        "definitions": [
            {
                "change": each.kind.value,
                "node": each.node,
                "kind": each.label,
                "path": each.path,
                "line": each.line,
                "before": each.old.node if each.old else None,
                "signature_before": each.old.signature if each.old else None,
                "signature": each.new.signature if each.new else None,
                "body_changed": each.is_edited,
            }
            for each in review.definitions
        ],
        "files": [
            {"path": e.path, "before": e.before or None, "status": e.status, "note": e.note or None, "code": e.has_code}
            for e in review.files
        ],
        "broken_calls": [each._asdict() for each in review.broken],
        "n_affected": len(review.affected),
        "affected": [_review_user(each) for each in review.affected[:limit]],
        "n_tests": len(review.tests),
        "tests": [_review_user(each) for each in review.tests[:n_tests]],
        "missing": [{**each._asdict(), "probability": round(each.probability, 4)} for each in review.missing[:limit]],
        "interface": [each.node for each in review.interface],
        "hot": [each._asdict() for each in review.hot],
        "secrets": [each._asdict() for each in review.secrets],
        "layers": [each._asdict() for each in review.layers],
        "proofs": None if proofs is None else [{**each._asdict(), "why": each.why or None} for each in proofs],
        "notes": list(review.notes),
    }


def _review_user(each: "Affected") -> Document:
    edge = edge_document(each.edge) if each.depth else None
    return {"node": each.node, "depth": each.depth, "probability": round(each.probability, 4), "edge": edge}


def meanings_document(documents: "Iterable[Document]") -> Document:
    """Return the document of a look-up of an ambiguous name: one document for each definition."""
    return {"format_version": FORMAT_VERSION, "meanings": list(documents)}


def map_document(drawn: "Map | None") -> Document:
    """Return the document of `map --json`: the map as data and as text; null values without a map."""
    if drawn is None:
        return {"format_version": FORMAT_VERSION, "overview": None, "map": None}
    from causalist.repomap.render import as_data

    return {
        "format_version": FORMAT_VERSION,
        "overview": as_data(drawn.overview),
        "map": {"text": drawn.text, "tokens": drawn.tokens, "max_tokens": drawn.max_tokens, "format": drawn.format},
    }


def config_document(settings: "Settings") -> Document:
    """Return the document of `config --json`."""
    from causalist.settings import SETTINGS

    rows: list[Document] = []
    for each in SETTINGS:
        value = settings.value(each.section, each.name)
        default = each.default
        rows.append(
            {
                "section": each.section,
                "name": each.name,
                "value": list(value) if isinstance(value, tuple) else value,
                "default": list(default) if isinstance(default, tuple) else default,
                "source": settings.source(each.section, each.name),
            }
        )
    return {"format_version": FORMAT_VERSION, "settings": rows}


def lint_document(health: "Health | None") -> Document:
    """Return the document of `lint --json`; empty lists without a report."""
    return {
        "format_version": FORMAT_VERSION,
        "findings": [each._asdict() for each in (health.findings if health else ())],
        "calls": [
            {**each._asdict(), "examples": [_gap(gap) for gap in each.examples]}
            for each in (health.calls if health else ())
        ],
        "cycles": [list(cycle) for cycle in (health.cycles if health else ())],
        "unmeasured": [each._asdict() for each in (health.unmeasured if health else ())],
    }


def verify_document(source: str, target: str, verdict: "Verdict | None") -> Document:
    """Return the document of `verify --json`; null values without a verdict."""
    return {
        "format_version": FORMAT_VERSION,
        "source": source,
        "target": target,
        "known": verdict and verdict.known.value,
        "reason": verdict and verdict.reason.value,
        "edges": [
            {**edge_document(edge), "text": line or None, "basis": basis._asdict()}
            for edge, line, basis in (zip(verdict.edges, verdict.lines, verdict.bases, strict=True) if verdict else ())
        ],
        "sites": [site._asdict() for site in (verdict.sites if verdict else ())],
        "gaps": [_gap(gap) for gap in (verdict.gaps if verdict else ())],
        "others": [edge_document(edge) for edge in (verdict.others if verdict else ())],
        "calls": [edge_document(edge) for edge in (verdict.calls if verdict else ())],
    }


def _gap(gap: "UnresolvedCall") -> Document:
    return {"node": gap.node, "name": gap.name, "line": gap.line, "n": gap.n}


def node_document(hit: "Hit") -> Document:
    """Return a node as in `find`, `show` and others. External nodes have no path and no lines."""
    is_inside = bool(hit.path)
    return {
        "node": hit.id,
        "path": hit.path or None,
        "symbol": hit.symbol,
        "kind": hit.kind,
        "start_line": hit.start_row + 1 if is_inside else None,
        "end_line": hit.end_row + 1 if is_inside else None,
        "signature": hit.signature or None,
        "doc": hit.doc or None,
        "layer": hit.layer,
        "tier": hit.tier,
    }


def layer_document(name: str, files: "Sequence[LayerFile]", limit: int) -> Document:
    """Return the document of `layers NAME --json`."""
    listed = [
        {"path": each.path, "definitions": each.n_definitions, "used": each.n_used, "uses": each.n_uses}
        for each in files[:limit]
    ]
    return {"format_version": FORMAT_VERSION, "layer": name, "n_files": len(files), "files": listed}


def layers_document(layering: "Layering | None", limit: int) -> Document:
    """Return the document of `layers --json`.

    `n_back_edges` counts all back edges, `back_edges` has the first `limit`.
    """
    sizes, uses, back = (layering.sizes, layering.uses, layering.back_edges) if layering is not None else ((), (), ())
    return {
        "format_version": FORMAT_VERSION,
        "layers": [
            {
                "layer": size.layer,
                "files": size.n_files,
                "definitions": size.n_definitions,
                "hottest": [{**node_document(used.hit), "fan_in": used.fan_in} for used in size.hottest],
            }
            for size in sizes
        ],
        "uses": [use._asdict() for use in uses],
        "n_back_edges": len(back),
        "back_edges": [
            {
                "edge": edge_document(each.edge),
                "source_layer": each.source_layer,
                "target_layer": each.target_layer,
                "steps": each.steps,
            }
            for each in back[:limit]
        ],
    }


def list_tests(tests: "Iterable[Affected]", n: int) -> list[dict[str, object]]:
    """Return the first `n` tests that may run a definition, with the steps and the probability of each."""
    return [
        {"node": each.node, "depth": each.depth, "probability": round(each.probability, 4)}
        for each, _ in zip(tests, range(n), strict=False)
    ]
