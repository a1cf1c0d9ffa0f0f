"""Any file -> syntax tree: choose a dialect by path and content, prepare the text, and parse.

If code stands inside another format, a view with as many bytes as the file is parsed, so that positions hold in the
file itself. Facts are not read here, and queries are not compiled: what only compares code needs neither.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import cache, lru_cache

import tree_sitter

from causalist.model.language import Repair
from causalist.parse.embedded_code import is_component, read_component, read_notebook
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
from causalist.parse.preprocessor import blank_matches, blank_partial_branches, compile_preprocessor
from causalist.parse.prose import prose_kind
from causalist.parse.text import RAILS_TEMPLATES, is_notebook, with_line_feeds, with_valid_utf8


def parse_best(data: bytes, own: TreeParser) -> tuple[tree_sitter.Tree, TreeParser]:
    """Return the syntax tree and its parser, which is `own` or a fallback."""
    repairs = own.settings.repairs
    first = _apply_repairs(data, [each for each in repairs if each.silent]) if repairs else data
    tree = _parse_tree(first, own)
    if repairs and tree.root_node.has_error:
        repaired = _apply_repairs(data, repairs)
        other = own.parser.parse(_with_final_line_feed(repaired, own)) if repaired != data else tree
        if not other.root_node.has_error or _n_skipped(other) < _n_skipped(tree):
            tree = other
    if own.dialect.fallback and tree.root_node.has_error:
        other, read_by = parse_best(data, load_parser(own.dialect.fallback))
        if _n_skipped(other) < _n_skipped(tree):
            return other, read_by
    return tree, own


def _apply_repairs(data: bytes, repairs: Sequence[Repair]) -> bytes:
    """Return the text with the repairs of the language, which let the grammar read more of it.

    Every byte keeps its position: facts are read from the unrepaired text.
    """
    text = bytearray(data)
    for repair in repairs:
        pattern = _compile_repair(repair.match)
        for matched in pattern.finditer(bytes(text)):
            start, end = matched.span(min(1, pattern.groups))
            text[start:end] = repair.put.encode() * (end - start)
    return bytes(text)


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
        return grammar.parser.parse(_with_final_line_feed(data, grammar))
    never, blank = compile_preprocessor(settings)
    view = blank_matches(data, blank)
    tree = grammar.parser.parse(blank_partial_branches(view, settings, never, strict=False))
    if tree.root_node.has_error:
        other = grammar.parser.parse(blank_partial_branches(view, settings, never, strict=True))
        if _n_doubtful(other) < _n_doubtful(tree):
            return other
    return tree


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
    if not dialect and is_component(path):
        component = read_component(data)
        dialect, view = resolve_dialect(component.language), component.view
    elif not dialect:
        notebook = read_notebook(data) if is_notebook(path) else None
        if notebook is not None:
            dialect, view = resolve_dialect(notebook.language), notebook.code
        elif prose_kind(path) == "plain" and may_be_script(path):
            dialect = script_dialect(data)
    if not dialect:
        return None
    own = load_parser(dialect)
    return parse_best(with_valid_utf8(with_line_feeds(view)), own)[0], own.settings.name


def parse_tree(path: str, data: bytes) -> tuple[Grammar, tree_sitter.Tree] | None:
    """Return the grammar and the syntax tree of a file as it is, without repairs; None if no grammar reads it.

    Positions are those of the file. Notebooks have no tree.
    """
    if is_component(path):
        component = read_component(data)
        dialect, data = resolve_dialect(component.language), component.view
    else:
        dialect = dialect_for(path, data) or (script_dialect(data) if may_be_script(path) else "")
    if not dialect:
        return None
    grammar = load_grammar(dialect)
    return grammar, grammar.parser.parse(data)


@lru_cache(maxsize=1 << 17)  # a process that stays asks for the files of a repository again and again
def reader_of(path: str) -> str:
    """Return the reader of a file: dialect and grammar version, or kind of text. Part of the cache key."""
    dialect = dialect_of(path)
    if dialect:
        return "+".join(f"{each}:{grammar_version(each)}" for each in (dialect, *claimants(path)))
    if is_component(path) or is_notebook(path):
        return f"{'component' if is_component(path) else 'notebook'}:{_all_grammars()}"
    kind = prose_kind(path)
    if kind == "plain" and may_be_script(path):
        return f"script:{_all_grammars()}"
    # What a manifest says depends on its name: the same text is read otherwise as package.json and as tsconfig.json.
    name = path.lower().rpartition("/")[2] if kind == "manifest" else ""
    name = "ruby" if path.lower().endswith(RAILS_TEMPLATES) else name
    return f"text:{kind}:{name}"


@cache
def _all_grammars() -> str:
    """Return one version for all grammars, for files whose name does not tell their language."""
    versions = [grammar_version(dialect) for dialect in sorted(load_settings())]
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()[:16]


def resolve_dialect(language: str) -> str:
    """Return the dialect with this extension or name, or "" if no grammar reads it."""
    name = language.removeprefix(".")
    return extensions().get(f".{name}", name if name in load_settings() else "")
