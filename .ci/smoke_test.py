"""Install a wheel or a source distribution into a new environment and ask the README's first question.

    smoke_test.py dist/causalist-1.2.3-py3-none-any.whl

The question runs outside of the checkout, on a copy of the sample repository, so that only what is installed is used.
pip fetches the dependencies. Needs nothing but Python 3.11.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXPECTED = "src/security/jwt-verifier.ts"  # reached over the graph alone


def first_question(readme: str) -> list[str]:
    """Return the words after `causalist` of the first bash block of the README.

    >>> first_question("```bash\\npip install . && .venv/bin/causalist ask 'a b' --json\\n```")
    ['ask', 'a b', '--json']
    """
    block = re.search(r"^```bash\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    if not block:
        raise ValueError("README.md has no bash block")
    words = shlex.split(block[1].strip().rpartition("&&")[2])
    if not words or words[0].rpartition("/")[2] != "causalist":
        raise ValueError("the first bash block of README.md does not end with a call of causalist")
    return words[1:]


def main(arguments: list[str]) -> int:
    """Test the file that the arguments name and return the exit code."""
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        print(__doc__, file=sys.stderr)
        return 2
    file = Path(arguments[0]).resolve()
    with tempfile.TemporaryDirectory() as name:
        # Without links in its path, as the program shows paths.
        folder = Path(name).resolve()
        environment = folder / "environment"
        venv.create(environment, with_pip=True)
        scripts = environment / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", str(file)], cwd=folder, check=True)
        shutil.copytree(ROOT / "sample_repos", folder / "sample_repos", ignore=shutil.ignore_patterns(".causalist"))
        command = [str(scripts / "causalist"), *first_question((ROOT / "README.md").read_text(encoding="utf-8"))]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [*command, "--json"],
            cwd=folder, env=kept, capture_output=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
    if done.returncode:
        print(f"{file.name}: exit code {done.returncode}\n{done.stderr}", file=sys.stderr)
        return 1
    found = [result["node"] for result in json.loads(done.stdout)["results"]]
    if EXPECTED not in found:
        print(f"{file.name}: the answer names {', '.join(found)}, but not {EXPECTED}", file=sys.stderr)
        return 1
    print(f"{file.name}: the answer names {EXPECTED}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
