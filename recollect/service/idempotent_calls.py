"""Idempotency keys: a call that is made again under its key is answered as the first time.

Answers are kept in memory for a day, the last few thousand of them, and never beyond an erasure in
their zone, whose words they may hold.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from recollect.service.problem_details import CONFLICT, INVALID, FieldError, Refused

T = TypeVar("T")

HEADER = "idempotency-key"
_MOST = 4_096
_SECONDS = 86_400.0
_LONGEST = 255


class _Call(NamedTuple):
    body: bytes
    answer: asyncio.Future[Any]
    at: float


class IdempotentCalls:
    """Calls by who made them, their zone, their address and their key."""

    def __init__(self) -> None:
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
            if before.body != digest:
                raise Refused(CONFLICT, "another body came under this Idempotency-Key")
            answer: T = await asyncio.shield(before.answer)
            return answer
        future = asyncio.get_running_loop().create_future()
        self._calls[name] = _Call(digest, future, time.monotonic())
        try:
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

    def _drop_old(self) -> None:
        oldest = time.monotonic() - _SECONDS
        for name, call in list(self._calls.items()):
            if len(self._calls) < _MOST and call.at > oldest:
                return
            if not call.answer.done():
                continue
            del self._calls[name]


def check_key(key: str) -> None:
    """Raise Refused where a key is none."""
    if not 0 < len(key) <= _LONGEST:
        detail = f"Idempotency-Key has at least one and at most {_LONGEST} characters"
        raise Refused(INVALID, detail, (FieldError(HEADER, detail),))
