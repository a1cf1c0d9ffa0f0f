"""An index over unsaved contents equals one of a folder in which they are saved."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from causalist.index.build import build_overlaid_index
from causalist.pipeline.repository import Repository
from causalist.store import facts_path
from tests.cli.commands import CHECKOUT
from tests.indexes import differences, without_stamps

EDITS: dict[str, dict[str, str]] = {
    "a body": {"src/security/jwt-verifier.ts": "\nfunction added() {\n  return verifyToken('', settings);\n}\n"},
    "what others see": {"src/security/jwt-verifier.ts": "\nexport function addedForOthers() {\n  return 1;\n}\n"},
    "two files": {
        "src/security/jwt-verifier.ts": "\nexport function addedForOthers() {}\n",
        "src/middleware/auth-middleware.ts": "\nexport const addedToo = () => addedForOthers();\n",
    },
    "prose": {"README.md": "\n## Added\n\nA section on `verifyToken`.\n"},
    "nothing": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(EDITS))
def test_equals_the_index_of_saved_files(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "taskboard-api"
    shutil.copytree(CHECKOUT / "sample_repos" / "taskboard-api", folder, ignore=shutil.ignore_patterns(".causalist"))
    repository = Repository.open(folder, exact_root=True)
    facts = facts_path().read_bytes()
    contents = {path: (folder / path).read_bytes() + text.encode() for path, text in EDITS[name].items()}
    overlaid = build_overlaid_index(folder, repository.index, contents, repository.settings.limits())
    assert facts_path().read_bytes() == facts
    for path, data in contents.items():
        (folder / path).write_bytes(data)
    saved = Repository.open(folder, exact_root=True).index
    assert differences(without_stamps(overlaid), without_stamps(saved)) == []
    assert bool(contents) == (len(overlaid.graph.nodes) > len(repository.index.graph.nodes))


def test_what_the_index_does_not_have_stays_out(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): pass\n")
    repository = Repository.open(tmp_path, exact_root=True)
    overlaid = build_overlaid_index(
        tmp_path, repository.index, {"b.py": b"def g(): pass\n"}, repository.settings.limits()
    )
    assert [*overlaid.graph.nodes.ids] == [*repository.index.graph.nodes.ids]
    emptied = build_overlaid_index(
        tmp_path, repository.index, {"a.py": b"def h(): pass\n"}, repository.settings.limits()
    )
    assert "a.py::h" in [*emptied.graph.nodes.ids] and not np.isin("a.py::f", [*emptied.graph.nodes.ids])
