"""Printers of TypeScript and Python: errors are thrown, and a module imports names."""

import textwrap
from collections.abc import Iterable
from typing import ClassVar

from tests.benchmarks.services.bodies import Function
from tests.benchmarks.services.printer import Module, Printer, camel, pascal


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
