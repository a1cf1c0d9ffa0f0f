"""Things that a question names outright -> how strongly each node is meant."""

from collections.abc import Mapping
from posixpath import splitext

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph
from causalist.model.lexical import LexicalIndex
from causalist.model.scores import Matched
from causalist.model.symbols import NodeKind, split_id
from causalist.rank.lexical.bm25 import covered_share
from causalist.rank.lexical.build import impacts, nodes_named
from causalist.rank.query.query import Pattern, Question
from causalist.rank.scoring.located import definition_at
from causalist.rank.terms import terms_of

# A name that this many definitions bear says little; its weight falls with the square root of the number.
_MOST_NAMESAKES = 50
_SHORTEST_IDENTIFIER = 4  # letters; shorter names stand everywhere
_MOST_WITH_CODE = 8  # definitions that have the code of an error in their text


def mention_scores(question: Question, graph: CodeGraph, lexical: LexicalIndex) -> NDArray[np.float64]:
    """Shape (n_nodes,), in [0, 1]: 1 for what a title names without namesakes, less for doubtful names."""
    scores = np.zeros(len(graph.nodes))
    for named in question.named:
        if named.kind == "path":
            nodes = _by_path(named.text, graph, lexical)
            if named.line and len(nodes) == 1:
                nodes = [n for n in (*nodes, definition_at(nodes[0], named.line, "", graph)) if n >= 0]
                scores[nodes] = np.maximum(scores[nodes], named.weight)
                continue
        elif named.kind == "code":
            nodes = _with_term(named.text, lexical)
        elif named.kind == "qualified":
            nodes = _by_qualified_name(named.text, graph, lexical)
        else:
            nodes = nodes_named(named.text, lexical)
        if not 0 < len(nodes) <= _MOST_NAMESAKES:
            continue
        value = named.weight / np.sqrt(len(nodes))
        for node in nodes:
            scores[node] = max(scores[node], value)
    return scores


def identifier_scores(question: Question, lexical: LexicalIndex, n: int) -> NDArray[np.float64]:
    """Shape (n,), in [0, 1]: the share of the names in a question that stand as a whole in the text of a definition,
    by weight and rarity. What is named is used in more places than the one that defines it, if any here does."""
    weights: dict[int, float] = {}
    for named in question.named:
        for part in named.text.lower().split(".") if named.kind != "path" else ():
            number = lexical.terms.position(part) if len(part) >= _SHORTEST_IDENTIFIER else -1
            if number >= 0:
                weights[number] = max(weights.get(number, 0.0), named.weight)
    return covered_share(weights, lexical.definitions, n)


def _with_term(code: str, lexical: LexicalIndex) -> list[int]:
    """Definitions in whose text a code stands as a whole, if they are few."""
    at = lexical.terms.position(code.lower())
    found = impacts(lexical.definitions, at)[0] if at >= 0 else ()
    return [int(n) for n in found] if len(found) <= _MOST_WITH_CODE else []


def _by_path(path: str, graph: CodeGraph, lexical: LexicalIndex) -> list[int]:
    """Files whose path ends with the longest possible tail of `path`."""
    parts = [p for p in path.split("/") if p]
    if not parts:
        return []
    candidates = [n for n in nodes_named(parts[-1], lexical) if graph.kind(n) is NodeKind.FILE]
    best: list[int] = []
    longest = 0
    for node in candidates:
        own = split_id(graph.nodes.ids[node])[0].lower().split("/")
        if own[-1].partition(".")[0] == parts[-1].lower():
            own[-1] = parts[-1].lower()  # `src/auth` names src/auth.py
        shared = 0
        for a, b in zip(reversed(own), (p.lower() for p in reversed(parts)), strict=False):
            if a != b:
                break
            shared += 1
        if shared > longest:
            best, longest = [node], shared
        elif shared == longest:
            best.append(node)
    return best


def _by_qualified_name(dotted: str, graph: CodeGraph, lexical: LexicalIndex) -> list[int]:
    """Definitions that end `dotted` and whose qualified name or path agrees with the parts before it."""
    *before, last = dotted.split(".")
    found = nodes_named(last, lexical)
    exact = []
    for node in found:
        path, symbol = split_id(graph.nodes.ids[node])
        around = [p.lower() for p in (*splitext(path)[0].split("/"), *(symbol or "").split(".")[:-1])]
        if before[-1].lower() in around:
            exact.append(node)
    if exact or len(before) < 2:
        return exact
    # `package.module.thing` may name a module by its last parts.
    return [n for n in nodes_named(before[-1], lexical) if graph.kind(n) is NodeKind.FILE]


def literal_scores(
    matched: Mapping[int, Matched], files: NDArray[np.int32], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(by node, by file): 1/2 for one match, towards 1 with the logarithm of their number."""
    counts = np.zeros(n)
    if not matched:
        return counts, counts
    for node, found in matched.items():
        counts[node] = found.n
    inside = files >= 0
    by_file = np.bincount(files[inside], weights=counts[inside], minlength=n)
    return _saturated(counts), _saturated(by_file.astype(np.float64))


def _saturated(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    top = max(float(np.log1p(counts.max(initial=0.0))), 1.0)
    return np.where(counts > 0, 0.5 + 0.5 * np.log1p(counts) / top, 0.0)


def files_with_all(pattern: Pattern, graph: CodeGraph, lexical: LexicalIndex) -> list[str]:
    """Paths of the files that have every word of a pattern, in order; none for a pattern without words."""
    terms = dict.fromkeys(t for word in pattern.text.split() for t in terms_of(word.strip(".,:;()[]{}")))
    numbers = [lexical.terms.position(term) for term in terms]
    if not numbers or min(numbers) < 0:
        return []
    files: NDArray[np.int32] | None = None
    for number in numbers:
        having = impacts(lexical.files, number)[0]
        files = having if files is None else np.intersect1d(files, having)
    assert files is not None
    return [split_id(graph.nodes.ids[int(n)])[0] for n in files]
