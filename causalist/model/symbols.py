"""Names of nodes: kinds, ids that are stable across runs, and roles of files (code, test, docs, ...) by their paths.

An id is readable and consists of a path and a qualified name: `src/auth.py::Session.verify`. Positions inside the
program are byte offsets and 0-based rows, as in tree-sitter; servers and commands convert rows to 1-based lines.
"""

import re
from enum import IntEnum
from functools import lru_cache
from typing import NewType

NodeId = NewType("NodeId", str)
NodeIndex = NewType("NodeIndex", int)  # valid inside one CodeGraph only


class LabelledEnum(IntEnum):
    """An enum of numbers with labels for users."""

    @property
    def label(self) -> str:
        """The word that users see."""
        return self.name.lower()


class NodeKind(LabelledEnum):
    """Kinds of nodes; index files hold the numbers."""

    FILE = 0
    NAMESPACE = 1
    CLASS = 2
    INTERFACE = 3
    STRUCT = 4
    ENUM = 5
    TRAIT = 6
    FUNCTION = 7
    METHOD = 8
    FIELD = 9
    CONSTANT = 10
    TYPE = 11
    MACRO = 12
    PASSAGE = 13
    ENTITY = 14  # reserved: no producer yet
    EXTERNAL = 15
    HANDLER = 16  # code without a name of its own that is given to a call with a string


class Role(LabelledEnum):
    """Purpose of a file, judged by its path.

    All but CODE rank lower unless the query is about them.
    """

    CODE = 0
    TEST = 1
    DOCS = 2
    EXAMPLE = 3
    CONFIG = 4
    GENERATED = 5
    VENDORED = 6
    MIGRATION = 7


class Layer(LabelledEnum):
    """Layer of a program that a node belongs to; index files hold the numbers.

    Each of the first five may depend on those before it; the others are beside them.
    """

    INFRA = 0
    DATA = 1
    LOGIC = 2
    API = 3
    UI = 4
    TEST = 5
    CONFIG = 6
    DOCS = 7


NO_LAYER = 255  # in arrays of layers: none

# From the lowest to the highest.
STACKED_LAYERS = (Layer.INFRA, Layer.DATA, Layer.LOGIC, Layer.API, Layer.UI)


class Tier(LabelledEnum):
    """Importance of a node by the number of its users, ranked among nodes of its kind.

    Index files hold the numbers.
    """

    LEAF = 0
    CORE = 1
    HOT = 2


TYPE_KINDS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.STRUCT, NodeKind.ENUM, NodeKind.TRAIT})
CALLABLE_KINDS = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.MACRO, NodeKind.HANDLER})


# What ids of values begin with, behind `external:`, that are asked for by a literal name.
ASKED_KINDS = ("env:", "config:")
TABLE_PREFIX, TEXT_PREFIX = "table:", "text:"  # the same for tables and translated texts
FIXTURE_PREFIX = "fixture:"  # before the names of fixtures of tests among what a file exports
FACADE = "facade:"  # before the type that holds what stands at the top of a file, in the name of an export
ROUTE_PREFIX = "route:"  # the same for routes, before the method and the path


def escape_path(path: str) -> str:
    """Return a repository path in the form of ids: `%`, `#` and `::` are percent-escaped.

    >>> escape_path("a#b/50%::x.py")
    'a%23b/50%25%3A%3Ax.py'
    """
    return path.replace("%", "%25").replace("#", "%23").replace("::", "%3A%3A")


def unescape_path(path: str) -> str:
    """Return the inverse of `escape_path`."""
    return path.replace("%3A%3A", "::").replace("%23", "#").replace("%25", "%")


def file_id(path: str) -> NodeId:
    """Return the id of a file."""
    return NodeId(escape_path(path))


def symbol_id(path: str, qualname: str) -> NodeId:
    """Return the id of a definition."""
    return NodeId(f"{escape_path(path)}::{qualname}")


_RESERVED = (("%", "%25"), ("#", "%23"), ("::", "%3A%3A"), (".", "%2E"), ("~", "%7E"))


def escape_name(name: str) -> str:
    """Return a name that is any text in the form of ids, in which dots join names and `~` numbers them.

    >>> escape_name("get /v1.2/x~y"), unescape_name("get /v1%2E2/x%7Ey")
    ('get /v1%2E2/x%7Ey', 'get /v1.2/x~y')
    """
    for text, escaped in _RESERVED:
        name = name.replace(text, escaped)
    return name


def unescape_name(name: str) -> str:
    """Return the inverse of `escape_name`."""
    if "%" not in name:
        return name
    for text, escaped in reversed(_RESERVED):
        name = name.replace(escaped, text)
    return name


def section_id(path: str, slug: str) -> NodeId:
    """Return the id of a section of prose."""
    return NodeId(f"{escape_path(path)}#{slug}")


def external_id(name: str) -> NodeId:
    """Return the id of a thing outside of the repository."""
    return NodeId(f"external:{name}")


def split_id(node: str) -> tuple[str, str | None]:
    """Return (path, symbol) of an id.

    The symbol is None for files and passages, the path "" for externals.

    >>> split_id("src/a.py::C.m"), split_id("README.md#usage"), split_id("external:os")
    (('src/a.py', 'C.m'), ('README.md', None), ('', None))
    """
    if node.startswith("external:"):
        return "", None
    path, separator, symbol = node.partition("::")
    if separator:
        return unescape_path(path), symbol
    return unescape_path(path.partition("#")[0]), None


def accessor_names(name: str, is_called: bool) -> tuple[str, ...]:
    """Return the names by which another language may know what is used by `name`: a property or its accessors.

    >>> accessor_names("getCount", True), accessor_names("count", False), accessor_names("isOpen", True)
    (('count', 'Count'), ('getCount', 'setCount'), ('isOpen',))
    """
    if not is_called:
        capital = f"{name[:1].upper()}{name[1:]}"
        return (name,) if name.startswith("is") else (f"get{capital}", f"set{capital}")
    rest = name[3:] if name.startswith(("get", "set")) else ""
    if rest[:1].isupper():
        flag = (f"is{rest}",) if name.startswith("set") else ()
        return (f"{rest[0].lower()}{rest[1:]}", rest, *flag)
    return (name,) if name.startswith("is") else ()


_SEGMENTS: tuple[tuple[Role, frozenset[str]], ...] = (
    (Role.VENDORED, frozenset({"vendor", "vendored", "_vendor", "third_party", "thirdparty", "external", "extern"})),
    (
        Role.TEST,
        frozenset(
            {"test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "__mocks__", "fixtures", "testdata"}
            | {"test_helpers", "test-helpers", "test_utils", "test-utils", "testutil", "testutils", "test_files"}
        ),
    ),
    (Role.EXAMPLE, frozenset({"example", "examples", "sample", "samples", "demo", "demos", "playground", "sandbox"})),
    (Role.EXAMPLE, frozenset({"tutorial", "tutorials", "docs_src", "codemods"})),
    (Role.DOCS, frozenset({"doc", "docs", "documentation", "website", "changelog", "changelogs", "newsfragments"})),
    (Role.MIGRATION, frozenset({"migrations", "old_migrations", "post_migrate", "alembic"})),
    (Role.CONFIG, frozenset({".github", ".circleci", ".vscode", "ci", ".changeset", ".husky"})),
    (Role.GENERATED, frozenset({"generated", "__generated__", "generated-sources", "dist"})),
)
# Rails and Flyway; elsewhere a package that is called so migrates.
_MIGRATION_FOLDER = re.compile(r"(?:.*/)?db/migrat(?:e|ion)/")
# What a build leaves; below sources it is the code that builds.
_BUILD_FOLDER = re.compile(r"(?!(?:.*/)?(?:src|lib)/)(?:.*/)?build/")
# Below sources it is the code that measures.
_BENCHMARK_FOLDER = re.compile(r"(?:(?!(?:src|lib)/)[^/]+/)*bench(?:marks?|es)?/")
# What a shell is told of a program's options, in its language or in that of a terminal.
_COMPLETIONS = re.compile(
    r"(?:.*/)?(?:assets|contrib|etc|extras?|misc|scripts|share|shell)/(?:[^/]+/)?(?:shell-)?completions?/.*"
    r"|(?:shell-)?completions?/(?:.*/)?(?:_[^/]*|.*\.(?:bash|zsh|fish|elv|elvish|nu|ps1|powershell))"
)
# A module of a build of many, `shop-examples`, a project beside another, `Shop.Benchmarks`, or Go's `_examples`.
_EXAMPLE_FOLDER = re.compile(r"(?:.*[-.]|_)(?:examples?|samples?|demos?|benchmarks?|playground)")
_TEST_NAME = re.compile(
    r"(^test_.*|.*_test|.*_tests|^conftest|^tests?|.*\.(test|spec|e2e|cy|stories|bench|test-d|tst))\.[^.]+$"
    r"|^testing\.go$|.*_spec\.(?:rb|lua)$|.*\.bats$"
)
# In names of several words the case tells "Latest" from "LaTest": conventions of JUnit, its runners and PHPUnit.
_TEST_FOLDER = re.compile(  # a project of tests
    r"(?:[\w.-]+\.)?(?:unit|integration|functional|acceptance)?\.?tests?"
)
_TEST_CLASS = re.compile(
    r"(?:.*[a-z0-9_])?(?:Tests?|TestCase|IT|ITCase)\.(?:java|kt|groovy|scala|php|swift|cs)$|Test[A-Z]\w*\.java$"
)
# Source sets of tests that are called otherwise: `src/commonTest/kotlin`.
_TEST_SET = re.compile(r"(?:.*/)?src/\w*(?:Test|TestFixtures)/.*\.kts?$")
# Below these folders the names are those of packages, `com.example.test.generated`, and say nothing of the file.
_SOURCE_ROOT = re.compile(r"^((?:.*/)?src/\w+/(?:java|kotlin|scala|groovy)/)", re.IGNORECASE)
_GENERATED_NAME = re.compile(
    r".*\.(?:g|g\.i|designer|generated)\.cs$|.*\.pb\.(?:cc|h|c)$|(?:moc|ui|qrc)_.*\.(?:cpp|h)$"
)
_DOCS_NAME = re.compile(  # with pages of manuals, by their sections
    r".*\.(md|mdx|markdown|rst|txt|adoc)$|.*\.[1-9](?:\.in)?$|(licen[cs]e|copying|notice|authors|contributors|maintainers|changelog|changes|news)$"
)
_CONFIG_NAMES = frozenset(
    {"setup.py", "noxfile.py", "tasks.py", "conanfile.py", "conanfile.txt", "makefile", "makefile.am", "configure.ac"}
    | {"dockerfile", "codeowners", "cmakelists.txt", "meson.build", "meson_options.txt", "build", "build.bazel"}
    | {"pom.xml", "gemfile", "rakefile", "podfile", "package.swift", "mix.exs"}
)
_CONFIG_NAME = re.compile(
    r".*\.(json|jsonc|ya?ml|toml|ini|cfg|lock|properties|editorconfig|cmake|gradle|gradle\.kts|sbt|bzl|gemspec|podspec)"
    r"|.*\.(rockspec|csproj|fsproj|vcxproj|sln|props|targets)|.*\.config\.[cm]?[jt]s|rollup\.config\..*|gulpfile\..*"
    r"|gruntfile\..*|requirements.*\.txt|\..*rc(\..*)?|\.[^.]*ignore|\.git(attributes|modules)"
)
# Code of the build itself: of sbt, and of Gradle.
_BUILD_CODE = re.compile(r"project/[^/]+\.scala$|(?:.*/)?(?:buildsrc|build-logic)/.*")


@lru_cache(maxsize=1 << 17)  # a process that stays asks for the files of a repository again and again
def role_of(path: str) -> Role:
    """Return the role of a file.

    >>> [role_of(p).label for p in ("src/app.py", "tests/test_app.py", "src/app.spec.ts", "README.md", "setup.py")]
    ['code', 'test', 'test', 'docs', 'config']
    """
    root = _SOURCE_ROOT.match(path)
    *folders, name = path.lower().split("/")
    segments = set(folders if root is None else root[1].lower().split("/"))
    for role, names in _SEGMENTS[:2]:
        if segments & names:
            return role
    if name.endswith(".cs") and any(_TEST_FOLDER.fullmatch(folder) for folder in folders):
        return Role.TEST
    if _TEST_NAME.match(name) or _TEST_CLASS.match(path.rpartition("/")[2]) or _TEST_SET.match(path):
        return Role.TEST
    for role, names in _SEGMENTS[2:]:
        if segments & names:
            return role
    lowered = "/".join([*folders, name]) if root is None else root[1].lower() + name
    if any(_EXAMPLE_FOLDER.fullmatch(folder) for folder in segments) or _BENCHMARK_FOLDER.match(lowered):
        return Role.EXAMPLE
    if _MIGRATION_FOLDER.match(lowered):
        return Role.MIGRATION
    if _GENERATED_NAME.match(name) or _BUILD_FOLDER.match(lowered):
        return Role.GENERATED
    if name in _CONFIG_NAMES or _CONFIG_NAME.fullmatch(name) or _BUILD_CODE.match(lowered):
        return Role.CONFIG
    if _DOCS_NAME.match(name):
        return Role.DOCS
    return Role.GENERATED if _COMPLETIONS.fullmatch(lowered) else Role.CODE


_SECONDARY_ROLES = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS})


@lru_cache(maxsize=1 << 16)
def is_secondary(path: str) -> bool:
    """Return True for a path of tests, examples or documentation, which code does not use."""
    return role_of(path) in _SECONDARY_ROLES
