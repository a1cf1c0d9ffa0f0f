"""Base of inference: the entry points that its parts call, and the effect of marks on values."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.name_lookup import NameLookup
from causalist.graph.overload_fit import REST, labeled_parameters
from causalist.graph.program import Program
from causalist.graph.resolution_results import BUILTIN, UNKNOWN, Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, UNCOUNTED, Binding
from causalist.model.language_settings import TypeSettings
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from causalist.model.type_notation import (
    GIVEN,
    OWN_OBJECT,
    PLACE,
    Mark,
    Shape,
    generic_of,
    split_function,
    split_generic,
    split_type,
)

_MAKES = "new"  # by itself it makes an instance of the class around
_AUTOLOAD = "AUTOLOAD"
_HAS_BODY = lazy_regex(r"\b(?:default|static|private)\b")  # of a method of an interface
_MAX_OVERLOADS, _MAX_DEPTH = 6, 24  # chains that are being read at the same time
_STORES = ("Manager", "QuerySet", "as_manager")  # words in what a class is given for its queries
_OF_CLASS = "def self."  # begins functions of a class
_OF_MODEL = (ValueKind.DEFINITION, ValueKind.INSTANCE, ValueKind.COLLECTION)  # what a query may be asked of
_GETTER = lazy_regex(r"(?:(?:public|private|protected|static|override)\s+)*get\s+[\w$#]+\(\)")
_METACLASS = lazy_regex(r"\bmetaclass\s*=\s*([A-Za-z_][\w.]*)")
_PLACED = lazy_regex(rf"{PLACE}(\d+)({GIVEN}|:\d+)?")
MAX_OPEN_HOLDERS = 6  # values that are held by one another
# The name of a type, or of what a collection of it holds.
_NAMED_TYPE = lazy_regex(r"\s*(?:@\w+\s+|inout\s+|some\s+|any\s+)*\[?(?:[\w.]+\s*:\s*)?([A-Z][\w.]*)")
_MADE_KINDS = (NodeKind.CLASS, NodeKind.STRUCT)
_HOISTED = ("function", "async function")  # begin what has its name before it is reached
_MAX_ALIASES = 4  # names that stand for one another
# A function type: of an object of its own, or of what it is given.
_FUNCTION_TYPE = lazy_regex(
    r"\(?(?:suspend|@\w+?(?=\())?(?:([A-Z][\w.]*)\.)?\(([\w.:?,]*)\)(?:async)?(?:throws)?->.*", re.DOTALL
)

# Special methods of Python that run where a type lacks one.
_IN_PLACE = {
    "__bool__": ("__len__",), "__ne__": ("__eq__",), "__str__": ("__repr__",), "__contains__": ("__iter__",),
    "__iter__": ("__getitem__",), "__reversed__": ("__getitem__",), "__iadd__": ("__add__",), "__isub__": ("__sub__",),
    "__imul__": ("__mul__",), "__iand__": ("__and__",), "__ior__": ("__or__",), "__ixor__": ("__xor__",),
    "__itruediv__": ("__truediv__",), "__ilshift__": ("__lshift__",), "__irshift__": ("__rshift__",),
    "__imod__": ("__mod__",), "__int__": ("__index__",),
}  # fmt: skip
_PLAIN_BASES = frozenset(
    ("object", "ABC", "abc.ABC", "Generic", "typing.Generic", "Protocol", "typing.Protocol", "ABCMeta", "abc.ABCMeta")
)  # without special methods that others stand in for
_LEFT_BY = {"__enter__": "__exit__", "__aenter__": "__aexit__"}  # run by the same statement


class Queries(Protocol):
    """Queries of databases, as `ModelQueries` knows them."""

    def model_named(self, file: int, scope: int, name: str) -> int:
        """Return the class that a text names, or -1."""

    def definition_named(self, file: int, scope: int, name: str) -> int:
        """Return the definition that a name, or the text for a class, means in a scope, or -1."""

    def with_instances(self, value: Value, name: str, member: Value | None) -> Value | None:
        """Return a member of a class, with the instances that a library finds by it."""

    def member_of(self, file: int, query: Value, name: str, found: Value | None) -> Value | None:
        """Return a member of a query, of which `found` is what its parts have."""

    def result_of(self, method: Value) -> Value:
        """Return what a method that the repository has for queries gives."""

    def of_own_class(self, definition: int) -> Value | None:
        """Return the query that a class asks for by a name alone."""

    def is_filter(self, definition: int) -> bool:
        """Return True for what a statement such as `scope :active` defines."""

    def filter_of(self, settings: TypeSettings, value: Value, name: str, is_run: bool) -> Value | None:
        """Return a filter that a class has for its queries, or the query that it gives where `is_run`; else None."""


@dataclass(slots=True, eq=False)
class NameBindings:
    """All bindings of a name, with their files; the first with an annotation; and what was inferred from all of them.

    `is_open` while that is being inferred, `is_known` when it is final.
    """

    every: Sequence[tuple[int, Binding]]
    typed: tuple[int, Binding] | None
    union: Value | None = None
    is_open: bool = False
    is_known: bool = False


class InferenceBase(ABC):
    """Entry points of inference, which its parts call, and the effect of marks on values."""

    __slots__ = ()
    program: Program
    name_lookup: NameLookup
    derived_from_outside: set[int]  # types with a base that is not of the repository
    known: dict[tuple[int, int, str, str | None], Value | None]  # chains that were inferred
    n_cut: int  # how often a chain was given up because it leads back to itself, or too many are open
    large_names: dict[tuple[int, int, str, int], NameBindings]  # of names with very many bindings
    queries: "Queries"
    unfolding: set[object]  # aliases and bounds being followed: one may lead to itself
    _open_holders: set[int]  # constants and fields whose content is being looked into

    @property
    @abstractmethod
    def depth(self) -> int:
        """Number of chains that are being read, each for the sake of the one before."""

    @abstractmethod
    def infer_chain(self, file: int, scope: int, chain: str, called: str | None = None) -> Value | None:
        """Return the value of a chain."""

    @abstractmethod
    def follow_members(
        self, file: int, value: Value | None, parts: list[str], first: int, called: str | None = None
    ) -> Value | None:
        """Return the value of the chain `parts` if everything before its part number `first` is `value`."""

    @abstractmethod
    def lookup_name(
        self, file: int, scope: int, name: str, called: str | None = None, path: bool = False
    ) -> Value | None:
        """Return the value of a bare name."""

    @abstractmethod
    def assignments_of(self, owner: int, name: str) -> Sequence[tuple[int, Binding]]:
        """Return (file, binding) wherever a type is given an attribute."""

    @abstractmethod
    def default_export(self, module: Value) -> Value | None:
        """Return the value that a file puts in the place of its module."""

    @abstractmethod
    def infer_annotation(self, file: int, scope: int, name: str, rule: str) -> Value:
        """Return an instance of the type that an annotation names."""

    @abstractmethod
    def resolve_alias(self, definition: int) -> Value | None:
        """Return the type that another name is given to."""

    @abstractmethod
    def call_result(self, value: Value | None) -> Value | None:
        """Return what calling a value gives."""

    @abstractmethod
    def content_of(self, definition: int) -> Value | None:
        """Return the content of a constant or field."""

    @abstractmethod
    def type_arguments(self, value: Value, owner: int) -> dict[str, Value]:
        """Return what the type parameters of `owner` stand for in a value of that type or of one below it."""

    @abstractmethod
    def find_opened_type(self, file: int, scope: int, name: str) -> Value | None:
        """Return the type that a name means, in languages whose files open what they use."""

    def element_of_iterable(self, value: Value, methods: Sequence[str], is_each: bool = False) -> Value | None:
        """Return what is taken from an instance, by the first of its methods; None if it has none of them.

        Where headers are, an iterator may be an object that points; a loop takes each element by the first of the
        methods that gives one, anything else by the last.
        What gives no such instance may have been an array before, whose elements have the members of `value`.
        """
        program = self.program
        settings = program.files[program.file_of[value.number]].settings
        taken: list[Value] = []
        for step in methods:
            number, _ = program.find_member(value.number, step)
            if number < 0:
                continue
            made = self.call_result(self.with_arguments(value, Value(ValueKind.DEFINITION, number, value.rule)))
            if settings is None or not settings.modules.headers:
                return made or UNKNOWN
            if made is not None and made.kind is ValueKind.INSTANCE and step == methods[0]:
                number, _ = program.find_member(made.number, "operator*")
                star = Value(ValueKind.DEFINITION, number, made.rule)
                made = self.call_result(self.with_arguments(made, star)) if number >= 0 else made
            if made is not None and made.kind is ValueKind.INSTANCE and made.number != value.number:
                taken.append(made._replace(also=(value.number,)))
        return taken[0 if is_each else -1] if taken else None

    def pointed_member(self, file: int, value: Value, name: str, called: str | None) -> Value | None:
        """Return the member of what an instance points at by an operator of its own; None for other instances."""
        program = self.program
        settings = program.files[program.file_of[value.number]].settings
        if value.kind is not ValueKind.INSTANCE or settings is None or not settings.modules.headers:
            return None
        number, _ = program.find_member(value.number, "operator->")
        key = "operator->", value.number
        if number < 0 or key in self.unfolding:
            return None
        self.unfolding.add(key)
        star = Value(ValueKind.DEFINITION, number, value.rule)
        pointed = self.call_result(self.with_arguments(value, star))
        is_other = pointed is not None and pointed.kind is ValueKind.INSTANCE and pointed.number != value.number
        member = self.follow_members(file, pointed, ["", name], 1, called) if is_other else None
        self.unfolding.discard(key)
        return member

    def with_arguments(self, value: Value, member: Value) -> Value:
        """Return the member of a generic value, which knows what its type parameters stand for."""
        if member.kind is not ValueKind.DEFINITION or member.parts:
            return member
        owner = self.program.enclosing_type(member.number)
        given = self.type_arguments(value, owner) if owner >= 0 else {}
        return member._replace(parts=tuple(given.values()), type=",".join(given)) if given else member

    def _of_own_type(self, owner: int, member: Value) -> Value:
        """Return the member that a bare name means inside of a type, which knows what its bases are given."""
        settings = self.program.files[self.program.file_of[owner]].settings
        if settings is None or not settings.modules.libraries or member.rule != RuleName.INHERITED:
            return member
        return self.with_arguments(Value(ValueKind.INSTANCE, owner, RuleName.SELF), member)

    def _given_to_lambda(self, function: int, wanted: str) -> Value:
        """Return what a function gives to a lambda behind its other arguments, if its overloads agree on that."""
        same, elsewhere = self.program.overloads_of(function)
        argument: Value = UNKNOWN
        for each in [function, *(e for e in (*same, *elsewhere) if e != function)][:_MAX_OVERLOADS]:
            parameters = self.program.parameters.get(each, ())
            taken = next((name for name in reversed(parameters) if "->" in name), parameters[-1] if parameters else "")
            value = self._given_by(each, taken.strip("=."), wanted) if parameters else UNKNOWN
            if value.kind is not ValueKind.INSTANCE:
                continue
            if argument.kind is ValueKind.INSTANCE and argument.number != value.number:
                return UNKNOWN
            argument = value
        return argument

    def _given_by(self, holder: int, written: str, wanted: str, depth: int = 0) -> Value:
        """Return what a function gets that is of a written type: a type of functions, or one with a single method."""
        program = self.program
        at = program.file_of[holder]
        symbols, local = program.files[at], holder - program.files[at].first
        after = int(wanted.partition("-")[2] or 0)
        if taken := _FUNCTION_TYPE.fullmatch(written):
            given = [each.rpartition(":")[2] for each in taken[2].split(",")]
            name = (taken[1] or "") if wanted == OWN_OBJECT else given[-1 - after] if after < len(given) else ""
            name = name.rstrip("?")
            return self.infer_annotation(at, local, name, RuleName.ANNOTATION) if name.isidentifier() else UNKNOWN
        generic = re.search(rf"\b{re.escape(written)}<([\w\s.,?]*)>", program.definition_of[holder].signature)
        arguments = [each.split()[-1].strip("?") for each in generic[1].split(",") if each.strip()] if generic else []
        whole = generic_of(written, arguments) if arguments else written
        if symbols.settings is not None and written in symbols.settings.lambdas.takers:
            n_given = 2 if written.startswith("Bi") else 1
            name = arguments[n_given - 1 - after] if after < n_given <= len(arguments) else ""
            return self.infer_annotation(at, local, name, RuleName.ANNOTATION) if name else UNKNOWN
        value = self.infer_chain(at, local, written) if written.isidentifier() and depth < _MAX_ALIASES else None
        if value is None or value.kind is not ValueKind.DEFINITION:
            return UNKNOWN
        definition = program.definition_of[value.number]
        if definition.kind == NodeKind.TYPE:
            function_type = "".join(definition.signature.partition("=")[2].split())
            return self._given_by(value.number, function_type, wanted, depth + 1)
        method = self._only_method(value.number) if definition.kind == NodeKind.INTERFACE else -1
        names = program.parameters.get(method, ())
        if wanted == OWN_OBJECT or after >= len(names):
            return UNKNOWN
        name = names[-1 - after].strip("=.")
        of_type = self.infer_annotation(at, local, whole, RuleName.ANNOTATION)
        if of_type.parts and name in (stands := self.type_arguments(of_type, value.number)):
            return stands[name]
        file = program.file_of[method]
        return self.infer_annotation(file, method - program.files[file].first, name, RuleName.ANNOTATION)

    def _only_method(self, interface: int) -> int:
        """Return the method that a function stands for where this interface is expected, or -1."""
        program = self.program
        symbols, name = program.files[program.file_of[interface]], program.definition_of[interface].qualname
        methods = [
            symbols.first + local
            for local, each in enumerate(symbols.facts.definitions)
            if symbols.first + each.parent == interface
            and each.kind in CALLABLE_KINDS
            and each.qualname == f"{name}.{each.name}"
            and not _HAS_BODY.search(each.signature)
        ]
        return methods[0] if len(methods) == 1 else -1

    def infer_type_name(self, file: int, scope: int, name: str) -> Value | None:
        """Return the value of a chain that stands for a type: no member that is called like its type."""
        settings = self.program.files[file].settings
        if settings is not None and settings.modules.opened and (named := self.find_opened_type(file, scope, name)):
            return named
        if settings is not None and settings.modules.headers:
            symbols, head = self.program.files[file], name.partition(".")[0]
            while scope >= 0 and (variable := symbols.bindings.get(scope, {}).get(head)) and variable.type:
                scope = symbols.facts.definitions[scope].parent  # a variable is no type, and hides none
        value = self.infer_chain(file, scope, name)
        if value is None or value.kind is not ValueKind.DEFINITION or settings is None or "." in name:
            return value
        kind = self.program.definition_of[value.number].kind
        is_member = kind in (NodeKind.FIELD, NodeKind.METHOD) and settings.names.partial_type_pattern
        return (self.infer_chain(file, MODULE_SCOPE, name) or value) if is_member else value

    def content_of_value(self, value: Value) -> Value | None:
        """Return the content of a constant, field or property; None of all else, and where that leads back to it."""
        kind = self.program.definition_of[value.number].kind
        if not (self.program.is_value(value.number) or kind == NodeKind.METHOD):
            return None
        return self._content_unless_open(value.number)

    def special_methods(self, file: int, scope: int, chain: str) -> Iterator[tuple[int, str, int]]:
        """Yield (method, rule, candidates) of the special methods that an operator calls on an object.

        `chain` is the expression of the object with the name of the method at its end, `self.items.__len__`.

        A type without the method has another one run in its place. Of types that are not known nothing is said.
        """
        receiver, _, method = chain.rpartition(".")
        names = [each for each in (method, *_IN_PLACE.get(method, ())) if each in self.program.methods]
        value = self.infer_chain(file, scope, receiver) if names else None
        if value is not None and value.kind is ValueKind.DEFINITION:
            value = self.content_of_value(value)
        parts = value.parts if value is not None and value.kind is ValueKind.UNION else (value,)
        for part in parts:
            if part is None or part.kind is not ValueKind.INSTANCE:
                continue
            # What stands in the place of a method may be that of a base from outside: `dict` has its own `__iter__`.
            usable = [method] if names[1:] and self._has_outer_base(part.number) else names
            found = (self.program.find_member(part.number, each)[0] for each in usable)
            called = next((each for each in found if each >= 0), -1)
            left = self.program.find_member(part.number, _LEFT_BY[method])[0] if method in _LEFT_BY else -1
            for each in (called, left):
                if each >= 0 and self.program.definition_of[each].kind in CALLABLE_KINDS:
                    yield each, part.rule, len(parts)

    def _has_outer_base(self, number: int) -> bool:
        """Return True if a type has a base that is not of the program and may have methods."""
        for each in self.program.linear_bases(number):
            written = self.program.files[self.program.file_of[each]].bases_written(each)
            if len(set(written) - _PLAIN_BASES) > len(self.program.bases_of(each)):
                return True
        return False

    def is_held(self, value: Value) -> bool:
        """Return True if a value is a constant or field, which contains another value."""
        return value.kind is ValueKind.DEFINITION and self.program.is_value(value.number)

    def result_of_held(self, value: Value) -> Value | None:
        """Return the result of calling a function that a constant, field or value holds."""
        settings = self.program.files[self.program.file_of[value.number]].settings if value.number >= 0 else None
        if value.kind is ValueKind.INSTANCE and settings is not None and settings.types.called_elements:
            return value  # an element of an array
        if not self.is_held(value):
            return self._part_of(value, ValueKind.CALLABLE)
        content = self._content_unless_open(value.number)
        is_read = settings is not None and settings.names.bare_calls  # by a method that is named like the field
        result = UNKNOWN if content is None else content if is_read else self.call_result(content)
        if result is None or self.program.definition_of[value.number].kind != NodeKind.FIELD:
            return result
        return result.with_rule_throughout(RuleName.ATTRIBUTE_TYPE)

    def value_at(self, file: int, binding: Binding) -> Value | None:
        """Return the value that a name is given; of `old = f` before `f = function`, that of f outside."""
        made = self.infer_chain(file, binding.scope, binding.value)
        symbols = self.program.files[file]
        if made is None or made.kind is not ValueKind.DEFINITION or symbols.settings is None:
            return made
        if binding.scope < 0 or not symbols.settings.names.assigned_outside or "." in binding.value:
            return made
        definition = self.program.definition_of[made.number]
        is_own = self.program.parent(made.number) == symbols.first + binding.scope and definition.kind not in TYPE_KINDS
        if not is_own or definition.start_row <= binding.row or definition.signature.startswith(_HOISTED):
            return made
        return self.infer_chain(file, symbols.facts.definitions[binding.scope].parent, binding.value)

    def of_parameter(self, file: int, scope: int, chain: str, wanted: str) -> Value | None:
        """Return what a function gives to the function in a parameter of it, or what another parameter is of."""
        if chain.startswith("<"):  # a function of a type with a name
            return self._given_to_function(file, scope, chain[1:-1], wanted)
        function = self.infer_chain(file, scope, chain, None if ":" in wanted else UNCOUNTED)
        if function is None or function.kind is not ValueKind.DEFINITION:
            return UNKNOWN
        number = function.number
        placed = _PLACED.fullmatch(wanted)
        if placed is None:
            return UNKNOWN if wanted.startswith(PLACE) else self._given_to_lambda(number, wanted)
        settings = self.program.files[self.program.file_of[number]].settings
        if settings is not None and self.program.is_type(number) and (settings.types.arrow or settings.lambdas.types):
            made = (self.program.find_member(number, each, called=UNCOUNTED) for each in settings.names.constructors)
            own = [each for each, inherited in made if settings.types.arrow or not inherited]
            number = max(own, default=-1) if settings.types.arrow else max([number, *own])
        parameters, place = self.program.parameters.get(number, ()), int(placed[1])
        if placed[2] == GIVEN:
            return self._given_in_place(number, place)
        written = parameters[place].strip("=.") if place < len(parameters) else ""
        if not written:
            return UNKNOWN
        at = self.program.file_of[number]
        local = number - self.program.files[at].first
        if placed[2]:
            return self._given_to_function(at, local, written, wanted)
        return self.infer_annotation(at, local, written, RuleName.ANNOTATION)

    def of_labeled(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        """Return the member of the type of the parameter that an argument with a label is for: `f(at: .first(1))`.

        The functions that may be called have to agree.
        """
        head, _, rest = chain.rpartition(f".{PLACE}")
        if not head:
            return None
        place, _, name = rest.partition(".")
        function, (at, label) = self.infer_chain(file, scope, head, UNCOUNTED), place.split("=")
        if function is None or function.kind is not ValueKind.DEFINITION:
            return None
        program, found = self.program, dict[int, Value]()
        several = [function.number]
        if program.is_type(function.number):
            several = [program.find_member(function.number, "init")[0]]
            if several[0] < 0:  # made of all its fields
                several = [program.find_own_member(function.number, label)]
                held = self._content_unless_open(several[0]) if several[0] >= 0 else None
                member = self._implicit_member(file, held, name, called)
                return member if member is not None and member.kind is ValueKind.DEFINITION else None
        every = dict.fromkeys([*several, *(each for some in program.overloads_of(several[0]) for each in some)])
        for number in every:
            symbols = program.files[program.file_of[number]]
            taking = labeled_parameters(program.definition_of[number].signature)
            named = symbols.bindings.get(number - symbols.first, {}).get(label)
            if named is not None and named.type and all(of_label != label for of_label, _ in taking):
                taking = [(label, named.type)]  # behind the end of a long signature
            for position, (of_label, written) in enumerate(taking):
                if of_label != label or (label == "_" and position != int(at)):
                    continue
                type_ = _NAMED_TYPE.match(written)
                taken = (
                    self.infer_annotation(
                        program.file_of[number], number - symbols.first, type_[1], RuleName.ANNOTATION
                    )
                    if type_
                    else None
                )
                member = self._implicit_member(file, taken, name, called)
                if member is not None and member.kind is ValueKind.DEFINITION:
                    found[member.number] = member
        return next(iter(found.values())) if len(found) == 1 else None

    def _implicit_member(self, file: int, value: Value | None, name: str, called: str | None) -> Value | None:
        """Return the member of the type of a value; the type for a constructor that it does not write."""
        if value is None or value.kind not in (ValueKind.INSTANCE, ValueKind.COLLECTION):
            return None
        instance = value._replace(kind=ValueKind.INSTANCE, rule=RuleName.ANNOTATION)
        member = self.follow_members(file, instance, ["", *name.split(".")], 1, called)
        is_made = member is None and name == "init" and self.program.definition_of[value.number].kind in _MADE_KINDS
        return Value(ValueKind.DEFINITION, value.number, RuleName.ANNOTATION) if is_made else member

    def _given_in_place(self, function: int, place: int) -> Value:
        """Return the only argument of a function without a name at a place, if all overloads agree that take one."""
        found: list[Value] = []
        for each in self.program.select_overloads(function, UNCOUNTED)[:_MAX_OVERLOADS]:
            parameters = self.program.parameters.get(each, ())
            rest = parameters[-1].endswith(REST) if parameters else False
            written = parameters[min(place, len(parameters) - 1)] if rest or place < len(parameters) else ""
            written = written.strip("=.").removesuffix("[]" if rest else "")
            value = self._argument_of(each, written) if written else UNKNOWN
            if value.kind is not ValueKind.UNKNOWN and all(value.number != other.number for other in found):
                found.append(value)
        return found[0] if len(found) == 1 else UNKNOWN

    def _argument_of(self, function: int, written: str) -> Value:
        """Return the only argument of a function that is given for a parameter of this type.

        It is a generic type of functions, or an interface of the repository with one method.
        """
        program = self.program
        file = program.file_of[function]
        local, settings = function - program.files[file].first, program.files[file].settings
        head, arguments = split_generic(written)
        if arguments and settings is not None and head in settings.lambdas.types:
            gives = settings.types.functions
            is_given = not gives or len(arguments) == 1 + (head in gives)
            return self.infer_annotation(file, local, arguments[0], RuleName.ANNOTATION) if is_given else UNKNOWN
        taken = self.infer_annotation(file, local, head, RuleName.ANNOTATION)
        if taken.kind is not ValueKind.INSTANCE or program.definition_of[taken.number].kind != NodeKind.INTERFACE:
            return UNKNOWN
        at = program.file_of[taken.number]
        first, definitions = program.files[at].first, program.files[at].facts.definitions
        own = taken.number - first
        methods = [i for i, each in enumerate(definitions) if each.parent == own and each.kind == NodeKind.METHOD]
        given = program.parameters.get(first + methods[0], ()) if len(methods) == 1 else ()
        if len(given) != 1:
            return UNKNOWN
        return self.infer_annotation(at, methods[0], given[0], RuleName.ANNOTATION)

    def _given_to_function(self, file: int, scope: int, written: str, wanted: str) -> Value:
        """Return what a function of a type, or of another name for it, is given for its parameter in `wanted`."""
        for _ in range(_MAX_ALIASES):
            function = split_function(written)
            if function is not None:
                given, position = function[0], int(wanted.rpartition(":")[2])
                type_ = given[position] if position < len(given) else ""
                return self.infer_annotation(file, scope, type_, RuleName.ANNOTATION)
            value = self.infer_chain(file, scope, written)
            if value is None or value.kind is not ValueKind.DEFINITION:
                break
            number = self.program.as_type(value.number)
            file = self.program.file_of[number]
            scope = number - self.program.files[file].first
            written = self.program.files[file].returns.get(scope, "")
            if self.program.definition_of[number].kind != NodeKind.TYPE:
                break
        return UNKNOWN

    def _apply_simple_marks(self, value: Value | None, marks: list[str]) -> Value | None:
        """Return the value of a part of a chain after its marks, in their order."""
        for mark in marks:
            if mark == Mark.CALL:
                value = self.call_result(value)
            elif mark == Mark.SEQUENCE_OF:
                value = Value(ValueKind.SEQUENCE, -1, RuleName.CONSTRUCTED, parts=(value or BUILTIN, BUILTIN))
            elif mark in (Mark.ITEM, Mark.KEY):
                value = self._part_of(value, ValueKind.SEQUENCE, 0 if mark == Mark.ITEM else 1)
            elif mark == Mark.INSTANCE:
                made = self.call_result(value)
                value = (
                    made._replace(rule=RuleName.ANNOTATION)
                    if made is not None and made.kind is ValueKind.INSTANCE
                    else made
                )
            elif value is not None and value.kind is ValueKind.TUPLE:
                position = int(mark[1:])
                value = value.parts[position] if position < len(value.parts) else UNKNOWN
            elif mark != ":0":
                value = BUILTIN  # whether there was a first result
        return value

    def class_of_constructor(self, value: Value) -> Value:
        """Return the class that the name of its constructor means outside of calls; any other value as it is."""
        if value.kind is not ValueKind.DEFINITION:
            return value
        definition = self.program.definition_of[value.number]
        owner = self.program.enclosing_owner(value.number) if definition.kind == NodeKind.METHOD else -1
        if owner < 0 or self.program.definition_of[owner].name != definition.name:
            return value
        return value._replace(number=owner)

    def _part_of(self, value: Value | None, kind: ValueKind, which: int = 0) -> Value | None:
        """Return an item of a collection, or the result of a function value.

        A generic definition with types behind it is itself.
        """
        if value is None or value.kind in (ValueKind.EXTERNAL, ValueKind.BUILTIN):
            return value
        if value.kind is kind:
            return value.parts[which]
        if value.kind is ValueKind.COLLECTION and kind is ValueKind.SEQUENCE:
            return value._replace(kind=ValueKind.INSTANCE) if not which else BUILTIN
        if value.kind is ValueKind.DEFINITION:
            if not self.program.is_value(value.number):
                return value if kind is ValueKind.SEQUENCE else UNKNOWN
            inner = self._part_of(self._content_unless_open(value.number), kind, which)
            if inner is None or self.program.definition_of[value.number].kind != NodeKind.FIELD:
                return inner
            return inner.with_rule_throughout(RuleName.ATTRIBUTE_TYPE)
        if value.kind is ValueKind.INSTANCE:
            program = self.program
            file = program.file_of[value.number]
            position = value.number - program.files[file].first
            annotation = program.files[file].returns.get(position, "")
            if split_type(annotation)[0] is not Shape.NONE:
                return self._part_of(
                    self.infer_annotation(file, position, annotation, RuleName.ANNOTATION), kind, which
                )
        return UNKNOWN

    def _content_unless_open(self, holder: int) -> Value | None:
        """Return the content of a constant or field; None where that leads back to it."""
        if holder in self._open_holders or len(self._open_holders) >= MAX_OPEN_HOLDERS:
            return None
        self._open_holders.add(holder)
        content = self.content_of(holder)
        self._open_holders.discard(holder)
        return content

    def infer_returned_object(self, value: Value, rule: str) -> Value | None:
        """Return the object that a method gives back which is called on `value`; None where that is no object.

        A function of a class that is said to return an object of that very class makes one.
        """
        if value.kind is ValueKind.INSTANCE:
            return value._replace(rule=rule)
        is_class = value.kind is ValueKind.DEFINITION and self.program.is_type(value.number)
        if value.kind is ValueKind.SUPER or (is_class and rule in (RuleName.RETURN_TYPE, RuleName.CONSTRUCTED)):
            return Value(ValueKind.INSTANCE, value.number, rule)
        return None

    def find_autoload(self, value: Value) -> Value | None:
        """Return the function of a type that stands for all that neither it nor a base has, or None."""
        is_type = value.kind in (ValueKind.INSTANCE, ValueKind.DEFINITION) and self.program.is_type(value.number)
        if not is_type or not self.derived_from_outside.isdisjoint(self.program.linear_bases(value.number)):
            return None
        number, _ = self.program.find_member(value.number, _AUTOLOAD)
        return Value(ValueKind.DEFINITION, number, value.rule) if number >= 0 else None

    def or_own_class(self, on: Value, method: Value, given: Value | None, is_run: bool) -> Value | None:
        """Return what a method gives, or a guess where that is not known: an instance of the class it is called on."""
        if not is_run or not (on.kind is method.kind is ValueKind.DEFINITION) or not self.program.is_type(on.number):
            return given
        if self.program.definition_of[method.number].kind not in CALLABLE_KINDS:
            return given
        made = self.call_result(method)
        is_known = made is not None and made.kind not in (ValueKind.UNKNOWN, ValueKind.UNKNOWN_MEMBER)
        return given if is_known else Value(ValueKind.INSTANCE, on.number, RuleName.LIKE_NAMED)

    def _result_of_getter(self, value: Value) -> Value | None:
        """Return what a getter without a type returns; None for other definitions."""
        is_getter = _GETTER.match(self.program.definition_of[value.number].signature)
        return self.call_result(value) if is_getter or self._is_top_getter(value.number) else None

    def _may_hold(self, number: int) -> bool:
        """Return True for a definition whose name may mean a value that it holds or gives."""
        kind = self.program.definition_of[number].kind
        return kind in (NodeKind.CONSTANT, NodeKind.FIELD, NodeKind.METHOD) or self._is_top_getter(number)

    def _is_top_getter(self, number: int) -> bool:
        """Return True for a getter at the top of a library: what it gives is meant by its name."""
        definition, settings = (
            self.program.definition_of[number],
            self.program.files[self.program.file_of[number]].settings,
        )
        is_top = definition.kind == NodeKind.FUNCTION and definition.parent < 0
        return is_top and settings is not None and settings.modules.libraries and " get " in f" {definition.signature}"

    def _member_of_metaclass(self, owner: int, name: str, called: str | None) -> Value | None:
        """Return a member that a class has from the metaclass that it, or a base of it, names."""
        program = self.program
        for base in program.linear_bases(owner):
            definition = program.definition_of[base]
            named = _METACLASS.search(definition.signature)
            if named is None:
                continue
            file = program.file_of[base]
            made = self.infer_chain(file, definition.parent, named[1])
            if made is None or made.kind is not ValueKind.DEFINITION or not program.is_type(made.number):
                return None
            number, _ = program.find_member(made.number, name, called=called)
            return Value(ValueKind.DEFINITION, number, RuleName.CLASS_ATTRIBUTE) if number >= 0 else None
        return None

    def _type_of_self(self, symbols: FileSymbols, scope: int, name: str) -> int:
        """Return the type that a name for the instance or class around means, or -1 where it means something else."""
        program = self.program
        owner = program.enclosing_owner(symbols.first + scope) if scope >= 0 else -1
        if owner < 0 or not symbols.is_shaped:
            is_file = symbols.settings is not None and symbols.settings.modules.beside and not program.is_type(owner)
            return -1 if is_file else owner  # the file is the structure
        if program.is_type(symbols.first + scope):  # there the function around may give the name a value
            scope = symbols.facts.definitions[scope].parent
        binding = symbols.bindings.get(scope, {}).get(name) if scope >= 0 else None
        is_other = binding is not None and (binding.value or binding.type.startswith("="))
        return owner if program.is_type(owner) and not is_other else -1

    def _with_own_class(self, symbols: FileSymbols, scope: int, chain: str) -> str:
        """Return a chain in which the class around makes an instance of itself, `new.run`, with its name, `A().run`.

        Only in languages that call members by their names alone.
        """
        settings = symbols.settings
        if scope < 0 or not chain.startswith(_MAKES) or settings is None or not settings.names.bare_calls:
            return chain
        head, _, rest = chain.partition(".")
        owner = self.program.enclosing_type(symbols.first + scope)
        if head.removesuffix("()") != _MAKES or owner < 0 or self.program.definition_of[owner].kind != NodeKind.CLASS:
            return chain
        if self.program.find_own_member(owner, _MAKES) >= 0:
            return chain  # one of its own
        class_name = self.program.definition_of[owner].name
        return f"{class_name}().{rest}" if rest else f"{class_name}()" if head != _MAKES else class_name


_OF_OWN_TYPE = ("substr", "append")  # methods of text that give text


def member_of_library(types: TypeSettings, value: Value, part: str) -> Value:
    """Return what a member of an object of the library gives: what it holds, its own type, or what is not known."""
    name = part.removesuffix("()")
    if name in ("[]", "[*]") or name in types.elements:
        return value.parts[0] if value.parts else value if name == "[]" else BUILTIN
    return value if name in _OF_OWN_TYPE else BUILTIN
