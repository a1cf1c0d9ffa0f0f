"""Names that a repository publishes and names that it uses of others, as rows of two tables in Parquet.

In: the symbol tables of the repository and its manifests. Out: `PublishedName` and `UsedName` rows, sorted and unique,
so that the bytes follow from the content. `PublishedName` says what others can name: packages, modules and the
definitions behind their names, routes, services and so on. A name that a package passes on from one of its own modules
has a row that leads to the definition; one that it passes on from another package is a forward.

`UsedName` rows are imports, and the calls, references and bases that begin with an imported name. The chain
`client.get` of a variable that is `httpx.Client()` becomes the name `Client.get` in the module `httpx`: variables,
parameters with annotations, attributes of `self` and inherited methods are followed to the import that their type
comes from, a few steps deep. What that name means is decided where its module is published.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from causalist.errors import ExtraMissing
from causalist.fleet.links.coordinates import COMPOSER, MAVEN, NUGET, RUBYGEMS, Manifests, Package
from causalist.fleet.links.shard_symbols import CARGO, DOTNET, GO, JVM, NPM, PHP, PYPI, RUBY, ShardProgram
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.imports.declared_packages import local_name
from causalist.model.facts import MODULE_SCOPE, Import, ImportKind
from causalist.model.node_ids import TYPE_KINDS, NodeKind, Role, file_id
from causalist.model.role_by_path import role_of

FORMAT = 2  # of the rows below; with it goes the format of records in `fleet.shards`, so that shards are made again


class PublishedName(NamedTuple):
    """Something that others can name.

    `kind` is one of

    - package: a coordinate; `module` is its folder, `node` its manifest, `name` its version
    - module: `module` is what an import names, `node` the file that it loads
    - name: `name` in `module` is the definition or file `node`
    - forward: `name` in `module` is `to_name` in `to_module` of another repository; * is all names
    - base: the type `node` has the base `to_name` in `to_module`, or the node `to_name` of this repository
    - a `ServiceKind`: `name` is what clients name, `node` what answers

    `ecosystem` says how names are compared, `package` is the coordinate that a module belongs to, "" if none does.
    `row` is 0-based in the file of `node`, -1 if there is none.
    """

    kind: str
    ecosystem: str
    package: str
    module: str
    name: str
    node: str
    row: int = -1
    to_module: str = ""
    to_name: str = ""


class UsedName(NamedTuple):
    """Something that `node` names of another repository, `n` times, first in `row` (0-based) of its file.

    `kind` is import, call, reference, extends, member and attribute (a call and a reference of what a value has),
    requires (a declared dependency: `module` is the package, `name` the range of versions), or a `ServiceKind`.
    `module` is what an import names; several between spaces if the name may be of any. `name` is the chain of names
    below it, "" for the module itself.
    """

    kind: str
    ecosystem: str
    module: str
    name: str
    node: str
    row: int
    n: int = 1


_TYPES: dict[type, str] = {str: "string", int: "int32"}
Row = PublishedName | UsedName


def schema_of(row: type[PublishedName] | type[UsedName]) -> Any:
    """Return the Arrow schema of rows. Raises ExtraMissing."""
    try:
        import pyarrow as arrow
    except ImportError as error:
        raise ExtraMissing("a fleet needs more packages: pip install 'causalist[fleet]'") from error
    fields = [(name, getattr(arrow, _TYPES[kind])()) for name, kind in row.__annotations__.items()]
    return arrow.schema(fields, metadata={"causalist": str(FORMAT)})


def write_rows(path: Path, row: type[PublishedName] | type[UsedName], rows: Iterable[Row]) -> None:
    """Write rows as a Parquet file, sorted."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    schema = schema_of(row)
    ordered = sorted(rows)
    columns = {name: [each[i] for each in ordered] for i, name in enumerate(row._fields)}
    parquet.write_table(arrow.table(columns, schema=schema), path, compression="zstd")


_PYTHON = re.compile(r"\.(?:py|pyi|pyx)$")
_REGISTRIES = {JVM: MAVEN, DOTNET: NUGET, PHP: COMPOSER, RUBY: RUBYGEMS}
_MAX_NAMES = 20_000  # that one file passes on


def published_rows(program: ShardProgram, manifests: Manifests) -> Iterator[PublishedName]:
    """Yield what a repository publishes, in no order and with repeats."""
    for package in manifests.packages:
        yield PublishedName(
            "package", package.ecosystem, package.name, package.folder, package.version, str(file_id(package.manifest)),
            package.row,
        )  # fmt: skip
    names = _Names(program)
    for ecosystem, owner, module, path in _modules(program, manifests):
        number = program.files.get(path)
        if number is not None and ecosystem == PYPI and _is_namespace(program, number):
            continue
        yield PublishedName("module", ecosystem, owner, module, "", str(file_id(path)), 0)
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
                    module_file = python.get(module)
                    if module_file is None or (module_file[1].endswith(".pyi") and path.endswith(".py")):
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

    def of_file(self, file: int, ecosystem: str, package: str, module: str) -> Iterator[PublishedName]:
        """Yield the names of a module, and where others find the bases of its types."""
        program, symbols = self._program, self._program.program.files[file]
        facts = symbols.facts
        if ecosystem in (PYPI, NPM):
            for name in list(program.visible_names(file))[:_MAX_NAMES]:
                resolution = program.program.find_exported(file, name)
                node = program.node_of(resolution)
                if node:
                    yield PublishedName("name", ecosystem, package, module, name, node, 0)
                else:
                    yield from self._forward(file, ecosystem, package, module, name)
            for star in symbols.stars:
                if not program.is_internal(file, star):
                    yield PublishedName("forward", ecosystem, package, module, "*", "", star.row, star.module, "*")
        elif ecosystem == CARGO:
            for entry in facts.imports:
                resolution = (
                    program.program.tree_paths.follow_import(file, entry) if entry.scope == MODULE_SCOPE else None
                )
                if node := program.node_of(resolution):
                    yield PublishedName("name", ecosystem, package, module, entry.alias or entry.name, node, entry.row)
        if ecosystem not in (PYPI, NPM):
            for local, definition in enumerate(facts.definitions):
                name, node = definition.qualname, program.definition_node(symbols.first + local)
                if not self._is_visible(file, local) or (ecosystem == GO and not definition.name[:1].isupper()):
                    continue
                if ecosystem == RUBY:
                    module, _, name = name.partition(".")
                    yield PublishedName("module", ecosystem, package, module, "", program.file_node(file), 0)
                if name:
                    yield PublishedName("name", ecosystem, package, module, name, node, definition.start_row)
        yield from self._members(file, ecosystem, package)

    def of_other_files(self) -> Iterator[PublishedName]:
        """Yield the members of types in files that no module names, which a package may pass on all the same."""
        for path, file in self._program.files.items():
            if self._program.ecosystem(file) == NPM and role_of(path) not in (Role.TEST, Role.VENDORED):
                yield from self._members(file, NPM, "")

    def _members(self, file: int, ecosystem: str, package: str) -> Iterator[PublishedName]:
        if file in self._done:
            return
        self._done.add(file)
        program, symbols = self._program, self._program.program.files[file]
        for local, definition in enumerate(symbols.facts.definitions if ecosystem in (PYPI, NPM) else ()):
            if definition.parent >= 0 and self._is_visible(file, local):
                node, row = program.definition_node(symbols.first + local), definition.start_row
                parent = program.definition_node(symbols.first + definition.parent)
                yield PublishedName("member", ecosystem, package, "", definition.name, node, row, "", parent)
        yield from self._bases(file, ecosystem, package)

    def _is_visible(self, file: int, local: int) -> bool:
        definitions = self._program.program.files[file].facts.definitions
        while (parent := definitions[local].parent) >= 0:
            if definitions[parent].kind not in TYPE_KINDS:
                return False
            local = parent
        return definitions[local].kind != NodeKind.HANDLER

    def _forward(self, file: int, ecosystem: str, package: str, module: str, name: str) -> Iterator[PublishedName]:
        symbols = self._program.program.files[file]
        local, _, rest = symbols.exports.get(name, name).partition(".")
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(local) or symbols.reexports.get(name)
        for _ in range(8):  # modules of this repository that pass the name on
            if entry is None or entry.kind in (ImportKind.STAR, ImportKind.TYPE):
                return
            if not self._program.is_internal(file, entry):
                to_name = ".".join(each for each in (imported_name(entry), rest) if each)
                yield PublishedName("forward", ecosystem, package, module, name, "", entry.row, entry.module, to_name)
                return
            file, entry = self._follow(file, entry)

    def _follow(self, file: int, entry: Import) -> tuple[int, Import | None]:
        target, _ = self._program.program.target_module(file, entry)
        if target < 0 or target == file:
            return file, None
        symbols = self._program.program.files[target]
        local = symbols.exports.get(entry.name, entry.name).partition(".")[0]
        return target, symbols.imports.get(MODULE_SCOPE, {}).get(local) or symbols.reexports.get(entry.name)

    def _bases(self, file: int, ecosystem: str, package: str) -> Iterator[PublishedName]:
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
                yield PublishedName("base", ecosystem, package, "", "", node, base.row, module, name)
            else:
                base_node = program.node_of(program.program.find_exported(file, head)) if not rest else ""
                if base_node and base_node != node:
                    yield PublishedName("base", ecosystem, package, "", "", node, base.row, "", base_node)


def imported_name(entry: Import) -> str:
    """Return the name that an import takes of its module, "" for the module itself."""
    if entry.kind in (ImportKind.MODULE, ImportKind.REEXPORT_NAMESPACE, ImportKind.SIDE_EFFECT):
        return ""
    return "" if entry.name == "*" else entry.name


_MARKS = re.compile(r"\(\)|\[[^\]]*\]|[&^?]|~\d+|<[^<>]*>|!")
_CHAIN = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_OF_VALUES = {"call": "member", "reference": "attribute"}
_MAX_STEPS = 4
_MAX_WILDCARDS = 60  # of one file
_OPEN_TYPES = (JVM, DOTNET, PYPI)  # whose wildcard imports make names visible
# Modules that come with the language, so that nothing published can be meant. Python's without those of packages that
# carry a newer state of one under its name.
_OF_PYTHON = """
__future__ __main__ _ast _asyncio _collections _collections_abc _ctypes _curses _io _locale _socket _ssl
_thread _weakref abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall
concurrent configparser contextlib contextvars copy copyreg cProfile crypt csv ctypes curses datetime dbm
decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq
hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3
linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt
multiprocessing netrc nis nntplib ntpath numbers opcode operator optparse os ossaudiodev parser pathlib pdb
pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd
py_compile pyclbr pydoc queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select
selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile
sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol symtable sys
sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token
tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid venv
warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib
zoneinfo
"""
_OF_NODE = """
assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl
stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
_BUILT_IN = {PYPI: frozenset(_OF_PYTHON.split()), NPM: frozenset(_OF_NODE.split())}


def used_rows(program: ShardProgram, manifests: Manifests) -> list[UsedName]:
    """Return what a repository uses of others, one row for each kind, name and node."""
    sites_by_use: dict[tuple[str, str, str, str, str], list[int]] = {}

    def add(use: UsedName) -> None:
        sites = sites_by_use.setdefault(use[:5], [use.row, 0])
        sites[0] = min(sites[0], use.row)
        sites[1] += use.n

    for each in manifests.requirements:
        add(UsedName("requires", each.ecosystem, each.name, each.spec, str(file_id(each.manifest)), each.row))
    for file, symbols in program.with_bodies():
        for use in _FileUses(program, file, symbols).rows():
            add(use)
    return [UsedName(*key, row, n) for key, (row, n) in sorted(sites_by_use.items())]


class _Place(NamedTuple):
    """A name in a module of another repository."""

    module: str
    name: str

    def below(self, rest: str) -> "_Place":
        return _Place(self.module, ".".join(each for each in (self.name, rest) if each))


class _FileUses:
    """Uses of one file."""

    def __init__(self, program: ShardProgram, file: int, symbols: FileSymbols) -> None:
        self._program, self._file, self._symbols = program, file, symbols
        self._ecosystem = program.ecosystem(file)
        self._definitions = symbols.facts.definitions
        self._is_outside: dict[Import, bool] = {}
        self._imports: dict[int, dict[str, Import]] = {}
        self._stars: list[str] = []
        for entry in symbols.facts.imports:
            if entry.kind in (ImportKind.STAR, ImportKind.REEXPORT_ALL):
                if self._is_foreign(entry) and entry.module not in self._stars:
                    self._stars.append(entry.module)
            elif entry.kind not in (ImportKind.SIDE_EFFECT, ImportKind.REEXPORT, ImportKind.REEXPORT_NAMESPACE):
                local = local_name(entry) if self._ecosystem == GO else entry.alias or entry.module.partition(".")[0]
                earlier = self._imports.setdefault(entry.scope, {}).get(local)
                if earlier is None or (self._is_foreign(entry) and not self._is_foreign(earlier)):
                    self._imports[entry.scope][local] = entry
        self._is_value = False  # the last chain goes on from a value that something made
        self._own = {each.name for each in self._definitions if each.parent == MODULE_SCOPE}
        self._attributes = self._read_attributes()
        self._bases: dict[int, list[str]] = {}
        for base in symbols.facts.bases:
            self._bases.setdefault(base.definition, []).append(base.name)

    def rows(self) -> Iterator[UsedName]:
        """Yield all uses of the file, repeats included."""
        facts, own = self._symbols.facts, self._program.file_node(self._file)
        for entry in facts.imports:
            if entry.kind != ImportKind.TYPE and self._is_foreign(entry):
                name = imported_name(entry)
                yield UsedName("import", self._ecosystem, entry.module.rstrip("/"), name, own, entry.row)
        for call in facts.calls:
            yield from self._use("call", call.scope, call.callee, call.row)
        for reference in facts.references:
            yield from self._use("reference", reference.scope, reference.name, reference.row)
        for base in facts.bases:
            parent = self._definitions[base.definition].parent
            for use in self._use("extends", parent, base.name, base.row):
                yield use._replace(node=self._program.scope_node(self._file, base.definition))
        for binding in facts.bindings:
            if binding.target.startswith("@"):
                yield from self._use("reference", binding.scope, binding.value, binding.row)
            elif binding.type and _CHAIN.fullmatch(binding.type) and self._ecosystem in (JVM, DOTNET, GO, PHP):
                yield from self._use("reference", binding.scope, binding.type, binding.row)

    def _use(self, kind: str, scope: int, chain: str, row: int) -> Iterator[UsedName]:
        self._is_value = "()" in chain.rpartition(".")[0]
        place = self._find(scope, chain)
        if place is not None and place.name:
            kind = _OF_VALUES.get(kind, kind) if self._is_value else kind
            node = self._program.scope_node(self._file, scope)
            yield UsedName(kind, self._ecosystem, place.module, place.name, node, row)

    def _find(self, scope: int, chain: str, steps: int = 0) -> _Place | None:
        """Return what a chain names outside, None for anything else."""
        plain = _plain(chain)
        if not plain or steps > _MAX_STEPS:
            return None
        head, _, rest = plain.partition(".")
        if head in ("self", "this", "cls") and rest:
            self._is_value = True
            return self._find_member(scope, rest, steps)
        place = scope
        while True:
            entry = self._imports.get(place, {}).get(head)
            if entry is not None:
                return self._place_of(entry, head, rest) if self._is_foreign(entry) else self._through(entry, rest)
            binding = self._symbols.bindings.get(place, {}).get(head)
            if binding is None and "~" in chain.partition(".")[0]:
                binding = self._symbols.bindings.get(place, {}).get(chain.partition(".")[0].partition("(")[0])
            if binding is not None and (place >= 0 or head not in self._own):
                written = binding.type if _CHAIN.fullmatch(binding.type) else "" if binding.type else binding.value
                if not written or _plain(written).partition(".")[0] == head:
                    return None
                self._is_value = self._is_value or bool(rest)
                beginning = self._find(binding.scope, written, steps + 1)
                return beginning.below(rest) if beginning is not None else None
            if place < 0:
                break
            place = self._definitions[place].parent
        if head in self._own:
            made = self._symbols.bindings.get(MODULE_SCOPE, {}).get(head)
            if rest and made is not None and "()" in made.value and not made.type:  # app = FastAPI()
                self._is_value = True
                beginning = self._find(MODULE_SCOPE, made.value, steps + 1)
                return beginning.below(rest) if beginning is not None else None
            return None
        if self._stars and self._ecosystem in _OPEN_TYPES and (self._ecosystem == PYPI or head[:1].isupper()):
            if self._ecosystem == PYPI and len(self._stars) > 3:
                return None
            return _Place(" ".join(self._stars[:_MAX_WILDCARDS]), plain)
        if self._ecosystem == RUBY and head[:1].isupper():
            return None if head in self._program.constants else _Place("", plain)
        return None

    def _place_of(self, entry: Import, head: str, rest: str) -> _Place:
        module, name = entry.module.rstrip("/"), imported_name(entry)
        if entry.kind == ImportKind.MODULE and not entry.alias and self._ecosystem == PYPI and "." in module:
            return _Place(head, rest)  # `import a.b` binds a
        return _Place(module, name).below(rest)

    def _through(self, entry: Import, rest: str) -> _Place | None:
        """Return what a name of a module of this repository means if that module imports it from another."""
        if self._ecosystem not in (PYPI, NPM):
            return None
        file = self._file
        for _ in range(_MAX_STEPS):
            target, _rule = self._program.program.target_module(file, entry)
            if target < 0 or target == file:
                return None
            name, symbols = imported_name(entry), self._program.program.files[target]
            if not name:
                name, _, rest = rest.partition(".")
            if not name or name in symbols.by_qualname:
                return None
            local = symbols.exports.get(name, name).partition(".")[0]
            following = symbols.imports.get(MODULE_SCOPE, {}).get(local) or symbols.reexports.get(name)
            if following is None:
                return None
            if not self._program.is_internal(target, following):
                if following.module.partition(".")[0] in _BUILT_IN.get(self._ecosystem, ()):
                    return None
                return _Place(following.module, imported_name(following)).below(rest)
            file, entry = target, following
        return None

    def _find_member(self, scope: int, rest: str, steps: int) -> _Place | None:
        owner = scope
        while owner >= 0 and self._definitions[owner].kind not in TYPE_KINDS:
            owner = self._definitions[owner].parent
        if owner < 0:
            return None
        name, _, below = rest.partition(".")
        written = self._attributes.get((owner, name))
        if written is not None:
            place = self._find(written[0], written[1], steps + 1)
            return place.below(below) if place is not None else None
        if f"{self._definitions[owner].qualname}.{name}" in self._symbols.by_qualname:
            return None
        for base in self._bases.get(owner, ()):
            place = self._find(self._definitions[owner].parent, base, steps + 1)
            if place is not None and place.name:
                return place.below(rest)
        return None

    def _read_attributes(self) -> dict[tuple[int, str], tuple[int, str]]:
        """Return (scope, chain) of what each attribute of a type is set to, by the type and its name."""
        result: dict[tuple[int, str], tuple[int, str]] = {}
        for binding in self._symbols.facts.bindings:
            written = binding.type if _CHAIN.fullmatch(binding.type) else "" if binding.type else binding.value
            if not written or binding.scope < 0:
                continue
            owner = binding.scope
            is_attribute = binding.target.startswith(".")
            if not is_attribute and self._definitions[owner].kind not in TYPE_KINDS:
                continue
            while owner >= 0 and self._definitions[owner].kind not in TYPE_KINDS:
                owner = self._definitions[owner].parent
            if owner >= 0:
                result.setdefault((owner, binding.target.removeprefix(".")), (binding.scope, written))
        return result

    def _is_foreign(self, entry: Import) -> bool:
        is_outside = self._is_outside.get(entry)
        if is_outside is None:
            is_outside = self._is_outside[entry] = self._check(entry)
        return is_outside

    def _check(self, entry: Import) -> bool:
        module = entry.module.strip("<>")
        if not module or entry.level or module.startswith((".", "/", "node:")):
            return False
        top = module.partition("." if self._ecosystem == PYPI else "/")[0]
        is_built_in = top in _BUILT_IN.get(self._ecosystem, ()) and not module.endswith("/")  # a package of that name
        if is_built_in or (self._ecosystem == GO and "." not in top):
            return False
        return not self._program.is_internal(self._file, entry)


def _plain(chain: str) -> str:
    """Return a chain without marks, "" if it is no chain of names.

    >>> _plain("httpx.Client().get"), _plain("x~2.run"), _plain("(a)")
    ('httpx.Client.get', 'x.run', '')
    """
    before = None
    while before != chain:
        before, chain = chain, _MARKS.sub("", chain)
    chain = chain.replace("::", ".")
    return chain if _CHAIN.fullmatch(chain) else ""
