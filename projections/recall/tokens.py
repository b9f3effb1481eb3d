"""Token vectors of turns: read from disk for the turns in question, and kept while there is room.

`late` reckons with whole numbers, so an answer does not depend on what was kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from projections.embeddings import EmbeddingsModel
from projections.embeddings.tokens import FORM, kept_dimensions, quantised, unpacked
from projections.recall.columns import Array, Column
from projections.recall.turns import Turns
from projections.sqlite import rows

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# A turn takes 2 KB, so most zones of 100,000 turns are whole in memory after a while.
MOST_KEPT_BYTES = 256_000_000
# So many turns give a zone's mean token vector to within what their number changes.
_SAMPLED = 1_000
_BLOCK = 50_000

_json = msgspec.json.Encoder()


class TokensOf(NamedTuple):
    """Tokens of turns: those of unit u are the next `tokens_of_unit[u]` rows of the codes.

    `squares`: each row's product with itself. `turn_of_unit`: which of the turns that were
    asked for; each has at least one unit, empty where nothing is known of it, as `known` (one
    per turn) says.
    """

    codes: Bytes
    scales: Floats
    squares: Floats
    tokens_of_unit: Ints
    turn_of_unit: Ints
    known: Mask


class Centre(NamedTuple):
    """The mean token vector of a zone: `codes` (kept,) times `scale`."""

    codes: Floats
    scale: float


class _Blobs(NamedTuple):
    """What is recorded of a turn, as it was compressed."""

    codes: bytes
    scales: bytes
    units: bytes


_UNKNOWN = _Blobs(b"", b"", bytes(2))


class Tokens:
    """The token vectors of a zone's turns under the indexed model, by the turns' places."""

    def __init__(
        self, model: EmbeddingsModel, turns: Turns, columns: Mapping[str, Array] | None = None
    ) -> None:
        self._model = model
        self._turns = turns
        self._dimensions = kept_dimensions(model.dimension)
        held = columns or {}
        # Where each turn's are on disk; 0 where there are none.
        self._rowid = Column(held.get("rowid", np.zeros(0, np.int64)))
        self._seen = int(held["seen"][0]) if held else 0
        self._kept: OrderedDict[int, _Blobs] = OrderedDict()
        self._size = 0
        self._centre: tuple[tuple[int, int, int], Centre] | None = None

    def follow(self) -> None:
        """Add what came since; the turns are known already."""
        self._rowid.extend(np.zeros(len(self._turns) - len(self._rowid.values), np.int64))
        while found := rows(
            self._model.connection,
            "SELECT rowid, target_id, target_type = 'event' AND model = ? AND form = ? "
            "FROM token_vectors WHERE rowid > ? ORDER BY rowid LIMIT ?",
            (self._model.model, FORM, self._seen, _BLOCK),
        ):
            self._seen = found[-1][0]
            wanted = [row for row in found if row[2]]
            places = self._turns.place_of_id.of([row[1] for row in wanted])
            rowids = np.array([row[0] for row in wanted], np.int64)
            self._rowid.values[places[places >= 0]] = rowids[places >= 0]

    def columns(self) -> dict[str, Array]:
        """Return everything that these are, to be given to another."""
        return {"rowid": self._rowid.values, "seen": np.array([self._seen])}

    def of(self, places: Ints) -> TokensOf:
        """Return the tokens of turns, in the order of `places`."""
        known = self._rowid.values[places] > 0
        self._bring(places[known].tolist())
        held = [self._kept.get(place, _UNKNOWN) for place in places.tolist()]
        self._forget_oldest()
        found = unpacked(
            b"".join(item.codes for item in held),
            b"".join(item.scales for item in held),
            b"".join(item.units for item in held),
            self._dimensions,
        )
        wide = found.codes.astype(np.float32)
        units = np.array([len(item.units) // 2 for item in held], np.int64)
        return TokensOf(
            found.codes,
            found.scales,
            np.einsum("ij,ij->i", wide, wide),
            found.units,
            np.repeat(np.arange(len(places)), units),
            known,
        )

    @property
    def centre(self) -> Centre:
        """The mean over the tokens of every so manieth turn; the same for the same turns.

        The step is a power of two, so that a sample stays as it is while a zone grows.
        """
        step = 1 << max(0, (len(self._turns) // _SAMPLED).bit_length() - 1)
        places = np.arange(0, len(self._turns), step)
        key = (step, len(places), int(np.count_nonzero(self._rowid.values[places])))
        if self._centre is None or self._centre[0] != key:
            self._centre = (key, self._mean(places))
        return self._centre[1]

    def _mean(self, places: Ints) -> Centre:
        sample = self.of(places)
        total = (sample.codes * sample.scales[:, None].astype(np.float64)).sum(axis=0)
        mean = (total / max(len(sample.codes), 1)).astype(np.float32)
        codes, scales = quantised(mean[None])
        return Centre(codes[0].astype(np.float32), float(scales[0]))

    def _bring(self, places: list[int]) -> None:
        """Have the blobs of these turns in memory."""
        place_of = {}
        for place in places:
            if place in self._kept:
                self._kept.move_to_end(place)
            else:
                place_of[int(self._rowid.values[place])] = place
        for rowid, *blobs in self._model.connection.execute(
            "SELECT rowid, codes, scales, units FROM token_vectors "
            "WHERE rowid IN (SELECT value FROM json_each(?))",
            (_json.encode(list(place_of)).decode(),),
        ):
            self._kept[place_of[int(rowid)]] = _Blobs(*blobs)
            self._size += len(blobs[0])

    def _forget_oldest(self) -> None:
        while self._size > MOST_KEPT_BYTES:
            self._size -= len(self._kept.popitem(last=False)[1].codes)
