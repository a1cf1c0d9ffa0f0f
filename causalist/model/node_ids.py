"""Names of nodes: kinds, roles, and ids that are stable across runs.

An id is readable and consists of a path and a qualified name: `src/auth.py::Session.verify`. Positions inside the
program are byte offsets and 0-based rows, as in tree-sitter; servers and commands convert rows to 1-based lines.
"""

from enum import IntEnum
from typing import NewType

from causalist._internal.lazy import with_direct_members

NodeId = NewType("NodeId", str)
NodeIndex = NewType("NodeIndex", int)  # valid inside one CodeGraph only


class LabelledEnum(IntEnum):
    """An enum of numbers with labels for users."""

    @property
    def label(self) -> str:
        """The word that users see."""
        return self.name.lower()


@with_direct_members
class NodeKind(LabelledEnum):
    """Kinds of nodes; index files hold the numbers."""

    FILE = 0
    NAMESPACE = 1
    CLASS = 2
    INTERFACE = 3
    STRUCT = 4
    ENUM = 5
    TRAIT = 6
    FUNCTION = 7
    METHOD = 8
    FIELD = 9
    CONSTANT = 10
    TYPE = 11
    MACRO = 12
    PASSAGE = 13
    ENTITY = 14  # reserved: no producer yet
    EXTERNAL = 15
    HANDLER = 16  # code without a name of its own that is given to a call with a string


@with_direct_members
class Role(LabelledEnum):
    """Purpose of a file, judged by its path.

    All but CODE rank lower unless the query is about them.
    """

    CODE = 0
    TEST = 1
    DOCS = 2
    EXAMPLE = 3
    CONFIG = 4
    GENERATED = 5
    VENDORED = 6
    MIGRATION = 7


class Layer(LabelledEnum):
    """Layer of a program that a node belongs to; index files hold the numbers.

    Each of the first five may depend on those before it; the others are beside them.
    """

    INFRA = 0
    DATA = 1
    LOGIC = 2
    API = 3
    UI = 4
    TEST = 5
    CONFIG = 6
    DOCS = 7


NO_LAYER = 255  # in arrays of layers: none

# From the lowest to the highest.
STACKED_LAYERS = (Layer.INFRA, Layer.DATA, Layer.LOGIC, Layer.API, Layer.UI)


class Tier(LabelledEnum):
    """Importance of a node by the number of its users, ranked among nodes of its kind.

    Index files hold the numbers.
    """

    LEAF = 0
    CORE = 1
    HOT = 2


TYPE_KINDS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.STRUCT, NodeKind.ENUM, NodeKind.TRAIT})
CALLABLE_KINDS = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.MACRO, NodeKind.HANDLER})


# Files that declare -> those beside them, of the same name, that define the same things with their bodies.
_DEFINING_FILES = {".mli": ".ml", ".pyi": ".py", ".ads": ".adb"}
DECLARING_ENDINGS = tuple(_DEFINING_FILES)


def defining_path(path: str) -> str:
    """Return the path of the file that has the bodies of what a file may only declare; "" for all other files.

    >>> defining_path("lib/door.mli"), defining_path("door.py"), defining_path("a.b/door")
    ('lib/door.ml', '', '')
    """
    stem, dot, extension = path.rpartition(".")
    ending = _DEFINING_FILES.get(f".{extension}")
    return stem + ending if dot and ending else ""


def declaring_path(path: str) -> str:
    """Return the path of the file that may declare what a file defines; "" for files that have none.

    >>> declaring_path("lib/door.ml"), declaring_path("door.mli")
    ('lib/door.mli', '')
    """
    stem, dot, extension = path.rpartition(".")
    return next((stem + one for one, other in _DEFINING_FILES.items() if dot and other == f".{extension}"), "")


def declared_as(kind: int) -> NodeKind:
    """Return the kind that stands for all that an interface may declare a definition of a kind as.

    A type and a value may share a name; a function may be declared by the name of its type.
    """
    if kind in TYPE_KINDS or kind == NodeKind.TYPE:
        return NodeKind.TYPE
    return NodeKind(kind) if kind in (NodeKind.FILE, NodeKind.NAMESPACE, NodeKind.PASSAGE) else NodeKind.FUNCTION


# What ids of values begin with, behind `external:`, that are asked for by a literal name.
ASKED_KINDS = ("env:", "config:")
TABLE_PREFIX, TEXT_PREFIX = "table:", "text:"  # the same for tables and translated texts
FIXTURE_PREFIX = "fixture:"  # before the names of fixtures of tests among what a file exports
SEVERAL = "several:"  # before the qualified name of what stands for a procedure, in the name of an export
DECLARED = "declared:"  # the same for a procedure whose parameters stand apart from its body
FACADE = "facade:"  # before the type that holds what stands at the top of a file, in the name of an export
OPENED = "opened:"  # before what `open` has to know of a definition, by its number, in the name of an export
CLASS_LEVEL = "class-level:"  # the same before a method that the class itself has, without a name that says so
EXTENDED = "extended:"  # the same before a type whose class has the methods of the module `local`
ROUTE_PREFIX = "route:"  # the same for routes, before the method and the path


def escape_path(path: str) -> str:
    """Return a repository path in the form of ids: `%`, `#` and `::` are percent-escaped.

    >>> escape_path("a#b/50%::x.py")
    'a%23b/50%25%3A%3Ax.py'
    """
    return path.replace("%", "%25").replace("#", "%23").replace("::", "%3A%3A")


def unescape_path(path: str) -> str:
    """Return the inverse of `escape_path`."""
    if "%" not in path:
        return path
    return path.replace("%3A%3A", "::").replace("%23", "#").replace("%25", "%")


def file_id(path: str) -> NodeId:
    """Return the id of a file."""
    return NodeId(escape_path(path))


def symbol_id(path: str, qualname: str) -> NodeId:
    """Return the id of a definition."""
    return NodeId(f"{escape_path(path)}::{qualname}")


_RESERVED = (("%", "%25"), ("#", "%23"), ("::", "%3A%3A"), (".", "%2E"), ("~", "%7E"))


def escape_name(name: str) -> str:
    """Return a name that is any text in the form of ids, in which dots join names and `~` numbers them.

    >>> escape_name("get /v1.2/x~y"), unescape_name("get /v1%2E2/x%7Ey")
    ('get /v1%2E2/x%7Ey', 'get /v1.2/x~y')
    """
    for text, escaped in _RESERVED:
        name = name.replace(text, escaped)
    return name


def unescape_name(name: str) -> str:
    """Return the inverse of `escape_name`."""
    if "%" not in name:
        return name
    for text, escaped in reversed(_RESERVED):
        name = name.replace(escaped, text)
    return name


def section_id(path: str, slug: str) -> NodeId:
    """Return the id of a section of prose."""
    return NodeId(f"{escape_path(path)}#{slug}")


def external_id(name: str) -> NodeId:
    """Return the id of a thing outside of the repository."""
    return NodeId(f"external:{name}")


def split_id(node: str) -> tuple[str, str | None]:
    """Return (path, symbol) of an id.

    The symbol is None for files and passages, the path "" for externals.

    >>> split_id("src/a.py::C.m"), split_id("README.md#usage"), split_id("external:os")
    (('src/a.py', 'C.m'), ('README.md', None), ('', None))
    """
    if node.startswith("external:"):
        return "", None
    path, separator, symbol = node.partition("::")
    if separator:
        return unescape_path(path), symbol
    return unescape_path(path.partition("#")[0]), None


def last_name(node: str) -> str:
    """Return the last name of a definition's id without the number of a repeated one, "" for other ids.

    >>> [last_name(node) for node in ("a.py::C.m~2", "a.py::C~2.m", "a.cpp::n.C.~C", "a.py", "external:os.path")]
    ['m', 'm', '~C', '', '']
    """
    own = "" if node.startswith("external:") else node.partition("::")[2].rpartition(".")[2]
    if "~" not in own:
        return own
    name, _, number = own.rpartition("~")
    return name if number.isdecimal() else own


def accessor_names(name: str, is_called: bool) -> tuple[str, ...]:
    """Return the names by which another language may know what is used by `name`: a property or its accessors.

    >>> accessor_names("getCount", True), accessor_names("count", False), accessor_names("isOpen", True)
    (('count', 'Count'), ('getCount', 'setCount'), ('isOpen',))
    """
    if not is_called:
        capital = f"{name[:1].upper()}{name[1:]}"
        return (name,) if name.startswith("is") else (f"get{capital}", f"set{capital}")
    rest = name[3:] if name.startswith(("get", "set")) else ""
    if rest[:1].isupper():
        flag = (f"is{rest}",) if name.startswith("set") else ()
        return (f"{rest[0].lower()}{rest[1:]}", rest, *flag)
    return (name,) if name.startswith("is") else ()
