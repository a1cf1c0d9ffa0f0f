"""Role of a file (code, test, docs, ...), judged by its path alone."""

import re
from functools import lru_cache

from causalist._internal.lazy import lazy_regex
from causalist.model.node_ids import Role

_SEGMENTS: tuple[tuple[Role, frozenset[str]], ...] = (
    (Role.VENDORED, frozenset({"vendor", "vendored", "_vendor", "third_party", "thirdparty", "external", "extern"})),
    (
        Role.TEST,
        frozenset(
            {"test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "__mocks__", "fixtures", "testdata"}
            | {"test_helpers", "test-helpers", "test_utils", "test-utils", "testutil", "testutils", "test_files"}
            | {"testhelper", "testhelpers", "test_support", "test-support", "testsupport", "testlib", "testsuite"}
            | {"test_data", "test-data", "testresources", "cypress", "mocks", "fixture", "__fixtures__"}
            | {"datafixtures", "testfixtures", "test_fixtures", "test-fixtures"}
        ),
    ),
    (Role.EXAMPLE, frozenset({"example", "examples", "sample", "samples", "demo", "demos", "playground", "sandbox"})),
    (Role.EXAMPLE, frozenset({"tutorial", "tutorials", "docs_src", "codemods"})),
    (Role.DOCS, frozenset({"doc", "docs", "documentation", "website", "changelog", "changelogs", "newsfragments"})),
    (Role.MIGRATION, frozenset({"migrations", "old_migrations", "post_migrate", "alembic"})),
    (Role.CONFIG, frozenset({".github", ".circleci", ".vscode", "ci", ".changeset", ".husky"})),
    (Role.GENERATED, frozenset({"generated", "__generated__", "generated-sources", "dist"})),
)
# Rails and Flyway, and what fills a new database; elsewhere a package that is called so migrates.
_MIGRATION_FOLDER = lazy_regex(r"(?:.*/)?(?:db/migrat(?:e|ion)/|db/seeds(?:/|\.rb$)|database/seed(?:er)?s/)")
# Scripts of SQL that are run once, in order: of Flyway, and those named by a day or a second.
_NUMBERED_SCRIPT = lazy_regex(r"(?:v\d[\d._]*__|\d{4}-\d\d-\d\d[_-]|\d{14}[_-])[^/]*\.sql$")
# What a build leaves; below sources it is the code that builds.
_BUILD_FOLDER = lazy_regex(r"(?!(?:.*/)?(?:src|lib)/)(?:.*/)?build/")
# Below sources it is the code that measures.
_BENCHMARK_FOLDER = lazy_regex(r"(?:(?!(?:src|lib)/)[^/]+/)*bench(?:marks?|es)?/")
# What a shell is told of a program's options, in its language or in that of a terminal.
_COMPLETIONS = lazy_regex(
    r"(?:.*/)?(?:assets|contrib|etc|extras?|misc|scripts|share|shell)/(?:[^/]+/)?(?:shell-)?completions?/.*"
    r"|(?:shell-)?completions?/(?:.*/)?(?:_[^/]*|.*\.(?:bash|zsh|fish|elv|elvish|nu|ps1|powershell))"
)
# A module of a build of many, `shop-examples`, a project beside another, `Shop.Benchmarks`, or Go's `_examples`.
_EXAMPLE_FOLDER = lazy_regex(r"(?:.*[-.]|_)(?:examples?|samples?|demos?|benchmarks?|playground)")
_TEST_NAME = lazy_regex(
    r"(^test_.*|.*_test|.*_tests|^conftest|^tests?|.*\.(test|spec|e2e|cy|stories|bench|test-d|tst))\.[^.]+$"
    r"|^testing\.go$|.*_spec\.(?:rb|lua)$|.*\.bats$|.*\.tests\.ps1$|.*\.t$"
    r"|(?:.*[._-])?test[-_]?(?:helper|util)s?\.[^.]+$|.*[._]fixtures?\.[^.]+$"
    r"|(?:mock_.*|.*_mocks?)\.go$|.*\.mock\.[cm]?[jt]sx?$"
    r"|^(?:.*_tb|.*_testbench|testbench|tb|tb_top)\.(?:sv|v)$"
)
_FACTORY_FOLDER = lazy_regex(r"(?:.*/)?database/factories/")  # of Laravel, of rows for tests
# In names of several words the case tells "Latest" from "LaTest": conventions of JUnit, its runners and PHPUnit.
_TEST_FOLDER = lazy_regex(  # a project of tests
    r"(?:[\w.-]+\.)?(?:unit|integration|functional|acceptance)?\.?tests?"
)
_TEST_CLASS = lazy_regex(
    r"(?:.*[a-z0-9_])?(?:Tests?|TestCase|IT|ITCase)\.(?:java|kt|groovy|scala|php|swift|cs|fsx?)$|Test[A-Z]\w*\.java$"
)
# Source sets of tests that are called otherwise: `src/commonTest/kotlin`.
_TEST_SET = lazy_regex(r"(?:.*/)?src/\w*(?:Test|TestFixtures)/.*\.kts?$")
# Below these folders the names are those of packages, `com.example.test.generated`, and say nothing of the file.
_SOURCE_ROOT = lazy_regex(r"^((?:.*/)?src/\w+/(?:java|kotlin|scala|groovy)/)", re.IGNORECASE)
_GENERATED_NAME = lazy_regex(
    r".*\.(?:g|g\.i|designer|generated)\.cs$|.*\.pb\.(?:cc|h|c)$|(?:moc|ui|qrc)_.*\.(?:cpp|h)$"
)
_DOCS_NAME = lazy_regex(  # with pages of manuals, by their sections
    r".*\.(md|mdx|markdown|rst|txt|adoc)$|.*\.[1-9](?:\.in)?$|(licen[cs]e|copying|notice|authors|contributors|maintainers|changelog|changes|news)$"
)
_CONFIG_NAMES = frozenset(
    {"setup.py", "noxfile.py", "tasks.py", "conanfile.py", "conanfile.txt", "makefile", "makefile.am", "configure.ac"}
    | {"dockerfile", "codeowners", "cmakelists.txt", "meson.build", "meson_options.txt", "build", "build.bazel"}
    | {"workspace", "buck", "targets", "tiltfile"}
    | {"pom.xml", "gemfile", "rakefile", "podfile", "package.swift", "mix.exs"}
)
_CONFIG_NAME = lazy_regex(
    r".*\.(json|jsonc|ya?ml|toml|ini|cfg|lock|properties|editorconfig|cmake|gradle|gradle\.kts|sbt|bzl|bazel|gemspec|podspec)"
    r"|.*\.(rockspec|csproj|fsproj|vcxproj|sln|props|targets)|.*\.config\.[cm]?[jt]s|rollup\.config\..*|gulpfile\..*"
    r"|gruntfile\..*|requirements.*\.txt|\..*rc(\..*)?|\.[^.]*ignore|\.git(attributes|modules)"
)
# Code of the build itself: of sbt, and of Gradle.
_BUILD_CODE = lazy_regex(r"project/[^/]+\.scala$|(?:.*/)?(?:buildsrc|build-logic)/.*")


# What is in all names and paths that the expressions match. To look for that takes a fifth of the time, and is enough
# for most files.
_TEST_PARTS = ("test", "spec", "mock", "fixture", "e2e", ".cy.", "stories", "bench", ".tst.", ".bats", "tb")
_TEST_CLASS_ENDS = (".java", ".kt", ".groovy", ".scala", ".php", ".swift", ".cs", ".fs", ".fsx")
_EXAMPLE_ENDS = ("example", "examples", "sample", "samples", "demo", "demos", "benchmark", "benchmarks", "playground")
_GENERATED_ENDS = (".cs", ".cc", ".c", ".h", ".cpp")
_CONFIG_BEGINS = (".", "gulpfile.", "gruntfile.", "requirements")
_CONFIG_ENDS = (
    ".json", ".jsonc", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".lock", ".properties", ".editorconfig", ".cmake",
    ".gradle", ".kts", ".sbt", ".bzl", ".bazel", ".gemspec", ".podspec", ".rockspec", ".csproj", ".fsproj", ".vcxproj",
    ".sln", ".props", ".targets",
)  # fmt: skip
_SOURCE_ENDS = (".java", ".kt", ".kts", ".scala", ".groovy", ".py", ".rb", ".js", ".ts", ".tsx", ".go", ".rs", ".php",
                ".swift", ".c", ".cc", ".cpp", ".h", ".hpp", ".cs")  # fmt: skip


@lru_cache(maxsize=1 << 17)  # a process that stays asks for the files of a repository again and again
def role_of(path: str) -> Role:
    """Return the role of a file.

    >>> [role_of(p).label for p in ("src/app.py", "tests/test_app.py", "src/app.spec.ts", "README.md", "setup.py")]
    ['code', 'test', 'test', 'docs', 'config']
    """
    lower = path.lower()
    root = _SOURCE_ROOT.match(path) if "src/" in lower else None
    *folders, name = lower.split("/")
    segments = set(folders if root is None else root[1].lower().split("/"))
    for role, names in _SEGMENTS[:2]:
        if not segments.isdisjoint(names):
            return role
    if name.endswith((".cs", ".fs", ".fsx")) and any(_TEST_FOLDER.fullmatch(folder) for folder in folders):
        return Role.TEST
    if (any(map(name.__contains__, _TEST_PARTS)) or name.endswith(".t")) and _TEST_NAME.match(name):
        return Role.TEST
    if name.endswith(_TEST_CLASS_ENDS):
        own = path.rpartition("/")[2]
        if ("Test" in own or "IT" in own) and _TEST_CLASS.match(own):
            return Role.TEST
    if name.endswith((".kt", ".kts")) and _TEST_SET.match(path):
        return Role.TEST
    if "database/factories/" in lower and _FACTORY_FOLDER.match(lower):
        return Role.TEST
    for role, names in _SEGMENTS[2:]:
        if not segments.isdisjoint(names):
            return role
    lowered = lower if root is None else root[1].lower() + name
    if any(folder.endswith(_EXAMPLE_ENDS) and _EXAMPLE_FOLDER.fullmatch(folder) for folder in segments):
        return Role.EXAMPLE
    if "bench" in lowered and _BENCHMARK_FOLDER.match(lowered):
        return Role.EXAMPLE
    if ("db/" in lowered or "database/" in lowered) and _MIGRATION_FOLDER.match(lowered):
        return Role.MIGRATION
    if name.endswith(".sql") and _NUMBERED_SCRIPT.match(name):
        return Role.MIGRATION
    if name.endswith(_GENERATED_ENDS) and _GENERATED_NAME.match(name):
        return Role.GENERATED
    if "build/" in lowered and _BUILD_FOLDER.match(lowered):
        return Role.GENERATED
    if name in _CONFIG_NAMES:
        return Role.CONFIG
    if _may_be_config(name) and _CONFIG_NAME.fullmatch(name):
        return Role.CONFIG
    if ("project/" in lowered or "buildsrc/" in lowered or "build-logic/" in lowered) and _BUILD_CODE.match(lowered):
        return Role.CONFIG
    if not name.endswith(_SOURCE_ENDS) and _DOCS_NAME.match(name):
        return Role.DOCS
    return Role.GENERATED if "completion" in lowered and _COMPLETIONS.fullmatch(lowered) else Role.CODE


def _may_be_config(name: str) -> bool:
    return name.startswith(_CONFIG_BEGINS) or name.endswith(_CONFIG_ENDS) or ".config." in name


def is_config_name(name: str) -> bool:
    """Return True for a name that configures something wherever the file stands."""
    lower = name.lower()
    return (_may_be_config(lower) or lower == "ci" or lower in _CONFIG_NAMES) and role_of(name) is Role.CONFIG


_SECONDARY_ROLES = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS})


@lru_cache(maxsize=1 << 16)
def is_secondary(path: str) -> bool:
    """Return True for a path of tests, examples or documentation, which code does not use."""
    return role_of(path) in _SECONDARY_ROLES
