"""Scopes that are wider than a file, and members that stand outside of their type."""

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.imports.package_scope import PackageScopes, package_key
from causalist.model.facts import FileFacts
from causalist.model.language_settings import (
    CommentSettings,
    LanguageSettings,
    ModuleSettings,
    ModuleSystem,
    NameSettings,
)
from causalist.parse import load_settings


def _settings(system: ModuleSystem) -> LanguageSettings:
    names, modules = NameSettings((), (), (), False, False), ModuleSettings(system, (), ())
    return LanguageSettings("lang", "lang", (), names, modules, CommentSettings((), "comment"))


def _symbols(path: str, **by_qualname: int) -> FileSymbols:
    return FileSymbols(path, FileFacts("go", package="p"), 0, None, by_qualname)


def test_a_folder_is_a_package_and_its_tests_may_be_another() -> None:
    folder = _settings(ModuleSystem.FOLDER)
    inside = package_key("a/x.go", FileFacts("go", package="a"), folder)
    assert inside == package_key("a/y.go", FileFacts("go", package="a"), folder)
    assert inside != package_key("a/y_test.go", FileFacts("go", package="a_test"), folder)
    assert inside != package_key("b/x.go", FileFacts("go", package="a"), folder)


def test_a_declared_package_spans_folders_and_without_a_declaration_a_folder_is_one() -> None:
    declared = _settings(ModuleSystem.DECLARED)
    main = package_key("src/main/p/A.java", FileFacts("java", package="p"), declared)
    assert main == package_key("src/test/p/ATest.java", FileFacts("java", package="p"), declared)
    loose = package_key("a/A.java", FileFacts("java"), declared)
    assert loose == package_key("a/B.java", FileFacts("java"), declared)
    assert loose != package_key("b/A.java", FileFacts("java"), declared)


def test_files_of_a_package_see_one_another_and_the_first_of_a_name_counts() -> None:
    settings = {"go": _settings(ModuleSystem.FOLDER), "py": _settings(ModuleSystem.DOTTED)}
    files = [
        ("a/x.go", FileFacts("go", package="a")),
        ("a/y.go", FileFacts("go", package="a")),
        ("b/z.go", FileFacts("go", package="b")),
        ("a/w.py", FileFacts("py")),
    ]
    scopes = PackageScopes.from_files(files, settings)
    tables = [_symbols("", f=0), _symbols("", f=1, g=2), _symbols("", h=3), _symbols("", i=4)]
    assert [scopes.find_definition(0, name, tables) for name in "fghi"] == [0, 2, None, None]
    assert scopes.find_definition(1, "f", tables) == 0
    assert scopes.find_definition(3, "i", tables) is None


def test_variants_of_a_name_in_one_package() -> None:
    tables = [
        _symbols("p/a.go", go=0),
        _symbols("p/open_linux.go", open=1),
        _symbols("p/open_windows.go", open=2),
        _symbols("p/use_windows.go", use=3),
    ]
    scopes = PackageScopes.from_files([(each.path, each.facts) for each in tables], load_settings())
    assert scopes.find_variants(1, 1, 0, tables) == [1, 2]
    assert scopes.find_variants(1, 1, 1, tables) == [1]
    assert scopes.find_variants(1, 1, 3, tables) == [2]
    assert scopes.find_variants(0, 0, 3, tables) == [0]
