"""Pages are about the same few repositories: what one test parsed, the next one reads."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def shared_facts(no_shared_facts: None, own_cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache_folder))
