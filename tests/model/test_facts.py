"""Letters and keys in facts: the enums name all that is written, and nothing else."""

import tomllib
from pathlib import Path

from causalist.model.facts import ArgumentKind, ManifestKey
from causalist.parse import parse_file

GRAMMARS = Path(__file__).parents[2] / "grammars"

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
    "pytest.ini": "[pytest]\npython_functions = it_*\n",
    "lib/dune": "(library (name shop))\n",
    "tagged.go": "//go:build linux\n\npackage a\n",
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
