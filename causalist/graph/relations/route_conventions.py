"""Conventions of frameworks for routes: files whose own path is a route, and handlers that are named, not linked.

In: the paths, exports and definitions of a program, facts of routes. Out: methods and paths with what handles them.
`BoundNames` says which type a template, scene or page means, and what it names of that.

Next.js, SvelteKit, Nuxt and Astro serve files: a file exports a function for each method, or one as the default. Rails,
Phoenix, Java, Kotlin, Ktor and Rust name handlers. What imports and edges say of a handler is read by `routes`.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.node_and_edge_arrays import NodeDrafts, RelationEdge
from causalist.graph.program import Program
from causalist.graph.relations.message_handlers import is_in_reach
from causalist.graph.relations.route_paths import ANY
from causalist.graph.rules import RuleName
from causalist.model.facts import LinkForm, RouteFact
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind

_SERVING_FILE = lazy_regex(
    r"(?:^|/)(?:app/(?P<app>(?:.+/)?)(?P<kind>route|page)|src/routes/(?P<kit>(?:.+/)?)\+server"
    r"|(?P<nuxt>server/(?:api|routes)/.+)|pages/(?P<pages>.+))\.(?:[cm]?[jt]s|[jt]sx)$"
)
_SERVING_WORDS = ("/route.", "/page.", "/+server.", "server/", "pages/")
_NUXT_METHOD = lazy_regex(r"\.(get|post|put|patch|delete|head|options)$")
_VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


class ServedFile(NamedTuple):
    """A route that the path of a file says.

    `definition` is what the file exports to handle it, -1 where that is none of its own. A page is shown, not asked for
    as data.
    """

    method: str
    path: str
    file: int
    definition: int
    is_page: bool


def find_served_files(program: Program, is_test: Callable[[int], bool]) -> Iterator[ServedFile]:
    """Yield the routes that files are, in the order of the files."""
    layouts: set[str] = set()  # roots of applications of Next.js
    waiting: list[tuple[int, re.Match[str]]] = []
    for number, symbols in enumerate(program.files):
        path = f"/{symbols.path}"
        if "/app/layout." in path:
            layouts.add(path.partition("/app/layout.")[0])
        if any(word in path for word in _SERVING_WORDS) and _is_ecmascript(symbols):
            match = _SERVING_FILE.search(path)
            if match and not is_test(number):
                waiting.append((number, match))
    for number, match in waiting:
        symbols = program.files[number]
        verbs = [verb for verb in _VERBS if _has_export(symbols, verb)]
        path = match["app"] or match["kit"] or match["pages"] or ""
        is_page, has_default = match["kind"] == "page", _has_export(symbols, "default")
        if is_page:
            verbs = []
            has_default = has_default and match.string.partition("/app/")[0] in layouts
        elif match["nuxt"]:
            path, verbs = match["nuxt"].removeprefix("server/").removeprefix("routes/"), []
        elif match["pages"] and not path.startswith("api/"):
            has_default = False
        full = _path_of_file(path)
        if full is None:
            continue
        for verb in verbs:
            yield ServedFile(verb, full, number, _find_export(symbols, verb), is_page=False)
        if not verbs and has_default and not match["kit"] and match["kind"] != "route":
            method_suffix = _NUXT_METHOD.search(full) if match["nuxt"] else None
            method = method_suffix[1].upper() if method_suffix else "GET" if is_page else "ANY"
            path = full[: method_suffix.start()] if method_suffix else full
            yield ServedFile(method, path, number, _find_export(symbols, "default"), is_page)


def _is_ecmascript(symbols: FileSymbols) -> bool:
    return symbols.settings is not None and symbols.settings.family == "ecmascript"


def _has_export(symbols: FileSymbols, name: str) -> bool:
    return name in symbols.by_qualname or name in symbols.exports or name in symbols.reexports


def _find_export(symbols: FileSymbols, name: str) -> int:
    """Return the definition of the file that it exports under a name, or -1."""
    return symbols.by_qualname.get(symbols.exports.get(name, name), symbols.by_qualname.get(name, -1))


def _path_of_file(path: str) -> str | None:
    """Return the path that the path of a file serves, or None where it serves none by itself.

    >>> _path_of_file("(shop)/items/[id]/"), _path_of_file("docs/[[...slug]]/"), _path_of_file("@side/x/")
    ('/items/[id]', '/docs/[...slug]', None)
    >>> _path_of_file("api/users/index"), _path_of_file("")
    ('/api/users', '/')
    """
    parts = [part for part in path.strip("/").split("/") if part and not re.fullmatch(r"\([\w-]+\)", part)]
    if any(part.startswith(("@", "_", "(.")) for part in parts):
        return None
    if parts and parts[-1] == "index":
        parts.pop()
    return "/" + "/".join(re.sub(r"^\[\[(.*)\]\]$", r"[\1]", part) for part in parts)


_ROUTE_FUNCTION = lazy_regex(r"\bfun\s+(?:<[^>]*>\s*)?(?:Route|Routing|Application)\.")
_MODULE_FILE = lazy_regex(r"(/mod)?[.]rs$")


# What the methods of a class of Django REST framework handle: by a method of HTTP, of all and of one.
_VIEW_ACTIONS = {
    "GET": ("list", "retrieve"), "POST": ("create", ""), "PUT": ("", "update"), "PATCH": ("", "partial_update"),
    "DELETE": ("", "destroy"),
}  # fmt: skip
_ONE = "{pk}/"  # ends the path of one of them
# Bases from outside by which all methods are known that a class handles: those that they bring.
_BRINGS = {
    "ReadOnlyModelViewSet": ("list", "retrieve"), "GenericViewSet": (), "ViewSet": (), "ViewSetMixin": (),
    "ListModelMixin": ("list",), "RetrieveModelMixin": ("retrieve",), "CreateModelMixin": ("create",),
    "UpdateModelMixin": ("update", "partial_update"), "DestroyModelMixin": ("destroy",), "GenericAPIView": (),
    "object": (),
}  # fmt: skip
_PLAIN_VIEWS = frozenset(
    ("View", "APIView", "GenericAPIView", "MethodView", "Resource", "HTTPEndpoint", "object", "TemplateResponseMixin")
)


@dataclass(slots=True)
class ClassViews:
    """Methods of classes of Python that handle the routes of the class."""

    program: Program
    drafts: NodeDrafts
    declared: dict[int, list[tuple[int, RouteFact]]] = field(default_factory=dict)  # by the method that says them

    def methods_of(self, target: int, method: str, path: str) -> list[tuple[str, int]]:
        """Return (method of HTTP, draft of what handles it) of a route that leads to a draft.

        What a base from outside handles leads to the class. A class that has no method for it has no such route.
        """
        number = self._class_at(target)
        if number < 0:
            return [(method, target)]
        bases = self._outer_bases(number)
        if method == ANY:
            own = [(verb, self._member(number, verb.lower())) for verb in _VERBS]
            found = [(verb, draft) for verb, draft in own if draft >= 0]
            return found if found and bases <= _PLAIN_VIEWS else [*found, (ANY, target)]
        action = _VIEW_ACTIONS.get(method, ("", ""))[path.endswith(_ONE)]
        member = self._member(number, action) if action else -1
        member = member if member >= 0 else self._member(number, method.lower())
        if member < 0 and action and bases and all(each in _BRINGS and action not in _BRINGS[each] for each in bases):
            return []
        return [(method, member if member >= 0 else target)]

    def declared_by(self, target: int) -> list[tuple[int, RouteFact]]:
        """Return (file, fact) of what the methods of a class say of themselves."""
        number = self._class_at(target)
        facts: dict[str, list[tuple[int, RouteFact]]] = {}
        for each in self.program.linear_bases(number) if number >= 0 else ():
            symbols = self.program.files[self.program.file_of[each]]
            inside = f"{self.program.definition_of[each].qualname}."
            for name, member in symbols.by_qualname.items():
                if name.startswith(inside) and member in self.declared:
                    facts.setdefault(name.removeprefix(inside), self.declared[member])
        return [fact for several in facts.values() for fact in several]

    def _class_at(self, draft: int) -> int:
        """Return the class of Python that a draft is, or -1."""
        number = draft - self.drafts.n_files
        if not 0 <= number < len(self.program.definition_of) or not self.program.is_type(number):
            return -1
        return number if self.program.family_of(self.program.file_of[number]) == "python" else -1

    def _member(self, number: int, name: str) -> int:
        member = self.program.find_member(number, name)[0]
        return self.drafts.of_definition(member) if member >= 0 else -1

    def _outer_bases(self, number: int) -> set[str]:
        """Return the last names of the bases of a class that are not of the program."""
        names, known = set[str](), set[str]()
        for each in self.program.linear_bases(number):
            symbols = self.program.files[self.program.file_of[each]]
            known.add(self.program.definition_of[each].name)
            names.update(name.rpartition(".")[2] for name in symbols.bases_written(each))
        return names - known


@dataclass(slots=True)
class NamedHandlers:
    """Look-up of handlers in all files of a program. Tables are made when they are first asked."""

    program: Program
    declared: dict[str, list[tuple[int, RouteFact]]] = field(default_factory=dict)  # by the name of the function
    _controllers: dict[str, int] = field(default_factory=dict)  # end of the path of a controller of Rails -> file
    _route_functions: dict[str, list[int]] | None = None  # name -> functions of Kotlin with routes
    _types: dict[str, list[int]] | None = None  # by name
    _modules: dict[str, int] | None = None  # qualified name in Elixir and PHP -> definition

    def declared_by(self, number: int, route: RouteFact) -> list[tuple[int, RouteFact]]:
        """Return (file, fact) of what the function that a route names declares of itself; nothing where several fit."""
        *modules, name = (each for each in route.handler.split(".") if each not in ("crate", "self", "super"))
        ending = "/".join(["", *modules])
        fitting = [
            (file, each)
            for file, each in self.declared.get(name, ())
            if f"/{_MODULE_FILE.sub('', self.program.files[file].path)}".endswith(ending)
        ]
        fitting = [each for each in fitting if each[0] == number] or fitting
        return fitting if len({file for file, _ in fitting}) == 1 else []

    def member_of_declared(self, number: int, route: RouteFact) -> int:
        """Return the method `handler::list` of what a parameter or property is declared to be, or -1."""
        head, dot, last = route.handler.partition(".")
        if not dot or "." in last or self.program.family_of(number) != "java":
            return -1
        if self._types is None:
            self._types = {}
            for i, each in enumerate(self.program.definition_of):
                if each.kind in TYPE_KINDS:
                    self._types.setdefault(each.name, []).append(i)
        symbols, scope = self.program.files[number], route.scope
        while scope >= 0:
            bindings = symbols.bindings.get(scope, {})
            declared = bindings.get(head) or bindings.get(f".{head}")
            if declared is not None:
                types = self._types.get(declared.type.rpartition(".")[2], [])
                return self.program.find_member(types[0], last)[0] if len(types) == 1 else -1
            scope = symbols.facts.definitions[scope].parent
        return -1

    def action(self, handler: str) -> int:
        """Return the method that `admin/users#show` names by the conventions of Rails, or `A.Users#show`, or -1."""
        controller, _, action = handler.partition("#")
        if controller[:1].isupper():
            return self._find_qualified(controller, action)
        ending = f"controllers/{controller}_controller.rb"
        if not self._controllers:
            for number, symbols in enumerate(self.program.files):
                at = symbols.path.find("controllers/")
                if at >= 0 and symbols.path.endswith("_controller.rb"):
                    self._controllers.setdefault(symbols.path[at:], number)
        file = self._controllers.get(ending, -1)
        if file < 0:
            return -1
        symbols = self.program.files[file]
        own = next((n for name, n in symbols.by_qualname.items() if name.endswith(f"Controller.{action}")), -1)
        if own >= 0:
            return own
        types = (
            n for name, n in symbols.by_qualname.items() if name.endswith("Controller") and self.program.is_type(n)
        )
        return next((member for each in types if (member := self.program.find_member(each, action)[0]) >= 0), -1)

    def _find_qualified(self, owner: str, name: str) -> int:
        """Return the function of a module by its qualified name, the module itself where it has none of that name."""
        if self._modules is None:
            self._modules = {}
            for symbols in self.program.files:
                if symbols.facts.language == "elixir":
                    self._modules.update((name, number) for name, number in reversed(symbols.by_qualname.items()))
                elif symbols.facts.language == "php":
                    package = symbols.facts.package
                    self._modules.update((f"{package}.{name}", n) for name, n in symbols.by_qualname.items())
        return self._modules.get(f"{owner}.{name}", self._modules.get(owner, -1))

    def route_function(self, number: int, name: str) -> int:
        """Return the function `fun Route.name()` in the file, its folder or anywhere, or -1; none of several."""
        if self._route_functions is None:
            self._route_functions = {}
            for symbols in self.program.files:
                for i, each in enumerate(symbols.facts.definitions if symbols.facts.language == "kotlin" else ()):
                    if _ROUTE_FUNCTION.search(each.signature):
                        self._route_functions.setdefault(each.name, []).append(symbols.first + i)
        functions, path = self._route_functions.get(name, []), self.program.files[number].path
        for folder in (path, posixpath.dirname(path), ""):
            near = [n for n in functions if self.program.files[self.program.file_of[n]].path.startswith(folder)]
            if near:
                return near[0] if len(near) == 1 else -1
        return -1


SCENE, PAGE, WIRE, STIMULUS, LIVE, HELPER = "scene", "page", "wire", "stimulus", "live", "helper"
SERVER = "server"  # messages of servers of OTP
PROCESS_NAMES = ("process", "process:page")
BOUND_NAMES = (SCENE, PAGE, WIRE, STIMULUS, LIVE, HELPER, SERVER)
_COMPONENT = lazy_regex(r"(?:^|/)livewire/(?P<name>.+?)(?:\.blade)?\.php$", re.IGNORECASE)
_CONTROLLER = lazy_regex(r"(?:^|/)controllers/(?P<name>.+?)[_-]controller\.[cm]?[jt]s$")
_HELPERS = lazy_regex(r"(?:^|/)helpers/.+\.rb$")
_MAX_BOUND = 8  # definitions that one name may mean: more say nothing
_COMMAND_END = "Command"  # of the name of a command of a page that a method stands for


@dataclass(slots=True)
class BoundNames:
    """Definitions that templates, scenes and pages name in a form of a framework. Tables are made when first asked."""

    program: Program
    drafts: NodeDrafts
    _components: dict[str, list[int]] | None = None  # path of a template of Livewire, without marks -> types
    _controllers: dict[str, list[int]] | None = None  # identifier of a controller of Stimulus -> files
    _helpers: dict[str, list[int]] | None = None  # name -> functions of modules of helpers
    _types: dict[str, list[int]] | None = None  # types of C# by name

    def find_edges(
        self, number: int, route: RouteFact, source: int, events: Mapping[tuple[str, str], Iterable[int]]
    ) -> Iterator[RelationEdge]:
        """Yield the edges from a template, scene or page to what it names; what it shows of a type it reads.

        `events` are the drafts of what handles an event, by the kind and name of the event.
        """
        if route.name == LIVE:
            stem = self.program.files[number].path.partition(".")[0]
            every = sorted(events.get((LIVE, route.path), ()))
            own = [each for each in every if self.drafts[self.drafts[each].file].id.partition(".")[0] == stem]
            targets = own or (every if len(every) == 1 else [])
        elif route.name == SERVER:
            targets = self._in_server(route, source, sorted(events.get((SERVER, route.path), ())))
        else:
            targets = [self.drafts.of_definition(each) for each in self._find(number, route)]
        for target in dict.fromkeys(targets if len(targets) <= _MAX_BOUND else ()):
            kind = self.drafts[target].kind
            how = EdgeKind.CALLS if route.name == HELPER else EdgeKind.EMITS
            if kind not in CALLABLE_KINDS:
                how = EdgeKind.REFERENCES if kind in TYPE_KINDS else EdgeKind.READS
            elif route.name == PAGE and self._is_property(target):
                how = EdgeKind.REFERENCES
            if target != source and is_in_reach(self.drafts, source, target):
                yield RelationEdge(source, target, how, RuleName.BOUND, route.row, len(targets))

    def _in_server(self, route: RouteFact, source: int, handlers: list[int]) -> list[int]:
        """Return what handles a message: in the module that is named, in that of the sender, or the only one at all.

        What a process sends to itself is handled in its own module.
        """
        modules = {each: self.drafts[each].id.rpartition(".")[0] for each in handlers}
        if route.receiver and route.receiver != "__MODULE__":
            return [each for each, module in modules.items() if re.search(rf"[.:]{re.escape(route.receiver)}$", module)]
        own = [each for each, module in modules.items() if module == self.drafts[source].id.rpartition(".")[0]]
        is_other = len(handlers) == 1 and not route.path.startswith("info:")
        return own or (handlers if is_other else [])

    def _is_property(self, draft: int) -> bool:
        """Return True for a function that is declared without parameters, as a property is."""
        signature = self.program.definition_of[draft - self.drafts.n_files].signature
        return "(" not in re.split(r"=>|\{|=", signature)[0]

    def _find(self, number: int, route: RouteFact) -> list[int]:
        """Return the definitions that a name of a file may mean; several where nothing tells them apart."""
        if route.name == SCENE:
            return self._of_scene(number, route)
        if route.name == PAGE:
            return self._of_page(route)
        if route.name == WIRE:
            return [member for each in self._find_component(number) if (member := self._member(each, route.path)) >= 0]
        if route.name == STIMULUS:
            return self._of_controller(route.path)
        return self._helper_named(route.path) if route.name == HELPER else []

    def _member(self, type_: int, name: str) -> int:
        return self.program.find_member(type_, name)[0]

    def _of_scene(self, number: int, route: RouteFact) -> list[int]:
        """Return the method of the script that a node of a scene has."""
        declared, path = self.program.declared, self.program.files[number].path
        if route.receiver == ".":
            written = declared.scripts.get(path, "")
        else:
            written = next((each for name, each in declared.nodes.get(path, ()) if name == route.receiver), "")
        found = declared.find_resource(written, path) if written else None
        member = self._member(found[1], route.path) if found is not None else -1
        return [member] if member >= 0 else []

    def _of_page(self, route: RouteFact) -> list[int]:
        """Return the member of the type behind a page in XAML, or of the type that it shows."""
        if self._types is None:
            self._types = {}
            for i, each in enumerate(self.program.definition_of):
                if each.kind in TYPE_KINDS and self.program.family_of(self.program.file_of[i]) == "csharp":
                    self._types.setdefault(each.name, []).append(self.program.canonical.get(i, i))
        name = route.receiver.rstrip("|?")
        names = [name]
        if route.receiver.endswith("?"):  # the type is known by its name alone
            stem = re.sub(r"(?:View|Page|Window|Control|Dialog)$", "", name)
            names = [f"{name}ViewModel", f"{name}Model", f"{stem}ViewModel", f"{stem}PageViewModel"]
        types = next((self._types[each] for each in names if each in self._types), [])
        path = route.path
        wanted = [path, path[:1].lower() + path[1:], f"_{path[:1].lower()}{path[1:]}"]
        if path.endswith(_COMMAND_END):
            stem = path.removesuffix(_COMMAND_END)
            wanted += [stem, f"{stem}Async", f"On{stem}", f"On{stem}Async"]
        if route.receiver.endswith("|"):
            wanted = wanted[:1]
        if len(set(types)) != 1:
            return []
        member = next((found for each in wanted if (found := self._member(types[0], each)) >= 0), -1)
        return [member] if member >= 0 else []

    def _find_component(self, number: int) -> list[int]:
        """Return the component of Livewire that a template belongs to, by its path or by what renders it."""
        if self._components is None:
            self._components = {}
            views: dict[str, list[int]] = {}
            for symbols in self.program.files:
                named = _COMPONENT.search(symbols.path) if symbols.facts.language == "php" else None
                types = [
                    symbols.first + i for i, each in enumerate(symbols.facts.definitions) if each.kind in TYPE_KINDS
                ]
                if named is not None and types and ".blade." not in symbols.path:
                    self._components.setdefault(_without_marks(named["name"]), []).append(types[0])
                for link in symbols.facts.links if types else ():
                    if link.form == LinkForm.RENDER and "livewire" in link.name:
                        views.setdefault(_without_marks(link.name.partition("livewire")[2].strip("./")), []).append(
                            types[0]
                        )
            for key, types in views.items():
                self._components.setdefault(key, types)
        named = _COMPONENT.search(self.program.files[number].path)
        return self._components.get(_without_marks(named["name"]), []) if named is not None else []

    def _of_controller(self, path: str) -> list[int]:
        """Return the method `menu#open` of a controller of Stimulus, of `menu#` the controller itself."""
        if self._controllers is None:
            self._controllers = {}
            for number, symbols in enumerate(self.program.files):
                named = _CONTROLLER.search(symbols.path) if _is_ecmascript(symbols) else None
                if named is not None:
                    identifier = named["name"].replace("/", "--").replace("_", "-")
                    self._controllers.setdefault(identifier, []).append(number)
        identifier, _, method = path.partition("#")
        found = []
        for number in self._controllers.get(identifier, ()):
            symbols = self.program.files[number]
            types = [
                n for n in symbols.by_qualname.values() if self.program.is_type(n) and self.program.file_of[n] == number
            ]
            members = [self._member(each, method) if method else each for each in types]
            found += [each for each in members if each >= 0][:1]
        return found if len(found) == 1 else []

    def _helper_named(self, name: str) -> list[int]:
        """Return the function of that name which one module of helpers of Rails gives to all templates."""
        if self._helpers is None:
            self._helpers = {}
            for symbols in self.program.files:
                for i, each in enumerate(symbols.facts.definitions if _HELPERS.search(symbols.path) else ()):
                    if each.kind in CALLABLE_KINDS and each.kind != NodeKind.HANDLER:
                        self._helpers.setdefault(each.name, []).append(symbols.first + i)
        found = self._helpers.get(name, [])
        return found if len(found) == 1 else []


def _without_marks(path: str) -> str:
    """Return a path of a template or component as both have it.

    >>> _without_marks("Admin/UserList"), _without_marks("admin.user-list")
    ('adminuserlist', 'adminuserlist')
    """
    return re.sub(r"[^a-z0-9]", "", path.lower())
