"""The thirty services: their questions, chains and chain files, read from `chains/`, and the hubs from `hubs/`.

A line `@use HUB NAMES` in such a file stands for the import of a hub; `PKG`, `MOD` and `CRATE` for the service's own
name, `J` and `T` at the head of a path for the source folders of Java.
"""

from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent
LANGUAGES = ("typescript", "python", "go", "java", "rust")


class Link(NamedTuple):
    """A definition of the chain; `name` has its class before a dot. `caller` is the link, from 1, that calls it.

    0 stands for the one before; the first link has none.
    """

    path: str
    name: str
    kind: str
    caller: int = 0


class Spec(NamedTuple):
    """A service as it is planned. `words` are nouns for look-alikes, `heads` adjectives before them; `wire` is what the
    entry point imports; `files` maps paths to texts with `@use`."""

    id: str
    language: str
    n_files: int
    question: str
    hubs: tuple[str, ...]
    words: tuple[str, ...]
    heads: tuple[str, ...]
    chain: tuple[Link, ...]
    wire: str
    files: dict[str, str]


def read_specs() -> list[Spec]:
    """All services, language by language."""
    return [spec for language in LANGUAGES for spec in _read(language)]


def read_hubs(language: str) -> dict[str, str]:
    """Texts of the hubs by key, with `@use` lines."""
    return _sections((_HERE / "hubs" / f"{language}.txt").read_text())


def _read(language: str) -> list[Spec]:
    text = (_HERE / "chains" / f"{language}.txt").read_text()
    return [_parse(language, part) for part in text.split("##### ")[1:]]


def _parse(language: str, text: str) -> Spec:
    head, _, rest = text.partition("=== ")
    name, *lines = head.strip().splitlines()
    fields = dict(line.split(": ", 1) for line in lines if not line.startswith("link: "))
    links = [line.removeprefix("link: ").split() for line in lines if line.startswith("link: ")]
    return Spec(
        id=name,
        language=language,
        n_files=int(fields["files"]),
        question=fields["question"],
        hubs=tuple(fields["hubs"].split()),
        words=tuple(fields["words"].split()),
        heads=tuple(fields.get("heads", "").split()),
        chain=tuple(Link(*link[:3], int(*link[3:] or "0")) for link in links),
        wire=fields["wire"],
        files=_sections("=== " + rest),
    )


def _sections(text: str) -> dict[str, str]:
    parts = ("\n" + text).split("\n=== ")[1:]
    return {part.split("\n", 1)[0].strip(): part.split("\n", 1)[1].strip("\n") + "\n" for part in parts}
