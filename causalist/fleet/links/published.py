"""Packages, modules and definitions that others can name, read from a repository.

In: the symbol tables of the repository and its manifests. Out: `Published` rows. A name that a package passes on from
one of its own modules has a row that leads to the definition; one that it passes on from another package is a forward.
"""

import posixpath
import re
from collections.abc import Iterator

from causalist.fleet.links.coordinates import COMPOSER, MAVEN, NUGET, RUBYGEMS, Manifests, Package
from causalist.fleet.links.program import CARGO, DOTNET, GO, JVM, NPM, PHP, PYPI, RUBY, ShardProgram
from causalist.fleet.links.tables import Published
from causalist.model.facts import MODULE_SCOPE, Import, ImportKind
from causalist.model.symbols import TYPE_KINDS, NodeKind, Role, file_id, role_of

_PYTHON = re.compile(r"\.(?:py|pyi|pyx)$")
_REGISTRIES = {JVM: MAVEN, DOTNET: NUGET, PHP: COMPOSER, RUBY: RUBYGEMS}
_MAX_NAMES = 20_000  # that one file passes on


def published_rows(program: ShardProgram, manifests: Manifests) -> Iterator[Published]:
    """Yield what a repository publishes, in no order and with repeats."""
    for package in manifests.packages:
        yield Published(
            "package", package.ecosystem, package.name, package.folder, package.version, str(file_id(package.manifest)),
            package.row,
        )  # fmt: skip
    names = _Names(program)
    for ecosystem, owner, module, path in _modules(program, manifests):
        number = program.files.get(path)
        if number is not None and ecosystem == PYPI and _is_namespace(program, number):
            continue
        yield Published("module", ecosystem, owner, module, "", str(file_id(path)), 0)
        if number is not None and program.ecosystem(number) == ecosystem:
            yield from names.of_file(number, ecosystem, owner, module)
    yield from names.of_other_files()


def _modules(program: ShardProgram, manifests: Manifests) -> Iterator[tuple[str, str, str, str]]:
    """Yield (ecosystem, package, module, path) of all files that others import by the name of a module."""
    python: dict[str, tuple[str, str]] = {}  # module -> (package, path)
    paths = [each.path for each in program.entries]
    for package in manifests.packages:
        for name, place in package.roots:
            if package.ecosystem == PYPI:
                for module, path in _python_modules(name, place, paths):
                    known = python.get(module)
                    if known is None or (known[1].endswith(".pyi") and path.endswith(".py")):
                        python[module] = package.name, path
            elif package.ecosystem == NPM and place in program.files:
                yield NPM, package.name, name, place
    yield from ((PYPI, package, module, path) for module, (package, path) in sorted(python.items()))
    yield from _go_modules(program, manifests)
    for path, number in program.files.items():
        ecosystem, symbols = program.ecosystem(number), program.program.files[number]
        if role_of(path) in (Role.TEST, Role.VENDORED) or not ecosystem:
            continue
        owner = _owner(path, _REGISTRIES.get(ecosystem, ecosystem), manifests.packages)
        name = owner.name if owner is not None else ""
        if ecosystem in (JVM, DOTNET, PHP) and symbols.facts.package:
            yield ecosystem, name, symbols.facts.package, path
        elif ecosystem == CARGO and owner is not None and owner.roots:
            module = _crate_path(path, owner)
            if module:
                yield ecosystem, name, module, path
        elif ecosystem == RUBY and owner is not None:
            for _, folder in owner.roots:
                if path.startswith(f"{folder}/"):
                    yield ecosystem, name, path.removeprefix(f"{folder}/").removesuffix(".rb"), path


def _is_namespace(program: ShardProgram, file: int) -> bool:
    """Return True for the file of a package that several distributions share."""
    bindings = program.program.files[file].facts.bindings
    return any(each.target == "__path__" and "extend_path" in each.value for each in bindings)


def _python_modules(top: str, place: str, paths: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (module, path) of a top-level module or package.

    >>> list(_python_modules("a", "src/a", ["src/a/__init__.py", "src/a/b/c.py", "src/a/x.txt"]))
    [('a', 'src/a/__init__.py'), ('a.b.c', 'src/a/b/c.py')]
    """
    for path in paths:
        if path == place:
            yield top, path
        elif path.startswith(f"{place}/") and _PYTHON.search(path):
            below = _PYTHON.sub("", path[len(place) + 1 :]).replace("/", ".")
            below = "" if below == "__init__" else below.removesuffix(".__init__")
            yield f"{top}.{below}" if below else top, path


def _go_modules(program: ShardProgram, manifests: Manifests) -> Iterator[tuple[str, str, str, str]]:
    modules = sorted((p for p in manifests.packages if p.ecosystem == GO), key=lambda p: -len(p.folder))
    for path, number in program.files.items():
        if program.ecosystem(number) != GO or path.endswith("_test.go"):
            continue
        owner = next((p for p in modules if not p.folder or path.startswith(f"{p.folder}/")), None)
        if owner is not None:
            below = posixpath.dirname(path).removeprefix(owner.folder).strip("/")
            yield GO, owner.name, f"{owner.name}/{below}".rstrip("/"), path


def _owner(path: str, registry: str, packages: list[Package]) -> Package | None:
    """Return the package whose folder encloses a file most closely."""
    inside = [p for p in packages if p.ecosystem == registry and (not p.folder or path.startswith(f"{p.folder}/"))]
    return max(inside, key=lambda p: (len(p.folder), p), default=None)


def _crate_path(path: str, owner: Package) -> str:
    """Return the path of the module of a file of a crate, "" outside of its library."""
    crate, root = owner.roots[0]
    folder = posixpath.dirname(root)
    if path == root:
        return crate
    if not path.startswith(f"{folder}/"):
        return ""
    below = path.removeprefix(f"{folder}/").removesuffix(".rs").removesuffix("/mod").replace("/", ".")
    return f"{crate}.{below}"


class _Names:
    """Names that modules pass on; the members of a type are listed once, in the file that defines it."""

    def __init__(self, program: ShardProgram) -> None:
        self._program = program
        self._done: set[int] = set()

    def of_file(self, file: int, ecosystem: str, package: str, module: str) -> Iterator[Published]:
        """Yield the names of a module, and where others find the bases of its types."""
        program, symbols = self._program, self._program.program.files[file]
        facts = symbols.facts
        if ecosystem in (PYPI, NPM):
            for name in list(program.visible_names(file))[:_MAX_NAMES]:
                found = program.program.find_exported(file, name)
                node = program.node_of(found)
                if node:
                    yield Published("name", ecosystem, package, module, name, node, 0)
                else:
                    yield from self._forward(file, ecosystem, package, module, name)
            for star in symbols.stars:
                if not program.is_internal(file, star):
                    yield Published("forward", ecosystem, package, module, "*", "", star.row, star.module, "*")
        elif ecosystem == CARGO:
            for entry in facts.imports:
                found = program.program.tree_paths.follow_import(file, entry) if entry.scope == MODULE_SCOPE else None
                if node := program.node_of(found):
                    yield Published("name", ecosystem, package, module, entry.alias or entry.name, node, entry.row)
        if ecosystem not in (PYPI, NPM):
            for local, definition in enumerate(facts.definitions):
                name, node = definition.qualname, program.definition_node(symbols.first + local)
                if not self._is_visible(file, local) or (ecosystem == GO and not definition.name[:1].isupper()):
                    continue
                if ecosystem == RUBY:
                    module, _, name = name.partition(".")
                    yield Published("module", ecosystem, package, module, "", program.file_node(file), 0)
                if name:
                    yield Published("name", ecosystem, package, module, name, node, definition.start_row)
        yield from self._members(file, ecosystem, package)

    def of_other_files(self) -> Iterator[Published]:
        """Yield the members of types in files that no module names, which a package may pass on all the same."""
        for path, file in self._program.files.items():
            if self._program.ecosystem(file) == NPM and role_of(path) not in (Role.TEST, Role.VENDORED):
                yield from self._members(file, NPM, "")

    def _members(self, file: int, ecosystem: str, package: str) -> Iterator[Published]:
        if file in self._done:
            return
        self._done.add(file)
        program, symbols = self._program, self._program.program.files[file]
        for local, definition in enumerate(symbols.facts.definitions if ecosystem in (PYPI, NPM) else ()):
            if definition.parent >= 0 and self._is_visible(file, local):
                node, row = program.definition_node(symbols.first + local), definition.start_row
                parent = program.definition_node(symbols.first + definition.parent)
                yield Published("member", ecosystem, package, "", definition.name, node, row, "", parent)
        yield from self._bases(file, ecosystem, package)

    def _is_visible(self, file: int, local: int) -> bool:
        definitions = self._program.program.files[file].facts.definitions
        while (parent := definitions[local].parent) >= 0:
            if definitions[parent].kind not in TYPE_KINDS:
                return False
            local = parent
        return definitions[local].kind != NodeKind.HANDLER

    def _forward(self, file: int, ecosystem: str, package: str, module: str, name: str) -> Iterator[Published]:
        symbols = self._program.program.files[file]
        local, _, rest = symbols.exports.get(name, name).partition(".")
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(local) or symbols.reexports.get(name)
        for _ in range(8):  # modules of this repository that pass the name on
            if entry is None or entry.kind in (ImportKind.STAR, ImportKind.TYPE):
                return
            if not self._program.is_internal(file, entry):
                to_name = ".".join(each for each in (imported_name(entry), rest) if each)
                yield Published("forward", ecosystem, package, module, name, "", entry.row, entry.module, to_name)
                return
            file, entry = self._follow(file, entry)

    def _follow(self, file: int, entry: Import) -> tuple[int, Import | None]:
        target, _ = self._program.program.target_module(file, entry)
        if target < 0 or target == file:
            return file, None
        symbols = self._program.program.files[target]
        local = symbols.exports.get(entry.name, entry.name).partition(".")[0]
        return target, symbols.imports.get(MODULE_SCOPE, {}).get(local) or symbols.reexports.get(entry.name)

    def _bases(self, file: int, ecosystem: str, package: str) -> Iterator[Published]:
        symbols, program = self._program.program.files[file], self._program
        for base in symbols.facts.bases:
            node = program.definition_node(symbols.first + base.definition)
            chain = re.sub(r"[\[<(].*", "", base.name)
            head, _, rest = chain.partition(".")
            entry = symbols.imports.get(MODULE_SCOPE, {}).get(head)
            if entry is not None and not program.is_internal(file, entry):
                name = ".".join(each for each in (imported_name(entry), rest) if each)
                module = entry.module
                if entry.kind == ImportKind.MODULE and not entry.alias and "." in module and ecosystem == PYPI:
                    module = module.partition(".")[0]  # `import a.b` binds a
                yield Published("base", ecosystem, package, "", "", node, base.row, module, name)
            else:
                found = program.node_of(program.program.find_exported(file, head)) if not rest else ""
                if found and found != node:
                    yield Published("base", ecosystem, package, "", "", node, base.row, "", found)


def imported_name(entry: Import) -> str:
    """Return the name that an import takes of its module, "" for the module itself."""
    if entry.kind in (ImportKind.MODULE, ImportKind.REEXPORT_NAMESPACE, ImportKind.SIDE_EFFECT):
        return ""
    return "" if entry.name == "*" else entry.name
