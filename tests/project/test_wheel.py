"""What is installed is what is here: the wheel holds every file, and works without the checkout."""

import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_SAMPLE = _ROOT / "sample_repos" / "taskboard-api"
_IGNORED = shutil.ignore_patterns("__pycache__", ".causalist", "*.egg-info", "build", "dist")


def packages_on_disk() -> list[str]:
    found = [path.parent.relative_to(_ROOT) for path in (_ROOT / "causalist").rglob("__init__.py")]
    return sorted([".".join(path.parts) for path in found] + ["causalist.grammars"])


def files_on_disk() -> set[str]:
    """Names that the wheel must hold."""
    result = set()
    for folder, name in ((_ROOT / "causalist", "causalist"), (_ROOT / "grammars", "causalist/grammars")):
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                result.add(f"{name}/{path.relative_to(folder).as_posix()}")
    return result


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because building writes beside the sources; without isolation, hence without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("causalist", "grammars"):
        shutil.copytree(_ROOT / name, source / name, ignore=_IGNORED)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        assert (_ROOT / name).exists(), f"the wheel needs {name}"
        shutil.copy(_ROOT / name, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def unpacked(wheel: Path) -> Path:
    folder = wheel.parent / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_list_of_packages_is_complete() -> None:
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["setuptools"]["packages"] == packages_on_disk()


def test_the_wheel_holds_every_file_and_no_other(unpacked: Path) -> None:
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    inside = {name for name in found if not name.partition("/")[0].endswith(".dist-info")}
    assert inside == files_on_disk()
    assert "causalist/py.typed" in inside
    assert any(name.endswith("/licenses/LICENSE") for name in found - inside)


_USE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import causalist
from causalist.model.answer import AskOptions, Level
from causalist.parse.languages import grammars_folder
from causalist.pipeline import Repository
repository = Repository.open(sys.argv[2])
answer = repository.ask("where does user authentication happen?", AskOptions(top_k=8, level=Level.FILE))
print(json.dumps({
    "package": causalist.__file__,
    "grammars": str(grammars_folder()),
    "languages": dict(repository.index.languages),
    "notes": [note.slug for note in repository.notes],
    "results": [hit.id for hit in answer.results],
}))
"""


def _run(unpacked: Path, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Away from the checkout: `-I` takes neither the working folder nor PYTHONPATH."""
    command = [sys.executable, "-I", *arguments]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


def test_the_wheel_indexes_and_answers_without_the_checkout(unpacked: Path, tmp_path: Path) -> None:
    sample = tmp_path / _SAMPLE.name
    shutil.copytree(_SAMPLE, sample, ignore=_IGNORED)
    done = _run(unpacked, tmp_path, "-c", _USE, str(unpacked), str(sample))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert Path(told["package"]).is_relative_to(unpacked)
    assert Path(told["grammars"]) == unpacked / "causalist" / "grammars"
    assert told["languages"]["typescript"] > 30
    assert told["notes"] == []
    assert "src/security/jwt-verifier.ts" in told["results"]


def test_the_command_of_the_wheel_runs(unpacked: Path, tmp_path: Path) -> None:
    (entry,) = unpacked.glob("*.dist-info/entry_points.txt")
    assert "causalist = causalist.cli:main" in entry.read_text()
    code = (
        f"import sys; sys.path.insert(0, {str(unpacked)!r}); sys.argv = ['causalist', '--help']\n"
        "import causalist.cli; causalist.cli.main()"
    )
    done = _run(unpacked, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    assert "ask" in done.stdout and done.stderr == ""
