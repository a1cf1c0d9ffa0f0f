"""`causalist map` summarizes a repository; `causalist layers` shows its layers and their violations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns, count_noun
from causalist.cli._output import emit, emit_document
from causalist.cli._repository import (
    edge_location,
    limit_option,
    lookup_options,
    min_confidence_option,
    node_location,
    open_for_lookup,
    print_result,
)
from causalist.model.symbols import STACKED_LAYERS
from causalist.serialize.lookups import layer_document, layers_document, map_document

if TYPE_CHECKING:
    from causalist.model.lookup import LayerFile, Layering


@click.command("map")
@lookup_options
@click.option("--max-tokens", type=int, default=2000, show_default=True, help="Token budget, a hard limit.")
@click.option("--format", "map_format", type=click.Choice(["text", "markdown", "json"]), default="text",
              show_default=True, help="Format of the map.")  # fmt: skip
def map_command(repo: Path | None, force: bool, max_tokens: int, map_format: str, as_json: bool) -> None:
    """Summarize the repository within a token budget.

    The map shows the description from README and manifest, languages and sizes, entry points, folders and their most
    used definitions, and the uses between folders. Importance is PageRank over the code without tests.

    \b
    Example:
      causalist map --max-tokens 1000
      causalist map --format markdown > MAP.md
    """
    repository = open_for_lookup(repo, force=force, when_empty=map_document(None) if as_json else None)
    drawn = repository.map(max_tokens=max_tokens, format=map_format)
    if as_json:
        emit_document(map_document(drawn))
    else:
        emit(drawn.text)


_STACKED = frozenset(layer.label for layer in STACKED_LAYERS)


@click.command("layers")
@click.argument("name", required=False)
@lookup_options
@min_confidence_option(0.5, "Minimum confidence of a use.")
@limit_option(20, "Maximum number of uses of higher layers, or of files of NAME.")
def layers_command(
    name: str | None, repo: Path | None, force: bool, min_confidence: float, limit: int, as_json: bool
) -> None:
    """Show the layers of the code, or the files of one.

    From highest to lowest, the layers are ui, api, logic, data and infra. The layers test, config and docs have no
    rank. The layer of a file follows from its name, folders, imports and type names. For each of the five layers
    (`--json`: for all), the most used definitions are shown with the number of their users. In the table, rows use
    columns. Uses of a higher layer by a lower one are listed, largest distance first. Files of NAME are listed with
    the number of their definitions, of uses by other layers and of uses of other layers. `review` reports added uses
    that `[layers]` in the settings forbids.

    \b
    Example:
      causalist layers --limit 100
      causalist layers --json | jq '.back_edges[].edge'
    """
    repository = open_for_lookup(repo, force=force, when_empty=layers_document(None, limit) if as_json else None)
    if name is not None:
        files = repository.layer_files(name, min_confidence=min_confidence)
        document = layer_document(name, files, limit) if as_json else None
        print_result(document, _format_files(files, limit), "" if files else f"no file is in the layer {name}")
        return
    found = repository.layers(min_confidence=min_confidence)
    print_result(layers_document(found, limit) if as_json else None, _format_layers(found, limit))


def _format_files(files: "Sequence[LayerFile]", limit: int) -> Iterator[str]:
    rows = [
        (
            each.path,
            count_noun(each.n_definitions, "definition", ","),
            f"used {each.n_used:,} times",
            f"uses others {each.n_uses:,} times",
        )
        for each in files[:limit]
    ]
    yield from align_columns(rows)
    if len(files) > limit:
        yield f"and {len(files) - limit:,} more; --limit shows more of them"


def _format_layers(found: "Layering", limit: int) -> Iterator[str]:
    sizes = found.sizes
    yield from align_columns(
        [(s.layer, count_noun(s.n_files, "file", ","), count_noun(s.n_definitions, "definition", ",")) for s in sizes]
    )
    for size in sizes:
        if size.hottest and size.layer in _STACKED:
            yield ""
            yield f"{size.layer}, most used:"
            yield from align_columns(
                [(f"  {used.fan_in:,}", used.hit.id, node_location(used.hit)) for used in size.hottest]
            )
    if not found.uses:
        return
    n = {(use.source, use.target): use.n for use in found.uses}
    yield ""
    yield "uses, rows of columns:"
    header = ("", *(size.layer for size in sizes))
    rows = [[f"{n[one.layer, two.layer]:,}" if (one.layer, two.layer) in n else "." for two in sizes] for one in sizes]
    widths = [max(len(name), *(len(row[i]) for row in rows)) for i, name in enumerate(header[1:])]
    named = [header, *((size.layer, *row) for size, row in zip(sizes, rows, strict=True))]
    for name, *cells in named:
        yield "  ".join([f"  {name:<6}", *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))])
    back = found.back_edges
    yield ""
    total = sum(use.n for use in found.uses)
    yield f"{len(back):,} of {total:,} uses lead from a lower layer to a higher one" + (":" if back else "")
    yield from align_columns(
        [
            (
                f"  {each.source_layer} -> {each.target_layer}",
                f"{each.edge.source} {each.edge.kind} {each.edge.target}",
                f"{each.edge.rule} {each.edge.confidence:.2f}",
                edge_location(each.edge),
            )
            for each in back[:limit]
        ]
    )
    if len(back) > limit:
        yield f"and {len(back) - limit:,} more; --limit shows more of them"
