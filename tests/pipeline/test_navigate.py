"""Looking up through the library: what each method returns on the sample repository."""

import pytest

from causalist.errors import AmbiguousNode, UnknownNode
from causalist.pipeline.repository import Repository
from tests.pipeline.conftest import WorkTree
from tests.pipeline.sample import CHAIN


class TestFind:
    def test_better_fits_come_first(self, sample: Repository) -> None:
        hits = sample.find("verifyToken")
        assert hits and hits[0].symbol == "verifyToken"
        scores = [hit.score for hit in sample.find("token")]
        assert len(scores) > 3 and scores == sorted(scores, reverse=True)

    def test_limit_and_nothing(self, sample: Repository) -> None:
        assert len(sample.find("to", limit=3)) == 3
        assert sample.find("qqqzzz") == sample.find("") == ()


class TestShow:
    def test_source_of_a_symbol(self, sample: Repository) -> None:
        shown = sample.show(f"{CHAIN[0]}::authenticateUser")
        assert (shown.hit.path, shown.hit.symbol, shown.stale) == (CHAIN[0], "authenticateUser", False)
        assert "authenticateUser" in shown.text and shown.text.rstrip().endswith("}")

    def test_source_of_a_file(self, sample: Repository) -> None:
        assert sample.show(CHAIN[2]).text == (sample.root / CHAIN[2]).read_text()

    def test_changed_since(self, tree: WorkTree) -> None:
        repository = Repository.open(tree.path)
        tree.write("store.py", "\n\n\ndef save_order(order):\n    return 1\n")
        shown = repository.show("save_order")
        assert (shown.text, shown.stale) == ("", True)

    def test_outside(self, tree: WorkTree) -> None:
        tree.write("app.py", "import requests\n\n\ndef get():\n    return requests.get('x')\n")
        shown = Repository.open(tree.path).show("external:requests")
        assert (shown.hit.kind, shown.text, shown.stale) == ("external", "", False)

    def test_names_that_mean_nothing_or_too_much(self, sample: Repository) -> None:
        with pytest.raises(UnknownNode):
            sample.show("qqqzzz")
        with pytest.raises(AmbiguousNode):
            sample.show("log")


def test_path_is_the_chain_of_the_sample(sample: Repository) -> None:
    trail = sample.path("authenticateUser", f"{CHAIN[2]}::constantTimeEqual")
    assert trail is not None and trail.forward and 0 < trail.probability < 1
    files = list(dict.fromkeys(hop.node.partition("::")[0] for hop in trail.hops))
    assert files == list(CHAIN)
    assert len(trail.edges) == len(trail.hops) - 1
    for edge, before, after in zip(trail.edges, trail.hops, trail.hops[1:], strict=False):
        assert (edge.source, edge.target) == (before.node, after.node)


def test_impact_leads_back_along_the_chain(sample: Repository) -> None:
    affected = sample.impact(f"{CHAIN[2]}::constantTimeEqual")
    depths = {a.node: a.depth for a in affected}
    assert f"{CHAIN[0]}::authenticateUser" in depths
    assert all(a.depth <= 1 for a in sample.impact(f"{CHAIN[2]}::constantTimeEqual", max_depth=1))
