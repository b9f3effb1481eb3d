"""Conversion of vectors written by builds up to 0.1, in files and in change records.

Those builds wrote a vector as little-endian float32, and tokens with one byte per dimension. The
conversions in files and in change records give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import msgspec
import numpy as np

from recollect.projections.embeddings import canonical_vectors, token_vectors
from recollect.schemas.changes import Embedding, Section, TokenVectorsRow

_FLOAT_BYTES = 4
_INT8_FORMAT = "random128/int8"


def to_current_format(section: Section) -> Section:
    """Return a change record's section for embeddings.db with vectors in the current format."""
    return msgspec.structs.replace(section, puts=tuple(map(_row, section.puts)))


def add_functions(connection: apsw.Connection) -> None:
    """Add the SQL functions for migrating a file; values in the current format stay unchanged."""
    functions: dict[str, Callable[..., Any]] = {
        "vector_of_today": _vector,
        "codes_of_today": lambda *old: _tokens(*old)[0],
        "scales_of_today": lambda *old: _tokens(*old)[1],
        "form_of_today": lambda *old: _tokens(*old)[2],
    }
    for name, function in functions.items():
        connection.create_scalar_function(name, function)


def _row(row: Any) -> Any:
    if isinstance(row, Embedding):
        vector = _vector(row.embedding, row.dimension)
        return msgspec.structs.replace(row, embedding=vector)
    if isinstance(row, TokenVectorsRow):
        codes, scales, form = _tokens(row.codes, row.scales, row.form)
        return msgspec.structs.replace(row, codes=codes, scales=scales, form=form)
    return row


def _vector(vector: bytes, dimension: int) -> bytes:
    if len(vector) != _FLOAT_BYTES * dimension:
        return vector
    # Not quantised to sixteen levels, since files that were migrated earlier have these bytes.
    codes, _ = canonical_vectors.to_int8(np.frombuffer(vector, "<f4")[None])
    return codes.tobytes()


def _tokens(codes: bytes, scales: bytes, form: str) -> tuple[bytes, bytes, str]:
    if form != _INT8_FORMAT:
        return codes, scales, form
    factors = np.frombuffer(scales, "<f2").astype(np.float32)
    if not len(factors):
        return codes, scales, token_vectors.FORMAT
    vectors = np.frombuffer(codes, np.int8).reshape(len(factors), -1) * factors[:, None]
    packed, smaller = token_vectors.encode_levels(vectors)
    return packed.tobytes(), smaller.astype("<f2").tobytes(), token_vectors.FORMAT
