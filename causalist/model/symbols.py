"""What a node is called: kinds, roles, and the ids that are stable across runs.

An id is readable and made of a path and a qualified name: `src/auth.py::Session.verify`. Positions inside the program
are byte offsets and 0-based rows, as tree-sitter gives them; the doors turn rows into 1-based lines.
"""

from enum import IntEnum
from typing import NewType

NodeId = NewType("NodeId", str)
NodeIndex = NewType("NodeIndex", int)  # valid inside one CodeGraph only


class LabelledEnum(IntEnum):
    @property
    def label(self) -> str:
        """The word that users see."""
        return self.name.lower()


class NodeKind(LabelledEnum):
    """Kinds of nodes; the numbers are what index files hold."""

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
    ENTITY = 14
    EXTERNAL = 15


class Role(LabelledEnum):
    """What a file is for, judged by its path; everything but CODE ranks lower unless the question is about it."""

    CODE = 0
    TEST = 1
    DOCS = 2
    EXAMPLE = 3
    CONFIG = 4
    GENERATED = 5
    VENDORED = 6
    MIGRATION = 7


class Layer(LabelledEnum):
    """The part of a program that a node belongs to. Of the first five, each may rest on those before it; the others
    stand beside them. The numbers are what index files hold."""

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
    """How much rests on a node, by its rank among nodes of its sort; the numbers are what index files hold."""

    LEAF = 0
    CORE = 1
    HOT = 2


TYPE_KINDS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.STRUCT, NodeKind.ENUM, NodeKind.TRAIT})
CALLABLE_KINDS = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.MACRO})


# What ids of values begin with, behind `external:`, that are asked for by a literal name.
ASKED_KINDS = ("env:", "config:")


def escape_path(path: str) -> str:
    """A repository path as it stands in ids: `%`, `#` and `::` are percent-escaped.

    >>> escape_path("a#b/50%::x.py")
    'a%23b/50%25%3A%3Ax.py'
    """
    return path.replace("%", "%25").replace("#", "%23").replace("::", "%3A%3A")


def unescape_path(path: str) -> str:
    """The inverse of `escape_path`."""
    return path.replace("%3A%3A", "::").replace("%23", "#").replace("%25", "%")


def file_id(path: str) -> NodeId:
    return NodeId(escape_path(path))


def symbol_id(path: str, qualname: str) -> NodeId:
    return NodeId(f"{escape_path(path)}::{qualname}")


def section_id(path: str, slug: str) -> NodeId:
    return NodeId(f"{escape_path(path)}#{slug}")


def docstring_id(path: str, qualname: str) -> NodeId:
    return NodeId(f"{escape_path(path)}#doc:{qualname}")


def external_id(name: str) -> NodeId:
    return NodeId(f"external:{name}")


def split_id(node: str) -> tuple[str, str | None]:
    """(path, symbol) of an id; the symbol is None for files and passages, the path is "" for externals.

    >>> split_id("src/a.py::C.m"), split_id("README.md#usage"), split_id("external:os")
    (('src/a.py', 'C.m'), ('README.md', None), ('', None))
    """
    if node.startswith("external:"):
        return "", None
    path, separator, symbol = node.partition("::")
    if separator:
        return unescape_path(path), symbol
    return unescape_path(path.partition("#")[0]), None
