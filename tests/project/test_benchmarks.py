"""Benchmarks are commands that no test runs whole; at least they find all that they import."""

import importlib

import pytest

from tests.docs.blocks import ROOT

pytestmark = pytest.mark.slow

# One runs beside an oracle that is no part of the project, one in an environment of the peer's own, four need torch.
_ELSEWHERE = {
    "tests.benchmarks.edges.pycg_oracle",
    "tests.benchmarks.encoder.asked",
    "tests.benchmarks.encoder.student",
    "tests.benchmarks.encoder.teacher",
    "tests.benchmarks.encoder.training",
    "tests.benchmarks.peers.semble_peer",
}
_MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "tests" / "benchmarks").rglob("*.py")
)


@pytest.mark.parametrize("name", [name for name in _MODULES if name not in _ELSEWHERE])
def test_it_imports_what_there_is(name: str) -> None:
    importlib.import_module(name)


def test_what_runs_elsewhere_is_still_there() -> None:
    assert set(_MODULES) >= _ELSEWHERE
    assert "tests.benchmarks.hook.__main__" in _MODULES
