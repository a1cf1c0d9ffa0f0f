"""`python -m tests.benchmarks.speed.resident ROOT ROUNDS`: the CPU of refreshing and asking in one process that stays,
as a server's does. Prints two lists of seconds as JSON: after a call in a function, and after a function more."""

import json
import random
import sys
import time
from pathlib import Path

from causalist.index.options import IndexOptions, RefreshCache
from causalist.pipeline.repository import Repository
from tests.benchmarks.speed.runs import QUESTION
from tests.edits import add_call, add_function


def main(root: Path, rounds: int) -> None:
    chance, options = random.Random(1), IndexOptions(refresh_cache=RefreshCache())
    found = []
    for edit in (add_call, add_function):
        times = []
        for _ in range(rounds + 1):  # the first one finds nothing kept
            while edit(root, chance) == "no function to edit":
                pass
            start = time.process_time()
            Repository.open(root, exact_root=True, options=options).ask(QUESTION)
            times.append(time.process_time() - start)
        found.append(times[1:])
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
