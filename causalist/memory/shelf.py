"""A memory in a file: opened, brought up to date with documents, saved under a lock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from causalist.errors import IndexNotWritable
from causalist.memory.documents import read_documents
from causalist.memory.entities import EntityExtractor
from causalist.memory.index import HippoIndex
from causalist.memory.llm_extractor import Estimate, LLMEntityExtractor
from causalist.source import find_root
from causalist.store import FOLDER, prepare_folder

NAME = "memory.db"
_PATIENCE_SECONDS = 600.0


class Added(NamedTuple):
    """What adding documents did; `passages` are those of the documents, `changed` the new or changed ones of them."""

    documents: int
    passages: int
    changed: int
    removed: int
    skipped: dict[str, str]


@dataclass(frozen=True, slots=True)
class Shelf:
    """`base`: paths of documents are relative to it."""

    path: Path
    base: Path

    @classmethod
    def at(cls, file: Path | None, folder: Path) -> "Shelf":
        """The memory in `file`, or that of the repository around `folder`."""
        base = find_root(folder)
        return cls(base / FOLDER / NAME if file is None else file, base)

    def opened(self, extractor: EntityExtractor | None = None) -> HippoIndex:
        """Raises IndexUnreadable where there is none."""
        return HippoIndex.load(self.path, entity_extractor=extractor)

    def model(self, name: str) -> LLMEntityExtractor:
        """A model's extractor whose answers are kept beside the memory. Raises ExtraMissing, ModelFailed."""
        if self.path.parent.name == FOLDER:
            prepare_folder(self.path.parent)
        return LLMEntityExtractor(name, cache=self.path.with_name(f"{self.path.name}.answers"))

    def add(
        self,
        places: Sequence[Path],
        extractor: EntityExtractor | None = None,
        approve: Callable[[Estimate], None] | None = None,
    ) -> Added:
        """Reads documents and saves. Documents that were below one of these folders and are not there any more are
        forgotten. `approve` is told what asking a model about new passages will take, and may raise. Raises
        NothingToIndex, IndexNotWritable, IndexUnreadable, ModelFailed."""
        from filelock import FileLock, Timeout

        reading = read_documents(places, self.base)
        if self.path.parent.name == FOLDER:
            prepare_folder(self.path.parent)
        try:
            with FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=_PATIENCE_SECONDS):
                index = self.opened(extractor) if self.path.exists() else HippoIndex(entity_extractor=extractor)
                if approve is not None and isinstance(extractor, LLMEntityExtractor):
                    new = [d.text for d in reading.passages if d.id not in index or index.passage(d.id)[0] != d.text]
                    approve(extractor.estimate(new))
                before = index.records.generation
                kept = {each.id for each in reading.passages}
                gone = [p for p in index.passage_ids if p not in kept and self._covers(places, index, p)]
                for passage in gone:
                    index.remove_passage(passage)
                index.build_from_passages(
                    {"id": each.id, "text": each.text, "metadata": each.metadata} for each in reading.passages
                )
                changed = index.records.generation - before - len(gone)
                if index.records.generation != before:
                    index.save(self.path)
        except Timeout:
            raise IndexNotWritable(f"another process is writing {self.path}; try again") from None
        except OSError as error:
            raise IndexNotWritable(f"cannot write {self.path}: {error.strerror or error}") from error
        return Added(len(reading.paths), len(reading.passages), changed, len(gone), reading.skipped)

    def _covers(self, places: Sequence[Path], index: HippoIndex, passage: str) -> bool:
        """Whether the document of a passage is, or lies below, one of the places."""
        path = index.passage(passage)[1].get("path")
        if not isinstance(path, str):
            return False
        whole = self.base / path
        return any(whole == place.resolve() or place.resolve() in whole.parents for place in places)
