"""Names of variables: how often a function declares one, and which of these declarations a use means.

Rebinding (`let x = x.trim();`): each variable of a definition gets a name of its own, `x'1`, `x'2`, in bindings and at
the head of chains. Readers of facts need no positions. A variable is visible from the end of the statement that binds
it to the end of the enclosing block. A name without a variable stays: it means a definition.

Opened modules (`M.(f x)`, `let open M in f x`) are regions as well: a name there is what the innermost of them has,
unless the region declares it.

Lambdas and checks (`x.let { it.run() }`, `if (x is A)`) are regions: what they declare is not visible behind them. The
parameter that a lambda need not declare, and the object that it has as its own, are bindings of their own, made when
they are used first.

Keys of references (`$a->{b}`) are spelled as members, so that chains read them as attributes.

The object of a method may be a parameter (MATLAB): which one it is, and of what type, the head of the method says.

Declarative regions (`package P is … end P;`): several blocks of a function may declare one name, and a name may be
overloaded. The types of what is declared, and of what a call is given, are written down to tell which is meant.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cache
from typing import Protocol

from tree_sitter import Node

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.model.facts import MODULE_SCOPE, Binding, FileFacts
from causalist.model.language_settings import LanguageSettings
from causalist.model.node_ids import NodeKind
from causalist.model.type_notation import LAMBDA_VALUE, RETURNED, split_generic

_SET = lazy_regex(rb"\s*=")
_DECLARES = lazy_regex(rb"\b(?:const|var)\s+\Z")
_MAX_WORD_BYTES = 40  # bytes of `const` and what is around it
_RETURN = lazy_regex(rb"\breturn\s*\Z")
_MAX_RECEIVERS = 32  # lambdas around a name whose objects may have it; real code nests fewer
_HEAD, _FIRST_NAME = lazy_regex(r"[\w$]+"), lazy_regex(r"[^\W\d][\w']*")
_DECLARED = lazy_regex(rb"(?<![\w.'])(?:[a-z_]|[^\x00-\x7f])(?:[\w']|[^\x00-\x7f])*|^[A-Z][\w']*")
_MAX_OPENED = 32  # modules around a name, or its declarations before: real code has fewer


@dataclass(slots=True)
class ShadowedNames:
    """Variables of a file that may be bound again. Positions are bytes and rise from call to call."""

    _blocks: list[int] = field(default_factory=list)  # ends of the blocks that are open
    _statement_end: int = -1
    _variables: dict[tuple[int, str], list[tuple[int, int, str]]] = field(default_factory=dict)  # from, to, own name

    def on_block(self, start: int, end: int) -> None:
        """Open a block."""
        while self._blocks and self._blocks[-1] <= start:
            self._blocks.pop()
        self._blocks.append(end)

    def on_statement(self, end: int) -> None:
        """Record the end of a statement that binds: its variables are visible from there."""
        self._statement_end = end

    def bind(self, scope: int, name: str, start: int, scope_end: int) -> str:
        """Return the own name of a variable bound at `start` in definition `scope`, which ends at `scope_end`."""
        while self._blocks and self._blocks[-1] <= start:
            self._blocks.pop()
        until = min(self._blocks[-1], scope_end) if self._blocks else scope_end
        since = self._statement_end if start < self._statement_end <= until else start
        variables = self._variables.setdefault((scope, name), [])
        own = f"{name}'{len(variables) + 1}"
        variables.append((since, until, own))
        return own

    def postpone(self, scope: int, own: str, since: int) -> None:
        """Make the last variable visible only from `since` on, not to the expression after its name."""
        variables = self._variables.get((scope, own.partition("'")[0]))
        if variables and variables[-1][2] == own:
            variables[-1] = (since, variables[-1][1], own)

    def own_name(self, scope: int, name: str, position: int) -> str:
        """Return the own name of the variable `name` at `position` in `scope`, or `name` if there is none."""
        for since, until, own in reversed(self._variables.get((scope, name), ())):
            if since <= position < until:
                return own
        return name

    def set_name(self, scope: int, name: str, start: int, end: int, data: bytes) -> str:
        """Return the own name of a variable that is given a further value, or "" for one that is declared.

        `start` and `end` are those of the name. One that is not of `scope` keeps its name.
        """
        is_set = _SET.match(data, end) and not _DECLARES.search(data, max(0, start - _MAX_WORD_BYTES), start)
        return self.own_name(scope, name, start) if is_set else ""

    def own_chain(self, scope: int, chain: str, position: int) -> str:
        """Return a chain with its first name as the own name of the variable."""
        if not self._variables:
            return chain
        head, dot, rest = chain.partition(".")
        bare = head.rstrip("()")
        own = self.own_name(scope, bare, position)
        return chain if own == bare else f"{own}{head[len(bare) :]}{dot}{rest}"


@dataclass(slots=True)
class OpenedModules:
    """Modules that a file opens for a part of an expression, and the names that are declared in these parts.

    Positions rise from call to call, but for those of `spell`.
    """

    _starts: list[int] = field(default_factory=list)
    _regions: list[tuple[int, int, int]] = field(default_factory=list)  # end, number of the one around or -1, depth
    _blocks: list[tuple[int, int]] = field(default_factory=list)  # start and end of the blocks that are open
    # (region, name) -> start of the pattern, and from where to where the name is visible
    _names: dict[tuple[int, str], list[tuple[int, int, int]]] = field(default_factory=dict)
    _pattern_end: int = -1  # of the last pattern between `let` and its value
    _recursive: dict[int, bool] = field(default_factory=dict)  # end of a block -> its last `let` is recursive

    def on_block(self, start: int, end: int) -> None:
        """Open an expression behind which its names are not visible."""
        while self._blocks and self._blocks[-1][1] <= start:
            self._blocks.pop()
        self._blocks.append((start, end))

    def on_pattern(self, data: bytes, start: int, end: int) -> None:
        """Hide members of the opened modules that a pattern declares; those of a `let` are not visible in its value."""
        region = self._region_at(start)
        if region < 0 or start < self._pattern_end:
            return
        while self._blocks and self._blocks[-1][1] <= start:
            self._blocks.pop()
        since, until, blocks = start, self._regions[region][0], self._blocks
        if blocks and blocks[-1][0] == start:
            self._pattern_end = end
            around = blocks[-2][1] if len(blocks) > 1 else -1
            before = data[max(0, start - 40) : start].split()[-1:]
            if before != [b"and"]:
                self._recursive[around] = before == [b"rec"]
            since = start if self._recursive.get(around) else blocks[-1][1]
            until = min(until, around) if around >= 0 else until
        elif blocks:
            until = min(until, blocks[-1][1])
        for name in _DECLARED.findall(data, start, end):
            self._names.setdefault((region, name.decode("utf-8", "replace")), []).append((start, since, until))

    def open(self, start: int, end: int) -> int:
        """Return the number of the region from `start` to `end` in which the names of a module are visible, or -1."""
        around = self._region_at(start)
        depth = self._regions[around][2] + 1 if around >= 0 else 0
        if depth == _MAX_OPENED:
            return -1
        self._starts.append(start)
        self._regions.append((end, around, depth))
        return len(self._regions) - 1

    def spell(self, chain: str, position: int) -> str:
        """Return a chain with the numbers of the opened modules before it of which its first name may be a member."""
        region = self._region_at(position)
        head = _FIRST_NAME.match(chain) if region >= 0 else None
        if head is None:
            return chain
        keys = ""
        while region >= 0:
            declared = self._names.get((region, head[0]), [])
            last = bisect_right(declared, (position, position, position))
            if any(since <= position < until for _, since, until in declared[max(0, last - _MAX_OPENED) : last]):
                break
            keys += f"{LAMBDA_VALUE}{region}"
            region = self._regions[region][1]
        return f"{keys}.{chain}" if keys else chain

    def _region_at(self, position: int) -> int:
        region = bisect_right(self._starts, position) - 1
        while region >= 0 and self._regions[region][0] <= position:
            region = self._regions[region][1]
        return region


@dataclass(slots=True)
class OpenLambda:
    """Function without a name while it is open.

    `argument` is the value of its parameter, `receiver` that of the object whose members its body names, each "" where
    it is not known. `arrow` is the end of its parameters, -1 if it declares none.
    """

    end: int
    scope: int
    row: int
    arrow: int
    argument: str
    receiver: str
    is_paired: bool = False  # each of its parameters gets the argument, not the last alone
    name: str = ""  # of the binding of its parameter
    key: str = ""  # of the binding of its receiver


class OpenDefinition(Protocol):
    """Definition that is open; `index` is its scope."""

    index: int


class LocalNames:
    """Declarations of local names in a file so far, and the lambdas and checks that are open."""

    def __init__(self, settings: LanguageSettings) -> None:
        self.regions: list[int] = []  # ends of the open lambdas and checks
        self.lambdas: list[OpenLambda] = []
        self.bindings: list[Binding] = []  # of what lambdas get and give
        self.awaited: dict[tuple[int, int], list[int]] = {}  # values that are calls with lambdas -> their bindings
        self.results: list[tuple[list[int], str]] = []  # of those: bindings and the chain
        self._names = settings.names
        self._implicit = settings.lambdas.implicit
        self._function_types = settings.lambdas.types
        self.declared: dict[tuple[int, str], int] = {}  # (scope, name) -> how often it is declared there so far
        self._visible: dict[tuple[int, str], int] = {}  # -> which of these declarations a use means
        self._hidden: list[tuple[int, tuple[int, str], int]] = []  # end, name and declaration that is visible after it
        self._numbers: dict[int, int] = {}

    def declare(self, scope: int, name: str) -> str:
        """Return the name of a variable in bindings, with a number if its function declares it again."""
        key = scope, name
        times = self.declared[key] = self.declared.get(key, 0) + 1
        if self.regions:
            self._hidden.append((self.regions[-1], key, self._visible.get(key, 0)))
        self._visible[key] = times
        return name if times == 1 else f"{name}#{times}"

    def is_declared(self, name: str, frames: Sequence[OpenDefinition]) -> bool:
        """Return True if one of the open definitions declares this name, or a lambda that need not declare it."""
        if self.lambdas and name == self._implicit:
            return True
        visible = self._visible
        for frame in frames:  # noqa: SIM110 - most names are asked for, and a generator takes twice the time
            if visible.get((frame.index, name)):
                return True
        return False

    def spell(self, chain: str, frames: Sequence[OpenDefinition]) -> str:
        """Return a chain with its first name spelled as its innermost declaration so far."""
        matched = _HEAD.match(chain)
        if not matched or chain.startswith("#", matched.end()):
            return chain
        name, visible = matched[0], self._visible
        if self.lambdas and name == self._implicit:
            return self._spell_implicit(name, chain[matched.end() :])
        for frame in reversed(frames):
            times = visible.get((frame.index, name), 0)
            if times:
                return chain if times == 1 else f"{name}#{times}{chain[matched.end() :]}"
        return self._spell_receivers(name, chain) if self.lambdas else chain

    def close(self, position: int) -> None:
        """Close all lambdas and checks that end at or before `position`, and forget what they declare."""
        while self.regions and self.regions[-1] <= position:
            self.regions.pop()
        while self._hidden and self._hidden[-1][0] <= position:
            _, key, times = self._hidden.pop()
            self._visible[key] = times
        while self.lambdas and self.lambdas[-1].end <= position:
            self.lambdas.pop()

    def complete(self, bindings: list[Binding]) -> None:
        """Set the values of bindings that are calls with lambdas, and add the bindings of the lambdas."""
        for positions, chain in self.results:
            for position in positions if chain else ():
                bindings[position] = bindings[position]._replace(value=chain)
        bindings += self.bindings

    def bind_result(self, scope: int, chain: str, row: int) -> str:
        """Return the value of a collection of what a lambda gives for each element."""
        return f"{self._bind(scope, chain, row)}^"

    def returned_lambda(self, data: bytes, start: int, returns: str) -> str:
        """Return the value of the argument of a lambda at `start` that a function returns, "" where it is not known."""
        head, arguments = split_generic(returns)
        is_given = head in self._function_types and arguments and arguments[0]  # a broken type may have none
        if not is_given or not _RETURN.search(data, max(0, start - 40), start):
            return ""
        return f"<{arguments[0]}>"

    def _bind(self, scope: int, chain: str, row: int) -> str:
        self._numbers[scope] = self._numbers.get(scope, 0) + 1
        key = f"{LAMBDA_VALUE}{self._numbers[scope]}"
        self.bindings.append(Binding(scope, key, "", chain, row))
        return key

    def _spell_implicit(self, name: str, rest: str) -> str:
        """Return a chain that begins with the parameter of the innermost lambda that declares none."""
        of = next((each for each in reversed(self.lambdas) if each.arrow < 0), None)
        if of is None:
            return f"{name}{rest}"
        if not of.name:
            self._numbers[of.scope] = self._numbers.get(of.scope, 0) + 1
            of.name = f"{name}#{self._numbers[of.scope]}"
            self.bindings.append(Binding(of.scope, of.name, "", of.argument, of.row))
        return f"{of.name}{rest}"

    def _spell_receivers(self, head: str, chain: str) -> str:
        """Return a chain with the objects of the lambdas around before it, of which its first name may be a member."""
        if head[0].isupper() or head in self._names.super_names:
            return chain
        is_self, keys = head in self._names.self_names, list[str]()
        for of in reversed(self.lambdas[-_MAX_RECEIVERS:]):
            if not of.receiver:
                continue
            of.key = of.key or self._bind(of.scope, of.receiver, of.row)
            if is_self:
                return f"{of.key}!{chain[len(head) :]}"
            keys.append(of.key)
        return f"{''.join(keys)}.{chain}" if keys else chain


_PARAMETER_MARK = lazy_regex(rb"[()\[\]{},]|(?<=[(,\s])\?|(?<=\w)<|(?<!-)>")
_MAX_PARAMETERS_BYTES = 2000


def count_parameters(data: bytes, start: int) -> tuple[int, int]:
    """Return the number of parameters in the brackets at `start`, and of those with a question mark ahead.

    >>> count_parameters(b"(a: Map<int, b>, ?c: d -> (e * f))", 0), count_parameters(b"()", 0)
    ((2, 1), (0, 0))
    """
    depth, n, n_optional = 0, 1, 0
    for mark in _PARAMETER_MARK.finditer(data, start, start + _MAX_PARAMETERS_BYTES):
        written = mark[0]
        if written in (b")", b"]", b"}", b">"):
            depth -= 1
            if not depth:
                break
        elif written in (b"(", b"[", b"{", b"<"):
            depth += 1
        elif depth == 1:
            n += written == b","
            n_optional += written == b"?"
    else:
        return 0, 0
    return (0, 0) if not data[start + 1 : mark.start()].strip() else (n, n_optional)


def before_itself(chain: str, target: str) -> str:
    """Return the value of a variable in the names before it: `val x by x` gets the x of outside.

    >>> before_itself("x#2.a()", "x#2"), before_itself("x#3", "x#3"), before_itself("x", "x"), before_itself("y", "x#2")
    ('x.a()', 'x#2', 'x', 'y')
    """
    name, _, times = target.partition("#")
    if not times or chain.partition(".")[0].rstrip("()") != target:
        return chain
    return (name if times == "2" else f"{name}#{int(times) - 1}") + chain[len(target) :]


_KEYS = lazy_regex(rb"->[ \t]*(?:\{[ \t]*(['\"]?)-?[^\W\d]\w*\1[ \t]*\})+")
_KEY = lazy_regex(rb"[^\W\d]\w*")
_ABOVE = lazy_regex(rb"(?:\$\w+|__PACKAGE__|\bshift)[ \t]*->[ \t]*(?=SUPER::)")
_FIRST_ARGUMENT = lazy_regex(
    rb"\bsub\s+\w+\s*(?:\([^()\n]*\)\s*)?\{(?:(?!\bshift\b|@_|\$_\[|\bsub\b)[^{}]){0,300}"
    rb"(shift(?:[ \t]*\([ \t]*\))?|\$_\[0\])(?=[ \t]*->)"
)


def with_keys_as_members(data: bytes) -> bytes:
    """Return a text of Perl with keys of references as members, of the same length.

    The first argument of a function is the object, where methods of it are called at once.

    >>> with_keys_as_members(b"$a->{b}->c; $a->{b}{'c'}; sub d { shift->e } $f->SUPER::g()")
    b'$a .$b ->c; $a .$b .$c  ; sub d { $self->e }     SUPER::g()'
    """
    if b"->" not in data:
        return data
    data = _FIRST_ARGUMENT.sub(lambda m: m[0][: m.start(1) - m.start()] + b"$self".ljust(len(m[1])), data)
    data = _ABOVE.sub(lambda m: b" " * len(m[0]), data) if b"SUPER::" in data else data
    return _KEYS.sub(_as_members, data)


def _as_members(matched: "re.Match[bytes]") -> bytes:
    members = bytearray(b" " * len(matched[0]))
    for key in _KEY.finditer(matched[0]):
        members[key.start() - 2 : key.end()] = b".$" + key[0]
    return bytes(members)


_METHODS = lazy_regex(rb"^[ \t]*methods\b[ \t]*(\([^()\n]*\bStatic\b(?![ \t]*=[ \t]*false))?", re.MULTILINE)
_HEAD_OF_FUNCTION = lazy_regex(r"function\b\s*(?:\[?\s*(\w+)[^\]=(]*\]?\s*=\s*)?[\w.]+\s*(?:\(\s*(\w+))?")
_OF_BASE = lazy_regex(rb"(\w+)@([^\W\d][\w.]*)")


def with_objects(facts: FileFacts, data: bytes, package: str, owner: str) -> FileFacts:
    """Return the facts of a file whose folders say its package and, for a method, its class, with the types of objects.

    That is the first parameter of a method, and what a constructor gives. A function gives what its output is set to.
    `f@Base` in f is what the base has, else its constructor. In its folder a class may be a function.
    """
    definitions, owners = list(facts.definitions), dict(facts.owners)
    if owner and definitions and definitions[0].kind == NodeKind.FUNCTION:
        kind = NodeKind.CLASS if definitions[0].name == owner else NodeKind.METHOD
        definitions[0] = definitions[0]._replace(kind=int(kind))
        owners.update({} if kind is NodeKind.CLASS else {0: owner})
    blocks = [(match.start(), bool(match[1])) for match in _METHODS.finditer(data)]
    typed: dict[tuple[int, str], str] = {}
    outputs: dict[tuple[int, str], list[Binding]] = {}
    for local, each in enumerate(definitions):
        head = _HEAD_OF_FUNCTION.match(each.signature)
        if head is None:
            continue
        around = definitions[each.parent].name if each.parent >= 0 else owners.get(local, "")
        block = bisect_left(blocks, (each.start_byte, False)) - 1
        is_static = each.parent >= 0 and block >= 0 and blocks[block][1]
        if each.kind == NodeKind.METHOD and not is_static:
            typed[local, head[1 if each.name == around else 2] or ""] = around
        outputs[local, head[1] or ""] = []
    bindings = [
        each._replace(type=typed.get((each.scope, each.target), "") or each.type) if not each.value else each
        for each in facts.bindings
    ]
    for binding in bindings:
        if (binding.scope, binding.target) in outputs and (binding.value or binding.type):
            outputs[binding.scope, binding.target].append(binding)
    returns = dict(facts.returns)
    for (local, _), given in outputs.items():
        if given and given[0].type:
            returns[local] = given[0].type
        elif given and len({each.value for each in given}) == 1:
            bindings.append(given[0]._replace(target=RETURNED))
    of_base = {(row, m[2]): m[1] for row, line in enumerate(data.split(b"\n")) for m in _OF_BASE.finditer(line)}
    calls = list(facts.calls)
    for i, call in enumerate(calls if of_base else ()):
        name = definitions[call.scope].name if call.scope >= 0 else ""
        if name and of_base.get((call.row, call.callee.encode())) == name.encode():
            calls[i] = call._replace(callee=f"{call.callee}.{name}")
    return replace(
        facts,
        package=package,
        definitions=tuple(definitions),
        owners=tuple(owners.items()),
        bindings=tuple(bindings),
        calls=tuple(calls),
        returns=tuple(returns.items()),
    )


MAX_VALUE_DEPTH = 3  # calls in one another of which an argument says what they are given
MAX_CHAIN_PARTS, MAX_SPELLED = 12, 400  # names of a chain, characters of an argument
# What attributes give: a whole number, a text, a value of their type, an access, or the same thing.
_ATTRIBUTES = {
    **dict.fromkeys(("length", "size", "pos", "count", "alignment", "position", "modulus", "component_size"), "#i"),
    **dict.fromkeys(("image", "img", "wide_image", "external_tag"), "#s"),
    **dict.fromkeys(("access", "unchecked_access", "unrestricted_access"), "#p"),
    **dict.fromkeys(("valid", "callable", "terminated", "constrained"), "#b"),
    "address": "#a",
    "identity": "?",
}  # fmt: skip
_OF_TYPE = frozenset(
    {"val", "value", "succ", "pred", "max", "min", "mod", "floor", "ceiling", "rounding", "truncation"}
)


class RegionNotation:
    """Types and values in a text of a language of declarative regions, as `DeclarativeRegions` reads them.

    `^t` is an access to t, `[]t` an array of t, `<t>` a value of t, `#i` a whole number, `#r` another, `#s` a text,
    `#c` a character, `#b` a truth value, `#n` nothing, `#g` an aggregate, `#p` an access and `#a` an address.
    `+(…;…)` is what an operator gives. `?` is not known.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.declared: dict[str, list[tuple[int, int, str]]] = {}  # name -> start, end and spelling of variables

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def spell_name(self, node: Node) -> str:
        """Return a name, with the number of its declaration if a function declares it in several blocks."""
        name = self.text(node)
        declared = self.declared.get(name, [])
        while declared and declared[-1][1] <= node.start_byte:
            declared.pop()
        return next((spelled for start, _, spelled in reversed(declared) if start <= node.start_byte), name)

    def type_of(self, node: Node) -> str:
        """Return the type that a declaration states."""
        for child in node.children:
            kind = child.type
            if kind == "access_definition":
                return f"^{self.mark_of(child)}"
            if kind == "array_type_definition":
                return self.array_of(child)
            if kind in ("component_definition", "result_profile"):
                return self.type_of(child)
        return self.mark_of(node)

    def array_of(self, node: Node) -> str:
        """Return the type of an array."""
        parts = [child for child in node.children if child.type == "component_definition"]
        return f"[]{self.type_of(parts[0])}" if parts else "[]"

    def mark_of(self, node: Node) -> str:
        """Return the name of a type, with a quote behind it if it stands for those that derive from it as well."""
        marks = node.children_by_field_name("subtype_mark")
        if not marks:
            return ""
        is_wide = any(each.type == "attribute_designator" and self.text(each) == "class" for each in marks)
        return self.path(marks[0]) + ("'" if is_wide else "")

    def path(self, node: Node | None) -> str:
        """Return a plain chain of names, constraints left out."""
        parts: list[str] = []
        while node is not None and len(parts) <= MAX_CHAIN_PARTS:
            if node.type == "selected_component":
                selector = node.child_by_field_name("selector_name")
                parts.append(self.text(selector) if selector is not None else "?")
                node = node.child_by_field_name("prefix")
            elif node.type in ("function_call", "slice"):
                node = node.child_by_field_name("name") or node.child_by_field_name("prefix")
            else:
                parts.append(self.text(node) if node.type == "identifier" else "?")
                break
        return ".".join(reversed(parts))

    def chain(self, node: Node, depth: int) -> str:
        """Return the chain of a name; what calls in it are given is told to a depth, and left out at depth 0."""
        after: list[str] = []
        while len(after) <= MAX_CHAIN_PARTS:
            kind = node.type
            if kind == "identifier":
                return self.spell_name(node) + "".join(reversed(after))
            if kind == "selected_component":
                prefix, selector = node.child_by_field_name("prefix"), node.child_by_field_name("selector_name")
                if prefix is None or selector is None or selector.type != "identifier":
                    return "?"
                after.append(f".{self.text(selector)}")
                node = prefix
            elif kind == "function_call":
                names = node.children_by_field_name("name")
                if len(names) != 1:
                    made = self._of_attribute(names)
                    return made + "".join(reversed(after)) if made[:1] == "<" or not after else "?"
                after.append(f"({self._join_given(node, depth - 1)})" if depth > 0 else "()")
                node = names[0]
            elif kind == "slice":
                prefix = node.child_by_field_name("prefix")
                if prefix is None:
                    return "?"
                after.append(".all")
                node = prefix
            elif kind == "qualified_expression":
                return f"<{self.path(node.child_by_field_name('subtype_name'))}>" + "".join(reversed(after))
            else:
                return "?" if after else {"string_literal": "#s", "character_literal": "#c"}.get(kind, "?")
        return "?"

    def _of_attribute(self, names: Sequence[Node]) -> str:
        """Return the value of a name with an attribute."""
        attribute = next((self.text(each) for each in names if each.type == "attribute_designator"), "")
        if attribute == "class" or attribute in _OF_TYPE:
            return f"<{self.path(names[0])}>"
        if attribute in ("first", "last", "old", "update", "base"):
            return f"{self.chain(names[0], 0)}'{attribute}"
        return _ATTRIBUTES.get(attribute, "?")

    def _join_given(self, node: Node, depth: int) -> str:
        return ";".join(value for _, value, _ in self.arguments(node, depth))

    def arguments(self, node: Node, depth: int) -> Iterator[tuple[str, str, Node | None]]:
        """Yield the name, the value with its name, and the expression of what a call is given."""
        part = next((each for each in node.children if each.type == "actual_parameter_part"), None)
        for each in part.children if part is not None else ():
            if each.type != "parameter_association":
                if each.is_named and each.type != "comment":  # a conditional expression
                    yield "", self.value(each, depth), each
                continue
            name, expression = "", None
            for child in each.children:
                if child.type == "component_choice_list":
                    name = self.text(child)
                elif child.is_named and child.type != "comment":
                    expression = child
            name = name if name.isidentifier() else ""
            value = self.value(expression, depth) if expression is not None else "?"
            yield name, f"{name}={value}" if name else value, expression

    def value(self, node: Node, depth: int) -> str:
        """Return what is known of the value of an expression."""
        if depth < 0 or node.end_byte - node.start_byte > MAX_SPELLED:
            return "?"
        kind = node.type
        if kind in ("expression", "term"):
            parts = [each for each in node.children if each.type != "comment"]
            if parts[1:2] and parts[1].type == "tick" and len(parts) == 3:
                return self._of_attribute(node.children_by_field_name("name"))
            signs = [each for each in parts if each.type.endswith("_operator")]
            words = {each.type for each in parts if not each.is_named}
            if "relation_membership" in {each.type for each in parts} or any(
                each.type == "relational_operator" for each in signs
            ):
                return "#b"
            outer = [at for at, each in enumerate(parts) if each.type in ("tick", "attribute_designator")]
            values = [
                each
                for at, each in enumerate(parts)
                if each.is_named and at not in outer and at + 1 not in outer and not each.type.endswith("_operator")
            ]
            if "then" in words or "else" in words:
                return "#b"
            if len(values) == 1 and not signs and not words & {"and", "or", "xor"}:
                return self.value(values[0], depth)
            if not values:
                return "?"
            written = [self.text(each) for each in signs]
            sign = "&" if "&" in written else written[0] if written else "and"
            return f"{sign}({';'.join(self.value(each, depth - 1) for each in values[:4])})"
        if kind in ("factor_not", "factor_abs", "factor_power"):
            inside = next((each for each in node.children if each.is_named), None)
            return self.value(inside, depth) if inside is not None else "?"
        if kind == "numeric_literal":
            return "#r" if b"." in self.data[node.start_byte : node.end_byte] else "#i"
        if kind == "primary_null":
            return "#n"
        if kind.endswith("aggregate"):
            return "#g"
        if kind == "quantified_expression":
            return "#b"
        if kind == "allocator":
            made = next((each for each in node.children if each.type == "qualified_expression"), None)
            named = self.path(made.child_by_field_name("subtype_name")) if made is not None else self.mark_of(node)
            return f"^<{named.rstrip(chr(39))}>"
        if kind == "if_expression":
            inside = next((each for each in node.children[2:] if each.type == "expression"), None)
            return self.value(inside, depth - 1) if inside is not None else "?"
        return self.chain(node, depth)


def find_held_prototypes(bindings: Sequence[Binding], infixes: tuple[str, ...]) -> dict[str, str]:
    """Return the names at the top of the file that hold the members of a type, each with that type."""
    return {
        each.target: each.value.rpartition(".")[0]
        for each in (bindings if infixes else ())
        if each.scope == MODULE_SCOPE and each.value.endswith(infixes)
    }


_BRACKETED, _PARAMETERS = "[]::", "#()"  # separators behind a type in brackets, and behind its arguments
_TYPE_IN_BRACKETS = lazy_regex(rb"\[([A-Za-z_][\w.]*)\]::(?=\w)")


@cache
def _compile_separators(separators: Sequence[str]) -> "re.Pattern[bytes]":
    longest_first = sorted(separators, key=lambda each: (-len(each), each))
    return re.compile(f"(?:{'|'.join(map(re.escape, longest_first))})(?=\\s*[\\w$])".encode())


def with_dots(data: bytes, separators: tuple[str, ...]) -> bytes:
    r"""Return `data` with a dot for each of `separators` that a name follows, padded with spaces.

    >>> with_dots(b"$a?->b(A::$c, \\A\\B::d) . '\\''", ("->", "?->", "::", "::$", "\\"))
    b"$a  .b(A  .c, .A.B .d) . '\\''"
    >>> with_dots(b"[A.B]::c([d]$e)", ("[]::", "::"))
    b' A.B  .c([d]$e)'
    """
    if not separators:
        return data
    data = with_type_arguments(data) if _PARAMETERS in separators else data
    if _BRACKETED in separators:
        data = _TYPE_IN_BRACKETS.sub(lambda m: b" %b  ." % m[1], data)
    return _compile_separators(separators).sub(lambda m: b".".rjust(len(m[0])), data)


_GIVEN = lazy_regex(rb"""//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|"(?:[^"\\\n]|\\.)*+"?|(?<=\w)(\s*\#\s*\()|[()]""")
_QUALIFIES, _NO_LINE_END = lazy_regex(rb"\s*::"), lazy_regex(rb"[^\r\n]")
_MAX_GIVEN_BYTES = 2000  # bytes of arguments that are blanked


def with_type_arguments(data: bytes) -> bytes:
    """Return the text with `a<b>` for `a#(b)`, as long as before; what is given before `::` is blank.

    >>> with_type_arguments(b"a #(b) c(#(1) d);"), with_type_arguments(b"a#(b#(c))::d")
    (b'a<  b> c(#(1) d);', b'a        ::d')
    """
    if b"#" not in data:
        return data
    result, opened = bytearray(data), list[tuple[int, int]]()
    for mark in _GIVEN.finditer(data):
        if mark[0] == b")" and opened:
            start, end = opened.pop()
            if end and mark.end() - start <= _MAX_GIVEN_BYTES and _QUALIFIES.match(data, mark.end()):
                result[start : mark.end()] = _NO_LINE_END.sub(b" ", data[start : mark.end()])
            elif end:
                result[start:end] = _NO_LINE_END.sub(b" ", data[start:end])
                result[start if data[start] not in b"\r\n" else end - 1] = ord("<")
                result[mark.start()] = ord(">")
        elif mark[0] == b"(" or mark[1]:
            opened.append(mark.span(1) if mark[1] else (0, 0))
    return bytes(result)
