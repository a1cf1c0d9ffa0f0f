"""What a path of names means in a tree of modules: through declarations, imports, re-exports and globs.

Who may see what is not asked: code that compiles names only what it sees. A name that leads out of the repository is
external and stays so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from causalist.graph.imports.module_tree import Module, ModuleTree, modules_of
from causalist.graph.values import Found
from causalist.model.facts import MODULE_SCOPE, Import, ImportKind
from causalist.model.symbols import TYPE_KINDS, NodeKind

_DEEPEST = 60  # steps of paths, imports and globs below one another before a name is given up
_PATH_KINDS = TYPE_KINDS | {NodeKind.NAMESPACE, NodeKind.TYPE}  # what holds other names


@dataclass(slots=True)
class PathNames:
    """Names in all modules of a tree."""

    tree: ModuleTree
    known: dict[tuple[Module, str, bool, bool], Found | None] = field(default_factory=dict)
    _busy: set[tuple[Module, str, bool, bool]] = field(default_factory=set)
    _cuts: int = 0  # how often a search met itself

    def forget(self) -> None:
        """Forgets what was found, and what was being looked for."""
        self.known.clear()
        self._busy.clear()

    def visible(self, file: int, scope: int, name: str, path: bool) -> Found | None:
        """What a name means inside of a file; `path` where more names follow it, so that it holds others."""
        module = self.tree.module_at(file, scope)
        if name.endswith("!"):
            return self._macro(file, scope, name[:-1])
        names = self.tree.files[file]
        while scope != MODULE_SCOPE and names.first + scope != module.namespace:
            for entry in self.tree.globs.get((file, scope), ()):
                found = self._in_glob(module, entry, name, path)
                if found is not None:
                    return found._replace(rule="star-import")
            scope = names.facts.definitions[scope].parent
        special = self._relative(module, name)
        if special is not None:
            return special
        found = self.find(module, name, path, inside=True)
        return found._replace(rule="same-file") if found is not None and found.rule == "own" else found

    def sees(self, file: int, scope: int, definition: int, name: str) -> bool:
        """Whether a definition is visible in a scope, be it imported under another name or under none."""
        found = self.visible(file, scope, name, True)
        if found is not None and (found.kind, found.number) == ("definition", definition):
            return True
        module = self.tree.module_at(file, scope)
        inner = module.namespace - self.tree.files[file].first if module.namespace >= 0 else MODULE_SCOPE
        for at in (scope, inner):
            for entries in self.tree.uses.get((file, at), {}).values():
                for entry in entries:
                    if entry.name == name and entry.alias != name:
                        meant = self._of_import(module, entry, True)
                        if meant is not None and (meant.kind, meant.number) == ("definition", definition):
                            return True
        found = self._in_function(file, scope, name)
        return found is not None and (found.kind, found.number) == ("definition", definition)

    def _in_function(self, file: int, scope: int, name: str) -> Found | None:
        """What a name means by an import inside of the functions around."""
        while scope != MODULE_SCOPE:
            for entry in self.tree.uses.get((file, scope), {}).get(name, ()):
                return self._of_import(self.tree.module_at(file, scope), entry, True)
            scope = self.tree.files[file].facts.definitions[scope].parent
        return None

    def step(self, found: Found, name: str, path: bool) -> Found | None:
        """What `name` means after what was found so far."""
        module = self.as_module(found.kind, found.number)
        if module is None:
            if found.kind != "definition":
                return found if found.kind == "external" else None
            member = self._member(found.number, name)
            return Found("definition", member, found.rule) if member >= 0 else None
        if name.endswith("!"):
            return self._first_macro(self.tree.root_of(module), name[:-1], module.file)
        if name in dict(modules_of(self.tree.files[module.file]).relative):
            return self._relative(module, name)
        inner = self.find(module, name, path)
        if inner is not None and inner.rule in ("own", "import"):
            return inner._replace(rule="module-attribute" if inner.rule == "own" else "re-export")
        return inner

    def as_module(self, kind: str, number: int) -> Module | None:
        """The module that a value is, or None."""
        if kind == "module" and self.tree.has(number):
            return Module(number)
        if kind == "definition":
            file = self.tree.file_of[number]
            if self.tree.has(file) and (module := Module(file, number)) in self.tree.parents:
                return module
        return None

    def find(self, module: Module, name: str, path: bool, inside: bool = False) -> Found | None:
        """What a module has under a name. The rule is "own" for what it defines itself."""
        key = (module, name, path, inside)
        if key in self.known:
            return self.known[key]
        if key in self._busy or len(self._busy) > _DEEPEST:
            self._cuts += 1
            return None
        before = self._cuts
        self._busy.add(key)
        found = self._search(module, name, path, inside)
        self._busy.discard(key)
        if found is not None or before == self._cuts or not self._busy:
            self.known[key] = found
        return found

    def _search(self, module: Module, name: str, path: bool, inside: bool) -> Found | None:
        own = self.tree.items.get(module, {}).get(name, [])
        chosen = [number for number in own if (self._kind(number) in _PATH_KINDS) == path] or ([] if path else own)
        if chosen and (path or self._kind(chosen[0]) != NodeKind.NAMESPACE):
            return Found("definition", chosen[0], "own")
        child = self.tree.children.get(module, {}).get(name)
        if child is not None and path:
            return Found("module", child.file, "path")
        scope = module.namespace - self.tree.files[module.file].first if module.namespace >= 0 else MODULE_SCOPE
        outside: Found | None = None
        for entry in self.tree.uses.get((module.file, scope), {}).get(name, ()):
            found = self._of_import(module, entry, path)
            if found is not None and found.kind != "external":
                return _imported(found)
            outside = outside or found
        if outside is not None:
            return outside
        if child is not None:
            return Found("module", child.file, "path")
        for entry in self.tree.globs.get((module.file, scope), ()):
            found = self._in_glob(module, entry, name, path)
            if found is not None:
                return found._replace(rule="star-import")
        if chosen or own:
            return Found("definition", (chosen or own)[0], "own")
        return self.tree.extern(module, name) if inside else None

    def _in_glob(self, module: Module, entry: Import, name: str, path: bool) -> Found | None:
        where, _ = self.path(module, entry.module.split("."))
        if where is None or where.kind == "external":
            return None
        return self.step(where, name, path)

    def _of_import(self, module: Module, entry: Import, path: bool) -> Found | None:
        names = [*entry.module.split("."), entry.name] if entry.module else [entry.name]
        return self.path(module, names, last_is_path=path)[0]

    def path(self, module: Module, names: Sequence[str], last_is_path: bool = True) -> tuple[Found | None, int]:
        """(what a path means in a module, the file that it leads to as far as it can be followed or -1)."""
        more = len(names) > 1 or last_is_path
        found = self._relative(module, names[0]) or self.find(module, names[0], more, inside=True)
        root = self.tree.root_of(module)
        if found is None and module != root:
            found = self.find(root, names[0], more)  # paths of imports begin at the root in older editions
        if found is None:
            is_relative = names[0] in dict(modules_of(self.tree.files[module.file]).relative)
            return (None, -1) if is_relative else (Found("external", -1, "external", names[0]), -1)
        reached = self._leads_to(found)
        for i, name in enumerate(names[1:], 2):
            found = self.step(found, name, i < len(names) or last_is_path)
            if found is None:
                return None, reached
            reached = self._leads_to(found)
        return found, reached

    def _relative(self, module: Module, name: str) -> Found | None:
        meaning = dict(modules_of(self.tree.files[module.file]).relative).get(name)
        if meaning is None:
            return None
        target = {"root": self.tree.root_of(module), "here": module}.get(meaning) or self.tree.parents.get(module)
        if target is None:
            return None
        return (
            Found("module", target.file, "path")
            if target.namespace < 0
            else Found("definition", target.namespace, "path")
        )

    def _macro(self, file: int, scope: int, name: str) -> Found | None:
        """A macro by its bare name: imported, of the same file, or of the same tree."""
        module = self.tree.module_at(file, scope)
        while True:
            for entry in self.tree.uses.get((file, scope), {}).get(name, ()):
                head = entry.module.partition(".")[0]
                where = self._relative(module, head) or (self.find(module, head, True, inside=True) if head else None)
                if where is None or where.kind == "external":
                    return Found("external", -1, "external", head or name)
                found = self._first_macro(self.tree.root_of(Module(self._leads_to(where))), entry.name, file)
                return found._replace(rule="import") if found is not None else None
            if scope == MODULE_SCOPE:
                break
            scope = self.tree.files[file].facts.definitions[scope].parent
        found = self._first_macro(self.tree.root_of(module), name, file)
        if found is not None:
            return found._replace(rule="same-file" if self.tree.file_of[found.number] == file else "package-scope")
        return None

    def _first_macro(self, root: Module, name: str, near: int) -> Found | None:
        numbers = self.tree.macros.get(root, {}).get(name, [])
        here = [number for number in numbers if self.tree.file_of[number] == near]
        return Found("definition", (here or numbers)[0], "module-attribute") if numbers else None

    # -- imports

    def follow(self, file: int, entry: Import) -> Found | None:
        """What the local name of an import means. None: it leads into the repository, to nothing that is seen."""
        found = self._of_import(self.tree.module_at(file, entry.scope), entry, False)
        return found and _imported(found)

    def target(self, file: int, entry: Import) -> tuple[int, str, str]:
        """(file that an import leads to or -1, rule, package outside or "")."""
        module = self.tree.module_at(file, entry.scope)
        if entry.kind == ImportKind.MODULE:
            child = self.tree.children.get(module, {}).get(entry.alias or entry.module)
            return (child.file, "path", "") if child is not None else (-1, "path", "")
        names = [*entry.module.split("."), entry.name] if entry.module else [entry.name]
        if entry.kind == ImportKind.STAR:
            names.pop()
        found, reached = self.path(module, names, last_is_path=False) if names else (None, -1)
        if found is not None and found.kind == "external":
            return -1, "external", found.name
        is_other = reached >= 0 and self.tree.root_of(Module(reached)) != self.tree.root_of(module)
        return reached, "package" if is_other else "path", ""

    # -- definitions

    def _leads_to(self, found: Found) -> int:
        return found.number if found.kind == "module" else self.tree.file_of[found.number] if found.number >= 0 else -1

    def _kind(self, definition: int) -> int:
        names = self.tree.files[self.tree.file_of[definition]]
        return names.facts.definitions[definition - names.first].kind

    def _member(self, definition: int, name: str) -> int:
        names = self.tree.files[self.tree.file_of[definition]]
        return names.by_qualname.get(f"{names.facts.definitions[definition - names.first].qualname}.{name}", -1)


def _imported(found: Found) -> Found:
    """What a module has of its own, under the name that an import gives it."""
    return found._replace(rule="import") if found.rule in ("own", "module-attribute") else found
