"""The sample repository of the tests, and answers as plain data."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

from causalist.index.build import build_index
from causalist.index.history import read_commits
from causalist.index.options import IndexOptions
from causalist.model.answer import Answer
from causalist.model.graph import Edge
from causalist.model.index import Commits
from causalist.pipeline.repository import Repository
from causalist.source import read_file, scan_folder
from causalist.source.git import work_tree_top
from causalist.store import FactsCache

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_repos"
SAMPLE = SAMPLES / "taskboard-api"
NAME = SAMPLE.name

WHERE_AUTH = "where does user authentication happen?"
QUESTIONS = (
    WHERE_AUTH,
    "how does a task change reach a webhook receiver?",
    "what limits how many boards a plan may have?",
    "where are failed deliveries retried?",
)
CHAIN = ("src/middleware/auth-middleware.ts", "src/security/jwt-verifier.ts", "src/security/crypto-utils.ts")
HUBS = ("src/main.ts", "src/index.ts", "src/types.ts")


def copy_sample(folder: Path, name: str = NAME) -> Path:
    """A copy outside of git, under the same name: what is in packs must not depend on the checkout."""
    target = folder / name
    ignored = shutil.ignore_patterns(".causalist", "node_modules", "dist", ".git", "__pycache__")
    shutil.copytree(SAMPLES / name, target, ignore=ignored)
    return target


def in_memory(root: Path, processes: int = 1) -> Repository:
    """The repository of a folder, built afresh; nothing is written."""
    submodules = work_tree_top(root) is None  # as at first, without a wish
    scan = scan_folder(root, submodules=submodules)
    options = IndexOptions(processes=processes, submodules=submodules)
    commits = read_commits(root, scan.commit, Commits())
    index = build_index(scan, lambda e: read_file(root, e), FactsCache(), None, 0, options, lambda: commits)
    return Repository(root, index, lambda entry: read_file(root, entry))


def edges_of(repository: Repository) -> list[Edge]:
    """The canonical export of everything."""
    return list(repository.edges(everything=True))


def plain_answer(answer: Answer) -> dict[str, Any]:
    """Everything in an answer but times and where the folder stands."""
    data = dataclasses.asdict(answer)
    del data["timings_ms"], data["diagnostics"]
    del data["repository"]["root"]
    return data
