"""Entities and triples by a model of the `llm` library: two prompts a passage, strict parsing, everything cached.

A passage is asked about once: what the model answered is kept by the hash of model, prompts and text, so that a run
that was interrupted goes on where it stopped. What cannot be used is a diagnostic, and the patterns step in. A model
that cannot be reached is an error, never an empty result.
"""

import hashlib
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from importlib.resources import files as resource_files
from pathlib import Path
from typing import NamedTuple

from causalist.errors import IndexNotWritable, ModelFailed
from causalist.llm.model import Model, get_model
from causalist.memory.entities import Extraction, extracted
from causalist.memory.llm_parsing import THRESHOLD, Notes, parse_entities, parse_triples
from causalist.memory.regex_extractor import RegexEntityExtractor

_LONGEST_TEXT = 20_000  # characters of a passage that a model is shown
_CHARACTERS_A_TOKEN = 4  # an estimate for what a run costs, no more
_ANSWER_TOKENS = 300  # of both answers, as a rule
_ATTEMPTS = 3


class Estimate(NamedTuple):
    """What asking about passages will take; those that are cached cost nothing."""

    passages: int
    cached: int
    calls: int
    prompt_tokens: int
    answer_tokens: int


class LLMEntityExtractor:
    """Asks `model` for typed entities, then for triples between them with at least `threshold` confidence.

    `cache`: a file that keeps the answers; without it they are kept as long as this object. Where the answer about
    entities cannot be used, those that patterns find are taken, and a diagnostic says so."""

    def __init__(self, model: Model | str, *, threshold: float = THRESHOLD, cache: Path | None = None) -> None:
        self.model = get_model(model) if isinstance(model, str) else model
        self.name = f"llm:{self.model.model_id}"
        self.threshold = threshold
        prompts = resource_files("causalist.memory").joinpath("prompts")
        self._entities = prompts.joinpath("entities.txt").read_text(encoding="utf-8")
        self._triples = prompts.joinpath("triples.txt").read_text(encoding="utf-8")
        self._patterns = RegexEntityExtractor()
        self._cache = AnswerCache(cache)

    def __call__(self, text: str) -> Extraction:
        """Raises ModelFailed where the model cannot be reached."""
        shown = text[:_LONGEST_TEXT]
        notes = Notes()
        if len(shown) < len(text):
            notes.add(f"the model was shown the first {_LONGEST_TEXT:,} of {len(text):,} characters")
        entities = parse_entities(self._asked(self._prompt(self._entities, shown)), text, notes)
        if not entities:
            found = self._patterns(text).entities
            if found and notes.all():
                notes.add("entities are those that patterns find")
            return Extraction(found if notes.all() else (), (), notes.all())
        kept = extracted(Extraction(entities)).entities
        names = list(dict.fromkeys(entity.name for entity in kept))
        if len(names) < 2:
            return Extraction(kept, (), notes.all())
        prompt = self._prompt(self._triples, shown, entities="\n".join(f"- {' '.join(name.split())}" for name in names))
        triples = parse_triples(self._asked(prompt), kept, notes, self.threshold)
        return Extraction(kept, triples, notes.all())

    def estimate(self, texts: Iterable[str]) -> Estimate:
        """What asking about these passages will take, before anything is asked."""
        n = cached = prompt_tokens = 0
        fixed = len(self._entities) + len(self._triples)
        for text in texts:
            n += 1
            shown = text[:_LONGEST_TEXT]
            if self._cache.get(self._key(self._prompt(self._entities, shown))) is not None:
                cached += 1
            else:
                prompt_tokens += (fixed + 2 * len(shown)) // _CHARACTERS_A_TOKEN
        open_ = n - cached
        return Estimate(n, cached, 2 * open_, prompt_tokens, open_ * _ANSWER_TOKENS)

    def _prompt(self, template: str, text: str, **more: str) -> str:
        # A mark that the text cannot hold: it would have to contain its own hash.
        mark = f"-----{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}-----"
        for key, value in {**more, "mark": mark}.items():
            template = template.replace(f"{{{key}}}", value)
        return template.replace("{text}", text)

    def _key(self, prompt: str) -> str:
        data = f"{self.model.model_id}\0{prompt}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(data).hexdigest()

    def _asked(self, prompt: str) -> str:
        key = self._key(prompt)
        known = self._cache.get(key)
        if known is not None:
            return known
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = str(self.model.prompt(prompt, stream=False).text())
                break
            except Exception as error:  # whatever a provider's plugin raises
                if attempt == _ATTEMPTS:
                    raise ModelFailed(
                        f"{self.model.model_id} did not answer after {_ATTEMPTS} attempts "
                        f"({type(error).__name__}: {str(error)[:200]}); what it answered is kept, so run it again"
                    ) from error
        self._cache.put(key, answer)
        return answer


class AnswerCache:
    """Answers by key, in a SQLite file or in memory. Each is on disk before the next question is asked."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, str] = {}
        if path is not None:
            try:
                with closing(sqlite3.connect(path)) as database, database:
                    database.execute("CREATE TABLE IF NOT EXISTS answer(key TEXT PRIMARY KEY, text TEXT NOT NULL)")
                    self._known.update(database.execute("SELECT key, text FROM answer"))
            except sqlite3.Error as error:
                raise IndexNotWritable(f"cannot use {path} for answers of a model: {error}; remove it") from error

    def get(self, key: str) -> str | None:
        return self._known.get(key)

    def put(self, key: str, text: str) -> None:
        self._known[key] = text
        if self._path is None:
            return
        clean = text.encode("utf-8", "replace").decode("utf-8")
        try:
            with closing(sqlite3.connect(self._path)) as database, database:
                database.execute("INSERT OR REPLACE INTO answer VALUES (?, ?)", (key, clean))
        except sqlite3.Error as error:
            raise IndexNotWritable(f"cannot keep an answer of the model in {self._path}: {error}") from error
