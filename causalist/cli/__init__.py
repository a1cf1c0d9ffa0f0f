"""Command-line interface: parse arguments, call the pipeline, print results.

Results go to stdout, everything else to stderr. Exit codes: 0 something found, 1 nothing found, 2 failure. Command
modules are imported when their command runs, and each imports the pipeline inside its function, so that `--help` stays
fast.
"""

import importlib
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from causalist.cli._run import (
    COMPLETION,
    StartTime,
    exit_process,
    import_numpy,
    prepare_process,
    run_command_line,
)

# Each command's module in this package, and its function there. Also the order in `--help`.
COMMANDS = {
    "ask": ("ask", "ask_command"),
    "index": ("index", "index_command"),
    "status": ("index", "status_command"),
    "watch": ("index", "watch_command"),
    "map": ("graph_overviews", "map_command"),
    "find": ("find_and_show", "find_command"),
    "show": ("find_and_show", "show_command"),
    "callers": ("callers_and_impact", "callers_command"),
    "callees": ("callers_and_impact", "callees_command"),
    "routes": ("callers_and_impact", "routes_command"),
    "readers": ("callers_and_impact", "readers_command"),
    "writers": ("callers_and_impact", "writers_command"),
    "path": ("find_and_show", "path_command"),
    "neighbors": ("find_and_show", "neighbors_command"),
    "topo": ("graph_overviews", "topo_command"),
    "similar": ("find_and_show", "similar_command"),
    "impact": ("callers_and_impact", "impact_command"),
    "tests": ("callers_and_impact", "tests_command"),
    "review": ("review", "review_command"),
    "layers": ("graph_overviews", "layers_command"),
    "verify": ("find_and_show", "verify_command"),
    "observe": ("observe_and_prove", "observe_command"),
    "prove": ("observe_and_prove", "prove_command"),
    "lint": ("graph_overviews", "lint_command"),
    "config": ("doctor_and_config", "config_command"),
    "graph": ("graph_overviews", "graph_command"),
    "memory": ("memory", "memory_command"),
    "fleet": ("fleet", "fleet_command"),
    "serve": ("serve", "serve_command"),
    "install": ("install", "install_command"),
    "doctor": ("doctor_and_config", "doctor_command"),
    "hook": ("hook", "hook_command"),
    "eval": ("eval_and_learn", "eval_command"),
    "feedback": ("eval_and_learn", "feedback_command"),
    "learn": ("eval_and_learn", "learn_command"),
}

# First sentence of each command's help: the list of commands imports none of them, nor numpy.
SUMMARIES = {
    "ask": "Answer QUERY with the code itself.",
    "index": "Build or refresh the index.",
    "status": "Show what is indexed, what was left out and why.",
    "watch": "Refresh the index whenever files change.",
    "map": "Summarize the repository within a token budget.",
    "find": "Find nodes by NAME or a similar name.",
    "show": "Show the location, the users and the source of NODE.",
    "callers": "Show the calls to NODE.",
    "callees": "Show what NODE calls, emits or queues inside the repository.",
    "routes": "List the routes that the repository serves.",
    "readers": "Show the code that reads NODE.",
    "writers": "Show the code that writes NODE.",
    "path": "Show the most probable path from SOURCE to TARGET.",
    "neighbors": "Show the edges of NODE by direction and kind.",
    "topo": "List files or definitions, dependencies first.",
    "similar": "Show near-duplicates of a definition or all of them.",
    "impact": "Show what a change of NODE affects.",
    "tests": "Show the tests that may run NODE.",
    "review": "Show what a reviewer of a change needs.",
    "layers": "Show the layers of the code, or the files of one.",
    "verify": "Check if SOURCE uses TARGET: yes, no or unknown.",
    "observe": "Run COMMAND and record the calls that happen.",
    "prove": "Break NODE in several ways and show which tests notice.",
    "lint": "Check the index and report call resolution.",
    "config": "Show each setting, its value and its source.",
    "graph": "Export the code graph.",
    "memory": "Search documents by the entities that they share.",
    "fleet": "Index and ask many repositories.",
    "serve": "Run a server for agents, editors or a browser.",
    "install": "Configure CLIENT to start the MCP server.",
    "doctor": "Show what is installed and found, with remedies.",
    "hook": "Run as a hook of an agent's client.",
    "eval": "Measure retrieval quality.",
    "feedback": "Record which files of an answer were relevant.",
    "learn": "Fit the ranking weights to this repository.",
}

ALIASES = {"blast": "impact"}  # not listed in `--help`


class Commands(click.Group):
    """Click group of all commands. `main` maps errors to exit codes; click would exit 1 for some of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of `--help`."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands as click does, from `SUMMARIES`."""
        limit = formatter.width - 6 - max(map(len, SUMMARIES))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, click.Command(name, help=text).get_short_help_str(limit)) for name, text in SUMMARIES.items()]
            )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None if the name is unknown. An alias counts as the command."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name]
        if module == "memory":
            import_numpy()  # its options have names of types that need numpy
        command: click.Command = getattr(importlib.import_module(f"causalist.cli.{module}"), function)
        return command

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **extra: Any) -> NoReturn:
        """Run the command line and exit. `args` None means the arguments of this process."""
        extra.pop("standalone_mode", None)
        if args is None and COMPLETION in os.environ:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, extra, prog_name or "causalist", COMPLETION, os.environ[COMPLETION]))
        if args is None:  # a process of its own: CPU time approximates its start
            extra.setdefault("obj", StartTime(time.process_time()))
            prepare_process(sys.argv[1:])
        code = run_command_line(self, prog_name or "causalist", sys.argv[1:] if args is None else args, extra)
        if args is None:
            exit_process(code)
        sys.exit(code)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("causalist")
    except PackageNotFoundError:
        number = "of a checkout that is not installed"
    click.echo(f"causalist {number}")
    ctx.exit()


def _install_completion(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
    if not shell or ctx.resilient_parsing:
        return
    from causalist.cli.doctor_and_config import install_completion

    install_completion(shell, main)
    ctx.exit()


@click.group(
    "causalist", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.option(
    "--install-completion", type=click.Choice(("bash", "zsh", "fish", "powershell")), is_eager=True,
    expose_value=False, callback=_install_completion, help="Complete commands in this shell.",
)  # fmt: skip
def main() -> None:
    """Answer questions about a code base with the code itself.

    Commands build and refresh the index, in `.causalist/` of the repository, when they need it.

    \b
    Example:
      causalist ask "where is a session checked"

    Exit codes: 0 something found, 1 nothing found, 2 failure.
    """


__all__ = ["COMMANDS", "main"]
