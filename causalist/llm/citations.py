"""Answer of a model, piece by piece -> the text with wrong citations marked, and all citations.

A citation is `[path:start-end]` or `[path:line]`, several in one pair of brackets separated by commas or semicolons,
each perhaps in backticks. It is correct if it lies inside one item of the pack; its truth is not checked. Text is held
back only between a bracket that may begin a citation and its end, so that an answer streams.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from causalist._internal.escape import neutralise
from causalist.model.answer import ShownRange

WRONG = "not in the context: "
# Longer than any list of citations that a reader would want; a bracket that is still open by then is text.
_MAX_BRACKET_CHARACTERS = 1_000

# A path that no item has: no brackets but balanced ones, as folders of routes have them (`[id]`, `[[...rest]]`).
_OTHER = r"(?:[^\[\]\n,;`]|\[\[?[^\[\]\n,;`]{0,80}\]?\]){1,300}?"
# `names[i:10]` and `[12:30]` are no citations.
_LETTER = re.compile(r"[^\W\d]")
_AFTER_NAME = re.compile(r"[\w\])]\Z")


@dataclass(frozen=True, slots=True)
class Citation:
    """Cited lines of a file, 1-based.

    `place` is the smallest item around them, None if the pack has none. `shown` is True if the pack has the source of
    at least one of the lines.
    """

    path: str
    start_line: int
    end_line: int
    place: ShownRange | None
    shown: bool

    @property
    def text(self) -> str:
        """Format the citation as `path:start-end`."""
        lines = f"{self.start_line}-{self.end_line}" if self.end_line != self.start_line else f"{self.start_line}"
        return f"{self.path}:{lines}"


class CitationChecker:
    """A checker that reads an answer as it arrives."""

    def __init__(self, places: Sequence[ShownRange]) -> None:
        self._places: dict[str, list[ShownRange]] = {}
        for place in places:
            self._places.setdefault(place.path, []).append(place)
        known = "|".join(re.escape(path) for path in sorted(self._places, key=lambda p: (-len(p), p)))
        path = f"(?:{known}|{_OTHER})" if known else _OTHER
        # Atomic: a known path is also any path, and a list of many that ends wrongly would be tried in every way.
        one = rf"(?>`?{path}:L?\d{{1,18}}(?:\s?[-–]\s?L?\d{{1,18}})?`?)"
        self._brackets = re.compile(rf"\[({one}(?:(?>\s?[,;]\s?){one})*+)\]")
        self._one = re.compile(rf"`?({path}):L?(\d{{1,18}})(?:\s?[-–]\s?L?(\d{{1,18}}))?`?(?:\s?[,;]\s?|\Z)")
        self._held = ""
        self._last = ""  # the character before what is held
        self._found: dict[Citation, None] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Distinct citations so far, in the order of the text."""
        return tuple(self._found)

    def feed(self, text: str) -> str:
        """Return the text that can be printed now, safe for a terminal."""
        self._held += text
        return self._released(at_end=False)

    def close(self) -> str:
        """Return the text that was held back."""
        return self._released(at_end=True)

    def _released(self, *, at_end: bool) -> str:
        out: list[str] = []
        held, at = self._held, 0
        while at < len(held):
            bracket = held.find("[", at)
            if bracket != at:
                stop = len(held) if bracket < 0 else bracket
                # Half of a CR LF, which is one newline.
                if stop == len(held) and held.endswith("\r") and not at_end:
                    stop -= 1
                out.append(held[at:stop])
                at = stop
                if bracket < 0:
                    break
                continue
            found = self._brackets.match(held, at)
            if found:
                out.append(self._checked(found, held[at - 1 : at] or self._last))
                at = found.end()
            elif not at_end and _is_open(held, at):
                break
            else:
                out.append("[")
                at += 1
        self._last = held[at - 1 : at] or self._last
        self._held = held[at:]
        return neutralise("".join(out))

    def _checked(self, found: re.Match[str], before: str) -> str:
        parts = []
        for one in self._one.finditer(found[1]):
            path = one[1].strip()
            if path not in self._places and (
                not _LETTER.search(path)
                or ("/" not in path and "." not in path and _AFTER_NAME.search(before) is not None)
            ):
                return found[0]
            parts.append(self._citation(path, int(one[2]), int(one[3] or one[2])))
        self._found.update(dict.fromkeys(parts))
        return f"[{', '.join(each.text if each.place else f'{WRONG}{each.text}' for each in parts)}]"

    def _citation(self, path: str, start: int, end: int) -> Citation:
        of_file = self._places.get(path, [])
        around = [place for place in of_file if place.start_line <= start <= end <= place.end_line]
        place = min(around, key=lambda p: (p.end_line - p.start_line, p.start_line), default=None)
        shown = any(first <= end and start <= last for p in of_file for first, last in p.shown)
        return Citation(path, start, end, place, shown and place is not None)


def _is_open(text: str, at: int) -> bool:
    """Return True if more text may complete a citation in the bracket at `at`."""
    if len(text) - at > _MAX_BRACKET_CHARACTERS:
        return False
    depth = 0
    for character in text[at:]:
        if character == "\n":
            return False
        depth += (character == "[") - (character == "]")
        if depth == 0:
            return False
    return True
