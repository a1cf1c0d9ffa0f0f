"""What a passage is *about*, not only what it names: names in its title, and terms that its list items begin with.

A passage that names an entity says little of it; one whose title it is, or that has it as the term of a definition,
says what it is. So from the best passages by words, the entities that they name lead to the documents which define
these.

What the index is made of: one record for each passage, and numbers for the strings that records share.

A record depends on its own passage alone and keeps counts as integers. Whatever depends on other passages (weights,
degrees, similarities, lengths) is derived from the set of all records when it is needed, in an order that does not
depend on theirs (`arrays.py`). That is why adding and removing passages in any order equals building afresh, bit for
bit.
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
_MAX_DEFINED_TERMS = 200  # of a passage


def find_defined_names(text: str, title: object) -> list[str]:
    """Ids of what a passage is about, in the order found.

    >>> find_defined_names("- class csv.Sniffer()\\n\\nDeduces.", "13.1. `csv` — CSV File DocumentSet")
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
REFERENCES = "references"  # key of metadata: ids of passages that this one refers to
TITLE = "title"  # key of metadata: what the passage is called
TIMESTAMP = "timestamp"  # key of metadata: when it was said, ISO 8601 or seconds since 1970
_MAX_ID_CHARACTERS = 2_000


class StoredTriple(NamedTuple):
    """A triple by numbers of entities."""

    subject: int
    predicate: str
    object: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Record:
    """One passage. `mentions`: int32, shape (n, 4): numbers of entity, name as written and type, first character (-1:
    not known), in the order of the text. `terms`: int32, shape (n, 2): number of a term, its count. `defines`: int32,
    shape (n,): numbers of the entities that it is about, whether or not some passage names them."""

    text: str
    metadata: Mapping[str, Any]
    mentions: NDArray[np.int32]
    terms: NDArray[np.int32]
    defines: NDArray[np.int32]
    triples: tuple[StoredTriple, ...]
    references: tuple[str, ...]


@dataclass(slots=True)
class StringNumbers:
    """Strings as numbers, in the order in which they were first seen; no result depends on that order."""

    strings: list[str] = field(default_factory=list)
    by_string: dict[str, int] = field(default_factory=dict)

    def intern(self, string: str) -> int:
        found = self.by_string.get(string)
        if found is None:
            found = self.by_string[string] = len(self.strings)
            self.strings.append(string)
        return found


class Records:
    """All records by passage id. `generation` changes whenever a record does."""

    def __init__(self) -> None:
        self.passages: dict[str, Record] = {}
        self.entities = StringNumbers()
        self.written = StringNumbers()  # names as written
        self.terms = StringNumbers()
        self.name_similarity = NameSimilarity()
        self.generation = 0

    def put(self, passage_id: str, text: str, metadata: Mapping[str, Any], found: Extraction) -> None:
        """Adds a passage, or replaces it."""
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
        """The entities that a passage is about, ascending."""
        names = find_defined_names(text, metadata.get(TITLE))
        return np.array(sorted(self.entities.intern(name) for name in names), dtype=np.int32)

    def restore(self, passage_id: str, record: Record) -> None:
        """Puts a record whose numbers are those of this index."""
        self.passages[passage_id] = record
        self.generation += 1

    def remove(self, passage_id: str) -> bool:
        """Whether the passage was there."""
        if self.passages.pop(passage_id, None) is None:
            return False
        self.generation += 1
        return True

    def _intern_entity(self, name: str) -> int:
        key = entity_id(name)
        self.name_similarity.add(key)
        return self.entities.intern(key)


def check_passage(passage_id: str, text: str, metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The metadata as plain data of its own. Raises UsageError for what is no passage."""
    if not isinstance(passage_id, str) or not passage_id.strip() or len(passage_id) > _MAX_ID_CHARACTERS:
        raise UsageError(
            f"a passage id is {str(passage_id)[:80]!r}; it is a string of 1 to {_MAX_ID_CHARACTERS} characters"
        )
    if not isinstance(text, str):
        raise UsageError(f"the text of {passage_id!r} is {type(text).__name__}; it is a string")
    if metadata is None:
        return {}
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError("it is no mapping")
        plain: dict[str, Any] = json.loads(json.dumps(dict(metadata), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the metadata of {passage_id!r} cannot be kept as JSON: {error}") from error
    references = plain.get(REFERENCES, [])
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        raise UsageError(f"{REFERENCES!r} of {passage_id!r} is no list of passage ids")
    return plain


def sort_strings(strings: Sequence[str], used: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """(the strings with these numbers, sorted; by number where each stands in that list, -1 for the others)."""
    order = sorted(used.tolist(), key=strings.__getitem__)
    ranks = np.full(len(strings), -1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return [strings[i] for i in order], ranks
