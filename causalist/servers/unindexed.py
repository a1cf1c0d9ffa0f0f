"""Answers without an index: files read as text and ranked by BM25, and occurrences of a name.

In: a folder and a query or a name. Out: a `Reply` that counts the files that were read. Code is read first, then tests,
documents and data, until the time is up. The answer depends only on the files read. Secrets are masked.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from causalist._internal.text_formatting import neutralize, one_line
from causalist.errors import NothingToIndex
from causalist.model.node_ids import Role
from causalist.model.role_by_path import role_of
from causalist.model.source import SourceFile
from causalist.pack import count_tokens
from causalist.parse import dialect_of, find_secrets, mask_secrets, view_of
from causalist.rank.terms import STOP_WORDS, split_word, stem, terms_of
from causalist.servers.text_answers import FileExcerpt, Reply
from causalist.source import scan_folder

_SECONDS = 4.0  # for reading; the index is built at the same time
_K1, _B = 1.2, 0.75
_PATH_WEIGHT = 3  # occurrences in the text that one in the path counts for
_OTHER_ROLE_FACTOR = 0.5  # score factor of tests, documents and data; chosen by hand
_EXCERPT_ROWS = 14  # rows
_TOKENS_PER_FILE, _MIN_FILES, _MAX_FILES = 250, 3, 12
_MAX_LINES_LISTED = 40
_MAX_TERMS = 5
_MAX_LINE_CHARACTERS = 300  # characters
_DEFINING = (
    r"class|const|def|enum|export|fn|func?|fun|function|interface|let|macro_rules!|module|namespace|object|private|"
    r"protected|pub|public|record|static|struct|sub|trait|type|val|var"
)


class _Match(NamedTuple):
    """File with search terms. `counts` are by term and include its path."""

    path: str
    data: bytes
    counts: Counter[str]
    n_bytes: int
    is_beside: bool


class _Coverage(NamedTuple):
    """Number of files read, number of files, and the mean size in bytes of the files read."""

    n_read: int
    n_files: int
    mean: float


def ask_files(root: Path, question: str, max_tokens: int, top_k: int | None, seconds: float = _SECONDS) -> Reply:
    """Return the files whose words match a query best, each with its densest lines."""
    words = [word for word in re.findall(r"\w+", question) if word.lower() not in STOP_WORDS]
    wanted = dict.fromkeys(term for word in words for term in terms_of(word))
    matches, read = _search_files(root, list(wanted), seconds)
    if not matches:
        return Reply(f"no word of the query occurs in {_format_coverage(read)}\n", n_files=read.n_read)
    n_with = Counter(term for match in matches for term in match.counts)
    weights = {term: math.log(1 + (read.n_read - n + 0.5) / (n + 0.5)) for term, n in sorted(n_with.items())}
    scores = {match.path: round(_score(match, weights, read.mean), 9) for match in matches}
    ranked = sorted(matches, key=lambda match: (-scores[match.path], match.path))
    k = top_k or min(_MAX_FILES, max(_MIN_FILES, max_tokens // _TOKENS_PER_FILE))
    text = f"note: {_format_coverage(read)}, best match first; definitions and their users are not known yet\n"
    excerpts = []
    for rank, match in enumerate(ranked[:k], 1):
        lines = mask_secrets(match.data, find_secrets(match.data)).decode("utf-8", "replace").split("\n")
        start, end = _densest_rows(lines, weights)
        terms = sorted(match.counts, key=lambda term: (-weights[term], term))[:_MAX_TERMS]
        head = f"\n── #{rank} {one_line(match.path, 200)}:{start + 1}-{end + 1}\n   words: {', '.join(terms)}\n"
        longer = text + head + _fence_lines(line[:_MAX_LINE_CHARACTERS] for line in lines[start : end + 1])
        if count_tokens(longer) > max_tokens:
            longer = text + head
        if count_tokens(longer) > max_tokens:
            break
        text = longer
        excerpts.append(FileExcerpt(match.path, start, end))
    return Reply(text, excerpts=excerpts, n_files=read.n_read)


def find_name(root: Path, name: str, max_tokens: int, seconds: float = _SECONDS) -> Reply:
    """Return the lines that contain the last part of a name; lines that look like definitions first.

    The part must be a whole word, or else a part of a word in any case.
    """
    word = re.split(r"[^\w$]+", name.rstrip(")(: "))[-1] or name
    matches, read = _search_files(root, [], seconds, word)
    texts = [(each, mask_secrets(each.data, find_secrets(each.data)).decode("utf-8", "replace")) for each in matches]
    matching = _matching_lines(texts, rf"(?<![\w$]){re.escape(word)}(?![\w$])", 0)
    how = "occurs"
    if not matching:
        matching, how = _matching_lines(texts, re.escape(word), re.IGNORECASE), "is part of a word"
    if not matching:
        return Reply(f"{one_line(repr(word), 80)} does not occur in {_format_coverage(read)}\n", n_files=read.n_read)
    n_defining = sum(not each[0] for each in matching)
    head = (
        f"note: where {one_line(repr(word), 80)} {how}, {n_defining} of {len(matching)} lines look like definitions "
        f"and come first; {_format_coverage(read)}, without resolving the name\n"
    )
    lines = [
        f"{one_line(path, 150)}:{row + 1}: {one_line(line, 160)}\n"
        for *_, path, row, line in matching[:_MAX_LINES_LISTED]
    ]
    kept = list(_fit_lines(head, lines, max_tokens - 12))
    n_left = len(matching) - len(kept)
    excerpts = [FileExcerpt(path, row, row) for *_, path, row, _ in matching[: len(kept)]]
    more = f"and {n_left} more\n" if n_left else ""
    return Reply(head + "".join(kept) + more, excerpts=excerpts, n_files=read.n_read)


def _matching_lines(
    texts: Sequence[tuple[_Match, str]], word: str, flags: int
) -> list[tuple[bool, bool, str, int, str]]:
    """Return all lines that match the expression `word`, sorted.

    Each is (is not a definition, is secondary, path, row, line).
    """
    pattern = re.compile(word, flags)
    defining = re.compile(rf"(?:^|\s)(?:{_DEFINING})\s[^=(]{{0,80}}?{word}", flags)
    return sorted(
        (not defining.search(line), match.is_beside, match.path, row, line.strip())
        for match, text in texts
        for row, line in enumerate(text.split("\n"))
        if pattern.search(line)
    )


def _fence_lines(lines: Iterable[str]) -> str:
    """Return source between fences that it cannot close."""
    body = neutralize("\n".join(lines))
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", body)), default=0))
    return f"{fence}\n{body}\n{fence}\n"


def _search_files(root: Path, terms: Sequence[str], seconds: float, word: str = "") -> tuple[list[_Match], _Coverage]:
    """Return the files that contain one of `terms`, or `word` in any case.

    Raises NothingToIndex for a folder without files.
    """
    from causalist.pipeline.repository import Repository
    from causalist.source import read_file

    until = time.monotonic() + seconds
    limits = Repository.settings_at(root, exact_root=True).limits()
    scan = scan_folder(root, limits)
    if not scan.entries:
        raise NothingToIndex(f"{root} holds no files to search")
    query_terms = frozenset(terms)
    # A stem may differ from its words at the end, as `happi` does.
    starts = sorted({re.escape(term[:-1] if term.endswith("i") else term).encode() for term in terms})
    finder = re.compile(rb"\w*(?:" + b"|".join(starts) + rb")\w*", re.IGNORECASE) if starts else None
    matches: list[_Match] = []
    n_read = n_bytes = 0
    for entry in sorted(scan.entries, key=lambda entry: (_is_secondary(entry.path), entry.path)):
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
                for term in query_terms.intersection(terms_of(written.decode("utf-8", "replace"))):
                    counts[term] += n
            for part in re.findall(r"\w+", entry.path):
                for term in query_terms.intersection(map(stem, split_word(part))):
                    counts[term] += _PATH_WEIGHT
        if counts or (word and word.lower().encode() in source.data.lower()):
            data = view_of(entry.path, source.data)
            matches.append(_Match(entry.path, data, counts, len(source.data), _is_secondary(entry.path)))
    return matches, _Coverage(n_read, len(scan.entries), n_bytes / max(1, n_read))


def _score(match: _Match, weights: dict[str, float], mean: float) -> float:
    """Return the Okapi BM25 score of a file, with its length in bytes."""
    norm = _K1 * (1 - _B + _B * match.n_bytes / max(1.0, mean))
    score = math.fsum(weights[term] * n * (_K1 + 1) / (n + norm) for term, n in sorted(match.counts.items()))
    return score * _OTHER_ROLE_FACTOR if match.is_beside else score


def _is_secondary(path: str) -> bool:
    """Return True for tests, documents and data: anything but code of the program."""
    return not dialect_of(path) or role_of(path) is not Role.CODE


def _densest_rows(lines: Sequence[str], weights: dict[str, float]) -> tuple[int, int]:
    """Return the first and last row of the excerpt with the largest weight of distinct terms.

    Ties are broken by the number of terms, then by position. One row above the excerpt is included.
    """
    has = [{t for word in re.findall(r"\w+", line[:500]) for t in terms_of(word) if t in weights} for line in lines]
    best, start = (0.0, 0), 0
    for row, terms in enumerate(has):
        within = has[row : row + _EXCERPT_ROWS - 1]
        if terms:
            weight = math.fsum(sorted(weights[term] for term in set().union(*within)))
            best, start = max((best, -start), ((round(weight, 9), sum(map(len, within))), -row))
            start = -start
    first = max(0, start - 1)
    return first, min(len(lines), first + _EXCERPT_ROWS) - 1


def _fit_lines(head: str, lines: Iterable[str], max_tokens: int) -> Iterator[str]:
    tokens_left = max_tokens - count_tokens(head)
    for line in lines:
        tokens_left -= count_tokens(line) + 1
        if tokens_left < 0:
            return
        yield line


def _format_coverage(read: _Coverage) -> str:
    """Return the number of files read, in words."""
    if read.n_read == read.n_files:
        return f"all {read.n_files} files, read as text"
    return f"{read.n_read} of {read.n_files} files, code first, read as text"
