"""How much of the code is written in the language of a file."""

import pytest

from causalist.model.symbols import Role
from causalist.rank.lexical.query_expansion import language_shares
from tests.model.corpus import Def, corpus


def test_a_file_has_the_share_of_the_files_of_code_that_end_like_it() -> None:
    """Three files of code end in .py, one in .ts; the page, and the file without an end, are no code, and neither are
    templates, which define nothing."""
    paths = ["a.py", "b.py", "lib.d/c.py", "d.ts", "page.html", "Makefile", "test_a.py", "long.properties"]
    roles = {"page.html": Role.DOCS, "Makefile": Role.CONFIG, "test_a.py": Role.TEST, "long.properties": Role.CONFIG}
    files = {path: [Def("f")] for path in paths}
    c = corpus({**files, "one.html": "", "two.html": "a page"}, roles=roles)
    expected = {"a.py": 3 / 4, "b.py": 3 / 4, "lib.d/c.py": 3 / 4, "test_a.py": 3 / 4, "d.ts": 1 / 4}
    assert c.of(language_shares(c.graph)) == pytest.approx(expected)
