"""Modules of look-alikes and of the rest of a service as source text: what the printers of all languages share.

A printer turns the statements of `bodies` into the idiom of its language: throwing or returned errors, a class or free
functions, names in its spelling. Imports of hubs are written as `@use` lines, as in the chain files.
"""

from collections.abc import Iterable
from typing import NamedTuple

from tests.benchmarks.services.bodies import Entity, Function


class Module(NamedTuple):
    """A file: `stem` in snake case; `is_class` if its functions are methods of a class named after it."""

    folder: str
    stem: str
    entity: Entity
    functions: tuple[Function, ...]
    is_class: bool


class Names(NamedTuple):
    """How a service is called where its language wants it: a package, a module, a crate."""

    name: str
    hubs: tuple[str, ...]


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


class Printer:
    """Shared by all languages: expressions, and statements that open a block. `uses` collects hubs to import."""

    INDENT = "    "
    AND, OR, NOT, TRUE, FALSE = "&&", "||", "!", "true", "false"
    END = ";"
    extension = ""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.uses: dict[str, dict[str, None]] = {}
        self.calls: dict[Module, dict[str, None]] = {}
        self.function: Function | None = None
        self.module: Module | None = None

    def use(self, hub: str, name: str = "") -> None:
        names = self.uses.setdefault(hub, {})
        if name:
            names[name] = None

    def path(self, module: Module) -> str:
        raise NotImplementedError

    def text(self, module: Module) -> str:
        """The source of a module."""
        self.uses, self.calls, self.module = {}, {}, module
        body = "\n\n".join(self.print_function(function) for function in module.functions)
        return self.assemble(module, body)

    def entity_text(self, module: Module) -> str:
        raise NotImplementedError

    def test_path(self, module: Module) -> str:
        raise NotImplementedError

    def test_text(self, module: Module, function: Function) -> str:
        raise NotImplementedError

    def assemble(self, module: Module, body: str) -> str:
        raise NotImplementedError

    def print_function(self, function: Function) -> str:
        raise NotImplementedError

    def use_lines(self) -> list[str]:
        return [f"@use {hub} {','.join(names)}".rstrip() for hub, names in sorted(self.uses.items())]

    # Names

    def variable(self, name: str) -> str:
        return name

    def field(self, item: str, name: str) -> str:
        return f"{item}.{self.variable(name)}"

    def method(self, name: str) -> str:
        return camel(name)

    # Expressions

    def expr(self, e: object) -> str:
        if isinstance(e, bool):
            return self.TRUE if e else self.FALSE
        if isinstance(e, int):
            return str(e)
        if isinstance(e, str):
            return self.variable(e)
        assert isinstance(e, tuple)
        head, *rest = e
        match head:
            case "lit":
                return self.literal(rest[0])
            case "field":
                return self.field(*rest)
            case "len":
                return self.length(rest[0])
            case "truth":
                return self.expr(rest[0])
            case "not":
                return f"{self.NOT}{self.expr(rest[0])}"
            case "and":
                return f"{self.grouped(rest[0])} {self.AND} {self.grouped(rest[1])}"
            case "or":
                return f"{self.grouped(rest[0])} {self.OR} {self.grouped(rest[1])}"
            case "join":
                return self.join(rest)
            case "//":
                return self.divide(*rest)
            case "==" | "!=":
                return self.equal(head, *rest)
            case "call":
                return self.call(*rest)
        return f"{self.expr(rest[0])} {head} {self.expr(rest[1])}"

    def grouped(self, e: object) -> str:
        text = self.expr(e)
        return f"({text})" if isinstance(e, tuple) and e[0] in ("and", "or") else text

    def literal(self, text: str) -> str:
        return f'"{text}"'

    def length(self, name: str) -> str:
        return f"len({name})"

    def divide(self, a: object, b: object) -> str:
        return f"{self.expr(a)} / {self.expr(b)}"

    def equal(self, operator: str, a: object, b: object) -> str:
        return f"{self.expr(a)} {operator} {self.expr(b)}"

    def join(self, parts: Iterable[object]) -> str:
        return " + ".join(self.expr(part) for part in parts)

    def call(self, module: Module, function: Function, argument: str) -> str:
        raise NotImplementedError

    def type_of_field(self, name: str) -> str:
        assert self.module
        return dict(self.module.entity.fields)[name]

    # Statements

    def block(self, statements: Iterable[tuple], depth: int) -> list[str]:
        return [line for each in statements for line in self.statement(each, depth)]

    def statement(self, s: tuple, depth: int) -> list[str]:
        head, *rest = s
        pad = self.INDENT * depth
        if head == "if":
            return self.branch(*rest, depth)
        if head == "for":
            name, items, inner = rest
            return [pad + self.loop(name, items), *self.block(inner, depth + 1), *self.close(pad)]
        lines = getattr(self, f"do_{head}")(*rest)
        return [pad + line for line in ([lines] if isinstance(lines, str) else lines)]

    def close(self, pad: str) -> list[str]:
        return [pad + "}"]

    def opening(self, condition: object) -> str:
        return f"if ({self.expr(condition)}) {{"

    def branch(self, condition: object, then: tuple, other: tuple, depth: int) -> list[str]:
        pad = self.INDENT * depth
        lines = [pad + self.opening(condition), *self.block(then, depth + 1)]
        if other:
            lines += [pad + "} else {", *self.block(other, depth + 1)]
        return [*lines, *self.close(pad)]

    def loop(self, name: str, items: str) -> str:
        raise NotImplementedError

    def do_set(self, name: str, value: object) -> str:
        return f"{self.variable(name)} = {self.expr(value)}{self.END}"

    def do_inc(self, name: str, value: object) -> str:
        return f"{self.variable(name)} += {self.expr(value)}{self.END}"

    def do_return(self, value: object) -> str:
        return f"return {self.expr(value)}{self.END}"
