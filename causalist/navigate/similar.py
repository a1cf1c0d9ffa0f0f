"""Near-duplicates of definitions: copies, copies with other names, and copies with edits.

In: an `Index` and a reader of its files. Out: `SimilarPair`s and `SimilarCluster`s. Nothing is stored.

Files are parsed again, and the leaves of their trees are the tokens, without comments. The *shape* of a token is its
kind: keywords and operators stand for themselves, names and literals for any of their kind. MinHash signatures of the
runs of shapes propose pairs (LSH, Indyk and Motwani 1998). Those that share enough tokens, in any order, are aligned:

    structure  = 2 * (length of the longest common subsequence) / (number of tokens of both)
    similarity = (1 - SHARED_WEIGHT) * structure + SHARED_WEIGHT * shared

Two names of one kind count as the same in the subsequence if they have the same text, or else if both occurred last as
far back, so that names may differ but not be mixed up (Baker 1995); the better of the two subsequences counts.
`shared` is the share of called names that both have in common, of all names if one calls nothing that is known.
The probability that a reader would merge two definitions, or have them share code, is a logistic model of their
similarity and of the share of names that both have (`_MERGED`).
Functions are compared with functions, types with types. Signatures cost time linear in the tokens. Definitions of one
shape are compared with one of them, and those of one LSH bucket with the next few, so that the whole is linear in the
number of definitions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import chunk_by_size, unique_sorted
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.lookup import LikeDefinition, Likeness, SimilarCluster, SimilarPair
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, split_id
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
_MIN_NAMES = 0.65  # of a pair of types that need not be more similar, of the one with fewer
_SHAPE_ALONE = 0.15  # that another pair must be more similar, unless all but the names is the same
_MERGED = (-8.0, 5.6, 5.9)  # constant, similarity, shared names; of 52 judged pairs, see benchmarks.md
_SEED = 20_250
_CALLS = int(EdgeKind.CALLS)
_NAMES = ("identifier", "name", "variable", "constant")  # parts of the kinds of names in the grammars
_PLAIN_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "multiline_comment", "html_comment"})
_MAX_NAMES_LISTED = 4
_MAX_EDITS_LISTED = 2
_NEWLINE = 10
_MAX_CHARACTERS = 60  # of a name or line that is shown


class _Kinds(NamedTuple):
    """Kinds of nodes of one grammar, by number: shape, and whether they are names and comments."""

    shapes: NDArray[np.int32]
    is_name: NDArray[np.bool_]
    is_comment: NDArray[np.bool_]
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
        starts, shapes, texts, is_name = self._leaves(tree.root_node, data, _outermost(spans), kinds)
        rows = np.searchsorted(np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE), starts).astype(np.int32)
        # A stable order by text has the occurrences of each side by side.
        names = np.flatnonzero(is_name)
        names = names[np.argsort(texts[names], kind="stable")]
        again = np.flatnonzero(texts[names[1:]] == texts[names[:-1]])
        previous = np.full(len(starts), -1, dtype=np.int32)
        previous[names[again + 1]] = names[again]
        token_lists: list[_Tokens | None] = []
        for start, end in spans:
            low, high = np.searchsorted(starts, (start, end)).tolist()
            before = previous[low:high]
            back = np.where(before >= low, np.arange(low, high, dtype=np.int32) - before, np.int32(0))
            back[~is_name[low:high]] = -1
            token_lists.append(_Tokens(shapes[low:high], texts[low:high], back, rows[low:high]))
        return token_lists

    def text_of(self) -> list[str]:
        """Return the texts by their numbers."""
        return [text.decode("utf-8", "replace") for text in self._texts]

    def _kinds_of(self, key: int, language: "tree_sitter.Language | None") -> _Kinds:
        assert language is not None, "a parser of a grammar has its language"
        if key not in self._kinds:
            names = [language.node_kind_for_id(i) or "" for i in range(language.node_kind_count)]
            shapes = np.array([self._shapes.setdefault(name, len(self._shapes)) for name in names], dtype=np.int32)
            is_named = np.array([language.node_kind_is_named(i) for i in range(len(names))], dtype=np.bool_)
            is_comment = is_named & np.array(["comment" in name for name in names], dtype=np.bool_)
            is_name = is_named & np.array([any(part in name for part in _NAMES) for name in names], dtype=np.bool_)
            has_inner = any(names[i] not in _PLAIN_COMMENTS for i in np.flatnonzero(is_comment).tolist())
            self._kinds[key] = _Kinds(shapes, is_name, is_comment, has_inner)
        return self._kinds[key]

    def _leaves(
        self, root: "tree_sitter.Node", data: bytes, spans: Sequence[tuple[int, int]], kinds: _Kinds
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
        """Return start, shape, text, and whether it is a name, of each leaf in the spans, without comments."""
        leaves, counts = list["tree_sitter.Node"](), list[int]()
        for first, behind in spans:
            around = root.descendant_for_byte_range(first, max(first, behind - 1)) or root
            cursor = around.walk()
            before, is_done = len(leaves), False
            while not is_done:
                if kinds.has_inner_comments:
                    node = cursor.node
                    enters = node is not None and not kinds.is_comment[node.kind_id] and cursor.goto_first_child()
                else:
                    enters = cursor.goto_first_child()
                if enters:
                    continue
                if (node := cursor.node) is not None:
                    leaves.append(node)
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        is_done = True
                        break
            counts.append(len(leaves) - before)
        starts, ends, numbers = (
            np.fromiter(map(attrgetter(name), leaves), dtype=np.int64, count=len(leaves))
            for name in ("start_byte", "end_byte", "kind_id")
        )
        firsts, behinds = np.repeat(np.array(spans, dtype=np.int64).reshape(-1, 2), counts, axis=0).T
        # A node that the grammar inserts has no text, and one of an error may have no known kind.
        is_token = (firsts <= starts) & (starts < ends) & (ends <= behinds) & (numbers < len(kinds.shapes))
        is_token[is_token] = ~kinds.is_comment[numbers[is_token]]
        starts, ends, numbers = starts[is_token], ends[is_token], numbers[is_token]
        number_by_text = self._texts
        texts = [
            number_by_text.setdefault(data[start:end], len(number_by_text))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return starts, kinds.shapes[numbers], np.array(texts, dtype=np.int32), kinds.is_name[numbers]


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
        self._with_code = set(graph.nodes.parents[np.isin(graph.nodes.kinds, sorted(CALLABLE_KINDS))].tolist())
        self._texts = reader.text_of()
        self._callees: dict[int, frozenset[str]] = {}
        self._last_names: dict[int, str] = {}
        self._codes: dict[int, tuple[list[int], list[int]]] = {}
        self._bags: _Bags | None = None
        self._name_sets: dict[int, frozenset[int]] = {}
        self._lines: dict[str, list[bytes]] = {}
        self._read = read

    def __len__(self) -> int:
        return len(self.nodes)

    def n_lines(self, i: int) -> int:
        return int(self._graph.nodes.end_rows[self.nodes[i]] - self._graph.nodes.start_rows[self.nodes[i]]) + 1

    def signatures(self) -> NDArray[np.uint32]:
        """Return the least value of each hash function over the runs of shapes, shape (n, _N_HASHES)."""
        draw = np.random.default_rng(_SEED)
        factors = draw.integers(0, 1 << 32, _N_HASHES, dtype=np.uint32) | np.uint32(1)
        terms = draw.integers(0, 1 << 32, _N_HASHES, dtype=np.uint32)
        signatures = np.empty((len(self), _N_HASHES), dtype=np.uint32)
        for first, behind in chunk_by_size([len(each.shapes) for each in self._tokens]):
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

    def are_comparable(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for two functions or two types, if none is inside of the other; `pairs` has shape (n, 2)."""
        nodes = self._graph.nodes
        both = np.array(self.nodes, dtype=np.int64)[pairs]
        are_types = np.isin(nodes.kinds[both], sorted(TYPE_KINDS))
        files, starts, ends = nodes.files[both], nodes.start_bytes[both], nodes.end_bytes[both]
        are_apart = (files[:, 0] != files[:, 1]) | (starts >= ends[:, ::-1]).any(axis=1)
        return np.asarray((are_types[:, 0] == are_types[:, 1]) & are_apart)

    def are_similar(self, pairs: NDArray[np.int64], least: float) -> NDArray[np.bool_]:
        """Return where `similarity` is not 0; `pairs` has shape (n, 2), and is fastest in ascending order.

        A pair is aligned only if tokens that both have, in any order, would be enough.
        """
        if self._bags is None:
            self._bags = _Bags(self._tokens, [self._names_called_by(node) for node in self.nodes])
        shared, text_bounds, back_bounds = self._bags.compare(pairs)
        sizes = np.array([len(each.shapes) for each in self._tokens], dtype=np.int64)[pairs]
        total = sizes.sum(axis=1)
        own = SHARED_WEIGHT * shared
        is_possible = 2 * sizes.min(axis=1) >= (least - own) / (1 - SHARED_WEIGHT) * total
        by_text = is_possible & ((1 - SHARED_WEIGHT) * (2 * text_bounds / total) + own >= least)
        by_back = is_possible & ((1 - SHARED_WEIGHT) * (2 * back_bounds / total) + own >= least)
        are_similar = np.zeros(len(pairs), dtype=np.bool_)
        places, last = (dict[int, int](), dict[int, int]()), -1
        for k in np.flatnonzero(by_text | by_back).tolist():
            i, j = pairs[k].tolist()
            codes, others = self._encode(i), self._encode(j)
            if i != last:
                places, last = ({}, {}), i
            for column, is_near in enumerate((by_text[k], by_back[k])):
                if is_near and not are_similar[k]:
                    structure = 2 * _common_length(codes[column], others[column], places[column]) / int(total[k])
                    similarity = (1 - SHARED_WEIGHT) * structure + own[k]
                    are_similar[k] = similarity >= least and similarity >= self._least(i, j, least)
        return are_similar

    def similarity(self, i: int, j: int, least: float) -> float:
        """Return the similarity of two definitions, or 0 if it is below `least`."""
        callees = self.shared_callees(i, j)
        shared = _overlap(self._names(i), self._names(j)) if callees is None else callees
        bound = (least - SHARED_WEIGHT * shared) / (1 - SHARED_WEIGHT)
        n, m = len(self._tokens[i].shapes), len(self._tokens[j].shapes)
        if 2 * min(n, m) < bound * (n + m):
            return 0.0
        (texts, backs), (other_texts, other_backs) = self._encode(i), self._encode(j)
        structure = 2 * _common_length(texts, other_texts, {}) / (n + m)
        if structure < 1:
            structure = max(structure, 2 * _common_length(backs, other_backs, {}) / (n + m))
        similarity = (1 - SHARED_WEIGHT) * structure + SHARED_WEIGHT * shared
        return similarity if similarity >= self._least(i, j, least) else 0.0

    def _least(self, i: int, j: int, least: float) -> float:
        """Return how similar two definitions must be: types without functions need names in common."""
        one, other = self._names(i), self._names(j)
        is_named = len(one & other) >= _MIN_NAMES * min(len(one), len(other))
        if is_named or self._graph.nodes.kinds[self.nodes[i]] not in TYPE_KINDS or self.nodes[i] in self._with_code:
            return least
        return least if np.array_equal(self._tokens[i].shapes, self._tokens[j].shapes) else least + _SHAPE_ALONE

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
        rows = graph.nodes.start_rows, graph.nodes.end_rows
        id, (first, last) = graph.nodes.ids[node], (int(each[node]) + 1 for each in rows)
        return LikeDefinition(id, graph.kind(node).label, split_id(id)[0], first, last)

    def pair(self, i: int, j: int, similarity: float) -> SimilarPair:
        return SimilarPair(
            self.describe(i), self.describe(j), similarity, self.likeness(i, j), self.shared_callees(i, j),
            self._differences(i, j), self.probability(i, j, similarity),
        )  # fmt: skip

    def probability(self, i: int, j: int, similarity: float) -> float:
        """Return the probability that a reader would merge two definitions of this similarity."""
        logit = np.dot(_MERGED, (1.0, similarity, _overlap(self._names(i), self._names(j))))
        return float(1 / (1 + np.exp(-logit)))

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
            graph = self._graph
            numbers = slice(*graph.edges.indptr[node : node + 2].tolist())
            targets = graph.edges.targets[numbers][graph.edges.kinds[numbers] == _CALLS]
            names = {self._name_of(target) for target in targets.tolist()}
            unresolved = graph.unresolved
            low, high = np.searchsorted(unresolved.sources, (node, node + 1)).tolist()
            names.update(unresolved.texts[int(name)] for name in unresolved.names[low:high].tolist())
            self._callees[node] = frozenset(names - {"?"})
        return self._callees[node]

    def _name_of(self, node: int) -> str:
        if node not in self._last_names:
            self._last_names[node] = _last_name(self._graph.nodes.ids[node])
        return self._last_names[node]

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
            n = len(distinct) - _MAX_EDITS_LISTED
            lines.append("; ".join(distinct[:_MAX_EDITS_LISTED]) + f"; and {n} more edit{'s' * (n > 1)}" * (n > 0))
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


class _Bags:
    """Multisets of tokens, names and called names of definitions, and the sizes of what two definitions share.

    Row 4 * i + s of a CSR matrix has the counts of set s of definition i: tokens by text, tokens by where they occurred
    last, names, called names. The sets have columns of their own. Several tokens of the second may have one column, so
    that what is shared there is an upper bound.
    """

    _N_BACK_COLUMNS = 1 << 18
    _MAX_PARTNERS = 1_000  # at once, since their rows are copied

    def __init__(self, tokens: Sequence[_Tokens], callees: Sequence[frozenset[str]]) -> None:
        n_shapes = 1 + max((int(each.shapes.max()) for each in tokens), default=0)
        n_texts = 1 + max((int(each.texts.max()) for each in tokens), default=0)
        _, first_back, first_name, first_called = np.cumsum([0, n_shapes + n_texts, self._N_BACK_COLUMNS, n_texts])
        number_by_name: dict[str, int] = {}
        chunks = [(np.zeros(0, dtype=np.int64),) * 3]
        for first, behind in chunk_by_size([len(each.shapes) for each in tokens]):
            some = tokens[first:behind]
            token_rows = 4 * np.repeat(np.arange(first, behind), [len(each.shapes) for each in some])
            shapes, texts, back = (np.concatenate([each[k] for each in some]).astype(np.int64) for k in range(3))
            is_name = back >= 0
            mixed = shapes * 0x9E3779B1 + (back + 1) * 0x85EBCA6B
            called = [number_by_name.setdefault(x, len(number_by_name)) for each in callees[first:behind] for x in each]
            callers = np.repeat(np.arange(first, behind), [len(each) for each in callees[first:behind]])
            every_row = np.concatenate([token_rows, token_rows + 1, token_rows[is_name] + 2, 4 * callers + 3])
            by_text = np.where(is_name, n_shapes + texts, shapes)
            by_back = first_back + (mixed ^ mixed >> 17) % self._N_BACK_COLUMNS
            called_columns = first_called + np.array(called, dtype=np.int64)
            columns = np.concatenate([by_text, by_back, first_name + texts[is_name], called_columns])
            keys, counts = np.unique(every_row << 32 | columns, return_counts=True)
            counts[(keys >> 32) % 4 >= 2] = 1
            chunks.append((keys >> 32, keys & 0xFFFFFFFF, counts))
        rows, self._columns, self._counts = (
            np.concatenate(each).astype(np.int32) for each in zip(*chunks, strict=True)
        )
        self._starts = np.searchsorted(rows, np.arange(4 * len(tokens) + 1))
        self._n_columns = int(first_called) + len(number_by_name)

    def compare(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the share of called names, and bounds of the common tokens by text and by where they occurred last."""
        common = np.empty((len(pairs), 4), dtype=np.int64)
        counts_of_one = np.zeros(self._n_columns, dtype=np.int32)
        for start, stop in _runs(pairs[:, 0], self._MAX_PARTNERS):
            i = int(pairs[start, 0])
            own = slice(int(self._starts[4 * i]), int(self._starts[4 * i + 4]))
            counts_of_one[self._columns[own]] = self._counts[own]
            starts = self._starts[4 * pairs[start:stop, 1][:, None] + np.arange(5)]
            sizes = starts[:, 4] - starts[:, 0]
            shifts = starts[:, 0] - np.cumsum(sizes) + sizes
            places = np.arange(int(sizes.sum())) + np.repeat(shifts, sizes)
            sums = np.zeros(len(places) + 1, dtype=np.int64)
            np.cumsum(np.minimum(counts_of_one[self._columns[places]], self._counts[places]), out=sums[1:])
            common[start:stop] = np.diff(sums[starts - shifts[:, None]], axis=1)
            counts_of_one[self._columns[own]] = 0
        n, m = np.diff(self._starts)[4 * pairs[:, :, None] + np.arange(2, 4)].transpose(1, 0, 2)
        shared = common[:, 2:] / np.maximum(1, n + m - common[:, 2:])
        calls_known = (n[:, 1] > 0) & (m[:, 1] > 0)
        return np.where(calls_known, shared[:, 1], shared[:, 0]), common[:, 0], common[:, 1]


def _runs(values: NDArray[np.int64], longest: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the ranges of equal values side by side, in parts of at most `longest`."""
    for start, stop in pairwise([0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]):
        for first in range(start, stop, longest or max(1, stop - start)):
            yield first, min(stop, first + (longest or stop))


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


def _common_length(one: Sequence[int], other: Sequence[int], places: dict[int, int]) -> int:
    """Return the length of the longest common subsequence, by bits in parallel (Hyyrö 2004).

    `places` becomes the bits of each code in `one`; it is empty, or what an earlier call with `one` made of it.
    """
    start, end = 0, 0
    least = min(len(one), len(other))
    while start < least and one[start] == other[start]:
        start += 1
    while end < least - start and one[-1 - end] == other[-1 - end]:
        end += 1
    if start + end == least:
        return least
    if not places:
        for i, code in enumerate(one):
            places[code] = places.get(code, 0) | 1 << i
    every = unmatched = (1 << len(one) - end) - (1 << start)
    # Sums carry into the bits of the common end, and nothing there comes back to lower ones.
    for bits in filter(None, map(places.get, other[start : len(other) - end])):
        matched = unmatched & bits
        unmatched = unmatched + matched | unmatched - matched
    return len(one) - (unmatched & every).bit_count()


def find_similar(
    graph: CodeGraph,
    read: ReadBytes,
    targets: NDArray[np.int64],
    others: NDArray[np.int64],
    *,
    min_similarity: float,
) -> tuple[SimilarPair, ...]:
    """Return the pairs of one of `targets` with one of `others`, the most likely to be merged first, then by ids.

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
        near = np.flatnonzero(shared >= _MIN_SHARED)
        near = near[(near != i) & ~(is_target[near] & (near < i))]
        pairs_of_one = np.column_stack((np.full(len(near), i), near))
        for j in near[candidates.are_comparable(pairs_of_one)].tolist():
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
    kept.sort(key=lambda pair: (-candidates.probability(pair[0], pair[1], similarities[pair]), pair))
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
    links: dict[int, set[int]] = {group[0]: set() for group in groups}
    for proposed in _propose_pairs(candidates.signatures(), [group[0] for group in groups]):
        some = proposed[candidates.are_comparable(proposed)]
        for i, j in some[candidates.are_similar(some, min_similarity)].tolist():
            links[i].add(j)
            links[j].add(i)
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
    pairs = np.array([(first, k) for first, inside in first_and_nodes for k in inside], dtype=np.int64).reshape(-1, 2)
    is_near = candidates.are_comparable(pairs)
    is_open = is_near & np.array(
        [k not in links[first] and k not in members[first] for first, k in pairs.tolist()], bool
    )
    is_near[is_open] = candidates.are_similar(pairs[is_open], min_similarity)
    clusters: list[SimilarCluster] = []
    cluster_of: dict[int, int] = {}
    parents, n_clusters = graph.nodes.parents, 0
    for start, stop in _runs(pairs[:, 0]):
        first, near = int(pairs[start, 0]), pairs[start:stop, 1][is_near[start:stop]].tolist()
        members_of = {candidates.nodes[k] for k in near}
        near = [k for k in near if members_of.isdisjoint(_around(parents, candidates.nodes[k]))]
        if not near:
            continue
        nodes_of = [candidates.nodes[k] for k in (first, *near)]
        clusters_around = [next((cluster_of[n] for n in _around(parents, k) if n in cluster_of), -1) for k in nodes_of]
        cluster_of.update((node, first) for node in nodes_of if node not in cluster_of)
        if clusters_around[0] >= 0 and len(set(clusters_around)) == 1:
            continue
        n_clusters += 1
        if limit is None or len(clusters) < limit:
            similarities = {k: candidates.similarity(first, k, min_similarity) for k in near}
            near.sort(key=lambda k: (-similarities[k], k))
            n_lines = sum(candidates.n_lines(k) for k in near)
            in_order = tuple(candidates.pair(first, k, similarities[k]) for k in near)
            clusters.append(SimilarCluster(candidates.describe(first), in_order, n_lines))
    return tuple(clusters), n_clusters


def _around(parents: NDArray[np.int32], node: int) -> Iterator[int]:
    """Yield what a node is inside of, from the inside out."""
    while (node := int(parents[node])) >= 0:
        yield node


def _split_groups(candidates: _Candidates, min_similarity: float) -> list[list[int]]:
    """Return groups of definitions of one shape that are similar to the first of their group."""
    groups: list[list[int]] = []
    open_groups = candidates.groups_of_one_shape()
    for _ in range(_MAX_ROUNDS):
        groups += [group for group in open_groups if len(group) == 1]
        open_groups = [group for group in open_groups if len(group) > 1]
        pairs = np.array([(group[0], k) for group in open_groups for k in group[1:]], dtype=np.int64).reshape(-1, 2)
        is_near = candidates.are_similar(pairs, min_similarity)
        rest = []
        for start, stop in _runs(pairs[:, 0]):
            near = is_near[start:stop]
            groups.append([int(pairs[start, 0]), *pairs[start:stop, 1][near].tolist()])
            if not near.all():
                rest.append(pairs[start:stop, 1][~near].tolist())
        open_groups = rest
    return groups + [[each] for group in open_groups for each in group]


def _propose_pairs(signatures: NDArray[np.uint32], firsts: Sequence[int]) -> Iterator[NDArray[np.int64]]:
    """Yield the pairs of `firsts`, ascending, shape (n, 2), that share a band of their signature and enough of it."""
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
        keys = unique_sorted(np.concatenate(chunks))
    for start in range(0, len(keys), 100_000):
        one, other = keys[start : start + 100_000] // n, keys[start : start + 100_000] % n
        shared = (signatures[one] == signatures[other]).mean(axis=1)
        is_near = shared >= _MIN_SHARED
        yield positions[np.column_stack((one[is_near], other[is_near]))]
