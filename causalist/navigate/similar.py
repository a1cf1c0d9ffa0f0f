"""Near-duplicates of definitions: copies, copies with other names, and copies with edits.

In: an `Index` and a reader of its files. Out: `SimilarPair`s and `SimilarCluster`s. Nothing is stored.

Files are parsed again, and the leaves of their trees are the tokens, without comments. The *shape* of a token is its
kind: keywords and operators stand for themselves, names and literals for any of their kind. MinHash signatures of the
runs of shapes propose pairs (LSH, Indyk and Motwani 1998), which are then aligned:

    structure  = 2 * (length of the longest common subsequence) / (number of tokens of both)
    similarity = (1 - SHARED_WEIGHT) * structure + SHARED_WEIGHT * shared

Two names of one kind count as the same in the subsequence if they have the same text, or else if both occurred last as
far back, so that names may differ but not be mixed up (Baker 1995); the better of the two subsequences counts.
`shared` is the share of called names that both have in common, of all names if one calls nothing that is known.
Functions are compared with functions, types with types. Signatures cost time linear in the tokens. Definitions of one
shape are compared with one of them, and those of one LSH bucket with the next few, so that the whole is linear in the
number of definitions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.lookup import LikeDefinition, Likeness, SimilarCluster, SimilarPair
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, Role, split_id
from causalist.parse import parse_tree

if TYPE_CHECKING:
    import tree_sitter

ReadBytes = Callable[[str], bytes]

SHARED_WEIGHT = 0.2  # chosen by hand: a pair of one structure without a common callee has 0.8
_SHINGLE_TOKENS = 8  # shorter runs are in most functions of a language, longer ones end at each edit
_N_HASHES = 96
_BAND_ROWS = 3  # of pairs that share half of their shingles 98 % are proposed, of 0.3 58 %
_MAX_NEIGHBORS = 11  # of a definition in a bucket that it is compared with
_MIN_TOKENS = 40  # shorter definitions are alike without having been copied
_MIN_SHARED = 0.2  # estimated share of shingles, below which a pair is not aligned: it loses 2 of 1,000 pairs
_MAX_CODES = 2_000  # definitions whose tokens are kept as Python integers, which take 70 bytes for each
_MAX_ROUNDS = 8  # definitions of one shape that others of that shape are compared with
_SEED = 20_250
_NAMES = ("identifier", "name", "variable", "constant")  # parts of the kinds of names in the grammars
_PLAIN_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "multiline_comment", "html_comment"})
_MAX_NAMES_LISTED = 4
_MAX_EDITS_LISTED = 2
_MAX_CHARACTERS = 60  # of a name or line that is shown


class _Kinds(NamedTuple):
    """Kinds of nodes of one grammar, by number: shape, and whether they are names, comments and named."""

    shapes: list[int]
    is_name: list[bool]
    is_comment: list[bool]
    is_named: list[bool]
    has_inner_comments: bool  # comments may have leaves of their own


class _Tokens(NamedTuple):
    """Tokens of one definition, shape (n_tokens,) each.

    `shapes` are kinds, `texts` numbers of texts. `back` is, for a name, the number of tokens since it last occurred, 0
    for the first time, and -1 for what is no name. `rows` are 0-based rows of the file.
    """

    shapes: NDArray[np.int32]
    texts: NDArray[np.int32]
    back: NDArray[np.int32]
    rows: NDArray[np.int32]


class _Reader:
    """Tokens of definitions; shapes and texts have the same numbers in all files."""

    def __init__(self) -> None:
        self._shapes: dict[str, int] = {}
        self._texts: dict[bytes, int] = {}
        self._kinds: dict[int, _Kinds] = {}

    def read(self, path: str, data: bytes, spans: Sequence[tuple[int, int]]) -> list[_Tokens | None]:
        """Return the tokens in each span of bytes, None for a file without a grammar; spans ascend by start."""
        parsed = parse_tree(path, data) if data else None
        if parsed is None:
            return [None] * len(spans)
        grammar, tree = parsed
        kinds = self._kinds_of(id(grammar), grammar.parser.language)
        starts, shapes, texts, is_name, rows = self._leaves(tree.root_node, data, _outermost(spans), kinds)
        last: dict[int, int] = {}
        previous = np.full(len(starts), -1, dtype=np.int32)
        for i, (text, is_a_name) in enumerate(zip(texts, is_name, strict=True)):
            if is_a_name:
                previous[i] = last.get(text, -1)
                last[text] = i
        arrays = [np.array(each, dtype=np.int32) for each in (starts, shapes, texts, is_name, rows)]
        token_lists: list[_Tokens | None] = []
        for start, end in spans:
            low, high = np.searchsorted(arrays[0], (start, end)).tolist()
            before = previous[low:high]
            back = np.where(before >= low, np.arange(low, high, dtype=np.int32) - before, np.int32(0))
            back[arrays[3][low:high] == 0] = -1
            token_lists.append(_Tokens(arrays[1][low:high], arrays[2][low:high], back, arrays[4][low:high]))
        return token_lists

    def text_of(self) -> list[str]:
        """Return the texts by their numbers."""
        return [text.decode("utf-8", "replace") for text in self._texts]

    def _kinds_of(self, key: int, language: "tree_sitter.Language | None") -> _Kinds:
        assert language is not None, "a parser of a grammar has its language"
        if key not in self._kinds:
            names = [language.node_kind_for_id(i) or "" for i in range(language.node_kind_count)]
            is_named = [language.node_kind_is_named(i) for i in range(len(names))]
            shapes = [self._shapes.setdefault(name, len(self._shapes)) for name in names]
            comments = [named and "comment" in name for name, named in zip(names, is_named, strict=True)]
            is_name = [
                named and any(part in name for part in _NAMES) for name, named in zip(names, is_named, strict=True)
            ]
            inner = any(is_one and name not in _PLAIN_COMMENTS for name, is_one in zip(names, comments, strict=True))
            self._kinds[key] = _Kinds(shapes, is_name, comments, is_named, inner)
        return self._kinds[key]

    def _leaves(
        self, root: "tree_sitter.Node", data: bytes, spans: Iterable[tuple[int, int]], kinds: _Kinds
    ) -> tuple[list[int], list[int], list[int], list[bool], list[int]]:
        """Return start, shape, text, whether it is a name, and row of each leaf in the spans, without comments."""
        starts, shapes, texts, names, rows = list[int](), list[int](), list[int](), list[bool](), list[int]()
        number_by_text = self._texts
        for first, behind in spans:
            around = root.descendant_for_byte_range(first, max(first, behind - 1)) or root
            cursor = around.walk()
            is_done = False
            while not is_done:
                if kinds.has_inner_comments:
                    node = cursor.node
                    enters = node is not None and not kinds.is_comment[node.kind_id] and cursor.goto_first_child()
                else:
                    enters = cursor.goto_first_child()
                if enters:
                    continue
                node = cursor.node
                if node is not None:
                    kind, start, end = node.kind_id, node.start_byte, node.end_byte
                    # A node that the grammar inserts has no text, and one of an error may have no known kind.
                    if first <= start < end <= behind and kind < len(kinds.shapes) and not kinds.is_comment[kind]:
                        starts.append(start)
                        shapes.append(kinds.shapes[kind])
                        texts.append(number_by_text.setdefault(data[start:end], len(number_by_text)))
                        names.append(kinds.is_name[kind])
                        rows.append(node.start_point[0])
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        is_done = True
                        break
        return starts, shapes, texts, names, rows


def _outermost(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return disjoint spans that cover the given ones, which ascend by start."""
    outermost: list[tuple[int, int]] = []
    for start, end in spans:
        if not outermost or start >= outermost[-1][1]:
            outermost.append((start, end))
        elif end > outermost[-1][1]:
            outermost[-1] = (outermost[-1][0], end)
    return outermost


class _Candidates:
    """Definitions with their tokens, in the order of nodes, and what pairs of them are like."""

    def __init__(self, graph: CodeGraph, read: ReadBytes, nodes: NDArray[np.int64]) -> None:
        reader, tokens = _Reader(), dict[int, _Tokens]()
        files = graph.nodes.files[nodes]
        starts, ends = graph.nodes.start_bytes, graph.nodes.end_bytes
        order = np.lexsort((-ends[nodes], starts[nodes], files))
        for group in np.split(nodes[order], np.flatnonzero(np.diff(files[order])) + 1) if len(nodes) else ():
            path = split_id(graph.nodes.ids[int(graph.nodes.files[group[0]])])[0]
            spans = list(zip(starts[group].tolist(), ends[group].tolist(), strict=True))
            for node, each in zip(group.tolist(), reader.read(path, read(path), spans), strict=True):
                if each is not None and len(each.shapes) >= _MIN_TOKENS:
                    tokens[node] = each
        self.nodes = sorted(tokens)
        self._graph = graph
        self._tokens = [tokens[node] for node in self.nodes]
        self._texts = reader.text_of()
        self._callees: dict[int, frozenset[str]] = {}
        self._codes: dict[int, tuple[list[int], list[int]]] = {}
        self._name_sets: dict[int, frozenset[int]] = {}
        self._lines: dict[str, list[bytes]] = {}
        self._read = read

    def __len__(self) -> int:
        return len(self.nodes)

    def n_lines(self, i: int) -> int:
        node = self.nodes[i]
        return int(self._graph.nodes.end_rows[node] - self._graph.nodes.start_rows[node]) + 1

    def signatures(self) -> NDArray[np.uint32]:
        """Return the least value of each hash function over the runs of shapes, shape (n, _N_HASHES)."""
        draw = np.random.default_rng(_SEED)
        factors = draw.integers(0, 1 << 32, _N_HASHES, dtype=np.uint32) | np.uint32(1)
        terms = draw.integers(0, 1 << 32, _N_HASHES, dtype=np.uint32)
        signatures = np.empty((len(self), _N_HASHES), dtype=np.uint32)
        for first, behind in _chunks([len(each.shapes) for each in self._tokens]):
            sizes = [len(each.shapes) for each in self._tokens[first:behind]]
            flat = np.concatenate([each.shapes for each in self._tokens[first:behind]]).astype(np.uint64)
            runs = np.zeros(len(flat) - _SHINGLE_TOKENS + 1, dtype=np.uint64)
            for i in range(_SHINGLE_TOKENS):
                runs = runs * np.uint64(0x9E3779B97F4A7C15) + flat[i : len(runs) + i]
            runs ^= runs >> np.uint64(31)
            hashed = ((runs * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32)).astype(np.uint32)
            offsets = np.cumsum([0, *sizes[:-1]])
            # Runs over the end of a definition are in none.
            over = (np.cumsum(sizes[:-1])[:, None] - np.arange(1, _SHINGLE_TOKENS)).ravel()
            for k in range(_N_HASHES):
                values = hashed * factors[k] + terms[k]
                values[over] = 0xFFFFFFFF
                signatures[first:behind, k] = np.minimum.reduceat(values, offsets)
        return signatures

    def groups_of_one_shape(self) -> list[list[int]]:
        """Return the definitions with the same shapes, ascending, by their first."""
        groups: dict[bytes, list[int]] = {}
        for i, each in enumerate(self._tokens):
            groups.setdefault(each.shapes.tobytes(), []).append(i)
        return list(groups.values())

    def is_comparable(self, i: int, j: int) -> bool:
        """Return True for two functions or two types, if none is inside of the other."""
        nodes = self._graph.nodes
        one, other = self.nodes[i], self.nodes[j]
        if (nodes.kinds[one] in TYPE_KINDS) != (nodes.kinds[other] in TYPE_KINDS):
            return False
        return bool(
            nodes.files[one] != nodes.files[other]
            or nodes.start_bytes[one] >= nodes.end_bytes[other]
            or nodes.start_bytes[other] >= nodes.end_bytes[one]
        )

    def similarity(self, i: int, j: int, least: float) -> float:
        """Return the similarity of two definitions, or 0 if it is below `least`."""
        callees = self.shared_callees(i, j)
        shared = _overlap(self._names(i), self._names(j)) if callees is None else callees
        bound = (least - SHARED_WEIGHT * shared) / (1 - SHARED_WEIGHT)
        n, m = len(self._tokens[i].shapes), len(self._tokens[j].shapes)
        if 2 * min(n, m) < bound * (n + m):
            return 0.0
        (texts, backs), (other_texts, other_backs) = self._encode(i), self._encode(j)
        structure = 2 * _common_length(texts, other_texts) / (n + m)
        if structure < 1:
            structure = max(structure, 2 * _common_length(backs, other_backs) / (n + m))
        similarity = (1 - SHARED_WEIGHT) * structure + SHARED_WEIGHT * shared
        return similarity if similarity >= least else 0.0

    def shared_callees(self, i: int, j: int) -> float | None:
        """Return the share of called names that both have, None if one calls nothing that is known."""
        one, other = self._names_called_by(self.nodes[i]), self._names_called_by(self.nodes[j])
        return _overlap(one, other) if one and other else None

    def likeness(self, i: int, j: int) -> Likeness:
        one, other = self._tokens[i], self._tokens[j]
        if np.array_equal(one.texts, other.texts):
            return Likeness.COPY
        return Likeness.RENAMED if np.array_equal(one.shapes, other.shapes) else Likeness.CHANGED

    def describe(self, i: int) -> LikeDefinition:
        graph, node = self._graph, self.nodes[i]
        id = graph.nodes.ids[node]
        first, last = int(graph.nodes.start_rows[node]) + 1, int(graph.nodes.end_rows[node]) + 1
        return LikeDefinition(id, graph.kind(node).label, split_id(id)[0], first, last)

    def pair(self, i: int, j: int, similarity: float) -> SimilarPair:
        return SimilarPair(
            self.describe(i), self.describe(j), similarity, self.likeness(i, j), self.shared_callees(i, j),
            self._differences(i, j),
        )  # fmt: skip

    def _encode(self, i: int) -> tuple[list[int], list[int]]:
        """Return codes of the tokens by which names are the same by their text, and by where they occurred last."""
        if i not in self._codes:
            if len(self._codes) >= _MAX_CODES:
                self._codes.clear()
            shapes, texts, back, _ = (each.astype(np.int64) for each in self._tokens[i])
            is_name = back >= 0
            by_text = np.where(is_name, (texts + 1) << 32, shapes)
            by_back = np.where(is_name, (back + 1) << 32 | shapes, shapes)
            self._codes[i] = by_text.tolist(), by_back.tolist()
        return self._codes[i]

    def _names(self, i: int) -> frozenset[int]:
        if i not in self._name_sets:
            tokens = self._tokens[i]
            self._name_sets[i] = frozenset(tokens.texts[tokens.back >= 0].tolist())
        return self._name_sets[i]

    def _names_called_by(self, node: int) -> frozenset[str]:
        """Return the last names of what a definition calls, known or not."""
        if node not in self._callees:
            graph, names = self._graph, set[str]()
            for number in graph.outgoing(node):
                if graph.edges.kinds[number] == EdgeKind.CALLS:
                    names.add(_last_name(graph.nodes.ids[int(graph.edges.targets[number])]))
            unresolved = graph.unresolved
            low, high = np.searchsorted(unresolved.sources, (node, node + 1)).tolist()
            names.update(unresolved.texts[int(name)] for name in unresolved.names[low:high].tolist())
            self._callees[node] = frozenset(names - {"?"})
        return self._callees[node]

    def _differences(self, i: int, j: int) -> tuple[str, ...]:
        """Return the names and literals that differ, and the first edits by lines."""
        one, other = self._tokens[i], self._tokens[j]
        if np.array_equal(one.texts, other.texts):
            return ()
        blocks = [("equal", 0, len(one.shapes), 0, len(other.shapes))]
        if not np.array_equal(one.shapes, other.shapes):
            blocks = list(_TokenMatcher(one.shapes, other.shapes).get_opcodes())
        partners: dict[int, Counter[int]] = {}
        edits: list[str] = []
        for tag, start, end, other_start, other_end in blocks:
            if tag != "equal":
                edits.append(self._format_edit(i, (start, end), j, (other_start, other_end)))
                continue
            texts = zip(one.texts[start:end].tolist(), other.texts[other_start:other_end].tolist(), strict=True)
            for x, y in texts:
                partners.setdefault(x, Counter())[y] += 1
        most = {x: ys.most_common(1)[0] for x, ys in partners.items()}
        renamed = sorted((-n, self._texts[x], self._texts[y]) for x, (y, n) in most.items() if x != y)
        lines = []
        if renamed:
            listed = ", ".join(f"{_shorten(x)} -> {_shorten(y)}" for _, x, y in renamed[:_MAX_NAMES_LISTED])
            more = len(renamed) - _MAX_NAMES_LISTED
            lines.append(f"names and literals: {listed}" + (f" and {more} more" if more > 0 else ""))
        if edits:
            distinct = list(dict.fromkeys(edits))
            more = len(distinct) - _MAX_EDITS_LISTED
            lines.append("; ".join(distinct[:_MAX_EDITS_LISTED]) + (f"; and {more} more edits" if more > 0 else ""))
        return tuple(lines)

    def _format_edit(self, i: int, own: tuple[int, int], j: int, others: tuple[int, int]) -> str:
        """Return the first line of each side of an edit; "-" stands for the first definition, "+" for the other."""
        sides = []
        for sign, k, (start, end) in (("-", i, own), ("+", j, others)):
            if start < end:
                row = int(self._tokens[k].rows[start])
                sides.append(f"{sign}{row + 1} {_shorten(self._line(k, row))}")
        return " ".join(sides)

    def _line(self, i: int, row: int) -> str:
        path = split_id(self._graph.nodes.ids[self.nodes[i]])[0]
        if path not in self._lines:
            self._lines[path] = self._read(path).split(b"\n")
        return self._lines[path][row].decode("utf-8", "replace")


class _TokenMatcher(SequenceMatcher[str]):
    """Matcher of two arrays of tokens, of shapes (n,) and (m,), without junk.

    Tokens become characters, because a text is found in another one much faster than runs of a list in another one.
    """

    def __init__(self, one: NDArray[np.integer[Any]], other: NDArray[np.integer[Any]]) -> None:
        first, second = one.tolist(), other.tolist()
        character_of = {token: chr(i) for i, token in enumerate(dict.fromkeys((*first, *second)))}
        self._one, self._other = ("".join(map(character_of.__getitem__, each)) for each in (first, second))
        super().__init__(None, self._one, self._other, autojunk=False)

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return the longest run that both have in these ranges; of several the first of `one`, then of `other`."""
        one, other = self._one[alo:ahi], self._other[blo:bhi]
        start = length = 0
        for i in range(len(one)):
            while i + length < len(one) and one[i : i + length + 1] in other:
                start, length = i, length + 1
        return Match(alo + start, blo + other.find(one[start : start + length]), length)


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def _overlap(one: frozenset[Any], other: frozenset[Any]) -> float:
    return len(one & other) / max(1, len(one | other))


def _last_name(id: str) -> str:
    return id.rpartition("::")[2].rpartition(".")[2].partition("~")[0].rpartition(":")[2]


def _chunks(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of definitions with about a million tokens each."""
    first, total = 0, 0
    for i, size in enumerate(sizes):
        total += size
        if total >= 1_000_000 or i == len(sizes) - 1:
            yield first, i + 1
            first, total = i + 1, 0


def _common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of the longest common subsequence, by bits in parallel (Hyyrö 2004)."""
    start, end = 0, 0
    least = min(len(one), len(other))
    while start < least and one[start] == other[start]:
        start += 1
    while end < least - start and one[-1 - end] == other[-1 - end]:
        end += 1
    one, other = one[start : len(one) - end], other[start : len(other) - end]
    places: dict[int, int] = {}
    for i, code in enumerate(one):
        places[code] = places.get(code, 0) | 1 << i
    every = unmatched = (1 << len(one)) - 1
    for code in other:
        if code in places:
            matched = unmatched & places[code]
            unmatched = (unmatched + matched | unmatched - matched) & every
    return start + end + len(one) - unmatched.bit_count()


def select_definitions(
    graph: CodeGraph, *, min_lines: int, roles: Sequence[Role], kinds: Sequence[int] = (*CALLABLE_KINDS, *TYPE_KINDS)
) -> NDArray[np.int64]:
    """Return the functions and types of enough lines in files of these roles, ascending."""
    nodes = graph.nodes
    is_long = nodes.end_rows - nodes.start_rows + 1 >= min_lines
    return np.flatnonzero(np.isin(nodes.kinds, sorted(kinds)) & is_long & np.isin(nodes.roles, sorted(roles)))


def find_similar(
    graph: CodeGraph,
    read: ReadBytes,
    targets: NDArray[np.int64],
    others: NDArray[np.int64],
    *,
    min_similarity: float,
) -> tuple[SimilarPair, ...]:
    """Return the pairs of one of `targets` with one of `others`, the most similar first, then by ids.

    Every one is compared with all others by its signature, so that none is missed by LSH. Of a target inside of another
    one, only pairs are returned that are not inside of a pair of that one.
    """
    sizes = graph.nodes.end_bytes - graph.nodes.start_bytes
    # Definitions of very different lengths are not similar, and need not be read.
    ratio = 2 * (2 - min_similarity) / min_similarity if min_similarity else np.inf
    low, high = (float(sizes[targets].min()) / ratio, float(sizes[targets].max()) * ratio) if len(targets) else (0, 0)
    others = others[(sizes[others] >= low) & (sizes[others] <= high)]
    candidates = _Candidates(graph, read, np.union1d(targets, others))
    signatures = candidates.signatures()
    is_target = np.isin(candidates.nodes, targets)
    similarities: dict[tuple[int, int], float] = {}
    for i in np.flatnonzero(is_target).tolist():
        shared = (signatures == signatures[i]).mean(axis=1)
        for j in np.flatnonzero(shared >= _MIN_SHARED).tolist():
            if i != j and not (is_target[j] and j < i) and candidates.is_comparable(i, j):
                similarity = candidates.similarity(i, j, min_similarity)
                if similarity:
                    similarities[i, j] = similarity
    parents = graph.nodes.parents
    pairs = {(candidates.nodes[i], candidates.nodes[j]) for i, j in similarities}

    def is_implied(i: int, j: int) -> bool:
        one, other = candidates.nodes[i], candidates.nodes[j]
        ends = ((a, b) for a in (one, *_around(parents, one)) for b in (other, *_around(parents, other)))
        return any((end in pairs or end[::-1] in pairs) and end != (one, other) for end in ends)

    kept = [(i, j) for i, j in similarities if not is_implied(i, j)]
    kept.sort(key=lambda pair: (-similarities[pair], pair))
    return tuple(candidates.pair(i, j, similarities[i, j]) for i, j in kept)


def find_clusters(
    graph: CodeGraph, read: ReadBytes, nodes: NDArray[np.int64], *, min_similarity: float, limit: int | None = None
) -> tuple[tuple[SimilarCluster, ...], int]:
    """Return (at most `limit` clusters of definitions that are like one of them, their number).

    Clusters with the most lines beside the first definition come first, then ids. Members are like the first one, not
    each other. A cluster whose members are all inside of those of another one is left out.
    """
    candidates = _Candidates(graph, read, nodes)
    groups = _split_groups(candidates, min_similarity)
    links: dict[int, dict[int, float]] = {group[0]: {} for group in groups}
    for i, j in _propose_pairs(candidates.signatures(), [group[0] for group in groups]):
        if candidates.is_comparable(i, j):
            similarity = candidates.similarity(i, j, min_similarity)
            if similarity:
                links[i][j] = links[j][i] = similarity
    members = {group[0]: group for group in groups}
    weights = {first: sum(len(members[j]) for j in (first, *links[first])) for first in links}
    assigned: set[int] = set()
    first_and_nodes: list[tuple[int, list[int]]] = []
    for first in sorted(links, key=lambda first: (-weights[first], first)):
        if first in assigned:
            continue
        near = [j for j in links[first] if j not in assigned]
        inside = [k for j in (first, *near) for k in members[j] if k != first]
        if inside:
            assigned.update((first, *near))
            first_and_nodes.append((first, inside))
    first_and_nodes.sort(key=lambda each: (-sum(candidates.n_lines(k) for k in each[1]), each[0]))
    clusters: list[SimilarCluster] = []
    cluster_of: dict[int, int] = {}
    parents, n_clusters = graph.nodes.parents, 0
    for first, inside in first_and_nodes:
        pairs = [
            (k, candidates.similarity(first, k, min_similarity)) for k in inside if candidates.is_comparable(first, k)
        ]
        members_of = {candidates.nodes[k] for k, similarity in pairs if similarity}
        pairs = [
            (k, similarity)
            for k, similarity in pairs
            if similarity and members_of.isdisjoint(_around(parents, candidates.nodes[k]))
        ]
        if not pairs:
            continue
        nodes_of = [candidates.nodes[k] for k in (first, *(k for k, _ in pairs))]
        clusters_around = [next((cluster_of[n] for n in _around(parents, k) if n in cluster_of), -1) for k in nodes_of]
        cluster_of.update((node, first) for node in nodes_of if node not in cluster_of)
        if clusters_around[0] >= 0 and len(set(clusters_around)) == 1:
            continue
        n_clusters += 1
        if limit is None or len(clusters) < limit:
            pairs.sort(key=lambda pair: (-pair[1], pair[0]))
            n_lines = sum(candidates.n_lines(k) for k, _ in pairs)
            clusters.append(
                SimilarCluster(
                    candidates.describe(first), tuple(candidates.pair(first, k, s) for k, s in pairs), n_lines
                )
            )
    return tuple(clusters), n_clusters


def _around(parents: NDArray[np.int32], node: int) -> Iterator[int]:
    """Yield what a node is inside of, from the inside out."""
    while (node := int(parents[node])) >= 0:
        yield node


def _split_groups(candidates: _Candidates, min_similarity: float) -> list[list[int]]:
    """Return groups of definitions of one shape that are similar to the first of their group."""
    groups = []
    for group in candidates.groups_of_one_shape():
        for _ in range(_MAX_ROUNDS):
            first, *rest = group
            is_near = [bool(candidates.similarity(first, each, min_similarity)) for each in rest]
            groups.append([first, *(each for each, near in zip(rest, is_near, strict=True) if near)])
            group = [each for each, near in zip(rest, is_near, strict=True) if not near]
            if not group:
                break
        groups += [[each] for each in group]
    return groups


def _propose_pairs(signatures: NDArray[np.uint32], firsts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of `firsts`, ascending, that share a band of their signature and enough of all of it."""
    positions = np.array(sorted(firsts), dtype=np.int64)
    signatures = signatures[positions]
    n = len(positions)
    keys = np.zeros(0, dtype=np.int64)
    for band in range(0, _N_HASHES, _BAND_ROWS):
        rows = signatures[:, band : band + _BAND_ROWS].astype(np.uint64)
        bucket = rows[:, 0]
        for column in range(1, _BAND_ROWS):
            bucket = bucket * np.uint64(0x9E3779B97F4A7C15) + rows[:, column]
        # In a large bucket, those whose next hashes are alike stand side by side.
        order = np.lexsort((signatures[:, (band + _BAND_ROWS) % _N_HASHES], bucket))
        ordered = bucket[order]
        chunks = [keys]
        for step in range(1, _MAX_NEIGHBORS + 1):
            same = np.flatnonzero(ordered[:-step] == ordered[step:])
            one, other = order[same], order[same + step]
            chunks.append(np.minimum(one, other) * n + np.maximum(one, other))
        keys = np.unique(np.concatenate(chunks))
    for start in range(0, len(keys), 100_000):
        one, other = keys[start : start + 100_000] // n, keys[start : start + 100_000] % n
        shared = (signatures[one] == signatures[other]).mean(axis=1)
        is_near = shared >= _MIN_SHARED
        yield from zip(positions[one[is_near]].tolist(), positions[other[is_near]].tolist(), strict=True)
