"""`causalist config`: the settings of a repository and where they come from."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import aligned, finish
from causalist.cli._repository import json_option, repo_option
from causalist.serialize.lookups import config_document

if TYPE_CHECKING:
    from causalist.settings import Settings


@click.command("config")
@repo_option
@json_option
def command(repo: Path | None, as_json: bool) -> None:
    """Show each setting, its value and its source.

    Settings are read from [tool.causalist] in pyproject.toml and from causalist.toml, both in the root of the
    repository. causalist.toml overrides pyproject.toml, and command-line options override both.

    \b
    Example:
      causalist config --repo ~/projects/shop
    """
    from causalist.pipeline.repository import Repository

    settings = Repository.settings_at(repo or Path(), exact_root=repo is not None)
    finish(config_document(settings) if as_json else None, _lines(settings))


def _lines(settings: "Settings") -> list[str]:
    """Sections as in TOML, and in each `name = value  # where it is set: what it means`."""
    from causalist.settings import SETTINGS

    lines: list[str] = []
    for section in dict.fromkeys(each.section for each in SETTINGS):
        rows = []
        for each in SETTINGS:
            if each.section == section:
                value, source = settings.value(section, each.name), settings.source(section, each.name)
                said = f"# {each.name} is unset" if value is None else f"{each.name} = {_toml(value)}"
                rows.append((said, f"# {source}", each.meaning))
        lines += [*([""] if lines else []), f"[{section}]", *aligned(rows)]
    return lines


def _toml(value: object) -> str:
    from causalist.cli._output import to_json

    return to_json(list(value) if isinstance(value, tuple) else value)
