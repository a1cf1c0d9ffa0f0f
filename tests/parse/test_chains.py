"""Expressions and annotations as chains of names."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.parse import load_settings
from causalist.parse.syntax.chains import array_type_name, chain_of, last_of_chain, type_name


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("f", "f"),
        ("self.session.get", "self.session.get"),
        ("make(1)(2).run", "make()().run"),
        ("make(')', (1, 2)).run", "make().run"),
        ("a?.b!.c", "a.b.c"),
        ("a?.[0].c", "?.c"),
        ("xs[0].close", "?.close"),
        ("xs[0]", ""),
        ("new Thing().go", "Thing().go"),
        ("f<string>", "f"),
        ("f<Map<a, b>>().c", "f().c"),
        ("this.#secret.go", "this.#secret.go"),
        ("await f()", "f()"),
        ("(await f()).g", "f().g"),
        ("(await a || b).g", "?.g"),
        ("(try f()).g", "f().g"),
        ("(f(x) catch return).g", "f().g"),
        ("(a.b orelse c).g", "a.b.g"),
        ("a.?.b.*.c", "a.b.c"),
        ('self.@"is odd"', 'self.@"is odd"'),
        ("(x as T).y.z", "?.y.z"),
        ("'s'.join", "?.join"),
        ("`a${1}`.trim", "?.trim"),
        ("a\n  .b\n  .c", "a.b.c"),
        ("été.où", "été.où"),
        ("1", ""),
        ("1 + f", ""),
        ("a = b", ""),
        ("a.", ""),
        ("f(", ""),
        ("", ""),
        ("a." * 300 + "b", "a." * 300 + "b"),
        ("f()." * 300 + "last", "?.last"),
    ],
)
def test_chain_of(text: str, chain: str) -> None:
    assert chain_of(text) == chain


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Session", "Session"),
        ("'a.Session'", "a.Session"),
        ("Optional[Session]", "Session"),
        ("typing.Optional['Session']", "Session"),
        ("Session | None", "Session"),
        ("None | Session | undefined", "Session"),
        ("Union[Session, None]", "Session"),
        ("Union[A, B]", ""),
        ("A | B", ""),
        ("Annotated[Session, Depends(a | b)]", "Session"),
        ("List[int]", "List"),
        ("Map<string, A | B>", "Map"),
        ("Promise<Session>", "Session"),
        ("Promise<Session | null>", "Session"),
        ("readonly Session", "Session"),
        ("Session[]", ""),
        ("[A, B]", ""),
        ("(a: A) => B", ""),
        ("{ a: A }", ""),
        ("Any", ""),
        ("unknown", ""),
        ("", ""),
        ("A" * 500, ""),
    ],
)
def test_type_name(text: str, name: str) -> None:
    assert type_name(text) == name


def test_only_the_end_of_a_long_chain_is_told() -> None:
    assert last_of_chain("anything at all(1).end") == "?.end"
    assert last_of_chain("anything[1]") == ""


_PIECES = st.lists(
    st.sampled_from(["a", ".", "(", ")", "[", "]", "<", ">", "await ", "new ", '"', "?.", "!", "|", ","])
)


@given(st.one_of(st.text(), _PIECES.map("".join)))
def test_no_text_makes_them_fail(text: str) -> None:
    chain, name = chain_of(text), type_name(text)
    assert not chain.endswith((".", "?")) and not any(character.isspace() for character in chain)
    assert " " not in name


def _written_type(draw: random.Random, depth: int) -> str:
    """A type as people write it, in forms of several languages."""
    if depth == 0:
        return draw.choice(["A", "b.C", "int", "null", "None", "string", "'x'", "?", "*", "self", "T", "...", ""])
    forms = "{}|{} {}&{} Foo<{},{}> List<{}> ({}) {}[] ?{} [{}] [{};3] ()=>{} ({},{}) &{} *{} Box<{}> dict[{},{}] {}?"
    form = draw.choice([*forms.split(), "{} & {}", "{} | {}", "Map<{}, {}>", "({}) -> {}", "{} + {}", "readonly {}"])
    return form.format(*(_written_type(draw, draw.randrange(depth)) for _ in range(form.count("{}"))))


@pytest.mark.parametrize("language", sorted(load_settings()))
def test_any_written_type_is_read(language: str) -> None:
    """Intersections in the arguments of a generic type had no end in PHP."""
    draw, settings = random.Random(7), load_settings()[language].types
    texts = [_written_type(draw, draw.randrange(5)) for _ in range(400)]
    for text in texts:
        assert isinstance(type_name(text, settings) + array_type_name(text, settings), str), text


def test_an_intersection_in_arguments_ends() -> None:
    """It had no end in PHP, and the whole file was read as text."""
    assert type_name("Collection<int, A&B>", load_settings()["php"].types) == "Collection?A[]+B[]"
