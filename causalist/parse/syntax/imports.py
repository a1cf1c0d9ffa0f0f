"""Imports and exports: statements, assignments to `exports`, and calls of a function that imports.

Captures inside of one statement are read together when it ends. A module stays as written; resolving it to a file is
not done here. A tree of imported paths becomes its leaves: `a::{self, b::{c as d, e::*}}` imports a, a::b::c as d, and
all of a::b::e. The variable that lists the names of a wildcard import (`__all__`) is read as far as it has literals.
What bodies of classes of Ruby name are read from their trees, and given as bindings and exports.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import tree_sitter

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.model.facts import MODULE_SCOPE, Binding, Definition, Export, Import, ImportKind
from causalist.model.node_ids import CALLABLE_KINDS, CLASS_LEVEL, EXTENDED, TYPE_KINDS, NodeKind
from causalist.model.type_notation import CLASS_BODY, LAMBDA_VALUE
from causalist.parse.syntax.bindings import MAX_VALUE_BYTES, BindingReader
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.chains import chain_of, paths_of_pattern
from causalist.parse.syntax.open_scopes import DefinitionDraft, Frame, Scopes

_COMMENT = lazy_regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = lazy_regex(r"::|=>|[{},*]|(?:r#)?[^\W\d]\w*", re.ASCII)


def without_comments(text: str) -> str:
    """Return an expression without comments; as it stands where they may be in a string."""
    return _COMMENT.sub("", text) if "/" in text and '"' not in text else text


class Leaf(NamedTuple):
    """Leaf of a path tree: `path` joined with dots, `name` in it ("*" for all), and the local name."""

    path: str
    name: str
    alias: str


def read_use_tree(text: str) -> list[Leaf]:
    """Return the leaves of a path tree, in order. A broken tree has fewer leaves.

    >>> [leaf for leaf in read_use_tree("a::{self, b::{c as d, e::*}}")]
    [Leaf(path='', name='a', alias='a'), Leaf(path='a.b', name='c', alias='d'), Leaf(path='a.b.e', name='*', alias='')]
    """
    leaves: list[Leaf] = []
    stack: list[list[str]] = []  # the path before each open brace
    path: list[str] = []
    alias, aliased = "", False

    def close() -> None:
        nonlocal alias, aliased
        outer = stack[-1] if stack else []
        if len(path) > len(outer) or (path and path[-1] == "*"):
            names = path[:-1] if path[-1] == "self" and len(path) > 1 else path
            if names[-1] == "*":
                leaves.append(Leaf(".".join(names[:-1]), "*", ""))
            else:
                leaves.append(Leaf(".".join(names[:-1]), names[-1], alias or names[-1]))
        path[:] = outer
        alias, aliased = "", False

    tokens = _TOKEN.findall(_COMMENT.sub(" ", text))
    for token in tokens[1:] if tokens[:1] == ["import"] else tokens:
        if token == "::":
            continue
        if token == "{":
            stack.append(list(path))
        elif token == ",":
            close()
        elif token == "}":
            close()
            if stack:
                stack.pop()
            path[:] = stack[-1] if stack else []
        elif token in ("as", "=>"):
            aliased = True
        elif aliased:
            alias = token.removeprefix("r#")
        else:
            path.append("*" if token == "_" else token.removeprefix("r#"))
    close()
    return leaves


_MAX_NAME_BYTES = 200
_MAX_GAP_BYTES = 4  # bytes between the left and the right side of an assignment
_DEFINED = lazy_regex(rb"\s*=\s*(?:async\s+)?(?:function|class)\b[\s*]*")  # between an export and its own name
_SCRIPT_FOLDER = lazy_regex(r"^\$\{?\w+\}?/+")  # a variable for the folder of the script, in a path
_DYNAMIC_IMPORT = "import"  # import("m"), spelled alike wherever it exists


@dataclass(slots=True)
class ImportGroup:
    """Import, re-export or export statement during the pass over its captures."""

    tag: Tag
    end: int
    scope: int
    row: int
    parts: list[tuple[Tag, str, int]] = field(default_factory=list)
    start: int = -1
    within: int = -1  # end of the expression for the rest of which it holds, -1 for all of the scope

    def finish(self) -> tuple[list[Import], list[Export]]:
        """Return the imports and exports of the statement.

        `import.module` names modules that are bound themselves; `import.from` a module from which names are taken. An
        alias belongs to the module or name before it.
        """
        if self.tag is Tag.EXPORT:
            return [], [Export(name, alias or name, row) for name, alias, row in self._pairs(Tag.IMPORT_NAME)]
        imports = [
            Import(self.scope, ImportKind.MODULE, *_split_level(name), "", alias, row)
            for name, alias, row in self._pairs(Tag.IMPORT_MODULE)
        ]
        trees = self._pairs(Tag.IMPORT_TREE)
        if trees and any(tag is Tag.IMPORT_STAR for tag, _, _ in self.parts):
            trees = [(f"{text}::*", "", row) for text, _, row in trees]  # everything in it
        if trees:
            return [
                Import(
                    self.scope,
                    ImportKind.STAR if leaf.name == "*" else ImportKind.NAME,
                    leaf.path,
                    0,
                    leaf.name,
                    local,
                    row,
                )
                for text, alias, row in trees
                for leaf in read_use_tree(text)
                for local in [alias or leaf.alias]
            ], []
        sources = [text for tag, text, _ in self.parts if tag is Tag.IMPORT_FROM]
        if not sources:
            return imports, []
        module, level = _split_level(sources[0])
        reexport = self.tag is Tag.REEXPORT
        named = ImportKind.REEXPORT if reexport else ImportKind.NAME
        statement_imports = [
            Import(self.scope, named, f"{module}.{above}" if above else module, level, last, alias or last, row)
            for name, alias, row in self._pairs(Tag.IMPORT_NAME)
            for above, last in [_split_last(name)]
        ]
        for tag, text, row in self.parts:
            if tag is Tag.IMPORT_DEFAULT:
                statement_imports.append(Import(self.scope, ImportKind.DEFAULT, module, level, "default", text, row))
            elif tag is Tag.IMPORT_NAMESPACE:
                kind = ImportKind.REEXPORT_NAMESPACE if reexport else ImportKind.MODULE
                statement_imports.append(Import(self.scope, kind, module, level, "", text, row))
            elif tag is Tag.IMPORT_STAR:
                kind = ImportKind.REEXPORT_ALL if reexport else ImportKind.STAR
                alias = next((text for tag, text, _ in self.parts if tag is Tag.IMPORT_ALIAS), "")
                statement_imports.append(Import(self.scope, kind, module, level, "*", alias, row))
        if not statement_imports:
            statement_imports.append(Import(self.scope, ImportKind.SIDE_EFFECT, module, level, "", "", self.row))
        return imports + statement_imports, []

    def _pairs(self, wanted: Tag) -> list[tuple[str, str, int]]:
        pairs: list[tuple[str, str, int]] = []
        open_pair, ahead = False, ""
        for tag, text, row in self.parts:
            if tag is Tag.IMPORT_AHEAD:
                ahead = text
            elif tag is wanted:
                pairs.append((text, ahead, row))
                open_pair, ahead = True, ""
            elif tag is Tag.IMPORT_ALIAS and open_pair:
                pairs[-1] = (pairs[-1][0], text, pairs[-1][2])
                open_pair = False
        return pairs


def _split_last(name: str) -> tuple[str, str]:
    """Return the path below the module of an imported name of several parts, and its last part.

    >>> _split_last("Base.Model"), _split_last("Model"), _split_last('"a.b"')
    (('Base', 'Model'), ('', 'Model'), ('', '"a.b"'))
    """
    above, _, last = name.rpartition(".")
    return (above, last) if above[:1].isidentifier() else ("", name)


def _split_level(module: str) -> tuple[str, int]:
    """Return a dotted module without its leading dots, and their number. A path keeps its dots.

    >>> _split_level("..a.b"), _split_level("./a"), _split_level(".")
    (('a.b', 2), ('./a', 0), ('', 1))
    """
    if "/" in module:
        return module, 0
    rest = module.lstrip(".")
    return rest, len(module) - len(rest)


class ImportReader:
    """Reader of the captures of imports and exports. Its lists are complete when the pass is."""

    def __init__(self, scopes: Scopes, bindings: BindingReader) -> None:
        self.imports: list[Import] = []
        self._named: dict[str, Import] = {}  # the last name of each alias among the first `_n_named` imports
        self._n_named = 0
        self.exports: list[Export] = []
        self.group: ImportGroup | None = None  # the statement that is open
        self._scopes = scopes
        self._bindings = bindings
        self._require_name = scopes.settings.modules.require
        self._within = -1  # end of the expression whose next import holds for the rest of it alone
        self._path: tuple[int, str] | None = None  # end and text of the last file that was said ahead
        self._require = (-1, "")  # start of the last call that imports, and the name that is called
        self._exports: tuple[int, list[str]] | None = None  # end of the last `exports.name`, and the names before it
        self._passed_on: tuple[int, list[str], str] | None = None  # start of a value, its exported names, member
        self._spread: list[str] = []  # names whose members are exported
        self._exported_until = -1  # end of the object whose entries are exports
        self._export_key = ""

    def on_group(self, start: int, end: int, tag: int) -> None:
        """Open a statement, unless it is inside of another one."""
        if self.group is None:
            self.group = ImportGroup(Tag(tag), end, self._scopes.use_scope(), self._scopes.row(start), start=start)
            self.group.within, self._within = self._within, -1

    def on_part(self, start: int, end: int, tag: int) -> None:
        """Add a part to the open statement."""
        if self.group is not None:
            text = self._scopes.text(start, end) if tag == Tag.IMPORT_TREE else self._scopes.compact(start, end)
            text = text.strip("\"'") if text[:1] in ("'", '"') else text  # a name may end with one
            if tag == Tag.IMPORT_FROM and self._scopes.settings.modules.shared:
                text = _SCRIPT_FOLDER.sub("", text.replace("\\", "/"))
            if self._scopes.settings.modules.collections and text in ("..", "."):
                text += "/"  # a folder, and no number of packages above
            self.group.parts.append((Tag(tag), text, self._scopes.row(start)))
            if tag == Tag.IMPORT_MODULE and self._path and b";" not in self._scopes.data[self._path[0] : start]:
                self.group.parts[-1:] = [
                    (Tag.IMPORT_FROM, self._path[1], self.group.row),
                    (Tag.IMPORT_NAMESPACE, text, self.group.row),
                ]
                self._path = None

    def on_within(self, start: int, end: int, tag: int) -> None:
        """Record the end of an expression in which the next import holds."""
        self._within = end

    def on_path(self, start: int, end: int, tag: int) -> None:
        """Record the file of a module that a later statement names."""
        self._path = (end, self._scopes.text(start, end))

    def close_group(self) -> None:
        """Add the imports and exports of the open statement."""
        assert self.group is not None
        imports, exports = self.group.finish()
        if self._scopes.settings.modules.inclusion:
            imports = [self._with_whole_name(each) if each.kind == ImportKind.STAR else each for each in imports]
        if self._scopes.settings.modules.quoted and self.group.scope >= 0:
            imports = [self._with_passing(each) for each in imports]
        if self._scopes.settings.modules.flat:  # `qw(:all)` brings a set of names
            imports = [
                each._replace(kind=ImportKind.STAR, name="*", alias="") if each.name[:1] in (":", "-") else each
                for each in imports
            ]
        if self.group.within >= 0:
            imports = self._open_within(self.group, imports)
        self.imports += imports
        self.exports += exports
        self.group = None

    def _open_within(self, group: ImportGroup, imports: list[Import]) -> list[Import]:
        """Open the modules all of whose names are visible in a part of an expression. Return the other imports."""
        opened = self._scopes.opened
        if opened is None:
            return imports
        for each in imports:
            number = opened.open(group.end, group.within) if each.kind == ImportKind.STAR else -1
            if number >= 0:
                module = self._scopes.own_chain(each.module, group.start)
                key = f"{LAMBDA_VALUE}{number}"
                self._bindings.bindings.append(Binding(group.scope, key, "", module, group.row))
        return [each for each in imports if each.kind != ImportKind.STAR]

    def _with_whole_name(self, star: Import) -> Import:
        """Return an import of everything whose module may be named by an alias above, with the module's own name."""
        head, dot, rest = star.module.partition(".")
        for entry in self.imports[self._n_named :]:
            if entry.name and entry.kind == ImportKind.NAME:
                self._named[entry.alias] = entry
        self._n_named = len(self.imports)
        named = self._named.get(head)
        return star._replace(module=".".join(filter(None, (named.module, named.name))) + dot + rest) if named else star

    def _with_passing(self, star: Import) -> Import:
        """Return an import of everything in a function as one that is passed on; that of a module stays."""
        is_function = star.kind == ImportKind.STAR and self._scopes.drafts[star.scope].kind in CALLABLE_KINDS
        return star._replace(kind=ImportKind.REEXPORT_ALL) if is_function else star

    def on_exports(self, start: int, end: int, tag: int) -> None:
        """Record the left side of an assignment to `exports`."""
        left = self._scopes.compact(start, min(end, start + _MAX_NAME_BYTES))
        for prefix in self._scopes.settings.names.assigned_prefixes:
            if prefix.endswith("exports.") and (left.startswith(prefix) or left == prefix[:-1]):
                before = self._exports[1] if self._exports and self._follows_exports(start) else []
                self._exports = (end, [*before, left[len(prefix) :] or "default"])
                return

    def on_exports_object(self, start: int, end: int, tag: int) -> None:
        """Record the object that is exported as a whole."""
        if self._follows_exports(start) and self._exports is not None and "default" in self._exports[1]:
            self._exported_until = end

    def on_exports_key(self, start: int, end: int, tag: int) -> None:
        """Record the key of the next exported entry."""
        self._export_key = self._scopes.text(start, end).strip("\"'")

    def on_exports_item(self, start: int, end: int, tag: int) -> None:
        """Export an entry of the exported object."""
        name, self._export_key = self._export_key, ""
        if start >= self._exported_until:
            return
        chain = chain_of(self._scopes.text(start, min(end, start + MAX_VALUE_BYTES)))
        if self._scopes.data[start - 3 : start] == b"...":
            name = "default"
            if "()" not in chain:
                self._spread.append(chain)
                return
        self._export(start, chain, [name or chain])

    def on_exports_value(self, start: int, end: int, tag: int) -> None:
        """Export the value that is assigned to `exports`."""
        if self._exports is not None and self._follows_exports(start):
            chain = chain_of(self._scopes.text(start, min(end, start + MAX_VALUE_BYTES)))
            names, self._exports = self._exports[1], None
            self._export(start, chain, names)

    def _export(self, start: int, chain: str, names: list[str]) -> None:
        """Export the definition of `chain`. Export the result of a call whole, or if the call imports."""
        head, called, member = chain.partition("()")
        if called and head == self._require_name:
            self._passed_on = (start, names, member.removeprefix("."))
        elif chain and (not called or "default" in names):
            self.exports += [Export(chain, name, self._scopes.row(start)) for name in dict.fromkeys(names)]

    def finish(self) -> None:
        """Re-export the members of modules that are spread into the exports.

        Drop the result of a called function if the file defines the export itself: `export default memo(Button)`.
        """
        exported = {e.exported for e in self.exports if "()" not in e.local} | {d.qualname for d in self._scopes.drafts}
        self.exports = [e for e in self.exports if "()" not in e.local or e.exported not in exported]
        modules = {i.alias: i for i in self.imports if i.kind == ImportKind.MODULE and i.alias}
        for name in dict.fromkeys(self._spread):
            if name in modules:
                self.imports.append(modules[name]._replace(kind=ImportKind.REEXPORT_ALL, name="*", alias=""))

    def add_types(self, types: Sequence[Import]) -> None:
        """Add types that comments name by module, except those whose name the code defines or imports."""
        taken = {entry.alias for entry in self.imports} | {draft.name for draft in self._scopes.drafts}
        for entry in types:
            if entry.alias not in taken:
                taken.add(entry.alias)
                self.imports.append(entry)

    def _follows_exports(self, start: int) -> bool:
        if self._exports is None or start < self._exports[0]:
            return False
        between = self._scopes.data[self._exports[0] : min(start, self._exports[0] + _MAX_NAME_BYTES)]
        return start - self._exports[0] <= _MAX_GAP_BYTES or bool(_DEFINED.fullmatch(between))

    def on_export_default(self, start: int, end: int, tag: int) -> None:
        """Export a value as the default."""
        chain = chain_of(self._scopes.text(start, min(end, start + MAX_VALUE_BYTES)))
        if chain:
            self._export(start, chain, ["default"])

    def on_require(self, start: int, end: int, tag: int) -> None:
        """Record a call if its callee imports modules."""
        called = self._scopes.text(start, min(end, start + 40))
        self._require = (start, called) if called in (self._require_name, _DYNAMIC_IMPORT) else (-1, "")

    def on_require_module(self, start: int, end: int) -> tuple[str, int] | None:
        """Read the module that a call imports.

        Return (callee, start of the call) if nothing binds the module, else None.
        """
        at, called = self._require
        if at < 0:
            return None
        module, scope, row = self._scopes.text(start, end), self._scopes.use_scope(), self._scopes.row(start)
        if self._passed_on is not None and self._passed_on[0] == at:
            _, names, member = self._passed_on
            self._passed_on = None
            for name in names:
                self._pass_on(module, scope, row, name, member)
            return None
        taken = self._bindings.take_value(at, called)
        handed = _HANDED_ON.match(self._scopes.data, end) if taken is None and called == _DYNAMIC_IMPORT else None
        if handed is not None:  # `import("m").then((m) => m.f())`
            written = handed["names"].decode("utf-8", "replace")
            bound = paths_of_pattern(written) if written.startswith("{") else [(written, ())]
            for alias, path in bound:
                kind = ImportKind.NAME if path else ImportKind.MODULE
                self.imports.append(Import(scope, kind, module, 0, ".".join(path), alias, row))
            return None
        if taken is None:
            self.imports.append(Import(scope, ImportKind.SIDE_EFFECT, module, 0, "", "", row))
            return called, at
        member, targets = taken
        for alias, key in targets:
            name = ".".join(part for part in (member, key) if part)
            kind = ImportKind.NAME if name else ImportKind.MODULE
            if "." in name and self._scopes.settings.modules.beside:  # a value of the module's, however deep
                self.imports.append(Import(scope, ImportKind.SIDE_EFFECT, module, 0, "", "", row))
                chain = f"{self.name_inline(scope)}.{name}"
                self._bindings.bindings.append(Binding(scope, alias, "", chain, row))
                continue
            self.imports.append(Import(scope, kind, module, 0, name, alias, row))
        return None

    def name_inline(self, scope: int) -> str:
        """Bind the module of the last import in `scope` to a name that no source code can write. Return it."""
        last = self.imports[-1]
        if last.kind == ImportKind.SIDE_EFFECT:
            alias = f"{last.module.rpartition('/')[2].partition('.')[0]}#{len(self.imports)}"
            self.imports[-1] = last = last._replace(scope=scope, kind=ImportKind.MODULE, alias=alias)
        return last.alias

    def _pass_on(self, module: str, scope: int, row: int, name: str, member: str) -> None:
        """Export `require("m").member` as `name`; without a member, the whole module."""
        if member:
            self.imports.append(Import(scope, ImportKind.REEXPORT, module, 0, member, name, row))
        elif name == "default":
            self.imports.append(Import(scope, ImportKind.REEXPORT_ALL, module, 0, "*", "", row))
            self.imports.append(Import(scope, ImportKind.REEXPORT, module, 0, "default", "default", row))
        else:
            self.imports.append(Import(scope, ImportKind.REEXPORT_NAMESPACE, module, 0, "", name, row))


# The first parameter of a function that is given the module once it is loaded.
_HANDED_ON = lazy_regex(
    rb"""["'`]\s*,?\s*\)\s*\)?\s*\.\s*then\s*\(\s*(?:async\b\s*)?(?:\(\s*)?(?P<names>[A-Za-z_$][\w$]*|\{[^{}]{0,300}\})"""
    rb"""\s*(?:[:,)]|=>)"""
)
_NAME = lazy_regex(r"[\"']([^\"']+)[\"']")
_LIST = r"\s*(\[[^\[\]]*\]|\([^()]*\))[ \t]*(?=\)|$|#|;)"


_EXPORTED = lazy_regex(r"[@%](?:\w+::)*EXPORT(?:_OK|_TAGS)?\b[^;]{0,8000};|\bexports\s*=>\s*\[[^\]]{0,8000}\]")
_EXPORTED_NAME = lazy_regex(r"(?<![\w$@%:])&?([A-Za-z_]\w*)")


def read_exported_words(text: str) -> tuple[str, ...] | None:
    """Return the names in the lists of exports of a Perl module; None if there are none.

    >>> read_exported_words("our @EXPORT = qw(open &shut); push @EXPORT_OK, 'lock', @more;")
    ('open', 'shut', 'lock')
    """
    lists = _EXPORTED.findall(text) if "EXPORT" in text or "exports" in text else []
    names = [name for each in lists for name in _EXPORTED_NAME.findall(re.sub(r"#[^\n]*|\bqw\b", "", each))]
    return tuple(dict.fromkeys(names)) or None


def read_listed_names(text: str, variable: str) -> tuple[str, ...] | None:
    r"""Return the names that a file lists in `variable`; None if there are none, or not only literals.

    >>> read_listed_names("__all__ = ['a']\n__all__ += ['b']", "__all__")
    ('a', 'b')
    >>> read_listed_names("__all__ = x.__all__", "__all__")
    """
    at = re.compile(rf"^[ \t]*{re.escape(variable)}(?:[ \t]*(?::[^=\n]*)?(\+?=)|\.(extend|append)\()", re.MULTILINE)
    names_listed: list[str] | None = None
    for statement in at.finditer(text):
        if statement[2] == "append":
            names: Iterable[str] = _NAME.findall(text[statement.end() : statement.end() + 100].partition(")")[0])
        else:
            values = re.compile(_LIST, re.MULTILINE).match(text, statement.end())
            if values is None:
                return None
            names = _NAME.findall(re.sub(r"#[^\n]*", "", values[1]))
        names_listed = [*names] if names_listed is None or statement[1] == "=" else [*names_listed, *names]
    return None if names_listed is None else tuple(dict.fromkeys(names_listed))


_DELEGATED_TO = lazy_regex(r"\bto:\s*([A-Z][\w.]*)")
_DELEGATED = lazy_regex(r"defdelegate\s*\(?\s*(\w+[?!]?)")
_DELEGATED_AS = lazy_regex(r"\bas:\s*:(\w+[?!]?)")


def read_delegate(text: str) -> str:
    """Return the function of another module that a definition of Elixir hands its calls to, "" for none.

    >>> read_delegate("defdelegate f(x), to: A.B, as: :g"), read_delegate("defdelegate f(x), to: A")
    ('A.B.g', 'A.f')
    """
    module, named = _DELEGATED_TO.search(text), _DELEGATED_AS.search(text) or _DELEGATED.match(text)
    return f"{module[1]}.{named[1]}" if module is not None and named is not None else ""


# Files that are named by a path, in the language of Godot: `preload("res://a.gd")`, `extends "a.gd"`.
_LOADED = lazy_regex(
    rb"""(?<![\w.])(?:preload|load)\s{0,80}\(\s{0,80}(?P<quote>["'])(?P<path>[^"'\n]{1,400})(?P=quote)\s{0,80}\)"""
    rb"""|(?<![\w.])(?:preload|load)\([ \t]*(?P<constant>\w{1,200})[ \t]*\)"""
    rb"""|(?<=\bextends )(?P<mark>["'])(?P<base>[^"'\n]{1,400})(?P=mark)"""
    rb"""|(?<![\w.])(?P<node>get_node(?:_or_null)?\([ \t]*["'][^"'\n]{1,200}["'][ \t]*\))"""
    rb"""|(?<![\w.])(?P<single>Engine\.get_singleton\([ \t]*&?["']\w{1,200}["'][ \t]*\))"""
)
_PATH = lazy_regex(rb"""\bconst[ \t]+(\w+)[ \t]*(?::[ \t]*\w*[ \t]*)?=[ \t]*["'](\w+://[^"'\n]{1,400})["']""")
_NO_NAME = lazy_regex(rb"[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]")
_MAKING = lazy_regex(rb"\.\s{0,80}new(?=\s{0,80}\()")
_REMARKS = lazy_regex(rb"\s*+((?:^##[^\n]*+(?:\n|\Z))++)(?=[ \t]*+(?:\n|\Z))", re.MULTILINE)
_MAX_HEAD_CHARACTERS = 200


def with_file_names(data: bytes) -> tuple[bytes, list[tuple[str, str, int]]]:
    r"""Return a text in which each file that a path names has a name, as long as before, and (name, path, start) of it.

    The path of a node in a scene is a name that begins with a dollar sign. What makes an object of a class is no name.

    >>> with_file_names(b'preload("res://b.gd").new(1)\nget_node("A/B")')
    (b'preload__res___b_gd__    (1)\n$et_node__A_B__', [('preload__res___b_gd__', 'res://b.gd', 0)])
    >>> with_file_names(b'extends "c.gd"')
    (b'extends _c_gd_', [('_c_gd_', 'c.gd', 8)])
    >>> with_file_names(b'const A = "res://a.gd"; load(A); load(B)')
    (b'const A = "res://a.gd"; load_A_; load(B)', [('load_A_', 'res://a.gd', 24)])
    """
    found: list[tuple[str, str, int]] = []
    paths = dict(_PATH.findall(data))

    def name(each: re.Match[bytes]) -> bytes:
        if each["node"]:
            return node_name(each[0])
        if each["constant"] and each["constant"] not in paths:
            return each[0]
        spelled = _NO_NAME.sub(b"_", each[0])
        if each["single"]:
            return spelled
        path = each["path"] or each["base"] or paths[each["constant"]]
        found.append((spelled.decode("utf-8", "replace"), path.decode("utf-8", "replace"), each.start()))
        return spelled

    data = _LOADED.sub(name, data)
    return _MAKING.sub(lambda each: b" " * len(each[0]), data), found


def node_name(written: bytes) -> bytes:
    """Return the name that stands for the path of a node in a scene, which is as long.

    >>> node_name(b"$A/B"), node_name(b"%A"), node_name(b'$"../A"')
    (b'$A_B', b'$A', b'$____A_')
    """
    return b"$" + _NO_NAME.sub(b"_", written[1:])


def open_file_class(
    scopes: Scopes, imports: list[Import], captures: Mapping[str, Sequence[tree_sitter.Node]], stem: str
) -> tuple[int, int]:
    """Open the class that a file is, before its captures are read, and import the files that it names by their paths.

    Return the range of the remarks that document it.

    `captures` has the name of the class, if it has one of its own, as `_class_name`, its head as `_head`, and paths of
    nodes as `_node`. Only a class with a name of its own is known to files that do not name its path.
    """
    plain = bytearray(scopes.data)
    for node in captures.get("_node", ()):
        plain[node.start_byte : node.end_byte] = node_name(bytes(plain[node.start_byte : node.end_byte]))
    for node in captures.get("comment", ()):
        plain[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
    scopes.data, named = with_file_names(bytes(plain))
    imports += [
        Import(MODULE_SCOPE, ImportKind.MODULE, path, 0, "", name, scopes.row(start))
        for name, (path, start) in {name: (path, start) for name, path, start in reversed(named)}.items()
    ]
    size = len(scopes.data)
    if not size:
        return 0, 0
    own = [each.text.decode("utf-8", "replace") for each in captures.get("_class_name", ()) if each.text]
    heads = {each.start_byte: each.end_byte for each in captures.get("_head", ()) if _is_outermost(each)}
    draft = DefinitionDraft(NodeKind.CLASS, MODULE_SCOPE, 0, size, 0, "")
    words = " ".join(scopes.original_text(start, end) for start, end in sorted(heads.items()))
    draft.signature = " ".join(words.split())[:_MAX_HEAD_CHARACTERS] or f"class {stem}"
    draft.body = max(heads.values(), default=0)
    scopes.drafts.append(draft)
    scopes.frames.append(Frame(0, size, 0, 0, MODULE_SCOPE, "", body=draft.body))
    scopes.set_name(scopes.frames[-1], own[0] if own and own[0] else stem)
    remarks = _REMARKS.match(scopes.source, draft.body)
    return remarks.span(1) if remarks is not None else (0, 0)


def _is_outermost(node: tree_sitter.Node) -> bool:
    return node.parent is not None and node.parent.parent is None


def members_given(bindings: Sequence[Binding], drafts: Sequence[DefinitionDraft]) -> list[Binding]:
    """Return what methods give to fields of their class by their names alone, as bindings of members."""
    fields = {(draft.parent, draft.name) for draft in drafts if draft.kind is NodeKind.FIELD}
    return [
        each._replace(target=f".{each.target}")
        for each in bindings
        if each.value and each.scope >= 0 and (drafts[each.scope].parent, each.target) in fields
    ]


_NEW_TYPES = ("class", "module", "singleton_class")  # nodes of Ruby
_BRANCHES = ("if", "unless", "if_modifier", "unless_modifier", "then", "else", "elsif", "begin", "assignment")
_TELLING = ("extend", "module_function", "class_methods")
_METHODS = ("method", "singleton_method")


def read_class_bodies(root: tree_sitter.Node, definitions: Sequence[Definition]) -> tuple[list[Binding], list[Export]]:
    """Return the names that run in bodies of classes and modules of Ruby, and what their classes themselves have.

    That are the methods in `class << self`, in `class_methods do` and behind `module_function`, and the modules that
    `extend` names; a name of a method says it of `def self.open`.
    """
    bindings, exports = list[Binding](), list[Export]()
    by_end = {each.end_byte: each for each in definitions if each.kind in CALLABLE_KINDS}
    for number, each in enumerate(definitions):
        if each.kind not in TYPE_KINDS:
            continue
        node = root.named_descendant_for_byte_range(each.start_byte, each.end_byte)
        body = node.child_by_field_name("body") if node is not None and node.type in _NEW_TYPES else None
        if body is None:
            continue
        read = _ClassBody()
        read.read(body)
        if read.words:
            bindings.append(Binding(number, CLASS_BODY, "", " ".join(sorted(read.words)), each.start_row))
        for method in read.methods:
            if (own := by_end.get(method.end_byte)) is not None:
                exports.append(Export(own.qualname, f"{CLASS_LEVEL}{own.qualname}", own.start_row))
        exports += [Export(module, f"{EXTENDED}{each.qualname}", each.start_row) for module in read.extended]
    return bindings, exports


class _ClassBody:
    """Names that the body of a class runs itself, the methods that the class has, and the modules that it extends."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.methods: list[tree_sitter.Node] = []
        self.extended: list[str] = []
        self._plain: list[tree_sitter.Node] = []  # methods of instances
        self._is_function = False  # what follows is a method of the class, too

    def read(self, body: tree_sitter.Node) -> None:
        """Read the statements of a body in their order."""
        waiting = body.named_children[::-1]
        while waiting:
            kind = (node := waiting.pop()).type
            if kind == "singleton_class":
                inner = node.child_by_field_name("body")
                self.methods += [each for each in _children(inner) if each.type in _METHODS]
            elif kind in _METHODS:
                (self.methods if self._is_function else self._plain).append(node)
            elif kind == "identifier":
                name = _text(node)
                self._is_function = self._is_function or name == "module_function"
                self.words.add(name)
            elif kind == "call":
                if node.child_by_field_name("receiver") is None:
                    self._read_call(node)
            elif kind in _BRANCHES:
                waiting += node.named_children[::-1]

    def _read_call(self, node: tree_sitter.Node) -> None:
        method = node.child_by_field_name("method")
        name = _text(method) if method is not None else ""
        self.words.add(name)
        if name not in _TELLING:
            return
        given = _children(node.child_by_field_name("arguments"))
        if name == "extend" and any(each.type == "self" for each in given):
            self.methods += self._plain
            self._is_function = True
        elif name == "extend":
            self.extended += [_text(each).replace("::", ".") for each in given]
        elif name == "module_function":
            named = {_text(each).removeprefix(":") for each in given}
            for each in self._plain:
                own = each.child_by_field_name("name")
                if own is not None and _text(own) in named:
                    self.methods.append(each)
        elif name == "class_methods" and (block := node.child_by_field_name("block")) is not None:
            self.methods += [each for each in _children(block.child_by_field_name("body")) if each.type in _METHODS]


def _children(node: tree_sitter.Node | None) -> list[tree_sitter.Node]:
    return node.named_children if node is not None else []


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
