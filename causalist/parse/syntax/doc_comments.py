"""Documentation: the summary line of a docstring or comment, and types that comments state.

Types are read from tags such as `@param Door $door`, `@return Door[]` and `@var array<Door> $doors`, or with braces,
`@param {Door} door`. `comments.tags` of language.toml gives the role of each tag. A type in code takes precedence: a
comment only fills in missing types. The exception is a comment inside of a function that names a variable, which
overrides.

Annotations stand between a comment and what it is about; a signature leaves them out, and that of a macro says which
parameters it calls.
"""

import html
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import MODULE_SCOPE, Binding, Call, Import, ImportKind
from causalist.model.language_settings import TypeSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import RETURNED, STRING_TARGET, Mark, closing_bracket, split_top
from causalist.parse.syntax.chains import array_type_name, union_type
from causalist.parse.syntax.open_scopes import VALUE_KINDS, DefinitionDraft, Scopes

_MAX_CHARACTERS = 200
_STRING = lazy_regex(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*)", re.DOTALL)
_INLINE = lazy_regex(r"\{@\w+\s*([^{}]*)\}")
_TAG = lazy_regex(r"</?(?:b|i|em|strong|code|tt|a)\b[^<>]*>")
_BLOCK_TAG = lazy_regex(r"</?\w[^<>]*>")
_SENTENCE_END = lazy_regex(r"(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s)")
_SENTENCE_ENDS = ".!?:;"
_MIN_WRAPPED = 30  # characters of a line that ends where the text is wrapped; a shorter one is a title
_GOES_ON = lazy_regex(r"[a-z(`\"'\d]")  # start of a line that goes on with a sentence
_COMMENT_EDGE = lazy_regex(r"^--\[=*\[\s*|^\s*(?:--|\{-)\s*[|^]\s*|^[\s/*#!-]+|[\s*/-]+$")
_PERCENT = lazy_regex(r"^[ \t]*%+[{}]?", re.MULTILINE)
_SUMMARY = lazy_regex(r"<summary>(.*?)</summary>", re.DOTALL)
_REFERENCE = lazy_regex(r"<(?:see|paramref|typeparamref)\b[^<>]*?\"(?:\w:)?([^\"]*)\"[^<>]*/>")
_BRIEF = lazy_regex(r"^[@\\](?:brief|short|details|notice|dev)\s+")
_USAGE = lazy_regex(r'^("{1,3})[ \t]*\n(?:(?:[ ]{4}|\t)[^\n]*+\n|[ ]{0,3}\n)++')  # code at the start of a string
_MAX_COMMENT_CHARACTERS = 2000
_MAX_ASSOCIATION_BYTES = 400
_ELEMENT = ".[]"  # ends the value of a block's parameter
_OF_ONE_BLOCK = 2  # bindings: as a parameter, and to an element
_WORD = lazy_regex(r"\w+")
_STATEMENT = lazy_regex(r"(?:[^\n]*,[ \t]*\n)*[^\n]*")
_HANDED_ON = lazy_regex(r"^[ \t]*delegate[ \t(](?:[^\n]*,[ \t]*\n)*[^\n]*", re.MULTILINE)
_HANDED_TO = lazy_regex(r"\bto:\s*[:\"']?(@?\w+)")
_HANDED_AS = lazy_regex(r"\bprefix:\s*[:\"']?(\w+)")
_NO_MEMBERS = ("class", "self")
_ANY_CLASS = lazy_regex(r"\bpolymorphic:\s*true|\bsource_type:")
_CLASS_NAME = lazy_regex(r"\bclass_name:\s*[\"']([\w:]+)[\"']")
_SOURCE = lazy_regex(r"\bsource:\s*:(\w+)")
_MODEL_FIELD = lazy_regex(
    r"(\w+)[ \t]*=[ \t]*(?:\w+\.)?(\w+)\(\s*(?:to\s*=\s*)?(?:[\"']((?:\w+\.)?\w+)[\"']|((?:\w+\.)?[A-Z]\w+))?"
)
_MODEL_NAMED = lazy_regex(r"\bto\s*=\s*(?:[\"']((?:\w+\.)?\w+)[\"']|((?:\w+\.)?[A-Z]\w+))")
_REVERSE_NAME = lazy_regex(r"\brelated_name\s*=\s*(?:[\"'](\w+)[\"'])?")
_INSTANCES = "objects"  # the member of a class by which its instances are found
_OF_ONE = "OneToOne"  # begins the names of fields whose other end leads to one
# Endings of several and of one, the first that fits.
_SINGULARS = (
    *(("people", "person"), ("children", "child"), ("men", "man"), ("series", "series"), ("news", "news")),
    *(("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("uses", "us"), ("nses", "ns")),
    *(("ss", "ss"), ("s", "")),
)
_SCHEMA = lazy_regex(r"^# =+ Schema Information\b", re.MULTILINE)  # columns of a table, as a tool lists them in Rails
_RDOC_HEADING = lazy_regex(r"^=+ (?=\w)")
_NOISE = lazy_regex(
    r"copyright|licen[cs]e|eslint|@ts-|prettier|@jsx|istanbul|SPDX|use strict|@flow|^region\b"
    r"|^MARK:|swiftlint:|ktlint"
    r"|^<?#>?$|^<$|^>$|^\.[A-Z]+\b"
    r"|^go:\w|^\+build|^nolint\b|frozen_string_literal|^rubocop:|^=begin\b|^typed: \w+$|^shellcheck \w+=",
    re.IGNORECASE,
)


def string_line(literal: str) -> str:
    r"""Return the first line with text of a string literal, and the rest of its sentence.

    >>> string_line("r'''\n  Opens the door.\n\n  More.'''")
    'Opens the door.'
    >>> string_line("'Opens the door that stands behind the\n  oak (if any). It is heavy.\n'")
    'Opens the door that stands behind the oak (if any). It is heavy.'
    """
    matched = _STRING.match(literal)
    if not matched:
        return ""
    body = matched[2]
    if body.endswith(matched[1]):
        body = body[: -len(matched[1])]
    return _first_line(body.splitlines())


def comment_line(comment: str) -> str:
    r"""Return the first line with text of a comment block and the rest of its sentence, without markers and directives.

    >>> comment_line("/**\n * Opens the door.\n * @param key which\n */")
    'Opens the door.'
    >>> comment_line("# == Doors\n#\n# == Schema Information\n#\n# Table name: doors")
    'Doors'
    """
    if comment.startswith("%"):
        comment = _PERCENT.sub("#", comment)
    if listed := _SCHEMA.search(comment):
        comment = comment[: listed.start()]
    return _first_line(
        line
        for line in (_BRIEF.sub("", _plain_line(raw)) for raw in comment.splitlines())
        if not line.startswith("@") and not _NOISE.search(line)
    )


def _plain_line(raw: str) -> str:
    return _RDOC_HEADING.sub("", _COMMENT_EDGE.sub("", raw))


def comment_sentence(comment: str) -> str:
    r"""Return the first sentence of a documentation comment without markup, or the first line of another.

    >>> comment_sentence("/**\n * Opens the {@link Door}, which\n * is <b>heavy</b>. More.\n * @return it\n */")
    'Opens the Door, which is heavy.'
    >>> comment_sentence('/// <summary>\n/// Opens <see cref="Door"/>. More.\n/// </summary>')
    'Opens Door.'
    """
    summary = _SUMMARY.search(comment[:_MAX_COMMENT_CHARACTERS]) if comment.startswith("///") else None
    if summary:
        comment = f"/**{summary[1]}"
    if not comment.startswith("/**"):
        return comment_line(comment)
    kept: list[str] = []
    for line in (_BRIEF.sub("", _COMMENT_EDGE.sub("", raw)) for raw in comment[:_MAX_COMMENT_CHARACTERS].splitlines()):
        if line.startswith("@") or (not line and kept):
            break
        kept += [line] if line else []
    kept = [_REFERENCE.sub(r"\1", line) for line in kept] if summary else kept
    text = _TAG.sub("", _INLINE.sub(lambda m: m[1].rpartition(" ")[2].lstrip("#").replace("#", "."), " ".join(kept)))
    text = " ".join(html.unescape(_BLOCK_TAG.sub(" ", text)).split())
    ended = _SENTENCE_END.search(text)
    text = text[: ended.end()] if ended else text
    return "" if _NOISE.search(text) else _first_line([text])


def comment_doc(how: str, data: bytes, start: int, end: int) -> str:
    r"""Return the documentation in the comment above a definition, or in a string. `how` is the setting `comments.doc`.

    >>> text = b'\"\"\"\n    open(door)\n\nOpens a door.\n\"\"\"'
    >>> comment_doc("comment", text, 0, len(text)), comment_doc("comment", b"# Shuts it.", 0, 11)
    ('Opens a door.', 'Shuts it.')
    """
    if how not in ("comment", "sentence", "pod"):
        return ""
    text = data[start:end].decode("utf-8", "replace")
    if text.startswith('"'):
        return string_line(_USAGE.sub(r"\1\n", text)) or string_line(text)
    if how != "sentence":
        return "" if how == "pod" and text.startswith("#!") else comment_line(text)
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    return "" if before.strip() else comment_sentence(text)  # behind code it is about that code


_POD = lazy_regex(
    rb"^=(head\d|item|[a-z]\w*)[ \t]+([^\n]{1,300})\n(?:[ \t\r]*\n)+([^=\s][^\n]*(?:\n[^=\s][^\n]*){0,8})", re.MULTILINE
)
_POD_NAME = lazy_regex(rb"(?:.*(?:->|::|[\s<]))??([A-Za-z_]\w*)\s*(?:[(>;\[{,]|$)")
_POD_MARK = lazy_regex(r"[A-Z]<<?([^<>]*+)>>?")
_POD_PACKAGE = lazy_regex(rb"\s*([\w:]+)\s+-+\s+(\S[^\n]*)")


def read_pod(data: bytes) -> dict[str, str]:
    r"""Return what the plain old documentation of a file says first of each name that is a heading.

    >>> read_pod(b"=head1 NAME\n\nA::B - a door\n\n=head2 $door->open($key)\n\nOpens C<it>.\n")
    {'A.B': 'a door', 'open': 'Opens it.'}
    """
    told: dict[str, str] = {}
    for heading in _POD.finditer(data) if b"\n=" in data or data.startswith(b"=") else ():
        if heading[1] == b"head1":
            package = _POD_PACKAGE.match(heading[3]) if heading[2].strip().upper() == b"NAME" else None
            if package is not None:
                line = _first_line([_without_marks(package[2])])
                told.setdefault(package[1].decode("utf-8", "replace").replace("::", "."), line)
            continue
        name = _POD_NAME.match(heading[2].strip())
        if name is not None:
            text = _without_marks(heading[3])
            told.setdefault(name[1].decode("ascii", "replace"), _first_line(text.splitlines()))
    return told


def _without_marks(text: bytes) -> str:
    return _POD_MARK.sub(lambda mark: mark[1].strip(), text.decode("utf-8", "replace"))


def file_comment_line(comment: str) -> str:
    """Return `comment_line` of the comment at the top of a file, or "" for a license header."""
    return "" if _NOISE.search(comment) or comment.startswith("#!") else comment_line(comment)


def _first_line(lines: Iterable[str]) -> str:
    """Return the first line with text, with the lines behind it that end its sentence."""
    text = ""
    for line in (" ".join(line.split()) for line in lines):
        if text and not (len(text) >= _MIN_WRAPPED and text[-1] not in _SENTENCE_ENDS and _GOES_ON.match(line)):
            break
        text = f"{text} {line}" if text else line
        if len(text) > _MAX_CHARACTERS:
            return text[: _MAX_CHARACTERS - 1] + "…"
    return text


_TYPE_TAG = lazy_regex(r"(@[a-z-]+)[ \t]+(?=[.?($\w{])")
_BRACED = lazy_regex(r"\{([^{}\n]{1,200})\}(?:[ \t]*\[?([\w$]+)(?![\w$.]))?")
_LOADED = lazy_regex(
    r"(?P<named>@typedef\s*\{\s*)?(?:typeof\s+)?\bimport\(\s*[\"']([^\"'()\n]{1,200})[\"']\s*\)(?:\.([\w$]+))?"
    r"(?(named)[^{}\n]{0,200}\}\s*([\w$]+)|)"
)
_IMPORTED = lazy_regex(r"import\([^()]*\)\.")
_NAME = lazy_regex(r"[ \t]+&?(?:\.\.\.)?(\$\w+)")
_OPEN, _CLOSE = "<({[", ">)}]"
# characters of a type
_MAX_COMMENT_BYTES = 8000


class DocTag(StrEnum):
    """Roles of the types in documentation comments. The values are the keys of `comments.tags`."""

    PARAMETER = "parameter"
    RETURNS = "returns"
    TYPE = "type"
    MEMBER = "member"


class TaggedType(NamedTuple):
    """Type in a comment. `name` is "" if the tag names nothing."""

    role: DocTag
    type: str
    name: str


class DocTypeReader:
    """Reader of the comments of a file whose language states types there, and of the associations of its models."""

    def __init__(self, scopes: Scopes, bindings: list[Binding], calls: list[Call]) -> None:
        self._scopes = scopes
        self._bindings = bindings
        self._calls = calls
        self._tags = dict(scopes.settings.comments.tags)
        fields, is_shaped = dict(scopes.settings.shapes.fields), bool(scopes.settings.shapes.sequences)
        self._associations = {} if is_shaped else fields
        self._model_fields = tuple(name for name in fields if is_shaped and name[:1].isupper())
        self._own_object = next(iter(scopes.settings.names.self_names), "")
        self._loads = bool(self._tags and scopes.settings.modules.require)
        self._told: dict[tuple[int, str], set[str]] = {}  # types of variables that comments in functions state
        self.imports: list[Import] = []  # types that comments name by their module
        self._above: list[tuple[int, int, int]] = []  # definition, start and end of the comment above it

    def on_definition(self, index: int, start: int, end: int) -> None:
        """Record the comment above a definition."""
        if self._tags and start >= 0:
            self._above.append((index, start, end))

    def on_comment(self, start: int, end: int) -> None:
        """Bind variables to the types that a comment in a function states, from here on."""
        if self._loads and self._scopes.data.startswith(b"/**", start):
            self._load(start, end)
        scope = self._scopes.binding_scope()
        if not self._tags or scope < 0 or self._scopes.drafts[scope].kind not in CALLABLE_KINDS:
            return
        for tag in self._read_tags(start, end):
            if tag.role is DocTag.TYPE and tag.name:
                self._told.setdefault((scope, tag.name), set()).add(tag.type)
                self._bindings.append(Binding(scope, tag.name, tag.type, "", self._scopes.row(start)))

    def _load(self, start: int, end: int) -> None:
        """Import the types that a comment names by module: `{import("./a").B}`, with or without `@typedef`."""
        if self._scopes.data.find(b"import(", start, end) < 0:
            return
        text, row = self._scopes.text(start, min(end, start + _MAX_COMMENT_BYTES)), self._scopes.row(start)
        for named, module, name, alias in _LOADED.findall(text):
            known_as = alias if named else name
            if known_as:
                entry = Import(MODULE_SCOPE, ImportKind.TYPE, module, 0, name or "default", known_as, row)
                self.imports.append(entry)

    def finish(self) -> None:
        """Give the types in comments, and of associations, to definitions without a type."""
        for position, each in enumerate(self._bindings if self._told else ()):
            types = self._told.get((each.scope, each.target), ())
            if each.type and len(types) == 1 and (told := next(iter(types))).startswith(f"{each.type}?"):
                self._bindings[position] = each._replace(type=told)  # `Builder $it`, said to be `Builder<Door>`
        if self._scopes.settings.types.queries:
            self._drop_shared_elements()
            if b"delegate" in self._scopes.data:
                self._hand_on()
        for draft in self._scopes.drafts if self._associations else ():
            if draft.kind is NodeKind.FIELD and draft.parent >= 0 and (type_ := self._find_associated(draft)):
                row = self._scopes.row(draft.start)
                self._bindings.append(Binding(draft.parent, f".{draft.name}", type_, "", row))
        if self._model_fields and any(name.encode() in self._scopes.data for name in self._model_fields):
            self._bind_other_ends()
        for index, start, end in self._above:
            draft, row = self._scopes.drafts[index], self._scopes.row(start)
            for role, type_, name in self._read_tags(start, end):
                if role is DocTag.RETURNS and draft.kind in CALLABLE_KINDS:
                    # The object itself is more than an object of its class, which the code says.
                    draft.returns = type_ if type_ == self._own_object else draft.returns or type_
                elif role is DocTag.PARAMETER and name:
                    self._bindings.append(Binding(index, name, type_, "", row))
                elif role is DocTag.MEMBER and name:
                    self._bindings.append(Binding(index, f".{name[1:]}", type_, "", row))
                elif role is DocTag.TYPE and draft.kind in VALUE_KINDS and draft.parent >= 0:
                    self._bindings.append(Binding(draft.parent, f".{draft.name}", type_, "", row))

    def _drop_shared_elements(self) -> None:
        """Remove the elements from parameters of blocks whose names a function gives another value, too.

        Blocks have scopes of their own, which functions have not here.
        """
        counts, alike = Counter[tuple[int, str]](), Counter[tuple[int, str, str]]()
        for each in self._bindings:
            counts[each.scope, each.target] += 1
            alike[each.scope, each.target, each.value] += bool(each.value)
        kept: list[Binding] = []
        for each in self._bindings:
            is_element = bool(kept) and each.value.endswith(_ELEMENT) and kept[-1] == each._replace(value="")
            n_alike = alike[each.scope, each.target, each.value] * _OF_ONE_BLOCK
            if not is_element or counts[each.scope, each.target] == n_alike:
                kept.append(each)
        self._bindings[:] = kept

    def _hand_on(self) -> None:
        """Let what `delegate :label, to: :owner` defines call `owner.label`."""
        scopes = self._scopes
        text = scopes.data.decode("utf-8", "surrogateescape")
        if not text.isascii():
            text = scopes.data.decode("latin-1")  # of one character for each byte
        handed = list(_HANDED_ON.finditer(text))
        starts = [each.start() for each in handed]
        for index, draft in enumerate(scopes.drafts):
            if draft.kind is not NodeKind.METHOD or draft.parent < 0:
                continue
            place = bisect_right(starts, draft.start) - 1
            statement = handed[place] if place >= 0 and draft.start < handed[place].end() else None
            to = _HANDED_TO.search(statement[0]) if statement is not None else None
            if statement is None or to is None or to[1] in _NO_MEMBERS:
                continue
            prefix = _HANDED_AS.search(statement[0])
            chain, row = f"{to[1]}.{draft.name}", scopes.row(draft.start)
            self._calls.append(Call(index, chain, row))
            self._bindings.append(Binding(index, RETURNED, "", chain, row))
            if prefix is not None:
                name = f"{to[1] if prefix[1] == 'true' else prefix[1]}_{draft.name}"
                draft.qualname, draft.name = f"{draft.qualname.removesuffix(draft.name)}{name}", name

    def _bind_other_ends(self) -> None:
        """Give the class that a field leads to the member that leads back: `plan.meal_set`, or what the field names."""
        drafts = self._scopes.drafts
        for draft in drafts:
            if draft.kind is not NodeKind.FIELD or draft.parent < 0 or drafts[draft.parent].kind is not NodeKind.CLASS:
                continue
            text = self._scopes.text(draft.span_start, min(draft.end, draft.span_start + _MAX_ASSOCIATION_BYTES))
            made = _MODEL_FIELD.match(text)
            if made is None or made[2] not in self._model_fields:
                continue
            to = made if made[3] or made[4] else _MODEL_NAMED.search(text)
            text_name, written = (to[to.re.groups - 1], to[to.re.groups]) if to else ("", "")
            own, target = drafts[draft.parent].name, f"{STRING_TARGET}{text_name}" if text_name else written
            named, is_one = _REVERSE_NAME.search(text), made[2].startswith(_OF_ONE)
            name = named[1] if named else f"{own.lower()}{'' if is_one else '_set'}"
            if target and name:
                target, row = own if text_name == "self" else target, self._scopes.row(draft.start)
                value = f"{own}{Mark.CALL if is_one else f'.{_INSTANCES}'}"
                self._bindings.append(Binding(draft.parent, f"{target}.{name}", "", value, row))

    def _find_associated(self, draft: DefinitionDraft) -> str:
        """Return the type of a member that a call such as `has_many :doors, class_name: "Door"` defines, or ""."""
        statement = _STATEMENT.match(self._scopes.text(draft.span_start, draft.span_start + _MAX_ASSOCIATION_BYTES))
        text = statement[0] if statement is not None else ""
        maker = _WORD.match(text)
        around = self._associations.get(maker[0]) if maker is not None else None
        if around is None or _ANY_CLASS.search(text):
            return ""
        named, source, is_many = _CLASS_NAME.search(text), _SOURCE.search(text), bool(around)
        name = named[1].lstrip(":") if named else class_of_association(source[1] if source else draft.name, is_many)
        return f"{name.replace('::', '.')}{'[]' if is_many else ''}"

    def _read_tags(self, start: int, end: int) -> Iterator[TaggedType]:
        text = self._scopes.text(start, min(end, start + _MAX_COMMENT_BYTES))
        if not text.startswith("/**"):
            return
        for tag in tagged_types(text, self._tags):
            own = tag.type in self._scopes.settings.names.self_names
            name = tag.type if own else _type_name(tag.type, self._scopes.settings.types)
            if name:
                yield tag._replace(type=name)


def class_of_association(name: str, is_many: bool) -> str:
    """Return the class that an association is named after.

    >>> [class_of_association(n, True) for n in ("doors", "gate_keys", "entries", "boxes", "people", "series")]
    ['Door', 'GateKey', 'Entry', 'Box', 'Person', 'Series']
    >>> class_of_association("main_address", False)
    'MainAddress'
    """
    if is_many:
        for ending, one in _SINGULARS:
            if name.endswith(ending):
                name = f"{name.removesuffix(ending)}{one}"
                break
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def tagged_types(comment: str, tags: Mapping[str, Sequence[str]]) -> Iterator[TaggedType]:
    r"""Yield the types in a comment, in order, as written.

    >>> [(str(t.role), t.type, t.name) for t in tagged_types("/** @param ?A|null $a\n * @return array<int, B> all */",
    ...     {"parameter": ["@param"], "returns": ["@return"]})]
    [('parameter', '?A|null', '$a'), ('returns', 'array<int, B>', '')]
    >>> [t[1:] for t in tagged_types("/** @param {?A=} [a] the a\n * @param {B} a.b */", {"parameter": ["@param"]})]
    [('A', 'a'), ('B', '')]
    """
    roles = {tag: DocTag(role) for role, names in tags.items() for tag in names}
    for tag_match in _TYPE_TAG.finditer(comment):
        role = roles.get(tag_match[1])
        if role is not None and comment[tag_match.end()] == "{":
            if braced := _BRACED.match(comment, tag_match.end()):
                written = _IMPORTED.sub("", braced[1].strip().strip("?!=").removeprefix("..."))
                yield TaggedType(role, written, braced[2] or "")
            continue
        if role is None or (comment[tag_match.end()] == "$" and role is not DocTag.RETURNS):
            continue  # a name without a type
        end = _end_of_type(comment, tag_match.end())
        named = _NAME.match(comment, end)
        yield TaggedType(role, comment[tag_match.end() : end], named[1] if named else "")


def _end_of_type(text: str, start: int) -> int:
    """Return the end of the type at `start`: white space outside of brackets."""
    depth = 0
    for position in range(start, min(len(text), start + _MAX_CHARACTERS)):
        character = text[position]
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth = max(depth - 1, 0)
        elif character.isspace() and (depth == 0 or character == "\n"):
            return position
    return min(len(text), start + _MAX_CHARACTERS)


def _type_name(text: str, settings: TypeSettings) -> str:
    """Return the type of a union that has members, "" if several do and no value has those of each.

    >>> settings = TypeSettings(memberless_types=("string",))
    >>> [_type_name(t, settings) for t in ("A[]|null", "?A", "string|A", "A|B", ".a.B", "string")]
    ['A[]', 'A', 'A', '', '.a.B', '']
    """
    members = [part.strip().removeprefix("?") for part in split_top(text, "|")]
    members = [part for part in members if part and part != "null" and part not in settings.memberless_types]
    if settings.unions and len(members) > 1:
        return union_type(members, settings)
    return array_type_name(members[0], settings) if len(members) == 1 else ""


_ANNOTATION = lazy_regex(  # or a remark; with a group if nothing in brackets belongs to it
    r"\s*(?:@(?!interface\b)[\w.:]+[ \t]*(?=\()|(?:@(?!interface\b)[\w.:]+|//[^\n]*|/\*.*?\*/)()|#?(?=\[))", re.DOTALL
)
_IN_ANNOTATION = lazy_regex(r"[()\[\]{}]|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//[^\n]*|/\*.*?\*/", re.DOTALL)


def without_annotations(text: str) -> str:
    r"""Return a signature without the annotations and remarks before it.

    >>> without_annotations('@Get(path = ")") @Deprecated public void f()')
    'public void f()'
    >>> without_annotations("#[Get(paths: ['/a'])] #[Old] public function f()")
    'public function f()'
    >>> without_annotations('[Get("/[a]")] [Old] public void F(int[] a)'), without_annotations("[[nodiscard]] int f()")
    ('public void F(int[] a)', 'int f()')
    >>> without_annotations("#[Get([f(['a'])])] // why\n@Old(x = {@A(b = (1))}) class A")
    'class A'
    """
    while matched := _ANNOTATION.match(text):
        end = matched.end() if matched[1] is not None else closing_bracket(text, matched.end(), _IN_ANNOTATION) + 1
        if not end or not (rest := text[end:].lstrip()):
            break
        text = rest
    return text


_MACRO_PARAMETERS = lazy_regex(r"#\s*define\s+\w+\(([^()]*)\)")
_CALL_IN_MACRO = lazy_regex(r"(?<![\w.>#])([^\W\d]\w*)\s*\((?=([^()]*))")
_MAX_MACRO_CHARACTERS = 4000


def calls_of_parameters(head: str, body: str, macros: Collection[str]) -> list[str]:
    """Return the calls that a macro makes of its parameters, and those of `macros` that are given one.

    >>> calls_of_parameters("#define RUN(f, n)", "do { f(); log(n, #f); } while (0)", ())
    ['f()']
    >>> calls_of_parameters("#define RUN(f)", "RUN_TIMES(3, f)", ("RUN_TIMES",))
    ['RUN_TIMES(f)']
    """
    written = _MACRO_PARAMETERS.match(head)
    names = re.findall(r"\w+", written[1]) if written else []
    calls = _CALL_IN_MACRO.findall(body[:_MAX_MACRO_CHARACTERS]) if names else []
    made = {f"{called}()": None for called, _ in calls if called in names}
    given = ((called, each.strip()) for called, taken in calls if called in macros for each in taken.split(","))
    return [*made, *dict.fromkeys(f"{called}({each})" for called, each in given if each in names)]


def without_comment(line: str, marks: Collection[str]) -> str:
    """Return a line without the comment at its end; a mark inside of a literal or of another word begins none.

    >>> [without_comment(each, ["#"]) for each in ("def f():  # why", "# why", "a = '#'", "def f#", "#[A] f()")]
    ['def f():', '', "a = '#'", 'def f#', '#[A] f()']
    """
    for found in re.finditer("|".join(rf"(?<!\S){re.escape(mark)}(?!\[)" for mark in marks), line):
        before = line[: found.start()]
        quotes = ('"',) if found[0] == "//" else ('"', "'")  # lifetimes of Rust are single ones
        if not any(before.count(quote) % 2 for quote in quotes):
            return before.rstrip()
    return line
