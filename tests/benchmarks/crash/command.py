"""The command line as people run it, for others to disturb: `python -m tests.benchmarks.crash.command ask ...`.

Every repository counts as large, so that the first question is answered from a part. With `--die-at N BELOW` in front
the process ends by SIGKILL at the N-th of its calls that have to do with files below a folder. With `--build` in front
it is the process that builds an index in the background (`pipeline.first_answer`); `--pool` lets that use others.
"""

import sys
from pathlib import Path

from causalist.cli import main as run_command
from causalist.index import collect, question_index
from causalist.pipeline import first_answer
from tests.benchmarks.crash.child import die_at

MIN_PARSED_BYTES = 20_000  # a tenth of a sample repository


def count_as_large() -> None:
    """Lets this process answer from a part however small a repository is."""
    question_index._MIN_CODE_BYTES = 0
    question_index._MIN_PARSED_BYTES = MIN_PARSED_BYTES


def main(arguments: list[str]) -> None:
    count_as_large()
    if arguments[0] == "--die-at":
        die_at(int(arguments[1]), Path(arguments[2]), Path(arguments[2], "blobs"))
        arguments = arguments[3:]
    if arguments[0] == "--pool":
        collect._PARALLEL_THRESHOLD_BYTES = 0
        collect._CHUNK_BYTES = 20_000
        arguments = arguments[1:]
    if arguments[0] == "--build":
        first_answer._lower_priority = lambda: None  # else who waits for it waits for everybody else
        first_answer.main(arguments[1:])
    else:
        sys.argv = ["causalist", *arguments]
        run_command()


if __name__ == "__main__":
    main(sys.argv[1:])
