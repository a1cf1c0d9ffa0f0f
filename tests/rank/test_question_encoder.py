"""The question encoder: its file, its arithmetic, and similarities over postings."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from causalist.errors import ModelFailed
from causalist.model.index import LexicalIndex, Postings
from causalist.model.string_table import StringTable
from causalist.rank.lexical import question_encoder
from causalist.rank.lexical.question_encoder import (
    FILE_SHARE,
    NORM_OFFSET,
    OUTPUT_LEVELS,
    QuestionEncoder,
    bag_similarities,
    compute_bag_norms,
    encode_once,
    encoder_bytes,
    near_words,
    pack,
    pieces_of,
    read_encoder,
    rows_of_terms,
    shipped_encoder,
    similar_terms,
    unpack,
    without_unknown_names,
    words_of,
)
from causalist.rank.query.query import parse_query
from causalist.rank.scoring import signals
from causalist.rank.scoring.signals import similar_word_scores

STEMS = ("key", "lock", "open", "sure")


ROWS = [[3, 5], [5, 3], [1, 7], [-7, 1]]


def tiny_arrays() -> dict[str, np.ndarray]:
    """Two numbers a word and no layer: the vector of a question is the sum of its normalized pieces and edges.

    The edges are equal numbers, which normalize to 0.
    """
    names = StringTable.from_strings(STEMS)
    ones, zeros = np.ones(2, dtype=np.float32), np.zeros(2, dtype=np.float32)
    return {
        "stems.blob": names.blob, "stems.offsets": names.offsets,
        "pieces.blob": names.blob, "pieces.offsets": names.offsets,
        "rows": pack(np.array(ROWS, dtype=np.int8)), "rows.scale": np.ones(4, dtype=np.float32),
        "pieces.places": np.array([2, 3, 4, 5], dtype=np.uint16),
        "input": pack(np.array([[1, 1], [1, 1], *ROWS], dtype=np.int8)), "input.scale": np.ones(6, dtype=np.float32),
        "codes": np.zeros((0, 2), dtype=np.uint8), "codes.mean": zeros,
        "code vectors": np.zeros((2, 256, 1), dtype=np.int8), "code vectors.scale": np.ones((2, 1), dtype=np.float32),
        "positions": np.zeros((48, 2), dtype=np.float16),
        "leave": np.eye(2, dtype=np.int8), "leave.scale": ones, "leave.bias": zeros,
        "norm.weight": ones, "norm.bias": zeros,
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
    assert unpack(encoder.rows).tolist() == ROWS
    assert list(encoder.pieces) == list(STEMS)
    assert encoder.header == {"layers": 0, "heads": 1}


def test_shipped_file_is_what_is_written_of_its_content() -> None:
    shipped = shipped_encoder()
    arrays = {**shipped.arrays, "rows": shipped.rows, "rows.scale": shipped.scales}
    arrays |= {"stems.blob": shipped.stems.blob, "stems.offsets": shipped.stems.offsets}
    arrays |= {"pieces.blob": shipped.pieces.blob, "pieces.offsets": shipped.pieces.offsets}
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


def test_terms_that_mean_about_the_same_are_the_nearest_of_the_repository(encoder: QuestionEncoder) -> None:
    terms = StringTable.from_strings(["key", "lock", "open", "sure", "zebra"])
    (numbers, cosines), (unknown, _) = similar_terms(["key", "zebra"], terms, encoder)
    assert [terms[number] for number in numbers.tolist()] == ["open", "lock"]  # (3, 5) and (-7, 1) are far apart
    assert cosines.tolist() == pytest.approx([38 / math.sqrt(34 * 50), 30 / 34])
    assert unknown.tolist() == []


def test_the_best_similar_word_counts_for_what_it_has_over_the_word_of_the_query(
    encoder: QuestionEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "shipped_encoder", lambda: encoder)
    documents = {0: {"open": 1, "lock": 1}, 1: {"key": 1, "open": 1}, 2: {"zebra": 1}}
    lexical = lexical_of(documents, encoder)
    found = similar_word_scores(parse_query("key"), lexical, 3)
    # All counts and norms are 1, so that an impact is the idf times (1.2 + 1) / 2. "open" is in two of three documents
    # and "lock" in one; neither counts more than "key", which is as rare as "lock".
    in_one, in_two = (1.1 * math.log1p((3 - n + 0.5) / (n + 0.5)) for n in (1, 2))
    assert found.tolist() == pytest.approx([max(in_two * 38**2 / (34 * 50), in_one * (30 / 34) ** 2), 0, 0])


def test_words_are_stems_in_their_order_with_stop_words() -> None:
    assert words_of("How sure are the openedLocks?") == ["how", "sure", "are", "the", "open", "lock"]


def test_words_are_taken_apart_as_bert_does() -> None:
    numbers = {piece: i for i, piece in enumerate(["the", "lock", "##ed", "##s", "un", "##lock", "?", "cafe"])}
    found = pieces_of("The unlocked Caf\u00e9 locks?", lambda piece: numbers.get(piece, -1))
    assert found == [0, 4, 5, 2, 7, 1, 3, 6]
    # No piece begins "qed" and none continues "lockq": both words are left out.
    assert pieces_of("qed lockq lock", lambda piece: numbers.get(piece, -1)) == [1]


def test_question_is_the_sum_of_normalized_pieces(encoder: QuestionEncoder) -> None:
    # (3, 5) has mean 4 and deviation 1: normalized (-1, 1). (5, 3): (1, -1). The words cancel out.
    vector = encoder.encode("key")
    assert vector is not None
    assert vector.tolist() == [-OUTPUT_LEVELS, OUTPUT_LEVELS]
    both = encoder.encode("key lock")
    assert both is not None
    assert both.tolist() == [0, 0]


def test_rare_pieces_have_a_code_vector_for_each_part(tmp_path: Path) -> None:
    arrays = tiny_arrays()
    vectors = np.zeros((2, 256, 1), dtype=np.int8)
    vectors[0, 7], vectors[1, 9] = 4, -3
    arrays |= {
        "pieces.places": np.array([2, 3, 4, 6], dtype=np.uint16),  # "sure" comes after the six rows
        "codes": np.array([[7, 9]], dtype=np.uint8), "codes.mean": np.array([1, 0.5], dtype=np.float32),
        "code vectors": vectors, "code vectors.scale": np.array([[0.5], [2]], dtype=np.float32),
    }  # fmt: skip
    path = tmp_path / "encoder.bin"
    path.write_bytes(encoder_bytes({"layers": 0, "heads": 1}, arrays))
    vector = read_encoder(path).encode("sure")
    # (4 * 0.5 + 1, -3 * 2 + 0.5) = (3, -5.5) normalizes to (1, -1); its row, (-7, 1), would be (-1, 1).
    assert vector is not None
    assert vector.tolist() == [OUTPUT_LEVELS, -OUTPUT_LEVELS]


def test_pieces_are_multiplied_in_blocks_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    question = "where does the server lock a file before it is opened again"
    one_block = shipped_encoder().encode(question)
    monkeypatch.setattr(question_encoder, "_TOKENS", 5)
    blocks = shipped_encoder().encode(question)
    assert one_block is not None
    assert blocks is not None
    assert np.abs(one_block - blocks).max() <= 1  # levels of OUTPUT_LEVELS: sums may round otherwise


def test_numbers_of_four_bits_are_packed_low_halves_first() -> None:
    numbers = np.array([[-8, -7, 0, 7], [3, -1, -4, 5]], dtype=np.int8)
    # -8 is 0, -7 is 1, 0 is 8, 7 is 15; the third number shares a byte with the first.
    assert pack(numbers).tolist() == [[0 + 16 * 8, 1 + 16 * 15], [11 + 16 * 4, 7 + 16 * 13]]
    assert unpack(pack(numbers)).tolist() == numbers.tolist()


def test_layers_are_those_of_bert(tmp_path: Path) -> None:
    """One layer of one head, in plain Python: attention, then two matrices with GELU, normalized after each sum."""
    one, ones, zeros = np.eye(2, dtype=np.int8), np.ones(2, dtype=np.float32), np.zeros(2, dtype=np.float32)
    # The columns of the last matrix are two groups, the second with scale 2.
    down = np.array([[[1, 0], [-1, 1]], [[1, 0], [0, -1]]], dtype=np.int8)
    arrays = tiny_arrays() | {
        "input": pack(np.array([[0, 2], [4, 1], *ROWS], dtype=np.int8)),
        "layers.0.qkv": pack(np.vstack([one, one, one]))[None], "layers.0.qkv.scale": np.ones((1, 6), np.float16),
        "layers.0.qkv.bias": np.zeros(6, dtype=np.float32),
        "layers.0.out": pack(one)[None], "layers.0.out.scale": ones[None], "layers.0.out.bias": zeros,
        "layers.0.up": pack(np.array([[1, 2], [0, -1], [3, 1], [1, 1]], dtype=np.int8))[None],
        "layers.0.up.scale": np.ones((1, 4), np.float16), "layers.0.up.bias": np.array([0.5, 0, -1, 0], np.float32),
        "layers.0.down": pack(down), "layers.0.down.scale": np.array([[1, 1], [2, 2]], np.float16),
        "layers.0.down.bias": np.array([0, 0.25], dtype=np.float32),
        "layers.0.norm1.weight": np.array([2, 1], dtype=np.float32), "layers.0.norm1.bias": zeros,
        "layers.0.norm2.weight": np.array([1, 3], dtype=np.float32),
        "layers.0.norm2.bias": np.array([0.5, 0], dtype=np.float32),
    }  # fmt: skip
    path = tmp_path / "encoder.bin"
    path.write_bytes(encoder_bytes({"layers": 1, "heads": 1}, arrays))
    found = read_encoder(path).encode("key")

    def normalized(x: list[float], weight: tuple[float, float], bias: tuple[float, float]) -> list[float]:
        # Two numbers normalize to -1 and 1.
        sign = 1.0 if x[0] > x[1] else -1.0
        return [weight[0] * sign + bias[0], -weight[1] * sign + bias[1]]

    def gelu(x: float) -> float:
        return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))

    words = [normalized(x, (1, 1), (0, 0)) for x in ([0.0, 2.0], [3.0, 5.0], [4.0, 1.0])]
    total = [0.0, 0.0]
    for query in words:
        weights = [math.exp((query[0] * key[0] + query[1] * key[1]) / math.sqrt(2)) for key in words]
        seen = [sum(w * key[i] for w, key in zip(weights, words, strict=True)) / sum(weights) for i in (0, 1)]
        x = normalized([query[0] + seen[0], query[1] + seen[1]], (2, 1), (0, 0))
        h = [gelu(x[0] + 2 * x[1] + 0.5), gelu(-x[1]), gelu(3 * x[0] + x[1] - 1), gelu(x[0] + x[1])]
        added = [h[0] + 2 * h[2], -h[0] + h[1] - 2 * h[3] + 0.25]
        y = normalized([x[0] + added[0], x[1] + added[1]], (1, 3), (0.5, 0))
        total = [total[0] + y[0], total[1] + y[1]]
    largest = max(map(abs, total))
    assert found is not None
    assert found.tolist() == pytest.approx([OUTPUT_LEVELS * each / largest for each in total], abs=1)


def test_unknown_words_have_no_vector(encoder: QuestionEncoder) -> None:
    assert encoder.encode("zebra") is None
    assert encoder.encode("") is None
    assert encoder.encode("key lock zebra") is None
    assert encoder.encode("key lock open zebra") is not None


def test_names_of_the_code_that_the_encoder_lacks_are_left_out(encoder: QuestionEncoder) -> None:
    """`zebra` names five definitions here, `yak` four; `key` is known; in the last no more than half is known."""
    documents = {n: {"zebra": 1, "key": 1} for n in range(5)} | {n: {"yak": 1} for n in range(5, 9)}
    lexical = lexical_of(documents, encoder)
    for question, encoded in {
        "open key lock Zebra": "open key lock ",
        "open key lock yak": "open key lock yak",
        "open key lock zebraKey": "open key lock zebraKey",
        "open zebra": "open zebra",
    }.items():
        assert without_unknown_names(question, lexical, encoder) == encoded


def test_terms_without_a_row_have_minus_one(encoder: QuestionEncoder) -> None:
    terms = StringTable.from_strings(sorted(["lock", "openlock", "sure", "zebra"]))
    assert rows_of_terms(terms, encoder).tolist() == [1, -1, 3, -1]


def test_norms_and_similarities_are_those_of_summed_vectors(encoder: QuestionEncoder) -> None:
    # Document 0 has "key" three times and "open" once, document 1 "sure" twice, document 2 nothing that is known.
    # Documents 0 and 1 are in the file that is document 0.
    files = np.array([0, 0, 2], dtype=np.int32)
    lexical = lexical_of({0: {"key": 3, "open": 1}, 1: {"sure": 2}, 2: {"zebra": 7}}, encoder, files.tolist())
    first = np.array([3 * 3**0.7 + 1, 5 * 3**0.7 + 7])
    second = np.array([-7 * 2**0.7, 2**0.7])
    both = first + second
    assert lexical.bag_norms.tolist() == pytest.approx([np.hypot(*first), np.hypot(*second), 0])
    assert lexical.file_bag_norms.tolist() == pytest.approx([np.hypot(*both), 0, 0])
    found = bag_similarities(np.array([0, 511], dtype=np.int16), lexical, files, encoder)
    own, other = (each[1] / (np.hypot(*each) + NORM_OFFSET) for each in (first, second))
    of_file = both[1] / np.hypot(*both)
    assert found.tolist() == pytest.approx([own + FILE_SHARE * of_file, other + FILE_SHARE * of_file, 0], abs=1e-6)
    # The second document is away from (1, 0), and a cosine that is not positive counts as 0.
    assert bag_similarities(np.array([511, 0], dtype=np.int16), lexical, files, encoder)[1] == 0


def test_a_document_without_a_norm_is_similar_to_nothing(encoder: QuestionEncoder) -> None:
    # A file that is not parsed stands in a part of an index with a few of its words and the norm 0.
    files = np.array([0, 1], dtype=np.int32)
    lexical = lexical_of({0: {"key": 1}, 1: {"key": 3, "open": 2}}, encoder, files.tolist())
    part = replace(lexical, bag_norms=lexical.bag_norms * np.array([1, 0], dtype=np.float32))
    found = bag_similarities(np.array([0, 511], dtype=np.int16), part, files, encoder)
    assert found[0] > 0
    assert found[1] == 0


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


def test_near_words_of_a_text_are_the_nearest_first(encoder: QuestionEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    # The cosines with (0, 1) are 7 / sqrt(50) = .99 for open, 5 / sqrt(34) = .86 for key, 3 / sqrt(34) = .51 for lock
    # and 1 / sqrt(50) = .14 for sure, which is too little. Zebra is not known, and a word is named once, as it stands.
    monkeypatch.setattr(question_encoder, "encode_once", lambda *_: np.array([0, 511], dtype=np.int16))
    assert near_words("", "sure Keys.openLock(zebra, key)", encoder) == ["open", "keys", "lock"]


def test_near_words_of_the_shipped_encoder() -> None:
    found = near_words("how are photos resized", "make_thumbnail of an image, for each user", shipped_encoder())
    assert {"image", "thumbnail"} <= set(found)
    assert "user" not in found


def test_words_of_syntax_are_not_near_words() -> None:
    said = near_words("what waits until it runs", "func wait(async: return)", shipped_encoder())
    assert said and not {"func", "async", "return"} & set(said)


def test_a_question_without_a_vector_has_no_near_words() -> None:
    assert near_words("qqxv zzyw", "image", shipped_encoder()) == []


def test_the_cache_of_questions_gives_what_the_encoder_gives() -> None:
    shipped = shipped_encoder()
    for question in ("how are photos resized", "where is the lock", "how are photos resized"):
        assert np.array_equal(encode_once(question, shipped), shipped.encode(question))
