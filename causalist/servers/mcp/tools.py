"""Default MCP tools: names, descriptions, parameters and checked arguments.

The list is short, because an agent reads all of it before it starts. The module does not depend on the SDK: a tool is
data and a function from repository and arguments to an answer. `more_tools` has further tools.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from causalist.errors import UsageError
from causalist.servers.text_answers import Reply

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository

Arguments: TypeAlias = Mapping[str, Any]

MAX_CHARACTERS = 20_000  # of a query: enough for a long issue with its traceback
_NAME_CHARACTERS = 1_000
MAX_NAMES_CHARACTERS = 2_000
_NAME_TOKENS = 2_000  # for tools without a budget
_MAX_DIGITS = 30  # characters of a number
_TYPES: Mapping[type, str] = {str: "string", int: "integer", float: "number"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a tool. `low` and `high` bound a number or the length of a string.

    Without `default`, an omitted optional parameter is None.
    """

    type: type
    description: str
    low: float
    high: float
    default: float | None = None
    required: bool = False

    def schema(self) -> dict[str, object]:
        """Return the parameter as JSON Schema.

        Bounds are not in it: they would cost an agent a fifth of the list, and a number out of bounds is read anyhow.
        """
        schema: dict[str, object] = {"type": _TYPES[self.type], "description": self.description}
        return schema if self.default is None else {**schema, "default": self.default}

    def read(self, name: str, value: object) -> object:
        """Return `value` in the declared type. Raises UsageError with the valid values.

        Models write numbers as strings, and numbers out of bounds: the nearest bound is what they mean.
        """
        if self.type is str:
            if not isinstance(value, str):
                raise UsageError(f"{name} must be a string, not {_format_value(value)}")
            if not value.strip():
                raise UsageError(f"{name} must not be empty")
            if len(value) > self.high:
                raise UsageError(f"{name} must have at most {self.high:,} characters, not {len(value):,}")
            return value
        if isinstance(value, str) and len(value) <= _MAX_DIGITS:
            with suppress(ValueError):
                value = float(value.replace(",", "").replace("_", ""))
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            raise UsageError(f"{name} must be a number from {self.low:,} to {self.high:,}, not {_format_value(value)}")
        value = min(max(value, self.low), self.high)
        if self.type is int and value != int(value):
            raise UsageError(f"{name} must be an integer, not {_format_value(value)}")
        return self.type(value)


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool with its answer function.

    `answer` gets a repository, or the view of a fleet, and checked arguments, with None for omitted ones. `unindexed`
    gets the folder instead, while there is no index; a tool without it has no answer then. `is_writing`: True if it
    changes something. `needs_index`: False if `answer` reads the root of what it gets alone; it also gets `readers`, to
    whom the server may show what others may not see.
    """

    title: str
    description: str
    parameters: Mapping[str, Parameter]
    answer: Callable[[Any, Arguments], Reply | str]
    unindexed: Callable[[Path, Arguments], Reply] | None = None
    is_writing: bool = False
    needs_index: bool = True

    def schema(self) -> dict[str, Any]:
        """Return the arguments as JSON Schema."""
        required = [name for name, parameter in self.parameters.items() if parameter.required]
        return {
            "type": "object",
            "properties": {name: parameter.schema() for name, parameter in self.parameters.items()},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def describe_bounded(self, given: Arguments, arguments: Arguments) -> str:
        """Return a note for each number of the client that was out of bounds, as lines; "" for none."""
        lines = ""
        for name, parameter in self.parameters.items():
            used, value = arguments[name], given.get(name)
            is_bound = parameter.type is not str and used in (parameter.low, parameter.high)
            if is_bound and value not in (None, "") and not _is_number(value, used):
                lines += f"note: {name} is {used:,}, the nearest possible, not {_format_value(value)}\n"
        return lines

    def read(self, given: Arguments) -> Arguments:
        """Return the arguments with defaults; null and an empty string count as omitted. Raises UsageError."""
        unknown = [name for name in given if name not in self.parameters]
        if unknown:
            choices = ", ".join(self.parameters)
            raise UsageError(f"unknown argument {_format_value(unknown[0])}. Choose from {choices}.")
        arguments: dict[str, object] = {}
        for name, parameter in self.parameters.items():
            value = given.get(name)
            if not parameter.required and isinstance(value, str) and value.strip().lower() in ("", "null", "none"):
                value = None
            if value is not None:
                arguments[name] = parameter.read(name, value)
            elif parameter.required:
                raise UsageError(f"{name} is missing: {parameter.description}")
            else:
                arguments[name] = parameter.default
        return arguments


def _ask(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.model.answer import AskOptions
    from causalist.servers.text_answers import ask_text

    options = AskOptions(
        names=(arguments["names"],) if arguments["names"] else (),
        include=_patterns(arguments["include"]),
        exclude=_patterns(arguments["exclude"]),
        scope=arguments["scope"],
    )
    return ask_text(repository, arguments["question"], arguments["max_tokens"], arguments["top_k"], options)


def _patterns(text: str | None) -> tuple[str, ...]:
    """Return the patterns in a text, with commas between them."""
    return tuple(each.strip() for each in (text or "").split(",") if each.strip())


def _ask_unindexed(root: Path, arguments: Arguments) -> Reply:
    from causalist.servers.unindexed import ask_files

    question = f"{arguments['question']} {arguments['names'] or ''}".strip()
    part = None if arguments["include"] or arguments["exclude"] else _open_part(root, question)
    if part is not None:
        return _without_advice(_ask(part, arguments))._replace(part=part)
    return ask_files(root, question, arguments["max_tokens"], arguments["top_k"])


def _without_advice(reply: Reply) -> Reply:
    """Return a reply that does not ask for the index that this server builds."""
    from causalist.pipeline.first_answer import NOT_BUILT

    return reply._replace(text=reply.text.replace(f"; {NOT_BUILT}", ""))


def _open_part(root: Path, text: str) -> "Repository | None":
    from causalist.pipeline.repository import Repository

    return Repository.open_part(root, text, exact_root=True, force=True)


def find_name_unindexed(
    answer: Callable[["Repository", Arguments], Reply | str], root: Path, arguments: Arguments
) -> Reply:
    """Return the answer from the files that have the name of a definition, or else the lines that contain it.

    `answer` answers with an index.
    """
    from causalist.pack import count_tokens
    from causalist.servers.unindexed import find_name

    name = arguments["name"]
    part = None
    if arguments.get("to") is None:
        from causalist.pipeline.repository import Repository

        part = Repository.open_part_with(root, name, exact_root=True, force=True)
    if part is not None:
        notes = "".join(f"note: {note.slug}: {note.detail}\n" for note in part.notes)
        fitting = dict(arguments)
        if "max_tokens" in fitting:
            fitting["max_tokens"] -= count_tokens(notes)
        reply = answer(part, fitting)
        reply = reply if isinstance(reply, Reply) else Reply(reply)
        return _without_advice(reply._replace(text=notes + reply.text, part=part))
    return find_name(root, name, arguments.get("max_tokens") or _NAME_TOKENS)


def _symbol(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import path_text, symbol_text

    if arguments["to"] is not None:
        return path_text(repository, arguments["name"], arguments["to"], arguments["max_tokens"])
    return symbol_text(repository, arguments["name"], arguments["max_tokens"])


def _impact(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import impact_text

    return impact_text(
        repository,
        arguments["name"],
        max_depth=arguments["max_depth"],
        min_confidence=arguments["min_confidence"],
        max_tokens=arguments["max_tokens"],
    )


def budget_parameter(default: int) -> Parameter:
    """Return the parameter `max_tokens` with a default."""
    return Parameter(int, "Most tokens.", 200, 20_000, default)


def name_parameter(description: str, *, required: bool) -> Parameter:
    """Return a parameter for the name of a node."""
    return Parameter(str, description, 1, _NAME_CHARACTERS, required=required)


TOOLS: Mapping[str, Tool] = {
    "ask": Tool(
        "Ask the code",
        "Answers a question about this repository with its own code: the relevant definitions, connected and in causal "
        'order. Start here instead of searching files: "where is", "how does", "why", an error message.',
        {
            "question": Parameter(str, "In plain words; names, paths, tracebacks help.", 1, MAX_CHARACTERS,
                                  required=True),
            "names": Parameter(str, "Three to eight identifiers or words expected in the code; guesses help.", 1,
                               MAX_NAMES_CHARACTERS),
            "max_tokens": budget_parameter(4000),
            "top_k": Parameter(int, "Most definitions; default what suits max_tokens.", 1, 100),
            "include": Parameter(str, "Only files like src/**; several with commas.", 1, _NAME_CHARACTERS),
            "exclude": Parameter(str, "No files like tests/**.", 1, _NAME_CHARACTERS),
            "scope": Parameter(str, "Folder that ranks first.", 1, _NAME_CHARACTERS),
        },
        _ask,
        _ask_unindexed,
    ),
    "symbol": Tool(
        "Look up a definition",
        "Shows a definition by name or id: source, callers, what it calls. With `to`, the path from it to another one.",
        {
            "name": name_parameter(
                "Name, qualified name, file, or id such as src/auth.py::Session.verify.", required=True
            ),
            "to": name_parameter("Where the path ends.", required=False),
            "max_tokens": budget_parameter(3000),
        },
        _symbol,
        partial(find_name_unindexed, _symbol),
    ),
    "impact": Tool(
        "What a change affects",
        "Lists what depends on a definition or file, directly or through others, nearest first: what a change may "
        "break. Call before a change.",
        {
            "name": name_parameter("Name as in symbol; several with commas.", required=True),
            "max_depth": Parameter(int, "Most steps; default all.", 1, 100),
            "min_confidence": Parameter(float, "Least certainty; .5 omits guesses by name.", 0, 1, 0.0),
            "max_tokens": budget_parameter(2000),
        },
        _impact,
    ),
}  # fmt: skip


def _is_finite(value: float) -> bool:
    return value == value and value not in (float("inf"), -float("inf"))


def _is_number(value: object, number: float) -> bool:
    """Return True if a value of the client, which may be a string, is that number."""
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value.replace(",", "").replace("_", "")) == number
    return value == number


def _format_value(value: object) -> str:
    """Return a value of the client in short form."""
    try:
        text = repr(value)
    except ValueError:  # a number with too many digits
        return "a number too long to write"
    return text if len(text) <= 80 else f"{text[:79]}…"
