"""How often the layer of a file is what a reader says it is.

    python -m tests.benchmarks.layers --clones DIR [--half seen|unseen] [--sample OWNER/NAME@COMMIT]

DIR holds OWNER+NAME/repo with history. `labels.tsv` holds 30 files of each of six repositories in six languages, drawn
by a fixed seed from the source files (in a language with a grammar) that are neither tests, documentation nor
configuration by their path, for those are decided already. The labels were written before there were rules, by reading
the beginning of each file, with these definitions: `ui` is what a person sees or operates, in a terminal too; `api`
is where requests from outside come in and are answered; `data` is what is kept, and the access to it; `infra` is the
ground that a product stands on: sockets, processes, mail, devices, building; `config` is settings; `logic` is all else.
Code of a framework has the layer of what it does for those who use it.

The rules were made on the repositories marked `seen`. Those marked `unseen` were asked three times: when the rules
were done (80 of 90); after words had been added to the tables, of which one matched `src/main/java` and left 2 of 30
right in the one in Java; and after that was mended (80 of 90). The mending is the one change that they led to.
Prints for each repository how many are right, what "logic" for every file would get right, and every mistake.
`--sample` prints the files that the seed draws from another commit.
"""

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from causalist.model.node_ids import Layer, Role, file_id
from causalist.model.role_by_path import role_of
from causalist.parse import dialect_of
from causalist.pipeline.repository import Repository

LABELS = Path(__file__).parent / "labels.tsv"
_DECIDED = (Role.TEST, Role.DOCS, Role.CONFIG)
_COMPONENTS = (".vue", ".svelte")  # which hold a language with a grammar
_N_FILES = 30


class Label(NamedTuple):
    half: str
    repository: str
    commit: str
    path: str
    layer: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--half", choices=["seen", "unseen"])
    parser.add_argument("--sample", metavar="OWNER/NAME@COMMIT")
    arguments = parser.parse_args()
    if arguments.sample:
        repository, _, commit = arguments.sample.partition("@")
        print("\n".join(sample(_opened(arguments.clones, repository, commit), repository)))
        return 0
    labels = [Label(*line.split("\t")) for line in LABELS.read_text(encoding="utf-8").splitlines()[1:]]
    chosen = [label for label in labels if arguments.half in (None, label.half)]
    total: Counter[str] = Counter()
    for repository in dict.fromkeys(label.repository for label in chosen):
        own = [label for label in chosen if label.repository == repository]
        nodes = _opened(arguments.clones, repository, own[0].commit).index.graph.nodes
        found = [Layer(int(nodes.layers[nodes.ids.position(file_id(label.path))])).label for label in own]
        right = sum(layer == label.layer for layer, label in zip(found, own, strict=True))
        logic = sum(label.layer == "logic" for label in own)
        print(f"{repository} ({own[0].half}): {right} of {len(own)}; with logic for all: {logic}")
        for layer, label in zip(found, own, strict=True):
            if layer != label.layer:
                print(f"  {label.path}: {layer}, labelled {label.layer}")
        total.update(right=right, n=len(own), logic=logic)
    print(f"all: {total['right']} of {total['n']}; with logic for all: {total['logic']}")
    return 0


def _opened(clones: Path, repository: str, commit: str) -> Repository:
    return Repository.at_commit(clones / repository.replace("/", "+") / "repo", commit)


def sample(repository: Repository, name: str) -> list[str]:
    """The files that were labelled, by the seed that belongs to the name of the repository."""
    paths = sorted(
        path
        for path in repository.index.manifest.paths
        if (dialect_of(path) or path.endswith(_COMPONENTS)) and role_of(path) not in _DECIDED
    )
    random.Random(f"layers:{name.rpartition('/')[2]}").shuffle(paths)
    known = repository.index.graph.nodes.ids
    return sorted([path for path in paths if known.position(file_id(path)) >= 0][:_N_FILES])


if __name__ == "__main__":
    sys.exit(main())
