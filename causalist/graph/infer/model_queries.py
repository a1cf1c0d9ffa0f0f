"""Queries of databases: what a library gives of the classes that it keeps in tables, and what a query finds.

In: a class, a query of it, and the name of a member. Out: values; the instances that a query finds are elements of a
collection. `Plan.objects.active()` (Django), `Plan::active()` (Laravel) and `Plan.active` (Rails) are such members.
"""

from causalist._internal.lazy import dataclass, field
from causalist.graph.infer.base import InferenceBase
from causalist.graph.program import Program
from causalist.graph.resolution_results import BUILTIN, KNOWN_KINDS, QUERY, Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE
from causalist.model.language_settings import TypeSettings
from causalist.model.node_ids import NodeKind
from causalist.model.type_notation import RETURNED, STRING_TARGET, split_top

_MAX_DEPTH = 24  # chains that are being read at the same time
_STORES = ("Manager", "QuerySet", "as_manager")  # words in what a class is given for its queries
_OF_CLASS = "def self."  # begins functions of a class
_OF_MODEL = (ValueKind.DEFINITION, ValueKind.INSTANCE, ValueKind.COLLECTION)  # what a query may be asked of


@dataclass(slots=True, eq=False)
class ModelQueries:
    """Queries that libraries for databases give of the classes that they keep in tables, and what these find."""

    inference: InferenceBase
    program: Program
    models: dict[str, list[int]] = field(default_factory=dict)  # classes by their names, when one is asked for

    def model_named(self, file: int, scope: int, name: str) -> int:
        """Return the class that a text names, with or without its application, or -1."""
        program, (label, _, last) = self.program, name.removeprefix(STRING_TARGET).rpartition(".")
        if not self.models:
            for number, definition in enumerate(program.definition_of):
                if definition.kind == NodeKind.CLASS and definition.parent == MODULE_SCOPE:
                    self.models.setdefault(definition.name, []).append(number)
        own, named = _application_of(program.files[file].path), []
        for each in self.models.get(last, ()):
            at = _application_of(program.files[program.file_of[each]].path)
            if at.rpartition("/")[2] == label if label else at == own:
                named.append(each)
        found = named[0] if len(named) == 1 else self.definition_named(file, scope, last)
        return found if found >= 0 and program.is_type(found) else -1

    def definition_named(self, file: int, scope: int, name: str) -> int:
        """Return the definition that a name, or the text for a class, means in a scope, or -1."""
        if name[0] == STRING_TARGET:
            return self.model_named(file, scope, name)
        value = self.inference.infer_chain(file, scope, name)
        return value.number if value is not None and value.kind is ValueKind.DEFINITION else -1

    def with_instances(self, value: Value, name: str, member: Value | None) -> Value | None:
        """Return a member of a class; one by which a library finds the instances of the class is a collection of them.

        A class that the repository defines for it may have further methods.
        """
        program = self.program
        settings = program.files[program.file_of[value.number]].settings
        if settings is None or not settings.shapes.stores or not program.is_type(value.number):
            return member
        is_store = name in settings.shapes.stores
        if not is_store and (
            member is None
            or member.kind is not ValueKind.DEFINITION
            or program.definition_of[member.number].kind != NodeKind.FIELD
            or not any(word in program.definition_of[member.number].signature for word in _STORES)
        ):
            return member
        if member is None and self.inference.derived_from_outside.isdisjoint(program.linear_bases(value.number)):
            return None
        rule = RuleName.ATTRIBUTE_TYPE
        content = self.inference.content_of_value(member) if member is not None else None
        library = content.name if content is not None and content.kind is ValueKind.EXTERNAL else ""
        instance = Value(ValueKind.INSTANCE, value.number, rule)
        found = Value(ValueKind.SEQUENCE, -1, rule, library, parts=(instance, BUILTIN), type=QUERY)
        if content is None or content.kind is not ValueKind.INSTANCE:
            return found if is_store else member
        querying = (program.find_member(content.number, each)[0] for each in settings.shapes.querying)
        method = Value(ValueKind.DEFINITION, max(querying, default=-1), content.rule)
        queried = self.inference.call_result(method) if method.number >= 0 else None
        is_own = queried is not None and queried.kind is ValueKind.INSTANCE and queried.number != content.number
        return Value.union((content, queried if is_own else None, found))

    def member_of(self, file: int, query: Value, name: str, found: Value | None) -> Value | None:
        """Return a member of a query, of which `found` is what its parts have.

        A method of the library leads to such a query again, and one of the repository to what it says of it.
        """
        parts = () if found is None else found.parts if found.kind is ValueKind.UNION else (found,)
        own = [each for each in parts if each.kind is ValueKind.DEFINITION]
        if own:
            return Value.union(each._replace(type=QUERY, parts=(query,)) for each in own)
        settings = self.program.files[file].settings
        is_kept = settings is not None and name in settings.shapes.copies
        return Value(ValueKind.CALLABLE, -1, query.rule, parts=(query,)) if is_kept else found

    def result_of(self, method: Value) -> Value:
        """Return what a method that the repository has for queries gives: the query, unless it says something else."""
        program, (query,) = self.program, method.parts
        file = program.file_of[method.number]
        symbols = program.files[file]
        local, key, settings = method.number - symbols.first, (QUERY, method.number), symbols.settings
        first = symbols.bindings.get(local, {}).get(RETURNED)
        if first is None or settings is None or key in self.inference.unfolding:
            return query
        if self.inference.depth >= _MAX_DEPTH:
            return query
        self.inference.unfolding.add(key)
        results: list[Value | None] = []
        for each in symbols.several.get((local, RETURNED), (first,)):
            for chain in split_top(each.value, "|"):
                head, dot, rest = chain.partition(".")
                if head in settings.names.self_names:
                    parts = ["", *rest.split(".")] if dot else [""]
                    results.append(self.inference.follow_members(file, query, parts, 1))
                else:
                    results.append(self.inference.infer_chain(file, local, chain))
        self.inference.unfolding.discard(key)
        result = Value.union(results)
        return result if result is not None and result.kind in (*KNOWN_KINDS, ValueKind.UNION) else query

    def of_own_class(self, definition: int) -> Value | None:
        """Return the query that a class asks for by a name alone, `where(a: 1)`, or that a filter of it gives."""
        owner = definition if self.program.is_type(definition) else self.program.enclosing_owner(definition)
        is_type = owner >= 0 and self.program.is_type(owner)
        return Value(ValueKind.COLLECTION, owner, RuleName.CONSTRUCTED) if is_type else None

    def is_filter(self, definition: int) -> bool:
        """Return True for what a statement such as `scope :active` defines."""
        settings = self.program.files[self.program.file_of[definition]].settings
        signature = self.program.definition_of[definition].signature
        queries = settings.types.queries if settings is not None else ()
        return any(each[-1] == "*" and signature.startswith(f"{each[:-1]} ") for each in queries)

    def filter_of(self, settings: TypeSettings, value: Value, name: str, is_run: bool) -> Value | None:
        """Return a filter that a class has for its queries, or the query that it gives where `is_run`; else None.

        `Plan::active()` runs `scopeActive`; what `scope :active` defines, and functions of the class, run on queries.
        """
        program = self.program
        if value.kind not in _OF_MODEL or not program.is_type(value.number):
            return None
        prefix = next((each[:-1] for each in settings.queries if each[-1] == "*"), "")
        number, is_query = program.find_member(value.number, name)[0], True
        if number < 0:
            number = program.find_member(value.number, f"{prefix}{name[:1].upper()}{name[1:]}")[0]
        else:
            signature = program.definition_of[number].signature
            is_query = signature.startswith(f"{prefix} ")
            if not is_query and not (value.kind is ValueKind.COLLECTION and signature.startswith(_OF_CLASS)):
                return None
        if not prefix or number < 0:
            return None
        rule = value.rule if value.kind is not ValueKind.DEFINITION else RuleName.CLASS_ATTRIBUTE
        method = Value(ValueKind.DEFINITION, number, rule)
        if not is_run:
            return method
        given = None if is_query else self.inference.call_result(method)
        return given or Value(ValueKind.COLLECTION, value.number, RuleName.CONSTRUCTED)


def _application_of(path: str) -> str:
    """Return the folder of the application in whose models a file is."""
    folder = path.rpartition("/")[0]
    return folder.removesuffix("/models") if f"/{folder}".endswith("/models") else folder
