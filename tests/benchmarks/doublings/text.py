# ruff: noqa: E501
"""Hostile text of any size: units that readers of prose, data, templates and manifests look for, again and again."""

import json
from collections.abc import Callable, Iterator

from tests.benchmarks.doublings.code import ALL, SHAPES, numbered

Make = Callable[[int], dict[str, bytes]]

# Endings of readers, one for each; a name without an ending may be a script.
PATHS = (
    *("a.md", "a.rst", "a.adoc", "a.txt", "a.csv", "a.html", "a.yaml", "a.json", "a.css", "Makefile", "a.haml"),
    *("package.json", "tsconfig.json", "go.mod", "Cargo.toml", "pyproject.toml", "composer.json", "a.erb", "setup.cfg"),
    *("a.vue", "a.svelte", "a.xml", "a.sql"),
)
UNITS = (
    *("# Title #i\n", "# Title\n", "## a ", "###### a\n", "#", "Title #i\n===\n\n", "=", "=\n", "---\n", "-", "- a\n", "~~~\n", "```\n"),
    *("```", "`", "``", "`a#i` ", "`a", "`a`\n", "[", "[a](", "[a](b.md) ", "[a]: b\n", "![", "](", "]", "<", "<a ", "<a>", "</a>"),
    *("<!--", "<!-- a\n", "/*", "*/", "{", "}", "{a:", "{\"a\":", "\"a#i\": 1,\n", "\"a\": {\n", "[a#i]\na = \"b#p\"\n", "(", "((", "{{", "{%",
      "{% a ", "{% url 'a#i' %}\n", "{{ url_for('a#i') }}\n", "<%", "<%= a#i_path %>\n", "<% a\n", "%"),
    *(" ", "  a\n", "\t", "\n", " \n", "\r", "\r\n", "\\", "\\\n", "\\\"", "\"", "'", "\"\"\"", "a", "A", "Aa", "aA", "a#iB#i ", "a.", "a.b",
      "a.b#i.c\n", "a::", "a::b#i ", "::", "::\n\n", ".. class:: A#i\n", ".. ", ":class:`a#i` ", ":class:`", ":::", "::: a.b#i\n"),
    *("import ", "import a#i\n", "import {a#i} from './a#i'\n", "from a import ", "from a#i import b\n", "require ", "require('a#i')\n", "a = \n",
      "a#i = b#p\n", "a:\n", "a#i: b\n", "a,", "a#i,b,c\n", "|", "| a ", "|a|b|\n", "|-", "+", "+-", "* ", "*", "**", "_", "__", "~", "@", "@a",
      "$", "${", "$(", "&", "&amp;", "?", "!", "^", ";", "--", "-- a\n", "//", "// a\n", "http://a.b/", "http://a", "://", "/", "/a", "a/b/c#i.py ",
      "../", "\u00e9", "e\u0301", "\u4e2d", "\U0001f600", "\ufeff", "\u2028", "\x00", "\x0c", "\x1b[0m"),
    *("password=", "password = \"a#i\"\n", "keyword: ", "token: a#i\n", "secret", "key", "AKIA", "eyJ", "eyJ.", "-----BEGIN ", "ghp_a", "://a:b@", "sk-", "0123456789abcdef",
      "aB3#i", "Bearer ", "a=b&", "x" * 40 + "#i\n", "File \"a#i.py\", line 1, in f\n", "  at a.b (c.js:#i:1)\n", "Traceback (most recent call last):\n"),
    *("end\n", "if a\n", "    " * 8 + "a\n", "a\n b\n  c\n   d\n", "require a#i v1.0.0\n", "replace a#i => ../a#p\n", "[[a]]\n", "a = [\n", "\"a#i\" = \"b#p:c\"\n",
      "<script>\n", "<script>a()</script>\n", "</script>", "<style>", "<template>\n", "<template>", "<A#i />\n", "<a-b#i :c=\"d\" @e=\"f\">\n", "{#if a}\n", "{/if}\n"),
)  # fmt: skip


def generators() -> Iterator[tuple[str, str, Make]]:
    """Yield (shape, reader, function from a size in bytes to the files of a repository)."""
    for path in PATHS:
        for unit in UNITS:
            yield f"{unit!r}", path, _again(path, unit)
    for name in ("deep arrays", "functions", "calls", "one word"):
        for path in ("a.vue", "a.svelte"):
            yield f"script of {name}", path, _script(path, name)
    for name in ("code", "markdown"):
        yield f"many cells of {name}", "a.ipynb", _cells(name)
        yield f"one cell of {name}", "a.ipynb", _cell(name)
        yield f"one line of {name}", "a.ipynb", _cell(name, as_one=True)
    for name, unit in (("arrays", "["), ("objects", '{"a":'), ("strings", '"a" '), ("escapes", '\\"'), ("quotes", '"')):
        yield f"no notebook of {name}", "a.ipynb", _again("a.ipynb", unit)
    for name, unit in (("arrays", "["), ("objects", '{"cells":['), ("escapes", '"\\\\n')):
        yield f"open notebook of {name}", "a.ipynb", _again("a.ipynb", unit, '{"cells": [')
    for name in ("package.json", "tsconfig.json", "composer.json"):
        yield "deep exports", name, _deep_json(name, "exports")
        yield "many exports", name, _wide_json(name, "exports")
        yield "many workspaces", name, _wide_json(name, "workspaces")
    for name in ("pyproject.toml", "Cargo.toml"):
        yield "deep arrays", name, _toml(name, lambda n: "a = " + "[" * (n // 2) + "]" * (n // 2))
        yield "dotted keys", name, _toml(name, lambda n: ".".join(["a"] * (n // 2)) + " = 1\n")
        yield "tables", name, _toml(name, lambda n: numbered("[a.b#i]\nc = 1\n", n))


def _toml(name: str, write: Callable[[int], str]) -> Make:
    return lambda n: {name: write(n).encode()}


def _again(path: str, unit: str, begin: str = "") -> Make:
    return lambda n: {path: (begin + numbered(unit, n)).encode("utf-8", "surrogatepass")[:n]}


def _script(path: str, name: str) -> Make:
    code = ALL["typescript"]
    return lambda n: {
        path: f'<script lang="ts">\n{SHAPES[name](code, n)}\n</script>\n<template><A/></template>\n'.encode()
    }


def _cells(kind: str) -> Make:
    return lambda n: {
        "a.ipynb": json.dumps({
            "cells": [{"cell_type": kind, "source": [f"x{i} = f(x{i - 1})\n", "g()"]} for i in range(n // 75)],
            "metadata": {}, "nbformat": 4,
        }).encode()
    }  # fmt: skip


def _cell(kind: str, as_one: bool = False) -> Make:
    def make(n: int) -> dict[str, bytes]:
        lines = [f"x{i} = f(x{i - 1})\n" for i in range(n // 24)]
        cell = {"cell_type": kind, "source": "".join(lines) if as_one else lines}
        return {"a.ipynb": json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}).encode()}

    return make


def _deep_json(name: str, key: str) -> Make:
    return lambda n: {name: (f'{{"{key}": ' + '{"a":' * (n // 6) + "1" + "}" * (n // 6) + "}").encode()}


def _wide_json(name: str, key: str) -> Make:
    return lambda n: {name: json.dumps({key: {f"./a{i}": f"./b{i}.js" for i in range(n // 25)}}).encode()}
