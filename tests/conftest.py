"""What all tests share: a cache folder that is not the user's, and options: one rewrites golden files, one has large
trials run whole.

The difference that rewriting makes is meant to be read before it is committed.
"""

import gc
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from causalist import errors, parse
from causalist.pipeline import first_answer
from tests import trials

_NUMBERS = count()
# Files that read nearly all languages. One worker has them all, because it takes ten seconds to compile all queries.
_OF_ALL_LANGUAGES = frozenset(
    f"tests/{path}.py"
    for path in (
        "graph/test_incremental", "parse/test_robustness", "languages/test_cases", "cli/test_doctor_and_config",
        "parse/test_linear_growth", "parse/test_languages", "parse/test_chains", "languages/test_implicit_calls",
    )
)  # fmt: skip
# Allocations before young objects are looked at; a run holds more objects than programs do, and frees few of them.
_GC_THRESHOLD = 20_000

# The same few examples in every run, however busy the machine is. `pytest --hypothesis-profile search` looks for
# others, many more of them.
settings.register_profile("fixed", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("search", max_examples=3_000, deadline=None)
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing with them")
    parser.addoption("--full-trials", action="store_true", help="run all of each trial of which the suite has a sample")


def pytest_configure(config: pytest.Config) -> None:
    trials.is_full = bool(config.getoption("--full-trials"))
    config.option.loadscopereorder = False  # xdist would begin with the files of most tests, not of the longest
    gc.disable()  # until everything is collected


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """As `--dist loadfile` has it, but that some files count as one."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = super()._split_scope(nodeid)
            return "all languages" if path in _OF_ALL_LANGUAGES else path

    return Scheduling(config, log)


def pytest_collection(session: pytest.Session) -> None:
    """Each worker of a whole run begins to import somewhere else: what one has compiled, the others read."""
    config, worker = session.config, os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker and {Path(each).name for each in config.args} == set(config.getini("testpaths")):
        paths = sorted(Path(__file__).parent.rglob("test_*.py"))
        start = len(paths) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for path in (*paths[start:], *paths[:start]):
            name = ".".join(path.relative_to(config.rootpath).with_suffix("").parts)
            with suppress(Exception, pytest.skip.Exception):  # the collection says so
                import_module(name)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: no collection of garbage looks at it again."""
    gc.collect()
    gc.freeze()
    n_frozen = gc.get_freeze_count()
    gc.get_freeze_count = lambda: n_frozen  # asked at each build of an index, and they would be counted one by one
    gc.set_threshold(_GC_THRESHOLD)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the files that have most slow tests, so that none of them is all that is left in the end."""
    n_slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -n_slow[item.path])


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def no_shared_facts(own_cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test parsed is new to the next one. The folder is made by who needs it: thousands of tests do not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache_folder / f"test-{next(_NUMBERS)}"))


@pytest.fixture(autouse=True, scope="session")
def samples_are_parsed_once() -> Iterator[None]:
    """Facts follow from the path and the text alone, and more than a hundred tests index a sample repository."""
    root = Path(__file__).parents[1] / "sample_repos"
    texts = {path.read_bytes() for path in root.rglob("*") if path.is_file() and ".causalist" not in path.parts}
    real = parse.parse_file
    parse_once = cache(real)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            parse, "parse_file", lambda path, data: parse_once(path, data) if data in texts else real(path, data)
        )
        yield


@pytest.fixture(autouse=True, scope="session")
def defects_are_raised() -> Iterator[None]:
    """What a user's other files survive has to be seen here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(errors, "is_recoverable", lambda error: False)
        yield


@pytest.fixture(autouse=True, scope="session")
def modules_are_compiled_once() -> Iterator[None]:
    """Hundreds of processes are started, and compiling all modules takes each of them longer than most questions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_process_is_left_behind() -> Iterator[None]:
    """A test that wants a build in the background waits for its end itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(first_answer.NO_BACKGROUND, "1")
        patch.delenv("CI", raising=False)  # where everything is built whole
        yield


@pytest.fixture(autouse=True, scope="session")
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache folder of what tests share, for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder
