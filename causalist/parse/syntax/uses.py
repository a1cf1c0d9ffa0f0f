"""Uses of names: captures of calls and names in, `Call` and `Reference` facts out.

A name in a chain that is called as a whole is no use of its own: uses before the end of text that was read are skipped.

Some grammars have one node for a call, whose receiver is often the call that was just read; its chain is known, so that
a long chain costs no more than its parts. Arguments are counted, and literals among them noted, which distinguishes
overloads. Calls among unparsed tokens, such as the arguments of a macro, are read from the text.
"""

import re
from collections.abc import Container
from dataclasses import dataclass, field

from causalist.model.facts import MODULE_SCOPE, UNCOUNTED, ArgumentKind, Call, Reference
from causalist.model.type_notation import GIVEN, OWN_OBJECT, PLACE, element_of, split_top, typed_value
from causalist.parse.syntax.arguments import (
    arguments_at,
    callee_before,
    letter_of_lambda,
    letters_and_values,
    made_before,
    typed_arguments,
)
from causalist.parse.syntax.bindings import BindingReader
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.chains import chain_of, last_of_chain, read_message, type_name, with_constructor_call
from causalist.parse.syntax.go_like_types import given_arguments
from causalist.parse.syntax.imports import ImportReader, without_comments
from causalist.parse.syntax.open_scopes import BlockScopes, Scopes
from causalist.parse.syntax.shadowed_names import OpenLambda, arguments_by_space
from causalist.parse.syntax.typed_expressions import callee_of, is_one_value, letter_of, typed_argument

_MAX_NAME_BYTES = 200
# Types may be said behind it; `A<B>.c<D>` ends with c.
_LAST_NAME = re.compile(
    rb"([\w$\x80-\xff]++[?!]?)\s*+"
    rb"(?:<(?:[\w\s.,?\[\]]|<(?:[\w\s.,?\[\]]|<(?:[\w\s.,?\[\]]|<[\w\s.,?\[\]]*+>)*+>)*+>)*+>\s*+)?$"
)
_GIVEN = re.compile(rb"\s*=(?![=~>])")  # after a member that gets a value
_LAST_BEFORE_TYPES = re.compile(rb"([\w$\x80-\xff]++)\s*+(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s*$")
_TYPES = re.compile(r"(?<!asInstanceOf)\[(?:[^\[\]]|\[[^\[\]]*\])*\]")
_MAX_RECEIVER_BYTES = 400  # bytes of a receiver that are read
_MAX_CALLEE_CHARACTERS = 600  # characters of a chain that is kept whole
_MAX_BETWEEN_BYTES = 2000  # bytes between a call and the next one in a chain: spaces and remarks
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MEMBERS = re.compile(r"(?:\.[^\W\d][\w$]*)+")
_INDEX = re.compile(r"\[[^\[\]\"']*\]")
_INDEXED = re.compile(r"(?:[\w$]+\.)*[\w$]+(?:\[\])+(?:\.[\w$]+(?:\[\])*)*\.[\w$]+")
_INDEXED_MEMBERS = re.compile(r"(?:\[\])*(?:\.[^\W\d][\w$]*(?:\[\])*)*\.[^\W\d][\w$]*")
_EXPLICIT_TYPES = re.compile(r"\.\s*<[\w\s.,<>?&\[\]]*>\s*(?=[^\W\d])")
_UNKNOWN_PART = re.compile(r"[,?<>]")  # in a chain of which nothing is known
_TYPE_ARGUMENTS = re.compile(rb"<(.*)>\s*$", re.DOTALL)
_LISTED = re.compile(rb"\((?:[^()]|\([^()]*\))*\)")  # the same where no arrow need follow
_PARAMETERS = re.compile(rb"""\{?[^{}"';=|&-]*+[-=]>""")  # of a lambda
_STATEMENT = re.compile(rb"(?:[{;\n]|[-=]>|\breturn)\s*$")  # before the last expression of a lambda
_LAST_STATEMENT = re.compile(rb"(?:[{;\n]|[-=]>|\breturn\b)[ \t]*([\w$.?!]++)[\s;})]*$")
_CAST = re.compile(r"\(\s*\(\s*((?:final\s+)?[^\W\d][\w.$]*(?:\s*<[\w\s.,<>?&\[\]]*>)?)\s*\)(?=[\s\w(\"'$])")


@dataclass(slots=True)
class _Invocation:
    """Call whose arguments are not complete. `position` is its index in the calls, -1 before its name."""

    start: int
    end: int
    position: int = -1
    chain: str = ""
    arguments: str = ""
    values: list[str] = field(default_factory=list)  # chains of the arguments that are "?"
    is_constructor: bool = False  # an instance of the type that is named
    made: str = ""  # its typed value, where the type has arguments
    has_arguments: bool = False  # its arguments have begun
    scope: int = MODULE_SCOPE
    spelled: str = ""  # its chain with local names spelled
    result: str = ""  # the chain of what it gives, where a lambda says that
    is_lambda: bool = False  # no call, but a function without a name that is open among the calls
    given_to: "_Invocation | None" = None  # the call that gets that function
    inside: OpenLambda | None = None  # what is known inside of it
    last: int = -1  # end of its name or, once they have begun, of its arguments


class CallReader:
    """Reader of the captures of whole calls. Call `finish` once when the pass is complete."""

    def __init__(self, scopes: Scopes, calls: list[Call]) -> None:
        self._scopes = scopes
        self._calls = calls
        self._curried = scopes.settings.names.curried
        self._has_literal_overloads = bool(scopes.settings.types.literals)
        self._has_typed_functions = ArgumentKind.FUNCTION in dict(scopes.settings.types.literals)
        self._casts_before = scopes.settings.types.before_names and self._has_literal_overloads
        self._bracketed = scopes.settings.types.bracketed
        self._flat, self._dispatches = scopes.settings.names.flat_chains, scopes.settings.names.object_first
        self._open: list[_Invocation] = []
        self._lists: list[tuple[int, _Invocation | None]] = []  # open lists of arguments: end, call
        self._last: _Invocation | None = None  # the call that ended last
        self._bare = scopes.settings.names.bare_calls
        self._super_names = scopes.settings.names.super_names if scopes.settings.names.super_same else ()
        self._words: list[tuple[int, Call]] = []  # names by themselves, with their starts
        self._named: set[int] = set()  # starts of names of calls
        self._given = -1  # start of the last argument
        self._names = scopes.local_names
        self._gathering = frozenset(scopes.settings.types.gathering)
        self._cascades: dict[tuple[int, int], str] = {}  # range of what a cascade is for -> its chain
        defaults = "|".join(map(re.escape, scopes.settings.names.default_operators))
        self._default = re.compile(rf"\(\s*([\w.]+(?:\(\))?)\s*(?:{defaults})") if defaults else None

    def on_call(self, start: int, end: int, tag: int) -> None:
        """Open a call."""
        self._close(start)
        if not (self._flat and self._scopes.data.startswith(b".", start - 1)):  # which is a part of an open chain
            self._open.append(_Invocation(self._scopes.skip_waiting(start, end), end, scope=self._scopes.use_scope()))

    def on_cascade(self, start: int, end: int, tag: int) -> None:
        """Read what a part of a cascade is for, before calls inside of the part are read."""
        self._close(start)
        since, until = self._scopes.receivers.get(start, (start, start))
        inner, chain = self._last, self._cascades.get((since, until), "")
        if not chain and inner and (inner.start, inner.end) == (since, until):
            chain = inner.result or inner.made or (f"{inner.chain}()" if inner.chain not in ("", "?") else "")
        elif until - since <= _MAX_RECEIVER_BYTES and not chain:
            chain = chain_of(without_comments(self._scopes.text(since, until)), self._scopes.settings.types)
        self._cascades[since, until] = chain or "?"

    def on_word(self, start: int, end: int) -> None:
        """Record a single name, which is a call unless it is a variable."""
        scopes = self._scopes
        if start < end and scopes.data[start - 1 : start] != b".":  # a name without text is the parser's own
            name = scopes.compact(start, end)
            if not name:
                return  # characters that a grammar takes for a name, and Unicode for white space
            if name in self._super_names:
                name = self._overridden_chain(name, scopes.use_scope())
            self._words.append((start, Call(scopes.use_scope(), name, scopes.row(start))))

    def _overridden_chain(self, name: str, scope: int) -> str:
        """Return a bare `super` as the overridden member: `super.name` of the method around it."""
        return f"{name}.{self._scopes.drafts[scope].name}" if scope != MODULE_SCOPE else name

    def on_name(self, start: int, end: int, is_type: bool) -> tuple[int, str]:
        """Return (start of the callee expression, its chain); the chain is "" if there is none."""
        self._close(start)
        if self._flat and self._open and self._open[-1].chain and self._scopes.data.startswith(b".", start - 1):
            inner, whole = self._open[-1], self._open[-1].end  # the call whose name begins here has the same node
            behind = self._scopes.data.find(b")", inner.last, start) + 1 or start
            inner.end = inner.last if inner.has_arguments else behind
            self._close(inner.end)
            self._open.append(_Invocation(inner.start, whole, scope=inner.scope))
        if not self._open or self._open[-1].chain:
            return start, ""
        call = self._open[-1]
        call.last = end
        self._give_name(call, start, end, is_type, self._scopes.use_scope())
        return call.start, call.chain if call.chain != "?" else ""

    def _give_name(self, call: _Invocation, start: int, end: int, is_type: bool, scope: int) -> None:
        sign = self._scopes.data[end - 1 : end].decode() if self._scopes.data[end - 1 : end] in (b"?", b"!") else ""
        chain = self._chain(call, start, end - len(sign))
        if sign:
            chain += sign if chain else ""
        elif chain in self._super_names:
            chain = self._overridden_chain(chain, scope)
        call.chain, call.is_constructor = chain or "?", is_type
        if is_type and self._has_typed_functions and (types := _TYPE_ARGUMENTS.search(self._scopes.data, start, end)):
            call.values = [str(len(split_top(types[1].decode("utf-8", "replace"), ",")))]
            name = type_name(self._scopes.text(start, end), self._scopes.settings.types)
            call.made = typed_value(name) if "{" in name else ""
        self._named.add(start)
        if chain:
            call.position = len(self._calls)
            call.spelled = self._scopes.spell_current(chain)
            self._calls.append(Call(scope, call.spelled, self._scopes.row(start), ""))

    def on_arguments(self, start: int, end: int) -> tuple[int, int] | None:
        """Return (start, end) of the name before an argument list, if its call has no name yet."""
        self._close(start)
        call = self._open[-1] if self._open and not self._open[-1].has_arguments else None
        self._lists.append((end, call))
        if call is None:
            return None  # of an enum's constant
        call.has_arguments = True
        if self._flat:
            call.last = self._scopes.data.find(b")", end, end + 200) + 1 or end  # the brackets are no part of the node
        if call.chain:
            return None
        pattern = _LAST_BEFORE_TYPES if self._bracketed else _LAST_NAME
        name = pattern.search(self._scopes.data, max(call.start, start - _MAX_NAME_BYTES), start)
        if name is None and self._curried:
            call.has_arguments = False
            call.has_arguments = self.on_further(start, end)
        return name.span(1) if name else None

    def on_lambda(self, start: int, end: int) -> None:
        """Open a lambda: find out what it is given by the call that gets it."""
        self._close(start)
        scopes, settings = self._scopes, self._scopes.settings
        call = self._open[-1] if self._open and self._given == start and self._open[-1].has_arguments else None
        self._open.append(_Invocation(start, end, chain="?", has_arguments=True, is_lambda=True, given_to=call))
        scope, row = scopes.binding_scope(), scopes.row(start)
        argument, receiver, is_paired = "", "", False
        if call is not None and call.spelled:
            on, _, method = call.spelled.rpartition(".")
            own, names = settings.lambdas, settings.names.self_names
            on = on or (names[0] if names else "")
            if method in settings.types.callback_methods and ("." in call.spelled or not own.types):
                argument, is_paired = element_of(on), method in own.pairing
            elif method in own.handing:
                argument = on
            elif method in own.receiving:
                receiver = on
            elif method in own.receiving_first:
                receiver = call.values[0] if call.values else ""
            elif own.implicit and (method not in settings.builtin_methods or "." in on):
                argument, receiver = f"{call.spelled}.{GIVEN}", f"{call.spelled}.{OWN_OBJECT}"
            elif own.types:
                argument = f"{call.spelled}.{PLACE}{len(call.arguments) - 1}{GIVEN}"
        elif call is None and settings.lambdas.types and scope >= 0:
            argument = scopes.local_names.returned_lambda(scopes.data, start, scopes.drafts[scope].returns)
        parameters = _LISTED if settings.lambdas.blocks else _PARAMETERS
        arrow = parameters.match(scopes.data, start, min(end, start + _MAX_RECEIVER_BYTES))
        behind = arrow.end() if arrow else -1
        inside = self._open[-1].inside = OpenLambda(end, scope, row, behind, argument, receiver, is_paired)
        scopes.lambdas.append(inside)

    def _close_lambda(self, of: _Invocation, call: _Invocation) -> None:
        """Note what a call gives, if it is what the function gives that it got."""
        settings = self._scopes.settings.lambdas
        method = call.chain.rpartition(".")[2]
        if method in settings.yielding:
            call.result = self._result_of(of)
        elif method in settings.mapping and (chain := self._result_of(of)):
            row = self._scopes.row(of.start)
            call.result = self._scopes.local_names.bind_result(self._scopes.binding_scope(), chain, row)

    def _note_result(self, call: _Invocation) -> None:
        """Note what a call of a function that gathers its arguments gives, and tell those who wait for a result."""
        scopes, names = self._scopes, self._scopes.local_names
        if call.chain in self._gathering and not call.result and any(call.values[:1]):
            call.result = names.bind_result(call.scope, call.values[0], scopes.row(call.start))
        awaited = names.awaited.pop((call.start, call.end), None) if names.awaited else None
        if awaited is not None and (call.result or call.spelled):
            names.results.append((awaited, call.result or f"{call.spelled}()"))

    def _result_of(self, of: _Invocation) -> str:
        """Return the chain of the last expression of a lambda, or ""."""
        data, last = self._scopes.data, self._last
        if last is not None and of.start < last.start < last.end <= of.end:
            before, after = data[of.start : last.start].rstrip(b" \t"), data[last.end : of.end]
            if not after.strip(b" \t\r\n})") and _STATEMENT.search(before):
                return last.result or (f"{last.spelled}()" if last.spelled else "")
        text = _LAST_STATEMENT.search(data, max(of.start, of.end - _MAX_RECEIVER_BYTES), of.end)
        if text is None or of.inside is None:
            return ""
        chain = chain_of(text[1].decode("utf-8", "replace"), self._scopes.settings.types)
        self._scopes.lambdas.append(of.inside)  # it may have been closed
        spelled = self._scopes.spell_current(chain)
        self._scopes.lambdas.pop()
        return spelled

    def open_call(self) -> _Invocation | None:
        """Return the call of which an argument was captured last."""
        return self._lists[-1][1] if self._lists else None

    def is_listed(self) -> bool:
        """Return True if the arguments of the innermost open call have begun."""
        return bool(self._open) and self._open[-1].has_arguments

    def on_further(self, start: int, end: int) -> bool:
        """Return True if an argument after the list belongs to the call before, as in `f(1) { … }`.

        The call around both continues with the callee of the inner one.
        """
        self._close(start)
        self._given = start
        inner, call = self._last, self._open[-1] if self._open else None
        if call is not None and call.end != end and not call.has_arguments:
            return True  # it is inside of the callee
        if inner is None or call is None or inner.start != call.start or call.chain or not inner.chain:
            return False
        if not inner.end <= start <= inner.end + _MAX_BETWEEN_BYTES or self._scopes.data[inner.end : start].strip():
            return False
        if not self._curried:
            text = self._scopes.text(start, min(end, start + 80))
            inner.arguments += letter_of(text, with_arrows=self._has_typed_functions)
        call.chain, call.has_arguments, call.spelled = inner.chain, True, inner.spelled
        call.values = call.values or inner.values
        if inner.position >= 0:
            self._calls[inner.position] = self._calls[inner.position]._replace(
                arguments="=" if inner.is_constructor else inner.arguments
            )
        return True

    def on_argument(self, start: int, end: int, tag: int) -> None:
        """Add the letter of an argument, and its chain if overloads are distinguished, to its call."""
        self._given = start
        while self._lists and self._lists[-1][0] <= start:
            self._lists.pop()
        if self._flat and self._open and self._open[-1].chain and not self._open[-1].has_arguments:
            self.on_arguments(start, end)  # the only argument has the range of all of them
        if (call := self._lists[-1][1] if self._lists else None) is not None:
            text, has_words = self._scopes.text(start, min(end, start + 80)), self._scopes.settings.names.alike
            letter = letter_of(text, with_arrows=self._has_typed_functions, with_words=has_words)
            if letter == ">" and self._scopes.settings.types.functions:
                letter = letter_of_lambda(self._scopes.text(start, min(end, start + 2000)))
            call.arguments += letter
            is_first = self._dispatches and len(call.arguments) == 1  # which decides what a method is of
            if (letter == "?" and self._has_literal_overloads and not call.is_constructor) or is_first:
                call.values.append(self._value(start, end))

    def _value(self, start: int, end: int) -> str:
        """Return the chain of an argument, or ""."""
        if end - start > _MAX_RECEIVER_BYTES:
            return ""
        text = self._scopes.spell_attributes(self._scopes.text(start, end))
        if self._casts_before and (typed := typed_argument(text)):
            return typed
        chain = self._scopes.spell_current(with_constructor_call(text, chain_of(text, self._scopes.settings.types)))
        return chain if chain.isascii() and not _UNKNOWN_PART.search(chain) else ""

    def type_of_body(self, end: int) -> tuple[int, str] | None:
        """Return (start, type) of the open `new Type(…) { body }` whose body ends at `end`."""
        for call in reversed(self._open):
            if call.end == end and call.chain:
                return call.start, call.chain
        return None

    def finish(self) -> None:
        """Close all open calls."""
        self._close(len(self._scopes.data) + 1)

    def words(self, variables: Container[tuple[int, str]]) -> list[Call]:
        """Return the calls that are a single name. `variables` are names with their scopes."""
        return [
            call for at, call in self._words if at not in self._named and (call.scope, call.callee) not in variables
        ]

    def _close(self, before: int) -> None:
        while self._open and self._open[-1].end <= before:
            call = self._open.pop()
            if call.is_lambda:
                if call.given_to is not None:
                    self._close_lambda(call, call.given_to)
                continue
            if self._bare and not call.chain:
                self._name_last(call)
                call.arguments = UNCOUNTED if self._flat else call.arguments  # it may be no call
            self._last = call
            if self._names.awaited or (call.values and call.chain in self._gathering):
                self._note_result(call)
            if call.position >= 0:
                self._calls[call.position] = self._calls[call.position]._replace(
                    arguments="=" if call.is_constructor else call.arguments,
                    values=",".join(call.values) if any(call.values) else "",
                )

    def _name_last(self, call: _Invocation) -> None:
        """Name a call without arguments by its last name, with "=" if the member is assigned."""
        name = _LAST_NAME.search(self._scopes.data, max(call.start, call.end - _MAX_NAME_BYTES), call.end)
        if name:
            self._give_name(call, *name.span(1), False, call.scope)
            if call.position >= 0 and _GIVEN.match(self._scopes.data, call.end):
                self._calls[call.position] = self._calls[call.position]._replace(callee=f"{call.chain}=")

    def _chain(self, call: _Invocation, start: int, end: int) -> str:
        inner, scopes = self._last, self._scopes
        is_call = inner is not None and (
            inner.has_arguments or bool(inner.chain)
        )  # otherwise the receiver is an element
        if inner is not None and is_call and inner.start == call.start and call.start < inner.end <= start:
            between = _COMMENT.sub("", scopes.text(inner.end, end)) if end - inner.end < _MAX_BETWEEN_BYTES else ""
            between = _TYPES.sub("", between) if self._bracketed else between
            between = _INDEX.sub("[]", _EXPLICIT_TYPES.sub(".", "".join(between.split()))).replace("?.", ".")
            if not _INDEXED_MEMBERS.fullmatch(between):
                return f"?.{scopes.text(start, end)}"
            if inner.result and len(inner.result) < _MAX_CALLEE_CHARACTERS:
                return f"{inner.result}{between}"
            if inner.made:
                return f"{inner.made}{between}"
            if inner.chain in ("", "?") or len(inner.chain) > _MAX_CALLEE_CHARACTERS:
                return f"?{between}"
            return f"{inner.chain}(){between}"
        if (receiver := scopes.receivers.get(call.start)) is not None:
            members = "".join(_INDEX.sub("[]", scopes.text(call.start, end)).split()).lstrip("?").removeprefix(".")
            on = self._cascades.get(receiver, "?")
            is_read = len(on) < _MAX_CALLEE_CHARACTERS and _INDEXED_MEMBERS.fullmatch(members)
            return f"{on}{members}" if is_read else f"?.{scopes.text(start, end)}"
        if end - call.start > _MAX_RECEIVER_BYTES:
            return f"?.{scopes.text(start, end)}"
        text = _EXPLICIT_TYPES.sub(".", scopes.spell_attributes(without_comments(scopes.text(call.start, end))))
        text = _TYPES.sub("", text) if self._bracketed else text
        cast = _CAST.match(text)
        if cast:
            closed = text.rfind(")", 0, start - call.start)
            rest = "".join(text[closed + 1 :].split())
            cast_type = type_name(cast[1].removeprefix("final "), scopes.settings.types)
            if cast_type and _MEMBERS.fullmatch(rest) and is_one_value(text, cast.end(), closed):
                return f"<{scopes.spell_current(cast_type)}>{rest}"
        default = self._default.match(text) if self._default is not None and text.startswith("(") else None
        if default:
            closed = text.rfind(")", 0, start - call.start)
            rest = "".join(text[closed + 1 :].split())
            if _MEMBERS.fullmatch(rest) and (first := chain_of(default[1], scopes.settings.types)):
                return f"{first}{rest}"
        if "[" in text and not scopes.settings.types.containers:
            indexed = _INDEX.sub("[]", "".join(text.split()))
            if _INDEXED.fullmatch(indexed):
                return indexed
        return chain_of(text, scopes.settings.types) or f"?.{scopes.text(start, end)}"


_TAG = re.compile(rb"[a-z][\w-]*[\s/>]")
_MAX_MESSAGE_BYTES = 4000  # bytes of a message that are read
_MAX_CHAIN_BYTES = 1000  # bytes of a chain that is called or used
_MAX_WAITING_BYTES = 8  # bytes of "(await " before a call that imports
_CHAIN = re.compile(rb"\.?[\w$]+(?:\s*\??\.\s*[\w$]+)*")
_CONSTANTS = re.compile(rb"\.?[A-Z]\w*(?:\s*\.\s*[A-Z]\w*)*")
_PATH = re.compile(rb"[\w$]+(?:(?:\s*\.\s*|::)[\w$]+)*")
# A pair of an object, or a type, and the name of a method; "::" may have been read as a dot.
_SENT = re.compile(r"(?:([\w@]+(?:\.\w+)*)&?\.)?(?:send|public_send|__send__|method|instance_method)\s*\(?\s*$")
_COUNTED = re.compile(r"([\w.]+[?!]?)\s*/\s*\d+")  # a function by the number of its arguments
_WRITTEN_TYPE = re.compile(r"(?<![\w.:])((?:[A-Z]\w*\.)*[a-z_]\w*)\(")
_PAIR = re.compile(
    r"""(?:\[|\w+\s*\()\s*(?:(?P<variable>\$\w+)|(?P<type>[\w\\.]+?)\s*(?:::|\.)\s*class)\s*,"""
    r"""\s*["'](?P<name>\w+)["'][\s,]*[\])]"""
)


class UseReader:
    """Reader of the captures of uses.

    `calls` is complete when the pass is. Call `references` after that.
    """

    def __init__(self, scopes: Scopes, named: BindingReader, modules: ImportReader, declared: BlockScopes) -> None:
        self.calls: list[Call] = []
        self.whole_calls = CallReader(scopes, self.calls)
        self.taken = -1  # start of the last name that is not a use
        self._scopes = scopes
        self._settings = scopes.settings
        self._named, self._modules, self._declared = named, modules, declared
        names, types, spell = scopes.settings.names, scopes.settings.types, scopes.spell_current
        self._prefixed, self._bare_calls = types.prefixed, names.bare_calls
        self._has_elements, self._sigil = bool(names.assigned_infixes), names.sigil.encode()
        self._has_blocks, self._rebinds = names.block_scopes, names.rebinding
        given = (lambda data, end: given_arguments(data, end, spell)) if names.dispatched else None
        self._read_given = typed_arguments if types.called_elements else given
        self._lists_arguments = types.listed or bool(types.literals and scopes.settings.modules.headers)
        self._is_never_overloaded = re.compile(scopes.settings.names.never_overloaded or "(?!)").fullmatch
        self._signs = frozenset(sign.encode() for sign in scopes.settings.names.name_suffixes)
        self._builtin_names = frozenset(scopes.settings.builtin_names)
        self._kept: list[Reference] = []  # where scopes are blocks, which uses are local is known at once
        self._call_starts: list[int] = []
        self._counted: list[tuple[int, int, int]] = []  # number, start and end of callees whose arguments are counted
        self.spans: list[tuple[int, int, int]] = []  # scope, start, end of names that may be uses
        self.passed_on: list[Reference] = []  # functions that are named in order to be called by others
        self.skipped_to = -1  # uses before this byte are not kept: they belong to a callee that was read whole, for one
        self.called = (-1, -1)  # the last callee
        self.plain_callee = -1  # start of the last invoked chain of names

    def skip(self, end: int) -> None:
        """Skip uses before this byte."""
        self.skipped_to = max(self.skipped_to, end)

    def references(self) -> list[Reference]:
        """Return the uses of names that this file defines or imports. Other names resolve to nothing."""
        if self._prefixed:
            return self._kept
        declared = {entry.alias or entry.module.partition(".")[0] for entry in self._modules.imports}
        declared.update((d.name for d in self._scopes.drafts), (n for n, _ in self._scopes.settings.modules.relative))
        names = self._scopes.settings.names
        separator = names.path_separator
        chains = _CONSTANTS if self._bare_calls else _PATH if separator and not names.name_separators else _CHAIN
        # Where files share a scope, a name that this file does not know may be another's; locals are left out before.
        filtered = not (names.block_scopes or self._settings.modules.shares_names)
        result = [*self.passed_on]
        for scope, start, end in self.spans:
            name = self._scopes.text(start, end)
            # `Self::open`; a `self` in front of a dot is an `Access`.
            own = separator and name in names.self_names and self._scopes.data.startswith(separator.encode(), end)
            if not filtered or own or name in declared:
                chain = self._chain_at(start, end, chains)
                if chain and chain not in names.self_names:
                    chain = chain.replace(separator, ".") if separator else chain
                    result.append(Reference(scope, self._scopes.in_opened(chain, start), self._scopes.row(start)))
        return result

    def _chain_at(self, start: int, end: int, chains: "re.Pattern[bytes]" = _CHAIN) -> str:
        matched = chains.match(self._scopes.data, start, max(end, start + _MAX_CHAIN_BYTES))
        chain = self._scopes.text(start, matched.end()) if matched else ""
        return chain if chain.isidentifier() else re.sub(r"[\s?]+", "", chain)

    def _keep(self, chain: str, start: int, row_at: int, given: tuple[str, str] | None = None) -> None:
        self.calls.append(Call(self._scopes.use_scope(), chain, self._scopes.row(row_at), *(given or ())))
        self._call_starts.append(start)

    def keep_call(self, scope: int, chain: str, start: int) -> None:
        """Record a call that is not written as one."""
        self.calls.append(Call(scope, chain, self._scopes.row(start)))
        self._call_starts.append(start)

    def on_call(self, start: int, end: int, tag: int) -> None:
        """Record a call by the chain of its callee."""
        is_array = self._lists_arguments and self._scopes.data[end : end + 2].lstrip()[:1] == b"*"  # `new T*[n]`
        is_head = start == self.taken or start < self.skipped_to or self._scopes.data[start - 1 : start] == b"@"
        if is_array or ((self._settings.names.clauses or self._settings.names.dispatched) and is_head):
            return  # it makes no T; the head of a definition and an attribute such as `@type` look like calls
        if self._has_elements and self._scopes.data[start - 1 : start] == b"<" and _TAG.match(self._scopes.data, start):
            self.skip(end)  # an element of HTML, whatever else has its name
            return
        self.called = (start, end)
        if end - start > _MAX_CHAIN_BYTES:  # only the end is decoded: chains of calls hold one another
            chain = last_of_chain(self._scopes.text(end - _MAX_NAME_BYTES, end))
        elif self._prefixed:
            chain = self._declared.chain_of(start, end)
        elif self._settings.shapes.sequences:
            chain = callee_of(self._scopes.text(start, end), self._settings.shapes)
        else:
            sign = self._scopes.data[end - 1 : end] in self._signs
            text = self._scopes.with_wanted_type(start, end - sign)
            chain = self._scopes.own_chain(chain_of(text, self._settings.types), start)
            if chain and sign:
                chain += self._scopes.text(end - 1, end)
        if chain and not (self._lists_arguments and self._scopes.data.startswith((b"*", b" *"), end)):  # new T*[n]
            is_listed = self._lists_arguments and not self._is_never_overloaded(chain)
            given = letters_and_values(self._scopes.data, end, self._settings.types) if is_listed else None
            given = self._read_given(self._scopes.data, end) if self._read_given is not None else given
            given = (arguments_by_space(self._scopes.data, end), "") if self._settings.names.applied else given
            self._keep(chain, start, max(end - 1, start), given)
            if self._settings.names.clauses:
                self._counted.append((len(self.calls) - 1, start, end))
            if not any(mark in chain for mark in "(?["):
                self.skip(end)

    def on_message(self, start: int, end: int, tag: int) -> None:
        """Record a message by the chain of its receiver and its selector."""
        text = self._scopes.text(start, min(end, start + _MAX_MESSAGE_BYTES))
        if (read := read_message(text, self._settings.types)) is not None:
            receiver, selector, _ = read
            chain = receiver if len(receiver) < _MAX_CALLEE_CHARACTERS else "?"
            self._keep(self._scopes.own_chain(f"{chain}.{selector}", start), start, start)

    def on_require_module(self, start: int, end: int, tag: int) -> None:
        """Bind a module that is used at once, as in `require("m").f()`, to a name of its own."""
        called = self._modules.on_require_module(start, end)
        if not called:
            return
        head, at = called
        for i in range(len(self.calls) - 1, -1, -1):
            if self._call_starts[i] < at - _MAX_WAITING_BYTES:
                break
            call = self.calls[i]
            if call.callee.startswith(f"{head}()"):
                alias = self._modules.name_inline(call.scope)
                self.calls[i] = call._replace(callee=alias + call.callee[len(head) + 2 :])

    def on_invoked_name(self, start: int, end: int, tag: int) -> None:
        """Record the name of the open call, and drop the names of its callee from the uses."""
        begin, chain = self.whole_calls.on_name(start, end, tag == Tag.INVOKED_TYPE)
        plain = chain and "(" not in chain and chain[0] not in "?<"
        self.plain_callee = begin if plain else -1
        # If every member of a type is a call, as in `User.find(1)`, callees are often inherited from outside.
        until = end if self._bare_calls else len(self._scopes.data)
        while self.spans and (begin if plain and not self._bare_calls else start) <= self.spans[-1][1] < until:
            self.spans.pop()  # the names of a chain that is called
        self.skip(end)

    def on_arguments(self, start: int, end: int, tag: int) -> None:
        """Begin the arguments of a call, and read the name before them if the call has none."""
        name = self.whole_calls.on_arguments(start, end)
        if name is not None:
            self.on_invoked_name(*name, Tag.INVOKED_NAME)

    def on_word(self, start: int, end: int, tag: int) -> None:
        """Record a single name that may be a call."""
        is_other = start in (self.taken, self._named.taken) or start < self.skipped_to
        if not is_other and self._modules.group is None:
            self.whole_calls.on_word(start, end)

    def finish(self) -> None:
        """Complete the calls. Bindings have to be known."""
        self.whole_calls.finish()
        names = {draft.name for draft in self._scopes.drafts} if self._counted else ()
        for number, start, end in self._counted:
            call, brackets = self.calls[number], self._scopes.data.startswith(b"(", end)
            if brackets or call.callee in names or "." in call.callee:
                arguments = arguments_at(self._scopes.data, start, end)
                self.calls[number] = Call(call.scope, call.callee, call.row, arguments)
        self.calls += self.whole_calls.words({(b.scope, b.target) for b in self._named.bindings})

    def on_further(self, start: int, end: int, tag: int) -> None:
        """Record arguments after the argument list of a call, or in place of it."""
        if not self.whole_calls.on_further(start, end):
            if not self.whole_calls.is_listed():
                self.on_arguments(start, end, Tag.CALL_ARGUMENTS)
            self.whole_calls.on_argument(start, end, Tag.CALL_ARGUMENT)

    def on_out(self, start: int, end: int, tag: int) -> None:
        """Bind a variable that a call sets to what the parameter in its place is of."""
        call = self.whole_calls.open_call()
        if call is None or not call.spelled:
            return
        on, _, method = call.spelled.rpartition(".")
        is_element = method in self._settings.types.setting
        value = element_of(on) if is_element else f"{call.spelled}.{PLACE}{len(call.arguments) - 1}"
        self._named.tell(start, value)

    def on_lambda(self, start: int, end: int, tag: int) -> None:
        """Open a function without a name, which declares names for itself."""
        self.whole_calls.on_lambda(start, end)
        self._declared.open_region(end)

    def on_callable(self, start: int, end: int, tag: int) -> None:
        """Record a function or method that is passed as a value."""
        text = self._scopes.text(start, min(end, start + _MAX_CHAIN_BYTES))
        if self._settings.names.name_separators:
            text = text.replace(" .", "::")  # as such a separator is read
        if self._settings.names.object_first:  # `@a.b`
            text = "::".join(filter(None, text.removeprefix("@").strip().rpartition(".")[::2]))
        counted = _COUNTED.fullmatch(text)
        if counted:
            self._hand_on(counted[1], start, end)
            return
        pair = _PAIR.fullmatch(text)
        receiver, name = pair.group("variable", "name") if pair else text.rpartition("::")[::2]
        if pair and receiver is None:
            receiver = pair["type"]
        chain = type_name(receiver, self._settings.types) or chain_of(receiver)
        if not chain and (bare := text.lstrip(" .:")).isidentifier():  # `::f`, which may have been read with a dot
            self.passed_on.append(Reference(self._scopes.use_scope(), bare, self._scopes.row(start)))
        if chain:
            whole = f"{self._scopes.spell_current(chain)}::{name.strip()}"
            self.passed_on.append(Reference(self._scopes.use_scope(), whole, self._scopes.row(start)))

    def on_symbol(self, start: int, end: int, tag: int) -> None:
        """Record a method that is named by a symbol: called by `send` and `&:m`, else handed on to a macro."""
        name = self._scopes.text(start, end).lstrip(":&").strip("\"'")
        before = self._scopes.text(max(0, start - _MAX_NAME_BYTES), start)
        sent = _SENT.search(before)
        scope, row = self._scopes.use_scope(), self._scopes.row(start)
        if sent is not None:
            receiver = sent[1] or ""
            self.keep_call(scope, f"{receiver}.{name}" if receiver and receiver != "self" else name, start)
        elif before.endswith("&"):
            self.keep_call(scope, f"?.{name}", start)
        else:
            self.passed_on.append(Reference(scope, f"{self._settings.names.self_names[0]}::{name}", row))

    def on_types(self, start: int, end: int, tag: int) -> None:
        """Record types that are written like calls."""
        for named in _WRITTEN_TYPE.finditer(self._scopes.text(start, end)):
            self._hand_on(named[1], start, end)

    def _hand_on(self, chain: str, start: int, end: int) -> None:
        self.passed_on.append(Reference(self._scopes.use_scope(), chain, self._scopes.row(start)))
        self.skip(end)

    def on_macro(self, start: int, end: int, tag: int) -> None:
        """Record the call of a macro."""
        chain = chain_of(self._scopes.text(start, min(end, start + _MAX_NAME_BYTES)))
        if chain and start >= self.skipped_to:
            self._keep(f"{chain}!", start, start)
            self.skip(end)

    def on_token_call(self, start: int, end: int, tag: int) -> None:
        """Record a call among unparsed tokens."""
        first, chain = callee_before(self._scopes.data, start)
        if not chain or first < self.skipped_to:
            return
        while self.spans and self.spans[-1][1] >= first:
            self.spans.pop()
        given = letters_and_values(self._scopes.data, start, self._settings.types) if self._lists_arguments else None
        if self._lists_arguments and chain.startswith("?.") and (made := made_before(self._scopes.data, first)):
            chain = f"{made}(){chain[1:]}"
        self._keep(self._scopes.own_chain(chain, first), start, start, given)
        self.skip(start)

    def _on_scoped_reference(self, start: int, end: int) -> None:
        data, declared = self._scopes.data, self._declared
        if start in (self.taken, declared.taken) or start < self.skipped_to or self._modules.group is not None:
            return
        if start and data[start - 1] == 46 and data[start - 3 : start] != b"...":
            return
        name = self._scopes.text(start, end)
        # A member of a local name is kept where it is handed on: a method that other code will call.
        handed_on = start == declared.handed_on and data[end : end + 1] == b"."
        if handed_on or not (name in self._builtin_names or declared.is_local(name, start)):
            chain = declared.spell(self._chain_at(start, end), start)
            if chain:
                self._kept.append(Reference(self._scopes.use_scope(), chain, self._scopes.row(start)))

    def on_reference(self, start: int, end: int, tag: int) -> None:
        """Record a name that may be a use."""
        if self._prefixed:
            self._on_scoped_reference(start, end)
            return
        if start < self.skipped_to or start in (self.taken, self._named.taken) or self._modules.group is not None:
            return
        scopes, data = self._scopes, self._scopes.data
        before = data[start - 1] if start else 0
        if before == 46 or (before == 58 and start > 1 and data[start - 2] == 58):  # "." or "::"
            return  # a member of the chain before
        if self._sigil:
            if data.endswith(self._sigil, 0, start):
                return  # a variable
            if self.spans and self.spans[-1][1] == start:
                return  # the first part of a name that was captured whole
        name = ""
        if self._has_blocks:
            name = scopes.text(start, end)
            if scopes.local_names.is_declared(name, scopes.frames):
                return
        if data.startswith(b"=", end) and not data.startswith((b"==", b"=>"), end):
            return  # the name of a keyword argument
        if self._rebinds and scopes.own_chain(name := name or scopes.text(start, end), start) != name:
            return  # a variable
        self.spans.append((scopes.use_scope(), start, end))
