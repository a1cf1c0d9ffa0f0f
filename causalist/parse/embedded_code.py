"""Single-file components (Vue, Svelte): markup around scripts -> facts, with the positions of the file itself.

What a grammar is given is a view: the same number of bytes and lines, in which everything but the scripts is blank. The
file is its own default export, a component; what its template names (components as tags, functions in expressions)
it uses. Template and styles are text, searched as words of the component.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from causalist.model.facts import MODULE_SCOPE, Call, Definition, FileFacts, Import, ImportKind, Reference
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind

COMPONENTS = (".vue", ".svelte")
_LONGEST_SIGNATURE = 100
_MOST_SCRIPTS = 20  # of one file; two is what components have
DEFAULT_LANGUAGE = "js"  # of a script that names none, as in HTML

_OPEN = re.compile(rb"<!--|<(script|style)(?=[\s/>])", re.IGNORECASE)
_REST_OF_TAG = re.compile(rb"(?:[^>\"']++|\"[^\"]*\"|'[^']*')*+>")
_CLOSE = {b"script": re.compile(rb"</script", re.IGNORECASE), b"style": re.compile(rb"</style", re.IGNORECASE)}
_LANGUAGE = re.compile(rb"\slang\s*=\s*[\"']?(\w+)")
_SOURCE = re.compile(rb"\ssrc\s*=\s*[\"']([^\"'\n]+)")
_SHARED = re.compile(rb"\smodule(?=[\s/>])|\scontext\s*=\s*[\"']?module")  # run once, not for each component
_TEMPLATE = re.compile(rb"<template(?=[\s/>])", re.IGNORECASE)
_BLANK = bytes(c if c == 10 else 32 for c in range(256))

# Latin-1 text, so that characters are bytes. A tag; what stands between braces; the value of an attribute that is code.
_TAG = re.compile(r"<([A-Za-z][\w.-]*)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_BOUND = re.compile(r"\s(?:v-|[@:#])[\w:.\[\]-]*\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_NAME = re.compile(r"(?<![\w.$'\"`/-])([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*(\(?)")


class _Script(NamedTuple):
    """The opening tag and the bytes of a script."""

    tag: bytes
    start: int
    end: int


class Component(NamedTuple):
    """`view` is what the grammar of `language` reads (the ending of a file in that language, without the dot);
    `markup` what is left without scripts, styles and comments. Both are as long as the file and have its lines."""

    view: bytes
    markup: bytes
    language: str
    scripts: tuple[_Script, ...]


def is_component(path: str) -> bool:
    return path.lower().endswith(COMPONENTS)


def read_component(data: bytes) -> Component:
    """Splits a component.

    As in HTML the first closing tag ends a script, be it in a string; a script that is not closed goes on to the end.
    """
    scripts: list[_Script] = []
    markup = bytearray(data)
    position = 0
    while found := _OPEN.search(data, position):
        position = _end(data, found, scripts)
        markup[found.start() : position] = data[found.start() : position].translate(_BLANK)
    view = bytearray(data.translate(_BLANK))
    for script in scripts:
        view[script.start : script.end] = data[script.start : script.end]
        # The next script goes on with nothing of this one.
        view[script.end : script.end + 1] = b";" if script.end < len(data) else b""
    named = [m[1].decode() for m in (_LANGUAGE.search(script.tag) for script in scripts) if m]
    return Component(bytes(view), bytes(markup), named[0] if named else DEFAULT_LANGUAGE, tuple(scripts))


def _end(data: bytes, opened: re.Match[bytes], scripts: list[_Script]) -> int:
    """Where the comment, script or style that is opened ends; a script is added to `scripts`."""
    if opened[1] is None:
        end = data.find(b"-->", opened.end())
        return end + 3 if end >= 0 else len(data)
    tag = _REST_OF_TAG.match(data, opened.end())
    if tag is None:
        return len(data)  # a tag that never ends: nothing after it is what it seems
    if data[tag.end() - 2 : tag.end()] == b"/>":
        end = tag.end()
    else:
        closed = _CLOSE[opened[1].lower()].search(data, tag.end())
        end = closed.start() if closed else len(data)
    if opened[1].lower() == b"script" and len(scripts) < _MOST_SCRIPTS:
        scripts.append(_Script(data[opened.start() : tag.end()], tag.end(), end))
    return end


def without_scripts(component: Component) -> Component:
    """The component as if it had no scripts, for a language of which no grammar is known."""
    return component._replace(view=component.view.translate(_BLANK), scripts=())


def with_component(facts: FileFacts, component: Component) -> FileFacts:
    """The facts of the scripts, and those of the component that they make together with the markup."""
    exported = {e.local for e in facts.exports if e.exported == "default"} | {"default"}
    if any(d.qualname in exported and d.kind in CALLABLE_KINDS | TYPE_KINDS for d in facts.definitions):
        scope = MODULE_SCOPE  # the script says itself what the component is
    else:
        scope = len(facts.definitions)
        header = component.scripts[0].tag.decode("utf-8", "replace") if component.scripts else ""
        own = Definition(
            "default", "default", int(NodeKind.FUNCTION), MODULE_SCOPE, 0, facts.n_bytes, 0, facts.n_rows - 1,
            " ".join(header.split())[:_LONGEST_SIGNATURE], facts.doc, 0,
        )  # fmt: skip
        facts = replace(
            facts,
            definitions=(*facts.definitions, own),
            exports=tuple(e for e in facts.exports if e.exported != "default"),
        )
    # What a script does for each component is done by the component.
    rows = [_rows(component, script) for script in component.scripts if not _SHARED.search(script.tag)]

    def scope_of(use: Call | Reference) -> int:
        return scope if use.scope == MODULE_SCOPE and any(use.row in each for each in rows) else use.scope

    uses = list(_template_uses(component.markup, facts, scope))
    sources = [(_SOURCE.search(script.tag), _rows(component, script).start) for script in component.scripts]
    return replace(
        facts,
        calls=(*(c._replace(scope=scope_of(c)) for c in facts.calls), *(u for u in uses if isinstance(u, Call))),
        references=(
            *(r._replace(scope=scope_of(r)) for r in facts.references),
            *(u for u in uses if isinstance(u, Reference)),
        ),
        imports=(
            *facts.imports,
            *(
                Import(MODULE_SCOPE, int(ImportKind.SIDE_EFFECT), m[1].decode("utf-8", "replace"), 0, "", "", row)
                for m, row in sources
                if m
            ),
        ),
    )


def _rows(component: Component, script: _Script) -> range:
    first = component.view.count(b"\n", 0, script.start)
    return range(first, first + component.view.count(b"\n", script.start, script.end) + 1)


def _template_uses(markup: bytes, facts: FileFacts, scope: int) -> Iterator[Call | Reference]:
    """What the markup names of what the scripts define or import, in the order in which it stands there."""
    known = {i.alias for i in facts.imports if i.scope == MODULE_SCOPE and i.alias}
    known |= {d.qualname for d in facts.definitions if d.parent == MODULE_SCOPE and d.kind in CALLABLE_KINDS}
    text = markup.decode("latin-1")
    whole = _TEMPLATE.search(markup)  # a template of its own, or everything that is left
    first, last = (whole.start(), max(text.lower().rfind("</template"), whole.end())) if whole else (0, len(text))
    newlines = [m.start() for m in re.finditer("\n", text)]
    found: list[tuple[int, str, bool]] = []
    for tag in _TAG.finditer(text, first, last):
        head, dot, rest = tag[1].partition(".")
        for name in dict.fromkeys((head, _camel(head), _camel(head)[:1].upper() + _camel(head)[1:])):
            if name in known:
                found.append((tag.start(), name + dot + rest, True))
                break
    bound = [*_BRACES.finditer(text, first, last), *(_BOUND.finditer(text, first, last) if whole else ())]
    for each in bound:
        group = next((g for g in range(1, (each.re.groups or 0) + 1) if each[g] is not None), 0)
        for name in _NAME.finditer(each[group]):
            if name[1].partition(".")[0] in known:
                found.append((each.start(group) + name.start(), name[1], bool(name[2])))
    for at, chain, called in sorted(set(found)):
        row = bisect_left(newlines, at)
        yield Call(scope, chain, row) if called else Reference(scope, chain, row)


def _camel(tag: str) -> str:
    """
    >>> _camel("my-button"), _camel("Door")
    ('myButton', 'Door')
    """
    head, *rest = tag.split("-")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)
