"""Answers that a process keeps: the same bytes again, and never those of other files, questions or options."""

from dataclasses import replace
from pathlib import Path

import pytest

from causalist.errors import ConvergenceError
from causalist.model.answer import Answer, AskOptions, Level, Route
from causalist.pipeline import guarded_steps as steps_module
from causalist.pipeline.guarded_steps import AnswerCache, CachedAnswer, Session
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import WHERE_AUTH, in_memory, plain_answer
from tests.pipeline.test_guarded_steps import OPTIONAL, failing


@pytest.fixture
def served(sample: Repository) -> Repository:
    return replace(sample, session=Session())


def is_kept(answer: Answer) -> bool:
    """Whether nothing was done for it but to look for it."""
    done = {name for name, spent in answer.timings_ms.items() if spent and "." in name}
    return done <= {"route.cache"}


@pytest.mark.parametrize(
    "options", [AskOptions(), AskOptions(level=Level.FILE, explain=True), AskOptions(format="json")]
)
def test_the_same_question_has_the_same_answer_without_work(
    options: AskOptions, served: Repository, sample: Repository
) -> None:
    first, second, uncached = (each.ask(WHERE_AUTH, options) for each in (served, served, sample))
    assert (is_kept(first), is_kept(second), is_kept(uncached)) == (False, True, False)
    for other in (first, uncached):
        assert plain_answer(second) == plain_answer(other) and second.diagnostics == other.diagnostics
    assert second.route is Route.SIMPLE


@pytest.mark.slow
def test_another_question_option_or_index_has_another_answer(served: Repository, tmp_path: Path) -> None:
    served.ask(WHERE_AUTH)
    assert not is_kept(served.ask(WHERE_AUTH + "?"))
    assert not is_kept(served.ask(WHERE_AUTH, AskOptions(top_k=7)))
    assert not is_kept(replace(served, folder="src").ask(WHERE_AUTH))
    assert not is_kept(replace(served, behind=True).ask(WHERE_AUTH))
    (tmp_path / "a.py").write_text("def save_order():\n    pass\n")
    session = Session()
    assert not is_kept(replace(in_memory(tmp_path), session=session).ask("save order"))
    assert is_kept(replace(in_memory(tmp_path), session=session).ask("save order"))
    (tmp_path / "b.py").write_text("x = 1\n")
    assert not is_kept(replace(in_memory(tmp_path), session=session).ask("save order"))


def test_a_file_that_changed_is_not_shown_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("def save_order():\n    return 'before'\n")
    served = replace(in_memory(tmp_path), session=Session())
    before = served.ask("save order")
    assert before.pack is not None and "'before'" in before.pack.text
    file.write_text("def save_order():\n    return 'after it'\n")
    for _ in range(2):
        after = served.ask("save order")
        assert not is_kept(after) and [d.slug for d in after.diagnostics] == ["stale"]
        assert after.pack is not None and "'before'" not in after.pack.text
    file.write_text("def save_order():\n    return 'before'\n")
    assert not is_kept(served.ask("save order")) and is_kept(served.ask("save order"))


@pytest.mark.slow
def test_what_could_be_better_is_not_kept(served: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(OPTIONAL["candidates.history"], failing(ConvergenceError("made to fail")))
        assert served.ask(WHERE_AUTH).diagnostics
    assert served.ask(WHERE_AUTH, deadline=1e-9).diagnostics
    whole = served.ask(WHERE_AUTH)
    assert not is_kept(whole) and whole.diagnostics == ()
    # What is at hand is given however little time there is.
    assert plain_answer(served.ask(WHERE_AUTH, deadline=1e-9)) == plain_answer(whole)


def test_the_route_skip_takes_what_is_at_hand_or_nothing(served: Repository, sample: Repository) -> None:
    skip = AskOptions(route=Route.SKIP)
    for repository in (served, sample):
        nothing = repository.ask(WHERE_AUTH, skip)
        assert nothing.results == () and nothing.pack is None and nothing.route is Route.SKIP
        assert [d.slug for d in nothing.diagnostics] == ["not-cached"]
    usual = served.ask(WHERE_AUTH)
    found = served.ask(WHERE_AUTH, skip)
    assert is_kept(found) and found.answer_id == nothing.answer_id != usual.answer_id
    assert {**plain_answer(found), "answer_id": ""} == {**plain_answer(usual), "answer_id": ""}


def test_a_pattern_that_was_looked_for_everywhere_is_kept_for_small_repositories_only(
    served: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.ask('"token"')
    assert is_kept(served.ask('"token"'))
    monkeypatch.setattr(steps_module, "MAX_FILES", 10)
    served.ask('"verify"')
    assert not is_kept(served.ask('"verify"'))


def test_the_answers_asked_for_longest_ago_are_forgotten(sample: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = CachedAnswer(sample.ask(WHERE_AUTH, AskOptions(max_tokens=200)), ())
    assert kept.answer.pack is not None
    monkeypatch.setattr(steps_module, "MAX_ANSWERS", 3)
    cache = AnswerCache()
    for key in ("a", "b", "c"):
        cache.put(key, kept.answer, ())
    assert cache.get("a") == kept  # so that b is the oldest
    cache.put("d", kept.answer, ())
    assert [cache.get(key) is not None for key in "abcd"] == [True, False, True, True]
    monkeypatch.setattr(steps_module, "MAX_CHARACTERS", 2 * len(kept.answer.pack.text))
    cache.put("d", kept.answer, ())
    assert len(cache) == 2 and cache.get("d") == kept
    cache.forget("d")
    cache.put("e", kept.answer, ())
    assert len(cache) == 2
    cache.put("nothing", replace(kept.answer, pack=None), ())
    assert cache.get("nothing") is None
