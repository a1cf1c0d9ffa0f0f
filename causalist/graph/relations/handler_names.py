"""Handlers of routes by name: conventions of Rails and Phoenix, types of Java and Kotlin, functions of Ktor and Rust.

In: a program and facts of routes. Out: definitions. What imports and edges say of a handler is read by `routes`.
"""

import posixpath
import re
from dataclasses import dataclass, field

from causalist.graph.program.program import Program
from causalist.model.facts import RouteFact
from causalist.model.symbols import TYPE_KINDS

_ROUTE_FUNCTION = re.compile(r"\bfun\s+(?:<[^>]*>\s*)?(?:Route|Routing|Application)\.")
_MODULE_FILE = re.compile(r"(/mod)?[.]rs$")


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
        if not dot or "." in last or self._family(number) != "java":
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
            return self._qualified(controller, action)
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
        return next((found for each in types if (found := self.program.find_member(each, action)[0]) >= 0), -1)

    def _qualified(self, owner: str, name: str) -> int:
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
        found, path = self._route_functions.get(name, []), self.program.files[number].path
        for place in (path, posixpath.dirname(path), ""):
            near = [n for n in found if self.program.files[self.program.file_of[n]].path.startswith(place)]
            if near:
                return near[0] if len(near) == 1 else -1
        return -1

    def _family(self, number: int) -> str:
        settings = self.program.files[number].settings
        return settings.family if settings is not None else ""
