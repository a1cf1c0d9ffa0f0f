"""What the graph says of a repository, in the terms of the gold edges."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from causalist.evaluate.clones import find_clone
from causalist.graph import Confidences, strength
from causalist.model.graph import Edge, EdgeKind
from causalist.model.symbols import NodeKind, unescape_path
from causalist.parse import dialect_of, load_settings
from causalist.pipeline import Repository

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
        return min(1.0, sum(table.of(rule, kind, self.language) / n for rule, n in self.parts))


def predictions(name: str, repo: str, commit: str, clones: Path, dumps: Path | None = None) -> list[Prediction] | None:
    """What the graph says of the repository at the commit of its gold, None where there is no clone of it. With `dumps`
    it is read from that folder if code and grammars are those by which it was put there."""
    clone = find_clone(clones, repo)
    if clone is None:
        return None
    dump = dumps / f"{name}-{commit[:12]}-{_code_digest()}.jsonl.gz" if dumps else None
    if dump and dump.is_file():
        with gzip.open(dump, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [Prediction._make((*row[:-1], tuple((rule, n) for rule, n in row[-1]))) for row in rows]
    result = predicted(Repository.at_commit(clone, commit))
    if dump:
        dump.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in result)
        dump.write_bytes(gzip.compress(text.encode(), mtime=0))
    return result


def predicted(repository: Repository) -> list[Prediction]:
    nodes = repository.index.graph.nodes
    types = {scorer_name(nodes.ids[i]) for i in range(len(nodes)) if nodes.kinds[i] == NodeKind.TYPE}
    found = repository.edges(kinds=(*KINDS, "implements"), min_confidence=0.0)
    return merged(found, types)


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
        parts.sort(key=lambda part: strength(*part))
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
