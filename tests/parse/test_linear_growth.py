"""Hostile inputs cost time in proportion to their size: a seeded sample of tests.benchmarks.doublings."""

import gc
import random
import time
from collections.abc import Callable

import pytest

from tests.benchmarks.doublings.__main__ import generators
from tests.benchmarks.doublings.measuring import build
from tests.trials import count_of

pytestmark = pytest.mark.slow

_SMALL, _LARGE = 12_000, 48_000
_FLOOR_SECONDS = 0.12  # less is noise
_MOST = 8.0  # at four times the size; the square gives 16
# Cases that took the square of their size or worse.
_MENDED = [
    *(("one local again", "python"), ("open brackets", "python"), ("deep tables", "javascript")),
    *(("deep functions", "javascript"), ("many fetches", "javascript"), ("many fixtures", "python")),
    *(("many uses", "rust"), ("deep classes", "rust"), ("calls of one name", "ruby"), ("parameters", "elixir")),
    *(("many constants", "go"), ("line of bases", "python"), ("'<%'", "a.erb"), ("'\\n'", "go.mod")),
    *(("'\\\\\"'", "package.json"), ("files: routes", "javascript"), ("files: one module", "python")),
    *(("deep functions", "tsx"), ("many used names", "cpp"), ("'\\n'", "a.yaml")),
]
_ALL = {(shape, reader): make for shape, reader, make in generators()}
# In these, tree-sitter's grammar of Lua takes the square of what it does not understand, up to a limit of time.
_SAMPLED = [key for key in sorted(_ALL) if key[1] != "lua"]


@pytest.mark.parametrize("case", [*_MENDED, *random.Random(33).sample(_SAMPLED, count_of(6, 12))], ids="|".join)
def test_cost_grows_with_size(case: tuple[str, str]) -> None:
    make = _ALL[case]
    small, large = make(_SMALL), make(_LARGE)
    ratio = 0.0
    for _ in range(3):  # noise only adds
        ratio = _seconds(lambda: build(large)) / max(_seconds(lambda: build(small)), _FLOOR_SECONDS)
        if ratio <= _MOST:
            break
    assert ratio <= _MOST


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start
