"""docs/configuration.md lists the settings that there are, and what it shows works."""

import tomllib
from pathlib import Path

from causalist.settings import read_settings
from tests.docs import settings_page
from tests.docs.blocks import blocks_of
from tests.docs.markdown import fenced_blocks


def test_the_table_is_up_to_date() -> None:
    page = settings_page.PAGE.read_text(encoding="utf-8")
    assert blocks_of(page, "generated") == settings_page.contents(), "run `python -m tests.docs.settings_page --write`"


def test_both_examples_say_the_same(tmp_path: Path) -> None:
    page = settings_page.PAGE.read_text(encoding="utf-8")
    own, shared = [block.text for block in fenced_blocks(page) if block.language == "toml"]
    assert tomllib.loads(own) == tomllib.loads(shared)["tool"]["causalist"]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "causalist.toml").write_text(own)
    (tmp_path / "b" / "pyproject.toml").write_text(shared)
    assert read_settings(tmp_path / "a").values == read_settings(tmp_path / "b").values != {}
