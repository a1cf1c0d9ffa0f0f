"""Same input, same bytes: whatever the hash seed, and however many processes parse."""

import re
import shutil
from pathlib import Path

import pytest

from causalist.index.collect import _PARALLEL_THRESHOLD_BYTES
from tests.cli.commands import run, write_all
from tests.trials import count_of

pytestmark = pytest.mark.slow

# More bytes than `indexing` wants to see before it starts processes.
N_FILES, N_FUNCTIONS = 16, 50
RULER = f"# {'=' * 100}\n" * 20


def answer(folder: Path, question: str, *, seed: int, processes: int | None = None) -> tuple[str, str]:
    """(`ask --json` without its timings, all edges) from a new index."""
    shutil.rmtree(folder / ".causalist", ignore_errors=True)
    environment = {"PYTHONHASHSEED": str(seed)}
    if processes is not None:
        assert run("index", "--repo", ".", "--processes", str(processes), cwd=folder, **environment).code == 0
    done = run("ask", question, "--repo", ".", "--json", cwd=folder, **environment)
    assert done.code == 0, done.stderr
    document, n = re.subn(r'"timings_ms": \{[^}]*\}', "", done.stdout)
    assert n == 1
    return document, run(
        "graph", "export", "--format", "jsonl", "--all", "--repo", ".", cwd=folder, **environment
    ).stdout


def test_hash_seeds(small: Path) -> None:
    first = answer(small, "price of an invoice", seed=0)
    for seed in range(1, 1 + count_of(1, 4)):
        assert answer(small, "price of an invoice", seed=seed) == first


@pytest.mark.parametrize("form", ["node-link", "graphml", "dot", "mermaid"])
def test_hash_seeds_of_formats(form: str, small: Path) -> None:
    texts = {
        run("graph", "export", "--format", form, "--all", "--repo", ".", cwd=small, PYTHONHASHSEED=str(seed)).stdout
        for seed in (0, 1)
    }
    assert len(texts) == 1


def test_processes(tmp_path: Path) -> None:
    function = RULER + "def price_{0}_{1}(item):\n    return price_{0}_{2}(item)\n\n\n"
    write_all(
        tmp_path,
        {
            f"m{i}.py": "".join(function.format(i, j, (j + 1) % N_FUNCTIONS) for j in range(N_FUNCTIONS))
            for i in range(N_FILES)
        },
    )
    assert sum(p.stat().st_size for p in tmp_path.glob("*.py")) > _PARALLEL_THRESHOLD_BYTES
    one, two = (answer(tmp_path, "price_3_7", seed=n, processes=n) for n in (1, 2))
    assert one == two
