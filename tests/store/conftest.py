"""A small real index, built once."""

from pathlib import Path

import pytest

from causalist.index.build import build_index
from causalist.index.options import IndexOptions
from causalist.model.index import Index
from causalist.source import read_file, scan_folder
from causalist.store import FactsCache, write_index

_FILES = {"a.py": "import b\n\n\ndef f():\n    b.g()\n", "b.py": "def g():\n    pass\n", "empty.py": ""}


@pytest.fixture(scope="session")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    root = tmp_path_factory.mktemp("small")
    for name, text in _FILES.items():
        (root / name).write_text(text)
    scan = scan_folder(root)
    return build_index(scan, lambda e: read_file(root, e), FactsCache(), None, 0, IndexOptions(processes=1))


@pytest.fixture(scope="session")
def small_bytes(small_index: Index, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of the small index."""
    path = tmp_path_factory.mktemp("written") / "index.bin"
    write_index(path, small_index)
    return path.read_bytes()


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    return tmp_path / "index.bin"
