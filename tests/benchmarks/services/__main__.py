"""Whether a question is answered with the whole chain: where it begins, and what it comes down to.

    python -m tests.benchmarks.services write FOLDER [--seed N]
    python -m tests.benchmarks.services score FOLDER [--no-graph] [--rank pagerank] [--top-k N] [--variants] [--details]
    python -m tests.benchmarks.services score --real CLONES

`write` makes thirty services in five languages as git repositories, with `manifest.jsonl`. Each has a chain of three to
five definitions of which the later ones have none of the question's words, hubs that most files use, and handlers,
services and views that share the words and have nothing to do with it. `score` asks each service its question.
`--real` asks those of `real.jsonl` in clones of public repositories (OWNER+NAME) at the commits listed there.
"""

import argparse
import sys
from pathlib import Path

from causalist.model.answer import AskOptions, RankMode
from tests.benchmarks.services import scoring
from tests.benchmarks.services.writing import write

_REAL = Path(__file__).parent / "real.jsonl"
_VARIANTS = {
    "as shipped": AskOptions(),
    "--no-graph": AskOptions(graph=False),
    "--rank pagerank": AskOptions(rank=RankMode.PAGERANK),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--seed", type=int, default=1)
    asking = commands.add_parser("score")
    asking.add_argument("folder", type=Path, nargs="?")
    asking.add_argument("--real", type=Path, metavar="CLONES")
    asking.add_argument("--no-graph", action="store_true")
    asking.add_argument("--rank", type=RankMode, default=RankMode.FUSED)
    asking.add_argument("--top-k", type=int, default=20)
    asking.add_argument("--max-tokens", type=int, default=4000)
    asking.add_argument("--variants", action="store_true", help="totals of three ways to rank")
    asking.add_argument("--details", action="store_true", help="each missed link, its rank, and what stands first")
    arguments = parser.parse_args()
    if arguments.command == "write":
        sys.stdout.write(f"{write(arguments.folder, arguments.seed)} services\n")
        return 0
    if (arguments.folder is None) == (arguments.real is None):
        parser.error("score needs either a folder or --real")
    read = scoring.read_real(_REAL, arguments.real) if arguments.real else scoring.read_generated(arguments.folder)
    cases = list(read)
    if arguments.variants:
        for name, options in _VARIANTS.items():
            asked, verdicts, _ = scoring.score(cases, options, False)
            sys.stdout.write("\n".join(scoring.totals(name, asked, verdicts)) + "\n\n")
        return 0
    options = AskOptions(
        top_k=arguments.top_k,
        graph=not arguments.no_graph,
        rank=arguments.rank,
        max_tokens=arguments.max_tokens,
    )
    asked, verdicts, missed = scoring.score(cases, options, arguments.details)
    sys.stdout.write("\n".join([*scoring.table(asked, verdicts), *missed]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
