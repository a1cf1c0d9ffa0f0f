"""Methods that run without being named: constructors, and special methods such as operators.

A call of a class is an edge to the class, and no edge leads on to the constructor. The look-ups follow it here, from
the graph and the settings of the language alone. Nothing is stored.

- A method in `names.constructors` or `names.initializers` runs where something calls its class. It also runs for a
  class that inherits it. Such a use is as certain as the edges that it follows.
- A method that `names.implicit` matches runs by what a program does with an object. Code that calls or names the class
  may do that, so that such a use is a guess.
- A method that no call is known to run is run by what is handed the object. For `impact` and `tests`, code that calls
  its class may have done that. If the class has a base from outside, so may code that names it.
- A method of a class that stands in a function is run by what that function hands out. For `impact` and `tests`,
  the function runs it.
- A function in a table, a value of a file or class that names it, may be run by code that reads the table. So may one
  whose decorator writes a table. Of functions declared several times under one name, callers know the first. All
  these count for `impact` and `tests` alone.
- A method that overrides another runs in its place, where the object is of the type that has it.
- A metaclass runs where its classes are made and called. This counts for `impact` and `tests` alone, too.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from causalist._internal.dataclass_arrays import unique_sorted
from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph, Edge, EdgeKind, linearize
from causalist.model.language_settings import NameSettings
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, last_name, unescape_path
from causalist.model.string_table import Positions
from causalist.parse import claimants, dialect_of, load_settings

# The share of functions that call a class, or name it otherwise, which run a given special method of it. Measured by
# tracing the tests of four Python repositories, see docs/benchmarks.md; taken for other languages, too.
SPECIAL_USE_PRECISION = {EdgeKind.CALLS: 0.05, EdgeKind.REFERENCES: 0.01}
# The same for special methods that most users of an object run, for `impact` and `tests`: of tests that ran a function
# which calls the class, .28 (`__contains__`) to .68 (`__call__`) ran them. Of those that ran one which names it .05 to
# .3 did, but that one mostly asks for the type of what another makes.
COMMON_USE = {EdgeKind.CALLS: 0.45, EdgeKind.REFERENCES: 0.1}
_COMMON = lazy_regex(r"__(?:call|getattr|getattribute|setattr|[gs]etitem|contains|len|a?enter|a?exit|get)__")
# The same for a method that no call is known to run: what makes the object hands it on to what calls it.
UNSEEN_USE = {EdgeKind.CALLS: 0.3}

# The same if the class has a base from outside, whose code calls it: the class itself may be handed on, as to `cls=`.
# Of tests that ran a user of such a class in nine suites, .46 of the 19 that call it and .38 of the 9 that name it.
OUTSIDE_USE = {EdgeKind.CALLS: 0.3, EdgeKind.REFERENCES: 0.3}

# The same for a function that makes a class, whose methods run where its instances, or those of a class inside of it,
# went: the decorated function, for one. Of tests that ran such functions in two suites, .34 ran a given method.
MADE_USE = 0.3

# The same for functions that a table names. Of tests that ran a reader, .6 to .8 ran a given one in six suites, but
# fewer of a long table.
TABLE_USE = 0.45

# The same for methods of a metaclass: what calls one of its classes runs `__call__`, and a class statement the others.
# Code that only names such a class may make one as it runs.
METACLASS_USE = {EdgeKind.CALLS: 0.95, EdgeKind.EXTENDS: 0.95, EdgeKind.REFERENCES: 0.3}

_BASES = lazy_regex(r"\bclass\s+\w+(?:\[[^()]*\])?\((.*)\)", re.DOTALL)
_NO_BASE = lazy_regex(r"\[[^\]]*\]+|\w+\s*=\s*[\w.]+|#[^\n]*")  # arguments of types, and metaclasses
_BASE = lazy_regex(r"(?:\w+\.)*(\w+)")
_MERE_BASES = frozenset(
    {"object", "ABC", "Generic", "Protocol", "TypedDict", "NamedTuple", "Enum", "IntEnum"}
)  # call nothing
_WORD = re.compile(r"\w+")
_METACLASS = lazy_regex(r"\bmetaclass\s*=\s*(?:\w+\.)*(\w+)")
_RUN_BY_CLASSES = {  # methods of a metaclass, and the uses of its classes that run them
    "__call__": (EdgeKind.CALLS,),
    "__new__": (EdgeKind.EXTENDS, EdgeKind.REFERENCES),
    "__init__": (EdgeKind.EXTENDS, EdgeKind.REFERENCES),
    "__prepare__": (EdgeKind.EXTENDS,),
}
# The code that runs special methods of Python, by their names. Where a method is run by nearly anything there is none.
RUN_BY_CODE = {
    "__repr__": r"\brepr\(|%r|!r\b",
    "__str__": r"\bstr\(|\bformat\b|\bprint\(|\b[fF]\"|\b[fF]'",
    "__bytes__": r"\bbytes\(",
    "__format__": r"\bformat\b|\b[fF]\"|\b[fF]'",
    "__hash__": r"\bhash\(|\bset\(|\{",
    "__bool__": r"\bif\b|\bnot\b|\bbool\(|\bassert \w+$|assert(?:True|False)",
    "__len__": r"\blen\(",
    "__eq__": r"==|assertEqual|\bin\b",
    "__ne__": r"!=|assertNotEqual",
    "__lt__": r"<(?!=)|\bsorted\(|\bmin\(|\bmax\(|assertLess",
    "__le__": r"<=|assertLessEqual",
    "__gt__": r">(?!=)|\bmax\(|assertGreater",
    "__ge__": r">=|assertGreaterEqual",
    "__getitem__": r"[\w)\]]\[",
    "__setitem__": r"\]\s*=(?!=)",
    "__delitem__": r"\bdel\b",
    "__contains__": r"\bin\b|assert(?:Not)?In\b",
    "__iter__": r"\bfor\b|\b(?:list|tuple|set|sorted|iter|dict)\(|\*",
    "__reversed__": r"\breversed\(",
    "__next__": r"\bnext\(|\bfor\b|\blist\(",
    "__enter__": r"\bwith\b",
    "__exit__": r"\bwith\b",
    "__aenter__": r"\basync with\b",
    "__aexit__": r"\basync with\b",
    "__add__": r"\+",
    "__radd__": r"\+|\bsum\(",
    "__iadd__": r"\+=",
    "__sub__": r"-",
    "__rsub__": r"-",
    "__mul__": r"\*",
    "__rmul__": r"\*",
    "__matmul__": r"@",
    "__truediv__": r"/",
    "__floordiv__": r"//",
    "__mod__": r"%",
    "__pow__": r"\*\*",
    "__and__": r"&",
    "__rand__": r"&",
    "__or__": r"\|",
    "__ror__": r"\|",
    "__ior__": r"\|=",
    "__xor__": r"\^",
    "__lshift__": r"<<",
    "__rshift__": r">>",
    "__invert__": r"~",
    "__neg__": r"-",
    "__abs__": r"\babs\(",
    "__round__": r"\bround\(",
    "__int__": r"\bint\(",
    "__float__": r"\bfloat\(",
    "__copy__": r"copy",
    "__deepcopy__": r"deepcopy",
    "__reduce__": r"pickle|copy",
    "__reduce_ex__": r"pickle|copy",
    "__getstate__": r"pickle|copy",
    "__setstate__": r"pickle|copy",
    "__delattr__": r"\bdel\b|\bdelattr\(",
    "__setattr__": r"\.\w+\s*=(?!=)|\bsetattr\(",
    "__dir__": r"\bdir\(",
    "__missing__": r"\[",
    "__instancecheck__": r"\bisinstance\(",
}
_REPEATED = re.compile(r"~\d+$")
_OWN_NAME = "*"
_MAX_DECORATOR_ROWS = 8  # below the first one
_VALUES = (NodeKind.CONSTANT, NodeKind.FIELD)
_HOLDERS = TYPE_KINDS | {NodeKind.FILE}  # of tables
_RUNNING = (EdgeKind.CALLS, EdgeKind.EMITS, EdgeKind.ROUTES)
_NAMING = (EdgeKind.CALLS, EdgeKind.REFERENCES)
_DERIVING = (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)


class ImplicitUse(NamedTuple):
    """A use of a class that runs `method` of it: edge `number` leads to the class.

    `is_call` is true where the edge is a call of the class and `method` a constructor, and `confidence` that of the
    whole step.
    """

    number: int
    method: int
    confidence: float
    is_call: bool


def find_implicit_uses(
    graph: CodeGraph, methods: Iterable[int], min_confidence: float = 0.0
) -> tuple[ImplicitUse, ...]:
    """Return the uses of classes that run one of `methods`, at most one for each edge.

    Constructors come first, then the order is by confidence and by number of the edge. A use by the method itself does
    not count, nor does a use of a special method by its own class.
    """
    return ImplicitUses(graph, min_confidence).of_all(methods)


class ImplicitUses:
    """Uses of classes that run methods of a graph; what was found once is kept.

    With `is_chained`, a call of a class also runs what its constructor calls in turn: the constructors of its bases.
    And code that calls a class may run a method of it that no call is known to run.
    """

    def __init__(self, graph: CodeGraph, min_confidence: float = 0.0, *, is_chained: bool = False) -> None:
        self._types = _Types(graph)
        self._min_confidence = min_confidence
        self._is_chained = is_chained
        self._found: dict[int, tuple[ImplicitUse, ...]] = {}

    def of_all(self, methods: Iterable[int]) -> tuple[ImplicitUse, ...]:
        """Return the uses that run one of several methods, at most one for each edge, in the order of `of`."""
        use_by_number: dict[int, ImplicitUse] = {}
        for use in chain.from_iterable(map(self.of, methods)):
            if use.number not in use_by_number or _order(use) < _order(use_by_number[use.number]):
                use_by_number[use.number] = use
        return tuple(sorted(use_by_number.values(), key=_order))

    def of(self, method: int) -> tuple[ImplicitUse, ...]:
        """Return the uses that run a method: constructors first, then by confidence and by number of the edge."""
        if method not in self._found:
            best: dict[int, ImplicitUse] = {}
            for use in self._find(method):
                if use.confidence >= self._min_confidence and (
                    use.number not in best or _order(use) < _order(best[use.number])
                ):
                    best[use.number] = use
            self._found[method] = tuple(sorted(best.values(), key=_order))
        return self._found[method]

    def _find(self, method: int) -> Iterator[ImplicitUse]:
        types, is_chained = self._types, self._is_chained
        edges, nodes = types.graph.edges, types.graph.nodes
        node_id = nodes.ids[method]
        name, is_callable = last_name(node_id), types.kinds[method] in CALLABLE_KINDS
        if is_chained and is_callable:
            yield from _uses_of_maker(types, method)
            yield from _indirect_uses(types, method, node_id)
            yield from _uses_of_registry(types, method)
        if is_chained and name in _RUN_BY_CLASSES:
            yield from _uses_of_metaclass(types, method)
        slot, precisions = _slot_of(types.graph, method, node_id) if is_callable else None, SPECIAL_USE_PRECISION
        if slot is None and is_chained and _is_never_called(types, method):
            slot = _Slot(_owner(types.graph, method), name, False, False)
            if slot.owner < 0 or not types.may_hand_on(slot.owner):
                return  # most methods that nothing calls: tests, and what a framework runs
            is_outside = any(types.derives_from_outside(each) for each in types.that_run(method, slot, is_chained=True))
            precisions = OUTSIDE_USE if is_outside else UNSEEN_USE
        elif slot is not None and is_chained and _COMMON.fullmatch(slot.name):
            precisions = COMMON_USE
        if slot is None or slot.owner < 0:
            return
        if slot.is_constructor:
            precisions = {EdgeKind.CALLS: 1.0}
        for owner, certainty in types.that_run(method, slot, is_chained=is_chained).items():
            for number in types.into(owner, tuple(precisions)):
                source = int(edges.sources[number])
                if source == method or (not slot.is_constructor and int(nodes.parents[source]) == owner):
                    continue
                precision = precisions[EdgeKind(int(edges.kinds[number]))]
                confidence = float(edges.confidences[number]) * certainty * precision
                yield ImplicitUse(number, method, confidence, slot.is_constructor)
            if is_chained:
                kinds = (EdgeKind.REFERENCES,) if slot.is_constructor else _NAMING
                share = TABLE_USE if slot.is_constructor else precisions[EdgeKind.CALLS]
                for reading, chance in _reads_of_tables(types, owner, kinds):
                    if int(edges.sources[reading]) != method:
                        yield ImplicitUse(reading, method, chance * certainty * share, False)


def constructor_calls(graph: CodeGraph, node: int) -> list[Edge]:
    """Return the calls of classes that run a constructor; their targets are the classes."""
    return [edge_of(graph, use) for use in find_implicit_uses(graph, [node]) if use.is_call]


def special_uses(graph: CodeGraph, node: int) -> list[Edge]:
    """Return the uses of classes that may run a special method, the best of each user and class.

    Their targets are the classes.
    """
    best: dict[tuple[str, str], Edge] = {}
    for use in find_implicit_uses(graph, [node]):
        if not use.is_call:
            edge = edge_of(graph, use)
            best.setdefault((edge.source, edge.target), edge)
    return list(best.values())


def class_of_constructor(graph: CodeGraph, node: int) -> int:
    """Return the class whose instances a constructor makes, -1 if the node is no constructor."""
    slot = _slot_of(graph, node, graph.nodes.ids[node])
    return slot.owner if slot is not None and slot.is_constructor else -1


def is_run_unnamed(graph: CodeGraph, node: int) -> bool:
    """Return True for a constructor or special method, which other files run without its name."""
    return _slot_of(graph, node, graph.nodes.ids[node]) is not None


def find_constructors_run(graph: CodeGraph, types: Iterable[int]) -> tuple[int, ...]:
    """Return the constructors, ascending, that calls of `types` run: own ones, else the nearest inherited ones."""
    constructors, type_members = set[int](), _Types(graph)
    for each in types:
        if graph.kind(each) not in TYPE_KINDS:
            continue
        slots = [(*names.constructors, *names.initializers) for names in _settings_of(graph, each)]
        for name in chain.from_iterable(slots):
            owner = next((base for base in type_members.linear_bases(each) if type_members.members(base, name)), -1)
            if owner >= 0:
                constructors.update(type_members.members(owner, name))
    return tuple(sorted(constructors))


def edge_of(graph: CodeGraph, use: ImplicitUse) -> Edge:
    """Return the edge of a use, with the confidence of the whole step."""
    return graph.edge(use.number)._replace(confidence=use.confidence)


class _Slot(NamedTuple):
    """A name of constructors or special methods, and the class that has the method."""

    owner: int
    name: str  # _OWN_NAME for constructors that are named like their class
    is_constructor: bool
    runs_bases: bool


def _order(use: ImplicitUse) -> tuple[bool, float, int, int]:
    return not use.is_call, -use.confidence, use.number, use.method


def _settings_of(graph: CodeGraph, node: int) -> tuple[NameSettings, ...]:
    """Return the settings of each language that may have parsed the file of a node; the graph does not store which."""
    return _settings_of_id(graph.nodes.ids[node])


def _settings_of_id(node_id: str) -> tuple[NameSettings, ...]:
    name = node_id.partition("::")[0].rpartition("/")[2]  # of the file, which decides
    return _settings_of_end(name[name.rfind(".") :] if "." in name else name)


@lru_cache(maxsize=4096)
def _settings_of_end(end: str) -> tuple[NameSettings, ...]:
    """Return the settings of the languages of files whose names end so: with an extension, or all of the name."""
    path = unescape_path(end)
    dialects = dict.fromkeys((dialect_of(path), *claimants(path)))
    return tuple(load_settings()[dialect].names for dialect in dialects if dialect)


def _slot_of(graph: CodeGraph, method: int, node_id: str) -> _Slot | None:
    """Return the class of a constructor or special method with this id, and its name there.

    Returns None for a node that is no member of a class, and for methods that run only where they are named.
    """
    if graph.kind(method) not in CALLABLE_KINDS:
        return None
    name = last_name(node_id)
    for names in _settings_of_id(node_id):
        for each in (*names.constructors, *names.initializers):
            if name == (last_name(_holder(node_id)) if each == _OWN_NAME else each):
                owner = _owner(graph, method)
                return _Slot(owner, each, True, names.constructs_bases) if owner >= 0 else None
        if names.implicit and re.fullmatch(names.implicit, name):
            owner = _owner(graph, method)
            return _Slot(owner, name, False, False) if owner >= 0 else None
    return None


def _owner(graph: CodeGraph, method: int) -> int:
    """Return the class of a method, -1 for none.

    Some languages define methods outside of their class. There it is the class of that name in the same file, or in a
    file that this one imports.
    """
    nodes, edges = graph.nodes, graph.edges
    parent = int(nodes.parents[method])
    if parent >= 0 and graph.kind(parent) in TYPE_KINDS:
        return parent
    holder = _holder(nodes.ids[method])
    symbol = holder.partition("::")[2]
    if not symbol:
        return -1
    file = int(nodes.files[method])
    imported = [int(edges.targets[e]) for e in graph.outgoing(file) if edges.kinds[e] == EdgeKind.IMPORTS]
    for each in (file, *imported):
        owner = nodes.ids.position(f"{nodes.ids[each]}::{symbol}")
        if owner >= 0 and graph.kind(owner) in TYPE_KINDS:
            return owner
    return -1


class _Types:
    """Types of a graph with their members and bases; what was found once is kept."""

    def __init__(self, graph: CodeGraph) -> None:
        self.graph = graph
        # Items of memory are read in a third of the time of items of arrays.
        edges = graph.edges
        self.kinds, self.parents = graph.nodes.kinds.data, graph.nodes.parents.data
        self.sources, self.rows = edges.sources.data, edges.rows.data
        self._kinds, self._indptr = edges.kinds.data, edges.indptr.data
        self._incoming, self._incoming_indptr = edges.incoming.data, edges.incoming_indptr.data
        self._positions = Positions(graph.nodes.ids)
        self._members: dict[tuple[int, str], tuple[int, ...]] = {}
        self._bases: dict[int, tuple[int, ...]] = {}
        self._linear: dict[int, tuple[int, ...]] = {}
        self._deriving: dict[int, list[int]] = {}
        self._handed_on: dict[int, bool] = {}
        self._tables: dict[int, list[tuple[int, int, int]]] = {}
        self._repeated: frozenset[str] | None = None  # names that several nodes have

    def into(self, node: int, kinds: Collection[EdgeKind]) -> list[int]:
        """Return the edges of these kinds that lead to a node, in their order."""
        first, last, of_kind = self._incoming_indptr[node], self._incoming_indptr[node + 1], self._kinds
        return [number for number in self._incoming[first:last] if of_kind[number] in kinds] if first < last else []

    def out_of(self, node: int, kinds: Collection[EdgeKind]) -> list[int]:
        """Return the edges of these kinds that leave a node, in their order."""
        first, last = self._indptr[node], self._indptr[node + 1]
        return [number for number, kind in enumerate(self._kinds[first:last], first) if kind in kinds]

    def tables_in(self, holder: int) -> list[tuple[int, int, int]]:
        """Return (first row, last row, node) of the values of a file or type, in the order of their edges."""
        if holder not in self._tables:
            nodes, targets = self.graph.nodes, self.graph.edges.targets
            inside = (int(targets[each]) for each in self.out_of(holder, (EdgeKind.CONTAINS,)))
            self._tables[holder] = [
                (int(nodes.start_rows[each]), int(nodes.end_rows[each]), each)
                for each in inside
                if self.kinds[each] in _VALUES
            ]
        return self._tables[holder]

    def namesakes(self, node: int, node_id: str) -> list[int]:
        """Return `CodeGraph.namesakes` of a node with this id."""
        if self._repeated is None:
            ids = self.graph.nodes.ids
            marks = np.flatnonzero(ids.blob == ord("~"))
            marked = unique_sorted(np.searchsorted(ids.offsets, marks, side="right") - 1)
            named = (each for each in ids.some(marked) if _REPEATED.search(each))
            self._repeated = frozenset(_REPEATED.sub("", each) for each in named)
        if not self._repeated:
            return []
        bare = _without_number(node_id)
        return self.graph.namesakes(node) if bare in self._repeated else []

    def that_run(self, method: int, slot: _Slot, *, is_chained: bool) -> dict[int, float]:
        """Return the types a use of which runs a method, with the certainty of that.

        These are its class and the classes that derive from it.
        """
        edges, certainty_by_type = self.graph.edges, {slot.owner: 1.0}
        running = {slot.owner, method, *self.namesakes(method, self.graph.nodes.ids[method])}
        level = [slot.owner]
        while level:
            derived: dict[int, float] = {}
            for base in level:
                if base not in self._deriving:
                    self._deriving[base] = self.into(base, _DERIVING)
                for number in self._deriving[base]:
                    derived_type = int(edges.sources[number])
                    if derived_type not in certainty_by_type and self.graph.kind(derived_type) in TYPE_KINDS:
                        certainty = certainty_by_type[base] * float(edges.confidences[number])
                        derived[derived_type] = max(certainty, derived.get(derived_type, 0.0))
            level = []
            for derived_type in sorted(derived):
                own = self.members(derived_type, slot.name)
                if self._inherits(derived_type, own, slot, certainty_by_type, running, is_chained=is_chained):
                    certainty_by_type[derived_type] = derived[derived_type]
                    running.update((derived_type, *own))
                    level.append(derived_type)
        return certainty_by_type

    def may_hand_on(self, owner: int) -> bool:
        """Return True if something calls a type or one that derives from it, or names it where that may hand it on.

        Otherwise nothing but a call runs the methods of the type.
        """
        if owner not in self._handed_on:
            self._handed_on[owner] = any(map(self._is_handed_on, self._with_deriving(owner)))
        return self._handed_on[owner]

    def _is_handed_on(self, each: int) -> bool:
        if self.into(each, (EdgeKind.CALLS,)):
            return True
        if not self.into(each, (EdgeKind.REFERENCES,)):
            return False
        is_outside = any(names.decorators for names in _settings_of(self.graph, each))  # see `derives_from_outside`
        return is_outside or any(True for _ in _reads_of_tables(self, each, _NAMING))

    def _with_deriving(self, owner: int) -> Iterator[int]:
        """Yield a type and all that derive from it, each once."""
        reached, waiting = {owner}, [owner]
        sources = self.graph.edges.sources
        while waiting:
            base = waiting.pop()
            yield base
            if base not in self._deriving:
                self._deriving[base] = self.into(base, _DERIVING)
            more = {int(sources[number]) for number in self._deriving[base]} - reached
            reached |= more
            waiting += sorted(more)

    def _inherits(
        self,
        derived: int,
        own: Sequence[int],
        slot: _Slot,
        types: Collection[int],
        running: Collection[int],
        *,
        is_chained: bool,
    ) -> bool:
        """Return True if a use of `derived`, a base of which is among `types`, runs the method, too."""
        if own:
            calls = [number for each in own for number in self.out_of(each, (EdgeKind.CALLS,))]
            if slot.is_constructor and any(int(self.graph.edges.targets[e]) in running for e in calls):
                return is_chained  # without it, that call is the caller
            return slot.runs_bases
        if slot.runs_bases:
            return True
        nearest = (base for base in self.linear_bases(derived)[1:] if self.members(base, slot.name))
        return next(nearest, slot.owner) in types

    def members(self, owner: int, name: str) -> tuple[int, ...]:
        """Return the members of a type by a name, with overloads."""
        if (owner, name) not in self._members:
            ids = self.graph.nodes.ids
            node_id = f"{ids[owner]}.{last_name(ids[owner]) if name == _OWN_NAME else name}"
            first = self._positions.of(node_id)
            self._members[owner, name] = (first, *self.namesakes(first, node_id)) if first >= 0 else ()
        return self._members[owner, name]

    def linear_bases(self, owner: int) -> tuple[int, ...]:
        """Return a type and its bases, nearest first, each once, in the order of `linearize`."""
        if owner not in self._linear:
            self._linear[owner] = linearize(owner, self.bases)
        return self._linear[owner]

    def bases(self, owner: int) -> tuple[int, ...]:
        """Return the direct bases of a type in the order of its signature; bases not named there come last, by id."""
        if owner not in self._bases:
            self._bases[owner] = self._find_bases(owner)
        return self._bases[owner]

    def _find_bases(self, owner: int) -> tuple[int, ...]:
        ids = self.graph.nodes.ids
        bases = [int(self.graph.edges.targets[number]) for number in self.out_of(owner, _DERIVING)]
        if len(bases) < 2:
            return tuple(bases)
        signature, own = self.graph.nodes.signatures[owner], last_name(ids[owner])
        bases_text = signature[signature.find(own) + len(own) :]

        positions = {word[0]: word.start() for word in reversed(list(_WORD.finditer(bases_text)))}  # the first of each
        end = len(bases_text)
        return tuple(sorted(dict.fromkeys(bases), key=lambda base: (positions.get(last_name(ids[base]), end), base)))

    def derives_from_outside(self, owner: int) -> bool:
        """Return True if the signature of a class, or of a base of it, names a base that the graph does not have.

        Only for languages with decorators that run, whose classes have bases alone in their brackets.
        """
        if owner < 0 or not any(names.decorators for names in _settings_of(self.graph, owner)):
            return False
        for each in self.linear_bases(owner):
            named = _BASES.search(self.graph.nodes.signatures[each])
            base_names = {last_name(self.graph.nodes.ids[base]) for base in self.bases(each)}
            text = _NO_BASE.sub("", named[1]) if named else ""
            if any(name and name not in base_names and name not in _MERE_BASES for name in _BASE.findall(text)):
                return True
        return False


def _indirect_uses(types: _Types, function: int, function_id: str) -> Iterator[ImplicitUse]:
    """Yield the reads of tables that name a function, and the calls of what is declared under the same name."""
    graph = types.graph
    edges = graph.edges
    for other in types.namesakes(function, function_id):
        for number in types.into(other, (EdgeKind.CALLS,)):
            if int(edges.sources[number]) not in (function, other):
                yield ImplicitUse(number, function, float(edges.confidences[number]), False)
    for reading, chance in _reads_of_tables(types, function, (EdgeKind.REFERENCES,)):
        if graph.kind(int(edges.sources[reading])) in CALLABLE_KINDS:
            yield ImplicitUse(reading, function, chance * TABLE_USE, False)


def _reads_of_tables(types: _Types, node: int, kinds: Collection[EdgeKind]) -> Iterator[tuple[int, float]]:
    """Yield the edges that read a value of a file or class which uses a node so, each with its certainty."""
    confidences = types.graph.edges.confidences
    for number in types.into(node, kinds):
        holder = types.sources[number]
        if types.kinds[holder] not in _HOLDERS:
            continue
        row = types.rows[number]
        for first, last, table in types.tables_in(holder):
            if first <= row <= last:
                for reading in types.into(table, (EdgeKind.READS,)):
                    yield reading, float(confidences[number] * confidences[reading])


def _uses_of_registry(types: _Types, function: int) -> Iterator[ImplicitUse]:
    """Yield the reads of tables that a decorator of a function, or a function inside of that, writes."""
    graph = types.graph
    nodes, edges = graph.nodes, graph.edges
    first = int(nodes.start_rows[function])
    for number in types.out_of(function, (EdgeKind.REFERENCES,)):
        decorator = int(edges.targets[number])
        is_above = int(edges.rows[number]) - first < _MAX_DECORATOR_ROWS
        if not is_above or types.kinds[decorator] not in CALLABLE_KINDS:
            continue
        # By annotations and default values, which are no decorators.
        if last_name(nodes.ids[decorator]) in _WORD.findall(nodes.signatures[function]):
            continue
        inner = (int(edges.targets[each]) for each in types.out_of(decorator, (EdgeKind.CONTAINS,)))
        writers = {decorator, *(each for each in inner if graph.kind(each) in CALLABLE_KINDS)}
        for writing in chain.from_iterable(types.out_of(each, (EdgeKind.WRITES,)) for each in sorted(writers)):
            for reading in types.into(int(edges.targets[writing]), (EdgeKind.READS,)):
                reader = int(edges.sources[reading])
                if reader != function and reader not in writers and graph.kind(reader) in CALLABLE_KINDS:
                    confidence = float(edges.confidences[number] * edges.confidences[reading])
                    yield ImplicitUse(reading, function, confidence * TABLE_USE, False)


def _uses_of_metaclass(types: _Types, method: int) -> Iterator[ImplicitUse]:
    """Yield the uses of the classes of a metaclass that run a method of it: calls, and classes that derive."""
    graph = types.graph
    nodes, edges = graph.nodes, graph.edges
    kinds = _RUN_BY_CLASSES[last_name(nodes.ids[method])]
    owner = int(nodes.parents[method])
    if owner < 0 or graph.kind(owner) not in TYPE_KINDS:
        return
    for naming in types.into(owner, (EdgeKind.REFERENCES,)):
        holder, row = int(edges.sources[naming]), int(edges.rows[naming])
        around = [holder, *(int(edges.targets[each]) for each in types.out_of(holder, (EdgeKind.CONTAINS,)))]
        for each in around:
            if graph.kind(each) not in TYPE_KINDS or not nodes.start_rows[each] <= row <= nodes.end_rows[each]:
                continue
            named = _METACLASS.search(nodes.signatures[each])
            if named is None or named[1] != last_name(nodes.ids[owner]):
                continue
            for made, certainty in types.that_run(method, _Slot(each, "", False, False), is_chained=True).items():
                for number in types.into(made, kinds):
                    share = METACLASS_USE[EdgeKind(int(edges.kinds[number]))]
                    if int(edges.sources[number]) != method:
                        yield ImplicitUse(number, method, float(edges.confidences[number]) * certainty * share, False)


def _uses_of_maker(types: _Types, method: int) -> Iterator[ImplicitUse]:
    """Yield the uses of a class by the function that it stands in, which makes it and hands its instances out."""
    edges, kinds, parents = types.graph.edges, types.kinds, types.parents
    if kinds[method] != NodeKind.METHOD:
        return
    around: list[int] = []  # the class of the method, and the classes that it is a member of
    maker = parents[method]
    while maker >= 0 and kinds[maker] in TYPE_KINDS:
        around.append(maker)
        maker = parents[maker]
    if maker < 0 or not around or kinds[maker] not in CALLABLE_KINDS:
        return
    for number in (number for each in around for number in types.into(each, _NAMING)):
        if int(edges.sources[number]) == maker:
            yield ImplicitUse(number, method, float(edges.confidences[number]) * MADE_USE, False)


def _is_never_called(types: _Types, method: int) -> bool:
    """Return True for a method that nothing is known to call, emit or serve, and none that it overrides either."""
    if types.kinds[method] != NodeKind.METHOD:
        return False
    sources, targets = types.graph.edges.sources, types.graph.edges.targets
    if any(sources[number] != method for number in types.into(method, _RUNNING)):
        return False
    above = [int(targets[number]) for number in types.out_of(method, (EdgeKind.OVERRIDES,))]
    return all(sources[number] == method for each in above for number in types.into(each, _RUNNING))


def _without_number(node_id: str) -> str:
    return _REPEATED.sub("", node_id) if "~" in node_id else node_id


def _holder(node_id: str) -> str:
    """Return the id without its last name, "" for an id that is no member.

    >>> _holder("a.py::C.m~2"), _holder("a.py::f")
    ('a.py::C', '')
    """
    path, _, symbol = node_id.partition("::")
    holder = symbol.rpartition(".")[0]
    return f"{path}::{holder}" if holder else ""


_SUPER = "super"  # the rule of a call that names the base whose method runs


def find_overriding(graph: CodeGraph, calls: Iterable[Edge]) -> dict[str, tuple[str, ...]]:
    """Return what overrides the methods that `calls` reach, directly or indirectly, and may run in their place.

    A call through `super` names the one that runs.
    """
    ids = graph.nodes.ids
    found: dict[str, tuple[str, ...]] = {}
    for target in sorted({e.target for e in calls if e.kind == EdgeKind.CALLS.label and e.rule != _SUPER}):
        reached: dict[str, None] = {}
        level = [target]
        while level:
            found_next = dict.fromkeys(each for id in level for each in overriding_ids(graph, ids.position(id)))
            level = [each for each in found_next if each not in reached]
            reached.update(dict.fromkeys(level))
        if reached:
            found[target] = tuple(each for each in reached if each != target)
    return found


def overriding_ids(graph: CodeGraph, node: int) -> tuple[str, ...]:
    """Return the ids of the methods that directly override a method, those of tests last."""
    edges, roles = graph.edges, graph.nodes.roles
    own = {int(edges.sources[e]) for e in graph.incoming(node) if edges.kinds[e] == EdgeKind.OVERRIDES}
    return tuple(graph.nodes.ids[each] for each in sorted(own, key=lambda each: (roles[each] == Role.TEST, each)))
