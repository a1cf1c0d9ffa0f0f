"""Files of an earlier version: today's code opens them or rebuilds them, and keeps what a user wrote.

`files_of_df41ef5/make.sh` made them with that version: an index, one answer with feedback, a settings file, and learned
weights of which one was changed by hand.
"""

import json
import shutil
from pathlib import Path

import pytest

from causalist.index.freshness import index_version
from causalist.index.open import index_folders, stored_index_status
from causalist.index.options import IndexOptions
from causalist.model.answer import StalenessReason
from causalist.pipeline.feedback_and_weights import FeedbackStore
from causalist.pipeline.repository import Repository
from causalist.settings import read_settings
from causalist.store import ANSWERS_NAME, FEEDBACK_NAME, FOLDER, INDEX_NAME, WEIGHTS_NAME, read_index
from tests.cli.commands import invoke

MADE = Path(__file__).parent / "files_of_df41ef5" / "shop"
ANSWER_ID = "ec4682139e62dfb3"
QUERY = "what does an order cost after the discount"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    shutil.copytree(MADE, root)
    (root / "kept").rename(root / FOLDER)
    return root


def test_the_index_is_rebuilt_and_status_says_why(shop: Path, tmp_path: Path) -> None:
    before = (shop / FOLDER / INDEX_NAME).read_bytes()
    (reason, *_) = stored_index_status(shop, IndexOptions()).reasons
    assert reason.reason is StalenessReason.VERSION
    assert reason.detail == f"made as eff7f9070f8a022d, this program and its grammars make {index_version()}"
    said = invoke("status", "--repo", str(shop)).stdout
    assert f"  version: {reason.detail}\n" in said
    rebuilt = read_index(shop / FOLDER / INDEX_NAME)
    assert rebuilt is not None and rebuilt.version == index_version()
    assert (shop / FOLDER / INDEX_NAME).read_bytes() != before
    assert "  version: " not in invoke("status", "--repo", str(shop)).stdout
    # The old index adds nothing to the answer of a new one.
    fresh = tmp_path / "fresh" / "shop"
    shutil.copytree(MADE, fresh)
    shutil.rmtree(fresh / "kept")
    assert Repository.open(shop).ask(QUERY).pack == Repository.open(fresh).ask(QUERY).pack


def test_settings_mean_what_they_meant(shop: Path) -> None:
    before = (shop / "causalist.toml").read_bytes()
    settings = read_settings(shop)
    options = settings.ask_options()
    assert (options.max_tokens, options.top_k, settings.limits().deny) == (900, 7, ("attic/*",))
    Repository.open(shop)
    assert (shop / "causalist.toml").read_bytes() == before


def test_feedback_is_read_and_new_feedback_is_added_to_it(shop: Path) -> None:
    before = {name: (shop / FOLDER / name).read_bytes() for name in (ANSWERS_NAME, FEEDBACK_NAME)}
    Repository.open(shop).ask("discount")
    store = FeedbackStore(index_folders(shop))
    assert store.read_feedback() == [(QUERY, ("shop/orders.py",))]
    assert store.find_question(ANSWER_ID) == QUERY
    store.add_feedback_by_id(ANSWER_ID, ("shop/prices.py",), ())
    assert store.read_feedback() == [(QUERY, ("shop/orders.py", "shop/prices.py"))]
    for name, rows in before.items():
        assert (shop / FOLDER / name).read_bytes().startswith(rows)


def test_learned_weights_of_other_signals_stay_and_are_not_used(shop: Path) -> None:
    """The user is told once how to fit them again; the file is still there for the version that wrote it."""
    before = (shop / FOLDER / WEIGHTS_NAME).read_bytes()
    assert json.loads(before)["file"]["signals"]["text"] == 1.5
    done = invoke("ask", QUERY, "--repo", str(shop))
    assert done.code == 0
    assert done.stderr.count("learned-weights: ") == 1
    assert (
        "learned-weights: not used: they were fitted to other signals or other shipped weights; "
        "`causalist learn` fits them again\n"
    ) in done.stderr
    assert Repository.open(shop).learned is None
    assert (shop / FOLDER / WEIGHTS_NAME).read_bytes() == before
