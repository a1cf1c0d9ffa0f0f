"""Names of a package that are loaded, and expressions that are compiled, when they are first used.

A cold answer needs a small part of what its packages offer, and importing all of it costs more than answering.
"""

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, overload


def exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `package`: `homes` has the names, parted by spaces, by the module of
    the package that they come from."""
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


class _Late:
    """An expression that is compiled when it is first used: most of them are about what few questions hold."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for each in ("match", "search", "fullmatch", "finditer", "findall", "sub", "split", "pattern", "groups"):
            setattr(self, each, getattr(compiled, each))  # found without a detour from here on
        return getattr(compiled, name)


@overload
def expression(pattern: str, flags: int = 0) -> re.Pattern[str]: ...
@overload
def expression(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]: ...
def expression(pattern: str | bytes, flags: int = 0) -> Any:
    """`re.compile`, when it is first used."""
    return _Late(pattern, flags)
