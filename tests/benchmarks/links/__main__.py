"""Edges of names that code and data share, judged by reading, and their recall by a plain search.

    python -m tests.benchmarks.links score
    python -m tests.benchmarks.links sample CLONE... [--n N] [--seed S]
    python -m tests.benchmarks.links recall CLONE...
    python -m tests.benchmarks.links without QUESTIONS CLONES

`score` prints how often the edges of each rule are right by `labels.tsv`, whose columns are set, repository, commit,
rule, source, line, target and label. An edge is right if the code in that line does what the meaning of the rule says,
with the target. The rules were mended after reading the set `first`; `held` was drawn once after that from repositories
that had not been looked at, and its labels are those of the edges as they were drawn. `drawn` is a second such set, of
rules that `held` has in few applications: `drawn.tsv` lists for each rule public applications of its technology that no
other set has, by the SHA-256 of "RULE OWNER/NAME". The first six count that can be had, have at most 5,000 files and at
least five edges of the rule; `text` has the applications of `text-key`. What was wrong in a set has been
mended since where the cause was plain: labels of applications of Django, generated handlers, partials. Edges of
`resolver` are no longer made. `sample` draws N edges of each rule, in turn from each clone, to be labelled; it prints
the line, too.

`recall` compares edges with names that a search by words finds, which does not use the readers: variables of files
`.env*` that stand between quotes in code; names of template files that stand so; and tables of statements `CREATE
TABLE` in files of SQL that follow FROM, JOIN, INTO or UPDATE in capitals in a file of code. Each pair of a name and a
file counts once. Not all of these are uses, so that the true recall is higher.

`without` asks questions of the format of `causalist eval context`, of clones without an index, as if no edge of these
rules were made. `questions.jsonl` was written while the rules were mended; the applications of `questions_held.jsonl`
have no part in any set, and its questions were written from their documentation, pages and templates before any run.
"""

import argparse
import math
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from causalist.evaluate import context
from causalist.graph.relations.data_names import LinkEdgeFinder
from causalist.model.graph import LINK_RULES, Edge
from causalist.model.node_ids import split_id
from causalist.pipeline.repository import Repository

LABELS = Path(__file__).with_name("labels.tsv")
_CODE = (
    *(".py", ".js", ".ts", ".tsx", ".jsx", ".vue", ".svelte", ".go", ".rb", ".php", ".java", ".kt", ".cs", ".ex"),
    ".rs",
)
_MAX_BYTES = 500_000


def score() -> None:
    judged: dict[str, list[bool]] = defaultdict(list)
    repositories: dict[str, set[str]] = defaultdict(set)
    for line in LABELS.read_text("utf-8").splitlines()[1:]:
        drawn, repository, _, rule, _, _, _, label = line.split("\t")
        judged[f"{drawn} {rule}"].append(label == "right")
        repositories[f"{drawn} {rule}"].add(repository)
    for rule, labels in sorted(judged.items()):
        low, high = _interval(sum(labels), len(labels))
        print(
            f"{rule:23}{sum(labels):4} of {len(labels):3} right in {len(repositories[rule]):2} repositories, "
            f"{sum(labels) / len(labels):.2f} ({low:.2f} to {high:.2f})"
        )


def _interval(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share."""
    share = right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    width = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - width, min(1.0, middle + width)


def _edges(clone: Path) -> list[Edge]:
    return [each for each in Repository.open(clone).edges(everything=True) if each.rule in LINK_RULES]


def sample(clones: list[Path], n: int, seed: int) -> None:
    chance = random.Random(seed)
    pools: dict[str, list[tuple[Path, list[Edge]]]] = defaultdict(list)
    for clone in clones:
        by_rule: dict[str, list[Edge]] = defaultdict(list)
        for edge in _edges(clone):
            by_rule[edge.rule].append(edge)
        for rule, edges in by_rule.items():
            pools[rule].append((clone, chance.sample(edges, len(edges))))
    for rule, pool in sorted(pools.items()):
        drawn = 0
        while drawn < n and any(edges for _, edges in pool):
            for clone, edges in pool:
                if edges and drawn < n:
                    drawn += 1
                    _print_edge(clone, rule, edges.pop())


def _print_edge(clone: Path, rule: str, edge: Edge) -> None:
    commit = subprocess.run(
        ["git", "-C", str(clone), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    lines = (clone / split_id(edge.source)[0]).read_text("utf-8", "replace").split("\n")
    shown = lines[edge.line - 1].strip()[:110] if edge.line else ""
    print("\t".join((clone.name, commit, rule, edge.source, str(edge.line or ""), edge.target, "", shown)))


def _texts(clone: Path) -> Iterator[tuple[str, str]]:
    listed = subprocess.run(["git", "-C", str(clone), "ls-files"], capture_output=True, text=True, check=True).stdout
    for path in listed.splitlines():
        file = clone / path
        if file.is_file() and file.stat().st_size < _MAX_BYTES:
            yield path, file.read_text("utf-8", "replace")


def recall(clones: list[Path]) -> None:
    total: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for clone in clones:
        texts = dict(_texts(clone))
        code = {path: text for path, text in texts.items() if path.endswith(_CODE)}
        edges = Repository.open(clone).edges(everything=True)
        found = {(split_id(edge.source)[0], edge.target) for edge in edges}
        expected = {
            "environment": set(_quoted(_variables(texts), code, "external:env:{}")),
            "templates": set(_quoted(_templates(texts), code, "{}")),
            "tables": set(_queried(texts, code)),
        }
        for name, pairs in expected.items():
            if name == "templates":
                has = {(path, target.rpartition("/")[2]) for path, target in found}
            else:
                has = found
            total[name][0] += len(pairs & has)
            total[name][1] += len(pairs)
    for name, (right, all_pairs) in sorted(total.items()):
        print(f"{name:12} {right} of {all_pairs} pairs of a name and a file have an edge")


def _variables(texts: dict[str, str]) -> set[str]:
    files = [text for path, text in texts.items() if re.search(r"(?:^|/)[^/]*\.env[^/]*$", path)]
    return {name for text in files for name in re.findall(r"^([A-Z][A-Z0-9]*_[A-Z0-9_]+)=", text, re.MULTILINE)}


def _templates(texts: dict[str, str]) -> set[str]:
    return {path.rpartition("/")[2] for path in texts if re.search(r"/templates?/.*\.(?:html|jinja2?|j2)$", path)}


def _quoted(names: set[str], code: dict[str, str], form: str) -> Iterator[tuple[str, str]]:
    for path, text in code.items():
        if "test" not in path.lower():
            words = {word.rpartition("/")[2] for word in re.findall(r"[\"'`]([\w./-]+)[\"'`]", text)}
            yield from ((path, form.format(name)) for name in names & words)


def _queried(texts: dict[str, str], code: dict[str, str]) -> Iterator[tuple[str, str]]:
    made = {
        name.lower()
        for path, text in texts.items()
        if path.endswith(".sql")
        for name in re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?[`\"]?(?:\w+\.)?(\w+)", text, re.IGNORECASE)
    }
    for path, text in code.items():
        words = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+[`\"]?(?:\w+\.)?(\w+)", text)
        yield from {(path, f"external:table:{word.lower()}") for word in words if word.lower() in made}


def without(path: Path, clones: Path) -> None:
    questions = context.read_context_questions(path)
    indexed = [each.repo for each in questions if _is_indexed(clones, each.repo)]
    if indexed:
        raise SystemExit(f"has an index, which has these edges: {indexed[0]}")
    LinkEdgeFinder.find_edges = lambda self: iter(())  # type: ignore[method-assign]
    arms = {"without": context.ARMS["default"]}
    scores = context.evaluate_context(questions, clones, arms, 4_000, lambda *_: None)
    print(context.context_text(scores, 4_000))
    sufficient = [q.id for q, each in zip(questions, scores["without"], strict=True) if each.sufficient]
    print("sufficient:", *sufficient)


def _is_indexed(clones: Path, repository: str) -> bool:
    return (context.find_work_tree(clones, repository) / ".causalist").exists()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("score")
    drawn = what.add_parser("sample")
    drawn.add_argument("clones", type=Path, nargs="+")
    drawn.add_argument("--n", type=int, default=50)
    drawn.add_argument("--seed", type=int, default=7)
    what.add_parser("recall").add_argument("clones", type=Path, nargs="+")
    unlinked = what.add_parser("without")
    unlinked.add_argument("questions", type=Path)
    unlinked.add_argument("clones", type=Path)
    given = parser.parse_args()
    if given.what == "score":
        score()
    elif given.what == "without":
        without(given.questions, given.clones)
    elif given.what == "sample":
        sample(given.clones, given.n, given.seed)
    else:
        recall(given.clones)


if __name__ == "__main__":
    main()
