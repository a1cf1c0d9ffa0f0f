"""One file and its grammar -> facts. Broken source code is input: facts come with diagnostics, never an exception."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import tree_sitter

from causalist.model.facts import Diagnostic, FileFacts
from causalist.model.language import ModuleSettings, PreprocessorSettings, Repair
from causalist.model.words import spaced
from causalist.parse.conditions import readable, without_marks
from causalist.parse.encoding import valid_utf8
from causalist.parse.languages import Grammar, load_grammar
from causalist.parse.manifests import read_manifest
from causalist.parse.masking import masked, tidied
from causalist.parse.mentions import documented_mentions, read_mentions
from causalist.parse.prose import BY_BLOCKS, prose_kind, read_passages
from causalist.parse.secret_scan import find_secrets
from causalist.parse.syntax.collector import Sweep
from causalist.parse.syntax.lookups import read_lookups
from causalist.parse.syntax.wildcards import listed_names
from causalist.parse.text import with_line_feeds

# Below this depth of the syntax tree nothing is read. No hand-written file comes near; a tree deeper than 65,535, which
# tree-sitter's queries count in 16 bits, takes them time that is quadratic in its size.
_DEEPEST = 20_000

_FIRST_LINES = 4096  # bytes in which a file says in which builds it is


def parse_source(data: bytes, grammar: Grammar) -> FileFacts:
    """Facts of a file in the language of `grammar`. Nothing in them comes from a secret."""
    data = with_line_feeds(data)
    secrets = find_secrets(data)
    data = masked(data, secrets)
    text = valid_utf8(data)
    tree, query = _read(text, grammar)
    sweep = Sweep(text, grammar.settings)
    cursor = tree_sitter.QueryCursor(query)
    cursor.set_max_start_depth(_DEEPEST)
    sweep.run(cursor.captures(tree.root_node))
    definitions = sweep.definitions()
    if secrets:
        definitions = [d._replace(signature=tidied(d.signature), doc=tidied(d.doc)) for d in definitions]
    facts = FileFacts(
        language=grammar.dialect.name,
        definitions=tuple(definitions),
        bases=tuple(sweep.bases),
        calls=tuple(sweep.uses.calls),
        references=tuple(sweep.uses.references()),
        imports=tuple(sweep.modules.imports),
        exports=tuple(sweep.modules.exports),
        bindings=tuple(sweep.named.bindings),
        returns=tuple(sweep.returns()),
        package=sweep.package,
        manifest=_constraint(text, grammar.settings.modules),
        owners=tuple(sweep.owners()),
        parameters=tuple(sweep.parameters()),
        implementations=tuple(sweep.implementations()),
        accesses=tuple(sweep.held.accesses),
        lookups=read_lookups(grammar.settings.lookups, tree, text, definitions),
        tests=tuple(i for i, draft in enumerate(sweep.drafts) if draft.is_test),
        mentions=documented_mentions(definitions),
        words=spaced(text),
        diagnostics=(*_encoding(data), *_syntax(sweep.errors)),
        doc=sweep.doc,
        n_rows=data.count(b"\n") + 1,
        n_bytes=len(data),
        secrets=secrets,
    )
    listed = grammar.settings.modules.wildcard_list
    if listed and any(binding.target == listed for binding in facts.bindings):
        return replace(facts, wildcard_exports=listed_names(data.decode("utf-8", "replace"), listed))
    return facts


def _constraint(data: bytes, modules: ModuleSettings) -> tuple[tuple[str, str], ...]:
    """What the first lines say of the builds that a file is in, as one expression."""
    if not modules.constraint:
        return ()
    lines = data[:_FIRST_LINES].decode("utf-8", "replace").split("\n")
    said = [line.removeprefix(modules.constraint).strip() for line in lines if line.startswith(modules.constraint)]
    if not said:
        begins = modules.older_constraint
        older = [line.removeprefix(begins).split() for line in lines if begins and line.startswith(begins)]
        every = [" || ".join(f"({each.replace(',', ' && ')})" for each in line) for line in older if line]
        said = [" && ".join(f"({each})" for each in every)] if every else []
    return (("build", said[0]),) if said else ()


def _read(data: bytes, grammar: Grammar) -> tuple[tree_sitter.Tree, tree_sitter.Query]:
    """The syntax tree and the query for it, of the grammar or of the one behind it, whichever skips less."""
    tree = _parsed(data, grammar)
    if grammar.settings.repairs and tree.root_node.has_error:
        repaired = _repaired(data, grammar.settings.repairs)
        other = grammar.parser.parse(_closed(repaired, grammar)) if repaired != data else tree
        if not other.root_node.has_error or _n_skipped(other) < _n_skipped(tree):
            tree = other
    if grammar.dialect.fallback and tree.root_node.has_error:
        other, query = _read(data, load_grammar(grammar.dialect.fallback))
        if _n_skipped(other) < _n_skipped(tree):
            return other, query
    return tree, grammar.query


def _repaired(data: bytes, repairs: Sequence[Repair]) -> bytes:
    """The text as the grammar understands more of it. Every byte stays where it was: what is found in the tree is read
    from the text as it is."""
    text = bytearray(data)
    for repair in repairs:
        pattern = _pattern(repair.match)
        for matched in pattern.finditer(bytes(text)):
            start, end = matched.span(min(1, pattern.groups))
            text[start:end] = repair.put.encode() * (end - start)
    return bytes(text)


@cache
def _pattern(written: str) -> "re.Pattern[bytes]":
    return re.compile(written.encode(), re.MULTILINE)


def _closed(data: bytes, grammar: Grammar) -> bytes:
    """The text with a line feed at its end where the grammar would wait for one for ever."""
    return data + b"\n" if grammar.dialect.line_feed and not data.endswith(b"\n") else data


def _parsed(data: bytes, grammar: Grammar) -> tree_sitter.Tree:
    """The syntax tree of what the preprocessor leaves; where that has errors, of less, if that skips less."""
    settings = grammar.settings.preprocessor
    if not settings.conditions:
        return grammar.parser.parse(_closed(data, grammar))
    never, blank = _preprocessor(settings)
    view = without_marks(data, list(blank))
    tree = grammar.parser.parse(readable(view, settings, never, strict=False))
    if tree.root_node.has_error:
        other = grammar.parser.parse(readable(view, settings, never, strict=True))
        if _n_doubtful(other) < _n_doubtful(tree):
            return other
    return tree


def _n_doubtful(tree: tree_sitter.Tree) -> int:
    """Bytes that stand in an error, whatever was read in it, and one for each error and each node that was made up."""
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


@cache
def _preprocessor(
    settings: PreprocessorSettings,
) -> "tuple[re.Pattern[bytes] | None, tuple[re.Pattern[bytes], ...]]":
    never = re.compile(settings.never.encode()) if settings.never else None
    return never, tuple(re.compile(each.encode(), re.MULTILINE) for each in settings.blank)


def _n_skipped(tree: tree_sitter.Tree) -> int:
    """Bytes that stand in no node but an error, and one for each node that was made up."""
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


def parse_text(path: str, data: bytes) -> FileFacts:
    """Facts of a file without a grammar: passages and words. The path tells the kind of prose, nothing else. Nothing in
    them comes from a secret."""
    data = with_line_feeds(data)
    secrets = find_secrets(data)
    data = masked(data, secrets)
    text = data.decode("utf-8", "replace")
    kind = prose_kind(path)
    passages = read_passages(path, text) if text.encode("utf-8") == data else ()
    if secrets:
        passages = tuple(p._replace(title=tidied(p.title)) for p in passages)
    return FileFacts(
        language="",
        passages=passages,
        words=spaced(valid_utf8(data)),
        diagnostics=_encoding(data),
        doc=passages[0].title if passages and kind not in BY_BLOCKS else "",
        manifest=read_manifest(path, text) if kind == "manifest" else (),
        mentions=read_mentions(kind, text, passages),
        n_rows=data.count(b"\n") + 1,
        n_bytes=len(data),
        secrets=secrets,
    )


def _syntax(errors: Sequence[int]) -> tuple[Diagnostic, ...]:
    """What to say of errors in these rows."""
    if not errors:
        return ()
    row = min(errors)
    many = f"{len(errors)} places" if len(errors) > 1 else "one place"
    return (Diagnostic("syntax-error", f"{many} could not be parsed, the first in line {row + 1}", row),)


def _encoding(data: bytes) -> tuple[Diagnostic, ...]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start)
        return (Diagnostic("not-utf-8", f"byte {data[error.start]:#04x} in line {row + 1} is not UTF-8", row),)
    return ()
