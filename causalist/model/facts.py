"""Facts of one file, the output of `parse` and the only input of `graph`, and the part that other files may read.

Facts depend on the bytes and the grammar alone, not on the path, so that one parse serves every branch and clone. Rows
are named tuples: a large repository has millions, built three times as fast as dataclasses and written as JSON arrays.
`space_words` reduces text to its words, for readers that count words.

The interface of a file is what resolution of names in *other* files may read. Everything else, the bodies, is read only
for edges that leave the file itself: calls, references, accesses, lookups, mentions, and local variables on which
nothing visible outside depends. If two states of a file have the same interface, the edges of all other files are the
same. Nothing left out here may be asked of another file in `causalist.graph`: a test links every file without bodies.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from enum import IntEnum, StrEnum
from itertools import accumulate
from operator import attrgetter
from typing import Any, NamedTuple

from causalist._internal.lazy import dataclass
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.source import Diagnostic
from causalist.model.type_notation import RETURNED

MODULE_SCOPE = -1
ALWAYS, NEVER = "1", "0"  # conditions of `FileFacts.conditions`
# In `Call.arguments`: not counted by the grammar; of a declared type; run by an operator, statement or builtin.
UNCOUNTED, IS_TYPE, OPERATED = "-", "=", "@"


class ArgumentKind(StrEnum):
    """Letters of `Call.arguments`, one for each argument."""

    STRING = "s"
    CHARACTER = "c"
    INTEGER = "i"
    LONG = "l"
    DOUBLE = "d"
    FLOAT = "f"
    BOOLEAN = "b"
    NULL = "n"
    FUNCTION = ">"
    OTHER = "?"


class LambdaForm(NamedTuple):
    """Form of a function without a name that is an argument, which its letter says where types tell it."""

    n_parameters: int
    gives: str  # "value", "nothing" or, of an expression that may be either, ""
    is_async: bool

    @property
    def letter(self) -> str:
        """Letter in `Call.arguments`, that of any function where it has more parameters than letters tell.

        >>> LambdaForm(0, "", False).letter, LambdaForm(1, "value", True).letter, LambdaForm(9, "", False).letter
        ('A', 'V', '>')
        """
        if self.n_parameters >= _MAX_TOLD_PARAMETERS:
            return ArgumentKind.FUNCTION.value
        form = _GIVES.index(self.gives) + len(_GIVES) * self.is_async
        return chr(ord("A") + form * _MAX_TOLD_PARAMETERS + self.n_parameters)

    @classmethod
    def of_letter(cls, letter: str) -> "LambdaForm | None":
        """Return the form that a letter says; None for other letters.

        >>> LambdaForm.of_letter("V"), LambdaForm.of_letter(">")
        (LambdaForm(n_parameters=1, gives='value', is_async=True), None)
        """
        if not "A" <= letter <= "Z":
            return None
        form, n_parameters = divmod(ord(letter) - ord("A"), _MAX_TOLD_PARAMETERS)
        is_async, gives = divmod(form, len(_GIVES))
        return cls(n_parameters, _GIVES[gives], bool(is_async))


_GIVES, _MAX_TOLD_PARAMETERS = ("", "nothing", "value"), 4


class ManifestKey(StrEnum):
    """Keys of `FileFacts.manifest`, whose values are cached. Comments describe a value; tabs separate its parts."""

    NAME = "name"  # the package
    ENTRY = "entry"  # a file that an import of the package loads
    BASE = "base"  # the folder of paths that do not begin with a dot
    BUILT = "built"  # the folder of compiled files, and that of their sources
    ALIAS = "alias"  # a pattern and its targets
    EXPORT = "export"  # the same for what a package exports
    EXTENDS = "extends"  # another configuration
    PRIVATE = "private"  # a file whose names others do not see
    MODULE = "module"  # the prefix of package paths
    REPLACE = "replace"  # a package path and the folder in its place
    AUTOLOAD = "autoload"  # a package and the folder where a loader searches its types
    BUILD = "build"  # of a source file: the tags of its builds
    PACKAGE = "package"  # the package of a module tree
    LIBRARY = "library"  # its name in imports and the file of its root
    TARGET = "target"  # the file of a binary, example, test or benchmark
    DEPENDENCY = "dependency"  # a local name and a package
    RENAMED = "renamed"  # a local name, and the package that it is, or the folder of one after a dot
    USING = "using"  # a namespace that all files of a project use
    SHARED = "shared"  # the same for all packages of a workspace
    WRAPPED = "wrapped"  # the module around the modules of a folder; "" if only the folder sees them, "*" if all do
    NAMED = "named"  # the name of a module or object, the file of its root, and "*" if other packages may use it
    TESTS = "tests"  # beginnings and patterns of names of tests, spaces between
    TEST_FILES = "test-files"  # patterns of names of files of tests, spaces between


class Definition(NamedTuple):
    """A symbol that the file defines.

    `qualname` joins nesting with "."; `parent` is an index into `FileFacts.definitions` or MODULE_SCOPE. Spans are
    bytes and 0-based rows, ends exclusive for bytes and inclusive for rows; decorators belong to the span. Its words
    start at `text_byte`: at the comment right above that documents it, or at the start of the span.
    """

    name: str
    qualname: str
    kind: int
    parent: int
    start_byte: int
    end_byte: int
    start_row: int
    end_row: int
    signature: str
    doc: str
    text_byte: int


class Base(NamedTuple):
    """A base of `definition`: the dotted expression `name`.

    `implements` distinguishes an interface from a superclass.
    """

    definition: int
    name: str
    implements: bool
    row: int


class Implementation(NamedTuple):
    """A block in which `type` implements `trait`, both as written in `scope`.

    Definitions `first` up to `end` are in that block.
    """

    scope: int
    type: str
    trait: str
    first: int
    end: int
    row: int


class Call(NamedTuple):
    """A call site in `scope`.

    `callee` is a dotted chain with "()" after the parts that are called themselves: `self.session.get`, `make().run`,
    `super().close`. "?" stands for a part without a name, `<T>` for an expression that the source declares to be of
    type T. Languages with block scope may write a local name with the number of its declaration, `x~2.run`, and use
    more marks than "()": those of `model.type_notation`.

    `arguments` has one letter of `ArgumentKind` for each argument: literals, functions (`>`), anything else (`?`). It
    is `UNCOUNTED` if arguments are not counted, `IS_TYPE` if the callee is declared to be a type, and `OPERATED` if
    nothing names it: `x.__len__` for `len(x)`. `values` are the chains of "?" arguments, joined by ",", each "" if it
    is no chain; "" if none is one, or literals do not overload. Of a declared type they are the number of its type
    arguments, or ""; elsewhere that comes last, behind "<>". Labels follow a bar: "_" none, "{" a function behind it.
    """

    scope: int
    callee: str
    row: int
    arguments: str = UNCOUNTED
    values: str = ""


class Reference(NamedTuple):
    """A name or dotted chain used other than by calling it; `a::f` is the function f of a, passed on."""

    scope: int
    name: str
    row: int


class ImportKind(IntEnum):
    """Form of an import."""

    MODULE = 0  # import a.b [as c]; import * as c from "m"; c = require("m")
    NAME = 1  # from m import name [as alias]; import {name as alias} from "m"
    STAR = 2  # from m import *
    DEFAULT = 3  # import alias from "m"
    SIDE_EFFECT = 4  # import "m"
    REEXPORT = 5  # export {name as alias} from "m"
    REEXPORT_ALL = 6  # export * from "m"
    REEXPORT_NAMESPACE = 7  # export * as alias from "m"
    TYPE = 8  # a comment names a type of another file, which is not loaded for that


class Import(NamedTuple):
    """One imported name.

    `module` is the text of the statement, without quotes; `level` counts leading dots in languages that have them;
    `name` is "" if no single name is imported; `alias` is the local (or exported) name.
    """

    scope: int
    kind: int
    module: str
    level: int
    name: str
    alias: str
    row: int


class Export(NamedTuple):
    """`local` is visible to importers as `exported` ("default" for the default export)."""

    local: str
    exported: str
    row: int


class Binding(NamedTuple):
    """A variable, parameter or attribute that gets a value in `scope`.

    `target` is a name, or ".name" for an attribute of the enclosing type. `type` is the annotation and `value` the
    called or named chain on the right, both "" if no chain can express them. A type may follow its container: `[K]T` is
    a collection, `()T` a function, `(T,U)` several results. `{a,b:c.d}` is an object whose member a is the value of a,
    and b that of c.d; it may have functions of its own, and with "..." any other member.
    """

    scope: int
    target: str
    type: str
    value: str
    row: int

    @property
    def is_of_member(self) -> bool:
        """True for a member of an attribute: `.a.b`."""
        return "." in self.target[1:]


class AccessKind(IntEnum):
    """Kind of access to a variable or member."""

    READ = 0
    WRITE = 1
    UPDATE = 2  # both: x += 1


class Access(NamedTuple):
    """An access to a variable or member, in `scope`.

    `name` is a chain as calls have them, `self.limit`; `how` is an AccessKind. Setting an element, `self.items[0] = x`,
    writes its container.
    """

    scope: int
    name: str
    row: int
    how: int


class Lookup(NamedTuple):
    """A value that is read by the literal name `key`, or set (`writes`): `os.getenv("HOME")`.

    `way` is an index into `LanguageSettings.lookups`, `head` the first name of the expression ("os"), "" if it is the
    keyword itself.
    """

    scope: int
    way: int
    head: str
    key: str
    row: int
    writes: int


class RouteForm(IntEnum):
    """Form of a `RouteFact`."""

    ROUTE = 0  # a method and path, and what handles it
    PREFIX = 1  # what all routes of `receiver`, or of the type `definition`, are below
    MOUNT = 2  # the routes of `handler` are below `path` of `receiver`
    MOUNT_AT = 3  # the same, in place of the prefix that `handler` has
    REQUEST = 4  # a client asks for a path
    EMIT = 5  # an event
    LISTEN = 6  # what handles an event
    INHERITED = 7  # a ROUTE of the types that inherit the method: that of the method has no path itself
    DISPATCH = 8  # a member of the type around is looked up by a computed name that begins with `path`
    NAMESPACE = 9  # names of all routes of `receiver` are in the namespace `path`
    LINK = 10  # the path of the route of the name `path` is asked for, `:` between its parts
    DECLARED = 11  # the method and path that a function says of itself, for who registers it
    DECLARED_AT = 12  # the routes that the function `handler` declares are registered with `receiver`
    SEND = 13  # an object of the type `path` is handed on; `name` are methods of it that run then, joined by "|"
    RECEIVE = 14  # what handles objects of the type `path`
    OBSERVE = 15  # what runs when an object of the type `path` is saved or removed; `name` are its methods, as above
    VERSION = 16  # `path` after `handler` stands in the paths of a method or type, or, with a `receiver`, of the others


class RouteFact(NamedTuple):
    """A route, or a request of one, or an event, by a literal in `scope`.

    `receiver` is the chain that it is registered with (`app`, `self.router`), "" for none or all of the file. `method`
    is that of HTTP in capitals, ANY, or "". `path` is the path as written, `=` and the name of a constant that holds
    it, an event or type. `handler` is the chain of what handles or is mounted, or `module:` and a module; `definition`
    its position, or -1. `name` is that of the route, the namespace of what is mounted, or the kind of an event's name.
    """

    scope: int
    form: int
    receiver: str
    method: str
    path: str
    handler: str
    definition: int
    row: int
    name: str = ""


class LinkForm(IntEnum):
    """Form of a `LinkFact`: what code or data does with a name that several languages share."""

    TABLE = 0  # makes a table or view in a database
    CHANGE = 1  # changes the form of a table, or names it as another does
    READ = 2  # reads rows of a table
    WRITE = 3  # writes rows of a table
    MODEL = 4  # a type whose instances are rows of the table
    CONVENTION = 5  # the same, where a framework makes the name of the table of that of the type
    SET_KEY = 6  # gives an environment variable a value
    READ_KEY = 7  # reads an environment variable
    ASK_KEY = 8  # asks by a name for what may be an environment variable
    RENDER = 9  # renders a template, by its name
    SHOW_TEXT = 10  # shows a translated text, by its key
    HAVE_TEXT = 11  # has a translated text
    RUN = 12  # runs, copies or builds a file
    SERVE = 13  # describes an operation of an interface: a method and path, or service and procedure
    RESOURCE = 14  # names a resource, variable or module of the infrastructure
    HAVE_TARGET = 15  # has a script or target that a program runs by its name
    RUN_TARGET = 16  # runs one: the program, the name, and the folder behind a tab


class LinkFact(NamedTuple):
    """A name in `scope` that code and data share, as written: of a table, a template, a text, a file.

    `form` is a LinkForm.
    """

    scope: int
    form: int
    name: str
    row: int


class Passage(NamedTuple):
    """A section of prose, or a block of text without a grammar.

    `slug` is unique in the file; `parent` is an index into `FileFacts.passages` or -1.
    """

    slug: str
    title: str
    parent: int
    start_byte: int
    end_byte: int
    start_row: int
    end_row: int


class MentionForm(IntEnum):
    """Form of a name of code in prose."""

    SPAN = 0  # between backticks
    ROLE = 1  # a cross-reference or directive of a documentation tool, which says that it is a name
    LINK = 2  # the target of a link
    EXAMPLE = 3  # in a block of code


class Mention(NamedTuple):
    """A name of code in prose, as written.

    `document` is an index into `FileFacts.definitions` (the first line of whose documentation is read) followed by the
    `passages`, or MODULE_SCOPE for the rest of the file. `form` is a MentionForm, `row` the first row with the name.
    """

    document: int
    form: int
    name: str
    row: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All facts of one file.

    `language` is "" for text without a grammar. `returns` maps definitions to their return annotations, and type
    aliases to their types. `words` is the text in UTF-8 with each ASCII character outside of words replaced by a space,
    so that positions hold; None if cached facts were read without it, because resolution does not need it.
    `wildcard_exports` is None unless the file lists its exports to `import *`. `package` is the name in the file's
    package clause, "" without one. `owners` maps definitions outside of their type (a Go method, an `impl`) to the name
    of the type as written. `parameters` maps functions to the annotations of their parameters, the last with "..." if
    it is variadic, with "=" if optional; a function without entry may have any. `implementations` are blocks in which
    types implement traits. `tests` are definitions marked as tests. `conditions` maps functions and macros behind `#if`
    to what must hold for each to be compiled.

    `doc` is the first line of the documentation of the file. `manifest` holds what a package or compiler configuration
    says of modules, as pairs of a `ManifestKey` and its value.

    `secrets` are the spans (start byte, end byte) that were masked before parsing. `mentions` are the names of code in
    prose. `routes` are those that the file registers or asks for, and events. `links` are names that code and data
    share.

    `aside` is the `SetAside` of a generated or repeated file, "" for source. Such a file has no words and no passages.
    """

    language: str
    definitions: tuple[Definition, ...] = ()
    bases: tuple[Base, ...] = ()
    calls: tuple[Call, ...] = ()
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] = ()
    bindings: tuple[Binding, ...] = ()
    returns: tuple[tuple[int, str], ...] = ()
    passages: tuple[Passage, ...] = ()
    words: bytes | None = b""
    diagnostics: tuple[Diagnostic, ...] = ()
    doc: str = ""
    n_rows: int = 0
    n_bytes: int = 0
    wildcard_exports: tuple[str, ...] | None = None
    manifest: tuple[tuple[str, str], ...] = ()
    package: str = ""
    owners: tuple[tuple[int, str], ...] = ()
    parameters: tuple[tuple[int, tuple[str, ...]], ...] = ()
    secrets: tuple[tuple[int, int], ...] = ()
    implementations: tuple[Implementation, ...] = ()
    accesses: tuple[Access, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    tests: tuple[int, ...] = ()
    mentions: tuple[Mention, ...] = ()
    routes: tuple[RouteFact, ...] = ()
    links: tuple[LinkFact, ...] = ()
    conditions: tuple[tuple[int, tuple[str, ...]], ...] = ()
    aside: str = ""

    def document_spans(self) -> list[tuple[int, int]]:
        """Return the bytes of each document's words: definitions, then passages, nested or disjoint.

        Words of a field belong to its type: as a document of its own a field is too short.
        """
        spans = [
            (d.start_byte, d.start_byte) if d.kind == NodeKind.FIELD else (d.text_byte, d.end_byte)
            for d in self.definitions
        ]
        return spans + [(passage.start_byte, passage.end_byte) for passage in self.passages]

    def without_words(self) -> "FileFacts":
        """Return the facts without words, in half the time of `dataclasses.replace`."""
        values = list(_values(self))
        values[_WORDS] = None
        return FileFacts(*values)


def without_constants(facts: FileFacts) -> FileFacts:
    """Return the facts without the constants that nothing is defined in.

    What is inside of them belongs to their parents.
    """
    definitions = facts.definitions
    parents = {definition.parent for definition in definitions}
    is_kept = [each.kind != NodeKind.CONSTANT or i in parents for i, each in enumerate(definitions)]
    kept = [i for i, stays in enumerate(is_kept) if stays]
    places = {i: place for place, i in enumerate(kept)}
    at = [places.get(i, places.get(each.parent, MODULE_SCOPE)) for i, each in enumerate(definitions)]

    def move(number: int) -> int:
        return at[number] if number >= 0 else number

    def with_scopes(rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(row._replace(scope=move(row.scope)) for row in rows)

    def keep_owned(rows: Iterable[tuple[int, Any]]) -> tuple[tuple[int, Any], ...]:
        return tuple((at[i], value) for i, value in rows if is_kept[i])

    bounds = [0, *accumulate(is_kept)]
    return replace(
        facts,
        definitions=tuple(definitions[i]._replace(parent=move(definitions[i].parent)) for i in kept),
        bases=tuple(base._replace(definition=at[base.definition]) for base in facts.bases if is_kept[base.definition]),
        implementations=tuple(
            each._replace(scope=move(each.scope), first=bounds[each.first], end=bounds[each.end])
            for each in facts.implementations
        ),
        calls=with_scopes(facts.calls),
        references=with_scopes(facts.references),
        imports=with_scopes(facts.imports),
        bindings=with_scopes(facts.bindings),
        accesses=with_scopes(facts.accesses),
        lookups=with_scopes(facts.lookups),
        routes=tuple(each._replace(scope=move(each.scope), definition=move(each.definition)) for each in facts.routes),
        mentions=tuple(
            each._replace(document=move(each.document)) for each in facts.mentions if each.document < len(definitions)
        ),
        links=with_scopes(facts.links),
        returns=keep_owned(facts.returns),
        owners=keep_owned(facts.owners),
        parameters=keep_owned(facts.parameters),
        conditions=keep_owned(facts.conditions),
        tests=tuple(at[i] for i in facts.tests if is_kept[i]),
    )


_NAMES = [field.name for field in fields(FileFacts)]
_WORDS = _NAMES.index("words")
_values = attrgetter(*_NAMES)


_SPACED = bytes(c if chr(c).isalnum() or chr(c) == "_" else ord(" ") for c in range(128)) + bytes(range(128, 256))


def opposite_condition(condition: str) -> str:
    """Return the condition that holds where `condition` does not.

    >>> [opposite_condition(each) for each in ("A", "!A", "A&&B", "!(A&&B)", "A>1", "1")]
    ['!A', 'A', '!(A&&B)', 'A&&B', '!(A>1)', '0']
    """
    if condition in (ALWAYS, NEVER):
        return NEVER if condition == ALWAYS else ALWAYS
    if condition.startswith("!") and condition[1:].replace("_", "a").isalnum():
        return condition[1:]
    if condition.startswith("!(") and condition.endswith(")") and ")" not in condition[2:-1].partition("(")[0]:
        return condition[2:-1]
    return f"!{condition}" if condition.replace("_", "a").isalnum() else f"!({condition})"


def space_words(text: bytes) -> bytes:
    r"""Replace each ASCII character that is no letter, digit or `_` by a space, so that positions hold.

    Other separators between words are handled when words are counted.

    >>> space_words("if (größe_2):\xa0# ok".encode()).decode()
    'if  größe_2  \xa0  ok'
    """
    return text.translate(_SPACED)


_NAME = re.compile(r"\w+")


def body_bindings(facts: FileFacts) -> list[int]:
    """Return positions in `facts.bindings` of those that belong to bodies.

    These are plain variables of functions that nothing visible to other files refers to: no return value, attribute,
    annotation or base of a class in the same function or one inside of it, and no other variable that one of these
    names.
    """
    definitions = facts.definitions
    kinds = [definition.kind for definition in definitions]
    parents = [min(definition.parent, position - 1) for position, definition in enumerate(definitions)]
    members = {local for local, _ in facts.owners}
    plain: dict[int, dict[str, list[int]]] = {}  # function -> first word of a name -> positions
    seen: list[tuple[int, str]] = []  # (scope, text) of what is read from outside
    for position, binding in enumerate(facts.bindings):
        scope, target, type_, value, _ = binding
        if not 0 <= scope < len(kinds):
            continue
        word = variable_of(binding, kinds, members)
        if word:
            plain.setdefault(scope, {}).setdefault(word, []).append(position)
        else:
            seen += [(scope, target), (scope, type_), (scope, value)]
    if not plain:
        return []
    seen += _exported_texts(facts)
    while seen:
        scope, text = seen.pop()
        words = None
        while 0 <= scope < len(parents):
            if scope in plain:
                words = words or _NAME.findall(text)
                for word in words:
                    for position in plain[scope].pop(word, ()):
                        binding = facts.bindings[position]
                        seen += [(scope, binding.type), (scope, binding.value)]
            scope = parents[scope]
    return sorted(position for names in plain.values() for positions in names.values() for position in positions)


def variable_of(binding: Binding, kinds: Sequence[int], members: Container[int]) -> str:
    """Return the name of the function variable or parameter that a binding sets, or "".

    Nothing in other scopes names such a variable. `kinds` are those of the definitions; `members` those that belong to
    a type outside of which they stand.
    """
    scope, target, type_, _, _ = binding
    if (
        not 0 <= scope < len(kinds)
        or "." in target
        or target == RETURNED
        or kinds[scope] not in CALLABLE_KINDS
        # Type parameters of a block, which become those of the type that its members belong to.
        or (scope in members and type_ and "'" not in target)
    ):
        return ""
    word = _NAME.search(target)
    return word[0] if word else ""


def _exported_texts(facts: FileFacts) -> Iterator[tuple[int, str]]:
    """Yield (scope, text) of everything but bindings that chains read for other files may contain."""
    for definition in facts.definitions:
        yield definition.parent, definition.name
    for local, returned in facts.returns:
        yield local, returned
    for local, owner in facts.owners:
        yield local, owner
    for local, types in facts.parameters:
        for each in types:
            yield local, each
    for base in facts.bases:
        yield base.definition, base.name
    for block in facts.implementations:
        yield block.scope, block.type
        yield block.scope, block.trait
    for entry in facts.imports:
        yield entry.scope, f"{entry.module} {entry.name} {entry.alias}"


def interface_of(facts: FileFacts) -> FileFacts:
    """Return the facts without their bodies."""
    hidden = set(body_bindings(facts))
    bindings = facts.bindings
    if hidden:
        bindings = tuple(binding for position, binding in enumerate(bindings) if position not in hidden)
    return replace(facts, bindings=bindings, calls=(), references=(), accesses=(), lookups=(), mentions=())


def strip_uses(facts: FileFacts) -> FileFacts:
    """Return the facts needed once all files are linked: definitions, passages, words, diagnostics."""
    return replace(
        facts,
        bases=(),
        implementations=(),
        calls=(),
        references=(),
        imports=(),
        exports=(),
        bindings=(),
        accesses=(),
        lookups=(),
        mentions=(),
        routes=(),
        links=(),
        returns=(),
        parameters=(),
        conditions=(),
    )


def has_same_interface(one: FileFacts, other: FileFacts) -> bool:
    """Return True if two states of a file look the same to all other files."""
    return _without_positions(interface_of(one)) == _without_positions(interface_of(other))


def _without_positions(facts: FileFacts) -> FileFacts:
    """Return an interface without data of the file's own nodes: positions, documentation, words."""
    return replace(
        facts,
        definitions=tuple(
            d._replace(
                start_byte=0, end_byte=0, start_row=0, end_row=0, doc="", text_byte=0,
                # What is written of a value there, or of a type, is read from its binding or base.
                signature=d.signature if d.kind in CALLABLE_KINDS else "",
            )
            for d in facts.definitions
        ),
        bases=tuple(base._replace(row=0) for base in facts.bases),
        implementations=tuple(block._replace(row=0) for block in facts.implementations),
        imports=tuple(entry._replace(row=0) for entry in facts.imports),
        exports=tuple(export._replace(row=0) for export in facts.exports),
        bindings=_bindings_without_rows(facts.bindings),
        routes=(),  # edges of routes are found again at each change
        links=(),  # as are those of names that languages share
        passages=(),
        words=None,
        diagnostics=(),
        doc="",
        n_rows=0,
        n_bytes=0,
        secrets=(),
    )  # fmt: skip


def _bindings_without_rows(bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
    return tuple(binding._replace(row=0) for binding in bindings)
