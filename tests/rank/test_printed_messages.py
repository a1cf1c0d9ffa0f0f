"""How much of a message the literals of a text have: by hand, in the forms in which languages write literals.

The weight is the number of words that both have in order, those of `stop_words.txt` counting a half, less 0.4 times the
share of the literal that the message does not have, and 0.3 for each place where they go on with other words.
"""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.rank.lexical.printed_messages import has_adjacent_pair, match_literals
from causalist.rank.terms import STOP_WORDS


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def weights(message: str, text: str) -> list[float]:
    return [said.weight for said in match_literals(words(message), text)]


# user, missing, shop tell something; is, in and the do not: 3 + 3 / 2 = 4.5
MESSAGE = "12:01 ERROR user anna is missing in the shop"


@pytest.mark.parametrize(
    "text",
    [
        'raise Missing(f"user {name} is missing in the shop")',
        'raise Missing("user %s is missing in the shop" % name)',
        'logging.error("user %(name)s is missing in the shop", names)',
        'raise Missing("user {0.name} is missing "\n              f"in the shop")',
        "throw new Error(`user ${user.name()} is missing in the shop`)",
        "throw new Error('user ' + user.name() + ' is missing in the shop')",
        'return fmt.Errorf("user %q is missing in the shop: %w", name, err)',
        'bail!("user {name:?} is missing \\\n        in the shop")',
        'throw new Missing("user \'" + name + "\' is missing" +\n    " in the shop");',
        "throw new Missing('user '.$user->name.' is missing in the shop');",
        'throw new Missing("user {$name} is missing in the shop");',
        "$io->error('<error>user '.$name.'</error> is missing in the shop');",
        'raise Missing, "user #{name} is missing in the shop"',
        'fprintf(stderr, "user %-10s is missing "\n    "in the shop\\n", name);',
        'throw new Missing($"user {name} is missing in the shop");',
        'fatalError("user \\(name) is missing in the shop")',
        'Console.Write("user " & name & " is missing in the shop")',
        'std::cerr << "user " << name << " is missing in the shop";',
        'raise "User #{name} is missing in the shop"',  # letters in another case
    ],
)
def test_what_is_filled_in_is_in_the_message_and_not_in_the_literal(text: str) -> None:
    assert weights(MESSAGE, text) == [4.5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # One word more, one less, another one: user, missing, shop, in, the or is are still there.
        ('"user %s is now missing in the shop"', 4.5 - 0.4 / 7 - 0.3),
        ('"user %s is missing in shop"', 4.0 - 0.3),
        ('"user %s was missing in the shop"', 4.0 - 0.4 / 6 - 0.3),
    ],
)
def test_a_message_of_another_version(text: str, expected: float) -> None:
    assert weights(MESSAGE, text) == pytest.approx([expected], rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "user = missing(shop)  # user is missing in the shop",  # no literal
        'log("the shop in which a user is", missing)',  # not in this order
        '"is in the"',  # words that are said of everything
        '"user missing"',  # two words
        # Three of eleven words: a literal that says something else.
        '"a user of another house that was never seen has gone missing"',
        '"user" "" \'missing\'',
        "",
    ],
)
def test_what_is_no_literal_of_the_message(text: str) -> None:
    assert weights(MESSAGE, text) == []


def test_literals_with_something_between_them_are_two() -> None:
    text = 'log("user is missing in the shop"); log("user is missing in the old shop")'
    found = match_literals(words(MESSAGE), text)
    assert [said.at for said in found] == [4, 40]
    assert [said.weight for said in found] == pytest.approx([4.5 - 0.3, 4.5 - 0.4 / 7 - 0.6], rel=1e-12)


def test_what_a_literal_says_besides_is_in_the_message() -> None:
    """Three words of four are there, but of object, attribute and parent one in three is not."""
    assert (
        weights("'Order' object has no attribute 'total'", "raise AttributeError(\"object has no attribute 'parent'\")")
        == []
    )


def test_half_of_a_long_literal_is_enough_where_much_is_in_order() -> None:
    # find, IP, address, container; unable, to and for count a half. A run of five would do as well, there is none.
    literal = '"unable to find the IP address for the container %q: the server is ignored"'
    assert weights("unable to find IP address for container", literal) == pytest.approx(
        [5.5 - 0.4 * 6 / 13 - 0.6], rel=1e-12
    )
    assert weights("unable to find container", literal) == []


def test_no_pair_of_words_no_literal() -> None:
    assert has_adjacent_pair(["no", "such", "user"], "It has No Such thing")
    assert not has_adjacent_pair(["no", "such", "user"], "such no user no  such")


@given(st.lists(st.sampled_from(["user", "shop", "is", "in", "lost", "7"]), max_size=12), st.integers(0, 12))
def test_a_literal_has_all_of_itself(said: list[str], cut: int) -> None:
    """Against the definition: the words once, those that are said of everything a half, if they are enough."""
    expected = sum(0.5 if word in STOP_WORDS else 1.0 for word in said)
    n_telling = sum(word not in STOP_WORDS for word in said)
    enough = len(said) >= 3 and (n_telling >= 2 or (len(said) >= 5 and n_telling >= 1))
    text = "f('" + " ".join(said) + "')"
    assert weights(" ".join(said), text) == ([expected] if enough and len(" ".join(said)) >= 6 else [])
    # What stands before and after in the message changes nothing.
    assert weights(" ".join(["x"] * cut + said + ["y"]), text) == weights(" ".join(said), text)


@pytest.mark.parametrize(
    "text", ['"' * 50_000, "`a" * 50_000, '"""' + "a b " * 50_000, '"a" + ' * 20_000, "'\\" * 50_000]
)
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    match_literals(["a", "b", "c", "a"], text)
    assert time.process_time() - start < 2.0


def test_a_long_literal_with_many_backslashes_takes_time_in_proportion_to_its_length() -> None:
    """No closing quotes within 4,000 characters, and a backslash a line. Each backslash once doubled the time: sixteen
    of them took eleven seconds."""

    def seconds(n_lines: int) -> float:
        line = "    \\d option of many, explained here in some words\n"
        text = f'def usage():\n    """usage message for unknown options\n{line * n_lines}"""\n'
        took = []
        for _ in range(5):
            start = time.process_time()
            match_literals(["usage", "message", "for", "unknown", "options"], text)
            took.append(time.process_time() - start)
        return min(took)

    assert seconds(2_000) < 1.0  # 100,000 characters; about 10 ms
    assert seconds(8_000) < 5 * seconds(2_000) + 0.05


def test_a_backslash_before_the_closing_quotes_belongs_to_what_follows_it() -> None:
    """Python's: an escaped quote does not close. What does is three quotes in a row, none of them escaped."""
    message = "user anna is missing in the shop"
    text = 'raise Missing("""user %s \\""" is missing in the shop""")'
    assert weights(message, text) == [4.5]


def test_of_two_literals_the_one_that_is_not_interrupted_has_more() -> None:
    """Both have six of ten words: undefined, binding, s, detected, compiling and when. In the second nothing is filled
    in where something should be."""
    message = "Undefined binding(s) detected when compiling"
    whole = weights(
        message, "`Undefined binding(s) detected when compiling ` + `${name}. Undefined column(s) query: ${sql}`"
    )
    parts = weights(message, "`Undefined binding(s) detected for keys [${keys}] when compiling RAW query: ${sql}`")
    assert whole == pytest.approx([5.5 - 0.4 * 4 / 10], rel=1e-12)
    assert parts == pytest.approx([5.5 - 0.4 * 4 / 10 - 0.3], rel=1e-12)
