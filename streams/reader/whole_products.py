"""Products of 8-bit integer matrices: exact, and computed on the caller's thread.

NumPy has no fast integer product, and its linear algebra uses as many threads as there are cores,
while the encoder already runs one worker per core.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from recollect.schemas.errors import IntegrityError
from recollect.streams.encoder.onnx_encoder import session_options
from recollect.streams.reader.words.word_states import WholeNumbers

# A graph of one operator, MatMulInteger. Its left operand is 0 to 255; this one is zero there.
_GRAPH, _ZERO = Path(__file__).with_name("products.onnx"), 128
# Some processors add the products of two neighbours in 16 bits, which cannot overflow if the two
# weights add up to no more than this: 128 * 255 < 2**15.
_MOST_OF_TWO = 128
# The sum of this many products fits 32 bits.
_MOST_TERMS = (2**31 - 1) // 255**2


class WholeProducts:
    """An integer matrix, to be multiplied by others."""

    def __init__(self, weights: WholeNumbers) -> None:
        """`weights`: (inputs, outputs). Raise IntegrityError if the sums could overflow."""
        inputs, outputs = weights.shape
        if inputs > _MOST_TERMS:
            raise IntegrityError(
                f"a classifier has {inputs} inputs, more than {_MOST_TERMS}; install another "
                "reader file"
            )
        even = inputs + inputs % 2
        pairs = np.zeros((even, outputs), np.int16)
        pairs[:inputs] = weights
        (heavy,) = np.nonzero((np.abs(pairs[::2] + pairs[1::2]) > _MOST_OF_TWO).any(axis=1))
        # If the weights of a pair exceed it together, the second is paired with a zero at the end.
        self._moved = 2 * heavy + 1
        self._weights = np.zeros((even + 2 * len(heavy), outputs), np.int8)
        self._weights[:inputs] = weights
        self._weights[even::2] = weights[self._moved]
        self._weights[self._moved] = 0
        self._even = even
        self._session = _session()

    def of(self, parts: Sequence[WholeNumbers]) -> npt.NDArray[np.int32]:
        """Return parts @ weights, (n, outputs); `parts`: (n, k) arrays, joined on axis 1."""
        # What is multiplied by zero may be any number.
        rows = np.empty((len(parts[0]), len(self._weights)), np.uint8)
        at = 0
        for part in parts:
            width = part.shape[1]
            np.bitwise_xor(part.view(np.uint8), _ZERO, out=rows[:, at : at + width])
            at += width
        rows[:, self._even :: 2] = rows[:, self._moved]
        product: npt.NDArray[np.int32]
        (product,) = self._session.run(None, {"rows": rows, "weights": self._weights})
        return product


@cache
def _session() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        str(_GRAPH), session_options(), providers=["CPUExecutionProvider"]
    )
