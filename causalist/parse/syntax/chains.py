"""Text of an expression -> a dotted chain of names, without another look at the syntax tree.

`self.session.get`, `make(1)(2).run` -> `make()().run`, `a?.b!.c` -> `a.b.c`, `xs[0].close` -> `?.close`. A part that is
not a name becomes "?", which tells a resolver that the receiver is unknown. Waiting is transparent in expressions and
types: `await f()` has the type of `f()`, and `Promise<T>` is read as T.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from causalist._internal.lazy import lazy_regex
from causalist.model.language_settings import TypeSettings
from causalist.model.type_notation import (
    STRING_KEY,
    Mark,
    array_of,
    bounds_of,
    field_of,
    function_of,
    generic_of,
    given_by,
    object_of,
    split_top,
    tuple_of,
    typed_value,
    with_marks,
    wrapped_in,
)
from causalist.parse.syntax.go_like_types import marked_type

_PLAIN = lazy_regex(r"[\w$]+(?:\.[\w$#]+)*", re.ASCII)
_NUMBER = lazy_regex(r"\d+|@\"[^\".()\[\]\n]*\"")  # or a member with any signs in its name
_ROOT = lazy_regex(r"\.(?=[^\W\d])")  # in front of a name that is read from the outermost package
_NAME = lazy_regex(r"#?[^\W\d][\w$]*|\$[\w$]*")
_MADE = lazy_regex(r"\s+[^\W\d]")  # after `new`, in `outer.new Inner`
_MAKES, _CLONED = lazy_regex(r"new\s+\.?[^\W\d]"), lazy_regex(r"clone\s+(?=[$\w])")
_WAITED = lazy_regex(r"(?:(\(\s*)?await|(\(\s*)try)\s+")
_COMMAND = lazy_regex(r"([^\W\d]\w*(?: ?\. ?\w+)*[?!]?)[ \t]+(?![.&+*/%=<>|?-])\S")  # without an operator in between
_SPACE = lazy_regex(r"\s+")
_WRAPPED = lazy_regex(
    r"(?:(?:typing\.)?(?:Optional|Annotated|Final|ClassVar|Awaitable)\[|(?:Readonly|Promise|PromiseLike|Awaitable|Partial|Required|NonNullable|Pick|Omit)<)(.+)[\]>]"
)
_UNION = lazy_regex(r"(?:typing\.)?Union\[(.+)\]")
_TYPE = lazy_regex(r"(?:readonly )?(\.?[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*)(.*)")
_POINTER = lazy_regex(r"(?:[*&]\s*(?:'\w+ )?|mut |const |dyn |impl |(?:some|any) (?=[A-Z])|for<[^<>]*> ?)+")
_CONST_BEHIND = lazy_regex(r"(?:[\s*&]+const\b)+$")  # `T const`, `T const *const`
_RAW = lazy_regex(r"\br#(?=[^\W\d])")  # prefix that makes a keyword a name
_FRONT = lazy_regex(r"[&*\s]*(?:mut\s+)?(?:(?:::|self::)(?=\w))?")
# `f()?.await` and `a.?.b`: the value that is waited for, or that is no error, or there; `p.*.b`: what is pointed at
_ENDS_EARLY = lazy_regex(r"\?+\s*(?=$|[?)]|\.[^(\[])|\.\s*await\b(?!\s*\()|\.[?*](?=\s*(?:[.\[(]|$))")
_IF_FAILED = lazy_regex(r"\s(?:orelse|catch)\s")
_STEPPED = lazy_regex(r"(?:\+\+|--)\s*(?=\.|->)")  # `p++->x`
_COMMENT = lazy_regex(r"//[^\n]*\n\s*(?=[.?/])|/\*.*?\*/\s*(?=[.?])", re.DOTALL)  # between the lines of a chain
_AS_TRAIT = lazy_regex(r"<\s*+(.+?)(?:\s++as\s++([\w:]+)(?:<.*>)?)?\s*+>::(\w.*)", re.DOTALL)
_GENERIC = lazy_regex(r"([^\W\d][\w.-]*)<(.+)>")
_DIMENSIONS = lazy_regex(r"(?:\s*\[\s*\])+\s*$")
_NAME_OF_TYPE = lazy_regex(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*")
_NONE = ("None", "null", "undefined", "")  # alternatives without members
_SAYS_NOTHING = frozenset({"Any", "typing.Any", "any", "unknown", "object", "Object", "var"})
_LIFETIME = lazy_regex(r"'\w+(?!')\b")
_STRING = lazy_regex(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`""", re.DOTALL)
_MARK = lazy_regex(r"[\"'`()\[\]{}<>]")
_LAST = lazy_regex(r"[.\s]([\w$#]+)\s*$")
_REMARK = lazy_regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MEMBER = lazy_regex(
    r"""(\.\.\.(?s:.+)|[\w$]+|'[\w$-]+'|"[\w$-]+")(?:\s*:\s*((?!function\b|async\b|class\b)(?s:.+)))?"""
)
QUOTES = "\"'"
KEY = lazy_regex(r"""\[\s*(["'`])([~@$]?[^\W\d][\w$~-]*)\1\s*\]""")  # a member by a string that may be a name
_KEY_OF_CHAIN = lazy_regex(rf"\.{STRING_KEY}([\w$~@-]+)")
_TAIL = lazy_regex(r"[)\]}\"'`]!?\??\.\s*([\w$#]+(?:\.[\w$#]+)*)\s*$")
_MAX_CHARACTERS = 1000  # characters of a chain
_MAX_TYPE_CHARACTERS = 400
_CLOSER = {"(": ")", "[": "]", "{": "}", "<": ">"}


def without_arguments(text: str) -> str:
    """Return the callee of a call whose arguments follow a space; any other text is unchanged.

    >>> [without_arguments(text) for text in ("Door.new key, 1", "make :door", "a.b(1) + c", "door.open", "a .b")]
    ['Door.new', 'make', 'a.b(1) + c', 'door.open', 'a .b']
    """
    called = _COMMAND.match(text)
    return called[1] if called else text


def chain_of(text: str, settings: TypeSettings | None = None) -> str:
    """Return the chain of `text`, or "" if its last part is not a name.

    With `settings` that have collections an element of one is a part of the chain: `xs[0].close` -> `xs.[].close`; with
    those that have casts, `(x as T).close` is `<T>.close`. A leading dot
    stays: it marks a name of the outermost package. A clone has the chain of its original.

    >>> [chain_of(t) for t in ("a.b", "f(x).g", "xs[0].close", "a?.b!.c", "(await x).y", "'s'.join", "f<T>", "1 + g")]
    ['a.b', 'f().g', '?.close', 'a.b.c', 'x.y', '?.join', 'f', '']
    """
    if _PLAIN.fullmatch(text):
        return "" if text[0].isdigit() else text
    return last_of_chain(text) if len(text) > _MAX_CHARACTERS else _read_chain(text, settings)


@lru_cache(maxsize=1 << 12)
def _read_chain(text: str, settings: TypeSettings | None) -> str:
    """Return the chain of a text that is not one as it stands."""
    if settings is not None and settings.messages and (sent := _chain_of_message(text, settings)) is not None:
        return sent
    text = text[_FRONT.match(text).end() :]  # type: ignore[union-attr]
    if text.startswith("@import("):
        return f"@{chain_of(text[1:], settings)}"
    if "r#" in text:
        text = _RAW.sub("", text)
    if text.startswith("<") and (qualified := _AS_TRAIT.fullmatch(text)):
        return chain_of(f"{qualified[2] or type_name(qualified[1])}::{qualified[3]}", settings)
    if settings is not None and settings.casts and ("as" in text or "satisfies" in text or "<" in text):
        if cast := _cast_of(text, settings):
            return cast
        if text.startswith("(") and (end := find_closing(text, 0)) > 0:
            cast = _cast_of(text[1:end].strip(), settings)
            rest = chain_of(f"x{text[end + 1 :]}", settings) if cast else ""
            if rest:
                return cast + rest[1:]
    if text.startswith("(") and (end := find_closing(text, 0)) > 0 and (inner := chain_of(text[1:end], settings)):
        return chain_of(_spell_items(with_constructor_call(text[1:end], inner)) + text[end + 1 :], settings)
    if text.startswith("(") and (failed := _IF_FAILED.search(text)) and (end := find_closing(text, 0)) > 0:
        tried = text[1 : failed.start()].strip()
        if failed.end() < end and tried.count("(") == tried.count(")") and (inner := chain_of(tried, settings)):
            return chain_of(inner + text[end + 1 :], settings)
    waited = _WAITED.match(text)
    if waited:
        end = find_closing(text, 0) if waited[1] or waited[2] else len(text)
        inner = text[waited.end() : end]
        return chain_of(inner + text[end + 1 :]) if end > 0 and chain_of(inner) else _after_unknown(text, len(text))
    elements, makes = (bool(settings.containers), bool(settings.operators)) if settings is not None else (False, False)
    parts: list[str] = []
    position, length = 0, len(text)
    expect_name = True
    while position < length:
        character = text[position]
        if character.isspace():
            position += 1
        elif expect_name:
            matched = _NAME.match(text, position)
            is_word = not parts or bool(matched and matched[0] == "new" and _MADE.match(text, matched.end()))
            if character == "." and not parts and _ROOT.match(text, position):
                parts.append("")
                position += 1
                continue
            if matched and not parts and matched[0] == "clone" and (copied := _CLONED.match(text, position)):
                position = copied.end()
                continue
            if matched and is_word and matched[0] in ("new", "await", "typeof", "yield"):
                if matched[0] != "new":
                    return _after_unknown(text, length)
                position = matched.end()
                continue
            if matched:
                parts.append(matched[0])
                position = matched.end()
            elif parts and (matched := _NUMBER.match(text, position)):
                parts.append(matched[0])  # a member that has no name
                position = matched.end()
            elif character in "([{\"'`/" or character.isdigit():
                return _after_unknown(text, length)
            else:
                return ""
            expect_name = False
        elif (matched := _COMMENT.match(text, position)) or (matched := _ENDS_EARLY.match(text, position)):
            position = matched.end()
        elif character == "." or text.startswith("::", position):
            position += 1 if character == "." else 2
            expect_name = text[position : position + 1] != "<"  # `f::<T>`
        elif character == "?" and text.startswith("?.", position):
            position += 2
            expect_name = text[position : position + 1] not in ("(", "[")
        elif character == "!" and len(parts) == 1 and text[position + 1 : position + 2] in ("(", "[", "{"):
            return _after_unknown(text, length)  # a macro
        elif character == "!" and text[position + 1 : position + 2] != "=":
            position += 1
        elif character == "{" and (makes or parts[-1][0].isupper()) and not parts[-1].endswith(")"):
            end = find_closing(text, position)  # `Point {x: 1}`
            if end < 0:
                return ""
            parts[-1] += Mark.CALL
            position = end + 1
        elif character in QUOTES and not parts[-1].endswith(")"):  # `require "a"`
            string = _STRING.match(text, position)
            if string is None:
                return ""
            parts[-1] += Mark.CALL
            position = string.end()
        elif character in "([<":
            end = find_closing(text, position)
            if end < 0:
                return ""
            if character == "(":
                parts[-1] += Mark.CALL
            elif character == "[" and elements:
                key = KEY.match(text, position) if settings is not None and settings.string_members else None
                if key:
                    parts.append(f"{STRING_KEY}{key[2]}")
                elif ".." not in text[position:end]:
                    parts.append(Mark.ITEM)
            elif character == "[":
                if parts[-1].endswith("()") or len(parts) > 1 or end + 1 < length:
                    parts = ["?"]
                else:
                    return ""
            position = end + 1
        elif matched := _STEPPED.match(text, position):
            position = matched.end()
        else:
            return ""
    return "" if expect_name or parts == ["?"] else ".".join(parts)


_WORD = lazy_regex(r"[^\W\d]\w*")
_POINTED = lazy_regex(r"\(\s*((?:[^\W\d]\w*\s+)*[^\W\d]\w*\s*(?:<[\w\s,*<>]*>)?)[\s*]*\)\s*(?=[\w\[(@])")  # a cast
_LABEL = lazy_regex(r"[\[\](){}?,:\"'@]")  # what matters between the labels of a message
_STRING_OR_REMARK = lazy_regex(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/""", re.DOTALL)
_LABEL_NAME = lazy_regex(r"(?:[^\W\d]\w*)?\s*$")
_ARROW_MEMBER = lazy_regex(r"\s*(?:->|\.)\s*([^\W\d]\w*)")
_LITERALS = (('@"', "NSString"), ("@[", "NSArray"), ("@{", "NSDictionary"), ("@(", "NSNumber"))


def read_message(text: str, settings: TypeSettings) -> tuple[str, str, int] | None:
    """Return the chain of the receiver of a message, its selector, and the end of the message; None for other text.

    >>> types = TypeSettings(messages=True)
    >>> read_message("[[A alloc] initWithX: x ? 1 : 2 y:z] + 1", types), read_message("[(B *)a.b go]", types)
    (('A.alloc()', 'initWithX:y:', 36), ('<B>', 'go', 13))
    >>> read_message("[a .b set::]", types), read_message("[f(x) go: @[@1, c]]", types), read_message("[1]", types)
    (('a.b', 'set::', 12), ('f()', 'go:', 19), None)
    """
    if not text.startswith("["):
        return None
    if "//" in text or "/*" in text:
        text = _STRING_OR_REMARK.sub(lambda m: m[0] if m[0][0] in "\"'" else " " * len(m[0]), text)
    end = find_closing(text, 0)
    if end < 0:
        return None
    body = text[1:end]
    start = _end_of_receiver(body)
    receiver, rest = body[:start].strip(), body[start:]
    if not receiver or not rest.strip():
        return None
    selector = rest.strip() if _WORD.fullmatch(rest.strip()) else _labels_of(rest)
    if not selector:
        return None
    return _receiver_chain(receiver, settings), selector, end + 1


def _receiver_chain(receiver: str, settings: TypeSettings) -> str:
    literal = next((f"<{name}>" for start, name in _LITERALS if receiver.startswith(start)), "")
    return literal or chain_of(receiver, settings) or "?"


def _end_of_receiver(body: str) -> int:
    """Return where the first expression in a message ends: a name or a bracket, with casts and what follows it."""
    position = len(body) - len(body.lstrip())
    if cast := _POINTED.match(body, position):
        position = cast.end()
    while body[position : position + 1] in ("@", "*", "&"):
        position += 1
    if body[position : position + 1] == '"':
        string = _STRING.match(body, position)
        position = string.end() if string else len(body)
    elif word := _WORD.match(body, position):
        position = word.end()
    while position < len(body):
        if body[position] in "([{":
            end = find_closing(body, position)
            if end < 0:
                return len(body)
            position = end + 1
        elif member := _ARROW_MEMBER.match(body, position):
            position = member.end()
        elif body[position].isspace() and body[position:].lstrip()[:1] in ("(", "["):
            position += 1  # `@selector (a)`
        else:
            break
    return position


def _labels_of(text: str) -> str:
    """Return the labels of a message with their colons, "" if it has none.

    >>> _labels_of(" a: x ? 1 : 2 b:[c d:e]"), _labels_of(" :x :y"), _labels_of("+ 1")
    ('a:b:', '::', '')
    """
    labels: list[str] = []
    position = last = since = choices = 0
    while mark := _LABEL.search(text, position):
        position, character = mark.end(), mark[0]
        if character in "([{":
            end = find_closing(text, mark.start())
            if end < 0:
                return ""
            position = last = end + 1
        elif character in "\"'":
            string = _STRING.match(text, mark.start())
            if string is None:
                return ""
            position = last = string.end()
        elif character == "?":
            choices += 1
        elif character == ":" and choices:
            choices -= 1
        elif character == ":":
            name = _LABEL_NAME.search(text, last, mark.start())
            has_argument = not labels or (name and text[since : name.start()].strip())
            labels.append(f"{name[0].strip() if name and has_argument else ''}:")
            last = since = position
    return "".join(labels)


def _chain_of_message(text: str, settings: TypeSettings) -> str | None:
    """Return the chain of an expression that begins with a message or a cast; None for any other."""
    text = text.strip()
    if cast := _POINTED.match(text):
        name = type_name(cast[1], settings)
        if name and name[:1] not in "?(":
            rest = text[cast.end() :]
            return f"<{name}>" if chain_of(rest, settings) or rest.startswith("[") else None
        return chain_of(text[cast.end() :], settings)
    if text.startswith("(") and (end := find_closing(text, 0)) > 0 and text[1:end].lstrip()[:1] in ("[", "("):
        inner = _chain_of_message(text[1:end], settings)
        return _with_members_behind(inner, text[end + 1 :]) if inner else None
    read = read_message(text, settings)
    if read is None:
        return None
    receiver, selector, end = read
    return _with_members_behind(f"{receiver}.{selector}{Mark.CALL}", text[end:])


def _with_members_behind(chain: str, rest: str) -> str:
    """Return a chain with the members that are named behind it, "" if something else is."""
    position = 0
    while member := _ARROW_MEMBER.match(rest, position):
        chain, position = f"{chain}.{member[1]}", member.end()
    return "" if rest[position:].strip() else chain


_CAST = lazy_regex(r"(?P<value>(?s:.+?))\s+(?:as[?!]?|satisfies)\s+(?P<type>(?s:[^,;]+))")
_OLD_CAST = lazy_regex(r"<(?P<type>[\w$.]+(?:<[^<>]*>)?(?:\[\])*)>\s*(?P<value>[\w$(](?s:.*))")
_CASTING = lazy_regex(r"\s(?:as[?!]?|satisfies)\s")
_GIVING = lazy_regex(r"(?<![\w<])((?:\w+\.)?\w+)<([^;(){}]+?)>\s*\(")
_BEFORE_GIVING = lazy_regex(r"(?:[\w.?!\s]|\([^()]*\))*")


def _cast_of(text: str, settings: TypeSettings) -> str:
    """Return the typed value of `x as T` or `<T>x`, or "".

    >>> [_cast_of(text, _PLAIN_TYPES) for text in ("x as Repo", "x as unknown as Repo", "<Repo>x", "a.b")]
    ['<Repo>', '<Repo>', '<Repo>', '']
    """
    cast = _CAST.fullmatch(text) if _CASTING.search(text) else _OLD_CAST.fullmatch(text) if text[:1] == "<" else None
    if cast is None:
        return _given_value(text, settings) if settings.giving and ">(" in text else ""
    written = _CASTING.split(cast["type"])[-1]
    if written.strip() == "const":
        return chain_of(cast["value"])
    name = type_name(written, settings)
    return typed_value(name) if name else chain_of(cast["value"].strip(), settings)


def _given_value(text: str, settings: TypeSettings) -> str:
    """Return the chain of what a function of a library gives by its type argument, with what is asked of it, or "".

    >>> settings = TypeSettings(giving=("Resolve", "Cast[]"))
    >>> [_given_value(t, settings) for t in ("await a(1).Resolve<B>(c).d", "a.Cast<B>()", "b<C>()", "1 + Resolve<B>()")]
    ['<B>.d', '<B[]>', '', '']
    """
    given = _GIVING.search(text)
    end = find_closing(text, given.end() - 1) if given is not None else -1
    if given is None or end < 0 or not _BEFORE_GIVING.fullmatch(text, 0, given.start()):
        return ""
    name = given_by(given[1], type_name(given[2].strip(), settings), settings.giving)
    rest = chain_of(f"x{text[end + 1 :]}", settings) if name else ""
    return typed_value(name) + rest[1:] if rest else ""


def first_alternative(text: str, settings: TypeSettings) -> str:
    """Return the first value of `c ? a : b` or `x switch { c => a, … }`, whose alternatives have one type.

    Any other text is unchanged, as all are in languages that do not declare what a variable is by its value.

    >>> s = TypeSettings(before_names=True)
    >>> [first_alternative(t, s) for t in ("x > 1 ? g(y) : h", "f(x ? 1 : 2)", "k switch { 1 => A(x), _ => B() }")]
    ['g(y)', 'f(x ? 1 : 2)', 'A(x)']
    """
    if not settings.before_names:
        return text
    if switch := _SWITCH.match(text):
        return split_top(text[switch.end() :].rstrip("} \n\t\r"), ",")[0].strip()
    chosen = _TERNARY.search(text)
    if chosen and text.count("(", 0, chosen.start()) == text.count(")", 0, chosen.start()):
        values = split_top(text[chosen.end() :], ":")
        if len(values) == 2:
            return values[0].strip()
    return text


_SWITCH = lazy_regex(r"[\w.()\s]+?\bswitch\s*\{(?:[^=]|=(?!>))*=>\s*")
_TERNARY = lazy_regex(r"\s\?\s")


def paths_of_pattern(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the names that a pattern of an object binds, with the keys that lead to their values.

    >>> paths_of_pattern("{ a, b: c, d: { e = 1 }, ...f }")
    [('a', ('a',)), ('c', ('b',)), ('e', ('d', 'e'))]
    """
    paths: list[tuple[str, tuple[str, ...]]] = []
    for item in split_top(_REMARK.sub("", text.strip()[1:-1]).replace("=>", ""), ","):
        matched = _PATTERN_ITEM.fullmatch(item.strip())
        if matched is None:
            continue
        key, inner = matched[1], (matched[2] or "").strip()
        if inner.startswith("{"):
            end = find_closing(inner, 0)
            paths += [(name, (key, *path)) for name, path in paths_of_pattern(inner[: end + 1])] if end > 0 else []
        else:
            name = re.match(r"[\w$]+", inner)
            paths.append((name[0] if name else key, (key,)))
    return paths


_PATTERN_ITEM = lazy_regex(r"([\w$]+)\s*(?:=(?s:.*)|:\s*((?s:.+)))?")
_FIELD_OF_TYPE = lazy_regex(r"(?:readonly\s+)?([\w$]+)\??\s*:\s*((?s:.+))")


def type_of_path(text: str, path: Sequence[str], settings: TypeSettings) -> tuple[str, tuple[str, ...]]:
    """Return the type that the first keys of a path have in a written type, and the keys that are left.

    >>> type_of_path("{ a: B; c: { d: E } }", ("c", "d"), _PLAIN_TYPES), type_of_path("P", ("a",), _PLAIN_TYPES)
    (('E', ()), ('P', ('a',)))
    """
    text = text.strip()
    if not text.startswith("{"):
        return type_name(text, settings), tuple(path)
    end = find_closing(text, 0)
    fields = re.sub(r"\n|;", ",", text[1:end]) if end > 0 else ""
    for each in split_top(fields, ","):
        matched = _FIELD_OF_TYPE.fullmatch(each.strip())
        if matched and matched[1] == path[0]:
            return (
                type_of_path(matched[2], path[1:], settings) if len(path) > 1 else (type_name(matched[2], settings), ())
            )
    return "", ()


def with_constructor_call(text: str, chain: str) -> str:
    """Return the chain of a whole value. `new T` without parentheses is a call, too.

    >>> [with_constructor_call(*each) for each in (("new Door", "Door"), ("new Door(1)", "Door()"), ("newer", "newer"))]
    ['Door()', 'Door()', 'newer']
    """
    is_bare = chain and text.startswith("new") and not chain.endswith("()")
    return with_marks(chain, Mark.CALL) if is_bare and _MAKES.match(text) else chain


def _spell_items(chain: str) -> str:
    return _KEY_OF_CHAIN.sub(r'["\1"]', chain.replace(".[]", "[0]"))


def with_members(text: str) -> str:
    r"""Return an expression with members by strings as members by name.

    >>> with_members("a['b'][\"c-d\"]"), with_members("['b']"), with_members("a[b]['c d']")
    ('a.b.c-d', 'b', "a[b]['c d']")
    """
    return KEY.sub(r".\2", text).lstrip(".") if "[" in text else text


def members_of(text: str) -> str:
    """Return the members of an object literal, as `Binding.value` has them.

    >>> members_of("{a, b: c.d, 'e': f(), g() {}, h: () => 1, ...i}"), members_of("{}")
    ('{a,b:c.d,e:f(),...}', '{}')
    """
    members: list[str] = []
    for each in split_top(_REMARK.sub("", text[1 : find_closing(text, 0)]).replace("=>", ""), ","):
        matched = _MEMBER.fullmatch(each.strip())
        if matched and matched[2] is None:
            members.append("..." if matched[1].startswith("...") else matched[1])
        elif matched and (chain := chain_of(matched[2])):
            members.append(field_of(matched[1].strip(QUOTES), chain))
    return object_of(members)


def last_of_chain(text: str) -> str:
    """Return the last name of an expression whose front is not read.

    >>> last_of_chain("very().long()?.chain"), last_of_chain("f()")
    ('?.chain', '')
    """
    last = _LAST.search(text)
    return f"?.{last[1]}" if last else ""


def _after_unknown(text: str, length: int) -> str:
    """Return the plain names after an expression that is not a name: `(…).a.b` -> `?.a.b`."""
    tail = _TAIL.search(text[:length])
    return f"?.{tail[1]}" if tail else ""


def find_closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`, or -1. Strings are skipped."""
    stack = [_CLOSER[text[start]]]
    angle = text[start] == "<"
    position = start + 1
    while mark := _MARK.search(text, position):
        position = mark.start()
        character = mark[0]
        if character == "'" and (text[position - 1] in "&<" or stack[-1] == ">") and _LIFETIME.match(text, position):
            pass
        elif character in "\"'`":
            string = _STRING.match(text, position)
            if string is None:
                return -1
            position = string.end() - 1
        elif character in "([{" or (angle and character == "<"):
            stack.append(_CLOSER[character])
        elif character == stack[-1] and not (character == ">" and text[position - 1] == "="):
            stack.pop()
            if not stack:
                return position
        position += 1
    return -1


_PLAIN_TYPES = TypeSettings()


def type_name(text: str, settings: TypeSettings = _PLAIN_TYPES) -> str:
    """Return the chain that names the main type of an annotation, or "".

    References and pointers, quotes, `Optional[...]`, `X | None`, `Promise<X>`, arguments of generics and `readonly` are
    transparent. A union of several types, a tuple, a function type and a type without information (`Any`) have no name.
    Several bounds are joined with "+". A transparent type of `settings` stays in front of its content, with "?" between
    them, because the repository may have a type of that name: `Arc<Vec<T>>` is `Arc?Vec?T[]`.

    >>> [type_name(t) for t in ("Session", "'a.Session'", "Optional[Session]", "Session | None", "List[int]", "A | B")]
    ['Session', 'a.Session', 'Session', 'Session', 'List', '']
    """
    if len(text) <= _MAX_TYPE_CHARACTERS and _NAME_OF_TYPE.fullmatch(text):
        return "" if text in _SAYS_NOTHING or text in _NONE or text in settings.memberless_types else text
    if settings.marks_ahead:
        return marked_type(text, settings)
    text = _SPACE.sub(" ", text.strip(": \t\r\n").strip("\"'")).strip().rstrip("*&? ")
    text = text[_POINTER.match(text).end() :] if _POINTER.match(text) else text  # type: ignore[union-attr]
    if settings.before_names and text.endswith("const"):
        text = _CONST_BEHIND.sub("", text)
    if settings.messages:
        text = text.replace(" <", "<").removeprefix("__kindof ")
    if len(text) > _MAX_TYPE_CHARACTERS:
        return ""
    if settings.arrow and settings.arrow in text:
        text = text.replace(settings.arrow, _ARROW)
    if _ARROW in text and (function := _function_type(text, settings)):
        return function
    if text.startswith("(") and find_closing(text, 0) == len(text) - 1:
        several = split_top(text[1:-1], ",") if settings.tuples else []
        if len(several) > 1:
            return tuple_of(_item_of_tuple(each, settings) for each in several)
        return type_name(text[1:-1], settings)
    if "+" in text:
        bounds = [b.strip() for b in split_top(text, "+")]
        if len(bounds) > 1:
            return bounds_of(filter(None, (type_name(b, settings) for b in bounds if b[:1] not in ("'", "?"))))
    text = text.replace("::", ".").replace(" .", ".")
    if settings.bracketed:
        text = text.replace("[", "<").replace("]", ">")
    if settings.containers and text.startswith("[") and find_closing(text, 0) == len(text) - 1:
        return _collection(text[1:-1].partition(";")[0], settings)
    if settings.containers and text.endswith("[]"):
        return _collection(text[:-2].removeprefix("readonly "), settings)
    generic = _GENERIC.fullmatch(text.removesuffix(".type") if settings.conditional else text)
    if generic and settings.conditional and generic[1].rpartition(".")[2] in settings.conditional:
        return type_name([*split_top(generic[2], ","), ""][1], settings)
    if generic and generic[1].rpartition(".")[2] in settings.containers:
        arguments = [a for a in split_top(generic[2], ",") if not a.strip().startswith("'")] or [""]
        element = split_top(arguments[min(1, len(arguments) - 1)], "=")[-1]
        return wrapped_in(generic[1], _collection(element, settings))
    if generic and generic[1].rpartition(".")[2] in settings.transparent:
        arguments = [a for a in split_top(generic[2], ",") if not a.strip().startswith("'")] or [""]
        return wrapped_in(generic[1], type_name(split_top(arguments[0], "=")[-1], settings))
    wrapped = _WRAPPED.fullmatch(text)
    if wrapped:
        return type_name(split_top(wrapped[1], ",")[0], settings)
    union = _UNION.fullmatch(text)
    members = [part.strip() for part in split_top(union[1] if union else text, "," if union else "|")]
    members = [part for part in members if part not in _NONE and part not in settings.memberless_types]
    several = split_top("&".join(members), "&") if settings.unions and members else []
    if len(several) > 1:
        return union_type(several, settings)
    if len(members) != 1:
        return ""
    if members[0] != text:
        return type_name(members[0], settings)
    if settings.literals and ">." in text:
        inner = _without_type_arguments(text)  # `Map<K, V>::Entry`
        return type_name(inner, settings) if ">" not in inner else ""
    name = _TYPE.match(text)
    if not name or name[2][:1] not in ("", "[", "<") or name[2].startswith("[]"):
        return ""
    if settings.generic and name[2].startswith("<") and name[2].endswith(">") and name[1] not in _SAYS_NOTHING:
        return generic_of(name[1], (_argument_name(each, settings) for each in split_top(name[2][1:-1], ",")))
    return "" if name[1] in _SAYS_NOTHING else name[1]


def _without_type_arguments(text: str) -> str:
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


_NAMED_ITEM = lazy_regex(r"((?s:.*[\w>\])?]))\s+([^\W\d]\w*)\s*")


def _item_of_tuple(text: str, settings: TypeSettings) -> str:
    """Return the type of an item of a tuple, behind the name that it has where types stand before names.

    >>> s = TypeSettings(tuples=True, before_names=True)
    >>> type_name("(Foo a, List<Bar> b, C)", s), type_name("(Foo, &'a Bar)", TypeSettings(tuples=True))
    ('(a:Foo,b:List,C)', '(Foo,Bar)')
    """
    named = _NAMED_ITEM.fullmatch(text.strip()) if settings.before_names else None
    return field_of(named[2], type_name(named[1], settings)) if named else type_name(text, settings)


def union_type(members: Iterable[str], settings: TypeSettings) -> str:
    """Return the type that has the members of each of several types.

    >>> union_type(["A", " B[]", "callable(): A"], TypeSettings())
    'A+B[]'
    """
    return bounds_of(dict.fromkeys(filter(None, (array_type_name(each.strip(), settings) for each in members))))


_ARROW = "\0"  # in the place of the arrow of a language, which may end like a bracket
_FUNCTION_HEAD = lazy_regex(r"(?:abstract )?(?:new )?(?=[<(])")
_TYPED = lazy_regex(r"(?:\.\.\.)?[\w$]+\??: ?(.+)")


def _function_type(text: str, settings: TypeSettings) -> str:
    """Return the type of a function with what it is given and gives, or "" for other types.

    >>> types = TypeSettings(arrow="=>")
    >>> [type_name(t, types) for t in ("<T>(a: A, n: Map<T, B>, f?: (x) => B) => C", "(() => A) | null")]
    ['(A,Map,()/B)/C', '()/A']
    """
    position = _FUNCTION_HEAD.match(text).end() if _FUNCTION_HEAD.match(text) else -1  # type: ignore[union-attr]
    end = find_closing(text, position) if position >= 0 else -1
    if end > 0 and text[position] == "<":
        position = end + 1
        end = find_closing(text, position) if text[position : position + 1] == "(" else -1
    rest = text[end + 1 :].lstrip() if end > 0 else ""
    if not rest.startswith(_ARROW):
        return ""
    types = []
    for each in split_top(text[position + 1 : end], ","):
        typed = _TYPED.fullmatch(each.strip())
        if each.strip() and not each.lstrip().startswith("this:"):
            types.append(type_name(typed[1], settings) if typed else "")
    return function_of(types, type_name(rest[len(_ARROW) :], settings))


def _argument_name(text: str, settings: TypeSettings) -> str:
    read = array_type_name if settings.before_names else type_name
    return read(_VARIANCE.sub("", text.strip()), settings)


_VARIANCE = lazy_regex(r"^(?:out|in|\? extends|\? super) ")


def array_type_name(text: str, settings: TypeSettings = _PLAIN_TYPES) -> str:
    """Return the type name as `type_name` does, with the brackets of an array.

    >>> array_type_name("Session<A[]>[ ][]"), array_type_name("Session")
    ('Session[][]', 'Session')
    """
    matched = _DIMENSIONS.search(text)
    if not matched:
        return type_name(text, settings)
    name = type_name(text[: matched.start()], settings)
    return f"{name}{''.join(matched[0].split())}" if name else ""


def _collection(element: str, settings: TypeSettings) -> str:
    name = type_name(element, settings)
    if settings.unions and "+" in name:
        return bounds_of(array_of(each) for each in name.split("+") if not each.endswith("[]"))
    return array_of(name) if name and not name.endswith("[]") and name[0] != "(" else ""
