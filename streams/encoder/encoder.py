"""The protocol of an encoder: texts in, unit vectors or token vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
import numpy.typing as npt


class TokenVectors(msgspec.Struct, frozen=True, eq=False):
    """The last layer of one text, one row per word piece, without the CLS and SEP rows.

    `ids`: (t,) int32, word-piece ids. `offsets`: (t, 2) int32, the characters `text[start:end]` of
    each piece in the original text. `vectors`: (t, dimension) float32, not normalised. `pooled`:
    (dimension,) float32, equal to `encode` of the same text, from the same forward pass.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int32]
    vectors: npt.NDArray[np.float32]
    pooled: npt.NDArray[np.float32]


class HiddenStates(NamedTuple):
    """One text's hidden states in all layers that heads use, from one forward pass.

    `inner`: layer -> (t, dimension) float32, one row per piece, for each of `catalog.INNER_LAYERS`.
    `tokens`: the last layer. `is_complete`: the text was not truncated.
    """

    inner: dict[int, npt.NDArray[np.float32]]
    tokens: TokenVectors
    is_complete: bool


class Encoder(Protocol):
    """A sentence encoder. The vector of a text depends on the text and the model alone."""

    @property
    def model(self) -> str:
        """The stable name to store with every vector."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return (n, dimension) unit vectors of passages, in the order of `texts`."""
        ...

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the (dimension,) unit vector of a query, with the model's query prefix."""
        ...

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text, as a passage (no query prefix)."""
        ...

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Return a query's token vectors without those of the query prefix.

        `pooled` equals `encode_query`.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return how many word pieces a text of any length has."""
        ...

    def close(self) -> None:
        """Stop the workers; the encoder cannot be used afterwards."""
        ...


class CrossEncoder(Protocol):
    """Scores a question and a text together. A score depends on both and the model alone."""

    @property
    def model(self) -> str:
        """The stable name of the model."""
        ...

    def score(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return for each text the probability, 0 to 1, that it answers the question."""
        ...
