"""Contents of a repository map: an index -> an `Overview`, best first; and its folders, each with a description.

The importance of a node is its PageRank without a query: how much of the code depends on it.
"""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import normpath, splitext

import numpy as np
from numpy.typing import NDArray

from causalist.extract import hit_of
from causalist.model.graph import USE_KINDS, CodeGraph
from causalist.model.index import Index
from causalist.model.lookup import (
    Dependency,
    EntryPoint,
    EntryPointKind,
    FolderSummary,
    KeyDefinition,
    LanguageSize,
    Overview,
    RoleFolder,
)
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, file_id, last_name, split_id
from causalist.model.scores import Transition
from causalist.parse import dialect_of
from causalist.rank import restrict_to, user_interface_nodes
from causalist.rank.pagerank import personalized_pagerank
from causalist.repomap.descriptions import (
    NAMES,
    ManifestEntry,
    PackageManifest,
    first_paragraph,
    first_sentence,
    read_package_metadata,
)

_DEFINITIONS = sorted(CALLABLE_KINDS | TYPE_KINDS)


def product_nodes(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return a mask, shape (n_nodes,), of the nodes in product files: code, or all files if there is no code."""
    nodes = graph.nodes
    is_definition = np.isin(nodes.kinds, _DEFINITIONS)
    product = (nodes.roles == Role.CODE) & (nodes.kinds != NodeKind.EXTERNAL)
    if (is_definition & product).any():
        return np.asarray(product, dtype=np.bool_)
    others = nodes.kinds != NodeKind.EXTERNAL
    return np.asarray(others, dtype=np.bool_)


def compute_importance(graph: CodeGraph, transition: Transition, product: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the importance of each node, shape (n_nodes,); sums to 1, or all 0 without a definition.

    It is PageRank with all definitions of the product as equal seeds, over nodes of the product alone, so that uses by
    tests do not count.
    """
    seeds = (np.isin(graph.nodes.kinds, _DEFINITIONS) & product & transition.walkable).astype(np.float64)
    if not seeds.any():
        return np.zeros(len(graph.nodes))
    scores = personalized_pagerank(restrict_to(transition, product), seeds).scores
    return np.asarray(scores * product, dtype=np.float64)


_MAX_FOLDERS = 80
_MAX_DEFINITIONS = 400
_MAX_ENTRIES = 40
_MAX_MANIFESTS = 300
_MAX_DEPENDENCIES = 60
_MAX_MEMBERS = 6
_MAX_PLACES = 3
_NOTABLE = 0.1  # share of the files of a role that a place holds at least to be named
# Another definition of the same file or folder is worth this much of what it would be worth alone: a map that shows
# one file thoroughly shows too little. Chosen by hand, by reading maps of six repositories.
_SAME_FILE = 0.7
_SAME_FOLDER = 0.93
# So much less does a definition count that its author marked as private, or that no other file uses.
_PRIVATE = 0.25
_LOCAL = 0.4
_USER_INTERFACE = 0.15  # of what a definition counts, for one that draws a user interface
_BUILT = ("dist", "build", "lib", "out", "esm", "cjs", "es", "src")
_NOT_DEFINITIONS = (NodeKind.FILE, NodeKind.NAMESPACE)
_ROOT_READMES = ("README.md", "readme.md", "README.rst", "README.txt", "README", "Readme.md")


def collect(index: Index, name: str, read: Callable[[str], str], other_names: Sequence[str] = ()) -> Overview:
    """Return the overview of a repository called `name`, which its README may call by one of `other_names`.

    `read` gives the text of an indexed file by its path, "" if the text cannot be read. Only manifests and READMEs are
    read.
    """
    graph = index.graph
    product = product_nodes(graph)
    scores = _server_first(graph, compute_importance(graph, index.transition, product))
    files = _files(graph)
    paths = frozenset(path for path, _ in files)
    owners = graph.nodes.files.astype(np.int64)
    totals = np.bincount(owners[owners >= 0], weights=scores[owners >= 0], minlength=len(graph.nodes))
    code = {path: float(totals[node]) for path, node in files if product[node] and dialect_of(path)}
    docs = {path: graph.nodes.docs[node] for path, node in files}
    folders = folders_by_importance(code, _MAX_FOLDERS, build_describer(paths, lambda path: docs.get(path, ""), read))
    folders = with_layers(folders, {path: graph.layer(node) or "" for path, node in files if path in code})
    manifests = _manifests(paths, code, read)
    at_root = [manifest for path, manifest in manifests if "/" not in path]
    root = next((manifest for manifest in at_root if manifest.summary), PackageManifest())
    readme = next((path for path in _ROOT_READMES if path in paths), "")
    names = [name, *other_names, *(manifest.name for manifest in at_root)]
    return Overview(
        name=root.name or name,
        commit=index.commit,
        summary=root.summary,
        paragraph=first_paragraph(read(readme), names, is_described=bool(root.summary)) if readme else "",
        languages=_languages(graph, files),
        entries=tuple(_entries(graph, paths, manifests))[:_MAX_ENTRIES],
        folders=folders,
        definitions=_definitions(graph, scores, product, code),
        dependencies=_dependencies(graph, folders, product),
        asides=_asides(graph, files, code),
    )


def _server_first(graph: CodeGraph, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores with less for what draws a user interface, so that a map opens with what the program does."""
    shares = np.where(user_interface_nodes(graph), _USER_INTERFACE * scores, scores)
    total = float(shares.sum())
    return shares / total if total else scores


def _files(graph: CodeGraph) -> list[tuple[str, int]]:
    nodes = np.flatnonzero(graph.nodes.kinds == NodeKind.FILE).tolist()
    return [(split_id(graph.nodes.ids[node])[0], node) for node in nodes]


def _languages(graph: CodeGraph, files: Sequence[tuple[str, int]]) -> tuple[LanguageSize, ...]:
    n_files: Counter[str] = Counter()
    n_lines: Counter[str] = Counter()
    for path, node in files:
        language = dialect_of(path) or "text"
        n_files[language] += 1
        n_lines[language] += max(1, int(graph.nodes.end_rows[node]))  # behind the last newline is a row, and no line
    order = sorted(n_files, key=lambda each: (each == "text", -n_lines[each], each))
    return tuple(LanguageSize(each, n_files[each], n_lines[each]) for each in order)


def _manifests(
    paths: frozenset[str], code: dict[str, float], read: Callable[[str], str]
) -> list[tuple[str, PackageManifest]]:
    """Return the manifests of the root, then of folders with code, the most important first, with their contents."""
    shares: dict[str, float] = {"": 2.0}
    for path, share in code.items():
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            shares[folder] = shares.get(folder, 0.0) + share
    manifests = [path for path in paths if path.rpartition("/")[2] in NAMES and path.rpartition("/")[0] in shares]
    manifests.sort(key=lambda path: (-round(shares[path.rpartition("/")[0]], 12), path))
    return [(path, read_package_metadata(path.rpartition("/")[2], read(path))) for path in manifests[:_MAX_MANIFESTS]]


def _entries(
    graph: CodeGraph, paths: frozenset[str], manifests: Sequence[tuple[str, PackageManifest]]
) -> Iterator[EntryPoint]:
    seen: set[tuple[str, str]] = set()
    for path, manifest in manifests:
        folder = path.rpartition("/")[0]
        for declared in manifest.entries:
            target = _target(graph, paths, folder, declared)
            if (declared.kind, declared.name) not in seen:
                seen.add((declared.kind, declared.name))
                yield EntryPoint(declared.kind, declared.name, target)
    roles = graph.nodes.roles
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        *above, name = path.split("/")
        if roles[graph.nodes.ids.position(file_id(path))] != Role.CODE:
            continue
        if name == "__main__.py" and above:
            yield EntryPoint(EntryPointKind.RUN, f"python -m {'.'.join(_package(above, paths))}", path)
        elif name == "manage.py" or (name == "main.go" and (not above or "cmd" in above)):
            yield EntryPoint(EntryPointKind.RUN, above[-1] if above and name == "main.go" else name, path)
        elif name == "main.rs" and above[-1:] == ["src"]:
            yield EntryPoint(EntryPointKind.RUN, above[-2] if len(above) > 1 else "cargo run", path)
        elif name == "__init__.py" and above and len(_package(above, paths)) == 1 and not _is_inside(above, paths):
            yield EntryPoint(EntryPointKind.IMPORT, above[-1], path)


def _is_inside(folders: Sequence[str], paths: frozenset[str]) -> bool:
    """Return True if a folder is below a package: its contents are a part or a template of that package."""
    return any(f"{'/'.join(folders[:end])}/__init__.py" in paths for end in range(1, len(folders)))


def _package(folders: Sequence[str], paths: frozenset[str]) -> Sequence[str]:
    """Return the dotted parts of a package: the last folders that contain an `__init__.py`."""
    start = len(folders)
    while start and f"{'/'.join(folders[:start])}/__init__.py" in paths:
        start -= 1
    return folders[start:] or folders[-1:]


def _target(graph: CodeGraph, paths: frozenset[str], folder: str, declared: ManifestEntry) -> str:
    """Return the node that a manifest's target names: `package.module:function`, or a file.

    The file may be built from a source of the same name.
    """
    prefix = f"{folder}/" if folder else ""
    written = declared.target
    if "/" not in written and ":" in written:
        module, _, function = written.partition(":")
        stem = module.strip().replace(".", "/")
        for source in (f"{stem}.py", f"{stem}/__init__.py", f"src/{stem}.py", f"src/{stem}/__init__.py"):
            if prefix + source in paths:
                symbol = f"{file_id(prefix + source)}::{function.split('[')[0].strip()}"
                return symbol if graph.nodes.ids.position(symbol) >= 0 else prefix + source
        return ""
    path = normpath(prefix + written)
    if path in paths:
        return path
    parts = splitext(splitext(normpath(written))[0])[0].split("/")
    while parts and parts[0] in _BUILT:
        parts = parts[1:]
    stem = "/".join(parts)
    for source in (f"{prefix}{stem}", f"{prefix}src/{stem}", f"{prefix}source/{stem}"):
        for extension in (".ts", ".tsx", ".mts", ".js", ".mjs"):
            if stem and source + extension in paths:
                return source + extension
    return ""


def _definitions(
    graph: CodeGraph, scores: NDArray[np.float64], product: NDArray[np.bool_], code: dict[str, float]
) -> tuple[KeyDefinition, ...]:
    """Return the outermost definitions, most important first; further ones of a file or folder are ranked lower."""
    nodes, ids = graph.nodes, graph.nodes.ids
    owners = _types_by_name(graph, product)

    shells = _shells(graph)

    def outermost(node: int) -> int:
        while (parent := int(nodes.parents[node])) >= 0 and graph.kind(parent) not in _NOT_DEFINITIONS:
            if shells[parent]:
                return node
            node = parent
        path, symbol = split_id(ids[node])
        around = (symbol or "").rpartition(".")[0]  # a member may stand outside of its type, as in Go
        return owners.get((path.rpartition("/")[0], around), node) if around else node

    members: dict[int, list[int]] = {}
    top: dict[int, float] = {}
    kinds = sorted(CALLABLE_KINDS | TYPE_KINDS)
    named = np.flatnonzero(product & (scores > 0) & np.isin(nodes.kinds, kinds)).tolist()
    for node in named:
        outer = outermost(node)
        top[outer] = top.get(outer, 0.0) + float(scores[node])
        if outer != node and graph.kind(outer) in TYPE_KINDS and _is_member(ids[node], ids[outer]):
            members.setdefault(outer, []).append(node)
    shared = {outermost(node) for node in _used_elsewhere(graph, product)}
    by_file: dict[str, list[tuple[float, int]]] = {}
    for node, share in top.items():
        path, symbol = split_id(ids[node])
        if path not in code or symbol is None or graph.kind(node) not in CALLABLE_KINDS | TYPE_KINDS or shells[node]:
            continue
        if "~" in symbol:
            continue  # an overload is shown by its first
        worth = share * (_PRIVATE if symbol.startswith("_") else 1.0) * (1.0 if node in shared else _LOCAL)
        by_file.setdefault(path, []).append((-round(worth, 12), node))
    for own in by_file.values():
        own.sort()
    return tuple(
        KeyDefinition(hit_of(graph, node, 0.0, 0.0, ()), top[node], _best_members(graph, scores, members.get(node, ())))
        for node in _spread(by_file)
    )


def _shells(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return, per node, True for a type or module that holds types alone: these say more than it does."""
    nodes = graph.nodes
    is_type = np.isin(nodes.kinds, sorted(TYPE_KINDS))
    children = np.flatnonzero(nodes.parents >= 0)
    holders = nodes.parents[children]
    result = np.zeros(len(nodes.parents), dtype=np.bool_)
    result[holders] = True
    result[holders[~is_type[children]]] = False
    return result & is_type


def _types_by_name(graph: CodeGraph, product: NDArray[np.bool_]) -> dict[tuple[str, str], int]:
    """Return the types of the product by (folder, qualified name)."""
    nodes = graph.nodes
    node_by_name: dict[tuple[str, str], int] = {}
    for node in np.flatnonzero(product & np.isin(nodes.kinds, sorted(TYPE_KINDS))).tolist():
        path, symbol = split_id(nodes.ids[node])
        node_by_name.setdefault((path.rpartition("/")[0], symbol or ""), node)
    return node_by_name


def _is_member(node_id: str, type_id: str) -> bool:
    """Return True if a qualified name is that of a type followed by exactly one name."""
    return (split_id(node_id)[1] or "").rpartition(".")[0] == (split_id(type_id)[1] or "")


def _used_elsewhere(graph: CodeGraph, product: NDArray[np.bool_]) -> list[int]:
    """Return the nodes of the product that another of its files uses."""
    edges, owners = graph.edges, graph.nodes.files
    apart = (owners[edges.sources] != owners[edges.targets]) & product[edges.sources] & product[edges.targets]
    apart &= np.isin(edges.kinds, sorted(USE_KINDS))
    return [int(node) for node in np.unique(edges.targets[apart])]


def _spread(by_file: dict[str, list[tuple[float, int]]]) -> Iterator[int]:
    """Yield nodes of all files, best first; each counts less, the more nodes of its file and folder precede it."""
    taken_of_file: Counter[str] = Counter()
    taken_of_folder: Counter[str] = Counter()

    def worth(path: str) -> tuple[float, int]:
        value, node = by_file[path][taken_of_file[path]]
        folder = path.rpartition("/")[0]
        return value * _SAME_FILE ** taken_of_file[path] * _SAME_FOLDER ** taken_of_folder[folder], node

    queue = [(*worth(path), path) for path in by_file]
    heapq.heapify(queue)
    for _ in range(_MAX_DEFINITIONS):
        if not queue:
            return
        value, node, path = heapq.heappop(queue)
        current = worth(path)
        if current[0] > value:  # its folder has been given more since it was put here
            heapq.heappush(queue, (*current, path))
            continue
        yield node
        taken_of_file[path] += 1
        taken_of_folder[path.rpartition("/")[0]] += 1
        if taken_of_file[path] < len(by_file[path]):
            heapq.heappush(queue, (*worth(path), path))


def _best_members(graph: CodeGraph, scores: NDArray[np.float64], members: Sequence[int]) -> tuple[str, ...]:
    ids = graph.nodes.ids
    order = sorted(members, key=lambda node: (-round(float(scores[node]), 12), node))
    names = dict.fromkeys(last_name(ids[n]) for n in order)
    return tuple(
        name for name in names if not name.startswith(("_", "#")) and "$" not in name and name != "constructor"
    )[:_MAX_MEMBERS]


def _dependencies(
    graph: CodeGraph, folders: Sequence[FolderSummary], product: NDArray[np.bool_]
) -> tuple[Dependency, ...]:
    """Return the uses between folders, each file counted for the innermost of `folders` that contains it."""
    edges, owners = graph.edges, graph.nodes.files.astype(np.int64)
    chosen = np.isin(edges.kinds, sorted(USE_KINDS)) & product[edges.sources] & product[edges.targets]
    sources, targets = owners[edges.sources[chosen]], owners[edges.targets[chosen]]
    n_nodes = len(graph.nodes)
    pairs, counts = np.unique(sources * n_nodes + targets, return_counts=True)
    paths = {folder.path for folder in folders}
    of_file: dict[int, str] = {}

    def folder_of(file: int) -> str:
        if file not in of_file:
            path = split_id(graph.nodes.ids[file])[0].rpartition("/")[0]
            while path and f"{path}/" not in paths:
                path = path.rpartition("/")[0]
            of_file[file] = f"{path}/" if path else "./"
        return of_file[file]

    totals: Counter[tuple[str, str]] = Counter()
    for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True):
        source, target = folder_of(pair // n_nodes), folder_of(pair % n_nodes)
        if source != target:
            totals[source, target] += n
    order = sorted(totals, key=lambda pair: (-totals[pair], pair))
    return tuple(Dependency(*pair, totals[pair]) for pair in order[:_MAX_DEPENDENCIES])


def _asides(graph: CodeGraph, files: Sequence[tuple[str, int]], code: dict[str, float]) -> tuple[RoleFolder, ...]:
    places: dict[Role, Counter[str]] = {}
    for path, node in files:
        if path not in code:
            role = Role(int(graph.nodes.roles[node]))
            top, slash, _ = path.partition("/")
            places.setdefault(role, Counter())[f"{top}/" if slash else path] += 1
    result = []
    for role, n_by_folder in sorted(places.items()):
        if role in (Role.CODE, Role.CONFIG):
            continue
        n_files = sum(n_by_folder.values())
        order = sorted(
            (p for p in n_by_folder if n_by_folder[p] >= _NOTABLE * n_files),
            key=lambda place: (-n_by_folder[place], place),
        )
        result.append(RoleFolder(role.label, n_files, tuple(order[:_MAX_PLACES])))
    return tuple(sorted(result, key=lambda aside: (-aside.n_files, aside.role)))


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
_MAJORITY_THRESHOLD = 2 / 3  # as in causalist/graph/architecture_layers.py

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
        shown = []
        for child in sorted(children.get(folder, ())):
            while child not in holds_files and len(children.get(child, ())) == 1:
                (child,) = children[child]
            shown.append(child)
        # `cli/src` says no more than `cli`.
        same = [child for child in shown if folder and counts[child] >= _NEARLY_ALL_THRESHOLD * counts[folder]]
        return [*(child for child in shown if child not in same), *(each for child in same for each in below(child))]

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
        sentence = first_sentence(_first(_HEADS, folder, paths, doc_of))
        if sentence:
            return sentence
        return _first(_READMES, folder, paths, lambda path: first_paragraph(read(path), [folder]))

    return describe


def _first(names: Sequence[str], folder: str, paths: frozenset[str], text_of: Callable[[str], str]) -> str:
    for name in names:
        path = f"{folder}/{name}"
        if path in paths:
            doc = text_of(path)
            if " " in doc and not _NO_DESCRIPTION.search(doc):
                return doc
    return ""
