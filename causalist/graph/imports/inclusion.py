"""Languages whose files run one another: what stands at the top of a file is there for those that include it, and for
those that are included together with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from causalist.graph.file_symbols import FileNames
from causalist.graph.imports.path_distance import shared_folders
from causalist.graph.program.namespaces import included_file
from causalist.model.facts import ImportKind


@dataclass(slots=True)
class Inclusion:
    """Which files include which, for languages that say so."""

    paths: Sequence[str] = ()
    includes: dict[int, set[int]] = field(default_factory=dict)
    included_by: dict[int, set[int]] = field(default_factory=dict)
    _reach: dict[int, frozenset[int]] = field(default_factory=dict)
    _below: dict[frozenset[int], frozenset[int]] = field(default_factory=dict)  # what files include, by these files

    @classmethod
    def of(cls, tables: Sequence[FileNames], numbers: dict[str, int]) -> "Inclusion":
        result = cls([names.path for names in tables])
        for file, names in enumerate(tables):
            if names.settings is None or not names.settings.modules.inclusion:
                continue
            for entry in names.facts.imports:
                if entry.kind == ImportKind.SIDE_EFFECT:
                    target = included_file(numbers, names.path, entry.module, names.settings.modules)
                    if target >= 0:
                        result.includes.setdefault(file, set()).add(target)
                        result.included_by.setdefault(target, set()).add(file)
        return result

    def nearest(self, file: int, several: Iterable[tuple[int, int]]) -> int:
        """The definition, of (file, definition), of the nearest file that `file` sees; -1 for none."""
        seen = [each for each in several if each[0] in self.reach(file)]
        path = self.paths[file]
        return min(seen, key=lambda each: (-shared_folders(path, self.paths[each[0]]), each))[1] if seen else -1

    def reach(self, file: int) -> frozenset[int]:
        """The file, those around it that include it, by whatever way, and all that these include."""
        found = self._reach.get(file)
        if found is None:
            # Whoever includes a file includes it again: many files share one answer.
            around = frozenset(_closure(set(self.included_by.get(file, {file})), self.included_by))
            found = self._below.get(around)
            if found is None:
                found = self._below[around] = frozenset(_closure(set(around), self.includes))
            self._reach[file] = found
        return found


def _closure(start: set[int], leads_to: Mapping[int, set[int]]) -> set[int]:
    found, waiting = set(start), sorted(start)
    while waiting:
        new = leads_to.get(waiting.pop(), set()) - found
        found |= new
        waiting.extend(sorted(new))
    return found
