"""A question as the encoder read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class QueryTokens(NamedTuple):
    """A question as the encoder read it: (t, dimension) vectors, (t, 2) characters of `text`."""

    text: str
    offsets: npt.NDArray[np.int32]
    vectors: Floats
