"""Mutants of a function: its file with one small defect in the body each.

In: the source of a file and the lines of a function. Out: mutants in a fixed order. First come two that take the whole
body away: it raises an error, or returns at once. Then those of mutmut's operators on the body, spread over its lines.
Docstrings, annotations and functions inside of it that are decorated differently are left as they are.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from causalist.errors import ExtraMissing

if TYPE_CHECKING:
    import libcst

MESSAGE = "raised by a mutant of causalist prove"
_MAX_SHOWN = 60  # characters of code in a description
_MAX_CANDIDATES = 2000


class Mutant(NamedTuple):
    """A file with one defect. `id` is a hash of its function's text, `line` counts from 1.

    `n_more_lines` is what lines below the function are moved by. `is_raising`: all that it does is raise an error.
    """

    id: str
    line: int
    what: str
    data: bytes
    n_more_lines: int
    is_raising: bool = False


def require_operators() -> None:
    """Check that the operators are installed. Raises ExtraMissing."""
    try:
        import libcst  # noqa: F401
        from mutmut.mutation.mutators import mutation_operators  # noqa: F401
    except ImportError as error:
        raise ExtraMissing(f'this needs mutmut 3.8 ({error}); run: pip install "causalist[prove]"') from error


def make_mutants(
    data: bytes, name: str, first: int, last: int, most: int, *, in_tests: bool = False
) -> tuple[Mutant, ...]:
    """Return at most `most` mutants of the function `name` that stands in the lines from `first` to `last`.

    With `in_tests`, it is one that raises an error while pytest runs a test, and not while it loads code. () if there
    is no such function. Raises ExtraMissing.
    """
    require_operators()
    import libcst
    from libcst.metadata import MetadataWrapper, PositionProvider

    try:
        wrapper = MetadataWrapper(libcst.parse_module(data))
    except libcst.ParserSyntaxError:
        return ()
    places = wrapper.resolve(PositionProvider)
    function = _find(wrapper.module, places, name, first, last)
    if function is None:
        return ()
    mutants: list[Mutant] = []
    seen = {_meaning(data)}

    def add(
        body: "libcst.CSTNode", replaced: "libcst.CSTNode", line: int, what: str, *, is_raising: bool = False
    ) -> bool:
        changed = wrapper.module.deep_replace(replaced, body)
        code: bytes = changed.bytes
        meaning = _meaning(code)
        if meaning in seen:
            return False
        seen.add(meaning)
        n_more = code.count(b"\n") - data.count(b"\n")
        text = b"\n".join(code.split(b"\n")[first - 1 : last + n_more])
        mutants.append(Mutant(hashlib.sha256(text).hexdigest()[:12], line, what, code, n_more, is_raising))
        return True

    start = places[function].start.line
    if in_tests:
        whole = f'assert "PYTEST_CURRENT_TEST" not in __import__("os").environ, "{MESSAGE}"'
        add(
            _with_first(function.body, whole),
            function.body,
            start,
            "raises an error at the start of a run by a test",
            is_raising=True,
        )
        return tuple(mutants)
    raised = f'raise RuntimeError("{MESSAGE}")'
    for statement, what in ((raised, "raises an error at the start"), ("return", "returns nothing at once")):
        if len(mutants) < most:
            add(_with_first(function.body, statement), function.body, start, what, is_raising=statement == raised)
    candidates = list(_candidates(function, places))
    for original, mutated, line in _spread(candidates):
        if len(mutants) >= most:
            break
        what = f"`{_show_defect(wrapper.module, original)}` becomes `{_show_defect(wrapper.module, mutated)}`"
        add(mutated, original, line, what)
    return (*mutants[:2], *sorted(mutants[2:], key=lambda each: (each.line, each.what, each.id)))


def _find(module: "libcst.Module", places: Any, name: str, first: int, last: int) -> "libcst.FunctionDef | None":
    """Return the outermost function of that name within lines."""
    import libcst

    queue: list[libcst.CSTNode] = [module]
    while queue:
        node = queue.pop(0)
        if isinstance(node, libcst.FunctionDef) and node.name.value == name:
            line = places[node.name].start.line
            if first <= line <= last:
                return node
        queue.extend(node.children)
    return None


def _with_first(body: "libcst.BaseSuite", statement: str) -> "libcst.BaseSuite":
    """Return a body with one more statement, behind the docstring."""
    import libcst

    made = libcst.parse_statement(statement)
    assert isinstance(made, libcst.SimpleStatementLine)
    if isinstance(body, libcst.IndentedBlock):
        at = int(_is_docstring(body.body[0]))
        return body.with_changes(body=(*body.body[:at], made, *body.body[at:]))
    assert isinstance(body, libcst.SimpleStatementSuite)
    return body.with_changes(body=(*made.body, *body.body))


def _is_docstring(statement: "libcst.CSTNode") -> bool:
    import libcst

    if not isinstance(statement, libcst.SimpleStatementLine) or not isinstance(statement.body[0], libcst.Expr):
        return False
    return isinstance(statement.body[0].value, libcst.BaseString)


def _candidates(function: "libcst.FunctionDef", places: Any) -> "Iterator[tuple[libcst.CSTNode, libcst.CSTNode, int]]":
    """Yield (node, what an operator makes of it, line) in the order of the source."""
    import libcst
    from mutmut.mutation.mutators import mutation_operators

    n_found = 0
    stack: list[libcst.CSTNode] = [function.body]
    while stack and n_found < _MAX_CANDIDATES:
        node = stack.pop()
        if isinstance(node, libcst.Annotation) or _is_docstring(node):
            continue
        for kind, operator in mutation_operators:
            if isinstance(node, kind) and node in places:
                for mutated in operator(node):
                    n_found += 1
                    yield node, mutated, places[node].start.line
        stack.extend(reversed(node.children))


def _spread(
    candidates: "Sequence[tuple[libcst.CSTNode, libcst.CSTNode, int]]",
) -> "Iterator[tuple[libcst.CSTNode, libcst.CSTNode, int]]":
    """Yield candidates so that the first ones are spread over the lines: one of each line, then a second one.

    Of those with one rank, the order of van der Corput: the first, that in the middle, those in the quarters.
    """
    rank: Counter[int] = Counter()
    layers: dict[int, list[tuple[libcst.CSTNode, libcst.CSTNode, int]]] = {}
    for each in candidates:
        layers.setdefault(rank[each[2]], []).append(each)
        rank[each[2]] += 1
    for _, layer in sorted(layers.items()):
        order = sorted(range(len(layer)), key=lambda i: (_reversed_bits(i, len(layer)), i))
        yield from (layer[i] for i in order)


def _reversed_bits(i: int, n: int) -> int:
    """Return a number with its bits in the reversed order, as of numbers below `n`.

    >>> sorted(range(4), key=lambda i: _reversed_bits(i, 4))
    [0, 2, 1, 3]
    """
    width = max(1, (n - 1).bit_length())
    return int(f"{i:0{width}b}"[::-1], 2)


def _meaning(code: bytes) -> str:
    """Return what tells programs apart that differ in more than layout; the text if this Python cannot parse it."""
    try:
        return ast.dump(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError):
        return hashlib.sha256(code).hexdigest()


def _show_defect(module: "libcst.Module", node: "libcst.CSTNode") -> str:
    text = " ".join(module.code_for_node(node).split())
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
