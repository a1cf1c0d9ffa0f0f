"""Gold edges from PyCG's micro-benchmark: small programs, each with a call graph that people wrote.

    python tests/benchmarks/edges/pycg_oracle.py CHECKOUT --commit SHA --out GOLD

Every folder with a `callgraph.json` is a repository of its own. Kept are edges between definitions of its files. What a
lambda calls is called by the function around it; a class body that is run where it stands is no call, and neither right
nor wrong. Where `C.__init__` is called, making a class that inherits it is right as well. Their graphs have no edge
where a class without a constructor is made, because no code of the snippet runs there; here that is a call of the
class, and neither right nor wrong.
"""

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from python_oracle import MODULE, Tree  # beside this file

BELOW = "micro-benchmark/snippets"
_LAMBDA = re.compile(r"<lambda\d*>$")


def split(name: str, modules: dict[str, str]) -> tuple[str, list[str]] | None:
    """(file, names inside of it) of a dotted name, by the longest module; None outside of the files."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        if module in modules:
            return modules[module], parts[end:]
    return None


def heirs(tree: Tree, name: str) -> set[str]:
    """Classes that inherit the constructor of the class `name`."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        base = waiting.pop()
        for path, file in tree.files.items():
            for site in file.bases:
                heir = f"{path}:{site.source}"
                if site.name == base and heir not in found and f"{site.source}.__init__" not in file.by_name:
                    found.add(heir)
                    waiting.append(site.source.rpartition(".")[2])
    return found


def without_constructor(tree: Tree) -> dict[str, list[str]]:
    """Classes that neither define nor inherit a constructor, as `path:Qual.name`, by their last name."""
    own = {
        name.rpartition(".")[0] for file in tree.files.values() for name in file.by_name if name.endswith(".__init__")
    }
    made = {f"{path}:{name}" for path, file in tree.files.items() for name in file.by_name if file.by_name[name]}
    having = {each for each in made if each.partition(":")[2] in own}
    for name in sorted(own):
        having |= heirs(tree, name.rpartition(".")[2])
    found: dict[str, list[str]] = {}
    for each in sorted(made - having):
        found.setdefault(each.partition(":")[2].rpartition(".")[2], []).append(each)
    return found


def makings(tree: Tree, prefix: str) -> Iterator[dict[str, object]]:
    """Calls by name of classes without a constructor."""
    classes = without_constructor(tree)
    for path, file in sorted(tree.files.items()):
        found = {(site.source, each) for site in file.calls for each in classes.get(site.name, ())}
        for source, target in sorted(found):
            yield {
                "kind": "calls",
                "src": f"{prefix}/{path}:{source}",
                "dst": f"{prefix}/{target}",
                "n": 1,
                "by": "ast",
                "cat": prefix.partition("/")[0],
                "opt": True,
            }


def edges(folder: Path, prefix: str) -> Iterator[dict[str, object]]:
    tree = Tree(folder, [])
    modules = {path[:-3].replace("/", "."): path for path in tree.files}
    modules |= {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph = json.loads((folder / "callgraph.json").read_text("utf-8"))
    for source, targets in graph.items():
        start = split(source, modules)
        for target in targets:
            end = split(target, modules)
            if start is None or end is None or not end[1] or any(part.startswith("<") for part in end[1]):
                continue  # builtin, external, a module or a lambda
            around = [part for part in start[1] if not _LAMBDA.match(part)]
            name = ".".join(end[1])
            row: dict[str, object] = {
                "kind": "calls",
                "src": f"{prefix}/{start[0]}:{'.'.join(around) or MODULE}",
                "dst": f"{prefix}/{end[0]}:{name}",
                "n": 1,
                "by": "hand",
                "cat": prefix.partition("/")[0],
            }
            if tree.files[end[0]].by_name.get(name) and (start[0], [*around, end[1][-1]]) == end:
                row["opt"] = True
            if end[1][-1] == "__init__" and len(end[1]) > 1 and (others := heirs(tree, end[1][-2])):
                row["alt"] = sorted(f"{prefix}/{each}" for each in others)
            yield row
    yield from makings(tree, prefix)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    root = arguments.checkout / BELOW
    rows: list[dict[str, object]] = []
    files: list[str] = []
    for graph in sorted(root.rglob("callgraph.json")):
        prefix = graph.parent.relative_to(root).as_posix()
        try:
            rows += edges(graph.parent, prefix)
        except ValueError as error:
            sys.stderr.write(f"{graph}: {error}\n")
            continue
        files += [path.relative_to(root).as_posix() for path in sorted(graph.parent.rglob("*.py"))]
    unique = {(row["src"], row["dst"]): row for row in reversed(rows)}
    meta = {
        "repo": "vitsalis/PyCG",
        "commit": arguments.commit,
        "engines": ["hand"],
        "below": BELOW,
        "per_snippet": True,
        "files": sorted(files),
    }
    with gzip.open(arguments.out, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in [{"meta": meta}, *(unique[key] for key in sorted(unique))])
    sys.stdout.write(f"{len(unique)} edges of {len(files)} files\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
