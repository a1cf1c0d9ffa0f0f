"""Nodes that belong to the definition that follows them: attributes. Some say that it is a test."""

import re

from causalist.parse.syntax.scopes import Scopes

_LONGEST_MARK = 200  # bytes of an attribute that are looked at


class Leads:
    """What stands before the next definition."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._start, self._end = -1, -1
        self._test_end = -1  # end of the last that makes a test
        mark = scopes.settings.tests.mark
        self._mark = re.compile(mark, re.DOTALL) if mark else None

    def on_lead(self, start: int, end: int) -> None:
        follows = self._end >= 0 and self._scopes.blank(self._end, start)
        self._start, self._end = self._start if follows else start, end
        if self._mark is not None and self._mark.fullmatch(self._scopes.text(start, min(end, start + _LONGEST_MARK))):
            self._test_end = end

    def before(self, start: int, span_start: int) -> tuple[int, bool]:
        """(where a definition at `start` begins with what belongs to it, whether that says that it is a test)."""
        if 0 <= self._start <= span_start and self._scopes.blank(self._end, start):
            return self._start, self._start < self._test_end
        return span_start, False
