"""User data next to the index that a rebuild keeps: recent queries, feedback, learned weights.

No answer depends on it: in a read-only folder nothing is stored, and unreadable data counts as absent. A repository may
ship these files, so that nothing in them is trusted to have any size, type or encoding.
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
from causalist.model.source import Diagnostic, DiagnosticSlug
from causalist.rank import LinearModel, Weights, default_weights, shipped_weights
from causalist.store import ANSWERS_NAME, FEEDBACK_LOCK, FEEDBACK_NAME, INDEX_NAME, WEIGHTS_NAME, hold_lock

FORMAT_VERSION = 1
MAX_ANSWERS = 200  # that are remembered when their file is cut
MAX_FEEDBACK = 2_000
_MAX_BYTES = {ANSWERS_NAME: 256 << 10, FEEDBACK_NAME: 1 << 20}  # bytes; beyond them the oldest rows go
_MAX_ROWS = {ANSWERS_NAME: MAX_ANSWERS, FEEDBACK_NAME: MAX_FEEDBACK}
_MAX_BYTES_READ = 4 << 20  # bytes of a file that are read
_MAX_QUESTION_CHARACTERS = 4_000  # characters that are remembered
_PATIENCE_SECONDS = 10.0
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

# The fields of rows that were written before rows had checksums.
_FIELDS_BEFORE = frozenset({"answer_id", "query", "options", "used", "not_used"})

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LearnedWeights:
    """Weights fitted for one repository; `digest` identifies them, `provenance` describes the data."""

    weights: Weights
    digest: str
    provenance: str


@dataclass(frozen=True, slots=True)
class FeedbackStore:
    """The files next to an index that may be in one of `places`, the preferred one first."""

    places: tuple[Path, ...]

    # -- learned weights

    def read_weights(self, index_version: str) -> tuple[LearnedWeights | None, tuple[Diagnostic, ...]]:
        """Return (the learned weights or None, diagnostics that say why existing ones are not used)."""
        text = self._read(WEIGHTS_NAME)
        if text is None:
            return None, ()
        try:
            document = json.loads(text)
            checksum = document.pop("checksum", None)
            if document["version"] != signals_version(index_version):
                return None, _unused_weights_diagnostic("they were fitted to other signals or other shipped weights")
            shipped = default_weights()
            weights = replace(
                shipped,
                definition=_parse_linear(document["definition"], shipped.definition),
                file=_parse_linear(document["file"], shipped.file),
            )
            if checksum != _checksum(document):
                return None, _unused_weights_diagnostic(f"{WEIGHTS_NAME} is damaged")
            return LearnedWeights(weights, hashlib.sha256(text).hexdigest()[:16], str(document["provenance"])), ()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None, _unused_weights_diagnostic(f"{WEIGHTS_NAME} cannot be read")

    def write_weights(self, document: Row) -> Path:
        """Write learned weights and return their path. Raises IndexNotWritable."""
        folder = self._writable()
        sealed = {**document, "checksum": _checksum(document)}
        with _hold_feedback_lock(folder):
            _replace_file(folder / WEIGHTS_NAME, (json.dumps(sealed, indent=1) + "\n").encode())
        return folder / WEIGHTS_NAME

    def delete_weights(self) -> bool:
        """Delete learned weights; return True if there were any. Raises IndexNotWritable."""
        paths = [place / WEIGHTS_NAME for place in self.places if os.path.lexists(place / WEIGHTS_NAME)]
        try:
            for path in paths:
                path.unlink()
        except OSError as error:
            raise IndexNotWritable(f"cannot remove {path}: {error.strerror or error}") from error
        return bool(paths)

    # -- questions and feedback

    def remember(self, answer_id: str, query: str, options: AskOptions) -> None:
        """Store a query for later feedback, with secrets masked; nothing if no folder is writable."""
        given, usual = asdict(options), asdict(AskOptions())
        changed = {name: _to_json_value(value) for name, value in given.items() if value != usual[name]}
        row = {"answer_id": answer_id, "query": _without_secrets(query)[:_MAX_QUESTION_CHARACTERS], "options": changed}
        with suppress(IndexNotWritable):
            self._append(ANSWERS_NAME, row, patience=0.0)

    def find_question(self, answer_id: str) -> str | None:
        """Return the query of an answer, if it is among the recent ones."""
        rows = [row for row in self._rows(ANSWERS_NAME) if row.get("answer_id") == answer_id]
        query = rows[-1].get("query") if rows else None
        return query if isinstance(query, str) and query.strip() else None

    def add_feedback_by_id(self, answer_id: str, used: tuple[str, ...], not_used: tuple[str, ...]) -> tuple[str, Path]:
        """Store which files of an answer were useful; return (its query, the file written).

        Raises UsageError for an unknown answer, and IndexNotWritable.
        """
        query = self.find_question(answer_id)
        if query is None:
            self._writable()  # where nothing can be written nothing was remembered
            raise UsageError(f"no stored answer has the id {answer_id!r}. `causalist ask --json` prints the answer_id.")
        return query, self.add_feedback(answer_id, query, used, not_used)

    def add_feedback(self, answer_id: str, query: str, used: tuple[str, ...], not_used: tuple[str, ...]) -> Path:
        """Store feedback on an answer and return the path of the file. Raises IndexNotWritable."""
        row = {"answer_id": answer_id, "query": query, "used": list(used), "not_used": list(not_used)}
        return self._append(FEEDBACK_NAME, row, patience=_PATIENCE_SECONDS)

    def read_feedback(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return (query, useful files) in the order of first feedback.

        Later feedback on an answer adds files and removes those that it calls not useful. Queries without useful files
        are left out.
        """
        used: dict[str, dict[str, None]] = {}
        queries: dict[str, str] = {}
        for row in self._rows(FEEDBACK_NAME):
            answer, query = row.get("answer_id"), row.get("query")
            if not isinstance(answer, str) or not isinstance(query, str) or not query.strip():
                continue
            queries.setdefault(answer, query)
            files = used.setdefault(answer, {})
            files.update(dict.fromkeys(_list_strings(row.get("used"))))
            for path in _list_strings(row.get("not_used")):
                files.pop(path, None)
        return [(queries[answer], tuple(sorted(files))) for answer, files in used.items() if files]

    # -- files

    def _writable(self) -> Path:
        """Return the writable folder that holds the index. Raises IndexNotWritable."""
        for folder in self.places:
            is_there = os.path.isfile(folder / INDEX_NAME) and not os.path.islink(folder)  # noqa: PTH113, PTH114
            if is_there and os.access(folder, os.W_OK):
                return folder
        named = " or ".join(str(folder) for folder in self.places)
        raise IndexNotWritable(f"cannot store feedback: no writable index in {named}")

    def _append(self, name: str, row: Row, *, patience: float) -> Path:
        path = self._writable() / name
        data = (json.dumps({**row, "checksum": _checksum(row)}, ensure_ascii=True) + "\n").encode("ascii")
        with _hold_feedback_lock(path.parent, patience):
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _OPEN_FLAGS, 0o600)
                with os.fdopen(descriptor, "ab") as out:
                    # What a full disk cut off is no row, and must not make one of the next.
                    out.write(data if _ends_with_newline(path) else b"\n" + data)
                    out.flush()
                    size = out.tell()
                if size > _MAX_BYTES[name]:
                    rows = (path.read_bytes()[-_MAX_BYTES_READ:]).splitlines(keepends=True)[-_MAX_ROWS[name] :]
                    kept = b"".join(rows)
                    while len(kept) > _MAX_BYTES[name] // 2 and len(rows) > 1:
                        rows = rows[len(rows) // 2 :]
                        kept = b"".join(rows)
                    _replace_file(path, kept)
            except OSError as error:
                raise IndexNotWritable(f"cannot write {path}: {error.strerror or error}") from error
        return path

    def _rows(self, name: str) -> Iterator[Row]:
        for line in (self._read(name) or b"").splitlines():
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict) and _has_valid_checksum(row):
                    yield row

    def _read(self, name: str) -> bytes | None:
        """Return the file of the first place that has one."""
        for folder in self.places:
            with suppress(OSError):
                descriptor = os.open(folder / name, os.O_RDONLY | _OPEN_FLAGS)
                with os.fdopen(descriptor, "rb") as file:
                    return file.read(_MAX_BYTES_READ)
        return None


def signals_version(index_version: str) -> str:
    """Return a hash of what weights are fitted to: signals, grammars and shipped weights."""
    shipped = shipped_weights()
    return hashlib.sha256(index_version.encode() + b"\n" + shipped.replace(b"\r\n", b"\n")).hexdigest()[:16]


def weights_document(weights: Weights, index_version: str, provenance: str, figures: Row) -> Row:
    """Return the document that `write_weights` writes."""
    return {
        "format_version": FORMAT_VERSION,
        "version": signals_version(index_version),
        "provenance": provenance,
        "figures": figures,
        "definition": asdict(weights.definition),
        "file": asdict(weights.file),
    }


def _checksum(document: Row) -> int:
    """Return the checksum of weights or of a row: a changed digit would still be a valid weight."""
    return zlib.crc32(json.dumps(document).encode("ascii"))


def _has_valid_checksum(row: dict[str, Any]) -> bool:
    """Return True if a row is intact.

    Rows without a checksum are of an older version and have no other fields; a damaged checksum key would be an extra
    field.
    """
    if "checksum" in row:
        return bool(row.pop("checksum") == _checksum(row))
    return row.keys() <= _FIELDS_BEFORE


def _unused_weights_diagnostic(why: str) -> tuple[Diagnostic, ...]:
    return (Diagnostic(DiagnosticSlug.LEARNED_WEIGHTS, f"not used: {why}; `causalist learn` fits them again", -1),)


def _parse_linear(part: Row, shipped: LinearModel) -> LinearModel:
    """Return the model of a document.

    Raises ValueError, TypeError or KeyError unless it has finite, non-negative weights for the shipped signals.
    """
    groups = {name: {str(k): float(v) for k, v in part[name].items()} for name in ("signals", "role", "kind")}
    if groups["signals"].keys() != shipped.signals.keys() or groups["role"].keys() != shipped.role.keys():
        raise ValueError("the signals or roles are others")
    if not all(math.isfinite(v) and 0 <= v < 1e6 for group in groups.values() for v in group.values()):
        raise ValueError("a weight is not a number")
    return LinearModel(groups["signals"], groups["role"], groups["kind"])


@contextmanager
def _hold_feedback_lock(folder: Path, patience: float = _PATIENCE_SECONDS) -> Iterator[None]:
    busy = f"another process has been writing beside the index in {folder}; try again"
    with hold_lock(folder / FEEDBACK_LOCK, patience, busy):
        yield


def _ends_with_newline(path: Path) -> bool:
    """Return True if a row can be appended. Raises OSError."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read() in (b"", b"\n")


def _replace_file(path: Path, data: bytes) -> None:
    """Replace a file atomically. Raises IndexNotWritable."""
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


def _list_strings(value: object) -> list[str]:
    return [path for path in value if isinstance(path, str)] if isinstance(value, list) else []


def _to_json_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_to_json_value(each) for each in value]
    return value.value if isinstance(value, Enum) else value


def _without_secrets(text: str) -> str:
    from causalist.parse import find_secrets, mask_secrets

    data = text.encode("utf-8", "replace")
    spans = find_secrets(data)
    return mask_secrets(data, spans).decode("utf-8", "replace") if spans else text
