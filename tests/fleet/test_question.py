"""A question over several repositories: the right ones answer, on one scale, in one pack."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

from causalist.errors import EmptyQuestion, FleetError
from causalist.fleet import Fleet
from causalist.fleet.access import FleetView
from causalist.fleet.choice import sketch_of
from causalist.fleet.question import ask_fleet
from causalist.fleet.walk import FleetScores, walk_across
from causalist.model.answer import AskOptions, Level

SOURCES = {
    "money": {
        "pyproject.toml": '[project]\nname = "money"\nversion = "1.0"\n',
        "README.md": "# money\n\nAmounts of currencies, rounded as banks do.\n",
        "money/rounding.py": "def round_amount(amount, places=2):\n"
        '    """Round an amount half to even, as banks do."""\n'
        "    return round(amount, places)\n",
        "tests/test_rounding.py": "from money.rounding import round_amount\n\n\ndef test_round_amount():\n"
        "    assert round_amount(1.005) == 1.0\n",
    },
    "shop": {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\ndependencies = ["money"]\n',
        "README.md": "# shop\n\nA web shop: carts, orders and invoices.\n",
        "shop/invoice.py": "from money.rounding import round_amount\n\n\ndef total_of_invoice(lines):\n"
        '    """Return the total of an invoice."""\n    return round_amount(sum(lines))\n',
        "shop/cart.py": "from shop.invoice import total_of_invoice\n\n\ndef checkout(cart):\n"
        "    return total_of_invoice(cart.lines)\n",
    },
    "zoo": {
        "README.md": "# zoo\n\nFeeding plans for animals.\n",
        "zoo/feeding.py": "def plan_feeding(animals):\n    return {animal.name: animal.food for animal in animals}\n",
    },
}


def make_fleet(folder: Path, names: list[str]) -> Fleet:
    """A fleet of folders, indexed."""
    for name in names:
        for path, text in SOURCES[name].items():
            (folder / "src" / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "src" / name / path).write_text(text)
        Fleet.add(folder, [str(folder / "src" / name)], name=name)
    fleet = Fleet.open(folder)
    assert not any(each.error for each in fleet.index())
    return fleet


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> FleetView:
    fleet = make_fleet(tmp_path_factory.mktemp("fleet"), ["money", "shop", "zoo"])
    return FleetView.of(fleet.file, fleet.store)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "repository"),
    [
        ("where is the total of an invoice computed", "shop"),
        ("which animals are fed when", "zoo"),
        ("how are amounts rounded", "money"),
        ("plan_feeding", "zoo"),
    ],
)
def test_the_repository_that_a_question_is_about_answers_first(view: FleetView, question: str, repository: str) -> None:
    found = ask_fleet(view, question)
    assert found.repositories[0].name == repository
    assert found.answer.results[0].id.startswith(f"{repository}:")


@pytest.mark.slow
def test_a_pack_cites_repositories_and_has_their_source(view: FleetView) -> None:
    found = ask_fleet(view, "where is the total of an invoice computed")
    pack = found.answer.pack
    assert pack is not None and pack.tokens <= pack.max_tokens
    assert "shop:shop/invoice.py:4" in pack.text
    assert "return round_amount(sum(lines))" in pack.text


def test_what_an_edge_across_leads_to_is_in_the_pack_behind_its_user(view: FleetView) -> None:
    pack = ask_fleet(view, "total of an invoice", n_repositories=1).answer.pack
    assert pack is not None
    user, used = pack.text.index("def total_of_invoice"), pack.text.index("def round_amount")
    assert user < used
    crossing = [edge for edge in pack.edges if edge.source.startswith("shop:") and edge.target.startswith("money:")]
    assert ("shop:shop/invoice.py::total_of_invoice", "calls") in {(edge.source, edge.kind) for edge in crossing}


def test_the_walk_of_a_question_is_that_of_one_graph(view: FleetView, monkeypatch: pytest.MonkeyPatch) -> None:
    walks = []

    def walk(*arguments: Any, **options: Any) -> FleetScores:
        walks.append(walk_across(*arguments, **options))
        return walks[-1]

    monkeypatch.setattr("causalist.fleet.question.walk_across", walk)
    ask_fleet(view, "how are amounts rounded")
    assert walks[-1].bound <= 1e-5 and not walks[-1].unopened


def test_scores_of_all_repositories_are_on_one_scale(view: FleetView) -> None:
    found = ask_fleet(view, "round an amount of an invoice")
    scores = [hit.score for hit in found.answer.results]
    assert scores == sorted(scores, reverse=True)
    assert sum(each.share for each in found.repositories) <= 1.0 + 1e-9
    by_words = [hit for hit in found.answer.results if hit.reasons[0].signal != "pagerank"]
    assert sum(hit.score for hit in by_words) <= 1.0 + 1e-9


def test_the_same_question_has_the_same_answer(view: FleetView) -> None:
    one, other = (ask_fleet(view, "how are amounts rounded") for _ in range(2))
    assert one.answer.answer_id == other.answer.answer_id
    assert one.answer.results == other.answer.results and one.answer.pack == other.answer.pack


def test_files_answer_too(view: FleetView) -> None:
    found = ask_fleet(view, "total of an invoice", AskOptions(level=Level.FILE))
    assert found.answer.results[0].id == "shop:shop/invoice.py"


def test_what_did_not_answer_in_time_is_named(view: FleetView) -> None:
    found = ask_fleet(view, "how are amounts rounded", deadline=1e-6, n_repositories=3)
    assert set(found.left_out) == {"money", "shop", "zoo"}
    assert any("money" in each.detail for each in found.answer.diagnostics if each.slug == "deadline")
    assert found.answer.results == ()


def test_only_named_repositories_are_asked(view: FleetView) -> None:
    found = ask_fleet(view, "how are amounts rounded", names=["zoo", "shop"])
    assert {hit.id.partition(":")[0] for hit in found.answer.results} <= {"zoo", "shop", "money"}
    assert {each.name for each in found.repositories} <= {"zoo", "shop"}
    with pytest.raises(FleetError, match="not an indexed repository"):
        ask_fleet(view, "how are amounts rounded", names=["nowhere"])


def test_an_empty_question_is_refused(view: FleetView) -> None:
    with pytest.raises(EmptyQuestion):
        ask_fleet(view, " ")


def test_a_fleet_without_an_index_says_so(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    Fleet.add(tmp_path, [str(tmp_path / "src")])
    fleet = Fleet.open(tmp_path)
    with pytest.raises(FleetError, match="fleet index"):
        ask_fleet(FleetView.of(fleet.file, fleet.store), "what is x")


@pytest.mark.slow
def test_a_damaged_shard_costs_itself_alone(tmp_path: Path) -> None:
    fleet = make_fleet(tmp_path, ["money", "shop"])
    index = fleet.store.local_object(fleet.shard("money").objects["index"], "index")
    index.write_bytes(index.read_bytes()[:100])
    found = ask_fleet(FleetView.of(fleet.file, fleet.store), "total of an invoice rounded as banks do")
    assert found.answer.results and all(hit.id.startswith("shop:") for hit in found.answer.results)
    assert [each.slug for each in found.answer.diagnostics] == ["step-skipped"]
    assert "money" in found.answer.diagnostics[0].detail


@pytest.mark.slow
def test_a_fork_is_asked_once(tmp_path: Path) -> None:
    files = {f"m{i}.py": f"def parse_invoice_{i}(text):\n    return text + '{i}'\n" for i in range(20)}
    fork = {**files, "m7.py": "def parse_invoice_7(text):\n    return text.strip()\n"}
    other = {f"n{i}.py": f"def parse_invoice_line_{i}(text):\n    return text * {i}\n" for i in range(20)}
    for name, content in (("invoices", files), ("invoices-fork", fork), ("lines", other)):
        for path, text in content.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text)
    Fleet.add(tmp_path, [str(tmp_path / name) for name in ("invoices", "invoices-fork", "lines")])
    fleet = Fleet.open(tmp_path)
    fleet.index()
    catalog = FleetView.of(fleet.file, fleet.store).catalog
    chosen = [each.name for each in catalog.choose("how is an invoice parsed", 3)]
    assert len(chosen) == 2 and "lines" in chosen
    asked = next(name for name in chosen if name != "lines")
    copy = {"invoices": "invoices-fork", "invoices-fork": "invoices"}[asked]
    view = FleetView.of(fleet.file, fleet.store)
    found = ask_fleet(view, "how is an invoice parsed")
    assert [(each.slug, each.detail) for each in found.answer.diagnostics] == [
        ("copies-left-out", f"left out as copies: {copy} (as {asked})")
    ]
    assert copy not in [each.name for each in found.repositories]
    assert not ask_fleet(view, "how is an invoice parsed", names=[copy]).answer.diagnostics
    # 19 of 21 contents are in both.
    assert abs(catalog.likeness(0, 1) - 19 / 21) < 0.1 and catalog.likeness(0, 2) < 0.05
    assert sketch_of(["ab" * 20]) == [] and sketch_of(["", *(f"{i:016x}" for i in range(5))]) != []
