"""What a repository's own files say of how it is asked and indexed: pyproject.toml and causalist.toml.

A repository is hostile input, and so are its settings: the table below is all that they can say. None of it names a
place outside of the repository, a program, a model or a server; lists of files only take away, never add; limits have a
ceiling. What the command line says goes before causalist.toml, and that before pyproject.toml; the environment has no
say, so that the same repository answers alike everywhere: but for the embedder, which is its user's to choose. A
repository can only ask for one that sends nothing anywhere.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, NamedTuple

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.errors import SettingsError
from causalist.index.options import IndexOptions
from causalist.model.answer import (
    NO_EMBEDDER,
    AskOptions,
    GraphVariant,
    Level,
    Order,
    RankMode,
    RetrievalMode,
    Route,
    Specificity,
)
from causalist.model.source import FileEntry, SourceFile
from causalist.pack import MINIMUM_TOKENS
from causalist.source import DEFAULT_LIMITS, Limits, Reason, read_file

# Later files go before earlier ones; the second part is where in the file the settings stand.
FILES: tuple[tuple[str, tuple[str, ...]], ...] = (("pyproject.toml", ("tool", "causalist")), ("causalist.toml", ()))
DEFAULT = "default"
EMBEDDER_VARIABLE = "CAUSALIST_EMBEDDER"
_LOCAL_EMBEDDER = lazy_regex(r"local:[A-Za-z0-9][A-Za-z0-9._-]{0,63}", needs=("local:",))


class Setting(NamedTuple):
    """One key. `kind`: "integer", "number", "flag", "choice" of `choices`, "patterns" as in .gitignore, or "embedder",
    the name of one that is refused where it is not local. Numbers lie between `low` and `high`, `high` itself only
    where they are whole."""

    section: str
    name: str
    kind: str
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = math.inf


def _labels(kind: Any) -> tuple[str, ...]:
    return tuple(each.value for each in kind)


_ASK, _LIMITS = AskOptions(), DEFAULT_LIMITS
_ROUTES = tuple(route.value for route in Route if route is not Route.SKIP)  # which answers nothing on its own
SETTINGS: tuple[Setting, ...] = (
    Setting("ask", "top-k", "integer", _ASK.top_k, "how many results at most", low=1, high=10_000),
    Setting("ask", "level", "choice", _ASK.level.value, "what is ranked", _labels(Level)),
    Setting("ask", "max-tokens", "integer", _ASK.max_tokens, "the token budget of the pack", low=1, high=10_000_000),
    Setting("ask", "format", "choice", _ASK.format, "how the pack is written", tuple(MINIMUM_TOKENS)),
    Setting("ask", "route", "choice", None, "how to answer; unset, the question decides", _ROUTES),
    Setting("ask", "rank", "choice", _ASK.rank.value, "the score that decides", _labels(RankMode)),
    Setting("ask", "no-graph", "flag", not _ASK.graph, "rank by words alone"),
    Setting("ask", "order", "choice", _ASK.order.value, "the order of the pack", _labels(Order)),
    Setting("ask", "damping", "number", _ASK.damping, "probability of following an edge", high=1.0),
    Setting("ask", "specificity", "choice", _ASK.specificity.value, "how seeds are weighted", _labels(Specificity)),
    Setting(
        "ask",
        "approximate",
        "number",
        None,
        "threshold of a walk near the seeds alone, 0: exact everywhere; unset, exact up to a million nodes",
        high=1.0,
    ),
    Setting("ask", "include", "patterns", (), "only files that one of these matches"),
    Setting("ask", "exclude", "patterns", (), "no files that one of these matches"),
    Setting(
        "ask",
        "embedder",
        "embedder",
        None,
        "whose vectors count as well, if it keeps texts on the machine (docs/embedders.md)",
    ),
    Setting("ask", "remember", "flag", True, "keep the last questions beside the index, for `causalist feedback`"),
    Setting("index", "deny", "patterns", _LIMITS.deny, "files that are never indexed, beside those that never are"),
    Setting("index", "submodules", "flag", None, "index repositories inside of this one; unset, as the index has it"),
    Setting(
        "index",
        "max-file-bytes",
        "integer",
        _LIMITS.max_file_bytes,
        "larger files stay out; where it is not stated, code above 2,000,000",
        (),
        1,
        16_000_000,
    ),
    Setting("index", "max-files", "integer", _LIMITS.max_files, "more files stay out", (), 1, 1_000_000),
    Setting(
        "memory",
        "mode",
        "choice",
        RetrievalMode.HIPPO.value,
        "how `memory search` finds passages",
        _labels(RetrievalMode),
    ),
    Setting("memory", "limit", "integer", 5, "how many passages `memory search` shows at most", low=1, high=1_000),
    Setting(
        "memory", "variant", "choice", GraphVariant.LOG.value, "the graph that mode hippo walks", _labels(GraphVariant)
    ),
)
_BY_KEY: Mapping[tuple[str, str], Setting] = {(each.section, each.name): each for each in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set, by (section, name), and the file that says it."""

    values: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    sources: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def value(self, section: str, name: str) -> Any:
        return self.values.get((section, name), _BY_KEY[section, name].default)

    def source(self, section: str, name: str) -> str:
        """The name of the file that sets it, or "default"."""
        return self.sources.get((section, name), DEFAULT)

    def ask_options(self) -> AskOptions:
        def value(name: str) -> Any:
            return self.value("ask", name)

        route, approximate = value("route"), value("approximate")
        return AskOptions(
            top_k=value("top-k"),
            level=Level(value("level")),
            max_tokens=value("max-tokens"),
            format=value("format"),
            route=Route(route) if route is not None else None,
            rank=RankMode(value("rank")),
            graph=not value("no-graph"),
            order=Order(value("order")),
            damping=float(value("damping")),
            specificity=Specificity(value("specificity")),
            approximate=None if approximate is None else float(approximate),
            include=value("include"),
            exclude=value("exclude"),
            embedder=value("embedder"),
        )

    def completed(self, options: AskOptions, folder: str) -> AskOptions:
        """The options, with what they leave open: `folder`, where it is asked, and the embedder that is set here."""
        scope = folder or None if options.scope is None else options.scope
        embedder = self.value("ask", "embedder") if options.embedder is None else options.embedder
        return replace(options, scope=scope, embedder=None if embedder == NO_EMBEDDER else embedder)

    def limits(self) -> Limits:
        return Limits(
            max_file_bytes=self.value("index", "max-file-bytes"),
            max_files=self.value("index", "max-files"),
            deny=self.value("index", "deny"),
        )

    def index_options(self, given: IndexOptions) -> IndexOptions:
        """`given`, with what it leaves to the settings."""
        submodules = self.value("index", "submodules") if given.submodules is None else given.submodules
        return replace(given, limits=given.limits or self.limits(), submodules=submodules)


def read_settings(root: Path) -> Settings:
    """The settings of the repository in `root`. Raises SettingsError with the file and the key.

    Links are not followed: a pyproject.toml that is one says nothing here, a causalist.toml that is one is refused.
    """
    values: dict[tuple[str, str], Any] = {}
    sources: dict[tuple[str, str], str] = {}
    for name, place in FILES:
        for key, value in _read(root, name, place).items():
            values[key], sources[key] = value, name
    chosen = os.environ.get(EMBEDDER_VARIABLE, "").strip()
    if chosen:
        values["ask", "embedder"], sources["ask", "embedder"] = chosen, EMBEDDER_VARIABLE
    return Settings(values, sources)


def _read(root: Path, name: str, place: tuple[str, ...]) -> dict[tuple[str, str], Any]:
    file = read_file(root, FileEntry(name, 0, 0))
    if not isinstance(file, SourceFile):
        if not place and file != Reason.VANISHED and _can_be_listed(root):
            raise SettingsError(f"{name} cannot be read as settings ({file}). Write a plain text file.")
        return {}
    if place and b"causalist" not in file.data:
        return {}  # spares most repositories the time to parse it
    from causalist._internal.text import read_toml

    try:
        table: Any = read_toml(file.data.decode("utf-8"))
    except ValueError as error:
        raise SettingsError(f"{name} is not valid TOML: {error}") from error
    for part in place:
        table = table.get(part, {}) if isinstance(table, dict) else {}
    where = f"{name}: [{'.'.join(place)}]" if place else name
    if not isinstance(table, dict):
        raise SettingsError(f"{where} must be a table with the sections {_sections()}")
    found: dict[tuple[str, str], Any] = {}
    for section, keys in table.items():
        if section not in {each.section for each in SETTINGS}:
            raise SettingsError(f"{where}: unknown section {section!r}. Choose from {_sections()}.")
        full = ".".join((*place, section))
        if not isinstance(keys, dict):
            raise SettingsError(f"{name}: {full} must be a table. Write [{full}] and its settings below.")
        for key, value in keys.items():
            setting = _BY_KEY.get((section, key))
            if setting is None:
                known = ", ".join(each.name for each in SETTINGS if each.section == section)
                raise SettingsError(f"{name}: [{full}] has no setting {key!r}. Choose from {known}.")
            found[section, key] = _checked(setting, value, f"{name}: [{full}] {key}")
    return found


def _can_be_listed(root: Path) -> bool:
    """A folder that cannot be is not found by the scan, which says so better."""
    try:
        with os.scandir(root):
            return True
    except OSError:
        return False


def _sections() -> str:
    return ", ".join(dict.fromkeys(each.section for each in SETTINGS))


def _checked(setting: Setting, value: Any, where: str) -> Any:
    """The value in the form in which it is used. Raises SettingsError for any other than the setting takes."""
    if setting.kind == "patterns":
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise SettingsError(f"{where} must be a list of .gitignore patterns, not {_short(value)}")
    if setting.kind == "embedder":
        if isinstance(value, str) and (value == NO_EMBEDDER or _LOCAL_EMBEDDER.fullmatch(value)):
            return value
        raise SettingsError(
            f'{where} must be "local:NAME" of an installed embedder or "{NO_EMBEDDER}", not {_short(value)} '
            f"(for others use --embedder or {EMBEDDER_VARIABLE})"
        )
    if setting.kind == "choice":
        if isinstance(value, str) and value in setting.choices:
            return value
        raise SettingsError(f"{where} must be one of {', '.join(setting.choices)}, not {_short(value)}")
    if setting.kind == "flag":
        if isinstance(value, bool):
            return value
        raise SettingsError(f"{where} must be true or false, not {_short(value)}")
    is_whole = setting.kind == "integer"
    fits = isinstance(value, int if is_whole else (int, float)) and not isinstance(value, bool)
    if fits and setting.low <= value and (value <= setting.high if is_whole else value < setting.high):
        return value
    bounds = (
        f"an integer from {setting.low:,.0f} to {setting.high:,.0f}"
        if is_whole
        else f"at least {setting.low:g} and below 1"
    )
    raise SettingsError(f"{where} must be {bounds}, not {_short(value)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
