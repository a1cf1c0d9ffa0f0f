"""All facts -> the code graph: nodes, containment, imports, bases, calls and references."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from causalist.graph.confidence import load_confidences
from causalist.graph.layering import packages_of, with_layers
from causalist.graph.linker import Linker
from causalist.graph.parts import Spread, link_files
from causalist.graph.relations.tests import Tests
from causalist.graph.tables import finish
from causalist.model.facts import FileFacts
from causalist.model.graph import EdgeKind, LinkedGraph
from causalist.model.language import LanguageSettings


def _as_it_is(path: str, facts: FileFacts) -> FileFacts:
    return facts


def build_graph(
    files: Sequence[tuple[str, FileFacts]],
    settings: Mapping[str, LanguageSettings],
    with_bodies: Callable[[str, FileFacts], FileFacts] = _as_it_is,
    spread: Spread | None = None,
) -> LinkedGraph:
    """The graph of a repository. `files` are (path, facts) in any order; `settings` are by dialect name.

    Files may come without their bodies but for those of which `needs_bodies` says otherwise; then `with_bodies` has to
    bring them, and is asked once for each file, for as long as it is linked: bodies take more room than all the rest.
    `spread` says how many processes link, of files in the order of their paths. The graph depends on the facts and
    paths alone.
    """
    order = sorted(range(len(files)), key=lambda i: files[i][0])
    if order != list(range(len(files))):
        linked = build_graph([files[i] for i in order], settings, with_bodies)
        given = np.argsort(np.array(order))
        nodes = tuple(linked.document_nodes[i] for i in given)
        troubles_given = tuple((order[number], error) for number, error in linked.troubles)
        return LinkedGraph(linked.graph, linked.file_nodes[given], nodes, troubles_given)
    linker = Linker.of(files, settings)
    documents = [linker.drafts.documents(number) for number in range(len(files))]
    linker.add_bases()
    troubles = link_files(linker, with_bodies, packages_of(linker.program), spread)
    tests = Tests(linker.program, linker.drafts)
    for each in list(tests.edges(linker.collector.edges.items())):
        linker.collector.add(each.source, each.target, EdgeKind.TESTS, each.rule, each.row, each.candidates)
    languages = [names.settings.name if names.settings else "" for names in linker.program.files]
    graph, position = finish(linker.drafts.all(), linker.collector, languages, load_confidences())
    file_nodes = position[: len(files)]
    linked = LinkedGraph(
        with_layers(graph, file_nodes, linker.program.listed.folders(linker.program.files)),
        file_nodes,
        tuple(position[np.array(each, dtype=np.int64)] for each in documents),
        tuple(troubles),
    )
    linker.release()
    return linked
