"""Long definitions in a pack: the parts of them that tell, with the lines that they are; short ones from the top."""

import re
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.pack import FOLD_THRESHOLD, count_tokens, render_pack
from causalist.pack.excerpts import MAX_LINE_CHARACTERS, bodies, numbered_lines, shows_everything
from causalist.pack.render import MINIMUM_TOKENS
from tests.pack.builders import item, pack_input

N = 300


def long_text(n: int = N) -> str:
    return "\n".join(["def run(self):", '    """Runs."""', *(f"    step_{i}()" for i in range(3, n))])


def telling_item(weights: Mapping[int, float], text: str = "", **more: object):  # type: ignore[no-untyped-def]
    """`weights` by 1-based line."""
    packed = item("a.py", "run", text or long_text(), **more)  # type: ignore[arg-type]
    return packed._replace(telling=tuple(sorted((line - 1, weight) for line, weight in weights.items())))


def lines_of(text: str, first: str = "def run") -> list[str]:
    """The lines between the fences of the item that begins so."""
    blocks = re.findall(r"^```\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if block.lstrip().startswith(first)]
    return block.split("\n")


def test_what_tells_is_shown_with_its_lines() -> None:
    """By hand: three lines of head; line 200 tells most and line 150 less, with three around each; in 101 a definition
    begins. Nothing else fits into a pack that small."""
    packed = telling_item({200: 5.0, 150: 3.0, 101: 0.0}, start=1)
    (body,) = bodies([packed], ["run"], 10_000)
    assert len(body) == N - 1
    around = [*(200, 199, 201, 198, 202, 197, 203), *(150, 149, 151, 148, 152, 147, 153)]
    assert [body.numbers[i] for i in body.order[:18]] == [1, 2, 3, *around, 101]
    printed = numbered_lines(body, 18)
    assert [line for number, line in printed if number is None] == [
        "    … 4-100", "    … 102-146", "    … 154-196", "… 96 more lines",
    ]  # fmt: skip
    assert [number for number, _ in printed if number] == [1, 2, 3, 101, *range(147, 154), *range(197, 204)]


def test_a_line_that_is_missing_by_itself_is_printed() -> None:
    (body,) = bodies([telling_item({20: 1.0})], ["run"], 10_000)
    # The head ends at 3, and 17 to 23 are around what tells; with 5 lines only 20 and 19 are there.
    assert [n for n, _ in numbered_lines(body, 5)] == [1, 2, 3, None, 19, 20, None]
    # Here 5 to 11 are: of ten lines three are the head, and the fourth is missing by itself.
    (body,) = bodies([telling_item({8: 1.0})], ["run"], 10_000)
    assert [n for n, _ in numbered_lines(body, 10)] == [*range(1, 12), None]


def test_the_head_of_a_long_body_holds_all_of_its_parameters() -> None:
    text = long_text().replace("def run(self):", "def run(\n    self,\n    first,\n    second,\n):")
    (body,) = bodies([telling_item({200: 1.0}, text)], ["run"], 10_000)
    assert [body.numbers[i] for i in body.order[:7]] == [1, 2, 3, 4, 5, 200, 199]


def test_a_bracket_that_is_never_closed_does_not_make_a_head_of_everything() -> None:
    (body,) = bodies([telling_item({200: 1.0}, long_text().replace("(self)", "((self)"))], ["run"], 10_000)
    assert [body.numbers[i] for i in body.order[:13]] == [*range(1, 13), 200]


def test_a_short_body_is_cut_from_the_top() -> None:
    (body,) = bodies([telling_item({50: 1.0}, long_text(FOLD_THRESHOLD))], ["run"], 10_000)
    assert body.order == ()
    assert [n for n, _ in numbered_lines(body, 5)] == [1, 2, 3, 4, 5, None]


def test_lines_that_stand_for_other_items_are_never_missing() -> None:
    inner = item("a.py", "run.inner", "def inner():\n    pass", start=120, score=0.9)
    (body, _) = bodies([telling_item({200: 1.0}), inner], ["run", "#1 inner"], 10_000)
    printed = numbered_lines(body, 14)
    assert (None, "    … 120-121: #1 inner") in printed
    # 14 lines are the head, the marker, seven around 200 and the three below the head.
    assert next(line for number, line in printed if number is None) == "    … 7-119"


def test_a_giant_leaves_room_for_others() -> None:
    """A definition of 764 lines at rank 3 and seven of twelve lines behind it, in 4,000 tokens: all of these are whole,
    and the giant shows its two places."""
    giant = telling_item({400: 5.0, 700: 4.0}, long_text(764), score=0.97, start=1)

    def other(i: int) -> str:
        return "\n".join([f"def other_{i}():", *(f"    call_{i}_{j}(order, item)" for j in range(11))])

    others = [item("b.py", f"other_{i}", other(i), start=20 * i + 1, score=0.99 - 0.01 * i) for i in range(9)]
    pack = render_pack(pack_input(giant, *others), max_tokens=4000, format="text")
    assert pack.tokens <= 4000
    for i in range(9):
        assert f"    call_{i}_10(order, item)" in pack.text
    shown = lines_of(pack.text)
    assert "    step_399()" in shown and "    step_699()" in shown
    assert any(re.fullmatch(r" *… \d+-\d+", line) for line in shown)
    assert [o.what for o in pack.omitted if o.node == "a.py::run"] == ["body"]


def test_with_room_for_all_of_it_it_is_whole() -> None:
    pack = render_pack(pack_input(telling_item({200: 1.0})), max_tokens=20_000, format="text")
    assert lines_of(pack.text) == long_text().split("\n") and pack.omitted == ()


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.integers(1, 200), st.floats(0, 9), max_size=40),
    st.integers(FOLD_THRESHOLD - 5, 200),
    st.integers(0, 210),
    st.sampled_from(sorted(MINIMUM_TOKENS)),
    st.integers(400, 4000),
)
def test_what_is_cut_is_in_order_accounted_for_and_fits(
    weights: Mapping[int, float], n: int, n_lines: int, form: str, budget: int
) -> None:
    packed = telling_item(weights, long_text(n))
    (body,) = bodies([packed], ["run"], 1_000_000)
    assert not body.order or sorted(body.order) == list(range(len(body)))
    printed = numbered_lines(body, n_lines)
    numbers = [number for number, _ in printed if number is not None]
    assert numbers == sorted(set(numbers)) and len(numbers) >= min(n_lines, len(body))
    counted = 0
    for number, line in printed:
        assert len(line) <= MAX_LINE_CHARACTERS + 40
        gap, rest = re.fullmatch(r" *… (\d+)-(\d+)", line), re.fullmatch(r"… (\d+) more lines?", line)
        if number is None:
            assert gap or rest
            counted += int(gap[2]) - int(gap[1]) + 1 if gap else int(rest[1])  # type: ignore[index]
    if numbers:
        assert len(numbers) + counted == n - 1
    assert shows_everything(body, n_lines) == (len(numbers) == n - 1)
    pack = render_pack(pack_input(packed), max_tokens=budget, format=form)
    assert pack.tokens <= budget and (form == "html" or count_tokens(pack.text) <= budget)


def first_body(width: int) -> list[str]:
    """What a pack of 2,000 tokens shows of a definition of 40 lines, each of so many words, with nine behind it that
    could use all the room themselves."""
    first = "\n".join(["def run(self):", *(f"    {' '.join(['alpha'] * width)}" for _ in range(39))])
    line = f"    {' '.join(['beta'] * 10)}"
    others = [
        item(f"f{i}.py", f"other_{i}", "\n".join([f"def other_{i}():", *[line] * 50]), score=0.9 - i / 100)
        for i in range(9)
    ]
    packed = pack_input(item("a.py", "run", first, score=0.99), *others)
    return lines_of(render_pack(packed, max_tokens=2000, format="text").text)


def test_a_body_that_is_half_there_may_take_twice_its_share_to_be_whole() -> None:
    """The share is a quarter of about 1,700 tokens. 40 lines of some 16 tokens are 640: more than that, less than
    twice that. Of 40 lines of some 44 tokens a quarter holds ten, and others keep their room."""
    assert len(first_body(11)) == 40
    assert len(first_body(33)) < 20
