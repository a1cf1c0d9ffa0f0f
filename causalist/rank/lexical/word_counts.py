"""Text of files -> how often each term stands in each document: the raw material of BM25.

Text belongs to the innermost definition or section around it, so that a class is not its methods over again and the
counts of a file are the sum of its documents. Words are counted as they are written; splitting identifiers and stemming
happen once for each distinct word of the repository, not for each occurrence.

Only what is new in a word is looked at word by word: much text at once becomes arrays of where its words begin
and what they are. They are told apart by hashes of 64 bits. Of words of up to eight bytes no two have the same; of a
million longer ones two have the same, and count as one, with a chance of one in 37 million (n^2 / 2^65).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.rank.lexical._sums import Triples

if TYPE_CHECKING:
    from causalist.model.facts import FileFacts
    from causalist.model.graph import LinkedGraph

# Bytes of text. Arrays of it stay below what the system is asked for one by one (`heap.py`), which would cost as much
# time as all else.
_AT_ONCE = 200_000
_LONGEST = 64  # characters; longer runs are data: hashes, base64, encoded images
_SPACE = ord(" ")
# In UTF-8 the first byte of a character that has two, three or four is not below these.
_LEADS, _LEADS_THREE, _LEADS_FOUR = 0xC0, 0xE0, 0xF0
_CODE_POINTS = 0x110000
# The lowest n bytes of eight.
_LOWEST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
# An odd number whose bits look random: 2^64 over the golden ratio.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class Counted(NamedTuple):
    """`rows`: (document, word, count), shape (n,) each, in the order of nothing; documents are nodes. A pair of
    document and word stands in one row. Words are indices into `words`: distinct, in UTF-8."""

    rows: Triples
    words: list[bytes]


def count_words(files: "list[tuple[str, FileFacts]]", which: Sequence[int], linked: "LinkedGraph") -> Counted:
    """Counts all words of some files, from which they are taken."""
    counter = WordCounter()
    for i in which:
        path, facts = files[i]
        files[i] = path, facts.without_words()
        if facts.words:
            nodes = linked.document_nodes[i].tolist()
            counter.add(facts.words, [*nodes, int(linked.file_nodes[i])], facts.document_spans())
    return counter.finish()


class WordCounter:
    """Counts the words of texts, some at once."""

    def __init__(self) -> None:
        self._found: list[Triples] = []
        self._words = _Seen()
        self._text = _Text()

    def add(self, text: bytes, nodes: Sequence[int], spans: Sequence[tuple[int, int]] = ()) -> None:
        """`text`: as `spaced` gives it; `nodes`: of the documents `spans`, and at the end of what is in none of them.
        No node may come in two texts."""
        self._text.add(text, nodes, spans)
        if self._text.size >= _AT_ONCE:
            self._count()

    def finish(self) -> Counted:
        self._count()
        documents, numbers, counts = (np.concatenate(column) for column in zip(*self._found, strict=True))
        return Counted((documents, numbers, counts), self._words.words)

    def _count(self) -> None:
        self._found.append(self._text.counted(self._words))
        self._text = _Text()


class _Text:
    """Some texts with a space between them, and which document each part belongs to."""

    def __init__(self) -> None:
        self.size = 1
        self._pieces = [b" "]
        self._starts: list[int] = []
        self._documents: list[int] = []  # places in `_nodes`
        self._nodes: list[int] = [0]

    def add(self, text: bytes, nodes: Sequence[int], spans: Sequence[tuple[int, int]]) -> None:
        starts, documents = segments(spans)
        size, n_nodes = self.size, len(self._nodes)
        end = size + len(text)  # where a span that goes beyond its text ends, too
        self._starts += [min(size + start, end) for start in starts]
        # What is in no document, which is -1, comes first.
        self._nodes.append(nodes[-1])
        self._nodes += nodes[:-1]
        self._documents += [n_nodes + 1 + document for document in documents]
        self._pieces += (text, b" ")
        self.size += len(text) + 1

    def counted(self, seen: "_Seen") -> Triples:
        """(document, word, count) of it, words as numbered by `seen`."""
        # Eight bytes are read at once, also of the last word.
        text = blanked(b"".join([*self._pieces, b" " * 8]), str.isalnum)
        begins = np.array(self._starts, dtype=np.int64)
        starts, lengths = _words_in(text, begins)
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


class _Seen:
    """The distinct words that were seen, in UTF-8, by their numbers."""

    def __init__(self) -> None:
        self.words: list[bytes] = []
        self._hashes = np.zeros(0, dtype=np.uint64)  # sorted
        self._numbers = np.zeros(0, dtype=np.int32)

    def numbers(
        self, hashes: NDArray[np.uint64], text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Those of words with these hashes, ascending, of which each stands there in the text."""
        places = np.searchsorted(self._hashes, hashes)
        is_new = np.ones(len(hashes), dtype=np.bool_)
        if len(self._hashes):
            is_new = self._hashes[np.minimum(places, len(self._hashes) - 1)] != hashes
        spelled = zip(starts[is_new].tolist(), (starts + lengths)[is_new].tolist(), strict=True)
        added = np.arange(len(self.words), len(self.words) + np.count_nonzero(is_new), dtype=np.int32)
        self.words += [text[start:end] for start, end in spelled]
        self._hashes = np.insert(self._hashes, places[is_new], hashes[is_new])
        self._numbers = np.insert(self._numbers, places[is_new], added)
        return self._numbers[np.searchsorted(self._hashes, hashes)]


def segments(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """(where each begins, the document it belongs to: an index into `spans`, or -1 for none of them), by the innermost
    of `spans` (start, end), which are properly nested. Of several that begin in one place the last one counts.

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


def blanked(text: bytes, is_wanted: Callable[[str], bool]) -> bytes:
    """UTF-8 with spaces for those characters beyond ASCII that are not wanted."""
    if text.isascii():
        return text
    data = np.frombuffer(text, dtype=np.uint8).copy()
    leads = np.flatnonzero(data >= _LEADS)  # the first byte of each character that has several
    sizes = 2 + (data[leads] >= _LEADS_THREE) + (data[leads] >= _LEADS_FOUR)
    points = (data[leads] & (0x7F >> sizes).astype(np.uint8)).astype(np.int64)
    for more in range(1, 4):
        some = np.flatnonzero(sizes > more)
        points[some] = points[some] << 6 | data[leads[some] + more] & 0x3F
    is_unwanted = np.zeros(_CODE_POINTS, dtype=np.bool_)
    is_unwanted[points] = True
    is_unwanted[[point for point in np.flatnonzero(is_unwanted).tolist() if is_wanted(chr(point))]] = False
    unwanted = np.flatnonzero(is_unwanted[points])
    for more in range(4):
        some = unwanted[sizes[unwanted] > more]
        data[leads[some] + more] = _SPACE
    return data.tobytes()


def _words_in(text: bytes, begins: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(where words start, their lengths in bytes): runs of what is no space, which end where a segment begins."""
    data = np.frombuffer(text, dtype=np.uint8)
    is_word = data != _SPACE
    opens, closes = is_word[1:] > is_word[:-1], is_word[1:] < is_word[:-1]
    cut = begins[is_word[begins] & is_word[begins - 1]] - 1
    opens[cut] = closes[cut] = True
    starts = np.flatnonzero(opens)
    lengths = np.flatnonzero(closes)
    lengths -= starts
    starts += 1
    long = np.flatnonzero(lengths > _LONGEST)
    if len(long):
        places = zip(long.tolist(), starts[long].tolist(), lengths[long].tolist(), strict=True)
        data_ = [i for i, start, length in places if len(text[start : start + length].decode()) > _LONGEST]
        starts, lengths = np.delete(starts, data_), np.delete(lengths, data_)
    return starts, lengths


def hashes_of(text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Shape (n,): of each word of a text, which has seven bytes more behind the last. Eight bytes after the other are
    mixed in: multiplied by an odd number, and the high bits, which depend on all others, brought down to the low ones.
    Each of these steps can be undone, hence no two short words are mixed up."""
    eights = np.ndarray((len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))  # from every byte on
    hashes: NDArray[np.uint64] = eights[starts] & _LOWEST[np.minimum(lengths, 8)]
    hashes *= _SPREAD
    hashes ^= hashes >> _SHIFT
    done = 8
    longer = np.flatnonzero(lengths > done)
    while len(longer):
        left = lengths[longer] - done
        mixed = hashes[longer] + (eights[starts[longer] + done] & _LOWEST[np.minimum(left, 8)])
        mixed *= _SPREAD
        hashes[longer] = mixed ^ mixed >> _SHIFT
        done += 8
        longer = longer[left > 8]
    return hashes
