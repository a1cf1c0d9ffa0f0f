"""Names by modules that no import names: those that a file opens or includes, and other names of modules.

In: a name that nothing around declares, or a member that a module lacks. Out: its value, or None. Only for languages in
which naming a module is importing it. The last module that is opened around a name counts first. A module that includes
another has all of its members, also where a functor makes the other.

Groups of procedures are here as well: of what one name stands for, a call means what takes its arguments.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.infer.base import InferenceBase
from causalist.graph.infer.opened_namespaces import OpenedNamespaces, is_unseen
from causalist.graph.overload_fit import REST
from causalist.graph.program import Program
from causalist.graph.resolution_results import (
    BUILTIN,
    UNKNOWN,
    Value,
    ValueKind,
    value_of_resolution,
)
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, ImportKind
from causalist.model.node_ids import NodeKind
from causalist.model.type_notation import LAMBDA_VALUE, OPTIONAL, split_top

_MODULES = (ValueKind.MODULE, ValueKind.DEFINITION, ValueKind.PARTIAL_PACKAGE)
_NOTHING = (ValueKind.BUILTIN, ValueKind.EXTERNAL, ValueKind.UNKNOWN, ValueKind.UNKNOWN_MEMBER)
_MAX_OPEN = 12  # modules that are looked into, each for the sake of the one before


@dataclass(slots=True, eq=False)
class MentionedModules:
    """Look-ups in modules that are opened or included."""

    program: Program
    inference: InferenceBase
    opened: OpenedNamespaces = field(init=False)
    _open: set[tuple[int, int, str]] = field(default_factory=set)  # (file, number of the statement, name)

    def __post_init__(self) -> None:
        self.opened = OpenedNamespaces(self.program)

    def is_for(self, file: int) -> bool:
        """Return True for a file in whose language naming a module imports it."""
        settings = self.program.files[file].settings
        return settings is not None and settings.modules.mentioned

    def find_at_top(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a name means that nothing around `scope` declares but the file itself, or a module it names."""
        symbols = self.program.files[file]
        last = symbols.by_qualname.get(name)
        own = self.find_before(symbols, scope, last) if last is not None else None
        if own is not None:
            return Value(ValueKind.DEFINITION, own, RuleName.SAME_FILE)
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(name)
        resolution = self.program.follow_import(file, entry) if entry is not None else None
        if entry is not None and resolution is not None and resolution.rule == "dotted":
            return Value(ValueKind.PARTIAL_PACKAGE, file, RuleName.PATH, entry.module.partition(".")[0])
        value = value_of_resolution(resolution, "") if resolution is not None else None
        if value is not None and value.kind is not ValueKind.EXTERNAL:
            return value
        binding = symbols.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None and binding.value:
            return self.inference.infer_chain(file, MODULE_SCOPE, binding.value)
        # One without a value may be of a function without a name, elsewhere in the file.
        return self.find_opened(file, scope, name, called) or value or (UNKNOWN if binding is not None else None)

    def find_before(self, symbols: FileSymbols, scope: int, last: int) -> int | None:
        """Return which of the definitions with the qualified name of `last` a name means in `scope`.

        It is the last one before that is seen from there and is no method.
        """
        qualname = symbols.facts.definitions[last - symbols.first].qualname
        for number in reversed(symbols.redefined.get(qualname, (last,))):
            if not self.program.is_object_method(number) and not is_unseen(symbols, scope, number):
                return number
        return None

    def find_opened(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a name means that a module opened around `scope` brings."""
        around, definitions = {scope, MODULE_SCOPE}, self.program.files[file].facts.definitions
        while scope != MODULE_SCOPE:
            scope = definitions[scope].parent
            around.add(scope)
        value = self._find(file, around, name, called, (ImportKind.STAR, ImportKind.REEXPORT_ALL))
        return value._replace(rule=RuleName.STAR_IMPORT) if value is not None else None

    def find_member(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a module has under a name that no definition in it has: another name, or an included member.

        `scope` is the number of the module among the definitions of its file, or that of the file itself.
        """
        binding = self.program.files[file].bindings.get(scope, {}).get(name)
        if binding is not None and binding.value and name[:1].isupper():
            key = (file, -1, name)
            if key in self._open:
                return None
            self._open.add(key)
            value = self.inference.infer_chain(file, scope, binding.value)
            self._open.discard(key)
            return value
        member = self._find(file, {scope}, name, called, (ImportKind.REEXPORT_ALL,))
        return member._replace(rule=RuleName.RE_EXPORT) if member is not None else None

    def find_inside(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        """Return what a chain means of which modules are opened for a part of an expression, the innermost first."""
        symbols, (keys, _, rest) = self.program.files[file], chain.partition(".")
        for target in (f"{LAMBDA_VALUE}{key}" for key in keys[1:].split(LAMBDA_VALUE) if rest):
            at = scope
            while at != MODULE_SCOPE and target not in symbols.bindings.get(at, {}):
                at = symbols.facts.definitions[at].parent
            opened, key = symbols.bindings.get(at, {}).get(target), (file, -2, f"{target}.{rest}")
            if opened is None or key in self._open or len(self._open) > _MAX_OPEN:
                continue
            self._open.add(key)
            module = self.inference.infer_chain(file, at, opened.value)
            value = self._member_of(file, module, opened.value, rest, called)
            self._open.discard(key)
            if value is not None:
                return value._replace(rule=RuleName.STAR_IMPORT) if "." not in rest else value
        return self.inference.infer_chain(file, scope, rest, called) if rest else UNKNOWN

    def find_in_library(self, library: Value, name: str) -> Value:
        """Return the module of a library that no file stands for."""
        module = self.inference.name_lookup.find_dotted_module(library.number, f"{library.name}.{name}")
        return module or BUILTIN

    def _find(
        self, file: int, scopes: set[int], name: str, called: str | None, kinds: tuple[ImportKind, ...]
    ) -> Value | None:
        stars = self.program.files[file].stars
        for at in range(len(stars) - 1, -1, -1):
            star, key = stars[at], (file, at, name)
            if star.kind not in kinds or star.scope not in scopes or key in self._open or len(self._open) > _MAX_OPEN:
                continue
            self._open.add(key)
            module = self.inference.infer_chain(file, star.scope, star.module)
            value = self._member_of(file, module, star.module, name, called)
            self._open.discard(key)
            if value is not None:
                return value
        return None

    def _member_of(self, file: int, module: Value | None, name: str, chain: str, called: str | None) -> Value | None:
        """Return the value of a chain in a module of that name; None unless it is known."""
        if module is None or module.kind not in _MODULES:
            return None
        value = self.inference.follow_members(file, module, [name, *chain.split(".")], 1, called)
        return value if value is not None and value.kind not in _NOTHING else None


_Place = tuple[int, int]  # file, scope
_NUMBER = re.compile(
    r"(?:[iu](?:8|16|32|64|128)(?:[lb]e)?|f(?:16|32|64)(?:[lb]e)?|int|uint|uintptr|byte|rune|complex\d+)"
)
_BASIC = re.compile(rf"{_NUMBER.pattern}|bool|b(?:8|16|32|64)|c?string|rawptr|typeid|any")
_RESULT = re.compile(r"(.*\(\))(?::(\d+))?")
_MAX_STEPS = 4  # names that are given one another
_MAX_MEMBERS = 12  # procedures of a group that are told apart


class GivenType(NamedTuple):
    """Type of a value or a parameter: how many collections are around it, its name, its number or -1."""

    rank: int
    name: str
    number: int


@dataclass(frozen=True, slots=True)
class ProcedureGroups:
    """Lists of procedures that one name stands for, and the choice of one by the arguments of a call."""

    inference: InferenceBase

    def choose(self, place: _Place, group: int, values: str) -> list[int]:
        """Return the procedures of a group that a call may run: one where the arguments say so.

        `values` are those of the call as `listed_arguments` has them.
        """
        members = self._members(group, 0)
        if len(members) < 2 or not values or len(members) > _MAX_MEMBERS:
            return members or [group]
        given = [] if values == "()" else ["" if each == "?" else each for each in values.split(",")]
        typed = [(name, self._value(place, value)) for name, value in map(_split_named, given)]
        scores = [(self._score(each, typed), each) for each in members]
        best = max((score for score, _ in scores if score is not None), default=None)
        return [each for score, each in scores if score is not None and score == best] or members

    def _members(self, group: int, depth: int) -> list[int]:
        program = self.inference.program
        symbols, definition = program.files[program.file_of[group]], program.definition_of[group]
        found: dict[int, None] = {}
        for name in symbols.specifics.get(definition.qualname, ()):
            value = self.inference.infer_chain(program.file_of[group], definition.parent, name)
            if value is None or value.kind is not ValueKind.DEFINITION:
                continue
            several = depth < _MAX_STEPS and program.definition_of[value.number].kind == NodeKind.FUNCTION
            inner = self._members(value.number, depth + 1) if several else []
            found.update(dict.fromkeys(inner or [value.number]))
        return list(found)

    def _score(self, procedure: int, given: Sequence[tuple[str, GivenType | str | None]]) -> int | None:
        """Return how many arguments have the type of their parameter; None if one has another, or is too many."""
        program = self.inference.program
        file = program.file_of[procedure]
        place = file, procedure - program.files[file].first
        open_ = [each.partition(":")[::2] for each in program.parameters.get(procedure, ())]
        score = 0
        for name, value in given:
            at = next((i for i, each in enumerate(open_) if each[0] == name), -1) if name else 0
            if at < 0 or at >= len(open_):
                return None
            written = open_[at][1]
            if not written.endswith(REST):
                del open_[at]
            fits = self._fits(self._read(place, written.removesuffix(REST).removesuffix(OPTIONAL)), value)
            if fits is False:
                return None
            score += fits is True
        needed = any(not written.endswith((OPTIONAL, REST)) for _, written in open_)
        return None if needed else score

    def _fits(self, taken: GivenType | None, given: "GivenType | str | None") -> bool | None:
        if taken is None or given is None or taken.name == "any":
            return None
        if isinstance(given, str):
            kind = self.inference.program.definition_of[taken.number].kind if taken.number >= 0 else NodeKind.TYPE
            return _fits_literal(taken, kind, given)
        if taken.rank != given.rank:
            return False if taken.number < 0 or self._alias(taken.number) is False else None
        if not taken.name or not given.name:
            return None
        if taken.number >= 0 <= given.number:
            if taken.number == given.number or taken.number in self.inference.program.linear_bases(given.number):
                return True
            return None if self._alias(taken.number) is not False or self._alias(given.number) is True else False
        if taken.number >= 0 or given.number >= 0:
            return False if self._alias(max(taken.number, given.number)) is False else None
        if taken.name == given.name:
            return True
        return None if "rawptr" in (taken.name, given.name) else False

    def _alias(self, number: int) -> bool | None:
        """Return True for another name of a type, None for a union, which takes several, else False."""
        definition = self.inference.program.definition_of[number]
        if definition.kind != NodeKind.TYPE:
            return False
        return None if re.search(r"::\s*union\b", definition.signature) else "distinct" not in definition.signature

    def _read(self, place: _Place, written: str) -> GivenType | None:
        """Return a type that is written in the notation of types."""
        rank = written.count("[")
        name = written.rpartition("]")[2]
        if not written or "(" in name or "{" in name:
            return None
        if not name or _BASIC.fullmatch(name):
            return GivenType(rank, name, -1)
        value = self.inference.infer_chain(*place, name)
        if value is None or value.kind is not ValueKind.DEFINITION:
            return GivenType(rank, name.rpartition(".")[2], -1) if "." in name else None
        return GivenType(rank, name, value.number) if self.inference.program.is_type(value.number) else None

    def _value(self, place: _Place, chain: str, depth: int = 0) -> "GivenType | str | None":
        """Return the type of a value, `=` and the kind of a literal, or None."""
        program = self.inference.program
        if not chain or depth > _MAX_STEPS or chain[:1] == "=":
            return chain or None
        if _BASIC.fullmatch(chain.removesuffix("()")):
            return GivenType(0, chain.removesuffix("()"), -1) if chain.endswith("()") else GivenType(0, "typeid", -1)
        result = _RESULT.fullmatch(chain)
        if result is None and "." not in chain:
            scope = place[1]
            while scope != MODULE_SCOPE:
                binding = program.files[place[0]].bindings.get(scope, {}).get(chain)
                if binding is not None:
                    at = place[0], scope
                    return self._read(at, binding.type) if binding.type else self._value(at, binding.value, depth + 1)
                scope = program.files[place[0]].facts.definitions[scope].parent
        value = self.inference.infer_chain(*place, result[1].removesuffix("()") if result else chain)
        if value is not None and value.kind is ValueKind.DEFINITION:
            around = program.parent(value.number)
            if result is None and around >= 0 and program.definition_of[around].kind == NodeKind.ENUM:
                return GivenType(0, program.definition_of[around].name, around)
            return self._content_type(value.number, result is not None, int(result[2] or 0) if result else 0, depth)
        if value is not None and value.kind is ValueKind.INSTANCE and result is None:
            return GivenType(0, program.definition_of[value.number].name, value.number)
        last = result[1].removesuffix("()").rpartition(".")[2] if result else ""
        return GivenType(0, last, -1) if last[:1].isupper() else None  # a type from outside, of which a value is made

    def _content_type(self, number: int, is_called: bool, index: int, depth: int) -> "GivenType | str | None":
        """Return the type of what a definition holds, or gives where it is called."""
        program = self.inference.program
        file, definition = program.file_of[number], program.definition_of[number]
        symbols = program.files[file]
        if program.is_type(number):
            return GivenType(0, definition.name, number) if is_called else GivenType(0, "typeid", -1)
        if is_called:
            written = symbols.returns.get(number - symbols.first, "")
            if written.startswith("("):
                parts = split_top(written[1:-1], ",")
                written = parts[index] if index < len(parts) else ""
            return self._read((file, number - symbols.first), written)
        for name in (definition.name, f".{definition.name}"):
            binding = symbols.bindings.get(definition.parent, {}).get(name)
            if binding is not None:
                at = file, definition.parent
                return self._read(at, binding.type) if binding.type else self._value(at, binding.value, depth + 1)
        return None


def _split_named(value: str) -> tuple[str, str]:
    name, colon, rest = value.partition(":")
    return (name, rest) if colon and name.isidentifier() else ("", value)


def _fits_literal(taken: GivenType, kind: int, given: str) -> bool | None:
    if taken.number >= 0 and taken.rank == 0 and kind == NodeKind.STRUCT:
        return None if given in ("=parts", "=nil") else False
    if taken.number >= 0 and taken.rank == 0 and kind == NodeKind.ENUM:
        return given == "=enum"
    if taken.number >= 0 and taken.rank == 0:
        return None
    if given == "=nil":
        return False if taken.rank == 0 and _BASIC.fullmatch(taken.name) and taken.name != "rawptr" else None
    if given == "=parts":
        return False if taken.rank == 0 and _BASIC.fullmatch(taken.name) else None
    if taken.rank or not taken.name:
        return None if given == "=nil" else False
    if given == "=enum":
        return False if _BASIC.fullmatch(taken.name) else None
    if given in ("=int", "=rune"):
        return _NUMBER.fullmatch(taken.name) is not None
    if given == "=float":
        return bool(taken.name[:1] in "fc" and _NUMBER.fullmatch(taken.name))
    return taken.name.endswith("string") if given == "=string" else taken.name[:1] == "b" and taken.name != "byte"


def value_of_holder(inference: InferenceBase, file: int, scope: int, chain: str) -> Value | None:
    """Return the value of what holds a member of which nothing is known: the last name but one, or else the first.

    Where modules have whole names, `A.B` is no member of A, but the module of that name, if there is one.
    """
    program, symbols = inference.program, inference.program.files[file]
    if symbols.settings is not None and symbols.settings.modules.quoted and chain[:1].isupper():
        module, _, name = chain.rpartition(".")
        module, name = (chain, "") if name[:1].isupper() else (module, name)
        head, _, rest = module.partition(".")
        while scope >= 0 and head not in symbols.imports.get(scope, {}):
            scope = symbols.facts.definitions[scope].parent
        entry = symbols.imports.get(scope, {}).get(head)
        whole = ".".join(filter(None, (entry.module, entry.name, rest))) if entry is not None else module
        found = program.declared.find(symbols.settings.family, whole, symbols.path)
        member = program.find_own_member(found[1], name) if found is not None and name else -1
        number = member if member >= 0 or found is None else found[1]
        return Value(ValueKind.DEFINITION, number, RuleName.PACKAGE_SCOPE) if number >= 0 else None
    value = inference.infer_chain(file, scope, chain.rpartition(".")[0])
    if value is None or value.kind is ValueKind.UNKNOWN_MEMBER:
        value = inference.infer_chain(file, scope, chain.partition(".")[0])
    return value
