"""Questions as programs send them: plain JSON with the names that settings use -> a question and its options."""

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from causalist.errors import UsageError
from causalist.model.answer import AskOptions, Route

MOST_CHARACTERS = 20_000  # of a question: a long issue with its traceback


def find_question(params: Mapping[str, Any]) -> str:
    """What is asked. Raises UsageError."""
    question = params.get("question")
    if not isinstance(question, str):
        raise UsageError(f"question is {question!r}; it is a string")
    if len(question) > MOST_CHARACTERS:
        raise UsageError(f"question has {len(question)} characters; at most {MOST_CHARACTERS} are read")
    return question


def options_from(defaults: AskOptions, given: Mapping[str, Any]) -> AskOptions:
    """`defaults` with plain JSON in the place of some. Raises UsageError that names what would work."""
    # Who is sent the source is decided where the server runs.
    fields = {field.name: field for field in dataclasses.fields(AskOptions) if field.name != "embedder"}
    chosen: dict[str, Any] = {}
    for name, value in given.items():
        if name not in fields:
            raise UsageError(f"there is no option {name[:80]!r}; there are {', '.join(fields)}")
        chosen[name] = _read(name, value, getattr(AskOptions(), name))
    return dataclasses.replace(defaults, **chosen)


def _read(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, StrEnum):
        try:
            return type(default)(value)
        except ValueError:
            raise UsageError(f"{name} is {value!r}; it is one of {', '.join(type(default))}") from None
    if name == "route":
        try:
            return None if value is None else Route(value)
        except ValueError:
            raise UsageError(f"route is {value!r}; it is one of {', '.join(Route)}") from None
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise UsageError(f"{name} is {value!r}; it is a list of patterns")
        return tuple(value)
    wanted: Any = str if default is None else (int, float) if isinstance(default, float) else type(default)
    is_wanted = isinstance(value, wanted) and (isinstance(value, bool) == isinstance(default, bool))
    if not is_wanted and not (default is None and value is None):
        raise UsageError(f"{name} is {value!r}; it is of another type")
    return value
