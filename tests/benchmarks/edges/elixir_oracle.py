"""Calls of Elixir against those that its compiler resolves.

    python -m tests.benchmarks.edges.elixir_oracle CLONE [--leave PATTERN ...] [--show N]

Needs `elixir` (Debian: `elixir`, `erlang-dev`) and a repository whose `lib` compiles without other packages. Its files
are compiled together under a tracer (`elixir_oracle.exs`) by the compiler that `mix compile` starts, then each file of
`test` by itself: one that needs a missing package is left out, as are files that `--leave` names. Module, function and
arity are mapped to the line of their definition; a call is a pair of definitions, found by their lines.

Left aside are calls whose name is not written on their line, which come from macros, functions that macros define, and
captures (`&f/1`), which call nothing where they stand. The compiler does not see: what `quote` holds before it is used,
calls with a module or name that is computed, modules of other environments, and functions that no definition has a line
for. An edge counts only if its file was compiled and its line is not merely quoted.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import tree_sitter
import tree_sitter_elixir

from causalist.model.node_ids import NodeKind
from tests.benchmarks.edges.called_pairs import Gold, Place, report

_SECONDS = 600  # the longest that compiling may take


def traced(clone: Path, left: list[str]) -> Iterator[list[str]]:
    """Yield the facts that the tracer writes of a clone."""
    command = ["git", "ls-files", "*.ex", "*.exs"]
    listed = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout.splitlines()
    listed = [path for path in listed if not any(fnmatch(path, pattern) for pattern in left)]
    together = [path for path in listed if path.startswith("lib/") and path.endswith(".ex")]
    alone = [path for path in listed if path.startswith("test/")]
    alone.sort(key=lambda path: (path.endswith(".exs"), not path.endswith("test_helper.exs"), path))
    script = Path(__file__).with_suffix(".exs")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "traced.txt"
        subprocess.run(
            ["elixir", str(script), str(out), folder, *together, "--", *alone],
            cwd=clone,
            stdout=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
        for line in out.read_text("utf-8").splitlines():
            yield line.split("\t")


class Source:
    """The lines of a file, which of them are merely quoted, and where functions are captured."""

    def __init__(self, data: bytes) -> None:
        self.lines = data.decode("utf-8", "replace").splitlines()
        self.quoted: set[int] = set()
        self.captured: set[tuple[int, str]] = set()
        self.texts: set[int] = set()
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_elixir.language()))
        stack = [parser.parse(data).root_node]
        while stack:
            node = stack.pop()
            stack += node.children
            rows = range(node.start_point.row + 1, node.end_point.row + 2)
            if node.type == "call" and _target(node) == "quote":
                self.quoted.update(rows)
            elif node.type == "quoted_content" and len(rows) > 1:
                self.texts.update(rows)
            elif node.type == "unary_operator" and node.text is not None and node.text.startswith(b"&"):
                captured = re.fullmatch(r"&\s*\(?(?:.*\.)?([\w?!]+)\s*/\s*\d+\)?", node.text.decode("utf-8", "replace"))
                if captured is not None:
                    self.captured.add((rows[0], captured[1]))

    def is_written(self, line: int, name: str) -> bool:
        """Return whether a line holds the name of a function, not of an attribute or an atom."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return line not in self.texts and re.search(rf"(?<![\w@:]){re.escape(name)}(?![\w?!])", text) is not None


def _target(call: tree_sitter.Node) -> str:
    target = call.child_by_field_name("target")
    return target.text.decode("utf-8", "replace") if target is not None and target.text is not None else ""


def read_gold(clone: Path, left: list[str]) -> Gold:
    """Return what the compiler says of the files that it compiles."""
    gold = Gold(set(), set(), defaultdict(set), defaultdict(set), set())
    defined: dict[tuple[str, str], dict[int, Place]] = defaultdict(dict)
    calls: set[tuple[Place, str, str, int]] = set()
    sources: dict[str, Source] = {}
    for kind, file, *rest in traced(clone, left):
        at = Path(file)
        if not at.is_relative_to(clone) or not at.is_file():
            continue
        path = at.relative_to(clone).as_posix()
        if kind == "compiled":
            sources[path] = Source(at.read_bytes())
            continue
        line, module, function, arity = rest
        if kind == "define":
            defined[module, function][int(arity)] = path, int(line)
        else:
            calls.add(((path, int(line)), module, function, int(arity)))
    if not any(path.startswith("lib/") for path in sources):
        raise SystemExit(f"{clone.name}: lib does not compile")
    for path, source in sources.items():
        rows = set(range(1, len(source.lines) + 1))
        gold.lines[path] |= rows - source.quoted
        gold.sources.update((path, row) for row in rows)
    for place, module, function, n_arguments in calls:
        if place[0] not in sources:
            continue
        source = sources[place[0]]
        arities = defined.get((module, function), {})
        # A function with default values is defined once, with all of its arguments.
        target = arities.get(n_arguments) or next((arities[n] for n in sorted(arities) if n > n_arguments), None)
        is_generated = target is not None and not (
            target[0] in sources and sources[target[0]].is_written(target[1], function)
        )
        if is_generated or not source.is_written(place[1], function):
            if target is not None:
                gold.aside.add((place, target))
                gold.unknown[place].add(function)
            continue
        gold.lines[place[0]].add(place[1])
        if target is not None:
            is_capture = (place[1], function) in source.captured
            (gold.aside if is_capture else gold.pairs).add((place, target))
    return gold


if __name__ == "__main__":
    kinds = frozenset({NodeKind.FILE, NodeKind.NAMESPACE})
    sys.exit(report("elixir_oracle", read_gold, "--leave", "through macros and captures", kinds))
