"""Raw deflate (RFC 1951), with a preset dictionary for small, repetitive payloads and rows.

The preset dictionary holds frequent English words and our own field, table and kind names. It was
written by hand, not taken from anyone's texts, so it contains nothing private. Never change it: a
new dictionary needs a new record format.
"""

from __future__ import annotations

import zlib
from pathlib import Path

#: Ordered so that the most frequent strings come last, where references to them are shortest.
DEFLATE_DICTIONARY = Path(__file__).with_suffix(".bin").read_bytes()

# Without zlib's header and checksum: sealing already provides integrity.
_RAW = -zlib.MAX_WBITS


def deflate(text: bytes) -> bytes:
    """Compress with the preset dictionary."""
    packer = zlib.compressobj(wbits=_RAW, zdict=DEFLATE_DICTIONARY)
    return packer.compress(text) + packer.flush()


def inflate(packed: bytes) -> bytes:
    """Decompress what `deflate` returned.

    Raises:
        zlib.error: the bytes are not complete output of `deflate`.
    """
    return _inflate_exactly(zlib.decompressobj(wbits=_RAW, zdict=DEFLATE_DICTIONARY), packed)


def huffman_encode(values: bytes) -> bytes:
    """Compress bytes with a skewed distribution and no repeats, such as vectors.

    Only Huffman coding: no dictionary, no matches.
    """
    packer = zlib.compressobj(wbits=_RAW, strategy=zlib.Z_HUFFMAN_ONLY)
    return packer.compress(values) + packer.flush()


def huffman_decode(packed: bytes) -> bytes:
    """Decompress what `huffman_encode` returned.

    Raises:
        zlib.error: the bytes are not complete output of `huffman_encode`.
    """
    return _inflate_exactly(zlib.decompressobj(wbits=_RAW), packed)


def _inflate_exactly(decompressor: zlib._Decompress, packed: bytes) -> bytes:
    text = decompressor.decompress(packed)
    if not decompressor.eof or decompressor.unused_data:
        raise zlib.error("the compressed data is truncated or has trailing bytes")
    return text
