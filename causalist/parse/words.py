"""Which words stand in which document of a file: the raw material of BM25.

Text belongs to the innermost definition or section around it, so that a class is not its methods over again and the
counts of a file are the sum of its documents. Words are kept as written; splitting identifiers and stemming happen
once for each distinct word of the repository, not for each occurrence.
"""

import re
from collections import Counter
from collections.abc import Sequence

from causalist.model.facts import MODULE_SCOPE, WordCounts

_WORD = re.compile(r"\w+")
_SPACED = bytes(c if chr(c).isalnum() or chr(c) == "_" else ord(" ") for c in range(128)) + bytes(128)
_LONGEST = 64  # longer runs are data: hashes, base64, encoded images


def count_words(data: bytes, spans: Sequence[tuple[int, int]]) -> tuple[tuple[str, ...], WordCounts]:
    """(distinct words sorted, counts) of `data`, whose documents are `spans`: (start byte, end byte), properly nested.
    The counts are in the order of the documents, and in each of first occurrence.

    >>> words, counts = count_words(b"a b (b c) a", [(4, 9)])
    >>> words, [tuple(count) for count in counts]
    (('a', 'b', 'c'), [(-1, 0, 2), (-1, 1, 1), (0, 1, 1), (0, 2, 1)])
    """
    pieces: dict[int, list[bytes]] = {}
    position = 0
    stack: list[tuple[int, int]] = []  # (end, document)

    def take(until: int) -> None:
        nonlocal position
        if until > position:
            pieces.setdefault(stack[-1][1] if stack else MODULE_SCOPE, []).append(data[position:until])
            position = until

    for document in sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1], i)):
        start, end = spans[document]
        while stack and stack[-1][0] <= start:
            take(stack[-1][0])
            stack.pop()
        take(start)
        stack.append((end, document))
    while stack:
        take(stack[-1][0])
        stack.pop()
    take(len(data))

    tables: list[tuple[int, Counter[str]]] = []
    vocabulary: set[str] = set()
    for document in sorted(pieces):
        table = Counter(_words(b"\n".join(pieces[document])))
        tables.append((document, table))
        vocabulary.update(table)
    words = sorted(word for word in vocabulary if len(word) <= _LONGEST and "\ufffd" not in word)
    number = {word: i for i, word in enumerate(words)}
    if len(words) < len(vocabulary):
        tables = [(document, Counter({w: n for w, n in table.items() if w in number})) for document, table in tables]
    documents: list[int] = []
    numbers: list[int] = []
    counts: list[int] = []
    for document, table in tables:
        documents += [document] * len(table)
        numbers += map(number.__getitem__, table)
        counts += table.values()
    return tuple(words), WordCounts.of_columns(documents, numbers, counts)


def _words(text: bytes) -> list[str]:
    """The runs of letters, digits and `_`, in order.

    Nearly all source is ASCII, and there a table of bytes finds them four times as fast as an expression does.
    """
    if text.isascii():
        return text.translate(_SPACED).decode("ascii").split()
    return _WORD.findall(text.decode("utf-8", "replace"))
