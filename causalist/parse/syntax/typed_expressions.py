"""Text of annotations and expressions of shaped languages -> notation of types and values.

The notation is that of `model.type_notation`. The text is read by brackets, strings and separators, without another
look at the syntax tree. `PlaceReader` makes bindings of what it reads.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import Binding
from causalist.model.language_settings import ShapeSettings
from causalist.model.type_notation import (
    ABOVE,
    ALIASED,
    MAX_UNION_MEMBERS,
    NARROWED,
    RETURNED,
    STRING_TARGET,
    Mark,
    as_member,
    as_tuple_item,
    callable_of,
    class_of,
    index_mark,
    mapping_of,
    result_mark,
    sequence_of,
    split_top,
    tuple_of,
    typed_value,
    union_of_names,
    with_marks,
    without_item_braces,
)
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.open_scopes import VALUE_KINDS, Scopes

STRING = lazy_regex(
    r"""[rRbBuUfFtT]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""",
    re.DOTALL,
)
_NEXT = {separator: lazy_regex(rf"[()\[\]{{}}'\"{separator}]") for separator in ("", ",", ":", "|")}
_NOTHING_INSIDE = lazy_regex(r"[^()\[\]{}'\"]*[)\]}]")
_STRING_OR_COMMENT = lazy_regex(rf"({STRING.pattern})|#[^\n]*", re.DOTALL)


def find_closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`, or -1.

    All kinds of brackets count alike.

    >>> find_closing("f(a, ')')", 1), find_closing("f(a", 1)
    (8, -1)
    """
    if match := _NOTHING_INSIDE.match(text, start + 1):
        return match.end() - 1
    depth, position, search = 0, start, _NEXT[""].search
    while match := search(text, position):
        position = match.end()
        character = match[0]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth:
                return position - 1
        else:
            string = STRING.match(text, position - 1)
            if string is None:
                return -1
            position = string.end()
    return -1


def split_outside(text: str, separator: str, most: int = 0) -> list[str]:
    """Split at separators (",", ":" or "|") outside of brackets and strings.

    If `most` is not 0, return only the first `most` parts.

    >>> split_outside("a, f(b, c), 'd,'", ","), split_outside("a,b,c", ",", 2)
    (['a', ' f(b, c)', " 'd,'"], ['a', 'b'])
    """
    if separator not in text:
        return [text]
    parts: list[str] = []
    depth, start, position, search = 0, 0, 0, _NEXT[separator].search
    while match := search(text, position):
        position = match.end()
        character = match[0]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character != separator:
            string = STRING.match(text, position - 1)
            position = string.end() if string else len(text)
        elif depth == 0:
            parts.append(text[start : position - 1])
            if len(parts) == most:
                return parts
            start = position
    return [*parts, text[start:]]


def without_comments(text: str) -> str:
    """Return the text without comments that a "#" starts.

    >>> without_comments("a + '#'  # b")
    "a + '#'  "
    """
    return _STRING_OR_COMMENT.sub(lambda found: found[1] or "", text) if "#" in text else text


PLAIN = lazy_regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_DOTTED = lazy_regex(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_MAX_CHARACTERS = 2000
_MAX_DEPTH = 8


@lru_cache(maxsize=20_000)
def shape_of(text: str, settings: ShapeSettings) -> str:
    """Return the type that an annotation names.

    >>> s = ShapeSettings(sequences=("list",), mappings=("dict",), tuples=("tuple",), classes=("type",),
    ...     functions=("Callable",), unions=("Union",), transparent=("Optional",))
    >>> [shape_of(t, s) for t in ("a.B", "'B'", "B | None", "Optional[B]", "list[B]", "dict[str, list[B | C]]")]
    ['a.B', 'B', 'B', 'B', '[]B', '{str}[]<B|C>']
    >>> [shape_of(t, s) for t in ("tuple[A, B]", "tuple[A, ...]", "type[A]", "Callable[..., A]", "Union[A, B]", "D[A]")]
    ['(A,B)', '[]A', '=A', '()A', 'A|B', 'D']
    """
    return _shape(_tidy(text), settings, 0)


def _tidy(text: str) -> str:
    return " ".join(without_comments(text.replace("\\\n", " ")).split()) if len(text) <= _MAX_CHARACTERS else ""


def _shape(text: str, settings: ShapeSettings, depth: int) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1].strip()
    if text[:1] == "(" and find_closing(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    if not text or depth > _MAX_DEPTH or text in settings.nothing:
        return ""
    members = split_outside(text, "|")
    if len(members) > 1:
        return union_of_names(_shape(each, settings, depth + 1) for each in members)
    if PLAIN.fullmatch(text):
        last = text.rpartition(".")[2]
        return "[]" if last in settings.sequences else "" if last in settings.transparent else text
    name = _DOTTED.match(text)
    if not name or text[name.end() : name.end() + 1] != "[" or text[-1] != "]":
        return ""
    head = name[0].rpartition(".")[2]
    items = split_outside(text[name.end() + 1 : -1], ",")
    if head in settings.transparent:
        return _shape(items[0], settings, depth + 1)
    if head in settings.unions:
        return union_of_names(_shape(each, settings, depth + 1) for each in items)
    if head in settings.sequences:
        return sequence_of(_inner(items[0], settings, depth))
    if head in settings.mappings:
        return mapping_of(
            _inner(items[0], settings, depth), _inner(items[-1], settings, depth) if len(items) > 1 else ""
        )
    if head in settings.tuples:
        if items[-1].strip() == "...":
            return sequence_of(_inner(items[0], settings, depth))
        return tuple_of(_inner(each, settings, depth) for each in items)
    if head in settings.functions:
        return callable_of(_inner(items[-1], settings, depth))
    if head in settings.classes:
        members = split_top(_shape(items[0], settings, depth + 1), "|")
        return union_of_names(class_of(each) for each in members if each[:1] not in ("", "[", "(", "{", "="))
    return name[0]


def _inner(text: str, settings: ShapeSettings, depth: int) -> str:
    return as_member(_shape(text, settings, depth + 1))


_ATTRIBUTE = lazy_regex(r"\.\s*([^\W\d]\w*)")
_SPACE = lazy_regex(r"[\s\\]+")
# A call that makes a class of its name and its bases: `type("A", (B,), {})`, or that of a metaclass.
_CLASS_BELOW = lazy_regex(r"""\(\s*(?:"[A-Z]\w*"|'[A-Z]\w*')\s*,\s*\(\s*([^\W\d][\w.]*)\s*[,)]""")
_ABOVE_BASE = lazy_regex(r"\(\s*([^\W\d][\w.]*)\s*,[^()]*\)")  # the arguments of `super(Base, self)`
_KEYWORD = lazy_regex(r"\s*\w+\s*=(?!=)")
_INDEX = lazy_regex(r"\s*-?\d+\s*")
_NUMBER = lazy_regex(r"\d[\w.]*")
_WORDS = frozenset({"await", "lambda", "not", "yield"})  # names that begin something else than a chain
_TOKEN = lazy_regex(
    rf"""(?P<string>{STRING.pattern})|(?P<open>[(\[{{])|(?P<word>[^\W\d]\w*)|(?P<comma>,)|(?P<number>\d[\w.]*)
    |(?P<walrus>:=)|(?P<compare>==|!=|<=|>=|<(?!<)|>(?!>))|(?P<operator>[-+*/%@&|^~<>=:;!]+)|[\s\\.]+""",
    re.DOTALL | re.VERBOSE,
)
_KINDS = {"in": "compare", "is": "compare", "async": "for"} | {k: k for k in ("if", "else", "or", "and", "not", "for")}
_NO_VALUE = [("operator", 0, 0)]


TRUTH, NUMBER, TEXT = map(typed_value, ("bool", "int", "str"))


def value_of(text: str, settings: ShapeSettings) -> str:
    """Return the value of an expression.

    >>> s = ShapeSettings(keeping=("sorted",), counting=("enumerate",), taking=("next",), casting=("cast",))
    >>> [value_of(t, s) for t in ("a.b", "f(x).g", "xs[0].y", "xs[i]", "xs[1:]", "await f()", "a or B()", "None")]
    ['a.b', 'f().g', 'xs[0].y', 'xs[]', 'xs', 'f()', 'a|B()', '']
    >>> [value_of(t, s) for t in ("[f(x) for x in y]", "{k: v}", "(a, b)", "sorted(xs)", "next(xs)", "enumerate(xs)")]
    ['f()^', 'v%', '(a,b)', 'xs', 'xs[*]', 'xs[#]']
    >>> [value_of(t, s) for t in ("'a'.join", "a == b", "A() if x else B()", "cast(T, x)", "a + b", "lambda: x")]
    ['<str>.join', '<bool>', 'A()|B()', '<T>', '', '']
    >>> [value_of(t, s) for t in ("Meta('A', (B,), {})", "type('A', (b.C, D), {'x': 1})", "record('A', ('x', 'y'))")]
    ['B', 'b.C', 'record()']
    """
    if PLAIN.fullmatch(text):
        return _word(text)
    return _value(without_comments(text), settings, 0) if len(text) <= _MAX_CHARACTERS else ""


def callee_of(text: str, settings: ShapeSettings) -> str:
    """Return the value of a callee, or "" if its last part is not a name. An unknown front is "?".

    >>> s = ShapeSettings()
    >>> [callee_of(t, s) for t in ("a.b", "(a or b).c", "f(x)", "xs[0].c", "(a + b).c.d", "f[0]")]
    ['a.b', '?.c', 'f()', 'xs[0].c', '?.c.d', 'f[0]']
    """
    if PLAIN.fullmatch(text):
        return text
    if len(text) > _MAX_CHARACTERS:
        return ""
    text = without_comments(text).strip()
    value, end = _primary(text, settings, 0)
    if end < len(text) or (value[:1] in ("<", "(") and "." not in value.rpartition(">")[2]):
        return ""
    return value


def _word(text: str) -> str:
    return "" if text == "None" else TRUTH if text in ("True", "False") else text


def _value(text: str, settings: ShapeSettings, depth: int) -> str:
    text = text.strip()
    if not text or depth > _MAX_DEPTH:
        return ""
    if PLAIN.fullmatch(text):
        return _word(text)
    first = _DOTTED.match(text)
    if first is None or first[0] not in _WORDS:
        value, end = _primary(text, settings, depth)
        if end == len(text):
            return value
    elif first[0] == "await":
        return _value(text[5:], settings, depth + 1)
    elif first[0] != "not":
        return ""
    return _operation(text, settings, depth)


def _operation(text: str, settings: ShapeSettings, depth: int) -> str:
    """Return the value of an operation, by the operator, condition or comma that binds least."""
    marks = _marks(text)
    kinds = {kind for kind, _, _ in marks}
    for kind in (",", "if", "or", "and", "not", "compare", "operator"):
        if kind not in kinds:
            continue
        at = [(start, end) for each, start, end in marks if each == kind]
        if kind in (",", "or"):
            begins, ends = [0, *(end for _, end in at)], [*(start for start, _ in at), len(text)]
            parts = [text[a:b] for a, b in zip(begins, ends, strict=True)]
            values = [_value(part, settings, depth + 1) for part in parts if part.strip()]
            if kind == "or":
                return union_of_names(values)
            return tuple_of(map(as_tuple_item, values)) if values else ""
        if kind == "if":
            other = next((end for each, start, end in marks if each == "else" and start > at[0][1]), -1)
            if other < 0:
                return ""
            return union_of_names(_value(part, settings, depth + 1) for part in (text[: at[0][0]], text[other:]))
        if kind == "and":
            return _value(text[at[-1][1] :], settings, depth + 1)
        if kind in ("not", "compare"):
            return TRUTH
        return TEXT if STRING.match(text) else ""
    return ""


def _marks(text: str) -> list[tuple[str, int, int]]:
    """Return (kind, start, end) of operators and commas outside of brackets, up to a `for`."""
    marks: list[tuple[str, int, int]] = []
    position, length = 0, len(text)
    while position < length:
        token = _TOKEN.match(text, position)
        if token is None:
            return _NO_VALUE
        start, position, kind = position, token.end(), token.lastgroup
        if kind == "open":
            position = find_closing(text, start) + 1
            if not position:
                return _NO_VALUE
        elif kind == "word":
            if token[0] == "lambda":
                return marks or _NO_VALUE
            operator = _KINDS.get(token[0])
            if operator is not None:
                marks.append((operator, start, position))
                if operator == "for":
                    return marks
        elif kind == "walrus":
            marks.clear()
        elif kind in ("comma", "compare", "operator"):
            marks.append(("," if kind == "comma" else kind, start, position))
    return marks


def _primary(text: str, settings: ShapeSettings, depth: int) -> tuple[str, int]:
    """Return (value, end) of a name, literal, display or bracket with its trailers."""
    first, position = text[0], 0
    if first in "([{":
        end = find_closing(text, 0)
        if end < 0:
            return "", 0
        position, inside = end + 1, text[1:end]
        head = _value(inside, settings, depth + 1) if first == "(" else _display(inside, first, settings, depth)
        if position == len(text):
            return head, position
        if not head or "|" in head or head[0] == "(":
            head = "?"
        return _trailers(head, text, position)
    string = STRING.match(text) if first in "'\"rRbBuUfFtT" else None
    if string is not None:
        while string is not None:  # strings one after the other are one
            position = string.end()
            space = _SPACE.match(text, position)
            string = STRING.match(text, space.end() if space else position)
        return _trailers(TEXT, text, position)
    name = _DOTTED.match(text)
    if name is None:
        number = _NUMBER.match(text)
        return _trailers(NUMBER, text, number.end()) if number else ("", 0)
    head, position = name[0], name.end()
    if not PLAIN.fullmatch(head):
        head = "".join(head.split())
    if head == "super" and (of_base := _ABOVE_BASE.match(text, position)):
        return _trailers(typed_value(f"{ABOVE}{of_base[1]}"), text, of_base.end())
    if made := _CLASS_BELOW.match(text, position):  # has the members of its first base
        end = find_closing(text, position)
        return _trailers(made[1], text, end + 1) if end > 0 else ("", 0)
    if text[position : position + 1] == "(" and _is_passing(head, settings):
        end = find_closing(text, position)
        passed = _passthrough_value(head, text[position + 1 : end], settings, depth) if end > 0 else ""
        if end + 1 == len(text) or not ("|" in passed or passed[:1] == "("):
            head, position = passed, end + 1
    return _trailers(head, text, position)


def _is_passing(head: str, settings: ShapeSettings) -> bool:
    return head in settings.passing or (head.rpartition(".")[2] in settings.passing_methods and "." in head)


def _trailers(head: str, text: str, position: int) -> tuple[str, int]:
    length = len(text)
    while position < length:
        character = text[position]
        if character == ".":
            name = _ATTRIBUTE.match(text, position)
            if not name:
                return "", position
            head = f"{head or '?'}.{name[1]}"
            position = name.end()
        elif character in "([":
            end = find_closing(text, position)
            if end < 0:
                return "", position
            head += Mark.CALL if character == "(" else _subscript(text[position + 1 : end])
            position = end + 1
        elif space := _SPACE.match(text, position):
            position = space.end()
        else:
            break
    return ("" if head[:1] == "?" and "." not in head else head), position


def _subscript(inside: str) -> str:
    if _INDEX.fullmatch(inside):
        number = int(inside)
        return index_mark(number) if number >= 0 else Mark.ITEM
    return "" if ":" in inside and len(split_outside(inside, ":", 2)) > 1 else Mark.ITEM


def _display(inside: str, bracket: str, settings: ShapeSettings, depth: int) -> str:
    """Return the value of a list, set, dictionary or comprehension, by its first items."""
    kind = "<list>" if bracket == "[" else "<dict>"
    loop = next((start for each, start, _ in _marks(inside) if each == "for"), None) if "for" in inside else None
    items = [inside[:loop]] if loop is not None else split_outside(inside, ",", MAX_UNION_MEMBERS)
    items = [each for each in items if each.strip()]
    if not items or items[0].lstrip().startswith("*"):
        return kind
    pairs = [split_outside(each, ":") if bracket == "{" else [each] for each in items]
    mark = Mark.MAPPING_OF if len(pairs[0]) > 1 else Mark.SEQUENCE_OF
    values = [_value(pair[-1], settings, depth + 1) for pair in pairs]
    if any("|" in value or value[:1] == "(" for value in values):
        return kind
    return union_of_names(with_marks(value, mark) for value in values) or kind


def _is_chain(value: str) -> bool:
    return bool(value) and "|" not in value and value[0] != "("


def _passthrough_value(head: str, inside: str, settings: ShapeSettings, depth: int) -> str:
    """Return the result of a function that makes it of its first argument, or of all."""
    arguments = [each for each in split_outside(inside, ",", MAX_UNION_MEMBERS) if not _KEYWORD.match(each)]
    argument = arguments[0] if arguments else ""
    last = head.rpartition(".")[2]
    if (around := dict(settings.fields).get(last)) is not None:
        named = _named_value(argument or _keyword_value(inside, "to"), around, settings, depth)
        is_own = head.count(".") and head != f"models.{last}"  # a module of the repository may have its own
        return union_of_names((named, f"{head}()")) if is_own and named else named
    if head in settings.gathering or last in settings.gathering:
        is_starred = argument.lstrip().startswith("*")
        if is_starred:  # `gather(*tasks)`: as many as there are
            return _value(argument.lstrip()[1:], settings, depth + 1) or "<list>"
        return tuple_of(as_tuple_item(_value(each, settings, depth + 1)) for each in arguments)
    if head in settings.filtering:
        return (_value(arguments[1], settings, depth + 1) if len(arguments) > 1 else "") or "<list>"
    if head in settings.applying:
        value = _value(argument, settings, depth + 1)
        return with_marks(value, Mark.CALL, Mark.SEQUENCE_OF) if _is_chain(value) else "<list>"
    if head in settings.calling or last in settings.calling:
        value = _value(argument, settings, depth + 1)
        return with_marks(value, Mark.CALL) if _is_chain(value) else ""
    if head in settings.giving or last in settings.giving:
        return _value(argument, settings, depth + 1)
    if head in settings.casting:
        shape = shape_of(argument, settings)
        return typed_value(shape) if shape and ">" not in shape else ""
    value = _value(argument, settings, depth + 1)
    if head in settings.keeping:
        return value or "<list>"
    if head in settings.counting:
        return with_marks(value, Mark.ENUMERATE) if value and "|" not in value else "<list>"
    return with_marks(value, Mark.ELEMENT) if "|" not in value and value[:1] != "(" else ""


def _named_value(argument: str, around: str, settings: ShapeSettings, depth: int) -> str:
    """Return the value of a call that gives what an argument names: a class, or its name behind that of an application.

    Of a collection it is one element.
    """
    name = argument.strip().strip("\"'")
    last = name.rpartition(".")[2]
    if last == "self":
        name = last = "Self"
    if not PLAIN.fullmatch(name) or not last[:1].isupper() or last.isupper():
        return with_marks(value, Mark.ELEMENT) if _is_chain(value := _value(argument, settings, depth + 1)) else ""
    shape = shape_of(f"{around}[{name}]" if around else name, settings)
    if argument.strip() != name and last != "Self" and shape.endswith(name):
        shape = f"{shape.removesuffix(name)}{STRING_TARGET}{name}"
    return typed_value(shape) if shape and ">" not in shape else ""


def _keyword_value(inside: str, name: str) -> str:
    given = (each.partition("=") for each in split_outside(inside, ",", MAX_UNION_MEMBERS))
    return next((value for key, _, value in given if key.strip() == name), "")


_MAX_DECLARED_BYTES = 1000  # of a list of names behind a type
_PLAIN_TYPE = lazy_regex(
    r"(?:\w+\.)*(?:u?(?:char|int|long|short)|\w+_t|bool|byte|float|double|void|unsigned(?: \w+)*|long long"
    r"|[a-z]{1,5}\d{1,2})"
)


def is_plain_type(name: str) -> bool:
    """Return True if a type has no members, or points at such a type.

    >>> [is_plain_type(each) for each in ("char*", "unsigned long", "Node", "")]
    [True, True, False, False]
    """
    return _PLAIN_TYPE.fullmatch(name.rstrip("*")) is not None


def pointers_between(data: bytes, type_end: int, start: int, end: int, name: str) -> str:
    """Return a "*" for each pointer or array in the declaration of a name, of a type without members, else "".

    >>> [pointers_between(b"char *a, b, c[]", 4, *each, "char") for each in ((6, 7), (9, 10), (12, 13))]
    ['*', '', '*']
    """
    if not _PLAIN_TYPE.fullmatch(name):
        return ""
    before = data[max(type_end, start - _MAX_DECLARED_BYTES) : start].rpartition(b",")[2]
    return "*" * (before.count(b"*") + (data[end : end + 1] == b"["))


_MAX_PLACE_BYTES = 2000
_MAX_PLACE_TYPE_BYTES = 400
_MAX_PLACE_PUNCTUATION_BYTES = 12  # bytes of " as (" or " = " between a pattern and its value, white space aside
_NAME = lazy_regex(r"[^\W\d]\w*")
_PLACE_BOUND = lazy_regex(r"[\w.]+\s*\(.*\bbound\s*=\s*([^,]+)", re.DOTALL)
_GENERIC = lazy_regex(r"(?:\w+\.)*(\w+)\s*\[")
_CAPITALS = lazy_regex(r"[\"'\w.\[\], ]*+(?:\s*+\|\s*+[\"'\w.\[\],][\"'\w.\[\], ]*+)++")


class PlaceReader:
    """Reader of the captures of places in shaped languages. It adds to the `bindings` of the file."""

    def __init__(self, scopes: Scopes, bindings: list[Binding]) -> None:
        self._scopes = scopes
        self._bindings = bindings
        self._shapes = scopes.settings.shapes
        self._self_names = scopes.settings.names.self_names
        self._place = (-1, -1)
        self._given = (-1, "")  # end and value of an expression that precedes its name
        self._narrowed = (-1, "")

    def handlers(self) -> dict[Tag, Callable[[int, int, int], None]]:
        """Return the handlers of the captures of places."""
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
        """Record a pattern, or bind it if its value came first."""
        at, value = self._given
        if 0 <= at <= start <= at + _MAX_PLACE_PUNCTUATION_BYTES:
            self._given = (-1, "")
            self._bind(start, end, value)
        else:
            self._place = (start, end)

    def on_value(self, start: int, end: int, tag: int) -> None:
        """Bind the last pattern to its value, or to the elements of its value."""
        begin, until = self._place
        self._place = (-1, -1)
        if (
            not 0 <= until <= start
            or len(b"".join(self._scopes.data[until:start].split())) > _MAX_PLACE_PUNCTUATION_BYTES
        ):
            return
        value = self._value(start, end)
        if tag == Tag.PLACE_ELEMENTS:
            if value.startswith("("):
                value = "|".join(without_item_braces(part) for part in split_top(value[1:-1], ",") if part)
            else:
                value = with_marks(value, Mark.ELEMENT)
        self._bind(begin, until, value)

    def on_given(self, start: int, end: int, tag: int) -> None:
        """Record a value before its name: the expression of a `with` statement, or caught types."""
        if tag == Tag.PLACE_ENTERED:
            value = self._value(start, end)
            self._given = (end, "" if value.startswith("(") else with_marks(value, Mark.ENTER))
        else:
            shape = self._types(start, end)
            self._given = (end, "|".join(map(typed_value, shape.split("|"))) if shape else "")

    def on_narrowed(self, start: int, end: int, tag: int) -> None:
        """Record the name that a type check narrows."""
        self._narrowed = (end, self._scopes.compact(start, min(end, start + _MAX_PLACE_TYPE_BYTES)))

    def on_narrowed_type(self, start: int, end: int, tag: int) -> None:
        """Bind the narrowed name to the checked type."""
        target = self._narrowed[1]
        shape = self._types(start, end) if _NAME.fullmatch(target) else ""
        if shape:
            self._add(f"{NARROWED}{target}", start, type_=shape)

    def on_returns(self, start: int, end: int, tag: int) -> None:
        """Record the return annotation of the open function."""
        frames = self._scopes.frames
        if frames and frames[-1].index >= 0 and frames[-1].body < 0:
            draft = self._scopes.drafts[frames[-1].index]
            text = self._scopes.text(start, min(end, start + _MAX_PLACE_TYPE_BYTES))
            draft.is_annotated = not any(map(text.__contains__, self._shapes.functions))  # these do not say which one
            given = shape_of(text, self._shapes)
            # The last declaration is the function itself; where it says nothing, an overload may.
            draft.returns = given or (draft.returns if draft.is_declared else "")

    def on_returned(self, start: int, end: int, tag: int) -> None:
        """Bind the result of a function without annotation to a value that it returns or yields."""
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
            value = with_marks(value, Mark.SEQUENCE_OF)
        self._add(RETURNED, start, value)

    def on_aliased(self, start: int, end: int, tag: int) -> None:
        """Bind an alias to the right side of `X = …`, if that may be a type."""
        name = self._scopes.data[max(0, start - 200) : start].rpartition(b"\n")[2].partition(b"=")[0]
        target = name.partition(b":")[0].strip().decode("utf-8", "replace")
        if end - start > _MAX_PLACE_TYPE_BYTES or not _NAME.fullmatch(target):
            return
        text = self._scopes.text(start, end)
        bound = _PLACE_BOUND.match(text) if text.startswith(("TypeVar", "typing.TypeVar", "t.TypeVar")) else None
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
        """Return a type, or the union of several in brackets: `(A, B)` is A or B."""
        text = self._scopes.text(start, min(end, start + _MAX_PLACE_TYPE_BYTES))
        if text.startswith("("):
            text = text[1:-1].replace(",", "|").strip("| \n")
        return shape_of(text, self._shapes)

    def _value(self, start: int, end: int) -> str:
        return value_of(self._scopes.text(start, min(end, start + _MAX_PLACE_BYTES + 1)), self._shapes)

    def _bind(self, start: int, end: int, value: str) -> None:
        if not value:
            return
        for text, path in targets_of_pattern(self._scopes.text(start, min(end, start + _MAX_PLACE_BYTES))):
            target = self._target(text)
            part = _part_at(value, path) if target else ""
            if part:
                self._add(target, start, part)

    def _add(self, target: str, start: int, value: str = "", type_: str = "") -> None:
        scopes = self._scopes
        self._bindings.append(Binding(scopes.binding_scope(), target, type_, value, scopes.row(start)))

    def _target(self, text: str) -> str:
        """Return a variable, ".name" for an attribute of self, or "" for any other target."""
        head, dot, rest = text.partition(".")
        if not dot:
            return text if _NAME.fullmatch(text) else ""
        return f".{rest}" if head in self._self_names and _NAME.fullmatch(rest) else ""


def _part_at(value: str, path: tuple[int, ...]) -> str:
    """Return the part of a value at a path."""
    for depth, position in enumerate(path):
        if value.startswith("("):
            parts = split_top(value[1:-1], ",")
            value = without_item_braces(parts[position]) if position < len(parts) else ""
        else:
            return with_marks(value, *map(result_mark, path[depth:]))
    return value


def targets_of_pattern(text: str, path: tuple[int, ...] = ()) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the names in a pattern, with their paths in the value.

    >>> list(targets_of_pattern("a, (self.b, *c)")), list(targets_of_pattern("x"))
    ([('a', (0,)), ('self.b', (1, 0))], [('x', ())])
    """
    text = text.strip()
    parts = split_top(text, ",")
    if len(parts) == 1 and text[:1] in ("(", "[") and text[-1:] in (")", "]"):
        text = text[1:-1]
        parts = split_top(text, ",")
        if len(parts) == 1:
            yield from targets_of_pattern(text, path)
            return
    if len(parts) == 1:
        yield "".join(text.split()), path
        return
    for position, part in enumerate(parts):
        if part.strip().startswith("*"):
            return  # how many it takes is not known
        if part.strip():
            yield from targets_of_pattern(part, (*path, position))
