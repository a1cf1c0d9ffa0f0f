"""A repository measured on its own history: what is asked of which state, what is counted, what never leaks."""

from pathlib import Path

import pytest

from causalist.errors import GitError, RepositoryNotFound, UsageError
from causalist.evaluate import OwnReport, evaluate_history, own_report_data, render_own_report
from causalist.evaluate.fit import read_query_signals
from causalist.evaluate.mining import LabelledQuestion
from causalist.evaluate.own_history import count_tokens_to_cover, rank_without_each_signal
from causalist.model.answer import AskOptions, Level
from causalist.model.node_ids import split_id
from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from causalist.rank import default_weights
from tests.pasts import Past

pytestmark = pytest.mark.slow

PRICES = "def total_price(cart):\n    return sum(item.price for item in cart)\n"
TOKENS = "def validate(token):\n    '''Whether a token is valid.'''\n    return token in ISSUED\n"
MAIL = "def send(receipt):\n    queue.put(receipt)\n"


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    """Two questions; the answer of the second brings words of the first and of its own message into the code."""
    past = Past(tmp_path_factory.mktemp("own") / "shop")
    past.commit("start", {"prices.py": PRICES, "tokens.py": TOKENS, "mail.py": MAIL, "README.md": "# Shop\n"})
    past.commit("Price of a cart in whole cents", {"prices.py": PRICES.replace("sum(", "round(")}, time=1)
    past.commit("Release 1.0", {"README.md": "# Shop 1.0\n"}, time=2)
    later = TOKENS.replace("return token", "# expired tokens are refused\n    return token")
    past.commit("Refuse a token that has expired", {"tokens.py": later}, time=3)
    return past


@pytest.fixture(scope="module")
def report(past: Past) -> OwnReport:
    return evaluate_history(past.path, progress=lambda what, done, total: None)


def test_questions_and_ranks(report: OwnReport) -> None:
    asked = [(r.question.query, r.question.gold_files, r.question.gold_symbols) for r in report.results]
    assert asked == [
        ("Price of a cart in whole cents", ("prices.py",), ("prices.py::total_price",)),
        ("Refuse a token that has expired", ("tokens.py",), ("tokens.py::validate",)),
    ]
    assert [r.files["fused"] for r in report.results] == [(1,), (1,)]
    assert [r.symbols["fused"] for r in report.results] == [(1,), (1,)]
    assert report.left_out == {"version": 1} and report.skipped == ()
    assert report.files[0].systems["fused"]["any@1"].value == 1.0


def test_tokens_until_the_answer_is_seen(report: OwnReport, past: Past) -> None:
    # The first result is the right definition: its line and its text, and nothing behind it.
    text = PRICES.rstrip("\n")
    assert report.tokens[0] == count_tokens("prices.py:1-2 def total_price(cart)\n") + count_tokens(text)
    assert report.coverage is not None and report.coverage.share.value == 1.0
    assert report.coverage.median == sum(n or 0 for n in report.tokens) / 2


def test_text_that_was_shown_is_not_counted_again(tmp_path: Path) -> None:
    past = Past(tmp_path / "shop")
    code = "class Cart:\n    def total_price(self):\n        return sum(self.prices)\n"
    past.commit("start", {"carts.py": code, "mail.py": "def price_mail(cart):\n    pass\n"})
    repository = Repository.at_commit(past.path, past.head())
    shown = repository.rank_nodes("total price of a cart", AskOptions(top_k=20))
    ranked = [split_id(node)[0] for node in shown]
    assert {"carts.py::Cart", "carts.py::Cart.total_price"} <= set(shown)

    def cost(gold: str) -> int | None:
        asked = LabelledQuestion(0, "", "", "", "", "total price of a cart", (gold,), (), False)
        return count_tokens_to_cover(repository, asked, 20)

    first, second = cost("carts.py"), cost("mail.py")
    assert ranked[0] == "carts.py" and first is not None and second is not None
    whole = sum(count_tokens(text) for text in (code, "def price_mail(cart):\n    pass\n"))
    assert first < second < whole + 25 * len(ranked)
    assert cost("absent.py") is None


def test_the_future_does_not_leak(past: Past, report: OwnReport) -> None:
    answer = report.results[1].question
    before = Repository.at_commit(past.path, answer.commit)
    assert answer.id not in set(before.index.history.commits.names)
    assert before.index.lexical.terms.position("refus") < 0 and before.index.lexical.terms.position("expir") < 0


def test_without_a_signal(past: Past, report: OwnReport) -> None:
    question = report.results[1].question
    repository = Repository.at_commit(past.path, question.commit)
    ranks = rank_without_each_signal(
        read_query_signals(repository, question.query, default_weights()), ("tokens.py", "mail.py")
    )
    everything = [
        split_id(n)[0] for n in repository.rank_nodes(question.query, AskOptions(level=Level.FILE, graph=False))
    ]
    assert ranks[""] == tuple(everything.index(p) + 1 if p in everything else None for p in ("tokens.py", "mail.py"))
    weights = default_weights()
    weighted = {n for each in (weights.definition, weights.file) for n, w in each.signals.items() if w > 0}
    assert set(ranks) == {""} | weighted


def test_it_is_deterministic(past: Past, report: OwnReport) -> None:
    again = evaluate_history(past.path, progress=lambda what, done, total: None)
    assert own_report_data(again) | {"timings": 0} == own_report_data(report) | {"timings": 0}


def test_only_the_newest_are_asked(past: Past) -> None:
    told: list[tuple[str, int, int]] = []
    report = evaluate_history(past.path, 1, progress=lambda *now: told.append(now))
    assert [r.question.query for r in report.results] == ["Refuse a token that has expired"]
    assert told == [("asking", 0, 1), ("asking", 1, 1)]


def test_document_and_text(report: OwnReport, past: Past) -> None:
    document = own_report_data(report)
    assert document["settings"]["repository"] == str(past.path)
    assert [row["commit"] for row in document["rows"]] == [r.question.id for r in report.results]
    assert document["rows"][0]["ranks"]["graph off"] == [1] and document["tokens"]["covered"]["value"] == 1.0
    text = render_own_report(report)
    assert "2 questions from its history (of 50 wanted)" in text and "graph off" in text
    assert "all right files are among the results of 100 %" in text and "1 version" in text
    # Both questions have one right file, which is the first of the list.
    assert text.splitlines()[2:6] == [
        "in short: a right file is first in 100 % [100–100] of the questions (BM25 of code: 100 %);",
        "          all of them are among the first five in 100 % [100–100] of the questions (BM25 of code: 100 %)",
        "          by MRR the difference from that baseline may be chance",
        "          the graph has no part in the order of files: it decides about definitions and what is added",
    ]


def test_a_history_without_questions(tmp_path: Path) -> None:
    past = Past(tmp_path / "shop")
    past.commit("start", {"prices.py": PRICES})
    report = evaluate_history(past.path, progress=lambda what, done, total: None)
    assert report.results == () and own_report_data(report)["files"] == {}
    assert "no commit of its history is a question" in render_own_report(report)


def test_no_repository(tmp_path: Path, past: Past) -> None:
    def evaluated(path: Path, n: int = 5, top_k: int = 20) -> None:
        evaluate_history(path, n, top_k=top_k, progress=lambda what, done, total: None)

    with pytest.raises(RepositoryNotFound):
        evaluated(tmp_path / "absent")
    with pytest.raises(GitError):
        evaluated(tmp_path)
    with pytest.raises(UsageError, match="--from-git must be at least 1, not 0"):
        evaluated(past.path, n=0)
    with pytest.raises(UsageError, match="--top-k must be at least 10"):
        evaluated(past.path, top_k=9)
