"""Mentions: edges to code from sections of prose, and from tests by their docstrings.

In: the mentions of a file's facts, and the definitions of all files. Out: definitions and files. The last part of a
dotted name is the definition; the parts before it are its type, module or folders, tried in this order. A name of one
part is a definition at the top of a file, or else a member. Mentions lead only to code, not to tests or examples.
Change logs mention nothing, since the code that they name has often changed.

The edges of a section depend only on the definitions with the names in its facts. `refresh` relinks it by these names.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.imports.modules import shared_folders
from causalist.graph.node_and_edge_arrays import NodeDrafts
from causalist.graph.program import Program
from causalist.graph.rules import MAX_NAMESAKES, RuleName
from causalist.model.facts import MODULE_SCOPE, Mention, MentionForm
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role
from causalist.model.role_by_path import role_of
from causalist.model.source import is_history

_NAME = re.compile(r"@?((?:[A-Za-z_$][\w$]*)(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*)(\(.*\)|!)?$", re.DOTALL)
_PATH = re.compile(r"[\w@./-]+\.[a-z]\w{0,4}(?::\d+)?$")  # `src/app.py`; also `response.json`, if that is a file
_SEPARATOR = re.compile(r"\.|::|#|->")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Za-z0-9]*[a-z]")
_TELLING = re.compile(r"(?<=[a-zA-Z0-9])_(?=[a-zA-Z0-9])")
_FOR_DEVELOPERS = re.compile(
    r"(?:^|/)(?:[^/]*contribut|[^/]*develop(?:ment|ing)|hacking|maintain|[^/]*releas|internals|agents\.md$|claude\.md$)",
    re.IGNORECASE,
)
_ENTRY = "main"
_OF_ANOTHER = re.compile(r"=\s*(?:await\s+)?(?:require|import)\s*\(")
_RECEIVERS = frozenset({"self", "this", "cls"})


class MentionTarget(NamedTuple):
    """File or definition that a mention means, by its draft; `rule` is one of RULES."""

    draft: int
    rule: str
    candidates: int


@dataclass(slots=True)
class MentionResolver:
    """Resolver of the mentions of a program's files. Its tables are made when the first file asks."""

    program: Program
    drafts: NodeDrafts
    _by_name: dict[str, list[int]] | None = None  # last name -> definitions that documentation may mean
    _paths: dict[str, list[int]] | None = None  # name of a file -> files that are no prose
    # By (folder of who speaks, whether to developers, form, name): nothing else of who speaks matters.
    _known: dict[tuple[str, bool, int, str], list[MentionTarget]] = field(default_factory=dict)

    def find_edges(self, number: int) -> Iterator[tuple[int, MentionTarget, int]]:
        """Yield (source draft, target, row) of all that a file mentions."""
        symbols = self.program.files[number]
        mentions = symbols.facts.mentions
        if not mentions or not self._is_counted(number):
            return
        documents = self.drafts.documents(number)
        folder, is_inside = posixpath.dirname(symbols.path), _FOR_DEVELOPERS.search(symbols.path) is not None
        for mention in mentions:
            source = number if mention.document == MODULE_SCOPE else documents[mention.document]
            key = folder, is_inside, mention.form, mention.name
            cached = self._known.get(key)
            if cached is None:
                cached = self._known[key] = self._find_targets(mention, symbols.path)
            for target in cached:
                yield source, target, mention.row

    def _is_counted(self, number: int) -> bool:
        """Return True if the mentions of a file count: prose other than history, and docstrings of tests."""
        symbols = self.program.files[number]
        if symbols.settings is None:
            return not is_history(symbols.path)
        return role_of(symbols.path) == Role.TEST

    def _find_targets(self, mention: Mention, path: str) -> list[MentionTarget]:
        form, written = mention.form, mention.name
        if form == MentionForm.LINK or (form == MentionForm.SPAN and _PATH.match(written)):
            file = self._find_file(written, path, form == MentionForm.LINK)
            if file >= 0 or form == MentionForm.LINK:
                return [MentionTarget(file, self._rule_of_path(written, form), 1)] if file >= 0 else []
        match = _NAME.match(written)
        if match is None:
            return []
        parts = _SEPARATOR.split(match[1])
        if parts[0] in _RECEIVERS:
            parts = parts[1:]
        if not parts:
            return []
        rule, definitions = (
            self._find_qualified_name(parts)
            if len(parts) > 1
            else self._find_single_name(parts[0], form, bool(match[2]))
        )
        if rule == RuleName.DOC_WORD and form == MentionForm.SPAN:
            definitions = [] if written.startswith("@") else [each for each in definitions if self._is_spoken_of(each)]
        if rule != RuleName.DOC_LIKE_NAMED:
            rule = {MentionForm.ROLE: RuleName.DOC_ROLE, MentionForm.EXAMPLE: RuleName.DOC_EXAMPLE}.get(
                MentionForm(form), rule
            )
        definitions = self._nearest(definitions, path)
        if len(definitions) > MAX_NAMESAKES:
            return []
        return [
            MentionTarget(self.drafts.of_definition(definition), rule, len(definitions)) for definition in definitions
        ]

    def _find_single_name(self, name: str, form: int, is_called: bool) -> tuple[str, list[int]]:
        """Return the targets of a name of one part: the top of files comes before members of types."""
        is_type_like = _INNER_CAPITAL.search(name) is not None
        is_telling = is_type_like or _TELLING.search(name) is not None
        definitions = self._definitions_named(name)
        top = [each for each in definitions if not self._owners(each)]
        if form == MentionForm.EXAMPLE and not is_type_like:
            return RuleName.DOC_EXAMPLE, []  # a variable of the example, as likely as not
        if is_telling or form == MentionForm.ROLE:
            return RuleName.DOC_NAME, top or definitions
        if is_called:  # a plain word, `close()`: one method has that name, or it may be any
            return RuleName.DOC_NAME, top or (definitions if len(definitions) == 1 else [])
        return RuleName.DOC_WORD, top

    def _is_spoken_of(self, definition: int) -> bool:
        """Return True if a plain word in prose may mention a definition.

        Excluded are `print`, a builtin; `main`, which every program has; `http = require("http")`, which is defined
        elsewhere; and `PATH`, which has many meanings.
        """
        facts = self.program.definition_of[definition]
        settings = self.program.files[self.program.file_of[definition]].settings
        if settings is not None:
            own = (settings.builtin_methods, settings.builtin_names, settings.shapes.builtins)
            if any(facts.name in names for names in own):
                return False
        is_value = facts.kind == NodeKind.CONSTANT
        return facts.name != _ENTRY and not (is_value and (facts.name.isupper() or _OF_ANOTHER.search(facts.signature)))

    def _find_qualified_name(self, parts: list[str]) -> tuple[str, list[int]]:
        """Return the targets of `Session.verify` or `app.auth.Session`: all types around it have to be named."""
        *qualifiers, last = parts
        owned = [(each, self._owners(each)) for each in self._definitions_named(last)]
        plain = [part.lstrip("_").replace("-", "_") for part in qualifiers]
        best = [
            each
            for each, owners in owned
            if plain[len(plain) - len(owners) :] == [owner.lstrip("_") for owner in owners]
            and _is_within(plain[: len(plain) - len(owners)], self._path_parts(each))
        ]
        if best or len(qualifiers) > 1:
            return RuleName.DOC_QUALIFIED, best
        wanted = qualifiers[0].replace("_", "").lower()
        return RuleName.DOC_LIKE_NAMED, [each for each, owners in owned if [o.lower() for o in owners][-1:] == [wanted]]

    def _nearest(self, definitions: list[int], path: str) -> list[int]:
        """Return the definitions that share most folders with the file that mentions them."""
        if len(definitions) < 2:
            return definitions
        files, file_of = self.program.files, self.program.file_of
        shared = [shared_folders(path, files[file_of[each]].path) for each in definitions]
        most = max(shared)
        return [each for each, n in zip(definitions, shared, strict=True) if n == most]

    # -- definitions by name

    def _definitions_named(self, name: str) -> list[int]:
        if self._by_name is None:
            self._by_name = {}
            for symbols in self.program.files:
                if symbols.facts.definitions and role_of(symbols.path) == Role.CODE:
                    self._add_file(symbols)
        return self._by_name.get(name, [])

    def _add_file(self, symbols: FileSymbols) -> None:
        """Add the definitions of a file that others can name. Overloads are one; a local of a function is none."""
        assert self._by_name is not None
        names: set[str] = set()
        definitions = symbols.facts.definitions
        hides = [each.kind in CALLABLE_KINDS for each in definitions]  # itself, or what it stands in
        for local, definition in enumerate(definitions):
            is_local = definition.parent != MODULE_SCOPE and hides[definition.parent]
            hides[local] |= is_local
            if not is_local and definition.kind != NodeKind.NAMESPACE and definition.qualname not in names:
                names.add(definition.qualname)
                self._by_name.setdefault(definition.name, []).append(symbols.first + local)

    def _owners(self, definition: int) -> list[str]:
        """Return the names of the enclosing definitions, outermost first."""
        if definition in self.program.owner_of:
            owner = self.program.owner_of[definition]
            return [*self._owners(owner), self.program.definition_of[owner].name]
        return self.program.definition_of[definition].qualname.split(".")[:-1]

    def _path_parts(self, definition: int) -> list[str]:
        """Return the folders and the file name of a definition, spelled as in imports."""
        path = posixpath.splitext(self.program.files[self.program.file_of[definition]].path)[0]
        return [part.lstrip("_").replace("-", "_") for part in path.split("/")]

    # -- files by name

    def _find_file(self, written: str, path: str, is_link: bool) -> int:
        """Return the file that a path names, seen from the file that mentions it or from the root, or -1.

        A name alone, `settings.py`, is that of a file of every user as well, unless the document is for those who work
        on the repository. Prose is not meant.
        """
        written = written.strip("<>").partition("#")[0].partition(":")[0]
        if "/" not in written and not is_link and not _FOR_DEVELOPERS.search(path):
            return -1
        if self._paths is None:
            self._paths = {}
            for number, symbols in enumerate(self.program.files):
                if role_of(symbols.path) in (Role.CODE, Role.CONFIG):
                    self._paths.setdefault(posixpath.basename(symbols.path), []).append(number)
        paths = self._paths.get(posixpath.basename(written), [])
        exact_paths = {
            posixpath.normpath(posixpath.join(posixpath.dirname(path), written)),
            posixpath.normpath(written),
        }
        exact = [each for each in paths if self.program.files[each].path in exact_paths]
        return exact[0] if exact else -1

    @staticmethod
    def _rule_of_path(written: str, form: int) -> str:
        return RuleName.DOC_PATH if form == MentionForm.LINK or "/" in written else RuleName.DOC_FILE


def _is_within(parts: list[str], folders: list[str]) -> bool:
    """Return True if these parts occur in this order in the folders and the file of a definition."""
    remaining = iter(folders)
    return all(any(part == folder for folder in remaining) for part in parts)
