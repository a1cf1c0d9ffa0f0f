"""Notation of types and values in facts: `parse` writes it and `graph` reads it.

Facts are JSON arrays by the million, so types and chains stay strings. Only this module knows their form: `parse` calls
the builders, `graph` the splitters. What says nothing, or cannot be told, is "".

Types, of annotations and results:

    type       = member , { "|" , member }                     A|B                one of several
    member     = name | sequence | mapping | callable | tuple | record | class | "<" , type , ">"
                                                               []<A|B>            a union inside of another type
    name       = word , { "." , word }                         pkg.T
    sequence   = "[" , [ type ] , "]" , [ member ]             []T  [K]T          T, which a range counts with K
    mapping    = "{" , [ type ] , "}" , [ member ]             {K}V               values V by keys K
    callable   = "()" , [ member ]                             ()T                a function that returns T
    tuple      = "(" , [ member ] , { "," , [ member ] } , ")" (T,error)          several results
    record     = "struct{" , field , { "," , field } , "}"     struct{a:T,U}      a field a of type T, and an embedded U
    field      = word , ":" , [ member ] | name                a:T  a:  U
    class      = "=" , name                                    =C                 the class C itself

Types of languages that tell less:

    bounds     = wrapped , { "+" , wrapped }                   A+B                all at once
    wrapped    = array , { "?" , array }                       Arc?Vec?T[]        T[] inside of types like Arc
    array      = name , { "[]" }                               T[]                an array or collection of T
    function   = "(" , [ type ] , { "," , [ type ] } , ")/" , [ type ]     (A,)/B      what is given an A and gives a B
    generic    = name , "{" , [ type ] , { "," , [ type ] } , "}"  Repo{T,U}       a type with its arguments

Values, of expressions:

    value      = chain , { "|" , chain } | "(" , item , { "," , item } , ")"      a|b  (a,b)
    item       = chain | "{" , chain , "|" , value , "}"       {a|b}              one of several inside of a tuple
    chain      = part , { "." , part }                         self.session.get()
    part       = ( word | "?" | "<" , type , ">" | "" ) , { mark }                ?.close  <T>.m  .com.pkg  xs.[]
    word       = name of the source , [ "~" , number ]         x~2                declaration 2 of the local name x
    mark       = "()" | "[]" | "[k]" | "[*]" | "[#]" | "[" , number , "]" | ":" , number | "^" | "%" | "!" | "&"
                                                               see `Mark`
    part       = "'" , word                                    a.'b               a member by a string, `a["b"]`
    object     = "{" , entry , { "," , entry } , "}"           {a,b:c.d,...}      an object literal
    entry      = word | word , ":" , chain | "..."             members a and b, and any other

Targets of bindings:

    target     = name | "." , word | "()" | "?" , name | "=" , name
               | "@" , name                                    x  .attribute  () returned  ?x narrowed  =X aliased
                                                               @f decorated

Lambdas, in languages that read whole calls:

    inside     = { ";" , number } , "." , chain                ;2;1.save()        member of what is inside of 2, else 1,
                                                                                 or of the modules opened around it
               | ";" , number , "!" , [ "." , chain ]          ;2!.save()         the object itself
               | ";" , number , "^" , [ "." , chain ]          ;3^.first()        collection of what a lambda gives
"""

import re
from collections.abc import Container, Iterable
from enum import StrEnum

from causalist._internal.lazy import lazy_regex, with_direct_members
from causalist.model.language_settings import ShapeSettings, TypeSettings

OPTIONAL = "="  # ends the annotation of a parameter that may be left out
# Targets of bindings that are no names: what the function `scope` is seen to return; and, before a name, of which type
# it is checked to be, and which type it is another name for.
RETURNED, NARROWED, ALIASED = "()", "?", "="
UNCHANGED = "const "  # before the name of a variable that is declared constant
STRING_KEY = "'"  # before a part of a chain that is a member by a string, `a["b"]`, or an element of a collection
CLASS_BODY = "<body>"  # target of a binding of a type whose value are the names that run with the class itself
KEPT = "*."  # before the name, in the target of a binding, under which something keeps a function
DECORATED = "@"  # before a name, in the target of a binding, that a decorator is applied to: the value is the decorator
STRING_TARGET = '"'  # before the dotted name of a definition that a string is
LAMBDA_VALUE = ";"  # before the number of a value that a lambda has or gives, in the target of a binding
OWN_OBJECT, GIVEN = ";this", ";it"  # members of a function: the object and the argument of its last parameter
# Before the number of a parameter of a function, as a member of it: what it is of. Behind a colon stands the number of
# something that the function in that parameter is given.
_TYPES_GIVEN = "<>"  # before the number of type arguments of a call
BEHIND = "{"  # stands for the label of a function behind the other arguments
PLACE = ";place"
PREDICATE = "is "  # before the type that a function says its argument has: its result is a truth value
ABOVE = "above "  # in a value `<above T>`: the object itself, with the members of what T derives from
MAX_UNION_MEMBERS = 6  # more alternatives say nothing
_MARKED = lazy_regex(r"([^()\[\]:^!%&]*)((?:\(\)|\[(?:[k*#]|\d+)?\]|:\d+|[\^!%&])*)")
_MARK = lazy_regex(r"\(\)|\[(?:[k*#]|\d+)?\]|:\d+|[\^!%&]")
_CALL_OR_ITEM = lazy_regex(r"\(\)|\[\]")
_LAST_OF_MARK = frozenset(")]^!%&")
_BRACKET = lazy_regex(r"[()\[\]{}]")
_NO_SHAPES = ShapeSettings()
_STRUCT = "struct{"


@with_direct_members
class Mark(StrEnum):
    """Marks on a part of a chain without a number; `index_mark` and `result_mark` make those with one."""

    CALL = "()"  # it is called
    ITEM = "[]"  # an item
    KEY = "[k]"  # a key or index, with which a range counts
    ELEMENT = "[*]"  # each element
    ENUMERATE = "[#]"  # pairs of a number and an element
    SEQUENCE_OF = "^"  # a sequence of such values
    MAPPING_OF = "%"  # a mapping to such values
    INSTANCE = "!"  # asserted to be of that type
    ENTER = "&"  # what a `with` statement binds


@with_direct_members
class Shape(StrEnum):
    """Outermost form of a type."""

    UNION = "union"
    CLASS = "class"
    MAPPING = "mapping"
    SEQUENCE = "items"
    CALLABLE = "callable"
    RECORD = "record"
    TUPLE = "results"
    NONE = ""  # a plain name


# -- builders


def sequence_of(item: str, key: str = "") -> str:
    """Return the type of a sequence.

    >>> sequence_of("T"), sequence_of("T", "K")
    ('[]T', '[K]T')
    """
    return f"[{key}]{item}"


def mapping_of(key: str, value: str) -> str:
    """Return the type of a mapping.

    >>> mapping_of("K", "V")
    '{K}V'
    """
    return f"{{{key}}}{value}"


def callable_of(result: str) -> str:
    """Return the type of a function.

    >>> callable_of("T")
    '()T'
    """
    return f"(){result}"


def tuple_of(items: Iterable[str]) -> str:
    """Return the type or value of a tuple; `as_tuple_item` brackets alternatives among values.

    >>> tuple_of(["T", "error"])
    '(T,error)'
    """
    return f"({','.join(items)})"


def record_of(fields: Iterable[str]) -> str:
    """Return the type of a struct without a name; fields are `name:T` or the name of an embedded type.

    >>> record_of([field_of("a", "T"), "U"])
    'struct{a:T,U}'
    """
    return f"{_STRUCT}{','.join(fields)}}}"


def field_of(name: str, content: str) -> str:
    """Return a field of a record, or a member of an object literal.

    >>> field_of("a", "T")
    'a:T'
    """
    return f"{name}:{content}"


def object_of(members: Iterable[str]) -> str:
    """Return the value of an object literal.

    >>> object_of(["a", field_of("b", "c.d"), "..."])
    '{a,b:c.d,...}'
    """
    return f"{{{','.join(members)}}}"


def class_of(name: str) -> str:
    """Return the type of a class as a value.

    >>> class_of("C")
    '=C'
    """
    return f"={name}"


def array_of(name: str) -> str:
    """Return the type of an array in languages without shapes.

    >>> array_of("T")
    'T[]'
    """
    return f"{name}[]"


def function_of(given: Iterable[str], result: str) -> str:
    """Return the type of a function with what it is given, in languages without shapes.

    >>> function_of(["A", ""], "B")
    '(A,)/B'
    """
    return f"({','.join(given)})/{result}"


def wrapped_in(wrapper: str, name: str) -> str:
    """Return the type of a wrapper that is looked through.

    >>> wrapped_in("Arc", "T")
    'Arc?T'
    """
    return f"{wrapper}?{name}"


def generic_of(name: str, arguments: Iterable[str]) -> str:
    """Return a type with its arguments, in languages without shapes; the name alone where none is known.

    >>> generic_of("Repo", ["T", ""]), generic_of("Repo", [""])
    ('Repo{T,}', 'Repo')
    """
    written = ",".join(arguments)
    return f"{name}{{{written}}}" if written.strip(",") else name


def split_generic(written: str) -> tuple[str, list[str]]:
    """Return the name of a type, and its arguments as `generic_of` has them.

    >>> split_generic("Repo{T,List?U[]}"), split_generic("Task?Repo{T}"), split_generic("T")
    (('Repo', ['T', 'List?U[]']), ('Task?Repo{T}', []), ('T', []))
    """
    at = written.find("{")
    if at < 0 or not written.endswith("}") or "?" in written[:at]:
        return written, []
    return written[:at], split_top(written[at + 1 : -1], ",")


def bounds_of(names: Iterable[str]) -> str:
    """Return the type of something that has several types at once.

    >>> bounds_of(["A", "B"])
    'A+B'
    """
    return "+".join(names)


def union_of_names(members: Iterable[str]) -> str:
    """Return one of several types or values, each once.

    >>> union_of_names(["A", "B|A", ""])
    'A|B'
    """
    parts: list[str] = []
    for each in members:
        for part in split_top(each, "|"):
            if part and part not in parts:
                parts.append(part)
    return "|".join(parts[:MAX_UNION_MEMBERS])


def as_member(written: str) -> str:
    """Return a type that may stand inside of another: a union in angle brackets.

    >>> as_member("A|B"), as_member("[]<A|B>")
    ('<A|B>', '[]<A|B>')
    """
    return f"<{written}>" if "|" in written and len(split_top(written, "|")) > 1 else written


def as_tuple_item(value: str) -> str:
    """Return a value that may stand inside of a tuple: alternatives in braces.

    >>> as_tuple_item("a|b"), as_tuple_item("a")
    ('{a|b}', 'a')
    """
    return f"{{{value}}}" if "|" in value else value


def without_item_braces(value: str) -> str:
    """Return the value that `as_tuple_item` was given.

    >>> without_item_braces("{a|b}"), without_item_braces("a")
    ('a|b', 'a')
    """
    return value[1:-1] if value.startswith("{") else value


def given_by(called: str, name: str, giving: Container[str]) -> str:
    """Return the type of what a function gives by the name of its only type argument, as the setting `giving` says.

    >>> [given_by(each, "T", ("Mock.Of", "Cast[]")) for each in ("Mock.Of", "a.Cast", "Of", "Cast")]
    ['T', 'T[]', '', 'T[]']
    """
    for each in (called, called.rpartition(".")[2]) if name else ():
        if each in giving or f"{each}[]" in giving:
            return name if each in giving else array_of(name)
    return ""


def types_given(number: int) -> str:
    """Return the last of `Call.values`, which says how many type arguments are written.

    >>> types_given(2)
    '<>2'
    """
    return f"{_TYPES_GIVEN}{number}"


def count_types_given(values: str) -> int:
    """Return the number of type arguments that `Call.values` says.

    >>> count_types_given("a,<>2"), count_types_given("a")
    (2, 0)
    """
    _, marked, number = values.rpartition(_TYPES_GIVEN)
    return int(number) if marked else 0


def typed_value(written: str) -> str:
    """Return the value of an expression of which only the type is known.

    >>> typed_value("T")
    '<T>'
    """
    return f"<{written}>"


def with_marks(value: str, *marks: str) -> str:
    """Return a value with marks on the last part of each of its alternatives; "" stays "".

    >>> with_marks("a.b", Mark.CALL), with_marks("a|b", Mark.ITEM, result_mark(1))
    ('a.b()', 'a[]:1|b[]:1')
    """
    suffix = "".join(marks)
    return "|".join(part + suffix for part in split_top(value, "|")) if value else ""


def element_of(chain: str, mark: Mark = Mark.ITEM) -> str:
    """Return an element of a collection as a part of its own, in languages without shapes; "" stays "".

    >>> element_of("xs"), element_of("xs", Mark.ELEMENT)
    ('xs.[]', 'xs.[*]')
    """
    return f"{chain}.{mark}" if chain else ""


def index_mark(position: int) -> str:
    """Return the mark for the item at a position.

    >>> index_mark(0)
    '[0]'
    """
    return f"[{position}]"


def result_mark(position: int) -> str:
    """Return the mark for one of several results.

    >>> result_mark(1)
    ':1'
    """
    return f":{position}"


# -- splitters


def closing_bracket(text: str, start: int, tokens: re.Pattern[str] = _BRACKET) -> int:
    """Return the position of the bracket that closes the one at `start`, or -1; kinds of brackets are not told apart.

    `tokens` finds brackets, and in source text also strings and comments, whose brackets do not count.

    >>> closing_bracket("(a,(b))[]", 0), closing_bracket("(a", 0)
    (6, -1)
    """
    depth = 0
    for token in tokens.finditer(text, start):
        character = token[0]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return token.start()
    return -1


def split_outside(text: str, separator: str, tokens: re.Pattern[str]) -> list[str]:
    r"""Split at separators outside of brackets; `tokens` finds both, and in source text also strings and comments.

    >>> split_outside("a, f(b, c)", ",", re.compile(r"[()\[\]{},]"))
    ['a', ' f(b, c)']
    """
    parts, depth, start = [], 0, 0
    for token in tokens.finditer(text):
        character = token[0]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    return [*parts, text[start:]]


def split_top(text: str, separator: str) -> list[str]:
    """Split notation at separators outside of brackets.

    >>> split_top("A|[]<B|C>|(D,E)", "|"), split_top("", ",")
    (['A', '[]<B|C>', '(D,E)'], [''])
    """
    if separator not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def split_function(written: str) -> tuple[list[str], str] | None:
    """Return what a function is given and what it gives, by the notation of its type; None for other types.

    >>> split_function("(A,(B)/C)/D"), split_function("A")
    ((['A', '(B)/C'], 'D'), None)
    """
    if written[:1] != "(" or ")/" not in written:
        return None
    end = closing_bracket(written, 0)
    is_function = end > 0 and written[end + 1 : end + 2] == "/"
    return (split_top(written[1:end], ","), written[end + 2 :]) if is_function else None


def split_tuple(written: str) -> tuple[str, list[str]]:
    """Return the names of the items of a tuple, with commas between, and their types.

    >>> split_tuple("(a:A,B)"), split_tuple("(,B)")
    (('a,', ['A', 'B']), (',', ['', 'B']))
    """
    items = [each.rpartition(":") for each in split_top(written[1:-1], ",")]
    return ",".join(name for name, _, _ in items), [type_ for _, _, type_ in items]


def split_type(written: str) -> tuple[Shape, list[str]]:
    """Return the outermost shape of a type, and the types inside of it; none for a plain name.

    A sequence holds its item and its key, a mapping its value and its key.

    >>> split_type("[K]a.T"), split_type("()(T,error)")
    ((<Shape.SEQUENCE: 'items'>, ['a.T', 'K']), (<Shape.CALLABLE: 'callable'>, ['(T,error)']))
    >>> split_type("struct{a:T,U}"), split_type("T")
    ((<Shape.RECORD: 'record'>, ['a:T', 'U']), (<Shape.NONE: ''>, []))
    """
    if "|" in written:
        several = split_top(written, "|")
        if len(several) > 1:
            return Shape.UNION, several
        if written.startswith("<"):
            return split_type(written[1:-1])
    if written.startswith("="):
        return Shape.CLASS, [written[1:]]
    if written.startswith(("{", "[")):
        end = closing_bracket(written, 0)
        end = len(written) if end < 0 else end
        return Shape.MAPPING if written[0] == "{" else Shape.SEQUENCE, [written[end + 1 :], written[1:end]]
    if written.startswith("()"):
        return Shape.CALLABLE, [written[2:]]
    if written.startswith(_STRUCT):
        return Shape.RECORD, split_top(written[len(_STRUCT) : -1], ",")
    if not written.startswith("("):
        return Shape.NONE, []
    return Shape.TUPLE, split_top(written[1:-1], ",")


def split_marks(part: str) -> tuple[str, list[str]]:
    """Return the name in a part of a chain, and its marks in order.

    >>> split_marks("open():0"), split_marks("x")
    (('open', ['()', ':0']), ('x', []))
    """
    if part[-1:] not in _LAST_OF_MARK and ":" not in part:
        return part, []
    match = _MARKED.match(part)
    return (match[1], _MARK.findall(match[2])) if match else (part, [])


def split_calls(part: str) -> tuple[str, list[str]]:
    """Return the same in languages where only calls and items are marked.

    >>> split_calls("make()[]"), split_calls("print!"), split_calls("[]")
    (('make', ['()', '[]']), ('print!', []), ('[]', []))
    """
    if part[-1:] not in (")", "]"):
        return part, []
    bare = part.rstrip("()[]")
    return (bare, _CALL_OR_ITEM.findall(part[len(bare) :])) if bare else (part, [])


def split_chain_part(part: str, types: TypeSettings, shapes: ShapeSettings = _NO_SHAPES) -> tuple[str, list[str]]:
    """Return the name in a part of a chain, and its marks as far as the language has them."""
    return split_marks(part) if types.prefixed or shapes.sequences else split_calls(part)


_HEAD = lazy_regex(r"(?:class|interface|record|struct)\s+\w+<|template\s*<")
_BOUNDED = lazy_regex(r"\s+extends\b|\s*[:=]")  # behind the name of a type parameter


def type_parameters_of(signature: str) -> list[str]:
    """Return the names of the type parameters in the signature of a type.

    >>> type_parameters_of("public class Repo<T, out U : Any> extends A<B>"), type_parameters_of("class Repo : A<B>")
    (['T', 'U'], [])
    >>> type_parameters_of("template <typename T, class A = Alloc<T>, int N> class Vector : public Base<T>")
    ['T', 'A', 'N']
    """
    head = _HEAD.search(signature)
    if head is None:
        return []
    start = head.end() - 1
    end = closing_bracket(signature.replace("<", "(").replace(">", ")"), start)
    names = []
    for each in split_top(signature[start + 1 : end], ",") if end > 0 else ():
        words = _BOUNDED.split(each.strip())[0].split()
        names.append(words[-1] if words else "")
    return names


_LITERAL_OF_KIND = re.compile(
    r"kind\((?:\d+|(?P<real>\d*\.\d*|\d+(?=[ed]))(?P<exponent>[ed][-+]?\d+)?)(?:_(?P<kind>\w+))?\)"
)
_ASKED_KIND = re.compile(r"selected_(int|real)_kind\((?:[pr]=)?(\d+)(?:_\w+)?(?:,(?:r=)?(\d+)(?:_\w+)?)?\)")
_BYTES_OF_KINDS = {
    "": "4",
    **dict.fromkeys(("int8", "c_int8_t", "c_signed_char", "c_char", "c_bool"), "1"),
    **dict.fromkeys(("int16", "c_int16_t", "c_short"), "2"),
    **dict.fromkeys(("int32", "real32", "c_int", "c_int32_t", "c_float", "c_float_complex", "logical32"), "4"),
    **dict.fromkeys(("int64", "real64", "c_double", "c_int64_t", "c_long", "c_long_long", "c_size_t"), "8"),
    **dict.fromkeys(("c_double_complex", "c_intptr_t", "c_ptrdiff_t", "logical64"), "8"),
    **dict.fromkeys(("c_long_double", "c_long_double_complex"), "10"),
    **dict.fromkeys(("real128",), "16"),
}
_DIGITS_OF_BYTES = {
    "int": ((2, "1"), (4, "2"), (9, "4"), (18, "8"), (38, "16")),
    "real": ((6, "4"), (15, "8"), (18, "10"), (33, "16")),
}
_RANGES_OF_BYTES = {"4": 37, "8": 307}


def bytes_of_kind(written: str) -> str:
    """Return the number of bytes that a kind of Fortran has, which may be asked for by its digits; "" if not known.

    >>> [bytes_of_kind(each) for each in ("", "8", "int64", "kind(0.d0)", "kind(1_int8)", "wp")]
    ['4', '8', '8', '8', '1', '']
    >>> [bytes_of_kind(f"selected_{each}") for each in ("int_kind(9)", "real_kind(p=6)", "real_kind(6,70)")]
    ['4', '4', '8']
    """
    if written.isdigit():
        return written
    if (named := _BYTES_OF_KINDS.get(written)) is not None:
        return named
    if literal := _LITERAL_OF_KIND.fullmatch(written):
        if literal["kind"]:
            return bytes_of_kind(literal["kind"])
        return "8" if (literal["exponent"] or "").startswith("d") else "4"
    if asked := _ASKED_KIND.fullmatch(written):
        digits, range_ = int(asked[2]), int(asked[3] or 0)
        for most, name in _DIGITS_OF_BYTES[asked[1]]:
            if digits <= most and range_ <= _RANGES_OF_BYTES.get(name, range_):
                return name
    return ""
