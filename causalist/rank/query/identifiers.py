"""Mentions in a text: identifiers, `Class.method`, `a.b.c`, `from a.b import c`, paths and messages.

`tracebacks` reads stack frames; `scoring.mentions` resolves mentions to the nodes of a repository.

Printed messages are those of exceptions, quoted ones, lines of logs, and bare ones. A query may contain a message
without any mark: "Could not resolve host: shop.example". So a title may be a message if it does not have the form of a
question and speaks of a failure, and so may the text after "why do I get" and the like. The code decides if it is one:
the code that prints the message has its words in a literal (`lexical.printed_messages`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.rank.query.blocks import BlockKind, QueryBlock
from causalist.rank.query.tracebacks import ExceptionMention

_IDENTIFIER = lazy_regex(r"\b(?:[A-Za-z]+_\w+|_+[A-Za-z]\w*|[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w+)\b")
_CALLED = lazy_regex(r"\b([A-Za-z_]\w*)\(", needs=("(",))
_CODE_SPAN = lazy_regex(r"(?<!`)`([^`\n]{1,80})`(?!`)", needs=("`",))
_DOTTED = lazy_regex(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b", needs=(".",))
_FROM_IMPORT = lazy_regex(r"\bfrom\s+([\w.]+)\s+import\s+\(?([\w, ]+)", needs=("import",))
# 255 characters are the longest file name. Without a limit, a text of hyphens takes quadratic time.
_PATH = lazy_regex(
    r"(?<![\w/])(?:[\w.@-]{1,255}/)+[\w.@-]{1,255}|\b[\w-]{1,255}\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|md|json|toml)\b",
    needs=("/", "."),
)
_WINDOWS = lazy_regex(
    r"(?<![\w\\])(?:[A-Za-z]:\\)?((?:[\w.@-]{1,255}\\){1,30}[\w.@-]{1,255}\.\w{1,5}\b)", needs=("\\",)
)
_LINE = lazy_regex(r"(?::|#L|\(|,? line |, L)(\d{1,7})\b")
# A page of a code host: /OWNER/NAME/blob/REVISION/PATH#L10.
_BLOB = lazy_regex(
    r"https?://[^\s/]{1,100}/[^\s/]{1,100}/[^\s/]{1,100}/(?:-/)?(?:blob|tree|raw|blame|src)/[^\s/]{1,100}/([^\s#?)\]]{1,400})(?:#L(\d{1,7}))?",
    needs=("://",),
)
_JOINED = lazy_regex(r"\b[A-Za-z_]\w*(?:(?:::|#|->)[A-Za-z_]\w*)+", needs=("::", "#", "->"))
_JS_IMPORT = lazy_regex(r"\bimport\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?\{([^{}]{1,500})\}\s*from\b", needs=("import",))
_OPTION = lazy_regex(r"(?<![\w-])--([A-Za-z][\w-]{1,60})\b", needs=("--",))
_DECORATOR = lazy_regex(r"^[^\S\n]*@([A-Za-z_]\w*)(?=\(|[^\S\n]*$)", re.M, needs=("@",))
_CODE = lazy_regex(r"\b(?:[A-Z]{1,6}-?[0-9]{2,6}|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)\b", needs=("_", *"0123456789"))
_URL = lazy_regex(r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S{1,2000}", re.IGNORECASE, needs=("://", "."))

OPTION_WEIGHT = 0.6  # a definition with the name of an option may be about something else


class MentionKind(StrEnum):
    """The form in which a query names something."""

    SYMBOL = "symbol"
    QUALIFIED = "qualified"
    PATH = "path"
    CODE = "code"  # of an error or a setting, which occurs in strings


@dataclass(frozen=True, slots=True)
class QueryMention:
    """A mention of something that a query names.

    The weight is in (0, 1]. `line`: of a path, 1-based, 0 for none.
    """

    kind: MentionKind
    text: str
    weight: float
    line: int = 0


def find_mentions(text: str, weight: float) -> list[QueryMention]:
    """Return the names found in `text`, each as often as `text` names it."""
    return [
        *_find_imports(text, weight),
        *_find_paths(text, weight),
        *_find_members(text, weight),
        *_find_options(text, weight),
        *_find_identifiers(text, weight),
    ]


def _find_imports(text: str, weight: float) -> Iterator[QueryMention]:
    for statement in _FROM_IMPORT.finditer(text):
        for name in statement[2].split(","):
            if not name.strip():
                continue
            own = name.split()[0]
            if statement[1].strip("."):
                yield QueryMention(MentionKind.QUALIFIED, f"{statement[1]}.{own}", weight)
            else:  # `from . import name` does not name the module
                yield QueryMention(MentionKind.SYMBOL, own, weight)
    for statement in _JS_IMPORT.finditer(text):
        for name in statement[1].split(","):
            own = re.match(r"\s*(?:type )?([A-Za-z_$][\w$]*)", name)
            if own:
                yield QueryMention(MentionKind.SYMBOL, own[1], weight)


def _find_paths(text: str, weight: float) -> Iterator[QueryMention]:
    for page in _BLOB.finditer(text):
        yield QueryMention(MentionKind.PATH, page[1], weight, int(page[2] or 0))
    plain = _WINDOWS.sub(lambda found: found[1].replace("\\", "/"), _URL.sub(" ", text))
    for path in _PATH.finditer(plain):
        if "/" not in plain[max(path.start() - 2, 0) : path.start()]:
            at = _LINE.match(plain, path.end())
            yield QueryMention(MentionKind.PATH, path[0].strip("./"), weight, int(at[1]) if at else 0)


def _find_members(text: str, weight: float) -> Iterator[QueryMention]:
    for dotted in _DOTTED.finditer(text):
        yield QueryMention(MentionKind.QUALIFIED, dotted[0], weight)
    for joined in _JOINED.finditer(text):
        yield QueryMention(MentionKind.QUALIFIED, re.sub(r"::|#|->", ".", joined[0]), weight)


def _find_options(text: str, weight: float) -> Iterator[QueryMention]:
    """Yield mentions of options and codes. `--max-retries` is `max_retries` and `maxRetries` in code."""
    for option in _OPTION.finditer(text):
        name = option[1].lower()
        yield QueryMention(MentionKind.SYMBOL, name.replace("-", "_"), weight * OPTION_WEIGHT)
        if "-" in name:
            yield QueryMention(MentionKind.SYMBOL, name.replace("-", ""), weight * OPTION_WEIGHT)
    for code in _CODE.finditer(text):
        yield QueryMention(MentionKind.CODE, code[0], weight)


def _find_identifiers(text: str, weight: float) -> Iterator[QueryMention]:
    for span in _CODE_SPAN.finditer(text):
        name = span[1].strip().rstrip("()").lstrip("@$")
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            yield QueryMention(MentionKind.SYMBOL, name, weight)
    for form in (_IDENTIFIER, _CALLED, _DECORATOR):
        for matched in form.finditer(text):
            yield QueryMention(MentionKind.SYMBOL, matched[matched.re.groups], weight)


_WORD = lazy_regex(r"\w+")
_QUOTED = lazy_regex(r"\"([^\"\n]{1,400})\"")
# Messages may contain quotes, so the outermost count. A single quote next to letters is an apostrophe.
_QUOTED_IN_TITLE = lazy_regex(
    r"`([^`\n]{1,400})`|(?<!\w)\"([^\n]{1,400})\"(?!\w)|(?<!\w)'([^\n]{1,400})'(?!\w)|[“„]([^”“\n]{1,400})[”“]"
)
_QUOTES = "`\"'“„"
_AUXILIARY = frozenset("does do did is are was were can could should would will has have had".split())  # noqa: SIM905
_ASKING = frozenset("where what which who whose how why explain describe show list find tell give".split())  # noqa: SIM905
# Second words that make no question: "could not be read", "is not a number", "has been removed".
_STATED = frozenset(["not", "been", "be"])
_FAILING = frozenset(
    """abort aborted aborting already bad cannot cant conflict conflicts corrupt corrupted denied deprecated disabled
    disallowed doesnt duplicate empty err error errors exceed exceeded exceeds exception expected expects expired fail
    failed failing fails failure fatal forbidden ignored ignoring illegal inaccessible incompatible incomplete
    incorrect inconsistent insufficient invalid malformed mismatch missing must mustnt no non none not nothing only
    outdated overflow refused rejected required requires restricted skipped skipping timed timeout too unable
    unauthorized unavailable undefined unexpected unhandled unknown unreachable unrecognised unrecognized unresolved
    unsupported unused warn warning without wont""".split()  # noqa: SIM905
)
# A message follows one of these words. After "why", only a message follows them.
_GIVING = frozenset(
    """get gets getting got see sees seeing saw say says saying said receive receives received receiving complain
    complains complaining fail fails failed failing with error errors exception exceptions warning warnings message
    messages""".split()  # noqa: SIM905
)
_MIN_GIVEN_WORDS = 4
_SEVERE = lazy_regex(r"(?i)\b(?:warn(?:ing)?|err(?:or)?|fatal|crit(?:ical)?|panic|severe|failed|exception)\b")
_MIN_WORDS = 3
_MIN_BARE_WORDS = 4
_MAX_CHARACTERS = 400  # characters of a message
_MAX_MESSAGES = 4


def find_messages(title: str, body: Sequence[QueryBlock], raised: Sequence[ExceptionMention]) -> list[tuple[str, bool]]:
    """Return the messages of a query, with the filled-in parts, and True for each that is certain.

    A message is certain in quotes or after the type of an error. Any other counts only if a literal contains it.
    Certain messages come first; there are at most `_MAX_MESSAGES`.
    """
    certain = dict.fromkeys(error.message for error in raised)
    words = _plain_words(title)
    if any(quote in title for quote in _QUOTES):
        groups = _QUOTED_IN_TITLE.findall(title)
        quoted = [text for group in groups if (text := next(filter(None, group), "")).count(" ") >= _MIN_WORDS - 1]
        # Quoted text is a message in a question, or if it is most of the title.
        if _is_asked(words) or 2 * sum(map(_n_words, quoted)) > _n_words(title):
            certain.update(dict.fromkeys(quoted))
    for block in body:
        if block.kind is BlockKind.PROSE and '"' in block.text:
            certain.update(dict.fromkeys(_QUOTED.findall(block.text)))
    certain_by_message = dict.fromkeys(_long_enough(certain, _MIN_WORDS), True)
    if not any(text in title for text in certain_by_message) and can_be_printed(title):
        for text in _long_enough([title], _MIN_BARE_WORDS):
            certain_by_message.setdefault(text, False)
    logged = [
        line
        for block in body
        if block.kind is BlockKind.OUTPUT and len(certain_by_message) < _MAX_MESSAGES
        for line in block.text.splitlines()
        if not title or _SEVERE.search(line)
    ]
    for text in _long_enough(logged[:_MAX_MESSAGES], _MIN_BARE_WORDS):
        certain_by_message.setdefault(text, False)
    return list(certain_by_message.items())[:_MAX_MESSAGES]


def can_be_printed(title: str) -> bool:
    """Return True if a title may be, or may contain, a message that a program printed.

    >>> [can_be_printed(t) for t in ("Could not read a.txt: no such file", "could the file be read twice?")]
    [True, False]
    >>> [can_be_printed(t) for t in ("why do I get host not found for shop", "why do I get nothing")]
    [True, False]
    >>> [can_be_printed(t) for t in ("reading of files in the shop", "files of the shop are missing")]
    [False, True]
    """
    words = _plain_words(title)
    if not _is_asked(words):
        return not _FAILING.isdisjoint(words) or ": " in title or any(quote in title for quote in _QUOTES)
    message = next((words[n + 1 :] for n, word in enumerate(words[:-_MIN_GIVEN_WORDS]) if word in _GIVING), [])
    return bool(message) and (words[0] == "why" or not _FAILING.isdisjoint(message))


def _is_asked(words: Sequence[str]) -> bool:
    """Return True if a sentence begins in the way a question does."""
    first, second = [*words[:2], "", ""][:2]
    if first == "when":
        return second in _AUXILIARY
    return first in _ASKING or (first in _AUXILIARY and second not in _STATED)


def _plain_words(title: str) -> list[str]:
    """Return the words of a title in lower case, without apostrophes and surrounding punctuation."""
    lowered = title[:_MAX_CHARACTERS].lower().replace("'", "").replace("’", "")
    return [plain for word in lowered.split() if (plain := word.strip('`"“”„.,:;!?()[]<>*-_|#'))]


def _long_enough(texts: Iterable[str], fewest: int) -> list[str]:
    cut = [text.strip()[:_MAX_CHARACTERS] for text in texts]
    return [text for text in dict.fromkeys(cut) if _n_words(text) >= fewest]


def _n_words(text: str) -> int:
    return len(_WORD.findall(text))
