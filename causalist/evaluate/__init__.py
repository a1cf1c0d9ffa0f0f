"""Retrieval quality on labeled questions: each is asked at the commit before its answer; ranks are compared."""

from causalist.evaluate.clone_evaluation import Report, evaluate, own_report_data, render_own_report
from causalist.evaluate.own_history import Learning, OwnReport, evaluate_history, learn

__all__ = [
    "Learning",
    "OwnReport",
    "Report",
    "evaluate",
    "evaluate_history",
    "learn",
    "own_report_data",
    "render_own_report",
]
