"""Idempotency keys: a call that is made again under its key is answered as the first time.

Answers are kept in memory for a day, the last few thousand of them. None is given again after an
erasure in its zone, by whichever process, since it may hold what was erased.
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
_SECONDS = 86_400.0
_MAX_KEY_LENGTH = 255


@dataclass
class _Call:
    """A call that was made. `offset`: where the ledger ended in its partition when it began."""

    body: bytes
    answer: asyncio.Future[Any]
    at: float
    offset: int = 0


class IdempotentCalls:
    """Calls by who made them, their zone, their address and their key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._calls: OrderedDict[tuple[str, str, str, str], _Call] = OrderedDict()

    async def once(
        self,
        who: str,
        zone: str,
        place: str,
        key: str | None,
        body: bytes,
        work: Callable[[], Awaitable[T]],
    ) -> T:
        """Return what `work` gives, or gave when it was called under this key before.

        What failed is tried again.

        Raises:
            Refused: the key is none, or another body came under it.
        """
        if key is None:
            return await work()
        check_key(key)
        self._drop_old()
        name = (who, zone, place, key)
        digest = hashlib.sha256(body).digest()
        before = self._calls.get(name)
        if before is not None:
            await self._let_go_of_erased(zone, before)
            before = self._calls.get(name)
        if before is not None:
            if before.body != digest:
                raise Refused(CONFLICT, "another body came under this Idempotency-Key")
            answer: T = await asyncio.shield(before.answer)
            return answer
        future = asyncio.get_running_loop().create_future()
        call = self._calls[name] = _Call(digest, future, time.monotonic())
        try:
            call.offset = await asyncio.to_thread(self._ledger.end, EVENTS, partition_of(zone))
            done = await work()
        except BaseException as error:
            self._calls.pop(name, None)
            if isinstance(error, Exception):
                future.set_exception(error)
                # Nobody may wait for it.
                future.exception()
            else:
                future.cancel()
            raise
        future.set_result(done)
        return done

    def forget(self, zone: str) -> None:
        """Keep no answer of a zone any longer: something was erased there."""
        for name in [name for name, call in self._calls.items() if name[1] == zone]:
            if self._calls[name].answer.done():
                del self._calls[name]

    async def _let_go_of_erased(self, zone: str, call: _Call) -> None:
        """Let go of a zone's answers if something was erased there since a call that has ended."""
        if not call.answer.done():
            return
        erased = await asyncio.to_thread(self._ledger.events_of_kind, zone, FORGET, call.offset)
        if erased:
            self.forget(zone)

    def _drop_old(self) -> None:
        oldest = time.monotonic() - _SECONDS
        for name, call in list(self._calls.items()):
            if len(self._calls) < _MAX_ENTRIES and call.at > oldest:
                return
            if not call.answer.done():
                continue
            del self._calls[name]


def check_key(key: str) -> None:
    """Raise Refused where a key is none."""
    if not 0 < len(key) <= _MAX_KEY_LENGTH:
        detail = f"Idempotency-Key has at least one and at most {_MAX_KEY_LENGTH} characters"
        raise Refused(INVALID, detail, (FieldError(HEADER, detail),))
