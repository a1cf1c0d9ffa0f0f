"""Writes the services as git repositories, with a manifest of their questions and chains.

The chain files are given; hubs lie in one of three layouts, of which the second has a barrel that everybody imports
from; look-alikes are handlers, services and views about entities named after the words of the question; the rest are
domains that have nothing to do with it. The same seed gives the same bytes and the same commits.
"""

import json
import os
import posixpath
import random
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.services.bodies import SHAPES_BY_KIND, Entity, Function, Shapes, plural
from tests.benchmarks.services.chains import Spec, read_hubs, read_specs
from tests.benchmarks.services.printer import Module, Names, Printer, camel, pascal
from tests.benchmarks.services.printers_dynamic import Python, TypeScript
from tests.benchmarks.services.printers_static import Go, Java, Rust

_PRINTERS: dict[str, type[Printer]] = {
    "typescript": TypeScript,
    "python": Python,
    "go": Go,
    "java": Java,
    "rust": Rust,
}
_MIN_ALIKE_FUNCTIONS = 10
_HUB_PATHS = {
    "typescript": {
        "log": ("src/logger.ts", "src/shared/logging.ts", "src/core/log.ts"),
        "config": ("src/config.ts", "src/shared/settings.ts", "src/core/config.ts"),
        "errors": ("src/errors.ts", "src/shared/errors.ts", "src/core/failures.ts"),
        "types": ("src/types.ts", "src/shared/types.ts", "src/core/contracts.ts"),
        "db": ("src/db.ts", "src/shared/database.ts", "src/core/store.ts"),
        "metrics": ("src/metrics.ts", "src/shared/counters.ts", "src/core/metrics.ts"),
    },
    "python": {
        "log": ("PKG/log.py", "PKG/shared/logging.py", "PKG/core/loggers.py"),
        "config": ("PKG/config.py", "PKG/shared/settings.py", "PKG/core/config.py"),
        "errors": ("PKG/errors.py", "PKG/shared/errors.py", "PKG/core/failures.py"),
        "types": ("PKG/types.py", "PKG/shared/types.py", "PKG/core/contracts.py"),
        "db": ("PKG/db.py", "PKG/shared/database.py", "PKG/core/store.py"),
        "metrics": ("PKG/metrics.py", "PKG/shared/counters.py", "PKG/core/metrics.py"),
    },
    "rust": {
        "log": ("src/log.rs", "src/support/log.rs", "src/base/logging.rs"),
        "config": ("src/config.rs", "src/support/config.rs", "src/base/config.rs"),
        "errors": ("src/errors.rs", "src/support/errors.rs", "src/base/failure.rs"),
        "types": ("src/types.rs", "src/support/types.rs", "src/base/contracts.rs"),
        "db": ("src/db.rs", "src/support/db.rs", "src/base/store.rs"),
        "metrics": ("src/metrics.rs", "src/support/metrics.rs", "src/base/metrics.rs"),
    },
    "go": {
        "log": ("internal/logx/logx.go", "pkg/logx/logx.go", "internal/base/logx/log.go"),
        "config": ("internal/config/config.go", "pkg/config/config.go", "internal/base/config/config.go"),
        "errors": ("internal/errs/errs.go", "pkg/errs/errors.go", "internal/base/errs/errs.go"),
        "types": ("internal/types/types.go", "pkg/types/types.go", "internal/base/types/types.go"),
        "db": ("internal/db/db.go", "pkg/db/table.go", "internal/base/db/db.go"),
        "metrics": ("internal/metrics/metrics.go", "pkg/metrics/metrics.go", "internal/base/metrics/metrics.go"),
    },
    "java": {
        hub: tuple(f"J/{folder}/{name}.java" for folder in ("common", "support", "base"))
        for hub, name in zip(
            ("log", "config", "errors", "types", "db", "metrics"),
            ("Log", "Config", "AppException", "Exchange", "Table", "Metrics"),
            strict=True,
        )
    },
}
_BARRELS = {"typescript": "src/shared/index.ts", "python": "PKG/shared/__init__.py", "rust": "src/support/mod.rs"}
_NOUN_TEXT = """
    drum pallet barge harvest orchard barrel kiln loom anvil lantern saddle quarry glacier tram depot ferry hangar rail
    vineyard beehive bakery canteen theatre rehearsal choir ticket exhibit museum statue mural canvas gallery lecture
    seminar campus dormitory syllabus exam tutor ward clinic vaccine dosage ambulance shift roster payroll pension lease
    tenant plumbing boiler meter turbine panel battery charger scooter helmet bicycle tunnel bridge ferry beacon buoy
    anchor trawler herring reef aquarium kennel stable paddock tractor silo greenhouse seedling fertilizer irrigation
"""
_QUALIFIER_TEXT = "spare winter daily rented foreign local second shared heavy coastal mobile yearly borrowed"
_TAIL_TEXT = "history summary preference report note label group template badge digest calendar survey"
_HEAD_TEXT = "recent archived favorite team pending monthly sample external"
_FIELD_TEXTS = {
    "int": "amount weight height rank size age quantity distance capacity duration cents volume score width depth",
    "text": "title color country status owner_name region grade shape street material season label kind brand",
    "bool": "active visible fragile paid hidden urgent locked",
}
_NOUNS, _QUALIFIERS = _NOUN_TEXT.split(), _QUALIFIER_TEXT.split()
_ALIKE_TAILS, _ALIKE_HEADS = _TAIL_TEXT.split(), _HEAD_TEXT.split()
_FIELDS = {kind: text.split() for kind, text in _FIELD_TEXTS.items()}
_KINDS = ("report", "rules", "service", "handler", "job", "view", "desk")
_ALIKE_KINDS = ("handler", "service", "view", "handler", "desk", "report")
_DATE = "2024-03-01T12:00:00 +0000"


class Service(NamedTuple):
    """Texts by path, and what the manifest says."""

    files: dict[str, str]
    row: dict[str, object]


def write(folder: Path, seed: int) -> int:
    """Writes all services and `manifest.jsonl` into `folder`; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for spec in read_specs():
        service = make_service(spec, seed)
        write_repository(folder / spec.id, service.files)
        rows.append(service.row)
    (folder / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return len(rows)


def write_repository(folder: Path, files: dict[str, str]) -> None:
    """Writes the files and commits them, at a fixed date."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in
           (("NAME", "Service"), ("EMAIL", "service@example.org"), ("DATE", _DATE))}  # fmt: skip
    environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Import the service")):
        subprocess.run(["git", "-C", str(folder), *command], check=True, env=environment, capture_output=True)


def make_service(spec: Spec, seed: int) -> Service:
    """The files of a service, in order of their paths."""
    return _Maker(spec, random.Random(f"{seed}:{spec.id}")).make()


class _Maker:
    def __init__(self, spec: Spec, chance: random.Random) -> None:
        self.spec, self.chance = spec, chance
        self.names = Names(spec.id.replace("-", "_"), spec.hubs)
        self.printer: Printer = _PRINTERS[spec.language](self.names)
        self.layout = chance.randrange(3) if spec.n_files > 20 else 0  # a small service has no barrel
        self.paths = {hub: _HUB_PATHS[spec.language][hub][self.layout] for hub in spec.hubs}
        self.barrel = _BARRELS.get(spec.language) if self.layout == 1 else None
        self.files: dict[str, str] = {}
        self.modules: list[Module] = []
        self.folders: set[str] = set()

    def make(self) -> Service:
        hubs = self._add_hubs()
        self.files.update(self.spec.files)
        self._add_manifest()
        self.files["README.md"] = ""  # counted from the beginning, written at the end
        entry = self._entry_paths()
        self.files.update(dict.fromkeys(entry, ""))
        alike = self._add_alike()
        self._add_rest()
        self._write_entries()
        self._write_readme()
        used = [self._final_path(path) for path in (*hubs, *entry)]
        files = {self._final_path(path): self._final_text(path, text) for path, text in sorted(self.files.items())}
        row: dict[str, object] = {
            "id": self.spec.id,
            "lang": self.spec.language,
            "files": len(files),
            "question": self.spec.question,
            "chain": [{**link._asdict(), "path": self._final_path(link.path)} for link in self.spec.chain],
            "hubs": sorted(used),
            "lookalikes": sorted(self._final_path(path) for path in alike),
        }
        return Service(dict(sorted(files.items())), row)

    # Hubs, and what is fixed

    def _add_hubs(self) -> list[str]:
        texts = read_hubs(self.spec.language)
        for hub, path in self.paths.items():
            self.files[path] = texts[hub]
        if self.barrel:
            self.files[self.barrel] = self._barrel_text(texts)
        return [*self.paths.values(), *([self.barrel] if self.barrel else [])]

    def _barrel_text(self, texts: dict[str, str]) -> str:
        stems = {hub: posixpath.splitext(posixpath.basename(path))[0] for hub, path in self.paths.items()}
        match self.spec.language:
            case "typescript":
                return "".join(f"export * from './{stem}.js';\n" for stem in stems.values())
            case "python":
                lines = [
                    f"from PKG.shared.{stem} import {', '.join(_python_names(texts[hub]))}"
                    for hub, stem in stems.items()
                ]
                return '"""What everybody uses."""\n\n' + "\n".join(lines) + "\n"
        modules = "".join(f"pub mod {stem};\n" for stem in stems.values())
        again = {"log": "Logger", "errors": "{AppError, Outcome}", "types": "{Request, Response}", "db": "Table"}
        uses = "".join(f"pub use {stem}::{again[hub]};\n" for hub, stem in stems.items() if hub in again)
        return f"//! What everybody uses.\n\n{modules}\n{uses}"

    def _add_manifest(self) -> None:
        name = self.spec.id
        path, text = {
            "typescript": (
                "package.json",
                json.dumps({"name": name, "type": "module", "scripts": {"test": "node --test"}}, indent=2) + "\n",
            ),
            "python": ("pyproject.toml", f'[project]\nname = "{name}"\nversion = "1.0"\nrequires-python = ">=3.11"\n'),
            "go": ("go.mod", "module MOD\n\ngo 1.22\n"),
            "java": (
                "pom.xml",
                f"<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>org.{self.names.name}</groupId>\n"
                f"  <artifactId>{name}</artifactId>\n  <version>1.0</version>\n</project>\n",
            ),
            "rust": ("Cargo.toml", f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\n'),
        }[self.spec.language]
        self.files[path] = text

    def _entry_paths(self) -> list[str]:
        return {
            "typescript": ["src/main.ts"],
            "python": ["PKG/app.py"],
            "go": ["cmd/server/main.go"],
            "java": ["J/Application.java"],
            "rust": ["src/lib.rs"],
        }[self.spec.language]

    # Look-alikes and the rest

    def _left(self) -> int:
        return self.spec.n_files - len(self.files)

    def _add_alike(self) -> list[str]:
        words, chance = list(self.spec.words), self.chance
        n_modules = max(1, min(14, round(self._left() * 0.3)))
        names = [f"{a}_{b}" for a in words for b in [*_ALIKE_TAILS, *(w for w in words if w != a)]]
        names += [f"{head}_{word}" for head in (*self.spec.heads, *_ALIKE_HEADS) for word in words]
        chance.shuffle(names)
        before = set(self.files)
        while n_modules > 0:
            entity = self._entity(names.pop())
            folder = plural(chance.choice([word for word in entity.name.split("_") if word in words]))
            n_here = min(n_modules, chance.randrange(1, 4))
            with_model = self._left() > n_modules + 1
            fewest = -(-_MIN_ALIKE_FUNCTIONS // max(1, n_modules)) if n_modules < 5 else 3
            self._add_domain(folder, entity, n_here, _ALIKE_KINDS, with_model, fewest)
            n_modules -= n_here
        return sorted(set(self.files) - before)

    def _add_rest(self) -> None:
        said = set(re.findall(r"[a-z]+", self.spec.question)) | set(self.spec.words)
        nouns = [noun for noun in dict.fromkeys(_NOUNS) if noun not in said]
        self.chance.shuffle(nouns)
        domains: list[str] = []
        n_docs = 0
        while self._left() > 0:
            if self._left() == 1 or self.chance.random() < 0.08:
                n_docs += 1
                self._add_doc(n_docs)
            elif self.chance.random() < 0.15 and self._add_test():
                continue
            elif not nouns and not domains:
                break
            else:
                noun = nouns.pop() if nouns else self.chance.choice(domains)
                domains.append(noun)
                name = noun if self.chance.random() < 0.6 else f"{self.chance.choice(_QUALIFIERS)}_{noun}"
                self._add_domain(
                    plural(noun), self._entity(name), min(self._left() - 1, self.chance.randrange(2, 6)), _KINDS
                )

    def _entity(self, name: str) -> Entity:
        fields = [
            (field, kind)
            for kind, (low, high) in (("int", (2, 4)), ("text", (2, 4)), ("bool", (1, 2)))
            for field in self.chance.sample(_FIELDS[kind], self.chance.randrange(low, high + 1))
        ]
        self.chance.shuffle(fields)
        return Entity(name, tuple(fields))

    def _add_domain(
        self,
        folder: str,
        entity: Entity,
        n_modules: int,
        kinds: tuple[str, ...],
        with_model: bool = True,
        fewest: int = 2,
    ) -> None:
        """A model and modules about it, each in a file; with no room for a model it stands in the first module."""
        chance = self.chance
        model = Module(folder, entity.name, entity, (), False)
        if self.printer.path(model) in self.files:
            return
        self.printer.module = model
        self.files[self.printer.path(model)] = self.printer.entity_text(model)
        if not with_model:
            n_modules = max(1, n_modules)
        shapes = Shapes(entity, self.spec.hubs, chance)
        taken: set[str] = set()
        near: list[Module] = []
        for kind in chance.sample(kinds, min(n_modules, len(set(kinds)))):
            n_functions = max(fewest, min(9, round(chance.lognormvariate(1.2, 0.5))))
            drawn = [shapes.draw(chance.choice(SHAPES_BY_KIND[kind]), taken) for _ in range(n_functions)]
            linked = tuple(self._with_call(each, near) for each in drawn)
            module = Module(folder, f"{entity.name}_{kind}", entity, linked, chance.random() < 0.4)
            path = self.printer.path(module)
            if path in self.files:
                continue
            self.files[path] = self.printer.text(module)
            near.append(module)
            self.modules.append(module)

    def _with_call(self, function: Function, near: list[Module]) -> Function:
        """The function, perhaps with a call of one in another file of its domain."""
        callees = [
            (module, each)
            for module in near
            for each in module.functions
            if each.parameters == (("items", "list"),) and each.result in ("int", "text") and not each.fails
        ]
        has_items = ("items", "list") in function.parameters or ("load", "items") in function.body
        if not callees or not has_items or self.chance.random() < 0.25:
            return function
        module, callee = self.chance.choice(callees)
        called = ("call", module, callee, "items")
        test = (">", called, 100) if callee.result == "int" else ("==", called, ("lit", "held"))
        if "log" in self.spec.hubs:
            then: tuple = ("log", f"{callee.name.replace('_', ' ')} is out of the ordinary")
        elif function.result == "int":
            then = ("return", 0)
        else:
            return function
        at = next((i + 1 for i, each in enumerate(function.body) if each == ("load", "items")), 0)
        return function._replace(body=(*function.body[:at], ("if", test, (then,), ()), *function.body[at:]))

    def _add_test(self) -> bool:
        candidates = [
            (module, function)
            for module in self.modules
            for function in module.functions
            if function.parameters == (("items", "list"),) and self.printer.test_path(module) not in self.files
        ]
        if not candidates:
            return False
        module, function = self.chance.choice(candidates)
        self.files[self.printer.test_path(module)] = self.printer.test_text(module, function)
        return True

    def _add_doc(self, n: int) -> None:
        words = list(self.spec.words)
        if n % 2:
            first, second = self.chance.sample(words, 2)
            title = f"{first.capitalize()} and {second}"
            text = (
                f"Notes for operators about everything that has to do with a {first}.\n\n## Every day\n\n"
                f"- look at the {second} report in the morning\n- write to the {first} team if numbers differ\n\n"
                f"## Names\n\nIn older papers a {first} is called by its {second}.\n"
            )
        else:
            about = self.chance.choice(self.modules)
            name = about.entity.name.replace("_", " ")
            title = f"{name.capitalize()}"
            fields = "\n".join(f"| {field.replace('_', ' ')} | {kind} |" for field, kind in about.entity.fields)
            text = f"What is known of a {name}.\n\n| field | type |\n|---|---|\n{fields}\n\nSee `{about.folder}`.\n"
        self.files[f"docs/{title.lower().replace(' ', '-')}-{n}.md"] = f"# {title}\n\n{text}"

    # The entry point and the README

    def _routes(self) -> list[tuple[str, Module, Function]]:
        return [
            (f"GET /{module.folder}/{function.name.replace('_', '-')}", module, function)
            for module in self.modules
            for function in module.functions
            if function.result == "response"
        ]

    def _write_entries(self) -> None:
        (path,) = self._entry_paths()
        self.files[path] = getattr(self, f"_{self.spec.language}_entry")()

    def _typescript_entry(self) -> str:
        where, name = self.spec.wire.split()
        imports = [f"import {{ {name} }} from './{where.removeprefix('src/').removesuffix('.ts')}.js';"]
        routes = []
        spare = "" if "db" in self.spec.hubs else ", []"
        names: dict[str, int] = {}
        for route, module, function in self._routes():
            what = pascal(module.stem) if module.is_class else camel(function.name)
            path = self.printer.path(module).removeprefix("src/").removesuffix(".ts")
            line = f"import {{ {what} }} from './{path}.js';"
            if names.setdefault(what, len(imports)) == len(imports) or line in imports:
                if line not in imports:
                    imports.append(line)
                called = f"new {what}().{camel(function.name)}" if module.is_class else what
                routes.append(f"  '{route}': (request) => {called}(request{spare}),")
        return "\n".join(
            [
                *imports,
                "@use types Handler",
                "",
                "export const routes: Record<string, Handler> = {",
                *routes,
                "};",
                "",
                f"/** What stands before the routes, or beside them. */\nexport const entry = {name};",
                "",
            ]
        )

    def _python_entry(self) -> str:
        where, name = self.spec.wire.split()
        imports = {f"from {where.removesuffix('.py').replace('/', '.')} import {name}": None}
        routes = []
        spare = "" if "db" in self.spec.hubs else ", []"
        for route, module, function in self._routes():
            imports[f"from PKG.{module.folder} import {module.stem}"] = None
            what = f"{module.stem}.{pascal(module.stem)}()" if module.is_class else module.stem
            routes.append(f'    "{route}": lambda request: {what}.{function.name}(request{spare}),')
        return "\n".join(
            [
                '"""The entry point: every route."""',
                "",
                *imports,
                "@use types Handler",
                "",
                f"entry = {name}",
                "",
                "routes: dict[str, Handler] = {",
                *routes,
                "}",
                "",
            ]
        )

    def _go_entry(self) -> str:
        where, name = self.spec.wire.split()
        package = where.rsplit("/", 1)[1]
        imports = {f'\t"MOD/{where}"': None}
        routes = []
        for route, module, function in self._routes():
            its = module.folder.replace("_", "")
            imports[f'\t"MOD/internal/{its}"'] = None
            prefix = f"{its}.{pascal(module.stem)}{{}}" if module.is_class else its
            called = f"{prefix}.{pascal(function.name)}"
            if "db" not in self.spec.hubs:
                called = f"func(r *types.Request) (*types.Response, error) {{ return {called}(r, nil) }}"
            routes.append(f'\t"{route}": {called},')
        return "\n".join(
            [
                "package main",
                "",
                "import (",
                '\t"fmt"',
                "",
                *imports,
                "@use types",
                ")",
                "",
                "var routes = map[string]types.Handler{",
                *routes,
                "}",
                "",
                "func main() {",
                f"\tentry := {package}.{name}",
                '\tfmt.Printf("%d routes %T\\n", len(routes), entry)',
                "}",
                "",
            ]
        )

    def _java_entry(self) -> str:
        cls = self.spec.wire.rsplit(".", 1)[1]
        imports = {f"import PKG.{self.spec.wire};": None}
        lines = []
        for route, module, function in self._routes():
            its = pascal(module.stem)
            imports[f"import PKG.{module.folder.replace('_', '')}.{its};"] = None
            spare = "" if "db" in self.spec.hubs and module.is_class else ", List.of()"
            called = f"new {its}()" if module.is_class else its
            lines.append(
                f'        routes.put("{route}", exchange -> {called}.{camel(function.name)}(exchange{spare}));'
            )
        return "\n".join(
            [
                "package PKG;",
                "",
                *imports,
                "import java.util.HashMap;",
                "import java.util.List;",
                "import java.util.Map;",
                "import java.util.function.Consumer;",
                "@use types",
                "",
                "/** All routes. */",
                "public class Application {",
                f"    private static final Class<?> ENTRY = {cls}.class;",
                "",
                "    public static void main(String[] arguments) {",
                "        Map<String, Consumer<Exchange>> routes = new HashMap<>();",
                *lines,
                '        System.out.println(ENTRY.getSimpleName() + " " + routes.size());',
                "    }",
                "}",
                "",
            ]
        )

    def _rust_entry(self) -> str:
        tree: dict[str, dict] = {}
        for path in self.files:
            if path.startswith("src/") and path not in ("src/lib.rs", self.barrel):
                *folders, name = path.removeprefix("src/").removesuffix(".rs").split("/")
                if self.barrel and folders == ["support"]:
                    tree["support"] = {}
                    continue
                at = tree
                for folder in folders:
                    at = at.setdefault(folder, {})
                at[name] = {}
        inner = "\n".join(_rust_modules(tree, 0))
        return f"//! The service.\n\n{inner}\n\npub use crate::{self.spec.wire};\n"

    def _write_readme(self) -> None:
        words = self.spec.words
        folders = sorted({module.folder for module in self.modules})
        rows = "\n".join(f"| `{folder}` | {folder.replace('_', ' ')} |" for folder in folders)
        self.files["README.md"] = (
            f"# {self.spec.id}\n\nA service for every {words[0]} and {words[1]}, with reports and a page for each.\n\n"
            f"## Start\n\nSettings are read from the environment. Nothing has to be set on a laptop.\n\n"
            f"## Folders\n\n| folder | about |\n|---|---|\n{rows}\n"
        )

    # Placeholders

    def _final_path(self, path: str) -> str:
        name = self.names.name
        for head, folder in (("J/", "src/main/java"), ("T/", "src/test/java")):
            if path.startswith(head):
                return f"{folder}/org/{name}/{path.removeprefix(head)}"
        return path.replace("PKG", name)

    def _final_text(self, path: str, text: str) -> str:
        lines = [
            self._import(path, *line.split()[1:]) if line.startswith("@use ") else line for line in text.split("\n")
        ]
        name = self.names.name
        text = "\n".join(lines)
        package = f"org.{name}" if self.spec.language == "java" else name
        if self.spec.language == "java" and path in self.paths.values():
            text = text.replace("HUBPKG", f"PKG.{path.split('/')[1]}")
        return text.replace("PKG", package).replace("MOD", f"example.org/{self.spec.id}").replace("CRATE", name)

    def _import(self, path: str, hub: str, names: str = "") -> str:
        """The import of a hub in the file `path`."""
        target, listed = self.paths[hub], names.split(",") if names else []
        inside = self.barrel and posixpath.dirname(path) == posixpath.dirname(target)
        match self.spec.language:
            case "typescript":
                goal = self.barrel if self.barrel and not inside else target
                there = posixpath.relpath(goal, posixpath.dirname(path)).removesuffix(".ts")
                there = there if there.startswith(".") else f"./{there}"
                is_type = hub == "types"
                return f"import {'type ' if is_type else ''}{{ {', '.join(listed)} }} from '{there}.js';"
            case "python":
                goal = posixpath.dirname(target) if self.barrel and not inside else target.removesuffix(".py")
                return f"from {goal.replace('/', '.')} import {', '.join(listed)}"
            case "go":
                return f'\t"MOD/{posixpath.dirname(target)}"'
            case "java":
                return f"import PKG.{target.removeprefix('J/').removesuffix('.java').replace('/', '.')};"
        goal = target.removeprefix("src/").removesuffix(".rs").replace("/", "::")
        if self.barrel and not inside and listed:
            goal = "support"
        if not listed:
            return f"use crate::{goal};" if goal.endswith(hub) else f"use crate::{goal} as {hub};"
        said = listed[0] if len(listed) == 1 else "{" + ", ".join(listed) + "}"
        return f"use crate::{goal}::{said};"


def _python_names(text: str) -> list[str]:
    found = re.findall(r"^(?:class|def) ([A-Za-z]\w*)|^([A-Za-z]\w*) = ", text, re.MULTILINE)
    return [a or b for a, b in found]


def _rust_modules(tree: dict[str, dict], depth: int) -> list[str]:
    pad = "    " * depth
    lines = []
    for name in sorted(tree):
        if tree[name]:
            lines += [f"{pad}pub mod {name} {{", *_rust_modules(tree[name], depth + 1), f"{pad}}}"]
        else:
            lines.append(f"{pad}pub mod {name};")
    return lines
