"""Package and compiler configuration that gives module names a meaning.

Reads package.json, tsconfig.json, jsconfig.json, go.mod, go.work, Cargo.toml, composer.json, dune, build.zig,
pubspec.yaml, files of Bazel, Buck and Kurtosis that name repositories, projects and scenes of Godot, of projects of
.NET the namespaces that all their files use, and of settings of pytest the names of tests.
"""

import itertools
import json
import re
from collections.abc import Iterable
from typing import Any

from causalist._internal.lazy import lazy_regex
from causalist._internal.text_formatting import find_table, read_toml

_CONFIGURATION = lazy_regex(r"(^|/)(tsconfig|jsconfig)(\.[\w-]+)?\.json$")
_PACKAGE = lazy_regex(r"(^|/)package\.json$")
_COMPOSER = lazy_regex(r"(^|/)composer\.json$")
_PROJECT = lazy_regex(r"\.(?:cs|vb|fs)proj$|(^|/)directory\.(?:build|packages)\.(?:props|targets)$", re.IGNORECASE)
_PYTEST = lazy_regex(r"(^|/)(?:pyproject\.toml|\.?pytest\.(?:ini|toml)|tox\.ini|setup\.cfg)$")
# What projects of a kind use without saying so; those of `System` hold no types of a repository.
_HOST = ("Configuration", "DependencyInjection", "Hosting", "Logging")
_OF_HOST = tuple(f"Microsoft.Extensions.{name}" for name in _HOST)
_OF_WEB = tuple(f"Microsoft.AspNetCore.{name}" for name in ("Builder", "Hosting", "Http", "Routing"))
_IMPLICIT_USINGS = {"web": (*_OF_WEB, *_OF_HOST), "worker": _OF_HOST}
_SDK = lazy_regex(r"<Project\s[^>]{0,1000}?\bSdk\s*=\s*\"Microsoft\.NET\.Sdk\.(\w+)", re.IGNORECASE)
_NO_IMPLICIT_USING = lazy_regex(r"<ImplicitUsings>\s*(?:disable|false)", re.IGNORECASE)
_USING = lazy_regex(r"<Using\s[^>]{0,1000}?\bInclude\s*=\s*\"([\w.;\s]+)\"(?![^>]{0,1000}\bAlias\b)", re.IGNORECASE)
_DUNE = lazy_regex(r"(^|/)dune$")
_STANZA = lazy_regex(r"^\((library|executables?|tests?)\b", re.MULTILINE)
_LIBRARY_NAME = lazy_regex(r"\((?:public_)?name\s+([\w.-]+)\s*\)")
_UNWRAPPED = lazy_regex(r"\(wrapped\s+false\s*\)")
_PUBSPEC = lazy_regex(r"(^|/)pubspec\.yaml$")
_PUBSPEC_NAME = lazy_regex(r"""^name[ \t]*:[ \t]*["']?(\w+)""", re.MULTILINE)
_GODOT = lazy_regex(r"(?:^|/)project\.godot$")
_SCENE = lazy_regex(r"\.tscn$|\.gd\.uid$", re.IGNORECASE)
_SINGLETONS = lazy_regex(r"^\[autoload\]([^\[]{0,20000})", re.MULTILINE)
_SINGLETON = lazy_regex(r'^"?(\w+)"?[ \t]*=[ \t]*"\*?([^"\t\n]{1,400})"', re.MULTILINE)
_RESOURCE = lazy_regex(r"^\[ext_resource\b([^\n]{1,1000})\]", re.MULTILINE)
_ATTRIBUTE = lazy_regex(r'\b(path|id|name|parent)=(?:"([^"\t\n]{1,400})"|(\d+))')
_NODE = lazy_regex(r"^\[node\b([^\n]{1,2000})\]([^\[]{0,4000})", re.MULTILINE)
_OF_NODE = lazy_regex(r'(?:^script[ \t]*=[ \t]*|\binstance=)ExtResource\([ \t]*"?(\w+)"?[ \t]*\)', re.MULTILINE)
_ZIG_BUILD = lazy_regex(r"(^|/)build\.zig$")
# In build.zig: a string or what is behind a comment; a constant; the start of a call that makes a module; a module that
# gets a name; the file of a module's root.
_ZIG_TEXT = lazy_regex(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*|\\\\[^\n]*')
_ZIG_CONSTANT = lazy_regex(r"\b(?:const|var)\s+(\w+)(?:\s*:[^=;]{0,200})?\s*=\s*([^;{}()]{0,500});")
_ZIG_MODULE = lazy_regex(
    r"(?:\b(?:const|var)\s+(?P<variable>\w+)(?:\s*:[^=;]{0,200})?\s*=\s*|\.module\s*=\s*)?(?<![\w.])[\w.]{0,200}?\.(?P<verb>addModule|createModule"
    r"|addAnonymousImport|addAnonymousModule)\s*\("
)
_ZIG_ROOT = lazy_regex(
    r"\.(?:root_source_file|source_file)\s*=\s*(?:\w[\w.]*\.path\s*\(|\.\{\s*\.\w+\s*=)?([^,(){};]{1,500})"
)
_ZIG_NAMED = lazy_regex(r"\.(?:addImport|addModule)\s*\(\s*(?P<name>[^,(){};]{1,500}),\s*(?P<module>[\w.]+)\s*\)")
_ZIG_ENTRY = lazy_regex(
    r"\.\{\s*\.name\s*=\s*(?P<name>[^,(){};]{1,500}),\s*\.module\s*=\s*(?P<module>[\w.]+)\s*(?P<call>\()?"
)
# Of Bazel, Buck and Kurtosis: files that say where a repository begins, what it is called and where others are.
_REPOSITORY = lazy_regex(r"(^|/)(?:module\.bazel|workspace(?:\.bazel|\.bzlmod)?|repo\.bazel)$", re.IGNORECASE)
_CELLS = lazy_regex(r"(^|/)(?:\.buckconfig|kurtosis\.yml)$")
_CELL = lazy_regex(r"^[ \t]*([\w-]+)[ \t]*=[ \t]*([\w./-]+)[ \t]*$", re.MULTILINE)
_CELL_TABLE = lazy_regex(r"^\[(?:cells|repositories)\]([^\[]*)", re.MULTILINE)
_KURTOSIS_NAME = lazy_regex(r"""^name[ \t]*:[ \t]*["']?([\w./-]+)""", re.MULTILINE)
_REPOSITORY_CALL = lazy_regex(r"^(module|workspace|bazel_dep|local_path_override|local_repository)\(", re.MULTILINE)
_TEXT_ARGUMENT = lazy_regex(r"""(?<![\w.])(\w+)\s*=\s*["']([^"'\n]*)["']""")
_CRATE = lazy_regex(r"(^|/)cargo\.toml$", re.IGNORECASE)
# Comments and trailing commas are common in tsconfig.json; strings are matched first so that they stay as they are.
# One that is not closed is matched to its end, once, and left to the reader of JSON, who refuses it.
_COMMENT = lazy_regex(r'("(?:[^"\\\n]|\\.)*+"?)|//[^\n]*|/\*.*?\*/|(/\*.*)', re.DOTALL)
_TRAILING_COMMA = lazy_regex(r'("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*[}\]])')
_MODULE_FILE = lazy_regex(r"(^|/)go\.(mod|work)$")
_MODULE_LINE = lazy_regex(r"^[^\S\n]*module\s+\"?([^\s\"]+)", re.MULTILINE)
_REPLACE_LINE = lazy_regex(
    r"^[^\S\n]*(?:replace\s+)?\"?([^\s\"()=]+)\"?(?:\s+v\S+)?\s*=>\s*\"?(\.{1,2}(?:/[^\s\"]*)?)", re.MULTILINE
)
_ENTRY_FIELDS = ("source", "types", "typings", "module", "main")
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_RENAMED = lazy_regex(
    r"(?:npm:|workspace:(?=@?[\w-]+(?:/[\w.-]+)?@))(?P<package>@?[\w.-]+(?:/[\w.-]+)?)(?:@.*)?"
    r"|(?:file|link|portal):(?://)?(?P<folder>.+?)/?|workspace:(?P<path>\.{1,2}/.+?)/?"
)
_SOURCE = lazy_regex(r"(?<!\.d)\.[cm]?tsx?$")
_MAX_MODULE_CHARACTERS = 10_000  # of a call that makes a module
_MAX_CALLS = 2_000  # of a file that names repositories
_MAX_ENTRIES = 200  # entries or aliases of one file
# Conditions that hold wherever a package is used, the source first; others ("development") are asked for by name.
_CONDITIONS = ("source", "types", "import", "module", "node", "require", "default")

_MANIFEST_ENDS = (
    ".json", "go.mod", "go.work", "cargo.toml", "dune", "pubspec.yaml", ".buckconfig", "kurtosis.yml", "project.godot"
)  # fmt: skip


def is_manifest(path: str) -> bool:
    """Return True if a file of this name configures modules.

    >>> is_manifest("packages/a/package.json"), is_manifest("tsconfig.base.json"), is_manifest("data.json")
    (True, True, False)
    """
    if not path.lower().endswith(_MANIFEST_ENDS):
        return False  # as most are
    return any(
        kind.search(path)
        for kind in (_PACKAGE, _CONFIGURATION, _MODULE_FILE, _CRATE, _COMPOSER, _DUNE, _PUBSPEC, _CELLS, _GODOT)
    )


def read_manifest(path: str, text: str) -> tuple[tuple[str, str], ...]:
    r"""Return (key, value) pairs as `FileFacts.manifest` describes them; none from JSON that is no object.

    >>> read_manifest("tsconfig.json", '{"compilerOptions": {"paths": {"@/*": ["src/*"]}}, // for tests\n}')
    (('alias', '@/*\tsrc/*'),)
    """
    if _PYTEST.search(path):
        return _read_pytest(path, text)
    if _PROJECT.search(path):
        return tuple(_read_project(text)[:_MAX_ENTRIES])
    if _MODULE_FILE.search(path.lower()):
        return tuple(_read_go(text)[:_MAX_ENTRIES])
    if _CRATE.search(path):
        return tuple(_read_cargo(text)[:_MAX_ENTRIES])
    if _ZIG_BUILD.search(path):
        return tuple(_read_zig_build(text)[:_MAX_ENTRIES])
    if _REPOSITORY.search(path):
        return tuple(_read_repository(text)[:_MAX_ENTRIES])
    if _CELLS.search(path):
        return tuple(_read_cells(text)[:_MAX_ENTRIES])
    if _DUNE.search(path):
        return tuple(_read_dune(text)[:_MAX_ENTRIES])
    if _PUBSPEC.search(path):  # what others import of a package of Dart is below `lib`
        return tuple(("named", f"package:{name}\tlib\t") for name in _PUBSPEC_NAME.findall(text)[:1])
    if _GODOT.search(path.lower()) or _SCENE.search(path):
        return tuple(_read_godot(path, text)[:_MAX_ENTRIES])
    try:
        plain = _COMMENT.sub(lambda m: m[1] or m[2] or "", text.removeprefix("\ufeff"))
        data = json.loads(_TRAILING_COMMA.sub(lambda m: m[1] or "", plain))
    except (ValueError, RecursionError):
        return ()
    if not isinstance(data, dict):
        return ()
    if _COMPOSER.search(path.lower()):
        return tuple(_read_composer(data)[:_MAX_ENTRIES])
    return tuple((_read_package(data) if _PACKAGE.search(path.lower()) else _read_compiler(data))[:_MAX_ENTRIES])


def is_project(path: str) -> bool:
    """Return True if a file of this name says what the source files below its folder use, or is a scene of Godot.

    >>> is_project("src/A/A.csproj"), is_project("Directory.Build.props"), is_project("a.props")
    (True, True, False)
    """
    return any(kind.search(path) for kind in (_PROJECT, _PYTEST, _SCENE))


def is_build_program(path: str) -> bool:
    """Return True if a source file of this name is a program that gives names to modules.

    >>> is_build_program("libs/a/build.zig"), is_build_program("a/MODULE.bazel"), is_build_program("src/rebuild.zig")
    (True, True, False)
    """
    return _ZIG_BUILD.search(path) is not None or _REPOSITORY.search(path) is not None


_PYTEST_KEYS = {"python_functions": "tests", "python_files": "test-files"}


def _read_pytest(path: str, text: str) -> tuple[tuple[str, str], ...]:
    r"""Return the beginnings and patterns of names of tests, and patterns of their files, where pytest has settings.

    Patterns of any file of Python say nothing: `*.py`.

    >>> _read_pytest("pytest.ini", "[pytest]\npython_functions = it_ *_test\npython_files = check_*.py *.py\n")
    (('tests', 'it_ *_test'), ('test-files', 'check_*.py'))
    """
    if not any(key in text for key in _PYTEST_KEYS):
        return ()
    import configparser

    written: dict[str, object] = {}
    try:
        if path.endswith(".toml"):
            tables = read_toml(text)
            for key in ("tool", "pytest") if path.endswith("pyproject.toml") else ("pytest",):
                tables = find_table(tables, key)
            written = {**tables, **find_table(tables, "ini_options")}
        else:
            parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
            parser.read_string(text)
            section = "tool:pytest" if path.endswith("setup.cfg") else "pytest"
            written = dict(parser.items(section)) if parser.has_section(section) else {}
    except (ValueError, configparser.Error):
        return ()
    found: list[tuple[str, str]] = []
    for key, kind in _PYTEST_KEYS.items():
        value = written.get(key)
        names = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
        kept = [name for name in names if isinstance(name, str) and re.fullmatch(r"[\w.*?\[\]!-]+", name)]
        if kind == "test-files":
            kept = [name for name in kept if re.search(r"[^\W_]", name.removesuffix(".py"))]
        else:
            kept = [name for name in kept if "." not in name]
        if kept:
            found.append((kind, " ".join(kept)))
    return tuple(found)


def _read_project(text: str) -> list[tuple[str, str]]:
    """Return the namespaces, and types with static members, that a project of .NET uses in all of its files.

    >>> _read_project('<ItemGroup><Using Include="A.B;C" /><Using Include="D" Alias="E" /></ItemGroup>')
    [('using', 'A.B'), ('using', 'C')]
    >>> [_read_project(f'<Project Sdk="Microsoft.NET.Sdk{kind}">')[-1:] for kind in (".Worker", "")]
    [[('using', 'Microsoft.Extensions.Logging')], []]
    """
    names = [name.strip() for listed in _USING.findall(text) for name in listed.split(";")]
    kind = _SDK.search(text)
    if kind is not None and not _NO_IMPLICIT_USING.search(text):
        names += _IMPLICIT_USINGS.get(kind[1].lower(), ())
    return [("using", name) for name in dict.fromkeys(names) if name]


def _read_composer(data: dict[str, Any]) -> list[tuple[str, str]]:
    r"""Return ("autoload", "namespace, tab, folder") for each autoload folder of composer.json.

    Namespaces are joined with dots.

    >>> _read_composer({"autoload": {"psr-4": {"A\\Web\\": ["src/", "lib"]}}, "autoload-dev": {"psr-4": {"": "tests"}}})
    [('autoload', 'A.Web\tsrc/'), ('autoload', 'A.Web\tlib'), ('autoload', '\ttests')]
    """
    facts = []
    for key in ("autoload", "autoload-dev"):
        for prefix, folders in find_table(find_table(data, key), "psr-4").items():
            package = prefix.strip("\\").replace("\\", ".")
            for folder in folders if isinstance(folders, list) else [folders]:
                if isinstance(folder, str):
                    facts.append(("autoload", f"{package}\t{folder}"))
    return facts


def _read_dune(text: str) -> list[tuple[str, str]]:
    r"""Return the modules around those of the libraries of a folder.

    >>> _read_dune("(library\n (public_name a-b))\n(library (name c) (wrapped false))\n(test (name t))")
    [('wrapped', 'A_b'), ('wrapped', '*'), ('wrapped', '')]
    """
    starts = [*_STANZA.finditer(text), None]
    facts = []
    for this, following in itertools.pairwise(starts):
        assert this is not None
        stanza = text[this.end() : following.start() if following is not None else len(text)]
        names = sorted(_LIBRARY_NAME.finditer(stanza), key=lambda each: each[0].startswith("(public"))
        if this[1] != "library":
            facts.append(("wrapped", ""))
        elif names:
            name = names[0][1].replace("-", "_").replace(".", "_")
            facts.append(("wrapped", "*" if _UNWRAPPED.search(stanza) else name[0].upper() + name[1:]))
    return list(dict.fromkeys(facts))


def _read_godot(path: str, text: str) -> list[tuple[str, str]]:
    r"""Return the objects that a project of Godot names, the class of a scene's outermost node, or a file's number.

    >>> _read_godot("project.godot", '[autoload]\n\nShop="*res://shop.gd"\n[debug]\na="b"')
    [('named', 'autoload:Shop\tres://shop.gd\t')]
    >>> scene = '''[ext_resource type="Script" path="res://a.gd" id="1_a"]
    ... [node name="A"]
    ... script = ExtResource("1_a")
    ... [node name="B" parent="C" instance=ExtResource("1_a")]'''
    >>> _read_godot("a.tscn", scene)
    [('named', 'script:\tres://a.gd\t'), ('named', 'node:C/B\tres://a.gd\t')]
    """
    if path.endswith(".uid"):
        return [("named", f"{text.strip()}\t\t")] if text.startswith("uid://") and len(text) < 100 else []
    if path.endswith(".godot"):
        autoload = _SINGLETONS.search(text)
        objects = _SINGLETON.findall(autoload[1]) if autoload else ()
        return [("named", f"autoload:{name}\t{file}\t") for name, file in objects]
    paths: dict[str, str] = {}
    for resource in _RESOURCE.finditer(text):
        said = {key: quoted or number for key, quoted, number in _ATTRIBUTE.findall(resource[1])}
        if "id" in said and said.get("path", "").endswith((".gd", ".tscn")):
            paths[said["id"]] = said["path"]
    facts = []
    for node in _NODE.finditer(text) if paths else ():
        held = [each[1] for part in (node[2], node[1]) for each in _OF_NODE.finditer(part) if each[1] in paths]
        name = {key: quoted for key, quoted, _ in _ATTRIBUTE.findall(node[1])}
        if held and "parent" not in name:
            facts.append(("named", f"script:\t{paths[held[0]]}\t"))
        elif held and "name" in name:
            above = name["parent"].removeprefix(".")
            node_path = f"{above}/{name['name']}".lstrip("/")
            facts.append(("named", f"node:{node_path}\t{paths[held[0]]}\t"))
    return facts


def _read_zig_build(text: str) -> list[tuple[str, str]]:
    r"""Return the modules to which build.zig gives names, with the file of each; "*" marks those for other packages.

    A name that may mean two files means none.

    >>> _read_zig_build('''const dir = "src/";
    ... const m = b.createModule(.{ .root_source_file = b.path(dir ++ "a.zig") });
    ... exe.root_module.addImport("a", m); // .addImport("c", m)
    ... _ = b.addModule("b", .{.root_source_file = .{ .path = "b.zig" }, .imports = &.{.{ .name = "x", .module = m }}});
    ... ''')
    [('named', 'b\tb.zig\t*'), ('named', 'a\tsrc/a.zig\t'), ('named', 'x\tsrc/a.zig\t')]
    """
    plain = _ZIG_TEXT.sub(lambda each: each[0] if each[0].startswith('"') else "", text)
    strings: dict[str, str] = {}

    def value_of(written: str) -> str:
        """Return the text that an expression of strings and constants is; "" if it is not known."""
        parts = [part.strip() for part in written.split("++")]
        known = [part[1:-1] if part.startswith('"') else strings.get(part, "") for part in parts]
        return "".join(known) if all(known) and "\t" not in written else ""

    for constant in _ZIG_CONSTANT.finditer(plain):
        if value := value_of(constant[2]):
            strings.setdefault(constant[1], value)
    roots: dict[str, set[str]] = {}  # files by the variable that holds the module
    named: dict[str, set[tuple[str, str]]] = {}
    for made in itertools.islice(_ZIG_MODULE.finditer(plain), _MAX_ENTRIES):
        inside = _in_brackets(plain, made.end())
        root = _ZIG_ROOT.search(inside)
        file = value_of(root[1]) if root is not None else ""
        if not file.endswith(".zig"):
            continue
        if made["variable"]:
            roots.setdefault(made["variable"], set()).add(file)
        name = value_of(inside.partition(",")[0]) if made["verb"] != "createModule" else ""
        if name:
            named.setdefault(name, set()).add((file, "*" if made["verb"] == "addModule" else ""))
    for pattern in (_ZIG_NAMED, _ZIG_ENTRY):
        for given in itertools.islice(pattern.finditer(plain), _MAX_ENTRIES):
            name = value_of(given["name"])
            files = roots.get(given["module"], set())
            if pattern is _ZIG_ENTRY and given["call"]:
                root = _ZIG_ROOT.search(_in_brackets(plain, given.end()))
                files = {value_of(root[1])} - {""} if root is not None else set()
            if name and files:
                named.setdefault(name, set()).update((file, "") for file in files)
    facts = []
    for name, meant in named.items():
        if len({file for file, _ in meant}) == 1:
            file, mark = max(meant)
            facts.append(("named", f"{name}\t{file}\t{mark}"))
    return facts


def _read_repository(text: str) -> list[tuple[str, str]]:
    r"""Return the folders of repositories by the names that labels begin with; "//" is the one that begins here.

    >>> _read_repository('''module(name = "a")
    ... bazel_dep(name = "b", repo_name = "my_b")
    ... local_path_override(module_name = "b", path = "../b")''')
    [('renamed', '//\t.'), ('renamed', '//a\t.'), ('renamed', '//my_b\t./../b')]
    """
    facts, local = ["//\t."], dict[str, str]()
    calls = [
        (each[1], dict(_TEXT_ARGUMENT.findall(_in_brackets(text, each.end()))))
        for each in itertools.islice(_REPOSITORY_CALL.finditer(text), _MAX_CALLS)
    ]
    for verb, given in calls:
        name = given.get("name", "")
        if verb == "bazel_dep" and given.get("repo_name"):
            local[name] = given["repo_name"]
        elif verb in ("module", "workspace"):
            facts += [f"//{each}\t." for each in (name, given.get("repo_name", "")) if each]
    for verb, given in calls:
        path, name = given.get("path", ""), given.get("name", "") or given.get("module_name", "")
        if verb.startswith("local_") and name and path and path[0] not in "/%~":
            facts.append(f"//{local.get(name, name)}\t./{path}")
    return [("renamed", each) for each in dict.fromkeys(facts)]


def _read_cells(text: str) -> list[tuple[str, str]]:
    r"""Return the same as `_read_repository` of a configuration of Buck, and of a package of Kurtosis.

    >>> _read_cells("[cells]\n  root = .\n  prelude = lib/prelude\n[x]\na = b\n")
    [('renamed', '//\t.'), ('renamed', '//root\t./.'), ('renamed', '//prelude\t./lib/prelude')]
    >>> _read_cells("name: github.com/a/b\n")
    [('renamed', '//\t.'), ('renamed', '//github.com/a/b\t.')]
    """
    facts = ["//\t."]
    for table in _CELL_TABLE.findall(text):
        facts += [f"//{name}\t./{path}" for name, path in _CELL.findall(table) if path[0] != "/"]
    if len(facts) == 1:
        facts += [f"//{name}\t." for name in _KURTOSIS_NAME.findall(text)[:1]]
    return [("renamed", each) for each in facts]


def _in_brackets(text: str, start: int) -> str:
    """Return the text from `start` up to the bracket that closes the one before it."""
    depth = 1
    for at in re.finditer(r'"(?:[^"\\\n]|\\.)*+"|[()]', text[start : start + _MAX_MODULE_CHARACTERS]):
        depth += {"(": 1, ")": -1}.get(at[0], 0)
        if not depth:
            return text[start : start + at.start()]
    return ""


def _read_go(text: str) -> list[tuple[str, str]]:
    r"""Return the name of a Go module, and the paths that folders of the repository replace.

    >>> _read_go("module example.org/a // a comment\nreplace example.org/b v1.0.0 => ../b\n")
    [('module', 'example.org/a'), ('replace', 'example.org/b\t../b')]
    """
    plain = re.sub(r"//[^\n]*", "", text)
    facts = [("module", name) for name in _MODULE_LINE.findall(plain)[:1]]
    return facts + [("replace", f"{path}\t{folder}") for path, folder in _REPLACE_LINE.findall(plain)]


def _read_package(data: dict[str, Any]) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    if isinstance(data.get("name"), str):
        facts.append(("name", data["name"]))
    exports = data.get("exports")
    entry = exports.get(".", exports) if isinstance(exports, dict) else exports
    candidates = [data.get(field) for field in _ENTRY_FIELDS] + _leaves(entry)
    for candidate in _sources_first(c for c in candidates if isinstance(c, str)):
        facts.append(("entry", candidate.removeprefix("./")))
    facts += _read_renamed(data)
    for key, table, mark in (("export", exports, "./"), ("alias", data.get("imports"), "#")):
        for name, value in table.items() if isinstance(table, dict) else ():
            targets = [leaf for leaf in _leaves(value) if leaf.startswith("./")]
            if name.startswith(mark) and targets:
                facts.append((key, "\t".join([name.removeprefix("./"), *_sources_first(targets)])))
    return facts


def _read_renamed(data: dict[str, Any]) -> list[tuple[str, str]]:
    r"""Return the dependencies that have another name here than their package, or are a folder.

    >>> _read_renamed({"dependencies": {"a": "npm:@x/b@^1", "c": "file:../c", "d": "workspace:e@*", "f": "^1"}})
    [('renamed', 'a\t@x/b'), ('renamed', 'c\t./../c'), ('renamed', 'd\te')]
    """
    facts = []
    for table in _DEPENDENCIES:
        for name, value in find_table(data, table).items():
            given = _RENAMED.fullmatch(value) if isinstance(value, str) else None
            if given is not None and given["package"] and given["package"] != name:
                facts.append(("renamed", f"{name}\t{given['package']}"))
            elif given is not None and (folder := given["folder"] or given["path"]) and folder[0] not in "/~":
                facts.append(("renamed", f"{name}\t./{folder}"))
    return facts


def _leaves(value: Any, depth: int = 0) -> list[str]:
    """Return the files of an export or import, those of common conditions first.

    >>> _leaves({"development": "./a.js", "default": "./b.js", "types": "./c.ts"})
    ['./c.ts', './b.js', './a.js']
    """
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and depth < 4:
        return [leaf for each in value for leaf in _leaves(each, depth + 1)]
    if isinstance(value, dict) and depth < 4:
        ranks = {name: rank for rank, name in enumerate(_CONDITIONS)}
        ordered = sorted(value, key=lambda name: ranks.get(name, len(ranks)))
        return [leaf for name in ordered for leaf in _leaves(value[name], depth + 1)]
    return []


def _sources_first(targets: Iterable[str]) -> list[str]:
    """Return each target once, those in a compiled language first: sources, not build output.

    >>> _sources_first(["./dist/a.d.ts", "./dist/a.js", "./src/a.ts"])
    ['./src/a.ts', './dist/a.d.ts', './dist/a.js']
    """
    return sorted(dict.fromkeys(targets), key=lambda target: not _SOURCE.search(target))


def _read_compiler(data: dict[str, Any]) -> list[tuple[str, str]]:
    extended = data.get("extends")
    facts = [("extends", e) for e in (extended if isinstance(extended, list) else [extended]) if isinstance(e, str)]
    options = data.get("compilerOptions")
    if not isinstance(options, dict):
        return facts
    if isinstance(options.get("baseUrl"), str):
        facts.append(("base", options["baseUrl"]))
    built, source = options.get("outDir"), options.get("rootDir", _common_folder(data.get("include")))
    if isinstance(built, str) and isinstance(source, str) and source:
        facts.append(("built", f"{built}\t{source}"))
    paths = options.get("paths")
    if isinstance(paths, dict):
        for pattern, targets in paths.items():
            if isinstance(targets, list):
                kept = [t for t in targets if isinstance(t, str)]
                facts.append(("alias", "\t".join([pattern, *kept])))
    return facts


def _common_folder(patterns: Any) -> str:
    """Return the folder with which all patterns of files to compile begin, or "" if there is not one.

    >>> _common_folder(["./lib/**/*"]), _common_folder(["lib/a.ts", "test"]), _common_folder(None)
    ('./lib', '', '')
    """
    if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
        return ""
    folders = {each.partition("*")[0].rpartition("/")[0] if "*" in each else each for each in patterns}
    return folders.pop() if len(folders) == 1 else ""


def _read_cargo(text: str) -> list[tuple[str, str]]:
    """Return the facts of Cargo.toml.

    They are ("package", name), ("library", "name, tab, file"), ("target", file of a binary, example, test or
    benchmark), ("dependency" and, for a workspace, "shared", "local name, tab, package").
    """
    try:
        data = read_toml(text)
    except ValueError:
        return []
    facts: list[tuple[str, str]] = []
    package, library = find_table(data, "package"), find_table(data, "lib")
    name = package.get("name")
    if isinstance(name, str):
        facts.append(("package", name))
        local = library.get("name", name)
        path = library.get("path", "")
        facts.append(("library", f"{local}\t{path}".replace("-", "_", str(local).count("-"))))
    for kind in ("bin", "example", "test", "bench"):
        targets = data.get(kind)
        for target in targets if isinstance(targets, list) else ():
            if isinstance(target, dict) and isinstance(target.get("path"), str):
                facts.append(("target", target["path"]))
    if isinstance(package.get("build"), str):
        facts.append(("target", package["build"]))
    for key, value in _dependencies(data):
        facts.append(("dependency", _dependency(key, value)))
    for key, value in find_table(data, "workspace", "dependencies").items():
        facts.append(("shared", _dependency(key, value)))
    return facts


def _dependencies(data: dict[str, Any]) -> list[tuple[str, Any]]:
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    tables = [data, *(table for table in find_table(data, "target").values() if isinstance(table, dict))]
    return [entry for table in tables for kind in kinds for entry in find_table(table, kind).items()]


def _dependency(key: str, value: Any) -> str:
    package = value.get("package", key) if isinstance(value, dict) else key
    return f"{key.replace('-', '_')}\t{package}"
