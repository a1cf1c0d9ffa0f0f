"""Run the steps of the Dockerfile in a clean root, where no container engine is there.

    image_steps.py ROOT [FILE...]

ROOT holds a system with Python, for example of `debootstrap --variant=minbase --include=python3,python3-venv,
python-is-python3,ca-certificates bookworm ROOT`; it stands for the images of both stages. COPY and RUN are carried out,
ENV and USER hold for the last command: the first question of the README, asked of the sample repository in /repo. Needs
root. FILEs of this machine are copied to the same place: certificates, sources of packages, names of hosts.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / ".ci"))

from smoke_test import EXPECTED, first_question  # noqa: E402


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    r"""Return the instructions of a Dockerfile with their arguments.

    >>> instructions("# a\nFROM x AS y\nRUN a \\\n    && b\n")
    [('FROM', 'x AS y'), ('RUN', 'a && b')]
    """
    lines = "\n".join(line for line in dockerfile.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines)
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())]


def copy_context(target: Path) -> None:
    """Copy what git tracks and .dockerignore keeps."""
    kept = [line[1:].removesuffix("/**") for line in (TOP / ".dockerignore").read_text().splitlines() if line[0] == "!"]
    listed = subprocess.run(["git", "-C", str(TOP), "ls-files", "-z", *kept], capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, target / name)


def main(arguments: list[str]) -> int:
    """Run the steps in the root that the arguments name; return the exit code."""
    if not arguments or not Path(arguments[0], "usr/bin/python3").exists():
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0]).resolve()
    for name in ("/etc/resolv.conf", *arguments[1:]):
        (root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, root / name[1:])
    passed = [name for name in os.environ if name.startswith(("PIP_", "SSL_")) or "proxy" in name.lower()]
    network = {name: os.environ[name] for name in passed}
    variables, user = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}, "0"
    for name, rest in instructions((TOP / "Dockerfile").read_text(encoding="utf-8")):
        if name == "RUN":
            print(f"RUN {rest}", flush=True)
            subprocess.run(["chroot", root, "sh", "-ec", rest], env={**variables, **network}, check=True)
        elif name == "COPY" and not rest.startswith("--from"):  # stages share the root
            copy_context(root / rest.split()[1][1:])
        elif name == "ENV":
            variable, _, value = rest.partition("=")
            variables[variable] = value.replace(f"${variable}", variables.get(variable, ""))
        elif name == "USER":
            user = rest
    shutil.rmtree(root / "src", ignore_errors=True)  # the last stage does not have it
    shutil.rmtree(root / "repo", ignore_errors=True)
    sample = TOP / "sample_repos" / "taskboard-api"
    shutil.copytree(sample, root / "repo", ignore=shutil.ignore_patterns(".causalist"))
    words = first_question((TOP / "README.md").read_text(encoding="utf-8"))
    at = words.index("--repo")
    words = [*words[:at], *words[at + 2 :]]
    shell = ["sh", "-c", 'cd /repo && exec causalist "$@"', "sh"]
    done = subprocess.run(
        ["chroot", f"--userspec={user}", root, *shell, *words, "--json"],
        env={**variables, "HOME": "/home/causalist"}, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode or EXPECTED not in done.stdout:
        print(done.stdout[-2000:], done.stderr, file=sys.stderr)
        return 1
    print("the program answers in the clean root")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
