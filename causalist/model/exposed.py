"""Which names mean something else to other files after an edit.

In: two states of one file's facts. Out: the last names of all that differs in what others see, with the names around
it. Whatever resolves to one of them, in whatever file, has the name written there, or the name of something that in
turn is made of it, which `resting_on` tells: a function that returns it, a class with it as a base, a value, an alias.
So a file that has none of these names in its facts has the edges that it had.
"""

import re
from collections.abc import Hashable, Iterator, Set
from typing import NamedTuple

from causalist.model.facts import MODULE_SCOPE, FileFacts, ImportKind
from causalist.model.interface import interface_of
from causalist.model.language import ModuleSettings

_NAME = re.compile(r"\w+")
_DASHED = re.compile(r"\w+(?:-\w+)+")  # in names of modules
# What an import means without saying its name: what a file shows as a whole, what runs when a package is loaded.
UNSAID = frozenset({"default", "init"})
_STARS = (ImportKind.STAR, ImportKind.REEXPORT_ALL)


class Change(NamedTuple):
    """`names` as above; `kinds` are those of the definitions that came, went or changed."""

    names: frozenset[str]
    kinds: frozenset[int]


def change_of(old: FileFacts, new: FileFacts, modules: ModuleSettings | None) -> Change | None:
    """What differs between two states of a file; None where that cannot be told by names. `modules` are those of its
    language, None for text."""
    old, new = interface_of(old), interface_of(new)
    before, after = (
        (each.language, each.manifest, each.package, each.wildcard_exports is None, not each.exports)
        for each in (old, new)
    )
    if before != after:
        return None
    shows_side_effects = modules is None or modules.shows_side_effects
    one, other = _items(old, shows_side_effects), _items(new, shows_side_effects)
    names: set[str] = set()
    kinds: set[int] = set()
    for key in one.keys() | other.keys():
        if one.get(key) != other.get(key):
            what, place, name = key
            if what == "whole":
                return None
            names.update(_NAME.findall(place), _NAME.findall(name))
            kinds.update(k for facts in (old, new) for k in _kinds_at(facts, place))
    return None if names & UNSAID else Change(frozenset(names), frozenset(kinds))


_Key = tuple[str, str, str]  # what it is, the qualified name around or of it, a name in it


def _items(facts: FileFacts, shows_side_effects: bool) -> dict[_Key, list[Hashable]]:
    """All of an interface by what it is about, in an order that an insertion elsewhere does not change."""
    places = [definition.qualname for definition in facts.definitions]
    places.append("")  # of the file, MODULE_SCOPE
    items: dict[_Key, list[Hashable]] = {}

    def add(what: str, place: int, name: str, value: Hashable) -> None:
        items.setdefault((what, places[place], name), []).append(value)

    for definition in facts.definitions:
        shown = definition._replace(start_byte=0, end_byte=0, start_row=0, end_row=0, doc="", text_byte=0, parent=0)
        items.setdefault(("definition", definition.qualname, definition.name), []).append(shown)
        if definition.parent != MODULE_SCOPE:
            add("child", definition.parent, "", definition.name)
    for local, returned in facts.returns:
        add("returns", local, "", returned)
    for local, types in facts.parameters:
        add("parameters", local, "", types)
    for base in facts.bases:
        add("base", base.definition, "", (base.name, base.implements))
    for binding in facts.bindings:
        add("binding", binding.scope, binding.target, (binding.type, binding.value))
    for export in facts.exports:
        add("export", MODULE_SCOPE, f"{export.exported} {export.local}", ())
    for entry in facts.imports:
        alike = entry._replace(row=0, scope=0)
        if entry.kind in _STARS:
            add("whole", entry.scope, "", alike)
        elif entry.kind == ImportKind.SIDE_EFFECT:
            if shows_side_effects:
                add("whole", entry.scope, entry.module, entry.level)
        else:
            add("import", entry.scope, entry.alias or entry.module.partition(".")[0], alike)
    for name in facts.wildcard_exports or ():
        add("export", MODULE_SCOPE, name, ())
    for local, owner in facts.owners:
        add("whole", local, "", owner)
    for block in facts.implementations:
        add("whole", block.scope, "", (block.type, block.trait, places[block.first : block.end]))
    for local in facts.tests:
        add("whole", local, "", "test")
    return items


def _kinds_at(facts: FileFacts, place: str) -> Iterator[int]:
    return (definition.kind for definition in facts.definitions if definition.qualname == place)


def resting_on(facts: FileFacts, names: Set[str]) -> set[str]:
    """The names of what in a file's interface is made of something that has one of these names."""
    found: set[str] = set()

    def look(place: int, own: str, *texts: str) -> None:
        if any(
            not names.isdisjoint(_NAME.findall(text)) or ("-" in text and not names.isdisjoint(_DASHED.findall(text)))
            for text in texts
        ):
            found.update(_NAME.findall(own))
            if place != MODULE_SCOPE:
                found.update(_NAME.findall(facts.definitions[place].qualname))

    for local, returned in facts.returns:
        look(local, "", returned)
    for local, types in facts.parameters:
        look(local, "", *types)
    for base in facts.bases:
        look(base.definition, "", base.name)
    for binding in facts.bindings:
        look(binding.scope, binding.target, binding.type, binding.value)
    for export in facts.exports:
        look(MODULE_SCOPE, export.exported, export.local)
    for entry in facts.imports:
        look(entry.scope, entry.alias or entry.name, entry.module, entry.name)
    for local, owner in facts.owners:
        look(local, "", owner)
    for block in facts.implementations:
        look(block.scope, f"{block.type} {block.trait}", block.type, block.trait)
    return found
