"""Names that do not stand where the definition begins: behind the body, or that of the type derived from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from causalist.model.facts import Base
from causalist.parse.syntax.captures import Event, Tag
from causalist.parse.syntax.chains import type_name
from causalist.parse.syntax.scopes import Frame, Scopes

_LONGEST = 200  # bytes of a type


def names_behind(events: Sequence[Event]) -> dict[tuple[int, int], tuple[int, int]]:
    """The range of each definition whose name stands behind its body -> the range of the name; the first one counts."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    open_: list[tuple[int, int]] = []
    for start, minus_end, tag in events:
        while open_ and open_[-1][1] <= start:
            open_.pop()
        if tag == Tag.NAME_BEHIND and open_:
            found.setdefault(open_[-1], (start, -minus_end))
        elif Tag.NAMESPACE <= tag <= Tag.CONSTANT:
            open_.append((start, -minus_end))
    return found


def name_after(scopes: Scopes, frame: Frame, start: int, base: str) -> Base:
    """Names the body of a type without a name by the type that it derives from, which is returned, and a number."""
    draft = scopes.drafts[frame.index]
    name = base.rpartition(".")[2]
    scopes.set_name(frame, f"{name}${scopes.count(f'{draft.prefix}.{name}')}")
    frame.body = draft.body = frame.start
    draft.signature = f"new {base}()"
    return Base(frame.index, base, False, scopes.row(start))


@dataclass(slots=True)
class Elsewhere:
    """What stands elsewhere than in front: names behind bodies, what a name for a type is made of."""

    scopes: Scopes
    behind: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # as `names_behind` gives them
    ahead: str = ""  # what the next name for a type is made of

    def name(self, frame: Frame) -> None:
        """Names a definition that was just opened, if its name stands behind its body."""
        found = self.behind.get((frame.start, frame.end))
        if found is not None:
            frame.name_start, self.scopes.drafts[frame.index].is_named_behind = found[0], True
            self.scopes.set_name(frame, self.scopes.clean_name(self.scopes.text(*found)))

    def put_beside(self) -> None:
        """Makes the name of what is open known where the type around it is: it stands beside the type."""
        frames = self.scopes.frames
        around = frames[-2].index if len(frames) > 1 else -1
        if around >= 0 and frames[-1].index >= 0:
            self.scopes.drafts[frames[-1].index].prefix = self.scopes.drafts[around].prefix

    def on_extended(self, start: int, end: int, tag: int) -> None:
        """The type that the first parameter of the open function says to be called on."""
        frame = self.scopes.frames[-1] if self.scopes.frames else None
        text = self.scopes.text(start, min(end, start + _LONGEST))
        owner = type_name(text, self.scopes.settings.types) or (text if text.isidentifier() else "")
        if frame is not None and frame.index >= 0 and frame.body < 0 and owner:
            draft = self.scopes.drafts[frame.index]
            draft.owner, draft.extends = owner, True

    def on_returns(self, start: int, end: int, tag: int) -> None:
        self.ahead = type_name(self.scopes.text(start, min(end, start + _LONGEST)), self.scopes.settings.types)

    def taken_returns(self) -> str:
        """What a name for a type that is open is made of, as far as it was said before."""
        taken, self.ahead = self.ahead, ""
        return taken
