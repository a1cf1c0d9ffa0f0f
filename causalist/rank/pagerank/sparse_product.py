"""One sparse matrix-vector product, `out = M @ x`, without importing `scipy.sparse`.

In: the CSR arrays of a `Transition` and a vector. Out: the product, written into a given buffer. Importing
`scipy.sparse` costs more than a whole walk over a large repository (93-105 ms against 0.5 ms for the direct load, with
scipy 1.17, numpy imported and warm files; 130-240 ms against 6-9 ms in the first processes after a boot), and only its
compiled kernel `csr_matvec` is needed here. So the extension module is loaded from its file. It is a private part of
scipy: it is tried on a product with known values first, and when anything is off the same kernel is taken by an
ordinary import, or else numpy does the work.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

Product = Callable[
    [NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], None
]

_SCIPY_NAME = "scipy.sparse._sparsetools"
# The last component must stay `_sparsetools`: CPython derives the name of the module's init function from it. The
# rest differs from scipy's own name, so that a later `import scipy.sparse` loads and owns its copy undisturbed.
_PRIVATE_NAME = "causalist.rank._sparsetools"


def csr_product(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """`out[j] = sum(weights[k] * x[indices[k]] for k in range(indptr[j], indptr[j + 1]))`.

    `indptr` (n_rows + 1,), `indices` and `weights` (n_entries,), `x` (n_columns,), `out` (n_rows,), all C-contiguous;
    what `out` held is overwritten, and it must not be `x`. Nothing is allocated when scipy's kernel is at hand.

    >>> out = np.full(3, 9.0)
    >>> indptr, indices = np.array([0, 1, 1, 3], dtype=np.int32), np.array([1, 0, 2], dtype=np.int32)
    >>> csr_product(indptr, indices, np.array([2.0, 1.0, 3.0]), np.array([1.0, 2.0, 3.0]), out)
    >>> out.tolist()
    [4.0, 0.0, 10.0]
    """
    _fastest()(indptr, indices, weights, x, out)


def csr_products(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """`csr_product` of each column of `x`, (n_columns, n_vectors), into those of `out`, (n_rows, n_vectors): entries of
    the matrix are read once for all of them. Both C-contiguous. A column comes out as it would by itself.

    >>> out = np.full((3, 2), 9.0)
    >>> indptr, indices = np.array([0, 1, 1, 3], dtype=np.int32), np.array([1, 0, 2], dtype=np.int32)
    >>> csr_products(indptr, indices, np.array([2.0, 1.0, 3.0]), np.array([[1.0, 1], [2, 0], [3, 1]]), out)
    >>> out.tolist()
    [[4.0, 0.0], [0.0, 0.0], [10.0, 4.0]]
    """
    kernel = _fastest_of_many()
    if kernel is not None:
        out.fill(0.0)
        kernel(len(indptr) - 1, len(x), x.shape[1], indptr, indices, weights, x.reshape(-1), out.reshape(-1))
        return
    column = np.empty(len(out))
    for i in range(x.shape[1]):
        csr_product(indptr, indices, weights, np.ascontiguousarray(x[:, i]), column)
        out[:, i] = column


def coo_product(
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """`out[rows[k]] += weights[k] * x[columns[k]]` for one k after the other, from what `out` holds, or from zeros as
    long as `x`. All C-contiguous.

    >>> rows, columns = np.array([2, 0, 2], dtype=np.int32), np.array([0, 1, 2], dtype=np.int32)
    >>> coo_product(rows, columns, np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])).tolist()
    [4.0, 0.0, 10.0]
    """
    out = np.zeros(len(x)) if out is None else out
    kernel = _fastest_of_entries()
    if kernel is None:
        np.add.at(out, rows, weights * x[columns])
    else:
        kernel(len(rows), rows, columns, weights, x, out)
    return out


@cache
def _fastest_of_entries() -> Callable[..., None] | None:
    def is_right(kernel: Callable[..., None]) -> bool:
        rows, columns = np.array([2, 0, 2], dtype=np.int32), np.array([0, 1, 2], dtype=np.int32)
        weights, out = np.array([1.0, 2.0, 3.0]), np.zeros(3)
        kernel(3, rows, columns, weights, np.array([1.0, 2.0, 3.0]), out)
        return out.tolist() == [4.0, 0.0, 10.0]

    return _kernel("coo_matvec", is_right)


def _kernel(name: str, is_right: Callable[[Callable[..., None]], bool]) -> Callable[..., None] | None:
    """scipy's kernel of this name, if it gives what it should; chosen once per process."""
    for load in (_load_extension, lambda: importlib.import_module(_SCIPY_NAME)):
        try:
            kernel: Callable[..., None] = getattr(sys.modules.get(_SCIPY_NAME) or load(), name)
            if is_right(kernel):
                return kernel
        except (ImportError, OSError, AttributeError, TypeError, ValueError, RuntimeError, SystemError):
            continue
    return None


def csr_transpose(
    indptr: NDArray[np.int32], indices: NDArray[np.int32], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The arrays of the transposed matrix, which is square. Rows ascend within a column as they do in the matrix.

    >>> indptr, indices = np.array([0, 1, 1, 3], dtype=np.int32), np.array([1, 0, 2], dtype=np.int32)
    >>> [each.tolist() for each in csr_transpose(indptr, indices, np.array([2.0, 1.0, 3.0]))]
    [[0, 1, 2, 3], [2, 0, 2], [1.0, 2.0, 3.0]]
    """
    n_rows = len(indptr) - 1
    kernel = _fastest_transpose()
    if kernel is not None:
        out = np.empty(n_rows + 1, np.int32), np.empty(len(indices), np.int32), np.empty(len(indices))
        kernel(n_rows, n_rows, indptr, indices, weights, *out)
        return out
    order = np.argsort(indices, kind="stable")
    rows = np.repeat(np.arange(n_rows, dtype=np.int32), np.diff(indptr))
    ends = np.zeros(n_rows + 1, dtype=np.int32)
    np.cumsum(np.bincount(indices, minlength=n_rows), out=ends[1:])
    return ends, rows[order], weights[order]


@cache
def _fastest_transpose() -> Callable[..., None] | None:
    def is_right(kernel: Callable[..., None]) -> bool:
        indptr, indices = np.array([0, 1, 1, 3], dtype=np.int32), np.array([1, 0, 2], dtype=np.int32)
        out = np.zeros(4, np.int32), np.zeros(3, np.int32), np.zeros(3)
        kernel(3, 3, indptr, indices, np.array([2.0, 1.0, 3.0]), *out)
        return [each.tolist() for each in out] == [[0, 1, 2, 3], [2, 0, 2], [1.0, 2.0, 3.0]]

    return _kernel("csr_tocsc", is_right)


@cache
def _fastest_of_many() -> Callable[..., None] | None:
    def is_right(kernel: Callable[..., None]) -> bool:
        indptr, indices = np.array([0, 1, 1, 3], dtype=np.int32), np.array([1, 0, 2], dtype=np.int32)
        weights, x, out = np.array([2.0, 1.0, 3.0]), np.array([1.0, 1, 2, 0, 3, 1]), np.zeros(6)
        kernel(3, 3, 2, indptr, indices, weights, x, out)
        return out.tolist() == [4.0, 0.0, 0.0, 0.0, 10.0, 4.0]

    return _kernel("csr_matvecs", is_right)


@cache
def _fastest() -> Product:
    """The first product that gives the right numbers here; chosen once per process, at the first use."""
    for find in (direct_product, imported_product):
        product = find()
        if product is not None:
            return product
    return numpy_product


def direct_product() -> Product | None:
    """scipy's kernel from the extension module's file; None when it cannot be had or is not what was expected."""
    if _SCIPY_NAME in sys.modules:
        return _checked(lambda: sys.modules[_SCIPY_NAME])
    return _checked(_load_extension)


def imported_product() -> Product | None:
    """scipy's kernel by an ordinary, slow import; None when it cannot be had or is not what was expected."""
    return _checked(lambda: importlib.import_module(_SCIPY_NAME))


def numpy_product(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The same in numpy alone: several times slower, and it allocates. `bincount` adds a row's entries one after the
    other as the kernel does, so that the sums round alike, and an empty row needs no special case."""
    n_rows = len(indptr) - 1
    rows = np.repeat(np.arange(n_rows), np.diff(indptr))
    out[:] = np.bincount(rows, weights=weights * x[indices], minlength=n_rows)


def _load_extension() -> ModuleType:
    """`scipy/sparse/_sparsetools` as a module of ours. `find_spec` of a top-level package does not import it."""
    package = importlib.util.find_spec("scipy")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        for suffix in EXTENSION_SUFFIXES:
            path = Path(folder) / "sparse" / f"_sparsetools{suffix}"
            if path.is_file():
                loader = ExtensionFileLoader(_PRIVATE_NAME, str(path))
                spec = importlib.util.spec_from_file_location(_PRIVATE_NAME, path, loader=loader)
                if spec is None:
                    break
                module = importlib.util.module_from_spec(spec)
                loader.exec_module(module)
                return module
    raise ImportError("scipy.sparse._sparsetools was not found as an extension module")


def _checked(load: Callable[[], ModuleType]) -> Product | None:
    """The loaded kernel behind our signature, if it multiplies a matrix with an empty row as it should.

    Any failure of a private module is an answer here, "not this way", and the next way is exact too.
    """
    try:
        kernel = load().csr_matvec

        def product(
            indptr: NDArray[np.int32],
            indices: NDArray[np.int32],
            weights: NDArray[np.float64],
            x: NDArray[np.float64],
            out: NDArray[np.float64],
        ) -> None:
            out.fill(0.0)  # the kernel adds to what is there
            kernel(len(indptr) - 1, len(x), indptr, indices, weights, x, out)

        out = np.full(3, 9.0)
        indptr, indices = np.array([0, 1, 1, 3], dtype=np.int32), np.array([1, 0, 2], dtype=np.int32)
        product(indptr, indices, np.array([2.0, 1.0, 3.0]), np.array([1.0, 2.0, 3.0]), out)
    except (ImportError, OSError, AttributeError, TypeError, ValueError, RuntimeError, SystemError):
        return None
    return product if out.tolist() == [4.0, 0.0, 10.0] else None
