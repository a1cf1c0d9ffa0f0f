"""One file and its grammar -> facts and diagnostics."""

from causalist.parse.file import parse_source, parse_text
from causalist.parse.languages import dialect_of, grammar_version, load_grammar, load_settings
from causalist.parse.lines import with_line_feeds
from causalist.parse.prose import prose_kind
from causalist.parse.secrets import MASK, find_secrets, masked, shown
from causalist.parse.views import parse_file, reader_of, view_of

__all__ = [
    "MASK",
    "dialect_of",
    "find_secrets",
    "grammar_version",
    "load_grammar",
    "load_settings",
    "masked",
    "parse_file",
    "parse_source",
    "parse_text",
    "prose_kind",
    "reader_of",
    "shown",
    "view_of",
    "with_line_feeds",
]
