"""Meet the program as on a bare machine: install a wheel, ask, and greet each server; print the seconds of each step.

    bare_machine.py dist/causalist-1.2.3-py3-none-any.whl

The steps run with nothing but Python, git and an empty home: no compiler on the path, no git identity, and as an
ordinary user if root starts it. What pip downloads comes before and is not counted. Fails if a step fails, or if all
together take more than a minute. Without Chromium the page is only fetched, and the line says so.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "where does user authentication happen?"
EXPECTED = "jwt-verifier.ts"
MOST_SECONDS = 60.0
NOBODY = 65534
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Machine:
    """A folder with a home, a path of two programs, and a user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "path").mkdir()
        for program in ("git", "python3"):
            found = sys.executable if program == "python3" else shutil.which(program)
            if found:
                (folder / "path" / program).symlink_to(found)
        self.python = str(folder / "environment" / "bin" / "python")
        self.environment = {"HOME": str(folder), "PATH": str(folder / "path"), "LANG": "C.UTF-8", "TMPDIR": str(folder)}
        self.user: dict[str, Any] = {}
        if hasattr(os, "getuid") and os.getuid() == 0:
            self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def own(self) -> None:
        """Give all that is in the folder to the user."""
        if self.user:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def start(self, *command: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command, cwd=self.folder / "sample", env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **self.user,
        )  # fmt: skip

    def run(self, *command: str, given: bytes = b"") -> str:
        process = self.start(*command)
        out, errors = process.communicate(given, timeout=120)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)[-200:]}: exit code {process.returncode}\n{errors.decode()}")
        return out.decode()

    def program(self, *words: str) -> tuple[str, ...]:
        return (self.python, "-P", "-m", "causalist", *words)


def install(machine: Machine, wheel: Path) -> None:
    # As pipx does it: one pip for all environments. A pip of its own costs 4 of 17 seconds.
    machine.run(sys.executable, "-m", "venv", "--without-pip", str(machine.folder / "environment"))
    packages = machine.folder / "packages"
    pip = (sys.executable, "-m", "pip", "--python", machine.python)
    machine.run(*pip, "install", "-q", "--no-index", "--find-links", str(packages),
                f"{packages / wheel.name}[lsp,mcp,web]")  # fmt: skip


def ask(machine: Machine) -> None:
    if EXPECTED not in machine.run(*machine.program("ask", QUESTION)):
        raise SystemExit(f"the first answer does not name {EXPECTED}")


def greet_mcp(machine: Machine) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "trial", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages)
    told = [json.loads(line) for line in machine.run(*machine.program("serve", "mcp"), given=lines).splitlines()]
    tools = [each["name"] for message in told if message.get("id") == 2 for each in message["result"]["tools"]]
    if "ask" not in tools:
        raise SystemExit(f"the MCP server lists {tools}")


def greet_lsp(machine: Machine) -> None:
    root = (machine.folder / "sample").as_uri()
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": root, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **each}).encode() for each in messages]
    frames = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    if '"workspaceSymbolProvider"' not in machine.run(*machine.program("serve", "lsp"), given=frames):
        raise SystemExit("the language server does not say what it can")


def see_page(machine: Machine) -> None:
    process = machine.start(*machine.program("serve", "web"))
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        if not CHROMIUM:
            with urllib.request.urlopen(address.partition("?")[0]) as page:
                assert b"<title>Causalist" in page.read()
            return
        shown = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--virtual-time-budget=20000", "--dump-dom",
             f"{address}&q=user+authentication"], capture_output=True, text=True, timeout=120, check=True,
            cwd=machine.folder,
        ).stdout  # fmt: skip
        if not re.search(r'class="hit"[^>]*data-node="src/', shown):
            raise SystemExit("the page shows no result")
    finally:
        process.kill()
        process.wait()


def main(arguments: list[str]) -> int:
    """Run the steps and return the exit code."""
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        print(__doc__, file=sys.stderr)
        return 2
    wheel = Path(arguments[0]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        machine = Machine(folder)
        ignored = shutil.ignore_patterns(".causalist")
        shutil.copytree(ROOT / "sample_repos" / "taskboard-api", folder / "sample", ignore=ignored)
        download = [sys.executable, "-m", "pip", "download", "-q", "-d", str(folder / "packages")]
        subprocess.run([*download, f"{wheel}[lsp,mcp,web]"], check=True)
        machine.own()
        steps: dict[str, Callable[[], None]] = {
            "install": lambda: install(machine, wheel),
            "first question": lambda: ask(machine),
            "MCP handshake": lambda: greet_mcp(machine),
            "LSP handshake": lambda: greet_lsp(machine),
            "page in Chromium" if CHROMIUM else "page, without Chromium": lambda: see_page(machine),
        }
        total = 0.0
        for step, run in steps.items():
            start, before = time.monotonic(), os.times()
            run()
            seconds, after = time.monotonic() - start, os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            total += seconds
            print(f"{step:24} {seconds:6.1f} s, {used:5.1f} s of processor time", flush=True)
    print(f"{'all':24} {total:6.1f} s")
    return int(total > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
