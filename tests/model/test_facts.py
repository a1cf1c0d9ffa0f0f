"""Letters and keys in facts: the enums name all that is written, and nothing else."""

import re
import tomllib
from enum import Enum
from pathlib import Path

from causalist.model import facts as model
from causalist.model.facts import ArgumentKind, ManifestKey
from causalist.parse import parse_file

ROOT = Path(__file__).parents[2]
GRAMMARS = ROOT / "grammars"

# One text for each format, with every key that its reader knows.
MANIFESTS = {
    "A.csproj": '<Project><ItemGroup><Using Include="A.B" /></ItemGroup></Project>',
    "package.json": (
        '{"name": "a", "main": "./i.js", "exports": {"./b": "./b.js"}, "imports": {"#c": "./c.js"},'
        ' "dependencies": {"d": "npm:e@1"}}'
    ),
    "tsconfig.json": '{"extends": "./base", "compilerOptions": {"baseUrl": "src", "outDir": "out", "rootDir": "src"}}',
    "go.mod": "module x.org/a\nreplace x.org/y => ./y\n",
    "composer.json": '{"autoload": {"psr-4": {"A\\\\": "src/"}}}',
    "Cargo.toml": (
        '[package]\nname = "a"\nbuild = "build.rs"\n[dependencies]\nb = "1"\n[workspace.dependencies]\nc = "1"\n'
    ),
    "build.zig": 'const m = b.addModule("a", .{ .root_source_file = b.path("a.zig") });',
    "pytest.ini": "[pytest]\npython_functions = it_*\npython_files = check_*.py\n",
    "lib/dune": "(library (name shop))\n",
    "tagged.go": "//go:build linux\n\npackage a\n",
    "hidden.odin": "#+private file\npackage a\n",
}


def test_manifests_say_the_keys_of_the_enum() -> None:
    written = {key for path, text in MANIFESTS.items() for key, _ in parse_file(path, text.encode()).manifest}
    assert written == set(ManifestKey)


def test_languages_and_calls_use_the_letters_of_the_enum() -> None:
    declared = {
        letter
        for file in GRAMMARS.glob("*/language.toml")
        for letter in tomllib.loads(file.read_text(encoding="utf-8")).get("types", {}).get("literals", {})
    }
    assert declared and declared <= set(ArgumentKind)
    source = b"""class A { void f() { g("s", 'c', 1, 1L, 1.0, 1f, true, null, x -> x, y); } }"""
    (call,) = parse_file("A.java", source).calls
    assert call.arguments == "scildfbn>?" == "".join(ArgumentKind)


def test_members_are_compared_by_value() -> None:
    """Facts that were stored have plain values, which are equal to the members and are not them."""
    own = [each for each in vars(model).values() if getattr(each, "__module__", "") == model.__name__]
    names = [each.__name__ for each in own if isinstance(each, type) and issubclass(each, Enum)]
    by_identity = re.compile(rf"\bis (?:not )?(?:{'|'.join(names)})\.")
    assert {"ImportKind", "ManifestKey"} <= set(names) and by_identity.search("kind is not ImportKind.STAR")
    found = [path.name for path in (ROOT / "causalist").rglob("*.py") if by_identity.search(path.read_text("utf-8"))]
    assert found == []
