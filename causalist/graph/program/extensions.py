"""Functions that are written outside of the type that they belong to, and have to be in sight of who calls them: those
that a file imports by name or with a whole package, and those of the file itself and of its package.

A member of the receiver's own type comes first, so that nothing is asked here while one is found. Of a receiver that
nothing is known of, only a function that was imported by its name is meant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from causalist.graph.program.overloads import best, misfit
from causalist.graph.program.program import Program
from causalist.graph.rules import MOST_CANDIDATES
from causalist.graph.values import Value
from causalist.model.facts import MODULE_SCOPE
from causalist.model.language import ModuleSystem


@dataclass(slots=True)
class Extensions:
    """The functions of a program that belong to types in which they do not stand, by name."""

    program: Program
    _named: dict[str, list[int]] | None = field(default=None)

    def has(self, chain: str) -> bool:
        """Whether there is one that the last name of a chain may mean."""
        if self._named is None:
            self._named = {}
            for names in self.program.files:
                settings = names.settings
                if settings is None or settings.modules.system is not ModuleSystem.DECLARED:
                    continue
                for local, _ in names.facts.owners:
                    definition = names.facts.definitions[local]
                    if definition.parent == MODULE_SCOPE:
                        self._named.setdefault(definition.name, []).append(names.first + local)
        return bool(self._named) and "." in chain and chain.rpartition(".")[2] in self._named

    def of(self, file: int, chain: str, arguments: str, value: Value | None) -> Sequence[tuple[int, str]]:
        """(definition, rule) of those that a call of `chain` in `file` may mean; `value` is what is known of it."""
        assert self._named is not None
        program, name = self.program, chain.rpartition(".")[2]
        names = program.files[file]
        assert names.settings is not None
        is_unknown = value is not None and value.kind == "unknown-member"
        found = [
            each
            for each in self._named[name]
            if (is_unknown or each not in program.owner_of)
            and misfit(program.parameters.get(each), arguments, {}) is not None
        ]
        entry = names.imports.get(MODULE_SCOPE, {}).get(name)
        package = program.packages.package_of[file]
        wanted = {f"{entry.module}.{entry.name}"} if entry is not None else set()
        stars = {star.module for star in names.stars}
        ways = [("import", [each for each in found if f"{self._package(each)}.{name}" in wanted])]
        if not is_unknown:
            ways.insert(0, ("same-file", [each for each in found if program.file_of[each] == file]))
        if not is_unknown and name not in names.settings.builtin_methods:
            ways += [
                ("package-scope", [e for e in found if program.packages.package_of[program.file_of[e]] == package]),
                ("star-import", [each for each in found if self._package(each) in stars]),
            ]
        for rule, several in ways:
            if several:
                chosen = best(several, program.parameters, arguments, program.literals[names.settings.name])
                return [(each, rule) for each in chosen] if len(chosen) <= MOST_CANDIDATES else []
        return []

    def _package(self, definition: int) -> str:
        return self.program.files[self.program.file_of[definition]].facts.package
