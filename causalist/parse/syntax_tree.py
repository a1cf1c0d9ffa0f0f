"""Any file -> syntax tree: choose a dialect by path and content, prepare the text, and parse.

If code stands inside another format, a view with as many bytes as the file is parsed, so that positions hold in the
file itself. Facts are not read here, and queries are not compiled: what only compares code needs neither.
"""

import hashlib
import re
import time
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import tree_sitter

from causalist.model.language_settings import Repair
from causalist.parse.cleaned_text import (
    RAILS_TEMPLATES,
    is_component,
    is_notebook,
    link_kind,
    text_group,
    with_line_feeds,
    with_valid_utf8,
)
from causalist.parse.grammar_digest import all_grammars
from causalist.parse.languages import (
    Grammar,
    TreeParser,
    claimants,
    dialect_for,
    dialect_of,
    extensions,
    grammar_version,
    load_grammar,
    load_parser,
    load_settings,
    may_be_script,
    script_dialect,
)

# Steps of a parser, which it reports a hundred at a time. Files of repositories take 0.4 to 5 a byte in any grammar,
# and the shortest statements 8; in text that fits nowhere, some grammars take steps in the square of its length.
_STEPS_A_REPORT = 100
_MAX_STEPS_A_BYTE = 12
_MIN_STEPS = 200_000  # a small file may take as many, a second at most; one of 664 bytes would take minutes
# In some grammars each step takes the longer the more text is not understood. No count tells them from others, only the
# clock does: twenty times what other files take, and two seconds.
_MIN_SECONDS = 2.0
_MAX_SECONDS_A_BYTE = 5e-6
_REPORTS_A_LOOK = 8
_REPAIR_MARGINS = (1, 4, 16)  # rows around errors in which repairs are tried, one after the other
_MAX_BYTES_OF_ROUNDS = 200_000  # of a file that is worth several rounds
_NAME_CHUNK_BYTES = 128  # of the text of a node, which conditions of queries ask for


class ParseTooLong(Exception):
    """A grammar takes very many more steps for a file than for others of its size."""


def run_parser(parser: tree_sitter.Parser, data: bytes) -> tree_sitter.Tree:
    """Return the syntax tree of a text. Raises ParseTooLong if that takes too many steps, or too slow ones."""
    steps_left = max(_MIN_STEPS, _MAX_STEPS_A_BYTE * len(data)) // _STEPS_A_REPORT
    latest = time.thread_time() + _MIN_SECONDS + _MAX_SECONDS_A_BYTE * len(data)
    # The binding keeps what it is given for ever, and asks anew wherever the parser goes back: once for each here
    # document of Bash. A view costs no copy, and holds nothing once it is released.
    whole, given, is_read = memoryview(data), list[memoryview](), False

    def read(offset: int, _: object) -> bytes | memoryview:
        if is_read:
            return data[offset : offset + _NAME_CHUNK_BYTES]
        given.append(whole[offset:])
        return given[-1]

    def is_too_long(offset: int, has_error: bool) -> bool:
        nonlocal steps_left
        steps_left -= 1
        return steps_left < 0 or (not steps_left % _REPORTS_A_LOOK and time.thread_time() > latest)

    try:
        return parser.parse(read, progress_callback=is_too_long)
    except ValueError as error:
        parser.reset()
        raise ParseTooLong from error
    finally:
        is_read = True
        for view in (*given, whole):
            view.release()
        given.clear()


def parse_best(data: bytes, own: TreeParser) -> tuple[tree_sitter.Tree, TreeParser]:
    """Return the syntax tree and its parser, which is `own` or a fallback."""
    repairs = own.settings.repairs
    first = _apply_repairs(data, [each for each in repairs if each.silent]) if repairs else data
    tree = _parse_tree(first, own)
    if repairs and tree.root_node.has_error:
        repaired = _apply_repairs(data, repairs)
        if repaired != first:
            tree = _parse_repaired(tree, first, repaired, own)
    if own.dialect.fallback and tree.root_node.has_error:
        other, read_by = parse_best(data, load_parser(own.dialect.fallback))
        if _n_skipped(other) < _n_skipped(tree):
            return other, read_by
    return tree, own


def _parse_repaired(tree: tree_sitter.Tree, text: bytes, repaired: bytes, own: TreeParser) -> tree_sitter.Tree:
    """Return the tree of a text with the repairs that leave the fewest bytes in no node; `tree` is that without any.

    A repair may spoil what the grammar reads well. If all of them together leave errors, those in rows of errors are
    tried alone, and then all but those.
    """
    whole = _try_parse(repaired, own)
    if whole is None or not whole.root_node.has_error:
        return whole or tree
    found = [tree, whole]
    mixed, latest = text, tree
    for margin in _REPAIR_MARGINS if len(text) <= _MAX_BYTES_OF_ROUNDS else _REPAIR_MARGINS[-1:]:
        before, mixed = mixed, _with_rows_of_errors(mixed, repaired, latest, margin)
        other = _try_parse(mixed, own) if mixed not in (before, repaired) else None
        if other is None:
            break
        latest = other
        found.append(latest)
        if not latest.root_node.has_error:
            return latest
    mixed = _with_rows_of_errors(repaired, text, whole, _REPAIR_MARGINS[0])
    if mixed not in (text, repaired) and (other := _try_parse(mixed, own)) is not None:
        found.append(other)
    return min(found, key=lambda each: (_n_skipped(each), _n_doubtful(each)))


def _try_parse(data: bytes, own: TreeParser) -> tree_sitter.Tree | None:
    """Return the syntax tree of a text, which may be spoiled; None if that takes too long."""
    try:
        return _parse_tree(data, own)
    except ParseTooLong:
        return None


def _with_rows_of_errors(text: bytes, other: bytes, tree: tree_sitter.Tree, margin: int) -> bytes:
    """Return a text with rows of another one, as long: those in which a tree has errors, and some around them."""
    spans, stack = [], [tree.root_node]
    while stack:
        node = stack.pop()
        if node.is_missing:
            spans.append((node.start_byte, node.end_byte))
        elif node.has_error:
            children = node.children
            if node.is_error:
                # What stands between the parts that were understood.
                understood = [each for each in children if each.is_named and not each.has_error]
                starts = [node.start_byte, *(each.end_byte for each in understood)]
                ends = [*(each.start_byte for each in understood), node.end_byte]
                spans += [(a, b) for a, b in zip(starts, ends, strict=True) if a < b and text[a:b].strip()]
            stack.extend(children)
    mixed, ends = bytearray(text), [found.end() for found in _ROW.finditer(text)]
    done = 0  # many errors may be in one row
    for start, end in sorted(spans):
        first, last = bisect_left(ends, start + 1) - margin, bisect_left(ends, end) + margin
        from_byte = max(done, ends[first - 1] if first > 0 else 0)
        to_byte = ends[last] if last < len(ends) else len(text)
        if from_byte < to_byte:
            mixed[from_byte:to_byte] = other[from_byte:to_byte]
            done = to_byte
    return bytes(mixed)


def _apply_repairs(data: bytes, repairs: Sequence[Repair]) -> bytes:
    """Return the text with the repairs of the language, which let the grammar read more of it.

    Every byte keeps its position: facts are read from the unrepaired text.
    """
    text = bytearray(data)
    for repair in repairs:
        pattern = _compile_repair(repair.match)
        for matched in pattern.finditer(bytes(text)):
            if "level" in pattern.groupindex:
                _move_rows(text, matched)
                continue
            start, end = matched.span("mark" if "mark" in pattern.groupindex else min(1, pattern.groups))
            put = repair.put.encode()
            text[start:end] = put * (end - start) if len(put) == 1 else put.ljust(end - start)[: end - start]
    return bytes(text)


def _move_rows(text: bytearray, matched: "re.Match[bytes]") -> None:
    """Let the rows of a match that begin like its first one, and as far inside, begin where its group `level` ends.

    Their line feeds move towards them, so that every other byte stays where it is.
    """
    width, (start, end) = len(matched["level"]), matched.span("rows")
    rows = list(_BEGINNING.finditer(text, start - 1, end))
    indent, sign = rows[0].groups() if rows else (b"", b"")
    for row in rows:
        if row.groups() == (indent, sign) and len(indent) > width:
            text[row.start()] = ord(" ")
            text[row.end(1) - width - 1] = ord("\n")


_ROW = re.compile(rb"[^\n]*\n")
_BEGINNING = re.compile(rb"\n([ \t]*)(\S)")


@cache
def _compile_repair(written: str) -> "re.Pattern[bytes]":
    return re.compile(written.encode(), re.MULTILINE)


def _with_final_line_feed(data: bytes, grammar: TreeParser) -> bytes:
    """Return the text with a final line feed if the grammar would otherwise wait for one."""
    return data + b"\n" if grammar.dialect.line_feed and not data.endswith(b"\n") else data


def _parse_tree(data: bytes, grammar: TreeParser) -> tree_sitter.Tree:
    """Return the syntax tree after preprocessing.

    If it has errors, preprocess strictly and return that tree if it has fewer doubtful bytes.
    """
    settings = grammar.settings.preprocessor
    if not settings.conditions:
        tree = run_parser(grammar.parser, _with_final_line_feed(data, grammar))
        if tree.root_node.has_error and (settings.blank or (settings.statements and b"#" in data)):
            from causalist.parse.preprocessor import blank_matches, blank_open_branches, compile_preprocessor

            view = blank_matches(data, compile_preprocessor(settings)[1])
            view = blank_open_branches(view) if settings.statements and b"#" in data else view
            other = run_parser(grammar.parser, _with_final_line_feed(view, grammar))
            if _n_doubtful(other) < _n_doubtful(tree):
                return other
        return tree
    from causalist.parse.preprocessor import blank_matches, blank_partial_branches, compile_preprocessor

    never, blank = compile_preprocessor(settings)
    view = blank_matches(data, blank)
    tree = run_parser(grammar.parser, blank_partial_branches(view, settings, never, strict=False))
    if tree.root_node.has_error:
        other = run_parser(grammar.parser, blank_partial_branches(view, settings, never, strict=True))
        if _n_doubtful(other) < _n_doubtful(tree):
            return other
    return tree


# A query's cursor looks at all matches that have begun around a node, which takes the square of the depth of a tree. So
# it begins anew at each node this deep below the one where it began. Few trees are that deep.
_SLICE_DEPTH = 256
# It looks at the siblings of each token in an error, so that it reads the children of a wide error one by one.
_MIN_WIDE_CHILDREN = 1000


class QueryPart(NamedTuple):
    """A node below which a query is run, down to `_SLICE_DEPTH`, for what is in a range of bytes."""

    node: tree_sitter.Node
    start_byte: int
    end_byte: int

    def cursor(self, query: tree_sitter.Query) -> tree_sitter.QueryCursor:
        """Return a cursor that finds what begins in this part."""
        cursor = tree_sitter.QueryCursor(query)
        cursor.set_max_start_depth(_SLICE_DEPTH)
        if (self.start_byte, self.end_byte) != (self.node.start_byte, self.node.end_byte):
            cursor.set_byte_range(self.start_byte, self.end_byte)
        return cursor


def find_query_parts(root: tree_sitter.Node) -> tuple[list[QueryPart], list[tree_sitter.Node]] | None:
    """Return the parts of a tree that a query is run on, and the wide errors of the tree.

    Together the parts hold all that a query finds, except what is written across the children of a wide error. None
    for most trees, which are one part.
    """
    wide = _find_wide_errors(root) if root.has_error else []
    if not wide and not _is_deep(root):
        return None
    starts = [] if wide and wide[0].id == root.id else [root]
    starts += [child for error in wide for child in error.children if child.child_count]
    kept = {error.id for error in wide}
    wide = sorted(wide, key=lambda error: error.start_byte)
    parts: list[QueryPart] = []
    for start in starts:
        for node in _slices(start, kept) if start.id not in kept else ():
            at = node.start_byte
            first = bisect_left(wide, at, key=lambda error: error.start_byte)
            for error in wide[first:]:
                if error.start_byte >= node.end_byte:
                    break
                if error.start_byte > at:
                    parts.append(QueryPart(node, at, error.start_byte))
                at = max(at, error.end_byte)
            if at < node.end_byte:
                parts.append(QueryPart(node, at, node.end_byte))
    return parts, wide


def _find_wide_errors(root: tree_sitter.Node) -> list[tree_sitter.Node]:
    errors, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.is_error and node.child_count >= _MIN_WIDE_CHILDREN:
            errors.append(node)
        if node.has_error:
            stack.extend(node.children)
    return errors


def _is_deep(root: tree_sitter.Node) -> bool:
    """Return True if a tree is deeper than two slices. A node that deep has so many others in a row above it."""
    cursor = root.walk()
    for number in range(_SLICE_DEPTH, root.descendant_count, _SLICE_DEPTH):
        cursor.goto_descendant(number)
        if cursor.depth > _SLICE_DEPTH:
            return True
    return False


def _slices(start: tree_sitter.Node, wide: Container[int]) -> Iterator[tree_sitter.Node]:
    """Yield a node and those below it at every multiple of the depth of a slice, except what is in wide errors."""
    yield start
    if start.descendant_count <= _SLICE_DEPTH:
        return
    cursor, depth = start.walk(), 0
    while True:
        is_left = bool(wide) and cursor.node is not None and cursor.node.id in wide
        if not is_left and cursor.goto_first_child():
            depth += 1
            if depth % _SLICE_DEPTH == 0 and cursor.node is not None:
                yield cursor.node
            continue
        while not cursor.goto_next_sibling():
            depth -= 1
            if depth < 0 or not cursor.goto_parent():
                return
        if depth % _SLICE_DEPTH == 0 and cursor.node is not None:
            yield cursor.node


def _n_doubtful(tree: tree_sitter.Tree) -> int:
    """Return the number of bytes inside errors, plus one for each error and each missing node."""
    doubtful, stack = 0, [tree.root_node]
    while stack:
        node = stack.pop()
        if node.is_error:
            doubtful += node.end_byte - node.start_byte + 1
        elif node.is_missing:
            doubtful += 1
        elif node.has_error:
            stack.extend(node.children)
    return doubtful


def _n_skipped(tree: tree_sitter.Tree) -> int:
    """Return the number of bytes in no node but an error, plus one for each missing node."""
    skipped, stack = 0, [tree.root_node]
    while stack:
        node = stack.pop()
        if node.is_missing:
            skipped += 1
        elif node.is_error or node.has_error:
            children = node.children
            if node.is_error:
                skipped += (
                    node.end_byte - node.start_byte - sum(c.end_byte - c.start_byte for c in children if c.is_named)
                )
            stack.extend(children)
    return skipped


def parse_syntax(path: str, data: bytes) -> tuple[tree_sitter.Tree, str] | None:
    """Return (syntax tree, name of its language) of any file as `parse_file` reads it; None without a grammar.

    Positions are those of `data` with line feeds for other ends of lines.
    """
    dialect, view = dialect_for(path, data), data
    if not dialect:
        dialect, view = _find_code(path, data)
    if not dialect:
        return None
    own = load_parser(dialect)
    try:
        return parse_best(with_valid_utf8(with_line_feeds(view)), own)[0], own.settings.name
    except ParseTooLong:
        return None


def may_be_code(path: str) -> bool:
    """Return False for a file that no grammar reads, whatever it contains.

    >>> may_be_code("a.py"), may_be_code("bin/setup"), may_be_code("CHANGES.md")
    (True, True, False)
    """
    return bool(dialect_of(path) or claimants(path)) or is_component(path) or is_notebook(path) or may_be_script(path)


def _find_code(path: str, data: bytes) -> tuple[str, bytes]:
    """Return (dialect, view) of the code in a file that no grammar reads by its name; "" for none."""
    from causalist.parse.embedded_code import read_component, read_notebook  # few files need what it compiles
    from causalist.parse.prose import ProseKind, prose_kind

    if is_component(path):
        component = read_component(data)
        return resolve_dialect(component.language), component.view
    notebook = read_notebook(data) if is_notebook(path) else None
    if notebook is not None:
        return resolve_dialect(notebook.language), notebook.code
    is_script = prose_kind(path) == ProseKind.PLAIN and may_be_script(path)
    return script_dialect(data) if is_script else "", data


def parse_tree(path: str, data: bytes) -> tuple[Grammar, tree_sitter.Tree] | None:
    """Return the grammar and the syntax tree of a file as it is, without repairs; None if no grammar reads it.

    Positions are those of the file. Notebooks have no tree.
    """
    if is_component(path):
        from causalist.parse.embedded_code import read_component

        component = read_component(data)
        dialect, data = resolve_dialect(component.language), component.view
    else:
        dialect = dialect_for(path, data) or (script_dialect(data) if may_be_script(path) else "")
    if not dialect:
        return None
    grammar = load_grammar(dialect)
    try:
        return grammar, run_parser(grammar.parser, data)
    except ParseTooLong:
        return None


def marks_of_folders(path: str) -> tuple[str, str]:
    """Return the package and the class that the folders of a file say.

    >>> marks_of_folders("src/+shop/+doors/open.m"), marks_of_folders("+shop/@Door/close.m")
    (('shop.doors', ''), ('shop', 'Door'))
    """
    folders = path.split("/")[:-1]
    package = ".".join(each[1:] for each in folders if each.startswith("+"))
    return package, folders[-1][1:] if folders and folders[-1].startswith("@") else ""


@lru_cache(maxsize=1 << 17)  # a process that stays asks for the files of a repository again and again
def reader_of(path: str) -> str:
    """Return the reader of a file: dialect and grammar version, or kind of text. Part of the cache key."""
    dialect = dialect_of(path)
    if dialect:
        dialects = (dialect, *claimants(path))
        versions = "+".join(f"{each}:{grammar_version(each)}" for each in dialects)
        is_marked = any(load_settings()[each].modules.marked_folders for each in dialects)
        group = text_group(path)
        versions = f"{versions}:texts:{group}" if group else versions
        return f"{versions}:{':'.join(marks_of_folders(path))}" if is_marked else versions
    if is_component(path) or is_notebook(path):
        return f"{'component' if is_component(path) else 'notebook'}:{_all_grammars()}"
    from causalist.parse.prose import ProseKind, prose_kind  # code needs none of it

    kind = prose_kind(path)
    link = link_kind(path)
    if kind == ProseKind.PLAIN and may_be_script(path):
        return f"script:{_all_grammars()}:{link}"
    # What a manifest says depends on its name: the same text is read otherwise as package.json and as tsconfig.json.
    name = path.lower().rpartition("/")[2] if kind == ProseKind.MANIFEST else ""
    name = "ruby" if path.lower().endswith(RAILS_TEMPLATES) else name
    return f"text:{kind}:{name}:{link}"


@cache
def _all_grammars() -> str:
    """Return one version for all grammars, for files whose name does not tell their language.

    It is that of their files, because reading the settings of every language takes as long as parsing 20 files.
    """
    return hashlib.sha256(all_grammars()).hexdigest()[:16]


def resolve_dialect(language: str) -> str:
    """Return the dialect with this extension or name, or "" if no grammar reads it."""
    name = language.removeprefix(".")
    return extensions().get(f".{name}", name if name in load_settings() else "")
