"""`HippoIndex`: passages and their entities, updated incrementally, with retrieval and neighborhoods of entities.

A neighborhood has the entities near others by hops, their synonyms, and facts about one entity.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import empty_on_disk, split_rows, unique_sorted
from causalist._internal.forked_task import trim_heap
from causalist.errors import IndexNotWritable, UnknownEntity, UsageError
from causalist.memory.count_matrices import (
    MAX_CHANGED_SHARE,
    NO_PATH,
    Counts,
    build_arrays,
    build_counts,
    types_and_aliases,
    update_counts,
)
from causalist.memory.defined_names import NOT_NAMED, Links, NamedPassage, Names, build_names, update_names
from causalist.memory.document_text import VISIBLE_TO, check_passage, clean_text, is_visible, list_names
from causalist.memory.entity_ids import entity_id
from causalist.memory.extractors import (
    MAX_ENTITIES,
    TYPES,
    Embedder,
    Entity,
    EntityExtractor,
    Extraction,
    RegexEntityExtractor,
    normalize_extraction,
)
from causalist.memory.matrix_splices import SortedStrings
from causalist.memory.passage_records import AnyRecord, Record, Records, Vectors
from causalist.memory.query_entities import FactFilter, LinkedEntities, link_query
from causalist.memory.retrieval import (
    Query,
    RetrievalSettings,
    RetrievedPassage,
    check_query,
    find_neighbors,
    rank_passages,
    says_against,
)
from causalist.memory.walk import Snapshot, Variant, get_variant
from causalist.model.answer import RetrievalMode

if TYPE_CHECKING:
    from causalist.memory.saved_memory import MemoryState


_NAME_TYPES = [i for i, name in enumerate(TYPES) if name not in ("date", "measure", "iri")]  # types that link passages
HOP_DECAY = 0.5  # weight of a seed per hop; chosen by hand
_MAX_ENTITIES_PER_HOP = 100  # the most strongly linked ones
_MAX_HOPS = 10


class Neighbor(NamedTuple):
    """An entity near another; `kinds` and `strength` are those of its links to entities one hop nearer."""

    entity: str
    hops: int
    strength: float
    kinds: tuple[str, ...]


class EntityInfo(NamedTuple):
    """An entity. `occurrences` count all passages; `aliases` are names as written, the most frequent first.

    `senses` are the entity ids of an ambiguous name; the other fields then cover all of them.
    """

    entity: str
    name: str
    type: str
    aliases: tuple[str, ...]
    occurrences: int
    passages: tuple[str, ...]
    senses: tuple[str, ...] = ()


def expand_linked(linked: LinkedEntities, snapshot: Snapshot, max_hops: int) -> LinkedEntities:
    """Return the linked entities and entities up to `max_hops` away; each hop adds the most strongly linked ones."""
    _check_hops(max_hops)
    matches = dict(linked.matches)
    frontier = np.array(sorted(matches), dtype=np.int64)
    for hop in range(1, max_hops + 1):
        strengths = _link_strengths(frontier, snapshot)
        new = np.array([e for e in strengths if e not in matches], dtype=np.int64)
        order = sorted(new.tolist(), key=lambda e: (-strengths[e], e))[:_MAX_ENTITIES_PER_HOP]
        if not order:
            break
        matches.update(dict.fromkeys(order, HOP_DECAY**hop))
        frontier = np.array(sorted(order), dtype=np.int64)
    return LinkedEntities(dict(sorted(matches.items())), linked.exact)


def add_synonyms(entities: Sequence[int], snapshot: Snapshot) -> list[str]:
    """Return ids of the entities and of all that a similarity edge joins to them, in alphabetical order."""
    near, _, _ = snapshot.arrays.similar.gather(np.array(sorted(set(entities)), dtype=np.int64))
    return [snapshot.arrays.entities[e] for e in sorted({*entities, *near.tolist()})]


def find_neighborhood(entities: Sequence[int], hops: int, snapshot: Snapshot) -> list[Neighbor]:
    """Return the neighbors of one entity, or of all senses of a name; by hops, then strength, then id."""
    _check_hops(hops)
    reached = set(entities)
    frontier = sorted(reached)
    neighbors: list[Neighbor] = []
    for hop in range(1, hops + 1):
        ends = np.array(frontier, dtype=np.int64)
        strengths, kinds = _link_strengths(ends, snapshot), _link_kinds(ends, snapshot)
        new = [e for e in strengths if e not in reached]
        neighbors += sorted(
            (Neighbor(snapshot.arrays.entities[e], hop, strengths[e], tuple(sorted(kinds[e]))) for e in new),
            key=lambda each: (-each.strength, each.entity),
        )
        reached.update(new)
        frontier = sorted(new)
        if not frontier:
            break
    return neighbors


def describe_entity(entities: Sequence[int], snapshot: Snapshot) -> EntityInfo:
    """Return the facts about one entity, or about all senses of a name."""
    arrays = snapshot.arrays
    kind, aliases = types_and_aliases(snapshot.records, arrays, entities)
    rows = [arrays.passages_by_entity.row(entity) for entity in entities]
    positions = sorted(position for passages, _ in rows for position in passages.tolist())
    number = int(arrays.entity_numbers[entities[0]])
    name = aliases[0] if aliases else snapshot.records.entities.strings[number].replace("_", " ")
    return EntityInfo(
        arrays.entities[entities[0]] if len(entities) == 1 else snapshot.records.entities.strings[number],
        name,
        kind,
        aliases,
        int(sum(counts.sum() for _, counts in rows)),
        tuple(arrays.passages[position] for position in positions),
        tuple(arrays.entities[entity] for entity in entities) if len(entities) > 1 else (),
    )


def build_synonym_graph(snapshot: Snapshot) -> dict[str, dict[str, float]]:
    """Return similarity edges as an adjacency: entity -> entity -> similarity."""
    similar, names = snapshot.arrays.similar, snapshot.arrays.entities
    similarities: dict[str, dict[str, float]] = {}
    for row, column, value in zip(
        similar.rows.tolist(), similar.indices.tolist(), similar.values.tolist(), strict=True
    ):
        similarities.setdefault(names[row], {})[names[column]] = value
    return similarities


def count_stats(snapshot: Snapshot) -> dict[str, int | float]:
    """Return counts of nodes and edges by kind, and the share of passages with entities."""
    arrays = snapshot.arrays
    return {
        "passages": arrays.n_passages,
        "entities": arrays.n_entities,
        "terms": len(arrays.terms),
        "mentions": len(arrays.mentions.indices),
        "similar_to": len(arrays.similar.indices) // 2,
        "triples": len(arrays.explicit.indices),
        "references": len(arrays.references.indices),
        "coverage": round(snapshot.coverage, 6),
    }


def _link_strengths(ends: NDArray[np.int64], snapshot: Snapshot) -> dict[int, float]:
    """Return the entities linked with any of `ends`: shared passages, similarities and confidences, added."""
    arrays = snapshot.arrays
    reached = find_neighbors(ends, snapshot)
    passages = arrays.passages_by_entity.columns_of(ends)[0]
    shared = arrays.mentions.columns_of(passages)[0]
    total = np.bincount(shared, minlength=arrays.n_entities).astype(np.float64)
    for matrix in (arrays.similar, arrays.explicit):
        columns, values, _ = matrix.gather(ends)
        total += np.bincount(columns, weights=values, minlength=arrays.n_entities)
    is_end = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_end[ends] = True
    back = is_end[arrays.explicit.indices]
    total += np.bincount(arrays.explicit.rows[back], weights=arrays.explicit.values[back], minlength=arrays.n_entities)
    return {e: float(total[e]) for e in reached.tolist() if not is_end[e]}


def _link_kinds(ends: NDArray[np.int64], snapshot: Snapshot) -> dict[int, set[str]]:
    arrays = snapshot.arrays
    passages = arrays.passages_by_entity.columns_of(ends)[0]
    kinds_by_entity: dict[int, set[str]] = {}
    is_end = np.zeros(arrays.n_entities, dtype=np.bool_)
    is_end[ends] = True
    lists = (
        ("co_occurrence", arrays.mentions.columns_of(passages)[0]),
        ("similar_to", arrays.similar.gather(ends)[0]),
        ("related_to", arrays.explicit.gather(ends)[0]),
        ("related_to", arrays.explicit.rows[is_end[arrays.explicit.indices]]),
    )
    for kind, entities in lists:
        for e in unique_sorted(entities).tolist():
            kinds_by_entity.setdefault(e, set()).add(kind)
    return kinds_by_entity


def _check_hops(hops: int) -> None:
    if not 1 <= hops <= _MAX_HOPS:
        raise UsageError(f"hops must be from 1 to {_MAX_HOPS}, not {hops}")


class HippoIndex:
    """A memory over free text.

    `entity_extractor`: text -> entities and triples. Without it, `llm` (a model of the `llm` library, or its name)
    finds them with `LLMEntityExtractor`; without both, patterns do (`RegexEntityExtractor`). `embedder`: texts ->
    vectors, for `dense` retrieval and for similar entities; without it, word associations and similar names replace
    vectors. `variant`: a name of `VARIANTS`. `fact_filter`: for variants with facts, (query, triples) -> relevant
    triples. `max_entities`: most entities of a passage; those that a model or spaCy finds are at most 20.

    Nothing leaves the machine unless a given model or embedder sends it. Adding passages is not thread-safe.

    >>> index = HippoIndex()
    >>> index.add_passage("a", "The JWT is checked by Alice Smith.")
    >>> index.add_passage("b", "Alice Smith leads the Platform Team.")
    >>> index.add_passage("c", "Lunch is served at noon.")
    >>> [found.passage_id for found in index.retrieve("Who checks the JWT?")]
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        llm: Any = None,
        entity_extractor: EntityExtractor | None = None,
        embedder: Embedder | None = None,
        variant: str | Variant = "log",
        settings: RetrievalSettings | None = None,
        fact_filter: FactFilter | None = None,
        max_entities: int = MAX_ENTITIES,
    ) -> None:
        """Create an empty index; the class describes the options."""
        if entity_extractor is None and llm is not None:
            from causalist.memory.extractors import LLMEntityExtractor

            entity_extractor = LLMEntityExtractor(llm)
        self.extractor: EntityExtractor = entity_extractor or RegexEntityExtractor(max(max_entities, MAX_ENTITIES))
        self.max_entities = max_entities
        self.variant = get_variant(variant) if isinstance(variant, str) else variant
        self.settings = settings or RetrievalSettings()
        self.fact_filter = fact_filter
        self.diagnostics: dict[str, tuple[str, ...]] = {}  # unusable extractor output by passage
        self.vectors = Vectors(embedder) if embedder is not None else None
        self.records = Records()
        self._view: tuple[int, Snapshot] | None = None
        self._derived: tuple[int, Counts, Names] | None = None
        self._visible: tuple[tuple[int, frozenset[str]], HippoIndex] | None = None  # the last one of other readers
        self._stored: tuple[Path, str] | None = None  # the file that was loaded or saved last, and its checksum
        self._is_whole = False  # that file can be appended to
        self._appended: set[str] = set()  # passages that changed since it was written whole

    # -- passages

    def add_passage(self, passage_id: str, text: str, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Add a passage, or replace the one with that id.

        The same text and metadata change nothing. Changed metadata alone do not repeat the extraction. Keys of
        `metadata` with a meaning: "title", "path" (one path is one document), "references" (ids of passages), and
        "timestamp" (ISO 8601, or seconds since 1970). Raises UsageError for an invalid passage.
        """
        self.build_from_passages([{"id": passage_id, "text": text, "metadata": metadata}])

    def build_from_passages(self, passages: Iterable[Mapping[str, Any]]) -> None:
        """Add many passages: mappings with `id`, `text` and optional `metadata`. Equal to adding them one by one."""
        for batch in _batch_passages(passages):
            fresh = [each for each in batch if self._is_new_text(each[0], each[1])]
            if self.vectors is not None and fresh:
                vectors = self.vectors.embed([text for _, text, _ in fresh])
                self.vectors.passages.update(zip((each[0] for each in fresh), vectors, strict=True))
            for passage_id, text, metadata in batch:
                self._put(passage_id, text, metadata)
            n_own = len(self.records.passages.own)
            if n_own > max(_COMPACTED_PASSAGES, min(len(self) // 8, _MAX_OWN_PASSAGES)):
                self._compact()

    def _compact(self) -> None:
        """Put all records into arrays, and forget which passages changed if they are too many for an update."""
        self.records.compact()
        touched, unsaved = self.records.touched, self.records.unsaved
        if touched is not None and (
            self._derived is None or len(touched) > MAX_CHANGED_SHARE * len(self._derived[1].passages)
        ):
            self.records.touched = None
        if unsaved is not None and len(unsaved) > MAX_CHANGED_SHARE * len(self):
            self.records.unsaved = None
        trim_heap()  # the records were in small pieces, which would stay

    def remove_passage(self, passage_id: str) -> bool:
        """Remove a passage. Return True if it existed."""
        if self.vectors is not None:
            self.vectors.passages.pop(passage_id, None)
        self.diagnostics.pop(passage_id, None)
        return self.records.remove(passage_id)

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self.records.passages)

    def __contains__(self, passage_id: str) -> bool:
        """Return True if there is a passage of that id."""
        return passage_id in self.records.passages

    def passage(self, passage_id: str) -> tuple[str, Mapping[str, Any]]:
        """Return (text, metadata) of a passage. Raises UsageError for an unknown id."""
        record = self.records.passages.get(passage_id)
        if record is None:
            raise UsageError(f"unknown passage {passage_id!r}")
        return record.text, record.metadata

    @property
    def passage_ids(self) -> list[str]:
        """Ids of all passages in alphabetical order."""
        return sorted(self.records.passages)

    def find_passages(self, is_wanted: Callable[[str], bool]) -> list[str]:
        """Return the ids of the passages whose path, from their metadata, is wanted, in alphabetical order."""
        counts, _ = self._derive()
        names = enumerate(counts.document_names)
        wanted = [i for i, name in names if not name.startswith(NO_PATH) and is_wanted(name)]
        return list(SortedStrings(counts.passages.strings, counts.passages.numbers[np.isin(counts.documents, wanted)]))

    # -- queries

    def retrieve(
        self,
        query: str,
        *,
        top_k: int = 10,
        ppr_alpha: float | None = None,
        max_iter: int = 50,
        tol: float = 1e-6,
        mode: str | RetrievalMode = RetrievalMode.HIPPO,
        variant: str | Variant | None = None,
        readers: Collection[str] | None = None,
    ) -> list[RetrievedPassage]:
        """Return the best passages, best first; fewer than `top_k` if fewer match.

        `mode`: "hippo", "dense", "sparse" or "hybrid" (see `memory.retrieval`). `ppr_alpha`: probability of a restart;
        default 0.15, or that of the variant. `readers`: only passages that one of them may see, () for those that
        everyone may; None for all passages. Raises EmptyQuestion, UsageError.
        """
        check_query(query, top_k)
        built_query = self._build_query(clean_text(query), ppr_alpha, max_iter, tol, variant)
        try:
            chosen = RetrievalMode(mode)
        except ValueError:
            raise UsageError(f"unknown mode {mode!r}; the modes are {', '.join(RetrievalMode)}") from None
        snapshot = (self if readers is None else self.visible_to(readers)).snapshot
        return self._rank(built_query, snapshot, chosen, top_k)

    def retrieve_multi_hop(
        self,
        query: str,
        *,
        max_hops: int = 3,
        top_k: int = 10,
        ppr_alpha: float | None = None,
        max_iter: int = 50,
        tol: float = 1e-6,
        readers: Collection[str] | None = None,
    ) -> list[RetrievedPassage]:
        """Retrieve as `retrieve` does, with seeds also on entities up to `max_hops` away; each hop halves the weight.

        Raises EmptyQuestion, UsageError.
        """
        check_query(query, top_k)
        query = clean_text(query)
        snapshot = (self if readers is None else self.visible_to(readers)).snapshot
        linked = expand_linked(link_query(query, snapshot, self.extractor), snapshot, max_hops)
        built_query = self._build_query(query, ppr_alpha, max_iter, tol, None)
        return self._rank(built_query, snapshot, RetrievalMode.HIPPO, top_k, linked)

    def expand_with_synonyms(self, entities: Sequence[str]) -> list[str]:
        """Return ids of these entities (names or ids) and of all entities that a similarity edge joins to them."""
        return add_synonyms([each for name in entities for each in self._find_entities(name)], self.snapshot)

    def entity_neighborhood(self, entity: str, hops: int = 1) -> "list[Neighbor]":
        """Return entities at most `hops` away, nearest first, with the kinds of their links.

        An ambiguous name covers all its senses; the id of one sense, like `mercury_(2)`, covers that one. Raises
        UnknownEntity, UsageError.
        """
        return find_neighborhood(self._find_entities(entity), hops, self.snapshot)

    def entity(self, name: str) -> "EntityInfo":
        """Return type, aliases, counts and passages of an entity. Raises UnknownEntity."""
        return describe_entity(self._find_entities(name), self.snapshot)

    def synonym_graph(self) -> dict[str, dict[str, float]]:
        """Return similarity edges as an adjacency: entity -> entity -> similarity, in alphabetical order."""
        return build_synonym_graph(self.snapshot)

    def stats(self) -> dict[str, int | float]:
        """Return counts of nodes and edges by kind, and the share of passages with entities."""
        return count_stats(self.snapshot)

    get_entity_neighborhood = entity_neighborhood  # its name in the published description

    def visible_to(self, readers: Collection[str]) -> "HippoIndex":
        """Return the index of the passages that one of `readers`, or one name, may see, () for those of everyone.

        Entities that only other passages name are not in it. It shares the records of this one: do not change it.
        """
        passages, key = self.records.passages, (self.records.generation, frozenset(list_names(readers)))
        if self._visible is not None and self._visible[0] == key:
            return self._visible[1]
        hidden = [p for p in passages.with_key(VISIBLE_TO) if not is_visible(passages[p].metadata, readers)]
        if not hidden:
            return self
        visible = HippoIndex(entity_extractor=self.extractor, variant=self.variant, settings=self.settings)
        visible.vectors = self.vectors
        visible._derived = (-1, *self._derive())  # removing them from it takes less time than building it
        visible.records = self.records.without(hidden)
        visible.records.touched = {passage: passages[passage] for passage in hidden}
        self._visible = (key, visible)
        return visible

    def embed_with(self, embedder: Embedder) -> None:
        """Compute the vectors of all passages anew. Raises UsageError, ModelFailed; then the index is unchanged."""
        vectors = Vectors(embedder)
        passages = self.passage_ids
        passage_vectors = vectors.embed([self.records.passages[passage].text for passage in passages])
        vectors.passages.update(zip(passages, passage_vectors, strict=True))
        self.vectors, self._view = vectors, None

    # -- disk

    def save(self, path: str | Path) -> None:
        """Write the index to one file, or to node-link JSON if the name ends in `.json`.

        The write is atomic. A change of few passages is appended to a large file that this index loaded or saved.
        Raises IndexNotWritable, also if another writer changed the file since then: load it again, or save to another
        file.
        """
        from causalist.memory import saved_memory

        file = Path(path)
        is_known = self._stored is not None and self._stored[0] == file.resolve()
        now = saved_memory.read_checksum(file) if is_known else ""
        if now and self._stored is not None and now != self._stored[1]:
            raise IndexNotWritable(f"another writer changed {path}; load it again, or save to another file")
        state = saved_memory.MemoryState(self.records, self.vectors, self.diagnostics)
        unsaved = self.records.unsaved
        n_changed = len(self) + 1 if unsaved is None else len(self._appended | unsaved)
        if file.suffix == ".json":
            saved_memory.save_node_link(file, self.to_node_link())
        elif (
            now
            and self._is_whole
            and self.vectors is None
            and n_changed <= len(self) * saved_memory.APPENDED_SHARE
            and (saved_memory.read_embedder_name(file) is None)
        ):
            if unsaved:
                saved_memory.append(file, state, unsaved, now)
                self._appended |= unsaved
        else:
            counts, names = self._derive()
            state = state._replace(counts=counts, names=names)
            if self.vectors is None:
                state = state._replace(arrays=self._build_snapshot().arrays)
            saved_memory.save(file, state)
            self._appended, self._is_whole = set(), True
        self.records.unsaved = set()
        self._stored = (file.resolve(), saved_memory.read_checksum(file))

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> "HippoIndex":
        """Return an index that `save` wrote; `options` are those of `HippoIndex`. Raises IndexUnreadable."""
        from causalist.memory import saved_memory

        index = cls(**options)
        stored = saved_memory.read_checksum(Path(path))
        index._restore(saved_memory.load(Path(path), options.get("embedder")))
        index._stored = (Path(path).resolve(), stored)
        return index

    @classmethod
    def salvage(cls, path: str | Path, **options: Any) -> "HippoIndex":
        """Return an index of the passages that can be read from a damaged file, or one of an older format.

        Entities are found again; vectors and triples of the file are lost.
        """
        from causalist.memory import saved_memory

        index = cls(**options)
        index.build_from_passages(saved_memory.read_passages(Path(path)))
        return index

    def to_node_link(self) -> dict[str, Any]:
        """Return the graph as node-link data; `from_node_link` restores the index from them."""
        from causalist.memory.saved_memory import node_link

        return node_link(self.snapshot)

    @classmethod
    def from_node_link(cls, data: Mapping[str, Any], **options: Any) -> "HippoIndex":
        """Return the index of node-link data. Raises IndexUnreadable if `data` is not such a graph."""
        from causalist.memory.saved_memory import read_node_link

        index = cls(**options)
        index._restore(read_node_link(data, options.get("embedder")))
        return index

    def to_networkx(self) -> Any:
        """Return a `networkx.MultiDiGraph` with the nodes and edges of `to_node_link`."""
        from causalist.memory.saved_memory import to_networkx

        return to_networkx(self.to_node_link())

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> "HippoIndex":
        """Return the index of a NetworkX graph. Raises IndexUnreadable if it is not a graph of a memory."""
        from causalist.memory.saved_memory import from_networkx

        return cls.from_node_link(from_networkx(graph), **options)

    @property
    def snapshot(self) -> Snapshot:
        """Current state of the index for queries; rebuilt after a change."""
        return self._build_snapshot().with_similarity(self.settings.similarity_threshold)

    def _build_snapshot(self) -> Snapshot:
        """Return the current state, with all similarity edges."""
        if self._view is None or self._view[0] != self.records.generation:
            counts, names = self._derive()
            pairs = None
            if self.vectors is not None:
                numbers = sorted(counts.names.numbers.tolist())
                self.vectors.update_pairs([self.records.entities.strings[n] for n in numbers])
                number = self.records.entities.by_string
                pairs = {(number[a], number[b]): v for (a, b), v in self.vectors.pairs.items()}
            arrays = build_arrays(self.records, pairs, counts)
            self._view = (self.records.generation, Snapshot(arrays, self.records, counts, names, self.vectors))
        return self._view[1]

    def _derive(self) -> tuple[Counts, Names]:
        """Return the counts and names of all records, from those before the last changes if these are few."""
        if self._derived is None or self._derived[0] != self.records.generation:
            updated = None
            if self._derived is not None and self.records.touched is not None:
                _, before, names_before = self._derived
                updated = update_counts(before, self.records, self.records.touched)
            if updated is None:
                if len(self.records.passages.own) > _COMPACTED_PASSAGES // 4:
                    self._compact()  # what is built then needs no strings in memory
                counts = build_counts(self.records)
                names = self._build_names()
            else:
                counts, rows = updated
                new = [self._with_names(counts.passages[position]) for position in rows.fresh.tolist()]
                names = update_names(names_before, rows, new, self.records.words_of_entity)
            self._derived = (self.records.generation, counts, names)
            self.records.touched = {}
        return self._derived[1:]

    def _build_names(self) -> Names:
        """Return the names of all records."""
        words, n_words = self.records.passages.stack("words")
        mentions, n_mentions = self.records.passages.stack("mentions")
        defines, n_defines = self.records.passages.stack("defines")
        text, mentioned, defined = (
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64) for sizes in (n_words, n_mentions, n_defines)
        )
        entities = empty_on_disk(len(mentions), np.int32)  # NOT_NAMED for dates, measures and IRIs
        for rows in split_rows(mentioned):
            part = slice(int(mentioned[rows.start]), int(mentioned[rows.stop]))
            is_name = np.isin(mentions[part, 2], _NAME_TYPES)
            entities[part] = np.where(is_name, mentions[part, 0], NOT_NAMED)
        names = build_names(
            Links(text, words), Links(mentioned, entities), Links(defined, defines), self.records.words_of_entity
        )
        self.records.words.compact()  # what was looked up there
        return names

    def _with_names(self, passage: str) -> NamedPassage:
        record = self.records.passages[passage]
        return NamedPassage(
            record.words, record.mentions[np.isin(record.mentions[:, 2], _NAME_TYPES), 0], record.defines
        )

    def _restore(self, state: "MemoryState") -> None:
        self.records, self.vectors, self.diagnostics, counts, names, arrays, changes, self._is_whole = state
        self._view = self._derived = None
        if counts is not None and names is not None:
            self._derived = (self.records.generation, counts, names)
            self.records.touched = {}
            if arrays is not None:
                self._view = (self.records.generation, Snapshot(arrays, self.records, counts, names))
        for change in changes:
            for passage in change.gone:
                self.remove_passage(passage)
            for passage, text, metadata, extraction in change.passages:
                self._put_extraction(passage, text, metadata, extraction)
        self._appended, self.records.unsaved = self.records.unsaved or set(), set()

    def _is_new_text(self, passage_id: str, text: str) -> bool:
        record = self.records.passages.get(passage_id)
        return record is None or record.text != text

    def _put(self, passage_id: str, text: str, metadata: Mapping[str, Any]) -> None:
        record = self.records.passages.get(passage_id)
        if record is not None and record.text == text:
            if record.metadata != metadata:
                self.records.restore(passage_id, self._with_metadata(record, passage_id, metadata))
            return
        self._put_extraction(passage_id, text, metadata, normalize_extraction(self.extractor(text), self.max_entities))

    def _put_extraction(self, passage_id: str, text: str, metadata: Mapping[str, Any], extraction: Extraction) -> None:
        self.records.put(passage_id, text, metadata, extraction)
        if extraction.diagnostics:
            self.diagnostics[passage_id] = extraction.diagnostics
        else:
            self.diagnostics.pop(passage_id, None)

    def _with_metadata(self, record: AnyRecord, passage_id: str, metadata: Mapping[str, Any]) -> Record:
        references = tuple(dict.fromkeys(r for r in metadata.get("references", ()) if r != passage_id))
        return Record(
            record.text,
            metadata,
            record.mentions,
            self.records.count_terms(record.text, metadata),
            self.records.find_defined_entities(record.text, metadata, record.mentions, record.triples),
            record.triples,
            references,
            record.words,
        )

    def _build_query(
        self, text: str, ppr_alpha: float | None, max_iter: int, tol: float, variant: str | Variant | None
    ) -> Query:
        if ppr_alpha is not None and not 0 < ppr_alpha <= 1:
            raise UsageError(f"ppr_alpha must be above 0 and at most 1, not {ppr_alpha}")
        if max_iter < 1:
            raise UsageError(f"max_iter must be at least 1, not {max_iter}")
        if not tol > 0:
            raise UsageError(f"tol must be above 0, not {tol}")
        chosen = self.variant if variant is None else get_variant(variant) if isinstance(variant, str) else variant
        damping = None if ppr_alpha is None else 1.0 - ppr_alpha
        return Query(text, chosen, self.settings, damping, max_iter, tol)

    def _rank(
        self, query: Query, snapshot: Snapshot, mode: RetrievalMode, n: int, linked: LinkedEntities | None = None
    ) -> list[RetrievedPassage]:
        found = rank_passages(query, snapshot, self.extractor, mode, n, linked=linked, fact_filter=self.fact_filter)
        if any(says_against(each, snapshot) for each in found):  # in few memories
            from causalist.memory.conflicts_and_confidence import mark_contradicted

            found = mark_contradicted(found, snapshot)
        return found

    def _find_entities(self, name: str) -> tuple[int, ...]:
        """Return the entities of a name, or the one of an id. Raises UnknownEntity."""
        position_by_entity = self.snapshot.position_by_entity
        if name in position_by_entity and name != entity_id(name):
            return (position_by_entity[name],)
        position = position_by_entity.get(entity_id(name), -1)
        if position < 0:
            similar = self.records.name_similarity.similar_names(entity_id(name))
            near = [other for other in similar if other in position_by_entity]
            hint = f"; similar: {', '.join(near[:5])}" if near else ""
            raise UnknownEntity(f"no passage names {name!r}{hint}")
        return self.snapshot.senses_of(position)


_BATCH_PASSAGES = 256
_COMPACTED_PASSAGES = 20_000  # passages in memory that are put into arrays while further ones are added
_MAX_OWN_PASSAGES = 50_000  # the same in a large memory, where that copies more


def _batch_passages(passages: Iterable[Mapping[str, Any]]) -> Iterable[list[tuple[str, str, Mapping[str, Any]]]]:
    """Yield batches of checked passages."""
    batch: list[tuple[str, str, Mapping[str, Any]]] = []
    for each in passages:
        if not isinstance(each, Mapping) or "id" not in each or "text" not in each:
            raise UsageError(f"a passage must be a mapping with id, text and metadata, not {str(each)[:80]!r}")
        metadata = check_passage(each["id"], each["text"], each.get("metadata"))
        batch.append((each["id"], clean_text(each["text"]), metadata))
        if len(batch) == _BATCH_PASSAGES:
            yield batch
            batch = []
    if batch:
        yield batch


__all__ = ["Entity", "HippoIndex", "types_and_aliases"]
