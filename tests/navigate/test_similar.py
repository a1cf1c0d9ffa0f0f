"""Near-duplicates: copies, copies with other names, copies with edits, and what is none."""

import math
import re
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest

from causalist.errors import UsageError
from causalist.index.source_text import SourceText
from causalist.model.lookup import Direction, Likeness
from causalist.model.node_ids import Role
from causalist.navigate import select_definitions
from causalist.navigate.similar import _Candidates, _common_length, _TokenMatcher
from tests.cli.commands import invoke, write_all
from tests.pipeline.sample import in_memory

ORIGINAL = """def settle(order, rates):
    total = 0
    for line in order.lines:
        if line.kind in rates:
            total += line.net * rates[line.kind]
        else:
            total += line.net
    if total < 0:
        raise ValueError("negative")
    order.total = round(total, 2)
    return order
"""
RENAMED = (
    ORIGINAL.replace("settle", "charge")
    .replace("total", "amount")
    .replace("order", "bill")
    .replace("negative", "below")
)
EDITED = ORIGINAL.replace("settle", "settle_all").replace(
    "    if total < 0:\n", "    if order.is_free:\n        total = 0\n    if total < 0:\n"
)
OTHER = """def parse(text):
    parts = []
    while text:
        head, _, text = text.partition(",")
        parts.append(head.strip().lower())
    try:
        return [int(part) for part in parts if part.isdigit()]
    except ValueError as error:
        print(error, parts, len(parts))
        return None
"""
FILES = {
    "a.py": ORIGINAL,
    "b.py": "# a copy with a comment of its own\n"
    + ORIGINAL.replace("    total = 0\n", "    total = 0  # zero\n\n", 1),
    "c.py": RENAMED,
    "d.py": EDITED,
    "e.py": OTHER,
    "tests/test_a.py": ORIGINAL.replace("settle", "test_settle"),
}


def test_each_kind_of_copy_is_found(tmp_path: Path) -> None:
    pairs = in_memory(write_all(tmp_path, FILES)).similar("a.py::settle")
    assert [(pair.other.node, pair.likeness) for pair in pairs] == [
        ("b.py::settle", Likeness.COPY),
        ("d.py::settle_all", Likeness.CHANGED),
        ("c.py::charge", Likeness.RENAMED),
    ]
    assert pairs[0].similarity == 1.0
    assert 0.8 <= pairs[1].similarity < 1.0
    assert pairs[0].differences == ()
    assert any("is_free" in line for line in pairs[1].differences)


def test_edges_have_the_probability_of_a_merge(tmp_path: Path) -> None:
    """`settle` and `charge` have ten names each, thirteen together, and seven in common."""
    unlike = {"f.py": re.sub(r"\b(order|rates|total|line|lines|kind|net|round|ValueError|settle)\b", r"\1x", ORIGINAL)}
    repository = in_memory(write_all(tmp_path, FILES | unlike))
    (group,) = repository.neighbors("a.py::settle", kinds=["similar"])
    edges = [(edge.source, edge.target, edge.rule, edge.confidence) for edge in group.edges]
    similarity = 0.8 + 0.2 * 7 / 13
    charged = 1 / (1 + math.exp(8.0 - 5.6 * similarity - 5.9 * 7 / 13))
    copied = 1 / (1 + math.exp(8.0 - 5.6 - 5.9))
    assert edges[0] == ("a.py::settle", "b.py::settle", "similarity", pytest.approx(copied))
    assert edges[1][1] == "d.py::settle_all"
    assert edges[2:] == [("a.py::settle", "c.py::charge", "similarity", pytest.approx(charged))]
    others = {pair.other.node: pair.probability for pair in repository.similar("a.py::settle")}
    assert others["f.py::settlex"] == pytest.approx(1 / (1 + math.exp(8.0 - 5.6 * 0.8)))  # listed, and no edge
    assert [each.kind for each in repository.neighbors("a.py::settle")] == ["contains"]
    assert repository.neighbors("a.py::settle", kinds=["similar"], direction=Direction.IN) == (group,)
    done = invoke("neighbors", "a.py::settle", "--kind", "similar", "--limit", "1", cwd=tmp_path)
    assert done.stdout.splitlines() == ["both similar (3)", "  0.971  similarity  b.py::settle", "  and 2 more"]


def test_tests_are_compared_when_they_are_asked_for(tmp_path: Path) -> None:
    repository = in_memory(write_all(tmp_path, FILES))
    found = {pair.other.node for pair in repository.similar("a.py::settle", tests=True)}
    assert "tests/test_a.py::test_settle" in found


def test_clusters_hold_what_is_alike(tmp_path: Path) -> None:
    clusters, n = in_memory(write_all(tmp_path, FILES)).similar_clusters()
    assert n == 1
    members = {clusters[0].first.node, *(pair.other.node for pair in clusters[0].pairs)}
    assert members == {"a.py::settle", "b.py::settle", "c.py::charge", "d.py::settle_all"}


def test_a_higher_limit_leaves_edits_out(tmp_path: Path) -> None:
    repository = in_memory(write_all(tmp_path, FILES))
    assert [pair.other.node for pair in repository.similar("a.py::settle", min_similarity=1.0)] == ["b.py::settle"]


@pytest.mark.parametrize("least", [0.5, 0.7, 0.9, 1.0])
def test_bounds_leave_out_only_what_no_alignment_would_keep(tmp_path: Path, least: float) -> None:
    """All pairs of copies, edits and others are decided as by their similarity, which knows no bounds of tokens."""
    files = FILES | {
        "g.py": OTHER.replace("parts", "pieces").replace("text", "line"),
        "h.py": OTHER.replace("    try:\n", "    pieces = []\n    print(parts)\n    try:\n"),
        "i.py": ORIGINAL.replace("total", "line", 3),
        "j.py": f"class Bill:\n    {ORIGINAL.replace(chr(10), chr(10) + '    ')}",
    }
    repository = in_memory(write_all(tmp_path, files))
    graph = repository.index.graph
    nodes = select_definitions(graph, min_lines=6, roles=tuple(Role))
    candidates = _Candidates(graph, SourceText(repository.index.manifest, repository.read).read_bytes, nodes)
    pairs = np.array([(i, j) for i in range(len(candidates)) for j in range(len(candidates))])
    expected = [candidates.similarity(i, j, least) > 0 for i, j in pairs.tolist()]
    assert len(candidates) == 11
    assert 11 < sum(expected) < len(pairs)
    assert candidates.are_similar(pairs, least).tolist() == expected


@pytest.mark.parametrize(
    ("one", "others"),
    [
        ("abcabba", {"cbabac": 4, "abcabba": 7, "abba": 4, "": 0, "xyz": 0}),
        ("aab", {"aaab": 3, "ab": 2, "ba": 1, "aabaab": 3, "xaabx": 3}),
        ("ab" * 50, {"ba" * 50: 99, "a" * 70: 50, "ab" * 20 + "x" + "ab" * 30: 100, "x" + "b" * 60 + "ab": 51}),
    ],
)
def test_common_subsequences(one: str, others: dict[str, int]) -> None:
    """The first pair is the example of Myers (1986); the places of a sequence serve all others."""
    places: dict[int, int] = {}
    for other, length in others.items():
        codes, other_codes = list(map(ord, one)), list(map(ord, other))
        assert _common_length(codes, other_codes, places) == length
        assert _common_length(other_codes, codes, {}) == length


def test_what_is_too_short_is_an_error(tmp_path: Path) -> None:
    repository = in_memory(write_all(tmp_path, FILES | {"f.py": "def short():\n    return 1\n"}))
    with pytest.raises(UsageError, match="6 lines or more"):
        repository.similar("short")


def test_the_command(tmp_path: Path) -> None:
    write_all(tmp_path, FILES)
    done = invoke("similar", "a.py::settle", "--repo", str(tmp_path))
    assert done.code == 0
    assert done.stdout.splitlines()[0].startswith("1.00  copy     merge 0.97  b.py::settle  b.py:2-")
    none = invoke("similar", "parse", "--repo", str(tmp_path))
    assert (none.code, none.stdout) == (1, "")
    assert invoke("similar", "--repo", str(tmp_path)).code == 2
    everything = invoke("similar", "--all", "--json", "--repo", str(tmp_path))
    assert '"clusters"' in everything.stdout


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([7, 7, 8, 7, 7, 8, 9], [7, 8, 7, 7, 9, 7, 8]),
        ([1] * 9, [1] * 5),
        ([], [3, 4]),
        ([5, 6, 70_000, 6, 5], [6, 70_000, 6, 1, 6, 5, 6]),
        ([0, 1, 2, 3] * 5, [2, 3, 0, 1] * 4 + [9]),
    ],
)
def test_edits_are_those_of_difflib(one: list[int], other: list[int]) -> None:
    """Of runs of one length the first counts in both."""
    matcher = _TokenMatcher(np.array(one, dtype=np.int64), np.array(other, dtype=np.int64))
    assert matcher.get_opcodes() == SequenceMatcher(None, one, other, autojunk=False).get_opcodes()


def test_types_that_only_have_as_many_fields_are_not_alike(tmp_path: Path) -> None:
    """The first two have six fields in common, the third none."""

    def of_fields(name: str, *fields: str) -> str:
        return f"class {name} {{\n" + "".join(f"    public String {each} = null;\n" for each in fields) + "}\n"

    files = {
        "One.java": of_fields("One", "id", "owner", "amount", "currency", "link", "comment", "status", "place"),
        "Two.java": of_fields("Two", "id", "owner", "amount", "currency", "link", "comment", "state"),
        "Three.java": of_fields("Three", "width", "height", "color", "border", "title", "image", "font"),
    }
    repository = in_memory(write_all(tmp_path, files))
    assert [each.other.node for each in repository.similar("One")] == ["Two.java::Two"]
