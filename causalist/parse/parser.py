"""Any file -> facts: choose a reader by path and content, parse, and collect diagnostics.

Broken source is valid input: its facts come with diagnostics, never with an exception. If code stands inside another
format, a view with as many bytes as the file is parsed, so that positions hold in the file itself.

Some facts are read from the text rather than by queries: an `Export` for each fixture, `fixture:` and its name (that of
a fixture in a class has the class before it), a `Reference` for each string that may be the dotted name of a
definition (`patch("app.views.send")`, entries of settings, entry points of packages), and functions that are kept.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from posixpath import basename

import tree_sitter

from causalist import errors
from causalist._internal.lazy import lazy_regex
from causalist._internal.stage_clock import stage
from causalist.model.facts import (
    MODULE_SCOPE,
    UNCOUNTED,
    Binding,
    Call,
    Definition,
    Export,
    FileFacts,
    Import,
    ImportKind,
    Passage,
    Reference,
    space_words,
)
from causalist.model.language_settings import LanguageSettings, ModuleSettings, NameSettings
from causalist.model.node_ids import CALLABLE_KINDS, FACADE, FIXTURE_PREFIX, TYPE_KINDS, NodeKind
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.model.type_notation import DECORATED, KEPT, RETURNED, STRING_TARGET, bytes_of_kind
from causalist.parse.cleaned_text import (
    is_component,
    is_notebook,
    link_kind,
    mask_secrets,
    shorten_masks,
    text_group,
    with_line_feeds,
    with_valid_utf8,
)
from causalist.parse.data_names import read_code_links, read_file_links, read_markup_links, read_returned_links
from causalist.parse.embedded_code import (
    DEFAULT_LANGUAGE,
    Notebook,
    read_component,
    read_notebook,
    with_component,
    with_templates,
    without_scripts,
)
from causalist.parse.languages import (
    Grammar,
    TreeParser,
    dialect_for,
    load_grammar,
    may_be_script,
    script_dialect,
)
from causalist.parse.manifests import is_build_program, is_project, read_manifest
from causalist.parse.preprocessor import read_build_constraint, read_conditions
from causalist.parse.prose import (
    BY_BLOCKS,
    Heading,
    ProseKind,
    markdown_headings,
    prose_kind,
    read_doc_mentions,
    read_mentions,
    read_passages,
    read_sections,
)
from causalist.parse.routes import read_routes
from causalist.parse.routes.connected_signals import read_relations, read_template_links
from causalist.parse.routes.searched_text import (
    RouteText,
    in_targets,
    keyword,
    literal,
    read_labels,
    read_lazy_imports,
)
from causalist.parse.secret_scan import find_secrets, merge_spans
from causalist.parse.syntax.accesses import read_lookups, read_regions
from causalist.parse.syntax.argument_forms import read_groups, read_listed_parameters
from causalist.parse.syntax.bases_and_signatures import (
    TypeStatements,
    read_declared_procedures,
    read_declared_types,
    read_specifics,
    rows_of_interfaces,
    with_checked_types,
)
from causalist.parse.syntax.collector import FactCollector
from causalist.parse.syntax.doc_comments import comment_doc
from causalist.parse.syntax.imports import (
    members_given,
    open_file_class,
    read_class_bodies,
    read_exported_words,
    read_listed_names,
)
from causalist.parse.syntax.shadowed_names import with_objects
from causalist.parse.syntax_tree import ParseTooLong, find_query_parts, marks_of_folders, parse_best, resolve_dialect

# `QueryCursor.captures` gives captures in the order of the file, so it holds back what follows an unfinished match, and
# each step searches what is held back: quadratic time in a file inside one closure, or of many statements in one body.
# `matches` holds back nothing. It makes a mapping for each match, which takes half as long again in most languages, and
# no longer in some. See docs/speed.md for the measurement.
_MIN_BYTES_FOR_MATCHES = 32_768
# Queries of these have wildcards inside of patterns, for which `captures` yields nodes of patterns that do not match.
_MATCHED_FAMILIES = frozenset({"bash", "ecmascript", "elixir", "ruby"})


def _words(data: bytes) -> bytes:
    with stage("parse: words"):
        return space_words(data)


def parse_source(data: bytes, grammar: Grammar, stem: str = "") -> FileFacts:
    """Return the facts of a file in the language of `grammar`. Nothing in them comes from a secret.

    `stem` is the name of the file without its extension.
    """
    data = with_line_feeds(data)
    with stage("parse: secrets"):
        secrets = find_secrets(data)
    data = mask_secrets(data, secrets)
    text = with_valid_utf8(data)
    with stage("parse: tree-sitter"):
        tree, query, code = _parse_best(text, grammar)
    with stage("parse: query"):
        captures = _read_captures(query, tree.root_node, grammar.settings.family, len(text))
    with stage("parse: captures"):
        collector = FactCollector(code, grammar.settings)
        if grammar.settings.modules.file_classes:
            start, end = open_file_class(collector.scopes, collector.import_reader.imports, captures, stem)
            if end:
                collector.drafts[0].doc = comment_doc(grammar.settings.comments.doc, text, start, end)
        collector.run(captures, tree.root_node.end_byte)
        if grammar.settings.modules.file_classes:
            collector.binding_reader.bindings += members_given(collector.binding_reader.bindings, collector.drafts)
        definitions = collector.definitions()
    if secrets:
        definitions = [d._replace(signature=shorten_masks(d.signature), doc=shorten_masks(d.doc)) for d in definitions]
    imports = collector.import_reader.imports
    if grammar.settings.modules.mentioned:
        local = {each.name for each in definitions if each.kind == NodeKind.NAMESPACE}
        bound = collector.binding_reader.bindings
        local.update(each.target for each in bound if each.target != each.value.partition(".")[0])
        imports[:] = _import_once(imports, local)
    small = text.lower() if grammar.settings.names.several else b""
    specifics = (*read_specifics(small, definitions), *read_declared_procedures(small, definitions)) if small else ()
    grouped = text if grammar.settings.names.grouped else b""
    declared = read_declared_types(small, definitions) if small else None
    calls: Iterable[Call] = collector.use_reader.calls
    if declared is not None:
        calls = _with_local_kinds(with_checked_types(small, calls), definitions, declared)
        bound = _with_declared_types(collector.binding_reader.bindings, declared, rows_of_interfaces(small))
        functions = _functions_from_outside(collector.use_reader.calls, definitions, declared)
        bound = [each for each in bound if (each.scope, each.target) not in functions]
        collector.binding_reader.bindings = bound
    regions = read_regions(text.lower(), captures, definitions) if grammar.settings.names.regions else None
    if regions is not None:
        calls, collector.binding_reader.bindings = regions.calls, regions.bindings
        imports += regions.imports
        returns, parameters = sorted(regions.returns.items()), sorted(regions.parameters.items())
    else:
        returns = declared.returns if declared is not None else collector.returns()
        parameters = declared.parameters if declared is not None else collector.parameters()
    source = RouteText(text, tree, definitions)
    kept = read_kept_functions(grammar.settings.family, source, imports)
    has_fixtures = grammar.settings.tests.fixtures
    fixtures = read_fixtures(source) if has_fixtures else []
    named = read_string_targets(source) if has_fixtures else ()
    references = [*(regions.references if regions is not None else ()), *collector.use_reader.references()]
    if grammar.settings.modules.labels:
        calls, references = (
            in_targets(calls, definitions),
            in_targets((*references, *read_labels(source)), definitions),
        )
    related = read_relations(source) if grammar.settings.family == "php" else ()
    lazy = list(read_lazy_imports(source)) if grammar.settings.family == "ecmascript" else []
    class_bodies = read_class_bodies(tree.root_node, definitions) if grammar.settings.modules.reopened else ([], [])
    lookups = read_lookups(grammar.settings.lookups, tree, text, definitions)
    asked = {(each.scope, each.key) for each in lookups}
    links = read_code_links(grammar.settings.family, source.renew())
    facts = FileFacts(
        language=grammar.dialect.name,
        definitions=tuple(definitions),
        bases=tuple(collector.bases),
        calls=tuple(calls),
        references=(*references, *named, *related, *(each for _, each in lazy)),
        imports=(*collector.import_reader.imports, *(each for each, _ in lazy)),
        exports=(
            *collector.import_reader.exports,
            *fixtures,
            *(specifics or read_groups(grouped, definitions)),
            *_read_facade(text, grammar.settings.modules),
            *collector.list_opened(),
            *class_bodies[1],
        ),
        bindings=(
            *collector.binding_reader.bindings,
            *kept,
            *read_decorators(text, definitions, grammar.settings.names),
            *read_set_attributes(source, grammar.settings.names),
            *class_bodies[0],
        ),
        returns=tuple(returns),
        package=collector.package,
        manifest=read_build_constraint(text, grammar.settings.modules),
        owners=tuple(collector.owners()),
        parameters=(*parameters, *read_listed_parameters(grouped, definitions, grammar.settings.types)),
        conditions=read_conditions(text, definitions, grammar.settings.preprocessor),
        implementations=tuple(collector.implementations()),
        accesses=tuple(collector.access_reader.accesses),
        lookups=lookups,
        routes=read_routes(grammar.settings.family, source.renew(), collector.binding_reader.bindings),
        links=tuple(each for each in links if (each.scope, each.name) not in asked),
        tests=tuple(
            i
            for i, draft in enumerate(collector.drafts)
            if draft.is_test or (draft.kind == NodeKind.HANDLER and _is_marked_test(draft.name, grammar.settings))
        ),
        mentions=read_doc_mentions(definitions),
        words=_words(text),
        diagnostics=(*_encoding_diagnostics(data), *_syntax_diagnostics(collector.errors)),
        doc=collector.doc,
        n_rows=data.count(b"\n") + 1,
        n_bytes=len(data),
        secrets=secrets,
    )
    if grammar.settings.modules.anywhere and (listed_names := _read_export_list(facts)) is not None:
        return replace(facts, wildcard_exports=listed_names)
    listed = grammar.settings.modules.wildcard_list
    if grammar.settings.modules.flat:
        return replace(facts, wildcard_exports=read_exported_words(data.decode("utf-8", "replace")))
    if listed and any(binding.target == listed for binding in facts.bindings):
        return replace(facts, wildcard_exports=read_listed_names(data.decode("utf-8", "replace"), listed))
    return facts


def _with_declared_types(bindings: Sequence[Binding], types: TypeStatements, without: Set[int]) -> list[Binding]:
    """Return bindings of variables with their types as values, which have kinds and ranks.

    Those in the rows `without`, and names of procedures, are left out.
    """
    result: list[Binding] = []
    for each in bindings:
        type_ = types.of_names.get((each.scope, each.target.removeprefix(".")))
        if each.row not in without and type_ != "":
            base = type_.partition("(")[0].partition("[")[0] if type_ else ""
            result.append(each._replace(type=base, value=f"={type_}") if base and not each.value else each)
    return result


def _functions_from_outside(
    calls: Iterable[Call], definitions: Sequence[Definition], types: TypeStatements
) -> set[tuple[int, str]]:
    """Return (scope, name) of names that a function says a type of and calls: no arrays, and no parameters."""
    parameters = {number: {each.partition(":")[0] for each in taken} for number, taken in types.parameters}
    found: set[tuple[int, str]] = set()
    for call in calls:
        type_ = types.of_names.get((call.scope, call.callee), "") if call.scope >= 0 else ""
        if type_ and call.arguments.strip(UNCOUNTED) and "[" not in type_ and not type_.startswith("character"):
            definition = definitions[call.scope]
            if definition.kind == NodeKind.FUNCTION and call.callee not in parameters.get(call.scope, ()):
                found.add((call.scope, call.callee))
    return {each for each in found if definitions[each[0]].name != each[1]}


_LITERAL_KIND = lazy_regex(r"(=(?:integer|real|complex|logical))\((\w+)\)")


def _with_local_kinds(
    calls: Iterable[Call], definitions: Sequence[Definition], types: TypeStatements
) -> Iterator[Call]:
    """Yield calls, those of literals whose kinds the functions around name with the bytes of these kinds."""
    for call in calls:
        if "(" in call.values and types.kinds:
            scope = call.scope
            while scope >= 0 and scope not in types.kinds:
                scope = definitions[scope].parent
            if kinds := types.kinds.get(scope):
                call = call._replace(values=_LITERAL_KIND.sub(lambda found: _with_kind(found, kinds), call.values))
        yield call


def _with_kind(found: re.Match[str], kinds: Mapping[str, str]) -> str:
    kind = kinds.get(found[2], found[2])
    return f"{found[1]}({bytes_of_kind(kind) or (kind if kind.isidentifier() else found[2])})"


def _import_once(imports: Sequence[Import], local: Set[str]) -> list[Import]:
    """Return the imports of a file in which naming a module is one, each module once, by at most two names.

    `local` are modules of the file itself.
    """
    first: dict[tuple[int, int, str], Import] = {}
    for entry in imports:
        if entry.kind == ImportKind.MODULE:
            head, *others = entry.module.split(".")[:2]
            if head in local:
                continue
            entry = entry._replace(scope=MODULE_SCOPE, module=".".join((head, *others)))
        first.setdefault((entry.scope, entry.kind, entry.module), entry)
    modules = (each.module for each in first.values() if each.kind == ImportKind.MODULE)
    # A name alone says nothing that one with a name behind it does not say.
    packages = {module.partition(".")[0] for module in modules if "." in module}
    kept = [each for each in first.values() if each.kind != ImportKind.MODULE or each.module not in packages]
    return sorted(kept, key=lambda each: (each.row, each.module, each.kind))


def _is_marked_test(handler: str, settings: LanguageSettings) -> bool:
    """Return True for a handler that is a test wherever it stands: of a language in which tests stand beside code."""
    return bool(settings.tests.mark) and handler.partition(" ")[0] in settings.handlers.tests


def _read_export_list(facts: FileFacts) -> tuple[str, ...] | None:
    """Return the names that a module exports, with all that exported types hold; None for all names."""
    passed = {each.module for each in facts.imports if each.kind == ImportKind.REEXPORT_ALL}
    imported = {each.module for each in facts.imports if each.kind != ImportKind.REEXPORT_ALL}
    if not (facts.exports or passed) or not passed <= imported:  # one that it does not import is itself
        return None
    names = {each.exported for each in facts.exports}
    inside: set[int] = set()
    for number, each in enumerate(facts.definitions):
        if (each.kind in TYPE_KINDS and each.name in names) or each.parent in inside:
            inside.add(number)
            names.add(each.name)
    return tuple(sorted(names))


def _read_captures(
    query: tree_sitter.Query, root: tree_sitter.Node, family: str, n_bytes: int
) -> Mapping[str, Sequence[tree_sitter.Node]]:
    """Return the captured nodes by capture name, in undefined order and with undefined repetition."""
    by_matches = n_bytes >= _MIN_BYTES_FOR_MATCHES or family in _MATCHED_FAMILIES
    split = find_query_parts(root)
    if split is None and not by_matches:
        return tree_sitter.QueryCursor(query).captures(root)
    parts, wide_errors = split or ([], [])
    runs = [(part.cursor(query), part.node) for part in parts] or [(tree_sitter.QueryCursor(query), root)]
    nodes_by_capture: dict[str, list[tree_sitter.Node]] = {"error": wide_errors} if wide_errors else {}
    for cursor, node in runs:
        captures = (captured for _, captured in cursor.matches(node)) if by_matches else (cursor.captures(node),)
        for captured in captures:
            for name, nodes in captured.items():
                nodes_by_capture.setdefault(name, []).extend(nodes)
    return nodes_by_capture


def _parse_best(data: bytes, grammar: Grammar) -> tuple[tree_sitter.Tree, tree_sitter.Query, bytes]:
    """Return the syntax tree, its query and the text as it was read, with the code of templates in place of them.

    They are of the grammar or its fallback, whichever skips fewer bytes.
    """
    own = TreeParser(grammar.dialect, grammar.settings, grammar.parser)
    code = with_templates(data, grammar.settings.names.templates)
    tree, read_by = parse_best(code, own)
    if code is not data and tree.root_node.has_error:  # an unusual template hides no code behind it
        code, (tree, read_by) = data, parse_best(data, own)
    return tree, grammar.query if read_by is own else load_grammar(read_by.dialect.name).query, code


def parse_text(path: str, data: bytes) -> FileFacts:
    """Return the facts of a file without a grammar: passages, words and mentions.

    Only the path decides the kind of prose. Nothing in the facts comes from a secret.
    """
    data = with_line_feeds(data)
    with stage("prose: secrets"):
        secrets = find_secrets(data)
    data = mask_secrets(data, secrets)
    text = data.decode("utf-8", "replace")
    kind, link = prose_kind(path), link_kind(path)
    is_valid = text.encode("utf-8") == data
    with stage("prose: names"):
        definitions, links = read_file_links(link, text) if link and is_valid else ((), ())
    with stage("prose: passages"):
        passages = read_passages(path, text) if is_valid and not definitions else ()
    if secrets:
        passages = tuple(p._replace(title=shorten_masks(p.title)) for p in passages)
        definitions = tuple(d._replace(signature=shorten_masks(d.signature)) for d in definitions)
    return FileFacts(
        language="",
        definitions=definitions,
        links=links,
        passages=passages,
        words=_words(with_valid_utf8(data)),
        diagnostics=_encoding_diagnostics(data),
        doc=passages[0].title if passages and kind not in BY_BLOCKS else "",
        manifest=read_manifest(path, text) if kind == ProseKind.MANIFEST or is_project(path) else (),
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
    program, or a grammar takes too long, the file is read as text and a diagnostic says so.
    """
    try:
        return _parse(path, data)
    except ParseTooLong:
        facts = parse_text(path, data)
        what = "its grammar takes too long; it is read as text alone"
        return replace(facts, diagnostics=(*facts.diagnostics, Diagnostic(DiagnosticSlug.PARSE_TOO_LONG, what, 0)))
    except Exception as error:
        if not errors.is_recoverable(error):
            raise
        facts = parse_text(path, data)
        what = f"it is read as text alone, for a defect of this program ({type(error).__name__})"
        return replace(facts, diagnostics=(*facts.diagnostics, Diagnostic(DiagnosticSlug.NOT_UNDERSTOOD, what, 0)))


def _parse(path: str, data: bytes) -> FileFacts:
    dialect = dialect_for(path, data)
    if dialect:
        with stage("compile queries"):
            grammar = load_grammar(dialect)
        facts = parse_source(data, grammar, path.rpartition("/")[2].partition(".")[0])
        if grammar.settings.modules.marked_folders:
            facts = with_objects(facts, with_line_feeds(data), *marks_of_folders(path))
        if group := text_group(path):
            text = mask_secrets(with_line_feeds(data), facts.secrets).decode("utf-8", "replace")
            return replace(facts, links=(*facts.links, *read_returned_links(group, text)))
        if is_build_program(path):
            text = mask_secrets(with_line_feeds(data), facts.secrets).decode("utf-8", "replace")
            return replace(facts, manifest=read_manifest(path, text))
        return facts
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
    script = script_dialect(data) if prose_kind(path) == ProseKind.PLAIN and may_be_script(path) else ""
    if script:
        return parse_source(data, load_grammar(script))
    facts = parse_text(path, data)
    if entry_points := read_entry_points(path, data):
        facts = replace(facts, references=entry_points)
    if prose_kind(path) == ProseKind.PLAIN and (links := read_template_links(path, data)):
        facts = replace(facts, routes=links)
    if is_notebook(path):
        note = Diagnostic(
            DiagnosticSlug.NOT_A_NOTEBOOK, "it is not the JSON of a notebook; its words are searched as they stand", 0
        )
        return replace(facts, diagnostics=(*facts.diagnostics, note))
    return facts


def _parse_component(data: bytes) -> FileFacts:
    component = read_component(data)
    dialect = resolve_dialect(component.language)
    if not dialect:  # a language that no grammar reads: the component is there all the same
        component, dialect = without_scripts(component), resolve_dialect(DEFAULT_LANGUAGE)
    facts = with_component(parse_source(component.view, load_grammar(dialect)), component)
    # The words of the file, not those of the view that the grammar read.
    links = (*facts.links, *read_markup_links(facts, component.markup))
    return replace(facts, links=links, words=_words(with_valid_utf8(data)))


def _parse_notebook(notebook: Notebook) -> FileFacts:
    lines = notebook.view.decode("utf-8").split("\n")
    headings: list[Heading] = []
    for first, last in notebook.markdown:
        cell_headings = markdown_headings(lines[first : last + 1])
        headings += [h._replace(row=h.row + first) for h in cell_headings]
        if not cell_headings:
            title = next((t for t in (" ".join(line.split()) for line in lines[first : last + 1]) if t), "")
            headings.append(Heading(first, _LOWEST_LEVEL, title[:_MAX_TITLE_CHARACTERS]))
    passages = tuple(_without_end(p, lines) for p in read_sections(lines, headings))
    dialect = resolve_dialect(notebook.language)
    if dialect:
        facts = parse_source(notebook.code, load_grammar(dialect))
    else:
        facts = FileFacts(language="", n_rows=len(lines), n_bytes=len(notebook.view))
    doc = passages[0].title if passages else facts.doc
    return replace(facts, passages=passages, doc=doc, words=space_words(with_valid_utf8(notebook.view)))


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


_FIXTURE = lazy_regex(rb"@(?:\w+\.)*\w*(?P<name>fixture)\b(?P<call>\s*\()?")
_DOTTED = lazy_regex(
    rb"""(?P<quote>["'])(?<![\w"']["'])(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?"""
    rb"""|[A-Za-z_]\w*:[A-Za-z_]\w*)(?P=quote)(?!["'])"""
)
# Ends of strings that are names of files or hosts.
_NO_NAMES = lazy_regex(
    rb"\.(?:py|txt|md|rst|html?|json|ya?ml|toml|cfg|ini|xml|csv|js|css|png|jpe?g|svg|com|org|net|io|log|db|sql)$"
)
_MAX_STRINGS = 400  # of one file
_ENTRY_POINT = lazy_regex(
    rb"""^\s*"?[\w.-]+"?\s*=\s*["']?(?P<name>[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)["']?\s*$""", re.MULTILINE
)
_SETATTR = lazy_regex(
    rb"""(?:\bfor\s+(?P<variable>\w+)\s+in\s*[(\[](?P<names>[\s"'\w,]{1,400})[)\]]\s*:\s*)?"""
    rb"""(?<![\w.])setattr\(\s*(?P<holder>\w+)\s*,\s*(?:(?P<name>"\w+"|'\w+')|(?P=variable))\s*,\s*"""
    rb"""(?:getattr\(\s*(?P<of>[\w.]+)\s*,\s*(?P=variable)\s*\)|(?P<value>[A-Za-z_][\w.]*)),?\s*\)"""
)
_GIVES_TYPE = lazy_regex(r"->.*\b[Tt]ype\b", re.DOTALL)
_RETURNED_CHAIN = lazy_regex(rb"^[ \t]+return[ \t]+(?P<name>[A-Za-z_][\w.]*)[ \t]*(?:\(|$)", re.MULTILINE)
_RETURNED_NAME, _HOLDER = lazy_regex(rb"\n[ \t]+return ([A-Za-z_]\w*)(?=\n)"), lazy_regex(rb" ([A-Za-z_]\w*)\.")
_ASSIGNED = lazy_regex(
    rb"^[ \t]+(?P<holder>[A-Za-z_]\w*)\.(?P<name>\w+)[ \t]*=[ \t]*(?P<value>[A-Za-z_][\w.]*)[ \t]*(?:#.*)?$",
    re.MULTILINE,
)
_QUOTED = lazy_regex(rb"[\"'](\w+)[\"']")
_DECORATED_KINDS = CALLABLE_KINDS | TYPE_KINDS
_MANIFESTS = ("pyproject.toml", "setup.cfg", "entry_points.txt")


def read_fixtures(source: RouteText) -> list[Export]:
    """Return the fixtures that decorators make, in the order of the file."""
    if b"fixture" not in source.data:
        return []
    exports = list[Export]()
    for match in source.matches(_FIXTURE, "name"):
        number = source.owner_at(match.start("name"))
        if number < 0:
            continue
        arguments = source.arguments(match.end())[0] if match["call"] else []
        definition = source.definitions[number]
        name = literal(keyword(arguments, "name") or "") or definition.name
        holder = definition.qualname.rpartition(".")[0]
        exported = f"{holder}.{name}" if holder else name
        exports.append(Export(definition.qualname, f"{FIXTURE_PREFIX}{exported}", definition.start_row))
    return exports


def read_decorators(data: bytes, definitions: Sequence[Definition], names: NameSettings) -> Iterator[Binding]:
    """Yield the decorators of functions and classes, the outermost first; those that are called end with "()"."""
    if not names.decorators:
        return
    pattern = re.compile(names.decorators.encode(), re.MULTILINE)
    for definition in definitions:
        at = definition.start_byte
        if data[at : at + 1] != b"@" or definition.kind not in _DECORATED_KINDS:
            continue
        line = data.rfind(b"\n", 0, at) + 1
        for match in pattern.finditer(data, line, definition.end_byte):
            if match["name"] is None:
                break  # the definition itself
            chain = "".join(match["name"].decode("utf-8", "replace").split())
            row = definition.start_row + data.count(b"\n", line, match.start("name"))
            own = definition.qualname.rpartition(".")[2]
            yield Binding(definition.parent, f"{DECORATED}{own}", "", f"{chain}()" if match["call"] else chain, row)


def read_set_attributes(source: RouteText, names: NameSettings) -> Iterator[Binding]:
    """Yield the attributes that objects are given: those that a function returns, and those of `setattr`.

    That is by a literal name, or by each of several in a loop.
    """
    if not names.decorators:
        return
    data = source.data
    for number, definition in enumerate(source.definitions):
        if (
            "ype" in definition.signature
            and definition.kind in CALLABLE_KINDS
            and _GIVES_TYPE.search(definition.signature)
        ):  # its chains are not kept
            for match in _RETURNED_CHAIN.finditer(data, definition.start_byte, definition.end_byte):
                if source.scope(match.start("name")) == number:
                    yield Binding(number, f"{DECORATED}{RETURNED}", "", match["name"].decode(), definition.start_row)
    returned = set(_RETURNED_NAME.findall(data)).difference(name.encode() for name in names.self_names)
    returned &= set(_HOLDER.findall(data)) if returned else set()
    for match in _ASSIGNED.finditer(data) if returned else ():
        if match["holder"] in returned and source.is_code(at := match.start("holder")):
            target, value = f"{match['holder'].decode()}.{match['name'].decode()}", match["value"].decode()
            yield Binding(source.scope(at), target, "", value, source.row(at))
    if b"setattr(" not in data:
        return
    for match in source.matches(_SETATTR, "holder"):
        at, holder = match.start("holder"), match["holder"].decode()
        scope, row, of = source.scope(at), source.row(at), match["of"]
        for quoted in _QUOTED.findall(match["names"] or match["name"]):
            name = quoted.decode()
            target = f".{name}" if holder in names.self_names else f"{holder}.{name}"
            yield Binding(scope, target, "", f"{of.decode()}.{name}" if of else match["value"].decode(), row)


def read_string_targets(source: RouteText) -> Iterator[Reference]:
    """Yield a reference for each string that may be the dotted name of a definition, `STRING_TARGET` before it."""
    for n, match in enumerate(_DOTTED.finditer(source.data)):
        if n >= _MAX_STRINGS:
            return
        if not _NO_NAMES.search(match["name"]):
            at = match.start("name")
            yield Reference(source.scope(at), f"{STRING_TARGET}{match['name'].decode()}", source.row(at))


def read_entry_points(path: str, data: bytes) -> tuple[Reference, ...]:
    """Return references to the functions that a manifest of a package names as entry points."""
    if basename(path) not in _MANIFESTS:
        return ()
    row, last, references = 0, 0, list[Reference]()
    for match in _ENTRY_POINT.finditer(data):
        row, last = row + data.count(b"\n", last, match.start("name")), match.start("name")
        references.append(Reference(MODULE_SCOPE, f"{STRING_TARGET}{match['name'].decode()}", row))
    return tuple(references)


def _is_kept(key: tree_sitter.Node) -> bool:
    """Return True for the name of a member that is given a value; patterns take one."""
    around = key.parent
    if around is not None and around.type in ("field_designator", "field_expression"):
        around = around.parent
    return around is not None and around.type in ("pair", "initializer_pair", "assignment_expression", "assignment")


_MAX_KEPT = 400  # of one file
_PATTERNS = {
    "ecmascript": lazy_regex(rb"(?<=[{,\s])(?P<key>[A-Za-z_$][\w$]*)\s*:\s*(?P<value>[A-Za-z_$][\w$]*)\s*(?=[,}])"),
    "c": lazy_regex(rb"(?:\.|->)(?P<key>[A-Za-z_]\w*)\s*=\s*&?(?P<value>[A-Za-z_]\w*)\s*(?=[,};])"),
    "matlab": lazy_regex(rb"\.(?P<key>[A-Za-z]\w*)[ \t]*=[ \t]*@(?P<value>[A-Za-z]\w*)[ \t]*(?=[;,\r\n])"),
}
_FAMILIES = {"c": "c", "cpp": "c", "ecmascript": "ecmascript", "matlab": "matlab"}


def read_kept_functions(family: str, source: RouteText, imports: Sequence[Import]) -> list[Binding]:
    """Return the functions of this file, and imported names, that are kept under a name, in order."""
    pattern = _PATTERNS.get(_FAMILIES.get(family, ""))
    if pattern is None:
        return []
    names = {each.name for each in source.definitions if each.kind in CALLABLE_KINDS}
    names.update(each.alias for each in imports if each.alias)
    if not names:
        return []
    bindings = list[Binding]()
    for match in pattern.finditer(source.data):
        value = match["value"].decode()
        if value in names and _is_kept(source.node(match.start("key"))):
            row = source.row(match.start("key"))
            bindings.append(Binding(MODULE_SCOPE, f"{KEPT}{match['key'].decode()}", "", value, row))
            if len(bindings) >= _MAX_KEPT:
                break
    return list(dict.fromkeys(bindings))
