"""What a program printed, as it stands in a question: messages of exceptions, quoted ones, lines of logs, bare ones.

A message may stand in a question with nothing that tells it: "Could not resolve host: shop.example". So a title may be
one that is not asked as questions are and speaks of what fails, and so may what follows "why do I get" and the like.
Whether it is one is decided by the code: what prints it has its words in a literal (`wording`).
"""

from collections.abc import Iterable, Sequence

from causalist._internal.lazy import expression
from causalist.rank.query.blocks import Block, BlockKind
from causalist.rank.query.tracebacks import Raised

_WORD = expression(r"\w+")
_QUOTED = expression(r"\"([^\"\n]{1,400})\"")
# Messages have quotes in them, so that the outermost count, and single ones are apostrophes beside letters.
_QUOTED_IN_TITLE = expression(
    r"`([^`\n]{1,400})`|(?<!\w)\"([^\n]{1,400})\"(?!\w)|(?<!\w)'([^\n]{1,400})'(?!\w)|[“„]([^”“\n]{1,400})[”“]"
)
_QUOTES = "`\"'“„"
_AUXILIARY = frozenset("does do did is are was were can could should would will has have had".split())  # noqa: SIM905
_ASKING = frozenset("where what which who whose how why explain describe show list find tell give".split())  # noqa: SIM905
# With these, what begins like a question is none: "could not be read", "is not a number", "has been removed".
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
# What is given stands after one of these. Only who asks why is given nothing else than a message.
_GIVING = frozenset(
    """get gets getting got see sees seeing saw say says saying said receive receives received receiving complain
    complains complaining fail fails failed failing with error errors exception exceptions warning warnings message
    messages""".split()  # noqa: SIM905
)
_FEWEST_GIVEN = 4
_SEVERE = expression(r"(?i)\b(?:warn(?:ing)?|err(?:or)?|fatal|crit(?:ical)?|panic|severe|failed|exception)\b")
_FEWEST_WORDS = 3
_FEWEST_WORDS_BARE = 4
_LONGEST = 400  # characters of a message
_MOST = 4


def messages_in(title: str, body: Sequence[Block], raised: Sequence[Raised]) -> list[tuple[str, bool]]:
    """The messages of a question, with what was filled in, and whether each is certain: in quotes or after the type of
    an error. Anything else counts only where it stands in a literal. Those first that are certain; at most `_MOST`."""
    certain = dict.fromkeys(error.message for error in raised)
    words = _plain_words(title)
    if any(quote in title for quote in _QUOTES):
        groups = _QUOTED_IN_TITLE.findall(title)
        quoted = [text for group in groups if (text := next(filter(None, group), "")).count(" ") >= _FEWEST_WORDS - 1]
        # Who asks quotes a message, and else it is most of what is said.
        if _is_asked(words) or 2 * sum(map(_n_words, quoted)) > _n_words(title):
            certain.update(dict.fromkeys(quoted))
    for block in body:
        if block.kind is BlockKind.PROSE and '"' in block.text:
            certain.update(dict.fromkeys(_QUOTED.findall(block.text)))
    found = dict.fromkeys(_long_enough(certain, _FEWEST_WORDS), True)
    if not any(text in title for text in found) and may_be_printed(title):
        for text in _long_enough([title], _FEWEST_WORDS_BARE):
            found.setdefault(text, False)
    logged = [
        line
        for block in body
        if block.kind is BlockKind.OUTPUT and len(found) < _MOST
        for line in block.text.splitlines()
        if not title or _SEVERE.search(line)
    ]
    for text in _long_enough(logged[:_MOST], _FEWEST_WORDS_BARE):
        found.setdefault(text, False)
    return list(found.items())[:_MOST]


def may_be_printed(title: str) -> bool:
    """Whether a title may be, or hold, what a program printed.

    >>> [may_be_printed(t) for t in ("Could not read a.txt: no such file", "could the file be read twice?")]
    [True, False]
    >>> [may_be_printed(t) for t in ("why do I get host not found for shop", "why do I get nothing")]
    [True, False]
    >>> [may_be_printed(t) for t in ("reading of files in the shop", "files of the shop are missing")]
    [False, True]
    """
    words = _plain_words(title)
    if not _is_asked(words):
        return not _FAILING.isdisjoint(words) or ": " in title or any(quote in title for quote in _QUOTES)
    given = next((words[n + 1 :] for n, word in enumerate(words[:-_FEWEST_GIVEN]) if word in _GIVING), [])
    return bool(given) and (words[0] == "why" or not _FAILING.isdisjoint(given))


def _is_asked(words: Sequence[str]) -> bool:
    """Whether a sentence begins as questions do."""
    first, second = [*words[:2], "", ""][:2]
    if first == "when":
        return second in _AUXILIARY
    return first in _ASKING or (first in _AUXILIARY and second not in _STATED)


def _plain_words(title: str) -> list[str]:
    """Its words in small letters, without apostrophes and what stands around them."""
    lowered = title[:_LONGEST].lower().replace("'", "").replace("’", "")
    return [plain for word in lowered.split() if (plain := word.strip('`"“”„.,:;!?()[]<>*-_|#'))]


def _long_enough(texts: Iterable[str], fewest: int) -> list[str]:
    cut = [text.strip()[:_LONGEST] for text in texts]
    return [text for text in dict.fromkeys(cut) if _n_words(text) >= fewest]


def _n_words(text: str) -> int:
    return len(_WORD.findall(text))
