"""Handlers of messages, events and signals, in all files of a program.

In: a program and facts of routes. Out: edges from what sends or emits to what handles.

A message is known by its type: what sends an object of it leads to what handles that type or a base of it. The types
are those that the names mean where they stand. Where nothing handles that type, the handlers of a type of the same name
are meant, since programs that exchange messages declare each their own.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.node_and_edge_arrays import NodeDrafts, RelationEdge
from causalist.graph.program import Program
from causalist.graph.resolution_results import ResolutionKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Reference, RouteFact, RouteForm
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role

_MAX_RECEIVERS = 40  # of one message: more say nothing
_MAX_MEANT = 3  # types that one name may mean
DELEGATE = "delegate"  # the kind of names of events of C#
_SLOT = "slot"  # that of signals of Qt
ACTION, STORE = "action", "store"  # kinds of names: actions of NgRx; what stores of Vuex run
CHANNEL = "channel"  # the kind of names of channels of Go
OBSERVED_NAMES = ("signal", DELEGATE, ACTION, STORE, CHANNEL)
_IN_STORE = lazy_regex(r"(?:^|\.)(actions|mutations|getters)\.\[?(?:[\w$]+\.)?([\w$]+)\]?$")
_STORED = {"dispatch": "actions", "commit": "mutations", "get": "getters"}  # where a store keeps what it runs so
_DECLARED_EVENT = lazy_regex(r"\bevent\s")
_DJANGO_COMMAND = "management/commands/"
_NO_TWINS = ("php",)  # families whose programs share no messages by a name alone
_FindHandler = Callable[[int, RouteFact], int]


_CALL_IN_MACRO = lazy_regex(r"(\w+)\((\w*)\)")


@dataclass(slots=True)
class CallingMacros:
    """Macros that call a function which they are given, as their signatures say, themselves or by another macro."""

    program: Program
    resolve: Callable[..., tuple[list[Any], str]]  # as `Resolver.resolve`
    _names: frozenset[str] | None = None
    _sites: tuple[int, Set[tuple[int, int]]] = (-1, frozenset())  # of the last file: scopes and rows of their uses

    def runs(self, number: int, reference: Reference) -> bool:
        """Return True if a function of that name is given to such a macro there."""
        if self._sites[0] != number:
            settings, calls = self.program.files[number].settings, self.program.files[number].facts.calls
            if settings is None or not settings.modules.headers:
                calls = ()
            elif self._names is None:
                self._names = self._find_names()
            self._sites = number, {(each.scope, each.row) for each in calls if each.callee in (self._names or ())}
        if (reference.scope, reference.row) not in self._sites[1]:
            return False
        targets, _ = self.resolve(number, reference.scope, reference.name, guess=False)
        kinds = [self.program.definition_of[each.definition].kind for each in targets]
        return bool(kinds) and all(kind in CALLABLE_KINDS for kind in kinds)

    def _find_names(self) -> frozenset[str]:
        calling, handed = set[str](), list[tuple[str, str]]()
        for symbols in self.program.files:
            if symbols.settings is None or not symbols.settings.modules.headers:
                continue
            for each in symbols.facts.definitions:
                said = each.signature.partition(" … ")[2] if each.kind == NodeKind.MACRO else ""
                for name, parameter in _CALL_IN_MACRO.findall(said):
                    if parameter:
                        handed.append((each.name, name))
                    else:
                        calling.add(each.name)
        while more := {macro for macro, other in handed if other in calling} - calling:
            calling |= more
        return frozenset(calling)


def is_in_reach(drafts: NodeDrafts, source: int, handler: int) -> bool:
    """Return False for a handler in a test, unless what emits stands in the same file."""
    return drafts[handler].role != Role.TEST or drafts[handler].file == drafts[source].file


@dataclass(slots=True)
class MessageHandlers:
    """Handlers of messages by their type, and of names, in all files of a program."""

    program: Program
    drafts: NodeDrafts
    _types: dict[str, list[int]] | None = None  # by name
    _meant: dict[tuple[int, int, str], tuple[int, ...]] = field(default_factory=dict)
    _packages: dict[str, set[str]] | None = None  # variables of packages of Go, by their folders
    _stored: dict[tuple[str, str], list[tuple[str, int]]] | None = None  # (kind, name) -> module of a store, definition
    _delegates: Counter[str] | None = None  # events of C#, by name
    _words: dict[int, frozenset[str]] = field(default_factory=dict)  # of what a file imports and names

    def needed_scopes(self, routes: Iterable[tuple[int, RouteFact]]) -> Iterator[int]:
        """Yield the drafts of code whose edges tell types of one name apart."""
        for number, route in routes:
            is_message = route.form in (RouteForm.SEND, RouteForm.RECEIVE)
            if is_message and len(self._by_name().get(route.path.rpartition(".")[2], ())) > 1:
                yield self._user(number, route)

    def _user(self, number: int, route: RouteFact) -> int:
        """Return the draft of the code that names the type of a message."""
        position = route.definition if route.definition >= 0 else route.scope
        return number if position < 0 else self.drafts.of_definition(self.program.files[number].first + position)

    def find_edges(
        self,
        routes: Iterable[tuple[int, RouteFact]],
        used: Mapping[int, Mapping[str, Iterable[tuple[int, int]]]],
        find_handler: _FindHandler,
    ) -> Iterator[RelationEdge]:
        """Yield an edge from what sends a message to each function that handles it, and from a type to its observers.

        `used` are the drafts that code uses, with their rows, by the code and their last names. `find_handler` gives
        the draft of what handles a fact.
        """
        handlers: dict[int, dict[int, None]] = {}  # type -> drafts
        by_name: dict[tuple[str, str], dict[int, None]] = {}  # (family, name of a type) -> drafts
        sent: list[tuple[int, RouteFact]] = []
        emitted: list[tuple[int, RouteFact]] = []
        connected: list[tuple[int, RouteFact]] = []
        for number, route in routes:
            if route.form == RouteForm.SEND:
                sent.append((number, route))
            elif route.form == RouteForm.OBSERVE:
                yield from self._observing(number, route, find_handler)
            elif route.name == _SLOT:
                (emitted if route.form == RouteForm.EMIT else connected).append((number, route))
            elif route.form == RouteForm.RECEIVE:
                types = self._types_of(number, route, used)
                target = find_handler(number, route) if types else -1
                name = self.program.family_of(number), route.path.rpartition(".")[2]
                for each in types:
                    handlers.setdefault(each, {})[target] = None
                    by_name.setdefault(name, {})[target] = None
        for number, route in sent:
            types = self._types_of(number, route, used)
            if types:
                yield from self._sending(number, route, types, handlers, by_name)
        yield from self._emitting(emitted, connected, find_handler)

    def _sending(
        self,
        number: int,
        route: RouteFact,
        types: tuple[int, ...],
        handlers: Mapping[int, Mapping[int, None]],
        by_name: Mapping[tuple[str, str], Mapping[int, None]],
    ) -> Iterator[RelationEdge]:
        targets = {each: None for type_ in types for base in self._with_bases(type_) for each in handlers.get(base, ())}
        own = {
            self.drafts.of_definition(member): None
            for type_ in types
            for name in route.name.split("|")
            if name
            and (member := self.program.find_member(type_, name)[0]) >= 0
            and self.program.definition_of[member].kind in CALLABLE_KINDS
        }
        source = (
            number if route.scope < 0 else self.drafts.of_definition(self.program.files[number].first + route.scope)
        )
        family = self.program.family_of(number)
        others = {} if own or family in _NO_TWINS else by_name.get((family, route.path.rpartition(".")[2]), {})
        for found, rule in ((targets or others, RuleName.MESSAGE), (own, RuleName.QUEUED)):
            meant = [each for each in found if each != source and is_in_reach(self.drafts, source, each)]
            if len(meant) <= _MAX_RECEIVERS:
                for target in sorted(meant):
                    yield RelationEdge(source, target, EdgeKind.EMITS, rule, route.row, max(1, len(types)))

    def _emitting(
        self,
        emitted: Sequence[tuple[int, RouteFact]],
        connected: Sequence[tuple[int, RouteFact]],
        find_handler: _FindHandler,
    ) -> Iterator[RelationEdge]:
        """Yield the edges from what emits a signal of Qt to what is connected to it, by name and type of the signal.

        Where one end does not state the type, all of the other end have to state the same.
        """
        slots: dict[str, dict[str, dict[int, int]]] = {}  # name of a signal -> type -> draft -> file that connects
        senders: dict[str, dict[str, frozenset[int]]] = {}  # the same -> types with their bases
        for number, route in connected:
            target = find_handler(number, route)
            if not route.handler or target != self._user(number, route):
                slots.setdefault(route.path, {}).setdefault(route.receiver, {})[target] = number
        for number, route in emitted:
            types = self.types_named(number, route.scope, route.receiver) if route.receiver else ()
            known = senders.setdefault(route.path, {})
            known[route.receiver] = frozenset(base for each in types for base in self._with_bases(each))
        reached: dict[tuple[str, str], list[int]] = {}  # (name of a signal, type that emits it) -> drafts
        for name, known in senders.items():
            for sender, bases in known.items():
                names = {sender, *(self.program.definition_of[each].name for each in bases)}
                found: dict[int, None] = {}
                for type_, targets in slots.get(name, {}).items():
                    if type_ and sender:
                        is_meant = type_ in names
                    else:
                        is_meant = len(slots[name] if type_ else known) == 1
                    if is_meant:  # what connects without the type names it somewhere, if it is one of the repository
                        found.update(
                            (each, None) for each, file in targets.items() if type_ or self._names(file, sender)
                        )
                reached[name, sender] = sorted(found)
        for number, route in emitted:
            source, targets_of = self._user(number, route), reached[route.path, route.receiver]
            if len(targets_of) <= _MAX_RECEIVERS:
                for target in targets_of:
                    if target != source and is_in_reach(self.drafts, source, target):
                        yield RelationEdge(source, target, EdgeKind.EMITS, RuleName.CONNECTED, route.row)

    def _names(self, number: int, type_: str) -> bool:
        """Return True if the imports, uses or types of a file have the name of a type."""
        if number not in self._words:
            facts = self.program.files[number].facts
            said = (
                *(each.module for each in facts.imports),
                *(each.name for each in facts.references),
                *(each.type for each in facts.bindings),
            )
            self._words[number] = frozenset(re.findall(r"\w+", " ".join(said)))
        return type_ in self._words[number]

    def _observing(self, number: int, route: RouteFact, find_handler: _FindHandler) -> Iterator[RelationEdge]:
        """Yield the edges from a type to the methods, or to the function, that run when one of it is saved."""
        observed = self.types_named(number, route.scope, route.path)
        if len(observed) != 1:
            return
        targets = []
        if route.name:
            observers = self.types_named(number, route.scope, route.handler)
            members = (self.program.find_member(each, name)[0] for each in observers for name in route.name.split("|"))
            targets = [self.drafts.of_definition(member) for member in members if member >= 0]
        else:
            targets = [find_handler(number, route)]
        source = self.drafts.of_definition(observed[0])
        for target in targets:
            if self.drafts[target].kind in CALLABLE_KINDS and is_in_reach(self.drafts, source, target):
                yield RelationEdge(source, target, EdgeKind.EMITS, RuleName.HANDLED, self.drafts[source].start_row)

    def member(self, number: int, route: RouteFact) -> int:
        """Return the method of a type that a handler `SendReceipt.handle` names, or -1."""
        owner, _, name = route.handler.rpartition(".")
        types = self.types_named(number, route.scope, owner) if owner[:1].isupper() else ()
        return self.program.find_member(types[0], name)[0] if len(types) == 1 else -1

    def key_of(self, number: int, route: RouteFact) -> tuple[str, str]:
        """Return the kind and name of an event; of an action what its name means, if that is found."""
        head, dot, rest = route.path.partition(".")
        if route.name == CHANNEL:
            folder = posixpath.dirname(self.program.files[number].path)
            is_known = bool(dot) or self._is_of_package(folder, head)
            return route.name, f"{folder}:{route.path}" if is_known else f"{number}:{route.row}:{head}"
        if route.name != ACTION:
            return route.name, route.path
        symbols = self.program.files[number]
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(head)
        found = self.program.follow_import(number, entry) if entry is not None else None
        if found is not None and found.kind is ResolutionKind.MODULE and dot:
            found, rest = self.program.find_exported(found.number, rest), ""
        definition = found.number if found is not None and found.kind is ResolutionKind.DEFINITION else -1
        definition = symbols.by_qualname.get(head, -1) if entry is None else definition
        return route.name, f"{definition}.{rest}" if definition >= 0 else route.path

    def _is_of_package(self, folder: str, name: str) -> bool:
        if self._packages is None:
            self._packages = {}
            for symbols in self.program.files:
                if symbols.facts.language == "go":
                    own = self._packages.setdefault(posixpath.dirname(symbols.path), set())
                    named = (each for each in symbols.facts.definitions if each.kind not in CALLABLE_KINDS)
                    own.update(each.name for each in named if each.parent < 0)
        return name in self._packages.get(folder, ())

    def in_store(self, number: int, route: RouteFact) -> set[int]:
        """Return the function of a store of Vuex that a name such as `cart/add` means, by the paths of its modules."""
        if route.name != STORE:
            return set()
        if self._stored is None:
            self._stored = {}
            for symbols in self.program.files:
                if symbols.settings is None or symbols.settings.family != "ecmascript":
                    continue
                module, _, last = f"/{posixpath.splitext(symbols.path)[0]}".rpartition("/")
                around = module if last in (*_STORED.values(), "index") else f"{module}/{last}"
                for position, each in enumerate(symbols.facts.definitions):
                    named = _IN_STORE.search(f"{last}.{each.qualname}") if each.kind in CALLABLE_KINDS else None
                    if named is not None:
                        known = self._stored.setdefault((named[1], named[2]), [])
                        known.append((around.lower(), symbols.first + position))
        verb, _, path = route.path.partition(":")
        space, _, name = path.rpartition("/")
        known = self._stored.get((_STORED[verb], name), [])
        if space:
            meant = [each for around, each in known if around.endswith(f"/{space.lower()}")]
        else:
            symbols = self.program.files[number]
            module, _, last = f"/{posixpath.splitext(symbols.path)[0]}".lower().rpartition("/")
            own = (module, f"{module}/{last}") if not route.receiver else ()
            meant = [each for around, each in known if around in own]
            meant = meant or [each for around, each in known if around.endswith("/store")]
        return {self.drafts.of_definition(meant[0])} if len(meant) == 1 else set()

    def is_known(self, number: int, route: RouteFact) -> bool:
        """Return True if the name of an event alone joins what emits it and what handles it.

        It does not for an event of C# that several types declare, or none, for signals of Qt, and for an action in a
        test, which mostly makes it to compare it with another.
        """
        if route.name == ACTION:
            return self.drafts[number].role != Role.TEST
        if route.name != DELEGATE:
            return route.name != _SLOT
        if self._delegates is None:
            declared = [each for each in self.program.definition_of if _DECLARED_EVENT.search(each.signature)]
            self._delegates = Counter(each.name for each in declared if each.kind == NodeKind.FIELD)
        return self._delegates[route.path] == 1

    def django_commands(self) -> dict[str, int]:
        """Return what runs a command of Django, by the name of the command, which is that of its file."""
        commands: dict[str, int] = {}
        for symbols in self.program.files:
            folder, _, name = symbols.path.rpartition("/")
            if f"{folder}/".endswith(_DJANGO_COMMAND) and name.endswith(".py"):
                handle = symbols.by_qualname.get("Command.handle", symbols.by_qualname.get("Command", -1))
                if handle >= 0:
                    commands[name.removesuffix(".py")] = handle
        return commands

    def _types_of(
        self, number: int, route: RouteFact, used: Mapping[int, Mapping[str, Iterable[tuple[int, int]]]]
    ) -> tuple[int, ...]:
        """Return the types that a message may be of, those that the code around uses where several are meant."""
        types = self.types_named(number, route.scope, route.path)
        if len(types) < 2:
            return types
        targets = {target for target, _ in used.get(self._user(number, route), {}).get(self._last(types[0]), ())}
        told = tuple(
            each
            for each in types
            if any(target in targets for target in (self.drafts.of_definition(each), *self._constructors(each)))
        )
        types = told or types
        return types if len(types) <= _MAX_MEANT else ()

    def _last(self, type_: int) -> str:
        return self.program.definition_of[type_].name

    def _constructors(self, type_: int) -> Iterator[int]:
        member = self.program.find_own_member(type_, self._last(type_))
        if member >= 0:
            yield self.drafts.of_definition(member)

    def types_named(self, number: int, scope: int, name: str) -> tuple[int, ...]:
        """Return the types that a name may mean in a scope of a file: one, or all that nothing there tells apart."""
        key = (number, scope, name)
        if key not in self._meant:
            meant = self._find_types(number, scope, name)
            types = dict.fromkeys(self.program.canonical.get(each, each) for each in meant)
            self._meant[key] = tuple(types)
        return self._meant[key]

    def _by_name(self) -> dict[str, list[int]]:
        if self._types is None:
            self._types = {}
            for i, each in enumerate(self.program.definition_of):
                if each.kind in TYPE_KINDS:
                    self._types.setdefault(each.name, []).append(i)
        return self._types

    def _with_bases(self, type_: int) -> Iterator[int]:
        return (self.program.canonical.get(each, each) for each in self.program.linear_bases(type_))

    def _find_types(self, number: int, scope: int, name: str) -> list[int]:
        program, symbols = self.program, self.program.files[number]
        head, dot, rest = name.partition(".")
        last = name.rpartition(".")[2]
        around = scope
        while around >= 0 and head not in symbols.imports.get(around, {}):
            around = symbols.facts.definitions[around].parent
        entry = symbols.imports.get(around if around >= 0 else MODULE_SCOPE, {}).get(head)
        if entry is not None and symbols.settings is not None:
            found = program.follow_import(number, entry)
            if found is not None and found.kind is ResolutionKind.DEFINITION:
                member = program.find_own_member(found.number, rest) if dot else found.number
                return [member] if member >= 0 and program.is_type(member) else []
            if found is None or found.kind is not ResolutionKind.MODULE:
                return []
        family = program.family_of(number)
        types = [n for n in self._by_name().get(last, ()) if program.family_of(program.file_of[n]) == family]
        if dot:
            ending = ".".join(name.split(".")[-2:])
            nested = [each for each in types if f".{program.definition_of[each].qualname}".endswith(f".{ending}")]
            types = nested or types
        if len(types) < 2:
            return types
        own = [each for each in types if program.file_of[each] == number]
        folder = posixpath.dirname(symbols.path)
        near = [each for each in types if posixpath.dirname(program.files[program.file_of[each]].path) == folder]
        return self._innermost(symbols, scope, own) or near or types

    def _innermost(self, symbols: FileSymbols, scope: int, types: list[int]) -> list[int]:
        """Return the types of a file that a name means in a scope: those that stand in the same type, if any do."""
        while scope >= 0 and len(types) > 1:
            inside = [each for each in types if self.program.parent(each) == symbols.first + scope]
            if inside:
                return inside
            scope = symbols.facts.definitions[scope].parent
        return types
