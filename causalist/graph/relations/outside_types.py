"""Types of the standard library that types of the repository embed, as the settings of a language tell of them.

In: `TypeSettings.outside`. Out: the methods that such a type asks for or gives, with comparable signatures, and the
one name that a type has by whatever name it is called. What the table does not have stays unknown.
"""

from dataclasses import dataclass, field

from causalist.graph.program.program import Program
from causalist.graph.relations.signature_types import comparable
from causalist.model.facts import MODULE_SCOPE

_GIVEN = "func "  # before the methods of a type that is no interface
_DEEPEST = 8  # types that have the methods of others


@dataclass(slots=True)
class OutsideTypes:
    """`listed` maps types, by the path of their package and their name, to what they have."""

    listed: dict[str, tuple[str, ...]]
    _folders: dict[str, str] = field(init=False)
    _methods: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        paths = (name.rpartition(".")[0] for name in self.listed)
        self._folders = {path.rpartition("/")[2]: path for path in paths if "/" in path}

    def __contains__(self, name: str) -> bool:
        return name in self.listed

    def is_interface(self, name: str) -> bool:
        return not any(entry.startswith(_GIVEN) for entry in self.listed[name])

    def known_as(self, name: str) -> str:
        """The type's own name where another type's is all that is said of it.

        >>> known = OutsideTypes({"os.FileInfo": ("io/fs.FileInfo",), "io/fs.FileInfo": ("IsDir() bool",)})
        >>> known.known_as("os.FileInfo"), known.known_as("io/fs.FileInfo"), known.methods("os.FileInfo")
        ('io/fs.FileInfo', 'io/fs.FileInfo', {'IsDir': '()(bool)'})
        """
        entries = self.listed.get(name, ())
        return entries[0] if len(entries) == 1 and "(" not in entries[0] else name

    def methods(self, name: str, depth: int = 0) -> dict[str, str]:
        """The signatures of its methods, as `comparable` gives them, by name."""
        found = self._methods.get(name)
        if found is None:
            found = {}
            for entry in self.listed.get(name, ()) if depth < _DEEPEST else ():
                if "(" in entry:
                    method = entry.removeprefix(_GIVEN).partition("(")[0]
                    found[method] = comparable(entry, method, self._written)
                else:
                    found.update(self.methods(entry, depth + 1))
            self._methods[name] = found
        return found

    def _written(self, name: str) -> str:
        """What a type is known as that a signature of the table names by the last part of its package's path."""
        head, dot, last = name.partition(".")
        return self.known_as(f"{self._folders.get(head, head)}{dot}{last}")


def outside_bases(program: Program, known: OutsideTypes) -> tuple[dict[int, list[str]], set[int]]:
    """(type -> types of the table that it embeds or is made of, types that embed one of which nothing is known)."""
    listed: dict[int, list[str]] = {}
    unknown: set[int] = set()
    for file, names in enumerate(program.files):
        if names.settings is None or not names.settings.types.structural:
            continue
        for base in names.facts.bases:
            name = outside_name(program, file, base.name)
            if name in known:
                listed.setdefault(names.first + base.definition, []).append(name)
            elif name:
                unknown.add(names.first + base.definition)
    for number in sorted(program.named_types):
        file = program.file_of[number]
        names = program.files[file]
        name = outside_name(program, file, names.returns.get(number - names.first, ""))
        if name in known and known.is_interface(name) and "=" not in program.definition_of[number].signature:
            listed.setdefault(number, []).append(name)
    return listed, unknown


def outside_name(program: Program, file: int, written: str) -> str:
    """The name of a type outside of the repository by its package's path; "" for one of the repository."""
    head, dot, last = written.partition(".")
    if not dot:
        return "" if defined(program, file, head) is not None else head
    entry = program.files[file].imports.get(MODULE_SCOPE, {}).get(head)
    if entry is None or program.target_module(file, entry)[0] >= 0:
        return ""
    return f"{entry.module}.{last}"


def defined(program: Program, file: int, name: str) -> int | None:
    """The definition that a name without a package in front means, in this package or one imported as a whole."""
    number = program.packages.definition(file, name, program.files)
    for star in program.files[file].stars if number is None else ():
        target, _ = program.target_module(file, star)
        number = program.packages.definition(target, name, program.files) if target >= 0 else None
        if number is not None:
            break
    return number
