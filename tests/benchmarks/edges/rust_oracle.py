"""The compiler's own answer to which function a Rust call runs: MIR -> gold for `python -m tests.benchmarks.edges`.

    cargo +nightly rustc --lib --profile test -- -Zunpretty=mir -Zmir-include-spans=on -Ztrim-diagnostic-paths=no \\
        -Zmir-opt-level=0 > crate.mir
    python -m tests.benchmarks.edges.rust_oracle TREE crate.mir --repo OWNER/NAME --commit SHA --out NAME.jsonl.gz

TREE is the folder that cargo ran in or above it (`--below` names cargo's folder inside of TREE). A call counts where
its source spells the name of the method: operators, `?`, loops and implicit dereferencing are no calls. A method of a
known type is its `impl`'s, of a type parameter or `dyn` the trait's. What the compiler leaves out (other platforms'
code, features) is listed as `uncovered`. Invocations of the crate's macros and constructors of tuple structs are
optional: MIR does not show them as calls. Names and positions are read with plain tree-sitter, not with Causalist's
parser.
"""

import argparse
import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tree_sitter
import tree_sitter_rust

_SPAN = re.compile(r"// (?:return place )?(?:in )?scope \d+ at (.+?):(\d+):(\d+): (\d+):(\d+)$")
_NAME = re.compile(r"r#\w+|\w+")
_FUNCTIONS = ("function_item", "function_signature_item")


class Span(NamedTuple):
    file: str
    start: tuple[int, int]
    end: tuple[int, int]


class Method(NamedTuple):
    """A function: `name` as edges call it; `type` and `trait` of its block, "" outside of one."""

    file: str
    name: str
    leaf: str
    type: str
    trait: str
    is_trait_item: bool
    module: tuple[str, ...]


class Sources:
    """Definitions and call sites of a crate's files, read with plain tree-sitter."""

    def __init__(self, tree: Path, files: list[str]) -> None:
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
        self.data = {file: (tree / file).read_bytes() for file in files}
        self.trees = {file: parser.parse(data) for file, data in self.data.items()}
        self.lines = {file: data.split(b"\n") for file, data in self.data.items()}
        self.methods: dict[str, list[Method]] = defaultdict(list)
        self.traits: set[str] = set()
        self.types: dict[str, set[str]] = defaultdict(set)
        self.macros: dict[str, list[str]] = defaultdict(list)
        self.constructors: dict[str, list[str]] = defaultdict(list)
        self.top: set[str] = set()  # names at the crate's root: other paths begin with another crate
        for file, each in self.trees.items():
            for node in walk(each.root_node):
                name = node.child_by_field_name("name")
                if node.parent == each.root_node and name is not None and Path(file).stem in ("lib", "main"):
                    self.top.add(text(name))
                if node.type in _FUNCTIONS:
                    method = self._method(file, node)
                    self.methods[method.leaf].append(method)
                elif node.type == "trait_item" and name is not None:
                    self.traits.add(text(name))
                elif node.type in ("struct_item", "enum_item", "union_item") and name is not None:
                    self.types[text(name)].add(file)
                    self.constructors[text(name)].append(f"{file}:{self.qualname(node)}")
                elif node.type == "macro_definition" and name is not None:
                    self.macros[text(name)].append(f"{file}:{self.qualname(node)}")

    def _method(self, file: str, node: tree_sitter.Node) -> Method:
        name = node.child_by_field_name("name")
        assert name is not None
        around = node.parent.parent if node.parent is not None else None
        kind, trait, is_trait_item = "", "", False
        if around is not None and around.type == "impl_item":
            kind, trait = impl_names(around)
        elif around is not None and around.type == "trait_item":
            kind = trait = text(around.child_by_field_name("name"))
            is_trait_item = True
        return Method(file, self.qualname(node), text(name), kind, trait, is_trait_item, modules_around(node))

    def qualname(self, node: tree_sitter.Node | None) -> str:
        parts: list[str] = []
        while node is not None:
            if node.type == "impl_item":
                kind, trait = impl_names(node)
                parts.append(trait if is_for_all(node) else kind)
            elif node.type in (
                *_FUNCTIONS, "mod_item", "trait_item", "struct_item", "enum_item", "union_item", "macro_definition",
            ):  # fmt: skip
                parts.append(text(node.child_by_field_name("name")))
            node = node.parent
        return ".".join(reversed(parts))

    def around(self, span: Span, kinds: tuple[str, ...]) -> tree_sitter.Node | None:
        """The innermost node of these kinds that holds a span."""
        if span.file not in self.trees:
            return None
        (r1, c1), (r2, c2) = self._bytes(span.file, span.start), self._bytes(span.file, span.end)
        node = self.trees[span.file].root_node.descendant_for_point_range((r1, c1), (r2, c2))
        while node is not None and node.type not in kinds:
            node = node.parent
        return node

    def _bytes(self, file: str, at: tuple[int, int]) -> tuple[int, int]:
        """Row and byte of a 1-based line and character."""
        row, column = at[0] - 1, at[1] - 1
        line = self.lines[file][row].decode("utf-8", "replace") if row < len(self.lines[file]) else ""
        return row, len(line[:column].encode())

    def spells(self, span: Span, leaf: str) -> bool:
        """Whether the source of a call names the method."""
        (r1, c1), (r2, c2) = self._bytes(span.file, span.start), self._bytes(span.file, span.end)
        lines = self.lines[span.file][r1 : r2 + 1]
        if not lines:
            return False
        lines[-1] = lines[-1][:c2]
        lines[0] = lines[0][c1:]
        source = b"\n".join(lines).decode("utf-8", "replace")
        return bool(re.search(rf"\b{re.escape(leaf)}\s*(?:::\s*<.*>\s*)?\(", source, re.DOTALL))


def walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        stack.extend(reversed(each.children))


def text(node: tree_sitter.Node | None) -> str:
    return node.text.decode("utf-8", "replace").removeprefix("r#") if node is not None and node.text else ""


def last_name(written: str) -> str:
    """`&'a mut a::B<T>` -> B; "" for a tuple, slice or function."""
    bare = re.sub(r"^(?:[&*]\s*|'\w+\s+|mut\s+|const\s+|dyn\s+|impl\s+|for<[^>]*>\s*)+", "", written.strip())
    matched = re.match(r"(?:\w+::)*(\w+)", bare)
    return matched[1] if matched else ""


def impl_names(node: tree_sitter.Node) -> tuple[str, str]:
    """(last name of the type, of the trait or "")."""
    trait = node.child_by_field_name("trait")
    return last_name(text(node.child_by_field_name("type"))), last_name(text(trait)) if trait is not None else ""


def is_for_all(node: tree_sitter.Node) -> bool:
    """Whether an impl of a trait is for a type parameter, or for a type without a name."""
    kind, trait = impl_names(node)
    parameters = node.child_by_field_name("type_parameters")
    names = [text(p.child_by_field_name("name")) for p in parameters.named_children] if parameters is not None else []
    return bool(trait) and (not kind or kind in names)


def modules_around(node: tree_sitter.Node) -> tuple[str, ...]:
    found: list[str] = []
    above = node.parent
    while above is not None:
        if above.type == "mod_item":
            found.append(text(above.child_by_field_name("name")))
        above = above.parent
    return tuple(reversed(found))


def bodies(mir: str) -> Iterator[tuple[str, list[str]]]:
    """(header, lines) of each function, constant or closure in a dump of MIR."""
    header, lines = "", []
    for line in mir.split("\n"):
        if line and not line[0].isspace() and line.rstrip().endswith("{"):
            header, lines = line, []
        elif line.startswith("}"):
            yield header, lines
        else:
            lines.append(line)


def span_of(line: str, below: str) -> Span | None:
    matched = _SPAN.search(line)
    if matched is None:
        return None
    path, *numbers = matched.groups()
    a, b, c, d = map(int, numbers)
    return Span(f"{below}{path}", (a, b), (c, d))


def callee(line: str) -> str:
    """The path that a terminator calls, or ""."""
    if " -> " not in line:
        return ""
    rest = line.strip()
    assigned = re.match(r"(?:[^=<]|\([^=]*\))* = ", rest)
    rest = rest[assigned.end() :] if assigned else rest
    depth = 0
    for i, character in enumerate(rest):
        if character in "<[{":
            depth += 1
        elif (character == ">" and rest[i - 1] != "-") or character in "]}":
            depth -= 1
        elif character == "(" and depth == 0:
            found = rest[:i]
            is_value = re.match(r"(?:move|copy|const)\b", found)
            return "" if is_value or not found or found in ("assert", "drop", "switchInt", "falseEdge") else found
    return ""


def split_qualified(path: str) -> tuple[str, str, str] | None:
    """(type, trait without arguments, method) of `<Type as Trait<..>>::method`."""
    if not path.startswith("<"):
        return None
    depth, split = 0, -1
    for i, character in enumerate(path):
        if character in "<([{":
            depth += 1
        elif (character == ">" and path[i - 1] != "-") or character in ")]}":
            depth -= 1
            if not depth:
                break
        elif depth == 1 and path.startswith(" as ", i):
            split = i
    leaf = re.match(r"::(\w+)", path[i + 1 :])
    if split < 0 or leaf is None:
        return None
    return path[1:split], path[split + 4 : i].partition("<")[0], leaf[1]


def without_generics(path: str) -> str:
    result, depth = [], 0
    for i, character in enumerate(path):
        if character == "<":
            depth += 1
        elif character == ">" and path[i - 1] != "-":
            depth -= 1
        elif not depth:
            result.append(character)
    return re.sub(r"(?:::)+", "::", "".join(result)).strip(":")


def target(path: str, sources: Sources, near: str) -> list[Method]:
    """The methods of the crate that a printed path may mean: none for those of other crates."""
    qualified = split_qualified(path)
    if qualified is not None:
        kind, full_trait, leaf = qualified
        trait = full_trait.split("::")[-1]
        if full_trait.split("::")[0] not in sources.top:
            own = [m for m in sources.methods.get(leaf, ()) if m.type == last_name(kind) and m.trait == trait]
            return own if last_name(kind) in sources.types else []
        found = [m for m in sources.methods.get(leaf, ()) if m.trait == trait]
        if not found:
            return []
        written = last_name(kind)
        blocks = [m for m in found if not m.is_trait_item]
        is_parameter = kind.startswith(("dyn ", "impl ")) or (
            re.fullmatch(r"&?(?:mut )?[A-Z]\w*", kind) and written not in sources.types
        )
        if not is_parameter:
            own = [m for m in blocks if m.type == written]
            if own:
                return own[:1] if len({m.name for m in own}) == 1 and len({m.file for m in own}) == 1 else own
            every = [m for m in blocks if m.name.split(".")[-2:-1] == [m.trait]]
            if every and not any(m.is_trait_item for m in found):
                return every
            if every:
                return every + [m for m in found if m.is_trait_item]
        return [m for m in found if m.is_trait_item]
    block = re.search(r"<impl (.+)>::(\w+)(?:::<.*>)?$", path)  # of a type that another module defines
    if block:
        if path.split("::")[0] not in sources.top:
            return []
        kind, modules = last_name(block[1]), path[: block.start()].strip(":").split("::")
        own = [m for m in sources.methods.get(block[2], ()) if m.type == kind and not m.trait]
        return [m for m in own if in_modules(m, modules)] or own
    plain = without_generics(path)
    parts = plain.split("::")
    if parts[0] not in sources.top:
        return []
    leaf = parts[-1]
    candidates = [m for m in sources.methods.get(leaf, ()) if not m.is_trait_item]
    if len(parts) > 1 and (parts[-2] in sources.types or any(m.type == parts[-2] for m in candidates)):
        own = [m for m in candidates if m.type == parts[-2] and not m.trait]
        own = own or [m for m in sources.methods.get(leaf, ()) if m.is_trait_item and m.trait == parts[-2]]
        if len({m.file for m in own}) > 1 and len(parts) > 2:
            stem = parts[-3]
            own = [m for m in own if stem in (Path(m.file).stem, Path(m.file).parent.name) or stem in m.module] or own
        return own
    free = [m for m in candidates if not m.type]
    return [m for m in free if fits(m, parts[:-1])]


def in_modules(method: Method, modules: list[str]) -> bool:
    path = [*Path(method.file).with_suffix("").parts, *method.module]
    return [p for p in path if p not in ("mod", "lib", "main")][-len(modules) :] == modules


def fits(method: Method, modules: list[str]) -> bool:
    """Whether the modules of a printed path end as the file and inline modules of a free function do."""
    outer = method.name.split(".")[:-1]
    path = [*Path(method.file).with_suffix("").parts]
    if path and path[-1] in ("mod", "lib", "main"):
        path.pop()
    if not modules:
        return not outer and Path(method.file).stem in ("lib", "main")
    return [*path, *outer][-len(modules) :] == modules


def gold(tree: Path, below: str, mir: str) -> Iterator[dict[str, object]]:
    """The rows of a gold file but for `meta`; the first one holds what the compiler saw."""
    seen = {s.file for _, ls in bodies(mir) for line in ls if (s := span_of(line, below)) and (tree / s.file).is_file()}
    # The root says what the crate's paths begin with; it may hold no code.
    roots = {
        (folder / name).as_posix() for file in seen for folder in Path(file).parents for name in ("lib.rs", "main.rs")
    }
    files = sorted(seen | {root for root in roots if (tree / root).is_file()})
    sources = Sources(tree, files)
    edges: dict[tuple[str, str], int] = defaultdict(int)
    alternatives: dict[tuple[str, str], list[str]] = {}
    unknown: set[tuple[str, str]] = set()
    covered: set[str] = set()
    for _, lines in bodies(mir):
        own = next((s for line in lines if "return place" in line and (s := span_of(line, below))), None)
        if own is None or own.file not in sources.trees:
            continue
        body = sources.around(own, ("function_item", "attribute_item", "macro_definition"))
        if body is not None and body.type == "attribute_item":
            continue  # derived
        is_macro = body is not None and body.type == "macro_definition"
        source = (
            f"{own.file}:{sources.qualname(body) or '<module>'}"
            if body is not None and not is_macro
            else f"{own.file}:<module>"
        )
        if is_macro:
            continue  # made by a macro: what it calls is seen at the other bodies
        covered.add(source)
        for line in lines:
            path = callee(line)
            span = span_of(line, below)
            if not path or span is None or span.file not in sources.trees:
                continue
            qualified = split_qualified(path)
            leaf = [qualified[2]] if qualified else _NAME.findall(without_generics(path))[-1:]
            if not leaf:
                continue
            macro = sources.around(span, ("macro_definition",))
            start = f"{span.file}:{sources.qualname(macro)}" if macro is not None else source
            if not sources.spells(span, leaf[0]):
                continue
            found = sorted({f"{m.file}:{m.name}" for m in target(path, sources, span.file)})
            if len(found) == 1:
                edges[start, found[0]] += 1
            elif found:
                edges[start, found[0]] += 1
                alternatives[start, found[0]] = found[1:]
    optional: set[tuple[str, str]] = set()
    functions: set[str] = set()
    for file, each in sources.trees.items():
        for node in walk(each.root_node):
            if node.type in ("function_item", "macro_definition"):
                functions.add(f"{file}:{sources.qualname(node)}")
            names: dict[str, list[str]] = {}
            called = None
            if node.type == "macro_invocation":
                called, names = node.child_by_field_name("macro"), sources.macros
            elif node.type == "call_expression":
                called, names = node.child_by_field_name("function"), sources.constructors
            elif node.type == "identifier" and node.parent is not None and node.parent.type == "token_tree":
                called, names = node, {**sources.macros, **sources.constructors}
            leaf_name = text(called).split("::")[-1]
            if leaf_name == "Self":
                above = node.parent
                while above is not None and above.type != "impl_item":
                    above = above.parent
                leaf_name = impl_names(above)[0] if above is not None else ""
            if called is None or leaf_name not in names:
                continue
            holder: tree_sitter.Node | None = node
            while holder is not None and holder.type not in ("function_item", "macro_definition", "mod_item"):
                holder = holder.parent
            start = f"{file}:{sources.qualname(holder) or '<module>'}"
            optional.update((start, end) for end in names[leaf_name])
    covered |= {start for start, _ in edges}
    meta = {"files": files, "uncovered": sorted(functions - covered)}
    yield {"meta": meta}
    for (start, end), n in sorted(edges.items()):
        row: dict[str, object] = {"kind": "calls", "src": start, "dst": end, "n": n, "cat": "", "by": "rustc"}
        if (start, end) in alternatives:
            row["alt"] = alternatives[start, end]
        yield row
    for start, end in sorted(optional - set(edges)):
        yield {"kind": "calls", "src": start, "dst": end, "opt": 1, "by": "syntax"}
    for start, name in sorted(unknown):
        yield {"kind": "calls", "src": start, "unknown": name}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("mir", type=Path, nargs="+")
    parser.add_argument("--below", default="")
    parser.add_argument("--repo", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    below = f"{arguments.below.rstrip('/')}/" if arguments.below else ""
    mir = "\n".join(path.read_text(encoding="utf-8") for path in arguments.mir)
    rows = list(gold(arguments.tree, below, mir))
    meta = rows[0]["meta"]
    assert isinstance(meta, dict)
    meta.update(repo=arguments.repo, commit=arguments.commit, engines=["rustc"])
    with gzip.open(arguments.out, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    sys.stdout.write(f"{sum('n' in row for row in rows)} edges of {len(meta['files'])} files\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
