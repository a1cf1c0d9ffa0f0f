"""Indexes with damaged arrays and right checksums: each is refused, or answers without an error of the program.

python -m tests.benchmarks.foreign_indexes --count 20000 --seed 1
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from causalist._internal.dataclass_arrays import Arrays, flatten, unflatten
from causalist.errors import CausalistError, IndexUnreadable
from causalist.index.consistency import check_consistency
from causalist.model.index import Index
from causalist.pipeline.repository import Repository
from tests.fleet.repositories import commit_files

_CART = """
from shop.prices import price


def total(lines):
    return sum(price(line) for line in lines)
"""
_PRICES = """
KEY = "prices"


def price(line):
    'The price of a line.'
    return line.n * look_up(line)


def look_up(line):
    return line.unknown().price
"""
_FILES = {
    "shop/cart.py": _CART,
    "shop/prices.py": _PRICES,
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
    "README.md": "# Shop\n\nA cart has lines, see `shop.cart.total`.\n",
}


def make_index(folder: Path) -> Index:
    """Return the index of a small repository with a history, made in a folder."""
    for n in range(3):
        commit_files(folder, {**_FILES, "shop/version.py": f"VERSION = {n}\n"})
    return Repository.at_commit(folder, "HEAD").index


def damaged_indexes(index: Index, seed: int) -> Iterator[tuple[str, Index | IndexUnreadable]]:
    """Yield (what was damaged, the index with it) without end; the error where the parts do not even fit together."""
    chance = random.Random(seed)
    while True:
        arrays: Arrays = {}
        header = flatten(index, "index", arrays)
        name = chance.choice(sorted(arrays))
        arrays[name], how = _damage(arrays[name], chance)
        try:
            yield f"{name}: {how}", unflatten(Index, header, "index", arrays)
        except IndexUnreadable as error:
            yield f"{name}: {how}", error


def _damage(array: Any, chance: random.Random) -> tuple[Any, str]:
    kind = chance.choice(("value", "value", "value", "shorter", "longer", "type", "shuffle", "empty"))
    changed = array.copy()
    if kind == "value" and len(array):
        row = chance.randrange(len(array))
        if array.dtype.kind == "f":
            changed[row] = chance.choice((-1.0, 0.0, 2.0, float("nan"), float("inf"), 1e38))
        elif array.dtype.kind == "b":
            changed[row] = not array[row]
        else:
            limits = np.iinfo(array.dtype)
            changed[row] = chance.choice((limits.max, limits.min, len(array), 0, chance.randrange(0, limits.max)))
        return changed, f"row {row} is {changed[row]} instead of {array[row]}"
    if kind == "shorter":
        return changed[: len(array) // 2], "half as long"
    if kind == "longer":
        return np.concatenate([array, array[:3]]), "longer"
    if kind == "type":
        kinds = ("int32", "int64", "uint8", "float64", "bool")
        to = chance.choice(kinds)
        with np.errstate(all="ignore"):
            return array.astype(to), f"as {to}"
    if kind == "shuffle":
        order = list(range(len(array)))
        chance.shuffle(order)
        return changed[order], "shuffled"
    return changed[:0], "empty"


def use(index: Index, folder: Path) -> None:
    """Ask an index everything that reads other arrays. Raises only what a user may see."""
    there = Repository(folder, index, Repository.from_index(folder, index).read)
    for question in ("how is the total of a cart computed", "price"):
        there.ask(question)
    for name in ("total", "price", "shop/cart.py"):
        there.callers(name)
        there.callees(name)
        there.impact(name)
    there.find("look_up")
    there.status()


def run(count: int, seed: int) -> Counter[str]:
    """Return how many damaged indexes were refused, answered and raised another error than one for users."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index = make_index(folder)
        for (what, damaged), _ in zip(damaged_indexes(index, seed), range(count), strict=False):
            outcomes[outcome_of(damaged, folder, what)] += 1
    return outcomes


def outcome_of(damaged: Index | IndexUnreadable, folder: Path, what: str) -> str:
    """Return "refused", "answered", or the error of the program with what was damaged."""
    if isinstance(damaged, IndexUnreadable):
        return "refused"
    try:
        check_consistency(damaged)
    except IndexUnreadable:
        return "refused"
    try:
        use(damaged, folder)
    except CausalistError:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error} ({what})"
    return "answered"


def main() -> None:
    """Print the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    outcomes = run(given.count, given.seed)
    for outcome, n in outcomes.most_common():
        print(f"{n:7,}  {outcome}")
    if set(outcomes) - {"refused", "answered"}:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
