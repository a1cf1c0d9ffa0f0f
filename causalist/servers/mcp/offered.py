"""Which tools an agent is offered: few, unless all are asked for."""

from collections.abc import Mapping

from causalist.servers.mcp.tools import TOOLS, Tool


def tools_of(choice: str) -> Mapping[str, Tool]:
    """The tools to offer: "default" or "all"."""
    if choice == "default":
        return TOOLS
    from causalist.servers.mcp.memory_tools import MEMORY_TOOLS
    from causalist.servers.mcp.more_tools import MORE_TOOLS

    return {**TOOLS, **MORE_TOOLS, **MEMORY_TOOLS}
