"""What differs between systems, from the folder to the answer, as far as one system can show it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from tests.pipeline.conftest import WorkTree
from tests.pipeline.sample import edges_of, in_memory

FILES = {
    "app.py": '"""Takes orders."""\nfrom store import save\n\n\n'
    'def take(order):\n    """Takes one.\n\n    And keeps it.\n    """\n    return save(order)\n',
    "store.py": "def save(order):\n    return order\n",
    "README.md": "# Shop\n\nOrders are taken by `take`.\n\n## Keeping\n\nThey are kept.\n",
}


def folder_with(tmp_path: Path, files: dict[str, str], end: str = "\n") -> Path:
    root = tmp_path / "project"
    for name, text in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.replace("\n", end).encode())
    return root


def calls(repository: Repository) -> set[tuple[str, str, str]]:
    return {(e.source, e.target, e.rule) for e in edges_of(repository) if e.kind in ("imports", "calls")}


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["windows", "old mac"])
def test_line_ends_change_neither_graph_nor_answer(end: str, tmp_path: Path) -> None:
    plain = in_memory(folder_with(tmp_path / "plain", FILES))
    other = in_memory(folder_with(tmp_path / "other", FILES, end))
    assert edges_of(other) == edges_of(plain)
    one, two = (repository.ask("who takes an order?") for repository in (plain, other))
    assert [(h.id, h.start_row, h.end_row, h.score) for h in one.results] == [
        (h.id, h.start_row, h.end_row, h.score) for h in two.results
    ]
    assert one.pack is not None and two.pack is not None
    assert one.pack.text == two.pack.text and "    return save(order)\n" in two.pack.text


def test_a_checkout_with_windows_line_ends_gives_the_same_graph(tree: WorkTree, tmp_path: Path) -> None:
    """git stores line feeds and writes what core.autocrlf says."""
    tree.git("clone", "-q", "-c", "core.autocrlf=true", ".", str(tmp_path / "clone"))
    assert b"\r\n" in (tmp_path / "clone" / "app.py").read_bytes()
    assert edges_of(in_memory(tmp_path / "clone")) == edges_of(in_memory(tree.path))


def test_a_module_is_found_however_its_accents_are_written(tmp_path: Path) -> None:
    """macOS takes letters and accents apart in names of files, editors put them together."""
    files = {"cafe\u0301.py": "def f(): ...\n", "a.py": "from caf\u00e9 import f\nf()\n",
             "the\u0301.ts": "export function g() {}\n", "b.ts": "import { g } from './th\u00e9'\ng()\n"}  # fmt: skip
    assert {("a.py", "cafe\u0301.py::f", "import"), ("b.ts", "the\u0301.ts::g", "import")} <= calls(
        in_memory(folder_with(tmp_path, files))
    )


def test_of_two_files_that_differ_in_accents_only_the_exact_one_is_meant(tmp_path: Path) -> None:
    files = {"cafe\u0301.ts": "export const f = 1\n", "caf\u00e9.ts": "export const f = 2\n"}
    files["a.ts"] = "import { f } from './caf\u00e9'\n"
    imported = {target for source, target, _ in calls(in_memory(folder_with(tmp_path, files))) if source == "a.ts"}
    assert imported == {"caf\u00e9.ts"}


def test_case_counts_in_imports(tmp_path: Path) -> None:
    files = {"A.py": "def f(): ...\n", "a.py": "def f(): ...\n", "b.py": "from A import f\nf()\n"}
    assert ("b.py", "A.py::f", "import") in calls(in_memory(folder_with(tmp_path, files)))


def test_known_gap_an_import_in_another_case_is_not_found(tmp_path: Path) -> None:
    """Windows and macOS would take it; other systems and Python itself would not."""
    files = {"Util.ts": "export function f() {}\n", "b.ts": "import { f } from './util'\nf()\n"}
    assert not [edge for edge in calls(in_memory(folder_with(tmp_path, files))) if edge[1].startswith("Util.ts")]


def test_known_gap_accents_of_names_in_code_are_compared_as_they_are_written(tmp_path: Path) -> None:
    files = {"a.py": "def cafe\u0301(): ...\n\n\ndef g():\n    caf\u00e9()\n"}
    assert calls(in_memory(folder_with(tmp_path, files))) == set()


def test_text_in_16_bits_is_read(tmp_path: Path) -> None:
    root = folder_with(tmp_path, FILES)
    (root / "wide.py").write_bytes("def bell(): ...\r\n\r\n\r\ndef ring():\r\n    bell()\r\n".encode("utf-16"))
    repository = in_memory(root)
    assert dict(repository.status().skipped) == {}
    assert ("wide.py::ring", "wide.py::bell") in {edge[:2] for edge in calls(repository)}


def test_text_in_32_bits_is_left_out_and_says_so(tmp_path: Path) -> None:
    root = folder_with(tmp_path, FILES)
    (root / "setup.ps1").write_bytes("Write-Host 'hello'\r\n".encode("utf-32"))
    status = in_memory(root).status()
    assert (dict(status.skipped), dict(status.examples)) == ({"UTF-16": 1}, {"UTF-16": ("setup.ps1",)})


@pytest.mark.parametrize("first_second", [0, 1])
def test_a_change_within_two_seconds_is_seen_where_times_are_that_coarse(
    first_second: int, tree: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAT keeps even seconds. A file is changed right after it was indexed, in the same pair of seconds."""
    coarse = 1_700_000_000 * 10**9
    now = coarse + first_second * 10**9
    monkeypatch.setattr("causalist.index.open.time.time_ns", lambda: now)
    path = tree.write("store.py", "def save_order(order):\n    return order\n")
    os.utime(path, ns=(coarse, coarse))
    assert "store.py::save_order" in {node for edge in edges_of(Repository.open(tree.path)) for node in edge[:2]}
    path.write_text("def keep_order(order):\n    return order\n")
    os.utime(path, ns=(coarse, coarse))
    again = {node for edge in edges_of(Repository.open(tree.path)) for node in edge[:2]}
    assert "store.py::keep_order" in again and "store.py::save_order" not in again


_CARELESS = """
from causalist.index import collect
from causalist.index.collect import IndexOptions
from causalist.pipeline.repository import Repository

print("imported")
collect._START_METHOD, collect._WORTH_PROCESSES = "spawn", 0
repository = Repository.open({root!r}, exact_root=True, options=IndexOptions(processes=2))
print(repository.info().files)
"""


@pytest.mark.slow
def test_a_program_that_does_everything_when_it_is_imported_is_not_imported_by_new_processes(tmp_path: Path) -> None:
    """Where processes are spawned, each imports the main module; without a guard it would begin again."""
    root = folder_with(tmp_path, FILES)
    program = tmp_path / "careless.py"
    program.write_text(_CARELESS.format(root=str(root)))
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, timeout=120)
    assert (done.stdout.split(), done.stderr, done.returncode) == (["imported", "3"], "", 0)


_WORKER = """
import multiprocessing
from causalist.index import collect
from causalist.index.collect import IndexOptions
from causalist.pipeline.repository import Repository

def files(told):
    collect._WORTH_PROCESSES = 0
    told.put(Repository.open({root!r}, exact_root=True, options=IndexOptions(processes=2)).info().files)

if __name__ == "__main__":
    told = multiprocessing.SimpleQueue()
    worker = multiprocessing.Process(target=files, args=(told,), daemon=True)
    worker.start()
    worker.join()
    print("nothing" if told.empty() else told.get())
"""


@pytest.mark.slow
def test_a_worker_that_may_have_no_workers_opens_a_repository(tmp_path: Path) -> None:
    """As those of `multiprocessing.Pool` are: starting a process in one is an AssertionError."""
    root = folder_with(tmp_path, FILES)
    program = tmp_path / "worker.py"
    program.write_text(_WORKER.format(root=str(root)))
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("3\n", "", 0)
