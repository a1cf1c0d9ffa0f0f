"""From imports of packages to folders."""

import pytest

from causalist.graph.imports.folders import FolderMap
from causalist.graph.imports.package_scope import PackageScopes
from causalist.model.facts import FileFacts
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
    found = FolderMap.of(files, load_settings())
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
    found = FolderMap.of(files, load_settings())

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


def test_variants_of_a_name_in_one_package() -> None:
    class Names:
        settings = None

        def __init__(self, path: str, **by_qualname: int) -> None:
            self.path, self.by_qualname = path, by_qualname

    tables = [
        Names("p/a.go", go=0),
        Names("p/open_linux.go", open=1),
        Names("p/open_windows.go", open=2),
        Names("p/use_windows.go", use=3),
    ]
    scopes = PackageScopes.of([(t.path, FileFacts("go", package="p")) for t in tables], load_settings())
    assert scopes.variants(1, 1, 0, tables) == [1, 2]
    assert scopes.variants(1, 1, 1, tables) == [1]
    assert scopes.variants(1, 1, 3, tables) == [2]
    assert scopes.variants(0, 0, 3, tables) == [0]
