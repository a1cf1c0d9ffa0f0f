"""Names that get a value: captures of patterns, names, annotations and values in, `Binding` facts out.

A pattern comes before its names, a name before its annotation, both before the value; what belongs together is told
by distance, at most a few bytes of punctuation. What a value is, beyond a chain of names, is not asked.
"""

import re
from collections.abc import Sequence

from causalist.model.facts import Binding
from causalist.parse.captures import Tag
from causalist.parse.chains import array_type_name, chain_of, type_name
from causalist.parse.scopes import Scopes

LONGEST_VALUE = 2000  # bytes of a value that are looked at
_LONGEST_NAME = 200
_ASSIGNED = re.compile(r"([^\W\d][\w$.]*)\s*=(?![=>])")
_WAITING = 8  # bytes of "(await "
_GAP = 4  # bytes between a name and its annotation or value: ": ", " = "
_BOUND = b"extends"  # between a type parameter and its bound


class BindingReader:
    """Reads the captures of bindings. `bindings` is complete when the sweep is."""

    def __init__(self, scopes: Scopes) -> None:
        self.bindings: list[Binding] = []
        self.taken = -1  # start of the last name that is bound or declared, hence no use
        self._scopes = scopes
        self._self_names = scopes.settings.names.self_names
        self._globals: set[tuple[int, str]] = set()
        self._pattern: tuple[int, list[tuple[int, str]]] | None = None  # end, (position, key) of its names
        self._key = ""
        self._is_twin = False  # the last name is bound twice: a parameter that is a member as well
        self._binding_end = -1
        self._type_end = -1
        self._last_end = -1
        self._type = ""  # the annotation that stands before its names
        self._value: tuple[int, str, list[tuple[int, str]]] | None = None  # start, chain, targets of the last value

    def finish(self, properties: Sequence[Binding]) -> None:
        """Adds members that are held in other ways, and forgets names that a scope declares to be another's."""
        self.bindings += properties
        if self._globals:
            self.bindings = [b for b in self.bindings if (b.scope, b.target) not in self._globals]

    def on_pattern(self, start: int, end: int, tag: int) -> None:
        self._pattern = (end, [])

    def on_key(self, start: int, end: int, tag: int) -> None:
        self._key = self._scopes.text(start, end)
        self.taken = start

    def on_binding(self, start: int, end: int, tag: int) -> None:
        self._is_twin = start == self.taken
        self.taken = start
        scopes = self._scopes
        name = scopes.compact(start, min(end, start + _LONGEST_NAME))
        if tag == Tag.BINDING_PROPERTY:
            name = f".{name}"
        else:
            head, dot, rest = name.partition(".")
            if dot:
                if head not in self._self_names or "." in rest or "(" in rest or "[" in rest:
                    return
                name = f".{rest}"
        if self._pattern is not None and end <= self._pattern[0]:
            self._pattern[1].append((len(self.bindings), self._key or name))
        self._key = ""
        self._type_end = -1
        scope = scopes.binding_scope()
        if scope >= 0 and scopes.frames[-1].name_start == start and scopes.frames[-1].index == scope:
            # The name of a definition that is a value: the definition says it all, unless it is a member of self.
            self._binding_end = -1
            if name[0] != ".":
                return
            scope = scopes.frames[-1].outer_scope
        else:
            self._binding_end = end if tag != Tag.BINDING_ITEM else -1
        name = scopes.declare(scope, name)
        type_ = self._type if tag != Tag.BINDING_ITEM else ""
        self._last_end = end
        self.bindings.append(Binding(scope, name, type_, "", scopes.row(start)))

    def on_type(self, start: int, end: int, tag: int) -> None:
        if self._scopes.settings.types.before_names:
            text = self._scopes.text(start, min(end, start + _LONGEST_NAME))
            name = self._scopes.current(array_type_name(text, self._scopes.settings.types))
            if self.bindings and self._scopes.data[self._last_end : start].strip() == _BOUND:
                self.bindings[-1] = self.bindings[-1]._replace(type=name)
            else:
                self._type = name
        elif self._binding_end >= 0 and 0 < start - self._binding_end <= _GAP:
            name = type_name(self._scopes.text(start, min(end, start + _LONGEST_NAME)), self._scopes.settings.types)
            self.bindings[-1] = self.bindings[-1]._replace(type=name)
            if self._is_twin:
                self.bindings[-2] = self.bindings[-2]._replace(type=name)
            self._type_end = end

    def on_rest(self, start: int, end: int) -> None:
        """The type of each of any number of arguments: the next name holds an array of it."""
        name = type_name(self._scopes.text(start, min(end, start + _LONGEST_NAME)), self._scopes.settings.types)
        self._type = f"{self._scopes.current(name)}[]" if name else ""

    def on_value(self, start: int, end: int, tag: int) -> None:
        targets: list[tuple[int, str]] = []
        if self._pattern is not None and 0 < start - self._pattern[0] <= _GAP:
            targets = self._pattern[1]
            self._pattern = None
        elif self._binding_end >= 0 and 0 < start - max(self._binding_end, self._type_end) <= _GAP and self.bindings:
            targets = [(len(self.bindings) - 1, "")]
        self._binding_end = -1
        if not targets:
            return
        text = self._scopes.text(start, min(end, start + LONGEST_VALUE))
        chain = self._scopes.current(self._assigned(text) or chain_of(text))
        self._value = (start, chain, targets)
        for position, key in targets:
            value = f"{chain}.{key}" if key and chain else chain
            self.bindings[position] = self.bindings[position]._replace(value=value)

    def _assigned(self, text: str) -> str:
        """What `b.c` is called by itself if the text is `b.c = …`: who gets that value gets what b.c gets."""
        left = _ASSIGNED.match(text)
        if not left:
            return ""
        return left[1] if left[1].partition(".")[0] in self._self_names else self._scopes.clean_name(left[1])

    def on_global(self, start: int, end: int, tag: int) -> None:
        self.taken = start
        self._globals.add((self._scopes.binding_scope(), self._scopes.text(start, end)))

    def take_value(self, start: int, head: str) -> tuple[str, list[tuple[str, str]]] | None:
        """If the last value starts at `start`, or waits for what starts there, with a call of `head`: what follows the
        call, and (name, key in a pattern) of those that it is given to, which are bindings no longer."""
        value = self._value
        if value is None or not 0 <= start - value[0] <= _WAITING or not value[1].startswith(f"{head}()"):
            return None
        self._value = None
        taken = [(self.bindings[position].target, key) for position, key in value[2]]
        for position, _ in reversed(value[2]):
            del self.bindings[position]
        return value[1].partition("().")[2], taken
