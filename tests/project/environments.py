"""Virtual environments in which only declared dependencies can be imported, made without a network.

What is installed beside the tests is linked into them: the closure of the requirements that a wheel declares, as the
metadata of the installed distributions state it. A dependency that is used and not declared is therefore missing.
"""

import ast
import sys
import sysconfig
import venv
from collections.abc import Iterable, Iterator, Mapping
from email.parser import HeaderParser
from functools import cache
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path
from zipfile import ZipFile

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "causalist"


class Environment:
    """A virtual environment in `folder`, empty at first."""

    def __init__(self, folder: Path) -> None:
        venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
        paths = sysconfig.get_paths(scheme="venv", vars={"base": str(folder), "platbase": str(folder)})
        self.site = Path(paths["purelib"])
        self.scripts = Path(paths["scripts"])

    @property
    def python(self) -> Path:
        return self.scripts / Path(sys.executable).name

    def link(self, distributions: Iterable[str]) -> None:
        """Makes the files of installed distributions importable."""
        for name in distributions:
            found = distribution(name)
            for top in sorted({file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}):
                _link(Path(str(found.locate_file(top))), self.site / top)


def _link(source: Path, target: Path) -> None:
    """Links, or merges two folders of one name, as namespace packages have them."""
    if not target.exists():
        target.symlink_to(source)
    elif target.is_dir() and source.is_dir() and not target.samefile(source):
        if target.is_symlink():
            there = target.resolve()
            target.unlink()
            target.mkdir()
            for child in there.iterdir():
                (target / child.name).symlink_to(child)
        for child in source.iterdir():
            _link(child, target / child.name)


def requirements_of_wheel(wheel: Path) -> list[Requirement]:
    """What the wheel itself declares, with the markers of its extras."""
    with ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    return [Requirement(line) for line in metadata.get_all("Requires-Dist", ())]


def extras_of_wheel(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return list(HeaderParser().parsestr(archive.read(name).decode()).get_all("Provides-Extra", ()))


def direct(declared: Iterable[Requirement], extra: str = "") -> list[Requirement]:
    """The requirements that hold here without an extra, or those that `extra` adds; `project[a]` stands for them."""
    declared = list(declared)
    result = []
    for requirement in declared:
        marked = requirement.marker is not None and "extra ==" in str(requirement.marker)
        if marked != bool(extra) or not _holds(requirement, extra):
            continue
        if canonicalize_name(requirement.name) == PROJECT:
            result += [part for inner in sorted(requirement.extras) for part in direct(declared, inner)]
        else:
            result.append(requirement)
    return result


def closure(requirements: Iterable[Requirement]) -> set[str]:
    """Names of all distributions that are needed, by the metadata of those installed here."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(r, extra) for r in requirements for extra in ("", *r.extras)]
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        found.add(name)
        assert requirement.specifier.contains(_installed(name).version, prereleases=True), f"{requirement} is not met"
        inner = [Requirement(line) for line in _installed(name).requires or ()]
        waiting += [(r, e) for r in inner if _holds(r, extra) for e in ("", *r.extras)]
    return found


@cache
def _installed(name: str) -> Distribution:
    return distribution(name)


def _holds(requirement: Requirement, extra: str) -> bool:
    environment = {key: str(value) for key, value in default_environment().items()} | {"extra": extra}
    return requirement.marker is None or requirement.marker.evaluate(environment)


def import_names(requirements: Iterable[Requirement]) -> set[str]:
    """Top-level names that the required distributions themselves provide."""
    wanted = {canonicalize_name(r.name) for r in requirements}
    return {top for top, names in _packages().items() if wanted & {canonicalize_name(name) for name in names}}


@cache
def _packages() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def imports_of(source: Path) -> tuple[tuple[str, bool], ...]:
    """(dotted module, whether it is imported when the file is) of every import of something outside the project and
    the standard library; what only a type checker reads is left out."""
    return tuple(_imports(ast.parse(source.read_bytes()), at_once=True))


def _imports(node: ast.AST, at_once: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):  # holds no statement, and most of a tree are these
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.Import):
            names = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
            names = [child.module]
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports(child, at_once and not inside)
            continue
        for name in names:
            top = name.partition(".")[0]
            if top != PROJECT and top not in sys.stdlib_module_names:
                yield name, at_once
