"""Routes that are found, against those that a framework lists.

    python -m tests.benchmarks.routes CLONE LISTING [--leave-out PATTERN]

LISTING has a line `METHOD PATH` for each route that the running application lists, ANY for all methods. Routes of
libraries, which stand in no file of the clone, match PATTERN and do not count. A slash at the end of a path does not
count either. Prints both shares with their counts, then what is missing and what is too much.
"""

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from causalist import Repository

ANY = "ANY"


class Comparison(NamedTuple):
    """Routes as (method, path): those listed and found, listed only, and found only."""

    right: frozenset[tuple[str, str]]
    missing: frozenset[tuple[str, str]]
    surplus: frozenset[tuple[str, str]]


def compare(found: Iterable[tuple[str, str]], listed: Iterable[tuple[str, str]]) -> Comparison:
    """Return the comparison of two lists of routes; a route of any method has each.

    >>> compare([("ANY", "/a/")], [("GET", "/a"), ("GET", "/b")])
    Comparison(right=frozenset({('GET', '/a')}), missing=frozenset({('GET', '/b')}), surplus=frozenset())
    """
    have, want = ({(method, re.sub(r"(?<=.)/$", "", path)) for method, path in each} for each in (found, listed))
    paths, for_any = {path for _, path in want}, {path for method, path in have if method == ANY}
    right = {route for route in want if route in have or route[1] in for_any}
    surplus = {route for route in have if route not in want and not (route[0] == ANY and route[1] in paths)}
    return Comparison(frozenset(right), frozenset(want - right), frozenset(surplus))


def main() -> None:
    """Run the comparison of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.routes")
    parser.add_argument("clone", type=Path)
    parser.add_argument("listing", type=Path)
    parser.add_argument("--leave-out", default=r"(?!)")
    arguments = parser.parse_args()
    leave_out = re.compile(arguments.leave_out)
    lines = arguments.listing.read_text().splitlines()
    listed = [(method, path) for method, _, path in (line.partition(" ") for line in lines) if path]
    routes = Repository.open(arguments.clone).routes()
    kept, found = (
        [(method, path) for method, path in each if not leave_out.search(path)]
        for each in (listed, [(each.method, each.path) for each in routes])
    )
    result = compare(found, kept)
    n_found = len(result.right) + len(result.surplus)
    print(f"of {len(result.right) + len(result.missing)} listed, {len(result.right)} are found")
    print(f"of {n_found} found, {len(result.right)} are listed")
    for title, these in (("missing", result.missing), ("found, not listed", result.surplus)):
        for method, path in sorted(these):
            print(f"  {title}: {method} {path}")


if __name__ == "__main__":
    main()
