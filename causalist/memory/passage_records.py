"""Records of passages, interned strings, the names that a passage defines, and names that are similar.

A record depends on its own passage only and stores integer counts. Everything that depends on other passages (weights,
degrees, similarities, lengths) is derived from all records in an order independent of insertion (`count_matrices.py`).
So any history of additions and removals equals a rebuild, bit for bit. A passage defines the names in its title and the
terms that its list items begin with. From the best passages, the entities they name lead to the documents that define
them.

Entity names are similar by spelling or by vectors of an embedder. By spelling, in two cases:

- Their stems are the same set ("access tokens", "access-token", "token access"): similarity 1.
- They differ in one word of at least 7 letters by a few slips: similarity 1 - slips / length of the longer name, if
  that reaches the threshold.

Digits never differ, so that versions stay apart. Short words never differ either: `get_name` is not `set_name`. Words
within an edit distance are found by pieces (Li et al. 2011, Pass-Join). A slip damages at most two pieces, if it swaps
two letters across a cut. So a word with at most k slips keeps one of 2k + 1 pieces, shifted by at most k places.

An embedder is a function from texts to vectors, which the caller chooses. Each passage and entity name is embedded
once. A cosine is summed element by element in double precision, because BLAS sums depend on the shape of the matrices.
So two vectors have the same cosine, whether compared alone or in a batch.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import CausalistError, ModelFailed, UsageError
from causalist.memory.defined_names import Words, entity_id, fold_run, fold_words, is_name, split_text
from causalist.memory.extractors import ALIAS, TYPES, Embedder, Extraction
from causalist.memory.matrix_splices import find_entries
from causalist.model import protocols as embedding
from causalist.rank.lexical.query_expansion import damerau_distance
from causalist.rank.terms import split_word, stem, terms_of

SIMILARITY_THRESHOLD = 0.85
_MIN_WORD_LETTERS = 7
_MAX_SLIPS = 2
_WORDS = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"[+#*]")


def stem_key(name: str) -> str:
    """Return the stems of a name in alphabetical order, or "" if it has no words.

    >>> stem_key("access tokens") == stem_key("Access-Token"), stem_key("c++")
    (True, 'c')
    """
    return " ".join(sorted({stem(part) for word in _WORDS.findall(name) for part in split_word(word)}))


def _stem_key_with_marks(name: str) -> str:
    """Return the stem key and the marks that distinguish names with the same letters: c++, c#."""
    return stem_key(name) + "".join(_MARKS.findall(name))


class NameSimilarity:
    """Pairs of similar names; names are added one by one, in any order."""

    def __init__(self) -> None:
        """Create an empty set of names."""
        self._by_stems: dict[str, list[str]] = {}
        self._similar_words: dict[str, list[str]] = {}
        self._by_piece: dict[tuple[int, int, str], list[str]] = {}
        self._names: set[str] = set()
        self._unindexed_words: dict[str, None] = {}  # words without pieces in `_by_piece`
        self.pairs: dict[tuple[str, str], float] = {}  # key: smaller name, larger name; pairs are never removed
        self.n_revised = 0  # pairs that got another similarity

    def add(self, name: str) -> None:
        """Add an entity id."""
        if name in self._names:
            return
        self._names.add(name)
        key = _stem_key_with_marks(name)
        alike = self._by_stems.setdefault(key, [])
        for other in alike if key.strip("+#*") else ():
            self._pair(name, other, 1.0)
        alike.append(name)
        words = name.split("_")
        for word in _correctable_words(name):
            if word not in self._similar_words:
                self._add_word(word)
        for word in dict.fromkeys(words):
            for near in self._similar_words.get(word, ()):
                other = "_".join(near if each == word else each for each in words)
                if other in self._names:
                    self._pair_if_similar(name, other, word, near)

    def state(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what is expensive to compute about these known names, as plain data that `restore` takes."""
        words = sorted({word for name in names for word in _correctable_words(name)})
        known_words = set(words)
        position = {name: i for i, name in enumerate(names)}
        pairs = sorted((position[a], position[b], v) for (a, b), v in self.pairs.items()
                       if a in position and b in position)  # fmt: skip
        return {
            "keys": [_stem_key_with_marks(name) for name in names],
            "words": words,
            "near": [
                (a, b) for a in words for b in sorted(self._similar_words.get(a, ())) if a < b and b in known_words
            ],
            "pairs": pairs,
        }

    def restore(self, names: Sequence[str], state: Mapping[str, Any]) -> None:
        """Add names with the state that they were stored with to an empty set. Raises ValueError for another state."""
        self._names.update(names)
        for name, key in zip(names, state["keys"], strict=True):
            self._by_stems.setdefault(key, []).append(name)
        self._unindexed_words.update(dict.fromkeys(state["words"]))
        self._similar_words.update((word, []) for word in self._unindexed_words)
        for a, b in state["near"]:
            self._similar_words[a].append(b)
            self._similar_words[b].append(a)
        for i, j, similarity in state["pairs"]:
            self._pair(names[i], names[j], float(similarity))

    def names_with_words(self, name: str) -> list[str]:
        """Return the known names with the same words, inflected or in another order."""
        key = _stem_key_with_marks(name)
        return self._by_stems.get(key, []) if key.strip("+#*") else []

    def similar_names(self, name: str) -> dict[str, float]:
        """Return the known names similar to any name, with their similarity; the name itself included."""
        similarities: dict[str, float] = {name: 1.0} if name in self._names else {}
        similarities.update(dict.fromkeys(self.names_with_words(name), 1.0))
        words = name.split("_")
        for word in _correctable_words(name):
            for near in self._similar_words[word] if word in self._similar_words else self._find_similar_words(word):
                other = "_".join(near if each == word else each for each in words)
                if other in self._names:
                    similarities.setdefault(other, self._similarity(name, other, word, near))
        return {other: value for other, value in sorted(similarities.items()) if value >= SIMILARITY_THRESHOLD}

    def _pair(self, a: str, b: str, similarity: float) -> None:
        if a != b:
            pair = (a, b) if a < b else (b, a)
            previous = self.pairs.get(pair)
            if previous is None or similarity > previous:
                self.pairs[pair] = similarity
                self.n_revised += previous is not None

    def _pair_if_similar(self, a: str, b: str, word: str, near: str) -> None:
        similarity = self._similarity(a, b, word, near)
        if similarity >= SIMILARITY_THRESHOLD:
            self._pair(a, b, similarity)

    def _similarity(self, a: str, b: str, word: str, near: str) -> float:
        return 1.0 - damerau_distance(word, near, _MAX_SLIPS) * a.split("_").count(word) / max(len(a), len(b))

    def _add_word(self, word: str) -> None:
        near = self._find_similar_words(word)
        self._similar_words[word] = near
        for other in near:
            self._similar_words[other].append(word)
        self._index_pieces(word)

    def _index_pieces(self, word: str) -> None:
        for piece in _pieces(word):
            self._by_piece.setdefault(piece, []).append(word)

    def _find_similar_words(self, word: str) -> list[str]:
        """Return known words within the edit distance that the longer word allows."""
        for uncut in self._unindexed_words:
            self._index_pieces(uncut)
        self._unindexed_words.clear()
        similar_words: dict[str, None] = {}
        candidates = dict.fromkeys(chain.from_iterable(self._by_piece.get(probe, ()) for probe in _probe_pieces(word)))
        for other in candidates:
            most = _allowed_slips(max(len(word), len(other)))
            if other != word and damerau_distance(word, other, most) <= most:
                similar_words[other] = None
        return list(similar_words)


def _correctable_words(name: str) -> list[str]:
    """Return the words of a name that may be misspelled."""
    return [word for word in dict.fromkeys(name.split("_")) if len(word) >= _MIN_WORD_LETTERS and word.isalpha()]


def _allowed_slips(length: int) -> int:
    """Return the slips that a word of this length may have, so that its similarity reaches the threshold."""
    return min(_MAX_SLIPS, int(round((1 - SIMILARITY_THRESHOLD) * 100) * length // 100))


def _pieces(word: str) -> Iterator[tuple[int, int, str]]:
    """Yield (word length, piece number, piece); one piece more than the slips of a similar pair can damage."""
    n = 2 * _allowed_slips(len(word) + _MAX_SLIPS) + 1
    for i, (start, end) in enumerate(_piece_bounds(len(word), n)):
        yield len(word), i, word[start:end]


def _probe_pieces(word: str) -> Iterator[tuple[int, int, str]]:
    """Yield the pieces that a similar word may have, in the form of `_pieces`."""
    for length in range(max(_MIN_WORD_LETTERS, len(word) - _MAX_SLIPS), len(word) + _MAX_SLIPS + 1):
        most = _allowed_slips(max(length, len(word)))
        if most < abs(length - len(word)) or most == 0:
            continue
        for i, (start, end) in enumerate(_piece_bounds(length, 2 * _allowed_slips(length + _MAX_SLIPS) + 1)):
            for shift in range(-most, most + 1):
                if start + shift >= 0 and end + shift <= len(word):
                    yield length, i, word[start + shift : end + shift]


def _piece_bounds(length: int, n: int) -> list[tuple[int, int]]:
    """Return the bounds of n pieces of nearly equal length."""
    bounds = [length * i // n for i in range(n + 1)]
    return list(pairwise(bounds))


_BATCH_TEXTS = 64
_BLOCK_ROWS = 1024
_SLACK = 1e-4  # tolerance of the fast product, before the exact cosine


@dataclass(slots=True)
class Vectors:
    """Vectors by passage id and by entity id: equal length, norm 1, float32."""

    embedder: Embedder
    passages: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    entities: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], float] = field(
        default_factory=dict
    )  # entities with a cosine of at least SIMILARITY_THRESHOLD
    _compared: list[str] = field(default_factory=list)
    _texts: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def embed_once(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, d); those asked for before are not embedded again."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        self._texts.update(zip(new, self.embed(new), strict=True))
        return np.stack([self._texts[text] for text in texts])

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of texts. Raises UsageError for an invalid vector, ModelFailed."""
        vectors: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _BATCH_TEXTS):
            batch = list(texts[start : start + _BATCH_TEXTS])
            rows = self._call_embedder(batch)
            if len(rows) != len(batch):
                raise UsageError(f"the embedder returned {len(rows)} vectors for {len(batch)} texts")
            vectors += [self._normalize(row) for row in rows]
        return vectors

    def _call_embedder(self, batch: list[str]) -> list[NDArray[np.float64]]:
        try:
            embed = self.embedder.embed if isinstance(self.embedder, embedding.Embedder) else self.embedder
            return [np.asarray(row, dtype=np.float64) for row in embed(batch)]
        except CausalistError:
            raise
        except Exception as error:  # a provider can raise anything
            raise ModelFailed(f"the embedder failed: {type(error).__name__}: {str(error)[:200]}") from error

    def _normalize(self, row: NDArray[np.float64]) -> NDArray[np.float32]:
        sample = next(iter(self.passages.values()), None)
        if (
            row.ndim != 1
            or not len(row)
            or not np.isfinite(row).all()
            or (sample is not None and len(sample) != len(row))
        ):
            raise UsageError(
                f"the embedder returned an array of shape {row.shape}; vectors must be finite and of equal length"
            )
        norm = float(np.sqrt(np.add.reduce(row * row)))
        return (row / norm if norm else row).astype(np.float32)

    def matrix(self, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages, shape (P, d)."""
        return np.stack([self.passages[each] for each in passages]) if passages else np.zeros((0, 1), dtype=np.float32)

    def update_pairs(self, names: Sequence[str]) -> None:
        """Add the pairs of new entities among `names` with all others."""
        new = [name for name in names if name not in self.entities]
        for name, vector in zip(new, self.embed([name.replace("_", " ") for name in new]), strict=True):
            self.entities[name] = vector
        compared = set(self._compared)
        fresh = [name for name in self.entities if name not in compared]
        everything = self._compared + fresh
        if not fresh:
            return
        matrix = np.stack([self.entities[name] for name in everything])
        for start in range(len(self._compared), len(everything), _BLOCK_ROWS):
            rows = np.arange(start, min(start + _BLOCK_ROWS, len(everything)))
            near = matrix[rows] @ matrix[: int(rows[-1]) + 1].T >= SIMILARITY_THRESHOLD - _SLACK
            for i, j in np.argwhere(near).tolist():
                if rows[i] > j:
                    self._pair(everything[int(rows[i])], everything[j])
        self._compared = everything

    def _pair(self, a: str, b: str) -> None:
        cosine = float(cosines(self.entities[a][None, :], self.entities[b])[0])
        if cosine >= SIMILARITY_THRESHOLD:
            self.pairs[(a, b) if a < b else (b, a)] = min(cosine, 1.0)

    def nearest(self, vector: NDArray[np.float32], live: Mapping[str, int], most: int) -> dict[str, float]:
        """Return the nearest `most` live entities with a cosine of at least SIMILARITY_THRESHOLD."""
        names = sorted(name for name in self.entities if name in live)
        if not names:
            return {}
        values = cosines(np.stack([self.entities[name] for name in names]), vector)
        order = np.argsort(-values, kind="stable")[:most]
        return {names[i]: min(float(values[i]), 1.0) for i in order.tolist() if values[i] >= SIMILARITY_THRESHOLD}


def cosines(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosines of rows with a vector, all of norm 1, shape (n,)."""
    if not len(matrix):
        return np.zeros(0)
    if matrix.shape[1] != len(vector):
        raise UsageError(f"the query vector has {len(vector)} numbers, but those of the index have {matrix.shape[1]}")
    cosine_by_row = np.empty(len(matrix))
    for start in range(0, len(matrix), _BLOCK_ROWS):
        block = matrix[start : start + _BLOCK_ROWS].astype(np.float64)
        cosine_by_row[start : start + _BLOCK_ROWS] = np.add.reduce(block * vector.astype(np.float64), axis=1)
    return cosine_by_row


_SEPARATOR = re.compile(r"\s+[—–:-]+\s+|:\s")
_SPAN = re.compile(r"`([^`]{1,80})`")
_NUMBER = re.compile(r"^\s*[\d.]+\s+")
_ARTICLE = re.compile(r"^(?:The|A|An)\s+")
_KIND_SUFFIX = re.compile(
    r"\s+(?:modules?|objects?|types?|functions?|packages?|class(?:es)?|statements?|librar(?:y|ies)|protocols?"
    r"|interfaces?|services?|teams?)$",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"^[ \t]{0,8}-[ \t]+(?:(?:class|exception|async|classmethod|staticmethod|abstractmethod|coroutine|type|int|void"
    r"|const|static|struct|char)[ \t]+|\*){0,4}`?([\w.]{2,80})`?",
    re.MULTILINE,
)
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")  # "Mercury (planet)" defines Mercury too
_MAX_DEFINED_TERMS = 200  # per passage
_MAX_HEADING = 120  # characters
_MAX_LEAD = 4  # characters before the name that a text begins with: an article


def find_defined_names(text: str, title: object, leading: str = "") -> list[str]:
    r"""Return the ids of the names that a passage defines, in the order found.

    Without a title, its first line is one, if it is short and no sentence; without such a line, the name that it begins
    with, `leading`, is defined.

    >>> find_defined_names("- class csv.Sniffer()\n\nDeduces.", "13.1. `csv` — CSV File Reading")
    ['csv_—_csv_file_reading', 'csv', 'csv_file_reading', 'csv.sniffer']
    """
    names: dict[str, None] = {}
    heading = title if isinstance(title, str) and title.strip() else find_heading(text)
    if not heading:
        names[entity_id(leading)] = None
    else:
        heading_text = _NUMBER.sub("", heading[:300])
        plain = _BRACKETS.sub("", heading_text)
        for part in (
            heading_text.replace("`", ""),
            plain,
            *_SEPARATOR.split(heading_text),
            *_SPAN.findall(heading_text),
        ):
            name = _ARTICLE.sub("", part.replace("`", "").strip())
            names.update(dict.fromkeys((entity_id(name), entity_id(_KIND_SUFFIX.sub("", name)))))
    names.update(dict.fromkeys(entity_id(match[1]) for match in _TERM.finditer(text)))
    names.pop("", None)
    return list(names)[:_MAX_DEFINED_TERMS]


def find_heading(text: str) -> str:
    r"""Return the first line of a text if it is a heading: short, followed by others, no list item and no sentence.

    >>> find_heading("# Leave\n\nNew parents get 16 weeks."), find_heading("All get it.\nAsk Ada.")
    ('Leave', '')
    """
    line, _, more = text.lstrip().partition("\n")
    line = line.strip().lstrip("#=").strip()
    is_short = more.strip() and 0 < len(line) <= _MAX_HEADING
    return line if is_short and line[0] not in "-*+|>" and line[-1] not in ".,;!?…。！？" else ""


_DEFINED_WORD = re.compile(r"[^\W_]\w*")
REFERENCES = "references"  # metadata key: ids of referenced passages
TITLE = "title"  # metadata key: title of the passage
TIMESTAMP = "timestamp"  # metadata key: ISO 8601, or seconds since 1970
SUPERSEDES = "supersedes"  # metadata key: ids of passages, or paths of documents, that it replaces
VISIBLE_TO = "visible_to"  # metadata key: readers of the passage; without it, everyone
_MAX_ID_CHARACTERS = 2_000


def is_visible(metadata: Mapping[str, Any], readers: Iterable[str]) -> bool:
    """Return True if one of the readers may see a passage. An invalid list hides the passage from everyone."""
    allowed = metadata.get(VISIBLE_TO)
    return allowed is None or (isinstance(allowed, list) and any(reader in allowed for reader in readers))


class StoredTriple(NamedTuple):
    """A triple with entity numbers."""

    subject: int
    predicate: str
    object: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Record:
    """One passage.

    - `mentions`: int32, shape (n, 4), in text order: numbers of entity, name as written and type, and the first
      character (-1 if unknown).
    - `terms`: int32, shape (n, 2): term number and count, of text and title.
    - `words`: int32, shape (n,): numbers of the words of the text, in its order.
    - `defines`: int32, shape (n,): numbers of the entities that the passage defines.
    """

    text: str
    metadata: Mapping[str, Any]
    mentions: NDArray[np.int32]
    terms: NDArray[np.int32]
    defines: NDArray[np.int32]
    triples: tuple[StoredTriple, ...]
    references: tuple[str, ...]
    words: NDArray[np.int32]


@dataclass(slots=True)
class StringNumbers:
    """Numbers of strings in the order of first use; no result depends on that order."""

    strings: list[str] = field(default_factory=list)
    by_string: dict[str, int] = field(default_factory=dict)

    def intern(self, string: str) -> int:
        """Return the number of a string; a new string gets the next number."""
        number = self.by_string.get(string)
        if number is None:
            number = self.by_string[string] = len(self.strings)
            self.strings.append(string)
        return number


class Records:
    """Records by passage id. Every change increases `generation`.

    `touched`: passages that changed since it was emptied, with their records before, None for new ones. `linking`:
    passages with triples or references.
    """

    def __init__(self) -> None:
        """Create an empty set of records."""
        self.passages: dict[str, Record] = {}
        self.entities = StringNumbers()
        self.written = StringNumbers()  # names as written
        self.terms = StringNumbers()
        self.words = StringNumbers()
        self._entity_words: list[Words] = []  # by entity number; () for a name that is not searched
        self.name_similarity = NameSimilarity()
        self.generation = 0
        self.touched: dict[str, Record | None] = {}
        self.linking: set[str] = set()
        self._similar: tuple[int, NDArray[np.int64], NDArray[np.float64]] | None = None

    def put(self, passage_id: str, text: str, metadata: Mapping[str, Any], extraction: Extraction) -> None:
        """Add a passage, or replace it."""
        references = tuple(dict.fromkeys(r for r in metadata.get(REFERENCES, ()) if r != passage_id))
        triples = tuple(
            StoredTriple(
                self._intern_entity(t.subject),
                t.predicate,
                self._intern_entity(t.object),
                float(t.confidence),
            )
            for t in extraction.triples
        )
        mentions = [
            (self._intern_entity(e.name), self.written.intern(e.name), TYPES.index(e.type), e.start)
            for e in extraction.entities
        ]
        rows = np.array(mentions, dtype=np.int32).reshape(-1, 4)
        runs = split_text(text)
        n_runs = Counter(runs)
        self.restore(
            passage_id,
            Record(
                text,
                metadata,
                rows,
                self.count_terms(text, metadata, n_runs),
                self.find_defined_entities(text, metadata, rows, triples),
                triples,
                references,
                self.number_words(runs, n_runs),
            ),
        )

    def count_terms(
        self, text: str, metadata: Mapping[str, Any], n_runs: Mapping[str, int] | None = None
    ) -> NDArray[np.int32]:
        """Return (term number, count) of a passage; a title that the text does not begin with counts as well.

        `n_runs`: number of each run of the text, if known.
        """
        counts: dict[str, int] = {}
        title = metadata.get(TITLE)
        if isinstance(title, str) and title.strip().casefold() not in text[: len(title) + 40].casefold():
            _add_terms(counts, Counter(split_text(title)))
        _add_terms(counts, Counter(split_text(text)) if n_runs is None else n_runs)
        numbers = np.fromiter(map(self.terms.intern, counts), dtype=np.int32, count=len(counts))
        n_times = np.fromiter(counts.values(), dtype=np.int32, count=len(counts))
        order = np.argsort(numbers)
        return np.stack([numbers[order], n_times[order]], axis=1)

    def number_words(self, runs: Sequence[str], distinct: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of the words of a text, in its order; its runs, and these once each in that order."""
        position = {run: i for i, run in enumerate(distinct)}
        order = np.fromiter(map(position.__getitem__, runs), dtype=np.int32, count=len(runs))
        intern = self.words.intern
        numbers = [[intern(word) for word in fold_run(run)] for run in position]
        flat = np.fromiter(chain.from_iterable(numbers), dtype=np.int32)
        sizes = np.fromiter(map(len, numbers), dtype=np.int64, count=len(numbers))
        if (sizes == 1).all():
            return np.asarray(flat[order], dtype=np.int32)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return np.asarray(flat[find_entries(starts, order)[0]], dtype=np.int32)

    def find_defined_entities(
        self, text: str, metadata: Mapping[str, Any], mentions: NDArray[np.int32], triples: Iterable[StoredTriple]
    ) -> NDArray[np.int32]:
        """Return the numbers of the entities that a passage defines, ascending, with their abbreviations."""
        leading = ""
        if len(mentions) and 0 <= int(mentions[0, 3]) <= _MAX_LEAD:
            leading = self.written.strings[int(mentions[0, 1])]
        names = find_defined_names(text, metadata.get(TITLE), leading)
        defined = {self.entities.intern(name) for name in names}
        defined |= {t.object for t in triples if t.predicate == ALIAS and t.subject in defined}
        return np.array(sorted(defined), dtype=np.int32)

    def words_of_entity(self, number: int) -> Words:
        """Return the words of an entity's name, () if it cannot be searched."""
        for name in self.entities.strings[len(self._entity_words) : number + 1]:
            words = fold_words(name.replace("_", " "))
            self._entity_words.append(tuple(map(self.words.intern, words)) if is_name(words) else ())
        return self._entity_words[number]

    def list_similar_names(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return (entity numbers of pairs of similar names, shape (n, 2); similarities)."""
        similarity = self.name_similarity
        if self._similar is None or self._similar[0] != similarity.n_revised:
            self._similar = (similarity.n_revised, np.zeros((0, 2), dtype=np.int64), np.zeros(0))
        _, numbers, values = self._similar
        new = list(islice(similarity.pairs.items(), len(values), None))
        if new:
            number = self.entities.by_string
            more = np.array([(number[a], number[b]) for (a, b), _ in new], dtype=np.int64)
            numbers = np.concatenate([numbers, more])
            values = np.concatenate([values, [value for _, value in new]])
            self._similar = (similarity.n_revised, numbers, values)
        return numbers, values

    def take_strings(self, strings: Mapping[str, Sequence[str]]) -> None:
        """Set the strings of empty records, by kind. Raises ValueError for a duplicate."""
        for kind, numbers in (("entity", self.entities), ("written", self.written), ("term", self.terms),
                              ("word", self.words)):  # fmt: skip
            numbers.strings = list(strings[kind])
            numbers.by_string = {string: i for i, string in enumerate(numbers.strings)}
            if len(numbers.by_string) != len(numbers.strings):
                raise ValueError(f"duplicate {kind}")

    def restore(self, passage_id: str, record: Record) -> None:
        """Add a record that uses the numbers of these records."""
        self.touched.setdefault(passage_id, self.passages.get(passage_id))
        self.passages[passage_id] = record
        if record.triples or record.references:
            self.linking.add(passage_id)
        else:
            self.linking.discard(passage_id)
        self.generation += 1

    def remove(self, passage_id: str) -> bool:
        """Remove a passage. Return True if it existed."""
        record = self.passages.pop(passage_id, None)
        if record is None:
            return False
        self.touched.setdefault(passage_id, record)
        self.linking.discard(passage_id)
        self.generation += 1
        return True

    def without(self, passages: Collection[str]) -> "Records":
        """Return records without some passages; the numbers of strings are shared."""
        remaining = copy(self)
        gone = set(passages)
        remaining.passages = {passage: record for passage, record in self.passages.items() if passage not in gone}
        remaining.linking, remaining.touched = self.linking - gone, {}
        return remaining

    def _intern_entity(self, name: str) -> int:
        key = entity_id(name)
        self.name_similarity.add(key)
        return self.entities.intern(key)


def _add_terms(counts: dict[str, int], n_runs: Mapping[str, int]) -> None:
    """Add the terms of runs of a text to the counts."""
    for run, n in n_runs.items():
        for word in (run,) if run.isascii() and run[0] != "_" else _DEFINED_WORD.findall(run):
            for term in terms_of(word):
                counts[term] = counts.get(term, 0) + n


_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""Return a text with U+FFFD for lone surrogates, which no file can hold.

    >>> clean_text("a\ud800b") == "a\ufffdb"
    True
    """
    return _SURROGATE.sub("\ufffd", text)


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean_value(each) for each in value]
    return {clean_text(k): _clean_value(v) for k, v in value.items()} if isinstance(value, dict) else value


def check_passage(passage_id: str, text: str, metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the metadata as a plain copy without lone surrogates. Raises UsageError for an invalid passage."""
    if not isinstance(passage_id, str) or not passage_id.strip() or len(passage_id) > _MAX_ID_CHARACTERS:
        raise UsageError(f"a passage id must have 1 to {_MAX_ID_CHARACTERS} characters, not {str(passage_id)[:80]!r}")
    if _SURROGATE.search(passage_id):
        raise UsageError(f"a passage id must be valid Unicode, not {passage_id[:80]!r}")
    if not isinstance(text, str):
        raise UsageError(f"the text of {passage_id!r} must be a string, not {type(text).__name__}")
    if metadata is None:
        return {}
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError("it is not a mapping")
        plain: dict[str, Any] = _clean_value(json.loads(json.dumps(dict(metadata), allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the metadata of {passage_id!r} cannot be stored as JSON: {error}") from error
    references = plain.get(REFERENCES, [])
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        raise UsageError(f"{REFERENCES!r} of {passage_id!r} must be a list of passage ids")
    return plain


def sort_strings(strings: Sequence[str], used: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """Return (the strings of `used` numbers, sorted; position of each number in that list, -1 for unused numbers)."""
    order = sorted(used.tolist(), key=strings.__getitem__)
    ranks = np.full(len(strings), -1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return [strings[i] for i in order], ranks
