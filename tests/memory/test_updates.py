"""A memory that changes passage by passage equals one built at once: arrays, names and graph, to the last bit."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from causalist._internal.dataclass_arrays import join_on_disk
from causalist.memory import HippoIndex
from causalist.memory import saved_memory as storage
from causalist.memory.entity_ids import entity_id
from causalist.memory.extractors import Entity, Extraction, Triple
from causalist.memory.matrix_splices import (
    Axis,
    Counted,
    Matrix,
    SortedStrings,
    SplicedColumn,
    StringNumbers,
    join_column,
    splice_counted,
    splice_matrix,
)
from causalist.memory.senses import NameSimilarity, _letters_of
from causalist.memory.walk import VARIANTS
from causalist.model.answer import RetrievalMode
from causalist.rank.terms import damerau_distance

# Mercury means something else in each world: other names and words stand around it.
WORLDS = (
    (("Mercury", "Sun", "Messenger Probe", "2024-05-01"), ("planet", "crater", "orbit", "sky")),
    (("Mercury", "Ford Motor", "Detroit", "10 ms"), ("engine", "dealer", "cylinder", "wheel")),
    (("Ada Byron", "Ledger", "access tokens", "access token", "Byron"), ("lunch", "token", "book", "river")),
)
WORDS = tuple(dict.fromkeys(name for names, _ in WORLDS for name in names))


def _passage(chance: random.Random, number: int) -> dict[str, Any]:
    about, filler = WORLDS[number % 3]
    names = [about[0], *(chance.choice(about) for _ in range(3))]
    text = ". ".join(f"the {chance.choice(filler)} of {name} and {chance.choice(filler)}" for name in names)
    metadata: dict[str, Any] = {"references": [f"p{chance.randrange(60)}"]} if chance.random() < 0.3 else {}
    if chance.random() < 0.4:
        metadata["path"] = f"doc{number % 3}-{chance.randrange(12)}"
    if chance.random() < 0.5:
        metadata["title"] = chance.choice([*WORDS, "Ada", "Byron", f"{chance.choice(WORDS)} {chance.choice(WORDS)}"])
    if chance.random() < 0.3:
        metadata["timestamp"] = f"2024-01-{1 + chance.randrange(28):02}"
    return {"id": f"p{number}", "text": f"{text}.", "metadata": metadata}


def _extract(text: str) -> Extraction:
    """Names of WORDS as entities, and a fact between the first two."""
    found = sorted((text.find(w), w) for w in WORDS if w in text)
    entities = tuple(Entity(w, "date" if w[0] == "2" else "measure" if w[0] == "1" else "entity", at)
                     for at, w in found for _ in range(text.count(w)))  # fmt: skip
    return Extraction(entities, (Triple(found[0][1], "knows", found[1][1], 0.8),) if len(found) > 1 else ())


def _state(index: HippoIndex) -> dict[str, Any]:
    """Everything that retrieval reads, independent of the numbers of strings."""
    snapshot, found = index.snapshot, {}
    arrays, names = snapshot.arrays, snapshot.names
    for field in ("mentions", "passages_by_entity", "similar", "explicit", "references", "forward"):
        matrix: Matrix | Counted = getattr(arrays, field)
        indices, values = join_column(matrix.indices), join_column(matrix.values)
        found[field] = (matrix.indptr.tolist(), indices.tolist(), values.tobytes(), matrix.n_columns)
    postings = arrays.postings
    found["postings"] = tuple(
        join_column(each).tobytes() for each in (postings.indptr, postings.documents, postings.counts, postings.norms)
    )
    found["lists"] = (list(arrays.passages), list(arrays.entities), list(arrays.terms), arrays.documents.tolist(),
                      arrays.times.tobytes(), dict(arrays.senses))  # fmt: skip
    found["positions"] = {name: snapshot.position_by_entity[name] for name in arrays.entities}
    strings = index.records.words.strings
    shown = [" ".join(strings[word] for word in words) for words in names.words]
    for field in ("naming", "defined", "own"):
        links = getattr(names, field)
        found[field] = [sorted(shown[name] for name in links.row(i).tolist()) for i in range(len(arrays.passages))]
    for field in ("named_by", "defining"):
        links = getattr(names, field)
        found[field] = {shown[k]: links.row(k).tolist() for k in range(len(shown)) if len(links.row(k))}
    rarities = names.specificity(np.arange(len(shown)))
    found["rare"] = {shown[k]: float(rarities[k]).hex() for k in range(len(shown)) if names.named_by.sizes[k]}
    defined = {length: sorted(shown[name] for name in each.numbers.tolist()) for length, each in names.patterns.items()}
    found["defined names"] = {length: each for length, each in defined.items() if each}
    found["text"] = (names.text.links.indptr.tolist(), [strings[word] for word in names.text.links.indices.tolist()])
    for name, variant in VARIANTS.items():
        graph = snapshot.memory_walk(variant).graph
        walk = graph.transition
        found[name] = (walk.indptr.tobytes(), walk.indices.tobytes(), walk.weights.tobytes(), graph.totals.tobytes())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5])
def test_changes_equal_building_at_once(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the index is saved and opened again on the way, whole or by what has changed."""
    monkeypatch.setattr(storage, "APPENDED_SHARE", 0.2 * (seed % 4 - 1))
    monkeypatch.setattr("causalist.memory.index._COMPACTED_PASSAGES", 10 if seed == 2 else 10_000)
    chance = random.Random(seed)
    now = {each["id"]: each for each in (_passage(chance, i) for i in range(40))}
    index = HippoIndex(entity_extractor=_extract)
    index.build_from_passages(now.values())
    _ = index.snapshot.names
    n_senses = 0
    for step in range(25):
        for _ in range(chance.choice([1, 1, 2, 5])):
            if chance.random() < 0.4 and len(now) > 30:
                passage = chance.choice(sorted(now))
                index.remove_passage(passage)
                del now[passage]
            else:
                each = _passage(chance, chance.randrange(70))
                now[each["id"]] = each
                index.build_from_passages([each])
        if seed % 2 and chance.random() < 0.6:
            index.save(tmp_path / "memory.db")
            index = HippoIndex.load(tmp_path / "memory.db", entity_extractor=_extract)
        if step % 3:
            _ = index.snapshot  # names are derived over two changes
            continue
        afresh = HippoIndex(entity_extractor=_extract)
        afresh.build_from_passages(now.values())
        one, other = _state(index), _state(afresh)
        assert one.keys() == other.keys()
        for part in one:
            assert one[part] == other[part], (step, part)
        n_senses += len(index.snapshot.arrays.senses)
        assert [index.passage(p) for p in index.passage_ids] == [afresh.passage(p) for p in afresh.passage_ids]
        assert [index.entity(e) for e in index.snapshot.arrays.entities] == [
            afresh.entity(e) for e in afresh.snapshot.arrays.entities
        ]
        assert index.to_node_link() == afresh.to_node_link()
        for name in ("Ada Byrom", "Byron Ada", "Knowledge Enginee"):
            known = [set(each.records.name_similarity.similar_names(entity_id(name))) for each in (index, afresh)]
            assert known[0] & set(afresh.snapshot.arrays.entities) == known[1]
    assert n_senses  # some names were ambiguous on the way


def test_a_small_change_builds_nothing_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chance = random.Random(1)
    index = HippoIndex()
    index.build_from_passages(_passage(chance, i) for i in range(40))
    index.retrieve("Ada Byron")

    def refuse(*_: object) -> None:
        raise AssertionError("built anew")

    monkeypatch.setattr("causalist.memory.index.build_counts", refuse)
    monkeypatch.setattr("causalist.memory.index.build_names", refuse)
    index.save(tmp_path / "memory.db")
    index = HippoIndex.load(tmp_path / "memory.db")
    index.add_passage("new", "Ada Byron\nShe wrote the first program.")
    assert [each.passage_id for each in index.retrieve("who wrote the first program", top_k=1)] == ["new"]


def test_a_file_that_is_changed_equals_one_that_is_built(tmp_path: Path) -> None:
    chance = random.Random(5)
    passages = [_passage(chance, i) for i in range(60)]
    built = HippoIndex()
    built.build_from_passages(passages)
    index = HippoIndex()
    index.build_from_passages(passages[:50])
    path = tmp_path / "memory.db"
    for start in range(50, 60, 2):
        index.remove_passage(str(passages[start]["id"]))
        index.save(path)
        index = HippoIndex.load(path)
        index.build_from_passages(passages[start : start + 2])
        index.remove_passage(str(passages[start - 50]["id"]))
        index.save(path)
        index = HippoIndex.load(path)
        index.build_from_passages(passages[start - 50 : start - 49])
    index.save(path)
    for question in ("Who is Ada Byron?", "the engine of Ford Motor in Detroit", str(passages[3]["text"])[:60]):
        for mode in RetrievalMode:
            found, wanted = (
                [(r.passage_id, r.score, r.ppr_score) for r in each.retrieve(question, mode=mode, top_k=60)]
                for each in (HippoIndex.load(path), built)
            )
            assert found == wanted and (found or mode is RetrievalMode.DENSE)


def test_a_spliced_matrix_has_the_entries_of_a_built_one() -> None:
    old = Matrix.from_entries(np.array([0, 0, 2]), np.array([0, 2, 1]), np.array([1.0, 2.0, 3.0]), (3, 3))
    rows, columns = Axis(np.array([0, -1, 2]), np.array([1]), 3), Axis(np.array([1, -1, 2]), np.array([0, 3]), 4)
    found, _ = splice_matrix(old, rows, columns, (np.array([0, 1]), np.array([3, 0])), np.array([8.0, 9.0]))
    # Row 0 keeps its columns 0 and 2, now 1 and 2; row 2 loses its only entry, of the column that is gone.
    assert found.indptr.tolist() == [0, 3, 4, 4]
    assert found.indices.tolist() == [1, 2, 3, 0]
    assert found.values.tolist() == [1.0, 2.0, 8.0, 9.0]


def test_sorted_strings_are_spliced() -> None:
    table = ["g", "f", "e", "d", "b", "a"]
    strings, axis = SortedStrings(table, np.array([4, 3, 1])).splice([1], {"a": 5, "e": 2, "g": 0})
    assert list(strings) == ["a", "b", "e", "f", "g"] and strings.numbers.tolist() == [5, 4, 2, 1, 0]
    assert (axis.place.tolist(), axis.fresh.tolist(), axis.n) == ([1, -1, 3], [0, 2, 4], 5)


def _two_worlds(beside: str, *, shared: str = "") -> list[dict[str, Any]]:
    """Four passages about each Mercury; all have `beside`, a name, and the words of `shared`."""
    return [
        {"id": f"{world}{i}", "text": f"The {world} of Mercury, {beside} and {other}: {words} {shared}."}
        for world, other, words in (
            ("orbit", "Messenger Probe", "crater ice moon comet dust ring"),
            ("engine", "Ford Motor", "dealer wheel brake paint tyre price"),
        )
        for i in range(4)
    ]


def test_a_name_beside_an_ambiguous_one_becomes_too_frequent_to_join_its_senses() -> None:
    index = HippoIndex()
    index.build_from_passages(_two_worlds("Hub City"))
    index.build_from_passages({"id": f"x{i}", "text": f"In Hub City was fair number {i}."} for i in range(12))
    assert index.entity("Mercury").senses == ()  # 20 documents name Hub City, which joins all eight
    index.add_passage("new", "There was rain in Hub City.")
    assert index.entity("Mercury").senses == ("mercury_(1)", "mercury_(2)")
    index.remove_passage("new")
    assert index.entity("Mercury").senses == ()


def test_senses_do_not_depend_on_how_rare_words_are() -> None:
    """So that a new passage changes senses of names beside its own alone."""
    index = HippoIndex()
    index.build_from_passages(_two_worlds("", shared="zinc"))
    senses = index.entity("Mercury").senses
    index.build_from_passages([{"id": f"y{i}", "text": "a mine of zinc"} for i in range(40)])
    assert index.entity("Mercury").senses == senses != ()
    everything = HippoIndex()
    everything.build_from_passages({"id": p, "text": index.passage(p)[0]} for p in index.passage_ids)
    assert everything.entity("Mercury").senses == senses


def test_facts_are_embedded_once() -> None:
    texts: list[str] = []

    def embed(batch: Sequence[str]) -> list[list[float]]:
        texts.extend(batch)
        return [[1.0 + text.count(letter) for letter in "aeiou"] for text in batch]

    index = HippoIndex(entity_extractor=_extract, embedder=embed, variant="hipporag2")
    index.build_from_passages(_passage(random.Random(1), i) for i in range(20))
    index.retrieve("who keeps the ledger")
    assert any("knows" in text for text in texts)
    texts.clear()
    index.retrieve("what orbits the sun")
    assert set(texts) == {"what orbits the sun"}


@pytest.mark.parametrize("seed", range(3))
def test_a_deferred_splice_equals_a_joined_one(seed: int) -> None:
    """Slices and positions are read without joining, and joining gives the same."""
    chance = np.random.default_rng(seed)
    old = Matrix.from_entries(chance.integers(0, 6, 30), chance.integers(0, 7, 30), np.ones(30), (6, 7))
    rows, columns = Axis(np.array([0, 1, 3, 4, 5, 7]), np.array([2, 6]), 8), Axis(np.arange(7) + 1, np.array([0]), 8)
    new = (np.array([0, 2, 2, 7]), np.array([0, 3, 5, 0]))
    values = np.array([4.0, 5.0, 6.0, 7.0])
    joined, _ = splice_matrix(old, rows, columns, new, values)
    deferred = splice_counted(Counted.of(old), rows, columns, new, values)
    assert isinstance(deferred.indices, SplicedColumn) and isinstance(deferred.values, SplicedColumn)
    assert deferred.indptr.tolist() == joined.indptr.tolist()
    wanted = chance.permutation(8)
    for name in ("indices", "values"):
        whole, part = getattr(joined, name), getattr(deferred, name)
        assert len(part) == len(whole)
        for start in range(len(whole) + 1):
            for stop in range(len(whole) + 2):
                assert part[start:stop].tolist() == whole[start:stop].tolist()
    for k in range(3):
        assert deferred.gather(wanted)[k].tolist() == joined.gather(wanted)[k].tolist()
    assert join_column(deferred.indices).tobytes() == joined.indices.tobytes()
    assert join_column(deferred.values).tobytes() == join_column(joined.values).tobytes()


def test_large_arrays_are_joined_on_disk_or_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causalist._internal.dataclass_arrays._LARGE_BYTES", 8)
    pieces = [np.zeros((0, 2), dtype=np.int32), np.array([[1, 2], [3, 4]], dtype=np.int32)]
    on_disk = join_on_disk(pieces)
    assert (on_disk.tolist(), on_disk.dtype, on_disk.flags.owndata) == ([[1, 2], [3, 4]], np.int32, False)

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("tempfile.TemporaryFile", fail)
    in_memory = join_on_disk(pieces)
    assert (in_memory.tolist(), in_memory.flags.owndata) == ([[1, 2], [3, 4]], True)


def test_words_with_other_letters_are_told_apart_before_they_are_compared() -> None:
    """Two slips change four letters at most, so that no similar word is passed over."""
    similar = NameSimilarity()
    words = ["meridian", "meridain", "meridxay", "orbiting", "merxdiaz"]  # swapped; two others; none; two others
    for word in words:
        similar.add(word)
    close = {other for other in words if damerau_distance("meridian", other, 2) <= 1}
    assert set(similar.similar_names("meridian")) == close == {"meridian", "meridain"}
    assert (_letters_of("abcd") ^ _letters_of("abef")).bit_count() == 4


def test_a_matrix_transposed_in_parts_equals_one_transposed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = Matrix(np.array([0, 2, 2, 5]), np.array([1, 3, 0, 1, 3], dtype=np.int32), np.array([4, 5, 6, 7, 8]), 4)
    monkeypatch.setattr("causalist._internal.dataclass_arrays.ENTRIES_AT_ONCE", 2)  # cuts the last row
    monkeypatch.setattr("causalist._internal.dataclass_arrays._LARGE_BYTES", 8)
    turned = matrix.transpose()
    assert turned.indptr.tolist() == [0, 1, 3, 3, 5]
    assert (turned.indices.tolist(), turned.values.tolist()) == ([2, 0, 2, 0, 2], [6, 4, 7, 5, 8])
    assert (turned.n_rows, turned.n_columns, turned.indices.flags.owndata) == (4, 3, False)


def test_numbers_of_strings_stay_and_their_order_is_alphabetical(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("causalist.memory.matrix_splices._FEW_ASKED", 2)
    chance, numbers, wanted = random.Random(1), StringNumbers(), dict[str, int]()
    for step in range(120):
        # Many begin with the same eight bytes, have a zero byte or a letter of several bytes across the eighth.
        word = "".join(chance.choices(["same be", "g", "\0", "é", "東"], k=chance.choice([1, 2, 3])))
        assert numbers.get(word) == wanted.get(word, -1)
        assert numbers.intern(word) == wanted.setdefault(word, len(wanted))
        assert numbers.intern(word) == wanted[word]
        if step % 25 == 24:
            numbers.get("not there")
            numbers.compact()
            assert [list(numbers.strings)[n] for n in numbers.pack()["order"].tolist()] == sorted(wanted)
    assert numbers.get("not there") == -1
    assert numbers.intern("not there") == len(wanted)


def test_a_build_in_blocks_and_files_equals_one_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chance = random.Random(0)
    passages = [_passage(chance, i) for i in range(18)]
    at_once = HippoIndex(entity_extractor=_extract)
    at_once.build_from_passages(passages)
    wanted = _state(at_once)
    assert at_once.snapshot.arrays.senses  # a name has two
    for name, value in (
        ("causalist._internal.dataclass_arrays.ENTRIES_AT_ONCE", 7),
        ("causalist._internal.dataclass_arrays._LARGE_BYTES", 400),
        ("causalist.memory.count_matrices._MENTIONS_AT_ONCE", 3),
        ("causalist.memory.index._COMPACTED_PASSAGES", 6),
        ("causalist.memory.matrix_splices._FEW_ASKED", 3),
        ("causalist.memory.index._BATCH_PASSAGES", 4),
    ):
        monkeypatch.setattr(name, value)
    index = HippoIndex(entity_extractor=_extract)
    index.build_from_passages(passages)
    assert (index.records.touched, index.records.unsaved) == (None, None)  # all are new, and need no list
    assert _state(index) == wanted
    index.save(tmp_path / "m")
    assert _state(HippoIndex.load(tmp_path / "m", entity_extractor=_extract)) == wanted
