"""Definitions that a change adds, removes, moves, or changes in signature or body, by the syntax of both versions.

In: two versions of each file. Out: `ChangedDefinition` and `ChangedFile`. Comments, documentation strings, white space
and ends of lines are no code. A definition that moves to another file or gets another name is found by its code. What
stands in an added, removed or moved definition is not listed again.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from causalist.model.facts import MODULE_SCOPE, Definition, FileFacts
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, file_id, symbol_id
from causalist.model.source import DiagnosticSlug
from causalist.model.type_notation import closing_bracket
from causalist.parse import dialect_of, load_settings, mask_secrets, may_be_code, with_line_feeds
from causalist.review.syntax_file import DeclaredParameter, SyntaxFile
from causalist.review.versions import FileVersions

_MIN_MARKS = 12  # of code that is known again under another name
_MIN_SHARE = 0.6  # of common marks of a definition and the one that it became
_MAX_PAIRS = 20_000
_WRAPPED_KINDS = TYPE_KINDS | {NodeKind.NAMESPACE}
_SIDE_BY_SIDE = re.compile(rb"\0(?:\s*\0)*")  # definitions left out of a text
_OWN_BINDING = re.compile(r"([(,]\s*)mut\s+(?=\w+\s*:|self\b)")  # in Rust, of which no caller knows
# What else begins comments, by what begins one that ends with its line.
_BLOCK_MARKS = {"//": (b"/*", b"<!--"), "#": (b"=begin", b"<#", b"/*"), "--": (b"--[", b"{-")}
_NO_LETTERS = re.compile(rb"[\s()]|\bvar\b")  # brackets and `var` of Go may say nothing
_UNSURE = re.compile(rb"[\"'`/\\%]")  # before a mark of a comment: it may be in a string or an expression
_QUOTES = (b'"""', b"'''")
_BODY = re.compile(rb"\((?:\w+_)?(?:block|body|body_statement)|\((?:compound_statement|(?:field_)?declaration_list)")
_BRACKETED_RESULT = re.compile(r"\)\s*\(([^(),\s]+)\)$")  # in Go: `f() (int)` is `f() int`
_SEPARATOR = re.compile(rb"[ \t]*[;,]")  # behind a definition, of which it is a part
_INSIDE = rb"(?:[^\n;({]|\{(?:[^{}]|\{[^{}]*\})*\}|\([^()]*\))*;?"  # lists of names may have several lines
_IMPORT = re.compile(
    rb"(?m)^[ \t]*(?:(?:import|from|(?:global[ ]+)?using)\b(?![ \t]*(?:\(\S|var\b))%b|#[ \t]*(?:include|import)\b[^\n]*"
    rb"|require(?:_relative)?\b[^\n]*|(?:const|let|var|local)\s[^\n=]*=\s*require\b[^\n]*)" % _INSIDE
)
_USE = re.compile(rb"(?m)^[ \t]*use\b%b" % _INSIDE)  # which a program of Ruby does as it runs
_CUT = "…"  # ends a signature that is not kept as a whole
_MAX_HEAD = 4_000
_LETTERS = re.compile(r"\w+")
_CLOSING = frozenset({"private", "fileprivate", "internal"})
_OPENING = {language: frozenset({"public", "protected"}) for language in ("java", "csharp")}
_OPEN_KINDS = (NodeKind.INTERFACE, NodeKind.ENUM)  # whose members need no word
_MODULES = frozenset({"javascript", "typescript", "tsx", "flow"})
_EXPORT = re.compile(rb"(?m)^[ \t]*export\b")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of a name


class ChangeKind(StrEnum):
    """Kinds of changes of a definition, and of files."""

    ADDED = "added"
    SIGNATURE = "signature"
    BODY = "body"
    REMOVED = "removed"
    MOVED = "moved"  # or renamed


class DefinitionVersion:
    """A definition in one version of a file. What needs the syntax tree is read on first use."""

    def __init__(
        self,
        file: "ReadFile",
        fact: Definition,
        holes: Sequence[tuple[int, int]],
        order: int,
        *,
        is_method: bool,
        is_wrapper: bool = False,
    ) -> None:
        self._file = file
        self._holes = holes
        self.fact = fact
        self.is_method = is_method
        self.is_wrapper = is_wrapper  # a module around types alone, which other files have as well
        self.order = order

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._file.path

    @property
    def node(self) -> str:
        """The id without the number of a repeated name."""
        return symbol_id(self.path, self.fact.qualname)

    @property
    def parent_kind(self) -> int:
        """The kind of the definition around it, that of a file if there is none."""
        parent = self.fact.parent
        return NodeKind.FILE if parent == MODULE_SCOPE else self._file.facts.definitions[parent].kind

    @property
    def is_open(self) -> bool:
        """True if other packages may name it, as far as its own words and those of the definitions around it say."""
        facts, fact, is_open = self._file.facts, self.fact, True
        needed = _OPENING.get(facts.language)
        while is_open:
            written = re.split(rf"(?<!\w){re.escape(fact.name)}(?!\w)", fact.signature, maxsplit=1)[0]
            words = {*_LETTERS.findall(written)}
            around = None if fact.parent == MODULE_SCOPE else facts.definitions[fact.parent]
            is_open = not (words & _CLOSING or (fact.name.startswith(("_", "#")) and not fact.name.endswith("__")))
            if needed and not (around and (around.kind in _OPEN_KINDS or "record" in around.signature)):
                is_open = is_open and bool(words & needed)
            if around is None:
                break
            fact = around
        if is_open and facts.language in _MODULES and (facts.exports or _EXPORT.search(self._file.text)):
            written = self._file.text[fact.start_byte : fact.end_byte]
            named = re.search(rb"(?<!\w)%b(?!\w)" % re.escape(fact.name.encode()), written)
            is_open = any(each.local == fact.name for each in facts.exports)
            is_open = is_open or b"export" in written[: named.start() if named else 0]
        return is_open and not self.is_local

    @property
    def is_local(self) -> bool:
        """True inside of a function: other files cannot name it."""
        definitions, parent = self._file.facts.definitions, self.fact.parent
        while parent != MODULE_SCOPE:
            if definitions[parent].kind in CALLABLE_KINDS:
                return True
            parent = definitions[parent].parent
        return False

    @cached_property
    def signature(self) -> str:
        """The signature as written, without comments if they can be told from it."""
        settings = load_settings().get(dialect_of(self.path))
        marks = settings.comments.line if settings is not None else ()
        if not any(mark in self.fact.signature for mark in (*marks, "/*")):
            return self.fact.signature
        return self._file.without_comments(self.fact)

    @property
    def head(self) -> str:
        """The signature for a reader: the list of parameters as a whole, however long it is."""
        signature = self.signature
        if not signature.endswith(_CUT):
            return signature
        written = " ".join(self.text[:_MAX_HEAD].decode("utf-8", "replace").split())
        start = written.find(signature[: -len(_CUT)])
        opening = written.find("(", max(start, 0))
        end = closing_bracket(written, opening) if opening >= 0 else -1
        return written[start : end + 1] if start >= 0 and end > start + len(signature) else signature

    @cached_property
    def text(self) -> bytes:
        """The source of the definition."""
        return self._file.text[self.fact.start_byte : self.fact.end_byte]

    @cached_property
    def own_text(self) -> bytes:
        """The source without that of the definitions in it."""
        return _outside_of(self._file.text, self.fact.start_byte, self.fact.end_byte, self._holes)

    @property
    def shown(self) -> str:
        """The source for a reader: secrets masked, `…` for definitions in it, without common indentation."""
        masked, fact = mask_secrets(self._file.text, self._file.facts.secrets), self.fact
        own = _outside_of(masked, fact.start_byte, fact.end_byte, self._holes)
        own = _SIDE_BY_SIDE.sub("…".encode(), own).replace(b"\r\n", b"\n")
        begin = masked[masked.rfind(b"\n", 0, fact.start_byte) + 1 : fact.start_byte]
        indent = begin[: len(begin) - len(begin.lstrip())]
        return own.replace(b"\n" + indent, b"\n").decode("utf-8", "replace")

    @cached_property
    def marks(self) -> tuple[bytes, ...]:
        """The code of the definition without that of the definitions in it."""
        fact = self.fact
        return self._file.syntax.marks(fact.start_byte, fact.end_byte, self._holes) if self._holes else self.whole

    @cached_property
    def whole(self) -> tuple[bytes, ...]:
        """The code of the definition with that of the definitions in it."""
        return self._file.syntax.marks(self.fact.start_byte, self.fact.end_byte)

    @cached_property
    def parameters(self) -> tuple[DeclaredParameter, ...] | None:
        """The parameters that callers give; None if they are not known."""
        fact = self.fact
        if fact.kind not in CALLABLE_KINDS:
            return None
        return self._file.syntax.parameters(fact.start_byte, fact.end_byte, is_method=self.is_method)


class ChangedDefinition(NamedTuple):
    """A definition that a change touches.

    `node` is its id after the change, before it for a removed one; `line` is 1-based in that version. `old` and `new`
    are its versions, None where it does not exist, both for the code of a file outside of definitions: `outside` has
    the versions of the file then, if more than imports changed.
    """

    kind: ChangeKind
    node: str
    path: str
    line: int
    old: DefinitionVersion | None = None
    new: DefinitionVersion | None = None
    has_other_code: bool = False  # of a moved one
    outside: "tuple[ReadFile, ReadFile] | None" = None

    @property
    def is_import(self) -> bool:
        """True if nothing but imports changed in the code of a file outside of definitions."""
        return self.old is None and self.new is None and self.outside is None

    @property
    def is_edited(self) -> bool:
        """True if a moved definition or one with another signature has another body, too; that reads syntax trees."""
        if self.kind not in (ChangeKind.SIGNATURE, ChangeKind.BODY) or self.old is None or self.new is None:
            return self.has_other_code
        return _has_other_body(self.old, self.new)

    @property
    def label(self) -> str:
        """The kind of definition, such as "method"; "file" for code outside of definitions."""
        version = self.new or self.old
        return "file" if version is None else NodeKind(version.fact.kind).label


class ChangedFile(NamedTuple):
    """A file that a change touches.

    `status` is "added", "modified", "removed" or "renamed"; `note` says why no definitions are listed, or what is
    doubtful about them.
    """

    path: str
    before: str
    status: str
    note: str
    has_code: bool


class ReadFile:
    """A version of a file with language: facts, definitions, and its tree, which is parsed on first use."""

    def __init__(self, path: str, data: bytes, facts: FileFacts) -> None:
        self.path = path
        self.facts = facts
        self.text = with_line_feeds(data)
        self._data = data
        definitions = facts.definitions
        inside: dict[int, list[tuple[int, int]]] = defaultdict(list)
        holds_code: set[int] = set()  # definitions with others than types in them
        for each in definitions:
            around = definitions[each.parent] if each.parent != MODULE_SCOPE else None
            if around is None or (each.start_byte, each.end_byte) != (around.start_byte, around.end_byte):
                mark = _SEPARATOR.match(self.text, each.end_byte)
                inside[each.parent].append((each.start_byte, mark.end() if mark else each.end_byte))
            if each.kind not in _WRAPPED_KINDS:
                holds_code.add(each.parent)
        wrappers = (NodeKind.NAMESPACE, NodeKind.TRAIT) if facts.language == "ruby" else (NodeKind.NAMESPACE,)
        self._holes = inside[MODULE_SCOPE]
        callables = [(d.start_byte, d.end_byte, d) for d in definitions if d.kind in CALLABLE_KINDS]
        versions: list[DefinitionVersion] = []
        for order, each in enumerate(definitions):
            start, end = each.start_byte, each.end_byte
            if each.kind not in CALLABLE_KINDS | TYPE_KINDS and any(
                first <= start and end <= last and d is not each for first, last, d in callables
            ):
                continue  # an attribute that a method sets is code of the method
            holes = inside[order]
            parent = definitions[each.parent] if each.parent != MODULE_SCOPE else None
            is_method = parent is not None and parent.kind in TYPE_KINDS
            is_wrapper = each.kind in wrappers and bool(holes) and order not in holds_code
            versions.append(
                DefinitionVersion(self, each, holes, order, is_method=is_method, is_wrapper=is_wrapper)
            )  # fmt: skip
        self.definitions = tuple(versions)

    @property
    def has_errors(self) -> bool:
        """True if parts of the file could not be parsed."""
        return any(each.slug == DiagnosticSlug.SYNTAX_ERROR for each in self.facts.diagnostics)

    @cached_property
    def syntax(self) -> SyntaxFile:
        """The syntax tree."""
        syntax = SyntaxFile.read(self.path, self._data)
        assert syntax is not None  # facts with a language come from a tree
        return syntax

    def without_comments(self, fact: Definition) -> str:
        """Return the signature of a definition without the comments in it, whose text has no line breaks."""
        signature = fact.signature
        for first, last in self.syntax.comments(fact.start_byte, fact.end_byte):
            words = " ".join(self.text[first:last].decode("utf-8", "replace").split())
            signature = " ".join(signature.replace(words, " ", 1).split())
        return signature.removesuffix(":")  # which stands before a comment in Python

    @property
    def outside_shown(self) -> str:
        """The source outside of definitions for a reader: secrets masked, `…` for definitions."""
        masked = mask_secrets(self.text, self.facts.secrets)
        own = _SIDE_BY_SIDE.sub("…".encode(), _outside_of(masked, 0, len(masked), self._holes))
        return own.decode("utf-8", "replace")

    @cached_property
    def outside_text(self) -> bytes:
        """The source outside of definitions."""
        return _outside_of(self.text, 0, len(self.text), self._holes)

    @cached_property
    def outside(self) -> tuple[bytes, ...]:
        """The code outside of definitions."""
        return self.syntax.marks(0, len(self.text) + 1, self._holes)


def _outside_of(text: bytes, start: int, end: int, holes: Sequence[tuple[int, int]]) -> bytes:
    parts, at = [], start
    for first, last in sorted(holes):
        parts.append(text[at : max(first, at)])
        at = max(at, last)
    return b"\0".join((*parts, text[at:end]))


Facts = Callable[[str, bytes], FileFacts]


def _parse(path: str, data: bytes) -> FileFacts:
    from causalist.parse import parse_file  # takes long to load, and cached facts need none of it

    return parse_file(path, data)


def read_version(path: str, data: bytes, facts_of: Facts = _parse) -> ReadFile | None:
    """Return a version of a file; None if it has no language."""
    if not may_be_code(path):
        return None
    facts = facts_of(path, data)
    return ReadFile(path, data, facts) if facts.language else None


class Comparison(NamedTuple):
    """Changed definitions by path and line, changed files by path, and the files read after the change."""

    definitions: tuple[ChangedDefinition, ...]
    files: tuple[ChangedFile, ...]
    read: dict[str, ReadFile]


def compare_versions(files: Iterable[FileVersions], facts_of: Facts = _parse) -> Comparison:
    """Return what a change does to definitions."""
    changes: list[ChangedDefinition] = []
    listed: list[ChangedFile] = []
    removed: list[DefinitionVersion] = []
    added: list[DefinitionVersion] = []
    read: dict[str, ReadFile] = {}
    for file in files:
        old = None if file.old is None else read_version(file.before, file.old, facts_of)
        new = None if file.new is None else read_version(file.after, file.new, facts_of)
        if new is not None:
            read[file.after] = new
        pairs, gone, come = _match(old.definitions if old else (), new.definitions if new else ())
        own = [change for pair in pairs if (change := _compare_pair(*pair)) is not None]
        is_moved = bool(file.before and file.after and file.before != file.after)
        if old is not None and new is not None and _is_other_outside(old, new):
            outside = (old, new) if _without_imports(old) != _without_imports(new) else None
            own.append(ChangedDefinition(ChangeKind.BODY, file_id(file.after), file.after, 1, outside=outside))
        changes += own
        removed += [version for version in gone if new is None or not _is_still_set(version, new)]
        added += [version for version in come if old is None or not _is_still_set(version, old)]
        status = "renamed" if is_moved else "added" if not file.before else "removed" if not file.after else "modified"
        note = file.note
        if old is None and new is None:
            note = note or "no language"
        elif status == "modified" and not (own or gone or come):
            note = note or "no change in code: comments, documentation or white space"
        elif any(side is not None and side.has_errors for side in (old, new)):
            note = note or "parts of it cannot be parsed"
        listed.append(ChangedFile(file.path, file.before, status, note, old is not None or new is not None))
    changes += _follow(removed, added)
    order = {ChangeKind.REMOVED: 1}
    changes.sort(key=lambda change: (change.path, order.get(change.kind, 0), change.line, change.node))
    return Comparison(tuple(changes), tuple(sorted(listed)), read)


def _signature_key(each: DefinitionVersion) -> tuple[str, object]:
    signature = each.signature
    if each.path.endswith(".rs"):
        signature = _OWN_BINDING.sub(r"\1", signature)
    elif each.path.endswith(".go"):
        signature = _BRACKETED_RESULT.sub(r") \1", signature)
    text = "".join(signature.split()).replace(",)", ")") if "…" not in signature else ""
    is_code = each.fact.kind in CALLABLE_KINDS or each.fact.kind in TYPE_KINDS
    return (text if is_code else "", each.parameters)


def _text_key(each: DefinitionVersion) -> object:
    return each.text


def _code_key(each: DefinitionVersion) -> object:
    return each.whole


def _any_key(_: DefinitionVersion) -> object:
    return None


def _compare_pair(old: DefinitionVersion, new: DefinitionVersion) -> ChangedDefinition | None:
    if _is_same_text(old.own_text, new.own_text) or not (
        _is_surely_other(old.path, old.own_text, new.own_text) or old.marks != new.marks
    ):
        return None
    is_signature = not _begins_alike(old, new) and _signature_key(old) != _signature_key(new)
    kind = ChangeKind.SIGNATURE if is_signature else ChangeKind.BODY
    return ChangedDefinition(kind, new.node, new.path, new.fact.start_row + 1, old, new)


def _begins_alike(old: DefinitionVersion, new: DefinitionVersion) -> bool:
    """Return True if two definitions of one kind have the same text up to the end of the line of their signatures."""
    signature = old.signature.encode()
    if old.fact.kind != new.fact.kind or old.signature != new.signature or "…" in old.signature:
        return False
    start = old.text.find(signature)
    end = old.text.find(b"\n", start + len(signature)) + 1
    return start >= 0 and end > 0 and old.text[:end] == new.text[:end]


def _before(line: bytes, marks: Sequence[bytes]) -> bytes:
    """Return what stands in a line before the first of some marks."""
    return line[: min((at for mark in marks if (at := line.find(mark)) >= 0), default=len(line))]


def _is_surely_other(path: str, old: bytes, new: bytes) -> bool:
    """Return True if lines that differ have different code for certain, which needs no tree.

    False says nothing: where it is not certain what is a comment or a documentation string, trees tell.
    """
    settings = load_settings().get(dialect_of(path))
    if settings is None or not settings.comments.line or not set(settings.comments.line) <= _BLOCK_MARKS.keys():
        return False
    line_marks = [mark.encode() for mark in settings.comments.line]
    others = tuple(mark for line in settings.comments.line for mark in _BLOCK_MARKS[line])
    is_documented = settings.comments.doc == "string"
    others += _QUOTES if is_documented else ()
    if any(mark in side for mark in others for side in (old, new)):
        return False
    before, after = ([line for each in side.replace(b"\0", b"").split(b"\n") if (line := each.strip())]
                     for side in (old, new))  # fmt: skip
    n_same, n_least = 0, min(len(before), len(after))
    while n_same < n_least and before[n_same] == after[n_same]:
        n_same += 1
    n_end = 0
    while n_end < n_least - n_same and before[-1 - n_end] == after[-1 - n_end]:
        n_end += 1
    differing = (before[n_same : len(before) - n_end], after[n_same : len(after) - n_end])
    if any(
        _UNSURE.search(head) for lines in differing for line in lines if (head := _before(line, line_marks)) != line
    ):
        return False
    if is_documented and any(b'"' in line or b"'" in line for lines in differing for line in lines):
        return False
    letters, other_letters = (
        _NO_LETTERS.sub(b"", b" ".join(_before(line, line_marks) for line in lines)) for lines in differing
    )
    return letters != other_letters


def _is_still_set(version: DefinitionVersion, other: ReadFile) -> bool:
    """Return True for a value that the other version of its file sets outside of definitions: in a condition, mostly.

    That is a change of the code outside of definitions, which has an entry of its own.
    """
    if version.fact.kind in CALLABLE_KINDS | TYPE_KINDS or "." in version.fact.qualname:
        return False
    written = rb"(?<![\w.])" + re.escape(version.fact.name.encode()) + rb"\s*(?::[^=\n]*)?=(?!=)"
    return re.search(written, other.outside_text) is not None


def _is_other_outside(old: ReadFile, new: ReadFile) -> bool:
    one, two = old.outside_text, new.outside_text
    return not _is_same_text(one, two) and (_is_surely_other(old.path, one, two) or old.outside != new.outside)


def _without_imports(file: ReadFile) -> bytes:
    """Return the source outside of definitions without white space and imports.

    A comment that differs, too, makes other code of it: that only says less than is known.
    """
    text = _IMPORT.sub(b"", file.outside_text.replace(b"\0", b"\n"))
    return b"".join((text if file.facts.language == "ruby" else _USE.sub(b"", text)).split())


def _is_same_text(old: bytes, new: bytes) -> bool:
    """Return True for texts that differ at most in how many definitions stand side by side: that needs no tree.

    White space before and behind these counts, because it may be syntax.
    """
    return old == new or _SIDE_BY_SIDE.sub(b"\0", old) == _SIDE_BY_SIDE.sub(b"\0", new)


def _has_other_body(old: DefinitionVersion, new: DefinitionVersion) -> bool:
    """Return True if the code behind the signature differs: the common end of both does not reach to it."""
    n_same = 0
    for one, two in zip(reversed(old.marks), reversed(new.marks), strict=False):
        if one != two:
            break
        n_same += 1
    first = next((i for i, mark in enumerate(new.marks) if mark.startswith(b"(") and _BODY.fullmatch(mark)), 0)
    return n_same < len(new.marks) - first - 1


def _match(
    old: Sequence[DefinitionVersion], new: Sequence[DefinitionVersion]
) -> tuple[list[tuple[DefinitionVersion, DefinitionVersion]], list[DefinitionVersion], list[DefinitionVersion]]:
    """Return (pairs of one name, only in the old version, only in the new one).

    Of several definitions with one name, those with the same code are a pair, then those with the same signature, then
    by order.
    """
    before: dict[str, list[DefinitionVersion]] = defaultdict(list)
    after: dict[str, list[DefinitionVersion]] = defaultdict(list)
    for each in old:
        before[each.fact.qualname].append(each)
    for each in new:
        after[each.fact.qualname].append(each)
    pairs: list[tuple[DefinitionVersion, DefinitionVersion]] = []
    gone: list[DefinitionVersion] = []
    come: list[DefinitionVersion] = []
    every: tuple[Callable[[DefinitionVersion], object], ...] = (_text_key, _code_key, _signature_key, _any_key)
    for name in dict.fromkeys((*before, *after)):
        old_left, new_left = before[name], after[name]
        for key in every if len(old_left) > 1 or len(new_left) > 1 else every[-1:]:
            if not old_left or not new_left:
                break
            waiting = list(new_left)
            kept: list[DefinitionVersion] = []
            for each in old_left:
                partner = next((other for other in waiting if key(other) == key(each)), None)
                if partner is None:
                    kept.append(each)
                else:
                    waiting.remove(partner)
                    pairs.append((each, partner))
            old_left, new_left = kept, waiting
        gone += old_left
        come += new_left
    return pairs, gone, come


def _without_name(each: DefinitionVersion) -> tuple[bytes, ...]:
    name = each.fact.name.encode()
    return tuple(b"" if mark == name else mark for mark in each.whole)


class _Neighbors:
    """Added definitions that may be a removed one: by name, by path and type around, or by the same letters of code.

    Others are not compared, because that takes the syntax tree of each added file.
    """

    def __init__(self, added: Sequence[DefinitionVersion]) -> None:
        self._by_key: dict[object, list[DefinitionVersion]] = defaultdict(list)
        self._added = added

    def of(self, removed: DefinitionVersion) -> list[DefinitionVersion]:
        """Return the definitions that may be this one, in their order."""
        if not self._by_key:
            for each in self._added:
                for key in self._keys(each):
                    self._by_key[key].append(each)
        version_by_identity = {id(each): each for key in self._keys(removed) for each in self._by_key.get(key, ())}
        return sorted(version_by_identity.values(), key=lambda each: (each.path, each.order))

    @staticmethod
    def _keys(each: DefinitionVersion) -> tuple[object, ...]:
        letters = b"".join(each.text.split()).replace(each.fact.name.encode(), b"")
        return each.fact.name, (each.path, _parent_name(each)), letters


def _follow(removed: list[DefinitionVersion], added: list[DefinitionVersion]) -> list[ChangedDefinition]:
    """Return removed, added and moved definitions, the outermost of each alone."""
    became: list[tuple[DefinitionVersion, DefinitionVersion]] = []
    old_left, new_left = list(removed), list(added)
    taken: set[int] = set()
    nearby = _Neighbors(new_left)
    for each in old_left:
        same = [o for o in nearby.of(each) if id(o) not in taken and _without_name(o) == _without_name(each)]
        same.sort(key=lambda o: (o.fact.name != each.fact.name, o.path != each.path))
        is_sure = len(each.whole) >= _MIN_MARKS or (same and same[0].fact.name == each.fact.name)
        if same and is_sure and (same[0].fact.kind in CALLABLE_KINDS | TYPE_KINDS or _is_same_value(each, same[0])):
            became.append((each, same[0]))
            taken.update((id(each), id(same[0])))
    old_left = [each for each in old_left if id(each) not in taken]
    new_left = [each for each in new_left if id(each) not in taken]
    for old_value, new_value in _find_renamed_values(old_left, new_left):
        became.append((old_value, new_value))
        taken.update((id(old_value), id(new_value)))
    shares: list[tuple[float, bool, int, int]] = []
    if len(old_left) * len(new_left) <= _MAX_PAIRS:
        counts: dict[int, Counter[bytes]] = {}
        for i, old_definition in enumerate(old_left):
            if old_definition.fact.kind not in CALLABLE_KINDS | TYPE_KINDS or len(old_definition.whole) < _MIN_MARKS:
                continue
            for j, other in enumerate(new_left):
                is_near = old_definition.fact.name == other.fact.name or (
                    old_definition.path == other.path and _parent_name(old_definition) == _parent_name(other)
                )
                if not is_near or (old_definition.fact.kind in TYPE_KINDS) != (other.fact.kind in TYPE_KINDS):
                    continue
                for side in (old_definition, other):
                    if id(side) not in counts:
                        counts[id(side)] = Counter(_without_name(side))
                common = (counts[id(old_definition)] & counts[id(other)]).total()
                share = 2 * common / (len(old_definition.whole) + len(other.whole))
                if share >= (_MIN_SHARE if old_definition.fact.name == other.fact.name else 0.8):
                    shares.append((-share, old_definition.fact.name != other.fact.name, i, j))
    for _, _, i, j in sorted(shares):
        if id(old_left[i]) not in taken and id(new_left[j]) not in taken:
            became.append((old_left[i], new_left[j]))
            taken.update((id(old_left[i]), id(new_left[j])))
    result = []
    for old, new in became:
        is_edited = _without_name(old) != _without_name(new)
        result.append(
            ChangedDefinition(ChangeKind.MOVED, new.node, new.path, new.fact.start_row + 1, old, new, is_edited)
        )
    result += [
        ChangedDefinition(ChangeKind.REMOVED, each.node, each.path, each.fact.start_row + 1, old=each)
        for each in old_left
        if id(each) not in taken
    ]
    result += [
        ChangedDefinition(ChangeKind.ADDED, each.node, each.path, each.fact.start_row + 1, new=each)
        for each in new_left
        if id(each) not in taken
    ]
    result = [each for each in result if not _is_wrapper(each)]
    return [each for each in result if not _is_inside(each, result)]


def _find_renamed_values(
    removed: Sequence[DefinitionVersion], added: Sequence[DefinitionVersion]
) -> list[tuple[DefinitionVersion, DefinitionVersion]]:
    """Return the fields and constants of one type or file that differ in a part of their names alone.

    Their code must be that of no other removed or added one there, as that of `a: int` mostly is.
    """
    sides: tuple[dict[object, list[DefinitionVersion]], ...] = ({}, {})
    for side, versions in zip(sides, (removed, added), strict=True):
        for each in versions:
            if each.fact.kind not in CALLABLE_KINDS | TYPE_KINDS:
                side.setdefault((each.path, _parent_name(each), _without_name(each)), []).append(each)
    pairs = (
        (olds[0], sides[1][key][0]) for key, olds in sides[0].items() if len(olds) == len(sides[1].get(key, ())) == 1
    )
    return [(old, new) for old, new in pairs if _share_words(old.fact.name, new.fact.name)]


def _share_words(one: str, other: str) -> bool:
    """Return True for names with at least half of their words in common.

    >>> _share_words("maxEntries", "max_items"), _share_words("count", "size")
    (True, False)
    """
    words, others = (Counter(word.lower() for word in _WORD.findall(name)) for name in (one, other))
    return 2 * (words & others).total() >= max((words + others).total() / 2, 1)


def _is_wrapper(change: ChangedDefinition) -> bool:
    version = change.new or change.old
    return change.kind != ChangeKind.MOVED and version is not None and version.is_wrapper


def _is_same_value(one: DefinitionVersion, other: DefinitionVersion) -> bool:
    """Return True for a field or constant of one name; a field of another type is another one, though alike."""
    return one.fact.name == other.fact.name and _parent_name(one) == _parent_name(other)


def _parent_name(each: DefinitionVersion) -> str:
    return each.fact.qualname.rpartition(".")[0]


def _is_inside(change: ChangedDefinition, others: Sequence[ChangedDefinition]) -> bool:
    """Return True if a change is part of that of the definition around it."""
    own = change.new or change.old
    for other in others:
        around = other.new or other.old
        if own is None or around is None or other is change or around.path != own.path:
            continue
        is_around = own.fact.qualname.startswith(f"{around.fact.qualname}.")
        if is_around and other.kind == change.kind and not (change.is_edited and change.kind == ChangeKind.MOVED):
            return True
    return False
