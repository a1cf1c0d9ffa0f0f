"""Names with values or types: captures of names, annotations and values in, `Binding` facts out.

A pattern comes before its names, a name before its annotation, both before the value. Captures belong together if at
most a few bytes of punctuation separate them. Values are chains of names; their results are not evaluated here.

Shaped languages bind names in further ways: parts of a tuple, elements of a loop, `with`, `isinstance` and returned
values. Each is added to the one that only declares the name. Beside variables and `.name`, three targets exist: `?x`
has the types to which x is narrowed, `=X` is what X is an alias of, `return` the result of the enclosing function.
"""

import re
from bisect import bisect_right, insort
from collections.abc import Callable, Sequence

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import MODULE_SCOPE, Binding
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS
from causalist.model.type_notation import (
    GIVEN,
    NARROWED,
    PLACE,
    RETURNED,
    UNCHANGED,
    Mark,
    array_of,
    element_of,
    typed_value,
    with_marks,
)
from causalist.parse.syntax.argument_forms import (
    MADE_GENERIC,
    METHOD_OF_ARROW,
    called_by_space,
    made_or_listed,
    named_type,
    read_assigned,
)
from causalist.parse.syntax.arguments import (
    opening_bracket,
    place_of_function,
    value_chain,
)
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.chains import (
    QUOTES,
    array_type_name,
    first_alternative,
    members_of,
    paths_of_pattern,
    type_name,
    type_of_path,
    with_members,
    without_arguments,
)
from causalist.parse.syntax.go_like_types import made_type, value_given
from causalist.parse.syntax.open_scopes import VALUE_KINDS, Scopes
from causalist.parse.syntax.shadowed_names import before_itself
from causalist.parse.syntax.typed_expressions import is_plain_type, pointers_between, shape_of, value_of

MAX_VALUE_BYTES = 2000  # bytes of a value that are looked at
_MAX_NAME_BYTES, _MAX_TYPE_BYTES = 200, 800  # of a name; of an annotation with the content of collections
_CHAIN = lazy_regex(r"[^\W\d][\w$]*(?:\.[\w$-]+)+")
_GIVES_SELF = lazy_regex(r"(\w+)\s*\{")  # a method that is called for `self`, with a function
_LOOP = lazy_regex(rb"(?:inline\s+)?for\b")
_LINES_OF_STRING = lazy_regex(r"^\s*\\\\[^\n]*(?:\n|$)", re.MULTILINE)  # a string of whole lines
_MAX_WAITING_BYTES = 8  # bytes of "(await "
# Between a name and its type, where types stand before names otherwise.
_AFTER = (b"extends", b"instanceof", b":", b": class,", b": struct,")
_BESIDE = lazy_regex(rb"[\s&.$\]]*")  # between a type and the one name that it is for
_MAX_PUNCTUATION_BYTES = 3  # bytes between a name and its annotation or value, white space aside: ":", "=", ")=", ")in"
_BOUND = lazy_regex(rb"\s+[a-z]+\s+")  # between a type parameter and what bounds it
_MAX_GAP_BYTES = 160  # with the white space of a line that is broken there
_THEN = "then"  # hands on what a promise gives
_METHOD = lazy_regex(rb"(?:\s|//[^\n]*\n)*\.\s*(\w+)\s*\(\s*(?:[^(|]{0,60}[,\s])?(?:move\s+)?\|[&\s]*\(?")
_BEFORE_BRACKET = (b">", b" ")
_TYPE_ARGUMENTS = lazy_regex(rb"\s*(?:<[^<>()]*>)?\s*$")  # between what is called and its bracket
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$#")
_MEMBER_BYTES = frozenset(b".? \t\r\n")
_WITHOUT_CONTEXT = (b"", b"if", b"while", b"for", b"switch", b"catch")
_BRACKETS = lazy_regex(rb"[\[({<]")
_NAMED = lazy_regex(r"(?:class|(?:async\s+)?function\s*\*?)\s*(?!extends\b)\b([\w$]+)\s*(?:[({<]|extends\b)")
_NOTHING = frozenset({"null", "undefined", "false"})  # which has no members
_ON_HOLDER = -2  # scope of the type parameters of a holder, until `hand_down` copies them


class BindingReader:
    """Reader of the captures of bindings. `bindings` is complete when the pass is."""

    def __init__(self, scopes: Scopes) -> None:
        self.bindings: list[Binding] = []
        self.taken = -1  # start of the last name that is bound or declared, hence no use
        self._scopes = scopes
        self._self_names = scopes.settings.names.self_names
        self._is_shaped = bool(scopes.settings.shapes.sequences)
        wrapping = "|".join(map(re.escape, scopes.settings.types.wrapping)) or "(?!)"
        self._wrapping = re.compile(rf"(?:[a-z_]\w*::)*(?:{wrapping})\((.*)\)\??", re.DOTALL)
        functions = "|".join(map(re.escape, scopes.settings.types.instancing))
        instance = rf"(?:{functions})\((?s:.*),\s*(?:([\w.]+)|\{{\s*__index\s*=\s*([\w.]+)[^{{}}]*\}})\s*\)"
        self._instancing = re.compile(instance) if functions else None
        self._is_generic = scopes.settings.types.generic
        self._has_pointers = bool(scopes.settings.modules.headers and scopes.settings.types.literals)
        self._awaits = bool(scopes.settings.lambdas.yielding or scopes.settings.types.gathering)
        self._globals: set[tuple[int, str]] = set()
        self._pattern: tuple[int, list[tuple[int, str]]] | None = None  # end, (position, key) of its names
        self._returned: dict[int, str] = {}  # function -> its returned value so far, "" for several
        self._key = self._type = ""  # the annotation that stands before its names
        self._numbered = (-1, 0)  # definition, how many of its members without a name came
        self._binding_start = self._binding_end = self._type_end = self._last_end = -1
        self._payload = ""  # what the case around holds
        self._is_loop = False  # the open match takes each element
        self._matches: list[tuple[int, str]] = []  # end and subject of those that are open
        self._receivers: list[tuple[int, int]] = []  # end and start of those of methods that are given functions
        self._noted = (-1, -1, 0)  # bracket of the last parameters, end and number of the last of them that was noted
        self._variant, self._tuple = "", -1  # the type whose parts the open pattern names; its start if of a tuple
        self._is_twin = False  # the last name is bound twice: a parameter that is a member as well
        self._is_constant = False  # the type stands beside `const`
        self._beside = -1  # its end, where it is for the name right after it alone
        self._annotation_before_name = scopes.settings.types.annotation_before_name
        self._item_end = -1  # of the last name that may be a type parameter
        self._has_arrows = bool(scopes.settings.names.assigned_infixes)
        self._narrowed = self._guard = ""  # a name whose type is checked, and a function that checks it
        self._elements: list[tuple[int, str]] = []  # ends and elements of collections before names of their elements
        self._value: tuple[int, str, list[tuple[int, str]]] | None = None  # start, chain, targets of the last value

    def handlers(self) -> dict[Tag, Callable[[int, int, int], None]]:
        """Return the handlers of the captures of bindings."""
        return {
            Tag.BINDING: self.on_binding,
            Tag.BINDING_ITEM: self.on_binding,
            Tag.BINDING_PROPERTY: self.on_binding,
            Tag.BINDING_PATTERN: self.on_pattern,
            Tag.BINDING_KEY: self.on_key,
            Tag.BINDING_TYPE: self.on_type,
            Tag.BINDING_VALUE: self.on_value,
            Tag.BINDING_GENERIC: self.on_generic,
            Tag.BINDING_POSITION: self.on_position,
            Tag.BINDING_ELEMENTS: self.on_elements,
            Tag.NARROWED: self.on_narrowed,
            Tag.NARROWED_TYPE: self.on_narrowed_type,
            Tag.NARROWED_GUARD: self.on_guard,
            Tag.NARROWED_GUARDED: self.on_guarded,
            Tag.BINDING_ELEMENT: self.on_element,
            Tag.BINDING_MATCH: self.on_match,
            Tag.BINDING_SUBJECT: self.on_subject,
            Tag.BINDING_MATCHED: self.on_matched,
            Tag.BINDING_RECEIVER: self.on_receiver,
            Tag.BINDING_HANDED: self.on_handed,
            Tag.BINDING_VARIANT: self.on_variant,
            Tag.BINDING_PAYLOAD: self.on_payload,
            Tag.GLOBAL: self.on_global,
            Tag.RETURNED: self.on_returned,
            Tag.RETURNED_EARLY: self.on_returned,
        }

    def finish(self) -> None:
        """Add the types of properties, and drop names that a scope declares to be those of another."""
        scopes = self._scopes
        for draft in scopes.drafts:
            if draft.is_property:
                # Without an annotation, the property has the type of a call result.
                given = (
                    with_marks(f"{self._self_names[0]}.{draft.name}", Mark.CALL)
                    if self._is_shaped and not draft.returns
                    else ""
                )
                if draft.returns or given:
                    row = scopes.row(draft.start)
                    self.bindings.append(Binding(draft.parent, f".{draft.name}", draft.returns, given, row))
        scopes.local_names.complete(self.bindings)
        self.bindings = [b for b in self.bindings if b.scope != _ON_HOLDER]
        self._drop_of_overloads()
        self._drop_doubtful()
        if self._globals:
            self.bindings = [b for b in self.bindings if (b.scope, b.target) not in self._globals]

    def _drop_of_overloads(self) -> None:
        """Drop what overloads say of a parameter of which the function itself says more."""
        first_rows = {
            i: self._scopes.row(draft.start) for i, draft in enumerate(self._scopes.drafts) if draft.is_declared
        }
        if not first_rows:
            return
        own = {(b.scope, b.target) for b in self.bindings if b.type and b.row >= first_rows.get(b.scope, b.row)}
        self.bindings = [
            b for b in self.bindings if b.row >= first_rows.get(b.scope, b.row) or (b.scope, b.target) not in own
        ]

    def _drop_doubtful(self) -> None:
        """Drop what a name is given by who takes its function, where it is given something else in the same scope."""
        values: dict[tuple[int, str], set[tuple[str, str]]] = {
            (each.scope, each.target): set() for each in self.bindings if f".{PLACE}" in each.value and not each.type
        }
        if not values:
            return
        for each in self.bindings:
            if (given_values := values.get((each.scope, each.target))) is not None:
                given_values.add((each.type, each.value))
        doubtful = {key for key, given_values in values.items() if len(given_values) > 1}
        if doubtful:
            self.bindings = [
                each._replace(value="") if f".{PLACE}" in each.value and (each.scope, each.target) in doubtful else each
                for each in self.bindings
            ]

    def on_pattern(self, start: int, end: int, tag: int) -> None:
        """Open a pattern."""
        self._pattern = (end, [])
        self._variant, self._tuple = "", start if self._scopes.data[start : start + 1] == b"(" else -1

    def on_generic(self, start: int, end: int, tag: int) -> None:
        """Bind a type parameter; its bound follows as a type."""
        frames = self._scopes.frames
        if not frames:
            return
        self.taken = start
        scope = frames[-1].index if frames[-1].index >= 0 else _ON_HOLDER
        if scope == _ON_HOLDER:
            frames[-1].generics.append(len(self.bindings))
        self.bindings.append(Binding(scope, self._scopes.text(start, end), "", "", self._scopes.row(start)))
        self._binding_end, self._type_end, self._last_end = end, -1, end

    def hand_down(self, generics: Sequence[int], scope: int) -> None:
        """Copy the type parameters of a holder to the definition `scope` inside of it."""
        self.bindings += [self.bindings[i]._replace(scope=scope) for i in generics]

    def on_position(self, start: int, end: int, tag: int) -> None:
        """Bind a member that has a number instead of a name to its type."""
        scopes = self._scopes
        is_named = len(scopes.frames) > 1 and scopes.frames[-1].start == start  # the type of a member with a name, too
        scope, around = scopes.binding_scope(), scopes.frames[-1 - is_named].index if scopes.frames else -1
        if around != self._numbered[0]:
            self._numbered = (around, 0)
        name = type_name(scopes.text(start, min(end, start + _MAX_NAME_BYTES)), scopes.settings.types)
        target = f"{'' if is_named else self._variant_prefix(start)}.{self._numbered[1]}"
        self.bindings.append(Binding(scope, target, name, "", scopes.row(start)))
        self._numbered = (around, self._numbered[1] + 1)

    def _variant_prefix(self, start: int) -> str:
        """Return the prefix of a member of a variant that is a value itself."""
        frames = self._scopes.frames
        if not frames or frames[-1].index < 0 or frames[-1].name_start == start:
            return ""
        draft = self._scopes.drafts[frames[-1].index]
        return f".{draft.name}" if draft.kind in VALUE_KINDS else ""

    def on_elements(self, start: int, end: int, tag: int) -> None:
        """Bind the name before a collection to its elements, and remember them for a name after it."""
        chain = self._chain(start, end, start)
        self._elements = [*(each for each in self._elements if each[0] > start), (end, element_of(chain))]
        if self._binding_end < 0 and self._value is not None and self._value[0] == start:
            for position, _ in self._value[2]:  # `[first] = xs`, which the value was taken for
                self.bindings[position] = self.bindings[position]._replace(value=element_of(self._value[1]))
            return
        if self._binding_end < 0 or not self.bindings or not self._is_near(self._binding_end, start):
            return
        last, chain = self.bindings[-1], self._chain(start, end, self._binding_start - 1)
        if self._scopes.shadows is not None:
            self._scopes.shadows.postpone(last.scope, last.target, end)
        mark = Mark.ELEMENT if self._has_pointers else Mark.ITEM
        self.bindings[-1] = last._replace(value=element_of(chain, mark))
        self._binding_end = -1

    def on_element(self, start: int, end: int, tag: int) -> None:
        """Bind a name to an element of the collection before it."""
        self.on_binding(start, end, tag)
        self.tell(start, max((each for each in self._elements if each[0] <= start), default=(0, ""))[1])
        self._binding_end = -1

    def on_match(self, start: int, end: int, tag: int) -> None:
        """Open a match."""
        while self._matches and self._matches[-1][0] <= start:
            self._matches.pop()
        self._matches.append((end, ""))
        self._is_loop = _LOOP.match(self._scopes.data, start) is not None

    def on_subject(self, start: int, end: int, tag: int) -> None:
        """Record the subject of the open match."""
        if self._matches:
            subject = self._chain(start, end, start)
            self._matches[-1] = self._matches[-1][0], element_of(subject) if self._is_loop and subject else subject

    def on_matched(self, start: int, end: int, tag: int) -> None:
        """Bind a name to the subject of the enclosing match."""
        if subject := self.subject_at(start):
            self.tell(start, subject)

    def subject_at(self, start: int) -> str:
        """Return the subject of the match around `start`."""
        while self._matches and self._matches[-1][0] <= start:
            self._matches.pop()
        return self._matches[-1][1] if self._matches else ""

    def on_receiver(self, start: int, end: int, tag: int) -> None:
        """Record the receiver of a method that takes a function."""
        insort(self._receivers, (end, start))

    def on_handed(self, start: int, end: int, tag: int) -> None:
        """Bind the parameter of a function argument to an element, if the method passes each element to it."""
        if self._scopes.lambdas:
            of = self._scopes.lambdas[-1]
            behind = 0 if of.is_paired else self._scopes.data[end : of.arrow].count(b",")
            if not behind or of.argument.endswith(GIVEN):
                self.tell(start, f"{of.argument}-{behind}" if behind else of.argument)
            return
        self._tell_element(start)
        if self._scopes.settings.types.arrow and (given := self._given_by_context(start, end)):
            self.tell(start, given)

    def _tell_element(self, start: int) -> None:
        if (position := bisect_right(self._receivers, (start, start)) - 1) < 0:
            return
        until, since = self._receivers[position]
        method = (METHOD_OF_ARROW if self._has_arrows else _METHOD).match(self._scopes.data, until, start)
        is_first = method is not None and (method.end() == start or not self._has_arrows)
        name = method[1].decode("ascii", "replace") if method is not None and is_first else ""
        if name in self._scopes.settings.types.callback_methods:
            self.tell(start, element_of(self._chain(since, until, since)))
        elif name == _THEN and self._has_arrows:
            self.tell(start, self._chain(since, until, since))

    def _given_by_context(self, start: int, end: int) -> str:
        """Return what a parameter of a function without a name gets, by who takes the function."""
        place = place_of_function(self._scopes.data, start, end)
        if place is None:
            return ""
        if place.bracket < 0:
            return f"{typed_value(place.type)}.{PLACE}0:{place.parameter}"
        data, until = self._scopes.data, place.bracket
        if data[until - 1 : until] in _BEFORE_BRACKET and (
            typed := _TYPE_ARGUMENTS.search(data, max(0, until - 80), until)
        ):
            until = typed.start()
        since = until
        while since and data[since - 1] in _NAME_BYTES:
            since -= 1
        name, mark = data[since:until], since
        while mark and data[mark - 1] in _MEMBER_BYTES:
            mark -= 1
        if b"." in data[mark:since]:
            position = bisect_right(self._receivers, (mark, len(data))) - 1
            if position < 0 or self._receivers[position][0] != mark:
                return ""
            since = self._receivers[position][1]
        chain = self._chain(since, until, since)
        is_known = chain and not chain.startswith(("?", "<")) and name not in _WITHOUT_CONTEXT
        return f"{chain}.{PLACE}{place.argument}:{place.parameter}" if is_known else ""

    def on_narrowed(self, start: int, end: int, tag: int) -> None:
        """Record the name that a type check narrows."""
        self._narrowed = self._scopes.compact(start, min(end, start + _MAX_NAME_BYTES))

    def on_narrowed_type(self, start: int, end: int, tag: int) -> None:
        """Bind the narrowed name to the checked type."""
        checked = type_name(self._scopes.text(start, min(end, start + _MAX_NAME_BYTES)), self._scopes.settings.types)
        self._narrow(start, checked, "")

    def on_guard(self, start: int, end: int, tag: int) -> None:
        """Record a function that may say of which type its argument is."""
        self._guard = self._scopes.text(start, min(end, start + _MAX_NAME_BYTES))

    def on_guarded(self, start: int, end: int, tag: int) -> None:
        """Bind the argument of that function to the type that the function says, if it does."""
        self._narrowed = self._scopes.text(start, min(end, start + _MAX_NAME_BYTES))
        self._narrow(start, "", self._guard)

    def _narrow(self, start: int, type_: str, guard: str) -> None:
        if self._narrowed and (type_ or guard):
            scope = self._scopes.binding_scope()
            self.bindings.append(Binding(scope, f"{NARROWED}{self._narrowed}", type_, guard, self._scopes.row(start)))
            self._binding_end = -1
        self._narrowed = ""

    def on_variant(self, start: int, end: int, tag: int) -> None:
        """Record the variant or type whose parts the open pattern names."""
        if self._scopes.data.startswith(b".", start):  # of the type of what is matched, whose value it holds
            subject, member = self.subject_at(start), self._scopes.text(start, end)
            self._variant, self._payload = "", f"{subject}{member}" if subject else ""
            return
        chain = self._chain(start, end, start)
        self._variant = "" if chain in self._scopes.settings.types.wrapping else chain

    def on_payload(self, start: int, end: int, tag: int) -> None:
        """Bind a name to the first part of the variant of the open pattern."""
        if self._variant:
            self.tell(start, f"{self._variant}.0")
        elif self._payload:
            self.tell(start, self._payload)

    def tell(self, start: int, value: str) -> None:
        """Set the value of the binding at `start`, unless its type or value is known."""
        if start == self.taken and self.bindings and not (self.bindings[-1].type or self.bindings[-1].value):
            self.bindings[-1] = self.bindings[-1]._replace(value=value)

    def _chain(self, start: int, end: int, position: int) -> str:
        start = self._scopes.skip_waiting(start, end)
        end = self._scopes.end_before_default(start, end)
        text = self._scopes.text(start, min(end, start + MAX_VALUE_BYTES))
        types = self._scopes.settings.types
        if self._scopes.settings.names.dispatched:
            return self._scopes.spell_current(value_given(text))
        if types.marks_ahead:
            text = _LINES_OF_STRING.sub('""', text)
            if made := made_type(text, types):
                return typed_value(made)
        if self._is_shaped:
            return value_of(text, self._scopes.settings.shapes) if end - start <= MAX_VALUE_BYTES else ""
        if self._has_arrows and text.startswith("{"):
            return members_of(text)
        text = first_alternative(self._scopes.spell_attributes(text), self._scopes.settings.types)
        if self._scopes.settings.modules.libraries and (made := made_or_listed(text, types)):
            return typed_value(made)
        if self._is_generic and (generic := MADE_GENERIC.fullmatch(text)):
            return typed_value(array_type_name(generic[1], types))
        if self._instancing is not None and (of_type := self._instancing.fullmatch(text)):
            return with_marks(of_type[1] or of_type[2], Mark.CALL)
        while wrapped := self._wrapping.fullmatch(text):
            text = wrapped[1]  # `Arc::new(Store::open())`: the content counts
        names = self._scopes.settings.names
        text = without_arguments(text) if names.bare_calls else called_by_space(text) if names.applied else text
        return self._scopes.own_chain(value_chain(text, self._scopes.settings.types), position)

    def on_key(self, start: int, end: int, tag: int) -> None:
        """Record the key of the next name in a pattern."""
        self._key = self._scopes.text(start, end).strip(QUOTES)
        self.taken = start

    def on_binding(self, start: int, end: int, tag: int) -> None:
        """Bind a name, or a member of `self`, in the scope of the open definition."""
        if tag == Tag.BINDING_ITEM and start == self.taken:
            return  # something more telling was captured
        self._is_twin = start == self.taken
        self.taken = start
        scopes = self._scopes
        name = scopes.spell_attributes(scopes.compact(start, min(end, start + _MAX_NAME_BYTES)))
        name = with_members(name).strip(QUOTES) if self._has_arrows else name
        if not name:  # the parser made it up
            self._binding_end = -1
            return
        self._binding_start, member = start, ""
        if tag == Tag.BINDING_PROPERTY:
            name = f"{self._variant_prefix(start)}.{scopes.settings.names.spell_member(name)}"
        else:
            head, dot, rest = name.partition(".")
            if dot:
                is_own = head in self._self_names and not any(mark in rest for mark in ".([")
                name = f".{rest}" if is_own else self._member_of(name)
                if not name:
                    self._binding_end = -1
                    return
        names_of_pattern = self._pattern[1] if self._pattern is not None and end <= self._pattern[0] else None
        if names_of_pattern is not None:
            member = self._scopes.place_in_tuple(self._tuple, start) or self._key or name
        self._key = ""
        self._type_end, self._item_end = -1, end if tag == Tag.BINDING_ITEM else -1
        scope = scopes.binding_scope()
        if scope >= 0 and scopes.frames[-1].name_start == start and scopes.frames[-1].index == scope:
            # The name of a definition that is a value: the definition says it all, unless it is a member of self.
            self._binding_end = -1
            if name[0] != ".":
                return
            scope = scopes.frames[-1].outer_scope
        else:
            self._binding_end = end if tag != Tag.BINDING_ITEM else -1
        is_named = name[0] != "." and name not in self._self_names
        is_code = scope >= 0 and is_named and scopes.drafts[scope].kind not in TYPE_KINDS
        if scopes.shadows is not None and is_code and scopes.frames[-1].name_start != start:
            if tag == Tag.BINDING_ITEM and name[0].isupper() and not scopes.settings.names.all_declared:
                self._binding_end = -1
                return  # a constant or variant that a pattern compares with
            declared = scopes.settings.names.all_declared and not scopes.settings.names.applied
            own = scopes.shadows.set_name(scope, name, start, end, scopes.data) if declared else ""
            if own == name:  # of another function
                self._binding_end = -1
                return
            name = own or scopes.shadows.bind(scope, name, start, scopes.drafts[scope].end)
        name = scopes.declare(scope, name)
        type_ = self._type if tag != Tag.BINDING_ITEM else ""
        if name[0] == "." and self._has_pointers and b"}" in scopes.data[self._beside : start]:
            type_ = self._type_written_out(scope, start)
        if type_ and self._has_pointers:
            type_ += pointers_between(scopes.data, self._beside, start, end, type_)
        if self._annotation_before_name and not _BESIDE.fullmatch(scopes.data, self._beside, start):
            type_ = ""
        value = f"{self._variant}.{member}" if member and self._variant else ""
        if scopes.settings.modules.opened and scopes.data[end : end + 1] == b".":  # `member x.Open`
            value = self._self_names[0]
        self._last_end = end
        is_local = scope >= 0 and name[0] != "." and scopes.frames[-1].body >= 0
        if self._is_constant and is_local and "?" not in type_ and not is_plain_type(type_):
            self.bindings.append(Binding(scope, f"{UNCHANGED}{name}", "", "", scopes.row(start)))
        if names_of_pattern is not None:
            names_of_pattern.append((len(self.bindings), member))
        self.bindings.append(Binding(scope, name, type_, value, scopes.row(start)))

    def _type_written_out(self, scope: int, start: int) -> str:
        """Return the type of a member whose struct ends before `start`: its name, else the one that has its members."""
        drafts = self._scopes.drafts
        ends = self._scopes.data.rfind(b"}", 0, start) + 1
        inner = next((each for each in reversed(drafts) if each.end == ends and each.parent == scope), None)
        return inner.name if inner is not None else drafts[scope].name if scope >= 0 else ""

    def _member_of(self, left: str) -> str:
        """Return `A.m` for the target A.prototype.m or, at the top of a file, A.m; "" for any other."""
        names = self._scopes.settings.names
        if not _CHAIN.fullmatch(left) or f"{left}.".startswith(names.assigned_prefixes):
            return ""
        for infix in names.assigned_infixes:
            owner, separator, member = left.rpartition(f"{infix}.")
            if separator and member.isidentifier():
                return f"{owner}.{member}"
        is_plain = names.assigned_infixes and left.count(".") == 1 and not left.endswith(names.assigned_infixes)
        return left if is_plain and self._scopes.binding_scope() == MODULE_SCOPE else ""

    def on_type(self, start: int, end: int, tag: int) -> None:
        """Record the type of the last or next name."""
        settings = self._scopes.settings.types
        if settings.before_names or settings.annotation_before_name:
            text = self._scopes.text(start, min(end, start + _MAX_NAME_BYTES))
            name = self._scopes.spell_current((named_type if self._has_pointers else array_type_name)(text, settings))
            if self.bindings and self._scopes.data[self._last_end : start].strip() in _AFTER:
                self.bindings[-1] = self.bindings[-1]._replace(type=name)
            else:
                self._type, self._beside = name, end
                beside = self._scopes.data[start - 6 : start - 1], self._scopes.data[end + 1 : end + 7].rstrip(b" &*")
                self._is_constant = self._has_pointers and b"const" in beside
        elif self._pattern is not None and self._is_near(self._pattern[0], start, 0):
            self._type_pattern(start, end)
        elif self._item_end >= 0 and self.bindings and _BOUND.fullmatch(self._scopes.data, self._item_end, start):
            bound = type_name(self._scopes.text(start, min(end, start + _MAX_NAME_BYTES)), settings)
            self.bindings[-1] = self.bindings[-1]._replace(type=bound)
            self._item_end = -1
        elif self._binding_end >= 0 and self._is_near(self._binding_end, start, 0):
            if self._is_shaped:
                text = self._scopes.text(start, min(end, start + _MAX_TYPE_BYTES))
                name = shape_of(text, self._scopes.settings.shapes)
            else:
                name = type_name(self._annotation(start, end), self._scopes.settings.types)
            self.bindings[-1] = self.bindings[-1]._replace(type=name)
            if self._scopes.settings.types.arrow and name and (name[0] == "(" or name[0].isupper()):
                self._note_parameter(start, end, name)
            if self._is_twin:
                self.bindings[-2] = self.bindings[-2]._replace(type=name)
            self._type_end = end

    def _annotation(self, start: int, end: int) -> str:
        """Return the text of an annotation; of the type of a function all of it or nothing."""
        text = self._scopes.text(start, min(end, start + _MAX_NAME_BYTES))
        arrow = self._scopes.settings.types.arrow
        if not arrow or end - start <= _MAX_NAME_BYTES or arrow not in text:
            return text
        return self._scopes.text(start, end) if end - start <= _MAX_TYPE_BYTES else ""

    def _note_parameter(self, start: int, end: int, type_: str) -> None:
        """Add the type of a parameter, by its number, to those of the open function."""
        frames, data = self._scopes.frames, self._scopes.data
        frame = frames[-1] if frames and frames[-1].index >= 0 and frames[-1].body < 0 else None
        if frame is None or start < self._noted[1]:
            return
        draft = self._scopes.drafts[frame.index]
        if draft.kind not in CALLABLE_KINDS:
            return
        opened, since, number = self._noted
        if opened <= frame.start:
            opened = data.find(b"(", frame.start, start)
            since, number = opened + 1, 0
        between = data[since:start]
        if _BRACKETS.search(between):
            opener, number = opening_bracket(data, start)
            if opener != opened or opened < 0:
                return
        else:
            number += between.count(b",")
        self._noted = (opened, end, number)
        draft.parameters = draft.parameters or []
        draft.parameters += [""] * (number + 1 - len(draft.parameters))
        draft.parameters[number] = type_

    def _type_pattern(self, start: int, end: int) -> None:
        """Set what the names of the last pattern get from the type that stands behind it."""
        assert self._pattern is not None
        until, targets = self._pattern
        self._pattern = None
        data = self._scopes.data
        depth, begin = 0, until
        for position in range(until - 1, max(-1, until - MAX_VALUE_BYTES), -1):
            depth += (data[position] == 125) - (data[position] == 123)  # braces
            if not depth:
                begin = position
                break
        paths = dict(paths_of_pattern(self._scopes.text(begin, until)))
        text = self._scopes.text(start, min(end, start + MAX_VALUE_BYTES))
        for position, _ in targets:
            binding = self.bindings[position]
            path = paths.get(binding.target)
            if path and not binding.type and not binding.value:
                type_, rest = type_of_path(text, path, self._scopes.settings.types)
                if type_ and not rest:
                    self.bindings[position] = binding._replace(type=type_)
                elif type_:
                    self.bindings[position] = binding._replace(value=f"{typed_value(type_)}.{'.'.join(rest)}")

    def on_rest(self, start: int, end: int) -> None:
        """Set the type of the next name to an array of the type of a rest parameter."""
        name = type_name(self._scopes.text(start, min(end, start + _MAX_NAME_BYTES)), self._scopes.settings.types)
        self._type = array_of(self._scopes.spell_current(name)) if name else ""

    def on_value(self, start: int, end: int, tag: int) -> None:
        """Set the value of the last name or of the names of the last pattern."""
        targets: list[tuple[int, str]] = []
        if self._pattern is not None and self._is_near(self._pattern[0], start):
            targets = self._pattern[1]
            self._pattern = None
        elif self._binding_end >= 0 and self.bindings and self._is_near(max(self._binding_end, self._type_end), start):
            last = len(self.bindings) - 1
            targets = [(last - 1, ""), (last, "")] if self._is_twin else [(last, "")]
        self._binding_end = -1
        if not targets:
            return
        text = self._scopes.text(start, min(end, start + _MAX_NAME_BYTES))
        assigned = read_assigned(text, self._self_names, self._scopes.clean_name)
        chain = self._scopes.spell_current(assigned) if assigned else self._chain(start, end, start)
        chain = before_itself(chain, self.bindings[-1].target) if "#" in chain else chain
        self._value = (start, chain, targets)
        is_open = not chain or chain.removesuffix("()") in self._scopes.settings.types.gathering
        if self._awaits and is_open and not any(key for _, key in targets):
            self._scopes.await_call(start, end, [position for position, _ in targets])
        for position, key in targets:
            if key and self.bindings[position].value:
                continue  # known by the variant that the pattern names
            value = chain if not key else f"{chain}.{key}" if chain[:1] not in ("", "{") else ""
            self.bindings[position] = self.bindings[position]._replace(value=value)

    def _is_near(self, end: int, start: int, fewest: int = 1) -> bool:
        """Return True if little but white space stands between `end` and `start`."""
        if not end + fewest <= start <= end + _MAX_GAP_BYTES:
            return False
        between = b"".join(self._scopes.data[end:start].split())
        return len(between.replace(b"]const", b"]")) <= _MAX_PUNCTUATION_BYTES

    def on_global(self, start: int, end: int, tag: int) -> None:
        """Record a name that the scope declares to be a global one."""
        self.taken = start
        self._globals.add((self._scopes.binding_scope(), self._scopes.text(start, end)))

    def is_annotated(self, scope: int) -> None:
        """Note that the open function has a return annotation, even if it cannot be read."""
        self._returned[scope] = ""

    def on_returned(self, start: int, end: int, tag: int) -> None:
        """Record the returned value of the open function, unless it returns other values too."""
        frames = self._scopes.frames
        is_definition = len(frames) > 1 and frames[-1].start == start
        frame = frames[-2 if is_definition else -1] if frames else None
        if frame is None or frame.index < 0 or not 0 <= frame.body <= start:
            return
        scope, is_early = frame.index, tag == Tag.RETURNED_EARLY
        text = self._scopes.text(start, min(end, start + MAX_VALUE_BYTES))
        if (is_early and text in _NOTHING) or text.startswith(self._scopes.settings.comments.line):
            return
        if text.startswith("{"):
            value = "" if is_early else members_of(text)
        elif self._has_arrows and is_definition and (named := _NAMED.match(text)):
            value = named[1]
        else:
            value = self._chain(start, end, start)
            given = None if value else _GIVES_SELF.match(text)
            if given and given[1] in self._scopes.settings.types.unwrap_methods:
                value = self._self_names[0]  # the receiver, which calls do not name
        if self._scopes.settings.names.dispatched:
            self.bindings.append(Binding(scope, RETURNED, "", value or "?", self._scopes.row(start)))
        elif self._returned.setdefault(scope, value) != value:
            self._returned[scope] = ""
        elif value and not is_early:
            self.bindings.append(Binding(scope, RETURNED, "", value, self._scopes.row(start)))

    @property
    def has_globals(self) -> bool:
        """Return True if any scope so far declares a name of an outer one."""
        return bool(self._globals)

    def is_global(self, scope: int, name: str) -> bool:
        """Return True if a scope declares that a name belongs to an outer one."""
        return (scope, name) in self._globals

    def take_value(self, start: int, head: str) -> tuple[str, list[tuple[str, str]]] | None:
        """Return the last value if it is a call of `head` at `start`, and remove its bindings.

        The result has the chain after the call, and (name, key in a pattern) of the bindings. A word such as `await`
        may precede the call. Return None for any other value.
        """
        value = self._value
        if value is None or not 0 <= start - value[0] <= _MAX_WAITING_BYTES or not value[1].startswith(f"{head}()"):
            return None
        self._value = None
        taken = [(self.bindings[position].target, key) for position, key in value[2]]
        for position, _ in reversed(value[2]):
            del self.bindings[position]
        return value[1].partition("().")[2], taken
