"""Text -> the things that it names outright: identifiers, `Class.method`, `a.b.c`, `from a.b import c`, paths.

Tracebacks are read in `frames`; which nodes of a repository are meant is decided in `mentions`.
"""

import re
from collections.abc import Iterator

from causalist._internal.lazy import dataclass, expression

_IDENTIFIER = expression(r"\b(?:[A-Za-z]+_\w+|_+[A-Za-z]\w*|[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w+)\b")
_CALLED = expression(r"\b([A-Za-z_]\w*)\(", needs=("(",))
_CODE_SPAN = expression(r"(?<!`)`([^`\n]{1,80})`(?!`)", needs=("`",))
_DOTTED = expression(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b", needs=(".",))
_FROM_IMPORT = expression(r"\bfrom\s+([\w.]+)\s+import\s+\(?([\w, ]+)", needs=("import",))
# 255 is the longest name of a file. Without a limit a text of hyphens would take time in the square of its length.
_PATH = expression(
    r"(?<![\w/])(?:[\w.@-]{1,255}/)+[\w.@-]{1,255}|\b[\w-]{1,255}\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|md|json|toml)\b",
    needs=("/", "."),
)
_WINDOWS = expression(
    r"(?<![\w\\])(?:[A-Za-z]:\\)?((?:[\w.@-]{1,255}\\){1,30}[\w.@-]{1,255}\.\w{1,5}\b)", needs=("\\",)
)
_LINE = expression(r"(?::|#L|\(|,? line |, L)(\d{1,7})\b")
# A page of a code host: /OWNER/NAME/blob/REVISION/PATH#L10.
_BLOB = expression(
    r"https?://[^\s/]{1,100}/[^\s/]{1,100}/[^\s/]{1,100}/(?:-/)?(?:blob|tree|raw|blame|src)/[^\s/]{1,100}/([^\s#?)\]]{1,400})(?:#L(\d{1,7}))?",
    needs=("://",),
)
_JOINED = expression(r"\b[A-Za-z_]\w*(?:(?:::|#|->)[A-Za-z_]\w*)+", needs=("::", "#", "->"))
_JS_IMPORT = expression(r"\bimport\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?\{([^{}]{1,500})\}\s*from\b", needs=("import",))
_OPTION = expression(r"(?<![\w-])--([A-Za-z][\w-]{1,60})\b", needs=("--",))
_DECORATOR = expression(r"^[^\S\n]*@([A-Za-z_]\w*)(?=\(|[^\S\n]*$)", re.M, needs=("@",))
_CODE = expression(r"\b(?:[A-Z]{1,6}-?[0-9]{2,6}|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)\b", needs=("_", *"0123456789"))
_URL = expression(r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S{1,2000}", re.IGNORECASE, needs=("://", "."))

OPTION_WEIGHT = 0.6  # of an option: what is named like it may be something else


@dataclass(frozen=True, slots=True)
class Named:
    """Something that a question names: `kind` is "symbol", "qualified", "path", or "code" (of an error or a
    setting, which stands in strings); weight in (0, 1]. `line`: of a path, 1-based, 0 for none."""

    kind: str
    text: str
    weight: float
    line: int = 0


def named_in(text: str, weight: float) -> list[Named]:
    """What `text` names, each as often as it does."""
    return [
        *_imported(text, weight),
        *_paths(text, weight),
        *_members(text, weight),
        *_options(text, weight),
        *_identifiers(text, weight),
    ]


def _imported(text: str, weight: float) -> Iterator[Named]:
    for statement in _FROM_IMPORT.finditer(text):
        for name in statement[2].split(","):
            if not name.strip():
                continue
            own = name.split()[0]
            if statement[1].strip("."):
                yield Named("qualified", f"{statement[1]}.{own}", weight)
            else:  # `from . import name` does not say where
                yield Named("symbol", own, weight)
    for statement in _JS_IMPORT.finditer(text):
        for name in statement[1].split(","):
            own = re.match(r"\s*(?:type )?([A-Za-z_$][\w$]*)", name)
            if own:
                yield Named("symbol", own[1], weight)


def _paths(text: str, weight: float) -> Iterator[Named]:
    for page in _BLOB.finditer(text):
        yield Named("path", page[1], weight, int(page[2] or 0))
    plain = _WINDOWS.sub(lambda found: found[1].replace("\\", "/"), _URL.sub(" ", text))
    for path in _PATH.finditer(plain):
        if "/" not in plain[max(path.start() - 2, 0) : path.start()]:
            at = _LINE.match(plain, path.end())
            yield Named("path", path[0].strip("./"), weight, int(at[1]) if at else 0)


def _members(text: str, weight: float) -> Iterator[Named]:
    for dotted in _DOTTED.finditer(text):
        yield Named("qualified", dotted[0], weight)
    for joined in _JOINED.finditer(text):
        yield Named("qualified", re.sub(r"::|#|->", ".", joined[0]), weight)


def _options(text: str, weight: float) -> Iterator[Named]:
    """`--max-retries` is `max_retries` and `maxRetries` in code. Codes stand in strings."""
    for option in _OPTION.finditer(text):
        name = option[1].lower()
        yield Named("symbol", name.replace("-", "_"), weight * OPTION_WEIGHT)
        if "-" in name:
            yield Named("symbol", name.replace("-", ""), weight * OPTION_WEIGHT)
    for code in _CODE.finditer(text):
        yield Named("code", code[0], weight)


def _identifiers(text: str, weight: float) -> Iterator[Named]:
    for span in _CODE_SPAN.finditer(text):
        name = span[1].strip().rstrip("()").lstrip("@$")
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            yield Named("symbol", name, weight)
    for form in (_IDENTIFIER, _CALLED, _DECORATOR):
        for matched in form.finditer(text):
            yield Named("symbol", matched[matched.re.groups], weight)
