"""Sparse matrix-vector products, `out = M @ x`, without importing `scipy.sparse`.

In: the CSR arrays of a `Transition` and a vector. Out: the product, written into a given buffer. Importing
`scipy.sparse` costs more than a whole walk over a large repository (93-105 ms against 0.5 ms for the direct load, with
scipy 1.17, numpy imported and warm files; 130-240 ms against 6-9 ms in the first processes after a boot). Only its
compiled kernel `csr_matvec` is needed here, so the extension module is loaded from its file. It is a private part of
scipy. Therefore it is first tried on a product with known values. If that fails, the same kernel is taken by an
ordinary import, or numpy computes the product.
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
    """Compute `out[j] = sum(weights[k] * x[indices[k]] for k in range(indptr[j], indptr[j + 1]))`.

    `indptr` (n_rows + 1,), `indices` and `weights` (n_entries,), `x` (n_columns,), `out` (n_rows,), all C-contiguous.
    The content of `out` is overwritten; it must not be `x`. Nothing is allocated if scipy's kernel is available.

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
    """Compute `csr_product` of each column of `x` into the same column of `out`.

    `x` has shape (n_columns, n_vectors), `out` has shape (n_rows, n_vectors), both C-contiguous. The entries of the
    matrix are read once for all columns. Each column is equal to that of `csr_product`.

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
    """Compute `out[rows[k]] += weights[k] * x[columns[k]]` for each k in order, and return `out`.

    Without `out`, the sums begin from zeros, as many as `x` has. All arrays are C-contiguous.

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
    """Return the kernel of scipy with this name, if its result is right, else None; chosen once per process."""
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
    """Return the arrays of the transposed square matrix.

    Rows ascend within a column as they do in the matrix.

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
    """Return the first product that gives the right numbers; chosen once per process, at the first use."""
    for find in (direct_product, imported_product):
        product = find()
        if product is not None:
            return product
    return numpy_product


def direct_product() -> Product | None:
    """Return the kernel of scipy, loaded from the file of the extension module.

    The result is None if the kernel cannot be loaded or gives other numbers than expected.
    """
    if _SCIPY_NAME in sys.modules:
        return _check_kernel(lambda: sys.modules[_SCIPY_NAME])
    return _check_kernel(_load_extension)


def imported_product() -> Product | None:
    """Return the kernel of scipy by an ordinary, slow import.

    The result is None if the kernel cannot be imported or gives other numbers than expected.
    """
    return _check_kernel(lambda: importlib.import_module(_SCIPY_NAME))


def numpy_product(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Compute `csr_product` in numpy alone: several times slower, and it allocates.

    `bincount` adds the entries of a row in the same order as the kernel. So the sums round alike, and an empty row
    needs no special case.
    """
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


def _check_kernel(load: Callable[[], ModuleType]) -> Product | None:
    """Return the loaded kernel with our signature, if its product with an empty row is right.

    Any failure of a private module means None here, and the caller tries the next way, which is exact too.
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
