"""Printers of Go, Java and Rust: types everywhere; Go and Rust return errors."""

import textwrap
from collections.abc import Iterable
from typing import ClassVar

from tests.benchmarks.services.bodies import Function
from tests.benchmarks.services.printer import Module, Printer, camel, pascal


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
