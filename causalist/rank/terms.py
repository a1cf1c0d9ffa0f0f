"""Words -> terms: identifiers split and kept whole, parts stemmed, stop words left out of questions."""

import re
from functools import lru_cache
from typing import Any

# CamelCase humps, acronyms, runs of lower case, digits, and any other script as it stands.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")
_LONGEST_PART = 40

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "all",
        "also",
        "although",
        "am",
        "an",
        "and",
        "any",
        "are",
        "aren",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "cannot",
        "could",
        "couldn",
        "did",
        "didn",
        "do",
        "does",
        "doesn",
        "doing",
        "don",
        "down",
        "during",
        "each",
        "either",
        "else",
        "ever",
        "every",
        "few",
        "for",
        "from",
        "further",
        "get",
        "gets",
        "getting",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "however",
        "i",
        "if",
        "in",
        "into",
        "is",
        "isn",
        "it",
        "its",
        "itself",
        "just",
        "let",
        "like",
        "ll",
        "may",
        "me",
        "might",
        "more",
        "most",
        "much",
        "must",
        "my",
        "myself",
        "need",
        "needs",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "one",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "own",
        "please",
        "rather",
        "really",
        "same",
        "seem",
        "seems",
        "shall",
        "she",
        "should",
        "since",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "upon",
        "us",
        "use",
        "used",
        "using",
        "ve",
        "very",
        "via",
        "want",
        "was",
        "wasn",
        "way",
        "we",
        "were",
        "weren",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "within",
        "without",
        "won",
        "would",
        "wouldn",
        "yet",
        "you",
        "your",
        "happen",
        "happens",
        "happening",
        "exactly",
        "actually",
        "currently",
        "instead",
        "able",
        "unable",
    ]
)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def split_word(word: str) -> list[str]:
    """The parts of an identifier in lower case.

    >>> split_word("parseHTTPResponse_v2"), split_word("utf8"), split_word("E108")
    (['parse', 'http', 'response', 'v', '2'], ['utf', '8'], ['e', '108'])
    """
    return [part.lower() for part in _PART.findall(word) if len(part) <= _LONGEST_PART]


def stem(word: str) -> str:
    """English Snowball stem of a word in lower case; words with digits or of two letters stay as they are."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


@lru_cache(maxsize=200_000)
def terms_of(word: str) -> tuple[str, ...]:
    """The distinct terms of a word as written: stems of its parts, and the whole in lower case if it has several.

    >>> terms_of("getUsers"), terms_of("Running"), terms_of("_private")
    (('get', 'user', 'getusers'), ('run',), ('privat',))
    """
    parts = split_word(word)
    found = dict.fromkeys(stem(part) for part in parts)
    if len(parts) > 1:
        found.setdefault(word.strip("_").lower())
    return tuple(found)
