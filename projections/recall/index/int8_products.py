"""Exact dot products of int8 vectors, computed in floats that hold every sum exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32 | np.float64]

# NumPy's matrix product is fast for floats only. Rows converted at a time, so that they stay in the
# processor's cache.
_BATCH = 512
# Up to this many dimensions a dot product of int8 vectors is at most 2**24, below which float32
# represents every integer, so the order of additions does not matter.
_MAX_FLOAT32_DIMENSIONS = 2**24 // 128**2


def product(rows: Bytes, column: Bytes) -> npt.NDArray[np.float64]:
    """Return the (n,) dot products of (n, dimension) rows and one vector, as integral floats."""
    return products(rows, column[None])[:, 0].astype(np.float64)


def products(rows: Bytes, columns: Bytes) -> Floats:
    """Return the (n, k) dot products of (n, dimension) rows and (k, dimension) columns.

    They are integers, as float32, or as float64 beyond 1,024 dimensions.
    """
    narrow = columns.shape[1] <= _MAX_FLOAT32_DIMENSIONS
    kind: type[np.float32 | np.float64] = np.float32 if narrow else np.float64
    factors = np.ascontiguousarray(columns.T, kind)
    found: Floats = np.empty((len(rows), len(columns)), kind)
    for first in range(0, len(rows), _BATCH):
        block = slice(first, first + _BATCH)
        np.matmul(rows[block].astype(kind), factors, out=found[block])
    return found
