"""The question encoder: its file, its arithmetic, and similarities over postings."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from causalist.errors import ModelFailed
from causalist.model.index import LexicalIndex, Postings
from causalist.model.string_table import StringTable
from causalist.rank.lexical import question_encoder
from causalist.rank.lexical.question_encoder import (
    FILE_SHARE,
    OUTPUT_LEVELS,
    QuestionEncoder,
    bag_similarities,
    compute_bag_norms,
    encoder_bytes,
    read_encoder,
    rows_of_terms,
    shipped_encoder,
    words_of,
)

STEMS = ("key", "lock", "open", "sure")


def tiny_arrays() -> dict[str, np.ndarray]:
    """Two numbers a word and no layer: the vector of a question is the mean of its normalized rows."""
    names = StringTable.from_strings(STEMS)
    rows = np.array([[3, 4], [4, 3], [0, 5], [-5, 0]], dtype=np.int8)
    ones, one = np.ones(2, dtype=np.float32), np.eye(2, dtype=np.int8)
    return {
        "stems.blob": names.blob, "stems.offsets": names.offsets,
        "rows": rows, "rows.scale": np.ones(4, dtype=np.float32),
        "input": rows, "input.scale": np.ones(4, dtype=np.float32),
        "positions": np.zeros((40, 2), dtype=np.float32),
        "enter": one, "enter.scale": ones, "enter.bias": 0 * ones,
        "leave": one, "leave.scale": ones, "leave.bias": 0 * ones,
        "norm.weight": ones, "norm.bias": 0 * ones,
    }  # fmt: skip


@pytest.fixture
def encoder(tmp_path: Path) -> QuestionEncoder:
    path = tmp_path / "encoder.bin"
    path.write_bytes(encoder_bytes({"layers": 0, "heads": 1}, tiny_arrays()))
    return read_encoder(path)


def lexical_of(
    documents: dict[int, dict[str, int]], encoder: QuestionEncoder | None, files: Sequence[int] = ()
) -> LexicalIndex:
    """Return an index of documents with these counts, without norms if there is no encoder.

    `files` are the file nodes of the documents; without them, each is a file of its own.
    """
    strings = sorted({term for counts in documents.values() for term in counts})
    rows = sorted((strings.index(term), n, count) for n, counts in documents.items() for term, count in counts.items())
    numbers, nodes, counts = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=len(strings)))])
    terms, n = StringTable.from_strings(strings), len(documents)
    none = np.zeros(0, dtype=np.int32)
    norms, file_norms = none.astype(np.float32), none.astype(np.float32)
    if encoder is not None:
        norms, file_norms = compute_bag_norms((nodes, numbers, counts), terms, np.array(files or range(n)), encoder)
    some = Postings(indptr.astype(np.int64), nodes, counts, np.ones(n), n)
    no_names = StringTable.from_strings(())
    start = np.zeros(1, dtype=np.int64)
    return LexicalIndex(terms, some, some, some, some, no_names, start, none, norms, file_norms)


def test_file_gives_back_what_was_written(encoder: QuestionEncoder) -> None:
    assert list(encoder.stems) == list(STEMS)
    assert encoder.rows.tolist() == tiny_arrays()["rows"].tolist()
    assert encoder.header == {"layers": 0, "heads": 1}


def test_shipped_file_is_what_is_written_of_its_content() -> None:
    shipped = shipped_encoder()
    arrays = {**shipped.arrays, "rows": shipped.rows, "rows.scale": shipped.scales}
    arrays |= {"stems.blob": shipped.stems.blob, "stems.offsets": shipped.stems.offsets}
    data = Path(question_encoder.__file__).with_name(question_encoder.FILE_NAME).read_bytes()
    assert encoder_bytes(shipped.header, arrays) == data


def test_terms_that_are_nearly_everywhere_do_not_hide_the_others(
    encoder: QuestionEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_encoder, "MAX_SUMMED_POSTINGS", 2)
    # "open" has the largest product with (0, 1), but three postings.
    lexical = lexical_of({0: {"open": 1, "key": 1}, 1: {"open": 1}, 2: {"open": 1}}, encoder)
    found = bag_similarities(np.array([0, 511], dtype=np.int16), lexical, np.arange(3, dtype=np.int32), encoder)
    assert found[0] > 0
    assert found[1:].tolist() == [0, 0]


def test_words_are_stems_in_their_order_with_stop_words() -> None:
    assert words_of("How sure are the openedLocks?") == ["how", "sure", "are", "the", "open", "lock"]


def test_question_is_the_mean_of_normalized_rows(encoder: QuestionEncoder) -> None:
    # (3, 4) has mean 3.5 and deviation .5: normalized (-1, 1). (4, 3): (1, -1). The rows cancel out.
    vector = encoder.encode("key")
    assert vector is not None
    assert vector.tolist() == [-OUTPUT_LEVELS, OUTPUT_LEVELS]
    both = encoder.encode("key lock")
    assert both is not None
    assert both.tolist() == [0, 0]


def test_unknown_words_have_no_vector(encoder: QuestionEncoder) -> None:
    assert encoder.encode("zebra") is None
    assert encoder.encode("") is None


def test_terms_without_a_row_have_minus_one(encoder: QuestionEncoder) -> None:
    terms = StringTable.from_strings(sorted(["lock", "openlock", "sure", "zebra"]))
    assert rows_of_terms(terms, encoder).tolist() == [1, -1, 3, -1]


def test_norms_and_similarities_are_those_of_summed_vectors(encoder: QuestionEncoder) -> None:
    # Document 0 has "key" three times and "open" once, document 1 "sure" twice, document 2 nothing that is known.
    # Documents 0 and 1 are in the file that is document 0.
    files = np.array([0, 0, 2], dtype=np.int32)
    lexical = lexical_of({0: {"key": 3, "open": 1}, 1: {"sure": 2}, 2: {"zebra": 7}}, encoder, files.tolist())
    first = np.array([3 * 3**0.7, 4 * 3**0.7 + 5])
    both = first + np.array([-5 * 2**0.7, 0])
    assert lexical.bag_norms.tolist() == pytest.approx([np.hypot(*first), 5 * 2**0.7, 0])
    assert lexical.file_bag_norms.tolist() == pytest.approx([np.hypot(*both), 0, 0])
    found = bag_similarities(np.array([0, 511], dtype=np.int16), lexical, files, encoder)
    own, of_file = first[1] / np.hypot(*first), both[1] / np.hypot(*both)
    assert found.tolist() == pytest.approx([own + FILE_SHARE * of_file, 0, 0], abs=1e-6)
    # The second document is opposite to (1, 0), and a cosine that is not positive counts as 0.
    assert bag_similarities(np.array([511, 0], dtype=np.int16), lexical, files, encoder)[1] == 0


def test_norm_of_a_document_does_not_depend_on_others(encoder: QuestionEncoder) -> None:
    rng = np.random.default_rng(3)
    documents = {n: {word: int(rng.integers(1, 9)) for word in STEMS} for n in range(5000)}
    together = lexical_of(documents, encoder).bag_norms
    for n in (0, 2047, 2048, 4999):
        alone = lexical_of({0: documents[n]}, encoder).bag_norms
        assert together[n].tobytes() == alone[0].tobytes()


def test_index_without_norms_is_said(encoder: QuestionEncoder) -> None:
    lexical = lexical_of({0: {"key": 1}}, None)
    with pytest.raises(ModelFailed, match="delete the folder"):
        bag_similarities(np.array([1, 1], dtype=np.int16), lexical, np.zeros(1, dtype=np.int32), encoder)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: b"", "cannot read|damaged"),
        (lambda data: data[:20], "damaged"),
        (lambda data: b"x" + data[1:], "not a question encoder"),
        (lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:], "digest"),
        (lambda data: data[:-1], "digest"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, damage: object, said: str) -> None:
    path = tmp_path / "encoder.bin"
    path.write_bytes(damage(encoder_bytes({"layers": 0, "heads": 1}, tiny_arrays())))  # type: ignore[operator]
    with pytest.raises(ModelFailed, match=said):
        read_encoder(path)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:22] + b"x" + data[23:], lambda data: b""]
)
def test_questions_refuse_files_of_another_length_or_form(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "encoder.bin"
    path.write_bytes(damage(encoder_bytes({"layers": 0, "heads": 1}, tiny_arrays())))  # type: ignore[operator]
    with pytest.raises(ModelFailed, match=r"cannot read|damaged"):
        read_encoder(path, is_checked=False)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFailed, match="cannot read"):
        read_encoder(tmp_path / "none.bin")


def test_shipped_encoder_keeps_its_size_and_places_synonyms_together() -> None:
    path = Path(question_encoder.__file__).with_name(question_encoder.FILE_NAME)
    assert path.stat().st_size <= 8_000_000

    def cosine(a: str, b: str) -> float:
        one, two = (shipped_encoder().encode(text) for text in (a, b))
        assert one is not None
        assert two is not None
        one, two = one.astype(float), two.astype(float)
        return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))

    assert cosine("how do I remove a user", "delete an account") > cosine("how do I remove a user", "draw a chart")
    assert cosine("the picture is too big", "image size limit") > cosine("the picture is too big", "parse a date")
