"""Nodes before they are sorted by id: files, definitions, passages, and what is outside of the repository.

Files are drafts by their own numbers, definitions follow by theirs (those of `Program`), then passages, then externals
in the order in which they are found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from causalist.graph.file_symbols import FileNames
from causalist.graph.program.program import Program
from causalist.model.facts import MODULE_SCOPE, Definition
from causalist.model.roles import role_of
from causalist.model.symbols import NO_LAYER, NodeId, NodeKind, Role, external_id, file_id, section_id

_KINDS = {int(kind): kind for kind in NodeKind}


@dataclass(slots=True)
class NodeDraft:
    """A node before ids are sorted; `file` and `parent` are positions among the drafts, -1 for none. `says` is set by
    `layering.say_layers`."""

    id: str
    kind: NodeKind
    role: Role
    file: int
    parent: int
    start_byte: int
    end_byte: int
    start_row: int
    end_row: int
    signature: str
    doc: str
    says: int = NO_LAYER  # Layer


class Drafts(dict[int, NodeDraft]):
    """Drafts by number, made when they are asked for: all of them, or those of a few files."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.n_files = len(program.files)
        self.n_written = self.n_files + len(program.definition_of)  # and passages, as they are made
        self.externals: dict[str, int] = {}
        self._passages: dict[int, range] = {}

    def __missing__(self, number: int) -> NodeDraft:
        file = number if number < self.n_files else self.program.file_of[number - self.n_files]
        names = self.program.files[file]
        if number == file:
            self[file] = _file_draft(names, file)
        else:
            self.update(enumerate(_definition_drafts(names, file, self), self.first_of(file)))
        return self[number]

    def first_of(self, file: int) -> int:
        """The draft of the first definition of a file."""
        return self.n_files + self.program.files[file].first

    def definition(self, number: int) -> int:
        """The draft of a definition."""
        return self.n_files + number

    def passages(self, file: int) -> range:
        """The drafts of the passages of a file, made once. Asked for before any external."""
        if file not in self._passages:
            facts, first = self.program.files[file].facts, self.n_written
            self.update(enumerate(_passage_drafts(self.program.files[file], file, self[file].role, first), first))
            self.n_written += len(facts.passages)
            self._passages[file] = range(first, self.n_written)
        return self._passages[file]

    def documents(self, file: int) -> list[int]:
        """The drafts of the definitions of a file, then of its passages."""
        first = self.first_of(file)
        return [*range(first, first + len(self.program.files[file].facts.definitions)), *self.passages(file)]

    def external(self, package: str) -> int:
        """The draft of something outside of the repository."""
        number = self.externals.get(package)
        if number is None:
            number = self.externals[package] = self.n_written + len(self.externals)
            self[number] = NodeDraft(
                external_id(package), NodeKind.EXTERNAL, Role.CODE, -1, -1, 0, 0, 0, 0, "", ""
            )  # fmt: skip
        return number

    def all(self) -> list[NodeDraft]:
        """Every draft, when all passages and externals are made."""
        return [self[number] for number in range(self.n_written + len(self.externals))]


def _file_draft(names: FileNames, number: int) -> NodeDraft:
    facts = names.facts
    return NodeDraft(
        file_id(names.path), NodeKind.FILE, role_of(names.path), number, -1,
        0, facts.n_bytes, 0, max(facts.n_rows - 1, 0), "", facts.doc,
    )  # fmt: skip


def _definition_drafts(names: FileNames, number: int, drafts: Drafts) -> Iterator[NodeDraft]:
    facts, first, file = names.facts, drafts.first_of(number), file_id(names.path)
    # The last one is the file's, for definitions whose parent is MODULE_SCOPE, -1.
    tests, roles = frozenset(facts.tests), [drafts[number].role] * (len(facts.definitions) + 1)
    for local, (definition, repeat) in enumerate(zip(facts.definitions, _repeats(facts.definitions), strict=True)):
        parent = number if definition.parent == MODULE_SCOPE else first + definition.parent
        roles[local] = Role.TEST if local in tests else roles[definition.parent]
        yield NodeDraft(
            NodeId(f"{file}::{definition.qualname}{repeat}"), _KINDS[definition.kind], roles[local],
            number, parent, definition.start_byte, definition.end_byte, definition.start_row,
            definition.end_row, definition.signature, definition.doc,
        )  # fmt: skip


def _passage_drafts(names: FileNames, number: int, role: Role, first: int) -> Iterator[NodeDraft]:
    for passage in names.facts.passages:
        parent = number if passage.parent < 0 else first + passage.parent
        yield NodeDraft(
            section_id(names.path, passage.slug), NodeKind.PASSAGE, role, number, parent,
            passage.start_byte, passage.end_byte, passage.start_row, passage.end_row, passage.title, "",
        )  # fmt: skip


def _repeats(definitions: Sequence[Definition]) -> list[str]:
    """What is added to the name of each definition so that no two are alike. Where a field shares its name with
    functions, these are meant by whoever asks for callers: the field stands back."""
    used: dict[str, int] = {}
    result = [""] * len(definitions)
    order = sorted(range(len(definitions)), key=lambda i: (definitions[i].kind == NodeKind.FIELD, i))
    for i in order:
        name = definitions[i].qualname
        used[name] = used.get(name, 0) + 1
        result[i] = "" if used[name] == 1 else f"~{used[name]}"
    return result
