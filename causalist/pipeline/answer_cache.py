"""What a process that answers many questions keeps from one to the next: its last answers, and which steps fail.

Nothing of it is written anywhere. An answer is kept under what it follows from, the index, the question and the
options, so that it can never be that of another question or of other files; whoever takes it looks whether the files
that it shows are still those.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from causalist.model.answer import Answer
from causalist.pipeline.steps import Circuits

MOST_ANSWERS = 64
MOST_CHARACTERS = 8_000_000  # of all packs together
MOST_FILES = 200  # that an answer was made from; looking at more takes as long as answering
# An answer that says one of these is worth another try.
_DOUBTS = frozenset({"deadline", "step-skipped", "stale"})


class Kept(NamedTuple):
    """An answer, and the paths of the files that were read for it."""

    answer: Answer
    files: tuple[str, ...]


class AnswerCache:
    """The answers that were asked for last. For any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> Kept | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, answer: Answer, files: tuple[str, ...]) -> None:
        """Keeps an answer and the paths of the files that it read; forgets those that were asked for longest ago. One
        that is not all it could be is not kept, nor one that found nothing: that costs little."""
        kept = Kept(answer, files)
        if answer.pack is None or len(files) > MOST_FILES or any(d.slug in _DOUBTS for d in answer.diagnostics):
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self._characters += _size(kept)
            while len(self._kept) > MOST_ANSWERS or self._characters > MOST_CHARACTERS:
                self._drop(next(iter(self._kept)))

    def forget(self, key: Hashable) -> None:
        with self._lock:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        dropped = self._kept.pop(key, None)
        if dropped is not None:
            self._characters -= _size(dropped)


def _size(kept: Kept) -> int:
    return len(kept.answer.pack.text) if kept.answer.pack is not None else 0


@dataclass(frozen=True, slots=True)
class Session:
    """Of one process, whichever index it answers from."""

    circuits: Circuits = field(default_factory=Circuits)
    answers: AnswerCache = field(default_factory=AnswerCache)
