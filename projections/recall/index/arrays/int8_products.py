"""Exact dot products of int8 vectors, computed in floats that hold every sum exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32 | np.float64]

# NumPy's matrix product is fast for floats only. So rows are converted to floats, this many at a
# time so that they stay in the processor's cache.
_BATCH = 512
# Up to this many dimensions, a dot product of int8 vectors is at most 2**24. Float32 represents all
# integers up to there, so the order of additions does not matter.
_MAX_FLOAT32_DIMENSIONS = 2**24 // 128**2


def product(rows: Bytes, vector: Bytes) -> npt.NDArray[np.float64]:
    """Return the (n,) dot products of (n, dimension) rows and one vector, as integral floats."""
    return products(rows, vector[None])[:, 0].astype(np.float64)


def products(rows: Bytes, vectors: Bytes) -> Floats:
    """Return the (n, k) dot products of (n, dimension) rows and (k, dimension) vectors.

    They are integers, as float32, or as float64 beyond 1,024 dimensions.
    """
    narrow = vectors.shape[1] <= _MAX_FLOAT32_DIMENSIONS
    kind: type[np.float32 | np.float64] = np.float32 if narrow else np.float64
    factors = np.ascontiguousarray(vectors.T, kind)
    sums: Floats = np.empty((len(rows), len(vectors)), kind)
    for first in range(0, len(rows), _BATCH):
        block = slice(first, first + _BATCH)
        np.matmul(rows[block].astype(kind), factors, out=sums[block])
    return sums
