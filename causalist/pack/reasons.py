"""Reasons -> words for people: `says token, user; linked to others that fit` instead of names of signals.

Signals that say the same to a reader share a phrase and are said once, in the place of what they give together. Their
names and values are in the answer itself, and in `--explain`.
"""

from collections.abc import Sequence
from operator import itemgetter

from causalist.model.scores import Reason

# The signal of what only the graph led to, and that of what words found and the graph supports.
LEADING = "pagerank"
_SUPPORT = "graph"

# (with a detail, without one), by signal; `{}` is the detail.
_TEXT = ("says {}", "its words fit")
_NAME = ("named for {}", "its name fits")
_WITHIN = ("its definitions say {}", "its definitions fit")
_HOLDS = ("holds {}", "its own lines fit")
_FILE = ("its file leads: {}", "its file leads")
PHRASES = {
    "text": _TEXT,
    "coverage": _TEXT,
    "title": _TEXT,
    "name": _NAME,
    "name share": _NAME,
    "name coverage": _NAME,
    "path": ("{} in its path", "its path fits"),
    "around": ("inside of what says {}", "what encloses it fits"),
    "file text": ("its file says {}", "its file's words fit"),
    "file": _FILE,
    "file place": _FILE,
    "found file": _FILE,
    "named around": ("inside of what the question names: {}", "inside of what the question names"),
    "identifiers": ("has {}", "has names from the question"),
    "uses named": ("uses {}", "uses what the question names"),
    "definitions": _WITHIN,
    "best definition": _WITHIN,
    "leading definition": _HOLDS,
    "leading definitions": _HOLDS,
    "leading place": _HOLDS,
    "mention": ("the question names it: {}", "the question names it"),
    "looked up": ("it is what is asked for: {}", "it is what is asked for"),
    "literal": ("matches {}", "matches"),
    "frame": ("in the traceback: {}", "in the traceback"),
    "synonyms": ("says it in other words: {}", "says it in other words"),
    "leads": ("says what such code says: {}", "says what such code says"),
    "tests": ("its tests say {}", "its tests fit"),
    "expansion": ("shares {} with what fits best", "shares words with what fits best"),
    "messages": ("commits to it say {}", "commits to it say so"),
    "similar commits": ("changed by similar commits {}", "changed by similar commits"),
    "dense": ("near in meaning: {}", "near in meaning"),
    "graph": ("linked to {}", "linked to others that fit"),
    "pagerank": ("{}", "reached over the graph"),
}


def phrases(reasons: Sequence[Reason], linked: Sequence[str] = ()) -> tuple[str, ...]:
    """What reasons say, the strongest first; a way over the graph that leads them stays there. What a result is linked
    to, which `linked` names, comes behind the first words that it has of the question: they can be checked at sight. So
    does that its file leads, which all definitions of the file share. A signal without a phrase is said by its name.

    >>> phrases([Reason("file", 2.0, ""), Reason("text", 1.5, "token, user"), Reason("title", 1.0, "user, id")])
    ('says token, user, id', 'its file leads')
    >>> phrases([Reason("found file", 3.0, ""), Reason("graph", 2.0, ""), Reason("text", 0.5, "agent")])
    ('says agent', 'its file leads', 'linked to others that fit')
    >>> phrases([Reason("graph", 1.0, "")], ["load", "save"])
    ('linked to load, save',)
    >>> phrases([Reason("graph", 2.0, ""), Reason("name", 1.0, ""), Reason("text", 0.5, "agent")], ["load"])
    ('says agent', 'linked to load', 'its name fits')
    >>> phrases([Reason("graph", 2.0, ""), Reason("name", 1.0, ""), Reason("text", 0.5, "agent")])
    ('its name fits', 'says agent', 'linked to others that fit')
    """
    details: dict[tuple[str, str], list[str]] = {}
    given: dict[tuple[str, str], float] = {}
    for reason in reasons:
        phrase = PHRASES.get(reason.signal, (f"{reason.signal}: {{}}", reason.signal))
        details.setdefault(phrase, []).append(", ".join(linked) if reason.signal == _SUPPORT else reason.detail)
        given[phrase] = given.get(phrase, 0.0) + reason.value
    leads = [PHRASES[LEADING]] if LEADING in (reason.signal for reason in reasons[:1]) else []
    order = dict.fromkeys([*leads, *(phrase for phrase, _ in sorted(given.items(), key=itemgetter(1), reverse=True))])
    said = [(phrase, _joined([detail for detail in details[phrase] if detail])) for phrase in order]
    links = [each for each in said if each[0] == PHRASES[_SUPPORT]]
    if links and not links[0][1]:
        # That it is linked to something says little beside anything else.
        said = [*(each for each in said if each not in links), *links]
    if said and said[0][0] in (PHRASES[_SUPPORT], _FILE):
        words = [each for each in said if each[1] and each[0] not in (PHRASES[_SUPPORT], _FILE)]
        own = [each for each in words if each[0] != PHRASES["file text"]]
        said = list(dict.fromkeys([*(own or words)[:1], *said]))
    return tuple(with_detail.replace("{}", detail) if detail else bare for (with_detail, bare), detail in said)


def _joined(details: Sequence[str]) -> str:
    """Details of signals that say the same: lists of words become one, each word once."""
    if len(details) < 2:
        return "".join(details)
    return ", ".join(dict.fromkeys(part for detail in details for part in detail.split(", ")))
