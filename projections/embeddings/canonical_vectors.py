"""Canonical vectors: int8 vectors that keep only the direction, one byte per dimension.

Texts are compared by cosine, so norms are dropped, and sixteen levels per dimension suffice. The
same bytes are stored in change records (where they are compressed), embeddings.db and recall's
index. Vectors of older builds have 255 levels; they are compared with current ones without
conversion.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]

# The levels are the odd integers from -15 to 15. None of them is 0, so every component keeps its
# sign.
_LEVELS = 16
# The lower bound of the divisor, so that 127 divided by it is finite.
_TINY = np.float32(1e-30)


def to_int8(vectors: Floats) -> tuple[Bytes, Floats]:
    """Quantise (n, dimension) vectors to int8; also return the (n,) factors applied.

    The component with the largest magnitude becomes 127 or -127; others are rounded half to even.
    A vector of zeros, of tiny numbers, or with NaN or infinity becomes zeros. Every step is an
    elementwise float32 operation, so the bytes are the same on every machine.
    """
    finite, magnitude = _finite(vectors)
    factors = np.float32(127) / magnitude
    return np.rint(finite * factors[:, None]).astype(np.int8), factors


def quantise(vectors: Floats) -> list[bytes]:
    """Return the canonical form of each of (n, dimension) vectors.

    Uniform quantisation to sixteen steps over [-max, max], coded as the odd integers from -15 to
    15. As in `to_int8`, vectors of zeros, of tiny numbers, or with NaN or infinity become zeros,
    and the bytes are the same on every machine.
    """
    finite, magnitude = _finite(vectors)
    steps = np.floor(finite * (np.float32(_LEVELS // 2) / magnitude)[:, None])
    codes = np.clip(2 * steps + 1, 1 - _LEVELS, _LEVELS - 1).astype(np.int8)
    codes[magnitude <= _TINY] = 0
    return [row.tobytes() for row in codes]


def _finite(vectors: Floats) -> tuple[Floats, Floats]:
    """Replace vectors with NaN or infinity by zeros; also return the (n,) maximum magnitudes."""
    is_finite = np.isfinite(vectors).all(axis=1, keepdims=True)
    finite = np.where(is_finite, vectors, np.float32(0))
    return finite, np.maximum(np.abs(finite).max(axis=1, initial=0), _TINY)


def to_unit_vectors(codes: Bytes) -> Floats:
    """Return (n, dimension) canonical vectors scaled to unit norm; zeros stay zeros."""
    vectors: Floats = codes * inverse_norms(codes)[:, None]
    return vectors


def inverse_norms(codes: Bytes) -> Floats:
    """Return the (n,) reciprocal norms of vectors; 0 for zeros."""
    # Integers, so that the sum is exact.
    wide = codes.astype(np.int32)
    norm = np.sqrt(np.einsum("ij,ij->i", wide, wide).astype(np.float64))
    inverse = np.divide(1, norm, out=np.zeros(len(codes)), where=norm > 0)
    return np.asarray(inverse, np.float32)
