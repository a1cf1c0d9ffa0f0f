"""Whole calls, in grammars without a callee node: their captures in, `Call` facts out.

The receiver is often the call that was just read; its chain is known, so that a long chain costs no more than its
parts. Arguments are counted, and literals among them noted, which distinguishes overloads.
"""

import re
from collections.abc import Container, Iterator

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.model.facts import MODULE_SCOPE, OPERATED, UNCOUNTED, ArgumentKind, Call
from causalist.model.language_settings import LanguageSettings
from causalist.model.type_notation import (
    BEHIND,
    GIVEN,
    OWN_OBJECT,
    PLACE,
    element_of,
    given_by,
    split_top,
    typed_value,
    types_given,
)
from causalist.parse.syntax.argument_forms import is_one_value, letter_of, typed_argument
from causalist.parse.syntax.arguments import (
    letter_of_lambda,
)
from causalist.parse.syntax.chains import array_type_name, chain_of, type_name, with_constructor_call
from causalist.parse.syntax.imports import without_comments
from causalist.parse.syntax.open_scopes import Scopes
from causalist.parse.syntax.shadowed_names import OpenLambda

_MAX_NAME_BYTES = 200
# Types may be said behind it; `A<B>.c<D>` ends with c.
_LAST_NAME = lazy_regex(
    rb"([\w$\x80-\xff]++[?!]?)\s*+"
    rb"(?:<(?:[\w\s.,?\[\]]|<(?:[\w\s.,?\[\]]|<(?:[\w\s.,?\[\]]|<[\w\s.,?\[\]]*+>)*+>)*+>)*+>\s*+)?$"
)
_GIVEN = lazy_regex(rb"\s*=(?![=~>])")  # after a member that gets a value
_LAST_BEFORE_TYPES = lazy_regex(rb"([\w$\x80-\xff]++)\s*+(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s*$")
_TYPES = lazy_regex(r"(?<!asInstanceOf)\[(?:[^\[\]]|\[[^\[\]]*\])*\]")
_MAX_RECEIVER_BYTES = 400  # bytes of a receiver that are read
_MAX_CALLEE_CHARACTERS = 600  # characters of a chain that is kept whole
_MAX_BETWEEN_BYTES = 2000  # bytes between a call and the next one in a chain: spaces and remarks
_COMMENT = lazy_regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MEMBERS = lazy_regex(r"(?:\.[^\W\d][\w$]*)+")
_INDEX = lazy_regex(r"\[[^\[\]\"']*\]")
_ANY_INDEX = lazy_regex(r"\[[^\[\]]*\]")
_INDEXED = lazy_regex(r"(?:[\w$]+\.)*[\w$]+(?:\[\])+(?:\.[\w$]+(?:\[\])*)*\.[\w$]+")
_INDEXED_MEMBERS = lazy_regex(r"(?:\[\])*(?:\.[^\W\d][\w$]*(?:\[\])*)*\.[^\W\d][\w$]*")
_EXPLICIT_TYPES = lazy_regex(r"\.\s*<[\w\s.,<>?&\[\]]*>\s*(?=[^\W\d])")
_UNKNOWN_PART = lazy_regex(r"[,?<>]")  # in a chain of which nothing is known
_TYPES_BEHIND = lazy_regex(rb"\s*<((?:[\w\s.,?\[\]()]|<(?:[\w\s.,?\[\]()]|<[^<>;{}]*>)*>)+)>\s*\(")
_WRITTEN_TYPES = lazy_regex(r"<.*>")
_GENERIC = lazy_regex(r"([\w.]+)<(.*)>((?:\[\])?)")  # and an array of such
_TYPE_ARGUMENTS = lazy_regex(rb"<(.*)>\s*$", re.DOTALL)
_LISTED = lazy_regex(rb"\((?:[^()]|\([^()]*\))*\)")  # the same where no arrow need follow
_PARAMETERS = lazy_regex(rb"""\{?[^{}"';=|&-]*+[-=]>""")  # of a lambda
_STATEMENT = lazy_regex(rb"(?:[{;\n]|[-=]>|\breturn)\s*$")  # before the last expression of a lambda
_LAST_STATEMENT = lazy_regex(rb"(?:[{;\n]|[-=]>|\breturn\b)[ \t]*([\w$.?!]++)[\s;})]*$")
_LABEL = lazy_regex(r"\s*(\w+|`\w+`)\s*:(?!:)\s*")  # before an argument
# Before a member of a type that is not named: what says the type.
_TYPED = lazy_regex(rb":\s*\[?([\w.]+)[?!\]]*\s*=\s*(?:try[?!]?\s+)?$")
_SET = lazy_regex(rb"(?<![\w.)\]?!])((?:\w+[?!]?\.)*\w+)\s*[=!]?=\s*(?:try[?!]?\s+)?$")
# Before the body of a lambda that has its parameters inside.
_BEFORE_IN = lazy_regex(
    rb"\{\s*(?:@\w++\s*+)*+(?:\[[^\[\]{}]*\]\s*)?(?:\((?:[^(){}]|\([^(){}]*\))*\)|\w+(?:\s*,\s*\w+)*)"
    rb"(?:\s*async)?(?:\s*throws)?(?:\s*->[^{}\n]*?)?\s+in\b"
)
_CAST = lazy_regex(r"\(\s*\(\s*((?:final\s+)?[^\W\d][\w.$]*(?:\s*<[\w\s.,<>?&\[\]]*>)?)\s*\)(?=[\s\w(\"'$])")

# Functions of Python, and the special methods of what they are given that they run.
_METHODS_OF_FUNCTIONS = {
    **{name.encode(): (f"__{name}__",) for name in (
        "len", "str", "repr", "bool", "iter", "next", "hash", "bytes", "int", "float", "abs", "reversed", "dir",
        "round", "copy", "deepcopy",
    )},
    **dict.fromkeys((
        b"list", b"tuple", b"set", b"frozenset", b"sorted", b"sum", b"any", b"all", b"enumerate", b"zip", b"max",
        b"min",
    ), ("__iter__",)),
    b"print": ("__str__",),
}  # fmt: skip
_METHODS_OF_SIGNS = {
    b"+": "add", b"-": "sub", b"*": "mul", b"/": "truediv", b"//": "floordiv", b"%": "mod", b"**": "pow",
    b"@": "matmul", b"&": "and", b"|": "or", b"^": "xor", b"<<": "lshift", b">>": "rshift",
    b"==": "eq", b"!=": "ne", b"<": "lt", b"<=": "le", b">": "gt", b">=": "ge",
}  # fmt: skip
_WORD_AT_END = re.compile(rb"[a-z]+$")
_MAY_BEGIN = frozenset(b"+-*/%@&|^<>=!ao")  # a sign or word behind a space
# The last two bytes of what is read before a space, and before a bracket.
_WORD_ENDS = frozenset((b"if", b"le", b"ot", b"in", b"th", b"om", b"rt", b"el"))
_FUNCTION_ENDS = frozenset(name[-2:] for name in _METHODS_OF_FUNCTIONS)
_SIGN_BEHIND = re.compile(rb" (\*\*|//|<<|>>|[-+*/%@&|^])(=?) | ([=!]=|[<>]=?) ")
_WORD_BEFORE = re.compile(rb"(?<![\w.])(if|elif|while|not|in|with|from|assert|del) $")
_ITERATING = re.compile(rb"\bfor\s+(?:(?!\bin\b|\bif\b)[^\n:])+\bin $")
_ASYNC = re.compile(rb"\basync (?:with|for\b[^\n:]*) $")
_TESTED_UNTIL = re.compile(
    rb"[:),]?\n|: *[#\w]|\)| (?:and|or|else|for|if)\b"
)  # behind what a condition is made of alone
_ALSO_TESTED = (b" and ", b" or ")
_OPERAND_BEHIND = re.compile(rb"(?:[-=<>+*/%&|^@]|\b(?:in|is|not)) $")  # the end of another operation
_FORMATTED = re.compile(rb"\b[rR]?[fF][rR]?[\"'][^\n]*\{$")
_FORMAT_ENDS = re.compile(rb"(![rsa])?[}:]")
_GIVEN_BEHIND = re.compile(rb"\]\s*(?:(=)(?!=)|(?:[-+*/%@&|^]|\*\*|//|<<|>>)(=))?")
_HEAD = re.compile(r"\w*(?:\(\))?")
_MAX_INDEX_BYTES = 200
_MAX_BEFORE_BYTES = 160


def parameter_type(annotation: str, settings: LanguageSettings) -> str:
    """Return the type of a parameter without its types in "<>", unless these tell overloads apart."""
    written, is_function = "".join(annotation.split()), False
    plain = written.rstrip("?")
    text = (_WRITTEN_TYPES.sub("", written) if "<" in written else written).rstrip("?")
    if text in settings.lambdas.types and "." not in written:
        text, is_function = array_type_name(annotation, settings.types), True
    if settings.types.functions and "{" not in text and (generic := _GENERIC.fullmatch(plain)):
        types = [_WRITTEN_TYPES.sub("", each).rstrip("?") for each in split_top(generic[2], ",")]
        return f"{generic[1]}{{{','.join([''] * len(types) if is_function else types)}}}{generic[3]}"
    return text


@dataclass(slots=True)
class _Invocation:
    """Call whose arguments are not complete. `position` is its index in the calls, -1 before its name."""

    start: int
    end: int
    position: int = -1
    chain: str = ""
    arguments: str = ""
    values: list[str] = field(default_factory=list)  # chains of the arguments that are "?"
    labels: list[str] = field(default_factory=list)  # of the arguments, "_" for those without one
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
    n_types: int = 0  # type arguments behind its name


class CallReader:
    """Reader of the captures of whole calls. Call `finish` once when the pass is complete."""

    def __init__(self, scopes: Scopes, calls: list[Call]) -> None:
        self._scopes = scopes
        self._calls = calls
        self._curried = scopes.settings.names.curried
        self._has_literal_overloads = bool(scopes.settings.types.literals)
        self._has_typed_functions = ArgumentKind.FUNCTION in dict(scopes.settings.types.literals)
        self._casts_before = scopes.settings.types.before_names and self._has_literal_overloads
        self._gives_types = scopes.settings.types.generic and bool(scopes.settings.lambdas.types)
        self._bracketed, self._labeled = scopes.settings.types.bracketed, scopes.settings.names.labeled
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
        before = self._scopes.data[call.start - 1 : start]
        if self._labeled and before[:1].isspace() | (before[:1] in b"([:,?") and before[1:].strip() == b".":
            self._give_implicit(call, start, end, scope)
            return
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
        is_generic = self._gives_types and not is_type and self._scopes.data.startswith(b"<", end)
        if is_generic and (types := _TYPES_BEHIND.match(self._scopes.data, end)):
            self._read_types(call, ".".join(chain.split(".")[-2:]), types[1].decode("utf-8", "replace"))
        self._named.add(start)
        if chain:
            call.position = len(self._calls)
            call.spelled = self._scopes.spell_current(chain)
            self._calls.append(Call(scope, call.spelled, self._scopes.row(start), ""))

    def _read_types(self, call: _Invocation, name: str, types: str) -> None:
        """Count the type arguments of a call, the only one of which may be the type of what it gives."""
        several = split_top(types, ",")
        call.n_types = len(several)
        own = self._scopes.settings.types
        type_ = given_by(name, type_name(types.strip(), own), own.giving) if len(several) == 1 else ""
        call.made = typed_value(type_) if type_ else ""

    def _give_implicit(self, call: _Invocation, start: int, end: int, scope: int) -> None:
        """Name a call that begins with a dot: the type is said by what takes its result."""
        scopes = self._scopes
        before, on = scopes.data[max(0, call.start - _MAX_NAME_BYTES) : call.start], ""
        inside = next((each for each in reversed(self._open[:-1]) if each.is_lambda or each.has_arguments), None)
        own = [self._lists.pop()] if self._lists and self._lists[-1][1] is call else []
        while self._lists and self._lists[-1][0] <= call.start:
            self._lists.pop()
        outer = self._lists[-1][1] if self._lists else None
        self._lists += own
        if found := _TYPED.search(before):
            on = f"<{scopes.spell_current(found[1].decode())}>"
        elif found := _SET.search(before):
            on = scopes.spell_current(chain_of(found[1].decode(), scopes.settings.types))
        elif outer is not None and outer is inside and outer.spelled and outer.labels:
            place = len(outer.labels) - 1
            on = f"{outer.spelled}.{PLACE}{place}={outer.labels[place]}"
        elif inside is None and scope >= 0 and (returns := scopes.drafts[scope].returns.removesuffix("[]")):
            on = f"<{returns}>"
        call.chain = f"{on if len(on) < _MAX_CALLEE_CHARACTERS else ''}.{scopes.text(start, end)}"
        call.spelled = call.chain
        call.position = len(self._calls)
        self._named.add(start)
        self._calls.append(Call(scope, call.spelled, scopes.row(start), ""))

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
            is_own = (self._labeled and (on in names or len(call.arguments) > 1)) or (
                bool(own.types) and "." not in call.spelled
            )
            if method in settings.types.callback_methods and not is_own:  # what the type holds is not known
                argument, is_paired = element_of(on), method in own.pairing
            elif method in own.handing:
                argument = on
            elif method in own.receiving:
                receiver = on
            elif method in own.receiving_first:
                receiver = call.values[0] if call.values else ""
            elif own.implicit and (self._labeled or method not in settings.builtin_methods or "." in on):
                argument, receiver = f"{call.spelled}.{GIVEN}", f"{call.spelled}.{OWN_OBJECT}"
                receiver = "" if self._labeled else receiver
            elif own.types:
                argument = f"{call.spelled}.{PLACE}{len(call.arguments) - 1}{GIVEN}"
        elif call is None and settings.lambdas.types and scope >= 0:
            argument = scopes.local_names.returned_lambda(scopes.data, start, scopes.drafts[scope].returns)
        if self._labeled and scopes.data.find(b"$1", start, min(end, start + _MAX_BETWEEN_BYTES)) >= 0:
            argument = ""  # of several the first is meant
        parameters = _BEFORE_IN if self._labeled else _LISTED if settings.lambdas.blocks else _PARAMETERS
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
        call.values, call.labels = call.values or inner.values, call.labels or inner.labels
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
            if self._labeled:
                label = _LABEL.match(text)
                before = self._scopes.data[max(0, start - 40) : start].rstrip()[-1:]
                behind = text.startswith("{") and before not in (b"(", b",")  # the other arguments
                call.labels.append(label[1].strip("`") if label else BEHIND if behind else "_")
                start += len(text[: label.end()].encode()) if label else 0
                text = text[label.end() :] if label else text
            letter = letter_of(text, with_arrows=self._has_typed_functions, with_words=has_words)
            if letter == ">" and self._scopes.settings.types.functions:
                letter = letter_of_lambda(self._scopes.text(start, min(end, start + 2000)))
            call.arguments += letter
            is_first = self._dispatches and len(call.arguments) == 1  # which decides what a method is of
            has_overloads = self._has_literal_overloads or self._labeled
            if (letter == "?" and has_overloads and not call.is_constructor) or is_first:
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
                    values=self._written_values(call),
                )

    def _written_values(self, call: _Invocation) -> str:
        """Return `Call.values`."""
        several = [*call.values, types_given(call.n_types)] if call.n_types else call.values
        values = ",".join(several) if any(several) else ""
        return f"{values}|{','.join(call.labels)}" if call.labels else values

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
            between = between.replace("[]", "") if scopes.settings.types.indexed else between
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
            while scopes.settings.types.indexed and (shorter := _ANY_INDEX.sub("", indexed)) != indexed:
                indexed = shorter
            if _INDEXED.fullmatch(indexed) or (scopes.settings.types.indexed and _MEMBERS.fullmatch(f".{indexed}")):
                return indexed
        return chain_of(text, scopes.settings.types) or f"?.{scopes.text(start, end)}"


class OperandReader:
    """Reader of the operators, statements and builtins of Python that call special methods of a chain: `len(a.b)`.

    It reads the characters around the chain, which costs less than more captures or a walk of the tree.
    """

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._rows: dict[tuple[int, str], int] = {}  # scope and callee -> first row

    def calls_on(self, heads: Container[str], bound: Container[tuple[int, str]]) -> Iterator[Call]:
        """Yield the recorded calls whose chains begin with one of `heads`, or with a name `bound` in a scope around."""
        drafts = self._scopes.drafts
        for (scope, callee), row in self._rows.items():
            head = _HEAD.match(callee)[0]  # type: ignore[index]
            name = head.removesuffix("()")
            around = scope
            while (is_known := head in heads or name in heads or (around, name) in bound) is False and around >= 0:
                around = drafts[around].parent
            if is_known:
                yield Call(scope, callee, row, OPERATED)

    def read(self, start: int, end: int) -> None:
        """Record the special methods that the characters around a chain call."""
        data = self._scopes.data
        behind = data[end] if end + 1 < len(data) else 10
        if behind in b".(":
            return  # the chain goes on
        if behind == 91:
            self._keep(start, end, self._methods_of_index(start, end))
            return  # what stands before is for the element
        if behind == 32 and data[end + 1] in _MAY_BEGIN and data[end + 1 : end + 3] != b"= ":
            if (sign := _SIGN_BEHIND.match(data, end)) is not None:
                name = _METHODS_OF_SIGNS[sign[1] or sign[3]]
                self._keep(start, end, (f"__i{name}__" if sign[2] else f"__{name}__",))
                return
            if data.startswith(_ALSO_TESTED, end) and not _OPERAND_BEHIND.search(data, max(0, start - 5), start):
                self._keep(start, end, ("__bool__",))
                return
        before = data[start - 1] if start else 10
        if before == 32:
            may_run = data[start - 3 : start - 1] in _WORD_ENDS
        elif before == 40:
            may_run = behind in b"),\n" and data[start - 3 : start - 1] in _FUNCTION_ENDS
        else:
            may_run = start > 1 and before in b"{*"
        if may_run and (methods := self._methods_before(start, end)):
            self._keep(start, end, methods)

    def read_result(self, start: int, chain: str) -> None:
        """Record the special methods of what a call of a chain returns."""
        data = self._scopes.data
        before, ends = data[start - 1] if start > 2 else 10, data[start - 3 : start - 1]
        if (before == 40 and ends in _FUNCTION_ENDS) or (before == 32 and ends in _WORD_ENDS):
            methods = self._methods_before(start, -1)
            scope = self._scopes.use_scope() if methods else -1
            for method in methods:
                self._rows.setdefault((scope, f"{chain}().{method}"), self._scopes.row(start))

    def _keep(self, start: int, end: int, methods: tuple[str, ...]) -> None:
        if not methods:
            return
        scopes = self._scopes
        chain, scope = scopes.own_chain(scopes.text(start, end), start), scopes.use_scope()
        for method in methods:
            self._rows.setdefault((scope, f"{chain}.{method}"), scopes.row(start))

    def _methods_of_index(self, start: int, end: int) -> tuple[str, ...]:
        data = self._scopes.data
        depth, place, last = 0, end, min(len(data), end + _MAX_INDEX_BYTES)
        while place < last:
            depth += (data[place] in b"[({") - (data[place] in b"])}")
            if not depth:
                break
            place += 1
        given = _GIVEN_BEHIND.match(data, place)
        if given is not None and given[1]:
            return ("__setitem__",)
        if given is not None and given[2]:
            return ("__getitem__", "__setitem__")
        return ("__delitem__",) if data[max(0, start - 4) : start] == b"del " else ("__getitem__",)

    def _methods_before(self, start: int, end: int) -> tuple[str, ...]:
        """Return the methods that the word or bracket before a chain calls; `end` is -1 for the result of a call."""
        data = self._scopes.data
        first = max(0, start - _MAX_BEFORE_BYTES)
        behind = data[end : end + 1] if end >= 0 else b")"
        if data[start - 1] == 40:
            if behind not in b"),\n" or (named := _WORD_AT_END.search(data[max(0, start - 12) : start - 1])) is None:
                return ()
            is_member = data[start - 2 - len(named[0])] == 46 and named[0] not in (b"copy", b"deepcopy")
            return () if is_member else _METHODS_OF_FUNCTIONS.get(named[0], ())
        if data[start - 1] == 123:
            ends = _FORMAT_ENDS.match(data, end) if end >= 0 else None
            if ends is None or not _FORMATTED.search(data, data.rfind(b"\n", first, start) + 1, start):
                return ()
            return ("__repr__" if ends[1] == b"!r" else "__str__",)
        if data[start - 1] == 42:
            return ("__iter__",) if start > 1 and data[start - 2] in b"(,[ " and behind in b"),]" else ()
        word = _WORD_BEFORE.search(data, start - 8 if start > 8 else 0, start)
        if word is None:
            return ()
        line = data.rfind(b"\n", first, start) + 1
        if word[1] == b"with":
            return ("__aenter__",) if _ASYNC.search(data, line, start) else ("__enter__",)
        if word[1] == b"in":
            if _ITERATING.search(data, line, start):
                return ("__aiter__",) if _ASYNC.search(data, line, start) else ("__iter__",)
            return ("__contains__",)
        if word[1] == b"from":
            return ("__iter__",) if data.startswith(b"yield", start - 11 if start > 11 else 0) else ()
        is_alone = end >= 0 and word[1] != b"del" and _TESTED_UNTIL.match(data, end) is not None
        return ("__bool__",) if is_alone else ()
