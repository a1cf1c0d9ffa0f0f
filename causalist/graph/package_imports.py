"""Which files of a package an import leads to: those that define what the importing file uses of it.

An import names a package, which is several files. A file that nothing is used of does not matter to the importer; an
import for its side effects, or of which no use is seen, leads to the files with code that runs when the package is
loaded, or else to the one file that stands for the package.
"""

from dataclasses import dataclass, field

from causalist.graph.file_symbols import FileNames
from causalist.graph.infer.base import split_marks
from causalist.graph.program.program import Program
from causalist.model.facts import MODULE_SCOPE, Import, ImportKind
from causalist.model.language import ModuleSystem

_LOADED = "init"  # runs when the package is loaded


@dataclass(slots=True)
class PackageImports:
    """Asked for one file after the other: the uses of the last one are kept."""

    program: Program
    _file: int = -1
    _members: dict[str, set[str]] = field(default_factory=dict)  # first name of a chain -> second names

    def has_folders(self, file: int) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and settings.modules.system is ModuleSystem.FOLDER

    def files_of(self, file: int, target: int, entry: Import) -> list[int]:
        """The files that an import in `file` of the package of the file `target` leads to, by number."""
        if file != self._file:
            self._file, self._members = file, _members_of(self.program.files[file])
        program = self.program
        names = program.files[file]
        used: set[str] = set()
        if entry.kind == ImportKind.STAR:
            own = program.packages.definition
            used = {head for head in self._members if own(file, head, program.files) is None}
        else:
            for local, each in names.imports.get(MODULE_SCOPE, {}).items():
                if each is entry:
                    used = self._members.get(local, set())
        found = set()
        for name in used:
            number = program.packages.definition(target, name, program.files, asking=file)
            if number is not None:
                found.add(program.file_of[number])
        if not found:
            key = program.packages.package_of[target]
            assert key is not None
            found = {each for each in program.packages.files_of[key] if _LOADED in program.files[each].by_qualname}
        return sorted(found or {target})


def _members_of(names: FileNames) -> dict[str, set[str]]:
    facts = names.facts
    result: dict[str, set[str]] = {}
    for rows in (facts.calls, facts.references):
        for row in rows:
            _add(result, row[1])
    for base in facts.bases:
        _add(result, base.name)
    return result


def _add(members: dict[str, set[str]], chain: str) -> None:
    head, *rest = chain.split(".", 2)
    members.setdefault(split_marks(head)[0], set()).update(split_marks(each)[0] for each in rest[:1])
