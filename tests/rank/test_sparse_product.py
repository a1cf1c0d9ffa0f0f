"""The three ways to multiply agree, and none of them needs scipy.sparse before somebody else does."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.rank import sparse_product as _product

WALK_ONCE = """
import sys
import numpy as np
from causalist.model.scores import Transition
from causalist.rank.pagerank import personalized_pagerank
m = Transition(np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32), np.array([1.0, 0.5]),
               np.array([1, 1], np.int32), np.ones(2, np.bool_))
def walk():
    return personalized_pagerank(m, np.array([1.0, 0.0]), damping=0.5, tolerance=1e-12).scores.round(6).tolist()
expected = [0.8, 0.2]  # x0 = 1 + 0.5 x1, x1 = 0.25 x0
"""
SPARSE_ONCE = """
import scipy.sparse
assert (scipy.sparse.csr_matrix([[0.0, 2.0], [3.0, 0.0]]) @ np.array([1.0, 1.0])).tolist() == [2.0, 3.0]
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def backends() -> list[_product.Product]:
    direct, imported = _product.direct_product(), _product.imported_product()
    assert direct is not None
    assert imported is not None
    return [direct, imported, _product.numpy_product]


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_all_ways_agree(n_rows: int, n_columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.4)
    filled = dense != 0
    indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int32)
    indices, weights, x = np.nonzero(filled)[1].astype(np.int32), dense[filled], rng.random(n_columns)
    for product in [*backends(), _product.csr_product]:
        out = np.full(n_rows, np.nan)
        product(indptr, indices, weights, x, out)
        assert np.allclose(out, dense @ x, rtol=1e-14, atol=0)


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_several_vectors_at_once_come_out_as_one_by_one(n: int, n_vectors: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    dense = chance.random((n, n)) * (chance.random((n, n)) < 0.4)
    indptr = np.concatenate([[0], np.cumsum((dense > 0).sum(axis=1))]).astype(np.int32)
    indices = np.nonzero(dense)[1].astype(np.int32)
    x, out, column = chance.random((n, n_vectors)), np.full((n, n_vectors), 9.0), np.empty(n)
    _product.csr_products(indptr, indices, dense[dense > 0], x, out)
    np.testing.assert_allclose(out, dense @ x, rtol=1e-13, atol=1e-300)
    for i in range(n_vectors):
        _product.csr_product(indptr, indices, dense[dense > 0], np.ascontiguousarray(x[:, i]), column)
        assert out[:, i].tolist() == column.tolist()


def test_read_only_arrays_will_do() -> None:
    arrays = [np.array([0, 1, 1, 2], np.int32), np.array([2, 0], np.int32), np.array([2.0, 3.0]), np.arange(3.0)]
    for array in arrays:
        array.flags.writeable = False
    for product in backends():
        out = np.empty(3)
        product(*arrays, out)
        assert out.tolist() == [4.0, 0.0, 0.0]


def test_a_matrix_without_entries() -> None:
    for product in backends():
        out = np.full(2, 7.0)
        product(np.zeros(3, np.int32), np.zeros(0, np.int32), np.zeros(0), np.ones(2), out)
        assert out.tolist() == [0.0, 0.0]


def test_a_walk_does_not_import_scipy() -> None:
    code = WALK_ONCE + "assert walk() == expected\nprint([m for m in sys.modules if m.split('.')[0] == 'scipy'])"
    assert run(code) == "[]"


def test_scipy_sparse_works_after_a_walk() -> None:
    run(WALK_ONCE + "assert walk() == expected" + SPARSE_ONCE + "assert walk() == expected")


@pytest.mark.slow
def test_a_walk_works_after_scipy_sparse() -> None:
    run(WALK_ONCE + SPARSE_ONCE + "assert walk() == expected" + SPARSE_ONCE)


def test_what_is_off_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        @staticmethod
        def csr_matvec(*_: object) -> None:
            """Leaves the result as it was."""

    assert _product._check_kernel(lambda: Wrong) is None
    assert _product._check_kernel(lambda: object()) is None

    def missing() -> None:
        raise ImportError("gone")

    assert _product._check_kernel(missing) is None
    monkeypatch.setattr(_product, "direct_product", lambda: None)
    monkeypatch.setattr(_product, "imported_product", lambda: None)
    assert _product._fastest.__wrapped__() is _product.numpy_product


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 30), st.integers(0, 2**32 - 1), st.booleans())
def test_entries_are_added_one_after_the_other(n: int, n_entries: int, seed: int, without_kernel: bool) -> None:
    chance = np.random.default_rng(seed)
    rows, columns = (chance.integers(0, n, n_entries).astype(np.int32) for _ in range(2))
    weights, x = chance.random(n_entries), chance.random(n)
    expected = [0.0] * n
    for row, column, weight in zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True):
        expected[row] += weight * float(x[column])
    with pytest.MonkeyPatch.context() as patch:
        if without_kernel:
            patch.setattr(_product, "_fastest_of_entries", lambda: None)
        # A kernel that was compiled to multiply and add in one rounds once less.
        np.testing.assert_allclose(_product.coo_product(rows, columns, weights, x), expected, rtol=1e-14, atol=0)
