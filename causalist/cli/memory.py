"""`causalist memory`: documents that are no code, found by the entities that they share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from causalist.cli._lookup import aligned
from causalist.cli._output import destination, emit_document, emit_lines, say, to_json
from causalist.cli._repository import json_option
from causalist.cli._run import NOTHING_FOUND
from causalist.model.answer import RetrievalMode

if TYPE_CHECKING:
    from causalist.memory import HippoIndex, RetrievedPassage
    from causalist.memory.llm_extractor import Estimate

_Command = TypeVar("_Command", bound=Callable[..., Any])

FORMAT_VERSION = 1
_LARGE = 100  # calls of a model


def _memory_option(command: _Command) -> _Command:
    return click.option(
        "--memory",
        "file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="The file that holds the memory; without it .causalist/memory.db of the repository around the folder.",
    )(command)


@click.group("memory")
def command() -> None:
    """Remembers documents and finds what belongs together.

    \b
    Example:
      causalist memory add docs
      causalist memory search "who looks after the service that checks tokens"
    """


@command.command("add")
@click.argument("places", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PLACE...")
@click.option("--model", metavar="NAME", help="Let this model of the llm library find entities and what relates them.")
@click.option("--yes", is_flag=True, help="Ask the model about many passages without confirmation.")
@_memory_option
@json_option
def add(places: tuple[Path, ...], model: str | None, yes: bool, file: Path | None, as_json: bool) -> None:
    """Adds the documents of folders and files, or brings them up to date.

    Markdown, reStructuredText, AsciiDoc, HTML, plain text and, with the extra pdf, PDF. What git ignores stays out of
    folders. Added again, a folder has only those documents read that changed, and forgets those that are gone.

    With --model each new passage is sent to that model, twice; its answers are kept, so that a run that was interrupted
    goes on. What it will take is shown first, and more than 100 calls need --yes.

    \b
    Example:
      causalist memory add docs notes/meeting.md
    """
    from causalist.memory.memory_file import MemoryFile

    memory_file = MemoryFile.locate(file, Path.cwd())
    done = memory_file.add(places, memory_file.build_extractor(model) if model else None, _approval(yes))
    for path, reason in sorted(done.skipped.items()):
        say(f"note: {path} stays out: {reason}")
    document = {"format_version": FORMAT_VERSION, "memory": str(memory_file.path), "documents": done.documents,
                "passages": done.passages, "changed": done.changed, "removed": done.removed,
                "skipped": dict(sorted(done.skipped.items()))}  # fmt: skip
    if as_json:
        emit_document(document)
    else:
        emit_lines([f"{done.documents} documents, {done.passages} passages: {done.changed} new or changed, "
                    f"{done.removed} removed"])  # fmt: skip


@command.command("search")
@click.argument("query")
@_memory_option
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in RetrievalMode]),
    help="How passages are found; hippo without it.",
)
@click.option("--limit", type=click.IntRange(1, 1000), metavar="N", help="How many at most; 5 without it.")
@click.option("--hops", type=click.IntRange(0, 10), default=0, show_default=True,
              help="Seed entities that many hops further, for questions that name little.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True), help="Probability of a restart; 0.15 without it.")
@click.option("--variant", help="log (the default), hipporag or hipporag2.")
@json_option
def search(
    query: str,
    file: Path | None,
    mode: str | None,
    limit: int | None,
    hops: int,
    alpha: float | None,
    variant: str | None,
    as_json: bool,
) -> None:
    """Finds the passages that answer QUERY.

    What [memory] of causalist.toml says counts where an option is not given.

    \b
    Example:
      causalist memory search "why did we leave the message queue" --limit 3
    """
    from causalist.errors import UsageError
    from causalist.memory.memory_file import MemoryFile
    from causalist.settings import read_settings

    memory_file = MemoryFile.locate(file, Path.cwd())
    settings = read_settings(memory_file.base)
    limit = settings.value("memory", "limit") if limit is None else limit
    if hops:
        if mode not in (None, RetrievalMode.HIPPO) or variant:
            raise UsageError("--hops is for mode hippo and the default variant")
        mode = RetrievalMode.HIPPO.value
    mode = mode or settings.value("memory", "mode")
    variant = variant or settings.value("memory", "variant")
    index = memory_file.open()
    if hops:
        found = index.retrieve_multi_hop(query, max_hops=hops, top_k=limit, ppr_alpha=alpha)
    else:
        found = index.retrieve(query, mode=mode, top_k=limit, ppr_alpha=alpha, variant=variant)
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "query": query, "mode": mode,
                       "results": [_result(rank, each, query) for rank, each in enumerate(found, 1)]})  # fmt: skip
    else:
        emit_lines(line for rank, each in enumerate(found, 1) for line in _shown(rank, each, query))
    if not found:
        say("nothing found: no passage has a word or an entity of the question")
        raise click.exceptions.Exit(NOTHING_FOUND)


@command.command("graph")
@_memory_option
@click.option("--entity", metavar="NAME", help="Show what is near this entity, instead of exporting everything.")
@click.option("--hops", type=click.IntRange(1, 10), default=1, show_default=True, help="How far from the entity.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file, complete or not.")
@json_option
def graph(file: Path | None, entity: str | None, hops: int, output: Path | None, as_json: bool) -> None:
    """Exports the graph of passages and entities as node-link JSON, or shows what is near one entity.

    \b
    Example:
      causalist memory graph --output memory.json
      causalist memory graph --entity "Platform Team" --hops 2
    """
    from causalist.memory.memory_file import MemoryFile

    index = MemoryFile.locate(file, Path.cwd()).open()
    if entity is None:
        with destination(output) as write:
            write(to_json(index.to_node_link()) + "\n")
        return
    _show_entity(index, entity, hops, as_json)


def _approval(yes: bool) -> "Callable[[Estimate], None]":
    """Says what a run will take, and refuses a large one without --yes."""
    from causalist.errors import UsageError

    def approve(estimate: "Estimate") -> None:
        say(
            f"{estimate.passages} new passages, {estimate.cached} of them answered before: {estimate.calls} calls of "
            f"the model, about {estimate.prompt_tokens:,} tokens sent and {estimate.answer_tokens:,} received"
        )
        if estimate.calls > _LARGE and not yes:
            raise UsageError(f"this takes {estimate.calls} calls of the model; run it with --yes")

    return approve


def _show_entity(index: "HippoIndex", entity: str, hops: int, as_json: bool) -> None:
    info, near = index.entity(entity), index.entity_neighborhood(entity, hops)
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "entity": info._asdict(),
                       "neighbors": [each._asdict() for each in near]})  # fmt: skip
    else:
        rows = [(each.entity, f"{each.hops} hops" if each.hops > 1 else "1 hop", f"{each.strength:g}",
                 ", ".join(each.kinds)) for each in near]  # fmt: skip
        meanings = [f"  means {len(info.senses)} things: {', '.join(info.senses)}"] if info.senses else []
        emit_lines([f"{info.name}  {info.type}, {info.occurrences} times in {len(info.passages)} passages",
                    *meanings, *(f"  {line}" for line in aligned(rows))])  # fmt: skip


@command.command("stats")
@_memory_option
@json_option
def stats(file: Path | None, as_json: bool) -> None:
    """Counts what the memory holds.

    \b
    Example:
      causalist memory stats
    """
    from causalist.memory.memory_file import MemoryFile

    memory_file = MemoryFile.locate(file, Path.cwd())
    counts = memory_file.open().stats()
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "memory": str(memory_file.path), **counts})
    else:
        emit_lines(aligned([(name, f"{value:,}" if isinstance(value, int) else f"{value:.1%}")
                            for name, value in counts.items()]))  # fmt: skip


def _result(rank: int, found: "RetrievedPassage", query: str) -> dict[str, object]:
    from causalist.memory.snippets import find_excerpt

    shown = find_excerpt(found.text, query, names=found.entity_hits)
    return {
        "rank": rank,
        "passage": found.passage_id,
        "score": found.score,
        "ppr_score": found.ppr_score,
        "origin": found.origin,
        "entities": found.entity_hits,
        "words": list(shown.words),
        "excerpt": shown.text,
        "metadata": dict(found.metadata),
        "text": found.text,
    }


def _shown(rank: int, found: "RetrievedPassage", query: str) -> list[str]:
    from causalist._internal.sanitize import one_line
    from causalist.memory.snippets import find_excerpt

    shown = find_excerpt(found.text, query, names=found.entity_hits)
    metadata = found.metadata
    place = next((f"  {key} {metadata[key]}" for key in ("line", "page") if isinstance(metadata.get(key), int)), "")
    title = metadata.get("title")
    called = f"  {one_line(title, 80)}" if isinstance(title, str) else ""
    words = f"has {', '.join(shown.words[:8])}" if shown.words else ""
    entities = f"through {', '.join(found.entity_hits[:5])}" if found.entity_hits else ""
    lines = [f"{rank}. {found.passage_id}{place}  {found.score:.3f}{called}", f"    {one_line(shown.text, 500)}"]
    why = "; ".join(filter(None, (words, entities)))
    return [*lines, f"    ({one_line(why, 200)})"] if why else lines
