"""Sources of packages as repositories, and an environment in which the interpreters resolve their imports.

    python -m tests.benchmarks.fleet.corpus FOLDER [--resolve]

Fetches each pin of `python_packages.txt` and `npm_packages.txt` as sources into FOLDER/python and FOLDER/npm, one
folder a package, and installs the same versions into FOLDER/venv and FOLDER/node. Packages whose sources cannot be had
stay external. `--resolve` writes the pins anew, from the closures of the applications below. Nothing fetched is run
but the build backends of Python packages, by pip.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
PYTHON_APPLICATIONS = (
    "jupyterlab", "dvc", "datasette", "mkdocs-material", "httpie", "twine", "streamlit", "litestar[standard]",
)  # fmt: skip
NPM_APPLICATIONS = ("express", "fastify", "mocha", "winston")
# Packages that serve as held-out questions elsewhere; they are installed, but no members.
_HELD_OUT = """
django sympy scikit-learn matplotlib astropy pytest sphinx pylint xarray requests seaborn flask celery poetry
poetry-core fastapi pydantic pydantic-core transformers ansible keras langchain itsdangerous pluggy boltons hiredis
dateparser model2vec vue @vue/shared trpc typeorm eslint playwright vitest zod svelte dayjs nodebb
"""
HELD_OUT = frozenset(_HELD_OUT.split())
_MAX_SECONDS = 150  # to prepare the sources of a package


def pins(name: str) -> list[tuple[str, str]]:
    """Return (package, version) of the pins of a list, without those that are held out."""
    separator = "==" if name == "python_packages.txt" else "@"
    rows = [line.rpartition(separator) for line in (HERE / name).read_text().split()]
    return [(package, version) for package, _, version in rows if package.lower() not in HELD_OUT]


def _run(*command: str | Path, seconds: float | None = None) -> bool:
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _extract(archives: Iterable[Path], target: Path) -> None:
    for archive in sorted(archives):
        if archive.name.endswith((".tar.gz", ".tgz")):
            with tarfile.open(archive) as packed:
                packed.extractall(target, filter="data")


def fetch_python(folder: Path) -> None:
    """Fetch the sources of the Python pins and install their wheels."""
    environment = folder / "venv"
    if not environment.exists():
        venv.create(environment, with_pip=True)
        listed = (HERE / "python_packages.txt").read_text().split()
        subprocess.run([environment / "bin" / "pip", "install", "-q", "--no-deps", *listed], check=True)
    archives, target = folder / "sdists", folder / "python"
    archives.mkdir(parents=True, exist_ok=True)
    pip = (environment / "bin" / "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", archives)
    for name, version in pins("python_packages.txt"):
        if not _archive_of(name, version, archives) and not _run(*pip, f"{name}=={version}", seconds=_MAX_SECONDS):
            print(f"no sources: {name}=={version}", file=sys.stderr)
    for name, version in pins("python_packages.txt"):
        place = target / _plain(name)
        if (archive := _archive_of(name, version, archives)) and not place.exists():
            aside = target / f"{_plain(name)}.new"
            _extract([archive], aside)
            next(aside.iterdir()).rename(place)
            aside.rmdir()


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _archive_of(name: str, version: str, folder: Path) -> Path | None:
    wanted = f"{_plain(name)}-{_plain(version)}-tar-gz"
    return next((each for each in sorted(folder.iterdir()) if _plain(each.name) == wanted), None)


def fetch_npm(folder: Path) -> None:
    """Fetch the packages of the npm pins, and install them together."""
    installed = folder / "node"
    if not (installed / "node_modules").exists():
        installed.mkdir(parents=True, exist_ok=True)
        packages = dict(pins("npm_packages.txt"))
        (installed / "package.json").write_text(json.dumps({"name": "all", "dependencies": packages}))
        subprocess.run(
            ["npm", "install", "--ignore-scripts", "--no-audit", "--legacy-peer-deps"], cwd=installed, check=True
        )
    for name, version in pins("npm_packages.txt"):
        target = folder / "npm" / name
        # What is at the top is the pinned version; `npm pack` would fetch the same bytes again.
        top = installed / "node_modules" / name
        if (
            top.is_dir()
            and not target.exists()
            and json.loads((top / "package.json").read_text())["version"] == version
        ):
            shutil.copytree(top, target, ignore=shutil.ignore_patterns("node_modules"))


def _resolve(folder: Path) -> None:
    environment = folder / "venv"
    venv.create(environment, with_pip=True)
    pip = environment / "bin" / "pip"
    subprocess.run([pip, "install", "-q", *PYTHON_APPLICATIONS], check=True)
    frozen = subprocess.run([pip, "freeze"], capture_output=True, text=True, check=True).stdout
    (HERE / "python_packages.txt").write_text(frozen)
    installed = folder / "node"
    installed.mkdir(parents=True, exist_ok=True)
    (installed / "package.json").write_text('{"name": "all"}')
    subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", *NPM_APPLICATIONS], cwd=installed, check=True)
    lines = sorted(f"{name}@{version}" for name, version in _installed(installed / "node_modules"))
    (HERE / "npm_packages.txt").write_text("".join(f"{line}\n" for line in lines))


def _installed(modules: Path) -> Iterator[tuple[str, str]]:
    for manifest in sorted([*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]):
        data = json.loads(manifest.read_text())
        yield data["name"], data["version"]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet.corpus")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--resolve", action="store_true")
    arguments = parser.parse_args()
    if arguments.resolve:
        _resolve(arguments.folder)
    fetch_python(arguments.folder)
    fetch_npm(arguments.folder)


if __name__ == "__main__":
    main()
