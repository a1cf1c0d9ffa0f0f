"""Questions over linked documents, made by a script from the documents alone.

A page is a document. For a sentence of page A that links to page B:

- multi-hop, two pages: the sentence without the words of the link, and two words of B's beginning that neither A nor
  the sentence has and that are neither rare nor common (in 1 to 10 % of all pages). Neither part names B. Right are A
  and B.
- multi-hop, three pages: the sentence of A, and two such words of a page C that B links to. Right are A, B and C.
- single-hop: eight words of a sentence without a link, at random. Right is A.

What connects pages of a multi-hop question as links is withheld from the graph (`Questions.withheld`); what A says of B
in words is not, because that is what a reader would go by. A third of the pages' pairs make questions of three pages.
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from causalist.memory.document_text import html_to_markdown
from causalist.memory.documents import HTML_SUFFIXES, TEXT_SUFFIXES, _link_target
from causalist.rank.terms import STOP_WORDS, terms_of

_LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
_WORD = re.compile(r"[^\W\d_][\w-]{2,}")
_LEAD = 1_500  # characters of a page's beginning
SEED = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the pages that answer it; `kind` is "multi" or "single"."""

    text: str
    gold: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Questions:
    """`tuning` and `held_out` are halves by page; `withheld` are pairs of pages whose links the graph may not have."""

    tuning: tuple[Asked, ...]
    held_out: tuple[Asked, ...]
    withheld: frozenset[tuple[str, str]]


def pages_of(root: Path) -> dict[str, str]:
    """Markdown by path."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in (*TEXT_SUFFIXES, *HTML_SUFFIXES) and "_sources" not in path.parts:
            text = path.read_text(encoding="utf-8", errors="replace")
            name = path.relative_to(root).as_posix()
            found[name] = html_to_markdown(text) if path.suffix.lower() in HTML_SUFFIXES else text
    return found


def make(pages: Mapping[str, str], most: int = 400) -> Questions:
    """At most `most` questions of each kind in each half."""
    rng = random.Random(SEED)
    terms = {page: _terms(text) for page, text in pages.items()}
    leads = {page: _words(text[:_LEAD]) for page, text in pages.items()}
    frequency: dict[str, int] = {}
    for own in terms.values():
        for term in own:
            frequency[term] = frequency.get(term, 0) + 1
    low, high = max(2, len(pages) // 100), max(3, len(pages) // 10)
    links = {page: list(_sentences_with_links(page, text, pages)) for page, text in pages.items()}
    targets = {page: sorted({goal for _, goal in found}) for page, found in links.items()}
    halves: tuple[list[Asked], list[Asked]] = ([], [])
    withheld: set[tuple[str, str]] = set()

    def clue(page: str, without: set[str]) -> list[str]:
        fits = [w for w in leads[page] if low <= frequency.get(next(iter(terms_of(w)), ""), 0) <= high
                and not set(terms_of(w)) & without and w.lower() not in STOP_WORDS]  # fmt: skip
        return rng.sample(sorted(set(fits)), 2) if len(set(fits)) >= 2 else []

    order = sorted(pages)
    rng.shuffle(order)
    for number, page in enumerate(order):
        half = halves[number % 2]
        found = links[page]
        rng.shuffle(found)
        used: set[str] = set()
        for sentence, goal in found:
            if goal in used or len(used) >= 4:
                continue
            said = _terms(sentence)
            chain = [page, goal]
            if rng.random() < 1 / 3:
                further = [t for t in targets[goal] if t not in chain]
                if not further:
                    continue
                chain.append(rng.choice(further))
            words = clue(chain[-1], terms[page] | said)
            if len(said) >= 6 and words:
                used.add(goal)
                half.append(Asked(f"{sentence} {' '.join(words)}", tuple(sorted(chain)), "multi"))
                withheld.update(pairwise(chain))
        for sentence in rng.sample(plain := list(_plain_sentences(pages[page])), min(3, len(plain))):
            words = sorted({w for w in _words(sentence) if w.lower() not in STOP_WORDS})
            if len(words) >= 8:
                half.append(Asked(" ".join(rng.sample(words, 8)), (page,), "single"))
    cut = [tuple(_first(half, kind, most) for kind in ("multi", "single")) for half in halves]
    return Questions(*(multi + single for multi, single in cut), frozenset(withheld))


def _first(questions: list[Asked], kind: str, most: int) -> tuple[Asked, ...]:
    return tuple([q for q in questions if q.kind == kind][:most])


def _sentences_with_links(page: str, text: str, pages: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(sentence without the words of a link, the page that it leads to)."""
    for sentence in _sentences(text):
        for match in _LINK.finditer(sentence):
            goal = (_link_target(match[2], page) or "").partition("#")[0]
            if goal not in pages or goal == page:
                continue
            name = set(terms_of(match[1])) | _terms(match[1])
            plain = _LINK.sub(lambda m: m[1], sentence[: match.start()] + " " + sentence[match.end() :])
            words = [w for w in re.findall(r"[\w`.()-]+", plain) if not set(terms_of(w.strip("`.()"))) & name]
            yield " ".join(words).replace("`", ""), goal


def _plain_sentences(text: str) -> Iterator[str]:
    return (s for s in _sentences(text) if not _LINK.search(s) and 60 < len(s) < 400)


def _sentences(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        if not paragraph.startswith(("#", "    ")):
            yield from (s for s in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())) if len(s) < 600)


def _words(text: str) -> list[str]:
    return _WORD.findall(_LINK.sub(lambda m: m[1], text))


def _terms(text: str) -> set[str]:
    return {term for word in _words(text) for term in terms_of(word)}
