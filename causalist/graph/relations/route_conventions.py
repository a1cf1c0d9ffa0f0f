"""Conventions of frameworks for routes: files whose own path is a route, and handlers that are named, not linked.

In: the paths, exports and definitions of a program, facts of routes. Out: methods and paths with what handles them.
Next.js, SvelteKit, Nuxt and Astro serve files: a file exports a function for each method, or one as the default. Rails,
Phoenix, Java, Kotlin, Ktor and Rust name handlers. What imports and edges say of a handler is read by `routes`.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.program import Program
from causalist.model.facts import RouteFact
from causalist.model.node_ids import TYPE_KINDS

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


@dataclass(slots=True)
class NamedHandlers:
    """Look-up of handlers in all files of a program. Tables are made when they are first asked."""

    program: Program
    declared: dict[str, list[tuple[int, RouteFact]]] = field(default_factory=dict)  # by the name of the function
    _controllers: dict[str, int] = field(default_factory=dict)  # end of the path of a controller of Rails -> file
    _route_functions: dict[str, list[int]] | None = None  # name -> functions of Kotlin with routes
    _types: dict[str, list[int]] | None = None  # by name
    _modules: dict[str, int] | None = None  # qualified name in Elixir -> definition

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
