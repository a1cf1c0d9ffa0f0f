"""docs/glossary.md explains the words that the program prints, and pages link to it. Links are checked elsewhere."""

import json
import re

import pytest

from causalist.model.answer import Level, Route, Specificity
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import NodeKind, Role
from causalist.model.scores import WalkOutcome
from tests.docs.blocks import DOCS, ROOT
from tests.docs.markdown import links

TEXT = (DOCS / "glossary.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^### (.+)\n\n((?:.+\n)+)", TEXT, re.MULTILINE))

# The words of the design, of the pages that a reader meets first, and of the output.
TERMS = """Adjacency, Analyzer, Binding, Budget, Calibration, Call graph, Call site, Candidate, Causal order, Chain,
Confidence, Damping, Dangling node, Declaration, Definition, Diagnostic, Document, Edge, Entry point, Evidence, Excerpt,
External, Facts, Feedback arc set, Frame, Fusion, Hit, Hop, Id, In-degree, Index, Interface, Invalidation, Mention, MRO,
Name candidate, Node, Outcome, Pack, Passage, Path, Personalization vector, Posting, Prior, Pseudo-relevance feedback,
Query, Reason, Receiver, Removed edge, Reranking, Residual, Resolution, Restart, Retry, Role, Route, Rule, Scope, Score,
Seed, Signal, Slot, Slug, Snippet line, Specificity, Stale, Support, Symbol table, Transition matrix, Unresolved call,
Value, Via"""


def test_entries_are_in_order_and_none_is_empty() -> None:
    assert list(ENTRIES) == sorted(ENTRIES, key=str.lower)
    assert len(ENTRIES) == TEXT.count("\n### ")


@pytest.mark.parametrize("term", re.split(r",\s+", TERMS))
def test_terms_are_explained(term: str) -> None:
    assert term in ENTRIES


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("Edge", [kind.label for kind in EdgeKind]),
        ("Kind", [kind.label for kind in NodeKind]),
        ("Role", [role.label for role in Role]),
        ("Route", [route.value for route in Route]),
        ("Level", [level.value for level in Level]),
        ("Specificity", [s.value for s in Specificity if s is not Specificity.LOG]),
        ("Outcome", [outcome.value for outcome in WalkOutcome]),
    ],
)
def test_every_word_that_is_printed_for_a_term_stands_in_its_entry(term: str, words: list[str]) -> None:
    assert not [word for word in words if f"`{word}`" not in ENTRIES[term]]


def test_every_signal_with_a_weight_is_named() -> None:
    weights = json.loads((ROOT / "causalist/rank/scoring/weights.json").read_text())
    signals = {*weights["definition"]["signals"], *weights["file"]["signals"], "kind"}
    assert not [signal for signal in signals if f"`{signal}`" not in ENTRIES["Signal"]]


def test_the_pages_that_use_the_words_link_to_them() -> None:
    for page in ("architecture.md", "how-it-works.md"):
        assert "glossary.md" in links((DOCS / page).read_text(encoding="utf-8")), page
