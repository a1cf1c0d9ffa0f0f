"""What grammars cannot read is told them."""

import pytest

from causalist.model.source import DiagnosticSlug
from causalist.parse import parse_file

_CASES = [
    ("a.ps1", "function Use-A($x) {\n (Get-Date($x).ToUniversalTime() -UFormat 'a').ToString()\n}\n", "Use-A"),
    ("a.ps1", "Set-StrictMode -Version\tLatest\n\nfunction Use-A {\n Clean-A -Path $x\n}\n", "Use-A"),
    ("a.fs", "module A\n\nlet f p =\n    let e = function\n    | Some x -> x\n    | None -> 0\n\n    p |> e\n", "f"),
    ("a.fs", "module A\n\ntype Cmd<'a> = Effect<'a> list\n\nlet a = { 1..10 }\n", "Cmd"),
    ("a.fs", "let f n =\n    for _ = 0 to n do\n        g ()\n\nlet h x = x\n", "h"),
    ("a.fs", "let f x =\n    match x with\n    | ('*' | '_') :: _t as (h :: t) -> h\n    | _ -> x\n", "f"),
    (
        "a.fs",
        "let f x =\n    match x with\n    | L.D a [ ' ' ] (L.S b, c) -> Some b\n"
        "    | L.D [ '<' ] [ '>' ] (t, r) when t -> r\n",
        "f",
    ),
    ("a.fs", "let f () =\n    let g<'T> = 1\n    h<``A b``> <| fun c -> 1\n\nlet k x = x\n", "k"),
    (
        "a.fs",
        "type A() =\n    member val I =\n        let mutable p = 1\n        if e.D() then\n            p\n"
        "        else\n"
        "            c\n\n    member _.P = c.P\n",
        "P",
    ),
    ("a.jl", "function f(n)\n    for i = g(n).x : h(n).x : n\n        k(i)\n    end\nend\n", "f"),
    ("a.jl", "f(m) = @rule(m, [i = 1:2, j = 1:2; i != j], g(i))\nh(x) = g(x, ; mutable=false)\n", "h"),
    ("a.jl", "f(u, v) = ∫(u * v)dΩ\n", "f"),
    (
        "a.m",
        "#import <A.h>\n@implementation A\n#pragma mark a\n{\n  int x;\n}\n- (int)f\n{\n  return 1;\n}\n@end\n",
        "f",
    ),
    (
        "a.m",
        "#import <A.h>\n@implementation A\n- (instancetype)init\n    A_UNAVAILABLE(@selector(initWith:and:))\n\n"
        "- (int)f {\n  return 1;\n}\n@end\n",
        "f",
    ),
    (
        "a.m",
        "#import <A.h>\nEXPMatcherImplementationBegin(a, (id b)) {\n  f(b);\n}\n"
        "EXPMatcherImplementationEnd\nint g(void) { return 1; }\n",
        "g",
    ),
    (
        "a.m",
        "#import <A.h>\n@implementation A\nA_CHECK(NSObject, addThe:for:);\n- (int)f {\n  return 1;\n}\n@end\n",
        "f",
    ),
    (
        "a.m",
        "#import <A.h>\n@implementation A\n- (int)f {\n  LOCK(int x = [_a b]); return x;\n}\n- (void)g {\n"
        "  KEEP_IT\n}\n@end\n",
        "g",
    ),
    (
        "a.m",
        '#import <A.h>\nstatic void f(int a) KEEP_IN_TRACE\n{\n  [s a:@"b" A_LONG "c"];\n}\n'
        "Property(NSInteger, a)\n\nint g(void) { return 1; }\n",
        "g",
    ),
    (
        "a.c",
        "/* Writes. */\nstatic void printflike(1, 0)\nlog_vwrite(const char *msg, va_list ap)\n{\n  f(1, 2);\n}\n",
        "log_vwrite",
    ),
    ("a.c", "__printf(2, 3)\nvoid warn(int a, const char *msg, ...)\n{\n  f(a);\n}\n", "warn"),
    ("a.cc", "class A {\n  void ATTR_FORMAT_PRINTF(2, 3) warn(const char* msg, ...) {}\n};\n", "warn"),
    (
        "a.mm",
        "@implementation A {\n  std::map<int, std::vector<B>> _m;\n}\nKeepIt\n- (CGSize)f:(id)b {\n"
        "  Guard l(b->_lock);\n  for (const auto &x : _m) { g(x); }\n  if (auto y = h(b)) { y = {}; }\n"
        "  a.frame = {.size = {1, 2}};\n  return k({{0, 0}, {1, z(2)}}, [&](const B &c) -> int { return c.n; });\n}\n"
        "@end\n",
        "f:",
    ),
    (
        "a.mm",
        "A_EXTERN A_WARN B *g(int a) A_OLD;\nbool K::operator==(const K &b) const\n{\n  return new C;\n}\n"
        "auto f(C *c) -> D * { auto const d = D{1, c}; return static_cast<D *>(d); }\n",
        "f",
    ),
    (
        "a.m",
        "#import <A.h>\n@implementation A\n- (int)g {\n  return x(a == @selector(f:));\n}\n"
        "- (int)f {\n  unowned B *b = c; return ^{ return 1; }();\n}\n@end\n",
        "f",
    ),
]


@pytest.mark.parametrize(("path", "source", "name"), _CASES)
def test_what_a_grammar_cannot_read_loses_no_definition(path: str, source: str, name: str) -> None:
    facts = parse_file(path, source.encode())
    assert not [each for each in facts.diagnostics if each.slug == DiagnosticSlug.SYNTAX_ERROR]
    assert name in {each.name for each in facts.definitions}
