"""Reviews of past commits: random edits with a fixed seed, on a sample repository in four languages."""

import json
import random
import shutil
from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from causalist.serialize.lookup_documents import review_document
from tests import edits
from tests.cli.commands import CHECKOUT

pytestmark = pytest.mark.slow

_N_COMMITS = 8
_EDITS = (
    edits.add_function,
    edits.edit_body,
    edits.rename,
    edits.delete,
    edits.remove_lines,
    edits.change_return,
    edits.spoil,
)


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("past") / "sample"
    shutil.copytree(CHECKOUT / "sample_repos" / "taskboard-api", folder, ignore=shutil.ignore_patterns(".causalist"))
    edits.begin(folder)
    chance = random.Random(2026)
    for _ in range(_N_COMMITS):
        for edit in chance.sample(_EDITS, 3):
            edit(folder, chance)
        edits.commit(folder, chance)
    return folder


@pytest.mark.parametrize("back", range(_N_COMMITS))
def test_a_past_commit(replayed: Path, back: int) -> None:
    """All files that git names are listed, ids are those of the index, and a broken call stands where it is said."""
    review, there = Repository.review_revision(replayed, f"HEAD~{back}")
    changed = edits.git(replayed, "diff", "--no-renames", "--name-only", f"HEAD~{back + 1}", f"HEAD~{back}").split("\n")
    listed = {path for each in review.files for path in (each.path, each.before) if path}
    assert {path for path in changed if path} == listed
    ids = there.index.graph.nodes.ids
    for each in review.definitions:
        assert each.kind == "removed" or ids.position(each.node) >= 0, each.node
    for call in review.broken:
        data = there.read_bytes(call.path)
        assert data is not None
        names = call.target.rpartition("::")[2].split(".")[-2:]  # a constructor is called by its class
        assert any(name.encode() in data.split(b"\n")[call.line - 1] for name in names)
    again, _ = Repository.review_revision(replayed, f"HEAD~{back}")
    assert json.dumps(review_document(review, 100, 100)) == json.dumps(review_document(again, 100, 100))
