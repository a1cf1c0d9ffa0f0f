"""Items of a pack: results and neighbors of results that a reader needs, with source, rows that matter, and edges.

In: a ranking and the results of an answer. Out: a `PackInput` without its header. The results of an answer do not
change; a pack shows the needed ones among them and among their neighbors.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.extract import (
    NeededNode,
    RelevanceInput,
    RelevanceModel,
    default_relevance,
    extract_subgraph,
    hit_of,
    judge_relevance,
    name_edge,
    order_subgraph,
    without_implied_edges,
)
from causalist.index.source_text import SourceText
from causalist.model.answer import (
    AskOptions,
    Level,
    PackItem,
    RankMode,
)
from causalist.model.graph import CodeGraph, Edge, EdgeKind, SubgraphEdge
from causalist.model.index import LexicalIndex
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role
from causalist.model.protocols import NO_STEPS, Steps
from causalist.model.scores import Hit
from causalist.model.source import is_history
from causalist.pack import FOLD_THRESHOLD, strictness_of
from causalist.rank import Ranking, Selection, SnippetLines, find_given_names, parse_query, terms_of_nodes

# Where the question encoder takes part, a confidence that speaks for either model alike, and over how much they mix.
SURE_CONFIDENCE, CONFIDENCE_SPREAD = 0.7, 0.05
UNSURE_FEWER = 16  # nodes of a pack: most of the last of 40 nearly equal ones are read in vain
MAX_PACK_NODES = 60
MAX_SMALL_PACK_NODES = 40  # of a pack of at most MAX_SMALL_TOKENS, which shows less than half of these
MAX_SMALL_TOKENS = 4000
MAX_FILLED_NODES = 150  # where the budget is to be filled
MIN_PROBABILITY = 0.002  # of a node that a pack knows of
MIN_PROBABILITY_USED = 0.05  # of a node whose uses a cut text shows
# Questions of all benchmarks have at most 15 distinct terms, pasted reports 12 to 350. Of these, a body must be worth
# more for its tokens, and files beyond the best ones have less need.
USUAL_TERMS, REPORT_TERMS = 15, 25
REPORT_STRICTNESS = 13.0
N_REPORT_FILES, OTHER_FILES_SHARE = 2, 0.1
MAX_WHOLE_LINES = 60  # of a function that is shown with the definitions inside of it
MIN_PROBABILITY_READ = 0.01  # of a node whose source is read, if the budget is usual and not to be filled


# A passage of a document comes with the code if its score, as if documents ranked as high as code, is at least this
# share of that of the best code. Chosen on tests/benchmarks/documents/questions.jsonl, between its documents and those
# of questions that code alone answers.
DOCUMENT_SHARE = 0.5
DOCUMENT_PROBABILITY = 0.03  # that a reader needs it: it takes the room that more probable code leaves
MAX_MENTIONED = 3  # definitions that a document brings
# An item repeats another that shares so much of all pairs of words that both have. 0.5 and 0.75, and the square of what
# is new, are no better on 210 open questions.
MIN_REPEATED = 0.6
MIN_PAIRS = 12  # a text of fewer says little, whether it is repeated or not
_WORD = lazy_regex(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\x00-\x7f]+")
_PROSE = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt")  # of documents that people read, unlike a specification


class PackChoice(NamedTuple):
    """Items in causal order, kept and removed edges among them, and the factor of the least gain of a body."""

    items: tuple[PackItem, ...]
    edges: tuple[Edge, ...]
    removed_edges: tuple[Edge, ...]
    strictness: float


def choose_needed(
    graph: CodeGraph,
    lexical: LexicalIndex,
    ranking: Ranking,
    chosen: Sequence[Selection],
    confidence: float | None,
    options: AskOptions,
    inside: NDArray[np.bool_] | None,
) -> list[NeededNode]:
    """Return what a pack may show, the most needed first.

    A pattern, a list by PageRank alone and a list of files stay in rank order: nothing was fitted to them.
    """
    if options.level is Level.FILE or options.rank is RankMode.PAGERANK or ranking.question.is_pattern:
        return [NeededNode(each.node, 1.0 / (1.0 + i)) for i, each in enumerate(chosen)]
    given = RelevanceInput(
        graph,
        ranking.definitions,
        ranking.files,
        [each.node for each in chosen],
        frozenset(each.node for each in chosen if each.by_graph),
        confidence or 0.0,
        partial(terms_of_nodes, ranking.question, lexical),
        find_given_names(options.names, graph, lexical, use_edges=options.graph),
        is_word=not options.names and len(ranking.question.prose.split()) < 2,
    )
    share = sure_share(given.confidence) if ranking.uses_similarity else 1.0
    judged = judge_relevance(given, _model_of(share), use_edges=options.graph)
    most = _max_nodes(options) - (0 if options.fill else round(UNSURE_FEWER * (1.0 - share)))
    kept: list[NeededNode] = []
    around: set[int] = set()  # nodes that enclose a node that is kept
    for candidate in judged:
        if len(kept) == most:
            break
        if kept and candidate.probability < MIN_PROBABILITY and not options.fill:
            break
        if inside is not None and not inside[candidate.node]:
            continue
        # A file without source says nothing here that its definitions do not.
        if graph.nodes.kinds[candidate.node] == NodeKind.FILE and candidate.probability < MIN_PROBABILITY_READ:
            continue
        # A class beside its methods would show what they do not.
        if candidate.node in around and graph.nodes.kinds[candidate.node] != NodeKind.FILE:
            continue
        node = _with_its_function(graph, candidate.node)
        if any(each.node == node for each in kept):
            continue
        kept.append(candidate if node == candidate.node else NeededNode(node, candidate.probability))
        around.update(_enclosing(graph, node))
    return kept


def _model_of(share: float) -> RelevanceModel:
    """Return the mean of the two shipped models; `share` is the weight of that for queries in words of the code."""
    sure = default_relevance()
    if share == 1.0:
        return sure
    unsure = default_relevance(by_meaning=True)
    return RelevanceModel(
        *(share * getattr(sure, part) + (1.0 - share) * getattr(unsure, part) for part in ("words", "edges", "alone"))
    )


def sure_share(confidence: float) -> float:
    """Return the share of the model for queries in words of the code, in [0, 1], by the confidence of the answer.

    The first hit mostly answers such a query. It seldom answers others, and what ranks lower is almost as likely.
    """
    return 1.0 / (1.0 + math.exp((SURE_CONFIDENCE - confidence) / CONFIDENCE_SPREAD))


def _with_its_function(graph: CodeGraph, node: int) -> int:
    """Return the outermost short function around a node, else the node itself.

    A callback alone is hard to read, and its function without it has a gap in the middle.
    """
    for outer in reversed(_enclosing(graph, node)):
        if _is_short_function(graph, outer):
            return outer
    return node


def _enclosing(graph: CodeGraph, node: int) -> list[int]:
    """Return the nodes around a node, the innermost first."""
    result = []
    while (node := int(graph.nodes.parents[node])) >= 0:
        result.append(node)
    return result


def _is_short_function(graph: CodeGraph, node: int) -> bool:
    nodes = graph.nodes
    n_lines = int(nodes.end_rows[node] - nodes.start_rows[node]) + 1
    return n_lines <= MAX_WHOLE_LINES and nodes.kinds[node] in CALLABLE_KINDS


def edges_with_inner(graph: CodeGraph, nodes: Sequence[int]) -> list[SubgraphEdge]:
    """Return all edges between nodes, with those of the definitions inside of short functions as the functions' own.

    Of two edges of a kind to the same target, that of the function itself stays. The order is that of
    `extract_subgraph`.
    """
    owner_by_node: dict[int, int] = {}
    is_chosen = np.zeros(len(graph.nodes), dtype=np.bool_)
    is_chosen[list(nodes)] = True
    layer = [node for node in nodes if _is_short_function(graph, node)]
    owners = {node: position for position, node in enumerate(nodes)}
    while layer:
        is_outer = np.zeros(len(graph.nodes), dtype=np.bool_)
        is_outer[layer] = True
        parents = graph.nodes.parents
        layer = np.flatnonzero((parents >= 0) & is_outer[parents] & ~is_chosen).tolist()
        for node in layer:
            outer = int(parents[node])
            owner_by_node[node] = owners[outer] if outer in owners else owner_by_node[outer]
    inner = list(owner_by_node)
    place = [*range(len(nodes)), *owner_by_node.values()]
    result: dict[tuple[int, int, int], SubgraphEdge] = {}
    for edge in sorted(extract_subgraph(graph, [*nodes, *inner]), key=lambda edge: edge.source >= len(nodes)):
        source, target = place[edge.source], place[edge.target]
        is_own = edge.source < len(nodes) and edge.target < len(nodes)
        if is_own or source != target:
            key = (source, target, edge.kind)
            if is_own or key not in result:
                result[key] = replace(edge, source=source, target=target)

    def order(edge: SubgraphEdge) -> tuple[int, ...]:
        return (0, nodes[edge.source], nodes[edge.target], edge.kind) if edge.number >= 0 else (1,)

    return sorted(result.values(), key=order)


def with_document(
    needed: Sequence[NeededNode],
    graph: CodeGraph,
    ranking: Ranking,
    options: AskOptions,
    inside: NDArray[np.bool_] | None,
) -> list[NeededNode]:
    """Return what a pack may show with the passage of a document that says most, and the code that the document names.

    Code is only brought if the query finds it too, the best of it first. A pattern and lists of files have no document.
    """
    if options.level is Level.FILE or options.rank is RankMode.PAGERANK or ranking.question.is_pattern or not needed:
        return list(needed)
    nodes, scores = graph.nodes, ranking.definitions
    is_document = (nodes.kinds == NodeKind.PASSAGE) & (nodes.roles == Role.DOCS) & (scores > 0)
    if inside is not None:
        is_document &= inside
    passages = np.flatnonzero(is_document)
    alike = np.round(scores[passages] / ranking.signals.role[passages], 9)
    best_code = float(scores[nodes.roles == Role.CODE].max(initial=0.0))
    for at in np.lexsort((passages, -alike)).tolist():
        if alike[at] < DOCUMENT_SHARE * best_code:
            return list(needed)
        path = nodes.ids[int(nodes.files[passages[at]])]
        if path.lower().endswith(_PROSE) and not is_history(path):
            break
    else:
        return list(needed)
    passage = int(passages[at])
    needed_by_node = {each.node: each for each in needed}
    edges = graph.edges
    is_from = (edges.kinds == EdgeKind.MENTIONS) & (nodes.files[edges.sources] == nodes.files[passage])
    numbers = np.flatnonzero(is_from & (scores[edges.targets] > 0))
    named = sorted(numbers.tolist(), key=lambda number: (-round(float(scores[edges.targets[number]]), 9), number))
    brought = {int(edges.targets[number]): NeededNode(int(edges.targets[number]), DOCUMENT_PROBABILITY, passage, number)
               for number in reversed(named) if inside is None or inside[edges.targets[number]]}  # fmt: skip
    best = list(reversed(brought.values()))[:MAX_MENTIONED]
    for each in (NeededNode(passage, DOCUMENT_PROBABILITY), *best):
        previous = needed_by_node.get(each.node)
        if previous is None or previous.probability < each.probability:
            needed_by_node[each.node] = each if previous is None else previous._replace(probability=each.probability)
    return sorted(needed_by_node.values(), key=lambda each: -each.probability)


def _max_nodes(options: AskOptions) -> int:
    if options.fill:
        return MAX_FILLED_NODES
    return MAX_SMALL_PACK_NODES if options.max_tokens <= MAX_SMALL_TOKENS else MAX_PACK_NODES


def choose_pack(
    graph: CodeGraph,
    needed: Sequence[NeededNode],
    results: Sequence[Hit],
    definitions_of: Mapping[int, Sequence[int]],
    texts: SourceText,
    options: AskOptions,
    query: str,
    snippets: SnippetLines,
    pinned: Mapping[int, Collection[int]] = MappingProxyType({}),
    steps: Steps = NO_STEPS,
) -> PackChoice:
    """Return the items of a pack.

    `definitions_of` are the definitions that stand for a file in a list of files, `pinned` rows that the query refers
    to, by the node of the file. After the deadline the remaining items have no source.
    """
    share = report_share(query)
    needed = favor_best_files(graph, needed, share)
    nodes = [each.node for each in needed]
    ranks: dict[int, int] = {}
    by_node: dict[int, Hit] = {}
    for place, hit in enumerate(results, start=1):
        node = hit.node if hit.node in nodes else _with_its_function(graph, hit.node)
        ranks.setdefault(node, place)
        if node != hit.node:
            instead = hit_of(graph, node, hit.score, hit.pagerank, hit.path_from_seed)
            by_node.setdefault(node, replace(instead, reasons=hit.reasons))
        else:
            by_node[node] = hit
    edges = without_implied_edges(edges_with_inner(graph, nodes))
    ordered = order_subgraph(
        edges, [each.probability for each in needed], [graph.nodes.ids[n] for n in nodes], options.order
    )
    ids = [graph.nodes.ids[n] for n in nodes]
    uses = find_uses(needed, edges)
    hits = {node: by_node.get(node) or hit_of(graph, node, 0.0, 0.0, ()) for node in nodes}
    late = _read_files_in_time([hits[each.node].path for each in needed if _is_read(each, options)], texts, steps)
    items: list[PackItem] = []
    for position in ordered.order:
        need = needed[position]
        hit = hits[need.node]
        definitions = definitions_of.get(need.node, ())
        is_read = _is_read(need, options) and not definitions and hit.path not in late
        text = texts.get_text(hit) if is_read else ""
        rank = ranks.get(need.node)
        link = graph.edge(need.edge) if rank is None and need.edge >= 0 else None
        rows = _telling_rows(graph, hit, text, snippets, pinned)
        items.append(PackItem(hit, text, rank is None, rank, rows, uses.get(position, ()), need.probability, link))
        for i, definition in enumerate(definitions, start=1):
            # Just behind its file when it comes to who gets the room.
            inner = hit_of(graph, definition, hit.score * (1 - 1e-6 * i), 0.0, ())
            text = "" if hit.path in late else texts.get_text(inner)
            rows = _telling_rows(graph, inner, text, snippets, pinned)
            items.append(PackItem(inner, text, False, None, rows, (), need.probability * (1 - 1e-6 * i)))
    removed = tuple(name_edge(graph, edge, ids) for edge in ordered.removed)
    named = tuple(name_edge(graph, edge, ids) for edge in edges)
    return PackChoice(tuple(discount_repeated(items)), named, removed, REPORT_STRICTNESS**share)


def report_share(query: str) -> float:
    """Return how much a query, without given names, is a pasted report: from 0 for USUAL_TERMS distinct terms to 1."""
    beyond = (len(parse_query(query).terms) - USUAL_TERMS) / (REPORT_TERMS - USUAL_TERMS)
    return min(max(beyond, 0.0), 1.0)


def favor_best_files(graph: CodeGraph, needed: Sequence[NeededNode], share: float) -> list[NeededNode]:
    """Return the nodes, the most needed first, with less need outside of the files that need most for a report.

    A report of a defect says much that no code is about, and most are mended in one or two files.
    """
    if not share:
        return list(needed)
    files = graph.nodes.files
    need_by_file: dict[int, float] = {}
    for each in needed:
        file = int(files[each.node])
        need_by_file[file] = need_by_file.get(file, 0.0) + each.probability
    best = sorted(need_by_file, key=lambda file: (-round(need_by_file[file], 9), file))[:N_REPORT_FILES]
    factor = OTHER_FILES_SHARE**share
    lowered = [
        each if int(files[each.node]) in best else each._replace(probability=each.probability * factor)
        for each in needed
    ]
    return sorted(lowered, key=lambda each: (-round(each.probability, 9), each.node))


def discount_repeated(items: Sequence[PackItem]) -> list[PackItem]:
    """Return the items with a lower need for those whose source repeats that of a more needed one.

    Only the part of the text that is new counts. Who has read one of six overloads, or the synchronous one of two
    twins, gains little from the others.
    """
    result = list(items)
    pairs_of = {i: _word_pairs(item.text) for i, item in enumerate(items) if item.text}
    order = sorted(pairs_of, key=lambda i: (-round(items[i].needed, 9), i))
    for place, i in enumerate(order):
        own = pairs_of[i]
        if len(own) < MIN_PAIRS:
            continue
        for j in order[:place]:
            other = pairs_of[j]
            if MIN_REPEATED * max(len(own), len(other)) > min(len(own), len(other)):
                continue  # lengths alone tell
            repeated = len(own & other) / len(own | other)
            if repeated >= MIN_REPEATED:
                result[i] = result[i]._replace(needed=result[i].needed * (1 - repeated))
    return result


def _word_pairs(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighboring words of a text, in lower case; names are taken apart."""
    words = [word.lower() for word in _WORD.findall(text)]
    return frozenset(pairwise(words))


def _is_read(needed: NeededNode, options: AskOptions) -> bool:
    return options.fill or needed.probability >= MIN_PROBABILITY_READ * strictness_of(options.max_tokens)


def find_uses(needed: Sequence[NeededNode], edges: Sequence[SubgraphEdge]) -> dict[int, tuple[int, ...]]:
    """Return the rows where each position uses another one that is probably needed, too."""
    rows: dict[int, dict[int, None]] = {}
    for edge in edges:
        is_needed = needed[edge.target].probability >= MIN_PROBABILITY_USED
        if edge.row >= 0 and edge.source != edge.target and is_needed:
            rows.setdefault(edge.source, {})[edge.row] = None
    return {source: tuple(sorted(rows_of_source)) for source, rows_of_source in rows.items()}


def _telling_rows(
    graph: CodeGraph, hit: Hit, text: str, lines: SnippetLines, pinned: Mapping[int, Collection[int]]
) -> tuple[tuple[int, float], ...]:
    """Return rows of a text that may be cut, with their weight in the query.

    Rows to which the query points weigh most.
    """
    if text.count("\n") < FOLD_THRESHOLD:
        return ()
    rows = {hit.start_row + row: weight for row, weight in lines.find(text).items()}
    most = max(rows.values(), default=0.0) + 1.0
    here = pinned.get(int(graph.nodes.files[hit.node]), ())
    rows.update((row, most) for row in here if hit.start_row <= row <= hit.end_row)
    return tuple(sorted(rows.items()))


def _read_files_in_time(paths: Sequence[str], texts: SourceText, steps: Steps) -> set[str]:
    """Read files, the most needed first, until the deadline; return paths left unread."""
    distinct = list(dict.fromkeys(paths))
    for number, path in enumerate(distinct):
        if not steps.in_time():
            steps.leave_out(f"the source of {len(distinct) - number} of {len(distinct)} files")
            return set(distinct[number:])
        texts.load(path)
    return set()
