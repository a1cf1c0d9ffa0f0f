"""Settings of a language beside its grammar, from `grammars/<language>/language.toml`."""

from dataclasses import dataclass, field
from enum import StrEnum


class ModuleSystem(StrEnum):
    """Way in which an import names a file."""

    DOTTED = "dotted"  # a.b.c below a package root, leading dots for relative imports
    PATH = "path"  # "./a/b" beside the importing file, bare names from a package
    FOLDER = "folder"  # a folder is a package, named by its path below a manifest; its files share one scope
    DECLARED = "declared"  # files say which package they belong to; all files of a package share one scope
    TREE = "tree"  # files are modules of a tree that declarations in their parents build
    INCLUDE = "include"  # files take in the text of others; what they define is known in all of them


@dataclass(frozen=True, slots=True)
class NameSettings:
    """Names and scopes of a language.

    `self_names` denote the instance or class inside of a method, `super_names` the next class along the bases.
    `assigned_prefixes` and `assigned_infixes` are taken out of the left side of `a.b = function`. `invokers` are
    methods of a function that call it. `path_separator` joins names of modules and types where that is not the dot.
    Methods whose name `private` (a regular expression) matches, or that a word of `alone` stands before, override none.

    With `members_are_visible` a bare name inside of a type may be a member of it, an inherited one too; with
    `all_declared` a name that nothing declares comes from outside of the repository, so that nothing is guessed of it;
    with `callables_apart` a value and functions of one name stand beside each other, functions also several with other
    parameters; with `block_scopes` a name may be declared again in a function, and uses mean the last declaration
    before them; with `rebinding`, binding a name again makes another variable, which is visible to the end of its
    block. `joins` are what stands between names beside the dot. `sigil` is what the names of variables begin with, and
    those of nothing else: a variable that nothing gives a value may hold anything. `call_method` is the method that
    runs where an object is called. With `types_apart` a type and a value of one name stand beside each other, and only
    the value can be called or derived from by a class. With `assigned_outside`, giving a value to a name does not
    declare it. With `bare_calls` naming a function calls it, arguments or not; `attribute_sigils` are what names of
    attributes of the object itself begin with; with `super_same`, `super` by itself is the method of the same name.
    `unnamed` maps words that stand in the place of a name to what is meant by them, `waiting` are words before an
    expression that change nothing of what it means. With `clauses` definitions of one name that follow one another are
    one. `signs` are what a name may end with that stands in no name otherwise. With `curried` several lists of
    arguments make one call. With `overloads` functions of one name stand beside each other, with other parameters.
    `unshared` is a regular expression for the signatures of definitions that their own file alone knows, `parts` one
    for those of types of which several files hold a part. What begins with `special` in a type is called without
    its name, by what a program does with a value; where there is such a mark, nothing else is. With `extensions`
    functions in a type that are marked as called on another are found on it, where their package is in sight.

    Look-ups alone read the rest. `initializers` are names of methods that run, beside `constructors`, where an instance
    is made; "*" stands for the name of the type. With `constructs_bases` that runs a constructor of each base, too.
    `implicit` is a regular expression for names of methods that run by what a program does with an object.
    """

    self_names: tuple[str, ...]
    super_names: tuple[str, ...]
    constructors: tuple[str, ...]
    scope_starts_at_body: bool
    class_scope_is_visible: bool
    assigned_prefixes: tuple[str, ...] = ()
    assigned_infixes: tuple[str, ...] = ()
    invokers: tuple[str, ...] = ()
    members_are_visible: bool = False
    all_declared: bool = False
    callables_apart: bool = False
    block_scopes: bool = False
    path_separator: str = ""
    rebinding: bool = False
    joins: tuple[str, ...] = ()
    sigil: str = ""
    call_method: str = ""
    types_apart: bool = False
    assigned_outside: bool = False
    private: str = ""
    alone: tuple[str, ...] = ()
    bare_calls: bool = False
    attribute_sigils: tuple[str, ...] = ()
    super_same: bool = False
    unnamed: tuple[tuple[str, str], ...] = ()
    clauses: bool = False
    signs: str = ""
    waiting: tuple[str, ...] = ()
    curried: bool = False
    overloads: bool = False
    unshared: str = ""
    special: str = ""
    parts: str = ""
    extensions: bool = False
    initializers: tuple[str, ...] = ()
    constructs_bases: bool = False
    implicit: str = ""

    @property
    def has_overloads(self) -> bool:
        """True if functions of one name are distinguished by their parameters."""
        return self.overloads or self.callables_apart


@dataclass(frozen=True, slots=True)
class ModuleSettings:
    """Modules and packages of a language.

    `index_stems` are files that stand for their folder. `extensions` are tried in order. `compiled` maps an
    extension in an import to those of the files it may mean. `wildcard_list` is the variable that lists what a
    wildcard import brings, `require` the function that imports, `external_parts` how many parts of a package's name
    tell which library it belongs to. `targets` are patterns of the files, below the folder of a manifest, at which
    trees of modules begin, the library's first; `relative` maps names that a path may begin with to the module that
    they mean: "root", "here" or "above". With `namespaces` a declared package holds functions and constants too, a name
    of several parts begins in the package of its file unless a separator stands before it, and files that declare no
    package share one, whose functions and constants all packages see. `constraint` begins a line that says in which
    builds a file is, by tags, `older_constraint` lines that say it by alternatives with spaces between them, and what
    has to hold together with commas; `platforms` are the tags that nobody has to ask for, `usual` those of
    them that hold where most programs run. With `reopened` all
    declarations of a type of one qualified name are one type. With `inclusion` a function at the top of a file is seen
    by what includes the file, and by what is included together with it. `folders` are those in which included files are
    looked for, too. With `holds_functions` a declared package holds functions and constants, and nothing else is
    different; with `shared` files that declare no package share one. `headers` are extensions of files that others
    include, and know all of; of other files they know what is linked: functions and variables. `include_folders` are
    names of folders in which included files are looked for, `outside` files that never are the repository's where
    angle brackets say that they are published. With `above` files know what the packages around their own hold. An
    import that passes on everything holds in all files of the project: below the folder of a file that ends like one of
    `projects`, as far as no other is nearer.
    """

    system: ModuleSystem
    index_stems: tuple[str, ...]
    extensions: tuple[str, ...]
    compiled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    wildcard_list: str = ""
    require: str = ""
    external_parts: int = 1
    targets: tuple[str, ...] = ()
    relative: tuple[tuple[str, str], ...] = ()
    namespaces: bool = False
    constraint: str = ""
    older_constraint: str = ""
    platforms: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    reopened: bool = False
    inclusion: bool = False
    folders: tuple[str, ...] = ()
    holds_functions: bool = False
    shared: bool = False
    headers: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    above: bool = False
    projects: tuple[str, ...] = ()

    @property
    def shows_side_effects(self) -> bool:
        """True if side-effect imports change what other files can resolve.

        This holds for textual includes and for packages that re-export. Elsewhere such an import only adds an edge.
        """
        return self.inclusion or self.system in (ModuleSystem.INCLUDE, ModuleSystem.DOTTED)


@dataclass(frozen=True, slots=True)
class TypeSettings:
    """Types and annotations of a language.

    `transparent` are generic types that stand for their first argument (`Box<T>`). With `before_names` an annotation
    stands before the names that it is for. `literals` maps the letters of `Call.arguments` to the types that take such
    a literal, the most fitting first; "*" stands for every type that begins with a capital.

    `prefixed` languages write what holds before what is held (`[]T`), have block scope, and call a type to convert a
    value; in them `makers` are functions that make a value of the type that is their first argument, and `passes` those
    that return a value like their first argument. Where types are `structural`, a type implements every interface whose
    methods it has; where interfaces are `contracts`, a class that implements one has no member from it. `outside` maps
    types of the standard library, by their package's path, to the signatures of their methods and to types whose
    methods they have too ("func" stands before methods of what is no interface).

    `passing` are methods of transparent types that give what these hold (`unwrap`), `wrapping` functions whose result
    holds their argument (`Some`), `making` those of a type that give one of it although it does not define them;
    `delegates` are types inside of a type in which its members are looked for, too. `containers` are generic types of
    collections, known by their elements: `elements` are methods of theirs that give one, `keeping` those that give them
    all, `handing` those that call a function for each, `steps` those that an iterator of the repository has.

    `instancing` are functions that make a value of the type that is their last argument.

    With `bracketed` the arguments of generic types stand in brackets. With `beside_names` an annotation stands right
    before the one name that it is for. `plain` are types without members: in a union with one other type they say
    nothing.
    """

    transparent: tuple[str, ...] = ()
    before_names: bool = False
    literals: tuple[tuple[str, tuple[str, ...]], ...] = ()
    prefixed: bool = False
    makers: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    structural: bool = False
    contracts: bool = False
    outside: tuple[tuple[str, tuple[str, ...]], ...] = ()
    passing: tuple[str, ...] = ()
    wrapping: tuple[str, ...] = ()
    making: tuple[str, ...] = ()
    instancing: tuple[str, ...] = ()
    delegates: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    keeping: tuple[str, ...] = ()
    handing: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    beside_names: bool = False
    bracketed: bool = False
    plain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)  # each is a key of a cache: hashed by identity, which is quick
class ShapeSettings:
    """Generic types and functions by the values they hold or return.

    Names of generic types, and of functions, by what they hold or give. With `sequences` the language is *shaped*:
    annotations and values keep what collections, tuples and unions hold.

    `transparent` types stand for their first argument, `nothing` are types that say nothing. `keeping` are functions
    whose result holds what their argument holds, `counting` those that number it, `taking` those that give one element,
    `casting` those that say of which type a value is. `elements` are methods of a collection that give one element,
    `copies` those that give a collection like it; `items`, `values`, `keys` are those of a mapping. `iterating` are
    methods that give what a loop runs over, `stepping` those of that which give an element; `indexing` and `entering`
    say what an index and a `with` statement give. `records` are bases that make a tuple of the fields of a class;
    `builtins` are functions and types that give nothing of the repository, whatever they are given.
    """

    sequences: tuple[str, ...] = ()
    mappings: tuple[str, ...] = ()
    tuples: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    unions: tuple[str, ...] = ()
    transparent: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ("None",)
    keeping: tuple[str, ...] = ()
    counting: tuple[str, ...] = ()
    taking: tuple[str, ...] = ()
    casting: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    iterating: tuple[str, ...] = ()
    stepping: tuple[str, ...] = ()
    indexing: tuple[str, ...] = ()
    entering: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    builtins: tuple[str, ...] = ()
    passing: frozenset[str] = field(init=False, repr=False)  # all functions whose result is made of their argument

    def __post_init__(self) -> None:
        object.__setattr__(self, "passing", frozenset((*self.keeping, *self.counting, *self.taking, *self.casting)))


@dataclass(frozen=True, slots=True)
class TestSettings:
    """Rules that recognize tests.

    `mark` is a regular expression for text before a definition that makes it a test, `marks` are names of annotations
    that do. `functions` is a regular expression for names of functions and methods that are tests if their file is one.
    `names` are patterns of file names (without extension) and types in which "*" is the name of the tested thing. If
    nothing says which functions are tests, a file is one test.
    """

    mark: str = ""
    marks: tuple[str, ...] = ()
    functions: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandlerSettings:
    """Calls that are given a string and a function, of which the function is a handler.

    `verbs` are the last names of such callees (`router.post`), `tests` those whose function is a test. `modifiers` may
    stand behind either (`it.only`, `test.each(…)`). A string with one of `substitutions` is no name.
    """

    verbs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    substitutions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LookupSettings:
    """A way to read a value by a literal name.

    `kind` is the prefix of the names of such values: `env`, `config`. `word` occurs in every use; `read` and `written`
    are regular expressions for the text after it, with a group `key`. A use counts if its receiver comes from one of
    `modules` outside of the repository, or is one of `globals` that nothing declares; anywhere if both are empty.
    """

    kind: str
    word: str
    read: str = ""
    written: str = ""
    modules: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommentSettings:
    """Comments of a language.

    `line` are the tokens that start a comment. `doc` is "string" if documentation is the first string of a body,
    "comment" if it is the comment above, "sentence" if the comment's first sentence is the summary. `tags` are the
    words before a type in a documentation comment: "type" of the definition below or named, "parameter", "returns".
    With `open_body` a comment on a line of its own in a definition belongs to its body, wherever the grammar has it.
    """

    line: tuple[str, ...]
    doc: str
    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    open_body: bool = False


@dataclass(frozen=True, slots=True)
class Repair:
    """Replacement in a text with syntax errors, before it is parsed again.

    Each byte of the first group of `match`, or of the whole match without groups, becomes `put`.
    """

    match: str
    put: str = " "


@dataclass(frozen=True, slots=True)
class Dialect:
    """One grammar and the files it reads.

    Files are chosen by extension, by whole name if they have none, or by the interpreter in their first line.
    `fallback` is the dialect of the same language for a file of which this one understands less, "" for none. Files
    with an extension in `claims` belong to another dialect, but this one reads them if `signs`, a regular expression
    for bytes, matches. With `line_feed` the grammar needs one at the end of a text.
    """

    name: str
    extensions: tuple[str, ...]
    package: str
    function: str
    queries: tuple[str, ...]
    fallback: str = ""
    line_feed: bool = False
    names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    signs: str = ""


@dataclass(frozen=True, slots=True)
class PreprocessorSettings:
    """Text that the grammar does not see.

    With `conditions`, branches of conditional compilation that do not close what they open are replaced by one of them.
    `never` is a regular expression for conditions that are false, `blank` are some for text without meaning: macros
    that stand for attributes.
    """

    conditions: bool = False
    never: str = ""
    blank: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """A folder of `grammars/`; dialects share everything but the grammar.

    Languages of one `family` are mixed in one program: a method of unknown origin may be of any of them.
    `builtin_methods` are names that an unknown receiver most likely has from the language itself, as have the
    `builtin_objects` all of theirs; of `builtin_names` only calls are kept, if the scope of a name is known. `repairs`
    are for syntax that the grammars do not know.
    """

    name: str
    family: str
    dialects: tuple[Dialect, ...]
    names: NameSettings
    modules: ModuleSettings
    comments: CommentSettings
    builtin_methods: tuple[str, ...] = ()
    builtin_names: tuple[str, ...] = ()
    builtin_objects: tuple[str, ...] = ()
    types: TypeSettings = TypeSettings()
    shapes: ShapeSettings = ShapeSettings()
    tests: TestSettings = TestSettings()
    handlers: HandlerSettings = HandlerSettings()
    lookups: tuple[LookupSettings, ...] = ()
    preprocessor: PreprocessorSettings = PreprocessorSettings()
    repairs: tuple[Repair, ...] = ()
