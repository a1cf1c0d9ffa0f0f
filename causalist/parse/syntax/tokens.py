"""Calls among tokens that the grammar does not read further, such as the arguments of a macro."""

import re

from causalist.parse.syntax.chains import chain_of

_CALLEE = re.compile(rb"((?:\$?\w+(?:\.|::))*)(\w+)\s*(!?)\s*$")
_LONGEST = 200  # bytes before the bracket that are looked at
_NOT_A_CALL = re.compile(rb"(?:\bfn|\bstruct|\benum|\bfor|\bmod|\$)\s*$")


def callee_before(data: bytes, bracket: int) -> tuple[int, str]:
    """(start, chain) of what is called by the bracket at this position; "" where no name stands before it, or one that
    is declared there. A macro keeps its exclamation mark.

    >>> [callee_before(b, len(b)) for b in (b"x, self.a::b", b"f().g", b"fn f", b"a, vec!")]
    [(3, 'self.a.b'), (4, '?.g'), (3, ''), (3, 'vec!')]
    """
    before = data[max(0, bracket - _LONGEST) : bracket]
    matched = _CALLEE.search(before)
    if matched is None or (data[bracket : bracket + 1] not in (b"(", b"") and not matched[3]):
        return bracket, ""
    start = bracket - len(before) + matched.start()
    around = before[: matched.start()].rstrip()
    chain = chain_of((matched[1] + matched[2]).decode("utf-8", "replace"))
    if around[-1:] == b"." and not around.endswith(b"..") and chain:
        return start, f"?.{chain}"
    return start, "" if _NOT_A_CALL.search(around) or not chain else chain + matched[3].decode()
