"""The packs that docs/packs.md shows, made anew: `python -m tests.docs.packs_page [--write]`."""

import sys
import tempfile
from pathlib import Path

from causalist.model.answer import AskOptions
from causalist.pack import MINIMUM_TOKENS
from tests.docs.blocks import DOCS, blocks_of, table, with_blocks
from tests.pipeline.sample import copy_sample, in_memory

PAGE = DOCS / "packs.md"
QUESTION = "where are failed deliveries retried?"
# Long lines are folded by no format; this much shows two items with their source.
_TOP_K, _BUDGET = 2, 760
_TAGS = {"text": "text", "markdown": "markdown", "xml": "xml", "json": "json", "mermaid": "text", "dot": "text",
         "html": "html"}  # fmt: skip
_MADE_FOR = {
    "text": "a terminal, a prompt",
    "markdown": "a chat, an issue, a prompt",
    "xml": "a prompt with tags, a parser",
    "json": "a program",
    "mermaid": "documents that draw Mermaid",
    "dot": "Graphviz",
    "html": "a browser",
}


def examples() -> dict[str, str]:
    """All blocks with packs by name."""
    with tempfile.TemporaryDirectory() as folder:
        repository = in_memory(copy_sample(Path(folder)))
        found = {}
        for form in MINIMUM_TOKENS:
            pack = repository.ask(QUESTION, AskOptions(top_k=_TOP_K, max_tokens=_BUDGET, format=form)).pack
            assert pack is not None
            text = pack.text if pack.text.endswith("\n") else f"{pack.text}\n"
            if form == "html":
                text = text[text.index("<article") : text.index("</article>")] + "</article>\n"
            found[form] = f"````{_TAGS[form]}\n{text}````\n"
        return found


def formats() -> str:
    """The table of formats."""
    assert list(_MADE_FOR) == list(MINIMUM_TOKENS)
    drawings = ("mermaid", "dot")
    return table(
        ("format", "made for", "source", "smallest budget"),
        [(f"`{form}`", _MADE_FOR[form], "no" if form in drawings else "yes", n) for form, n in MINIMUM_TOKENS.items()],
    )


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in arguments:
        text = with_blocks(with_blocks(text, "example", examples()), "generated", {"formats": formats()})
        PAGE.write_text(text, encoding="utf-8")
        return 0
    return int(blocks_of(text, "example") != examples() or blocks_of(text, "generated") != {"formats": formats()})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
