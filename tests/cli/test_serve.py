"""`serve mcp` where it cannot: without the extra, without a repository, without pipes."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.cli.commands import CHECKOUT, invoke, run
from tests.servers.wire import environment

pytestmark = pytest.mark.slow


class TestExtra:
    def test_is_named_where_it_is_missing(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(name: str) -> str:
            raise metadata.PackageNotFoundError(name)

        monkeypatch.setattr(metadata, "version", missing)
        for command, package, extra in (
            (("serve", "mcp"), "mcp", "mcp"), (("install", "cursor"), "mcp", "mcp"), (("serve", "lsp"), "pygls", "lsp"),
            (("serve", "web"), "starlette", "web"),
        ):  # fmt: skip
            message = invoke(*command, "--repo", str(small)).failed("extra-missing")
            assert f'{package}, which is not installed; run: pip install "causalist[{extra}]"' in message
        assert not (small / ".cursor").exists() and not (small / ".causalist").exists()

    def test_is_named_where_it_is_too_old(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(metadata, "version", lambda name: "1.26.0")
        message = invoke("serve", "mcp", "--repo", str(small)).failed("extra-missing")
        assert "mcp 2, and 1.26.0 is installed" in message

    def test_nothing_else_needs_it(self, small: Path) -> None:
        """All other commands run in an interpreter that has no such package."""
        code = (
            "import sys\n"
            "for name in ('mcp', 'mcp_types', 'anyio', 'pydantic', 'pygls', 'lsprotocol', 'starlette', 'uvicorn'):\n"
            "    sys.modules[name] = None\n"
            "from causalist.cli import main\nmain()"
        )
        for command in (
            ("--help",),
            ("serve", "mcp", "--help"),
            ("serve", "lsp", "--help"),
            ("install", "vscode", "--print"),
            ("ask", "price"),
        ):
            done = subprocess.run(
                [sys.executable, "-c", code, *command], cwd=small, env=environment(), capture_output=True, text=True
            )
            assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize(
    ("options", "slug"),
    [
        (("--repo", "nowhere"), "repository-not-found"),
        (("--repo", "/"), "refused-root"),
        (("--repo", "a.txt"), "repository-not-found"),
    ],
)
def test_without_a_repository(options: tuple[str, ...], slug: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    run("serve", "mcp", *options, cwd=tmp_path).failed(slug)


def test_in_a_home_directory(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(small))
    invoke("serve", "mcp", "--repo", str(small)).failed("refused-root")


@pytest.mark.parametrize("wait", ["-1", "many", "99999", "nan"])
def test_a_wait_out_of_range(wait: str, small: Path) -> None:
    done = invoke("serve", "mcp", "--repo", str(small), "--wait", wait)
    assert (done.code, done.stdout) == (2, "") and "--wait" in done.stderr


def test_an_empty_standard_input_ends_it(small: Path) -> None:
    done = run("serve", "mcp", cwd=small)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("closed", ["0<&-", "1>&-"])
def test_closed_pipes_are_named(closed: str, small: Path) -> None:
    script = f'"{sys.executable}" -P -m causalist serve mcp {closed}'
    done = subprocess.run(
        ["sh", "-c", script], cwd=small, env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "causalist: usage: standard input and output must be open" in done.stderr
    assert CHECKOUT.exists()
