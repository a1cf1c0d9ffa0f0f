"""Word vectors of the question encoder, from the teacher's vectors (torch, not needed to use the encoder).

    python -m tests.benchmarks.encoder.training MINED VECTORS WORDS

A map of the teacher's space to fewer dimensions, a table of word vectors and a weight for each word are fitted so that
the bag of the words of a definition lies near the texts that people wrote about it, and near what the teacher says of
its text.
"""

import argparse
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from causalist.rank.lexical.question_encoder import COUNT_POWER, words_of
from tests.benchmarks.encoder.teacher import read_mined, read_vectors

WEIGHT_NAME = 3


class Bags(NamedTuple):
    """Terms of items, as CSR; `doc` are counts of the words of their documentation."""

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    counts: NDArray[np.float32]
    doc: NDArray[np.float32]


class Pairs(NamedTuple):
    item: NDArray[np.int64]
    sentence: NDArray[np.int64]
    repository: NDArray[np.int32]
    kind: NDArray[np.str_]


class Settings(NamedTuple):
    """What a training run depends on besides its data; docs/question-encoder.md has what else was tried."""

    seed: int = 1
    threads: int = 1  # another number may change the last bits
    dimensions: int = 128
    steps: int = 500
    batch: int = 256
    lr: float = 2e-3
    delta_lr: float = 1.0  # relative to `lr`
    drop: float = 0.3  # share of the words of a definition that a step does not see
    overlap: float = 0.3  # share of pairs whose common words a step does not see
    definitions: float = 1.5  # weight of what the teacher says of definitions
    l2: float = 1.0  # how far a word may leave its place in the teacher's space
    hold: float = 3.0  # how far similarities of sentences may leave the teacher's
    every: int = 100


def read_examples(mined_folder: Path, vectors: Path) -> dict[str, Any]:
    words = np.load(vectors / "words.npz")
    number = {term: i for i, term in enumerate(words["stems"].tolist())}
    sentences, definitions, sentence_vectors, definition_vectors = read_vectors(vectors)
    sentence_number = {text: i for i, text in enumerate(sentences)}
    definition_number = {text: i for i, text in enumerate(definitions)}
    indptr, ids, counts, doc_counts = [0], [], [], []
    item, sentence, repository, kinds = [], [], [], []
    taught, taught_item = [], []
    n_items = 0
    for r, (_, _, items, pairs, _) in enumerate(read_mined(mined_folder)):
        wanted: dict[int, list[tuple[str, str]]] = {}
        for kind, said, i in pairs:
            if said in sentence_number:
                wanted.setdefault(i, []).append((kind, said))
        for i, (names, outer, path, body, doc, text) in enumerate(items):
            is_taught = text in definition_number
            if i not in wanted and not is_taught:
                continue
            count: dict[int, list[float]] = {}
            for term, n in body.items():
                if term in number:
                    count.setdefault(number[term], [0.0, 0.0])[0] += n
            for terms, n in ((names, WEIGHT_NAME), (outer, 1), (path, 1)):
                for term in terms:
                    if term in number:
                        count.setdefault(number[term], [0.0, 0.0])[0] += n
            for term, n in doc.items():
                if term in number:
                    count.setdefault(number[term], [0.0, 0.0])[1] += n
            if len(count) < 4:
                continue
            for key in sorted(count):
                ids.append(key)
                counts.append(count[key][0])
                doc_counts.append(count[key][1])
            indptr.append(len(ids))
            for kind, said in wanted.get(i, ()):
                item.append(n_items)
                sentence.append(sentence_number[said])
                repository.append(r)
                kinds.append(kind)
            if is_taught:
                taught.append(definition_number[text])
                taught_item.append(n_items)
            n_items += 1
    bags = Bags(
        np.array(indptr), np.array(ids, np.int32), np.array(counts, np.float32), np.array(doc_counts, np.float32)
    )
    pairs_ = Pairs(np.array(item), np.array(sentence), np.array(repository, np.int32), np.array(kinds))
    tokens = [[number[w] for w in words_of(text) if w in number] for text in sentences]
    return {
        "stems": words["stems"], "frequency": words["frequency"], "word_vectors": words["vectors"].astype(np.float32),
        "bags": bags, "pairs": pairs_, "tokens": tokens,
        "sentences": sentence_vectors, "definitions": definition_vectors,
        "taught": np.array(taught), "taught_item": np.array(taught_item),
    }  # fmt: skip


class Gathered(NamedTuple):
    ids: Tensor
    offsets: Tensor
    weights: Tensor


def saturate(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the weight of a term that occurs so often."""
    return (counts**COUNT_POWER).astype(np.float32)


def gather(
    bags: Bags, items: NDArray[np.int64], with_doc: NDArray[np.bool_], keep: NDArray[np.bool_] | None = None
) -> Gathered:
    lengths = bags.indptr[items + 1] - bags.indptr[items]
    rows = np.repeat(np.arange(len(items)), lengths)
    at = (
        np.arange(lengths.sum())
        - np.repeat(np.cumsum(lengths) - lengths, lengths)
        + np.repeat(bags.indptr[items], lengths)
    )
    weights = saturate(bags.counts[at] + bags.doc[at] * with_doc[rows])
    ids = bags.ids[at]
    offsets = np.cumsum(lengths) - lengths
    return Gathered(torch.from_numpy(ids.astype(np.int64)), torch.from_numpy(offsets), torch.from_numpy(weights))


def rows_of(bags: Bags, items: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(items)), bags.indptr[items + 1] - bags.indptr[items])


class Table(nn.Module):
    """Map of the teacher's space, word vectors in it, and weights of words."""

    def __init__(self, data: dict[str, Any], n: int) -> None:
        super().__init__()
        vectors = data["word_vectors"]
        self.register_buffer("word_mean", torch.from_numpy(vectors.mean(0)))
        centred = vectors - vectors.mean(0)
        centred /= np.linalg.norm(centred, axis=1, keepdims=True) + 1e-9
        self.register_buffer("words", torch.from_numpy(centred.astype(np.float32)))
        self.register_buffer("mean", torch.from_numpy(data["sentences"].mean(0)))
        both = np.concatenate([centred[::3], (data["sentences"] - data["sentences"].mean(0))[::5]])
        axes = np.linalg.svd(both, full_matrices=False)[2][:n].T.copy()
        self.word_map = nn.Parameter(torch.from_numpy(axes))
        self.map = nn.Parameter(torch.from_numpy(axes.copy()))
        self.delta = nn.Parameter(torch.zeros(len(vectors), n))
        frequency = data["frequency"]
        idf = np.log(frequency[0] / (frequency[1:] + 3.0))
        idf = np.clip(idf / np.median(idf), 0.05, 1.4)
        self.log_weight = nn.Parameter(torch.from_numpy(np.log(idf).astype(np.float32)))
        self.log_scale = nn.Parameter(torch.tensor(math.log(20.0)))
        self.log_scale2 = nn.Parameter(torch.tensor(math.log(20.0)))

    def table(self) -> Tensor:
        return self.words @ self.word_map + self.delta

    def bag(self, given: Gathered, table: Tensor) -> Tensor:
        weights = given.weights * torch.exp(self.log_weight)[given.ids]
        return functional.normalize(
            functional.embedding_bag(given.ids, table, given.offsets, mode="sum", per_sample_weights=weights), dim=1
        )

    def taught(self, vectors: Tensor) -> Tensor:
        return functional.normalize((vectors - self.mean) @ self.map, dim=1)


def fit_table(data: dict[str, Any], a: Settings, evaluate: Any) -> Table:
    generator = np.random.default_rng(a.seed)
    torch.manual_seed(a.seed)
    model = Table(data, a.dimensions)
    bags, pairs = data["bags"], data["pairs"]
    sentences, definitions = torch.from_numpy(data["sentences"]), torch.from_numpy(data["definitions"])
    optimizer = torch.optim.Adam([
        {"params": [model.word_map, model.map], "lr": a.lr * 0.15},
        {"params": [model.delta], "lr": a.lr * a.delta_lr},
        {"params": [model.log_weight, model.log_scale, model.log_scale2], "lr": a.lr},
    ])  # fmt: skip
    first = [group["lr"] for group in optimizer.param_groups]
    by_repository = [np.flatnonzero(pairs.repository == r) for r in range(int(pairs.repository.max()) + 1)]
    by_repository = [each for each in by_repository if len(each) > 100]
    p = np.sqrt([len(each) for each in by_repository])
    p /= p.sum()
    question_words = [set(tokens) for tokens in data["tokens"]]
    print("before", evaluate(model), flush=True)
    started = time.time()
    for step in range(a.steps):
        for group, lr in zip(optimizer.param_groups, first, strict=True):
            group["lr"] = lr * min(1, (step + 1) / 50) * (1 - 0.95 * max(0.0, step / a.steps - 0.3) / 0.7)
        r = int(generator.choice(len(by_repository), p=p))
        chosen = generator.choice(by_repository[r], min(a.batch, len(by_repository[r])), replace=False)
        chosen = chosen[np.unique(pairs.sentence[chosen], return_index=True)[1]]
        items = pairs.item[chosen]
        given = gather(bags, items, pairs.kind[chosen] != "doc")
        rows = rows_of(bags, items)
        ids = given.ids.numpy()
        keep = generator.random(len(ids)) > a.drop
        without = generator.random(len(items)) < a.overlap
        shared = np.fromiter(
            (ids[i] in question_words[pairs.sentence[chosen[rows[i]]]] for i in range(len(ids))), np.bool_, len(ids)
        )
        keep &= ~(without[rows] & shared)
        table = model.table()
        v = model.bag(
            Gathered(given.ids, given.offsets, given.weights * torch.from_numpy(keep.astype(np.float32))), table
        )
        q = model.taught(sentences[pairs.sentence[chosen]])
        s = q @ v.T * torch.exp(model.log_scale).clamp(max=60)
        same = torch.from_numpy(items[:, None] == items[None, :]) & ~torch.eye(len(items), dtype=torch.bool)
        s = s.masked_fill(same, -1e4)
        y = torch.arange(len(items))
        loss = (functional.cross_entropy(s, y) + functional.cross_entropy(s.T, y)) / 2
        if a.definitions:
            some = generator.choice(len(data["taught"]), a.batch, replace=False)
            items = data["taught_item"][some]
            given = gather(bags, items, np.ones(len(items), np.bool_))
            keep = torch.from_numpy((generator.random(len(given.ids)) > a.drop).astype(np.float32))
            v2 = model.bag(given._replace(weights=given.weights * keep), table)
            d = model.taught(definitions[data["taught"][some]])
            s2 = d @ v2.T * torch.exp(model.log_scale2).clamp(max=60)
            y2 = torch.arange(len(items))
            loss = loss + a.definitions * (functional.cross_entropy(s2, y2) + functional.cross_entropy(s2.T, y2)) / 2
            # What the teacher says of pairs of questions and definitions.
        regular = (model.delta**2).sum(1).mean()
        if a.hold:
            # The map keeps the teacher's similarities among sentences.
            some = generator.choice(len(sentences), 256, replace=False)
            t = functional.normalize(sentences[some] - model.mean, dim=1)
            m = model.taught(sentences[some])
            regular = regular + a.hold * ((t @ t.T - m @ m.T) ** 2).mean()
        optimizer.zero_grad(set_to_none=True)
        (loss + a.l2 * regular).backward()
        optimizer.step()
        if (step + 1) % a.every == 0:
            print(
                step + 1,
                f"loss {loss.item():.3f} {time.time() - started:.0f}s",
                evaluate(model),
                flush=True,
            )
    return model


def train(mined: Path, vectors: Path, out: Path) -> None:
    """Fit the vectors of words and the map of the teacher's space, and write them."""
    settings = Settings()
    torch.set_num_threads(settings.threads)
    torch.use_deterministic_algorithms(True)
    data = read_examples(mined, vectors)
    table = fit_table(data, settings, lambda _: "")
    with torch.no_grad():
        rows = table.table() * torch.exp(table.log_weight)[:, None]
    np.savez(out, stems=data["stems"], rows=rows.numpy(), map=table.map.detach().numpy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mined", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    train(arguments.mined, arguments.vectors, arguments.out)


if __name__ == "__main__":
    main()
