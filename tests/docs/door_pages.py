"""The transcripts of docs/lsp.md and docs/web.md: `python -m tests.docs.door_pages [--write]`.

A copy of the sample repository is served, and real clients ask, so that the pages show what comes back. Long lists and
texts are cut, which "…" says.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.docs.blocks import DOCS, ROOT, blocks_of, with_blocks
from tests.servers.browser import WebServer
from tests.servers.editor import Editor, edit

PAGES = {"lsp": DOCS / "lsp.md", "web": DOCS / "web.md"}
SAMPLE = ROOT / "sample_repos" / "taskboard-api"
QUESTION = "where does user authentication happen?"
_VERIFY = "src/security/jwt-verifier.ts::verifyToken"
_MOST_ITEMS = 1
_MOST_CHARACTERS = 70


@contextmanager
def _sample() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / SAMPLE.name
        shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".causalist"))
        yield root


def lsp_transcript(root: Path) -> str:
    """The three requests of our own."""
    asked: list[tuple[str, dict[str, Any], Any]] = []

    async def drive(editor: Editor) -> None:
        await editor.begin(root)
        for method, params in (
            ("ask", {"question": QUESTION, "top_k": 3, "max_tokens": 300}),
            ("context", {"node": "verifyToken", "max_tokens": 300}),
            ("impact", {"node": "verifyToken", "max_depth": 1}),
        ):
            asked.append((f"causalist/{method}", params, await editor.own(method, **params)))

    edit(drive)
    return _page((f"{method} {json.dumps(params)}", result, root) for method, params, result in asked)


def web_transcript(root: Path) -> str:
    """The two addresses that take something."""
    with WebServer(root) as server:
        asked = []
        for path, document in (
            ("/api/ask", {"question": QUESTION, "top_k": 3, "max_tokens": 300}),
            ("/api/node", {"node": _VERIFY}),
            ("/api/ask", {"question": " "}),
        ):
            status, found = server.call(path, document)
            asked.append((f"POST {path} {json.dumps(document)}", found, root, f" {status}"))
    return _page(asked)


def _page(asked: Any) -> str:
    parts = []
    for request, result, root, *status in asked:
        shown = json.dumps(_short(result), indent=1, ensure_ascii=False).replace(str(root), "/home/me/taskboard-api")
        parts.append(f"→ {request}\n\n←{''.join(status)}\n{shown}\n")
    return "~~~~text\n" + "\n".join(parts) + "~~~~\n"


def _short(value: Any, key: str = "") -> Any:
    """A document as a page shows it: without what differs between machines, its lists and texts cut."""
    if key in ("answer_id", "timings_ms", "generators", "reasons", "residual", "colors"):
        return "…"
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        shown = {
            name: _short(each, name) for name, each in list(value.items())[: _MOST_ITEMS if key == "nodes" else None]
        }
        return {**shown, "…": f"{len(value) - 1} more"} if key == "nodes" and len(value) > 1 else shown
    if isinstance(value, list):
        more = [f"… {len(value) - _MOST_ITEMS} more"] if len(value) > _MOST_ITEMS else []
        return [_short(each) for each in value[:_MOST_ITEMS]] + more
    if isinstance(value, str) and len(value) > _MOST_CHARACTERS and not value.startswith("/"):
        return value[:_MOST_CHARACTERS] + "…"
    return value


@cache
def contents() -> dict[str, str]:
    """The transcript of each page."""
    with _sample() as root:
        lsp = lsp_transcript(root)
    with _sample() as root:
        return {"lsp": lsp, "web": web_transcript(root)}


def main(arguments: list[str]) -> int:
    is_same = True
    for name, page in PAGES.items():
        text = page.read_text(encoding="utf-8")
        blocks = {"transcript": contents()[name]}
        is_same = is_same and blocks_of(text, "generated") == blocks
        if "--write" in arguments:
            page.write_text(with_blocks(text, "generated", blocks), encoding="utf-8")
    print("in sync" if is_same else "the pages are older than the servers; --write brings them up to date")
    return int(not is_same and "--write" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
