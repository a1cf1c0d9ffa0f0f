"""Dependency order of a set: expected orders, depths and cuts are worked by hand."""

import subprocess
from pathlib import Path

import pytest

from causalist.errors import UnknownNode
from causalist.model.lookup import DependencyOrder, OrderLevel
from tests.cli.commands import invoke, write_all
from tests.pipeline.sample import in_memory

CHAIN = {
    "app/a.py": "from app.b import f\n\n\ndef g():\n    return f()\n",
    "app/b.py": "from lib.c import h\n\n\ndef f():\n    return h()\n",
    "lib/c.py": "def h():\n    return 1\n",
    "lib/alone.py": "def unused():\n    return 2\n",
    "tests/test_a.py": "from app.a import g\n\n\ndef test_g():\n    assert g() == 1\n",
}
# `b` uses `c` by an import and two calls, `c` uses `b` by an import and one call.
CYCLE = {
    "b.py": "import c\n\n\ndef f(n):\n    return c.h(n) + c.h(n)\n\n\ndef least():\n    return 0\n",
    "c.py": "import b\n\n\ndef h(n):\n    return b.least()\n",
    "d.py": "from b import f\n\n\ndef run():\n    return f(1)\n",
}


def nodes_of(order: DependencyOrder) -> list[str]:
    return [item.node for item in order.items]


def test_files_come_after_what_they_use(tmp_path: Path) -> None:
    order = in_memory(write_all(tmp_path, CHAIN)).topo()
    assert order.level is OrderLevel.FILE and order.cycles == ()
    assert nodes_of(order) == ["lib/alone.py", "lib/c.py", "app/b.py", "app/a.py"]
    assert [item.depth for item in order.items] == [0, 0, 1, 2]
    assert [item.n_users for item in order.items] == [0, 1, 1, 0]
    assert order.items[3].uses == ("app/b.py",)
    assert order.left_out == (("test", 1),)


def test_tests_are_ordered_when_they_are_asked_for(tmp_path: Path) -> None:
    repository = in_memory(write_all(tmp_path, CHAIN))
    assert nodes_of(repository.topo(tests=True))[-1] == "tests/test_a.py"
    assert nodes_of(repository.topo("tests")) == ["tests/test_a.py"]  # the set has nothing else
    write_all(tmp_path, {"tests/test_names.py": "def test_name():\n    assert name() == 'lib.alone.unused'\n"})
    write_all(tmp_path, {"app/jobs.py": "JOBS = ['lib.alone.unused']\n"})
    order = {item.node: item.uses for item in in_memory(tmp_path).topo(tests=True).items}
    assert order["tests/test_names.py"] == ()  # an expected text
    assert order["app/jobs.py"] == ("lib/alone.py",)


def test_a_bare_name_means_code_and_not_the_tests_beside_it(tmp_path: Path) -> None:
    write_all(tmp_path, CHAIN | {"tests/test_b.py": "def g():\n    return 2\n", "app/z.py": "def g():\n    return 3\n"})
    repository = in_memory(tmp_path)
    assert nodes_of(repository.topo("g")) == ["app/z.py::g", "app/a.py::g"]  # which needs more
    assert nodes_of(repository.topo("tests/test_b.py::g")) == ["tests/test_b.py::g"]


def test_a_node_and_what_it_reaches(tmp_path: Path) -> None:
    repository = in_memory(write_all(tmp_path, CHAIN))
    order = repository.topo(start="g")
    assert order.level is OrderLevel.DEFINITION
    assert nodes_of(order) == ["lib/c.py::h", "app/b.py::f", "app/a.py::g"]
    assert nodes_of(repository.topo(start="f")) == ["lib/c.py::h", "app/b.py::f"]


def test_folders_patterns_and_several_names(tmp_path: Path) -> None:
    repository = in_memory(write_all(tmp_path, CHAIN))
    assert nodes_of(repository.topo("app")) == ["app/b.py", "app/a.py"]
    assert nodes_of(repository.topo("app/a*", "lib/c.py")) == ["lib/c.py", "app/a.py"]
    assert nodes_of(repository.topo(level=OrderLevel.FOLDER)) == ["lib/", "app/"]
    with pytest.raises(UnknownNode, match="nowhere"):
        repository.topo("nowhere")


def test_a_cycle_is_cut_at_its_weakest_use(tmp_path: Path) -> None:
    order = in_memory(write_all(tmp_path, CYCLE)).topo()
    assert nodes_of(order) == ["c.py", "b.py", "d.py"]
    (cycle,) = order.cycles
    assert cycle.members == ("c.py", "b.py")
    (cut,) = cycle.cuts
    assert (cut.source, cut.target, cut.n) == ("c.py", "b.py", 2)  # an import and a call, where b has two calls
    assert [item.cycle for item in order.items] == [0, 0, None]
    assert [item.depth for item in order.items] == [0, 0, 1]


def test_definitions_of_a_cycle_of_files_may_have_none(tmp_path: Path) -> None:
    order = in_memory(write_all(tmp_path, CYCLE)).topo(level=OrderLevel.DEFINITION)
    assert order.cycles == ()
    assert nodes_of(order) == ["b.py::least", "c.py::h", "b.py::f", "d.py::run"]


def test_the_command_orders_a_change(tmp_path: Path) -> None:
    write_all(tmp_path, CHAIN)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    write_all(tmp_path, {name: CHAIN[name].replace("return", "return 1 *") for name in ("app/a.py", "lib/c.py")})
    done = invoke("topo", "--diff", "--repo", str(tmp_path))
    assert done.code == 0
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == ["lib/c.py", "app/a.py"]
    nothing = invoke("topo", "lib/alone.py", "--diff", "--repo", str(tmp_path))
    assert (nothing.code, nothing.stdout) == (1, "")


def test_diagrams_draw_cuts_dashed(tmp_path: Path) -> None:
    write_all(tmp_path, CYCLE)
    svg = invoke("topo", "--format", "svg", "--repo", str(tmp_path)).stdout
    assert svg.startswith("<svg ") and svg.count("(to cut)") == 1 and "red: to cut" in svg
    mermaid = invoke("topo", "--format", "mermaid", "--repo", str(tmp_path)).stdout
    assert mermaid.splitlines()[0] == "flowchart LR"
    assert sum("-.->|cut|" in line for line in mermaid.splitlines()) == 1
    dot = invoke("topo", "--format", "dot", "--repo", str(tmp_path)).stdout
    assert '"c.py" -> "b.py" [style=dashed, color=red];' in dot
    assert invoke("topo", "--format", "dot", "--json", "--repo", str(tmp_path)).code == 2


def test_a_range_of_commits(tmp_path: Path) -> None:
    """`A..B` is what differs between two commits, in rows of the files as they are; an empty end is HEAD."""
    write_all(tmp_path, CHAIN)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q"], check=True)
    for number, text in enumerate(("return h()", "return h() + 1")):
        write_all(tmp_path, {"app/b.py": CHAIN["app/b.py"].replace("return h()", text)})
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", f"change {number}"], check=True)
    write_all(
        tmp_path,
        {"lib/c.py": "# a comment\n" + CHAIN["lib/c.py"], "app/b.py": "\n" + (tmp_path / "app/b.py").read_text()},
    )
    for revision in ("HEAD~1..HEAD", "HEAD~1..", "HEAD~1...HEAD"):
        done = invoke("topo", "--diff", revision, "--level", "definition", "--repo", str(tmp_path))
        assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == ["app/b.py::f"], done.stderr
    invoke("topo", "--diff", "", "--repo", str(tmp_path)).failed("git")


def test_a_type_that_only_has_the_methods_of_an_interface_does_not_need_it(tmp_path: Path) -> None:
    files = {
        "go.mod": "module m\n",
        "all/all.go": 'package all\n\nimport "m/one"\n\ntype Sender interface{ Send(x int) error }\n\n'
        "var Every = []Sender{&one.Mail{}}\n",
        "one/one.go": "package one\n\ntype Mail struct{}\n\nfunc (m *Mail) Send(x int) error { return nil }\n",
    }
    order = in_memory(write_all(tmp_path, files)).topo("all", "one")
    assert nodes_of(order) == ["one/one.go", "all/all.go"]
    assert order.cycles == ()
