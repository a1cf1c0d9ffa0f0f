"""What changed together with a file is told when it is asked for, and is no part of the graph."""

from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from tests.pasts import Past


def test_what_changes_together_is_shown_when_asked(tmp_path: Path) -> None:
    past = Past(tmp_path / "project")
    past.commit("begin", {"app.py": "x = 1\n", "store.py": "y = 1\n", "CHANGES.md": "", ".gitignore": ".causalist\n"})
    past.commit("One", {"store.py": "y = 2\n"}, time=10)
    past.commit("All", {"app.py": "x = 2\n", "store.py": "y = 3\n", "CHANGES.md": "- all\n"}, time=30)
    repository = Repository.open(past.path)
    (group,) = repository.neighbors("store.py::y", kinds=["co_changes"])
    assert group.ends == (("logic", "leaf"),)
    # One commit of three files: 1 / 2. The file itself has two, so that the strength is 0.5 / (2 + 2), nearly: twenty
    # seconds make a commit older. A page that changed as well is not shown.
    assert [(e.source, e.target, e.kind, e.rule, e.n) for e in group.edges] == [
        ("store.py", "app.py", "co_changes", "history", 1)
    ]
    assert group.edges[0].confidence == pytest.approx(0.125, rel=1e-5)
    assert "co_changes" not in {each.kind for each in repository.neighbors("store.py")}
    assert "co_changes" not in {edge.kind for edge in repository.edges(everything=True)}


def test_without_history_nothing_changes_together(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import os\n\nx = os.sep\n")
    repository = Repository.open(tmp_path)
    assert repository.neighbors("app.py", kinds=["co_changes"]) == ()
    assert repository.neighbors("external:os", kinds=["co_changes"]) == ()
