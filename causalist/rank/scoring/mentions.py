"""Mentions of a query -> how strongly it names each node.

Mentions are names, paths and literals, and stack frames. A trace was printed by another version on another machine: the
front of its paths is strange, its lines may have moved, and most of its frames lie in other packages. A frame counts if
the end of its path determines a file, or if its function is defined in a file that the path may mean.

A query of one ordinary word lists the definitions of exactly that name first, in the order of `find`. By its words
`Token` is hardly better than `load_token`: both names have the word, and the longer definition has it more often. The
same holds for what handles the one route that a query names: other handlers have the words of its path as well.
"""

from collections.abc import Mapping, Sequence
from posixpath import splitext

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.index import LexicalIndex
from causalist.model.node_ids import (
    CALLABLE_KINDS,
    ROUTE_PREFIX,
    TYPE_KINDS,
    NodeKind,
    Role,
    external_id,
    last_name,
    split_id,
)
from causalist.model.scores import TextMatches, Transition
from causalist.rank.lexical.bm25 import find_nodes_by_name, impacts, query_coverage
from causalist.rank.query.identifiers import MentionKind
from causalist.rank.query.query import ParsedQuery, TextPattern
from causalist.rank.query.tracebacks import StackFrame
from causalist.rank.terms import terms_of

# Factor for each frame between a frame and the innermost one of the repository, where the error occurred.
FRAME_DECAY = 0.6
OUTER_TRACE = 0.7  # factor for the frames of each further trace, such as that of an error caused by the first
_MAX_LOCATED_FRAMES = 12  # frames of one trace
# A package begins after each of these folders.
_PACKAGE_FOLDERS = ("site-packages", "dist-packages", "node_modules", "vendor")
_FOREIGN = (
    "/rustc/", "/.cargo/registry/", "/go/src/", "/go/pkg/mod/", "/gems/", "/lib/ruby/", "/lib/python", "/jre/", "/jdk/",
)  # fmt: skip


def frame_scores(question: ParsedQuery, graph: CodeGraph, lexical: LexicalIndex) -> NDArray[np.float64]:
    """Return how near each definition is to the end of the query's traceback, shape (n_nodes,), in [0, 1]."""
    scores = np.zeros(len(graph.nodes))
    for node, value in locate_frames(question.frames, graph, lexical).items():
        scores[node] = value
    return scores


def locate_frames(frames: Sequence[StackFrame], graph: CodeGraph, lexical: LexicalIndex) -> dict[int, float]:
    """Return the score of each node that a frame means, in (0, 1].

    It is 1 for the innermost frame of the most informative trace, and less for frames further out.
    """
    result: dict[int, float] = {}
    n_inside_by_trace: dict[int, int] = {}
    value_of_trace = 1.0
    last = frames[0].trace if frames else 0
    for frame in frames:
        if frame.trace != last:
            if n_inside_by_trace.get(last):
                value_of_trace *= OUTER_TRACE
            last = frame.trace
        n_inner = n_inside_by_trace.get(frame.trace, 0)
        if n_inner >= _MAX_LOCATED_FRAMES:
            continue
        node, doubt = _node_of(frame, graph, lexical)
        if node < 0:
            continue
        if node not in result:
            result[node] = value_of_trace * FRAME_DECAY**n_inner * doubt
        n_inside_by_trace[frame.trace] = n_inner + 1
    return result


def frame_rows(frames: Sequence[StackFrame], graph: CodeGraph, lexical: LexicalIndex) -> list[tuple[int, int]]:
    """Return (node, row) of each frame whose line is inside the definition that it means; rows from 0."""
    nodes = graph.nodes
    rows = [(_node_of(frame, graph, lexical)[0], frame.line - 1) for frame in frames if frame.line]
    return [(n, row) for n, row in rows if n >= 0 and nodes.start_rows[n] <= row <= nodes.end_rows[n]]


def _node_of(frame: StackFrame, graph: CodeGraph, lexical: LexicalIndex) -> tuple[int, float]:
    """Return (the innermost definition of a frame, or its file; confidence in (0, 1]).

    The result is (-1, 0) for a frame outside of the repository.
    """
    parts = [p for p in frame.path.split("/") if p not in ("", ".", "..")]
    if not parts:
        return -1, 0.0
    candidates = [n for n in find_nodes_by_name(parts[-1], lexical) if graph.kind(n) is NodeKind.FILE]
    foreign = any(folder in f"/{frame.path}" for folder in _FOREIGN)
    best, longest = [], 0
    for file in candidates:
        shared = _shared_tail(parts, graph.nodes.ids[file])
        if shared > longest:
            best, longest = [file], shared
        elif shared == longest:
            best.append(file)
    if not best or _of_another_package(parts, longest, graph):
        return -1, 0.0
    sure = longest == len(parts) or (longest >= 2 and not foreign)
    confirmed = [
        (file, node) for file in best for node in [definition_at(file, frame.line, frame.function, graph)] if node >= 0
    ]
    named_nodes = [(f, n) for f, n in confirmed if frame.function and last_name(graph.nodes.ids[n]) == frame.function]
    if named_nodes and (len(named_nodes) == 1 or sure):
        return named_nodes[0][1], 1.0 / len(named_nodes)
    if not sure or len(best) > 1:
        # Only a name, and nothing in the file agrees with the trace.
        alone = len(best) == 1 and not foreign and not frame.function
        return (best[0], 0.5) if alone else (-1, 0.0)
    return (confirmed[0][1] if confirmed else best[0]), 1.0


def _shared_tail(parts: Sequence[str], file_id: str) -> int:
    """Return the number of parts that a path and a file have in common at their ends."""
    shared = 0
    for a, b in zip(reversed(split_id(file_id)[0].lower().split("/")), reversed(parts), strict=False):
        if a != b.lower():
            break
        shared += 1
    return shared


def _of_another_package(parts: Sequence[str], shared: int, graph: CodeGraph) -> bool:
    """Return True if a path leads into an installed package that is not this repository."""
    at = max((i for i, part in enumerate(parts) if part in _PACKAGE_FOLDERS), default=-1)
    if at < 0 or at + 1 >= len(parts):
        return False
    rest = parts[at + 1 :]
    if parts[at] == "node_modules":
        name = "/".join(rest[:2]) if rest[0].startswith("@") else rest[0]
        # An external import is another package. For the repository's own package, the whole path inside of it agrees.
        return graph.nodes.ids.position(external_id(name)) >= 0 or shared < len(rest) - 1 - name.count("/")
    return shared < len(rest)


def definition_at(file: int, line: int, function: str, graph: CodeGraph) -> int:
    """Return the definition in `file` with the name `function`, or the innermost one around `line`.

    Of several with this name, it is the one around `line` (1-based) or nearest to it. The result is -1 if there is
    neither.
    """
    nodes = graph.nodes
    definitions = np.flatnonzero((nodes.files == file) & ~np.isin(nodes.kinds, [NodeKind.FILE, NodeKind.FIELD]))
    row = line - 1
    starts, ends = nodes.start_rows[definitions], nodes.end_rows[definitions]
    if function:
        called = np.array([last_name(nodes.ids[int(n)]) == function for n in definitions], dtype=np.bool_)
        if called.any():
            distance = np.maximum(np.maximum(starts - row, row - ends), 0)[called]
            return int(definitions[called][np.lexsort((definitions[called], (ends - starts)[called], distance))[0]])
    enclosing = np.flatnonzero((starts <= row) & (row <= ends)) if line else np.zeros(0, dtype=np.int64)
    if not len(enclosing):
        return -1
    return int(definitions[enclosing[np.lexsort((definitions[enclosing], ends[enclosing] - starts[enclosing]))[0]]])


# Names of more definitions are not used; the weight falls with the square root of the number.
_MAX_AMBIGUOUS_NODES = 50
_MIN_IDENTIFIER_LETTERS = 4  # letters; shorter names occur everywhere
_NAME_PARTS = lazy_regex(r"[^\w$]+")
_MAX_DEFINITIONS_WITH_CODE = 8  # definitions that contain the code of an error; with more, it is ignored


def mention_scores(question: ParsedQuery, graph: CodeGraph, lexical: LexicalIndex) -> NDArray[np.float64]:
    """Return how strongly a query names each node, shape (n_nodes,), in [0, 1].

    The score is 1 for a node that the title names without namesakes, less for ambiguous names.
    """
    scores = np.zeros(len(graph.nodes))
    for mention in question.named:
        if mention.kind is MentionKind.PATH:
            nodes = _by_path(mention.text, graph, lexical)
            if mention.line and len(nodes) == 1:
                nodes = [n for n in (*nodes, definition_at(nodes[0], mention.line, "", graph)) if n >= 0]
                scores[nodes] = np.maximum(scores[nodes], mention.weight)
                continue
        elif mention.kind is MentionKind.CODE:
            nodes = _with_term(mention.text, lexical)
        elif mention.kind is MentionKind.QUALIFIED:
            nodes = _by_qualified_name(mention.text, graph, lexical)
        else:
            nodes = _prefer_names(find_nodes_by_name(mention.text, lexical), graph)
        if not 0 < len(nodes) <= _MAX_AMBIGUOUS_NODES:
            continue
        value = mention.weight / np.sqrt(len(nodes))
        for node in nodes:
            scores[node] = max(scores[node], value)
    return scores


_MAX_NAMESAKES_GIVEN = 4  # definitions of a name that a caller gave; more of them say little of any
_MAX_NAMESAKES_COMPARED = 12  # of these, the ones near another given name may still be meant
_MAX_TYPES_GIVEN = 2  # the same for types
_MAX_TYPE_LINES = 60  # of functions of a type that a name means together
_DISTANT_SHARE = 0.5  # of the share of a definition, where another of its name is nearer to the other names
_MAX_EDGES_NEAR, _MAX_EDGES_BETWEEN = 60, 40  # of a definition, and of one between two given ones
_CONSTRUCTORS = frozenset({"constructor", "__init__", "__construct", "initialize"})
_VALUE_KINDS = frozenset({NodeKind.FIELD, NodeKind.CONSTANT})


def find_given_names(
    names: Sequence[str], graph: CodeGraph, lexical: LexicalIndex, *, use_edges: bool = True
) -> dict[int, float]:
    """Return what has a name that the caller gave, each with its share of that name, in (0, 1].

    Names are separated by spaces or commas. The last part of `Type.method` counts, in its case, and the part before it
    where one of the definitions has such an owner. Functions come before fields and constants of the same name, and
    code before tests, and what overrides before what it overrides; a type stands for its functions if they are few and
    short, else for its constructors, which have half of its share together. With `use_edges`, the
    definitions of a name that are at most two edges or in one file with those of other names come before its others. A
    name of more than _MAX_NAMESAKES_GIVEN definitions gives none, unless such a one is among them.
    """
    given = dict.fromkeys(name for text in names for name in text.replace(",", " ").split())
    groups = {name: _definitions_of_name(name, graph, lexical, _MAX_NAMESAKES_COMPARED) for name in given}
    shares: dict[int, float] = {}

    def give(nodes: Sequence[int], share: float) -> None:
        for node in nodes:
            shares[node] = max(shares.get(node, 0.0), share)

    for name, (named, share) in groups.items():
        others = [nodes for other, (nodes, _) in groups.items() if other != name]
        counts = _count_names_near(named, others, graph) if use_edges and len(named) > 1 else [0.0] * len(named)
        best = [node for node, count in zip(named, counts, strict=True) if count == max(counts)]
        if len(best) < len(named):
            give(best, share / len(best))
            if len(named) <= _MAX_NAMESAKES_GIVEN:
                give([node for node in named if node not in best], share * _DISTANT_SHARE / len(named))
        else:
            named, share = _definitions_of_name(name, graph, lexical, _MAX_NAMESAKES_GIVEN)
            give(named, share / max(len(named), 1))
    return shares


def _definitions_of_name(name: str, graph: CodeGraph, lexical: LexicalIndex, most: int) -> tuple[list[int], float]:
    """Return the definitions that a given name means, and the share of the name that they have together.

    Of each kind there are `most` at most: functions, else values, else constructors of types.
    """
    nodes = graph.nodes
    *before, last = [part for part in _NAME_PARTS.split(name) if part] or [""]
    every = [node for node in find_nodes_by_name(last, lexical) if last_name(nodes.ids[node]) == last]
    for kinds, share in ((CALLABLE_KINDS, 1.0), (_VALUE_KINDS, 1.0), (TYPE_KINDS, 0.5)):
        named = [node for node in every if graph.kind(node) in kinds]
        named = [node for node in named if nodes.roles[node] == Role.CODE] or named
        owned = [node for node in named if before and _owner(nodes.ids[node]) == before[-1]]
        named = _without_overridden(owned or named, graph)
        if kinds is TYPE_KINDS and len(named) <= _MAX_TYPES_GIVEN:
            named = _functions_of_types(named, graph, most)
        if 0 < len(named) <= most:
            return named, share
    return [], 0.0


def _without_overridden(named: list[int], graph: CodeGraph) -> list[int]:
    """Return definitions of a name without those that others of them override: a declaration has no body to read."""
    edges = graph.edges
    numbers = graph.edges_out_of(np.array(named, dtype=np.int64))
    overridden = set(edges.targets[numbers[edges.kinds[numbers] == EdgeKind.OVERRIDES]].tolist())
    return [node for node in named if node not in overridden] or named


def _functions_of_types(types: Sequence[int], graph: CodeGraph, most: int) -> list[int]:
    """Return the functions of types if they are few and short, else their constructors."""
    nodes = graph.nodes
    members = np.flatnonzero(np.isin(nodes.parents, types)).tolist()
    functions = [node for node in members if graph.kind(node) in CALLABLE_KINDS]
    n_lines = int((nodes.end_rows[functions] - nodes.start_rows[functions] + 1).sum())
    if len(functions) <= most and n_lines <= _MAX_TYPE_LINES:
        return functions
    return [node for node in functions if last_name(nodes.ids[node]) in _CONSTRUCTORS]


def _count_names_near(named: Sequence[int], others: Sequence[Sequence[int]], graph: CodeGraph) -> list[float]:
    """Return, for each definition, how many other names have one near it; one of the same file alone counts half."""
    files = graph.nodes.files
    counts = []
    for node in named:
        near = _near_nodes(graph, node)
        count = 0.0
        for definitions in others:
            if any(each in near for each in definitions):
                count += 1.0
            elif any(files[each] == files[node] for each in definitions):
                count += 0.5
        counts.append(count)
    return counts


def _near_nodes(graph: CodeGraph, node: int) -> set[int]:
    """Return what is one or two edges away, not through nodes of many edges."""
    first = _linked_nodes(graph, node)
    result = set(first)
    for between in first[:_MAX_EDGES_NEAR]:
        onward = _linked_nodes(graph, between)
        if len(onward) <= _MAX_EDGES_BETWEEN:
            result.update(onward)
    return result


def _linked_nodes(graph: CodeGraph, node: int) -> list[int]:
    """Return the distinct definitions of the repository at the other ends of the edges of a node, ascending.

    That a file or a class contains both says less, and that both use one thing from outside says nothing.
    """
    edges, kinds = graph.edges, graph.nodes.kinds
    out = np.arange(edges.indptr[node], edges.indptr[node + 1])
    back = edges.incoming[edges.incoming_indptr[node] : edges.incoming_indptr[node + 1]]
    ends = np.concatenate([edges.targets[out], edges.sources[back]])
    is_kept = np.concatenate([edges.kinds[out], edges.kinds[back]]) != EdgeKind.CONTAINS
    is_kept &= (kinds[ends] != NodeKind.EXTERNAL) & (kinds[ends] != NodeKind.FILE)
    result: list[int] = np.unique(ends[is_kept]).tolist()
    return result


def _owner(node_id: str) -> str:
    """Return the name before the last one of a symbol, "" without one."""
    return (split_id(node_id)[1] or "").rpartition(".")[0].rpartition(".")[2].partition("~")[0]


def identifier_scores(question: ParsedQuery, lexical: LexicalIndex, n: int) -> NDArray[np.float64]:
    """Return the share of the query's names that each definition contains as a whole, shape (n,), in [0, 1].

    Names count by weight and rarity. The code that a query means uses the named things in more places than the one that
    defines them.
    """
    weights: dict[int, float] = {}
    for mention in question.named:
        for part in mention.text.lower().split(".") if mention.kind is not MentionKind.PATH else ():
            number = lexical.terms.position(part) if len(part) >= _MIN_IDENTIFIER_LETTERS else -1
            if number >= 0:
                weights[number] = max(weights.get(number, 0.0), mention.weight)
    return query_coverage(weights, lexical.definitions, n)


def _with_term(code: str, lexical: LexicalIndex) -> list[int]:
    """Return the definitions whose text contains a code as a whole, if they are few."""
    at = lexical.terms.position(code.lower())
    definitions = impacts(lexical.definitions, at)[0] if at >= 0 else ()
    return [int(n) for n in definitions] if len(definitions) <= _MAX_DEFINITIONS_WITH_CODE else []


def _by_path(path: str, graph: CodeGraph, lexical: LexicalIndex) -> list[int]:
    """Return the files whose path ends with the longest possible tail of `path`."""
    parts = [p for p in path.split("/") if p]
    if not parts:
        return []
    candidates = [n for n in find_nodes_by_name(parts[-1], lexical) if graph.kind(n) is NodeKind.FILE]
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


def _prefer_names(nodes: list[int], graph: CodeGraph) -> list[int]:
    """Return `nodes` without handlers, whose titles are often names of what they are about, unless all are such."""
    return [node for node in nodes if graph.kind(node) is not NodeKind.HANDLER] or nodes


def _by_qualified_name(dotted: str, graph: CodeGraph, lexical: LexicalIndex) -> list[int]:
    """Return the definitions with the last name of `dotted` whose qualified name or path agrees with the rest."""
    titled = [n for n in find_nodes_by_name(dotted, lexical) if graph.kind(n) is NodeKind.HANDLER]
    if titled:
        return titled
    *before, last = dotted.split(".")
    namesakes = _prefer_names(find_nodes_by_name(last, lexical), graph)
    exact = []
    for node in namesakes:
        path, symbol = split_id(graph.nodes.ids[node])
        qualifiers = [p.lower() for p in (*splitext(path)[0].split("/"), *(symbol or "").split(".")[:-1])]
        if before[-1].lower() in qualifiers:
            exact.append(node)
    if exact or len(before) < 2:
        return exact
    # `package.module.thing` may name a module by its last parts.
    return [n for n in find_nodes_by_name(before[-1], lexical) if graph.kind(n) is NodeKind.FILE]


def literal_scores(
    matched: Mapping[int, TextMatches], files: NDArray[np.int32], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (scores by node, scores by file): 1/2 for one match, toward 1 with the logarithm of their number."""
    counts = np.zeros(n)
    if not matched:
        return counts, counts
    for node, matches in matched.items():
        counts[node] = matches.n
    is_in_file = files >= 0
    by_file = np.bincount(files[is_in_file], weights=counts[is_in_file], minlength=n)
    return _saturate(counts), _saturate(by_file.astype(np.float64))


def _saturate(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    top = max(float(np.log1p(counts.max(initial=0.0))), 1.0)
    return np.where(counts > 0, 0.5 + 0.5 * np.log1p(counts) / top, 0.0)


def files_with_all(pattern: TextPattern, graph: CodeGraph, lexical: LexicalIndex) -> list[str]:
    """Return the paths of the files that have every word of a pattern, in order.

    A pattern without words gives none.
    """
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


_WORD = lazy_regex(r"[^\W\d_][^\W_]*")
_NO_DEFINITIONS = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL, NodeKind.FIELD)
_USABLE = (*TYPE_KINDS, NodeKind.TYPE, NodeKind.FUNCTION)
_ROUTE = lazy_regex(r"(?<![\w/])(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (/[^\s?#\"'`,;]*)")
_ANY_METHOD = "ANY"  # in the name of a route that takes all
_MAX_NAMESAKES = 5  # definitions of a name that rank first; further ones rank by their text
_STEP = 1e-3  # between the raised scores, of which only the order matters


def exact_namesakes(
    question: ParsedQuery,
    graph: CodeGraph,
    lexical: LexicalIndex,
    transition: Transition,
    inside: NDArray[np.bool_] | None,
) -> list[int]:
    """Return the definitions whose name is the whole question, in its case, best first; none for other questions.

    Code comes before tests and documentation, then what more other nodes are linked with, as in `find`. A member of a
    namesake (a constructor) is left out. A word in small letters is more often a subject, such as `cache` or `auth`:
    it names only types and functions of code that others can use, and no variables, methods or local functions.
    """
    word = question.text.strip()
    if question.is_pattern or not _WORD.fullmatch(word):
        return []
    # An identifier of several words is looked up by its mention. `Error` is one word, and may have been raised.
    if any(mention.text != word for mention in question.named) or (question.named and not word[1:].islower()):
        return []
    nodes = graph.nodes
    is_subject = word.islower()
    namesakes = [
        node
        for node in find_nodes_by_name(word, lexical)
        if graph.kind(node) not in _NO_DEFINITIONS
        and (inside is None or inside[node])
        and (not is_subject or _is_usable(node, graph))
        and last_name(nodes.ids[node]) == word
    ]
    all_namesakes = set(namesakes)
    namesakes = [node for node in namesakes if int(nodes.parents[node]) not in all_namesakes]

    def place(node: int) -> tuple[bool, int, int, int]:
        return bool(nodes.roles[node] != Role.CODE), -int(transition.degrees[node]), len(nodes.ids[node]), node

    return sorted(namesakes, key=place)[:_MAX_NAMESAKES]


def handlers_of_route(question: ParsedQuery, graph: CodeGraph, inside: NDArray[np.bool_] | None) -> list[int]:
    """Return what handles the only route that a question names, such as `POST /users/:id`, by node; mostly nothing.

    The path is that of the route, with the names of its parameters. Handlers in tests are left out.
    """
    named = set(_ROUTE.findall(question.text)) if not question.is_pattern else set()
    if len(named) != 1:
        return []
    ((method, path),) = named
    nodes, edges = graph.nodes, graph.edges
    names = (f"{ROUTE_PREFIX}{each} {path.rstrip('.:')}" for each in (method, _ANY_METHOD))
    route = next((node for node in (nodes.ids.position(external_id(name)) for name in names) if node >= 0), -1)
    handlers = {
        int(edges.targets[number])
        for number in (graph.outgoing(route) if route >= 0 else ())
        if edges.kinds[number] == EdgeKind.ROUTES
    }
    return [
        node
        for node in sorted(handlers)
        if graph.kind(node) not in _NO_DEFINITIONS
        and nodes.roles[node] != Role.TEST
        and (inside is None or inside[node])
    ][:_MAX_NAMESAKES]


def _is_usable(node: int, graph: CodeGraph) -> bool:
    """Return True for a type or function of code that does not stand inside a function."""
    parent = int(graph.nodes.parents[node])
    is_local = parent >= 0 and graph.kind(parent) in CALLABLE_KINDS
    return graph.kind(node) in _USABLE and graph.nodes.roles[node] == Role.CODE and not is_local


def with_these_first(scores: NDArray[np.float64], nodes: list[int]) -> NDArray[np.float64]:
    """Return a copy of scores, (n,), in which `nodes` precede all others, in their order.

    A score that is high enough stays.

    >>> with_these_first(np.array([3.0, 5.0, 4.0]), [1, 0]).round(3).tolist()
    [4.001, 5.0, 4.0]
    """
    raised = scores.copy()
    raised[nodes] = -np.inf
    least = float(raised.max(initial=0.0)) + _STEP
    for node in reversed(nodes):
        raised[node] = least = max(float(scores[node]), least)
        least += _STEP
    return raised
