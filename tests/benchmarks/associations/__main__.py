"""python -m tests.benchmarks.associations --clones DIR [--write]

Learns word associations from the repositories of `repositories.txt` (DIR holds OWNER+NAME/repo, with history) and prints
them, or writes `causalist/rank/associations.txt`. None of them is in the development questions or among those that
rankings are judged by, so that questions about others tell what the associations are worth.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import causalist.rank
from tests.benchmarks.associations.bags import bags_of
from tests.benchmarks.associations.learning import learn

TARGET = Path(causalist.rank.__file__).with_name("associations.txt")
NAMES = Path(__file__).with_name("repositories.txt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = NAMES.read_text(encoding="utf-8").split()
    places = [options.clones / name.replace("/", "+") / "repo" for name in names]
    missing = [name for name, place in zip(names, places, strict=True) if not place.is_dir()]
    if missing:
        sys.exit(f"not below {options.clones}: {', '.join(missing)}")
    with ProcessPoolExecutor() as pool:
        lines = [line_of(term, alike) for term, alike in learn(list(pool.map(bags_of, places)))]
    text = "".join(lines)
    if options.write:
        TARGET.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


def line_of(term: str, alike: list[tuple[str, float]]) -> str:
    """`retri\\tattempt 78 delay 76`: hundredths of the cosine."""
    return f"{term}\t{' '.join(f'{other} {round(100 * cosine)}' for other, cosine in alike)}\n"


if __name__ == "__main__":
    main()
