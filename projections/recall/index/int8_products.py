"""Products of int8 vectors: sums of whole numbers, exact, in whatever order they are added."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numkong import cdist, dots_pack, dots_packed

Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int32]

# The kernel of several columns takes so many at a time.
_COLUMNS = 4


def product(rows: Bytes, column: Bytes) -> npt.NDArray[np.float64]:
    """Return (n,): the products of (n, dimension) rows and one column, whole numbers.

    In half the time of `products`, whose kernel is one for several columns.
    """
    if not len(rows):
        return np.zeros(0)
    found: npt.NDArray[np.float64] = np.asarray(cdist(column[None], rows, "dot"))[0]
    return found


def products(rows: Bytes, columns: Bytes) -> Ints:
    """Return (n, k): the products of (n, dimension) rows and (k, dimension) columns."""
    count = len(columns)
    padded = np.zeros((-(-count // _COLUMNS) * _COLUMNS, columns.shape[1]), np.int8)
    padded[:count] = columns
    found: Ints = np.asarray(dots_packed(rows, dots_pack(padded, dtype="int8")))
    return found[:, :count]
