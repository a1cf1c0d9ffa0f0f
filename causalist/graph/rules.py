"""How an edge was found: the names of the rules, what they mean and which kind of evidence they rest on.

What a rule is worth is measured, and stands in `confidence.json`; a rule that was added since has what rules of its
kind of evidence are worth on average, until it is measured.
"""

from enum import IntEnum
from typing import NamedTuple


class Evidence(IntEnum):
    """What speaks for an edge, the surest first. Where several sites make one edge, the surest evidence counts."""

    STRUCTURE = 0  # it is so by definition
    NAMES = 1  # scopes, imports and members that are written out
    TYPES = 2  # the type of the receiver, as stated or as it follows from what is stated
    GUESS = 3  # the name of a member, of whatever type


class Rule(NamedTuple):
    """`stated` is the confidence of what no compiler can measure, since it is a matter of words: which calls of a test
    are what it is for, which names are those of a configuration, what documentation means. `read`: (right, wrong,
    repositories) of edges that were judged by reading them, where it follows from these
    (`tests/benchmarks/mentions`)."""

    name: str
    evidence: Evidence
    meaning: str
    stated: float | None = None
    read: tuple[int, int, int] | None = None


RULES: tuple[Rule, ...] = (
    Rule("contains", Evidence.STRUCTURE, "the definition or section stands inside of the other"),
    Rule("path", Evidence.NAMES, "an import that names a file by its path or dotted module"),
    Rule("package", Evidence.NAMES, "an import that names a package of the repository by its manifest"),
    Rule("same-file", Evidence.NAMES, "a name that the file itself defines, by scope"),
    Rule("import", Evidence.NAMES, "a name that the file imports from the file that defines it"),
    Rule("re-export", Evidence.NAMES, "an imported name, followed through files that pass it on"),
    Rule("package-scope", Evidence.NAMES, "a name that another file of the same package defines at its top"),
    Rule("star-import", Evidence.NAMES, "a name from a module of which everything is imported"),
    Rule("module-attribute", Evidence.NAMES, "an attribute of an imported module"),
    Rule("self", Evidence.NAMES, "a member of the enclosing class, through self or this"),
    Rule("inherited", Evidence.TYPES, "a member found along the resolved bases"),
    Rule("method-set", Evidence.TYPES, "an interface of which a type has all methods, in a language that asks no more"),
    Rule("super", Evidence.TYPES, "a member of a base, through super"),
    Rule("class-attribute", Evidence.NAMES, "a member of a class, named by the class"),
    Rule("annotation", Evidence.TYPES, "a member of the type that the receiver is annotated with"),
    Rule("constructed", Evidence.TYPES, "a member of the class that the receiver was made of"),
    Rule("attribute-type", Evidence.TYPES, "a member of the type that an attribute of self holds"),
    Rule("return-type", Evidence.TYPES, "a member of the type that a called function is annotated to return"),
    Rule("inferred-return", Evidence.TYPES, "a member of what a function without an annotation is seen to return"),
    Rule("held", Evidence.TYPES, "a function or class that a called constant, field or property holds"),
    Rule("object-member", Evidence.NAMES, "a function held by an object literal or assigned to a name's member"),
    Rule("alternative", Evidence.NAMES, "one of several functions or classes that the called name is given in turn"),
    Rule("trait-in-scope", Evidence.TYPES, "a method of the one visible trait that has it; the type is none seen here"),
    Rule(
        "named-receiver",
        Evidence.GUESS,
        "the receiver is unknown; a type with that method, which the file defines, imports or names, is called like it",
    ),
    Rule("like-named", Evidence.GUESS, "the receiver is unknown; one type with that method is called like it"),
    Rule(
        "unique-in-sight",
        Evidence.GUESS,
        "the receiver is unknown; one method has that name, of a type that the file defines, imports or names",
    ),
    Rule("unique-name", Evidence.GUESS, "the receiver is unknown; one method of the repository has that name"),
    Rule("name-only", Evidence.GUESS, "the receiver is unknown; two or three methods have that name"),
    Rule("common-name", Evidence.GUESS, "the receiver is unknown; four methods or more have that name"),
    Rule("base-method", Evidence.TYPES, "a method of the nearest base or interface that has one of its name"),
    Rule("trait-method", Evidence.NAMES, "a method of the trait that the block around implements"),
    Rule("test-subject", Evidence.NAMES, "a test calls what it, or its file, is named after", 0.95),
    Rule("test-call", Evidence.NAMES, "a test calls it", 0.7),
    Rule("test-helper", Evidence.NAMES, "a function of tests that is no test, and that a test calls, calls it", 0.4),
    Rule("test-file", Evidence.NAMES, "the names of test and tested fit, and one uses the other", 0.9),
    Rule("test-name", Evidence.NAMES, "the names of test and tested fit", 0.6),
    Rule(
        "named-key",
        Evidence.NAMES,
        "an environment variable or key of a configuration, of what is known to hold it",
        0.98,
    ),
    Rule("key-of-config", Evidence.NAMES, "a key, asked of something that is called like a configuration", 0.7),
    Rule("doc-path", Evidence.NAMES, "documentation names a file with its folder, or links to it", 0.94, (14, 0, 3)),
    Rule("doc-file", Evidence.NAMES, "documentation for developers names a file without its folder", 0.86, (5, 0, 3)),
    Rule(
        "doc-role", Evidence.NAMES, "a cross-reference or directive of a documentation tool names it", 0.93, (13, 0, 3)
    ),
    Rule(
        "doc-qualified",
        Evidence.NAMES,
        "a code span in documentation names it, with what stands around it",
        0.95,
        (17, 0, 4),
    ),
    Rule(
        "doc-like-named",
        Evidence.NAMES,
        "a code span names the member of something called like its type",
        0.92,
        (22, 1, 6),
    ),
    Rule("doc-name", Evidence.NAMES, "a code span names it alone, by a name that is no plain word", 0.85, (22, 3, 6)),
    Rule("doc-word", Evidence.NAMES, "a code span names it alone, by a plain word", 0.54, (12, 10, 6)),
    Rule("doc-example", Evidence.NAMES, "an example in documentation uses the name", 0.96, (25, 0, 6)),
    Rule("external", Evidence.NAMES, "a name that comes from a package outside of the repository"),
)

RULE_NAMES: tuple[str, ...] = tuple(rule.name for rule in RULES)
RULE_NUMBER: dict[str, int] = {rule.name: number for number, rule in enumerate(RULES)}
# Rules by which nothing is known of the receiver.
GUESSES = frozenset(rule.name for rule in RULES if rule.evidence is Evidence.GUESS)

# What a guess claims at most, unless more than half of its kind, or of its kind in that language, are right even if all
# at calls that no compiler resolves are wrong. It is measured where a compiler knows the receiver, and made where often
# nobody does, so that it stays below what is shown as certain: in docker-py, such edges would be two of five shown.
MOST_OF_A_GUESS = 0.49

# More candidates than this say nothing: the edges would be noise below any threshold.
MOST_CANDIDATES = 8
# One of so many methods of a name is meant more often than not; of more, hardly ever.
FEW_NAMESAKES = 3


def strength(rule: str, candidates: int) -> tuple[bool, int, int, int]:
    """Sorts what speaks for an edge, the strongest first. It does not depend on measured confidences, so that measuring
    anew does not change what is measured."""
    number = RULE_NUMBER[rule]
    evidence = RULES[number].evidence
    return evidence is Evidence.GUESS, candidates, evidence, number
