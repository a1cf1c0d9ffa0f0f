"""A decision record comes with the code that it explains, and a runbook with the code that it names."""

from pathlib import Path

import pytest

from causalist.model.answer import Answer, AskOptions, Level
from causalist.pipeline.repository import Repository
from tests.pipeline.conftest import WorkTree

_RECORD = (
    "# Deliveries are retried at night\n\nA webhook delivery that the receiver refuses is retried at night only.\n"
)
_RUNBOOK = "# Deliveries stuck in the outbox\n\nStuck deliveries leave the outbox when `drain_queue` is called.\n"
_CODE = {
    "shop/deliveries.py": "def retry_delivery(delivery):\n    return delivery.send()\n",
    "shop/queue.py": "def drain_queue(rows):\n    for row in rows:\n        row.publish()\n",
    "shop/prices.py": "def discount(price):\n    return price * 0.9\n",
}


def _ask(path: Path, query: str, **options: object) -> Answer:
    tree = WorkTree(path / "shop")
    for name, text in {
        **_CODE,
        "docs/decisions/0001-retries.md": _RECORD,
        "docs/runbooks/outbox.md": _RUNBOOK,
        "CHANGELOG.md": "# 1.1\n\nA webhook delivery that the receiver refuses is retried: delivery, webhook, night.\n",
    }.items():
        tree.write(name, text)
    tree.commit()
    return Repository.open(tree.path).ask(query, AskOptions(**options))  # type: ignore[arg-type]


def _paths(answer: Answer) -> set[str]:
    assert answer.pack is not None
    return {item.path for item in answer.pack.places if item.shown}


def test_a_decision_comes_with_the_code_that_it_explains(tmp_path: Path) -> None:
    shown = _paths(_ask(tmp_path, "why is a refused webhook delivery retried at night"))
    assert {"docs/decisions/0001-retries.md", "shop/deliveries.py"} <= shown
    assert "CHANGELOG.md" not in shown  # it says what changed, not why


def test_a_runbook_leads_to_the_code_that_it_names(tmp_path: Path) -> None:
    shown = _paths(_ask(tmp_path, "what empties stuck deliveries from the outbox queue"))
    assert {"docs/runbooks/outbox.md", "shop/queue.py"} <= shown


@pytest.mark.parametrize("query", ["discount price", "rows publish"])
def test_a_question_about_code_brings_no_document(tmp_path: Path, query: str) -> None:
    assert not any(path.startswith("docs/") for path in _paths(_ask(tmp_path, query)))


def test_a_list_of_files_brings_no_document(tmp_path: Path) -> None:
    answer = _ask(tmp_path, "why is a refused webhook delivery retried at night", level=Level.FILE, top_k=1)
    assert len(_paths(answer)) <= 1
