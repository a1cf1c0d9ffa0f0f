"""Values of chains, and the choice among the methods of a function, in languages that choose by all arguments.

In: a chain or a call, with what is known of the types of its arguments. Out: the value, or the methods that it may run.
"""

import re
from collections.abc import Iterator, Sequence

from causalist._internal.lazy import dataclass, field
from causalist.graph.infer.base import InferenceBase
from causalist.graph.overload_fit import known_types, leaf_types
from causalist.graph.program import Program
from causalist.graph.resolution_results import (
    UNKNOWN,
    ArgumentType,
    Meaning,
    MethodFit,
    ModuleKey,
    Value,
    ValueKind,
    split_call,
)
from causalist.graph.rules import MAX_CANDIDATES, RuleName
from causalist.model.facts import UNCOUNTED, Binding
from causalist.model.language_settings import LanguageSettings
from causalist.model.node_ids import TYPE_KINDS, NodeKind, Role
from causalist.model.role_by_path import role_of
from causalist.model.type_notation import RETURNED

_ANY = ArgumentType(-1, "Any")  # of a parameter that takes everything
_TYPE, _FUNCTION = ArgumentType(-1, "Type"), ArgumentType(-1, "Function")
_FAR = 40  # distance of a parameter that takes everything
_UNREADABLE = frozenset({"?"})
_ALIAS = re.compile(r"=\s*([^\W\d][\w.]*)\s*(?:\{|$)")
_NOTHING_GIVEN = ArgumentType(-1, "Nothing")
_MAKES = "new"  # makes an instance of the type around
_MAX_ALIASES = 4  # names that stand for one another
REST_ARGUMENT = "*"  # letter of an argument that stands for any number of them
_MAX_STEPS = 24  # values that are followed, each for the sake of the one before
_Found = tuple[int, str, int]  # definition, rule, number of candidates


def choose_operator(inference: InferenceBase, value: Value, name: str, own: Value | None) -> Value | None:
    """Return the operator of C++ that runs for an instance: `own`, its member, or a function beside its type.

    It is not known where those of one name give several types.
    """
    program = inference.program
    symbols, definition = program.files[program.file_of[value.number]], program.definition_of[value.number]
    if symbols.settings is None or not symbols.settings.types.operators:
        return own
    several = [each for same in program.overloads_of(own.number) for each in same] if own is not None else []
    around = definition.qualname if own is None else ""
    while around and not several:
        around = around.rpartition(".")[0]
        beside = symbols.callables.get(f"{around}.{name}".lstrip("."), ())
        taken = [(each, program.parameters.get(each, ())) for each in beside]
        several = [each for each, types in taken if types and definition.name in re.findall(r"\w+", types[0])]
    found = [inference.with_arguments(value, Value(ValueKind.DEFINITION, each, value.rule)) for each in several]
    found = found or ([own] if own is not None else [])
    results = [inference.call_result(each) for each in found]
    given = {(made.kind, made.number) if made is not None else None for made in results}
    return found[0] if len(given) == 1 else UNKNOWN if given else None


@dataclass(slots=True, eq=False)
class MethodDispatch:
    """Values of chains, and the choice among the methods of a function by the types of all arguments.

    What is known of a type is what the code says: of a parameter, of what makes a value, of what a function returns. Of
    several methods that take the arguments the nearest is meant, and each one that takes only some values of their
    types may be meant as well.
    """

    program: Program
    _above: dict[int, tuple[ArgumentType, ...]] = field(default_factory=dict)
    _types: dict[tuple[int, int, str], ArgumentType | None] = field(default_factory=dict)
    _values: dict[tuple[int, int, str], ArgumentType | None] = field(default_factory=dict)
    _returned: dict[int, ArgumentType | None] = field(default_factory=dict)
    _variables: dict[ModuleKey, dict[str, tuple[int, int, str]]] = field(default_factory=dict)
    _bound: dict[int, dict[tuple[int, str], list[Binding]]] = field(default_factory=dict)
    _steps: int = 0

    def is_for(self, file: int) -> bool:
        """Return True for a file in whose language the types of all arguments choose a method."""
        settings = self.program.files[file].settings
        return settings is not None and settings.names.dispatched

    def clear(self) -> None:
        """Forget what was found."""
        for each in (self._above, self._types, self._values, self._returned, self._bound):
            each.clear()

    # -- values

    def find_value(self, file: int, scope: int, chain: str) -> Value | None:
        """Return the value of a chain: a definition, an instance of a type, or what is from outside."""
        if chain[:1] in "?<":
            return UNKNOWN
        local = self._find_local(file, scope, chain.partition(".")[0])
        if local is None and "(" not in chain and (found := self._find_named(file, scope, chain)) is not None:
            if found.outside:
                return Value(ValueKind.EXTERNAL, -1, RuleName.EXTERNAL, found.outside)
            numbers = found.definitions or self._definitions_of_module(found)
            if numbers:
                own = [each for each in numbers if self.program.file_of[each] == file]
                number = self._first_type(numbers) if self._first_type(numbers) >= 0 else (own or numbers)[0]
                return Value(ValueKind.DEFINITION, number, self._rule(file, number, found.rule))
        if local is not None and "." not in chain and isinstance(local, list):
            return Value(ValueKind.DEFINITION, local[0], RuleName.SAME_FILE)
        typed = self._type_of(file, scope, chain)
        if typed is not None and typed.number >= 0:
            return Value(ValueKind.INSTANCE, typed.number, RuleName.ANNOTATION)
        return UNKNOWN if local is not None or typed is not None or "." in chain else None

    def _definitions_of_module(self, found: Meaning) -> tuple[int, ...]:
        if found.module is None:
            return ()
        file = self.program.included.file_of(found.module)
        symbols = self.program.files[file] if file >= 0 else None
        last = found.module.name.rpartition(".")[2]
        several = enumerate(symbols.facts.definitions if symbols is not None else ())
        return tuple(
            symbols.first + i
            for i, each in several
            if symbols and each.kind == NodeKind.NAMESPACE and each.name == last
        )[:1]

    def _first_type(self, numbers: Sequence[int]) -> int:
        return next((each for each in numbers if self.program.is_type(each)), -1)

    def _find_named(self, file: int, scope: int, chain: str) -> Meaning | None:
        """Return what a chain means that no function around declares."""
        included = self.program.included
        return included.follow(included.module_at(file, scope), chain)

    def _find_local(self, file: int, scope: int, name: str) -> ArgumentType | list[int] | bool | None:
        """Return the type of a local name, True if it is unknown, the functions of that name, or None for others."""
        symbols = self.program.files[file]
        definitions = symbols.facts.definitions
        while scope >= 0 and definitions[scope].kind != NodeKind.NAMESPACE:
            for each in self.program.parameters.get(symbols.first + scope, ()):
                own, _, written = each.partition(":")
                if own == name:
                    if written.endswith("..."):
                        return ArgumentType(-1, "Tuple")
                    written = written.removesuffix("=")
                    is_one = "|" not in written
                    return ((self._type_named(file, scope, written) if is_one else None) or True) if written else _ANY
            binding = symbols.bindings.get(scope, {}).get(name)
            if binding is not None and definitions[scope].kind not in TYPE_KINDS:
                return self._type_of_variable(file, scope, name) or True
            bare = name.partition("#")[0]
            own_ones = [
                symbols.first + i for i, each in enumerate(definitions) if each.parent == scope and each.name == bare
            ]
            if own_ones and definitions[scope].kind not in TYPE_KINDS:
                return own_ones
            scope = definitions[scope].parent
        return None

    def _type_of_variable(self, file: int, scope: int, name: str) -> ArgumentType | None:
        """Return the type that all values of a variable have; a type that is said for it comes first."""
        several = self._bindings_of(file, scope, name)
        written = {each.type for each in several if each.type}
        if written:
            return self._type_named(file, scope, written.pop()) if len(written) == 1 else None
        values = {each.value for each in several if each.value != name}
        types = {self._type_of(file, scope, each) for each in values}
        return types.pop() if len(types) == 1 else None

    def _bindings_of(self, file: int, scope: int, name: str) -> Sequence[Binding]:
        if file not in self._bound:
            bound = self._bound[file] = dict[tuple[int, str], list[Binding]]()
            for each in self.program.files[file].facts.bindings:
                bound.setdefault((each.scope, each.target), []).append(each)
        return self._bound[file].get((scope, name), ())

    def _find_variable(self, file: int, scope: int, name: str) -> tuple[int, int, str] | None:
        """Return the first value of a variable of the module around, with the file and scope in which it is written."""
        variable = self._variables_in(self.program.included.module_at(file, scope)).get(name)
        return variable if variable is not None and variable[2] != name else None

    def _variables_in(self, module: ModuleKey) -> dict[str, tuple[int, int, str]]:
        """Return the variables of a module that are no definitions, with the (file, scope) of their first value."""
        if not self._variables:
            self._variables[ModuleKey("", "")] = {}
            for file, symbols in enumerate(self.program.files):
                for scope, bound in symbols.bindings.items() if self.is_for(file) else ():
                    if scope < 0 or symbols.facts.definitions[scope].kind == NodeKind.NAMESPACE:
                        own = self._variables.setdefault(self.program.included.module_at(file, scope), {})
                        for name, each in bound.items():
                            own.setdefault(name, (file, scope, f"={each.type}" if each.type else each.value))
        return self._variables.get(module, {})

    def _type_named(self, file: int, scope: int, written: str) -> ArgumentType | None:
        """Return the type of that name, without what it is of."""
        written = written.partition("{")[0].partition("?")[0]
        if not written or written in _UNREADABLE:
            return None
        key = file, scope, written
        if key not in self._types:
            self._types[key] = None
            self._types[key] = self._read_type(file, scope, written)
        return self._types[key]

    def _read_type(self, file: int, scope: int, written: str) -> ArgumentType | None:
        found = self._find_named(file, scope, written)
        number = self._first_type(found.definitions) if found is not None else -1
        if number >= 0:
            return ArgumentType(number, written)
        if found is not None and found.definitions:  # another name of a type
            return self._type_of_constant(found.definitions[0])
        return ArgumentType(-1, written.rpartition(".")[2])

    def _type_of_constant(self, number: int) -> ArgumentType | None:
        """Return the type that a constant is another name of."""
        value, file, scope = self._value_of(number)
        if value[:1] == "=" and "|" not in value:
            return self._type_named(file, scope, value[1:])
        return self._type_named(file, scope, value) if value and value[0] != "=" and "(" not in value else None

    def _value_of(self, number: int) -> tuple[str, int, int]:
        """Return the value of a constant, with the file and scope in which it is written."""
        file = self.program.file_of[number]
        symbols, each = self.program.files[file], self.program.definition_of[number]
        binding = symbols.bindings.get(each.parent, {}).get(each.name)
        if binding is None:  # with type parameters
            written = _ALIAS.search(each.signature)
            return (written[1] if written is not None else ""), file, each.parent
        return binding.value, file, each.parent

    def _type_of(self, file: int, scope: int, value: str) -> ArgumentType | None:
        """Return the type of a value as `Call.values` has it, None where it is not known."""
        if not value:
            return None
        if value[0] == "=":
            return self._type_named(file, scope, value[1:])
        key = file, scope, value
        if key not in self._values:
            if self._steps > _MAX_STEPS:
                return None
            self._values[key] = None  # a value that is made of itself
            self._steps += 1
            self._values[key] = self._follow_value(file, scope, value)
            self._steps -= 1
        return self._values[key]

    def _follow_value(self, file: int, scope: int, value: str) -> ArgumentType | None:
        head, *rest = value.split(".")
        name, n_given = split_call(head)
        local = self._find_local(file, scope, name)
        if local is None and name == _MAKES and head != name:
            return self._follow_fields(self._made_around(file, scope), rest)
        if local is not None:
            if isinstance(local, list):
                typed = self._returned_by(local, n_given) if head != name else _FUNCTION
            else:
                typed = local if isinstance(local, ArgumentType) else None
                if head != name:
                    typed = None  # what an object gives that is called
            return self._follow_fields(typed, rest)
        for end in range(len(rest) + 1, 0, -1):  # the longest name that modules hold
            path = ".".join([head, *rest[: end - 1]])
            bare, n_given = split_call(path)
            if "(" in bare:
                continue
            found = self._find_named(file, scope, bare)
            if found is None and end == 1 and (variable := self._find_variable(file, scope, bare)) is not None:
                typed = self._type_of(*variable) if path == bare else None
                return self._follow_fields(typed, rest)
            if found is None and end == 1:
                above = dict(self._settings(file).types.above)
                typed = ArgumentType(-1, bare) if path != bare and bare in above else _TYPE if bare in above else None
                return typed if not rest else None
            if found is None or not found.definitions:
                continue
            typed = self._type_of_definitions(found, bare, path[len(bare) :])
            return self._follow_fields(typed, rest[end - 1 :])
        return None

    def _made_around(self, file: int, scope: int) -> ArgumentType | None:
        """Return the type in which a constructor stands."""
        symbols = self.program.files[file]
        while scope >= 0 and symbols.facts.definitions[scope].kind not in TYPE_KINDS:
            scope = symbols.facts.definitions[scope].parent
        return ArgumentType(symbols.first + scope, symbols.facts.definitions[scope].name) if scope >= 0 else None

    def _type_of_definitions(self, found: Meaning, name: str, called: str) -> ArgumentType | None:
        """Return the type of what a name means, or of what it gives where it is `called`."""
        number = self._first_type(found.definitions)
        if number >= 0:
            return ArgumentType(number, name) if called else _TYPE
        if self.program.is_value(found.definitions[0]):
            value, file, scope = self._value_of(found.definitions[0])
            if not value:
                return None
            return self._type_of(file, scope, value if value[0] == "=" else f"{value}{called}")
        if not called:
            return _FUNCTION
        return self._returned_by(self._methods_meant(found, name), split_call(called)[1])

    def _methods_meant(self, found: Meaning, chain: str) -> Sequence[int]:
        """Return the methods of what a chain means: of a function from outside, those of the module that it names."""
        included, name = self.program.included, self.program.definition_of[found.definitions[0]].name
        if found.module is None:
            return ()
        owner = included.owner_of(found.module, name)
        if owner.root or owner.name:
            return included.methods_of(owner, name)
        return found.definitions if "." in chain else ()

    def _follow_fields(self, typed: ArgumentType | None, names: Sequence[str]) -> ArgumentType | None:
        for each in names:
            if typed is None or typed.number < 0 or "(" in each:
                return None
            symbols = self.program.files[self.program.file_of[typed.number]]
            local = typed.number - symbols.first
            binding = symbols.bindings.get(local, {}).get(f".{each}")
            if binding is None or not binding.type:
                return None
            typed = self._type_named(
                self.program.file_of[typed.number], symbols.facts.definitions[local].parent, binding.type
            )
        return typed

    def _returned_by(self, functions: Sequence[int], n_given: int) -> ArgumentType | None:
        """Return the type that all of several methods give that take so many arguments; None where one is not known."""
        given = "?" * n_given if n_given >= 0 else REST_ARGUMENT
        taking = [
            each
            for each in functions
            if each in self.program.parameters
            and self._fit(each, given, [None] * len(given), self.program.file_of[each]) is not None
        ]
        types = {self._returned_by_one(each) for each in taking}
        return types.pop() if len(types) == 1 else None

    def _returned_by_one(self, function: int) -> ArgumentType | None:
        if function not in self._returned:
            self._returned[function] = None
            file = self.program.file_of[function]
            symbols = self.program.files[file]
            local = function - symbols.first
            if written := symbols.returns.get(local, ""):
                self._returned[function] = self._type_named(file, local, written)
            else:
                types = {self._type_of(file, local, each.value) for each in self._bindings_of(file, local, RETURNED)}
                types.discard(_NOTHING_GIVEN)
                self._returned[function] = types.pop() if len(types) == 1 else None
        return self._returned[function]

    def _settings(self, file: int) -> LanguageSettings:
        settings = self.program.files[file].settings
        assert settings is not None
        return settings

    # -- types above others

    def _types_above(self, typed: ArgumentType, file: int) -> tuple[ArgumentType, ...]:
        """Return a type and those above it, the nearest first."""
        if typed.number < 0:
            names = dict(self._settings(file).types.above).get(typed.name, ())
            return (typed, *(ArgumentType(-1, each) for each in names))
        if typed.number not in self._above:
            types: dict[ArgumentType, None] = {}
            for each in self.program.linear_bases(typed.number):
                types[ArgumentType(each, self.program.definition_of[each].name)] = None
                at = self.program.file_of[each]
                symbols = self.program.files[at]
                for base in symbols.facts.bases:
                    if base.definition == each - symbols.first:
                        named = self._type_named(at, symbols.facts.definitions[base.definition].parent, base.name)
                        if named is not None and named.number < 0:
                            types.update(dict.fromkeys(self._types_above(named, at)))
            self._above[typed.number] = tuple(types)
        return self._above[typed.number]

    def _fit_of_type(
        self, written: str, place: tuple[int, int], typed: ArgumentType | None, file: int
    ) -> MethodFit | None:
        """Return how a parameter takes an argument, None if it takes none of that type."""
        if not written or written == "Any":
            return MethodFit(_FAR)
        if "|" not in written and (alternatives := self._alternatives(place, written)):
            written, place = alternatives
        if "|" in written:
            several = [self._fit_of_type(each, place, typed, file) for each in written.split("|")]
            return min((each for each in several if each is not None), default=None, key=lambda fit: (fit[1:3], fit[0]))
        wanted = self._type_named(*place, written)
        if typed is None or wanted is None:
            return MethodFit(0, is_unknown=True)
        if wanted == _ANY:
            return MethodFit(_FAR)
        if typed == _ANY:
            return MethodFit(0, is_narrower=True)
        numbers = [each.number if each.number >= 0 else each.name for each in self._types_above(typed, file)]
        key = wanted.number if wanted.number >= 0 else wanted.name
        if key in numbers:
            return MethodFit(numbers.index(key), is_own=wanted.number >= 0)
        below = [each.number if each.number >= 0 else each.name for each in self._types_above(wanted, file)]
        if (typed.number if typed.number >= 0 else typed.name) in below:
            return MethodFit(0, is_narrower=True, is_own=typed.number >= 0)
        types = self._settings(file).types
        known = known_types(types)
        is_open = any(each.number < 0 and each.name not in known for each in self._types_above(typed, file))
        if wanted.number < 0 and wanted.name not in known:
            is_leaf = typed.number < 0 and typed.name in leaf_types(types)
            return MethodFit(0, is_unknown=True) if is_open or (typed.number < 0 and not is_leaf) else None
        return MethodFit(0, is_unknown=True) if is_open and wanted.number < 0 else None

    def _alternatives(self, place: tuple[int, int], written: str) -> tuple[str, tuple[int, int]] | None:
        """Return what a name of several types stands for, and where that is written; None for other names."""
        found = self._find_named(*place, written)
        if found is None or not found.definitions or not self.program.is_value(found.definitions[0]):
            return None
        value, file, scope = self._value_of(found.definitions[0])
        return (value[1:], (file, scope)) if value[:1] == "=" and "|" in value else None

    # -- methods

    def choose(self, file: int, scope: int, chain: str, arguments: str, values: str) -> tuple[list[_Found], str]:
        """Return what a call may run, and the package that it leads to outside of the repository, or ""."""
        if chain[:1] in "?<" or "(" in chain:
            return [], ""
        included, place = self.program.included, (file, scope)
        macro = arguments == UNCOUNTED
        if macro:
            chain = chain.removesuffix("!")
            head, _, last = chain.rpartition(".")
            chain = f"{head}.@{last}".lstrip(".")
        local = self._find_local(file, scope, chain.partition(".")[0])
        if local is not None:
            return self._call_local(place, local, chain, arguments, values), ""
        found = self._find_named(file, scope, chain)
        name = chain.rpartition(".")[2]
        variable = self._find_variable(file, scope, chain.partition(".")[0]) if found is None else None
        if variable is not None and not macro:
            value = variable[2]
            if value and value[0] != "=" and "(" not in value and "." not in chain and self._steps < _MAX_ALIASES:
                self._steps += 1
                meant = self.choose(variable[0], variable[1], value, arguments, values)
                self._steps -= 1
                return meant
            typed = self._follow_fields(self._type_of(*variable), chain.split(".")[1:])
            return self._call_object(place, typed, arguments, values), ""
        if found is not None and found.outside:
            if "." in chain and not self.program.included.methods_outside(name):
                return [], found.outside
            return [*self._of_outside(place, name, arguments, values, None)], found.outside
        for _ in range(_MAX_ALIASES):  # other names
            if found is None or not found.definitions or not self.program.is_value(found.definitions[0]):
                break
            value, at, around = self._value_of(found.definitions[0])
            if not value or value[0] == "=" or "(" in value:
                typed = self._type_of(at, around, value)
                return self._call_object(place, typed, arguments, values), ""
            found, name = self._find_named(at, around, value), value.rpartition(".")[2]
        if found is None or found.module is None or not found.definitions:
            module = self._find_named(file, scope, chain.rpartition(".")[0]) if "." in chain else None
            of = module.module if module is not None and not module.definitions else None
            return ([], "") if macro else ([*self._of_outside(place, name, arguments, values, of)], "")
        name = name if macro else self.program.definition_of[found.definitions[0]].name
        owner = included.owner_of(found.module, name)
        methods = included.methods_of(owner, name)
        if owner.name == "" and owner.root == "":
            qualified = found.module if "." in chain else None
            return [*self._of_outside(place, name, arguments, values, qualified)], ""
        rule = found.rule
        if macro:
            return [(each, self._rule(file, each, rule), len(methods)) for each in methods[:1]], ""
        return self._choose_among(place, methods, arguments, values, rule), ""

    def _rule(self, file: int, number: int, rule: str) -> str:
        if rule == RuleName.ANNOTATION:
            return rule
        return RuleName.SAME_FILE if self.program.file_of[number] == file else rule

    def _call_local(
        self, place: tuple[int, int], local: ArgumentType | list[int] | bool, chain: str, arguments: str, values: str
    ) -> list[_Found]:
        if isinstance(local, list):
            return self._choose_among(place, local, arguments, values, RuleName.SAME_FILE) if "." not in chain else []
        typed = local if isinstance(local, ArgumentType) else None
        typed = self._follow_fields(typed, chain.split(".")[1:])
        return self._call_object(place, typed, arguments, values)

    def _call_object(
        self, place: tuple[int, int], typed: ArgumentType | None, arguments: str, values: str
    ) -> list[_Found]:
        """Return what a call of an object runs: methods that its type says."""
        if typed is None or typed.number < 0:
            return []
        name = self._settings(place[0]).names.call_method
        for each in self.program.linear_bases(typed.number):
            if methods := self.program.attached.get((each, name)):
                return self._choose_among(place, methods, arguments, values, RuleName.CONSTRUCTED)
        return []

    def _of_outside(
        self, place: tuple[int, int], name: str, arguments: str, values: str, module: ModuleKey | None
    ) -> Iterator[_Found]:
        """Yield what a call of a function from outside may run: methods for types of the repository.

        With a module the function is named as one of it: its methods there are meant.
        """
        methods, included = self.program.included.methods_outside(name), self.program.included
        own = [
            each
            for each in methods
            if module is not None
            and included.module_at(self.program.file_of[each], self.program.definition_of[each].parent) == module
        ]
        rule = RuleName.MODULE_ATTRIBUTE if own else RuleName.ANNOTATION
        yield from self._choose_among(place, own or methods, arguments, values, rule, not own)

    def _choose_among(
        self,
        place: tuple[int, int],
        methods: Sequence[int],
        arguments: str,
        values: str,
        rule: str,
        only_own: bool = False,
    ) -> list[_Found]:
        """Return which of several methods a call may run, with the type that they make if it is one.

        With `only_own` a type of the repository has to say that one is meant.
        """
        file, program = place[0], self.program
        made = [each for each in methods if program.is_type(each)]
        functions = [each for each in methods if each in program.parameters]
        if role_of(program.files[file].path) != Role.TEST:
            functions = [e for e in functions if role_of(program.files[program.file_of[e]].path) != Role.TEST]
        given = values.split(",") if values else [""] * len(arguments)
        types = [self._type_of(*place, each) for each in given]
        fits = [(fit, each) for each in functions if (fit := self._fit(each, arguments, types, file)) is not None]
        if only_own:
            fits = [(fit, each) for fit, each in fits if fit.is_own]
        result = [(each, self._rule(file, each, rule), 1) for each in made]
        covering = [(fit.distance, each) for fit, each in fits if not (fit.is_narrower or fit.is_unknown)]
        nearest = min(covering, default=(0, -1))[0]
        best = [each for far, each in covering if far == nearest]
        if len(best) > 1 and (beside := [each for each in best if program.file_of[each] == file]):
            best = beside[-1:]
        others = [each for fit, each in fits if fit.is_narrower or fit.is_unknown]
        chosen = [*best, *others]
        if not chosen or len(chosen) > MAX_CANDIDATES:
            return result
        if len(chosen) == 1:
            return [*result, (chosen[0], self._rule(file, chosen[0], rule), 1)]
        is_doubtful = len(best) > 1 or any(fit.is_unknown for fit, _ in fits)
        if is_doubtful:
            return result or [(each, self._rule(file, each, rule), len(chosen)) for each in chosen]
        return [*result, *((each, RuleName.ALTERNATIVE, 1) for each in chosen)]

    def _fit(self, function: int, arguments: str, types: Sequence[ArgumentType | None], file: int) -> MethodFit | None:
        """Return how a method takes arguments, None if it takes them not."""
        program = self.program
        taken = [each.partition(":")[2] for each in program.parameters[function]]
        has_rest = bool(taken) and taken[-1].endswith("...")
        fewest = sum(not each.endswith(("=", "...")) for each in taken)
        is_open = REST_ARGUMENT in arguments
        n = len(arguments) - arguments.count(REST_ARGUMENT)
        if (n > len(taken) and not has_rest) or (n < fewest and not is_open):
            return None
        at = program.file_of[function]
        place = at, function - program.files[at].first
        distance = _FAR * 10 if has_rest else len(taken) - n if not is_open else 0
        narrower = unknown = own = False
        for i, typed in enumerate(types):
            if is_open and arguments[i] == REST_ARGUMENT:
                break
            written = taken[min(i, len(taken) - 1)].rstrip("=.")
            fit = self._fit_of_type(written, place, typed, file)
            if fit is None:
                return None
            distance += fit.distance
            narrower, unknown, own = narrower or fit.is_narrower, unknown or fit.is_unknown, own or fit.is_own
        return MethodFit(distance, narrower, unknown, own)
