"""More forms of frames: .NET, Elixir, Lua, shells, failed assertions and checks of C and C++, Swift, and positions that
compilers print.

A form has the groups `path` and `line` where they are printed; `function` as printed, of which the last name counts;
`said` where the line tells what went wrong, too. Each is tried where a text stands that it needs: most questions have
none, and compiling these expressions takes longer than reading the question.
"""

import re
from typing import NamedTuple

from causalist._internal.lazy import expression

# Release builds of .NET print no places.
_DOTNET = expression(
    r"\s+at (?P<function>(?:[^\W\d][\w`]*[.+])[^\s(:/\\]{1,300})\((?P<arguments>[\w\s,.&*`<>+\[\]]*)\)"
    r"(?: in (?P<path>[^\n]{1,400}?):line (?P<line>\d+))?\s*$"
)
_ELIXIR = expression(
    r"\s*(?:\(\w+(?: [\w.+-]+)?\) )?(?P<path>[^\s:()]{1,300}\.exs?):(?P<line>\d+): "
    r"(?:anonymous fn/\d+ in )?(?P<function>[^\n]{1,200}?)/\d+\s*$"
)
_LUA = expression(
    r"\s*(?:lua\S*: )?(?P<path>[^\s:]{1,300}\.lua):(?P<line>\d+): in (?:main chunk"
    r"|(?:function|method|field|local|upvalue|global)(?: function)? (?:['‘](?P<function>[\w.:]+)['’]|<[^>\n]*>))\s*$"
)
_SHELL = expression(r"\s*(?P<path>[^\s:]{1,300}\.(?:sh|bash|ksh|zsh|bats)): line (?P<line>\d+): (?P<said>\S[^\n]*)$")
_ASSERTION = expression(
    r"(?:[^\s:]{1,200}: )?(?P<path>[^\s:]{1,300}\.\w{1,4}):(?P<line>\d+): (?:(?P<function>[^\n]{1,300}?): )?"
    r"Assertion [`'‘](?P<said>[^\n]{1,500}?)['’] failed\b"
)
_ASSERTED = expression(
    r"Assertion failed: (?:\((?P<said>[^\n]{1,500}?)\), function (?P<function>[^\s,]{1,200})|(?P<said2>[^\n]{1,500}?))"
    r", file (?P<path>[^\n,]{1,300}), line (?P<line>\d+)"
)
_GLOG = expression(
    r"[FEWI]\d{4,8} \d\d:\d\d:\d\d\.\d+ +\d+ (?P<path>[^\s:]{1,300}\.\w{1,4}):(?P<line>\d+)\] "
    r"(?:Check failed: )?(?P<said>\S[^\n]*)$"
)
_SWIFT = expression(
    r"(?:Fatal error|Precondition failed|Assertion failed)(?:: (?P<said>[^\n]{1,500}?))?: "
    r"file (?P<path>[^\n,]{1,300}\.swift), line (?P<line>\d+)"
)
_MSVC = expression(
    r"\s*(?P<path>(?:[A-Za-z]:)?[^\s:(]{1,400}\.\w{1,5})\((?P<line>\d+)\) ?: (?:fatal )?(?:error|warning|note)\b"
)
_BUILD = expression(  # of Kotlin, Scala and Maven
    r"(?:[ew]: (?:file://)?|\[(?:error|ERROR|warn|WARNING)\] )(?P<path>(?:[A-Za-z]:)?[^\s:(\[]{1,400}\.\w{1,5})"
    r"(?::(?P<line>\d+):\d+|:\[(?P<line2>\d+),\d+\]|: ?\((?P<line3>\d+), ?\d+\))"
)
# (text that a line of this form has, form)
_OTHERS = (
    (".ex", _ELIXIR),
    (".lua:", _LUA),
    (": line ", _SHELL),
    ("Assertion ", _ASSERTION),
    ("Assertion failed: ", _ASSERTED),
    ("] ", _GLOG),
    (".swift, line ", _SWIFT),
    ("): ", _MSVC),
    (") : ", _MSVC),
    ("e: ", _BUILD),
    ("w: ", _BUILD),
    ("] ", _BUILD),
)

# `Shop.Cart.<Load>d__12.MoveNext`, `Shop.Cart.<>c.<Load>b__0_1`, `Shop.Cart.<Load>g__Inner|3_0`
_COMPILED = expression(r"<(?P<outer>[^\W\d]\w*)>[a-z]__(?:(?P<inner>[^\W\d]\w*)\|)?")
_MORE_THAN_A_NAME = expression(r"`\d+|\[[^\[\]]*\]")
_PARAMETERS = expression(r"\([^()]*\)(?: const)?(?: \[[^\]]*\])?$")


class Printed(NamedTuple):
    """A frame as it is printed: `path` as it stands there, `function` a last name or ""; `said`: what went wrong."""

    path: str
    line: int
    function: str
    said: str = ""


def dotnet_frame(line: str) -> Printed | None:
    """A frame of .NET. Without a place it lies where the type would be expected, as with Java's.

    >>> dotnet_frame("   at Shop.Orders.Cart.Load(String id) in /src/Orders/Cart.cs:line 7")
    Printed(path='/src/Orders/Cart.cs', line=7, function='Load', said='')
    >>> dotnet_frame("   at Shop.Orders.Cart.<Load>d__3.MoveNext()")
    Printed(path='Shop/Orders/Cart.cs', line=0, function='Load', said='')
    """
    found = _DOTNET.match(line) if "at " in line else None
    if found is None or found["arguments"] in ("Native Method", "Unknown Source"):
        return None
    written = found["function"]
    compiled = _COMPILED.search(written)
    if compiled:
        type_, name = written[: written.index(".<")], compiled["inner"] or compiled["outer"]
    elif written.endswith((".ctor", ".cctor")):
        type_ = written.removesuffix("ctor").rstrip("c").rstrip(".")
        name = type_.rpartition(".")[2].rpartition("+")[2]
    else:
        type_, _, name = _MORE_THAN_A_NAME.sub("", written).rpartition(".")
    type_, name = (_MORE_THAN_A_NAME.sub("", part) for part in (type_.partition("+")[0], name))
    path = found["path"] or type_.replace(".", "/") + ".cs"
    return Printed(path, int(found["line"] or 0), name if name.isidentifier() else "")


def other_frame(line: str) -> Printed | None:
    """A frame in one of the forms above, but for .NET."""
    for text, form in _OTHERS:
        if text in line and (found := form.match(line)):
            return _printed(found)
    return None


def _printed(found: re.Match[str]) -> Printed:
    groups = found.groupdict()
    row = next(groups[key] for key in ("line", "line2", "line3") if groups.get(key))
    function = _PARAMETERS.sub("", groups.get("function") or "")
    return Printed(groups["path"], int(row), function, (groups.get("said") or groups.get("said2") or "").strip())
