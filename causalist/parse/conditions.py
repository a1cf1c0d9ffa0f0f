"""Source with conditional compilation -> the same bytes without what a grammar cannot read.

A grammar sees all branches of `#if` at once, one after the other. That is good where each branch is whole; where one
opens a block that is closed behind `#endif`, or two open the same, everything that follows is nested wrongly. Such
branches are exchanged for one of them, here, by blanking the others and the directives. Nothing moves.
"""

import re
from dataclasses import dataclass, field

from causalist.model.language import PreprocessorSettings

_TOKEN = re.compile(
    rb"""^[ \t]*\#(?:[^\n\\/]|\\\r?\n|\\.|/\*(?:[^*]|\*(?!/))*\*/|/(?!\*))*  # a directive with its continuation lines
    |//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/
    |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
    |[{}()]""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(rb"\s*#\s*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b(.*)", re.DOTALL)
_REMARK = re.compile(rb"/\*(?:[^*]|\*(?!/))*\*/")
_LONGEST_PART = 400  # bytes of a branch that is looked at for what it ends with
_STEP = {b"{": (1, 0), b"}": (-1, 0), b"(": (0, 1), b")": (0, -1)}

_Depth = tuple[int, int]  # open braces, open parentheses
_Span = tuple[int, int]


@dataclass(slots=True)
class _Group:
    """`#if` to `#endif`. Branches are (start, end, depth at the end)."""

    depth: _Depth
    condition: bytes
    directives: list[_Span]
    since: int  # where the open branch starts
    branches: list[tuple[int, int, _Depth]] = field(default_factory=list)


def readable(data: bytes, settings: PreprocessorSettings, never: "re.Pattern[bytes] | None", strict: bool) -> bytes:
    """`data` without branches that do not close what they open. With `strict` also without alternatives and directives
    inside of functions and types, and without alternatives for a part of a declaration. Conditions that `never` matches
    do not hold. Where `#if` and `#endif` do not fit, nothing is taken out for their sake."""
    if not settings.conditions or b"#" not in data:
        return data
    blanked: list[_Span] = []
    depth: _Depth = (0, 0)
    groups: list[_Group] = []
    for token in _TOKEN.finditer(data):
        text = token[0]
        if len(text) == 1 and text in _STEP:
            step = _STEP[text]
            depth = depth[0] + step[0], depth[1] + step[1]
            continue
        if text.lstrip()[:1] != b"#":
            continue
        matched = _DIRECTIVE.match(text)
        if b"/*" in text:  # a remark between continuation lines, or instead of a value
            blanked += [(token.start() + m.start(), token.start() + m.end()) for m in _REMARK.finditer(text)]
        if matched is None:
            if strict and depth > (0, 0):
                blanked.append(token.span())
            continue
        word = matched[1]
        if word.startswith(b"if"):
            condition = b"!" * (word == b"ifndef") + b" ".join(matched[2].split())
            groups.append(_Group(depth, condition, [token.span()], token.end()))
            continue
        if not groups:
            return without(data, blanked)
        group = groups[-1]
        group.branches.append((group.since, token.start(), depth))
        group.directives.append(token.span())
        if word != b"endif":
            group.since, depth = token.end(), group.depth
            continue
        groups.pop()
        is_whole = all(branch[2] == group.depth for branch in group.branches)
        if is_whole and not (strict and (group.depth > (0, 0) or any(_is_part(data, b) for b in group.branches))):
            depth = group.depth
            continue
        kept = _kept(group, never)
        blanked += group.directives
        blanked += [branch[:2] for i, branch in enumerate(group.branches) if i != kept]
        depth = group.branches[kept][2] if kept >= 0 else group.depth
    return without(data, blanked)


def _kept(group: _Group, never: "re.Pattern[bytes] | None") -> int:
    """The branch that stays: the first, unless its condition does not hold; -1 if none does."""
    if never is None or not never.match(group.condition):
        return 0
    return 1 if len(group.branches) > 1 else -1


def _is_part(data: bytes, branch: tuple[int, int, _Depth]) -> bool:
    """Whether a branch holds less than a statement or declaration."""
    start, end, _ = branch
    if end - start > _LONGEST_PART:
        return False
    text = _TOKEN.sub(lambda m: m[0] if m[0] in _STEP else b"", data[start:end]).strip()
    return bool(text) and text[-1:] not in b";})"


def without(data: bytes, spans: list[_Span]) -> bytes:
    """`data` with spaces in place of everything in these spans but ends of lines."""
    if not spans:
        return data
    result = bytearray(data)
    done = 0
    for start, end in sorted(spans):  # what stands in another span is blanked with that
        start = max(start, done)
        if start < end:
            result[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
            done = end
    return bytes(result)


def without_marks(data: bytes, blank: "list[re.Pattern[bytes]]") -> bytes:
    """`data` without what the patterns match, one after the other, or their group `mark` where they have one."""
    for pattern in blank:
        group = "mark" if "mark" in pattern.groupindex else 0
        data = without(data, [m.span(group) for m in pattern.finditer(data)])
    return data
