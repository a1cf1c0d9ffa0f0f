"""The capture names that a grammar's queries may use, in the order in which captures of one range are read.

The names follow tree-sitter's tags (`@definition.function`, `@reference.call`, `@name`, `@doc`); the rest is for
imports and bindings. docs/architecture.md describes each.
"""

from enum import IntEnum

from causalist.model.symbols import NodeKind


class Tag(IntEnum):
    """Smaller numbers come first where two captures have the same range.

    A body comes before everything, since a body of one statement has the range of that statement.
    """

    BODY = 0
    SPAN = 1
    NAMESPACE = 2
    CLASS = 3
    INTERFACE = 4
    STRUCT = 5
    ENUM = 6
    TRAIT = 7
    METHOD = 8
    FUNCTION = 9
    MACRO = 10
    TYPE = 11
    FIELD = 12
    CONSTANT = 13
    PROPERTY = 14
    HOLDER = 15
    REEXPORT = 16
    IMPORT = 17
    EXPORT = 18
    IMPORT_STAR = 19
    IMPORT_MODULE = 20
    IMPORT_FROM = 21
    IMPORT_NAME = 22
    IMPORT_ALIAS = 23
    IMPORT_DEFAULT = 24
    IMPORT_NAMESPACE = 25
    OWNER = 26
    NAME = 27
    DOC = 28
    COMMENT = 29
    PACKAGE = 30
    RETURNS = 31
    BASE = 32
    IMPLEMENTS = 33
    BINDING_PATTERN = 34
    BINDING_KEY = 35
    BINDING_PROPERTY = 36
    BINDING = 37
    BINDING_ITEM = 38
    BINDING_TYPE = 39
    BINDING_VALUE = 40
    GLOBAL = 41
    EXPORTS = 42
    EXPORTS_OBJECT = 43
    EXPORTS_KEY = 44
    EXPORTS_ITEM = 45
    EXPORTS_VALUE = 46
    EXPORT_DEFAULT = 47
    CALL = 48
    REQUIRE = 49
    REQUIRE_MODULE = 50
    REFERENCE = 51
    ERROR = 52


DEFINITION_KINDS: dict[Tag, NodeKind] = {tag: NodeKind[tag.name] for tag in Tag if Tag.NAMESPACE <= tag <= Tag.CONSTANT}

TAG_OF_CAPTURE: dict[str, Tag] = {
    "span": Tag.SPAN,
    **{f"definition.{tag.name.lower()}": tag for tag in DEFINITION_KINDS},
    "property": Tag.PROPERTY,
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
    "exports.object": Tag.EXPORTS_OBJECT,
    "exports.key": Tag.EXPORTS_KEY,
    "exports.item": Tag.EXPORTS_ITEM,
    "exports.value": Tag.EXPORTS_VALUE,
    "name": Tag.NAME,
    "owner": Tag.OWNER,
    "package": Tag.PACKAGE,
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
