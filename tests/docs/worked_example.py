"""The numbers of docs/how-it-works.md, computed anew: `python -m tests.docs.worked_example [--write]`.

A copy of the sample repository is indexed and asked in a temporary folder. Every function whose name begins with
`block_` writes one marked block of the page. Steps that the program keeps to itself (BM25 of one term, the places that
only PageRank fills) are done again here in the plainest way and compared with what the program found, so that the
page cannot explain something else than what happens.
"""

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.model.answer import Answer, AskOptions, Level
from causalist.model.facts import MODULE_SCOPE
from causalist.model.graph import ORDERING_KINDS, CodeGraph, EdgeKind, EdgeTable
from causalist.model.node_ids import NodeKind, split_id
from causalist.model.scores import Transition
from causalist.parse import dialect_of, load_grammar, parse_source, parse_text
from causalist.pipeline.repository import Repository
from causalist.rank import (
    Ranking,
    Selection,
    WalkWeights,
    bm25,
    build_transition,
    choose,
    default_weights,
    impacts,
    parse_query,
    rank_question,
    terms_in_vocabulary,
)
from causalist.rank.lexical import bm25 as bm25_module
from causalist.rank.lexical import build as lexical_module
from causalist.rank.pagerank import personalized_pagerank
from causalist.rank.query.query import ROUTES
from causalist.rank.scoring import graph_evidence as rules
from causalist.rank.terms import terms_of
from tests.docs.blocks import DOCS, ROOT, blocks_of, table, with_blocks
from tests.model.counted import counted

PAGE = DOCS / "how-it-works.md"
SAMPLE = ROOT / "sample_repos" / "taskboard-api"
QUESTION = "where does user authentication happen?"
AUTH = "src/middleware/auth-middleware.ts"
VERIFIER = "src/security/jwt-verifier.ts"
CRYPTO = "src/security/crypto-utils.ts"
# The excerpt that is walked by hand: each calls the next.
EXCERPT = (
    f"{AUTH}::authenticateUser",
    f"{AUTH}::acceptToken",
    f"{VERIFIER}::verifyToken",
    f"{VERIFIER}::decodeToken",
)


@dataclass(frozen=True, slots=True)
class Example:
    """Everything that was computed for the question."""

    repository: Repository
    options: AskOptions
    ranking: Ranking
    chosen: list[Selection]
    answer: Answer
    files_answer: Answer

    @property
    def graph(self) -> CodeGraph:
        return self.repository.index.graph

    @property
    def transition(self) -> Transition:
        return self.repository.index.transition

    def node(self, node_id: str) -> int:
        return self.graph.nodes.ids.position(node_id)

    def name(self, node: int) -> str:
        """The qualified name of a symbol, the path of a file."""
        node_id = self.graph.nodes.ids[node]
        return f"`{split_id(node_id)[1] or node_id}`"


def compute() -> Example:
    """Indexes a copy of the sample repository and asks the question."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / SAMPLE.name
        shutil.copytree(SAMPLE, copy, ignore=shutil.ignore_patterns(".causalist"))
        repository = Repository.open(copy, exact_root=True)
        options = AskOptions(semantic=False)
        index = repository.index
        ranking = rank_question(
            parse_query(QUESTION), index.graph, index.lexical, index.transition, default_weights(), options
        )
        return Example(
            repository,
            options,
            ranking,
            choose(ranking, index.graph, index.transition, options),
            repository.ask(QUESTION, options),
            repository.ask(QUESTION, AskOptions(level=Level.FILE, semantic=False)),
        )


# -- the index


def block_index(example: Example) -> str:
    graph, info = example.graph, example.repository.info()
    nodes = Counter(graph.kind(n).label for n in range(len(graph.nodes)))
    edges = Counter(EdgeKind(int(k)).label for k in graph.edges.kinds)
    del nodes["external"]
    return (
        f"{info.files} files become {info.nodes} nodes: {_counts(nodes)}. "
        f"{len(graph.edges)} edges join them, {info.edges} of them inside the repository: {_counts(edges)}.\n"
    )


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# -- terms and candidates


def block_terms(example: Example) -> str:
    lexical, question = example.repository.index.lexical, example.ranking.question
    n_documents = len(_documents(example)[0])
    rows: list[tuple[object, ...]] = []
    known = terms_in_vocabulary(question, lexical)
    for number, weight in sorted(known.items(), key=lambda item: (-item[1], lexical.terms[item[0]])):
        frequency = int(np.diff(lexical.definitions.indptr)[number])
        in_files = int(np.diff(lexical.files.indptr)[number])
        rows.append(
            (f"`{lexical.terms[number]}`", f"{weight:g}", frequency, in_files, f"{_idf(n_documents, frequency):.3f}")
        )
    head = ("term", "weight", "documents with it", "files with it", "idf over documents")
    return table(head, rows) + f"\nThere are {n_documents} documents. The route is `{question.route.value}`.\n"


def block_bm25(example: Example) -> str:
    lengths, counts = _documents(example)
    node = example.node(EXCERPT[0])
    lexical = example.repository.index.lexical
    mean = sum(lengths.values()) / len(lengths)
    k1, b = bm25_module.K1, lexical_module.B_DEFINITION
    lines = [
        f"`authenticateUser` has {_plain(lengths[node])} weighted terms, the mean is {mean:.1f}. "
        f"With k1 = {k1:g} and b = {b:g} its length counts as "
        f"{k1:g} · (1 − {b:g} + {b:g} · {_plain(lengths[node])} / {mean:.1f}) = {_norm(lengths[node], mean):.3f}.\n"
    ]
    total = 0.0
    for number, weight in sorted(terms_in_vocabulary(example.ranking.question, lexical).items(), reverse=True):
        term = lexical.terms[number]
        tf = counts[node][term]
        if not tf:
            continue
        idf = _idf(len(lengths), int(np.diff(lexical.definitions.indptr)[number]))
        impact = idf * tf * (k1 + 1) / (tf + _norm(lengths[node], mean))
        stored = _stored_impact(example, number, node)
        assert abs(impact - stored) < 1e-4, f"BM25 of {term!r} is {impact} here and {stored} in the index"
        total += weight * impact
        lines.append(
            f"- `{term}`, count {_plain(tf)}: {idf:.3f} · {_plain(tf)} · {k1 + 1:g} / "
            f"({_plain(tf)} + {_norm(lengths[node], mean):.3f}) = {impact:.3f}, with weight {weight:g}"
        )
    scores = bm25(lexical.definitions, terms_in_vocabulary(example.ranking.question, lexical), len(example.graph.nodes))
    best = int(scores.argmax())
    assert abs(total - scores[node]) < 1e-4
    lines.append(
        f"\nThe sum is {total:.3f}. The best document, {example.name(best)}, has {scores[best]:.3f}, so that the "
        f"signal `text` of `authenticateUser` is {total:.3f} / {scores[best]:.3f} = {total / scores[best]:.3f}."
    )
    return "\n".join(lines) + "\n"


def _stored_impact(example: Example, term: int, node: int) -> float:
    documents, values = impacts(example.repository.index.lexical.definitions, term)
    return float(values[documents == node][0])


def _documents(example: Example) -> tuple[dict[int, float], dict[int, Counter[str]]]:
    """(weighted length, weighted count by term) of every document, from the facts."""
    counts: dict[int, Counter[str]] = {}

    def add(node: int, word: str, weight: float) -> None:
        for term in terms_of(word):
            counts.setdefault(node, Counter())[term] += weight

    graph = example.graph
    for entry in sorted(SAMPLE.rglob("*")):
        path = entry.relative_to(SAMPLE).as_posix()
        if not entry.is_file() or example.node(path) < 0:
            continue
        dialect, data = dialect_of(path), entry.read_bytes()
        facts = parse_source(data, load_grammar(dialect)) if dialect else parse_text(path, data)
        inside = {MODULE_SCOPE: example.node(path)}
        by_place = {
            (int(graph.nodes.start_bytes[n]), int(graph.nodes.end_bytes[n]), int(graph.nodes.kinds[n])): n
            for n in np.flatnonzero(graph.nodes.files == example.node(path)).tolist()
        }
        for i, definition in enumerate(facts.definitions):
            node = inside[i] = by_place[definition.start_byte, definition.end_byte, definition.kind]
            if definition.kind == NodeKind.FIELD:
                continue
            add(node, definition.name, lexical_module.WEIGHT_NAME)
            for outer in definition.qualname.split(".")[:-1]:
                add(node, outer, lexical_module.WEIGHT_OUTER_NAME)
        for i, passage in enumerate(facts.passages):
            node = inside[i] = by_place[passage.start_byte, passage.end_byte, NodeKind.PASSAGE]
            for term in dict.fromkeys(t for word in passage.title.split() for t in terms_of(word)):
                counts.setdefault(node, Counter())[term] += lexical_module.WEIGHT_NAME
        for (document, word), n in counted(facts).items():
            add(inside[document], word, n)
        parts = path.rpartition(".")[0].split("/")
        for term in dict.fromkeys(t for part in parts for t in terms_of(part)):
            for node in inside.values():
                if graph.kind(node) is not NodeKind.FIELD:
                    counts.setdefault(node, Counter())[term] += lexical_module.WEIGHT_PATH
    return {node: sum(c.values()) for node, c in counts.items()}, counts


def _norm(length: float, mean: float) -> float:
    b = lexical_module.B_DEFINITION
    return bm25_module.K1 * (1 - b + b * length / mean)


def _idf(n_documents: int, frequency: int) -> float:
    return log(1 + (n_documents - frequency + 0.5) / (frequency + 0.5))


def _plain(number: float) -> str:
    return f"{number:g}"


def block_candidates(example: Example) -> str:
    ranking = example.ranking
    names = [name for name, weight in default_weights().definition.signals.items() if weight > 0] + ["kind"]
    names = [n for n in names if any(n in dict(ranking.signals.contributions(c.node, False)) for c in example.chosen)]
    rows: list[tuple[object, ...]] = []
    for each in [c for c in example.chosen if not c.by_graph][:8]:
        parts = dict(ranking.signals.contributions(each.node, False))
        cells = [f"{parts[n]:.3f}" if n in parts else "" for n in names]
        rows.append((example.name(each.node), *cells, f"{ranking.definitions[each.node]:.3f}"))
    return table(("candidate", *names, "score"), rows)


# -- the walk


def block_seeds(example: Example) -> str:
    ranking, transition = example.ranking, example.transition
    n_walkable = int(np.count_nonzero(transition.walkable))
    # What the graph gives is added after the seeds are chosen, and that a name says it all makes none of them.
    later = ranking.signals.definition["graph"] + ranking.signals.definition["name coverage"]
    words = ranking.definitions - later * ranking.signals.role
    best = max(words[n] for n in ranking.matches)
    nodes = sorted(ranking.matches, key=lambda n: (-ranking.seeds[n], n))
    total = sum(ranking.matches[n] * log(n_walkable / transition.degrees[n]) for n in nodes)
    rows: list[tuple[object, ...]] = []
    for node in nodes[:6]:
        match, degree = exp(words[node] - best), int(transition.degrees[node])
        product = match * log(n_walkable / degree)
        assert abs(product / total - ranking.seeds[node]) < 1e-9, "the seeds are not what the page says"
        rows.append(
            (
                example.name(node),
                f"{words[node]:.3f}",
                f"{match:.4f}",
                degree,
                f"{log(n_walkable / degree):.3f}",
                f"{product:.4f}",
                f"{ranking.seeds[node]:.4f}",
            )
        )
    head = (
        "seed",
        "score",
        f"match = exp(score - {best:.3f})",
        "degree",
        f"log({n_walkable} / degree)",
        "product",
        "s",
    )
    return table(head, rows) + (
        f"\nThe products of all {len(nodes)} candidates sum to {total:.4f}; s is the product divided by the sum. "
        f"The six above hold {sum(ranking.seeds[n] for n in nodes[:6]):.0%} of the restart distribution.\n"
    )


def block_excerpt_matrix(example: Example) -> str:
    graph, calls, matrix = _excerpt(example)
    forward, backward = _call_weights()
    rows: list[tuple[object, ...]] = []
    for i, node_id in enumerate(EXCERPT):
        onward, back = calls.get((i, i + 1)), calls.get((i - 1, i))
        total = (forward if onward else 0.0) + (backward if back else 0.0)
        to_next = f"{forward:g} · {onward:g} / {total:g} = {matrix[i + 1, i]:.4f}" if onward else ""
        to_last = f"{backward:g} · {back:g} / {total:g} = {matrix[i - 1, i]:.4f}" if back else ""
        terms = " + ".join(f"{w:g}" for w, there in ((forward, onward), (backward, back)) if there)
        rows.append(
            (f"{i + 1} `{split_id(node_id)[1]}`", f"{terms} = {total:g}" if "+" in terms else terms, to_next, to_last,
             f"{matrix[:, i].sum():.4f}")
        )  # fmt: skip
    assert len(graph.edges) == len(calls)
    weights = f"A call has weight {forward:g} forwards and {backward:g} backwards.\n\n"
    return weights + table(("node i", "D", "to the next", "back to the one before", "column sum"), rows)


def block_excerpt_steps(example: Example) -> str:
    _, _, matrix = _excerpt(example)
    damping = example.options.damping
    s = np.array([1.0, 0.0, 0.0, 0.0])
    r, lines = s, [f"r0 = {_vector(s)}"]
    for k in range(1, 4):
        arrived = matrix @ r
        lacking = 1 - arrived.sum()
        following = damping * (arrived + lacking * s) + (1 - damping) * s
        sums = []
        for j in range(len(s)):
            parts = [f"{matrix[j, i]:.4f} · {r[i]:.4f}" for i in range(len(s)) if matrix[j, i] > 0 and r[i] > 0]
            sums.append(f"       {split_id(EXCERPT[j])[1]}: {' + '.join(parts)} = {arrived[j]:.4f}" if parts else "")
        lines += [
            f"step {k}",
            "  M r:",
            *[line for line in sums if line],
            f"  lacking: 1 − {arrived.sum():.4f} = {lacking:.4f}",
            f"  authenticateUser: {damping:g} · ({arrived[0]:.4f} + {lacking:.4f}) + {1 - damping:.2g} "
            f"= {following[0]:.4f}",
            f"  the others: {damping:g} · M r",
            f"  r{k} = {_vector(following)}   changed by {np.abs(following - r).sum():.4f}",
        ]
        r = following
    fixed = np.linalg.solve(np.eye(len(s)) - damping * matrix, s)
    lines.append(f"limit = {_vector(fixed / fixed.sum())}")
    return "```text\n" + "\n".join(lines) + "\n```\n"


def _excerpt(example: Example) -> tuple[CodeGraph, dict[tuple[int, int], float], NDArray[np.float64]]:
    """(the graph of the excerpt, confidence by (caller, called), M as a dense matrix in the order of EXCERPT)."""
    graph = example.graph
    place = {example.node(node_id): i for i, node_id in enumerate(EXCERPT)}
    edges = graph.edges
    numbers = [
        e
        for e in range(len(edges))
        if int(edges.sources[e]) in place and int(edges.targets[e]) in place and edges.kinds[e] == EdgeKind.CALLS
    ]
    kept = np.array(numbers, dtype=np.int64)
    calls = {(place[int(edges.sources[e])], place[int(edges.targets[e])]): float(edges.confidences[e]) for e in numbers}
    assert set(calls) == {(0, 1), (1, 2), (2, 3)}, "the functions of the excerpt do not call one another any more"
    sources, targets = edges.sources[kept], edges.targets[kept]
    incoming = np.lexsort((sources, targets)).astype(np.int32)

    def pointers(rows: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(graph.nodes)))]).astype(np.int64)

    only_calls = EdgeTable(
        pointers(sources), sources, targets, edges.kinds[kept], edges.rules[kept], edges.confidences[kept],
        edges.candidates[kept], edges.counts[kept], edges.rows[kept], incoming, pointers(targets[incoming]),
    )  # fmt: skip
    excerpt = CodeGraph(graph.nodes, only_calls, graph.rule_names)
    transition = build_transition(excerpt, WalkWeights())
    matrix = np.zeros((len(EXCERPT), len(EXCERPT)))
    for node, i in place.items():
        for k in range(int(transition.indptr[node]), int(transition.indptr[node + 1])):
            matrix[i, place[int(transition.indices[k])]] = transition.weights[k]
    return excerpt, calls, matrix


def _call_weights() -> tuple[float, float]:
    weights = WalkWeights().table()
    return float(weights[0, EdgeKind.CALLS]), float(weights[1, EdgeKind.CALLS])


def _vector(values: NDArray[np.float64]) -> str:
    return "(" + ", ".join(f"{v:.4f}" for v in values) + ")"


def block_walk(example: Example) -> str:
    info = example.answer.pagerank
    assert info is not None
    return (
        f"PageRank over all {int(np.count_nonzero(example.transition.walkable))} nodes converges after "
        f"{info.iterations} iterations with a residual of {info.residual:.2e} (outcome `{info.outcome}`).\n"
    )


def block_arrivals(example: Example) -> str:
    transition, ranking = example.transition, example.ranking
    assert ranking.pagerank is not None
    scores, node = ranking.pagerank.scores, example.node(EXCERPT[2])
    entries = range(int(transition.indptr[node]), int(transition.indptr[node + 1]))
    parts = [
        (int(transition.indices[k]), float(transition.weights[k]), float(scores[transition.indices[k]]))
        for k in entries
    ]
    parts.sort(key=lambda p: (-p[1] * p[2], p[0]))
    rows: list[tuple[object, ...]] = [(example.name(i), f"{m:.4f}", f"{r:.5f}", f"{m * r:.6f}") for i, m, r in parts]
    arrived = sum(m * r for _, m, r in parts)
    damping = example.options.damping
    assert abs(damping * arrived - scores[node]) < 1e-4 and ranking.definitions[node] == ranking.seeds[node] == 0
    i, m, r = parts[0]
    assert i == example.node(EXCERPT[1]) and m * r > arrived / 2, "most comes from the caller, the page says"
    return table(("from node i", "M", "r of i", "M · r"), rows) + (
        f"\nThe sum is {arrived:.6f}, and {damping:g} · {arrived:.6f} = {damping * arrived:.5f}, "
        f"which is the score of `verifyToken`. It has no restart of its own, because it has no lexical match.\n"
    )


# -- places that only the graph fills


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the chain, and the files that were considered for it, best first: (file, mass, reach)."""

    considered: list[tuple[int, float, float]]
    links: dict[int, tuple[int, int]]  # by file: how many files it is linked with, and how many of these were found
    is_taken: bool
    value: float


def chain(example: Example) -> list[Place]:
    """The filling of the kept places, as `causalist.rank.scoring.graph_evidence` does it, one by one."""
    graph, transition, ranking = example.graph, example.transition, example.ranking
    assert ranking.pagerank is not None
    n_places = round(example.options.top_k * ROUTES[ranking.question.route].graph_share)
    files = np.flatnonzero(graph.nodes.kinds == NodeKind.FILE)
    by_words = sorted(files, key=lambda f: (-round(float(ranking.files[f]), 12), f))[: rules.N_CANDIDATE_FILES]
    closed = {int(f) for f in by_words if round(float(ranking.files[f]), 12) > 0}
    factor = ranking.signals.reach
    seeds, scores = ranking.seeds, ranking.pagerank.scores
    places: list[Place] = []
    values: list[float] = []
    linked = _linked(graph)
    followed = _best(ranking.definitions, rules.N_FOUND)
    for number in range(n_places):
        if number:
            scores = personalized_pagerank(transition, seeds, damping=example.options.damping).scores
        considered = []
        for file in files.tolist():
            inside = graph.nodes.files == file
            specificity = max(log(len(files) / transition.file_degrees[file]), 0.0) ** rules.REACH_SPECIFICITY
            reach = float((scores * factor)[inside].sum()) * specificity
            if file not in closed and reach > 0:
                considered.append((file, float(scores[inside].sum()), reach))
        considered.sort(key=lambda c: (-round(c[2], 12), c[0]))
        if not considered:
            break
        owners = graph.nodes.files
        found = {(int(owners[node]), int(owners[other])) for node in followed for other in linked[node]}
        n_links = {f: sum(b == f for _, b in found) for f, _, _ in considered}
        links = {f: (int(transition.file_degrees[f]), n) for f, n in n_links.items()}
        # On this page no file stands before one that is taken, and none is linked by a node that everything uses.
        file, _, reach = considered[0]
        value = min(reach, min(values, default=1.0))
        is_taken = value >= rules.MIN_REACH_OF_FIRST * max(values, default=0.0)
        assert not is_taken or links[file][1] >= rules.SHARE_OF_FILES * links[file][0]
        places.append(Place(considered, links, is_taken, value))
        if not is_taken:
            break
        followed += _best(np.where(owners == file, scores, 0.0), rules.N_FOLLOWED)
        values.append(value)
        closed.add(file)
        own = np.where(graph.nodes.files == file, scores, 0.0)
        seeds = (1 - rules.CHAIN_SHARE) * seeds + rules.CHAIN_SHARE * own / own.sum()
    taken = [p.considered[0][0] for p in places if p.is_taken]
    chosen = [int(graph.nodes.files[c.node]) for c in example.chosen if c.by_graph]
    assert taken == chosen, "the chain of causalist/rank/reached.py is not the one that the page explains"
    paths = [graph.nodes.ids[f] for f in taken]
    assert paths[:2] == [VERIFIER, CRYPTO], f"the page explains why {VERIFIER} and {CRYPTO} come in, not {paths}"
    return places


def _best(scores: NDArray[np.float64], k: int) -> list[int]:
    nodes = np.flatnonzero(scores > 0).tolist()
    return sorted(nodes, key=lambda n: (-round(float(scores[n]), 12), n))[:k]


def _linked(graph: CodeGraph) -> dict[int, set[int]]:
    """What each node is linked with in other files, over edges of any kind but `contains`."""
    linked: dict[int, set[int]] = {node: set() for node in range(len(graph.nodes))}
    edges, owners = graph.edges, graph.nodes.files
    for source, target, kind in zip(edges.sources.tolist(), edges.targets.tolist(), edges.kinds.tolist(), strict=True):
        if kind != EdgeKind.CONTAINS and owners[target] >= 0 and owners[source] != owners[target]:
            linked[source].add(target)
            linked[target].add(source)
    return linked


def block_places(example: Example) -> str:
    route = example.ranking.question.route
    share, top_k = ROUTES[route].graph_share, example.options.top_k
    return (
        f"The route `{route.value}` reserves {share:g} of {top_k} slots: {round(top_k * share)}. "
        f"Files among the first {rules.N_CANDIDATE_FILES} lexical results are not considered. "
        f"The exponent of the specificity is {rules.REACH_SPECIFICITY:g}. A file that takes a slot gets "
        f"{rules.CHAIN_SHARE:g} of the seed mass. "
        f"The chain ends below {rules.MIN_REACH_OF_FIRST:g} of the first reach. "
        f"Of the files linked to a file, {rules.SHARE_OF_FILES:g} must be lexical results, and "
        f"{rules.SHARE_OF_LINKS:g} of the neighbors of the node through which PageRank enters it.\n"
    )


def block_chain(example: Example) -> str:
    rows: list[tuple[object, ...]] = []
    places = chain(example)
    for number, place in enumerate(places, 1):
        for rank, (file, mass, reach) in enumerate(place.considered[:3]):
            verdict = ""
            if rank == 0:
                ratio = place.value / places[0].value
                verdict = "taken" if place.is_taken else f"below the limit ({ratio:.2f} of the first): the chain ends"
                verdict += f" ({ratio:.2f} of the first)" if place.is_taken and number > 1 else ""
            n_linked, n_found = place.links[file]
            links = f"{n_linked}, {n_found} found"
            rows.append((number, example.name(file), f"{mass:.5f}", links, f"{reach:.5f}", verdict))
    return table(("slot", "file", "PageRank of its nodes", "linked files", "reach", ""), rows)


def block_chosen(example: Example) -> str:
    rows: list[tuple[object, ...]] = []
    for hit, each in zip(example.answer.results, example.chosen, strict=True):
        assert hit.node == each.node
        rank = len(rows) + 1
        found = "only the graph" if each.by_graph else ", ".join(r.signal for r in hit.reasons)
        rows.append((rank, f"`{hit.id}`", f"{hit.score:.3f}", f"{hit.pagerank:.4f}", found))
    n = len(rows)
    shown = [*rows[:6], ("…", "", "", "", ""), *rows[n - 3 :]]
    return table(("rank", "node", "score", "pagerank", "found by"), shown)


# -- what is shown


def block_path(example: Example) -> str:
    hit = next(h for h in example.answer.results if h.path == CRYPTO)
    lines = [f"{hit.path_from_seed[0].node}   (seed)"]
    for hop in hit.path_from_seed[1:]:
        lines.append(f"  {hop.edge} → {hop.node}   ({hop.path}:{hop.line})")
    product = float(example.ranking.seeds[example.node(hit.path_from_seed[0].node)])
    factors = [f"{product:.4f}"]
    transition = example.transition
    nodes = [example.node(hop.node) for hop in hit.path_from_seed]
    for i, j in pairwise(nodes):
        row = slice(int(transition.indptr[j]), int(transition.indptr[j + 1]))
        entry = float(transition.weights[row][transition.indices[row] == i][0])
        product *= entry
        factors.append(f"{entry:.4f}")
    return "```text\n" + "\n".join(lines) + f"\n\n{' · '.join(factors)} = {product:.2e}\n```\n"


def block_subgraph(example: Example) -> str:
    answer = example.answer
    assert not answer.removed_edges, "the page says that no cycle is among the definitions of this answer"
    ordering = [e for e in answer.edges if EdgeKind[e.kind.upper()] in ORDERING_KINDS and e.source != e.target]
    return (
        f"{len(answer.results)} results and {len(answer.via)} nodes on their paths make {len(answer.order)} nodes. "
        f"{len(answer.edges)} edges run among them: {_counts(Counter(e.kind for e in answer.edges))}. "
        f"{len(ordering)} of these define the order, and {len(answer.removed_edges)} are removed.\n"
    )


def block_cycle(example: Example) -> str:
    answer = example.files_answer
    assert answer.removed_edges, "no cycle is left among the files of the answer; take another example"
    removed = next(e for e in answer.removed_edges if e.kind == "imports")
    back = next(e for e in answer.edges if e.source == removed.target and e.target == removed.source)
    rows: list[tuple[object, ...]] = [
        (f"`{e.source}`", e.kind, f"`{e.target}`", e.line, f"{e.confidence:g}", e.n, fate)
        for e, fate in ((back, "kept"), (removed, "removed"))
    ]
    assert (back.confidence, back.n) == (removed.confidence, removed.n), "the page says that the ids decide"
    n = len(answer.removed_edges)
    return table(("source", "kind", "target", "line", "confidence", "sites", ""), rows) + (
        f"\nIn all, {n} of the {len(answer.edges)} edges among the {len(answer.results)} files and the files on their "
        f"paths are removed.\n"
    )


def block_order(example: Example) -> str:
    ranks = {hit.id: rank for rank, hit in enumerate(example.answer.results, 1)}
    wanted = {hop.node for hit in example.answer.results if hit.path == CRYPTO for hop in hit.path_from_seed}
    wanted |= {e.source for e in example.answer.edges if e.target in wanted and e.kind == "calls"}
    rows: list[tuple[object, ...]] = []
    for place, node in enumerate(example.answer.order, 1):
        if node in wanted:
            rows.append((place, f"`{node}`", f"#{ranks[node]}" if node in ranks else "via"))
    return table(("position", "node", "rank"), rows)


def block_pack(example: Example) -> str:
    pack = example.answer.pack
    assert pack is not None and pack.tokens <= pack.max_tokens
    lines = pack.text.splitlines()
    many = {"body": "bodies", "item": "items", "edge": "edges"}
    omitted = _counts(Counter(many[o.what] for o in pack.omitted)) or "nothing"
    start = next(i for i, line in enumerate(lines) if "verifyToken" in line and line.startswith("──"))
    stop = next(i for i in range(start + 1, len(lines)) if lines[i].startswith("──"))
    shown = "\n".join([*lines[:2], "[...]", *lines[start : stop - 1], "[...]", lines[-1]])
    return (
        f"The pack has {pack.tokens} of {pack.max_tokens} tokens. Omitted: {omitted} "
        f"(a body may be cut or missing).\n\n````text\n{shown}\n````\n"
    )


BLOCKS: dict[str, Callable[[Example], str]] = {
    name.removeprefix("block_").replace("_", "-"): function
    for name, function in list(globals().items())
    if name.startswith("block_")
}


def main(arguments: list[str]) -> int:
    text, example = PAGE.read_text(encoding="utf-8"), compute()
    there = blocks_of(text, "example")
    computed: dict[str, str] = {}
    wrong = sorted(set(there) ^ set(BLOCKS))
    for name, function in BLOCKS.items():
        try:
            computed[name] = function(example)
        except AssertionError as error:  # a sentence of the page is not true any more
            wrong.append(f"{name}: {error}")
    if "--write" in arguments:
        PAGE.write_text(with_blocks(text, "example", computed), encoding="utf-8")
    else:
        wrong += [f"{name} has changed:\n{new}" for name, new in computed.items() if there.get(name) != new]
    for each in wrong:
        print(f"-- {each}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
