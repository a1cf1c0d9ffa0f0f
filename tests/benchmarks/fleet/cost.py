"""Costs of large fleets, from measured figures: `python -m tests.benchmarks.fleet.cost [--write]`.

Prints the tables of docs/fleet-cost.md, or writes them there. Figures are those of docs/benchmarks.md; what grows with
the number of repositories is extrapolated linearly, what does not is taken as it is.
"""

import sys
from dataclasses import dataclass

from tests.docs.blocks import DOCS, keep_in_sync, table

PAGE = DOCS / "fleet-cost.md"
HOURS_OF_A_MONTH = 730


@dataclass(frozen=True)
class Measured:
    """Figures of docs/benchmarks.md, of repositories with 82 files on average unless said otherwise."""

    index_seconds: float = 11.2  # of one core, for 1,000 files
    object_bytes: float = 17.2e6  # for 1,000 files
    objects: int = 6  # written for a repository, with its record
    tables_files: float = 82.3  # of a repository, where the next ones were measured
    tables_seconds: float = 0.0082  # for a repository, at 1,000; it grows linearly
    catalog_bytes: float = 13.4e3  # of memory, for a repository
    process_bytes: float = 0.4e9  # of memory, for a process that answers, beside those
    choose_seconds: float = 4e-6  # for a repository and question
    ask_seconds: float = 0.25  # for a question, without the choice


@dataclass(frozen=True)
class Assumed:
    """Prices, of the lists of a large provider, and sizes that a code host published."""

    core_hour: float = 0.05  # dollars
    gigabyte_month: float = 0.023
    million_writes: float = 5.0
    cores: int = 16  # of a machine
    files: float = 15.5e9 / 45e6  # of a repository: documents and repositories of a code search
    changed_a_day: float = 0.05  # of repositories


MEASURED, ASSUMED = Measured(), Assumed()


def index_hours(n: int) -> float:
    """Return core hours of the first index of `n` repositories."""
    return n * ASSUMED.files / 1000 * MEASURED.index_seconds / 3600


def stored_bytes(n: int) -> float:
    """Return bytes of all objects."""
    return n * ASSUMED.files / 1000 * MEASURED.object_bytes


def table_hours(n: int) -> float:
    """Return hours of the one process that writes the tables over the fleet."""
    scale = ASSUMED.files / MEASURED.tables_files
    return n * scale * MEASURED.tables_seconds / 3600


def question_seconds(n: int) -> float:
    """Return processor time of a question."""
    return MEASURED.ask_seconds + MEASURED.choose_seconds * n


def number(value: float) -> str:
    """Return a number with two significant digits.

    >>> number(1234567.0), number(0.456), number(56.0)
    ('1,200,000', '0.46', '56')
    """
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def costs() -> str:
    """Return the table of costs."""
    sizes = (10_000, 100_000, 10_000_000)
    rows: list[tuple[object, ...]] = []

    def add(name: str, *values: float) -> None:
        rows.append((name, *(number(value) for value in values)))

    add("files, millions", *(n * ASSUMED.files / 1e6 for n in sizes))
    add("first index, core hours", *map(index_hours, sizes))
    add(
        "machines of 16 cores for a first index in a day", *(max(1, index_hours(n) / 24 / ASSUMED.cores) for n in sizes)
    )
    add("objects, GB", *(stored_bytes(n) / 1e9 for n in sizes))
    add("tables over the fleet, hours of one process", *map(table_hours, sizes))
    add(
        "memory of a process that answers, GB",
        *((MEASURED.process_bytes + n * MEASURED.catalog_bytes) / 1e9 for n in sizes),
    )
    add("a question, processor seconds", *map(question_seconds, sizes))
    writes = [n * MEASURED.objects / 1e6 * ASSUMED.million_writes for n in sizes]
    first = [index_hours(n) * ASSUMED.core_hour + each for n, each in zip(sizes, writes, strict=True)]
    add("first index, dollars", *first)
    stored = [stored_bytes(n) / 1e9 * ASSUMED.gigabyte_month for n in sizes]
    add("storage, dollars a month", *stored)
    changes = [each * ASSUMED.changed_a_day * HOURS_OF_A_MONTH / 24 for each in first]
    add("changes, dollars a month", *changes)
    return table(("repositories", *(f"{n:,}" for n in sizes)), rows)


def assumptions() -> str:
    """Return the table of what the costs assume."""
    rows: list[tuple[object, ...]] = [
        ("files of a repository", number(ASSUMED.files)),
        ("index, core seconds for 1,000 files", number(MEASURED.index_seconds)),
        ("objects, MB for 1,000 files", number(MEASURED.object_bytes / 1e6)),
        ("repositories that change each day, %", number(100 * ASSUMED.changed_a_day)),
        ("a core for an hour, dollars", f"{ASSUMED.core_hour:g}"),
        ("a GB for a month, dollars", f"{ASSUMED.gigabyte_month:g}"),
        ("a million writes, dollars", f"{ASSUMED.million_writes:g}"),
    ]
    return table(("assumption", "value"), rows)


def blocks() -> dict[str, str]:
    """Return the generated parts of the page."""
    return {"costs": costs(), "assumptions": assumptions()}


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, blocks(), sys.argv))
