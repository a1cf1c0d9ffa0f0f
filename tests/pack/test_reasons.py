"""What reasons say to people."""

import pytest

from causalist.model.scores import Reason
from causalist.pack import render_pack
from causalist.pack.render import PHRASES, reason_phrases
from causalist.rank.scoring.fusion import default_weights
from causalist.rank.scoring.signals import PRIORS
from tests.pack.builders import edge, item, pack_input


def test_every_signal_with_a_weight_is_said_in_words() -> None:
    weights = default_weights()
    named = {*weights.definition.signals, *weights.file.signals}
    assert {"text", "leading definition", "frame"} <= named
    assert named - PRIORS <= PHRASES.keys()


@pytest.mark.parametrize(
    "reasons, said",
    [
        ([], ()),
        ([("pagerank", "reached through the graph, not by words")], ("reached through the graph, not by words",)),
        ([("graph", ""), ("text", "tax, rate")], ("matches tax, rate", "linked to others that match")),
        # Signals with one phrase are said once, each word once.
        (
            [("name", "tax, rate"), ("found file", ""), ("name share", "rate, of, vat")],
            ("named for tax, rate, of, vat", "its file leads"),
        ),
        ([("leading definitions", "Cart.add"), ("leading definition", "Cart.add")], ("contains Cart.add",)),
        ([("leading definitions", ""), ("leading definition", "")], ("its own lines match",)),
        # What one signal says is not taken apart, and braces of a source stay what they are.
        ([("literal", "2 in lines 3, 9: f(a, a, {})")], ("matches 2 in lines 3, 9: f(a, a, {})",)),
        # One of a plug-in has no phrase.
        ([("age", "new"), ("weight", "")], ("age: new", "weight")),
    ],
)
def test_what_is_said(reasons: list[tuple[str, str]], said: tuple[str, ...]) -> None:
    assert reason_phrases([Reason(signal, 1.0, detail) for signal, detail in reasons]) == said


@pytest.mark.parametrize(
    "reasons, said",
    [
        # 1.0 + 1.0 by words against 1.9.
        (
            [("found file", 1.9, ""), ("name", 1.0, "tax"), ("name share", 1.0, "vat")],
            ("named for tax, vat", "its file leads"),
        ),
        # That its file leads holds of all that stands there: what it says itself is told before that.
        ([("found file", 3.0, ""), ("text", 0.5, "tax")], ("matches tax", "its file leads")),
        (
            [("found file", 3.0, ""), ("name", 1.0, ""), ("text", 0.5, "tax")],
            ("matches tax", "its file leads", "its name matches"),
        ),
        ([("found file", 3.0, ""), ("name", 1.0, "")], ("its file leads", "its name matches")),
        # What a way over the graph leads to is told first, whatever that gave.
        ([("pagerank", 0.1, "reached"), ("text", 1.0, "tax")], ("reached", "matches tax")),
        ([("text", 1.0, "tax"), ("pagerank", 0.1, "reached")], ("matches tax", "reached")),
    ],
)
def test_the_strongest_comes_first(reasons: list[tuple[str, float, str]], said: tuple[str, ...]) -> None:
    assert reason_phrases([Reason(*reason) for reason in reasons]) == said


def test_a_result_names_the_best_two_that_it_is_linked_to() -> None:
    names = ("core", "far", "near", "mid", "Core")
    items = [
        item("a.py", name, "x", start=10 * number, score=score, reasons=[("graph", "")] if name == "core" else [])
        for number, (name, score) in enumerate(zip(names, (0.9, 0.2, 0.8, 0.5, 0.85), strict=True))
    ]
    edges = [
        edge("a.py::core", "a.py::far"),
        edge("a.py::mid", "a.py::core"),
        edge("a.py::core", "a.py::near"),
        edge("a.py::core", "a.py::core"),  # a call of itself is no link
        edge("a.py::Core", "a.py::core", kind="contains"),  # nor is where it stands
    ]
    text = render_pack(pack_input(*items, edges=edges), max_tokens=4000, format="text").text
    assert "why: linked to near, mid\n" in text
