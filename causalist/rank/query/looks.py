"""How a line of a question looks: printed by a program, copied from code, or written.

Each expression is tried at the beginning of a line. All are bounded, so that no line takes more than time in proportion
to its length.
"""

from causalist._internal.lazy import expression

TRACE = expression(
    r"\s{0,40}(?:[|+] ?-*\s{0,40})?(?:Traceback \(most recent call last\)|File \"[^\"]+\", line \d+|[~^]{1,300}\s*$"
    r"|at (?:async |new )?[^\s()].{0,300}[:(]\w.*\)?\s*$|\.\.\. \d+ (?:more|common frames)"
    r"|(?:Caused by|Suppressed): \S|Exception in thread \"|goroutine \d+ \[|created by \S+|(?:panic|fatal error): "
    r"|thread '[^']*' (?:\(\d+\) )?panicked at|stack backtrace:"
    r"|\d{1,3}: +(?:0x[\da-f]+ - )?[\w<{][\w:<>{}$ &*,\[\]]*$"
    r"|#\d+ +(?:0x[\da-f]+ in )?\S.{0,300}[:(]\d+\b|#\d+ \{main\}|Stack trace:\s*$|\[previous exception\]"
    r"|PHP (?:Fatal|Parse|Warning|Notice)|The above exception was the direct|During handling of the above exception"
    r"|\S{1,300}\.go:\d+(?: \+0x[\da-f]+)?\s*$|(?:from )?\S{1,300}\.rb:\d+:in "
    r"|[\w.$<>/*]{0,100}@(?:https?|file|webpack|/)\S+:\d+:\d+)",
    needs=(*':("~^[#', "...", "created by", "panicked", "PHP ", "The above", "During"),
)
LOG = expression(
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
VERSIONS = expression(
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
ENCODED = expression(
    r"\s{0,40}(?:[\da-fA-F]{7,16}[: ]\s{0,4}(?:[\da-fA-F]{2,4}\s{1,3}){4}|[A-Za-z0-9+/=_-]{64,}\s*$"
    r"|\"?(?:integrity|resolved|checksum|hash|content-hash|hashes)\"?\s{0,4}[:= ]"
    r"|.{0,200}\bsha(?:256|512|1)[:=-][\w+/=]{20,})"
)
JSON = expression(r"\s{0,80}(?:[{}\[\]],?|\"[^\"]{0,80}\"\s{0,4}:.*|\"[^\"]*\",?|-?[\d.]+,?|[}\]]+,?)\s*$")
CODE = expression(
    r"\s{0,80}(?:(?:import|from|def|class|func|fn|function|const|let|var|return|if|for|while|try|except|catch|with|async"
    r"|await|package|use|using|pub|impl|struct|public|private|static|require|include|echo|print|export|new|raise|throw"
    r"|assert|type|interface|enum|match|@\w+)\b.*[\w)\]};:,'\"{]\s*$"
    r"|.*[;{}]\s*$|[\w.\[\]$'\"]{1,80} ?(?:=|:=|\+=|=>) ?\S|[\w.$:>-]{1,80}\(.*\)?[;,:]?\s*$|>>> |\.\.\. "
    r"|[+-]{1,3} ?\S.*[;{})]\s*$|#include|<\?php|</?\w+[^>]*>\s*$|(?://|#|/\*) )"
)
# Without a fence around it, a line has to look more like code to be taken for it.
STRICT_CODE = expression(
    r"\s{0,80}(?:.*[;{}\[(,]\s*$|[)}\]]+[;,)]*\s*$|[\w.$]{1,60} ?(?:=|:=|\+=|=>) ?\S"
    r"|(?:import|from|def|class|func|fn|const|let|var|return|use|require|@\w+)\b.*[)\]};:,'\"\w]\s*$"
    r"|[\w.$:>-]{1,80}\(.*\)[;,:]?\s*$|(?://|#|/\*) )"
)
SENTENCE = expression(
    r"\s{0,40}(?:[-*+] |\d{1,3}[.)] )?[A-Z`'\"(]?[\w`'-]{1,40},? (?:[\w`'().,/-]{1,60} ){4}.*[\w.?!:`)]\s*$"
)
COMMAND = expression(
    r"\s{0,40}(?:\$|%|❯|PS [^>\n]{0,60}>|[\w.-]{1,30}@[\w.-]{1,40}[:~][^$#\n]{0,60}[$#]|C:\\[^>\n]{0,80}>) ?\S"
)
SESSION = expression(r"\s{0,40}(?:>>> |\.\.\. |In \[\d+\]: |irb\(.{0,40}> )")
# Languages of fences, as people write them.
CODE_LANGUAGES = frozenset(
    """c c++ caddy caddyfile cc cpp cs csharp css diff dockerfile elixir go golang graphql h hcl html ini java
    javascript jq js jsx kotlin lua makefile nginx patch perl php proto py pycon python python3 rb rs ruby rust scala
    scss sql svelte swift tf toml ts tsx typescript vue yaml yml""".split()  # noqa: SIM905
)
OUTPUT_LANGUAGES = frozenset(
    "console log logs none output plain pytb sh-session shell-session text traceback txt".split()  # noqa: SIM905
)
_LONG = 400  # characters, from where a line is hardly ever written or code
_MOST_LOOKED_AT = 500  # characters of a line that decide what it is


def is_dump(line: str) -> bool:
    """Whether a line tells versions, or has no words: encoded, packed or machine-written."""
    probe = line[:_MOST_LOOKED_AT]
    if len(line) > _LONG and sum(map(probe.count, "(){}[];=:&|/\\\"'<>+-_")) * 6 > len(probe):
        return True
    return bool(VERSIONS.match(probe) or ENCODED.match(probe))
