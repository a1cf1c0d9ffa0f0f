"""Parts of a syntax tree that a review compares: code without comments, parameters, and calls with their arguments.

In: the tree of a file and its text. Out: marks of the code in order, parameters by kind, call sites. Lists are split at
the commas of the grammar and each item is read from its text, because grammars name the same thing differently.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import tree_sitter

from causalist.parse import load_language, parse_syntax, with_line_feeds

_LISTS_OF_ARGUMENTS = frozenset({"arguments", "argument_list", "value_arguments"})
_LISTS_OF_PARAMETERS = frozenset(
    {"parameters", "formal_parameters", "parameter_list", "function_value_parameters", "method_parameters"}
)
_CALLEES = ("function", "constructor", "method", "name", "type")  # fields of a call
_RECEIVERS = ("object", "receiver", "scope")  # fields of a call whose callee is a name alone
_NAMED_BY_EQUALS = frozenset({"python", "kotlin", "scala"})
_NAMED_BY_COLON = frozenset({"ruby", "php", "csharp", "swift"})
_TYPED_AFTER = frozenset({"kotlin", "scala", "swift", "rust", "typescript", "python"})
_UNCOUNTED = frozenset({"bash", "lua", "elixir"})  # arguments may be left out, or are part of the name
_LEAF = re.compile(r"(\w+)[?!]?\s*$")
_BEHIND_RECEIVER = re.compile(r"(?:\.|->|::)\s*\w+[?!]?\s*$")
_GENERIC = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_EQUALS = re.compile(r"(?<![=!<>:+\-*/|&])=(?![=>])")
_INNERMOST = re.compile(r"\[[^\[\](){}]*\]|\([^\[\](){}]*\)|\{[^\[\](){}]*\}")
_TAKES_ANY_NUMBER = {"csharp": ("params ",), "kotlin": ("vararg ",)}
_NAMED_SELF = frozenset({"python", "rust"})  # the receiver; elsewhere a parameter may have this name
_NO_BODY = frozenset({"function_type", "type_annotation"})
_LITERALS = {
    "string": "string", "string_literal": "string", "interpreted_string_literal": "string", "template_string": "string",
    "encapsed_string": "string", "raw_string_literal": "string", "line_string_literal": "string",
    "integer": "number", "float": "number", "number": "number", "int_literal": "number", "integer_literal": "number",
    "number_literal": "number", "decimal_integer_literal": "number", "float_literal": "number",
    "decimal_floating_point_literal": "number", "real_literal": "number",
    "true": "bool", "false": "bool", "boolean": "bool", "boolean_literal": "bool",
}  # fmt: skip
_TYPE_WORDS = {
    "string": {"str", "string", "String", "&str", "&'static str"},
    "number": {
        "int", "float", "Int", "Integer", "long", "Long", "double", "Double", "Float", "number", "short", "i32", "i64",
        "u8", "u32", "u64", "usize", "f32", "f64", "int32", "int64", "uint", "uint64", "float64", "i16", "u16", "i8",
    },
    "bool": {"bool", "boolean", "Boolean", "Bool"},
}  # fmt: skip


class DeclaredParameter(NamedTuple):
    """A parameter: `form` is "positional", "keyword", "list" or "map" (the last two take any number), or "receiver".

    The last is the first parameter of an extension method of C#, which mostly stands before the dot of a call.

    `type` is "string", "number", "bool", or "" for any other. `label` is False if the caller may not name it.
    """

    name: str
    form: str
    is_optional: bool
    type: str = ""
    label: bool = True


class GivenArgument(NamedTuple):
    """An argument: its name, "" if it has none, and the kind of literal, "" if it is none."""

    name: str
    literal: str


class CallAt(NamedTuple):
    """A call: name of the callee, 0-based row, bytes, arguments, and whether some stand for an unknown number.

    `is_scoped` is True behind `::`, where the receiver may be the first argument, and `is_bare` where no receiver is
    written.
    """

    name: str
    row: int
    start: int
    arguments: tuple[GivenArgument, ...]
    is_open: bool
    is_scoped: bool
    is_bare: bool


class SyntaxFile:
    """The syntax tree of a file with its text. Raises nothing for broken source: its tree has errors."""

    def __init__(self, tree: tree_sitter.Tree, language: str, text: bytes) -> None:
        self.root = tree.root_node
        self.language = language
        self.text = text
        self.has_errors = tree.root_node.has_error
        self._calls: dict[frozenset[str], list[CallAt]] = {}
        self._doc_strings = load_language(language).comments.doc == "string"

    @classmethod
    def read(cls, path: str, data: bytes) -> "SyntaxFile | None":
        """Return the tree of a file; None if it has no language."""
        tree_and_language = parse_syntax(path, data)
        return (
            None
            if tree_and_language is None
            else cls(tree_and_language[0], tree_and_language[1], with_line_feeds(data))
        )

    def marks(self, start: int, end: int, holes: Sequence[tuple[int, int]] = ()) -> tuple[bytes, ...]:
        """Return the code of a span without comments, documentation strings and the spans `holes`.

        These are tokens, and begin and end of the nodes with parts that lie in the span. What lies in a hole is not
        visited, so that a type costs no more than its own code.
        """
        marks: list[bytes] = []
        merged = _merge_spans(holes)
        starts = [first for first, _ in merged]
        stack: list[tree_sitter.Node | None] = [self._around(start, end)]
        while stack:
            node = stack.pop()
            if node is None:
                marks.append(b")")
                continue
            first, last = node.start_byte, node.end_byte
            if first >= end or last <= start:
                continue
            if starts and (place := bisect_right(starts, first)) and last <= merged[place - 1][1]:
                continue
            kind = node.type
            if "comment" in kind or (self._doc_strings and self._is_documentation(node)):
                continue
            if self.language == "go" and _says_nothing(node):
                stack.extend(child for child in reversed(node.children) if child.is_named)
                continue
            if not node.child_count or _LITERALS.get(kind) == "string":
                text = self.text[first:last]
                if text.strip():
                    marks.append(text)
                continue
            if first >= start and last <= end and node.is_named and node.parent is not None:
                marks.append(b"(" + kind.encode())
                stack.append(None)
            stack.extend(reversed(node.children))
        return tuple(marks)

    def comments(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the spans of the comments in a span, in order."""
        found: list[tuple[int, int]] = []
        stack = [self._around(start, end)]
        while stack:
            node = stack.pop()
            if "comment" in node.type:
                found.append((node.start_byte, node.end_byte))
            else:
                stack.extend(c for c in reversed(node.children) if c.start_byte < end and c.end_byte > start)
        return found

    def _around(self, start: int, end: int) -> tree_sitter.Node:
        """Return the outermost node that lies in a span; the innermost around the span if none covers it."""
        node = self.root.descendant_for_byte_range(start, max(start, end - 1)) or self.root
        while (above := node.parent) is not None and above.start_byte >= start and above.end_byte <= end:
            node = above
        return node

    def _is_documentation(self, node: tree_sitter.Node) -> bool:
        is_alone = node.type == "expression_statement" and node.named_child_count == 1
        return is_alone and node.named_children[0].type == "string"

    def definition_at(self, start: int, end: int) -> tree_sitter.Node | None:
        """Return the outermost node with exactly this span; the innermost around it if there is none."""
        node = self.root.descendant_for_byte_range(start, max(start, end - 1))
        while node is not None and node.start_byte >= start and node.end_byte <= end and node.parent is not None:
            above = node.parent
            if above.start_byte < start or above.end_byte > end:
                break
            node = above
        return node

    def parameters(self, start: int, end: int, *, is_method: bool) -> tuple[DeclaredParameter, ...] | None:
        """Return the parameters that callers give for the function of a span; None if they are not known."""
        if self.language in _UNCOUNTED:
            return None
        node = self.definition_at(start, end)
        listed = None if node is None else _find_list(node, start, end)
        if listed is None:
            return None
        parameters = [] if not listed.named_child_count else self._read_parameters(listed)
        decorators = self.text[start : listed.start_byte]
        if self.language == "python" and is_method and parameters and b"@staticmethod" not in decorators:
            parameters = parameters[1:]
        receivers = ("this", "self") if self.language in _NAMED_SELF else ("this",)
        return tuple(each for each in parameters if each.name not in receivers)

    def _read_parameters(self, listed: tree_sitter.Node) -> list[DeclaredParameter]:
        parameters: list[DeclaredParameter] = []
        form, items = "positional", _items(listed, self.text)
        n_bare = sum(1 for text, _ in items if self.language == "go" and " " not in text)
        for text, _ in items:
            text = _strip_marks(text)
            if text in ("*", "/", "void", ""):
                form = "keyword" if text == "*" else form
                if text == "/":
                    parameters = [each._replace(label=False) for each in parameters]
                continue
            if self.language == "ruby" and text.startswith("&"):
                continue
            declared, _, value = _split_equals(text)
            name, of_type = self._name_of(declared, is_alone=n_bare == len(items))
            is_map = text.startswith("**")
            is_list = not is_map and (
                (text.startswith("*") and self.language in ("python", "ruby"))
                or (self.language != "python" and "..." in _without_brackets(declared))
                or declared.startswith(_TAKES_ANY_NUMBER.get(self.language, ()))
                or (self.language == "scala" and declared.endswith("*"))
            )
            is_keyword = self.language == "ruby" and re.match(r"\w+:", text) is not None
            is_optional = bool(value) or declared.partition(":")[0].rstrip().endswith("?")
            if is_keyword:
                is_optional = not text.rstrip().endswith(":")
            is_receiver = self.language == "csharp" and not parameters and re.match(r"this\s", text) is not None
            given = (
                "receiver"
                if is_receiver
                else "map"
                if is_map
                else "list"
                if is_list
                else "keyword"
                if is_keyword
                else form
            )
            parameters.append(DeclaredParameter(name, given, is_optional, of_type))
            if is_list and self.language == "python":
                form = "keyword"
        return parameters

    def _name_of(self, declared: str, *, is_alone: bool) -> tuple[str, str]:
        """Return (name, kind of type) of a parameter without its default."""
        language = self.language
        if language in _TYPED_AFTER or language in ("javascript", "flow", "tsx"):
            before, _, of_type = declared.partition(":")
            words = re.findall(r"\w+", before)
            if not words:
                return "", ""
            return words[0] if language == "swift" else words[-1], _type_kind(of_type)
        if language == "go":
            words = declared.split(None, 1)
            return ("" if is_alone else words[0]), _type_kind(words[-1]) if len(words) > 1 or is_alone else ""
        words = re.findall(r"\$?\w+", declared)
        name = words[-1].lstrip("$") if words else ""
        if language == "ruby":
            name = words[0] if words else ""
        before = re.sub(rf"\$?{re.escape(name)}\s*$", "", declared).replace("final ", "")
        return name, _type_kind(before)

    def calls(self, start: int, end: int, names: frozenset[str]) -> list[CallAt]:
        """Return the calls of something with one of these names in a span, in order."""
        if not any(name.encode() in self.text[start:end] for name in names):
            return []
        if names not in self._calls:
            self._calls[names] = self._find_calls(names)
        calls = self._calls[names]
        first, last = (bisect_left(calls, at, key=lambda call: call.start) for at in (start, end))
        return calls[first:last]

    def _find_calls(self, names: frozenset[str]) -> list[CallAt]:
        """Return the calls of something with one of these names, by their first byte.

        Only nodes around the names in the text are visited, because most of a file calls something else.
        """
        any_name = b"|".join(re.escape(name.encode()) for name in sorted(names))
        written = re.compile(rb"(?<!\w)(?:%b)(?!\w)" % any_name)
        listed_by_call: dict[int, tuple[tree_sitter.Node, tree_sitter.Node]] = {}
        visited: set[int] = set()
        cursor = self.root.walk()
        for at in (matched.start() for matched in written.finditer(self.text)):
            cursor.reset(self.root)
            while (node := cursor.node) is not None and node.start_byte <= at:
                if node.id not in visited:
                    visited.add(node.id)
                    listed = _arguments_of(node)
                    if listed is not None:
                        listed_by_call[node.id] = node, listed
                if cursor.goto_first_child_for_byte(at) is None:
                    break
        nodes = sorted(listed_by_call.values(), key=lambda pair: (pair[0].start_byte, -pair[0].end_byte))
        calls = [self._read_call(node, listed, names) for node, listed in nodes]
        return sorted((call for call in calls if call is not None), key=lambda call: (call.start, call.row))

    def _read_call(self, node: tree_sitter.Node, listed: tree_sitter.Node, names: frozenset[str]) -> CallAt | None:
        callee = next((c for c in map(node.child_by_field_name, _CALLEES) if c is not None and c.id != listed.id), None)
        callee = callee or next((c for c in node.named_children if c.end_byte <= listed.start_byte), None)
        if callee is None or callee.id == listed.id:
            return None
        written = self.text[callee.start_byte : callee.end_byte].decode("utf-8", "replace")
        if "(" in written:
            written = written[written.rfind(")") + 1 :]
        matched = _LEAF.search(_GENERIC.sub("", written))
        if matched is None or matched[1] not in names:
            return None
        arguments, is_open = self._read_arguments(listed)
        above = node.parent
        if self.language in ("kotlin", "swift", "ruby") and (
            any("lambda" in child.type for child in node.children) or (above is not None and any(
                "lambda" in child.type and child.start_byte >= node.end_byte for child in above.children
            ))
        ):  # fmt: skip
            is_open = True  # a function behind the list is one of the arguments
        row = callee.end_point[0]
        is_bare = not _BEHIND_RECEIVER.search(written) and not any(map(node.child_by_field_name, _RECEIVERS))
        return CallAt(matched[1], row, node.start_byte, tuple(arguments), is_open, "::" in written, is_bare)

    def _read_arguments(self, listed: tree_sitter.Node) -> tuple[list[GivenArgument], bool]:
        if "generator" in listed.type or listed.type not in (*_LISTS_OF_ARGUMENTS, "call_suffix"):
            return [GivenArgument("", "")], listed.type not in ("generator_expression",)
        arguments: list[GivenArgument] = []
        is_open = False
        for text, node in _items(listed, self.text):
            text = text.strip()
            if text.startswith(("*", "...", "&")) and (self.language in ("python", "ruby", "kotlin", "php")):
                is_open = is_open or not (self.language == "ruby" and text.startswith("&"))
                continue
            if text.startswith("...") or text.endswith("...") or ("=>" in text and self.language == "ruby"):
                is_open = True
                continue
            name = ""
            if self.language in _NAMED_BY_EQUALS:
                matched = re.match(r"(\w+)\s*=(?!=)", text)
                name = matched[1] if matched else ""
            elif self.language in _NAMED_BY_COLON:
                matched = re.match(r"(\w+):(?!:)", text)
                name = matched[1] if matched else ""
            while node.named_child_count == 1 and node.type in ("argument", "value_argument"):
                node = node.named_children[0]
            arguments.append(GivenArgument(name, "" if name else _LITERALS.get(node.type, "")))
        one_call = len(arguments) == 1 and self.language == "go" and "(" in _items(listed, self.text)[0][0]
        return arguments, is_open or one_call


def _says_nothing(node: tree_sitter.Node) -> bool:
    """Return True for a node of Go that code means the same without: of declared variables, or brackets of a result."""
    if node.type in ("var_declaration", "var_spec_list"):
        return True
    if node.type == "parameter_declaration":
        return node.named_child_count == 1 and node.parent is not None and _is_bracketed_result(node.parent)
    return node.type == "parameter_list" and _is_bracketed_result(node)


def _is_bracketed_result(listed: tree_sitter.Node) -> bool:
    above = listed.parent
    if above is None or listed.named_child_count != 1 or above.child_by_field_name("result") != listed:
        return False
    return listed.named_children[0].named_child_count == 1  # a type without a name


def _merge_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return disjoint spans in order that cover the same bytes."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _items(listed: tree_sitter.Node, text: bytes) -> list[tuple[str, tree_sitter.Node]]:
    """Return (text, first node) of what stands between the commas of a list."""
    items: list[tuple[str, tree_sitter.Node]] = []
    pending: list[tree_sitter.Node] = []
    children: list[tree_sitter.Node | None] = []
    for each in listed.children:  # a declaration may name several parameters of one type
        is_shared = each.type == "parameter_declaration" and any(part.type == "," for part in each.children)
        children += each.children if is_shared else [each]
    for child in (*children, None):
        if child is None or child.type in (",", ")", "]", "|"):
            if pending:
                part = text[pending[0].start_byte : pending[-1].end_byte].decode("utf-8", "replace")
                items.append((" ".join(part.split()), pending[0]))
            pending = []
        elif child.type not in ("(", "[") and "comment" not in child.type:
            pending.append(child)
    return items


def _without_brackets(text: str) -> str:
    """Return a text without what stands in brackets: types of functions have parameters of their own."""
    while (shorter := _INNERMOST.sub("", text)) != text:
        text = shorter
    return text


def _strip_marks(text: str) -> str:
    """Return a parameter without annotations and words of visibility before it."""
    text = re.sub(r"^(?:@[\w.]+(?:\([^()]*\))?\s+|#?\[[^\[\]]*\]\s*)+", "", text)
    return re.sub(
        r"^(?:(?:public|private|protected|readonly|final|const|mut|override|val|var|in|out|ref)\s+)+", "", text
    )


def _split_equals(text: str) -> tuple[str, str, str]:
    """Return (parameter, "=", default) at the first sign of equality outside of brackets."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}" or (letter == ">" and text[i - 1 : i] not in ("=", "-")))
        if letter == "=" and depth <= 0 and _EQUALS.match(text, i):
            return text[:i].strip(), "=", text[i + 1 :].strip() or "?"
    return text.strip(), "", ""


def _type_kind(text: str) -> str:
    text = text.strip()
    return next((kind for kind, words in _TYPE_WORDS.items() if text in words), "")


def _arguments_of(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the list of arguments of a call; None if the node is no call."""
    listed = node.child_by_field_name("arguments")
    if listed is not None:
        return listed
    if "call" not in node.type and "creation" not in node.type and "invocation" not in node.type:
        return None
    for child in node.named_children:
        if child.type in _LISTS_OF_ARGUMENTS:
            return child
        if child.type == "call_suffix":
            return next((each for each in child.named_children if each.type in _LISTS_OF_ARGUMENTS), None)
    return None


def _find_list(node: tree_sitter.Node, start: int, end: int) -> tree_sitter.Node | None:
    """Return the list of parameters of a definition: the first one that is not in its body, decorators or types."""
    queue = [node]
    for _ in range(200):
        if not queue:
            return None
        candidate = queue.pop(0)
        parameter_list = candidate.child_by_field_name("parameters")
        if parameter_list is None:
            parameter_list = next(
                (child for child in candidate.named_children if child.type in _LISTS_OF_PARAMETERS), None
            )
        if candidate.type == "function_declaration" and parameter_list is None:
            direct = [child for child in candidate.children if child.type == "parameter"]
            if direct or candidate.child_by_field_name("body") is not None:
                return candidate if direct else None
        if parameter_list is not None and start <= parameter_list.start_byte < end:
            return parameter_list
        body = candidate.child_by_field_name("body")
        queue += [
            child
            for child in candidate.named_children
            if (body is None or child.id != body.id)
            and child.type not in _NO_BODY
            and "decorator" not in child.type
            and "annotation" not in child.type
            and "body" not in child.type
            and "block" not in child.type
        ]
    return None
