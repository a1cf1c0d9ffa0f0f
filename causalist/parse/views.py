"""Any file -> facts: which grammar reads it, and through which view where code stands inside of something else.

A view has as many bytes as the file, so that positions of facts hold in the file itself.
"""

import hashlib
from dataclasses import replace
from functools import cache, lru_cache

from causalist import errors
from causalist.model.facts import Diagnostic, FileFacts, Passage
from causalist.model.words import spaced
from causalist.parse.embedded_code import (
    DEFAULT_LANGUAGE,
    is_component,
    read_component,
    with_component,
    without_scripts,
)
from causalist.parse.encoding import valid_utf8
from causalist.parse.languages import (
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
from causalist.parse.masking import masked
from causalist.parse.notebooks import Notebook, read_notebook
from causalist.parse.parser import parse_source, parse_text
from causalist.parse.prose import Heading, markdown_headings, prose_kind, sections
from causalist.parse.secret_scan import disjoint, find_secrets
from causalist.parse.text import is_notebook

_LOWEST = 7  # level of a cell of text without a heading: below all headings
_LONGEST_TITLE = 60


def parse_file(path: str, data: bytes) -> FileFacts:
    """Facts of any file. The path tells who reads it, nothing else. What no reader gets through, which is a defect of
    this program, is read as text, and a diagnostic says so."""
    try:
        return _parse(path, data)
    except Exception as error:
        if not errors.is_survived(error):
            raise
        facts = parse_text(path, data)
        what = f"it is read as text alone, for a defect of this program ({type(error).__name__})"
        return replace(facts, diagnostics=(*facts.diagnostics, Diagnostic("not-understood", what, 0)))


def _parse(path: str, data: bytes) -> FileFacts:
    dialect = dialect_for(path, data)
    if dialect:
        return parse_source(data, load_grammar(dialect))
    if is_component(path):
        secrets = find_secrets(data)
        facts = _parse_component(masked(data, secrets))
        return replace(facts, secrets=disjoint((*secrets, *facts.secrets)))
    notebook = read_notebook(data) if is_notebook(path) else None
    if notebook is not None:
        # What JSON escapes may hide is found in the cells, what it quotes in the file.
        secrets = disjoint((*find_secrets(data), *find_secrets(notebook.view)))
        hidden = notebook._replace(view=masked(notebook.view, secrets), code=masked(notebook.code, secrets))
        facts = _parse_notebook(hidden)
        return replace(facts, secrets=disjoint((*secrets, *facts.secrets)))
    script = script_dialect(data) if prose_kind(path) == "plain" and may_be_script(path) else ""
    if script:
        return parse_source(data, load_grammar(script))
    facts = parse_text(path, data)
    if is_notebook(path):
        note = Diagnostic("not-a-notebook", "it is not the JSON of a notebook; its words are searched as they stand", 0)
        return replace(facts, diagnostics=(*facts.diagnostics, note))
    return facts


@lru_cache(maxsize=1 << 17)  # a process that stays asks for the files of a repository again and again
def reader_of(path: str) -> str:
    """What reads the file: dialect and grammar version, or the kind of text. Part of the key of cached facts."""
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
    return f"text:{kind}:{name}"


@cache
def _all_grammars() -> str:
    """One version for all grammars: what is in such a file is not told by its name."""
    versions = [grammar_version(dialect) for dialect in sorted(load_settings())]
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()[:16]


def _dialect_named(language: str) -> str:
    """The dialect of files that end like this, or of this name; "" if no grammar reads them."""
    name = language.removeprefix(".")
    return extensions().get(f".{name}", name if name in load_settings() else "")


def _parse_component(data: bytes) -> FileFacts:
    component = read_component(data)
    dialect = _dialect_named(component.language)
    if not dialect:  # a language that no grammar reads: the component is there all the same
        component, dialect = without_scripts(component), _dialect_named(DEFAULT_LANGUAGE)
    facts = with_component(parse_source(component.view, load_grammar(dialect)), component)
    # The words of the file, not those of the view that the grammar read.
    return replace(facts, words=spaced(valid_utf8(data)))


def _parse_notebook(notebook: Notebook) -> FileFacts:
    lines = notebook.view.decode("utf-8").split("\n")
    headings: list[Heading] = []
    for first, last in notebook.markdown:
        found = markdown_headings(lines[first : last + 1])
        headings += [h._replace(row=h.row + first) for h in found]
        if not found:
            title = next((t for t in (" ".join(line.split()) for line in lines[first : last + 1]) if t), "")
            headings.append(Heading(first, _LOWEST, title[:_LONGEST_TITLE]))
    passages = tuple(_without_end(p, lines) for p in sections(lines, headings))
    dialect = _dialect_named(notebook.language)
    if dialect:
        facts = parse_source(notebook.code, load_grammar(dialect))
    else:
        facts = FileFacts(language="", n_rows=len(lines), n_bytes=len(notebook.view))
    doc = passages[0].title if passages else facts.doc
    return replace(facts, passages=passages, doc=doc, words=spaced(valid_utf8(notebook.view)))


def _without_end(passage: Passage, lines: list[str]) -> Passage:
    """The passage without the blank lines at its end, which are what the file says around cells."""
    end = passage.end_row
    while end > passage.start_row and not lines[end].strip():
        end -= 1
    blank = sum(len(line) + 1 for line in lines[end + 1 : passage.end_row + 1])
    return passage._replace(end_row=end, end_byte=max(passage.end_byte - blank, passage.start_byte))
