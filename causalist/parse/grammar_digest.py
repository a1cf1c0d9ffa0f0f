"""Folder of the grammars, and a digest of its files and of the installed wheels.

A checkout has the folder at its top, an installed wheel inside the package. Nothing here parses the files.
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
    """Return the path of `grammars/`: inside the installed package, or next to it in a checkout.

    Raises GrammarError if there is none.
    """
    for folder in (_PACKAGE / "grammars", _PACKAGE.parent / "grammars"):
        if (folder / "python" / "language.toml").is_file():
            return folder
    raise GrammarError(
        f"no grammars folder in {_PACKAGE} or beside it; install the package again, or run from a full checkout"
    )


@cache
def all_grammars() -> bytes:
    """Return the content of all grammar files and the versions of the grammar wheels.

    The value changes with every change of `grammars/` and of an installed wheel. Every query needs it, so that it
    neither parses settings nor reads metadata.
    """
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
    """Return the versions of the installed grammar wheels by project name (with `_`).

    The names of the metadata folders on `sys.path` give them; the first folder of a project counts.
    """
    versions: dict[str, str] = {}
    for place in sys.path:
        with suppress(OSError):
            for name in os.listdir(place or os.curdir):  # noqa: PTH208 - names alone
                if name.startswith("tree_sitter") and name.endswith(".dist-info"):
                    project, _, version = name.removesuffix(".dist-info").partition("-")
                    versions.setdefault(project, version)
    return versions
