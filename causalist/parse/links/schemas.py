r"""Definitions of schemas of interfaces and infrastructure, and keys of translated texts.

In: the text of a file of Protocol Buffers, GraphQL, Terraform, OpenAPI, or of translated texts. Out: definitions, and
(offset, form, name) of operations, resources and texts. Comments and literals are blanked first where the language has
blocks; a block reaches to its closing bracket. What does not read as the format gives nothing.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from causalist.model.facts import LinkForm
from causalist.model.symbols import NodeKind
from causalist.parse.links.files import Named

_MAX_TEXTS = 6_000  # keys of one file
_MAX_DEPTH = 12  # of nested keys
_MAX_BLOCKS = 5_000  # definitions of one file
_NO_CODE = re.compile(r"//[^\n]*|#[^\n]*|/\*(?:.*?\*/|.*)|\"\"\"(?:.*?\"\"\"|.*)|\"(?:[^\"\\\n]|\\.)*+\"?", re.DOTALL)
_NO_CODE_IN_PROTO = re.compile(r"//[^\n]*|/\*(?:.*?\*/|.*)|\"(?:[^\"\\\n]|\\.)*+\"?", re.DOTALL)


class Block(NamedTuple):
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
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"[{}]", plain):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.end()
    return found


_PROTO = re.compile(
    r"\b(?P<kind>message|enum|service)\s+(?P<name>\w+)\s*(?=\{)|\brpc\s+(?P<rpc>\w+)\s*\(\s*(?:stream\s+)?"
    r"(?P<takes>[\w.]+)\s*\)\s*returns\s*\(\s*(?:stream\s+)?(?P<gives>[\w.]+)\s*\)"
)
_PROTO_KINDS = {"message": NodeKind.STRUCT, "enum": NodeKind.ENUM, "service": NodeKind.INTERFACE}


def read_proto(text: str) -> tuple[list[Block], list[Named]]:
    """Return messages, enumerations, services and procedures, and what each procedure is called."""
    plain = _blank(_NO_CODE_IN_PROTO, text)
    closings, blocks, names = _closings(plain), list[Block](), list[Named]()
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
            blocks.append(Block(start, match.end(), match["rpc"], NodeKind.METHOD, parent))
            names.append(Named(start, LinkForm.SERVE, f"rpc:{blocks[parent].name}.{match['rpc']}"))
            continue
        end = closings.get(plain.find("{", match.end() - 1), len(plain))
        around.append(len(blocks))
        blocks.append(Block(start, end, match["name"], _PROTO_KINDS[match["kind"]], parent))
        if match["kind"] == "message":
            names.append(Named(start, LinkForm.SERVE, f"message:{match['name']}"))
    return blocks, names


_GRAPHQL = re.compile(
    r"^[ \t]*(?:extend[ \t]+)?(?P<kind>type|input|interface|enum|union|scalar|query|mutation|subscription"
    r"|fragment)[ \t]+(?P<name>\w+)[^{}\n=]*(?P<open>\{)?",
    re.MULTILINE,
)
_GRAPHQL_KINDS = {
    "type": NodeKind.STRUCT, "input": NodeKind.STRUCT, "interface": NodeKind.INTERFACE, "enum": NodeKind.ENUM,
    "union": NodeKind.TYPE, "scalar": NodeKind.TYPE,
}  # fmt: skip
_GRAPHQL_FIELD = re.compile(r"^[ \t]+(?P<name>\w+)(?=[ \t]*[(:])", re.MULTILINE)
_ROOT_TYPES = ("Query", "Mutation", "Subscription")


def read_graphql(text: str) -> tuple[list[Block], list[Named]]:
    """Return types, and the operations of the root types as functions; queries of clients are functions, too."""
    plain = _blank(_NO_CODE, text)
    closings, blocks, names = _closings(plain), list[Block](), list[Named]()
    for match in _GRAPHQL.finditer(plain):
        if len(blocks) >= _MAX_BLOCKS:
            break
        start = match.start("kind")
        end = closings.get(match.start("open"), len(plain)) if match["open"] else match.end()
        own, name = len(blocks), match["name"]
        blocks.append(Block(start, end, name, _GRAPHQL_KINDS.get(match["kind"], NodeKind.FUNCTION), -1))
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
                blocks.append(Block(field.start("name"), last, field["name"], NodeKind.METHOD, own))
    return blocks, names


_TERRAFORM = re.compile(
    r"^(?P<kind>resource|data|module|variable|output)[ \t]+\"(?P<one>[\w.-]+)\"(?:[ \t]+\"(?P<two>[\w.-]+)\")?[ \t]*"
    r"(?P<open>\{)|^(?P<locals>locals)[ \t]*(?P<opened>\{)",
    re.MULTILINE,
)
_TERRAFORM_USE = re.compile(
    r"(?<![\w.\"-])(?P<name>(?:var|local|module)\.[A-Za-z][\w-]*|data\.[a-z]\w*\.[A-Za-z][\w-]*"
    r"|[a-z][a-z0-9]*_\w+\.[A-Za-z][\w-]*)"
)
_LOCAL = re.compile(r"^[ \t]{1,4}(?P<name>[A-Za-z][\w-]*)[ \t]*=", re.MULTILINE)
_MODULE_SOURCE = re.compile(r"^[ \t]*source[ \t]*=[ \t]*\"(?P<name>\.{1,2}/[^\"\n]*)\"", re.MULTILINE)


def read_terraform(text: str) -> tuple[list[Block], list[Named]]:
    """Return resources, data, modules, variables, outputs and locals, and the names that are used."""
    plain = _blank(re.compile(r"(?<![\"\w$])#[^\n]*|^[ \t]*//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL | re.MULTILINE), text)
    closings, blocks, names = _closings(plain), list[Block](), list[Named]()
    for match in _TERRAFORM.finditer(plain):
        if len(blocks) >= _MAX_BLOCKS:
            break
        end = closings.get(match.start("opened" if match["locals"] else "open"), len(plain))
        if match["locals"]:
            for each in _LOCAL.finditer(plain, match.end(), end):
                last = plain.find("\n", each.end())
                blocks.append(
                    Block(
                        each.start("name"),
                        last if 0 <= last < end else end,
                        f"local.{each['name']}",
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
        blocks.append(Block(match.start(), end, name, node, -1))
    names += [Named(m.start("name"), LinkForm.RESOURCE, m["name"]) for m in _TERRAFORM_USE.finditer(plain)]
    names += [Named(m.start("name"), LinkForm.RUN, m["name"]) for m in _MODULE_SOURCE.finditer(plain)]
    return blocks, names


# -- keys of nested formats

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"|[{}\[\],:]')


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


_YAML_LINE = re.compile(
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


def read_texts(text: str) -> Iterator[Named]:
    """Yield the keys of translated texts in JSON, YAML, XML or `key = value`."""
    bare = text.lstrip("\ufeff \t\r\n")
    found = 0
    if bare.startswith("{"):
        keys = _json_keys(text)
    elif bare.startswith("<"):
        for match in re.finditer(r"<(?:string|data)\s+name=\"([\w.]+)\"", text):
            yield Named(match.start(), LinkForm.HAVE_TEXT, match[1])
        return
    elif re.search(r"^[\w.-]+[ \t]*=", text, re.MULTILINE) and not re.match(r"[\w-]+:\s*\n", bare):
        section = ""
        for match in re.finditer(r"^\[(?P<section>[\w.-]+)\]|^(?P<key>[\w.-]+)[ \t]*[=:]", text, re.MULTILINE):
            if match["section"]:
                section = f"{match['section']}."
            elif (found := found + 1) <= _MAX_TEXTS:
                yield Named(match.start(), LinkForm.HAVE_TEXT, f"{section}{match['key']}")
        return
    else:
        keys = _yaml_keys(text)
    for at, path, is_text in keys:
        if is_text and found < _MAX_TEXTS:
            found += 1
            path = path[1:] if re.fullmatch(r"en(?:[-_]\w+)?", path[0]) and len(path) > 1 else path
            yield Named(at, LinkForm.HAVE_TEXT, ".".join(path))


_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})


def read_openapi(text: str) -> Iterator[Named]:
    """Yield the method and path of each operation of an OpenAPI document, in YAML or JSON."""
    bare = text.lstrip("\ufeff \t\r\n")
    for at, path, _ in _json_keys(text) if bare.startswith("{") else _yaml_keys(text):
        if len(path) == 3 and path[0] == "paths" and path[1].startswith("/") and path[2].lower() in _METHODS:
            yield Named(at, LinkForm.SERVE, f"{path[2].upper()} {path[1]}")


def is_openapi(text: str) -> bool:
    """Return True for a document that says that it is one of OpenAPI."""
    return re.search(r"^\s*\{?\s*[\"']?(?:openapi|swagger)[\"']?\s*:", text[:2_000], re.MULTILINE) is not None
