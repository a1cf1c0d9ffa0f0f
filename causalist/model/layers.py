"""What `layers` returns: how a repository is layered, and where that is broken."""

from dataclasses import dataclass
from typing import NamedTuple

from causalist.model.graph import Edge
from causalist.model.scores import Hit


class Used(NamedTuple):
    """A definition, and how many other nodes use it (with a confidence of at least 0.5)."""

    hit: Hit
    fan_in: int


class LayerSize(NamedTuple):
    """A layer with its files and definitions (those in files of another layer too), and the most used of these."""

    layer: str
    n_files: int
    n_definitions: int
    hottest: tuple[Used, ...]


class LayerUses(NamedTuple):
    """Code of `source` uses code of `target` in `n` ways: edges between their files and definitions."""

    source: str
    target: str
    n: int


class BackEdge(NamedTuple):
    """A use of a higher layer by a lower one, `steps` layers up."""

    edge: Edge
    source_layer: str
    target_layer: str
    steps: int


@dataclass(frozen=True, slots=True)
class Layering:
    """`sizes` hold the layers that there are, from the highest to the lowest and then those beside them; `uses` only
    pairs of them with an edge, in the order of `sizes`. `back_edges` stand by falling `steps`, then by falling
    confidence, then by source, target and kind."""

    sizes: tuple[LayerSize, ...]
    uses: tuple[LayerUses, ...]
    back_edges: tuple[BackEdge, ...]
