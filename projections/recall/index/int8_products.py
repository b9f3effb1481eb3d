"""Products of int8 vectors: exact, since every sum is a whole number that a float holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32 | np.float64]

# NumPy's linear algebra takes floats alone. So many rows are turned into them at once that they
# stay in the processor's cache.
_ROWS = 512
# A sum of products of two bytes, over this many dimensions, is at most 2**24: up to there float32
# holds every whole number, in whatever order the products are added.
_DIMENSIONS_OF_FLOAT32 = 2**24 // 128**2


def product(rows: Bytes, column: Bytes) -> npt.NDArray[np.float64]:
    """Return (n,): the products of (n, dimension) rows and one column, whole numbers."""
    return products(rows, column[None])[:, 0].astype(np.float64)


def products(rows: Bytes, columns: Bytes) -> Floats:
    """Return (n, k): the products of (n, dimension) rows and (k, dimension) columns.

    They are whole numbers, as float32, or as float64 beyond 1,024 dimensions.
    """
    narrow = columns.shape[1] <= _DIMENSIONS_OF_FLOAT32
    kind: type[np.float32 | np.float64] = np.float32 if narrow else np.float64
    factors = np.ascontiguousarray(columns.T, kind)
    found: Floats = np.empty((len(rows), len(columns)), kind)
    for first in range(0, len(rows), _ROWS):
        block = slice(first, first + _ROWS)
        np.matmul(rows[block].astype(kind), factors, out=found[block])
    return found
