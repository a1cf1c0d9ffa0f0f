"""package.json and tsconfig.json."""

import pytest

from causalist.parse import parse_text
from causalist.parse.manifests import is_manifest, read_manifest


def test_which_files_are_manifests() -> None:
    yes = ["package.json", "a/package.json", "tsconfig.json", "x/tsconfig.build.json", "jsconfig.json"]
    no = ["package-lock.json", "my-package.json", "tsconfig.ts", "a/tsconfig/x.json"]
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
