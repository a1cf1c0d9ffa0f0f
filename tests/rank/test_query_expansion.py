"""Words that stand beside those of a question, by hand, and what files have of them."""

import numpy as np
import pytest

from causalist.model.index import Postings
from causalist.model.symbols import NodeKind, Role
from causalist.rank import default_weights
from causalist.rank.lexical import query_expansion as expansion
from causalist.rank.lexical.bm25 import bm25
from causalist.rank.lexical.query_expansion import N_SOURCES, N_WORDS, expansion_terms
from causalist.rank.query.query import parse_query
from causalist.rank.scoring.fusion import weigh_signals
from causalist.rank.scoring.signals import PriorFactors, compute_signals
from tests.model.corpus import Corpus, Def, corpus

NO_FACTORS = PriorFactors({}, {})


def fits(c: Corpus, **texts: float) -> np.ndarray:
    values = np.zeros(len(c.graph.nodes))
    for name, value in texts.items():
        values[c.node(f"{name}.py::{name}")] = value
    return values


def numbers(c: Corpus, *words: str) -> dict[int, float]:
    return {c.lexical.terms.position(word): 1.0 for word in words}


def words(c: Corpus, text: np.ndarray, *asked: str) -> dict[str, float]:
    return {c.lexical.terms[n]: w for n, w in expansion_terms(text, numbers(c, *asked), c.lexical).items()}


def test_what_the_best_say_often_and_others_seldom() -> None:
    """`hedge` four times counts three, `pool` once; both stand in as many documents. What nobody else says leads
    nowhere, and what is asked for is not looked for again."""
    c = corpus({"a.py": [Def("a", "slow hedge hedge hedge hedge pool unheard")], "b.py": [Def("b", "hedge pool slow")]})
    found = words(c, fits(c, a=2.0), "slow")
    assert found["hedg"] == 1.0
    assert found["pool"] == pytest.approx(1 / 3)
    assert "slow" not in found
    assert "unheard" not in found


def test_a_source_counts_by_the_square_of_its_fit() -> None:
    """`hedge` and `pool` once each, in sources that fit by 1 and 1/2, and in one more document each."""
    c = corpus(
        {
            "a.py": [Def("a", "hedge")],
            "b.py": [Def("b", "pool")],
            "c.py": [Def("c", "hedge")],
            "d.py": [Def("d", "pool")],
        }
    )
    found = words(c, fits(c, a=3.0, b=1.5))
    assert found["pool"] / found["hedg"] == pytest.approx(0.25)


def test_few_sources_are_read_and_few_words_taken() -> None:
    shared = " ".join(f"word{chr(97 + i)}" for i in range(N_WORDS + 3))
    c = corpus(
        {f"s{i}.py": [Def(f"s{i}", shared if i else "last last2")] for i in range(N_SOURCES + 1)} | {"z.py": "last"}
    )
    text = fits(c, **{f"s{i}": 2.0 for i in range(1, N_SOURCES + 1)}, s0=1.0)
    found = words(c, text)
    assert len(found) == N_WORDS
    assert "last" not in found


def test_where_nothing_fits_there_are_no_words() -> None:
    c = corpus({"a.py": [Def("a", "slow")]})
    assert words(c, fits(c)) == {}


def signal(text: str) -> dict[str, float]:
    files = {"a.py": [Def("a", "slow hedge")], "b.py": [Def("b", "hedge")], "test_a.py": [Def("test_a", "slow hedge")]}
    c = corpus(files, roles={"test_a.py": Role.TEST})
    found = c.of(
        compute_signals(parse_query(text), c.graph, c.lexical, NO_FACTORS).files(np.ones(len(c.graph.nodes)))[
            "expansion"
        ]
    )
    weighted = weigh_signals(parse_query(text), c.graph, c.lexical, default_weights())
    weight = default_weights().file.signals["expansion"]
    assert weight > 0
    assert c.of(weighted.file["expansion"]) == {name: value * weight for name, value in found.items()}
    return found


def test_the_signal_is_bm25_of_whole_files_by_the_best_that_is_wanted() -> None:
    c = corpus({"a.py": [Def("a", "slow hedge pool")], "b.py": [Def("b", "hedge")]})
    question = parse_query("when slow")
    own = compute_signals(question, c.graph, c.lexical, NO_FACTORS)
    found = expansion_terms(fits(c, a=1.0), numbers(c, "slow"), c.lexical)
    plain = bm25(c.lexical.files, found, len(c.graph.nodes))
    assert c.of(own.expansion) == {"a.py": 1.0, "b.py": pytest.approx(plain[c.node("b.py")] / plain[c.node("a.py")])}


def test_files_that_only_declare_have_nothing_of_it() -> None:
    c = corpus({"a.py": [Def("a", "slow hedge")], "t.py": [Def("T", "hedge", NodeKind.INTERFACE)], "i.py": "hedge"})
    own = compute_signals(parse_query("when slow"), c.graph, c.lexical, NO_FACTORS)
    assert c.of(own.expansion).keys() == {"a.py"}


def test_code_has_the_signal_where_a_question_is_brief() -> None:
    assert signal("second call when slow").keys() == {"a.py", "b.py"}
    assert signal("tests of slow calls").keys() == {"a.py", "b.py", "test_a.py"}
    assert signal("slow `Hedging`") == {}
    assert signal("slow alpha beta gamma delta epsilon zeta theta kappa") == {}


@pytest.mark.parametrize(("most", "fewest"), [(400, 512), (3, 0), (50, 2), (1, 0)])
def test_rows_of_nodes_are_found_whether_they_are_searched_for_or_looked_through(
    most: int, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansion, "_MAX_SEARCHED_TERMS", most)
    monkeypatch.setattr(expansion, "_MIN_SEARCHED_ROWS", fewest)
    monkeypatch.setattr(expansion, "ROWS_AT_ONCE", 7)
    random = np.random.default_rng(1)
    for _ in range(20):
        rows = [np.flatnonzero(random.random(30) < share) for share in random.random(12) ** 3]
        indptr = np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int32)
        documents = np.concatenate(rows).astype(np.int32)
        nodes = np.sort(random.choice(30, 4, replace=False))
        postings = Postings(indptr, documents, np.ones(len(documents), dtype=np.int32), np.ones(30), 30)
        assert expansion._rows_of(nodes, postings).tolist() == np.flatnonzero(np.isin(documents, nodes)).tolist()
