"""`causalist config`: show the settings of a repository and their sources."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns
from causalist.cli._repository import json_option, print_result, repo_option
from causalist.serialize.lookups import config_document

if TYPE_CHECKING:
    from causalist.settings import Settings


@click.command("config")
@repo_option
@json_option
def config_command(repo: Path | None, as_json: bool) -> None:
    """Show each setting, its value and its source.

    Settings are read from [tool.causalist] in pyproject.toml and from causalist.toml, both in the root of the
    repository. causalist.toml overrides pyproject.toml, and command-line options override both.

    \b
    Example:
      causalist config --repo ~/projects/shop
    """
    from causalist.pipeline.repository import Repository

    settings = Repository.settings_at(repo or Path(), exact_root=repo is not None)
    print_result(config_document(settings) if as_json else None, _format_settings(settings))


def _format_settings(settings: "Settings") -> list[str]:
    """Return the settings as TOML sections with `name = value # source: meaning` lines."""
    from causalist.settings import SETTINGS

    lines: list[str] = []
    for section in dict.fromkeys(each.section for each in SETTINGS):
        rows = []
        for each in SETTINGS:
            if each.section == section:
                value, source = settings.value(section, each.name), settings.source(section, each.name)
                said = f"# {each.name} is unset" if value is None else f"{each.name} = {_format_value(value)}"
                rows.append((said, f"# {source}", each.meaning))
        lines += [*([""] if lines else []), f"[{section}]", *align_columns(rows)]
    return lines


def _format_value(value: object) -> str:
    from causalist.cli._output import to_json

    return to_json(list(value) if isinstance(value, tuple) else value)
