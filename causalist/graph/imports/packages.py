"""Languages whose files say which package they belong to: qualified names of types, and what imports of them mean.

A type is known by its package and its nesting, wherever its file stands; of several with one name, as versions of an
example or source sets have them, the one nearest to the importing file counts. An import names a type, a member of a
type, or everything in a package or type.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from causalist.graph.imports.path_distance import shared_folders
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind
from causalist.model.language import LanguageSettings, ModuleSystem
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind


@dataclass(slots=True)
class DeclaredTypes:
    """Types by (family of languages, qualified name): numbers of their definitions, in the order of the files. Where
    packages hold functions, these and constants are there as well. `places` says of packages in which folder a loader
    of the program looks for what they hold."""

    paths: Sequence[str] = ()
    types: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)  # -> (file, definition)
    packages: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # -> files
    around: set[tuple[str, str]] = field(default_factory=set)  # namespaces, and those around them
    places: list[tuple[str, str]] = field(default_factory=list)  # (package, folder)

    @classmethod
    def of(
        cls,
        files: Sequence[tuple[str, FileFacts]],
        firsts: Sequence[int],
        settings: Mapping[str, LanguageSettings],
    ) -> "DeclaredTypes":
        """`firsts` are the numbers of each file's first definition."""
        result = cls([path for path, _ in files])
        for number, (path, facts) in enumerate(files):
            for key, value in facts.manifest:
                if key == "autoload":
                    package, folder = value.split("\t")
                    result.places.append((package, posixpath.normpath(posixpath.join(posixpath.dirname(path), folder))))
            language = settings.get(facts.language)
            if language is None or language.modules.system is not ModuleSystem.DECLARED:
                continue
            namespaces = language.modules.namespaces
            if not facts.package and not namespaces:
                continue  # such types can neither be imported nor qualified
            holds = language.modules.holds_functions
            result.packages.setdefault((language.family, facts.package), []).append(number)
            if namespaces:
                parts = facts.package.split(".")
                result.around.update((language.family, ".".join(parts[:i])) for i in range(1, len(parts) + 1))
            inside = [MODULE_SCOPE]  # definitions around which there are types alone
            for local, definition in enumerate(facts.definitions):
                # What a function declares is declared in the namespace, too.
                is_own = (holds and definition.parent < 0) or (
                    namespaces
                    and not (definition.parent >= 0 and facts.definitions[definition.parent].kind not in CALLABLE_KINDS)
                )
                is_type = definition.kind in TYPE_KINDS or definition.kind == NodeKind.NAMESPACE
                if (is_type and definition.parent in inside) or is_own:
                    inside.append(local)
                    # `class A::B` is called `A::B`; what a function declares has its own name alone.
                    is_plain = is_own and not (language.modules.inclusion and definition.parent == MODULE_SCOPE)
                    called = definition.name if is_plain else definition.qualname
                    name = language.family, f"{facts.package}.{called}".lstrip(".")
                    result.types.setdefault(name, []).append((number, firsts[number] + local))
        return result

    def find(self, language: str, name: str, importer: str) -> tuple[int, int] | None:
        """(file, definition) of the type with this qualified name that stands nearest to the file `importer`."""
        found = self.types.get((language, name))
        if not found:
            return None
        if len(found) == 1:
            return found[0]
        expected = self._expected(name)
        loaded = [each for each in found if posixpath.splitext(self.paths[each[0]])[0] in expected]
        return min(loaded or found, key=lambda each: (-shared_folders(importer, self.paths[each[0]]), each))

    def _expected(self, name: str) -> set[str]:
        """The files, without extensions, in which a loader looks for a type."""
        return {
            posixpath.normpath(posixpath.join(folder, name[len(package) :].strip(".").replace(".", "/")))
            for package, folder in self.places
            if not package or name.startswith(f"{package}.")
        }

    def prefix(self, language: str, parts: Sequence[str], importer: str) -> tuple[int, int] | None:
        """(definition, number of parts that name it) of the outermost type that a dotted chain begins with."""
        name = ""
        for count, part in enumerate(parts, 1):
            name = f"{name}.{part.rstrip('()')}" if name else part
            if (language, name) in self.types:
                found = self.find(language, name, importer)
                return (found[1], count) if found else None
            if "(" in part:
                return None
        return None

    def imported_files(self, language: str, entry: Import, importer: str, used: frozenset[str]) -> list[int] | None:
        """Files that an import in `importer` leads to, None if it leads out of the repository.

        Of a package as a whole these are the files of the types that the importer names; `used` are all names in it.
        """
        whole = f"{entry.module}.{entry.name}" if entry.kind == ImportKind.NAME and entry.module else entry.module
        found = self.find(language, whole, importer) or self.find(language, entry.module, importer)
        if found is not None:
            return [found[0]]
        if entry.kind != ImportKind.STAR or (language, entry.module) not in self.packages:
            return None
        named = [self.find(language, f"{entry.module}.{name}", importer) for name in sorted(used)]
        return sorted({each[0] for each in named if each is not None})


def without_types(module: str, parts: int) -> str:
    """The name of what an import from outside comes from: the package, without types and cut to `parts` parts.

    >>> without_types("java.util.Map", 3), without_types("org.junit.jupiter.api.Assertions", 3)
    ('java.util', 'org.junit.jupiter')
    """
    kept: list[str] = []
    for part in module.split("."):
        if len(kept) == parts or (kept and part[:1].isupper()):
            break
        kept.append(part)
    return ".".join(kept)


def names_in(facts: FileFacts) -> frozenset[str]:
    """First names of everything that a file uses."""
    found = {call.callee.lstrip("<").partition(".")[0].partition(">")[0].rstrip("()[]") for call in facts.calls}
    found.update(reference.name.partition("::")[0].partition(".")[0] for reference in facts.references)
    found.update(base.name.partition(".")[0] for base in facts.bases)
    found.update(binding.type.partition(".")[0].rstrip("[]") for binding in facts.bindings if binding.type)
    return frozenset(found)
