"""The symbol tables of an indexed repository, opened again to ask what its names mean.

In: an index and a reader of its files. Out: `ShardProgram`, which knows the node of each file and definition, the
meaning of exported names and the files that imports lead to. Bodies are read a few files at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from causalist.graph import Linker, needs_bodies
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.node_and_edge_arrays import NodeDrafts
from causalist.graph.program import Program
from causalist.graph.resolution_results import Resolution, ResolutionKind
from causalist.index.collect import collect_facts
from causalist.index.freshness import aside_of
from causalist.index.options import IndexOptions
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind
from causalist.model.index import Index
from causalist.model.language_settings import ModuleSystem
from causalist.model.source import FileEntry, SourceFile
from causalist.parse import load_settings
from causalist.store import FactsCache

Read = Callable[[FileEntry], SourceFile | str]
_FILES_AT_ONCE = 400  # of which bodies are in memory

PYPI, NPM, GO, JVM, DOTNET, PHP, CARGO, RUBY = "pypi", "npm", "go", "jvm", "dotnet", "php", "cargo", "ruby"
_ECOSYSTEMS = {
    "python": PYPI, "javascript": NPM, "typescript": NPM, "tsx": NPM, "go": GO, "java": JVM, "kotlin": JVM,
    "scala": JVM, "csharp": DOTNET, "php": PHP, "rust": CARGO, "ruby": RUBY,
}  # fmt: skip


@dataclass(slots=True)
class ShardProgram:
    """Symbol tables of a repository. Files and definitions have the numbers of `Program`."""

    program: Program
    drafts: NodeDrafts
    files: Mapping[str, int]  # path -> number
    entries: tuple[FileEntry, ...]
    folders: frozenset[str]  # those with files of Python in them
    constants: frozenset[str]  # names of Ruby that the repository defines at the top
    _collect: Callable[[list[FileEntry], bool], dict[str, FileFacts]]

    @classmethod
    def open(cls, index: Index, read: Read, cache: FactsCache) -> "ShardProgram":
        """Open the tables of an index; facts that the cache does not have are parsed again."""
        manifest = index.manifest
        paths, blobs, unfit, sizes = list(manifest.paths), list(manifest.blobs), list(manifest.unfit), manifest.sizes
        blob_by_path = {path: blob for path, blob in zip(paths, blobs, strict=True) if blob}
        aside = aside_of(index)
        kinds = {path: aside.get(path, "") for path in blob_by_path}
        fit = [i for i, why in enumerate(unfit) if not why and paths[i] in blob_by_path]
        entries = [FileEntry(paths[i], int(sizes[i]), 0) for i in fit]
        options = IndexOptions(processes=1)

        def collect(some: list[FileEntry], bodies: bool) -> dict[str, FileFacts]:
            wanted = None if bodies else ()
            return collect_facts(some, blob_by_path, read, cache, options, kinds=kinds, words=(), bodies=wanted)[0]

        facts, settings = collect(entries, False), load_settings()
        needed = [
            each for each in entries if each.path in facts and needs_bodies(each.path, facts[each.path], settings)
        ]
        facts.update(collect(needed, True) if needed else {})
        files = [(each.path, facts[each.path]) for each in entries if each.path in facts]
        linker = Linker.from_files(files, settings)
        numbers = {path: number for number, (path, _) in enumerate(files)}
        ruby = (each for _, each in files if each.language == RUBY)
        constants = frozenset(d.name for each in ruby for d in each.definitions if d.parent == MODULE_SCOPE)
        entries = [each for each in entries if each.path in facts]
        folders = _folders_of(path for path, each in files if each.language == "python")
        return cls(linker.program, linker.drafts, numbers, tuple(entries), folders, constants, collect)

    def ecosystem(self, file: int) -> str:
        """Return the ecosystem of the language of a file, "" for others."""
        return _ECOSYSTEMS.get(self.program.files[file].facts.language, "")

    def file_node(self, file: int) -> str:
        """Return the node of a file."""
        return str(self.drafts[file].id)

    def definition_node(self, definition: int) -> str:
        """Return the node of a definition."""
        return str(self.drafts[self.drafts.of_definition(definition)].id)

    def scope_node(self, file: int, scope: int) -> str:
        """Return the node of a scope of a file."""
        return self.file_node(file) if scope < 0 else self.definition_node(self.program.files[file].first + scope)

    def with_bodies(self) -> Iterator[tuple[int, FileSymbols]]:
        """Yield each file with its symbols, whose facts have their bodies until the next one is asked for."""
        entries = [each for each in self.entries if self.ecosystem(self.files[each.path])]
        for first in range(0, len(entries), _FILES_AT_ONCE):
            some = entries[first : first + _FILES_AT_ONCE]
            facts = self._collect(some, True)
            for each in some:
                number = self.files[each.path]
                symbols = self.program.files[number]
                with symbols.use_facts(facts.pop(each.path, symbols.facts)):
                    yield number, symbols

    def is_internal(self, file: int, entry: Import) -> bool:
        """Return True if an import leads to a file of the repository."""
        symbols, program = self.program.files[file], self.program
        settings = symbols.settings
        if settings is None or entry.level or entry.module.startswith("."):
            return True
        if settings.modules.system is ModuleSystem.DECLARED:
            return program.declared.find_imported_files(settings.family, entry, symbols.path, frozenset()) is not None
        if program.tree_paths.tree.has_file(file):
            return not program.tree_paths.find_target(file, entry)[2]
        if program.target_module(file, entry)[0] >= 0:
            return True
        if self.ecosystem(file) == PYPI and self._is_beside(symbols.path, entry.module.partition(".")[0]):
            return True
        if entry.kind in (ImportKind.NAME, ImportKind.REEXPORT) and settings.modules.system is ModuleSystem.DOTTED:
            submodule = program.modules.find_namespace_submodule(
                symbols.path, entry.module, entry.level, entry.name, settings.modules
            )
            return submodule >= 0
        return False

    def _is_beside(self, path: str, top: str) -> bool:
        """Return True if a run of a Python file finds a folder or file of that name first."""
        folder = path.rpartition("/")[0]
        places = {"", "src/", "lib/", "python/"}
        if f"{folder}/__init__.py" not in self.files:
            places.add(f"{folder}/" if folder else "")
        return any(f"{place}{top}" in self.folders or f"{place}{top}.py" in self.files for place in places)

    def node_of(self, resolution: Resolution | None) -> str:
        """Return the node of a meaning, "" if it is none of the repository."""
        if resolution is None or resolution.number < 0:
            return ""
        if resolution.kind is ResolutionKind.DEFINITION:
            return self.definition_node(resolution.number)
        return self.file_node(resolution.number) if resolution.kind is ResolutionKind.MODULE else ""

    def visible_names(self, file: int, seen: frozenset[int] = frozenset()) -> dict[str, None]:
        """Return the names that importers of a file may see, those of its wildcards of this repository included."""
        symbols = self.program.files[file]
        names: dict[str, None] = dict.fromkeys(symbols.exports)
        facts = symbols.facts
        names.update(dict.fromkeys(each.qualname for each in facts.definitions if each.parent == MODULE_SCOPE))
        names.update(dict.fromkeys(symbols.reexports))
        if symbols.has_visible_imports and self.ecosystem(file) == PYPI:
            names.update(dict.fromkeys(symbols.imports.get(MODULE_SCOPE, {})))
        for star in symbols.stars:
            target, _ = self.program.target_module(file, star)
            if target >= 0 and target != file and target not in seen and not symbols.has_folder_imports:
                more = self.visible_names(target, seen | {file})
                listed = self.program.files[target].facts.wildcard_exports
                if star.kind == ImportKind.STAR:
                    more = dict.fromkeys(n for n in more if (n in listed if listed is not None else n[:1] != "_"))
                names.update(more)
        return names


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders that paths are in, and those around them.

    >>> sorted(_folders_of(["a/b/c.py", "d.py"]))
    ['a', 'a/b']
    """
    folders: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    return frozenset(folders)
