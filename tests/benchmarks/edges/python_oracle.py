"""Gold edges of a Python repository, from two resolvers that share nothing with this project.

    python tests/benchmarks/edges/python_oracle.py CHECKOUT --below src --index X.scip --repo O/N --commit SHA --out F

`python_repositories.toml` lists what is measured. In an environment with the repository's own dependencies and `jedi`,
`scip-python index . --project-name gold --project-version 0 --output X.scip` at the root of the checkout makes the
index; scip-python asks pyright, and jedi is asked where that does not know. CPython's own parser says where
definitions, calls, bases and imports stand.

A gold file is one JSON object a line: first `meta`, then edges `{"kind", "src", "dst", "n", "by"}` between
`path:Qual.name`, `path:<module>` for a file; `"opt": true` where an edge is neither asked for nor wrong; and
`{"kind": "calls", "src", "unknown": NAME}` for calls that neither resolver knows. A call of an object is one of its
class's `__call__` where jedi knows the class. A name that a file both imports and defines, each on its platform, is
both: the resolvers look at one platform, and the other definition is optional. Known faults: code that pyright holds
unreachable is skipped, and a method that has the name of a builtin's is left to jedi. The measured repository itself
must not be installed beside its dependencies: absolute imports would lead out of the checkout.
"""

import argparse
import ast
import builtins
import gzip
import json
import posixpath
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MODULE = "<module>"
_BUILTINS = frozenset(dir(builtins))
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".tox", ".venv", "venv", "build", "dist"})
_PYTHON = re.compile(r"scip-python python gold 0 `?([\w.]+)`?/(.+)$")

Target = tuple[str, str, bool]  # path, qualified name, whether it is a class


class Site(NamedTuple):
    """A name that is called, or that a class is derived from; `line` and `column` (UTF-16) count from 0."""

    source: str
    line: int
    column: int
    name: str
    is_attribute: bool


class Imported(NamedTuple):
    module: str
    level: int
    name: str | None  # None for `import module`


class Module(ast.NodeVisitor):
    """What stands in one file."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.definitions: dict[tuple[int, int], tuple[str, bool]] = {}
        self.by_name: dict[str, bool] = {}
        self.contains: set[tuple[str, str]] = set()
        self.calls: list[Site] = []
        self.bases: list[Site] = []
        self.imports: list[Imported] = []
        self.passed_on: dict[str, Imported] = {}  # names that are imported at the top
        self._around: list[str] = []
        self.visit(ast.parse(text))

    @property
    def _source(self) -> str:
        return ".".join(self._around) or MODULE

    def _site(self, node: ast.expr, source: str) -> Site | None:
        """The last name of an expression; what a subscript holds is not looked into."""
        while isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            return Site(source, *self._at(node.lineno, node.col_offset), node.id, False)
        if isinstance(node, ast.Attribute) and node.end_lineno is not None and node.end_col_offset is not None:
            start = node.end_col_offset - len(node.attr.encode())
            return Site(source, *self._at(node.end_lineno, start), node.attr, True)
        return None

    def _at(self, line: int, column: int) -> tuple[int, int]:
        before = self.lines[line - 1].encode()[:column].decode("utf-8", "replace")
        return line - 1, len(before.encode("utf-16-le")) // 2

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        name = ".".join([*self._around, node.name])
        self.bases += [site for base in node.bases if (site := self._site(base, name))]
        self._define(node, [*node.bases, *(each.value for each in node.keywords)])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._define(node, [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._define(node, [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)])

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, outside: list[ast.expr]) -> None:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Name | ast.Attribute) and (site := self._site(decorator, self._source)):
                self.calls.append(site)  # a decorator without arguments is called
        for each in (*node.decorator_list, *outside):
            self.visit(each)
        is_class, around = isinstance(node, ast.ClassDef), self._source
        self._around.append(node.name)
        self.contains.add((around, self._source))
        self.by_name.setdefault(self._source, is_class)
        keyword = re.match(rb"(async\s+)?(def|class)\s+", self.lines[node.lineno - 1].encode()[node.col_offset :])
        if keyword:
            self.definitions[self._at(node.lineno, node.col_offset + keyword.end())] = (self._source, is_class)
        for statement in node.body:
            self.visit(statement)
        self._around.pop()

    def visit_Call(self, node: ast.Call) -> None:
        site = self._site(node.func, self._source)
        if site:
            self.calls.append(site)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.imports += [Imported(each.name, 0, None) for each in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            imported = Imported(node.module or "", node.level, each.name)
            self.imports.append(imported)
            if not self._around:
                self.passed_on[each.asname or each.name] = imported


class Tree:
    """The Python files of a checkout, and the modules that they are."""

    def __init__(self, root: Path, below: list[str]) -> None:
        self.root = root
        self.files: dict[str, Module] = {}
        for each in below or ["."]:
            for file in sorted((root / each).rglob("*.py")):
                relative = file.relative_to(root)
                if _SKIPPED.isdisjoint(relative.parts):
                    try:
                        self.files[relative.as_posix()] = Module(file.read_text("utf-8", "replace"))
                    except (SyntaxError, ValueError, RecursionError) as error:
                        sys.stderr.write(f"{relative}: {error}\n")
        packages = {posixpath.dirname(path) for path in self.files if path.endswith("/__init__.py")}
        self.roots = {""}
        for path in self.files:
            folder = posixpath.dirname(path)
            while folder in packages:
                folder = posixpath.dirname(folder)
            self.roots.add(folder)
        self.modules: dict[str, str] = {}
        for path in self.files:
            for top in sorted(self.roots, key=len, reverse=True):
                if path.startswith(f"{top}/" if top else ""):
                    name = path[len(top) + 1 if top else 0 : -3].removesuffix("/__init__")
                    if name != "__init__":
                        self.modules.setdefault(name.replace("/", "."), path)

    def module(self, path: str, module: str, level: int) -> str | None:
        """The file that `module` names in the file `path`, or None."""
        folder = posixpath.dirname(path)
        if not level:
            if module in self.modules:
                return self.modules[module]
            is_script = not (self.root / folder / "__init__.py").exists()
            return self._file(posixpath.join(folder, *module.split("."))) if module and is_script else None
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        return self._file(posixpath.join(folder, *module.split(".")) if module else folder)

    def _file(self, stem: str) -> str | None:
        stem = Path(stem).as_posix()
        return next((p for p in (f"{stem}.py", f"{stem}/__init__.py".lstrip("/")) if p in self.files), None)

    def imports(self, path: str) -> Iterator[tuple[str, bool]]:
        """(file, whether it is asked for): packages around a module and the origin of a name passed on are optional."""
        for module, level, name in self.files[path].imports:
            target = self.module(path, module, level)
            if name is None:
                if target:
                    yield target, True
                    parts = module.split(".")
                    above = (self.module(path, ".".join(parts[:k]), 0) for k in range(1, len(parts)))
                    yield from ((each, False) for each in above if each)
                continue
            inner = self.module(path, f"{module}.{name}" if module else name, level) if name != "*" else None
            if inner:
                yield inner, True
                if target:
                    yield target, False
            elif target:
                yield target, True
                seen = set()
                while (target, name) not in seen:
                    seen.add((target, name))
                    origin = self.files[target].passed_on.get(name)
                    found = self.module(target, origin.module, origin.level) if origin else None
                    if origin is None or origin.name is None or found is None:
                        break
                    target, name = found, origin.name
                    yield target, False


def _varint(data: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
        shift += 7


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """(number, value) of the fields of a message in the wire format of protocol buffers."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
        else:
            length, at = _varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            yield key >> 3, data[at : at + length]
            at += length


class Scip:
    """What scip-python says; a definition is known by the place of its name."""

    name = "scip"

    def __init__(self, index: Path) -> None:
        self.defined: dict[object, list[tuple[str, int, int]]] = {}
        self.named: dict[tuple[str, int, int], list[object]] = {}
        for number, document in _fields(index.read_bytes()):
            if number != 2:
                continue
            parts = list(_fields(document))
            path = next(bytes(value).decode() for field, value in parts if field == 1)
            for occurrence in (value for field, value in parts if field == 2):
                values = dict(_fields(occurrence))
                numbers, at = [], 0
                while at < len(values.get(1, b"")):
                    each, at = _varint(values[1], at)
                    numbers.append(each)
                if not numbers:
                    continue
                place = (path, numbers[0], numbers[1])
                symbol = bytes(values.get(2, b"")).decode()
                key: object = (path, symbol) if symbol.startswith("local ") else symbol
                if values.get(3, 0) & 1:
                    self.defined.setdefault(key, []).append(place)
                else:
                    self.named.setdefault(place, []).append(key)

    def resolve(self, tree: Tree, path: str, site: Site) -> tuple[str, set[Target]]:
        """("found", targets), ("external", none) or ("unknown", none)."""
        found: set[Target] = set()
        is_other = False
        symbols = self.named.get((path, site.line, site.column), [])
        for symbol in symbols:
            places = self.defined.get(symbol, [])
            for file, line, column in places:
                definition = tree.files[file].definitions.get((line, column)) if file in tree.files else None
                if definition:
                    found.add((file, *definition))
                is_other = is_other or (definition is None and file in tree.files)
            if not places:
                inner = self._by_name(tree, symbol)
                if inner:
                    found.add(inner)
                elif isinstance(symbol, tuple):
                    is_other = is_other or site.name not in _BUILTINS
                else:  # x.filter() is given the symbol of the builtin: not trusted
                    text = str(symbol)
                    taken = site.is_attribute and f" builtins/{site.name}" in text
                    is_other = is_other or " gold 0 " in text or taken
        if len(found) > 1:
            found = self._members(tree, found) if site.is_attribute else self._visible(tree, path, site, found)
        if found:
            return "found", found
        return "unknown" if is_other or not symbols else "external", found

    @staticmethod
    def _visible(tree: Tree, path: str, site: Site, found: set[Target]) -> set[Target]:
        """Functions inside of two methods of a class have one symbol where they have one name: a bare name means that
        which stands in a function around it."""

        def is_around(name: str) -> bool:
            outer = name.rpartition(".")[0]
            return tree.files[path].by_name.get(outer) is False and f"{site.source}.".startswith(f"{outer}.")

        return {each for each in found if each[0] == path and is_around(each[1])} or found

    @staticmethod
    def _members(tree: Tree, found: set[Target]) -> set[Target]:
        """A function inside of a method has the symbol of a method of that name, and is no attribute."""
        members = {each for each in found if tree.files[each[0]].by_name.get(each[1].rpartition(".")[0]) is not False}
        return members or found

    @staticmethod
    def _by_name(tree: Tree, symbol: object) -> Target | None:
        """A symbol of the tree of which the index has no definition."""
        matched = _PYTHON.match(symbol) if isinstance(symbol, str) else None
        if matched is None or matched[1] not in tree.modules:
            return None
        name = re.sub(r"\(\)\.|[#.]$", "", matched[2]).replace("#", ".").rstrip(".")
        path = tree.modules[matched[1]]
        is_class = tree.files[path].by_name.get(name)
        return None if is_class is None else (path, name, is_class)


class Jedi:
    """What jedi says."""

    name = "jedi"

    def __init__(self, root: Path, roots: set[str]) -> None:
        import jedi

        jedi.settings.dynamic_params = False
        self._script = jedi.Script
        self._root = root.resolve()
        self._project = jedi.Project(str(self._root), added_sys_path=[str(self._root / each) for each in sorted(roots)])
        self._open: tuple[str, Any] = ("", None)

    def resolve(self, tree: Tree, path: str, site: Site) -> tuple[str, set[Target]]:
        """As `Scip.resolve`."""
        if self._open[0] != path:
            self._open = (path, self._script(path=str(self._root / path), project=self._project))
        script = self._open[1]
        try:
            names = script.goto(site.line + 1, site.column, follow_imports=True)
            if not any(each.type in ("function", "class") for each in names):
                names = script.infer(site.line + 1, site.column) or names
        except Exception as error:  # jedi raises whatever it meets inside of itself
            sys.stderr.write(f"{path}:{site.line + 1}: {error!r}\n")
            return "unknown", set()
        found: set[Target] = set()
        is_external = is_other = False
        for each in names:
            at = Path(each.module_path).resolve() if each.module_path else self._root
            file = at.relative_to(self._root).as_posix() if at.is_relative_to(self._root) else ""
            if each.type == "instance" and file in tree.files:
                called = self._called_object(tree, file, each.line, each.column)
                found |= called
                is_other = is_other or not called
            elif each.type not in ("function", "class"):
                is_other = True
            elif file not in tree.files:
                is_external = True
            elif definition := tree.files[file].definitions.get((each.line - 1, each.column)):
                found.add((file, *definition))
            else:
                is_other = True
        if found:
            return "found", found
        return "external" if is_external and not is_other else "unknown", found

    @staticmethod
    def _called_object(tree: Tree, file: str, line: int | None, column: int | None) -> set[Target]:
        """`__call__` of the class that stands there, if it has one of its own."""
        name, is_class = tree.files[file].definitions.get(((line or 0) - 1, column or 0), ("", False))
        method = f"{name}.__call__"
        return {(file, method, False)} if is_class and method in tree.files[file].by_name else set()


def gold(tree: Tree, resolvers: list[Scip | Jedi]) -> Iterator[dict[str, object]]:
    """The rows of a gold file but for `meta`."""
    edges: dict[tuple[str, str, str], dict[str, Any]] = {}
    unknown: set[tuple[str, str]] = set()

    def add(kind: str, source: str, target: str, by: str, asked: bool = True) -> None:
        row = edges.setdefault((kind, source, target), {"n": 0, "by": by, "opt": True})
        row["n"] += 1
        row["opt"] = row["opt"] and not asked

    for path, file in sorted(tree.files.items()):
        for outer, inner in sorted(file.contains):
            add("contains", f"{path}:{outer}", f"{path}:{inner}", "ast")
        for target, asked in tree.imports(path):
            if target != path:
                add("imports", f"{path}:{MODULE}", f"{target}:{MODULE}", "path", asked)
        for kind, site in [("calls", each) for each in file.calls] + [("extends", each) for each in file.bases]:
            verdict, found, by = "unknown", set[Target](), ""
            for resolver in resolvers:
                if verdict == "unknown":
                    verdict, found = resolver.resolve(tree, path, site)
                    by = resolver.name
            for target, name, is_class in found:
                if kind == "calls" or is_class:
                    add(kind, f"{path}:{site.source}", f"{target}:{name}", by)
            is_twin = not site.is_attribute and site.name in file.passed_on and site.name in file.by_name
            if found and kind == "calls" and is_twin:
                add(kind, f"{path}:{site.source}", f"{path}:{site.name}", by, asked=False)
            is_builtin = not site.is_attribute and site.name in _BUILTINS
            if kind == "calls" and verdict == "unknown" and not is_builtin:
                unknown.add((f"{path}:{site.source}", site.name))
    for (kind, source, target), row in sorted(edges.items()):
        yield {"kind": kind, "src": source, "dst": target, "n": row["n"], "by": row["by"]} | (
            {"opt": True} if row["opt"] else {}
        )
    for source, name in sorted(unknown):
        yield {"kind": "calls", "src": source, "unknown": name}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--below", action="append", default=[], help="only files below this folder; may be repeated")
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--repo", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    tree = Tree(arguments.tree, arguments.below)
    rows = list(gold(tree, [Scip(arguments.index), Jedi(arguments.tree, tree.roots)]))
    meta = {
        "repo": arguments.repo,
        "commit": arguments.commit,
        "engines": ["scip", "jedi"],
        "files": sorted(tree.files),
    }
    with gzip.open(arguments.out, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in [{"meta": meta}, *rows])
    counts = Counter(str(row["kind"]) for row in rows if "dst" in row)
    sys.stdout.write(f"{dict(counts)} of {len(tree.files)} files\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
