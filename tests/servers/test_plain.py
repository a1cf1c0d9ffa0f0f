"""What one process of the program hands to another comes back as it was."""

import json
from pathlib import Path

from causalist.model.answer import Answer, AskOptions, Level, Route
from causalist.pipeline.repository import Repository
from causalist.servers.question_worker import Failure, Message, OpenStep, Task, first_message, from_plain, to_plain


def again(value: object) -> object:
    return from_plain(type(value), json.loads(json.dumps(to_plain(value))))


def test_an_answer_comes_back_as_it_was(small: Path) -> None:
    repository = Repository.open(small, exact_root=True)
    for options in (AskOptions(), AskOptions(level=Level.FILE, explain=True), AskOptions(route=Route.SKIP)):
        answer = repository.ask("price of an item", options)
        assert isinstance(answer, Answer) and again(answer) == answer


def test_a_task_comes_back_as_it_was() -> None:
    task = Task(Path("a b"), 'what "\udc80 is"', AskOptions(include=("a", "b"), scope="c", damping=0.1), remember=False)
    assert again(task) == task


def test_messages_are_taken_one_by_one_however_they_arrive() -> None:
    messages = [Message((OpenStep("a", float("inf")), OpenStep("b", 0.1))), Message(spare=7),
                Message(failure=Failure("usage", "UsageError", "no", ""))]  # fmt: skip
    whole = b""
    for message in messages:
        plain = json.dumps(to_plain(message)).encode()
        whole += len(plain).to_bytes(4, "little") + plain
    data, found = bytearray(), []
    for byte in whole:
        data.append(byte)
        while (message := first_message(data)) is not None:
            found.append(message)
    assert found == messages and not data
