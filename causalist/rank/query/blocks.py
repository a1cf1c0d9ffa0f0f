"""Split of a query into a title and blocks, by the kinds of its lines.

A line of a query was printed by a program, copied from code, or written by the author. The body becomes a list of
blocks, each with its kind and its weight. A bug report has prose, code to reproduce, pasted output, a description of a
machine, and the fields of a form. One pass over the lines separates them by Markdown (fences, indentation, quotes,
headings, comments, `<details>`) and by the form of each line.

Each expression is tried at the beginning of a line. All are bounded, so that the time is linear in the length of a
line. Nothing is interpreted here: `tracebacks` reads frames, `query` reads words and names.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex

TRACE = lazy_regex(
    r"\s{0,40}(?:[|+] ?-*\s{0,40})?(?:Traceback \(most recent call last\)|File \"[^\"]+\", line \d+|[~^]{1,300}\s*$"
    r"|at (?:async |new )?[^\s()].{0,300}[:(]\w.*\)?\s*$|\.\.\. \d+ (?:more|common frames)"
    r"|(?:Caused by|Suppressed): \S|Exception in thread \"|goroutine \d+ \[|created by \S+|(?:panic|fatal error): "
    r"|thread '[^']*' (?:\(\d+\) )?panicked at|stack backtrace:"
    r"|\d{1,3}: +(?:0x[\da-f]+ - )?[\w<{][\w:<>{}$ &*,\[\]]*$"
    r"|#\d+ +(?:0x[\da-f]+ in )?\S.{0,300}[:(]\d+\b|#\d+ \{main\}|Stack trace:\s*$|\[previous exception\]"
    r"|PHP (?:Fatal|Parse|Warning|Notice)|The above exception was the direct|During handling of the above exception"
    r"|\S{1,300}\.go:\d+(?: \+0x[\da-f]+)?\s*$|(?:from )?\S{1,300}\.rb:\d+:in "
    r"|[\w.$<>/*]{0,100}@(?:https?|file|webpack|/)\S+:\d+:\d+"
    # IPython and Jupyter
    r"|\w{1,80} {2,80}Traceback \(most recent call last\)|(?:Cell|Input) In ?\[\d+\](?:, |: ?$)|<ipython-input-\S+ in "
    r"|File [^\s\"][^\n\"]{0,300}\.py\w?:\d+(?:, in \S.*)?\s*$"
    r"|[~/]\S{1,300}\.py\w? in [\w.<>]+(?:\(.*\))?\s*$|-{1,6}> \d+\s)",
    needs=(*':("~^[#', "...", "created by", "panicked", "PHP ", "The above", "During", "<ipython-input-", "-> ", ".py"),
)
LOG = lazy_regex(
    r"\s{0,40}(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|(?:[A-Z][a-z]{2} ){1,2}\d{1,2} \d\d:\d\d"
    r"|\[?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|NOTICE)\b[\]: |]"
    r"|npm (?:ERR!|WARN|warn|error|notice)|yarn (?:run|install)"
    r"|(?:Collecting|Downloading|Requirement already|Successfully|Installing|Compiling|Building|Fetching|Resolving"
    r"|Updating|Unpacking) \S"
    r"|E {3}\S|[<>*] (?:GET|POST|HTTP/|[A-Z][\w-]+: )|={5,}|-{8,}|\{\"(?:level|ts|time|msg|timestamp)\":"
    r"|(?:error|warning|note|help)(?:\[\w+\])?: |(?:\d+ )?\|  |= note:)",
    needs=(
        *(":", "|", "E   ", "npm ", "yarn ", "=====", "--------"),
        *"TRACE DEBUG INFO WARN ERROR FATAL CRITICAL NOTICE GET POST HTTP/ Collecting Downloading Requirement".split(),  # noqa: SIM905
        *"Successfully Installing Compiling Building Fetching Resolving Updating Unpacking".split(),  # noqa: SIM905
    ),
)
_VERSION = r"[*_`\"'^~]*[vV]?\d+(?:\.[\w+-]+){1,5}\b"
VERSIONS = lazy_regex(
    # `name==1.2.3`, `name   1.2.3`, `Name: 1.2.3`, `name (1.2.3)`
    r"\s{0,40}(?:[-*+] |> )?(?:[*_`]{0,3}[\w@/.()\[\]+-]{1,48}(?: [\w@/.()\[\]+-]{1,48}){0,5}[*_`]{0,3}"
    rf"(?: {{0,8}}[:=@|(`]{{1,2}}| {{2,40}}|\t)\s{{0,8}}{_VERSION}[^a-z]{{0,12}}(?:\([^)]*\))?\s*$"
    r"|(?:Python|Node(?:\.js)?|npm|yarn|pnpm|Go|go version|rustc|cargo|java|openjdk|PHP|ruby|gcc|clang|pip|Docker"
    r"|Chrome|Firefox|Safari|Windows|macOS|Mac OS X?|Ubuntu|Debian|Linux|Darwin|Fedora|Alpine)"
    r"[ :/@]+(?:go|version )?v?\d"
    r"|(?:OS|OS Version|Platform|Arch(?:itecture)?|CPU|Memory|Shell|Kernel|Binaries|Browsers?|Operating System|Node|npm"
    r"|Python|(?:GO|CGO_|PATH|HOME|LANG|LC_)[A-Z0-9_]*)\s{0,12}[:=]\s{0,12}\S"
    r"|[├└│+`][-─┬ ]*\S{1,100}@\S*\d|-{3,}[ -]*$)"
)
ENCODED = lazy_regex(
    r"\s{0,40}(?:[\da-fA-F]{7,16}[: ]\s{0,4}(?:[\da-fA-F]{2,4}\s{1,3}){4}|[A-Za-z0-9+/=_-]{64,}\s*$"
    r"|\"?(?:integrity|resolved|checksum|hash|content-hash|hashes)\"?\s{0,4}[:= ]"
    r"|.{0,200}\bsha(?:256|512|1)[:=-][\w+/=]{20,})"
)
JSON = lazy_regex(r"\s{0,80}(?:[{}\[\]],?|\"[^\"]{0,80}\"\s{0,4}:.*|\"[^\"]*\",?|-?[\d.]+,?|[}\]]+,?)\s*$")
CODE = lazy_regex(
    r"\s{0,80}(?:(?:import|from|def|class|func|fn|function|const|let|var|return|if|for|while|try|except|catch|with|async"
    r"|await|package|use|using|pub|impl|struct|public|private|static|require|include|echo|print|export|new|raise|throw"
    r"|assert|type|interface|enum|match|@\w+)\b.*[\w)\]};:,'\"{]\s*$"
    r"|.*[;{}]\s*$|[\w.\[\]$'\"]{1,80} ?(?:=|:=|\+=|=>) ?\S|[\w.$:>-]{1,80}\(.*\)?[;,:]?\s*$|>>> |\.\.\. "
    r"|[+-]{1,3} ?\S.*[;{})]\s*$|#include|<\?php|</?\w+[^>]*>\s*$|(?://|#|/\*) )"
)
# Stricter than inside of a fence: a line without one must look more like code.
STRICT_CODE = lazy_regex(
    r"\s{0,80}(?:.*[;{}\[(,]\s*$|[)}\]]+[;,)]*\s*$|[\w.$]{1,60} ?(?:=|:=|\+=|=>) ?\S"
    r"|(?:import|from|def|class|func|fn|const|let|var|return|use|require|@\w+)\b.*[)\]};:,'\"\w]\s*$"
    r"|[\w.$:>-]{1,80}\(.*\)[;,:]?\s*$|(?://|#|/\*) )"
)
SENTENCE = lazy_regex(
    r"\s{0,40}(?:[-*+] |\d{1,3}[.)] )?[A-Z`'\"(]?[\w`'-]{1,40},? (?:[\w`'().,/-]{1,60} ){4}.*[\w.?!:`)]\s*$"
)
COMMAND = lazy_regex(
    r"\s{0,40}(?:\$|%|❯|PS [^>\n]{0,60}>|[\w.-]{1,30}@[\w.-]{1,40}[:~][^$#\n]{0,60}[$#]|C:\\[^>\n]{0,80}>) ?\S"
)
SESSION = lazy_regex(r"\s{0,40}(?:>>> |\.\.\. |In \[\d+\]: |irb\(.{0,40}> )")
# Languages of fences, as people write them.
CODE_LANGUAGES = frozenset(
    """c c++ caddy caddyfile cc cpp cs csharp css diff dockerfile elixir go golang graphql h hcl html ini java
    javascript jq js jsx kotlin lua makefile nginx patch perl php proto py pycon python python3 rb rs ruby rust scala
    scss sql svelte swift tf toml ts tsx typescript vue yaml yml""".split()  # noqa: SIM905
)
OUTPUT_LANGUAGES = frozenset(
    "console log logs none output plain pytb sh-session shell-session text traceback txt".split()  # noqa: SIM905
)
_LONG = 400  # characters; longer lines are rarely prose or code
_MAX_LINE_CHARACTERS = 500  # characters of a line that are read to classify it


def is_dump(line: str) -> bool:
    """Return True if a line lists versions or has no words.

    A line without words is encoded, packed or machine-written.
    """
    probe = line[:_MAX_LINE_CHARACTERS]
    if len(line) > _LONG and sum(map(probe.count, "(){}[];=:&|/\\\"'<>+-_")) * 6 > len(probe):
        return True
    return bool(VERSIONS.match(probe) or ENCODED.match(probe))


class BlockKind(Enum):
    """The kind of a block of a query."""

    PROSE = auto()
    CODE = auto()
    OUTPUT = auto()  # what a program printed: logs, results
    TRACE = auto()  # frames of a traceback, and the lines of source that it quotes
    DUMP = auto()  # versions, lists of packages, lock files, encoded data, text without words
    FORM = auto()  # text of an issue form: comments, check lists, empty answers; it is not about the query


class Section(Enum):
    """The kind of section that the heading over a block announces."""

    NONE = auto()
    EXPECTED = auto()
    STEPS = auto()
    ENVIRONMENT = auto()
    LOGS = auto()
    FORM = auto()


# Weight of a word by its section; a word of the prose weighs 1. See docs/how-it-works.md for the measurement.
KIND_WEIGHTS = {
    BlockKind.PROSE: 1.0,
    BlockKind.CODE: 0.5,
    BlockKind.OUTPUT: 0.3,
    BlockKind.TRACE: 0.1,
    BlockKind.DUMP: 0.02,
    BlockKind.FORM: 0.0,
}
SECTION_WEIGHTS = {
    Section.NONE: 1.0,
    Section.EXPECTED: 1.0,
    Section.STEPS: 1.0,
    Section.ENVIRONMENT: 0.02,
    Section.LOGS: 0.3,
    Section.FORM: 0.0,
}


class QueryBlock(NamedTuple):
    """Lines of one kind under one heading; `text` without the marks of Markdown around it."""

    kind: BlockKind
    section: Section
    text: str

    @property
    def weight(self) -> float:
        """Weight of a word of the block, in [0, 1]."""
        return KIND_WEIGHTS[self.kind] * SECTION_WEIGHTS[self.section]


class QueryText(NamedTuple):
    """Title and body of a query. `title` is the first line, empty if the text begins with a pasted block."""

    title: str
    body: tuple[QueryBlock, ...]


_COMMENT = lazy_regex(r"<!--.*?(?:-->|\Z)", re.S, needs=("<!--",))
_FENCE = lazy_regex(r"[ \t]{0,3}(?:[-*>] ?)?(`{3,}|~{3,})[ \t]*([\w+#.-]*)", needs=("```", "~~~"))
_HEADING = lazy_regex(
    r"[ \t]{0,3}#{1,6}[ \t]+(\S.{0,100})|[ \t]*\*\*([^*]{1,80})\*\*:?[ \t]*$|([A-Z][\w /'?-]{2,50}):[ \t]*$",
    needs=("#", "**", ":"),
)
_UNDERLINE = lazy_regex(r"[ \t]*(?:-{3,}|={3,})[ \t]*$")
_QUOTE = lazy_regex(r"\A[ \t]{0,3}> ?(?!>)")
_CHECK = lazy_regex(r"[ \t]*[-*+] ?\[[ xX]?\]")
_EMPTY_ANSWER = lazy_regex(r"[ \t]*(?:_?no response_?|n/?a|none|-|not applicable)\.?[ \t]*$", re.I)
_DETAILS = lazy_regex(r"</?(?:details|summary)\b[^>]{0,80}>", re.I)
_INDENTED = lazy_regex(r"(?: {4}|\t)")

_SECTIONS = (
    (
        Section.ENVIRONMENT,
        # At the beginning, or the whole of a short heading: "file system" and "versions of a schema" are subjects.
        lazy_regex(
            r"(?:(?:what|which|your|my|the|output of|additional|relevant) (?:\S+ ){0,2})?(?:environments?|env|versions?"
            r"|platform|system info(?:rmation)?|system|operating system|os|installed packages|dependencies|browsers?"
            r"|hardware|setup info)\b(?:\W*$| (?:of|are you|do you|info|information|details|number|used|and|&|/|\().*)",
            re.I,
        ),
    ),
    (
        Section.FORM,
        lazy_regex(
            r".*(?:check ?list|\bbefore (?:you )?(?:submit|open|post)|code of conduct|related issues?\b|contributing"
            r"|are you willing|is it a substantial burden|affiliation|\bai (?:usage|assistance)|type of change)"
            r"|screenshots?\b",
            re.I,
        ),
    ),
    (Section.EXPECTED, lazy_regex(r".*\b(?:expect(?:ed|ation)|should (?:have )?happen|desired)", re.I)),
    (
        Section.STEPS,
        lazy_regex(
            r".*(?:\bsteps\b|reproduc|\brepro\b|\bmcve\b|minimal (?:working )?example|code sample|how to trigger)", re.I
        ),
    ),
    (
        Section.LOGS,
        lazy_regex(
            r"(?:\S+ ){0,3}(?:logs?|output|trace ?back|stack ?trace|console)\b(?:\W*$| (?:of|from|output).*)", re.I
        ),
    ),
)
_NOT_WRITTEN = (Section.ENVIRONMENT, Section.LOGS, Section.FORM)
_MAX_HEADING_CHARACTERS = 60  # characters of a heading with such words; a longer line is a sentence

_MIN_PASTED_LINES = 3  # adjacent lines without a fence that count as pasted
_MAX_JSON_LINES = 12  # lines of an example in JSON; more are a dump
_MAX_PASTE_LINES = 60  # lines of output without a trace; more are a dump


def read_blocks(text: str) -> QueryText:
    """Return the title and the blocks of a query, in order; deterministic, linear in the text."""
    lines = _COMMENT.sub("\n", text).strip().splitlines()
    title = ""
    if lines and not (_FENCE.match(lines[0]) or TRACE.match(lines[0]) or LOG.match(lines[0])):
        title = lines.pop(0).strip()
        heading = _HEADING.match(title)
        title = (heading[1] if heading and heading[1] else title).strip()
    return QueryText(title, tuple(_blocks(lines)))


def _blocks(lines: list[str]) -> list[QueryBlock]:
    blocks: list[QueryBlock] = []
    section, hidden = Section.NONE, Section.NONE
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            blocks.append(QueryBlock(BlockKind.PROSE, hidden if section is Section.NONE else section, ""))
            at += 1
            continue
        fence = _FENCE.match(line)
        if fence:
            end = at + 1
            while end < len(lines) and not lines[end].lstrip(" \t>").startswith(fence[1]):
                end += 1
            blocks += _pasted_blocks(
                lines[at + 1 : end], fence[2].lower(), hidden if section is Section.NONE else section
            )
            at = end + 1
            continue
        if _DETAILS.search(line):
            hidden = Section.NONE if "</details" in line.lower() else Section.LOGS
            line = _DETAILS.sub(" ", line)
        heading = _heading(lines, at)
        if heading is not None:
            section = _section_of(heading) or Section.NONE
            if section is Section.NONE:
                blocks.append(QueryBlock(BlockKind.PROSE, section, heading))
            at += 1
            continue
        if _INDENTED.match(line) and line.strip() and (not at or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (_INDENTED.match(lines[end]) or not lines[end].strip()):
                end += 1
            blocks += _pasted_blocks([x[1:] if x[:1] == "\t" else x[4:] for x in lines[at:end]], "", section)
            at = end
            continue
        end = at + 1
        while end < len(lines) and lines[end].strip() and not _begins_block(lines, end):
            end += 1
        where = hidden if section is Section.NONE else section
        paragraph = [line, *(_DETAILS.sub(" ", x) for x in lines[at + 1 : end])]
        if _is_paste(paragraph):
            blocks += _pasted_blocks(paragraph, "", where, fenced=False)
        else:
            if where in _NOT_WRITTEN and any(map(SENTENCE.match, paragraph)):
                # A sentence does not answer a heading that asks for a machine, a log or a tick.
                section = where = Section.NONE
            blocks += [QueryBlock(_kind_of_line(text), where, _QUOTE.sub("", text)) for text in paragraph]
        at = end
    return _merge_blocks(blocks)


def _begins_block(lines: list[str], at: int) -> bool:
    line = lines[at]
    return bool(_FENCE.match(line) or _DETAILS.search(line)) or _heading(lines, at) is not None


def _is_paste(lines: list[str]) -> bool:
    """Return True if adjacent lines without a fence were printed or copied, not written."""
    if any(map(TRACE.match, lines)):
        return len(lines) > 1
    if len(lines) < _MIN_PASTED_LINES:
        return False
    n_sentences = sum(bool(SENTENCE.match(line)) for line in lines)
    looks = sum(bool(JSON.match(x) or STRICT_CODE.match(x) or LOG.match(x) or is_dump(x)) for x in lines)
    return looks * 10 > 6 * len(lines) and n_sentences * 4 < len(lines)


def _merge_blocks(blocks: list[QueryBlock]) -> list[QueryBlock]:
    """Merge neighboring blocks of one kind and section."""
    result: list[QueryBlock] = []
    for block in blocks:
        if result and result[-1][:2] == block[:2]:
            result[-1] = QueryBlock(block.kind, block.section, f"{result[-1].text}\n{block.text}")
        else:
            result.append(block)
    return result


def _heading(lines: list[str], at: int) -> str | None:
    line = lines[at]
    match = _HEADING.match(line)
    if match:
        text = (match[1] or match[2] or match[3]).strip(" *#:")
        # `Note:` and the like are prose; a line that ends in a colon is a heading only if a form would have it.
        return text if match[1] or _section_of(text) else None
    if line.strip() and at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]) and _section_of(line.strip()):
        return line.strip()
    return None


def _section_of(heading: str) -> Section | None:
    if len(heading) > _MAX_HEADING_CHARACTERS:
        return None
    return next((section for section, pattern in _SECTIONS if pattern.match(heading)), None)


def _kind_of_line(line: str) -> BlockKind:
    """Return the kind of a line outside of fences."""
    line = line[:_MAX_LINE_CHARACTERS]
    if not line.strip():
        return BlockKind.PROSE
    if _CHECK.match(line) or _EMPTY_ANSWER.match(line):
        return BlockKind.FORM
    if TRACE.match(line):
        return BlockKind.TRACE
    if is_dump(line):
        return BlockKind.DUMP
    if LOG.match(line):
        return BlockKind.OUTPUT
    return BlockKind.PROSE


def _pasted_blocks(lines: list[str], language: str, section: Section, *, fenced: bool = True) -> list[QueryBlock]:
    """Return the blocks of a pasted text, by its language if that is known, else by the form of its lines."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    traced = [bool(TRACE.match(line)) for line in filled]
    if any(traced) and not (language in CODE_LANGUAGES and sum(traced) * 4 < len(filled)):
        return _split_trace(lines, section, fenced)
    dumped = [line for line in filled if is_dump(line)]
    if len(dumped) * 2 > len(filled) or sum(map(len, dumped)) * 2 > sum(map(len, filled)):
        return [QueryBlock(BlockKind.DUMP, section, "\n".join(lines))]
    if language == "json" or sum(bool(JSON.match(line)) for line in filled) * 10 > 7 * len(filled):
        kind = BlockKind.DUMP if len(filled) > _MAX_JSON_LINES else BlockKind.OUTPUT
        return [QueryBlock(kind, section, "\n".join(lines))]
    if any(SESSION.match(line) or COMMAND.match(line) for line in filled):
        return _session(lines, section)
    if language in CODE_LANGUAGES:
        return [QueryBlock(BlockKind.CODE, section, "\n".join(lines))]
    logged = sum(bool(LOG.match(line)) for line in filled)
    coded = sum(bool(CODE.match(line)) for line in filled)
    if language in OUTPUT_LANGUAGES or logged * 2 > len(filled) or coded * 3 < len(filled):
        kind = BlockKind.DUMP if len(filled) > _MAX_PASTE_LINES else BlockKind.OUTPUT
        return [QueryBlock(kind, section, "\n".join(lines))]
    return [QueryBlock(BlockKind.CODE, section, "\n".join(lines))]


def _split_trace(lines: list[str], section: Section, fenced: bool) -> list[QueryBlock]:
    """Return the frames of a trace and the text around them, as separate blocks."""
    result: list[QueryBlock] = []
    kind = BlockKind.OUTPUT
    for line in lines:
        if TRACE.match(line) or (kind is BlockKind.TRACE and line[:1] in (" ", "\t", "|")):
            kind = BlockKind.TRACE
        elif not fenced and SENTENCE.match(line):
            kind = BlockKind.PROSE
        else:
            kind = BlockKind.DUMP if line.strip() and is_dump(line) else BlockKind.OUTPUT
        result.append(QueryBlock(kind, section, line))
    return result


def _session(lines: list[str], section: Section) -> list[QueryBlock]:
    """Return the typed lines as a block of code, and the printed lines as a block of output, if any."""
    typed = [line for line in lines if SESSION.match(line) or COMMAND.match(line)]
    printed = [line for line in lines if line not in typed]
    result = [QueryBlock(BlockKind.CODE, section, "\n".join(typed))]
    if any(line.strip() for line in printed):
        result.append(QueryBlock(BlockKind.OUTPUT, section, "\n".join(printed)))
    return result
