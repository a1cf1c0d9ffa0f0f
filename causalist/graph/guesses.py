"""What a method may be that is called on a receiver of which nothing is known: all methods of that name that could be
meant, or nothing where these are too many to say anything.

Code calls no methods of tests, examples and documentation that happen to have the name, and a declaration file tells of
code that stands elsewhere. In the measured repositories, one of 580 such guesses was right.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from causalist.graph.names import Program
from causalist.graph.overloads import misfit
from causalist.graph.roles import role_of
from causalist.graph.rules import FEW_NAMESAKES, MOST_CANDIDATES
from causalist.model.symbols import Role

_ASIDE = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS})
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts", ".pyi")


def guesses(program: Program, file: int, name: str, arguments: str) -> Iterator[tuple[int, str, int]]:
    """(definition, rule, candidates) of each method that a call of `name` in `file` may mean."""
    candidates = [
        each
        for each in program.methods.get(name, ())
        if _family(program, program.file_of[each]) == _family(program, file)
        and misfit(program.parameters.get(each), arguments, {}) is not None
        and _is_in_reach(program.files[file].path, program.files[program.file_of[each]].path)
    ]
    if len(candidates) > MOST_CANDIDATES:
        return
    # Overloads of one name are one meaning, and share what falls to it.
    meant = [(program.file_of[each], program.definition_of[each].qualname) for each in candidates]
    overloads = Counter(meant)
    few = len(overloads) <= FEW_NAMESAKES
    rule = "unique-name" if len(overloads) == 1 else "name-only" if few else "common-name"
    for each, meaning in zip(candidates, meant, strict=True):
        yield each, rule, len(overloads) * overloads[meaning]


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
