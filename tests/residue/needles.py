"""What is looked for, as bytes, and a search for many of them at once."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Every needle is found by its first bytes, so none is shorter.
MIN_TRACE_BYTES = 8
# How a word may be written.
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
_CHUNK = 1 << 24
_MAX_TRACE_BYTES = 64


class Trace(NamedTuple):
    """Something that would tell of what was forgotten: what it is, and its bytes.

    `text`: it is found in upper case as well.
    """

    kind: str
    raw: bytes
    text: bool = False


class Place(NamedTuple):
    """Where a trace stands."""

    trace: Trace
    file: Path
    offset: int


def of_word(kind: str, word: str) -> Iterator[Trace]:
    """Yield a word as text in any encoding, and as what an index may hold of it.

    Indexes leave out what a word has in common with the one before, which is less than its first
    three letters; recall's holds a digest of it.
    """
    for encoding in _ENCODINGS:
        yield Trace(kind if encoding == "utf-8" else f"{kind}, {encoding}",
                    word[3:].lower().encode(encoding)[:_MAX_TRACE_BYTES], text=True)  # fmt: skip
    yield Trace(f"{kind}, digest", hashlib.blake2b(word.lower().encode(), digest_size=8).digest())
    if not word.isascii():
        escaped = word[3:].encode("unicode_escape")
        yield Trace(f"{kind}, escaped", escaped[:_MAX_TRACE_BYTES], text=True)


def of_key(key: bytes) -> Iterator[Trace]:
    """Yield a key as it is, and as it could be written."""
    yield Trace("key", key)
    yield Trace("key, hexadecimal", key.hex().encode()[:_MAX_TRACE_BYTES], text=True)
    # However it falls among the bytes before it.
    for ahead in range(3):
        coded = base64.b64encode(bytes(ahead) + key)[4 if ahead else 0 : -4]
        yield Trace("key, base64", coded[:_MAX_TRACE_BYTES])


def of_vector(vector: npt.NDArray[np.int8]) -> Iterator[Trace]:
    """Yield a vector as a byte a dimension, a bit a dimension, and as numbers of length 1."""
    unit = vector / np.linalg.norm(vector.astype(np.float64))
    yield Trace("vector, float32", unit.astype("<f4").tobytes()[:_MAX_TRACE_BYTES])
    yield Trace("vector, float16", unit.astype("<f2").tobytes()[:_MAX_TRACE_BYTES])
    yield Trace("vector, int8", vector.tobytes()[:_MAX_TRACE_BYTES])
    signs = np.packbits(vector > 0, bitorder="little").tobytes()
    for start in range(0, len(signs) - MIN_TRACE_BYTES + 1, MIN_TRACE_BYTES):
        yield Trace("vector, bits", signs[start : start + MIN_TRACE_BYTES])


class Search:
    """Finds any of many traces in files, in one pass over their bytes."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        traces = list(traces)
        self._plain = _Heads(trace for trace in traces if not trace.text)
        self._text = _Heads(trace for trace in traces if trace.text)

    def files(self, *directories: Path) -> Iterator[Place]:
        """Yield what stands in any file below directories."""
        for directory in directories:
            for path in sorted(directory.rglob("*")):
                if path.is_file():
                    yield from self.bytes(path.read_bytes(), path)

    def bytes(self, raw: bytes, path: Path) -> Iterator[Place]:
        """Yield what stands in bytes, which come from `path`."""
        for heads, content in ((self._plain, raw), (self._text, raw.lower())):
            yield from (Place(trace, path, offset) for trace, offset in heads.found(content))


class _Heads:
    """Traces by their first bytes, as numbers."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._traces: dict[int, list[Trace]] = defaultdict(list)
        for trace in traces:
            raw = _raw(trace)
            assert len(raw) >= MIN_TRACE_BYTES, trace
            self._traces[int.from_bytes(raw[:MIN_TRACE_BYTES], "little")].append(trace)
        self._numbers = np.array(sorted(self._traces), np.uint64)
        self._maybe = np.zeros(1 << 20, bool)
        self._maybe[_mixed(self._numbers)] = True

    def found(self, raw: bytes) -> Iterator[tuple[Trace, int]]:
        for start in range(0, len(raw), _CHUNK):
            # Each chunk sees the first bytes of the next one.
            chunk = raw[start : start + _CHUNK + MIN_TRACE_BYTES - 1]
            for shift in range(min(MIN_TRACE_BYTES, len(chunk))):
                numbers = np.frombuffer(
                    chunk, "<u8", (len(chunk) - shift) // MIN_TRACE_BYTES, shift
                )
                rows = np.flatnonzero(self._maybe[_mixed(numbers)])
                rows = rows[np.isin(numbers[rows], self._numbers)]
                for row in rows.tolist():
                    offset = start + shift + MIN_TRACE_BYTES * row
                    for trace in self._traces[int(numbers[row])]:
                        if raw.startswith(_raw(trace), offset):
                            yield trace, offset


def _raw(trace: Trace) -> bytes:
    """Return the bytes of a trace as they are looked for."""
    return trace.raw.lower() if trace.text else trace.raw


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return 20 bits of each number."""
    mixed: npt.NDArray[np.uint64] = (numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(44)
    return mixed
