"""Values of names in languages whose annotations and values say what collections, tuples and unions hold.

In: annotations, bindings and marks in the notation of facts. Out: a `Value`, which may be a union: a member is looked
for in each of its parts.
"""

import re
from collections.abc import Sequence

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.infer.base import InferenceBase, NameBindings
from causalist.graph.overload_fit import is_constant_method, without_optional_marks
from causalist.graph.program import Program
from causalist.graph.resolution_results import (
    BUILTIN,
    HOLDERS,
    KIND_OF_SHAPE,
    KNOWN_KINDS,
    UNKNOWN,
    Value,
    ValueKind,
)
from causalist.graph.rules import MAX_CANDIDATES, RuleName
from causalist.model.facts import MODULE_SCOPE, UNCOUNTED, Binding
from causalist.model.language_settings import ShapeSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import (
    ALIASED,
    DECORATED,
    NARROWED,
    RETURNED,
    STRING_KEY,
    STRING_TARGET,
    Mark,
    Shape,
    split_top,
    split_type,
)

_MADE = re.compile(r"[\w$]+\s*(?::[^=]*)?=\s*(?:[\w$]+\.)?([\w$]+)\s*[(<]")  # a constant that a call makes
_KEPT, _STATE = "kept", "getState"  # `type` of an object that a call keeps; what gives it without a component
_KEPT_BELOW = ("%s", "actions.%s", "getters.%s")  # functions of stores
_REDUCERS = ("reducers.%s", "reducers.%s.reducer")  # what runs with an action
_MAX_PASSED_ON = 8  # functions that a decorator is made of
_MANY_BINDINGS = 64  # of one name: more are not read over and over
_FEW_BINDINGS = 16
_MAX_DEPTH = 24  # chains that are being read at the same time
_RETURNED_KINDS = frozenset({*KNOWN_KINDS, ValueKind.UNION, ValueKind.EXTERNAL, ValueKind.BUILTIN})

_FUNCTION_KINDS = (ValueKind.CALLABLE, ValueKind.EXTERNAL)  # of a type of functions, with and without its result
_TYPED = "typed"  # marks a function whose parts are the result that a type says


@dataclass(slots=True, eq=False)
class ContainerTypes:
    """Values that may be one of several, and contents of collections and tuples."""

    inference: InferenceBase
    program: Program = field(init=False)
    held_names: set[str] = field(default_factory=set)  # of all fields and types, when one is asked for

    def __post_init__(self) -> None:
        self.program = self.inference.program

    def infer_annotation(self, file: int, scope: int, name: str, rule: str) -> Value:
        """Return a value of the type that an annotation names in `scope`."""
        if not name:
            return UNKNOWN
        shape, content = split_type(name)
        if shape is Shape.UNION:
            return Value.union(self.infer_annotation(file, scope, each, rule) for each in content) or UNKNOWN
        if shape is Shape.CLASS:
            return _class_of(self.infer_annotation(file, scope, content[0], rule), rule)
        if shape is not Shape.NONE:
            parts = tuple(self.infer_annotation(file, scope, each, rule) if each else UNKNOWN for each in content)
            return Value(KIND_OF_SHAPE[shape], -1, rule, parts=parts)
        program = self.program
        if name.rpartition(".")[2] == "Self":
            first = program.files[file].first
            owner = program.enclosing_type(first + scope) if scope != MODULE_SCOPE else -1
            return Value(ValueKind.INSTANCE, owner, rule) if owner >= 0 else UNKNOWN
        if name[0] == STRING_TARGET:
            model = self.inference.queries.model_named(file, scope, name)
            return Value(ValueKind.INSTANCE, model, rule) if model >= 0 else UNKNOWN
        value = self.inference.infer_chain(file, scope, name)
        if value is None:
            return BUILTIN._replace(type=name)
        return self._instance_of(value, rule)

    def _instance_of(self, value: Value, rule: str) -> Value:
        """Return an instance of the type that a value is."""
        if value.kind is ValueKind.UNION:
            return Value.union(self._instance_of(part, rule) for part in value.parts) or UNKNOWN
        if value.kind is ValueKind.EXTERNAL:
            return value._replace(rule=rule)
        if value.kind is not ValueKind.DEFINITION:
            return value if value.kind is ValueKind.BUILTIN else UNKNOWN
        program = self.program
        if program.is_type(value.number):
            return Value(ValueKind.INSTANCE, value.number, rule)
        if self.inference.depth > _MAX_DEPTH:
            return UNKNOWN
        facts = program.definition_of[value.number]
        if facts.kind == NodeKind.TYPE:
            return self.inference.resolve_alias(value.number) or UNKNOWN
        file = program.file_of[value.number]
        alias = program.files[file].bindings.get(facts.parent, {}).get(f"{ALIASED}{facts.name}")
        if alias is not None:
            key = (ALIASED, value.number)
            if key in self.inference.unfolding:  # `Json = dict[str, "Json"]`: it holds itself
                return UNKNOWN
            self.inference.unfolding.add(key)
            instance = self.infer_annotation(file, alias.scope, alias.type, rule)
            self.inference.unfolding.discard(key)
            return instance
        content = (
            self.inference.content_of_value(value) if program.is_value(value.number) else None
        )  # none where that leads back here
        return self._instance_of(content, rule) if content is not None and content != value else UNKNOWN

    def object_literal(self, file: int, binding: Binding) -> Value:
        """Return the object that a name is given, whose functions are known by the name."""
        symbols = self.program.files[file]
        around = symbols.facts.definitions[binding.scope].qualname if binding.scope != MODULE_SCOPE else ""
        name = f"{around}.{binding.target.lstrip('.')}".lstrip(".")
        inside = (symbols.first + binding.scope,)  # of what its members say
        return Value(ValueKind.OBJECT, file, RuleName.OBJECT_MEMBER, name, also=inside, type=binding.value)

    def binding_value(
        self, file: int, binding: Binding, name: str, others: Sequence[tuple[int, Binding]] = ()
    ) -> Value:
        """Return the value of a variable, parameter or attribute: of its annotation, or else one of those it is given.

        `others` are further bindings of it, with their files.
        """
        symbols = self.program.files[file]
        every = self._bindings_of(file, binding, others)
        checks = symbols.bindings.get(binding.scope, {}).get(f"{NARROWED}{binding.target}")
        annotated: Value | None = None
        if every.typed is not None:
            at, typed_binding = every.typed
            outside = self.inference.name_lookup.enclosing_scope(at, typed_binding)
            annotated = self.infer_annotation(at, outside, typed_binding.type, RuleName.ANNOTATION)
            if annotated.kind is ValueKind.BUILTIN and outside != typed_binding.scope:
                annotated = self.infer_annotation(at, typed_binding.scope, typed_binding.type, RuleName.ANNOTATION)
        value: Value | None = None
        is_open = annotated is None or annotated.kind in (ValueKind.INSTANCE, ValueKind.EXTERNAL)
        if self.inference.depth < _MAX_DEPTH and is_open:
            value = self._union_of_bindings(every)
        if annotated is not None:  # a value may be of a type below the one that is said
            below = (ValueKind.INSTANCE, ValueKind.UNION)
            if value is None or (annotated.kind is not ValueKind.INSTANCE and value.kind not in below):
                value = annotated
            else:
                value = checked_value(annotated, value)
        if checks is not None:
            several = symbols.several.get((binding.scope, checks.target), (checks,))
            value = self._with_checks(
                value, [self.infer_annotation(file, each.scope, each.type, RuleName.ANNOTATION) for each in several]
            )
        if value is None and not binding.type and not binding.value:
            value = self._fixture_value(file, binding)
        return value if value is not None and value.kind is not ValueKind.UNKNOWN_MEMBER else UNKNOWN

    def _bindings_of(self, file: int, binding: Binding, others: Sequence[tuple[int, Binding]]) -> NameBindings:
        """Return all bindings of the name of this one, and `others`."""
        given = self.program.files[file].several.get((binding.scope, binding.target), (binding,))
        is_large = len(given) + len(others) > _MANY_BINDINGS
        key = (file, binding.scope, binding.target, len(given) + len(others))
        if is_large and (cached := self.inference.large_names.get(key)) is not None:
            return cached
        every = [*((file, each) for each in given), *others]
        bindings = NameBindings(every, next((pair for pair in every if pair[1].type), None))
        if is_large:
            self.inference.large_names[key] = bindings
        return bindings

    def _union_of_bindings(self, names: NameBindings) -> Value | None:
        """Return the value that a name has after any of its bindings.

        A name of very many bindings may be bound to what is inferred from itself, `q = q.where(x)`. While all of them
        are read, such a value is inferred from the first ones, or reading would take the square of their number.
        """
        if len(names.every) <= _MANY_BINDINGS:
            return self._union(names.every)
        if names.is_open:
            return self._union(names.every[:_FEW_BINDINGS])
        if not names.is_known:
            inference = self.inference
            names.is_open, n_known, n_cut = True, len(inference.known), inference.n_cut
            names.union = self._union(names.every)
            # Final where every part was: nothing new was inferred, and nothing given up.
            names.is_open, names.is_known = False, (n_known, n_cut) == (len(inference.known), inference.n_cut)
        return names.union

    def _union(self, every: Sequence[tuple[int, Binding]]) -> Value | None:
        return Value.union(
            self.infer_expression(at, each.scope, each.value) for at, each in every if each.value != each.target
        )

    @staticmethod
    def _with_checks(value: Value | None, checked: Sequence[Value]) -> Value | None:
        """Return a value after all checks of its type; one of no known type may be a collection or another of them."""
        is_known = value is not None and value.kind in (*KNOWN_KINDS, ValueKind.UNION)
        for each in sorted(checked, key=lambda each: each.kind in HOLDERS):
            if value is not None and each.kind in HOLDERS and not is_known:
                value = Value.union((value, each))
            else:
                value = checked_value(value, each)
        return value

    def _fixture_value(self, file: int, binding: Binding) -> Value | None:
        """Return the result of the fixture that a parameter of a test is named after, or None."""
        fixture = self.inference.name_lookup.find_fixture(file, binding.scope, binding.target)
        if fixture < 0 or self.inference.depth >= _MAX_DEPTH:
            return None
        given = self.inference.call_result(Value(ValueKind.DEFINITION, fixture, RuleName.FIXTURE))
        return given.parts[0] if given is not None and given.kind is ValueKind.SEQUENCE else given

    def infer_expression(self, file: int, scope: int, value: str) -> Value | None:
        """Return the value of an expression in the notation of facts."""
        if not value:
            return None
        if "|" in value:
            several = split_top(value, "|")
            if len(several) > 1:
                return Value.union(self.infer_expression(file, scope, each) for each in several)
        if value[0] == "{":
            return self.infer_expression(file, scope, value[1:-1])
        if value[0] == "(":
            parts = tuple(self.infer_expression(file, scope, each) or UNKNOWN for each in split_top(value[1:-1], ","))
            return Value(ValueKind.TUPLE, -1, RuleName.CONSTRUCTED, parts=parts)
        return self.inference.infer_chain(file, scope, value)

    def overload_with_result(self, function: int, returned: str) -> int:
        """Return the overload that gives what a call with unknown arguments gives; -1 if they give several things.

        `returned` is the annotation of what the function returns. Of two methods that only differ by `const`, it is the
        one for objects that may change.
        """
        program = self.program
        for each in program.select_overloads(function, UNCOUNTED):
            other = program.files[program.file_of[each]]
            if each == function or other.returns.get(each - other.first) == returned:
                continue
            own, others = (program.parameters.get(i) for i in (function, each))
            constant = [i for i in (function, each) if is_constant_method(program.definition_of[i].signature)]
            if len(constant) != 1 or without_optional_marks(own) != without_optional_marks(others):
                return -1
            function = each if constant == [function] else function
        return function

    def declared_return(self, symbols: FileSymbols, position: int) -> str:
        """Return the annotation of what a function returns, "" for none.

        One that is declared several times in a row has overloads: the last of them is the function itself. Where that
        says nothing, and in a file of declarations alone, it may return what any of them does.
        """
        returned = symbols.returns.get(position, "")
        if not symbols.is_shaped or (symbols.settings is not None and symbols.settings.names.has_overloads):
            return returned
        definitions, several = symbols.facts.definitions, [returned]
        own = definitions[position]
        for i in range(position + 1, len(definitions)):
            if definitions[i].parent == own.parent and definitions[i].qualname == own.qualname:
                several.append(symbols.returns.get(i, ""))
            elif definitions[i].parent < position:
                break  # not inside of one of them either
        if len(several) == 1 or (several[-1] and not symbols.path.endswith(".pyi")):
            return several[-1]
        return "|".join(dict.fromkeys(filter(None, several)))

    def infer_return(self, definition: int) -> Value | None:
        """Return the value in the return statements of a function without a return type, or None."""
        program = self.program
        file = program.file_of[definition]
        symbols = program.files[file]
        binding = symbols.bindings.get(definition - symbols.first, {}).get(RETURNED)
        if binding is None or self.inference.depth >= _MAX_DEPTH:
            return None
        returned = self.binding_value(file, binding, RETURNED)
        return returned.with_rule(RuleName.INFERRED_RETURN) if returned.kind in _RETURNED_KINDS else None

    def or_returned_function(self, definition: int, declared: Value | None) -> Value | None:
        """Return the function that a definition returns or yields, if its type only says that it is one; or `declared`.

        What is returned is known of functions without a type and of such ones. The parts of the function are the result
        that the type says.
        """
        is_generator = declared is not None and declared.kind is ValueKind.SEQUENCE and bool(declared.parts)
        said = declared.parts[0] if is_generator and declared is not None else declared
        if said is None or said.kind not in _FUNCTION_KINDS or (returned := self.infer_return(definition)) is None:
            return declared
        given = returned.parts[0] if is_generator and returned.parts else returned
        is_definition = given.kind is ValueKind.DEFINITION and not self.program.is_type(given.number)
        if not is_definition or self.program.definition_of[given.number].kind not in CALLABLE_KINDS:
            return declared
        if said.kind is ValueKind.CALLABLE:
            given = given._replace(parts=said.parts, type=_TYPED)
        return returned._replace(parts=(given, *returned.parts[1:])) if is_generator else given

    def result_said(self, value: Value) -> Value | None:
        """Return what the type says of the result of a function, where the function itself does not; else None."""
        if value.type != _TYPED or value.kind is not ValueKind.DEFINITION:
            return None
        result = self.inference.call_result(value._replace(parts=(), type=""))
        return result if result is not None and result.kind in KNOWN_KINDS else value.parts[0]

    def keyed_part(self, value: Value, part: str) -> str:
        """Return the part of a chain that a member by a string is: its name, or an element of a collection."""
        name = part.removeprefix(STRING_KEY)
        bare, content = name.rstrip("()[]"), value
        if value.kind is ValueKind.DEFINITION and self.program.find_own_member(value.number, bare) < 0:
            content = self.inference.content_of_value(value) or value
        return f"{Mark.ITEM}{name[len(bare) :]}" if content.kind is ValueKind.COLLECTION else name

    def apply_marks(self, settings: ShapeSettings, value: Value | None, marks: Sequence[str]) -> Value | None:
        """Return the value of a part of a chain after its marks, in their order."""
        for mark in marks:
            if value is not None and value.kind is ValueKind.UNION:
                value = Value.union(self._apply_mark(settings, part, mark) for part in value.parts)
            else:
                value = self._apply_mark(settings, value, mark)
        return value

    def _apply_mark(self, settings: ShapeSettings, value: Value | None, mark: str) -> Value | None:
        if mark == Mark.CALL:
            return self.inference.call_result(value)
        if mark in (Mark.SEQUENCE_OF, Mark.MAPPING_OF):
            return Value(
                ValueKind.SEQUENCE if mark == Mark.SEQUENCE_OF else ValueKind.MAPPING,
                -1,
                RuleName.CONSTRUCTED,
                parts=(value or UNKNOWN, UNKNOWN),
            )
        if value is not None and value.kind is ValueKind.DEFINITION:
            content = self.inference.content_of_value(value)
            if content is not None:
                key = ("marked", value.number)
                if key in self.inference.unfolding:  # `daily = daily["a"]`: it holds a part of itself
                    return UNKNOWN
                self.inference.unfolding.add(key)
                marked = self.apply_marks(settings, content.with_rule(RuleName.ATTRIBUTE_TYPE), (mark,))
                self.inference.unfolding.discard(key)
                return marked
            is_enum = bool(settings.enums) and mark[0] == "[" and self.inference.name_lookup.is_enum(value.number)
            if (mark == Mark.ELEMENT and self.program.is_type(value.number)) or is_enum:
                return Value(ValueKind.INSTANCE, value.number, RuleName.CONSTRUCTED)  # the members of an enumeration
            return value if mark[0] == "[" else UNKNOWN  # a generic type with its arguments
        if value is None or value.kind in (ValueKind.EXTERNAL, ValueKind.BUILTIN):
            holds = value is not None and mark != Mark.ENTER and is_bare_collection(settings, value)
            return UNKNOWN if holds else value
        if mark == Mark.ENTER:
            return self._entered_value(settings, value)
        if mark == Mark.ENUMERATE:
            element = self._element_of(settings, value) or UNKNOWN
            return Value(
                ValueKind.SEQUENCE,
                -1,
                value.rule,
                parts=(Value(ValueKind.TUPLE, -1, value.rule, parts=(BUILTIN, element)), BUILTIN),
            )
        if mark == Mark.ELEMENT:
            return self._element_of(settings, value)
        position = int(mark.strip("[]:")) if mark.strip("[]:").isdigit() else -1
        if value.kind is ValueKind.TUPLE:
            if position >= 0:
                return value.parts[position] if position < len(value.parts) else UNKNOWN
            return Value.union(value.parts)
        if value.kind in (ValueKind.SEQUENCE, ValueKind.MAPPING):
            return value.parts[0]
        if mark[0] == ":":
            return self._numbered_field(settings, value, position) or self._element_of(settings, value)
        return self._result_of_method(value, settings.indexing) or UNKNOWN

    def attribute_below(self, owner: int, name: str) -> Value | None:
        """Return the types that an attribute has in the classes below `owner`; None for none or many."""
        program = self.program
        if not self.held_names:
            numbered = enumerate(program.definition_of)
            self.held_names.update(d.name for i, d in numbered if d.kind == NodeKind.FIELD or program.is_type(i))
        attributes: list[Value] = []
        for each in program.types_below(owner) if name in self.held_names else ():
            number = program.find_own_member(each, name)
            if number >= 0 and program.is_type(number):  # a class inside of that class
                attributes.append(Value(ValueKind.DEFINITION, number, RuleName.HELD))
                continue
            if number < 0 or program.definition_of[number].kind != NodeKind.FIELD:
                continue
            content = self.inference.content_of_value(Value(ValueKind.DEFINITION, number, RuleName.HELD))
            is_type = content is not None and content.kind is ValueKind.DEFINITION and program.is_type(content.number)
            if content is not None and is_type and content.number not in {other.number for other in attributes}:
                attributes.append(content._replace(rule=RuleName.HELD))
        return Value.union(attributes) if len(attributes) <= MAX_CANDIDATES else None

    def is_unset(self, number: int) -> bool:
        """Return True for a field without a type or a value other than `None`, and for -1."""
        if number < 0:
            return True
        facts = self.program.definition_of[number]
        bindings = self.program.files[self.program.file_of[number]].bindings.get(facts.parent, {})
        given = bindings.get(facts.name) or bindings.get(f".{facts.name}")
        return facts.kind == NodeKind.FIELD and (given is None or not (given.type or given.value))

    def _numbered_field(self, settings: ShapeSettings, value: Value, position: int) -> Value | None:
        """Return the field at a position of a class that is a tuple as well; None for other values."""
        program = self.program
        for owner in program.linear_bases(value.number) if value.kind is ValueKind.INSTANCE else ():
            symbols = program.files[program.file_of[owner]]
            local, facts = owner - symbols.first, symbols.facts
            if not any(each.definition == local and each.name in settings.records for each in facts.bases):
                continue
            fields = [i for i, d in enumerate(facts.definitions) if d.parent == local and d.kind == NodeKind.FIELD]
            if position < len(fields):
                content = self.inference.content_of_value(
                    Value(ValueKind.DEFINITION, symbols.first + fields[position], value.rule)
                )
                return content.with_rule(RuleName.ATTRIBUTE_TYPE) if content is not None else UNKNOWN
        return None

    def _element_of(self, settings: ShapeSettings, value: Value) -> Value | None:
        """Return the value that a loop over a value binds."""
        if value.kind is ValueKind.SEQUENCE:
            return value.parts[0]
        if value.kind is ValueKind.MAPPING:
            return value.parts[1]
        if value.kind is ValueKind.TUPLE:
            return Value.union(value.parts)
        many = self._result_of_method(value, settings.iterating)
        if many is None or self.inference.depth >= _MAX_DEPTH:
            return UNKNOWN
        return (
            many.parts[0]
            if many.kind is ValueKind.SEQUENCE
            else self._result_of_method(many, settings.stepping) or UNKNOWN
        )

    def _entered_value(self, settings: ShapeSettings, value: Value) -> Value:
        """Return the value that a `with` statement binds."""
        if value.kind is ValueKind.SEQUENCE:
            return value.parts[0]  # a generator that is made a context manager
        entered = self._result_of_method(value, settings.entering)
        return (
            entered
            if entered is not None and entered.kind not in (ValueKind.UNKNOWN, ValueKind.UNKNOWN_MEMBER)
            else value
        )

    def record_member(self, file: int, value: Value, name: str, called: str | None) -> Value | None:
        """Return the field of a record, or the member of what it embeds; None where it has none of that name."""
        fields = value.name.split(",")
        for each, part in zip(fields, value.parts, strict=True):
            if each.lstrip(".") == name:
                return part
        for each, part in zip(fields, value.parts, strict=True):
            if each.startswith("."):
                if part.kind not in (ValueKind.INSTANCE, ValueKind.RECORD):
                    return part  # of another repository: whatever it has
                member = self.inference.follow_members(file, part, ["", name], 1, called)
                if member is not None:
                    return member
        return None

    def object_of_method(self, definition: int) -> Value | None:
        """Return the object literal that a function stands in as a method, which is what `this` means there."""
        symbols = self.program.files[self.program.file_of[definition]]
        facts = self.program.definition_of[definition]
        if facts.kind != NodeKind.METHOD or symbols.settings is None or not symbols.settings.names.assigned_infixes:
            return None
        file, name = self.program.file_of[definition], facts.qualname.rpartition(".")[0]
        return Value(ValueKind.OBJECT, file, RuleName.SELF, name)

    def store_of(self, constant: int, way: str) -> Value | None:
        """Return the object of the functions given to the call that made a constant, if that is how they are reached.

        `way` is the name of a member, or a call: `createSlice` makes an object with `actions`.
        """
        program = self.program
        symbols, facts = program.files[program.file_of[constant]], program.definition_of[constant]
        kept = symbols.settings.types.kept if symbols.settings is not None else ()
        made = _MADE.match(facts.signature) if kept and facts.kind == NodeKind.CONSTANT else None
        if made is None:
            return None
        maker = made[1]
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(maker)
        full = f"{entry.module.partition('/')[0]}.{entry.name}" if entry is not None else maker
        reached = next((value for key, value in kept if key in (full, full.rpartition(".")[2])), None)
        if reached is None or way not in (reached, _STATE):
            return None
        store = Value(
            ValueKind.OBJECT, program.file_of[constant], RuleName.OBJECT_MEMBER, reached, (), (constant,), _KEPT
        )
        is_state = way == _STATE and reached == Mark.CALL
        return (
            Value(ValueKind.CALLABLE, -1, store.rule, parts=(store,)) if is_state else store if way == reached else None
        )

    def store_member(self, store: Value, name: str) -> Value | None:
        """Return the function that such an object keeps under a name; None for other objects."""
        if store.type != _KEPT or not store.also:
            return None
        program, around = self.program, self.program.definition_of[store.also[0]]
        symbols = program.files[store.number]
        groups = _KEPT_BELOW if store.name == Mark.CALL else _REDUCERS
        for qualname in (each % name for each in groups):
            number = symbols.by_qualname.get(qualname, -1)
            definition = program.definition_of[number] if number >= 0 else around
            is_inside = around.start_byte < definition.start_byte < around.end_byte
            if is_inside and definition.kind in CALLABLE_KINDS:
                return Value(ValueKind.DEFINITION, number, RuleName.OBJECT_MEMBER)
        return UNKNOWN

    def value_of_member(self, member: int, name: str) -> Value | None:
        """Return the value that a member of an enumeration is given, if that is what `name` asks for; else None."""
        program = self.program
        if (store := self.store_of(member, name)) is not None:
            return store
        symbols, facts = program.files[program.file_of[member]], program.definition_of[member]
        if symbols.settings is None or name not in symbols.settings.shapes.enum_values or facts.kind != NodeKind.FIELD:
            return None
        binding = symbols.bindings.get(facts.parent, {}).get(facts.name)
        if binding is None or not self.inference.name_lookup.is_enum(program.parent(member)):
            return None
        return self.infer_expression(program.file_of[member], binding.scope, binding.value)

    def decorated_value(self, function: int) -> Value | None:
        """Return what the decorators of a function give for it, or None where that is not known.

        It is what the outermost of them gives; for a method an attribute, which may be a descriptor.
        """
        program = self.program
        file, facts = program.file_of[function], program.definition_of[function]
        symbols, target = program.files[file], f"{DECORATED}{facts.qualname.rpartition('.')[2]}"
        first = symbols.bindings.get(facts.parent, {}).get(target)
        if first is None or symbols.settings is None or self.inference.depth >= _MAX_DEPTH:
            return None
        every = symbols.several.get((facts.parent, target), (first,))
        outermost = next((each for each in every if facts.start_row <= each.row <= facts.end_row), first)
        key = target, function
        if key in self.inference.unfolding:  # a decorator that is decorated by itself
            return None
        self.inference.unfolding.add(key)
        made = self.inference.infer_chain(file, outermost.scope, f"{outermost.value}()")
        if made is not None and facts.kind == NodeKind.METHOD:
            shapes = symbols.settings.shapes
            parts = made.parts if made.kind is ValueKind.UNION else (made,)
            made = Value.union(self._result_of_method(part, shapes.accessing) or part for part in parts)
        self.inference.unfolding.discard(key)
        return made if made is not None and made.kind in (ValueKind.INSTANCE, ValueKind.UNION) else None

    def add_decorated(self, attributes: dict[int, dict[str, list[tuple[int, Binding]]]]) -> None:
        """Add the attributes that decorators give to classes to the attributes that definitions are given."""
        given: dict[int, dict[str, tuple[int, Binding]]] = {}  # by decorator
        for file, symbols in enumerate(self.program.files):
            for decorated in symbols.facts.bindings:
                if not decorated.target.startswith(DECORATED):
                    continue
                qualname = decorated.target.removeprefix(DECORATED)
                if decorated.scope != MODULE_SCOPE:
                    qualname = f"{symbols.facts.definitions[decorated.scope].qualname}.{qualname}"
                owner = symbols.by_qualname.get(qualname, -1)
                if owner < 0 or not self.program.is_type(owner):
                    continue
                decorator = self.inference.infer_chain(file, decorated.scope, decorated.value.removesuffix("()"))
                if decorator is None or decorator.kind is not ValueKind.DEFINITION:
                    continue
                if decorator.number not in given:
                    given[decorator.number] = self._given_to_class(decorator.number)
                for name, binding in given[decorator.number].items():
                    attributes.setdefault(owner, {}).setdefault(name, [binding])

    def _given_to_class(self, decorator: int) -> dict[str, tuple[int, Binding]]:
        """Return the attributes that a decorator, or a function whose result it returns, gives to what it returns."""
        program = self.program
        binding_by_name: dict[str, tuple[int, Binding]] = {}
        waiting, seen = [decorator], {decorator}
        while waiting:
            function = waiting.pop()
            file, definition = program.file_of[function], program.definition_of[function]
            symbols = program.files[file]
            for scope, other in enumerate(symbols.facts.definitions):
                if other.qualname != definition.qualname or other.kind not in CALLABLE_KINDS:
                    continue  # an overload says nothing
                chains: dict[str, None] = {}
                for key in (RETURNED, f"{DECORATED}{RETURNED}"):
                    first = symbols.bindings.get(scope, {}).get(key)
                    returned = symbols.several.get((scope, key), (first,) if first is not None else ())
                    chains.update((chain, None) for each in returned for chain in split_top(each.value, "|") if chain)
                own = symbols.settings.names.self_names if symbols.settings is not None else ()
                holders = {*chains, *([""] if any(name in chains for name in own) else [])}
                for target, binding in symbols.bindings.get(scope, {}).items():
                    holder, dot, name = target.partition(".")
                    if dot and holder in holders and name.isidentifier():
                        binding_by_name.setdefault(name, (file, binding._replace(target=f"{DECORATED}.{name}")))
                for chain in chains:
                    made = self.inference.infer_chain(file, scope, chain.removesuffix("()"))
                    is_function = made is not None and made.kind is ValueKind.DEFINITION
                    if made is not None and is_function and made.number not in seen and len(seen) < _MAX_PASSED_ON:
                        seen.add(made.number)
                        waiting.append(made.number)
        return binding_by_name

    def _result_of_method(self, value: Value, methods: Sequence[str]) -> Value | None:
        """Return the result of the first of these methods that the type of a value has."""
        if value.kind is not ValueKind.INSTANCE:
            return None
        for method in methods:
            number, _ = self.program.find_member(value.number, method)
            if number >= 0:
                return self.inference.call_result(Value(ValueKind.DEFINITION, number, value.rule))
        return None

    def content_of_call(self, value: Value) -> Value | None:
        """Return what runs when a constant, field or property is called: its content. None where that is not known."""
        if value.kind is ValueKind.UNION:
            return Value.union(self.content_of_call(part) or part for part in value.parts)
        if value.kind is not ValueKind.DEFINITION:
            return None
        content = self.inference.content_of_value(value)
        if (
            content is None
            or content.kind not in (ValueKind.DEFINITION, ValueKind.UNION)
            or content.number == value.number
        ):
            return None
        return Value.union(
            part.with_definition_rule(RuleName.HELD)
            for part in (content.parts if content.kind is ValueKind.UNION else (content,))
        )


def _class_of(value: Value, rule: str) -> Value:
    """Return the class of an instance, or of each instance in a union; other values as they are."""
    if value.kind is ValueKind.UNION:
        return Value.union(_class_of(part, rule) for part in value.parts) or UNKNOWN
    return Value(ValueKind.DEFINITION, value.number, rule) if value.kind is ValueKind.INSTANCE else value


def is_bare_collection(settings: ShapeSettings, value: Value) -> bool:
    """Return True for a collection of which nothing says what it holds: anything may be in it."""
    if value.kind is not ValueKind.BUILTIN or not value.type:
        return False
    return value.type in settings.sequences or value.type in settings.mappings or value.type in settings.tuples


def is_taken_from_bare_collection(settings: ShapeSettings, value: Value, part: str) -> bool:
    """Return True if a part of a chain takes something out of a bare collection: `.get(key)`, `.values()`."""
    name = part.partition("(")[0]
    is_taken = name in settings.elements or name in settings.values or name in settings.items
    return is_taken and is_bare_collection(settings, value)


def checked_value(value: Value | None, checked: Value) -> Value:
    """Return a value after a check of its type. Its own type is asked for members before the checked ones."""
    if value is None or value.kind not in (*KNOWN_KINDS, ValueKind.UNION):
        return checked if checked.kind in (*KNOWN_KINDS, ValueKind.UNION) or value is None else value
    if value.kind is ValueKind.INSTANCE:
        more = checked.parts if checked.kind is ValueKind.UNION else (checked,)
        others = (each.number for each in more if each.kind is ValueKind.INSTANCE and each.number != value.number)
        also = tuple(dict.fromkeys((*value.also, *others)))
        return value._replace(also=also) if also else value
    return value


def method_of(settings: ShapeSettings, value: Value, name: str) -> Value:
    """Return a method of a collection or tuple as a function whose result is known."""
    if value.kind in (ValueKind.SEQUENCE, ValueKind.MAPPING):
        content, key = value.parts[0], value.parts[1]
        result: Value | None = None
        if name in settings.elements:
            result = content
        elif name in settings.copies:
            result = value
        elif name in settings.pairs:
            result = Value(ValueKind.TUPLE, -1, value.rule, parts=(content, BUILTIN))
        elif value.kind is ValueKind.MAPPING and name in settings.values:
            result = Value(ValueKind.SEQUENCE, -1, value.rule, parts=(content, BUILTIN))
        elif value.kind is ValueKind.MAPPING and name in settings.keys:
            result = Value(ValueKind.SEQUENCE, -1, value.rule, parts=(key, BUILTIN))
        elif value.kind is ValueKind.MAPPING and name in settings.items:
            pair = Value(ValueKind.TUPLE, -1, value.rule, parts=(key, content))
            result = Value(ValueKind.SEQUENCE, -1, value.rule, parts=(pair, BUILTIN))
        if result is not None:
            return Value(ValueKind.CALLABLE, -1, value.rule, value.name, parts=(result,))
    return BUILTIN


def is_parameter_of_function(symbols: FileSymbols, scope: int, name: str) -> bool:
    """Return True if the element of an array is a type parameter of the function `scope`."""
    if scope == MODULE_SCOPE or symbols.facts.definitions[scope].kind not in CALLABLE_KINDS:
        return False
    return name.removesuffix("[]") in symbols.bindings.get(scope, {})


def returns_own_class(program: Program, definition: int) -> bool:
    """Return True if calling `self` makes an instance, since `self` may be the class: `const C = this; new C()`."""
    settings = program.files[program.file_of[definition]].settings
    return settings is not None and bool(settings.names.assigned_infixes)
