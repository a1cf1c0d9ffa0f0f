"""Exact look-up: every match, the definition around it, and nothing else."""

import json
import re
import shutil
from pathlib import Path

import pytest

from causalist.errors import UsageError
from causalist.model.answer import Answer, AskOptions, Level, Route
from causalist.model.scores import Hit
from causalist.pipeline import text_search as literals
from causalist.pipeline.repository import Repository
from tests.pipeline.conftest import WorkTree
from tests.pipeline.sample import ROOT, copy_sample

_SHOP = '''"""Errors of the shop: E108 and others."""
import store


def refuse(order):
    raise ValueError("E108: no such order")


class Till:
    """Takes money."""

    def open(self):
        """E108 is not raised here."""
        return "E1080", "e108"

    def close(self):
        return retry_until_policy(1)
'''


@pytest.fixture
def shop(tree: WorkTree) -> Repository:
    tree.write("shop.py", _SHOP)
    tree.write("tests/test_shop.py", 'def test_refuse():\n    assert "E108" in str(refuse)\n')
    tree.write("notes.md", "# Codes\n\nÄ ünï: E108 means that an order is not known.\n")
    return Repository.open(tree.path)


def literal(hit: Hit) -> str:
    (detail,) = [r.detail for r in hit.reasons if r.signal == "literal"]
    return detail


def found(answer: Answer) -> dict[str, str]:
    return {hit.id: literal(hit) for hit in answer.results}


def test_a_literal_is_found_where_it_stands_and_nowhere_else(shop: Repository) -> None:
    answer = shop.ask('"E108"', AskOptions(top_k=10))
    assert answer.route is Route.LOOKUP
    assert found(answer) == {
        "shop.py": '1 in line 1: """Errors of the shop: E108 and others."""',
        "shop.py::refuse": '1 in line 6: raise ValueError("E108: no such order")',
        "shop.py::Till.open": '2 in lines 13, 14: """E108 is not raised here."""',
        "notes.md#codes": "1 in line 3: Ä ünï: E108 means that an order is not known.",
        "tests/test_shop.py::test_refuse": '1 in line 2: assert "E108" in str(refuse)',
    }
    assert [hit.id for hit in answer.results][-1].startswith(("tests/", "notes"))


def test_files_have_the_matches_of_all_that_is_inside(shop: Repository) -> None:
    answer = shop.ask('"E108"', AskOptions(level=Level.FILE))
    assert found(answer)["shop.py"].startswith("4 in lines 1, 6, 13, 14: ")
    assert set(found(answer)) == {"shop.py", "notes.md", "tests/test_shop.py"}


@pytest.mark.parametrize(
    ("question", "nodes"),
    [
        ("/retry_.*_policy/", {"shop.py::Till.close"}),
        (
            "/E108\\b/",
            {"shop.py", "shop.py::refuse", "shop.py::Till.open", "notes.md#codes", "tests/test_shop.py::test_refuse"},
        ),
        ("/^class/", {"shop.py::Till"}),
        ("/TAKES money/i", {"shop.py::Till"}),
        ("/TAKES money/", set()),
        ("/ünï:/", {"notes.md#codes"}),
        ("'takes Money'", set()),
        ('"saved"', {"README.md#shop"}),
        ("/x*/", set()),
    ],
)
def test_expressions_and_case(question: str, nodes: set[str], shop: Repository) -> None:
    assert {hit.id for hit in shop.ask(question).results} == nodes


def test_a_literal_inside_of_a_question_raises_what_has_it(shop: Repository) -> None:
    best = shop.ask('when is "E108: no such order" raised?').results[0]
    assert best.id == "shop.py::refuse" and literal(best).startswith("1 in line 6")
    assert shop.ask("when is an order refused?").results[0].id == "shop.py::refuse"


def test_what_is_not_shown_is_counted(shop: Repository) -> None:
    answer = shop.ask('"E108"', AskOptions(top_k=2))
    assert [d.detail for d in answer.diagnostics if d.slug == "more-matches"] == [
        "4 more in 3 other places; --top-k shows more of them"
        if found(answer).keys() == {"shop.py", "shop.py::refuse"}
        else "3 more in 3 other places; --top-k shows more of them"
    ]


def test_an_expression_that_does_not_compile_is_refused(shop: Repository) -> None:
    with pytest.raises(UsageError, match=r"invalid regular expression /\(/: missing \)"):
        shop.ask("/(/")


def test_an_expression_that_never_ends_is_stopped(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("data.txt", "x" + "a" * 40 + "!")
    monkeypatch.setattr(literals, "TIME_LIMIT_SECONDS", 0.2)
    with pytest.raises(UsageError, match=r"takes more than 0\.2 s"):
        Repository.open(tree.path).ask("/x(a|aa|a?)+$/")


@pytest.mark.slow
def test_every_match_of_a_plain_search_is_found(tmp_path: Path) -> None:
    """Counted by hand of Python's own `re` over the files, one after the other."""
    root = copy_sample(tmp_path)
    for folder in ("docs", "tests/pipeline"):
        shutil.copytree(ROOT / folder, root / "own" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    repository = Repository.open(root)
    manifest = repository.index.manifest
    searched = [p for p, blob in zip(manifest.paths, manifest.blobs, strict=True) if blob]  # not what is minified
    files = {p: (root / p).read_text() for p in searched}
    for expression in (r"verify\w+", r"\bthrow new \w+Error\(", r"TODO|FIXME", "é|ü|–"):
        expected = {path: len(re.findall(expression, text)) for path, text in files.items()}
        answer = repository.ask(f"/{expression}/", AskOptions(level=Level.FILE, top_k=1000))
        told = {hit.path: int(literal(hit).partition(" ")[0]) for hit in answer.results}
        assert told == {path: n for path, n in expected.items() if n}


def test_a_file_that_has_changed_since_is_told_and_not_searched(shop: Repository) -> None:
    Path(shop.root, "shop.py").write_text("E108 E108")
    answer = shop.ask('"E108"')
    assert "shop.py" not in {hit.path for hit in answer.results}
    assert any(d.slug == "stale" and "shop.py" in d.detail for d in answer.diagnostics)


# -- messages that a program printed


def test_the_place_that_prints_a_message_is_found_by_its_fixed_words(tree: WorkTree) -> None:
    """`no such order in shop`: five of seven words stand in a row where it is raised; the number was filled in."""
    tree.write("till.py", 'def refuse(n):\n    x = 1\n    raise ValueError(f"order {n}: no such order in shop")\n')
    tree.write("shop.py", "def order(shop):\n    return shop.order\n\n\ndef such(order):\n    return order\n")
    tree.write("tests/test_till.py", 'def test_it():\n    assert "order 7: no such order in shop"\n')
    question = "It stops\n\nTraceback (most recent call last):\nValueError: order 7: no such order in shop\n"
    answer = Repository.open(tree.path).ask(question)
    assert answer.results[0].id == "till.py::refuse"
    assert literal(answer.results[0]).startswith("1 in line 3: raise ValueError(")


def test_a_message_of_other_programs_is_found_nowhere(shop: Repository) -> None:
    answer = shop.ask("It stops\n\nOSError: no such file or directory\n")
    assert not [r for hit in answer.results for r in hit.reasons if r.signal == "literal"]


_PRINTING = {
    "till.py": 'def refuse(n):\n    """Refuses orders."""\n    raise ValueError(\n        f"order {n} is not known "\n'
    '        "in this shop"\n    )\n',
    "shop.py": "def order(shop, known):\n    # an order is known in this shop, or not\n    return shop.order(known)\n",
    "tests/test_till.py": 'def test_it():\n    assert "order 7 is not known in this shop"\n',
    "notes.md": "# Orders\n\nIt prints: order 7 is not known in this shop\n",
}


@pytest.mark.parametrize(
    "question",
    [
        "order 7 is not known in this shop",
        "why do I get order 7 is not known in this shop",
        "why do I get `order 7 is not known in this shop`",
        '"order 8 is not known in this shop"',  # 7 stands in the notes
        "2024-05-01 10:11:12 ERROR till: order 7 is not known in this shop",
        'time="2024-05-01T10:11:12Z" level=error msg="order \\"7\\" is not known in this shop" shop=a',
        "order 7 is no longer known in this shop",
    ],
)
def test_the_place_that_prints_a_bare_message(tree: WorkTree, question: str) -> None:
    for path, text in _PRINTING.items():
        tree.write(path, text)
    answer = Repository.open(tree.path).ask(question)
    assert answer.results[0].id == "till.py::refuse"
    assert literal(answer.results[0]) == '1 in line 4: f"order {n} is not known "'
    assert [h.id for h in answer.results if any(r.signal == "literal" for r in h.reasons)] == ["till.py::refuse"]


def test_a_quoted_message_with_parts_filled_in_is_found_and_that_is_told(tree: WorkTree) -> None:
    for path, text in _PRINTING.items():
        tree.write(path, text)
    repository = Repository.open(tree.path)
    answer = repository.ask('"order 8 is not known in this shop"')
    assert [d.detail for d in answer.diagnostics if d.slug == "broadened"] == [
        "it stands nowhere as it is quoted; found is what may print it, with parts filled in"
    ]
    # What stands there is found to the letter, and what nothing prints is not found.
    assert {h.id for h in repository.ask('"order 7 is not known in this shop"').results} == {
        "notes.md#orders",
        "tests/test_till.py::test_it",
    }
    assert repository.ask('"order 8 was eaten by some dog"').results == ()


_LIMITS = {
    "plans.py": 'def plan_limit(plan):\n    """The limit of a plan."""\n    return {"team": 10}.get(plan)\n',
    "boards.py": "def make_board(team):\n    return [team]\n",
    "cards.py": "def move_card(card, board):\n    board.append(card)\n",
}
_AS_WORDS = "it stands nowhere as it is quoted; it is answered as a question in words, without the quotes"
_REPORT = (
    'plan_limit returns None for team plan\n\n### Steps\n1. call `plan_limit("team")`\n\n```\n'
    'Traceback (most recent call last):\n  File "/srv/app/plans.py", line 3, in plan_limit\nKeyError: 1\n```\n'
)


def _as_words(answer: Answer) -> list[str]:
    return [d.slug for d in answer.diagnostics if d.detail == _AS_WORDS]


@pytest.fixture
def limits(tree: WorkTree) -> Repository:
    for path, text in _LIMITS.items():
        tree.write(path, text)
    return Repository.open(tree.path)


@pytest.mark.parametrize("escape_others", [True, False])
def test_a_report_as_a_json_string_is_answered_as_its_text(limits: Repository, escape_others: bool) -> None:
    report = _REPORT.replace("None", "“None”")
    quoted = json.dumps(report, ensure_ascii=escape_others)
    assert "\n" not in quoted
    answer, plain = limits.ask(quoted), limits.ask(report)
    assert plain.results[0].id == "plans.py::plan_limit"
    assert answer.results == plain.results and answer.confidence == plain.confidence
    assert answer.attempts == 2 and _as_words(answer) == ["broadened"] and _as_words(plain) == []


@pytest.mark.slow
@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_sentence_in_quotes_is_answered_as_a_question(limits: Repository, quote: str) -> None:
    sentence = "plan_limit returns None for the team plan today"  # 8 words
    answer = limits.ask(f"{quote}{sentence}{quote}")
    assert answer.results == limits.ask(sentence).results and answer.results[0].id == "plans.py::plan_limit"
    assert _as_words(answer) == ["broadened"]


@pytest.mark.parametrize(
    "question",
    [
        '"plan_limit returns None for the team plan"',  # 7 words
        '"plan_limit returns\\nNone"',  # 3 words in two lines
        '"plan_limit"x"',
        "/plan_limit returns None for the team plan for all of us/",
    ],
)
def test_a_short_literal_or_an_expression_that_stands_nowhere_finds_nothing(limits: Repository, question: str) -> None:
    answer = limits.ask(question)
    assert answer.results == () and answer.diagnostics == () and answer.attempts == 1


def test_four_words_in_two_lines_of_a_json_string_are_a_question(limits: Repository) -> None:
    assert limits.ask('"plan_limit returns\\nNone today"').results[0].id == "plans.py::plan_limit"


def test_a_long_literal_that_stands_somewhere_is_found_to_the_letter(limits: Repository, tree: WorkTree) -> None:
    tree.write("notes.md", "# A\n\nplan_limit returns None for the team plan, as it should\n")
    answer = Repository.open(tree.path).ask('"plan_limit returns None for the team plan, as it should"')
    assert [hit.path for hit in answer.results] == ["notes.md"] and answer.attempts == 1


def test_half_of_a_surrogate_pair_in_a_json_string_is_read(limits: Repository) -> None:
    assert limits.ask('"plan_limit returns \\ud800 for the\\nteam plan"').results[0].id == "plans.py::plan_limit"


def test_what_is_quoted_in_a_message_is_part_of_it_and_what_stands_everywhere_is_a_word(tree: WorkTree) -> None:
    tree.write("till.py", 'def refuse(n):\n    raise ValueError(f"no order {n} in the shop of the town")\n')
    tree.write("web.py", "".join(f'def a{i}():\n    return "web"\n\n\n' for i in range(51)))
    tree.write("few.py", "".join(f'def b{i}():\n    return "api"\n\n\n' for i in range(5)))
    repository = Repository.open(tree.path)

    def with_literal(question: str) -> set[str]:
        results = repository.ask(question, AskOptions(top_k=60)).results
        return {h.id for h in results if any(r.signal == "literal" for r in h.reasons)}

    assert with_literal('no order "api" in the shop of the town') == {"till.py::refuse"}
    assert with_literal('who returns "api"') == {f"few.py::b{i}" for i in range(5)}
    assert with_literal('who returns "web"') == set()


def test_a_message_stands_in_a_comment_by_accident_and_in_settings_without_quotes(tree: WorkTree) -> None:
    tree.write("till.py", "def refuse(n):\n    # it's so: an order is not known in this shop\n    return n\n")
    tree.write("messages.txt", "unknown: an order is not known in this shop\n")
    answer = Repository.open(tree.path).ask("why do I get `an order is not known in this shop`")
    assert {h.path for h in answer.results if any(r.signal == "literal" for r in h.reasons)} == {"messages.txt"}


def test_a_message_in_a_file_of_texts_leads_to_what_shows_it_also_over_several_lines(tree: WorkTree) -> None:
    tree.write(
        "locales/en.yml",
        "till:\n  closed: >-\n    The till of this shop is closed.\n    Somebody has to count its coins before noon.\n"
        "  open: The drawer of the register stands open again\n  unused: A sentence without any reader\n",
    )
    tree.write("till.ts", "export function close(i18n) {\n  return i18n.t('till.closed');\n}\n")
    tree.write("drawer.ts", "export function open(i18n) {\n  return i18n.t('till.open');\n}\n")
    repository = Repository.open(tree.path)

    def with_literal(message: str) -> set[str]:
        results = repository.ask(f'Where is "{message}" shown?').results
        return {h.id for h in results if any(r.signal == "literal" for r in h.reasons)} - {"locales/en.yml"}

    assert with_literal("Somebody has to count its coins before noon.") == {"till.ts::close"}
    assert with_literal("The drawer of the register stands open again") == {"drawer.ts::open"}
    assert with_literal("A sentence without any reader") == set()
