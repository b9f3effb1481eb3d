"""Products of int8 vectors: sums of whole numbers, exact, in whatever order they are added."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numkong import dots_pack, dots_packed

Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int32]

# The kernels take so many columns at a time.
_COLUMNS = 4


def products(rows: Bytes, columns: Bytes) -> Ints:
    """Return (n, k): the products of (n, dimension) rows, which lie in order, and (k, dimension).

    Exact up to 2 ** 17 dimensions.
    """
    count = len(columns)
    padded = np.zeros((-(-count // _COLUMNS) * _COLUMNS, columns.shape[1]), np.int8)
    padded[:count] = columns
    found: Ints = np.asarray(dots_packed(rows, dots_pack(padded, dtype="int8")))
    return found[:, :count]
