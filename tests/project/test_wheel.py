"""What is installed is what is here: the wheel holds every file, and works without the checkout."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests import trials
from tests.project.environments import (
    Environment,
    closure,
    direct,
    extras_of_wheel,
    import_names,
    imports_of,
    requirements_of_wheel,
)
from tests.trials import part_of

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_SAMPLE = _ROOT / "sample_repos" / "taskboard-api"
_IGNORED = shutil.ignore_patterns("__pycache__", ".causalist", "*.egg-info", "build", "dist")


_EXTRAS = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# Extras of one grammar are alike.
_GRAMMARS = [name for name, needs in _EXTRAS.items() if len(needs) == 1 and needs[0].startswith("tree-sitter-")]


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


@pytest.fixture(scope="module")
def bare(wheel: Path) -> Environment:
    """The wheel, installed by pip, and what it declares; nothing else can be imported."""
    made = Environment(wheel.parent / "bare")
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(made.python),
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
    ]
    done = subprocess.run([*command, str(wheel)], capture_output=True, text=True, env=_settings(wheel.parent))
    assert done.returncode == 0, done.stdout + done.stderr
    made.link(closure(direct(requirements_of_wheel(wheel))))
    return made


def with_extra(wheel: Path, bare: Environment, extra: str, folder: Path) -> Environment:
    """The installed wheel of `bare` and the declared closure with `extra`."""
    made = Environment(folder)
    for path in bare.site.glob("causalist*"):
        (made.site / path.name).symlink_to(path)
    declared = requirements_of_wheel(wheel)
    made.link(closure(direct(declared)) | closure(direct(declared, extra)))
    return made


def _settings(home: Path) -> dict[str, str]:
    """An environment without the user's settings and without a way to the checkout."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    return kept | {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def run(environment: Environment, folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(environment.python), "-I", *arguments]
    return subprocess.run(command, cwd=folder, env=_settings(folder), input=text, capture_output=True, text=True)


def ask(environment: Environment, folder: Path) -> subprocess.CompletedProcess[str]:
    """The installed command on a copy of the sample."""
    sample = folder / _SAMPLE.name
    if not sample.exists():
        shutil.copytree(_SAMPLE, sample, ignore=_IGNORED)
    options = ("ask", "where does user authentication happen?", "--repo", str(sample), "--level", "file", "--json")
    return run(environment, folder, "-m", "causalist", *options)


def check_answer(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "src/security/jwt-verifier.ts" in [result["node"] for result in told["results"]]
    assert told["diagnostics"] == []


_ABOUT = """
import json, causalist
from causalist.parse.languages import grammars_folder, load_settings
about = {"package": causalist.__file__, "grammars": str(grammars_folder()), "dialects": sorted(load_settings())}
print(json.dumps(about))
"""


@pytest.fixture(scope="module")
def indexed(bare: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the sample, indexed by the bare install."""
    folder = tmp_path_factory.mktemp("indexed")
    check_answer(ask(bare, folder))
    return folder


def test_a_bare_install_answers(bare: Environment, indexed: Path, tmp_path: Path) -> None:
    check_answer(ask(bare, indexed))
    told = json.loads(run(bare, tmp_path, "-c", _ABOUT).stdout)
    assert Path(told["package"]).is_relative_to(bare.site)
    assert Path(told["grammars"]) == bare.site / "causalist" / "grammars"
    settings = {path.parent.name: path.read_text("utf-8") for path in (_ROOT / "grammars").glob("*/language.toml")}
    assert {name for name, text in settings.items() if "extra" not in tomllib.loads(text)} <= set(told["dialects"])


def test_the_command_of_a_bare_install_runs(bare: Environment, tmp_path: Path) -> None:
    command = bare.scripts / "causalist"
    done = subprocess.run([command, "--help"], cwd=tmp_path, env=_settings(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "ask" in done.stdout and done.stderr == ""


def test_a_dependency_that_is_not_declared_shows(wheel: Path, bare: Environment, tmp_path: Path) -> None:
    without = [r for r in direct(requirements_of_wheel(wheel)) if r.name != "pathspec"]
    made = Environment(tmp_path / "without")
    made.link(closure(without))
    for path in bare.site.glob("causalist*"):
        (made.site / path.name).symlink_to(path)
    done = ask(made, tmp_path)
    assert done.returncode != 0
    assert "pathspec" in done.stderr


def modules_that_load_with(names: set[str]) -> list[str]:
    """Modules of the package that need nothing but `names` when they are imported."""
    result = []
    for path in sorted((_ROOT / "causalist").rglob("*.py")):
        if all(name.partition(".")[0] in names for name, at_once in imports_of(path) if at_once):
            parts = path.relative_to(_ROOT).with_suffix("").parts
            result.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in result if not name.endswith("__main__")]


def check_modules(environment: Environment, folder: Path, names: list[str]) -> None:
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = run(environment, folder, "-c", code, *names)
    assert done.returncode == 0, done.stderr


def test_every_module_loads_in_a_bare_install_unless_it_is_of_an_extra(
    wheel: Path, bare: Environment, tmp_path: Path
) -> None:
    modules = modules_that_load_with(import_names(direct(requirements_of_wheel(wheel))))
    assert len(modules) > 50 and "causalist.pipeline.repository" in modules
    check_modules(bare, tmp_path, modules)


def test_every_import_is_declared(wheel: Path) -> None:
    """By the project itself: what a dependency happens to bring along may be gone with its next version."""
    declared = requirements_of_wheel(wheel)
    known = import_names(direct(declared))
    for extra in extras_of_wheel(wheel):
        if extra != "dev":
            known |= import_names(direct(declared, extra))
    unknown = {
        f"{path.relative_to(_ROOT)}: {name}"
        for path in (_ROOT / "causalist").rglob("*.py")
        for name, _ in imports_of(path)
        if name.partition(".")[0] not in known
    }
    assert not unknown


_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def speak_mcp(environment: Environment, folder: Path) -> None:
    done = run(environment, folder, "-m", "causalist", "serve", "mcp", "--repo", str(folder / _SAMPLE.name),
               text=json.dumps(_HELLO) + "\n")  # fmt: skip
    assert done.stdout, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "causalist"


def count_exactly(environment: Environment, folder: Path) -> None:
    code = "from causalist.pack import get_counter; print(get_counter('o200k')('def f(x): return x'))"
    done = run(environment, folder, "-W", "ignore", "-c", code)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 6  # def · f · (x · ): · return · x


# What an extra is for, beyond that everything which needs it can be imported and that `ask` answers as before.
_JOBS = {"mcp": speak_mcp, "tokens": count_exactly}


def test_the_extra_for_development_holds_the_others(wheel: Path) -> None:
    """Each of them alone is tried below."""
    declared = requirements_of_wheel(wheel)
    whole = {requirement.name for requirement in direct(declared, "dev")}
    for extra in extras_of_wheel(wheel):
        assert {requirement.name for requirement in direct(declared, extra)} <= whole, extra


_ALONE = [extra for extra in _EXTRAS if extra not in _GRAMMARS and (extra != "dev" or trials.is_full)]


@pytest.mark.parametrize("extra", [*_ALONE, *part_of(_GRAMMARS, 0, 6)])
def test_each_extra_alone_is_complete(
    extra: str, wheel: Path, bare: Environment, indexed: Path, tmp_path: Path
) -> None:
    """What loads without the extra is loaded by a test above."""
    assert extra in extras_of_wheel(wheel)
    made = with_extra(wheel, bare, extra, tmp_path / "environment")
    declared = requirements_of_wheel(wheel)
    own = import_names(direct(declared, extra))
    check_answer(ask(made, indexed))
    used = {name for path in (_ROOT / "causalist").rglob("*.py") for name, _ in imports_of(path)}
    needed = sorted(name for name in used if name.partition(".")[0] in own)
    bare_names = import_names(direct(declared))
    without = set(modules_that_load_with(bare_names))
    check_modules(made, tmp_path, [n for n in modules_that_load_with(bare_names | own) if n not in without] + needed)
    if extra in _JOBS:
        _JOBS[extra](made, indexed)
