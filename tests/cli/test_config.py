"""`config`, and what the command line says against settings files."""

import json
from pathlib import Path

from tests.cli.commands import invoke, write_all


def test_lines(small: Path) -> None:
    write_all(small, {"causalist.toml": "[ask]\nmax-tokens = 900\nexclude = ['*.md']\n"})
    done = invoke("config", cwd=small)
    assert (done.code, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "[ask]" and "[index]" in lines
    assert "max-tokens = 900 # causalist.toml the token budget of the pack" in lines
    assert 'exclude = ["*.md"] # causalist.toml no files that one of these matches' in lines
    assert "top-k = 20 # default how many results at most" in lines
    assert not (small / ".causalist").exists()


def test_document(small: Path) -> None:
    write_all(small, {"pyproject.toml": "[tool.causalist.index]\nmax-files = 9\n"})
    document = json.loads(invoke("config", "--repo", str(small), "--json").stdout)
    assert document["format_version"] == 1
    rows = {(row["section"], row["name"]): row for row in document["settings"]}
    assert rows["index", "max-files"] == {
        "section": "index", "name": "max-files", "value": 9, "default": 200_000, "source": "pyproject.toml"
    }  # fmt: skip
    assert rows["ask", "route"]["value"] is None and rows["ask", "include"]["value"] == []


def test_the_command_line_goes_first(small: Path) -> None:
    write_all(small, {"causalist.toml": "[ask]\nmax-tokens = 900\nlevel = 'file'\nexclude = ['shop/prices.py']\n"})

    def asked(*options: str) -> dict[str, object]:
        document: dict[str, object] = json.loads(invoke("ask", "price of item", *options, "--json", cwd=small).stdout)
        return document

    def paths(document: dict[str, object]) -> set[str]:
        return {result["path"] for result in document["results"]}  # type: ignore[attr-defined]

    settled = asked()
    assert settled["pack"]["max_tokens"] == 900  # type: ignore[index]
    assert all(result["symbol"] is None for result in settled["results"])  # type: ignore[attr-defined]
    assert "shop/prices.py" not in paths(settled)
    other = asked("--max-tokens", "4000", "--level", "symbol", "--exclude", "*.md")
    assert other["pack"]["max_tokens"] == 4000  # type: ignore[index]
    assert "shop/prices.py" in paths(other) and "README.md" not in paths(other)


def test_what_is_wrong_ends_every_command(small: Path) -> None:
    write_all(small, {"causalist.toml": "[ask]\ntop-k = 'many'\n"})
    for command in (("config",), ("ask", "price"), ("status",), ("find", "price"), ("index",)):
        assert "[ask] top-k must be an integer" in invoke(*command, "--repo", str(small)).failed("settings")
    assert not (small / ".causalist").exists()


def test_no_folder(tmp_path: Path) -> None:
    invoke("config", "--repo", str(tmp_path / "gone")).failed("repository-not-found")
