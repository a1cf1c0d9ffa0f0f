"""What types derive from: captures of bases in, `Base` facts out."""

from causalist.model.facts import Base
from causalist.model.symbols import NodeKind
from causalist.parse.syntax.captures import Tag
from causalist.parse.syntax.chains import chain_of
from causalist.parse.syntax.scopes import Scopes

_LONGEST_NAME = 200


class BaseReader:
    """Reads the captures of bases. `bases` is complete after `finish`."""

    def __init__(self, scopes: Scopes) -> None:
        self.bases: list[Base] = []
        self._scopes = scopes
        self._deriving = ""  # the name of what the next base is of, where the base stands outside of it
        self._derived: list[tuple[str, str, int]] = []  # (name, base, row) of those
        self._mixed_in: list[Base] = []

    def on_base(self, start: int, end: int, tag: int) -> bool:
        """Whether the base is a name; else what it holds are uses like others."""
        chain, row, frames = chain_of(self._scopes.text(start, end)), self._scopes.row(start), self._scopes.frames
        if self._deriving:
            self._derived.append((self._deriving, self._scopes.clean_name(chain) if chain else "", row))
            self._deriving = ""
        elif frames and frames[-1].index >= 0:
            if not chain and self._scopes.settings.types.prefixed:
                # A set of types, of which no name tells what it asks for.
                self.bases.append(Base(frames[-1].index, "?", False, row))
                return False
            if chain:
                into = self._mixed_in if tag == Tag.BASE_MIXIN else self.bases
                into.append(Base(frames[-1].index, chain, tag == Tag.IMPLEMENTS, row))
        return True

    def on_base_of(self, start: int, end: int, tag: int) -> None:
        self._deriving = self._scopes.clean_name(self._scopes.text(start, min(end, start + _LONGEST_NAME)))

    def finish(self) -> None:
        """Adds bases that were given to a class or function by a statement of its own; what is mixed into a type hides
        members of what it extends, and comes before."""
        known: dict[str, int] = {}
        for i, draft in enumerate(self._scopes.drafts):
            if draft.kind in (NodeKind.CLASS, NodeKind.FUNCTION):
                known.setdefault(draft.qualname, i)
        self.bases += [Base(known[n], base, False, row) for n, base, row in self._derived if base and n in known]
        self.bases[:0] = self._mixed_in
