"""A repository with the documentation of many releases, as a branch of pages has it: pages of javadoc in OUT.

    python -m tests.benchmarks.generated.javadoc API SOURCE OUT VERSIONS

API is a tree that `javadoc` wrote, SOURCE the code behind it. Each release gets a copy whose pages differ in one line.
"""

import shutil
import subprocess
import sys
from pathlib import Path


def main() -> None:
    api, source, out, versions = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
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
