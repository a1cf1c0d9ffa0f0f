"""Training of the transformer of the question encoder (torch, not needed to use the encoder).

    python -m tests.benchmarks.encoder.student VECTORS WORDS OUT

The student is the teacher with five of its six layers, fewer hidden numbers, a shorter vocabulary and weights of 4
bits. It begins with the teacher's weights and learns, while its weights are rounded at each step, to place a sentence
where the teacher places it. WORDS holds the vectors of words of code and the map of the teacher's space to theirs.
"""

import argparse
import hashlib
import json
import math
import struct
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from causalist.model.string_table import StringTable
from causalist.rank.lexical.question_encoder import MAX_PIECES, encoder_bytes, pack, pieces_of
from tests.benchmarks.encoder.teacher import digest, model_folder, read_vectors

HEADS, WIDTH = 12, 384
GROUP = 128  # weights with one scale
PART = 8  # numbers of a code vector
LEVELS = -8, 7
FIRST, LAST = 101, 102  # of the teacher's vocabulary: what comes before and after a text
_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
    "down": "output.dense", "norm2": "output.LayerNorm",
}  # fmt: skip


class Cycle(NamedTuple):
    """Steps of one optimizer. Its rates fall along a cosine of `length` steps, of which the first `steps` are taken."""

    steps: int
    length: int
    warm: int
    lr: float
    piece_lr: float


class Settings(NamedTuple):
    """What a training run depends on besides its data."""

    seed: int = 1
    threads: int = 1  # another number may change the last bits
    taken: tuple[int, ...] = (0, 1, 3, 4, 5)  # layers of the teacher
    hidden: int = 1408  # of the 1,536 numbers between the two matrices of a layer
    frequent: int = 12000  # pieces of words that the sentences use most
    pieces: int = 16000  # with those that come first in the teacher's vocabulary
    rows: int = 5000  # pieces with a row of their own in the file; the others have code vectors
    vocabulary: int = 16000  # with the pieces that the student has not learned
    batch: int = 64
    cycles: tuple[Cycle, ...] = (Cycle(1300, 1300, 40, 4e-4, 1e-3),)
    mapped: float = 1.0  # weight of the cosine after the map
    every: int = 100


def read_weights() -> dict[str, Tensor]:
    """Return the arrays of the teacher by name."""
    data = (model_folder() / "model.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    arrays = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            first, last = (8 + length + offset for offset in entry["data_offsets"])
            array = np.frombuffer(data[first:last], np.float32).reshape(entry["shape"])
            arrays[name.removeprefix("bert.")] = torch.from_numpy(array.copy())
    return arrays


class Layer(nn.Module):
    """A layer of BERT. Its matrices are rounded to 4 bits in use once `scales` are set."""

    def __init__(self, weights: dict[str, Tensor], number: int) -> None:
        super().__init__()
        given = {
            name: (weights[f"encoder.layer.{number}.{of}.weight"], weights[f"encoder.layer.{number}.{of}.bias"])
            for name, of in _NAMES.items()
        }
        given["qkv"] = tuple(torch.cat([given[name][i] for name in "qkv"]) for i in (0, 1))  # type: ignore[assignment]
        self.weights = nn.ParameterDict({name: given[name][0] for name in ("qkv", "out", "up", "down")})
        self.biases = nn.ParameterDict({name: given[name][1] for name in ("qkv", "out", "up", "down")})
        self.norms = nn.ParameterDict({f"{n}_{k}": given[n][i] for n in ("norm1", "norm2") for i, k in enumerate("wb")})
        self.scales: dict[str, Tensor] = {}

    def linear(self, name: str, x: Tensor) -> Tensor:
        weight = self.weights[name]
        if self.scales:
            weight = round_groups(weight, self.scales[name])
        return functional.linear(x, weight, self.biases[name])

    def hidden(self, x: Tensor, mask: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = self.linear("qkv", x).view(n, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        return self._normalize("norm1", x + self.linear("out", seen.transpose(1, 2).reshape(n, length, width)))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.hidden(x, mask)
        hidden = functional.gelu(self.linear("up", x), approximate="tanh" if self.scales else "none")
        return self._normalize("norm2", x + self.linear("down", hidden))

    def _normalize(self, name: str, x: Tensor) -> Tensor:
        return functional.layer_norm(x.float(), (WIDTH,), self.norms[f"{name}_w"], self.norms[f"{name}_b"], 1e-12)

    def prune(self, x: Tensor, mask: Tensor, n: int) -> None:
        """Keep the `n` hidden numbers that add most to the output; the mean of the others becomes part of the bias."""
        found = functional.gelu(self.linear("up", self.hidden(x, mask)))[mask]
        adds = found.var(0) * self.weights["down"].square().sum(0)
        kept = torch.topk(adds, n).indices.sort().values
        self.biases["down"] += (
            self.weights["down"] @ found.mean(0) - self.weights["down"][:, kept] @ found.mean(0)[kept]
        )
        self.weights["up"] = nn.Parameter(self.weights["up"][kept].clone())
        self.biases["up"] = nn.Parameter(self.biases["up"][kept].clone())
        self.weights["down"] = nn.Parameter(self.weights["down"][:, kept].clone())


def round_groups(weight: Tensor, scale: Tensor) -> Tensor:
    """Return the matrix rounded to 4 bits; gradients pass where nothing is cut off."""
    groups = weight.reshape(-1, GROUP)
    zeros = torch.zeros(len(scale), dtype=torch.int32)
    return torch.fake_quantize_per_channel_affine(groups, scale, zeros, 0, *LEVELS).reshape(weight.shape)


def best_scales(rows: Tensor) -> Tensor:
    """Return the scale of each row with which rounding to 4 bits changes it least."""
    most = rows.abs().amax(1).clamp(min=1e-9)
    best, least = most / 7, torch.full((len(rows),), math.inf)
    for share in np.linspace(0.5, 1.1, 13).tolist():
        scale = most * share / 7.5
        error = ((rows / scale[:, None]).round().clamp(*LEVELS) * scale[:, None] - rows).square().sum(1)
        best, least = torch.where(error < least, scale, best), torch.minimum(error, least)
    return best.half().float()


class Network(nn.Module):
    """The teacher, or what is left of it."""

    def __init__(self, weights: dict[str, Tensor], taken: Sequence[int]) -> None:
        super().__init__()
        self.table = nn.Parameter(weights["embeddings.word_embeddings.weight"])
        positions = weights["embeddings.position_embeddings.weight"][: MAX_PIECES + 2]
        self.positions = nn.Parameter(positions + weights["embeddings.token_type_embeddings.weight"][0])
        self.norm_w = nn.Parameter(weights["embeddings.LayerNorm.weight"])
        self.norm_b = nn.Parameter(weights["embeddings.LayerNorm.bias"])
        self.layers = nn.ModuleList(Layer(weights, number) for number in taken)
        self.table_scale: Tensor | None = None

    def enter(self, ids: Tensor) -> Tensor:
        x = functional.embedding(ids, self.table)
        if self.table_scale is not None:
            rows = x.reshape(-1, WIDTH)
            scale = self.table_scale[ids.reshape(-1)]
            zeros = torch.zeros(len(rows), dtype=torch.int32)
            x = torch.fake_quantize_per_channel_affine(rows, scale, zeros, 0, *LEVELS).reshape(x.shape)
        return functional.layer_norm(x + self.positions[: ids.shape[1]], (WIDTH,), self.norm_w, self.norm_b, 1e-12)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.enter(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return functional.normalize((x.float() * mask[..., None]).sum(1), dim=1)

    def prune(self, ids: Tensor, mask: Tensor, n: int) -> None:
        """Keep `n` hidden numbers of each layer."""
        x = self.enter(ids)
        for layer in self.layers:
            layer.prune(x, mask, n)
            x = layer(x, mask)

    def round(self) -> None:
        """Round the weights to 4 bits from now on."""
        self.table_scale = best_scales(self.table.detach())
        for layer in self.layers:
            layer.scales = {
                name: best_scales(weight.detach().reshape(-1, GROUP)) for name, weight in layer.weights.items()
            }


def pad(tokens: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return (numbers of pieces, what of them is no padding), both of shape (n, longest)."""
    longest = max(len(each) for each in tokens)
    ids, mask = np.zeros((len(tokens), longest), np.int64), np.zeros((len(tokens), longest), np.bool_)
    for i, each in enumerate(tokens):
        ids[i, : len(each)], mask[i, : len(each)] = each, True
    return torch.from_numpy(ids), torch.from_numpy(mask)


def batches_of(tokens: Sequence[Sequence[int]], order: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """Return batches of about equal length: that saves half of the time."""
    result = []
    for start in range(0, len(order), 16 * size):
        chunk = order[start : start + 16 * size]
        chunk = chunk[np.argsort([len(tokens[i]) for i in chunk], kind="stable")]
        result += [chunk[i : i + size] for i in range(0, len(chunk), size)]
    return result


def read_vocabulary() -> list[str]:
    return (model_folder() / "vocab.txt").read_text(encoding="utf-8").split("\n")[:30522]


def tokens_of(texts: Sequence[str], number: dict[str, int], edges: tuple[int, int]) -> list[list[int]]:
    """Return the pieces of texts between the two edges."""
    find = lambda piece: number.get(piece, -1)  # noqa: E731
    return [[edges[0], *pieces_of(text, find), edges[1]] for text in texts]


def frequent_pieces(texts: Sequence[str], vocabulary: Sequence[str]) -> list[str]:
    """Return the pieces of texts, the most frequent first."""
    number = {piece: i for i, piece in enumerate(vocabulary)}
    count = Counter(i for each in tokens_of(texts, number, (FIRST, LAST)) for i in each[1:-1])
    return [vocabulary[i] for _, i in sorted((-n, i) for i, n in count.items())]


def choose_pieces(texts: Sequence[str], vocabulary: Sequence[str], a: Settings) -> list[str]:
    """Return the pieces of the shorter vocabulary, sorted: letters, those that texts use most, everyday ones."""
    number = {piece: i for i, piece in enumerate(vocabulary)}
    plain = [p for p in vocabulary if p == "[" or (p.isascii() and not p.startswith("["))]
    count = Counter(vocabulary[i] for each in tokens_of(texts, number, (FIRST, LAST)) for i in each[1:-1])
    chosen = dict.fromkeys(piece for piece in plain if len(piece.removeprefix("##")) == 1)
    often = sorted((-count[piece], number[piece], piece) for piece in plain if count[piece])
    chosen.update(dict.fromkeys(piece for _, _, piece in often[: a.frequent]))
    for piece in plain:
        if len(chosen) < a.pieces:
            chosen[piece] = None
    return sorted(chosen, key=str.encode)


def fit(
    texts: Sequence[str], vectors: NDArray[np.float32], mapping: Tensor, a: Settings
) -> tuple[Network, list[str], Tensor]:
    """Return (the student, its vocabulary, the mean of the teacher's vectors)."""
    torch.manual_seed(a.seed)
    generator = np.random.default_rng(a.seed)
    vocabulary, weights = read_vocabulary(), read_weights()
    targets = torch.from_numpy(vectors)
    mean = targets.mean(0)
    pieces = choose_pieces(texts, vocabulary, a)
    number = {piece: i for i, piece in enumerate(vocabulary)}
    places = [FIRST, LAST, *(number[piece] for piece in pieces)]
    weights["embeddings.word_embeddings.weight"] = weights["embeddings.word_embeddings.weight"][places].clone()
    student = Network(weights, a.taken)
    tokens = tokens_of(texts, {piece: i + 2 for i, piece in enumerate(pieces)}, (0, 1))
    is_held = np.array([digest(text)[2] % 32 == 0 for text in texts])
    held, learned = np.flatnonzero(is_held)[:1200], np.flatnonzero(~is_held)

    def agreement() -> str:
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            cosines = [cosines_of(student(*pad([tokens[i] for i in part])), targets[part])
                       for part in batches_of(tokens, held, 100)]  # fmt: skip
        return " ".join(f"{float(torch.cat(each).mean()):.4f}" for each in zip(*cosines, strict=True))

    def cosines_of(found: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        x, y = found.float() - mean, target - mean
        with torch.autocast("cpu", enabled=False):
            return functional.cosine_similarity(x, y), functional.cosine_similarity(x @ mapping, y @ mapping)

    print(f"{len(learned)} sentences, {len(held)} held", "taken", agreement(), flush=True)
    with torch.no_grad():
        some = generator.choice(learned, 256, replace=False)
        student.prune(*pad([tokens[i] for i in some]), a.hidden)
    print("pruned", agreement(), flush=True)
    student.round()
    print("rounded", agreement(), flush=True)
    started = time.time()
    for number_of_cycle, cycle in enumerate(a.cycles):
        generator = np.random.default_rng(a.seed + number_of_cycle)
        optimizer = torch.optim.AdamW([
            {"params": [p for name, p in student.named_parameters() if name != "table"], "lr": cycle.lr},
            {"params": [student.table], "lr": cycle.piece_lr},
        ], weight_decay=0.0, fused=True)  # fmt: skip
        step = 0
        while step < cycle.steps:
            batches = batches_of(tokens, generator.permutation(learned), a.batch)
            for which in generator.permutation(len(batches))[: cycle.steps - step]:
                batch = batches[which]
                share = min(1, (step + 1) / cycle.warm) * (0.51 + 0.49 * math.cos(math.pi * step / cycle.length))
                for group, lr in zip(optimizer.param_groups, (cycle.lr, cycle.piece_lr), strict=True):
                    group["lr"] = lr * share
                with torch.autocast("cpu", torch.bfloat16):
                    found = student(*pad([tokens[i] for i in batch]))
                plain, mapped = cosines_of(found.float(), targets[batch])
                loss = (1 - plain).mean() + a.mapped * (1 - mapped).mean()
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
                optimizer.step()
                step += 1
                if step % a.every == 0 or step == cycle.steps:
                    print(f"{step}/{cycle.steps} held {agreement()} {time.time() - started:.0f}s", flush=True)
    return student, pieces, mean


def packed_groups(weight: Tensor, scale: Tensor) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Return (packed integers, scales) of a matrix, shape (groups, rows, GROUP / 2) and (groups, rows)."""
    n = len(weight)
    integers = (weight.reshape(-1, GROUP) / scale[:, None]).round().clamp(*LEVELS).to(torch.int8).numpy()
    grouped = integers.reshape(n, -1, GROUP).transpose(1, 0, 2)
    return pack(grouped), np.ascontiguousarray(scale.numpy().reshape(n, -1).T).astype(np.float16)


def packed_rows(rows: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return (packed integers of 4 bits, scale) of each row."""
    scale = best_scales(torch.from_numpy(rows)).numpy()
    return pack(np.rint(rows / scale[:, None]).clip(*LEVELS).astype(np.int8)), scale


def code_vectors(
    rows: NDArray[np.float32], width: int
) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.float32]]:
    """Return (numbers of code vectors, shape (n, parts); code vectors, shape (parts, 256, width); scale of a part).

    The code vectors of each part are the 256 means of k-means.
    """
    generator = np.random.default_rng(1)
    n_parts = rows.shape[1] // width
    codes = np.zeros((len(rows), n_parts), np.uint8)
    vectors, scales = np.zeros((n_parts, 256, width), np.int8), np.zeros((n_parts, 1), np.float32)
    for part in range(n_parts):
        given = rows[:, part * width : (part + 1) * width]
        centers = given[generator.choice(len(given), 256, replace=False)].copy()
        for _ in range(12):
            nearest = ((centers**2).sum(1) - 2 * given @ centers.T).argmin(1)
            count = np.bincount(nearest, minlength=256)
            sums = np.stack([np.bincount(nearest, weights=column, minlength=256) for column in given.T], axis=1)
            centers = np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], centers).astype(np.float32)
        scales[part] = np.abs(centers).max() / 127
        vectors[part] = np.rint(centers / scales[part])
        rounded = vectors[part] * scales[part]
        codes[:, part] = ((rounded**2).sum(1) - 2 * given @ rounded.T).argmin(1)
    return codes, vectors, scales


def piece_arrays(student: Network, pieces: list[str], often: Sequence[str], a: Settings) -> dict[str, NDArray[Any]]:
    """Return the arrays of the vocabulary: rows of 4 bits of frequent pieces, code vectors of the others.

    Pieces that the student has not learned come from the teacher's vocabulary, the first of it.
    """
    vocabulary = read_vocabulary()
    known = set(pieces)
    plain = (p for p in vocabulary if p.isascii() and not p.startswith("[") and not p.isdigit() and p not in known)
    added = [piece for _, piece in zip(range(a.vocabulary - len(pieces)), plain, strict=False)]
    number = {piece: i for i, piece in enumerate(vocabulary)}
    given = read_weights()["embeddings.word_embeddings.weight"][[number[piece] for piece in added]].numpy()
    place = {piece: i + 2 for i, piece in enumerate(pieces)}
    frequent = [piece for piece in often if piece in place][: a.rows]
    rest = sorted(known.difference(frequent))
    assert student.table_scale is not None
    first = [0, 1, *(place[piece] for piece in frequent)]
    scale = student.table_scale[first]
    integers = (student.table[first] / scale[:, None]).round().clamp(*LEVELS).to(torch.int8)
    others = np.concatenate([student.table[[place[piece] for piece in rest]].numpy(), given])
    mean = others.mean(0)
    codes, vectors, scales = code_vectors(others - mean, PART)
    ordered = [*frequent, *rest, *added]
    order = sorted(range(len(ordered)), key=lambda i: ordered[i].encode())
    names = StringTable.from_strings([ordered[i] for i in order])
    return {
        "pieces.blob": names.blob, "pieces.offsets": names.offsets,
        "pieces.places": np.array(order, np.uint16) + np.uint16(2),
        "input": pack(integers.numpy()), "input.scale": scale.numpy(),
        "codes": codes, "code vectors": vectors, "code vectors.scale": scales, "codes.mean": mean,
    }  # fmt: skip


def layer_arrays(student: Network, number: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a layer."""
    arrays: dict[str, NDArray[Any]] = {}
    layer = student.layers[number]
    for name, weight in layer.weights.items():
        place = f"layers.{number}.{name}"
        arrays[place], arrays[f"{place}.scale"] = packed_groups(weight, layer.scales[name])
        arrays[f"{place}.bias"] = layer.biases[name].numpy()
    for name in ("norm1", "norm2"):
        arrays[f"layers.{number}.{name}.weight"] = layer.norms[f"{name}_w"].numpy()
        arrays[f"layers.{number}.{name}.bias"] = layer.norms[f"{name}_b"].numpy()
    return arrays


def student_arrays(student: Network, mean: Tensor, mapping: Tensor) -> dict[str, NDArray[Any]]:
    """Return the arrays of the transformer."""
    arrays: dict[str, NDArray[Any]] = {}
    with torch.no_grad():
        arrays["positions"] = student.positions.numpy().astype(np.float16)
        arrays["norm.weight"], arrays["norm.bias"] = student.norm_w.numpy(), student.norm_b.numpy()
        for number in range(len(student.layers)):
            arrays |= layer_arrays(student, number)
        leave = mapping.T.numpy()
        scales = (np.abs(leave).max(axis=1) / 127).astype(np.float32)
        arrays["leave"], arrays["leave.scale"] = np.rint(leave / scales[:, None]).astype(np.int8), scales
        arrays["leave.bias"] = -(mean @ mapping).numpy()
    return arrays


def train(vectors: Path, words: Path, out: Path, a: Settings) -> None:
    """Train the transformer and write the encoder file."""
    torch.set_num_threads(a.threads)
    torch.use_deterministic_algorithms(True)
    texts, _, targets, _ = read_vectors(vectors)
    given = np.load(words)
    stems, mapping = given["stems"].tolist(), torch.from_numpy(given["map"].astype(np.float32))
    student, pieces, mean = fit(texts, targets, mapping, a)
    order = np.array(sorted(range(len(stems)), key=lambda i: stems[i].encode()))
    names = StringTable.from_strings([stems[i] for i in order])
    with torch.no_grad():
        arrays = student_arrays(student, mean, mapping)
        arrays |= piece_arrays(student, pieces, frequent_pieces(texts, read_vocabulary()), a)
    arrays |= {"stems.blob": names.blob, "stems.offsets": names.offsets}
    arrays["rows"], arrays["rows.scale"] = packed_rows(given["rows"][order].astype(np.float32))
    origin = {
        "teacher": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
        "sources": "docs/question-encoder.md",
        "sentences": len(texts),
        "settings": a._asdict(),
    }
    out.write_bytes(encoder_bytes({"layers": len(student.layers), "heads": HEADS, "origin": origin}, arrays))
    print(f"{out}: {out.stat().st_size:,} bytes, {hashlib.sha256(out.read_bytes()).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("words", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, help="steps of one short cycle, to see that two runs agree")
    arguments = parser.parse_args()
    settings = Settings()
    if arguments.steps:
        settings = settings._replace(cycles=(settings.cycles[-1]._replace(steps=arguments.steps),))
    train(arguments.vectors, arguments.words, arguments.out, settings)


if __name__ == "__main__":
    main()
