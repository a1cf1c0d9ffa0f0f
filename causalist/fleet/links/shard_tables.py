"""The tables of a shard for edges between repositories: an index and its files -> `publishes` and `uses`."""

from functools import cache as remember
from pathlib import Path

from causalist.fleet.links.coordinates import read_manifests
from causalist.fleet.links.program import Read, ShardProgram
from causalist.fleet.links.published import published_rows
from causalist.fleet.links.services import service_rows
from causalist.fleet.links.tables import Published, Used, write_rows
from causalist.fleet.links.used import used_rows
from causalist.model.index import Index
from causalist.model.source import FileEntry
from causalist.model.symbols import file_id
from causalist.store import FactsCache

LINK_TABLES = ("publishes", "uses")


def write_link_tables(folder: Path, index: Index, read: Read, cache: FactsCache) -> None:
    """Write `publishes` and `uses` of an index to a folder. Raises ExtraMissing."""
    sizes = {path: int(index.manifest.sizes[i]) for i, path in enumerate(index.manifest.paths)}

    @remember
    def text(path: str) -> str:
        found = read(FileEntry(path, sizes[path], 0))
        return "" if isinstance(found, str) else found.data.decode("utf-8", "replace")

    program = ShardProgram.open(index, read, cache)
    manifests = read_manifests(list(sizes), text)
    offered, asked = service_rows(index, program, text, list(sizes))
    published = {*published_rows(program, manifests), *offered, _repository(list(sizes))}
    write_rows(folder / "publishes", Published, published)
    write_rows(folder / "uses", Used, [*used_rows(program, manifests), *dict.fromkeys(asked)])


def _repository(paths: list[str]) -> Published:
    """Return the row of the repository as a whole: the file that introduces it."""
    top = [path for path in paths if "/" not in path] or paths
    return Published("repository", "", "", "", "", str(file_id(min(top, key=_introduction_order))))


def _introduction_order(path: str) -> tuple[bool, str]:
    return not path.lower().startswith("readme"), path
