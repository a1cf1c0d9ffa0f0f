"""Blocks that implement a trait for a type, wherever both stand: which definitions each block holds."""

from bisect import bisect_left
from typing import NamedTuple

from causalist.model.facts import Implementation
from causalist.parse.syntax.chains import type_name
from causalist.parse.syntax.scopes import Frame, Scopes


class _Block(NamedTuple):
    frame: Frame
    trait: str
    first: int
    row: int


class ImplementationReader:
    """Reads the captures of traits that a holder implements for its owner."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._blocks: list[_Block] = []

    def on_trait(self, start: int, end: int, tag: int) -> None:
        frames = self._scopes.frames
        trait = type_name(self._scopes.text(start, end))
        if frames and frames[-1].index < 0 and trait:
            self._blocks.append(_Block(frames[-1], trait, len(self._scopes.drafts), self._scopes.row(start)))

    def finished(self) -> list[Implementation]:
        """All of them. A block that belongs to the trait itself implements it for every type, hence for none."""
        starts = [draft.start for draft in self._scopes.drafts]
        return [
            Implementation(
                block.frame.scope,
                block.frame.owner,
                block.trait,
                block.first,
                bisect_left(starts, block.frame.end),
                block.row,
            )
            for block in self._blocks
            if block.frame.owner and block.frame.owner != block.trait
        ]
