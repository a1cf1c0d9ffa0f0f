"""Packages that load their modules late offer what they say, and a cold answer loads little."""

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from dataclasses import field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import causalist
from causalist._internal import lazy as lazily
from causalist._internal.lazy import dataclass, defer_import, exports, lazy_regex
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import copy_sample
from tests.trials import count_of

pytestmark = pytest.mark.slow

_MAX_MODULES = 90  # of the package, loaded by a warm question; 135 before modules were merged
_LATE = ("extract", "graph", "navigate", "pack", "parse", "rank", "source", "store")
# What makes an index, what reads grammars, locks, databases, processes: none of it is needed where nothing changed.
_NOT_NEEDED = (
    "causalist.index.build",
    "causalist.index.graph_refresh",
    "causalist.index.history",
    "causalist.graph.build",
    "causalist.parse.parser",
    "causalist.parse.languages",
    "causalist.parse.secret_scan",
    "causalist.model.facts",
    "causalist.model.language_settings",
    "causalist.repomap",
    "causalist.store.facts_cache",
    "causalist.pack.machine_formats",
    "causalist.source.commits",
    "tree_sitter",
    "sqlite3",
    "tempfile",
    "multiprocessing",
    "concurrent.futures.process",
    "importlib.metadata",
    "tomllib",
    "filelock",
    "scipy",
    "networkx",
)


@pytest.mark.parametrize("name", _LATE)
def test_a_package_offers_what_it_says(name: str) -> None:
    package = importlib.import_module(f"causalist.{name}")
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(package.__all__), "a module of that name would be found in its place"
    for exported in package.__all__:
        assert getattr(package, exported) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_a_name_is_loaded_once_and_from_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    load = exports("causalist.extract", {"ordered_subgraph": "hit_of name_edge"})
    monkeypatch.delattr("causalist.extract.hit_of", raising=False)
    assert load("hit_of") is importlib.import_module("causalist.extract.ordered_subgraph").hit_of
    assert importlib.import_module("causalist.extract").__dict__["hit_of"] is load("hit_of")


def test_a_late_expression_is_the_expression() -> None:
    late, early = lazy_regex(r"(a+)(b)?", re.IGNORECASE), re.compile(r"(a+)(b)?", re.IGNORECASE)
    assert [m.span() for m in late.finditer("AAb a")] == [m.span() for m in early.finditer("AAb a")]
    assert late.sub("-", "xAb") == "x-" and late.pattern == early.pattern and late.groups == 2
    assert late.fullmatch("b") is None and late.match("ab")[2] == "b"  # type: ignore[index]


def test_without_what_it_needs_an_expression_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    real = re.compile
    monkeypatch.setattr(re, "compile", lambda *arguments: compiled.append(arguments) or real(*arguments))
    late = lazy_regex(r"a(b|--)", re.IGNORECASE, needs=("b", "B", "--"))
    assert late.match("ac") is None and late.search("ac") is None and late.fullmatch("ac") is None
    assert late.findall("ac") == [] and list(late.finditer("ac")) == [] and late.sub("-", "ac") == "ac"
    assert not compiled
    assert late.findall("A-- AB ac") == ["--", "B"] and late.sub("x", "ab ac") == "x ac"
    assert late.search("ac") is None and len(compiled) == 1
    assert lazy_regex(rb"ab", needs=(b"b",)).match(b"ab") is not None


def _needing() -> dict[str, Any]:
    """Every expression of the package that says what it needs."""
    root = Path(causalist.__file__).parent
    found: dict[str, Any] = {}
    for path in sorted(root.rglob("*.py")):
        if "needs=" in path.read_text(encoding="utf-8") and path.name != "lazy.py":
            name = ".".join(("causalist", *path.relative_to(root).with_suffix("").parts))
            for key, value in vars(importlib.import_module(name)).items():
                for i, each in enumerate(value if isinstance(value, tuple) else (value,)):
                    late = each[0] if isinstance(each, tuple) and each else each
                    if isinstance(late, lazily._LazyRegex) and late._needs:
                        found[f"{name}.{key}[{i}]"] = late
    return found


@pytest.mark.parametrize("late", _needing().values(), ids=_needing())
@settings(max_examples=count_of(15, 60), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_an_expression_matches_has_what_it_needs(late: Any, data: st.DataObject) -> None:
    pattern, flags = late._source
    text = data.draw(st.from_regex(re.compile(pattern, flags)))
    assert any(each in text for each in late._needs)


def test_a_module_that_is_put_off_is_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with defer_import("wave", ("Error",)):
        import wave as late

        assert late.Error is object
        with pytest.raises(AttributeError):
            late.__path__  # noqa: B018
    assert "wave" not in sys.modules
    opened = late.open  # which loads it
    assert late.Error is sys.modules["wave"].Error and opened is sys.modules["wave"].open
    with defer_import("wave"):
        import wave

        assert wave is sys.modules["wave"] and wave is not late


def test_a_module_that_is_put_off_may_be_used_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with defer_import("wave", ("Error",)):
        import wave as late

        assert late.open is importlib.import_module("wave").open
    assert late.Error is sys.modules["wave"].Error


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ('token = "ghp_ab12cd34ef56gh78ij90kl12mn34op56qr78"', ((9, 49),)),
        ('password = "hunter2x9"', ((12, 21),)),  # judged before any plugin is asked
    ],
)
def test_looking_for_secrets_loads_no_http_client(text: str, spans: tuple[tuple[int, int], ...]) -> None:
    code = (
        "import sys; from causalist.parse.secret_scan import find_secrets; "
        f"found = find_secrets({text.encode()!r}); "
        "seen = {'requests', 'urllib3'} & set(sys.modules); "
        "import requests, detect_secrets.plugins.slack as slack; "
        "print(found, seen, slack.requests.Response is requests.Response, slack.requests.get is requests.get)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{spans} set() True True\n"


def test_a_cold_answer_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    Repository.open(root, exact_root=True)
    code = (
        "import sys\n"
        "from causalist.cli import main\n"
        "try:\n    main(['ask', 'where is a token verified', '--no-remember', '--repo', sys.argv[1]])\n"
        "except SystemExit as end:\n    assert end.code in (0, None), end.code\n"
        "print('\\n'.join(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(causalist.__file__).parents[1],
    )
    assert "verifyToken" in done.stdout
    loaded = set(done.stdout.splitlines())
    assert "causalist.rank.scoring.ranking" in loaded
    assert not loaded & set(_NOT_NEEDED)
    # `_sparsetools` is the extension of scipy under another name.
    own = {name for name in loaded if name.partition(".")[0] == "causalist" and not name.endswith("._sparsetools")}
    assert len(own) <= _MAX_MODULES


@dataclass(frozen=True, slots=True)
class _Point:
    """A place."""

    x: int
    y: int = 2
    marks: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x")


@dataclasses.dataclass(frozen=True, slots=True)
class _Usual:
    """A place."""

    x: int
    y: int = 2
    marks: list[int] = field(default_factory=list)


def test_a_late_dataclass_is_one_like_any_other() -> None:
    point = _Point(1, marks=[3])
    assert (point.x, point.y, point.marks, _Point(x=4).marks) == (1, 2, [3], [])
    many = [_Point(i, marks=[i]) for i in range(100)]  # of so many the methods are written
    assert [(each.x, each.y, each.marks) for each in many] == [(i, 2, [i]) for i in range(100)]
    assert repr(point) == "_Point(x=1, y=2, marks=[3])"
    assert point == _Point(1, 2, [3]) and point != _Point(1, 3, [3]) and point != (1, 2, [3])
    assert dataclasses.replace(point, y=5) == _Point(1, 5, [3])
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "marks": [3]}
    assert dataclasses.is_dataclass(_Point) and not hasattr(point, "__dict__")
    assert copy.deepcopy(point) == point and pickle.loads(pickle.dumps(point)) == point
    assert hash(_Late(1)) == hash(_Late(1)) and _Point(0).marks is not _Point(0).marks
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'value'"):
        _Late()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        _Point(1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        _Other(1, 2)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="x"):
        _Point(-1)
    for name in ("x", "unknown"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(point, name, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x


@dataclass(frozen=True, slots=True)
class _Late:
    value: int


@dataclass(frozen=True, slots=True)
class _Other:
    value: int


def test_the_fields_of_a_late_dataclass_are_those_that_dataclasses_would_make() -> None:
    late, usual = dataclasses.fields(_Point), dataclasses.fields(_Usual)
    for name in ("name", "type", "default", "default_factory", "init", "repr", "hash", "compare", "kw_only"):
        assert [getattr(each, name) for each in late] == [getattr(each, name) for each in usual]
    assert _Point.__match_args__ == _Usual.__match_args__ and _Point.__doc__ == _Usual.__doc__
    assert inspect.signature(_Point) == inspect.signature(_Usual)
    assert repr(_Point.__dataclass_params__) == repr(_Usual.__dataclass_params__)  # type: ignore[attr-defined]


@dataclass(slots=True)
class _Counter:
    """A count."""

    step: int
    marks: list[int] = field(default_factory=list)
    double: int = field(init=False)

    def __post_init__(self) -> None:
        self.double = 2 * self.step


@dataclasses.dataclass(slots=True)
class _UsualCounter:
    """A count."""

    step: int
    marks: list[int] = field(default_factory=list)
    double: int = field(init=False)


@dataclass(slots=True, eq=False)
class _Single:
    step: int = 1


@dataclasses.dataclass(slots=True, eq=False)
class _UsualSingle:
    step: int = 1


def test_a_late_dataclass_may_change() -> None:
    counters = [_Counter(i) for i in range(40)]  # of so many the methods are written
    for i, counter in enumerate(counters):
        assert (counter.step, counter.marks, counter.double) == (i, [], 2 * i)
        counter.step += 1
        assert counter.step == i + 1
    assert repr(_Counter(2)) == "_Counter(step=2, marks=[], double=4)" and _Counter(2) == _Counter(2) != _Counter(3)
    assert copy.deepcopy(counters[3]) == counters[3] == pickle.loads(pickle.dumps(counters[3]))
    assert not hasattr(counters[0], "__dict__") and _Counter.__match_args__ == _UsualCounter.__match_args__
    assert inspect.signature(_Counter) == inspect.signature(_UsualCounter)
    for late, usual in ((_Counter, _UsualCounter), (_Single, _UsualSingle)):
        assert repr(late.__dataclass_params__) == repr(usual.__dataclass_params__)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="unhashable"):
        hash(counters[0])
    with pytest.raises(TypeError, match=r"from 2 to 3 positional arguments"):
        _Counter(1, [], 2)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        del counters[0].unknown  # type: ignore[attr-defined]
    assert _Single() != _Single() and len({_Single(), _Single()}) == 2 and _Single(3).step == 3


def test_a_deferred_function_loads_its_module_when_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late_module_of_a_test.py").write_text("def double(number):\n    return 2 * number\n")
    monkeypatch.syspath_prepend(tmp_path)
    name = "late_module_of_a_test"
    try:
        with defer_import(name, functions=("double",)):
            late = importlib.import_module(name)
            double = late.double
            assert sys.modules[name] is late
            assert double(4) == 8  # inside of the block, too
        assert sys.modules[name] is not late
        assert double(21) == 42
    finally:
        sys.modules.pop(name, None)
