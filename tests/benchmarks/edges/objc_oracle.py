"""Prints what libclang says that messages and calls of Objective-C mean, a site a line, for `language_oracle`.

    python tests/benchmarks/edges/objc_oracle.py CLONE --headers DIR [...] > clone.jsonl

Needs the wheel `libclang`, and as DIR the headers of Foundation, AppKit, the runtime and the compiler (Debian:
`libgnustep-base-dev`, `libgnustep-gui-dev`, `libobjc-12-dev`, `libclang-common-14-dev`; unpacking them suffices).
Nothing is built. Frameworks of Apple are not there: a header that is missing is taken to be empty, and a type that
nothing declares becomes a class, a protocol, a pointer or a number, by how libclang misses it. What it says of types of
the repository is not touched by that; of what such a type of Apple inherits or gives it knows nothing.

Left out, by what libclang says and never by what is predicted:

- messages to a receiver of the type `id` or `Class` without a protocol: any class may get them. If no header declares
  their selector, and one method of the repository has it, that is what they mean; if none has it, nothing;
- messages to what is declared and implemented nowhere in what is parsed;
- messages and calls in the replacement of a macro, uses of `a.b`, which run accessors, and calls of blocks.

Files of Objective-C++ are not parsed.
"""

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ROUNDS = 12  # how often a file is parsed until nothing is missed
_FLAGS = [
    "-x", "objective-c", "-std=gnu11", "-fblocks", "-fobjc-arc", "-fobjc-runtime=gnustep-2.0", "-fobjc-exceptions",
    "-ferror-limit=0", "-w", "-DGNUSTEP=1", "-DGNUSTEP_BASE_LIBRARY=1", "-DGNU_GUI_LIBRARY=1", "-DGNU_RUNTIME=1",
    "-DNS_ASSUME_NONNULL_BEGIN=", "-DNS_ASSUME_NONNULL_END=", "-DNS_DESIGNATED_INITIALIZER=", "-DNS_UNAVAILABLE=",
    "-Wno-implicit-function-declaration", "-D__IPHONE_OS_VERSION_MIN_REQUIRED=150000", "-DNS_SWIFT_NAME(x)=",
    "-DNS_REQUIRES_SUPER=", "-DNS_NOESCAPE=", "-DNS_SWIFT_UNAVAILABLE(x)=", "-DNS_SWIFT_NOTHROW=",
    "-DNS_REFINED_FOR_SWIFT=",
]  # fmt: skip
_MISSED = re.compile(r"'([^']+)' file not found")
_SUPER = re.compile(r"cannot find interface declaration for '(\w+)'|attempting to use the forward class '(\w+)'")
_PROTOCOL = re.compile(r"cannot find protocol declaration for '(\w+)'")
_TYPE = re.compile(r"unknown type name '(\w+)'|use of undeclared identifier '([A-Z_k]\w*)'|unknown receiver '(\w+)'")
_IDENTIFIER = re.compile(r"use of undeclared identifier '(\w+)'")


_POINTER = re.compile(r"(\w+)\s*(?:<.*>)?\s*\*")


def _class_of(cursor: Any) -> str:
    """Return the class that an implementation or a category is of."""
    found = re.search(r"\(c[sy]\)(\w+)", cursor.get_usr())
    return found[1] if found else str(cursor.spelling)


def _nearest(path: str, places: list[tuple[str, int]]) -> tuple[str, int]:
    """Return the place that has most folders in common with a path: programs beside one another share names."""
    return max(sorted(places), key=lambda each: (each[0] == path, len(os.path.commonpath([path, each[0]]))))


class Unit:
    """Parser of the files of a clone, with what was missed so far."""

    def __init__(self, clone: Path, headers: list[Path], made: Path, under: str) -> None:
        from clang import cindex

        self.cindex, self.clone, self.made = cindex, clone, made
        self.index = cindex.Index.create()
        listed = subprocess.run(["git", "ls-files"], cwd=clone, capture_output=True, text=True, check=True)
        self.paths = listed.stdout.splitlines()
        self.sources = [each for each in self.paths if each.endswith(".m") and each.startswith(under)]
        self.headers: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            if path.endswith((".h", ".pch")):
                self.headers[path.rpartition("/")[2]].append(path)
        folders = sorted({str(Path(each).parent) for each in self.paths if each.endswith((".h", ".pch"))})
        self.flags = [*_FLAGS, f"-I{made}", *(f"-I{clone / each}" for each in folders)]
        self.flags += [f"-isystem{each}" for each in headers]
        text = "\n".join((clone / each).read_text(errors="replace") for each in self.paths
                         if each.endswith((".h", ".m", ".pch")) and (clone / each).is_file())  # fmt: skip
        self.text = text
        self.stubs: dict[str, str] = {}

    def parse(self, path: str) -> Any:
        """Return what libclang makes of a file when nothing more of it is missed."""
        for _ in range(_ROUNDS):
            stub = self.made / "all_stubs.h"
            stub.write_text("#import <Foundation/Foundation.h>\n" + "\n".join(self.stubs.values()) + "\n")
            unit = self.index.parse(str(self.clone / path), [*self.flags, "-include", str(stub)])
            if not self.learn(unit):
                break
        return unit

    def learn(self, unit: Any) -> bool:
        """Add stubs for what is missed, and return True if there are any that were not there."""
        new: dict[str, str] = {}
        for each in unit.diagnostics:
            if each.severity < self.cindex.Diagnostic.Error:
                continue
            text = each.spelling
            if missed := _MISSED.search(text):
                self._make_header(missed[1])
                new[missed[1]] = ""
            elif found := _PROTOCOL.search(text):
                new[f"P {found[1]}"] = f"@protocol {found[1]} <NSObject>\n@end"
            elif found := _SUPER.search(text):
                name = found[1] or found[2]
                new[name] = f"@interface {name} : NSObject\n@end"
            elif (found := _TYPE.search(text)) and (name := found[1] or found[2] or found[3]):
                new[name] = self._guess(name)
            elif found := _IDENTIFIER.search(text):
                new[found[1]] = f"extern long {found[1]};"
        fresh = {name: text for name, text in new.items() if name not in self.stubs and self._is_outside(name)}
        self.stubs.update(fresh)
        return bool(fresh)

    def _is_outside(self, name: str) -> bool:
        bare = name.removeprefix("P ")
        declared = rf"(?:@interface|@protocol|#\s*define)\s+{bare}\b(?!\s*\()(?!\s*;)"
        made = rf"\b{bare}\s*[=({{]|typedef[^;]*\b{bare}\s*\)?[^;]*;"
        return bare.endswith(".h") or not re.search(f"{declared}|{made}", self.text)

    def _guess(self, name: str) -> str:
        if re.search(rf"\b{name}\s*(?:<[^<>]*>)?\s*(?:\*|_N)|\[\s*{name}\s+\w|@class[^;]*\b{name}\b", self.text):
            return f"@interface {name} : NSObject\n@end"
        if re.search(rf"\b{name}\s+(?:\w+\s*[;,=)]|\(\^)|\(\s*{name}\s*\)", self.text):
            kind = "void *" if name.endswith("Ref") else "NSObject *" if name.startswith("dispatch_") else "long "
            return f"typedef {kind}{name};"
        return f"extern long {name};"

    def _make_header(self, written: str) -> None:
        target = self.made / written
        target.parent.mkdir(parents=True, exist_ok=True)
        known = self.headers.get(written.rpartition("/")[2])
        if target.exists() or target.is_symlink():
            return
        if known:
            target.symlink_to((self.clone / known[0]).resolve())
        else:
            target.write_text("#import <Foundation/Foundation.h>\n")


def read_sites(clone: Path, headers: list[Path], under: str, verbose: bool) -> Iterator[dict[str, Any]]:
    """Yield path, line and name of messages and calls, with the places of what they mean."""
    with tempfile.TemporaryDirectory() as made:
        yield from _read(Unit(clone.resolve(), headers, Path(made), under), verbose)


def _read(unit: Unit, verbose: bool) -> Iterator[dict[str, Any]]:
    kinds = unit.cindex.CursorKind
    methods = {kinds.OBJC_INSTANCE_METHOD_DECL, kinds.OBJC_CLASS_METHOD_DECL}
    containers = {kinds.OBJC_IMPLEMENTATION_DECL, kinds.OBJC_CATEGORY_IMPL_DECL}
    library = unit.cindex.conf.lib
    implemented: dict[str, list[tuple[str, int]]] = defaultdict(list)
    by_selector: dict[str, set[str]] = defaultdict(set)
    outside: set[str] = set()  # selectors that headers from outside declare
    above: dict[str, str] = {}  # class -> its superclass
    sites: dict[tuple[str, int, int, str], tuple[str, Any, str]] = {}  # usr, declared at, class
    lines: dict[str, list[bytes]] = {}
    missing: list[str] = []

    def place(cursor: Any) -> tuple[str, int, int] | None:
        line, column, offset = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        file_object = unit.cindex.c_object_p()
        library.clang_getFileLocation(cursor.location, ctypes.byref(file_object), ctypes.byref(line),
                                      ctypes.byref(column), ctypes.byref(offset))  # fmt: skip
        if not file_object:
            return None
        name = unit.cindex.File(file_object).name
        path = Path(name).resolve()
        if not path.is_relative_to(unit.clone):
            return None
        return path.relative_to(unit.clone).as_posix(), line.value, column.value

    def kind_of(cursor: Any) -> Any:
        try:
            return cursor.kind
        except ValueError:
            return None  # newer than the bindings

    def text_at(path: str, line: int, column: int) -> bytes:
        if path not in lines:
            lines[path] = (unit.clone / path).read_bytes().split(b"\n")
        return lines[path][line - 1][column - 1 :] if line <= len(lines[path]) else b""

    def walk(cursor: Any, in_class_method: bool, class_around: str) -> None:
        for child in cursor.get_children():
            kind = kind_of(child)
            if kind == kinds.OBJC_MESSAGE_EXPR:
                note_message(child, in_class_method, class_around)
            elif kind == kinds.CALL_EXPR:
                note_call(child)
            walk(child, kind == kinds.OBJC_CLASS_METHOD_DECL or (in_class_method and kind not in methods), class_around)

    def note_message(cursor: Any, in_class_method: bool, class_around: str) -> None:
        at = place(cursor)
        if at is None or not text_at(*at).startswith(b"["):
            return
        method, selector = cursor.referenced, cursor.spelling
        if not selector:
            return  # nothing that is parsed declares it
        first = next(iter(cursor.get_children()), None)
        written, receiver, is_self = "", kind_of(first) if first is not None else None, False
        is_open = method is None
        if first is not None and receiver is not None and receiver.is_expression():
            is_property = "pseudo" in first.type.spelling and first.referenced is not None
            of = first.referenced.type if is_property else first.type
            written = of.get_canonical().spelling.replace("__strong", "").replace("const", "").strip()
            written = re.sub(r"\b__\w+\b|_N\w+", "", written).strip()
            is_name = receiver in (kinds.DECL_REF_EXPR, kinds.UNEXPOSED_EXPR, kinds.OBJ_SELF_EXPR)
            is_self = is_name and first.spelling == "self"
            if written in ("id", "Class") and not (is_self and in_class_method):
                is_open = True
        if is_open or method is None:
            sites[*at, selector] = ("?", None, "")
            return
        named = _POINTER.fullmatch(written) if written else None
        name = first.spelling if first is not None and receiver == kinds.OBJC_CLASS_REF else named[1] if named else ""
        if re.match(rb"\[\s*super\b", text_at(*at)):
            name = above.get(class_around, "")
        elif is_self:
            name = class_around
        sites[*at, selector] = (method.get_usr(), place(method), name)

    def note_call(cursor: Any) -> None:
        function = cursor.referenced
        if function is None or kind_of(function) != kinds.FUNCTION_DECL:
            return
        at = place(cursor)
        name = function.spelling
        if at is None or not re.match(rb"%s\b" % re.escape(name.encode()), text_at(*at)):
            return
        sites[*at, name] = (function.get_usr(), place(function), "")

    def declare(cursor: Any, is_ours: bool) -> None:
        for child in cursor.get_children():
            if kind_of(child) in methods:
                if not is_ours:
                    outside.add(child.spelling)
                elif kind_of(cursor) in containers and (at := place(child)):
                    implemented[child.get_usr()].append(at[:2])
                    by_selector[child.spelling].add(child.get_usr())

    for source in unit.sources:
        tree = unit.parse(source)
        errors = [e for e in tree.diagnostics if e.severity >= unit.cindex.Diagnostic.Error]
        if errors:
            missing += [f"{each.location.file}:{each.location.line}: {each.spelling}" for each in errors]
        for cursor in tree.cursor.get_children():
            file = cursor.location.file
            at = place(cursor) if file is not None else None
            kind = kind_of(cursor)
            if kind in containers or kind in (
                kinds.OBJC_INTERFACE_DECL, kinds.OBJC_CATEGORY_DECL, kinds.OBJC_PROTOCOL_DECL,
            ):  # fmt: skip
                declare(cursor, at is not None)
            if kind == kinds.OBJC_INTERFACE_DECL:
                bases = [e.spelling for e in cursor.get_children() if kind_of(e) == kinds.OBJC_SUPER_CLASS_REF]
                if bases:
                    above[cursor.spelling] = bases[0]
            if at is None:
                continue
            if kind == kinds.FUNCTION_DECL and cursor.is_definition():
                implemented[cursor.get_usr()].append(at[:2])
            if kind in (*containers, kinds.FUNCTION_DECL):
                walk(cursor, False, _class_of(cursor) if kind in containers else "")
    for each in dict.fromkeys(missing) if verbose else ():
        sys.stderr.write(f"{each}\n")
    n_open = n_nowhere = 0
    for (path, line, _, name), (usr, declaration, receiver_class) in sorted(sites.items(), key=lambda each: each[0]):
        sign = "(cm)" if "(cm)" in usr else "(im)"
        own = receiver_class
        while own and f"c:objc(cs){own}{sign}{name}" not in implemented:
            own = above.get(own, "")
        if own:  # what runs, whether a header says so or not
            usr = f"c:objc(cs){own}{sign}{name}"
        if usr == "?":
            several = by_selector.get(name, set())
            if name in outside or len(several) > 1:
                n_open += 1
                continue
            targets = [_nearest(path, implemented[each]) for each in several]
        elif usr in implemented:
            targets = [_nearest(path, implemented[usr])]
        else:
            at = declaration
            is_protocol = "(pl)" in usr
            is_property = at is not None and text_at(at[0], at[1], 1).lstrip().startswith(b"@property")
            if at is not None and not (is_protocol or is_property):
                n_nowhere += 1
                if verbose:
                    sys.stderr.write(f"nowhere {at} {name}\n")
                continue
            targets = [at[:2]] if at is not None else []
        places = [list(each) for each in targets]
        yield {"path": path, "line": line, "name": name, "targets": places, "open": usr == "?"}
    sys.stderr.write(f"{len(sites)} sites, {n_open} open, {n_nowhere} implemented nowhere\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--headers", type=Path, nargs="+", required=True)
    parser.add_argument("--under", default="", help="parse only sources whose path begins like this")
    parser.add_argument("--verbose", action="store_true", help="print what libclang could not read")
    arguments = parser.parse_args()
    for site in read_sites(arguments.clone, arguments.headers, arguments.under, arguments.verbose):
        sys.stdout.write(json.dumps(site) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
