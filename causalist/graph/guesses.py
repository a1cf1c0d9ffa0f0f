"""What a method may be that is called on a receiver of which nothing is known: all methods of that name that could be
meant, or nothing where these are too many to say anything.

Code calls no methods of tests, examples and documentation that happen to have the name, and a declaration file tells of
code that stands elsewhere. In the measured repositories, one of 580 such guesses was right. What else stands in the
file tells good guesses from others: a receiver that is called like one of the classes, `build_state.write()`, means
that one, most surely where the file defines, imports or names it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from causalist.graph.imports.packages import first_names_in
from causalist.graph.program.overloads import misfit
from causalist.graph.program.program import Program
from causalist.graph.rules import MAX_CANDIDATES, MAX_NAMESAKES, RuleName
from causalist.model.facts import ImportKind
from causalist.model.roles import role_of
from causalist.model.symbols import CALLABLE_KINDS, Role

_ASIDE = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS})
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts", ".pyi")
_REEXPORTS = frozenset({ImportKind.REEXPORT, ImportKind.REEXPORT_ALL, ImportKind.REEXPORT_NAMESPACE})
_MOST_STEPS = 3  # files that pass on what others pass on
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MARKS = re.compile(r"~\d+|\(.*?\)|\[.*?\]")  # what is done with a part of a chain, and which declaration is meant


class Guesses:
    """The guesses for all files of a program, which has to know the bases of types."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._seen: dict[int, frozenset[int]] = {}
        self._named: dict[int, frozenset[str]] = {}
        self._passing: dict[int, frozenset[int]] = {}

    def of(self, file: int, chain: str, arguments: str) -> Iterator[tuple[int, str, int]]:
        """(definition, rule, candidates) of each method that a call of `chain` in `file` may mean."""
        program, family = self._program, _family(self._program, file)
        receiver, _, name = chain.rpartition(".")
        settings = program.files[file].settings
        if settings is not None and receiver in settings.builtin_objects:
            return
        every = (
            each
            for each in program.methods.get(name, ())
            if _family(program, program.file_of[each]) == family
            and misfit(program.parameters.get(each), arguments, {}) is not None
            and _is_in_reach(program.files[file].path, program.files[program.file_of[each]].path)
        )
        candidates = list(islice(every, MAX_CANDIDATES + 1))  # one more says that there are too many
        if not candidates or len(candidates) > MAX_CANDIDATES:
            return
        # Overloads of one name are one meaning, and share what falls to it.
        called = receiver.rpartition(".")[2]
        alike = [each for each in candidates if resembles(called, self._owner(each))]
        in_sight = [each for each in alike if self._is_in_sight(file, each)]
        held = [each for each in candidates if self._holder(each) == called]
        for chosen, rule in (
            (in_sight, RuleName.NAMED_RECEIVER),
            (alike, RuleName.LIKE_NAMED),
            (held, RuleName.NAMED_RECEIVER),
        ):
            if chosen and len(self._meanings(chosen)) == 1:
                yield from ((each, rule, len(chosen)) for each in chosen)
                return
        overloads = self._meanings(candidates)
        few = len(overloads) <= MAX_NAMESAKES
        rule = RuleName.NAME_ONLY if few else RuleName.COMMON_NAME
        if len(overloads) == 1:
            is_seen = any(self._is_in_sight(file, each) for each in candidates)
            rule = RuleName.UNIQUE_IN_SIGHT if is_seen else RuleName.UNIQUE_NAME
        for each in candidates:
            yield each, rule, len(overloads) * overloads[self._meaning(each)]

    def _passed_on(self, file: int) -> frozenset[int]:
        """The files of which a file passes something on to those who import it."""
        known = self._passing.get(file)
        if known is None:
            names, targets = self._program.files[file], set()
            is_index = names.has_visible_imports and names.is_index
            for entry in names.facts.imports:
                if is_index or entry.kind in _REEXPORTS:
                    targets.add(self._program.target_module(file, entry)[0])
            known = self._passing[file] = frozenset(targets - {-1})
        return known

    def _meaning(self, definition: int) -> tuple[int, str]:
        return self._program.file_of[definition], self._program.definition_of[definition].qualname

    def _meanings(self, definitions: Sequence[int]) -> Counter[tuple[int, str]]:
        return Counter(map(self._meaning, definitions))

    def _owner(self, method: int) -> str:
        """The name of the type that a method belongs to; "" for what belongs to an object that a function makes."""
        program = self._program
        owner = program.owner_of.get(method, program.parent(method))
        return program.definition_of[owner].name if owner >= 0 and not self._is_of_object(method) else ""

    def _is_of_object(self, method: int) -> bool:
        """Whether a method stands in an object that a function makes, and so in no type."""
        parent = self._program.parent(method)
        return parent >= 0 and self._program.definition_of[parent].kind in CALLABLE_KINDS

    def _holder(self, method: int) -> str:
        """The name of the variable or member that holds the object around a method, "" where nothing does."""
        if not self._is_of_object(method):
            return ""
        definition, parent = self._program.definition_of[method], self._program.parent(method)
        within = definition.qualname.removeprefix(f"{self._program.definition_of[parent].qualname}.")
        return within.rpartition(".")[0].rpartition(".")[2]

    def _is_in_sight(self, file: int, method: int) -> bool:
        """Whether a file defines a method's type, imports it or what passes it on, or uses the type's name. Of objects
        only those are in sight that something holds."""
        if self._is_of_object(method) and not self._holder(method):
            return False
        if self._program.file_of[method] in self._reached(file):
            return True
        names = self._named.get(file)
        if names is None:
            facts = self._program.files[file].facts
            names = self._named[file] = first_names_in(facts).union(
                *((each.name, each.alias) for each in facts.imports)
            )
        return self._owner(method) in names

    def _reached(self, file: int) -> frozenset[int]:
        """The file, those that it imports and those that they pass on."""
        found = self._seen.get(file)
        if found is None:
            imports = self._program.files[file].facts.imports
            reached = {file, *(self._program.target_module(file, entry)[0] for entry in imports)} - {-1}
            found, steps = frozenset(reached), 0
            while reached and steps < _MOST_STEPS:
                reached = {target for each in reached for target in self._passed_on(each)}.difference(found)
                found, steps = found | reached, steps + 1
            self._seen[file] = found
        return found


def resembles(receiver: str, owner: str) -> bool:
    """Whether the last part of a receiver is called like a type, or like the last words of its name, or the other way
    round.

    >>> [resembles(name, "BuildState") for name in ("build_state", "state", "oldBuildState", "build", "s")]
    [True, True, True, False, False]
    """
    a, b = _words(receiver), _words(owner)
    if not a or not b or a[-1] != b[-1]:
        return False
    shorter = min(len(a), len(b))
    return len("".join(a)) > 1 and a[-shorter:] == b[-shorter:]  # one letter says nothing


@lru_cache(maxsize=1 << 14)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(_MARKS.sub("", name)))


def _is_in_reach(caller: str, path: str) -> bool:
    if caller == path:
        return True
    if path.endswith(_DECLARATIONS):
        return False
    return not (_is_aside(path) and not _is_aside(caller))


@lru_cache(maxsize=1 << 16)
def _is_aside(path: str) -> bool:
    return role_of(path) in _ASIDE


def _family(program: Program, file: int) -> str:
    settings = program.files[file].settings
    return settings.family if settings else ""
