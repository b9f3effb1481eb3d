"""Decoding of sealed content in the current formats, without the product's code."""

from __future__ import annotations

import zlib

import msgspec

from recollect.schemas.ledger.compression import DEFLATE_DICTIONARY


def payload_of(text: bytes) -> bytes:
    """Return the payload of an event of format 2, as MessagePack."""
    return zlib.decompressobj(-15, DEFLATE_DICTIONARY).decompress(text)


def text_of(payload: bytes) -> bytes:
    """Return the bytes that an event of format 2 seals for a payload."""
    packer = zlib.compressobj(wbits=-15, zdict=DEFLATE_DICTIONARY)
    return packer.compress(payload) + packer.flush()


def sections_of(text: bytes) -> bytes:
    """Return the sections of a part of format 4, as MessagePack, without vectors and tokens."""
    sections, *_ = msgspec.msgpack.decode(text)
    return payload_of(sections)


def part_of(sections: bytes) -> bytes:
    """Return a part of format 4 with these sections, which has no vectors and no tokens."""
    return msgspec.msgpack.encode([text_of(sections), b"", []])
