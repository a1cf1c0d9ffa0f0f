"""What is said beside a result: of a file, of an index, of an answer."""

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """Something that a file made impossible or doubtful; `slug` leads to an entry in docs/messages.md."""

    slug: str
    detail: str
    row: int
