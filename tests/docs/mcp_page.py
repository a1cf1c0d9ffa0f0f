"""The generated parts of docs/mcp.md: `python -m tests.docs.mcp_page [--write]`.

A copy of the sample repository is served, and the official client calls the tools, so that the page shows what an
agent is handed.
"""

import json
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from causalist.servers.mcp.handlers import select_tools
from causalist.servers.mcp.tools import TOOLS, Parameter
from tests.docs.blocks import DOCS, ROOT, keep_in_sync, table

PAGE = DOCS / "mcp.md"
SAMPLE = ROOT / "sample_repos" / "taskboard-api"
CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "ask": ("ask", {"question": "where does user authentication happen?", "max_tokens": 700}),
    "symbol": ("symbol", {"name": "verifyToken", "max_tokens": 500}),
    "path": ("symbol", {"name": "authenticateUser", "to": "verifyToken", "max_tokens": 600}),
    "impact": ("impact", {"name": "verifyToken", "max_tokens": 500}),
    "mistake": ("symbol", {"name": "verifyTokn"}),
}


@cache
def contents() -> dict[str, str]:
    """The generated blocks of the page."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / SAMPLE.name
        shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".causalist"))
        answers = anyio.run(_answers, root)
    return {"tools": _tools(), "more-tools": _more_tools(), **answers}


async def _answers(root: Path) -> dict[str, str]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "causalist", "serve", "mcp", "--wait", "60", "--repo", str(root)],
        env={"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )
    blocks = {}
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        for name, (tool, arguments) in CALLS.items():
            result = await session.call_tool(tool, arguments)
            (content,) = result.content
            assert content.type == "text"
            mark = "  (isError)" if result.is_error else ""
            blocks[name] = f"~~~~text\n→ {tool} {json.dumps(arguments)}\n\n←{mark}\n{content.text.rstrip()}\n~~~~\n"
    return blocks


def _tools() -> str:
    parts = []
    for name, tool in TOOLS.items():
        rows: list[tuple[object, ...]] = [
            (f"`{key}`", "required" if each.required else _default(each), _bounds(each), each.description)
            for key, each in tool.parameters.items()
        ]
        parts.append(f"\n### `{name}`\n\n{tool.description}\n\n")
        parts.append(table(("argument", "default", "range", "meaning"), rows))
    return "".join(parts) + "\n"


def _more_tools() -> str:
    rows: list[tuple[object, ...]] = [
        (f"`{name}`", tool.description, ", ".join(f"`{key}`" for key in tool.parameters))
        for name, tool in select_tools("all").items()
        if name not in TOOLS
    ]
    return "\n" + table(("tool", "what for", "arguments"), rows) + "\n"


def _default(parameter: Parameter) -> str:
    return "" if parameter.default is None else f"{parameter.default:g}"


def _bounds(parameter: Parameter) -> str:
    if parameter.type is str:
        return f"at most {parameter.high:,.0f} characters"
    return f"{parameter.low:g} to {parameter.high:,.10g}"


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
