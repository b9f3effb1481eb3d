"""Idempotency keys: a call that is repeated with the same key gets the first call's answer.

Answers are cached in memory for a day, at most a few thousand. After an erasure in its zone, by any
process, a cached answer is dropped, since it may contain erased data.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from recollect.service.http.problem_details import CONFLICT, INVALID, FieldError, Refused
from recollect.streams.ledger import EVENTS, Ledger, partition_of
from recollect.streams.records.erased_keys import FORGET

T = TypeVar("T")

HEADER = "idempotency-key"
_MAX_ENTRIES = 4_096
_TTL_SECONDS = 86_400.0
_MAX_KEY_LENGTH = 255


@dataclass
class _Call:
    """A call, running or answered.

    `body`: the digest of the request body. `offset`: the end of the zone's partition when the call
    began.
    """

    body: bytes
    answer: asyncio.Future[Any]
    at: float
    offset: int = 0


class IdempotentCalls:
    """The calls by principal, zone, path and key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._calls: OrderedDict[tuple[str, str, str, str], _Call] = OrderedDict()

    async def run_once(
        self,
        principal: str,
        zone: str,
        path: str,
        key: str | None,
        body: bytes,
        work: Callable[[], Awaitable[T]],
    ) -> T:
        """Return the result of `work`, or the result of an earlier call with this key.

        A failed call is run again.

        Raises:
            Refused: the key is invalid, or was used with another body.
        """
        if key is None:
            return await work()
        check_key(key)
        self._drop_expired()
        name = (principal, zone, path, key)
        digest = hashlib.sha256(body).digest()
        before = self._calls.get(name)
        if before is not None:
            await self._drop_if_erased(zone, before)
            before = self._calls.get(name)
        if before is not None:
            if before.body != digest:
                raise Refused(
                    CONFLICT, "this Idempotency-Key was used with another body; use a new key"
                )
            answer: T = await asyncio.shield(before.answer)
            return answer
        future = asyncio.get_running_loop().create_future()
        call = self._calls[name] = _Call(digest, future, time.monotonic())
        try:
            call.offset = await asyncio.to_thread(self._ledger.end, EVENTS, partition_of(zone))
            result = await work()
        except BaseException as error:
            self._calls.pop(name, None)
            if isinstance(error, Exception):
                future.set_exception(error)
                # Mark the exception as retrieved, since nobody else may wait for it.
                future.exception()
            else:
                future.cancel()
            raise
        future.set_result(result)
        return result

    def drop_answers(self, zone: str) -> None:
        """Drop the cached answers of a zone after an erasure there."""
        for name in [name for name, call in self._calls.items() if name[1] == zone]:
            if self._calls[name].answer.done():
                del self._calls[name]

    async def _drop_if_erased(self, zone: str, call: _Call) -> None:
        """Drop a zone's cached answers if anything in it was erased since this call began."""
        if not call.answer.done():
            return
        erasures = await asyncio.to_thread(self._ledger.events_of_kind, zone, FORGET, call.offset)
        if erasures:
            self.drop_answers(zone)

    def _drop_expired(self) -> None:
        oldest = time.monotonic() - _TTL_SECONDS
        for name, call in list(self._calls.items()):
            if len(self._calls) < _MAX_ENTRIES and call.at > oldest:
                return
            if not call.answer.done():
                continue
            del self._calls[name]


def check_key(key: str) -> None:
    """Raise Refused if a key is invalid."""
    if not 0 < len(key) <= _MAX_KEY_LENGTH:
        detail = f"Idempotency-Key must have 1 to {_MAX_KEY_LENGTH} characters"
        raise Refused(INVALID, detail, (FieldError(HEADER, detail),))
