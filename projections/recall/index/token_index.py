"""The token vectors of turns: their codes, concatenated in the order in which they were added.

Late interaction uses integer arithmetic, so scores do not depend on the order of storage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import numpy as np
import numpy.typing as npt

from recollect.projections.embeddings import EmbeddingsModel
from recollect.projections.embeddings.token_vectors import (
    FORMAT,
    code_bytes,
    decode_levels,
    projected_dimensions,
    quantise_int8,
    unpack,
)
from recollect.projections.recall.index.arrays.growable_arrays import (
    Array,
    GrowableArray,
    GrowableRows,
    concat_ranges,
)
from recollect.projections.recall.index.turn_index import Turns
from recollect.projections.row_changes import has_reused_row
from recollect.projections.sqlite import rows

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Maximum number of unpacked levels that are cached, one byte each. It is enough for some six
# thousand turns.
MAX_UNPACKED_LEVELS = 24_000_000
# From this read on, all levels are cached. The centroid and the first question take one read each,
# so a process that answers a single question does not unpack everything.
_CACHE_FROM_READ = 3
# The centroid of a zone is computed from about this many turns.
_SAMPLE_TURNS = 1_000
_BLOCK = 10_000

_TURN_COLUMNS = {"row": np.int64, "unit": np.int64, "units": np.uint16}
_COLUMN_TYPES = {**_TURN_COLUMNS, "end": np.int64, "scale": np.float16, "square": np.float32}
# The condition on rows of `token_vectors` that are indexed.
_ROW_FILTER = f"target_type = 'event' AND model = {{model}} AND form = '{FORMAT}'"


class TurnTokens(NamedTuple):
    """The tokens of requested turns: unit u has the next `tokens_of_unit[u]` rows of `codes`.

    `squares`: the squared norm of each row. `turn_of_unit`: the index of a unit's turn in the
    request. Each turn has at least one unit; it is empty if the turn has no token vectors
    (False in `known`, one per turn).
    """

    codes: Bytes
    scales: Floats
    squares: Floats
    tokens_of_unit: Ints
    turn_of_unit: Ints
    known: Mask


class Centroid(NamedTuple):
    """The mean token vector of a zone: (dimensions,) `codes` times `scale`."""

    codes: Floats
    scale: float


class _Sample:
    """A sample of a zone's turns: every `step`-th turn that has token vectors; and its centroid."""

    def __init__(self, step: int, dimensions: int) -> None:
        self.step = step
        self.places: Ints = np.zeros(0, np.int64)
        self.centroid = Centroid(np.zeros(dimensions, np.float32), 0.0)
        self._total = np.zeros(dimensions)
        self._count = 0

    def with_turns(self, places: Ints, tokens: TurnTokens) -> _Sample:
        """Return the sample extended by turns with these tokens.

        The result does not depend on the order of turns: scales are multiples of 2 ** -24, so
        sums are exact.
        """
        more = _Sample(self.step, len(self._total))
        more.places = np.concatenate((self.places, places))
        scales = tokens.scales.astype(np.float64)
        more._total = self._total + scales @ tokens.codes.astype(np.float64)
        more._count = self._count + len(tokens.codes)
        mean = (more._total / max(more._count, 1)).astype(np.float32)
        codes, (scale,) = quantise_int8(mean[None])
        more.centroid = Centroid(codes[0].astype(np.float32), float(scale))
        return more


class Tokens:
    """The token vectors of a zone's turns under the indexed model, by place.

    Columns per turn: its rowid in the file (`row`, 0 for none), its first `unit`, and its number of
    `units` (0: no vectors). Per unit: the `end` of its tokens. Per token: `scale`, `square` (its
    squared norm) and codes.
    """

    def __init__(
        self, model: EmbeddingsModel, turns: Turns, columns: Mapping[str, Array] | None = None
    ) -> None:
        self._model = model
        self._turns = turns
        self._dimensions = projected_dimensions(model.dimension)
        stored = columns or {}
        self._columns = {
            name: GrowableArray(stored.get(name, np.zeros(0, kind)))
            for name, kind in _COLUMN_TYPES.items()
        }
        self.codes = GrowableRows(
            stored.get("codes"), np.uint8, code_bytes(self._dimensions), stored.get("codes.lying")
        )
        self._row_filter = _ROW_FILTER.format(model=apsw.format_sql_value(model.model))
        # The unpacked levels of the first tokens; empty if the levels of all tokens do not fit.
        self._levels = GrowableArray(np.zeros(0, np.int8))
        self._reads = 0
        # The last rowid that was read, even if its turn is unknown.
        self._seen = int(stored["seen"][0]) if stored else 0
        self._sample: _Sample | None = None

    def follow(self) -> None:
        """Add new rows; their turns must have been added already."""
        for name in _TURN_COLUMNS:
            column = self._columns[name]
            more = len(self._turns) - len(column.values)
            column.extend(np.zeros(more, column.values.dtype))
        while new_rows := rows(
            self._model.connection,
            f"SELECT {self._row_filter}, rowid, target_id, codes, scales, units "
            "FROM token_vectors WHERE rowid > ? ORDER BY rowid LIMIT ?",
            (self._seen, _BLOCK),
        ):
            self._seen = new_rows[-1][1]
            self._add([row for is_indexed, *row in new_rows if is_indexed])

    def remove(self, rowids: Sequence[int], new_places: Ints) -> bool:
        """Remove the rows with these rowids, and those of removed turns.

        `new_places`: old place of a turn -> its new place, -1 if removed. Return False if one of
        these rowids was reused for another text; the index must then be rebuilt.
        """
        row, unit, units, end = (
            self._columns[name].values for name in ("row", "unit", "units", "end")
        )
        removed = np.isin(row, np.array(rowids, np.int64)) | (new_places < 0)
        self._seen = int(row[~removed].max(initial=0))
        if has_reused_row(
            self._model.connection, "token_vectors", rowids, self._seen, self._row_filter
        ):
            return False
        kept = np.ones(len(end), bool)
        kept[concat_ranges(unit[removed], units[removed].astype(np.int64))] = False
        tokens = np.diff(end, prepend=0)
        kept_tokens = np.repeat(kept, tokens)
        for column in (self._columns["scale"], self._columns["square"], self.codes):
            column.keep(kept_tokens)
        self._levels.replace(np.zeros(0, np.int8))
        self._columns["end"].replace(np.cumsum(tokens[kept]))
        has_turn = new_places >= 0
        new_unit = np.concatenate(([0], np.cumsum(kept)))
        for name, values in (("row", row), ("unit", new_unit[unit]), ("units", units)):
            self._columns[name].replace(np.where(removed, 0, values).astype(values.dtype)[has_turn])
        self._sample = None
        return True

    def columns(self) -> dict[str, Array]:
        """Return all arrays except `codes` by name, for storing."""
        return {
            **{name: column.values for name, column in self._columns.items()},
            "seen": np.array([self._seen]),
        }

    def of(self, places: Ints) -> TurnTokens:
        """Return the tokens of turns, in the order of `places`."""
        count = self._columns["units"].values[places].astype(np.int64)
        known = count > 0
        unit = concat_ranges(self._columns["unit"].values[places[known]], count[known])
        end = self._columns["end"].values
        first = np.where(unit > 0, end[unit - 1], 0)
        tokens = end[unit] - first
        row = concat_ranges(first, tokens)
        per_turn = np.maximum(count, 1)
        tokens_of_unit = np.zeros(int(per_turn.sum()), np.int64)
        tokens_of_unit[np.repeat(known, per_turn)] = tokens
        return TurnTokens(
            self._levels_of(row),
            self._columns["scale"].values[row].astype(np.float32),
            self._columns["square"].values[row],
            tokens_of_unit,
            np.repeat(np.arange(len(places)), per_turn),
            known,
        )

    def _levels_of(self, rows: Ints) -> Bytes:
        """Return the levels of tokens, cached since unpacking takes half the time of the arm."""
        count = len(self._columns["scale"].values)
        self._reads += 1
        if count * self._dimensions > MAX_UNPACKED_LEVELS or self._reads < _CACHE_FROM_READ:
            self._levels.replace(np.zeros(0, np.int8))
            return decode_levels(self.codes.take(rows), self._dimensions)
        cached = len(self._levels.values) // max(self._dimensions, 1)
        if cached < count:
            new = self.codes.take(np.arange(cached, count))
            self._levels.extend(decode_levels(new, self._dimensions).reshape(-1))
        levels: Bytes = self._levels.values.reshape(count, self._dimensions).take(rows, axis=0)
        return levels

    @property
    def centroid(self) -> Centroid:
        """The mean token vector of a sample of turns, which depends on the turns alone.

        The sample has every turn, or every second, fourth, eighth and so on. This step changes only
        when the zone has doubled in size.
        """
        step = 1 << max(0, (len(self._turns) // _SAMPLE_TURNS).bit_length() - 1)
        if self._sample is None or self._sample.step != step:
            self._sample = _Sample(step, self._dimensions)
        places = np.arange(0, len(self._turns), step)
        places = places[self._columns["units"].values[places] > 0]
        if len(places) > len(self._sample.places):
            new = np.setdiff1d(places, self._sample.places, assume_unique=True)
            self._sample = self._sample.with_turns(new, self.of(new))
        return self._sample.centroid

    def _add(self, new_rows: list[list[Any]]) -> None:
        """Add rows: (rowid, event id, codes, scales, units)."""
        places = self._turns.place_of_id.of([id_ for _, id_, *_ in new_rows])
        with_turn = [
            row for row, place in zip(new_rows, places.tolist(), strict=True) if place >= 0
        ]
        codes, scales, lengths = (b"".join(row[part] for row in with_turn) for part in (2, 3, 4))
        tokens = unpack(codes, scales, lengths, self._dimensions)
        units = np.array([len(row[4]) // 2 for row in with_turn], np.int64)
        ends = self._columns["end"]
        known = places[places >= 0]
        self._columns["row"].values[known] = [row[0] for row in with_turn]
        self._columns["unit"].values[known] = len(ends.values) + np.cumsum(units) - units
        self._columns["units"].values[known] = units
        last = int(ends.values[-1]) if len(ends.values) else 0
        ends.extend(last + np.cumsum(tokens.units))
        self._columns["scale"].extend(tokens.scales.astype(np.float16))
        levels = decode_levels(tokens.codes, self._dimensions).astype(np.float32)
        self._columns["square"].extend(np.einsum("ij,ij->i", levels, levels))
        self.codes.extend(tokens.codes)
