"""Manifests as people write them, and as somebody may who means no good."""

import pytest

from causalist.repomap.descriptions import ManifestEntry, PackageManifest, read_package_metadata


def test_pyproject() -> None:
    text = '[project]\nname = "shop"\ndescription = "Sells\\nthings."\n[project.scripts]\nshop = "shop.cli:main"\n'
    assert read_package_metadata("pyproject.toml", text) == PackageManifest(
        "shop", "Sells things.", (ManifestEntry("command", "shop", "shop.cli:main"),)
    )
    poetry = '[tool.poetry]\nname = "shop"\ndescription = "Sells."\n[tool.poetry.scripts]\ns = "shop:run"\n'
    assert read_package_metadata("pyproject.toml", poetry) == PackageManifest(
        "shop", "Sells.", (ManifestEntry("command", "s", "shop:run"),)
    )


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ('{"name": "a", "main": "lib/a.js"}', [("import", "a", "lib/a.js")]),
        ('{"name": "@x/a", "bin": "cli.js"}', [("command", "a", "cli.js")]),
        ('{"name": "a", "bin": {"b": "b.js", "c": "c.js"}}', [("command", "b", "b.js"), ("command", "c", "c.js")]),
        ('{"name": "a/b", "bin": ["bin/c", 1]}', [("command", "c", "bin/c")]),
        ('{"name": "a", "exports": "./x.js"}', [("import", "a", "./x.js")]),
        ('{"name": "a", "exports": {"types": "./x.d.ts", "default": "./x.js"}}', [("import", "a", "./x.js")]),
        (
            '{"name": "a", "exports": {"./b": "./b.js", ".": {"import": {"node": "./n.js"}}}}',
            [("import", "a", "./n.js")],
        ),
        ('{"name": "a", "exports": {"./b/*": "./b/*.js", "./c": "./c.js"}}', [("import", "a/c", "./c.js")]),
        ('{"name": "a", "private": true, "main": "a.js", "bin": "b.js"}', [("command", "a", "b.js")]),
    ],
)
def test_package_json(text: str, entries: list[tuple[str, str, str]]) -> None:
    assert [tuple(entry) for entry in read_package_metadata("package.json", text).entries] == entries


def test_others() -> None:
    cargo = '[package]\nname = "rg"\ndescription = "Searches."\n[[bin]]\nname = "rg"\npath = "crates/main.rs"\n'
    assert read_package_metadata("Cargo.toml", cargo) == PackageManifest(
        "rg", "Searches.", (ManifestEntry("command", "rg", "crates/main.rs"),)
    )
    assert read_package_metadata("go.mod", "// a\nmodule example.org/shop\n\ngo 1.22\n").entries == (
        ManifestEntry("import", "example.org/shop", "."),
    )
    cfg = "[metadata]\nname = shop\ndescription = Sells.\n[options.entry_points]\nconsole_scripts =\n  s = shop:run\n"
    assert read_package_metadata("setup.cfg", cfg) == PackageManifest(
        "shop", "Sells.", (ManifestEntry("command", "s", "shop:run"),)
    )


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "composer.json"])
@pytest.mark.parametrize(
    "text",
    [
        "", "[", "[]", "null", "1", "\x00", "[a\n",
        '{"name": 1, "description": [], "bin": 3, "exports": [1], "main": {}}',
        '{"bin": {"a": 1}, "exports": {".": {"import": 5}}}', "[" * 100_000, '{"a":' * 50_000,
        'project = 1\ntool = "x"', '[project]\nname = 1\nscripts = "x"\n[tool]\npoetry = 2',
        '[package]\n[bin]\nname = 1',
        "bin = [1, 2]\n", "[metadata]\ndescription = %(home)s\n",
    ],
)  # fmt: skip
def test_what_has_another_shape_says_nothing(name: str, text: str) -> None:
    manifest = read_package_metadata(name, text)
    assert manifest.entries == ()
