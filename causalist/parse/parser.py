"""Any file -> facts: choose a reader by path and content, parse, and collect diagnostics.

Broken source is valid input: its facts come with diagnostics, never with an exception. If code stands inside another
format, a view with as many bytes as the file is parsed, so that positions hold in the file itself.

Conditional compilation: a grammar sees all branches of `#if` one after the other. That fails if a branch opens a block
that is closed after `#endif`, or if two branches open the same block: all code after it is nested wrongly. This module
blanks all but one of such branches, and their directives. No byte moves.

Some facts are read from the text rather than by queries: an `Export` for each fixture, `fixture:` and its name (that of
a fixture in a class has the class before it), a `Reference` for each string that may be the dotted name of a
definition (`patch("app.views.send")`, entries of settings, entry points of packages), and functions that are kept.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from posixpath import basename

import tree_sitter

from causalist import errors
from causalist.model.facts import (
    MODULE_SCOPE,
    Binding,
    Definition,
    Export,
    FileFacts,
    Import,
    Passage,
    Reference,
    spaced,
)
from causalist.model.language import ModuleSettings, PreprocessorSettings, Repair
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.model.symbols import CALLABLE_KINDS, FACADE, FIXTURE_PREFIX
from causalist.model.type_notation import KEPT, STRING_TARGET
from causalist.parse.embedded_code import (
    DEFAULT_LANGUAGE,
    Notebook,
    is_component,
    read_component,
    read_notebook,
    with_component,
    without_scripts,
)
from causalist.parse.languages import (
    Grammar,
    claimants,
    dialect_for,
    dialect_of,
    extensions,
    grammar_version,
    load_grammar,
    load_settings,
    may_be_script,
    script_dialect,
)
from causalist.parse.manifests import is_project, read_manifest
from causalist.parse.prose import (
    BY_BLOCKS,
    Heading,
    markdown_headings,
    prose_kind,
    read_doc_mentions,
    read_mentions,
    read_passages,
    read_sections,
)
from causalist.parse.routes import read_routes
from causalist.parse.routes.source import RAILS_TEMPLATES, RouteText, keyword, literal, read_template_links
from causalist.parse.secret_scan import find_secrets, merge_spans
from causalist.parse.syntax.accesses import read_lookups
from causalist.parse.syntax.collector import FactCollector
from causalist.parse.syntax.imports import read_listed_names
from causalist.parse.text import is_notebook, mask_secrets, shorten_masks, with_line_feeds, with_valid_utf8

_TOKEN = re.compile(
    rb"""^[ \t]*\#(?:[^\n\\/]|\\(?:\r\n|.)|/\*(?:[^*]|\*(?!/))*\*/|/(?!\*))*  # a directive with its continuation lines
    |//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/
    |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
    |[{}()]""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(rb"\s*#\s*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b(.*)", re.DOTALL)
_REMARK = re.compile(rb"/\*(?:[^*]|\*(?!/))*\*/")
_MAX_PART_BYTES = 400  # bytes; longer branches are not checked for their end
_STEP = {b"{": (1, 0), b"}": (-1, 0), b"(": (0, 1), b")": (0, -1)}

_Depth = tuple[int, int]  # open braces, open parentheses
_Span = tuple[int, int]


@dataclass(slots=True)
class _ConditionalGroup:
    """Branches from one `#if` to its `#endif`, each as (start, end, depth at the end)."""

    depth: _Depth
    condition: bytes
    directives: list[_Span]
    since: int  # where the open branch starts
    branches: list[tuple[int, int, _Depth]] = field(default_factory=list)


def blank_partial_branches(
    data: bytes, settings: PreprocessorSettings, never: "re.Pattern[bytes] | None", strict: bool
) -> bytes:
    """Return `data` with all but one branch blanked if a branch does not close what it opens.

    `strict` also blanks alternatives and directives inside of functions and types, and alternatives for a part of a
    declaration. Conditions that match `never` do not hold. If `#if` and `#endif` do not pair up, no branch is blanked.
    """
    if not settings.conditions or b"#" not in data:
        return data
    blanked: list[_Span] = []
    depth: _Depth = (0, 0)
    groups: list[_ConditionalGroup] = []
    for token in _TOKEN.finditer(data):
        text = token[0]
        if len(text) == 1 and text in _STEP:
            step = _STEP[text]
            depth = depth[0] + step[0], depth[1] + step[1]
            continue
        if text.lstrip()[:1] != b"#":
            continue
        matched = _DIRECTIVE.match(text)
        if b"/*" in text:  # a remark between continuation lines, or instead of a value
            blanked += [(token.start() + m.start(), token.start() + m.end()) for m in _REMARK.finditer(text)]
        if matched is None:
            if strict and depth > (0, 0):
                blanked.append(token.span())
            continue
        word = matched[1]
        if word.startswith(b"if"):
            condition = b"!" * (word == b"ifndef") + b" ".join(matched[2].split())
            groups.append(_ConditionalGroup(depth, condition, [token.span()], token.end()))
            continue
        if not groups:
            return blank_spans(data, blanked)
        group = groups[-1]
        group.branches.append((group.since, token.start(), depth))
        group.directives.append(token.span())
        if word != b"endif":
            group.since, depth = token.end(), group.depth
            continue
        groups.pop()
        is_whole = all(branch[2] == group.depth for branch in group.branches)
        if is_whole and not (strict and (group.depth > (0, 0) or any(_is_part(data, b) for b in group.branches))):
            depth = group.depth
            continue
        kept = _choose_branch(group, never)
        blanked += group.directives
        blanked += [branch[:2] for i, branch in enumerate(group.branches) if i != kept]
        depth = group.branches[kept][2] if kept >= 0 else group.depth
    return blank_spans(data, blanked)


def _choose_branch(group: _ConditionalGroup, never: "re.Pattern[bytes] | None") -> int:
    """Return the branch to keep: the first whose condition may hold, or -1 if there is none."""
    if never is None or not never.match(group.condition):
        return 0
    return 1 if len(group.branches) > 1 else -1


def _is_part(data: bytes, branch: tuple[int, int, _Depth]) -> bool:
    """Return True if a branch is less than a statement or declaration."""
    start, end, _ = branch
    if end - start > _MAX_PART_BYTES:
        return False
    text = _TOKEN.sub(lambda m: m[0] if m[0] in _STEP else b"", data[start:end]).strip()
    return bool(text) and text[-1:] not in b";})"


def blank_spans(data: bytes, spans: list[_Span]) -> bytes:
    """Return `data` with spaces for all bytes in these spans but line ends."""
    if not spans:
        return data
    result = bytearray(data)
    done = 0
    for start, end in sorted(spans):  # a span inside of another one is blanked with that
        start = max(start, done)
        if start < end:
            result[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
            done = end
    return bytes(result)


def blank_matches(data: bytes, blank: "list[re.Pattern[bytes]]") -> bytes:
    """Return `data` without the matches of the patterns, applied in order.

    If a pattern has a group `mark`, only that group is blanked.
    """
    for pattern in blank:
        group = "mark" if "mark" in pattern.groupindex else 0
        data = blank_spans(data, [m.span(group) for m in pattern.finditer(data)])
    return data


# Below this depth of the syntax tree nothing is read. No hand-written file comes near; a tree deeper than 65,535, which
# tree-sitter's queries count in 16 bits, takes them time that is quadratic in its size.
_MAX_DEPTH = 20_000

# `QueryCursor.captures` gives captures in the order of the file, so it holds back what follows an unfinished match. In
# a file inside one closure that is the whole file, and each step searches it: quadratic time. `matches` holds back
# nothing. It makes a mapping for each match, which takes longer where no match is open for long: in smaller files, and
# in languages whose files are not written inside one closure. See docs/speed.md for the measurement.
_MIN_BYTES_FOR_MATCHES = 65_536
_CLOSURE_FAMILIES = frozenset({"ecmascript"})

_MAX_CONSTRAINT_BYTES = 4096  # bytes in which a file says in which builds it is


def parse_source(data: bytes, grammar: Grammar) -> FileFacts:
    """Return the facts of a file in the language of `grammar`. Nothing in them comes from a secret."""
    data = with_line_feeds(data)
    secrets = find_secrets(data)
    data = mask_secrets(data, secrets)
    text = with_valid_utf8(data)
    tree, query = _parse_best(text, grammar)
    collector = FactCollector(text, grammar.settings)
    collector.run(_read_captures(query, tree.root_node, grammar.settings.family, len(text)))
    definitions = collector.definitions()
    if secrets:
        definitions = [d._replace(signature=shorten_masks(d.signature), doc=shorten_masks(d.doc)) for d in definitions]
    imports = collector.import_reader.imports
    kept = read_kept_functions(grammar.settings.family, tree, text, definitions, imports)
    has_fixtures = grammar.settings.tests.fixtures
    fixtures = read_fixtures(tree, text, definitions) if has_fixtures else []
    named = read_string_targets(text, tree, definitions) if has_fixtures else ()
    facts = FileFacts(
        language=grammar.dialect.name,
        definitions=tuple(definitions),
        bases=tuple(collector.bases),
        calls=tuple(collector.use_reader.calls),
        references=(*collector.use_reader.references(), *named),
        imports=tuple(collector.import_reader.imports),
        exports=(*collector.import_reader.exports, *fixtures, *_read_facade(text, grammar.settings.modules)),
        bindings=(*collector.binding_reader.bindings, *kept),
        returns=tuple(collector.returns()),
        package=collector.package,
        manifest=_read_build_constraint(text, grammar.settings.modules),
        owners=tuple(collector.owners()),
        parameters=tuple(collector.parameters()),
        implementations=tuple(collector.implementations()),
        accesses=tuple(collector.access_reader.accesses),
        lookups=read_lookups(grammar.settings.lookups, tree, text, definitions),
        routes=read_routes(grammar.settings.family, tree, text, definitions),
        tests=tuple(i for i, draft in enumerate(collector.drafts) if draft.is_test),
        mentions=read_doc_mentions(definitions),
        words=spaced(text),
        diagnostics=(*_encoding_diagnostics(data), *_syntax_diagnostics(collector.errors)),
        doc=collector.doc,
        n_rows=data.count(b"\n") + 1,
        n_bytes=len(data),
        secrets=secrets,
    )
    listed = grammar.settings.modules.wildcard_list
    if listed and any(binding.target == listed for binding in facts.bindings):
        return replace(facts, wildcard_exports=read_listed_names(data.decode("utf-8", "replace"), listed))
    return facts


def _read_captures(
    query: tree_sitter.Query, root: tree_sitter.Node, family: str, n_bytes: int
) -> Mapping[str, Sequence[tree_sitter.Node]]:
    """Return the captured nodes by capture name, in undefined order and with undefined repetition."""
    cursor = tree_sitter.QueryCursor(query)
    cursor.set_max_start_depth(_MAX_DEPTH)
    if n_bytes < _MIN_BYTES_FOR_MATCHES or family not in _CLOSURE_FAMILIES:
        return cursor.captures(root)
    nodes_by_capture: dict[str, list[tree_sitter.Node]] = {}
    for _, captured in cursor.matches(root):
        for name, nodes in captured.items():
            nodes_by_capture.setdefault(name, []).extend(nodes)
    return nodes_by_capture


def _read_build_constraint(data: bytes, modules: ModuleSettings) -> tuple[tuple[str, str], ...]:
    """Return the build constraint in the first lines of a file, as one expression."""
    if not modules.constraint:
        return ()
    lines = data[:_MAX_CONSTRAINT_BYTES].decode("utf-8", "replace").split("\n")
    said = [line.removeprefix(modules.constraint).strip() for line in lines if line.startswith(modules.constraint)]
    if not said:
        begins = modules.older_constraint
        older = [line.removeprefix(begins).split() for line in lines if begins and line.startswith(begins)]
        every = [" || ".join(f"({each.replace(',', ' && ')})" for each in line) for line in older if line]
        said = [" && ".join(f"({each})" for each in every)] if every else []
    return (("build", said[0]),) if said else ()


def _parse_best(data: bytes, grammar: Grammar) -> tuple[tree_sitter.Tree, tree_sitter.Query]:
    """Return the syntax tree and its query, of the grammar or its fallback, whichever skips fewer bytes."""
    repairs = grammar.settings.repairs
    first = _apply_repairs(data, [each for each in repairs if each.silent]) if repairs else data
    tree = _parse_tree(first, grammar)
    if repairs and tree.root_node.has_error:
        repaired = _apply_repairs(data, repairs)
        other = grammar.parser.parse(_with_final_line_feed(repaired, grammar)) if repaired != data else tree
        if not other.root_node.has_error or _n_skipped(other) < _n_skipped(tree):
            tree = other
    if grammar.dialect.fallback and tree.root_node.has_error:
        other, query = _parse_best(data, load_grammar(grammar.dialect.fallback))
        if _n_skipped(other) < _n_skipped(tree):
            return other, query
    return tree, grammar.query


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


def _with_final_line_feed(data: bytes, grammar: Grammar) -> bytes:
    """Return the text with a final line feed if the grammar would otherwise wait for one."""
    return data + b"\n" if grammar.dialect.line_feed and not data.endswith(b"\n") else data


def _parse_tree(data: bytes, grammar: Grammar) -> tree_sitter.Tree:
    """Return the syntax tree after preprocessing.

    If it has errors, preprocess strictly and return that tree if it has fewer doubtful bytes.
    """
    settings = grammar.settings.preprocessor
    if not settings.conditions:
        return grammar.parser.parse(_with_final_line_feed(data, grammar))
    never, blank = _compile_preprocessor(settings)
    view = blank_matches(data, list(blank))
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


@cache
def _compile_preprocessor(
    settings: PreprocessorSettings,
) -> "tuple[re.Pattern[bytes] | None, tuple[re.Pattern[bytes], ...]]":
    never = re.compile(settings.never.encode()) if settings.never else None
    return never, tuple(re.compile(each.encode(), re.MULTILINE) for each in settings.blank)


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


def parse_text(path: str, data: bytes) -> FileFacts:
    """Return the facts of a file without a grammar: passages, words and mentions.

    Only the path decides the kind of prose. Nothing in the facts comes from a secret.
    """
    data = with_line_feeds(data)
    secrets = find_secrets(data)
    data = mask_secrets(data, secrets)
    text = data.decode("utf-8", "replace")
    kind = prose_kind(path)
    passages = read_passages(path, text) if text.encode("utf-8") == data else ()
    if secrets:
        passages = tuple(p._replace(title=shorten_masks(p.title)) for p in passages)
    return FileFacts(
        language="",
        passages=passages,
        words=spaced(with_valid_utf8(data)),
        diagnostics=_encoding_diagnostics(data),
        doc=passages[0].title if passages and kind not in BY_BLOCKS else "",
        manifest=read_manifest(path, text) if kind == "manifest" or is_project(path) else (),
        mentions=read_mentions(kind, text, passages),
        n_rows=data.count(b"\n") + 1,
        n_bytes=len(data),
        secrets=secrets,
    )


def _syntax_diagnostics(errors: Sequence[int]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics for syntax errors in these rows."""
    if not errors:
        return ()
    row = min(errors)
    many = f"{len(errors)} places" if len(errors) > 1 else "one place"
    return (Diagnostic(DiagnosticSlug.SYNTAX_ERROR, f"{many} could not be parsed, the first in line {row + 1}", row),)


def _encoding_diagnostics(data: bytes) -> tuple[Diagnostic, ...]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start)
        return (
            Diagnostic(DiagnosticSlug.NOT_UTF_8, f"byte {data[error.start]:#04x} in line {row + 1} is not UTF-8", row),
        )
    return ()


_LOWEST_LEVEL = 7  # level of a cell of text without a heading: below all headings
_MAX_TITLE_CHARACTERS = 60


def parse_file(path: str, data: bytes) -> FileFacts:
    """Return the facts of any file.

    The path and, for some extensions, the content choose the reader. If the reader fails because of a defect of this
    program, the file is read as text and a diagnostic says so.
    """
    try:
        return _parse(path, data)
    except Exception as error:
        if not errors.is_recoverable(error):
            raise
        facts = parse_text(path, data)
        what = f"it is read as text alone, for a defect of this program ({type(error).__name__})"
        return replace(facts, diagnostics=(*facts.diagnostics, Diagnostic(DiagnosticSlug.NOT_UNDERSTOOD, what, 0)))


def _parse(path: str, data: bytes) -> FileFacts:
    dialect = dialect_for(path, data)
    if dialect:
        return parse_source(data, load_grammar(dialect))
    if is_component(path):
        secrets = find_secrets(data)
        facts = _parse_component(mask_secrets(data, secrets))
        return replace(facts, secrets=merge_spans((*secrets, *facts.secrets)))
    notebook = read_notebook(data) if is_notebook(path) else None
    if notebook is not None:
        # JSON escapes can hide secrets, so that the decoded cells are scanned too.
        secrets = merge_spans((*find_secrets(data), *find_secrets(notebook.view)))
        hidden = notebook._replace(view=mask_secrets(notebook.view, secrets), code=mask_secrets(notebook.code, secrets))
        facts = _parse_notebook(hidden)
        return replace(facts, secrets=merge_spans((*secrets, *facts.secrets)))
    script = script_dialect(data) if prose_kind(path) == "plain" and may_be_script(path) else ""
    if script:
        return parse_source(data, load_grammar(script))
    facts = parse_text(path, data)
    if entry_points := read_entry_points(path, data):
        facts = replace(facts, references=entry_points)
    if prose_kind(path) == "plain" and (links := read_template_links(path, data)):
        facts = replace(facts, routes=links)
    if is_notebook(path):
        note = Diagnostic(
            DiagnosticSlug.NOT_A_NOTEBOOK, "it is not the JSON of a notebook; its words are searched as they stand", 0
        )
        return replace(facts, diagnostics=(*facts.diagnostics, note))
    return facts


def parse_syntax(path: str, data: bytes) -> tuple[tree_sitter.Tree, str] | None:
    """Return (syntax tree, name of its language) of any file as `parse_file` reads it; None without a grammar.

    Positions are those of `data` with line feeds for other ends of lines.
    """
    dialect, view = dialect_for(path, data), data
    if not dialect and is_component(path):
        component = read_component(data)
        dialect, view = _resolve_dialect(component.language), component.view
    elif not dialect:
        notebook = read_notebook(data) if is_notebook(path) else None
        if notebook is not None:
            dialect, view = _resolve_dialect(notebook.language), notebook.code
        elif prose_kind(path) == "plain" and may_be_script(path):
            dialect = script_dialect(data)
    if not dialect:
        return None
    grammar = load_grammar(dialect)
    return _parse_best(with_valid_utf8(with_line_feeds(view)), grammar)[0], grammar.settings.name


def parse_tree(path: str, data: bytes) -> tuple[Grammar, tree_sitter.Tree] | None:
    """Return the grammar and the syntax tree of a file as it is, without repairs; None if no grammar reads it.

    Positions are those of the file. Notebooks have no tree.
    """
    if is_component(path):
        component = read_component(data)
        dialect, data = _resolve_dialect(component.language), component.view
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


def _resolve_dialect(language: str) -> str:
    """Return the dialect with this extension or name, or "" if no grammar reads it."""
    name = language.removeprefix(".")
    return extensions().get(f".{name}", name if name in load_settings() else "")


def _parse_component(data: bytes) -> FileFacts:
    component = read_component(data)
    dialect = _resolve_dialect(component.language)
    if not dialect:  # a language that no grammar reads: the component is there all the same
        component, dialect = without_scripts(component), _resolve_dialect(DEFAULT_LANGUAGE)
    facts = with_component(parse_source(component.view, load_grammar(dialect)), component)
    # The words of the file, not those of the view that the grammar read.
    return replace(facts, words=spaced(with_valid_utf8(data)))


def _parse_notebook(notebook: Notebook) -> FileFacts:
    lines = notebook.view.decode("utf-8").split("\n")
    headings: list[Heading] = []
    for first, last in notebook.markdown:
        found = markdown_headings(lines[first : last + 1])
        headings += [h._replace(row=h.row + first) for h in found]
        if not found:
            title = next((t for t in (" ".join(line.split()) for line in lines[first : last + 1]) if t), "")
            headings.append(Heading(first, _LOWEST_LEVEL, title[:_MAX_TITLE_CHARACTERS]))
    passages = tuple(_without_end(p, lines) for p in read_sections(lines, headings))
    dialect = _resolve_dialect(notebook.language)
    if dialect:
        facts = parse_source(notebook.code, load_grammar(dialect))
    else:
        facts = FileFacts(language="", n_rows=len(lines), n_bytes=len(notebook.view))
    doc = passages[0].title if passages else facts.doc
    return replace(facts, passages=passages, doc=doc, words=spaced(with_valid_utf8(notebook.view)))


def _without_end(passage: Passage, lines: list[str]) -> Passage:
    """Return the passage without blank rows at its end, which come from the JSON around cells."""
    end = passage.end_row
    while end > passage.start_row and not lines[end].strip():
        end -= 1
    blank = sum(len(line) + 1 for line in lines[end + 1 : passage.end_row + 1])
    return passage._replace(end_row=end, end_byte=max(passage.end_byte - blank, passage.start_byte))


def _read_facade(data: bytes, settings: ModuleSettings) -> list[Export]:
    """Return the name that a file gives to the type that holds its top for other languages."""
    named = re.search(settings.facade_name.encode(), data) if settings.facade_name else None
    return [Export("", f"{FACADE}{named[1].decode()}", data.count(b"\n", 0, named.start()))] if named else []


_FIXTURE = re.compile(rb"@(?:\w+\.)*\w*(?P<name>fixture)\b(?P<call>\s*\()?")
_DOTTED = re.compile(
    rb"""(?<![\w"'])(?P<quote>["'])(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?"""
    rb"""|[A-Za-z_]\w*:[A-Za-z_]\w*)(?P=quote)(?!["'])"""
)
# Ends of strings that are names of files or hosts.
_NO_NAMES = re.compile(
    rb"\.(?:py|txt|md|rst|html?|json|ya?ml|toml|cfg|ini|xml|csv|js|css|png|jpe?g|svg|com|org|net|io|log|db|sql)$"
)
_MAX_STRINGS = 400  # of one file
_ENTRY_POINT = re.compile(
    rb"""^\s*"?[\w.-]+"?\s*=\s*["']?(?P<name>[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)["']?\s*$""", re.MULTILINE
)
_MANIFESTS = ("pyproject.toml", "setup.cfg", "entry_points.txt")


def read_fixtures(tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition]) -> list[Export]:
    """Return the fixtures that decorators make, in the order of the file."""
    if b"fixture" not in data:
        return []
    source, found = RouteText(data, tree, definitions), list[Export]()
    for match in source.matches(_FIXTURE, "name"):
        number = source.decorated(match.start("name"))
        if number < 0:
            continue
        arguments = source.arguments(match.end())[0] if match["call"] else []
        definition = definitions[number]
        name = literal(keyword(arguments, "name") or "") or definition.name
        holder = definition.qualname.rpartition(".")[0]
        exported = f"{holder}.{name}" if holder else name
        found.append(Export(definition.qualname, f"{FIXTURE_PREFIX}{exported}", definition.start_row))
    return found


def read_string_targets(data: bytes, tree: tree_sitter.Tree, definitions: Sequence[Definition]) -> Iterator[Reference]:
    """Yield a reference for each string that may be the dotted name of a definition, `STRING_TARGET` before it."""
    source = RouteText(data, tree, definitions)
    for n, match in enumerate(_DOTTED.finditer(data)):
        if n >= _MAX_STRINGS:
            return
        if not _NO_NAMES.search(match["name"]):
            at = match.start("name")
            yield Reference(source.scope(at), f"{STRING_TARGET}{match['name'].decode()}", source.row(at))


def read_entry_points(path: str, data: bytes) -> tuple[Reference, ...]:
    """Return references to the functions that a manifest of a package names as entry points."""
    if basename(path) not in _MANIFESTS:
        return ()
    return tuple(
        Reference(MODULE_SCOPE, f"{STRING_TARGET}{match['name'].decode()}", data.count(b"\n", 0, match.start("name")))
        for match in _ENTRY_POINT.finditer(data)
    )


def _is_kept(key: tree_sitter.Node) -> bool:
    """Return True for the name of a member that is given a value; patterns take one."""
    around = key.parent
    if around is not None and around.type in ("field_designator", "field_expression"):
        around = around.parent
    return around is not None and around.type in ("pair", "initializer_pair", "assignment_expression")


_MAX_KEPT = 400  # of one file
_PATTERNS = {
    "ecmascript": re.compile(rb"(?<=[{,\s])(?P<key>[A-Za-z_$][\w$]*)\s*:\s*(?P<value>[A-Za-z_$][\w$]*)\s*(?=[,}])"),
    "c": re.compile(rb"(?:\.|->)(?P<key>[A-Za-z_]\w*)\s*=\s*&?(?P<value>[A-Za-z_]\w*)\s*(?=[,};])"),
}
_FAMILIES = {"c": "c", "cpp": "c", "ecmascript": "ecmascript"}


def read_kept_functions(
    family: str, tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition], imports: Sequence[Import]
) -> list[Binding]:
    """Return the functions of this file, and imported names, that are kept under a name, in order."""
    pattern = _PATTERNS.get(_FAMILIES.get(family, ""))
    if pattern is None:
        return []
    known = {each.name for each in definitions if each.kind in CALLABLE_KINDS}
    known.update(each.alias for each in imports if each.alias)
    if not known:
        return []
    source, found = RouteText(data, tree, definitions), list[Binding]()
    for match in pattern.finditer(data):
        value = match["value"].decode()
        if value in known and _is_kept(source.node(match.start("key"))):
            row = source.row(match.start("key"))
            found.append(Binding(MODULE_SCOPE, f"{KEPT}{match['key'].decode()}", "", value, row))
            if len(found) >= _MAX_KEPT:
                break
    return list(dict.fromkeys(found))
