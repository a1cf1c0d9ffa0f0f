"""Which names mean something else to other files after an edit.

In: two states of one file's facts. Out: the last names of all that differs in what others see, with the names around
it. Whatever resolves to one of them, in whatever file, has the name written there, or the name of something that in
turn is made of it, which `resting_on` tells: a function that returns it, a class with it as a base, a value, an alias.
Variables of functions are followed in their own file, where alone they can be named; most are called as others are. So
a file that has none of these names in its facts has the edges that it had.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from causalist.model.facts import MODULE_SCOPE, Binding, FileFacts, ImportKind
from causalist.model.interface import interface_of, variable_of
from causalist.model.language import LanguageSettings
from causalist.model.symbols import CALLABLE_KINDS

_NAME = re.compile(r"\w+")
_DASHED = re.compile(r"\w+(?:-\w+)+")  # in names of modules
# What an import means without saying its name: what a file shows as a whole, what runs when a package is loaded.
UNSAID = frozenset({"default", "init"})
_STARS = (ImportKind.STAR, ImportKind.REEXPORT_ALL)


Variable = tuple[str, str]  # the qualified name of its function, its own


class Change(NamedTuple):
    """`names` as above; `said`: names of definitions by which only prose means them; `variables` of functions that
    differ, which only these can name; `kinds` are those of the definitions that came, went or changed."""

    names: frozenset[str]
    said: frozenset[str]
    variables: frozenset[Variable]
    kinds: frozenset[int]


def change_of(old: FileFacts, new: FileFacts, language: LanguageSettings | None) -> Change | None:
    """What differs between two states of a file; None where that cannot be told by names. `language`: None for text."""
    old, new = interface_of(old), interface_of(new)
    before, after = (
        (each.language, each.manifest, each.package, each.wildcard_exports is None, not each.exports)
        for each in (old, new)
    )
    if before != after:
        return None
    special = _special(language)
    one, other = _items(old, language), _items(new, language)
    names: set[str] = set()
    said: set[str] = set()
    variables: set[Variable] = set()
    kinds: set[int] = set()
    for key in one.keys() | other.keys():
        then, now = one.get(key, []), other.get(key, [])
        if then == now:
            continue
        what, place, name = key
        if what == "whole":
            return None
        if what == "variable":
            variables.add((place, name))
        elif what == "binding":
            names.update(_names_bound(place, name, special))
        elif what == "definition":
            names.update(_names_of(place, special), _names_of(f"{place.rpartition('.')[0]}.{name}", special))
            said.update(_NAME.findall(name))
        elif what != "child" or not _are_told_apart(then, now, special):
            names.update(_names_of(place, special), _NAME.findall(name))
        kinds.update(k for facts in (old, new) for k in _kinds_at(facts, place))
    if names & UNSAID:
        return None
    return Change(frozenset(names), frozenset(said - names), frozenset(variables), frozenset(kinds))


_Key = tuple[str, str, str]  # what it is, the qualified name around or of it, a name in it


def _items(facts: FileFacts, language: LanguageSettings | None) -> dict[_Key, list[Hashable]]:
    """All of an interface by what it is about, in an order that an insertion elsewhere does not change."""
    shows_side_effects = language is None or language.modules.shows_side_effects
    shows_signatures = language is None or _reads_signatures(language)
    places = [definition.qualname for definition in facts.definitions]
    places.append("")  # of the file, MODULE_SCOPE
    items: dict[_Key, list[Hashable]] = {}

    def add(what: str, place: int, name: str, value: Hashable) -> None:
        items.setdefault((what, places[place], name), []).append(value)

    for definition in facts.definitions:
        shown = definition._replace(start_byte=0, end_byte=0, start_row=0, end_row=0, doc="", text_byte=0, parent=0)
        if definition.kind in CALLABLE_KINDS and not shows_signatures:
            shown = shown._replace(signature="")
        items.setdefault(("definition", definition.qualname, definition.name), []).append(shown)
        if definition.parent != MODULE_SCOPE:
            add("child", definition.parent, "", definition.name)
    for local, returned in facts.returns:
        add("returns", local, "", returned)
    for local, types in facts.parameters:
        add("parameters", local, "", types)
    for base in facts.bases:
        add("base", base.definition, "", (base.name, base.implements))
    variable_of = _variables(facts)
    for binding in facts.bindings:
        word = variable_of(binding)
        add("variable" if word else "binding", binding.scope, word or binding.target, binding[1:4])
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


def _reads_signatures(language: LanguageSettings) -> bool:
    """Whether it depends on how functions are declared what they are to others: which of several is meant, what
    overrides or implements something, who sees it. Parameters and what is returned are told apart from that."""
    names, types = language.names, language.types
    return bool(
        names.has_overloads or names.alone or names.unshared or names.parts or types.structural or types.prefixed
    )


def _special(language: LanguageSettings | None) -> str:
    return language.names.special if language is not None else ""


def _names_of(place: str, special: str) -> Iterator[str]:
    """The names by which others may come to what stands in `place`: its own, or of what is called without its name
    those around it, which are all that is known where there is no mark for that (`NameSettings.special`)."""
    words = _NAME.findall(place)
    if not special:
        yield from words
    elif len(words) > 1 and words[-1].startswith(special):
        yield words[0]
        yield from (word for word in words[1:] if not word.startswith(special))
    else:
        yield from words[-1:]


def _names_bound(place: str, target: str, special: str) -> Iterator[str]:
    """The same for what is bound in `place` to `target`, which has no name of its own if it is what is returned."""
    own = _NAME.findall(target)
    if target.startswith(".__"):
        yield from _NAME.findall(place)
    elif not own or not (special or target.startswith(".")):
        yield from _names_of(place, special)
    yield from own


def _are_told_apart(then: Sequence[Hashable], now: Sequence[Hashable], special: str) -> bool:
    """Whether definitions that came to others, or went from there, say so by names of their own."""
    if not special:
        return False
    several = {*then} ^ {*now}
    is_order_kept = [name for name in then if name not in several] == [name for name in now if name not in several]
    return bool(several) and is_order_kept and not any(str(name).startswith(special) for name in several)


def _variables(facts: FileFacts) -> Callable[[Binding], str]:
    """What says of which variable of a function a binding is."""
    kinds = [definition.kind for definition in facts.definitions]
    members = {local for local, _ in facts.owners}
    return lambda binding: variable_of(binding, kinds, members)


def _kinds_at(facts: FileFacts, place: str) -> Iterator[int]:
    return (definition.kind for definition in facts.definitions if definition.qualname == place)


def resting_on(
    facts: FileFacts, language: LanguageSettings | None, names: Set[str], variables: Set[Variable] = frozenset()
) -> set[str]:
    """The names of what in a file's interface is made of something that has one of these names, or of one of these
    variables of its functions. Variables on the way are not told: nobody else can name them."""
    special = _special(language)
    variable_of = _variables(facts)
    parents = [min(definition.parent, position - 1) for position, definition in enumerate(facts.definitions)]
    reached = [{name for place, name in variables if place == each.qualname} for each in facts.definitions]

    def visible(place: int) -> Iterator[Set[str]]:
        yield names
        while place != MODULE_SCOPE:
            yield reached[place]
            place = parents[place]

    while True:
        found: set[str] = set()
        is_done = True
        for place, own, texts in _made_of(facts):
            if not any(_says(text, visible(place)) for text in texts):
                continue
            around = facts.definitions[place].qualname if place != MODULE_SCOPE else ""
            if isinstance(own, str):
                found.update(_names_of(around, special), _NAME.findall(own))
            elif not (word := variable_of(own)):
                found.update(_names_bound(around, own.target, special))
            elif word not in reached[place]:
                reached[place].add(word)
                is_done = False
        if is_done:
            return found


def _says(text: str, several: Iterable[Set[str]]) -> bool:
    """Whether one of these sets has a word of the text."""
    if not text:
        return False
    words = _NAME.findall(text) + (_DASHED.findall(text) if "-" in text else [])
    return any(not names.isdisjoint(words) for names in several)


def _made_of(facts: FileFacts) -> Iterator[tuple[int, str | Binding, tuple[str, ...]]]:
    """(where it stands, its name or itself, the texts of what it is made of) of all in an interface."""
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
