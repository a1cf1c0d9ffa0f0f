"""How often a pack has the document of an answer, and the code that the document explains or names.

    python -m tests.benchmarks.documents CLONES [-- OPTIONS OF ASK]

CLONES holds clones of the repositories of `questions.jsonl` at their commits, named `owner+name`. A document counts if
a passage of it is in the pack, code if its definition (or, where only a file is named, something of it) is.
Prints each question with what is missing, then the share of questions with the document, with the code, and with both,
each with a 95 % interval (Wilson).
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks.edges.rust_sites import wilson

QUESTIONS = Path(__file__).with_name("questions.jsonl")


def has_code(items: list[dict[str, Any]], clone: Path, code: dict[str, str]) -> bool:
    """Return True if an item of the file shows the line that begins the definition, or anything if none is named."""
    shown = [rows for item in items if item["path"] == code["path"] for rows in item["shown"]]
    if not code["name"]:
        return bool(shown)
    begins = re.compile(rf"\s*(?:async\s+)?(?:def|class|module)\s+(?:self\.)?{re.escape(code['name'])}(?![\w?])")
    lines = (clone / code["path"]).read_text(encoding="utf-8").splitlines()
    return any(begins.match(line) for first, last in shown for line in lines[first - 1 : last])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("options", nargs="*")
    given = parser.parse_args()
    n_documents, n_code, n_both, n_asked_code, n, n_tokens = 0, 0, 0, 0, 0, 0
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        each = json.loads(line)
        clone = given.clones / each["repo"].replace("/", "+")
        run = subprocess.run(
            [sys.executable, "-m", "causalist", "ask", each["question"], "--wait", "--json", *given.options],
            cwd=clone, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if run.returncode not in (0, 1):
            raise SystemExit(run.stderr)
        answer = json.loads(run.stdout)
        items = answer["pack"]["items"]
        document = any(item["path"] == each["document"] for item in items)
        code = each["code"] is None or has_code(items, clone, each["code"])
        n += 1
        n_tokens += answer["pack"]["tokens"]
        n_documents += document
        n_asked_code += each["code"] is not None
        n_code += code and each["code"] is not None
        n_both += document and code
        print(each["id"], "" if document else "no document", "" if code else "no code", flush=True)
    for name, found, of in (("document", n_documents, n), ("code", n_code, n_asked_code), ("both", n_both, n)):
        low, high = wilson(found, of)
        print(f"{name:10} {found} of {of}  {100 * found / of:.1f} % ({100 * low:.1f}-{100 * high:.1f})")
    print(f"{n_tokens / n:.0f} tokens a pack")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
