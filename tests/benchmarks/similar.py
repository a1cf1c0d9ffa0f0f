"""Precision and recall of `similar` on copies that are planted in real repositories.

    python -m tests.benchmarks.similar FOLDER... [--copies 60] [--seed 7] [--keep]

Each FOLDER is a checkout. Definitions of it, chosen at random, are copied into new files of a second checkout, each
as one of four kinds of clones: the same text with other comments and blank lines (1), with all local names, its own
name and all literals replaced (2), with statements inserted, deleted and swapped (3), and both (2+3). Recall is the
share of copies that are found with their original, precision the share of copies whose most similar definition is
the original or one that the original is a copy of before anything is planted.

    python -m tests.benchmarks.similar FOLDER... --drawn 12500 [25000 ...]

The processor time of `similar --all --tests` over so many definitions, drawn with the seed, beside their number, and
a digest of the first 20 clusters, which tells whether two versions find the same. The index is loaded before.
"""

import argparse
import hashlib
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tree_sitter

from causalist.index.source_text import SourceText
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, split_id
from causalist.navigate import select_definitions
from causalist.navigate.similar import find_clusters, find_similar
from causalist.parse import parse_tree
from causalist.pipeline.repository import Repository

KINDS = ("1", "2", "3", "2+3")
_LEAST = 0.7
_EDITS = 0.15  # of the statements, at least one
_BODIES = ("block", "body", "compound_statement", "statement_list")
_WRAPPERS = {".java": ("class Planted{n} {{\n", "\n}}\n"), ".go": ("package planted\n\n", "\n")}


class Planted(NamedTuple):
    """A copy: where it is, its kind, and the original."""

    path: str
    name: str
    kind: str
    original: str


def leaves(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if not node.children:
        yield node
    for child in node.children:
        yield from leaves(child)


def statements(node: tree_sitter.Node, start: int, end: int) -> list[list[tree_sitter.Node]]:
    """Return the statements of each body in a span, without those that share a line with others."""
    found: list[list[tree_sitter.Node]] = []
    if any(part in node.type for part in _BODIES) and node.start_byte > start and node.end_byte <= end:
        inside = [child for child in node.named_children if "comment" not in child.type]
        rows = [child.start_point[0] for child in inside]
        if len(inside) > 2 and len(set(rows)) == len(rows):
            found.append(inside)
    for child in node.children:
        found += statements(child, start, end)
    return found


def replaced(data: bytes, edits: list[tuple[int, int, bytes]], start: int, end: int) -> bytes:
    parts, at = [], start
    for first, last, text in sorted(edits):
        if first >= at:
            parts += [data[at:first], text]
            at = last
    return b"".join([*parts, data[at:end]])


def edit_statements(data: bytes, node: tree_sitter.Node, start: int, end: int, rng: random.Random) -> bytes | None:
    bodies = statements(node, start, end)
    if not bodies:
        return None
    n_edits = max(1, round(_EDITS * sum(map(len, bodies))))
    every = [each for body in bodies for each in body]
    edits: list[tuple[int, int, bytes]] = []
    taken: list[tuple[int, int]] = []
    for _ in range(n_edits * 4):
        if len(edits) >= n_edits:
            break
        body = rng.choice(bodies)
        i = rng.randrange(len(body) - 1)
        what = rng.choice(("insert", "delete", "swap"))
        one, other = body[i], body[i + 1]
        span = (one.start_byte, other.end_byte if what == "swap" else one.end_byte)
        if any(span[0] < last and first < span[1] for first, last in taken):
            continue
        text = data[one.start_byte : one.end_byte]
        if what == "swap":
            between = data[one.end_byte : other.start_byte]
            new = data[other.start_byte : other.end_byte] + between + text
        elif what == "insert":
            more = rng.choice(every)
            indent = data[data.rfind(b"\n", 0, one.start_byte) + 1 : one.start_byte]
            if b"\n" in data[more.start_byte : more.end_byte] or indent.strip():
                continue
            tail = b";" if data[more.end_byte : more.end_byte + 1] == b";" else b""
            new = data[more.start_byte : more.end_byte] + tail + b"\n" + indent + text
        else:
            if len(body) < 3 or (span[1] - span[0]) > (end - start) // 4:
                continue
            new = b"pass" if node.type == "module" and len(body) < 4 else b""
        taken.append(span)
        edits.append((*span, new))
    return replaced(data, edits, start, end) if edits else None


def rename(data: bytes, start: int, end: int, path: str, own: str, rng: random.Random) -> bytes:
    """Return the span with other names for all that is local, its own name, and other literals."""
    parsed = parse_tree(path, data)
    assert parsed is not None
    tokens = [leaf for leaf in leaves(parsed[1].root_node) if start <= leaf.start_byte < leaf.end_byte <= end]
    texts = [data[leaf.start_byte : leaf.end_byte] for leaf in tokens]
    local: set[bytes] = {own.encode()}
    fixed: set[bytes] = {b"self", b"this", b"cls", b"super", b"err", b"nil", b"None"}
    for i, (leaf, text) in enumerate(zip(tokens, texts, strict=True)):
        before, after = texts[i - 1] if i else b"", texts[i + 1] if i + 1 < len(texts) else b""
        if leaf.type == "identifier" and leaf.is_named:
            if before in (b".", b"->", b"::") or after == b"(":
                fixed.add(text)
            else:
                local.add(text)
    local = {text for text in local if text not in fixed or text == own.encode()}
    names = {text: b"%s%d" % (rng.choice((b"val", b"item", b"tmp", b"obj")), i) for i, text in enumerate(sorted(local))}
    edits = []
    for leaf, text in zip(tokens, texts, strict=True):
        if "identifier" in leaf.type and text in names:
            edits.append((leaf.start_byte, leaf.end_byte, names[text]))
        elif leaf.is_named and re.fullmatch(rb"\d+", text):
            edits.append((leaf.start_byte, leaf.end_byte, b"%d" % (int(text) + rng.randrange(1, 90))))
        elif leaf.type in ("string_content", "string_fragment", "interpreted_string_literal_content"):
            edits.append((leaf.start_byte, leaf.end_byte, b"planted %d" % rng.randrange(1000)))
    return replaced(data, edits, start, end)


def add_comments(text: bytes, path: str, rng: random.Random) -> bytes:
    mark = b"#" if path.endswith(".py") else b"//"
    lines = []
    for line in text.split(b"\n"):
        if line.strip().startswith(mark):
            continue
        lines.append(line)
        if (
            rng.random() < 0.2
            and line.rstrip().endswith((b";", b"{", b")"))
            and b"`" not in text
            and b'"""' not in text
        ):
            lines.append(b"")
    return b"\n".join(lines)


def dedent(text: bytes) -> bytes:
    """Return a definition as far to the left as its last lines allow; its first line has no indentation."""
    lines = text.split(b"\n")
    depths = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    least = min(depths, default=0)
    return b"\n".join([lines[0], *(line[least:] for line in lines[1:])])


def plant(folder: Path, target: Path, n_copies: int, rng: random.Random) -> list[Planted]:
    """Copy the checkout and plant copies of definitions in it."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns(".git", ".causalist"))
    repository = Repository.open(folder, exact_root=True)
    graph = repository.index.graph
    read = SourceText(repository.index.manifest, repository.read).read_bytes
    callables = select_definitions(graph, min_lines=8, roles=(Role.CODE,), kinds=tuple(CALLABLE_KINDS))
    chosen = [n for n in callables.tolist() if graph.kind(n) is not NodeKind.HANDLER]
    rng.shuffle(chosen)
    planted: list[Planted] = []
    for node in chosen:
        if len(planted) >= n_copies:
            break
        kind = KINDS[len(planted) % len(KINDS)]
        path, symbol = split_id(graph.nodes.ids[node])
        name = (symbol or "").rpartition(".")[2].partition("~")[0]
        data, start, end = read(path), int(graph.nodes.start_bytes[node]), int(graph.nodes.end_bytes[node])
        parsed = parse_tree(path, data)
        if parsed is None or not name.isidentifier() or end - start < 200:
            continue
        text: bytes | None = data[start:end]
        if "3" in kind:
            text = edit_statements(data, parsed[1].root_node, start, end, rng)
        if text is None:
            continue
        if "2" in kind:
            text = rename(text if kind == "2+3" else data[start:end], 0, len(text), path, name, rng)
        if kind == "1":
            text = add_comments(text, path, rng)
        suffix = Path(path).suffix
        if suffix == ".py":
            text = dedent(text)
        before, after = _WRAPPERS.get(suffix, ("", "\n"))
        n = len(planted)
        relative = f"planted/p{n}{suffix}"
        place = target / Path(path).parent / f"planted_{n}{suffix}"
        place.write_bytes(before.format(n=n).encode() + text + after.format().encode())
        relative = place.relative_to(target).as_posix()
        planted.append(Planted(relative, name, kind, graph.nodes.ids[node]))
    return planted


def measure(folder: Path, n_copies: int, seed: int, *, keep: bool) -> None:
    rng = random.Random(f"{seed} {folder.name}")
    place = Path(tempfile.mkdtemp(prefix="planted-"))
    target = place / folder.name
    planted = plant(folder, target, n_copies, rng)
    repository = Repository.open(target, exact_root=True)
    graph = repository.index.graph
    read = SourceText(repository.index.manifest, repository.read).read_bytes
    others = select_definitions(graph, min_lines=6, roles=(Role.CODE,))
    kinds = graph.nodes.kinds
    others = others[~np.isin(kinds[others], sorted(TYPE_KINDS))]
    ids = graph.nodes.ids
    hidden = {each.path for each in planted}
    n_found, n_best, n_all, n_any = (dict.fromkeys(KINDS, 0) for _ in range(4))
    for each in planted:
        inside = [n for n in others.tolist() if split_id(ids[n])[0] == each.path]
        if not inside:
            continue  # edits may leave less than six lines, or none that a grammar reads
        n_all[each.kind] += 1
        rest = np.array([n for n in others.tolist() if n in inside or split_id(ids[n])[0] not in hidden])
        pairs = find_similar(graph, read, np.array(inside[:1]), rest, min_similarity=_LEAST)
        pairs = tuple(sorted(pairs, key=lambda pair: -pair.similarity))  # not the one that is merged most probably
        partners = [pair.other.node if pair.one.path == each.path else pair.one.node for pair in pairs]
        original = ids.position(each.original)
        relatives = {each.original}
        if partners and each.original not in partners[:1]:
            before = find_similar(
                graph, read, np.array([original]), rest[~np.isin(rest, inside)], min_similarity=_LEAST
            )
            relatives |= {pair.other.node for pair in before} | {pair.one.node for pair in before}
        n_found[each.kind] += each.original in partners
        n_any[each.kind] += bool(partners)
        n_best[each.kind] += bool(partners) and partners[0] in relatives
        if keep and each.original not in partners:
            print("missed", each.kind, target / each.path, each.original, [f"{p.similarity:.2f}" for p in pairs][:3])
        elif keep and partners[0] not in relatives:
            print("other", each.kind, target / each.path, each.original, partners[0], f"{pairs[0].similarity:.2f}")
    for kind in KINDS:
        print(
            f"{folder.name:<10} type {kind:<4} {n_all[kind]:>3} copies"
            f"  recall {n_found[kind] / max(1, n_all[kind]):.3f}"
            f"  precision of the best {n_best[kind] / max(1, n_any[kind]):.3f}"
        )
    if not keep:
        shutil.rmtree(place)


def measure_time(folder: Path, numbers: list[int], seed: int) -> None:
    repository = Repository.open(folder, exact_root=True)
    graph = repository.index.graph
    every = select_definitions(graph, min_lines=6, roles=(Role.CODE, Role.TEST))
    for n in numbers:
        read = SourceText(repository.index.manifest, repository.read).read_bytes
        nodes = np.sort(np.random.default_rng(seed).choice(every, min(n, len(every)), replace=False))
        start = time.process_time()
        clusters, n_clusters = find_clusters(graph, read, nodes, min_similarity=_LEAST, limit=20)
        seconds = time.process_time() - start
        digest = hashlib.sha256(repr(clusters).encode()).hexdigest()[:12]
        print(f"{folder.name:<10} {len(nodes)} of {len(every)} definitions  {seconds:.1f} s of CPU", end="  ")
        print(f"{n_clusters} clusters, the first 20 are {digest}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--copies", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", action="store_true", help="Keep the folders and name what was missed.")
    parser.add_argument("--drawn", nargs="+", type=int, help="Measure the time for so many definitions instead.")
    options = parser.parse_args()
    for folder in options.folders:
        if options.drawn:
            measure_time(folder.resolve(), options.drawn, options.seed)
            continue
        measure(folder.resolve(), options.copies, options.seed, keep=options.keep)


if __name__ == "__main__":
    main()
