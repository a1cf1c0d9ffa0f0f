"""State of a process that answers many queries: its last answers and the steps that keep failing.

Nothing of it is stored. The key of an answer is the index, the query and the options, so that an answer never serves
another query or other files. The caller checks that the files in the answer are unchanged.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from causalist._internal.stages import Circuits
from causalist.model.answer import Answer, AskOptions
from causalist.model.source import DiagnosticSlug

MAX_ANSWERS = 64
MAX_CHARACTERS = 8_000_000  # of all packs together
MAX_FILES = 200  # that an answer was made from; looking at more takes as long as answering
# An answer that says one of these is worth another try.
_UNCACHED_SLUGS = frozenset({DiagnosticSlug.DEADLINE, DiagnosticSlug.STEP_SKIPPED, DiagnosticSlug.STALE})


class CachedAnswer(NamedTuple):
    """An answer, and the paths of the files that were read for it."""

    answer: Answer
    files: tuple[str, ...]


class AnswerCache:
    """The most recently used answers. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, CachedAnswer] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> CachedAnswer | None:
        """Return the answer of a key, or None."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, answer: Answer, files: tuple[str, ...]) -> None:
        """Store an answer with the paths of the files it read; drop the least recently used ones.

        Incomplete answers are not stored, nor answers without results, which are cheap.
        """
        kept = CachedAnswer(answer, files)
        if answer.pack is None or len(files) > MAX_FILES or any(d.slug in _UNCACHED_SLUGS for d in answer.diagnostics):
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self._characters += _count_characters(kept)
            while len(self._kept) > MAX_ANSWERS or self._characters > MAX_CHARACTERS:
                self._drop(next(iter(self._kept)))

    def newest_files(self) -> tuple[str, ...]:
        """Return the files of the answer that was stored or used last; empty without answers."""
        with self._lock:
            return next((kept.files for kept in reversed(self._kept.values())), ())

    def forget(self, key: Hashable) -> None:
        """Drop the answer of a key."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        dropped = self._kept.pop(key, None)
        if dropped is not None:
            self._characters -= _count_characters(dropped)


def _count_characters(kept: CachedAnswer) -> int:
    return len(kept.answer.pack.text) if kept.answer.pack is not None else 0


# Answers a question that is not cached, of a repository, with the options as they were given, and `remember` of `ask`.
AskInTime = Callable[[Any, str, AskOptions, bool | None], CachedAnswer]


@dataclass(frozen=True, slots=True)
class Session:
    """State of one process, whichever index it answers from.

    `ask_in_time` answers for `Repository.ask`, within a time that the process chose; None: `ask` does it itself.
    """

    circuits: Circuits = field(default_factory=Circuits)
    answers: AnswerCache = field(default_factory=AnswerCache)
    ask_in_time: AskInTime | None = None
