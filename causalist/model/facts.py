"""What one file says by itself: the output of `parse` and the only input of `graph`.

Facts depend on the bytes and the grammar alone, not on the path, so that one parse serves every branch and clone.
Rows of facts are named tuples rather than dataclasses: a large repository has millions, they are built three times
as fast, and they are written as JSON arrays as they stand.

Text with nothing but its words: what passes from those who read files to those who count words.
"""

from dataclasses import dataclass, fields
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple

from causalist.model.source import Diagnostic as Diagnostic
from causalist.model.symbols import NodeKind

MODULE_SCOPE = -1


class Definition(NamedTuple):
    """A symbol that the file defines.

    `qualname` joins nesting with "."; `parent` is an index into `FileFacts.definitions` or MODULE_SCOPE. Spans are
    bytes and 0-based rows, ends exclusive for bytes and inclusive for rows; decorators belong to the span. Its words
    start at `text_byte`: at the comment right above that documents it, or where the span starts."""

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
    """`definition` derives from the dotted expression `name`; `implements` tells an interface from a superclass."""

    definition: int
    name: str
    implements: bool
    row: int


class Implementation(NamedTuple):
    """`type` implements `trait`, both as written in `scope`; definitions `first` up to `end` stand in that block."""

    scope: int
    type: str
    trait: str
    first: int
    end: int
    row: int


class Call(NamedTuple):
    """A call site in `scope`. `callee` is a dotted chain with "()" after the parts that are called themselves:
    `self.session.get`, `make().run`, `super().close`; "?" stands for a part that is no name, `<T>` for an expression
    that the source says to be of type T. Languages with block scope may spell a local name with the number of its
    declaration, `x~2.run`, and have more marks than "()": see `type_notation`. `arguments` has one letter for each
    argument, telling literals (`s` text, `c` character, `i` and `l` integers, `d` and `f` fractions, `b` truth, `n`
    null) from functions (`>`) and from all else (`?`); it is "-" where they are not counted, and "=" where the callee
    is said to be a type. `values` are the chains of the arguments that are "?", with "," between them, each "" where it
    is no chain; "" where none is one, and in languages that do not tell functions apart by what literals are."""

    scope: int
    callee: str
    row: int
    arguments: str = "-"
    values: str = ""


class Reference(NamedTuple):
    """A name or dotted chain used other than by calling it; `a::f` is the function f of a, passed on."""

    scope: int
    name: str
    row: int


class ImportKind(IntEnum):
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
    """One imported name. `module` is what the statement says, without quotes; `level` counts leading dots where the
    language has them; `name` is "" where no single name is imported; `alias` is the local (or exported) name."""

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

    `target` is a name, or ".name" for an attribute of the enclosing type; `type` is the annotation and `value` the
    called or named chain on the right, both "" where there is none that a chain can express. A type may stand behind
    what holds it: `[K]T` is a collection, `()T` a function, `(T,U)` are several results. `{a,b:c.d}` is an object
    whose member a is what is called a there, and b what c.d is; it may have functions of its own, and with "..." in it
    any other member."""

    scope: int
    target: str
    type: str
    value: str
    row: int


class AccessKind(IntEnum):
    READ = 0
    WRITE = 1
    UPDATE = 2  # both: x += 1


class Access(NamedTuple):
    """A use of what a variable or member holds, in `scope`. `name` is a chain as calls have them, `self.limit`; `how`
    an AccessKind. Setting an element, `self.items[0] = x`, is writing what holds it."""

    scope: int
    name: str
    row: int
    how: int


class Lookup(NamedTuple):
    """A value that is asked for by the literal name `key`, or set (`writes`): `os.getenv("HOME")`. `way` is an index
    into `LanguageSettings.lookups`, `head` the first name of what is asked ("os"), "" where the word itself is it."""

    scope: int
    way: int
    head: str
    key: str
    row: int
    writes: int


class Passage(NamedTuple):
    """A section of prose, or a block of text without a grammar. `slug` is unique in the file; `parent` is an index
    into `FileFacts.passages` or -1."""

    slug: str
    title: str
    parent: int
    start_byte: int
    end_byte: int
    start_row: int
    end_row: int


class MentionForm(IntEnum):
    """How a name of code stands in prose."""

    SPAN = 0  # between backticks
    ROLE = 1  # a cross-reference or directive of a documentation tool, which says that it is a name
    LINK = 2  # the target of a link
    EXAMPLE = 3  # in a block of code


class Mention(NamedTuple):
    """A name of code in prose, as it is written. `document` is an index into `FileFacts.definitions`, of whose
    documentation the first line is read, and the `passages` after them, or MODULE_SCOPE for the rest of the file;
    `form` a MentionForm; `row` the first that has it."""

    document: int
    form: int
    name: str
    row: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Everything that one file says. `language` is "" for text without a grammar. `returns` maps definitions to the
    annotation of what they return, and names for types to the type that they are made of. `words` is the text, in
    UTF-8, with a space in the place of each ASCII character that is of no word, so that positions hold; None where it
    was left out when cached facts were read: what resolves names does not need it. `wildcard_exports` is None unless
    the file lists what it exports to `import *`. `package` is the name in the file's package clause, "" without one;
    `owners` maps definitions that stand outside of the type that they belong to (a Go method, an `impl`) to the name of
    that type, as it is written. `parameters` maps functions to the annotations of their parameters, the last with "..."
    if it takes any number, with "=" where it may be left out; a function that has no entry may have any parameters.
    `implementations` are the blocks in which types implement traits. `tests` are the definitions that say themselves
    that they are tests.
    `doc` is the first line of the documentation of the file as a whole. `manifest` is what a package or compiler
    configuration says of modules: ("name", package), ("entry", file), ("base", folder), ("alias" or, of what a package
    shows to others, "export", pattern and targets separated by tabs), ("extends", another configuration), ("module",
    what the paths of its packages begin with), ("replace", such a path, a tab and the folder that stands for it),
    ("autoload", a package, a tab and the folder in which a loader looks for its types); and of a source file ("build",
    the tags of the builds that it is in).
    `secrets` are the spans (start byte, end byte) of what was masked before anything was read. `mentions` are the
    names of code in prose."""

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

    def document_spans(self) -> list[tuple[int, int]]:
        """The bytes whose words belong to each document, one inside of the other or apart: those of definitions, then
        those of passages.

        Words of a field belong to its type: as a text of its own a field is too short to answer anything.
        """
        spans = [
            (d.start_byte, d.start_byte) if d.kind == NodeKind.FIELD else (d.text_byte, d.end_byte)
            for d in self.definitions
        ]
        return spans + [(passage.start_byte, passage.end_byte) for passage in self.passages]

    def without_words(self) -> "FileFacts":
        """As `dataclasses.replace` does it, in half the time."""
        values = list(_values(self))
        values[_WORDS] = None
        return FileFacts(*values)


_NAMES = [field.name for field in fields(FileFacts)]
_WORDS = _NAMES.index("words")
_values = attrgetter(*_NAMES)


_SPACED = bytes(c if chr(c).isalnum() or chr(c) == "_" else ord(" ") for c in range(128)) + bytes(range(128, 256))


def spaced(text: bytes) -> bytes:
    """UTF-8 with a space for each ASCII character that is no letter, digit or `_`, so that positions hold. What else
    stands between words is told apart when they are counted.

    >>> spaced("if (größe_2):\\xa0# ok".encode()).decode()
    'if  größe_2  \\xa0  ok'
    """
    return text.translate(_SPACED)
