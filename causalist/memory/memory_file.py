"""Memory in a file: open it, update it from documents, and save it under a lock.

`memory.db.read` next to the memory lists the documents of the last update, so that another update reads changed
documents only. The list holds no text. It is valid for the memory whose checksum it names: after any other change of
the memory, all documents are read again.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from causalist.errors import IndexNotWritable
from causalist.memory.document_text import pdf_library_version
from causalist.memory.documents import Document, DocumentFile, DocumentSet, find_documents
from causalist.memory.entities import EntityExtractor
from causalist.memory.index import HippoIndex
from causalist.memory.llm_extractor import Estimate, LLMEntityExtractor
from causalist.memory.storage import read_checksum
from causalist.source import find_root
from causalist.store import FOLDER, prepare_folder

FORMAT = 1
READER_VERSION = 1  # increased whenever the same document gives other passages


class DocumentRecord(NamedTuple):
    """State of a document at the last update.

    `digest`: hash of its content and of the reader version. `links`: references as written, by passage id, in text
    order. `note`: unreadable parts. `extractor`: name of the model that found its entities, or "".
    """

    digest: str
    links: Mapping[str, tuple[str, ...]]
    note: str
    extractor: str


def compute_digest(found: DocumentFile, data: bytes | str) -> str:
    """Return a hash of a document's content (or of the reason for not reading it) and of its reader."""
    digest = hashlib.blake2b(
        f"{READER_VERSION}\0{pdf_library_version() if found.is_pdf else ''}\0".encode(), digest_size=16
    )
    digest.update(data.encode() if isinstance(data, str) else data)
    return digest.hexdigest()


def build_record(digest: str, passages: list[Document], note: str, extractor: str) -> DocumentRecord:
    """Return the record of a document; the references of `passages` are as written."""
    links = {each.id: tuple(each.metadata.get("references", ())) for each in passages}
    return DocumentRecord(digest, links, note, extractor)


def known_files(memory: Path) -> dict[str, DocumentRecord]:
    """Return document records by name; empty if they are missing or of another state of the memory."""
    try:
        data: Any = json.loads(_sidecar_path(memory).read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["memory"] != read_checksum(memory):
            return {}
        return {
            str(name): DocumentRecord(
                str(each["digest"]),
                {str(passage): tuple(map(str, links)) for passage, links in each["links"].items()},
                str(each["note"]),
                str(each["extractor"]),
            )
            for name, each in data["documents"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def save_known_files(memory: Path, documents: Mapping[str, DocumentRecord]) -> None:
    """Write the records next to the memory. A failed write only means that the next update reads all documents."""
    data = {
        "format": FORMAT,
        "memory": read_checksum(memory),
        "documents": {name: each._asdict() for name, each in sorted(documents.items())},
    }
    path = _sidecar_path(memory)
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    with suppress(OSError):
        try:
            aside.write_text(json.dumps(data), encoding="utf-8")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def _sidecar_path(memory: Path) -> Path:
    return memory.with_name(f"{memory.name}.read")


NAME = "memory.db"
_LOCK_TIMEOUT_SECONDS = 600.0


class UpdateResult(NamedTuple):
    """Counts of an update: `passages` of the documents, and `changed`, the new or changed ones among them."""

    documents: int
    passages: int
    changed: int
    removed: int
    skipped: dict[str, str]


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """File of a memory. Paths of documents are relative to `base`."""

    path: Path
    base: Path

    @classmethod
    def locate(cls, file: Path | None, folder: Path) -> "MemoryFile":
        """Return the memory in `file`, or that of the repository around `folder`."""
        base = find_root(folder)
        return cls(base / FOLDER / NAME if file is None else file, base)

    def open(self, extractor: EntityExtractor | None = None) -> HippoIndex:
        """Return the index. Raises IndexUnreadable if there is none."""
        return HippoIndex.load(self.path, entity_extractor=extractor)

    def build_extractor(self, name: str) -> LLMEntityExtractor:
        """Return the extractor of a model; it caches answers next to the memory. Raises ExtraMissing, ModelFailed."""
        if self.path.parent.name == FOLDER:
            prepare_folder(self.path.parent)
        return LLMEntityExtractor(name, cache=self.path.with_name(f"{self.path.name}.answers"))

    def add(
        self,
        places: Sequence[Path],
        extractor: EntityExtractor | None = None,
        approve: Callable[[Estimate], None] | None = None,
    ) -> UpdateResult:
        """Add or update the documents of files and folders, and save the memory.

        Only changed documents are read. Documents deleted from these folders are removed. A model reads again what was
        read without it. `approve` gets the estimate for new passages before a model is asked, and may raise.

        Raises RepositoryNotFound, NothingToIndex, ExtraMissing, IndexNotWritable, IndexUnreadable, ModelFailed.
        """
        from filelock import FileLock, Timeout

        skipped: dict[str, str] = {}
        found = find_documents(places, self.base, skipped)
        if self.path.parent.name == FOLDER:
            prepare_folder(self.path.parent)
        try:
            with FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=_LOCK_TIMEOUT_SECONDS):
                return self._update(places, found, skipped, extractor, approve)
        except Timeout:
            raise IndexNotWritable(f"another process is writing {self.path}; try again") from None
        except OSError as error:
            raise IndexNotWritable(f"cannot write {self.path}: {error.strerror or error}") from error

    def _update(
        self,
        places: Sequence[Path],
        found: Sequence[DocumentFile],
        skipped: dict[str, str],
        extractor: EntityExtractor | None,
        approve: Callable[[Estimate], None] | None,
    ) -> UpdateResult:
        before = known_files(self.path)
        model = extractor.name if isinstance(extractor, LLMEntityExtractor) else ""
        digests = {each.name: compute_digest(each, each.read()) for each in found}
        same = {
            each.name
            for each in found
            if each.name in before
            and before[each.name].digest == digests[each.name]
            and model in ("", before[each.name].extractor)
            and not (each.is_named and before[each.name].note)
        }
        covered = {name for name in before if self._is_below(places, name)}
        if before and covered == set(digests) == same:
            # Nothing has changed, so the memory is not loaded.
            skipped.update((name, before[name].note) for name in sorted(covered) if before[name].note)
            n_passages = sum(len(before[name].links) for name in covered)
            n_documents = sum(bool(before[name].links) for name in covered)
            return UpdateResult(n_documents, n_passages, 0, 0, skipped)
        index = self.open(extractor) if self.path.exists() else HippoIndex(entity_extractor=extractor)
        reading = DocumentSet(skipped=skipped)
        read: dict[str, DocumentRecord] = {}
        for each in found:
            known = before.get(each.name)
            if known is not None and each.name in same and all(passage in index for passage in known.links):
                reading.add_unchanged(
                    each.name, [_restore_document(index, p, links) for p, links in known.links.items()], known.note
                )
                read[each.name] = known
            else:
                data = each.read()
                passages = reading.add(each, data)
                read[each.name] = build_record(
                    compute_digest(each, data), passages, reading.skipped.get(each.name, ""), model
                )
        reading = reading.with_resolved_references()
        again = {p for name, each in read.items() if model and name not in same for p in each.links if p in index}
        if approve is not None and isinstance(extractor, LLMEntityExtractor):
            new = [
                d.text
                for d in reading.passages
                if d.id not in index or d.id in again or index.passage(d.id)[0] != d.text
            ]
            approve(extractor.estimate(new))
        kept = {each.id for each in reading.passages}
        gone = [p for p in index.passage_ids if p not in kept and self._contains_passage(places, index, p)]
        for passage in (*gone, *sorted(again)):
            index.remove_passage(passage)
        before_put = index.records.generation
        index.build_from_passages(
            {"id": each.id, "text": each.text, "metadata": each.metadata} for each in reading.passages
        )
        changed = index.records.generation - before_put
        if changed or gone or not self.path.exists():
            index.save(self.path)
        elsewhere = {name: each for name, each in before.items() if name not in covered}
        save_known_files(self.path, {**elsewhere, **read})
        return UpdateResult(len(reading.paths), len(reading.passages), changed, len(gone), reading.skipped)

    def _contains_passage(self, places: Sequence[Path], index: HippoIndex, passage: str) -> bool:
        """Return True if the document of a passage is, or is below, one of the places."""
        path = index.passage(passage)[1].get("path")
        return isinstance(path, str) and self._is_below(places, path)

    def _is_below(self, places: Sequence[Path], path: str) -> bool:
        whole = self.base / path
        return any(whole == place.resolve() or place.resolve() in whole.parents for place in places)


def _restore_document(index: HippoIndex, passage: str, links: tuple[str, ...]) -> Document:
    """Return a passage as it was read, with references as written."""
    text, metadata = index.passage(passage)
    plain = {key: value for key, value in metadata.items() if key != "references"}
    return Document(passage, text, {**plain, "references": list(links)} if links else plain)
