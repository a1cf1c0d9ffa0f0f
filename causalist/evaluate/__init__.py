"""Retrieval quality on labeled questions: each is asked at the commit before its answer; ranks are compared."""

from causalist.evaluate.learn import Learning, learn
from causalist.evaluate.own_history import OwnReport, evaluate_history
from causalist.evaluate.report import Report, own_json, own_text
from causalist.evaluate.run import evaluate

__all__ = ["Learning", "OwnReport", "Report", "evaluate", "evaluate_history", "learn", "own_json", "own_text"]
