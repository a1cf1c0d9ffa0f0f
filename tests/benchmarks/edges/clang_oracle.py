"""Calls of C and C++ against those that libclang resolves.

    python -m tests.benchmarks.edges.clang_oracle CLONE [--include DIR ...] [--show N]

Needs the wheel `libclang` and the headers of the same version (Debian: `libclang-common-14-dev`). Every source file is
parsed with the folders of headers as include folders; nothing is built. A call is a pair of definitions, found by their
lines: nodes of the graph on one side, cursors on the other.
Printed are recall and precision of edges of at least .5, and how many of .99 are wrong. Left aside are calls through
macros, which have nodes of their own here, and constructors, which run where nobody writes a call.

libclang does not see: what other platforms compile, templates that nothing instantiates, calls of function pointers,
and functions of which a header is missing. An edge counts only if its source was parsed and its line is compiled; one
to a name that libclang meets there and cannot resolve does not count.
"""

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from causalist import Repository
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind

SOURCES = (".c", ".cc", ".cpp", ".cxx")
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".inl")

Place = tuple[str, int]  # path in the clone, 1-based line


class Gold(NamedTuple):
    """Pairs of places, those left aside, what each source calls that is not resolved, and compiled lines."""

    pairs: set[tuple[Place, Place]]
    aside: set[tuple[Place, Place]]
    unknown: dict[Place, set[str]]
    lines: dict[str, set[int]]
    sources: set[Place]


def read_gold(clone: Path, includes: list[str]) -> Gold:
    """Return what libclang says of all source files of a clone."""
    from clang import cindex

    kinds = cindex.CursorKind
    functions = {
        kinds.FUNCTION_DECL, kinds.CXX_METHOD, kinds.CONSTRUCTOR, kinds.DESTRUCTOR, kinds.FUNCTION_TEMPLATE,
        kinds.CONVERSION_FUNCTION,
    }  # fmt: skip
    command = ["git", "ls-files"]
    listed = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout.splitlines()
    folders = sorted({str(Path(each).parent) for each in listed if each.endswith(HEADERS)})
    folders += sorted({str(parent) for each in folders for parent in Path(each).parents} - set(folders))
    flags = [f"-I{clone / each}" for each in (*includes, *folders)]
    flags += [f"-I{each}" for each in _system_folders()]
    definitions: dict[str, Place] = {}
    calls: set[tuple[Place, str, Place, bool]] = set()  # source, USR, declaration, through a macro
    gold = Gold(set(), set(), defaultdict(set), defaultdict(set), set())
    texts: dict[str, list[str]] = {}

    def place(cursor: Any) -> Place | None:
        at = cursor.location
        if at.file is None:
            return None
        path = Path(at.file.name).resolve()
        return (path.relative_to(clone).as_posix(), at.line) if path.is_relative_to(clone) else None

    def walk(cursor: Any, source: Place | None) -> None:
        for child in cursor.get_children():
            at = place(child)
            if at is None:
                continue
            gold.lines[at[0]].add(at[1])
            inner = source
            if child.kind in functions and child.is_definition():
                definitions[child.get_usr()] = at
                inner = at
                gold.sources.add(at)
            elif child.kind in (kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.CLASS_TEMPLATE) and child.is_definition():
                definitions[child.get_usr()] = at
            elif child.kind == kinds.CALL_EXPR and source is not None:
                meet(child, at, source)
            walk(child, inner)

    def meet(call: Any, at: Place, source: Place) -> None:
        name = call.spelling
        called = call.referenced
        if called is None or called.kind not in functions:
            gold.unknown[source].add(name)
            return
        if name.startswith("operator") and name != "operator()":
            return
        is_made = called.kind == kinds.CONSTRUCTOR
        called = called.semantic_parent if is_made else called
        template = cindex.conf.lib.clang_getSpecializedCursorTemplate(called)
        called = called if template is None or template.kind.is_invalid() else template
        declared = place(called)
        if declared is None:
            return
        if at[0] not in texts:
            texts[at[0]] = (clone / at[0]).read_text("utf-8", "replace").splitlines()
        written = " ".join(texts[at[0]][at[1] - 1 : max(call.extent.end.line, at[1])])
        is_written = re.search(rf"(?<!\w){re.escape(called.spelling.partition('<')[0])}(?!\w)", written) is not None
        calls.add((source, called.get_usr(), declared, is_made or not is_written))

    index = cindex.Index.create()
    for each in listed:
        if each.endswith(SOURCES):
            language = ["-std=gnu11"] if each.endswith(".c") else ["-std=c++17", "-x", "c++"]
            unit = index.parse(str(clone / each), args=["-ferror-limit=0", *language, *flags])
            walk(unit.cursor, None)
    for source, usr, declared, is_macro in calls:
        target = definitions.get(usr, declared)
        (gold.aside if is_macro else gold.pairs).add((source, target))
    return gold


def _system_folders() -> list[str]:
    """Return the include folders of the installed C++ compiler, those of clang's own headers first."""
    said = subprocess.run(
        ["g++", "-E", "-x", "c++", "-", "-v"], input="", capture_output=True, text=True, check=False
    ).stderr
    own = sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/include"))
    folders = [line.strip() for line in said.partition("search starts here")[2].splitlines() if line.startswith(" /")]
    # The compiler's intrinsics are not those of clang.
    return [*map(str, own), *(each for each in folders if not own or "/gcc/" not in each)]


class Nodes:
    """Nodes by the lines of their definitions."""

    def __init__(self, graph: CodeGraph) -> None:
        self._graph = graph
        self._in_file: dict[str, list[int]] = defaultdict(list)
        for i, node in enumerate(graph.nodes.ids):
            if graph.nodes.kinds[i] in CALLABLE_KINDS | TYPE_KINDS:
                self._in_file[node.partition("::")[0]].append(i)

    def at(self, place: Place) -> int:
        """Return the innermost definition around a line, or -1."""
        nodes = self._graph.nodes
        around = [i for i in self._in_file.get(place[0], ()) if nodes.start_rows[i] < place[1] <= nodes.end_rows[i] + 1]
        return min(around, key=lambda i: int(nodes.end_rows[i] - nodes.start_rows[i]), default=-1)

    def as_class(self, node: int) -> int:
        """Return the class of a constructor, the first of twins in C, any other node as it is."""
        ids, parent = self._graph.nodes.ids, int(self._graph.nodes.parents[node])
        if ids[node].partition("::")[0].endswith(".c"):
            first = ids.position(re.sub(r"~\d+$", "", ids[node]))
            return first if first >= 0 else node  # twins of one name, by `#ifdef`
        own = ids[node].rpartition("::")[2].partition("~")[0].split(".")
        if len(own) > 1 and own[-1] == own[-2]:
            holder = ids.position(f"{ids[node].partition('::')[0]}::{'.'.join(own[:-1])}")
            return parent if parent >= 0 else holder if holder >= 0 else node
        return node


def compare(graph: CodeGraph, gold: Gold) -> Iterator[tuple[str, set[tuple[int, int]]]]:
    """Yield named sets of pairs of nodes: right, missed, wrong, and wrong at .99."""
    nodes = Nodes(graph)
    numbers: dict[Place, int] = {}

    def number(place: Place) -> int:
        if place not in numbers:
            numbers[place] = nodes.at(place)
        return numbers[place]

    def pairs(found: set[tuple[Place, Place]]) -> set[tuple[int, int]]:
        made = {(number(a), nodes.as_class(number(b)) if number(b) >= 0 else -1) for a, b in found}
        return {(a, b) for a, b in made if a >= 0 and b >= 0}

    wanted, macros = pairs(gold.pairs), pairs(gold.aside)
    covered = {number(place) for place in gold.sources} - {-1}
    unknown = {number(place): names for place, names in gold.unknown.items()}
    edges, kinds = graph.edges, graph.nodes.kinds
    found: dict[tuple[int, int], float] = {}
    for e in range(len(edges)):
        source, target = int(edges.sources[e]), int(edges.targets[e])
        if edges.kinds[e] != EdgeKind.CALLS or source not in covered or kinds[target] == NodeKind.MACRO:
            continue
        name = graph.nodes.ids[target].rpartition("::")[2].rpartition(".")[2].partition("~")[0]
        path = graph.nodes.ids[source].partition("::")[0]
        is_compiled = int(edges.rows[e]) + 1 in gold.lines.get(path, ())
        if is_compiled and name not in unknown.get(source, ()) and kinds[target] != NodeKind.EXTERNAL:
            # Twins in C share the certainty that it is one of them.
            n_twins = int(edges.candidates[e]) if path.endswith(".c") else 1
            value = min(1.0, float(edges.confidences[e]) * n_twins)
            key = source, nodes.as_class(target)
            found[key] = max(found.get(key, 0.0), value)
    likely = {pair for pair, value in found.items() if value >= 0.5}
    sure = {pair for pair, value in found.items() if value >= 0.99}
    yield "right", wanted & likely
    yield "missed", wanted - likely
    yield "wrong", likely - wanted - macros
    yield "sure", sure
    yield "wrong and sure", sure - wanted - macros
    yield "macros", macros - wanted


def main() -> int:
    """Print the comparison of one clone."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.edges.clang_oracle")
    parser.add_argument("clone", type=Path)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    clone = arguments.clone.resolve()
    graph = Repository.open(clone, exact_root=True).index.graph
    found = dict(compare(graph, read_gold(clone, arguments.include)))
    right, missed, wrong = (len(found[name]) for name in ("right", "missed", "wrong"))
    sys.stdout.write(
        f"{clone.name}: {right + missed} calls, recall {right / max(1, right + missed):.3f}, precision "
        f"{right / max(1, right + wrong):.3f}; of {len(found['sure'])} edges of .99 {len(found['wrong and sure'])} "
        f"wrong; {len(found['macros'])} more through macros and constructors\n"
    )
    for name in ("missed", "wrong"):
        for a, b in sorted(found[name])[: arguments.show]:
            sys.stdout.write(f"  {name} {graph.nodes.ids[a]} -> {graph.nodes.ids[b]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
