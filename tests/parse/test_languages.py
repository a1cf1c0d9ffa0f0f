"""Finding and loading grammars."""

import re
import shutil
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_perl

from causalist.errors import GrammarError
from causalist.model.language_settings import ModuleSystem
from causalist.parse import (
    dialect_of,
    grammar_version,
    languages,
    load_grammar,
    load_settings,
    parse_file,
    parse_source,
    reader_of,
)
from tests.grammars import grammars_at


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("a.py", "python"),
        ("a/b.PYI", "python"),
        ("x.ts", "typescript"),
        ("x.d.ts", "typescript"),
        ("x.mts", "typescript"),
        ("x.tsx", "tsx"),
        ("x.jsx", "javascript"),
        ("x.cjs", "javascript"),
        ("x_test.go", "go"),
        ("x.go.tmpl", ""),
        ("go.mod", ""),
        ("src/lib.rs", "rust"),
        ("a.c", "c"),
        ("a.cs", "csharp"),
        ("a.cc", "cpp"),
        ("a.HPP", "cpp"),
        ("a.inl", "cpp"),
        ("include/a.H", "c"),
        ("a.php", "php"),
        ("views/a.phtml", "php"),
        ("a.rb", "ruby"),
        ("a.lua", "lua"),
        ("a.sh", "bash"),
        ("a.ex", "elixir"),
        ("mix.exs", "elixir"),
        ("home/.bashrc", "bash"),
        ("a.zsh", ""),
        ("a.gemspec", "ruby"),
        ("sub/Rakefile", "ruby"),
        ("Rakefile.bak", ""),
        ("a/B.kt", "kotlin"),
        ("Package.swift", "swift"),
        ("a/B.scala", "scala"),
        ("build.sbt", "scala"),
        ("build.gradle.kts", "kotlin"),
        ("a.sol", "solidity"),
        ("lib/a.bzl", "starlark"),
        ("MODULE.bazel", "starlark"),
        ("app/BUILD", "starlark"),
        ("Tiltfile", "starlark"),
        ("main.star", "starlark"),
        ("lib/a.PS1", "powershell"),
        ("lib/A.pm", "perl"),
        ("t/a.t", "perl"),
        ("app.psgi", "perl"),
        ("build.zig", "zig"),
        ("src/shop.odin", "odin"),
        ("rtl/shop.sv", "systemverilog"),
        ("rtl/shop.SVH", "systemverilog"),
        ("rtl/shop.vhd", "vhdl"),
        ("rtl/shop.VHDL", "vhdl"),
        ("lib/shop.dart", "dart"),
        ("src/shop.gd", "gdscript"),
        ("src/Shop.jl", "julia"),
        ("Shop.m", "objc"),
        ("src/A.hs", "haskell"),
        ("a.ml", "ocaml"),
        ("a.mli", "ocaml_interface"),
        ("src/A.fs", "fsharp"),
        ("build.fsx", "fsharp"),
        ("src/A.fsi", ""),
        ("src/A.F90", "fortran"),
        ("src/a-b.ads", "ada"),
        ("src/A.ADB", "ada"),
        ("a.f", ""),
        ("py", ""),
        ("a.py/b", ""),
        (".py", "python"),
        ("a.pyc", ""),
        ("", ""),
    ],
)
def test_dialect_of(path: str, dialect: str) -> None:
    assert dialect_of(path) == dialect


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("struct a { int b; };\n/* a class of things */\n", "c"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint class_of(int a);\n', "c"),
        ("", "c"),
        ("class A {\n};\n", "cpp"),
        ("  namespace a {\n}\n", "cpp"),
        ("#include <vector>\n", "cpp"),
        ("void f(std::string a);\n", "cpp"),
        ("struct a {\n private:\n int b; };\n", "cpp"),
    ],
)
def test_what_a_header_holds_says_which_dialect_reads_it(text: str, dialect: str) -> None:
    assert languages.dialect_for("a.h", text.encode()) == dialect == parse_file("a.h", text.encode()).language
    assert languages.dialect_for("a.c", text.encode()) == "c"
    assert languages.claimants("a.h")[0] == "cpp" and languages.claimants("a.c") == ()


@pytest.mark.parametrize(
    ("text", "objc", "matlab"),
    [
        ('#import "Shop.h"\n@implementation Shop\n- (void)open {}\n@end\n', "objc", ""),
        ("// Opens.\n@interface Shop : NSObject\n@end\n% function a\n", "objc", ""),
        ("function r = open_door(n)\nr = n;\n", "", "matlab"),
        ("% Opens a door.\nopen_door(3)\n", "", "matlab"),
        ("x = 3;  % a number\n", "", "matlab"),
        ("classdef Door < handle\nend\n", "", "matlab"),
        ("## Octave\n1;\n", "", "matlab"),
        ("(* ::Package:: *)\nf[x_] := x;\ny = 3;\n", "", ""),
        (":- module shop.\n% Mercury.\n", "", ""),
        ("", "", ""),
    ],
)
def test_what_a_file_holds_says_whether_it_is_of_objective_c_or_matlab(
    text: str, objc: str, matlab: str, tmp_path: Path
) -> None:
    grammars, data = Path(languages.grammars_folder()), text.encode()
    for folder in ("c", "objc", "matlab"):
        shutil.copytree(grammars / folder, tmp_path / folder)
    with grammars_at(tmp_path):
        assert languages.dialect_for("Shop.m", data) == objc + matlab
    for name, alone in (("objc", matlab), ("matlab", objc)):
        settings = tmp_path / name / "language.toml"
        written = settings.read_text("utf-8")
        settings.write_text(written.replace(f"tree_sitter_{name}", "tree_sitter_nowhere"), "utf-8")
        with grammars_at(tmp_path):
            assert languages.dialect_for("Shop.m", data) == alone
        settings.write_text(written, "utf-8")


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("app/BUILD", 'cc_library(\n    name = "a",\n)\n', "starlark"),
        ("BUILD", '# Files.\nexports_files(["a"])  # all\r\n', "starlark"),
        ("WORKSPACE", 'workspace(name = "a")', "starlark"),
        ("main.star", "def run(plan):\n    pass\n", "starlark"),
        ("build", "#!/bin/sh\nbuild_all() {\n}\n", "bash"),
        ("build", "#!/usr/bin/env python3\ndef main():\n    main()\n", ""),
        ("particles.star", "data_\n\nloop_\n_rlnX #1\n1 2 3\n", ""),
        ("targets", "all (of them)\n", ""),
        ("meson.build", "project('shop', 'c')\nlib = library('shop', 'a.c')\n", ""),
        ("BUILD", "", ""),
    ],
)
def test_what_a_file_holds_says_whether_it_is_of_a_build(path: str, text: str, language: str) -> None:
    assert parse_file(path, text.encode()).language == language


def test_folders_say_the_package_and_the_class_of_a_file() -> None:
    folders = ("+shop", "src/+shop", "+door", "+shop/@Door", "@Door")
    assert len({reader_of(f"{folder}/open.m") for folder in folders}) == 4
    assert parse_file("+shop/+doors/open.m", b"function open(d)\n").package == "shop.doors"


def test_dialects_share_settings_and_differ_in_version() -> None:
    settings = load_settings()
    assert settings["tsx"] is settings["typescript"]
    assert settings["flow"] is settings["javascript"] is not settings["typescript"]
    assert settings["flow"].family == settings["tsx"].family != settings["python"].family
    assert settings["python"].modules.system is ModuleSystem.DOTTED
    assert grammar_version("tsx") == load_grammar("tsx").version != grammar_version("typescript")


def test_a_language_whose_extra_is_not_installed_is_text(tmp_path: Path) -> None:
    grammars = Path(languages.grammars_folder())
    shutil.copytree(grammars / "python", tmp_path / "python")
    shutil.copytree(grammars / "solidity", tmp_path / "solidity")
    settings = tmp_path / "solidity" / "language.toml"
    with grammars_at(tmp_path):
        assert dialect_of("a.sol") == "solidity" and languages.missing_language_of("a.sol") is None
    settings.write_text(settings.read_text("utf-8").replace("tree_sitter_solidity", "tree_sitter_nowhere"), "utf-8")
    with grammars_at(tmp_path):
        assert dialect_of("a.sol") == "" and dialect_of("a.py") == "python"
        assert languages.missing_language_of("src/A.SOL") == ("solidity", "solidity")
        assert languages.missing_language_of("a.py") is None
        facts = parse_file("a.sol", b"contract Shop {}\n")
        assert facts.language == "" and b"Shop" in facts.words
    # Any other language has to be there.
    settings.write_text(settings.read_text("utf-8").replace('extra = "solidity"', ""), "utf-8")
    with grammars_at(tmp_path), pytest.raises(GrammarError, match="tree_sitter_nowhere does not load"):
        parse_file("a.sol", b"contract Shop {}\n") if dialect_of("a.sol") == "" else load_grammar("solidity")


def test_each_extra_language_can_be_installed_alone_and_with_all_others() -> None:
    project = tomllib.loads((Path(languages.grammars_folder()).parent / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    named = set(re.findall(r"\w+", extras["languages"][0].partition("[")[2]))
    found = {}
    for file in sorted(Path(languages.grammars_folder()).glob("*/language.toml")):
        settings = languages._read_settings(file)
        if settings.extra:
            found[settings.extra] = {dialect.package.replace("_", "-") for dialect in settings.dialects}
    assert named == set(found)
    for extra, packages in found.items():
        assert {re.split("[<>=]", each)[0] for each in extras[extra]} == packages


def test_every_extension_has_one_dialect() -> None:
    dialects = [d for s in {id(s): s for s in load_settings().values()}.values() for d in s.dialects]
    found = [e for d in dialects for e in d.extensions if not (e in d.shared and e in d.claims)]
    assert len(found) == len(set(found)) and all(e.startswith(".") and e == e.lower() for e in found)


@pytest.mark.slow
def test_a_file_without_an_extension_is_read_by_what_its_first_line_names() -> None:
    script = b"#!/usr/bin/env bash\nopen() { :; }\n"
    assert [d.name for d in parse_file("bin/door", script).definitions] == ["open"]
    assert parse_file("bin/door", b"#!/usr/bin/ruby3.2 -w\ndef open; end\n").language == "ruby"
    assert parse_file("bin/door", b"#!/usr/bin/awk -f\n").language == ""
    # A name that says something counts more than the first line.
    assert parse_file("door.txt", script).language == parse_file("LICENSE", b"open() { :; }\n").language == ""
    assert reader_of("bin/door") != reader_of("bin/door.txt")


def test_a_manifest_is_read_by_its_name() -> None:
    readers = {reader_of(f"app/{name}") for name in ("package.json", "tsconfig.json", "go.mod", "Cargo.toml")}
    assert len(readers) == 4
    assert reader_of("app/package.json") == reader_of("web/Package.json")
    assert reader_of("a/notes.md") == reader_of("b/other.md")


def test_an_unknown_grammar_is_named_together_with_those_that_exist() -> None:
    with pytest.raises(GrammarError, match=r"'cobol'.*javascript,.*php,.*python"):
        load_grammar("cobol")


_TOML = """
name = "broken"
[[dialects]]
name = "broken"
extensions = [".broken"]
package = "{package}"
function = "language"
queries = ["tags.scm"]
[names]
self = []
super = []
constructors = []
scope_starts_at_body = false
class_scope_is_visible = false
[modules]
system = "{system}"
index_stems = []
extensions = []
[comments]
line = []
doc = "comment"
[builtin]
methods = []
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of a language, the only one there is."""
    (tmp_path / "broken").mkdir()
    with grammars_at(tmp_path):
        yield tmp_path / "broken"


def _write(folder: Path, package: str = "tree_sitter_python", system: str = "dotted", query: str = "") -> None:
    (folder / "language.toml").write_text(_TOML.format(package=package, system=system))
    (folder / "tags.scm").write_text(query)


def test_a_folder_that_is_as_it_should_be_loads(folder: Path) -> None:
    _write(folder, query="(identifier) @reference")
    assert load_grammar("broken").dialect.extensions == (".broken",)
    assert dialect_of("x.broken") == "broken"


def test_a_wheel_that_is_not_installed(folder: Path) -> None:
    _write(folder, package="tree_sitter_nowhere")
    with pytest.raises(GrammarError, match="tree_sitter_nowhere does not load"):
        load_grammar("broken")


def test_a_query_that_does_not_fit_the_grammar(folder: Path) -> None:
    _write(folder, query="(no_such_node) @reference")
    with pytest.raises(GrammarError, match=r"tags\.scm"):
        load_grammar("broken")


@pytest.mark.parametrize("text", ["", "name = 1", "[", "name = 'x'\ndialects = 3"])
def test_settings_that_do_not_load(folder: Path, text: str) -> None:
    (folder / "language.toml").write_text(text)
    with pytest.raises(GrammarError, match=r"language\.toml"):
        load_settings()


@pytest.mark.parametrize("section", ["names", "modules", "comments"])
def test_a_key_that_nobody_reads_is_named(folder: Path, section: str) -> None:
    _write(folder)
    file = folder / "language.toml"
    file.write_text(file.read_text().replace(f"[{section}]\n", f"[{section}]\nmagical = true\n"))
    with pytest.raises(GrammarError, match="magical"):
        list(load_settings().values())


def test_a_module_system_that_does_not_exist(folder: Path) -> None:
    _write(folder, system="psychic")
    with pytest.raises(GrammarError, match="psychic"):
        list(load_settings().values())


def test_a_dialect_that_is_defined_twice(folder: Path) -> None:
    _write(folder)
    other = folder.parent / "other"
    other.mkdir()
    _write(other)
    with pytest.raises(GrammarError, match="twice"):
        load_settings()


@pytest.mark.slow
def test_a_file_that_the_grammar_does_not_understand_is_read_by_the_one_behind_it() -> None:
    annotated = b"// @flow\nexport function open(key: ?Key, n: number = 1): Promise<Door> { return turn(key) }\n"
    facts = parse_source(annotated, load_grammar("javascript"))
    assert (facts.language, facts.diagnostics) == ("javascript", ())
    assert facts.definitions[0].signature == "function open(key: ?Key, n: number = 1): Promise<Door>"
    assert [(b.target, b.type) for b in facts.bindings] == [("key", ""), ("n", "number")]
    assert facts.returns == ((0, "Door"),)


def test_what_both_grammars_misread_stays_with_the_first() -> None:
    facts = parse_source(b"function f() { g( }\n", load_grammar("javascript"))
    assert facts.language == "javascript" and [d.slug for d in facts.diagnostics] == ["syntax-error"]


def test_the_version_of_a_grammar_names_the_one_behind_it() -> None:
    assert grammar_version("javascript") == load_grammar("javascript").version
    assert grammar_version("javascript").endswith("+" + grammar_version("flow"))


def test_a_grammar_that_comes_as_an_address_loads_without_a_warning() -> None:
    given = tree_sitter_perl.language()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tree_sitter.Language(languages.in_capsule(given)).name == "perl"
    assert languages.in_capsule(capsule := languages.in_capsule(given)) is capsule
