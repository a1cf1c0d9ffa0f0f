"""What moving or renaming code must not change: the version of an index, answer ids, and what commands print.

`golden_outputs.json` has a digest for each; `pytest --update-golden` rewrites it. A commit that changes a digest says
why in its message.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from causalist.index.freshness import index_version
from causalist.model.answer import AskOptions, Level
from tests.cli.commands import invoke
from tests.pipeline.sample import QUESTIONS, WHERE_AUTH, copy_sample, in_memory

_GOLDEN = Path(__file__).with_name("golden_outputs.json")
_COMMANDS: dict[str, tuple[str, ...]] = {
    "ask as JSON": ("ask", WHERE_AUTH, "--json"),
    "ask as text": ("ask", WHERE_AUTH),
    "ask for files": ("ask", WHERE_AUTH, "--level", "file", "--json"),
    "ask for a literal": ("ask", '"unknown-key"', "--json"),
    "callers": ("callers", "TaskService.updateTask", "--json"),
    "impact": ("impact", "TaskService.updateTask", "--json"),
    "map": ("map",),
    "lint": ("lint", "--json"),
    "layers": ("layers", "--json"),
    "graph export": ("graph", "export", "--format", "jsonl", "--all"),
    "find": ("find", "token", "--json"),
    "tests": ("tests", "verifyToken", "--json"),
    "verify": ("verify", "authenticateUser", "verifyToken", "--json"),
    "path": ("path", "TaskService.updateTask", "WebhookDispatcher.attempt", "--json"),
}


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_times(each) for key, each in value.items() if key not in ("answer_id", "timings_ms", "root")
        }
    if isinstance(value, float):
        return float(f"{value:.9g}")  # the last bits depend on the processor
    return [_without_times(each) for each in value] if isinstance(value, list) else value


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = copy_sample(tmp_path_factory.mktemp("outputs"))
    found = {"index version": index_version()}
    repository = in_memory(root)
    for query, options in ((QUESTIONS[0], AskOptions()), (QUESTIONS[1], AskOptions(level=Level.FILE, top_k=8))):
        found[f"answer id of: {query}"] = repository.ask(query, options).answer_id
    for name, arguments in _COMMANDS.items():
        done = invoke(*arguments, "--repo", str(root))
        assert done.stdout, (name, done.stderr)
        is_document = "--json" in arguments
        text = json.dumps(_without_times(json.loads(done.stdout)), indent=1) if is_document else done.stdout
        found[name] = f"exit {done.code}, {len(text.splitlines())} lines, {_digest(text.replace(str(root), ''))}"
    return found


@pytest.mark.slow
def test_outputs_are_unchanged(outputs: dict[str, str], update_golden: bool) -> None:
    if update_golden:
        _GOLDEN.write_text(json.dumps(outputs, indent=1) + "\n", encoding="utf-8")
    assert outputs == json.loads(_GOLDEN.read_text(encoding="utf-8"))
