"""To which layer a file and its types belong, by what the file says itself and the tables of `layer_rules.py`.

In: the path and facts of a file. Out: a `Layer`, or None where nothing says one; `layering.py` goes on from there. The
first that says something decides:

1. the role of the file: tests, documentation;
2. what kind of file it is, by name and suffix;
3. the role again: configuration, migrations; and a name that is configuration wherever it stands (in an example, say);
4. importing a framework for user interfaces;
5. the last word of the file's name, and then the names of its folders, the innermost first: words that say it outright;
6. what else it imports (or calls, where the language needs no import): the layer of most packages;
7. what its types are called and derive from: the layer that half of them or more say;
8. words of its path that say it in passing.

A type belongs to what its own name or base says, unless 1 to 4 decided for the file. Ties of 6 and 7 go to the higher
layer: what joins two serves the upper one.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from causalist.graph.layer_rules import (
    BASE_WORDS,
    DOCS_FILES,
    FILES_ONLY,
    FOLDERS_ONLY,
    FUNCTIONS,
    INFRA_FILES,
    PACKAGES,
    SUFFIXES,
    TYPE_WORDS,
    WEAK_WORDS,
    WORDS,
)
from causalist.model.facts import FileFacts, ImportKind
from causalist.model.roles import role_of
from causalist.model.symbols import TYPE_KINDS, Layer, Role

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_BY_ROLE = {Role.TEST: Layer.TEST, Role.DOCS: Layer.DOCS}
_BY_ROLE_LATER = {Role.CONFIG: Layer.CONFIG, Role.MIGRATION: Layer.DATA}
_BY_SLASHES = frozenset({"ecmascript", "go"})  # where the parts of a module's name are joined by slashes alone
_NAMED = frozenset({ImportKind.NAME, ImportKind.REEXPORT})
_TYPES = frozenset(int(kind) for kind in TYPE_KINDS)


def _by_word(table: Mapping[Layer, Collection[str]]) -> dict[str, Layer]:
    return {word: layer for layer in sorted(table) for word in table[layer]}


_WORDS = {family: _by_word(table) for family, table in WORDS.items()}
_WEAK_WORDS = {family: _by_word(table) for family, table in WEAK_WORDS.items()}
_PACKAGES = {family: _by_word(table) for family, table in PACKAGES.items()}
_TYPE_WORDS = _by_word(TYPE_WORDS)
_BASE_WORDS = {family: _by_word(table) | _TYPE_WORDS for family, table in BASE_WORDS.items()}


class FileLayers(NamedTuple):
    """`layer` is None where nothing says one; `types` has those of its types (by their number) that say one
    themselves."""

    layer: Layer | None
    types: Mapping[int, Layer]


def layers_of(path: str, facts: FileFacts, family: str, own_package: str = "") -> FileLayers:
    """The layers of one file. `family` is that of its language, "" for text without a grammar; `own_package` what
    the package calls itself to which the file belongs: imports of that say nothing."""
    role = role_of(path)
    layer = _by_kind(path, role, bool(facts.language))
    if layer is not None:
        return FileLayers(layer, {})
    imported = _by_packages(facts, family, own_package)
    if imported[Layer.UI]:
        return FileLayers(Layer.UI, {})
    types = _types(facts, family)
    layer = _by_words(path, _WORDS, family)
    if layer is None:
        layer = _most(imported)
    if layer is None:
        layer = of_types(types.values(), facts)
    if layer is None:
        layer = _by_words(path, _WEAK_WORDS, family)
    return FileLayers(layer, types)


def of_types(layers: Iterable[Layer], facts: FileFacts) -> Layer | None:
    """The layer of a file half of whose types, or more, have the given layers: the most frequent of these."""
    counts = Counter(layers)
    n_types = sum(definition.kind in _TYPES for definition in facts.definitions)
    return _most(counts) if 2 * counts.total() >= n_types else None


def _by_kind(path: str, role: Role, has_grammar: bool) -> Layer | None:
    if role in _BY_ROLE:
        return _BY_ROLE[role]
    lower = path.lower()
    if INFRA_FILES.match(lower):
        return Layer.INFRA
    if not has_grammar and DOCS_FILES.match(lower):
        return Layer.DOCS
    for layer, suffixes in SUFFIXES.items():
        if lower.endswith(suffixes):
            return layer
    if role in _BY_ROLE_LATER:
        return _BY_ROLE_LATER[role]
    name = path.rpartition("/")[2]
    return Layer.CONFIG if name.startswith(".") or role_of(name) is Role.CONFIG else None


def _by_words(path: str, tables: Mapping[str, Mapping[str, Layer]], family: str) -> Layer | None:
    """By the name of the file, then by its folders, the innermost first."""
    own, everywhere = tables.get(family, {}), tables[""]
    *folders, name = path.split("/")
    last = [word.lower() for word in _WORD.findall(name.rpartition(".")[0].removesuffix(".d"))[-1:]]
    inside_out = (folder.lower() for folder in reversed(folders))
    said = [word for word in last if word not in FOLDERS_ONLY]
    said += [word for word in inside_out if word not in FILES_ONLY]
    for word in said:
        layer = own.get(word, everywhere.get(word))
        if layer is not None:
            return layer
    return None


def _by_packages(facts: FileFacts, family: str, own_package: str) -> Counter[Layer]:
    """How many different packages, or functions that need no import, stand for each layer."""
    counts: Counter[Layer] = Counter()
    if family in PACKAGES:
        found = {
            _package(family, each.module, each.name if each.kind in _NAMED else "")
            for each in facts.imports
            if not each.level and not (own_package and f"{each.module}/".startswith(f"{own_package}/"))
        }
        counts.update(each[1] for each in found if each is not None and each[1] is not Layer.LOGIC)
    if family in FUNCTIONS:
        called = {call.callee.lstrip(".") for call in facts.calls}
        for layer, functions in FUNCTIONS[family].items():
            counts[layer] += len(called & functions)
    return counts


@lru_cache(maxsize=4096)
def _package(family: str, module: str, name: str) -> tuple[str, Layer] | None:
    """The longest entry of the table that a module begins with, and its layer."""
    separator = "/" if family in _BY_SLASHES else "."
    parts = [part for part in (*module.split(separator), name) if part]
    table = _PACKAGES[family]
    for n in range(len(parts), 0, -1):
        key = separator.join(parts[:n])
        if key in table:
            return key, table[key]
    return None


def _types(facts: FileFacts, family: str) -> dict[int, Layer]:
    """Layers of types, by number: by their own names, or else by the first of their bases that says something."""
    found: dict[int, Layer] = {}
    bases = _BASE_WORDS[""] | _BASE_WORDS.get(family, {})
    for number, definition in enumerate(facts.definitions):
        if definition.kind in _TYPES and (layer := _by_last_word(definition.name, _TYPE_WORDS)) is not None:
            found[number] = layer
    for base in facts.bases:
        layer = _by_last_word(base.name.rpartition(".")[2], bases)
        if layer is not None and facts.definitions[base.definition].kind in _TYPES:
            found.setdefault(base.definition, layer)
    return found


def _by_last_word(name: str, table: Mapping[str, Layer]) -> Layer | None:
    if name in table:
        return table[name]
    words = _WORD.findall(name)
    return table.get(words[-1]) if words else None


def _most(counts: Mapping[Layer, int]) -> Layer | None:
    """The layer that is counted most; of several, the highest."""
    return max((n, layer) for layer, n in counts.items())[1] if any(counts.values()) else None
