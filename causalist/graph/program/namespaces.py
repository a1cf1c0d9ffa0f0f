"""Languages whose declared packages are namespaces: what names of several parts, and functions, mean.

A name of several parts begins in the package of its file, or with a name that the file imports; one with a separator in
front begins in the outermost package. A function or constant that the own package lacks is the outermost package's.
"""

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING

from causalist.graph.file_symbols import FileNames
from causalist.graph.values import Found, Value
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind
from causalist.model.language import LanguageSettings, ModuleSettings, ModuleSystem
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from causalist.graph.program.program import Program


def find_path(program: "Program", names: FileNames, parts: Sequence[str]) -> tuple[int, int] | None:
    """(definition, number of `parts` that name it) of the outermost definition that a chain begins with. The first part
    is "" where a separator stands before the name. Where packages are no namespaces a chain begins in the outermost."""
    declared, settings, written = program.declared, names.settings, list(parts)
    assert settings is not None
    if settings.modules.headers:
        return _in_sight(program, names, parts)
    if not settings.modules.namespaces:
        return declared.prefix(settings.family, parts, names.path)
    if not parts[0]:
        return _shifted(declared.prefix(settings.family, written[1:], names.path), 1)
    entry = names.imports.get(MODULE_SCOPE, {}).get(parts[0])
    above = names.facts.package.split(".") if names.facts.package else []
    if dict(settings.modules.relative).get(parts[0]) == "here":
        return _shifted(declared.prefix(settings.family, above + written[1:], names.path), 1 - len(above))
    if entry is not None:
        above = [*entry.module.split("."), entry.name] if entry.module else [entry.name]
        return _shifted(declared.prefix(settings.family, above + written[1:], names.path), 1 - len(above))
    found = _shifted(declared.prefix(settings.family, above + written, names.path), -len(above))
    if found is not None and settings.modules.inclusion and program.definition_of[found[0]].kind in CALLABLE_KINDS:
        several = declared.types[settings.family, ".".join(part.rstrip("()") for part in written[: found[1]])]
        number = program.inclusion.nearest(program.modules.number[names.path], several)
        return (number, found[1]) if number >= 0 else None
    if found is not None and found[1] > 0:
        return found
    found = declared.prefix(settings.family, written[:1], names.path)
    return found if found is not None and program.definition_of[found[0]].kind not in TYPE_KINDS else None


def _in_sight(program: "Program", names: FileNames, parts: Sequence[str]) -> tuple[int, int] | None:
    """As `find_path`, where namespaces are part of the names of what they hold: in those that the file opens or uses,
    the innermost first, and in the outermost."""
    file = program.modules.number[names.path]
    for count in range(1, len(parts) + 1):
        written = ".".join(part.rstrip("()[]") for part in parts[:count])
        for around in (*names.opened, ""):
            qualname = f"{around}.{written}" if around else written.removeprefix(".")
            number = names.by_qualname.get(qualname)
            if number is None:
                number = program.packages.definition(file, qualname, program.files)
            if number is not None:
                return number, count
        if "(" in parts[count - 1]:
            break
    return None


def shared(program: "Program", names: FileNames, name: str) -> Value | None:
    """What a bare name means that files of one package share. Where namespaces are part of names, one in sight comes
    before what stands outside of them all."""
    file = program.modules.number[names.path]
    number = program.packages.definition(file, name, program.files)
    if number is None:
        return None
    inner = _in_sight(program, names, [name]) if names.opened else None
    if inner is None or inner[0] == number:
        return Value("definition", number, "package-scope")
    return Value("definition", inner[0], rule_of_path(program, file, inner[0]))


def rule_of_path(program: "Program", file: int, definition: int) -> str:
    """How `find_path` found a definition."""
    settings = program.files[file].settings
    if settings is None or not (settings.modules.headers or settings.modules.inclusion):
        return "import"
    return "same-file" if program.file_of[definition] == file else "package-scope"


def may_go_on(settings: LanguageSettings, value: Value, parts: Sequence[str]) -> bool:
    """Whether what an import means is perhaps no type from outside, but a package here in which the next name is."""
    return settings.modules.namespaces and value.kind == "external" and len(parts) > 1


def _shifted(found: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    return (found[0], found[1] + by) if found is not None else None


def outside(entry: Import, settings: LanguageSettings) -> str:
    """The name of what an import from outside comes from: the first parts of its path; for a name without a path, which
    belongs to the language, the language."""
    if not entry.module:
        return settings.name
    return settings.names.path_separator.join(entry.module.split(".")[: settings.modules.external_parts])


def imported_files(program: "Program", settings: LanguageSettings, names: FileNames, entry: Import) -> list[int]:
    """Files of what a file uses below a package that it imports; none where it is no package of the repository."""
    if entry.kind != ImportKind.NAME:
        return []
    declared, whole = program.declared, f"{entry.module}.{entry.name}".strip(".")
    if (settings.family, whole) not in declared.around:
        return []
    found = set()
    for chain in _chains(names.facts):
        head, dot, rest = chain.partition(".")
        if head == entry.alias and dot:
            parts = [*whole.split("."), *rest.split(".")]
            meant = declared.prefix(settings.family, parts, names.path)
            if meant is not None:
                found.add(program.file_of[meant[0]])
    return sorted(found)


def of_whole(program: "Program", file: int, name: str, settings: LanguageSettings) -> Found | None:
    """The member of what a file gives as a whole, where that is all that others get of it."""
    if settings.modules.system is not ModuleSystem.DOTTED or not settings.modules.require:
        return None
    whole = program.exported(file, "default")
    number = program.member(whole.number, name) if whole is not None and whole.kind == "definition" else -1
    return Found("definition", number, "import") if number >= 0 else None


def _chains(facts: FileFacts) -> list[str]:
    """Names of several parts that a file uses."""
    written = [call.callee for call in facts.calls] + [reference.name for reference in facts.references]
    written += [base.name for base in facts.bases] + [binding.type for binding in facts.bindings]
    return [chain for chain in written if "." in chain]


def included_file(paths: dict[str, int], importer: str, written: str, settings: ModuleSettings) -> int:
    """The file that a statement includes by its path, or -1: seen from the folder of the importing file, or from the
    next folder around it that has such a file, because programs put the folder in front in many ways."""
    folder = posixpath.dirname(importer)
    ends = ("", *settings.extensions) if settings.inclusion else ("",)
    while True:
        for below in ("", *settings.folders):
            for end in ends:
                at = posixpath.normpath(posixpath.join(folder, below, f"{written.lstrip('/')}{end}"))
                if at in paths and at != importer:
                    return paths[at]
        if not folder:
            return -1
        folder = posixpath.dirname(folder)
