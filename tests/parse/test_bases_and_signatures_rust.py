"""What stands around and above definitions: attributes, documentation, signatures; and what implements what."""

from causalist.model.facts import Implementation
from tests.parse.facts_of import facts_of, qualnames

_SOURCE = """\
// Copyright 2020 somebody
//! # Keeps things
//!
//! More.

/// A thing that
/// is kept.
#[derive(Debug, Clone)]
#[serde(rename = "thing")]
pub struct Thing<T: Clone>
where
    T: Copy,
{
    n: T,
}

#[inline]
// An ordinary comment.
pub fn make(n: u8) -> Result<Vec<u8>, ()> { Ok(vec![n]) }

mod tests {
    //! Inside of it.
    /** In a block. */
    fn one() {}
}

fn undocumented() {}
const LONG: &[u8] = &[
    1,
];
"""


def test_documentation_and_spans() -> None:
    facts = facts_of(_SOURCE, "rust")
    found = {d.qualname: d for d in facts.definitions}
    assert facts.doc == "Keeps things"
    assert {name: d.doc for name, d in found.items() if d.doc} == {
        "Thing": "A thing that",
        "make": "An ordinary comment.",
        "tests": "Inside of it.",
        "tests.one": "In a block.",
    }
    rows = {name: (d.start_row, d.end_row) for name, d in found.items()}
    assert rows["Thing"] == (7, 14)  # from its first attribute on
    assert rows["make"] == (16, 18)
    assert rows["LONG"] == (27, 29)


def test_signatures_are_cut_before_the_body() -> None:
    found = {d.qualname: d.signature for d in facts_of(_SOURCE, "rust").definitions}
    assert found["Thing"] == "pub struct Thing<T: Clone> where T: Copy,"
    assert found["make"] == "pub fn make(n: u8) -> Result<Vec<u8>, ()>"
    assert found["LONG"] == "const LONG: &[u8] = &["
    assert found["tests"] == "mod tests"


def test_uses_in_attributes_are_not_kept() -> None:
    facts = facts_of("fn with() {}\n#[a(default = with, b(with()))]\nstruct S { #[c(with)] x: u8 }\n", "rust")
    assert (facts.references, facts.calls) == ((), ())


def test_blocks_that_implement_a_trait_know_what_they_hold() -> None:
    facts = facts_of(
        "struct A;\nimpl A { fn a() {} }\nimpl b::T<u8> for A { fn c() {} fn d() {} }\n"
        "impl<X: B> T for X { fn e() {} }\nimpl T for (u8, u8) { fn f() {} }\n",
        "rust",
    )
    assert qualnames(facts) == ["A", "A.a", "A.c", "A.d", "T.e", "T.f"]
    assert facts.owners == ((1, "A"), (2, "A"), (3, "A"), (4, "T"), (5, "T"))
    assert facts.implementations == (Implementation(-1, "A", "b.T", 2, 4, 2),)
