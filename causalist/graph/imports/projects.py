"""Languages in which an import may hold in every file of a project, wherever it stands (`global using`), and may leave
out the packages around that of its file."""

import posixpath
from collections.abc import Sequence

from causalist.graph.file_symbols import FileNames
from causalist.graph.imports.packages import DeclaredTypes
from causalist.model.facts import Import, ImportKind


def share_imports(tables: Sequence[FileNames], declared: DeclaredTypes) -> None:
    """Says the whole names of packages in the wildcard imports of each file, and adds those that another file of its
    project passes on."""
    for names in tables:
        if names.settings is not None and names.settings.modules.above:
            names.stars[:] = [whole(declared, names, star) for star in names.stars]
    passed_on: dict[tuple[str, str], dict[str, Import]] = {}  # (language, project) -> module -> import
    ends = {end for names in tables if names.settings is not None for end in names.settings.modules.projects}
    if not ends:
        return
    folders = {posixpath.dirname(names.path) for names in tables if names.path.lower().endswith(tuple(ends))}
    reading = [names for names in tables if names.settings is not None and names.settings.modules.projects]
    for names in reading:
        for star in names.stars:
            if star.kind == ImportKind.REEXPORT_ALL:
                key = names.facts.language, project_of(names.path, folders)
                passed_on.setdefault(key, {}).setdefault(star.module, star)
    for names in reading if passed_on else ():
        own = {star.module for star in names.stars}
        more = passed_on.get((names.facts.language, project_of(names.path, folders)), {})
        names.stars.extend(star for module, star in more.items() if module not in own)


def project_of(path: str, folders: set[str]) -> str:
    """The innermost of `folders` around a file, or the folder in which it stands.

    >>> project_of("src/a/b/C.cs", {"src/a", ""}), project_of("src/a/b/C.cs", set())
    ('src/a', 'src/a/b')
    """
    folder = posixpath.dirname(path)
    while folder not in folders:
        if not folder:
            return posixpath.dirname(path)
        folder = posixpath.dirname(folder)
    return folder


def whole(declared: DeclaredTypes, names: FileNames, entry: Import) -> Import:
    """An import with the whole name of what it means: `using B` in the package A is A.B where there is such a one."""
    settings, package = names.settings, names.facts.package
    if settings is None or not settings.modules.above:
        return entry
    while package:
        name = settings.family, f"{package}.{entry.module}"
        if name in declared.packages or name in declared.types:
            return entry._replace(module=name[1])
        package = package.rpartition(".")[0]
    return entry
