"""Courtesy phrases, verbs with a particle, and learned weights of query words.

None of these depend on the repository.

Phrases of courtesy and of the form of asking say nothing of the subject. They begin, soften or end a query. A word of
such a phrase counts if it occurs elsewhere.

Code writes a verb with a particle in one word: a query about how users *log in* means `login`, not a log.
`particles.txt` has a verb, a particle and the joined word on each line. Verb and particle may be separated ("logs the
user in") if the particle ends the statement. In a chance match ("the log in the folder") a noun follows the particle.

Rare words count more than others, and BM25 knows nothing else. But a word can be rare in code because people say it
about code and do not write it there: "improve", "wrong", "several". `word_weights.txt` has the weights of such words,
and of words that are more informative than their rarity, in percent; tests/benchmarks/mined/words.py learns them from
histories.

Histories are written by people who know the code. A short query has no superfluous words, and its author may not know
the code. There the weight is the square root of the learned one, and at most 1.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import takewhile
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.rank.terms import stem

_FOR = r"for (?:your|the|this|all)(?: \w+){1,5}"
_COURTESY = lazy_regex(
    r"\b(?:hi|hello|hey|dear|good (?:morning|day|evening))\b"
    r"(?: (?:there|all|everyone|everybody|team|folks|guys))?[ ]?[,!.:]"
    rf"|\b(?:many |big )?thank(?:s| you)\b(?: (?:a lot|so much|very much|in advance|again|{_FOR}))?"
    r"|\b(?:kind |best )?regards\b|\bcheers\b[,!.]"
    r"|\bany (?:help|ideas?|hints?|pointers?|feedback|thoughts|suggestions?|advice|workarounds?)\b"
    r"(?: (?:is|are|would be|will be)(?: (?:much|greatly|highly))? (?:appreciated|welcome))?"
    r"|\bplease(?: let me know)?\b|\blet me know(?: if [^.!?\n]{0,80})?"
    r"|\b(?:i am|i'm|i would be|i'd be|happy|glad|willing) (?:happy |glad |willing )?to "
    r"(?:open|submit|send|make|create|provide|contribute|work on|help)\b[^.!?\n]{0,80}"
    r"|\b(?:i|we)(?: would|'d) (?:expect|like|love|appreciate|prefer|suggest|propose|assume|think)\b"
    r"(?: (?:that|it if|to see|to have))?"
    r"|\bit would be (?:very |really |so )?(?:nice|great|good|helpful|useful|cool|awesome|better|handy)\b"
    r"(?: (?:if|to have|to))?"
    r"|\b(?:is there|are there) (?:any|a|some) (?:way|chance|plans?|reason|possibility)\b"
    r"|\bis it possible (?:to|that)\b"
    r"|\bam i (?:missing|doing) something(?: wrong)?|\bas far as i (?:can tell|know|see|understand)\b"
    r"|\bi(?: a|')m not sure\b"
    r"|\bi (?:think|guess|believe|suppose|noticed|found|tried|assume|wonder|hope)(?: out)?\b(?: that)?"
    r"|\bgreat (?:work|project|library|job)\b|\b(?:could|can|would) (?:you|someone|anyone|somebody)\b"
    r"|\b(?:do|did|have) (?:you|someone|anyone)\b|\bsorry (?:if|for|about)\b",
    re.I,
)
_THING = r"(?:code|codebase|code base|functions?|methods?|class(?:es)?|files?|modules?|places?|logic|parts?|pieces?)"
_PROGRAM = r"(?:app|application|program|software|system|tool|project|library|product)"
_COMES_TO_KNOW = r"(?:know|decide|determine|notice|tell|make sure|(?:figure|work|find) out)"
_ASKING = lazy_regex(
    r"\bwhere (?:exactly )?in the (?:code base|codebase|code|source|sources|repo|repository|project)\b"
    # "which function or method that is responsible for"
    rf"|\b(?:the|a|which|what) (?:(?:piece|part|bit) of )?(?:the )?{_THING}(?:(?: (?:or|and) |/|, ){_THING})* "
    r"(?:that(?: is| are)?|which(?: is| are)?|where|(?:is |are )?(?:responsible|in charge)(?: for)?"
    r"|(?:is |are )?involved(?: in)?)\b(?: (?:responsible|in charge)(?: for)?)?"
    r"(?: (?:does|do|handles?|implements?|deals? with|takes care of)\b)?"
    r"|\b(?:show|tell|help|point|guide|walk) (?:me|us)\b"
    r"(?: (?:to|through|how|out|with))?(?: (?:understand|find|locate|see))?"
    r"|\b(?:i am|i'm|i was|we are|we're) (?:new to|trying to|looking for|wondering|interested in)\b"
    r"(?: (?:find|understand|locate|figure out|see|know))?"
    r"(?: this (?:project|code base|codebase|code|repo|repository|library))?"
    r"|\bi (?:want|need|wish) to (?:understand|know|find|see|locate)\b"
    r"|\bwhere (?:should|do|can|could) (?:i|we) (?:look|start|find)\b"
    r"|\b(?:how|where|why) (?:does )?(?:this|that|it|the following) (?:works?|happens?|is done)\b"
    r"|\b(?:this|that|the following) is (?:located|implemented|handled|defined|done)\b"
    r"|\b(?:located|implemented|defined)\b(?=\s*[?:])"
    # "how does the app decide": whose program it is and that it does something is clear
    rf"|\b(?:does|do|did|will|would|can|could) (?:(?:the|this|your|our) {_PROGRAM}\b(?: {_COMES_TO_KNOW}\b)?"
    rf"|it {_COMES_TO_KNOW}\b)",
    re.I,
)


# Each phrase contains one of these, in lower case. Most queries contain none, so that the expressions need not be
# compiled, which would take longer than many an answer.
_OF_COURTESY = (
    "hi", "hello", "hey", "dear", "good ", "thank", "regards", "cheers", "any ", "please", "let me know", "i am ",
    "i'm ", "i would be ", "i'd be ", "happy ", "glad ", "willing ", " would ", "i'd ", "we'd ", "would be",
    "there ", "possible", "am i ", "as far as", "not sure", "i think", "i guess", "i believe", "i suppose",
    "i noticed", "i found", "i tried", "i assume", "i wonder", "i hope", "great ", "could ", "can ", "would ",
    "you", "someone", "anyone", "sorry ",
)  # fmt: skip
_OF_ASKING = (
    "in the ", "code", "function", "method", "class", "file", "module", "place", "logic", "part", "piece", "show ",
    "tell ", "help ", "point ", "guide ", "walk ", "new to", "trying to", "looking for", "wondering",
    "interested in", "i want to", "i need to", "i wish to", "where should ", "where do ", "where can ",
    "where could ", "this ", "that ", "it ", "the following ", "located", "implemented", "defined",
    " app", " program", " software", " system", " tool", " project", " library", " product",
)  # fmt: skip


def without_phrases(text: str) -> str:
    """Return prose without courtesy and without the form of asking.

    >>> without_phrases("Hi all! Where in the code are users defined? Thanks in advance").split()
    ['are', 'users', '?']
    >>> without_phrases("how does the app decide who may read").split()
    ['how', 'who', 'may', 'read']
    """
    for expression_of, words in ((_COURTESY, _OF_COURTESY), (_ASKING, _OF_ASKING)):
        # A character beyond ASCII may be another form of a letter.
        lowered = text.lower()
        if not text.isascii() or any(word in lowered for word in words):
            text = expression_of.sub(" ", text)
    return text


# Weight of a verb and a particle that occur only together: "sign", "log" and "back" mean something else alone.
APART_SHARE = 0.35
# Weight of the joined word, relative to a written word.
JOINED_SHARE = 0.8
_MAX_WORDS_BETWEEN = 4  # words between verb and particle
_WORD_OR_END = lazy_regex(r"[A-Za-z]+|[.,;:?!()\n]")
# Words that may follow a particle that is no preposition.
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
    """A verb with its particle.

    `word`: the term of both in one word; `apart`: the term if a name has them in two words (`sign_in`), as Python and
    Ruby write it.
    """

    verb: str  # its stem
    particle: str
    word: str
    apart: str


@lru_cache(maxsize=1)
def _words() -> dict[tuple[str, str], JoinedVerb]:
    """Return the joined verbs by the stem of the verb and the particle."""
    lines = Path(__file__).with_name("particles.txt").read_text(encoding="utf-8").splitlines()
    return {
        (stem(verb), particle): JoinedVerb(stem(verb), particle, stem(word), f"{verb}_{particle}")
        for verb, particle, word in map(str.split, lines)
    }


@lru_cache(maxsize=1)
def _particles() -> frozenset[str]:
    return frozenset(particle for _, particle in _words())


def joined_verbs(text: str) -> list[JoinedVerb]:
    """Return each verb that occurs with its particle, in the order of the verbs.

    >>> [tuple(verb) for verb in joined_verbs("how does a user log in, and who backs the old index up")]
    [('log', 'in', 'login', 'log_in'), ('back', 'up', 'backup', 'back_up')]
    >>> joined_verbs("where is the log in the folder"), joined_verbs("checks in the cache")
    ([], [])
    """
    words = [word.lower() for word in _WORD_OR_END.findall(text)]
    if _particles().isdisjoint(words):
        return []
    result: list[JoinedVerb] = []
    for i, verb in enumerate(words):
        for j in range(i + 1, min(i + 2 + _MAX_WORDS_BETWEEN, len(words))):
            if not words[j].isalpha():
                break
            joined = _words().get((stem(verb), words[j])) if words[j] in _particles() else None
            if joined is not None and _is_particle_of(words, i, j):
                result.append(joined)
                break
            if words[j] in _PREPOSITIONS:
                break
    return result


def _is_particle_of(words: list[str], verb: int, particle: int) -> bool:
    """Return True if the particle belongs to the verb and not to the words after it."""
    behind = list(takewhile(str.isalpha, words[particle + 1 : particle + 3]))
    ends = not behind or behind[0] in _BEHIND
    if particle > verb + 1:
        is_noun = verb > 0 and words[verb - 1] in _DETERMINERS
        return ends and not is_noun
    if words[particle] not in _AMBIGUOUS or ends:
        return True
    return not _PEOPLE.isdisjoint(behind[:1] if behind[0] not in _DETERMINERS else behind[1:])


def parts_only_joined(text: str, verbs: Sequence[JoinedVerb]) -> set[str]:
    """Return the parts of `verbs` that occur in `text` only together."""
    if not verbs:
        return set()
    joined = Counter(part for verb in verbs for part in (verb.verb, verb.particle))
    n_occurrences = Counter(stem(word.lower()) for word in _WORD_OR_END.findall(text))
    return {part for part, n in joined.items() if n_occurrences[part] <= n}


# Words. A query with more is a long one.
MAX_SHORT_QUERY_WORDS = 14


def _weights(words: Collection[str]) -> dict[str, float]:
    """Return the weights of those `words` that have one.

    A few words are searched for in the file: parsing all of it takes ten times as long.
    """
    if len(words) > MAX_SHORT_QUERY_WORDS:
        return _all_weights()
    weight_by_word = {word: _find_weight(f"\n{word} ") for word in words if word.isalnum()}
    return {word: weight for word, weight in weight_by_word.items() if weight is not None}


@lru_cache(maxsize=1)
def _text() -> str:
    return "\n" + Path(__file__).with_name("word_weights.txt").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _all_weights() -> dict[str, float]:
    return {word: int(percent) / 100 for word, percent in map(str.split, _text().splitlines()[1:])}


def _find_weight(beginning: str) -> float | None:
    text = _text()
    at = text.find(beginning)
    return None if at < 0 else int(text[at + len(beginning) : text.index("\n", at + 1)]) / 100


def word_weights(terms: Iterable[str]) -> dict[str, float]:
    """Return the weight of each term of a query.

    The weight is 1 for most terms, less for words about code, and more for words that are likely in it.
    """
    words = list(terms)
    weights = _weights(words)
    if len(words) > MAX_SHORT_QUERY_WORDS:
        return {term: weights.get(term, 1.0) for term in words}
    return {term: min(sqrt(weights.get(term, 1.0)), 1.0) for term in words}
