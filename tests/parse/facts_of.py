"""Facts of a snippet, for tests."""

from causalist.model.facts import FileFacts
from causalist.parse import load_grammar, parse_source


def facts_of(text: str | bytes, dialect: str = "python") -> FileFacts:
    """Facts of a file with this content."""
    return parse_source(text.encode() if isinstance(text, str) else text, load_grammar(dialect))


def qualnames(facts: FileFacts) -> list[str]:
    return [definition.qualname for definition in facts.definitions]
