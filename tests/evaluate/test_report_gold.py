"""The benchmark of pasted reports: what counts as changed, and how both arms are asked."""

from pathlib import Path

import numpy as np
import pytest

from causalist.errors import EvaluationError
from causalist.evaluate.context import ContextQuestion, GoldBlock
from causalist.evaluate.mining import LabelledQuestion
from causalist.pipeline import pack_items
from causalist.pipeline.repository import Repository
from tests.benchmarks.reports.__main__ import (
    ARMS,
    ask,
    check_out,
    children_of,
    find_answer,
    find_gold,
    score_reports,
    table_rows,
)
from tests.pasts import Past

_PATH, _NEW = "shop/price.py", "shop/tax.py"
_BEFORE = """\
import os

LIMIT = 3


def price(item):
    return cost(item)


def cost(item):
    return item.cost


def discount(item):
    check(item)
    a = 1
    b = 2
    c = 3
    return a + b + c
TAIL = 1


def check(item):
    return item
"""
_AFTER = (
    _BEFORE.replace("LIMIT = 3", "LIMIT = 4")
    .replace("return cost(item)", "return cost(item) * 2")
    .replace("    c = 3\n", "    c = 3\n    c += a\n")
    .replace("TAIL", "EXTRA = 1\nTAIL")
)


class Mended(Past):
    """A clone of some/shop with a base, a commit that mends it, and newer ones that do not."""

    def __init__(self, clones: Path) -> None:
        super().__init__(clones / "some+shop" / "repo")
        self.base = self.commit("base", {_PATH: _BEFORE, "readme.md": "Shop\n"})
        self.answer = self.commit("mend", {_PATH: _AFTER, _NEW: "TAX = 1\n"}, time=1)
        self.commit("later", {_PATH: _BEFORE, _NEW: "TAX = 2\n"}, time=2)
        self.git("checkout", "-q", "-b", "side", self.base)
        self.commit("half", {_PATH: _AFTER}, time=3)
        self.git("checkout", "-q", "main")

    @property
    def report(self) -> LabelledQuestion:
        query = "The price of an item is half of what it costs"
        return LabelledQuestion(1, "shop-1", "some/shop", "python", self.base, query, (_PATH, _NEW), (), hard=False)


def _block(name: str, first: int, last: int) -> GoldBlock:
    return GoldBlock(_PATH, name, first, last, ((first, last),))


def test_gold_is_what_the_next_commit_changed_in_the_base(tmp_path: Path) -> None:
    past = Mended(tmp_path)
    answer = find_answer(past.path, past.report, children_of(past.path)[past.base])
    assert answer == past.answer
    tree = check_out(past.path, past.report, tmp_path / "trees")
    gold = find_gold(past.path, past.report, answer, Repository.open(tree, exact_root=True))
    assert gold.changed == (
        _block("row 3", 1, 6),  # line 3 and 3 lines around
        _block("price", 6, 7),
        _block("discount", 14, 19),  # a line is added between its last two
        _block("row 19", 17, 22),  # a line is added behind its last one, which is not in it
    )
    # The call of `check` is 4 lines before the addition.
    assert gold.callees == (_block("cost", 10, 11),)


def test_a_tree_is_used_again_if_it_is_at_the_base(tmp_path: Path) -> None:
    past = Mended(tmp_path)
    tree = check_out(past.path, past.report, tmp_path / "trees")
    (tree / "mark").touch()
    assert check_out(past.path, past.report, tmp_path / "trees") == tree
    assert (tree / "mark").exists() and [each.name for each in (tmp_path / "trees").iterdir()] == [tree.name]
    past.git("-C", str(tree), "checkout", "-q", past.answer)
    with pytest.raises(EvaluationError, match=f"is at {past.answer}, not at {past.base}"):
        check_out(past.path, past.report, tmp_path / "trees")


def test_reports_without_a_clone_or_an_answer_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    past = Mended(tmp_path)
    reports = [
        past.report,
        LabelledQuestion(2, "shop-2", "some/shop", "python", past.base, "price", ("a.py",), (), hard=False),
        LabelledQuestion(3, "other-1", "some/other", "python", past.base, "price", ("a.py",), (), hard=False),
    ]
    (scores,) = score_reports(reports, tmp_path, tmp_path / "trees")
    assert capsys.readouterr().out.splitlines() == [
        "shop-2: no commit after its base changed all gold files",
        "some/other: no clone, 1 report left out",
    ]
    assert scores.shape == (2, 2, 5)
    # Everything that is shown stands in the one file that was changed and is there.
    assert (scores[:, :, 2] == 1.0).all()


def test_a_row_of_the_table_has_the_means_and_the_difference() -> None:
    # Arms, golds, measures: of the second report only the first arm is sufficient.
    one = np.full((2, 2, 5), 1.0)
    other = np.stack([np.full((2, 5), 1.0), np.zeros((2, 5))])
    rows = list(table_rows("few", [one, other]))
    assert len(rows) == 6
    assert rows[0].startswith("| few | changed | as shipped | 2 | 1.000 [1.00–1.00] | 1 [1–1] |")
    assert rows[1].startswith("| few | changed | as a question of usual length | 2 | 0.500 [0.00–1.00] |")
    assert rows[2].startswith("| few | changed | difference | 2 | +0.500 [+0.00 … +1.00] |")


def test_only_the_arm_as_shipped_has_the_rule_for_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = Past(tmp_path / "shop")
    past.commit("base", {_PATH: _BEFORE})
    repository = Repository.open(past.path, exact_root=True)
    text = "price of item " + " ".join(f"word{n}" for n in range(pack_items.REPORT_TERMS))
    question = ContextQuestion("1", "some/shop", past.head(), "report", text, "", (), ())
    shares: list[float] = []
    original = pack_items.favor_best_files
    monkeypatch.setattr(pack_items, "favor_best_files", lambda *given: shares.append(given[2]) or original(*given))
    for arm in (*ARMS, ARMS[0]):
        assert ask(repository, question, arm).lines[_PATH]
    assert shares == [1.0, 0.0, 1.0]
