"""Query and pack -> a language model's answer, with citations checked against the pack.

Only this package and the embedders send repository text to others; nothing here runs unless asked for by name.
"""

from causalist.llm.citations import Citation, CitationChecker
from causalist.llm.model import build_prompt, check_format, load_model, stream_answer

__all__ = ["Citation", "CitationChecker", "build_prompt", "check_format", "load_model", "stream_answer"]
