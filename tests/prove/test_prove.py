"""`causalist prove` from end to end, on a program whose failures are worked out by hand."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from causalist import Repository
from causalist.cli import COMMANDS
from causalist.prove import read_proofs
from causalist.store import PROVEN_NAME
from tests.benchmarks.prove.__main__ import state_of
from tests.cli.commands import CHECKOUT, Done, invoke, write_all
from tests.prove.programs import NEED_VAT, PRICES, SHOP, TESTS, VAT_EDGES

pytest.importorskip("mutmut", reason="the extra `prove` is not installed")
pytestmark = pytest.mark.slow
_NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


def _make_shop(folder: Path) -> Path:
    assert "prove" in COMMANDS
    root = write_all(folder, SHOP)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "shop"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


def _prove(root: Path, node: str, *more: str) -> dict[str, object]:
    done = invoke("prove", node, "--repo", str(root), "--python", sys.executable, "--json", *more)
    assert done.code in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for name in [name for name in os.environ if name.startswith(("PYTEST_", "COV_"))]:
            patch.delenv(name)
        patch.setenv(_NO_PLUGINS, "1")  # loading those of this environment takes longer than the tests of a shop
        yield Path(os.environ["XDG_CACHE_HOME"])


@pytest.fixture(scope="module")
def proven(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The shop, and the document after `vat` was proven with three mutants."""
    root = _make_shop(tmp_path_factory.mktemp("shop"))
    before = state_of(root)
    document = _prove(root, "vat", "--max-mutants", "3", "--jobs", "2")
    assert state_of(root) == before
    return root, document


def test_tests_that_fail_with_mutants_alone_are_proofs(proven: tuple[Path, dict[str, object]]) -> None:
    _, document = proven
    tests = {each["test"]: each for each in document["tests"]}
    assert {test for test, each in tests.items() if each["proven"]} == NEED_VAT
    assert tests[f"{TESTS}test_fails_always"]["left_out"] == "fails without a mutant"
    assert tests[f"{TESTS}test_is_skipped"]["left_out"] == "is skipped"
    loosely = tests[f"{TESTS}test_guarded_loosely"]
    assert (loosely["left_out"], loosely["proven"], loosely["by"]) == (None, 0, None)
    assert {(e["source"], e["target"], e["direct"]) for e in document["edges"]} == VAT_EDGES
    assert document["undecided"] == 0 and len(document["mutants"]) == 3


def test_looking_up_shows_it(proven: tuple[Path, dict[str, object]]) -> None:
    root, _ = proven
    edges = json.loads(invoke("callers", "vat", "--json", "--repo", str(root)).stdout)["edges"]
    (edge,) = [each for each in edges if each["source"] == f"{PRICES}gross"]
    assert edge["confidence"] == 1.0 and list(edge["proven"]) == ["node", "mutant", "test", "n", "time"]
    assert edge["proven"]["node"] == f"{PRICES}vat"
    assert edge["proven"]["mutant"].endswith("raises an error at the start")
    assert "proven" not in next(each for each in edges if each["source"] == f"{PRICES}guarded")
    tests = json.loads(invoke("tests", "vat", "--json", "--repo", str(root)).stdout)["tests"]
    assert {each["node"] for each in tests if each["edge"].get("proven")} == NEED_VAT
    assert "proven" in invoke("verify", "gross", "vat", "--repo", str(root)).stdout
    status = json.loads(invoke("status", "--json", "--repo", str(root)).stdout)
    assert status["proven"] == {"functions": 1, "tests": len(NEED_VAT), "edges": len(VAT_EDGES), "stale": 0}
    assert "\nproven    4 tests of 1 function, 7 edges; 0 stale\n" in invoke("status", "--repo", str(root)).stdout
    plain = json.loads(invoke("callers", "vat", "--json", "--no-observed", "--repo", str(root)).stdout)["edges"]
    assert not any("proven" in each for each in plain)


def test_paths_of_proven_edges(proven: tuple[Path, dict[str, object]]) -> None:
    root, _ = proven

    def path(*arguments: str) -> Done:
        return invoke("path", *arguments, "--json", "--repo", str(root))

    done = path(f"{TESTS}test_total", f"{PRICES}vat", "--at-least", "proven")
    assert [hop["node"] for hop in json.loads(done.stdout)["hops"]] == [
        f"{TESTS}test_total", f"{TESTS}cart", f"{PRICES}Cart", f"{PRICES}Cart.__init__", f"{PRICES}logged.wrapper",
        f"{PRICES}gross", f"{PRICES}vat",
    ]  # fmt: skip
    # What `guarded` catches leaves no way, but the test needs `vat`.
    done = path(f"{TESTS}test_guarded", f"{PRICES}vat", "--at-least", "proven")
    assert [hop["edge"] for hop in json.loads(done.stdout)["hops"]] == [None, "tests"]
    assert path(f"{PRICES}guarded", f"{PRICES}vat").code == 0
    for level in ("proven", "observed"):
        done = path(f"{PRICES}guarded", f"{PRICES}vat", "--at-least", level)
        assert done.code == 1 and f"no path of {level} edges" in done.stderr
    assert path(f"{PRICES}gross", f"{PRICES}vat", "--at-least", "observed").code == 0


def test_what_is_decided_is_not_run_again(
    proven: tuple[Path, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, document = proven
    kept = (root / ".causalist" / PROVEN_NAME).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("causalist.prove.experiment.run_tests", None)
        assert _prove(root, "vat", "--max-mutants", "3") == document
    assert (root / ".causalist" / PROVEN_NAME).read_bytes() == kept


def test_a_change_makes_proofs_stale_and_nothing_else(tmp_path: Path) -> None:
    root = _make_shop(tmp_path / "shop")
    first = _prove(root, "gross", "--max-mutants", "1")
    assert {each["test"] for each in first["tests"] if each["proven"]} == {f"{TESTS}test_total", f"{TESTS}test_gross"}
    text = SHOP["src/shop/prices.py"]
    write_all(root, {"src/shop/prices.py": text.replace("return function(*arguments)", "return function( *arguments)")})
    done = invoke("tests", "gross", "--json", "--repo", str(root))
    found = json.loads(done.stdout)["tests"]
    assert done.stderr.count("note: stale, something changed since: ") >= 2
    assert len(found) == 2 and not any(each["edge"].get("proven") for each in found if each["edge"]["kind"] == "tests")
    done = invoke("callers", "gross", "--repo", str(root))
    assert "note: stale, something changed since: " in done.stderr and "proven by" in done.stderr
    # The fixture and the class are as they were.
    assert (
        invoke("path", f"{TESTS}cart", f"{PRICES}Cart.__init__", "--at-least", "proven", "--repo", str(root)).code == 0
    )
    assert invoke("path", f"{TESTS}cart", f"{PRICES}gross", "--at-least", "proven", "--repo", str(root)).code == 1
    again = _prove(root, "gross", "--max-mutants", "1")
    assert {each["test"] for each in again["tests"] if each["proven"]} == {f"{TESTS}test_total", f"{TESTS}test_gross"}
    assert invoke("callers", "gross", "--repo", str(root)).stderr == ""


def test_an_unchanged_way_keeps_what_is_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change elsewhere: the tests run without a mutant, and none of the mutants."""
    root = _make_shop(tmp_path / "shop")
    first = _prove(root, "sold", "--max-mutants", "2")
    write_all(root, {"src/shop/other.py": "X = 1\n"})
    run = 0
    from causalist.prove import experiment

    plain = experiment.run_tests

    def counted(*arguments: object, **named: object) -> object:
        nonlocal run
        run += 1
        return plain(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(experiment, "run_tests", counted)
    second = _prove(root, "sold", "--max-mutants", "2")
    assert run == 2 and second["mutants"] == first["mutants"] and second["tests"] == first["tests"]


def test_a_mutant_that_nobody_notices(tmp_path: Path) -> None:
    root = _make_shop(tmp_path / "shop")
    done = invoke(
        "prove", "shout", "--repo", str(root), "--python", sys.executable, "--max-mutants", "2"
    )  # fmt: skip
    assert done.code == 1 and "nothing is proven: no test notices when" in done.stderr
    assert "no test notices\n" in done.stdout and "raises an error at the start" in done.stdout
    done = invoke("prove", "lonely", "--repo", str(root), "--python", sys.executable)
    assert done.code == 1 and "no test is known to reach src/shop/prices.py::lonely" in done.stderr


def test_time_that_is_up_and_going_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `prove` has time for one test of one run of pytest: what ended before is not run again."""
    root = _make_shop(tmp_path / "shop")
    first = _prove(root, "sold", "--max-mutants", "1", "--max-seconds", "0.01")
    assert first["undecided"] == 1 and first["mutants"] == []
    from causalist.prove import experiment

    plain, ran = experiment.run_tests, []

    def cut(*arguments: object, **named: object) -> object:
        run = plain(*arguments, **named)  # type: ignore[arg-type]
        ran.append(list(run.ended))
        names = list(run.ended)[1:]
        for name in names:
            del run.ended[name]
        run.is_over = not names
        return run

    monkeypatch.setattr(experiment, "run_tests", cut)
    document, n_runs = first, []
    text = SHOP["tests/test_prices.py"] + "\n\ndef test_sold_out():\n    assert list(sold('')) == []\n"
    write_all(root, {"tests/test_prices.py": text})
    while document["undecided"]:
        done = invoke("prove", "sold", "--repo", str(root), "--python", sys.executable, "--max-mutants", "1", "--json")
        document = json.loads(done.stdout)
        n_runs.append(len(ran))
        if len(n_runs) == 1:
            assert "1 run of a test kept; run the command again" in done.stderr
            assert json.loads(invoke("status", "--json", "--repo", str(root)).stdout)["proven"]["functions"] == 0
        assert len(n_runs) < 9
    one, two = f"{TESTS}test_sold", f"{TESTS}test_sold_out"
    # Plain and with a trace; then, of each, broken, and broken and whole once more.
    assert ran == [[one, two], [two], [one, two], [two], [one, two], [one], [one], [two], [two], [two]]
    assert n_runs == [1, 3, 7, 10]
    assert {each["test"] for each in document["tests"] if each["proven"]} == {one, two}
    store = read_proofs((root / ".causalist",))
    assert store is not None and store.nodes[f"{PRICES}sold"].plain_runs is None


def test_a_test_that_changes_files_changes_a_copy_and_no_later_run(tmp_path: Path) -> None:
    files = {
        "app.py": "from pathlib import Path\n\nDATA = Path(__file__).with_name('data.txt')\n\n\n"
        "def save(text):\n    DATA.write_text(text)\n\n\ndef load():\n    return DATA.read_text()\n",
        "data.txt": "one",
        "test_app.py": "import subprocess\nimport sys\n\nimport app\n\n\n"
        "def test_save():\n    app.save('two')\n    assert app.load() == 'two'\n\n\n"
        "def test_load():\n    assert app.load() in ('one', 'two')\n\n\n"
        "def run(code):\n    subprocess.run([sys.executable, '-c', f'import app; {code}'], check=True)\n\n\n"
        "def test_elsewhere():\n    assert app.save\n    run('app.save(chr(51)); assert app.load() == chr(51)')\n\n\n"
        "def test_elsewhere_perhaps():\n    assert app.save\n    run('app.load')\n\n\n"
        "def test_nowhere():\n    assert app.save\n",
    }
    root = write_all(tmp_path / "app", files)
    document = _prove(root, "save", "--max-mutants", "4")
    tests = {each["test"].removeprefix("test_app.py::"): each for each in document["tests"]}
    assert {test for test, each in tests.items() if each["proven"]} == {"test_save", "test_elsewhere"}
    # What another process runs is not seen, but a failure shows it.
    assert {test for test, each in tests.items() if each["in_doubt"]} == {"test_elsewhere_perhaps"}
    assert tests["test_nowhere"]["left_out"] == "does not run it"
    assert (root / "data.txt").read_text() == "one"


def test_what_another_test_or_chance_breaks_is_no_proof(tmp_path: Path) -> None:
    """`test_b` fails where `test_a` fails before it, and runs nothing of `start`.

    The other two end as planned: in the runs twice without a mutant, with the first one, then with it and without it in
    turn. One fails and passes as a proof would at first, and the other one fails without it, too.
    """
    files = {
        "app.py": "STATE = {}\n\n\ndef start():\n    return True\n\n\n"
        "def is_open():\n    return 'closed' not in STATE\n",
        "test_app.py": "import app\n\n\ndef test_a():\n    try:\n        assert app.start()\n    except Exception:\n"
        "        app.STATE['closed'] = 1\n        raise\n\n\ndef test_b():\n    assert app.is_open()\n    app.start\n"
        "\n\ndef ends(name, plan):\n    with open(FOLDER + name, 'a') as file:\n        file.write('x')\n"
        "    try:\n        app.start()\n    except Exception:\n        pass\n"
        "    assert plan[os.stat(FOLDER + name).st_size - 1 :][:1] != 'F'\n"
        "\n\ndef test_lucky():\n    ends('lucky', 'PPFFPP')\n\n\ndef test_flaky():\n    ends('flaky', 'PPFFF')\n",
    }
    files["test_app.py"] = f"import os\n\nFOLDER = {os.fspath(tmp_path)!r} + os.sep\n{files['test_app.py']}"
    root = write_all(tmp_path / "app", files)
    document = _prove(root, "start", "--max-mutants", "2")
    left_out = {each["test"].rpartition("::")[2]: each["left_out"] for each in document["tests"]}
    assert left_out["test_flaky"] == "ends differently each time without a mutant"
    assert not left_out["test_lucky"]
    assert {each["test"] for each in document["tests"] if each["proven"]} == {"test_app.py::test_a"}


def test_a_function_that_loading_code_runs_shows_its_way_in_a_test(tmp_path: Path) -> None:
    """One that raises at once breaks the import, so that no test begins; one more mutant raises in tests alone."""
    files = {
        "app.py": "def start():\n    return True\n\n\ndef run():\n    return start()\n\n\nREADY = start()\n",
        "test_app.py": "import app\n\n\ndef test_run():\n    assert app.run()\n",
    }
    document = _prove(write_all(tmp_path / "app", files), "start", "--max-mutants", "1")
    assert [each["what"].removeprefix("raises an error at the start") for each in document["mutants"]] == [
        " of a run by a test", "",
    ]  # fmt: skip
    assert {(each["source"], each["target"]) for each in document["edges"]} == {
        ("test_app.py::test_run", "app.py::run"), ("app.py::run", "app.py::start"),
    }  # fmt: skip


def test_a_mutant_that_never_ends(tmp_path: Path) -> None:
    files = {
        # A step takes time and no processor.
        "app.py": "import time\n\n\ndef wait():\n    time.sleep(0.01)\n\n\n"
        "def steps(n):\n    while n > 0:\n        n -= 1\n        wait()\n    return n\n",
        "test_app.py": "import app\n\n\ndef test_steps():\n    assert app.steps(3) == 0\n",
    }
    root = write_all(tmp_path / "app", files)
    document = _prove(root, "steps", "--max-mutants", "4", "--test-seconds", "1.5")
    outcomes = {each["what"]: each["outcomes"]["test_app.py::test_steps"] for each in document["mutants"]}
    assert outcomes["`n -= 1` becomes `n = 1`"] == "hangs"
    assert outcomes["raises an error at the start"] == "proven"


def test_what_cannot_be_proven_is_refused(tmp_path: Path) -> None:
    root = _make_shop(tmp_path / "shop")
    write_all(root, {"web/app.ts": "export function start() { return 1 }\n"})

    def refuse(node: str, *more: str) -> Done:
        return invoke("prove", node, "--repo", str(root), *more)

    assert "is a file" in refuse("src/shop/prices.py").failed("usage")
    assert "is a class" in refuse("Cart").failed("usage")
    assert "belongs to the tests" in refuse("test_gross").failed("usage")
    assert "is not Python" in refuse("web/app.ts::start").failed("usage")
    assert "nothing" in refuse("nothing").failed("unknown-node")
    assert "cannot run" in refuse("vat", "--python", "no-such-python").failed("proof-failed")
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    python = bare / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    message = refuse("vat", "--python", str(python)).failed("proof-failed")
    assert "has no pytest" in message and str(python) in message
    assert invoke("prove", "--repo", str(root)).code == 2
    assert invoke("prove", "vat", "--forget", "--repo", str(root)).code == 2


def test_the_environment_of_the_repository_is_used(tmp_path: Path) -> None:
    root = _make_shop(tmp_path / "shop")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / ".venv")], check=True)
    message = invoke("prove", "vat", "--repo", str(root)).failed("proof-failed")
    assert str(root / ".venv") in message and "has no pytest" in message


def test_tests_that_import_an_installed_copy_are_refused(tmp_path: Path) -> None:
    """A test that puts another copy of the code first on its path breaks nothing there."""
    root = _make_shop(tmp_path / "shop")
    first = f"import sys\n\nsys.path.insert(0, {str(root / 'src')!r})\n"
    write_all(root, {"tests/conftest.py": first})
    done = invoke("prove", "vat", "--repo", str(root), "--python", sys.executable)
    assert "and not the copy of src/shop/prices.py" in done.failed("proof-failed")


def test_the_index_does_not_depend_on_it(
    proven: tuple[Path, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all plug-ins of pytest that are installed here."""
    monkeypatch.delenv(_NO_PLUGINS)
    root, _ = proven
    index = root / ".causalist" / "index.bin"
    Repository.open(root, exact_root=True)
    before = index.read_bytes()
    _prove(root, "sold", "--max-mutants", "1")
    assert index.read_bytes() == before
    store = read_proofs((root / ".causalist",))
    assert store is not None and set(store.nodes) == {f"{PRICES}vat", f"{PRICES}sold"}
    rebuilt = Repository.open(root, exact_root=True).index.graph
    assert all(rebuilt.edge(e).proven is None for e in range(len(rebuilt.edges)))


def test_a_damaged_file_counts_as_none_and_forget_deletes_it(tmp_path: Path) -> None:
    root = _make_shop(tmp_path / "shop")
    _prove(root, "sold", "--max-mutants", "1")
    path = root / ".causalist" / PROVEN_NAME
    whole = path.read_bytes()
    for damaged in (whole[:-3], whole.replace(b'"nodes"', b'"nodez"'), b"", b"[]\n[]\n", b'{"format":99}\n{}\n'):
        path.write_bytes(damaged)
        assert read_proofs((path.parent,)) is None
        assert invoke("callers", "sold", "--repo", str(root)).code == 0
    path.write_bytes(whole)
    assert invoke("prove", "--forget", "--repo", str(root)).stderr == "causalist: forgot what was proven\n"
    assert invoke("prove", "--forget", "--repo", str(root)).stderr == "causalist: nothing was proven\n"


@pytest.mark.skipif(os.name == "nt", reason="no such signal on this system")
def test_killing_it_at_any_time_leaves_the_work_tree_as_it_was(tmp_path: Path) -> None:
    root = _make_shop(tmp_path / "shop")
    write_all(root, {"src/shop/prices.py": SHOP["src/shop/prices.py"] + "\n\n# not committed\n"})
    Repository.open(root, exact_root=True)
    before = state_of(root)
    said = subprocess.run(["git", "--no-optional-locks", "status", "--porcelain"], cwd=root, capture_output=True).stdout
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    for seconds in (1.0, 2.5):
        command = [sys.executable, "-m", "causalist", "prove", "vat", "--python", sys.executable, "--jobs", "2"]
        process = subprocess.Popen(
            command, cwd=root, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert state_of(root) == before
        assert (
            subprocess.run(
                ["git", "--no-optional-locks", "status", "--porcelain"], cwd=root, capture_output=True
            ).stdout
            == said
        )
    document = _prove(root, "vat", "--max-mutants", "1")
    assert {each["test"] for each in document["tests"] if each["proven"]} == NEED_VAT
    # Those of the processes that were killed are gone as well.
    assert list((Path(os.environ["XDG_CACHE_HOME"]) / "causalist" / "prove").iterdir()) == []
