"""Training of the transformer on questions in the words of users (torch, not needed to use the encoder).

    python -m tests.benchmarks.encoder.asked STUDENT QUESTIONS CLONES OUT

STUDENT is the file that `student` writes. A line of QUESTIONS has a repository and, for definitions of it, questions
that they answer, in words that their code does not say. The last layers, the way out to the vectors of words and these
vectors learn to place a question near its definition among all of the repository, by the similarity that a search
uses, while subjects of commits stay where they are and each word near to where it was.

CLONES holds a clone of each repository as `OWNER+NAME`, at the commit that QUESTIONS has. The STUDENT of the shipped
file is the encoder of the package at commit 84fab738, with the SHA-256 9bf65a4c. Definitions are those of the parser of
commit afa02add, of the last 19 applications of commit 080d6a09; another one may find others, and the file may have
other bytes.
"""

import argparse
import hashlib
import json
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional

from causalist.model.graph import CodeGraph
from causalist.model.node_ids import NodeKind, Role
from causalist.pipeline.repository import Repository
from causalist.rank.lexical.question_encoder import (
    COUNT_POWER,
    FILE_SHARE,
    NORM_OFFSET,
    QuestionEncoder,
    encoder_bytes,
    pack,
    pieces_of,
    read_encoder,
    rows_of_terms,
    unpack,
)
from tests.benchmarks.encoder.student import WIDTH, Network, layer_arrays, pad

_ANSWERS = [
    kind for kind in NodeKind if kind not in (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.ENTITY, NodeKind.EXTERNAL)
]
_MAX_COUNT = 1024
_LEAVE_LEVELS = -127, 127
_WORD_LEVELS = -8, 7


class Settings(NamedTuple):
    """What a training run depends on besides its data."""

    seed: int = 0
    threads: int = 1  # another number may change the last bits
    fixed: int = 3  # layers, the first ones, that do not learn
    epochs: int = 2
    batch: int = 32  # questions of one repository
    held: int = 16  # sentences beside them that stay where they are
    hold: float = 1.0  # weight of their distance
    lr: float = 3e-4
    warm: int = 30  # steps
    last: float = 0.05  # of the rate, at the end
    drop: float = 0.1  # share of numbers that a step does not see
    scale: float = 15.0  # of similarities, before the softmax
    lr_words: float = 3e-4
    hold_words: float = 1e-3  # weight of the sum of their squared distances
    unseen: float = 0.2  # share of a definition's words that a step does not see
    near: int = 80  # definitions for a question, the most similar, whose words learn in a step,
    others: int = 300  # and as many others of the repository
    renewed: int = 200  # steps after which the vectors of all other definitions are computed again
    subjects: int = 400  # of a repository, the last ones


class Definitions:
    """What a question about a repository may want.

    `nodes` are definitions of code, shape (n,). The product of a unit vector with a row of `vectors`, float32 (n, d),
    is its similarity. `parts`, of the same shape, are what the files of the definitions add to that.
    """

    def __init__(self, repository: Repository, encoder: QuestionEncoder) -> None:
        graph, lexical = repository.index.graph, repository.index.lexical
        postings, n = lexical.definitions, len(graph.nodes)
        rows = rows_of_terms(lexical.terms, encoder)
        terms = np.repeat(np.arange(len(postings.indptr) - 1), np.diff(postings.indptr))
        has_row = rows[terms] >= 0
        counts = np.minimum(postings.counts[has_row], _MAX_COUNT).astype(np.float32)
        entries = postings.documents[has_row], rows[terms[has_row]]
        bags = sparse.csr_matrix((counts ** np.float32(COUNT_POWER), entries), (n, len(encoder.rows)))
        owners = np.maximum(graph.nodes.files, 0)
        self.nodes = np.flatnonzero((lexical.bag_norms > 0) & _is_answer(graph))
        self._files, self._owners = np.unique(owners, return_inverse=True)
        ones = np.ones(n, dtype=np.float32)
        self._bags_of_files = sparse.csr_matrix((ones, (self._owners, np.arange(n))), (len(self._files), n)) @ bags
        self._owners = self._owners[self.nodes]
        self._bags = bags[self.nodes]
        self.renew(unpack(encoder.rows).astype(np.float32) * encoder.scales[:, None])

    def renew(self, table: NDArray[np.float32]) -> None:
        """Compute the vectors by a table of words."""
        of_files = self._bags_of_files @ table
        of_files /= np.maximum(np.linalg.norm(of_files, axis=1), 1e-9)[:, None]
        sums = self._bags @ table
        sums /= np.linalg.norm(sums, axis=1)[:, None] + NORM_OFFSET
        self.parts = torch.from_numpy(np.float32(FILE_SHARE) * of_files[self._owners])
        self.vectors = torch.from_numpy(sums) + self.parts

    def some(self, rows: NDArray[np.int64], table: Tensor, unseen: float) -> Tensor:
        """Return the vectors of some rows by a table that learns; a share of the words is left out."""
        bags = self._bags[rows]
        weights = functional.dropout(torch.from_numpy(bags.data), unseen) * (1 - unseen)
        words, starts = (torch.from_numpy(each.astype(np.int64)) for each in (bags.indices, bags.indptr[:-1]))
        sums = functional.embedding_bag(words, table, starts, mode="sum", per_sample_weights=weights)
        return sums / (sums.norm(dim=1, keepdim=True) + float(NORM_OFFSET)) + self.parts[rows]


class Asked(NamedTuple):
    """Questions about one repository. `answers`: rows of its definitions."""

    definitions: Definitions
    questions: list[str]
    answers: NDArray[np.int64]
    subjects: list[str]


def network_of(encoder: QuestionEncoder, a: Settings) -> tuple[Network, Tensor, Tensor, Tensor]:
    """Return (the transformer of a file, its way out (d, WIDTH), the scale of each row of that, its bias)."""
    arrays = encoder.arrays
    weights: dict[str, Tensor] = {}
    names = {
        "out": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
        "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
    }  # fmt: skip
    n_layers = int(encoder.header["layers"])
    scales: list[dict[str, Tensor]] = []
    for number in range(n_layers):
        place = f"encoder.layer.{number}."
        scales.append({})
        for name in ("qkv", "out", "up", "down"):
            given = f"layers.{number}.{name}"
            scale = arrays[f"{given}.scale"].astype(np.float32)
            grouped = unpack(arrays[given]).astype(np.float32) * scale[:, :, None]
            matrix = torch.from_numpy(grouped.transpose(1, 0, 2).reshape(grouped.shape[1], -1).copy())
            bias = torch.from_numpy(arrays[f"{given}.bias"].astype(np.float32))
            scales[-1][name] = torch.from_numpy(scale.T.reshape(-1).copy())
            if name == "qkv":
                for part, word in enumerate(("query", "key", "value")):
                    rows = slice(part * WIDTH, (part + 1) * WIDTH)
                    weights[f"{place}attention.self.{word}.weight"] = matrix[rows]
                    weights[f"{place}attention.self.{word}.bias"] = bias[rows]
            else:
                weights[f"{place}{names[name]}.weight"], weights[f"{place}{names[name]}.bias"] = matrix, bias
        for name in ("norm1", "norm2"):
            for part in ("weight", "bias"):
                value = arrays[f"layers.{number}.{name}.{part}"].astype(np.float32)
                weights[f"{place}{names[name]}.{part}"] = torch.from_numpy(value)
    n_pieces = len(arrays["input"]) + len(arrays["codes"])
    weights["embeddings.word_embeddings.weight"] = torch.from_numpy(encoder._vectors(list(range(n_pieces))))
    positions = torch.from_numpy(arrays["positions"].astype(np.float32))
    weights["embeddings.position_embeddings.weight"] = positions
    weights["embeddings.token_type_embeddings.weight"] = torch.zeros(1, WIDTH)
    for part in ("weight", "bias"):
        weights[f"embeddings.LayerNorm.{part}"] = torch.from_numpy(arrays[f"norm.{part}"].astype(np.float32))
    network = Network(weights, range(n_layers))
    for layer, scale_by_name in zip(network.layers, scales, strict=True):
        layer.scales = scale_by_name
    for parameter in (network.table, network.positions, network.norm_w, network.norm_b):
        parameter.requires_grad_(False)
    for layer in network.layers[: a.fixed]:
        layer.requires_grad_(False)
    row_scales = torch.from_numpy(arrays["leave.scale"].astype(np.float32))
    leave = torch.from_numpy(arrays["leave"].astype(np.float32)) * row_scales[:, None]
    return network, leave, row_scales, torch.from_numpy(arrays["leave.bias"].astype(np.float32))


class Student(nn.Module):
    """The transformer with its way out. What the layers that do not learn give is computed once for each text."""

    def __init__(self, encoder: QuestionEncoder, a: Settings) -> None:
        super().__init__()
        self.encoder, self.a = encoder, a
        self.network, leave, self.row_scales, bias = network_of(encoder, a)
        self.leave, self.bias = nn.Parameter(leave), nn.Parameter(bias)
        self.word_scales = torch.from_numpy(encoder.scales.astype(np.float32))
        self.words = nn.Parameter(torch.from_numpy(unpack(encoder.rows).astype(np.float32)) * self.word_scales[:, None])
        self._entered: dict[str, Tensor] = {}

    def enter(self, texts: Iterable[str]) -> None:
        """Compute what the fixed layers give for texts."""
        places = self.encoder.arrays["pieces.places"]
        number = {text: pieces_of(text, self.encoder.pieces.position) for text in texts}
        order = sorted(number, key=lambda text: (len(number[text]), text))
        with torch.no_grad():
            for start in range(0, len(order), 64):
                some = order[start : start + 64]
                ids, mask = pad([[0, *places[number[text]].tolist(), 1] for text in some])
                x = self.network.enter(ids)
                for layer in self.network.layers[: self.a.fixed]:
                    x = layer(x, mask)
                for i, text in enumerate(some):
                    self._entered[text] = x[i, : len(number[text]) + 2].clone()

    def table(self) -> Tensor:
        """Return the vectors of words, rounded."""
        return _round(self.words, self.word_scales, _WORD_LEVELS)

    def forward(self, texts: Sequence[str], drop: float = 0.0) -> Tensor:
        """Return unit vectors, shape (n, d)."""
        given = [self._entered[text] for text in texts]
        longest = max(len(each) for each in given)
        x, mask = torch.zeros(len(given), longest, WIDTH), torch.zeros(len(given), longest, dtype=torch.bool)
        for i, each in enumerate(given):
            x[i, : len(each)], mask[i, : len(each)] = each, True
        x = functional.dropout(x, drop)
        for layer in self.network.layers[self.a.fixed :]:
            x = layer(x, mask)
        pooled = functional.normalize((x * mask[..., None]).sum(1), dim=1)
        rounded = _round(self.leave, self.row_scales, _LEAVE_LEVELS)
        return functional.normalize(functional.linear(functional.dropout(pooled, drop), rounded, self.bias), dim=1)


def _round(rows: Tensor, scales: Tensor, levels: tuple[int, int]) -> Tensor:
    zeros = torch.zeros(len(scales), dtype=torch.int32)
    return torch.fake_quantize_per_channel_affine(rows, scales, zeros, 0, *levels)


def _is_answer(graph: CodeGraph) -> NDArray[np.bool_]:
    is_answer: NDArray[np.bool_] = np.isin(graph.nodes.kinds, _ANSWERS) & (graph.nodes.roles == Role.CODE)
    return is_answer


def read_asked(path: Path, clones: Path, encoder: QuestionEncoder, a: Settings) -> list[Asked]:
    """Return the questions of all repositories; those about definitions that the index lacks are left out."""
    result = []
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        repository = entry["repository"]
        name, _, commit = repository.partition("@")
        clone = clones / name.replace("/", "+")
        if _git(clone, "rev-parse", "HEAD").strip() != commit:
            raise SystemExit(f"{clone} is not at {commit}")
        opened = Repository.open(clone, exact_root=True)
        definitions = Definitions(opened, encoder)
        row = {opened.index.graph.nodes.ids[node]: i for i, node in enumerate(definitions.nodes.tolist())}
        pairs = [(question, row[node]) for node, said in entry["asked"].items() if node in row for question in said]
        subjects = dict.fromkeys(_git(clone, "log", f"-{a.subjects}", "--no-merges", "--format=%s").splitlines())
        kept = [text for text in subjects if 20 < len(text) < 120 and encoder.is_understood(text)]
        result.append(Asked(definitions, [q for q, _ in pairs], np.array([i for _, i in pairs], np.int64), kept))
        print(
            f"{repository}: {len(definitions.nodes)} definitions, {len(pairs)} questions, {len(kept)} subjects",
            flush=True,
        )
    return result


def _git(folder: Path, *arguments: str) -> str:
    run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True)
    return run.stdout.decode("utf-8", "replace")


def batches_of(asked: Sequence[Asked], generator: np.random.Generator, size: int) -> list[tuple[Asked, list[int]]]:
    """Return (repository, numbers of questions), those of a batch of about equal length, in random order."""
    result = []
    for each in asked:
        order = generator.permutation(len(each.questions))
        order = order[np.argsort([len(each.questions[i]) // 12 for i in order], kind="stable")]
        result += [(each, order[start : start + size].tolist()) for start in range(0, len(order), size)]
    return [result[i] for i in generator.permutation(len(result))]


def fit(student: Student, asked: Sequence[Asked], a: Settings) -> None:
    """Train the student on questions."""
    torch.manual_seed(a.seed)
    generator = np.random.default_rng(a.seed)
    held = [text for each in asked for text in each.subjects[:: max(len(each.subjects) // 6, 1)]]
    student.enter([*held, *(question for each in asked for question in each.questions)])
    with torch.no_grad():
        places = torch.cat([student(held[start : start + 64]) for start in range(0, len(held), 64)])
    given = student.words.detach().clone()
    parameters = [each for each in student.parameters() if each.requires_grad and each is not student.words]
    groups = [{"params": parameters, "first": a.lr}, {"params": [student.words], "first": a.lr_words}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.0)
    n_steps = a.epochs * sum(-(-len(each.questions) // a.batch) for each in asked)
    step, started = 0, time.time()
    for _ in range(a.epochs):
        for each, numbers in batches_of(asked, generator, a.batch):
            share = min(1, (step + 1) / a.warm) * (1 - (1 - a.last) * step / n_steps)
            for group in optimizer.param_groups:
                group["lr"] = group["first"] * share
            beside = generator.integers(0, len(held), a.held)
            found = student([*(each.questions[i] for i in numbers), *(held[i] for i in beside)], a.drop)
            similar = _similarities(student, each, found[: len(numbers)], each.answers[numbers], generator)
            loss = functional.cross_entropy(similar * a.scale, torch.from_numpy(each.answers[numbers]))
            moved = 1 - (found[len(numbers) :] * places[beside]).sum(1).mean()
            optimizer.zero_grad(set_to_none=True)
            (loss + a.hold * moved + a.hold_words * ((student.words - given) ** 2).sum()).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            step += 1
            if step % 50 == 0 or step == n_steps:
                print(f"{step}/{n_steps} {loss.item():.3f} {moved.item():.3f} {time.time() - started:.0f}s", flush=True)
            if step % a.renewed == 0:
                table = student.table().detach().numpy()
                for one in asked:
                    one.definitions.renew(table)


def _similarities(
    student: Student, asked: Asked, found: Tensor, answers: NDArray[np.int64], generator: np.random.Generator
) -> Tensor:
    """Return the similarities of questions to all definitions, those to some by words that learn."""
    definitions = asked.definitions
    similar = found @ definitions.vectors.T
    nearest = torch.topk(similar.detach(), min(student.a.near, similar.shape[1]), dim=1).indices.numpy().ravel()
    others = generator.integers(0, similar.shape[1], student.a.others)
    some = np.unique(np.concatenate([answers, nearest, others]))
    learning = definitions.some(some, student.table(), student.a.unseen)
    return similar.index_copy(1, torch.from_numpy(some), found @ learning.T)


def learned_arrays(student: Student) -> dict[str, NDArray[Any]]:
    """Return the arrays of an encoder file that training changes."""
    arrays: dict[str, NDArray[Any]] = {}
    with torch.no_grad():
        for number in range(student.a.fixed, len(student.network.layers)):
            arrays |= layer_arrays(student.network, number)
        rounded = (student.leave / student.row_scales[:, None]).round().clamp(*_LEAVE_LEVELS)
        arrays["leave"] = rounded.to(torch.int8).numpy()
        arrays["leave.bias"] = student.bias.numpy()
        numbers = (student.words / student.word_scales[:, None]).round().clamp(*_WORD_LEVELS)
        arrays["rows"] = pack(numbers.to(torch.int8).numpy())
    return arrays


def all_arrays(encoder: QuestionEncoder) -> dict[str, NDArray[Any]]:
    """Return all arrays of an encoder file by name."""
    return {
        **encoder.arrays, "rows": encoder.rows, "rows.scale": encoder.scales,
        "stems.blob": encoder.stems.blob, "stems.offsets": encoder.stems.offsets,
        "pieces.blob": encoder.pieces.blob, "pieces.offsets": encoder.pieces.offsets,
    }  # fmt: skip


def train(path: Path, questions: Path, clones: Path, out: Path, a: Settings) -> None:
    """Train the transformer of an encoder file on questions and write it."""
    torch.set_num_threads(a.threads)
    torch.use_deterministic_algorithms(True)
    encoder = read_encoder(path)
    asked = read_asked(questions, clones, encoder, a)
    student = Student(encoder, a)
    fit(student, asked, a)
    header = {key: value for key, value in encoder.header.items() if key != "arrays"}
    n = sum(len(each.questions) for each in asked)
    header["origin"] = {**header["origin"], "questions": n, "settings of questions": a._asdict()}
    out.write_bytes(encoder_bytes(header, {**all_arrays(encoder), **learned_arrays(student)}))
    print(f"{out}: {out.stat().st_size:,} bytes, {hashlib.sha256(out.read_bytes()).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("student", "questions", "clones", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--epochs", type=int, default=Settings().epochs)
    arguments = parser.parse_args()
    settings = Settings(epochs=arguments.epochs)
    train(arguments.student, arguments.questions, arguments.clones, arguments.out, settings)


if __name__ == "__main__":
    main()
