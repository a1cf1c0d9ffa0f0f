"""Facts without constants: positions of definitions in all other facts follow."""

from causalist.model.facts import without_constants
from causalist.parse import parse_file

SOURCE = b"""\
A = 1


class C:
    B = 2

    def m(self, x: int) -> str:
        return str(x)


D = C()


def g() -> C:
    return C()
"""


def test_what_stays_keeps_its_place_among_the_others() -> None:
    before = parse_file("a.py", SOURCE)
    after = without_constants(before)
    assert [(each.qualname, each.parent) for each in before.definitions] == [
        ("A", -1), ("C", -1), ("C.B", 1), ("C.m", 1), ("D", -1), ("g", -1)
    ]  # fmt: skip
    assert [(each.qualname, each.parent) for each in after.definitions] == [
        ("C", -1), ("C.B", 0), ("C.m", 0), ("g", -1)
    ]  # fmt: skip
    assert (before.returns, after.returns) == (((3, "str"), (5, "C")), ((2, "str"), (3, "C")))
    assert [call.scope for call in before.calls] == [3, -1, 5]
    assert [call.scope for call in after.calls] == [2, -1, 3]
