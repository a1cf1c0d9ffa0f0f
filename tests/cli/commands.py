"""Two ways to run a command (a process of its own, or click's runner in this one), and files to run it on."""

import os
import subprocess
import sys
from contextlib import chdir, nullcontext
from pathlib import Path

from click.testing import CliRunner

import causalist
from causalist.cli import main
from tests.servers.ready_process import ready

CHECKOUT = Path(causalist.__file__).parents[1]


class Done:
    """How a command ended."""

    def __init__(self, code: int, stdout: bytes | str, stderr: bytes | str) -> None:
        self.code = code
        self.stdout = stdout.decode() if isinstance(stdout, bytes) else stdout
        self.stderr = stderr.decode() if isinstance(stderr, bytes) else stderr

    def failed(self, slug: str) -> str:
        """Checks that this is a failure with one clear message and nothing on stdout; returns the message."""
        assert (self.code, self.stdout) == (2, ""), (self.stdout, self.stderr)
        return self._message(slug)

    def found_nothing(self, slug: str) -> str:
        assert (self.code, self.stdout) == (1, ""), (self.stdout, self.stderr)
        return self._message(slug)

    def _message(self, slug: str) -> str:
        assert "Traceback" not in self.stderr
        assert self.stderr.splitlines()[-1].startswith(f"causalist: {slug}: "), self.stderr
        return self.stderr


def write_all(folder: Path, files: dict[str, str] | dict[str, bytes]) -> Path:
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def run(*arguments: str | bytes, cwd: Path, stdin: bytes = b"", is_ready: bool = False, **environment: str) -> Done:
    """`python -m causalist` in a process of its own. `is_ready`: one that begins with its modules imported."""
    words = [sys.executable, "-m", "causalist", *arguments]
    process = subprocess.run(
        ready(words) if is_ready else words,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environment},
        timeout=60,
    )
    return Done(process.returncode, process.stdout, process.stderr)


def invoke(*arguments: str, stdin: bytes | None = None, cwd: Path | None = None) -> Done:
    """The same command line in this process, which takes a tenth of the time."""
    with chdir(cwd) if cwd is not None else nullcontext():
        result = CliRunner().invoke(main, list(arguments), input=stdin)
    return Done(result.exit_code, result.stdout, result.stderr)


def left_behind(folder: Path) -> list[str]:
    """Files in the index folder that neither belong to a complete index nor stay beside it."""
    complete = {".gitignore", "lock", "index.bin", "seen"}
    complete |= {"answers.jsonl", "feedback.jsonl", "weights.json", "beside.lock"}
    index = folder / ".causalist"
    return sorted(p.name for p in index.iterdir() if p.name not in complete) if index.exists() else []
