"""What reasons say to people."""

import pytest

from causalist.model.scores import Reason
from causalist.pack.reasons import PHRASES, phrases
from causalist.rank.fuse import default_weights
from causalist.rank.signals import PRIORS


def test_every_signal_with_a_weight_is_said_in_words() -> None:
    weights = default_weights()
    named = {*weights.first.signals, *weights.definition.signals, *weights.file.signals}
    assert {"text", "leading definition", "frame"} <= named
    assert named - PRIORS <= PHRASES.keys()


@pytest.mark.parametrize(
    "reasons, said",
    [
        ([], ()),
        ([("pagerank", "reached over the graph, not by words")], ("reached over the graph, not by words",)),
        ([("graph", ""), ("text", "tax, rate")], ("linked to others that fit", "says tax, rate")),
        # Signals with one phrase are said once, where the strongest stands, each word once.
        (
            [("text", "tax, rate"), ("file", ""), ("title", "rate, of, vat")],
            ("says tax, rate, of, vat", "its file leads"),
        ),
        ([("leading place", "Cart.add"), ("leading definition", "Cart.add")], ("holds Cart.add",)),
        ([("leading place", ""), ("leading definition", "")], ("its own lines fit",)),
        # What one signal says is not taken apart, and braces of a source stay what they are.
        ([("literal", "2 in lines 3, 9: f(a, a, {})")], ("matches 2 in lines 3, 9: f(a, a, {})",)),
        # One of a plug-in has no phrase.
        ([("age", "new"), ("weight", "")], ("age: new", "weight")),
    ],
)
def test_what_is_said(reasons: list[tuple[str, str]], said: tuple[str, ...]) -> None:
    assert phrases([Reason(signal, 1.0, detail) for signal, detail in reasons]) == said
