"""Which files see one another because they are included together."""

import random

from causalist.graph.imports.package_scope import InclusionGraph


def _inclusion(pairs: list[tuple[int, int]], n: int) -> InclusionGraph:
    """`pairs` are (file, file that it includes)."""
    result = InclusionGraph([f"lib/f{i}.rb" for i in range(n)])
    for file, other in pairs:
        result.includes.setdefault(file, set()).add(other)
    return result


def test_a_file_sees_what_those_around_it_include() -> None:
    #   0 -> 1 -> 2    3 -> 2    3 -> 4    5 <-> 6
    found = _inclusion([(0, 1), (1, 2), (3, 2), (3, 4), (5, 6), (6, 5)], 8)
    assert [set(found.reach(i)) for i in range(8)] == [
        {0, 1, 2},
        {0, 1, 2},
        {0, 1, 2, 3, 4},
        {2, 3, 4},
        {2, 3, 4},
        {5, 6},
        {5, 6},
        {7},
    ]


def test_it_is_what_the_definition_says() -> None:
    chooser = random.Random(3)
    for _ in range(200):
        n = chooser.randint(1, 8)
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b and chooser.random() < 0.2]
        leads_to = [[a == b or (a, b) in pairs for b in range(n)] for a in range(n)]
        for middle in range(n):  # paths by all files so far, after Warshall
            for a in range(n):
                for b in range(n):
                    leads_to[a][b] |= leads_to[a][middle] and leads_to[middle][b]
        found = _inclusion(pairs, n)
        for file in chooser.sample(range(n), n):
            around = [a for a in range(n) if leads_to[a][file]]
            assert found.reach(file) == {b for b in range(n) if any(leads_to[a][b] for a in around)}


def test_files_that_are_included_together_share_one_answer() -> None:
    found = _inclusion([(0, i) for i in range(1, 2000)], 2000)
    assert {id(found.reach(i)) for i in range(1, 2000)} == {id(found.reach(1))}


def test_files_of_a_chain_share_one_answer() -> None:
    n = 3000
    for last in ([], [(n - 1, 0)]):  # a chain, and a circle
        found = _inclusion([(i, i + 1) for i in range(n - 1)] + last, n)
        assert {id(found.reach(i)) for i in range(n)} == {id(found.reach(0))}
        assert found.reach(5) == set(range(n))


def test_the_nearest_visible_definition_counts() -> None:
    paths = ["a/one.sh", "a/two.sh", "b/three.sh", "c/four.sh"]
    found = InclusionGraph(paths, {0: {1, 2}, 1: {2}})
    run, stop = [(3, 70), (2, 60), (1, 50)], [(3, 90), (2, 80)]  # (file, definition)
    seen = [[found.find_nearest(i, ("bash", name), all_of) for i in range(4)] for name, all_of in
            (("run", run), ("stop", stop))]  # fmt: skip
    assert seen == [[50, 50, 60, 70], [80, 80, 80, 90]]
