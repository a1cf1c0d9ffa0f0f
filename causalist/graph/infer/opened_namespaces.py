"""Names that files declare in namespaces and modules, and that others see where they open these.

In: a name or chain in a scope of a file. Out: what it means there.
"""

import re
from collections.abc import Iterator, Sequence

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.imports.modules import shared_folders
from causalist.graph.program import Program
from causalist.graph.resolution_results import (
    UNKNOWN,
    Value,
    ValueKind,
)
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Definition, FileFacts
from causalist.model.language_settings import ModuleSystem
from causalist.model.node_ids import CALLABLE_KINDS, OPENED, TYPE_KINDS, NodeKind

_RECURSIVE = re.compile(r"(?:module|namespace)\s+rec\b")

_HOLDERS = (*TYPE_KINDS, NodeKind.NAMESPACE, NodeKind.TYPE)
_NO_VALUES = (*TYPE_KINDS, NodeKind.TYPE)


def is_unseen(symbols: FileSymbols, scope: int, definition: int) -> bool:
    """Return True if `scope` is in a definition that does not see its own name, or in one that stands before."""
    definitions, local = symbols.facts.definitions, definition - symbols.first
    own, beside = definitions[local], MODULE_SCOPE
    while scope not in (MODULE_SCOPE, local, own.parent):
        beside, scope = scope, definitions[scope].parent
    if scope != local and (scope != own.parent or beside == MODULE_SCOPE):
        return False
    if scope != local and own.start_row <= definitions[beside].start_row:
        return False
    assert symbols.settings is not None
    is_again = scope != local and own.qualname in symbols.redefined
    return is_again or re.match(symbols.settings.names.unseen, own.signature) is not None


@dataclass(slots=True, eq=False)
class OpenedNamespaces:
    """Look-ups in namespaces and modules that files declare and open, by their full names.

    A namespace has what all files declare in it. The members of a module that opens itself are also those of what it
    stands in, and the cases of a union those of what the union stands in, unless a mark says that they are qualified.
    What is opened last comes first; what a module has itself comes before what is opened in it.
    """

    program: Program
    _content: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # full name -> name -> definitions
    _opening: dict[str, list[str]] = field(default_factory=dict)  # full name -> modules in it that open themselves
    _full_names: dict[int, str] = field(default_factory=dict)  # of modules and types
    _tops: dict[int, str] = field(default_factory=dict)  # file -> what its first definitions stand in
    _in_sight: dict[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget what the files declare."""
        for each in (self._content, self._opening, self._full_names, self._tops, self._in_sight):
            each.clear()

    def find_name(self, file: int, scope: int, name: str) -> Value | None:
        """Return what a bare name means that no function or type around `scope` declares."""
        symbols = self.program.files[file]
        for full in self._names_in_sight(file, scope):
            found = self._choose(file, scope, self._content[full].get(name, ()))
            if found >= 0:
                value = self._value(symbols, found)
                is_opened = value.rule == RuleName.PACKAGE_SCOPE and full not in self._opening_from(symbols, scope)
                return value._replace(rule=RuleName.STAR_IMPORT) if is_opened else value
        binding = symbols.bindings.get(MODULE_SCOPE, {}).get(name)
        return UNKNOWN if binding is not None else None

    def find_type(self, file: int, scope: int, name: str) -> Value | None:
        """Return the type that a name means where nothing but a type may stand."""
        path = name.split(".")
        symbols = self.program.files[file]
        for full in self._names_in_sight(file, scope):
            holder = ".".join([full, *path[:-1]]).lstrip(".")
            types = [
                each
                for each in self._content.get(holder, {}).get(path[-1], ())
                if self.program.definition_of[each].kind in _NO_VALUES
            ]
            if types:
                return self._value(symbols, self._nearest(file, types))
        return None

    def find_chain(self, file: int, scope: int, parts: Sequence[str]) -> tuple[Value, int] | None:
        """Return what the first parts of a chain mean, and their number, if they name a module or type.

        Of several with the name, it is the first that has what the chain goes on with.
        """
        symbols, head = self.program.files[file], parts[0]
        if scope < MODULE_SCOPE or not head.isidentifier() or self._is_local(symbols, scope, head):
            return None
        around = self._modules_around(symbols, scope)
        otherwise: tuple[Value, int] | None = None
        for base in self._names_in_sight(file, scope):
            full, count = base, 0
            while count < len(parts) - 1:
                inner = f"{full}.{parts[count]}" if full else parts[count]
                if inner not in self._content or (inner in around and not count):
                    break
                full, count = inner, count + 1
            if not count:
                continue
            name = parts[count].partition("(")[0].rstrip("[]")
            for holder in self._with_opening([full]):
                found = self._choose(file, scope, self._content[holder].get(name, ()))
                if found >= 0:
                    value = self._value(symbols, found)
                    parent = self.program.parent(found)
                    of_type = parent >= 0 and self.program.is_type(parent)
                    rule = RuleName.CLASS_ATTRIBUTE if of_type else RuleName.OBJECT_MEMBER
                    return value._replace(rule=rule), count + 1
            types = [each for each in self._of_name(full) if self.program.definition_of[each].kind in _NO_VALUES]
            if types and otherwise is None:
                otherwise = self._value(symbols, self._nearest(file, types)), count
        return otherwise

    def _opening_from(self, symbols: FileSymbols, scope: int) -> set[str]:
        """Return the full names of the namespace around `scope`, and of what opens itself in it."""
        while scope != MODULE_SCOPE and symbols.facts.definitions[scope].parent != MODULE_SCOPE:
            scope = symbols.facts.definitions[scope].parent
        return set(self._with_opening([self._namespace_of(symbols.facts, scope)]))

    def _value(self, symbols: FileSymbols, definition: int) -> Value:
        there = self.program.files[self.program.file_of[definition]]
        rule = RuleName.STAR_IMPORT
        if there is symbols:
            rule = RuleName.SAME_FILE
        elif there.facts.package == symbols.facts.package and there.facts.package:
            rule = RuleName.PACKAGE_SCOPE
        return Value(ValueKind.DEFINITION, definition, rule)

    def _choose(self, file: int, scope: int, definitions: Sequence[int]) -> int:
        """Return which of the definitions of one name is meant in a file, or -1: a value before a type."""
        program, symbols = self.program, self.program.files[file]
        seen = [
            each
            for each in definitions
            if program.definition_of[each].kind != NodeKind.NAMESPACE
            and not (program.file_of[each] == file and is_unseen(symbols, scope, each))
        ]
        values = [each for each in seen if program.definition_of[each].kind not in _NO_VALUES]
        return self._nearest(file, values or seen) if seen else -1

    def _nearest(self, file: int, definitions: Sequence[int]) -> int:
        """Return the last definition in the nearest file."""
        if len(definitions) == 1:
            return definitions[0]
        files, file_of = self.program.files, self.program.file_of
        path = files[file].path
        return max(
            definitions, key=lambda each: (file_of[each] == file, shared_folders(path, files[file_of[each]].path), each)
        )

    def _of_name(self, full: str) -> Sequence[int]:
        around, _, name = full.rpartition(".")
        return self._content.get(around, {}).get(name, ())

    def _is_local(self, symbols: FileSymbols, scope: int, name: str) -> bool:
        """Return True if a function or type around `scope` declares a value of that name."""
        definitions = symbols.facts.definitions
        while scope != MODULE_SCOPE and definitions[scope].kind != NodeKind.NAMESPACE:
            if (
                name in symbols.bindings.get(scope, ())
                or f"{definitions[scope].qualname}.{name}" in symbols.by_qualname
            ):
                return True
            scope = definitions[scope].parent
        return False

    def _modules_around(self, symbols: FileSymbols, scope: int) -> set[str]:
        """Return the full names of the modules around `scope` whose own names mean nothing in them."""
        names, definitions = set[str](), symbols.facts.definitions
        while scope != MODULE_SCOPE:
            own = definitions[scope]
            if own.kind == NodeKind.NAMESPACE and not _RECURSIVE.search(own.signature):
                names.add(self._full_names.get(symbols.first + scope, ""))
            scope = own.parent
        return names

    def _names_in_sight(self, file: int, scope: int) -> tuple[str, ...]:
        """Return the full names of what a name in `scope` may be a member of, the first that counts first."""
        if not self._content:
            self._read_files()
        symbols = self.program.files[file]
        definitions = symbols.facts.definitions
        while scope != MODULE_SCOPE and definitions[scope].kind != NodeKind.NAMESPACE:
            if definitions[scope].parent == MODULE_SCOPE or any(star.scope == scope for star in symbols.stars):
                break  # of the namespaces of a file it is in one
            scope = definitions[scope].parent
        known = self._in_sight.get((file, scope))
        if known is None:
            known = self._in_sight[file, scope] = tuple(self._with_opening(self._walk_out(file, scope)))
        return known

    def _walk_out(self, file: int, scope: int) -> list[str]:
        symbols = self.program.files[file]
        definitions, found, outermost = symbols.facts.definitions, list[str](), scope
        opened = [star.module for star in symbols.stars]
        outer = [self._tops[file]]
        at = scope
        while at != MODULE_SCOPE:
            outermost = at
            full = self._full_names.get(symbols.first + at, "")
            if full:
                outer.append(full)
            at = definitions[at].parent
        namespace = self._namespace_of(symbols.facts, outermost)
        outer += [namespace, namespace.rpartition(".")[0], *opened]
        at = scope
        while True:
            full = self._full_names.get(symbols.first + at, "") if at != MODULE_SCOPE else self._tops[file]
            if full and (at == MODULE_SCOPE or definitions[at].kind == NodeKind.NAMESPACE):
                found.append(full)
            for star in reversed(symbols.stars):
                if star.scope == at:
                    names = (star.module, *(f"{around}.{star.module}" for around in outer if around))
                    found += [each for each in dict.fromkeys(names) if each in self._content]
            if at == MODULE_SCOPE:
                break
            at = definitions[at].parent
        return [*found, namespace, ""]

    def _with_opening(self, names: Sequence[str]) -> Iterator[str]:
        """Yield names, each once, and behind each the modules in it that open themselves."""
        waiting, seen = list(reversed(names)), set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen and name in self._content:
                seen.add(name)
                yield name
                waiting += self._opening.get(name, ())

    def _namespace_of(self, facts: FileFacts, local: int) -> str:
        """Return the namespace in which a definition of a file stands."""
        further = [
            (int(number), each.local)
            for each in facts.exports
            if each.exported.startswith(OPENED) and (number := each.exported.removeprefix(OPENED)).isdigit()
        ]
        return next((name for first, name in reversed(further) if first <= local), facts.package)

    def _read_files(self) -> None:
        self._content[""] = {}
        known = [each.settings for each in self.program.files if each.settings is not None]
        families = {each.family for each in known if each.modules.opened}
        for number, symbols in enumerate(self.program.files):
            settings = symbols.settings
            is_declared = settings is not None and settings.modules.system is ModuleSystem.DECLARED
            if settings is not None and is_declared and settings.family in families:
                self._read_file(number, symbols)

    def _read_file(self, number: int, symbols: FileSymbols) -> None:
        facts = symbols.facts
        marks = {e.exported.removeprefix(OPENED) for e in facts.exports if e.exported.startswith(OPENED)}
        stem = symbols.path.rpartition("/")[2].partition(".")[0]
        self._tops[number] = f"{stem[:1].upper()}{stem[1:]}" if "" in marks else facts.package
        elsewhere = {local for local, _ in facts.owners}
        for local, definition in enumerate(facts.definitions):
            parent = definition.parent
            begin = definition.qualname.removesuffix(f".{definition.name}")
            while parent != MODULE_SCOPE and facts.definitions[parent].qualname != begin:
                parent = facts.definitions[parent].parent  # `let rec f … and g …`
            if parent == MODULE_SCOPE:
                around = self._tops[number] if "" in marks else self._namespace_of(facts, local)
            elif facts.definitions[parent].kind in CALLABLE_KINDS:
                continue
            else:
                around = self._full_names.get(symbols.first + parent, "")
            if local in elsewhere or (parent != MODULE_SCOPE and not around):
                continue
            self._add(around, definition.name, symbols.first + local)
            if definition.kind in _HOLDERS:
                full = f"{around}.{definition.name}".lstrip(".")
                self._full_names[symbols.first + local] = full
                self._content.setdefault(full, {})
                if f"{local}+" in marks and definition.kind == NodeKind.NAMESPACE:
                    self._opening.setdefault(around, []).append(full)
            if self._is_open_case(facts, definition) and f"{parent}-" not in marks:
                self._add(around.rpartition(".")[0], definition.name, symbols.first + local)

    def _is_open_case(self, facts: FileFacts, definition: Definition) -> bool:
        """Return True for the case of a union, which is named alone; that of an enumeration has a number."""
        if definition.kind != NodeKind.FIELD or definition.parent == MODULE_SCOPE:
            return False
        return facts.definitions[definition.parent].kind == NodeKind.ENUM and "=" not in definition.signature

    def _add(self, around: str, name: str, number: int) -> None:
        self._content.setdefault(around, {}).setdefault(name, []).append(number)
        while around:  # namespaces around it
            around = around.rpartition(".")[0]
            self._content.setdefault(around, {})
