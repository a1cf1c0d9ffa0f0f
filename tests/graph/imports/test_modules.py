"""Which file an import means: tables worked by hand from the languages' rules."""

from collections.abc import Iterable

import pytest

from causalist.graph.imports.modules import OUTSIDE, ModuleMap
from causalist.model.facts import FileFacts
from causalist.parse import dialect_of, load_settings, parse_text


def module_map(paths: Iterable[str], manifests: dict[str, str] | None = None) -> ModuleMap:
    """A map of empty files at `paths`, and of configuration files with a content."""
    files = [(path, FileFacts(language=dialect_of(path))) for path in paths]
    files += [(path, parse_text(path, text.encode())) for path, text in (manifests or {}).items()]
    return ModuleMap.from_files(sorted(files), load_settings())


def resolve(modules: ModuleMap, importer: str, module: str, level: int = 0) -> tuple[str, str]:
    """(path, rule) of a module; ("", "external") outside."""
    settings = load_settings()[dialect_of(importer)].modules
    found = modules.resolve(importer, module, level, settings)
    return (modules.paths[found.file] if found.file >= 0 else "", found.rule)


_PYTHON = [
    "app/__init__.py",
    "app/core.py",
    "app/sub/__init__.py",
    "app/sub/deep.py",
    "app/native.pyi",
    "app/both.py",
    "app/both/__init__.py",
    "scripts/run.py",
    "scripts/common.py",
    "other/use.py",
    "space/mod.py",
    "src/lib/__init__.py",
    "src/lib/a.py",
    "src/single.py",
    "one/utils.py",
    "one/main.py",
    "two/utils.py",
    "two/main.py",
    "top.py",
]


@pytest.mark.parametrize(
    ("importer", "module", "level", "path"),
    [
        ("top.py", "app", 0, "app/__init__.py"),
        ("top.py", "app.core", 0, "app/core.py"),
        ("top.py", "app.sub.deep", 0, "app/sub/deep.py"),
        ("top.py", "app.native", 0, "app/native.pyi"),
        ("top.py", "app.missing", 0, ""),
        ("top.py", "core", 0, ""),  # inside of a package only by its full name
        ("app/core.py", "core", 0, ""),
        ("app/core.py", "app.sub", 0, "app/sub/__init__.py"),
        ("app/core.py", "", 1, "app/__init__.py"),
        ("app/core.py", "sub", 1, "app/sub/__init__.py"),
        ("app/core.py", "sub.deep", 1, "app/sub/deep.py"),
        ("app/sub/deep.py", "", 1, "app/sub/__init__.py"),
        ("app/sub/deep.py", "", 2, "app/__init__.py"),
        ("app/sub/deep.py", "core", 2, "app/core.py"),
        ("app/sub/__init__.py", "deep", 1, "app/sub/deep.py"),
        ("app/sub/deep.py", "core", 9, ""),
        ("scripts/run.py", "common", 0, "scripts/common.py"),  # beside it
        ("other/use.py", "common", 0, ""),
        ("other/use.py", "scripts.common", 0, "scripts/common.py"),  # from the root, as a namespace package
        ("top.py", "space.mod", 0, "space/mod.py"),
        ("top.py", "space", 0, ""),  # a folder without a file of its own
        ("top.py", "lib.a", 0, "src/lib/a.py"),
        ("top.py", "lib", 0, "src/lib/__init__.py"),
        ("top.py", "single", 0, "src/single.py"),
        ("one/main.py", "utils", 0, "one/utils.py"),
        ("two/main.py", "utils", 0, "two/utils.py"),
        ("top.py", "os.path", 0, ""),
        ("app/both/x.py", "", 1, "app/both/__init__.py"),  # "." is the package although both.py exists
    ],
)
def test_dotted_modules(importer: str, module: str, level: int, path: str) -> None:
    assert resolve(module_map(_PYTHON), importer, module, level) == (path, "path" if path else "external")


_TYPESCRIPT = [
    "src/a.ts",
    "src/view.tsx",
    "src/types.d.ts",
    "src/plain.js",
    "src/old.cjs",
    "src/new.mts",
    "src/util/index.ts",
    "src/util.ts",
    "src/dir/index.js",
    "src/dir/x.ts",
    "index.ts",
]


@pytest.mark.parametrize(
    ("importer", "module", "path"),
    [
        ("src/a.ts", "./view", "src/view.tsx"),
        ("src/a.ts", "./view.jsx", "src/view.tsx"),
        ("src/view.tsx", "./a", "src/a.ts"),
        ("src/view.tsx", "./a.js", "src/a.ts"),
        ("src/a.ts", "./types", "src/types.d.ts"),
        ("src/a.ts", "./plain", "src/plain.js"),
        ("src/a.ts", "./plain.js", "src/plain.js"),
        ("src/a.ts", "./old.cjs", "src/old.cjs"),
        ("src/a.ts", "./new.mjs", "src/new.mts"),
        ("src/a.ts", "./dir", "src/dir/index.js"),
        ("src/a.ts", "./util", "src/util.ts"),
        ("src/a.ts", "./util/", "src/util/index.ts"),
        ("src/dir/x.ts", ".", "src/dir/index.js"),
        ("src/dir/x.ts", "./", "src/dir/index.js"),
        ("src/dir/x.ts", "..", ""),  # src/ has no index
        ("src/a.ts", "..", "index.ts"),
        ("src/dir/x.ts", "../a", "src/a.ts"),
        ("src/a.ts", "../../a", ""),
        ("index.ts", "..", ""),
        ("src/a.ts", "/src/a", ""),
        ("src/a.ts", "view", ""),
        ("src/a.ts", "./missing", ""),
        ("src/a.ts", "", ""),
    ],
)
def test_paths(importer: str, module: str, path: str) -> None:
    assert resolve(module_map(_TYPESCRIPT), importer, module) == (path, "path" if path else "external")


_MANIFESTS = {
    "package.json": '{"name": "root"}',
    "packages/core/package.json": '{"name": "@acme/core", "main": "./dist/main.js"}',
    "packages/ui/package.json": '{"name": "ui"}',
    "tsconfig.json": '{"compilerOptions": {"baseUrl": "packages", "paths": {"~/*": ["core/src/*", "ui/*"]}}}',
    "packages/ui/tsconfig.json": '{"compilerOptions": {"paths": {"~/*": ["./own/*"], "~/special": ["./special"]}}}',
}
_WORKSPACE = [
    "packages/core/src/main.ts",
    "packages/core/src/extra.ts",
    "packages/core/src/thing.ts",
    "packages/ui/index.ts",
    "packages/ui/own/thing.ts",
    "packages/ui/own/special.ts",
    "packages/ui/special.ts",
    "packages/ui/button.ts",
    "app.ts",
]


@pytest.mark.parametrize(
    ("importer", "module", "path", "rule"),
    [
        ("app.ts", "@acme/core", "packages/core/src/main.ts", "package"),  # dist/ is compiled from src/
        ("app.ts", "@acme/core/extra", "packages/core/src/extra.ts", "package"),
        ("app.ts", "@acme/none", "", "external"),
        ("app.ts", "ui/button", "packages/ui/button.ts", "path"),  # baseUrl comes before packages
        ("app.ts", "~/thing", "packages/core/src/thing.ts", "path"),
        ("app.ts", "~/button", "packages/ui/button.ts", "path"),  # the second target
        ("app.ts", "~/nothing", "", "external"),
        ("packages/ui/button.ts", "~/thing", "packages/ui/own/thing.ts", "path"),  # the nearest configuration
        ("packages/ui/button.ts", "~/special", "packages/ui/special.ts", "path"),  # the longest pattern
        ("app.ts", "react", "", "external"),
    ],
)
def test_manifests(importer: str, module: str, path: str, rule: str) -> None:
    assert resolve(module_map(_WORKSPACE, _MANIFESTS), importer, module) == (path, rule)


def test_submodules_belong_to_packages_only() -> None:
    modules = module_map(_PYTHON)
    settings = load_settings()["python"].modules
    package, plain = modules.number["app/__init__.py"], modules.number["app/core.py"]
    assert modules.paths[modules.find_submodule(package, "core", settings)] == "app/core.py"
    assert modules.find_submodule(package, "nothing", settings) == -1
    assert modules.find_submodule(plain, "sub", settings) == -1
    assert modules.paths[modules.find_namespace_submodule("top.py", "space", 0, "mod", settings)] == "space/mod.py"


def test_languages_do_not_see_one_another() -> None:
    modules = module_map(["a.py", "b.ts"])
    assert resolve(modules, "b.ts", "./a") == ("", "external")
    assert resolve(modules, "a.py", "b") == ("", OUTSIDE.rule)
