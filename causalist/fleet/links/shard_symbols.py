"""The symbol tables of an indexed repository, opened again to ask what its names mean.

In: an index and a reader of its files. Out: `ShardProgram`, which knows the node of each file and definition, the
meaning of exported names and the files that imports lead to. Bodies are read a few files at a time. `TextValues` are
the texts that the expressions of a file put together, such as the address of a request.
"""

import posixpath
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from causalist.graph import Linker, needs_bodies
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.node_and_edge_arrays import NodeDrafts
from causalist.graph.program import Program
from causalist.graph.resolution_results import Resolution, ResolutionKind
from causalist.index.collect import collect_facts
from causalist.index.freshness import aside_of
from causalist.index.options import IndexOptions
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind, RouteForm
from causalist.model.index import Index
from causalist.model.language_settings import ModuleSystem
from causalist.model.node_ids import file_id
from causalist.model.source import FileEntry, SourceFile
from causalist.parse import load_settings
from causalist.store import FactsCache

Read = Callable[[FileEntry], SourceFile | str]
_FILES_AT_ONCE = 400  # of which bodies are in memory

PYPI, NPM, GO, JVM, DOTNET, PHP, CARGO, RUBY = "pypi", "npm", "go", "jvm", "dotnet", "php", "cargo", "ruby"
_ECOSYSTEMS = {
    "python": PYPI, "javascript": NPM, "typescript": NPM, "tsx": NPM, "go": GO, "java": JVM, "kotlin": JVM,
    "scala": JVM, "csharp": DOTNET, "php": PHP, "rust": CARGO, "ruby": RUBY,
}  # fmt: skip


@dataclass(slots=True)
class ShardProgram:
    """Symbol tables of a repository. Files and definitions have the numbers of `Program`."""

    program: Program
    drafts: NodeDrafts
    files: Mapping[str, int]  # path -> number
    entries: tuple[FileEntry, ...]
    folders: frozenset[str]  # those with files of Python in them
    constants: frozenset[str]  # names of Ruby that the repository defines at the top
    _collect: Callable[[list[FileEntry], bool], dict[str, FileFacts]]

    @classmethod
    def open(cls, index: Index, read: Read, cache: FactsCache) -> "ShardProgram":
        """Open the tables of an index; facts that the cache does not have are parsed again."""
        manifest = index.manifest
        paths, blobs, unfit, sizes = list(manifest.paths), list(manifest.blobs), list(manifest.unfit), manifest.sizes
        blob_by_path = {path: blob for path, blob in zip(paths, blobs, strict=True) if blob}
        aside = aside_of(index)
        kinds = {path: aside.get(path, "") for path in blob_by_path}
        fit = [i for i, why in enumerate(unfit) if not why and paths[i] in blob_by_path]
        entries = [FileEntry(paths[i], int(sizes[i]), 0) for i in fit]
        options = IndexOptions(processes=1)

        def collect(some: list[FileEntry], bodies: bool) -> dict[str, FileFacts]:
            wanted = None if bodies else ()
            return collect_facts(some, blob_by_path, read, cache, options, kinds=kinds, words=(), bodies=wanted)[0]

        facts, settings = collect(entries, False), load_settings()
        needed = [
            each for each in entries if each.path in facts and needs_bodies(each.path, facts[each.path], settings)
        ]
        facts.update(collect(needed, True) if needed else {})
        files = [(each.path, facts[each.path]) for each in entries if each.path in facts]
        linker = Linker.from_files(files, settings)
        numbers = {path: number for number, (path, _) in enumerate(files)}
        ruby = (each for _, each in files if each.language == RUBY)
        constants = frozenset(d.name for each in ruby for d in each.definitions if d.parent == MODULE_SCOPE)
        entries = [each for each in entries if each.path in facts]
        folders = _folders_of(path for path, each in files if each.language == "python")
        return cls(linker.program, linker.drafts, numbers, tuple(entries), folders, constants, collect)

    def ecosystem(self, file: int) -> str:
        """Return the ecosystem of the language of a file, "" for others."""
        return _ECOSYSTEMS.get(self.program.files[file].facts.language, "")

    def file_node(self, file: int) -> str:
        """Return the node of a file."""
        return str(self.drafts[file].id)

    def definition_node(self, definition: int) -> str:
        """Return the node of a definition."""
        return str(self.drafts[self.drafts.of_definition(definition)].id)

    def scope_node(self, file: int, scope: int) -> str:
        """Return the node of a scope of a file."""
        return self.file_node(file) if scope < 0 else self.definition_node(self.program.files[file].first + scope)

    def with_bodies(self) -> Iterator[tuple[int, FileSymbols]]:
        """Yield each file with its symbols, whose facts have their bodies until the next one is asked for."""
        entries = [each for each in self.entries if self.ecosystem(self.files[each.path])]
        for first in range(0, len(entries), _FILES_AT_ONCE):
            some = entries[first : first + _FILES_AT_ONCE]
            facts = self._collect(some, True)
            for each in some:
                number = self.files[each.path]
                symbols = self.program.files[number]
                with symbols.use_facts(facts.pop(each.path, symbols.facts)):
                    yield number, symbols

    def is_internal(self, file: int, entry: Import) -> bool:
        """Return True if an import leads to a file of the repository."""
        symbols, program = self.program.files[file], self.program
        settings = symbols.settings
        if settings is None or entry.level or entry.module.startswith("."):
            return True
        if settings.modules.system is ModuleSystem.DECLARED:
            return program.declared.find_imported_files(settings.family, entry, symbols.path, frozenset()) is not None
        if program.tree_paths.tree.has_file(file):
            return not program.tree_paths.find_target(file, entry)[2]
        if program.target_module(file, entry)[0] >= 0:
            return True
        if self.ecosystem(file) == PYPI and self._is_beside(symbols.path, entry.module.partition(".")[0]):
            return True
        if entry.kind in (ImportKind.NAME, ImportKind.REEXPORT) and settings.modules.system is ModuleSystem.DOTTED:
            submodule = program.modules.find_namespace_submodule(
                symbols.path, entry.module, entry.level, entry.name, settings.modules
            )
            return submodule >= 0
        return False

    def _is_beside(self, path: str, top: str) -> bool:
        """Return True if a run of a Python file finds a folder or file of that name first."""
        folder = path.rpartition("/")[0]
        places = {"", "src/", "lib/", "python/"}
        if f"{folder}/__init__.py" not in self.files:
            places.add(f"{folder}/" if folder else "")
        return any(f"{place}{top}" in self.folders or f"{place}{top}.py" in self.files for place in places)

    def node_of(self, resolution: Resolution | None) -> str:
        """Return the node of a meaning, "" if it is none of the repository."""
        if resolution is None or resolution.number < 0:
            return ""
        if resolution.kind is ResolutionKind.DEFINITION:
            return self.definition_node(resolution.number)
        return self.file_node(resolution.number) if resolution.kind is ResolutionKind.MODULE else ""

    def visible_names(self, file: int, seen: frozenset[int] = frozenset()) -> dict[str, None]:
        """Return the names that importers of a file may see, those of its wildcards of this repository included."""
        symbols = self.program.files[file]
        names: dict[str, None] = dict.fromkeys(symbols.exports)
        facts = symbols.facts
        names.update(dict.fromkeys(each.qualname for each in facts.definitions if each.parent == MODULE_SCOPE))
        names.update(dict.fromkeys(symbols.reexports))
        if symbols.has_visible_imports and self.ecosystem(file) == PYPI:
            names.update(dict.fromkeys(symbols.imports.get(MODULE_SCOPE, {})))
        for star in symbols.stars:
            target, _ = self.program.target_module(file, star)
            if target >= 0 and target != file and target not in seen and not symbols.has_folder_imports:
                more = self.visible_names(target, seen | {file})
                listed = self.program.files[target].facts.wildcard_exports
                if star.kind == ImportKind.STAR:
                    more = dict.fromkeys(n for n in more if (n in listed if listed is not None else n[:1] != "_"))
                names.update(more)
        return names


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders that paths are in, and those around them.

    >>> sorted(_folders_of(["a/b/c.py", "d.py"]))
    ['a', 'a/b']
    """
    folders: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    return frozenset(folders)


# -- texts that are put together

_REGISTERING = {
    RouteForm.ROUTE, RouteForm.PREFIX, RouteForm.MOUNT, RouteForm.MOUNT_AT, RouteForm.INHERITED, RouteForm.NAMESPACE,
    RouteForm.DECLARED, RouteForm.DECLARED_AT,
}  # fmt: skip
LITERAL = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
IS_HOST = re.compile(r"host|url|uri|base|endpoint|addr|server|domain", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}|\$\{[^{}]*\{[^{}]*\}[^{}]*\}|#\{[^{}]*\}|\{[^{}]*\}|%[sdvi]|\$\w+")
_MIN_NAME = 6  # letters of a name that other files of a repository know
_GENERIC = {
    "baseurl", "base_url", "basepath", "base_path", "endpoint", "endpoints", "address", "hostname", "server", "servers",
    "apiurl", "api_url", "apiurlbase",
}  # fmt: skip
_MAX_STEPS = 3  # from a variable to what it is set to
_MAX_EXPRESSION = 400
MAX_BYTES = 400_000  # of a file that is searched for requests, settings and names
_MAX_LINE = 2000  # characters in which the beginning of a line is looked for
COMMENT = re.compile(r"\s*(?://|#|\*|/\*)")
_EXPRESSION_TOKEN = re.compile(
    rf"(?P<literal>{LITERAL})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<end>[,;\n])|[^\"'`()\[\]{{}},;\n+|?. ]+|.",
    re.DOTALL,
)
CHAIN = r"\$?[A-Za-z_][\w$]*(?:(?:\.|->|\?\.)[A-Za-z_]\w*)*(?:\[\s*[\"']\w+[\"']\s*\])?"
_SET = re.compile(
    rf"(?<![\w$.>\"'\]-])(?P<name>{CHAIN})\s*(?::\s*[\w.<>\[\]|?]{{1,40}}\s*)?:?=(?![=>~])\s*(?=[\w\"'`$@(])"
    r"|(?<![\w$.])(?P<key>[A-Za-z_]\w*)[\"']?\s*:\s*(?=[\"'`](?:https?://|\$\{|/)|process\.env\.|util\.format\()"
)
_INJECTED = re.compile(
    r"@Value\(\s*\"(?P<value>[^\"\n]*)\"\s*\)\s*(?:(?:private|final|public|protected)\s+)*String\s+(?P<name>\w+)"
)
_ONE_LITERAL = re.compile(rf"(?:[fFrRbBuUs]{{1,2}}|[$@]{{1,2}})?({LITERAL})")
_CALLED = re.compile(r"(?:\.format(?:ted)?\s*\(|%\s*\(?)\s*(.*?)\)?$", re.DOTALL)
_SETTING = re.compile(
    r"(?:(?:os\.)?(?:environ(?:\.get)?|getenv|Getenv|LookupEnv)|ENV(?:\.fetch)?|\$_ENV|(?:System\.)?getenv(?:\(\))?(?:\.getOrDefault)?"
    r"|(?:std::)?env::var|(?:System\.)?Environment\.GetEnvironmentVariable|\w*[eE]nv\w*)\s*[(\[]\s*[\"'](\w+)[\"']"
    r"\s*(?:,\s*(?P<default>[^\s)\]][^)\]]*))?[)\]][\s\S]*$"
    r"|(?:process\.env|import\.meta\.env)\.(\w+)!?$|(?:process\.env)\[[\"'](\w+)[\"']\]$|(?:\w+\.)*[cC]onfig\w*\.get\w*\([\"'](\S+?)[\"']\)$",
    re.DOTALL,
)
# Calls whose value is the text that they are given.
WRAPPER = (
    r"(?:new\s+)?(?:[\w:]+\.)*(?:s?printf|Sprintf|format!?|Format|URL|URI|Uri|url|uri|create|[pP]arse|str|String|urljoin|fromUriString"
    r"|fromHttpUrl|trim|rstrip|\w*[cC]ombine\w*)"
)
_WRAPPING = re.compile(rf"({WRAPPER})\s*\((.*)$", re.DOTALL)


class FilePlace:
    """A file, and the nodes of its rows."""

    def __init__(self, program: ShardProgram, path: str, number: int | None) -> None:
        self._program, self.number, self.path = program, number, path
        self.node = str(file_id(path))

    @property
    def is_code(self) -> bool:
        """True for a file of a programming language."""
        return self.number is not None and bool(self._program.program.files[self.number].facts.language)

    def at(self, row: int) -> str:
        """Return the node of the innermost definition around a row."""
        if self.number is None:
            return self.node
        symbols = self._program.program.files[self.number]
        around = [i for i, d in enumerate(symbols.facts.definitions) if d.start_row <= row <= d.end_row]
        return self._program.scope_node(self.number, around[-1]) if around else self.node

    def route_rows(self) -> frozenset[int]:
        """Return the rows in which routes are registered."""
        if self.number is None:
            return frozenset()
        facts = self._program.program.files[self.number].facts
        return frozenset(each.row for each in facts.routes if each.form in _REGISTERING)


class TextValue(NamedTuple):
    """A text with `{}` for what is not known, the names of variables in it, and rows where what is in it is set."""

    text: str
    names: tuple[str, ...] = ()
    rows: frozenset[int] = frozenset()


def join_texts(made: TextValue, part: TextValue) -> TextValue:
    """Return the sum of two texts. Names in a path are those of its parameters and tell nothing of the host.

    >>> join_texts(TextValue("{}", ("cart_url",)), TextValue("items/"))
    TextValue(text='{}/items/', names=('cart_url',), rows=frozenset())
    """
    text = part.text
    if made.text.endswith("/") and "://" in text:
        text = text.partition("://")[2]
    elif made.text == "{}" and made.names and IS_HOST.search(made.names[-1]) and text[:1] not in ("/", ":", "", "{"):
        text = "/" + text  # which the name of the host has at its end
    is_behind = "/" in made.text.partition("://")[2 if "://" in made.text else 0]
    joined = re.sub(r"(?:\{\}){2,}", "{}", made.text + text)
    return TextValue(joined, made.names if is_behind else made.names + part.names, made.rows | part.rows)


class TextValues:
    """The texts of expressions of a file: sums and templates of literals, of its variables, and of settings."""

    def __init__(self, place: FilePlace, text: str, settings: Mapping[str, TextValue]) -> None:
        self._place, self._settings, self.text = place, settings, text
        self._starts = array("q", [0, *(at + 1 for at in _find_all(text, "\n"))])
        self.used: set[int] = set()  # rows that a request gets its text from
        self.used_settings: set[str] = set()
        self._set: dict[str, list[tuple[int, str, bool]]] = {}
        for match in _SET.finditer(text):
            name = match["name"] or match["key"]
            written = match[0].partition("=")[0].split(":")[0].strip()
            is_member = bool(match["key"]) or not re.fullmatch(r"\$?\w+", written)
            if not _may_be_address(text[match.end() : match.end() + _MAX_EXPRESSION].partition(";")[0]):
                continue
            if _may_be_address(expression := expression_at(text, match.end())):
                place_of = (self.row_of(match.start()), expression, is_member)
                self._set.setdefault(_last_name(name), []).append(place_of)
        for match in _INJECTED.finditer(text):
            row = self.row_of(match.start())
            self._set.setdefault(match["name"], []).append((row, f'"{match["value"]}"', True))

    def row_of(self, at: int) -> int:
        """Return the row of an offset."""
        return bisect_right(self._starts, at) - 1

    def is_comment(self, at: int) -> bool:
        """Return True if the line of an offset begins as a comment."""
        text = self.text[max(0, at - _MAX_LINE) : at]
        start = max(text.rfind("\n"), text.rfind("\r"))
        return (start >= 0 or at <= _MAX_LINE) and bool(COMMENT.match(text[start + 1 :] + self.text[at : at + 3]))

    def value(self, expression: str, row: int) -> TextValue:
        """Return the value of an expression in a row; rows that it comes from are marked as used."""
        return self._read(expression, row, 0)

    def _read(self, expression: str, row: int, depth: int) -> TextValue:
        expression = expression.strip()
        choices = split_at(expression, ("||", "??", "?:", " or "))
        if len(choices) > 1:
            read = [self._read(each, row, depth) for each in choices]
            best = next((each for each in reversed(read) if each.text.strip("{}")), read[0])
            return best._replace(names=tuple(dict.fromkeys(name for each in read for name in each.names)))
        parts = split_at(expression, ("+", " . ", "."))
        made = TextValue("")
        for part in parts:
            made = join_texts(
                made, self._read_part(part.strip(), row, depth, is_first=made.text in ("", "http://", "https://"))
            )
        return made

    def _read_part(self, part: str, row: int, depth: int, *, is_first: bool) -> TextValue:
        literal = _ONE_LITERAL.match(part)
        if literal is not None:
            rest = part[literal.end() :].lstrip()
            called = _CALLED.match(rest) if rest.startswith((".format", "%")) else None
            return self._template(literal[1][1:-1], split_at(called[1], (",",)) if called else [], row, depth)
        if (setting := _SETTING.match(part)) is not None:
            name = next(filter(None, (setting[1], *setting.groups()[2:])))
            return self._setting(name, setting["default"] or "", row, depth)
        if (call := _WRAPPING.match(part)) is not None:
            given = [each.strip() for each in split_at(call[2].rstrip().removesuffix(")"), (",",))]
            first = _ONE_LITERAL.match(given[0]) if given else None
            if re.search(r"(?i)format|printf", call[1]) and first is not None:
                return self._template(first[1][1:-1], given[1:], row, depth)
            given = given[::-1] if call[1].endswith("URL") else given
            made = TextValue("")
            for each in given[:2]:
                read = self._read(each, row, depth)
                if (
                    made.text
                    and re.search("(?i)combine|join", call[1])
                    and not (made.text + read.text[:1]).count("/", len(made.text) - 1)
                ):
                    read = read._replace(text=f"/{read.text}")
                made = join_texts(made, read)
            return made
        key = re.search(r"\[\s*[\"'](\w+)[\"']\s*\]$", part)
        name = key[1] if key else re.sub(r"\(.*", "", part, flags=re.DOTALL)
        last = _last_name(name)
        if depth < _MAX_STEPS and is_first and "(" not in part and (found := self._find(last, row, depth)) is not None:
            at, expression = found
            value = self._read(expression, at, depth + 1)
            if "/" in value.text or ":" in value.text or value.names:
                self.used.add(at)
                return TextValue(value.text, (*value.names, last), value.rows | {at})
        if is_first and last in self._settings:
            return self._of_setting(last)
        return TextValue("{}", tuple(each for each in (last,) if re.fullmatch(r"[A-Za-z_]\w*", each)))

    def _template(self, text: str, given: list[str], row: int, depth: int) -> TextValue:
        """Return the value of a literal with placeholders, of which those without a name stand for `given` in turn."""
        made, end = TextValue(""), 0
        for match in _PLACEHOLDER.finditer(text):
            made = join_texts(made, TextValue(text[end : match.start()])) if match.start() > end else made
            end = match.end()
            inner = match[0].lstrip("$#").strip("{}") if match[0][0] != "%" else ""
            is_first = made.text in ("", "http://", "https://")
            if re.fullmatch(r"\d*", inner):
                inner = given.pop(0) if given else ""
            if match[0].startswith("${") and re.match(r"[\w.-]+:(?!:)", inner):  # a property, and its default
                inner, _, default = inner.partition(":")
                part = self._setting(inner, f"'{default}'" if default else "", row, depth)
            elif is_first or not inner:
                part = self._read(inner, row, depth) if inner else TextValue("{}")
            else:
                part = TextValue("{}", tuple(re.findall(r"[A-Za-z_]\w+", inner)))
            made = join_texts(made, part)
        return join_texts(made, TextValue(text[end:])) if end < len(text) else made

    def _setting(self, key: str, default: str, row: int, depth: int) -> TextValue:
        names = (key,)
        if key in self._settings:
            return self._of_setting(key)
        if default and depth < _MAX_STEPS:
            value = self._read(default, row, depth + 1)
            return value._replace(names=(*value.names, *names)) if value.text else TextValue("{}", names)
        return TextValue("{}", names)

    def _of_setting(self, key: str) -> TextValue:
        self.used_settings.add(key)
        value = self._settings[key]
        return TextValue(value.text, (*value.names, key), frozenset((-1,)))

    def addresses(self) -> Iterator[tuple[str, TextValue, int]]:
        """Yield (name, value, row) of what files of the repository may use that see this one."""
        for name, places in self._set.items():
            if len(name) >= _MIN_NAME and IS_HOST.search(name) and name.lower() not in _GENERIC and len(places) == 1:
                row, expression, is_member = places[0]
                value = self._read(expression, row, 1)
                if value.text.startswith(("http", "/")) and (is_member or "::" not in self._place.at(row)):
                    yield name, value._replace(rows=frozenset()), row
        self.used.clear()  # by this alone, nothing is asked
        self.used_settings.clear()

    def _find(self, name: str, row: int, depth: int) -> tuple[int, str] | None:
        """Return (row, expression) of where a name is set that a row sees, the last before it first."""
        places = self._set.get(name)
        if not places:
            return None
        node = ""
        for at, expression, is_member in sorted(places, key=lambda place: (place[0] > row, abs(row - place[0]))):
            if (at == row and depth) or expression.strip() == name:
                continue
            node = node or self._place.at(row)
            if is_member or _is_around(self._place.at(at), node, name):
                return at, expression
        return None


def _is_around(outer: str, inner: str, name: str) -> bool:
    """Return True if what is set in one node is seen in another; a node of the name itself is what it is set to."""
    return (
        inner == outer
        or inner.startswith(f"{outer}.")
        or "::" not in outer
        or outer.endswith((f"::{name}", f".{name}"))
    )


def _find_all(text: str, what: str) -> Iterator[int]:
    at = text.find(what)
    while at >= 0:
        yield at
        at = text.find(what, at + 1)


def _last_name(chain: str) -> str:
    """Return the last name of a chain.

    >>> [_last_name(each) for each in ("self.base_url", "$this->cartUrl", 'app.config["CART_URI"]')]
    ['base_url', 'cartUrl', 'CART_URI']
    """
    names = re.findall(r"\w+", chain)
    return names[-1] if names else ""


def _may_be_address(expression: str) -> bool:
    return bool(re.search(r"[\"'`][^\"'`]*/|https?:|env|Env|ENV|[Cc]onfig|\{", expression))


def expression_at(text: str, at: int) -> str:
    r"""Return the expression of a text that begins at an offset.

    >>> expression_at("x = 'a/' + f(b, c), d", 4), expression_at("f('a' +\n  b)", 2)
    ("'a/' + f(b, c)", "'a' +\n  b")
    """
    depth, limit = 0, min(len(text), at + _MAX_EXPRESSION)
    place = at
    while place < limit:
        token = _EXPRESSION_TOKEN.match(text, place)
        if token is None:
            break
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
            if depth < 0:
                break
        elif token["end"] and not depth:
            before = text[at:place].rstrip()[-1:]
            after = text[token.end() : token.end() + 80].lstrip()[:2]
            if token["end"] != "\n" or not (
                before in ("+", "=", "|", "?", "", ".", "%") or after[:1] in ("+", ".") or after in ("||", "??")
            ):
                break
        place = token.end()
    return text[at:place]


def split_at(expression: str, operators: tuple[str, ...]) -> list[str]:
    """Return the parts of an expression between operators that are outside of brackets and literals.

    >>> split_at("a + f(b + 'x+y')", ("+",)), split_at("u ?: 'd'", ("||", "?:"))
    (['a ', " f(b + 'x+y')"], ['u ', " 'd'"])
    """
    parts, depth, start, place = [], 0, 0, 0
    while place < len(expression):
        token = _EXPRESSION_TOKEN.match(expression, place)
        if token is None:
            break
        if token["open"] or token["close"]:
            depth += 1 if token["open"] else -1
        elif not depth and not token["literal"]:
            operator = next((each for each in operators if expression.startswith(each, place)), "")
            if operator == "." and not (place and re.match(r"\.\s*[\"'$]", expression[place : place + 9])):
                operator = ""
            if operator:
                parts.append(expression[start:place])
                start = place = place + len(operator)
                continue
        place = token.end()
    return [*parts, expression[start:]]


# -- settings and gateways

_HOST_OF = re.compile(
    r"(?:(?P<scheme>[a-z+]+)://)?(?P<host>[A-Za-z][\w.-]*|\$\{?\w+\}?)(?P<port>:\d+)?(?P<path>/[\w./-]*)?"
)
_LOCAL = ("localhost", "127.", "0.0.0.0", "example.")
_YAML_LINE = re.compile(r"^(\s*)(-\s+)?([\w.-]+)\s*:(?:\s+[\"']?([^\s\"'#]+))?")
_ENV_LINE = re.compile(r"^\s*(?:-\s+|ENV\s+|ARG\s+|export\s+)?[\"']?([A-Za-z][\w.]*)\s*=\s*[\"']?([^\s\"'#]+)")
_JSON_LINE = re.compile(r"\"(\w+)\"\s*:\s*\"([^\s\"]+)\"")
_HOST_OPTION = re.compile(r"\blocust\b[^\n]*?(?:--host|-H)[ =]+[\"']*([^\s\"']+)|\bLOCUST_HOST[=:]\s*[\"']?([^\s\"']+)")
LOAD_HOST = "locust --host"  # a setting of its own
# Where a path begins that is passed on, and the host behind it: Ingress, HTTPRoute, zuul, Envoy; Spring Cloud Gateway;
# nginx; proxies of development; YARP. A name alone is a host only of a service: probes and patches have paths, too.
_FORWARDED = (
    re.compile(
        r"\b(?:path|prefix|value)[\"']?\s*:\s*[\"']?(?P<path>/[\w./-]*?)/?(?:\*+|\(\S*)?[\"']?\s*\}?[ \t]*\r?\n"
        r"(?:[^\n]*\n){0,7}?[^\n]*?\b(?:(?:serviceId|serviceName|cluster|host|url)"
        r"|(?:service\s*:|backendRefs\s*:\s*-)\s*\{?\s*name)\s*:\s*[\"']?(?:\w+://)?(?P<host>[\w.-]+)"
    ),
    re.compile(r"\buri:\s*\w+://(?P<host>[\w.-]+)[^\n]*\n(?:[^\n]*\n){0,4}?[^\n]*\bPath=(?P<path>/[\w./-]*?)/?\*"),
    re.compile(r"\blocation\s+[=~^* ]*(?P<path>/[^\s{(]*)[^\n{]*\{[^{}]*?\bproxy_pass\s+https?://(?P<host>\$?\{?[\w.-]+)"),
    re.compile(r"[\"'](?P<path>/[\w/-]+)[\"']\s*[:,]\s*[^;]{0,80}?\btarget\s*:\s*[\"'`]https?://(?P<host>[\w.-]+)"),
    re.compile(r"\"ClusterId\"\s*:\s*\"(?P<host>[\w.-]+)\"[^}]*?\"Path\"\s*:\s*\"(?P<path>/[\w/-]*)"),
    re.compile(r"\"Path\"\s*:\s*\"(?P<path>/[\w/-]*)[^\"\n]*\"[^{}]*\}[^{}]*?\"ClusterId\"\s*:\s*\"(?P<host>[\w.-]+)\""),
)  # fmt: skip


class SettingRow(NamedTuple):
    """A setting with the host that it names, or the beginning of paths that a gateway passes on to a host."""

    name: str
    host: str
    row: int
    is_gateway: bool


def read_settings(path: str, read: Callable[[str], str], settings: dict[str, TextValue]) -> Iterator[SettingRow]:
    """Yield the addresses and gateways of a file of settings, and add its addresses to `settings`, "" for several."""
    base = posixpath.basename(path).lower()
    is_yaml, is_docker = base.endswith((".yml", ".yaml")), "dockerfile" in base
    is_proxy = base.endswith((".conf", ".template")) or re.search(
        r"^(?:vite|vue|webpack|next|setupproxy|proxy)[\w.]*\.[jt]s", base
    )
    is_setting = base.startswith((".env", "appsettings")) or base.endswith((".properties", ".env", ".sh"))
    if not (is_yaml or is_docker or is_proxy or is_setting):
        return
    text = read(path)
    if len(text) > MAX_BYTES:
        return
    for match in _HOST_OPTION.finditer(text) if is_docker or is_yaml or base.endswith(".sh") else ():
        settings.setdefault(LOAD_HOST, TextValue(match[1] or match[2]))
    for key, value, row in settings_of(text, is_yaml=is_yaml, is_json=base.endswith(".json")) if not is_proxy else ():
        parts = _HOST_OF.fullmatch(value)
        if parts is None or not (parts["scheme"] or parts["port"]) or parts["host"].startswith(_LOCAL):
            continue
        whole = value if parts["scheme"] else f"http://{value}"
        settings[key] = TextValue(whole if settings.get(key, TextValue(whole)).text == whole else "")
        if re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", key):
            yield SettingRow(key, parts["host"], row, False)
    for form in _FORWARDED if is_yaml or is_proxy or base.endswith(".json") else ():
        for match in form.finditer(text):
            yield SettingRow(match["path"], match["host"], text.count("\n", 0, match.start()), True)


def settings_of(text: str, *, is_yaml: bool, is_json: bool) -> Iterator[tuple[str, str, int]]:
    """Yield (key, value, row) of the settings in a text; keys of YAML with those around them, and as they are."""
    around: list[tuple[int, str]] = []
    name = ""
    for row, line in enumerate(text.splitlines()):
        match = _JSON_LINE.search(line) if is_json else _ENV_LINE.match(line)
        if match is not None:
            yield match[1], match[2], row
        elif is_yaml and (match := _YAML_LINE.match(line[:300])) is not None:
            indent = len(match[1]) + len(match[2] or "")
            while around and around[-1][0] >= indent:
                around.pop()
            around.append((indent, match[3]))
            if match[4] is None:
                continue
            if match[3] == "name":
                name = match[4]
            elif match[3] == "value":
                yield name, match[4], row
            else:
                yield match[3], match[4], row
                yield ".".join(key for _, key in around), match[4], row


# -- names that are constants

NAME_EXPRESSION = r"(?P<name>[\"'`][\w./:${}-]{2,120}[\"'`]|nameof\(\s*\w+|new\s+[A-Z]\w*|[A-Za-z_$][\w.]{0,80})"
_NAME_TEXT = re.compile(r"[A-Za-z][\w./:-]{2,119}")
_CONSTANT = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z_]\w{0,60})(?:[ \t]*:[ \t]*\w+)?(?:[ \t]*,[ \t]*\w+)?[ \t]*:?="
    r"\s*(?:new\s+(?P<type>[A-Z]\w*)\("
    r"|(?:[^\n;\"'`]{0,80}(?:\?\?|\?:|\|\||[dD]eclare(?:Async)?\(\s*(?:queue\s*[=:])?)\s*|\w[\w.]*\([\"']\w+[\"'],\s*)?"
    r"[\"'`](?P<text>[^\"'`\s]{2,120})[\"'`])"
)
_PROPERTY = re.compile(r"[$#]\{([\w.-]+)(?::([^{}]*))?\}")
_MAX_TYPES = 3  # of the objects that a variable may be
_SHARED_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*|\w+\.\w+")  # of a constant that other files see


class NameValues:
    """Names of topics and the like: literals, constants, properties and types, over the files of a repository."""

    def __init__(self, read: Callable[[str], str], code: Iterable[str], settings: Iterable[str]) -> None:
        self._read, self._code, self._files = read, tuple(code), tuple(settings)
        self._own: tuple[str, dict[str, tuple[str, ...]]] = ("", {})
        self._shared: dict[str, tuple[str, ...]] | None = None
        self._properties: dict[str, str] | None = None

    def of(self, expression: str, path: str) -> tuple[str, ...]:
        """Return the names that an expression of a file may mean, none if they are not known.

        A constant that is set to several texts is not known; a variable may be a new object of a few types.
        """
        if expression[0] in "\"'`":
            found: tuple[str, ...] = (self._literal(expression[1:-1]),)
        elif given := re.fullmatch(r"(?:nameof\(\s*|new\s+)(\w+)|([A-Z]\w+)\.name", expression):
            found = (given[1] or given[2],)
        else:
            names = expression.split(".")
            name = names[-2] if len(names) > 1 and names[-1] in ("Name", "queue") else names[-1]
            if self._own[0] != path:
                self._own = (path, _constants([self._read(path)]))
            if name in self._own[1] or not _SHARED_NAME.fullmatch(expression):
                found = self._own[1].get(name, ())
            else:
                if self._shared is None:
                    self._shared = _constants(self._read(each) for each in self._code)
                found = self._shared.get(name, ())
            found = tuple(self._literal(each) for each in found)
        return tuple(each for each in found if _NAME_TEXT.fullmatch(each))

    def property_of(self, key: str) -> str:
        """Return the value of a property of the files of settings, "" if there is none."""
        if self._properties is None:
            self._properties = {}
            for path in self._files:
                for name, value, _ in settings_of(
                    self._read(path), is_yaml=not path.endswith(".properties"), is_json=False
                ):
                    self._properties.setdefault(name, value)
        return self._properties.get(key, "")

    def _literal(self, text: str) -> str:
        given = _PROPERTY.fullmatch(text)
        return text if given is None else self.property_of(given[1]) or given[2] or ""


def _constants(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the only text of each name that is set to one, or the types of the few objects that it is set to."""
    found: dict[str, dict[tuple[str, bool], None]] = {}
    for text in texts:
        for match in _CONSTANT.finditer(text):
            found.setdefault(match["name"], {})[match["type"] or match["text"], bool(match["type"])] = None
    return {
        name: tuple(text for text, _ in values)
        for name, values in found.items()
        if len(values) == 1 or (len(values) <= _MAX_TYPES and all(is_type for _, is_type in values))
    }
