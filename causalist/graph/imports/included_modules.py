"""Modules that files are put together to by inclusion, and the methods that functions have in them.

In: a module and a name. Out: what the name means there, and all methods of the function, wherever they stand.
`HeaderReach` gives all files that one includes.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.resolution_results import Meaning, ModuleKey
from causalist.graph.rules import RuleName
from causalist.model.facts import Definition, Import, ImportKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from causalist.model.role_by_path import is_secondary

_OUTSIDE = ModuleKey("", "")  # has the functions of the language and of its libraries
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_RUNNER = "runtests.jl"  # includes the other files of tests, by whatever names
_MAX_PASSED_ON = 12  # imports that are followed before a name is given up


@dataclass(slots=True)
class HeaderReach:
    """Files that a file includes, directly and through others.

    `target` gives the (file, rule) of an import.
    """

    target: Callable[[int, Import], tuple[int, str]]
    files: Sequence[FileSymbols]
    _direct: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _last: tuple[int, frozenset[int]] = (-1, frozenset())

    def reach(self, file: int) -> frozenset[int]:
        """Return the file and all that it includes, with -1 if a quoted file is missing.

        A missing file is made when the program is built, and may include anything. The answer for one file is kept,
        because questions come file by file.
        """
        if self._last[0] != file:
            seen, queue = {file}, [file]
            while queue:
                new = [each for each in self._find_included(queue.pop()) if each not in seen]
                seen.update(new)
                queue += [each for each in new if each >= 0]
            self._last = file, frozenset(seen)
        return self._last[1]

    def _find_included(self, file: int) -> tuple[int, ...]:
        cached = self._direct.get(file)
        if cached is None:
            entries = self.files[file].facts.imports
            targets = [(self.target(file, entry)[0], entry.module) for entry in entries]
            cached = tuple(sorted({each for each, written in targets if each >= 0 or not written.startswith("<")}))
            self._direct[file] = cached
        return cached


@dataclass(slots=True)
class IncludedModules:
    """Modules that files are put together to by inclusion: what names mean in them, and the methods of functions.

    A file belongs to the module in which another one includes it, a method to the function that its name means there.
    """

    files: Sequence[FileSymbols] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    at: Sequence[int] = ()  # the file of each definition
    _includers: dict[int, tuple[int, int]] = field(default_factory=dict)  # file -> (file, scope) that includes it
    _names: dict[ModuleKey, dict[str, list[int]]] = field(default_factory=dict)  # -> definitions by name
    _imports: dict[ModuleKey, dict[str, Import]] = field(default_factory=dict)
    _stars: dict[ModuleKey, list[Import]] = field(default_factory=dict)
    _methods: dict[tuple[ModuleKey, str], list[int]] = field(default_factory=dict)
    _tops: dict[int, ModuleKey] = field(default_factory=dict)
    _known: dict[tuple[ModuleKey, str], Meaning | None] = field(default_factory=dict)
    _is_built: bool = False

    # -- modules

    def module_at(self, file: int, scope: int) -> ModuleKey:
        """Return the module around a scope of a file."""
        definitions, names = self.files[file].facts.definitions, list[str]()
        while scope >= 0:
            if definitions[scope].kind == NodeKind.NAMESPACE:
                names.append(definitions[scope].name)
            scope = definitions[scope].parent
        top = self._top_of(file)
        return ModuleKey(top.root, ".".join(filter(None, [top.name, *reversed(names)]))) if names else top

    def _top_of(self, file: int) -> ModuleKey:
        self._build()
        if file not in self._tops:
            self._tops[file] = ModuleKey(path := self.files[file].path, "")  # files that include one another
            includer = self._includers.get(file)
            self._tops[file] = self.module_at(*includer) if includer is not None else self._top_of_script(path)
        return self._tops[file]

    def _top_of_script(self, path: str) -> ModuleKey:
        """Return the module of a file that none includes by its name: of a package, of the tests around, or its own."""
        if self._is_package(path):
            return _OUTSIDE
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            runner = f"{folder}/{_RUNNER}" if folder else _RUNNER
            if runner != path and runner in self.numbers:
                return self._top_of(self.numbers[runner])
            if folder.rpartition("/")[2] == "src":
                beside = (each.path for each in self.files if posixpath.dirname(each.path) == folder)
                stems = (posixpath.splitext(posixpath.basename(each))[0] for each in beside if self._is_package(each))
                return next((ModuleKey("", stem) for stem in stems), ModuleKey(path, ""))
        return ModuleKey(path, "")

    def _is_package(self, path: str) -> bool:
        stem = posixpath.splitext(posixpath.basename(path))[0]
        symbols = self.files[self.numbers[path]]
        number = symbols.by_qualname.get(stem, -1) - symbols.first
        return number >= 0 and symbols.facts.definitions[number].kind == NodeKind.NAMESPACE

    def _build(self) -> None:
        if self._is_built:
            return
        self._is_built = True
        own = [(i, each) for i, each in enumerate(self.files) if each.settings and each.settings.names.dispatched]
        for file, symbols in sorted(own, key=lambda each: (is_secondary(each[1].path), each[1].path)):
            for entry in symbols.facts.imports:
                if entry.kind == ImportKind.SIDE_EFFECT:
                    path = posixpath.normpath(posixpath.join(posixpath.dirname(symbols.path), entry.module))
                    target = self.numbers.get(path, -1)
                    if target >= 0 and target != file:
                        self._includers.setdefault(target, (file, entry.scope))
        for file, symbols in own:
            for entry in symbols.facts.imports:
                module = self.module_at(file, entry.scope)
                if entry.kind == ImportKind.STAR:
                    self._stars.setdefault(module, []).append(entry)
                if entry.kind in (ImportKind.STAR, ImportKind.MODULE, ImportKind.NAME):
                    alias = entry.alias if entry.alias not in ("", "*") else entry.module.rpartition(".")[2]
                    self._imports.setdefault(module, {}).setdefault(alias, entry)
        qualified: list[tuple[int, ModuleKey, str]] = []
        for file, symbols in own:
            self._add_definitions(file, symbols, qualified)
        for (module, name), functions in [*self._methods.items()]:
            self._add_methods(self.owner_of(module, name), name, functions)
        for number, module, name in qualified:
            holder = self.follow(module, name.rpartition(".")[0])
            last = name.rpartition(".")[2]
            of_module = holder.module if holder is not None and not holder.definitions else None
            self._add_methods(self.owner_of(of_module, last) if of_module is not None else _OUTSIDE, last, [number])

    def _add_definitions(self, file: int, symbols: FileSymbols, qualified: list[tuple[int, ModuleKey, str]]) -> None:
        definitions, owners = symbols.facts.definitions, dict(symbols.facts.owners)
        for local, each in enumerate(definitions):
            around = each.parent
            if each.kind in (NodeKind.FIELD, NodeKind.HANDLER) or local in owners:
                continue
            name = f"@{each.name}" if each.kind == NodeKind.MACRO else each.name
            if around >= 0 and definitions[around].kind in TYPE_KINDS:
                if each.name != definitions[around].name:
                    continue
                around = definitions[around].parent  # a constructor
            at = around
            while at >= 0 and definitions[at].kind == NodeKind.NAMESPACE:
                at = definitions[at].parent
            if at >= 0:
                continue  # of a function
            module, number = self.module_at(file, around), symbols.first + local
            before = definitions[each.parent].qualname + "." if each.parent >= 0 else ""
            written = each.qualname.removeprefix(before)
            if "." in written and each.kind in CALLABLE_KINDS:
                qualified.append((number, module, written))
                continue
            self._names.setdefault(module, {}).setdefault(name, []).append(number)
            if each.kind in CALLABLE_KINDS or each.kind in TYPE_KINDS:
                self._methods.setdefault((module, name), []).append(number)

    def _add_methods(self, owner: ModuleKey, name: str, functions: list[int]) -> None:
        known = self._methods.setdefault((owner, name), [])
        known.extend(each for each in functions if each not in known)

    def owner_of(self, module: ModuleKey, name: str) -> ModuleKey:
        """Return the module whose function a method of that name belongs to that is written in a module."""
        for _ in range(_MAX_PASSED_ON):
            found = self._imports.get(module, {}).get(name)
            if found is None:
                if name in self._names.get(module, {}):
                    return module
                passed = self.find(module, name)
                return passed.module if passed is not None and passed.definitions and passed.module else _OUTSIDE
            above, last = self._split(found)
            holder = self._find_module(module, above, found.level)
            if holder is None or holder == module:
                return _OUTSIDE if holder is None else module
            module, name = holder, last
        return module

    @staticmethod
    def _split(entry: Import) -> tuple[str, str]:
        """Return the module from which an import takes a name, and the name."""
        if entry.kind == ImportKind.NAME:
            return entry.module, entry.name
        above, _, last = entry.module.rpartition(".")
        return above, last

    # -- names

    def methods_of(self, module: ModuleKey, name: str) -> Sequence[int]:
        """Return the methods of a function of a module, with its type where it is one."""
        self._build()
        return self._methods.get((module, name), ())

    def methods_outside(self, name: str) -> Sequence[int]:
        """Return the methods that the repository adds to a function from outside."""
        return self.methods_of(_OUTSIDE, name)

    def find_file(self, file: int, entry: Import) -> int:
        """Return the file that an import leads to: that of the module, or -1."""
        module = self.module_at(file, entry.scope)
        holder = self._find_module(module, entry.module, entry.level)
        if holder is None and entry.kind == ImportKind.MODULE and entry.level:
            holder = self._find_module(module, self._split(entry)[0], entry.level)
        return self.file_of(holder) if holder is not None else -1

    def file_of(self, module: ModuleKey) -> int:
        """Return the file in which a module begins, or -1."""
        above, _, last = module.name.rpartition(".")
        found = self._names.get(ModuleKey(module.root, above), {}).get(last)
        return self.at[found[0]] if found else self.numbers.get(module.root, -1)

    def find(self, module: ModuleKey, name: str) -> Meaning | None:
        """Return what a name means in a module; None for names of the language, and unknown ones."""
        self._build()
        key = module, name
        if key not in self._known:
            self._known[key] = None  # modules that use one another
            self._known[key] = self._find(module, name)
        return self._known[key]

    def _find(self, module: ModuleKey, name: str) -> Meaning | None:
        own = self._names.get(module, {}).get(name)
        found = self._imports.get(module, {}).get(name)
        if found is not None:
            above, last = (found.module, "") if found.kind == ImportKind.STAR else self._split(found)
            is_name = found.kind == ImportKind.NAME
            if not is_name and (whole := self._find_module(module, found.module, found.level)) is not None:
                return Meaning((), whole, RuleName.IMPORT)
            holder = self._find_module(module, above, found.level)
            inner = self.find(holder, last) if holder not in (None, module) and holder is not None and last else None
            if inner is not None:
                return inner._replace(rule=RuleName.IMPORT)
            if not own:
                return None if found.level else Meaning((), None, RuleName.EXTERNAL, found.module.partition(".")[0])
        if own:
            inner_module = ModuleKey(module.root, f"{module.name}.{name}".lstrip("."))
            is_module = all(self._definition(each).kind == NodeKind.NAMESPACE for each in own)
            return Meaning((), inner_module) if is_module else Meaning(tuple(own), module)
        if name == module.name.rpartition(".")[2] and name:
            return Meaning((), module)
        for star in self._stars.get(module, ()):
            holder = self._find_module(module, star.module, star.level)
            if holder is None or holder == module:
                continue
            inner = self.find(holder, name)
            if inner is not None and not inner.outside and (inner.definitions or inner.module != holder):
                return inner._replace(rule=RuleName.STAR_IMPORT)
        return None

    def _definition(self, number: int) -> Definition:
        symbols = self.files[self.at[number]]
        return symbols.facts.definitions[number - symbols.first]

    def follow(self, module: ModuleKey, path: str) -> Meaning | None:
        """Return what a chain of names means in a module, as far as modules hold them."""
        head, *rest = path.split(".")
        meaning = self.find(module, head)
        if meaning is None and self._is_known(ModuleKey("", head)):
            meaning = Meaning((), ModuleKey("", head), RuleName.MODULE_ATTRIBUTE)
        for each in rest:
            if meaning is not None and meaning.definitions:
                meaning = self._alias(meaning.definitions[0])
            if meaning is None or meaning.outside or meaning.module is None or meaning.definitions:
                return meaning if meaning is not None and meaning.outside else None
            inner = self.find(meaning.module, each)
            meaning = inner._replace(rule=RuleName.MODULE_ATTRIBUTE) if inner is not None else None
        return meaning

    def _alias(self, number: int) -> Meaning | None:
        """Return what a constant is another name of."""
        file, each = self.at[number], self._definition(number)
        binding = self.files[file].bindings.get(each.parent, {}).get(each.name)
        is_name = binding is not None and each.kind == NodeKind.CONSTANT and _DOTTED.fullmatch(binding.value)
        same = binding is not None and binding.value == each.name
        return (
            self.follow(self.module_at(file, each.parent), binding.value) if binding and is_name and not same else None
        )

    def _is_known(self, module: ModuleKey) -> bool:
        above, _, last = module.name.rpartition(".")
        found = self._names.get(ModuleKey(module.root, above), {}).get(last, ())
        return any(self._definition(each).kind == NodeKind.NAMESPACE for each in found)

    def _find_module(self, module: ModuleKey, path: str, level: int) -> ModuleKey | None:
        """Return the module that a path names in a module: with a level, from that far above it."""
        parts = path.split(".") if path else []
        if level:
            names = module.name.split(".") if module.name else []
            n_kept = max(len(names) - level + 1, 0 if module.root else 1)  # above a package is itself
            at = ModuleKey(module.root, ".".join(names[:n_kept]))
        else:
            if not parts:
                return None
            at = ModuleKey("", parts[0])
            if not self._is_known(at):
                at = ModuleKey(module.root, parts[0])  # a module of the script itself
                if not self._is_known(at):
                    return None
            parts = parts[1:]
        for each in parts:
            inner = ModuleKey(at.root, f"{at.name}.{each}".lstrip("."))
            if not self._is_known(inner):
                if each == at.name.rpartition(".")[2]:
                    continue
                named = self.find(at, each)
                if named is None or named.definitions or named.module is None or named.outside:
                    return None
                inner = named.module
            at = inner
        return at
