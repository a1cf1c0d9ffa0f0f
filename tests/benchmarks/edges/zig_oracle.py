"""Prints the calls of Zig sources as its compiler makes them, for `language_oracle.py`.

    zig test src/main.zig -fllvm -femit-llvm-ir=main.ll -fno-emit-bin
    python -m tests.benchmarks.edges.zig_oracle CLONE main.ll... > calls.jsonl

Reads the calls of the code that Zig hands to LLVM, before anything is optimized: where each stands, and where the
function begins that it runs. A function that is inlined has no call; it is told by what was inlined where. Zig compiles
only what is reached, so code of several roots may be given. What runs while it compiles has no code and is left out,
and so are calls by a pointer, and those that the compiler adds, which have no bracket in the source.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:!(\d+)|"((?:[^"\\]|\\.)*)"|(-?\w+))')
_DEFINED = re.compile(r'^define .*?@("(?:[^"\\]|\\.)*"|[\w.$-]+)\(.* !dbg !(\d+)')
_CALLED = re.compile(r'^ +(?:%\S+ = )?(?:notail |tail |musttail )?call .*?@("(?:[^"\\]|\\.)*"|[\w.$-]+)\(.*!dbg !(\d+)')
_NAME = re.compile(r'(?:@"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*)\s*$')


class Place(NamedTuple):
    path: str  # "" outside of the repository
    line: int
    column: int


class Code:
    """What one file of LLVM says: its nodes of debugging, and the function that each symbol is."""

    def __init__(self, text: list[str], root: Path) -> None:
        self.text = text
        self._root = root
        self._nodes: dict[str, tuple[str, dict[str, str]]] = {}
        self.functions: dict[str, str] = {}
        for line in text:
            if line[:1] == "!" and (node := _NODE.match(line)):
                if node[2] in ("DILocation", "DISubprogram", "DIFile", "DILexicalBlock"):
                    fields = {each[0]: each[1] or each[2] or each[3] for each in _FIELD.findall(node[3])}
                    self._nodes[node[1]] = node[2], fields
            elif line.startswith("define ") and (defined := _DEFINED.match(line)):
                self.functions[defined[1]] = defined[2]

    def locations(self) -> list[str]:
        return [number for number, (kind, _) in self._nodes.items() if kind == "DILocation"]

    def fields(self, number: str) -> dict[str, str]:
        return self._nodes[number][1]

    def function_at(self, number: str) -> str:
        """Return the function that the code at a location, or a block, belongs to."""
        kind, fields = self._nodes[number]
        while kind != "DISubprogram":
            number = fields["scope"]
            kind, fields = self._nodes[number]
        return number

    def place(self, number: str) -> Place:
        """Return where a location is, or where a function begins."""
        kind, fields = self._nodes[number]
        scope = number
        while kind != "DISubprogram" and "file" not in self._nodes[scope][1]:
            scope = self._nodes[scope][1]["scope"]
        file = self.fields(self._nodes[scope][1]["file"])
        path = Path(file["directory"], file["filename"])
        inside = path.is_relative_to(self._root) and "zig-cache" not in str(path)
        return Place(
            path.relative_to(self._root).as_posix() if inside else "", int(fields["line"]), int(fields.get("column", 0))
        )


def name_before(rows: list[str], at: Place) -> str:
    """Return the name before the bracket at a place; "" for a call that the compiler adds, which has no bracket."""
    row = rows[at.line - 1].encode() if at.line <= len(rows) else b""
    if row[at.column - 1 : at.column] != b"(":
        return ""
    name = _NAME.search(row[: at.column - 1].decode("utf-8", "replace"))
    return name[0].strip() if name else ""


def calls(code: Code) -> list[tuple[str, str]]:
    """Return where calls stand, and the functions that they run, as numbers of nodes."""
    found = []
    for line in code.text:
        if " call " in line and (called := _CALLED.match(line)) and called[1] in code.functions:
            found.append((called[2], code.functions[called[1]]))
    for number in code.locations():
        if around := code.fields(number).get("inlinedAt"):
            found.append((around, code.function_at(number)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("code", type=Path, nargs="+")
    arguments = parser.parse_args()
    root = arguments.clone.resolve()
    said: dict[tuple[str, int, str], set[tuple[str, int]]] = defaultdict(set)
    sources: dict[str, list[str]] = {}
    for file in arguments.code:
        code = Code(file.read_text(encoding="utf-8", errors="replace").splitlines(), root)
        for where, function in calls(code):
            at, target = code.place(where), code.place(function)
            if not at.path:
                continue
            if at.path not in sources:
                sources[at.path] = (root / at.path).read_text(encoding="utf-8", errors="replace").splitlines()
            name = name_before(sources[at.path], at)
            if name:
                said[at.path, at.line, name].update([(target.path, target.line)] if target.path else [])
    for (path, line, name), targets in sorted(said.items()):
        sys.stdout.write(json.dumps({"path": path, "line": line, "name": name, "targets": sorted(targets)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
