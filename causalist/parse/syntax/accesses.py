"""Accesses of members and variables: captures in, `Access` and `Lookup` facts out.

A plain name that is used is a `Reference` already. Accesses are chains that begin with a local name or `self`, and
everything that is assigned. The receiver of a call is part of the chain of the call.

Lookups are values that code requests by a literal name: environment variables and configuration keys. The text is
searched for the few words of such requests. A match counts if the syntax tree has a name there, not a comment or
string. The tree is not walked, so that files without such words cost next to nothing.

In a language of declarative regions, what accesses a name may call it as well: `RegionReader` reads both there.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import tree_sitter

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import (
    MODULE_SCOPE,
    Access,
    AccessKind,
    Call,
    Definition,
    Import,
    ImportKind,
    Lookup,
    Reference,
)
from causalist.model.language_settings import LookupSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.parse.syntax.argument_forms import RegionFacts
from causalist.parse.syntax.bindings import BindingReader
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.chains import chain_of
from causalist.parse.syntax.imports import ImportReader
from causalist.parse.syntax.open_scopes import BlockScopes, Scopes
from causalist.parse.syntax.shadowed_names import MAX_CHAIN_PARTS, MAX_VALUE_DEPTH, RegionNotation
from causalist.parse.syntax.uses import DesignReader, UseReader

_MAX_PENDING_BINDINGS = 4  # bindings whose type or value may follow
_MAX_CHAIN_BYTES = 200  # bytes of a chain that is read
_MIXED = lazy_regex(rb"[(\[<{]")  # calls and elements, of which nothing is said here
_MARKS = lazy_regex(r"[(?\[<:!]")
_BARE = lazy_regex(rb"[^\W\d]\w*")
_HEAD = lazy_regex(rb"\$?" + _BARE.pattern)
_UPDATED = lazy_regex(rb"\s*(?:\+\+|--|(?:[-+*/%&|^@]|<<|>>>?|\*\*|//|\?\?|&&|\|\|)=)")
_OWN = lazy_regex(r"['#~]\d+$")  # number of a variable that shares its name with others


class AccessReader:
    """Reader of accesses.

    `accesses` is complete after `finish`, which runs before bindings are finished.
    """

    def __init__(
        self, scopes: Scopes, named: BindingReader, modules: ImportReader, uses: UseReader, declared: BlockScopes
    ) -> None:
        self.accesses: list[Access] = []
        self._scopes = scopes
        self._named = named
        self._modules = modules
        self._uses = uses
        self._declared = declared
        self._settings = scopes.settings
        self._own_names = frozenset((*scopes.settings.names.self_names, *scopes.settings.names.super_names))
        self._kept: list[tuple[int, Access]] = []  # start byte
        self._bare: list[Access] = []  # names that get a value, to be looked at again at the end
        self._assigned: Counter[tuple[int, str]] = Counter()  # bindings that declare nothing
        self._written = (-1, -1)
        self._read_from = -1  # start of the last chain that is kept whole
        self._informative: set[str] = set()  # names with a known type or value so far
        self._n_seen = 0  # bindings that were looked at for that

    def handlers(self) -> dict[Tag, Callable[[int, int, int], None]]:
        """Return the handlers of the captures of accesses."""
        return {
            Tag.INVOKED_NAME: self.on_invoked,
            Tag.INVOKED_TYPE: self.on_invoked,
            Tag.CALL_ARGUMENTS: self.on_invoked,
            Tag.WRITTEN: self.on_written,
            Tag.MEMBER: self.on_member,
        }

    def on_written(self, start: int, end: int, tag: int) -> None:
        """Record a write to a name or to one of its elements."""
        self._written = (start, end)
        scopes, frames = self._scopes, self._scopes.frames
        if end - start > _MAX_CHAIN_BYTES or not _BARE.fullmatch(scopes.data, start, end):
            return
        if frames and frames[-1].name_start == start:
            return  # the name of a definition
        if self._uses.operands is not None and scopes.data[end : end + 1] == b" ":
            self._uses.operands.read(start, end)
        names, is_bound = self._settings.names, self._named.taken == start
        if is_bound and not (names.assigned_outside or self._named.has_globals):
            return  # a name of the function or file itself
        name = scopes.text(start, end)
        if self._settings.types.prefixed:
            is_local = self._declared.is_local(name, start)
        elif names.block_scopes:
            is_local = scopes.is_local(name)
        else:
            is_local = scopes.own_chain(name, start) != name
        if not is_local:
            access = Access(scopes.use_scope(), name, scopes.row(start), self._kind(end))
            if is_bound or names.assigned_outside:
                self._bare.append(access)
                self._assigned[scopes.binding_scope(), name] += is_bound
            else:
                self._kept.append((start, access))

    def on_member(self, start: int, end: int, tag: int) -> None:
        """Record a chain that begins with a local name or `self`."""
        uses, scopes = self._uses, self._scopes
        if start < uses.skipped_to or (start, end) == uses.called or start == self._read_from:
            return
        if self._modules.group is not None or end - start > _MAX_CHAIN_BYTES:
            return
        if _MIXED.search(scopes.data, start, end) or (self._written != (start, end) and not self._may_tell(start)):
            return
        if self._settings.types.prefixed:
            chain = self._declared.chain_of(start, end)
        else:
            chain = scopes.own_chain(chain_of(scopes.text(start, end)), start)
        if "." not in chain or _MARKS.search(chain):
            return
        self._read_from = start
        if uses.operands is not None:
            uses.operands.read(start, end)
        kind = self._kind(end) if self._written == (start, end) else AccessKind.READ
        if kind == AccessKind.READ and self._settings.names.block_scopes:
            head = chain.partition(".")[0]
            if head not in self._own_names and not scopes.is_local(_OWN.sub("", head)):
                return  # a reference
        self._kept.append((start, Access(scopes.use_scope(), chain, scopes.row(start), kind)))

    def _may_tell(self, start: int) -> bool:
        """Return True if the first name of a chain can matter. Most cannot and are skipped early."""
        matched = _HEAD.match(self._scopes.data, start)
        if matched is None:
            return False
        head = matched[0].decode()
        if head in self._own_names or head in self._informative or self._settings.types.prefixed:
            return True
        bindings = self._named.bindings
        # Types and values of the last names may have arrived since.
        for binding in bindings[max(0, self._n_seen - _MAX_PENDING_BINDINGS) :]:
            if binding.type or binding.value:
                self._informative.add(_OWN.sub("", binding.target))
        self._n_seen = len(bindings)
        return head in self._informative

    def on_invoked(self, start: int, end: int, tag: int) -> None:
        """Read a call in grammars in which a callee begins before its name, and drop the member read before."""
        uses = self._uses
        uses.plain_callee = -1
        read = uses.on_arguments if tag == Tag.CALL_ARGUMENTS else uses.on_invoked_name
        read(start, end, tag)
        while uses.plain_callee >= 0 and self._kept and self._kept[-1][0] >= uses.plain_callee:
            self._kept.pop()

    def finish(self) -> None:
        """Keep all accesses except references: reads of chains whose first name is defined or imported here."""
        typed_names = {_OWN.sub("", b.target) for b in self._named.bindings if b.type or b.value}
        declared = {entry.alias or entry.module.partition(".")[0] for entry in self._modules.imports}
        declared.update(draft.name for draft in self._scopes.drafts)
        bound = Counter((b.scope, b.target) for b in self._named.bindings) if self._bare else Counter()
        result = [a for a in self._bare if self._means_outer(a, bound)]
        for _, access in self._kept:
            written = access.name.partition(".")[0]
            head = _OWN.sub("", written)
            is_reference = written == head and head in declared
            if access.how != AccessKind.READ or head in self._own_names or (head in typed_names and not is_reference):
                result.append(access)
        self.accesses = sorted(result, key=lambda a: (a.row, a.scope, a.name, a.how))

    def _means_outer(self, access: Access, bound: "Counter[tuple[int, str]]") -> bool:
        """Return True if a name that a function assigns belongs to an outer scope."""
        if self._named.is_global(access.scope, access.name):
            return True
        if not self._settings.names.assigned_outside:
            return False
        scope = access.scope
        while scope != MODULE_SCOPE:
            if bound[scope, access.name] > self._assigned[scope, access.name]:
                return False
            scope = self._scopes.drafts[scope].parent
        return True

    def _kind(self, end: int) -> AccessKind:
        return AccessKind.UPDATE if _UPDATED.match(self._scopes.data, end) else AccessKind.WRITE


_BEFORE = lazy_regex(rb"(?:\w+\s*(?:\.|::)\s*)*$")  # the chain before the word
_MAX_PREFIX_BYTES = 100
_NO_NAMES = ("comment", "string", "text", "content", "fragment")  # in the types of nodes that are no code


def read_lookups(
    settings: Sequence[LookupSettings], tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition]
) -> tuple[Lookup, ...]:
    """Return all lookups of a file, by position."""
    lookups = []
    newlines: list[int] = []
    for number, setting in enumerate(settings):
        if setting.word.encode() in data:
            newlines = newlines or [each.start() for each in re.finditer(b"\n", data)]
            for start, key, writes in _find_lookups(setting, data):
                node = tree.root_node.descendant_for_byte_range(start, start + 1)
                if node is not None and not any(word in node.type for word in _NO_NAMES):
                    scope, row = _scope_at(definitions, start), bisect_left(newlines, start)
                    lookups.append((start, Lookup(scope, number, _first_name(data, start), key, row, writes)))
    return tuple(lookup for _, lookup in sorted(lookups))


def _find_lookups(each: LookupSettings, data: bytes) -> Iterator[tuple[int, str, int]]:
    """Yield (start of the word, key, 1 if it is set) for each match."""
    written = set()
    for writes, pattern in ((1, each.written), (0, each.read)):
        if pattern:
            for matched in _compile_lookup(each.word, pattern).finditer(data):
                if matched.start() not in written:
                    written.add(matched.start())
                    yield matched.start(), matched["key"].decode("utf-8", "replace"), writes


@cache
def _compile_lookup(word: str, pattern: str) -> "re.Pattern[bytes]":
    return re.compile((re.escape(word) + pattern).encode())


def _first_name(data: bytes, start: int) -> str:
    """Return the first name of the chain in which the word occurs."""
    first = max(0, start - _MAX_PREFIX_BYTES)
    matched = _BEFORE.search(data[first:start])
    before = matched[0] if matched else b""
    if not before:
        return ""
    head = re.match(rb"\w+", before)
    return head[0].decode("utf-8", "replace") if head else ""


def _scope_at(definitions: Sequence[Definition], byte: int) -> int:
    """Return the innermost definition around a byte, constants and fields aside."""
    scope = MODULE_SCOPE
    for number, each in enumerate(definitions):
        if each.start_byte <= byte < each.end_byte and each.kind not in (NodeKind.CONSTANT, NodeKind.FIELD):
            scope = number
    return scope


_HANDED = frozenset({"access", "unchecked_access", "unrestricted_access", "address", "code_address"})
_NO_CALL = frozenset({"class", "result", "base", "storage_size", "storage_pool", "tag"})
_CHECKED = lazy_regex(rb"pragma\s+(?:assert|assume|loop_|debug|check|pre|post|type_invariant|invariant)")
_CALLABLE_NODES = ("identifier", "selected_component", "function_call", "slice")
_KINDS_OF_TYPE = {
    "enumeration_type_definition": "enum",
    "signed_integer_type_definition": "#i",
    "modular_type_definition": "#i",
    "floating_point_definition": "#r",
    "ordinary_fixed_point_definition": "#r",
    "decimal_fixed_point_definition": "#r",
    "access_to_subprogram_definition": "^",
}
_NODES_OF_REGIONS = (
    "_used", "_declared", "_body", "_block", "_pragma", "_formal", "_instance", "_type", "_heading", "_object", "_loop",
    "_accept", "_assigned", "_result", "_expressed", "_condition", "_joined", "_call", "_term", "_use",
)  # fmt: skip


class RegionReader(RegionFacts):
    """Reader of names in a language of declarative regions: calls with what they are given, and types.

    Types and values are written as `RegionNotation` says; `=t` is another name of t, `new t` derives from it, and `<>`
    is a type that is not known.
    """

    kinds = _NODES_OF_REGIONS

    def __init__(self, data: bytes, definitions: list[Definition]) -> None:
        super().__init__(data, definitions, RegionNotation(data))
        self._plain: list[tuple[int, int]] = []  # where names call nothing
        self._formal: set[int] = set()

    # -- declarations

    def _on_pragma(self, node: tree_sitter.Node) -> None:
        if not _CHECKED.match(self._notation.data, node.start_byte):
            self._plain.append((node.start_byte, node.end_byte))

    def _on_used(self, node: tree_sitter.Node) -> None:
        """Record packages whose names hold without them; operators of types are left out."""
        if any(each.type == "type" for each in node.children):
            return
        row = self._row(node.start_byte)
        for each in node.children:
            if each.type in ("identifier", "selected_component"):
                module = self._notation.path(each)
                self.imports.append(Import(self._scope(node.start_byte), ImportKind.STAR, module, 0, "*", "", row))

    def _on_declared(self, node: tree_sitter.Node) -> None:
        """Mark what is only declared here."""
        number = self._scope(node.start_byte)
        if number >= 0 and self._definitions[number].start_byte == node.start_byte:
            self.returns[number] = ";"

    def _on_body(self, node: tree_sitter.Node) -> None:
        """Mark the body of a package, which others do not see."""
        number = self._scope(node.start_byte)
        if number >= 0 and self._definitions[number].start_byte == node.start_byte:
            self.returns[number] = "!"

    def _on_formal(self, node: tree_sitter.Node) -> None:
        """Bind a subprogram that a generic unit takes: what a call of it runs is not known."""
        heading = next((each for part in node.children for each in (part, *part.children)
                        if each.type.endswith("_specification") and each.type[0] in "fp"), None)  # fmt: skip
        name = heading.child_by_field_name("name") if heading is not None else None
        if heading is not None and name is not None:
            self._formal.add(heading.start_byte)
            self._plain.append((node.start_byte, node.end_byte))
            profile = next((each for each in heading.children if each.type == "result_profile"), None)
            returned = self._notation.type_of(profile) if profile is not None else ""
            self._bind(self._scope(node.start_byte), name, f"({returned}", "")

    def _on_instance(self, node: tree_sitter.Node) -> None:
        self._plain.append((node.start_byte, node.end_byte))
        number = self._scope(node.start_byte)
        if number < 0 or self._definitions[number].start_byte != node.start_byte:
            return
        if node.type == "generic_instantiation":
            generic = node.child_by_field_name("generic_name")
            text = f"+{self._notation.path(generic)}"
            if generic is not None and generic.type == "function_call":
                text += f"({';'.join(value for _, value, _ in self._notation.arguments(generic, 0))})"
        elif node.type == "formal_package_declaration":
            text = f"+{self._notation.path(node.child_by_field_name('generic_package_name'))}"
        elif node.type == "package_renaming_declaration":
            text = f"={self._notation.path(node.child_by_field_name('package_name'))}"
        else:
            text = f"={self._notation.path(node.child_by_field_name('callable_entity_name'))}"
        self.returns[number] = self.returns.get(number, "") + text
        scope = self._definitions[number].parent
        self.references.append(Reference(scope, f"::{text[1:].partition('(')[0]}", self._row(node.start_byte)))

    def _on_type(self, node: tree_sitter.Node) -> None:
        number = self._scope(node.start_byte)
        if number < 0 or self._definitions[number].start_byte != node.start_byte:
            return
        kind, text = node.type, "record"
        if kind.startswith("formal"):
            text = "<>"
        elif kind == "subtype_declaration":
            text = f"={self._notation.mark_of(node)}"
        elif kind == "private_extension_declaration":
            text = f"new {self._notation.mark_of(node)}"
        for child in node.children if kind == "full_type_declaration" else ():
            if child.type == "derived_type_definition":
                text = f"new {self._notation.mark_of(child)}"
            elif child.type == "array_type_definition":
                text = self._notation.array_of(child)
            elif child.type == "access_to_object_definition":
                text = f"^{self._notation.mark_of(child)}"
            text = _KINDS_OF_TYPE.get(child.type, text)
        self.returns[number] = text

    def _on_heading(self, node: tree_sitter.Node) -> None:
        if node.start_byte in self._formal:
            return
        number = self._scope(node.start_byte)
        if number < 0 or self._definitions[number].kind not in CALLABLE_KINDS:
            return
        name = node.child_by_field_name("name") or node.child_by_field_name("entry_name")
        if name is None:
            name = next((each for each in node.children if each.type == "identifier"), None)
        if name is None or self._notation.text(name).rpartition(".")[2].strip('"') != self._definitions[number].name:
            return
        taken: list[str] = []
        for name_, type_, is_optional in self._parameters(node):
            taken.append(f"{self._notation.text(name_)}:{type_}{'=' if is_optional else ''}")
            self._bind(number, name_, type_, "")
        self.parameters[number] = tuple(taken)
        profile = next((each for each in node.children if each.type == "result_profile"), None)
        if profile is not None:
            self.returns[number] = self._notation.type_of(profile) + self.returns.get(number, "")

    def _parameters(self, node: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, str, bool]]:
        part = next((each for each in node.children if each.type == "formal_part"), None)
        for each in part.children if part is not None else ():
            if each.type == "parameter_specification":
                names = [child for child in each.children if child.type == "identifier"]
                marks = {mark.id for mark in each.children_by_field_name("subtype_mark")}
                type_ = self._notation.type_of(each)
                is_optional = any(child.type == "expression" for child in each.children)
                for name in names:
                    if name.id not in marks:
                        yield name, type_, is_optional

    def _on_accept(self, node: tree_sitter.Node) -> None:
        scope = self._scope(node.start_byte)
        for name, type_, _ in self._parameters(node):
            self._bind(scope, name, type_, "")

    def _on_object(self, node: tree_sitter.Node) -> None:
        kind = node.type
        type_ = {"number_declaration": "#i", "exception_declaration": "!", "choice_parameter_specification": "!"}.get(
            kind
        )
        type_ = self._notation.type_of(node) if type_ is None else type_
        fields = node.children_by_field_name("name")
        marks = {each.id for each in node.children_by_field_name("subtype_mark")}
        renamed = node.child_by_field_name("object_name")
        names = fields or [
            each for each in node.children if each.type == "identifier" and each.id not in marks and each != renamed
        ]
        for name in names:
            number = self._values.get(name.start_byte)
            if number is not None:
                self.returns[number] = type_
            elif kind not in ("component_declaration", "discriminant_specification"):
                self._bind(self._scope(node.start_byte), name, type_, "")
        if renamed is not None:
            self._emit(renamed)
        value = next((each for each in node.children if each.type == "expression"), None)
        if value is not None and type_ and type_[0] not in "#!":
            self._want(value, f":{type_}")

    def _on_loop(self, node: tree_sitter.Node) -> None:
        name = next((each for each in node.children if each.type == "identifier"), None)
        over = node.child_by_field_name("iterator_name")
        marked = node.child_by_field_name("subtype_mark")
        if name is None:
            return
        value, type_ = "", ""
        if over is not None:
            value = f"@{self._notation.chain(over, 1)}"
        elif marked is not None:
            type_ = self._notation.path(marked)
        else:
            bounds = next((each for each in node.children if each.type == "range_g"), None)
            terms = [each for each in bounds.children if each.type == "term"] if bounds is not None else []
            value = next(
                (v for v in (self._notation.value(each, 1) for each in terms) if v != "?" and v != "#i"),
                "#i" if terms else "",
            )
        scope = self._scope(node.start_byte)
        self._bind(scope, name, type_, value)
        if over is not None or (marked is not None and marked.type != "identifier"):
            self._emit(over or marked)

    # -- uses

    def _want(self, expression: tree_sitter.Node, wanted: str) -> None:
        """Note what an expression is wanted for if it is one name, in brackets or not."""
        for _ in range(MAX_VALUE_DEPTH):
            self._wanted[expression.start_byte, expression.end_byte] = wanted
            inside = [each for each in expression.children if each.is_named]
            if len(inside) != 1 or inside[0].type not in ("expression", "term"):
                break
            (expression,) = inside

    def _on_assigned(self, node: tree_sitter.Node) -> None:
        target = node.child_by_field_name("variable_name")
        value = next((each for each in node.children if each.type == "expression"), None)
        if target is not None:
            self._emit(target, is_written=True)
            if value is not None:
                self._want(value, f"={self._notation.chain(target, 1)}")

    def _on_result(self, node: tree_sitter.Node) -> None:
        value = next((each for each in node.children if each.type == "expression"), None)
        if value is not None:
            self._want(value, "return")

    def _on_expressed(self, node: tree_sitter.Node) -> None:
        self._on_result(node)

    def _on_condition(self, node: tree_sitter.Node) -> None:
        self._want(node, ":#b")

    def _on_joined(self, node: tree_sitter.Node) -> None:
        for each in node.children:
            if each.type == "term":
                self._want(each, ":#b")

    def _on_call(self, node: tree_sitter.Node) -> None:
        names = node.children_by_field_name("name")
        if names:
            self._emit(*self._record_call(node, names, "-"))

    def _on_use(self, node: tree_sitter.Node) -> None:
        self._emit(node)

    def _on_term(self, node: tree_sitter.Node) -> None:
        children = [each for each in node.children if each.type != "comment"]
        names = [at for at, each in enumerate(children) if each.type in _CALLABLE_NODES]
        wanted = self._wanted.get((node.start_byte, node.end_byte), "") if len(names) == 1 else ""
        for at in names:
            name, behind = children[at], children[at + 2 : at + 3]
            attribute = self._notation.text(behind[0]) if behind and behind[0].type == "attribute_designator" else ""
            if attribute in _HANDED:
                scope, row = self._scope(name.start_byte), self._row(name.end_byte - 1)
                self.references.append(Reference(scope, f"::{self._notation.path(name)}", row))
            elif attribute not in _NO_CALL:
                self._emit(name, "" if attribute else wanted)

    def _record_call(
        self, node: tree_sitter.Node, names: Sequence[tree_sitter.Node], wanted: str
    ) -> tuple[tree_sitter.Node | None, str]:
        """Record the call of a name with what it is given; return what in the name may be calls, and is wanted for."""
        callee = names[0]
        if len(names) > 1:  # of an attribute
            attribute = next((self._notation.text(each) for each in names if each.type == "attribute_designator"), "")
            return (None if attribute in _NO_CALL or attribute in _HANDED else callee), ""
        given = list(self._notation.arguments(node, MAX_VALUE_DEPTH))
        if callee.type in ("identifier", "selected_component"):
            self._keep(callee, "?" * len(given), [value for _, value, _ in given], wanted)
            chain = self._notation.chain(callee, 0)
            for place, (name, _, expression) in enumerate(given):
                if expression is not None and chain[:1] != "?":
                    self._want(expression, f"|{chain}|{name or place}|{len(given)}")
            prefix = callee.child_by_field_name("prefix") if callee.type == "selected_component" else None
            return prefix, self._before(callee.child_by_field_name("selector_name"))
        return callee, ""

    def _before(self, selector: tree_sitter.Node | None) -> str:
        """Return what a name before a member is wanted for: to have that member."""
        return f".{self._notation.text(selector)}" if selector is not None else "."

    def _keep(self, callee: tree_sitter.Node, letters: str, values: Sequence[str], wanted: str) -> None:
        chain = self._notation.chain(callee, 0)
        last = callee.child_by_field_name("selector_name") or callee
        if chain[:1] in ("", "?") or last.type != "identifier" or chain.endswith(("?", ".all")):
            return
        if "(" in chain and (prefix := callee.child_by_field_name("prefix")) is not None:
            wanted = f"{wanted}@{self._notation.chain(prefix, 2)}".replace(",", "")
        written = [each.replace(",", "") for each in values] + ([f">{wanted}"] if wanted else [])
        scope = self._scope(callee.start_byte)
        self.calls.append(Call(scope, chain, self._row(last.start_byte), letters, ",".join(written)))

    def _emit(self, node: tree_sitter.Node | None, wanted: str = "", is_written: bool = False) -> None:
        """Record what may be calls in a name: each part of it that may be a function."""
        steps = 0
        while node is not None and steps <= MAX_CHAIN_PARTS:
            steps += 1
            if node.type == "function_call":
                names = node.children_by_field_name("name")
                # Without calling itself: calls of calls may be as many as a file has room for.
                node, wanted = self._record_call(node, names, wanted) if names else (None, "")
                steps, is_written = 0, False
                continue
            if node.type not in ("identifier", "selected_component"):
                node = node.child_by_field_name("prefix") if node.type == "slice" else None
                wanted = ""
                continue
            selector = node.child_by_field_name("selector_name")
            is_all = selector is not None and self._notation.text(selector) == "all"
            if not is_all and not (is_written and steps == 1):
                at = node.start_byte
                while self._plain and self._plain[-1][1] <= at:
                    self._plain.pop()
                if not self._plain:
                    self._keep(node, "", (), wanted)
                elif node.type == "identifier" or steps == 1:
                    self.references.append(
                        Reference(self._scope(at), f"::{self._notation.path(node)}", self._row(node.end_byte - 1))
                    )
            node, wanted = node.child_by_field_name("prefix"), wanted if is_all else self._before(selector)


def read_regions(
    data: bytes, captures: Mapping[str, Sequence[tree_sitter.Node]], definitions: list[Definition]
) -> RegionFacts:
    """Return what the small text `data` and the captures of a file say of names."""
    reader = (DesignReader if "_design" in captures else RegionReader)(data, definitions)
    reader.read(captures)
    reader.finish()
    return reader
