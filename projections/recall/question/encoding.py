"""A question as vectors: of the whole, and of each of its words."""

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
    """What an encoder gives of a text."""

    @property
    def pooled(self) -> Floats:
        """Its unit vector, (dimension,)."""
        ...

    @property
    def vectors(self) -> Floats:
        """The unit vectors of its tokens, (t, dimension)."""
        ...

    @property
    def offsets(self) -> npt.NDArray[np.int32]:
        """The first and last character of each token, (t, 2)."""
        ...


class TextEncoder(Protocol):
    """What encodes questions."""

    @property
    def model(self) -> str | None:
        """Its name; None: there is no encoder."""
        ...

    def encode_query_tokens(self, text: str) -> EncodedText:
        """Return the vectors of a question and of its tokens."""
        ...


class QueryTokens(NamedTuple):
    """The tokens of a question: (t, dimension) vectors, and (t, 2) characters of `text`."""

    text: str
    offsets: npt.NDArray[np.int32]
    vectors: Floats


class QuestionVectors(NamedTuple):
    """The unit vector of a question, and those of its tokens; None where there are none."""

    whole: Floats | None = None
    tokens: QueryTokens | None = None


class NotEncoded(Exception):
    """A text has to be encoded before a question can be answered."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class EncodedTexts:
    """A TextEncoder that knows what was encoded before, and raises NotEncoded for other texts.

    So that nobody encodes inside a lock: whoever holds one leaves it, calls `encode`, and begins
    again.
    """

    def __init__(self, encoder: TextEncoder) -> None:
        self.model = encoder.model
        self._encoder = encoder
        self._encoded: dict[str, EncodedText] = {}

    def encode(self, text: str) -> None:
        """Have the encoder encode a text."""
        self._encoded[text] = self._encoder.encode_query_tokens(text)

    def encode_query_tokens(self, text: str) -> EncodedText:
        """Return the vectors of a text that was encoded; NotEncoded where it was not."""
        if text not in self._encoded:
            raise NotEncoded(text)
        return self._encoded[text]


_vectors: WeakKeyDictionary[TextEncoder, dict[tuple[str, ...], list[Floats]]] = WeakKeyDictionary()


def query_vectors(encoder: TextEncoder, texts: tuple[str, ...]) -> list[Floats]:
    """Return the unit vectors of texts that are always the same, which an encoder encodes once."""
    known = _vectors.setdefault(encoder, {})
    if texts not in known:
        known[texts] = [encoder.encode_query_tokens(text).pooled for text in texts]
    return known[texts]


def question_vectors(
    text: str,
    named: Sequence[NamedEntity],
    encoder: TextEncoder | None,
    embeddings: EmbeddingsModel,
) -> QuestionVectors:
    """Return the vectors of a question in which `named` are named.

    None without an encoder or a word, or where the zone has the vectors of another model: those of
    two models cannot be compared, and words find turns all the same.
    """
    if encoder is None or not is_encoded(encoder, embeddings) or not text.strip():
        return QuestionVectors()
    embedded = text_to_embed(text, named)
    encoded = encoder.encode_query_tokens(embedded)
    whole, vectors, dimension = encoded.pooled, encoded.vectors, embeddings.dimension
    # A vector of zeros has no direction.
    usable = len(whole) == dimension and np.isfinite(whole).all() and whole.any()
    readable = vectors.shape[1] == dimension and np.isfinite(vectors).all()
    return QuestionVectors(
        whole if usable else None,
        QueryTokens(embedded, encoded.offsets, vectors) if readable else None,
    )


def is_encoded(encoder: TextEncoder, embeddings: EmbeddingsModel) -> bool:
    """Return whether an encoder's vectors can be compared with a zone's."""
    return encoder.model is not None and encoder.model == embeddings.model


def text_to_embed(text: str, named: Sequence[NamedEntity]) -> str:
    """Return a question without the names of those who take part.

    A name draws every turn near in which it is called, whatever is said there; who spoke is
    the entity arm's to know.
    """
    for item in reversed(named):
        if item.senders:
            text = text[: item.start] + text[item.end :].removeprefix("'s").removeprefix("’s")
    return " ".join(text.split()) or "?"
