"""Confidences: what a table says of an edge, the table that is shipped, and which evidence counts."""

import json

import pytest

from causalist.graph import (
    RULES,
    Confidences,
    Evidence,
    RuleMeasurement,
    evidence_sort_key,
    load_confidences,
    read_confidences,
)
from causalist.graph.rules import GUESSES, RULE_NAMES, RULE_NUMBER
from causalist.model.graph import EdgeKind
from causalist.parse import load_settings

TABLE = {
    "command": "made by hand",
    "evidence": {"names": 0.9, "types": 0.8, "guess": 0.3},
    "rules": {
        "import": {
            "calls": {
                "confidence": 0.95,
                "right": 95,
                "wrong": 5,
                "claims": 100.0,
                "repositories": 4,
                "languages": {
                    "python": {"confidence": 0.5, "right": 5, "wrong": 5, "claims": 10.0, "repositories": 1},
                    "go": {"right": 90, "wrong": 0, "claims": 90.0, "repositories": 3},
                },
            },
            "extends": {
                "confidence": 0.7, "right": 7, "wrong": 3, "claims": 10.0, "repositories": 1, "languages": {},
            },
        },
        "annotation": {},
    },
}  # fmt: skip


@pytest.fixture
def table() -> Confidences:
    return read_confidences(json.dumps(TABLE).encode())


class TestTable:
    @pytest.mark.parametrize(
        ("rule", "kind", "language", "confidence"),
        [
            ("import", EdgeKind.CALLS, "python", 0.5),  # a number of its own
            ("import", EdgeKind.CALLS, "go", 0.95),  # measured, and as good as the rule
            ("import", EdgeKind.CALLS, "cobol", 0.95),
            ("import", EdgeKind.EXTENDS, "python", 0.7),
            ("import", EdgeKind.IMPLEMENTS, "python", 0.7),
            ("import", EdgeKind.REFERENCES, "python", 0.5),  # as calls
            ("import", EdgeKind.IMPORTS, "python", 0.9),  # never measured: as its kind of evidence
            ("annotation", EdgeKind.CALLS, "python", 0.8),
            ("unique-name", EdgeKind.CALLS, "python", 0.3),  # not in the table at all
            ("contains", EdgeKind.CONTAINS, "python", 1.0),
        ],
    )
    def test_what_it_says(
        self, rule: str, kind: EdgeKind, language: str, confidence: float, table: Confidences
    ) -> None:
        assert table.confidence_of(rule, kind, language) == confidence

    def test_what_it_rests_on(self, table: Confidences) -> None:
        assert table.measurement_of("import", EdgeKind.CALLS, "python") == RuleMeasurement(
            0.5, 5, 5, 1, "calls", "python"
        )
        assert table.measurement_of("import", EdgeKind.CALLS, "go") == RuleMeasurement(0.95, 95, 5, 4, "calls", "")
        assert table.measurement_of("annotation", EdgeKind.CALLS, "go") is None

    def test_what_was_not_measured(self, table: Confidences) -> None:
        stated = {rule.name for rule in RULES if rule.stated is not None}
        assert set(RULE_NAMES) - set(table.unmeasured_rules()) - stated == {"contains", "import"}

    def test_what_nothing_can_measure_is_stated(self, table: Confidences) -> None:
        assert table.confidence_of("test-name", EdgeKind.TESTS, "python") == 0.6

    def test_a_guess_stays_below_what_is_shown_as_certain(self, table: Confidences) -> None:
        sure = read_confidences(json.dumps({**TABLE, "evidence": {"names": 0.9, "types": 0.8, "guess": 0.88}}).encode())
        assert sure.confidence_of_edge("unique-name", EdgeKind.CALLS, "go", 1) == 0.49
        assert sure.confidence_of_edge("name-only", EdgeKind.CALLS, "go", 2) == 0.44
        assert sure.confidence_of_edge("import", EdgeKind.CALLS, "go", 2) == 0.475

    def test_a_guess_is_shown_where_most_are_right_even_if_those_that_nobody_judged_are_wrong(self) -> None:
        go = {"confidence": 0.9, "right": 6, "wrong": 1, "unjudged": 4, "repositories": 2}
        python = {"right": 9, "wrong": 0, "unjudged": 9, "repositories": 2}
        group = {"confidence": 0.8, "right": 15, "wrong": 1, "unjudged": 13, "repositories": 4}
        rules = {"unique-name": {"calls": {**group, "languages": {"go": go, "python": python}}}}
        sure = read_confidences(json.dumps({**TABLE, "rules": rules}).encode())
        # 15 of 29 in all: shown in every language
        assert sure.confidence_of_edge("unique-name", EdgeKind.CALLS, "go", 1) == 0.9
        assert sure.confidence_of_edge("unique-name", EdgeKind.CALLS, "python", 1) == 0.8
        group["unjudged"] = 14  # 15 of 30 are no more than half: only where it is so in the language, 6 of 11
        rules = {"unique-name": {"calls": {**group, "languages": {"go": go, "python": python}}}}
        sure = read_confidences(json.dumps({**TABLE, "rules": rules}).encode())
        assert sure.confidence_of_edge("unique-name", EdgeKind.CALLS, "go", 1) == 0.9
        assert sure.confidence_of_edge("unique-name", EdgeKind.CALLS, "python", 1) == 0.49
        assert sure.confidence_of_edge("unique-name", EdgeKind.CALLS, "java", 1) == 0.49

    def test_its_digest_names_its_content(self, table: Confidences) -> None:
        other = {**TABLE, "evidence": {"names": 0.91, "types": 0.8, "guess": 0.3}}
        assert read_confidences(json.dumps(other).encode()).digest != table.digest


class TestShipped:
    def test_it_says_where_it_comes_from(self) -> None:
        provenance = load_confidences().provenance
        assert {"command", "formula", "repositories", "not_judged"} <= set(provenance)
        assert all(len(each["commit"]) == 40 for each in provenance["repositories"])
        assert len(provenance["repositories"]) >= 40

    def test_it_lists_no_rule_that_is_gone(self) -> None:
        assert set(load_confidences().rules) <= set(RULE_NAMES)

    def test_counts_and_confidences_agree(self) -> None:
        """A confidence is the share of right claims, but for what priors and caps do to it."""
        for groups in load_confidences().rules.values():
            for group in groups.values():
                assert 0 < group["confidence"] < 1
                assert group["right"] == sum(each["right"] for each in group["languages"].values())
                assert group["wrong"] == sum(each["wrong"] for each in group["languages"].values())
                assert set(group["languages"]) <= {each.name for each in load_settings().values()}
                if group["claims"] >= 1000 and not group["wrong"]:
                    assert group["confidence"] >= 0.98

    def test_guesses_are_worth_less_than_all_else(self) -> None:
        evidence = load_confidences().evidence
        assert 0.5 < evidence["guess"] < 0.9 < min(evidence["names"], evidence["types"]) < 1

    def test_most_rules_are_measured(self) -> None:
        assert len(load_confidences().unmeasured_rules()) <= 0.2 * len(RULES)


class TestEvidence:
    def test_rules_are_numbered_in_their_order(self) -> None:
        assert [RULE_NUMBER[rule.name] for rule in RULES] == list(range(len(RULES)))
        guesses = {"named-receiver", "like-named", "unique-in-sight", "unique-name", "name-only", "common-name"}
        assert guesses == GUESSES
        assert [rule.name for rule in RULES if rule.evidence is Evidence.STRUCTURE] == ["contains"]

    def test_what_is_known_comes_before_what_is_guessed(self) -> None:
        seen = [("unique-name", 1), ("annotation", 2), ("annotation", 1), ("self", 1), ("name-only", 2)]
        assert sorted(seen, key=lambda each: evidence_sort_key(*each)) == [
            ("self", 1), ("annotation", 1), ("annotation", 2), ("unique-name", 1), ("name-only", 2),
        ]  # fmt: skip
