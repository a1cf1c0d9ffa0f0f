"""Nothing depends on hash seeds or on the number of processes."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from causalist.index import collect
from causalist.model.answer import AskOptions, Level
from causalist.pipeline.repository import Repository
from tests.indexes import digest
from tests.pipeline.sample import QUESTIONS, ROOT, in_memory, plain_answer
from tests.trials import part_of

pytestmark = pytest.mark.slow

_HASH_SEEDS = part_of(("0", "1", "2", "42", "4294967295"), 3, 5)


def digests(root: Path) -> list[str]:
    """Of the index and all answers, once parsed by one process and once by two."""
    collect._PARALLEL_THRESHOLD_BYTES, collect._CHUNK_BYTES = 0, 10_000
    return [line for processes in (1, 2) for line in _of(in_memory(root, processes))]


def _of(repository: Repository) -> list[str]:
    lines = [digest(repository.index)]
    for question in QUESTIONS:
        for level in Level:
            answer = plain_answer(repository.ask(question, AskOptions(level=level)))
            lines.append(hashlib.sha256(json.dumps(answer, ensure_ascii=True).encode()).hexdigest())
    return lines


_CODE = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.pipeline.test_determinism import digests
print(json.dumps(digests(Path(sys.argv[2]))))
"""


def test_hash_seeds_and_processes_do_not_show(sample: Repository) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _CODE, str(ROOT), str(sample.root)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for seed in _HASH_SEEDS
    ]
    outputs = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * len(runs)
    found = [json.loads(output) for output in outputs]
    here = _of(sample)
    assert len(here) == 1 + 2 * len(QUESTIONS)
    for lines in found:
        assert lines == here + here
