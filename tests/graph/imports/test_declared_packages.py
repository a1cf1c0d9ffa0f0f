"""Imports of packages that are folders."""

import pytest

from causalist.graph.imports.declared_packages import DeclaredTypes, FolderMap
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind
from causalist.parse import load_settings


@pytest.mark.parametrize(
    ("names", "file"),
    [
        ({"a/b.go": "p", "a/c.go": "p"}, "a/b.go"),
        ({"a/a_test.go": "p", "a/b.go": "p"}, "a/b.go"),
        ({"a/a_test.go": "p_test", "a/b_test.go": "p_test", "a/c.go": "p"}, "a/c.go"),
        ({"a/a.go": "main", "a/b.go": "main", "a/c.go": "p"}, "a/c.go"),
        ({"a/a.go": "main"}, "a/a.go"),
        ({"a/a.go": "old", "a/b.go": "p", "a/c.go": "p"}, "a/b.go"),
        ({"a/a_test.go": "p_test"}, "a/a_test.go"),
    ],
)
def test_the_package_of_a_folder(names: dict[str, str], file: str) -> None:
    files = [(path, FileFacts("go", package=package)) for path, package in sorted(names.items())]
    found = FolderMap.from_files(files, load_settings())
    assert files[found.package_at["a"]][0] == file


def test_the_longest_path_counts_and_then_the_nearest_module() -> None:
    files = [
        ("go.mod", FileFacts("", manifest=(("module", "x.org/a"), ("replace", "x.org/b\tlocal/b")))),
        ("in/go.mod", FileFacts("", manifest=(("module", "x.org/a/in"), ("replace", "x.org/a\t../")))),
        ("in/q/q.go", FileFacts("go", package="q")),
        ("local/b/c/c.go", FileFacts("go", package="c")),
        ("p/p.go", FileFacts("go", package="p")),
        ("test/go.mod", FileFacts("", manifest=(("module", "x.org/a"),))),
        ("test/p/p.go", FileFacts("go", package="p")),
        ("vendor/v.org/v/v.go", FileFacts("go", package="v")),
    ]
    found = FolderMap.from_files(files, load_settings())

    def resolve(importer: str, module: str) -> str:
        file = found.resolve(importer, module).file
        return files[file][0] if file >= 0 else ""

    assert resolve("main.go", "x.org/a/p") == "p/p.go"
    assert resolve("test/main.go", "x.org/a/p") == "test/p/p.go"
    assert resolve("main.go", "x.org/a/in/q") == "in/q/q.go"
    assert resolve("in/q/r.go", "x.org/a/p") == "p/p.go"
    assert resolve("in/q/r.go", "x.org/a/in/q") == "in/q/q.go"
    assert resolve("main.go", "x.org/b/c") == "local/b/c/c.go"
    assert resolve("main.go", "v.org/v") == "vendor/v.org/v/v.go"
    assert resolve("main.go", "x.org/ab/p") == resolve("main.go", "p") == resolve("main.go", "fmt") == ""
    assert resolve("p/x.go", "../in/q") == "in/q/q.go"


def test_wildcard_imports_that_may_bring_a_name() -> None:
    """A package brings what it declares, a type what is in it, a facade its file; one from outside brings nothing."""
    types = {("csharp", name): [(0, i)] for i, name in enumerate(("Shop.Cart", "Shop.Web.Cart", "Shop.Prices"))}
    declared = DeclaredTypes(["a.cs"], types, facades={("csharp", "Shop.Top"): [0]})
    settings = load_settings()["csharp"]
    modules = ("System", "Shop.Web", "Shop", "Shop.Prices", "Shop.Top", "Web")
    stars = [Import(MODULE_SCOPE, ImportKind.STAR, each, 0, "", "", 0) for each in modules]
    found = {name: [each.module for each in declared.bringing(settings, stars, name)] for name in ("Cart", "Order")}
    assert found == {"Cart": ["Shop.Web", "Shop", "Shop.Prices", "Shop.Top"], "Order": ["Shop.Prices", "Shop.Top"]}
    assert list(declared.bringing(settings, stars, "Web.Cart")) == stars
    assert list(declared.bringing(load_settings()["python"], stars, "Order")) == stars
