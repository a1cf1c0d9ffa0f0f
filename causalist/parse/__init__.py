"""Parse one file with its grammar: bytes -> facts and diagnostics."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.parse.cleaned_text import MASK, mask_range, mask_secrets, view_of, with_line_feeds
    from causalist.parse.grammar_digest import all_grammars
    from causalist.parse.languages import (
        claimants,
        companions_of_missing,
        dialect_of,
        grammar_version,
        load_grammar,
        load_language,
        load_settings,
        lone_missing_languages,
        missing_language_of,
    )
    from causalist.parse.parser import parse_file, parse_source, parse_text
    from causalist.parse.prose import prose_kind
    from causalist.parse.secret_scan import find_candidate_texts, find_secrets
    from causalist.parse.syntax_tree import may_be_code, parse_syntax, parse_tree, reader_of

__all__ = [
    "MASK",
    "all_grammars",
    "claimants",
    "companions_of_missing",
    "dialect_of",
    "find_candidate_texts",
    "find_secrets",
    "grammar_version",
    "load_grammar",
    "load_language",
    "load_settings",
    "lone_missing_languages",
    "mask_range",
    "mask_secrets",
    "may_be_code",
    "missing_language_of",
    "parse_file",
    "parse_source",
    "parse_syntax",
    "parse_text",
    "parse_tree",
    "prose_kind",
    "reader_of",
    "view_of",
    "with_line_feeds",
]

__getattr__ = exports(
    __name__,
    {
        "parser": "parse_file parse_source parse_text",
        "syntax_tree": "may_be_code parse_syntax parse_tree reader_of",
        "grammar_digest": "all_grammars",
        "languages": "claimants companions_of_missing dialect_of grammar_version load_grammar load_language "
        "load_settings lone_missing_languages missing_language_of",
        "cleaned_text": "view_of with_line_feeds MASK mask_range mask_secrets",
        "prose": "prose_kind",
        "secret_scan": "find_candidate_texts find_secrets",
    },
)
