"""Documentation that mentions code: after an edit of either, a refreshed graph is the one that is built afresh."""

from pathlib import Path

import pytest

from causalist.index import graph_refresh
from causalist.pipeline.repository import Repository
from tests.edits import begin
from tests.indexes import differences, without_stamps
from tests.pipeline.sample import in_memory

AUTH = "class Session:\n    def verify_key(self):\n        return 1\n\n\ndef open_it():\n    return Session()\n"
GUIDE = "# Guide\n\nAsk `Session.verify_key`, then `open_it` and `close_it`.\n"


def mentioned(repository: Repository) -> list[tuple[str, str]]:
    return sorted((edge.source, edge.target) for edge in repository.edges(kinds=["mentions"], everything=True))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of which a refresh follows names, however much of it they touch."""
    monkeypatch.setattr(graph_refresh, "_MAX_AFFECTED_SHARE", 1.0)
    (tmp_path / "docs").mkdir()
    (tmp_path / "auth.py").write_text(AUTH, "utf-8")
    (tmp_path / "store.py").write_text("def drop():\n    pass\n", "utf-8")
    (tmp_path / "docs" / "guide.md").write_text(GUIDE, "utf-8")
    (tmp_path / "docs" / "other.md").write_text("# Other\n\n`open_it`\n", "utf-8")
    begin(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        # One more of a name that is mentioned: both share it.
        ("store.py", "def drop():\n    pass\n\n\ndef open_it():\n    pass\n",
         {("docs/guide.md#guide", "auth.py::open_it"), ("docs/guide.md#guide", "store.py::open_it"),
          ("docs/other.md#other", "auth.py::open_it"), ("docs/other.md#other", "store.py::open_it")}),
        # What is mentioned goes, comes, and moves into a function.
        ("auth.py", AUTH.replace("open_it", "start_it"), {("docs/guide.md#guide", "auth.py::Session.verify_key")}),
        ("auth.py", AUTH + "\n\ndef close_it():\n    pass\n", {("docs/guide.md#guide", "auth.py::close_it")}),
        ("auth.py", AUTH.replace("class Session", "class Visit"), {("docs/guide.md#guide", "auth.py::open_it")}),
        ("auth.py", "def around():\n    def open_it():\n        pass\n", set()),
        # A body alone, and the document itself.
        ("auth.py", AUTH.replace("return 1", "return 2"), {("docs/guide.md#guide", "auth.py::Session.verify_key")}),
        ("docs/guide.md", GUIDE + "\n## More\n\n`Session`\n", {("docs/guide.md#more", "auth.py::Session")}),
        ("docs/guide.md", "# Guide\n", set()),
    ],
)  # fmt: skip
def test_refreshing_equals_building_afresh(
    root: Path, path: str, text: str, expected: set[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = mentioned(Repository.open(root))
    assert before == [
        ("docs/guide.md#guide", "auth.py::Session.verify_key"),
        ("docs/guide.md#guide", "auth.py::open_it"),
        ("docs/other.md#other", "auth.py::open_it"),
    ]
    (root / path).write_text(text, "utf-8")
    linked_anew = []
    original = graph_refresh.relink
    monkeypatch.setattr(graph_refresh, "relink", lambda *given: linked_anew.append(1) or original(*given))
    refreshed, rebuilt = Repository.open(root), in_memory(root)
    assert linked_anew, "everything was linked, so that nothing was compared"
    assert differences(without_stamps(refreshed.index), without_stamps(rebuilt.index)) == []
    assert expected <= set(mentioned(refreshed))
    if not expected:
        assert not any(source == path or target.startswith(path) for source, target in mentioned(refreshed))
