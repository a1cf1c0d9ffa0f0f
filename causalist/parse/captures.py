"""The capture names that a grammar's queries may use, in the order in which captures of one range are read.

The names follow tree-sitter's tags (`@definition.function`, `@reference.call`, `@name`, `@doc`); the rest is for
imports and bindings. docs/architecture.md describes each.
"""

from enum import IntEnum

from causalist.model.symbols import NodeKind


class Tag(IntEnum):
    """Smaller numbers come first where two captures have the same range."""

    SPAN = 0
    NAMESPACE = 1
    CLASS = 2
    INTERFACE = 3
    STRUCT = 4
    ENUM = 5
    TRAIT = 6
    METHOD = 7
    FUNCTION = 8
    MACRO = 9
    TYPE = 10
    FIELD = 11
    CONSTANT = 12
    HOLDER = 13
    REEXPORT = 14
    IMPORT = 15
    EXPORT = 16
    IMPORT_STAR = 17
    IMPORT_MODULE = 18
    IMPORT_FROM = 19
    IMPORT_NAME = 20
    IMPORT_ALIAS = 21
    IMPORT_DEFAULT = 22
    IMPORT_NAMESPACE = 23
    NAME = 24
    BODY = 25
    DOC = 26
    COMMENT = 27
    RETURNS = 28
    BASE = 29
    IMPLEMENTS = 30
    BINDING_PATTERN = 31
    BINDING_KEY = 32
    BINDING_PROPERTY = 33
    BINDING = 34
    BINDING_ITEM = 35
    BINDING_TYPE = 36
    BINDING_VALUE = 37
    GLOBAL = 38
    EXPORTS = 39
    EXPORTS_VALUE = 40
    EXPORT_DEFAULT = 41
    CALL = 42
    REQUIRE = 43
    REQUIRE_MODULE = 44
    REFERENCE = 45
    ERROR = 46


DEFINITION_KINDS: dict[Tag, NodeKind] = {tag: NodeKind[tag.name] for tag in Tag if Tag.NAMESPACE <= tag <= Tag.CONSTANT}

TAG_OF_CAPTURE: dict[str, Tag] = {
    "span": Tag.SPAN,
    **{f"definition.{tag.name.lower()}": tag for tag in DEFINITION_KINDS},
    "holder": Tag.HOLDER,
    "import": Tag.IMPORT,
    "import.reexport": Tag.REEXPORT,
    "import.star": Tag.IMPORT_STAR,
    "import.module": Tag.IMPORT_MODULE,
    "import.from": Tag.IMPORT_FROM,
    "import.name": Tag.IMPORT_NAME,
    "import.alias": Tag.IMPORT_ALIAS,
    "import.default": Tag.IMPORT_DEFAULT,
    "import.namespace": Tag.IMPORT_NAMESPACE,
    "export": Tag.EXPORT,
    "export.default": Tag.EXPORT_DEFAULT,
    "exports": Tag.EXPORTS,
    "exports.value": Tag.EXPORTS_VALUE,
    "name": Tag.NAME,
    "body": Tag.BODY,
    "doc": Tag.DOC,
    "comment": Tag.COMMENT,
    "returns": Tag.RETURNS,
    "base": Tag.BASE,
    "base.implements": Tag.IMPLEMENTS,
    "binding": Tag.BINDING,
    "binding.item": Tag.BINDING_ITEM,
    "binding.pattern": Tag.BINDING_PATTERN,
    "binding.key": Tag.BINDING_KEY,
    "binding.property": Tag.BINDING_PROPERTY,
    "binding.type": Tag.BINDING_TYPE,
    "binding.value": Tag.BINDING_VALUE,
    "global": Tag.GLOBAL,
    "require": Tag.REQUIRE,
    "require.module": Tag.REQUIRE_MODULE,
    "reference.call": Tag.CALL,
    "reference": Tag.REFERENCE,
    "error": Tag.ERROR,
}
