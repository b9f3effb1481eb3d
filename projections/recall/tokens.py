"""Token vectors of turns: in memory where they fit, else read from disk for the turns in question.

Both ways give the same codes, and `late` reckons with whole numbers, so an answer is the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.embeddings import EmbeddingsModel
from projections.embeddings.tokens import FORM, Unpacked, kept_dimensions, quantised, unpacked
from projections.recall.turns import Turns
from projections.sqlite import rows, value

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# A turn takes 2 KB, so most zones of this many turns stay below the bytes that may be in memory.
MOST_RESIDENT = 150_000
MOST_RESIDENT_BYTES = 256_000_000
# So many turns give a zone's mean token vector to within what their number changes.
_SAMPLED = 1_000

_OF_TURNS = "FROM token_vectors WHERE target_type = 'event' AND model = ? AND form = ?"


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


class _Resident(NamedTuple):
    """Every turn's tokens, with the rows and the units of each place; -1 and 0 where unknown."""

    tokens: Unpacked
    squares: Floats
    first_token: Ints
    token_count: Ints
    first_unit: Ints
    unit_count: Ints


class Tokens:
    """The token vectors of a zone's turns under the indexed model, by the turns' places."""

    def __init__(self, model: EmbeddingsModel, turns: Turns) -> None:
        self._model = model
        self._turns = turns
        self._kept = kept_dimensions(model.dimension)
        self._resident: _Resident | None = None
        self._too_many = False

    @property
    def resident(self) -> bool:
        """Whether the tokens are in memory."""
        return self._resident is not None

    def load(self) -> None:
        """Bring the tokens into memory, where they fit."""
        if self._resident is not None or self._too_many:
            return
        target = (self._model.model, FORM)
        connection = self._model.connection
        self._too_many = value(connection, f"SELECT count(*) {_OF_TURNS}", target) > MOST_RESIDENT
        if self._too_many:
            return
        place_of = self._turns.place_of_id
        places: list[int] = []
        parts: list[tuple[bytes, bytes, bytes]] = []
        size = 0
        for id_, *part in connection.execute(
            f"SELECT target_id, codes, scales, units {_OF_TURNS}", target
        ):
            place = place_of.get(id_, -1)
            if place >= 0:
                places.append(place)
                parts.append((part[0], part[1], part[2]))
                size += len(part[0])
            if size > MOST_RESIDENT_BYTES:
                self._too_many = True
                return
        self._resident = self._laid_out(np.array(places, np.int64), parts)

    def of(self, places: Ints) -> TokensOf:
        """Return the tokens of turns, in the order of `places`."""
        held = self._resident or self._laid_out(*self._read(places))
        counts = np.maximum(held.unit_count[places], 1)
        known = held.unit_count[places] > 0
        units = np.zeros(int(counts.sum()), np.int64)
        turn_of_unit = np.repeat(np.arange(len(places)), counts)
        units[known[turn_of_unit]] = held.tokens.units[
            _ranges(held.first_unit[places][known], counts[known])
        ]
        wanted = _ranges(held.first_token[places][known], held.token_count[places][known])
        return TokensOf(
            held.tokens.codes.take(wanted, axis=0),
            held.tokens.scales[wanted],
            held.squares[wanted],
            units,
            turn_of_unit,
            known,
        )

    @cached_property
    def centre(self) -> Centre:
        """The mean over the tokens of every so manieth turn; the same for the same turns."""
        stride = -(-max(len(self._turns), 1) // _SAMPLED)
        sample = self.of(np.arange(0, len(self._turns), stride))
        total = (sample.codes * sample.scales[:, None].astype(np.float64)).sum(axis=0)
        mean = (total / max(len(sample.codes), 1)).astype(np.float32)
        codes, scales = quantised(mean[None])
        return Centre(codes[0].astype(np.float32), float(scales[0]))

    def _read(self, places: Ints) -> tuple[Ints, list[tuple[bytes, bytes, bytes]]]:
        """Return what is on disk of turns: their places, and their blobs."""
        ids = [self._turns.ids[place] for place in places]
        found = rows(
            self._model.connection,
            f"SELECT target_id, codes, scales, units {_OF_TURNS} "
            f"AND target_id IN ({', '.join('?' * len(ids))})",
            (self._model.model, FORM, *ids),
        )
        place_of = self._turns.place_of_id
        return (
            np.array([place_of[row[0]] for row in found], np.int64),
            [(row[1], row[2], row[3]) for row in found],
        )

    def _laid_out(self, places: Ints, parts: list[tuple[bytes, bytes, bytes]]) -> _Resident:
        def by_place(values: Ints) -> Ints:
            laid = np.zeros(len(self._turns), np.int64)
            laid[places] = values
            return laid

        tokens = np.array([len(scales) // 2 for _, scales, _ in parts], np.int64)
        units = np.array([len(units) // 2 for _, _, units in parts], np.int64)
        held = unpacked(
            b"".join(codes for codes, _, _ in parts),
            b"".join(scales for _, scales, _ in parts),
            b"".join(units for _, _, units in parts),
            self._kept,
        )
        return _Resident(
            held,
            np.einsum("ij,ij->i", held.codes, held.codes, dtype=np.float32),
            by_place(np.cumsum(tokens) - tokens),
            by_place(tokens),
            by_place(np.cumsum(units) - units),
            by_place(units),
        )


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Return start, start + 1, ... for `counts` numbers, one range after the other."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
