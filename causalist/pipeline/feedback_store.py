"""What is kept beside an index and survives when it is made again: the last questions, feedback, learned weights.

All of it is the user's, none is needed for an answer: where the folder cannot be written nothing is kept, and what
cannot be read counts as not there. The files are data that a repository may ship; nothing in them is trusted to be of
any size, type or encoding.
"""

import hashlib
import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from typing import Any

from causalist._internal.lazy import dataclass
from causalist.errors import IndexNotWritable, UsageError
from causalist.model.answer import AskOptions
from causalist.model.source import Diagnostic
from causalist.rank import Linear, Weights, default_weights, shipped_weights
from causalist.store import ANSWERS_NAME, BESIDE_LOCK, FEEDBACK_NAME, INDEX_NAME, WEIGHTS_NAME, locked

FORMAT_VERSION = 1
MOST_ANSWERS = 200  # that are remembered when their file is cut
MOST_FEEDBACK = 2_000
_LARGEST = {ANSWERS_NAME: 256 << 10, FEEDBACK_NAME: 1 << 20}  # bytes; beyond them the oldest rows go
_MOST = {ANSWERS_NAME: MOST_ANSWERS, FEEDBACK_NAME: MOST_FEEDBACK}
_MOST_READ = 4 << 20  # bytes of a file that are read
_LONGEST_QUESTION = 4_000  # characters that are remembered
_PATIENCE_SECONDS = 10.0
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

# The fields of rows that were written before rows had checksums.
_FIELDS_BEFORE = frozenset({"answer_id", "query", "options", "used", "not_used"})

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights that were fitted for one repository; `digest` names them, `provenance` says what they rest on."""

    weights: Weights
    digest: str
    provenance: str


@dataclass(frozen=True, slots=True)
class Beside:
    """The files beside an index that may be in one of `places`, the preferred one first."""

    places: tuple[Path, ...]

    # -- learned weights

    def learned(self, index_version: str) -> tuple[Learned | None, tuple[Diagnostic, ...]]:
        """(the learned weights, why those that are there are not used)."""
        found = self._read(WEIGHTS_NAME)
        if found is None:
            return None, ()
        try:
            document = json.loads(found)
            checksum = document.pop("checksum", None)
            if document["version"] != signals_version(index_version):
                return None, _unused("they were fitted to other signals or other shipped weights")
            shipped = default_weights()
            weights = replace(
                shipped,
                definition=_linear(document["definition"], shipped.definition),
                file=_linear(document["file"], shipped.file),
            )
            if checksum != _checksum(document):
                return None, _unused(f"{WEIGHTS_NAME} is damaged")
            return Learned(weights, hashlib.sha256(found).hexdigest()[:16], str(document["provenance"])), ()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None, _unused(f"{WEIGHTS_NAME} cannot be read")

    def keep_weights(self, document: Row) -> Path:
        """Writes learned weights and says where. Raises IndexNotWritable."""
        folder = self._writable()
        sealed = {**document, "checksum": _checksum(document)}
        with _locked(folder):
            _write(folder / WEIGHTS_NAME, (json.dumps(sealed, indent=1) + "\n").encode())
        return folder / WEIGHTS_NAME

    def forget_weights(self) -> bool:
        """Removes learned weights; whether there were any. Raises IndexNotWritable."""
        found = [place / WEIGHTS_NAME for place in self.places if os.path.lexists(place / WEIGHTS_NAME)]
        try:
            for path in found:
                path.unlink()
        except OSError as error:
            raise IndexNotWritable(f"cannot remove {path}: {error.strerror or error}") from error
        return bool(found)

    # -- questions and feedback

    def remember(self, answer_id: str, query: str, options: AskOptions) -> None:
        """Keeps a question for later feedback, without its secrets. Nothing happens where nothing can be written."""
        given, usual = asdict(options), asdict(AskOptions())
        changed = {name: _plain(value) for name, value in given.items() if value != usual[name]}
        row = {"answer_id": answer_id, "query": _without_secrets(query)[:_LONGEST_QUESTION], "options": changed}
        with suppress(IndexNotWritable):
            self._append(ANSWERS_NAME, row, patience=0.0)

    def question_of(self, answer_id: str) -> str | None:
        """The question that an answer belongs to, if it is among the last ones."""
        rows = [row for row in self._rows(ANSWERS_NAME) if row.get("answer_id") == answer_id]
        query = rows[-1].get("query") if rows else None
        return query if isinstance(query, str) and query.strip() else None

    def tell(self, answer_id: str, used: tuple[str, ...], not_used: tuple[str, ...]) -> tuple[str, Path]:
        """Keeps which files of an answer were of use; (its question, the file that was written). Raises UsageError for
        an answer that is not remembered, and IndexNotWritable."""
        query = self.question_of(answer_id)
        if query is None:
            self._writable()  # where nothing can be written nothing was remembered
            raise UsageError(f"no stored answer has the id {answer_id!r}. `causalist ask --json` prints the answer_id.")
        return query, self.add_feedback(answer_id, query, used, not_used)

    def add_feedback(self, answer_id: str, query: str, used: tuple[str, ...], not_used: tuple[str, ...]) -> Path:
        """Keeps what an answer was worth, and says where. Raises IndexNotWritable."""
        row = {"answer_id": answer_id, "query": query, "used": list(used), "not_used": list(not_used)}
        return self._append(FEEDBACK_NAME, row, patience=_PATIENCE_SECONDS)

    def feedback(self) -> list[tuple[str, tuple[str, ...]]]:
        """(question, files that were used), in the order of their first feedback; later feedback on an answer adds to
        earlier, and takes back what it says was not used. Questions of which nothing was used are left out."""
        used: dict[str, dict[str, None]] = {}
        queries: dict[str, str] = {}
        for row in self._rows(FEEDBACK_NAME):
            answer, query = row.get("answer_id"), row.get("query")
            if not isinstance(answer, str) or not isinstance(query, str) or not query.strip():
                continue
            queries.setdefault(answer, query)
            files = used.setdefault(answer, {})
            files.update(dict.fromkeys(_paths(row.get("used"))))
            for path in _paths(row.get("not_used")):
                files.pop(path, None)
        return [(queries[answer], tuple(sorted(files))) for answer, files in used.items() if files]

    # -- files

    def _writable(self) -> Path:
        """The folder that holds the index and can be written. Raises IndexNotWritable."""
        for place in self.places:
            is_there = os.path.isfile(place / INDEX_NAME) and not os.path.islink(place)  # noqa: PTH113, PTH114
            if is_there and os.access(place, os.W_OK):
                return place
        named = " or ".join(str(place) for place in self.places)
        raise IndexNotWritable(f"cannot store feedback: no writable index in {named}")

    def _append(self, name: str, row: Row, *, patience: float) -> Path:
        path = self._writable() / name
        data = (json.dumps({**row, "checksum": _checksum(row)}, ensure_ascii=True) + "\n").encode("ascii")
        with _locked(path.parent, patience):
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _OPEN_FLAGS, 0o600)
                with os.fdopen(descriptor, "ab") as out:
                    # What a full disk cut off is no row, and must not make one of the next.
                    out.write(data if _ends_with_newline(path) else b"\n" + data)
                    out.flush()
                    size = out.tell()
                if size > _LARGEST[name]:
                    rows = (path.read_bytes()[-_MOST_READ:]).splitlines(keepends=True)[-_MOST[name] :]
                    kept = b"".join(rows)
                    while len(kept) > _LARGEST[name] // 2 and len(rows) > 1:
                        rows = rows[len(rows) // 2 :]
                        kept = b"".join(rows)
                    _write(path, kept)
            except OSError as error:
                raise IndexNotWritable(f"cannot write {path}: {error.strerror or error}") from error
        return path

    def _rows(self, name: str) -> Iterator[Row]:
        for line in (self._read(name) or b"").splitlines():
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict) and _is_whole(row):
                    yield row

    def _read(self, name: str) -> bytes | None:
        """The file of the first place that has one."""
        for place in self.places:
            with suppress(OSError):
                descriptor = os.open(place / name, os.O_RDONLY | _OPEN_FLAGS)
                with os.fdopen(descriptor, "rb") as file:
                    return file.read(_MOST_READ)
        return None


def signals_version(index_version: str) -> str:
    """Names what weights are fitted to: the signals, the grammars behind them, and the weights to beat."""
    shipped = shipped_weights()
    return hashlib.sha256(index_version.encode() + b"\n" + shipped.replace(b"\r\n", b"\n")).hexdigest()[:16]


def weights_document(weights: Weights, index_version: str, provenance: str, figures: Row) -> Row:
    """What `keep_weights` writes."""
    return {
        "format_version": FORMAT_VERSION,
        "version": signals_version(index_version),
        "provenance": provenance,
        "figures": figures,
        "definition": asdict(weights.definition),
        "file": asdict(weights.file),
    }


def _checksum(document: Row) -> int:
    """Of learned weights and of rows: a changed digit would still be a weight, a changed letter another file."""
    return zlib.crc32(json.dumps(document).encode("ascii"))


def _is_whole(row: dict[str, Any]) -> bool:
    """Whether a row is as it was written. Rows without a checksum are of before there was one, and have no other
    fields: where the name of the checksum is damaged there is one too many."""
    if "checksum" in row:
        return bool(row.pop("checksum") == _checksum(row))
    return row.keys() <= _FIELDS_BEFORE


def _unused(why: str) -> tuple[Diagnostic, ...]:
    return (Diagnostic("learned-weights", f"not used: {why}; `causalist learn` fits them again", -1),)


def _linear(part: Row, shipped: Linear) -> Linear:
    """Raises ValueError, TypeError or KeyError unless it has weights for the same signals, all finite and not below
    zero."""
    groups = {name: {str(k): float(v) for k, v in part[name].items()} for name in ("signals", "role", "kind")}
    if groups["signals"].keys() != shipped.signals.keys() or groups["role"].keys() != shipped.role.keys():
        raise ValueError("the signals or roles are others")
    if not all(math.isfinite(v) and 0 <= v < 1e6 for group in groups.values() for v in group.values()):
        raise ValueError("a weight is no weight")
    return Linear(groups["signals"], groups["role"], groups["kind"])


@contextmanager
def _locked(folder: Path, patience: float = _PATIENCE_SECONDS) -> Iterator[None]:
    busy = f"another process has been writing beside the index in {folder}; try again"
    with locked(folder / BESIDE_LOCK, patience, busy):
        yield


def _ends_with_newline(path: Path) -> bool:
    """Whether a row can begin behind what is there. Raises OSError."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read() in (b"", b"\n")


def _write(path: Path, data: bytes) -> None:
    """Complete or as it was. Raises IndexNotWritable."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        aside.unlink(missing_ok=True)
        with aside.open("xb") as out:
            out.write(data)
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise IndexNotWritable(f"cannot write {path}: {error.strerror or error}") from error


def _paths(value: object) -> list[str]:
    return [path for path in value if isinstance(path, str)] if isinstance(value, list) else []


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, Enum) else value


def _without_secrets(text: str) -> str:
    from causalist.parse import find_secrets, masked

    data = text.encode("utf-8", "replace")
    spans = find_secrets(data)
    return masked(data, spans).decode("utf-8", "replace") if spans else text
