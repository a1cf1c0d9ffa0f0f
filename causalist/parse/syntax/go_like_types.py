"""Types and expressions of languages with prefix types, `[]T`, `map[K]*T`, `func(A) T` -> notation.

The notation is that of `model.type_notation`. Expressions become chains as `chains` makes them, with more marks:
`xs[].close` for a member of an item, `xs[k]` for a key of a range, `open():0` for the first of several results, `T()^`
for a collection of T, `T!` for a value that is asserted to be a T.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

from causalist._internal.lazy import lazy_regex
from causalist.model.language_settings import TypeSettings
from causalist.model.type_notation import (
    Mark,
    Shape,
    array_of,
    callable_of,
    closing_bracket,
    field_of,
    record_of,
    sequence_of,
    split_outside,
    split_top,
    split_type,
    tuple_of,
    wrapped_in,
)

_NAME = lazy_regex(r"[^\W\d]\w*")
_DOTTED = lazy_regex(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)?")
_SPACE = lazy_regex(r"(?:\s|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)+")
_TOKEN = lazy_regex(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`|//[^\n]*|/\*.*?\*/|[()\[\]{}]|[,:]", re.DOTALL)
_NAMED_PARAMETER = lazy_regex(r"([^\W\d]\w*)\s+(?=\S)(.+)", re.DOTALL)
_VARIADIC = lazy_regex(r"(?:[^\W\d]\w*\s*)?\.\.\.")
_COLLECTIONS = lazy_regex(r"((?:\[[\w.]*\])*)([\w.]+)")
_TYPE_WORDS = frozenset({"chan", "func", "map", "struct", "interface"})
_SAYS_NOTHING = frozenset({"any", "struct", "interface"})
_STRUCT = lazy_regex(r"struct\b")
_COMPOSITE = lazy_regex(r"(?:func|struct|interface|chan)\b")
_CHANNEL = lazy_regex(r"<-\s*chan\b|chan\b(?:\s*<-)?")
_FUNCTION = lazy_regex(r"func\s*\(")
_COLLECTION_OR_STRUCT = lazy_regex(r"&?\s*(?=\[|map\[|struct\b)")
_END_OF_FIELD = lazy_regex(rf"{_TOKEN.pattern}|[;\n]", re.DOTALL)
_FIELD = lazy_regex(r"([^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)\s+(?=\S)(.+)|(\*?[^\W\d][\w.]*)(\[.*\])?", re.DOTALL)
_TAG = lazy_regex(r"\s*(?:`[^`]*`|\"(?:\\.|[^\"\\\n])*\")$")  # tag for libraries, after the type of a field
_NO_SETTINGS = TypeSettings(prefixed=True)
_MAX_DEPTH = 8  # brackets within brackets of one type or one expression


@cache
def _compile_spellings(spellings: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(written, re.DOTALL), put) for written, put in spellings]


def respell(text: str, settings: TypeSettings) -> str:
    """Return a type or an expression as Go writes it."""
    for written, put in _compile_spellings(settings.spellings):
        text = written.sub(put, text)
    return text


def type_of(text: str, settings: TypeSettings = _NO_SETTINGS, depth: int = 0) -> str:
    """Return the type of `text` in notation, or "" for a type without a name.

    >>> [type_of(t) for t in ("*pkg.T", "[]*T", "map[string][]T", "chan T", "func(a int) T", "(n int, err error)")]
    ['pkg.T', '[]T', '[string][]T', '[T]T', '()T', '(int,error)']
    >>> [type_of(t) for t in ("S[int]", "interface{ M() }", "~T", "A | B", "...T", "(T)", "[]struct{ a, b *T; U }")]
    ['S', '', '', '', '[]T', 'T', '[]struct{a:T,b:T,U}']
    >>> go = TypeSettings(prefixed=True, holders=(("atomic.Pointer", ("Load",)),), ranged=("iter.Seq", "iter.Seq2"))
    >>> [type_of(t, go) for t in ("atomic.Pointer[S[K]]", "iter.Seq[T]", "iter.Seq2[K, *T]")]
    ['struct{atomic.Pointer,Load:()S}', '[T]T', '[K]T']
    """
    text = _trim(text).lstrip("*")
    if not text or depth > _MAX_DEPTH:
        return ""
    if text[0] == "(":
        return _read_results(text, settings, depth)
    if text[0] == "[" or text.startswith("map["):
        opened = text.index("[")
        end = _find_closing(text, opened)
        counted = type_of(text[opened + 1 : end], settings, depth + 1) if opened and end > 0 else ""
        return _with_content(sequence_of("", counted), text[end + 1 :], settings, depth) if end > 0 else ""
    variadic = _VARIADIC.match(text)
    if variadic:
        return _with_content(sequence_of(""), text[variadic.end() :], settings, depth)
    matched = _CHANNEL.match(text)
    if matched:
        received = type_of(text[matched.end() :], settings, depth + 1)
        return _with_content(sequence_of("", received), text[matched.end() :], settings, depth)
    if _FUNCTION.match(text):
        end = _find_closing(text, text.index("("))
        return _with_content(callable_of(""), text[end + 1 :], settings, depth) if end > 0 else ""
    if _STRUCT.match(text):
        return _read_struct(text, settings, depth)
    named = _DOTTED.match(text)
    if not named or named[0] in _SAYS_NOTHING:
        return ""
    rest = _trim(text[named.end() :])
    if rest and (rest[0] not in "[(" or _find_closing(rest, 0) != len(rest) - 1):
        return ""
    name = "".join(named[0].split())
    return (_with_arguments(name, rest, settings, depth) if rest else "") or name


def _with_arguments(name: str, brackets: str, settings: TypeSettings, depth: int) -> str:
    """Return the notation of a generic type that is known by what it holds, or "".

    One that a loop takes values from is a collection. One that methods return the content of is a struct of these
    methods, which embeds the type for the sake of all others.
    """
    methods = next((methods for holder, methods in settings.holders if holder == name), ())
    if not methods and name not in settings.ranged:
        return ""
    arguments = [type_of(each, settings, depth + 1) for each in split_outside(brackets[1:-1], ",", _TOKEN)]
    if not arguments[-1]:
        return ""
    if methods:
        return record_of([name, *(field_of(method, callable_of(arguments[0])) for method in methods)])
    return sequence_of(arguments[-1], arguments[0])


def chain_of(text: str, settings: TypeSettings, depth: int = 0) -> str:
    """Return the chain of an expression, or "" if its last part is not a name.

    >>> go = TypeSettings(prefixed=True, constructor_functions=("new", "make"), identity_functions=("append",))
    >>> [chain_of(t, go) for t in ("a.b", "&T{x: 1}", "f(x)[0].g", "x.(*T).m", "[]*pkg.T{}", "new(T)", "a + b")]
    ['a.b', 'T()', 'f()[].g', 'T!.m', 'pkg.T()^', 'T()', '']
    """
    text = _trim(text)
    if not text or depth > _MAX_DEPTH:
        return ""
    if text.startswith("<-"):
        inner = chain_of(text[2:], settings, depth + 1)
        return inner + Mark.ITEM if inner else ""
    if text[0] in "*&":
        return chain_of(text[1:], settings, depth + 1)
    chain, position = _operand(text, settings, depth)
    return _follow_trailers(text, position, chain, settings) if position else ""


def _operand(text: str, settings: TypeSettings, depth: int) -> tuple[str, int]:
    """Return (chain, end) of the operand at the start of an expression; end is 0 if there is none."""
    if text[0] == "(":
        end = _find_closing(text, 0)
        return (chain_of(text[1:end], settings, depth + 1) or "?", end + 1) if end > 0 else ("", 0)
    if text[0] == "[" or text.startswith("map["):
        end = _end_of_type(text)
        return (_value_of(type_of(text[:end], settings)), _after_value(text, end)) if end > 0 else ("", 0)
    if _COMPOSITE.match(text):
        if not text.startswith("func"):
            return "", 0
        last = re.search(r"\}\s*\(", text)  # a function literal that is called at once: its result is unknown
        return ("?", _find_closing(text, last.end() - 1) + 1) if last else ("", 0)
    named = _NAME.match(text)
    if not named:
        return "", 0
    if named[0] in settings.constructor_functions or named[0] in settings.identity_functions:
        at = _skip(text, named.end())
        end = _find_closing(text, at) if text[at : at + 1] == "(" else -1
        if end > 0:
            first = split_outside(text[at + 1 : end], ",", _TOKEN)[0]
            made = (
                _value_of(type_of(first, settings))
                if named[0] in settings.constructor_functions
                else chain_of(first, settings, depth + 1)
            )
            return made or "?", end + 1
    return named[0], named.end()


def _follow_trailers(text: str, position: int, chain: str, settings: TypeSettings) -> str:
    """Return the chain, continued with selectors, calls, indices, literals and assertions."""
    length = len(text)
    while True:
        position = _skip(text, position)
        if position >= length:
            return "" if chain == "?" else chain
        character = text[position]
        if character == ".":
            position = _skip(text, position + 1)
            named = _NAME.match(text, position)
            if named:
                chain = f"{chain}.{named[0]}" if chain[:1] not in ("", "?") else f"?.{named[0]}"
                position = named.end()
                continue
            end = _find_closing(text, position) if text[position : position + 1] == "(" else -1
            if end < 0:
                return ""
            asserted = type_of(text[position + 1 : end], settings)
            chain = _value_of(asserted, Mark.INSTANCE) or "?"
            position = end + 1
        elif character in "([{":
            end = _find_closing(text, position)
            if end < 0:
                # What is cut off at the end of a long literal is the literal.
                return chain + Mark.CALL if character == "{" and chain != "?" else ""
            if character == "[":
                chain += "" if ":" in _separators(text[position + 1 : end]) else Mark.ITEM
            elif character == "(" or not chain.endswith(Mark.SEQUENCE_OF):
                chain = (chain.removesuffix(Mark.ITEM) if character == "{" else chain) + Mark.CALL
            if chain.startswith("?"):
                chain = "?"
            position = end + 1
        else:
            return ""


def type_of_literal(text: str) -> str:
    """Return the type of a literal of an unnamed struct or a collection of them, else "".

    >>> [type_of_literal(t) for t in ("[]struct{ a T }{{t}, {u}}", "&struct{ T }{t}", "[]T{t}", "struct{ a T }{t}.a")]
    ['[]struct{a:T}', 'struct{T}', '', '']
    """
    text = _trim(text)
    matched = _COLLECTION_OR_STRUCT.match(text) if "struct" in text else None
    if matched is None:
        return ""
    text = text[matched.end() :]
    end = _end_of_type(text)
    after = _after_value(text, end) if text[end - 1 : end] == "}" else 0
    if not after or _skip(text, after) < len(text):
        return ""
    written = type_of(text[:end])
    return written if written.endswith("}") else ""


def key_and_item(written: str) -> tuple[str, str]:
    """Return the key type and the item type of a range over a value of this type.

    >>> key_and_item("[K][]T"), key_and_item("[]T"), key_and_item("T")
    (('K', '[]T'), ('', 'T'), ('', ''))
    """
    shape, parts = split_type(written)
    return (parts[1], parts[0]) if shape is Shape.SEQUENCE else ("", "")


def _value_of(written: str, mark: Mark = Mark.CALL) -> str:
    """Return a value of a type as a chain: a T as `T()`, a collection of T as `T()^`.

    >>> _value_of("[][K]T"), _value_of("T", "!"), _value_of("()T")
    ('T()^^', 'T!', '')
    """
    matched = _COLLECTIONS.fullmatch(written)
    return matched[2] + mark + Mark.SEQUENCE_OF * matched[1].count("[") if matched else ""


def _after_value(text: str, position: int) -> int:
    """Return the end of the literal or conversion after a type, or 0."""
    position = _skip(text, position)
    if text[position : position + 1] not in ("{", "("):
        return 0
    end = _find_closing(text, position)
    return end + 1 if end > 0 else len(text)


def _end_of_type(text: str) -> int:
    """Return the end of the collection type at the start of `text`, or 0."""
    position = 0
    for _ in range(_MAX_DEPTH):
        position = _skip(text, position)
        if text.startswith("map[", position):
            position += 3
        if text[position : position + 1] == "[":
            position = _find_closing(text, position) + 1
            if position <= 0:
                return 0
        elif text[position : position + 1] == "*":
            position += 1
        else:
            break
    if text.startswith(("struct", "interface"), position):
        opened = text.find("{", position)
        return _find_closing(text, opened) + 1 if opened > 0 else 0
    if re.compile(r"func\s*\(").match(text, position):
        opened = text.find("{", position)  # the literal's own brace
        return opened if opened > 0 else 0
    named = _DOTTED.match(text, position)
    if not named:
        return 0
    position = named.end()
    return _find_closing(text, position) + 1 if text[position : position + 1] == "[" else position


def _with_content(mark: str, rest: str, settings: TypeSettings, depth: int) -> str:
    inner = type_of(rest, settings, depth + 1)
    return mark + inner if inner or len(mark) > 2 else ""


def _read_struct(text: str, settings: TypeSettings, depth: int) -> str:
    """Return the notation of a struct: `struct{ a, b T; U }` is `struct{a:T,b:T,U}`."""
    opened = text.find("{")
    end = _find_closing(text, opened) if opened > 0 else -1
    if end < 0 or _trim(text[end + 1 :]):
        return ""
    fields: list[str] = []
    for written in _split_fields(text[opened + 1 : end]):
        matched = _FIELD.fullmatch(_TAG.sub("", written))
        if matched is None:
            return ""
        if matched[1]:
            field_type = type_of(matched[2], settings, depth + 1)
            fields += [field_of(name.strip(), field_type) for name in matched[1].split(",")]
        else:
            fields.append(matched[3].lstrip("*"))
    return record_of(fields) if fields else ""


def _split_fields(text: str) -> Iterator[str]:
    """Yield the lines and statements outside of brackets, without comments."""
    depth, start, kept = 0, 0, ""
    for token in _END_OF_FIELD.finditer(text):
        written = token[0]
        if written[:2] in ("//", "/*"):
            kept += text[start : token.start()]
            start = token.end()
        elif written in "([{":
            depth += 1
        elif written in ")]}":
            depth -= 1
        elif written in ";\n" and depth == 0:
            if line := (kept + text[start : token.start()]).strip():
                yield line
            kept, start = "", token.end()
    if line := (kept + text[start:]).strip():
        yield line


def _read_results(text: str, settings: TypeSettings, depth: int) -> str:
    """Return the types of several results, `(T, error)` or `(a, b T)`, or of the only one."""
    end = _find_closing(text, 0)
    if end < 0 or _trim(text[end + 1 :]):
        return ""
    parts = [part for part in map(_trim, split_outside(text[1:end], ",", _TOKEN)) if part]
    named = [_NAMED_PARAMETER.fullmatch(part) for part in parts]
    kept = [n if n and n[1] not in _TYPE_WORDS else None for n in named]
    if any(kept):
        written = ""
        types: list[str] = []
        for part, name in zip(reversed(parts), reversed(kept), strict=True):
            written = name[2] if name else written or part
            types.insert(0, type_of(written, settings, depth + 1))
    else:
        types = [type_of(part, settings, depth + 1) for part in parts]
    return types[0] if len(types) == 1 else tuple_of(types) if any(types) else ""


def _trim(text: str) -> str:
    text = text.strip()
    while text.startswith(("//", "/*")):
        matched = _SPACE.match(text)
        if not matched:
            return text
        text = text[matched.end() :]
    return text


def _skip(text: str, position: int) -> int:
    matched = _SPACE.match(text, position)
    return matched.end() if matched else position


def _find_closing(text: str, start: int) -> int:
    """Return the position of the closing bracket, or -1. Strings and comments are skipped."""
    return closing_bracket(text, start, _TOKEN)


def _tokens_outside(text: str) -> Iterator["re.Match[str]"]:
    """Yield the tokens outside of brackets, and no bracket itself."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
        elif depth == 0:
            yield token


def _separators(text: str) -> str:
    """Return the commas and colons outside of brackets."""
    return "".join(token[0] for token in _tokens_outside(text) if token[0] in ",:")


_MAX_TYPE_CHARACTERS = 200
_PLAIN_NAME = lazy_regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_ARRAY = lazy_regex(r"&?\[[^\]]*\](?:const )?([\w.]+)\s*\{|@as\(([^,()]+),")
_MADE_COLLECTION = lazy_regex(r"((?:\w+\.)*(\w+)\([^()]*\))(?:\{|\.(?:init\w*|empty)\b|$)")
# `x: *T = .f()`, `return .f()` and `a.x = .f()`: f of the type of x, of the result and of a.x
_WANTED = lazy_regex(
    rb"(?:\w\s*:\s*[*?]*(?P<type>[A-Za-z_][\w.]*(?:\([\w\s.,]*\))?)\s*=|\b(?P<returned>return)"
    rb"|[;{}]\s*(?P<assigned>[A-Za-z_][\w.]*)\s*=)\s*(?:try\s+)?\Z"
)
_MAX_WANTED_BYTES = 200


def marked_type(text: str, settings: TypeSettings) -> str:
    """Return the type behind its marks; one of arguments in parentheses without them, a collection by its elements."""
    text = re.sub(rf"^(?:{settings.marks_ahead})+", "", text).replace("@This()", "Self")
    name, bracket, rest = text.partition("(")
    name = name.strip()
    if (
        len(text) > _MAX_TYPE_CHARACTERS
        or not _PLAIN_NAME.fullmatch(name)
        or (bracket and not rest.rstrip().endswith(")"))
    ):
        return ""
    if bracket and name.rpartition(".")[2] in settings.containers:
        element = marked_type(split_top(rest.rstrip()[:-1].rstrip(", "), ",")[-1].strip(), settings)
        return wrapped_in(name, array_of(element)) if element and "?" not in element else name
    return "" if name in settings.memberless_types else name


def made_type(text: str, settings: TypeSettings) -> str:
    """Return the type of a value that says it; "" for other values.

    Such are an array that is written out, a conversion, and a new collection: `[_]T{...}`, `@as(T, x)`,
    `List(T).init()`.
    """
    if array := _ARRAY.match(text):
        return marked_type(array[1] or array[2], settings)
    made = _MADE_COLLECTION.match(text)
    return marked_type(made[1], settings) if made and made[2] in settings.containers else ""


def wanted_type(data: bytes, start: int, returned: str) -> str:
    """Return the type, or a value of the type, that is wanted of the expression at `start`; "" if that is not said.

    `returned` is the result of the function around.
    """
    wanted = _WANTED.search(data, max(0, start - _MAX_WANTED_BYTES), start)
    if wanted is None:
        return ""
    return returned if wanted["returned"] else (wanted["type"] or wanted["assigned"]).decode("utf-8", "replace")


# -- what methods take and what they are given, where the types of all arguments choose among them

REST_ARGUMENT = "*"  # letter of an argument that stands for any number of them
_MAX_TAKEN_BYTES, _MAX_GIVEN_BYTES, _MAX_VALUE_CHARACTERS = 2000, 1000, 300
_IN_GIVEN = lazy_regex(
    r'"""(?:\\.|[^"\\]|"(?!""))*+"""|"(?:\\.|[^"\\])*+"|\'(?:\\[^\'\n]+|[^\'\\\n])\'|#=.*?=#|#[^\n]*|[()\[\]{},;]'
    r"|(?<![\w:.@])(?:begin|let|try|quote|function|do)\b|(?<![\w:.@])end\b",
    re.DOTALL,
)
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
_KEYWORD = lazy_regex(r"[^\W\d]\w*!?\s*=(?![=>])")
_TYPE_ARGUMENTS_AHEAD = lazy_regex(r"\s*(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})?\s*(?:\)\s*)?(?=\()")
_GIVEN_HEAD = lazy_regex(r"\s*(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})?(?=\()")
_BLOCK_BEHIND = lazy_regex(r"[ \t]*do\b")
_RESULT = lazy_regex(r"\s*::\s*([^\W\d][\w.]*)")
_WHERE = lazy_regex(
    r"(?:\{[^{}]*\})?\s*where\s*(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\w+(?:\s*<:\s*[\w.]+(?:\{[^{}]*\})?)?))"
)
_MARKED = lazy_regex(r"@\w+\s*(?:\((.*)\)|(?=\w))", re.DOTALL)
_TYPE_NAME = lazy_regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_GIVEN_CHAIN = lazy_regex(r"[^\W\d]\w*!?(?:\.[^\W\d]\w*!?)*")
_GIVEN_NUMBER = lazy_regex(r"[-+]?(?:0[xbo][\da-fA-F_]+|\d[\d_]*(\.\d*|\.?\d*[eE][-+]?\d+|\.\d+)?)")
_COMPARED = lazy_regex(r"\s(?:==|!=|===|!==|<=|>=|<|>|isa|in|&&|\|\|)\s|^!")
_MACROS = {"@__MODULE__": "=Module", "@__DIR__": "=String", "@__FILE__": "=String", "@__LINE__": "=Int"}
_WORDS = {"true": "=Bool", "false": "=Bool", "nothing": "=Nothing", "missing": "=Missing"}
_QUOTED_TYPES = {"": "=String", "r": "=Regex", "raw": "=String", "v": "=VersionNumber"}
_QUOTED = lazy_regex(r'(\w*)"(?:.*)"', re.DOTALL)


def _list_items(text: str, start: int) -> tuple[list[str], int, int] | None:
    """Return the items in the bracket at `start`, how many stand before a semicolon, and the end.

    >>> _list_items("f(a, g(b, c); d=1)x", 1), _list_items("(x[end], begin a, b end)", 0), _list_items("(a", 0)
    ((['a', 'g(b, c)', 'd=1'], 2, 18), (['x[end]', 'begin a, b end'], 2, 24), None)
    """
    items: list[str] = []
    n_before, open_ones, begin = -1, [""], start + 1
    for mark in _IN_GIVEN.finditer(text, start + 1):
        token = mark[0]
        if token in _OPENING:
            open_ones.append(token)
        elif token in _CLOSING:
            while len(open_ones) > 1 and open_ones[-1] not in _OPENING:
                open_ones.pop()
            if len(open_ones) > 1:
                open_ones.pop()
                continue
            items.append(text[begin : mark.start()].strip())
            kept = [each for each in items if each]
            return kept, len(kept) if n_before < 0 else n_before, mark.end()
        elif token == "end":
            if open_ones[-1] not in _OPENING and len(open_ones) > 1:
                open_ones.pop()
        elif token[0].isalpha():
            open_ones.append(token)
        elif token in ",;" and len(open_ones) == 1:
            items.append(text[begin : mark.start()].strip())
            begin = mark.end()
            if token == ";" and n_before < 0:
                n_before = sum(map(bool, items))
    return None


def _split_items(text: str) -> list[str]:
    read = _list_items(f"({text})", 0)
    return read[0] if read is not None else []


def given_arguments(data: bytes, start: int, spell: Callable[[str], str] = str) -> tuple[str, str]:
    """Return `Call.arguments` and `Call.values` of the arguments at `start`: those that are given by their places.

    A value is a chain, which is spelled, or `=` and the name of a type. Of an unknown number of arguments one stands
    for the rest.

    >>> [given_arguments(b, 1) for b in (b"f()", b"f(a.b, g(1), k=2)", b"f{T}(xs...; k)", b"f(:a) do x")]
    [('', ''), ('??', 'a.b,g(1)'), ('*', ''), ('??', '=Function,=Symbol')]
    """
    if data.startswith(b"()", start):
        arguments, values, end = "", list[str](), start + 2
        text = data[end : end + 8].decode("utf-8", "replace")
        behind = 0
    else:
        text = data[start : start + _MAX_GIVEN_BYTES].decode("utf-8", "replace")
        ahead = _GIVEN_HEAD.match(text)
        read = _list_items(text, ahead.end()) if ahead is not None else None
        if read is None:
            return REST_ARGUMENT, ""
        items = [each for each in read[0][: read[1]] if not _KEYWORD.match(each)]
        arguments = "".join(REST_ARGUMENT if each.endswith("...") else "?" for each in items)
        values = ["" if each.endswith("...") else spell(value_given(each)) for each in items]
        behind = read[2]
    if _BLOCK_BEHIND.match(text, behind):
        arguments, values = f"?{arguments}", ["=Function", *values]
    return arguments, ",".join(values) if any(values) else ""


def value_given(text: str) -> str:
    """Return the chain of a value, with the numbers of arguments, or `=` and the name of its type; "" for what is none.

    >>> texts = ('"a, b"', "1.5", "x -> x", "A.b{T}(1).c", "[1, 2]", "a => b", "x::T", "(1, 2)", "a + b")
    >>> [value_given(each) for each in texts]
    ['=String', '=Float64', '=Function', 'A.b(1).c', '=Vector', '=Pair', '=T', '=Tuple', '']
    >>> [value_given(t) for t in (":a", "String[]", "1:n", "!x", "f.(x)", "-3", "nothing", "[1 2; 3 4]", "a[1]", "'c'")]
    ['=Symbol', '=Vector', '=UnitRange', '=Bool', '', '=Int', '=Nothing', '=Matrix', '', '=Char']
    """
    text = text.strip()
    if _GIVEN_CHAIN.fullmatch(text):
        return _WORDS.get(text, text)
    if not text or len(text) > _MAX_VALUE_CHARACTERS:
        return "=String" if text[:1] == '"' == text[-1:] else ""
    if number := _GIVEN_NUMBER.fullmatch(text):
        return "=Float64" if number[1] else "=Int"
    if text[0] == "@":
        return _MACROS.get(text, "")
    flat = _flatten(text)
    if not flat:
        return ""  # a bracket that is not closed
    if text[0] == "'":
        return "=Char" if flat == "''" else ""
    if quoted := _QUOTED.fullmatch(flat):
        return _QUOTED_TYPES.get(quoted[1], "") if '"' not in flat[len(quoted[1]) + 1 : -1].strip('"') else ""
    if "->" in flat or flat.startswith("function"):
        return "=Function"
    if " => " in flat:
        return "=Pair"
    if "?" in flat or "=" in flat.replace("==", ""):
        return ""
    if _COMPARED.search(flat):
        return "=Bool"
    if flat[0] == ":":
        return "=Symbol" if flat[1:].isidentifier() else "=Expr" if flat == ":()" else ""
    if flat == "[]":
        inside = _flatten(text[1:-1])
        return (
            "=Matrix"
            if ";" in inside or (re.search(r"[\w.]\s+[-\w.]", inside) and "," not in inside and " for " not in inside)
            else "=Vector"
        )
    if flat == "()":
        inside = text[1:-1]
        return "=Tuple" if "," in _flatten(inside) else value_given(inside)
    if "::" in flat:
        before, _, written = flat.rpartition("::")
        name = _TYPE_NAME.match(written)
        return f"={name[0]}" if name and before and name[0] == written.removesuffix("{}") else ""
    if re.fullmatch(r"[\w.()\[\]]+\s*:\s*[\w.()\[\]+-]+", flat):
        return "=UnitRange"
    if text.startswith("Union{") and (several := _taken_type(text, {})) and "|" in several:
        return f"={several}"
    flat = flat.replace("{}", "")
    if re.fullmatch(r"[A-Z]\w*(?:\.[A-Z]\w*)*\[\]", flat):
        return "=Vector"
    return _add_counts(text) if re.fullmatch(r"[^\W\d]\w*!?(?:\(\))?(?:\.[^\W\d]\w*!?(?:\(\))?)*", flat) else ""


def _add_counts(text: str) -> str:
    """Return a chain with the numbers of the arguments of its calls, without type arguments."""
    parts: list[str] = []
    end = 0
    for mark in _IN_GIVEN.finditer(text):
        if mark.start() < end or mark[0] not in ("(", "{") or (read := _list_items(text, mark.start())) is None:
            continue
        parts.append(text[end : mark.start()].strip())
        if mark[0] == "(":
            given = [each for each in read[0][: read[1]] if not _KEYWORD.match(each)]
            is_open = any(each.endswith("...") for each in given)
            parts.append(f"({REST_ARGUMENT if is_open else len(given)})")
        end = read[2]
    return "".join([*parts, text[end:].strip()])


def _flatten(text: str) -> str:
    """Return a text without what stands in its brackets and strings, and without remarks."""
    parts: list[str] = []
    depth = last = 0
    for mark in _IN_GIVEN.finditer(text):
        token = mark[0]
        if not depth:
            parts.append(text[last : mark.start()])
        if token in _OPENING:
            parts += [] if depth else [token]
            depth += 1
        elif token in _CLOSING:
            depth -= depth > 0
            parts += [] if depth else [token]
        elif not depth and token[0] != "#":
            parts.append(token[0] * 2 if token[0] in "\"'" else token)
        last = mark.end()
    if not depth:
        parts.append(text[last:])
    return "".join(parts).strip()


def read_method_types(data: bytes, start: int) -> tuple[list[str] | None, str]:
    """Return what a method takes whose name ends at `start`, as `name:Type`, and the name of the type that it gives.

    A type variable is the type that bounds it, alternatives are joined by "|". None where no list of parameters is.

    >>> read_method_types(b"f(a, b::Vector{T}=x, ::Type{T}, c::Union{A,B}...; k) where {T<:Real}", 1)
    (['a:', 'b:Vector=', ':Type', 'c:A|B...'], '')
    >>> read_method_types(b"f{T}(g::AG::IsDirected, x::T)::Shop where {T<:Real,AG<:M.Graph{T}}", 1)
    (['g:M.Graph', 'x:Real'], 'Shop')
    >>> read_method_types(b"function f end", 10)
    (None, '')
    """
    text = data[start : start + _MAX_TAKEN_BYTES].decode("utf-8", "replace")
    ahead = _TYPE_ARGUMENTS_AHEAD.match(text)
    read = _list_items(text, ahead.end()) if ahead is not None else None
    if read is None:
        return None, ""
    behind = read[2]
    result = _RESULT.match(text, behind)
    behind = result.end() if result else behind
    bounds: dict[str, str] = {}
    while where := _WHERE.match(text, behind):
        for each in _split_items(where[1] if where[1] is not None else where[2]):
            name, *above = [part.strip() for part in each.split("<:")[-2 if each.count("<:") > 1 else 0 :]]
            bounds[name] = above[0] if above else ""
        behind = where.end()
    taken = [_read_parameter(each, bounds) for each in read[0][: read[1]]]
    return taken, _taken_type(result[1], bounds) if result else ""


def _read_parameter(text: str, bounds: dict[str, str]) -> str:
    """Return one parameter as `read_method_types` does."""
    if marked := _MARKED.match(text):
        text = (marked[1] or "") + text[marked.end() :]
    flat = _flatten(text)
    at = flat.find("=")
    default = at >= 0
    written = text[: _outer_equals(text)] if default else text
    rest = written.rstrip().endswith("...")
    name, colons, type_ = written.rstrip(" .\n\t").partition("::")
    type_ = type_.strip().partition("::")[0] if colons else ""
    mark = "..." if rest else "=" if default else ""
    name = name.strip()
    return f"{name if name.isidentifier() else ''}:{_taken_type(type_, bounds)}{mark}"


def _outer_equals(text: str) -> int:
    """Return the position of the first equals sign outside of brackets and strings."""
    depth = last = 0
    for mark in _IN_GIVEN.finditer(text):
        if not depth and (at := text.find("=", last, mark.start())) >= 0:
            return at
        depth += (mark[0] in _OPENING) - (mark[0] in _CLOSING)
        last = mark.end()
    at = text.find("=", last)
    return at if at >= 0 else len(text)


def _taken_type(text: str, bounds: dict[str, str], depth: int = 0) -> str:
    text = text.partition(" where ")[0].strip().removeprefix("<:").strip()
    if not text or depth > _MAX_DEPTH:
        return ""
    if text.startswith("Union{") and text.endswith("}"):
        several = [_taken_type(each, bounds, depth + 1) for each in _split_items(text[6:-1])]
        return "|".join(several) if all(several) else ""
    name = _TYPE_NAME.match(text)
    if name is None or text[name.end() :].strip()[:1] not in ("", "{"):
        return "Function" if text.startswith("typeof(") else "?"
    if name[0] in bounds:
        return _taken_type(bounds[name[0]], {k: v for k, v in bounds.items() if k != name[0]}, depth + 1)
    return "" if name[0] == "Any" else name[0]
