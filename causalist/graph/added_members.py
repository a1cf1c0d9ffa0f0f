"""Members that a type has elsewhere: in its other declarations, and in the extensions that a file may call.

A file may call extensions that no library keeps to itself, and whose namespace or module it opens.
"""

import posixpath
import re
from collections.abc import Sequence

from causalist._internal.lazy import dataclass
from causalist.graph.file_symbols import FileSymbols, function_around
from causalist.graph.imports.modules import find_script
from causalist.graph.overload_fit import misfit
from causalist.graph.program import Program
from causalist.graph.resolution_results import Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Definition, Import, ImportKind
from causalist.model.language_settings import LanguageSettings
from causalist.model.node_ids import OPENED, TYPE_KINDS, NodeKind, Role
from causalist.model.role_by_path import role_of
from causalist.model.type_notation import type_parameters_of

_LAST_ROLES = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS, Role.VENDORED})  # types are declared first elsewhere


def is_out_of_reach(program: Program, file: int, method: int, is_called: bool = True) -> bool:
    """Return True for what a call in `file` cannot mean: a getter, or what is private in another library."""
    if (settings := program.files[file].settings) is None or not settings.modules.libraries:
        return False
    definition, parent = program.definition_of[method], program.parent(method)
    around = program.definition_of[parent].name if method in program.extended and parent >= 0 else ""
    is_private = definition.name.startswith("_") or around.startswith(("_", "extension$"))
    is_getter = " get " in f" {definition.signature}"
    return is_getter is is_called or (is_private and program.packages.are_apart(file, program.file_of[method]))


def is_in_sight(program: Program, file: int, function: int, is_called: bool) -> bool:
    """Return True if a file sees an extension, by its namespace or by what it opens."""
    symbols, there = program.files[file], program.files[program.file_of[function]]
    package, own = there.facts.package, symbols.facts.package
    if there.settings is not symbols.settings or symbols.settings is None:
        return False
    if is_out_of_reach(program, file, function, is_called):
        return False
    if symbols.settings.modules.opened and there is not symbols and _is_unopened(program, symbols, there, function):
        return False
    if not package or own == package or own.startswith(f"{package}."):
        return True
    namespace = f"{package}.{program.definition_of[function].qualname.rpartition('.')[0]}"
    return any(star.module in (package, namespace) for star in symbols.stars)


def _is_unopened(program: Program, symbols: FileSymbols, there: FileSymbols, function: int) -> bool:
    """Return True for what stands in a module that does not open itself and that the file does not open."""
    module = program.parent(function)
    while module >= 0 and program.definition_of[module].kind != NodeKind.NAMESPACE:
        module = program.parent(module)
    if module < 0 or any(each.exported == f"{OPENED}{module - there.first}+" for each in there.facts.exports):
        return False
    full = f".{there.facts.package}.{program.definition_of[module].qualname}"
    return not any(full.endswith(f".{star.module}") for star in symbols.stars)


def find_fitting_extensions(program: Program, file: int, name: str, called: str | None) -> list[int]:
    """Return the extensions of a name that a file sees and that take what is given."""
    return [
        each
        for each in program.methods.get(name, ())
        if each in program.extended
        and is_in_sight(program, file, each, called is not None)
        and misfit(program.parameters.get(each), called or "", {}) is not None
    ]


def rule_of_extension(program: Program, file: int, function: int) -> str:
    """Return the rule by which a file knows an extension."""
    if program.file_of[function] == file:
        return RuleName.SAME_FILE
    same_package = package_of(program, function) == program.files[file].facts.package
    return RuleName.PACKAGE_SCOPE if same_package else RuleName.STAR_IMPORT


def written_owner(program: Program, extension: int) -> str:
    """Return the name of the type that an extension function is written for."""
    return _written_owner(program, extension).partition("{")[0].partition("?")[0].rpartition(".")[2]


def _written_owner(program: Program, extension: int) -> str:
    symbols = program.files[program.file_of[extension]]
    return dict(symbols.facts.owners).get(extension - symbols.first, "")


def near_receiver(program: Program, extensions: list[int], chain: str, value: Value | None) -> list[int]:
    """Return those of several extensions that a receiver from outside may mean by the name of its type.

    `value` is that of the whole chain: of a member of what is from outside it says nothing.
    """
    receiver = chain.rpartition(".")[0]
    is_said = value is not None and value.kind is ValueKind.BUILTIN and bool(value.type)
    if len(extensions) < 2 or value is None or not is_said or "." in receiver or receiver.endswith(")"):
        return extensions
    type_name = value.type.partition("{")[0].rpartition(".")[2]
    own = [each for each in extensions if written_owner(program, each) == type_name]
    return own or [each for each in extensions if not _written_owner(program, each).endswith("]")] or extensions


def find_declared_path(program: Program, symbols: FileSymbols, parts: Sequence[str]) -> tuple[int, int] | None:
    """Return the outermost definition that a chain begins with, and the number of `parts` that name it.

    Where a file sees what is around its namespace, the chain may begin with a namespace beside one of these.
    """
    assert symbols.settings is not None
    family, declared = symbols.settings.family, program.declared
    found = declared.find_prefix(family, parts, symbols.path)
    is_relative = found is None and symbols.settings.modules.sees_enclosing_packages and len(parts) > 1
    above = symbols.facts.package.split(".") if is_relative and declared.is_part_of_package(family, parts[0]) else []
    while found is None and above:
        relative = declared.find_prefix(family, [*above, *parts], symbols.path)
        if relative is not None and relative[1] > len(above) + 1:
            return relative[0], relative[1] - len(above)
        above.pop()
    return found


def package_of(program: Program, definition: int) -> str:
    """Return the package of the file of a definition."""
    return program.files[program.file_of[definition]].facts.package


_OF_INSTANCES = re.compile(r"(?:\w+ )?def (?!self\.|[A-Z]\w*\.)")  # of Ruby


def find_bare_member(program: Program, owner: int, name: str, called: str | None, is_body: bool) -> tuple[int, bool]:
    """Return (definition, inherited) of the member of the type `owner` that a bare name inside of it means, or -1.

    What the body of a type runs itself means no method of instances, where those are apart.
    """
    number, inherited = program.find_member(owner, name, called=called)
    symbols = program.files[program.file_of[owner]]
    if number < 0 or not is_body or not symbols.runs_in_body(owner - symbols.first, name):
        return number, inherited
    types = program.linear_bases(owner)
    for base in types:
        if (number := program.find_own_member(base, name, called)) < 0:
            continue
        is_mixin = base != owner and program.definition_of[base].kind == NodeKind.TRAIT
        if is_mixin and _is_extended(program, types, base):
            return number, True
        symbols, qualname = program.files[program.file_of[number]], program.definition_of[number].qualname
        for each in (number, *symbols.callables.get(qualname, ())):
            is_named_so = not is_mixin and not _OF_INSTANCES.match(program.definition_of[each].signature)
            if is_named_so or qualname in symbols.class_level:
                return each, base != owner
    return -1, False


def _is_extended(program: Program, types: Sequence[int], module: int) -> bool:
    """Return True if the class of one of some types has the methods of a module."""
    name = program.definition_of[module].name
    return any(
        written.rpartition(".")[2] == name
        for each in types
        for written in program.files[program.file_of[each]].extended.get(program.definition_of[each].qualname, ())
    )


@dataclass(frozen=True, slots=True)
class PartialTypes:
    """The types of a program that have several declarations."""

    program: Program

    def join_types(self) -> None:
        """Fill `canonical` of the program, and `attached` with the members of all declarations and of pasted files."""
        program = self.program
        files = [
            symbols
            for symbols in program.files
            if symbols.settings is not None and _has_partial_types(symbols.settings)
        ]
        files.sort(key=lambda symbols: role_of(symbols.path) in _LAST_ROLES)
        self._find_namesakes(files)
        declared: dict[tuple[str, str], list[int]] = {}
        for symbols in files:
            for local, definition in enumerate(symbols.facts.definitions):
                if _is_open(symbols, local, definition):
                    declared.setdefault(self._key_of(symbols, local), []).append(symbols.first + local)
        for group in declared.values():
            program.canonical.update(dict.fromkeys(group, group[0]))
        for symbols in files:
            assert symbols.settings is not None
            for local, definition in enumerate(symbols.facts.definitions):
                parent = program.parent(symbols.first + local)
                if parent in program.arities:
                    group = declared.get(self._key_of(symbols, parent - symbols.first), [])
                else:
                    group = declared.get(_key(symbols, definition.qualname.rpartition(".")[0]), [])
                is_inside = bool(group) and program.canonical.get(parent) == group[0]
                # `module Shop.Door` is known as the `Door` of `Shop` although it does not stand in it.
                is_named_so = bool(group) and not is_inside and symbols.settings.modules.reopened
                if is_named_so or (is_inside and (len(group) > 1 or parent != group[0])):
                    program.attached.setdefault((group[0], definition.name), []).append(symbols.first + local)
        paste_files(program)

    def _find_namesakes(self, files: Sequence[FileSymbols]) -> None:
        """Fill `arities` of the program."""
        named: dict[tuple[str, str], dict[int, int]] = {}
        several: dict[tuple[str, str], list[int]] = {}
        for symbols in files:
            assert symbols.settings is not None
            for local, definition in enumerate(symbols.facts.definitions if symbols.settings.types.generic else ()):
                if definition.kind in TYPE_KINDS:
                    key = _key(symbols, definition.qualname)
                    named.setdefault(key, {}).setdefault(arity_of(definition.signature), symbols.first + local)
                    several.setdefault(key, []).append(symbols.first + local)
        for key, by_arity in named.items():
            if len(by_arity) > 1:
                self.program.arities.update(dict.fromkeys(several[key], by_arity))
                self._let_name_mean(by_arity[min(by_arity)], several[key])

    def _let_name_mean(self, plainest: int, several: Sequence[int]) -> None:
        """Make the name of several types mean the one that has the fewest parameters, which need not be written."""
        program = self.program
        fewest = arity_of(program.definition_of[plainest].signature)
        others = {each for each in several if arity_of(program.definition_of[each].signature) != fewest}
        for number in several:
            symbols, name = program.files[program.file_of[number]], program.definition_of[number].qualname
            if number in others and symbols.by_qualname.get(name) == number:
                same = [each for each in several if program.file_of[each] == program.file_of[number]]
                own = next((each for each in same if each not in others), -1)
                if own >= 0:
                    symbols.by_qualname[name] = own
                elif program.parent(number) < 0:
                    del symbols.by_qualname[name]
            key = (symbols.settings.family if symbols.settings else "", f"{symbols.facts.package}.{name}".lstrip("."))
            program.declared.remove(key, others)

    def _key_of(self, symbols: FileSymbols, local: int) -> tuple[str, str]:
        """Return what all declarations of a type share: its name, and the number of its parameters if that tells."""
        definition = symbols.facts.definitions[local]
        family, name = _key(symbols, definition.qualname)
        is_one_of_several = symbols.first + local in self.program.arities
        return family, f"{name}`{arity_of(definition.signature)}" if is_one_of_several else name

    def join_bases(self) -> None:
        """Give each declaration of a type the bases of all."""
        program = self.program
        together: dict[int, dict[int, None]] = {}
        for number, first in program.canonical.items():
            others = [each for each in program.bases_of(number) if program.canonical.get(each, each) != first]
            if others:
                together.setdefault(first, {}).update(dict.fromkeys(others))
        bases = {first: list(several) for first, several in together.items()}
        for number, first in program.canonical.items():
            if first in bases:
                program.set_bases(number, bases[first])

    def select_declaration(self, declarations: Sequence[int]) -> Sequence[int]:
        """Return, of declarations of one type, the one that a use of its name means.

        It is the one in the file which is called like the type, else the first. Several types stay several.
        """
        program = self.program
        if len(declarations) < 2 or len({program.canonical.get(each, each) for each in declarations}) > 1:
            return declarations
        name = f"{program.definition_of[declarations[0]].name}."
        files = [posixpath.basename(program.files[program.file_of[each]].path) for each in declarations]
        called_so = [
            each
            for each, file in zip(declarations, files, strict=True)
            if file.startswith(name) and file.count(".") == 1
        ]
        return called_so[:1] or declarations[:1]


def arity_of(signature: str) -> int:
    """Return the number of type parameters in the signature of a type.

    >>> arity_of("public partial class Policy<TResult> : A<B, C>"), arity_of("class Policy")
    (1, 0)
    """
    return len(type_parameters_of(signature)) if "<" in signature else 0


def _has_partial_types(settings: LanguageSettings) -> bool:
    return settings.modules.reopened or bool(settings.names.partial_type_pattern)


def _is_open(symbols: FileSymbols, local: int, definition: Definition) -> bool:
    """Return True if a type may have further declarations."""
    assert symbols.settings is not None
    if symbols.settings.modules.reopened:
        is_type = definition.kind in TYPE_KINDS or definition.kind == NodeKind.NAMESPACE
        return is_type and function_around(symbols.facts, local) < 0
    return (
        definition.kind in TYPE_KINDS
        and re.match(symbols.settings.names.partial_type_pattern, definition.signature) is not None
    )


def _key(symbols: FileSymbols, qualname: str) -> tuple[str, str]:
    """Return the language family and the qualified name of a type, which all its declarations share."""
    assert symbols.settings is not None
    return symbols.settings.family, f"{symbols.facts.package}.{qualname}"


_MAX_PLACES = 64  # in which one file is included: more have it for its macros


def paste_files(program: Program) -> None:
    """Make what an included file defines members of what it stands in, and let it see what is imported there."""
    places: dict[int, list[tuple[int, int]]] = {}  # file -> (file, scope) that includes it
    for file, symbols in enumerate(program.files):
        modules = symbols.settings.modules if symbols.settings is not None else None
        for entry in symbols.facts.imports if modules is not None and modules.pasted else ():
            assert modules is not None
            if entry.kind == ImportKind.SIDE_EFFECT:
                target = find_script(program.modules.number, symbols.path, entry.module, modules)
                if target >= 0 and target != file:
                    places.setdefault(target, []).append((file, entry.scope))
    for target in sorted(places):
        symbols, holders = program.files[target], dict[int, None]()
        stars, waiting, seen = list(symbols.stars), [target], {target}
        for each in waiting:
            for file, scope in places.get(each, ())[:_MAX_PLACES]:
                around, is_inside = program.files[file], False
                while scope != MODULE_SCOPE:
                    definition = around.facts.definitions[scope]
                    if definition.kind == NodeKind.NAMESPACE or definition.kind in TYPE_KINDS:
                        if not is_inside:
                            holders[around.first + scope] = None
                        is_inside = True
                    if definition.kind == NodeKind.NAMESPACE:
                        stars.append(Import(MODULE_SCOPE, ImportKind.STAR, definition.qualname, 0, "*", "", 0))
                    scope = definition.parent
                stars += [entry for entry in around.facts.imports if entry.kind == ImportKind.STAR]
                for name, entry in around.imports.get(MODULE_SCOPE, {}).items():
                    symbols.imports.setdefault(MODULE_SCOPE, {}).setdefault(name, entry)
                if not is_inside and file not in seen:
                    seen.add(file)
                    waiting.append(file)
        symbols.stars[:] = {star.module: star for star in stars}.values()
        tops = [i for i, each in enumerate(symbols.facts.definitions) if each.parent == MODULE_SCOPE]
        for holder in holders:
            for local in tops:
                if symbols.facts.definitions[local].kind != NodeKind.MACRO:
                    program.attach_member(symbols.first + local, holder)
            if program.is_type(holder):
                symbols.owned.update(tops)
