"""Word counts of documents: text of files -> (document, term, count) rows, the input of BM25.

Text belongs to the innermost definition or section around it. So a class does not repeat its methods, and the counts of
a file are the sum of its documents. Words are counted as written. Identifiers are split and stemmed once for each
distinct word of the repository, not for each occurrence. Rows with equal document and term are added up.

A batch of text becomes arrays of the offsets and hashes of its words; only new words are handled one by one. Hashes
have 64 bits. No two words of up to eight bytes have the same hash. Of a million longer words, two have the same hash
and count as one with a chance of one in 37 million (n^2 / 2^65).

The terms of many words are the same as those of `terms.terms_of`, computed by arrays instead of word by word.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.rank.lexical.bm25 import ROWS_AT_ONCE
from causalist.rank.terms import LOWEST, MAX_PART_CHARACTERS, SPREAD, hashes_of, stem, stems

if TYPE_CHECKING:
    from causalist.model.facts import FileFacts
    from causalist.model.graph import LinkedGraph

Triples = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


class Part(NamedTuple):
    """Rows, the order in which their terms come in blocks, and the factor of their counts."""

    rows: Triples
    order: NDArray[np.int32]
    weight: int


class Blocks(NamedTuple):
    """Consecutive terms in blocks of about as many rows each; `of_term`: shape (n_terms,), the block of each."""

    of_term: NDArray[np.uint16]
    n: int

    def part(self, rows: Triples, weight: int) -> Part:
        """Return some rows, ordered by these blocks, as a part that counts `weight` times."""
        # Sorting 16-bit numbers takes linear time.
        return Part(rows, np.argsort(self.of_term[rows[1]], kind="stable").astype(np.int32), weight)


def make_blocks(tables: Sequence[Triples], n_terms: int) -> Blocks:
    """Return the blocks for rows like these."""
    n_rows = np.zeros(n_terms, dtype=np.int64)
    for _, terms, _ in tables:
        n_rows += np.bincount(terms, minlength=n_terms)
    ends = np.cumsum(n_rows)
    n = min(1 + int(ends[-1]) // ROWS_AT_ONCE, np.iinfo(np.uint16).max) if n_terms else 1
    return Blocks(((ends - n_rows) * n // max(int(n_rows.sum()), 1)).astype(np.uint16), n)


def sum_parts(parts: Sequence[Part], blocks: Blocks, n_nodes: int) -> Iterator[Triples]:
    """Yield the rows of all parts, ordered by term, then by document.

    Equal (document, term) pairs are summed with their weights.
    """
    bounds = [np.searchsorted(blocks.of_term[p.rows[1]][p.order], np.arange(blocks.n + 1)).tolist() for p in parts]
    for block in range(blocks.n):
        chunks: list[Triples] = []
        for (rows, order, weight), starts in zip(parts, bounds, strict=True):
            some = order[starts[block] : starts[block + 1]]
            chunks.append((rows[0][some], rows[1][some], rows[2][some] * np.int32(weight)))
        documents, terms, counts = (np.concatenate(column) for column in zip(*chunks, strict=True))
        yield sum_rows((documents, terms, counts), n_nodes)


def sum_rows(triples: Triples, n_nodes: int) -> Triples:
    """Equal (term, document) pairs added up, sorted by term, then document."""
    documents, terms, counts = triples
    if not len(documents):
        return triples
    keys = terms.astype(np.int64)
    keys *= n_nodes
    keys += documents
    bits = int(counts.max()).bit_length()
    if int(keys.max()).bit_length() + bits < 63:
        # The last bits of the keys hold the counts, so that one sort needs neither a permutation nor a second copy.
        keys <<= bits
        keys |= counts
        keys.sort()
        counts = (keys & ((1 << bits) - 1)).astype(np.int32)
        keys >>= bits
    else:
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    sums = np.add.reduceat(counts, first)
    keys = keys[first]
    return (keys % n_nodes).astype(np.int32), (keys // n_nodes).astype(np.int32), sums


# Bytes of text in a batch. Larger arrays would be requested from the system one by one (`_internal.forked_task`), which
# costs as much time as the rest.
_BATCH_BYTES = 200_000
_MAX_WORD_CHARACTERS = 64  # characters; longer runs are data: hashes, base64, encoded images
_SPACE = ord(" ")
# Least first byte of a character of two, three and four bytes in UTF-8.
_LEADS, _LEADS_THREE, _LEADS_FOUR = 0xC0, 0xE0, 0xF0
_CODE_POINTS = 0x110000


class WordCounts(NamedTuple):
    """Word counts of documents.

    `rows`: (document, word, count), shape (n,) each, in no particular order. A pair of document and word is in one row.
    Words are indices into `words`: distinct, in UTF-8.
    """

    rows: Triples
    words: list[bytes]


def count_words(files: "Iterable[FileFacts]") -> WordCounts:
    """Count all words of some files.

    Documents are numbered in the order of the files: those of a file, and then the file itself. So words can be counted
    before the nodes of documents are known (`nodes_of_documents`).
    """
    counter, first = WordCounter(), 0
    for facts in files:
        end = first + len(facts.definitions) + len(facts.passages) + 1
        if facts.words:
            counter.add(facts.words, range(first, end), facts.document_spans())
        first = end
    return counter.finish()


def nodes_of_documents(
    files: "list[tuple[str, FileFacts]]", which: Sequence[int], linked: "LinkedGraph"
) -> NDArray[np.int32]:
    """Return the nodes of the documents of some files, as `count_words` numbers them."""
    nodes: list[NDArray[np.int32]] = []
    for i in which:
        facts = files[i][1]
        nodes += (
            linked.document_nodes[i][: len(facts.definitions) + len(facts.passages)],
            linked.file_nodes[i : i + 1],
        )
    return np.concatenate(nodes).astype(np.int32) if nodes else np.zeros(0, dtype=np.int32)


class WordCounter:
    """Counter of the words of texts, which processes several texts at once."""

    def __init__(self) -> None:
        self._found: list[Triples] = []
        self._words = _WordIds()
        self._text = _TextBatch()

    def add(self, text: bytes, nodes: Sequence[int], spans: Sequence[tuple[int, int]] = ()) -> None:
        """Add a text, as `space_words` returns it.

        `nodes`: those of the documents `spans`, and last the node of the text outside of all spans. No node may be in
        two texts.
        """
        self._text.add(text, nodes, spans)
        if self._text.size >= _BATCH_BYTES:
            self._count()

    def finish(self) -> WordCounts:
        """Return the counts of all texts that were added."""
        self._count()
        documents, numbers, counts = (np.concatenate(column) for column in zip(*self._found, strict=True))
        return WordCounts((documents, numbers, counts), self._words.words)

    def _count(self) -> None:
        self._found.append(self._text.count(self._words))
        self._text = _TextBatch()


class _TextBatch:
    """Some texts with a space between them, and the document of each part."""

    def __init__(self) -> None:
        self.size = 1
        self._pieces = [b" "]
        self._starts: list[int] = []
        self._documents: list[int] = []  # places in `_nodes`
        self._nodes: list[int] = [0]

    def add(self, text: bytes, nodes: Sequence[int], spans: Sequence[tuple[int, int]]) -> None:
        starts, documents = segments(spans)
        size, n_nodes = self.size, len(self._nodes)
        end = size + len(text)  # also of a span that ends after its text
        self._starts += [min(size + start, end) for start in starts]
        # Text outside of all documents has the number -1 and comes first.
        self._nodes.append(nodes[-1])
        self._nodes += nodes[:-1]
        self._documents += [n_nodes + 1 + document for document in documents]
        self._pieces += (text, b" ")
        self.size += len(text) + 1

    def count(self, seen: "_WordIds") -> Triples:
        """Return (document, word, count) of the texts, with words as numbered by `seen`."""
        # Eight bytes are read at once, also of the last word.
        text = blank_unwanted(b"".join([*self._pieces, b" " * 8]), str.isalnum)
        begins = np.array(self._starts, dtype=np.int64)
        starts, lengths = _find_words(text, begins)
        hashes = hashes_of(text, starts, lengths)
        order = np.argsort(hashes)
        hashes = hashes[order]
        is_first = np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]
        first = np.flatnonzero(is_first)
        some = order[first]
        numbers = seen.numbers(hashes[first], text, starts[some], lengths[some])
        # One number for a word and the document in which it stands.
        documents = np.repeat(
            np.array(self._documents, dtype=np.int32), np.diff(np.append(np.searchsorted(starts, begins), len(starts)))
        )
        pairs = (np.cumsum(is_first) - 1) * len(self._nodes) + documents[order]
        pairs.sort()
        first = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)])
        counts = np.diff(np.append(first, len(pairs))).astype(np.int32)
        pairs = pairs[first]
        nodes = np.array(self._nodes, dtype=np.int32)
        return nodes[pairs % len(nodes)], numbers[pairs // len(nodes)], counts


class _WordIds:
    """Distinct words in UTF-8 and their numbers."""

    def __init__(self) -> None:
        self.words: list[bytes] = []
        self._hashes = np.zeros(0, dtype=np.uint64)  # sorted
        self._numbers = np.zeros(0, dtype=np.int32)

    def numbers(
        self, hashes: NDArray[np.uint64], text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the numbers of words with these hashes, ascending; new words are added.

        Each word is in `text` at its start and length.
        """
        positions = np.searchsorted(self._hashes, hashes)
        is_new = np.ones(len(hashes), dtype=np.bool_)
        if len(self._hashes):
            is_new = self._hashes[np.minimum(positions, len(self._hashes) - 1)] != hashes
        spelled = zip(starts[is_new].tolist(), (starts + lengths)[is_new].tolist(), strict=True)
        added = np.arange(len(self.words), len(self.words) + np.count_nonzero(is_new), dtype=np.int32)
        self.words += [text[start:end] for start, end in spelled]
        self._hashes = np.insert(self._hashes, positions[is_new], hashes[is_new])
        self._numbers = np.insert(self._numbers, positions[is_new], added)
        return self._numbers[np.searchsorted(self._hashes, hashes)]


def segments(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return (start of each segment, its document), by the innermost of the nested `spans`.

    A document is an index into `spans` (start, end), or -1 outside of all spans. Spans are properly nested. Of several
    segments that begin at the same offset, the last one counts.

    >>> segments([(4, 9)])
    ([0, 4, 9], [-1, 0, -1])
    """
    starts, documents = [0], [-1]
    stack: list[tuple[int, int]] = []  # (end, document)

    def leave() -> None:
        starts.append(max(stack.pop()[0], starts[-1]))
        documents.append(stack[-1][1] if stack else -1)

    for document in sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1], i)):
        start, end = spans[document]
        while stack and stack[-1][0] <= start:
            leave()
        starts.append(max(start, starts[-1]))
        documents.append(document)
        stack.append((end, document))
    while stack:
        leave()
    return starts, documents


def blank_unwanted(text: bytes, is_wanted: Callable[[str], bool]) -> bytes:
    """Return UTF-8 text in which unwanted characters beyond ASCII are replaced by spaces."""
    if text.isascii():
        return text
    data = np.frombuffer(text, dtype=np.uint8).copy()
    leads = np.flatnonzero(data >= _LEADS)  # the first byte of each character that has several
    sizes = 2 + (data[leads] >= _LEADS_THREE) + (data[leads] >= _LEADS_FOUR)
    points = (data[leads] & (0x7F >> sizes).astype(np.uint8)).astype(np.int64)
    for offset in range(1, 4):
        selected = np.flatnonzero(sizes > offset)
        points[selected] = points[selected] << 6 | data[leads[selected] + offset] & 0x3F
    is_unwanted = np.zeros(_CODE_POINTS, dtype=np.bool_)
    is_unwanted[points] = True
    is_unwanted[[point for point in np.flatnonzero(is_unwanted).tolist() if is_wanted(chr(point))]] = False
    unwanted = np.flatnonzero(is_unwanted[points])
    for offset in range(4):
        selected = unwanted[sizes[unwanted] > offset]
        data[leads[selected] + offset] = _SPACE
    return data.tobytes()


def _find_words(text: bytes, begins: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (starts of words, their lengths in bytes).

    Words are runs of characters other than spaces; they also end where a segment begins.
    """
    data = np.frombuffer(text, dtype=np.uint8)
    is_word = data != _SPACE
    opens, closes = is_word[1:] > is_word[:-1], is_word[1:] < is_word[:-1]
    cut = begins[is_word[begins] & is_word[begins - 1]] - 1
    opens[cut] = closes[cut] = True
    starts = np.flatnonzero(opens)
    lengths = np.flatnonzero(closes)
    lengths -= starts
    starts += 1
    long = np.flatnonzero(lengths > _MAX_WORD_CHARACTERS)
    if len(long):
        long_words = zip(long.tolist(), starts[long].tolist(), lengths[long].tolist(), strict=True)
        data_ = [
            i for i, start, length in long_words if len(text[start : start + length].decode()) > _MAX_WORD_CHARACTERS
        ]
        starts, lengths = np.delete(starts, data_), np.delete(lengths, data_)
    return starts, lengths


_NONE, _LOWER, _UPPER, _DIGIT, _OTHER = range(5)
_PLURAL = ord("s")
# The kind of part of each byte; bytes of characters beyond ASCII are letters of another script.
_KINDS = bytes(
    _OTHER if c >= 0x80
    else _UPPER if chr(c).isupper()
    else _LOWER if chr(c).islower()
    else _DIGIT if chr(c).isdigit()
    else _NONE
    for c in range(256)
)  # fmt: skip


def _is_no_digit(character: str) -> bool:
    return not character.isdecimal()


class Terms:
    """Numbers of terms, in the order in which the terms were first requested."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def strings(self) -> list[str]:
        """Return the terms in the order of their numbers."""
        return list(self._numbers)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """Return the number of each term; new terms get the next free numbers."""
        number_by_term = self._numbers
        return [number_by_term.setdefault(term, len(number_by_term)) for term in terms]

    def terms_of_words(self, words: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return (indptr, terms): those of word i are `terms[indptr[i]:indptr[i + 1]]`, distinct, ascending."""
        text = b" ".join([b"", *words, b" " * 8])
        lengths = np.array([len(word) for word in words], dtype=np.int64)
        ends = np.cumsum(lengths + 1)
        of_part, starts, sizes = _parts(text, ends)
        text = text.lower()  # of ASCII alone: what is beyond it becomes small once it is a string
        _, first_rows, which = np.unique(hashes_of(text, starts, sizes), return_index=True, return_inverse=True)
        spans = zip(starts[first_rows].tolist(), (starts[first_rows] + sizes[first_rows]).tolist(), strict=True)
        parts = [text[start:end].decode("utf-8").lower() for start, end in spans]
        of_distinct = np.array(self.numbers(stems(parts)), dtype=np.int64)
        # A word of several parts is a term as a whole, too.
        several = np.flatnonzero(np.bincount(of_part, minlength=len(words)) > 1)
        wholes = [words[i].decode("utf-8").strip("_").lower() for i in several.tolist()]
        of_wholes = np.array(self.numbers(wholes), dtype=np.int64)
        pairs = np.concatenate([of_part << 32 | of_distinct[which], several << 32 | of_wholes])
        pairs.sort()
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
        indptr = np.zeros(len(words) + 1, dtype=np.int64)
        np.cumsum(np.bincount(pairs >> 32, minlength=len(words)), out=indptr[1:])
        return indptr, (pairs & 0xFFFFFFFF).astype(np.int32)


def expand_to_terms(rows: Triples, indptr: NDArray[np.int64], terms: NDArray[np.int32]) -> Triples:
    """Return (document, term, count) for rows of (document, text, count).

    The terms of text i are `terms[indptr[i]:indptr[i + 1]]`.
    """
    documents, texts, counts = rows
    starts, lengths = indptr[:-1], np.diff(indptr).astype(np.int32)
    # In parts, because the intermediate arrays are larger than the result.
    parts = [slice(first, first + ROWS_AT_ONCE) for first in range(0, len(texts), ROWS_AT_ONCE)]
    n = sum(int(lengths[texts[part]].sum()) for part in parts)
    triples = np.empty((3, n), dtype=np.int32)
    end = 0
    for part in parts:
        repeats = lengths[texts[part]]
        positions = np.repeat(starts[texts[part]] - (np.cumsum(repeats) - repeats), repeats)
        positions += np.arange(len(positions))
        start, end = end, end + len(positions)
        np.take(terms, positions, out=triples[1, start:end])
        triples[0, start:end] = np.repeat(documents[part], repeats)
        triples[2, start:end] = np.repeat(counts[part], repeats)
    return triples[0], triples[1], triples[2]


def _parts(text: bytes, ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (word, start, length) of each part of each word.

    Parts are humps, acronyms, and runs of lower-case letters, of digits and of other letters. `ends` are the ends of
    the words in the text.
    """
    # Digits of other scripts belong to no part, as in the expression `[^\W\d]`.
    begins, stops = _find_parts(blank_unwanted(text, _is_no_digit))
    starts = np.flatnonzero(begins) + 1
    at = np.searchsorted(stops, starts, side="right")
    lengths = stops[at] - starts
    too_long = [
        i
        for i in np.flatnonzero(lengths > MAX_PART_CHARACTERS).tolist()
        if len(text[starts[i] : starts[i] + lengths[i]].decode("utf-8")) > MAX_PART_CHARACTERS
    ]
    starts, lengths = np.delete(starts, too_long), np.delete(lengths, too_long)
    return np.searchsorted(ends, starts, side="right"), starts, lengths


def _find_parts(text: bytes) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return (shape (len(text) - 2,): True where the next byte begins a part, offsets at which a part may end).

    A part ends at the next part, or at a byte that belongs to none. The first and the last byte belong to none, and so
    does the s of the plural of an acronym.
    """
    kinds = np.frombuffer(bytearray(text.translate(_KINDS)), dtype=np.uint8)
    is_plural = (kinds[:-3] == _UPPER) & (kinds[1:-2] == _UPPER)
    is_plural &= np.frombuffer(text, dtype=np.uint8)[2:-1] == _PLURAL
    is_plural &= kinds[3:] != _LOWER
    kinds[2:-1][is_plural] = _NONE
    before, here, behind = kinds[:-2], kinds[1:-1], kinds[2:]
    begins = here != before
    begins &= (here != _LOWER) | (before != _UPPER)
    begins |= (here == _UPPER) & (before == _UPPER) & (behind == _LOWER)
    begins &= here != _NONE
    return begins, np.flatnonzero(begins | (here == _NONE)) + 1


_MAX_PREFIX = 3  # letters by which parts are told apart before they are looked at
_PREFIX_BITS = 16


def _hash_prefixes(eights: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    """Return a hash of the first `n` bytes of each word."""
    mixed = (eights & LOWEST[n]) * SPREAD
    hashes: NDArray[np.int64] = (mixed >> np.uint64(64 - _PREFIX_BITS)).view(np.int64)
    return hashes


class TermFinder:
    """Occurrences of a few terms in texts, as parts of words.

    Of the parts only those are looked at that begin like a term, each distinct one once. A term is an ASCII word.

    >>> finder = TermFinder(["log", "happi", "hope"])
    >>> finder.count([b"a log", b"userLog LOGS logged_in", b"catalog logic", b"Happy: hoping"]).tolist()
    [[1, 0, 0], [3, 0, 0], [0, 0, 0], [0, 1, 1]]
    >>> finder.forms
    ['log', 'happy', 'hoping']
    """

    def __init__(self, terms: Sequence[str]) -> None:
        self._column = {term: i for i, term in enumerate(terms)}
        self._known: dict[int, int] = {}  # column by hash of a part, -1 for a part of no term
        self.forms = [""] * len(terms)  # the first form of each term that was found
        # A stem that ends in `i` may be that of a word that ends in `y`.
        prefixes = {term[: min(len(term) - term.endswith("i"), _MAX_PREFIX)].encode() for term in terms}
        # By length and by the high bits of a hash: True for those of a term, and of a few others.
        self._beginnings = {n: np.zeros(1 << _PREFIX_BITS, dtype=np.bool_) for n in {len(each) for each in prefixes}}
        for each in prefixes:
            self._beginnings[len(each)][_hash_prefixes(np.frombuffer(each.ljust(8, b"\0"), "<u8"), len(each))] = True

    def count(self, texts: Sequence[bytes]) -> NDArray[np.int64]:
        """Return the occurrences of each term in each text, shape (n_texts, n_terms)."""
        text = b" ".join([b"", *texts, b" " * 8])
        begins, stops = _find_parts(text)
        text = text.lower()
        starts = np.flatnonzero(begins)
        starts += 1
        starts = starts[self._begin_like_terms(text, starts)]
        if not len(starts):
            return np.zeros((len(texts), len(self._column)), dtype=np.int64)
        lengths = stops[np.searchsorted(stops, starts, side="right")] - starts
        hashes, first, which = np.unique(hashes_of(text, starts, lengths), return_index=True, return_inverse=True)
        spelled = zip(starts[first].tolist(), (starts + lengths)[first].tolist(), strict=True)
        columns = np.array([
            self._known[key] if key in self._known else self._look(key, text[start:end])
            for key, (start, end) in zip(hashes.tolist(), spelled, strict=True)
        ])  # fmt: skip
        for column, at in sorted(zip(columns.tolist(), first.tolist(), strict=True), key=lambda pair: pair[1]):
            if column >= 0 and not self.forms[column]:
                self.forms[column] = text[starts[at] : starts[at] + lengths[at]].decode("ascii")
        term_columns = columns[which]
        ends = np.cumsum(np.array([len(each) + 1 for each in texts], dtype=np.int64))
        rows = np.searchsorted(ends, starts[term_columns >= 0], side="right")
        n_terms = len(self._column)
        cells = np.bincount(rows * n_terms + term_columns[term_columns >= 0], minlength=len(texts) * n_terms)
        return cells.astype(np.int64, copy=False).reshape(len(texts), n_terms)

    def _begin_like_terms(self, text: bytes, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for each start of a part whose first letters are those of a term, and for a few others."""
        eights = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))[starts]
        result = np.zeros(len(starts), dtype=np.bool_)
        for n, is_one in self._beginnings.items():
            result |= is_one[_hash_prefixes(eights, n)]
        return result

    def _look(self, key: int, part: bytes) -> int:
        """Return the column of a part that was not seen before."""
        is_word = part.isascii() and part.isalpha() and len(part) <= MAX_PART_CHARACTERS
        column = self._known[key] = self._column.get(stem(part.decode("ascii")), -1) if is_word else -1
        return column
