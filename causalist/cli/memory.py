"""`causalist memory`: search over documents by the entities that they share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from causalist._internal.text import align_columns
from causalist.cli._output import emit_document, emit_lines, open_destination, say, to_json
from causalist.cli._repository import json_option
from causalist.cli._run import NOTHING_FOUND
from causalist.model.answer import MemoryMode, RetrievalMode

if TYPE_CHECKING:
    from causalist.memory import HippoIndex, RetrievedPassage
    from causalist.memory.extractors import Estimate
    from causalist.memory.pipeline import MemoryAnswer

_Command = TypeVar("_Command", bound=Callable[..., Any])

FORMAT_VERSION = 1
_MAX_CALLS_WITHOUT_YES = 100  # calls of a model


def _memory_option(command: _Command) -> _Command:
    return click.option(
        "--memory",
        "file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="File of the memory. [default: .causalist/memory.db of the repository]",
    )(command)


@click.group("memory")
def memory_command() -> None:
    """Search documents by the entities that they share.

    \b
    Example:
      causalist memory add docs
      causalist memory search "who looks after the service that checks tokens"
    """


@memory_command.command("add")
@click.argument("places", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PLACE...")
@click.option("--model", metavar="NAME", help="Model of the llm library that finds entities and their relations.")
@click.option("--yes", is_flag=True, help="Allow more than 100 calls of the model.")
@_memory_option
@json_option
def add_command(places: tuple[Path, ...], model: str | None, yes: bool, file: Path | None, as_json: bool) -> None:
    """Add the documents of files and folders, or update them.

    Reads Markdown, reStructuredText, AsciiDoc, HTML, plain text and, with the extra pdf, PDF. Files of a folder that
    git ignores are left out. Adding a folder again reads changed documents only and removes deleted ones.

    With --model, each new passage is sent to the model twice. Answers are cached, so that an interrupted run continues.
    The number of calls is printed first; more than 100 calls need --yes.

    \b
    Example:
      causalist memory add docs notes/meeting.md
    """
    from causalist.memory.documents import MemoryFile

    memory_file = MemoryFile.locate(file, Path.cwd())
    done = memory_file.add(places, memory_file.build_extractor(model) if model else None, _require_approval(yes), _note)
    for path, reason in sorted(done.skipped.items()):
        say(f"note: {path} is left out: {reason}")
    document = {"format_version": FORMAT_VERSION, "memory": str(memory_file.path), "documents": done.documents,
                "passages": done.passages, "changed": done.changed, "removed": done.removed,
                "skipped": dict(sorted(done.skipped.items()))}  # fmt: skip
    if as_json:
        emit_document(document)
    else:
        emit_lines([f"{done.documents} documents, {done.passages} passages: {done.changed} new or changed, "
                    f"{done.removed} removed"])  # fmt: skip


@memory_command.command("search")
@click.argument("query")
@_memory_option
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in RetrievalMode]),
    help="Ranking method. [default: hippo, or the settings]",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Maximum number of passages. [default: 5, or the settings]",
)
@click.option("--hops", type=click.IntRange(0, 10), default=0, show_default=True,
              help="Seed entities up to this many hops away, for queries with few names.")  # fmt: skip
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True),
    help="Probability of a restart. [default: 0.15, or that of the variant]",
)
@click.option("--reader", "readers", multiple=True, metavar="NAME",
              help="Also search passages that only this reader may see; can be repeated.")  # fmt: skip
@click.option("--variant", help="Graph of mode hippo: log, hipporag or hipporag2. [default: log, or the settings]")
@json_option
def search_command(
    query: str,
    file: Path | None,
    mode: str | None,
    limit: int | None,
    hops: int,
    alpha: float | None,
    readers: tuple[str, ...],
    variant: str | None,
    as_json: bool,
) -> None:
    """Find the passages that answer QUERY.

    Passages with visible_to in the front matter of their document are found for these readers only. The section
    [memory] of causalist.toml sets the defaults of options. Exit code 1 if nothing is found.

    \b
    Example:
      causalist memory search "why did we leave the message queue" --limit 3
    """
    from causalist.errors import UsageError
    from causalist.memory.documents import MemoryFile
    from causalist.settings import read_settings

    memory_file = MemoryFile.locate(file, Path.cwd())
    settings = read_settings(memory_file.base)
    limit = settings.value("memory", "limit") if limit is None else limit
    if hops:
        if mode not in (None, RetrievalMode.HIPPO) or variant:
            raise UsageError("--hops needs mode hippo and the default variant")
        mode = RetrievalMode.HIPPO.value
    mode = mode or settings.value("memory", "mode")
    variant = variant or settings.value("memory", "variant")
    index = memory_file.open(note=_note)
    if hops:
        passages = index.retrieve_multi_hop(query, max_hops=hops, top_k=limit, ppr_alpha=alpha, readers=readers)
    else:
        passages = index.retrieve(query, mode=mode, top_k=limit, ppr_alpha=alpha, variant=variant, readers=readers)
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "query": query, "mode": mode,
                       "results": [_result_document(i, p, query) for i, p in enumerate(passages, 1)]})  # fmt: skip
    else:
        emit_lines(line for rank, each in enumerate(passages, 1) for line in _format_result(rank, each, query))
    if not passages:
        say("nothing found: no passage has a word or an entity of the query")
        raise click.exceptions.Exit(NOTHING_FOUND)


@memory_command.command("answer")
@click.argument("query")
@_memory_option
@click.option("--mode", type=click.Choice([mode.value for mode in MemoryMode]), default=MemoryMode.EXECUTION.value,
              show_default=True, help="How broadly to look.")  # fmt: skip
@click.option("--reader", metavar="NAME", help="Also use passages that this reader may see.")
@click.option("--half-life", "half_life", type=click.FloatRange(0, min_open=True), metavar="DAYS",
              help="Age that halves the weight of a passage. [default: age does not count]")  # fmt: skip
@json_option
def answer_command(
    query: str, file: Path | None, mode: str, reader: str | None, half_life: float | None, as_json: bool
) -> None:
    """Answer QUERY in six stages, with the route, contradictions and confidence.

    Exit code 1 if nothing is found.

    \b
    Example:
      causalist memory answer "who manages the team that handles tokens" --mode planning
    """
    from causalist.memory import MemoryPipeline
    from causalist.memory.documents import MemoryFile, find_excerpt
    from causalist.memory.stages import ValidationSettings

    index = MemoryFile.locate(file, Path.cwd()).open(note=_note)
    validation = ValidationSettings(reader=reader, half_life_days=half_life)
    answer = MemoryPipeline(index, validation=validation).run(query, mode=mode)
    hits = [
        {"rank": rank, "passage": hit.passage_id, "score": hit.score, "entities": list(hit.entity_hits),
         "contradicted_by": list(hit.contradicted_by), "excerpt": find_excerpt(hit.text, query).text,
         "metadata": dict(hit.metadata), "text": hit.text}
        for rank, hit in enumerate(answer.hits, 1)
    ]  # fmt: skip
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "query": query, "mode": mode, "route": answer.route.value,
                       "retrieval_confidence": answer.retrieval_confidence, "is_partial": answer.is_partial,
                       "attempts": answer.attempts, "results": hits})  # fmt: skip
    else:
        emit_lines(_format_answer(answer, query))
    if not hits:
        say("nothing found: no passage has a word or an entity of the query")
        raise click.exceptions.Exit(NOTHING_FOUND)


@memory_command.command("remove")
@click.argument("passages", nargs=-1, required=True, metavar="PASSAGE...")
@_memory_option
@json_option
def remove_command(passages: tuple[str, ...], file: Path | None, as_json: bool) -> None:
    """Remove passages by their ids, or all passages of a document by its path.

    A document that is still there is added again when its folder is.

    \b
    Example:
      causalist memory remove notes/old.md "notes/meeting.md#actions"
    """
    from causalist.memory.documents import MemoryFile

    removed = MemoryFile.locate(file, Path.cwd()).remove(passages, _note)
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "removed": removed})
    else:
        emit_lines([f"{len(removed)} passages removed"])


@memory_command.command("graph")
@_memory_option
@click.option("--entity", metavar="NAME", help="Show the neighborhood of this entity instead of exporting the graph.")
@click.option(
    "--hops", type=click.IntRange(1, 10), default=1, show_default=True, help="Maximum distance from the entity."
)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write to FILE instead of standard output.")  # fmt: skip
@json_option
def graph_command(file: Path | None, entity: str | None, hops: int, output: Path | None, as_json: bool) -> None:
    """Export the graph as node-link JSON, or show the neighborhood of one entity.

    \b
    Example:
      causalist memory graph --output memory.json
      causalist memory graph --entity "Platform Team" --hops 2
    """
    from causalist.memory.documents import MemoryFile

    index = MemoryFile.locate(file, Path.cwd()).open(note=_note)
    if entity is None:
        with open_destination(output) as write:
            write(to_json(index.to_node_link()) + "\n")
        return
    _show_entity(index, entity, hops, as_json)


def _note(message: str) -> None:
    say(f"note: {message}")


def _require_approval(yes: bool) -> "Callable[[Estimate], None]":
    """Return a callback that prints the estimate and refuses a large run without --yes."""
    from causalist.errors import UsageError

    def approve(estimate: "Estimate") -> None:
        say(
            f"{estimate.passages} new passages, {estimate.cached} of them cached: {estimate.calls} calls of "
            f"the model, about {estimate.prompt_tokens:,} tokens sent and {estimate.answer_tokens:,} received"
        )
        if estimate.calls > _MAX_CALLS_WITHOUT_YES and not yes:
            raise UsageError(f"this run needs {estimate.calls} calls of the model; confirm it with --yes")

    return approve


def _show_entity(index: "HippoIndex", entity: str, hops: int, as_json: bool) -> None:
    info, near = index.entity(entity), index.entity_neighborhood(entity, hops)
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "entity": info._asdict(),
                       "neighbors": [each._asdict() for each in near]})  # fmt: skip
    else:
        rows = [(each.entity, f"{each.hops} hops" if each.hops > 1 else "1 hop", f"{each.strength:g}",
                 ", ".join(each.kinds)) for each in near]  # fmt: skip
        meanings = [f"  has {len(info.senses)} senses: {', '.join(info.senses)}"] if info.senses else []
        emit_lines([f"{info.name}  {info.type}, {info.occurrences} times in {len(info.passages)} passages",
                    *meanings, *(f"  {line}" for line in align_columns(rows))])  # fmt: skip


@memory_command.command("stats")
@_memory_option
@json_option
def stats_command(file: Path | None, as_json: bool) -> None:
    """Count passages, entities and edges of the memory.

    \b
    Example:
      causalist memory stats
    """
    from causalist.memory.documents import MemoryFile

    memory_file = MemoryFile.locate(file, Path.cwd())
    counts = memory_file.open(note=_note).stats()
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "memory": str(memory_file.path), **counts})
    else:
        emit_lines(align_columns([(name, f"{value:,}" if isinstance(value, int) else f"{value:.1%}")
                            for name, value in counts.items()]))  # fmt: skip


def _format_answer(answer: "MemoryAnswer", query: str) -> Iterator[str]:
    from causalist._internal.escape import one_line
    from causalist.memory.documents import find_excerpt

    partial = ", nothing likely was found" if answer.is_partial else ""
    yield f"route {answer.route.value}, confidence {answer.retrieval_confidence:.2f}{partial}"
    for rank, hit in enumerate(answer.hits, 1):
        against = f"  contradicted by {one_line(', '.join(hit.contradicted_by), 200)}" if hit.contradicted_by else ""
        yield f"{rank}. {one_line(hit.passage_id, 200)}{against}"
        yield f"    {one_line(find_excerpt(hit.text, query).text, 500)}"


def _result_document(rank: int, passage: "RetrievedPassage", query: str) -> dict[str, object]:
    from causalist.memory.documents import find_excerpt

    shown = find_excerpt(passage.text, query, names=passage.entity_hits)
    return {
        "rank": rank,
        "passage": passage.passage_id,
        "score": passage.score,
        "ppr_score": passage.ppr_score,
        "origin": passage.origin,
        "entities": passage.entity_hits,
        "words": list(shown.words),
        "excerpt": shown.text,
        "metadata": dict(passage.metadata),
        "text": passage.text,
    }


def _format_result(rank: int, passage: "RetrievedPassage", query: str) -> list[str]:
    from causalist._internal.escape import one_line
    from causalist.memory.documents import find_excerpt

    shown = find_excerpt(passage.text, query, names=passage.entity_hits)
    metadata = passage.metadata
    place = next((f"  {key} {metadata[key]}" for key in ("line", "page") if isinstance(metadata.get(key), int)), "")
    title = metadata.get("title")
    called = f"  {one_line(title, 80)}" if isinstance(title, str) else ""
    words = f"has {', '.join(shown.words[:8])}" if shown.words else ""
    entities = f"through {', '.join(passage.entity_hits[:5])}" if passage.entity_hits else ""
    lines = [f"{rank}. {passage.passage_id}{place}  {passage.score:.3f}{called}", f"    {one_line(shown.text, 500)}"]
    why = "; ".join(filter(None, (words, entities)))
    return [*lines, f"    ({one_line(why, 200)})"] if why else lines
