"""A function is named by a verb phrase: no name is a bare participle (`counted`, `told`)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "causalist"

_IRREGULAR = re.compile(
    "begun|bent|bound|broken|brought|built|bought|caught|chosen|done|drawn|driven|fallen|fed|felt|fought|found|given|gone"
    "|grown|heard|held|hidden|kept|known|laid|led|left|lent|lost|made|meant|met|paid|said|seen|sent|shown|sought|spent"
    "|spoken|stood|taken|thought|thrown|told|understood|won|worn|written"
)
_VERBS = {"embed", "feed", "need", "speed"}
# Read as a sentence at each use: `with steps.timed(Step.WALK):`.
_CONTEXT_MANAGERS = {"timed"}


def is_participle(name: str) -> bool:
    """Return True for the name of one word that is a participle; underscores around it do not count."""
    word = name.strip("_")
    if "_" in word or word in _VERBS | _CONTEXT_MANAGERS:
        return False
    return (_IRREGULAR.fullmatch(word) or re.fullmatch(r"[a-z]+ed", word)) is not None


@pytest.mark.parametrize("name", ["counted", "_told", "written", "unnamed"])
def test_participles_are_recognized(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["count", "_split", "embed", "with_marks", "is_kept", "n_rows", "read_unparsed"])
def test_verbs_and_phrases_are_none(name: str) -> None:
    assert not is_participle(name)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield functions and methods but properties, which are nouns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
            if not decorators & {"property", "cached_property", "setter"}:
                yield node


def test_functions_are_named_by_verbs() -> None:
    participles = [
        f"{path.relative_to(PACKAGE).as_posix()}:{node.lineno} {node.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in _functions(ast.parse(path.read_text(encoding="utf-8")))
        if is_participle(node.name)
    ]
    assert participles == []
