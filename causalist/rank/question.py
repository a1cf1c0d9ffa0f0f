"""What a question says: weighted terms, and the things that it names outright.

A long question is a title (its first line) and a body. Names are looked for in the forms in which people paste them:
identifiers, `Class.method`, `a.b.c`, `from a.b import c`, paths, and traceback frames.
"""

import re
from collections import Counter
from dataclasses import dataclass

from causalist.model.answer import Route
from causalist.rank.terms import STOP_WORDS, stem, terms_of

_WORD = re.compile(r"\w+")
_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]+_\w+|_+[A-Za-z]\w*|[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w+)\b")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")
_CODE_SPAN = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b")
_FROM_IMPORT = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+\(?([\w, ]+)")
# 255 is the longest name of a file. Without a limit a text of hyphens would take time in the square of its length.
_PATH = re.compile(
    r"(?<![\w/])(?:[\w.@-]{1,255}/)+[\w.@-]{1,255}|\b[\w-]{1,255}\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|md|json|toml)\b"
)
_URL = re.compile(r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S{1,2000}", re.IGNORECASE)
_FRAME = re.compile(
    r"File \"([^\"\n]+)\", line \d+(?:, in (\w+))?|^[^\S\n]+at (?:async )?(?:([\w.$<>]+) )?\(?([^\s()]+):\d+:\d+\)?",
    re.M,
)
_EXPRESSION = re.compile(r"/([^\n]+)/(i?)")
_QUOTED_WHOLE = re.compile(r"([\"'])([^\n]+)\1")
_QUOTED = re.compile(r"\"([^\"\n]{1,200})\"")
_SHORTEST_QUOTED = 3
_MOST_QUOTED = 3
_EXPLORATORY = frozenset(["overview", "architecture", "structure", "organised", "organized", "layout"])
_MULTI_HOP = re.compile(
    r"\bwhy\b|\bhow (?:does|do|is|are)\b.*\b(?:reach|become|becomes|turn|get|end up)\b|\baffects?\b|related to"
)
_LETTERS = re.compile(r"[A-Za-z]+")
_BEHAVIOUR = re.compile(
    r"(where|how|when|why|what)\s+(do|does|did|is|are|was|were|gets?|happens|makes?|limits?|decides?)\b"
)
_LONGEST = 20_000  # characters of a question that are read
_LONGEST_TITLE = 3_000  # characters of a title that decide the route
_LONGEST_ABBREVIATED = 3_000
_SHORTEST_ABBREVIATED = 6
_SHORTEST_ABBREVIATION = 3

TITLE_WEIGHT = 2.0  # chosen by hand: a title says what the body explains
ABBREVIATION_WEIGHT = 0.25  # measured on the development questions, see docs/benchmarks.md
BODY_SATURATION = 1.0  # a term that is repeated counts 1 + ln(occurrences) times this


@dataclass(frozen=True, slots=True)
class Named:
    """Something that a question names: `kind` is "symbol", "qualified", "path" or "frame"; weight in (0, 1]."""

    kind: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text or a regular expression to look for as it stands. `alone`: it is all of the question."""

    text: str
    is_expression: bool = False
    ignore_case: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """`terms`: weight by term; `written`: the word that a term comes from. `abbreviations`: weight by word that may
    stand for a longer word of the question. `title_terms`: those of the title. `named`: each once, those of the title
    first. `asks_for_behaviour`: the question is about what happens, so that code which runs answers it rather than a
    declaration. `patterns` are looked for in the text of files."""

    text: str
    terms: dict[str, float]
    abbreviations: dict[str, float]
    written: dict[str, str]
    title_terms: frozenset[str]
    named: tuple[Named, ...]
    route: Route
    asks_for_behaviour: bool
    patterns: tuple[Pattern, ...] = ()

    @property
    def is_pattern(self) -> bool:
        """Whether nothing but a pattern is asked for."""
        return any(pattern.alone for pattern in self.patterns)


def read_question(text: str) -> Question:
    """Terms and names of a question; deterministic, no repository needed."""
    text = text[:_LONGEST]
    title, _, body = text.strip().partition("\n")
    patterns = _patterns(text.strip(), title)
    title_counts = _term_counts(title)
    counts = _term_counts(body)
    weights: dict[str, float] = {}
    for term in sorted(set(title_counts) | set(counts)):
        weight = TITLE_WEIGHT if term in title_counts and counts else float(term in title_counts)
        if term in counts:
            weight += _saturated(counts[term])
        weights[term] = weight
    named = _named(title, 1.0) + _named(body, 0.6)
    unique = {(n.kind, n.text): n for n in reversed(named)}
    ordered = tuple(n for n in dict.fromkeys(named) if unique[n.kind, n.text] is n)
    return Question(
        text=text,
        terms=weights,
        abbreviations=_abbreviations(text, weights),
        written=_written(text),
        title_terms=frozenset(title_counts),
        named=ordered,
        route=Route.LOOKUP if any(p.alone for p in patterns) else _route(title, ordered, bool(body.strip())),
        patterns=patterns,
        asks_for_behaviour=bool(_BEHAVIOUR.match(title.lower())),
    )


def _patterns(text: str, title: str) -> tuple[Pattern, ...]:
    """`"literal"` or `/expression/` as the whole question, or literals in double quotes inside of its title.

    >>> _patterns('/retry_.*_policy/i', '')[0], _patterns('why "E108"?', 'why "E108"?')[0].text
    (Pattern(text='retry_.*_policy', is_expression=True, ignore_case=True, alone=True), 'E108')
    """
    expression = _EXPRESSION.fullmatch(text)
    if expression:
        return (Pattern(expression[1], is_expression=True, ignore_case=bool(expression[2]), alone=True),)
    whole = _QUOTED_WHOLE.fullmatch(text)
    if whole:
        return (Pattern(whole[2], alone=True),)
    quoted = dict.fromkeys(q.strip() for q in _QUOTED.findall(title))
    return tuple(Pattern(q) for q in quoted if len(q) >= _SHORTEST_QUOTED)[:_MOST_QUOTED]


def _written(text: str) -> dict[str, str]:
    """The shortest word of the question that each term comes from."""
    written: dict[str, str] = {}
    for word in _WORD.findall(text):
        for term in terms_of(word):
            if len(word) < len(written.get(term, word + "x")):
                written[term] = word.lower() if word.istitle() else word
    return written


def _abbreviations(text: str, weights: dict[str, float]) -> dict[str, float]:
    """Beginnings of the question's longer words: `auth` for authentication, `req` for request."""
    found: dict[str, float] = {}
    for word in sorted({w.lower() for w in _LETTERS.findall(text[:_LONGEST_ABBREVIATED])}):
        if len(word) < _SHORTEST_ABBREVIATED or word in STOP_WORDS:
            continue
        weight = ABBREVIATION_WEIGHT * weights.get(stem(word), 1.0)
        for length in range(_SHORTEST_ABBREVIATION, len(word) - 2):
            if word[:length] not in weights:
                found[word[:length]] = max(found.get(word[:length], 0.0), weight)
    return found


def _saturated(count: int) -> float:
    from math import log

    return 1.0 + BODY_SATURATION * log(count)


def _term_counts(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text):
        if word.lower() in STOP_WORDS or len(word) > 80 or len(word) == 1:
            continue
        for term in terms_of(word):
            if term not in STOP_WORDS and (len(term) > 1):
                counts[term] += 1
    return counts


def _named(text: str, weight: float) -> list[Named]:
    found: list[Named] = []
    for frame in _FRAME.finditer(text):
        path, function = frame[1] or frame[4], frame[2] or frame[3]
        found.append(Named("frame", path.replace("\\", "/"), weight))
        if function and function != "<module>":
            found.append(Named("symbol", function.rpartition(".")[2], weight * 0.5))
    for statement in _FROM_IMPORT.finditer(text):
        for name in statement[2].split(","):
            if not name.strip():
                continue
            own = name.split()[0]
            if statement[1].strip("."):
                found.append(Named("qualified", f"{statement[1]}.{own}", weight))
            else:  # `from . import name` does not say where
                found.append(Named("symbol", own, weight))
    plain = _URL.sub(" ", text)
    for path in _PATH.finditer(plain):
        if "/" not in plain[max(path.start() - 2, 0) : path.start()]:
            found.append(Named("path", path[0].strip("./"), weight))
    for dotted in _DOTTED.finditer(text):
        found.append(Named("qualified", dotted[0], weight))
    for span in _CODE_SPAN.finditer(text):
        name = span[1].strip().rstrip("()")
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            found.append(Named("symbol", name, weight))
    for matched in _IDENTIFIER.finditer(text):
        found.append(Named("symbol", matched[0], weight))
    for matched in _CALLED.finditer(text):
        found.append(Named("symbol", matched[1], weight))
    return found


def _route(title: str, named: tuple[Named, ...], has_body: bool) -> Route:
    words = title.lower().split()
    for n in named:
        # "client/server" is a way of writing; a path that is looked up ends in a file's name.
        if n.kind == "frame" or (n.kind == "path" and "." in n.text.rpartition("/")[2]):
            return Route.LOOKUP
        if n.kind in ("symbol", "qualified") and len(words) <= 3:
            return Route.LOOKUP
    if not has_body and len(words) <= 6 and _EXPLORATORY & {stem_free.strip("?.,") for stem_free in words}:
        return Route.EXPLORATORY
    if _MULTI_HOP.search(title[:_LONGEST_TITLE].lower()):
        return Route.MULTI_HOP
    return Route.SIMPLE


def question_asks_for(question: Question, words: tuple[str, ...]) -> bool:
    """Whether the question is about something that usually ranks lower, such as tests."""
    return any(stem(word) in question.title_terms or word in question.title_terms for word in words)
