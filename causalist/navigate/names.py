"""Resolve a name as people write it to one node, and find names that differ by little.

The first rule that leads to a node decides: an id; a path as shells and editors write it (from the current folder,
absolute, with backslashes), also with a line; the end of an id; a dotted module path; a file without its extension; a
section by its heading; a node outside of the repository; any of the ends, ignoring case. A name that none of them
knows is read as what people, editors, diffs, agents and stack traces write: `verify(token)`, `Session#verify`,
`src/auth.py#L4-L6`, `def verify`, `file://…`, `File "src/auth.py", line 4`. The first reading with a node counts.

Near names are measured by the optimal string alignment distance (Levenshtein's insertions, deletions and substitutions,
and swaps of neighbors). One step of the dynamic program is an operation on arrays of all names, so 100,000 names take
some hundredths of a second. Distances are in bytes of UTF-8, for most names equal to characters.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, splitext
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.errors import AmbiguousNode, UnknownNode, UnreadNode
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.node_ids import ASKED_KINDS, CALLABLE_KINDS, NodeKind, Role, escape_path, split_id, unescape_name
from causalist.model.source import is_parsed
from causalist.model.string_table import StringTable
from causalist.rank import find_nodes_by_name

# One change for every so many characters is a likely slip of the finger, but no more than this in all.
_LETTERS_A_CHANGE = 3
_MAX_CHANGES = 3
_MAX_NAME_BYTES = 64  # bytes of a name that are compared; longer names are never near


def nearest(names: StringTable, wanted: str, limit: int, *, beginnings: bool = False) -> list[int]:
    """Return the positions of at most `limit` names within a few edits of `wanted`, nearest first, then by position.

    `beginnings`: also names that begin so; of names equally near, the shorter come first.

    >>> names = StringTable.from_strings(["sign", "verify", "verify_all", "versify"])
    >>> nearest(names, "verfiy", 5), nearest(names, "verfiy", 5, beginnings=True)
    ([1, 3], [1, 2, 3])
    """
    encoded = wanted.encode("utf-8", "surrogatepass")
    allowed = min(_MAX_CHANGES, len(encoded) // _LETTERS_A_CHANGE)
    if not 0 < len(encoded) <= _MAX_NAME_BYTES or allowed < 1:
        return []
    lengths = np.diff(names.offsets)
    fits = (lengths >= max(1, len(encoded) - allowed)) & (beginnings | (lengths <= len(encoded) + allowed))
    near_in_length = np.flatnonzero(fits)
    if not len(near_in_length):
        return []
    # What stands behind this many bytes can bring no beginning nearer.
    rows = _distances(names, near_in_length, encoded, len(encoded) + allowed)
    ends = np.minimum(lengths[near_in_length], rows.shape[1] - 1)
    if beginnings:
        distances = np.where(np.arange(rows.shape[1]) <= ends[:, None], rows, len(encoded) + allowed).min(axis=1)
    else:
        distances = rows[np.arange(len(rows)), ends]
    order = np.lexsort((near_in_length, lengths[near_in_length] if beginnings else near_in_length, distances))
    return [int(near_in_length[i]) for i in order[:limit] if distances[i] <= allowed]


def _distances(names: StringTable, positions: NDArray[np.int64], wanted: bytes, longest: int) -> NDArray[np.int16]:
    """Return the edit distances between `wanted` and the first j bytes of each name, shape (len(positions), w + 1).

    Column j is filled up to the length of the name or `longest`.
    """
    lengths = np.diff(names.offsets)[positions]
    width = min(longest, int(lengths.max()))
    columns = np.arange(width)
    offsets = names.offsets[positions, None] + columns
    # Behind the end of a name stands what no byte of UTF-8 is.
    letters = np.where(
        columns < lengths[:, None], names.blob[np.minimum(offsets, len(names.blob) - 1)].astype(np.int16), -1
    )
    before = np.zeros((len(positions), width + 1), dtype=np.int16)  # the row above the row above
    last = np.broadcast_to(np.arange(width + 1, dtype=np.int16), before.shape).copy()
    for i, byte in enumerate(wanted, start=1):
        row = np.empty_like(last)
        row[:, 0] = i
        same = letters == byte
        for j in range(1, width + 1):
            best = np.minimum(np.minimum(last[:, j], row[:, j - 1]) + 1, last[:, j - 1] + ~same[:, j - 1])
            if i > 1 and j > 1:
                swapped = (letters[:, j - 2] == byte) & (letters[:, j - 1] == wanted[i - 2])
                best = np.where(swapped, np.minimum(best, before[:, j - 2] + 1), best)
            row[:, j] = best
        before, last = last, row
    return last


_MAX_SUGGESTED = 20  # namesakes that a message lists
_MAX_NEAREST = 5  # names that differ by little
_LINE = lazy_regex(r"(?P<path>.*?[^:]):(?P<line>\d{1,9})(?:-(?P<last>\d{1,9})|:\d+)?:?", needs=(":",))
_REPEATED = lazy_regex(r"~\d+$", needs=("~",))


class ResolvedName(NamedTuple):
    """The node that a name means. `note` says what was taken for granted, "" if nothing was."""

    node: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Context:
    """Context of a name: the index, the repository's `root`, and the folder that relative paths start from."""

    index: Index
    root: Path | None
    folder: str

    def describe(self, node: int) -> str:
        graph = self.index.graph
        kind = graph.kind(node)
        line = "" if kind in (NodeKind.FILE, NodeKind.EXTERNAL) else f", line {graph.nodes.start_rows[node] + 1}"
        return f"  {graph.nodes.ids[node]}  {kind.label}{line}"


def resolve_name(index: Index, name: str, *, root: Path | None = None, folder: str = "") -> ResolvedName:
    """Return the only node that `name` denotes; the module docstring lists the accepted forms.

    `root` is the repository's folder, for absolute paths. `folder` is the POSIX path below it that relative paths start
    from. Raises UnknownNode with similar names, or AmbiguousNode with the candidates.
    """
    context = _Context(index, root, folder)
    wanted = name.strip()
    matches = _find(context, wanted) or _find_reading(context, wanted)
    if not matches:
        left_out = _left_out(context, wanted)
        if left_out:
            path, reason = left_out
            raise UnreadNode(f"{name!r} is not in the index: {path} was left out ({reason})", path, reason)
        raise UnknownNode(_unknown(context, name, wanted))
    nodes, note = matches
    defined = list(dict.fromkeys(index.graph.definition_of(each) for each in nodes))
    if len(nodes) == 1 and defined != nodes and not note:
        note = f"{index.graph.nodes.ids[nodes[0]]} is defined by {index.graph.nodes.ids[defined[0]]}"
    nodes = defined
    if len(nodes) > 1:
        suggestions = "\n".join(context.describe(n) for n in nodes[:_MAX_SUGGESTED])
        remainder = f"\n  and {len(nodes) - _MAX_SUGGESTED} more" if len(nodes) > _MAX_SUGGESTED else ""
        message = f"{len(nodes)} nodes are called {name!r}; use one of these ids:\n{suggestions}{remainder}"
        raise AmbiguousNode(message, name, tuple(index.graph.nodes.ids[each] for each in nodes))
    return ResolvedName(nodes[0], note)


_Matches = tuple[list[int], str]


def _find(context: _Context, wanted: str) -> _Matches | None:
    return _exact(context, wanted) or _at_line(context, wanted) or _by_end(context, wanted)


def _find_reading(context: _Context, wanted: str) -> _Matches | None:
    """Return the matches of the first reading of a name that has any."""
    for reading, is_certain in _readings(wanted[:_MAX_WRITTEN]):
        try:
            matches = _find(context, reading)
        except UnknownNode:  # a line behind the end of a file
            matches = None
        if matches:
            nodes, note = matches
            ids = context.index.graph.nodes.ids
            if not is_certain and not note and len(nodes) == 1:
                note = f"{wanted!r} is taken for {ids[nodes[0]]}"
            return nodes, note
    return None


_MAX_WRITTEN = 2_000  # characters of a name that are read
_MAX_READINGS = 60
_QUOTES = "`'\"‘’“”"
_KEYWORDS = lazy_regex(
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual|inline|const"
    r"|unsafe|pub|sealed|open|data|suspend)\s+)*"
    r"(?:class|def|defp|defmodule|func|fun|fn|function\*?|method|interface|struct|enum|trait|module|namespace|type|object"
    r"|record|protocol|impl|macro|mod|package|let|var|val|const|file|section|symbol|node)\s+(?P<name>\S.*)"
)
_RECEIVER = lazy_regex(r"\(\s*\w+\s+\*?(?P<type>\w+)(?:\[[^\]]*\])?\s*\)\s*(?P<name>\w+.*)")  # `(s *Session) Verify`
_POINTED = lazy_regex(r"\(\*?(\w+)\)\.", needs=("(",))  # `auth.(*Session).Verify`
_HOST = lazy_regex(r"[\w-]+(?:\.[\w-]+)+/[\w.-]+/(?:[\w.-]+/)?", needs=("/",))
_LINES = (
    lazy_regex(r"(?P<path>[^#\n]+)#L?(?P<line>\d{1,9})(?:C\d+)?(?:-L?(?P<last>\d{1,9})(?:C\d+)?)?", needs=("#",)),
    lazy_regex(r"(?P<path>[^\n]+):L(?P<line>\d{1,9})(?:-L?(?P<last>\d{1,9}))?", needs=(":L",)),
    lazy_regex(r"(?P<path>[^\n]+?)\((?P<line>\d{1,9})(?:,\s*\d+)?\)", needs=("(",)),
    lazy_regex(
        r"(?P<path>[^\n,]+?),?\s+(?:at\s+|on\s+)?lines?\s+(?P<line>\d{1,9})(?:\s*(?:-|to)\s*(?P<last>\d{1,9}))?"
    ),
    lazy_regex(r"lines?\s+(?P<line>\d{1,9})(?:\s*(?:-|to)\s*(?P<last>\d{1,9}))?\s+(?:of|in)\s+(?P<path>\S[^\n]*)"),
    lazy_regex(r"(?P<path>[^\s:]+\.\w+):(?P<line>\d{1,9})[:-][^\n]*", needs=(":",)),  # a line of `grep -n`
    lazy_regex(r"[^@\n]*@(?P<path>[^@\n]+?):(?P<line>\d{1,9}):\d{1,9}", needs=("@",)),  # a frame of Firefox
    lazy_regex(r"\s*(?P<path>\S+):(?P<line>\d{1,9})\s+\+0x[0-9a-f]+", needs=("+0x",)),  # a frame of Go
    lazy_regex(r"\s*at\s+[^\n]+?\)\s+in\s+(?P<path>[^\n]+?):line\s+(?P<line>\d{1,9})", needs=(":line",)),  # of .NET
)
_FRAME = lazy_regex(r"(?:at\s+)?(?:async\s+|new\s+)?(?P<name>[\w$.<>:#/-]+?)\s*\((?P<place>[^()\n]+?:\d+)(?::\d+)?\)")
_FRAME_OF_RUBY = lazy_regex(r"(?P<path>[^\s:]+):in\s+[`'](?P<name>[^`'\n]+)'", needs=(":in",))
_DIFF_HEADER = ("+++ ", "--- ")
_MEMBER = lazy_regex(r"(?P<owner>[\w$.]+)(?:\.prototype\.|#|->|::|:)(?P<name>[\w$.]+[?!]?)")
_MEMBER_OF_FILE = lazy_regex(r"(?P<path>[^#:\s]+\.\w+)(?:#|::?)(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|#)[\w$]+)*[?!]?)")


def _readings(written: str) -> Iterator[tuple[str, bool]]:
    """Yield names that a text may stand for, the likeliest first, and whether the reading leaves nothing out."""
    from causalist.rank.query.tracebacks import read_frames

    seen = {written}
    queue = [(written, True)]
    while queue and len(seen) < _MAX_READINGS:
        text, is_certain = queue.pop(0)
        for reading, keeps in _one_step(text):
            if reading and reading not in seen:
                seen.add(reading)
                queue.append((reading, is_certain and keeps))
                yield reading, is_certain and keeps
    if " " in written or "\t" in written:
        for frame in read_frames(written if "\n" in written else f"{written}\n")[0]:
            if frame.path and frame.line:
                for path in _shorten_path(frame.path):
                    yield f"{path}:{frame.line}", True
            if frame.function:
                yield frame.function, False


def _one_step(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what a text may stand for after one simplification, and whether it leaves nothing out."""
    stripped = text.strip().strip(_QUOTES).strip().rstrip(".,;:").lstrip("@&*").strip()
    if stripped != text:
        yield stripped, True
    if text.startswith("file://"):
        yield unquote(re.sub(r"^file://(?:localhost)?", "", text)), True
    for pattern in _LINES:
        match = pattern.fullmatch(text)
        if match:
            last = match.groupdict().get("last")
            for path in _shorten_path(match["path"].strip().strip(_QUOTES)):
                yield f"{path}:{match['line']}" + (f"-{last}" if last else ""), True
    frame = _FRAME.fullmatch(text)
    if frame:
        for path in _shorten_path(frame["place"]):
            yield path, True
        yield frame["name"], True
    if text.endswith(")") and "(" in text and not text.startswith("("):
        yield text[: text.index("(")], True
    ruby = _FRAME_OF_RUBY.fullmatch(text)
    if ruby:
        name = re.sub(r"^(?:block|rescue|ensure)(?: \(\d+ levels\))? in ", "", ruby["name"])
        yield f"{ruby['path']}::{re.sub('#|::', '.', name)}", True
    if text.startswith(_DIFF_HEADER):
        yield text[4:].partition("\t")[0], True
    keyword = _KEYWORDS.fullmatch(text)
    if keyword:
        yield (
            re.split(r"[\s:{=<]", keyword["name"])[0] if not keyword["name"].startswith("(") else keyword["name"],
            True,
        )
    if pointed := _POINTED.search(text):
        yield text.replace(pointed[0], f"{pointed[1]}.", 1), True
    if hosted := _HOST.match(text):  # of a module, which no path has
        yield text[hosted.end() :], True
    receiver = _RECEIVER.fullmatch(text)
    if receiver:
        yield f"{receiver['type']}.{receiver['name']}", True
    of_file = _MEMBER_OF_FILE.fullmatch(text)
    if of_file:
        yield f"{of_file['path']}::{re.sub('::|#', '.', of_file['name'])}", True
    member = _MEMBER.fullmatch(text)
    if member:
        yield f"{member['owner']}.{member['name']}", True
    if text.startswith(("a/", "b/")):
        yield text[2:], True
    if "/" in text or "\\" in text:
        yield from ((path, False) for path in _shorten_path(text) if path != text)
    elif text.count(".") > 1 and re.fullmatch(r"[\w$.]+", text):
        yield text.partition(".")[2], False  # the package, which no path says


def _shorten_path(path: str) -> Iterator[str]:
    """Yield a path, and if it is one of another machine, its ends with fewer and fewer folders."""
    yield path
    posix = path.replace("\\", "/")
    is_absolute = posix.startswith("/") or re.match(r"[A-Za-z]:/", posix)
    if is_absolute and not Path(re.sub(r":\d+.*$", "", path)).exists():
        parts = posix.split("/")
        for i in range(1, len(parts)):
            yield "/".join(parts[i:])


def _exact(context: _Context, wanted: str) -> _Matches | None:
    ids = context.index.graph.nodes.ids
    for candidate in (wanted, *_rewritten(context, wanted)):
        node = ids.position(candidate)
        if node >= 0:
            return [node], ""
    return None


def _rewritten(context: _Context, wanted: str) -> Iterator[str]:
    """Yield the possible ids of `wanted` if its path is relative to the current folder, absolute, or escaped."""
    if wanted.startswith("external:"):
        return
    for separator in ("::", "#", ""):
        path, parted_by, rest = wanted.partition(separator) if separator else (wanted, "", "")
        if (separator and not parted_by) or not path:
            continue
        for relative in _below_root(context, path.replace("\\", "/")):
            yield f"{relative}{parted_by}{rest}"
            yield f"{escape_path(relative)}{parted_by}{rest}"


def paths_below(index: Index, path: str, *, root: Path | None, folder: str) -> Iterator[str]:
    """Return an iterator over the paths below the root that a path may denote, see `resolve`."""
    return _below_root(_Context(index, root, folder), path)


def _below_root(context: _Context, path: str) -> Iterator[str]:
    """Yield the paths below the root that a path may denote."""
    if path.startswith("/") or re.match(r"[A-Za-z]:/", path):
        if context.root is not None:
            for root, full in ((str(context.root), path), (os.path.realpath(context.root), os.path.realpath(path))):
                relative = full.replace("\\", "/").removeprefix(f"{root.replace(os.sep, '/').rstrip('/')}/")
                if relative != full:
                    yield normpath(relative)
                elif full.rstrip("/") == root.rstrip("/"):
                    yield "."
        return
    from_folder = normpath(str(PurePosixPath(context.folder, path)))
    from_root = normpath(path)
    yield from (from_folder, from_root) if path.startswith(".") else (from_root, from_folder)
    if context.root is not None and "/" in path:  # a link inside of the repository leads to a folder of it
        behind = os.path.realpath(context.root / from_root)
        relative = os.path.relpath(behind, os.path.realpath(context.root)).replace(os.sep, "/")
        if relative != from_root and not relative.startswith(".."):
            yield relative


def _at_line(context: _Context, wanted: str) -> _Matches | None:
    """Return the innermost definition or section around `path:line` or `path:first-last`, or the file."""
    match = _LINE.fullmatch(wanted)
    if match is None:
        return None
    graph = context.index.graph
    matches = _exact(context, match["path"]) or _by_end(context, match["path"])
    files = [n for n in matches[0] if graph.kind(n) is NodeKind.FILE] if matches else []
    if not files or matches is None:
        return None
    if len(files) > 1:
        return files, ""
    row, nodes = int(match["line"]) - 1, graph.nodes
    last = max(row, int(match["last"] or 0) - 1)
    n_rows = int(nodes.end_rows[files[0]]) + 1
    if not 0 <= row < n_rows:
        raise UnknownNode(f"{nodes.ids[files[0]]} has no line {match['line']}; it ends with line {n_rows}")
    last = min(last, n_rows - 1)
    enclosing = np.flatnonzero((nodes.files == files[0]) & (nodes.start_rows <= row) & (nodes.end_rows >= last))
    innermost = enclosing[np.lexsort((enclosing, -nodes.end_rows[enclosing], nodes.start_bytes[enclosing]))].tolist()
    kinds = [graph.kind(n) for n in innermost]
    # An attribute that a method sets belongs to the method's line rather than the other way round.
    if kinds[-1] in (NodeKind.FIELD, NodeKind.CONSTANT) and any(kind in CALLABLE_KINDS for kind in kinds):
        innermost = [n for n, kind in zip(innermost, kinds, strict=True) if kind in CALLABLE_KINDS]
    return [innermost[-1]], matches[1]


def _by_end(context: _Context, wanted: str) -> _Matches | None:
    """Find the nodes whose ids, or the common spellings of their ids, end with `wanted`."""
    text = wanted.replace("\\", "/") if "/" not in wanted else wanted
    text = text.removeprefix("./")
    if not text.strip("./:#~"):
        return None
    ids = context.index.graph.nodes.ids
    candidates = [(n, ids[n]) for n in _candidates(context, text)]
    nodes: list[int] = []
    for form in _WRITTEN:
        nodes = [n for n, node_id in candidates if _ends_both(form(node_id), text)]
        if nodes:
            return nodes, ""
    outside = [ids.position(f"external:{kind}{wanted}") for kind in ("", *ASKED_KINDS)]
    nodes = _sections(context, text) or [n for n in outside if n >= 0]
    if nodes:
        return nodes, ""
    lower = text.lower()
    for form in _WRITTEN:
        nodes = [n for n, node_id in candidates if _ends_both(form(node_id).lower(), lower)]
        if len(nodes) == 1:
            return nodes, f"{wanted!r} is taken for {ids[nodes[0]]}, which is written otherwise"
        if nodes:
            return nodes, ""
    return None


def _candidates(context: _Context, text: str) -> list[int]:
    """Return the nodes whose last name or file name is the last part of `text`, ignoring case."""
    _, separator, symbol = text.rpartition("::")
    unnumbered = _REPEATED.sub("", symbol)
    parts = {unnumbered.rpartition(".")[2], unnumbered, symbol}
    if not separator:
        parts.add(unnumbered.rpartition("/")[2])
    return sorted({n for part in parts for n in find_nodes_by_name(part, context.index.lexical)})


def _sections(context: _Context, text: str) -> list[int]:
    """Return the sections that `file#heading` or the heading alone names."""
    path, parted_by, slug = text.rpartition("#")
    graph = context.index.graph
    slug = slug.strip().lower().replace(" ", "-")
    if parted_by and path:
        file = _exact(context, path) or _by_end(context, path)
        heads = {f"{graph.nodes.ids[n]}#" for n in file[0]} if file else set()
    else:
        heads = set()
    passages = np.flatnonzero(graph.nodes.kinds == NodeKind.PASSAGE).tolist()
    ids_of_passages = [(n, graph.nodes.ids[n]) for n in passages]
    return [
        n
        for n, i in ids_of_passages
        if i.endswith(f"#{slug}") and (not (parted_by and path) or i[: -len(slug)] in heads)
    ]


def _as_id(node_id: str) -> str:
    return node_id


def _as_module(node_id: str) -> str:
    """Return `src/app/auth.py::Session` as `src.app.auth.Session`."""
    path, symbol = split_id(node_id)
    module = splitext(path)[0].replace("/", ".").removesuffix(".__init__")
    return f"{module}.{symbol}" if symbol else module


def _as_stem(node_id: str) -> str:
    path, symbol = split_id(node_id)
    return f"{splitext(path)[0]}::{symbol}" if symbol else splitext(path)[0]


def _as_package(node_id: str) -> str:
    """Return `src/auth/session.go::Session` as `src/auth.Session`: files of a package share its names."""
    path, symbol = split_id(node_id)
    folder = path.rpartition("/")[0]
    return f"{folder}.{symbol}" if folder and symbol else node_id


def _as_dotted_package(node_id: str) -> str:
    return _as_package(node_id).replace("/", ".")


def _as_text(node_id: str) -> str:
    """Return the id with the name of a handler as it is in the source."""
    path, parted_by, symbol = node_id.partition("::")
    return f"{path}{parted_by}{unescape_name(symbol)}"


def _as_title(node_id: str) -> str:
    """Return the id with the title of a handler in place of its name."""
    path, parted_by, symbol = node_id.partition("::")
    around, dot, name = _REPEATED.sub("", symbol).rpartition(".")
    return f"{path}{parted_by}{around}{dot}{unescape_name(name.partition(' ')[2] or name)}"


# What people write for a node, most literal first.
_WRITTEN = (_as_id, _as_module, _as_stem, _as_text, _as_title, _as_package, _as_dotted_package)


def _ends_both(name: str, end: str) -> bool:
    """Return `_ends` of path and of symbol if `end` has both."""
    if "::" not in end or "::" not in name:
        return _ends(name, end)
    (path, _, symbol), (end_path, _, end_symbol) = name.partition("::"), end.partition("::")
    return _ends(symbol, end_symbol) and (not end_path or _ends(path, end_path))


def _ends(name: str, end: str) -> bool:
    """Return True if `name` ends with `end` at a boundary of its parts."""
    return name == end or (name.endswith(end) and name[-len(end) - 1] in "/.:#")


def _unknown(context: _Context, name: str, wanted: str) -> str:
    """Return the message for a name that no node has."""
    graph, lexical = context.index.graph, context.index.lexical
    folder = next(
        (f"{path}/" for path in _below_root(context, wanted.replace("\\", "/")) if _is_folder(context, path)), None
    )
    if folder is not None and wanted:
        return f"{name!r} is a folder; name a file in it, or what one defines"
    line = _LINE.fullmatch(wanted)
    wanted = line["path"] if line else wanted
    last = _REPEATED.sub("", re.split(r"[/.:#\\]+", wanted)[-1]).lower()
    tail = wanted.replace("\\", "/").rpartition("/")[2].lower()
    candidates = _candidates(context, wanted)
    if 0 < len(candidates) <= _MAX_SUGGESTED:
        suggestions = "\n".join(context.describe(n) for n in candidates)
        return f"nothing here is called {name!r}; by its last name there is:\n{suggestions}"
    positions = dict.fromkeys(p for text in (last, tail) for p in nearest(lexical.names, text, _MAX_NEAREST))
    near = [n for p in positions for n in lexical.name_nodes[lexical.name_indptr[p] : lexical.name_indptr[p + 1]]]
    if near:
        suggestions = "\n".join(context.describe(int(n)) for n in dict.fromkeys(near[:_MAX_SUGGESTED]))
        return f"nothing here is called {name!r}; what is written nearly so:\n{suggestions}"
    folders = {path[: match.end()] for path in context.index.manifest.paths for match in re.finditer("/", path)}
    alike = sorted(each for each in folders if each.lower() == f"{wanted.strip('/').lower()}/")
    if alike:
        return f"nothing here is called {name!r}; there is the folder {alike[0]}"
    return f"nothing here is called {name!r}; ids look like {_example_id(graph)}"


def _example_id(graph: CodeGraph) -> str:
    """Return the id of a function, else of a method, of the code rather than of its tests."""
    kinds, is_test = graph.nodes.kinds, graph.nodes.roles == Role.TEST
    for wanted in (NodeKind.FUNCTION, NodeKind.METHOD):
        found = np.flatnonzero((kinds == wanted) & ~is_test)
        if found.size:
            return graph.nodes.ids[int(found[0])]
    return "src/auth.py::Session.verify"


def _left_out(context: _Context, wanted: str) -> tuple[str, str] | None:
    """Return the file that a path, with or without a line, names and why it was left out of the index."""
    line = _LINE.fullmatch(wanted)
    wanted = (line["path"] if line else wanted).partition("::")[0]
    places = {*_below_root(context, wanted.replace("\\", "/"))}
    for reason, paths in sorted(context.index.examples.items()):
        for path in paths:
            if path in places:
                return path, reason
    for each in context.index.manifest.aside:  # such a file has a node, which its own name has found
        path, _, kind = each.partition("\0")
        if path in places and not is_parsed(kind):
            return path, kind
    return None


def _is_folder(context: _Context, path: str) -> bool:
    paths = context.index.manifest.paths
    return path not in (".", "..") and len(paths.prefix_range(f"{path}/")) > 0


# Endings that make `a.py` a file and no member.
_SUFFIXES = frozenset(
    "py pyi js jsx ts tsx mjs cjs go rs java kt scala c h cc cpp hpp cs rb php lua md json toml".split()  # noqa: SIM905
)


def last_name(node: str) -> str:
    """Return the name of the definition that an argument NODE gives, "" for a file or a position.

    >>> [last_name(node) for node in ("Session.verify", "a/b.py::C.d~2", "save()", "src/a.py", "src/a.py:42", "a.py")]
    ['verify', 'd', 'save', '', '', '']
    """
    path, _, symbol = node.rpartition("::")
    if not path and ("/" in node or ":" in node or node.rpartition(".")[2] in _SUFFIXES):
        return ""
    word = symbol.removesuffix("()").partition("~")[0].rpartition(".")[2]
    return word if word.isidentifier() else ""
