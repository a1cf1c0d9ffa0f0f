"""What a package's manifest says of it: a line of description, and where others come in.

Manifests of a repository are data, and may hold anything: what has another shape than expected says nothing.
"""

import configparser
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from causalist._internal.text import read_toml


class Declared(NamedTuple):
    """`kind` and `name` as in `EntryPoint`; `target` as the manifest writes it."""

    kind: str
    name: str
    target: str


class Manifest(NamedTuple):
    name: str = ""
    summary: str = ""
    entries: tuple[Declared, ...] = ()


NAMES = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "setup.cfg", "composer.json")


_GO_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def read_manifest(name: str, text: str) -> Manifest:
    """What the manifest with that file name says; an empty one for what cannot be read.

    >>> read_manifest("package.json", '{"name": "got", "description": "Requests", "bin": "cli.js"}')
    Manifest(name='got', summary='Requests', entries=(Declared(kind='command', name='got', target='cli.js'),))
    """
    try:
        if name == "setup.cfg":
            return _setup_cfg(text)
        if name == "go.mod":
            module = _GO_MODULE.search(text)
            return Manifest(entries=(Declared("import", module[1], "."),) if module else ())
        data = json.loads(text) if name.endswith(".json") else read_toml(text)
    except (ValueError, RecursionError, configparser.Error):
        return Manifest()
    if not isinstance(data, dict):
        return Manifest()
    if name == "pyproject.toml":
        return _pyproject(data)
    if name == "Cargo.toml":
        package = _table(data, "package")
        listed = data.get("bin")
        binaries = listed if isinstance(listed, list) else []
        entries = [Declared("command", _text(b, "name"), _text(b, "path")) for b in binaries if isinstance(b, dict)]
        return Manifest(_text(package, "name"), _text(package, "description"), tuple(entries))
    return Manifest(_text(data, "name"), _text(data, "description"), tuple(_package_json(data)))


def _pyproject(data: dict[str, Any]) -> Manifest:
    project, poetry = _table(data, "project"), _table(_table(data, "tool"), "poetry")
    entries = [
        Declared("command", name, target)
        for table in (_table(project, "scripts"), _table(project, "gui-scripts"), _table(poetry, "scripts"))
        for name, target in table.items()
        if isinstance(target, str)
    ]
    name = _text(project, "name") or _text(poetry, "name")
    return Manifest(name, _text(project, "description") or _text(poetry, "description"), tuple(entries))


def _package_json(data: dict[str, Any]) -> Iterator[Declared]:
    name = _text(data, "name")
    binaries = data.get("bin")
    if isinstance(binaries, list):  # composer.json
        yield from (Declared("command", path.rpartition("/")[2], path) for path in binaries if isinstance(path, str))
    elif isinstance(binaries, str):
        yield Declared("command", name.rpartition("/")[2], binaries)
    elif isinstance(binaries, dict):
        yield from (Declared("command", key, path) for key, path in binaries.items() if isinstance(path, str))
    if data.get("private") is True:
        return  # nobody outside can import it
    exports = data.get("exports")
    if isinstance(exports, str):
        yield Declared("import", name, exports)
    elif isinstance(exports, dict):
        paths = exports if any(key.startswith(".") for key in exports) else {".": exports}
        for key in [key for key in (".", *paths) if key in paths]:
            path = _condition(paths[key])
            if path and "*" not in key and not key.endswith(".json"):
                yield Declared("import", name + key.removeprefix("."), path)
                return  # the others lie below it
    elif isinstance(data.get("main"), str):
        yield Declared("import", name, data["main"])


def _condition(value: Any) -> str:
    """The file that a conditional export comes to for a module that is run."""
    for _ in range(4):
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            return ""
        value = next((value[key] for key in ("source", "import", "default", "node", "require") if key in value), None)
    return ""


def _setup_cfg(text: str) -> Manifest:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    entries = []
    for line in parser.get("options.entry_points", "console_scripts", fallback="").splitlines():
        name, found, target = line.partition("=")
        if found:
            entries.append(Declared("command", name.strip(), target.strip()))
    summary = parser.get("metadata", "description", fallback="")
    return Manifest(parser.get("metadata", "name", fallback=""), summary, tuple(entries))


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""
