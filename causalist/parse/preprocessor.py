"""Conditional compilation and macros, before a grammar reads the text and after.

A grammar sees all branches of `#if` one after the other. That fails if a branch opens a block that is closed after
`#endif`, or if two branches open the same block: all code after it is nested wrongly. `blank_partial_branches` blanks
all but one of such branches, and their directives; `blank_matches` does so with macros that stand for attributes. No
byte moves. `read_conditions` returns the conditions under which definitions are compiled.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.model.facts import ALWAYS, Definition, opposite_condition
from causalist.model.language_settings import ModuleSettings, PreprocessorSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind

_TOKEN = lazy_regex(
    rb"""^[ \t]*\#(?:[^\n\\/]|\\(?:\r\n|.)|/\*(?:[^*]|\*(?!/))*\*/|/(?!\*))*  # a directive with its continuation lines
    |//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/
    |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
    |[{}()]""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = lazy_regex(rb"\s*#\s*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b(.*)", re.DOTALL)
_REMARK = lazy_regex(rb"/\*(?:[^*]|\*(?!/))*\*/")
_MAX_PART_BYTES = 400  # bytes; longer branches are not checked for their end
_STEP = {b"{": (1, 0), b"}": (-1, 0), b"(": (0, 1), b")": (0, -1)}

_Depth = tuple[int, int]  # open braces, open parentheses
_Span = tuple[int, int]


@dataclass(slots=True)
class _ConditionalGroup:
    """Branches from one `#if` to its `#endif`, each as (start, end, depth at the end)."""

    depth: _Depth
    condition: bytes
    directives: list[_Span]
    since: int  # where the open branch starts
    branches: list[tuple[int, int, _Depth]] = field(default_factory=list)


def blank_partial_branches(
    data: bytes, settings: PreprocessorSettings, never: "re.Pattern[bytes] | None", strict: bool
) -> bytes:
    """Return `data` with all but one branch blanked if a branch does not close what it opens.

    `strict` also blanks directives inside of functions and types, alternatives there that are no whole statements, and
    alternatives for a part of a declaration. Conditions that match `never` do not hold. If `#if` and `#endif` do not
    pair up, no branch is blanked.
    """
    if not settings.conditions or b"#" not in data:
        return data
    blanked: list[_Span] = []
    depth: _Depth = (0, 0)
    groups: list[_ConditionalGroup] = []
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
            groups.append(_ConditionalGroup(depth, condition, [token.span()], token.end()))
            continue
        if not groups:
            return blank_spans(data, blanked)
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
        blanked += group.directives
        if is_whole and group.depth[1] == 0 and all(_is_statements(data, each) for each in group.branches):
            depth = group.depth
            continue  # statements of all branches stand one after the other
        kept = _choose_branch(group, never)
        blanked += [branch[:2] for i, branch in enumerate(group.branches) if i != kept]
        depth = group.branches[kept][2] if kept >= 0 else group.depth
    return blank_spans(data, blanked)


def _choose_branch(group: _ConditionalGroup, never: "re.Pattern[bytes] | None") -> int:
    """Return the branch to keep: the first whose condition may hold, or -1 if there is none."""
    if never is None or not never.match(group.condition):
        return 0
    return 1 if len(group.branches) > 1 else -1


def _is_part(data: bytes, branch: tuple[int, int, _Depth]) -> bool:
    """Return True if a branch is less than a statement or declaration."""
    start, end, _ = branch
    if end - start > _MAX_PART_BYTES:
        return False
    text = _TOKEN.sub(lambda m: m[0] if m[0] in _STEP else b"", data[start:end]).strip()
    return bool(text) and text[-1:] not in b";})"


_OF_EXPRESSION = lazy_regex(rb"else\b|[^\w{*(~\[]")  # begins what goes on before


def _is_statements(data: bytes, branch: tuple[int, int, _Depth]) -> bool:
    """Return True if a branch is whole statements or declarations, none of which goes on with what is before it."""
    start, end, _ = branch
    text = _TOKEN.sub(lambda m: m[0] if m[0] in _STEP else b"", data[start:end]).strip()
    return not text or (text[-1:] in b";}" and _OF_EXPRESSION.match(text) is None)


def blank_spans(data: bytes, spans: list[_Span]) -> bytes:
    """Return `data` with spaces for all bytes in these spans but line ends."""
    if not spans:
        return data
    result = bytearray(data)
    done = 0
    for start, end in sorted(spans):  # a span inside of another one is blanked with that
        start = max(start, done)
        if start < end:
            result[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
            done = end
    return bytes(result)


class _Blank(NamedTuple):
    """A pattern of text to blank; a text without any of the words `needs` has no match, if there are such words."""

    pattern: "re.Pattern[bytes]"
    needs: tuple[bytes, ...]


def blank_matches(data: bytes, blank: Sequence[_Blank]) -> bytes:
    r"""Return `data` without the matches of the patterns, applied in order.

    If a pattern has a group `mark`, only that group is blanked; a group `stop` becomes a semicolon, a group `gives` an
    equals sign. A group `word` inside of what is blanked stays, as a word.

    >>> pattern = re.compile(rb'TEST\((?P<mark>"(?P<word>[^"]+)"[^)]*)')
    >>> blank_matches(b'TEST("2 of a kind", "[x]") {}', [_Blank(pattern, ())])
    b'TEST( __of_a_kind        ) {}'
    >>> blank_matches(b"T& a(b);", [_Blank(re.compile(rb"a(?P<gives>\()[^)]*(?P<mark>\))"), ())])
    b'T& a=b ;'
    """
    for pattern, needs in blank:
        if needs and not any(word in data for word in needs):
            continue
        matches = list(pattern.finditer(data))
        for sign in _SIGNS.keys() & pattern.groupindex:
            changed = bytearray(data)
            for match in matches:
                changed[slice(*match.span(sign))] = _SIGNS[sign] * (match.end(sign) - match.start(sign))
            data = bytes(changed)
        group = "mark" if "mark" in pattern.groupindex else 0
        if matches and "stop" not in pattern.groupindex:
            data = blank_spans(data, [m.span(group) for m in matches])
        if matches and "word" in pattern.groupindex:
            worded = bytearray(data)
            for match in matches:
                worded[slice(*match.span("word"))] = _NO_WORD.sub(b"_", match["word"])
            data = bytes(worded)
    return data


_SIGNS = {"stop": b";", "gives": b"="}
_NO_WORD = lazy_regex(rb"\W|^\d")  # what an identifier cannot have there
_NEEDS = lazy_regex(r"\(\?#([^)]*)\)")  # a remark at the beginning of a pattern


@cache
def compile_preprocessor(settings: PreprocessorSettings) -> "tuple[re.Pattern[bytes] | None, tuple[_Blank, ...]]":
    """Return the compiled patterns `never` and `blank`."""
    never = re.compile(settings.never.encode()) if settings.never else None
    blank: list[_Blank] = []
    for written in settings.blank:
        needs = _NEEDS.match(written)
        words = tuple(needs[1].encode().split(b"|")) if needs else ()
        blank.append(_Blank(re.compile(written.encode(), re.MULTILINE), words))
    return never, tuple(blank)


_CONDITIONAL = lazy_regex(rb"#[ \t]*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b((?:[^\n\\]|\\.)*)", re.DOTALL)
_COMMENT = lazy_regex(rb"//.*|/\*.*?(?:\*/|$)", re.DOTALL)
_DEFINED = lazy_regex(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_GUARD = lazy_regex(rb"\s*+(?:(?://[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)\s*+)*+#[ \t]*+define[ \t]++(\w+)")
_ALIAS = lazy_regex(r"#\s*define\s+\w+\s+[A-Za-z_]\w*$")  # a name that stands for a function, or nothing


@dataclass(slots=True)
class _OpenGroup:
    """The branch of an `#if` that is open: what holds around it, what it asks for, and what the ones before it did."""

    around: tuple[str, ...]
    asked: tuple[str, ...]
    before: list[tuple[str, ...]] = field(default_factory=list)


_OPENING = lazy_regex(
    rb"(?i)\s*(?:\w+\s*:(?!:)\s*)?(?:if\s*\(.*\)\s*then\b|do\b(?!\s*=)|select\b|where\s*\([^=]*\)\s*$|associate\s*\(|block\s*$"
    rb"|(?:abstract\s+)?interface\b|type\b(?!\s*\()(?!\s+is\b)|(?:sub)?module\s+(?!procedure\b)\w+\s*$|program\b"
    rb"|(?:[^!'\"=]*\s)?(?:subroutine|function)\s+\w)"
)
_CLOSING = lazy_regex(rb"(?i)\s*end\s*(?!\w*\s*=)")
_DIVIDING = lazy_regex(rb"(?i)\s*(?:else\b|elseif\b|case\b|contains\s*$)")
_LINE_REMARK = lazy_regex(rb"!.*")


def blank_open_branches(data: bytes) -> bytes:
    r"""Return `data` with all but one branch blanked if a branch does not end the statements that it begins.

    The branch that stays is the one without any name defined. Statements are those of Fortran. If `#if` and `#endif` do
    not pair up, no branch is blanked.

    >>> blank_open_branches(b"#ifdef A\nif (x) then\n#else\nif (y) then\n#endif\nend if").split()
    [b'if', b'(y)', b'then', b'end', b'if']
    >>> blank_open_branches(b"#ifdef A\nx = 1\n#endif")
    b'#ifdef A\nx = 1\n#endif'
    """
    rows = data.split(b"\n")
    open_: list[list[int]] = []  # rows of the directives of each group
    groups: list[list[int]] = []
    words: dict[int, tuple[bytes, bytes]] = {}
    for row, line in enumerate(rows):
        if line.lstrip()[:1] != b"#" or (matched := _DIRECTIVE.match(line)) is None:
            continue
        words[row] = matched[1], matched[2].strip()
        if matched[1].startswith(b"if"):
            open_.append([row])
        elif not open_:
            return data
        else:
            open_[-1].append(row)
            if matched[1] == b"endif":
                groups.append(open_.pop())
    if open_:
        return data
    gone: set[int] = set()
    for group in sorted(groups):
        branches = list(pairwise(group))
        if group[0] in gone or all(_is_whole(rows, start, end) for start, end in branches):
            continue
        kept = next((each for each in branches if _holds_without_names(*words[each[0]])), (0, 0))
        gone.update(row for row in range(group[0], group[-1] + 1) if row in group or not kept[0] < row < kept[1])
    return b"\n".join(b" " * len(line) if row in gone else line for row, line in enumerate(rows))


def _holds_without_names(word: bytes, rest: bytes) -> bool:
    return word == b"else" or word.endswith(b"ndef") or (not word.endswith(b"def") and rest.startswith((b"!", b"1")))


def _is_whole(rows: Sequence[bytes], start: int, end: int) -> bool:
    """Return True if the rows between two directives hold whole statements."""
    depth, is_continued = 0, start > 0 and _LINE_REMARK.sub(b"", rows[start - 1]).rstrip().endswith(b"&")
    for line in rows[start + 1 : end]:
        if is_continued and depth == 0 and line is rows[start + 1]:
            return False
        code = _LINE_REMARK.sub(b"", line)
        if _CLOSING.match(code):
            depth -= 1
        elif _OPENING.match(code):
            depth += 1
        elif depth == 0 and _DIVIDING.match(code):
            return False
        if depth < 0:
            return False
        is_continued = code.rstrip().endswith(b"&")
    return depth == 0 and not is_continued


def read_conditions(
    data: bytes, definitions: Sequence[Definition], settings: PreprocessorSettings
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return `FileFacts.conditions`: what must hold where functions and macros behind `#if` are compiled.

    The guard of a header is no condition. If `#if` and `#endif` do not pair up, there are no conditions.
    """
    if not settings.conditions or b"#" not in data:
        return ()
    starts: list[int] = [0]
    holding: list[tuple[str, ...]] = [()]
    groups: list[_OpenGroup] = []
    current: tuple[str, ...] = ()
    is_first = True
    for directive in _CONDITIONAL.finditer(data):
        if data[data.rfind(b"\n", 0, directive.start()) + 1 : directive.start()].strip():
            continue  # in a remark, or in a string
        word, rest = directive[1], directive[2]
        if word == b"endif":
            if not groups:
                return ()
            current = groups.pop().around
        elif word.startswith(b"if"):
            asked = _conditions(word, rest)
            if is_first and word == b"ifndef" and (guard := _GUARD.match(data, directive.end())):
                asked = () if asked == (f"!{guard[1].decode()}",) else asked
            groups.append(_OpenGroup(current, asked))
            current = (*current, *_with_joined(asked))
        else:
            if not groups:
                return ()
            group = groups[-1]
            group.before.append(group.asked)
            group.asked = _conditions(word, rest)
            denied = [opposite_condition(_join_conditions(each)) for each in group.before]
            current = (*group.around, *(each for each in denied if each != ALWAYS), *_with_joined(group.asked))
        is_first = False
        starts.append(directive.end())
        holding.append(current)
    if groups or len(starts) == 1:
        return ()
    read: list[tuple[int, tuple[str, ...]]] = []
    for i, definition in enumerate(definitions):
        kind = definition.kind
        if (
            kind in CALLABLE_KINDS
            or kind == NodeKind.MACRO
            or (kind == NodeKind.CONSTANT and _ALIAS.match(definition.signature))
        ):
            conditions = holding[bisect_right(starts, definition.start_byte) - 1]
            if conditions:
                read.append((i, conditions))
    return tuple(read)


def _conditions(word: bytes, rest: bytes) -> tuple[str, ...]:
    """Return the conditions of a directive that must all hold, each without spaces and `defined`."""
    text = _COMMENT.sub(b" ", rest.replace(b"\\\n", b" ")).decode("utf-8", "replace")
    text = "".join(_DEFINED.sub(lambda found: found[1] or found[2], text).split())
    if word.endswith(b"ndef"):
        text = f"!{text}"
    while text.startswith("(") and text.endswith(")") and ")" not in text[1:-1].partition("(")[0]:
        text = text[1:-1]
    parts = text.split("&&") if "||" not in text and "(" not in text else [text]
    return tuple(each for each in parts if each not in ("", ALWAYS))


def _with_joined(conditions: tuple[str, ...]) -> tuple[str, ...]:
    """Return the conditions, and all of them as one, which another branch denies."""
    return (*conditions, _join_conditions(conditions)) if len(conditions) > 1 else conditions


def _join_conditions(conditions: tuple[str, ...]) -> str:
    """Return one condition that holds if all of `conditions` do."""
    return conditions[0] if len(conditions) == 1 else "&&".join(conditions) if conditions else ALWAYS


_MAX_CONSTRAINT_BYTES = 4096  # bytes in which a file says in which builds it is
_HIDDEN = lazy_regex(rb"^#\+private[ \t]+file\b", re.MULTILINE)  # `#+private` alone hides names from other packages


def read_build_constraint(data: bytes, modules: ModuleSettings) -> tuple[tuple[str, str], ...]:
    """Return the build constraint in the first lines of a file, as one expression."""
    if not modules.constraint:
        return ()
    end = min(len(data), _MAX_CONSTRAINT_BYTES)
    lines = data[:end].decode("utf-8", "replace").split("\n")
    stated = [line.removeprefix(modules.constraint).strip() for line in lines if line.startswith(modules.constraint)]
    if modules.constraint_list and stated:
        every = [" || ".join(f"({' && '.join(each.split())})" for each in line.split(",")) for line in stated]
        stated = [" && ".join(f"({each})" for each in every)]
    if not stated:
        begins = modules.older_constraint
        older = [line.removeprefix(begins).split() for line in lines if begins and line.startswith(begins)]
        every = [" || ".join(f"({each.replace(',', ' && ')})" for each in line) for line in older if line]
        stated = [" && ".join(f"({each})" for each in every)] if every else []
    hidden = [("private", "file")] if modules.constraint_list and _HIDDEN.search(data, 0, end) else []
    return (*((("build", stated[0]),) if stated else ()), *hidden)
