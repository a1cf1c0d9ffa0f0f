"""The sample repositories are real: what can be run with the standard library alone is run.

`taskboard-api` and `lookout` need Node.js and Go; `npm test` and `go vet ./... && go test ./...` there.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "sample_repos"


@pytest.mark.slow
def test_the_tests_of_the_shop_pass(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "unittest", "discover", "-s", "tests", "-t", "."],
        cwd=SAMPLES / "larder-shop",
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Ran 15 tests" in done.stderr
