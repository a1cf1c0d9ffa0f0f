"""Regular expressions that can match one text in very many ways, by the automaton of their positions.

A backtracking matcher that fails has tried every way in which a text can be matched. An expression is *exponential* if
one of its loops can go round in two ways by the same text: then n rounds have 2 to the n ways. It is *polynomial* if
two loops, one after the other, can share a text: then it can be cut between them at every place.

The automaton has a state for each character of the expression (Glushkov's construction), and an edge counts how many
ways lead from one to the next without a character between them. An atomic or possessive part matches in one way. What
looks around or is remembered is taken to hold, but for one character that must not follow. So some of what is found is
not there.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_COPIED = 4  # a repetition up to so often is written out; any other goes round without an end
_SAMPLE = "aqzAQZ059_ \n\t\r\0!-./,:;'\"`\\()[]{}<>=+*&#@~é日Ω\x85"
_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
_CHARACTERS = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)
_Pair = tuple[int, int]


class Fault(NamedTuple):
    """`kind` is "exponential" or "polynomial"; `lead` followed by many times `text` is a text that shows it."""

    kind: str
    lead: str
    text: str


def faults_of(pattern: str | bytes, flags: int = 0) -> list[Fault]:
    """Where an expression is worse than linear. Each of several loops is named once."""
    tree = _parser.parse(pattern, flags)
    flags = tree.state.flags | (re.ASCII if isinstance(pattern, bytes) else 0)
    found: list[Fault] = []
    waiting = [(tree, flags)]
    while waiting:  # what looks around is an expression of its own
        each, these = waiting.pop()
        automaton = _Automaton(_alphabet(each), waiting)
        automaton.build(each, these)
        found += automaton.exponential() + automaton.polynomial()
    return found


@dataclass
class _Part:
    """In how many ways a part matches nothing, and the states that it begins and ends with."""

    empty: int = 0
    first: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)


class _Automaton:
    def __init__(self, alphabet: str, others: list[tuple[Any, int]]) -> None:
        self._alphabet = alphabet
        self._others = others
        self._reads: list[frozenset[str]] = []
        self._edges: Counter[_Pair] = Counter()
        self._never_next: dict[int, frozenset[str]] = {}  # characters that must not follow a state
        self._atomic: dict[int, int] = {}  # the outermost atomic part that a state is in

    def build(self, tree: Any, flags: int) -> None:
        self._first = set(self.add(tree, flags).first)

    def add(self, tree: Iterable[tuple[Any, Any]], flags: int) -> _Part:
        whole = _Part(1)
        refused: frozenset[str] = frozenset()  # by what looks ahead just before
        is_character = False  # what was just before
        for operator, value in tree:
            was_character, is_character = is_character, operator in _CHARACTERS
            if operator is sre.ASSERT_NOT and value[0] == 1 and len(value[1]) == 1 and value[1][0][0] in _CHARACTERS:
                refused = self._characters(*value[1][0], flags)
                if was_character:
                    self._never_next[len(self._reads) - 1] = refused
                continue
            whole = self._joined(whole, self._part(operator, value, flags))
            if is_character:
                self._reads[-1] -= refused
            refused = frozenset()
        return whole

    def _characters(self, operator: Any, value: Any, flags: int) -> frozenset[str]:
        return frozenset(c for c in self._alphabet if _reads(operator, value, c, flags))

    def _part(self, operator: Any, value: Any, flags: int) -> _Part:
        if operator in _CHARACTERS:
            self._reads.append(self._characters(operator, value, flags))
            state = len(self._reads) - 1
            return _Part(0, Counter([state]), Counter([state]))
        if operator is sre.BRANCH:
            return _either([self.add(branch, flags) for branch in value[1]])
        if operator is sre.SUBPATTERN:
            return self.add(value[3], (flags | value[1]) & ~value[2])
        if operator is sre.ATOMIC_GROUP:
            return self._in_one_way(value, flags, 1, 1)
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self._repeated(value[2], flags, value[0], value[1])
        if operator is sre.POSSESSIVE_REPEAT:
            return self._in_one_way(value[2], flags, value[0], value[1])
        if operator in (sre.ASSERT, sre.ASSERT_NOT):
            self._others.append((value[1], flags))
        if operator is sre.GROUPREF_EXISTS:
            return _either([self.add(value[1], flags), self.add(value[2] or [], flags)])
        return _Part(1)  # an anchor, a reference

    def _repeated(self, tree: Any, flags: int, least: int, most: Any) -> _Part:
        if most is not sre.MAXREPEAT and most <= _COPIED:
            rest = _Part(1)
            for n in range(int(most), 0, -1):
                rest = self._joined(self.add(tree, flags), rest)
                if n > least:
                    rest = _either([rest, _Part(1)])
            return rest
        part = self.add(tree, flags)
        for (a, m), (b, n) in product(part.last.items(), part.first.items()):
            self._edges[a, b] += m * n
        return _Part(part.empty + 1 if least == 0 else part.empty, part.first, part.last)

    def _in_one_way(self, tree: Any, flags: int, least: int, most: Any) -> _Part:
        """An atomic part. What it does inside of itself is looked at by itself."""
        self._others.append((tree, flags))
        before, edges = len(self._reads), Counter(self._edges)
        part = self._repeated(tree, flags, least, most)
        for edge in self._edges.keys() - edges.keys():
            self._edges[edge] = 1
        self._atomic.update(dict.fromkeys(range(before, len(self._reads)), before))
        return _Part(min(1, part.empty), Counter(set(part.first)), Counter(set(part.last)))

    def _joined(self, one: _Part, other: _Part) -> _Part:
        for (a, m), (b, n) in product(one.last.items(), other.first.items()):
            self._edges[a, b] += m * n
        first = one.first + Counter({s: n * one.empty for s, n in other.first.items()})
        last = other.last + Counter({s: n * other.empty for s, n in one.last.items()})
        return _Part(min(2, one.empty * other.empty), +first, +last)

    def _loops(self, after: Mapping[int, set[int]]) -> list[set[int]]:
        """Sets of states that lead to one another, but for those inside of one atomic part."""
        loops = _components(after)
        return [loop for loop in loops if len({self._atomic.get(state, -1 - state) for state in loop}) > 1 or not
                loop & self._atomic.keys()]  # fmt: skip

    def _common(self, *steps: _Pair) -> frozenset[str]:
        """The characters by which all of these steps can be taken at once."""
        return frozenset.intersection(*(self._reads[q] - self._never_next.get(p, frozenset()) for p, q in steps))

    def exponential(self) -> list[Fault]:
        """The loops that go round in two ways by one text."""
        after = self._after()
        found = []
        for loop in self._loops(after):
            doubled = sorted((p, q) for p in loop for q in after[p] & loop if self._edges[p, q] > 1)
            if doubled:
                p, q = doubled[0]
                back = self._text({(q,)}, (p,), (loop,), after)
                found.append(Fault("exponential", self._lead(p, after), min(self._common((p, q))) + (back or "")))
                continue
            same = {(state, state) for state in loop}
            seen: set[tuple[int, ...]] = set(same)
            back_to: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
            waiting: list[tuple[int, ...]] = list(same)
            while waiting:
                pair = waiting.pop()
                for other, _ in self._next(pair, (loop, loop), after):
                    back_to[other].add(pair)
                    if other not in seen:
                        seen.add(other)
                        waiting.append(other)
            apart = sorted(pair for pair in _reachable(same, back_to) if pair[0] != pair[1])
            for state in sorted(loop) if apart else ():
                there = self._text({(state, state)}, apart[0], (loop, loop), after)
                back = self._text({apart[0]}, (state, state), (loop, loop), after)
                if there is not None and back is not None:
                    found.append(Fault("exponential", self._lead(state, after), there + back))
                    break
        return found

    def polynomial(self) -> list[Fault]:
        """Pairs of loops that share a text: by three runs through it, around one, from it to the other, around that."""
        after = self._after()
        loops = self._loops(after)
        found = []
        for one, other in product(loops, loops):
            if one is other or not other & _reachable(one, after):
                continue
            between = _reachable(one, after) & (_reachable(other, _reversed(after)) | other)
            for p, q in product(sorted(one), sorted(other)):
                text = self._text({(p, p, q)}, (p, q, q), (one, between, other), after)
                if text is not None:
                    found.append(Fault("polynomial", self._lead(p, after), text))
                    break
        return found

    def _next(
        self, states: tuple[int, ...], within: tuple[set[int], ...], after: Mapping[int, set[int]]
    ) -> Iterator[tuple[tuple[int, ...], str]]:
        """Where several runs go next by one character, and that character."""
        for ends in product(*(sorted(after[state] & each) for state, each in zip(states, within, strict=True))):
            common = self._common(*zip(states, ends, strict=True))
            if common:
                yield ends, min(common)

    def _text(
        self,
        starts: set[tuple[int, ...]],
        end: tuple[int, ...],
        within: tuple[set[int], ...],
        after: Mapping[int, set[int]],
    ) -> str | None:
        """A shortest text by which several runs go at once from a start to an end; None where there is none."""
        texts = dict.fromkeys(sorted(starts), "")
        waiting = deque(texts)
        while waiting:
            states = waiting.popleft()
            for ends, character in self._next(states, within, after):
                if ends == end:
                    return texts[states] + character
                if ends not in texts:
                    texts[ends] = texts[states] + character
                    waiting.append(ends)
        return None

    def _lead(self, state: int, after: Mapping[int, set[int]]) -> str:
        """A text that leads from the beginning to a state."""
        if state in self._first:
            return min(self._reads[state])
        everything = set(range(len(self._reads)))
        for start in sorted(self._first):
            if self._reads[start]:
                text = self._text({(start,)}, (state,), (everything,), after)
                if text is not None:
                    return min(self._reads[start]) + text
        return ""

    def _after(self) -> dict[int, set[int]]:
        after: dict[int, set[int]] = defaultdict(set)
        for one, other in self._edges:
            if self._common((one, other)):
                after[one].add(other)
        return after


def _either(parts: list[_Part]) -> _Part:
    return _Part(
        min(2, sum(part.empty for part in parts)),
        sum((part.first for part in parts), Counter()),
        sum((part.last for part in parts), Counter()),
    )


def _alphabet(tree: Any) -> str:
    """Characters that stand for all those which the expression treats alike."""
    found = set(_SAMPLE)
    waiting: list[Any] = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple) and len(each) == 2 and each[0] in (sre.LITERAL, sre.NOT_LITERAL):
            found.add(chr(each[1]))
        elif isinstance(each, tuple) and len(each) == 2 and each[0] is sre.RANGE:
            low, high = each[1]
            found |= {chr(code) for code in (low - 1, low, high, high + 1) if 0 <= code < 0x110000}
        elif isinstance(each, tuple | list | _parser.SubPattern):
            waiting += each
    return "".join(sorted(found | {c.swapcase() for c in found if len(c.swapcase()) == 1}))


def _reads(operator: Any, value: Any, character: str, flags: int) -> bool:
    if operator is sre.ANY:
        return character != "\n" or bool(flags & re.DOTALL)
    if operator is sre.NOT_LITERAL:
        return not _reads(sre.LITERAL, value, character, flags)
    alike = {character, character.lower(), character.upper()} if flags & re.IGNORECASE else {character}
    if operator is sre.LITERAL:
        return any(each == chr(value) for each in alike)
    inside = False
    for kind, what in value:
        if kind is sre.LITERAL:
            inside = inside or chr(what) in alike
        elif kind is sre.RANGE:
            inside = inside or any(len(each) == 1 and what[0] <= ord(each) <= what[1] for each in alike)
        elif kind is sre.CATEGORY:
            inside = inside or re.match(_CATEGORIES[what], character, flags & re.ASCII) is not None
    return inside != (value[0][0] is sre.NEGATE)


def _reachable(starts: Iterable[Any], steps: Mapping[Any, set[Any]]) -> set[Any]:
    """What one or more steps lead to."""
    seen: set[Any] = set()
    waiting = list(starts)
    while waiting:
        for each in steps.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def _reversed(steps: Mapping[int, set[int]]) -> dict[int, set[int]]:
    back: dict[int, set[int]] = defaultdict(set)
    for one, others in steps.items():
        for other in others:
            back[other].add(one)
    return back


def _components(steps: Mapping[int, set[int]]) -> list[set[int]]:
    """States that lead to one another and to themselves, each set once."""
    back = _reversed(steps)
    found: list[set[int]] = []
    left = set(steps)
    while left:
        state = min(left)
        loop = _reachable([state], steps) & _reachable([state], back)
        left -= loop | {state}
        if loop:
            found.append(loop)
    return found
