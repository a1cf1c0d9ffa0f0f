"""`python -m tests.benchmarks.questions.one_word REPO...`: questions that are the name of a definition, in one word.

Of the names of types (`Response`) and of functions outside of types (`compile`) in the code of the repositories, those
of one word, `--draw` of each are drawn with a fixed seed. A question is right if its first result is a definition with
exactly that name, and well placed if that is what `find` has first of such definitions. Repositories are indexed as
they are.
"""

import argparse
import random
import re
from pathlib import Path

from causalist.model.answer import AskOptions
from causalist.model.node_ids import TYPE_KINDS, NodeKind, Role, split_id
from causalist.pipeline.repository import Repository

_SEED = 7
_TYPE, _FUNCTION = re.compile(r"[A-Z][a-z]+"), re.compile(r"[a-z]{3,}")
_NO_DEFINITIONS = {kind.label for kind in (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL, NodeKind.FIELD)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--draw", type=int, default=100)
    wanted = parser.parse_args()
    opened = [Repository.open(path) for path in wanted.repositories]
    pools = [one_word_names(repository) for repository in opened]
    for number, what in enumerate(("types", "functions")):
        pool = [(place, name) for place, names in enumerate(pools) for name in sorted(names[number])]
        drawn = sorted(random.Random(_SEED).sample(pool, min(wanted.draw, len(pool))))
        outcomes = [judge(opened[place], name) for place, name in drawn]
        right, well = (sum(each) for each in zip(*outcomes, strict=True))
        print(f"{what}: {len(drawn)} of {len(pool)} names; right {right}, well placed {well}")
        for place, repository in enumerate(opened):
            here = [outcome for (where, _), outcome in zip(drawn, outcomes, strict=True) if where == place]
            print(f"  {repository.root.name:<24} {len(here):3} names; right {sum(right for right, _ in here)}")


def one_word_names(repository: Repository) -> tuple[set[str], set[str]]:
    """Return the names of one word of the types, and of the functions outside of types, in code."""
    types: set[str] = set()
    functions: set[str] = set()
    graph = repository.index.graph
    for node, node_id in enumerate(graph.nodes.ids):
        name = last_name(node_id)
        if graph.nodes.roles[node] != Role.CODE:
            continue
        if graph.kind(node) in TYPE_KINDS and _TYPE.fullmatch(name):
            types.add(name)
        elif graph.kind(node) is NodeKind.FUNCTION and _FUNCTION.fullmatch(name):
            functions.add(name)
    return types, functions


def judge(repository: Repository, name: str) -> tuple[bool, bool]:
    """Return whether the first result has exactly this name, and whether `find` has the same definition first."""
    results = repository.ask(name, AskOptions(top_k=8), remember=False).results
    namesakes = [
        hit for hit in repository.find(name, limit=100) if _is_definition(hit.kind) and last_name(hit.id) == name
    ]
    first = results[0] if results else None
    is_right = first is not None and _is_definition(first.kind) and last_name(first.id) == name
    return is_right, is_right and first is not None and bool(namesakes) and first.id == namesakes[0].id


def last_name(node_id: str) -> str:
    return (split_id(node_id)[1] or "").rpartition(".")[2].partition("~")[0]


def _is_definition(kind: str) -> bool:
    return kind not in _NO_DEFINITIONS


if __name__ == "__main__":
    main()
