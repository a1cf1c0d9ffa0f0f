"""Uses of names -> the definitions that they may mean.

What a chain of names means is asked of `values`. An unknown receiver gives a candidate set, and only for names that no
builtin type has; everything else that is unknown gives nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from causalist.graph.names import Program
from causalist.graph.overloads import MAKES, UNCOUNTED, misfit
from causalist.graph.rules import MOST_CANDIDATES
from causalist.graph.shapes import Value, split_type
from causalist.graph.values import Values
from causalist.model.facts import Base
from causalist.model.symbols import NodeKind


class Target(NamedTuple):
    """A definition that a use may mean; `candidates` says how many share the doubt."""

    definition: int
    rule: str
    candidates: int


@dataclass(slots=True)
class Resolver:
    """Resolves uses in all files of a program."""

    program: Program
    builtin_methods: Mapping[str, frozenset[str]]  # by family of languages
    values: Values = field(init=False)

    def __post_init__(self) -> None:
        self.values = Values(self.program)

    def prepare(self) -> list[tuple[int, Target, bool, int]]:
        """Resolves all bases, so that members are found along them.

        Returns (class, base, implements, row) for each resolved base.
        """
        self._attach_members()
        for owner, stands_for in self._made_of().items():
            self.program.set_bases(owner, stands_for)
        found, missed = self._resolve_bases(
            [(file, base) for file, f in enumerate(self.program.files) for base in f.facts.bases]
        )
        again = [(file, base) for file, base in missed if self._sees_members(file)]
        if again:  # a base may be a member of another base
            self.values.forget()
            more, again = self._resolve_bases(again)
            found += more
            missed = [each for each in missed if not self._sees_members(each[0])] + again
        for file, base in missed:
            self.values.derived_from_outside.add(self.program.files[file].first + base.definition)
        self.values.read_attributes()
        return found

    def _resolve_bases(
        self, bases: list[tuple[int, Base]]
    ) -> tuple[list[tuple[int, Target, bool, int]], list[tuple[int, Base]]]:
        """(what `prepare` returns, what is not found) of bases with their files; the program knows those found."""
        found: list[tuple[int, Target, bool, int]] = []
        missed: list[tuple[int, Base]] = []
        for file, base in bases:
            names = self.program.files[file]
            owner = names.first + base.definition
            value = self.values.of_chain(file, names.facts.definitions[base.definition].parent, base.name)
            if value is not None and value.kind == "definition" and value.number != owner:
                found.append((owner, Target(value.number, value.rule, 1), base.implements, base.row))
            else:
                missed.append((file, base))
        numbers: dict[int, list[int]] = {}
        for owner, target, _, _ in found:
            numbers.setdefault(owner, []).append(target.definition)
        for owner, derived in numbers.items():
            self.program.set_bases(owner, [*self.program.bases(owner), *derived])
        return found, missed

    def _sees_members(self, file: int) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and settings.names.members_are_visible

    def _made_of(self) -> dict[int, list[int]]:
        """The types that named types stand for: members are looked for there too, although nothing is extended."""
        found: dict[int, list[int]] = {}
        for number in sorted(self.program.named_types):
            file = self.program.file_of[number]
            names = self.program.files[file]
            position = number - names.first
            written, scope = names.returns[position], names.facts.definitions[position].parent
            value = self.values.of_chain(file, scope, written) if not split_type(written)[0] else None
            if value is not None and value.kind == "definition" and value.number != number:
                found[number] = [value.number]
        return found

    def _attach_members(self) -> None:
        """Finds the types of members that do not stand inside of them, before any chain asks for a member."""
        program = self.program
        for file, names in enumerate(program.files):
            for local, owner in names.facts.owners:
                member = names.first + local
                value = self.values.of_chain(file, names.facts.definitions[local].parent, owner)
                if value is not None and value.kind == "definition" and program.is_like_a_type(value.number):
                    program.attach(member, value.number)
        self.values.forget()

    def resolve(
        self, file: int, scope: int, chain: str, *, guess: bool, arguments: str = UNCOUNTED
    ) -> tuple[list[Target], str]:
        """(targets, external package or "") of a use of `chain` in `scope` of `file`; `guess` for what is called."""
        passed_on = "::" in chain
        chain = chain.replace("::", ".")
        called = (guess and arguments != MAKES) or passed_on
        value = self.values.of_chain(file, scope, chain, arguments if called else None)
        if passed_on and value is None and chain.endswith(".new"):
            chain = chain.removesuffix(".new")
            value = self.values.of_chain(file, scope, chain)
        if not guess and "." in chain and (value is None or value.kind == "unknown-member"):
            # At least what holds the member is used: the last name but one, or else the first.
            holder, first = chain.rpartition(".")[0], chain.partition(".")[0]
            value = self.values.of_chain(file, scope, holder)
            if value is None or value.kind == "unknown-member":
                value = self.values.of_chain(file, scope, first)
        if value is None:
            return [], ""
        if value.kind == "module" and guess:  # a module that is called is what it exports as a whole
            value = self.values.default_of(value) or value
        if value.kind == "definition":
            program = self.program
            if not called:
                variants = program.packages.variants(value.number, program.file_of[value.number], file, program.files)
                return [Target(number, value.rule, len(variants)) for number in variants], ""
            functions = program.overloads(self._called(value.number), arguments)
            if len(functions) > MOST_CANDIDATES:
                return [], ""
            if len(functions) == 1:
                (number,) = functions
                functions = program.packages.variants(number, program.file_of[number], file, program.files)
            return [Target(each, value.rule, len(functions)) for each in functions], ""
        if value.kind == "external":
            return [], value.name
        if value.kind == "instance" and guess and self._names_own_class(file, value, chain):
            return [Target(value.number, "self", 1)], ""
        if value.kind != "unknown-member" or not guess:
            return [], ""
        name = chain.rpartition(".")[2]
        family = self._family(file)
        if name in self.builtin_methods.get(family, ()) or name.startswith("__"):
            return [], ""
        candidates = [
            d
            for d in self.program.methods.get(name, ())
            if self._family(self.program.file_of[d]) == family
            and misfit(self.program.parameters.get(d), arguments, {}) is not None
        ]
        if not 0 < len(candidates) <= MOST_CANDIDATES:
            return [], ""
        return [Target(d, "name-only", len(candidates)) for d in candidates], ""

    def is_unknown(self, file: int, scope: int, chain: str) -> bool:
        """Whether a chain for which `resolve` found nothing may mean anything of its last name."""
        value = self.values.of_chain(file, scope, chain)
        return value is not None and value.kind in ("unknown-member", "local")

    def _called(self, definition: int) -> int:
        """What runs when `definition` is called: of a constant that is another name of a function, the function."""
        settings = self.program.files[self.program.file_of[definition]].settings
        if self.program.definition_of[definition].kind != NodeKind.CONSTANT or settings is None:
            return definition
        if settings.types.prefixed:  # a variable, which is there to be given another function
            return definition
        held = self.values.held_by(definition)
        return held.number if held is not None and held.kind == "definition" else definition

    def _names_own_class(self, file: int, value: Value, chain: str) -> bool:
        settings = self.program.files[file].settings
        if settings is None or settings.types.prefixed:  # there the receiver is a value
            return False
        return chain in settings.names.self_names and self.program.is_type(value.number)

    def _family(self, file: int) -> str:
        settings = self.program.files[file].settings
        return settings.family if settings else ""
