"""The shape of the package: which way imports point, how long modules are, names, what importing costs."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx
import pytest

_ROOT = Path(__file__).parents[2]
_PACKAGE = _ROOT / "causalist"
_MAX_LINES = 700
_MIN_LINES = 60  # of a module that only one other imports
_SMALL_ON_PURPOSE = {"causalist.graph._precision_file"}
# Small because a warm question imports it and not its neighbors.
_IRREGULAR = re.compile(
    "begun|bent|bound|broken|brought|built|bought|caught|chosen|done|drawn|driven|fallen|fed|felt|fought|found|given|gone"
    "|grown|heard|held|hidden|kept|known|laid|led|left|lent|lost|made|meant|met|paid|said|seen|sent|shown|sought|spent"
    "|spoken|stood|taken|thought|thrown|told|understood|won|worn|written"
)
_VERBS = {"embed", "feed", "need", "speed"}
# Read as a sentence at each use: `with steps.timed(Step.WALK):`.
_CONTEXT_MANAGERS = {"timed"}
_Looked = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Import | ast.ImportFrom | ast.Call


def modules() -> list[Path]:
    return sorted(_PACKAGE.rglob("*.py"))


@cache
def _tree(path: Path) -> ast.Module:
    """The syntax of a module, which many tests look at and none changes."""
    return ast.parse(path.read_text())


@cache
def _nodes(path: Path) -> list[_Looked]:
    """Each node of a module that a test looks at: one way through the tree serves all of them."""
    return [node for node in ast.walk(_tree(path)) if isinstance(node, _Looked)]


@pytest.fixture(autouse=True, scope="module")
def no_tree_stays() -> Iterator[None]:
    """They are hundreds of megabytes of objects, which each later collection of garbage would look at."""
    yield
    _tree.cache_clear()
    _nodes.cache_clear()


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(_ROOT)}
    return subprocess.run([sys.executable, *arguments], cwd=_ROOT, env=environment, capture_output=True, text=True)


def test_dependencies_point_one_way() -> None:
    """The contracts stand in pyproject.toml, for `lint-imports`."""
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = _python("-c", code)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 broken" in done.stdout


def test_modules_are_neither_long_nor_splinters() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, path in _named_modules().items()}
    assert {name for name, length in lengths.items() if length > _MAX_LINES} == set()
    importers = Counter(target for targets in _imports().values() for target in targets)
    splinters = {
        name
        for name, length in lengths.items()
        if length < _MIN_LINES and importers[name] == 1 and _named_modules()[name].name != "__init__.py"
    }
    assert splinters - _SMALL_ON_PURPOSE == set(), "merge each into the only module that imports it"


def test_there_are_few_modules() -> None:
    """All files count: each `__init__`, and the packages of extras."""
    lengths = {path: len(path.read_text().splitlines()) for path in modules()}
    assert 230 <= len(lengths) <= 305
    assert len([path for path, length in lengths.items() if length < 100]) <= 45


def test_no_imports_form_a_circle() -> None:
    """Imports for types only and inside of functions count as well."""
    graph = networkx.DiGraph((name, target) for name, targets in _imports().items() for target in targets)
    assert [sorted(circle) for circle in networkx.strongly_connected_components(graph) if len(circle) > 1] == []


def test_no_two_public_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for name, path in _named_modules().items():
        for node in _nodes(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_docstrings_name_what_is_returned() -> None:
    """No summary begins with a word that asks."""
    asking = re.compile(r"(What|Which|Whether|How|Where|Who(ever|m|se)?|That)\b")
    summaries = [
        (f"{path.name}:{getattr(node, 'lineno', 1)}", (ast.get_docstring(node) or "").partition("\n")[0])
        for path in modules()
        for node in _nodes(path)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len([summary for _, summary in summaries if summary]) > 1000
    assert [each for each in summaries if asking.match(each[1])] == []


def test_no_module_hides_a_name_that_its_package_loads_late() -> None:
    """Importing a submodule binds its name in the package, where it would stand before the exported function."""
    for path in modules():
        calls = [n for n in _nodes(path) if isinstance(n, ast.Call)]
        for call in calls:
            if path.name != "__init__.py" or not (isinstance(call.func, ast.Name) and call.func.id == "exports"):
                continue
            homes = ast.literal_eval(call.args[1])
            exported = {name for names in homes.values() for name in names.split()}
            inside = {each.stem for each in path.parent.glob("*.py")} | {each.name for each in path.parent.iterdir()}
            assert not exported & inside, path


@cache
def _named_modules() -> dict[str, Path]:
    """Return the path of each module by its dotted name."""
    return {
        ".".join(path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in modules()
    }


@cache
def _imports() -> dict[str, frozenset[str]]:
    """Return the modules of the package that each module imports, wherever the statement stands."""
    known = _named_modules()
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for node in _nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert node.level == 0, f"{path}:{node.lineno}: a relative import"
                wholes = [f"{node.module}.{alias.name}" for alias in node.names]
                found[name] |= {whole if whole in known else node.module for whole in wholes} & known.keys()
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names} & known.keys()
    return {name: frozenset(targets - {name}) for name, targets in found.items()}


def test_every_module_says_what_it_does() -> None:
    for path in modules():
        assert ast.get_docstring(_tree(path)), path


@pytest.mark.slow
def test_nothing_prints() -> None:
    """Results leave through click; everything else is a return value or a diagnostic."""
    for path in modules():
        for node in _nodes(path):
            is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            assert not is_print, f"{path}:{getattr(node, 'lineno', 0)}"


@pytest.mark.slow
def test_nothing_unpickles_or_evaluates() -> None:
    """Index files and repositories are data."""
    banned = {"pickle", "marshal", "shelve", "dill"}
    for path in modules():
        for node in _nodes(path):
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


def test_asking_does_not_pay_for_what_it_does_not_use() -> None:
    done = _python("-W", "error", "-c", "import sys, causalist.pipeline.repository; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    heavy = {"scipy", "networkx", "git", "rich", "detect_secrets", "requests", "bpe_openai"}
    assert "causalist.pipeline.repository" in done.stdout and not heavy & set(done.stdout.split())


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


@pytest.mark.slow
def test_a_warm_question_loads_few_modules(tmp_path: Path) -> None:
    """The index is current, and the question is one in words: what its answer does not need is not imported."""
    shop = tmp_path / "shop"
    shutil.copytree(_ROOT / "sample_repos" / "taskboard-api", shop, ignore=shutil.ignore_patterns(".causalist"))
    assert _python("-m", "causalist", "index", "--repo", str(shop)).returncode == 0
    question = ("ask", "where does auth happen", "--repo", str(shop))
    _python("-m", "causalist", *question)
    done = _python("-v", "-m", "causalist", *question)
    assert done.returncode == 0, done.stderr[-2000:]
    loaded = set(re.findall(r"^import '(causalist[\w.]*)'", done.stderr, re.MULTILINE))
    assert 60 < len(loaded) <= 90, sorted(loaded)


def test_no_module_gives_a_constant_two_values() -> None:
    """A second assignment would hide the first, and nobody would read it again."""
    twice = {}
    for path in modules():
        body = _tree(path).body
        targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
        targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
        counts = Counter(t.id for t in targets if isinstance(t, ast.Name))
        found = sorted(name for name, n in counts.items() if n > 1)
        if found:
            twice[path.relative_to(_PACKAGE).as_posix()] = found
    assert twice == {}


def is_participle(name: str) -> bool:
    """Return True for the name of one word that is a participle; underscores around it do not count."""
    word = name.strip("_")
    if "_" in word or word in _VERBS | _CONTEXT_MANAGERS:
        return False
    return (_IRREGULAR.fullmatch(word) or re.fullmatch(r"[a-z]+ed", word)) is not None


@pytest.mark.parametrize("name", ["counted", "_told", "written", "unnamed"])
def test_participles_are_recognized(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["count", "_split", "embed", "with_marks", "is_kept", "n_rows", "read_unparsed"])
def test_verbs_and_phrases_are_none(name: str) -> None:
    assert not is_participle(name)


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield functions and methods but properties, which are nouns."""
    for node in _nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
            if not decorators & {"property", "cached_property", "setter"}:
                yield node


def test_functions_are_named_by_verbs() -> None:
    participles = [
        f"{path.relative_to(_PACKAGE).as_posix()}:{node.lineno} {node.name}"
        for path in modules()
        for node in _functions(path)
        if is_participle(node.name)
    ]
    assert participles == []
