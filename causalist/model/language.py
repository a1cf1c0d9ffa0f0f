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

    Names: `self_names` denote the instance or class inside of a method, `super_names` the next class along the bases.
    With `super_same`, `super` by itself is the method of the same name. `assigned_prefixes` and `assigned_infixes` are
    removed from the left side of `a.b = function`. `path_separator` joins names of modules and types where that is not
    the dot; `name_separators` separate names beside the dot. `sigil` begins the names of variables and no others: a
    variable without a value may hold anything. `attribute_sigils` begin names of attributes of the object itself.
    `name_suffixes` are characters that only the end of a name may have. `unnamed` maps words in the place of a name to
    their meaning. `transparent_keywords` before an expression do not change its meaning. What stands before one
    of `default_operators` is the value unless there is none: `a ?: b`.

    Scopes: with `members_are_visible` a bare name inside of a type may be a member of it, an inherited one too. With
    `all_declared` a name without a declaration comes from outside of the repository, so that nothing is guessed. With
    `block_scopes` a name may be declared again in a function, and uses mean the last declaration before them. With
    `rebinding`, binding a name again makes another variable, visible to the end of its block. With `assigned_outside`,
    an assignment does not declare a name. `file_private_pattern` is a regular expression for the signatures of
    definitions that only their own file sees, `partial_type_pattern` one for those of types that several files define
    in parts.

    Functions of one name: with `callables_apart` a value and functions may share a name, and functions differ by their
    parameters; with `overloads` functions differ by their parameters. With `types_apart` a type and a value may share a
    name; only the value can be called or derived from by a class. With `clauses` adjacent definitions of one name are
    one definition. What begins with one of `declaring` says which functions others define, and is not called. With
    `curried` several lists of arguments make one call. With `extensions` functions in a type that are marked as called
    on another are found on it, where their package is visible; so are methods with a signature that
    `extension_pattern` matches, inside of their type.

    Calls: with `accessors` a property `x` of one language of the family is `getX` and `setX` in the others;
    `only_instance` is the name by which they know the instance of a type that has no other. `invokers` are methods
    of a function that call it. `call_method` runs where an object is called; `own_class` are those of `self_names`
    that mean the class. With `bare_calls` naming a function calls it, with or without arguments. Methods whose
    names begin with `special_method_prefix` run without being named, by what a program does with a value; in a
    language with such a prefix no others do. A method overrides none if its name matches `private` (a regular
    expression), or if one of `no_override_keywords` stands before it.

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
    name_separators: tuple[str, ...] = ()
    sigil: str = ""
    call_method: str = ""
    own_class: tuple[str, ...] = ()
    types_apart: bool = False
    assigned_outside: bool = False
    private: str = ""
    no_override_keywords: tuple[str, ...] = ()
    bare_calls: bool = False
    attribute_sigils: tuple[str, ...] = ()
    super_same: bool = False
    unnamed: tuple[tuple[str, str], ...] = ()
    clauses: bool = False
    declaring: tuple[str, ...] = ()
    name_suffixes: str = ""
    transparent_keywords: tuple[str, ...] = ()
    default_operators: tuple[str, ...] = ()
    curried: bool = False
    overloads: bool = False
    file_private_pattern: str = ""
    special_method_prefix: str = ""
    partial_type_pattern: str = ""
    extensions: bool = False
    extension_pattern: str = ""
    initializers: tuple[str, ...] = ()
    constructs_bases: bool = False
    accessors: bool = False
    only_instance: str = ""
    implicit: str = ""

    @property
    def has_overloads(self) -> bool:
        """True if functions of one name are distinguished by their parameters."""
        return self.overloads or self.callables_apart


@dataclass(frozen=True, slots=True)
class ModuleSettings:
    """Modules and packages of a language.

    Imports: `index_stems` are files that stand for their folder. `extensions` are tried in order. `compiled` maps an
    extension in an import to those of the files it may mean. `wildcard_list` is the variable with the names that a
    wildcard import brings, `require` the function that imports. `external_parts` is the number of parts of a package's
    name that identify its library.

    Trees: `targets` are patterns of the files, below the folder of a manifest, at which trees of modules begin, the
    library's first. `relative` maps names that a path may begin with to the module that they mean: "root", "here" or
    "above".

    Declared packages: with `namespaces` a package has functions and constants too; a name of several parts begins
    in the package of its file unless a separator stands before it; and files that declare no package share one,
    whose functions and constants all packages see. `holds_functions` is the first of these alone, `shared` the
    package of files that declare none. For other languages of the family, what stands at the top of a file is in a
    type with the name of the file and `facade` behind it, or with the name that `facade_name` finds in the text.
    With `sees_enclosing_packages` files see the packages around their own. With `reopened` all declarations of a
    type of one qualified name are one type. An import that re-exports everything holds in all files of the project:
    those below the folder of a file that ends like one of `projects`, unless another is nearer.

    Builds: `constraint` begins a line that gives the builds of a file by tags. `older_constraint` begins lines with
    alternatives, separated by spaces, of tags that must hold together, separated by commas. `platforms` are tags that
    hold without being requested, `default_build_tags` those of them that hold on most platforms.

    Includes: with `inclusion` a function at the top of a file is seen by files that include it, and by files that are
    included together with it. `folders` are searched for included files, too. `headers` are extensions of files that
    others include and see all of; of other files they see what is linked: functions and variables. `include_folders`
    are names of folders that are searched for included files. `outside` files are never those of the repository, if
    angle brackets say that they are published.
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
    default_build_tags: tuple[str, ...] = ()
    reopened: bool = False
    inclusion: bool = False
    folders: tuple[str, ...] = ()
    holds_functions: bool = False
    shared: bool = False
    facade: str = ""
    facade_name: str = ""
    headers: tuple[str, ...] = ()
    system_names: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    sees_enclosing_packages: bool = False
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

    `transparent` are generic types that stand for their first argument (`Box<T>`). With `bracketed` the arguments of
    generic types stand in brackets. `memberless_types` have no members, so that a union ignores them; with `unions` a
    value of several other types has the members of each. `literals` maps the letters of `Call.arguments` to the types
    that take such a literal, the most fitting first; "*" is every type that begins with a capital. With `before_names`
    an annotation stands before the names that it is for, with `annotation_before_name` right before its only name.

    `prefixed` languages write a wrapper before the wrapped type (`[]T`), have block scope, and call a type to convert a
    value. In them `constructor_functions` make a value of the type that is their first argument, and
    `identity_functions` return a value like their first argument. Where types are `structural`, a type implements every
    interface whose methods it has; where interfaces are `contracts`, a class that implements one has no member from it.
    `holders` maps generic types from outside to their methods that return what they hold, and a loop takes the
    arguments of `ranged` ones. `outside` maps types of the standard library, by their package's path, to the signatures
    of their methods and to types whose methods they have too ("func" stands before methods of a type that is no
    interface).

    `unwrap_methods` of transparent types return the wrapped value (`unwrap`), as do `unwrap_properties`, which are
    not called; with `tuples` the members of a tuple are numbered; with `generic` the arguments of other generic
    types are kept, those of `functions` being what a function takes and, last, what it returns; `gathering`
    functions return a collection of their arguments, `wrapping` functions return their argument wrapped (`Some`).
    `factory_methods` of a type return an instance although it does not define them. `instancing` functions make a
    value of the type that is their last argument. The types in a type that `delegates` name are searched for its
    members, too.

    `containers` are generic types of collections. `elements` are their methods that return one element,
    `collection_methods` those that return a collection of the same elements, `callback_methods` those that call a
    function for each element, and `iterator_methods` those that an iterator of the repository has, `setting` those
    that set a variable to an element. With `casts`, `x as T` says that x is a T. `arrow` stands in the type of a
    function before what it gives.
    """

    transparent: tuple[str, ...] = ()
    before_names: bool = False
    literals: tuple[tuple[str, tuple[str, ...]], ...] = ()
    class_types: tuple[str, ...] = ()  # of `A::class` or `A.class`, and of `A::class.java`
    prefixed: bool = False
    constructor_functions: tuple[str, ...] = ()
    identity_functions: tuple[str, ...] = ()
    structural: bool = False
    contracts: bool = False
    outside: tuple[tuple[str, tuple[str, ...]], ...] = ()
    holders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ranged: tuple[str, ...] = ()
    unwrap_methods: tuple[str, ...] = ()
    wrapping: tuple[str, ...] = ()
    factory_methods: tuple[str, ...] = ()
    instancing: tuple[str, ...] = ()
    delegates: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    collection_methods: tuple[str, ...] = ()
    callback_methods: tuple[str, ...] = ()
    iterator_methods: tuple[str, ...] = ()
    annotation_before_name: bool = False
    bracketed: bool = False
    memberless_types: tuple[str, ...] = ()
    unions: bool = False
    unwrap_properties: tuple[str, ...] = ()
    generic: bool = False
    tuples: bool = False
    functions: tuple[str, ...] = ()
    setting: tuple[str, ...] = ()
    gathering: tuple[str, ...] = ()
    casts: bool = False
    arrow: str = ""


@dataclass(frozen=True, slots=True, eq=False)  # each is a key of a cache: hashed by identity, which is quick
class ShapeSettings:
    """Generic types and functions by the values they hold or return.

    Names of generic types, and of functions, by what they hold or give. With `sequences` the language is *shaped*:
    annotations and values keep what collections, tuples and unions hold.

    `transparent` types stand for their first argument, `nothing` are types that say nothing. `keeping` are functions
    whose result holds what their argument holds, `counting` those that number it, `taking` those that give one element,
    `casting` those that say of which type a value is. `giving` return their first argument, or what calling it gives
    with `calling`; `gathering` return a tuple of their arguments; `applying` call their first argument for each
    element, `filtering` keep elements of their second. A name without a dot among these is that of a method as well:
    `loop.create_task`. `enums` are bases whose fields are instances.
    `elements` are methods of a collection that give one element,
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
    enums: tuple[str, ...] = ()
    builtins: tuple[str, ...] = ()
    giving: tuple[str, ...] = ()
    calling: tuple[str, ...] = ()
    gathering: tuple[str, ...] = ()
    applying: tuple[str, ...] = ()
    filtering: tuple[str, ...] = ()
    passing: frozenset[str] = field(init=False, repr=False)  # all functions whose result is made of their argument
    passing_methods: frozenset[str] = field(init=False, repr=False)  # last names of those that may be methods

    def __post_init__(self) -> None:
        methods = (*self.giving, *self.calling, *self.gathering)
        functions = (*self.keeping, *self.counting, *self.taking, *self.casting, *self.applying)
        object.__setattr__(self, "passing", frozenset((*functions, *self.filtering, *methods)))
        object.__setattr__(self, "passing_methods", frozenset(name for name in methods if "." not in name))


@dataclass(frozen=True, slots=True)
class TestSettings:
    """Rules that recognize tests.

    `mark` is a regular expression for text before a definition that makes it a test, `marks` are names of annotations
    that do. `functions` is a regular expression for names of functions and methods that are tests if their file is one.
    `names` are patterns of file names (without extension) and types in which "*" is the name of the tested thing. If
    nothing says which functions are tests, a file is one test. `fixtures` is the name of files whose fixtures all tests
    below them see.
    """

    mark: str = ""
    marks: tuple[str, ...] = ()
    functions: str = ""
    names: tuple[str, ...] = ()
    fixtures: str = ""


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
class LambdaSettings:
    """Functions without a name that are given to a call.

    `implicit` is the name of the only parameter of one that declares none. By their last names: the function of a
    `handing` method is given the object that the method is called on, that of a `receiving` one has it as its own
    object, and that of a `receiving_first` one the first argument. That of a `pairing` method is given several
    elements, that of any other in `types.callback_methods` one, last. What the function returns is the result of a
    `yielding` method, and the elements of the result of a `mapping` one. `types` are generic types of functions whose
    first argument is that of the function; `takers` types from outside that stand for functions, which get what their
    first type arguments say.
    """

    implicit: str = ""
    handing: tuple[str, ...] = ()
    receiving: tuple[str, ...] = ()
    receiving_first: tuple[str, ...] = ()
    pairing: tuple[str, ...] = ()
    yielding: tuple[str, ...] = ()
    mapping: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    takers: tuple[str, ...] = ()


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

    Each byte of the first group of `match`, or of the whole match without groups, becomes `put`. What is `silent` is
    replaced before the text is parsed at all, since the grammar reads it as something else without an error.
    """

    match: str
    put: str = " "
    silent: bool = False


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
    lambdas: LambdaSettings = LambdaSettings()
    lookups: tuple[LookupSettings, ...] = ()
    preprocessor: PreprocessorSettings = PreprocessorSettings()
    repairs: tuple[Repair, ...] = ()
