"""A lock that threads get in the order in which they asked for it."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """A lock for a `with` statement. Nobody overtakes: of many who wait, all wait about as long.

    `threading.Lock` is taken by whoever comes when it is free, and others wait on.
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
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        try:
            turn.acquire()
        except BaseException:
            # Interrupted: somebody may have handed over already.
            with self._state:
                waits = turn in self._waiting
                if waits:
                    self._waiting.remove(turn)
            if not waits:
                self.__exit__()
            raise

    def __exit__(self, *exception: object) -> None:
        with self._state:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False
