"""docs/security.md names a test for each answer to an attack, and these tests are there."""

import re

from tests.docs.blocks import DOCS, ROOT


def test_the_tests_that_are_named_are_there() -> None:
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)((?:::\w+)*)`", page)
    assert len(named) > 20
    for path, names in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        for name in names.split("::")[1:]:
            assert re.search(rf"^ *(?:async )?(?:def|class) {name}\b", source, re.M), f"{path}{names}"


def test_every_row_has_one() -> None:
    rows = [line for line in (DOCS / "security.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert [row for row in rows if "tests/" not in row and not row.startswith("| attack |")] == []
