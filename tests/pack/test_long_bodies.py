"""Long definitions in a pack: the parts of them that tell, with the lines that they are; short ones from the top."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.model.answer import PackItem
from causalist.pack import FOLD_THRESHOLD, count_tokens, render_pack
from causalist.pack.excerpts import MAX_LINE_CHARACTERS, bodies, numbered_lines, shows_everything
from causalist.pack.render import MINIMUM_TOKENS
from tests.pack.builders import item, pack_input
from tests.trials import count_of

N = 300


def long_text(n: int = N) -> str:
    return "\n".join(["def run(self):", '    """Runs."""', *(f"    step_{i}()" for i in range(3, n))])


def telling_item(weights: Mapping[int, float], text: str = "", **more: object) -> PackItem:
    """`weights` by 1-based line."""
    packed = item("a.py", "run", text or long_text(), **more)  # type: ignore[arg-type]
    return packed._replace(snippet_lines=tuple(sorted((line - 1, weight) for line, weight in weights.items())))


def lines_of(text: str, first: str = "def run") -> list[str]:
    """The lines between the fences of the item that begins so."""
    blocks = re.findall(r"^```\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if block.lstrip().startswith(first)]
    return block.split("\n")


def test_what_tells_is_shown_with_its_lines() -> None:
    """By hand: line 200 tells most and 150 less; four lines around each share 0.6, 0.36, 0.216 and 0.13 of that.

    Shares of 5: 5, 3, 1.8, 1.08, 0.65; of 4: 4, 2.4, 1.44, 0.86, 0.52. Then all others follow from the top.
    """
    packed = telling_item({200: 5.0, 150: 4.0, 101: 0.0}, start=1)
    (body,) = bodies([packed], ["run"], 10_000)
    assert len(body) == N - 1
    around = [200, 150, 199, 201, 149, 151, 198, 202, 148, 152, 197, 203, 147, 153, 196, 204, 146, 154]
    assert [body.numbers[i] for i in body.order[:22]] == [1, *around, 2, 3, 4]
    printed = numbered_lines(body, 19)
    assert [line for number, line in printed if number is None] == [
        "    … 2-145", "    … 155-195", "… 95 more lines",
    ]  # fmt: skip
    assert [number for number, _ in printed if number] == [1, *range(146, 155), *range(196, 205)]


def test_a_gap_of_one_or_two_lines_is_printed() -> None:
    """By hand: the head is 1; after it come 8, 7, 9, 6, 10, 5, 11, 4, 12."""
    (body,) = bodies([telling_item({8: 1.0})], ["run"], 10_000)
    assert [body.numbers[i] for i in body.order[:10]] == [1, 8, 7, 9, 6, 10, 5, 11, 4, 12]
    assert [n for n, _ in numbered_lines(body, 2)] == [1, None, 8, None]
    assert [n for n, _ in numbered_lines(body, 7)] == [1, None, 5, 6, 7, 8, 9, 10, None]
    # Lines 2 and 3 are missing by themselves now, and a mark would be as long.
    assert [n for n, _ in numbered_lines(body, 9)] == [*range(1, 12), None]


# The for, the if and the with open the blocks around lines 20 and 36; all other lines are alike.
BLOCKS = {1: "def handle(request):", 10: "    for part in request:", 18: "        if part:",
          20: "            save(part)", 31: "    with lock:", 36: "        send(part)"}  # fmt: skip


def handled_line(number: int) -> str:
    indent = 12 if number == 19 else 8 if 11 <= number <= 18 or 32 <= number <= 36 else 4
    return BLOCKS.get(number, f"{' ' * indent}step_{number}()")


def test_what_is_used_and_what_tells_bring_the_signature_and_the_lines_that_open_their_blocks() -> None:
    """By hand: 36 tells (2.8), before it comes 31; 20 uses another item (2.0), before it come 10 and 18."""
    (body,) = bodies([handled()], ["handle"], 10_000)
    assert [body.numbers[i] for i in body.order[:6]] == [1, 31, 36, 10, 18, 20]
    # Line 19 is missing by itself, so that it is printed.
    assert numbered_lines(body, 6) == (
        (1, "def handle(request):"),
        (None, "    … 2-9"),
        (10, "    for part in request:"),
        (None, "        … 11-17"),
        (18, "        if part:"),
        (19, "            step_19()"),
        (20, "            save(part)"),
        (None, "    … 21-30"),
        (31, "    with lock:"),
        (None, "        … 32-35"),
        (36, "        send(part)"),
        (None, "… 14 more lines"),
    )


@pytest.mark.parametrize(("n", "place"), [(100, 8), (120, None)])
def test_form_counts_near_what_tells_in_very_long_bodies(n: int, place: int | None) -> None:
    """By hand: a condition has 0.37, a line four lines from one that tells 2.8 * 0.6**4 = 0.363.

    So it comes behind the head, line 40 and the six lines around it. In more than 100 lines it counts less than others.
    """
    lines = long_text(n + 1).split("\n")
    lines[79] = "    if ready: start()"
    (body,) = bodies([telling_item({40: 1.0}, "\n".join(lines))], ["run"], 10_000)
    numbers = [body.numbers[i] for i in body.order[:20]]
    assert len(body) == n
    assert (numbers.index(80) if 80 in numbers else None) == place
    assert body.n_telling == (0 if n == 100 else 10)  # the head, line 40 and the eight lines around it


@pytest.mark.parametrize(("weight", "n_telling"), [(0.29, 10), (0.3, 19)])
def test_a_line_that_says_far_less_than_the_best_one_is_no_place_of_its_own(weight: float, n_telling: int) -> None:
    """Nine more lines, 80 and four on each side, tell something if line 80 has 0.3 of the best weight and more."""
    (body,) = bodies([telling_item({40: 1.0, 80: weight}, long_text(121))], ["run"], 10_000)
    assert body.n_telling == n_telling


def test_form_counts_in_very_long_bodies_where_nothing_tells() -> None:
    lines = long_text(121).split("\n")
    lines[79] = "    if ready: start()"
    (body,) = bodies([telling_item({}, "\n".join(lines))], ["run"], 10_000)
    assert [body.numbers[i] for i in body.order[:3]] == [1, 80, 2]
    assert body.n_telling == 0


def handled() -> PackItem:
    text = "\n".join(map(handled_line, range(1, 51)))
    return item("a.py", "handle", text, score=0.9)._replace(snippet_lines=((35, 2.0),), uses=(19,))


def test_a_folded_body_in_a_pack_keeps_them() -> None:
    """Its 50 lines cost some 300 tokens, more than the pack may have in all."""
    pack = render_pack(pack_input(handled()), max_tokens=200, format="text")
    shown = lines_of(pack.text, "def handle")
    assert [line for line in shown if line in BLOCKS.values()] == list(BLOCKS.values())
    assert "    … 21-30" in shown and [o.what for o in pack.omitted] == ["body"]


@pytest.mark.parametrize("fills", [False, True])
def test_a_little_more_room_never_takes_the_source_away(fills: bool) -> None:
    """Filled gaps make prices rise in steps, between which a guess of the number of lines can miss."""
    given_ = pack_input(handled(), fills=fills)
    for budget in range(160, 420, 10):
        pack = render_pack(given_, max_tokens=budget, format="text")
        assert pack.places[0].shown and pack.tokens <= budget, budget


def test_a_line_that_ends_in_the_middle_of_a_statement_brings_the_next() -> None:
    text = long_text().replace("    step_200()", "    total = sum(")
    (body,) = bodies([telling_item({200: 1.0}, text)], ["run"], 10_000)
    assert [body.numbers[i] for i in body.order[:4]] == [1, 200, 201, 199]


def test_comments_and_logging_give_way_to_branches_and_calls() -> None:
    """By hand: if 0.37, return 0.3, calls 0, else -0.65, comment -1.2, logging -2.4; the if brings its line."""
    inside = ["    # why", "    log.debug(a)", "    if a:", "        b()", "    else:", "        c()", "    return a"]
    text = "\n".join(["def run(a):", *inside, *(f"    step_{i}()" for i in range(9, 15))])
    (body,) = bodies([item("a.py", "run", text)], ["run"], 10_000)
    order = [body.numbers[i] for i in body.order]
    # The line in the else brings the else.
    assert order[:6] == [1, 4, 5, 8, 6, 7]
    assert order[6:] == [*range(9, 15), 2, 3]


def test_the_head_of_a_long_body_holds_all_of_its_parameters() -> None:
    text = long_text().replace("def run(self):", "def run(\n    self,\n    first,\n    second,\n):")
    (body,) = bodies([telling_item({200: 1.0}, text)], ["run"], 10_000)
    assert [body.numbers[i] for i in body.order[:7]] == [1, 2, 3, 4, 5, 200, 199]


def test_a_bracket_that_is_never_closed_does_not_make_a_head_of_everything() -> None:
    (body,) = bodies([telling_item({200: 1.0}, long_text().replace("(self)", "((self)"))], ["run"], 10_000)
    assert [body.numbers[i] for i in body.order[:4]] == [1, 200, 199, 201]


def test_a_short_body_is_cut_from_the_top() -> None:
    (body,) = bodies([telling_item({50: 1.0}, long_text(FOLD_THRESHOLD))], ["run"], 10_000)
    assert body.order == ()
    assert [n for n, _ in numbered_lines(body, 5)] == [1, 2, 3, 4, 5, None]


def test_lines_that_stand_for_other_items_are_never_missing() -> None:
    inner = item("a.py", "run.inner", "def inner():\n    pass", start=120, score=0.9)
    (body, _) = bodies([telling_item({200: 1.0}), inner], ["run", "#1 inner"], 10_000)
    # Three lines are the head, the marker and the line that tells.
    assert numbered_lines(body, 3) == (
        (1, "def run(self):"),
        (None, "    … 2-119"),
        (None, "    … 120-121: #1 inner"),
        (None, "    … 122-199"),
        (200, "    step_200()"),
        (None, "… 99 more lines"),
    )


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


@settings(max_examples=count_of(25, 60), deadline=None)
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
            n_missing = int(gap[2]) - int(gap[1]) + 1 if gap else int(rest[1])  # type: ignore[index]
            assert rest or n_missing > 2, "a gap that a mark does not make shorter"
            counted += n_missing
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
    """The share is two fifths of about 2,100 tokens, 850. 40 lines of some 30 tokens are 1,200: more than that, less
    than twice that. Of 40 lines of some 53 tokens it holds 16, and others keep their room."""
    assert len(first_body(22)) == 40
    assert len(first_body(40)) < 20


DOCUMENTED = (
    (  # a docstring; its first paragraph is line 2, its end line 12
        ["def run(a):", '    """Runs with a.', "", *(f"    a : kind {i}" for i in range(4, 12)), '    """'],
        range(3, 12),
    ),
    (  # a comment of several lines before a method, whose first paragraph is lines 2 to 4
        [
            "class Run {",
            "  /**",
            "   * Runs",
            "   * with a.",
            "   *",
            *(f"   * @param a{i}" for i in range(6, 12)),
            "   */",
        ],
        range(5, 12),
    ),
    (
        ["trait Run {", "    /// Runs.", "    ///", *(f"    /// Kind {i}." for i in range(4, 12)), "fn run();"],
        range(3, 12),
    ),
    (["function Run {", "<#", ".SYNOPSIS", *(f"Runs {i}." for i in range(4, 12)), "#>"], range(6, 12)),
)


@pytest.mark.parametrize(("head", "folded"), DOCUMENTED, ids=["docstring", "block", "slashes", "help"])
def test_documentation_gives_way_to_code(head: list[str], folded: range) -> None:
    """Line 8 says the question. By hand: all else comes before it, the code from 13 to 24 and the end in line 12."""
    text = "\n".join([*head, *(f"    step_{i}()" for i in range(13, 25))])
    (body,) = bodies([telling_item({8: 5.0}, text)], ["run"], 10_000)
    order = [body.numbers[i] for i in body.order]
    assert body.n_prose == len(folded) and order[-len(folded) :] == list(folded)
    first, second = telling_item({8: 5.0}, text, score=0.9), item("b.py", "run", text, score=0.8)
    pack = render_pack(pack_input(first, second), max_tokens=4000, format="text")
    # The most needed one has its documentation.
    assert [place.shown for place in pack.places] == [((1, 24),), ((1, folded[0] - 1), (12, 24))]
    filled = render_pack(pack_input(first, second, fills=True), max_tokens=4000, format="text")
    assert [place.shown for place in filled.places] == [((1, 24),), ((1, 24),)]


@pytest.mark.parametrize(
    "lines",
    [
        ["def run(a):", "    text = '''", *["    words of a text"] * 12, "    '''"],  # a string that is a value
        ["def run(a):", '    """Runs."""', *["    step()"] * 14],
        ["def run(a):", '    """Runs', "", "    with a.", '    """', *["    step()"] * 14],  # short
    ],
)
def test_other_strings_and_short_documentation_are_code(lines: list[str]) -> None:
    (body,) = bodies([item("a.py", "run", "\n".join(lines))], ["run"], 10_000)
    assert body.n_prose == 0
