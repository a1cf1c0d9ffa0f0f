"""Records of passages, interned strings, and the names that a passage defines.

A record depends on its own passage only and stores integer counts. Everything that depends on other passages (weights,
degrees, similarities, lengths) is derived from all records in an order independent of insertion (`arrays.py`). So any
history of additions and removals equals a rebuild, bit for bit. A passage defines the names in its title and the terms
that its list items begin with. From the best passages, the entities they name lead to the documents that define them.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.memory.entities import TYPES, Extraction, entity_id
from causalist.memory.similarity import NameSimilarity
from causalist.rank.terms import terms_of

_SEPARATOR = re.compile(r"\s+[—–:-]+\s+|:\s")
_SPAN = re.compile(r"`([^`]{1,80})`")
_NUMBER = re.compile(r"^\s*[\d.]+\s+")
_ARTICLE = re.compile(r"^(?:The|A|An)\s+")
_KIND_SUFFIX = re.compile(
    r"\s+(?:modules?|objects?|types?|functions?|packages?|class(?:es)?|statements?|librar(?:y|ies)|protocols?"
    r"|interfaces?|services?|teams?)$",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"^[ \t]{0,8}-[ \t]+(?:(?:class|exception|async|classmethod|staticmethod|abstractmethod|coroutine|type|int|void"
    r"|const|static|struct|char)[ \t]+|\*){0,4}`?([\w.]{2,80})`?",
    re.MULTILINE,
)
_MAX_DEFINED_TERMS = 200  # per passage


def find_defined_names(text: str, title: object) -> list[str]:
    r"""Return the ids of the names that a passage defines, in the order found.

    >>> find_defined_names("- class csv.Sniffer()\n\nDeduces.", "13.1. `csv` — CSV File Reading")
    ['csv_—_csv_file_reading', 'csv', 'csv_file_reading', 'csv.sniffer']
    """
    found: dict[str, None] = {}
    if isinstance(title, str):
        whole = _NUMBER.sub("", title[:300])
        for part in (whole.replace("`", ""), *_SEPARATOR.split(whole), *_SPAN.findall(whole)):
            name = _ARTICLE.sub("", part.replace("`", "").strip())
            found.update(dict.fromkeys((entity_id(name), entity_id(_KIND_SUFFIX.sub("", name)))))
    found.update(dict.fromkeys(entity_id(match[1]) for match in _TERM.finditer(text)))
    found.pop("", None)
    return list(found)[:_MAX_DEFINED_TERMS]


_WORD = re.compile(r"[^\W_]\w*")
REFERENCES = "references"  # metadata key: ids of referenced passages
TITLE = "title"  # metadata key: title of the passage
TIMESTAMP = "timestamp"  # metadata key: ISO 8601, or seconds since 1970
_MAX_ID_CHARACTERS = 2_000


class StoredTriple(NamedTuple):
    """A triple with entity numbers."""

    subject: int
    predicate: str
    object: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Record:
    """One passage.

    - `mentions`: int32, shape (n, 4), in text order: numbers of entity, name as written and type, and the first
      character (-1 if unknown).
    - `terms`: int32, shape (n, 2): term number and count.
    - `defines`: int32, shape (n,): numbers of the entities that the passage defines.
    """

    text: str
    metadata: Mapping[str, Any]
    mentions: NDArray[np.int32]
    terms: NDArray[np.int32]
    defines: NDArray[np.int32]
    triples: tuple[StoredTriple, ...]
    references: tuple[str, ...]


@dataclass(slots=True)
class StringNumbers:
    """Numbers of strings in the order of first use; no result depends on that order."""

    strings: list[str] = field(default_factory=list)
    by_string: dict[str, int] = field(default_factory=dict)

    def intern(self, string: str) -> int:
        """Return the number of a string; a new string gets the next number."""
        found = self.by_string.get(string)
        if found is None:
            found = self.by_string[string] = len(self.strings)
            self.strings.append(string)
        return found


class Records:
    """Records by passage id. Every change increases `generation`."""

    def __init__(self) -> None:
        """Create an empty set of records."""
        self.passages: dict[str, Record] = {}
        self.entities = StringNumbers()
        self.written = StringNumbers()  # names as written
        self.terms = StringNumbers()
        self.name_similarity = NameSimilarity()
        self.generation = 0

    def put(self, passage_id: str, text: str, metadata: Mapping[str, Any], found: Extraction) -> None:
        """Add a passage, or replace it."""
        references = tuple(dict.fromkeys(r for r in metadata.get(REFERENCES, ()) if r != passage_id))
        triples = tuple(
            StoredTriple(
                self._intern_entity(t.subject),
                t.predicate,
                self._intern_entity(t.object),
                float(t.confidence),
            )
            for t in found.triples
        )
        mentions = [
            (self._intern_entity(e.name), self.written.intern(e.name), TYPES.index(e.type), e.start)
            for e in found.entities
        ]
        counts = Counter(term for word in _WORD.findall(text) for term in terms_of(word))
        terms = sorted((self.terms.intern(term), n) for term, n in counts.items())
        self.restore(
            passage_id,
            Record(
                text,
                metadata,
                np.array(mentions, dtype=np.int32).reshape(-1, 4),
                np.array(terms, dtype=np.int32).reshape(-1, 2),
                self.find_defined_entities(text, metadata),
                triples,
                references,
            ),
        )

    def find_defined_entities(self, text: str, metadata: Mapping[str, Any]) -> NDArray[np.int32]:
        """Return the numbers of the entities that a passage defines, ascending."""
        names = find_defined_names(text, metadata.get(TITLE))
        return np.array(sorted(self.entities.intern(name) for name in names), dtype=np.int32)

    def restore(self, passage_id: str, record: Record) -> None:
        """Add a record that uses the numbers of these records."""
        self.passages[passage_id] = record
        self.generation += 1

    def remove(self, passage_id: str) -> bool:
        """Remove a passage. Return True if it existed."""
        if self.passages.pop(passage_id, None) is None:
            return False
        self.generation += 1
        return True

    def _intern_entity(self, name: str) -> int:
        key = entity_id(name)
        self.name_similarity.add(key)
        return self.entities.intern(key)


def check_passage(passage_id: str, text: str, metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the metadata as a plain copy. Raises UsageError for an invalid passage."""
    if not isinstance(passage_id, str) or not passage_id.strip() or len(passage_id) > _MAX_ID_CHARACTERS:
        raise UsageError(f"a passage id must have 1 to {_MAX_ID_CHARACTERS} characters, not {str(passage_id)[:80]!r}")
    if not isinstance(text, str):
        raise UsageError(f"the text of {passage_id!r} must be a string, not {type(text).__name__}")
    if metadata is None:
        return {}
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError("it is not a mapping")
        plain: dict[str, Any] = json.loads(json.dumps(dict(metadata), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the metadata of {passage_id!r} cannot be stored as JSON: {error}") from error
    references = plain.get(REFERENCES, [])
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        raise UsageError(f"{REFERENCES!r} of {passage_id!r} must be a list of passage ids")
    return plain


def sort_strings(strings: Sequence[str], used: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """Return (the strings of `used` numbers, sorted; position of each number in that list, -1 for unused numbers)."""
    order = sorted(used.tolist(), key=strings.__getitem__)
    ranks = np.full(len(strings), -1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return [strings[i] for i in order], ranks
