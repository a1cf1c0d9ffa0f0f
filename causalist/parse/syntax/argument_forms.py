"""Forms of single arguments: literals, casts, functions, and arguments that no brackets hold.

In: the text of an argument or call. Out: its letter in `Call.arguments`, its type, or how many there are. In VHDL, the
names and expressions of the syntax tree, as `RegionNotation` writes them. `RegionFacts` has what readers of languages
of declarative regions share.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import tree_sitter
from tree_sitter import Node

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import (
    MODULE_SCOPE,
    UNCOUNTED,
    ArgumentKind,
    Binding,
    Call,
    Definition,
    Export,
    Import,
    Reference,
)
from causalist.model.language_settings import TypeSettings
from causalist.model.node_ids import SEVERAL, NodeKind
from causalist.model.type_notation import OPTIONAL, Mark, typed_value
from causalist.parse.syntax import go_like_types
from causalist.parse.syntax.arguments import NO_PARAMETERS, count_arguments, declared_type, written_arguments
from causalist.parse.syntax.chains import array_type_name, chain_of
from causalist.parse.syntax.open_scopes import DefinitionDraft
from causalist.parse.syntax.shadowed_names import MAX_CHAIN_PARTS, MAX_SPELLED, RegionNotation

METHOD_OF_ARROW = lazy_regex(
    rb"(?:\s|//[^\n]*\n)*!?\??\.\s*(\w+)\s*(?:<[^<>()]{0,60}>)?\(\s*(?:async\s+|async(?=\s*\())?(?:function\s*\w*\s*)?\(?\s*"
)
MADE_GENERIC = re.compile(r"new ([\w.]+<[^()<>]+>)\([^()]*\)")
_ASSIGNED = lazy_regex(r"\(?([^\W\d][\w$.]*)\s*=(?![=>])")
_SELECTED = lazy_regex(r"(use[A-Z]\w*)\(\s*(?:\(\s*(\w+)\s*(?::[^()]*)?\)|(\w+))\s*=>\s*(\w+)\.(\w+)\s*,?\s*\)")
_NUMBER_LITERAL = lazy_regex(
    r"-?(?:0[xXbB][\da-fA-F_]+|[\d_]+)[lL]?|-?[\d_]*\.?[\d_]+(?:[eE][-+]?\d+)?[fFdD]?|-?\d+\.[fFdD]?"
)
_FUNCTION = lazy_regex(r"\w+\s*->|\([\w\s,.<>\[\]@?]*\)\s*->|[\w.<>]+::\w+$")
_ARROW = lazy_regex(r"\{|(?:(?:async|static)\s+)*+(?:\w+|\([^()]*\))\s*=>")
_TYPED = lazy_regex(r"(default\s*)?\(\s*([A-Z]\w*(?:\.\w+)*)(?:<[^()]*>)?\??\s*\)\s*")
_NOTHING = frozenset({"null", "null!", "default", "default!"})
_MADE = lazy_regex(r"(?:const\s+)?(?:<((?:[^<>]|<[^<>]*>)*)>\s*[\[{].*|([A-Z][\w.]*<[^()<>]+>)\([^()]*\))", re.DOTALL)
_ARGUMENT = lazy_regex(rb"[\w\"'\[{`$@]")
_BY_SPACE = lazy_regex(
    r"((?:new\s+)?(?!new\b)[\w.'`]+(?:<[^<>()]*>)?(?:\([^()]*\)(?:\.\w+)+)*)"
    r"(?:\s+[\w\"'(\[{`$@].*|\([^()]*\)\s+[\w\"'(\[{`$@].*)",
    re.DOTALL,
)


_ITERATOR = lazy_regex(r"(.*>)\s*::\s*(?:const_)?(?:reverse_)?iterator", re.DOTALL)
_KIND_OF_TYPE = lazy_regex(r"\b(?:class|struct|union|enum|typename)\s+(?=\w)")  # as in `Held<class T>`


@lru_cache(maxsize=1 << 12)
def named_type(text: str, settings: TypeSettings) -> str:
    """Return the type that is written before names of variables. An iterator is what it points at.

    >>> [named_type(t, TypeSettings()) for t in ("std::vector<Node*>::iterator", "unsigned int", "Node", "A::B")]
    ['std.vector', 'unsigned', 'Node', 'A.B']
    """
    text = text.replace(" .", "::")
    if "<" in text and " " in text:
        text = _KIND_OF_TYPE.sub("", text)
    if "iterator" in text and (of := _ITERATOR.fullmatch(text)):
        return array_type_name(of[1], settings).removesuffix("[]").rpartition("?")[2]
    name = "" if "basic_" in text else array_type_name(text, settings)
    plain = "" if name else declared_type(text)
    return name or ("" if plain in settings.memberless_types or plain == "decltype()*" else plain)


def read_assigned(text: str, self_names: Sequence[str], clean: Callable[[str], str]) -> str:
    """Return `b.c` for the text `b.c = …`, whose value is that of `b.c`, and `useDoor().open` for what selects that.

    >>> [read_assigned(text, (), str) for text in ("b.c = 1", "useDoor((s) => s.open)", "f()")]
    ['b.c', 'useDoor().open', '']
    """
    if left := _ASSIGNED.match(text):
        return left[1] if left[1].partition(".")[0] in self_names else clean(left[1])
    selected = _SELECTED.fullmatch(text) if text.startswith("use") else None
    is_member = selected is not None and selected[4] in (selected[2], selected[3])
    return f"{selected[1]}().{selected[5]}" if selected is not None and is_member else ""


def made_or_listed(text: str, settings: TypeSettings) -> str:
    """Return the type of an instance that is made, or of a literal collection, whose type arguments are written."""
    made = _MADE.fullmatch(text)
    return array_type_name(made[2] or f"List<{made[1]}>", settings) if made else ""


def letter_of(text: str, *, with_arrows: bool = False, with_words: bool = False) -> str:
    """Return the letter of an argument in `Call.arguments`.

    `with_arrows` says that `x => y` is a function, `with_words` that single quotes hold a text.

    >>> "".join(letter_of(t) for t in ('"a"', "'c'", "1", "0x1F", "2L", "1.5", "2f", "true", "null", "x -> y", "f(x)"))
    'sciildfbn>?'
    >>> [letter_of(t, with_arrows=True) for t in ('$"a{b}"', '@"c"', "(a, b) => c", "async () => { }", "a >= b")]
    ['s', 's', '>', '>', '?']
    >>> [letter_of(t, with_words=True) for t in ("'a'", "'a long text'", "'a' + x", "$x")]
    ['s', 's', '?', '?']
    """
    if not text:
        return "?"  # broken source
    first = text[0]
    if first in "$@" and text.lstrip("$@")[:1] == '"':
        first, text = '"', text.lstrip("$@")
    if text.startswith('"""') and (text.endswith('"""') or len(text) >= 80):
        return "s"
    if first == '"':
        return "s" if text.find('"', 1) == len(text) - 1 or '" +' in text or len(text) >= 80 else "?"
    if first == "'" and with_words:
        return "s" if text.find("'", 1) == len(text) - 1 or len(text) >= 80 else "?"
    if first == "'":
        return "c" if len(text) <= 8 else "?"
    if first in "-.0123456789" and _NUMBER_LITERAL.fullmatch(text):
        last = text[-1].lower()
        if last == "l":
            return "l"
        if text[:2].lower() == "0x":
            return "i"
        return last if last in "fd" else "d" if "." in text or last == "e" else "i"
    if text in ("true", "false"):
        return "b"
    if text == "null":
        return "n"
    return ">" if _FUNCTION.match(text) or (with_arrows and _ARROW.match(text)) else "?"


def typed_argument(text: str) -> str:
    """Return the typed value of an argument whose type is said before it, or "".

    >>> [typed_argument(text) for text in ("(Repo<A>)x.y", "default(Repo)", "(Repo)null!", "(Repo)", "(A)b + c")]
    ['<Repo>', '<Repo>', '<Repo>', '', '']
    """
    typed = _TYPED.match(text)
    if typed is None:
        return ""
    rest = text[typed.end() :]
    is_whole = rest in ("", "!") if typed[1] else rest in _NOTHING or bool(chain_of(rest))
    return typed_value(typed[2]) if is_whole else ""


def is_one_value(text: str, start: int, last: int) -> bool:
    """Return True if the cast at the start of a bracket fills it up to `last`, without an operator."""
    depth = 0
    for position in range(start, last + 1):
        character = text[position]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                return position == last
        elif depth == 0 and character in "+-*/%<>=!&|^?:":
            return False
    return False


def called_by_space(text: str) -> str:
    """Return a call whose arguments follow without brackets with empty ones.

    >>> [called_by_space(each) for each in ("f x (g y)", "new Shop 1", "a.b(1).c d", "f(x)", "f")]
    ['f()', 'new Shop()', 'a.b(1).c()', 'f(x)', 'f']
    """
    matched = _BY_SPACE.fullmatch(text)
    return f"{matched[1]}()" if matched is not None else text


def arguments_by_space(data: bytes, end: int) -> str:
    r"""Return the letters of the arguments behind a callee that ends at `end`: those in brackets, or one.

    >>> [arguments_by_space(text, 1) for text in (b"f(a, b)", b"f (a)", b"f a", b"f\n", b"f |> g", b"f()")]
    ['??', '?', '?', '-', '-', '']
    """
    at = end
    while data[at : at + 1] == b" ":
        at += 1
    if data[at : at + 1] == b"(":
        n = count_arguments(data, at)[0]
        return ArgumentKind.OTHER * n if n >= 0 else UNCOUNTED
    return ArgumentKind.OTHER.value if at > end and _ARGUMENT.match(data, at) else UNCOUNTED


def add_clause(draft: DefinitionDraft, data: bytes, end: int) -> None:
    """Add the parameters of a clause, whose name ends there; those that not every clause has may be left out."""
    if draft.parameters is None:
        return
    n, n_optional = 0 if NO_PARAMETERS.match(data, end) else -1, 0
    if data.startswith(b"(", end):
        n, n_optional, _ = count_arguments(data, end)
    most, fewest = n, n - n_optional
    if draft.counts_clauses:
        most, fewest = max(most, len(draft.parameters)), min(fewest, draft.parameters.count(""))
    draft.parameters = [""] * fewest + [OPTIONAL] * (most - fewest) if n >= 0 else None
    draft.counts_clauses = True


_WORD = rb"[\w\x80-\xff]"
_NAMES = lazy_regex(
    rb"(?<!%b)\$?%b++(?:\s*+(?:\\\s*+)?\.\s*+(?:\\\s*+)?%b++)*+(?=\s*+$)" % (_WORD, _WORD, _WORD)
)  # of a chain, which a sign may break in lines
_OF_NAMES = bytes(c for c in range(256) if c > 127 or chr(c).isalnum() or c in b"$_.\\ \t\r\n")
_MAX_BEFORE_BYTES = 300  # bytes before a bracket that are looked at
_MAX_CHAIN_CHARACTERS = 600
_OPENERS = {b")": b"(", b"]": b"["}


def callee_of_bracket(data: bytes, bracket: int, ended: Mapping[int, str], settings: TypeSettings) -> tuple[int, str]:
    """Return the start of the names before a bracket, and the chain of what is called there.

    `ended` has the chains of calls by where they end. The chain is "" if a literal is before the names, or there is
    none.

    >>> types = TypeSettings(casts=True, containers=("Array",))
    >>> texts = (b"not a. b", b"f().g", b"$A_B.go", b"x %b.c")
    >>> [callee_of_bracket(text, len(text), {3: "f()"}, types) for text in texts]
    [(4, 'a.b'), (4, 'f().g'), (0, '$A_B.go'), (3, 'b.c')]
    >>> texts = (b"(a as B).go", b"a.b[0].go", b"'a'.go", b"(a).b.c")
    >>> [callee_of_bracket(text, len(text), {}, types)[1] for text in texts]
    ['<B>.go', 'a.b.[].go', '', 'a.b.c']
    """
    since = max(0, bracket - _MAX_BEFORE_BYTES)
    before = data[since:bracket]
    names = _NAMES.search(before, len(before.rstrip(_OF_NAMES)))
    if names is None:
        end = since + len(before.rstrip())
        return end, ended.get(end, "")  # what a call gives is called, or made
    first, chain = since + names.start(), _join(names[0])
    around = before[: names.start()].rstrip(b" \t\r\n\\")
    if around.endswith(b".") and not around.endswith(b".."):
        held = _chain_until(data, since + len(around[:-1].rstrip(b" \t\r\n\\")), ended, settings)
        return first, f"{held}.{chain}" if held else ""
    return first, chain


def start_of_chain(data: bytes, start: int) -> int:
    """Return where the chain begins whose last name is at `start`: behind what is no name, bracket, mark or dot.

    >>> texts = (b"x = a.b(1)[2].c", b"0..<a^ .c", b"f(..a.c", b"return c", b"f(.c", b"a.(B).c")
    >>> [text[start_of_chain(text, len(text) - 1) :].decode() for text in texts]
    ['a.b(1)[2].c', 'a^ .c', 'a.c', 'c', '.c', 'a.(B).c']
    """
    at, limit = start, max(0, start - _MAX_CHAIN_CHARACTERS)
    while at > limit and data[at - 1] == 46 and data[at - 2 : at] != b"..":
        at = end = at - 1
        while at > limit and data[at - 1] in b" ^?":
            at -= 1
        while at > limit and (closer := data[at - 1 : at]) in _OPENERS:
            opened = _opening(data, at, closer, _OPENERS[closer])
            if opened < 0:
                return end
            at = opened
        while at > limit and (data[at - 1] in b"_" or data[at - 1] > 127 or chr(data[at - 1]).isalnum()):
            at -= 1
    return at


def _join(names: bytes) -> str:
    return "".join(names.decode("utf-8", "replace").replace("\\", " ").split())


def _chain_until(data: bytes, end: int, ended: Mapping[int, str], settings: TypeSettings) -> str:
    """Return the chain of what ends with a bracket or a quote at `end`; "" for a literal, "?" if it is not known."""
    if (call := ended.get(end)) is not None:
        return call
    last = data[end - 1 : end]
    if last in (b'"', b"'"):
        opened = data.rfind(last, max(0, end - _MAX_BEFORE_BYTES), end - 1)
        return "?" if data[opened - 1 : opened] in (b"$", b"%") else ""
    if last not in _OPENERS:
        return "" if last == b"}" else "?"
    opened = _opening(data, end, last, _OPENERS[last])
    if opened < 0:
        return "?"
    if last == b")":
        return chain_of(data[opened:end].decode("utf-8", "replace"), settings) or "?"
    before = data[max(0, opened - _MAX_BEFORE_BYTES) : opened]
    if not before[-1:].strip() or before[-1:] in b"=([{,:":
        return ""  # a list
    held = ended.get(opened, "") or callee_of_bracket(data, opened, ended, settings)[1]
    return f"{held}.{Mark.ITEM}" if held else "?"


def _opening(data: bytes, end: int, closer: bytes, opener: bytes) -> int:
    """Return where the bracket opens that closes before `end`, or -1 if that is far ahead."""
    depth = 0
    for position in range(end - 1, max(-1, end - _MAX_BEFORE_BYTES), -1):
        character = data[position : position + 1]
        depth += (character == closer) - (character == opener)
        if not depth:
            return position
    return -1


def call_that_ended(chain: str) -> str:
    """Return the chain of the result of a call; "?" of one that is too long."""
    return f"{chain}{Mark.CALL}" if chain and len(chain) < _MAX_CHAIN_CHARACTERS else "?"


_GROUP = lazy_regex(rb"(?:@[^\n]*\n?\s*)?[\w.]+\s*::\s*proc\s*\{([^{}]*)\}")
_LISTED = lazy_regex(rb"[\w.]+")
_REMARKS = lazy_regex(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEAD = lazy_regex(rb"[^{}]*?::\s*(?:#\w+\s*)*proc\s*(?:\"[^\"]*\"\s*)?(?=\()")
_NAMED_VALUE = lazy_regex(r"([^\W\d]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_PARAMETER = lazy_regex(r"(?:using\s+|#\w+\s+)*(\$?[^\W\d]\w*)\s*(?::(?!=)\s*(.*))?", re.DOTALL)
_COMPARED = lazy_regex(r"[<>!=]=|&&|\|\||[^<>-][<>]|\bnot_in\b|\bin\b")
_MAX_HEAD_BYTES = 2000
_WORDS = {"true": "=bool", "false": "=bool", "nil": "=nil"}
_DEFAULT_TYPES = {"=int": "int", "=string": "string", "=bool": "bool", "=float": "f64", "=rune": "rune"}
_PLACE_OF_CALL, _PLACE = "#caller_location", "runtime.Source_Code_Location"


def listed_arguments(
    data: bytes, start: int, types: TypeSettings, spell: Callable[[str, int], str]
) -> tuple[str, str] | None:
    """Return `Call.arguments`, which does not count them, and `Call.values` of the arguments at `start`.

    A value is a chain, `=` and the kind of a literal, or either of them behind the name of its parameter and a colon.
    Without arguments it is "()".

    >>> given = (b'f(a.b, "c", n = 2, !x, T{1}, g(1), &y)', b"f()")
    >>> [listed_arguments(text, 1, TypeSettings(prefixed=True), lambda chain, at: chain) for text in given]
    [('-', 'a.b,=string,n:=int,=bool,T(),g(),y'), ('-', '()')]
    """
    given = written_arguments(data, start)
    if given is None:
        return (UNCOUNTED, "()") if data[start : start + 1] == b"(" else None

    def value_of(text: str) -> str:
        if literal := _kind_of_literal(text):
            return literal
        chain = spell(go_like_types.chain_of(go_like_types.respell(text, types), types), start)
        return chain if "," not in chain else ""

    values = []
    for each in given:
        named = _NAMED_VALUE.fullmatch(each)
        values.append(f"{named[1]}:{value_of(named[2].strip())}" if named else value_of(each.strip()))
    return UNCOUNTED, ",".join(values) or ("?" if values else "()")


def _kind_of_literal(text: str) -> str:
    """Return `=` and the kind of a literal, or ""."""
    if (word := _WORDS.get(text)) is not None:
        return word
    letter = letter_of(text) if text[:1] != "`" else "s"
    if letter in "sildfc":
        return {"s": "=string", "d": "=float", "f": "=float", "c": "=rune"}.get(letter, "=int")
    if text[:1] == "!" or _COMPARED.search(re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"", "", text)):
        return "=bool"
    return "=enum" if text[:1] == "." and text[1:].isidentifier() else "=parts" if text[:1] == "{" else ""


def read_groups(data: bytes, definitions: Sequence[Definition]) -> Iterator[Export]:
    """Yield the procedures that the name of a group stands for: `exported` begins with `SEVERAL`."""
    for definition in definitions if data else ():
        if definition.kind == NodeKind.FUNCTION and (
            listed := _GROUP.match(_REMARKS.sub(b"", data[definition.start_byte : definition.end_byte]))
        ):
            for name in dict.fromkeys(_LISTED.findall(listed[1])):
                yield Export(name.decode(), f"{SEVERAL}{definition.qualname}", definition.start_row)


def read_listed_parameters(
    data: bytes, definitions: Sequence[Definition], types: TypeSettings
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (definition, parameters) of procedures: each is `name:type`, with "=" or "..." if it may be left out.

    A type that arguments give has no name.
    """
    for number, definition in enumerate(definitions if data else ()):
        start = definition.start_byte
        head = _HEAD.match(data, start, start + _MAX_HEAD_BYTES) if definition.kind == NodeKind.FUNCTION else None
        if head is None:
            continue
        written = written_arguments(data, head.end()) or ()
        taken, last, mark = list[str](), "", ""
        for each in reversed([_REMARKS.sub(b"", text.encode()).decode().strip() for text in written]):
            text, _, default = each.partition("=")
            if (parameter := _PARAMETER.fullmatch(text.strip().rstrip(":").strip())) is None:
                continue
            if parameter[2] is not None or default:
                last, mark = (parameter[2] or "").strip(), OPTIONAL if default else ""
            is_rest = last.startswith("..")
            type_ = last.removeprefix("..").partition("/")[2 if "/" in last else 0]
            named = "" if type_.startswith("$") else go_like_types.type_of(go_like_types.respell(type_, types), types)
            if "$" in type_:
                named = "[]" if named.startswith("[") else ""
            if default and not named:
                given = default.strip()
                named = _DEFAULT_TYPES.get(_kind_of_literal(given), _PLACE if given == _PLACE_OF_CALL else "")
            taken.append(f"{parameter[1].lstrip('$')}:{named}{'...' if is_rest else mark}")
        yield number, tuple(reversed(taken))


# Types of the standard packages that are alike, by one name that no other language has.
_STANDARD_TYPES = {
    "bit": "v_bit", "bit_vector": "v_bits", "delay_length": "time", "line": "v_line", "real": "v_real",
    "severity_level": "v_severity", "signed": "v_sgd", "std_logic": "v_sl", "std_logic_vector": "v_slv",
    "std_ulogic": "v_sl", "std_ulogic_vector": "v_slv", "text": "v_text", "u_signed": "v_sgd", "u_unsigned": "v_uns",
    "unresolved_signed": "v_sgd", "unresolved_unsigned": "v_uns", "unsigned": "v_uns", "x01": "v_sl",
}  # fmt: skip
# What the functions of the standard packages give; "" for what they are given.
_STANDARD_FUNCTIONS = {
    "to_integer": "<integer>", "to_unsigned": "<v_uns>", "to_signed": "<v_sgd>", "to_string": "<string>",
    "to_hstring": "<string>", "to_ostring": "<string>", "to_bstring": "<string>", "rising_edge": "<boolean>",
    "falling_edge": "<boolean>", "is_x": "<boolean>", "std_match": "<boolean>", "now": "<time>", "resize": "",
    "shift_left": "", "shift_right": "", "rotate_left": "", "rotate_right": "", "to_01": "",
    "to_std_logic_vector": "<v_slv>", "to_stdlogicvector": "<v_slv>", "to_stdulogicvector": "<v_slv>",
    "to_bitvector": "<v_bits>", "to_bit": "<v_bit>",
}  # fmt: skip
_STANDARD_ATTRIBUTES = {
    "length": "#i", "pos": "#i", "image": "<string>", "to_string": "<string>", "instance_name": "<string>",
    "path_name": "<string>", "simple_name": "<string>", "event": "<boolean>", "stable": "<boolean>",
    "active": "<boolean>", "ascending": "<boolean>",
}  # fmt: skip
_OF_SAME_TYPE = frozenset({"val", "value", "succ", "pred", "leftof", "rightof", "left", "right", "high", "low"})
_LITERALS = {
    "decimal_integer": "#i", "decimal_float": "#r", "based_literal": "#i", "string_literal": "#s",
    "string_literal_std_logic": "#v", "bit_string_literal": "#x", "character_literal": "#c",
    "library_constant_std_logic": "#l", "library_constant_boolean": "#b", "library_constant_debug": "?",
    "relational_expression": "#b",
}  # fmt: skip
_STANDARD_NODES = ("library_function", "library_type")
_MAX_WRAPPED = 12  # nodes around an expression that say nothing


class DesignNotation(RegionNotation):
    """Types and values in a text of VHDL, whose libraries are left out of names."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.libraries = {"work"}
        self.own: set[str] = set()  # names that the file defines
        self.units: set[str] = set()  # packages that names behind a library name

    def parts(self, name: Node) -> list[str]:
        """Return the names of a chain before what is given or asked of it, without the library."""
        parts: list[str] = []
        for child in name.children:
            if child.type == "selection":
                parts.append(self.text(child.children[-1]))
            elif parts or child.type in ("parenthesis_group", "attribute", "signature"):
                break
            else:
                parts.append(self.text(child))
        return parts[1:] if len(parts) > 1 and parts[0] in self.libraries else parts

    def path(self, node: Node | None) -> str:
        """Return a plain chain of names; types of the standard packages by the names that they have in common."""
        parts = self.parts(node) if node is not None else []
        return _STANDARD_TYPES.get(parts[0], parts[0]) if len(parts) == 1 else ".".join(parts)

    def mark_of(self, node: Node) -> str:
        """Return the name of the type that a declaration states."""
        for child in node.children:
            if child.type in ("simple_mode_indication", "subtype_indication"):
                return self.mark_of(child)
        return self.path(node.child_by_field_name("type"))

    def groups(self, name: Node) -> list[tuple[str, Node]]:
        """Return the parts of a name as ("" or "." or "(" or ":" or "'", node); ":" stands before a slice."""
        found: list[tuple[str, Node]] = []
        for child in name.children[: MAX_CHAIN_PARTS + 1]:
            if child.type == "selection":
                found.append((".", child.children[-1]))
            elif child.type == "parenthesis_group":
                found.append((":" if self._is_slice(child) else "(", child))
            elif child.type == "attribute":
                found.append(("'", child))
            elif child.is_named and child.type not in ("signature", "line_comment", "block_comment"):
                found.append(("", child))
        if len(found) > 1 and found[1][0] == "." and self.text(found[0][1]) in self.libraries:
            found = [("", found[1][1]), *found[2:]]
            self.units.update([self.text(found[0][1])] if len(found) > 1 else ())
        return found

    def _is_slice(self, group: Node) -> bool:
        given = [each for part in group.children if part.is_named for each in part.children if each.is_named]
        if len(given) != 1:
            return False
        end = given[0].end_byte
        last = self.data[max(end - 16, given[0].start_byte) : end]
        return given[0].type == "simple_range" or last.endswith((b"'range", b"'reverse_range"))

    def spell(self, groups: Sequence[tuple[str, Node]], depth: int) -> str:
        """Return the chain of the parts of a name."""
        written: list[str] = []
        for sign, node in groups:
            if sign == "":
                written.append(self.spell_name(node))
            elif sign == ".":
                written.append(f".{'all' if node.type == 'ALL' else self.text(node)}")
            elif sign == "(":
                values = ";".join(value for _, value, _ in self.arguments(node, depth - 1)) if depth > 0 else ""
                written.append(f"({values})")
        return "".join(written)

    def chain(self, node: Node, depth: int) -> str:
        """Return the chain of a name; what calls in it are given is told to a depth, and left out at depth 0."""
        return self.spell(self.groups(node), depth)

    def arguments(self, node: Node, depth: int) -> Iterator[tuple[str, str, Node | None]]:
        """Yield the name, the value with its name, and the expression of what a call is given."""
        for each in [each for part in node.children if part.is_named for each in part.children]:
            if each.type != "association_element":
                if each.type == "simple_range":
                    yield "", "?", None
                continue
            given = [child for child in each.children if child.is_named and child.type != "line_comment"]
            is_named = len(given) > 1 and any(child.type == "=>" for child in each.children)
            name = self.text(given[0]) if is_named else ""
            name = name if name.isidentifier() else ""
            value = self.value(given[-1], depth) if given else "?"
            yield name, f"{name}={value}" if name else value, given[-1] if given else None

    def value(self, node: Node, depth: int) -> str:
        """Return what is known of the value of an expression."""
        if depth < 0 or node.end_byte - node.start_byte > MAX_SPELLED:
            return "?"
        for _ in range(_MAX_WRAPPED):
            inside = [each for each in node.children if each.is_named and each.type != "line_comment"]
            if len(inside) != 1 or node.type not in ("conditional_expression", "simple_expression"):
                break
            (node,) = inside
        kind = node.type
        if kind == "name":
            return self._of_name(node, depth)
        if kind in _LITERALS:
            return (
                "?"
                if kind == "relational_expression" and b"?" in self.data[node.start_byte : node.end_byte]
                else (_LITERALS[kind])
            )
        if kind == "parenthesis_expression":
            elements = [each for part in node.children if part.is_named for each in part.children if each.is_named]
            if len(elements) == 1 and len(elements[0].children) == 1:
                return self.value(elements[0].children[0], depth)
            return "#g"
        if kind == "allocator":
            made = next((each for each in node.children if each.type == "name"), None)
            return f"^<{self.path(made)}>"
        if kind in ("simple_expression", "logical_expression", "shift_expression") and len(inside) > 1:
            return self._of_operands(node, inside, depth)
        if kind == "conditional_or_unaffected_expression" and inside:
            return self.value(inside[0], depth)
        return "?"

    def _of_operands(self, node: Node, inside: Sequence[Node], depth: int) -> str:
        if inside[0].type == "sign" or (inside[0].type == "unary_operator" and self.text(inside[0]) in ("not", "abs")):
            return self.value(inside[-1], depth)
        if len(inside) == 2 and inside[1].type.startswith("library_constant_unit"):
            return "<time>"
        if len(inside) != 3:
            return "?"
        sign = self.text(inside[1])
        if node.type == "shift_expression" or sign == "**":
            return self.value(inside[0], depth)
        sign = "and" if node.type == "logical_expression" else sign
        return f"{sign}({self.value(inside[0], depth - 1)};{self.value(inside[2], depth - 1)})"

    def _of_name(self, node: Node, depth: int) -> str:
        groups = self.groups(node)
        if not groups:
            return "?"
        head = groups[0][1]
        is_own = self.text(head) in self.own or self.text(head) in self.declared
        if not is_own and head.type in _LITERALS and len(groups) == 1:
            return _LITERALS[head.type]
        marks = [at for at, (sign, _) in enumerate(groups) if sign == "'"]
        if marks:
            return self._of_attribute_at(groups, marks[0])
        if not is_own and head.type == "library_type" and len(groups) > 1:
            return f"<{_STANDARD_TYPES.get(self.text(head), self.text(head))}>"  # a conversion
        if (
            not is_own
            and head.type == "library_function"
            and ((given := _STANDARD_FUNCTIONS.get(self.text(head))) is not None)
        ):
            if given or len(groups) < 2:
                return given if given and (len(groups) > 1 or given == "<time>") else "?"  # a literal of some type
            return next((value for _, value, _ in self.arguments(groups[1][1], depth)), "?")
        return self.spell(groups, depth) if head.type != "operator_symbol" else "?"

    def _of_attribute_at(self, groups: Sequence[tuple[str, Node]], at: int) -> str:
        attribute = groups[at][1]
        named = self.text(attribute.children[-1])
        before = [self.text(node) for _, node in groups[:at]]
        path = _STANDARD_TYPES.get(before[0], before[0]) if len(before) == 1 else ".".join(before)
        if attribute.children[-1].type == "parenthesis_expression":
            return f"<{path}>"
        is_type = groups[0][1].type == "library_type" or named in ("val", "value", "succ", "pred")
        if named in _OF_SAME_TYPE:
            return f"<{path}>" if is_type and at == len(before) else "?"
        return _STANDARD_ATTRIBUTES.get(named, "?")


class RegionFacts:
    """Facts that names of a language of declarative regions give: calls with what they are given, and types.

    Build one with the text of a file and its definitions, call `read` and `finish`, and take the facts.
    """

    kinds: tuple[str, ...] = ()  # captures to be read, outer ones first where they begin together

    def __init__(self, data: bytes, definitions: list[Definition], notation: RegionNotation) -> None:
        self.calls: list[Call] = []
        self.references: list[Reference] = []
        self.imports: list[Import] = []
        self.bindings: list[Binding] = []
        self.returns: dict[int, str] = {}
        self.parameters: dict[int, tuple[str, ...]] = {}
        self._notation = notation
        self._newlines = [at.start() for at in re.finditer(rb"\n", data)]
        self._definitions = definitions
        self._starts = [each.start_byte for each in definitions]
        self._values = {
            each.start_byte: number
            for number, each in enumerate(definitions)
            if each.kind in (NodeKind.CONSTANT, NodeKind.FIELD)
        }
        self._wanted: dict[tuple[int, int], str] = {}  # an expression -> what it is wanted for
        self._blocks: list[int] = []  # ends of those that are open
        self._counts: dict[tuple[int, str], int] = {}

    def read(self, captures: Mapping[str, Sequence[tree_sitter.Node]]) -> None:
        """Read all nodes in the order of the file, outer ones first."""
        nodes = [
            (node.start_byte, -node.end_byte, rank, node)
            for rank, name in enumerate(self.kinds)
            for node in captures.get(name, ())
        ]
        nodes.sort(key=lambda each: each[:3])
        last = (-1, -1, -1)
        for start, end, rank, node in nodes:
            if (start, end, rank) == last:
                continue
            last = start, end, rank
            getattr(self, f"_on{self.kinds[rank]}")(node)

    def _row(self, byte: int) -> int:
        return bisect_right(self._newlines, byte - 1) if byte else 0

    def _scope(self, byte: int) -> int:
        """Return the innermost definition around a byte that is no value."""
        definitions = self._definitions
        number = bisect_right(self._starts, byte) - 1
        while number >= 0 and (
            definitions[number].end_byte <= byte or definitions[number].kind in (NodeKind.CONSTANT, NodeKind.FIELD)
        ):
            number = min(definitions[number].parent, number - 1)
        return max(number, MODULE_SCOPE)

    def _bind(self, scope: int, name: tree_sitter.Node, type_: str, value: str) -> None:
        at, written = name.start_byte, self._notation.text(name)
        while self._blocks and self._blocks[-1] <= at:
            self._blocks.pop()
        around = self._definitions[scope].end_byte if scope >= 0 else len(self._notation.data)
        end = min(self._blocks[-1] if self._blocks else around, around)
        n = self._counts[scope, written] = self._counts.get((scope, written), 0) + 1
        spelled = written if end == around and n == 1 else f"{written}~{n}"
        self._notation.declared.setdefault(written, []).append((at, end, spelled))
        self.bindings.append(Binding(scope, spelled, type_, value, self._row(at)))

    def _on_block(self, node: tree_sitter.Node) -> None:
        while self._blocks and self._blocks[-1] <= node.start_byte:
            self._blocks.pop()
        self._blocks.append(node.end_byte)

    def finish(self) -> None:
        """Leave out names of variables, which call nothing."""
        bound = {(each.scope, each.target) for each in self.bindings if not each.type.startswith("(")}
        definitions = self._definitions
        kept: list[Call] = []
        for call in self.calls:
            if not call.arguments and "." not in call.callee:
                scope = call.scope
                while scope != MODULE_SCOPE and (scope, call.callee) not in bound:
                    scope = definitions[scope].parent
                if (scope, call.callee) in bound:
                    continue
            kept.append(call)
        self.calls = kept
