"""Definitions, imports, exports and bindings of one file: names, spans, signatures, documentation."""

import pytest

from causalist.model.facts import Binding, Export, Import, ImportKind
from causalist.model.node_ids import NodeKind
from causalist.parse import parse_file
from causalist.parse.syntax.imports import read_listed_names
from tests.parse.facts_of import facts_of, qualnames


@pytest.mark.parametrize(
    ("path", "before", "declared"),
    [
        ("a.php", "#[At(name: 'a', of: [new Of(['b'])])]\n" * 20 + "// why\n", "final class A extends B"),
        ("a.java", '@At(name = "a)", of = {@Of(b = @In(c = (1)))}) /* why */ ' * 10, "public class A extends B"),
        ("a.cs", '[At(nameof(A), new[] { "a", "b[" })]\n// why\n' * 10, "public class A : B"),
        ("a.kt", '@At(of = [Of(value = ["a", "b"])]) ' * 10, "open class A : B()"),
    ],
)
def test_a_signature_begins_behind_annotations_however_long(path: str, before: str, declared: str) -> None:
    source = f"{'<?php ' if path.endswith('.php') else ''}{before}{declared} {{ }}\n"
    (found,) = parse_file(path, source.encode()).definitions
    assert (found.name, found.signature) == ("A", declared)


def test_python_definitions_span_their_decorators_and_tell_signature_and_doc() -> None:
    text = (
        '"""The file.\n\nMore."""\n'
        "class A(Base):\n"
        '    """What A is."""\n'
        "    @property\n"
        "    @other(x=1)\n"
        "    async def m(\n        self, x: int = 3\n    ) -> str:\n"
        "        'First line.'\n"
        "        return x\n"
        "LIMIT: int = 3\n"
    )
    facts = facts_of(text)
    a, m, limit = facts.definitions
    assert facts.doc == "The file."
    assert (a.qualname, a.kind, a.parent, a.start_row, a.end_row) == ("A", NodeKind.CLASS, -1, 3, 11)
    assert (a.signature, a.doc) == ("class A(Base)", "What A is.")
    assert (m.qualname, m.name, m.kind, m.parent) == ("A.m", "m", NodeKind.METHOD, 0)
    assert (m.start_row, m.end_row, m.doc) == (5, 11, "First line.")
    assert m.signature == "async def m( self, x: int = 3 ) -> str"
    assert text.encode()[m.start_byte : m.end_byte].startswith(b"@property")
    assert (limit.qualname, limit.kind, limit.signature) == ("LIMIT", NodeKind.CONSTANT, "LIMIT: int = 3")
    assert facts.returns == ((1, "str"),)


def test_a_class_whose_body_is_one_method() -> None:
    assert qualnames(facts_of("class A:\n    def m(self): ...\n")) == ["A", "A.m"]
    assert qualnames(facts_of("class A:\n    @d\n    def m(self): ...\n")) == ["A", "A.m"]
    assert qualnames(facts_of("class A:\n    class B:\n        def m(self): ...\n")) == ["A", "A.B", "A.B.m"]


def test_typescript_definitions_span_their_export_and_tell_the_comment_above() -> None:
    text = (
        "/**\n * Opens the door.\n * @param key which\n */\n"
        "export const open = (key: string): Door => {\n  return make()\n}\n"
        "// Two lines\n// of comment.\n"
        "export abstract class Door<T> extends Base {\n  /** Shuts. */\n  shut(): void {}\n}\n"
        "\n// far away\n\nfunction plain() {}\n"
    )
    facts = facts_of(text, "typescript")
    opened, door, shut, plain = facts.definitions
    assert (opened.qualname, opened.kind, opened.doc) == ("open", NodeKind.FUNCTION, "Opens the door.")
    assert (opened.start_row, opened.end_row) == (4, 6)
    assert text.encode()[opened.start_byte :].startswith(b"export const open")
    assert opened.signature == "open = (key: string): Door"
    assert (door.qualname, door.doc, door.signature) == ("Door", "Two lines", "abstract class Door<T> extends Base")
    assert (shut.qualname, shut.doc, shut.signature) == ("Door.shut", "Shuts.", "shut(): void")
    assert plain.doc == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("exports.f = function () {}", ["f"]),
        ("module.exports.f = () => {}", ["f"]),
        ("module.exports = function () {}", ["default"]),
        ("module.exports = { f() {}, g: () => {} }", ["f", "g"]),
        ("a.b = function () {}", ["a.b"]),
        ("A.prototype.m = function () {}", ["A.m"]),
        ("const o = { m() {}, n: { deep() {} } }", ["o", "o.m", "o.n.deep"]),
        ("function f() { const o = { m() {} } }", ["f", "f.o.m"]),
        ("class C { o = { m() {} } }", ["C", "C.o", "C.o.m"]),
        ("export default () => 1", ["default"]),
        ("export default class { m() {} }", ["default", "default.m"]),
        ("function f() { return function g() {} }", ["f", "f.g"]),
        ("run(function g() {})", []),
        ("(function g() {})()", []),
        ("const f = function g() {}", ["f"]),
        ("type T = { m(): void; x: number }", ["T", "T.m", "T.x"]),
        ("function f(o: { m(): void; x: number }) {}", ["f"]),
        ("const f = (a) => (b) => a", ["f"]),
    ],
)
def test_names_in_typescript(text: str, names: list[str]) -> None:
    assert qualnames(facts_of(text, "typescript")) == names


def test_a_definition_inside_of_a_statement_does_not_span_the_statement() -> None:
    facts = facts_of("module.exports = {\n  own: function () {},\n}\n", "javascript")
    assert (facts.definitions[0].qualname, facts.definitions[0].start_row) == ("own", 1)


def test_python_imports() -> None:
    facts = facts_of(
        "import a.b, c as d\nfrom . import e\nfrom ..f.g import h as i, j\nfrom k import *\ndef x():\n    import l\n"
    )
    assert facts.imports == (
        Import(-1, ImportKind.MODULE, "a.b", 0, "", "", 0),
        Import(-1, ImportKind.MODULE, "c", 0, "", "d", 0),
        Import(-1, ImportKind.NAME, "", 1, "e", "e", 1),
        Import(-1, ImportKind.NAME, "f.g", 2, "h", "i", 2),
        Import(-1, ImportKind.NAME, "f.g", 2, "j", "j", 2),
        Import(-1, ImportKind.STAR, "k", 0, "*", "", 3),
        Import(0, ImportKind.MODULE, "l", 0, "", "", 5),
    )


def test_ecmascript_imports_and_exports() -> None:
    facts = facts_of(
        'import a, { b as c } from "./m"\nimport * as n from "n"\nimport "s"\nimport type { T } from "t"\n'
        'export { d as e } from "x"\nexport * from "y"\nexport * as z from "z"\nexport { f, g as default }\n'
        "export default h\n",
        "typescript",
    )
    assert facts.imports == (
        Import(-1, ImportKind.NAME, "./m", 0, "b", "c", 0),
        Import(-1, ImportKind.DEFAULT, "./m", 0, "default", "a", 0),
        Import(-1, ImportKind.MODULE, "n", 0, "", "n", 1),
        Import(-1, ImportKind.SIDE_EFFECT, "s", 0, "", "", 2),
        Import(-1, ImportKind.NAME, "t", 0, "T", "T", 3),
        Import(-1, ImportKind.REEXPORT, "x", 0, "d", "e", 4),
        Import(-1, ImportKind.REEXPORT_ALL, "y", 0, "*", "", 5),
        Import(-1, ImportKind.REEXPORT_NAMESPACE, "z", 0, "", "z", 6),
    )
    assert facts.exports == (Export("f", "f", 7), Export("g", "default", 7), Export("h", "default", 8))


def test_commonjs() -> None:
    facts = facts_of(
        'const a = require("a"), { b, c: d } = require("m")\nvar e = require("m").f.g\nrequire("side")\n'
        'exports.h = a\nmodule.exports = { i, j: k.l, m() {} }\nexports.n = require("n").o\nexports.p = make()\n',
        "javascript",
    )
    assert facts.imports == (
        Import(-1, ImportKind.MODULE, "a", 0, "", "a", 0),
        Import(-1, ImportKind.NAME, "m", 0, "b", "b", 0),
        Import(-1, ImportKind.NAME, "m", 0, "c", "d", 0),
        Import(-1, ImportKind.NAME, "m", 0, "f.g", "e", 1),
        Import(-1, ImportKind.SIDE_EFFECT, "side", 0, "", "", 2),
        Import(-1, ImportKind.REEXPORT, "n", 0, "o", "n", 5),
    )
    assert facts.exports == (Export("a", "h", 3), Export("i", "i", 4), Export("k.l", "j", 4))
    assert facts.bindings == ()


def test_bindings_know_annotation_and_value() -> None:
    facts = facts_of("def f(a: A, *b, c: C = 1):\n    d = e.f()\n    self.g: G = h\n    global i\n    i = 1\n")
    assert facts.bindings == (
        Binding(0, "a", "A", "", 0),
        Binding(0, "b", "", "", 0),
        Binding(0, "c", "C", "", 0),
        Binding(0, "d", "", "e.f()", 1),
        Binding(0, ".g", "G", "h", 2),
    )
    facts = facts_of("class C { constructor(private a: A, b?: B) {} x: X = y }\n", "typescript")
    assert {(b.target, b.type) for b in facts.bindings} == {("a", "A"), (".a", "A"), ("b", "B"), (".x", "X")}


def test_a_property_is_an_attribute_of_what_it_returns() -> None:
    assert Binding(0, ".p", "T", "", 2) in facts_of("class A:\n  @property\n  def p(self) -> T: ...\n").bindings
    assert Binding(0, ".p", "T", "", 0) in facts_of("class A { get p(): T { return 1 } }", "typescript").bindings


def test_wildcard_exports() -> None:
    assert facts_of("x = 1\n").wildcard_exports is None
    assert facts_of("__all__ = ['a', 'b']\n").wildcard_exports == ("a", "b")
    assert facts_of("def f(): return __all__\n").wildcard_exports is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__all__ = ('a', \"b\")", ("a", "b")),
        ("__all__ = [\n  'a',  # 'x'\n  'b',\n]  # done", ("a", "b")),
        ("__all__: list[str] = ['a']", ("a",)),
        ("__all__ = ['a']\n__all__ += ['b']\n__all__.extend(['c'])\n__all__.append('d')", ("a", "b", "c", "d")),
        ("__all__ = []", ()),
        ("__all__ = ['a']\n__all__ = ['b']", ("b",)),
        ("__all__ = ['a'] + other.__all__", None),
        ("__all__ += other.__all__", None),
        ("not__all__ = ['a']", None),
        ("", None),
    ],
)
def test_listed_names(text: str, names: tuple[str, ...] | None) -> None:
    assert read_listed_names(text, "__all__") == names


def test_bytes_that_are_no_utf_8_where_a_query_asks_for_the_text() -> None:
    text = b"// caf\xe9\n\xe9t\xe9.assign(door, { open() {} })\nObject.assign(door, { shut() { lock() } })\n"
    facts = facts_of(text, "javascript")
    assert [d.qualname for d in facts.definitions][-1] == "door.shut"
    assert [(c.callee, c.row) for c in facts.calls][-1] == ("lock", 2)
    assert "not-utf-8" in [d.slug for d in facts.diagnostics]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("int f(int a\n#ifdef X\n, int b\n#endif\n) { return h(); }\n", "h"),
        ("int f(int n) {\n  return a(1,\n#ifdef X\n  2,\n#else\n  3,\n#endif\n  4);\n}\n", "a"),
        ("int f(int n) {\n  int x = 1\n#ifdef X\n  + 2\n#else\n  + 3\n#endif\n  ; return h();\n}\n", "h"),
    ],
)
def test_one_of_several_alternatives_is_read_where_all_of_them_make_no_sense(text: str, called: str) -> None:
    facts = facts_of(text + "int g(void) { return 2; }\n", "c")
    assert qualnames(facts) == ["f", "g"]
    assert [call.callee for call in facts.calls] == [called]
    assert facts.diagnostics == ()
