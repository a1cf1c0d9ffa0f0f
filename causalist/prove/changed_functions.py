"""Proofs of a change: which defects in its functions tests notice.

In: a review, the index after the change. Out: `ProvenChange` for each changed function or method of Python that is no
test, in the order of the review. Methods of an added or moved type count. One that cannot be broken has a reason and
does not keep the others from being tried; when the time is up, the rest have that reason.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from causalist.errors import ProofFailed
from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, Role, split_id
from causalist.navigate import mark_tests
from causalist.parse import dialect_of
from causalist.prove.experiment import NodeProof, ProveOptions
from causalist.prove.mutants import require_operators
from causalist.prove.proofs import FAILED, PASSED, PROVEN
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
    names: list[str], options: ProveOptions, prove: Callable[[str, ProveOptions], NodeProof]
) -> tuple[ProvenChange, ...]:
    """Return what tests notice of each function, within the time of `options` for all of them together.

    `prove` breaks one of them. Raises ExtraMissing, and IndexNotWritable.
    """
    if names:
        require_operators()
    deadline = time.monotonic() + options.max_seconds
    proven = []
    for name in names:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0:
            proven.append(ProvenChange(name, 0, 0, 0, 0, _TIME_IS_UP))
            continue
        try:
            proven.append(_count(prove(name, replace(options, max_seconds=seconds_left))))
        except ProofFailed as error:
            proven.append(ProvenChange(name, 0, 0, 0, 0, str(error)))
    return tuple(proven)


def _count(proof: NodeProof) -> ProvenChange:
    record = proof.record
    tried_mutants = [each for each in record.mutants.values() if each.outcomes]
    ends = [set(each.outcomes.values()) for each in tried_mutants]
    noticed = sum(bool(each & {PROVEN, FAILED}) for each in ends)
    unnoticed = sum(
        set(each.outcomes.values()) == {PASSED} and record.is_decided(each.id, record.tests) for each in tried_mutants
    )
    why = ""
    tried = [test for test, state in record.tests.items() if not state.left_out]
    if tried and all(map(record.is_in_doubt, tried)):
        unnoticed, why = 0, "no test was seen to run it; another process may"
    if not ends:
        why = _TIME_IS_UP if proof.n_undecided else "no test is known to reach it"
        if record.tests and not tried:
            why = "no test that passes is known to run it"
    return ProvenChange(proof.node, len(ends), noticed, unnoticed, proof.n_undecided, why)
