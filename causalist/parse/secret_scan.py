"""Bytes of a file -> the spans of secrets in it.

A few expressions over the whole file find candidates. Most files have none and need no further work. Only the lines
around candidates are read closely: by the plugins of detect-secrets, called directly (no network, no settings of the
repository), and by expressions of our own. Tables list tokens known by their form and names whose values are secret.
Rules on the characters of a value reject names, words, placeholders, references and checksums; their thresholds were
chosen by hand on werkzeug, urllib3, scrapy, gin and prisma.

Not recognized: passwords of plain words, short or unquoted secrets without a name or form, and secrets that a program
assembles.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any

from causalist._internal.lazy import defer_import, lazy_regex
from causalist._internal.lazy import lazy_regex as late
from causalist.parse.cleaned_text import Span


class SecretRule(Enum):
    """Condition on the value of a secret, besides its place."""

    VARIED = "varied"  # the pattern alone proves a secret, if the value has enough different characters
    CHOSEN = "chosen"  # a person may have chosen it
    STRONG = "strong"  # it looks generated


# (module, class, the group that is the secret for each expression of the class's denylist, rule). The last group goes
# for all expressions that follow. Groups are named here because the plugins hand out their first group whatever it is,
# and for some that is a prefix.
PLUGINS: tuple[tuple[str, str, tuple[int, ...], SecretRule], ...] = (
    ("aws", "AWSKeyDetector", (0, 1), SecretRule.VARIED),
    ("azure_storage_key", "AzureStorageKeyDetector", (0,), SecretRule.VARIED),
    ("basic_auth", "BasicAuthDetector", (1,), SecretRule.CHOSEN),
    ("discord", "DiscordBotTokenDetector", (0,), SecretRule.VARIED),
    ("github_token", "GitHubTokenDetector", (0,), SecretRule.VARIED),
    ("gitlab_token", "GitLabTokenDetector", (0,), SecretRule.VARIED),
    ("mailchimp", "MailchimpDetector", (0,), SecretRule.VARIED),
    ("pypi_token", "PypiTokenDetector", (0,), SecretRule.VARIED),
    ("sendgrid", "SendGridDetector", (0,), SecretRule.VARIED),
    ("slack", "SlackDetector", (0,), SecretRule.VARIED),
    ("square_oauth", "SquareOAuthDetector", (0,), SecretRule.VARIED),
    ("stripe", "StripeDetector", (0,), SecretRule.VARIED),
    ("telegram_token", "TelegramBotTokenDetector", (0,), SecretRule.VARIED),
    ("twilio", "TwilioKeyDetector", (0,), SecretRule.VARIED),
)

# Tokens without a plugin, or of a form that the plugin does not know. Group 1, where there is one, is the secret.
OWN_TOKENS: tuple[tuple[str, SecretRule], ...] = (
    (r"github_pat_[A-Za-z0-9_]{22,255}", SecretRule.VARIED),
    (r"gh[opusr]_[A-Za-z0-9]{36,255}", SecretRule.VARIED),
    (r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[A-Za-z0-9_.\-]{20,600}", SecretRule.VARIED),
    (r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,250}", SecretRule.VARIED),
    (r"(?i:hooks\.slack\.com/(?:services|workflows|triggers)/)([A-Za-z0-9_/]{20,250})", SecretRule.VARIED),
    (r"(?:(?:[rs]k_(?:live|test)|whsec)_)[A-Za-z0-9]{20,250}", SecretRule.VARIED),
    (r"npm_[A-Za-z0-9]{36}", SecretRule.VARIED),
    (r"_(?:authToken|auth|password)\s{0,9}=\s{0,9}([A-Za-z0-9+/=_-]{16,250})", SecretRule.STRONG),
    (r"pypi-[A-Za-z0-9_-]{50,600}", SecretRule.VARIED),
    (r"sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,250}", SecretRule.VARIED),
    (r"sk-[A-Za-z0-9]{32,64}", SecretRule.VARIED),
    (r"sk-(?:[A-Za-z0-9_]{1,40}-){0,4}[A-Za-z0-9_-]{20,100}?T3BlbkFJ[A-Za-z0-9_-]{20,100}", SecretRule.VARIED),
    (r"AIza[0-9A-Za-z_-]{35}", SecretRule.VARIED),
    (r"ya29\.[0-9A-Za-z_-]{20,600}", SecretRule.VARIED),
    (r"GOCSPX-[0-9A-Za-z_-]{20,250}", SecretRule.VARIED),
    (r"(?i:Account|SharedAccess)Key=([A-Za-z0-9+/]{42,86}={0,2})", SecretRule.VARIED),
    (r"[?&]sig=([A-Za-z0-9%+/]{40,250}={0,2})", SecretRule.VARIED),
    (r"hf_[A-Za-z]{30,40}", SecretRule.VARIED),
    (r"do[opr]_v1_[a-f0-9]{64}", SecretRule.VARIED),
    (r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", SecretRule.VARIED),
    (r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,250}", SecretRule.VARIED),
    (r"hv[sb]\.[A-Za-z0-9_-]{24,250}", SecretRule.STRONG),
    (r"(?:lin_api|glc|glsa|PMAK|NRAK|dapi|sntry[su]|AGE-SECRET-KEY)[-_][A-Za-z0-9_-]{24,250}", SecretRule.STRONG),
    (r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}", SecretRule.STRONG),
    (r"eyJ[A-Za-z0-9_-]{8,8000}+\.eyJ[A-Za-z0-9_-]{8,8000}+(?:\.[A-Za-z0-9_-]{0,8000})?", SecretRule.VARIED),
    (r"://[^\s:/@\"'`\\<>{}]{0,100}:([^\s:/@\"'`\\<>{}]{3,250})@[\w.\[-]", SecretRule.CHOSEN),
)

# Names whose values are secret. What people choose themselves is short, so that little is asked of it; the value of the
# other names has to look as if a machine had made it.
PASSWORDS = r"passw(?:or)?d|passphrase|passcode|pwd|contrase(?:n|\xc3\xb1)a|(?:(?<=[_-])|\b)pass(?![a-z])"
_OF_KEYS = (
    "api", "auth", "access", "account", "admin", "app", "client", "consumer", "cookie", "database", "db", "deploy",
    "encrypt", "encryption", "hmac", "jwt", "license", "licence", "master", "priv", "private", "root", "service",
    "session", "shared", "sign", "signing", "signature", "storage", "webhook",
)  # fmt: skip
KEYS = (
    r"secret|token|credential|bearer|(?:(?<=[_-])|\b)(?:salt|hmac|sid)(?![a-z])"
    rf"|(?:{'|'.join(_OF_KEYS)})[_-]?key"
)
# What each of these names begins with, in lower case. An expression whose alternatives all begin with a letter of their
# own is much faster than one that has no regard for case.
NAMES_BEGIN = "|".join(
    (
        "pass", "pwd", "contrase", "secret", "token", "credential", "bearer", "salt", "hmac", "sid",
        *(f"{each}[_-]?key" for each in _OF_KEYS),
    )
)  # fmt: skip

# Placeholders: values of these letters and no others, or with one of these parts.
TRIVIAL = frozenset(
    (
        "a", "aa", "aaa", "abc", "abcd", "abcdef", "admin", "anonymous", "api", "auth", "bar", "baz", "changeme",
        "correct", "default", "demo", "dev", "dummy", "fake", "false", "foo", "foobar", "guest", "guess", "hello",
        "hidden", "invalid", "key", "letmein", "localhost", "login", "mock", "my", "mypass", "mypassword", "mysecret",
        "mytoken", "name", "new", "newpassword", "nil", "none", "null", "old", "pass", "passw", "password", "passwd",
        "postgres", "private", "public", "pw", "pwd", "qux", "qwerty", "root", "sample", "secret", "secretkey", "some",
        "somepassword", "sometoken", "string", "supersecret", "test", "tester", "testing", "testpass", "testpassword",
        "testtoken", "testuser", "token", "true", "undefined", "unknown", "user", "username", "userpass", "value",
        "wrong", "wrongpassword", "x", "xx", "xxx", "xxxx", "y", "yyy", "z", "zzz",
    )
)  # fmt: skip
PLACEHOLDER_PARTS = ("example", "changeme", "change-me", "change_me", "placeholder", "your", "redacted", "insert",
                     "replace", "todo", "dummy", "xxxx", "....", "****", "lorem")  # fmt: skip


# The limit of detect-secrets for base64, and a lower one for strings that are too short to reach it.
_ENTROPY = 4.5
_SHORT, _SHORT_ENTROPY = 28, 3.9
# Identifiers are made of pieces (runs of one kind of character) of four and more on average, random strings of two.
_WORDY_PIECES = 3.6
_RANDOM_PIECES = 2.4
_MIN_RANDOM_CHARACTERS = 14
_MIN_LINE_CHARACTERS, _SCRAMBLED_PIECES = 16, 3.0
_MAX_PLACEHOLDER_CHARACTERS = 40

_PIECE = lazy_regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_PARTS = lazy_regex(r"[-_./:@+=~, ]+")
_WORDLIKE = lazy_regex(r"(?:[A-Za-z]+[0-9]{0,2}|[0-9]{0,4})")
_DIGIT = lazy_regex("[0-9]")
_BOTH_CASES = lazy_regex("[a-z].*[A-Z]|[A-Z].*[a-z]", re.DOTALL)
_SPECIAL = lazy_regex(r"[!#$%^&*?~+=@]")
# A variable, a template, a format, a regular expression, a call, markup; or an address or a path.
_REFERENCE = lazy_regex(
    r"^(?:\$[A-Z_]{2,}|\$[({]|\$[a-z_]+$|#\{|\{|<|~/|\.{1,2}/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.]*://)|\$\{|\{\{|\{[\w.:!]*\}"
    r"|%\(|%[sdr]\b|<[\w ./-]+>|\(\)|\\[wdsbWDSB]|\[\^|\[[A-Za-z0-9]-[A-Za-z0-9]|\$\w{1,40}\[|\(\?"
    r"|\)[*+?]|[*+]\)|->|::",
)
_DATE = lazy_regex(r"\d{4}-\d\d-\d\d|\d\d:\d\d")


def is_varied(value: str) -> bool:
    """Return True if the value has many distinct characters, unlike `ghp_xxxxxxxx`."""
    return len(set(value)) >= min(9, len(value) * 2 // 3)


def is_scrambled(value: str) -> bool:
    """Return True for a line of a key or other base64 data: long, and not made of words."""
    return len(value) >= _MIN_LINE_CHARACTERS and _mean_piece(value) < _SCRAMBLED_PIECES


def is_chosen(value: str) -> bool:
    """Return True if the value may be a password chosen by a person.

    It has at least six characters without white space. It has a letter, and a digit or special character, or is no
    word. Placeholders, words and references are rejected.

    >>> is_chosen("hunter2"), is_chosen("changeme"), is_chosen("password1"), is_chosen("${DB_PASSWORD}")
    (True, False, False, False)
    """
    if not 6 <= len(value) <= 250 or _is_excused(value) or not re.search("[A-Za-z]", value):
        return False
    if not re.search(r"[0-9]", value) and not _SPECIAL.search(value):
        return len(value) >= 12 and _mean_piece(value) < 3
    return len(_PARTS.split(value)) == 1 or not _is_wordy(value)


def is_strong(value: str) -> bool:
    """Return True if a value looks generated.

    It has at least eight characters, two digits and two letters among them, and is not made of words.

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
    """Return True if the value looks secret without a secret name before it.

    It has high entropy, upper and lower case and digits, and shorter pieces than words have. Hexadecimal digits do not
    count, because a key and a checksum look alike.

    >>> is_random("uY3nq8ZkP0vT6sRw1LxEj5BcGd7Mh2Ka"), is_random("d41d8cd98f00b204e9800998ecf8427e")
    (True, False)
    """
    if value.islower() or value.isupper() or not _DIGIT.search(value) or not _BOTH_CASES.search(value):
        return False
    if _mean_piece(value) > _RANDOM_PIECES or _is_named(value) or _is_encoded_text(value) or _is_excused(value):
        return False
    return _entropy(value) > (_ENTROPY if len(value) >= _SHORT else _SHORT_ENTROPY)


def _is_excused(value: str) -> bool:
    """Return True for placeholders, references, templates, dates and sequences."""
    if len(set(value)) < 4 or _REFERENCE.search(value) or _DATE.search(value) or re.search(r"\s", value):
        return True
    lower = value.lower()
    if len(value) <= _MAX_PLACEHOLDER_CHARACTERS and any(part in lower for part in PLACEHOLDER_PARTS):
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
    """Return the mean length of runs of letters of one case (with a leading capital) and of digits."""
    pieces = _PIECE.findall(value)
    return sum(map(len, pieces)) / len(pieces) if pieces else 0.0


def _is_named(value: str) -> bool:
    """Return True if words make up most of the value: a path, or a name with a checksum."""
    rest = [part for part in re.split(r"[-_/.=+]", value) if not _WORDLIKE.fullmatch(part)]
    return sum(map(len, rest)) < _MIN_RANDOM_CHARACTERS


def _is_encoded_text(value: str) -> bool:
    """Return True for base64 of plain text, which is more often an example or a file than a secret."""
    import base64

    try:
        text = base64.b64decode(
            value + "=" * (-len(value) % 4), altchars=b"-_" if "-" in value or "_" in value else None
        )
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
    """Import a module of detect-secrets without its HTTP client.

    The client verifies findings and would take three quarters of the import time.
    """
    with defer_import("requests", ("Response",)):
        return import_module(f"detect_secrets.{module}")


# How much of a line around a candidate is read: enough for a name before it and a value after it; a token is never cut.
_BEFORE, _AFTER = 200, 600
_BETWEEN = b"\n\n"  # no candidate crosses it
_MARGIN = 300  # bytes needed after a candidate for it to be read with the one before it
_TOKEN = late(rb"[\w.+/=-]{0,4096}+")
# Another place of the same file that holds the value of a found secret is one too, if the value is no word.
_MIN_REPEATED_BYTES = 10
_MAX_REPEATED_VALUES = 100
_MAX_VALUE_CHARACTERS = 4096
_MIN_BARE_CHARACTERS = 12
# What a private key takes at most: RSA with 16,384 bits has some 12,500 characters.
_MAX_KEY_BYTES = 16_000

# -- candidates, over bytes. What the close readings below look for always contains one of these; a test checks that.

# Most forms hold a run of letters, digits, `_` and `-` as long as this, which is looked for once and then looked at.
_MIN_RUN_BYTES = 20
_RUN = late(rb"\b[\w-]{20,}+")
_PARTED = bytes(c if c < 128 and (chr(c).isalnum() or chr(c) in "_-") else ord(" ") for c in range(256))
_BEFORE_DOT = rb"[MNO][\w-]{23}"
_FORM = (
    rb"A(?:3T[A-Z0-9]|BIA|CCA|KIA|SIA)[0-9A-Z]{16}|(?:AC|SK)[a-z0-9]{32}|[0-9a-z]{32}-us\d|gh[opusr]_"
    rb"|github_pat_|GR1348941|[rs]k_(?:live|test)_|whsec_|npm_|pypi-|sk-|AIza|GOCSPX-|hf_|do[opr]_v1_|shp[a-z]{2}_|dckr_"
    rb"|(?:lin_api|glc|glsa|PMAK|NRAK|dapi|sntry[su]|AGE-SECRET-KEY)[-_]"
)
_FORM_OF_RUN, _FORM_OR_BEFORE_DOT = late(_FORM), late(_BEFORE_DOT + b"|" + _FORM)
# The others have a text of their own; looking for that first is much faster than an expression.
_FORMS: tuple[tuple[bytes, re.Pattern[bytes]], ...] = (
    (b"gl", late(rb"gl[a-z]{2,5}-[\w.-]{20}")),
    (b"xox", late(rb"xox[a-zA-Z]-[\w-]{4}")),
    (b"xapp-", late(rb"xapp-[\w-]{10}")),
    (b"SG.", late(rb"SG\.[\w-]{16}")),
    (b"_auth", late(rb"_auth(?:Token)?\s{0,9}=")),
    (b"_password", late(rb"_password\s{0,9}=")),
    (b"ya29.", late(rb"ya29\.[\w-]{20}")),
    (b"ey=", late(rb"Key=[A-Za-z0-9+/]{42}", re.IGNORECASE)),
    (b"sig=", late(rb"[?&]sig=")),
    (b"hvs.", late(rb"hvs\.[\w-]{24}")),
    (b"hvb.", late(rb"hvb\.[\w-]{24}")),
    (b"eyJ", late(rb"eyJ[\w=-]{8}")),
    (b"sq0csp-", late(rb"sq0csp-[\w\\-]{20}")),
    (b"slack.", late(rb"hooks\.slack\.com/", re.IGNORECASE)),
    (b"://", late(rb"://[^\s/@]{0,400}@")),
)
_WORD_OF = {text: text.translate(_PARTED).strip() for text, _ in _FORMS}
_AFTER_COLON = late(rb":-{0,9}[\w-]{25}")
_AFTER_NUMBER = late(rb"\d{8}:-{0,9}$")  # the first part of such a token, and what stands between
_STRING = late(rb"[\"'`]([A-Za-z0-9+/_=-]{20,128})(?=[\"'`\\])")
# In lower case: a name and the sign that assigns or compares its value.
_NAMED = late(
    rb"(?:pass|pwd|secret|token|credential|bearer|basic|salt|hmac|key|sid|contrase)[\w\x80-\xff-]{0,40}\\{0,3}[\"'\]]{0,2}"
    rb"(?:[^\S\n]{0,20}[:=!,(][^\S\n]{0,20}[^\s,;)}]|[^\S\n]{1,9}[^\s=]{8})"
)

_NAMES = (b"pass", b"pwd", b"secret", b"token", b"credential", b"bearer", b"basic", b"salt", b"hmac", b"key", b"sid",
          b"contrase")  # fmt: skip
# Those of them that mark a secret, of which one may stand in the text that a match takes.
_SECRET_NAME = late(
    f"pass|pwd|secret|token|credential|bearer|basic|salt|hmac|sid|contrase|(?:{'|'.join(_OF_KEYS)})[_-]?key".encode()
)
_MAX_NAME_BYTES = 12

# -- close reading, over text with one character for each byte

_NAME_END = r"[\w\-]{0,40}\\{0,3}[\"'\]]{0,2}"
_ASSIGNS = r"(?:\s?:\s?[\w.\[\]|?<> ]{1,40}?\s?(?==))?[^\S\n]{0,20}(?::=|=>|={1,3}|!={1,2}|:|,|\()[^\S\n]{0,20}"
_PREFIX = r"(?:@|[brufL]{1,2}(?=[\"'])|new\s\w{1,30}\()?"
_QUOTED = rf"(?P<quote>\\{{0,3}}[\"'`])(?P<value>(?:(?!(?P=quote))[^\n]){{1,{_MAX_VALUE_CHARACTERS}}})(?P=quote)"
# Not into the next parameter of an address.
_BARE = rf"(?P<bare>(?:[^\s\"'`,;(){{}}\[\]<>&|\\]|&(?!\w{{1,40}}=)){{8,{_MAX_VALUE_CHARACTERS}}})"
_ASSIGNMENTS = tuple(
    late(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"(?:(?P<password>{PASSWORDS})|{KEYS}){_NAME_END}{_ASSIGNS}{_PREFIX}(?:{_QUOTED}|{_BARE})",
        # An option of a command.
        rf"--?[\w-]{{0,30}}(?:{PASSWORDS}|{KEYS})[\w-]{{0,30}}[^\S\n]{{1,4}}[\"']?{_BARE}",
        # A header.
        r"\b(?:bearer|basic|token)[^\S\n]{1,9}(?P<bare>[A-Za-z0-9+/._~-]{16,250}={0,2})",
    )
)
_BEGINS = late(NAMES_BEGIN)
# What the plugin for names takes for a value, as far as it may be a strong one: it takes long to find none.
_IN_QUOTES = late(r"[\"']((?=[^\"'\s]*[\d\xb2\xb3\xb9][^\"'\s]*[\d\xb2\xb3\xb9]|[^\"'\s]{16})[^\"'\s]{8,})(?=[\"'])")
_NAME = late("pass|pwd|secret|key", re.IGNORECASE)
_MAX_NAMES = 8
_WITHIN_WORD = late("[A-Za-z0-9]{2}")
# Text before a checksum, a commit or embedded data.
_DIGEST = late(
    rb"(?:sha-?\d{1,3}|md5|h1|integrity|checksums?|digest|hash(?:es)?|etag|commit|revision|rev|ref|fingerprint|sum|blob|base64)"
    rb"[\"'`\\\]]{0,4}\s{0,4}[:=,(-]{0,2}\s{0,4}[bru]{0,2}$|\bW/\\?$",
    re.IGNORECASE,
)
_INTEGRITY = late(rb"sha(?:1|256|384|512)-[A-Za-z0-9+/]+={0,2}")  # of what a page loads

_KEY_BEGIN = late(rb"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d")
_KEY_END = late(rb"-----END [A-Z0-9 ]{0,30}PRIVATE KEY|Private-MAC:\s*[0-9a-f]*")
_KEY_PART = late(rb"\\[nrt]|([A-Za-z0-9+/=]+)")


def find_secrets(data: bytes) -> tuple[Span, ...]:
    """Return the spans (start byte, end byte) of secrets in `data`, disjoint and in order."""
    keys = list(_key_spans(data)) if b"PRIVATE KEY" in data or b"PuTTY-User-Key-File" in data else []
    strings = list(_STRING.finditer(data))
    distinct = set(data.translate(_PARTED).split())
    words = b" ".join(distinct)  # a small part of a file, in which texts are found so much faster
    forms = _find_forms(data, distinct)
    # A secret key of AWS has no form but its length.
    forms += [match.span() for match in strings if match.end(1) - match.start(1) == 40]
    for text, expression in _FORMS:
        if _WORD_OF[text] in words and text in data:
            forms += [match.span() for match in expression.finditer(data)]
    named = _find_names(data.lower(), words.lower())
    spans = [
        *_read_windows(data, forms, _find_tokens),
        *_read_windows(data, named, _find_named_values),
        *_find_random_strings(data, strings),
    ]
    repeated = {data[start:end] for start, end in spans if end - start >= _MIN_REPEATED_BYTES}
    for value in sorted(repeated)[:_MAX_REPEATED_VALUES]:
        if is_strong(value.decode("latin-1")):
            spans += _occurrences(data, value)
    return merge_spans(_whole_characters(data, span) for span in (*keys, *spans))


def find_candidate_texts(texts: Sequence[bytes]) -> Iterator[int]:
    """Yield the indices of short texts that may hold a secret, ascending.

    `find_secrets` finds none in the others. One search over all of them takes a fifth of the time.
    """
    whole = _BETWEEN.join(texts)
    starts = list(accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0))
    offsets = {match.start() for match in _KEY_BEGIN.finditer(whole)}
    offsets.update(match.start() for match in _STRING.finditer(whole))
    offsets.update(match.start() for match in _RUN.finditer(whole) if _is_form(whole, match))
    for text, expression in _FORMS:
        if text in whole:
            offsets.update(match.start() for match in expression.finditer(whole))
    lower = whole.lower()
    offsets.update(start for start, _ in _find_names(lower, lower))
    yield from sorted({bisect_right(starts, place) - 1 for place in offsets})


def _find_forms(data: bytes, distinct: Set[bytes]) -> list[Span]:
    """Return the runs that may hold a form, in order. `distinct` are the words of the text as `_PARTED` parts them.

    Most files have long runs of which none is one. Cutting the text between runs takes a third of the time of finding
    their places, and each distinct run is looked at once.
    """
    is_numbered = any(
        data[max(0, match.start() - 8) : match.start()].isdigit() for match in _AFTER_COLON.finditer(data)
    )
    # A run starts with a letter, a digit or `_`.
    runs = {part.lstrip(b"-") for part in distinct if len(part) >= _MIN_RUN_BYTES and _FORM_OR_BEFORE_DOT.search(part)}
    if not runs and not is_numbered:
        return []
    return [m.span() for m in _RUN.finditer(data) if (is_numbered or m[0] in runs) and _is_form(data, m)]


def _find_names(lower: bytes, words: bytes) -> list[Span]:
    """Return the places of names that may mark a secret, with the sign behind them.

    `words` holds each word of the text at least once. A search for each name that is there at all takes a third of the
    time of one by the expression.

    A key is one only if a word before it says of what, which that of `keyword:` does not.
    """
    spans = []
    starts = [start for name in _NAMES if name in words for start, _ in _occurrences(lower, name)]
    end = 0
    for begin in sorted(starts):
        match = _NAMED.match(lower, begin) if begin >= end else None
        if match is None:
            continue
        start, end = match.span()
        if lower.startswith(b"key", start) and not _SECRET_NAME.search(
            lower, max(0, start - _MAX_NAME_BYTES), end + _MAX_NAME_BYTES
        ):
            continue
        spans.append((start, end))
    return spans


def _is_form(data: bytes, run: re.Match[bytes]) -> bool:
    form = _FORM_OR_BEFORE_DOT.search(run[0])
    # Many names are like the first part of a token such as Discord's, `MTk….Gx….…`, but that a dot follows it.
    if form and (data[run.end() : run.end() + 1] == b"." or _FORM_OF_RUN.search(run[0], form.start())):
        return True
    # The second part of a token such as Telegram's, `12345678:…`.
    start = run.start()
    return run.end() - start >= 25 and bool(_AFTER_NUMBER.search(data, max(0, start - 18), start))


def _read_windows(data: bytes, places: Iterable[Span], reader: Callable[[str], Iterator[Span]]) -> Iterator[Span]:
    """Yield the spans that `reader` finds in the lines around `places`, or in parts of long lines."""
    windows: list[Span] = []
    for start, end in sorted(places):
        end = min(end, start + _AFTER)
        if windows and end + _MARGIN <= windows[-1][1]:
            continue
        first = data.rfind(b"\n", max(0, start - _BEFORE), start) + 1 or max(0, start - _BEFORE)
        last = data.find(b"\n", end, end + _AFTER)
        if last < 0:
            cut = _TOKEN.match(data, min(len(data), end + _AFTER))
            last = cut.end() if cut else len(data)
        windows.append((first, last))
    for first, last in windows:
        for start, end in reader(data[first:last].decode("latin-1")):
            yield first + start, first + end


def _find_tokens(text: str) -> Iterator[Span]:
    """Yield the tokens with a known form."""
    for expression, group, rule in _token_expressions():
        for match in expression.finditer(text):
            start, end = match.span(group)
            # A token that begins in the middle of a word is a part of something else.
            is_part = group == 0 and _WITHIN_WORD.match(text, start - 1) if start else False
            if end > start and not is_part and _RULES[rule](text[start:end]):
                yield start, end
    for match in _jwt().denylist[0].finditer(text):
        if _jwt().is_formally_valid(match[0]):
            yield match.span()


def _find_named_values(text: str) -> Iterator[Span]:
    """Yield the values of names that mark a secret."""
    has_value = False
    for matches in (_find_assignments(text), *(expression.finditer(text) for expression in _ASSIGNMENTS[1:])):
        for match in matches:
            groups = match.groupdict()
            if groups.get("value") is not None:
                if (is_chosen if groups["password"] else is_strong)(groups["value"]):
                    has_value = True
                    yield match.span("value")
            elif groups.get("bare"):
                # An unquoted value may be an expression: it counts only if it cannot be a name.
                value = groups["bare"]
                if len(value) >= _MIN_BARE_CHARACTERS and "." not in value and is_strong(value):
                    has_value = True
                    yield match.span("bare")
    # The plugin takes time that is quadratic in the number of names on a line.
    if not has_value and _may_be_quoted(text) and len(_NAME.findall(text)) <= _MAX_NAMES:
        for value in _keyword().analyze_string(text):
            if value and is_strong(value):
                yield from ((match.start(), match.end()) for match in re.finditer(re.escape(value), text))


def _find_assignments(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of the first expression, faster than its `finditer`, which tries every letter."""
    lower = text.encode("latin-1").lower().decode("latin-1")  # of ASCII alone, as the expression has it
    begin = _BEGINS.search(lower)
    while begin:
        match = _ASSIGNMENTS[0].match(text, begin.start())
        if match:
            yield match
        begin = _BEGINS.search(lower, match.end() if match else begin.start() + 1)


def _may_be_quoted(text: str) -> bool:
    """Return True if a quoted value looks generated. Text between backticks may hold others."""
    return "`" in text or any(is_strong(match[1]) for match in _IN_QUOTES.finditer(text))


def _find_random_strings(data: bytes, strings: Iterable[re.Match[bytes]]) -> Iterator[Span]:
    """Yield the quoted strings that look random and are no checksum."""
    for match in strings:
        if not is_random(match[1].decode("ascii")) or _INTEGRITY.fullmatch(match[1]):
            continue
        if not _DIGEST.search(data, max(0, match.start() - 60), match.start()):
            yield match.span(1)


_RULES = {SecretRule.VARIED: is_varied, SecretRule.CHOSEN: is_chosen, SecretRule.STRONG: is_strong}


@cache
def _token_expressions() -> tuple[tuple[re.Pattern[str], int, SecretRule], ...]:
    """Return (expression, group of the secret, rule for its value) of all tokens with a form."""
    expressions: list[tuple[re.Pattern[str], int, SecretRule]] = []
    for module, name, groups, rule in PLUGINS:
        denylist = getattr(_plugin(module), name).denylist
        for number, expression in enumerate(denylist):
            expressions.append((expression, groups[min(number, len(groups) - 1)], rule))
    for pattern, rule in OWN_TOKENS:
        own = re.compile(pattern, re.ASCII)
        expressions.append((own, min(1, own.groups), rule))
    return tuple(expressions)


@cache
def _jwt() -> Any:
    return _plugin("jwt").JwtTokenDetector()


@cache
def _keyword() -> Any:
    return _plugin("keyword").KeywordDetector()


def _plugin(module: str) -> Any:
    return detect_secrets(f"plugins.{module}")


def _key_spans(data: bytes) -> Iterator[Span]:
    """Yield the parts of private keys between their first and last line, without other text on each line."""
    begins = [match.end() for match in _KEY_BEGIN.finditer(data)]
    ends = [match.span() for match in _KEY_END.finditer(data)]
    for number, begin in enumerate(begins):
        stop = min([begin + _MAX_KEY_BYTES, len(data), *begins[number + 1 : number + 2]])
        index = bisect_right(ends, (begin, begin))
        is_closed = index < len(ends) and ends[index][0] < stop
        if is_closed:
            # The last line of PuTTY's keys is a checksum of the key.
            stop = ends[index][1] if data[ends[index][0] : ends[index][0] + 1] == b"P" else ends[index][0]
        parts = [match.span(1) for match in _KEY_PART.finditer(data, begin, stop) if match[1]]
        lines = [is_scrambled(data[first:last].decode("ascii")) for first, last in parts]
        if not is_closed:
            # A key that is cut off ends where something else begins.
            parts = parts[: lines.index(False) if False in lines else len(parts)]
        if any(lines[: len(parts)]):
            yield from parts


def _occurrences(data: bytes, value: bytes) -> Iterator[Span]:
    start = data.find(value)
    while start >= 0:
        yield start, start + len(value)
        start = data.find(value, start + len(value))


def _whole_characters(data: bytes, span: Span) -> Span:
    """Return the span extended to whole UTF-8 characters at both ends."""
    start, end = span
    while start > 0 and start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the same bytes in spans that do not touch, in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
