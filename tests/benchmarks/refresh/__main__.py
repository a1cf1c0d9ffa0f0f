"""`python -m tests.benchmarks.refresh [--sequences N]`: refreshed against rebuilt, over random sequences of edits.

Each sequence starts from a fresh copy of a sample repository and has three rounds of one to four edits. After
each round the refreshed index is compared with one that is built afresh, array by array, and so are their answers.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from tests.edits import begin
from tests.pipeline.sample import SAMPLES, copy_sample
from tests.pipeline.test_refresh import check_sequence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=1000)
    wanted = parser.parse_args()
    samples = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
    done: Counter[str] = Counter()
    n_edits = 0
    for number in range(wanted.sequences):
        sample = samples[number % len(samples)]
        with tempfile.TemporaryDirectory() as folder:
            root = copy_sample(Path(folder), sample)
            begin(root)
            n_edits += len(check_sequence(root, wanted.first_seed + number, 3, 1))
        done[sample] += 1
    counts = ", ".join(f"{n} of {name}" for name, n in sorted(done.items()))
    print(f"{wanted.sequences} sequences ({counts}), {n_edits} edits: refreshed equals rebuilt in every round")


if __name__ == "__main__":
    main()
