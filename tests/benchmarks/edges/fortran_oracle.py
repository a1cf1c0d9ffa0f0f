"""Prints the calls of Fortran sources as gfortran resolves them, for `language_oracle.py`.

    python -m tests.benchmarks.edges.fortran_oracle CLONE [--without GLOB]... [--flag FLAG]... > calls.jsonl

Compiles all sources in free form in the order of their modules, without linking; what does not compile is left out
and counted. The compiler's first tree has the linked name of each procedure that is called, and the line where the
statement ends. The name that the source has in that statement is looked for among all names of the procedure: its own,
generic ones, those of type-bound procedures, and those that a `use` gives. A call of a method of a polymorphic object
is told by the type that it is declared to be of. Names with brackets behind them that call nothing are arrays, and
procedures of the language; they are written without targets. Operators and structure constructors are left out, and so
are statements in which one name means several procedures on several lines. Files with a module that several files
define are left out, as which one is meant is not known.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

_FLAGS = ("-c", "-cpp", "-ffree-line-length-none", "-fdump-tree-original-lineno-asmname", "-w", "-std=legacy")
_NAME = r"[a-z]\w*"
_PROCEDURE = re.compile(rf"(?:[\w\s(),=*:]*\s)?(subroutine|function)\s+({_NAME})|module\s+procedure\s+({_NAME})\s*$")
_MARK = re.compile(r"\[(\S+?):(\d+):\d+\] ?")
_CALL = re.compile(r"(?<![\w.])((?:[\w.>-]|\[[^\]]*\])*?)((?:->|\.)_vptr->)?([A-Za-z_][\w.]*?) \((?!void)")


class Place(NamedTuple):
    file: str
    line: int


class Source:
    """What the sources declare: places by module and name, and the names that procedures are called by."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, str], Place] = {}  # (module, procedure)
        self.parts: dict[tuple[str, str, str], Place] = {}  # (file, module, procedure): submodules have their own
        self.external: dict[str, list[Place]] = defaultdict(list)  # several where several programs have their own
        self.bound: dict[str, Place] = {}  # by linked name
        self.names_of_bound: dict[str, str] = {}  # linked name -> own one
        self.internal: dict[tuple[str, str], list[tuple[Place, int, int]]] = defaultdict(
            list
        )  # (file, name) + span around
        self.bindings: dict[tuple[str, str], tuple[str, str]] = {}  # (type, binding) -> (module, procedure)
        self.deferred: dict[tuple[str, str], Place] = {}
        self.base: dict[str, str] = {}
        self.names: dict[str, set[str]] = defaultdict(set)  # procedure -> other names that it is called by
        self.types: set[str] = set()
        self.groups: dict[str, list[tuple[int, int, str]]] = {}  # file -> statements: first and last line, text
        self.modules: dict[str, set[str]] = {}
        self.uses: dict[str, set[str]] = {}

    def read(self, path: str, text: str) -> None:
        self.groups[path] = groups = []
        first, joined = 0, ""
        for number, raw in enumerate(text.split("\n"), 1):
            line = _code(raw)
            if joined and (not line.strip() or raw.lstrip().startswith("#")):
                continue  # a comment between continued lines
            line = re.sub(r"^\s*&", "", line)
            first = first if joined else number
            joined += line
            if joined.rstrip().endswith("&"):
                joined = joined.rstrip()[:-1] + " "
                continue
            groups.append((first, number, joined.lower()))
            joined = ""
        self.modules[path], self.uses[path] = set(), set()
        stack: list[tuple[str, str, int]] = []  # kind, name, line
        opened: list[tuple[str, Place, int]] = []
        for first, last, statement in groups:
            words = statement.strip()
            if m := re.match(rf"use\b(?:\s*,\s*\w+\s*::|\s*::)?\s*({_NAME})(.*)", words):
                self.uses[path].add(m[1])
                for local, name in re.findall(rf"({_NAME})\s*=>\s*({_NAME})", m[2]):
                    self.names[name].add(local)
            elif m := re.match(rf"module\s+({_NAME})\s*$", words):
                stack.append(("module", m[1], first))
                self.modules[path].add(m[1])
            elif m := re.match(rf"submodule\s*\(\s*({_NAME})\s*(?::\s*({_NAME})\s*)?\)\s*({_NAME})", words):
                stack.append(("module", m[1], first))
                self.modules[path].add(f"{m[1]}:{m[3]}")
                self.uses[path].add(f"{m[1]}:{m[2]}" if m[2] else m[1])
            elif m := re.match(rf"program\s+({_NAME})", words):
                stack.append(("procedure", m[1], first))
            elif m := re.match(rf"(?:abstract\s+)?interface\b\s*({_NAME})?", words):
                stack.append(("interface", (m[1] or "") if "operator" != m[1] != "assignment" else "", first))
            elif m := re.match(rf"type\b(?!\s*\()\s*(.*?)(?:::)?\s*({_NAME})\s*$", words):
                if "=" not in words and not re.match(r"type\s+is\b", words):
                    stack.append(("type", m[2], first))
                    self.types.add(m[2])
                    if e := re.search(rf"extends\s*\(\s*({_NAME})", m[1]):
                        self.base[m[2]] = e[1]
            elif (
                re.match(r"end\s*(module|submodule|program|interface|type|subroutine|function|procedure)\b", words)
                or words == "end"
            ):
                if stack:
                    kind, name, begun = stack.pop()
                    if kind == "procedure" and opened and opened[-1][1].line == begun:
                        name, place, around = opened.pop()
                        self.internal[path, name].append((place, around, first))
            elif stack and stack[-1][0] == "interface":
                if m := re.match(r"(?:module\s+)?procedure\b\s*(?:::)?\s*(.*)", words):
                    for name in re.findall(_NAME, m[1]) if stack[-1][1] else ():
                        self.names[name].add(stack[-1][1])
                elif m := _PROCEDURE.match(words):
                    if stack[-1][1]:
                        self.names[m[2]].add(stack[-1][1])
                    stack.append(("body", m[2] or "", first))
            elif stack and stack[-1][0] == "type":
                self._read_bound(words, stack, Place(path, first))
            elif (m := _PROCEDURE.match(words)) and not words.startswith("end") and "=" not in words.partition("(")[0]:
                name, hosts = m[2] or m[3], [each for each in stack if each[0] == "procedure"]
                module = next((each[1] for each in stack if each[0] == "module"), "")
                place = Place(path, first)
                stack.append(("procedure", name, first))
                if hosts:
                    opened.append((name, place, hosts[-1][2]))
                elif module:
                    self.places.setdefault((module, name), place)
                    self.parts.setdefault((path, module, name), place)
                else:
                    self.external[name].append(place)
                written = " ".join(text.split("\n")[first - 1 : last])  # with its texts
                if b := re.search(r"(?i)bind\s*\(\s*c\s*(?:,\s*name\s*=\s*(['\"])(.*?)\1)?", written):
                    self.bound.setdefault((b[2] or name).strip(), place)
                    self.names_of_bound[(b[2] or name).strip()] = name

    def _read_bound(self, words: str, stack: list[tuple[str, str, int]], place: Place) -> None:
        owner, module = stack[-1][1], next((each[1] for each in stack if each[0] == "module"), "")
        if m := re.match(r"generic\b.*?::\s*(.*?)\s*=>\s*(.*)", words):
            for name in re.findall(_NAME, m[2]) if m[1].isidentifier() else ():
                self.names[name].add(m[1])
        elif m := re.match(r"procedure\b(?:\s*\(\s*\w+\s*\))?(.*)", words):
            attributes, separated, names = m[1].partition("::")
            for each in (names if separated else m[1]).split(","):
                name, _, stands_for = (part.strip() for part in each.partition("=>"))
                if separated and "deferred" in attributes:
                    self.deferred[owner, name] = place
                else:
                    self.bindings[owner, name] = module, stands_for or name
                    if stands_for:
                        self.names[stands_for].add(name)

    def find_external(self, name: str, path: str) -> tuple[Place | None, str]:
        """The procedure of a name that a file links to, with its name, or with "?" if it may be one of several."""
        places = self.external.get(name, ())
        places = [each for each in places if each.file == path] or places
        return (places[0] if len(places) == 1 else None), f"?{name}" if len(places) > 1 else name

    def all_names(self, name: str) -> set[str]:
        """Every name that a procedure of this name may be called by."""
        found, waiting = {name}, [name]
        while waiting:
            new = self.names.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    def bound_of(self, type_: str, name: str) -> tuple[str, Place] | None:
        """The procedure that a type has under a name, with its place."""
        for _ in range(20):
            if (type_, name) in self.deferred:
                return name, self.deferred[type_, name]
            if (type_, name) in self.bindings:
                module, procedure = self.bindings[type_, name]
                place = self.places.get((module, procedure)) or next(
                    (p for (_, each), p in self.places.items() if each == procedure), None
                )
                return (procedure, place) if place else None
            if type_ not in self.base:
                return None
            type_ = self.base[type_]
        return None


def read_all(texts: dict[str, str]) -> Source:
    """Return what the sources with these texts declare."""
    source = Source()
    for path, text in texts.items():
        source.read(path, text)
    return source


def _code(line: str) -> str:
    """A line without its comment and without the content of strings."""
    out, quote = [], ""
    for character in line:
        if quote:
            out.append("'" if character == quote else " ")
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
            out.append("'")
        elif character == "!":
            break
        else:
            out.append(character)
    return "".join(out)


def compile_all(clone: Path, files: list[str], source: Source, flags: list[str], out: Path) -> dict[str, str]:
    """Return the trees of the files that compile."""
    trees: dict[str, str] = {}
    makes = {module: path for path in files for module in source.modules[path]}
    waiting, done = list(files), set[str]()
    while waiting:
        ready = [p for p in waiting if all(makes.get(u, p) == p or makes[u] in done for u in source.uses[p])]
        if not ready:
            break
        for path in ready:
            waiting.remove(path)
            run = subprocess.run(
                ["gfortran", *_FLAGS, *flags, f"-I{(clone / path).parent}", f"-J{out}", "-dumpdir", f"{out}/",
                 "-o", f"{out}/a.o", path],
                cwd=clone, capture_output=True, text=True, check=False)  # fmt: skip
            dumps = sorted(out.glob("*.original"))
            if run.returncode == 0:
                done.add(path)
                trees[path] = "\n".join(each.read_text(errors="replace") for each in dumps)
            else:
                error = next((line for line in run.stderr.splitlines() if "Error" in line), "")
                sys.stderr.write(f"not compiled: {path}: {error}\n")
            for each in dumps:
                each.unlink()
    sys.stderr.write(f"{len(trees)} of {len(files)} files compiled\n")
    return trees


def calls_of(path: str, tree: str, source: Source) -> list[dict[str, object]]:
    """Return the calls of a file."""
    groups = source.groups[path]
    at_line = {line: group for group in groups for line in range(group[0], group[1] + 1)}
    seen: set[int] = set()  # first lines of statements that the compiler mentions
    meant: dict[tuple[int, str], dict[str, Place | None]] = defaultdict(dict)  # statement, name written -> procedures
    unclear: set[tuple[int, str]] = set()
    row, declared = 0, dict[str, str]()
    lower_types = sorted(source.types, key=len, reverse=True)
    for text in tree.split("\n"):
        for kind, name in re.findall(
            r"struct __class_(\w+)_(?:\d+_\d+)?[tap] (?:[&*] )?(?:restrict )?([\w.]+)(?=[,;)\s=]|$)", text
        ):
            own = next((each for each in lower_types if kind.lower().endswith(f"_{each}") or kind.lower() == each), "")
            declared[name] = own
        marks = list(_MARK.finditer(text))
        for mark in marks:
            if mark[1].endswith(path.rpartition("/")[2]):
                seen.add(at_line.get(int(mark[2]), (0, 0, ""))[0])
        for call in _CALL.finditer(text):
            if call.start() == 0 and not text.startswith(" "):
                continue  # the head of a function
            behind = _MARK.match(text, call.end())
            before = [m for m in marks if m.end() <= call.start(3)]
            row = int(behind[2]) if behind else int(before[-1][2]) if before else row
            group = at_line.get(row)
            if group is None:
                continue
            place, name = _procedure(call, text, declared, source, path, row)
            if name.startswith("?"):  # of a module, but nowhere in it
                unclear.update((group[0], each) for each in source.all_names(name[1:]))
                continue
            if not name:
                if call[2]:  # of a type that is not told
                    unclear.update((group[0], each) for each in source.all_names(call[3].lower()))
                continue
            names = source.all_names(name)
            written = [
                each
                for each in sorted(names)
                if re.search(rf"(?<![\w])(?:call\s+(?:[\w%(),:\s]*%\s*)?{each}\b|{each}\s*\()", group[2])
            ]
            if len(written) != 1:
                unclear.update((group[0], each) for each in written)
                continue
            meant[group[0], written[0]][name] = place
        if marks:
            row = int(marks[-1][2])
    out: list[dict[str, object]] = []
    for first, last, statement in groups:
        if (
            first not in seen
            or re.match(r"\s*(?:end\b|\w[\w\s]*\b(?:function|subroutine)\b|procedure|generic|use\b)", statement)
            or "::" in statement
        ):
            continue
        lines = _lines(path, first, last)
        for name in sorted(
            set(re.findall(r"([a-z]\w*)\s*\(|\bcall\s+(?:[\w%(),:\s]*%\s*)?([a-z]\w*)", statement))
            and {a or b for a, b in re.findall(r"([a-z]\w*)\s*\(|\bcall\s+(?:[\w%]*%\s*)?([a-z]\w*)", statement)}
        ):
            if (first, name) in unclear:
                continue
            rows = [n for n, line in lines if re.search(rf"(?<!\w){name}\b\s*(?:\(|&|$)|\bcall\b.*\b{name}\b", line)]
            found = meant.get((first, name), {})
            if not found and (
                name in source.types or name in ("if", "while", "case", "call", "where", "forall", "elseif")
            ):
                continue
            if len(found) > 1 and len(rows) > 1:
                continue
            targets = [[each.file, each.line] for each in found.values() if each]
            out += [{"path": path, "line": n, "name": name, "local": False, "targets": targets} for n in rows]
    return out


_TEXTS: dict[str, list[str]] = {}


def _lines(path: str, first: int, last: int) -> list[tuple[int, str]]:
    return [(n, _code(_TEXTS[path][n - 1]).lower()) for n in range(first, last + 1)]


def _procedure(
    call: "re.Match[str]", text: str, declared: dict[str, str], source: Source, path: str, row: int
) -> tuple[Place | None, str]:
    receiver, virtual, linked = call[1], call[2], call[3]
    if virtual:
        base = receiver.split("->")[0].split(".")[0]
        cast = re.search(r"\(struct __class_(\w+)_(?:\d+_\d+)?[tap] \*\)", text[call.end() :])
        given = re.match(r"(?:\[[^\]]*\] )*&(?:\[[^\]]*\] )*([\w.]+)", text[call.end() :])
        own = ""
        if cast:
            own = next(
                (t for t in sorted(source.types, key=len, reverse=True) if cast[1].lower().endswith(f"_{t}")), ""
            )
        own = (
            own
            or (declared.get(given[1], "") if given else "")
            or (declared.get(base, "") if receiver in (base, f"{base}->") else "")
        )
        found = source.bound_of(own, linked.lower()) if own else None
        return (found[1], found[0]) if found else (None, "")
    if receiver and not linked.startswith("__"):
        return None, ""
    if m := re.fullmatch(r"__([a-z0-9_]+?)(?:\.\w+)?_MOD_(\w+)", linked):
        if place := source.parts.get((path, m[1], m[2])) or source.places.get((m[1], m[2])):
            return place, m[2]
        place, name = source.find_external(m[2], "")  # which the module may include
        is_open = place is None and any(m[1] in modules for modules in source.modules.values())
        return place, f"?{m[2]}" if is_open else name
    m = re.fullmatch(r"(\w+?)(?:\.\d+)?", linked)
    if m and ("." in linked or (path, m[1]) in source.internal):
        around = [p for p, first, last in source.internal.get((path, m[1]), ()) if first <= row]
        if around:
            return around[-1], m[1]
        place, name = source.find_external(m[1], path)  # of a program without a name
        return (place, name) if place is not None and place.file == path else (None, f"?{m[1]}")
    if linked in source.bound:
        return source.bound[linked], source.names_of_bound.get(linked, linked)
    if linked.endswith("_"):
        return source.find_external(linked.rstrip("_"), path)
    return None, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--without", action="append", default=[], metavar="GLOB")
    parser.add_argument("--flag", action="append", default=[])
    arguments = parser.parse_args()
    listed = subprocess.run(
        ["git", "-C", arguments.clone, "ls-files"], capture_output=True, text=True, check=True
    ).stdout
    files = [p for p in listed.splitlines() if p.lower().endswith((".f90", ".f95", ".f03", ".f08"))]
    files = [p for p in files if not any(fnmatch(p, glob) for glob in arguments.without)]
    texts = {path: (arguments.clone / path).read_text(errors="replace") for path in files}
    source = read_all(texts)
    n_files = Counter(module for modules in source.modules.values() for module in modules)
    repeated = {module for module, n in n_files.items() if n > 1}
    kept = [path for path in files if not repeated & (source.modules[path] | source.uses[path])]
    if len(kept) < len(files):
        sys.stderr.write(f"left out: {len(files) - len(kept)} files with modules that several files define\n")
        files, source = kept, read_all({path: texts[path] for path in kept})
    _TEXTS.update((path, texts[path].split("\n")) for path in files)
    with tempfile.TemporaryDirectory() as out:
        trees = compile_all(arguments.clone.resolve(), files, source, arguments.flag, Path(out))
    for path, tree in sorted(trees.items()):
        for each in calls_of(path, tree, source):
            sys.stdout.write(f"{json.dumps(each)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
