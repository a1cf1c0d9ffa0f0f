"""Asks every service its question, and judges the answers by the chain that the manifest says.

A link is a definition (path, name; in a real repository also lines). What is measured of an answer:

- files: all files of the chain are among the first eight of the level of files;
- definitions: all links are among the first eight results of the level of definitions;
- pack: all links are named in the pack of that level; in order: and each stands there behind its caller;
- source: the pack has source of all links;
- first of pack: all links are among the first eight items of the pack that have source, and no hub stands before them;
- before hubs: all files of the chain were found, each before the first hub; only where hubs are listed;
- alike: how many look-alike files stand before the last file of the chain, of those found.
"""

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from causalist.model.answer import AskOptions, Level, ShownRange
from causalist.model.node_ids import split_id
from causalist.pipeline.repository import Repository
from tests.benchmarks.edges.rust_sites import wilson

FIRST = 8
_MAX_DEEP_RESULTS = 200


class Place(NamedTuple):
    """A definition, or a file if `name` is None; lines from 1, both inclusive."""

    path: str
    name: str | None = None
    start: int = 0
    end: int = 0
    caller: int = 0  # of a link: the number of the one that calls it; 0: the one before

    def is_link(self, link: "Place") -> bool:
        """Whether this is the link: the same name in the same file, and if the link has lines, one in common."""
        if self.path != link.path or self.name is None or link.name is None or not _is_end(self.name, link.name):
            return False
        return not link.start or (self.start <= link.end and link.start <= self.end)

    def __str__(self) -> str:
        return f"{self.path}::{self.name}" if self.name else self.path


class Case(NamedTuple):
    """A question with its chain. `hubs` is None where nobody listed any."""

    id: str
    language: str
    n_files: int
    folder: Path
    question: str
    chain: tuple[Place, ...]
    hubs: tuple[str, ...] | None = None
    lookalikes: tuple[str, ...] = ()


class Asked(NamedTuple):
    """What an answer says: files and definitions by rank, those of the pack in its order, tokens, those with source."""

    files: tuple[str, ...]
    definitions: tuple[Place, ...]
    pack: tuple[Place, ...]
    tokens: int
    sources: tuple[Place, ...] = ()


class Verdict(NamedTuple):
    """See the module. `n_links` counts links among the first eight definitions, `n_files` chain files likewise."""

    files: bool
    definitions: bool
    pack: bool
    in_order: bool
    source: bool
    first_of_pack: bool
    before_hubs: bool | None
    n_alike: int
    n_files: int
    n_links: int
    tokens: int


def read_generated(folder: Path) -> Iterator[Case]:
    """Cases of the manifest that `write` wrote."""
    for line in (folder / "manifest.jsonl").read_text().splitlines():
        row = json.loads(line)
        chain = tuple(Place(link["path"], link["name"], caller=link["caller"]) for link in row["chain"])
        its = folder / row["id"]
        hubs, alike = tuple(row["hubs"]), tuple(row["lookalikes"])
        yield Case(row["id"], row["lang"], row["files"], its, row["question"], chain, hubs, alike)


def read_real(rows: Path, clones: Path) -> Iterator[Case]:
    """Cases that were marked by hand, in clones named OWNER+NAME."""
    for line in rows.read_text().splitlines():
        row = json.loads(line)
        chain = tuple(Place(**link) for link in row["chain"])
        folder = clones / row["repo"].replace("/", "+")
        command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
        head = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        if head != row["commit"]:
            raise SystemExit(f"{folder} is not at {row['commit']}")
        yield Case(row["repo"], row["lang"], 0, folder, row["question"], chain)


def ask(repository: Repository, question: str, options: AskOptions) -> Asked:
    """Asks at the level of files and, for the rest, at that of definitions."""
    by_file = repository.ask(question, replace(options, level=Level.FILE), remember=False)
    answer = repository.ask(question, replace(options, level=Level.SYMBOL), remember=False)
    assert answer.pack
    return Asked(
        files=tuple(dict.fromkeys(hit.path for hit in by_file.results)),
        definitions=tuple(Place(hit.path, hit.symbol, hit.start_row + 1, hit.end_row + 1) for hit in answer.results),
        pack=tuple(_place(each) for each in answer.pack.places),
        sources=tuple(_place(each) for each in answer.pack.places if each.shown),
        tokens=answer.pack.tokens,
    )


def _place(shown: ShownRange) -> Place:
    return Place(split_id(shown.node)[0], shown.symbol, shown.start_line, shown.end_line)


def judge(case: Case, asked: Asked) -> Verdict:
    """What the answer is worth."""
    chain_files = list(dict.fromkeys(link.path for link in case.chain))
    ranks = [_rank(asked.files, path) for path in chain_files]
    found = [rank for rank in ranks if rank is not None]
    places = [next((i for i, each in enumerate(asked.pack) if each.is_link(link)), -1) for link in case.chain]
    whole = -1 not in places
    before_hubs = None
    if case.hubs is not None:
        hub_ranks = [rank for rank in (_rank(asked.files, path) for path in case.hubs) if rank is not None]
        before_hubs = len(found) == len(ranks) and max(found) < min(hub_ranks, default=len(asked.files))
    sources = asked.sources[:FIRST]
    source_ranks = [next((i for i, each in enumerate(sources) if each.is_link(link)), None) for link in case.chain]
    last = max((rank for rank in source_ranks if rank is not None), default=0)
    is_hub_before = any(each.path in (case.hubs or ()) for each in sources[:last])
    n_first = sum(rank < FIRST for rank in found)
    first = asked.definitions[:FIRST]
    n_links = sum(any(each.is_link(link) for each in first) for link in case.chain)
    return Verdict(
        files=n_first == len(chain_files),
        definitions=n_links == len(case.chain),
        pack=whole,
        in_order=whole and _is_in_order(case.chain, places),
        source=all(any(each.is_link(link) for each in asked.sources) for link in case.chain),
        first_of_pack=None not in source_ranks and not is_hub_before,
        before_hubs=before_hubs,
        n_alike=sum(path in case.lookalikes for path in asked.files[: max(found, default=len(asked.files))]),
        n_files=n_first,
        n_links=n_links,
        tokens=asked.tokens,
    )


def score(cases: Iterable[Case], options: AskOptions, details: bool) -> tuple[list[Case], list[Verdict], list[str]]:
    """Verdicts of all cases, and with `details` a line for each link that is not among the first eight."""
    asked_cases, verdicts, missed = [], [], []
    for case in cases:
        repository = Repository.open(case.folder, exact_root=True)
        asked = ask(repository, case.question, options)
        if case.language and not case.n_files:
            case = case._replace(n_files=repository.status().repository.files)
        asked_cases.append(case)
        verdicts.append(judge(case, asked))
        if details:
            missed += list(_missed(repository, case, asked, options))
    return asked_cases, verdicts, missed


def table(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Lines of a table: a row for each service, then by language and in total."""
    titles = (
        "chain files of first 8",
        "links of first 8",
        "pack",
        "in order",
        "source",
        "first of pack",
        "before hubs",
        "alike before",
        "tokens",
    )
    yield f"| service | language | files | {' | '.join(titles)} |"
    yield "|---|---|--:|--:|--:|---|---|---|---|---|--:|--:|"
    for case, v in zip(cases, verdicts, strict=True):
        n_files = len({link.path for link in case.chain})
        said = " | ".join(_said(value) for value in (v.pack, v.in_order, v.source, v.first_of_pack, v.before_hubs))
        yield (
            f"| {case.id} | {case.language} | {case.n_files} | {v.n_files} of {n_files} "
            f"| {v.n_links} of {len(case.chain)} | {said} | {v.n_alike} | {v.tokens:,} |"
        )
    yield ""
    yield from totals("", cases, verdicts)


def totals(name: str, cases: Sequence[Case], verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Lines of a table of whole chains, by language and in total, with Wilson's intervals of the total."""
    titles = (
        "services",
        "first 8 files",
        "first 8 definitions",
        "pack",
        "in order",
        "source",
        "first of pack",
        "before hubs",
        "links",
        "tokens",
    )
    yield f"| {name or 'whole chains'} | {' | '.join(titles)} |"
    yield "|---|--:|---|---|---|---|---|---|---|---|--:|"
    for language in (*dict.fromkeys(case.language for case in cases), ""):
        its = [(c, v) for c, v in zip(cases, verdicts, strict=True) if language in ("", c.language)]
        cells = []
        for column in ("files", "definitions", "pack", "in_order", "source", "first_of_pack", "before_hubs"):
            values = [value for value in (getattr(v, column) for _, v in its) if value is not None]
            cells.append(share(sum(values), len(values), not language))
        links = share(sum(v.n_links for _, v in its), sum(len(c.chain) for c, _ in its), not language)
        tokens = sum(v.tokens for _, v in its) / max(1, len(its))
        yield f"| {language or 'all'} | {len(its)} | {' | '.join(cells)} | {links} | {tokens:,.0f} |"


def share(n: int, of: int, with_interval: bool) -> str:
    """A count out of another, with the percentages of its interval."""
    if not of:
        return "–"
    low, high = wilson(n, of)
    return f"{n} of {of} [{100 * low:.0f}–{100 * high:.0f}]" if with_interval else f"{n} of {of}"


def _missed(repository: Repository, case: Case, asked: Asked, options: AskOptions) -> Iterator[str]:
    """A line for each missed link: its rank deep in the list, and what stands before it."""
    nodes = repository.rank_nodes(case.question, replace(options, level=Level.SYMBOL, top_k=_MAX_DEEP_RESULTS))
    deep = [_node_place(repository, node) for node in nodes]
    for i, link in enumerate(case.chain, 1):
        if any(each.is_link(link) for each in asked.definitions[:FIRST]):
            continue
        rank = next((r for r, each in enumerate(asked.definitions, 1) if each.is_link(link)), None)
        deep_rank = next((r for r, each in enumerate(deep, 1) if each.is_link(link)), None)
        said = rank or (f"{deep_rank} of {len(deep)}" if deep_rank else f"over {len(deep)}")
        file_rank = _rank(asked.files, link.path)
        before = ", ".join(str(each) for each in asked.definitions[:3])
        yield (
            f"{case.id}: link {i} {link} at rank {said}"
            f" (file {'not found' if file_rank is None else file_rank + 1}); first are {before}"
        )


def _node_place(repository: Repository, node: str) -> Place:
    nodes = repository.index.graph.nodes
    at = nodes.ids.position(node)
    return Place(*split_id(node), int(nodes.start_rows[at]) + 1, int(nodes.end_rows[at]) + 1)


def _is_in_order(chain: Sequence[Place], places: Sequence[int]) -> bool:
    """Whether every link but the first stands behind the link that calls it."""
    return all(places[(link.caller or i) - 1] < places[i] for i, link in enumerate(chain) if i)


def _rank(paths: Sequence[str], path: str) -> int | None:
    return paths.index(path) if path in paths else None


def _is_end(name: str, wanted: str) -> bool:
    name = name.partition("~")[0]  # a number is added to what is defined twice
    return name == wanted or name.endswith(f".{wanted}")


def _said(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "no"
