"""Deflate (RFC 1951) for payloads and rows, which are small and say much alike.

A dictionary stands in front of each, as if it had been said already: frequent English words, and
the names of fields, tables and kinds as records have them. It was put together by hand, from
nobody's texts, so it gives nothing away, and there is nothing in it that could be forgotten. What
was deflated with it needs these very bytes: another dictionary needs other formats of records.
"""

from __future__ import annotations

import zlib
from pathlib import Path

#: What stands last in it is found in fewest bits.
DICTIONARY = Path(__file__).with_suffix(".bin").read_bytes()

# Without the head and the checksum of zlib's own format: what is sealed cannot have changed.
_RAW = -zlib.MAX_WBITS


def deflated(text: bytes) -> bytes:
    """Return a text in the room that it takes after the dictionary."""
    packer = zlib.compressobj(wbits=_RAW, zdict=DICTIONARY)
    return packer.compress(text) + packer.flush()


def inflated(packed: bytes) -> bytes:
    """Return the text.

    Raises:
        zlib.error: `deflated` did not make this.
    """
    return _whole(zlib.decompressobj(wbits=_RAW, zdict=DICTIONARY), packed)


def coded(values: bytes) -> bytes:
    """Return bytes of which some are frequent and none follows from others, such as a vector's.

    They are coded one by one (Huffman), in tables of their own.
    """
    packer = zlib.compressobj(wbits=_RAW, strategy=zlib.Z_HUFFMAN_ONLY)
    return packer.compress(values) + packer.flush()


def decoded(packed: bytes) -> bytes:
    """Return the bytes that were coded.

    Raises:
        zlib.error: `coded` did not make this.
    """
    return _whole(zlib.decompressobj(wbits=_RAW), packed)


def _whole(opener: zlib._Decompress, packed: bytes) -> bytes:
    text = opener.decompress(packed)
    if not opener.eof or opener.unused_data:
        raise zlib.error("it ends too early or too late")
    return text
