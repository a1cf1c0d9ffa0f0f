"""Saving, loading, exchanging; damage."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from causalist.errors import IndexNotWritable, IndexUnreadable
from causalist.memory import Entity, Extraction, HippoIndex, Triple
from causalist.memory import saved_memory as storage
from causalist.memory.document_sync import MemoryFile
from causalist.store.index_file import FileKind, map_arrays, write_arrays
from tests.memory.test_index import QUESTION, _embed, _fingerprint
from tests.memory.texts import team


def _typed(text: str) -> Extraction:
    entities = tuple(Entity(word, "concept", text.index(word)) for word in text.split() if word[0].isupper())
    triples = (Triple(entities[0].name, "leads to", entities[-1].name, 0.75),) if len(entities) > 1 else ()
    return Extraction(entities, triples, ("one line was no JSON",) if "odd" in text else ())


def _rich() -> HippoIndex:
    index = HippoIndex(entity_extractor=_typed)
    index.add_passage(
        "b", "Alpha meets Beta", metadata={"references": ["a"], "timestamp": "2024-01-02", "x": {"y": [1]}}
    )
    index.add_passage("a", "odd é Gamma \U0001f600 Alpha")
    index.add_passage("gone", "Delta Beta")
    index.remove_passage("gone")
    return index


@pytest.mark.parametrize("name", ["m.memory", "m.json"])
def test_what_is_saved_is_loaded(tmp_path: Path, name: str) -> None:
    for make in (team, _rich, HippoIndex):
        index = make()
        index.save(tmp_path / name)
        again = HippoIndex.load(tmp_path / name, entity_extractor=index.extractor)
        assert _fingerprint(again) == _fingerprint(index)
        assert [again.passage(p) for p in again.passage_ids] == [index.passage(p) for p in index.passage_ids]
        for entity in index.snapshot.arrays.entities:
            assert again.entity(entity) == index.entity(entity)
        # It goes on from there as the other one does.
        for each in (index, again):
            each.add_passage("z", "Alpha and Identity Team")
        assert _fingerprint(again) == _fingerprint(index)


def test_diagnostics_are_kept(tmp_path: Path) -> None:
    index = _rich()
    index.save(tmp_path / "m")
    assert HippoIndex.load(tmp_path / "m").diagnostics == {"a": ("one line was no JSON",)}


def test_vectors_are_kept_and_not_asked_for_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return _embed(texts)

    index = HippoIndex(embedder=embed)
    index.add_passage("a", "A Plane lands, says Sky Corp.")
    index.retrieve("Sky Corp")
    index.save(tmp_path / "m")
    asked.clear()
    again = HippoIndex.load(tmp_path / "m", embedder=embed)
    assert again.retrieve("wing", mode="dense") == index.retrieve("wing", mode="dense")
    assert asked == ["wing", "wing"]
    assert HippoIndex.load(tmp_path / "m").retrieve("Sky Corp")
    team().save(tmp_path / "n")
    with pytest.raises(IndexUnreadable, match="without an embedder"):
        HippoIndex.load(tmp_path / "n", embedder=embed)


@pytest.mark.slow
def test_every_changed_byte_is_noticed_or_harmless(tmp_path: Path) -> None:
    index = team()
    path = tmp_path / "m"
    index.save(path)
    data = path.read_bytes()
    expected = _fingerprint(index)
    n_refused = 0
    for at in range(0, len(data), max(1, len(data) // 150)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
        try:
            assert _fingerprint(HippoIndex.load(path)) == expected
        except IndexUnreadable:
            n_refused += 1
    assert n_refused > 5  # the rest is padding
    for cut in (0, 10, len(data) // 2, len(data) * 3 // 4):
        path.write_bytes(data[:cut])
        with pytest.raises(IndexUnreadable):
            HippoIndex.load(path)


def _change(path: Path, change: Callable[[dict[str, Any]], object], number: int = storage.FORMAT) -> None:
    """Write a memory file again with other arrays, and right checksums."""
    opened = map_arrays(path, storage._KIND)
    assert opened is not None
    arrays = {name: array.copy() for name, array in opened.arrays.items()}
    change(arrays)
    write_arrays(path, FileKind(storage._KIND.magic, number), {}, arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("words.blob"),
        lambda arrays: arrays.update({"words.offsets": arrays["words.offsets"] + 1}),
        lambda arrays: arrays.update({"passages.mentions.indptr": arrays["passages.mentions.indptr"] + 1}),
        lambda arrays: arrays.update({"passages.terms": arrays["passages.terms"][1:]}),
        lambda arrays: arrays.pop("passages.triples"),
        lambda arrays: arrays["passages.mentions"].__setitem__((0, 0), 1_000_000),
        lambda arrays: arrays["passages.words"].__setitem__(0, -1),
    ],
)
def test_what_others_wrote_is_refused_even_with_checksums(tmp_path: Path, change: Callable[[Any], object]) -> None:
    path = tmp_path / "m"
    team().save(path)
    _change(path, change)
    with pytest.raises(IndexUnreadable):
        HippoIndex.load(path)


def test_the_graph_of_the_format_before_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "m"
    team().save(path)
    _change(path, lambda arrays: arrays.update({"graph.totals": np.zeros(1)}), 8)
    assert storage.is_outdated(path)
    assert _fingerprint(HippoIndex.load(path)) == _fingerprint(team())


def test_another_format_is_refused_and_its_passages_are_found(tmp_path: Path) -> None:
    path = tmp_path / "m"
    team().save(path)
    _change(path, lambda arrays: None, storage.FORMAT + 1)
    with pytest.raises(IndexUnreadable, match="another format"):
        HippoIndex.load(path)
    assert HippoIndex.salvage(path).passage_ids == team().passage_ids


def test_terms_of_a_file_of_format_6_are_counted_again(tmp_path: Path) -> None:
    path, index = tmp_path / "m", HippoIndex()
    index.add_passage("a", "Zoë Müller leads the Café.")
    index.add_passage("b", "東京タワーは港区にある。")
    index.save(path)
    _change(path, lambda arrays: arrays["passages.terms"].__setitem__((slice(None), 1), 9), 6)
    loaded = HippoIndex.load(path)
    for query in ("cafe", "港区"):
        ((one, other),) = zip(loaded.retrieve(query), index.retrieve(query), strict=True)
        assert (one.passage_id, one.score) == (other.passage_id, other.score)
    assert storage.is_outdated(path)
    MemoryFile(path, tmp_path).open()  # writes it again
    assert not storage.is_outdated(path)
    assert HippoIndex.load(path).retrieve("cafe") == index.retrieve("cafe")


def test_senses_of_a_file_of_format_9_are_found_again(tmp_path: Path) -> None:
    path, index = tmp_path / "m", team()
    index.save(path)
    _change(path, lambda arrays: arrays["counts.labels"].__setitem__(slice(None), 1), 9)
    assert storage.is_outdated(path)
    assert _fingerprint(HippoIndex.load(path)) == _fingerprint(index)


def test_words_of_a_file_of_format_7_are_found_with_slips(tmp_path: Path) -> None:
    path, index = tmp_path / "m", HippoIndex()
    index.add_passage("a", "Constantinopel is a city.")
    index.save(path)
    whole = path.read_bytes()

    def make_older(arrays: dict[str, Any]) -> None:
        del arrays["similar.forms"], arrays["similar.form_words"]

    _change(path, make_older, 7)
    assert storage.is_outdated(path)
    loaded = HippoIndex.load(path)
    loaded.add_passage("b", "Constantinople has a wall.")
    assert loaded.synonym_graph() == {
        "constantinopel": {"constantinople": 1 - 1 / 14}, "constantinople": {"constantinopel": 1 - 1 / 14}
    }  # fmt: skip
    assert loaded.remove_passage("b")
    MemoryFile(path, tmp_path).open()  # writes it again
    assert path.read_bytes() == whole


def _write_format_5(path: Path, index: HippoIndex) -> None:
    """The database that this program wrote before, without the arrays that follow from the rest."""
    records, passages = index.records, index.passage_ids
    found = [records.passages[passage] for passage in passages]
    arrays: dict[str, Any] = {}
    for name, width in (("mentions", 4), ("terms", 2), ("defines", 1), ("words", 1)):
        parts = [getattr(record, name).reshape(-1, width) for record in found]
        arrays[name] = np.concatenate(parts)
        arrays[f"{name}.sizes"] = np.array([len(part) for part in parts], dtype=np.int64)
    if index.vectors is not None:
        arrays["vectors"] = index.vectors.matrix(passages)
        arrays["entity vectors"] = np.stack(list(index.vectors.entities.values()))
        numbers = [records.entities[name] for name in index.vectors.entities]
        arrays["entity vectors.numbers"] = np.array(numbers, dtype=np.int64)
    lists = {"entity": records.entities, "written": records.written, "term": records.terms, "word": records.words}
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE meta(key TEXT, value TEXT);"
            "CREATE TABLE passage(number INTEGER PRIMARY KEY, id TEXT, text TEXT, metadata TEXT);"
            "CREATE TABLE list(name TEXT, data TEXT);"
            "CREATE TABLE triple(passage INTEGER, subject INTEGER, predicate TEXT, object INTEGER, confidence REAL);"
            "CREATE TABLE diagnostic(passage INTEGER, detail TEXT);"
            "CREATE TABLE array(name TEXT, dtype TEXT, shape TEXT, data BLOB);"
        )
        for i, (passage, record) in enumerate(zip(passages, found, strict=True)):
            row = (i, passage, record.text, json.dumps(record.metadata))
            database.execute("INSERT INTO passage VALUES (?, ?, ?, ?)", row)
            database.executemany("INSERT INTO triple VALUES (?, ?, ?, ?, ?)", [(i, *each) for each in record.triples])
            notes = [(i, each) for each in index.diagnostics.get(passage, ())]
            database.executemany("INSERT INTO diagnostic VALUES (?, ?)", notes)
        for name, numbers_of in lists.items():
            database.execute("INSERT INTO list VALUES (?, ?)", (name, json.dumps(list(numbers_of.strings))))
        for name, array in arrays.items():
            row_of = (name, array.dtype.name, json.dumps(array.shape), array.tobytes())
            database.execute("INSERT INTO array VALUES (?, ?, ?, ?)", row_of)
        database.execute("INSERT INTO meta VALUES ('format', '5')")
        database.execute("INSERT INTO meta VALUES ('checksum', ?)", (storage._checksum(database),))


def test_a_file_of_the_format_before_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "m"
    for make in (team, _rich):
        index = make()
        path.unlink(missing_ok=True)
        _write_format_5(path, index)
        again = HippoIndex.load(path, entity_extractor=index.extractor)
        assert _fingerprint(again) == _fingerprint(index)
        assert again.diagnostics == index.diagnostics
        assert again.to_node_link() == index.to_node_link()  # with its triples
        again.save(path)
        assert path.read_bytes()[:16] == b"causalist memory"
        assert _fingerprint(HippoIndex.load(path)) == _fingerprint(index)


def test_vectors_of_the_format_before_are_kept(tmp_path: Path) -> None:
    index = HippoIndex(embedder=_embed)
    index.add_passage("a", "A Plane lands, says Sky Corp.")
    index.retrieve("Sky Corp")
    _write_format_5(tmp_path / "m", index)
    again = HippoIndex.load(tmp_path / "m", embedder=_embed)
    assert again.retrieve("wing", mode="dense") == index.retrieve("wing", mode="dense")


def test_a_damaged_file_of_the_format_before_gives_its_passages(tmp_path: Path) -> None:
    path = tmp_path / "m"
    _write_format_5(path, team())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE list SET data = '[]' WHERE name = 'word'")
    with pytest.raises(IndexUnreadable, match="checksum"):
        HippoIndex.load(path)
    assert HippoIndex.salvage(path).passage_ids == team().passage_ids


def test_a_failed_save_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    team().save(path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("causalist.memory.saved_memory.os.fsync", fail)
    with pytest.raises(IndexNotWritable, match="No space left"):
        _rich().save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["m"]
    with pytest.raises(IndexNotWritable):
        team().save(tmp_path / "missing" / "m")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nodes": 3, "links": []}', '{"nodes": [{"id": "a"}], "links": []}'])
def test_json_that_is_no_graph(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(IndexUnreadable):
        HippoIndex.load(tmp_path / "m.json")


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(IndexUnreadable, match="no memory at"):
        HippoIndex.load(tmp_path / "nothing")


def test_networkx_both_ways() -> None:
    index = _rich()
    graph = index.to_networkx()
    assert graph.nodes["chunk:a"]["type"] == "chunk"
    assert graph.nodes["entity:alpha"] == {
        "type": "concept", "entity_type": "concept", "canonical_name": "Alpha", "aliases": [], "frequency": 2,
    }  # fmt: skip
    kinds = sorted((a, b, data["type"]) for a, b, data in graph.edges(data=True))
    assert kinds == [
        ("chunk:a", "entity:alpha", "mentions"),
        ("chunk:a", "entity:gamma", "mentions"),
        ("chunk:b", "chunk:a", "references"),
        ("chunk:b", "entity:alpha", "mentions"),
        ("chunk:b", "entity:beta", "mentions"),
        ("entity:alpha", "entity:beta", "related_to"),
        ("entity:alpha", "entity:beta", "related_to"),
        ("entity:alpha", "entity:gamma", "related_to"),
        ("entity:gamma", "entity:alpha", "related_to"),
    ]
    assert _fingerprint(HippoIndex.from_networkx(graph)) == _fingerprint(index)


def test_a_graph_as_the_descriptions_have_it() -> None:
    """Node types, edge types and their metadata as others write them, without this program's additions."""
    data = {
        "nodes": [
            {"id": "chunk_1", "type": "chunk", "metadata": {"text": "Python is used for ML", "file_path": "ml.txt"}},
            {"id": "python", "type": "entity", "entity_type": "CONCEPT"},
            {"id": "ml", "type": "entity", "entity_type": "CONCEPT", "canonical_name": "ML"},
        ],
        "links": [
            {"source": "chunk_1", "target": "python", "type": "mentions", "count": 1, "positions": [0]},
            {"source": "chunk_1", "target": "ml", "type": "mentions"},
            {"source": "python", "target": "ml", "type": "related_to", "strength": 0.85, "co_occurrence_count": 28},
        ],
    }
    index = HippoIndex.from_node_link(data)
    (found,) = index.retrieve("ML")
    assert (found.passage_id, found.metadata, found.entity_hits) == (
        "chunk_1",
        {"file_path": "ml.txt"},
        ["ml", "python"],
    )


def test_node_link_is_plain_json() -> None:
    data = json.loads(json.dumps(_rich().to_node_link(), allow_nan=False))
    assert _fingerprint(HippoIndex.from_node_link(data)) == _fingerprint(_rich())
    assert QUESTION
