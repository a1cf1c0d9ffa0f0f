"""Components (Vue, Svelte) and Jupyter notebooks -> views of their code for a grammar.

A view has as many bytes as the file. All bytes outside of the code are blank, so that positions in a view are positions
in the file.

Component: the file is its own default export. It uses the names in its template: components as tags, functions in
expressions. Template and styles are text, searched as words of the component.

Template in a string of Elixir (`~H`): the view has its expressions and the components that it names as code in place.

Notebook: JSON in which each line of a cell is a string. The view decodes every string of a cell in place and blanks
keys, outputs and pictures. Jupyter writes each line of a cell on its own line of the file; such a view has the lines of
the file. If several lines of a cell share one, as in JSON without line breaks, the view starts a line for each, and
rows count in the view.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any, NamedTuple

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.model.facts import MODULE_SCOPE, Call, Definition, FileFacts, Import, ImportKind, Reference
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind

_MAX_SIGNATURE_CHARACTERS = 100
_MAX_SCRIPTS = 20  # in one file; components have two at most
DEFAULT_LANGUAGE = "js"  # of a script that names none, as in HTML

_OPEN = lazy_regex(rb"<!--|<(script|style)(?=[\s/>])", re.IGNORECASE)
_REST_OF_TAG = lazy_regex(rb"(?:[^>\"']++|\"[^\"]*\"|'[^']*')*+>")
_CLOSE = {b"script": lazy_regex(rb"</script", re.IGNORECASE), b"style": lazy_regex(rb"</style", re.IGNORECASE)}
_LANGUAGE = lazy_regex(rb"\slang\s*=\s*[\"']?(\w+)")
_SOURCE = lazy_regex(rb"\ssrc\s*=\s*[\"']([^\"'\n]+)")
_SHARED = lazy_regex(rb"\smodule(?=[\s/>])|\scontext\s*=\s*[\"']?module")  # run once, not for each component
_TEMPLATE = lazy_regex(rb"<template(?=[\s/>])", re.IGNORECASE)
_BLANK = bytes(c if c == 10 else 32 for c in range(256))

# Latin-1 text, so that characters are bytes. A tag; text between braces; the value of an attribute that is code.
_TAG = lazy_regex(r"<([A-Za-z][\w.-]*)")
_BRACES = lazy_regex(r"\{([^{}]*)\}")
_BOUND = lazy_regex(r"\s(?:v-|[@:#])[\w:.\[\]-]*\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_NAME = lazy_regex(r"(?<![\w.$'\"`/-])([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*(\(?)")


class _Script(NamedTuple):
    """Opening tag and byte range of a script."""

    tag: bytes
    start: int
    end: int


class Component(NamedTuple):
    """Views of a component.

    `view` is the input for the grammar of `language`, which is a file extension without the dot. `markup` is the file
    without scripts, styles and comments. Both have the length and the lines of the file.
    """

    view: bytes
    markup: bytes
    language: str
    scripts: tuple[_Script, ...]


def read_component(data: bytes) -> Component:
    """Split a component into scripts and markup.

    The first closing tag ends a script, even inside a string, as in HTML. An unclosed script reaches to the end of the
    file.
    """
    scripts: list[_Script] = []
    markup = bytearray(data)
    position = 0
    while tag := _OPEN.search(data, position):
        position = _find_end(data, tag, scripts)
        markup[tag.start() : position] = data[tag.start() : position].translate(_BLANK)
    view = bytearray(data.translate(_BLANK))
    for script in scripts:
        view[script.start : script.end] = data[script.start : script.end]
        # The next script goes on with nothing of this one.
        view[script.end : script.end + 1] = b";" if script.end < len(data) else b""
    named = [m[1].decode() for m in (_LANGUAGE.search(script.tag) for script in scripts) if m]
    return Component(bytes(view), bytes(markup), named[0] if named else DEFAULT_LANGUAGE, tuple(scripts))


def _find_end(data: bytes, opened: re.Match[bytes], scripts: list[_Script]) -> int:
    """Return the end of the comment, script or style that opens here. Add a script to `scripts`."""
    if opened[1] is None:
        end = data.find(b"-->", opened.end())
        return end + 3 if end >= 0 else len(data)
    tag = _REST_OF_TAG.match(data, opened.end())
    if tag is None:
        return len(data)  # an unclosed tag: the rest of the file cannot be read
    if data[tag.end() - 2 : tag.end()] == b"/>":
        end = tag.end()
    else:
        closed = _CLOSE[opened[1].lower()].search(data, tag.end())
        end = closed.start() if closed else len(data)
    if opened[1].lower() == b"script" and len(scripts) < _MAX_SCRIPTS:
        scripts.append(_Script(data[opened.start() : tag.end()], tag.end(), end))
    return end


def without_scripts(component: Component) -> Component:
    """Return the component without its scripts, for a language without a grammar."""
    return component._replace(view=component.view.translate(_BLANK), scripts=())


def with_component(facts: FileFacts, component: Component) -> FileFacts:
    """Add the facts of the component itself to the facts of its scripts."""
    exported = {e.local for e in facts.exports if e.exported == "default"} | {"default"}
    if any(d.qualname in exported and d.kind in CALLABLE_KINDS | TYPE_KINDS for d in facts.definitions):
        scope = MODULE_SCOPE  # the script defines the component
    else:
        scope = len(facts.definitions)
        header = component.scripts[0].tag.decode("utf-8", "replace") if component.scripts else ""
        own = Definition(
            "default", "default", int(NodeKind.FUNCTION), MODULE_SCOPE, 0, facts.n_bytes, 0, facts.n_rows - 1,
            " ".join(header.split())[:_MAX_SIGNATURE_CHARACTERS], facts.doc, 0,
        )  # fmt: skip
        facts = replace(
            facts,
            definitions=(*facts.definitions, own),
            exports=tuple(e for e in facts.exports if e.exported != "default"),
        )
    # What a script does for each component is done by the component.
    rows = [_script_rows(component, script) for script in component.scripts if not _SHARED.search(script.tag)]

    def scope_of(use: Call | Reference) -> int:
        return scope if use.scope == MODULE_SCOPE and any(use.row in each for each in rows) else use.scope

    uses = list(_template_uses(component.markup, facts, scope))
    sources = [(_SOURCE.search(script.tag), _script_rows(component, script).start) for script in component.scripts]
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


def _script_rows(component: Component, script: _Script) -> range:
    first = component.view.count(b"\n", 0, script.start)
    return range(first, first + component.view.count(b"\n", script.start, script.end) + 1)


def _template_uses(markup: bytes, facts: FileFacts, scope: int) -> Iterator[Call | Reference]:
    """Yield the uses in the markup of names that the scripts define or import, in reading order."""
    names = {i.alias for i in facts.imports if i.scope == MODULE_SCOPE and i.alias}
    names |= {d.qualname for d in facts.definitions if d.parent == MODULE_SCOPE and d.kind in CALLABLE_KINDS}
    text = markup.decode("latin-1")
    whole = _TEMPLATE.search(markup)  # a template of its own, or everything that is left
    first, last = (whole.start(), max(text.lower().rfind("</template"), whole.end())) if whole else (0, len(text))
    newlines = [m.start() for m in re.finditer("\n", text)]
    uses: list[tuple[int, str, bool]] = []
    for tag in _TAG.finditer(text, first, last):
        head, dot, rest = tag[1].partition(".")
        for name in dict.fromkeys(
            (head, _to_camel_case(head), _to_camel_case(head)[:1].upper() + _to_camel_case(head)[1:])
        ):
            if name in names:
                uses.append((tag.start(), name + dot + rest, True))
                break
    bound = [*_BRACES.finditer(text, first, last), *(_BOUND.finditer(text, first, last) if whole else ())]
    for each in bound:
        group = next((g for g in range(1, (each.re.groups or 0) + 1) if each[g] is not None), 0)
        for name in _NAME.finditer(each[group]):
            if name[1].partition(".")[0] in names:
                uses.append((each.start(group) + name.start(), name[1], bool(name[2])))
    for at, chain, called in sorted(set(uses)):
        row = bisect_left(newlines, at)
        yield Call(scope, chain, row) if called else Reference(scope, chain, row)


def _to_camel_case(tag: str) -> str:
    """Return the camel-case form of a tag name.

    >>> _to_camel_case("my-button"), _to_camel_case("Door")
    ('myButton', 'Door')
    """
    head, *rest = tag.split("-")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


_SIGIL_ENDS = (b'"""', b"'''", b'"')
# What stands in a template: text without code, code between marks, components, and values of attributes.
_TEMPLATE_PART = lazy_regex(
    rb"<%!--.*?--%>|<!--.*?-->|<(?P<raw>script|style)\b.*?</(?P=raw)\s*>|<%(?P<mark>[=%#]?)(?P<code>.*?)%>"
    rb"|<\.(?P<local>[a-z_]\w*[?!]?)|<(?P<remote>(?:[A-Z]\w*\.)+[a-z_]\w*[?!]?)|(?P<open>\{)"
    rb"|=\s*\"[^\"]*\"|=\s*'[^']*'",
    re.DOTALL,
)
_OPEN_ENDED = lazy_regex(rb"(?:\b(?:do|else|after|rescue)|(?P<clause>->))\s*$")  # code that goes on behind the mark
_LAST_MARK = lazy_regex(rb";(?=[ \t]*(?:\n|$))")  # some clauses do not parse with it
_PIPED = b"0|>"  # before a component of another module: it takes one argument


def with_templates(data: bytes, sigils: tuple[str, ...]) -> bytes:
    """Return the text of a file with the code of its templates in place of them, as long as before.

    A template begins with one of `sigils` and a quote. Its components are calls with one argument.

    >>> with_templates(b'~H"<.card x={@a}>{b(@c)}</.card>"', ("~H",))
    b'(  card 0;    a;  b( c)         )'
    """
    starts = [at for each in sigils for at in _find_all(data, each.encode())]
    if not starts:
        return data
    view = bytearray(data)
    done = 0
    for start in sorted(starts):
        first = start + 2
        quote = next((each for each in _SIGIL_ENDS if data.startswith(each, first)), b"")
        end = data.find(quote, first + len(quote)) if quote and start >= done else -1
        if end < 0:
            continue
        first, done = first + len(quote), end + len(quote)
        view[start:done] = data[start:done].translate(_BLANK)
        view[start : start + 1], view[end : end + 1] = b"(", b")"
        _write_template(view, data, first, end)
        view[first:end] = _LAST_MARK.sub(b" ", view[first:end])
    return bytes(view)


def _find_all(data: bytes, word: bytes) -> Iterator[int]:
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + len(word))


def _write_template(view: bytearray, data: bytes, first: int, last: int) -> None:
    """Write the code of a template into its view."""
    at = first
    while part := _TEMPLATE_PART.search(data, at, last):
        at = part.end()
        if part["local"]:
            start, code = part.start(), part["local"] + b" 0"
        elif part["remote"]:
            start, code = part.start("remote") - len(_PIPED), _PIPED + part["remote"]
            if start < first or view[start : start + len(_PIPED)].strip():
                continue
        elif part["open"]:
            at = _end_of_code(data, part.end(), last)
            start, code = part.end(), data[part.end() : at - 1]
        elif part["code"] is not None and part["mark"] != b"#":
            start, code = part.start("code"), part["code"]
        else:
            continue
        view[start : start + len(code)] = code.replace(b"@", b" ")
        end = start + len(code)
        open_ended = _OPEN_ENDED.search(code)
        if open_ended is None and code.strip() and view[end : end + 1] == b" " and end < last:
            view[end : end + 1] = b";"
        elif open_ended is not None and open_ended["clause"] and part["code"] is not None:
            view[end : end + 2] = b"0;"  # a clause may have no code


def _end_of_code(data: bytes, at: int, last: int) -> int:
    """Return the byte behind the brace that closes an expression, whose strings may hold expressions."""
    open_marks = [b"}"]
    while at < last:
        mark = data[at : at + 1]
        if open_marks[-1] == b'"':
            if mark == b"\\":
                at += 1
            elif mark == b'"':
                open_marks.pop()
            elif data.startswith(b"#{", at):
                open_marks.append(b"}")
                at += 1
        elif mark in (b"{", b'"'):
            open_marks.append(b"}" if mark == b"{" else mark)
        elif mark == b"}":
            open_marks.pop()
            if not open_marks:
                return at + 1
        at += 1
    return last


_DEFAULT_LANGUAGE = ".py"  # of a notebook that does not say; most are

_TOKEN = lazy_regex(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]', re.DOTALL)

_SOURCES = ("source", "input")  # the second is the key in older notebooks
# Orders to the shell around the kernel. A whole cell of another language is no code of the notebook's.
_CELL_ORDER = lazy_regex(rb"\s*%%(?!time\b|timeit\b|capture\b|prun\b)")
_ORDER = lazy_regex(rb"^[ \t]*(?:%%?[A-Za-z_]|[!?]).*$|^[ \t]*[\w.]+\?{1,2}[ \t]*$", re.MULTILINE)
_MAX_KEY_BYTES = 100


@dataclass(slots=True)
class Cell:
    """One cell of a notebook.

    `kind` is "code", "markdown" or "raw". `strings` are the byte ranges of its source strings, quotes included.
    """

    kind: str = ""
    strings: list[tuple[int, int]] = field(default_factory=list)


class Notebook(NamedTuple):
    """Views of a notebook, both as long as the file.

    `view` shows all cells, `code` only the lines of code cells that a grammar can read. `language` is a file extension
    with its dot, or a name. `markdown` has (first row, last row) of each Markdown cell.
    """

    view: bytes
    code: bytes
    language: str
    markdown: tuple[tuple[int, int], ...]


def read_notebook(data: bytes) -> Notebook | None:
    """Return the views of a notebook, or None if the bytes are not the JSON of one."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        return None
    cells = _read_cells(data)
    in_lines = _has_own_lines(data, cells)
    view = bytearray(data.translate(_BLANK))
    written = [[_write_string(view, data, string, in_lines) for string in cell.strings] for cell in cells]
    code = bytearray(view.translate(_BLANK))
    for cell, ranges in zip(cells, written, strict=True):
        if cell.kind != "code" or not ranges or _CELL_ORDER.match(view[ranges[0][0] : ranges[0][1]]):
            continue
        for start, end in ranges:
            code[start:end] = _ORDER.sub(lambda m: b" " * len(m[0]), bytes(view[start:end]))
    newlines = [m.start() for m in re.finditer(rb"\n", view)]
    markdown = tuple(
        (bisect_left(newlines, ranges[0][0]), bisect_left(newlines, ranges[-1][1]))
        for cell, ranges in zip(cells, written, strict=True)
        if cell.kind == "markdown" and ranges
    )
    return Notebook(bytes(view), bytes(code), _notebook_language(notebook), markdown)


def _notebook_language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    if isinstance(metadata, dict):
        for part, key in (("language_info", "file_extension"), ("language_info", "name"), ("kernelspec", "language")):
            section = metadata.get(part)
            if isinstance(section, dict) and isinstance(section.get(key), str) and section[key]:
                return str(section[key]).lower()
    return _DEFAULT_LANGUAGE


def _read_cells(data: bytes) -> list[Cell]:
    """Return the cells of a notebook with the byte ranges of their strings. `data` is valid JSON."""
    cells: list[Cell] = []
    stack: list[list[Any]] = []  # of each open object or array: is it an object, the key that is open in it
    cell_depth = 0  # of the object that is a cell; 0 outside of one
    is_key = False
    for token in _TOKEN.finditer(data):
        mark = data[token.start()]
        if mark in b"{[":
            # Cells are in the notebook or in one of its sheets. Keys of this name in outputs are deeper.
            if mark == 123 and not cell_depth and len(stack) in (2, 4) and not stack[-1][0] and stack[-2][1] == "cells":
                cell_depth = len(stack) + 1
                cells.append(Cell())
            stack.append([mark == 123, ""])
            is_key = mark == 123
        elif mark in b"}]":
            if len(stack) == cell_depth:
                cell_depth = 0
            stack.pop()
            is_key = False
        elif mark == 44:
            is_key = bool(stack) and stack[-1][0]
        elif mark == 58:
            is_key = False
        elif is_key:
            stack[-1][1] = _decode_string(data, token.span()) if token.end() - token.start() < _MAX_KEY_BYTES else ""
        elif cell_depth and len(stack) == cell_depth:
            if stack[-1][1] == "cell_type":
                cells[-1].kind = _decode_string(data, token.span())
            elif stack[-1][1] in _SOURCES:
                cells[-1].strings.append(token.span())
        elif cell_depth and len(stack) == cell_depth + 1 and not stack[-1][0] and stack[-2][1] in _SOURCES:
            cells[-1].strings.append(token.span())
    return cells


def _decode_string(data: bytes, string: tuple[int, int]) -> str:
    """Return the decoded text of a JSON string. Its UTF-8 is never longer than the source without quotes."""
    text = str(json.loads(data[string[0] : string[1]]))
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")


def _has_own_lines(data: bytes, cells: list[Cell]) -> bool:
    """Return True if each line of a cell has its own line in the file."""
    last = -1
    for cell in cells:
        for start, end in cell.strings:
            line = data.rfind(b"\n", 0, start) + 1
            if line <= last or "\n" in _decode_string(data, (start, end)).removesuffix("\n"):
                return False
            last = start
    return True


def _write_string(view: bytearray, data: bytes, string: tuple[int, int], in_lines: bool) -> tuple[int, int]:
    """Overwrite a JSON string with its text, at the start of a line. Return its range in the view."""
    start, end = string
    text = _decode_string(data, string).removesuffix("\n").encode("utf-8", "replace")
    if in_lines:
        at = data.rfind(b"\n", 0, start) + 1
    else:
        view[start] = 10
        at = start + 1
    view[at : at + len(text)] = text
    return at, max(at + len(text), end)
