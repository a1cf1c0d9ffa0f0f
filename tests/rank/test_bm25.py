"""BM25 by hand, against a dictionary, and what it never does."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from math import log
from posixpath import splitext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist._internal import dataclass_arrays as spliced
from causalist.model.facts import MODULE_SCOPE
from causalist.model.graph import LinkedGraph
from causalist.model.index import LexicalIndex, Postings
from causalist.model.node_ids import NodeKind, split_id
from causalist.rank.lexical import build as _postings
from causalist.rank.lexical import word_counts as _sums
from causalist.rank.lexical import word_counts as counting
from causalist.rank.lexical import word_counts as splitting
from causalist.rank.lexical.bm25 import bm25, impacts
from causalist.rank.lexical.build import PreviousIndexRows, build_lexical
from causalist.rank.terms import terms_of
from tests.indexes import differences
from tests.model.corpus import WORDS, Corpus, Def, Section, corpora, corpus, facts_of
from tests.model.counted import counted

FLOAT32 = 1e-6  # how exactly numbers written out here agree


def impact(c: Corpus, postings: Postings, term: str) -> dict[str, float]:
    """The postings of a term, by id."""
    number = c.lexical.terms.position(term)
    if number < 0:
        return {}
    return c.of(bm25(postings, {number: 1.0}, len(c.graph.nodes)))


# -- by hand


def test_bm25_of_three_files_by_hand() -> None:
    """The words of a path count 3 each, so that lengths are 6, 4 and 5, their mean 5; k1 = 1.2, b = 0.75.

    auth stands in 2 of 3: idf = ln(1 + 1.5 / 2.5) = ln 1.6
        x.py: twice, 1.2 (0.25 + 0.75 * 6/5) = 1.38: 2 * 2.2 / (2 + 1.38)
        y.py: once,  1.2 (0.25 + 0.75 * 4/5) = 1.02: 1 * 2.2 / (1 + 1.02)
    mail stands in 1 of 3: idf = ln(1 + 2.5 / 1.5) = ln 8/3
        z.py: twice, 1.2 (0.25 + 0.75 * 5/5) = 1.2: 2 * 2.2 / (2 + 1.2)
    x stands in the path of x.py alone: 3 * 2.2 / (3 + 1.38)
    """
    c = corpus({"x.py": "auth Auth login", "y.py": "auth", "z.py": "mail mails"})
    files = c.lexical.files
    assert impact(c, files, "auth") == pytest.approx(
        {"x.py": log(1.6) * 4.4 / 3.38, "y.py": log(1.6) * 2.2 / 2.02}, rel=FLOAT32
    )
    assert impact(c, files, "mail") == pytest.approx({"z.py": log(8 / 3) * 4.4 / 3.2}, rel=FLOAT32)
    assert impact(c, files, "x") == pytest.approx({"x.py": log(8 / 3) * 6.6 / 4.38}, rel=FLOAT32)
    assert impact(c, files, "absent") == {}


def test_bm25_of_three_definitions_by_hand() -> None:
    """An own name counts 3, names around it and words of the path 1, words of the body 1; b = 0.6.

        db/pool.py   import 1, path: db 1, pool 1                                     length 3
        Pool         own: pool 3, path: db 1, pool 1                                  length 5
        Pool.take    own: take 3, around: pool 1, path: db 1, pool 1, body: lock 2    length 8     mean 16/3
    pool stands in all 3: idf = ln(1 + 0.5 / 3.5) = ln 8/7
        db/pool.py   1 time,  1.2 (0.4 + 0.6 * 9/16)  = 0.885
        Pool         4 times, 1.2 (0.4 + 0.6 * 15/16) = 1.155
        Pool.take    2 times, 1.2 (0.4 + 0.6 * 24/16) = 1.56
    lock and take stand in 1 of 3: ln 8/3
    """
    c = corpus({"db/pool.py": facts_of("import", [Def("Pool", "", NodeKind.CLASS), Def("Pool.take", "lock locks")])})
    definitions = c.lexical.definitions
    assert impact(c, definitions, "pool") == pytest.approx(
        {
            "db/pool.py": log(8 / 7) * 1 * 2.2 / (1 + 0.885),
            "db/pool.py::Pool": log(8 / 7) * 4 * 2.2 / (4 + 1.155),
            "db/pool.py::Pool.take": log(8 / 7) * 2 * 2.2 / (2 + 1.56),
        },
        rel=FLOAT32,
    )
    take = "db/pool.py::Pool.take"
    assert impact(c, definitions, "lock") == pytest.approx({take: log(8 / 3) * 2 * 2.2 / (2 + 1.56)}, rel=FLOAT32)
    assert impact(c, definitions, "take") == pytest.approx({take: log(8 / 3) * 3 * 2.2 / (3 + 1.56)}, rel=FLOAT32)


def test_idf_of_paths_and_names_by_hand() -> None:
    """web stands in 2 of 3 paths: ln(1 + 1.5 / 2.5); auth in 1: ln(1 + 2.5 / 1.5). However often: web/web.py is one.

    Names are counted among all 5 nodes: token in 2: ln(1 + 3.5 / 2.5); cache in 1: ln(1 + 4.5 / 1.5).
    """
    c = corpus({"web/web.py": [Def("token_token")], "web/auth.py": [Def("TokenCache")], "other.py": "web auth token"})
    assert impact(c, c.lexical.paths, "web") == pytest.approx(
        {"web/web.py": log(1.6), "web/auth.py": log(1.6)}, rel=FLOAT32
    )
    assert impact(c, c.lexical.paths, "auth") == pytest.approx({"web/auth.py": log(8 / 3)}, rel=FLOAT32)
    names = c.lexical.symbol_names
    both = {"web/web.py::token_token": log(2.4), "web/auth.py::TokenCache": log(2.4)}
    assert impact(c, names, "token") == pytest.approx(both, rel=FLOAT32)
    assert impact(c, names, "cach") == pytest.approx({"web/auth.py::TokenCache": log(4)}, rel=FLOAT32)


def test_scores_add_up_with_the_weights_of_the_terms() -> None:
    """Two terms among 7 documents; ln(1 + 5.5 / 2.5) = ln 3.2 for the first, which two have, and ln(1 + 6.5 / 1.5)
    = ln 16/3 for the second. With norms of 1.1 one occurrence is worth 2.2 / 2.1, with 3.3 three are 6.6 / 6.3."""
    documents, counts = np.array([0, 2, 2], np.int32), np.array([1, 3, 1], np.int32)
    postings = Postings(np.array([0, 2, 3]), documents, counts, np.array([1.1, 9.0, 3.3]), 7)
    first, second = log(3.2), log(16 / 3)
    assert bm25(postings, {}, 3).tolist() == [0.0, 0.0, 0.0]
    assert bm25(postings, {0: 1.0}, 3) == pytest.approx([first * 2.2 / 2.1, 0, first * 6.6 / 6.3])
    weighted = second * 0.25 * 2.2 / 4.3 + 2 * first * 6.6 / 6.3
    assert bm25(postings, {1: 0.25, 0: 2.0}, 3) == pytest.approx([2 * first * 2.2 / 2.1, 0, weighted])
    plain = Postings(np.array([0, 2, 3]), documents, np.zeros(0, np.int32), np.zeros(0), 7)
    assert bm25(plain, {0: 2.0, 1: 1.0}, 3) == pytest.approx([2 * first, 0, 2 * first + second])


# -- what is a document of what


def test_the_words_of_a_field_belong_to_its_type_and_neither_its_name_nor_its_path_does() -> None:
    c = corpus({"pool.py": [Def("Pool", "", NodeKind.CLASS), Def("Pool.size", "limit", NodeKind.FIELD)]})
    size = "pool.py::Pool.size"
    assert set(impact(c, c.lexical.definitions, "limit")) == {"pool.py::Pool"}
    assert impact(c, c.lexical.definitions, "size") == {}
    assert impact(c, c.lexical.symbol_names, "size") == {}
    assert size not in impact(c, c.lexical.definitions, "pool")
    assert set(impact(c, c.lexical.files, "limit")) == {"pool.py"}
    assert c.lexical.names.position("size") >= 0  # found by its exact name


def test_sections_are_named_by_their_titles() -> None:
    c = corpus({"guide.md": facts_of("", [Section("usage", "Usage of caches", "token"), Section("end", "End")])})
    assert set(impact(c, c.lexical.symbol_names, "cach")) == {"guide.md#usage"}
    assert set(impact(c, c.lexical.definitions, "token")) == {"guide.md#usage"}
    assert set(impact(c, c.lexical.definitions, "guid")) == {"guide.md", "guide.md#usage", "guide.md#end"}
    assert set(impact(c, c.lexical.files, "token")) == {"guide.md"}


def test_files_without_an_extension_have_path_words() -> None:
    c = corpus({"docker/Makefile": "all", "docker/run.sh": "all", "v1.2/notes": "all"})
    assert set(impact(c, c.lexical.paths, "docker")) == {"docker/Makefile", "docker/run.sh"}
    assert set(impact(c, c.lexical.paths, "makefil")) == {"docker/Makefile"}
    assert set(impact(c, c.lexical.paths, "note")) == {"v1.2/notes"}


def test_names_are_symbols_file_names_and_stems_in_lower_case() -> None:
    files = {"src/Auth.test.ts": [Def("Session", "", NodeKind.CLASS), Def("Session.auth")], "lib/auth": [Def("AUTH")]}
    c = corpus(files)
    x = c.lexical
    found = {
        name: {c.graph.nodes.ids[int(n)] for n in x.name_nodes[x.name_indptr[i] : x.name_indptr[i + 1]]}
        for i, name in enumerate(x.names)
    }
    assert found == {
        "auth": {"src/Auth.test.ts", "src/Auth.test.ts::Session.auth", "lib/auth", "lib/auth::AUTH"},
        "auth.test.ts": {"src/Auth.test.ts"},
        "session": {"src/Auth.test.ts::Session"},
    }


def test_adding_up_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    c = corpus({f"f{i}.py": [Def(f"save_{word}", " ".join(WORDS))] for i, word in enumerate(WORDS)})
    whole = c.lexical
    monkeypatch.setattr(_postings, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(_sums, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(splitting, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(counting, "_BATCH_BYTES", 3)
    assert differences(build_lexical(list(c.files), c.linked), whole) == []


def test_a_repository_may_be_empty() -> None:
    for c in (corpus({}), corpus({"a.py": ""}), corpus({"LICENSE": ""})):
        n = len(c.graph.nodes)
        for postings in (c.lexical.definitions, c.lexical.files, c.lexical.paths, c.lexical.symbol_names):
            assert len(postings.indptr) == len(c.lexical.terms) + 1
            assert bm25(postings, dict.fromkeys(range(len(c.lexical.terms)), 1.0), n).shape == (n,)


# -- against an independent implementation


def naive_documents(c: Corpus) -> tuple[dict[int, Counter[str]], dict[int, Counter[str]]]:
    """Weighted term counts by node, of definitions and of files, from the facts alone."""
    definitions: dict[int, Counter[str]] = {}
    files: dict[int, Counter[str]] = {}

    def add(table: dict[int, Counter[str]], node: int, terms: Iterable[str], weight: float) -> None:
        for term in terms:
            table.setdefault(node, Counter())[term] += weight

    for path, facts in c.files:
        file = c.node(path)
        names = [f"{path}::{d.qualname}" for d in facts.definitions] + [f"{path}#{p.slug}" for p in facts.passages]
        for (document, word), n in counted(facts).items():
            node = file if document == MODULE_SCOPE else c.node(names[document])
            add(definitions, node, terms_of(word), n)
            add(files, file, terms_of(word), n)
        of_path = {t for part in splitext(path)[0].split("/") for t in terms_of(part)}
        add(files, file, of_path, 3)
        add(definitions, file, of_path, 1)
        for d in facts.definitions:
            if d.kind != NodeKind.FIELD:
                node = c.node(f"{path}::{d.qualname}")
                add(definitions, node, terms_of(d.name), 3)
                add(definitions, node, of_path, 1)
                for outer in d.qualname.split(".")[:-1]:
                    add(definitions, node, terms_of(outer), 1)
        for p in facts.passages:
            add(definitions, c.node(f"{path}#{p.slug}"), {t for w in p.title.split() for t in terms_of(w)}, 3)
            add(definitions, c.node(f"{path}#{p.slug}"), of_path, 1)
    return definitions, files


def naive_bm25(documents: dict[int, Counter[str]], term: str, b: float) -> dict[int, float]:
    """The formula of Robertson and Zaragoza (2009), one document after the other."""
    k1 = 1.2
    holding = [node for node, counts in documents.items() if counts[term]]
    mean = sum(counts.total() for counts in documents.values()) / max(len(documents), 1)
    idf = log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
    scores = {}
    for node in holding:
        tf = documents[node][term]
        scores[node] = idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * documents[node].total() / mean))
    return scores


@given(corpora())
@pytest.mark.slow
def test_bm25_agrees_with_a_naive_implementation(c: Corpus) -> None:
    definitions, files = naive_documents(c)
    terms = sorted({t for counts in (*definitions.values(), *files.values()) for t in counts})
    assert set(terms) <= set(c.lexical.terms)
    for term in c.lexical.terms:
        for postings, documents, b in ((c.lexical.definitions, definitions, 0.6), (c.lexical.files, files, 0.75)):
            expected = {c.graph.nodes.ids[node]: score for node, score in naive_bm25(documents, term, b).items()}
            assert impact(c, postings, term) == pytest.approx(expected, rel=FLOAT32)


# -- properties


def arbitrary_terms(c: Corpus, draw: st.DataObject) -> dict[int, float]:
    numbers = st.integers(0, len(c.lexical.terms) - 1) if len(c.lexical.terms) else st.nothing()
    return draw.draw(st.dictionaries(numbers, st.sampled_from([1.0, 2.0, 0.25, 3.7])))


@given(corpora(), st.data())
@pytest.mark.slow
def test_a_score_is_the_sum_of_the_impacts_of_its_terms(c: Corpus, data: st.DataObject) -> None:
    terms = arbitrary_terms(c, data)
    for postings in (c.lexical.definitions, c.lexical.files, c.lexical.paths, c.lexical.symbol_names):
        expected = np.zeros(len(c.graph.nodes))
        for term, weight in terms.items():
            for document, impact in zip(*impacts(postings, term), strict=True):
                expected[document] += weight * float(impact)
        scores = bm25(postings, terms, len(c.graph.nodes))
        assert np.allclose(scores, expected, rtol=FLOAT32, atol=0)
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()


@given(corpora())
@pytest.mark.slow
def test_the_index_is_in_the_stated_form(c: Corpus) -> None:
    x = c.lexical
    assert list(x.terms) == sorted(set(x.terms))
    assert list(x.names) == sorted(set(x.names))
    for postings in (x.definitions, x.files, x.paths, x.symbol_names):
        types = (postings.indptr.dtype, postings.documents.dtype, postings.counts.dtype, postings.norms.dtype)
        assert types == (np.int32, np.int32, np.uint16, np.float64)
        assert len(postings.indptr) == len(x.terms) + 1
        assert postings.indptr[-1] == len(postings.documents)
        counted = postings is x.definitions or postings is x.files
        assert len(postings.counts) == (len(postings.documents) if counted else 0)
        assert len(postings.norms) == (len(c.graph.nodes) if counted else 0)
        assert (postings.counts > 0).all()
        assert all((impacts(postings, t)[1] > 0).all() for t in range(len(x.terms)))
        for t in range(len(x.terms)):
            row = postings.documents[postings.indptr[t] : postings.indptr[t + 1]].tolist()
            assert row == sorted(set(row))
    is_file = c.graph.nodes.kinds == NodeKind.FILE
    assert is_file[x.files.documents].all()
    assert is_file[x.paths.documents].all()
    assert not (c.graph.nodes.kinds[x.symbol_names.documents] == NodeKind.FIELD).any()


@given(corpora(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_the_order_of_the_files_does_not_matter(c: Corpus, random) -> None:
    order = list(range(len(c.files)))
    random.shuffle(order)
    linked = LinkedGraph(c.graph, c.linked.file_nodes[order], tuple(c.linked.document_nodes[i] for i in order))
    assert differences(build_lexical([c.files[i] for i in order], linked), c.lexical) == []


@pytest.mark.slow
@pytest.mark.parametrize(("most_runs", "most_pieces"), [(8, 10_000), (0, 10_000), (8, 0)])
@given(states=st.lists(corpora(), min_size=2, max_size=2), data=st.data())
def test_words_that_are_taken_over_make_the_same_index(
    most_runs: int, most_pieces: int, states: list[Corpus], data: st.DataObject
) -> None:
    """Files that both states have alike may come without words, in any combination, and whichever way is faster."""
    before, after = states
    known = dict(before.files)
    alike = [path for path, facts in after.files if known.get(path) == facts]
    dropped = set(data.draw(st.lists(st.sampled_from(alike), unique=True))) if alike else set()
    files = [(p, replace(f, words=None) if p in dropped else f) for p, f in after.files]
    nodes = np.full(len(before.graph.nodes), -1, dtype=np.int32)
    for i, name in enumerate(before.graph.nodes.ids):
        if split_id(name)[0] in dropped:
            nodes[i] = after.node(name)
    kept = PreviousIndexRows(before.lexical, nodes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_postings, "_MAX_RUNS", most_runs)
        patched.setattr(spliced, "_MAX_PIECES", most_pieces)
        assert differences(build_lexical(files, after.linked, kept), after.lexical) == []


def test_postings_of_what_did_not_change_are_those_of_before() -> None:
    """A file that is read again and says the same has the same rows in the same places."""
    files = {"a.py": [Def("save", "load row")], "b.py": "load"}
    c = corpus(files)
    nodes = np.array([-1 if split_id(name)[0] == "a.py" else c.node(name) for name in c.graph.nodes.ids], np.int32)
    given_again = [(path, replace(facts, words=None) if path == "b.py" else facts) for path, facts in c.files]
    again = build_lexical(given_again, c.linked, PreviousIndexRows(c.lexical, nodes))
    assert again.definitions.documents is c.lexical.definitions.documents
    assert again.files.counts is c.lexical.files.counts
    assert again.terms is c.lexical.terms


def test_more_occurrences_than_a_count_holds_count_as_the_most() -> None:
    """A kept row and a new one say the same, so that lengths and norms agree."""
    c = corpus({"a.py": "word " * 70_000, "b.py": "other"})
    term = c.lexical.terms.position("word")
    row = int(c.lexical.files.indptr[term])
    assert c.lexical.files.counts[row] == 65_535
    for kept in ("a.py", "b.py"):
        nodes = np.array([-1 if split_id(name)[0] != kept else c.node(name) for name in c.graph.nodes.ids], np.int32)
        files = [(path, replace(facts, words=None) if path == kept else facts) for path, facts in c.files]
        again = build_lexical(files, c.linked, PreviousIndexRows(c.lexical, nodes))
        assert differences(again, c.lexical) == []


def test_words_are_taken_out_of_the_files_and_nothing_else_is() -> None:
    c = corpus({"a.py": [Def("save", "load row")], "b.md": "load"})
    files = list(c.files)
    build_lexical(files, c.linked)
    assert [facts.words for _, facts in c.files] == [b" load row", b"load"]
    assert files == [(path, replace(facts, words=None)) for path, facts in c.files]


def test_facts_without_words_need_an_index_that_has_them() -> None:
    c = corpus({"a.py": "auth"})
    with pytest.raises(ValueError, match="without words"):
        build_lexical([("a.py", replace(c.files[0][1], words=None))], c.linked)


@pytest.mark.slow
@given(corpora(), st.permutations(["१.x", "२.x", "३.x", "४.x", "५.x"]))
def test_relabelling_files_permutes_scores(c: Corpus, names: list[str]) -> None:
    """Digits that are no terms: what the paths say does not change, only where they stand."""
    plain = dict(zip([path for path, _ in c.files], sorted(names), strict=False))
    new = dict(zip(plain.values(), names, strict=False))
    one = corpus({plain[path]: facts for path, facts in c.files})
    other = corpus({new[plain[path]]: facts for path, facts in c.files})
    assert list(one.lexical.terms) == list(other.lexical.terms)
    for term in one.lexical.terms:
        for part in ("definitions", "files", "symbol_names"):
            before, after = scores_by_id(one, [term], part), scores_by_id(other, [term], part)
            assert after == {new[node[:3]] + node[3:]: score for node, score in before.items()}


def scores_by_id(c: Corpus, terms: Iterable[str], part: str) -> dict[str, float]:
    numbers = {c.lexical.terms.position(t): 1.0 for t in terms}
    numbers.pop(-1, None)
    postings: Postings = getattr(c.lexical, part)
    return c.of(bm25(postings, numbers, len(c.graph.nodes)))


@pytest.mark.slow
@given(corpora(), st.sets(st.sampled_from([t for w in WORDS for t in terms_of(w)])))
def test_an_unrelated_file_makes_nothing_match_that_did_not(c: Corpus, terms: set[str]) -> None:
    unrelated = facts_of("zebra", [Def("giraffe", "zebra zebra", NodeKind.CLASS), Def("giraffe.run", "gnu")])
    more = corpus({**dict(c.files), "zoo/animals.py": unrelated})
    for part in ("definitions", "files", "paths", "symbol_names"):
        before, after = scores_by_id(c, terms, part), scores_by_id(more, terms, part)
        assert set(after) == set(before)
        # What is rare in a larger repository says more: nothing that matches by name or path falls.
        if part in ("paths", "symbol_names"):
            assert all(after[node] >= before[node] for node in before)


def test_a_lexical_index_has_all_parts_of_its_type() -> None:
    """The loops above name the postings one by one; a new part must be added to them."""
    assert set(LexicalIndex.__slots__) == {
        *("terms", "definitions", "files", "paths", "symbol_names", "names", "name_indptr", "name_nodes"),
        *("bag_norms", "file_bag_norms"),
    }
