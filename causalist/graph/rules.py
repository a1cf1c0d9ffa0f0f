"""Rules: how an edge was found, the evidence behind it, and its measured precision as a confidence.

In: the names of rules, and `rule_precision.json`, which ships with the package and is written by
`python -m tests.benchmarks.edges.calibrate`. Out: a number in (0, 1] for a rule, the kind of an edge and the language
that it is written in, and the counts that this number rests on. A rule that was never measured has the mean of the
measured rules with the same kind of evidence.
"""

import json
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph._precision_file import shipped_confidences
from causalist.model.graph import BUILD_VARIANT, METHOD_SET, EdgeKind


class Evidence(IntEnum):
    """Kinds of evidence for an edge, the surest first. Where several sites make one edge, the surest counts."""

    STRUCTURE = 0  # it is so by definition
    NAMES = 1  # scopes, imports and members that are written out
    TYPES = 2  # the type of the receiver, as stated or as it follows from what is stated
    GUESS = 3  # the name of a member, of whatever type


class RuleName(StrEnum):
    """Names of the rules, in the order of `RULES`. Indexes and JSON hold the plain values: never change one."""

    CONTAINS = "contains"
    PATH = "path"
    PACKAGE = "package"
    SAME_FILE = "same-file"
    IMPORT = "import"
    RE_EXPORT = "re-export"
    PACKAGE_SCOPE = "package-scope"
    STAR_IMPORT = "star-import"
    MODULE_ATTRIBUTE = "module-attribute"
    SELF = "self"
    INHERITED = "inherited"
    METHOD_SET = METHOD_SET
    SUPER = "super"
    CLASS_ATTRIBUTE = "class-attribute"
    ANNOTATION = "annotation"
    CONSTRUCTED = "constructed"
    ATTRIBUTE_TYPE = "attribute-type"
    RETURN_TYPE = "return-type"
    INFERRED_RETURN = "inferred-return"
    HELD = "held"
    OBJECT_MEMBER = "object-member"
    ALTERNATIVE = "alternative"
    TRAIT_IN_SCOPE = "trait-in-scope"
    NAMED_RECEIVER = "named-receiver"
    LIKE_NAMED = "like-named"
    UNIQUE_IN_SIGHT = "unique-in-sight"
    UNIQUE_NAME = "unique-name"
    NAME_ONLY = "name-only"
    COMMON_NAME = "common-name"
    BASE_METHOD = "base-method"
    TRAIT_METHOD = "trait-method"
    TEST_SUBJECT = "test-subject"
    TEST_CALL = "test-call"
    TEST_HELPER = "test-helper"
    TEST_FILE = "test-file"
    TEST_NAME = "test-name"
    NAMED_KEY = "named-key"
    KEY_OF_CONFIG = "key-of-config"
    DOC_PATH = "doc-path"
    DOC_FILE = "doc-file"
    DOC_ROLE = "doc-role"
    DOC_QUALIFIED = "doc-qualified"
    DOC_LIKE_NAMED = "doc-like-named"
    DOC_NAME = "doc-name"
    DOC_WORD = "doc-word"
    DOC_EXAMPLE = "doc-example"
    EXTERNAL = "external"
    ROUTE = "route"
    REQUEST = "request"
    EVENT = "event"
    ROUTE_NAME = "route-name"
    FIXTURE = "fixture"
    STRING_TARGET = "string-target"
    KEPT = "kept"
    NAME_PREFIX = "name-prefix"
    BUILD_VARIANT = BUILD_VARIANT
    TABLE = "table"
    MODEL_TABLE = "model-table"
    QUERY = "query"
    ENV_SET = "env-set"
    ENV_READ = "env-read"
    ENV_ASKED = "env-asked"
    TEMPLATE = "template"
    TEMPLATE_INCLUDE = "template-include"
    VIEW_NAME = "view-name"
    TEXT_KEY = "text-key"
    TEXT = "text"
    RUN_FILE = "run-file"
    RUN_TARGET = "run-target"
    OPERATION = "operation"
    PROCEDURE = "procedure"
    RESOURCE = "resource"
    UNIQUE_SELECTOR = "unique-selector"
    DEFERRED = "deferred"
    MESSAGE = "message"
    QUEUED = "queued"
    HANDLED = "handled"
    CONNECTED = "connected"
    OVERLOAD = "overload"
    BOUND = "bound"


class Rule(NamedTuple):
    """Rule by which edges are found.

    `stated` is the confidence of what no compiler can measure, since it is a matter of words: which calls of a test are
    what it is for, which names are those of a configuration, what documentation means. `read`: (right, wrong,
    repositories) of edges that were judged by reading them, where it follows from these
    (`tests/benchmarks/mentions`).
    """

    name: RuleName
    evidence: Evidence
    meaning: str
    stated: float | None = None
    read: tuple[int, int, int] | None = None


RULES: tuple[Rule, ...] = (
    Rule(RuleName.CONTAINS, Evidence.STRUCTURE, "the definition or section stands inside of the other"),
    Rule(RuleName.PATH, Evidence.NAMES, "an import that names a file by its path or dotted module"),
    Rule(RuleName.PACKAGE, Evidence.NAMES, "an import that names a package of the repository by its manifest"),
    Rule(RuleName.SAME_FILE, Evidence.NAMES, "a name that the file itself defines, by scope"),
    Rule(RuleName.IMPORT, Evidence.NAMES, "a name that the file imports from the file that defines it"),
    Rule(RuleName.RE_EXPORT, Evidence.NAMES, "an imported name, followed through files that pass it on"),
    Rule(RuleName.PACKAGE_SCOPE, Evidence.NAMES, "a name that another file of the same package defines at its top"),
    Rule(RuleName.STAR_IMPORT, Evidence.NAMES, "a name from a module of which everything is imported"),
    Rule(RuleName.MODULE_ATTRIBUTE, Evidence.NAMES, "an attribute of an imported module"),
    Rule(RuleName.SELF, Evidence.NAMES, "a member of the enclosing class, through self or this"),
    Rule(RuleName.INHERITED, Evidence.TYPES, "a member found along the resolved bases"),
    Rule(
        RuleName.METHOD_SET,
        Evidence.TYPES,
        "an interface of which a type has all methods, in a language that asks no more",
    ),
    Rule(RuleName.SUPER, Evidence.TYPES, "a member of a base, through super"),
    Rule(RuleName.CLASS_ATTRIBUTE, Evidence.NAMES, "a member of a class, named by the class"),
    Rule(RuleName.ANNOTATION, Evidence.TYPES, "a member of the type that the receiver is annotated with"),
    Rule(RuleName.CONSTRUCTED, Evidence.TYPES, "a member of the class that the receiver was made of"),
    Rule(RuleName.ATTRIBUTE_TYPE, Evidence.TYPES, "a member of the type that an attribute of self holds"),
    Rule(RuleName.RETURN_TYPE, Evidence.TYPES, "a member of the type that a called function is annotated to return"),
    Rule(
        RuleName.INFERRED_RETURN, Evidence.TYPES, "a member of what a function without an annotation is seen to return"
    ),
    Rule(RuleName.HELD, Evidence.TYPES, "a function or class that a called constant, field or property holds"),
    Rule(RuleName.OBJECT_MEMBER, Evidence.NAMES, "a function held by an object literal or assigned to a name's member"),
    Rule(
        RuleName.ALTERNATIVE,
        Evidence.NAMES,
        "one of several functions or classes that the called name is given in turn",
    ),
    Rule(
        RuleName.TRAIT_IN_SCOPE,
        Evidence.TYPES,
        "a method of the one visible trait that has it; the type is none seen here",
    ),
    Rule(
        RuleName.NAMED_RECEIVER,
        Evidence.GUESS,
        "the receiver is unknown; a type with that method, which the file defines, imports or names, is called like it",
    ),
    Rule(
        RuleName.LIKE_NAMED,
        Evidence.GUESS,
        "the receiver is unknown; one type, or object, with that method is called like it",
    ),
    Rule(
        RuleName.UNIQUE_IN_SIGHT,
        Evidence.GUESS,
        "the receiver is unknown; one method has that name, of a type that the file defines, imports or names",
    ),
    Rule(RuleName.UNIQUE_NAME, Evidence.GUESS, "the receiver is unknown; one method of the repository has that name"),
    Rule(RuleName.NAME_ONLY, Evidence.GUESS, "the receiver is unknown; two or three methods have that name"),
    Rule(RuleName.COMMON_NAME, Evidence.GUESS, "the receiver is unknown; four methods or more have that name"),
    Rule(RuleName.BASE_METHOD, Evidence.TYPES, "a method of the nearest base or interface that has one of its name"),
    Rule(RuleName.TRAIT_METHOD, Evidence.NAMES, "a method of the trait that the block around implements"),
    Rule(RuleName.TEST_SUBJECT, Evidence.NAMES, "a test calls what it, or its file, is named after", 0.95),
    Rule(RuleName.TEST_CALL, Evidence.NAMES, "a test calls it", 0.7),
    Rule(
        RuleName.TEST_HELPER,
        Evidence.NAMES,
        "a function of tests that is no test, and that a test calls, calls it",
        0.4,
    ),
    Rule(RuleName.TEST_FILE, Evidence.NAMES, "the names of test and tested fit, and one uses the other", 0.9),
    Rule(RuleName.TEST_NAME, Evidence.NAMES, "the names of test and tested fit", 0.6),
    Rule(
        RuleName.NAMED_KEY,
        Evidence.NAMES,
        "an environment variable or key of a configuration, of what is known to hold it",
        0.98,
    ),
    Rule(RuleName.KEY_OF_CONFIG, Evidence.NAMES, "a key, asked of something that is called like a configuration", 0.7),
    Rule(
        RuleName.DOC_PATH,
        Evidence.NAMES,
        "documentation names a file with its folder, or links to it",
        0.94,
        (14, 0, 3),
    ),
    Rule(
        RuleName.DOC_FILE,
        Evidence.NAMES,
        "documentation for developers names a file without its folder",
        0.86,
        (5, 0, 3),
    ),
    Rule(
        RuleName.DOC_ROLE,
        Evidence.NAMES,
        "a cross-reference or directive of a documentation tool names it",
        0.93,
        (13, 0, 3),
    ),
    Rule(
        RuleName.DOC_QUALIFIED,
        Evidence.NAMES,
        "a code span in documentation names it, with what stands around it",
        0.95,
        (17, 0, 4),
    ),
    Rule(
        RuleName.DOC_LIKE_NAMED,
        Evidence.NAMES,
        "a code span names the member of something called like its type",
        0.92,
        (22, 1, 6),
    ),
    Rule(
        RuleName.DOC_NAME,
        Evidence.NAMES,
        "a code span names it alone, by a name that is no plain word",
        0.85,
        (22, 3, 6),
    ),
    Rule(RuleName.DOC_WORD, Evidence.NAMES, "a code span names it alone, by a plain word", 0.54, (12, 10, 6)),
    Rule(RuleName.DOC_EXAMPLE, Evidence.NAMES, "an example in documentation uses the name", 0.96, (25, 0, 6)),
    Rule(RuleName.EXTERNAL, Evidence.NAMES, "a name that comes from a package outside of the repository"),
    Rule(RuleName.ROUTE, Evidence.NAMES, "a framework is told that it handles this path", 0.95),
    Rule(RuleName.REQUEST, Evidence.NAMES, "a client asks for a path that fits the route", 0.8),
    Rule(
        RuleName.ROUTE_NAME,
        Evidence.NAMES,
        "it asks for the path of the route of that name",
        0.99,
        (94, 0, 7),
    ),
    Rule(RuleName.EVENT, Evidence.NAMES, "it handles an event of the name that is emitted", 0.7),
    Rule(RuleName.FIXTURE, Evidence.NAMES, "a parameter of a test is named like a fixture in sight", 0.97),
    Rule(RuleName.STRING_TARGET, Evidence.NAMES, "a string is its dotted name", 0.95),
    Rule(RuleName.KEPT, Evidence.NAMES, "it is kept under the name that is called on an unknown receiver", 0.8),
    Rule(RuleName.NAME_PREFIX, Evidence.NAMES, "a member whose name begins like one that is computed", 0.9),
    Rule(RuleName.BUILD_VARIANT, Evidence.NAMES, "several definitions have that name; a build compiles one of them"),
    Rule(RuleName.TABLE, Evidence.NAMES, "it makes or changes the table, or has a key of it", 0.83, (42, 8, 9)),
    Rule(
        RuleName.MODEL_TABLE,
        Evidence.NAMES,
        "it says that it is stored in the table, or is named like it",
        0.83,
        (42, 8, 6),
    ),
    Rule(RuleName.QUERY, Evidence.NAMES, "a query in it names the table", 0.98, (50, 0, 6)),
    Rule(RuleName.ENV_SET, Evidence.NAMES, "it gives the environment variable a value", 0.98, (50, 0, 13)),
    Rule(
        RuleName.ENV_READ,
        Evidence.NAMES,
        "the value of the environment variable or secret is put in",
        0.98,
        (50, 0, 13),
    ),
    Rule(
        RuleName.ENV_ASKED,
        Evidence.NAMES,
        "it asks for a name that a file sets as environment variable",
        0.99,
        (67, 0, 8),
    ),
    Rule(RuleName.TEMPLATE, Evidence.NAMES, "it names the template to render", 0.92, (47, 3, 7)),
    Rule(RuleName.TEMPLATE_INCLUDE, Evidence.NAMES, "a template includes or extends it", 0.92, (47, 3, 7)),
    Rule(RuleName.VIEW_NAME, Evidence.NAMES, "a view of the name of the action", 0.99, (100, 0, 7)),
    Rule(RuleName.TEXT_KEY, Evidence.NAMES, "it shows the text of that key", 0.98, (99, 1, 8)),
    Rule(RuleName.TEXT, Evidence.NAMES, "the text of that key stands in it", 0.99, (75, 0, 7)),
    Rule(RuleName.RUN_TARGET, Evidence.NAMES, "it runs a script or target of the file by its name", 0.96, (48, 1, 10)),
    Rule(RuleName.RUN_FILE, Evidence.NAMES, "it runs, copies, builds or includes the file", 0.92, (47, 3, 11)),
    Rule(
        RuleName.OPERATION,
        Evidence.NAMES,
        "a description of the interface has an operation of that path",
        0.89,
        (75, 8, 8),
    ),
    Rule(
        RuleName.PROCEDURE,
        Evidence.NAMES,
        "it handles the procedure, in a type that is based on the service",
        0.92,
        (93, 7, 6),
    ),
    Rule(RuleName.RESOURCE, Evidence.NAMES, "a resource, variable or module of the same folder", 0.99, (100, 0, 9)),
    Rule(
        RuleName.UNIQUE_SELECTOR,
        Evidence.NAMES,
        "the receiver of the message is unknown; one class of the repository has a method for it",
        0.95,
        (200, 8, 3),
    ),
    Rule(RuleName.DEFERRED, Evidence.TYPES, "a call on the class queues a job, and the queue runs the method"),
    Rule(RuleName.MESSAGE, Evidence.TYPES, "it handles messages of the type that is sent", 0.98, (59, 0, 7)),
    Rule(
        RuleName.QUEUED,
        Evidence.NAMES,
        "a queue, a scheduler or a console runs it by its name or type",
        0.95,
        (54, 2, 8),
    ),
    Rule(
        RuleName.HANDLED,
        Evidence.NAMES,
        "it handles a signal, an action, a channel or a saved type",
        0.94,
        (275, 18, 19),
    ),
    Rule(
        RuleName.CONNECTED,
        Evidence.TYPES,
        "it is connected to the signal of the type that emits it",
        0.97,
        (36, 0, 3),
    ),
    Rule(
        RuleName.OVERLOAD,
        Evidence.TYPES,
        "the overload that fits best, where what is known of the arguments does not decide",
        0.24,
        (3, 12, 2),
    ),
    Rule(
        RuleName.BOUND,
        Evidence.NAMES,
        "a template, scene, page or other process names it in the form of a framework",
        0.99,
        (354, 4, 15),
    ),
)

RULE_NAMES: tuple[str, ...] = tuple(rule.name.value for rule in RULES)  # plain strings: they are stored
RULE_NUMBER: dict[str, int] = {name: number for number, name in enumerate(RULE_NAMES)}
# Rules by which nothing is known of the receiver.
GUESSES = frozenset(rule.name.value for rule in RULES if rule.evidence is Evidence.GUESS)

# What a guess claims at most, unless more than half of its kind, or of its kind in that language, are right even if all
# at calls that no compiler resolves are wrong. It is measured where a compiler knows the receiver, and made where often
# none does. So it stays below what is shown as certain: in docker-py, such edges would be two of five shown.
MAX_GUESS_CONFIDENCE = 0.49

# More candidates than this say nothing: the edges would be noise below any threshold.
MAX_CANDIDATES = 8
# A build compiles one of so many functions of one name at most, one for each platform.
MAX_VARIANTS = 16
# One of so many methods of a name is meant more often than not; of more, hardly ever.
MAX_NAMESAKES = 3


def evidence_sort_key(rule: str, candidates: int) -> tuple[bool, int, int, int]:
    """Return a sort key for the evidence of an edge, the strongest first.

    It does not depend on measured confidences, so that measuring anew does not change what is measured.
    """
    number = RULE_NUMBER[rule]
    evidence = RULES[number].evidence
    return evidence is Evidence.GUESS, candidates, evidence, number


# What is counted together. Kinds that nothing measures are taken to be as right as calls by the same rule.
GROUPS: Mapping[EdgeKind, str] = {
    EdgeKind.IMPORTS: "imports",
    EdgeKind.EXTENDS: "extends",
    EdgeKind.IMPLEMENTS: "extends",
}
OTHERS = "calls"


class RuleMeasurement(NamedTuple):
    """Counts of judged edges behind a confidence.

    `language` is "" where they are of all languages; `kinds` is the group of kinds that was counted.
    """

    confidence: float
    right: int
    wrong: int
    repositories: int
    kinds: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Confidences:
    """The table. `provenance` says how it came about; `digest` names its content."""

    rules: Mapping[str, Mapping[str, Any]]
    evidence: Mapping[str, float]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def confidence_of(self, rule: str, kind: EdgeKind, language: str) -> float:
        """Return the confidence of an edge of that kind in that language if it is the only candidate."""
        _, evidence, _, stated, _ = RULES[RULE_NUMBER[rule]]
        if evidence is Evidence.STRUCTURE:
            return 1.0
        if stated is not None:
            return stated
        measured = self.measurement_of(rule, kind, language)
        return measured.confidence if measured else self.evidence[evidence.name.lower()]

    def confidence_of_edge(self, rule: str, kind: EdgeKind, language: str, candidates: int) -> float:
        """Return the confidence of an edge to one of several candidates, which share it, at most `max_confidence`."""
        return min(self.max_confidence(rule, language), self.confidence_of(rule, kind, language) / candidates)

    def max_confidence(self, rule: str, language: str) -> float:
        """Return the most that an edge by that rule may claim.

        For guesses this is MAX_GUESS_CONFIDENCE, unless more than half of those that were made are right, of all or in
        that language. Those at calls which no compiler resolves count as wrong.
        """
        if rule not in GUESSES:
            return 1.0
        group = self.rules.get(rule, {}).get(OTHERS, {})
        is_shown = any(map(_is_mostly_right, (group, group.get("languages", {}).get(language, {}))))
        return 1.0 if is_shown else MAX_GUESS_CONFIDENCE

    def measurement_of(self, rule: str, kind: EdgeKind, language: str) -> RuleMeasurement | None:
        """Return the counts behind a confidence; None where the rule was not measured for such edges."""
        name = GROUPS.get(kind, OTHERS)
        read = RULES[RULE_NUMBER[rule]].read
        if read is not None:
            return RuleMeasurement(self.confidence_of(rule, kind, language), *read, kind.label)
        group = self.rules.get(rule, {}).get(name)
        if group is None:
            return None
        own = group["languages"].get(language, {})
        part = own if "confidence" in own else group
        return RuleMeasurement(
            part["confidence"],
            part["right"],
            part["wrong"],
            part["repositories"],
            name,
            language if part is own else "",
        )

    def unmeasured_rules(self) -> tuple[str, ...]:
        """Return the rules whose confidence is that of their kind of evidence, whatever the kind of the edge."""
        return tuple(
            rule.name.value
            for rule in RULES
            if rule.evidence is not Evidence.STRUCTURE and rule.stated is None and not self.rules.get(rule.name)
        )


def _is_mostly_right(counts: Mapping[str, Any]) -> bool:
    """Return True if more than half are right; unknown without a count for unresolved calls."""
    has_unjudged = "unjudged" in counts
    return has_unjudged and 2 * int(counts["right"]) > int(counts["right"]) + int(counts["wrong"]) + int(
        counts["unjudged"]
    )


@lru_cache(maxsize=1)
def load_confidences() -> Confidences:
    """Load the table that is shipped."""
    return read_confidences(shipped_confidences())


def read_confidences(data: bytes) -> Confidences:
    """Parse a table of confidences from JSON."""
    content = json.loads(data)
    provenance = {key: value for key, value in content.items() if key not in ("rules", "evidence")}
    return Confidences(content["rules"], content["evidence"], provenance, sha256(data).hexdigest()[:16])
