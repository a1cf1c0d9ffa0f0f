"""A small sample of `tests.benchmarks.observe`: the recorder against an independent tracer, on one suite."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from causalist.observe import delete_run
from tests.benchmarks.observe.__main__ import Suite, fit_prior, measure_recall
from tests.benchmarks.observe.likeness import Rows, bands_of, fit_weights
from tests.cli.commands import write_all
from tests.observe.programs import SHOP

pytestmark = pytest.mark.slow

FILES = {
    **SHOP,
    "conftest.py": "import sys\nfrom pathlib import Path\n\nsys.path.insert(0, str(Path(__file__).parent))\n",
    "tests/test_a.py": "from main import main\n\n\ndef test_main():\n    main()\n",
    "tests/test_b.py": "from shop.orders import Item, run_plugin\n\n\ndef test_plugin():\n"
    "    assert run_plugin('gi' + 'ft', Item(1)).price() == 2\n",
}


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "COV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading those of this environment takes long
    write_all(tmp_path, FILES)
    return Suite(tmp_path, sys.executable, ["-c", "/dev/null", "--rootdir", str(tmp_path)])


def test_the_recorder_sees_the_pairs_that_the_tracer_sees(suite: Suite) -> None:
    run, seen = suite.observe(["tests"])
    delete_run(run)
    traced = suite.trace(["tests"])
    assert len(traced) == 18 and traced <= {pair for pair, n in seen.direct.items() if n}


def test_recall_of_the_half_that_is_not_observed(suite: Suite) -> None:
    assert suite.test_files() == (["tests/test_a.py"], ["tests/test_b.py"])
    found = measure_recall(suite)
    # Importing decorates `check` by `logged`. `test_plugin` makes an Item, runs a plug-in and asks what it gives for a
    # price; run_plugin calls gift, and that calls wrap. Of the six, no rule finds the call by a name in a string, which
    # `test_main` makes as well, nor the price of what is of no known type, which only `test_plugin` asks for. It says
    # the name of one of two methods, of a class that it uses, and the first half ran that one alone.
    assert (found["pairs"], found["rules"], found["runs"]) == (6, 0.6667, 0.8333)
    assert (found["likely"], found["missed"]) == (1.0, [])


def test_the_prior_fits_what_it_is_given() -> None:
    """Calls that are made in each run, but for one in fifty that nothing reaches."""
    unseen = [(1_000, i % 50 == 0) for i in range(200)] + [(1, i % 50 == 0) for i in range(200)]
    assert fit_prior(unseen) == {"a": 2.0, "b": 0.05, "never": 0.02, "edges": 400, "unseen": 8}


def test_the_weights_of_likely_calls_fit_what_they_are_given() -> None:
    """Of 100 rows with the value 0, a quarter are called; of 100 with 1, three quarters: the odds are 1/3 and 3."""
    values = np.array([[1.0, 0.0]] * 100 + [[1.0, 1.0]] * 100)
    is_called = np.array([i % 4 == 0 for i in range(100)] + [i % 4 > 0 for i in range(100)], dtype=np.float64)
    weights = fit_weights([Rows(values, is_called)], penalty=1e-9)
    assert weights == pytest.approx([-np.log(3), 2 * np.log(3)], abs=1e-3)
    assert bands_of([(Rows(values, is_called), weights)]) == [(0.2, 100, 0.25, 0.25), (0.7, 100, 0.75, 0.75)]
