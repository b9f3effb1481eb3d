"""Record a model's answers before they are used; no request is sent again once it is answered.

If a request has several recordings, the first one counts. A process that is killed after recording
an answer finds it when it retries, at no cost.
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
from recollect.streams.models.chat import ChatCompletion, ChatRequest
from recollect.streams.models.model_client import ModelClient, PromptRejected
from recollect.streams.records.recorded_answers import OpenedRecording, recorded_answers

_BATCH = 500


def to_recorded(answer: ChatCompletion) -> RecordedAnswer:
    """Convert a completion to its recorded form."""
    calls = tuple(RecordedCall(call.id, call.name, call.arguments) for call in answer.calls)
    return RecordedAnswer(answer.text, calls, answer.finish)


class ErasedDuringCall(Exception):
    """An event that a request quotes was erased, so the request has no answer."""


class Recordings:
    """An index of a zone's recorded answers by request digest, read incrementally. Thread-safe."""

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self._ledger = ledger
        self._zone = zone
        self._lock = threading.Lock()
        self._offset = 0
        self._refs: dict[bytes, list[RecordingRef]] = {}

    def find(self, digest: bytes) -> tuple[OpenedRecording, RecordingRef] | None:
        """Return the first answer with this request digest that can be decrypted, and its ref."""
        with self._lock:
            self._refresh()
            refs = list(self._refs.get(digest, ()))
        for ref in refs:
            opened = recorded_answers(self._ledger, self._zone, [ref])
            if opened is not None:
                return opened[0], ref
        return None

    def _refresh(self) -> None:
        partition = partition_of(self._zone)
        while records := self._ledger.read(RECORDINGS, partition, self._offset, _BATCH, self._zone):
            for offset, _, value in records:
                digest = read_recording(value).header.request
                ref = RecordingRef(offset, record_hash(value))
                self._refs.setdefault(digest, []).append(ref)
                self._offset = offset + 1


class Recorder:
    """Answers requests from the recordings, or else from a model, which it records. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        client: ModelClient,
        find_sources: Callable[[Iterable[int]], Mapping[int, Source]],
        recordings: Recordings,
    ) -> None:
        """`find_sources` looks up the sources (key ids) of events by number."""
        self._ledger = ledger
        self._zone = zone
        self._client = client
        self._find_sources = find_sources
        self._recordings = recordings

    def ask(
        self, request: ChatRequest, numbers: frozenset[int], prompt_version: str
    ) -> tuple[OpenedRecording, RecordingRef]:
        """Return the answer to a request that quotes these events, and the answer's reference.

        Raises:
            ErasedDuringCall: one of the events was erased.
            ModelUnavailable: no model answered.
        """
        digest = self._digest(request)
        recorded = self._recordings.find(digest)
        if recorded is not None:
            return recorded
        self._sources(numbers)
        answer = self._client.ask(request)
        sources, keys = self._sources(numbers)
        value = write_recording(
            RecordingHeader(
                RECORDING_FORMAT,
                self._zone,
                digest,
                sources,
                answer.model,
                prompt_version,
                answer.tokens_in,
                answer.tokens_out,
                self._client.settings.cost(answer.tokens_in, answer.tokens_out),
                time.time_ns() // 1_000_000,
            ),
            to_recorded(answer),
            keys,
        )
        if len(value) > MAX_FRAGMENT_BYTES:
            raise PromptRejected(
                f"the answer of {answer.model} takes {len(value):,} bytes, but a record holds "
                f"at most {MAX_FRAGMENT_BYTES:,}; lower model.answer_tokens"
            )
        self._ledger.append(RECORDINGS, self._zone, [value])
        recorded = self._recordings.find(digest)
        if recorded is None:
            raise ErasedDuringCall
        return recorded

    def is_answered(self, request: ChatRequest) -> bool:
        """Return whether an answer to a request is recorded."""
        return self._recordings.find(self._digest(request)) is not None

    def _digest(self, request: ChatRequest) -> bytes:
        content = request.canonical(self._client.model)
        return request_digest(self._ledger.keys.secret, self._zone, content)

    def _sources(self, numbers: frozenset[int]) -> tuple[tuple[Source, ...], Mapping[bytes, bytes]]:
        sources_by_number = self._find_sources(numbers)
        sources = tuple(
            sources_by_number[number] for number in sorted(numbers) if number in sources_by_number
        )
        keys = self._ledger.keys.get([source.key_id for source in sources])
        if len(keys) < len(numbers):
            raise ErasedDuringCall
        return sources, keys
