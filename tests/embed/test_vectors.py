"""Vectors beside an index: what is kept, what is made again, and what happens to files that are damaged."""

from pathlib import Path

import numpy as np
import pytest

from causalist.embed import VectorFile, embed_texts, read_vectors, vector_file_name, write_vectors
from causalist.errors import CausalistError, DeadlinePassed, ModelFailed
from causalist.index import embedding_similarity as module
from causalist.index.embedding_similarity import IndexVectors
from causalist.index.source_text import SourceText
from causalist.pipeline.repository import Repository
from tests.embed import fake

EMBEDDER = fake.local("")
NAME = vector_file_name(EMBEDDER.name)


def vectors_in(folder: Path, *places: Path) -> IndexVectors:
    repository = Repository.open(folder, exact_root=True)
    return IndexVectors(repository.index, SourceText(repository.index.manifest, repository.read), EMBEDDER, places)


def by_node(vectors: IndexVectors, stored: VectorFile) -> dict[str, list[float]]:
    ids = [vectors.index.graph.nodes.ids[int(node)] for node in vectors._nodes]
    return {name: stored.matrix[row].tolist() for name, row in zip(ids, stored.rows.tolist(), strict=True) if row >= 0}


def test_cosines_are_those_worked_out_by_hand(shop: Path) -> None:
    """The question is (1, 1, 0, 0, 1) / √3. `purge_client` has (2, 2, 0, 0, 1): its name stands in the first line
    and in the text, as does that of `bill`, (0, 0, 0, 2, 1). So the cosines are 5 / √(3 · 9) and 1 / √(3 · 5)."""
    vectors = vectors_in(shop)
    near = vectors.similarities("annihilate a patron")
    ids = vectors.index.graph.nodes.ids
    assert near[ids.position("people.py::purge_client")] == pytest.approx(5 / 27**0.5, abs=1e-3)
    assert near[ids.position("people.py::bill")] == pytest.approx(1 / 15**0.5, abs=1e-3)
    assert near[ids.position("people.py")] == 0.0


def test_refreshed_vectors_equal_those_made_afresh(shop: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    vectors_in(shop, one).current()
    (shop / "shelf.py").write_text("def store(thing):\n    return thing\n\n\ndef keep(it):\n    return it\n")
    (shop / "people.py").rename(shop / "clients.py")
    refreshed, afresh = vectors_in(shop, one), vectors_in(shop, two)
    assert by_node(refreshed, refreshed.current()) == by_node(afresh, afresh.current())
    near = refreshed.similarities("annihilate"), afresh.similarities("annihilate")
    assert near[0].tolist() == near[1].tolist()
    # A path is part of a text, so that what moved is new; the older texts stay behind those that are there.
    stored = read_vectors(one / NAME, EMBEDDER.name)
    assert stored is not None and (stored.n_live, len(stored.texts)) == (4, 7)


def test_what_is_come_back_to_is_not_embedded_again(shop: Path, tmp_path: Path) -> None:
    vectors_in(shop, tmp_path).current()
    before = (shop / "shelf.py").read_text()
    (shop / "shelf.py").write_text("def keep(it):\n    return it\n")
    vectors_in(shop, tmp_path).current()
    (shop / "shelf.py").write_text(before)
    fake.shown.clear()
    vectors_in(shop, tmp_path).current()
    assert fake.shown == []


def test_what_was_embedded_before_a_failure_is_kept(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH", 2)
    fake.failing_after.append(2)
    with pytest.raises(ModelFailed, match="nobody is there"):
        vectors_in(shop, tmp_path).current()
    assert [text.splitlines()[0] for text in fake.shown] == ["people.py bill", "people.py purge_client"]
    fake.failing_after.clear()
    fake.shown.clear()
    vectors = vectors_in(shop, tmp_path)
    assert len(by_node(vectors, vectors.current())) == 4
    assert [text.splitlines()[0] for text in fake.shown] == ["shelf.py other", "shelf.py store"]


def test_a_deadline_stops_between_batches(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH", 1)
    answers = iter([True, True, False])
    with pytest.raises(DeadlinePassed, match="2 of 4 definitions"):
        vectors_in(shop, tmp_path).current(go_on=lambda: next(answers))
    assert len(fake.shown) == 2


def test_progress_ends_where_everything_has_a_vector(shop: Path) -> None:
    told: list[tuple[str, int, int]] = []
    vectors_in(shop).current(lambda *each: told.append(each))
    assert told[-1] == ("embedding", 4, 4)


@pytest.mark.parametrize("at", [0, 20, 40, 300, -1])
def test_a_damaged_file_counts_as_none(shop: Path, tmp_path: Path, at: int) -> None:
    vectors_in(shop, tmp_path).current()
    path = tmp_path / NAME
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))
    assert read_vectors(path, EMBEDDER.name) is None
    vectors = vectors_in(shop, tmp_path)
    assert len(by_node(vectors, vectors.current())) == 4
    assert read_vectors(path, EMBEDDER.name) is not None


def test_files_of_others_and_halves_are_not_read(shop: Path, tmp_path: Path) -> None:
    vectors_in(shop, tmp_path).current()
    path = tmp_path / NAME
    assert read_vectors(path, "another") is None
    assert read_vectors(tmp_path / "absent", EMBEDDER.name) is None
    for n in (0, 10, 100, path.stat().st_size - 1):
        (tmp_path / "half").write_bytes(path.read_bytes()[:n])
        assert read_vectors(tmp_path / "half", EMBEDDER.name) is None
    (tmp_path / "link").symlink_to(path)
    assert read_vectors(tmp_path / "link", EMBEDDER.name) is None


def test_rows_outside_of_the_matrix_are_refused(tmp_path: Path) -> None:
    stored = VectorFile(
        "x",
        "",
        1,
        np.zeros((1, 16), dtype=np.uint8),
        np.array([7], dtype=np.int32),
        np.zeros((1, 16), dtype=np.uint8),
        np.ones((1, 3), dtype=np.float16),
    )
    write_vectors(tmp_path / "v", stored)
    assert read_vectors(tmp_path / "v", "x") is None


@pytest.mark.parametrize("given", [[[1.0], [2.0]], [1.0], [[float("nan")]], [[]], [["a"]]])
def test_what_is_no_vector_is_refused(given: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake.Fake, "embed", lambda self, texts: given)
    with pytest.raises(ModelFailed, match="the embedder fake:"):
        embed_texts(EMBEDDER, ["one"])


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(CausalistError, match="5 numbers, and 3 before"):
        embed_texts(EMBEDDER, ["one"], 3)
    assert np.allclose((embed_texts(EMBEDDER, ["annihilate", "x"]) ** 2).sum(axis=1), 1.0)
