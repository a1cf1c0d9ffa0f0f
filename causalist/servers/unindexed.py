"""Answers while there is no index yet: files read as text, ranked by BM25 of their words, and where a name stands.

In: a folder and a question or a name. Out: a `Reply` that says how many of the files were read, and that nothing but
words is known of them. Code is read first, and tests, documents and data after it, as many files as there is time for;
the answer depends on which were read and on nothing else. Secrets are masked as everywhere.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from causalist._internal.sanitize import neutralise, one_line
from causalist.errors import NothingToIndex
from causalist.model.roles import role_of
from causalist.model.source import SourceFile
from causalist.model.symbols import Role
from causalist.pack import count_tokens
from causalist.parse import dialect_of, find_secrets, masked, view_of
from causalist.rank.terms import STOP_WORDS, split_word, stem, terms_of
from causalist.servers.text_answers import Excerpt, Reply
from causalist.source import scan_folder

_SECONDS = 4.0  # for reading; the index is being made beside it
_K1, _B = 1.2, 0.75
_PATH_WEIGHT = 3  # of a word in a path, in words of the text
_BESIDE = 0.5  # a file that is no code of the program itself, as a share; chosen by hand
_ROWS = 14  # of an excerpt
_TOKENS_A_FILE, _FEWEST, _MOST = 250, 3, 12
_MOST_PLACES = 40
_MOST_SAID = 5
_LONGEST_LINE = 300  # characters
_DEFINING = (
    r"class|const|def|enum|export|fn|func?|fun|function|interface|let|macro_rules!|module|namespace|object|private|"
    r"protected|pub|public|record|static|struct|sub|trait|type|val|var"
)


class _Match(NamedTuple):
    """A file that has some of what is looked for. `counts` are of terms, those of its path included."""

    path: str
    data: bytes
    counts: Counter[str]
    n_bytes: int
    is_beside: bool


class _Read(NamedTuple):
    """`n_read` of `n_files` files were looked through; their mean size in bytes."""

    n_read: int
    n_files: int
    mean: float


def ask_files(root: Path, question: str, max_tokens: int, top_k: int | None, seconds: float = _SECONDS) -> Reply:
    """The files whose words are most like those of a question, each with the lines that have most of them."""
    words = [word for word in re.findall(r"\w+", question) if word.lower() not in STOP_WORDS]
    wanted = dict.fromkeys(term for word in words for term in terms_of(word))
    matches, read = _matching(root, list(wanted), seconds)
    if not matches:
        return Reply(f"no word of the query occurs in {_coverage(read)}\n", n_files=read.n_read)
    n_with = Counter(term for match in matches for term in match.counts)
    weights = {term: math.log(1 + (read.n_read - n + 0.5) / (n + 0.5)) for term, n in sorted(n_with.items())}
    scores = {match.path: round(_score(match, weights, read.mean), 9) for match in matches}
    ranked = sorted(matches, key=lambda match: (-scores[match.path], match.path))
    k = top_k or min(_MOST, max(_FEWEST, max_tokens // _TOKENS_A_FILE))
    text = f"note: {_coverage(read)}, best match first; definitions and their users are not known yet\n"
    excerpts = []
    for rank, match in enumerate(ranked[:k], 1):
        lines = masked(match.data, find_secrets(match.data)).decode("utf-8", "replace").split("\n")
        start, end = _densest(lines, weights)
        said = sorted(match.counts, key=lambda term: (-weights[term], term))[:_MOST_SAID]
        head = f"\n── #{rank} {one_line(match.path, 200)}:{start + 1}-{end + 1}\n   words: {', '.join(said)}\n"
        longer = text + head + _fenced(line[:_LONGEST_LINE] for line in lines[start : end + 1])
        if count_tokens(longer) > max_tokens:
            longer = text + head
        if count_tokens(longer) > max_tokens:
            break
        text = longer
        excerpts.append(Excerpt(match.path, start, end))
    return Reply(text, excerpts=excerpts, n_files=read.n_read)


def places_of_name(root: Path, name: str, max_tokens: int, seconds: float = _SECONDS) -> Reply:
    """The lines in which the last part of a name stands as a whole word, or else as a part of one in any case; those
    that look like its definition first."""
    word = re.split(r"[^\w$]+", name.rstrip(")(: "))[-1] or name
    matches, read = _matching(root, [], seconds, word)
    texts = [(each, masked(each.data, find_secrets(each.data)).decode("utf-8", "replace")) for each in matches]
    found = _written(texts, rf"(?<![\w$]){re.escape(word)}(?![\w$])", 0)
    how = "occurs"
    if not found:
        found, how = _written(texts, re.escape(word), re.IGNORECASE), "is part of a word"
    if not found:
        return Reply(f"{one_line(repr(word), 80)} does not occur in {_coverage(read)}\n", n_files=read.n_read)
    n_defining = sum(not each[0] for each in found)
    head = (
        f"note: where {one_line(repr(word), 80)} {how}, {n_defining} of {len(found)} lines look like definitions "
        f"and come first; {_coverage(read)}, without resolving the name\n"
    )
    lines = [
        f"{one_line(path, 150)}:{row + 1}: {one_line(line, 160)}\n" for *_, path, row, line in found[:_MOST_PLACES]
    ]
    kept = list(_fitting(head, lines, max_tokens - 12))
    left = len(found) - len(kept)
    excerpts = [Excerpt(path, row, row) for *_, path, row, _ in found[: len(kept)]]
    more = f"and {left} more\n" if left else ""
    return Reply(head + "".join(kept) + more, excerpts=excerpts, n_files=read.n_read)


def _written(texts: Sequence[tuple[_Match, str]], word: str, flags: int) -> list[tuple[bool, bool, str, int, str]]:
    """(whether it does not look like a definition, is no code of the program, path, row, line) of all lines with what
    the expression `word` matches, sorted."""
    pattern = re.compile(word, flags)
    defining = re.compile(rf"(?:^|\s)(?:{_DEFINING})\s[^=(]{{0,80}}?{word}", flags)
    return sorted(
        (not defining.search(line), match.is_beside, match.path, row, line.strip())
        for match, text in texts
        for row, line in enumerate(text.split("\n"))
        if pattern.search(line)
    )


def _fenced(lines: Iterable[str]) -> str:
    """Source between fences that it cannot close."""
    body = neutralise("\n".join(lines))
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", body)), default=0))
    return f"{fence}\n{body}\n{fence}\n"


def _matching(root: Path, terms: Sequence[str], seconds: float, word: str = "") -> tuple[list[_Match], _Read]:
    """The files that have one of `terms`, or `word` in any case. Raises NothingToIndex where there is no file."""
    from causalist.pipeline.repository import Repository
    from causalist.source import read_file

    until = time.monotonic() + seconds
    limits = Repository.settings_at(root, exact_root=True).limits()
    scan = scan_folder(root, limits)
    if not scan.entries:
        raise NothingToIndex(f"{root} holds no files to search")
    known = frozenset(terms)
    # A stem may end otherwise than its words do, as `happi` does.
    starts = sorted({re.escape(term[:-1] if term.endswith("i") else term).encode() for term in terms})
    finder = re.compile(rb"\w*(?:" + b"|".join(starts) + rb")\w*", re.IGNORECASE) if starts else None
    found: list[_Match] = []
    n_read = n_bytes = 0
    for entry in sorted(scan.entries, key=lambda entry: (_is_beside(entry.path), entry.path)):
        if time.monotonic() > until:
            break
        n_read += 1
        source = read_file(root, entry, limits)
        if not isinstance(source, SourceFile):
            continue
        n_bytes += len(source.data)
        counts: Counter[str] = Counter()
        if finder is not None:
            for written, n in Counter(finder.findall(source.data)).items():
                for term in known.intersection(terms_of(written.decode("utf-8", "replace"))):
                    counts[term] += n
            for part in re.findall(r"\w+", entry.path):
                for term in known.intersection(map(stem, split_word(part))):
                    counts[term] += _PATH_WEIGHT
        if counts or (word and word.lower().encode() in source.data.lower()):
            data = view_of(entry.path, source.data)
            found.append(_Match(entry.path, data, counts, len(source.data), _is_beside(entry.path)))
    return found, _Read(n_read, len(scan.entries), n_bytes / max(1, n_read))


def _score(match: _Match, weights: dict[str, float], mean: float) -> float:
    """Okapi BM25, with the length of a file in bytes."""
    norm = _K1 * (1 - _B + _B * match.n_bytes / max(1.0, mean))
    score = math.fsum(weights[term] * n * (_K1 + 1) / (n + norm) for term, n in sorted(match.counts.items()))
    return score * _BESIDE if match.is_beside else score


def _is_beside(path: str) -> bool:
    """Whether a file is a test, a document, data: anything but code of the program."""
    return not dialect_of(path) or role_of(path) is not Role.CODE


def _densest(lines: Sequence[str], weights: dict[str, float]) -> tuple[int, int]:
    """First and last row of the excerpt whose distinct terms weigh most; of those alike the one with the most of them
    in all, and then the first. One row more stands before it."""
    has = [{t for word in re.findall(r"\w+", line[:500]) for t in terms_of(word) if t in weights} for line in lines]
    best, start = (0.0, 0), 0
    for row, terms in enumerate(has):
        within = has[row : row + _ROWS - 1]
        if terms:
            weight = math.fsum(sorted(weights[term] for term in set().union(*within)))
            best, start = max((best, -start), ((round(weight, 9), sum(map(len, within))), -row))
            start = -start
    first = max(0, start - 1)
    return first, min(len(lines), first + _ROWS) - 1


def _fitting(head: str, lines: Iterable[str], max_tokens: int) -> Iterator[str]:
    left = max_tokens - count_tokens(head)
    for line in lines:
        left -= count_tokens(line) + 1
        if left < 0:
            return
        yield line


def _coverage(read: _Read) -> str:
    """How much was read, in words."""
    if read.n_read == read.n_files:
        return f"all {read.n_files} files, read as text"
    return f"{read.n_read} of {read.n_files} files, code first, read as text"
