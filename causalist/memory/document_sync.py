"""The memory of a repository in a file, kept equal to its documents.

A memory file is opened with the settings of the repository, updated from documents, and saved under a lock.
`memory.db.read` next to the memory lists the documents of the last update, so that another update reads changed
documents only. The list holds no text. It is valid for the memory whose checksum it names: after any other change of
the memory, all documents are read again. `memory.db.feedback` keeps which passages of answers were used.

Vectors in a memory are those of one embedder. An update of such a memory names the embedder again, because it may
send texts elsewhere.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from causalist.embed import get_embedder
from causalist.errors import IndexNotWritable, IndexUnreadable, UsageError
from causalist.memory.conflicts_and_confidence import ValidationSettings
from causalist.memory.document_text import pdf_library_version
from causalist.memory.documents import Document, DocumentFile, DocumentSet, find_documents
from causalist.memory.extractors import MAX_ENTITIES, EntityExtractor, Estimate, HandedTriples, LLMEntityExtractor
from causalist.memory.index import HippoIndex
from causalist.memory.pipeline import MemoryPipeline
from causalist.memory.retrieval import SIGNALS, RetrievalSettings
from causalist.memory.saved_memory import is_outdated, read_checksum, read_embedder_name
from causalist.memory.walk import get_variant
from causalist.model.answer import NO_EMBEDDER
from causalist.settings import Settings, read_settings
from causalist.source import find_root
from causalist.store import FOLDER, prepare_folder

FORMAT = 1
READER_VERSION = 6  # increased whenever the same document gives other passages


class DocumentRecord(NamedTuple):
    """State of a document at the last update.

    `digest`: hash of its content and of the reader version. `links`: references as written, by passage id, in text
    order. `note`: unreadable parts. `extractor`: name of the model that found its entities, or ""; `limit`: most of a
    passage.
    """

    digest: str
    links: Mapping[str, tuple[str, ...]]
    note: str
    extractor: str
    limit: int = MAX_ENTITIES


def compute_digest(file: DocumentFile, data: bytes | str) -> str:
    """Return a hash of a document's content (or of the reason for not reading it) and of its reader."""
    digest = hashlib.blake2b(
        f"{READER_VERSION}\0{pdf_library_version() if file.is_pdf else ''}\0".encode(), digest_size=16
    )
    digest.update(data.encode() if isinstance(data, str) else data)
    return digest.hexdigest()


def build_record(digest: str, passages: list[Document], note: str, extractor: str, limit: int) -> DocumentRecord:
    """Return the record of a document; the references of `passages` are as written."""
    links = {each.id: tuple(each.metadata.get("references", ())) for each in passages}
    return DocumentRecord(digest, links, note, extractor, limit)


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
                int(each.get("limit", MAX_ENTITIES)),
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

    @property
    def feedback_path(self) -> Path:
        """File of the feedback on answers."""
        return self.path.with_name(f"{self.path.name}.feedback")

    def settings(self) -> Settings:
        """Return the settings of the repository. Raises UsageError for invalid ones."""
        return read_settings(self.base)

    def default_embedder(self) -> str | None:
        """Return the embedder of the user or the settings if the memory has its vectors, else None."""
        name = self.settings().value("ask", "embedder")
        stored = read_embedder_name(self.path) if name not in (None, NO_EMBEDDER) else None
        return name if stored is not None and get_embedder(name).name == stored else None

    def open_pipeline(
        self,
        validation: ValidationSettings | None = None,
        *,
        embedder: str | None = None,
        variant: str | None = None,
        note: Callable[[str], None] | None = None,
    ) -> MemoryPipeline:
        """Return a pipeline over the memory, with its feedback. Raises what `open` raises."""
        index = self.open(note=note, embedder=embedder, variant=variant)
        return MemoryPipeline(index, validation=validation, feedback=self.feedback_path)

    def open(
        self,
        extractor: EntityExtractor | None = None,
        note: Callable[[str], None] | None = None,
        *,
        embedder: str | None = None,
        variant: str | None = None,
    ) -> HippoIndex:
        """Return the index, with the settings of the repository.

        `embedder`: name of the one whose vectors the memory has. `variant` replaces that of the settings. `note` is
        told of a damaged file, or one of an older format: the passages that can be read of it are read again and saved;
        the file itself is kept with ".damaged" behind its name. Raises IndexUnreadable if there is no memory, or
        nothing of it can be read, and UsageError for an embedder or a setting that does not fit.
        """
        options = {**read_options(self.settings(), variant), "entity_extractor": extractor}
        with_vectors = {**options, "embedder": None if embedder in (None, NO_EMBEDDER) else self._check(str(embedder))}
        try:
            index = HippoIndex.load(self.path, **with_vectors)
            if is_outdated(self.path) and (read_embedder_name(self.path) is None or index.vectors is not None):
                with suppress(OSError, IndexNotWritable):  # the next command then opens it at once
                    index.save(self.path)
            return index
        except IndexUnreadable as error:
            if not self.path.is_file() or self.path.suffix == ".json":
                raise
            index = HippoIndex.salvage(self.path, **options)
            if not len(index):
                raise
            aside = self.path.with_name(f"{self.path.name}.damaged")
            with suppress(OSError, IndexNotWritable):  # a folder that cannot be written keeps the file as it is
                shutil.copyfile(self.path, aside)
                index.save(self.path)
            if note is not None:
                note(f"{error}; {len(index)} passages of it were read again, the file is kept as {aside.name}")
            return index

    def _check(self, name: str) -> Any:
        """Return the embedder of that name. Raises UsageError if the memory has no vectors of it, ModelFailed."""
        embedder = get_embedder(name)
        stored = read_embedder_name(self.path)
        if self.path.is_file() and stored != embedder.name:
            stored_vectors = "no vectors" if stored is None else f"vectors of {stored or 'an unnamed embedder'}"
            raise UsageError(f"the memory has {stored_vectors}; `causalist memory add --embedder {name}` computes them")
        return embedder

    def build_extractor(self, name: str) -> LLMEntityExtractor:
        """Return the extractor of a model; it caches answers next to the memory. Raises ExtraMissing, ModelFailed."""
        if self.path.parent.name == FOLDER:
            prepare_folder(self.path.parent)
        least = self.settings().value("memory", "triple-confidence")
        return LLMEntityExtractor(name, cache=self.path.with_name(f"{self.path.name}.answers"), threshold=least)

    def add(
        self,
        places: Sequence[Path],
        extractor: EntityExtractor | None = None,
        approve: Callable[[Estimate], None] | None = None,
        note: Callable[[str], None] | None = None,
        *,
        embedder: str | None = None,
    ) -> UpdateResult:
        """Add or update the documents of files and folders, and save the memory.

        `embedder`: name of the one that computes vectors of all passages, "none" to drop them; a memory with vectors
        needs it. Only changed documents are read. Documents deleted from these folders are removed. A model reads again
        what was read without it. `approve` gets the estimate for new passages before a model is asked, and may raise.
        `note` is told of a damaged memory.

        Raises RepositoryNotFound, NothingToIndex, ExtraMissing, IndexNotWritable, IndexUnreadable, ModelFailed,
        UsageError.
        """
        skipped: dict[str, str] = {}
        gone = [place for place in places if not place.exists() and self._knows(place)]
        documents = find_documents([place for place in places if place not in gone], self.base, skipped)
        if self.path.parent.name == FOLDER:
            prepare_folder(self.path.parent)
        with self._hold_lock():
            return self._update(places, documents, skipped, extractor, approve, note, embedder)

    def put(self, passage_id: str, text: str, metadata: Mapping[str, Any] | None = None) -> bool:
        """Add or replace one passage that belongs to no document. Return True if something changed.

        Raises UsageError for an invalid passage, or a memory with vectors of another embedder than the default.
        """
        if self.path.parent.name == FOLDER:
            prepare_folder(self.path.parent)
        with self._hold_lock():
            embedder = self.default_embedder()
            if embedder is None and (stored := read_embedder_name(self.path)) is not None:
                raise UsageError(f"the memory has vectors of {stored}, which CAUSALIST_EMBEDDER has to name")
            before = known_files(self.path)
            index = self.open(embedder=embedder) if self.path.exists() else HippoIndex(**read_options(self.settings()))
            generation = index.records.generation
            index.add_passage(passage_id, text, metadata=metadata)
            if index.records.generation == generation:
                return False
            index.save(self.path)
            save_known_files(self.path, before)
            return True

    def remove(
        self, names: Sequence[str], note: Callable[[str], None] | None = None, readers: Collection[str] = ()
    ) -> list[str]:
        """Return the ids of passages removed by id, or by path of a document, as far as the readers may see them.

        Raises UsageError for an unknown one; so is one of which they may see nothing.
        """
        with self._hold_lock():
            index = self._open_with_vectors(note)
            visible = index.visible_to(readers)
            of = {name: set(visible.find_passages(name.__eq__)) for name in names}
            for name in names:
                of[name].update({name} if name in visible else ())
            unknown = [name for name, passages in of.items() if not passages]
            if unknown:
                raise UsageError(f"the memory has no passage or document {unknown[0]!r}")
            before = known_files(self.path)
            removed = list(dict.fromkeys(p for passages in of.values() for p in sorted(passages)))
            for passage in removed:
                index.remove_passage(passage)
            index.save(self.path)
            left = {n: each for n, each in before.items() if not any(p in each.links for p in removed)}
            save_known_files(self.path, left)
            return removed

    def status(self, note: Callable[[str], None] | None = None, readers: Collection[str] = ()) -> dict[str, Any]:
        """Return facts about the memory: file, documents, and counts of nodes and edges that the readers may see.

        `outdated`: documents that have changed or are gone since they were read.
        """
        index = self.open(note=note)
        visible = index.visible_to(readers)
        records = {
            name: record
            for name, record in known_files(self.path).items()
            if not record.links or any(passage in visible for passage in record.links)
        }
        outdated = []
        for name, record in records.items():
            path = self.base / name
            file = DocumentFile(name, path.parent, path.name, True)
            if not path.is_file() or compute_digest(file, file.read()) != record.digest:
                outdated.append(name)
        return {
            "memory": str(self.path),
            "bytes": self.path.stat().st_size,
            "embedder": read_embedder_name(self.path),
            "documents": len(records),
            "outdated": sorted(outdated),
            "unreadable": {name: record.note for name, record in sorted(records.items()) if record.note},
            "feedback": len(MemoryPipeline(index, feedback=self.feedback_path).store.rows),
            **visible.stats(),
        }

    def _open_with_vectors(self, note: Callable[[str], None] | None) -> HippoIndex:
        """Return the index for changes that embed nothing; it keeps the vectors of the file."""
        stored = read_embedder_name(self.path)
        if stored is None:
            return self.open(note=note)
        try:
            return HippoIndex.load(self.path, embedder=_StoredVectors(stored))
        except IndexUnreadable:
            return self.open(note=note)

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        """Hold the lock of the memory. Raises IndexNotWritable."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=_LOCK_TIMEOUT_SECONDS):
                yield
        except Timeout:
            raise IndexNotWritable(f"another process is writing {self.path}; try again") from None
        except OSError as error:
            raise IndexNotWritable(f"cannot write {self.path}: {error.strerror or error}") from error

    def _update(
        self,
        places: Sequence[Path],
        documents: Sequence[DocumentFile],
        skipped: dict[str, str],
        extractor: EntityExtractor | None,
        approve: Callable[[Estimate], None] | None,
        note: Callable[[str], None] | None,
        embedder: str | None,
    ) -> UpdateResult:
        before = known_files(self.path)
        places = [place.resolve() for place in places]
        stored = read_embedder_name(self.path)
        if stored is not None and (embedder := embedder or self.default_embedder()) is None:
            raise UsageError(
                f"the memory has vectors of {stored or 'an unnamed embedder'}; name it with --embedder, or drop them "
                f"with --embedder {NO_EMBEDDER}"
            )
        chosen = None if embedder in (None, NO_EMBEDDER) else get_embedder(str(embedder))
        has_vectors = chosen is not None and stored == chosen.name
        is_new = has_vectors != (chosen is not None or stored is not None)  # other vectors than those of the file
        options = read_options(self.settings())
        limit = options["max_entities"]
        model = extractor.name if isinstance(extractor, LLMEntityExtractor | HandedTriples) else ""
        digests = {each.name: compute_digest(each, each.read()) for each in documents}
        same = {
            each.name
            for each in documents
            if each.name in before
            and before[each.name].digest == digests[each.name]
            and model in ("", before[each.name].extractor)
            and before[each.name].limit == limit
            and not (each.is_named and before[each.name].note)
        }
        covered = {name for name in before if self._is_below(places, name)}
        if before and covered == set(digests) == same and not is_new:
            # Nothing has changed, so the memory is not loaded.
            skipped.update((name, before[name].note) for name in sorted(covered) if before[name].note)
            n_passages = sum(len(before[name].links) for name in covered)
            n_documents = sum(bool(before[name].links or not before[name].note) for name in covered)
            return UpdateResult(n_documents, n_passages, 0, 0, skipped)
        try:
            index = (
                self.open(extractor, note, embedder=embedder if has_vectors else None)
                if self.path.exists()
                else HippoIndex(entity_extractor=extractor, **options)
            )
        except IndexUnreadable as error:  # nothing of it can be read: the documents are
            self.path.replace(self.path.with_name(f"{self.path.name}.damaged"))
            index = HippoIndex(entity_extractor=extractor, **options)
            if note is not None:
                note(f"{error}; the documents are read again")
        reading = DocumentSet(skipped=skipped)
        read: dict[str, DocumentRecord] = {}
        for each in documents:
            record = before.get(each.name)
            if record is not None and each.name in same and all(passage in index for passage in record.links):
                reading.add_unchanged(
                    each.name, [_restore_document(index, p, links) for p, links in record.links.items()], record.note
                )
                read[each.name] = record
            else:
                data = each.read()
                passages = reading.add(each, data)
                read[each.name] = build_record(
                    compute_digest(each, data), passages, reading.skipped.get(each.name, ""), model, limit
                )
        known = index.find_passages(lambda path: self._is_below(places, path))
        if documents or not (before or known):  # a deleted folder leaves nothing to read
            reading = reading.with_resolved_references()
        other = {name for name in read if (before[name].limit if name in before else MAX_ENTITIES) != limit}
        again = {
            p for n, each in read.items() if n in other or (model and n not in same) for p in each.links if p in index
        }
        if approve is not None and isinstance(extractor, LLMEntityExtractor):
            new = [
                d.text
                for d in reading.passages
                if d.id not in index or d.id in again or index.passage(d.id)[0] != d.text
            ]
            approve(extractor.estimate(new))
        passage_ids = {each.id for each in reading.passages}
        gone = [p for p in known if p not in passage_ids]
        for passage in (*gone, *sorted(again)):
            index.remove_passage(passage)
        if chosen is not None and index.vectors is None:
            index.embed_with(chosen)
        before_put = index.records.generation
        index.build_from_passages(
            {"id": each.id, "text": each.text, "metadata": each.metadata} for each in reading.passages
        )
        changed = index.records.generation - before_put
        if changed or gone or is_new or not self.path.exists():
            index.save(self.path)
        elsewhere = {name: each for name, each in before.items() if name not in covered}
        save_known_files(self.path, {**elsewhere, **read})
        return UpdateResult(len(reading.paths), len(reading.passages), changed, len(gone), reading.skipped)

    def _knows(self, place: Path) -> bool:
        """Return True if the memory has read a document at or below a place, or has passages of one."""
        places = (place.resolve(),)
        if any(self._is_below(places, name) for name in known_files(self.path)):
            return True
        with suppress(IndexUnreadable):  # the list of documents is that of another state, such as before a repair
            return bool(self.open().find_passages(lambda path: self._is_below(places, path)))
        return False

    def _is_below(self, places: Sequence[Path], path: str) -> bool:
        """Return True if a document is, or is below, one of the places, which are resolved."""
        resolved = self.base / path
        return any(resolved == place or place in resolved.parents for place in places)


def _restore_document(index: HippoIndex, passage: str, links: tuple[str, ...]) -> Document:
    """Return a passage as it was read, with references as written."""
    text, metadata = index.passage(passage)
    plain = {key: value for key, value in metadata.items() if key != "references"}
    return Document(passage, text, {**plain, "references": list(links)} if links else plain)


@dataclass(frozen=True, slots=True)
class _StoredVectors:
    """Stands for the embedder of stored vectors where nothing is embedded."""

    name: str
    local: bool = True

    def embed(self, texts: Sequence[str]) -> Any:
        """Raise UsageError."""
        raise UsageError(f"{len(texts)} texts need the embedder {self.name}; name it with --embedder")


def read_options(settings: Settings, variant: str | None = None) -> dict[str, Any]:
    """Return the options of `HippoIndex` that settings define; `variant` replaces that of the settings."""
    chosen = get_variant(variant or settings.value("memory", "variant"))
    restart = settings.value("memory", "alpha")
    names = (*SIGNALS, "meaning")
    weights = {f"{name}_weight": settings.value("memory", f"{name.replace('_', '-')}-weight") for name in names}
    weight_options = {name: value for name, value in weights.items() if value is not None}
    top = settings.value("memory", "top-entities")
    return {
        "variant": chosen if restart is None else replace(chosen, damping=1.0 - restart),
        "settings": RetrievalSettings(
            top_k_entities=top,
            expand_hops=settings.value("memory", "expand-hops"),
            similarity_threshold=settings.value("memory", "similarity-threshold"),
            **weight_options,
        ),
        "max_entities": settings.value("memory", "max-entities"),
    }
