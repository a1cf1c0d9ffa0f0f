"""Arguments of calls as they are written: how many there are, what each is like, and the functions among them.

Three languages ask in three ways: Elixir tells functions apart by the number of arguments alone, C++ by the types that
literals, casts and operators have, and a function in TypeScript gets its types from the parameter that it is given for.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import UNCOUNTED, ArgumentKind, LambdaForm
from causalist.model.language_settings import TypeSettings
from causalist.model.type_notation import Mark, split_top, typed_value
from causalist.parse.syntax.chains import chain_of, find_closing, type_name, with_constructor_call

_PLAIN_TYPES = TypeSettings()
_UNREADABLE = lazy_regex(r"[,?<>]")
_MAX_ARGUMENTS_BYTES = 4000
_FLAT = lazy_regex(rb"\(([^()\[\]{}\"'#~?\\]*)\)")
_ARGUMENT_MARK = lazy_regex(
    rb"""\"\"\".*?\"\"\"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
    rb"""|~[a-zA-Z]+(?:\"\"\".*?\"\"\"|\((?:[^)\\]|\\.)*\)|\[(?:[^\]\\]|\\.)*\]|\{(?:[^}\\]|\\.)*\}|<(?:[^>\\]|\\.)*>"""
    rb"""|/(?:[^/\\]|\\.)*/|\|(?:[^|\\]|\\.)*\||"(?:[^"\\]|\\.)*")|(?<!\w)\?\\?.|\#[^\n]*"""
    rb"""|(?P<open>[(\[{]|(?<!<)<<(?!<)|(?<![\w:.@])(?:fn|do)\b(?!:))"""
    rb"""|(?P<close>[)\]}]|(?<![>~])>>(?!>)|(?<![\w:.@])end\b(?!:))|(?P<comma>,(?P<key>\s*(?:\w+[?!]?|"[^"]*"):\s)?)"""
    rb"""|(?P<spliced>\bunquote_splicing\b)|(?P<default>\\\\)""",
    re.DOTALL,
)
_KEY = lazy_regex(rb"\s*(?:\w+[?!]?|\"[^\"]*\"):\s")  # arguments with keys are one
_LINE = lazy_regex(rb"[^\n]*\n?")
_BLOCK = lazy_regex(rb"[ \t]*do\b(?!:)")
_NOTHING_FOLLOWS = lazy_regex(
    rb"[ \t]*(?:$|[\n)\]},;#]|[ \t][-+*/=<>|&^~!]+[ \t\n]|\|>|(?:do|when|and|or|in|end|else)\b(?!:)|>>)"
)
NO_PARAMETERS = lazy_regex(rb"[ \t]*(?:$|[\n,)]|(?:do|when)\b)")  # behind the name of a function
_GOES_ON = (b",", b"-", b"=", b"+", b"|", b"&", b"(")  # at the end of a line: the next one belongs to it
_MAX_PIPE_BYTES = 200  # bytes of white space between a pipe and what it leads to


def arguments_at(data: bytes, start: int, end: int) -> str:
    r"""Return the letters of the arguments of the call whose callee is at these bytes, where only their number counts.

    What is piped into a call is an argument, too, and so is a block behind a call that begins its line.

    >>> [arguments_at(t, 0, 1) for t in (b"f()", b"f(a, [b, c])", b"f(a, b: 1, c: 2)", b"f a, b", b"f", b"f a, [")]
    ['', '??', '??', '??', '', '-']
    >>> [arguments_at(t, 5, 6) for t in (b"x |> f(a)", b"x   \nf(a) do", b"x   \nf a, b do", b"case f(a) do")]
    ['??', '??', '???', '?']
    """
    before = data[max(0, start - _MAX_PIPE_BYTES) : start].rstrip(b" \t")
    above = before.rstrip()
    n = int(above.endswith(b"|>"))
    is_first = before[-1:] in b"\n" and above[-1:] not in _GOES_ON
    if data[end : end + 1] == b"(":
        inside, _, end = count_arguments(data, end)
        if inside < 0:
            return UNCOUNTED
        n += inside
    elif data[end : end + 1] in b" \t" and not _NOTHING_FOLLOWS.match(data, end):
        inside, end = _count_bare(data, end)
        if inside < 0:
            return UNCOUNTED
        n += inside
    return ArgumentKind.OTHER * (n + (is_first and _BLOCK.match(data, end) is not None))


def count_arguments(data: bytes, start: int) -> tuple[int, int, int]:
    r"""Return the numbers of arguments in the brackets at `start` and of those with a default, and the end.

    The first is -1 if it is not told. Arguments with keys are one.

    >>> count_arguments(b"f(fn a, b -> a end, ?,)", 1)
    (2, 0, 23)
    >>> count_arguments(b"f(a, b \\\\ [])", 1)
    (2, 1, 13)
    """
    flat = _FLAT.match(data, start)
    if flat and b"fn" not in flat[1] and b": " not in flat[1]:
        return flat[1].count(b",") + bool(flat[1].strip()), 0, flat.end()
    n, n_defaults, end = _count_marked(data, start, start + 1)
    return n, n_defaults, end


def _count_bare(data: bytes, start: int) -> tuple[int, int]:
    """Return the number of arguments without brackets behind `start`, -1 if not told, and their end."""
    end = start
    while (line := _LINE.match(data, end)) and line[0].rstrip().endswith(_GOES_ON) and line.end() > end:
        end = line.end()
    text = data[start : line.end() if line else end].rstrip()
    text = text.removesuffix(b" do")
    return _count_marked(text + b"\n)", 0, 0, 1)[0], start + len(text)


def _count_marked(data: bytes, start: int, first: int, depth: int = 0) -> tuple[int, int, int]:
    """Return what `count_arguments` does of arguments with brackets inside; `first` is where the first begins."""
    n, n_defaults, has_keys = 1, 0, _KEY.match(data, first) is not None
    for mark in _ARGUMENT_MARK.finditer(data, start, start + _MAX_ARGUMENTS_BYTES):
        kind = mark.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            if not depth:
                return n, n_defaults, mark.end()
        elif kind == "spliced":
            break
        elif depth == 1:
            n += kind == "comma" and not (has_keys and mark["key"])
            n_defaults += kind == "default"
            has_keys = has_keys or bool(mark["key"])
    return -1, 0, start


_CALLEE = lazy_regex(rb"(?:(?<!\w)|(?=\$))((?:\$?\w++(?:\.|::))*+)(\w++)\s*+(!?)\s*+$")
_OF_CALLEE = bytes(c for c in range(128) if chr(c).isalnum() or c in b"$.:!_ \t\n\r\f\v")
_MAX_CALLEE_BYTES = 200  # bytes before the bracket that are looked at
_NOT_A_CALL = lazy_regex(rb"(?:\bfn|\bstruct|\benum|\bfor|\bmod|\$)\s*$")


def callee_before(data: bytes, bracket: int) -> tuple[int, str]:
    """Return (start, chain) of the callee before the bracket at this position.

    The chain is "" if there is no name, or if the name is declared there. A macro keeps its exclamation mark.

    >>> [callee_before(b, len(b)) for b in (b"x, self.a::b", b"f().g", b"fn f", b"a, vec!")]
    [(3, 'self.a.b'), (4, '?.g'), (3, ''), (3, 'vec!')]
    """
    before = data[max(0, bracket - _MAX_CALLEE_BYTES) : bracket]
    matched = _CALLEE.search(before, len(before.rstrip(_OF_CALLEE)))
    if matched is None or (data[bracket : bracket + 1] not in (b"(", b"") and not matched[3]):
        return bracket, ""
    start = bracket - len(before) + matched.start()
    around = before[: matched.start()].rstrip()
    chain = chain_of((matched[1] + matched[2]).decode("utf-8", "replace"))
    if around[-1:] == b"." and not around.endswith(b"..") and chain:
        return start, f"?.{chain}"
    return start, "" if _NOT_A_CALL.search(around) or not chain else chain + matched[3].decode()


_MADE_BEFORE = lazy_regex(rb"([A-Za-z_$][\w$]*)\((?:[^()]|\([^()]*\))*\)\s*\.\s*$")


def made_before(data: bytes, start: int) -> str:
    """Return the name that is called or made right before a member that begins here, or "".

    >>> made_before(b"a && Shop(to).open", 14)
    'Shop'
    """
    matched = _MADE_BEFORE.search(data[max(0, start - _MAX_CALLEE_BYTES) : start])
    return matched[1].decode() if matched else ""


_ARROW_AHEAD = lazy_regex(rb"\s*=>")
_ANNOTATED = lazy_regex(rb"\s*\??\s*:")
_FUNCTION_BEFORE = lazy_regex(rb"(?:\basync\s*)?(?:\bfunction\b\s*\*?\s*\w*\s*)?$")
_TYPED_BEFORE = lazy_regex(rb"[\w$]\s*:\s*([A-Z][\w.$]*)(?:<[^=;{}]*>)?\s*=$")
_AROUND_FUNCTIONS, _AROUND_ARGUMENTS = (b"(", b",", b"="), (b"(", b",")
_MAX_ARGUMENT_BYTES = 600  # of the arguments before a function that are looked at
_PLAIN_ARGUMENTS = lazy_regex(rb"[\w\s,.\[\]|]+")  # of a type
_OPENERS, _CLOSERS = frozenset(b"([{"), frozenset(b")]}")


class FunctionPlace(NamedTuple):
    """Place of a function without a name, whose parameter number `parameter` is asked for.

    It is the argument number `argument` of the call whose bracket is at `bracket`, or, if that is -1, the value of
    something of the type `type`.
    """

    bracket: int
    argument: int
    parameter: int
    type: str


def place_of_function(data: bytes, start: int, end: int) -> FunctionPlace | None:
    """Return the place of the function whose parameter is named from `start` to `end`, if it has no annotation.

    >>> texts = (b"use('(', (a, x) => 1)", b"of(x => 1)", b"const f: F = (x) => 1")
    >>> [tuple(place_of_function(t, t.index(b"x"), t.index(b"x") + 1)) for t in texts]
    [(3, 1, 1, ''), (2, 0, 0, ''), (-1, 0, 0, 'F')]
    """
    if _ANNOTATED.match(data, end):
        return None
    begin, parameter = (start, 0) if _ARROW_AHEAD.match(data, end) else opening_bracket(data, start)
    if begin < 0:
        return None
    before = data[max(0, begin - 60) : begin].rstrip()
    if before[-1:] not in _AROUND_FUNCTIONS:
        before = before[: _FUNCTION_BEFORE.search(before).start()].rstrip()  # type: ignore[union-attr]
    if before[-1:] == b"=":
        typed = _TYPED_BEFORE.search(before)
        return FunctionPlace(-1, 0, parameter, typed[1].decode()) if typed else None
    if before[-1:] not in _AROUND_ARGUMENTS:
        return None
    bracket, argument = opening_bracket(data, begin)
    return FunctionPlace(bracket, argument, parameter, "") if bracket >= 0 else None


def opening_bracket(data: bytes, position: int) -> tuple[int, int]:
    """Return (start of the round bracket that is open at `position`, commas in between), or (-1, 0).

    >>> opening_bracket(b"f(a, (b, c), d", 13), opening_bracket(b"f({a, b", 6)
    ((1, 2), (-1, 0))
    """
    depth = commas = 0
    lowest = max(-1, position - _MAX_ARGUMENT_BYTES)
    position -= 1
    while position > lowest:
        byte = data[position]
        if byte in _CLOSERS:
            depth += 1
        elif byte in _OPENERS:
            if not depth:
                return (position, commas) if byte == 40 else (-1, 0)
            depth -= 1
        elif byte in b"\"'`":
            position = data.rfind(bytes((byte,)), max(0, lowest), position)
            if position < 0:
                break
        elif byte == 62 and _PLAIN_ARGUMENTS.fullmatch(
            data, opened := data.rfind(b"<", lowest + 1, position) + 1, position
        ):
            position = opened - 1
        elif not depth and byte == 44:
            commas += 1
        elif not depth and byte == 59:
            break
        position -= 1
    return -1, 0


_LAMBDA = lazy_regex(r"(?:static\s+)?(async\s+)?(?:static\s+)?(?:\(((?:[^()]|\([^()]{0,99}\)){0,300}+)\)|\w+)\s*=>\s*")
_GIVES_VALUE = lazy_regex(r"\breturn\s+[^;\s]")
_NESTED = lazy_regex(r"=>\s*\{|\bdelegate\b")
# Expressions that are statements, too: calls, assignments and what throws.
_MAY_GIVE = lazy_regex(
    r"throw\b|\+\+|--|[\w.\[\]?!]+\s*(?:\+\+|--|[-+*/%&|^]?=(?![=>]))|(?:await\s+)?[^\W\d]\w*(?s:.*)\)\s*$"
)


def letter_of_lambda(text: str) -> str:
    """Return the letter of a function without a name: `LambdaForm` says what of it is told.

    >>> texts = "() => a.b()", "(A<B, C> x, y) => x", "x => { f(x); }", "async () => { f(); }", "_ => { return 1; }"
    >>> [tuple(LambdaForm.of_letter(letter_of_lambda(each))) for each in texts]
    [(0, '', False), (2, 'value', False), (1, 'nothing', False), (0, 'nothing', True), (1, 'value', False)]
    """
    head = _LAMBDA.match(text)
    if head is None:
        return ArgumentKind.FUNCTION
    inside, body = head[2], text[head.end() :]
    n = 1 if inside is None else len(split_top(inside, ",")) if inside.strip() else 0
    if not body.startswith("{"):
        gives = "" if _MAY_GIVE.match(body) else "value"
    elif _GIVES_VALUE.search(body):
        gives = "" if _NESTED.search(body) else "value"
    else:
        gives = "" if "throw" in body else "nothing"
    return LambdaForm(n, gives, bool(head[1])).letter


_LIST = lazy_regex(rb"\s*\(([^()\[\]{}\"'/<]*)\)")
_OPEN_LIST = lazy_regex(rb"\s*\(")
_IN_LIST = lazy_regex(
    rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*.*?\*/|\w<[\w\s:,*&]*>(?=[({:])|[()\[\]{},]", re.DOTALL
)
_IN_TYPED_LIST = lazy_regex(rb"\"[^\"\n]*\"|'[^'\n]*'|![^\n]*|[()\[\]{},]")
_MAX_LIST_BYTES = 1000


def written_arguments(data: bytes, start: int, marks: re.Pattern[bytes] = _IN_LIST) -> list[str] | None:
    r"""Return the arguments in the brackets at `start`, as they are written; None where no list of arguments is there.

    >>> [written_arguments(b, 1) for b in (b"f()", b"f (a, b.c)", b"f(g(a, b), ',', m<A, B>(c))", b"f;", b"f(a")]
    [[], ['a', 'b.c'], ['g(a, b)', "','", 'm<A, B>(c)'], None, None]
    """
    if (plain := _LIST.match(data, start)) and b"!" not in plain[1]:
        inside = plain[1].strip()
        return [each.strip() for each in inside.decode("utf-8", "replace").split(",")] if inside else []
    opened = _OPEN_LIST.match(data, start)
    if opened is None:
        return None
    arguments: list[str] = []
    depth, begin, search, limit = 0, opened.end(), marks.search, opened.end() + _MAX_LIST_BYTES
    position = begin
    while mark := search(data, position, limit):
        position = mark.end()
        character = data[mark.start()]
        if character in b"([{":
            depth += 1
        elif character in b")]}":
            depth -= 1
        if depth < 0 or (character == 44 and not depth):
            arguments.append(data[begin : mark.start()].decode("utf-8", "replace").strip())
            begin = position
            if depth < 0:
                return arguments if arguments != [""] else []
    return None


def letters_and_values(data: bytes, start: int, settings: TypeSettings) -> tuple[str, str] | None:
    """Return `Call.arguments` and `Call.values` of the list of arguments at `start`; None where none is there."""
    if data.startswith(b"()", start):
        return "", ""
    if plain := _LIST.match(data, start):
        return _plain_letters_and_values(plain[1])
    given = written_arguments(data, start)
    if not given:
        return ("", "") if given is not None else None
    return _join([letter_and_value(each, settings) for each in given])


_TEXT_LITERAL = lazy_regex(r"'[^']*'|\"[^\"]*\"")
_MAX_TYPED_CHARACTERS, _MAX_TYPED_DEPTH = 400, 8  # of an argument whose type is read
_MAX_GIVEN_DEPTH, _MAX_OPERANDS = 4, 8  # calls in one another of which is told what they are given
_REMARK = lazy_regex(r"('[^'\n]*'|\"[^\"\n]*\")|![^\n]*")
_FOLDED_LINE = lazy_regex(r"&\s*&?")
_KEYWORD = lazy_regex(r"([a-z]\w*)\s*=(?![=>])\s*(.*)", re.DOTALL)
_NUMBER = lazy_regex(r"(?:\d+\.?\d*|\.\d+)(?P<exponent>[ed][-+]?\d+)?(?:_(?P<kind>\w+))?")
_IS_LOGICAL = lazy_regex(r"\.\s*(?:true|false|and|or|not|n?eqv|eq|ne|[lg][te])\s*\.|[<>]|[=/]=")
_BRACKETED = lazy_regex(r"\([^()\[\]]*\)|\[[^()\[\]]*\]")
_NAMED_CHAIN = lazy_regex(r"[a-z]\w*+\s*+\0*+\s*+(?:\.\s*+[a-z]\w*+\s*+\0*+\s*+)*+")
_OPERATOR = lazy_regex(r"\*\*|(?<![\d.][ed])[-+]|[*/]")
_TYPE_AHEAD = lazy_regex(r"(character\b.*|\w+)(?:\(\s*(?:kind\s*=\s*)?(\w+)\s*\))?", re.DOTALL)


def typed_arguments(data: bytes, start: int) -> tuple[str, str] | None:
    """Return `Call.arguments` and `Call.values` of the arguments at `start` where elements are written like calls.

    A value is a chain, after `=` the type of a literal, after `name=` that of the parameter of this name; behind a
    section of an array stand a colon and its rank. What a call is given stands in its parentheses, after semicolons.
    A sign before parentheses tells what is made of the values in them: `_type_of_made` of the graph reads it.

    >>> typed_arguments(b"(1, 2.0_wp, a.b, c(1,:), d=x(2), 'e', p .and. q, n-1, f(a, g(1)))", 0)
    ('?????????', '=integer,=real(wp),a.b,c:1,d=x(=integer),=character,=logical,+(n;=integer),f(a;g(=integer))')
    >>> typed_arguments(b"([1, -n], 2.d0*1.d-3, abs(z), real(z), sum(a), -(x), nint(y), (/'a', 'b'/), (1., 2.))", 0)[1]
    '1(=integer),=real(8),|(z),^(z),0(a),x,&(=integer;y),1(=character),=complex'
    """
    given = written_arguments(data, start, _IN_TYPED_LIST)
    if given is None:
        return ("", "") if data.startswith(b"()", start) else None
    values = [_typed_value(_FOLDED_LINE.sub("", _REMARK.sub(r"\1", each)).strip()) for each in given]
    return "?" * len(values), ",".join(values) if any(values) else ""


def _flatten(text: str) -> str:
    """Return a text of the same length with zeros in place of brackets, and with quotes in place of texts."""
    flat = _TEXT_LITERAL.sub(lambda found: "'" * len(found[0]), text)
    while (outer := _BRACKETED.sub(lambda found: "\0" * len(found[0]), flat)) != flat:
        flat = outer
    return flat


def _split_parts(text: str) -> list[str]:
    """Return the parts of a text between commas outside of brackets and texts."""
    parts, start = [], 0
    for each in _flatten(text).split(","):
        parts.append(text[start : start + len(each)].strip())
        start += len(each) + 1
    return parts


def _typed_value(text: str, depth: int = 0) -> str:
    if len(text) > _MAX_TYPED_CHARACTERS or depth > _MAX_TYPED_DEPTH:
        return ""
    if named := _KEYWORD.fullmatch(text):
        return f"{named[1]}={_typed_value(named[2], depth + 1)}"
    flat = _flatten(text)
    if _IS_LOGICAL.search(flat):
        return "=logical"
    if "//" in flat:
        return "=character"
    operands, start = [], 0
    for mark in (*_OPERATOR.finditer(flat), None):
        end = mark.start() if mark else len(text)
        if operand := text[start:end].strip():
            operands.append(operand)
        start = mark.end() if mark else end
    if len(operands) == 1:
        return _typed_operand(operands[0], flat if operands[0] == text else _flatten(operands[0]), depth)
    if not 0 < len(operands) <= _MAX_OPERANDS:
        return ""
    values = list(dict.fromkeys(_typed_value(each, depth + 1) for each in operands))
    if "" in values:
        return next((each for each in values if each.startswith("=real")), "")
    return values[0] if len(values) == 1 else f"+({';'.join(values)})"


def _typed_operand(text: str, flat: str, depth: int) -> str:
    if text[0] in "'\"" and not flat.strip("'"):
        return "=character"
    if number := _NUMBER.fullmatch(text):
        kind = f"({number['kind']})" if number["kind"] else ""
        if "." in text.partition("_")[0] or number["exponent"]:
            return "=real(8)" if "d" in (number["exponent"] or "") else f"=real{kind}"
        return f"=integer{kind}"
    if text[0] in "([" and not flat.strip("\0"):
        if text[0] == "[" or text[1] == "/":
            return _array_value(text[1:-1].strip("/"), depth + 1)
        parts = _split_parts(text[1:-1])
        value = _typed_value(parts[0], depth + 1)
        return value if len(parts) == 1 else f"=complex{value[5:]}" if value[:5] == "=real" else "=complex"
    opened = flat.find("\0")
    if opened > 0 and not flat[opened:].strip("\0"):
        name, parts = text[:opened].strip(), _split_parts(text[opened + 1 : -1])
        if (made := _intrinsic_value(name, parts, depth + 1)) is not None:
            return made
        if ")(" in text[opened:]:
            parts = _split_parts(text[opened + 1 :].partition(")(")[0])  # of an element, some characters
        if _NAMED_CHAIN.fullmatch(name) and (rank := sum(":" in _flatten(each) for each in parts)):
            return f"{''.join(name.split())}:{rank}"
        if name.isidentifier() and depth < _MAX_GIVEN_DEPTH:
            given = [_typed_value(each, depth + 1) for each in parts]
            return f"{name}({';'.join(given)})" if any(given) else f"{name}()"
    return "".join(re.sub("\0+", "()", flat).split()) if _NAMED_CHAIN.fullmatch(flat) else ""


def _array_value(inside: str, depth: int) -> str:
    """Return the value of an array whose elements are listed, perhaps after their type."""
    type_, colons, _ = inside.partition("::")
    if colons and (written := _TYPE_AHEAD.fullmatch(type_.strip())):
        is_text = written[1].startswith("character")
        return f"1(={'character' if is_text else written[1]}{f'({written[2]})' if written[2] and not is_text else ''})"
    for element in _split_parts(inside)[:_MAX_OPERANDS]:
        while element[:1] == "(" and len(repeated := _split_parts(element[1:-1])) > 2 and "=" in "".join(repeated[1:]):
            element = repeated[0]
        if value := _typed_value(element, depth):
            return f"1({value})"
    return ""


# What functions of the language give; "" for what the first argument is, a digit for its type with that rank,
# "+" for what the first two are together, "&" for each element a value of the type that follows.
_FUNCTIONS_BY_TYPE = {
    "": "cos sin tan acos asin atan cosh sinh tanh acosh asinh atanh exp log log10 sqrt gamma log_gamma erf erfc aint "
    "anint conjg cshift eoshift transpose ieor iand ior not ishft ishftc ibset ibclr ibits nearest spacing fraction",
    "+": "max min mod modulo sign dim atan2 hypot merge",
    "*": "matmul",
    "0": "epsilon huge tiny sum product maxval minval dot_product norm2",
    "1": "pack",
    "|": "abs",
    "^": "aimag",
    "=character": "repeat trim new_line",
    "&=character": "achar adjustl adjustr char",
    "=integer": "len size command_argument_count storage_size bit_size rank",
    "&=integer": "ceiling floor iachar ichar index int len_trim nint scan verify popcnt",
    "=integer[1]": "shape",
    "=logical": "allocated associated present",
    "&=logical": "btest isnan logical",
    "&=complex": "cmplx",
    "&=complex(8)": "dcmplx",
    "&=real": "real sngl float",
    "&=real(8)": "dble dfloat",
}
_INTRINSICS = {name: type_ for type_, names in _FUNCTIONS_BY_TYPE.items() for name in names.split()}
_OVER_DIMENSIONS = {  # functions that leave one out if they are told which -> what they give else
    **dict.fromkeys(("sum", "product", "maxval", "minval"), ""),
    **dict.fromkeys(("any", "all"), "=logical"),
    **dict.fromkeys(("lbound", "ubound", "maxloc", "minloc"), "=integer[1]"),
    "count": "=integer",
}
_KIND_PLACES = {"cmplx": 2, "int": 1, "real": 1, "nint": 1, "floor": 1, "ceiling": 1, "logical": 1}
_APPLIED_SIGNS = "+*|^0123456789"


def _intrinsic_value(name: str, given: list[str], depth: int) -> str | None:
    """Return the value of a call of a function of the language; None for other names."""
    given = [each for each in given if each]
    if (whole := _OVER_DIMENSIONS.get(name)) is not None:
        is_reduced = len(given) == 1 or all(each.startswith("mask") for each in given[1:])
        if not is_reduced:
            return "=integer" if name in ("lbound", "ubound") else ""
        if whole:
            return whole
    if name == "reshape" and len(given) > 1 and given[1][0] in "([":
        value, rank = _typed_value(given[0], depth), len(_split_parts(given[1][1:-1].strip("/")))
        return f"{rank}({value})" if value else ""
    if name == "transfer" and len(given) == 2:
        return _typed_value(given[1], depth)
    form = _INTRINSICS.get(name)
    if form is None:
        return None
    values = [_typed_value(each.partition("=")[2] if _KEYWORD.fullmatch(each) else each, depth) for each in given[:2]]
    if not form:
        return values[0] if values else ""
    if form in _APPLIED_SIGNS:
        if form in "|^" and values and values[0].startswith(("=integer", "=real")):
            return values[0]
        taken = values[: 2 if form in "+*" else 1]
        return f"{form}({';'.join(dict.fromkeys(taken) if form == '+' else taken)})" if taken and all(taken) else ""
    if name == "real" and len(given) == 1:
        return f"^({values[0]})" if values[0] else ""
    type_ = form.lstrip("&")
    place = _KIND_PLACES.get(name, len(given))
    kind = next((each[5:] for each in given if each.startswith("kind=")), given[place] if place < len(given) else "")
    if kind:
        type_ = f"{type_}({kind})" if kind.isidentifier() or kind.isdigit() else f"{type_}(?)"
    return f"&({type_};{values[0]})" if form[0] == "&" and values and values[0] and values[0][0] != "=" else type_


def _join(read: list[tuple[str, str]]) -> tuple[str, str]:
    values = [value for letter, value in read if letter == "?"]
    return "".join(letter for letter, _ in read), ",".join(values) if any(values) else ""


@lru_cache(maxsize=1 << 15)
def _plain_letters_and_values(inside: bytes) -> tuple[str, str]:
    """Return the same for what stands between brackets, without brackets and strings inside."""
    text = inside.decode("utf-8", "replace").strip()
    return _join([letter_and_value(each.strip(), _PLAIN_TYPES) for each in text.split(",")]) if text else ("", "")


_SIZED = frozenset({"unsigned", "signed", "long", "short", "int", "char", "double"})
_SPECIFIERS = lazy_regex(
    r"\b(?:const|volatile|struct|union|enum|class|typename|register|restrict|__restrict|in|out|inout)\b|\[\[.*?\]\]"
)
_BASIC = lazy_regex(r"\bbasic_(\w+)\s*<\s*(char|wchar_t)\b")  # `std::basic_string<char>` is `std::string`
_DECLARED = lazy_regex(r"((?:::)?\w+(?:\s*::\s*\w+)*)((?:\s*[*&])*)\s*(?:\.\.\.\s*)?(\w*)\s*((?:\[[^\]]*\])*)\s*")
_POINTED = lazy_regex(r"[*\[]")


@lru_cache(maxsize=1 << 14)
def declared_type(text: str) -> str:
    """Return the type of a declaration before its name: a "*" for each pointer or array, and no types in "<>".

    >>> [declared_type(t) for t in ("const char* s", "int argv[]", "std::map<K, V>& m", "long int", "T&&... a")]
    ['char*', 'int*', 'std.map', 'long', 'T...']
    >>> [declared_type(t) for t in ("Node *const *n", "void (*call)(int)", "struct Point", "void", "A::B b = {}")]
    ['Node**', 'void()*', 'Point', 'void', 'A.B']
    """
    text = _SPECIFIERS.sub(" ", text.partition("=")[0].replace(" .", "::"))  # as a separator of names is read
    text = _BASIC.sub(lambda found: f"{'w' * (found[2] == 'wchar_t')}{found[1]}<", text)
    while "<" in text and (inner := re.sub(r"<[^<>]*>", "", text)) != text:
        text = inner
    if "(" in text:
        return f"{text.partition('(')[0].strip()}()*"
    rest = "..." if "..." in text else ""
    words = text.replace("*", " * ").replace("&", " & ").replace("[", " [").replace("...", " ").split()
    if words and words[0] in _SIZED:
        own = [each for each in words if each in _SIZED]
        if len(own) > 1 or own[0] in ("unsigned", "signed"):
            kept = [each for each in own if each not in ("int", "signed")] or ["int"]
            return f"{' '.join(kept)}{'*' * len(_POINTED.findall(text))}{rest}"
    matched = _DECLARED.match(" ".join(words))
    if matched is None:
        return ""
    name = re.sub(r"\s*::\s*", ".", matched[1]).lstrip(".")
    return f"{name}{'*' * len(_POINTED.findall(text))}{rest}"


_MADE_OR_CAST = lazy_regex(
    r"[*&]?(?:(?:std::)?make_(?:unique|shared)\s*<([^()]+)>\s*\(|(?:static|reinterpret|dynamic|const)_cast\s*<([^()]+)>\s*\()"
)
_CAST_TO_POINTER = lazy_regex(
    r"[*&]?\s*\(\s*((?:const\s+)?[^\W\d][\w:]*(?:<[^()<>]*>)?)\s*(?:const\s*)?[*&]+\s*\)\s*[\w(&*]"
)


_CAST = lazy_regex(r"[*&]?\s*(?:static|const|dynamic|reinterpret)_cast\s*(?=<)")
_CAST_IN_BRACKETS = lazy_regex(r"\(\s*([^\W\d][\w:. ]*(?:<[^()]*>)?[\s*&]*[*&])\s*(?:const\s*)?\)\s*(?=[\w(&*])")
_OPERAND = (
    r"[^\W\d][\w.]*(?:(?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])(?: ?\.\w+)*)*(?: \.\w+(?:\((?:[^()]|\([^()]*\))*\))?)*"
)
_OPERATION = lazy_regex(rf"({_OPERAND})\s*(<<|>>|[-+*/%|^])\s*(?=[\w(*&!~-])")
_STEPS = lazy_regex(r"\+\+|--")


def chain_of_operation(text: str, settings: TypeSettings) -> str:
    """Return the chain of an expression that may begin with a cast or an operation in brackets, as of C++.

    >>> s = TypeSettings(operators="operator")
    >>> [chain_of_operation(t, s) for t in ("static_cast<A&>(b).c", "((A*) b) .c", "(a.f(x) + b).c", "(++i) .c", "a.b")]
    ['<A>.c', '<A>.c', 'a.f().operator+().c', 'i.c', 'a.b']
    """
    head, end = _head_of_operation(text, settings) if settings.operators and len(text) <= 300 else ("", 0)
    rest = chain_of(f"x{text[end:]}", settings) if head and end < len(text) else "x"
    return head + rest[1:] if head and rest else chain_of(text, settings)


def _head_of_operation(text: str, settings: TypeSettings) -> tuple[str, int]:
    """Return the chain of a cast or bracket at the start of a text, and its end; "" if it has none."""
    if "_cast" in text and (cast := _CAST.match(text)):
        closed = find_closing(text, cast.end())
        opened = text.find("(", closed)
        end = find_closing(text, opened) if 0 < closed < opened else -1
        return _typed_head(text[cast.end() + 1 : closed], settings), end + 1
    end = find_closing(text, 0) if text[:1] == "(" else -1
    inside = text[1:end].strip()
    if end < 0:
        return "", 0
    if cast := _CAST_IN_BRACKETS.match(inside):
        return _typed_head(cast[1], settings), end + 1
    if operation := _OPERATION.match(inside):
        left = chain_of(operation[1], settings)
        return f"{left}.{settings.operators}{operation[2]}{Mark.CALL}" if left else "", end + 1
    if step := _STEPS.match(inside):
        return chain_of(inside[step.end() :], settings), end + 1
    head, until = _head_of_operation(inside, settings)
    return (head, end + 1) if until == len(inside) else ("", 0)


def _typed_head(written: str, settings: TypeSettings) -> str:
    name = type_name(written.removeprefix("const "), settings)
    return typed_value(name) if name and ">" not in name else ""


def value_chain(text: str, settings: TypeSettings) -> str:
    """Return the chain of a whole value; what a cast or a function of the standard library makes has its type.

    >>> [value_chain(t, _PLAIN_TYPES) for t in ("new T", "a.b", "std::make_unique<T>(x)")]
    ['T()', 'a.b', 'std.make_unique()']
    >>> [value_chain(t, TypeSettings(literals=(("i", ("int",)),))) for t in ("*(T*) x", "*static_cast<T*>(x)")]
    ['<T>', '<T>']
    """
    if settings.literals and "*)" in text and (cast := _CAST_TO_POINTER.match(text.replace(" .", "::"))):
        name = type_name(cast[1].removeprefix("const "), settings)
        return typed_value(name) if name and "<" not in name else ""
    if (
        settings.literals
        and "<" in text
        and (made := _MADE_OR_CAST.match(text.replace(" .", "::")))
        and text.endswith(")")
    ):
        name = type_name(made[1] or made[2], settings)
        if name and "<" not in name:
            return typed_value(name)
    is_text = settings.operators and _STRING_MADE.match(text)
    return typed_value("std.string") if is_text else with_constructor_call(text, chain_of_operation(text, settings))


_TEXT = lazy_regex(r'(?:u8|[LuUR])?"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', re.DOTALL)
_IN_MACRO = lazy_regex(r"""[A-Z_][A-Z0-9_]*\(\s*(?=["'])(.*)\)""", re.DOTALL)  # `STR("a")`
_TRUTH = lazy_regex(r"!(?!=)|[^()\[\]{}?]*(?:==|!=|&&|\|\|)")
_FIGURE = lazy_regex(r"[-+~]?(?:0[xXbB][\da-fA-F']+|\d[\d']*(\.?\d*(?:[eE][-+]?\d+)?))([uUlLfF]*)")
_SIZE = lazy_regex(r"sizeof\b|[^+*/%?,]*(?:\.|->|::)(?:size|length)\(\)$", re.DOTALL)
_STREAMS = {
    "std::cout": "std.ostream",
    "std::cerr": "std.ostream",
    "std::clog": "std.ostream",
    "std::cin": "std.istream",
}
_CONTAINER_MADE = lazy_regex(r"(std::\w+)\s*<[^()]*>\s*\{.*\}", re.DOTALL)
_STRING_MADE = lazy_regex(r"(?:std::)?(?:w?string|to_string)\s*[({]|.*(?:\.|::)str\(\)$", re.DOTALL)
_NEW_STYLE_CAST = lazy_regex(r"(?:static|const|reinterpret|dynamic)_cast<([^()]*)>\(")
_C_CAST = lazy_regex(r"\(\s*((?:const\s+)?\w[\w:]*(?:\s+(?:int|long|char|double))*[\s*&]*)\)\s*[\w(&*]")
_WORD = lazy_regex(r"[^\W\d]\w*")
_MEMBER_PATH = lazy_regex(r"[^\W\d]\w*(?:(?: ?\.|->|::)[^\W\d]\w*)+(?<!cout)(?<!cerr)(?<!clog)(?<!cin)", re.ASCII)
_NULLS = ("nullptr", "NULL")


@lru_cache(maxsize=1 << 13)
def letter_and_value(text: str, settings: TypeSettings) -> tuple[str, str]:
    """Return the letter of an argument in `Call.arguments` and, if that is "?", its chain in `Call.values`.

    A sign of an address or of what is pointed at stays before the chain.

    >>> [letter_and_value(t, _PLAIN_TYPES) for t in ('"a" "b"', "'c'", "-1", "2.f", "7L", "NULL", "!x", "s.c_str()")]
    [('s', ''), ('c', ''), ('i', ''), ('f', ''), ('l', ''), ('n', ''), ('b', ''), ('s', '')]
    >>> [letter_and_value(t, _PLAIN_TYPES) for t in ("a->b", "&x", "*p", "f(x)", "(int)x", "a + b", "[] { }", "x * 2")]
    [('?', 'a.b'), ('?', '&x'), ('?', '*p'), ('?', 'f()'), ('?', '<int>'), ('?', ''), ('>', ''), ('?', '')]
    """
    if _WORD.fullmatch(text):
        return ("b" if text in ("true", "false") else "n" if text in _NULLS else "?"), "" if text in _NULLS else text
    if _MEMBER_PATH.fullmatch(text):
        return "?", text.replace(" .", ".").replace("->", ".").replace("::", ".")
    if wrapped := _IN_MACRO.fullmatch(text):
        text = wrapped[1].rstrip()
    text = text.replace(" .", "::")  # as a separator of names is read
    first = text[:1]
    if first in '"LuUR' and _TEXT.fullmatch(text):
        return ("?", typed_value("wchar_t*")) if first == "L" else ("s", "")
    if first == "'":
        return "c", ""
    if figure := _FIGURE.fullmatch(text):
        is_long = "l" in figure[2].lower()
        return ("f" if "f" in figure[2].lower() else "d" if figure[1] else "l" if is_long else "i"), ""
    if first == "[":
        return ">", ""
    if _TRUTH.match(text):
        return "b", ""
    if text.endswith("c_str()"):
        return "s", ""
    if _SIZE.match(text):
        return "l", ""
    if _STRING_MADE.match(text):
        return "?", typed_value("std.string")
    if container := _CONTAINER_MADE.fullmatch(text):
        return "?", typed_value(container[1].replace("::", "."))
    if text in _STREAMS:
        return "?", typed_value(_STREAMS[text])
    cast = _NEW_STYLE_CAST.match(text) or _C_CAST.match(text)
    if cast:
        name = declared_type(cast[1])
        return "?", typed_value(name) if name else ""
    sign = first if first in "&*" else ""
    text = text.replace("->", ".")
    chain = with_constructor_call(text, chain_of_operation(text, settings))
    return "?", f"{sign}{chain}" if chain.isascii() and not _UNREADABLE.search(chain) else ""
