"""Every answer of a model is recorded before it is used, and asked for once.

The first recording of a question is its answer, whoever recorded it: one who was killed after it,
and asks again, gets that one and pays nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from recollect.schemas.events import RecordingRef
from recollect.schemas.ledger.fragments import MAX_FRAGMENT_BYTES
from recollect.schemas.ledger.recordings import (
    RECORDING_FORMAT,
    RecordedAnswer,
    RecordedCall,
    RecordingHeader,
    read_recording,
    request_digest,
    write_recording,
)
from recollect.schemas.ledger.records import Source, record_hash
from recollect.streams.ledger import RECORDINGS, Ledger, partition_of
from recollect.streams.models.chat import ChatAnswer, ChatQuestion
from recollect.streams.models.model_door import ModelDoor, QuestionRefused
from recollect.streams.records.recorded_answers import OpenedRecording, recorded_answers

_BATCH = 500


def as_recorded(answer: ChatAnswer) -> RecordedAnswer:
    """Return an answer as a recording holds it."""
    calls = tuple(RecordedCall(call.id, call.name, call.arguments) for call in answer.calls)
    return RecordedAnswer(answer.text, calls, answer.finish)


class ErasedMeanwhile(Exception):
    """An event behind a question was erased, so it is not asked."""


class Recordings:
    """Where the answers of a zone are recorded, by their questions; each recording is read once.

    Any thread may look.
    """

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self._ledger = ledger
        self._zone = zone
        self._lock = threading.Lock()
        self._offset = 0
        self._places: dict[bytes, list[RecordingRef]] = {}

    def known(self, request: bytes) -> tuple[OpenedRecording, RecordingRef] | None:
        """Return the first recorded answer to a question that can be opened, and its place."""
        with self._lock:
            self._read_on()
            places = list(self._places.get(request, ()))
        for place in places:
            opened = recorded_answers(self._ledger, self._zone, [place])
            if opened is not None:
                return opened[0], place
        return None

    def _read_on(self) -> None:
        partition = partition_of(self._zone)
        while records := self._ledger.read(RECORDINGS, partition, self._offset, _BATCH, self._zone):
            for offset, _, value in records:
                request = read_recording(value).header.request
                place = RecordingRef(offset, record_hash(value))
                self._places.setdefault(request, []).append(place)
                self._offset = offset + 1


class Recorder:
    """Asks through the door, and records. Any thread may ask."""

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        door: ModelDoor,
        seals: Callable[[Iterable[int]], Mapping[int, Source]],
        recordings: Recordings,
    ) -> None:
        """`seals` looks up the keys' ids of events by their numbers."""
        self._ledger = ledger
        self._zone = zone
        self._door = door
        self._seals = seals
        self._recordings = recordings

    def ask(
        self, question: ChatQuestion, numbers: frozenset[int], role: str
    ) -> tuple[OpenedRecording, RecordingRef]:
        """Return the answer to a question that rests on the words of these events, and its place.

        Raises:
            ErasedMeanwhile: one of the events was erased.
            DoorClosed: nobody answered.
        """
        request = self._digest(question)
        known = self._recordings.known(request)
        if known is not None:
            return known
        self._sources(numbers)
        answer = self._door.ask(question)
        sources, keys = self._sources(numbers)
        value = write_recording(
            RecordingHeader(
                RECORDING_FORMAT,
                self._zone,
                request,
                sources,
                answer.model,
                role,
                answer.tokens_in,
                answer.tokens_out,
                self._door.settings.cost(answer.tokens_in, answer.tokens_out),
                time.time_ns() // 1_000_000,
            ),
            as_recorded(answer),
            keys,
        )
        if len(value) > MAX_FRAGMENT_BYTES:
            raise QuestionRefused(f"{answer.model} answered more than a record can hold")
        self._ledger.append(RECORDINGS, self._zone, [value])
        recorded = self._recordings.known(request)
        if recorded is None:
            raise ErasedMeanwhile
        return recorded

    def has(self, question: ChatQuestion) -> bool:
        """Whether a question was answered before."""
        return self._recordings.known(self._digest(question)) is not None

    def _digest(self, question: ChatQuestion) -> bytes:
        asked = question.canonical(self._door.model)
        return request_digest(self._ledger.keys.secret, self._zone, asked)

    def _sources(self, numbers: frozenset[int]) -> tuple[tuple[Source, ...], Mapping[bytes, bytes]]:
        seals = self._seals(numbers)
        sources = tuple(seals[number] for number in sorted(numbers) if number in seals)
        keys = self._ledger.keys.get([source.key_id for source in sources])
        if len(keys) < len(numbers):
            raise ErasedMeanwhile
        return sources, keys
