"""Broken, mis-encoded, deep and random files give facts and diagnostics, soon, and never an exception."""

import gc
import random
import time
import tracemalloc
from pathlib import Path

import pytest
import tree_sitter
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.graph import build_graph
from causalist.model.facts import FileFacts
from causalist.parse import dialect_of, load_grammar, load_settings, parse_file, parse_text, syntax_tree
from causalist.parse.languages import dialect_for
from causalist.parse.parser import _MATCHED_FAMILIES, _MIN_BYTES_FOR_MATCHES, _parse_best, _read_captures
from causalist.parse.syntax_tree import ParseTooLong
from tests.languages.test_cases import read_case
from tests.parse.facts_of import facts_of, qualnames
from tests.trials import count_of, part_of

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).resolve().parents[2]
_DIALECTS = [
    *("python", "typescript", "tsx", "javascript", "go", "java", "rust", "php", "ruby"),
    *("kotlin", "lua", "bash", "elixir", "swift", "scala", "c", "cpp", "csharp"),
    *sorted(name for name, each in load_settings().items() if each.extra),
]


def samples() -> list[tuple[str, bytes]]:
    """(path, content) of the sample repositories and the language cases. An index that somebody made there would
    have the trials below break other bytes."""
    sources = [p for p in sorted((_ROOT / "sample_repos").rglob("*")) if ".causalist" not in p.parts]
    files = [(str(p), p.read_bytes()) for p in sources if p.is_file()]
    for case in sorted((_ROOT / "tests" / "languages").glob("*/*.case")):
        files += [(path, text.encode()) for path, text in read_case(case.read_text(encoding="utf-8")).files]
    return files


def any_facts(path: str, data: bytes) -> FileFacts:
    dialect = dialect_of(path)
    return facts_of(data, dialect) if dialect else parse_text(path, data)


def assert_sound(facts: FileFacts, data: bytes) -> None:
    """What every consumer relies on, however broken the file is."""
    n = len(facts.definitions)
    for i, d in enumerate(facts.definitions):
        assert d.name and d.qualname and -1 <= d.parent < i
        assert 0 <= d.start_byte < d.end_byte <= len(data) and 0 <= d.start_row <= d.end_row < facts.n_rows
        if d.parent >= 0:
            outer = facts.definitions[d.parent]
            assert outer.start_byte <= d.start_byte and d.end_byte <= outer.end_byte
    for table in (facts.calls, facts.references, facts.imports, facts.bindings):
        assert all(-1 <= row.scope < n and 0 <= row.row < facts.n_rows for row in table)
    assert all(0 <= base.definition < n for base in facts.bases)
    assert all(call.callee for call in facts.calls)
    assert facts.n_bytes == len(data)


@pytest.mark.slow
def test_truncated_files() -> None:
    """Every fourth file is cut in one place; `--full-trials` cuts all in six."""
    chooser = random.Random(7)
    for path, data in part_of(samples(), 0, 4):
        for cut in sorted(chooser.sample(range(len(data) + 1), min(count_of(1, 6), len(data) + 1))):
            assert_sound(any_facts(path, data[:cut]), data[:cut])


@pytest.mark.slow
def test_mutated_files() -> None:
    """Each file has a seed of its own, so that a new sample changes no other. Every fourth file, none of those that are
    cut, is broken once; `--full-trials` breaks all twice.

    Known gap: Kotlin's grammar itself takes over a minute for one file of 1,927 bytes that the shared seed made.
    """
    for path, data in part_of(samples(), 1, 4):
        chooser = random.Random(f"8 {path}")
        for _ in range(count_of(1, 2)):
            broken = bytearray(data)
            for _ in range(chooser.randint(1, 20)):
                at = chooser.randrange(len(broken) + 1)
                broken[at : at + chooser.randint(0, 3)] = chooser.randbytes(chooser.randint(0, 3))
            assert_sound(any_facts(path, bytes(broken)), bytes(broken))


# What fuzzers found: a type without arguments, a name that the grammar only supposes, a member that ends behind its
# type.
_FOUND = {
    "A.java": b"a::.open y a Predicate<o D({returnd->g;",
    "a.adb": b"return s:ef\nf(*)",
    "A.fs": b"type r()=\nt member=\nmodule O",
}


@pytest.mark.parametrize("path", _FOUND)
def test_what_fuzzers_found(path: str) -> None:
    assert_sound(any_facts(path, _FOUND[path]), _FOUND[path])


@settings(max_examples=count_of(40, 80), deadline=None)
@given(st.binary(max_size=300), st.sampled_from(_DIALECTS))
def test_random_bytes(data: bytes, dialect: str) -> None:
    assert_sound(facts_of(data, dialect), data)


def _pieces(text: str) -> list[str]:
    """Split at the bar that no language has: one string is easier to read than a hundred."""
    return text.split("¦")


_TOKENS = {
    "python": _pieces("def ¦class ¦f¦A¦(¦)¦:¦\n¦    ¦import ¦from ¦.¦*¦@¦=¦'¦[¦]"),
    "typescript": _pieces(
        "function ¦class ¦f¦A¦(¦)¦{¦}¦=>¦;¦import ¦export ¦from ¦'m'¦const ¦=¦.¦default ¦require¦exports¦"
        "module¦,¦:¦<¦>¦get ¦new ¦interface "
    ),
    "go": _pieces(
        'package p\n¦import ¦"m"¦func ¦type ¦struct ¦interface ¦var ¦const ¦a¦B¦_¦(¦)¦{¦}¦[¦]¦:=¦=¦,¦.¦*¦&¦'
        "<-¦chan ¦map¦range ¦for ¦if ¦switch ¦case ¦default:¦return ¦go ¦\n¦;¦1¦...¦~¦|"
    ),
    "java": _pieces(
        "class ¦interface ¦enum ¦record ¦f¦A¦(¦)¦{¦}¦;¦,¦.¦=¦new ¦this¦super¦::¦->¦<¦>¦[¦]¦@¦1¦'s'¦"
        "package ¦import ¦static ¦*¦for (A a : b)¦/** d */"
    ),
    "rust": _pieces(
        "fn ¦struct ¦impl ¦for ¦trait ¦enum ¦mod ¦use ¦a¦A¦T¦::¦(¦)¦{¦}¦<¦>¦;¦,¦*¦&¦'a ¦let ¦match ¦=>¦=¦"
        "if ¦Some(¦|¦!¦#[a]¦self¦.¦0¦macro_rules! ¦$x¦:¦..¦//! d\n¦/// d\n¦where ¦dyn ¦\n"
    ),
    "elixir": _pieces(
        'defmodule A.B ¦def ¦defp ¦do\n¦end\n¦f(¦)¦g?¦h!¦x¦,¦do: ¦when ¦|>¦->¦@doc ¦"""¦@spec ¦@x ¦::¦%A{¦'
        '}¦{¦[¦]¦&¦/1¦:a¦alias ¦import ¦use ¦A¦.¦=¦\n¦fn ¦#{¦"¦# c\n¦defstruct ¦defmacro ¦case ¦<>¦\\\\ ¦1'
    ),
    "bash": _pieces(
        "f() {¦}¦function g ¦if ¦then ¦fi\n¦for ¦do ¦done\n¦case ¦esac\n¦$x¦$(¦)¦`¦'s'¦\"¦<<E\n¦E\n¦|¦&&¦"
        ";¦\n¦# c\n¦source a.sh\n¦. b\n¦x=1 ¦${y}¦local ¦a-b ¦n::m ¦[[ ¦ ]]¦((¦))¦readonly ¦trap f EXIT\n¦"
        "1¦{¦(¦!"
    ),
    "lua": _pieces(
        "function ¦local ¦end\n¦f¦A¦a.b¦:m¦.n¦(¦)¦{¦}¦[¦]¦=¦,¦'s'¦[[x]]¦require ¦return ¦if ¦then ¦else ¦"
        "for ¦in ¦do ¦while ¦-- c\n¦\n¦1¦--[[ d ]]¦setmetatable(¦__index¦self¦class(¦goto ¦::l::¦...¦..¦"
        "not ¦repeat "
    ),
    "ruby": _pieces(
        "def ¦class ¦module ¦end\n¦do |x|¦{ |y| ¦}¦self¦super¦@a¦@@b¦A¦f¦f?¦g!¦::¦.¦&.¦(¦)¦[¦]¦=¦||=¦=>¦:s¦"
        "'s'¦\"#{¦}\"¦,¦\n¦;¦# c\n¦if ¦attr_reader ¦include ¦require 'a'\n¦<<~X\n¦X\n¦new¦Struct.new(¦"
        "case ¦in ¦return ¦alias ¦private ¦yield ¦rescue ¦*¦&¦->¦< ¦task ¦1"
    ),
    "c": _pieces(
        "struct ¦union ¦enum ¦typedef ¦static ¦int ¦void ¦A¦f¦*¦(¦)¦{¦}¦[¦]¦->¦.¦,¦;¦=¦1¦\n¦\n#if A\n¦"
        '\n#else\n¦\n#endif\n¦\n#define F(x) x\n¦/* c */¦#include <a.h>\n¦extern "C" ¦A_API ¦'
        "va_arg(a, int *)¦'¦\"¦TEST(a) ¦return "
    ),
    "csharp": _pieces(
        "class ¦struct ¦record ¦interface ¦enum ¦namespace ¦namespace A;¦using ¦partial ¦public ¦A¦f¦this¦"
        "base¦.¦?.¦(¦)¦{¦}¦<¦>¦[¦]¦=¦=>¦;¦,¦1¦var ¦new ¦get; set; ¦operator ¦event ¦delegate ¦"
        "foreach (var x in y) ¦[Fact] ¦/// <summary>a</summary>\n¦await "
    ),
    "cpp": _pieces(
        "class ¦struct ¦namespace ¦template <class T> ¦enum class ¦using ¦public: ¦virtual ¦~¦A¦f¦::¦->¦.¦"
        "(¦)¦{¦}¦<¦>¦*¦&¦=¦= 0¦;¦,¦1¦auto ¦new ¦operator==¦TEST_F(A, f) ¦A_EXPORT ¦Q_OBJECT¦"
        "for (auto x : a) ¦[&](int a) ¦\n#if A\n¦\n#endif\n"
    ),
    "php": _pieces(
        "<?php ¦?>¦function ¦class ¦trait ¦enum ¦namespace ¦use ¦new ¦clone ¦static ¦fn ¦foreach ¦ as ¦$x¦"
        "$this¦->¦?->¦::¦\\¦f¦A¦(¦)¦{¦}¦[¦]¦=¦=>¦;¦,¦?¦|¦:¦#[¦/** @var A[] $x */¦// c\n¦'s'¦require ¦as ¦"
        "const "
    ),
    "kotlin": _pieces(
        "class ¦interface ¦object ¦companion ¦enum ¦fun ¦val ¦var ¦by ¦when ¦is ¦in ¦package p\n¦import ¦a¦"
        'B¦open¦this¦super¦it¦::¦.¦?.¦!!¦->¦=¦:¦,¦(¦)¦{¦}¦[¦]¦<¦>¦@¦`a b`¦"s"¦${¦1¦\n¦;¦// c\n¦*'
    ),
    "swift": _pieces(
        "class ¦struct ¦enum ¦case ¦protocol ¦extension ¦func ¦init¦var ¦let ¦if ¦in ¦import ¦a¦B¦self¦"
        'super¦$0¦.¦?.¦!¦->¦=¦:¦,¦(¦)¦{¦}¦[¦]¦<¦>¦@x ¦#if A\n¦#endif\n¦"s"¦\\(¦1¦\n¦;¦/// d\n¦try ¦guard '
    ),
    "scala": _pieces(
        "class ¦object ¦trait ¦case ¦enum ¦def ¦val ¦var ¦type ¦given ¦extension ¦new ¦package p\n¦import ¦"
        'a¦B¦this¦super¦_¦.¦=>¦<-¦=¦:¦,¦(¦)¦{¦}¦[¦]¦@x ¦match ¦for ¦yield ¦"s"¦s"${¦1¦\n¦\n  ¦;¦// c\n¦'
        "with "
    ),
}
_NAMES = {
    "rust": "src/lib.rs",
    "python": "a.py",
    "typescript": "a.ts",
    "go": "a.go",
    "java": "a.java",
    "php": "a.php",
    "ruby": "a.rb",
    "kotlin": "a.kt",
    "lua": "a.lua",
    "bash": "a.sh",
    "elixir": "a.ex",
    "swift": "a.swift",
    "scala": "a.scala",
    "c": "a.c",
    "csharp": "a.cs",
    "cpp": "a.cpp",
}


@pytest.mark.parametrize("dialect", _DIALECTS)
def test_white_space_that_a_grammar_takes_for_a_name(dialect: str) -> None:
    chooser = random.Random(9)
    blanks = ["\x1c", "\x1f", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff"]
    for _ in range(40):
        text = "".join(chooser.choice([*blanks, *_TOKENS.get(dialect, ["f(", ")", "\n"])]) for _ in range(25))
        assert_sound(facts_of(text, dialect), text.encode())


def test_a_name_that_the_parser_made_up_has_a_text() -> None:
    """Error recovery assigns to an identifier of no width here."""
    data = b":'f"
    assert_sound(facts_of(data, "python"), data)


def test_a_short_file_that_its_grammar_cannot_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kotlin's grammar would take minutes and gigabytes for these lines."""
    monkeypatch.setattr(syntax_tree, "_MIN_STEPS", 20_000)
    says = "// " + "x" * 60
    text = f"""class Words
    fun states() {{  {says}
    fun text() = $$""\x1fa $b\"""
    fun sort(x: Any) = when (x) {{
\0    }}
    operator fun set(n: Int, to: Int) {{}}
    fun below() {{  {says}
        val bit = open(1)  {says}
        set(1, 2)  {says}
        val more = stream()  {says}
        get(3)  {says}
}}::
annotation class Mark(val names: Array<String> = [])  {says}
open class Base {{
    fun turn() = 1
}}"""
    assert [each.slug for each in parse_file("src/Words.kt", text.encode()).diagnostics] == ["parse-too-long"]


def test_a_constant_in_a_pattern_takes_no_place_of_a_name() -> None:
    """A variant that a pattern compares with binds nothing; without a name after it, nothing is left to type."""
    told = facts_of("fn f() { let (NONE, x) = make(); x.go(); }", "rust").bindings
    assert [(binding.target.partition("'")[0], binding.value) for binding in told] == [("x", "make().1")]
    assert facts_of("fn e(T{T}:b{}", "rust").bindings == ()


def test_what_the_parser_puts_in_is_no_definition() -> None:
    """Error recovery ends a declaration of a type with a binding of no width here."""
    assert qualnames(facts_of("((e))type", "ocaml_interface")) == []
    assert qualnames(facts_of("val a : int\ntype", "ocaml_interface")) == ["a"]


@settings(max_examples=count_of(40, 120), deadline=None)
@given(st.data(), st.sampled_from(sorted(_TOKENS)))
def test_random_tokens(data: st.DataObject, dialect: str) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(_TOKENS[dialect]), max_size=60)))
    facts = facts_of(text, dialect)
    assert_sound(facts, text.encode())
    build_graph([(_NAMES[dialect], facts)], load_settings())


@pytest.mark.parametrize(
    ("text", "dialect", "kept"),
    [
        ("def a(): pass\nclass B:\n    def m(self): pass\ndef c(:\n", "python", ["a", "B", "B.m"]),
        ("def a(): pass\nx = (1,\n", "python", ["a"]),
        ("function a() {}\nclass B { m() {} }\nfunction c( {", "typescript", ["a", "B", "B.m"]),
        ("package p\nfunc a() {}\ntype B struct{}\nfunc (b B) m() {}\nfunc c( {", "go", ["a", "B", "B.m"]),
        ("class A { void m() {} }\nclass B { int n; void o( {", "java", ["A", "A.m"]),
        ("<?php function a() {}\nclass B { function m() {} }\nfunction c( {", "php", ["a", "B", "B.m"]),
        ("defmodule A do\n  def b, do: 1\n  def b(1), do: 2\nend\ndefmodule C do\n def d(", "elixir", ["A", "A.b"]),
        ("a() { :; }\nfunction b { :; }\nc() { if x", "bash", ["a", "b"]),
        ("function a() end\nlocal B = {}\nfunction B:m() end\nfunction c(", "lua", ["a", "B", "B.m"]),
        ("def a; end\nclass B\n  def m; end\nend\ndef c(\n", "ruby", ["a", "B", "B.m"]),
        ("fun a() {}\nclass B {\n    fun m() {}\n}\nfun c( {", "kotlin", ["a", "B", "B.m"]),
        ("func a() {}\nclass B { func m() {} }\nfunc c( {", "swift", ["a", "B", "B.m"]),
        ("def a() = 1\nclass B { def m() = 1 }\ndef c( {", "scala", ["a", "B", "B.m"]),
        ("int a(void) {}\nstruct B { int m; };\nint c( {", "c", ["a", "B", "B.m"]),
        ("int a() {}\nclass B { void m() {} };\nvoid c( {", "cpp", ["a", "B", "B.m"]),
        ("class A { void m() {} }\nclass B { int n; void o( {", "csharp", ["A", "A.m"]),
        ("fn a() {}\nstruct B;\nimpl B { fn m(&self) {} }\nfn c( {", "rust", ["a", "B", "B.m"]),
    ],
)
def test_facts_before_the_break_are_kept(text: str, dialect: str, kept: list[str]) -> None:
    facts = facts_of(text, dialect)
    assert qualnames(facts)[: len(kept)] == kept
    assert [d.slug for d in facts.diagnostics] == ["syntax-error"]


def test_what_cannot_be_parsed_is_no_definition() -> None:
    """An error of Kotlin's grammar is a class only where it has the word and a name."""
    facts = facts_of("fun a() {}\nclass {\n    fun b() {}\n}\nfun c() {}\n", "kotlin")
    assert qualnames(facts) == ["a", "b", "c"] and [d.slug for d in facts.diagnostics] == ["syntax-error"]
    facts = facts_of("class A<T>(val n: Int) where T : B<T>, T by 3 {\n    fun b() {}\n}\n", "kotlin")
    assert qualnames(facts) == ["A", "A.n"]
    assert qualnames(facts_of("package p.\nimport a", "kotlin")) == []


@pytest.mark.parametrize(
    "case",
    ["cpp/calls", "kotlin/soft_keywords", "swift/later_syntax", "typescript/jsx_components", "typescript/later_syntax"],
)
def test_what_a_grammar_does_not_know_is_no_error(case: str) -> None:
    for path, text in read_case((_ROOT / "tests" / "languages" / f"{case}.case").read_text(encoding="utf-8")).files:
        assert parse_file(path, text.encode()).diagnostics == (), path


def test_encodings() -> None:
    latin = facts_of(b"# caf\xe9\ndef f(): return g()\n")
    assert qualnames(latin) == ["f"] and [(d.slug, d.row) for d in latin.diagnostics] == [("not-utf-8", 0)]
    assert qualnames(facts_of(b"\xef\xbb\xbfdef f(): ...\n")) == ["f"]
    assert qualnames(facts_of(b'\xef\xbb\xbfimport "a"\nclass A { m() {} }\n', "typescript"))[-1] == "A.m"
    assert "f" in qualnames(facts_of(b"def f(): ...\n\0\0\ndef g(): ...\n"))
    for dialect in _DIALECTS:
        empty = facts_of(b"", dialect)
        assert (empty.definitions, empty.diagnostics, empty.n_rows, empty.n_bytes) == ((), (), 1, 0)


def test_crlf_line_ends_have_the_same_rows() -> None:
    text = (
        '"""Doc."""\nimport a\n\ndef f(x):\n    """Says.\n\n    More."""\n    return a.b(x)\n\nclass C(f):\n    y = 1\n'
    )
    plain, windows = facts_of(text), facts_of(text.replace("\n", "\r\n"))
    assert [(d[:4], d.start_row, d.end_row, d.signature, d.doc) for d in plain.definitions] == [
        (d[:4], d.start_row, d.end_row, d.signature, d.doc) for d in windows.definitions
    ]
    assert (plain.calls, plain.bases, plain.imports, plain.bindings) == (
        windows.calls,
        windows.bases,
        windows.imports,
        windows.bindings,
    )


_DEEP = 10_000
_DEEP_FILES: list[tuple[str, str, list[str]]] = [
    # The grammar of PowerShell gives this up at once, and the file is text.
    (
        "parentheses",
        "x = " + "(" * _DEEP + "1" + ")" * _DEEP,
        part_of([each for each in _DIALECTS if each != "powershell"], 0, 12),
    ),
    # The grammar of Dart gives this up, and the file is text.
    (
        "brackets",
        "x = " + "[" * _DEEP + "]" * _DEEP,
        part_of([each for each in _DIALECTS if each != "dart"], 2, 12),
    ),
    # The grammar of Lua takes about ten seconds to give this up, by itself; it is no Lua.
    (
        "dicts",
        "x = " + '{"a":' * 5000 + "1" + "}" * 5000,
        part_of([each for each in _DIALECTS if each != "lua"], 4, 12),
    ),
    ("open parentheses", "f(" * _DEEP, part_of(_DIALECTS, 6, 12)),
    # What the grammar of Bash makes of it takes time in the square of it; it is no Bash. So do names and sums of F#.
    # So many operators of Perl are given up, and the file is text.
    (
        "chain of calls",
        "x = a()" + ".b().c()" * 18_750,
        part_of([each for each in _DIALECTS if each not in ("bash", "fsharp", "perl")], 8, 12),
    ),
    (
        "chain of names",
        "x = a" + ".b" * 75_000 + "()",
        part_of([each for each in _DIALECTS if each not in ("fsharp", "perl")], 10, 12),
    ),
    (
        "sums",
        "x = " + "a + " * 15_000 + "a",
        part_of([each for each in _DIALECTS if each not in ("fsharp", "perl")], 0, 12),
    ),
    ("methods", "$x = $a" + "->b(1)->c" * 2000 + ";", ["perl"]),
    ("keys", "$x = $a" + "->{b}{c}" * 3000 + ";", ["perl"]),
    ("packages", "package A;\nsub f { my $self = shift; $self->{b}->c }\n" * 3000, ["perl"]),
    ("lists of exports", "our @EXPORT = (\n" * 10_000, ["perl"]),
    ("headings", "=item a\n\n" * 10_000, ["perl"]),
    ("targets", 'x(name = "a", deps = [":b", "//c:d"])\n' * 5000, ["starlark"]),
    ("groups", "a :: proc{" + "b, " * 20_000 + "}", ["odin"]),
    ("procedures", "a :: proc(b: int, c := 3) { d.e(b, `f`) }\n" * 3000, ["odin"]),
    ("instances", "module a; " + "b #(.C(d::e)) f (.g(h[1].i)); " * 5000 + "endmodule", ["systemverilog"]),
    ("type arguments", "a " + "#(b " * 5000 + ")" * 5000 + "::c d;", ["systemverilog"]),
    ("properties", "module a; " + "`B(c, d |-> ##[1:2] e) " * 5000 + "endmodule", ["systemverilog"]),
    ("branches", "module a;\n" + "`ifdef A\nb c ();\n`else\nd c (\n`endif\n" * 3000, ["systemverilog"]),
    ("methods", "class a; function f(); " + "b.c().d[1].e(); " * 5000 + "endfunction endclass", ["systemverilog"]),
    ("calls", "package body a is constant b : c := " + "d(" * 400 + "e" + ")" * 400 + "; end;\n", ["vhdl"]),
    ("names", "architecture a of b is begin " + "c <= d(1)(2 to 3).e; f.g(h => i'length); " * 3000 + "end;", ["vhdl"]),
    (
        "subprograms",
        "package a is " + "function b(c : d := 1) return e; alias f is b [d return e]; " * 1000 + "end;",
        ["vhdl"],
    ),
    (
        "instances",
        "architecture a of b is begin " + "c : entity d.e(f) port map (g => h(1)); " * 3000 + "end;",
        ["vhdl"],
    ),
    ("structures", "a = struct(" + "b = c, " * 15_000 + ")", ["starlark"]),
    ("loads", 'load("a", ' + '"b", c = "d", ' * 15_000 + ")", ["starlark"]),
    ("callbacks", "a(function(){" * 25_000 + "})" * 25_000, ["javascript"]),
    ("arrows", "a(()=>" * 25_000 + "1" + ")" * 25_000, ["typescript"]),
    ("assignments", "Object.assign(a.prototype, " * 15_000 + "{}" + ")" * 15_000, ["javascript", "typescript"]),
    ("objects", "x = " + "{a(){return " * 3000 + "1" + "}}" * 3000, ["javascript"]),
    ("macros", "fn f() { " + "a!(" * 3000 + ")" * 3000 + " }", ["rust"]),
    ("tokens", "fn f() { a!(" + "b(c, " * 10_000 + ")" * 10_000 + "); }", ["rust"]),
    ("closures", "fn f() { " + "a.map(|x| " * 3000 + "x" + ")" * 3000 + " }", ["rust"]),
    ("matches", "fn f() { " + "match a { Some(b) => " * 2000 + "b" + "}" * 2000 + " }", ["rust"]),
    ("modules", "mod a { " * 2000 + "use super::*; fn f() { g(); }" + "}" * 2000, ["rust"]),
    ("generics", "type A = " + "Box<" * 5000 + "T" + ">" * 5000 + ";", ["rust"]),
    ("use trees", "use " + "a::{" * 5000 + "b" + "}" * 5000 + ";", ["rust"]),
    ("long use", "use a::{" + "b::c, " * 15_000 + "};", ["rust"]),
    ("impls", "struct A; " + "impl A { fn f(&self) { self.f() } } " * 5000, ["rust"]),
    ("rebound", "fn f() { " + "let x = x.y(); " * 10_000 + "}", ["rust"]),
    ("elements", "x = " + "<A>" * 5000 + "</A>" * 5000, ["tsx"]),
    ("closures", "package p\nfunc f() {" + "x := func() {" * 10_000 + "}" * 10_000, ["go"]),
    ("values", "package p\nfunc f() { x := a(" + "func() { y := b(" * 10_000 + ")}" * 10_000 + ")}", ["go"]),
    ("literals", "package p\nvar x = " + "T{a: " * 10_000 + "1" + "}" * 10_000, ["go"]),
    ("pointers", "package p\nvar x " + "*" * _DEEP + "T", ["go"]),
    ("collections", "package p\nvar x " + "[]" * _DEEP + "T", ["go"]),
    ("constants", "package p\nconst (\n\ta = iota\n" + "".join(f"\tA{i}\n" for i in range(30_000)) + ")", ["go"]),
    ("names", "package p\nfunc f() {\n" + "\tif x := x.f(); x {\n" * 5000 + "}\n" * 5001, ["go"]),
    ("fields", "package p\ntype T struct {\n" + "".join(f"\ta{i} []*T\n" for i in range(20_000)) + "}", ["go"]),
    ("calls on calls", "class A { void f() { a()" + ".b(1).c()" * 18_750 + "; } }", ["java"]),
    ("remarks in a chain", "class A { void f() { a()" + " // x\n .b()" * 10_000 + "; } }", ["java"]),
    ("nested arguments", "class A { void f() { " + "f(" * 8_000 + ")" * 8_000 + "; } }", ["java"]),
    ("types without a name", "class A { B x = " + "new B() { B x = " * 500 + "1" + "; }" * 500 + "; }", ["java"]),
    ("branches", "\n#if A\nint f(int a) {\n#else\nint f(void) {\n#endif\n}" * 3000, ["c"]),
    ("open branches", "\n#if A\n{" * 5000, ["c"]),
    ("members", "class A { void f() { a" + ".b().c" * 15_000 + "; } }", ["csharp"]),
    ("locals", "class A { void f() { " + "{ int a = b; } " * 10_000 + "} }", ["csharp"]),
    ("generic calls", "class A { void f() { a" + ".b<int>()" * 5000 + "; } }", ["csharp"]),
    ("namespaces", "namespace a { " * 3000 + "}" * 3000, ["cpp"]),
    ("chains of calls", "void f() { a" + "->b()" * 15_000 + "; }", ["cpp"]),
    ("templates", "A<" * 3000 + "int" + ">" * 3000 + " a;", ["cpp"]),
    ("names behind", "typedef struct { int a; } b;\n" * 5000, ["c"]),
    ("declarators", "int " + "*" * 5000 + "a;", ["c"]),
    ("macros", "#define F(x) \\\n /* c */ x \\\n x\n" * 5000, ["c"]),
    ("overloads", "class A {" + " void f(int a) {}" * 3000 + " void g() {" + " f(1);" * 3000 + "} }", ["java"]),
    ("locals", "class A { void f() { " + "{ int a = b; } " * 10_000 + "} }", ["java"]),
    ("nested types", "class A { " * 3000 + "}" * 3000, ["java"]),
    ("calls on calls", "fun f() { a()" + ".b(1).c { it }" * 10_000 + " }", ["kotlin"]),
    ("lambdas", "fun f() { " + "a { " * 2000 + "}" * 2000 + " }", ["kotlin"]),
    ("bodies", "fun f() { " + "val a = object : B() { fun m() { " * 500 + "}}; " * 500 + "}", ["kotlin"]),
    ("words", "fun f() { " + "open(1); val in1 = " * 10_000 + "1 }", ["kotlin"]),
    ("calls on calls", "func f() { a()" + ".b(1).c { x }" * 10_000 + " }", ["swift"]),
    ("closures", "func f() { " + "a { " * 2000 + "}" * 2000 + " }", ["swift"]),
    ("calls on calls", "def f() = a()" + ".b(1)(2).c { x }" * 7500, ["scala"]),
    ("lists of arguments", "def f() = a" + "(1)" * 5000, ["scala"]),
    ("blocks", "def f() = " + "{ " * 5000 + "}" * 5000, ["scala"]),
    ("members", "<?php $a" + "->b()->c" * 15_000 + ";", ["php"]),
    ("arrays", "<?php $a = " + "[" * _DEEP + "]" * _DEEP + ";", ["php"]),
    ("closures", "<?php " + "f(function () { " * 5000 + "})" * 5000 + ";", ["php"]),
    ("bodies", "<?php " + "$a = new class { function m() { " * 500 + "}}; " * 500, ["php"]),
    ("made", "<?php $a = " + "(new A(" * 3000 + "))->b()" * 3000 + ";", ["php"]),
    ("clones", "<?php $a = " + "clone " * 5000 + "$b;", ["php"]),
    ("namespace", "<?php use " + "\\A" * 15_000 + ";", ["php"]),
    ("tags", "<?php /** " + "@param A $a\n" * 15_000 + "*/ function f() {}", ["php"]),
    ("open types", "<?php /** @return " + "array<" * 5000 + "*/ function f() {}", ["php"]),
    ("pipes", "x = a()" + " |> b() |> C.d()" * 5000, ["elixir"]),
    ("cases", "type A =\n" + "  /// b\n  | C of int\n" * 3000, ["fsharp"]),
    ("broken modules", "module A =\n" + "  let f x = g x |> h\n" * 2000 + "  let = )\n", ["fsharp"]),
    ("clauses", "defmodule A do\n" + "def f(1), do: g(1)\n" * 5000 + "end", ["elixir"]),
    ("modules", "defmodule A do\n" * 1000 + "def f, do: g()\n" + "end\n" * 1000, ["elixir"]),
    ("modules beside one another", "defmodule A do\ndef f, do: 1\nend\n" * 5000, ["elixir"]),
    ("anonymous", "x = " + "fn x -> f(" * 2000 + ") end" * 2000, ["elixir"]),
    ("substitutions", "x=" + "$(a " * 2000 + ")" * 2000, ["bash"]),
    ("commands", "f() { a | b && c; }\n" * 5000, ["bash"]),
    ("sourced", ". a.sh\n" * 5000 + "f\n" * 5000, ["bash"]),
    ("closures", "f(function() " * 3000 + "end)" * 3000, ["lua"]),
    ("tables", "x = " + "{ a = " * 3000 + "1" + "}" * 3000, ["lua"]),
    ("methods", "x = a" + ":b():c()" * 15_000, ["lua"]),
    ("metatables", "x = " + "setmetatable({}, " * 3000 + "A" + ")" * 3000, ["lua"]),
    ("blocks", "a { |x| " * 5000 + "}" * 5000, ["ruby"]),
    ("calls with blocks", "x = a" + ".b { |y| y.c }" * 10_000, ["ruby"]),
    ("calls without parentheses", "x = a" + ".b.c" * 37_500, ["ruby"]),
    ("strings in strings", 'x = "#{' * 3000 + "a" + '}"' * 3000, ["ruby"]),
    ("modules", "module A\n" * 3000 + "def f; g; end\n" + "end\n" * 3000, ["ruby"]),
    ("reopened", "class A\n def f; g; end\nend\n" * 5000, ["ruby"]),
    ("attributes", "<?php " + "#[A([1])] " * 3000 + "function f() {}", ["php"]),
    ("events in events", "<?php " + "event($a, " * 40_000, ["php"]),
    ("messages in messages", "class A { void F() { " + "b.Send(new A(" * 30_000, ["csharp"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text", "dialects"), [*_DEEP_FILES[:7], *part_of(_DEEP_FILES[7:], 0, 8)])
def test_deep_files_are_read_soon(name: str, text: str, dialects: list[str]) -> None:
    """What any dialect may hold is read in a twelfth of them, and every eighth text of one dialect; `--full-trials`
    reads all."""
    for dialect in dialects:
        data = text.encode()
        start = time.process_time()
        try:
            facts = facts_of(data, dialect)
        except ParseTooLong:
            # The grammar of Scala takes the square of the depth, about the two seconds that it has.
            assert (name, dialect) == ("brackets", "scala") and time.process_time() - start < 8.0
            continue
        build_graph([("a", facts)], load_settings())
        assert time.process_time() - start < 8.0, (name, dialect)  # what is quadratic takes minutes
        assert_sound(facts, data)


def _closure(n: int) -> bytes:
    """A file of about `570 * n` bytes inside one closure, as libraries for browsers are written."""
    part = """
  function Widget{i}(options, parent) {
    this.options = options || {};
    var total{i} = 0;
    for (var i = 0; i < this.options.items.length; i++) {
      total{i} += this.options.items[i].price * helper{i}(this.options.items[i].count);
    }
    this.total = total{i};
  }
  Widget{i}.prototype.render = function render(target) {
    if (!target) { throw new Error('no target for widget {i}'); }
    return target.append(format(this.total, parent.currency));
  };
  var helper{i} = function (count) { return Math.max(count, {i}); };"""
    return f"(function () {{{''.join(part.replace('{i}', str(i)) for i in range(n))}\n}})();\n".encode()


@pytest.mark.parametrize("dialect", ["javascript", "typescript", "tsx"])
def test_a_file_inside_one_closure_takes_time_linear_in_its_size(dialect: str) -> None:
    small, large = _closure(150), _closure(600)
    assert len(small) > _MIN_BYTES_FOR_MATCHES and 3.9 < len(large) / len(small) < 4.1
    best = {small: float("inf"), large: float("inf")}
    gc.disable()  # a collection looks at all objects that any test has left
    try:
        for _ in range(10):
            for data in best:
                start = time.process_time()
                facts_of(data, dialect)
                best[data] = min(best[data], time.process_time() - start)
            if best[large] <= 5 * best[small]:
                break
    finally:
        gc.enable()
    assert best[large] <= 5 * best[small]  # 8 to 9 times where captures are held back


def _captured(tree: tree_sitter.Tree, query: tree_sitter.Query, n_bytes: int) -> set[tuple[str, int, int]]:
    captures = _read_captures(query, tree.root_node, "", n_bytes)
    return {(name, node.start_byte, node.end_byte) for name, nodes in captures.items() for node in nodes}


def test_matches_have_the_captures_of_every_file() -> None:
    """Families of which `captures` is never read may have patterns for which it yields what they do not match."""
    dialects = set()
    for path, data in [*samples(), ("closure.js", _closure(3)), ("closure.tsx", _closure(3))]:
        if dialect := dialect_for(path, data):
            dialects.add(dialect)
            grammar = load_grammar(dialect)
            if grammar.settings.family in _MATCHED_FAMILIES:
                continue
            tree, query, _ = _parse_best(data, grammar)
            assert _captured(tree, query, _MIN_BYTES_FOR_MATCHES) == _captured(tree, query, 0), path
    assert dialects >= set(_DIALECTS)


def test_facts_are_the_same_above_and_below_the_limit_of_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [(path, data) for path, data in samples() if dialect_of(path)][::3]
    assert len(files) > 100
    before = [any_facts(path, data) for path, data in files]
    monkeypatch.setattr("causalist.parse.parser._MIN_BYTES_FOR_MATCHES", 0)
    assert [any_facts(path, data) for path, data in files] == before


def test_a_selector_of_a_literal_whose_type_has_no_name() -> None:
    """Found by the coverage-guided trials; the compiler refuses it, too."""
    data = b"package a\n\nfunc f() {\n\ts := []struct{}{}.i\n\tg(s)\n}\n"
    assert_sound(facts_of(data, "go"), data)
    assert_sound(facts_of(b"s:=[]struct{}{).i}", "go"), b"s:=[]struct{}{).i}")
    assert qualnames(facts_of(data, "go")) == ["f"]


def test_what_follows_a_deep_expression_is_read() -> None:
    facts = facts_of("a()" + ".b()" * 40_000 + "\ndef after(): ...\n")
    assert qualnames(facts) == ["after"]


def test_facts_do_not_depend_on_the_path() -> None:
    # `parse_source` is not told the path at all; `parse_text` reads only the kind of prose from it.
    assert parse_text("a.md", b"# T\n") == parse_text("x/y.MD", b"# T\n")
    assert parse_text("package.json", b'{"name": "a"}') == parse_text("q/package.json", b'{"name": "a"}')


def test_a_parse_keeps_no_copy_of_a_text() -> None:
    # The parser goes back for each here document, and the binding keeps all that it is given.
    data = b"".join(b"cat <<E%d\n a $b c\nE%d\n" % (i, i) for i in range(400))
    parser = load_grammar("bash").parser
    tracemalloc.start()
    try:
        assert not syntax_tree.run_parser(parser, data).root_node.has_error
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 400 * 500  # copies would be 400 of half the text, 2 MB
