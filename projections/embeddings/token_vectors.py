"""Compressed token vectors: content tokens only, in 128 dimensions of three bits.

A random projection approximately preserves angles (Johnson and Lindenstrauss, 1984); as it does not
depend on data, it suits every zone at any size. Projected components are about normally
distributed, so each is rounded to the nearest of eight Lloyd-Max levels of a normal distribution
(Max, 1960; Lloyd, 1982), scaled to integers.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.text.stopwords import STOP_WORDS

#: The name of the format that `compress` writes; change it together with the format.
FORMAT = "random128/3bit"
#: Dimensions after projection; vectors of fewer are not projected.
PROJECTED_DIMENSIONS = 128
#: A text with more tokens than this is split into units.
MAX_UNIT_TOKENS = 96
#: A unit ends at the end of the sentence in which it reaches this many tokens.
MIN_UNIT_TOKENS = 64

#: The level of each three-bit code; a token's scale is its root mean square divided by RMS.
LEVELS = np.array([-45, -28, -16, -5, 5, 16, 28, 45], np.int8)
RMS = 20.83
# The decision thresholds between adjacent levels; a value on a threshold gets the higher level.
_THRESHOLDS = (LEVELS[1:].astype(np.float32) + LEVELS[:-1]) / 2
_BITS = 3
# Eight dimensions are packed into three bytes, the first in the lowest bits. A lookup table decodes
# four dimensions at a time.
_DIMENSIONS_PER_GROUP = 8
_DIMENSIONS_PER_HALF = _DIMENSIONS_PER_GROUP // 2
_LEVELS_PER_HALF = LEVELS[
    np.arange(1 << (_BITS * _DIMENSIONS_PER_HALF))[:, None]
    >> (_BITS * np.arange(_DIMENSIONS_PER_HALF))
    & (len(LEVELS) - 1)
].view(np.uint32)[:, 0]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PART = re.compile(r"[^'’]+")
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s)|[。\uff01\uff1f]+|\n")

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Packed = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class TokenCodes(NamedTuple):
    """The token vectors of a text, packed as in `recollect.schemas.changes.TokenVectorsRow`."""

    codes: bytes
    scales: bytes
    units: bytes


class UnpackedTokens(NamedTuple):
    """Tokens of one or more texts: (n, code bytes) `codes` and (n,) `scales`.

    `units`: the number of tokens in each unit. A token's vector is its scale times its levels, as
    `decode_levels` decodes them from its codes.
    """

    codes: Packed
    scales: Floats
    units: Ints


def compress(text: str, offsets: npt.NDArray[np.int32], vectors: Floats) -> TokenCodes:
    """Compress the (t, dimension) token vectors of a text, without stop words and punctuation.

    `offsets`: (t, 2), the start and end of each token in characters.
    """
    is_content = content_token_mask(text, offsets)
    codes, scales = encode_levels(project(vectors[is_content]))
    units = np.bincount(_unit_of_tokens(text, offsets)[is_content], minlength=1)
    return TokenCodes(
        codes.tobytes(), scales.astype("<f2").tobytes(), units.astype("<u2").tobytes()
    )


def unpack(codes: bytes, scales: bytes, units: bytes, dimensions: int) -> UnpackedTokens:
    """Unpack the tokens of one text, or of several texts whose bytes were concatenated."""
    return UnpackedTokens(
        np.frombuffer(codes, np.uint8).reshape(-1, code_bytes(dimensions)),
        np.frombuffer(scales, "<f2").astype(np.float32),
        np.frombuffer(units, "<u2").astype(np.int64),
    )


def projected_dimensions(dimension: int) -> int:
    """Return the number of dimensions of compressed tokens, given the encoder's."""
    return min(dimension, PROJECTED_DIMENSIONS)


def code_bytes(dimensions: int) -> int:
    """Return the length of a token's codes in bytes, given its number of dimensions."""
    return -(-dimensions // _DIMENSIONS_PER_GROUP) * _BITS


def encode_levels(vectors: Floats) -> tuple[Packed, Floats]:
    """Encode (n, dimensions) vectors as (n, code bytes) codes and (n,) float16 scales."""
    count, dimensions = vectors.shape
    rms = np.sqrt(np.square(vectors.astype(np.float64)).mean(axis=1))
    scales = (rms / RMS).astype(np.float16).astype(np.float32)
    safe = np.where(scales > 0, scales, 1)[:, None]
    scaled = vectors / safe
    codes = np.zeros(
        (count, -(-dimensions // _DIMENSIONS_PER_GROUP) * _DIMENSIONS_PER_GROUP), np.uint32
    )
    for threshold in _THRESHOLDS:
        codes[:, :dimensions] += scaled >= threshold
    shifted = codes.reshape(-1, _DIMENSIONS_PER_GROUP) << np.arange(
        0, _BITS * _DIMENSIONS_PER_GROUP, _BITS, dtype=np.uint32
    )
    words = np.bitwise_or.reduce(shifted, axis=1).astype("<u4")
    # The fourth byte of each word is 0.
    packed = words.view(np.uint8).reshape(-1, 4)[:, :_BITS]
    return packed.reshape(count, code_bytes(dimensions)), scales


def decode_levels(codes: Packed, dimensions: int) -> Bytes:
    """Decode (n, code bytes) codes to (n, dimensions) levels, integers from -45 to 45."""
    # Each of the three bytes as one array, and indices as intp: three times as fast.
    first, middle, last = np.ascontiguousarray(codes.reshape(-1, _BITS).T)
    halves = np.empty((len(first), 2), np.intp)
    halves[:, 0] = first | (middle & 0xF).astype(np.uint16) << 8
    halves[:, 1] = middle >> 4 | last.astype(np.uint16) << 4
    levels: Bytes = _LEVELS_PER_HALF[halves].view(np.int8)
    padded = levels.reshape(len(codes), code_bytes(dimensions) // _BITS * _DIMENSIONS_PER_GROUP)
    return np.ascontiguousarray(padded[:, :dimensions])


def content_token_mask(text: str, offsets: npt.NDArray[np.int32]) -> Mask:
    """Return the mask of content tokens: those in words other than stop words.

    Contractions are checked as a whole and by parts: "it's", "Ada's".
    """
    is_content = np.zeros(len(text) + 1, bool)
    for word in _WORD.finditer(text):
        if word[0].lower().replace("’", "'") in STOP_WORDS:
            continue
        for part in _PART.finditer(text, *word.span()):
            if part[0].lower() not in STOP_WORDS:
                is_content[part.start() : part.end()] = True
    starts, ends = offsets[:, 0], offsets[:, 1]
    return is_content[np.minimum(starts, len(text))] & (ends > starts)


def project(vectors: Floats) -> Floats:
    """Project (t, dimension) vectors to fewer dimensions, approximately preserving angles."""
    dimension = vectors.shape[1]
    if dimension <= PROJECTED_DIMENSIONS:
        return vectors
    return vectors @ _projection(dimension)


def quantise_int8(vectors: Floats) -> tuple[Bytes, Floats]:
    """Return int8 codes and float16 scales, as float32: vectors ~ codes * scales, row by row."""
    magnitude = np.abs(vectors).max(axis=1, initial=0.0)
    scales = (magnitude / 127).astype(np.float16).astype(np.float32)
    safe = np.where(scales > 0, scales, 1)[:, None]
    return np.clip(np.rint(vectors / safe), -127, 127).astype(np.int8), scales


@cache
def _projection(dimension: int) -> Floats:
    """Return the random projection (dimension, PROJECTED_DIMENSIONS), with orthogonal columns.

    The signs are bits of BLAKE2b, and QR makes the columns orthogonal. They are scaled so that a
    vector's expected length is kept. Double precision gives the same floats on every processor.
    """
    random_bytes = b"".join(
        hashlib.blake2b(f"token {row}".encode(), digest_size=PROJECTED_DIMENSIONS // 8).digest()
        for row in range(dimension)
    )
    bits = np.unpackbits(np.frombuffer(random_bytes, np.uint8)).reshape(
        dimension, PROJECTED_DIMENSIONS
    )
    directions, triangle = np.linalg.qr(2.0 * bits - 1.0)
    directions *= np.sign(np.diag(triangle)) * np.sqrt(dimension / PROJECTED_DIMENSIONS)
    projection: Floats = directions.astype(np.float32)
    return projection


def _unit_of_tokens(text: str, offsets: npt.NDArray[np.int32]) -> Ints:
    """Return the unit (0, 1, ...) of each token."""
    unit = np.zeros(len(offsets), np.int64)
    if len(offsets) <= MAX_UNIT_TOKENS:
        return unit
    first = 0
    for end in _SENTENCE_END.finditer(text):
        after = int(np.searchsorted(offsets[:, 0], end.end()))
        if after - first >= MIN_UNIT_TOKENS and after < len(offsets):
            unit[after:] += 1
            first = after
    return unit
