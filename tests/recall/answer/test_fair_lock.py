"""The lock that nobody overtakes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from recollect.projections.recall.answer.fair_lock import FairLock


def waiting(lock: FairLock, work: Callable[[], object]) -> threading.Thread:
    """Start a thread that works under a lock, and return once it waits for it."""
    before = len(lock._waiting)

    def enter() -> None:
        with lock:
            work()

    thread = threading.Thread(target=enter, daemon=True)
    thread.start()
    while len(lock._waiting) == before:
        time.sleep(0.001)
    return thread


def test_threads_get_it_in_the_order_in_which_they_came() -> None:
    lock, order = FairLock(), list[int]()
    with lock:
        threads = [waiting(lock, lambda n=number: order.append(n)) for number in range(8)]  # type: ignore[misc]
    for thread in threads:
        thread.join(60)
    assert order == list(range(8))


def test_one_thread_at_a_time_has_it() -> None:
    lock, inside, most = FairLock(), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(200):
            with lock:
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (inside, most) == (0, 1)


def test_who_fails_hands_it_on() -> None:
    lock = FairLock()
    with pytest.raises(ValueError, match="inside"), lock:
        raise ValueError("inside")
    with lock:
        pass


class Interrupted(BaseException):
    """What a signal raises in a thread that waits."""


class Turn:
    """Stands for the lock that a thread waits with: waiting is interrupted."""

    def __init__(self, before: Callable[[], object]) -> None:
        self.before = before
        self.taken = False

    def acquire(self) -> None:
        if self.taken:
            self.before()
            raise Interrupted
        self.taken = True

    def release(self) -> None:
        pass


@pytest.mark.parametrize("handed_over", [False, True])
def test_who_is_interrupted_while_waiting_leaves_the_others_theirs(
    handed_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, order = FairLock(), list[str]()
    lock.__enter__()

    def before() -> None:
        if handed_over:
            lock.__exit__()

    with monkeypatch.context() as patched:
        patched.setattr(threading, "Lock", lambda: Turn(before))
        with pytest.raises(Interrupted):
            lock.__enter__()
    if not handed_over:
        thread = waiting(lock, lambda: order.append("after"))
        lock.__exit__()
        thread.join(60)
        assert order == ["after"]
    with lock:
        pass
