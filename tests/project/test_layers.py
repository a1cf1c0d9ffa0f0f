"""The shape of the package: which way imports point, how long modules are, what importing costs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PACKAGE = _ROOT / "causalist"
_MOST_LINES = 700
# Modules that are longer, and why they are not split.
_LONG: dict[str, str] = {}


def modules() -> list[Path]:
    return sorted(_PACKAGE.rglob("*.py"))


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(_ROOT)}
    return subprocess.run([sys.executable, *arguments], cwd=_ROOT, env=environment, capture_output=True, text=True)


def test_dependencies_point_one_way() -> None:
    """The contracts stand in pyproject.toml, for `lint-imports`."""
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = _python("-c", code)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 broken" in done.stdout


def test_modules_are_short() -> None:
    lengths = {path.relative_to(_ROOT).as_posix(): len(path.read_text().splitlines()) for path in modules()}
    assert {name for name, length in lengths.items() if length > _MOST_LINES} == _LONG.keys(), (
        "split what is new here; take off the list what has become short"
    )
    assert all(_LONG.values())


def test_every_module_says_what_it_does() -> None:
    for path in modules():
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_no_module_hides_a_name_that_its_package_loads_late() -> None:
    """Importing a submodule binds its name in the package, where it would stand before the exported function."""
    for path in modules():
        calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
        for call in calls:
            if path.name != "__init__.py" or not (isinstance(call.func, ast.Name) and call.func.id == "exports"):
                continue
            homes = ast.literal_eval(call.args[1])
            exported = {name for names in homes.values() for name in names.split()}
            inside = {each.stem for each in path.parent.glob("*.py")} | {each.name for each in path.parent.iterdir()}
            assert not exported & inside, path


@pytest.mark.slow
def test_nothing_prints() -> None:
    """Results leave through click; everything else is a return value or a diagnostic."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            assert not is_print, f"{path}:{getattr(node, 'lineno', 0)}"


@pytest.mark.slow
def test_nothing_unpickles_or_evaluates() -> None:
    """Index files and repositories are data."""
    banned = {"pickle", "marshal", "shelve", "dill"}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
                assert not banned & {name.partition(".")[0] for name in names}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), path


def test_importing_the_package_is_cheap_and_warns_of_nothing() -> None:
    code = "import sys, causalist; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = _python("-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
    assert {"numpy", "scipy", "tree_sitter", "networkx", "git", "click"} & set(done.stdout.split()) == set()


@pytest.mark.parametrize("heavy", ["scipy", "networkx", "git", "rich", "detect_secrets", "requests", "bpe_openai"])
def test_asking_does_not_pay_for_what_it_does_not_use(heavy: str) -> None:
    done = _python("-W", "error", "-c", f"import sys, causalist.pipeline.repository; print({heavy!r} in sys.modules)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_every_package_can_be_imported_first() -> None:
    """No package leans on the order in which others were imported; none warns."""
    names = [
        ".".join(path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in modules()
        if path.name != "__main__.py" and (path.name == "__init__.py" or path.parent == _PACKAGE)
    ]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    for loaded in [m for m in sys.modules if m.partition('.')[0] == 'causalist']:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    done = _python("-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
