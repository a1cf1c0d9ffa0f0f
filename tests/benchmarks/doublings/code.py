# ruff: noqa: E501
"""Hostile code of any size, the same shapes in every language: deep, long, wide, and full of one name.

A shape is written with the words of a language (`Words`), in which `#i` is a number that counts up and `#p` the number
before it. A shape that a language has no words for is left out.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

_LINE = 90  # bytes of a line where a text without structure is broken


class Words(NamedTuple):
    """What a language has: texts with `#i` and `#p` for numbers, and `#b` for a body or a value.

    `file` is a whole file around definitions, `made` a new object of class `C#i`, `value` an inner function that is
    kept in a local variable. "" means that the language has no such thing.
    """

    extension: str
    function: str
    method: str
    cls: str
    sub: str  # class with a base
    local: str
    again: str  # assignment of a local variable
    call: str = "f#i(1)"
    end: str = ";\n"
    file: str = "#b"
    name: str = "a"
    member: str = ".b#i"
    array: tuple[str, str] = ("[", "]")
    paren: tuple[str, str] = ("(", ")")
    table: tuple[str, str, str] = ("", "", "")
    block: tuple[str, str] = ("if (a) { ", "}")
    closure: tuple[str, str] = ("", "")
    value: str = ""
    else_if: tuple[str, str] = ("if (a == #i) { g(); }", " else if (a == #i) { g(); }")
    plus: str = " + "
    comment: str = "// word#i is a word\n"
    open_comment: tuple[str, str] = ("/* ", " */")
    generic: tuple[str, str] = ("", "")
    switch: tuple[str, str, str] = ("", "", "")
    made: str = ""
    imports: str = ""
    parameter: str = "a#i"
    field: str = ""
    typed: str = ""  # function with one parameter of type `C#i`
    mark: str = ""  # decorator or annotation
    extra: tuple[tuple[str, str], ...] = ()  # (name of a shape, unit) of a whole file


_JS = Words(
    ".js",
    "function f#i(#a) {\n #b\n}\n", " m#i(#a) {\n #b\n }\n", "class C#i {\n#b}\n", "class C#i extends C#p {\n#b}\n",
    "const v#i = #b", "v#i = #b",
    table=("{", "k#i: #b,\n", "}"), closure=("g(function () { ", "})"), value="const v#i = () => { #b }",
    switch=("switch (a) {\n", "case #i: g#i(); break;\n", "}"), made="new C#i()",
    imports="import { n#i } from './m#i';\n", field=" a#i = 1;\n",
    extra=(
        ("routes", 'app.get("/a/#i/:id", (req, res) => { h#i(req); });\n'),
        ("prototypes", "A.prototype.m#i = function () { return this.m#p(); };\n"),
        ("exports", "exports.n#i = function () { return exports.n#p(); };\n"),
        ("required", "const n#i = require('./m#i');\n"),
        ("listeners", 'bus.on("e#i", () => { bus.emit("e#p"); });\n'),
        ("elements", "x = a < b; /re#i/g; `t${a}u${b}`;\n"),
        ("minified", 'var a#i=function(t,e){return t&&e?(t.n=e,t):null},b#i=a#p(e,{x:1,y:"z"});'),
        ("exported from", "export { n#i } from './m#i';\n"),
        ("stars", "export * from './m#i';\n"),
        ("fetches", "fetch(`/a/#i/${id}`).then(r => r.json());\n"),
    ),
)  # fmt: skip
_TS = _JS._replace(
    extension=".ts", generic=("Map<string, ", ">"), typed="function t#i(a: C#i): C#p {\n return a.m();\n}\n",
    parameter="a#i: number", mark="@mark(#i)\n",
    extra=(
        *_JS.extra,
        ("overloads with types", "function over(a: C#i): C#i;\n"),
        ("interfaces", "interface I#i extends I#p { m#i(a: I#p): void }\n"),
        ("unions", "type U#i = U#p | 'a#i';\n"),
        ("enum", "enum E#i { A = #i, B }\n"),
        ("namespaces", "namespace N { export function f#i() { return f#p(); } }\n"),
    ),
)  # fmt: skip
_JAVA = Words(
    ".java",
    " static int f#i(#a) {\n #b\n }\n", " void m#i(#a) {\n #b\n }\n", "class C#i {\n#b}\n", "class C#i extends C#p {\n#b}\n",
    "Object v#i = #b", "v#i = #b", file="class Top {\n#b\n}\n", array=("new Object[] {", "}"),
    table=("Map.of(", '"k#i", #b,\n', "1)"), closure=("g(() -> { ", "});"), value="Runnable v#i = () -> { #b }",
    switch=("switch (a) {\n", "case #i: g#i(); break;\n", "}"), made="new C#i()", generic=("Map<String, ", ">"),
    imports="import p.C#i;\n", parameter="int a#i", field=" int a#i = 1;\n",
    typed=" C#p t#i(C#i a) {\n return a.m();\n }\n", mark="@Mark(#i)\n",
    extra=(
        ("routes", 'class R#i { @GetMapping("/a/#i") public String m(@PathVariable String id) { return h(id); } }\n'),
        ("overloads with types", "class A { void over(C#i a) { over(a); } }\n"),
        ("interfaces", "interface I#i extends I#p { void m#i(I#p a); }\n"),
    ),
)  # fmt: skip
LANGUAGES: Mapping[str, Words] = {
    "python": Words(
        ".py",
        "def f#i(#a):\n #b\n\n", " def m#i(self, x=1):\n  #b\n", "class C#i:\n#b\n", "class C#i(C#p):\n#b\n",
        "v#i = #b", "v#i = #b", end="\n ", table=("{", '"k#i": #b,\n', "}"), block=("", ""), closure=("g(lambda x: ", ")"),
        value="v#i = lambda x: #b", else_if=("if a == #i: g()\n", " elif a == #i: g()\n"), comment="# word#i is a word\n",
        open_comment=('"""', '"""'), generic=("dict[str, ", "]"), switch=("match a:\n", "  case #i: g#i()\n", " "),
        made="C#i()", imports="from m#i import n#i\n", field=" a#i: int = 1\n",
        typed="def t#i(a: C#i) -> C#p:\n return a.m()\n", mark="@mark(#i)\n",
        extra=(
            ("routes", '@app.route("/a/#i/<id>")\ndef r#i(id):\n return h(id)\n'),
            ("stars", "from m#i import *\n"),
            ("listed names", '__all__ += ["f#i"]\n'),
            ("set attributes", 'setattr(a, "n#i", f#i)\n'),
            ("dotted strings", 'x = "a.b#i.c"\n'),
            ("fixtures", "@pytest.fixture\ndef x#i(x#p):\n return x#p\n"),
            ("indents", "if a:\n    b(#i)\n"),
            ("format strings", 'x = f"{a.b#i(c)} {d!r:>{e}}"\n'),
            ("long line of statements", "f(#i); "),
            ("tests", "def test_f#i():\n    assert f#i(1) == f#p(2)\n"),
            ("attributes of self", "class S#i:\n    def __init__(self):\n        self.a = self.b#i()\n"),
            ("global names", "def h#i():\n    global x\n    x = h#p()\n"),
        ),
    ),
    "javascript": _JS,
    "typescript": _TS,
    "tsx": _TS._replace(
        extension=".tsx",
        extra=(
            ("elements", "const E#i = () => <div a={b} c='d'><E#p x={() => f()} /></div>;\n"),
            ("text", "x = <p>word #i &amp; word</p>;\n"),
        ),
    ),
    "go": Words(
        ".go",
        "func f#i(#a) int {\n #b\n return 1\n}\n", "func (c C) m#i() {\n #b\n}\n", "type C#i struct {\n a int\n}\n#b",
        "type C#i struct {\n C#p\n}\n#b", "v#i := #b", "v#i = #b", end="\n ", file="package p\n\n#b", member=".B#i",
        array=("[]any{", "}"), table=("map[string]any{", '"k#i": #b,\n', "}"), block=("if a { ", "\n}"),
        closure=("g(func() { ", "})"), value="v#i := func() { #b }",
        switch=("switch a {\n", "case #i: g#i()\n", "}"), made="C#i{}", generic=("map[string]", ""),
        imports='import n#i "p/m#i"\n', parameter="a#i int", typed="func t#i(a C#i) C#p {\n return a.m()\n}\n",
        extra=(
            ("routes", 'func r#i() { r.GET("/a/#i/:id", h#i) }\n'),
            ("constants", "const (\n A#i = iota\n B#i\n)\n"),
            ("methods of one type", "func (c *One) M#i() { c.M#p() }\n"),
            ("interfaces", "type I#i interface { I#p; M#i() }\n"),
        ),
    ),
    "java": _JAVA,
    "rust": Words(
        ".rs",
        "fn f#i(#a) -> i32 {\n #b\n 1\n}\n", " fn m#i(&self) {\n #b\n }\n", "struct C#i { a: i32 }\nimpl C#i {\n#b}\n",
        "trait C#i: C#p {\n#b}\n", "let v#i = #b", "v#i = #b",
        block=("if a { ", "}"), closure=("g(|x| { ", "})"), value="let v#i = |x| { #b }",
        else_if=("if a == #i { g(); }", " else if a == #i { g(); }"), switch=("match a {\n", "#i => g#i(),\n", "_ => 1 }"),
        made="C#i { a: 1 }", generic=("Vec<", ">"), imports="use crate::m#i::n#i;\n", parameter="a#i: i32",
        typed="fn t#i(a: C#i) -> C#p {\n a.m()\n}\n", mark="#[mark(#i)]\n",
        extra=(
            ("routes", 'fn r#i() { Router::new().route("/a/#i/:id", get(h#i)); }\n'),
            ("uses", "pub use m#i::*;\n"),
            ("modules", "mod m#i;\n"),
            ("inline modules", "mod m#i { use super::*; pub fn f() { g(); } }\n"),
            ("macros", "macro_rules! m#i { ($x:expr) => { m#p!($x) } }\n"),
            ("macro calls", 'println!("{} {}", a.b#i(), f#p(1));\n'),
            ("impls", "impl T#i for One { fn m#i(&self) { self.m#p() } }\n"),
        ),
    ),
    "php": Words(
        ".php",
        "function f#i(#a) {\n #b\n}\n", " function m#i() {\n #b\n }\n", "class C#i {\n#b}\n", "class C#i extends C#p {\n#b}\n",
        "$v#i = #b", "$v#i = #b", file="<?php\n#b", name="$a", member="->b#i", table=("[", '"k#i" => #b,\n', "]"),
        block=("if ($a) { ", "}"), closure=("g(function () { ", ";})"), value="$v#i = function () { #b }",
        else_if=("if ($a == #i) { g(); }", " elseif ($a == #i) { g(); }"), plus=" . ",
        switch=("switch ($a) {\n", "case #i: g#i(); break;\n", "}"), made="new C#i()", imports="use p\\C#i;\n",
        parameter="$a#i", field=" public $a#i = 1;\n", typed="function t#i(C#i $a): C#p {\n return $a->m();\n}\n",
        mark="#[Mark(#i)]\n",
        extra=(
            ("routes", "Route::get('/a/#i/{id}', [C#i::class, 'm']);\n"),
            ("html", "<p><?= f#i() ?></p>\n"),
            ("namespaces", "namespace n#i;\nfunction f() { g(); }\n"),
            ("traits", "trait T#i { use T#p; function m#i() {} }\n"),
        ),
    ),
    "ruby": Words(
        ".rb",
        "def f#i(#a)\n #b\nend\n", " def m#i\n #b\n end\n", "class C#i\n#b\nend\n", "class C#i < C#p\n#b\nend\n",
        "v#i = #b", "v#i = #b", end="\n", table=("{", "k#i: #b,\n", "}"), block=("if a\n", "end\n"),
        closure=("g { |x| ", "}"), value="v#i = lambda { |x| #b }", else_if=("if a == #i\n g\n", "elsif a == #i\n g\n"),
        comment="# word#i is a word\n", open_comment=("\n=begin\n", "\n=end\n"), switch=("case a\n", "when #i then g#i(1)\n", "end\n"),
        made="C#i.new", imports="require_relative 'm#i'\n", field=" attr_reader :a#i\n",
        extra=(
            ("routes", "get '/a/#i/:id', to: 'c#i#m'\n"),
            ("resources", "resources :r#i do\n get :m#i\nend\n"),
            ("modules", "module M#i\n include M#p\n def m#i; m#p; end\nend\n"),
            ("symbols", "before_action :f#i, only: %i[a b]\n"),
            ("heredocs", "x = <<~T#i\n a #{b} c\nT#i\n"),
        ),
    ),
    "kotlin": Words(
        ".kt",
        "fun f#i(#a): Int {\n #b\n}\n", " fun m#i() {\n #b\n }\n", "class C#i {\n#b}\n", "open class C#i : C#p() {\n#b}\n",
        "val v#i = #b", "v#i = #b", end="\n ", array=("listOf(", ")"), table=("mapOf(", '"k#i" to #b,\n', ")"),
        block=("if (a) { ", "}"), closure=("g { ", "}"), value="val v#i = { #b }",
        switch=("when (a) {\n", "#i -> g#i()\n", "}"), made="C#i()", generic=("Map<String, ", ">"),
        imports="import p.C#i\n", parameter="a#i: Int", field=" val a#i = 1\n", typed="fun t#i(a: C#i): C#p {\n return a.m()\n}\n",
        mark="@Mark(#i)\n",
        extra=(
            ("extensions", "fun C#i.ext(): C#p = this.ext()\n"),
            ("overloads with types", "fun over(a: C#i) = over(a)\n"),
            ("routes", 'class R#i { @GetMapping("/a/#i") fun m(): String = h() }\n'),
        ),
    ),
    "lua": Words(
        ".lua",
        "function f#i(#a)\n #b\nend\n", "function C.m#i()\n #b\nend\n", "C#i = {}\n#b", "C#i = setmetatable({}, C#p)\n#b",
        "local v#i = #b", "v#i = #b", end="\n", array=("{", "}"), table=("{", "k#i = #b,\n", "}"),
        block=("if a then ", " end"), closure=("g(function() ", " end)"), value="local v#i = function() #b end",
        else_if=("if a == #i then g()\n", "elseif a == #i then g()\n"), plus=" .. ", comment="-- word#i is a word\n",
        open_comment=("--[[ ", " ]]"), made="C#i.new()", imports="local n#i = require('m#i')\n",
        extra=(("methods of one table", "function One:m#i() self:m#p() end\n"),),
    ),
    "bash": Words(
        ".sh",
        "f#i() {\n #b\n}\n", "", "", "", "v#i=#b", "v#i=#b", call="f#i 1", end="\n", array=("(", ")"), paren=("$(a ", ")"),
        block=("if a; then ", "; fi\n"), else_if=("if a #i; then g\n", "elif a #i; then g\n"), plus="",
        comment="# word#i is a word\n", open_comment=("", ""), switch=("case $a in\n", "#i) g#i 1 ;;\n", "esac\n"), imports=". ./m#i.sh\n",
        member="", name="",
        extra=(
            ("pipes", "a #i | "),
            ("here documents", "cat <<E#i\n a $b c\nE#i\n"),
            ("expansions", 'x="${a#i:-${b}}$((1 + #i))"\n'),
            ("continued lines", "a#i \\\n"),
        ),
    ),
    "elixir": Words(
        ".ex",
        " def f#i(#a) do\n #b\n end\n", " def m#i do\n #b\n end\n", "defmodule C#i do\n#b\nend\n", "defmodule C#i do\n use C#p\n#b\nend\n",
        "v#i = #b", "v#i = #b", end="\n", file="defmodule Top do\n#b\nend\n", table=("%{", "k#i: #b,\n", "z: 1}"),
        block=("if a do ", " end"), closure=("g(fn x -> ", " end)"), value="v#i = fn x -> #b end",
        else_if=("", ""), plus=" <> ", comment="# word#i is a word\n", open_comment=('@doc """\n', '\n"""'),
        switch=("case a do\n", "#i -> g#i(1)\n", "end\n"), made="C#i.new()", imports="import C#i\n", field=" @a#i 1\n",
        extra=(
            ("clauses", " def over(#i), do: over(#p)\n"),
            ("routes", ' get "/a/#i/:id", C#i, :m\n'),
            ("scopes", ' scope "/a#i" do\n get "/b", C#i, :m\n end\n'),
            ("pipes", " |> g#i()\n"),
        ),
    ),
    "swift": Words(
        ".swift",
        "func f#i(#a) -> Int {\n #b\n}\n", " func m#i() {\n #b\n }\n", "class C#i {\n#b}\n", "class C#i: C#p {\n#b}\n",
        "let v#i = #b", "v#i = #b", end="\n ", table=("[", '"k#i": #b,\n', "]"), block=("if a { ", "}"), closure=("g { ", "}"),
        value="let v#i = { #b }", else_if=("if a == #i { g() }", " else if a == #i { g() }"),
        switch=("switch a {\n", "case #i: g#i(1)\n", "}"), made="C#i()", generic=("Array<", ">"), imports="import M#i\n",
        parameter="a#i: Int", field=" var a#i = 1\n", typed="func t#i(a: C#i) -> C#p {\n return a.m()\n}\n", mark="@mark(#i)\n",
        extra=(
            ("extensions", "extension One { func m#i() { m#p() } }\n"),
            ("overloads with labels", "func over(a#i: Int) { over(a#p: 1) }\n"),
        ),
    ),
    "scala": Words(
        ".scala",
        "def f#i(#a): Int = {\n #b\n}\n", " def m#i() = {\n #b\n }\n", "class C#i {\n#b}\n", "class C#i extends C#p {\n#b}\n",
        "val v#i = #b", "v#i = #b", end="\n ", file="object Top {\n#b\n}\n", array=("List(", ")"), table=("Map(", '"k#i" -> #b,\n', ")"),
        block=("if (a) { ", "}"), closure=("g(x => { ", "})"), value="val v#i = (x: Int) => { #b }",
        switch=("a match {\n", "case #i => g#i(1)\n", "}"), made="new C#i()", generic=("List[", "]"), imports="import p.C#i\n",
        parameter="a#i: Int", field=" val a#i = 1\n", typed="def t#i(a: C#i): C#p = {\n a.m()\n}\n", mark="@mark(#i)\n",
        extra=(
            ("implicits", "implicit val x#i: C#i = x#p\n"),
            ("given", "given x#i: C#i = f(x#p)\n"),
            ("overloads with types", "def over(a: C#i) = over(a)\n"),
            ("traits", "trait T#i extends T#p { def m#i() = m#p() }\n"),
        ),
    ),
    "c": Words(
        ".c",
        "int f#i(#a) {\n #b\n}\n", "", "", "", "int v#i = #b", "v#i = #b", array=("{", "}"), table=("{", ".k#i = #b,\n", "}"),
        block=("if (a) { ", "}"), switch=("switch (a) {\n", "case #i: g#i(); break;\n", "}"), imports='#include "m#i.h"\n',
        parameter="int a#i", typed="struct C#i *t#i(struct C#p *a) {\n return a->m();\n}\n",
        extra=(
            ("macros", "#define M#i(x) M#p(x) + \\\n 1\n"),
            ("macros of functions", "#define R#i(f, x) do { f(x); R#p(f, x); } while (0)\n"),
            ("branches", "#if A#i\nint g#i(int a) {\n#else\nint g#i(void) {\n#endif\n return g#p(); }\n"),
            ("open branches", "#if A\n{\n"),
            ("else branches", "#elif A#i\nint x#i;\n"),
            ("structures", "struct S#i { struct S#p *a; int (*m)(int); };\n"),
            ("kept functions", "struct ops o#i = { .m = f#i, .n = f#p };\n"),
            ("unknown macros", "MACRO(f#i, x) { g(); }\n"),
            ("declarations", "extern int f(int, struct s#i *);\n"),
        ),
    ),
    "csharp": _JAVA._replace(
        extension=".cs", sub="class C#i : C#p {\n#b}\n", closure=("g(() => { ", "});"), value="Action v#i = () => { #b }",
        imports="using p.C#i;\n", local="var v#i = #b", mark="[Mark(#i)]\n", table=("new Dictionary<string, object> {", '["k#i"] = #b,\n', "}"),
        generic=("List<", ">"), field=" int a#i { get; set; } = 1;\n",
        extra=(
            ("routes", 'class R#i { [HttpGet("/a/#i")] public string M(string id) { return H(id); } }\n'),
            ("mapped routes", 'class R { void M() { app.MapGet("/a/#i/{id}", H#i); } }\n'),
            ("partial classes", "partial class One { void M#i() { M#p(); } }\n"),
            ("extensions", "static class E#i { public static int X(this C#i a) { return a.X(); } }\n"),
            ("branches", "#if A#i\nclass G#i {\n#else\nclass G#i : B {\n#endif\n}\n"),
        ),
    ),
}  # fmt: skip
_CPP = LANGUAGES["c"]._replace(
    extension=".cpp", method=" void m#i() {\n #b\n }\n", cls="class C#i {\npublic:\n#b};\n", sub="class C#i : public C#p {\npublic:\n#b};\n",
    local="auto v#i = #b", closure=("g([&] { ", ";})"), value="auto v#i = [&] { #b; }", made="C#i()", generic=("A<", ">"),
    field=" int a#i = 1;\n", typed="C#p t#i(C#i a) {\n return a.m();\n}\n",
    extra=(
        *LANGUAGES["c"].extra,
        ("namespaces", "namespace n#i { using namespace n#p; void f() { f(); } }\n"),
        ("templates", "template <class T> struct P#i : P#p<T> { T m() { return P#p<T>::m(); } };\n"),
        ("overloads with types", "void over(C#i a) { over(a); }\n"),
        ("outside of classes", "void One::m#i() { m#p(); }\n"),
        ("used names", "using n#i::f;\n"),
    ),
)  # fmt: skip
ALL: Mapping[str, Words] = {**LANGUAGES, "cpp": _CPP}


def numbered(unit: str, n_bytes: int) -> str:
    """Return the unit again and again with numbers that count up, of about `n_bytes` bytes."""
    n = max(2, n_bytes // max(1, len(_put(unit, 100_000))))
    return "".join(_put(unit, i) for i in range(1, n + 1))


def _put(unit: str, i: int) -> str:
    return unit.replace("#i", str(i)).replace("#p", str(i - 1)).replace("#a", "")


def _broken(text: str, n: int, line: int = _LINE) -> str:
    """Return `text` `n` times, in lines of usual length."""
    if not text:
        return ""
    per = max(1, line // len(text))
    return "\n".join(text * per for _ in range(n // per)) + text * (n % per)


def _nested(pair: tuple[str, str], n_bytes: int, core: str = "1") -> str:
    n = max(1, n_bytes // (len(pair[0]) + len(pair[1])))
    return _broken(pair[0], n) + core + _broken(pair[1], n)


Shape = Callable[[Words, int], str]


def _body(words: Words, body: str) -> str:
    return words.file.replace("#b", _put(words.function, 0).replace("#b", body + words.end.rstrip(" ")))


def _local(words: Words, value: str) -> str:
    return _body(words, _put(words.local, 0).replace("#b", value))


def _many(words: Words, unit: str, n_bytes: int) -> str:
    return words.file.replace("#b", numbered(unit, n_bytes)) if unit else ""


def _in(words: Words, outer: str, inner: str) -> str:
    return outer.replace("#b", inner) if outer and inner else ""


def _call(words: Words, number: str = "#p") -> str:
    return words.call.replace("#i", number) + words.end.rstrip(" ")


def _split(text: str) -> tuple[str, str]:
    before, _, after = text.partition("#b")
    return before, after


def _statements(words: Words, unit: str, n_bytes: int) -> str:
    return _body(words, numbered(unit + words.end, n_bytes)) if unit else ""


def _classes(words: Words, inner: str, n_bytes: int) -> str:
    """One class around numbered members."""
    return words.file.replace("#b", _put(words.cls, 0).replace("#b", numbered(inner, n_bytes))) if words.cls else ""


def _ladder(words: Words, n_bytes: int) -> str:
    first, more = words.else_if
    return _body(words, _put(first, 1) + numbered(more, n_bytes)) if first else ""


def _switch(words: Words, n_bytes: int) -> str:
    start, case, end = words.switch
    return _body(words, start + numbered(case, n_bytes) + end) if start else ""


def _table(words: Words, n_bytes: int, value: str) -> str:
    start, entry, end = words.table
    return _local(words, start + numbered(entry.replace("#b", value), n_bytes) + end) if entry else ""


def _deep_table(words: Words, n_bytes: int) -> str:
    start, entry, end = words.table
    before, after = _split(entry)
    return _local(words, _nested((_put(start + before, 1), after + end), n_bytes)) if entry else ""


def _member_calls(words: Words) -> str:
    return f"{words.member}(1)" if words.member else ""


def _chain(words: Words, unit: str, n_bytes: int) -> str:
    text = numbered(unit + "\x00", n_bytes).split("\x00") if unit else []
    lines = ["".join(text[i : i + 8]) for i in range(0, len(text), 8)]
    return _local(words, words.name + ("\n" if words.end == ";\n" else "").join(lines)) if unit else ""


SHAPES: Mapping[str, Shape] = {
    "functions": lambda w, n: _many(w, w.function.replace("#b", _call(w)), n),
    "functions of one name": lambda w, n: _many(w, w.function.replace("#i", "").replace("#b", _call(w, "")), n),
    "calls of one name": lambda w, n: _statements(w, w.call.replace("#i", ""), n),
    "calls": lambda w, n: _statements(w, w.call, n),
    "calls in one line": lambda w, n: _body(w, numbered(w.call + "; ", n)),
    "deep parentheses": lambda w, n: _local(w, _nested(w.paren, n)),
    "deep arrays": lambda w, n: _local(w, _nested(w.array, n)) if w.array[0] else "",
    "deep blocks": lambda w, n: _body(w, _nested(w.block, n, "g()")) if w.block[0] else "",
    "deep closures": lambda w, n: _local(w, _nested(w.closure, n)) if w.closure[0] else "",
    "deep calls": lambda w, n: _local(w, _nested((w.call.replace("#i", "").removesuffix("1)").strip(), ")"), n)),
    "deep generics": lambda w, n: w.file.replace("#b", w.typed.replace("C#i", _nested(w.generic, n, "C1")).replace("#p", "1").replace("#i", "1")) if w.generic[0] and w.typed else "",
    "deep functions": lambda w, n: w.file.replace("#b", _nested(_split(_put(w.function, 1)), n, w.end)),
    "deep classes": lambda w, n: w.file.replace("#b", _nested(_split(_put(w.cls, 1)), n, w.end)) if w.cls else "",
    "deep tables": _deep_table,
    "open parentheses": lambda w, n: _local(w, _broken("(", n)),
    "open braces": lambda w, n: _body(w, _broken("{ ", n // 2)),
    "open brackets": lambda w, n: _local(w, _broken("[", n)),
    "closed braces": lambda w, n: _body(w, _broken("} ", n // 2)),
    "open quotes": lambda w, n: _body(w, _broken("x = \"a ' ", n // 9)),
    "open angles": lambda w, n: _local(w, _broken("a < ", n // 4)),
    "operators": lambda w, n: _body(w, _broken("- + * ! ", n // 8)),
    "at signs": lambda w, n: _body(w, _broken("@a #b $c ? ", n // 11)),
    "chain of members": lambda w, n: _chain(w, w.member, n),
    "chain of calls": lambda w, n: _chain(w, _member_calls(w), n),
    "sum of strings": lambda w, n: _local(w, '"s"' + numbered(f'{w.plus}"s#i"\x00', n).replace("\x00", "")) if w.plus else "",
    "sum of names": lambda w, n: _local(w, "a" + numbered(f"{w.plus}a#i", n)) if w.plus else "",
    "else if": _ladder,
    "cases": _switch,
    "table of numbers": lambda w, n: _table(w, n, "#i"),
    "table of names": lambda w, n: _table(w, n, "f#i"),
    "table of calls": lambda w, n: _table(w, n, w.call),
    "table of functions": lambda w, n: _table(w, n, f"{_split(w.value)[0].partition('= ')[2]} {w.call} {_split(w.value)[1]}") if w.value else "",
    "array of numbers": lambda w, n: _local(w, w.array[0] + numbered("#i,\n", n) + "1" + w.array[1]) if w.array[0] else "",
    "array of names": lambda w, n: _local(w, w.array[0] + numbered("f#i,\n", n) + "a" + w.array[1]) if w.array[0] else "",
    "arguments": lambda w, n: _local(w, w.call.replace("#i", "").removesuffix("1)") + numbered("a#i,\n", n) + "a)"),
    "parameters": lambda w, n: w.file.replace("#b", w.function.replace("#i", "").replace("#a", (numbered(w.parameter + ",\n", n) + _put(w.parameter, 0)).strip(",\n")).replace("#b", "g(1)" + w.end.rstrip(" "))),
    "long string": lambda w, n: _local(w, '"' + "word " * (n // 5) + '"'),
    "long name": lambda w, n: _local(w, "a" * n),
    "long number": lambda w, n: _local(w, "1" * n),
    "long comment": lambda w, n: w.file.replace("#b", w.open_comment[0] + numbered("word#i is a `word#p`\n", n) + w.open_comment[1] + "\n"),
    "comments": lambda w, n: _many(w, w.comment, n),
    "comments in a chain": lambda w, n: _chain(w, f" {w.comment}{w.member}(1)", n) if w.member else "",
    "spaces": lambda w, n: _body(w, _call(w, "") + " " * n + _call(w, "")),
    "empty lines": lambda w, n: _body(w, _call(w, "") + "\n" * n + _call(w, "")),
    "locals": lambda w, n: _statements(w, _in(w, w.local, "g(v#p)"), n),
    "locals of members": lambda w, n: _statements(w, _in(w, w.local, f"{w.name.removesuffix('a')}v#p{w.member}(1)"), n) if w.member else "",
    "one local again": lambda w, n: _statements(w, _in(w, w.again, f"{w.name.removesuffix('a')}v#i{w.member}(1)").replace("v#i", "v"), n) if w.member else "",
    "locals of new objects": lambda w, n: _statements(w, _in(w, w.local, w.made), n) if w.made else "",
    "one closure around functions": lambda w, n: _body(w, numbered((w.value.replace("#b", _call(w))) + w.end, n)) if w.value else "",
    "functions in a function": lambda w, n: _body(w, numbered(w.function.replace("#b", _call(w)), n)),
    "methods": lambda w, n: _classes(w, w.method.replace("#b", "m#p()" + w.end.rstrip(" ")), n),
    "methods of one name": lambda w, n: _classes(w, w.method.replace("#i", "").replace("#b", "m()" + w.end.rstrip(" ")), n),
    "one class again": lambda w, n: _many(w, w.cls.replace("#i", "").replace("#b", w.method.replace("#b", "m#p()" + w.end.rstrip(" "))), n) if w.cls else "",
    "method of many classes": lambda w, n: _many(w, w.cls.replace("#b", w.method.replace("#i", "").replace("#b", f"{w.name}{w.member}(1){w.end}".replace("b#i", "m").replace("B#i", "m").rstrip(" "))), n) if w.cls else "",
    "classes": lambda w, n: _many(w, w.cls.replace("#b", w.method.replace("#b", w.made + w.end.rstrip(" "))), n) if w.cls and w.made else "",
    "line of bases": lambda w, n: _many(w, w.sub.replace("#b", w.method.replace("#b", "m#p()" + w.end.rstrip(" "))), n) if w.sub else "",
    "line of bases with one method": lambda w, n: _many(w, w.sub.replace("#b", w.method.replace("#i", "").replace("#b", "m()" + w.end.rstrip(" "))), n) if w.sub else "",
    "fields": lambda w, n: _classes(w, w.field, n) if w.field else "",
    "types of parameters": lambda w, n: _many(w, w.cls.replace("#b", w.method.replace("#b", "g(1)" + w.end.rstrip(" "))) + w.typed, n) if w.typed and w.cls else "",
    "marks": lambda w, n: w.file.replace("#b", numbered(w.mark, n) + _put(w.function, 1).replace("#b", "g(1)" + w.end.rstrip(" "))) if w.mark else "",
    "marked functions": lambda w, n: _many(w, w.mark + w.function.replace("#b", "g(1)" + w.end.rstrip(" ")), n) if w.mark else "",
    "imports": lambda w, n: numbered(w.imports, n),
    "words": lambda w, n: numbered("word#i Other#i of ", n),
    "one word": lambda w, n: _broken("word ", n // 5),
}  # fmt: skip


def generators() -> Iterator[tuple[str, str, Callable[[int], dict[str, bytes]]]]:
    """Yield (shape, language, function from a size in bytes to the files of a repository)."""
    for language, words in ALL.items():
        for name, shape in SHAPES.items():
            if shape(words, 400):
                yield name, language, _single(words, shape)
        for name, unit in words.extra:
            yield f"many {name}", language, _single(words, partial(_many_of, unit))


def _many_of(unit: str, words: Words, n_bytes: int) -> str:
    return _many(words, unit, n_bytes)


def _single(words: Words, shape: Shape) -> Callable[[int], dict[str, bytes]]:
    return lambda n: {f"a{words.extension}": shape(words, n).encode()}
