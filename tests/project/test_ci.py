"""`.ci/run` is itself part of the project: it takes its commands from the README."""

import os
import re
import subprocess
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_RUN = _ROOT / ".ci" / "run"


def _readme(tmp_path: Path, text: str) -> Path:
    (tmp_path / "checkout").mkdir(exist_ok=True)
    (tmp_path / "checkout" / "README.md").write_text(text)
    return tmp_path


def _block(work: Path, number: int) -> str:
    """What the script's own function takes from a README."""
    found = re.search(r"^block\(\) \{\n.*?^\}\n", _RUN.read_text(), re.DOTALL | re.MULTILINE)
    assert found
    command = f"work={work}\n{found[0]}\nblock {number}"
    return subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True).stdout


def test_it_can_be_run() -> None:
    assert os.access(_RUN, os.X_OK)
    assert subprocess.run(["bash", "-n", str(_RUN)]).returncode == 0


def test_blocks_are_counted_among_bash_blocks_only(tmp_path: Path) -> None:
    work = _readme(
        tmp_path,
        "# T\n```text\n$ no\n```\n\n```bash\nfirst one\nfirst two\n```\n```python\nimport no\n```\n"
        "```\nno\n```\n```bash\nsecond\n```\ntext\n```bash\nthird\n```\n",
    )
    assert [_block(work, n) for n in (1, 2, 3, 4)] == ["first one\nfirst two\n", "second\n", "third\n", ""]


def test_the_readmes_second_block_runs_the_tests() -> None:
    blocks = re.findall(r"^```bash\n(.*?)^```", (_ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 2
    assert "causalist ask" in blocks[0]
    assert "-m pytest" in blocks[1] and ".[dev]" in blocks[1]
