"""Programs to observe, the calls that they make, and how they are run."""

import os
import sys
from pathlib import Path

from causalist import Repository
from causalist.index.source_text import SourceText
from causalist.observe import Freshness, begin_run, delete_run, read_run, read_store, run_command
from causalist.observe.command_runs import ObservedCalls
from causalist.observe.observed_calls import ObservedStore

SHOP = {
    "shop/__init__.py": "",
    "shop/plugins.py": '''"""Plug-ins, found by their names."""


def gift(order):
    return wrap(order)


def wrap(order):
    return order


def coupon(order):
    return order
''',
    "shop/orders.py": '''"""Orders."""

import functools
from shop import plugins


def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


class Base:
    def price(self):
        return 1


class Item(Base):
    def __init__(self, name):
        self.name = name

    def price(self):
        return 2


@logged
def check(order):
    return [item.price() for item in order]


def steps(order):
    yield from order


def run_plugin(name, order):
    return getattr(plugins, name)(order)


def sort_key(item):
    return item.name


def total(order: "list[Base]", *, is_rare=False):
    check(order)
    if is_rare:
        plugins.coupon(order)
    run_plugin("gi" + "ft", order)
    sorted(order, key=sort_key)
    twice = functools.reduce(lambda a, b: a + scale(b), [1, 2])
    return sum(1 for _ in steps(order)) + twice


def scale(number):
    return number


def fall(n):
    return n and fall(n - 1)
''',
    "main.py": """import sys

from shop.orders import Item, fall, total


def main():
    total([Item("a"), Item("b")])
    fall(2)


if __name__ == "__main__":
    main()
""",
}
ORDERS, PLUGINS = "shop/orders.py::", "shop/plugins.py::"

# By hand: (caller, callee): (direct calls, runs through other code) of one run of `main.py`. What reduce and sorted
# call has no frame of theirs between, since they are written in C. A lambda is a part of the definition around it.
CALLS = {
    ("main.py", "main.py::main"): (1, 0),
    ("main.py", "shop/__init__.py"): (0, 1),
    ("main.py", "shop/orders.py"): (0, 1),
    ("shop/orders.py", "shop/plugins.py"): (0, 1),
    ("shop/orders.py", f"{ORDERS}logged"): (1, 0),
    ("main.py::main", f"{ORDERS}total"): (1, 0),
    ("main.py::main", f"{ORDERS}Item.__init__"): (2, 0),
    ("main.py::main", f"{ORDERS}fall"): (1, 0),
    (f"{ORDERS}fall", f"{ORDERS}fall"): (2, 0),
    (f"{ORDERS}total", f"{ORDERS}logged.wrapper"): (1, 0),
    (f"{ORDERS}logged.wrapper", f"{ORDERS}check"): (1, 0),
    (f"{ORDERS}check", f"{ORDERS}Item.price"): (2, 0),
    (f"{ORDERS}total", f"{ORDERS}run_plugin"): (1, 0),
    (f"{ORDERS}run_plugin", f"{PLUGINS}gift"): (1, 0),
    (f"{PLUGINS}gift", f"{PLUGINS}wrap"): (1, 0),
    (f"{ORDERS}total", f"{ORDERS}sort_key"): (2, 0),
    (f"{ORDERS}total", f"{ORDERS}scale"): (1, 0),
    (f"{ORDERS}total", f"{ORDERS}steps"): (1, 0),
}


def observe(root: Path, *command: str, python: str = sys.executable) -> ObservedCalls:
    """Return what a run of a Python program records."""
    repository = Repository.open(root, exact_root=True)
    run = begin_run(root / ".causalist", root, repository.index, [python, *command])
    before = Path.cwd()
    os.chdir(root)
    try:
        assert run_command(run, [python, *command]) == 0
    finally:
        os.chdir(before)
    found = read_run(run, repository.index)
    delete_run(run)
    return found


def named_calls(root: Path, found: ObservedCalls) -> dict[tuple[str, str], tuple[int, int]]:
    """Return (direct calls, runs through other code) by the ids of caller and callee."""
    ids = Repository.open(root, exact_root=True).index.graph.nodes.ids
    return {
        (ids[a], ids[b]): (found.direct.get((a, b), 0), found.through.get((a, b), 0))
        for a, b in found.direct.keys() | found.through.keys()
    }


def store_of(root: Path) -> ObservedStore:
    """Return what is kept of the runs in a folder."""
    found = read_store((root / ".causalist",))
    assert found is not None
    return found


def freshness_of(root: Path) -> Freshness:
    repository = Repository.open(root, exact_root=True)
    return Freshness(repository.index, SourceText(repository.index.manifest, repository.read))
