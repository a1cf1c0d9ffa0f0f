"""Folders with code, most important first, each with its own description."""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from causalist.model.lookup import FolderSummary
from causalist.repomap.descriptions import NAMES, first_paragraph, first_sentence, read_package_metadata

_READMES = ("README.md", "readme.md", "README.rst", "README.txt", "README", "Readme.md")
# Files whose own documentation is about the folder.
_HEADS = (
    *("__init__.py", "doc.go", "mod.rs", "lib.rs", "src/lib.rs", "package-info.java"),
    *("index.ts", "index.js", "src/index.ts", "src/index.js"),
)
# Documentation that says nothing of what a file is about.
_NO_DESCRIPTION = re.compile(
    r"copyright|licen[cs]e|spdx|eslint|prettier|@ts-|coding[:=]|^\W*$|^import |generated", re.I
)

_NEARLY_ALL_THRESHOLD = 0.9
_MAJORITY_THRESHOLD = 2 / 3  # as in causalist/graph/layers.py

Read = Callable[[str], str]


def with_layers(folders: Sequence[FolderSummary], layers: Mapping[str, str]) -> tuple[FolderSummary, ...]:
    """Return the folders with the layer that most of their files have; `layers` are by path of a code file."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for path, layer in layers.items():
        folder = path.rpartition("/")[0]
        counts[f"{folder}/" if folder else "./"][layer] += 1
        while folder := folder.rpartition("/")[0]:
            counts[f"{folder}/"][layer] += 1
    result = []
    for each in folders:
        layer, n = min(counts[each.path].items(), key=lambda of: (-of[1], of[0]), default=("", 0))
        is_most = layer != "logic" and n >= _MAJORITY_THRESHOLD * counts[each.path].total()
        result.append(each._replace(layer=layer) if is_most else each)
    return tuple(result)


def folders_by_importance(
    files: Mapping[str, float], limit: int, describe: Callable[[str], str]
) -> tuple[FolderSummary, ...]:
    """Return at most `limit` folders that contain the given files (path -> share), each after its enclosing folder.

    A folder that holds nothing but one other is passed over for that one.
    """
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    children: dict[str, set[str]] = {}
    holds_files: set[str] = set()
    for path, share in files.items():
        parent = path.rpartition("/")[0]
        holds_files.add(parent)
        while True:
            totals[parent] = totals.get(parent, 0.0) + share
            counts[parent] = counts.get(parent, 0) + 1
            if not parent:
                break
            above = parent.rpartition("/")[0]
            children.setdefault(above, set()).add(parent)
            parent = above

    def below(folder: str) -> list[str]:
        found = []
        for child in sorted(children.get(folder, ())):
            while child not in holds_files and len(children.get(child, ())) == 1:
                (child,) = children[child]
            found.append(child)
        # `cli/src` says no more than `cli`.
        same = [child for child in found if folder and counts[child] >= _NEARLY_ALL_THRESHOLD * counts[folder]]
        return [*(child for child in found if child not in same), *(each for child in same for each in below(child))]

    queue = [(-round(totals[folder], 12), folder) for folder in (below("") if files else ())]
    if "" in holds_files:
        totals[""] = sum(share for path, share in files.items() if "/" not in path)
        counts[""] = sum("/" not in path for path in files)
        queue.append((-round(totals[""], 12), ""))
    heapq.heapify(queue)
    result: list[FolderSummary] = []
    listed: set[str] = set()
    while queue and len(result) < limit:
        _, folder = heapq.heappop(queue)
        doc = describe(folder) if folder else ""
        above = folder.rpartition("/")[0]
        while not doc and above and above not in listed:  # what was passed over for this one may speak for it
            doc, above = describe(above), above.rpartition("/")[0]
        listed.add(folder)
        result.append(FolderSummary(f"{folder}/" if folder else "./", counts[folder], totals[folder], doc))
        for child in below(folder) if folder else ():
            heapq.heappush(queue, (-round(totals[child], 12), child))
    return tuple(result)


def build_describer(paths: frozenset[str], doc_of: Callable[[str], str], read: Read) -> Callable[[str], str]:
    """Return a function that describes a folder in one line; "" if no file describes it.

    The description is that of its manifest, else that of the file that represents it, else that of its README.
    """

    def describe(folder: str) -> str:
        for name in NAMES:
            if f"{folder}/{name}" in paths:
                summary = read_package_metadata(name, read(f"{folder}/{name}")).summary
                if summary:
                    return summary
        said = first_sentence(_first(_HEADS, folder, paths, doc_of))
        if said:
            return said
        return _first(_READMES, folder, paths, lambda path: first_paragraph(read(path), [folder]))

    return describe


def _first(names: Sequence[str], folder: str, paths: frozenset[str], said: Callable[[str], str]) -> str:
    for name in names:
        path = f"{folder}/{name}"
        if path in paths:
            doc = said(path)
            if " " in doc and not _NO_DESCRIPTION.search(doc):
                return doc
    return ""
