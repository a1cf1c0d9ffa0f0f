"""Meaning of a name by its place: members of enclosing types, wildcard imports, namespaces, extension functions.

In: a program and a file, type or chain. Out: a `Value` or `Resolution` with the rule that found it, or None.

Where declared packages are namespaces, a name of several parts begins in the package of its file, or with a name that
the file imports; one with a separator in front begins in the outermost package. A function or constant that the own
package lacks is the outermost package's.

An extension function is written outside of the type that it is called on. It counts where its file or package is in
sight, and after the members of the type itself. Nothing here follows values: `infer` does, and asks here.
"""

import re
from collections.abc import Iterator, Sequence

from causalist._internal.lazy import dataclass, field
from causalist.graph import added_members
from causalist.graph.added_members import find_fitting_extensions, package_of, rule_of_extension, written_owner
from causalist.graph.file_symbols import FileSymbols, chains_of_parts
from causalist.graph.overload_fit import best_overloads, misfit, those_with_labels
from causalist.graph.program import Program
from causalist.graph.resolution_results import Resolution, ResolutionKind, Value, ValueKind
from causalist.graph.rules import MAX_CANDIDATES, RuleName
from causalist.model.facts import MODULE_SCOPE, Binding, Import, ImportKind
from causalist.model.language_settings import LanguageSettings, ModuleSystem
from causalist.model.node_ids import CALLABLE_KINDS, FIXTURE_PREFIX, TYPE_KINDS, NodeKind, Role
from causalist.model.role_by_path import role_of

_EXTERNAL_TYPE = -1  # in the place of the type that an extension is for: one that is not of the repository
_ANY_TYPE = -2  # a type parameter, or what all types derive from
_MAX_OUTER_TYPES = 8
_MAX_EXTENSIONS = 400  # extension functions of one name: of more, any might be meant
_NAMESPACE = re.compile(r"\bnamespace\s+(\w+)")
_TOP_TYPES = ("object", "Object", "dynamic")


def _is_dotted(symbols: FileSymbols) -> bool:
    settings = symbols.settings
    return settings is not None and settings.modules.system is ModuleSystem.DOTTED and not settings.modules.require


def has_receiver_parameters(settings: LanguageSettings | None) -> bool:
    """Return True for a language in which a static function may declare its first parameter as receiver."""
    return settings is not None and settings.names.extensions


def _has_parameter(signature: str, name: str) -> bool:
    """Return True if a name follows an opening bracket, a comma or an asterisk.

    >>> _has_parameter("def f(a, *b)", "b"), _has_parameter("def f(ab)", "b"), _has_parameter("def f(ab)", "a")
    (True, False, False)
    """
    at = signature.find(name)
    while at >= 0:
        end = at + len(name)
        is_whole = not (end < len(signature) and (signature[end].isalnum() or signature[end] == "_"))
        if is_whole and signature[:at].rstrip()[-1:] in ("(", ",", "*"):
            return True
        at = signature.find(name, end)
    return False


@dataclass(slots=True)
class NameLookup:
    """Look-ups of names in a program, which has to know the types of its members."""

    program: Program
    _package_extensions: dict[str, list[int]] | None = field(default=None)  # by name
    _dotted: tuple[FileSymbols, ...] | None = None
    _macro_namespaces: frozenset[str] | None = None
    _header_aliases: dict[str, list[tuple[int, str]]] | None = None  # alias -> files and namespaces

    # -- members of the types around

    def find_member_in_scope(self, owner: int, name: str, called: str | None, is_body: bool = False) -> Value | None:
        """Return the member of the type `owner` that a bare name means inside of it; `is_body`: in no function."""
        number, inherited = added_members.find_bare_member(self.program, owner, name, called, is_body)
        if number < 0 or (self._hides_fields(owner) and self.program.definition_of[number].kind == NodeKind.FIELD):
            return None
        if self.program.is_type(number) and not inherited:
            is_here = self.program.file_of[number] == self.program.file_of[owner]
            return Value(ValueKind.DEFINITION, number, RuleName.SAME_FILE if is_here else RuleName.PACKAGE_SCOPE)
        return Value(ValueKind.DEFINITION, number, RuleName.INHERITED if inherited else RuleName.SELF)

    def _hides_fields(self, owner: int) -> bool:
        """Return True if fields of the type `owner` have no meaning without a value before them."""
        settings = self.program.files[self.program.file_of[owner]].settings
        return settings is not None and settings.modules.beside

    def find_outer_self(self, owner: int, name: str) -> Value | None:
        """Return what `Outer.this` and `Outer.super` mean inside of a type in Outer.

        `Interface.super` is the interface itself.
        """
        settings = self.program.files[self.program.file_of[owner]].settings
        if settings is None or not settings.names.members_are_visible:
            return None
        is_interface = self.program.definition_of[owner].kind == NodeKind.INTERFACE
        if name and name == settings.names.only_instance:
            return Value(ValueKind.INSTANCE, owner, RuleName.CLASS_ATTRIBUTE)
        if name in settings.names.super_names:
            return Value(ValueKind.INSTANCE if is_interface else ValueKind.SUPER, owner, RuleName.SUPER)
        return Value(ValueKind.INSTANCE, owner, RuleName.SELF) if name in settings.names.self_names else None

    def find_super_member(self, owner: int, name: str, called: str | None) -> Value | None:
        """Return what `super.name` means in `owner`.

        `super` means no interface or trait: nothing is found if the superclass is not of the repository.
        """
        program = self.program
        settings = program.files[program.file_of[owner]].settings
        has_mixins = settings is not None and (settings.names.super_same or settings.modules.libraries)
        # A mixin comes before the superclass.
        skipped_kinds = (NodeKind.INTERFACE,) if has_mixins else (NodeKind.INTERFACE, NodeKind.TRAIT)
        above = [b for b in program.bases_of(owner) if program.definition_of[b].kind not in skipped_kinds]
        if len(above) == len(program.bases_of(owner)):
            number, _ = program.find_member(owner, name, skip_own=True, called=called)
            return Value(ValueKind.DEFINITION, number, RuleName.SUPER) if number >= 0 else None
        for base in above:
            number, _ = program.find_member(base, name, called=called)
            if number >= 0:
                return Value(ValueKind.DEFINITION, number, RuleName.SUPER)
        return None

    def find_super_constructor(self, owner: int, called: str | None) -> Value | None:
        """Return what calling `super` itself runs.

        It is a constructor of the class right above `owner`, else that class, whatever it has inherited.
        """
        program = self.program
        settings = program.files[program.file_of[owner]].settings
        no_class = (NodeKind.INTERFACE, NodeKind.TRAIT if settings and settings.modules.libraries else -1)
        for base in program.bases_of(owner):
            if program.definition_of[base].kind in no_class:
                continue
            for constructor in settings.names.constructors if settings is not None else ():
                number, inherited = program.find_member(base, constructor, called=called)
                if number >= 0 and not inherited:
                    return Value(ValueKind.DEFINITION, number, RuleName.SUPER)
            return Value(ValueKind.DEFINITION, base, RuleName.SUPER)
        return None

    def enum_instance(self, definition: int) -> Value | None:
        """Return the instance that a constant of an enum is."""
        enum = self.program.parent(definition)
        is_one = enum >= 0 and (self.program.definition_of[enum].kind == NodeKind.ENUM or self.is_enum(enum))
        is_one = is_one and self.program.definition_of[definition].kind == NodeKind.FIELD
        return Value(ValueKind.INSTANCE, enum, RuleName.ATTRIBUTE_TYPE) if is_one else None

    def is_enum(self, owner: int) -> bool:
        """Return True for a class that a base of the language makes an enumeration."""
        program = self.program
        settings = program.files[program.file_of[owner]].settings
        if settings is None or not settings.shapes.enums:
            return False
        for each in program.linear_bases(owner) if program.is_type(owner) else ():
            symbols = program.files[program.file_of[each]]
            local = each - symbols.first
            if any(
                base.definition == local and base.name.rpartition(".")[2] in settings.shapes.enums
                for base in symbols.facts.bases
            ):
                return True
        return False

    def find_deep_member(self, owner: int, parts: list[str], i: int) -> tuple[Value | None, int]:
        """Return a member of a member that is no symbol by itself, and the position after it in `parts`.

        An example is a.b.c, where only a and a.b.c are symbols.
        """
        for end in range(i + 1, len(parts) + 1):
            number = self.program.find_own_member(owner, ".".join(parts[i - 1 : end]).rstrip("()"))
            if number >= 0:
                return Value(ValueKind.DEFINITION, number, RuleName.OBJECT_MEMBER), end
        return None, i

    def find_assigned_function(self, file: int, binding: Binding) -> int:
        """Return the definition that `this.name = function` makes where it stands, or -1."""
        if binding.type or binding.value or binding.scope == MODULE_SCOPE:
            return -1
        symbols = self.program.files[file]
        holder = symbols.facts.definitions[binding.scope].qualname
        return symbols.by_qualname.get(f"{holder}{binding.target}", -1)

    def enclosing_scope(self, file: int, binding: Binding) -> int:
        """Return the scope around the function of a parameter, in which its annotation is read."""
        if binding.scope == MODULE_SCOPE:
            return MODULE_SCOPE
        return self.program.files[file].facts.definitions[binding.scope].parent

    def with_twin(self, itself: Value, other: Value | None) -> Value:
        """Return a function with the one that its file imports under its name: each is for a platform of its own."""
        kinds = self.program.definition_of
        if other is None or other.kind is not ValueKind.DEFINITION:
            return itself
        are_functions = kinds[itself.number].kind == kinds[other.number].kind == NodeKind.FUNCTION
        return (Value.union((itself, other)) if are_functions else None) or itself

    # -- fixtures of tests

    def find_fixture(self, file: int, scope: int, name: str) -> int:
        """Return the fixture that a parameter of a test, or of a fixture, gets, or -1.

        Those of the class come first, then those of the file, then those of the nearest file for fixtures above.
        """
        symbols = self.program.files[file]
        if scope < 0 or symbols.settings is None or not symbols.settings.tests.fixtures:
            return -1
        own = symbols.facts.definitions[scope]
        if not _has_parameter(own.signature, name):
            return -1
        is_user = re.fullmatch(self.program.test_pattern(file), own.name) or own.qualname in symbols.fixtures
        if not is_user:
            return -1
        holder = own.qualname.rpartition(".")[0]
        names = [f"{FIXTURE_PREFIX}{holder}.{name}"] if holder else []
        for key in (*names, f"{FIXTURE_PREFIX}{name}"):
            fixture = symbols.by_qualname.get(symbols.exports.get(key, ""), -1)
            if fixture >= 0 and fixture != symbols.first + scope:
                return fixture
        folder = symbols.path
        while folder:
            folder = folder.rpartition("/")[0]
            path = f"{folder}/{symbols.settings.tests.fixtures}" if folder else symbols.settings.tests.fixtures
            shared = self.program.modules.number.get(path, -1)
            if shared >= 0 and shared != file:
                fixture = self._fixture_in(shared, name)
                if fixture >= 0:
                    return fixture
        return -1

    def _fixture_in(self, file: int, name: str) -> int:
        """Return the fixture of that name that a file makes or imports, or -1."""
        symbols = self.program.files[file]
        fixture = symbols.by_qualname.get(symbols.exports.get(f"{FIXTURE_PREFIX}{name}", ""), -1)
        if fixture >= 0:
            return fixture
        resolution = self.program.find_exported(file, name)
        if resolution is None or resolution.kind is not ResolutionKind.DEFINITION:
            return -1
        other = self.program.files[self.program.file_of[resolution.number]]
        local = other.exports.get(f"{FIXTURE_PREFIX}{name}", "")
        return resolution.number if other.by_qualname.get(local, -1) == resolution.number else -1

    # -- definitions named by strings

    def find_named(self, file: int, name: str) -> int:
        """Return the definition with a dotted name, `app.tasks.send` or `app.tasks:send`, or -1.

        The name of a module that imports the definition names it, too.
        """
        settings = next(
            (each.settings for each in (self.program.files[file], *self._of_dotted()) if _is_dotted(each)), None
        )
        if settings is None:
            return -1
        module, _, rest = name.partition(":")
        parts = module.split(".")
        longest = len(parts) if rest else len(parts) - 1
        members = rest.split(".") if rest else []
        for end in range(longest, 0, -1):
            target = self.program.modules.resolve(
                self.program.files[file].path, ".".join(parts[:end]), 0, settings.modules
            )
            if target.file < 0:
                continue
            first, *others = [*parts[end:], *members]
            resolution = self.program.find_exported(target.file, first)
            if resolution is None or resolution.kind is not ResolutionKind.DEFINITION:
                return -1
            number = resolution.number
            for each in others:
                number = self.program.find_own_member(number, each) if number >= 0 else -1
            return number
        return -1

    def find_labelled(self, file: int, label: str) -> tuple[int, int]:
        """Return the target of a build that a label names, and the file that it names where there is no target."""
        build, name, named = self.program.modules.find_labelled(self.program.files[file].path, label)
        is_package = build == file or "//" in label or label[:1] == ":"
        target = self.program.files[build].by_qualname.get(name, -1) if build >= 0 else -1
        if target >= 0 and is_package:
            return target, -1
        return -1, named if named != file and is_package else -1

    def _of_dotted(self) -> Sequence[FileSymbols]:
        """Return a file of a language whose modules have dotted names, if there is one."""
        if self._dotted is None:
            self._dotted = next(((each,) for each in self.program.files if _is_dotted(each)), ())
        return self._dotted

    # -- modules and wildcard imports

    def find_dotted_module(self, file: int, name: str) -> Value | None:
        """Return the module that a dotted name means in a file."""
        symbols = self.program.files[file]
        assert symbols.settings is not None
        target = self.program.modules.resolve(symbols.path, name, 0, symbols.settings.modules)
        return Value(ValueKind.MODULE, target.file, RuleName.PATH) if target.file >= 0 else None

    def find_star_import(self, file: int, name: str, called: str | None) -> Resolution | None:
        """Return what a name means that a wildcard import brings."""
        program = self.program
        symbols = program.files[file]
        declared = symbols.settings is not None and symbols.settings.modules.system is ModuleSystem.DECLARED
        stars = () if declared and symbols.settings and symbols.settings.modules.passing else symbols.stars
        for star in program.declared.bringing(symbols.settings, stars, name):
            if declared:
                if symbols.settings is not None and symbols.settings.modules.flat:
                    used = program.declared.find(symbols.settings.family, star.module, symbols.path)
                    listed = program.files[used[0]].facts.wildcard_exports if used is not None else None
                    if listed is None or name not in listed:
                        continue
                member = program.follow_import(file, star._replace(name=name), called)
                if member is not None and member.kind is ResolutionKind.DEFINITION:
                    return member
                continue
            target, _ = program.target_module(file, star)
            if target < 0:
                continue
            is_listing = program.files[target].facts.wildcard_exports is not None
            if program.is_hidden(target, name) or (not is_listing and name.startswith("_")):
                continue
            resolution = program.find_exported(target, name)
            if resolution is not None:
                return resolution
        if declared and symbols.settings is not None and symbols.settings.modules.sees_enclosing_packages:
            package = symbols.facts.package
            while package:
                package = package.rpartition(".")[0]
                above = program.declared.find(symbols.settings.family, f"{package}.{name}".lstrip("."), symbols.path)
                if above is not None:
                    return Resolution(ResolutionKind.DEFINITION, above[1], RuleName.PACKAGE_SCOPE)
        return None

    # -- namespaces

    def find_path(self, symbols: FileSymbols, parts: Sequence[str]) -> tuple[int, int] | None:
        """Return the outermost definition that a chain begins with, and the number of `parts` that name it.

        The first part is "" where a separator stands before the name. Where packages are no namespaces, a chain begins
        in the outermost package.
        """
        program = self.program
        declared, settings, written = program.declared, symbols.settings, list(parts)
        assert settings is not None
        if settings.modules.headers:
            return self._find_in_sight(symbols, parts)
        if settings.modules.passing:
            return None  # no chain begins with a namespace
        if not settings.modules.namespaces:
            return added_members.find_declared_path(program, symbols, parts)
        if not parts[0]:
            return _shift(declared.find_prefix(settings.family, written[1:], symbols.path), 1)
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(parts[0])
        above = symbols.facts.package.split(".") if symbols.facts.package else []
        if dict(settings.modules.relative).get(parts[0]) == "here":
            return _shift(declared.find_prefix(settings.family, above + written[1:], symbols.path), 1 - len(above))
        if entry is not None:
            above = [*entry.module.split("."), entry.name] if entry.module else [entry.name]
            return _shift(declared.find_prefix(settings.family, above + written[1:], symbols.path), 1 - len(above))
        prefix = _shift(declared.find_prefix(settings.family, above + written, symbols.path), -len(above))
        if (
            prefix is not None
            and settings.modules.inclusion
            and program.definition_of[prefix[0]].kind in CALLABLE_KINDS
        ):
            name = settings.family, ".".join(part.rstrip("()") for part in written[: prefix[1]])
            several = declared.types[name]
            number = program.inclusion.find_nearest(program.modules.number[symbols.path], name, several)
            return (number, prefix[1]) if number >= 0 else None
        if prefix is not None and prefix[1] > 0:
            return prefix
        prefix = declared.find_prefix(settings.family, written[:1], symbols.path)
        return prefix if prefix is not None and program.definition_of[prefix[0]].kind not in TYPE_KINDS else None

    def begins_with_package(self, symbols: FileSymbols, parts: Sequence[str]) -> bool:
        """Return True if a chain begins with a package, where `A.B` is no member of `A`."""
        settings = symbols.settings
        if settings is None or not settings.modules.flat or not parts[0][:1].isalpha():
            return False
        found = self.program.declared.find_prefix(settings.family, parts, symbols.path)
        return found is not None and self.program.is_type(found[0])

    def find_facade(self, symbols: FileSymbols, parts: Sequence[str]) -> tuple[int, int] | None:
        """Return the file whose top a chain begins with, by the type that holds that, and the number of its parts."""
        settings, written = symbols.settings, ""
        for count, part in enumerate(parts[:-1] if settings is not None else (), 1):
            written = f"{written}.{part}" if written else f"{symbols.facts.package}.{part}"
            for name in (written, written.removeprefix(f"{symbols.facts.package}.")):
                assert settings is not None
                file = self.program.declared.find_facade(settings.family, name, symbols.path)
                if file >= 0:
                    return file, count
            if "(" in part:
                break
        return None

    def _find_in_sight(self, symbols: FileSymbols, parts: Sequence[str]) -> tuple[int, int] | None:
        """Return the same as `find_path`, where namespaces are part of the names of what they hold.

        The namespaces are those that the file opens or uses, the innermost first, then the outermost.
        """
        program = self.program
        file = program.modules.number[symbols.path]
        for meant, n_more in self._without_aliases(symbols, file, parts):
            for count in range(1 + max(n_more, 0), len(meant) + 1):
                written = ".".join(part.rstrip("()[]") for part in meant[:count])
                for namespace in (*symbols.opened_namespaces, ""):
                    qualname = f"{namespace}.{written}" if namespace else written.removeprefix(".")
                    number = symbols.by_qualname.get(qualname)
                    if number is None:
                        number = program.packages.find_definition(file, qualname, program.files)
                    if number is not None:
                        return number, count - n_more
                if "(" in meant[count - 1]:
                    break
        if len(parts) > 1 and parts[0] in self._namespaces_of_macros():
            return _shift(self._find_in_sight(symbols, parts[1:]), 1)
        return None

    def _without_aliases(
        self, symbols: FileSymbols, file: int, parts: Sequence[str]
    ) -> Iterator[tuple[list[str], int]]:
        """Yield a chain with what stands for aliases of namespaces, and how many names longer that is.

        Aliases are those of the file, then those of what it includes.
        """
        named = symbols.namespace_aliases.get(parts[0], parts[0]).split(".") if parts[0] else [""]
        yield [*named, *parts[1:]], len(named) - 1
        if self._header_aliases is None:
            self._header_aliases = {}
            for number, each in enumerate(self.program.files):
                for alias, module in each.namespace_aliases.items():
                    self._header_aliases.setdefault(alias, []).append((number, module))
        included = self.program.packages.included
        for place, part in enumerate(parts[:-1] if included is not None else ()):
            for number, module in self._header_aliases.get(part, ()):
                if included is not None and (place or number != file) and number in included(file):
                    names = module.split(".")
                    yield [*parts[:place], *names, *parts[place + 1 :]], len(names) - 1
                    if place:  # the alias names it from the outermost on
                        yield [*names, *parts[place + 1 :]], len(names) - 1 - place
            if "(" in part:
                break

    def _namespaces_of_macros(self) -> frozenset[str]:
        """Return the namespaces that macros open, `#define BEGIN namespace a {`: what they hold has no such prefix."""
        if self._macro_namespaces is None:
            written = {
                each.name: each.signature
                for symbols in self.program.files
                if symbols.settings is not None and symbols.settings.modules.headers
                for each in symbols.facts.definitions
                if each.kind == NodeKind.CONSTANT and each.signature.startswith("#")
            }
            named = {name for text in written.values() for name in _NAMESPACE.findall(text)}
            values = [written[name].rpartition(" ")[2] for name in named if name in written]
            self._macro_namespaces = frozenset((*named, *values))
        return self._macro_namespaces

    def find_in_package(self, symbols: FileSymbols, name: str, scope: int = MODULE_SCOPE) -> Value | None:
        """Return what a bare name means in the package of a file.

        Tests see what the code of their package defines, but not the other way round. Where imports hold in their
        scope, what those around `scope` bring comes first.
        """
        if symbols.settings is not None and symbols.settings.modules.passing:
            file = self.program.modules.number[symbols.path]
            passed = self.find_passed(file, scope, name)
            if passed:
                rule = RuleName.SAME_FILE if self.program.file_of[passed[0]] == file else RuleName.STAR_IMPORT
                return Value(ValueKind.DEFINITION, passed[0], rule)
            if name in symbols.settings.modules.system_names and name not in symbols.by_qualname:
                return None
        value = self._find_in_package(symbols, name)
        if value is None or value.kind is not ValueKind.DEFINITION or role_of(symbols.path) == Role.TEST:
            return value
        path = self.program.files[self.program.file_of[value.number]].path
        return None if role_of(path) == Role.TEST else value

    def find_passed(self, file: int, scope: int, name: str) -> list[int]:
        """Return what a name means in `scope` by imports that hold there or around, or by another part of a namespace.

        These are several definitions where it is the name of several procedures.
        """
        program, found = self.program, dict[int, None]()
        symbols = program.files[file]
        while scope != MODULE_SCOPE and not found:
            if symbols.facts.definitions[scope].kind == NodeKind.NAMESPACE:
                own = program.find_own_member(symbols.first + scope, name)
                found.update({own: None} if own >= 0 else {})
                found.update(dict.fromkeys(self._passed_to_part(symbols, scope, name)))
            found.update(dict.fromkeys(program.passed_names.find(file, scope, name)))
            scope = symbols.facts.definitions[scope].parent
        return list(found)

    def _passed_to_part(self, symbols: FileSymbols, scope: int, name: str) -> Iterator[int]:
        """Yield what a name means by the imports of the namespace of which `scope` is a part in another file."""
        program, part = self.program, symbols.facts.definitions[scope]
        family = symbols.settings.family if symbols.settings is not None else ""
        for file, number in program.declared.types.get((family, part.qualname), ()):
            is_whole = program.definition_of[number].signature[:3] != part.signature[:3]
            if file != program.modules.number[symbols.path] and is_whole:
                yield from program.passed_names.find(file, number - program.files[file].first, name)

    def _find_in_package(self, symbols: FileSymbols, name: str) -> Value | None:
        """Return what a bare name means that files of one package share.

        Where namespaces are part of names, one in sight comes before what stands outside of them all.
        """
        program = self.program
        file = program.modules.number[symbols.path]
        number = program.packages.find_definition(file, name, program.files)
        if number is None:
            declared = program.declared
            find = declared.find_node if name[:1] == "$" else declared.find_singleton
            known = find(name, symbols.path) if declared.class_files else None
            return Value(ValueKind.INSTANCE, known[1], RuleName.IMPORT) if known is not None else None
        is_passing = symbols.settings is not None and symbols.settings.modules.passing
        if is_passing and program.definition_of[number].kind == NodeKind.NAMESPACE:
            return None
        inner = self._find_in_sight(symbols, [name]) if symbols.opened_namespaces else None
        if inner is None or inner[0] == number:
            return Value(ValueKind.DEFINITION, number, RuleName.PACKAGE_SCOPE)
        return Value(ValueKind.DEFINITION, inner[0], self.rule_of_path(file, inner[0]))

    def rule_of_path(self, file: int, definition: int) -> str:
        """Return the rule by which `find_path` found a definition."""
        settings = self.program.files[file].settings
        if settings is None or not (settings.modules.headers or settings.modules.inclusion):
            return RuleName.IMPORT
        return RuleName.SAME_FILE if self.program.file_of[definition] == file else RuleName.PACKAGE_SCOPE

    def find_imported_files(self, settings: LanguageSettings, symbols: FileSymbols, entry: Import) -> list[int]:
        """Return the files of what a file uses below a package that it imports.

        There is none where it is no package of the repository.
        """
        if entry.kind != ImportKind.NAME:
            return []
        declared, package = self.program.declared, f"{entry.module}.{entry.name}".strip(".")
        if (settings.family, package) not in declared.around:
            return []
        result = set()
        for chain in chains_of_parts(symbols.facts):
            head, dot, rest = chain.partition(".")
            if head == entry.alias and dot:
                parts = [*package.split("."), *rest.split(".")]
                target = declared.find_prefix(settings.family, parts, symbols.path)
                if target is not None:
                    result.add(self.program.file_of[target[0]])
        return sorted(result)

    # -- extension functions at the top of a file or package, imported by name or with the package

    def has_package_extension(self, chain: str) -> bool:
        """Return True if the last name of a chain may denote a function defined outside of its type."""
        if self._package_extensions is None:
            self._package_extensions = {}
            for symbols in self.program.files:
                settings = symbols.settings
                if settings is None or settings.modules.system is not ModuleSystem.DECLARED:
                    continue
                for local, _ in symbols.facts.owners:
                    definition = symbols.facts.definitions[local]
                    if definition.parent == MODULE_SCOPE:
                        self._package_extensions.setdefault(definition.name, []).append(symbols.first + local)
        return bool(self._package_extensions) and "." in chain and chain.rpartition(".")[2] in self._package_extensions

    def find_own_extension(self, file: int, scope: int, chain: str, receiver: str) -> Sequence[tuple[int, str]]:
        """Return (definition, rule) of extension functions that a type around `scope` has as members.

        Of several that have one name, it is the one for the type that is called `receiver`, or any.
        """
        symbols = self.program.files[file]
        pattern = symbols.settings.names.extension_pattern if symbols.settings is not None else ""
        name = chain.rpartition(".")[2]
        if not pattern or scope < 0 or "." not in chain or symbols.settings is None:
            return ()
        if name in symbols.settings.builtin_methods:
            return ()
        owner = self.program.enclosing_type(symbols.first + scope)
        for _ in range(_MAX_OUTER_TYPES):
            if owner < 0:
                break
            number, inherited = self.program.find_member(owner, name)
            if number >= 0 and re.search(pattern, self.program.definition_of[number].signature):
                rule = RuleName.INHERITED if inherited else RuleName.SELF
                same = [number, *(each for each in self.program.overloads_of(number)[0] if each != number)]
                if len(same) > 1:
                    signatures = [self.program.definition_of[each].signature for each in same]
                    taking = re.compile(rf"\b{re.escape(receiver)}(?:<.*>)?\??\.\s*{re.escape(name)}\b")
                    fitting = [each for each, written in zip(same, signatures, strict=True) if taking.search(written)]
                    same = fitting if receiver and fitting else same
                return [(each, rule) for each in same]
            parent = self.program.parent(owner)
            owner = self.program.enclosing_type(parent) if parent >= 0 else -1
        return ()

    def find_package_extensions(
        self, file: int, chain: str, arguments: str, value: Value | None, values: str
    ) -> Sequence[tuple[int, str]]:
        """Return (definition, rule) of the functions that a call of `chain` in `file` may mean.

        `value` is what is known of the chain. Of a receiver of which nothing is known, only a function that was
        imported by its name is meant. Call `has_package_extension` first.
        """
        assert self._package_extensions is not None
        program, name = self.program, chain.rpartition(".")[2]
        symbols = program.files[file]
        assert symbols.settings is not None
        is_unknown = value is not None and value.kind is ValueKind.UNKNOWN_MEMBER
        if len(self._package_extensions[name]) > _MAX_EXTENSIONS or name in symbols.settings.names.constructors:
            return []
        extensions = [
            each
            for each in those_with_labels(self._package_extensions[name], program.definition_of, values)
            if (is_unknown or each not in program.owner_of)
            and misfit(program.parameters.get(each), arguments, {}) is not None
        ]
        if len(extensions) > 1 and value is not None and value.kind is ValueKind.EXTERNAL and value.type:
            extensions = [each for each in extensions if written_owner(program, each) == value.type] or extensions
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(name)
        package = program.packages.package_of[file]
        wanted = {f"{entry.module}.{entry.name}"} if entry is not None else set()
        stars = {star.module for star in symbols.stars}
        groups = [(RuleName.IMPORT, [each for each in extensions if f"{package_of(program, each)}.{name}" in wanted])]
        if not is_unknown:
            groups.insert(0, (RuleName.SAME_FILE, [each for each in extensions if program.file_of[each] == file]))
        if not is_unknown and name not in symbols.settings.builtin_methods:
            groups += [
                (
                    RuleName.PACKAGE_SCOPE,
                    [e for e in extensions if program.packages.package_of[program.file_of[e]] == package],
                ),
                (RuleName.STAR_IMPORT, [each for each in extensions if package_of(program, each) in stars]),
            ]
        for rule, several in groups:
            if several:
                chosen = best_overloads(several, program.parameters, arguments, program.literals[symbols.settings.name])
                return [(each, rule) for each in chosen] if len(chosen) <= MAX_CANDIDATES else []
        return []

    # -- static functions that say that they are called on their first parameter

    def add_extension(self, function: int, type_number: int, written: str) -> None:
        """Remember a function that is for a type, by its number or, where that is none of the repository, its name."""
        symbols = self.program.files[self.program.file_of[function]]
        if type_number < 0:
            is_parameter = written in symbols.bindings.get(function - symbols.first, {})
            type_number = _ANY_TYPE if is_parameter or written in _TOP_TYPES else _EXTERNAL_TYPE
        self.program.extended[function] = type_number

    def find_extension_member(self, file: int, value: Value, name: str, called: str | None) -> Value | None:
        """Return the function that `name` on an instance may mean, where its type has no such member.

        Functions for the nearest type come first, those for any value last. A name alone may mean a getter.
        """
        program, own = self.program, self.program.files[file].settings
        is_meant = called is not None or (own is not None and own.modules.libraries)
        if not is_meant or value.kind is not ValueKind.INSTANCE or not program.extended:
            return None
        extensions = find_fitting_extensions(program, file, name, called)
        for base in program.linear_bases(value.number):
            for each in extensions:
                if program.extended[each] == base:
                    return Value(ValueKind.DEFINITION, each, value.rule)
        for each in extensions:
            if program.extended[each] == _ANY_TYPE:
                return Value(ValueKind.DEFINITION, each, RuleName.TRAIT_IN_SCOPE)
        return None

    def find_extensions_of_external(
        self, file: int, chain: str, arguments: str, value: Value | None
    ) -> Sequence[tuple[int, str]]:
        """Return (definition, rule) of functions that a call on a receiver from outside may mean.

        If nothing is known of the receiver, these are only those for any value, of a name that no method has.
        """
        program, name = self.program, chain.rpartition(".")[2]
        settings = program.files[file].settings
        if "." not in chain or settings is None or name in settings.builtin_methods:
            return []
        extensions = [
            each for each in find_fitting_extensions(program, file, name, arguments) if program.extended[each] < 0
        ]
        if value is None or value.kind is ValueKind.UNKNOWN_MEMBER:
            if any(each not in program.extended for each in program.methods.get(name, ())):
                return []
            extensions = [each for each in extensions if program.extended[each] == _ANY_TYPE]
        extensions = added_members.near_receiver(program, extensions, chain, value) if extensions[1:] else extensions
        chosen = best_overloads(extensions, program.parameters, arguments, program.literals[settings.name])
        if len(chosen) > MAX_CANDIDATES:
            return []
        return [(each, rule_of_extension(program, file, each)) for each in chosen]


def _shift(prefix: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    return (prefix[0], prefix[1] + by) if prefix is not None else None
