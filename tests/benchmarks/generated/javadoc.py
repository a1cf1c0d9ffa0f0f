"""A repository with the documentation of many releases, as a branch of pages has it: pages of javadoc in OUT.

    python -m tests.benchmarks.generated.javadoc API SOURCE OUT VERSIONS

API is a tree that `javadoc` wrote, SOURCE the code behind it. Each release gets a copy whose pages differ in one line.
"""

import argparse
import shutil
import subprocess
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("api", type=Path, help="a tree that `javadoc` wrote")
    parser.add_argument("source", type=Path, help="the code behind it")
    parser.add_argument("out", type=Path, help="the folder to make, a git repository")
    parser.add_argument("versions", type=int, help="number of releases")
    arguments = parser.parse_args()
    api, source, out, versions = arguments.api, arguments.source, arguments.out, arguments.versions
    shutil.copytree(source, out / "src")
    for number in range(versions):
        for page in sorted(api.rglob("*")):
            target = out / "javadoc" / f"2.{number}" / page.relative_to(api)
            if page.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                data = page.read_bytes()
                if page.suffix == ".html":
                    data = data.replace(b"</title>", b" (2.%d)</title>" % number, 1)
                target.write_bytes(data)
    for words in (("init", "-q"), ("add", "-A")):
        subprocess.run(["git", *words], cwd=out, check=True)
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "pages"], cwd=out, check=True
    )


if __name__ == "__main__":
    main()
