"""Whether a question shares a word with the paths of the files that answer it.

`hard` in the short questions is computed with `shared_words`, never judged by eye. It compares whole words and the
parts of identifiers (camel case, digits, underscores), all in lower case, as written and as Snowball's English stem. A
word that a path writes together with another ("querycompiler", "fixtree") is not found inside it.
"""

import re
from collections.abc import Iterable

import Stemmer

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")


def words_of(text: str) -> frozenset[str]:
    """Words and parts of words in lower case, each with its stem.

    >>> sorted(words_of("rawFormatter.js"))
    ['formatt', 'formatter', 'js', 'raw', 'rawformatt', 'rawformatter']
    """
    stem = Stemmer.Stemmer("english").stemWord
    found = {piece.lower() for word in _WORD.findall(text) for piece in (word, *_PART.findall(word))}
    return frozenset(found | {stem(piece) for piece in found})


def shared_words(query: str, paths: Iterable[str]) -> frozenset[str]:
    """The words of a question that are also words of one of the paths, folders and extensions included.

    >>> sorted(shared_words("failed downloads are retried", ["internal/backend/retry/backend_retry.go"]))
    ['retri']
    >>> sorted(shared_words("which backups survive keep-daily 7", ["internal/data/snapshot_policy.go"]))
    []
    """
    return words_of(query) & frozenset(word for path in paths for word in words_of(path))
