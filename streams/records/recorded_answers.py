"""Read recorded answers of language models from the locations that an event names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recollect.schemas.errors import RESTORE_LEDGER, IntegrityError
from recollect.schemas.events import RecordingRef
from recollect.schemas.ledger.recordings import (
    RecordedAnswer,
    RecordingHeader,
    read_recording,
    unseal_recording,
)
from recollect.schemas.ledger.records import record_hash
from recollect.streams.ledger import RECORDINGS, Ledger, partition_of


class OpenedRecording(NamedTuple):
    """A recorded answer with its header."""

    header: RecordingHeader
    answer: RecordedAnswer


def recorded_answers(
    ledger: Ledger, zone: str, locations: Sequence[RecordingRef]
) -> list[OpenedRecording] | None:
    """Return the answers at these locations; None if a source of one of them was erased.

    Raises:
        IntegrityError: a recording is missing, or its hash is not the one that the event names.
    """
    recordings = []
    partition = partition_of(zone)
    for location in locations:
        records = ledger.read(RECORDINGS, partition, location.offset, 1, zone)
        where = f"{RECORDINGS}/{partition} offset {location.offset}"
        if not records or records[0].offset != location.offset:
            raise IntegrityError(
                f"{where}: a model's recorded answer is missing (zone {zone}); {RESTORE_LEDGER}"
            )
        if record_hash(records[0].value) != location.hash:
            raise IntegrityError(
                f"{where}: a model's recorded answer was changed (zone {zone}); {RESTORE_LEDGER}"
            )
        recording = read_recording(records[0].value)
        keys = ledger.keys.get([source.key_id for source in recording.header.sources])
        answer = unseal_recording(recording, keys)
        if answer is None:
            return None
        recordings.append(OpenedRecording(recording.header, answer))
    return recordings
