"""Fixed samples of large trials.

A run of the suite tries these; `python -m pytest --full-trials FILE...` tries everything (docs/benchmarks.md).
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

is_full = False  # as `--full-trials` says; set before any test module is imported


def count_of(n_sampled: int, n_full: int) -> int:
    """How often something is tried."""
    return n_full if is_full else n_sampled


def part_of(cases: Sequence[T], number: int, n_parts: int) -> list[T]:
    """One of `n_parts` samples that are all cases together, each spread over the whole order; or all cases."""
    return list(cases) if is_full else list(cases[number % n_parts :: n_parts])
