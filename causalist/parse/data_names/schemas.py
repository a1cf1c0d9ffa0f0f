r"""Definitions of schemas of databases, interfaces and infrastructure, and keys of translated texts.

In: the text of a file of SQL, Prisma, Protocol Buffers, GraphQL, Terraform, OpenAPI, or of translated texts; or a
literal in code that begins like a statement of SQL. Out: definitions, and names of tables, operations, resources and
texts. Comments and literals are blanked first where the language has blocks; a block reaches to its closing bracket.
What does not read as the format gives nothing.

A table counts only where a statement of SQL says that it is one; whether there is such a table is found when files are
linked. Dialects differ little in these places, so that statements are read by their first words. Names of tables are in
lower case, without the schema before them. Those of common table expressions are left out.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import MODULE_SCOPE, Definition, LinkFact, LinkForm
from causalist.model.node_ids import NodeKind
from causalist.parse.data_names.plain_files import LinkName

_MAX_TEXTS = 6_000  # keys of one file
_MAX_DEPTH = 12  # of nested keys
_MAX_BLOCKS = 5_000  # definitions of one file
_NO_CODE = lazy_regex(r"//[^\n]*|#[^\n]*|/\*(?:.*?\*/|.*)|\"\"\"(?:.*?\"\"\"|.*)|\"(?:[^\"\\\n]|\\.)*+\"?", re.DOTALL)
_NO_CODE_IN_PROTO = lazy_regex(r"//[^\n]*|/\*(?:.*?\*/|.*)|\"(?:[^\"\\\n]|\\.)*+\"?", re.DOTALL)


class SchemaBlock(NamedTuple):
    """A definition from `start` to `end`, inside of the block at `parent` in the list, or -1."""

    start: int
    end: int
    name: str
    kind: NodeKind
    parent: int


def _blank(pattern: "re.Pattern[str]", text: str) -> str:
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def _closings(plain: str) -> dict[int, int]:
    """Return the offset behind the closing bracket of each opening one."""
    closing_by_opening: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"[{}]", plain):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            closing_by_opening[opened.pop()] = match.end()
    return closing_by_opening


_PROTO = lazy_regex(
    r"\b(?P<kind>message|enum|service)\s+(?P<name>\w+)\s*(?=\{)|\brpc\s+(?P<rpc>\w+)\s*\(\s*(?:stream\s+)?"
    r"(?P<takes>[\w.]+)\s*\)\s*returns\s*\(\s*(?:stream\s+)?(?P<gives>[\w.]+)\s*\)"
)
_PROTO_KINDS = {"message": NodeKind.STRUCT, "enum": NodeKind.ENUM, "service": NodeKind.INTERFACE}


def read_proto(text: str) -> tuple[list[SchemaBlock], list[LinkName]]:
    """Return messages, enumerations, services and procedures, and what each procedure is called."""
    plain = _blank(_NO_CODE_IN_PROTO, text)
    closings, blocks, names = _closings(plain), list[SchemaBlock](), list[LinkName]()
    around: list[int] = []
    for match in _PROTO.finditer(plain):
        if len(blocks) >= _MAX_BLOCKS:
            break
        start = match.start()
        while around and blocks[around[-1]].end <= start:
            around.pop()
        parent = around[-1] if around else -1
        if match["rpc"]:
            if parent < 0 or blocks[parent].kind != NodeKind.INTERFACE:
                continue
            blocks.append(SchemaBlock(start, match.end(), match["rpc"], NodeKind.METHOD, parent))
            names.append(LinkName(start, LinkForm.SERVE, f"rpc:{blocks[parent].name}.{match['rpc']}"))
            continue
        end = closings.get(plain.find("{", match.end() - 1), len(plain))
        around.append(len(blocks))
        blocks.append(SchemaBlock(start, end, match["name"], _PROTO_KINDS[match["kind"]], parent))
        if match["kind"] == "message":
            names.append(LinkName(start, LinkForm.SERVE, f"message:{match['name']}"))
    return blocks, names


_GRAPHQL = lazy_regex(
    r"^[ \t]*(?:extend[ \t]+)?(?P<kind>type|input|interface|enum|union|scalar|query|mutation|subscription"
    r"|fragment)[ \t]+(?P<name>\w+)[^{}\n=]*(?P<open>\{)?",
    re.MULTILINE,
)
_GRAPHQL_KINDS = {
    "type": NodeKind.STRUCT, "input": NodeKind.STRUCT, "interface": NodeKind.INTERFACE, "enum": NodeKind.ENUM,
    "union": NodeKind.TYPE, "scalar": NodeKind.TYPE,
}  # fmt: skip
_GRAPHQL_FIELD = lazy_regex(r"^[ \t]+(?P<name>\w+)(?=[ \t]*[(:])", re.MULTILINE)
_ROOT_TYPES = ("Query", "Mutation", "Subscription")


def read_graphql(text: str) -> tuple[list[SchemaBlock], list[LinkName]]:
    """Return types, and the operations of the root types as functions; queries of clients are functions, too."""
    plain = _blank(_NO_CODE, text)
    closings, blocks, names = _closings(plain), list[SchemaBlock](), list[LinkName]()
    for match in _GRAPHQL.finditer(plain):
        if len(blocks) >= _MAX_BLOCKS:
            break
        start = match.start("kind")
        end = closings.get(match.start("open"), len(plain)) if match["open"] else match.end()
        own, name = len(blocks), match["name"]
        blocks.append(SchemaBlock(start, end, name, _GRAPHQL_KINDS.get(match["kind"], NodeKind.FUNCTION), -1))
        if match["kind"] == "type" and name in _ROOT_TYPES:
            depth_ends = start
            for field in _GRAPHQL_FIELD.finditer(plain, match.end(), end):
                if field.start() < depth_ends or len(blocks) >= _MAX_BLOCKS:
                    continue
                if plain.startswith("(", field.end()):  # arguments, one a line
                    closed = plain.find(")", field.end(), end)
                    depth_ends = closed if closed >= 0 else end
                last = plain.find("\n", max(field.end(), depth_ends))
                last = last if 0 <= last < end else end
                blocks.append(SchemaBlock(field.start("name"), last, field["name"], NodeKind.METHOD, own))
    return blocks, names


_TERRAFORM = lazy_regex(
    r"^(?P<kind>resource|data|module|variable|output)[ \t]+\"(?P<one>[\w.-]+)\"(?:[ \t]+\"(?P<two>[\w.-]+)\")?[ \t]*"
    r"(?P<open>\{)|^(?P<locals>locals)[ \t]*(?P<opened>\{)",
    re.MULTILINE,
)
_TERRAFORM_USE = lazy_regex(
    r"(?<![\w.\"-])(?P<name>(?:var|local|module)\.[A-Za-z][\w-]*|data\.[a-z]\w*\.[A-Za-z][\w-]*"
    r"|[a-z][a-z0-9]*_\w+\.[A-Za-z][\w-]*)"
)
_LOCAL = lazy_regex(r"^[ \t]{1,4}(?P<name>[A-Za-z][\w-]*)[ \t]*=", re.MULTILINE)
_MODULE_SOURCE = lazy_regex(r"^[ \t]*source[ \t]*=[ \t]*\"(?P<name>\.{1,2}/[^\"\n]*)\"", re.MULTILINE)


def read_terraform(text: str) -> tuple[list[SchemaBlock], list[LinkName]]:
    """Return resources, data, modules, variables, outputs and locals, and the names that are used."""
    plain = _blank(re.compile(r"(?<![\"\w$])#[^\n]*|^[ \t]*//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL | re.MULTILINE), text)
    closings, blocks, names = _closings(plain), list[SchemaBlock](), list[LinkName]()
    for match in _TERRAFORM.finditer(plain):
        if len(blocks) >= _MAX_BLOCKS:
            break
        end = closings.get(match.start("opened" if match["locals"] else "open"), len(plain))
        if match["locals"]:
            for local in _LOCAL.finditer(plain, match.end(), end):
                last = plain.find("\n", local.end())
                blocks.append(
                    SchemaBlock(
                        local.start("name"),
                        last if 0 <= last < end else end,
                        f"local.{local['name']}",
                        NodeKind.CONSTANT,
                        -1,
                    )
                )
            continue
        kind, one, two = match["kind"], match["one"], match["two"]
        name = {"resource": f"{one}.{two}", "data": f"data.{one}.{two}", "variable": f"var.{one}"}.get(
            kind, f"{kind}.{one}"
        )
        node = NodeKind.CONSTANT if kind in ("variable", "output") else NodeKind.STRUCT
        blocks.append(SchemaBlock(match.start(), end, name, node, -1))
    names += [LinkName(m.start("name"), LinkForm.RESOURCE, m["name"]) for m in _TERRAFORM_USE.finditer(plain)]
    names += [LinkName(m.start("name"), LinkForm.RUN, m["name"]) for m in _MODULE_SOURCE.finditer(plain)]
    return blocks, names


# -- keys of nested formats

_TOKEN = lazy_regex(r'"(?:[^"\\\n]|\\.)*+"|[{}\[\],:]')


def _json_keys(text: str) -> Iterator[tuple[int, tuple[str, ...], bool]]:
    """Yield (offset, keys from outside inwards, True if the value is a text) of the keys of JSON, in order."""
    stack: list[str] = []
    is_object: list[bool] = []
    key, at, is_key = "", 0, False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            if len(stack) >= _MAX_DEPTH * 4:
                return
            if is_object:
                yield at, (*stack[1:], key), False
            stack.append(key)
            is_object.append(mark == "{")
            key, is_key = "", mark == "{"
        elif mark in "}]":
            if not stack:
                return
            key = stack.pop()
            is_object.pop()
            is_key = False
        elif mark == ",":
            is_key = bool(is_object) and is_object[-1]
        elif mark == ":":
            is_key = False
        elif is_key:
            key, at = mark[1:-1], token.start()
        elif is_object and is_object[-1]:
            yield at, (*stack[1:], key), True


_YAML_LINE = lazy_regex(
    r"(?P<indent>[ ]*)(?:- )?[\"']?(?P<key>[\w$./{}<>:-][\w$./{}<> -]*?)[\"']?[ ]*:(?=[ \t]|$)[ \t]*"
    r"(?P<value>[^\n]*)"
)


def _yaml_keys(text: str) -> Iterator[tuple[int, tuple[str, ...], bool]]:
    """Yield (offset, keys from outside inwards, True if the value is a text) of the keys of YAML, in order."""
    stack: list[tuple[int, str]] = []
    at = 0
    for line in text.split("\n"):
        match = _YAML_LINE.match(line[:400])
        if match is not None:
            indent = len(match["indent"])
            while stack and stack[-1][0] >= indent:
                stack.pop()
            if len(stack) < _MAX_DEPTH:
                stack.append((indent, match["key"].strip()))
                value = match["value"].strip()
                yield at + match.start("key"), tuple(key for _, key in stack), bool(value) and value[0] not in "#&{["
        at += len(line) + 1


def read_texts(text: str) -> Iterator[LinkName]:
    """Yield the keys of translated texts in JSON, YAML, XML or `key = value`."""
    bare = text.lstrip("\ufeff \t\r\n")
    n_texts = 0
    if bare.startswith("{"):
        keys = _json_keys(text)
    elif bare.startswith("<"):
        for match in re.finditer(r"<(?:string|data)\s+name=\"([\w.]+)\"", text):
            yield LinkName(match.start(), LinkForm.HAVE_TEXT, match[1])
        return
    elif re.search(r"^[\w.-]+[ \t]*=", text, re.MULTILINE) and not re.match(r"[\w-]+:\s*\n", bare):
        section = ""
        for match in re.finditer(r"^\[(?P<section>[\w.-]+)\]|^(?P<key>[\w.-]+)[ \t]*[=:]", text, re.MULTILINE):
            if match["section"]:
                section = f"{match['section']}."
            elif (n_texts := n_texts + 1) <= _MAX_TEXTS:
                yield LinkName(match.start(), LinkForm.HAVE_TEXT, f"{section}{match['key']}")
        return
    else:
        keys = _yaml_keys(text)
    for at, path, is_text in keys:
        if is_text and n_texts < _MAX_TEXTS:
            n_texts += 1
            path = path[1:] if re.fullmatch(r"en(?:[-_]\w+)?", path[0]) and len(path) > 1 else path
            yield LinkName(at, LinkForm.HAVE_TEXT, ".".join(path))


_RETURNED_ARRAY = re.compile(r"^\s*return\s*(?:\[|array\s*\()", re.MULTILINE)
_ARRAY_TOKEN = re.compile(
    r"/\*.*?\*/|(?://|#)[^\n]*|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?P<key>\s*=>)?|(?P<open>\barray\s*\(|[\[(])|(?P<close>[\])])",
    re.DOTALL,
)


def read_returned_texts(text: str) -> Iterator[LinkName]:
    """Yield the keys of the texts in the array that a file of PHP returns, with dots between nested ones.

    >>> [each.name for each in read_returned_texts("<?php return ['a' => 'A', 'b' => ['c' => 'C' . 'D', 'e' => f()]];")]
    ['a', 'b.c', 'b.e']
    """
    start = _RETURNED_ARRAY.search(text) or re.search(r"<\?php\s+return\s*(?:\[|array\s*\()", text)
    if start is None:
        return
    path: list[str | None] = []
    key, at = None, 0
    for match in _ARRAY_TOKEN.finditer(text, start.end()):
        if match["key"]:
            key, at = match["text"][1:-1], match.start()
        elif match["open"]:
            path.append(key)
            if match["open"] == "(" and key is not None:  # a call says the text
                yield LinkName(at, LinkForm.HAVE_TEXT, ".".join([*(each for each in path[:-1] if each), key]))
            key = None
        elif match["close"]:
            if not path:
                return
            path.pop()
            key = None
        elif match["text"] and key is not None:
            yield LinkName(at, LinkForm.HAVE_TEXT, ".".join([*(each for each in path if each), key]))
            key = None


_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})


def read_openapi(text: str) -> Iterator[LinkName]:
    """Yield the method and path of each operation of an OpenAPI document, in YAML or JSON."""
    bare = text.lstrip("\ufeff \t\r\n")
    for at, path, _ in _json_keys(text) if bare.startswith("{") else _yaml_keys(text):
        if len(path) == 3 and path[0] == "paths" and path[1].startswith("/") and path[2].lower() in _METHODS:
            yield LinkName(at, LinkForm.SERVE, f"{path[2].upper()} {path[1]}")


def is_openapi(text: str) -> bool:
    """Return True for a document that says that it is one of OpenAPI."""
    return _is_of(r"openapi|swagger", text)


class ChannelUse(NamedTuple):
    """An operation of a document of AsyncAPI: what the service that it describes sends to a channel or receives."""

    at: int
    is_sent: bool
    address: str


def is_asyncapi(text: str) -> bool:
    """Return True for a document that says that it is one of AsyncAPI."""
    return _is_of("asyncapi", text)


def _is_of(key: str, text: str) -> bool:
    # Spaces are taken without a second try, and never those of the lines before: there may be 2,000 empty lines.
    return re.search(rf"^[^\S\n]*+(?:\{{\s*+)?[\"']?(?:{key})[\"']?\s*:", text[:2_000], re.MULTILINE) is not None


def read_asyncapi(text: str) -> list[ChannelUse]:
    """Return the operations of a document of AsyncAPI 2 or 3, in YAML or JSON, in order.

    In version 2, `publish` says what others may send: the service itself receives it.
    """
    bare = text.lstrip("\ufeff \t\r\n")
    found: list[ChannelUse] = []
    addresses: dict[str, str] = {}
    actions: dict[str, tuple[int, str]] = {}
    channels: dict[str, str] = {}  # of operations
    for at, path, _ in _json_keys(text) if bare.startswith("{") else _yaml_keys(text):
        where, last = path[0], path[-1]
        if where == "channels" and len(path) == 3 and last in ("publish", "subscribe"):
            found.append(ChannelUse(at, last == "subscribe", path[1]))
        elif where == "channels" and len(path) == 3 and last == "address":
            addresses[path[1]] = _value_at(text, at)
        elif where == "operations" and len(path) == 3 and last == "action":
            actions[path[1]] = (at, _value_at(text, at))
        elif where == "operations" and len(path) in (3, 4) and path[2] == "channel":
            named = re.match(r"[^\n]{0,40}#/channels/([^\"'\s}/]+)", text[at : at + 300])
            if named is not None:
                channels[path[1]] = named[1].replace("~1", "/").replace("~0", "~")
    for operation, (at, action) in actions.items():
        channel = channels.get(operation, "")
        if channel and action in ("send", "receive"):
            found.append(ChannelUse(at, action == "send", addresses.get(channel, channel)))
    return sorted(found)


def _value_at(text: str, at: int) -> str:
    """Return the text behind the key at an offset, "" if it is no text of one line."""
    value = re.match(
        r"[\"']?[\w$]+[\"']?\s*:[ \t]*(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s#,}\"'][^\n#,}]*))", text[at : at + 400]
    )
    return "" if value is None else next(filter(None, value.groups()), "").strip()


_MAX_DEFINITIONS = 5_000  # of one file
_MAX_COLUMNS = 400  # of one table
_MAX_LINKS = 5_000  # of one file
_MAX_SIGNATURE_CHARACTERS = 100
_QUOTE = r"[`\"\[]?"
_PLAIN = rf"{_QUOTE}[A-Za-z_][\w$]*+[`\"\]]?"
_NAMED = rf"(?:{_PLAIN}\s*\.\s*){{0,2}}{_PLAIN}"
# What is not closed reaches to the end of the text, once.
_NO_SQL = lazy_regex(
    r"--[^\n]*|/\*(?:.*?\*/|.*)|'(?:[^'\\]|\\.)*+'?|(?P<dollar>\$[A-Za-z_]*\$)(?:.*?(?P=dollar)|.*)", re.DOTALL
)
_CREATE = lazy_regex(
    r"\bCREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|MATERIALIZED|VIRTUAL"
    r"|RECURSIVE"
    r"|FOREIGN|EXTERNAL)\s+){0,3}(?P<kind>TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|TYPE)\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    rf"(?P<name>{_NAMED})",
    re.IGNORECASE,
)
_KINDS = {
    "table": NodeKind.STRUCT, "view": NodeKind.STRUCT, "type": NodeKind.TYPE,
    "function": NodeKind.FUNCTION, "procedure": NodeKind.FUNCTION, "trigger": NodeKind.FUNCTION,
}  # fmt: skip
_TABLE_KINDS = ("table", "view")
_COLUMN = lazy_regex(rf"\s*(?P<name>{_PLAIN})(?=\s+[A-Za-z\[\"])")
_NO_COLUMNS = frozenset(
    [
        "primary",
        "foreign",
        "constraint",
        "unique",
        "check",
        "key",
        "index",
        "exclude",
        "like",
        "fulltext",
        "spatial",
        "period",
        "partition",
    ]
)
_TABLE_NAMED = lazy_regex(
    rf"\b(?P<word>FROM|JOIN|INTO|UPDATE|TRUNCATE(?:\s+TABLE)?|(?:ALTER|DROP|CREATE)\s+TABLE|REFERENCES|USING"
    rf"|ON(?=\s+{_NAMED}\s*(?:\(|USING\b)))\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+|LATERAL\s+)?(?P<name>{_NAMED})"
    rf"(?P<more>(?:\s+(?:AS\s+)?\w+)?(?:\s*,\s*{_NAMED}(?:\s+(?:AS\s+)?\w+)?){{1,8}})?",
    re.IGNORECASE,
)
_LISTED = lazy_regex(rf",\s*(?P<name>{_NAMED})")
_COMMON = lazy_regex(
    r"(?:\bWITH\s+(?:RECURSIVE\s+)?|\)\s*,\s*)(\w+)\s*(?:\([^()]{0,400}\)\s*)?\bAS\s*\(", re.IGNORECASE
)
_BEGINS_TABLE = lazy_regex(r"[\s\w]{0,40}(?:\(|\bAS\b|\bUSING\b|\bLIKE\b|[%{$])", re.IGNORECASE)
_NO_TABLES = frozenset(
    {
        *("conflict", "duplicate", "set", "select", "values", "lateral", "only", "table", "if", "unnest"),
        *("delete", "update"),
    }
)
_WRITING = ("into", "update", "truncate")
_CHANGING = ("alter", "drop", "references", "on")
# A literal of this text is a statement, not a sentence: "Update the user" has no SET, "Select a file" no FROM.
_STATEMENT = lazy_regex(
    r"\s*\(*\s*(?:SELECT\b[\s\S]*?\bFROM\b|select\b[^.!?]*?\bfrom\b|INSERT\s+(?:\w+\s+){0,3}INTO\b|insert\s+"
    r"(?:\w+\s+){0,3}into\b|REPLACE\s+INTO\b"
    r"|UPDATE\b[\s\S]{1,200}?\bSET\b|update\s+\S+\s+(?:as\s+)?(?:\w+\s+)?set\b|DELETE\s+FROM\b|delete\s+from\b"
    r"|WITH\s+(?:RECURSIVE\s+)?\w+|with\s+(?:recursive\s+)?\w+\s+as\s*\(|TRUNCATE\s|(?:CREATE|ALTER|DROP)\s+"
    r"(?:TABLE|INDEX|UNIQUE|VIEW)\b"
    r"|(?:create|alter|drop)\s+(?:table|index|unique|view)\b|MERGE\s+INTO\b)"
)
_PRISMA = lazy_regex(r"^(?P<kind>model|view|enum|type)[ \t]+(?P<name>\w+)[ \t]*\{", re.MULTILINE)
_PRISMA_FIELD = lazy_regex(r"^[ \t]+(?P<name>[A-Za-z]\w*)[ \t]+(?P<type>[A-Za-z]\w*)", re.MULTILINE)
_PRISMA_MAP = lazy_regex(r"@@map\(\s*(?:name:\s*)?\"([\w.$]+)\"")
_ENDS = lazy_regex(r";|^[ \t]*GO[ \t]*$", re.MULTILINE | re.IGNORECASE)
# The comment before a statement that a library or a generator looks up by its name: sqlc, yesql, aiosql, HugSQL.
_QUERY_NAME = lazy_regex(
    r"^--[ \t]*(?:name:|:name)[ \t]*(?P<name>[A-Za-z][\w-]*)[!<^$*#]{0,2}[ \t]*(?::\S[^\n]*)?$", re.MULTILINE
)


class TableUse(NamedTuple):
    """A table named at an offset of a statement; `form` is READ, WRITE, CHANGE or TABLE of `LinkForm`."""

    at: int
    form: LinkForm
    name: str


def plain_name(written: str) -> str:
    """Return the name of a table without quotes and the schema before it.

    >>> plain_name('"public"."Users"'), plain_name("[dbo].[Orders]"), plain_name("orders")
    ('users', 'orders', 'orders')
    """
    return written.rpartition(".")[2].strip('`"[] \t\n').lower()


def is_statement(text: str) -> bool:
    """Return True if a text begins like a statement of SQL that names a table.

    >>> is_statement("SELECT a FROM b"), is_statement("Select one from below"), is_statement("update the user")
    (True, False, False)
    """
    return _STATEMENT.match(text) is not None


def blank_literals(text: str) -> str:
    """Return the text with comments and literals blanked, so that offsets hold.

    The body of a function in dollars is blanked, too.
    """
    return _NO_SQL.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def _blank_comments(text: str) -> str:
    """Return the text with comments and literals blanked, and bodies of functions as they are."""
    return _NO_SQL.sub(lambda m: m[0] if m["dollar"] else re.sub(r"[^\n]", " ", m[0]), text)


def find_tables(text: str) -> Iterator[TableUse]:
    """Yield the tables that statements name, in order. Comments and literals are blanked before.

    >>> [(each.form.name, each.name) for each in find_tables("INSERT INTO a SELECT * FROM b JOIN s.c ON x = 1")]
    [('WRITE', 'a'), ('READ', 'b'), ('READ', 'c')]
    >>> [(each.form.name, each.name) for each in find_tables("WITH t AS (SELECT 1 FROM a) DELETE FROM b USING t")]
    [('READ', 'a'), ('WRITE', 'b')]
    """
    common = {name.lower() for name in _COMMON.findall(text)}
    for match in _TABLE_NAMED.finditer(text):
        word = match["word"].lower().split()[0]
        if word == "from" and re.search(
            r"\bDELETE\s+$", text[max(0, match.start() - 40) : match.start()], re.IGNORECASE
        ):
            form = LinkForm.WRITE
        elif word in _WRITING:
            before = text[max(0, match.start() - 30) : match.start()]
            if word == "update" and re.search(r"\b(?:FOR|DO|ON|NO\s+KEY)\s+$", before, re.IGNORECASE):
                continue
            form = LinkForm.WRITE
        else:
            if word == "create" and not _BEGINS_TABLE.match(text, match.end("name")):
                continue  # a sentence
            form = LinkForm.TABLE if word == "create" else LinkForm.CHANGE if word in _CHANGING else LinkForm.READ
        listed = [(match.start("name"), match["name"])]
        if match["more"] and word in ("from", "using"):
            listed += [(match.start("more") + m.start("name"), m["name"]) for m in _LISTED.finditer(match["more"])]
        for at, written in listed:
            name = plain_name(written)
            if name not in common and name not in _NO_TABLES:
                yield TableUse(at, form, name)


class TextOffsets:
    """Offsets of a text as bytes in UTF-8 and as 0-based rows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [m.start() for m in re.finditer("\n", text)]
        self._is_ascii = text.isascii()
        self._bytes = [0]
        if not self._is_ascii:
            for line in text.split("\n"):
                self._bytes.append(self._bytes[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)

    def row(self, at: int) -> int:
        """Return the row of an offset."""
        return bisect_left(self._lines, at)

    def byte(self, at: int) -> int:
        """Return the byte of an offset."""
        if self._is_ascii:
            return at
        row = self.row(at)
        first = self._lines[row - 1] + 1 if row else 0
        return self._bytes[row] + len(self.text[first:at].encode("utf-8", "surrogatepass"))


def read_sql(text: str) -> tuple[tuple[Definition, ...], tuple[LinkFact, ...]]:
    """Return the definitions of a file of SQL, and the names of tables in it."""
    at = TextOffsets(text)
    plain, statements = blank_literals(text), _blank_comments(text)
    ends = [match.end() for match in _ENDS.finditer(plain)]
    definitions: list[Definition] = []
    links: list[LinkFact] = []
    spans: list[tuple[int, int, int]] = []  # start, end and number of what is not a column
    heads = [(m.start(), m["kind"].lower(), m["name"]) for m in _CREATE.finditer(plain)]
    heads += [(m.start(), "query", m["name"]) for m in _QUERY_NAME.finditer(text)]
    heads.sort()
    named = [start for start, kind, _ in heads if kind == "query"]
    for number, (start, kind, written) in enumerate(heads):
        if len(definitions) >= _MAX_DEFINITIONS:
            break
        if spans and start < spans[-1][1]:
            continue  # in the statement before
        index = bisect_right(ends, start)
        end = ends[index] if index < len(ends) else len(plain.rstrip())
        if number + 1 < len(heads) and heads[number + 1][0] < end and kind != "query":
            end = heads[number + 1][0]  # a statement without an end
        following = bisect_right(named, start)
        end = min(end, named[following]) if following < len(named) else end
        end = start + len(plain[start:end].rstrip()) if plain[start:end].strip() else end
        name = written.strip() if kind == "query" else re.split(r"\.", written)[-1].strip('`"[] \t\n')
        own = len(definitions)
        definitions.append(define(at, name, name, _KINDS.get(kind, NodeKind.FUNCTION), start, end, MODULE_SCOPE))
        spans.append((start, end, own))
        if kind in _TABLE_KINDS:
            links.append(LinkFact(own, LinkForm.TABLE, name.lower(), at.row(start)))
        if kind == "table":
            for first, last, column in _columns(plain, start, end):
                qualname = f"{name}.{column}"
                definitions.append(define(at, column, qualname, NodeKind.FIELD, first, last, own))
    starts = [start for start, _, _ in spans]
    made = {(each.scope, each.name) for each in links}
    for use in find_tables(statements):
        index = bisect_right(starts, use.at) - 1
        scope = spans[index][2] if index >= 0 and use.at < spans[index][1] else MODULE_SCOPE
        if (scope, use.name) not in made:
            made.add((scope, use.name))
            links.append(LinkFact(scope, int(use.form), use.name, at.row(use.at)))
            if len(links) >= _MAX_LINKS:
                break
    return tuple(definitions), tuple(links)


def define(at: TextOffsets, name: str, qualname: str, kind: NodeKind, start: int, end: int, parent: int) -> Definition:
    """Return the definition that stands between two offsets of a text; its first line is the signature."""
    text = at.text
    signature = " ".join(text[start : min(end, start + 4 * _MAX_SIGNATURE_CHARACTERS)].split("\n", 1)[0].split())
    byte = at.byte(start)
    return Definition(
        name, qualname, int(kind), parent, byte, at.byte(end), at.row(start), at.row(max(start, end - 1)),
        signature.rstrip(" (,")[:_MAX_SIGNATURE_CHARACTERS], "", byte,
    )  # fmt: skip


def _columns(plain: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, name) of the columns in the brackets of a statement."""
    opened = plain.find("(", start, end)
    if opened < 0:
        return
    depth, first, n = 0, opened + 1, 0
    for match in re.compile(r"[(),]").finditer(plain, opened, end):
        mark = match[0]
        depth += (mark == "(") - (mark == ")")
        if (mark == "," and depth == 1) or (mark == ")" and depth == 0):
            column = _COLUMN.match(plain, first, match.start())
            if column and column["name"].strip('`"[]').lower() not in _NO_COLUMNS and n < _MAX_COLUMNS:
                n += 1
                yield column.start("name"), match.start(), column["name"].strip('`"[]')
            first = match.end()
        if depth == 0:
            return


def read_prisma(text: str) -> tuple[tuple[Definition, ...], tuple[LinkFact, ...]]:
    """Return the models of a schema of Prisma with their fields, and the tables that they are stored in."""
    at = TextOffsets(text)
    definitions: list[Definition] = []
    links: list[LinkFact] = []
    closing = [match.end() for match in re.finditer(r"^\}", text, re.MULTILINE)]
    for match in _PRISMA.finditer(text):
        if len(definitions) >= _MAX_DEFINITIONS:
            break
        index = bisect_right(closing, match.end())
        end = closing[index] if index < len(closing) else len(text)
        kind, name, own = match["kind"], match["name"], len(definitions)
        node = NodeKind.ENUM if kind == "enum" else NodeKind.STRUCT
        definitions.append(define(at, name, name, node, match.start(), end, MODULE_SCOPE))
        if kind in ("model", "view"):
            mapped = _PRISMA_MAP.search(text, match.end(), end)
            table = mapped[1] if mapped else name
            links.append(LinkFact(own, LinkForm.TABLE, plain_name(table), at.row(match.start())))
            if mapped:
                links.append(LinkFact(own, LinkForm.TABLE, name.lower(), at.row(match.start())))
            for field in list(_PRISMA_FIELD.finditer(text, match.end(), end))[:_MAX_COLUMNS]:
                first = field.start("name")
                last = text.find("\n", first)
                last = last if 0 <= last < end else end
                qualname = f"{name}.{field['name']}"
                definitions.append(define(at, field["name"], qualname, NodeKind.FIELD, first, last, own))
    return tuple(definitions), tuple(links)
