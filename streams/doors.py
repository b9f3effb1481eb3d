"""The doors: an agent's only ways to what is not in the ledger; their answers are recorded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from schemas.ids import text_hash
from streams.encoder import Encoder

# About 12 MB of vectors: enough that a sentence said twice in a while is encoded once.
_REMEMBERED = 8_192

Recorded = Callable[[str], bytes | None]


class VectorDoor:
    """The door to the encoder: recorded vectors first, then the encoder, then remembered.

    `recorded` looks a vector up by its text's hash; `load` brings the encoder when the first
    text needs it, so that a replay never loads one.
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
        self._remembered: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.RLock()
        #: How many texts the encoder was asked for.
        self.asked = 0

    def replaying(self, recorded: Recorded) -> VectorDoor:
        """Return a door to the same encoder that looks up recorded vectors first."""
        return VectorDoor(self.model, self.dimension, self.encoder, recorded)

    def encoder(self) -> Encoder:
        """Return the encoder, loaded once."""
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder

    def vectors(self, texts: Iterable[str]) -> dict[str, bytes]:
        """Return text hash -> little-endian float32 for every text; nothing without a model."""
        if self.model is None:
            return {}
        # One at a time: the encoder uses every core for one batch already.
        with self._lock:
            return self._vectors(texts)

    def _vectors(self, texts: Iterable[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        missing: dict[str, str] = {}
        for text in texts:
            key = text_hash(text)
            if key in found or key in missing:
                continue
            vector = self._remembered.get(key)
            if vector is None and self._recorded is not None:
                vector = self._recorded(key)
            if vector is None:
                missing[key] = text
            else:
                found[key] = vector
        if missing:
            self.asked += len(missing)
            encoded = self.encoder().encode(list(missing.values()))
            for key, row in zip(missing, encoded, strict=True):
                found[key] = self._remembered[key] = row.astype("<f4").tobytes()
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return found
