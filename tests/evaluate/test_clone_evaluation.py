"""The two forms of a report, from results written by hand."""

import json

import pytest

from causalist.evaluate.clone_evaluation import EvaluationOptions, Report, Timings
from causalist.evaluate.mining import LabelledQuestion
from causalist.evaluate.results import (
    FILE_SYSTEMS,
    QuestionResult,
    Ranks,
    SkippedQuestion,
    summarize_files,
    summarize_symbols,
)


def question(name: str, lang: str, hard: bool, gold: int = 1, symbols: int = 0) -> LabelledQuestion:
    files = tuple(f"f{i}.py" for i in range(gold))
    return LabelledQuestion(
        1, name, f"acme/{lang}", lang, "0" * 40, "?", files, tuple(f"f.py::s{i}" for i in range(symbols)), hard
    )


def result(asked: LabelledQuestion, *ranks: Ranks, symbols: tuple[Ranks, ...] = ()) -> QuestionResult:
    """`ranks`: of the four systems, as they stand in FILE_SYSTEMS."""
    files = dict(zip(FILE_SYSTEMS, ranks, strict=True))
    return QuestionResult(asked, files, dict(zip(("fused", "graph off"), symbols, strict=False)), (), 2.0)


RESULTS = (
    result(question("a", "python", False), (1,), (2,), (None,), (4,)),
    result(
        question("b", "python", True, gold=2, symbols=2),
        (1, 3),
        (1, None),
        (5, 20),
        (1, 11),
        symbols=((1, 12), (2, None)),
    ),
    result(question("c", "typescript", True), (1,), (1,), (1,), (1,)),
)


@pytest.fixture(scope="module")
def report() -> Report:
    gone = SkippedQuestion(question("d", "go", False), "no clone at x")
    return Report(
        EvaluationOptions("rows.jsonl", 20, ("python", "typescript", "go"), None),
        RESULTS,
        (gone, gone, gone, gone),
        summarize_files(RESULTS),
        summarize_symbols(RESULTS),
        Timings.of(RESULTS, [100.0, 300.0, 200.0], 12.34, 2),
    )


@pytest.mark.slow
def test_means_and_paired_differences(report: Report) -> None:
    everything = report.files[0]
    fused, off = everything.systems["fused"], everything.systems["graph off"]
    # fused: a and c are right at 1; b needs both of 1 and 3. Accuracy@1 2/3, @3 3/3, MRR 1.
    assert [round(fused[m].value, 4) for m in ("accuracy@1", "accuracy@3", "MRR")] == [0.6667, 1.0, 1.0]
    # graph off: at 1 only c (b misses one), at 3 a and c; MRR (1/2 + 1 + 1) / 3 = 5/6; recall@10 (1 + 1/2 + 1) / 3.
    assert [round(off[m].value, 4) for m in ("accuracy@1", "accuracy@3", "MRR", "recall@10")] == [
        0.3333,
        0.6667,
        0.8333,
        0.8333,
    ]
    # Differences question by question. Accuracy@1: 1, 0, 0. MRR: 1/2, 0, 0.
    difference = everything.differences["graph off"]
    assert difference["accuracy@1"].value == pytest.approx(1 / 3)
    assert difference["MRR"].value == pytest.approx(1 / 6)
    assert difference["MRR"].low == 0.0
    assert "fused" not in everything.differences


@pytest.mark.slow
def test_groups(report: Report) -> None:
    assert [(s.name, s.n) for s in report.files] == [
        ("all", 3),
        ("hard", 2),
        ("language:python", 2),
        ("language:typescript", 1),
    ]
    # Only b names symbols: recall@10 1/2 (1 and 12), accuracy@10 0.
    assert [(s.name, s.n) for s in report.symbols] == [("all", 1), ("hard", 1), ("language:python", 1)]
    fused = report.symbols[0].systems["fused"]
    assert (fused["recall@10"].value, fused["accuracy@10"].value) == (0.5, 0.0)
    assert summarize_symbols(RESULTS[:1]) == ()
    assert [s.name for s in summarize_files(RESULTS[:1])] == ["all", "language:python"]


def test_document(report: Report) -> None:
    document = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert document["format_version"] == 1
    assert list(document) == [
        "format_version",
        "settings",
        "files",
        "symbols",
        "timings",
        "skipped",
        "rows",
    ]
    group = document["files"]["all"]
    assert list(group) == ["n", "systems", "fused_minus"]
    assert list(group["systems"]) == ["fused", "graph off", "whole-file BM25", "whole-file BM25, code only"]
    assert list(group["systems"]["fused"]) == [
        "accuracy@1",
        "accuracy@3",
        "accuracy@5",
        "accuracy@10",
        "MRR",
        "recall@10",
        "recall@20",
    ]
    assert group["systems"]["fused"]["MRR"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert list(group["fused_minus"]) == ["graph off", "whole-file BM25", "whole-file BM25, code only"]
    assert list(group["fused_minus"]["graph off"]) == ["accuracy@1", "accuracy@10", "MRR", "recall@20"]
    assert document["timings"] == {
        "total_s": 12.34,
        "ranking_ms_median": 2.0,
        "indexing_ms_median": 200.0,
        "commits": 3,
        "processes": 2,
    }
    row = document["rows"][1]
    assert row["id"] == "b"
    assert row["ranks"]["graph off"] == [1, None]
    assert row["symbol_ranks"] == {"fused": [1, 12], "graph off": [2, None]}
    assert document["skipped"][0] == {"id": "d", "line": 1, "repo": "acme/go", "reason": "no clone at x"}


def test_text(report: Report) -> None:
    lines = report.to_text().splitlines()
    assert lines[0] == (
        "rows.jsonl: 3 questions on 2 repositories (4 skipped); lists of 20; 95% intervals from 2,000 resamples"
    )
    header = next(i for i, line in enumerate(lines) if "accuracy@3" in line)
    assert lines[header + 1] == "all (3)"
    assert lines[header + 2].split()[:2] == ["fused", "66.7"]
    # Every cell of a column begins where its heading does.
    for name in ("accuracy@3", "MRR", "recall@10"):
        column = lines[header].index(name)
        assert all(lines[header + i][column - 2 : column] == "  " for i in (2, 3, 4, 5))
        assert all(lines[header + i][column].isdigit() for i in (2, 3, 4, 5))
    assert any(line.startswith("all: fused − graph off") and "+33.3 [" in line for line in lines)
    assert any(line == "Symbols" for line in lines)
    assert "ranking 2.0 ms a question (median); indexing 200 ms a commit (median of 3); 12.3 s in all" in lines[-2]
    assert lines[-1] == "skipped 4, acme/go: no clone at x [d, d, d, …]"
