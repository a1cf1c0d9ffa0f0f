"""Evidence by intervention: a function is broken in a copy, and the tests that fail then need it.

In: the index of a repository, a function. Out: proofs beside the index, and a graph whose edges they confirm. The work
tree is only read. Questions and their ranking use none of it.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.prove.changed_functions import ProvenChange, find_subjects, prove_change
    from causalist.prove.experiment import prove_nodes
    from causalist.prove.proofs import (
        NodeProof,
        NodeRecord,
        ProofStore,
        ProvenEdge,
        StaleProof,
        count_proofs,
        describe_mutant,
        forget_proofs,
        proven_graph,
        read_proofs,
        stale_proofs,
    )
    from causalist.prove.pytest_runs import ProveOptions

__all__ = [
    "NodeProof",
    "NodeRecord",
    "ProofStore",
    "ProveOptions",
    "ProvenChange",
    "ProvenEdge",
    "StaleProof",
    "count_proofs",
    "describe_mutant",
    "find_subjects",
    "forget_proofs",
    "prove_change",
    "prove_nodes",
    "proven_graph",
    "read_proofs",
    "stale_proofs",
]

__getattr__ = exports(
    __name__,
    {
        "changed_functions": "ProvenChange find_subjects prove_change",
        "experiment": "prove_nodes",
        "proofs": "NodeProof NodeRecord ProofStore ProvenEdge StaleProof count_proofs describe_mutant forget_proofs "
        "proven_graph read_proofs stale_proofs",
        "pytest_runs": "ProveOptions",
    },
)
