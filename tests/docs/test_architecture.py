"""The tables of docs/architecture.md list what the code has, no more and no less."""

import tomllib

import pytest

from causalist.model.graph import EdgeKind
from causalist.model.index import Index
from causalist.model.node_ids import NodeKind
from causalist.store import index_file
from tests.docs import tables
from tests.docs.blocks import ROOT, blocks_of
from tests.docs.markdown import fenced_blocks
from tests.docs.worked_example import compute


@pytest.fixture(scope="module")
def page() -> str:
    return tables.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def index() -> Index:
    return compute().repository.index


@pytest.mark.parametrize("name", sorted(tables.contents()))
def test_generated_tables_are_up_to_date(name: str, page: str) -> None:
    assert blocks_of(page, "generated")[name] == tables.contents()[name], "run `python -m tests.docs.tables --write`"


def test_all_generated_tables_are_known(page: str) -> None:
    assert set(blocks_of(page, "generated")) == {*tables.contents(), "arrays"}


def test_the_arrays_are_those_of_an_index(page: str, index: Index) -> None:
    written = blocks_of(page, "generated")["arrays"]
    assert written == tables.arrays_table(index), "run `python -m tests.docs.tables --write`"


def test_the_number_of_the_format_is_current(page: str) -> None:
    assert f"number of the format, {index_file._FORMAT} |" in page


def test_every_kind_of_node_is_described(page: str) -> None:
    listed = {name for row in tables.rows_after(page, "### Kinds of nodes") for name in tables.codes(row[0])}
    assert listed == {kind.label for kind in NodeKind}


def test_the_code_map_names_every_package_and_no_other(page: str) -> None:
    """Packages at any depth, and the modules at the top."""
    top = ROOT / "causalist"
    found = {f"{p.parent.relative_to(ROOT).as_posix()}/" for p in top.rglob("__init__.py")} - {"causalist/"}
    found |= {f"causalist/{p.name}" for p in top.glob("*.py") if not p.name.startswith("__")}
    listed = [name for row in tables.rows_after(page, "## Code map") for name in tables.codes(row[0])]
    assert len(listed) == len(set(listed))
    assert set(listed) == found


def test_the_layers_are_those_of_the_contract(page: str) -> None:
    """The page shows the first contract of import-linter, without the module that only starts the command line."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = [line for line in data["tool"]["importlinter"]["contracts"][0]["layers"] if line != "__main__"]
    shown = next(block.text for block in fenced_blocks(page) if "cli\nservers\n" in block.text)
    assert shown.splitlines() == layers


def test_the_kinds_that_nothing_makes_are_those_of_the_page(page: str) -> None:
    """The page says that edges of these kinds do not exist yet."""
    made = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "causalist" / "graph").rglob("*.py"))
    unmade = [kind for kind in EdgeKind if f"EdgeKind.{kind.name}" not in made]
    assert unmade == [EdgeKind.CO_CHANGES, EdgeKind.SIMILAR, EdgeKind.RELATED_TO]
    assert "Nothing makes the kinds `co_changes`, `similar` and `related_to` yet" in " ".join(page.split())
