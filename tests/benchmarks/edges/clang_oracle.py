"""Calls of C and C++ against those that libclang resolves.

    python -m tests.benchmarks.edges.clang_oracle CLONE [--include DIR ...] [--show N]

Needs the wheel `libclang` and the headers of the same version (Debian: `libclang-common-14-dev`). Every source file is
parsed with the folders of headers as include folders; nothing is built. A call is a pair of definitions, found by their
lines: nodes of the graph on one side, cursors on the other.
Printed are recall and precision of edges of at least .5, and how many of .99 are wrong. Left aside are calls through
macros, which have nodes of their own here, and constructors, which run where nobody writes a call; `new T{}` and `T{}`
make an object of T also where T has no constructor.

Some sites libclang cannot judge. They are left out on both sides, by what libclang says of them and never by what is
predicted:

- all of and all to a function in whose text libclang reports an error in every file that is parsed, as where a header
  is missing: what such a function calls and what calls it has no cursor;
- all calls of one name in a function where it refers one of them to nothing, or to no function: names that depend on
  the parameters of a template, which nothing instantiates here, and variables that hold a function. An edge to another
  name at such a line says what the variable holds, and is left out, too;
- all calls of one name in a function where it refers one of them to a function that the clone declares, but no file
  that is parsed defines: what only other builds define;
- lines that the preprocessor skips in every file that is parsed, and uses of macros that drop their arguments there:
  what other builds compile.

Everything else counts, whatever it leads to. A function that several files define, for several platforms or as a source
of a generator beside what is generated, is right as any of them, unless its caller's file sees one; of one that a file
defines several times behind `#ifdef`, all are the one that is compiled. Several candidates in C, and by the rule
`build-variant` in C++, say that it is one of them: they are one claim with the sum of their confidences, and right if
one is.
"""

import argparse
import ctypes
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from causalist import Repository
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from tests.benchmarks.edges.called_pairs import Nodes, Place, print_comparison

SOURCES = (".c", ".cc", ".cpp", ".cxx")
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".inl")


class Gold(NamedTuple):
    """Sources with all places of what they call, those left aside, and what is not judged."""

    pairs: set[tuple[Place, frozenset[Place]]]
    aside: set[tuple[Place, frozenset[Place]]]
    unknown: dict[Place, set[str]]
    open_lines: set[Place]  # with a call that is not resolved
    erroneous: set[Place]  # functions
    skipped: dict[str, set[int]]  # lines of each file that was parsed
    sources: set[Place]
    names: dict[Place, str]  # of functions
    declared: dict[Place, str]  # names of functions that the clone declares and no file that is parsed defines


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
    definitions: dict[str, set[Place]] = defaultdict(set)
    in_unit: dict[str, Place] = {}  # of the file that is parsed and what it includes
    calls: set[_Called] = set()
    gold = Gold(set(), set(), defaultdict(set), set(), set(), {}, set(), {}, {})
    texts: dict[str, list[str]] = {}
    macros: dict[Place, bool] = {}
    dropped: dict[str, set[int]] = defaultdict(set)
    errors: dict[str, list[int]] = {}  # lines with an error in the file that is parsed and what it includes

    @lru_cache(maxsize=1 << 16)
    def relative(name: str) -> str:
        path = Path(name).resolve()
        return path.relative_to(clone).as_posix() if path.is_relative_to(clone) else ""

    def place(cursor: Any) -> Place | None:
        at = cursor.location
        if at.file is None:
            return None
        path = relative(at.file.name)
        return (path, at.line) if path else None

    def walk(cursor: Any, source: Place | None) -> None:
        for child in cursor.get_children():
            at = place(child)
            if at is None:
                if child.location.file is None:  # a conversion that is not written, with what it converts inside
                    walk(child, source)
                continue
            inner = source
            if child.kind in functions and child.is_definition():
                gold.names[at] = child.spelling
                for key in (child.get_usr(), _signature(child)):
                    definitions[key].add(at)
                    in_unit[key] = at
                first, last = child.extent.start.line, child.extent.end.line
                if any(first <= line <= last for line in errors.get(at[0], ())):
                    gold.erroneous.add(at)
                    continue
                inner = at
                gold.sources.add(at)
            elif child.kind in (kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.CLASS_TEMPLATE) and child.is_definition():
                definitions[child.get_usr()].add(at)
                in_unit[child.get_usr()] = at
            elif child.kind == kinds.MACRO_INSTANTIATION and drops_arguments(child):
                dropped[at[0]].update(range(at[1], child.extent.end.line + 1))
            elif child.kind == kinds.CALL_EXPR and source is not None:
                meet(child, at, source)
            elif child.kind in (kinds.CXX_NEW_EXPR, kinds.CXX_FUNCTIONAL_CAST_EXPR) and source is not None:
                meet_object(child, source)
            walk(child, inner)

    def drops_arguments(use: Any) -> bool:
        """Return True if the macro that is used takes arguments, and has none of them in what it stands for."""
        macro = use.referenced
        at = place(macro) if macro is not None else None
        if macro is None or at is None:
            return False
        if at not in macros:
            lines = lines_of(at[0])[at[1] - 1 : macro.extent.end.line]
            written = re.match(r"\s*#\s*define\s+\w+\(([^)]+)\)(.*)", " ".join(lines))
            names = re.findall(r"\w+", written[1]) if written else []
            macros[at] = written is not None and not set(names) & set(re.findall(r"\w+", written[2]))
        return macros[at]

    def lines_of(path: str) -> list[str]:
        if path not in texts:
            texts[path] = (clone / path).read_text("utf-8", "replace").splitlines()
        return texts[path]

    def callee_name(call: Any) -> str:
        """Return the last name before the arguments of a call of which libclang tells no name."""
        callee = next(iter(call.get_children()), None)
        at = place(callee) if callee is not None else None
        if callee is None or at is None:
            return ""
        first, last = callee.extent.start, callee.extent.end
        lines = lines_of(at[0])[first.line - 1 : last.line]
        lines[-1:] = [each[: last.column - 1] for each in lines[-1:]]
        names = re.findall(r"~?\w+", re.sub(r"<[^()]*>$", "", " ".join(lines)))
        return names[-1] if names else ""

    def meet(call: Any, at: Place, source: Place) -> None:
        name = call.spelling
        called = call.referenced
        if called is None or called.kind not in functions:
            gold.unknown[source].add(name or callee_name(call))
            gold.open_lines.add(at)
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
        written = " ".join(lines_of(at[0])[at[1] - 1 : max(call.extent.end.line, at[1])])
        is_written = re.search(rf"(?<!\w){re.escape(called.spelling.partition('<')[0])}(?!\w)", written) is not None
        keys = called.get_usr(), "" if is_made else _signature(called)
        calls.add(_Called(source, keys, declared, called.spelling, is_made or not is_written))

    def meet_object(expression: Any, source: Place) -> None:
        """Note the type of which `new T{}` or `T{}` makes an object, which needs no constructor that is called."""
        is_new = expression.kind == kinds.CXX_NEW_EXPR
        made = (expression.type.get_pointee() if is_new else expression.type).get_canonical().get_declaration()
        if made.kind not in (kinds.STRUCT_DECL, kinds.CLASS_DECL):
            # Of a template, with arguments that depend on those of another one.
            named = (each for each in expression.get_children() if each.kind == kinds.TEMPLATE_REF)
            made = next((each.referenced for each in named if each.referenced is not None), made)
            if made.kind != kinds.CLASS_TEMPLATE:
                return
        template = cindex.conf.lib.clang_getSpecializedCursorTemplate(made)
        made = made if template is None or template.kind.is_invalid() else template
        if declared := place(made):
            calls.add(_Called(source, (made.get_usr(), ""), declared, made.spelling, True))

    index = cindex.Index.create()
    for each in listed:
        if each.endswith(SOURCES) and (clone / each).is_file():
            language = ["-std=gnu11"] if each.endswith(".c") else ["-std=c++17", "-x", "c++"]
            unit = index.parse(str(clone / each), args=["-ferror-limit=0", *language, *flags], options=_OPTIONS)
            in_unit.clear()
            errors.clear()
            for said in unit.diagnostics:
                if said.severity >= said.Error and said.location.file:
                    errors.setdefault(relative(said.location.file.name), []).append(said.location.line)
            found, calls = calls, set()
            dropped.clear()
            walk(unit.cursor, None)
            for path, lines in _skipped_lines(unit, relative).items():
                gold.skipped[path] = gold.skipped.get(path, lines | dropped[path]) & (lines | dropped[path])
            # What stands behind a call in its file counts as seen, too.
            calls = found | {
                call._replace(own=next((in_unit[key] for key in call.keys if key in in_unit), None)) for call in calls
            }
    for call in calls:
        places = next((definitions[key] for key in call.keys if key in definitions), set())
        if not places:
            gold.declared[call.declared] = call.name
            places = {call.declared}
        targets = frozenset(places if call.own is None else {call.own})
        targets -= gold.erroneous - gold.sources
        if targets:
            (gold.aside if call.is_aside else gold.pairs).add((call.source, targets))
    return gold


# Keep a record of the preprocessor, and go on, and report, after a missing header.
_OPTIONS = 0x01 | 0x200


def _skipped_lines(unit: Any, relative: Callable[[str], str]) -> dict[str, set[int]]:
    """Return the lines that the preprocessor skips, for each file of the clone that a unit consists of."""
    from clang import cindex

    class Ranges(ctypes.Structure):
        _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange))]

    read = cindex.conf.lib.clang_getSkippedRanges
    read.restype, read.argtypes = ctypes.POINTER(Ranges), [ctypes.c_void_p, ctypes.c_void_p]
    names = {unit.spelling, *(each.include.name for each in unit.get_includes())}
    found: dict[str, set[int]] = {}
    for name in names:
        if path := relative(name):
            several = read(unit.obj, unit.get_file(name).obj).contents
            ranges = [several.ranges[i] for i in range(several.count)]
            found[path] = {line for each in ranges for line in range(each.start.line + 1, each.end.line)}
    return found


class _Called(NamedTuple):
    source: Place
    keys: tuple[str, str]  # USR and signature
    declared: Place
    name: str
    is_aside: bool  # through a macro, or a constructor
    own: Place | None = None  # its definition, if the file of the call sees that


def _signature(function: Any) -> str:
    """Return a name with types: unlike a USR, it does not tell `const int` from `int` as the type of a parameter."""
    return f"{function.semantic_parent.get_usr()} {function.spelling} {function.type.get_canonical().spelling}"


def _system_folders() -> list[str]:
    """Return the include folders of the installed C++ compiler, those of clang's own headers first."""
    said = subprocess.run(
        ["g++", "-E", "-x", "c++", "-", "-v"], input="", capture_output=True, text=True, check=False
    ).stderr
    own = sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/include"))
    folders = [line.strip() for line in said.partition("search starts here")[2].splitlines() if line.startswith(" /")]
    # The compiler's intrinsics are not those of clang.
    return [*map(str, own), *(each for each in folders if not own or "/gcc/" not in each)]


class CompiledNodes(Nodes):
    """Nodes by the lines of their definitions, of twins the one that is compiled."""

    def __init__(self, graph: CodeGraph, gold: Gold) -> None:
        super().__init__(graph)
        self._skipped = gold.skipped
        self._twins: dict[tuple[str, str], list[int]] = defaultdict(list)  # name and signature
        for i in range(len(graph.nodes)):
            if graph.nodes.kinds[i] in CALLABLE_KINDS | TYPE_KINDS:
                self._twins[self._key(i)].append(i)

    def _key(self, node: int) -> tuple[str, str]:
        signature = " ".join(self._graph.nodes.signatures[node].split())
        return re.sub(r"~\d+$", "", self._graph.nodes.ids[node]), signature

    def as_class(self, node: int) -> int:
        """Return the class of a constructor, the first of twins in C, any other node as it is."""
        ids = self._graph.nodes.ids
        if ids[node].partition("::")[0].endswith(".c"):
            first = ids.position(re.sub(r"~\d+$", "", ids[node]))
            return first if first >= 0 else node  # twins of one name, by `#ifdef`
        return super().as_class(node)

    def as_one(self, node: int) -> int:
        """Return the twin that is compiled of a function behind `#ifdef` that is not; `as_class` of any other node."""
        twins = self._twins.get(self._key(node), ())
        if len(twins) > 1:
            node = next((each for each in (node, *twins) if self.is_compiled(each)), node)
        return self.as_class(node)

    def is_compiled(self, node: int) -> bool:
        """Return True if libclang compiles the first line of a node."""
        nodes = self._graph.nodes
        return self.is_line_compiled(nodes.ids[node].partition("::")[0], int(nodes.start_rows[node]) + 1)

    def is_line_compiled(self, path: str, line: int) -> bool:
        """Return True if the preprocessor does not skip a line in every file that was parsed."""
        return path in self._skipped and line not in self._skipped[path]

    def is_constructor(self, node: int) -> bool:
        """Return True if a node is called like the type that it belongs to."""
        own = self._graph.nodes.ids[node].rpartition("::")[2].partition("~")[0].split(".")
        return len(own) > 1 and own[-1] == own[-2]

    def member_at(self, place: Place, name: str) -> int:
        """Return the innermost definition around a line, or -1; of a type, the member `name` that is a twin of it."""
        nodes, found = self._graph.nodes, self.at(place)
        is_type = found >= 0 and nodes.kinds[found] in TYPE_KINDS
        member = nodes.ids.position(f"{nodes.ids[found]}.{name}") if is_type else -1
        return member if member >= 0 else found


def compare(graph: CodeGraph, gold: Gold) -> Iterator[tuple[str, set[tuple[int, int]]]]:
    """Yield named sets of pairs of nodes: right, missed, wrong, and wrong at .99."""
    nodes = CompiledNodes(graph, gold)
    numbers: dict[Place, int] = {}

    def number(place: Place) -> int:
        if place not in numbers:
            numbers[place] = nodes.member_at(place, gold.names.get(place, ""))
        return numbers[place]

    def pairs(found: set[tuple[Place, frozenset[Place]]]) -> set[tuple[int, frozenset[int]]]:
        made = {(number(a), frozenset(nodes.as_one(number(each)) for each in b if number(each) >= 0)) for a, b in found}
        return {(a, b) for a, b in made if a >= 0 and b}

    judged = {(a, b) for a, b in gold.pairs if not gold.unknown[a].intersection(gold.names.get(each, "") for each in b)}
    wanted, macros = pairs(judged), pairs(gold.aside)
    covered = {number(place) for place in gold.sources} - {-1}
    unknown = {number(place): set(names) for place, names in gold.unknown.items()}
    for place, targets in gold.pairs | gold.aside:
        if all(number(each) < 0 for each in targets):  # only declared
            unknown.setdefault(number(place), set()).update(gold.declared.get(each, "") for each in targets)
    erroneous = {nodes.as_one(number(place)) for place in gold.erroneous - gold.sources if number(place) >= 0}
    called: dict[int, set[str]] = defaultdict(set)
    for place, targets in gold.pairs:
        called[number(place)].update(gold.names.get(each, "") for each in targets)
    met = {(a, b) for a, each in wanted for b in each}
    edges, kinds = graph.edges, graph.nodes.kinds
    found: dict[tuple[int, int], float] = {}
    shares: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)  # of what several are one of
    totals: dict[tuple[int, str], float] = defaultdict(float)
    for e in range(len(edges)):
        source, target = int(edges.sources[e]), int(edges.targets[e])
        if edges.kinds[e] != EdgeKind.CALLS or source not in covered or kinds[target] == NodeKind.MACRO:
            continue
        name = graph.nodes.ids[target].rpartition("::")[2].rpartition(".")[2].partition("~")[0]
        path = graph.nodes.ids[source].partition("::")[0]
        is_set = path.endswith(".c") or graph.rule_names[int(edges.rules[e])] == "build-variant"
        is_set = is_set and edges.candidates[e] > 1
        totals[source, name] += float(edges.confidences[e]) if is_set else 0.0
        if nodes.is_constructor(target) or kinds[target] == NodeKind.EXTERNAL or nodes.as_one(target) in erroneous:
            continue
        if (path, int(edges.rows[e]) + 1) in gold.open_lines and name not in called[source]:
            continue
        key = source, nodes.as_one(target)
        is_judged = nodes.is_line_compiled(path, int(edges.rows[e]) + 1) and name not in unknown.get(source, ())
        if is_judged or key in met:  # an edge has the first of its lines
            value = float(edges.confidences[e])
            if is_set:
                shares[source, name].append(key)
            else:
                found[key] = max(found.get(key, 0.0), value)
    for place_and_name, several in shares.items():  # they share the certainty that it is one of them
        for key in several:
            found[key] = max(found.get(key, 0.0), min(1.0, totals[place_and_name]))
    sets = [set(several) for several in shares.values()]
    likely = {pair for pair, value in found.items() if value >= 0.5}
    sure = {pair for pair, value in found.items() if value >= 0.99}
    right = {(a, next((b for b in sorted(each) if (a, b) in likely), -1)) for a, each in wanted}
    possible = {(a, b) for a, each in wanted | macros for b in each}
    possible |= {pair for several in sets if several & possible for pair in several}
    yield "right", {(a, b) for a, b in right if b >= 0}
    yield "missed", {(a, min(each)) for a, each in wanted if not any((a, b) in likely for b in each)}
    yield "wrong", likely - possible
    yield "sure", sure
    yield "wrong and sure", sure - possible
    yield "aside", {(a, min(each)) for a, each in macros - wanted}


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
    print_comparison(clone.name, graph, found, "through macros and constructors", arguments.show)
    return 0


if __name__ == "__main__":
    sys.exit(main())
