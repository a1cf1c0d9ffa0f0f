"""A question and its pack -> an answer in words by a language model, whose citations are checked against the pack.

The only part that sends what a repository says to somebody else; nothing here runs unless it is asked for by name.
"""

from causalist.llm.citations import Citation, CitationChecker
from causalist.llm.model import check_format, chosen_model, parts_of_answer, prompt_for

__all__ = ["Citation", "CitationChecker", "check_format", "chosen_model", "parts_of_answer", "prompt_for"]
