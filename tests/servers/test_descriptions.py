"""Whether a reader who sees the descriptions alone names the right tool for a task.

`task_sentences.tsv` holds 46 tasks as people put them, with the tool that each is for. The reader here is as simple as
can be: it counts the words that a sentence shares with the name, title, description and parameters of a tool, rarer
words counting more. Whoever understands what is read does better: what is tested is that descriptions share the words
of tasks and keep apart. Read once by the author of descriptions and sentences: the first 40 all right, no independent
figure. Of the six for `review`, `topo` and `similar`, words alone named three before the latter two were reworded.
"""

import math
import re
from collections import Counter
from pathlib import Path

import pytest

from causalist.rank.terms import STOP_WORDS, terms_of
from causalist.servers.mcp.handlers import select_tools
from causalist.servers.mcp.tools import Tool

SENTENCES = Path(__file__).parent / "task_sentences.tsv"
ALL = select_tools("all")
# Of 46, with all tools on offer, and of the 19 for the default ones with just those.
LEAST_OF_ALL, LEAST_OF_DEFAULT = 39, 14


def rows() -> list[tuple[str, str]]:
    """(tool, sentence)."""
    return [tuple(line.split("\t")) for line in SENTENCES.read_text(encoding="utf-8").splitlines()]  # type: ignore[misc]


def words_of(text: str) -> Counter[str]:
    words = [word for word in re.findall(r"\w+", text) if word.lower() not in STOP_WORDS]
    return Counter(term for word in words for term in terms_of(word))


def text_of(name: str, tool: Tool) -> str:
    parameters = " ".join(f"{key} {each.description}" for key, each in tool.parameters.items() if key != "max_tokens")
    return f"{name} {tool.title} {tool.description} {parameters}"


def named_by_words(sentence: str, tools: dict[str, Tool]) -> str:
    """The tool whose words a sentence shares; `ask` where it shares none, as its description says."""
    known = {name: words_of(text_of(name, tool)) for name, tool in tools.items()}
    n_with = Counter(word for words in known.values() for word in words)
    asked = words_of(sentence)
    scores = {
        name: sum(math.log(1 + len(known) / n_with[word]) for word in asked if word in words)
        for name, words in known.items()
    }
    return max(scores, key=lambda name: (scores[name], name == "ask"))


def test_there_are_46_and_each_tool_has_some() -> None:
    assert len(rows()) == 46 == len({sentence for _, sentence in rows()})
    assert {tool for tool, _ in rows()} <= set(ALL)
    counts = Counter(tool for tool, _ in rows())
    assert min(counts.values()) >= 2 and {"ask", "symbol", "impact"} == {tool for tool, n in counts.items() if n >= 5}


def test_a_reader_of_words_names_most() -> None:
    wrong = [(tool, named, s) for tool, s in rows() if (named := named_by_words(s, dict(ALL))) != tool]
    assert len(rows()) - len(wrong) >= LEAST_OF_ALL, wrong


def test_with_the_default_tools_alone() -> None:
    few = dict(select_tools("default"))
    own = [(tool, sentence) for tool, sentence in rows() if tool in few]
    right = sum(named_by_words(sentence, few) == tool for tool, sentence in own)
    assert len(own) == 19 and right >= LEAST_OF_DEFAULT, right


@pytest.mark.parametrize("name", list(ALL))
def test_no_two_tools_say_the_same(name: str) -> None:
    own = words_of(ALL[name].description)
    for other, tool in ALL.items():
        if other != name:
            theirs = words_of(tool.description)
            assert len(own.keys() & theirs.keys()) / len(own.keys() | theirs.keys()) < 0.5, (name, other)
