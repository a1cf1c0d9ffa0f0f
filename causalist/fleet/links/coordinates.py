"""Manifests of packages -> what a repository publishes, and the packages that it requires.

In: the paths of a repository and a reader of texts. Out: a `Package` for each coordinate (ecosystem and name) with the
places of its importable modules, and a `Requirement` for each declared dependency. Manifests are read as data: a
`setup.py` is parsed and its literals are taken, nothing is run.

Packages below folders of tests, examples and copies of others are not published. What they require is still used.
"""

import ast
import configparser
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from causalist._internal.text_formatting import find_table, read_toml

PYPI, NPM, GO, CARGO, MAVEN = "pypi", "npm", "go", "cargo", "maven"
NUGET, RUBYGEMS, COMPOSER = "nuget", "rubygems", "composer"

_NOT_PUBLISHED = re.compile(
    r"(^|/)(node_modules|bower_components|_?vendor(ed)?|third[_-]party|testdata|_{0,2}fixtures_{0,2}|tests?|_{2}tests_{2}|specs?"
    r"|examples?|samples?|demos?|benchmarks?|docs?|templates?|e2e|playgrounds?)(/|$)",
    re.IGNORECASE,
)
_COPIED = re.compile(r"(^|/)(node_modules|bower_components|_?vendor(ed)?|third[_-]party)(/|$)", re.IGNORECASE)
# Folders beside a package of Python that its distribution does not have.
_NOT_IMPORTABLE = {
    "test", "tests", "testing", "doc", "docs", "example", "examples", "sample", "samples", "demo", "demos", "bench",
    "benchmark", "benchmarks", "script", "scripts", "tool", "tools", "task", "tasks", "ci", "utils", "util", "news",
    "changelog.d", "requirements", "build", "dist", "site", "asv_bench", "fuzz", "release", "packaging",
    "newsfragments", "integration", "contrib", "static", "conda", "node_modules",
}  # fmt: skip
# Distributions that have one of these by mistake do not mean it.
_NEVER_MEANT = {"setup", "conftest", "test", "tests", "docs", "doc", "examples", "benchmarks"}
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*([^;#)]*)")
_MODULE_FILE = re.compile(r"\.(?:py|pyi|pyx)$")
_SOURCE_FOLDERS = ("src", "lib", "python", "source")
_MAX_ROWS = 20_000  # requirements that one manifest or lock file may declare


class Package(NamedTuple):
    """A coordinate that a repository publishes.

    `name` is as the ecosystem compares it, `version` "" if the manifest does not say. `folder` is that of the package,
    "" for the top. `roots` are pairs of an importable name and the folder or file that it stands for; what that means
    depends on the ecosystem. `row` is 0-based in the manifest.
    """

    ecosystem: str
    name: str
    version: str
    folder: str
    manifest: str
    row: int
    roots: tuple[tuple[str, str], ...] = ()


class Requirement(NamedTuple):
    """A dependency that a manifest declares; `spec` is the range as written, `local` its name in imports if another."""

    ecosystem: str
    name: str
    spec: str
    manifest: str
    row: int
    local: str = ""


@dataclass(slots=True)
class Manifests:
    """Packages and requirements of a repository, each in the order of paths."""

    packages: list[Package] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)


ReadText = Callable[[str], str]


def normal_name(ecosystem: str, name: str) -> str:
    """Return the name of a package as its ecosystem compares names.

    >>> normal_name("pypi", "Ruamel.Yaml_x"), normal_name("nuget", "Grpc.Core"), normal_name("cargo", "serde_json")
    ('ruamel-yaml-x', 'grpc.core', 'serde-json')
    """
    if ecosystem == PYPI:
        return re.sub(r"[-_.]+", "-", name).lower()
    if ecosystem == CARGO:
        return name.replace("_", "-").lower()
    return name if ecosystem in (NPM, GO, MAVEN, RUBYGEMS) else name.lower()


def read_manifests(paths: Sequence[str], read: ReadText) -> Manifests:
    """Return the packages and requirements of a repository. A manifest that cannot be read has none."""
    manifests = Manifests()
    tree = _Tree(paths)
    python: dict[str, _PythonProject] = {}
    for path in sorted(paths):
        if _COPIED.search(path):
            continue
        name = posixpath.basename(path)
        ending = next((r for end, r in _ENDINGS.items() if name.lower().endswith(end)), None)
        reader = _READERS.get(name.lower(), ending)
        if _is_python_manifest(path):
            _read_python(path, read(path), python.setdefault(_project_folder(path), _PythonProject()), manifests)
        elif reader is not None:
            reader(path, read(path), tree, manifests)
    for folder, project in sorted(python.items()):
        if project.name and not _NOT_PUBLISHED.search(folder):
            name = normal_name(PYPI, project.name)
            roots = tuple(_python_roots(folder, name, project, tree))
            manifests.packages.append(
                Package(PYPI, name, project.version, folder, project.manifest, project.row, roots)
            )
    manifests.packages = sorted(
        dict.fromkeys(each for each in manifests.packages if not _NOT_PUBLISHED.search(each.folder))
    )
    manifests.requirements = sorted(dict.fromkeys(manifests.requirements))
    return manifests


class _Tree:
    """Files of a repository by their folders."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.files = set(paths)
        self.below: dict[str, set[str]] = {"": set()}  # folder -> names in it
        for path in self.files:
            while path:
                folder, _, name = path.rpartition("/")
                names = self.below.setdefault(folder, set())
                if name in names:
                    break
                names.add(name)
                path = folder

    def names(self, folder: str) -> list[str]:
        return sorted(self.below.get(folder, ()))

    def is_folder(self, path: str) -> bool:
        return path in self.below

    def walk(self, folder: str, depth: int = 30) -> Iterator[str]:
        """Yield the files below a folder, sorted."""
        for name in self.names(folder):
            path = join(folder, name)
            if path in self.files:
                yield path
            elif depth:
                yield from self.walk(path, depth - 1)


def join(folder: str, name: str) -> str:
    """Return the normal form of a path below a folder of the repository, "" for the top.

    >>> join("", "a/./b/"), join("x", "../y")
    ('a/b', 'y')
    """
    path = posixpath.normpath(posixpath.join(folder, name))
    return "" if path == "." else path


def _row_of(text: str, word: str) -> int:
    """Return the row of the first line with a word, 0 if there is none."""
    start = text.find(word) if word else -1
    return text.count("\n", 0, start) if start >= 0 else 0


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, (list, tuple)) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# -- Python


@dataclass(slots=True)
class _PythonProject:
    """All that the manifests of one folder say."""

    name: str = ""
    version: str = ""
    manifest: str = ""
    row: int = 0
    tops: list[str] = field(default_factory=list)  # top-level modules as a built distribution lists them
    where: list[str] = field(default_factory=list)  # folders of top-level modules
    modules: list[str] = field(default_factory=list)  # names of modules or packages that are listed
    paths: list[str] = field(default_factory=list)  # folders or files of these
    extensions: list[str] = field(default_factory=list)  # compiled modules

    def set_name(self, name: str, version: str, path: str, text: str) -> None:
        if name and not self.name:
            self.name, self.manifest, self.row = name, path, _row_of(text, name)
        self.version = self.version or version


def _is_python_manifest(path: str) -> bool:
    name = posixpath.basename(path).lower()
    return (
        name in ("pyproject.toml", "setup.cfg", "setup.py", "pkg-info", "metadata", "top_level.txt")
        or (name.endswith(".txt") and "requirements" in path.lower() and not path.endswith("/requires.txt"))
    )  # fmt: skip


def _project_folder(path: str) -> str:
    folder = posixpath.dirname(path)
    if re.search(r"\.(egg|dist)-info$", folder):
        folder = posixpath.dirname(folder)
        parent, _, last = folder.rpartition("/")
        return parent if last in _SOURCE_FOLDERS else folder
    return folder


def _read_python(path: str, text: str, project: _PythonProject, manifests: Manifests) -> None:
    name = posixpath.basename(path).lower()
    required: list[str] = []
    if name == "top_level.txt":
        project.tops += [line.strip() for line in text.splitlines() if line.strip()]
    elif name in ("pkg-info", "metadata"):
        head = text.partition("\n\n")[0]
        fields = re.findall(r"^(Name|Version|Requires-Dist): *([^\n]*)", head, re.MULTILINE)
        of = dict(reversed(fields))
        if _text(of.get("Name")):
            project.name = ""  # what was built counts more than its sources
        project.set_name(of.get("Name", ""), of.get("Version", ""), path, text)
        project.version = of.get("Version", project.version)
        required = [value for key, value in fields if key == "Requires-Dist"]
    elif name == "pyproject.toml":
        required = _read_pyproject(path, text, project)
    elif name == "setup.cfg":
        required = _read_setup_cfg(path, text, project)
    elif name == "setup.py":
        required = _read_setup(path, text, project)
    else:
        lines = [line.strip() for line in text.splitlines()]
        required = [line for line in lines if line and line[0] not in "#-." and "://" not in line.partition("#")[0]]
    for each in required[:_MAX_ROWS]:
        match = _REQUIREMENT.match(each)
        if match:
            row = _row_of(text, match[1])
            manifests.requirements.append(Requirement(PYPI, normal_name(PYPI, match[1]), match[2].strip(), path, row))


def _read_pyproject(path: str, text: str, project: _PythonProject) -> list[str]:
    try:
        data = read_toml(text)
    except ValueError:
        return []
    own, tools = find_table(data, "project"), find_table(data, "tool")
    poetry = find_table(tools, "poetry")
    project.set_name(_text(own.get("name")), _text(own.get("version")), path, text)
    project.set_name(_text(poetry.get("name")), _text(poetry.get("version")), path, text)
    setuptools = find_table(tools, "setuptools")
    find = find_table(setuptools, "packages", "find")
    project.where += _texts(find.get("where"))
    project.where += [_text(find_table(setuptools, "package-dir").get(""))]
    project.where += [_text(find_table(tools, "maturin").get("python-source"))]
    project.modules += _texts(setuptools.get("py-modules")) + _texts(setuptools.get("packages"))
    project.modules += [_text(find_table(tools, "flit", section).get("name")) for section in ("module", "metadata")]
    module = find_table(tools, "uv", "build-backend").get("module-name")
    project.modules += [module] if isinstance(module, str) else _texts(module)
    project.extensions += [_text(find_table(tools, "maturin").get("module-name"))]
    wheel = find_table(tools, "hatch", "build", "targets", "wheel")
    project.paths += _texts(wheel.get("packages")) + _texts(wheel.get("only-include"))
    project.where += [each for each in _texts(wheel.get("sources")) if each]
    for each in poetry.get("packages", ()) if isinstance(poetry.get("packages"), list) else ():
        if isinstance(each, dict) and isinstance(each.get("include"), str) and each.get("format") != "sdist":
            project.paths.append(join(_text(each.get("from")), each["include"].partition("*")[0]))
    required = _texts(own.get("dependencies")) + _texts(find_table(data, "build-system").get("requires"))
    for lists in (find_table(own, "optional-dependencies"), find_table(data, "dependency-groups")):
        required += [each for key in lists for each in _texts(lists[key])]
    groups = [find_table(poetry, "group", group, "dependencies") for group in find_table(poetry, "group")]
    for table in (find_table(poetry, "dependencies"), find_table(poetry, "dev-dependencies"), *groups):
        for name, value in table.items():
            if name != "python":
                spec = value if isinstance(value, str) else _text(find_table({"v": value}, "v").get("version"))
                required.append(f"{name} {spec}")
    return required


def _read_setup_cfg(path: str, text: str, project: _PythonProject) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return []

    def get(section: str, key: str) -> str:
        return parser.get(section, key, fallback="") or ""

    version = get("metadata", "version").strip()
    project.set_name(get("metadata", "name").strip(), "" if ":" in version else version, path, text)
    folders = [line.partition("=") for line in get("options", "package_dir").splitlines()]
    project.where += [place.strip() for name, _, place in folders if not name.strip()]
    project.where += [get("options.packages.find", "where").strip()]
    project.modules += re.findall(r"[\w.]+", get("options", "py_modules"))
    if "find" not in get("options", "packages"):
        project.modules += re.findall(r"[\w.]+", get("options", "packages"))
    required = get("options", "install_requires").splitlines() + get("options", "tests_require").splitlines()
    for key in parser.options("options.extras_require") if parser.has_section("options.extras_require") else ():
        required += get("options.extras_require", key).splitlines()
    return [line.strip() for line in required if line.strip()]


def _read_setup(path: str, text: str, project: _PythonProject) -> list[str]:
    """Read the literals of a call of `setup`; names are followed to literals at the top of the file."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    value_by_name: dict[str, ast.expr] = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def literal(node: ast.expr | None) -> Any:
        node = value_by_name.get(node.id) if isinstance(node, ast.Name) else node
        if isinstance(node, (ast.List, ast.Tuple)):
            return [value for value in map(literal, node.elts) if value is not None]
        if isinstance(node, ast.Dict):
            return {literal(key): literal(value) for key, value in zip(node.keys, node.values, strict=True) if key}
        return node.value if isinstance(node, ast.Constant) else None

    required: list[str] = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        given = {each.arg: each.value for each in call.keywords if each.arg}
        if called == "setup":
            project.set_name(_text(literal(given.get("name"))), _text(literal(given.get("version"))), path, text)
            folders = literal(given.get("package_dir"))
            project.where += [_text(folders.get(""))] if isinstance(folders, dict) else []
            project.modules += _texts(literal(given.get("py_modules"))) + _texts(literal(given.get("packages")))
            for key in ("install_requires", "tests_require", "setup_requires"):
                required += _texts(literal(given.get(key)))
            extras = literal(given.get("extras_require"))
            required += [each for rows in extras.values() for each in _texts(rows)] if isinstance(extras, dict) else []
        elif called in ("find_packages", "find_namespace_packages"):
            project.where += [_text(literal(given.get("where") or (call.args[0] if call.args else None)))]
        elif called.endswith("Extension"):
            project.extensions += [_text(literal(given.get("name") or (call.args[0] if call.args else None)))]
    return required


def _python_roots(folder: str, name: str, project: _PythonProject, tree: _Tree) -> Iterator[tuple[str, str]]:
    """Yield (top-level module, its folder or file) of a project; of a compiled module, its manifest."""
    where = [join(folder, each) for each in dict.fromkeys(project.where) if each and each != "."]
    where = [each for each in where if tree.is_folder(each)]
    listed = {each.partition(".")[0] for each in project.modules if each}
    roots: dict[str, str] = {}
    for path in project.paths:
        there = join(folder, path)
        base = posixpath.basename(there)
        if tree.is_folder(there) and base in _SOURCE_FOLDERS and f"{there}/__init__.py" not in tree.files:
            where.append(there)
        elif tree.is_folder(there) or there in tree.files:
            # A path below a namespace package begins at the first folder that is none.
            parts = there.removeprefix(f"{folder}/" if folder else "").split("/")
            at = 1 if parts[0] in _SOURCE_FOLDERS and len(parts) > 1 else 0
            roots[_MODULE_FILE.sub("", parts[at])] = join(folder, "/".join(parts[: at + 1]))
    if not where and not roots:
        below = [join(folder, each) for each in _SOURCE_FOLDERS]
        where = [each for each in below if tree.is_folder(each) and _has_modules(each, tree)][:1]
    is_apart = bool(where)  # a folder for nothing but modules
    for place in [*where, *([] if is_apart and not (listed or project.tops) else [folder])]:
        for entry in tree.names(place):
            top, path = _MODULE_FILE.sub("", entry), join(place, entry)
            if top in roots or not top.isidentifier():
                continue
            is_package = tree.is_folder(path)
            if not is_package and not _MODULE_FILE.search(entry):
                continue
            is_own = place != folder and is_apart
            if project.tops or listed:
                is_kept = top in project.tops or top in listed
            elif is_package and (f"{path}/__init__.py" in tree.files or f"{path}/__init__.pyi" in tree.files):
                is_kept = (top.lower() not in _NOT_IMPORTABLE and not top.startswith("test_")) or is_own
            elif is_package:
                is_kept = is_own or normal_name(PYPI, top) in (name, name.partition("-")[0])
            else:
                is_kept = normal_name(PYPI, top) == name or is_own
            if is_kept and top not in _NEVER_MEANT and (not is_package or _has_modules(path, tree)):
                roots.setdefault(top, path)
    for each in project.extensions:
        if re.fullmatch(r"[\w.]+", each):
            roots.setdefault(each if each.partition(".")[0] in roots else each.partition(".")[0], project.manifest)
    for package in project.tops:
        if package.isidentifier() and package not in roots:
            roots[package] = project.manifest
    yield from sorted(roots.items())


def _has_modules(folder: str, tree: _Tree) -> bool:
    return any(_MODULE_FILE.search(path) for path in tree.walk(folder, 4))


# -- npm


def _read_json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _read_npm(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    data, folder = _read_json(text), posixpath.dirname(path)
    name = _text(data.get("name"))
    if name and data.get("private") is not True and not _NOT_PUBLISHED.search(folder):
        roots = tuple(sorted(_npm_roots(name, folder, data, tree).items()))
        row = _row_of(text, f'"{name}"')
        manifests.packages.append(Package(NPM, name, _text(data.get("version")), folder, path, row, roots))
    for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        for local, spec in list(find_table(data, key).items())[:_MAX_ROWS]:
            if not isinstance(spec, str):
                continue
            renamed = re.match(r"npm:(@?[^@]+)(?:@(.*))?$", spec)
            target, version = (renamed[1], renamed[2] or "") if renamed else (local, spec)
            manifests.requirements.append(
                Requirement(NPM, target, version, path, _row_of(text, f'"{local}"'), local if renamed else "")
            )


_SCRIPTS = (".js", ".cjs", ".mjs", ".ts", ".tsx", ".jsx", ".cts", ".mts", ".json")
_SCRIPT = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_CONDITIONS = ("source", "require", "node", "default", "import", "module", "types")


def _npm_roots(name: str, folder: str, data: dict[str, Any], tree: _Tree) -> dict[str, str]:
    """Return the file of each module that others can name; without "exports" all files can be named."""
    roots: dict[str, str] = {}
    exports = data.get("exports")
    if isinstance(exports, (str, list)) or (isinstance(exports, dict) and not any(k.startswith(".") for k in exports)):
        exports = {".": exports}
    if isinstance(exports, dict):
        for key, value in exports.items():
            for leaf in _leaves(value):
                if _add_export(name, folder, key, leaf, tree, roots):
                    break
    for entry in ("source", "main", "module", "types", "typings"):
        there = _script_at(join(folder, _text(data.get(entry))), tree) if data.get(entry) else ""
        if there:
            roots.setdefault(name, there)
    if name not in roots and (there := _script_at(folder, tree)):
        roots[name] = there
    if exports is None:
        inner = [each for each in tree.below if each.startswith(f"{folder}/" if folder else "") and each != folder]
        nested = tuple(f"{each}/" for each in inner if "package.json" in tree.below[each] and _is_package(each))
        # What runs goes before what only declares it.
        for path in sorted(tree.walk(folder), key=lambda each: (each.endswith(".d.ts"), each)):
            if not path.endswith(_SCRIPTS) or path.startswith(nested) or "node_modules/" in path:
                continue
            below = path.removeprefix(f"{folder}/" if folder else "")
            roots.setdefault(f"{name}/{below}", path)
            stem = _SCRIPT.sub("", below.removesuffix(".json"))
            roots.setdefault(f"{name}/{stem}", path)
            if stem.endswith("/index"):
                roots.setdefault(f"{name}/{stem.removesuffix('/index')}", path)
    return roots


def _is_package(folder: str) -> bool:
    return "/packages/" in f"/{folder}/" or folder.count("/") == 0


def _leaves(value: Any, depth: int = 0) -> list[str]:
    """Return the files of an export, sources and those that `require` loads first."""
    if isinstance(value, str):
        return [value]
    if depth > 4:
        return []
    if isinstance(value, list):
        return [leaf for each in value for leaf in _leaves(each, depth + 1)]
    if isinstance(value, dict):
        rank = {name: i for i, name in enumerate(_CONDITIONS)}
        ordered = sorted(value, key=lambda key: rank.get(key, len(rank)))
        return [leaf for key in ordered for leaf in _leaves(value[key], depth + 1)]
    return []


def _add_export(name: str, folder: str, key: str, leaf: str, tree: _Tree, roots: dict[str, str]) -> bool:
    if "*" not in key:
        there = _script_at(join(folder, leaf), tree)
        if there:
            roots.setdefault(join(name, key), there)
        return bool(there)
    before, _, after = join(folder, leaf).partition("*")
    is_any = False
    for path in tree.walk(posixpath.dirname(before)):
        if path.startswith(before) and path.endswith(after) and path.endswith(_SCRIPTS):
            middle = path[len(before) : len(path) - len(after)]
            roots.setdefault(join(name, key.replace("*", middle)), path)
            is_any = True
    return is_any


def _script_at(path: str, tree: _Tree) -> str:
    """Return the file that a path without its ending, or a folder, loads; "" if there is none."""
    if path in tree.files:
        return path
    stem = _SCRIPT.sub("", path)
    tried = [f"{path}{end}" for end in _SCRIPTS] + [join(path, f"index{end}") for end in (*_SCRIPTS, ".d.ts")]
    # What is built is not in a repository; its source often has the same name.
    source = re.sub(r"(^|/)(dist|lib|build|out)/(?:(?:esm|cjs|es)/)?", r"\1src/", stem)
    tried += [f"{each}{end}" for each in (stem, source) for end in _SCRIPTS]
    return next((each for each in tried if each in tree.files), "")


# -- others


_GO_REQUIREMENT = re.compile(r"^\s*(?:require\s+)?([\w-]+(?:\.[\w-]+)+(?:/\S*)?)\s+(v\d\S*)", re.MULTILINE)


def _read_go_module(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    plain = re.sub(r"//[^\n]*", "", text)
    module = re.search(r"^\s*module\s+\"?([^\s\"]+)", plain, re.MULTILINE)
    folder = posixpath.dirname(path)
    if module:
        row = _row_of(text, "module ")
        manifests.packages.append(Package(GO, module[1], "", folder, path, row, ((module[1], folder),)))
    for name, version in _GO_REQUIREMENT.findall(plain):
        manifests.requirements.append(Requirement(GO, name, version, path, _row_of(text, name)))


def _read_cargo(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    try:
        data = read_toml(text)
    except ValueError:
        return
    folder, package, library = posixpath.dirname(path), find_table(data, "package"), find_table(data, "lib")
    name = _text(package.get("name"))
    root = join(folder, _text(library.get("path")) or "src/lib.rs")
    if name and package.get("publish") is not False:
        local = (_text(library.get("name")) or name).replace("-", "_")
        roots = ((local, root),) if root in tree.files else ()
        version = _text(package.get("version"))
        manifests.packages.append(
            Package(CARGO, normal_name(CARGO, name), version, folder, path, _row_of(text, name), roots)
        )
    for table in (data, *find_table(data, "target").values(), find_table(data, "workspace")):
        for key in ("dependencies", "dev-dependencies", "build-dependencies"):
            for local, value in find_table(table, key).items():
                target = _text(find_table({"v": value}, "v").get("package")) or local
                spec = value if isinstance(value, str) else _text(find_table({"v": value}, "v").get("version"))
                written_name = local.replace("-", "_") if target != local else ""
                manifests.requirements.append(
                    Requirement(CARGO, normal_name(CARGO, target), spec, path, _row_of(text, local), written_name)
                )


_XML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def _tag(text: str, name: str) -> str:
    match = re.search(rf"<{name}>\s*([^<]*?)\s*</{name}>", text)
    return match[1] if match else ""


def _read_maven(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    text = _XML_COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    own = re.sub(
        r"<(dependencies|dependencyManagement|build|profiles|reporting|modules)>.*?</\1>", "", text, flags=re.DOTALL
    )
    parent = re.search(r"<parent>(.*?)</parent>", own, re.DOTALL)
    own = re.sub(r"<parent>.*?</parent>", "", own, flags=re.DOTALL)
    inherited = parent[1] if parent else ""
    group, artifact = _tag(own, "groupId") or _tag(inherited, "groupId"), _tag(own, "artifactId")
    version = _tag(own, "version") or _tag(inherited, "version")
    if group and artifact:
        row = _row_of(text, f"<artifactId>{artifact}")
        version = "" if "$" in version else version
        manifests.packages.append(Package(MAVEN, f"{group}:{artifact}", version, posixpath.dirname(path), path, row))
    for block in re.findall(r"<dependency>(.*?)</dependency>", text, re.DOTALL)[:_MAX_ROWS]:
        of, name = _tag(block, "groupId").replace("${project.groupId}", group), _tag(block, "artifactId")
        if of and name:
            spec = _tag(block, "version")
            manifests.requirements.append(Requirement(MAVEN, f"{of}:{name}", spec, path, _row_of(text, f">{name}<")))


def _read_gradle(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    folder = posixpath.dirname(path)
    group = re.search(r"^\s*group\s*=?\s*[\"']([\w.-]+)[\"']", text, re.MULTILINE)
    version = re.search(r"^\s*version\s*=?\s*[\"']([\w.-]+)[\"']", text, re.MULTILINE)
    if group and folder:
        name = f"{group[1]}:{posixpath.basename(folder)}"
        row = _row_of(text, group[0].strip())
        manifests.packages.append(Package(MAVEN, name, version[1] if version else "", folder, path, row))
    for of, name, spec in re.findall(r"[\"']([\w.-]+\.[\w.-]+):([\w.-]+)(?::([\w.+-]+))?[\"'@]", text)[:_MAX_ROWS]:
        manifests.requirements.append(Requirement(MAVEN, f"{of}:{name}", spec, path, _row_of(text, f"{of}:{name}")))


def _read_dotnet(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    text = _XML_COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    folder, base = posixpath.dirname(path), posixpath.basename(path)
    if not base.lower().startswith(("directory.", "packages.")):
        stem = base.rpartition(".")[0]
        name = _tag(text, "PackageId") or _tag(text, "id") or _tag(text, "AssemblyName") or stem
        version = _tag(text, "Version") or _tag(text, "version")
        root = _tag(text, "RootNamespace") or stem
        row = _row_of(text, name)
        name = name if "$" not in name else stem
        manifests.packages.append(
            Package(
                NUGET, normal_name(NUGET, name), "" if "$" in version else version, folder, path, row, ((root, folder),)
            )
        )
    pattern = r"<(?:PackageReference|PackageVersion|package|dependency)\s[^>]*?\b(?:Include|id)=\"([^\"$]+)\"([^>]*)>"
    for name, rest in re.findall(pattern, text)[:_MAX_ROWS]:
        spec = re.search(r"\b[Vv]ersion=\"([^\"]*)\"", rest)
        manifests.requirements.append(
            Requirement(NUGET, normal_name(NUGET, name), spec[1] if spec else "", path, _row_of(text, f'"{name}"'))
        )


_GEM_NAME = re.compile(r"\.name\s*=\s*[\"']([\w.-]+)[\"']")
_GEM = re.compile(
    r"^\s*(?:gem|\w+\.add_(?:runtime_|development_)?dependency)\s*\(?\s*[\"']([\w.-]+)[\"']([^\n#]*)", re.MULTILINE
)


def _read_gems(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    folder, name = posixpath.dirname(path), _GEM_NAME.search(text)
    if path.endswith(".gemspec") and name:
        version = re.search(r"\.version\s*=\s*[\"']([\w.-]+)[\"']", text)
        roots = (("", join(folder, "lib")),) if tree.is_folder(join(folder, "lib")) else ()
        row = text.count("\n", 0, name.start())
        manifests.packages.append(Package(RUBYGEMS, name[1], version[1] if version else "", folder, path, row, roots))
    for gem, rest in _GEM.findall(text)[:_MAX_ROWS]:
        specs = re.findall(r"[\"']([~<>=!\s\d][^\"']*)[\"']", rest)
        manifests.requirements.append(Requirement(RUBYGEMS, gem, ", ".join(specs), path, _row_of(text, gem)))


def _read_composer(path: str, text: str, tree: _Tree, manifests: Manifests) -> None:
    data, folder = _read_json(text), posixpath.dirname(path)
    name = _text(data.get("name"))
    if name:
        loaded = {**find_table(data, "autoload", "psr-0"), **find_table(data, "autoload", "psr-4")}
        roots = tuple(
            (prefix.strip("\\").replace("\\", "."), join(folder, place))
            for prefix, places in sorted(loaded.items())
            for place in ([places] if isinstance(places, str) else _texts(places))
        )
        row = _row_of(text, f'"{name}"')
        manifests.packages.append(
            Package(COMPOSER, normal_name(COMPOSER, name), _text(data.get("version")), folder, path, row, roots)
        )
    for key in ("require", "require-dev"):
        for target, spec in find_table(data, key).items():
            if "/" in target:
                row = _row_of(text, f'"{target}"')
                manifests.requirements.append(
                    Requirement(COMPOSER, normal_name(COMPOSER, target), _text(spec), path, row)
                )


_Reader = Callable[[str, str, _Tree, Manifests], None]
_READERS: Mapping[str, _Reader] = {
    "package.json": _read_npm,
    "go.mod": _read_go_module,
    "cargo.toml": _read_cargo,
    "pom.xml": _read_maven,
    "build.gradle": _read_gradle,
    "build.gradle.kts": _read_gradle,
    "gemfile": _read_gems,
    "composer.json": _read_composer,
    "directory.packages.props": _read_dotnet,
    "packages.config": _read_dotnet,
}
_ENDINGS: Mapping[str, _Reader] = {
    ".gemspec": _read_gems,
    ".csproj": _read_dotnet,
    ".fsproj": _read_dotnet,
    ".vbproj": _read_dotnet,
    ".nuspec": _read_dotnet,
}
