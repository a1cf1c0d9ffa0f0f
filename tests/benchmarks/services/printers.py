"""Modules of look-alikes and of the rest of a service as source text, in five languages.

A printer turns the statements of `bodies` into the idiom of its language: throwing or returned errors, a class or free
functions, names in its spelling. Imports of hubs are written as `@use` lines, as in the chain files.
"""

import textwrap
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

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


class TypeScript(Printer):
    INDENT, extension = "  ", "ts"
    TYPES: ClassVar[dict[str, str]] = {
        "int": "number",
        "text": "string",
        "bool": "boolean",
        "counts": "Map<string, number>",
    }

    def path(self, module: Module) -> str:
        return f"src/{module.folder}/{module.stem.replace('_', '-')}.ts"

    def variable(self, name: str) -> str:
        return camel(name)

    def literal(self, text: str) -> str:
        return f"'{text}'"

    def length(self, name: str) -> str:
        return f"{name}.length"

    def divide(self, a: object, b: object) -> str:
        return f"Math.floor({self.expr(a)} / {self.expr(b)})"

    def equal(self, operator: str, a: object, b: object) -> str:
        return f"{self.expr(a)} {operator}= {self.expr(b)}"

    def join(self, parts: Iterable[object]) -> str:
        said = [str(p[1]) if isinstance(p, tuple) and p[0] == "lit" else f"${{{self.expr(p)}}}" for p in parts]
        return f"`{''.join(said)}`"

    def call(self, module: Module, function: Function, argument: str) -> str:
        name = camel(function.name)
        self.calls.setdefault(module, {})[pascal(module.stem) if module.is_class else name] = None
        return f"new {pascal(module.stem)}().{name}({argument})" if module.is_class else f"{name}({argument})"

    def type(self, kind: str) -> str:
        assert self.module
        entity = pascal(self.module.entity.name)
        if kind in ("request", "response"):
            self.use("types", kind.capitalize())
            return kind.capitalize()
        return {"list": f"{entity}[]", "one": entity}.get(kind) or self.TYPES[kind]

    def print_function(self, function: Function) -> str:
        assert self.module
        self.function = function
        parameters = list(function.parameters)
        if function.loads and "db" not in self.names.hubs:
            parameters.append(("items", "list"))
        said = ", ".join(f"{camel(name)}: {self.type(kind)}" for name, kind in parameters)
        result = self.type(function.result)
        depth = 1 if self.module.is_class else 0
        is_async = function.result == "response"
        head = f"{camel(function.name)}({said}): {f'Promise<{result}>' if is_async else result} {{"
        word = ("async " if is_async else "") + ("" if depth else "function ")
        pad = self.INDENT * depth
        lines = [f"{pad}/** {function.doc} */", f"{pad}{'' if depth else 'export '}{word}{head}"]
        return "\n".join([*lines, *self.block(function.body, depth + 1), f"{pad}}}"])

    def assemble(self, module: Module, body: str) -> str:
        up = "../"
        entity = pascal(module.entity.name)
        lines = [f"import type {{ {entity} }} from './{module.entity.name.replace('_', '-')}.js';"]
        for other, names in self.calls.items():
            where = self.path(other).removeprefix("src/").removesuffix(".ts")
            lines.append(f"import {{ {', '.join(names)} }} from '{up}{where}.js';")
        lines += self.use_lines()
        if "log" in self.uses:
            lines += ["", f"const log = createLogger('{module.folder}');"]
        if module.is_class:
            body = f"export class {pascal(module.stem)} {{\n{body}\n}}"
        return "\n".join([*lines, "", body, ""])

    def entity_text(self, module: Module) -> str:
        fields = "\n".join(f"  {camel(name)}: {self.TYPES[kind]};" for name, kind in module.entity.fields)
        return f"@use types Entity\n\nexport interface {pascal(module.entity.name)} extends Entity {{\n{fields}\n}}\n"

    def test_path(self, module: Module) -> str:
        return f"test/{module.folder}-{module.stem.replace('_', '-')}.test.ts"

    def test_text(self, module: Module, function: Function) -> str:
        name = camel(function.name)
        what = pascal(module.stem) if module.is_class else name
        called = f"new {what}().{name}" if module.is_class else name
        where = self.path(module).removesuffix(".ts")
        return textwrap.dedent(f"""\
            import assert from 'node:assert/strict';
            import {{ test }} from 'node:test';
            import {{ {what} }} from '../{where}.js';

            test('{function.name.replace("_", " ")} of nothing', () => {{
              assert.ok({called}([]) !== undefined);
            }});
            """)

    def loop(self, name: str, items: str) -> str:
        return f"for (const {name} of {items}) {{"

    def do_let(self, name: str, value: object) -> str:
        return f"{'const' if isinstance(value, tuple) else 'let'} {name} = {self.expr(value)};"

    def do_let_text(self, name: str) -> str:
        return f"let {name} = '';"

    def do_new_list(self, name: str) -> str:
        return f"const {name}: {self.type('list')} = [];"

    def do_counts(self, name: str) -> str:
        return f"const {name} = new Map<string, number>();"

    def do_tally(self, name: str, key: object, by: object) -> str:
        k = self.expr(key)
        return f"{name}.set({k}, ({name}.get({k}) ?? 0) + {self.expr(by)});"

    def do_push(self, name: str, value: str) -> str:
        return f"{name}.push({value});"

    def do_fail(self, text: str) -> str:
        self.use("errors", "Invalid")
        return f"throw new Invalid('{text}');"

    def do_log(self, text: str) -> str:
        self.use("log", "createLogger")
        return f"log.info('{text}');"

    def do_count(self, name: str) -> str:
        self.use("metrics", "count")
        return f"count('{name}');"

    def do_setting(self, name: str, key: str, default: int) -> str:
        if "config" not in self.names.hubs:
            return f"const {name} = {default};"
        self.use("config", "settings")
        return f"const {name} = settings.number('{key}', {default});"

    def do_query(self, name: str, key: str) -> str:
        return f"const {name} = request.query['{key}'] ?? '';"

    def do_load(self, name: str) -> list[str]:
        if "db" not in self.names.hubs:
            return []
        assert self.module
        self.use("db", "table")
        entity = self.module.entity.name
        return [f"const {name} = table<{pascal(entity)}>('{entity}').all();"]

    def do_reply(self, value: object) -> str:
        return f"return {{ status: 200, body: {{ value: {self.expr(value)} }} }};"


class Python(Printer):
    AND, OR, NOT, TRUE, FALSE, END = "and", "or", "not ", "True", "False", ""
    extension = "py"
    TYPES: ClassVar[dict[str, str]] = {"int": "int", "text": "str", "bool": "bool", "counts": "dict[str, int]"}

    def path(self, module: Module) -> str:
        return f"{self.names.name}/{module.folder}/{module.stem}.py"

    def method(self, name: str) -> str:
        return name

    def divide(self, a: object, b: object) -> str:
        return f"{self.expr(a)} // {self.expr(b)}"

    def join(self, parts: Iterable[object]) -> str:
        said = [str(p[1]) if isinstance(p, tuple) and p[0] == "lit" else f"{{{self.expr(p)}}}" for p in parts]
        return f'f"{"".join(said)}"'

    def call(self, module: Module, function: Function, argument: str) -> str:
        self.calls.setdefault(module, {})[pascal(module.stem) if module.is_class else function.name] = None
        name = function.name
        return f"{pascal(module.stem)}().{name}({argument})" if module.is_class else f"{name}({argument})"

    def type(self, kind: str) -> str:
        assert self.module
        entity = pascal(self.module.entity.name)
        if kind in ("request", "response"):
            self.use("types", kind.capitalize())
            return kind.capitalize()
        return {"list": f"list[{entity}]", "one": entity}.get(kind) or self.TYPES[kind]

    def print_function(self, function: Function) -> str:
        assert self.module
        parameters = list(function.parameters)
        if function.loads and "db" not in self.names.hubs:
            parameters.append(("items", "list"))
        said = [f"{name}: {self.type(kind)}" for name, kind in parameters]
        depth = 1 if self.module.is_class else 0
        pad = self.INDENT * depth
        head = f"{pad}def {function.name}({', '.join([*(['self'] * depth), *said])}) -> {self.type(function.result)}:"
        doc = f'{pad}    """{function.doc}"""'
        return "\n".join([head, doc, *self.block(function.body, depth + 1)])

    def assemble(self, module: Module, body: str) -> str:
        package = self.names.name
        entity = pascal(module.entity.name)
        lines = [f'"""{module.stem.replace("_", " ").capitalize()} of {module.folder.replace("_", " ")}."""', ""]
        lines.append(f"from {package}.{module.folder}.{module.entity.name} import {entity}")
        for other, names in self.calls.items():
            lines.append(f"from {package}.{other.folder}.{other.stem} import {', '.join(names)}")
        lines += self.use_lines()
        if "log" in self.uses:
            lines += ["", f'_log = get_logger("{module.folder}")']
        if module.is_class:
            body = f"class {pascal(module.stem)}:\n{body}"
        else:
            body = body.replace("\n\ndef ", "\n\n\ndef ")
        return "\n".join([*lines, "", "", body, ""])

    def entity_text(self, module: Module) -> str:
        fields = "\n".join(f"    {name}: {self.TYPES[kind]}" for name, kind in module.entity.fields)
        name = module.entity.name
        title = name.replace("_", " ").capitalize()
        head = f'"""{title}."""\n\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass {pascal(name)}:\n'
        return f"{head}    id: str\n{fields}\n"

    def test_path(self, module: Module) -> str:
        return f"tests/test_{module.folder}_{module.stem}.py"

    def test_text(self, module: Module, function: Function) -> str:
        what = pascal(module.stem) if module.is_class else function.name
        called = f"{what}().{function.name}" if module.is_class else function.name
        return (
            f"from {self.names.name}.{module.folder}.{module.stem} import {what}\n\n\n"
            f"def test_{function.name}_of_nothing():\n    assert {called}([]) is not None\n"
        )

    def opening(self, condition: object) -> str:
        return f"if {self.expr(condition)}:"

    def close(self, pad: str) -> list[str]:
        return []

    def branch(self, condition: object, then: tuple, other: tuple, depth: int) -> list[str]:
        pad = self.INDENT * depth
        lines = [pad + self.opening(condition), *self.block(then, depth + 1)]
        return [*lines, pad + "else:", *self.block(other, depth + 1)] if other else lines

    def loop(self, name: str, items: str) -> str:
        return f"for {name} in {items}:"

    def do_let(self, name: str, value: object) -> str:
        return f"{name} = {self.expr(value)}"

    def do_let_text(self, name: str) -> str:
        return f'{name} = ""'

    def do_new_list(self, name: str) -> str:
        return f"{name} = []"

    def do_counts(self, name: str) -> str:
        return f"{name}: dict[str, int] = {{}}"

    def do_tally(self, name: str, key: object, by: object) -> str:
        k = self.expr(key)
        return f"{name}[{k}] = {name}.get({k}, 0) + {self.expr(by)}"

    def do_push(self, name: str, value: str) -> str:
        return f"{name}.append({value})"

    def do_fail(self, text: str) -> str:
        self.use("errors", "Invalid")
        return f'raise Invalid("{text}")'

    def do_log(self, text: str) -> str:
        self.use("log", "get_logger")
        return f'_log.info("{text}")'

    def do_count(self, name: str) -> str:
        self.use("metrics", "count")
        return f'count("{name}")'

    def do_setting(self, name: str, key: str, default: int) -> str:
        if "config" not in self.names.hubs:
            return f"{name} = {default}"
        self.use("config", "settings")
        return f'{name} = int(settings.number("{key}", {default}))'

    def do_query(self, name: str, key: str) -> str:
        return f'{name} = request.query.get("{key}", "")'

    def do_load(self, name: str) -> list[str]:
        if "db" not in self.names.hubs:
            return []
        assert self.module
        self.use("db", "table")
        return [f'{name} = list(table("{self.module.entity.name}").select())']

    def do_reply(self, value: object) -> str:
        return f'return Response(200, {{"value": {self.expr(value)}}})'


class Go(Printer):
    INDENT, END, extension = "\t", "", "go"
    TYPES: ClassVar[dict[str, str]] = {"int": "int", "text": "string", "bool": "bool", "counts": "map[string]int"}

    def path(self, module: Module) -> str:
        return f"internal/{module.folder.replace('_', '')}/{module.stem}.go"

    def package(self, module: Module) -> str:
        return module.folder.replace("_", "")

    def variable(self, name: str) -> str:
        return camel(name)

    def field(self, item: str, name: str) -> str:
        return f"{item}.{pascal(name)}"

    def call(self, module: Module, function: Function, argument: str) -> str:
        assert self.module
        prefix = ""
        if module.folder != self.module.folder:
            self.calls.setdefault(module, {})
            prefix = f"{self.package(module)}."
        name = pascal(function.name)
        return (
            f"{prefix}{pascal(module.stem)}{{}}.{name}({argument})"
            if module.is_class
            else f"{prefix}{name}({argument})"
        )

    def opening(self, condition: object) -> str:
        text = self.expr(condition)
        return f"if ({text}) {{" if "{}" in text else f"if {text} {{"

    def type(self, kind: str) -> str:
        assert self.module
        entity = pascal(self.module.entity.name)
        if kind in ("request", "response"):
            self.use("types")
            return f"*types.{kind.capitalize()}"
        return {"list": f"[]{entity}", "one": entity}.get(kind) or self.TYPES[kind]

    def print_function(self, function: Function) -> str:
        assert self.module
        self.function = function
        parameters = list(function.parameters)
        if function.loads and "db" not in self.names.hubs:
            parameters.append(("items", "list"))
        said = ", ".join(f"{camel(name)} {self.type(kind)}" for name, kind in parameters)
        result = self.type(function.result)
        if self._has_error():
            result = f"({result}, error)"
        receiver = f"({pascal(self.module.stem)}) " if self.module.is_class else ""
        name = pascal(function.name)
        first, rest = function.doc.split(" ", 1)
        doc = f"// {name} {first.lower()} {rest}"
        return "\n".join([doc, f"func {receiver}{name}({said}) {result} {{", *self.block(function.body, 1), "}"])

    def _has_error(self) -> bool:
        assert self.function
        return self.function.fails or self.function.result == "response"

    def assemble(self, module: Module, body: str) -> str:
        package = self.package(module)
        others = dict.fromkeys(f'\t"MOD/internal/{self.package(other)}"' for other in self.calls)
        lines = [f"package {package}", ""]
        if others or self.uses:
            lines += ["import (", *others, *self.use_lines(), ")", ""]
        if "log" in self.uses:
            body = body.replace("log.Info(", f'logx.For("{package}").Info(')
        if module.is_class:
            name = pascal(module.stem)
            lines += [f"// {name} has no state of its own.", f"type {name} struct{{}}", ""]
        return "\n".join([*lines, body, ""])

    def entity_text(self, module: Module) -> str:
        fields = "\n".join(f"\t{pascal(name)} {self.TYPES[kind]}" for name, kind in module.entity.fields)
        name = pascal(module.entity.name)
        return (
            f"package {self.package(module)}\n\n// {name} is a row.\ntype {name} struct {{\n\tID string\n{fields}\n}}\n"
        )

    def test_path(self, module: Module) -> str:
        return self.path(module).removesuffix(".go") + "_test.go"

    def test_text(self, module: Module, function: Function) -> str:
        name = pascal(function.name)
        called = f"{pascal(module.stem)}{{}}.{name}" if module.is_class else name
        return (
            f'package {self.package(module)}\n\nimport "testing"\n\nfunc Test{pascal(module.stem)}{name}(t *testing.T) '
            f'{{\n\tgot := {called}(nil)\n\tt.Log("of nothing:", got)\n}}\n'
        )

    def loop(self, name: str, items: str) -> str:
        return f"for _, {name} := range {items} {{"

    def do_return(self, value: object) -> str:
        return f"return {self.expr(value)}{', nil' if self._has_error() else ''}"

    def do_let(self, name: str, value: object) -> str:
        return f"{name} := {self.expr(value)}"

    def do_let_text(self, name: str) -> str:
        return f'{name} := ""'

    def do_new_list(self, name: str) -> str:
        return f"var {name} {self.type('list')}"

    def do_counts(self, name: str) -> str:
        return f"{name} := map[string]int{{}}"

    def do_tally(self, name: str, key: object, by: object) -> str:
        return f"{name}[{self.expr(key)}] += {self.expr(by)}"

    def do_push(self, name: str, value: str) -> str:
        return f"{name} = append({name}, {value})"

    def do_fail(self, text: str) -> str:
        self.use("errors")
        return f'return false, errs.Invalid("{text}")'

    def do_log(self, text: str) -> str:
        self.use("log")
        return f'log.Info("{text}")'

    def do_count(self, name: str) -> str:
        self.use("metrics")
        return f'metrics.Count("{name}")'

    def do_setting(self, name: str, key: str, default: int) -> str:
        if "config" not in self.names.hubs:
            return f"{name} := {default}"
        self.use("config")
        return f'{name} := config.Number("{key}", {default})'

    def do_query(self, name: str, key: str) -> str:
        return f'{name} := request.Query["{key}"]'

    def do_load(self, name: str) -> list[str]:
        if "db" not in self.names.hubs:
            return []
        assert self.module
        self.use("db")
        entity = self.module.entity.name
        return [
            f'rows := db.Open("{entity}")',
            f"var {name} []{pascal(entity)}",
            "for _, key := range rows.Keys() {",
            "\tif row, ok := rows.Get(key); ok {",
            f"\t\t{name} = append({name}, row.({pascal(entity)}))",
            "\t}",
            "}",
        ]

    def do_reply(self, value: object) -> str:
        return f"return types.OK({self.expr(value)}), nil"


class Java(Printer):
    extension = "java"
    TYPES: ClassVar[dict[str, str]] = {
        "int": "long",
        "text": "String",
        "bool": "boolean",
        "counts": "Map<String, Long>",
    }

    def path(self, module: Module) -> str:
        return f"J/{module.folder.replace('_', '')}/{pascal(module.stem)}.java"

    def variable(self, name: str) -> str:
        return camel(name)

    def field(self, item: str, name: str) -> str:
        return f"{item}.{camel(name)}()"

    def length(self, name: str) -> str:
        return f"{name}.size()"

    def equal(self, operator: str, a: object, b: object) -> str:
        if isinstance(a, tuple) and a[0] == "field" and self.type_of_field(a[2]) == "text":
            return f"{'!' if operator == '!=' else ''}{self.expr(a)}.equals({self.expr(b)})"
        if isinstance(b, tuple) and b[0] == "lit":
            return f"{'!' if operator == '!=' else ''}{self.expr(a)}.equals({self.expr(b)})"
        return super().equal(operator, a, b)

    def join(self, parts: Iterable[object]) -> str:
        return '"" + ' + super().join(parts)

    def call(self, module: Module, function: Function, argument: str) -> str:
        self.calls.setdefault(module, {})
        name, cls = camel(function.name), pascal(module.stem)
        return f"new {cls}().{name}({argument})" if module.is_class else f"{cls}.{name}({argument})"

    def type(self, kind: str) -> str:
        assert self.module
        entity = pascal(self.module.entity.name)
        if kind == "request":
            self.use("types")
            return "Exchange"
        if kind == "response":
            return "void"
        return {"list": f"List<{entity}>", "one": entity}.get(kind) or self.TYPES[kind]

    def print_function(self, function: Function) -> str:
        assert self.module
        self.function = function
        parameters = list(function.parameters)
        if function.loads and ("db" not in self.names.hubs or not self.module.is_class):
            parameters.append(("items", "list"))
        said = ", ".join(f"{self.type(kind)} {camel(name)}" for name, kind in parameters)
        word = "" if self.module.is_class else "static "
        head = f"    public {word}{self.type(function.result)} {camel(function.name)}({said}) {{"
        return "\n".join([f"    /** {function.doc} */", head, *self.block(function.body, 2), "    }"])

    def assemble(self, module: Module, body: str) -> str:
        imports = [
            f"import PKG.{other.folder.replace('_', '')}.{pascal(other.stem)};"
            for other in self.calls
            if other.folder != module.folder
        ]
        for name, package in (("ArrayList", "util"), ("HashMap", "util"), ("List", "util"), ("Map", "util")):
            if f"{name}<" in body.replace("HashMap<" if name == "Map" else "\0", "").replace(
                "ArrayList<" if name == "List" else "\0", ""
            ):
                imports.append(f"import java.{package}.{name};")
        cls = pascal(module.stem)
        loads = module.is_class and any(f.loads for f in module.functions) and "db" in self.names.hubs
        if loads:
            self.use("db")
        fields = [f'    private static final Log LOG = Log.of("{module.folder}");'] if "log" in self.uses else []
        if loads:
            fields.append(f"    private final Table<{pascal(module.entity.name)}> rows = new Table<>();")
        if not module.is_class:
            fields.append(f"    private {cls}() {{}}")
        head = [f"package PKG.{module.folder.replace('_', '')};", "", *imports, *self.use_lines(), ""]
        about = f"/** {module.stem.replace('_', ' ').capitalize()}. */"
        opening = f"public {'' if module.is_class else 'final '}class {cls} {{"
        return "\n".join([*head, about, opening, *fields, *([""] if fields else []), body, "}", ""])

    def entity_text(self, module: Module) -> str:
        fields = ", ".join(f"{self.TYPES[kind]} {camel(name)}" for name, kind in module.entity.fields)
        name = pascal(module.entity.name)
        package = module.folder.replace("_", "")
        return f"package PKG.{package};\n\n/** A row. */\npublic record {name}(String id, {fields}) {{}}\n"

    def test_path(self, module: Module) -> str:
        return f"T/{module.folder.replace('_', '')}/{pascal(module.stem)}Test.java"

    def test_text(self, module: Module, function: Function) -> str:
        cls = pascal(module.stem)
        called = f"new {cls}()" if module.is_class else cls
        return textwrap.dedent(f"""\
            package PKG.{module.folder.replace("_", "")};

            import java.util.List;

            public class {cls}Test {{
                public void test{pascal(function.name)}() {{
                    Object of = {called}.{camel(function.name)}(List.of());
                    if (of == null) {{
                        throw new AssertionError();
                    }}
                }}
            }}
            """)

    def loop(self, name: str, items: str) -> str:
        assert self.module
        return f"for ({pascal(self.module.entity.name)} {name} : {items}) {{"

    def do_let(self, name: str, value: object) -> str:
        return f"long {name} = {self.expr(value)};"

    def do_let_text(self, name: str) -> str:
        return f'String {name} = "";'

    def do_new_list(self, name: str) -> str:
        return f"{self.type('list')} {name} = new ArrayList<>();"

    def do_counts(self, name: str) -> str:
        return f"Map<String, Long> {name} = new HashMap<>();"

    def do_tally(self, name: str, key: object, by: object) -> str:
        amount = f"{by}L" if isinstance(by, int) else self.expr(by)
        return f"{name}.merge({self.expr(key)}, {amount}, Long::sum);"

    def do_push(self, name: str, value: str) -> str:
        return f"{name}.add({value});"

    def do_fail(self, text: str) -> str:
        self.use("errors")
        return f'throw AppException.invalid("{text}");'

    def do_log(self, text: str) -> str:
        self.use("log")
        return f'LOG.info("{text}");'

    def do_count(self, name: str) -> str:
        self.use("metrics")
        return f'Metrics.count("{name}");'

    def do_setting(self, name: str, key: str, default: int) -> str:
        if "config" not in self.names.hubs:
            return f"long {name} = {default};"
        self.use("config")
        return f'long {name} = Config.number("{key}", {default});'

    def do_query(self, name: str, key: str) -> str:
        return f'String {name} = request.query.getOrDefault("{key}", "");'

    def do_load(self, name: str) -> list[str]:
        assert self.module
        if "db" not in self.names.hubs or not self.module.is_class:
            return []
        return [f"{self.type('list')} {name} = rows.all();"]

    def do_reply(self, value: object) -> list[str]:
        return [f"request.reply(200, {self.expr(value)});", "return;"]


class Rust(Printer):
    extension = "rs"
    TYPES: ClassVar[dict[str, str]] = {
        "int": "i64",
        "text": "String",
        "bool": "bool",
        "counts": "BTreeMap<String, i64>",
    }

    def path(self, module: Module) -> str:
        return f"src/{module.folder}/{module.stem}.rs"

    def length(self, name: str) -> str:
        return f"({name}.len() as i64)"

    def equal(self, operator: str, a: object, b: object) -> str:
        return f"{self.expr(a)} {operator} {self.expr(b)}"

    def join(self, parts: Iterable[object]) -> str:
        parts = list(parts)
        holes = "".join(str(p[1]) if isinstance(p, tuple) and p[0] == "lit" else "{}" for p in parts)
        values = [self.expr(p) for p in parts if not (isinstance(p, tuple) and p[0] == "lit")]
        return f'format!("{holes}", {", ".join(values)})'

    def call(self, module: Module, function: Function, argument: str) -> str:
        what = pascal(module.stem) if module.is_class else function.name
        self.calls.setdefault(module, {})[what] = None
        return f"{what}.{function.name}(&{argument})" if module.is_class else f"{what}(&{argument})"

    def opening(self, condition: object) -> str:
        return f"if {self.expr(condition)} {{"

    def type(self, kind: str, is_parameter: bool = False) -> str:
        assert self.module
        entity = pascal(self.module.entity.name)
        if kind in ("request", "response"):
            self.use("types", kind.capitalize())
            return f"&{kind.capitalize()}" if is_parameter else kind.capitalize()
        if kind == "list":
            return f"&[{entity}]" if is_parameter else f"Vec<{entity}>"
        return f"&{entity}" if kind == "one" else self.TYPES[kind]

    def print_function(self, function: Function) -> str:
        assert self.module
        self.function = function
        said = [f"{name}: {self.type(kind, True)}" for name, kind in function.parameters]
        if function.loads and "db" in self.names.hubs:
            self.use("db", "Table")
            said.append(f"table: &Table<{pascal(self.module.entity.name)}>")
        elif function.loads:
            said.append(f"items: {self.type('list', True)}")
        depth = 1 if self.module.is_class else 0
        pad = self.INDENT * depth
        result = self.type(function.result)
        if function.fails:
            self.use("errors", "Outcome")
            result = f"Outcome<{result}>"
        head = f"{pad}pub fn {function.name}({', '.join([*(['&self'] * depth), *said])}) -> {result} {{"
        return "\n".join([f"{pad}/// {function.doc}", head, *self.block(function.body, depth + 1), f"{pad}}}"])

    def assemble(self, module: Module, body: str) -> str:
        entity = pascal(module.entity.name)
        lines = [
            f"//! {module.stem.replace('_', ' ').capitalize()}.",
            "",
            f"use super::{module.entity.name}::{entity};",
        ]
        for other, names in self.calls.items():
            names_said = next(iter(names)) if len(names) == 1 else "{" + ", ".join(names) + "}"
            lines.append(f"use crate::{other.folder}::{other.stem}::{names_said};")
        if "BTreeMap" in body:
            lines.append("use std::collections::BTreeMap;")
        lines += self.use_lines()
        if "log" in self.uses:
            lines += ["", f'const LOG: Logger = Logger::new("{module.folder}");']
        if module.is_class:
            name = pascal(module.stem)
            body = f"pub struct {name};\n\nimpl {name} {{\n{body}\n}}"
        return "\n".join([*lines, "", body, ""])

    def entity_text(self, module: Module) -> str:
        fields = "\n".join(f"    pub {name}: {self.TYPES[kind]}," for name, kind in module.entity.fields)
        name = module.entity.name
        head = f"//! {name.replace('_', ' ').capitalize()}.\n\n#[derive(Debug, Clone, Default, PartialEq)]\n"
        return f"{head}pub struct {pascal(name)} {{\n    pub id: String,\n{fields}\n}}\n"

    def test_path(self, module: Module) -> str:
        return f"tests/{module.folder}_{module.stem}.rs"

    def test_text(self, module: Module, function: Function) -> str:
        what = pascal(module.stem) if module.is_class else function.name
        called = f"{what}.{function.name}" if module.is_class else what
        return (
            f"use CRATE::{module.folder}::{module.stem}::{what};\n\n#[test]\nfn {function.name}_of_nothing() {{\n"
            f'    println!("{{:?}}", {called}(&[]));\n}}\n'
        )

    def loop(self, name: str, items: str) -> str:
        return f"for {name} in {items}.iter() {{"

    def owned(self, value: object) -> str:
        text = self.expr(value)
        if isinstance(value, tuple) and value[0] == "lit":
            return f"{text}.to_string()"
        if isinstance(value, tuple) and value[0] == "field" and self.type_of_field(value[2]) == "text":
            return f"{text}.clone()"
        return text

    def do_set(self, name: str, value: object) -> str:
        return f"{name} = {self.owned(value)};"

    def do_return(self, value: object) -> str:
        assert self.function
        text = self.owned(value)
        return f"return Ok({text});" if self.function.fails else f"return {text};"

    def do_let(self, name: str, value: object) -> str:
        return f"let {'' if isinstance(value, tuple) else 'mut '}{name} = {self.expr(value)};"

    def do_let_text(self, name: str) -> str:
        return f"let mut {name} = String::new();"

    def do_new_list(self, name: str) -> str:
        return f"let mut {name}: {self.type('list')} = Vec::new();"

    def do_counts(self, name: str) -> str:
        return f"let mut {name}: BTreeMap<String, i64> = BTreeMap::new();"

    def do_tally(self, name: str, key: object, by: object) -> str:
        return f"*{name}.entry({self.owned(key)}).or_insert(0) += {self.expr(by)};"

    def do_push(self, name: str, value: str) -> str:
        return f"{name}.push({value}.clone());"

    def do_fail(self, text: str) -> str:
        self.use("errors", "AppError")
        return f'return Err(AppError::Invalid("{text}".into()));'

    def do_log(self, text: str) -> str:
        self.use("log", "Logger")
        return f'LOG.info("{text}");'

    def do_count(self, name: str) -> str:
        self.use("metrics")
        return f'metrics::count("{name}");'

    def do_setting(self, name: str, key: str, default: int) -> str:
        if "config" not in self.names.hubs:
            return f"let {name} = {default};"
        self.use("config")
        return f'let {name} = config::number("{key}", {default});'

    def do_query(self, name: str, key: str) -> str:
        return f'let {name} = request.query.get("{key}").cloned().unwrap_or_default();'

    def do_load(self, name: str) -> list[str]:
        return [f"let {name} = table.all();"] if "db" in self.names.hubs else []

    def do_reply(self, value: object) -> str:
        return f"return Response::ok({self.expr(value)}.to_string());"


PRINTERS: dict[str, type[Printer]] = {
    "typescript": TypeScript,
    "python": Python,
    "go": Go,
    "java": Java,
    "rust": Rust,
}
