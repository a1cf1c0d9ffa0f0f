"""Saving, loading, exchanging; damage."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from causalist.errors import IndexNotWritable, IndexUnreadable
from causalist.memory import Entity, Extraction, HippoIndex, Triple
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


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE array SET dtype = 'object' WHERE name = 'mentions'",
        "UPDATE passage SET text = 'other' WHERE number = 0",
        "DELETE FROM list WHERE name = 'word'",
        "UPDATE meta SET value = '99' WHERE key = 'format'",
        "DROP TABLE triple",
    ],
)
def test_what_others_wrote_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "m"
    team().save(path)
    with sqlite3.connect(path) as database:
        database.execute(change)
    with pytest.raises(IndexUnreadable):
        HippoIndex.load(path)


def test_numbers_out_of_range_are_refused_even_with_a_checksum(tmp_path: Path) -> None:
    from causalist.memory import saved_memory

    path = tmp_path / "m"
    team().save(path)
    with sqlite3.connect(path) as database:
        (data,) = database.execute("SELECT data FROM array WHERE name = 'mentions'").fetchone()
        wrong = (1_000_000).to_bytes(4, "little") + data[4:]
        database.execute("UPDATE array SET data = ? WHERE name = 'mentions'", (wrong,))
        database.execute("UPDATE meta SET value = ? WHERE key = 'checksum'", (saved_memory._checksum(database),))
    with pytest.raises(IndexUnreadable, match="outside of the"):
        HippoIndex.load(path)


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
