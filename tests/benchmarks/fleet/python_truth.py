"""Imports of source files as this interpreter resolves them; run by the interpreter of the corpus.

    FOLDER/venv/bin/python python_truth.py FOLDER/python [PACKAGE]... > truth.jsonl

One JSON row for each imported module or name outside of the standard library: where it stands, the distribution and
file that the interpreter loads, and for classes and functions the file and qualified name of the definition. `state` is
"found", "absent" (no such module), "open" (no such name in it when it runs) or "own" (the sources have a module of that
name themselves, or the distribution is the one that the file belongs to).
"""

import ast
import contextlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import io
import json
import mmap
import os
import re
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any


def plain(name: str) -> str:
    """Return the name of a distribution in its normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def owners() -> dict[str, str]:
    """Return the distribution of each installed file."""
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = plain(distribution.metadata["Name"])
        for file in distribution.files or ():
            found[os.path.realpath(str(distribution.locate_file(file)))] = name
    return found


OUT = sys.stdout
SITE = [os.path.realpath(each) for each in sys.path if each.endswith("site-packages")]
MODULES: dict[str, str | None] = {}


def quiet(call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call that may print, fail or leave; None then."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return call(*arguments)
    except BaseException:
        return None


def file_of(module: str) -> str | None:
    """Return the file that a module is loaded from, "" for one without a file, None if there is no such module."""
    if module not in MODULES:
        spec = quiet(importlib.util.find_spec, module)
        if spec is None:
            MODULES[module] = None
        elif spec.origin in (None, "built-in", "frozen", "namespace"):
            MODULES[module] = "" if spec.submodule_search_locations else "built-in"
        else:
            MODULES[module] = os.path.realpath(spec.origin)
    return MODULES[module]


def below_site(path: str) -> str:
    """Return the path of an installed file below its folder, "" for others."""
    return next((os.path.relpath(path, site) for site in SITE if path.startswith(site + os.sep)), "")


def definition_of(module: str, name: str) -> tuple[str, str] | None:
    """Return (file, qualified name) of the class or function that a name of a module is, or None."""
    loaded = quiet(importlib.import_module, module)
    thing = quiet(getattr, loaded, name, None)
    if not isinstance(thing, (type, types.FunctionType)):
        return None
    home = sys.modules.get(getattr(thing, "__module__", None) or "")
    path = quiet(inspect.getsourcefile, thing) or getattr(home, "__file__", None)
    if not path or "<locals>" in thing.__qualname__:
        return None
    # Of a function that a decorator made, the file must say so too.
    text = quiet(Path(path).read_text, "utf-8") or ""
    last = thing.__qualname__.rpartition(".")[2]
    if not re.search(rf"^\s*(?:async\s+def|def|class)\s+{re.escape(last)}\b", text, re.MULTILINE):
        return None
    return os.path.realpath(path), thing.__qualname__


def has_own(folder: Path, file: Path, top: str) -> bool:
    """Return True if the sources have a module of that name that a run from them could load first."""
    places = {folder, folder / "src", folder / "lib", folder / "python"}
    if not (file.parent / "__init__.py").exists():
        places.add(file.parent)
    return any((each / top).is_dir() or (each / f"{top}.py").exists() for each in places)


def rows_of(file: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, module, name) of the absolute imports of a file."""
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield node.lineno, each.name, ""
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for each in node.names:
                yield node.lineno, node.module, each.name


def resolve(folder: Path, file: Path, line: int, module: str, name: str) -> dict[str, Any] | None:
    """Return the row of an import, None for one of the standard library."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return None
    row = {"package": folder.name, "path": str(file.relative_to(folder)), "line": line, "module": module, "name": name}
    path, definition = file_of(module), None
    if path is None:
        return {**row, "state": "absent"}
    if name and name != "*":
        loaded = quiet(importlib.import_module, module)
        value = quiet(getattr, loaded, name, None)
        if isinstance(value, types.ModuleType):
            path = os.path.realpath(str(value.__file__)) if getattr(value, "__file__", None) else path
        elif value is None and (below := file_of(f"{module}.{name}")):
            path = below
        elif not quiet(hasattr, loaded, name):  # a name for type checkers, or of another distribution of a namespace
            return {**row, "state": "open", "distribution": owners().get(path or "", "")}
        else:
            definition = definition_of(module, name)
    owner = owners().get(path or "")
    if not owner:
        return {**row, "state": "unowned"}
    is_own = owner == folder.name or has_own(folder, file, top)
    row.update(state="own" if is_own else "found", distribution=owner, file=below_site(path or ""))
    if definition:
        row.update(definition_distribution=owners().get(definition[0], ""), definition_file=below_site(definition[0]),
                   definition=definition[1])  # fmt: skip
    return row


def main() -> None:
    """Write the rows of all packages."""
    root = Path(sys.argv[1]).resolve()
    sys.path[:] = [each for each in sys.path if each and Path(each).resolve() != Path(__file__).parent]
    os.chdir("/tmp")
    wanted = sys.argv[2:]
    for folder in sorted(each for each in root.iterdir() if each.is_dir() and (not wanted or each.name in wanted)):
        files, done = sorted(folder.rglob("*.py")), mmap.mmap(-1, 8)
        first = 0
        while first < len(files):
            OUT.flush()
            child = os.fork()  # what is imported may end the process; the files after that are another's
            if not child:
                for number, file in enumerate(files[first:], first):
                    done[:] = (number + 1).to_bytes(8, "little")
                    _write(folder, file)
                os._exit(0)
            if not os.waitpid(child, 0)[1]:
                break
            first = int.from_bytes(done[:], "little")
            print(f"{folder.name}/{files[first - 1].relative_to(folder)}: its imports end the process", file=sys.stderr)


def _write(folder: Path, file: Path) -> None:
    for line, module, name in quiet(lambda: list(rows_of(file))) or []:
        row = resolve(folder, file, line, module, name)
        if row is not None:
            OUT.write(json.dumps(row) + "\n")
    OUT.flush()


if __name__ == "__main__":
    main()
