"""The default counter, held against exact numbers of o200k_base that were recorded once."""

import json
import sys
import time
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from causalist.errors import ExtraMissing, UsageError
from causalist.pack import count_tokens, get_counter, tokens
from causalist.pack.tokens import _PIECE

# (text, exact tokens, what the estimate may be at most). Short texts carry the widest margins.
EXAMPLES = [
    ("", 0, 0),
    ("x", 1, 1),
    ("def f(x):\n    return x\n", 8, 9),
    ("if (!session) return null;", 7, 8),
    ("for i in range(10):\n        total += prices[i] * 1.05\n", 19, 23),
    ("import { createHash } from 'node:crypto';", 11, 15),
    ("XMLHttpRequestEventTarget", 5, 10),
    ("SCREAMING_SNAKE_CASE", 7, 10),
    ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", 26, 30),
    ("aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0", 23, 36),
    ("The quick brown fox jumps over the lazy dog.", 10, 13),
    ("Der schnelle braune Fuchs springt über den faulen Hund.", 14, 18),
    ("Съешь же ещё этих мягких французских булок.", 13, 30),
    ("这是一个简单的测试,看看它有多少个词元。", 14, 30),
    ("これは簡単なテストです。", 8, 18),
    ("안녕하세요, 반갑습니다.", 7, 18),
    ("🎉🚀 done ✅", 6, 18),
    ("=" * 79, 2, 8),
    (" " * 80 + "x", 2, 5),
    ("[[1, 2, 3], [4, 5, 6]]", 18, 21),
    ("SELECT u.id, u.name FROM users AS u WHERE u.active = TRUE;", 16, 20),
    ('{"a":{"b":[1,2,{"c":null}]}}', 15, 19),
    ("https://github.com/sindresorhus/got/issues/1880", 15, 22),
    ('raise ValueError(f"bad {name!r}: {value:.3f}")', 17, 20),
    ("\\bpnpm (exec )?vitest(\\s|$)", 14, 18),
    ("1234567890 3.14159 0xDEADBEEF", 15, 21),
    ("xkqjzvw pfgrtbln qqzzxw", 14, 22),
]


@pytest.mark.parametrize(("text", "exact", "most"), EXAMPLES)
def test_examples_lie_between_the_exact_number_and_a_margin(text: str, exact: int, most: int) -> None:
    assert exact <= count_tokens(text) <= most


def test_samples_of_this_project_are_never_under_counted_and_little_over() -> None:
    samples = json.loads((Path(__file__).parent / "token_samples.json").read_text("utf-8"))
    excess = [count_tokens(text) / exact - 1 for exact, text in samples]
    assert min(excess) >= 0
    # The samples are short, 50 to 1,500 characters; over 50 to 20,000 the mean is 14 %.
    assert sum(excess) / len(excess) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "aB" * 500_000,
        "A" * 1_000_000,
        " " * 1_000_000,
        " \n" * 500_000,
        ("  " * 500 + "x") * 1_000,
        "-" * 1_000_000,
        "-+" * 500_000,
        "'" * 1_000_000,
        "_" * 1_000_000,
        "\u2028 " * 500_000,
        "中" * 1_000_000,
        " ".join(f"w{i:x}q" for i in range(150_000)),
    ],
    ids=lambda text: repr(text[:4]),
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    assert count_tokens(text) > 0
    # Measured: 0.05 to 0.7 s; a quadratic counter would take minutes.
    assert time.process_time() - start < 5


@given(st.text(max_size=400))
def test_every_character_falls_into_one_piece(text: str) -> None:
    assert "".join(_PIECE.findall(text)) == text


@given(
    st.text(st.characters(max_codepoint=0x24F), max_size=200), st.text(st.characters(max_codepoint=0x24F), max_size=200)
)
@example("}/{", "}/{")  # a run of marks that is unusual as a whole: 5 more
@example('"></', '"></')  # 7 more
def test_a_joint_adds_no_more_than_the_word_that_it_creates(left: str, right: str) -> None:
    # Two halves of a word may look more usual than the whole, which costs no more than it would by itself; a number
    # that begins elsewhere may end in one piece more.
    ends = accumulate(map(len, _PIECE.findall(left + right)))
    joint = next((piece for end, piece in zip(ends, _PIECE.findall(left + right), strict=True) if end > len(left)), "")
    assert count_tokens(left + right) <= count_tokens(left) + count_tokens(right) + count_tokens(joint) + 1


@given(st.lists(st.sampled_from(["def save(self):", "    return 1", "", "x = {'a': 2}", "// naïve ✓"]), max_size=40))
def test_counts_of_lines_add_up_to_at_least_the_whole(lines: list[str]) -> None:
    assert count_tokens("".join(line + "\n" for line in lines)) <= sum(count_tokens(line + "\n") for line in lines)


@given(st.text(max_size=300))
def test_counting_twice_gives_the_same(text: str) -> None:
    assert count_tokens(text) == count_tokens(text)


@pytest.mark.slow
def test_the_exact_counter_is_exact() -> None:
    exact = get_counter("o200k")
    assert [exact(text) for text, _, _ in EXAMPLES] == [number for _, number, _ in EXAMPLES]
    # What looks like a special token is text like any other.
    assert exact("<|endoftext|>") == 7


def test_without_its_packages_the_exact_counter_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    tokens._exact_counter.cache_clear()
    try:
        with pytest.raises(ExtraMissing, match=r"causalist\[tokens\]"):
            get_counter("o200k")
        assert get_counter("estimate") is count_tokens
    finally:
        tokens._exact_counter.cache_clear()


def test_an_unknown_tokenizer_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="estimate, o200k"):
        get_counter("cl100k")
