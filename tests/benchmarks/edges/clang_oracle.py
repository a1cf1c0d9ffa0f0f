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

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.benchmarks.edges.called_pairs import Gold, Place, report

SOURCES = (".c", ".cc", ".cpp", ".cxx")
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".inl")


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


if __name__ == "__main__":
    sys.exit(report("clang_oracle", read_gold, "--include", "through macros and constructors"))
