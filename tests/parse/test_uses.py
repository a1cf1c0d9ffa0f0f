"""Calls that are one node with receiver, name and arguments; signatures and documentation beside them."""

import pytest

from causalist.model.facts import Call
from tests.parse.facts_of import facts_of


def calls(text: str) -> list[tuple[str, str]]:
    """(callee, arguments) of the calls in the body of a Java method."""
    return [(c.callee, c.arguments) for c in facts_of(f"class A {{ void f() {{ {text} }} }}", "java").calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f();", [("f", "")]),
        ("a.b.f(x);", [("a.b.f", "?")]),
        ("a.f(g(1), 2);", [("a.f", "?i"), ("g", "i")]),
        ("a.f().g(x).h();", [("a.f", ""), ("a.f().g", "?"), ("a.f().g().h", "")]),
        ('a.f("(").g(")");', [("a.f", "s"), ("a.f().g", "s")]),
        ("a.f(() -> b.g()).h();", [("a.f", ">"), ("b.g", ""), ("a.f().h", "")]),
        ("a.f() // (x\n .g() /* ( */ .h();", [("a.f", ""), ("a.f().g", ""), ("a.f().g().h", "")]),
        ("a.f().b.g();", [("a.f", ""), ("a.f().b.g", "")]),
        ("A.<B, C<D>> f(1).<E>g();", [("A.f", "i"), ("A.f().g", "")]),
        ("new B(1).f();", [("B", "="), ("B().f", "")]),
        ("new b.C<D>(g()) { int x = h(1); };", [("b.C", "="), ("g", ""), ("h", "i")]),
        ("x.new B(1);", [("x.B", "=")]),
        ("this.f(); super.g(); A.this.h();", [("this.f", ""), ("super.g", ""), ("A.this.h", "")]),
        ("((B) x).f();", [("<B>.f", "")]),
        ("((b.C<D>) g(1)).x.f();", [("g", "i"), ("<b.C{D}>.x.f", "")]),
        ("((B) x.f()).g();", [("x.f", ""), ("<B>.g", "")]),
        ("(x ? y : z).f();", [("?.f", "")]),
        ("((B) x + (C) y).f();", [("?.f", "")]),
        (
            "a[0].f(); a[i][j + 1].b[k].g(); h()[0].f();",
            [("a.[].f", ""), ("a.[].[].b.[].g", ""), ("h", ""), ("h()[].f", "")],
        ),
        ('"text".f();', [("?.f", "")]),
        ("f('c', 1, -2L, 1.5, 2f, 0x1F, true, null, x -> x, A::b, x + 1);", [("f", "cildfibn>>?")]),
        ("a.f(\n  1, // one, of two\n  /* and */ 2);", [("a.f", "ii")]),
    ],
)
def test_callee_and_arguments(text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(calls(text)) == sorted(expected)


def test_a_long_chain_is_read_to_its_end() -> None:
    found = calls("a()" + f".step({'x' * 50})" * 40 + ".last();")
    assert found[-1] == ("a()" + ".step()" * 40 + ".last", "")
    assert ("?.last", "") in calls("a" + f"[{'x' * 500}]" + ".last();")


def test_a_call_stands_in_the_line_of_its_name() -> None:
    facts = facts_of("class A { void f() {\n a\n  .b(\n 1)\n  .c();\n} }", "java")
    assert facts.calls == (Call(1, "a.b", 2, "i"), Call(1, "a.b().c", 4, ""))


def test_a_name_that_is_declared_again_is_another() -> None:
    facts = facts_of("class A { void f(B x) { x.a(); for (C y : z) {} for (D y : z) { y.b(); } } }", "java")
    assert [(b.target, b.type) for b in facts.bindings] == [("x", "B"), ("y", "C"), ("y#2", "D")]
    assert [c.callee for c in facts.calls] == ["x.a", "y#2.b"]


def test_parameters_and_returns() -> None:
    facts = facts_of("class A { List<B> f(final int a, c.D<E> b, F[] c, G... d) {} A() {} abstract void g(); }", "java")
    assert facts.parameters == ((1, ("int", "c.D", "F[]", "G...")), (2, ()), (3, ()))
    assert facts.returns == ((1, "List?B[]"), (3, "void"))


@pytest.mark.parametrize(
    ("source", "signature"),
    [
        ('@Get("a)") @B public <T> void f(\n  T a) throws C { }', "public <T> void f( T a) throws C"),
        ("int f();", "int f()"),
        ("@A\n int f(int a,\n int b);", "int f(int a, int b)"),
        ("private static final int X = 1;", "private static final int X = 1"),
        ("class B<T> extends C<T> { }", "class B<T> extends C<T>"),
        ("@interface B { }", "@interface B"),
        ("Object o = new B(1) { };", "Object o = new B(1) { }"),
    ],
)
def test_signatures(source: str, signature: str) -> None:
    assert facts_of(f"class A {{ {source} }}", "java").definitions[1].signature == signature


@pytest.mark.parametrize(
    ("comment", "doc"),
    [
        ("/** Opens the {@link Door#lock() lock}. Then more. */", "Opens the lock."),
        (
            "/**\n * Opens, e.g. by hand,\n * the <b>door</b> &amp; more.\n *\n * <p>Second.\n */",
            "Opens, e.g. by hand, the door & more.",
        ),
        ("/**\n * @param a first\n */", ""),
        ("/** {@inheritDoc} */", ""),
        ("/* Opens. It. */", "Opens. It."),
        ("// Opens.", "Opens."),
        ("int x; // about x", ""),
        ("", ""),
    ],
)
def test_documentation(comment: str, doc: str) -> None:
    facts = facts_of(f"class A {{\n{comment}\n@B void f() {{}} }}", "java")
    assert facts.definitions[-1].doc == doc


def test_documentation_of_a_package_is_the_file_s() -> None:
    assert (
        facts_of("/*\n * Licence.\n */\n/**\n * Doors. And more.\n */\npackage a.b;\n", "java").doc
        == "Doors. And more."
    )
    facts = facts_of("package a.b;\nimport c.D;\nclass E {}\n", "java")
    assert (facts.package, facts.doc) == ("a.b", "")
