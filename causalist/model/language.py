"""What a language needs beside its grammar, as read from `grammars/<language>/language.toml`."""

from dataclasses import dataclass
from enum import StrEnum


class ModuleSystem(StrEnum):
    """How an import names a file."""

    DOTTED = "dotted"  # a.b.c below a package root, leading dots for relative imports
    PATH = "path"  # "./a/b" beside the importing file, bare names from a package
    FOLDER = "folder"  # a folder is a package, named by its path below a manifest; its files share one scope
    DECLARED = "declared"  # files say which package they belong to; all files of a package share one scope
    TREE = "tree"  # files are modules of a tree that declarations in their parents build


@dataclass(frozen=True, slots=True)
class NameSettings:
    """`self_names` denote the instance or class inside of a method, `super_names` the next class along the bases.
    `assigned_prefixes` and `assigned_infixes` are taken out of the left side of `a.b = function`. `invokers` are
    methods of a function that call it."""

    self_names: tuple[str, ...] = ()
    super_names: tuple[str, ...] = ()
    constructors: tuple[str, ...] = ()
    scope_starts_at_body: bool = False
    class_scope_is_visible: bool = False
    assigned_prefixes: tuple[str, ...] = ()
    assigned_infixes: tuple[str, ...] = ()
    invokers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModuleSettings:
    """`index_stems` are files that stand for their folder. `extensions` are tried in order. `compiled` maps an
    extension in an import to those of the files it may mean. `wildcard_list` is the variable that lists what a
    wildcard import brings, `require` the function that imports."""

    system: ModuleSystem
    index_stems: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    compiled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    wildcard_list: str = ""
    require: str = ""


@dataclass(frozen=True, slots=True)
class TypeSettings:
    """`transparent` are generic types that stand for their first argument (`Box<T>`); with `first_of_tuple` a function
    that returns several values is known by the first (`(T, error)`)."""

    transparent: tuple[str, ...] = ()
    first_of_tuple: bool = False


@dataclass(frozen=True, slots=True)
class CommentSettings:
    """`line` are the tokens that start a comment; `doc` is "string" where documentation is the first string of a
    body, "comment" where it is the comment above."""

    line: tuple[str, ...] = ()
    doc: str = "comment"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One grammar: where it comes from and which files it reads. `fallback` is the dialect of the same language that
    reads a file of which this one understands less, "" for none."""

    name: str
    extensions: tuple[str, ...]
    package: str
    function: str
    queries: tuple[str, ...]
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """A folder of `grammars/`. Dialects share everything but the grammar. Languages of one `family` are written beside
    one another in one program: a method of unknown origin may be of any of them. `builtin_methods` are names that an
    unknown receiver most likely has from the language itself."""

    name: str
    family: str
    dialects: tuple[Dialect, ...]
    names: NameSettings
    modules: ModuleSettings
    comments: CommentSettings
    builtin_methods: tuple[str, ...] = ()
    types: TypeSettings = TypeSettings()
