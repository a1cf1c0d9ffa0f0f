"""Data file -> labeled questions. Invalid lines raise EvaluationError with their line number."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from causalist.errors import EvaluationError

# The parts become names of folders, hence neither "." nor "..".
_REPOSITORY = re.compile(r"(?!\.{1,2}/)[\w.-]+/(?!\.{1,2}$)[\w.-]+")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with what answers it: paths, and perhaps ids of definitions.

    `commit` is the state to search; `hard` is true when no word of the question is part of a gold file's own name.
    `line` is 1-based.
    """

    line: int
    id: str
    repo: str
    lang: str
    commit: str
    query: str
    gold_files: tuple[str, ...]
    gold_symbols: tuple[str, ...]
    hard: bool


def read_questions(data: Path) -> list[LabelledQuestion]:
    """Return the questions of a file with one JSON object a line, in order; blank lines and other keys are ignored."""
    try:
        lines = data.read_bytes().split(b"\n")
    except OSError as error:
        raise EvaluationError(f"{data} cannot be read ({error}); give a file with one JSON object a line") from error
    questions = []
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        question = _question(line, number, f"{data}, line {number}")
        first = line_of.setdefault(question.id, number)
        if first != number:
            raise EvaluationError(f"{data}, line {number}: the id {question.id!r} is already on line {first}")
        questions.append(question)
    return questions


def _question(line: bytes, number: int, where: str) -> LabelledQuestion:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"{where}: not JSON ({error})") from error
    if not isinstance(row, dict):
        raise EvaluationError(f"{where}: a JSON object is needed, found {_kind(row)}")
    repo = _text(row, "repo", where)
    if not _REPOSITORY.fullmatch(repo):
        raise EvaluationError(f'{where}: "repo" is {repo!r}; it is written OWNER/NAME')
    if not isinstance(row.get("hard"), bool):
        raise EvaluationError(f'{where}: "hard" must be true or false, found {_found(row, "hard")}')
    return LabelledQuestion(
        line=number,
        id=_text(row, "id", where),
        repo=repo,
        lang=_text(row, "lang", where),
        commit=_text(row, "base_commit", where),
        query=_text(row, "query", where),
        gold_files=_texts(row, "gold_files", where),
        gold_symbols=_texts(row, "gold_symbols", where) if row.get("gold_symbols") else (),
        hard=row["hard"],
    )


def _text(row: Mapping[str, object], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise EvaluationError(f'{where}: "{key}" must be a text that is not empty, found {_found(row, key)}')
    return value


def _texts(row: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = row.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
        raise EvaluationError(f'{where}: "{key}" must be a list of texts that is not empty, found {_found(row, key)}')
    if len(set(value)) < len(value):
        raise EvaluationError(f'{where}: "{key}" names something twice: {value}')
    return tuple(value)


def _found(row: Mapping[str, object], key: str) -> str:
    return _kind(row[key]) if key in row else "no such key"


def _kind(value: object) -> str:
    """Return a value as the message shows it.

    >>> _kind([]), _kind(3), _kind(None)
    ('[]', '3', 'null')
    """
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
