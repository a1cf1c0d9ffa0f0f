"""Edges of routes and events: from a path to what handles it, from a client to the path, from emitters to handlers.

In: the `RouteFact` facts of all files and the edges found so far. Out: edges `routes` and `emits`. A route is a node
outside of files, `external:route:GET /users/{id}`, since clients and handlers may be in any language. Its path is that
of the registration below the prefixes and mounts of its router, which may be in other files.

A router is known by the name that its file gives it. A function that takes a router as parameter is one itself: what it
registers is below the path where it is mounted. All routes are found anew at each change, because one mount changes the
paths of many files.
"""

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.node_and_edge_arrays import EdgeSites, NodeDrafts, RelationEdge
from causalist.graph.program import Program
from causalist.graph.relations import route_conventions
from causalist.graph.relations.message_handlers import DELEGATE, OBSERVED_NAMES, MessageHandlers, is_in_reach
from causalist.graph.relations.route_conventions import BoundNames, ClassViews, NamedHandlers, find_served_files
from causalist.graph.relations.route_paths import ANY, TYPES_IN, CommonPaths, ServedPaths, join_path
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Import, ImportKind, RouteFact, RouteForm
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, ROUTE_PREFIX, TYPE_KINDS, NodeKind, Role, last_name

_MAX_PATHS = 4  # of one registration, by several mounts
_MAX_DEPTH = 8  # of mounts, and of imports that pass on a name
_MAX_HANDLERS = 8  # of one event, or routes of one request: more say nothing
_HANDLING = (EdgeKind.CALLS, EdgeKind.REFERENCES)  # kinds of edges that lead to a named handler
_HELD_PATH = re.compile(r"""=\s*["'`](/[^"'`\s]*)["'`]""")
_ACTION = "[action]"  # in the path of a controller of ASP.NET: the name of the method
_CONTROLLER = "[controller]"  # the same: the name of the class without "Controller"
_CONVENTION = f"/{_CONTROLLER}/{_ACTION}"  # of a controller without a path
_BY_DEFAULT = re.compile(r"(?:/Home)?/Index$")  # what may be left out of such a path
_ALL_ROUTERS = "*"
_SERVED = (RouteForm.ROUTE, RouteForm.INHERITED)
_NAMING = (*_SERVED, RouteForm.LISTEN, RouteForm.RECEIVE, RouteForm.OBSERVE)
_COMMAND = "command"  # the kind of names that a console runs
_RULE_OF_NAMES = {
    _COMMAND: RuleName.QUEUED,
    "task": RuleName.QUEUED,
    "job": RuleName.QUEUED,
    **dict.fromkeys(OBSERVED_NAMES, RuleName.HANDLED),
    **dict.fromkeys(route_conventions.PROCESS_NAMES, RuleName.BOUND),
}
_MAX_DISPATCHED = 300  # members whose names begin alike
_MAX_INHERITING = 100  # types that serve one inherited route
_INHERITED_BY_OVERRIDES = ("java", "csharp")  # families in which an overriding method has the route of the overridden
_LARAVEL_API = "routes/api.php"  # whose routes Laravel has below `/api`
_WITHOUT_INSTANCES = re.compile(r"\b(?:abstract|interface)\b")

_FoundEdge = tuple[tuple[int, int, int], EdgeSites]
_Router = tuple[int, str]  # number of a file; the name of a router, `()n` for the function n, "" for all of the file


class _Mount(NamedTuple):
    parent: _Router
    path: str
    replaces: bool  # the prefix that the router has itself
    name: str = ""  # the namespace of the names of what is mounted


@dataclass(slots=True)
class RouteEdgeFinder:
    """Routes of a program."""

    program: Program
    drafts: NodeDrafts
    _prefixes: dict[_Router, str] = field(default_factory=dict)
    _of_types: dict[int, list[str]] = field(default_factory=dict)  # type -> prefixes of its routes
    _derived: dict[int, list[int]] = field(default_factory=dict)  # type -> types that have it as a direct base
    _routed: set[int] = field(default_factory=set)  # methods of types that are routes
    _mounts: dict[_Router, list[_Mount]] = field(default_factory=dict)
    _constants: dict[str, set[str]] = field(default_factory=dict)  # name -> paths that constants of that name hold
    _folders: list[tuple[str, _Mount]] = field(default_factory=list)  # those whose files are mounted
    _spaces: dict[_Router, str] = field(default_factory=dict)  # namespaces of the names of routes
    _named: NamedHandlers = field(init=False)
    _messages: MessageHandlers = field(init=False)
    _bound: BoundNames = field(init=False)
    _views: ClassViews = field(init=False)
    _common: CommonPaths = field(default_factory=CommonPaths)  # what stands before all routes of types

    def __post_init__(self) -> None:
        self._named = NamedHandlers(self.program)
        self._messages = MessageHandlers(self.program, self.drafts)
        self._bound = BoundNames(self.program, self.drafts)
        self._views = ClassViews(self.program, self.drafts)

    def needed_scopes(self) -> set[int]:
        """Return the drafts of the code that names handlers, whose edges `find_edges` reads."""
        naming = {
            self._scope_draft(number, route.scope) for number, route in self._routes() if self._names_handler(route)
        }
        return naming.union(self._messages.needed_scopes(self._routes()))

    def find_edges(self, edges: Iterable[_FoundEdge]) -> Iterator[RelationEdge]:
        """Yield all edges of routes and events. `edges` has at least the edges that leave `needed_scopes`."""
        routes = list(self._routes())
        by_file = list(find_served_files(self.program, self._is_test))
        if not routes and not by_file:
            return
        needed = self.needed_scopes()
        named: dict[int, dict[str, list[tuple[int, int]]]] = {}  # scope -> last name -> (target, row)
        for (source, target, kind), sites in edges:
            if source in needed and kind in _HANDLING and self.drafts[target].kind != NodeKind.EXTERNAL:
                last = last_name(self.drafts[target].id)
                named.setdefault(source, {}).setdefault(last, []).append((target, sites.row))
        self._collect_routers(routes)
        handlers: dict[str, dict[int, int]] = {}  # `GET /path` -> draft -> row of the registration in it, or -1
        events: dict[tuple[str, str], set[int]] = {}  # (kind of the name, name) -> drafts
        by_name: dict[str, list[tuple[str, str, int]]] = {}  # name -> (method, path, draft)
        for number, route in routes:
            if route.form in _SERVED:
                names = self._full_names(number, route) if route.name else []
                for path, target in self._serve_paths(number, route, named):
                    for name in names:
                        by_name.setdefault(name, []).append((route.method or ANY, path, target))
                    row = route.row if target in (number, self._scope_draft(number, route.scope)) else -1
                    for method, member in self._views.methods_of(target, route.method or ANY, path):
                        handlers.setdefault(f"{method} {path}", {}).setdefault(member, row)
            elif route.form == RouteForm.DECLARED_AT:
                for method, path, target in self._declared_routes(number, route, named):
                    handlers.setdefault(f"{method or ANY} {path}", {}).setdefault(target, -1)
            elif route.form == RouteForm.LISTEN:
                target = self._handler(number, route, named)
                if route.name != DELEGATE or target != self._scope_draft(number, route.scope):
                    events.setdefault(self._messages.key_of(number, route), set()).add(target)
        for served in by_file:
            target = served.file if served.definition < 0 else self.drafts.of_definition(served.definition)
            handlers.setdefault(f"{served.method} {served.path}", {}).setdefault(target, -1)
        pages = {f"{each.method} {each.path}" for each in by_file if each.is_page}  # no client asks for these
        for name, targets in sorted(handlers.items()):
            source = self.drafts.of_external(f"{ROUTE_PREFIX}{name}")
            for target, row in sorted(targets.items()):
                row = row if row >= 0 else self.drafts[target].start_row
                yield RelationEdge(source, target, EdgeKind.ROUTES, RuleName.ROUTE, row)
        yield from self._request_edges(routes, sorted(handlers.keys() - pages))
        yield from self._link_edges(routes, by_name, handlers)
        yield from self._dispatch_edges(routes)
        yield from self._messages.find_edges(routes, named, lambda number, route: self._handler(number, route, named))
        known = self._messages.is_known
        emitted = [(number, route) for number, route in routes if route.form == RouteForm.EMIT and known(number, route)]
        if any(route.name == _COMMAND for _, route in emitted):
            for name, command in self._messages.django_commands().items():
                events.setdefault((_COMMAND, name), set()).add(self.drafts.of_definition(command))
        for number, route in emitted:
            source = self._scope_draft(number, route.scope)
            if route.name in route_conventions.BOUND_NAMES:
                yield from self._bound.find_edges(number, route, source, events)
                continue
            named_so = events.get(self._messages.key_of(number, route)) or self._messages.in_store(number, route)
            reached = [each for each in named_so if each != source and is_in_reach(self.drafts, source, each)]
            if len(reached) <= _MAX_HANDLERS:
                rule = _RULE_OF_NAMES.get(route.name, RuleName.EVENT)
                for target in sorted(reached):
                    yield RelationEdge(source, target, EdgeKind.EMITS, rule, route.row)

    def _routes(self) -> Iterator[tuple[int, RouteFact]]:
        for number, symbols in enumerate(self.program.files):
            for route in symbols.facts.routes:
                yield number, route

    @staticmethod
    def _names_handler(route: RouteFact) -> bool:
        return bool(route.handler) and route.form in _NAMING

    def _scope_draft(self, number: int, scope: int) -> int:
        return number if scope < 0 else self.drafts.of_definition(self.program.files[number].first + scope)

    # -- handlers

    def _declared_routes(
        self, number: int, route: RouteFact, named: Mapping[int, Mapping[str, list[tuple[int, int]]]]
    ) -> Iterator[tuple[str, str, int]]:
        """Yield (method, path, draft) of the routes that a registered function, or a class, declares itself."""
        prefixes = self._prefixes_of(self._router(number, route.scope, route.receiver), ())
        if self.program.family_of(number) == "python":
            declared = self._views.declared_by(self._handler(number, route, named))
            prefixes = [join_path(prefix, route.path) for prefix in prefixes]
        else:
            declared = self._named.declared_by(number, route)
        for (file, each), prefix in itertools.product(declared, prefixes):
            target = self.drafts.of_definition(self.program.files[file].first + each.definition)
            yield each.method, join_path(prefix, each.path), target

    def _handler(self, number: int, route: RouteFact, named: Mapping[int, Mapping[str, list[tuple[int, int]]]]) -> int:
        """Return the draft of what handles a route: a definition, or the code that registers it."""
        symbols = self.program.files[number]
        if route.definition >= 0:
            return self.drafts.of_definition(symbols.first + route.definition)
        scope = self._scope_draft(number, route.scope)
        if not route.handler:
            return scope
        if "#" in route.handler:
            action = self._named.action(route.handler)
            return scope if action < 0 else self.drafts.of_definition(action)
        last = route.handler.rpartition(".")[2]
        if route.form not in _SERVED and (method := self._messages.member(number, route)) >= 0:
            return self.drafts.of_definition(method)
        if (member := self._named.member_of_declared(number, route)) >= 0:
            return self.drafts.of_definition(member)
        targets = named.get(scope, {}).get(last, [])
        owner = f".{route.handler.rpartition('.')[0].rpartition('.')[2]}.{last}"
        if not any(f".{self.drafts[target].id.rpartition('::')[2]}".endswith(owner) for target, _ in targets):
            types = self._named_types(symbols, route, named.get(scope, {}))
            members = [member for each in types if (member := self.program.find_member(each, last)[0]) >= 0]
            if types:  # what else is called so belongs to another type
                return self.drafts.of_definition((members or types)[0])
        if targets:
            return min(targets, key=lambda each: (abs(each[1] - route.row), each[0]))[0]
        file, name = self._router(number, route.scope, route.handler)
        own = int(name[2:]) if name.startswith("()") else self.program.files[file].by_qualname.get(name)
        if own is not None and last != route.handler and self.program.is_type(own):
            member = self.program.find_member(own, last)[0]
            own = member if member >= 0 else own
        return scope if own is None else self.drafts.of_definition(own)

    def _named_types(
        self, symbols: FileSymbols, route: RouteFact, named: Mapping[str, list[tuple[int, int]]]
    ) -> list[int]:
        """Return the types that the code around a registration of `Type.member` names so, nearest first."""
        owner = route.handler.rpartition(".")[0].rpartition(".")[2]
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(owner)
        if entry is not None and owner not in named:  # imported by another name
            owner = (entry.name or entry.module).replace("\\", ".").rpartition(".")[2]
        near = sorted(named.get(owner, ()), key=lambda each: (abs(each[1] - route.row), each[0]))
        numbers = [target - self.drafts.n_files for target, _ in near]
        n = len(self.program.definition_of)
        return [number for number in numbers if 0 <= number < n and self.program.is_type(number)]

    # -- paths

    def _collect_routers(self, routes: Sequence[tuple[int, RouteFact]]) -> None:
        for symbols in self.program.files:
            for position, each in enumerate(symbols.facts.definitions):
                if each.kind in TYPE_KINDS:
                    for above in self.program.bases_of(symbols.first + position):
                        self._derived.setdefault(above, []).append(symbols.first + position)
        for number, route in routes:
            route = route._replace(path=self._constant(route.path))
            if route.form in _SERVED and route.definition >= 0 and not route.receiver:
                self._routed.add(self.program.files[number].first + route.definition)
            if route.form == RouteForm.DECLARED and route.definition >= 0:
                name = self.program.files[number].facts.definitions[route.definition].name
                self._named.declared.setdefault(name, []).append((number, route))
                self._views.declared.setdefault(self.program.files[number].first + route.definition, []).append(
                    (number, route)
                )
            owner = self.program.files[number].first + route.definition
            if route.form == RouteForm.VERSION or (route.form, route.receiver) == (RouteForm.PREFIX, _ALL_ROUTERS):
                self._common.add(route, self.program.family_of(number), owner)
            elif route.form == RouteForm.PREFIX:
                if route.definition >= 0:
                    self._of_types.setdefault(self.program.canonical.get(owner, owner), []).append(route.path)
                else:
                    self._prefixes.setdefault(self._router(number, route.scope, route.receiver), route.path)
        for number, route in routes:
            if route.form == RouteForm.NAMESPACE:
                self._spaces.setdefault(self._router(number, route.scope, route.receiver), route.path)
            elif route.form in (RouteForm.MOUNT, RouteForm.MOUNT_AT):
                route = route._replace(path=self._constant(route.path))
                parent = self._router(number, route.scope, route.receiver)
                if route.handler.startswith("folder:"):
                    folder = self._path_below(number, route.handler.removeprefix("folder:"))
                    self._folders.append((folder, _Mount(parent, route.path, False)))
                    continue
                if route.handler.startswith(TYPES_IN):
                    continue
                below = self._router(number, route.scope, route.handler)
                is_trial = self._is_test(number) and not self._is_test(below[0])  # where a test serves a part
                if below != parent and not is_trial:
                    mount = _Mount(parent, route.path, route.form == RouteForm.MOUNT_AT, route.name)
                    mounts = self._mounts.setdefault(below, [])
                    if mount not in mounts:
                        mounts.append(mount)
        of_types = [pair for pair in routes if pair[1].form == RouteForm.MOUNT and pair[1].handler.startswith(TYPES_IN)]
        for number, route in sorted(of_types, key=lambda each: "/routes/" not in self.program.files[each[0]].path):
            folder = self._path_below(number, route.handler.removeprefix(TYPES_IN))
            prefixes = [join_path(each, route.path) for each in self._prefixes_of((number, ""), ())]
            self._common.add_folder(folder, ["" if each == "/" else each for each in prefixes])
        for number in {number for number, route in routes if route.form == RouteForm.ROUTE}:
            if self.program.files[number].path.endswith(_LARAVEL_API) and (number, "") not in self._mounts:
                self._prefixes.setdefault((number, ""), "/api")

    def _path_below(self, number: int, written: str) -> str:
        """Return the path that is written relative to the folder of a file."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.program.files[number].path), written))

    def _is_test(self, number: int) -> bool:
        return self.drafts[number].role == Role.TEST

    def _constant(self, path: str) -> str:
        """Return a path, or that of the constant that it names: "" if it is not known."""
        if not path.startswith("="):
            return path
        if not self._constants:
            for definition in self.program.definition_of:
                if definition.kind in (NodeKind.CONSTANT, NodeKind.FIELD):
                    match = _HELD_PATH.search(definition.signature)
                    if match:
                        self._constants.setdefault(definition.name, set()).add(match[1])
        held_paths = self._constants.get(path.rpartition(".")[2].lstrip("="), set())
        return next(iter(held_paths)) if len(held_paths) == 1 else ""

    def _serve_paths(
        self, number: int, route: RouteFact, named: Mapping[int, Mapping[str, list[tuple[int, int]]]]
    ) -> Iterator[tuple[str, int]]:
        """Yield each full path of a route with the draft of what handles it."""
        symbols = self.program.files[number]
        parent = symbols.facts.definitions[route.definition].parent if route.definition >= 0 else -1
        if route.receiver or parent < 0:
            target = self._handler(number, route, named)
            yield from ((path, target) for path in self._paths(number, route))
            return
        route = route._replace(path=self._constant(route.path))
        method = symbols.first + route.definition
        for owner, handler in self._serving_types(symbols.first + parent, method, route.form):
            draft = self.drafts.of_definition(handler)
            family, plain = self.program.family_of(number), self._paths_of_type(owner, route.path, "")
            bases = self._common.of(family, (handler, owner), self.program.files[self.program.file_of[owner]].path)
            if any(self._common.is_left_out(family, route.method, each) for each in plain):
                bases = [""]
            for base in bases:
                is_default = not route.path and self._is_conventional(owner)
                for path in self._paths_of_type(owner, route.path, base):
                    full = path.replace(_ACTION, self.program.definition_of[handler].name)
                    yield (_BY_DEFAULT.sub("", full) or "/" if is_default else full), draft

    def _serving_types(self, owner: int, method: int, form: int) -> list[tuple[int, int]]:
        """Return the types that have the route of a method of `owner`, each with the method that handles it.

        These are the type itself unless only others have instances or a path, and those that inherit the method or
        override it without a route of their own.
        """
        derived: list[tuple[int, int]] = []
        waiting, seen = list(self._derived.get(owner, ())), {owner}
        while waiting and len(derived) < _MAX_INHERITING:
            derived_type = waiting.pop(0)
            if derived_type in seen:
                continue
            seen.add(derived_type)
            waiting.extend(self._derived.get(derived_type, ()))
            if self._has_no_instances(derived_type):
                continue
            handler = self._overriding(derived_type, owner, method)
            if handler == method or (handler not in self._routed and self._is_inherited_by_overrides(method)):
                derived.append((derived_type, handler))
        is_whole = self._prefixes_of_type(owner) is not None and not self._has_no_instances(owner)
        if form == RouteForm.INHERITED:
            is_served = any(self._prefixes_of_type(each) is not None for each, _ in derived)
            return [pair for pair in derived if self._prefixes_of_type(pair[0]) is not None] if is_served else []
        return [(owner, method), *derived] if is_whole or not derived else derived

    def _is_inherited_by_overrides(self, method: int) -> bool:
        return self.program.family_of(self.program.file_of[method]) in _INHERITED_BY_OVERRIDES

    def _overriding(self, heir: int, owner: int, method: int) -> int:
        """Return what a method of `owner` is in a type below it: the method itself, or what overrides it."""
        program, name = self.program, self.program.definition_of[method].name
        taken = program.parameters.get(method)
        for each in program.linear_bases(heir):
            if program.canonical.get(each, each) == program.canonical.get(owner, owner):
                break
            symbols = program.files[program.file_of[each]]
            for own in symbols.callables.get(f"{program.definition_of[each].qualname}.{name}", ()):
                others = program.parameters.get(own)
                if taken is None or others is None or len(taken) == len(others):
                    return own
        return method

    def _has_no_instances(self, owner: int) -> bool:
        return bool(_WITHOUT_INSTANCES.search(self.program.definition_of[owner].signature.partition("(")[0]))

    def _prefixes_of_type(self, owner: int) -> list[str] | None:
        """Return the prefixes of a type, or of its nearest base with some; None without any."""
        for each in self.program.linear_bases(owner):
            prefixes = self._of_types.get(self.program.canonical.get(each, each))
            if prefixes is not None:
                return prefixes
        return None

    def _is_conventional(self, owner: int) -> bool:
        """Return True for a controller of ASP.NET without a path, whose methods are found by both names."""
        is_controller = self.program.definition_of[owner].name.endswith("Controller")
        language = self.program.files[self.program.file_of[owner]].facts.language
        return is_controller and language == "csharp" and self._prefixes_of_type(owner) is None

    def _paths_of_type(self, owner: int, path: str, base: str) -> list[str]:
        """Return the full paths of a route of a type, at most a few."""
        if path.startswith("~/"):
            return [path[1:]]
        name = self.program.definition_of[owner].name.removesuffix("Controller")
        if not path and self._is_conventional(owner):
            path = _CONVENTION
        prefixes = [prefix.replace(_CONTROLLER, name) for prefix in self._prefixes_of_type(owner) or [""]]
        paths = [join_path(join_path(base, prefix), path) for prefix in prefixes[:_MAX_PATHS]]
        return [each.replace(_CONTROLLER, name) for each in paths]

    def _paths(self, number: int, route: RouteFact) -> list[str]:
        """Return the full paths of a route that no type has, at most a few."""
        if not route.receiver and route.definition >= 0:
            name = self.program.files[number].facts.definitions[route.definition].name
            return [route.path[1:] if route.path.startswith("~/") else join_path("", route.path).replace(_ACTION, name)]
        router = self._router(number, route.scope, route.receiver)
        # In ecmascript, "/" is the router's own path.
        is_root = route.path == "/" and self.program.family_of(number) == "ecmascript"
        prefixes = self._prefixes_of(router, ())
        paths = [join_path(prefix, "" if is_root and prefix else route.path) for prefix in prefixes]
        return list(dict.fromkeys(paths))

    def _prefixes_of(self, router: _Router, seen: tuple[_Router, ...]) -> list[str]:
        own = self._prefixes.get(router, "")
        mounts = self._mounts.get(router, ())
        if not mounts and router[1]:
            mounts = self._mounts.get((router[0], ""), ())  # the file was mounted as a whole
        if not mounts:
            mounts = self._mounts_of_folders(router[0])
        if not mounts or len(seen) >= _MAX_DEPTH:
            return [own]
        prefixes: list[str] = []
        for mount in mounts:
            if mount.parent in seen or mount.parent == router:
                continue
            for prefix in self._prefixes_of(mount.parent, (*seen, router)):
                path = join_path(prefix, mount.path)
                full = path if mount.replaces else join_path(path, own)
                if full not in prefixes:
                    prefixes.append(full)
        return prefixes[:_MAX_PATHS] or [own]

    def _full_names(self, number: int, route: RouteFact) -> list[str]:
        """Return the names of a route with the namespaces around it, at most a few."""
        router = self._router(number, route.scope, route.receiver)
        return [f"{space}:{route.name}".lstrip(":") for space in self._spaces_of(router, ())]

    def _spaces_of(self, router: _Router, seen: tuple[_Router, ...]) -> list[str]:
        own = self._spaces.get(router) or self._spaces.get((router[0], ""), "")
        mounts = self._mounts.get(router) or self._mounts.get((router[0], ""), [])
        spaces: list[str] = []
        for mount in mounts:
            if mount.parent in seen or mount.parent == router or len(seen) >= _MAX_DEPTH:
                continue
            for above in self._spaces_of(mount.parent, (*seen, router)):
                for space in dict.fromkeys((mount.name or own, own)):
                    full = f"{above}:{space}".strip(":")
                    if full not in spaces:
                        spaces.append(full)
        return spaces[:_MAX_PATHS] or [own]

    def _mounts_of_folders(self, number: int) -> list[_Mount]:
        """Return the mounts of the folders around a file, each with the path of the file's folder below it."""
        mounts = []
        folder = posixpath.dirname(self.program.files[number].path)
        for mounted, mount in self._folders:
            if folder == mounted or folder.startswith(f"{mounted}/"):
                below = folder[len(mounted) :].strip("/")
                mounts.append(mount._replace(path=join_path(mount.path, below) if below else mount.path))
        return mounts

    # -- routers

    def _router(self, number: int, scope: int, name: str) -> _Router:
        """Return the router that a chain names in a scope of a file."""
        symbols = self.program.files[number]
        if name.startswith("module:"):
            return self._module_router(number, symbols, name.removeprefix("module:"))
        name = re.sub(r"^(?:self|this|cls)\.", "", name)
        if not name or name == "default":
            return number, ""
        if name == "()":
            return number, f"(){symbols.first + scope}" if scope >= 0 else ""
        head = name.partition(".")[0]
        if (
            head == name
            and self.program.family_of(number) == "java"
            and (function := self._named.route_function(number, name)) >= 0
        ):
            return self.program.file_of[function], f"(){function}"
        while scope >= 0:
            if (entry := symbols.imports.get(scope, {}).get(head)) is not None:
                return self._imported_router(number, entry, name)
            definition = symbols.facts.definitions[scope]
            if definition.kind not in TYPE_KINDS and definition.parent < 0:
                break
            scope = definition.parent
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(head)
        if entry is not None:
            return self._imported_router(number, entry, name)
        own = symbols.by_qualname.get(head)
        if own is None and symbols.has_folder_imports and head == name:
            own = self.program.packages.find_definition(number, head, self.program.files)
        if own is not None:
            definition = self.program.definition_of[own]
            if definition.kind in (NodeKind.FUNCTION, NodeKind.METHOD):
                return self.program.file_of[own], f"(){own}"
            return number, name
        if scope >= 0:  # a parameter or variable of this function
            return number, f"(){symbols.first + scope}" if self._is_parameter(
                symbols, scope, head
            ) else f"{scope}:{name}"
        return number, name

    @staticmethod
    def _is_parameter(symbols: FileSymbols, scope: int, name: str) -> bool:
        signature = symbols.facts.definitions[scope].signature
        inside = signature.partition("(")[2]
        return bool(re.search(rf"\b{re.escape(name)}\b", inside))

    def _imported_router(self, number: int, entry: Import, name: str, depth: int = 0) -> _Router:
        """Return the router that an imported name means, followed through files that pass it on."""
        rest = name.partition(".")[2]
        symbols = self.program.files[number]
        target, _ = self.program.target_module(number, entry)
        wanted = entry.name if entry.kind in (ImportKind.NAME, ImportKind.REEXPORT) else ""
        if symbols.settings is not None and wanted:
            modules = self.program.modules
            below = (
                modules.find_submodule(target, wanted, symbols.settings.modules)
                if target >= 0 and wanted not in self.program.files[target].by_qualname
                else modules.find_namespace_submodule(
                    symbols.path, entry.module, entry.level, wanted, symbols.settings.modules
                )
                if target < 0
                else -1
            )
            if below >= 0:
                return self._exported_router(below, rest, depth)
        if target < 0:
            return number, name  # from outside of the repository
        if entry.kind == ImportKind.DEFAULT:
            wanted = "default"
        return self._exported_router(target, wanted or rest, depth)

    def _exported_router(self, number: int, name: str, depth: int) -> _Router:
        """Return the router that a file has under a name, "" or "default" for what it exports as a whole."""
        symbols = self.program.files[number]
        name = symbols.exports.get(name or "default", name)
        if not name or name == "default":
            own = symbols.exports.get("default", "")
            if not own or own == "default":
                return number, ""
            name = own
        head = name.partition(".")[0]
        own_definition = symbols.by_qualname.get(head)
        if own_definition is None and symbols.has_folder_imports:
            own_definition = self.program.packages.find_definition(number, head, self.program.files)
        if own_definition is None and depth < _MAX_DEPTH:
            entry = symbols.imports.get(MODULE_SCOPE, {}).get(head) or symbols.reexports.get(head)
            if entry is not None:
                return self._imported_router(number, entry, name, depth + 1)
        if own_definition is not None:
            kind = self.program.definition_of[own_definition].kind
            if kind in (NodeKind.FUNCTION, NodeKind.METHOD):
                return self.program.file_of[own_definition], f"(){own_definition}"
        return number, name

    def _module_router(self, number: int, symbols: FileSymbols, module: str) -> _Router:
        """Return the router of the file that a module is: `./users`, `app.urls`."""
        if symbols.settings is None:
            return number, module
        is_dotted = not module.startswith((".", "/")) and "/" not in module
        entry = Import(MODULE_SCOPE, ImportKind.MODULE, module, 0, "", "", 0)
        target, _ = self.program.target_module(number, entry)
        if target < 0 and is_dotted:
            ending = posixpath.join("", *module.split(".")) + ".py"
            fitting = [i for i, each in enumerate(self.program.files) if f"/{each.path}".endswith(f"/{ending}")]
            target = fitting[0] if len(fitting) == 1 else -1
        return self._exported_router(target, "", 0) if target >= 0 else (number, f"module:{module}")

    # -- computed names

    def _dispatch_edges(self, routes: Sequence[tuple[int, RouteFact]]) -> Iterator[RelationEdge]:
        """Yield edges from what looks up a member by a computed name to the members whose names begin like it.

        They may be of a type above or below the one around the look-up.
        """
        for number, route in routes:
            if route.form != RouteForm.DISPATCH:
                continue
            symbols = self.program.files[number]
            owner = self.program.enclosing_type(symbols.first + route.scope)
            if owner < 0:
                continue
            below, waiting = {owner: None}, [owner]
            while waiting and len(below) < _MAX_INHERITING:
                waiting += [each for each in self._derived.get(waiting.pop(), ()) if each not in below]
                below.update(dict.fromkeys(waiting))
            types = dict.fromkeys(base for each in below for base in self.program.linear_bases(each))
            source = self._scope_draft(number, route.scope)
            targets: dict[int, None] = {}
            for each in types:
                file = self.program.files[self.program.file_of[each]]
                start = f"{self.program.definition_of[each].qualname}."
                for name, member in file.by_qualname.items():
                    is_begun = name.startswith(f"{start}{route.path}") and "." not in name[len(start) :]
                    if is_begun and self.program.definition_of[member].kind in CALLABLE_KINDS:
                        targets[self.drafts.of_definition(member)] = None
            targets.pop(source, None)
            if len(targets) <= _MAX_DISPATCHED:
                for target in targets:
                    yield RelationEdge(source, target, EdgeKind.EMITS, RuleName.NAME_PREFIX, route.row)

    # -- names

    def _link_edges(
        self,
        routes: Sequence[tuple[int, RouteFact]],
        by_name: Mapping[str, Sequence[tuple[str, str, int]]],
        handlers: Mapping[str, Mapping[int, int]],
    ) -> Iterator[RelationEdge]:
        """Yield edges from what asks for the path of a route by its name to what handles it.

        With a method of HTTP it is what handles that at the path, since routes of one path may share a name.
        """
        near: dict[tuple[str, str], list[tuple[str, str, int]]] = {}  # (folder, last name) -> as in `by_name`
        for name, each in by_name.items():
            for row in each:
                folder = self.drafts[row[2]].id.partition("::")[0].rpartition("/")[0]
                near.setdefault((folder, name.rpartition(":")[2]), []).append(row)
        for number, route in routes:
            if route.form != RouteForm.LINK:
                continue
            if route.path.startswith(":"):  # in the namespace of the code around
                rows = near.get((self.drafts[number].id.rpartition("/")[0], route.path[1:]), [])
            else:
                rows = list(by_name.get(route.path, ()))
            candidates = [target for method, _, target in rows if not route.method or method in (route.method, ANY)]
            candidates = candidates or [t for _, path, _ in rows for t in handlers.get(f"{route.method} {path}", ())]
            candidates = candidates or [target for _, _, target in rows]
            targets = sorted({each for each in candidates if self.drafts[each].kind != NodeKind.FILE})
            source = self._scope_draft(number, route.scope)
            if 0 < len(targets) <= _MAX_HANDLERS:
                for target in targets:
                    if target != source:
                        yield RelationEdge(
                            source, target, EdgeKind.ROUTES, RuleName.ROUTE_NAME, route.row, len(targets)
                        )

    # -- requests

    def _request_edges(self, routes: Sequence[tuple[int, RouteFact]], served: Sequence[str]) -> Iterator[RelationEdge]:
        """Yield edges from each request to the routes that fit its path best: those with the most literal segments."""
        paths = ServedPaths(served)
        for number, route in routes:
            if route.form != RouteForm.REQUEST:
                continue
            source = self._scope_draft(number, route.scope)
            for name in (fitting := paths.find(route.method, route.path)):
                target = self.drafts.of_external(f"{ROUTE_PREFIX}{name}")
                yield RelationEdge(source, target, EdgeKind.ROUTES, RuleName.REQUEST, route.row, len(fitting))
