"""Queries of programs: plain JSON with the names of the settings -> query and options."""

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from causalist.errors import UsageError
from causalist.model.answer import AskOptions, Route

MAX_QUESTION_CHARACTERS = 20_000  # of a query: enough for a long issue with its traceback


def read_question(params: Mapping[str, Any]) -> str:
    """Return the query in `params`. Raises UsageError."""
    question = params.get("question")
    if not isinstance(question, str):
        raise UsageError(f"question must be a string, not {question!r}")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise UsageError(f"question must have at most {MAX_QUESTION_CHARACTERS:,} characters, not {len(question):,}")
    return question


def read_options(defaults: AskOptions, given: Mapping[str, Any]) -> AskOptions:
    """Return `defaults` updated by plain JSON. Raises UsageError with the valid values."""
    # Only the server's side decides which embedder receives source code.
    fields = {field.name: field for field in dataclasses.fields(AskOptions) if field.name != "embedder"}
    chosen: dict[str, Any] = {}
    for name, value in given.items():
        if name not in fields:
            raise UsageError(f"unknown option {name[:80]!r}. Choose from {', '.join(fields)}.")
        chosen[name] = _read_option(name, value, getattr(AskOptions(), name))
    return dataclasses.replace(defaults, **chosen)


def _read_option(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, StrEnum):
        try:
            return type(default)(value)
        except ValueError:
            raise UsageError(f"{name} must be one of {', '.join(type(default))}, not {value!r}") from None
    if name == "route":
        try:
            return None if value is None else Route(value)
        except ValueError:
            raise UsageError(f"route must be one of {', '.join(Route)}, not {value!r}") from None
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise UsageError(f"{name} must be a list of patterns, not {value!r}")
        return tuple(value)
    wanted: Any = str if default is None else (int, float) if isinstance(default, float) else type(default)
    is_wanted = isinstance(value, wanted) and (isinstance(value, bool) == isinstance(default, bool))
    if not is_wanted and not (default is None and value is None):
        raise UsageError(f"{name} must be of type {_type_name(wanted)}, not {value!r}")
    return value


def _type_name(wanted: Any) -> str:
    return "number" if isinstance(wanted, tuple) else {str: "string", int: "integer", bool: "boolean"}[wanted]
