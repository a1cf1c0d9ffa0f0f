"""To which layer each node belongs: what files and types say themselves, completed by what surrounds them.

In: a graph whose nodes have what they say themselves (`say_layers`), and the paths of its files. Out: the layer of each
node. Where neither a type nor its file says one, the type belongs to the layer of what it extends, the highest if that
is several, and the file to that of its types, if half of them have one. A file of which nothing says anything belongs
to what most files of its folder say; otherwise it is logic. Whatever stands in something belongs to the layer of that;
a test is a test wherever it stands.

What a file says rests on its own facts, with their bodies, and on the names that manifests give to packages. It is kept
with the nodes, so that what follows from it can be worked out anew when only some of the files are linked again.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from causalist.graph.drafts import Drafts
from causalist.graph.layers import layers_of
from causalist.graph.listed import Folders
from causalist.graph.program.program import Program
from causalist.graph.tiers import fan_in, tiers
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.symbols import NO_LAYER, STACKED_LAYERS, TYPE_KINDS, Layer, NodeKind, Role

# So many of the files of a folder, two of three, say one layer, and at least so many, before it holds for a file that
# says none. Chosen by hand on three repositories (tests/benchmarks/layers).
_SHARE, _FEWEST = (2, 3), 3
_BESIDE = (Layer.TEST, Layer.DOCS, Layer.CONFIG)  # which say nothing about what stands beside them

_Layers = NDArray[np.uint8]


def packages_of(program: Program) -> dict[str, str]:
    """The names that manifests give to packages, by folder."""
    return {_folder(f.path): name for f in program.files for key, name in f.facts.manifest if key in ("module", "name")}


def say_layers(program: Program, drafts: Drafts, packages: Mapping[str, str], number: int) -> None:
    """Sets the layers that a file and the types in it say themselves. Needs the bodies of the file; `packages` are
    `packages_of` the program."""
    names = program.files[number]
    family = names.settings.family if names.settings is not None else ""
    around = _folder(names.path)
    while around and around not in packages:
        around = _folder(around)
    said = layers_of(names.path, names.facts, family, packages.get(around, ""))
    if said.layer is not None:
        drafts[number].says = said.layer
    for local, layer in said.types.items():
        drafts[drafts.first_of(number) + local].says = layer


def with_layers(graph: CodeGraph, file_nodes: NDArray[np.int32], folders: Folders) -> CodeGraph:
    """The graph with the layer and the tier of each node; `file_nodes` are those of the files that `folders` is of.
    External nodes, which have no layer, are logic in the array."""
    nodes, n_files = graph.nodes, len(file_nodes)
    own = _of_types(graph)
    number = np.full(len(nodes), -1, dtype=np.int64)  # node of a file -> its number
    number[file_nodes] = np.arange(n_files)
    of_file = nodes.said_layers[file_nodes]
    telling = np.flatnonzero((own != NO_LAYER) & (nodes.kinds != NodeKind.FILE))
    counts = _counted(number[nodes.files[telling]], own[telling], n_files)
    is_type = np.isin(nodes.kinds, sorted(TYPE_KINDS))
    n_types = np.bincount(number[nodes.files[is_type]], minlength=n_files)
    n_telling = counts.sum(axis=1)
    told = (of_file == NO_LAYER) & (n_telling > 0) & (2 * n_telling >= n_types)
    of_file[told] = _most(counts)[told]
    layers = np.where(nodes.roles == Role.TEST, np.uint8(Layer.TEST), own)
    layers[nodes.parents < 0] = Layer.LOGIC
    layers[file_nodes] = _completed(of_file, folders)
    waiting = np.flatnonzero(layers == NO_LAYER)
    while len(waiting):
        layers[waiting] = layers[nodes.parents[waiting]]
        waiting = waiting[layers[waiting] == NO_LAYER]
    ranks = tiers(nodes.kinds, fan_in(graph.edges, len(nodes)))
    return replace(graph, nodes=replace(nodes, layers=layers, tiers=ranks))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _of_types(graph: CodeGraph) -> _Layers:
    """What nodes say themselves, completed for types by what the nearest type says that they extend."""
    nodes, edges = graph.nodes, graph.edges
    own = nodes.said_layers.copy()
    of_file = np.where(nodes.files >= 0, own[nodes.files], np.uint8(NO_LAYER))
    lent = np.where(own != NO_LAYER, own, of_file)
    asks = (edges.kinds == EdgeKind.EXTENDS) & (lent[edges.sources] == NO_LAYER)
    owners, bases = edges.sources[asks], edges.targets[asks]
    while (gives := np.isin(lent[bases], STACKED_LAYERS)).any():
        found = np.zeros(len(nodes), dtype=np.uint8)
        np.maximum.at(found, owners[gives], lent[bases[gives]])
        own[owners[gives]] = lent[owners[gives]] = found[owners[gives]]
        waits = own[owners] == NO_LAYER
        owners, bases = owners[waits], bases[waits]
    return own


def _completed(of_file: _Layers, listed: Folders) -> _Layers:
    """Layers of files: those of folders in which most files in a language with a grammar say the same one, for such
    files that say none, and logic for all others."""
    folders, n_folders, is_code = listed
    counted = is_code & ~np.isin(of_file, _BESIDE)
    says = counted & (of_file != NO_LAYER)
    counts = _counted(folders[says], of_file[says], n_folders)
    n, n_saying = np.bincount(folders[counted], minlength=n_folders), counts.max(axis=1, initial=0)
    holds = (n_saying >= _FEWEST) & (_SHARE[1] * n_saying >= _SHARE[0] * n)
    of_folder = np.where(holds, _most(counts), np.uint8(Layer.LOGIC))
    around = np.where(is_code, of_folder[folders], np.uint8(Layer.LOGIC)) if len(of_file) else of_file
    return np.where(of_file == NO_LAYER, around, of_file)


def _counted(rows: NDArray[np.int64], layers: _Layers, n: int) -> NDArray[np.int64]:
    """Shape (n, number of layers): how often each layer stands in each row."""
    return np.bincount(rows * len(Layer) + layers, minlength=n * len(Layer)).reshape(n, len(Layer))


def _most(counts: NDArray[np.int64]) -> _Layers:
    """Of each row the layer that is counted most; of several, the highest."""
    highest: _Layers = (len(Layer) - 1 - counts[:, ::-1].argmax(axis=1)).astype(np.uint8)
    return highest
