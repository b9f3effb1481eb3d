"""Encode a question: one vector of the text, and one per token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recollect.projections.embeddings import EmbeddingsModel
from recollect.projections.recall.question.entity_names import NamedEntity

Floats = npt.NDArray[np.float32]


class EncodedText(Protocol):
    """An encoder's output for a text."""

    @property
    def pooled(self) -> Floats:
        """The unit vector of the text, (dimension,)."""
        ...

    @property
    def vectors(self) -> Floats:
        """The unit vectors of its tokens, (t, dimension)."""
        ...

    @property
    def offsets(self) -> npt.NDArray[np.int32]:
        """The character span of each token, (t, 2)."""
        ...


class TextEncoder(Protocol):
    """An encoder of questions."""

    @property
    def model(self) -> str | None:
        """The name of the model; None if there is no encoder."""
        ...

    def encode_query_tokens(self, text: str) -> EncodedText:
        """Return the vectors of a question and of its tokens."""
        ...


class QueryTokens(NamedTuple):
    """The tokens of a question: (t, dimension) vectors, and (t, 2) character spans in `text`."""

    text: str
    offsets: npt.NDArray[np.int32]
    vectors: Floats


class QuestionVectors(NamedTuple):
    """The unit vector of a question, and the vectors of its tokens; None if there are none."""

    pooled: Floats | None = None
    tokens: QueryTokens | None = None


class EncodingRequired(Exception):
    """A text must be encoded before a question can be answered."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class EncodingCache:
    """A TextEncoder that knows only cached texts, and raises EncodingRequired for any other.

    A thread that holds a lock can then release it, call `encode`, and retry. So no thread encodes
    while it holds a lock.
    """

    def __init__(self, encoder: TextEncoder) -> None:
        self.model = encoder.model
        self._encoder = encoder
        self._encoded: dict[str, EncodedText] = {}

    def encode(self, text: str) -> None:
        """Encode a text and cache the result."""
        self._encoded[text] = self._encoder.encode_query_tokens(text)

    def encode_query_tokens(self, text: str) -> EncodedText:
        """Return the vectors of a cached text.

        Raises:
            EncodingRequired: the text was not encoded yet.
        """
        if text not in self._encoded:
            raise EncodingRequired(text)
        return self._encoded[text]


_vectors: WeakKeyDictionary[TextEncoder, dict[tuple[str, ...], list[Floats]]] = WeakKeyDictionary()


def query_vectors(encoder: TextEncoder, texts: tuple[str, ...]) -> list[Floats]:
    """Return the unit vectors of constant texts, cached for each encoder."""
    cached = _vectors.setdefault(encoder, {})
    if texts not in cached:
        cached[texts] = [encoder.encode_query_tokens(text).pooled for text in texts]
    return cached[texts]


def question_vectors(
    text: str,
    named: Sequence[NamedEntity],
    encoder: TextEncoder | None,
    embeddings: EmbeddingsModel,
) -> QuestionVectors:
    """Return the vectors of a question that names the entities `named`.

    There are none without an encoder, for an empty text, or if the zone's vectors are from another
    model, since vectors of different models cannot be compared.
    """
    if encoder is None or not is_encoded(encoder, embeddings) or not text.strip():
        return QuestionVectors()
    embedded = text_to_embed(text, named)
    encoded = encoder.encode_query_tokens(embedded)
    pooled, vectors, dimension = encoded.pooled, encoded.vectors, embeddings.dimension
    # A vector of zeros has no direction.
    is_valid = len(pooled) == dimension and np.isfinite(pooled).all() and pooled.any()
    are_valid = vectors.shape[1] == dimension and np.isfinite(vectors).all()
    return QuestionVectors(
        pooled if is_valid else None,
        QueryTokens(embedded, encoded.offsets, vectors) if are_valid else None,
    )


def is_encoded(encoder: TextEncoder, embeddings: EmbeddingsModel) -> bool:
    """Return whether a zone is encoded by this encoder, so that their vectors are comparable."""
    return encoder.model is not None and encoder.model == embeddings.model


def text_to_embed(text: str, named: Sequence[NamedEntity]) -> str:
    """Return a question without the names of participants.

    A name in the question would match every turn that contains the name, whatever its topic. The
    entity arm finds speakers instead.
    """
    for item in reversed(named):
        if item.senders:
            text = text[: item.start] + text[item.end :].removeprefix("'s").removeprefix("’s")
    return " ".join(text.split()) or "?"
