"""What a repository is, for somebody who has never seen it."""

from dataclasses import dataclass
from typing import NamedTuple

from causalist.model.scores import Hit


class LanguageSize(NamedTuple):
    language: str
    n_files: int
    n_lines: int


class EntryPoint(NamedTuple):
    """Where others come in. `kind`: "command" (a program that installing brings), "import" (what importers name), "run"
    (a file that is run). `target` is the node or path, "" where the repository does not hold it."""

    kind: str
    name: str
    target: str


class Folder(NamedTuple):
    """A folder with code: `path` ends with "/", the root is "./". `share` of the importance of all code.
    `layer` is that of at least two thirds of its code files, "" where there is none such or it is logic."""

    path: str
    n_files: int
    share: float
    doc: str
    layer: str = ""


class KeyDefinition(NamedTuple):
    """A definition that much rests on, and the names of its most important members. `share` includes them."""

    hit: Hit
    share: float
    members: tuple[str, ...]


class Dependency(NamedTuple):
    """Code below `source` uses code below `target` in `n` ways: edges between their definitions."""

    source: str
    target: str
    n: int


class Aside(NamedTuple):
    """Files that are no code of the product: tests, documentation, examples and so on, and where most of them are."""

    role: str
    n_files: int
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """All parts stand best first, so that a beginning of each is the best that fits. `folders` hold a folder after the
    one that it is in. `summary` is what the package says of itself in a line, `paragraph` what its README does."""

    name: str
    commit: str | None
    summary: str
    paragraph: str
    languages: tuple[LanguageSize, ...]
    entries: tuple[EntryPoint, ...]
    folders: tuple[Folder, ...]
    definitions: tuple[KeyDefinition, ...]
    dependencies: tuple[Dependency, ...]
    asides: tuple[Aside, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """An overview cut to a budget. `overview` holds just what `text` shows; `tokens` is never above `max_tokens`."""

    text: str
    tokens: int
    max_tokens: int
    format: str
    overview: Overview
