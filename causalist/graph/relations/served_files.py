"""Files whose own path is a route: those of Next.js, SvelteKit, Nuxt and Astro.

In: the paths and exports of a program's files. Out: methods and paths with what handles them. A file exports a function
for each method, or one as the default.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.program.program import Program

_SERVING_FILE = re.compile(
    r"(?:^|/)(?:app/(?P<app>(?:.+/)?)(?P<kind>route|page)|src/routes/(?P<kit>(?:.+/)?)\+server"
    r"|(?P<nuxt>server/(?:api|routes)/.+)|pages/(?P<pages>.+))\.(?:[cm]?[jt]s|[jt]sx)$"
)
_SERVING_WORDS = ("/route.", "/page.", "/+server.", "server/", "pages/")
_NUXT_METHOD = re.compile(r"\.(get|post|put|patch|delete|head|options)$")
_VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


class ServedFile(NamedTuple):
    """A route that the path of a file says.

    `definition` is what the file exports to handle it, -1 where that is none of its own. A page is shown, not asked for
    as data.
    """

    method: str
    path: str
    file: int
    definition: int
    is_page: bool


def find_served_files(program: Program, is_test: Callable[[int], bool]) -> Iterator[ServedFile]:
    """Yield the routes that files are, in the order of the files."""
    layouts: set[str] = set()  # roots of applications of Next.js
    waiting: list[tuple[int, re.Match[str]]] = []
    for number, symbols in enumerate(program.files):
        path = f"/{symbols.path}"
        if "/app/layout." in path:
            layouts.add(path.partition("/app/layout.")[0])
        if any(word in path for word in _SERVING_WORDS) and _is_ecmascript(symbols):
            match = _SERVING_FILE.search(path)
            if match and not is_test(number):
                waiting.append((number, match))
    for number, match in waiting:
        symbols = program.files[number]
        verbs = [verb for verb in _VERBS if _has_export(symbols, verb)]
        path = match["app"] or match["kit"] or match["pages"] or ""
        is_page, has_default = match["kind"] == "page", _has_export(symbols, "default")
        if is_page:
            verbs = []
            has_default = has_default and match.string.partition("/app/")[0] in layouts
        elif match["nuxt"]:
            path, verbs = match["nuxt"].removeprefix("server/").removeprefix("routes/"), []
        elif match["pages"] and not path.startswith("api/"):
            has_default = False
        full = _path_of_file(path)
        if full is None:
            continue
        for verb in verbs:
            yield ServedFile(verb, full, number, _exported(symbols, verb), is_page=False)
        if not verbs and has_default and not match["kit"] and match["kind"] != "route":
            said = _NUXT_METHOD.search(full) if match["nuxt"] else None
            method = said[1].upper() if said else "GET" if is_page else "ANY"
            path = full[: said.start()] if said else full
            yield ServedFile(method, path, number, _exported(symbols, "default"), is_page)


def _is_ecmascript(symbols: FileSymbols) -> bool:
    return symbols.settings is not None and symbols.settings.family == "ecmascript"


def _has_export(symbols: FileSymbols, name: str) -> bool:
    return name in symbols.by_qualname or name in symbols.exports or name in symbols.reexports


def _exported(symbols: FileSymbols, name: str) -> int:
    """Return the definition of the file that it exports under a name, or -1."""
    return symbols.by_qualname.get(symbols.exports.get(name, name), symbols.by_qualname.get(name, -1))


def _path_of_file(path: str) -> str | None:
    """Return the path that the path of a file serves, or None where it serves none by itself.

    >>> _path_of_file("(shop)/items/[id]/"), _path_of_file("docs/[[...slug]]/"), _path_of_file("@side/x/")
    ('/items/[id]', '/docs/[...slug]', None)
    >>> _path_of_file("api/users/index"), _path_of_file("")
    ('/api/users', '/')
    """
    parts = [part for part in path.strip("/").split("/") if part and not re.fullmatch(r"\([\w-]+\)", part)]
    if any(part.startswith(("@", "_", "(.")) for part in parts):
        return None
    if parts and parts[-1] == "index":
        parts.pop()
    return "/" + "/".join(re.sub(r"^\[\[(.*)\]\]$", r"[\1]", part) for part in parts)
