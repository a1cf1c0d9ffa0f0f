"""Small repositories for tests of ranking, told as facts: no parser, no resolver, only what a test says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from causalist.model.facts import MODULE_SCOPE, Definition, FileFacts, Passage, space_words
from causalist.model.graph import CodeGraph, EdgeKind, LinkedGraph
from causalist.model.index import LexicalIndex
from causalist.model.node_ids import NodeKind, Role, file_id, section_id, symbol_id
from causalist.rank import build_lexical
from tests.graphs import EdgeSpec, NodeSpec, make_graph


class Def(NamedTuple):
    """A definition and the text that belongs to it and to nothing inside of it. A dotted name needs its outer one."""

    qualname: str
    text: str = ""
    kind: NodeKind = NodeKind.FUNCTION


class Section(NamedTuple):
    """A section of prose."""

    slug: str
    title: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A repository: its facts, the graph with `contains` and the edges that were asked for, and its lexical index."""

    files: tuple[tuple[str, FileFacts], ...]
    linked: LinkedGraph
    lexical: LexicalIndex

    @property
    def graph(self) -> CodeGraph:
        return self.linked.graph

    def node(self, node_id: str) -> int:
        position = self.graph.nodes.ids.position(node_id)
        assert position >= 0, node_id
        return position

    def of(self, values: np.ndarray) -> dict[str, float]:
        """What is not zero, by id."""
        return {self.graph.nodes.ids[int(i)]: float(values[i]) for i in np.flatnonzero(values)}


def facts_of(text: str = "", parts: Iterable[Def | Section] = ()) -> FileFacts:
    """The facts of a file: `text` outside of its definitions (or sections), then these."""
    parts = list(parts)
    definitions = [p for p in parts if isinstance(p, Def)]
    sections = [p for p in parts if isinstance(p, Section)]
    assert not (definitions and sections), "a file is code or prose"
    qualnames = [d.qualname for d in definitions]
    parents = [qualnames.index(q.rpartition(".")[0]) if "." in q else MODULE_SCOPE for q in qualnames]
    words, spans = b"", [(0, 0)] * len(parts)

    def lay_out(number: int) -> None:
        nonlocal words
        words += b" "
        start = len(words)
        words += space_words(parts[number].text.encode())
        for inner in [i for i, parent in enumerate(parents) if parent == number]:
            lay_out(inner)
        spans[number] = (start, len(words))

    words += space_words(text.encode())
    for i in range(len(parts)):
        if not parents or parents[i] == MODULE_SCOPE:
            lay_out(i)
    return FileFacts(
        language="",
        definitions=tuple(
            Definition(d.qualname.rpartition(".")[2], d.qualname, int(d.kind), parent, start, end, 0, 0, "", "", start)
            for d, parent, (start, end) in zip(definitions, parents, spans, strict=False)
        ),
        passages=tuple(Passage(p.slug, p.title, -1, *span, 0, 0) for p, span in zip(sections, spans, strict=False)),
        words=words,
    )


def corpus(
    files: Mapping[str, FileFacts | Iterable[Def | Section] | str],
    edges: Iterable[tuple | EdgeSpec] = (),
    roles: Mapping[str, Role] | None = None,
) -> Corpus:
    """A repository of files, each its facts, its definitions (or sections), or its text; in the order given."""
    told: list[tuple[str, FileFacts]] = []
    for path, content in files.items():
        if isinstance(content, str):
            told.append((path, facts_of(content)))
        else:
            told.append((path, content if isinstance(content, FileFacts) else facts_of("", content)))
    nodes: dict[str, NodeSpec] = {}
    contains: list[EdgeSpec] = []
    documents: list[list[str]] = []
    for path, facts in told:
        role = (roles or {}).get(path, Role.CODE)
        nodes[file_id(path)] = NodeSpec(file_id(path), NodeKind.FILE, role=role)
        own = [(symbol_id(path, d.qualname), NodeKind(d.kind)) for d in facts.definitions]
        own += [(section_id(path, p.slug), NodeKind.PASSAGE) for p in facts.passages]
        nodes.update({name: NodeSpec(name, kind, role=role) for name, kind in own})
        contains += [EdgeSpec(file_id(path), name, EdgeKind.CONTAINS, rule="contains") for name, _ in own]
        documents.append([name for name, _ in own])
    links = [EdgeSpec(*edge) for edge in edges]
    for name in {e.target for e in links if e.target.startswith("external:")}:
        nodes[name] = NodeSpec(name)
    graph = make_graph(nodes.values(), [*contains, *links])
    position = {name: i for i, name in enumerate(graph.nodes.ids)}
    linked = LinkedGraph(
        graph,
        np.array([position[file_id(path)] for path, _ in told], dtype=np.int32),
        tuple(np.array([position[name] for name in names], dtype=np.int32) for names in documents),
    )
    return Corpus(tuple(told), linked, build_lexical(told, linked))


# Words that share terms (getUsers, user), stop words, and digits of Devanagari, which have no terms at all.
WORDS = ("auth", "getUsers", "user", "Users", "token_cache", "the", "login", "x1", "éclair", "認証", "__init__", "१२")
NAMES = ("auth", "getUsers", "Token", "token_cache", "login", "_x", "init")
PATHS = (
    "auth.py",
    "src/login.ts",
    "src/auth.py",
    "lib/token/cache.js",
    "tests/test_auth.py",
    "docs/auth.md",
    "LICENSE",
)
_DEFINED = (NodeKind.FUNCTION, NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.FIELD, NodeKind.CONSTANT, NodeKind.METHOD)

_texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@st.composite
def random_facts(draw: st.DrawFn) -> FileFacts:
    if draw(st.integers(0, 4)) == 0:
        slugs = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3))
        return facts_of(draw(_texts), [Section(slug, draw(_texts), draw(_texts)) for slug in slugs])
    parts: list[Def] = []
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4)):
        outer = draw(st.sampled_from(["", *(p.qualname for p in parts)]))
        qualname = f"{outer}.{name}" if outer else name
        parts.append(Def(qualname, draw(_texts), draw(st.sampled_from(_DEFINED))))
    return facts_of(draw(_texts), parts)


@st.composite
def corpora(draw: st.DrawFn, *, linked: bool = False) -> Corpus:
    """Repositories of up to five files of code and prose; `linked`: with calls, imports and externals."""
    paths = draw(st.lists(st.sampled_from(PATHS), unique=True, max_size=5))
    files = {path: draw(random_facts()) for path in paths}
    if not linked or not paths:
        return corpus(files)
    nodes = [n for path in paths for n in [path, *(symbol_id(path, d.qualname) for d in files[path].definitions)]]
    pairs = st.tuples(st.sampled_from(nodes), st.sampled_from([*nodes, "external:os"]))
    edges = draw(st.lists(st.tuples(pairs, st.sampled_from([EdgeKind.CALLS, EdgeKind.IMPORTS])), unique=True))
    confidences = st.sampled_from([1.0, 0.9, 0.3])
    roles = {path: draw(st.sampled_from([Role.CODE, Role.CODE, Role.TEST, Role.DOCS])) for path in paths}
    return corpus(files, [EdgeSpec(*pair, kind, draw(confidences)) for pair, kind in edges], roles)
