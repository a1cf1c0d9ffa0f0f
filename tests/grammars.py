"""Folders of grammars that stand in the place of `grammars/` for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from causalist.parse import languages, syntax_tree


@contextmanager
def grammars_at(folder: Path) -> Iterator[None]:
    """Languages are those of `folder` and no others."""
    cached = (
        languages.load_settings,
        languages.load_language,
        languages._list_dialects,
        languages.extensions,
        languages.claims,
        languages.missing_languages,
        languages.companions_of_missing,
        languages.lone_missing_languages,
        languages._only,
        languages.load_grammar,
        languages.load_parser,
        languages.grammar_version,
        syntax_tree.reader_of,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(languages, "grammars_folder", lambda: folder)
        for function in cached:
            function.cache_clear()
        try:
            yield
        finally:  # a test that fails must not hand its grammars to the next
            for function in cached:
                function.cache_clear()
