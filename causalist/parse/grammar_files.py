"""Folder of the grammars, and a digest of all of them that does not parse them.

The folder stands at the top of a checkout and inside the package of an installed wheel; one function knows both.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from causalist.errors import GrammarError

_PACKAGE = Path(__file__).resolve().parent.parent


def grammars_folder() -> Path:
    """`grammars/` inside the installed package, or beside the package in a checkout."""
    for folder in (_PACKAGE / "grammars", _PACKAGE.parent / "grammars"):
        if (folder / "python" / "language.toml").is_file():
            return folder
    raise GrammarError(
        f"no grammars folder in {_PACKAGE} or beside it; install the package again, or run from a full checkout"
    )


@cache
def all_grammars() -> bytes:
    """Changes whenever a file of `grammars/` or the version of an installed wheel does. Settings are not parsed and
    metadata is not read, because every question asks for this."""
    parts: list[bytes] = []
    for folder in sorted(os.scandir(grammars_folder()), key=lambda entry: entry.name):
        if folder.is_dir() and not folder.name.startswith("__"):
            for file in sorted(os.scandir(folder.path), key=lambda entry: entry.name):
                if file.name.endswith((".toml", ".scm")):
                    data = Path(file.path).read_bytes()
                    parts += [f"{folder.name}/{file.name} {len(data)}\n".encode("utf-8", "surrogateescape"), data]
    installed = "\n".join(f"{project} {version}" for project, version in sorted(wheels().items()))
    return b"".join(parts) + installed.encode("utf-8", "surrogateescape")


@cache
def wheels() -> Mapping[str, str]:
    """Versions of the wheels that parse by their names, with `_`, as the folder of metadata says that each has where it
    is installed."""
    found: dict[str, str] = {}
    for place in sys.path:
        with suppress(OSError):
            for name in os.listdir(place or os.curdir):  # noqa: PTH208 - names alone
                if name.startswith("tree_sitter") and name.endswith(".dist-info"):
                    project, _, version = name.removesuffix(".dist-info").partition("-")
                    found.setdefault(project, version)
    return found
