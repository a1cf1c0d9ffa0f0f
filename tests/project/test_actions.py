"""The action, hooks and template for other projects: their scripts run on a change that breaks a call."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fleet.repositories import commit_files
from tests.servers.ready_process import ready

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_CART = "from shop.price import price\n\n\ndef total():\n    return price(1)\n"
_BEFORE = {"shop/price.py": "def price(item):\n    return 1\n", "shop/cart.py": _CART}
_BROKEN = {"shop/price.py": "def price(item, tax):\n    return 1 + tax\n"}
_FINE = {"shop/price.py": "def price(item):\n    return 2\n"}


def _yaml(path: str) -> Any:
    return list(yaml.safe_load_all((_ROOT / path).read_text()))


def _run(script: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a script as a runner does, with the program of this checkout and without installing it."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    for name, words in (("causalist", ready([sys.executable, "-m", "causalist"])), ("python", ["true"])):
        (tools / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (tools / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(_ROOT),
        **variables,
    }
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                          capture_output=True)  # fmt: skip


def _commits(tmp_path: Path, change: dict[str, str]) -> tuple[Path, str]:
    """Return (a repository with a change, the commit before it)."""
    folder = commit_files(tmp_path / "shop", _BEFORE)
    base = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, text=True, capture_output=True, check=True
    ).stdout.strip()
    return commit_files(folder, change), base


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "fail_on", "code"), [(_BROKEN, "breaking", 3), (_BROKEN, "", 0), (_FINE, "breaking", 0)]
)
def test_the_action_fails_on_a_broken_call(tmp_path: Path, change: dict[str, str], fail_on: str, code: int) -> None:
    (action,) = _yaml("action.yml")
    install, review = action["runs"]["steps"]
    assert install["run"].startswith("python -m pip install")
    folder, base = _commits(tmp_path, change)
    summary = tmp_path / "summary.md"
    done = _run(
        review["run"],
        folder,
        BASE=base,
        REVISION="",
        FAIL_ON=fail_on,
        SARIF="out.sarif",
        GITHUB_STEP_SUMMARY=str(summary),
    )
    # A step of a composite action fails with any code; 3 is that of --fail-on, which `test` turns into 1.
    assert (done.returncode != 0) == (code != 0), done.stderr
    results = json.loads((folder / "out.sarif").read_text())["runs"][0]["results"]
    assert bool(results) == (change is _BROKEN)
    assert "shop/price.py" in summary.read_text()
    assert ("::" in done.stdout and "shop/cart.py" in done.stdout) == (change is _BROKEN)


def test_no_input_is_pasted_into_a_script() -> None:
    """An expression in a script would run what a pull request says."""
    (action,) = _yaml("action.yml")
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    """`actionlint` reads workflows only: neither the action, nor the template, nor the script of CI."""
    shellcheck = shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not installed")
    (action,), (_, jobs) = _yaml("action.yml"), _yaml("templates/review.yml")
    action_script = "\n".join(step["run"] for step in action["runs"]["steps"])
    template_script = "\n".join(jobs["causalist-review"]["script"])
    (tmp_path / "action").write_text(f"#!/bin/bash\n{action_script}\n")
    (tmp_path / "template").write_text(f"#!/bin/sh\n{template_script}\n")
    files = [tmp_path / "action", tmp_path / "template", _ROOT / ".ci" / "run"]
    done = subprocess.run([shellcheck, *map(str, files)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_hook_refuses_what_is_staged_and_broken(tmp_path: Path) -> None:
    (hooks,) = _yaml(".pre-commit-hooks.yaml")
    entries = {each["id"]: each["entry"] for each in hooks}
    folder = commit_files(tmp_path / "shop", _BEFORE)
    (folder / "shop/price.py").write_text(_BROKEN["shop/price.py"])
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    assert _run(entries["causalist-review"], folder).returncode == 3
    (folder / "shop/price.py").write_text(_FINE["shop/price.py"])
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    assert _run(entries["causalist-review"], folder).returncode == 0
    assert _run(entries["causalist-lint"], folder).returncode in (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("change", "fails"), [(_BROKEN, True), (_FINE, False)])
def test_the_template_reviews_a_merge_request(tmp_path: Path, change: dict[str, str], fails: bool) -> None:
    spec, jobs = _yaml("templates/review.yml")
    assert set(spec["spec"]["inputs"]) == {"stage", "fail-on"}
    folder, base = _commits(tmp_path, change)
    script = "\n".join(jobs["causalist-review"]["script"])
    done = _run(script, folder, CI_MERGE_REQUEST_DIFF_BASE_SHA=base, FAIL_ON="breaking")
    assert (done.returncode != 0) == fails, done.stderr
    assert "shop/price.py" in (folder / "causalist.md").read_text()
