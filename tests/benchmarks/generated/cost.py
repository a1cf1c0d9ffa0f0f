"""Cost of the index of each repository: processor time, nodes, edges, bytes of source and of the index, as JSON lines.

    python -m tests.benchmarks.generated.cost CLONES OUT.jsonl [--list FILE] [--python PATH]

CLONES holds work trees, one a folder `owner+name`. Each index is built anew by one process with an empty cache; run it
with PYTHONPATH of another version to compare. PYTHONPATH is passed on.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_LIST = Path(__file__).parent / "repositories.txt"


def measure(root: Path, python: str) -> dict[str, object]:
    """Return what the index of one folder costs."""
    shutil.rmtree(root / ".causalist", ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [python, "-m", "causalist", "index", "--repo", root, "--json", "--processes", "1"],
            capture_output=True, check=False, env={**os.environ, "XDG_CACHE_HOME": cache},
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = json.loads(done.stdout) if done.returncode == 0 else {}
    index = root / ".causalist" / "index.bin"
    found = {
        "repository": root.name.replace("+", "/"),
        "seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "files": said.get("repository", {}).get("files", 0),
        "nodes": said.get("repository", {}).get("nodes", 0),
        "edges": said.get("repository", {}).get("edges", 0),
        "bytes": sum(
            path.stat().st_size
            for path in root.rglob("*")
            if ".git" not in path.parts and ".causalist" not in path.parts and path.is_file() and not path.is_symlink()
        ),
        "index": index.stat().st_size if index.exists() else 0,
        "skipped": said.get("skipped", {}),
        "aside": said.get("aside", {}),
        "error": done.stderr.decode("utf-8", "replace")[-300:] if done.returncode else "",
    }
    shutil.rmtree(root / ".causalist", ignore_errors=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--list", type=Path, default=_LIST)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with options.out.open("a") as out:
        for line in options.list.read_text().split():
            root = options.clones / line.partition("@")[0].replace("/", "+")
            if root.is_dir():
                out.write(json.dumps(measure(root, options.python)) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
