"""What a caller may not see changes no byte of what he is told."""

import hashlib
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

from causalist.errors import FleetError, UnknownNode
from causalist.fleet import Fleet, FleetStore
from causalist.fleet.access import AccessRule, FleetView, digest_of, read_access, visible_names
from causalist.fleet.lookups import find_impact, find_nodes, resolve_node
from causalist.fleet.question import ask_fleet
from tests.cli.commands import invoke
from tests.fleet.test_question import SOURCES, make_fleet

pytestmark = pytest.mark.slow

TOKEN = "of the shop"
# It publishes what `money` does, and newer: without it, an import of the shop means `money`.
SOURCES["secret"] = {
    "pyproject.toml": '[project]\nname = "money"\nversion = "2.0"\n',
    "money/rounding.py": "def round_amount(amount):\n    return amount\n",
    "README.md": "# secret\n\nInvoices, amounts and rounding of the secret shop.\n",
    "secret/ledger.py": "from money.rounding import round_amount\n\n\ndef total_of_invoice(lines):\n"
    "    return round_amount(sum(lines))\n\n\ndef round_amount_twice(amount):\n"
    "    return round_amount(round_amount(amount))\n",
    "tests/test_ledger.py": "from secret.ledger import total_of_invoice\n\n\ndef test_total_of_invoice():\n"
    "    assert total_of_invoice([1]) == 1\n",
}
COMMANDS = [
    ["ask", "where is the total of an invoice computed"],
    ["ask", "round_amount_twice of the secret ledger"],
    ["ask", "amounts", "--json", "--in", "secret"],
    ["ask", "amounts", "--in", "nowhere"],
    ["ask", "total of an invoice", "--level", "file"],
    ["ask", "xyzzy"],
    ["find", "total_of_invoice"],
    ["find", "round_amount_twice"],
    ["find", "ledger"],
    ["find", "amount", "--json"],
    ["ask", "where is the total of an invoice computed", "--json"],
    ["find", "secret:total_of_invoice"],
    ["callers", "round_amount"],
    ["callers", "total_of_invoice", "--json"],
    ["callers", "round_amount_twice"],
    ["callers", "secret:secret/ledger.py::total_of_invoice"],
    ["callers", "nowhere:secret/ledger.py::total_of_invoice"],
    ["impact", "money:round_amount"],
    ["impact", "secret/ledger.py"],
    ["tests", "round_amount"],
    ["tests", "round_amount", "--json"],
    ["path", "checkout", "round_amount"],
    ["path", "secret:total_of_invoice", "round_amount"],
    ["map"],
    ["map", "--json"],
    ["map", "secret"],
]


def run(folder: Path, arguments: list[str], token: str | None) -> tuple[int, str, str]:
    done = invoke("fleet", *arguments, *([] if token is None else ["--token", token]), cwd=folder)
    lines = [line for line in done.stdout.splitlines() if '_ms"' not in line]
    return done.code, "\n".join(lines), done.stderr


def without_times(output: str) -> str:
    """The output without the clock: `timings_ms` is all of a document that may differ between two runs."""
    start = output.find('"timings_ms"')
    return output if start < 0 else output[:start] + output[output.index("}", start) :]


@pytest.fixture(scope="module")
def fleets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A fleet with a hidden repository and one without it, in folders of one name."""
    both = []
    for name, members in (("with", ["money", "secret", "shop"]), ("without", ["money", "shop"])):
        folder = tmp_path_factory.mktemp(name) / "fleet"
        folder.mkdir()
        make_fleet(folder, members)
        rule = f'\n[[access]]\ntoken = "{digest_of(TOKEN)}"\nrepositories = ["mon*", "shop"]\n'
        (folder / "fleet.toml").write_text((folder / "fleet.toml").read_text() + rule)
        both.append(folder)
    return both[0], both[1]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_hidden_repository_changes_no_byte(fleets: tuple[Path, Path], arguments: list[str]) -> None:
    seen, there = (run(folder, arguments, TOKEN) for folder in fleets)
    assert (seen[0], without_times(seen[1]), seen[2]) == (there[0], without_times(there[1]), there[2])
    assert "internal" not in seen[2]
    asked = " ".join(arguments)
    if "secret" not in asked and "ledger" not in asked:
        assert "secret" not in seen[1] + seen[2]


def test_the_owner_sees_all(fleets: tuple[Path, Path]) -> None:
    code, out, _ = run(fleets[0], ["callers", "money:round_amount"], None)
    assert code == 0
    assert "secret:secret/ledger.py::total_of_invoice" not in out  # it uses its own
    code, out, _ = run(fleets[0], ["callers", "secret:money/rounding.py::round_amount"], None)
    assert code == 0 and "shop:shop/invoice.py::total_of_invoice" in out  # the newest is meant


def test_another_token_sees_nothing(fleets: tuple[Path, Path]) -> None:
    code, out, error = run(fleets[0], ["callers", "money:round_amount"], "of a stranger")
    assert code == 2 and out == "" and "unknown-node" in error
    assert run(fleets[0], ["map"], "of a stranger")[0] == 1


def test_a_callback_decides_too(fleets: tuple[Path, Path]) -> None:
    fleet = Fleet.open(fleets[0])
    view = FleetView.of(fleet.file, fleet.store, may_see=lambda name: name != "secret")
    assert view.names == ("money", "shop")
    without = Fleet.open(fleets[1])
    other = FleetView.of(without.file, without.store)
    one, two = (ask_fleet(each, "total of an invoice").answer for each in (view, other))
    assert one.results == two.results and one.pack == two.pack and one.answer_id == two.answer_id


def test_nothing_of_a_hidden_repository_is_read(fleets: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no answer takes longer for it, either."""
    fleet = Fleet.open(fleets[0])
    hidden = set(fleet.shard("secret").objects.values())
    hidden -= {each for name in ("money", "shop") for each in fleet.shard(name).objects.values()}  # the same bytes
    read: list[str] = []
    local_object = FleetStore.local_object

    def recorded(store: FleetStore, digest: str, kind: str) -> Path:
        read.append(digest)
        return local_object(store, digest, kind)

    monkeypatch.setattr(FleetStore, "local_object", recorded)
    view = FleetView.of(fleet.file, fleet.store, may_see=lambda name: name != "secret")
    ask_fleet(view, "round_amount_twice of the secret ledger")
    find_nodes(view, "ledger")
    find_impact(view, [resolve_node(view, "round_amount")])
    for name in ("secret:round_amount_twice", "secret/ledger.py", "round_amount_twice"):
        with pytest.raises(UnknownNode):
            resolve_node(view, name)
    with pytest.raises(FleetError):
        view.repository("secret")
    assert read and not hidden & set(read)


def test_rules_are_read_and_checked(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    Fleet.add(tmp_path, [str(tmp_path / "src")], name="org/a")
    path = tmp_path / "fleet.toml"
    text = path.read_text()
    digest = hashlib.sha256(b"t").hexdigest()
    path.write_text(f'{text}\n[[access]]\ntoken = "{digest}"\nrepositories = ["org/*"]\n')
    file = Fleet.open(tmp_path).file
    rules = read_access(file)
    assert rules == (AccessRule(digest, ("org/*",)),)
    assert visible_names(file, "t", rules) == ("org/a",)
    assert visible_names(file, "u", rules) == visible_names(file, "", rules) == ()
    for wrong in ('token = "t"\nrepositories = []', f'token = "{digest}"', 'token = ""\nrepositories = []\nx = 1'):
        path.write_text(f"{text}\n[[access]]\n{wrong}\n")
        with pytest.raises(FleetError):
            read_access(Fleet.open(tmp_path).file)


def test_adding_a_repository_keeps_the_rules(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x = 1\n")
    Fleet.add(tmp_path, [str(tmp_path / "a")])
    path = tmp_path / "fleet.toml"
    path.write_text(path.read_text() + '\n[[access]]\ntoken = ""\nrepositories = ["a"]\n')
    Fleet.add(tmp_path, [str(tmp_path / "b")])
    assert read_access(Fleet.open(tmp_path).file) == (AccessRule("", ("a",)),)
