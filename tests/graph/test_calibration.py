"""The arithmetic of the fit and of the calibration error, by hand."""

import numpy as np
import pytest

from causalist.graph import read_confidences
from causalist.model.graph import Edge
from tests.benchmarks.edges.calibrate import Count, Scheme, calibration, counted, error, fitted, held_out, log_loss
from tests.benchmarks.edges.golds import Judged
from tests.benchmarks.edges.predictions import Prediction, merged
from tests.benchmarks.edges.rust_sites import wilson

SCHEME = Scheme(cap=10, of_rule=2, of_language=4)
COUNTS = {
    # capped: a weighs 10 of its 20 claims, so 5 right of 10; b 6 of 10
    ("calls", "import"): [Count("a", "go", 10, 10, 20.0), Count("b", "python", 6, 4, 10.0)],
    ("calls", "self"): [Count("a", "go", 9, 0, 9.0)],
    # two claims of a half each make one
    ("calls", "name-only"): [Count("a", "go", 4, 4, 4.0)],
}


class TestFit:
    def test_evidence_is_the_mean_of_its_rules(self) -> None:
        # import: (5 + 6 + 0.5) / (10 + 10 + 1) = 0.548; self: (9 + 0.5) / (9 + 1) = 0.95
        assert fitted(COUNTS, SCHEME)["evidence"] == {"names": 0.749, "types": 0.5, "guess": 0.9}

    def test_rules_are_drawn_to_their_evidence_and_languages_to_their_rule(self) -> None:
        rules = fitted(COUNTS, SCHEME)["rules"]
        rule = rules["import"]["calls"]
        assert rule["confidence"] == pytest.approx((11 + 2 * 0.749) / 22, abs=5e-4)  # 0.568
        assert (rule["right"], rule["wrong"], rule["claims"], rule["repositories"]) == (16, 14, 30.0, 2)
        assert rule["languages"]["go"]["confidence"] == pytest.approx((5 + 4 * 0.568) / 14, abs=5e-4)
        assert rule["languages"]["python"]["confidence"] == pytest.approx((6 + 4 * 0.568) / 14, abs=5e-4)
        assert rules["self"]["calls"]["confidence"] == pytest.approx((9 + 2 * 0.749) / 11, abs=5e-4)  # 0.954
        # (9 + 4 * 0.954) / 13 = 0.986, which is worth saying
        assert rules["self"]["calls"]["languages"]["go"]["confidence"] == 0.986
        assert rules["annotation"] == {} and "contains" not in rules

    def test_no_count_makes_a_rule_certain(self) -> None:
        counts = {("calls", "self"): [Count(name, "go", 10**6, 0, 1e6) for name in "abcdef"]}
        rules = fitted(counts, Scheme(cap=1e6))["rules"]
        assert rules["self"]["calls"]["confidence"] == 0.999


def judged(repo: str, rule: str, right: bool, candidates: int = 1) -> Judged:
    edge = Prediction("calls", "a.py:f", "a.py:g", "python", False, ((rule, candidates),))
    return Judged(repo, "calls", edge, right)


class TestUnjudged:
    def test_they_are_counted_beside(self) -> None:
        unknown = judged("a", "unique-name", False)._replace(known=False)
        rows = [judged("a", "unique-name", True), judged("b", "unique-name", False), unknown, unknown]
        rule = fitted(counted(rows))["rules"]["unique-name"]["calls"]
        assert (rule["right"], rule["wrong"], rule["unjudged"], rule["claims"]) == (1, 1, 2, 2.0)
        assert rule["languages"]["python"]["unjudged"] == 2


class TestCalibration:
    def test_a_repository_has_no_part_in_its_own_table(self) -> None:
        rows = [judged("a", "self", True)] * 50 + [judged("b", "self", False)] * 50
        said = held_out(rows)
        assert (said[:50] < 0.1).all() and (said[50:] > 0.9).all()

    def test_the_error_by_hand(self) -> None:
        said, right = np.array([0.95, 0.95, 0.25, 0.25]), np.array([True, True, False, True])
        # bins: |1.9 - 2| and |0.5 - 1| over four rows
        assert error(said, right) == pytest.approx(0.15)
        found = calibration(said, right)
        assert found["error"] == 0.15 and found["interval"][0] <= 0.15 <= found["interval"][1]
        assert [(b["from"], b["edges"], b["confidence"], b["precision"]) for b in found["bins"]] == [
            (0.2, 2, 0.25, 0.5),
            (0.9, 2, 0.95, 1.0),
        ]
        assert calibration(said, right) == found

    def test_log_loss(self) -> None:
        assert log_loss(np.array([0.5, 0.25]), np.array([True, False])) == pytest.approx(-np.log(0.5 * 0.75) / 2)

    def test_wilson(self) -> None:
        assert wilson(22, 23) == pytest.approx((0.790, 0.992), abs=1e-3)  # as tables of the interval have it


class TestPredictions:
    def test_overloads_are_one_edge_that_adds_up(self) -> None:
        edges = [
            Edge("a.py::f", f"b.py::C.m{repeat}", "calls", "name-only", 0.0, 3, 1, candidates)
            for repeat, candidates in (("", 4), ("~2", 4))
        ]
        (row,) = merged(edges)
        assert (row.source, row.target, row.language, row.parts) == (
            "a.py:f", "b.py:C.m", "python", (("name-only", 4), ("name-only", 4)),
        )  # fmt: skip
        table = read_confidences(b'{"evidence": {"guess": 0.6}, "rules": {}}')
        assert row.confidence(table) == pytest.approx(0.3)
        assert Judged("a", "calls", row, True).claim == 0.5
