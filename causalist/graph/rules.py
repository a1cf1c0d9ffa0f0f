"""How an edge was found, and what that is worth: one table from rule to confidence.

A confidence is meant to be the precision of its rule against a compiler-grade oracle (`docs/benchmarks.md`, edges).
**The numbers below are first guesses**, made before any measurement; the measurement that replaces them has to state
the precision and how to measure it again.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    name: str
    confidence: float
    meaning: str


RULES: tuple[Rule, ...] = (
    Rule("contains", 1.0, "the definition or section stands inside of the other"),
    Rule("path", 1.0, "an import that names a file by its path or dotted module"),
    Rule("package", 0.95, "an import that names a package of the repository by its manifest"),
    Rule("same-file", 0.98, "a name that the file itself defines, by scope"),
    Rule("import", 0.97, "a name that the file imports from the file that defines it"),
    Rule("re-export", 0.95, "an imported name, followed through files that pass it on"),
    Rule("package-scope", 0.96, "a name that another file of the same package defines at its top"),
    Rule("star-import", 0.9, "a name from a module of which everything is imported"),
    Rule("module-attribute", 0.96, "an attribute of an imported module"),
    Rule("self", 0.97, "a member of the enclosing class, through self or this"),
    Rule("inherited", 0.94, "a member found along the resolved bases"),
    Rule("method-set", 0.98, "an interface of which a type has all methods, in a language that asks for no more"),
    Rule("super", 0.94, "a member of a base, through super"),
    Rule("class-attribute", 0.95, "a member of a class, named by the class"),
    Rule("annotation", 0.9, "a member of the type that the receiver is annotated with"),
    Rule("constructed", 0.92, "a member of the class that the receiver was made of"),
    Rule("attribute-type", 0.88, "a member of the type that an attribute of self holds"),
    Rule("return-type", 0.85, "a member of the type that a called function is annotated to return"),
    Rule("object-member", 0.95, "a function held by an object literal or assigned to a name's member"),
    Rule("trait-in-scope", 0.9, "a method of the one visible trait that has it; the receiver is of no type seen here"),
    Rule("name-only", 0.4, "the receiver is unknown; the candidates are all methods of that name"),
    Rule("external", 0.9, "a name that comes from a package outside of the repository"),
)

RULE_NAMES: tuple[str, ...] = tuple(rule.name for rule in RULES)
RULE_NUMBER: dict[str, int] = {rule.name: number for number, rule in enumerate(RULES)}
CONFIDENCE: dict[str, float] = {rule.name: rule.confidence for rule in RULES}

# More candidates than this say nothing: the edges would be noise below any threshold.
MOST_CANDIDATES = 8
