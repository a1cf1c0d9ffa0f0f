"""Invalidation keys of an edit: the names that mean something else to other files, so that their users are relinked.

In: two states of one file's facts, or the facts of an added or deleted file. Out: names. A file that has none of them
in its facts keeps its edges.

For an edit these are the last names of all changed items of the file's interface, with the names of their enclosing
definitions. A chain that resolves to one of them, in any file, contains that name, or the name of a definition that
depends on it: a function that returns it, a class with it as a base, a value, an alias. Variables of functions are
followed in their own file, since no other file can name them.

An added or deleted file is reached by its module's name, in an import or in a chain after a package. Its methods may be
called on receivers of unknown type, its definitions may be mentioned in prose, and tests are recognized by its path
(`graph.build`).
"""

import posixpath
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.graph.file_symbols import members_of_objects
from causalist.graph.name_lookup import has_receiver_parameters
from causalist.model.facts import MODULE_SCOPE, Binding, Definition, FileFacts, ImportKind, interface_of, variable_of
from causalist.model.language_settings import LanguageSettings, ModuleSystem
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role, accessor_names
from causalist.model.role_by_path import role_of
from causalist.model.type_notation import KEPT

_NAME = lazy_regex(r"\w+")
_CHAIN = lazy_regex(r"[^\W\d]\w*(?:\.\w+)*")
_DASHED = lazy_regex(r"\w+(?:-\w+)+")  # in names of modules
# What an import means without saying its name: what a file shows as a whole, what runs when a package is loaded.
UNNAMED_EXPORTS = frozenset({"default", "init"})
_STARS = (ImportKind.STAR, ImportKind.REEXPORT_ALL)


Variable = tuple[str, str]  # the qualified name of its function, its own


class InterfaceChange(NamedTuple):
    """Names that differ between two interfaces of a file.

    `names` as above. `prose_names`: names of definitions by which only prose means them. `variables` of functions that
    differ, which only these can name. `kinds` are those of the definitions that came, went or changed.
    """

    names: frozenset[str]
    prose_names: frozenset[str]
    variables: frozenset[Variable]
    kinds: frozenset[int]


def compare_interfaces(old: FileFacts, new: FileFacts, language: LanguageSettings | None) -> InterfaceChange | None:
    """Return the difference between two states of a file; None where names cannot tell it.

    `language` is None for text.
    """
    old, new = interface_of(old), interface_of(new)
    before, after = (
        (each.language, each.manifest, each.package, each.wildcard_exports is None, not each.exports)
        for each in (old, new)
    )
    if before != after:
        return None
    old, new = _hide_titles(old), _hide_titles(new)
    modules, naming = (language.modules, language.names) if language is not None else (None, None)
    hides = modules is not None and (modules.mentioned or modules.passing or modules.opened or modules.pasted)
    if (hides or (naming is not None and (naming.dispatched or naming.regions))) and old != new:
        return None  # an opened or included module hides names of others, and so does a method or a region
    if modules is not None and modules.quoted and _passed_on(old) != _passed_on(new):
        return None  # files that include one that includes this one see what it passes on
    special = _special_prefix(language)
    one, other = _interface_items(old, language), _interface_items(new, language)
    names: set[str] = set()
    prose_names: set[str] = set()
    variables: set[Variable] = set()
    kinds: set[int] = set()
    for key in one.keys() | other.keys():
        then, now = one.get(key, []), other.get(key, [])
        if then == now:
            continue
        item_kind, qualname, name = key
        if item_kind == _Item.WHOLE or (
            language is not None and language.names.alike and _is_used_by_name(item_kind, name, (*then, *now))
        ):
            return None  # with `alike`, uses may be written with other capitals
        if item_kind == _Item.VARIABLE:
            variables.add((qualname, name))
        elif item_kind == _Item.BINDING:
            names.update(_names_of_binding(qualname, name, special))
        elif item_kind == _Item.DEFINITION:
            names.update(_names_of(qualname, special), _names_of(f"{qualname.rpartition('.')[0]}.{name}", special))
            prose_names.update(_NAME.findall(name))
        elif item_kind != _Item.CHILD or not _are_distinguished(then, now, special):
            names.update(_names_of(qualname, special), _NAME.findall(name))
        if item_kind == _Item.BASE and _asks_below(language):
            names.update(
                name
                for facts in (old, new)
                for binding in _bindings_of_types(facts)
                if facts.definitions[binding.scope].qualname == qualname
                for name in _NAME.findall(binding.target)
            )
        kinds.update(k for facts in (old, new) for k in _kinds_at(facts, qualname))
    if names & UNNAMED_EXPORTS:
        return None
    names = _with_accessors(names, language)
    return InterfaceChange(frozenset(names), frozenset(prose_names - names), frozenset(variables), frozenset(kinds))


def _passed_on(facts: FileFacts) -> set[str]:
    return {entry.module for entry in facts.imports if entry.kind == ImportKind.REEXPORT_ALL}


def _with_accessors(names: set[str], language: LanguageSettings | None) -> set[str]:
    """Return names with those by which other languages of the family, and calls that queue a job, mean the same."""
    if language is None:
        return names
    names = names.union(called for called, method in language.types.deferred if method in names)
    if not language.names.accessors:
        return names
    return names.union(*(accessor_names(name, is_called) for name in names for is_called in (False, True)))


class _Item(StrEnum):
    """Kinds of items of an interface. WHOLE ones may change everything that reads the file."""

    CHILD = "child"
    RETURNS = "returns"
    PARAMETERS = "parameters"
    CONDITIONS = "conditions"
    BASE = "base"
    VARIABLE = "variable"
    BINDING = "binding"
    EXPORT = "export"
    WHOLE = "whole"
    IMPORT = "import"
    DEFINITION = "definition"


def _is_used_by_name(item: _Item, name: str, values: Iterable[Hashable]) -> bool:
    """Return True for an item that may change what a name means in other files.

    Children that come or go are items of their own, and handlers have no name that code uses.
    """
    if item == _Item.BINDING:
        return name.startswith(".")
    if item == _Item.DEFINITION:
        return any(isinstance(each, Definition) and each.kind != NodeKind.HANDLER for each in values)
    return item in (_Item.RETURNS, _Item.PARAMETERS, _Item.BASE)


_Key = tuple[_Item, str, str]  # what it is, the qualified name around or of it, a name in it


def _interface_items(facts: FileFacts, language: LanguageSettings | None) -> dict[_Key, list[Hashable]]:
    """Return the items of an interface by their subject, in an order that insertions elsewhere do not change."""
    shows_side_effects = language is None or language.modules.shows_side_effects or language.names.alike
    shows_signatures = language is None or _reads_signatures(language)
    qualnames = [definition.qualname for definition in facts.definitions]
    qualnames.append("")  # of the file, MODULE_SCOPE
    items: dict[_Key, list[Hashable]] = {}

    def add(item_kind: _Item, place: int, name: str, value: Hashable) -> None:
        items.setdefault((item_kind, qualnames[place], name), []).append(value)

    for definition in facts.definitions:
        visible = definition._replace(start_byte=0, end_byte=0, start_row=0, end_row=0, doc="", text_byte=0, parent=0)
        if definition.kind in CALLABLE_KINDS and not shows_signatures:
            visible = visible._replace(signature="")
        items.setdefault((_Item.DEFINITION, definition.qualname, definition.name), []).append(visible)
        if definition.parent != MODULE_SCOPE:
            add(_Item.CHILD, definition.parent, "", definition.name)
    for local, returned in facts.returns:
        add(_Item.RETURNS, local, "", returned)
    for local, types in facts.parameters:
        add(_Item.PARAMETERS, local, "", types)
    for local, conditions in facts.conditions:
        add(_Item.CONDITIONS, local, "", conditions)
    for base in facts.bases:
        add(_Item.BASE, base.definition, "", (base.name, base.implements))
    variable_of = _variables(facts)
    for binding in facts.bindings:
        word = variable_of(binding)
        add(_Item.VARIABLE if word else _Item.BINDING, binding.scope, word or binding.target, binding[1:4])
    for export in facts.exports:
        add(_Item.EXPORT, MODULE_SCOPE, f"{export.exported} {export.local}", ())
    for entry in facts.imports:
        unplaced = entry._replace(row=0, scope=0)
        if entry.kind in _STARS:
            add(_Item.WHOLE, entry.scope, "", unplaced)
        elif entry.kind == ImportKind.SIDE_EFFECT:
            if shows_side_effects:
                add(_Item.WHOLE, entry.scope, entry.module, entry.level)
        else:
            add(_Item.IMPORT, entry.scope, entry.alias or entry.module.partition(".")[0], unplaced)
    for name in facts.wildcard_exports or ():
        add(_Item.EXPORT, MODULE_SCOPE, name, ())
    for local, owner in facts.owners:
        add(_Item.WHOLE, local, "", owner)
    for block in facts.implementations:
        add(_Item.WHOLE, block.scope, "", (block.type, block.trait, qualnames[block.first : block.end]))
    for local in facts.tests:
        add(_Item.WHOLE, local, "", "test")
    return items


_SIGNS = str.maketrans("0123456789abcdef", "!$&'()*+,-/:;<=>")


def _hide_titles(facts: FileFacts) -> FileFacts:
    """Return the facts with signs in place of the titles of handlers, whose words name nothing."""
    if not any(definition.kind == NodeKind.HANDLER for definition in facts.definitions):
        return facts
    shown: list[Definition] = []
    for position, current in enumerate(facts.definitions):
        parent = min(current.parent, position - 1)
        before = f"{facts.definitions[parent].qualname}." if parent != MODULE_SCOPE else ""
        around = f"{shown[parent].qualname}." if parent != MODULE_SCOPE else ""
        if current.kind == NodeKind.HANDLER:
            signs = current.name.encode("utf-8", "surrogatepass").hex().translate(_SIGNS)
            shown.append(current._replace(name=signs, qualname=around + signs))
        elif before and current.qualname.startswith(before):
            shown.append(current._replace(qualname=around + current.qualname[len(before) :]))
        else:
            shown.append(current)
    return replace(facts, definitions=tuple(shown))


def _reads_signatures(language: LanguageSettings) -> bool:
    """Return True if other files depend on more of a function's declaration than parameters and return types.

    A declaration may decide which overload is called, what overrides or implements it, and who can see it.
    """
    names, types = language.names, language.types
    return bool(
        names.has_overloads
        or names.no_override_keywords
        or names.file_private_pattern
        or names.partial_type_pattern
        or types.structural
        or types.prefixed
    )


def _special_prefix(language: LanguageSettings | None) -> str:
    return language.names.special_method_prefix if language is not None else ""


def _names_of(place: str, special: str) -> Iterator[str]:
    """Yield the names by which other files may refer to the definition `place`.

    These are its own name, or the names around it if it is called without its name. Languages without a mark for such
    definitions (`NameSettings.special_method_prefix`) yield all of them.
    """
    words = _NAME.findall(place)
    if not special:
        yield from words
    elif len(words) > 1 and words[-1].startswith(special):
        yield words[0]
        yield from (word for word in words[1:] if not word.startswith(special))
    else:
        yield from words[-1:]


def _names_of_binding(place: str, target: str, special: str) -> Iterator[str]:
    """Yield the names that depend on a binding of `place` to `target`; a returned value has no name of its own."""
    own = _NAME.findall(target)
    if target.startswith(".__"):
        yield from _NAME.findall(place)
    elif not own or not (special or target.startswith(".")):
        yield from _names_of(place, special)
    yield from own


def _are_distinguished(then: Sequence[Hashable], now: Sequence[Hashable], special: str) -> bool:
    """Return True if only definitions without a special name came or went, and the others keep their order."""
    if not special:
        return False
    several = {*then} ^ {*now}
    is_order_kept = [name for name in then if name not in several] == [name for name in now if name not in several]
    return bool(several) and is_order_kept and not any(str(name).startswith(special) for name in several)


def _variables(facts: FileFacts) -> Callable[[Binding], str]:
    """Return a function that names the variable of a function that a binding belongs to."""
    kinds = [definition.kind for definition in facts.definitions]
    members = {local for local, _ in facts.owners}
    return lambda binding: variable_of(binding, kinds, members)


def _asks_below(language: LanguageSettings | None) -> bool:
    """Return True if a type may use the types that its attribute has in the types below it."""
    return language is not None and bool(language.shapes.sequences)


def _bindings_of_types(facts: FileFacts) -> Iterator[Binding]:
    """Yield the attributes of types with bases to which a name is given, which may be that of a type."""
    derived = {base.definition for base in facts.bases}
    for binding in facts.bindings:
        if binding.scope in derived and _CHAIN.fullmatch(binding.value):
            yield binding


def _kinds_at(facts: FileFacts, place: str) -> Iterator[int]:
    return (definition.kind for definition in facts.definitions if definition.qualname == place)


def dependent_names(
    facts: FileFacts, language: LanguageSettings | None, names: Set[str], variables: Set[Variable] = frozenset()
) -> set[str]:
    """Return the names in a file's interface that are made of one of these names or variables.

    Variables on the way are not returned: other files cannot name them.
    """
    special, facts = _special_prefix(language), _hide_titles(facts)
    variable_of = _variables(facts)
    parents = [min(definition.parent, position - 1) for position, definition in enumerate(facts.definitions)]
    reached = [{name for place, name in variables if place == each.qualname} for each in facts.definitions]

    def visible(place: int) -> Iterator[Set[str]]:
        yield names
        while place != MODULE_SCOPE:
            yield reached[place]
            place = parents[place]

    while True:
        dependent: set[str] = set()
        is_done = True
        for place, own, texts in _dependencies(facts, language):
            if not any(_contains_name(text, visible(place)) for text in texts):
                continue
            qualname = facts.definitions[place].qualname if place != MODULE_SCOPE else ""
            if isinstance(own, str):
                dependent.update(_names_of(qualname, special), _NAME.findall(own))
            elif not (word := variable_of(own)):
                dependent.update(_names_of_binding(qualname, own.target, special))
            elif word not in reached[place]:
                reached[place].add(word)
                is_done = False
        if is_done:
            return _with_accessors(dependent, language)


def _contains_name(text: str, several: Iterable[Set[str]]) -> bool:
    """Return True if the text contains a word of one of these sets."""
    if not text:
        return False
    words = _NAME.findall(text) + (_DASHED.findall(text) if "-" in text else [])
    return any(not names.isdisjoint(words) for names in several)


def _dependencies(
    facts: FileFacts, language: LanguageSettings | None
) -> Iterator[tuple[int, str | Binding, tuple[str, ...]]]:
    """Yield (place, name or binding, texts that it is made of) of all in an interface."""
    if _asks_below(language):
        bases: dict[int, list[str]] = {}
        for base in facts.bases:
            bases.setdefault(base.definition, []).append(base.name)
        for binding in _bindings_of_types(facts):
            yield binding.scope, binding, tuple(bases[binding.scope])
    for local, returned in facts.returns:
        yield local, "", (returned,)
    for local, types in facts.parameters:
        yield local, "", types
    for base in facts.bases:
        yield base.definition, "", (base.name,)
    for binding in facts.bindings:
        yield binding.scope, binding, (binding.type, binding.value)
    for export in facts.exports:
        yield MODULE_SCOPE, export.exported, (export.local,)
    for entry in facts.imports:
        yield entry.scope, entry.alias or entry.name, (entry.module, entry.name)
    for local, owner in facts.owners:
        yield local, "", (owner,)
    for block in facts.implementations:
        yield block.scope, f"{block.type} {block.trait}", (block.type, block.trait)


_STEM = lazy_regex(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*")
# What a package means that its manifest says nothing of.
_ENTRIES = frozenset({"index", "main"})
_WHOLE = (ImportKind.STAR, ImportKind.REEXPORT_ALL)
_REEXPORTS = (ImportKind.REEXPORT_ALL, ImportKind.REEXPORT, ImportKind.REEXPORT_NAMESPACE)
_PASSING = (ImportKind.STAR, *_REEXPORTS)


class InvalidationKeys(NamedTuple):
    """Names by which other files see a file that came or went.

    `stem` is the word by which it is imported. `names` are others that its facts give to what stands elsewhere.
    `methods` are those of its types, `guessed` of these such as a call may mean by its name alone. `mentioned` is what
    prose may mean. `passed_on` is what an import of everything brings, None where that is not known.
    """

    path: str
    language: str
    stem: str
    names: frozenset[str]
    methods: frozenset[str]
    guessed: frozenset[str]
    mentioned: frozenset[str]
    passed_on: frozenset[str] | None


def invalidation_keys(path: str, facts: FileFacts, settings: Mapping[str, LanguageSettings]) -> InvalidationKeys | None:
    """Return the keys of a file; None for a file that others see without a name.

    Such are manifests, files that stand for their folder, and languages in which the files of a package share a
    scope or a module is used without an import.
    """
    stem = posixpath.basename(path).partition(".")[0]
    if facts.manifest or not path.isascii() or not _STEM.fullmatch(stem):
        return None
    if any(path.lower().endswith(each.modules.projects) for each in settings.values()):
        return None
    language = settings.get(facts.language)
    if language is None:
        nothing: frozenset[str] = frozenset()
        return (
            None if facts.definitions else InvalidationKeys(path, "", stem, nothing, nothing, nothing, nothing, nothing)
        )
    modules = language.modules
    is_named = modules.system in (ModuleSystem.DOTTED, ModuleSystem.PATH) and not modules.mentioned
    if (
        not is_named or modules.inclusion or modules.reopened or modules.beside or modules.labels
    ):  # a build may give it any name
        return None
    if modules.libraries:  # others know a part by the name of its library
        return None
    if stem in modules.index_stems or (modules.system is ModuleSystem.PATH and stem in _ENTRIES):
        return None
    kinds = {entry.kind for entry in facts.imports}
    if facts.owners or facts.implementations or facts.package or kinds & {*_REEXPORTS}:
        return None
    if modules.shows_side_effects and ImportKind.SIDE_EFFECT in kinds:
        return None
    passed_on = None
    if ImportKind.STAR not in kinds:
        top_level = {d.name for d in facts.definitions if d.parent == MODULE_SCOPE and d.kind != NodeKind.HANDLER}
        top_level.update(b.target for b in facts.bindings if b.scope == MODULE_SCOPE)
        top_level.update(
            name for export in facts.exports for name in _NAME.findall(f"{export.exported} {export.local}")
        )
        top_level.update(entry.alias or entry.module.partition(".")[0] for entry in facts.imports)
        passed_on = frozenset(top_level - {"", "default"})
    # `Door.handle = make()` gives a member to what may stand elsewhere; `.handle` is one of the type around it.
    exported = {
        name
        for binding in facts.bindings
        if "." in binding.target and not binding.target.startswith(".")
        for name in _NAME.findall(binding.target)
    }
    if _asks_below(language):
        exported.update(name for binding in _bindings_of_types(facts) for name in _NAME.findall(binding.target))
    # No guess is made at a method that builtin types have: callers of the family, and of languages that ask all
    # methods.
    asking = [e for e in settings.values() if e.family == language.family or has_receiver_parameters(e)]
    builtin = frozenset.intersection(*(frozenset(each.builtin_methods) for each in asking))
    methods = frozenset(d.name for d in facts.definitions if d.kind == NodeKind.METHOD)
    kept = {each.target.removeprefix(KEPT) for each in facts.bindings if each.target.startswith(KEPT)}
    # Members of a named object are found by its name, even if builtin types have a method of that name.
    of_objects = {facts.definitions[i].name for i in members_of_objects(facts, language)}
    guessed = frozenset(name for name in ({*methods, *kept} - builtin) | of_objects if not name.startswith("__"))
    named = (d.name for d in facts.definitions if d.kind != NodeKind.HANDLER)
    mentioned = frozenset(named) if role_of(path) == Role.CODE else frozenset()
    return InvalidationKeys(path, facts.language, stem, frozenset(exported), methods, guessed, mentioned, passed_on)


def can_mention(path: str, has_grammar: bool) -> bool:
    """Return True if the prose of a file may mention other files."""
    return not has_grammar or role_of(path) == Role.TEST


def forwards_module(facts: FileFacts, stem: str) -> tuple[bool, bool]:
    """Return two answers on a module that may have this name, for a file that imports it.

    First: True if the file imports everything of it. Second: True if it passes some of it on that is looked for in
    several places.
    """
    imports = [e for e in facts.imports if e.kind in _PASSING and stem in _STEM.findall(f"{e.module} {e.name}")]
    is_whole = any(entry.kind in _WHOLE for entry in imports)
    return is_whole, any(entry.kind in _REEXPORTS and not entry.module.startswith(".") for entry in imports)


def forwarded_modules(path: str, facts: FileFacts, language: LanguageSettings | None) -> frozenset[tuple[str, int]]:
    """Return the modules, with their levels, of which a file passes something on to those who import it.

    These are in the sight of importers, too, although they have no name of them.
    """
    if language is None:
        return frozenset()
    stem = posixpath.splitext(posixpath.basename(path))[0]
    is_package = language.modules.system is ModuleSystem.DOTTED and stem in language.modules.index_stems
    return frozenset((entry.module, entry.level) for entry in facts.imports if is_package or entry.kind in _REEXPORTS)
