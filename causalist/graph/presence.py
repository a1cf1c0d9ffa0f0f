"""What other files may see of a file because it is there at all, by names: what came, what went.

In: the path and the facts of a file that came or went. Out: the names by which others are told that see it, or None
where they cannot be told by names. A file is reached by its module's name, in an import or in a chain behind a
package; what is made of it is told by `model.exposed.resting_on` from there. Its methods may be meant on receivers of
which nothing is known, what it defines may be meant by prose, and tests are told by its path (`relinking`).
"""

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple

from causalist.graph.program import extended
from causalist.model.facts import MODULE_SCOPE, FileFacts, ImportKind
from causalist.model.language import LanguageSettings, ModuleSystem
from causalist.model.roles import role_of
from causalist.model.symbols import NodeKind, Role

_NAME = re.compile(r"\w+")
_STEM = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*")
# What a package means that its manifest says nothing of.
_ENTRIES = frozenset({"index", "main"})
_WHOLE = (ImportKind.STAR, ImportKind.REEXPORT_ALL)
_REEXPORTS = (ImportKind.REEXPORT_ALL, ImportKind.REEXPORT, ImportKind.REEXPORT_NAMESPACE)
_PASSING = (ImportKind.STAR, *_REEXPORTS)


class Presence(NamedTuple):
    """`stem` is the word by which it is imported; `names` are others that its facts give to what stands elsewhere;
    `methods` those of its types, `guessed` of these such as a call may mean by its name alone; `mentioned` what prose
    may mean; `passed_on` what an import of everything brings, None where that is not known."""

    path: str
    language: str
    stem: str
    names: frozenset[str]
    methods: frozenset[str]
    guessed: frozenset[str]
    mentioned: frozenset[str]
    passed_on: frozenset[str] | None


def presence_of(path: str, facts: FileFacts, settings: Mapping[str, LanguageSettings]) -> Presence | None:
    """None for files that others see without a name: manifests, files that stand for their folder, languages in which
    the files of a package share a scope."""
    stem = posixpath.basename(path).partition(".")[0]
    if facts.manifest or not path.isascii() or not _STEM.fullmatch(stem):
        return None
    if any(path.lower().endswith(each.modules.projects) for each in settings.values()):
        return None
    language = settings.get(facts.language)
    if language is None:
        nothing: frozenset[str] = frozenset()
        return None if facts.definitions else Presence(path, "", stem, nothing, nothing, nothing, nothing, nothing)
    modules = language.modules
    if modules.system not in (ModuleSystem.DOTTED, ModuleSystem.PATH) or modules.inclusion or modules.reopened:
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
        shown = {d.name for d in facts.definitions if d.parent == MODULE_SCOPE}
        shown.update(b.target for b in facts.bindings if b.scope == MODULE_SCOPE)
        shown.update(name for export in facts.exports for name in _NAME.findall(f"{export.exported} {export.local}"))
        shown.update(entry.alias or entry.module.partition(".")[0] for entry in facts.imports)
        passed_on = frozenset(shown - {"", "default"})
    # `Door.handle = make()` gives a member to what may stand elsewhere; `.handle` is one of the type around it.
    given = {
        name
        for binding in facts.bindings
        if "." in binding.target and not binding.target.startswith(".")
        for name in _NAME.findall(binding.target)
    }
    # Nobody guesses at a method that builtin types have: callers of the family, and of languages that ask all methods.
    asking = [e for e in settings.values() if e.family == language.family or extended.takes(e)]
    builtin = frozenset.intersection(*(frozenset(each.builtin_methods) for each in asking))
    methods = frozenset(d.name for d in facts.definitions if d.kind == NodeKind.METHOD)
    guessed = frozenset(name for name in methods - builtin if not name.startswith("__"))
    mentioned = frozenset(d.name for d in facts.definitions) if role_of(path) == Role.CODE else frozenset()
    return Presence(path, facts.language, stem, frozenset(given), methods, guessed, mentioned, passed_on)


def may_mention(path: str, has_grammar: bool) -> bool:
    """Whether a file may speak of others in prose."""
    return not has_grammar or role_of(path) == Role.TEST


def passes_on(facts: FileFacts, stem: str) -> tuple[bool, bool]:
    """(whether a file imports everything of a module that may have this name, whether it passes some of it on that is
    looked for in several places)."""
    named = [e for e in facts.imports if e.kind in _PASSING and stem in _STEM.findall(f"{e.module} {e.name}")]
    whole = any(entry.kind in _WHOLE for entry in named)
    return whole, any(entry.kind in _REEXPORTS and not entry.module.startswith(".") for entry in named)


def passed_modules(path: str, facts: FileFacts, language: LanguageSettings | None) -> frozenset[tuple[str, int]]:
    """The modules, with their levels, of which a file passes something on to those who import it: what is in their
    sight, too, although they have no name of it."""
    if language is None:
        return frozenset()
    stem = posixpath.splitext(posixpath.basename(path))[0]
    whole = language.modules.system is ModuleSystem.DOTTED and stem in language.modules.index_stems
    return frozenset((entry.module, entry.level) for entry in facts.imports if whole or entry.kind in _REEXPORTS)
