"""Whether a value is a secret or merely stands where one could: rules on its characters.

Thresholds were chosen by hand, on what they mask in werkzeug, urllib3, scrapy, gin and prisma.
"""

import re
from base64 import b64decode
from functools import cache
from importlib import import_module
from typing import Any

from causalist._internal.lazy import expression, put_off
from causalist.parse._secret_tables import PLACEHOLDER_PARTS, TRIVIAL

# The limit of detect-secrets for base64, and a lower one for strings that are too short to reach it.
_ENTROPY = 4.5
_SHORT, _SHORT_ENTROPY = 28, 3.9
# Identifiers are made of pieces (runs of one kind of character) of four and more on average, random strings of two.
_WORDY_PIECES = 3.6
_RANDOM_PIECES = 2.4
_SHORTEST_RANDOM = 14
_SHORTEST_LINE, _SCRAMBLED_PIECES = 16, 3.0
_LONGEST_PLACEHOLDER = 40

_PIECE = expression(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_PARTS = expression(r"[-_./:@+=~, ]+")
_WORDLIKE = expression(r"(?:[A-Za-z]+[0-9]{0,2}|[0-9]{0,4})")
_SPECIAL = expression(r"[!#$%^&*?~+=@]")
# A variable, a template, a format, a regular expression, a call, markup; or an address or a path.
_REFERENCE = expression(
    r"^(?:\$[A-Z_]{2,}|\$[({]|\$[a-z_]+$|#\{|\{|<|~/|\.{1,2}/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.]*://)|\$\{|\{\{|\{[\w.:!]*\}"
    r"|%\(|%[sdr]\b|<[\w ./-]+>|\(\)|\\[wdsbWDSB]|\[\^|\[[A-Za-z0-9]-[A-Za-z0-9]|\$\w{1,40}\[|\(\?"
    r"|\)[*+?]|[*+]\)|->|::",
)
_DATE = expression(r"\d{4}-\d\d-\d\d|\d\d:\d\d")


def is_varied(value: str) -> bool:
    """More than a pattern such as `ghp_xxxxxxxx`."""
    return len(set(value)) >= min(9, len(value) * 2 // 3)


def is_scrambled(value: str) -> bool:
    """A line of a key, or of anything in base64: long, and not made of words."""
    return len(value) >= _SHORTEST_LINE and _mean_piece(value) < _SCRAMBLED_PIECES


def is_chosen(value: str) -> bool:
    """A password that a person may have chosen, and no placeholder, word or reference: at least six characters without
    white space, with a letter, and a digit or special character; or no word at all.

    >>> is_chosen("hunter2"), is_chosen("changeme"), is_chosen("password1"), is_chosen("${DB_PASSWORD}")
    (True, False, False, False)
    """
    if not 6 <= len(value) <= 250 or _is_excused(value) or not re.search("[A-Za-z]", value):
        return False
    if not re.search(r"[0-9]", value) and not _SPECIAL.search(value):
        return len(value) >= 12 and _mean_piece(value) < 3
    return len(_PARTS.split(value)) == 1 or not _is_wordy(value)


def is_strong(value: str) -> bool:
    """What looks as if a machine had made it: eight characters or more, two digits and two letters among them, and not
    made of words.

    >>> is_strong("9f86d081884c7d65"), is_strong("access_token_v2"), is_strong("sha256WithRSAEncryption")
    (True, False, False)
    """
    if not 8 <= len(value) <= 4096 or _is_excused(value):
        return False
    n_digits = sum(character.isdigit() for character in value)
    n_letters = sum(character.isalpha() for character in value)
    if n_letters < 2 or n_digits < 2:
        return len(value) >= 16 and n_letters >= 2 and _mean_piece(value) < 2 and is_varied(value)
    return is_varied(value) and not _is_wordy(value)


def is_random(value: str) -> bool:
    """A string that needs no name to be a secret: of high entropy, with upper and lower case and digits, and in smaller
    pieces than words have. Digits of a checksum (hexadecimal) are not: nothing tells them from a key.

    >>> is_random("uY3nq8ZkP0vT6sRw1LxEj5BcGd7Mh2Ka"), is_random("d41d8cd98f00b204e9800998ecf8427e")
    (True, False)
    """
    if not (re.search("[a-z]", value) and re.search("[A-Z]", value) and re.search("[0-9]", value)):
        return False
    if _mean_piece(value) > _RANDOM_PIECES or _is_named(value) or _is_encoded_text(value) or _is_excused(value):
        return False
    return _entropy(value) > (_ENTROPY if len(value) >= _SHORT else _SHORT_ENTROPY)


def _is_excused(value: str) -> bool:
    """Placeholders, references, templates, dates, sequences."""
    if len(set(value)) < 4 or _REFERENCE.search(value) or _DATE.search(value) or re.search(r"\s", value):
        return True
    lower = value.lower()
    if len(value) <= _LONGEST_PLACEHOLDER and any(part in lower for part in PLACEHOLDER_PARTS):
        return True
    letters = re.sub("[^a-z]", "", lower)
    if letters in TRIVIAL:
        return len(value) < 16
    rules = _heuristics()
    return bool(
        rules.is_templated_secret(value) or rules.is_sequential_string(value) or rules.is_not_alphanumeric_string(value)
    )


def _is_wordy(value: str) -> bool:
    return _mean_piece(value) >= _WORDY_PIECES or all(_WORDLIKE.fullmatch(part) for part in _PARTS.split(value))


def _mean_piece(value: str) -> float:
    """The mean length of runs of lower case, upper case and digits, a capital with the small letters behind it."""
    pieces = _PIECE.findall(value)
    return sum(map(len, pieces)) / len(pieces) if pieces else 0.0


def _is_named(value: str) -> bool:
    """Whether too little of it is left without the words between its separators: a path, a name with a checksum."""
    rest = [part for part in re.split(r"[-_/.=+]", value) if not _WORDLIKE.fullmatch(part)]
    return sum(map(len, rest)) < _SHORTEST_RANDOM


def _is_encoded_text(value: str) -> bool:
    """Whether it is base64 of plain text, which is an example or a file more often than a secret."""
    try:
        text = b64decode(value + "=" * (-len(value) % 4), altchars=b"-_" if "-" in value or "_" in value else None)
    except ValueError:
        return False
    return text.isascii() and text.decode("ascii").replace("\n", " ").isprintable()


def _entropy(value: str) -> float:
    return float(_entropy_plugin().calculate_shannon_entropy(value))


@cache
def _entropy_plugin() -> Any:
    return detect_secrets("plugins.high_entropy_strings").Base64HighEntropyString(limit=_ENTROPY)


@cache
def _heuristics() -> Any:
    return detect_secrets("filters.heuristic")


def detect_secrets(module: str) -> Any:
    """A module of detect-secrets, without the HTTP client by which it could verify what it finds: to import that takes
    three quarters of the time."""
    with put_off("requests", ("Response",)):
        return import_module(f"detect_secrets.{module}")
