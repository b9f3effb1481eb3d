"""Canonical vectors: one byte per dimension, which keeps only their direction.

Texts are compared by the angle between their vectors, so a vector's length is not kept, and sixteen
levels per dimension are enough. The same bytes stand in change records, where they are coded to
take less, in embeddings.db and in the index of recall. Vectors of older builds have 255 levels and
are compared with those of today as they are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]

# The odd numbers from -15 to 15: none is 0, so every number keeps its sign.
_LEVELS = 16
# A vector of smaller numbers gets smaller codes, at last zeros; 127 divided by this is finite.
_TINY = np.float32(1e-30)


def to_int8(vectors: Floats) -> tuple[Bytes, Floats]:
    """Return (n, dimension) vectors as whole numbers, and the (n,) factors they were multiplied by.

    A vector's greatest number becomes 127 or -127; the others are rounded, halves to the even
    neighbour. A vector of zeros or of tiny numbers becomes zeros, and so does one with NaN or
    infinity. Every step is a float32 operation on single numbers, so that the bytes are the same on
    every machine.
    """
    known, greatest = _finite(vectors)
    times = np.float32(127) / greatest
    return np.rint(known * times[:, None]).astype(np.int8), times


def quantise(vectors: Floats) -> list[bytes]:
    """Return the canonical form of each of (n, dimension) vectors.

    What lies between a vector's greatest number and its opposite is cut into sixteen equal steps;
    a number becomes the middle of its step, as one of the odd numbers from -15 to 15. `to_int8`
    makes zeros becomes zeros, and the bytes are the same on every machine for the same reason.
    """
    known, greatest = _finite(vectors)
    steps = np.floor(known * (np.float32(_LEVELS // 2) / greatest)[:, None])
    codes = np.clip(2 * steps + 1, 1 - _LEVELS, _LEVELS - 1).astype(np.int8)
    codes[greatest <= _TINY] = 0
    return [row.tobytes() for row in codes]


def _finite(vectors: Floats) -> tuple[Floats, Floats]:
    """Return vectors, zeros where one holds what is no number, and (n,) their greatest numbers."""
    finite = np.isfinite(vectors).all(axis=1, keepdims=True)
    known = np.where(finite, vectors, np.float32(0))
    return known, np.maximum(np.abs(known).max(axis=1, initial=0), _TINY)


def to_unit_vectors(codes: Bytes) -> Floats:
    """Return (n, dimension) unit vectors of canonical ones; zeros stay zeros."""
    vectors: Floats = codes * inverse_norms(codes)[:, None]
    return vectors


def inverse_norms(codes: Bytes) -> Floats:
    """Return (n,) the reciprocal length of each vector, 0 for zeros."""
    wide = codes.astype(np.int32)
    # Whole numbers, so that the sum is exact.
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide).astype(np.float64))
    per = np.divide(1, length, out=np.zeros(len(codes)), where=length > 0)
    return np.asarray(per, np.float32)
