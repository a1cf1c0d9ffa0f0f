"""The tools for documents that are no code: `memory_search_graph` and `hipporag_retrieve`.

The memory is the one that `causalist memory add` keeps for the repository. It is read again when its file has changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from causalist._internal.sanitize import neutralise, one_line
from causalist.errors import UsageError
from causalist.pack import count_tokens
from causalist.servers.mcp.tools import MOST_CHARACTERS, Arguments, Parameter, Tool

if TYPE_CHECKING:
    from causalist.memory import HippoIndex, MemoryPipeline
    from causalist.pipeline.repository import Repository

_MOST_TOKENS = 4_000  # of an answer
_LONGEST_TEXT = 3_200  # characters of a passage that are shown
_MODES = ("execution", "planning", "brainstorming")  # of memory.stages, imported when a tool is called; a test compares


@dataclass(frozen=True, slots=True)
class Flag(Parameter):
    """True or false; `default` is 1 or 0."""

    def schema(self) -> dict[str, object]:
        return {"type": "boolean", "description": self.description, "default": bool(self.default)}

    def read(self, name: str, value: object) -> object:
        if not isinstance(value, bool):
            raise UsageError(f"{name} is {str(value)[:80]!r}; it is true or false")
        return value


@dataclass(frozen=True, slots=True)
class Choice(Parameter):
    """One of `choices`."""

    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, object]:
        return {"type": "string", "description": self.description, "enum": list(self.choices)}

    def read(self, name: str, value: object) -> object:
        if value not in self.choices:
            raise UsageError(f"{name} is {str(value)[:80]!r}; it is one of {', '.join(self.choices)}")
        return value


class _Memories:
    """The last memory that was read, with its pipeline."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: tuple[Path, int, int, MemoryPipeline] | None = None

    def of(self, repository: "Repository") -> "MemoryPipeline":
        """Raises IndexUnreadable where there is none."""
        from causalist.memory import MemoryPipeline
        from causalist.memory.memory_file import Shelf

        shelf = Shelf.at(None, repository.root)
        with self._lock:
            try:
                status = shelf.path.stat()
                state = (shelf.path, status.st_mtime_ns, status.st_size)
            except OSError:
                state = (shelf.path, 0, 0)
            if self._known is None or self._known[:3] != state:
                self._known = (*state, MemoryPipeline(shelf.opened()))
            return self._known[3]


_MEMORIES = _Memories()


def _search(repository: "Repository", arguments: Arguments) -> str:
    index: HippoIndex = _MEMORIES.of(repository).index
    mode = "hippo" if arguments["use_graph"] else "hybrid"
    found = index.retrieve(arguments["query"], mode=mode, top_k=arguments["limit"])
    return _text([(each.passage_id, each.text, each.metadata, ", ".join(each.entity_hits[:5])) for each in found],
                 arguments["query"], "")  # fmt: skip


def _retrieve(repository: "Repository", arguments: Arguments) -> str:
    answer = _MEMORIES.of(repository).run(arguments["query"], mode=arguments["mode"] or _MODES[0])
    rows = []
    for hit in answer.hits[: arguments["limit"]]:
        against = f"contradicted by {', '.join(hit.contradicted_by)}; " if hit.contradicted_by else ""
        sure = f"{against}relevant with {hit.posterior.mean:.0%} ({hit.posterior.low:.0%} to {hit.posterior.high:.0%})"
        rows.append((hit.passage_id, hit.text, hit.metadata, sure))
    said = "" if answer.is_calibrated else ", not calibrated by feedback"
    partial = "; nothing likely was found in three attempts" if answer.is_partial else ""
    return _text(rows, arguments["query"], f"retrieval_confidence {answer.retrieval_confidence:.2f}{said}{partial}")


def _text(rows: list[tuple[str, str, Mapping[str, Any], str]], query: str, note: str) -> str:
    """Passages, fenced so that their text cannot close the fence, as many as fit."""
    from causalist.memory.snippets import excerpt

    if not rows:
        return "nothing found: no passage of the memory has a word or an entity of the question"
    parts = [f"note: {note}\n"] if note else []
    room = _MOST_TOKENS - sum(map(count_tokens, parts))
    for rank, (passage, text, metadata, why) in enumerate(rows, 1):
        line = next((f", {k} {metadata[k]}" for k in ("line", "page") if isinstance(metadata.get(k), int)), "")
        shown = neutralise(text if len(text) <= _LONGEST_TEXT else excerpt(text, query, length=_LONGEST_TEXT).text)
        fence = "`" * max(3, 1 + max((len(run) for run in _runs(shown)), default=0))
        part = f"{rank}. {one_line(passage, 200)}{line}  ({one_line(why, 200)})\n{fence}\n{shown}\n{fence}\n"
        room -= count_tokens(part) + 1
        if room < 60:
            parts.append(f"and {len(rows) - rank + 1} more; ask for fewer with limit\n")
            break
        parts.append(part)
    return "".join(parts)


def _runs(text: str) -> list[str]:
    import re

    return re.findall(r"`+", text)


def _query() -> Parameter:
    return Parameter(str, "What to look for, in plain words; names help.", 1, MOST_CHARACTERS, required=True)


MEMORY_TOOLS: Mapping[str, Tool] = {
    "memory_search_graph": Tool(
        "Search the documents",
        "Searches remembered documents (notes, decisions, manuals) by the entities that they share, so that a passage "
        "is found through another one that the question names.",
        {
            "query": _query(),
            "limit": Parameter(int, "Most passages.", 1, 50, 5),
            "use_graph": Flag(bool, "Follow shared entities; false: words alone.", 0, 1, 1),
        },
        _search,
    ),
    "hipporag_retrieve": Tool(
        "Retrieve from memory",
        "Retrieves from remembered documents in six stages, with how likely each passage is relevant and which ones "
        "contradict each other.",
        {
            "query": _query(),
            "limit": Parameter(int, "Most passages.", 1, 60, 5),
            "mode": Choice(str, "How broadly to look; execution without it.", 0, 0, choices=_MODES),
        },
        _retrieve,
    ),
}
