"""Choice of repositories for a question, from tables of words over the fleet.

In: the words of each shard, in a Parquet object that is made with its index, and two tables over the fleet: `words`
(term, repository, counts by field, sorted by term) and `repositories` (a row for each shard). Out: the repositories
that a reader may see, with log odds that they answer. Only row groups with a term of the question are read, and all
repositories are scored at once.

Everything that depends on more than one repository (document frequencies, mean lengths, the mean vector, PageRank of
the package graph) is computed here, over the visible ones alone: a repository that is not visible changes nothing.
"""

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import SCORE_DECIMALS
from causalist.errors import ExtraMissing, FleetError
from causalist.model.index import Index, LexicalIndex, Postings
from causalist.model.node_ids import NodeKind
from causalist.model.string_table import StringTable
from causalist.rank import parse_query, shipped_encoder
from causalist.rank.lexical.question_encoder import encode_once, rows_of_terms, unpack
from causalist.rank.terms import terms_of
from causalist.repomap.descriptions import first_paragraph, first_sentence

if TYPE_CHECKING:
    from causalist.fleet.joined import CrossEdges
    from causalist.fleet.object_store import FleetStore

WORDS, REPOSITORIES = "words", "repositories"  # tables over the fleet, and the kind of the object of a shard
_README = re.compile(r"readme(\.\w+)?", re.IGNORECASE)
_GROUP_ROWS = 32_768  # of the table of words: what is read for one term
_SORT_MEMORY = "2GB"  # of the table of words
_MIN_FILES = 2  # with a term that is in no name, path or README
_MAX_README_PASSAGES = 40
_INTRO_PASSAGES = 3
_K1 = 1.2
_B = 0.5  # of BM25 over repositories, whose sizes differ by four orders of magnitude
_DAMPING = 0.85
_VECTORS = ("code", "description")  # columns of the table of repositories
_ABOUT = b"causalist"  # key of what a words object says of its repository

FIELDS = ("definitions", "files", "names", "paths", "readme", "intro", "own", "language")
# Words by which people name the language, or its platform, of a repository.
_LANGUAGE_WORDS = {
    "python": "python", "javascript": "javascript js node nodejs", "typescript": "typescript javascript js node nodejs",
    "tsx": "typescript javascript react js", "go": "go golang", "rust": "rust", "java": "java jvm",
    "kotlin": "kotlin java jvm", "scala": "scala jvm", "csharp": "net dotnet csharp", "cpp": "c cpp", "c": "c",
    "ruby": "ruby rails", "php": "php", "swift": "swift ios", "elixir": "elixir erlang", "lua": "lua", "bash": "shell",
}  # fmt: skip
_MIN_LANGUAGE_SHARE = 0.3  # of the files of the commonest language


class ChoiceWeights(NamedTuple):
    """Weights of the evidence that a repository answers; their sum is a log of odds."""

    definitions: float
    files: float
    names: float
    paths: float
    readme: float
    intro: float
    own: float
    language: float
    code: float
    description: float
    pagerank: float
    size: float


# Fitted by tests/benchmarks/fleet; docs/benchmarks.md has the figures on other ecosystems.
WEIGHTS = ChoiceWeights(
    definitions=3.54, files=2.41, names=0.51, paths=0.24, readme=0.51, intro=1.24, own=2.12, language=0.99, code=5.4,
    description=0.76, pagerank=0.0, size=0.0,
)  # fmt: skip


_SKETCH = 128  # numbers of MinHash; the estimate of a likeness of .9 is off by .03
_MIN_SKETCHED = 5  # files; fewer may be a licence and templates
_COPY = 0.7  # likeness of a fork; with one file in ten changed it is .82


class RepositoryWords(NamedTuple):
    """Words of one shard: distinct `terms`, sorted, and their counts by field, each of shape (n_terms,)."""

    terms: list[str]
    counts: Mapping[str, NDArray[np.int32]]
    about: Mapping[str, Any]  # what it is, and vectors of its code and its description


def count_words(index: Index, read_text: Any = None) -> RepositoryWords:
    """Return the words of a shard. `read_text` returns the text of a path, for a line on what the repository is."""
    lexical, graph = index.lexical, index.graph
    terms = lexical.terms
    counts = {
        "definitions": _frequencies(lexical.definitions, terms),
        "files": _frequencies(lexical.files, terms),
        "names": _frequencies(lexical.symbol_names, terms),
        "paths": _frequencies(lexical.paths, terms),
    }
    readme, passages = readme_of(index)
    for field, nodes in (("readme", passages[:_MAX_README_PASSAGES]), ("intro", passages[:_INTRO_PASSAGES])):
        counts[field] = _occurrences(lexical, nodes, len(graph.nodes))
    text = read_text(readme) if readme and read_text is not None else ""
    about = {
        "about": first_sentence(first_paragraph(text))[:300] if text else "",
        "languages": _main_languages(index),
        "n_definitions": int(lexical.definitions.n_documents),
        "n_readme": int(counts["readme"].sum()),
        "sketch": sketch_of(list(index.manifest.blobs)),
        "code": _vector(terms, np.sqrt(counts["definitions"].astype(np.float64)) + counts["names"]),
        "description": _vector(terms, counts["intro"].astype(np.float64)),
    }
    kept = (counts["names"] > 0) | (counts["paths"] > 0) | (counts["readme"] > 0) | (counts["files"] >= _MIN_FILES)
    places = np.flatnonzero(kept)
    return RepositoryWords(
        terms.some(places), {name: values[places].astype(np.int32) for name, values in counts.items()}, about
    )


def sketch_of(blobs: Iterable[str]) -> list[int]:
    """Return MinHash of the contents of files, given by their hashes in hexadecimal digits; [] for few files.

    The share of equal numbers of two sketches estimates the share of contents that both have.
    """
    contents = np.array(sorted({int(each[:16], 16) for each in blobs if each}), dtype=np.uint64)
    if len(contents) < _MIN_SKETCHED:
        return []
    factors = (int.from_bytes(hashlib.sha256(b"%d" % i).digest()[:16], "big") for i in range(_SKETCH))
    with np.errstate(over="ignore"):
        mixed = (contents * np.uint64(each >> 64 | 1) + np.uint64(each & (2**64 - 1)) for each in factors)
        return [int((each >> np.uint64(32)).min()) for each in mixed]


def _main_languages(index: Index) -> list[str]:
    """Return the languages of code that people may call the repository's, sorted."""
    counts = {name: n for name, n in index.languages.items() if name in _LANGUAGE_WORDS}
    most = max(counts.values(), default=0)
    return sorted(name for name, n in counts.items() if n >= _MIN_LANGUAGE_SHARE * most)


def _frequencies(postings: Postings, terms: StringTable) -> NDArray[np.int32]:
    frequencies = np.diff(postings.indptr).astype(np.int32)
    return frequencies if len(frequencies) == len(terms) else np.resize(frequencies, len(terms))


def readme_of(index: Index) -> tuple[str, NDArray[np.int64]]:
    """Return (path of the README at the top, its node and passages in their order)."""
    nodes = index.graph.nodes
    for path in index.manifest.paths:
        if "/" not in path and _README.fullmatch(path):
            file = nodes.ids.position(path)
            if file >= 0:
                inside = np.flatnonzero((nodes.files == file) & (nodes.kinds == NodeKind.PASSAGE))
                order = np.lexsort((inside, nodes.start_bytes[inside]))
                return path, np.concatenate([[file], inside[order]]).astype(np.int64)
    return "", np.zeros(0, dtype=np.int64)


def _occurrences(lexical: LexicalIndex, nodes: NDArray[np.int64], n_nodes: int) -> NDArray[np.int32]:
    """Return how often each term is in some nodes, shape (n_terms,)."""
    chosen = np.zeros(n_nodes, dtype=np.bool_)
    chosen[nodes] = True
    postings = lexical.definitions
    places = np.flatnonzero(chosen[postings.documents])
    terms = np.searchsorted(postings.indptr, places, side="right") - 1
    occurrences = np.bincount(terms, weights=postings.counts[places].astype(np.float64), minlength=len(lexical.terms))
    return np.rint(occurrences).astype(np.int32)


def _vector(terms: StringTable, weights: NDArray[np.float64]) -> list[float]:
    """Return the weighted mean of the vectors of words, of length 1; zeros for none."""
    encoder = shipped_encoder()
    rows = rows_of_terms(terms, encoder)
    used = np.flatnonzero((rows >= 0) & (weights > 0))
    vectors = unpack(encoder.rows[rows[used]]).astype(np.float64) * encoder.scales[rows[used], None]
    vector = (vectors * weights[used, None]).sum(axis=0)
    norm = float(np.sqrt((vector * vector).sum()))
    return [round(float(each), 5) for each in (vector / norm if norm > 0 else vector)]


def write_words(path: Path, words: RepositoryWords) -> None:
    """Write the words of a shard as a Parquet file."""
    arrow, parquet = _arrow()
    columns = {"term": arrow.array(words.terms, arrow.string())}
    columns |= {name: arrow.array(values, arrow.int32()) for name, values in words.counts.items()}
    table = arrow.table(columns).replace_schema_metadata({_ABOUT: json.dumps(words.about, sort_keys=True).encode()})
    parquet.write_table(table, path, compression="zstd")


def write_tables(records: Iterable[Mapping[str, Any]], store: "FleetStore", folder: Path) -> None:
    """Write the tables of the fleet from the words of the shards with these records, by way of files in a local folder.

    Raises FleetError for a shard whose words are missing or damaged.
    """
    arrow, parquet = _arrow()
    rows: list[dict[str, Any]] = []
    text, count, vector = arrow.string(), arrow.int64(), arrow.list_(arrow.float32())
    counts = [arrow.field(name, arrow.int32()) for name in FIELDS]
    wanted = arrow.schema([arrow.field("term", text), arrow.field("repository", arrow.int32()), *counts])
    ready = sorted((each for each in records if WORDS in each["objects"]), key=lambda each: str(each["name"]))
    # One shard is in memory at a time, and the sort has a bound: the words of thousands would not fit.
    with parquet.ParquetWriter(folder / "unsorted", wanted, compression="lz4") as unsorted:
        for number, record in enumerate(ready):
            objects = record["objects"]
            try:
                table = parquet.read_table(store.local_object(objects[WORDS], WORDS))
                about = json.loads((table.schema.metadata or {}).get(_ABOUT, b"{}"))
            except (OSError, ValueError, arrow.ArrowException) as error:
                raise FleetError(f"the words of {record['name']} are damaged; index it again") from error
            row = {name: record[name] for name in ("name", "commit", "version", "n_files", "n_nodes", "n_edges")}
            kinds = ("index", "text", "publishes", "uses")  # a shard of an older version lacks the last
            rows.append({**row, **{kind: objects.get(kind) for kind in kinds}, **about})
            languages = " ".join(_LANGUAGE_WORDS.get(each, "") for each in about.get("languages", ()))
            table = table.replace_schema_metadata(None)
            for field, words in (("own", record["name"]), ("language", languages)):
                table = _with_words(table, field, words)
            table = table.append_column("repository", arrow.array(np.full(len(table), number, dtype=np.int32)))
            unsorted.write_table(table.select(wanted.names).cast(wanted))
    texts = ("name", "commit", "version", "index", "text", "publishes", "uses", "about")
    numbers = ("n_files", "n_nodes", "n_edges", "n_definitions", "n_readme")
    columns = [*((name, text) for name in texts), *((name, count) for name in numbers)]
    sketch = ("sketch", arrow.list_(count))
    schema = arrow.schema([*columns, sketch, *((name, vector) for name in _VECTORS)])
    parquet.write_table(arrow.Table.from_pylist(rows, schema=schema), folder / REPOSITORIES, compression="zstd")
    write_sorted(folder / "unsorted", folder / WORDS, folder)
    for name in (WORDS, REPOSITORIES):
        store.write_table(name, folder / name)


def write_sorted(source: Path, target: Path, folder: Path) -> None:
    """Write the table of words sorted by term and repository, by way of files in a folder beyond `_SORT_MEMORY`."""
    import duckdb

    _, parquet = _arrow()
    limits = {"threads": 1, "memory_limit": _SORT_MEMORY, "temp_directory": str(folder / "sort")}
    with duckdb.connect(config=limits) as connection:
        rows = connection.read_parquet(str(source)).order("term, repository")
        read = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader  # its name in older versions
        reader = read(_GROUP_ROWS)
        options = {"compression": "zstd", "use_dictionary": ["term"], "write_statistics": True}
        with parquet.ParquetWriter(target, reader.schema, **options) as writer:
            for batch in reader:
                writer.write_batch(batch, row_group_size=_GROUP_ROWS)


def _with_words(table: Any, field: str, text: str) -> Any:
    """Return the words of a shard with a further field, which is 1 for the words of a text and 0 for all others."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    own = sorted({term for part in re.findall(r"\w+", text) for term in terms_of(part)})
    is_kept = compute.is_in(table.column("term"), value_set=arrow.array(own, arrow.string()))
    table = table.append_column(field, is_kept.cast(arrow.int32()))
    missing = sorted(set(own) - set(table.column("term").filter(is_kept).to_pylist()))
    if missing:
        added = dict.fromkeys(table.column_names, arrow.array([0] * len(missing), arrow.int32()))
        added["term"] = arrow.array(missing, arrow.string())
        added[field] = arrow.array([1] * len(missing), arrow.int32())
        table = arrow.concat_tables([table, arrow.table(added, schema=table.schema)])
    return table


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ExtraMissing("a fleet needs more packages: pip install 'causalist[fleet]'") from error
    return arrow, parquet


class RankedRepository(NamedTuple):
    """A repository for a question. `log_odds` compare repositories for this question; `share` are those among all.

    `copies` are forks of it that ranked behind it, above the last one chosen, and are not asked.
    """

    name: str
    log_odds: float
    share: float
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Catalog:
    """The repositories that a reader may see, sorted by name, and a reader of the words of all.

    `columns` are those of the table `repositories`, restricted to the visible ones. `place[i]` is the position of
    repository i of the table among these, -1 for one that is not visible. Vectors are those of the table, less their
    mean.
    """

    names: list[str]
    columns: Mapping[str, list[Any]]
    place: NDArray[np.int64]
    code: NDArray[np.float64]  # (n, n_numbers)
    description: NDArray[np.float64]  # (n, n_numbers)
    words: "_WordTable"
    sketches: Any = None  # column of Arrow; tables of an older version lack it

    @classmethod
    def open(cls, store: "FleetStore", visible: Iterable[str]) -> "Catalog":
        """Return the catalog of the visible repositories. Raises FleetError if nothing was indexed."""
        arrow, parquet = _arrow()
        paths = {name: store.local_table(name) for name in (REPOSITORIES, WORDS)}
        if None in paths.values():
            raise FleetError("nothing was indexed yet; `causalist fleet index` does")
        try:
            table = parquet.read_table(paths[REPOSITORIES], memory_map=True)
            words = _WordTable(paths[WORDS])
        except (OSError, ValueError) as error:
            raise FleetError("a table of the fleet is damaged; index again") from error
        wanted = frozenset(visible)
        is_kept = np.array([name in wanted for name in table.column("name").to_pylist()], dtype=np.bool_)
        row_of = np.where(is_kept, np.cumsum(is_kept) - 1, -1)
        table = table if is_kept.all() else table.filter(arrow.array(is_kept))
        vectors = [_matrix(table.column(name)) for name in _VECTORS]
        # Read when repositories are compared: as Python's numbers, those of thousands take a second.
        sketches = table.column("sketch") if "sketch" in table.column_names else None
        apart = [*_VECTORS, "sketch"] if sketches is not None else list(_VECTORS)
        columns = table.drop_columns(apart).to_pydict()
        return cls(columns["name"], columns, row_of, vectors[0], vectors[1], words, sketches)

    def __len__(self) -> int:
        return len(self.names)

    def record(self, name: str) -> Mapping[str, Any]:
        """Return the row of a visible repository. Raises FleetError if there is none."""
        at = bisect_left(self.names, name)
        if at == len(self.names) or self.names[at] != name:
            raise FleetError(f"{name} is not an indexed repository")
        return {column: values[at] for column, values in self.columns.items()}

    def frequencies(self, terms: Sequence[str], field: str = "definitions") -> tuple[NDArray[np.int64], int]:
        """Return (in how many definitions of all visible repositories each term is, the number of these)."""
        frequencies = [int(self._rows(term)[FIELDS.index(field)].sum()) for term in terms]
        return np.array(frequencies, dtype=np.int64), int(sum(self.columns["n_definitions"]))

    def having(self, term: str, field: str = "names") -> list[str]:
        """Return the repositories with a term in a field, those that have it most often first."""
        counts = self._rows(term)[FIELDS.index(field)]
        order = np.lexsort((np.arange(len(counts)), -counts))
        return [self.names[i] for i in order.tolist() if counts[i] > 0]

    def with_names_like(self, text: str) -> list[str]:
        """Return the repositories with a definition whose name contains a text, those with most of them first."""
        counts = np.zeros(len(self), dtype=np.int64)
        numbers, of_each = self.words.containing(re.sub(r"\W+", "", text).lower())
        places = self.place[numbers]
        np.add.at(counts, places[places >= 0], of_each[places >= 0])
        order = np.lexsort((np.arange(len(counts)), -counts))
        return [self.names[i] for i in order.tolist() if counts[i] > 0]

    def evidence(self, question: str, across: "CrossEdges | None" = None) -> NDArray[np.float64]:
        """Return the evidence for each visible repository, shape (n, len(ChoiceWeights))."""
        terms = parse_query(question).terms
        n = len(self)
        evidence = np.zeros((n, len(ChoiceWeights._fields)))
        sizes = np.array(self.columns["n_definitions"], dtype=np.float64)
        readmes = np.array(self.columns["n_readme"], dtype=np.float64)
        total = sum(terms.values()) or 1.0
        lengths = {"readme": readmes, "intro": np.minimum(readmes, 200.0), "own": np.ones(n), "language": np.ones(n)}
        rows_of = {term: self._rows(term) for term in sorted(terms)}
        for column, field in enumerate(FIELDS):
            length = lengths.get(field, np.sqrt(sizes))
            norm = 1 - _B + _B * length / max(float(length.mean()) if n else 1.0, 1e-9)
            for term, weight in sorted(terms.items()):
                counts = rows_of[term][column]
                frequency = int(np.count_nonzero(counts))
                if not frequency:
                    continue
                idf = float(np.log1p((n - frequency + 0.5) / (frequency + 0.5)))
                tf = np.sqrt(counts) if field not in lengths else counts.astype(np.float64)
                evidence[:, column] += weight / total * idf * tf * (_K1 + 1) / (tf + _K1 * norm)
        vector = encode_once(question, shipped_encoder())  # shards want the same one
        if vector is not None and n:
            own = vector / max(float(np.sqrt((vector.astype(np.float64) ** 2).sum())), 1e-9)
            for name, vectors in (("code", self.code), ("description", self.description)):
                evidence[:, ChoiceWeights._fields.index(name)] = vectors @ own
        evidence[:, ChoiceWeights._fields.index("pagerank")] = np.log(self.pagerank(across) * max(n, 1))
        evidence[:, ChoiceWeights._fields.index("size")] = np.log1p(sizes)
        return evidence

    def choose(
        self, question: str, n: int, across: "CrossEdges | None" = None, weights: ChoiceWeights = WEIGHTS
    ) -> list[RankedRepository]:
        """Return the `n` best repositories for a question, best first; ties by name. Of copies, one is taken."""
        if not len(self):
            return []
        evidence = self.evidence(question, across if weights.pagerank else None)
        scores = np.round(evidence @ np.array(weights), SCORE_DECIMALS)
        top = float(scores.max())
        shares = np.exp(scores - top) / float(np.exp(scores - top).sum())
        copies: dict[int, list[str]] = {}  # of each that is chosen
        for i in np.lexsort((np.arange(len(scores)), -scores)).tolist():
            if len(copies) >= n:
                break
            original = next((other for other in copies if self.likeness(i, other) >= _COPY), None)
            if original is None:
                copies[i] = []
            else:
                copies[original].append(self.names[i])
        return [
            RankedRepository(self.names[i], float(scores[i]), float(shares[i]), tuple(names))
            for i, names in copies.items()
        ]

    def likeness(self, one: int, other: int) -> float:
        """Return the estimated share of files that two repositories, given by their places, have in common."""
        a, b = ([], []) if self.sketches is None else (self.sketches[i].as_py() or [] for i in (one, other))
        return sum(x == y for x, y in zip(a, b, strict=True)) / _SKETCH if a and b else 0.0

    def pagerank(self, across: "CrossEdges | None" = None) -> NDArray[np.float64]:
        """Return PageRank of the package graph, shape (n,): repositories that many others use have most."""
        n = len(self)
        ranks = np.full(n, 1.0 / max(n, 1))
        if across is None or not len(across) or across.names != self.names:
            return ranks
        users, used, weights = across.pairs
        weights = np.log1p(weights)
        totals = np.bincount(users, weights=weights, minlength=n)
        for _ in range(50):
            moved = np.bincount(used, weights=ranks[users] * weights / totals[users], minlength=n)
            after = (_DAMPING * moved + (1.0 - _DAMPING * float(moved.sum())) / n).astype(np.float64)
            if float(np.abs(after - ranks).sum()) < 1e-9:
                return after
            ranks = after
        return ranks

    def _rows(self, term: str) -> NDArray[np.int64]:
        """Return the counts of a term, shape (len(FIELDS), n), 0 for repositories without it."""
        numbers, counts = self.words.of(term)
        places = self.place[numbers]
        rows = np.zeros((len(FIELDS), len(self)), dtype=np.int64)
        rows[:, places[places >= 0]] = counts[places >= 0].T
        return rows


def _matrix(column: Any) -> NDArray[np.float64]:
    """Return a column of vectors less their mean, shape (n, n_numbers)."""
    n = len(column)
    values = np.asarray(column.combine_chunks().flatten().to_numpy(zero_copy_only=False), dtype=np.float64)
    vectors = values.reshape(n, len(values) // max(n, 1))
    return vectors - vectors.mean(axis=0) if n else vectors


class _WordTable:
    """The table of words, of which the row groups of a term are read when it is asked for."""

    def __init__(self, path: Path | None) -> None:
        _, parquet = _arrow()
        self._path = path
        self._file = parquet.ParquetFile(path, memory_map=True)
        groups = [self._file.metadata.row_group(i) for i in range(self._file.num_row_groups)]
        columns = [each.column(0).statistics for each in groups if each.num_rows]  # a table of nothing has none
        self._firsts = [each.min for each in columns]
        self._lasts = [each.max for each in columns]
        self._read: dict[int, tuple[_GroupTerms, NDArray[np.int64], NDArray[np.int64]]] = {}

    def of(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (repositories with a term, their counts, of shape (n, len(FIELDS)))."""
        # Groups are sorted: those whose last term is not before it, up to those whose first term is behind it.
        parts = [(np.zeros(0, dtype=np.int64), np.zeros((0, len(FIELDS)), dtype=np.int64))]
        for i in range(bisect_left(self._lasts, term), bisect_right(self._firsts, term)):
            terms, numbers, counts = self._group(i)
            at = terms.index(term)
            if at >= 0:
                rows = slice(terms.bounds[at], terms.bounds[at + 1])
                parts.append((numbers[rows], counts[rows]))
        return np.concatenate([each[0] for each in parts]), np.concatenate([each[1] for each in parts])

    def containing(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (repositories, counts of names) of all rows whose term contains a text and is in a name."""
        import pyarrow.compute as compute

        _, parquet = _arrow()
        none: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        parts = [(none, none)]
        # Terms are compared once for each group, not for each repository that has them.
        with parquet.ParquetFile(self._path, memory_map=True, read_dictionary=["term"]) as file:
            for i in range(file.num_row_groups if text else 0):
                terms = file.read_row_group(i, columns=["term"]).column("term").combine_chunks()
                is_match = compute.match_substring(terms.dictionary, text).to_numpy(zero_copy_only=False)
                if not is_match.any():
                    continue
                table = file.read_row_group(i, columns=["repository", "names"])
                numbers, counts = (np.asarray(table.column(n).to_numpy(), dtype=np.int64) for n in table.column_names)
                rows = np.flatnonzero(is_match[terms.indices.to_numpy()] & (counts > 0))
                parts.append((numbers[rows], counts[rows]))
        return np.concatenate([each[0] for each in parts]), np.concatenate([each[1] for each in parts])

    def _group(self, number: int) -> "tuple[_GroupTerms, NDArray[np.int64], NDArray[np.int64]]":
        group = self._read.get(number)
        if group is None:
            table = self._file.read_row_group(number)
            counts = np.stack([np.asarray(table.column(field).to_numpy(), dtype=np.int64) for field in FIELDS], axis=1)
            numbers = np.asarray(table.column("repository").to_numpy(), dtype=np.int64)
            group = _GroupTerms(table.column("term")), numbers, counts
            if len(self._read) >= _MAX_GROUPS:
                self._read = {}
            self._read[number] = group
        return group


_MAX_GROUPS = 64  # that a process keeps


class _GroupTerms:
    """The sorted terms of a row group, and where the rows of each begin."""

    def __init__(self, column: Any) -> None:
        import pyarrow.compute as compute

        ends = compute.run_end_encode(column.combine_chunks())
        self._values = ends.values
        self.bounds = [0, *ends.run_ends.to_pylist()]

    def index(self, term: str) -> int:
        """Return the position of a term, -1 if it is not there."""
        low, high = 0, len(self._values)
        while low < high:
            middle = (low + high) // 2
            if self._values[middle].as_py() < term:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self._values) and self._values[low].as_py() == term else -1
