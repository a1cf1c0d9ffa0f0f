"""Paths of routes: what stands before those of types, and which routes a request fits.

In: facts of routes, and the paths of all routes that were found. Out: the paths before a route, and the names of the
routes that a client asks for by a path.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from causalist.model.facts import RouteFact, RouteForm

ANY = "ANY"  # the method of a route that handles all
MAX_FITTING = 8  # routes of one request: more say nothing
TYPES_IN = "types:"  # before the path of a file or folder whose types have a prefix
# A parameter in a path, in the forms of all frameworks, and what a client puts in.
_PARAMETER = re.compile(r"<[^<>/]*>|\{[^{}/]*\}|:\w+(?:\([^()]*\))?[?*+]?|\*\w*|\[[^\]/]*\]")
# Segments before a path that a client of the same repository may leave out.
_API_SEGMENT = re.compile(r"api|rest|v\d+")
_OPEN_PART = re.compile(r"(\{?/?\*\w*\}?|\(\.\*\)|:\w+)")  # of a path in an exception to a prefix


def join_path(prefix: str, path: str) -> str:
    """Return a path below a prefix, with one slash between them and at the beginning.

    >>> join_path("/api/", "/users"), join_path("", "users/<pk>/"), join_path("/api", ""), join_path("", "")
    ('/api/users', '/users/<pk>/', '/api', '/')
    """
    if not prefix and not path.startswith("/") and "." in path and "/" not in path:
        return path  # the name of a procedure, `documents.info`
    joined = f"{prefix.rstrip('/')}/{path.lstrip('/')}" if path else prefix
    return joined if joined.startswith("/") else f"/{joined}"


class CommonPaths:
    """Prefixes of the routes of all types of a family of languages or of a folder, and the versions behind them."""

    def __init__(self) -> None:
        self._prefixes: dict[str, str] = {}  # by family
        self._left_out: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # by family: method and path without prefix
        self._versions: dict[str, tuple[str, list[str]]] = {}  # by family: what a version begins with, the usual ones
        self._own: dict[int, list[str]] = {}  # versions by method or type
        self._folders: list[tuple[str, list[str]]] = []  # files or folders, and the prefixes of the types in them

    def add(self, route: RouteFact, family: str, owner: int) -> None:
        """Add a prefix or version of all routes, or the version of `owner`, a method or type."""
        if route.form == RouteForm.PREFIX:
            self._prefixes.setdefault(family, route.path)
            for each in route.name.splitlines():
                method, _, path = each.partition(" /")
                self._left_out.setdefault(family, []).append((method, _compile_path(path)))
        elif route.definition >= 0:
            self._own.setdefault(owner, []).append(route.path)
        else:
            self._versions.setdefault(family, (route.handler, []))[1].append(route.path)

    def add_folder(self, folder: str, prefixes: Sequence[str]) -> None:
        """Add the prefixes of all types in a file or folder, which count more than those that were added before."""
        self._folders.append((folder, list(prefixes)))

    def of(self, family: str, owners: Sequence[int], file: str) -> list[str]:
        """Return the paths before a route of a type in `file`.

        Versions are those of the first of the owners that has some.
        """
        for folder, prefixes in reversed(self._folders):
            if file == folder or file.startswith(f"{folder}/".lstrip("/")):
                return prefixes
        base = self._prefixes.get(family, "")
        begins, usual = self._versions.get(family, ("", []))
        own = next((self._own[each] for each in owners if each in self._own), usual) if usual else [""]
        return [f"{base.rstrip('/')}/{begins}{version}" if version else base for version in dict.fromkeys(own)]

    def is_left_out(self, family: str, method: str, path: str) -> bool:
        """Return True for a route that the prefix of all others does not stand before; `path` is without it."""
        return any(
            said in ("", method) and pattern.fullmatch(path.strip("/"))
            for said, pattern in self._left_out.get(family, ())
        )


def _compile_path(path: str) -> "re.Pattern[str]":
    """Return an expression for what a path with open parts means.

    >>> [bool(_compile_path(path).fullmatch("a/b/c")) for path in ("a/*rest", "a/(.*)", "a/:x", "a/:x/c")]
    [True, True, False, True]
    """
    parts = _OPEN_PART.split(path)
    written = (re.escape(each) if i % 2 == 0 else "[^/]+" if each[0] == ":" else ".*" for i, each in enumerate(parts))
    return re.compile("".join(written))


class ServedPaths:
    """Routes by their paths, for requests."""

    def __init__(self, served: Iterable[str]) -> None:
        self._by_length: dict[int, _RouteTable] = {}
        self._shortened: dict[int, _RouteTable] = {}  # without `api` and the like at their beginning
        self._asked: dict[tuple[str, str], list[str]] = {}
        for name in served:
            method, _, path = name.partition(" ")
            segments = _segments(path)
            self._by_length.setdefault(len(segments), _RouteTable()).add(name, method, segments)
            n_left_out = next((i for i, part in enumerate(segments) if not _API_SEGMENT.fullmatch(part)), 0)
            if n_left_out:
                rest = segments[n_left_out:]
                self._shortened.setdefault(len(rest), _RouteTable()).add(name, method, rest)

    def find(self, method: str, path: str) -> list[str]:
        """Return the routes that fit a request best: those with the most literal segments."""
        key = method, path
        if key not in self._asked:
            wanted = _segments(path)
            fitting = _fitting_routes(method, wanted, self._by_length)
            if not fitting and wanted != [""]:
                shorter = _fitting_routes(method, wanted, self._shortened)
                fitting = shorter if len(shorter) == 1 else []
            self._asked[key] = fitting
        return self._asked[key]


def _segments(path: str) -> list[str]:
    """Return the parts of a path between slashes, `{}` for each parameter."""
    return [_PARAMETER.sub("{}", part) for part in path.strip("/").split("/")]


class _RouteTable:
    """Routes with one number of segments."""

    def __init__(self) -> None:
        self._routes: list[tuple[str, str, list[str]]] = []  # (name, method, segments)
        self._literal: dict[tuple[int, str], list[int]] = {}  # rows by place and segment
        self._open: dict[int, list[int]] = {}  # rows with a parameter there, by place

    def add(self, name: str, method: str, segments: list[str]) -> None:
        """Add a route."""
        for place, part in enumerate(segments):
            same = self._open.setdefault(place, []) if "{}" in part else self._literal.setdefault((place, part), [])
            same.append(len(self._routes))
        self._routes.append((name, method, segments))

    def that_may_fit(self, wanted: Sequence[str]) -> list[tuple[str, str, list[str]]]:
        """Return all routes that may fit a path and few others, in the order in which they were added."""
        rows = ([*self._literal.get((i, part), ()), *self._open.get(i, ())] for i, part in enumerate(wanted))
        fewest: list[int] = min(rows, key=len)
        return [self._routes[row] for row in sorted(fewest)]


def _fitting_routes(method: str, wanted: Sequence[str], tables: Mapping[int, _RouteTable]) -> list[str]:
    best, fitting = -1, list[str]()
    table = tables.get(len(wanted))
    for name, has, segments in table.that_may_fit(wanted) if table is not None else ():
        if has not in (method, ANY) and method != "":
            continue
        alike = 0
        for ours, theirs in zip(wanted, segments, strict=True):
            if ours == theirs and "{}" not in ours:
                alike += 2
            elif ours == theirs or (theirs == "{}" and ours):
                alike += 1
            elif "{}" not in theirs or not re.fullmatch(re.escape(theirs).replace(r"\{\}", ".+"), ours):
                break
        else:
            if alike > best:
                best, fitting = alike, []
            if alike == best:
                fitting.append(name)
    # A path of parameters alone fits anything.
    has_literal = any(part not in ("", "{}") for part in wanted) or list(wanted) == [""]
    return fitting if has_literal and len(fitting) <= MAX_FITTING and (best > 0 or list(wanted) == [""]) else []
