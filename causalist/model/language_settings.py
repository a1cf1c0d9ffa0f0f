"""Settings of a language beside its grammar, from `grammars/<language>/language.toml`."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from causalist._internal.lazy import dataclass


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
    """Names and scopes of a language."""

    self_names: tuple[str, ...]
    """names of the instance or class inside a method. Example: `["self", "cls"]`"""
    super_names: tuple[str, ...]
    """names of the next class along the bases. Example: `["super()"]`"""
    constructors: tuple[str, ...]
    """methods that a call of the class runs. Example: `["__init__"]`"""
    scope_starts_at_body: bool
    """uses before the body (decorators, defaults) belong to the enclosing scope. Example: Python: true"""
    class_scope_is_visible: bool
    """methods see names of the class without a prefix. Example: Java: true"""
    assigned_prefixes: tuple[str, ...] = ()
    assigned_infixes: tuple[str, ...] = ()
    """parts removed from the left side of `a.b = function`. Example: `["exports.", "this."]`, `[".prototype"]`"""
    invokers: tuple[str, ...] = ()
    """methods of a function that call it. Example: `["call", "apply"]`"""
    members_are_visible: bool = False
    """a bare name inside a type may be a member of it or its bases. Example: Java: true"""
    all_declared: bool = False
    """every name is declared; an undeclared one is external and never guessed. Example: Java: true"""
    callables_apart: bool = False
    """a value and functions may share a name, also several functions with different parameters. Example: Java: true"""
    block_scopes: bool = False
    """a name may be declared again in one function; the last declaration before a use counts. Example: Java: true"""
    path_separator: str = ""
    """separator of module and type names, if not the dot. Example: Rust: `"::"`"""
    applied: bool = False
    """arguments follow what is called without brackets: `f x y`. Example: F#: true"""
    rebinding: bool = False
    """a second binding of a name makes a new variable. Example: Rust: true"""
    name_separators: tuple[str, ...] = ()
    r"""separators of names beside the dot; read as dots; `[]::` is one behind a type in brackets; `#()` is for
    arguments of types. Example: PHP: `["->", "::", '\']`"""
    sigil: str = ""
    """first character of variables and of nothing else. Example: PHP: `"$"`"""
    keys: bool = False
    """a key of a reference is a member that only values have: `$a->{b}` is read as `$a.$b`. Example: Perl: true"""
    call_method: str = ""
    """method that runs when an object is called. Example: PHP: `"__invoke"`"""
    own_class: tuple[str, ...] = ()
    """names among `names.self` that mean the class. Example: Python: `["cls"]`"""
    types_apart: bool = False
    """a type and a value may share a name; only the value can be called. Example: TypeScript: true"""
    assigned_outside: bool = False
    """an assignment does not declare the name in the current scope. Example: JavaScript: true"""
    private: str = ""
    """regular expression of method names that override nothing. Example: JavaScript: `'#.*'`"""
    no_override_keywords: tuple[str, ...] = ()
    """modifiers of methods that override nothing. Example: Java: `["private", "static"]`"""
    bare_calls: bool = False
    """naming a function calls it; what is no variable is a call. A `@call` without arguments takes its last name.
    Example: Ruby: true"""
    attribute_sigils: tuple[str, ...] = ()
    """prefixes of instance attributes; `@a.b` is read as `self.a.b`. Example: Ruby: `["@", "@@"]`"""
    super_same: bool = False
    """`super` alone calls the method of the same name, also in mixins. Example: Ruby: true"""
    unnamed: tuple[tuple[str, str], ...] = ()
    """words that replace a name -> the name they mean. Example: Kotlin: `{ companion = "Companion" }`"""
    clauses: bool = False
    """adjacent definitions of one name are one; arguments are counted. Example: Elixir: true"""
    templates: tuple[str, ...] = ()
    """what begins strings that are templates with code in them. Example: Elixir: `["~H"]`"""
    overload_pattern: str = ""
    r"""regular expression for the beginning of declarations that the next function of their name defines. Example:
    Python: `'@[\w.]*\boverload\b'`"""
    bodiless_overloads: bool = False
    """declarations without a body belong to the next function of their name. Example: TypeScript: true"""
    declaring: tuple[str, ...] = ()
    """how functions begin that others define. Example: Elixir: `["@callback "]`"""
    name_suffixes: str = ""
    """characters that may end a function name only. Example: Elixir: `"?!"`"""
    leading: str = ""
    unseen: str = ""
    """regular expressions: of words before a definition that belong to its signature; of signatures that are
    not seen from inside, nor from what stands before. Example: OCaml: `'let(?: rec)?'`, `'let (?!rec)'`"""
    transparent_keywords: tuple[str, ...] = ()
    """words before an expression that do not change its meaning. Example: Swift: `["try", "await"]`"""
    default_operators: tuple[str, ...] = ()
    """operators between a value and what stands for it where there is none. Example: Kotlin: `["?:"]`"""
    curried: bool = False
    """several argument lists make one call; the first is counted. Example: Scala: true"""
    labeled: bool = False
    """arguments have labels, which choose among functions of one name. Example: Swift: true"""
    overloads: bool = False
    """functions of one name with different parameters; values share names with functions. Example: C++: true"""
    never_overloaded: str = ""
    r"""regular expression of chains without overloads; arguments are not read. Example: C++: `'std\..*'`"""
    file_private_pattern: str = ""
    r"""with `modules.headers`: signatures of definitions that only their own file, or files that include it, can see.
    Example: C: `'static\b'`"""
    special_method_prefix: str = ""
    """prefix of methods that are called without being named. Example: Python: `"__"`"""
    partial_type_pattern: str = ""
    """signatures of types that several files define in parts. Example: C#: `'.*partial'`"""
    explicit_pattern: str = ""
    r"""signatures of members that only their interface is asked for. Example: C#: `'.*\.\w+\('`"""
    extensions: bool = False
    """functions whose `@owner.extended` type they extend, where their package is visible. Example: C#: `true`"""
    extension_pattern: str = ""
    r"""signatures of methods that are called on another type inside of their own. Example: Kotlin: `'fun .*\.\w+\('`"""
    alike: bool = False
    """names are alike whatever letters are capitals; each is kept as it is written. Example: PowerShell: true"""
    initializers: tuple[str, ...] = ()
    """methods that run beside constructors when an instance is made; `*` is one named like its type, which gets the
    first name of `constructors` if there is one. Example: C++: `["*"]`"""
    decorators: str = ""
    r"""a decorator at the start of a line, with groups `name` and, if it is called, `call`; or the head of a
    definition, without. Example: Python: `'^[ \t]*(?:@(?P<name>[\w.]+)(?P<call>\()?|def\b)'`"""
    constructs_bases: bool = False
    """making an instance also runs a constructor of each base. Example: Java: true"""
    accessors: bool = False
    """a property of one language of the family is `getX` and `setX` in the others. Example: Kotlin, Java: true"""
    only_instance: str = ""
    """name by which others know the only instance of a type. Example: Kotlin: `"INSTANCE"`"""
    implicit: str = ""
    r"""regular expression for methods that operators, printing and the like run. Example: PHP: `'__\w+'`"""
    folded: bool = False
    """names are alike whatever letters are capitals, and are kept in small ones. Example: Fortran: true"""
    object_first: bool = False
    """`f(x)` means the method f of x, if it has one; the object of a method is a parameter. Example: MATLAB: true"""
    flat_chains: bool = False
    """one node of the grammar holds all calls of a chain. Example: MATLAB: true, `a.b(1).c(2)`"""
    several: bool = False
    """names that stand for several procedures, of which a call means one by its arguments. Example: Fortran: true"""
    grouped: bool = False
    """a name may stand for a list of procedures, of which a call means one by its arguments. Example: Odin: true"""
    dispatched: bool = False
    """types of arguments choose among methods of a name; files are put together by inclusion. Example: Julia: true"""
    regions: bool = False
    """names are looked up in the regions around them, which go on in other files. Example: Ada: true"""
    bodies_first: bool = False
    """what is only declared is numbered last; inner functions hide outer ones that are alike. Example: VHDL: true"""

    def spell_member(self, name: str) -> str:
        """Return the name by which uses know a member that is declared with this one."""
        return f"{'$' if self.keys else ''}{name.removeprefix(self.sigil)}"

    @property
    def has_overloads(self) -> bool:
        """True if functions of one name are distinguished by their parameters."""
        return self.overloads or self.callables_apart


@dataclass(frozen=True, slots=True)
class ModuleSettings:
    """Modules and packages of a language."""

    system: ModuleSystem
    """how imports name files; see step 1. Example: `"dotted"`"""
    index_stems: tuple[str, ...]
    """files that stand for their folder. Example: `["__init__"]`, `["index"]`"""
    extensions: tuple[str, ...]
    """extensions to try, in order, for an import without one. Example: `[".js", ".ts"]`"""
    compiled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """extension in an import -> extensions of the files it may mean. Example: `{ ".js" = [".ts"] }`"""
    wildcard_list: str = ""
    """variable that lists what a wildcard import brings. Example: `"__all__"`"""
    require: str = ""
    """function that imports. Example: `"require"`"""
    external_parts: int = 1
    """number of leading parts that name an external library; 0: unresolved imports are no library. Example: Java: 3,
    `org.junit.jupiter`"""
    targets: tuple[str, ...] = ()
    """files below a manifest at which module trees begin; the library first. Example: `["src/lib.rs"]`"""
    relative: tuple[tuple[str, str], ...] = ()
    """first names of a path -> `root`, `here` or `above`. Example: `{ crate = "root" }`"""
    namespaces: bool = False
    """with `declared`: packages hold functions and constants; names begin in the file's package; files without a
    package share one. Example: PHP: true"""
    constraint: str = ""
    older_constraint: str = ""
    """prefix of a line with build tags (`&&`, `||`, `!`); of the older form. Example: Go: `"//go:build "`, `"// +build
    "`
    """
    constraint_list: bool = False
    """commas in a line with build tags stand between alternatives; files may hide names. Example: Odin: true"""
    platforms: tuple[str, ...] = ()
    """tags that may hold without being requested. Example: `["linux", "amd64"]`"""
    default_build_tags: tuple[str, ...] = ()
    """of these, the ones of the most common platform; an import prefers them. Example: `["linux", "amd64"]`"""
    collections: tuple[str, ...] = ()
    """with `folder`: what begins paths of the language's own packages, up to a colon. Example: Odin: `["core"]`"""
    reopened: bool = False
    """with `declared`: declarations of one qualified name are one type. Example: Ruby: true"""
    flat: bool = False
    """with `namespaces`: `A::B` is no member of `A`, and the own file's packages come first. Example: Perl: true"""
    inclusion: bool = False
    """with `declared`: types are known everywhere, functions to files that include theirs. Example: Ruby: true"""
    folders: tuple[str, ...] = ()
    """with `dotted`: folders that are roots of module names. With `declared`: folders to search for included paths.
    Example: Ruby: `["lib"]`"""
    quoted: bool = False
    """with `inclusion`: imports in functions are passed on to files that include theirs. Example: Elixir: true"""
    anywhere: bool = False
    """with `dotted`: a module is a file whose path ends like it, in capitalized folders, and passes on what it exports.
    Example: Haskell: true"""
    mentioned: bool = False
    """with `anywhere`: naming a module imports it; its files begin with a small letter, and dune says what library
    holds it. Example: OCaml: true"""
    libraries: bool = False
    """with `path`: an import brings all names, and passes nothing on; what `part` names is a part of the file. Example:
    Dart: true
    """
    beside: bool = False
    """with `path`: a path with an extension that does not begin with a dot is relative, too. Example: Zig: true"""
    labels: bool = False
    """with `path`: files are named by labels of a build, `//pkg:file`. Example: Starlark: true"""
    holds_functions: bool = False
    """with `declared`: packages hold functions and values. Example: Kotlin: true"""
    shared: bool = False
    """with `declared`: files without a package share one. Example: Swift: true"""
    file_classes: bool = False
    """with `declared`: a file is a class, of its own name or that of the file; a project names objects that are there.
    Example: GDScript: true"""
    marked_folders: bool = False
    """with `declared`: folders say by `+` the package, by `@` the class, and `private` that only the folder around sees
    them; others know of a file what is named like it. Example: MATLAB: true"""
    passing: bool = False
    """with `namespaces`: imports hold in their scope, and a namespace passes them on. Example: Fortran: true"""
    pasted: bool = False
    """with `namespaces`: an included file stands in what includes it. Example: SystemVerilog: true"""
    opened: bool = False
    """with `declared`: `open` brings all of a namespace or module, the last one first, and what opens itself in it.
    Example: F#: true"""
    facade: str = ""
    facade_name: str = ""
    """with `declared`: end of the name of the type that holds the top of a file for other languages; regular expression
    of another name in the text. Example: Kotlin: `"Kt"`"""
    headers: tuple[str, ...] = ()
    """extensions of files meant to be included. Of other files, only linked names are known. Example: C: `[".h"]`"""
    system_names: tuple[str, ...] = ()
    """what system headers declare, and files mean that include one and no other; or what the language has, with
    `passing` or `names.alike`. Example: C: `["kill", "snprintf"]`"""
    include_folders: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    """folders searched for included files; files that are never the repository's in angle brackets. Example: C:
    `["include"]`, `["stdio.h"]`"""
    sees_enclosing_packages: bool = False
    """with `declared`: files see the packages around their own. Example: C#: true"""
    projects: tuple[str, ...] = ()
    """suffix of a project file; a re-exporting star import, and `<Using>` in it, holds for all files below. Example:
    C#: `[".csproj"]`"""

    @property
    def names_types(self) -> bool:
        """True if a constant may be another name for a type or a file."""
        return self.beside or self.file_classes

    @property
    def shares_names(self) -> bool:
        """True if a name that a file does not know may be another file's."""
        return self.namespaces or self.opened or self.shared

    @property
    def shows_side_effects(self) -> bool:
        """True if side-effect imports change what other files can resolve.

        This holds for textual includes, for parts of libraries and for packages that re-export. Elsewhere such an
        import only adds an edge.
        """
        is_shown = self.inclusion or self.libraries or self.pasted
        return is_shown or self.system in (ModuleSystem.INCLUDE, ModuleSystem.DOTTED)


@dataclass(frozen=True, slots=True)
class TypeSettings:
    """Types and annotations of a language."""

    # Each is a key of caches: identity is quick.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    transparent: tuple[str, ...] = ()
    """generic types with the members of their first argument. Example: `["Box", "Arc"]`"""
    conditional: tuple[str, ...] = ()
    """generic types that are their second argument if a condition, their first one, holds. Example: C++:
    `["enable_if_t"]`"""
    before_names: bool = False
    """the annotation stands before the names it is for. Example: Java: true, `Shop x`"""
    literals: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """letter of a literal argument -> parameter types that take it, best first; `*` for capitalized names; with
    `modules.headers`, whose types convert, the one type of the literal. Example: `i = ["int", "long"]`"""
    class_types: tuple[str, ...] = ()
    """types of `A::class` or `A.class`, and of `A::class.java`. Example: Kotlin: `["KClass", "Class"]`"""
    prefixed: bool = False
    """types stand before what they hold, names have block scope, and calling a type converts. Example: Go: true"""
    spellings: tuple[tuple[str, str], ...] = ()
    r"""with it: regular expressions, and what Go writes for them in types and values. Example: Odin: `[['\^', ""]]`"""
    items_first: bool = False
    """with it: a loop names the item of a collection before its number. Example: Odin: true"""
    constructor_functions: tuple[str, ...] = ()
    identity_functions: tuple[str, ...] = ()
    """with it: functions that make a value of a type, that return their argument. Example: `["new"]`, `["append"]`"""
    structural: bool = False
    """a type implements each interface whose methods it has. Example: Go: true"""
    contracts: bool = False
    """a class has no members from the interfaces it implements. Example: TypeScript: true"""
    outside: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """with it: standard-library types -> method signatures, types whose methods they include; `func` before other
    types'. Example: `"io.Reader" = ["Read(p []byte) (int, error)"]`"""
    holders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ranged: tuple[str, ...] = ()
    """outside generics: methods returning the argument; those that loops run over. Example: `"atomic.Pointer" =
    ["Load"]`, `["iter.Seq"]`"""
    unwrap_methods: tuple[str, ...] = ()
    """methods returning their receiver or its content. Example: `["unwrap"]`"""
    wrapping: tuple[str, ...] = ()
    """functions whose result holds their argument. Example: `["Some", "Arc::new"]`"""
    factory_methods: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    """functions that return one or several instances of a type that lacks them. Example: `["default"]`, `["where"]`"""
    makers: tuple[str, ...] = ()
    """methods that make an instance of the class they are called on, whoever defines them. Example: Perl: `["new"]`"""
    instancing: tuple[str, ...] = ()
    """functions that make an instance of their last argument, or of its `__index`. Example: Lua: `["setmetatable"]`"""
    held: tuple[tuple[str, str], ...] = ()
    """generic bases -> their member that is of the last type argument. Example: Dart: `{ State = "widget" }`"""
    kept: tuple[tuple[str, str], ...] = ()
    """calls that keep functions -> how these are reached. Example: JavaScript: `{ defineStore = "()" }`"""
    deferred: tuple[tuple[str, str], ...] = ()
    """calls on a class that queue it -> its method that runs; "" on a function. Example: PHP: `{ run = "handle" }`"""
    delegates: tuple[str, ...] = ()
    """nested types whose members count, too. Example: Rust: `["Target"]`, Kotlin: `["Companion"]`"""
    containers: tuple[str, ...] = ()
    """generic collections, known by their elements (the second argument if there are two). Example: `["Vec"]`"""
    above: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """types from outside -> those above them, the nearest first. Example: Julia: `Bool = ["Integer", "Real"]`"""
    marks_ahead: str = ""
    """regular expression of marks ahead of a type, whose arguments are in parentheses. Example: Zig: `'[?*]'`"""
    elements: tuple[str, ...] = ()
    collection_methods: tuple[str, ...] = ()
    """collection methods that return one element; those that return all or some. Example: `["first"]`, `["iter"]`"""
    callback_methods: tuple[str, ...] = ()
    """methods that call a function with the elements or the content. Example: `["map"]`"""
    iterator_methods: tuple[str, ...] = ()
    """iterator methods that return the next element. Example: `["next"]`"""
    annotation_before_name: bool = False
    """the annotation stands right before one name only. Example: PHP: true, `Shop $x`"""
    bracketed: bool = False
    """generic arguments stand in square brackets. Example: Scala: true, `List[Shop]`"""
    memberless_types: tuple[str, ...] = ()
    """types without members; ignored in a union. Example: `["int", "null"]`"""
    unions: bool = False
    """`A|B` and `A&B` have the members of both. Example: PHP: true"""
    unwrap_properties: tuple[str, ...] = ()
    """the same for properties, which are not called. Example: Kotlin: `["value"]`"""
    generic: bool = False
    functions: tuple[str, ...] = ()
    """arguments of other generic types are kept; those of which the last is what a function returns. Example: C#: true,
    `["Func"]`"""
    tuples: bool = False
    """members of a tuple are numbered, and its types are kept. Example: Rust: true"""
    giving: tuple[str, ...] = ()
    inferred_by_arguments: bool = False
    """functions giving their type argument, `[]`: several; calls say what parameters do not. Example: `["Of"]`, true"""
    setting: tuple[str, ...] = ()
    """collection methods that set a variable to an element. Example: C#: `["TryGetValue"]`"""
    gathering: tuple[str, ...] = ()
    """functions that collect their arguments. Example: Kotlin: `["listOf"]`"""
    casts: bool = False
    """`x as T` says that x is a T. Example: TypeScript: true"""
    operators: str = ""
    """what stands before a sign in the name of a method that operators run. Example: C++: `"operator"`"""
    string_members: bool = False
    """a string in brackets names a member. Example: TypeScript: true, `a["b"]`"""
    listed: bool = False
    """the grammar has no node around arguments: they are read from the text behind a callee. Example: Solidity: true"""
    messages: bool = False
    """methods are called by messages, and named by all labels of one. Example: Objective-C: true, `[a set:x at:1]`"""
    indexed: bool = False
    """an element is of the type before the name of the array: `T a[3]`. Example: SystemVerilog: true"""
    called_elements: bool = False
    """an element of an array is written like a call. Example: Fortran: true"""
    arrow: str = ""
    """mark in function types. Example: TypeScript: `"=>"`"""


@dataclass(frozen=True, slots=True)
class ConversionSettings:
    """Conversions of what a call is given into what a parameter takes, where they choose between overloads."""

    numbers: str = ""
    """regular expression of types that convert into one another. Example: `'int|long'`"""
    promoted: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """types -> those that they become first. Example: `short = ["int"]`"""
    truth: str = ""
    null: str = ""
    function: str = ""
    """types of truth values, of a pointer to nothing, of functions without a name. Example: `"bool"`, `"nullptr_t"`,
    `"lambda"`"""
    any_pointer: str = ""
    """type to which every pointer converts. Example: `"void*"`"""
    characters: tuple[str, ...] = ()
    """types to which an alias may point whose name ends like them. Example: `["char"]`"""
    text: str = ""
    """regular expression of types from outside to which literal text converts first. Example: `'std\\.string'`"""
    argument_list: str = ""
    """type for which only its own values are given. Example: `"va_list"`"""
    related: tuple[str, ...] = ()
    wide: str = ""
    """endings of outside types that derive from one another; beginning of those that derive from no others.
    Example: `["stream"]`, `"w"`"""


@dataclass(frozen=True, slots=True)
class ShapeSettings:
    """Generic types and functions by the values they hold or return."""

    # Each is a key of a cache: identity is quick.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    sequences: tuple[str, ...] = ()
    mappings: tuple[str, ...] = ()
    tuples: tuple[str, ...] = ()
    """generic collections; `sequences` makes a [shaped language](#shaped-languages). Example: `["list"]`, `["dict"]`,
    `["tuple"]`
    """
    functions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    unions: tuple[str, ...] = ()
    """generic types of functions (last: the result), types, unions. Example: `["Callable"]`, `["type"]`, `["Union"]`"""
    transparent: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ("None",)
    """generic types that stand for their first argument; types that say nothing. Example: `["Optional"]`, `["Any"]`"""
    keeping: tuple[str, ...] = ()
    counting: tuple[str, ...] = ()
    taking: tuple[str, ...] = ()
    casting: tuple[str, ...] = ()
    """functions that keep, count, take one, or cast. Example: `["sorted"]`, `["enumerate"]`, `["next"]`, `["cast"]`"""
    elements: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    """methods for an element, a collection, an element and more. Example: `["pop"]`, `["copy"]`, `["get_or_create"]`"""
    stores: tuple[str, ...] = ()
    querying: tuple[str, ...] = ()
    """members by which libraries find instances; their method. Example: `["objects"]`, `["get_queryset"]`"""
    fields: tuple[tuple[str, str], ...] = ()
    """calls that give what their first argument names -> the generic type around it. Example: `{ ForeignKey = "" }`"""
    items: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    """mapping methods that return pairs, values, keys. Example: `["items"]`, `["values"]`, `["keys"]`"""
    iterating: tuple[str, ...] = ()
    stepping: tuple[str, ...] = ()
    indexing: tuple[str, ...] = ()
    entering: tuple[str, ...] = ()
    accessing: tuple[str, ...] = ()
    """methods that define iteration, next, index, context entry and what an attribute gives. Example: `["__iter__"]`,
    `["__next__"]`, `["__getitem__"]`, `["__enter__"]`, `["__get__"]`
    """
    records: tuple[str, ...] = ()
    """bases that make a tuple of the class fields. Example: `["NamedTuple"]`"""
    enums: tuple[str, ...] = ()
    """bases whose fields are instances of the class. Example: `["Enum"]`"""
    enum_values: tuple[str, ...] = ()
    """members of a member of such a class that are the value it is given. Example: `["value"]`"""
    builtins: tuple[str, ...] = ()
    """builtin functions and types that return nothing of the repository. Example: `["open", "len"]`"""
    giving: tuple[str, ...] = ()
    calling: tuple[str, ...] = ()
    """functions that return their first argument, or what it gives. Example: `["create_task"]`, `["to_thread"]`"""
    gathering: tuple[str, ...] = ()
    applying: tuple[str, ...] = ()
    filtering: tuple[str, ...] = ()
    """functions that return a tuple of their arguments; that call their first argument for each element; that keep
    elements of their second. Example: `["gather"]`, `["map"]`, `["filter"]`"""
    passing: frozenset[str] = field(init=False, repr=False)  # all functions whose result is made of their argument
    passing_methods: frozenset[str] = field(init=False, repr=False)  # last names of those that may be methods

    def __post_init__(self) -> None:
        methods = (*self.giving, *self.calling, *self.gathering, *(name for name, _ in self.fields))
        functions = (*self.keeping, *self.counting, *self.taking, *self.casting, *self.applying)
        object.__setattr__(self, "passing", frozenset((*functions, *self.filtering, *methods)))
        object.__setattr__(self, "passing_methods", frozenset(name for name in methods if "." not in name))


@dataclass(frozen=True, slots=True)
class TestSettings:
    """Rules that recognize tests."""

    mark: str = ""
    r"""regular expression of a `@lead` that makes a definition a test. Example: Rust: `'#\[test\]'`"""
    marks: tuple[str, ...] = ()
    """annotation names that make a test. Example: `["Test"]`"""
    functions: str = ""
    """regular expression of test functions; without it, `mark` and `marks` a test file is one. Example: `"test.*"`"""
    methods: str = ""
    """regular expression of methods that are tests in such a file. Example: Ruby: `"test_.*"`"""
    names: tuple[str, ...] = ()
    """names of test files and types; `*` is the tested name. Example: `["test_*"]`"""
    suite: str = ""
    r"""signatures of members of a suite, which no code calls; where the group `apart` matches, they are not in scope.
    Example: C++: `'TEST_F\('`
    """
    fixtures: str = ""
    """file whose fixtures all tests below its folder see. Example: Python: `"conftest.py"`"""


@dataclass(frozen=True, slots=True)
class HandlerSettings:
    """Calls that are given a string and a function, of which the function is a handler."""

    verbs: tuple[str, ...] = ()
    """last names of callees that register the function behind their first argument, a string. Example: `["on", "get"]`
    """
    tests: tuple[str, ...] = ()
    """those whose function is a test. Example: `["it", "test"]`"""
    modifiers: tuple[str, ...] = ()
    """names that may follow either. Example: `["only", "each"]`"""
    substitutions: tuple[str, ...] = ()
    """marks in a string that is not the same in each run, and hence no name. Example: `["${"]`"""
    types: tuple[str, ...] = ()
    """names of types whose methods a framework calls, with `*`; never guessed. Example: Ruby: `["*Controller"]`"""


@dataclass(frozen=True, slots=True)
class LambdaSettings:
    """Functions without a name that are given to a call."""

    implicit: str = ""
    """name of the only parameter that a lambda does not declare. Example: Kotlin: `"it"`"""
    handing: tuple[str, ...] = ()
    receiving: tuple[str, ...] = ()
    receiving_first: tuple[str, ...] = ()
    """methods whose function gets the receiver; whose function has the receiver as its own object; functions whose
    function has the first argument so. Example: Kotlin: `["let"]`, `["apply"]`, `["with"]`
    """
    pairing: tuple[str, ...] = ()
    """methods in `types.callback_methods` whose function gets several elements; of others the last parameter gets one.
    Example: Kotlin: `["sortedWith"]`"""
    yielding: tuple[str, ...] = ()
    mapping: tuple[str, ...] = ()
    """methods that return what their function gives, or a collection of it. Example: Kotlin: `["run"]`, `["map"]`"""
    types: tuple[str, ...] = ()
    """generic types of functions, by the first argument; with `types.functions` their arguments choose among overloads.
    Example: Java: `["Consumer"]`"""
    blocks: bool = False
    """a function without a name may have a block right behind its parameters. Example: Dart: true, `(x) { … }`"""
    takers: tuple[str, ...] = ()
    """external types of functions, which get their first type arguments. Example: Kotlin: `["Consumer"]`"""


@dataclass(frozen=True, slots=True)
class LookupSettings:
    """A way to read a value by a literal name."""

    kind: str
    """what a lookup by literal name reads: `env` or `config`. Example: `"env"`"""
    word: str
    """word that occurs in each such use. Example: `"getenv"`"""
    read: str = ""
    written: str = ""
    r"""regular expressions of what follows the word, with a group `key`. Example: `'\("(?P<key>\w+)"'`"""
    modules: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    """libraries the accessor comes from; global objects that hold such values. Without both the word suffices. Example:
    `["os"]`"""


@dataclass(frozen=True, slots=True)
class CommentSettings:
    """Comments of a language."""

    line: tuple[str, ...]
    """what begins a comment. Example: `["//"]`"""
    doc: str
    """`string` (first in the body), `comment` (above), `sentence` (first sentence above, without markup) or `pod`.
    Example: `"comment"`
    """
    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """tags before a type in documentation: `type`, `parameter`, `returns`, `member`. Example: PHP: `{ parameter =
    ["@param"] }`
    """
    open_body: bool = False
    """a comment on its own line in a definition belongs to the body, although the grammar puts it before. Example:
    Ruby: true
    """


@dataclass(frozen=True, slots=True)
class Repair:
    """Replacement in a text with syntax errors, before it is parsed again."""

    match: str
    put: str = " "
    silent: bool = False
    r"""on errors, or always if `silent`: each byte matched (or its group `mark`, or its first one) becomes `put`,
    default a space; a longer `put` stands there once. Rows in `rows` that begin like the first begin at `level`. Names
    come from the original. Example: Kotlin: `match = '(?<![\w.])(o)pen(?=\()'`, `put = "_"`
    """


@dataclass(frozen=True, slots=True)
class Dialect:
    """One grammar and the files it reads."""

    name: str
    """dialect; unique among all languages. Example: `"tsx"`"""
    extensions: tuple[str, ...]
    """file extensions, lower case, with the dot. Example: `[".py", ".pyi"]`"""
    package: str
    function: str
    """Python package of the grammar, and its function that returns the language. Example: `"tree_sitter_python"`,
    `"language"`
    """
    queries: tuple[str, ...]
    """query files, joined; may come from another folder. Example: `["tags.scm"]`"""
    fallback: str = ""
    """dialect of the same folder that reads a file if this grammar meets errors and it skips less. Example: `"flow"`"""
    line_feed: bool = False
    """true if the grammar needs a line feed at the end of a file. Example: Kotlin: true"""
    names: tuple[str, ...] = ()
    """whole names of files without extension. Example: `["Rakefile"]`"""
    interpreters: tuple[str, ...] = ()
    """programs in a `#!` line, without version digits. Example: `["bash", "sh"]`"""
    claims: tuple[str, ...] = ()
    signs: str = ""
    r"""extensions of another dialect; this one reads the file if a regular expression matches its bytes. Example: C++:
    `[".h"]`, `'^namespace\b'`
    """
    shared: tuple[str, ...] = ()
    """own extensions that other languages have, too: a file that `signs` do not match is text. Example: `[".m"]`"""


@dataclass(frozen=True, slots=True)
class PreprocessorSettings:
    """Text that the grammar does not see."""

    conditions: bool = False
    """remove branches of conditional compilation that do not close what they open. Example: C: true"""
    statements: bool = False
    """on errors, remove branches that do not end the statements that they begin. Example: Fortran: true"""
    never: str = ""
    """regular expression of conditions that never hold; `!` precedes an undefined name. Example: C: `'0$'`"""
    blank: tuple[str, ...] = ()
    r"""regular expressions of text to hide from the grammar, or their group `mark`; a group `stop` becomes a
    semicolon, `gives` an equals sign, `word` one word. A remark `(?#a|b)` ahead names words of which a text with a
    match has one. The name of a file stands for its list `blank`. Example: C: `['\bWINAPI\b']`"""


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """A folder of `grammars/`; dialects share everything but the grammar."""

    name: str
    """the language; equal to the folder name. Example: `"python"`"""
    family: str
    """languages used together in one program; default: the name. Example: `"ecmascript"`"""
    dialects: tuple[Dialect, ...]
    names: NameSettings
    modules: ModuleSettings
    comments: CommentSettings
    builtin_methods: Mapping[str, None] = field(default_factory=dict)
    """methods of builtin types; never guessed on an unknown receiver. Example: `["append", "keys"]`"""
    builtin_names: tuple[str, ...] = ()
    """names of the language; uses are not kept. Example: `["len", "nil"]`"""
    builtin_objects: tuple[str, ...] = ()
    """objects of the language; their methods are never the repository's. Example: `["Reflect"]`"""
    types: TypeSettings = TypeSettings()
    shapes: ShapeSettings = ShapeSettings()
    tests: TestSettings = TestSettings()
    handlers: HandlerSettings = HandlerSettings()
    lambdas: LambdaSettings = LambdaSettings()
    lookups: tuple[LookupSettings, ...] = ()
    preprocessor: PreprocessorSettings = PreprocessorSettings()
    conversions: ConversionSettings = ConversionSettings()
    repairs: tuple[Repair, ...] = ()
    extra: str = ""
    """extra of this program that installs the grammar; without it files of the language are text. Example: `"zig"`"""

    @property
    def inherits_names(self) -> bool:
        """True if a bare name may be a member of a base that is not of the repository."""
        return self.modules.file_classes or (self.names.bare_calls and not self.names.object_first)
