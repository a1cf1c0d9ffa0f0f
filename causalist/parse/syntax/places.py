"""Values that reach names in other ways than by plain assignment, in shaped languages: captures in, bindings out.

Parts of a tuple, elements of a loop, what a `with` statement binds, what `isinstance` says, what a function returns. A
binding that tells something is added to the one that says that the name is bound. Targets beside names of variables
and `.name`: `?x` says of which types x is found to be, `=X` which type X is another name for, `return` is what the
function around it gives.
"""

import re
from collections.abc import Callable, Iterator

from causalist.model.facts import ALIASED, NARROWED, RETURNED, Binding
from causalist.model.type_notation import split_top
from causalist.parse.syntax.captures import Tag
from causalist.parse.syntax.scopes import VALUE_KINDS, Scopes
from causalist.parse.syntax.shapes import shape_of
from causalist.parse.syntax.typed_expressions import value_of

_LONGEST = 2000
_LONGEST_TYPE = 400
_GAP = 12  # bytes of " as (" or " = " between a pattern and its value, white space aside
_NAME = re.compile(r"[^\W\d]\w*")
_BOUND = re.compile(r"[\w.]+\s*\(.*\bbound\s*=\s*([^,]+)", re.DOTALL)
_GENERIC = re.compile(r"(?:\w+\.)*(\w+)\s*\[")
_CAPITALS = re.compile(r"[\"'\w.\[\], ]*(?:\s*\|\s*[\"'\w.\[\], ]+)+")


class PlaceReader:
    """Reads the captures of places. `bindings` are those of the file, to which it adds."""

    def __init__(self, scopes: Scopes, bindings: list[Binding]) -> None:
        self._scopes = scopes
        self._bindings = bindings
        self._shapes = scopes.settings.shapes
        self._self_names = scopes.settings.names.self_names
        self._place = (-1, -1)
        self._given = (-1, "")  # end and value of what comes before its name
        self._narrowed = (-1, "")

    def handlers(self) -> dict[Tag, Callable[[int, int, int], None]]:
        return {
            Tag.PLACE: self.on_place,
            Tag.PLACE_VALUE: self.on_value,
            Tag.PLACE_ELEMENTS: self.on_value,
            Tag.PLACE_ENTERED: self.on_given,
            Tag.PLACE_CAUGHT: self.on_given,
            Tag.NARROWED: self.on_narrowed,
            Tag.NARROWED_TYPE: self.on_narrowed_type,
            Tag.RETURNS: self.on_returns,
            Tag.RETURNED: self.on_returned,
            Tag.YIELDED: self.on_returned,
            Tag.ALIASED: self.on_aliased,
        }

    def on_place(self, start: int, end: int, tag: int) -> None:
        at, value = self._given
        if 0 <= at <= start <= at + _GAP:
            self._given = (-1, "")
            self._bind(start, end, value)
        else:
            self._place = (start, end)

    def on_value(self, start: int, end: int, tag: int) -> None:
        begin, until = self._place
        self._place = (-1, -1)
        if not 0 <= until <= start or len(b"".join(self._scopes.data[until:start].split())) > _GAP:
            return
        value = self._value(start, end)
        if tag == Tag.PLACE_ELEMENTS:
            if value.startswith("("):
                value = "|".join(_bare(part) for part in split_top(value[1:-1], ",") if part)
            else:
                value = _marked(value, "[*]")
        self._bind(begin, until, value)

    def on_given(self, start: int, end: int, tag: int) -> None:
        """What stands before its name: the expression of a `with` statement, or the types that are caught."""
        if tag == Tag.PLACE_ENTERED:
            value = self._value(start, end)
            self._given = (end, "" if value.startswith("(") else _marked(value, "&"))
        else:
            shape = self._types(start, end)
            self._given = (end, "|".join(f"<{each}>" for each in shape.split("|")) if shape else "")

    def on_narrowed(self, start: int, end: int, tag: int) -> None:
        self._narrowed = (end, self._scopes.compact(start, min(end, start + _LONGEST_TYPE)))

    def on_narrowed_type(self, start: int, end: int, tag: int) -> None:
        target = self._narrowed[1]
        shape = self._types(start, end) if _NAME.fullmatch(target) else ""
        if shape:
            self._add(f"{NARROWED}{target}", start, type_=shape)

    def on_returns(self, start: int, end: int, tag: int) -> None:
        """The annotation of what a function returns."""
        frames = self._scopes.frames
        if frames and frames[-1].index >= 0 and frames[-1].body < 0:
            draft = self._scopes.drafts[frames[-1].index]
            draft.is_annotated = True
            draft.returns = shape_of(self._scopes.text(start, min(end, start + _LONGEST_TYPE)), self._shapes)

    def on_returned(self, start: int, end: int, tag: int) -> None:
        frames = self._scopes.frames
        frame = next((f for f in reversed(frames) if f.index >= 0), None)
        if frame is None or self._scopes.drafts[frame.index].is_annotated:
            return
        if self._scopes.drafts[frame.index].kind in VALUE_KINDS:
            return
        value = self._value(start, end)
        if not value:
            return
        if tag == Tag.YIELDED and self._scopes.data[max(0, start - 8) : start].split()[-1:] != [b"from"]:
            if "|" in value or value.startswith("("):
                return
            value += "^"
        self._add(RETURNED, start, value)

    def on_aliased(self, start: int, end: int, tag: int) -> None:
        """The right side of `X = …`, where it may be a type."""
        name = self._scopes.data[max(0, start - 200) : start].rpartition(b"\n")[2].partition(b"=")[0]
        target = name.partition(b":")[0].strip().decode("utf-8", "replace")
        if end - start > _LONGEST_TYPE or not _NAME.fullmatch(target):
            return
        text = self._scopes.text(start, end)
        bound = _BOUND.match(text) if text.startswith(("TypeVar", "typing.TypeVar", "t.TypeVar")) else None
        generic = _GENERIC.match(text)
        shapes = self._shapes
        is_type = generic is not None and any(
            generic[1] in names
            for names in (
                shapes.unions, shapes.transparent, shapes.sequences, shapes.mappings, shapes.tuples,
                shapes.functions, shapes.classes,
            )
        )  # fmt: skip
        if bound is not None:
            text = bound[1].rstrip(") \n")
        elif not is_type and not _CAPITALS.fullmatch(" ".join(text.split()).strip("()")):
            return
        shape = shape_of(text, shapes)
        if shape:
            self._add(f"{ALIASED}{target}", start, type_=shape)

    def _types(self, start: int, end: int) -> str:
        """A type, or several in brackets: `(A, B)` is A or B."""
        text = self._scopes.text(start, min(end, start + _LONGEST_TYPE))
        if text.startswith("("):
            text = text[1:-1].replace(",", "|").strip("| \n")
        return shape_of(text, self._shapes)

    def _value(self, start: int, end: int) -> str:
        return value_of(self._scopes.text(start, min(end, start + _LONGEST + 1)), self._shapes)

    def _bind(self, start: int, end: int, value: str) -> None:
        if not value:
            return
        for text, path in _targets(self._scopes.text(start, min(end, start + _LONGEST))):
            target = self._target(text)
            held = _part(value, path) if target else ""
            if held:
                self._add(target, start, held)

    def _add(self, target: str, start: int, value: str = "", type_: str = "") -> None:
        scopes = self._scopes
        self._bindings.append(Binding(scopes.binding_scope(), target, type_, value, scopes.row(start)))

    def _target(self, text: str) -> str:
        """A variable, or ".name" for an attribute of self; "" for anything else."""
        head, dot, rest = text.partition(".")
        if not dot:
            return text if _NAME.fullmatch(text) else ""
        return f".{rest}" if head in self._self_names and _NAME.fullmatch(rest) else ""


def _bare(value: str) -> str:
    return value[1:-1] if value.startswith("{") else value


def _marked(value: str, mark: str) -> str:
    return "|".join(f"{part}{mark}" for part in split_top(value, "|")) if value else ""


def _targets(text: str, path: tuple[int, ...] = ()) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names in a pattern, with their places in what it takes apart.

    >>> list(_targets("a, (self.b, *c)")), list(_targets("x"))
    ([('a', (0,)), ('self.b', (1, 0))], [('x', ())])
    """
    text = text.strip()
    parts = split_top(text, ",")
    if len(parts) == 1 and text[:1] in ("(", "[") and text[-1:] in (")", "]"):
        text = text[1:-1]
        parts = split_top(text, ",")
        if len(parts) == 1:
            yield from _targets(text, path)
            return
    if len(parts) == 1:
        yield "".join(text.split()), path
        return
    for position, part in enumerate(parts):
        if part.strip().startswith("*"):
            return  # how many it takes is not known
        if part.strip():
            yield from _targets(part, (*path, position))


def _part(value: str, path: tuple[int, ...]) -> str:
    """What stands at a place of a value."""
    for depth, position in enumerate(path):
        if value.startswith("("):
            parts = split_top(value[1:-1], ",")
            value = _bare(parts[position]) if position < len(parts) else ""
        else:
            return _marked(value, "".join(f":{each}" for each in path[depth:]))
    return value
