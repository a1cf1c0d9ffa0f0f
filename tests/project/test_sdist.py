"""The source distribution holds everything that is tracked: the tests can be run from it."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


def tracked() -> set[str]:
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this is no checkout")
    return {name for name in done.stdout.split("\0") if name and (_ROOT / name).is_file()}


@pytest.mark.slow
def test_everything_that_is_tracked_is_in_it(tmp_path: Path) -> None:
    names = tracked()
    source = tmp_path / "source"
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_ROOT / name, source / name)
    # Caches and indexes of somebody who works in the checkout have to stay out.
    for name in ("sample_repos/taskboard-api/.causalist/index", "tests/__pycache__/a.cpython-311.pyc"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(source)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        found = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    of_the_build = {name for name in found if name.partition("/")[0] in ("PKG-INFO", "setup.cfg", "causalist.egg-info")}
    assert found - of_the_build == names
