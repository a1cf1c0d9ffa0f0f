# ruff: noqa: E501
"""Repositories of many files that use one another in ways that no hand-written one does."""

from collections.abc import Callable, Iterator

Make = Callable[[int], dict[str, bytes]]
# (shape, language, path, text): `#i` is the number of the file, `#p` the one before, `#q` the one before that,
# `#n` the next one and `#h` half of the number.
_FILES = (
    ("chain of imports", "python", "p/m#i.py", "from p.m#p import f#p\ndef f#i():\n    return f#p()\n"),
    ("chain of exports", "python", "p/m#i.py", "from p.m#p import f\n\ndef g#i():\n    return f()\n"),
    ("chain of stars", "python", "p/m#i.py", "from p.m#p import *\n\ndef g#i():\n    return g#p()\n"),
    ("tree of stars", "python", "p/m#i.py", "from p.m#p import *\nfrom p.m#h import *\ndef g#i():\n    return g1()\n"),
    ("cycle of stars", "python", "p/m#i.py", "from p.m#p import *\nfrom p.m#n import *\ndef g#i():\n    return x()\n"),
    ("cycle of imports", "python", "p/m#i.py", "from p.m#n import x\nfrom p.m#p import y\ndef g#i():\n    return x(y)\n"),
    ("chain of bases", "python", "p/m#i.py", "from p.m#p import C#p\nclass C#i(C#p):\n    def m(self):\n        return self.n()\n"),
    ("diamonds", "python", "p/m#i.py", "from p.m#p import C#p\nfrom p.m#q import C#q\nclass C#i(C#p, C#q):\n    def m(self):\n        return self.n()\n"),
    ("cycle of bases", "python", "p/m#i.py", "from p.m#n import C#n\nfrom p.m#h import C#h\nclass C#i(C#n, C#h):\n    def m(self):\n        return self.n()\n"),
    ("one name", "python", "p/m#i.py", "class C:\n    def run(self, x):\n        return x.run(C())\ndef f(x):\n    return x.run()\n"),
    ("one module", "python", "p#i/m.py", "from m import f\nimport m\ndef f(x):\n    return m.f(x)\n"),
    ("chain of results", "python", "p/m#i.py", "from p.m#p import f#p\ndef f#i():\n    x = f#p()\n    return x.m()\n"),
    ("chain of attributes", "python", "p/m#i.py", "from p.m#p import C#p\nclass C#i:\n    def __init__(self):\n        self.a = C#p()\n    def m(self):\n        return self.a.a.a.a.a.m()\n"),
    ("chain of modules", "python", "p/m#i.py", "import p.m#p\nfrom p import m#p\nx = m#p.m#q.f()\n"),
    ("packages", "python", "p/" + "a/" * 6 + "b#i/__init__.py", "from ..b#p import x\nfrom . import y\ndef x():\n    return y()\n"),
    ("chain of imports", "typescript", "p/m#i.ts", "import { f#p } from './m#p';\nexport function f#i(): number { return f#p(); }\n"),
    ("chain of exports", "typescript", "p/m#i.ts", "export { f } from './m#p';\nimport { f as g } from './m#p';\nexport const x#i = g();\n"),
    ("chain of stars", "typescript", "p/m#i.ts", "export * from './m#p';\nimport { f } from './m#p';\nexport const x#i = f();\n"),
    ("tree of stars", "typescript", "p/m#i.ts", "export * from './m#p';\nexport * from './m#h';\nimport { f } from './m#p';\nexport const x#i = f();\n"),
    ("cycle of stars", "typescript", "p/m#i.ts", "export * from './m#p';\nexport * from './m#n';\nimport { f } from './m#p';\nexport const x#i = f();\n"),
    ("chain of bases", "typescript", "p/m#i.ts", "import { C#p } from './m#p';\nexport class C#i extends C#p { m() { return this.n(); } }\n"),
    ("cycle of bases", "typescript", "p/m#i.ts", "import { C#n } from './m#n';\nexport class C#i extends C#n { m() { return this.n(); } }\n"),
    ("interfaces", "typescript", "p/m#i.ts", "export interface I { run(x: I): void }\nexport class C implements I { run(x: I) { x.run(this); } }\n"),
    ("one name", "typescript", "p/m#i.ts", "export class C { run(x) { return x.run(new C()); } }\nexport function f(x) { return x.run(); }\n"),
    ("global functions", "javascript", "p/m#i.js", "function f(x) { return g(x); }\nfunction g(x) { return f(x).run(); }\n"),
    ("required", "javascript", "p/m#i.js", "const m = require('./m#p');\nmodule.exports = Object.assign({}, m, { f#i() { return m.f(); } });\n"),
    ("one package", "go", "p/m#i.go", "package p\nfunc f#i() int { return f#p() }\ntype T#i struct { T#p }\nfunc (t T#i) Run() { t.Run() }\n"),
    ("one name", "go", "p#i/m.go", "package m\nimport \"x/p#p\"\nfunc F() { m.F() }\ntype T struct{}\nfunc (t T) Run(x any) { x.Run() }\n"),
    ("interfaces", "go", "p#i/m.go", "package m\ntype I interface { Run#h(); Stop() }\ntype T struct{}\nfunc (t T) Run#h() { t.Stop() }\nfunc (t T) Stop() {}\n"),
    ("one package", "java", "p/C#i.java", "package p;\nclass C#i extends C#p { void m() { n(); } static void s() { C#p.s(); } }\n"),
    ("cycle of bases", "java", "p/C#i.java", "package p;\nclass C#i extends C#n { void m() { n(); } }\n"),
    ("interfaces", "java", "p/C#i.java", "package p;\ninterface I#i extends I#p, I#q { void m(I#p x); }\nclass C#i implements I#i { public void m(I#p x) { x.m(this); } }\n"),
    ("one name", "java", "p#i/C.java", "package p#i;\nimport p#p.*;\nclass C { void run(C x) { x.run(this); y.run(); } }\n"),
    ("stars", "java", "p#i/C#i.java", "package p#i;\nimport p#p.*;\nimport p#n.*;\nimport static p#h.C#h.*;\nclass C#i { void m() { C#p x = f(); } }\n"),
    ("chain of uses", "rust", "src/m#i.rs", "pub use crate::m#p::*;\npub fn f#i() { f#p(); }\n"),
    ("one name", "rust", "src/m#i.rs", "pub struct C;\nimpl C { pub fn run(&self, x: C) { x.run(y); z.run(); } }\n"),
    ("traits", "rust", "src/m#i.rs", "use crate::m#p::T#p;\npub trait T#i: T#p { fn m(&self) { self.n(); } }\npub struct S#i;\nimpl T#i for S#i {}\n"),
    ("chain of bases", "php", "src/C#i.php", "<?php\nnamespace P;\nclass C#i extends C#p { use T#p; function m() { $this->n(); } }\ntrait T#i { use T#p; }\n"),
    ("one name", "php", "src/m#i.php", "<?php\nclass C { function run($x) { $x->run(new C()); } }\nfunction f() { f(); }\n"),
    ("reopened", "ruby", "lib/m#i.rb", "require_relative 'm#p'\nclass C\n  include M#p\n  def m#i\n    m#p\n  end\nend\nmodule M#i\n  include M#p\nend\n"),
    ("one name", "ruby", "lib/m#i.rb", "class C#i < C#p\n  def run(x)\n    x.run\n    super\n  end\nend\n"),
    ("extensions", "kotlin", "p/m#i.kt", "package p\nclass C#i : C#p()\nfun C#i.ext() = C#p().ext()\nfun f(x: C#i) = x.ext()\n"),
    ("extensions", "swift", "p/m#i.swift", "extension One { func m#i() { m#p() } }\nclass C#i: C#p { func run() { run() } }\nfunc f(x: C#i) { x.run() }\n"),
    ("one package", "scala", "p/m#i.scala", "package p\ntrait T#i extends T#p { def m = n }\nclass C#i extends C#p with T#i { def run(x: T#i) = x.m }\n"),
    ("imports", "elixir", "lib/m#i.ex", "defmodule M#i do\n  import M#p\n  use M#h\n  def f#i(x), do: f#p(x) |> run()\n  def run(x), do: x\nend\n"),
    ("chain of includes", "c", "src/m#i.h", "#include \"m#p.h\"\nint f#i(int a);\nstruct s#i { struct s#p *a; };\n"),
    ("declarations", "c", "src/m#i.c", "#include \"m.h\"\nint f(int);\nstatic int g(int a) { return f(a) + h#p(a); }\nint h#i(int a) { return g(a); }\n"),
    ("chain of includes", "cpp", "src/m#i.hpp", "#include \"m#p.hpp\"\nnamespace n { class C#i : public C#p { void m(); }; }\nvoid n::C#i::m() { m(); f(); }\n"),
    ("partial classes", "csharp", "src/m#i.cs", "namespace N;\npartial class One : B#p { void M#i() { M#p(); Run(); } }\ninterface B#i : B#p { void Run(); }\n"),
    ("one name", "csharp", "src/m#i.cs", "namespace N#i;\nusing N#p;\nclass C { void Run(C x) { x.Run(this); y.Run(); } }\n"),
    ("one name", "lua", "m#i.lua", "local m = require('m#p')\nlocal C = {}\nfunction C:run(x) x:run(m) end\nreturn C\n"),
    ("sourced", "bash", "m#i.sh", ". ./m#p.sh\n. ./m#h.sh\nf#i() { f#p; run; }\nrun() { f1; }\n"),
    ("pages", "markdown", "docs/m#i.md", "# Title\n\nSee [the one before](m#p.md), `run_all` and `Session.verify#i`.\n\n## Title\n"),
    ("packages", "manifests", "p#i/package.json", '{"name": "n#i", "main": "src/a.js", "dependencies": {"n#p": "1", "n#h": "*"}}'),
    ("workspaces", "typescript", "p#i/package.json\0p#i/src/a.ts", '{"name": "n#i"}\0import { f } from "n#p";\nexport function f#i() { return f(); }\n'),
    ("routes", "python", "p/m#i.py", "@app.route('/a/<x>/b#h')\ndef r#i():\n    return client.get('/a/1/b#p')\n"),
    ("routes", "javascript", "p/m#i.js", "app.get('/a/:x/b#h', h);\nfetch('/a/1/b#p');\nbus.on('e', h);\nbus.emit('e');\n"),
    ("tests", "python", "tests/test_m#i.py", "from p.m import run\n\ndef test_run():\n    assert run() == #i\n\ndef test_run#i(run):\n    run()\n"),
    ("fixtures", "python", "tests/a#i/conftest.py", "import pytest\n@pytest.fixture\ndef one(one):\n    return one\n\ndef test_one(one):\n    one.run()\n"),
    ("deep folders", "python", "#d/m.py", "from . import m\nfrom .. import m as n\ndef f#i():\n    return m.f() + n.f()\n"),
    ("tsconfig", "typescript", "p#i/tsconfig.json\0p#i/a.ts", '{"extends": "../p#p/tsconfig.json", "compilerOptions": {"paths": {"@#i/*": ["./*"]}}}\0import { f } from "@#p/a";\nexport const f = f();\n'),
    ("one header", "cpp", "src/d#i/m.h\0src/d#i/m.cpp", 'namespace n { struct C { void run(int); void run(C); }; }\0#include "m.h"\nvoid n::C::run(int a) { run(a); }\n'),
    ("control characters", "python", "p/a\x01\x7f\t#i .py", "def f#i():\n    return f#p()\n"),
    ("dots", "python", "p/" + "a." * 100 + "#i.py", "import p.a#p\ndef f#i():\n    return f#p()\n"),
    ("dots", "typescript", "p/" + "a." * 100 + "#i.ts", "import { f } from './" + "a." * 100 + "#p';\nexport function g() { return f(); }\n"),
    ("undecodable", "python", "p/\udce9\udcff#i.py", "def f#i():\n    return f#p()\n"),
    ("undecodable", "markdown", "docs/\udce9\udcff#i.md", "# Title #i\n\nSee `f#p` in [a](\udce9#p.md).\n"),
    ("long names", "python", "p/" + "a" * 240 + "#i.py", "from p." + "a" * 240 + "#p import f#p\ndef f#i():\n    return f#p()\n"),
)  # fmt: skip


def generators() -> Iterator[tuple[str, str, Make]]:
    """Yield (shape, language, function from a size in bytes to the files of a repository)."""
    for shape, language, path, text in _FILES:
        yield f"files: {shape}", language, _many(path, text)


def _many(path: str, text: str) -> Make:
    def make(n_bytes: int) -> dict[str, bytes]:
        n = max(4, n_bytes // (len(text) + 20))
        files = {}
        for i in range(1, n + 1):
            for one, each in zip(path.split("\0"), text.split("\0"), strict=True):
                files[_put(one, i, n)] = _put(each, i, n).encode("utf-8", "surrogateescape")
        return files

    return make


def _put(text: str, i: int, n: int) -> str:
    """Fill in the numbers. Folders of `#d` are as deep as the root of the number of files, as bytes of paths count."""
    deep = "/".join(["d"] * (1 + i % int(n**0.5))) + f"/e{i}"
    values = {"#i": i, "#p": i - 1 or n, "#q": i - 2 if i > 2 else n, "#n": i % n + 1, "#h": i // 2, "#d": deep}
    for mark, value in values.items():
        text = text.replace(mark, str(value))
    return text
