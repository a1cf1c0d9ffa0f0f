"""What is said in several places about versions, steps and forms is the same everywhere."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

_ROOT = Path(__file__).parents[2]
_WORKFLOWS = sorted((_ROOT / ".github" / "workflows").glob("*.yml"))
_FORMS = sorted((_ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def load(path: Path) -> dict[Any, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def versions_of_classifiers() -> list[str]:
    found = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in _PROJECT["project"]["classifiers"]
    ]
    return [match[1] for match in found if match]


def jobs() -> list[Any]:
    return [
        pytest.param(job, id=f"{path.stem}.{name}") for path in _WORKFLOWS for name, job in load(path)["jobs"].items()
    ]


def test_the_workflows_are_those() -> None:
    assert [path.stem for path in _WORKFLOWS] == ["ci", "docs", "release", "security"]


@pytest.mark.parametrize("name", ["test", "smoke"])
def test_every_supported_version_is_tested(name: str) -> None:
    matrix = load(_ROOT / ".github/workflows/ci.yml")["jobs"][name]["strategy"]["matrix"]
    assert matrix["python-version"] == versions_of_classifiers()
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_the_oldest_version_is_the_same_everywhere() -> None:
    oldest = versions_of_classifiers()[0]
    assert _PROJECT["project"]["requires-python"] == f">={oldest}"
    assert _PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert _PROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    for page in ("README.md", "CONTRIBUTING.md"):
        assert f"Python {oldest} or later" in (_ROOT / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("path", _WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_a_commit(path: Path) -> None:
    """A tag can be moved to other code. The comment is what dependabot reads and renews."""
    used = [line.partition("uses:")[2].strip() for line in path.read_text().splitlines() if "uses:" in line]
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


def test_an_action_has_one_version() -> None:
    used = re.findall(r"uses: (\S+)@(\S+)", "".join(path.read_text() for path in _WORKFLOWS))
    assert len(set(used)) == len({name for name, _ in used})


@pytest.mark.parametrize("job", jobs())
def test_no_token_is_left_in_a_checkout(job: dict[str, Any]) -> None:
    checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("job", jobs())
def test_every_job_ends(job: dict[str, Any]) -> None:
    assert 0 < job["timeout-minutes"] <= 60


def test_only_what_publishes_has_rights_to_write() -> None:
    rights = {}
    for path in _WORKFLOWS:
        workflow = load(path)
        assert workflow["permissions"] == {"contents": "read"}, path.name
        rights |= {
            (path.stem, name): job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job
        }
    assert rights == {
        ("release", "publish"): {"id-token": "write"},
        ("release", "announce"): {"contents": "write", "id-token": "write", "attestations": "write"},
        ("docs", "deploy"): {"pages": "write", "id-token": "write"},
    }


@pytest.mark.parametrize(
    ("kind", "reason", "code"),
    [("commit", "", 1), ("tag", "unsigned", 1), ("tag", "unknown_key", 1), ("tag", "valid", 0)],
)
def test_a_tag_without_a_valid_signature_releases_nothing(kind: str, reason: str, code: int, tmp_path: Path) -> None:
    """The step runs with a `gh` that answers as GitHub does."""
    steps = load(_ROOT / ".github/workflows/release.yml")["jobs"]["build"]["steps"]
    step = next(step for step in steps if step.get("name", "").startswith("The tag is signed"))
    answers = {".object.type": kind, ".object.sha": "c0ffee", ".verification.reason": reason}
    cases = "".join(f'{field}) echo "{answer}" ;;\n' for field, answer in answers.items())
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\ncase "$4" in\n{cases}*) exit 9 ;;\nesac\n')
    gh.chmod(0o755)
    given = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "a/b", "GITHUB_REF_NAME": "v1.2.3"}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env=given, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert bool(code) == ("the signature of v1.2.3: " in done.stdout)
    assert (reason if kind == "tag" and code else "") in done.stdout


def test_ci_runs_the_checks_of_the_script() -> None:
    """A check of .ci/run that the workflows lack would be seen only by those who run it at home."""
    script = (_ROOT / ".ci" / "run").read_text(encoding="utf-8")
    steps = [step.get("run", "") for path in _WORKFLOWS for job in load(path)["jobs"].values() for step in job["steps"]]
    checks = ("ruff", "mypy", "lint-imports", ".ci/check_commit_subject.py")
    for check in checks:
        assert check in script, check
        assert any(check in step for step in steps), check
    assert any(step.strip() == ".ci/run" for step in steps)


def test_recipes_are_those_that_contributing_names() -> None:
    recipes = re.findall(r"^([a-z-]+)(?: [^:]*)?:$", (_ROOT / "Justfile").read_text(encoding="utf-8"), re.M)
    named = re.findall(r"^\| `just ([a-z-]+)` \|", (_ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M)
    assert named == [recipe for recipe in recipes if recipe != "default"]


def test_the_recipe_for_all_tests_is_the_readmes_command() -> None:
    command = "-m pytest -n 3 --dist loadfile"
    assert f".venv/bin/python {command}\n" in (_ROOT / "README.md").read_text(encoding="utf-8")
    recipes = (_ROOT / "Justfile").read_text(encoding="utf-8")
    assert f"\n    {{{{ python }}}} {command} {{{{ ARGUMENTS }}}}\n" in recipes
    assert f'\n    {{{{ python }}}} {command} -m "not slow" {{{{ ARGUMENTS }}}}\n' in recipes


def test_the_areas_of_contributing_have_the_form_that_is_checked() -> None:
    text = (_ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.search(r"The area is one of ([^.]+)\.", text)
    assert listed
    areas = re.split(r",\s+", listed[1])
    assert len(areas) > 20
    assert all(re.fullmatch(r"[a-z][a-z-]*", area) for area in areas)


@pytest.mark.parametrize("path", [path for path in _FORMS if path.name != "config.yml"], ids=lambda path: path.stem)
def test_forms_are_what_github_takes(path: Path) -> None:
    form = load(path)
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "body", "labels", "title"}
    fields = [part["id"] for part in form["body"]]
    assert len(fields) == len(set(fields))
    assert {part["type"] for part in form["body"]} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert all(part["attributes"]["label"] for part in form["body"] if part["type"] != "markdown")


def test_updates_cover_what_is_declared() -> None:
    updates = load(_ROOT / ".github" / "dependabot.yml")["updates"]
    found = {(each["package-ecosystem"], each["directory"]) for each in updates}
    assert found == {("pip", "/"), ("github-actions", "/"), ("npm", "/docs/editors/vscode")}
    assert (_ROOT / "docs/editors/vscode/package.json").is_file()
    # The subjects that it writes have the form of all others.
    assert {each["commit-message"]["prefix"] for each in updates} == {"build"}


def test_hooks_need_no_network() -> None:
    hooks = load(_ROOT / ".pre-commit-config.yaml")
    assert [each["repo"] for each in hooks["repos"]] == ["local"]
    assert {hook["language"] for hook in hooks["repos"][0]["hooks"]} == {"system"}


def test_a_hook_refuses_a_subject(tmp_path: Path) -> None:
    """git calls pre-commit, and it calls the script."""
    if not (_ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    scripts = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": scripts + os.pathsep + os.environ["PATH"], "PRE_COMMIT_HOME": str(tmp_path)}
    message = tmp_path / "message"
    message.write_text("Say more\n")
    command = [
        "pre-commit",
        "run",
        "commit-subject",
        "--hook-stage",
        "commit-msg",
        "--commit-msg-filename",
        str(message),
    ]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert "area: effect" in done.stdout, done.stdout + done.stderr
