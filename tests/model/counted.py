"""How often each word stands in each document of a file, byte by byte: what `rank/counting.py` has to find."""

import re
from collections import Counter
from itertools import pairwise

from causalist.model.facts import MODULE_SCOPE, FileFacts


def counted(facts: FileFacts) -> Counter[tuple[int, str]]:
    """(document, word) -> how often. A document is an index into definitions and the passages after them, or
    MODULE_SCOPE."""
    text = facts.words or b""
    owners = [MODULE_SCOPE] * len(text)
    spans = facts.document_spans()
    for document in sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1], i)):  # the inner ones last
        start, end = spans[document]
        owners[start:end] = [document] * (end - start)
    cuts = [0, *(i for i in range(1, len(text)) if owners[i] != owners[i - 1]), len(text)]
    found: Counter[tuple[int, str]] = Counter()
    for start, end in pairwise(cuts):
        for word in re.findall(r"\w+", text[start:end].decode("utf-8")):
            if len(word) <= 64:
                found[owners[start], word] += 1
    return found


def words_of(facts: FileFacts, document: int) -> dict[str, int]:
    return {word: n for (where, word), n in counted(facts).items() if where == document}
