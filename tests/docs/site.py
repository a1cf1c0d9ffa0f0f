"""The settings of the documentation site, and the hook that adds pages to it."""

import importlib.util
from types import ModuleType
from typing import Any

import yaml

from tests.docs.blocks import DOCS, ROOT

SETTINGS = ROOT / "mkdocs.yml"


class _Loader(yaml.SafeLoader):
    """Reads functions that the settings name as None."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


def settings() -> dict[str, Any]:
    return dict(yaml.load(SETTINGS.read_text(encoding="utf-8"), Loader=_Loader))


def listed(nav: Any) -> list[str]:
    """The entries of a list of pages, without titles and sections.

    >>> listed([{"Home": "index.md"}, {"Use": ["cli.md", {"Editors": "editors/"}]}])
    ['index.md', 'cli.md', 'editors/']
    """
    if isinstance(nav, str):
        return [nav]
    values = nav.values() if isinstance(nav, dict) else nav
    return [entry for each in values for entry in listed(each)]


def pages_of_docs() -> list[str]:
    found = [page.relative_to(DOCS) for page in DOCS.rglob("*.md")]
    return sorted(page.as_posix() for page in found if "node_modules" not in page.parts)


def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / ".ci" / "site_pages.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
