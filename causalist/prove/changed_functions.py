"""Proofs of a change: which defects in its functions tests notice.

In: a review, the index after the change. Out: `ProvenChange` for each changed function or method of Python that is no
test, in the order of the review. Methods of an added or moved type count. One that cannot be broken has a reason and
does not keep the others from being tried.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, Role, split_id
from causalist.navigate import mark_tests
from causalist.parse import dialect_of
from causalist.prove.proofs import FAILED, PASSED, PROVEN, NodeProof
from causalist.review.changes import ChangeKind
from causalist.review.report import Review

_TIME_IS_UP = "not tried: time was up"


class ProvenChange(NamedTuple):
    """Defects that were tried in a changed function, those that tests notice, and those that no test notices.

    `n_undecided` are left to try. `why` says why none was tried, "" if some were.
    """

    node: str
    n_defects: int
    n_noticed: int
    n_unnoticed: int
    n_undecided: int
    why: str = ""


def find_subjects(index: Index, review: Review) -> tuple[list[str], int]:
    """Return (the changed functions of Python to break, the number of changed functions of other languages)."""
    graph = index.graph
    nodes, is_test = graph.nodes, mark_tests(graph)
    chosen: dict[int, None] = {}
    for change in review.definitions:
        node = nodes.ids.position(change.node)
        if node < 0 or change.new is None:
            continue
        if nodes.kinds[node] in CALLABLE_KINDS:
            chosen[node] = None
        elif nodes.kinds[node] in TYPE_KINDS and change.kind in (ChangeKind.ADDED, ChangeKind.MOVED):
            members = np.flatnonzero((nodes.parents == node) & np.isin(nodes.kinds, sorted(CALLABLE_KINDS)))
            chosen.update(dict.fromkeys(members.tolist()))
    code = [nodes.ids[node] for node in chosen if not is_test[node] and nodes.roles[node] != Role.TEST]
    subjects = [node for node in code if dialect_of(split_id(node)[0]) == "python"]
    return subjects, len(code) - len(subjects)


def prove_change(
    names: list[str], prove: Callable[[list[str], dict[str, str]], tuple[NodeProof, ...]]
) -> tuple[ProvenChange, ...]:
    """Return what tests notice of each function. `prove` breaks them, and says why some cannot be broken.

    Raises ExtraMissing, and IndexNotWritable.
    """
    if not names:
        return ()
    failures: dict[str, str] = {}
    by_name = {each.node: each for each in prove(names, failures)}
    return tuple(
        ProvenChange(name, 0, 0, 0, 0, failures[name]) if name in failures else _count(by_name[name]) for name in names
    )


def _count(proof: NodeProof) -> ProvenChange:
    record = proof.record
    # One that a test notices is decided, however the tests that are left end.
    ends = {each.id: set(each.outcomes.values()) for each in record.mutants.values() if each.outcomes}
    is_open = {each: not record.is_decided(each, record.tests) for each in ends}
    ends = {each: end for each, end in ends.items() if not is_open[each] or end & {PROVEN, FAILED}}
    n_undecided = proof.n_undecided - sum(is_open[each] for each in ends)
    noticed = sum(bool(end & {PROVEN, FAILED}) for end in ends.values())
    unnoticed = sum(end == {PASSED} for end in ends.values())
    why = ""
    tried = [test for test, state in record.tests.items() if not state.left_out]
    if tried and all(map(record.is_in_doubt, tried)):
        unnoticed, why = 0, "no test was seen to run it; another process may"
    if not ends:
        why = _TIME_IS_UP if n_undecided else "no test is known to reach it"
        if record.tests and not tried:
            why = "no test that passes is known to run it"
    return ProvenChange(proof.node, len(ends), noticed, unnoticed, n_undecided, why)
