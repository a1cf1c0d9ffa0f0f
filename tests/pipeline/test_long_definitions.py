"""A long definition in an answer: what the question is about is shown, wherever it stands."""

from pathlib import Path

import pytest

from causalist.model.answer import AskOptions, Level
from tests.pipeline.sample import in_memory


def source() -> str:
    """A function of 300 lines; the refund stands in line 220, a function inside of it begins in line 120."""
    lines = ["def settle_order(order):", '    """Settles what is open."""']
    lines += [f"    step_{i} = cart.part({i})" for i in range(3, 301)]
    lines[119] = "    def book(entry):"
    lines[120] = "        return entry.kept"
    lines[219] = "    refund_customer(order.refund)"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("level", list(Level))
def test_the_part_that_answers_is_shown(level: Level, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(source() + "\n\ndef refund_customer(refund):\n    return refund\n")
    repository = in_memory(tmp_path)
    answer = repository.ask("where does a customer get a refund of an order", AskOptions(level=level, max_tokens=700))
    assert answer.pack is not None and answer.pack.tokens <= 700
    shown = answer.pack.text.split("\n")
    at = shown.index("    refund_customer(order.refund)")
    around = [f"    step_{i} = cart.part({i})" for i in (217, 218, 219, 221, 222, 223)]
    assert shown[at - 3 : at] + shown[at + 1 : at + 4] == around
    # The four lines around tell something; of other lines none does, and room is left for them. The definition inside
    # begins in 120, and is a result of its own among definitions.
    is_result = level is Level.SYMBOL
    assert next(line for line in shown if line.startswith("    … ")).endswith("-119" if is_result else "-215")
    assert "    step_12 = cart.part(12)" not in shown
    assert ("def book(entry):" in shown) == is_result
    filled = repository.ask(
        "where does a customer get a refund of an order", AskOptions(level=level, max_tokens=700, fill=True)
    )
    assert filled.pack is not None and "    step_12 = cart.part(12)" in filled.pack.text.split("\n")
    assert "def refund_customer(refund):" in shown
    whole = repository.ask("where does a customer get a refund of an order", AskOptions(level=level, max_tokens=9000))
    # Edges of `contains` are not printed beside source.
    assert whole.pack is not None and [o for o in whole.pack.omitted if o.what != "edge"] == []
    assert {line.strip() for line in source().split("\n")} <= {line.strip() for line in whole.pack.text.split("\n")}


@pytest.mark.parametrize("level", list(Level))
def test_the_line_of_a_frame_and_of_a_message_are_shown(level: Level, tmp_path: Path) -> None:
    """Line 180 is where a trace ends and line 260 prints the message; eighty lines speak of the order, as the title."""
    lines = source().split("\n")
    lines[179] = "    book_entry(cart)"
    lines[259] = '    raise ValueError(f"cart {cart.id} was settled twice")'
    lines[20:100] = [f"    order.settle(order.part({i}))" for i in range(80)]
    (tmp_path / "a.py").write_text("\n".join(lines))
    repository = in_memory(tmp_path)
    options = AskOptions(level=level, max_tokens=600)

    def shown(question: str) -> list[str]:
        pack = repository.ask(question, options).pack
        assert pack is not None and pack.tokens <= 600
        return [line.strip() for line in pack.text.split("\n")]

    trace = (
        'settle the order\nTraceback (most recent call last):\n  File "a.py", line 180, in settle_order\nKeyError: 7'
    )
    assert "book_entry(cart)" in shown(trace)
    assert "book_entry(cart)" not in shown("settle the order")
    assert 'raise ValueError(f"cart {cart.id} was settled twice")' in shown(
        "cart 7 was settled twice: the order must not"
    )
    # A trace of another version, whose line lies outside of the function, points to no line.
    assert "book_entry(cart)" not in shown(trace.replace("180", "1800"))
