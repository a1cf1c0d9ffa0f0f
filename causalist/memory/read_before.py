"""What was read when documents were added last, so that adding them again reads only those that changed.

It lies beside the memory, as `memory.db.read`, and counts for the memory alone whose checksum it names: whoever changes
the memory by other means makes it worth nothing, and then everything is read again. It holds no text.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from causalist.memory.document_text import library
from causalist.memory.documents import Document, Found
from causalist.memory.storage import stamp_of

FORMAT = 1
READING = 1  # changes whenever documents become other passages than before


class Read(NamedTuple):
    """One document: hash of its content and of what read it, links as they are written by id of the passage, in the
    order of the text, what could not be read of it, and which extractor found its entities."""

    digest: str
    links: Mapping[str, tuple[str, ...]]
    note: str
    extractor: str


def digest_of(found: Found, data: bytes | str) -> str:
    """Of a document's content, or of the reason why it cannot be had, and of what reads it."""
    digest = hashlib.blake2b(f"{READING}\0{library() if found.is_pdf else ''}\0".encode(), digest_size=16)
    digest.update(data.encode() if isinstance(data, str) else data)
    return digest.hexdigest()


def read_of(digest: str, passages: list[Document], note: str, extractor: str) -> Read:
    """What is kept of a document; references of `passages` are as they are written."""
    links = {each.id: tuple(each.metadata.get("references", ())) for each in passages}
    return Read(digest, links, note, extractor)


def known(memory: Path) -> dict[str, Read]:
    """Documents by name; none where nothing is known of this state of the memory."""
    try:
        data: Any = json.loads(_beside(memory).read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["memory"] != stamp_of(memory):
            return {}
        return {
            str(name): Read(
                str(each["digest"]),
                {str(passage): tuple(map(str, links)) for passage, links in each["links"].items()},
                str(each["note"]),
                str(each["extractor"]),
            )
            for name, each in data["documents"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def keep(memory: Path, documents: Mapping[str, Read]) -> None:
    """Writes it beside the memory. Where that fails all is read again next time, no more."""
    data = {
        "format": FORMAT,
        "memory": stamp_of(memory),
        "documents": {name: each._asdict() for name, each in sorted(documents.items())},
    }
    path = _beside(memory)
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    with suppress(OSError):
        try:
            aside.write_text(json.dumps(data), encoding="utf-8")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def _beside(memory: Path) -> Path:
    return memory.with_name(f"{memory.name}.read")
