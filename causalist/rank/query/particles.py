"""Verbs with a particle, which code writes in one word: who asks how users *log in* means `login`, and no log.

`particles.txt` has a verb, a particle and the word on each line. They may stand apart ("logs the user in") where the
particle ends what is said. What reads like one by chance ("the log in the folder") has a thing behind the particle.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from causalist._internal.lazy import expression
from causalist.rank.terms import stem

# What a verb and its particle count where they only stand together: "sign", "log" and "back" say something else alone.
APART_SHARE = 0.35
# What the word counts that they make, beside one that was written.
JOINED_SHARE = 0.8
_FARTHEST = 4  # words between the two
_WORD_OR_END = expression(r"[A-Za-z]+|[.,;:?!()\n]")
# What may stand behind a particle that is no preposition.
_BEHIND = frozenset({
    "to", "with", "as", "via", "using", "by", "through", "and", "or", "but", "when", "while", "after", "before", "if",
    "unless", "until", "because", "from", "again", "first", "only", "automatically", "successfully", "twice", "once",
    "page", "form", "flow", "screen", "button", "attempt", "attempts", "fails", "failed",
})  # fmt: skip
_DETERMINERS = frozenset({
    "a", "an", "the", "this", "that", "each", "every", "any", "some", "no", "its", "his", "her", "their", "my", "our",
    "your",
})  # fmt: skip
_PREPOSITIONS = frozenset({
    "of", "for", "to", "from", "with", "at", "by", "in", "on", "into", "over", "under", "between",
})  # fmt: skip
_PEOPLE = frozenset({
    "user", "users", "customer", "customers", "admin", "admins", "member", "members", "account", "accounts", "people",
    "person",
})  # fmt: skip
_AMBIGUOUS = frozenset({"in", "on", "over", "through", "around"})  # prepositions as well


class JoinedVerb(NamedTuple):
    """A verb with its particle. `word`: the term that they make; `apart`: the term where a name has them in two words
    (`sign_in`), as Python and Ruby write it."""

    verb: str  # its stem
    particle: str
    word: str
    apart: str


@lru_cache(maxsize=1)
def _words() -> dict[tuple[str, str], JoinedVerb]:
    """By the stem of the verb and the particle."""
    lines = Path(__file__).with_name("particles.txt").read_text(encoding="utf-8").splitlines()
    return {
        (stem(verb), particle): JoinedVerb(stem(verb), particle, stem(word), f"{verb}_{particle}")
        for verb, particle, word in map(str.split, lines)
    }


@lru_cache(maxsize=1)
def _particles() -> frozenset[str]:
    return frozenset(particle for _, particle in _words())


def joined_verbs(text: str) -> list[JoinedVerb]:
    """Each verb that stands with its particle, in the order of the verbs.

    >>> [tuple(verb) for verb in joined_verbs("how does a user log in, and who backs the old index up")]
    [('log', 'in', 'login', 'log_in'), ('back', 'up', 'backup', 'back_up')]
    >>> joined_verbs("where is the log in the folder"), joined_verbs("checks in the cache")
    ([], [])
    """
    words = [word.lower() for word in _WORD_OR_END.findall(text)]
    if _particles().isdisjoint(words):
        return []
    found: list[JoinedVerb] = []
    for i, verb in enumerate(words):
        for j in range(i + 1, min(i + 2 + _FARTHEST, len(words))):
            if not words[j].isalpha():
                break
            joined = _words().get((stem(verb), words[j])) if words[j] in _particles() else None
            if joined is not None and _belongs(words, i, j):
                found.append(joined)
                break
            if words[j] in _PREPOSITIONS:
                break
    return found


def _belongs(words: list[str], verb: int, particle: int) -> bool:
    """Whether the particle belongs to the verb, and not to what follows it."""
    behind = list(takewhile(str.isalpha, words[particle + 1 : particle + 3]))
    ends = not behind or behind[0] in _BEHIND
    if particle > verb + 1:
        is_noun = verb > 0 and words[verb - 1] in _DETERMINERS
        return ends and not is_noun
    if words[particle] not in _AMBIGUOUS or ends:
        return True
    return not _PEOPLE.isdisjoint(behind[:1] if behind[0] not in _DETERMINERS else behind[1:])


def alone(text: str, found: Sequence[JoinedVerb]) -> set[str]:
    """Of the verbs and particles of `found`, those that stand nowhere in `text` without each other."""
    if not found:
        return set()
    joined = Counter(part for verb in found for part in (verb.verb, verb.particle))
    written = Counter(stem(word.lower()) for word in _WORD_OR_END.findall(text))
    return {part for part, n in joined.items() if written[part] <= n}
