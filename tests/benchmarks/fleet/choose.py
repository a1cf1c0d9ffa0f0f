"""Choice of repositories for questions from READMEs: the share of questions whose repository comes first.

    python -m tests.benchmarks.fleet.choose FOLDER              # with fleet.toml, indexed
    python -m tests.benchmarks.fleet.choose FOLDER --fit others # each ecosystem with weights fitted on the others
    python -m tests.benchmarks.fleet.choose FOLDER --ask        # the whole answer, not the choice alone
    python -m tests.benchmarks.fleet.choose FOLDER --no-readme  # READMEs are not in the tables

A question is the first descriptive paragraph of a README, at most MAX_WORDS words of its first sentences. Words of the
names of the repository, its owner and its package are removed. READMEs that say too little after that have none. With
--no-readme nothing of a README counts, so that the code alone has to say what the repository is.
"""

import argparse
import hashlib
import json
import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from causalist.fleet import Fleet
from causalist.fleet.access import FleetView
from causalist.fleet.choice import (
    WEIGHTS,
    Catalog,
    ChoiceWeights,
    RepositoryWords,
    count_words,
    readme_of,
    write_tables,
    write_words,
)
from causalist.fleet.object_store import FleetStore
from causalist.fleet.question import ask_fleet
from causalist.index.source_text import SourceText
from causalist.model.index import Index, Postings
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, Role
from causalist.model.source import FileEntry
from causalist.pipeline.repository import Repository
from causalist.rank.terms import split_word
from causalist.repomap.descriptions import first_paragraph

MAX_WORDS = 30
MIN_WORDS = 6
MIN_DOC_BYTES = 40
ECOSYSTEMS = {
    "python": "python", "javascript": "javascript", "typescript": "javascript", "tsx": "javascript", "go": "go",
    "java": "jvm", "kotlin": "jvm", "scala": "jvm", "rust": "rust", "c": "c", "cpp": "c", "csharp": "dotnet",
    "ruby": "other", "php": "other", "elixir": "other", "swift": "other", "lua": "other", "bash": "other",
}  # fmt: skip


class Question(NamedTuple):
    """A question, the repository that it was made from, the ecosystem of that, and what it was made of."""

    text: str
    repository: str
    ecosystem: str
    kind: str = "README"


def make_questions(view: FleetView) -> Iterator[Question]:
    for name in view.catalog.names:
        repository = view.repository(name)
        path, _ = readme_of(repository.index)
        text = SourceText(repository.index.manifest, repository.read).read_text(path) if path else ""
        said = first_paragraph(text, [name.rpartition("/")[2]]) if text else ""
        words = _without_names(said, name, repository).split()[:MAX_WORDS]
        if len(re.findall(r"[A-Za-z]{3,}", " ".join(words))) >= MIN_WORDS:
            yield Question(" ".join(words), name, ecosystem_of(repository.index))


def make_code_questions(view: FleetView) -> Iterator[Question]:
    """Two of each repository: what the documentation of a definition says, without names, and the same with the name.

    The definition is taken by the hash of its id, among those whose documentation has enough words.
    """
    for name in view.catalog.names:
        repository = view.repository(name)
        nodes, ecosystem = repository.index.graph.nodes, ecosystem_of(repository.index)
        wanted = np.isin(nodes.kinds, [int(each) for each in (*CALLABLE_KINDS, *TYPE_KINDS)]) & (
            nodes.roles == Role.CODE
        )
        found = []
        for node in np.flatnonzero(wanted & (np.diff(nodes.docs.offsets) > MIN_DOC_BYTES)).tolist():
            said = _without_names(nodes.docs[node], name, repository)
            own = set(split_word(nodes.ids[node].rpartition("::")[2]))
            said = " ".join(word for word in said.split() if not own & set(split_word(word)))
            if len(re.findall(r"[A-Za-z]{3,}", said)) >= MIN_WORDS:
                found.append((hashlib.sha256(nodes.ids[node].encode()).hexdigest(), said))
        if found:
            said = min(found)[1]
            yield Question(said, name, ecosystem, "documentation")
            yield Question(f"{said} {name.rpartition('/')[2]}", name, ecosystem, "documentation and name")


def _without_names(said: str, name: str, repository: Repository) -> str:
    names = {part.lower() for part in re.split(r"[/\W_]+", name) if len(part) > 2}
    names |= {re.sub(r"\W", "", part.lower()) for part in name.split("/")}
    for path in ("package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "composer.json"):
        found = repository.read(FileEntry(path, 0, 0))
        if not isinstance(found, str):
            given = re.search(
                r"""^\s*["']?name["']?\s*[:=]\s*["']?([^"',\n]+)""", found.data.decode("utf-8", "replace"), re.M
            )
            names |= {re.sub(r"\W", "", given[1].lower())} if given else set()
    stems = {each.removesuffix("js").removeprefix("python") for each in names} | names
    kept = []
    for word in said.split():
        plain = re.sub(r"\W", "", word.lower())
        parts = {each.lower() for each in re.split(r"[\W_]+", word)} | {plain}
        if not parts & {each for each in stems if len(each) > 2}:
            kept.append(word)
    return " ".join(kept)


def ecosystem_of(index: Index) -> str:
    """The ecosystem of most files of code."""
    counts: Counter[str] = Counter()
    for language, n in sorted(index.languages.items()):
        if language in ECOSYSTEMS:
            counts[ECOSYSTEMS[language]] += n
    return counts.most_common(1)[0][0] if counts else "other"


def count_words_without_readme(index: Index) -> RepositoryWords:
    """The words of a shard as if it had no README: no document of it counts, and nothing is known of what it says."""
    words = count_words(index)
    _, nodes = readme_of(index)
    lexical = index.lexical
    numbers = [lexical.terms.position(term) for term in words.terms]
    counts = dict(words.counts)

    def without(field: str, postings: Postings) -> None:
        chosen = np.zeros(len(index.graph.nodes), dtype=np.bool_)
        chosen[nodes] = True
        places = np.flatnonzero(chosen[postings.documents])
        terms = np.searchsorted(postings.indptr, places, side="right") - 1
        gone = np.bincount(terms, minlength=len(lexical.terms))
        counts[field] = np.maximum(counts[field] - gone[numbers], 0).astype(np.int32)

    for field, postings in (
        ("definitions", lexical.definitions), ("files", lexical.files), ("names", lexical.symbol_names)
    ):  # fmt: skip
        without(field, postings)
    nothing = np.zeros(len(words.terms), dtype=np.int32)
    counts |= {"readme": nothing, "intro": nothing}
    about = {**words.about, "n_readme": 0, "description": [0.0] * len(words.about["description"])}
    return RepositoryWords(words.terms, counts, about)


def catalog_without_readmes(fleet: Fleet, view: FleetView) -> Catalog:
    folder = Path(tempfile.mkdtemp(prefix="fleet-words-"))
    store = FleetStore(str(folder / "store"))
    records = []
    for shard in fleet.status().shards:
        if shard.name in view.catalog.names:
            write_words(folder / "words", count_words_without_readme(view.repository(shard.name).index))
            objects = {**shard.objects, "words": store.put_object(folder / "words", "words")}
            records.append(replace(shard, objects=objects).to_record())
    write_tables(records, store, folder)
    return Catalog.open(store, view.names)


def interval(n_right: int, n: int) -> tuple[float, float]:
    """The Wilson interval of a share, 95 %."""
    z, share = 1.96, n_right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


def ranks_of(catalog: Catalog, questions: Sequence[Question], evidence: Mapping[str, np.ndarray],
             weights: ChoiceWeights) -> list[int]:  # fmt: skip
    ranks = []
    for each in questions:
        scores = evidence[each.text] @ np.array(weights)
        at = catalog.names.index(each.repository)
        ranks.append(1 + int((np.round(scores, 12) > round(float(scores[at]), 12)).sum()))
    return ranks


def fit(catalog: Catalog, questions: Sequence[Question], evidence: Mapping[str, np.ndarray], ridge: float = 0.01,
        columns: Sequence[str] = ChoiceWeights._fields) -> ChoiceWeights:  # fmt: skip
    """The weights, none negative, of the softmax over repositories, with a penalty on their squares in units of spread.

    The spread of a column is that within a question, over all of them.
    """
    used = [ChoiceWeights._fields.index(name) for name in columns]
    spread = np.sqrt(np.mean([evidence[q.text].var(axis=0) for q in questions], axis=0)) + 1e-9
    gold = [catalog.names.index(q.repository) for q in questions]
    features = [evidence[q.text][:, used] / spread[used] for q in questions]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = ridge * float(w @ w), 2 * ridge * w
        for x, right in zip(features, gold, strict=True):
            scores = x @ w
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            total -= math.log(max(shares[right], 1e-300)) / len(gold)
            slope = slope + (shares @ x - x[right]) / len(gold)
        return total, slope

    found = minimize(loss, np.full(len(used), 0.1), jac=True, bounds=[(0, None)] * len(used), method="L-BFGS-B").x
    weights = np.zeros(len(ChoiceWeights._fields))
    weights[used] = found / spread[used]
    return ChoiceWeights(*(round(float(each), 4) for each in weights))


def report(title: str, ranks: Sequence[int]) -> None:
    n, first = len(ranks), sum(rank == 1 for rank in ranks)
    low, high = interval(first, n)
    within = {k: sum(rank <= k for rank in ranks) / n for k in (3, 5, 8)}
    shown = ", ".join(f"first {k} {share:.3f}" for k, share in within.items())
    print(f"{title}: {n} questions, first {first / n:.3f} [{low:.3f}, {high:.3f}], {shown}")


def report_by_kind(ranked: Sequence[tuple[Question, int]]) -> None:
    for kind in sorted({q.kind for q, _ in ranked}):
        for ecosystem in sorted({q.ecosystem for q, _ in ranked}):
            own = [rank for q, rank in ranked if (q.kind, q.ecosystem) == (kind, ecosystem)]
            if own:
                report(f"  {kind}, {ecosystem}", own)
        report(kind, [rank for q, rank in ranked if q.kind == kind])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--fit", default="")
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--no-readme", action="store_true")
    parser.add_argument("--only-readme", action="store_true", help="no questions of documentation")
    parser.add_argument("--wrong", action="store_true", help="list questions whose repository is not first")
    given = parser.parse_args()
    fleet = Fleet.open(given.folder)
    view = FleetView.of(fleet.file, fleet.store)
    questions = [*make_questions(view), *([] if given.only_readme else make_code_questions(view))]
    catalog = catalog_without_readmes(fleet, view) if given.no_readme else view.catalog
    print(f"{len(catalog)} repositories, {len(questions)} questions:", dict(Counter(q.ecosystem for q in questions)))
    evidence = {q.text: catalog.evidence(q.text, view.across if not given.no_readme else None) for q in questions}
    weights = WEIGHTS
    if given.fit == "others":
        ranked: list[tuple[Question, int]] = []
        for ecosystem in sorted({q.ecosystem for q in questions}):
            fitted = fit(catalog, [q for q in questions if q.ecosystem != ecosystem], evidence)
            own = [q for q in questions if q.ecosystem == ecosystem]
            ranked += zip(own, ranks_of(catalog, own, evidence, fitted), strict=True)
        print("each ecosystem with weights fitted on the others:")
        report_by_kind(ranked)
        weights = fit(catalog, questions, evidence)
        print("fitted on all", json.dumps(weights._asdict()))
        report_by_kind(list(zip(questions, ranks_of(catalog, questions, evidence, weights), strict=True)))
        return
    ranks = ranks_of(catalog, questions, evidence, weights)
    report_by_kind(list(zip(questions, ranks, strict=True)))
    if given.wrong:
        for rank, q in zip(ranks, questions, strict=True):
            if rank > 1:
                print(
                    rank, q.repository, "|", q.text, "|", [c.name for c in catalog.choose(q.text, 3, weights=weights)]
                )
    if given.ask:
        found = []
        for q in questions:
            names = list(dict.fromkeys(hit.id.partition(":")[0] for hit in ask_fleet(view, q.text).answer.results))
            found.append(names.index(q.repository) + 1 if q.repository in names else 99)
        report("answer", found)


if __name__ == "__main__":
    main()
