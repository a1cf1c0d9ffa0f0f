"""Settings in a repository's own files: pyproject.toml and causalist.toml.

A repository is hostile input, and so are its settings; the table below is all that they can say. None of it names a
path outside of the repository, a program, a model or a server; lists of files only exclude; limits have a maximum. The
command line overrides causalist.toml, which overrides pyproject.toml. The environment has no influence, so that the
same repository answers alike everywhere, except for the embedder, which its user chooses. A repository can only ask for
a local embedder.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
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
    PackFormat,
    RankMode,
    RetrievalMode,
    Route,
    Specificity,
)
from causalist.model.node_ids import Layer
from causalist.model.source import FileEntry, SourceFile
from causalist.source import DEFAULT_LIMITS, Limits, SkipReason, read_file

# Later files go before earlier ones; the second part is where in the file the settings stand.
FILES: tuple[tuple[str, tuple[str, ...]], ...] = (("pyproject.toml", ("tool", "causalist")), ("causalist.toml", ()))
DEFAULT = "default"
EMBEDDER_VARIABLE = "CAUSALIST_EMBEDDER"
_LOCAL_EMBEDDER = lazy_regex(r"local:[A-Za-z0-9][A-Za-z0-9._-]{0,63}", needs=("local:",))


class SettingKind(StrEnum):
    """Kinds of values that settings take."""

    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    PATTERNS = "patterns"  # as in .gitignore
    EMBEDDER = "embedder"  # the name of a local one
    LAYERS = "layers"  # names of layers, and folders with a slash at the end
    PAIRS = "pairs"  # of such names: "ui -> data"


class Setting(NamedTuple):
    """One key of the settings.

    Numbers lie between `low` and `high`; `high` itself is allowed for integers only. `choices` are those of kind
    CHOICE.
    """

    section: str
    name: str
    kind: SettingKind
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = math.inf


def _enum_values(kind: Any) -> tuple[str, ...]:
    return tuple(each.value for each in kind)


_ASK, _LIMITS = AskOptions(), DEFAULT_LIMITS
_ROUTES = tuple(route.value for route in Route if route is not Route.SKIP)  # which answers nothing on its own
_MEMORY_SIGNALS = ("vector", "graph", "remainder", "share", "named", "definition", "definition-rest", "shared",
                   "shared-rest", "rest", "meaning")  # fmt: skip
SETTINGS: tuple[Setting, ...] = (
    Setting("ask", "top-k", SettingKind.INTEGER, _ASK.top_k, "how many results at most", low=1, high=10_000),
    Setting("ask", "level", SettingKind.CHOICE, _ASK.level.value, "what is ranked", _enum_values(Level)),
    Setting(
        "ask",
        "max-tokens",
        SettingKind.INTEGER,
        _ASK.max_tokens,
        "the token budget of the pack",
        low=1,
        high=10_000_000,
    ),
    Setting("ask", "format", SettingKind.CHOICE, _ASK.format.value, "the format of the pack", _enum_values(PackFormat)),
    Setting("ask", "route", SettingKind.CHOICE, None, "how to answer; unset, the question decides", _ROUTES),
    Setting("ask", "rank", SettingKind.CHOICE, _ASK.rank.value, "the score that decides", _enum_values(RankMode)),
    Setting("ask", "no-graph", SettingKind.FLAG, not _ASK.graph, "rank by words alone"),
    Setting("ask", "no-semantic", SettingKind.FLAG, not _ASK.semantic, "rank without the shipped question encoder"),
    Setting("ask", "order", SettingKind.CHOICE, _ASK.order.value, "the order of the pack", _enum_values(Order)),
    Setting("ask", "damping", SettingKind.NUMBER, _ASK.damping, "probability of following an edge", high=1.0),
    Setting(
        "ask",
        "specificity",
        SettingKind.CHOICE,
        _ASK.specificity.value,
        "how seeds are weighted",
        _enum_values(Specificity),
    ),
    Setting(
        "ask",
        "approximate",
        SettingKind.NUMBER,
        None,
        "threshold of a walk near the seeds alone, 0: exact everywhere; unset, exact up to a million nodes",
        high=1.0,
    ),
    Setting("ask", "include", SettingKind.PATTERNS, (), "only files that one of these matches"),
    Setting("ask", "exclude", SettingKind.PATTERNS, (), "no files that one of these matches"),
    Setting(
        "ask",
        "embedder",
        SettingKind.EMBEDDER,
        None,
        "whose vectors count as well, if it keeps texts on the machine (docs/embedders.md)",
    ),
    Setting(
        "ask", "remember", SettingKind.FLAG, True, "keep the last questions beside the index, for `causalist feedback`"
    ),
    Setting(
        "index", "deny", SettingKind.PATTERNS, _LIMITS.deny, "files that are never indexed, beside those that never are"
    ),
    Setting(
        "index",
        "source",
        SettingKind.PATTERNS,
        _LIMITS.source,
        "files that are never set aside as generated or repeated",
    ),
    Setting(
        "index",
        "submodules",
        SettingKind.FLAG,
        None,
        "index repositories inside of this one; unset, as the index has it",
    ),
    Setting(
        "index",
        "max-file-bytes",
        SettingKind.INTEGER,
        _LIMITS.max_file_bytes,
        "larger files stay out; where it is not stated, code above 2,000,000",
        (),
        1,
        16_000_000,
    ),
    Setting(
        "index",
        "background",
        SettingKind.FLAG,
        True,
        "build the index after the first answer in a process that outlives the command",
    ),
    Setting("index", "max-files", SettingKind.INTEGER, _LIMITS.max_files, "more files stay out", (), 1, 1_000_000),
    Setting(
        "layers",
        "order",
        SettingKind.LAYERS,
        (),
        "layers or folders/ from the highest; `review` reports uses of a higher one",
    ),
    Setting("layers", "forbidden", SettingKind.PAIRS, (), 'uses that `review` reports, such as "ui -> data"'),
    Setting(
        "memory",
        "mode",
        SettingKind.CHOICE,
        RetrievalMode.HIPPO.value,
        "how `memory search` finds passages",
        _enum_values(RetrievalMode),
    ),
    Setting(
        "memory", "limit", SettingKind.INTEGER, 5, "how many passages `memory search` shows at most", low=1, high=1_000
    ),
    Setting(
        "memory",
        "variant",
        SettingKind.CHOICE,
        GraphVariant.LOG.value,
        "the graph that mode hippo walks",
        _enum_values(GraphVariant),
    ),
    Setting("memory", "alpha", SettingKind.NUMBER, None, "probability of a restart of PageRank", low=0.01, high=1),
    Setting("memory", "top-entities", SettingKind.INTEGER, 20, "best entities whose passages count", (), 1, 1_000),
    Setting("memory", "expand-hops", SettingKind.INTEGER, 1, "further hops from these entities", (), 0, 5),
    Setting("memory", "max-entities", SettingKind.INTEGER, 20, "entities of a passage; a model's are 20", (), 1, 100),
    Setting("memory", "similarity-threshold", SettingKind.NUMBER, 0.85, "minimum between entities", low=0.85, high=1),
    Setting("memory", "triple-confidence", SettingKind.NUMBER, 0.5, "minimum of a model's triples", high=1),
    *(
        Setting("memory", f"{name}-weight", SettingKind.NUMBER, None, "weight of a signal of mode hippo", high=1)
        for name in _MEMORY_SIGNALS
    ),
)
_BY_KEY: Mapping[tuple[str, str], Setting] = {(each.section, each.name): each for each in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """Values by (section, name), and the files that set them."""

    values: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    sources: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def value(self, section: str, name: str) -> Any:
        """Return the value of a setting, or its default."""
        return self.values.get((section, name), _BY_KEY[section, name].default)

    def source(self, section: str, name: str) -> str:
        """Return the name of the file that sets it, or "default"."""
        return self.sources.get((section, name), DEFAULT)

    def ask_options(self) -> AskOptions:
        """Return the options of a query as these settings define them."""

        def value(name: str) -> Any:
            return self.value("ask", name)

        route, approximate = value("route"), value("approximate")
        return AskOptions(
            top_k=value("top-k"),
            level=Level(value("level")),
            max_tokens=value("max-tokens"),
            format=PackFormat(value("format")),
            route=Route(route) if route is not None else None,
            rank=RankMode(value("rank")),
            graph=not value("no-graph"),
            semantic=not value("no-semantic"),
            order=Order(value("order")),
            damping=float(value("damping")),
            specificity=Specificity(value("specificity")),
            approximate=None if approximate is None else float(approximate),
            include=value("include"),
            exclude=value("exclude"),
            embedder=value("embedder"),
        )

    def complete_options(self, options: AskOptions, folder: str) -> AskOptions:
        """Return the options with `folder` as scope and the embedder of these settings where they are open."""
        scope = folder or None if options.scope is None else options.scope
        embedder = self.value("ask", "embedder") if options.embedder is None else options.embedder
        return replace(options, scope=scope, embedder=None if embedder == NO_EMBEDDER else embedder)

    def limits(self) -> Limits:
        """Return the limits of scans."""
        return Limits(
            max_file_bytes=self.value("index", "max-file-bytes"),
            max_files=self.value("index", "max-files"),
            deny=self.value("index", "deny"),
            source=self.value("index", "source"),
        )

    def index_options(self, given: IndexOptions) -> IndexOptions:
        """Return `given`, completed by these settings."""
        submodules = self.value("index", "submodules") if given.submodules is None else given.submodules
        return replace(given, limits=given.limits or self.limits(), submodules=submodules)


def read_settings(root: Path) -> Settings:
    """Return the settings of the repository in `root`. Raises SettingsError with the file and the key.

    Links are not followed: a linked pyproject.toml is ignored, a linked causalist.toml is refused.
    """
    values: dict[tuple[str, str], Any] = {}
    sources: dict[tuple[str, str], str] = {}
    for name, table in FILES:
        for key, value in _read_table(root, name, table).items():
            values[key], sources[key] = value, name
    chosen = os.environ.get(EMBEDDER_VARIABLE, "").strip()
    if chosen:
        values["ask", "embedder"], sources["ask", "embedder"] = chosen, EMBEDDER_VARIABLE
    return Settings(values, sources)


def _read_table(root: Path, name: str, place: tuple[str, ...]) -> dict[tuple[str, str], Any]:
    file = read_file(root, FileEntry(name, 0, 0))
    if not isinstance(file, SourceFile):
        if not place and file != SkipReason.VANISHED and _is_listable(root):
            raise SettingsError(f"{name} cannot be read as settings ({file}). Write a plain text file.")
        return {}
    if place and b"causalist" not in file.data:
        return {}  # spares most repositories the time to parse it
    from causalist._internal.text_formatting import read_toml

    try:
        table: Any = read_toml(file.data.decode("utf-8"))
    except ValueError as error:
        raise SettingsError(f"{name} is not valid TOML: {error}") from error
    for part in place:
        table = table.get(part, {}) if isinstance(table, dict) else {}
    where = f"{name}: [{'.'.join(place)}]" if place else name
    if not isinstance(table, dict):
        raise SettingsError(f"{where} must be a table with the sections {_list_sections()}")
    value_by_setting: dict[tuple[str, str], Any] = {}
    for section, keys in table.items():
        if section not in {each.section for each in SETTINGS}:
            raise SettingsError(f"{where}: unknown section {section!r}. Choose from {_list_sections()}.")
        full = ".".join((*place, section))
        if not isinstance(keys, dict):
            raise SettingsError(f"{name}: {full} must be a table. Write [{full}] and its settings below.")
        for key, value in keys.items():
            setting = _BY_KEY.get((section, key))
            if setting is None:
                choices = ", ".join(each.name for each in SETTINGS if each.section == section)
                raise SettingsError(f"{name}: [{full}] has no setting {key!r}. Choose from {choices}.")
            value_by_setting[section, key] = _check_value(setting, value, f"{name}: [{full}] {key}")
    return value_by_setting


def _is_listable(root: Path) -> bool:
    """Return True if the folder can be listed; otherwise the scan reports it better."""
    try:
        with os.scandir(root):
            return True
    except OSError:
        return False


def _list_sections() -> str:
    return ", ".join(dict.fromkeys(each.section for each in SETTINGS))


def _check_value(setting: Setting, value: Any, where: str) -> Any:
    """Return the value in the form in which it is used. Raises SettingsError if it is not allowed."""
    if setting.kind is SettingKind.PATTERNS:
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise SettingsError(f"{where} must be a list of .gitignore patterns, not {_shorten(value)}")
    if setting.kind in (SettingKind.LAYERS, SettingKind.PAIRS):
        return _check_layers(value, where, n_names=1 if setting.kind is SettingKind.LAYERS else 2)
    if setting.kind is SettingKind.EMBEDDER:
        if isinstance(value, str) and (value == NO_EMBEDDER or _LOCAL_EMBEDDER.fullmatch(value)):
            return value
        raise SettingsError(
            f'{where} must be "local:NAME" of an installed embedder or "{NO_EMBEDDER}", not {_shorten(value)} '
            f"(for others use --embedder or {EMBEDDER_VARIABLE})"
        )
    if setting.kind is SettingKind.CHOICE:
        if isinstance(value, str) and value in setting.choices:
            return value
        raise SettingsError(f"{where} must be one of {', '.join(setting.choices)}, not {_shorten(value)}")
    if setting.kind is SettingKind.FLAG:
        if isinstance(value, bool):
            return value
        raise SettingsError(f"{where} must be true or false, not {_shorten(value)}")
    is_whole = setting.kind is SettingKind.INTEGER
    fits = isinstance(value, int if is_whole else (int, float)) and not isinstance(value, bool)
    if fits and setting.low <= value and (value <= setting.high if is_whole else value < setting.high):
        return value
    bounds = (
        f"an integer from {setting.low:,.0f} to {setting.high:,.0f}"
        if is_whole
        else f"at least {setting.low:g} and below 1"
    )
    raise SettingsError(f"{where} must be {bounds}, not {_shorten(value)}")


def _check_layers(value: Any, where: str, n_names: int) -> tuple[str, ...]:
    """Return a list of layers, or of pairs of them. Raises SettingsError."""
    form = "names of layers or folders/" if n_names == 1 else 'pairs such as "ui -> data"'
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SettingsError(f"{where} must be a list of {form}, not {_shorten(value)}")
    labels = [layer.label for layer in Layer]
    for each in value:
        names = [name.strip() for name in each.split("->")]
        wrong = [name for name in names if name not in labels and not (name.endswith("/") and name.strip("/"))]
        if wrong or len(names) != n_names:
            raise SettingsError(
                f"{where} must be a list of {form}, not {_shorten(each)}. "
                f"Layers are {', '.join(labels)}; a folder ends with a slash."
            )
    return tuple(value)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
