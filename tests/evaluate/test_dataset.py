"""Data files that are as they should be, and those that are not: the message names file, line and key."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from causalist.errors import EvaluationError
from causalist.evaluate.mining import read_questions
from causalist.model.node_ids import NodeId, split_id
from tests.benchmarks.questions.hardness import shared_words
from tests.evaluate.clone_builders import row, write_rows

BENCHMARKS = Path(__file__).parents[1] / "benchmarks/questions"


def refused(tmp_path: Path, line: str | bytes) -> str:
    """The message about a file whose second line is `line`."""
    data = tmp_path / "rows.jsonl"
    data.write_bytes(json.dumps(row()).encode() + b"\n" + (line.encode() if isinstance(line, str) else line) + b"\n")
    with pytest.raises(EvaluationError) as raised:
        read_questions(data)
    message = str(raised.value)
    assert f"{data}, line 2: " in message
    return message


def test_reads_rows_in_order_and_ignores_blank_lines_and_other_keys(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    rows = [row(id="b", wording="paraphrased"), row(id="a", hard=True, gold_symbols=["auth.py::validate"])]
    data.write_text("\n" + "\n\n".join(json.dumps(r) for r in rows) + "\r\n", encoding="utf-8")
    first, second = read_questions(data)
    assert (first.id, first.line, first.hard, first.gold_symbols) == ("b", 2, False, ())
    assert (second.id, second.line, second.hard, second.gold_symbols) == ("a", 4, True, ("auth.py::validate",))


@pytest.mark.parametrize("line", ["{", "not json", b"\xff\xfe", '{"id": "x"} {}', "[" * 100_000])
def test_not_json(tmp_path: Path, line: str | bytes) -> None:
    assert "not JSON" in refused(tmp_path, line)


@pytest.mark.parametrize("line", ["[]", "3", '"text"', "null"])
def test_not_an_object(tmp_path: Path, line: str) -> None:
    assert f"object is needed, found {line}" in refused(tmp_path, line)


@pytest.mark.parametrize("key", ["id", "repo", "lang", "base_commit", "query", "gold_files", "hard"])
def test_missing_key(tmp_path: Path, key: str) -> None:
    message = refused(tmp_path, json.dumps({k: v for k, v in row(id="other").items() if k != key}))
    assert f'"{key}"' in message
    assert "no such key" in message


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("id", 3, "found 3"),
        ("query", "  ", 'found "  "'),
        ("base_commit", None, "found null"),
        ("gold_files", [], "found []"),
        ("gold_files", "auth.py", 'found "auth.py"'),
        ("gold_files", ["a.py", 1], 'found ["a.py", 1]'),
        ("gold_files", ["a.py", "a.py"], "names something twice"),
        ("gold_symbols", "auth.py::validate", "list of texts"),
        ("hard", 1, "found 1"),
        ("hard", "true", 'found "true"'),
    ],
)
def test_wrong_type(tmp_path: Path, key: str, value: Any, found: str) -> None:
    message = refused(tmp_path, json.dumps(row(id="other") | {key: value}))
    assert f'"{key}"' in message
    assert found in message


@pytest.mark.parametrize("repo", ["shop", "a/b/c", "../shop", "acme/..", "acme/.", "/shop", "acme/", "a\\b/c", "a/b\n"])
def test_repository_name_that_is_no_folder_of_a_clone(tmp_path: Path, repo: str) -> None:
    assert "OWNER/NAME" in refused(tmp_path, json.dumps(row(id="other", repo=repo)))


def test_two_rows_with_one_id(tmp_path: Path) -> None:
    assert "the id 'q' is already on line 1" in refused(tmp_path, json.dumps(row()))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="cannot be read"):
        read_questions(tmp_path / "absent.jsonl")


def test_line_separators_inside_a_text_are_not_ends_of_lines(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(row(query="one\u2028two"), ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_questions(data)[0].query == "one\u2028two"
    assert read_questions(write_rows(tmp_path / "empty.jsonl", [])) == []


@pytest.mark.parametrize("data", sorted(BENCHMARKS.glob("*.jsonl")), ids=lambda data: data.name)
def test_the_labelled_questions_of_the_benchmarks_are_whole(data: Path) -> None:
    questions = read_questions(data)
    assert len(questions) >= 10
    for question in questions:
        assert re.fullmatch("[0-9a-f]{40}", question.commit), question.id
        # Of the last ones only the files are labelled.
        assert question.gold_symbols or data.name == "ten_more.jsonl", question.id
        for symbol in question.gold_symbols:
            assert split_id(NodeId(symbol))[0] in question.gold_files, f"{question.id}: {symbol} is in no gold file"


@pytest.mark.parametrize("data", sorted(BENCHMARKS.glob("short_*.jsonl")), ids=lambda data: data.name)
def test_the_short_questions_are_short_spread_evenly_and_hard_by_the_measure(data: Path) -> None:
    questions = read_questions(data)
    assert Counter(question.repo for question in questions) == dict.fromkeys({q.repo for q in questions}, 16)
    hard = Counter(question.repo for question in questions if question.hard)
    assert 3 * hard.total() >= len(questions)
    assert all(hard[question.repo] >= 4 for question in questions)
    assert len({question.query for question in questions}) == len(questions)
    for question in questions:
        name = re.fullmatch(r"(.+)-s\d+", question.id)
        assert name, question.id
        assert question.repo.split("/")[1].startswith(name[1]), question.id
        assert 2 <= len(question.query.split()) <= 15, question.id
        assert len(question.gold_files) <= 4, question.id
        assert len(question.gold_symbols) <= 5, question.id
        answering = {split_id(NodeId(symbol))[0] for symbol in question.gold_symbols}
        assert answering == set(question.gold_files), question.id
        assert question.hard == (not shared_words(question.query, question.gold_files)), question.id
