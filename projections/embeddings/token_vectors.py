"""Compressed token vectors: only meaningful tokens, in 128 dimensions of three bits.

A random projection keeps angles (Johnson and Lindenstrauss, 1984). It does not depend on data, so
it fits every zone, and still does when a zone grows. The projected numbers are distributed about
normally, so each is rounded to the nearest of the eight levels that are best for a normal
distribution (Max, 1960; Lloyd, 1982), as whole numbers.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.text.stopwords import STOP_WORDS

#: The name of the form that `compress` makes; change it together with the form.
FORMAT = "random128/3bit"
#: Dimensions that are kept; a model with fewer keeps all of its own.
PROJECTED_DIMENSIONS = 128
#: A text with more word pieces than this is split;
MAX_UNIT_TOKENS = 96
#: each part ends with the sentence that reaches this number.
UNIT_TOKENS = 64

#: The values of the three bits of a dimension; a token's scale is its root mean square over RMS.
LEVELS = np.array([-45, -28, -16, -5, 5, 16, 28, 45], np.int8)
RMS = 20.83
# A number between two levels gets the nearer one; in the middle, the greater.
_MIDDLES = (LEVELS[1:].astype(np.float32) + LEVELS[:-1]) / 2
_BITS = 3
# Eight dimensions take three bytes, the first dimension the lowest bits; they are looked up in two
# halves of four.
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
    """The token vectors of a text, as `recollect.schemas.changes.TokenVectors` holds them."""

    codes: bytes
    scales: bytes
    units: bytes


class UnpackedTokens(NamedTuple):
    """Tokens of one or more texts: (n, width) `codes`, (n,) `scales`, and (u,) tokens of each unit.

    A token's vector is its levels, which `decode_levels` reads from the codes, times its scale.
    """

    codes: Packed
    scales: Floats
    units: Ints


def compress(text: str, offsets: npt.NDArray[np.int32], vectors: Floats) -> TokenCodes:
    """Return the (t, dimension) token vectors of a text, compressed.

    `offsets`: (t, 2), the characters of each token. Stop words and punctuation go.
    """
    kept = content_token_mask(text, offsets)
    codes, scales = encode_levels(project(vectors[kept]))
    units = np.bincount(_unit_of_tokens(text, offsets)[kept], minlength=1)
    return TokenCodes(
        codes.tobytes(), scales.astype("<f2").tobytes(), units.astype("<u2").tobytes()
    )


def unpack(codes: bytes, scales: bytes, units: bytes, kept: int) -> UnpackedTokens:
    """Return tokens that were compressed to `kept` dimensions, of one text or several
    concatenated.
    """
    return UnpackedTokens(
        np.frombuffer(codes, np.uint8).reshape(-1, code_bytes(kept)),
        np.frombuffer(scales, "<f2").astype(np.float32),
        np.frombuffer(units, "<u2").astype(np.int64),
    )


def projected_dimensions(dimension: int) -> int:
    """Return the number of dimensions in which the tokens of a model with `dimension` are kept."""
    return min(dimension, PROJECTED_DIMENSIONS)


def code_bytes(kept: int) -> int:
    """Return how many bytes the codes of a token of so many dimensions take."""
    return -(-kept // _DIMENSIONS_PER_GROUP) * _BITS


def encode_levels(vectors: Floats) -> tuple[Packed, Floats]:
    """Return (n, width) codes and (n,) float16 scales, as float32, of (n, kept) vectors."""
    count, kept = vectors.shape
    rms = np.sqrt(np.square(vectors.astype(np.float64)).mean(axis=1))
    scales = (rms / RMS).astype(np.float16).astype(np.float32)
    safe = np.where(scales > 0, scales, 1)[:, None]
    scaled = vectors / safe
    codes = np.zeros((count, -(-kept // _DIMENSIONS_PER_GROUP) * _DIMENSIONS_PER_GROUP), np.uint32)
    for middle in _MIDDLES:
        codes[:, :kept] += scaled >= middle
    shifted = codes.reshape(-1, _DIMENSIONS_PER_GROUP) << np.arange(
        0, _BITS * _DIMENSIONS_PER_GROUP, _BITS, dtype=np.uint32
    )
    together = np.bitwise_or.reduce(shifted, axis=1).astype("<u4")
    # Of four bytes the last is 0.
    packed = together.view(np.uint8).reshape(-1, 4)[:, :_BITS]
    return packed.reshape(count, code_bytes(kept)), scales


def decode_levels(codes: Packed, kept: int) -> Bytes:
    """Return the (n, kept) levels of (n, width) codes, whole numbers up to 45."""
    # Each kind of byte by itself, and places of the type that needs no conversion: three times as
    # fast.
    first, middle, last = np.ascontiguousarray(codes.reshape(-1, _BITS).T)
    halves = np.empty((len(first), 2), np.intp)
    halves[:, 0] = first | (middle & 0xF).astype(np.uint16) << 8
    halves[:, 1] = middle >> 4 | last.astype(np.uint16) << 4
    levels: Bytes = _LEVELS_PER_HALF[halves].view(np.int8)
    whole = levels.reshape(len(codes), code_bytes(kept) // _BITS * _DIMENSIONS_PER_GROUP)
    return np.ascontiguousarray(whole[:, :kept])


def content_token_mask(text: str, offsets: npt.NDArray[np.int32]) -> Mask:
    """Return which tokens are meaningful: those in words that are not stop words.

    Of a contraction both the parts and the whole are checked: "it's", "Ada's".
    """
    says = np.zeros(len(text) + 1, bool)
    for word in _WORD.finditer(text):
        if word[0].lower().replace("’", "'") in STOP_WORDS:
            continue
        for part in _PART.finditer(text, *word.span()):
            if part[0].lower() not in STOP_WORDS:
                says[part.start() : part.end()] = True
    starts, ends = offsets[:, 0], offsets[:, 1]
    return says[np.minimum(starts, len(text))] & (ends > starts)


def project(vectors: Floats) -> Floats:
    """Return (t, dimension) vectors in fewer dimensions, at about the same angles."""
    dimension = vectors.shape[1]
    if dimension <= PROJECTED_DIMENSIONS:
        return vectors
    return vectors @ _projection(dimension)


def quantise_int8(vectors: Floats) -> tuple[Bytes, Floats]:
    """Return int8 codes and float16 scales, as float32: vectors ~ codes * scales, row by row."""
    most = np.abs(vectors).max(axis=1, initial=0.0)
    scales = (most / 127).astype(np.float16).astype(np.float32)
    safe = np.where(scales > 0, scales, 1)[:, None]
    return np.clip(np.rint(vectors / safe), -127, 127).astype(np.int8), scales


@cache
def _projection(dimension: int) -> Floats:
    """Return the random projection (dimension, PROJECTED_DIMENSIONS), with orthogonal columns.

    The signs are bits of BLAKE2b, and QR makes the columns orthogonal. They are scaled so that a
    vector's expected length is kept. Double precision gives the same floats on every processor.
    """
    drawn = b"".join(
        hashlib.blake2b(f"token {row}".encode(), digest_size=PROJECTED_DIMENSIONS // 8).digest()
        for row in range(dimension)
    )
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8)).reshape(dimension, PROJECTED_DIMENSIONS)
    directions, triangle = np.linalg.qr(2.0 * bits - 1.0)
    directions *= np.sign(np.diag(triangle)) * np.sqrt(dimension / PROJECTED_DIMENSIONS)
    projection: Floats = directions.astype(np.float32)
    return projection


def _unit_of_tokens(text: str, offsets: npt.NDArray[np.int32]) -> Ints:
    """Return the number of the part of the text to which each token belongs: 0, 1, ..."""
    unit = np.zeros(len(offsets), np.int64)
    if len(offsets) <= MAX_UNIT_TOKENS:
        return unit
    first = 0
    for end in _SENTENCE_END.finditer(text):
        after = int(np.searchsorted(offsets[:, 0], end.end()))
        if after - first >= UNIT_TOKENS and after < len(offsets):
            unit[after:] += 1
            first = after
    return unit
