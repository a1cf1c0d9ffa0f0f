"""Build the program as a single file with all that it needs, for machines without a network.

    single_file.py WHEEL OUT.pyz [EXTRAS]

Needs `pip install shiv`. pip fetches the dependencies of the wheel for this system and this version of Python; the file
runs on these. EXTRAS is a list such as mcp,lsp,web, the default. The file is tried: it answers the first
question of the README on a copy of the sample repository, without the packages and the settings of the user.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / ".ci"))

from smoke_test import EXPECTED, first_question  # noqa: E402


def build(wheel: Path, target: Path, extras: str) -> None:
    """Write the file. The same wheels give the same bytes."""
    subprocess.run(
        [sys.executable, "-m", "shiv", "--console-script", "causalist", "--python", "/usr/bin/env python3",
         "--reproducible", "--compressed", "--output-file", target, f"{wheel}[{extras}]"],
        check=True, env={**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "1700000000")},
    )  # fmt: skip


def answers(target: Path) -> bool:
    """Return whether the file answers, in an environment of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        shutil.copytree(ROOT / "sample_repos", folder / "sample_repos", ignore=shutil.ignore_patterns(".causalist"))
        kept = {"PATH": os.environ["PATH"], "HOME": name, "SHIV_ROOT": str(folder / "shiv")}
        words = first_question((ROOT / "README.md").read_text(encoding="utf-8"))
        done = subprocess.run(
            [sys.executable, "-I", target.resolve(), *words, "--json"],
            cwd=folder, env=kept, capture_output=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
    if done.returncode or EXPECTED not in done.stdout:
        print(done.stderr, file=sys.stderr)
        return False
    return True


def main(arguments: list[str]) -> int:
    """Build and try the file that the arguments name; return the exit code."""
    if len(arguments) not in (2, 3) or not Path(arguments[0]).is_file():
        print(__doc__, file=sys.stderr)
        return 2
    wheel, target = Path(arguments[0]).resolve(), Path(arguments[1])
    build(wheel, target, arguments[2] if len(arguments) == 3 else "mcp,lsp,web")
    if not answers(target):
        return 1
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB, answers")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
