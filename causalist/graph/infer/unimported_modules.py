"""Names by modules that no import names: those that a file opens or includes, and other names of modules.

In: a name that nothing around declares, or a member that a module lacks. Out: its value, or None. Only for languages in
which naming a module is importing it. The last module that is opened around a name counts first. A module that includes
another has all of its members, also where a functor makes the other.

Declarative regions are looked up here as well: what a name may mean by what is around it, and what that uses.
"""

from dataclasses import dataclass, field

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.infer.base import InferenceBase
from causalist.graph.infer.opened_namespaces import OpenedNamespaces, is_unseen
from causalist.graph.program import Program
from causalist.graph.resolution_results import (
    BUILTIN,
    UNKNOWN,
    Value,
    ValueKind,
    value_of_resolution,
)
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, ImportKind
from causalist.model.type_notation import LAMBDA_VALUE

_MODULES = (ValueKind.MODULE, ValueKind.DEFINITION, ValueKind.PARTIAL_PACKAGE)
_NOTHING = (ValueKind.BUILTIN, ValueKind.EXTERNAL, ValueKind.UNKNOWN, ValueKind.UNKNOWN_MEMBER)
_MAX_OPEN = 12  # modules that are looked into, each for the sake of the one before


@dataclass(slots=True, eq=False)
class MentionedModules:
    """Look-ups in modules that are opened or included."""

    program: Program
    inference: InferenceBase
    opened: OpenedNamespaces = field(init=False)
    _open: set[tuple[int, int, str]] = field(default_factory=set)  # (file, number of the statement, name)

    def __post_init__(self) -> None:
        self.opened = OpenedNamespaces(self.program)

    def is_for(self, file: int) -> bool:
        """Return True for a file in whose language naming a module imports it."""
        settings = self.program.files[file].settings
        return settings is not None and settings.modules.mentioned

    def find_at_top(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a name means that nothing around `scope` declares but the file itself, or a module it names."""
        symbols = self.program.files[file]
        last = symbols.by_qualname.get(name)
        own = self.find_before(symbols, scope, last) if last is not None else None
        if own is not None:
            return Value(ValueKind.DEFINITION, own, RuleName.SAME_FILE)
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(name)
        resolution = self.program.follow_import(file, entry) if entry is not None else None
        if entry is not None and resolution is not None and resolution.rule == "dotted":
            return Value(ValueKind.PARTIAL_PACKAGE, file, RuleName.PATH, entry.module.partition(".")[0])
        value = value_of_resolution(resolution, "") if resolution is not None else None
        if value is not None and value.kind is not ValueKind.EXTERNAL:
            return value
        binding = symbols.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None and binding.value:
            return self.inference.infer_chain(file, MODULE_SCOPE, binding.value)
        # One without a value may be of a function without a name, elsewhere in the file.
        return self.find_opened(file, scope, name, called) or value or (UNKNOWN if binding is not None else None)

    def find_before(self, symbols: FileSymbols, scope: int, last: int) -> int | None:
        """Return which of the definitions with the qualified name of `last` a name means in `scope`.

        It is the last one before that is seen from there and is no method.
        """
        qualname = symbols.facts.definitions[last - symbols.first].qualname
        for number in reversed(symbols.redefined.get(qualname, (last,))):
            if not self.program.is_object_method(number) and not is_unseen(symbols, scope, number):
                return number
        return None

    def find_opened(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a name means that a module opened around `scope` brings."""
        around, definitions = {scope, MODULE_SCOPE}, self.program.files[file].facts.definitions
        while scope != MODULE_SCOPE:
            scope = definitions[scope].parent
            around.add(scope)
        value = self._find(file, around, name, called, (ImportKind.STAR, ImportKind.REEXPORT_ALL))
        return value._replace(rule=RuleName.STAR_IMPORT) if value is not None else None

    def find_member(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a module has under a name that no definition in it has: another name, or an included member.

        `scope` is the number of the module among the definitions of its file, or that of the file itself.
        """
        binding = self.program.files[file].bindings.get(scope, {}).get(name)
        if binding is not None and binding.value and name[:1].isupper():
            key = (file, -1, name)
            if key in self._open:
                return None
            self._open.add(key)
            value = self.inference.infer_chain(file, scope, binding.value)
            self._open.discard(key)
            return value
        member = self._find(file, {scope}, name, called, (ImportKind.REEXPORT_ALL,))
        return member._replace(rule=RuleName.RE_EXPORT) if member is not None else None

    def find_inside(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        """Return what a chain means of which modules are opened for a part of an expression, the innermost first."""
        symbols, (keys, _, rest) = self.program.files[file], chain.partition(".")
        for target in (f"{LAMBDA_VALUE}{key}" for key in keys[1:].split(LAMBDA_VALUE) if rest):
            at = scope
            while at != MODULE_SCOPE and target not in symbols.bindings.get(at, {}):
                at = symbols.facts.definitions[at].parent
            opened, key = symbols.bindings.get(at, {}).get(target), (file, -2, f"{target}.{rest}")
            if opened is None or key in self._open or len(self._open) > _MAX_OPEN:
                continue
            self._open.add(key)
            module = self.inference.infer_chain(file, at, opened.value)
            value = self._member_of(file, module, opened.value, rest, called)
            self._open.discard(key)
            if value is not None:
                return value._replace(rule=RuleName.STAR_IMPORT) if "." not in rest else value
        return self.inference.infer_chain(file, scope, rest, called) if rest else UNKNOWN

    def find_in_library(self, library: Value, name: str) -> Value:
        """Return the module of a library that no file stands for."""
        module = self.inference.name_lookup.find_dotted_module(library.number, f"{library.name}.{name}")
        return module or BUILTIN

    def _find(
        self, file: int, scopes: set[int], name: str, called: str | None, kinds: tuple[ImportKind, ...]
    ) -> Value | None:
        stars = self.program.files[file].stars
        for at in range(len(stars) - 1, -1, -1):
            star, key = stars[at], (file, at, name)
            if star.kind not in kinds or star.scope not in scopes or key in self._open or len(self._open) > _MAX_OPEN:
                continue
            self._open.add(key)
            module = self.inference.infer_chain(file, star.scope, star.module)
            value = self._member_of(file, module, star.module, name, called)
            self._open.discard(key)
            if value is not None:
                return value
        return None

    def _member_of(self, file: int, module: Value | None, name: str, chain: str, called: str | None) -> Value | None:
        """Return the value of a chain in a module of that name; None unless it is known."""
        if module is None or module.kind not in _MODULES:
            return None
        value = self.inference.follow_members(file, module, [name, *chain.split(".")], 1, called)
        return value if value is not None and value.kind not in _NOTHING else None
