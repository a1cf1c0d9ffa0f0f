"""The files by which agents and registries know the project agree with it, and with each other."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from causalist.cli import main
from causalist.servers.mcp.tools import TOOLS

_ROOT = Path(__file__).parents[2]
_PLUGIN = _ROOT / "plugin"
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]


def _json(path: str) -> Any:
    return json.loads((_ROOT / path).read_text())


@pytest.mark.parametrize(
    "path", ["plugin/.claude-plugin/plugin.json", "plugin/.codex-plugin/plugin.json", "plugin/gemini-extension.json"]
)
def test_manifests_have_the_version_of_the_package(path: str) -> None:
    manifest = _json(path)
    assert (manifest["name"], manifest["version"]) == (_PROJECT["name"], _PROJECT["version"])


def test_the_registry_entry_names_the_package_that_names_it() -> None:
    entry = _json("server.json")
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == _PROJECT["version"]
    assert package["identifier"] == _PROJECT["name"] and package["registryType"] == "pypi"
    assert f"mcp-name: {entry['name']}" in (_ROOT / "README.md").read_text()  # the registry's proof of ownership
    assert len(entry["description"]) <= 100
    words = [each.get("value", each.get("name")) for each in package["packageArguments"]]
    assert words == _json("plugin/.mcp.json")["mcpServers"]["causalist"]["args"]


def test_the_marketplace_leads_to_the_plugin() -> None:
    (entry,) = _json(".claude-plugin/marketplace.json")["plugins"]
    assert (_ROOT / entry["source"]).resolve() == _PLUGIN


@pytest.mark.parametrize(
    "command",
    [
        _json("plugin/.mcp.json")["mcpServers"]["causalist"]["args"],
        _json("plugin/gemini-extension.json")["mcpServers"]["causalist"]["args"],
        _json("plugin/hooks/hooks.json")["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].split()[1:],
    ],
)
def test_what_clients_start_is_a_command(command: list[str]) -> None:
    assert CliRunner().invoke(main, [*command, "--help"]).exit_code == 0


def test_the_skill_is_the_text_for_agents() -> None:
    _, front, text = (_PLUGIN / "skills/causalist/SKILL.md").read_text().split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["name"] == "causalist" and len(about["description"]) <= 1024
    assert text.strip() == (_PLUGIN / "AGENTS.md").read_text().partition("\n")[2].strip()


def test_texts_name_tools_and_arguments_that_exist() -> None:
    known = {*TOOLS, *(name for tool in TOOLS.values() for name in tool.parameters)}
    text = (_PLUGIN / "AGENTS.md").read_text()
    named = set(re.findall(r"`([a-z_]+)`", text)) - {"likely", "possible", "uncertain"}
    assert {"ask", "symbol", "impact", "names", "include", "exclude", "scope", "to"} == named <= known
    for command in (_PLUGIN / "commands").glob("*.md"):
        front = yaml.safe_load(command.read_text().split("---\n")[1])
        assert front["description"]
