"""Stack frames and exceptions in a query, innermost frame first.

Frames of Python (chained, grouped, with markers), V8 and browsers, Go, Java and Kotlin, Rust, PHP, Ruby, and debuggers
of C are read. So are .NET, IPython and Jupyter, Elixir, Lua, shells, failed assertions and checks of C and C++, Swift,
and positions that compilers and linters print. `scoring.mentions` decides which frames are inside of the repository.

An expression has the groups `path` and `line` if they are printed; `function` as printed, of which the last name
counts; and `said` if the line also tells what went wrong. Each expression is tried only if a text that it needs occurs.
Most queries have none, and compiling these expressions takes longer than reading the query.
"""

import re
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex

# Release builds of .NET print no places.
_DOTNET = lazy_regex(
    r"\s+at (?P<function>(?:[^\W\d][\w`]*[.+])[^\s(:/\\]{1,300})\((?P<arguments>[\w\s,.&*`<>+\[\]]*)\)"
    r"(?: in (?P<path>[^\n]{1,400}?):line (?P<line>\d+))?\s*$"
)
_ELIXIR = lazy_regex(
    r"\s*(?:\(\w+(?: [\w.+-]+)?\) )?(?P<path>[^\s:()]{1,300}\.exs?):(?P<line>\d+): "
    r"(?:anonymous fn/\d+ in )?(?P<function>[^\n]{1,200}?)/\d+\s*$"
)
_LUA = lazy_regex(
    r"\s*(?:lua\S*: )?(?P<path>[^\s:]{1,300}\.lua):(?P<line>\d+): in (?:main chunk"
    r"|(?:function|method|field|local|upvalue|global)(?: function)? (?:['‘](?P<function>[\w.:]+)['’]|<[^>\n]*>))\s*$"
)
_SHELL = lazy_regex(r"\s*(?P<path>[^\s:]{1,300}\.(?:sh|bash|ksh|zsh|bats)): line (?P<line>\d+): (?P<said>\S[^\n]*)$")
_ASSERTION = lazy_regex(
    r"(?:[^\s:]{1,200}: )?(?P<path>[^\s:]{1,300}\.\w{1,4}):(?P<line>\d+): (?:(?P<function>[^\n]{1,300}?): )?"
    r"Assertion [`'‘](?P<said>[^\n]{1,500}?)['’] failed\b"
)
_ASSERTED = lazy_regex(
    r"Assertion failed: (?:\((?P<said>[^\n]{1,500}?)\), function (?P<function>[^\s,]{1,200})|(?P<said2>[^\n]{1,500}?))"
    r", file (?P<path>[^\n,]{1,300}), line (?P<line>\d+)"
)
_GLOG = lazy_regex(
    r"[FEWI]\d{4,8} \d\d:\d\d:\d\d\.\d+ +\d+ (?P<path>[^\s:]{1,300}\.\w{1,4}):(?P<line>\d+)\] "
    r"(?:Check failed: )?(?P<said>\S[^\n]*)$"
)
_SWIFT = lazy_regex(
    r"(?:Fatal error|Precondition failed|Assertion failed)(?:: (?P<said>[^\n]{1,500}?))?: "
    r"file (?P<path>[^\n,]{1,300}\.swift), line (?P<line>\d+)"
)
_MSVC = lazy_regex(
    r"\s*(?P<path>(?:[A-Za-z]:)?[^\s:(]{1,400}\.\w{1,5})\((?P<line>\d+)\) ?: (?:fatal )?(?:error|warning|note)\b"
)
_BUILD = lazy_regex(  # of Kotlin, Scala and Maven
    r"(?:[ew]: (?:file://)?|\[(?:error|ERROR|warn|WARNING)\] )(?P<path>(?:[A-Za-z]:)?[^\s:(\[]{1,400}\.\w{1,5})"
    r"(?::(?P<line>\d+):\d+|:\[(?P<line2>\d+),\d+\]|: ?\((?P<line3>\d+), ?\d+\))"
)
# IPython from version 8 on. A cell has no file: `Cell In[3], line 1` is no frame.
_NOTEBOOK = lazy_regex(
    r"\s*File (?P<path>[^\s\"][^\n\"]{0,400}?\.py[cdxi]?):(?P<line>\d+)"
    r"(?:, in (?P<function>[\w.<>]{1,200})(?:\([^\n]*)?)?\s*$"
)
# IPython before version 8. The listing below has the line: `---> 12 code`. Only a rooted path may have spaces: other
# text before " in f(x)" is a sentence.
_OLD_NOTEBOOK = lazy_regex(
    r"(?P<path>(?:(?:~|[A-Za-z]:)?[\\/][^\n]{1,400}?|[^\s<][^\s]{0,400}?)\.py[cdxi]?) in "
    r"(?P<function>[\w.]*<\w+>|[\w.<>]{1,200}(?=\())(?:\([^\n]*\))?\s*$"
)
_LISTED = lazy_regex(r"-{1,6}> (?P<line>\d+)(?:\s|$)")
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
_COMPILED = lazy_regex(r"<(?P<outer>[^\W\d]\w*)>[a-z]__(?:(?P<inner>[^\W\d]\w*)\|)?")
_MORE_THAN_A_NAME = lazy_regex(r"`\d+|\[[^\[\]]*\]")
_PARAMETERS = lazy_regex(r"\([^()]*\)(?: const)?(?: \[[^\]]*\])?$")


class PrintedFrame(NamedTuple):
    """A frame as it is printed: `path` as it stands there, `function` a last name or ""; `said`: what went wrong."""

    path: str
    line: int
    function: str
    said: str = ""


def dotnet_frame(line: str) -> PrintedFrame | None:
    """Return a frame of .NET.

    Without a file, the path is where the type would be expected, as with Java.

    >>> dotnet_frame("   at Shop.Orders.Cart.Load(String id) in /src/Orders/Cart.cs:line 7")
    PrintedFrame(path='/src/Orders/Cart.cs', line=7, function='Load', said='')
    >>> dotnet_frame("   at Shop.Orders.Cart.<Load>d__3.MoveNext()")
    PrintedFrame(path='Shop/Orders/Cart.cs', line=0, function='Load', said='')
    """
    match = _DOTNET.match(line) if "at " in line else None
    if match is None or match["arguments"] in ("Native Method", "Unknown Source"):
        return None
    full_name = match["function"]
    compiled = _COMPILED.search(full_name)
    if compiled:
        type_, name = full_name[: full_name.index(".<")], compiled["inner"] or compiled["outer"]
    elif full_name.endswith((".ctor", ".cctor")):
        type_ = full_name.removesuffix("ctor").rstrip("c").rstrip(".")
        name = type_.rpartition(".")[2].rpartition("+")[2]
    else:
        type_, _, name = _MORE_THAN_A_NAME.sub("", full_name).rpartition(".")
    type_, name = (_MORE_THAN_A_NAME.sub("", part) for part in (type_.partition("+")[0], name))
    path = match["path"] or type_.replace(".", "/") + ".cs"
    return PrintedFrame(path, int(match["line"] or 0), name if name.isidentifier() else "")


def notebook_frame(line: str) -> PrintedFrame | None:
    """Return a frame of IPython or Jupyter. The older form has line 0: `listed_line` reads it from the listing below.

    >>> notebook_frame("File ~/shop/cart.py:31, in Cart.load(self, name)")
    PrintedFrame(path='~/shop/cart.py', line=31, function='Cart.load', said='')
    >>> notebook_frame("~/shop/cart.py in load(self, name)")
    PrintedFrame(path='~/shop/cart.py', line=0, function='load', said='')
    """
    if ".py" not in line:
        return None
    match = _NOTEBOOK.match(line) if "File " in line else None
    if match is None and " in " in line:
        match = _OLD_NOTEBOOK.match(line)
    if match is None:
        return None
    groups = match.groupdict()
    return PrintedFrame(groups["path"], int(groups.get("line") or 0), groups["function"] or "")


def listed_line(line: str) -> int:
    """Return the number of the line that an arrow marks in a listing of IPython, 0 for a line without an arrow.

    >>> listed_line("---> 31     raise Missing(name)"), listed_line("     30     if not name:")
    (31, 0)
    """
    match = _LISTED.match(line)
    return int(match["line"]) if match else 0


def other_frame(line: str) -> PrintedFrame | None:
    """Return a frame in one of the forms above, other than .NET."""
    for text, form in _OTHERS:
        if text in line and (match := form.match(line)):
            return _read_printed_frame(match)
    return None


def _read_printed_frame(match: re.Match[str]) -> PrintedFrame:
    groups = match.groupdict()
    row = next(groups[key] for key in ("line", "line2", "line3") if groups.get(key))
    function = _PARAMETERS.sub("", groups.get("function") or "")
    return PrintedFrame(groups["path"], int(row), function, (groups.get("said") or groups.get("said2") or "").strip())


class StackFrame(NamedTuple):
    """A position in the code.

    `path` with forward slashes, as far as the trace has it; `line` 1-based, 0 if unknown; `function` the last name, ""
    for module-level code. `trace`: 0 for the most informative trace (the cause, if one is named); `depth`: 0 for the
    innermost frame of its trace.
    """

    path: str
    line: int
    function: str
    trace: int = 0
    depth: int = 0


class ExceptionMention(NamedTuple):
    """The last name of an exception's type, "" where there is none, and what it says."""

    type: str
    message: str


_PYTHON = lazy_regex(r"\s*(?:[|] *)*File \"(?P<path>[^\"\n]+)\", line (?P<line>\d+)(?:, in (?P<function>[\w<>.]+))?")
_PYTEST = lazy_regex(
    r"(?P<path>[\w./\\-]+\.py):(?P<line>\d+): "
    r"(?:in (?P<function>[\w<>.]+)|(?P<type>[\w.]+(?:Error|Exception|Warning|Exit))\b)"
)
_NODE = lazy_regex(
    r"\s+at (?:async |new )*(?:(?P<function>[^(\n]{1,200}?) (?:\[as [^\]\n]{1,80}\] )?\()?(?:eval at \S{1,80} \()?"
    r"(?P<path>[^\n]{1,400}?):(?P<line>\d+):\d+(?:\), <anonymous>:\d+:\d+)?\)?\s*$"
)
_BROWSER = lazy_regex(r"\s*(?P<function>[^\s@()]{0,150})@(?P<path>\S{1,400}?):(?P<line>\d+):\d+\s*$")
_JAVA = lazy_regex(
    r"\s+at (?:[\w.@-]+/{1,2})?(?P<type>(?:[\w$]+\.)*[\w$]+)\.(?P<function><?[\w$]+>?)"
    r"\((?P<path>[\w$.-]+\.(?:java|kt|scala|groovy))(?::(?P<line>\d+))?\)"
)
_GO_CALL = lazy_regex(
    r"\s*(?:created by )?(?P<function>[\w./()*·\[\]-]{1,200}?)(?<!\.)(?:\([^\n]*\))?(?: in goroutine \d+)?\s*$"
)
_GO_PLACE = lazy_regex(r"\s+(?P<path>\S[^\n]*\.go):(?P<line>\d+)(?: \+0x[\da-f]+)?\s*$")
_RUST_CALL = lazy_regex(r"\s*\d{1,4}: +(?:0x[\da-f]+ - )?(?P<function>\S[^\n]{0,300})$")
_RUST_PLACE = lazy_regex(r"\s+at (?P<path>[^\s:][^\n:]*\.rs):(?P<line>\d+)(?::\d+)?\s*$")
_RUST_PANIC = lazy_regex(
    r".*\bpanicked at (?:'(?P<message>[^\n]*)', )?(?P<path>[^\s:'][^\n:']*\.rs):(?P<line>\d+):\d+"
    r"(?::?\s*$|: (?P<said>\S[^\n]*)$)"
)
_PHP = lazy_regex(r"\s*#\d+ (?P<path>[^\n#(]+\.\w+)\((?P<line>\d+)\): (?P<function>[^\n(]{1,200})")
_PHP_IN = lazy_regex(
    r".*\b(?:in|at) (?P<path>\S+\.(?:php|phtml))(?:\((?P<line>\d+)\)|:(?P<line2>\d+)| on line (?P<line3>\d+))"
)
_RUBY = lazy_regex(
    r"\s*(?:\d+: )?(?:from )?(?P<path>[^\s:][^\n:]*\.(?:rb|ru|rake|erb)):(?P<line>\d+)"
    r":in [`'](?P<function>[^'\n]{1,120})'(?:: (?P<message>[^\n(]*)\((?P<type>[\w:]+)\))?"
)
_DEBUGGER = lazy_regex(
    r"\s*#\d+ +(?:0x[\da-f]+ (?:<[^>]*> )?)?(?:in )?(?P<function>[\w:~<>*&]{1,200})(?: ?\([^\n]*?\))?(?: at)? "
    r"(?P<path>[\w./\\+-]+\.\w{1,4}):(?P<line>\d+)"
)
_COMPILER = lazy_regex(
    r"\s{0,20}(?:(?:-->|at) {1,4})?(?P<path>(?:[A-Za-z]:)?[\w./\\@+-]{0,400}[\w-]\.\w{1,5})"
    r"(?::(?P<line>\d+)(?::\d+)?|\((?P<line2>\d+),\d+\))(?:: | - |\s*$)"
)
# In this order: a line that a stricter form matches is not read by a looser one.
_FORMS = (_PYTHON, _JAVA, _RUST_PLACE, _NODE, _GO_PLACE, _PHP, _RUBY, _DEBUGGER, _BROWSER, _PYTEST, _COMPILER)
_LAST_INNERMOST = (_PYTHON, _PYTEST)  # the others print the innermost frame first

_RAISED = lazy_regex(
    r"(?:\s*(?:[|] *)*|Exception in thread \"[^\"]*\" |(?:Caused by|Suppressed): |Uncaught (?:\(in promise\) )?"
    r"|PHP Fatal error: +Uncaught |E {3,}|Fatal error: Uncaught |Unhandled [eE]xception[.:] | ---> )"
    r"(?P<type>(?:[A-Za-z_$][\w$]{0,80}[.\\:]{1,2}){0,12}[A-Z_a-z$][\w$]{0,80}"
    r"(?:Error|Exception|Warning|Exit|Interrupt|Failure|Panic|Iteration|Fault)|Error)"
    r"(?: \[[A-Z][A-Z0-9_]+\])?(?:: (?P<message>[^\n]+)|\s*$)"
)
_RAISED_IN_ELIXIR = lazy_regex(r"[*]{2} \((?:\w+\.)*(?P<type>\w+)\) (?P<message>\S[^\n]*)$")
_PANIC = lazy_regex(r"(?:panic|fatal error): (?P<message>[^\n]+?)(?: \[recovered\])?$")
_TYPED = lazy_regex(r"(?P<type>(?:[A-Za-z_]\w*\.)+[A-Z]\w*): (?P<message>\S[^\n]*)$")  # after Python's frames
_CHAINED = lazy_regex(r"[\s|+-]*(?:During handling of the above exception|(The above exception was the direct cause))")
_ANOTHER = lazy_regex(r"(?:\w+(?: {2,}|\t))?[\s|]*Traceback \(most recent call last\)|goroutine \d+ \[")
_CAUSED = lazy_regex(r"\s*(?:Caused by: |\[cause\]: |---> )")
_CAUSE_ENDS = "--- End of inner exception stack trace ---"  # the frames after it belong to the outer error
_MARKERS = lazy_regex(r"[\s~^|]+$")
_QUERY = lazy_regex(r"\?.*$")
_SCHEME = lazy_regex(
    r"^(?:file:/{2,3}(?=[A-Za-z]:)|file:/{2}|webpack(?:-internal)?:/{2,3}|[a-z][a-z+.-]*:/{2}[^/]+/|ng:/+|rsc:/+)"
)
_NAMELESS = lazy_regex(r"(?:^|[.:])<[a-z][\w :()]*>$|^\{main\}$")
_DECORATION = lazy_regex(
    r"::h[\da-f]{16}$|(?:\.func\d+)+(?:\.\d+)*$|<[^<>]*>|\[[^\[\]]*\]|\{\{?closure[^}]*\}?\}"
    r"|^(?:block|rescue|ensure) (?:\([^)]*\) )?in "
)
_PHP_PLACE = lazy_regex(r" in \S+\.\w+(?::\d+| on line \d+)$")
# Every frame and every raised error without a digit contains one of these. Most queries contain none.
_SIGNS = (":", "(", "Error", "Exception", "Warning", "Exit", "Interrupt", "Failure", "Panic", "Iteration", "Fault")
_OF_THE_RUNTIME = ("node:", "internal/", "native ", "<", "[native")
# Color codes of a terminal. The escape character may be written out, or lost on the way.
_COLOR = lazy_regex(
    r"(?:\x1b|\\x1b|\\u001b|\\033|\\e)\[[\d;]{0,20}[A-Za-z]|\[(?:0|[01](?:;\d{1,3}){1,4})m", needs=("[",)
)
_CELL = ("<", "Cell In", "Input In")  # beginnings of lines about cells, which are no files
_MAX_FRAMES = 200
_MAX_LINE_CHARACTERS = 1000


def read_frames(text: str) -> tuple[tuple[StackFrame, ...], tuple[ExceptionMention, ...]]:
    """Return (frames by trace, the innermost first; raised errors, the most informative first) in linear time."""
    if not any(sign in text for sign in _SIGNS) and not any(map(str.isdigit, text)):
        return (), ()
    traces: list[_Trace] = [_Trace()]
    before = ""
    n_frames = 0
    for full_line in text.splitlines():
        line = full_line[:_MAX_LINE_CHARACTERS]
        if not line.strip() or _MARKERS.match(line):
            continue
        n_frames += _read_line(line, before, traces)
        before = line
        if n_frames >= _MAX_FRAMES:
            break
    order = sorted((t for t in traces if t.frames or t.raised), key=lambda t: -t.rank)
    frames = [frame for number, trace in enumerate(order) for frame in trace.order_frames(number)]
    return tuple(frames), tuple(dict.fromkeys(raised for trace in order for raised in trace.raised))


def without_colors(text: str) -> str:
    r"""Return the text without the color codes of a terminal.

    >>> without_colors("\x1b[1;32m~/a.py\x1b[0m in \x1b[0;36mf\x1b[1;34m(x)\x1b[0m")
    '~/a.py in f(x)'
    """
    return _COLOR.sub("", text)


class _Trace:
    """One trace while it is read; `rank` is higher for what tells more of a chain.

    A dataclass would cost each question half a millisecond.
    """

    __slots__ = ("frames", "lacks_line", "last_innermost", "names_callee", "raised", "rank")

    def __init__(self, rank: int = 0) -> None:
        self.rank = rank
        self.frames: list[StackFrame] = []
        self.raised: list[ExceptionMention] = []
        self.last_innermost = False
        self.names_callee = False  # a frame names the called function instead of the calling one
        self.lacks_line = False  # a listing that follows has the line of the last frame

    def order_frames(self, trace: int) -> list[StackFrame]:
        """Its frames, innermost first, each place once."""
        frames = list(reversed(self.frames)) if self.last_innermost else self.frames
        if self.names_callee:
            callers = [frame.function for frame in frames[1:]] + [""]
            frames = [f._replace(function=name) for f, name in zip(frames, callers, strict=True)]
        function_by_line: dict[tuple[str, int, str], str] = {}
        for frame in frames:
            key = (frame.path, frame.line, "" if frame.line else frame.function)
            if not function_by_line.get(key):
                function_by_line[key] = frame.function
        return [
            StackFrame(path, line, function, trace, depth)
            for depth, ((path, line, _), function) in enumerate(function_by_line.items())
        ]


def _read_line(line: str, before: str, traces: list[_Trace]) -> int:
    """Read a line into the last trace or a new one, and return the number of frames that it adds."""
    trace = traces[-1]
    chained = _CHAINED.match(line)
    if chained:
        # A direct cause is more informative than its effect; an error in a handler more than the handled one.
        rank = trace.rank
        if chained[1]:
            trace.rank += 1
        traces.append(_Trace(rank if chained[1] else rank + 1))
        return 0
    if trace.frames and _ANOTHER.match(line):
        traces.append(_Trace(-1 if "goroutine" in line else 0))
        return 0
    if _CAUSE_ENDS in line:
        traces.append(_Trace(trace.rank - 1))
        return 0
    if trace.lacks_line and (frame_line := listed_line(line)):
        trace.frames[-1] = trace.frames[-1]._replace(line=frame_line)
        trace.lacks_line = False
        return 0
    if line.startswith(_CELL):
        trace.lacks_line = False  # the listing that follows is of the cell
    raised = _raised_in(line, before, trace)
    if raised is not None:
        caused = _CAUSED.match(line)
        if caused or (trace.frames and not trace.last_innermost and not raised.late):
            trace = _Trace(trace.rank + 1 if caused else 0)
            traces.append(trace)
        trace.raised.append(raised.what)
    frame_and_form = _frame_in(line, before)
    if frame_and_form is None:
        return 0
    frame, form = frame_and_form
    if trace.frames and trace.raised and form is _PYTHON:
        trace = _Trace()
        traces.append(trace)
    trace.last_innermost = form in _LAST_INNERMOST
    trace.lacks_line = form is _PYTHON and not frame.line
    trace.names_callee = trace.names_callee or form is _PHP
    trace.frames.append(frame)
    return 1


class _Found(NamedTuple):
    what: ExceptionMention
    late: bool  # printed after frames of its own trace


def _raised_in(line: str, before: str, trace: _Trace) -> _Found | None:
    match = _RAISED.match(line)
    if match:
        type_ = re.split(r"[.\\:]+", match["type"])[-1]
        return _Found(ExceptionMention(type_, _PHP_PLACE.sub("", match["message"] or "").strip()), late=False)
    elixir = _RAISED_IN_ELIXIR.match(line)
    if elixir:
        return _Found(ExceptionMention(elixir["type"], elixir["message"].strip()), late=False)
    panic = _PANIC.match(line)
    if panic:
        return _Found(ExceptionMention("", panic["message"].strip()), late=False)
    if trace.frames and trace.last_innermost and not trace.raised:
        typed = _TYPED.match(line)
        if typed:
            return _Found(ExceptionMention(typed["type"].rpartition(".")[2], typed["message"].strip()), late=True)
    ruby = _RUBY.match(line)
    if ruby and ruby["type"]:
        return _Found(ExceptionMention(ruby["type"].rpartition(":")[2], ruby["message"].strip()), late=False)
    rust = _RUST_PANIC.match(line)
    if rust and (rust["message"] or rust["said"]):
        return _Found(ExceptionMention("", (rust["message"] or rust["said"]).strip()), late=False)
    printed = other_frame(line)
    if printed is not None and printed.said:
        return _Found(ExceptionMention("", printed.said), late=False)
    earlier = _RUST_PANIC.match(before)
    if earlier and not (earlier["message"] or earlier["said"]) and not line.startswith(("stack backtrace", "note:")):
        return _Found(ExceptionMention("", line.strip()), late=True)
    return None


def _frame_in(line: str, before: str) -> tuple[StackFrame, re.Pattern[str] | None] | None:
    printed = notebook_frame(line)
    if printed is not None:
        return StackFrame(_path(printed.path), printed.line, _last_name(printed.function)), _PYTHON
    printed = dotnet_frame(line) or other_frame(line)
    if printed is not None:
        return StackFrame(_path(printed.path), printed.line, _last_name(printed.function)), None
    panic = _RUST_PANIC.match(line)
    if panic:
        return StackFrame(_path(panic["path"]), int(panic["line"]), ""), _RUST_PANIC
    for form in _FORMS:
        match = form.match(line)
        if match is None:
            continue
        groups = match.groupdict()
        function = groups.get("function") or ""
        if form is _GO_PLACE or form is _RUST_PLACE:
            call = (_GO_CALL if form is _GO_PLACE else _RUST_CALL).match(before)
            function = call["function"] if call else ""
        if groups["path"].startswith(_OF_THE_RUNTIME):
            return None
        path = _path(groups["path"])
        if form is _JAVA:
            path = "/".join([*groups["type"].split(".")[:-1], path])
            function = function if function not in ("<init>", "<clinit>") else groups["type"].rpartition(".")[2]
        return StackFrame(path, int(groups.get("line") or groups.get("line2") or 0), _last_name(function)), form
    thrown = _PHP_IN.match(line)
    if thrown and "thrown in " not in line:
        return StackFrame(_path(thrown["path"]), int(thrown["line"] or thrown["line2"] or thrown["line3"]), ""), _PHP_IN
    return None


def _path(printed_path: str) -> str:
    path = _QUERY.sub("", _SCHEME.sub("", printed_path.strip().replace("\\", "/")))
    return path.replace("/./", "/").removeprefix("./")


def _last_name(function: str) -> str:
    """Return the last name of a function as traces write it, or "" if it has none.

    >>> [_last_name(f) for f in ("Session.verify", "main.(*Store).Open.func1", "shop::cli::run::h0123456789abcdef")]
    ['verify', 'Open', 'run']
    >>> [_last_name(f) for f in ("<module>", "Object.<anonymous>", "block in save", "Uri->parse")]
    ['', '', 'save', 'parse']
    """
    if _NAMELESS.search(function):
        return ""
    plain = _DECORATION.sub("", function.strip()).rstrip(":.")
    names = [n for n in re.split(r"[^\w?!=$]+", plain) if n]
    last = names[-1].rpartition("$")[2] if names else ""
    return last if re.fullmatch(r"[^\W\d]\w*[?!=]?", last) else ""
