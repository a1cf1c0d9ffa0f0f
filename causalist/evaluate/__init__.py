"""Retrieval quality on labelled questions: each is asked of the commit before its answer, and ranks are compared."""

from causalist.evaluate.report import Report
from causalist.evaluate.run import evaluate

__all__ = ["Report", "evaluate"]
