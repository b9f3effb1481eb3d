"""The gateway to the encoder: the only way from agents to a model; its answers are recorded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from projections.embeddings import canonical_vectors
from projections.embeddings.token_vectors import TokenCodes, compressed
from schemas.ids import text_hash
from streams.encoder.encoder import Encoder, TokenVectors

# About 10 MB of vectors, so that a sentence that is repeated soon is encoded once.
_REMEMBERED = 8_192


class Answer(NamedTuple):
    """The encoder's answer for a text: its canonical vector, and its compressed token vectors.

    `tokens` None: they were not requested.
    """

    vector: bytes
    tokens: TokenCodes | None = None


#: Text hash -> answer, only for requested texts.
Answers = dict[str, Answer]
#: A look-up of answers by text hash.
Recorded = Callable[[str], Answer | None]


class EncoderGateway:
    """Answers for texts: recorded answers first, then the encoder, then remembered.

    `recorded` looks an answer up by its text's hash; `load` loads the encoder when the first text
    needs it, so that a replay never loads one.
    """

    def __init__(
        self,
        model: str | None,
        dimension: int,
        load: Callable[[], Encoder],
        recorded: Recorded | None = None,
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._load = load
        self._encoder: Encoder | None = None
        self._recorded = recorded
        self._remembered: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.RLock()
        self._loading = threading.Lock()
        #: How many texts the encoder has encoded.
        self.asked = 0

    def replaying(self, recorded: Recorded) -> EncoderGateway:
        """Return a gateway to the same encoder that looks up recorded answers first."""
        return EncoderGateway(self.model, self.dimension, self.encoder, recorded)

    def encoder(self) -> Encoder:
        """Return the encoder, loaded once; a question does not wait for a large batch."""
        if self._encoder is not None:
            return self._encoder
        with self._loading:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder

    def encode_query_tokens(self, text: str) -> TokenVectors:
        """Return a question as the encoder reads it; nothing of it is recorded."""
        return self.encoder().encode_query_tokens(text)

    def count_pieces(self, text: str) -> int:
        """Return how many word pieces of the encoder a text has."""
        return self.encoder().count_pieces(text)

    def answers(self, texts: Iterable[str], turns: Iterable[str] = ()) -> Answers:
        """Return the answer to every text, with token vectors to each of `turns`.

        Without a model there are none. Answers that were recorded before there were token vectors
        stay without them: a replay repeats what was recorded.
        """
        if self.model is None:
            return {}
        # One at a time: the encoder uses every core for one batch already.
        with self._lock:
            whole = {text_hash(text): text for text in turns}
            found: Answers = {}
            missing: dict[str, str] = {}
            for key, text in ({text_hash(text): text for text in texts} | whole).items():
                answer = self._known(key, whole=key in whole)
                if answer is None:
                    missing[key] = text
                else:
                    found[key] = answer
            if missing:
                found |= self._ask(missing, whole)
            return found

    def _known(self, key: str, *, whole: bool) -> Answer | None:
        answer = self._remembered.get(key)
        if answer is not None and (answer.tokens is not None or not whole):
            return answer
        return None if self._recorded is None else self._recorded(key)

    def _ask(self, missing: dict[str, str], whole: dict[str, str]) -> Answers:
        """Ask the encoder, once for each text, and remember what it says."""
        self.asked += len(missing)
        turns = {key: text for key, text in missing.items() if key in whole}
        rest = {key: text for key, text in missing.items() if key not in whole}
        said: Answers = {}
        if turns:
            # The same forward gives the vector of the text.
            of_turns = self.encoder().encode_tokens(list(turns.values()))
            for (key, text), tokens in zip(turns.items(), of_turns, strict=True):
                codes = compressed(text, tokens.offsets, tokens.vectors)
                (vector,) = canonical_vectors.coded(tokens.pooled[None])
                said[key] = Answer(vector, codes)
        if rest:
            vectors = canonical_vectors.coded(self.encoder().encode(list(rest.values())))
            said |= {key: Answer(row) for key, row in zip(rest, vectors, strict=True)}
        self._remembered |= said
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return said
