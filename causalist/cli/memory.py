"""`causalist memory`: search over documents by the entities that they share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from causalist._internal.text_formatting import align_columns
from causalist.cli._output import emit_document, emit_lines, open_destination, say, to_json
from causalist.cli._repository import json_option
from causalist.cli._run import NOTHING_FOUND
from causalist.model.answer import GraphVariant, MemoryMode, RetrievalMode, Route

if TYPE_CHECKING:
    from causalist.memory import HippoIndex, RetrievedPassage
    from causalist.memory.document_sync import MemoryFile
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


def _embedder_option(command: _Command) -> _Command:
    return click.option("--embedder", metavar="NAME",
                        help="Embedder whose vectors count (docs/embedders.md). "
                             "[default: CAUSALIST_EMBEDDER, or the settings]")(command)  # fmt: skip


def _variant_option(command: _Command) -> _Command:
    return click.option(
        "--variant", help="Graph of mode hippo: log, hipporag or hipporag2. [default: log, or the settings]"
    )(command)


def _readers_option(command: _Command) -> _Command:
    return click.option("--reader", "readers", multiple=True, metavar="NAME",
                        help="Also use what only this reader may see; can be repeated.")(command)  # fmt: skip


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
@click.option("--triples", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Relations found elsewhere: a JSON object a line.")  # fmt: skip
@_embedder_option
@_memory_option
@json_option
def add_command(
    places: tuple[Path, ...],
    model: str | None,
    yes: bool,
    triples: Path | None,
    embedder: str | None,
    file: Path | None,
    as_json: bool,
) -> None:
    """Add the documents of files and folders, or update them.

    Reads Markdown, reStructuredText, AsciiDoc, HTML, plain text and, with the extra pdf, PDF. Files of a folder that
    git ignores are left out. Adding a folder again reads changed documents only and removes deleted ones.

    With --model, each new passage is sent to the model twice. Answers are cached, so that an interrupted run continues.
    The number of calls is printed first; more than 100 calls need --yes. With --embedder, it gets each passage and each
    name; a memory with vectors needs it at every update. Objects of --triples have a subject, a predicate, an object
    and maybe a confidence; one counts in each passage with both names.

    \b
    Example:
      causalist memory add docs notes/meeting.md
    """
    from causalist.errors import UsageError

    if model and triples:
        raise UsageError("--model and --triples exclude one another")
    memory_file = _locate(file)
    from causalist.memory.extractors import HandedTriples

    extractor = memory_file.build_extractor(model) if model else HandedTriples.read(triples) if triples else None
    done = memory_file.add(places, extractor, _require_approval(yes), _note, embedder=embedder)
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
@_readers_option
@_variant_option
@_embedder_option
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
    embedder: str | None,
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
    from causalist.settings import read_settings

    memory_file = _locate(file)
    settings = read_settings(memory_file.base)
    limit = settings.value("memory", "limit") if limit is None else limit
    if hops:
        if mode not in (None, RetrievalMode.HIPPO) or variant == GraphVariant.HIPPORAG2:
            raise UsageError("--hops needs mode hippo and a variant that seeds entities")
        mode = RetrievalMode.HIPPO.value
    mode = mode or settings.value("memory", "mode")
    index = memory_file.open(note=_note, embedder=embedder or memory_file.default_embedder(), variant=variant)
    if hops:
        passages = index.retrieve_multi_hop(query, max_hops=hops, top_k=limit, ppr_alpha=alpha, readers=readers)
    else:
        passages = index.retrieve(query, mode=mode, top_k=limit, ppr_alpha=alpha, readers=readers)
    if as_json:
        results = [_result_document(rank, each, query) for rank, each in enumerate(passages, 1)]
        emit_document({"format_version": FORMAT_VERSION, "query": query, "mode": mode, "results": results})
    else:
        emit_lines(line for rank, each in enumerate(passages, 1) for line in _format_result(rank, each, query))
    if not passages:
        say("nothing found: no passage has a word or an entity of the query")
        raise click.exceptions.Exit(NOTHING_FOUND)


_mode_option = click.option(
    "--mode", type=click.Choice([mode.value for mode in MemoryMode]), default=MemoryMode.EXECUTION.value,
    show_default=True, help="How broadly to look.",
)  # fmt: skip
_route_option = click.option("--route", type=click.Choice([route.value for route in Route if route is not Route.SKIP]),
                             help="Kind of the query. [default: by its words]")  # fmt: skip
_half_life_option = click.option("--half-life", "half_life", type=click.FloatRange(0, min_open=True), metavar="DAYS",
                                 help="Age that halves the weight of a passage. "
                                      "[default: age does not count]")  # fmt: skip
_now_option = click.option("--now", metavar="TIME",
                           help="Time from which age counts. [default: that of the newest passage]")  # fmt: skip
_min_confidence_option = click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, metavar="SHARE",
                                      help="Least confidence that the documents state. [default: 0]")  # fmt: skip


def _answer_options(command: _Command) -> _Command:
    """Add what decides which passages an answer has."""
    options = (_mode_option, _route_option, _readers_option, _half_life_option, _now_option, _min_confidence_option,
               _variant_option, _embedder_option)  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@memory_command.command("answer")
@click.argument("query")
@_memory_option
@click.option("--limit", type=click.IntRange(1, 1000), metavar="N", help="Maximum number of passages. [default: all]")
@_answer_options
@json_option
def answer_command(
    query: str,
    file: Path | None,
    mode: str,
    limit: int | None,
    route: str | None,
    readers: tuple[str, ...],
    half_life: float | None,
    now: str | None,
    min_confidence: float,
    variant: str | None,
    embedder: str | None,
    as_json: bool,
) -> None:
    """Answer QUERY in six stages, with the route, contradictions and confidence.

    A passage that another one replaces or contradicts is marked. Feedback on answers counts. Exit code 1 if nothing is
    found.

    \b
    Example:
      causalist memory answer "who manages the team that handles tokens" --mode planning
    """
    memory_file = _locate(file)
    from causalist.memory.conflicts_and_confidence import ValidationSettings
    from causalist.memory.documents import find_excerpt

    validation = ValidationSettings(reader=readers, half_life_days=half_life, now=now, min_confidence=min_confidence)
    embedder = embedder or memory_file.default_embedder()
    pipeline = memory_file.open_pipeline(validation, embedder=embedder, variant=variant, note=_note)
    answer = pipeline.run(query, mode=mode, route=route)
    answer = replace(answer, hits=answer.hits[:limit])
    hits = [
        {"rank": rank, "passage": hit.passage_id, "score": hit.score, "entities": list(hit.entity_hits),
         "contradicted_by": list(hit.contradicted_by), "superseded_by": list(hit.superseded_by),
         "excerpt": find_excerpt(hit.text, query).text, "metadata": dict(hit.metadata), "text": hit.text}
        for rank, hit in enumerate(answer.hits, 1)
    ]  # fmt: skip
    if as_json:
        conflicts = [{"kept": c.kept, "against": c.against, "reason": c.reason} for c in answer.conflicts]
        emit_document({"format_version": FORMAT_VERSION, "query": query, "mode": mode, "route": answer.route.value,
                       "retrieval_confidence": answer.retrieval_confidence, "is_partial": answer.is_partial,
                       "is_calibrated": answer.is_calibrated, "attempts": answer.attempts, "conflicts": conflicts,
                       "results": hits})  # fmt: skip
    else:
        emit_lines(_format_answer(answer, query))
    if not hits:
        say("nothing found: no passage has a word or an entity of the query")
        raise click.exceptions.Exit(NOTHING_FOUND)


@memory_command.command("feedback")
@click.argument("query")
@click.argument("used", nargs=-1, metavar="[PASSAGE]...")
@_memory_option
@_answer_options
@json_option
def feedback_command(
    query: str,
    used: tuple[str, ...],
    file: Path | None,
    mode: str,
    route: str | None,
    readers: tuple[str, ...],
    half_life: float | None,
    now: str | None,
    min_confidence: float,
    variant: str | None,
    embedder: str | None,
    as_json: bool,
) -> None:
    """Record which passages of the answer to QUERY were used, none if no passage is named.

    Give the options of `memory answer` again. From 20 answers on, feedback calibrates confidence; weights are learned
    if they rank newer feedback better.

    \b
    Example:
      causalist memory feedback "who checks tokens" "notes/auth.md#tokens"
    """
    memory_file = _locate(file)
    from causalist.errors import UsageError
    from causalist.memory.conflicts_and_confidence import ValidationSettings

    validation = ValidationSettings(reader=readers, half_life_days=half_life, now=now, min_confidence=min_confidence)
    embedder = embedder or memory_file.default_embedder()
    pipeline = memory_file.open_pipeline(validation, embedder=embedder, variant=variant, note=_note)
    answer = pipeline.run(query, mode=mode, route=route)
    shown = {hit.passage_id for hit in answer.hits}
    if unknown := [passage for passage in used if passage not in shown]:
        raise UsageError(f"the answer has no passage {unknown[0]!r}; it shows {', '.join(sorted(shown)) or 'none'}")
    if not shown:
        raise UsageError("the answer shows no passage, so that there is nothing to judge")
    learned = pipeline.feedback(answer.answer_id, used)
    document = {"format_version": FORMAT_VERSION, "answers": len(pipeline.store.rows),
                "is_calibrated": pipeline.store.is_calibrated,
                "weights": dict(learned.weights) if learned else None}  # fmt: skip
    if as_json:
        emit_document(document)
    else:
        emit_lines(
            [f"{document['answers']} answers with feedback; weights are {'learned' if learned else 'the default'}"]
        )


@memory_command.command("remove")
@click.argument("passages", nargs=-1, required=True, metavar="PASSAGE...")
@_memory_option
@_readers_option
@json_option
def remove_command(passages: tuple[str, ...], file: Path | None, readers: tuple[str, ...], as_json: bool) -> None:
    """Remove passages by their ids, or all passages of a document by its path.

    A document that is still there is added again when its folder is. Passages with visible_to are removed for these
    readers only.

    \b
    Example:
      causalist memory remove notes/old.md "notes/meeting.md#actions"
    """
    removed = _locate(file).remove(passages, _note, readers)
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "removed": removed})
    else:
        emit_lines([f"{len(removed)} passages removed"])


memory_command.add_command(remove_command, "forget")


@memory_command.command("graph")
@_memory_option
@click.option("--entity", metavar="NAME", help="Show the neighborhood of this entity instead of exporting the graph.")
@click.option(
    "--hops", type=click.IntRange(1, 10), default=1, show_default=True, help="Maximum distance from the entity."
)
@_readers_option
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write to FILE instead of standard output.")  # fmt: skip
@json_option
def graph_command(
    file: Path | None, entity: str | None, hops: int, readers: tuple[str, ...], output: Path | None, as_json: bool
) -> None:
    """Export the graph as node-link JSON, or show the neighborhood of one entity.

    Passages with visible_to, and what only they name, are left out but for these readers.

    \b
    Example:
      causalist memory graph --output memory.json
      causalist memory graph --entity "Platform Team" --hops 2
    """
    index = _locate(file).open(note=_note).visible_to(readers)
    if entity is None:
        with open_destination(output) as write:
            write(to_json(index.to_node_link()) + "\n")
        return
    _show_entity(index, entity, hops, as_json)


@memory_command.command("export")
@_memory_option
@_readers_option
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write to FILE instead of standard output.")  # fmt: skip
def export_command(file: Path | None, readers: tuple[str, ...], output: Path | None) -> None:
    """Export passages and graph as node-link JSON, which HippoIndex.from_node_link and NetworkX read.

    Passages with visible_to, and what only they name, are left out but for these readers.

    \b
    Example:
      causalist memory export --output memory.json
    """
    index = _locate(file).open(note=_note).visible_to(readers)
    with open_destination(output) as write:
        write(to_json(index.to_node_link()) + "\n")


@memory_command.command("status")
@_memory_option
@_readers_option
@json_option
def status_command(file: Path | None, readers: tuple[str, ...], as_json: bool) -> None:
    """Show the file of the memory, its documents, which of these are outdated, and counts.

    What passages with visible_to say is left out but for these readers.

    \b
    Example:
      causalist memory status
    """
    from causalist._internal.text_formatting import one_line

    status = _locate(file).status(_note, readers)
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, **status})
        return
    rows = []
    for name, value in status.items():
        if isinstance(value, float):
            value = f"{value:.1%}"
        elif isinstance(value, int):
            value = f"{value:,}"
        elif isinstance(value, list | dict):
            value = ", ".join([str(len(value)), *value][:6])
        rows.append((name, one_line(str(value), 300)))
    emit_lines(align_columns(rows))


def _locate(file: Path | None) -> "MemoryFile":
    """Return the memory of a command."""
    from causalist.memory.document_sync import MemoryFile

    return MemoryFile.locate(file, Path.cwd())


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
@_readers_option
@json_option
def stats_command(file: Path | None, readers: tuple[str, ...], as_json: bool) -> None:
    """Count passages, entities and edges of the memory that everyone, or these readers, may see.

    \b
    Example:
      causalist memory stats
    """
    memory_file = _locate(file)
    counts = memory_file.open(note=_note).visible_to(readers).stats()
    if as_json:
        emit_document({"format_version": FORMAT_VERSION, "memory": str(memory_file.path), **counts})
    else:
        emit_lines(align_columns([(name, f"{value:,}" if isinstance(value, int) else f"{value:.1%}")
                            for name, value in counts.items()]))  # fmt: skip


def _format_answer(answer: "MemoryAnswer", query: str) -> Iterator[str]:
    from causalist._internal.text_formatting import one_line
    from causalist.memory.documents import find_excerpt

    partial = ", nothing likely was found" if answer.is_partial else ""
    yield f"route {answer.route.value}, confidence {answer.retrieval_confidence:.2f}{partial}"
    for rank, hit in enumerate(answer.hits, 1):
        others = [c.kept for c in answer.conflicts if c.against == hit.passage_id and c.reason != "supersedes"]
        against = _format_disputed(hit.superseded_by, others)
        yield f"{rank}. {one_line(hit.passage_id, 200)}{_format_title(hit.metadata)}{against}"
        yield f"    {one_line(find_excerpt(hit.text, query).text, 500)}"


def _format_title(metadata: Mapping[str, object]) -> str:
    from causalist._internal.text_formatting import one_line

    title = metadata.get("title")
    return f"  {one_line(title, 80)}" if isinstance(title, str) else ""


def _format_disputed(superseded_by: Sequence[str], contradicted_by: Sequence[str]) -> str:
    from causalist._internal.text_formatting import one_line

    replaced = f"  superseded by {one_line(', '.join(superseded_by), 200)}" if superseded_by else ""
    return replaced + (f"  contradicted by {one_line(', '.join(contradicted_by), 200)}" if contradicted_by else "")


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
        "superseded_by": list(passage.superseded_by),
        "contradicted_by": list(passage.contradicted_by),
        "words": list(shown.words),
        "excerpt": shown.text,
        "metadata": dict(passage.metadata),
        "text": passage.text,
    }


def _format_result(rank: int, passage: "RetrievedPassage", query: str) -> list[str]:
    from causalist._internal.text_formatting import one_line
    from causalist.memory.documents import find_excerpt

    shown = find_excerpt(passage.text, query, names=passage.entity_hits)
    metadata = passage.metadata
    place = next((f"  {key} {metadata[key]}" for key in ("line", "page") if isinstance(metadata.get(key), int)), "")
    words = f"has {', '.join(shown.words[:8])}" if shown.words else ""
    entities = f"through {', '.join(passage.entity_hits[:5])}" if passage.entity_hits else ""
    about = f"{_format_title(metadata)}{_format_disputed(passage.superseded_by, passage.contradicted_by)}"
    lines = [
        f"{rank}. {passage.passage_id}{place}  {passage.score:.3f}{about}",
        f"    {one_line(shown.text, 500)}",
    ]
    why = "; ".join(filter(None, (words, entities)))
    return [*lines, f"    ({one_line(why, 200)})"] if why else lines
