"""What the graph says of a repository, in the terms of the gold edges."""

import gzip
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from causalist.evaluate.mining import find_clone
from causalist.graph import Confidences, build_graph, evidence_sort_key
from causalist.model.facts import OPERATED, FileFacts
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.node_ids import NodeKind, unescape_path
from causalist.model.source import SourceFile
from causalist.parse import dialect_of, load_settings, parse_file
from causalist.source import BlobReader, scan_commit

KINDS = ("calls", "imports", "extends", "contains")
_ROOT = Path(__file__).parents[3]
_REPEATED = re.compile(r"~\d+$")


class Prediction(NamedTuple):
    """An edge in the scorer's terms (`path:Qual.name`, `path:<module>` for a file), overloads of one name taken
    together: `parts` are (rule, number of candidates) of each, the strongest first. `alias` says that the target is
    another name for a type. The scorer does not tell overloads apart: the probability that an edge leads to a name is
    the sum over the overloads that share the doubt."""

    kind: str
    source: str
    target: str
    language: str
    alias: bool
    parts: tuple[tuple[str, int], ...]

    def confidence(self, table: Confidences) -> float:
        kind = EdgeKind[self.kind.upper()]
        most = table.max_confidence(self.parts[0][0], self.language)
        return min(most, sum(table.confidence_of_edge(rule, kind, self.language, n) for rule, n in self.parts))


def predictions(name: str, meta: Mapping[str, Any], clones: Path, dumps: Path | None = None) -> list[Prediction] | None:
    """What the graph says of the repository that the first row of a gold names, at its commit; None where there is no
    clone of it. With `dumps` it is read from that folder if code and grammars are those by which it was put there."""
    commit = str(meta["commit"])
    clone = find_clone(clones, str(meta["repo"]))
    if clone is None:
        return None
    dump = dumps / f"{name}-{commit[:12]}-{_code_digest()}.jsonl.gz" if dumps else None
    if dump and dump.is_file():
        with gzip.open(dump, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [Prediction._make((*row[:-1], tuple((rule, n) for rule, n in row[-1]))) for row in rows]
    if meta.get("per_snippet"):
        result = merged(_edges_of_snippets(clone, meta))
    else:
        result = predicted(_graph_of(clone, commit))
    if dump:
        dump.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in result)
        dump.write_bytes(gzip.compress(text.encode(), mtime=0))
    return result


def predicted(graph: CodeGraph) -> list[Prediction]:
    nodes, kinds = graph.nodes, (*KINDS, "implements")
    types = {scorer_name(nodes.ids[i]) for i in range(len(nodes)) if nodes.kinds[i] == NodeKind.TYPE}
    found = (e for e in without_handlers(graph) if e.kind in kinds and not e.target.startswith("external:"))
    return merged(found, types)


def without_handlers(graph: CodeGraph) -> Iterator[Edge]:
    """The edges in terms of oracles, for which code without a name belongs to what it stands in."""
    nodes = graph.nodes
    handlers = {nodes.ids[i] for i in range(len(nodes)) if nodes.kinds[i] == NodeKind.HANDLER}

    def named(node: str) -> str:
        path, separator, symbol = node.partition("::")
        whole, kept = "", ""
        for part in symbol.split(".") if separator else ():
            whole = f"{whole}.{part}" if whole else part
            if f"{path}::{whole}" not in handlers:
                kept = f"{kept}.{part}" if kept else part
        return f"{path}::{kept}" if kept else path

    for edge in (graph.edge(i) for i in range(len(graph.edges))):
        if not handlers:
            yield edge
            continue
        changed = edge._replace(source=named(edge.source), target=named(edge.target))
        if edge.kind != EdgeKind.CONTAINS.label or changed.source != changed.target:
            yield changed


def _without_operators(facts: FileFacts) -> FileFacts:
    """The facts without special methods that nothing names at the site, of which no oracle says anything."""
    return replace(facts, calls=tuple(call for call in facts.calls if call.arguments != OPERATED))


def _graph_of(clone: Path, commit: str) -> CodeGraph:
    """The graph of a commit, as an index has it: neither words nor history matter to edges."""
    facts: list[tuple[str, FileFacts]] = []
    with BlobReader(clone) as reader:
        for entry in scan_commit(clone, commit).entries:
            source = reader.read(entry)
            if isinstance(source, SourceFile):
                facts.append((entry.path, _without_operators(parse_file(entry.path, source.data))))
    return build_graph(facts, load_settings()).graph


def _edges_of_snippets(clone: Path, meta: Mapping[str, Any]) -> Iterator[Edge]:
    """Edges of small programs that know nothing of one another: the folders in the second level below `below`."""
    snippets: dict[str, list[tuple[str, FileFacts]]] = defaultdict(list)
    with BlobReader(clone) as reader:
        for entry in scan_commit(clone, meta["commit"]).entries:
            path = entry.path.removeprefix(f"{meta['below']}/")
            source = reader.read(entry) if path in meta["files"] else ""
            if isinstance(source, SourceFile):
                group, name, inner = path.split("/", 2)
                snippets[f"{group}/{name}"].append((inner, _without_operators(parse_file(inner, source.data))))
    for folder, facts in sorted(snippets.items()):
        for edge in without_handlers(build_graph(facts, load_settings()).graph):
            if edge.kind in KINDS and not edge.target.startswith("external:"):
                yield edge._replace(source=f"{folder}/{edge.source}", target=f"{folder}/{edge.target}")


def merged(edges: Iterable[Edge], types: frozenset[str] | set[str] = frozenset()) -> list[Prediction]:
    rows: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for edge in edges:
        rows.setdefault((edge.kind, scorer_name(edge.source), scorer_name(edge.target)), []).append(
            (edge.rule, edge.candidates)
        )
    spoken: dict[str, str] = {}
    result = []
    for (kind, source, target), parts in rows.items():
        path = source.partition(":")[0]
        if path not in spoken:
            settings = load_settings().get(dialect_of(path))
            spoken[path] = settings.name if settings else ""
        parts.sort(key=lambda part: evidence_sort_key(*part))
        result.append(Prediction(kind, source, target, spoken[path], target in types, tuple(parts)))
    return result


@lru_cache(maxsize=1)
def _code_digest() -> str:
    """Names all that decides which edges there are; the table of confidences does not."""
    digest = hashlib.sha256()
    parts = [(f"causalist/{name}", "*.py") for name in ("graph", "model", "parse", "source")]
    parts += [("grammars", "*.toml"), ("grammars", "*.scm")]
    for path in [path for folder, ending in parts for path in sorted((_ROOT / folder).rglob(ending))]:
        digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()[:12]


def scorer_name(node: str) -> str:
    """A node's id in the scorer's terms."""
    path, separator, symbol = node.partition("::")
    return f"{unescape_path(path)}:{_REPEATED.sub('', symbol) if separator else '<module>'}"
