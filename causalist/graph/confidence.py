"""What a rule is worth: how often its edges are right, as measured against compilers and type checkers.

In: `confidence.json`, which ships with the package and is written by `python -m tests.benchmarks.edges.calibrate`. Out:
a number in (0, 1] for a rule, the kind of an edge and the language that it is written in, and what that number rests
on. A rule that was never measured has the mean of the measured rules whose evidence is of the same kind.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from causalist.graph._precision_file import shipped_confidences
from causalist.graph.rules import GUESSES, MOST_OF_A_GUESS, RULE_NUMBER, RULES, Evidence
from causalist.model.graph import EdgeKind

# What is counted together. Kinds that nothing measures are taken to be as right as calls by the same rule.
GROUPS: Mapping[EdgeKind, str] = {
    EdgeKind.IMPORTS: "imports",
    EdgeKind.EXTENDS: "extends",
    EdgeKind.IMPLEMENTS: "extends",
}
OTHERS = "calls"


class Measured(NamedTuple):
    """What a confidence rests on: edges that were judged in a number of repositories. `language` is "" where they are
    of all languages; `kinds` is the group of kinds that was counted."""

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

    def of(self, rule: str, kind: EdgeKind, language: str) -> float:
        """The confidence of an edge of that kind in that language, if it has no rivals."""
        _, evidence, _, stated, _ = RULES[RULE_NUMBER[rule]]
        if evidence is Evidence.STRUCTURE:
            return 1.0
        if stated is not None:
            return stated
        measured = self.measured(rule, kind, language)
        return measured.confidence if measured else self.evidence[evidence.name.lower()]

    def of_edge(self, rule: str, kind: EdgeKind, language: str, candidates: int) -> float:
        """The same for an edge to one of several candidates, which share it, and no more than `most`."""
        return min(self.most(rule, language), self.of(rule, kind, language) / candidates)

    def most(self, rule: str, language: str) -> float:
        """What an edge by that rule may claim: MOST_OF_A_GUESS for guesses, unless more than half of all that were made
        are right, those at calls which no compiler resolves being counted as wrong: of all, or in that language."""
        if rule not in GUESSES:
            return 1.0
        group = self.rules.get(rule, {}).get(OTHERS, {})
        is_shown = any(map(_is_mostly_right, (group, group.get("languages", {}).get(language, {}))))
        return 1.0 if is_shown else MOST_OF_A_GUESS

    def measured(self, rule: str, kind: EdgeKind, language: str) -> Measured | None:
        """What the confidence rests on; None where the rule was not measured for such edges."""
        name = GROUPS.get(kind, OTHERS)
        read = RULES[RULE_NUMBER[rule]].read
        if read is not None:
            return Measured(self.of(rule, kind, language), *read, kind.label)
        group = self.rules.get(rule, {}).get(name)
        if group is None:
            return None
        own = group["languages"].get(language, {})
        part = own if "confidence" in own else group
        return Measured(
            part["confidence"],
            part["right"],
            part["wrong"],
            part["repositories"],
            name,
            language if part is own else "",
        )

    def unmeasured(self) -> tuple[str, ...]:
        """Rules whose confidence is that of their kind of evidence, whatever the kind of the edge."""
        return tuple(
            rule.name
            for rule in RULES
            if rule.evidence is not Evidence.STRUCTURE and rule.stated is None and not self.rules.get(rule.name)
        )


def _is_mostly_right(counts: Mapping[str, Any]) -> bool:
    """Whether more than half are right; without a count of those at calls that nothing resolves, this is not known."""
    known = "unjudged" in counts
    return known and 2 * int(counts["right"]) > int(counts["right"]) + int(counts["wrong"]) + int(counts["unjudged"])


@lru_cache(maxsize=1)
def load_confidences() -> Confidences:
    """The table that is shipped."""
    return read_confidences(shipped_confidences())


def read_confidences(data: bytes) -> Confidences:
    content = json.loads(data)
    provenance = {key: value for key, value in content.items() if key not in ("rules", "evidence")}
    return Confidences(content["rules"], content["evidence"], provenance, sha256(data).hexdigest()[:16])
