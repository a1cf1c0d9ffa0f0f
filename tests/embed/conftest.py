"""Small repositories, and the fake embedders installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from causalist.embed import get_embedder
from tests.embed import fake

SHOP = {
    "people.py": "def purge_client(who):\n    del who\n\n\ndef bill(who):\n    return who\n",
    "shelf.py": "def store(thing):\n    return thing\n\n\ndef other():\n    return 1\n",
}


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    fake.shown.clear()
    fake.failing_after.clear()
    get_embedder.cache_clear()
    fake.install(tmp_path / "site", monkeypatch)
    yield
    get_embedder.cache_clear()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in SHOP.items():
        (folder / name).write_text(text)
    return folder
