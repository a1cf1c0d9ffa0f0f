"""package.json, tsconfig.json and Cargo.toml."""

import pytest

from causalist.parse import parse_text
from causalist.parse.manifests import is_manifest, read_manifest


def test_which_files_are_manifests() -> None:
    yes = ["package.json", "a/package.json", "tsconfig.json", "x/tsconfig.build.json", "jsconfig.json", "a/Cargo.toml"]
    no = ["package-lock.json", "my-package.json", "tsconfig.ts", "a/tsconfig/x.json", "Cargo.lock", "my-cargo.toml"]
    assert [is_manifest(p) for p in yes] == [True] * len(yes)
    assert [is_manifest(p) for p in no] == [False] * len(no)


def test_a_package_and_its_entries() -> None:
    text = '{"name": "@a/b", "main": "./dist/i.js", "types": "dist/i.d.ts", "exports": {".": {"import": "./x.mjs"}}}'
    assert read_manifest("package.json", text) == (
        ("name", "@a/b"),
        ("entry", "dist/i.d.ts"),
        ("entry", "dist/i.js"),
        ("entry", "x.mjs"),
    )


def test_aliases_with_comments_and_trailing_commas() -> None:
    text = """{
      // "a": 1
      "compilerOptions": { /* , } */
        "baseUrl": "src", // here
        "paths": { "@/*": ["./*", "gen/*"], "x//y": ["a,}"], }, // last,
      },
    }"""
    assert read_manifest("tsconfig.json", text) == (
        ("base", "src"),
        ("alias", "@/*\t./*\tgen/*"),
        ("alias", "x//y\ta,}"),
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "null", '{"name": 3}', '{"exports": 7}', '{"compilerOptions": []}', "[" * 100_000]
)
def test_other_content_says_nothing(text: str) -> None:
    assert read_manifest("package.json", text) == ()
    assert read_manifest("tsconfig.json", text) == ()


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse_text("package.json", b'\xef\xbb\xbf{"name": "a"}').manifest == (("name", "a"),)


def test_a_module_and_the_folders_that_replace_others() -> None:
    text = (
        '// module no/such\r\nmodule "ex.org/a" // the name\r\n\r\ngo 1.22\r\nrequire (\r\n\tex.org/b v1.0.0\r\n)\r\n'
        "replace ex.org/b v1.0.0 => ../b\r\n"
        "replace (\r\n\tex.org/c => ./c // near\r\n\tex.org/d => ex.org/e v1.0.0\r\n)\r\n"
    )
    expected = (("module", "ex.org/a"), ("replace", "ex.org/b\t../b"), ("replace", "ex.org/c\t./c"))
    assert is_manifest("tools/go.mod") and is_manifest("go.work") and not is_manifest("a/ergo.mod")
    assert read_manifest("tools/go.mod", text) == expected
    assert read_manifest("go.work", "go 1.22\nuse ./a\nreplace x.org/y => ./y\n") == (("replace", "x.org/y\t./y"),)
    assert read_manifest("go.mod", "{") == ()


def test_a_crate_with_its_targets_and_dependencies() -> None:
    text = """
[package]
name = "my-tool"
build = "make.rs"
[lib]
path = "lib/all.rs"
[[bin]]
name = "x"
path = "tools/x.rs"
[[test]]
name = "no path"
[dependencies]
my-core = { path = "../core" }
short = { package = "a-long-name", version = "1" }
plain = "1"
[target.'cfg(unix)'.dev-dependencies]
only-unix = "2"
[workspace.dependencies]
shared = { package = "their-name" }
"""
    assert read_manifest("Cargo.toml", text) == (
        ("package", "my-tool"),
        ("library", "my_tool\tlib/all.rs"),
        ("target", "tools/x.rs"),
        ("target", "make.rs"),
        ("dependency", "my_core\tmy-core"),
        ("dependency", "short\ta-long-name"),
        ("dependency", "plain\tplain"),
        ("dependency", "only_unix\tonly-unix"),
        ("shared", "shared\ttheir-name"),
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "[package", "package = 1", "[package]\nname = 2", "bin = 3\n[lib]\n", "\x00", "a" * 9),
        *("a." * 20_000 + "b = 1", '"a" . ' * 20_000 + "b = 1", "a = " + "[" * 20_000),  # read soon, too
    ],
)
def test_a_manifest_that_is_none_says_nothing(text: str) -> None:
    assert read_manifest("Cargo.toml", text) == ()


def test_a_build_names_modules() -> None:
    text = """
const std = @import("std");
const folder = "src/";
pub fn build(b: *std.Build) void {
    // _ = b.addModule("no", .{ .root_source_file = b.path("no.zig") });
    const main = b.addModule("app", .{ .root_source_file = b.path(folder ++ "app.zig"), .target = target });
    const other = b.createModule(.{ .source_file = .{ .path = "other.zig" } });
    exe.root_module.addImport("other", other);
    exe.addModule("old", other);
    exe.root_module.addAnonymousImport("near", .{ .root_source_file = b.path("near.zig") });
    exe.root_module.addImport("remote", b.dependency("remote", .{}).module("remote"));
    t.root_module = b.createModule(.{ .imports = &.{ .{ .name = "main", .module = main } } });
    t.root_module.addImport("twice", main);
    u.root_module.addImport("twice", other);
    _ = b.addModule(b.fmt("{s}", .{name}), .{ .root_source_file = b.path(file) });
}
"""
    assert sorted(read_manifest("libs/a/build.zig", text)) == [
        ("named", "app\tsrc/app.zig\t*"),
        ("named", "main\tsrc/app.zig\t"),
        ("named", "near\tnear.zig\t"),
        ("named", "old\tother.zig\t"),
        ("named", "other\tother.zig\t"),
    ]
    assert read_manifest("build.zig", 'const a = b.addModule("a", .{ .root_source_file = b.path(') == ()


def test_the_name_of_a_package_of_dart_leads_to_its_libraries() -> None:
    text = "# name: no\nname: doors\ndependencies:\n  name: other\n"
    assert read_manifest("packages/doors/pubspec.yaml", text) == (("named", "package:doors\tlib\t"),)
    assert read_manifest("pubspec.yaml", "description: none\n") == ()
