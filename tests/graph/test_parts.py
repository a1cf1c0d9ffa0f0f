"""Files that are linked in several processes give the graph that they give in one."""

import os
import signal
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist._internal.process import CAN_FORK, Meanwhile
from causalist.graph import Linker, NotLinked, Part, Spread, build_graph
from causalist.graph.parts import _ranges
from causalist.model.facts import FileFacts
from causalist.model.symbols import external_id
from causalist.parse import load_settings, parse_file
from tests.indexes import differences

FILES = {
    "app/a.py": "import os\nfrom app.b import Base\n"
    "class A(Base):\n  def go(self, x):\n    self.run(); os.chdir(); x.lost()\n",
    "app/b.py": "import json\nclass Base:\n  def run(self, x):\n    json.dumps(1); x.gone()\n",
    "app/c.py": "import os, json, re\nfrom app.a import A\ndef main():\n  A().run(); re.compile('x'); os.getcwd()\n",
    "app/d.py": "from app.c import main\nmain()\n",
    "tests/test_a.py": "from app.a import A\ndef test_run():\n  A().run()\n",
    "web/controllers/users.ts": "import x from 'express'\nexport class UsersController { list() { x() } }\n",
}


def beside(work: Callable[[], Part]) -> Callable[[], Part]:
    return Meanwhile(Part, work).result


def later(work: Callable[[], Part]) -> Callable[[], Part]:
    return work


@pytest.fixture(name="files")
def parsed_files() -> list[tuple[str, FileFacts]]:
    return [(path, parse_file(path, text.encode())) for path, text in sorted(FILES.items())]


@pytest.mark.parametrize("begin", [pytest.param(beside, marks=pytest.mark.skipif(not CAN_FORK, reason="fork")), later])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_the_graph_is_the_same(
    files: list[tuple[str, FileFacts]], n: int, begin: Callable[[Callable[[], Part]], Callable[[], Part]]
) -> None:
    whole = build_graph(files, load_settings())
    spread = build_graph(files, load_settings(), spread=Spread(n, [1] * len(files), begin))
    assert differences(spread.graph, whole.graph) == []
    assert [nodes.tolist() for nodes in spread.document_nodes] == [nodes.tolist() for nodes in whole.document_nodes]
    externals = {external_id(name) for name in ("os", "json", "re", "express")}
    assert externals <= {spread.graph.edge(i).target for i in range(len(spread.graph.edges))}
    assert sorted(spread.graph.unresolved.texts) == ["gone", "lost"]


def test_what_goes_wrong_beside_is_told_in_order(
    files: list[tuple[str, FileFacts]], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = Linker.link

    def fails(self: Linker, number: int) -> None:
        link(self, number)
        if number in (1, 2, 5):
            raise NotLinked(f"of {number}")

    monkeypatch.setattr(Linker, "link", fails)
    whole = build_graph(files, load_settings())
    spread = build_graph(files, load_settings(), spread=Spread(3, [1] * len(files), later))
    assert whole.troubles == spread.troubles == ((1, "of 1"), (2, "of 2"), (5, "of 5"))
    assert differences(spread.graph, whole.graph) == []


@pytest.mark.skipif(not CAN_FORK, reason="fork")
def test_a_process_that_is_killed_is_not_missed(
    files: list[tuple[str, FileFacts]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, own, link = build_graph(files, load_settings()), os.getpid(), Linker.link

    def killed(self: Linker, number: int) -> None:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        link(self, number)

    monkeypatch.setattr(Linker, "link", killed)
    spread = build_graph(files, load_settings(), spread=Spread(2, [1] * len(files), beside))
    assert differences(spread.graph, whole.graph) == []


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 9))
def test_ranges_hold_every_file_once(costs: list[int], n: int) -> None:
    ranges = _ranges(Spread(n, costs, later))
    assert [number for each in ranges for number in each] == list(range(len(costs)))
    assert len(ranges) <= n and (not costs or all(map(len, ranges)))
    # No part costs more than its share and the file with which it goes over that.
    assert all(sum(costs[i] for i in each) <= sum(costs) / n + max(costs) for each in ranges if costs and any(costs))
