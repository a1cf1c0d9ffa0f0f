"""Calls in grammars whose call is one node with receiver, name and arguments: captures in, `Call` facts out.

The receiver of a call is often a call that has just been read, so that its chain is known and long chains cost no
more than their parts. Arguments are counted and literals among them noted, which tells overloads apart.
"""

import re
from collections.abc import Container
from dataclasses import dataclass, field

from causalist.model.facts import MODULE_SCOPE, Call
from causalist.parse.syntax.chains import chain_of, made, type_name
from causalist.parse.syntax.scopes import Scopes

_LONGEST_NAME = 200
_LAST_NAME = re.compile(rb"([\w$\x80-\xff]+[?!]?)\s*(?:<[\w\s.,<>?\[\]]*>\s*)?$")  # types may be said behind it
_GIVEN = re.compile(rb"\s*=(?![=~>])")  # after a member that gets a value
_LAST_BEFORE_TYPES = re.compile(rb"([\w$\x80-\xff]+)\s*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s*$")
_TYPES = re.compile(r"(?<!asInstanceOf)\[(?:[^\[\]]|\[[^\[\]]*\])*\]")
_LONGEST_CHAIN = 400  # bytes of a receiver that are read
_LONGEST_CALLEE = 600  # characters of a chain that is kept whole
_LONGEST_BETWEEN = 2000  # bytes between a call and the next one in a chain: spaces and remarks
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MEMBERS = re.compile(r"(?:\.[^\W\d][\w$]*)+")
_INDEX = re.compile(r"\[[^\[\]\"']*\]")
_INDEXED = re.compile(r"(?:[\w$]+\.)*[\w$]+(?:\[\])+(?:\.[\w$]+(?:\[\])*)*\.[\w$]+")
_INDEXED_MEMBERS = re.compile(r"(?:\[\])*(?:\.[^\W\d][\w$]*(?:\[\])*)*\.[^\W\d][\w$]*")
_EXPLICIT_TYPES = re.compile(r"\.\s*<[\w\s.,<>?&\[\]]*>\s*(?=[^\W\d])")
_NUMBER = re.compile(r"-?(?:0[xXbB][\da-fA-F_]+|[\d_]+)[lL]?|-?[\d_]*\.?[\d_]+(?:[eE][-+]?\d+)?[fFdD]?|-?\d+\.[fFdD]?")
_FUNCTION = re.compile(r"\w+\s*->|\([\w\s,.<>\[\]@?]*\)\s*->|[\w.<>]+::\w+$")
_UNTOLD = re.compile(r"[,?<>]")  # in a chain of which nothing is known
_CAST = re.compile(r"\(\s*\(\s*((?:final\s+)?[^\W\d][\w.$]*(?:\s*<[\w\s.,<>?&\[\]]*>)?)\s*\)(?=[\s\w(\"'$])")


@dataclass(slots=True)
class _Invocation:
    """A call whose arguments are still to come. `position` is its place among the calls, -1 before its name."""

    start: int
    end: int
    position: int = -1
    chain: str = ""
    arguments: str = ""
    values: list[str] = field(default_factory=list)  # chains of the arguments that are "?"
    makes: bool = False  # an instance of the type that is named
    listed: bool = False  # its arguments have begun
    scope: int = MODULE_SCOPE


class CallReader:
    """Reads the captures of whole calls. `finish` has to be called once when the sweep is complete."""

    def __init__(self, scopes: Scopes, calls: list[Call]) -> None:
        self._scopes = scopes
        self._calls = calls
        self._curried = scopes.settings.names.curried
        self._told_apart = bool(scopes.settings.types.literals)
        self._bracketed = scopes.settings.types.bracketed
        self._open: list[_Invocation] = []
        self._lists: list[tuple[int, _Invocation | None]] = []  # open lists of arguments: end, call
        self._last: _Invocation | None = None  # the call that ended last
        self._bare = scopes.settings.names.bare_calls
        self._super_names = scopes.settings.names.super_names if scopes.settings.names.super_same else ()
        self._words: list[tuple[int, Call]] = []  # names by themselves, with their starts
        self._named: set[int] = set()  # starts of names of calls

    def on_call(self, start: int, end: int, tag: int) -> None:
        self._close(start)
        self._open.append(_Invocation(self._scopes.without_waiting(start, end), end, scope=self._scopes.use_scope()))

    def on_word(self, start: int, end: int) -> None:
        """A name by itself, which is called unless it is that of a variable."""
        scopes = self._scopes
        if start < end and scopes.data[start - 1 : start] != b".":  # a name without text is the parser's own
            name = scopes.compact(start, end)
            if not name:
                return  # characters that a grammar takes for a name, and Unicode for white space
            if name in self._super_names:
                name = self._same(name, scopes.use_scope())
            self._words.append((start, Call(scopes.use_scope(), name, scopes.row(start))))

    def _same(self, name: str, scope: int) -> str:
        """`super` by itself, as a member of it."""
        return f"{name}.{self._scopes.drafts[scope].name}" if scope != MODULE_SCOPE else name

    def on_name(self, start: int, end: int, is_type: bool) -> tuple[int, str]:
        """(start of the expression that is called, its chain); (start, "") for what is no name."""
        self._close(start)
        if not self._open or self._open[-1].chain:
            return start, ""
        call = self._open[-1]
        self._give_name(call, start, end, is_type, self._scopes.use_scope())
        return call.start, call.chain if call.chain != "?" else ""

    def _give_name(self, call: _Invocation, start: int, end: int, is_type: bool, scope: int) -> None:
        sign = self._scopes.data[end - 1 : end].decode() if self._scopes.data[end - 1 : end] in (b"?", b"!") else ""
        chain = self._chain(call, start, end - len(sign))
        if sign:
            chain += sign if chain else ""
        elif chain in self._super_names:
            chain = self._same(chain, scope)
        call.chain, call.makes = chain or "?", is_type
        self._named.add(start)
        if chain:
            call.position = len(self._calls)
            self._calls.append(Call(scope, self._scopes.current(chain), self._scopes.row(start), ""))

    def on_arguments(self, start: int, end: int) -> tuple[int, int] | None:
        """(start, end) of the name before the list of arguments, if the call to which they belong has none yet."""
        self._close(start)
        call = self._open[-1] if self._open and not self._open[-1].listed else None
        self._lists.append((end, call))
        if call is None:
            return None  # of an enum's constant
        call.listed = True
        if call.chain:
            return None
        pattern = _LAST_BEFORE_TYPES if self._bracketed else _LAST_NAME
        name = pattern.search(self._scopes.data, max(call.start, start - _LONGEST_NAME), start)
        if name is None and self._curried:
            call.listed = False
            call.listed = self.on_further(start, end)
        return name.span(1) if name else None

    def is_listed(self) -> bool:
        """Whether the arguments of the innermost open call have begun."""
        return bool(self._open) and self._open[-1].listed

    def on_further(self, start: int, end: int) -> bool:
        """Whether an argument that stands behind the list of a call is one more of that call, `f(1) { … }`; the call
        around both goes on with what the inner one is called."""
        self._close(start)
        inner, call = self._last, self._open[-1] if self._open else None
        if call is not None and call.end != end and not call.listed:
            return True  # it stands in what is called
        if inner is None or call is None or inner.start != call.start or call.chain or not inner.chain:
            return False
        if not inner.end <= start <= inner.end + _LONGEST_BETWEEN or self._scopes.data[inner.end : start].strip():
            return False
        if not self._curried:
            inner.arguments += _letter(self._scopes.text(start, min(end, start + 80)))
        call.chain, call.listed = inner.chain, True
        if inner.position >= 0:
            self._calls[inner.position] = self._calls[inner.position]._replace(
                arguments="=" if inner.makes else inner.arguments
            )
        return True

    def on_argument(self, start: int, end: int, tag: int) -> None:
        while self._lists and self._lists[-1][0] <= start:
            self._lists.pop()
        call = self._lists[-1][1] if self._lists else None
        if call is not None:
            letter = _letter(self._scopes.text(start, min(end, start + 80)))
            call.arguments += letter
            if letter == "?" and self._told_apart:
                call.values.append(self._value(start, end))

    def _value(self, start: int, end: int) -> str:
        """The chain of an argument, "" where it is none."""
        if end - start > _LONGEST_CHAIN:
            return ""
        text = self._scopes.spelled(self._scopes.text(start, end))
        chain = self._scopes.current(made(text, chain_of(text, bool(self._scopes.settings.types.containers))))
        return chain if chain.isascii() and not _UNTOLD.search(chain) else ""

    def type_of_body(self, end: int) -> tuple[int, str] | None:
        """(start, type) of the open `new Type(…) { body }` that ends where a body does."""
        for call in reversed(self._open):
            if call.end == end and call.chain:
                return call.start, call.chain
        return None

    def finish(self) -> None:
        self._close(len(self._scopes.data) + 1)

    def words(self, variables: Container[tuple[int, str]]) -> list[Call]:
        """The calls that are a name and nothing more; `variables` are names with their scopes."""
        return [
            call for at, call in self._words if at not in self._named and (call.scope, call.callee) not in variables
        ]

    def _close(self, before: int) -> None:
        while self._open and self._open[-1].end <= before:
            call = self._open.pop()
            if self._bare and not call.chain:
                self._name_last(call)
            self._last = call
            if call.position >= 0:
                self._calls[call.position] = self._calls[call.position]._replace(
                    arguments="=" if call.makes else call.arguments,
                    values="" if call.makes or not any(call.values) else ",".join(call.values),
                )

    def _name_last(self, call: _Invocation) -> None:
        """A call without arguments is of its last name; a member that gets a value is called with `=` behind it."""
        name = _LAST_NAME.search(self._scopes.data, max(call.start, call.end - _LONGEST_NAME), call.end)
        if name:
            self._give_name(call, *name.span(1), False, call.scope)
            if call.position >= 0 and _GIVEN.match(self._scopes.data, call.end):
                self._calls[call.position] = self._calls[call.position]._replace(callee=f"{call.chain}=")

    def _chain(self, call: _Invocation, start: int, end: int) -> str:
        inner, scopes = self._last, self._scopes
        is_call = inner is not None and (inner.listed or bool(inner.chain))  # else what is taken is an element
        if inner is not None and is_call and inner.start == call.start and call.start < inner.end <= start:
            between = _COMMENT.sub("", scopes.text(inner.end, end)) if end - inner.end < _LONGEST_BETWEEN else ""
            between = _TYPES.sub("", between) if self._bracketed else between
            between = _INDEX.sub("[]", _EXPLICIT_TYPES.sub(".", "".join(between.split())))
            if not _INDEXED_MEMBERS.fullmatch(between):
                return f"?.{scopes.text(start, end)}"
            if inner.chain in ("", "?") or len(inner.chain) > _LONGEST_CALLEE:
                return f"?{between}"
            return f"{inner.chain}(){between}"
        if end - call.start > _LONGEST_CHAIN:
            return f"?.{scopes.text(start, end)}"
        text = _EXPLICIT_TYPES.sub(".", scopes.spelled(_without_comments(scopes.text(call.start, end))))
        text = _TYPES.sub("", text) if self._bracketed else text
        cast = _CAST.match(text)
        if cast:
            closed = text.rfind(")", 0, start - call.start)
            rest = "".join(text[closed + 1 :].split())
            held = type_name(cast[1].removeprefix("final "), scopes.settings.types)
            if held and _MEMBERS.fullmatch(rest) and _is_one_value(text, cast.end(), closed):
                return f"<{scopes.current(held)}>{rest}"
        if "[" in text and not scopes.settings.types.containers:
            indexed = _INDEX.sub("[]", "".join(text.split()))
            if _INDEXED.fullmatch(indexed):
                return indexed
        return chain_of(text, bool(scopes.settings.types.containers)) or f"?.{scopes.text(start, end)}"


def _without_comments(text: str) -> str:
    return _COMMENT.sub("", text) if "/" in text and '"' not in text else text


def _is_one_value(text: str, start: int, last: int) -> bool:
    """Whether what is cast at the start of a bracket fills it up to `last`, without an operator in between."""
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


def _letter(text: str) -> str:
    """What an argument is, as `Call.arguments` says.

    >>> "".join(_letter(t) for t in ('"a"', "'c'", "1", "0x1F", "2L", "1.5", "2f", "true", "null", "x -> y", "f(x)"))
    'sciildfbn>?'
    """
    if not text:
        return "?"  # broken source
    first = text[0]
    if first == '"':
        return "s" if text.find('"', 1) == len(text) - 1 or '" +' in text or len(text) >= 80 else "?"
    if first == "'":
        return "c" if len(text) <= 8 else "?"
    if first in "-.0123456789" and _NUMBER.fullmatch(text):
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
    return ">" if _FUNCTION.match(text) else "?"
