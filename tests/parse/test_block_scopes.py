"""Files whose names have block scope: documentation, signatures, and which declaration a name means."""

import pytest

from causalist.model.facts import Binding, FileFacts
from causalist.model.language_settings import TypeSettings
from causalist.model.node_ids import NodeKind
from causalist.parse.syntax.go_like_types import chain_of, type_of
from tests.parse.facts_of import facts_of


def in_function(body: str, parameters: str = "") -> FileFacts:
    return facts_of(f"package p\nfunc f({parameters}) {{\n{body}\n}}\n", "go")


def chains(facts: FileFacts) -> list[str]:
    return [call.callee for call in facts.calls]


def test_definitions_have_their_keyword_and_the_comment_above() -> None:
    text = (
        "//go:build linux\n\n// Package shop sells things.\n//\n// More.\npackage shop\n\n"
        "// Item is sold.\n//nolint:all\ntype Item struct {\n\ta, b int // trailing\n\tc    string\n}\n\n"
        "const (\n\t// One is the first.\n\tOne = 1 // trailing\n\tTwo = 2\n)\n\n"
        "// Sell sells.\nfunc (i *Item[T]) Sell(\n\tn int,\n) (err error) {\n\treturn nil\n}\n\n"
        "var limit = 3\n\ntype (\n\t// Price is paid.\n\tPrice int\n)\n"
    )
    facts = facts_of(text, "go")
    assert (facts.doc, facts.package, facts.owners) == ("Package shop sells things.", "shop", ((6, "Item"),))
    told = [(d.qualname, d.kind, d.signature, d.doc, d.start_row) for d in facts.definitions]
    assert told == [
        ("Item", NodeKind.STRUCT, "type Item struct", "Item is sold.", 9),
        ("Item.a", NodeKind.FIELD, "a, b int", "", 10),
        ("Item.b", NodeKind.FIELD, "b", "", 10),
        ("Item.c", NodeKind.FIELD, "c string", "", 11),
        ("One", NodeKind.CONSTANT, "One = 1", "One is the first.", 16),
        ("Two", NodeKind.CONSTANT, "Two = 2", "", 17),
        ("Item.Sell", NodeKind.METHOD, "func (i *Item[T]) Sell( n int, ) (err error)", "Sell sells.", 21),
        ("limit", NodeKind.CONSTANT, "var limit = 3", "", 27),
        ("Price", NodeKind.TYPE, "Price int", "Price is paid.", 31),
    ]


@pytest.mark.parametrize(
    "header",
    [
        "// Copyright of somebody. All rights reserved.\n\npackage p\n",
        "package p\n\n\n\n\n\n\n// F does.\nfunc F() {}\n",
    ],
)
def test_what_is_no_documentation_of_the_file(header: str) -> None:
    assert facts_of(header, "go").doc == ""


def test_each_block_has_its_own_names() -> None:
    facts = in_function("x.a()\nif x := g(); true { x.b() }\nfor _, x := range y { x.c() }\nx.d()", "x X, y []Y")
    assert chains(facts) == ["x~1.a", "g", "x~2.b", "x~3.c", "x~1.d"]
    assert [(b.target, b.type, b.value) for b in facts.bindings] == [
        ("x~1", "X", ""),
        ("y~1", "[]Y", ""),
        ("x~2", "", "g()"),
        ("x~3", "", "y~1[]"),
    ]


def test_a_name_is_visible_after_its_declaration_and_declared_once_a_block() -> None:
    facts = in_function("x := x.next()\nx, err := x.two()\nx.a(err)", "y int")
    assert chains(facts) == ["x.next", "x~1.two", "x~1.a"]
    assert [b.value for b in facts.bindings if b.target == "x~1"] == ["x.next()", "x~1.two():0"]


def test_the_cases_of_a_switch_over_types_have_types() -> None:
    facts = in_function(
        "switch x := x.(type) {\ncase *A:\n x.a()\ncase B, C:\n x.b()\ndefault:\n x.c()\n}\nx.d()", "x X"
    )
    assert chains(facts) == ["x~3.a", "x~2.b", "x~2.c", "x~1.d"]
    assert [(b.target, b.type, b.value) for b in facts.bindings] == [
        ("x~1", "X", ""),
        ("x~2", "", "x~1"),
        ("x~3", "A", ""),
    ]


def test_receivers_and_type_parameters() -> None:
    facts = facts_of(
        "package p\nfunc (s *S[T]) m(t T) T { s.a(s.b); return t }\nfunc g[K any, V io.Reader](k K, v []V) V {}\n", "go"
    )
    assert chains(facts) == ["@self.a"]
    assert [r.name for r in facts.references if "." in r.name] == ["@self.b", "io.Reader"]
    assert facts.bindings == (
        Binding(0, "t~1", "any", "", 1),
        Binding(1, "k~1", "any", "", 2),
        Binding(1, "v~1", "[]io.Reader", "", 2),
    )
    assert facts.returns == ((0, "any"), (1, "io.Reader"))


def test_constants_repeat_the_one_before() -> None:
    facts = facts_of("package p\nconst (\n\tA T = iota\n\tB\n\tC = U(1)\n\tD\n\tE = 1\n)\n", "go")
    assert [(b.target, b.type, b.value) for b in facts.bindings] == [
        ("A", "T", "iota"),
        ("B", "T", "iota"),
        ("C", "", "U()"),
        ("D", "", "U()"),
        ("E", "", ""),
    ]


def test_local_names_are_no_references() -> None:
    facts = in_function("x := a\nb(x, x.m, x.n.o, T{k: x, l: c.d})\nx.e = f.g", "y Y")
    assert [r.name for r in facts.references] == ["Y", "a", "x~1.m", "x~1.n.o", "T", "c.d", "f.g"]


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("a", "a"),
        ("a.b.c", "a.b.c"),
        ("a . b", "a.b"),
        ("a.\n\tb", "a.b"),
        ("f(x, \")\").g", "f().g"),
        ("f(')').g", "f().g"),
        ("f(/* ) */ x).g // (", "f().g"),
        ("F[int](x)", "F[]()"),
        ("m[k][0]", "m[][]"),
        ("m[1:2]", "m"),
        ("m[f(a:b)]", "m[]"),
        ("&p.T{a: b}", "p.T()"),
        ("G[int]{}", "G()"),
        ("[]T{{}}", "T()^"),
        ("map[K]*p.T{}", "p.T()^"),
        ("[...]T{}[0]", "T()^[]"),
        ("make(chan T, 3)", "T()^"),
        ("new(p.T)", "p.T()"),
        ("append(xs, 1)", "xs"),
        ("(*T)(nil)", "T()"),
        ("(&T{}).m", "T().m"),
        ("x.(*T)", "T!"),
        ("x.([]T)[0]", "T!^[]"),
        ("x.(interface{ M() }).M", "?.M"),
        ("<-c", "c[]"),
        ("func() T { return x }", ""),
        ("func() T { return x }()", ""),
        ("func() T { return x }().m", "?.m"),
        ("a + b", ""),
        ("!a", ""),
        ("\"s\"", ""),
        ("1", ""),
        ("f(", ""),
        ("T{ a: b, c", "T()"),
        ("", ""),
    ],
)  # fmt: skip
def test_chains_of_expressions(text: str, chain: str) -> None:
    assert (
        chain_of(
            text, TypeSettings(prefixed=True, constructor_functions=("new", "make"), identity_functions=("append",))
        )
        == chain
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("T", "T"),
        ("**p.T", "p.T"),
        ("[3]T", "[]T"),
        ("map[p.K][]*T", "[p.K][]T"),
        ("chan<- T", "[T]T"),
        ("<-chan []T", "[[]T][]T"),
        ("func()", ""),
        ("func(a, b int) (T, error)", "()(T,error)"),
        ("(a, b T, err error)", "(T,T,error)"),
        ("(T, func(int) U)", "(T,()U)"),
        ("(err error)", "error"),
        ("S[map[K]V]", "S"),
        ("xs ...T", "[]T"),
        ("struct{ a T }", "struct{a:T}"),
        ("[]struct{ a T }", "[]struct{a:T}"),
        ('struct {\n\ta, b *p.T `t:"x"` // c\n\tf func(\n\t) T; *q.U\n\tn any\n}', "struct{a:p.T,b:p.T,f:()T,q.U,n:}"),
        ("struct{}", ""),
        ("map[K]struct{}", "[K]"),
        ("any", ""),
        ("A | B", ""),
        ("~[]T", ""),
        ("", ""),
    ],
)
def test_types(text: str, written: str) -> None:
    assert type_of(text) == written
