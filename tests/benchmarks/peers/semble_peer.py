"""Semble without its model, in an environment of its own: JSON on stdin {"folder", "questions"}, JSON on stdout, the
files of each question, best first.

The model is downloaded when Semble first runs. Here one that says the same of every text stands in its place and has no
weight (`alpha` 0), so that what is measured is the rest: its chunks, its BM25, and its boosts and penalties. Only
Semble's own names are used; nothing of it is copied.
"""

import json
import sys
from pathlib import Path

import numpy as np
from semble.index import index as semble_index  # type: ignore[import-not-found]

CHUNKS = 100  # of which the files are taken


class Blank:
    """An embedding model to which all texts are equal."""

    dim = 8

    def encode(self, texts: list[str], **_: object) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        return np.ones((len(texts), self.dim), dtype=np.float32)


def main() -> None:
    semble_index.load_model = lambda _=None: (Blank(), "blank")
    semble_index.get_validated_cache = lambda *_args, **_options: None
    job = json.load(sys.stdin)
    index = semble_index.SembleIndex.from_path(Path(job["folder"]))
    answers = []
    for question in job["questions"]:
        found = index.search(question, top_k=CHUNKS, alpha=0.0)
        answers.append(list(dict.fromkeys(result.chunk.file_path for result in found)))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
