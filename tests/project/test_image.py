"""The image, and the scripts that try it and the single file: what shows without an engine and without a network."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def path_of_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_the_image_has_what_it_needs_and_no_more_rights() -> None:
    steps = script("image_steps").instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    bases = [rest.split()[0] for name, rest in steps if name == "FROM"]
    versions = [re.fullmatch(r"python:(3\.\d+)-slim-[a-z]+", base) for base in bases]
    assert len(bases) == 2 and len(set(bases)) == 1
    assert all(
        match and f"Programming Language :: Python :: {match[1]}" in PROJECT["classifiers"] for match in versions
    )
    assert [rest for name, rest in steps if name == "USER"] == [
        "1000"
    ]  # a number: others can check that it is not root
    runs = " ".join(rest for name, rest in steps if name == "RUN")
    (extras,) = re.findall(r"/src\[([\w,]+)\]", runs)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    assert steps[-2:] == [("ENTRYPOINT", '["causalist"]'), ("CMD", '["--help"]')]


def test_the_image_gets_what_the_wheel_is_made_of(tmp_path: Path) -> None:
    script("image_steps").copy_context(tmp_path)
    copied = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"pyproject.toml", "LICENSE", "README.md", "causalist/__init__.py"} <= copied
    assert any(name.startswith("grammars/") for name in copied)
    assert not [name for name in copied if name.startswith(("tests/", "docs/", ".git/", "sample_repos/"))]


@pytest.mark.parametrize("name", ["image_steps", "single_file"])
def test_scripts_say_how_they_are_called(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert script(name).main([]) == 2
    assert f"{name}.py " in capsys.readouterr().err
