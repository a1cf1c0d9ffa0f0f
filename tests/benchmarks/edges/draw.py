"""Draws call sites of a repository, uniformly among all that its syntax has, for people to label.

    python -m tests.benchmarks.edges.draw LANGUAGE REPO COMMIT --clones DIR [--sites 24] [--seed 1] [--context 2]

LANGUAGE is the name of a dialect in `grammars/`. Sites are nodes of the bare grammar: what our queries capture of them
plays no part. Prints each site as `path:line text`, the lines around it, and the definitions of that name. Labelled
sites are in `*_sites.jsonl`; `sites.py` says of what they are made.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import tree_sitter

from causalist.evaluate.mining import find_clone
from causalist.parse import dialect_of, load_grammar, parse_file
from causalist.parse.languages import dialect_for
from causalist.source import BlobReader, scan_commit

# Node types that are a call, and the field that says what is called ("" for the whole node, "^" for its first child).
CALLS = {
    "c": {"call_expression": "function"},
    "cpp": {"call_expression": "function", "new_expression": "type"},
    "csharp": {"invocation_expression": "function", "object_creation_expression": "type"},
    "kotlin": {"call_expression": "^"},
    "swift": {"call_expression": "^"},
    "scala": {"call_expression": "function", "instance_expression": "^"},
    "ruby": {"call": "method", "super": "", "identifier": ""},
    "elixir": {"call": "target"},
    "lua": {"function_call": "name"},
    "bash": {"command": "name"},
    "matlab": {"function_call": "name", "command": "^", "identifier": ""},
    "zig": {"call_expression": "function"},
    "powershell": {"command": "command_name", "invocation_expression": "^"},
    "perl": {
        "function_call_expression": "function",
        "ambiguous_function_call_expression": "function",
        "method_call_expression": "method",
        "coderef_call_expression": "^",
    },
    "dart": {"argument_part": "", "new_expression": "", "const_object_expression": "", "arguments": ""},
    "julia": {"call_expression": "^", "broadcast_call_expression": "^"},
    "fsharp": {"application_expression": "^", "infix_expression": "^"},
    "starlark": {"call": "function"},
    "gdscript": {"call": "^", "attribute_call": "^", "base_call": "^"},
    "odin": {"call_expression": "function"},
    "systemverilog": {
        "tf_call": "^",
        "method_call": "",
        "class_new": "",
        "class_constructor_declaration": "",
        "module_instantiation": "instance_type",
        "interface_instantiation": "^",
        "program_instantiation": "^",
        "checker_instantiation": "^",
        "udp_instantiation": "^",
    },
    "vhdl": {
        "component_instantiation_statement": "",
        "procedure_call_statement": "",
        "concurrent_procedure_call_statement": "",
        "name": "",
    },
}
# Operators of Perl that are written like calls.
_OPERATORS = re.compile(
    r"abs|accept|atan2|bind|binmode|bless|caller|chdir|chmod|chomp|chop|chown|chr|chroot|"
    r"close|closedir|connect|cos|crypt|defined|delete|die|do|each|eof|eval|exec|exists|exit|"
    r"exp|fileno|flock|fork|glob|gmtime|grep|hex|index|int|ioctl|join|keys|kill|lc|lcfirst|"
    r"length|link|listen|local|localtime|log|lstat|map|mkdir|no|oct|open|opendir|ord|our|"
    r"pack|pipe|pop|pos|print|printf|push|quotemeta|rand|read|readdir|readline|readlink|recv|"
    r"ref|rename|require|reset|return|reverse|rewinddir|rindex|rmdir|say|scalar|seek|select|"
    r"send|shift|shutdown|sin|sleep|socket|sort|splice|split|sprintf|sqrt|srand|stat|substr|"
    r"symlink|syscall|sysopen|sysread|sysseek|system|syswrite|tell|tie|tied|time|times|"
    r"truncate|uc|ucfirst|umask|undef|unlink|unpack|unshift|untie|use|utime|values|vec|wait|"
    r"waitpid|wantarray|warn|write"
)
# Operators of F# that call a name beside them: what is before it, behind it, or both.
_PIPES = {"|>": (False, True), "||>": (False, True), "<|": (True, False), ">>": (True, True), "<<": (True, True)}
_NAMES = ("long_identifier_or_op", "dot_expression", "typed_expression")
# Calls that define or import something, and are no calls to who reads the code.
_FORMS = re.compile(
    r"(?:def\w*|alias|import|require|use|quote|unquote|fn|case|if|unless|cond|with|for|try|receive|super|test|describe|assert|refute|setup|@)\b"
)


def nodes(dialect: str, root: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, str]]:
    """Every call below `root`, with what is called as it is written."""
    kinds = CALLS[dialect]
    waiting, variables = [root], _Variables()
    objects = _objects_of_vhdl(root) if dialect == "vhdl" else set()
    while waiting:
        node = waiting.pop()
        waiting.extend(reversed(node.children))
        if not node.is_named or node.type not in kinds:
            continue
        field = kinds[node.type]
        called = node.named_child(0) if field == "^" else node.child_by_field_name(field) if field else node
        if called is None or called.text is None or node.text is None:
            continue
        if dialect == "fsharp":
            for each in _applied(node):
                yield each, (each.text or b"").decode(errors="replace")
            continue
        text = called.text.decode(errors="replace")
        if dialect == "dart":
            if (written := _before_arguments(node)) is not None:
                yield written
            continue
        if dialect == "gdscript" and node.type == "attribute_call" and node.parent is not None:
            first = node.parent.children[0]
            while first.type in _OPERATIONS or (first.type == "attribute" and first.children[0].type in _OPERATIONS):
                first = first.children[-1 if first.type in _OPERATIONS else 0]
            start = node.parent.start_byte
            text = (node.parent.text or b"")[first.start_byte - start : called.end_byte - start].decode(
                errors="replace"
            )
        if dialect == "systemverilog" and field == "":
            yield from _made_or_sent(node)
            continue
        if dialect == "vhdl":
            if (written := _called_in_vhdl(node, objects)) is not None:
                yield written
            continue
        if dialect == "odin":
            text = _written_before(node, called)
        if dialect == "ruby":
            if node.type == "identifier" and not _alone(node):
                continue
            if node.type == "call":
                text = node.text[: called.end_byte - node.start_byte].decode(errors="replace")
        if dialect == "perl":
            if _OPERATORS.fullmatch(text):
                continue
            if node.type == "method_call_expression":
                text = node.text[: called.end_byte - node.start_byte].decode(errors="replace")
        if dialect == "powershell" and node.type == "invocation_expression":
            called = next((each for each in node.named_children if each.type == "member_name"), called)
            text = node.text[: called.end_byte - node.start_byte].decode(errors="replace")
        if dialect == "matlab":
            if not variables.is_called(node):
                continue
            if node.parent is not None and node.parent.type == "field_expression":
                start = node.parent.start_byte
                text = (node.parent.text or b"")[: called.end_byte - start].decode(errors="replace")
        if (
            dialect == "kotlin"
            and called.type == "call_expression"
            and node.named_children[-1].type == "annotated_lambda"
        ):
            continue  # `f(x) { }`, of which `f(x)` is a call by itself
        if dialect == "julia" and _is_signature(node):
            continue
        if dialect == "elixir" and (_FORMS.match(text) or _is_head(node)):
            continue
        yield called, text


def _applied(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """What an expression of F# calls. The grammar gives `a + f x` and `a |> f x` as `(a + f) x` and `(a |> f) x`."""
    first, last = node.children[0], node.children[-1]
    if node.type == "application_expression":
        called = first.children[-1] if first.type == "infix_expression" else first
        return [called] if called.type in _NAMES else []
    sides = _PIPES.get((node.children[1].text or b"").decode(), (False, False))
    around = node.parent
    behind = around is None or around.type != "application_expression" or around.children[0] != node
    given = [(first, sides[0]), (last, sides[1] and behind)]
    return [each for each, is_called in given if is_called and each.type in _NAMES]


# Nodes of MATLAB in which a name alone may be a call, and those that give a value to a name.
_VALUES = (
    "arguments", "assignment", "binary_operator", "boolean_operator", "cell", "comparison_operator", "if_statement",
    "lambda", "matrix", "not_operator", "parenthesis", "postfix_operator", "range", "row", "switch_statement",
    "unary_operator", "while_statement",
)  # fmt: skip
_BINDINGS = (
    "catch_clause", "function_arguments", "function_output", "global_operator", "iterator", "multioutput_variable",
    "persistent_operator",
)  # fmt: skip


class _Variables:
    """The variables of each function of a file of MATLAB, those of functions inside of it among them."""

    def __init__(self) -> None:
        self._of: dict[int, set[str]] = {}

    def is_called(self, node: tree_sitter.Node) -> bool:
        """Whether a name stands where a call may, and is no variable of the function around it."""
        parent, name = node.parent, node.child_by_field_name("name")
        if node.type == "command":
            name = node.named_child(0)
        elif node.type == "identifier":
            name = node
            if parent is None or parent.type not in _VALUES or parent.child_by_field_name("left") == node:
                return False
            if parent.type == "lambda" and parent.child_by_field_name("expression") != node:
                return False
            if parent.parent is not None and parent.parent.type == "lambda" and parent.type == "arguments":
                return False
        if name is None or parent is None or name.type not in ("identifier", "command_name"):
            return True  # `s.(name)(1)`
        if parent.type == "field_expression" and parent.child_by_field_name("object") != node:
            return True
        if parent.type == "assignment" and parent.child_by_field_name("left") == node:
            return False
        around: tree_sitter.Node | None = parent
        outermost = around
        while around is not None:
            if around.type == "function_definition" or (around.parent is None and outermost == parent):
                outermost = around
            around = around.parent
        assert outermost is not None
        if outermost.id not in self._of:
            self._of[outermost.id] = set(_bound_in(outermost))
        return (name.text or b"").decode(errors="replace") not in self._of[outermost.id]


def _bound_in(root: tree_sitter.Node) -> Iterator[str]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        names = node.named_children if node.type in _BINDINGS else []
        if node.type == "assignment":
            names = [left] if (left := node.child_by_field_name("left")) else []
        elif node.type == "lambda":
            names = [
                each for child in node.named_children if child.type == "arguments" for each in child.named_children
            ]
        for each in names:
            named: tree_sitter.Node | None = each
            while named is not None and named.type in ("function_call", "field_expression"):
                named = named.child_by_field_name("name" if named.type == "function_call" else "object")
            if named is not None and named.type == "identifier":
                yield (named.text or b"").decode(errors="replace")


# The grammar of GDScript gives `a and b.c.f()` as `(a and b.c).f()`.
_OPERATIONS = ("await_expression", "binary_operator", "conditional_expression", "unary_operator")
_NO_CALLS = ("method", "method_parameters", "block_parameters", "alias", "undef", "keyword_parameter")


def _alone(node: tree_sitter.Node) -> bool:
    """Whether a name of Ruby stands where a call may, and is no variable of the method around it."""
    parent = node.parent
    if parent is None or parent.type in _NO_CALLS:
        return False
    if parent.type == "call" and parent.child_by_field_name("receiver") != node:
        return False
    around: tree_sitter.Node | None = parent
    while around is not None and around.type not in ("method", "singleton_method", "program"):
        around = around.parent
    text = (around.text or b"").decode(errors="replace") if around else ""
    name = rf"\b{re.escape((node.text or b'').decode())}\b"
    bound = rf"{name}\s*(?:,[^=\n]*)?(?:\|\||&&|[-+*])?=(?![=~])|\|[^|\n]*{name}[^|\n]*\||rescue.*=>\s*{name}"
    header = re.match(r"def[^\n(]*(\([^)]*\)|[^\n]*)", text)
    return not (re.search(bound, text) or (header and re.search(name, header[1])))


def _before_arguments(node: tree_sitter.Node) -> tuple[tree_sitter.Node, str] | None:
    """What a call of Dart calls: all that stands before its arguments in its expression, of a cascade its own member.

    None where the arguments belong to a call that is counted already, to an annotation, or to a constant of an enum.
    """
    parent = node.parent
    if parent is None or (node.type == "arguments" and parent.type not in ("initializer_list_entry", "redirection")):
        return None
    if node.type.endswith("_expression"):
        names = [each for each in node.named_children if each.type in ("type_identifier", "identifier")]
        return (names[-1], ".".join((each.text or b"").decode() for each in names)) if names else None
    last = node.prev_sibling if parent.type != "selector" else parent.prev_sibling
    first = last
    if parent.type not in ("selector", "cascade_section", "initializer_list_entry", "redirection") or last is None:
        return None
    links = ("selector", "cascade_selector", "unconditional_assignable_selector", "conditional_assignable_selector")
    while first is not None and first.type in links and first.prev_sibling is not None:
        first = first.prev_sibling
    around = parent.parent if parent.type == "selector" else parent
    assert first is not None and around is not None
    text = (around.text or b"")[first.start_byte - around.start_byte : last.end_byte - around.start_byte]
    return last, text.decode(errors="replace")


def _written_before(node: tree_sitter.Node, called: tree_sitter.Node) -> str:
    """What a call of Odin calls, with what it is a member of: the grammar puts the call of `a.b(c)` behind `a`."""
    within, around = node, node.parent
    while around is not None and around.type == "call_expression" and around.child_by_field_name("function") == within:
        within, around = around, around.parent
    if around is None or around.type not in ("member_expression", "selector_call_expression"):
        return (called.text or b"").decode(errors="replace")
    first = around.children[0]
    while first.type == "range_expression":  # `0..<a.b(c)` is read as `(0..<a).b(c)`
        first = first.children[-1]
    text = (around.text or b"")[first.start_byte - around.start_byte : called.end_byte - around.start_byte]
    return text.decode(errors="replace")


def _made_or_sent(node: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, str]]:
    """What a call of SystemVerilog calls that is no plain name: a method, or of `a = new` what it is put into.

    The language's own methods (`randomize`, `find`) have nodes of their own and are left out, as `$display` is.
    """
    if node.type == "class_constructor_declaration":
        for each in node.children:
            if each.type == "super":
                yield each, "super"
        return
    if node.type == "class_new":
        given = node.prev_named_sibling
        around = node.parent
        if around is not None and around.type == "variable_decl_assignment":
            while around is not None and around.type != "data_declaration":
                around = around.parent
            kinds = [each for each in around.children if each.type == "data_type_or_implicit"] if around else []
            given = kinds[0] if kinds else given
        if given is not None:
            yield node, (given.text or b"").decode(errors="replace")
        return
    body = node.named_children[-1]
    name = body.child_by_field_name("name")
    if name is None and body.named_child_count and body.named_children[0].type == "new_method_call":
        name = body.named_children[0].children[0]
    around = node.parent
    while around is not None and around.type in ("subroutine_call", "function_subroutine_call", "primary"):
        around = around.parent
    is_statement = around is not None and around.type == "subroutine_call_statement"
    is_called = name is not None and name.type == "new"
    if name is None or not (is_statement or is_called or body.child_by_field_name("arguments")):
        return  # `a` of `this.a.b()`, and `Shop::SIZE`
    text = (node.text or b"")[: name.end_byte - node.start_byte]
    yield name, text.decode(errors="replace")


def _objects_of_vhdl(root: tree_sitter.Node) -> set[str]:
    """Names of a file of VHDL that are signals, constants, variables, parameters, types or aliases somewhere in it."""
    found, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        if node.type == "identifier" and node.parent is not None:
            kind = node.parent.type
            if kind in ("identifier_list", "type_declaration", "subtype_declaration", "parameter_specification"):
                found.add((node.text or b"").decode(errors="replace").lower())
    return found


def _called_in_vhdl(node: tree_sitter.Node, objects: set[str]) -> tuple[tree_sitter.Node, str] | None:
    """What is instantiated, or the name before arguments that no object of the file has.

    The functions of the standard packages have nodes of their own and are left out. Those elements of arrays and
    conversions that are left are dropped by who labels.
    """
    if node.type == "component_instantiation_statement":
        unit = next((each for each in node.children if each.type == "instantiated_unit"), node)
        for kind in ("entity", "component", "configuration"):
            if (name := unit.child_by_field_name(kind)) is not None:
                return name.children[-1], (name.text or b"").decode(errors="replace")
        return None
    is_statement = node.type != "name"
    name = next((each for each in node.children if each.type == "name"), None) if is_statement else node
    if name is None or name.children[0].type != "identifier":
        return None
    if not is_statement and node.parent is not None and node.parent.type.endswith("procedure_call_statement"):
        return None
    last, behind = name.children[0], None
    for behind in name.children[1:]:
        if behind.type != "selection":
            break
        last, behind = behind.children[-1], None
    is_given = behind is not None and behind.type == "parenthesis_group"
    head = (name.children[0].text or b"").decode(errors="replace").lower()
    if not is_statement and (not is_given or (head in objects and last == name.children[0])):
        return None
    around = node.parent
    if not is_statement and around is not None and around.type.endswith("assignment") and around.named_child(0) == node:
        return None
    text = (name.text or b"")[: last.end_byte - name.start_byte]
    return last, text.decode(errors="replace")


def _is_signature(node: tree_sitter.Node) -> bool:
    """Whether a call of Julia is the head of a method: `function f(x)`, `f(x) = 1`."""
    parent = node.parent
    while parent is not None and parent.type in ("where_expression", "typed_expression"):
        if parent.named_child(0) != node:
            return False
        node, parent = parent, parent.parent
    return parent is not None and (
        parent.type == "signature" or (parent.type == "assignment" and parent.named_child(0) == node)
    )


def _is_head(node: tree_sitter.Node) -> bool:
    """Whether a call of Elixir is what a definition defines, an attribute, or the member of a value."""
    target, parent = node.child_by_field_name("target"), node.parent
    if target is not None and target.type == "dot" and not any(each.type == "arguments" for each in node.children):
        return True
    while parent is not None and parent.type in ("arguments", "binary_operator", "unary_operator"):
        if parent.type == "unary_operator" and (parent.text or b"").startswith(b"@"):
            return True
        if parent.type == "binary_operator" and b"when" not in (parent.text or b""):
            return False
        parent = parent.parent
    made = parent.child_by_field_name("target") if parent is not None and parent.type == "call" else None
    return made is not None and (made.text or b"").startswith(b"def")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=sorted(CALLS))
    parser.add_argument("repo")
    parser.add_argument("commit")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--sites", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", action="append", default=[], metavar="GLOB", help="files to draw nothing from")
    parser.add_argument("--context", type=int, default=2)
    arguments = parser.parse_args()
    clone = find_clone(arguments.clones, arguments.repo)
    if clone is None:
        raise SystemExit(f"no clone of {arguments.repo} in {arguments.clones}")
    found: list[tuple[str, int, str]] = []
    defined: dict[str, list[str]] = {}
    lines: dict[str, list[str]] = {}
    with BlobReader(clone) as reader:
        for entry in sorted(scan_commit(clone, arguments.commit).entries, key=lambda entry: entry.path):
            file = reader.read(entry)
            if isinstance(file, str) or not _is_read_by(arguments.language, entry.path, file.data):
                continue
            lines[entry.path] = file.data.decode(errors="replace").split("\n")
            for each in parse_file(entry.path, file.data).definitions:
                row = f"{entry.path}::{each.qualname}:{each.start_row + 1} {each.signature[:90]}"
                defined.setdefault(each.qualname.rpartition(".")[2], []).append(row)
            if any(fnmatch(entry.path, pattern) for pattern in arguments.without):
                continue
            tree = load_grammar(arguments.language).parser.parse(file.data)
            for called, text in nodes(arguments.language, tree.root_node):
                found.append((entry.path, called.end_point.row + 1, text))
    drawn = random.Random(arguments.seed).sample(found, arguments.sites)
    out = sys.stdout
    out.write(f"{len(found)} calls in {len(lines)} files\n")
    for path, line, text in drawn:
        out.write(f"\n=== {path}:{line} {' '.join(text.split())}\n")
        for at in range(max(line - 1 - arguments.context, 0), min(line + arguments.context, len(lines[path]))):
            out.write(f"  {at + 1:5} {lines[path][at][:160]}\n")
        name = (re.findall(r"[\w?!]+", re.sub(r"<[^<>]*>", "", text)) or [text])[-1]
        for row in defined.get(name, ())[:9] or ["nothing parsed has this name"]:
            out.write(f"    ? {row}\n")
    return 0


def _is_read_by(language: str, path: str, data: bytes) -> bool:
    if language == "bash" and "." not in path.rpartition("/")[2]:
        return data.startswith((b"#!/usr/bin/env bash", b"#!/bin/sh", b"#!/bin/bash"))
    if language == "matlab":  # whose extension others have, too
        return dialect_for(path, data) == language
    return dialect_of(path) in (language, "c" if language == "cpp" else language)


if __name__ == "__main__":
    sys.exit(main())
