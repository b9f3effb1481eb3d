"""A lock that threads acquire in the order in which they requested it."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """A first-come, first-served lock for a `with` statement.

    `threading.Lock` is not fair: a thread that arrives when it is released may overtake others.
    """

    def __init__(self) -> None:
        self._state = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._state:
            if not self._held:
                self._held = True
                return
            waiter = threading.Lock()
            waiter.acquire()
            self._waiting.append(waiter)
        try:
            waiter.acquire()
        except BaseException:
            # Interrupted, perhaps after the lock was passed to this thread.
            with self._state:
                still_waiting = waiter in self._waiting
                if still_waiting:
                    self._waiting.remove(waiter)
            if not still_waiting:
                self.__exit__()
            raise

    def __exit__(self, *exception: object) -> None:
        with self._state:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False
