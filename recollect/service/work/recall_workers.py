"""Processes that answer recalls beside this one, while many are asked at once.

Python does its work on one core of a process; the others serve the encoder and SQLite alone. A
reader is one more process on the same home. It reads the files as any other process does: what was
published or erased before a question is asked counts in its answer. It decides nothing, and may be
killed at any time: what it does not answer is answered here. It starts when several questions are
at work, and ends when none was for a minute, so that a service that is seldom asked takes the
memory of one process.
"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time

import msgspec

from recollect.home.configuration import CONFIG_VARIABLE
from recollect.home.memory_spans import is_tracing
from recollect.home.open_zone import OpenHome
from recollect.library.library_home import Recollect
from recollect.library.library_zone import Zone
from recollect.schemas.wire import Query
from recollect.streams.system.cores import usable_cores

# Questions that a reader has at once: one that it answers, and some that it encodes.
_SOCKETS_PER_READER = 3
#: With so many at work here, one more process is worth its memory.
MANY = 4
# As long as a reader may be unused, or starts; and as one that failed stays away.
_UNUSED_SECONDS = 60.0
_START_SECONDS = 60.0
_AFTER_FAILURE_SECONDS = 10.0
_HEAD = 4

_log = logging.getLogger("recollect")


class Asked(msgspec.Struct, array_like=True):
    """What a reader is told: a zone, and the question, or None: something was erased there."""

    zone: str
    query: Query | None


class Answered(msgspec.Struct, array_like=True):
    """What a reader says: the answer as JSON, and the type and id of all that is in it.

    `answer` None: it could not answer, or there was nothing to.
    """

    answer: bytes | None = None
    found: list[tuple[str, str]] = []


def send(connection: socket.socket, message: msgspec.Struct) -> None:
    """Send a message to the other process."""
    said = msgspec.msgpack.encode(message)
    connection.sendall(len(said).to_bytes(_HEAD, "big") + said)


def receive(connection: socket.socket) -> bytes | None:
    """Return the next message of the other process; None where it ended."""
    head = _exactly(connection, _HEAD)
    return None if head is None else _exactly(connection, int.from_bytes(head, "big"))


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = connection.recv(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class _Reader:
    """A process that answers, and its connections: one for each question that it has at once."""

    def __init__(self, opened: OpenHome, seconds: float) -> None:
        pairs = [socket.socketpair() for _ in range(_SOCKETS_PER_READER)]
        self.free = [ours for ours, _ in pairs]
        self.connections = list(self.free)
        theirs = [end.fileno() for _, end in pairs]
        home, named = opened.home.directory, opened.home.configuration.explicit_file
        command = [sys.executable, "-m", "recollect.service.work.recall_worker_main"]
        try:
            self.process = subprocess.Popen(
                [*command, str(home), opened.ledger or "", *map(str, theirs)],
                env={**os.environ, **({} if named is None else {CONFIG_VARIABLE: str(named)})},
                pass_fds=theirs,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # What Python says of an error may quote what was remembered.
                stderr=subprocess.DEVNULL,
                # Ctrl-C ends the service, and the service ends its readers.
                start_new_session=True,
            )
        except OSError:
            self._hang_up()
            raise
        finally:
            for _, end in pairs:
                end.close()
        for connection in self.connections:
            connection.settimeout(seconds)
        self.used = time.monotonic()

    def wait_until_ready(self) -> bool:
        """Return whether it can answer, once it says so."""
        first = self.connections[0]
        before = first.gettimeout()
        first.settimeout(_START_SECONDS)
        try:
            return receive(first) is not None
        except OSError:
            return False
        finally:
            first.settimeout(before)

    def close(self) -> None:
        """End the process: at once where it does not by itself."""
        self._hang_up()
        try:
            self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _hang_up(self) -> None:
        for connection in self.connections:
            connection.close()


class RecallWorkers:
    """The readers of a home. Any thread may call any method."""

    def __init__(self, recollect: Recollect, most: int, seconds: float) -> None:
        """`most`: how many there are at most; `seconds`: how long one may take for an answer."""
        self._home = recollect._open_home
        self._accesses = recollect._accesses
        self._most = most
        self._seconds = seconds
        self._changed = threading.Condition()
        self._readers: list[_Reader] = []
        self._starting: threading.Thread | None = None
        self._not_before = 0.0
        self._here = 0
        self._closed = False
        # How often something was erased.
        self._erasures = 0

    def recall(self, zone: Zone, query: Query) -> bytes:
        """Return a zone's answer to a question, as JSON.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        with self._changed:
            erasures = self._erasures
            # A span is of the process that traces.
            taken = self._take() if self._here and not is_tracing() else None
            if taken is None:
                self._here += 1
                if self._here >= MANY:
                    self._start_another()
        if taken is None:
            try:
                return msgspec.json.encode(zone.recall(query))
            finally:
                with self._changed:
                    self._here -= 1
        answered = self._ask(*taken, Asked(zone.name, query))
        with self._changed:
            # What it found before may be gone.
            stands = erasures == self._erasures
        if answered is None or answered.answer is None or not stands:
            return msgspec.json.encode(zone.recall(query))
        if self._accesses is not None:
            self._accesses.note_found(zone.name, answered.found)
        return answered.answer

    def erased(self, zone: str) -> None:
        """Have every reader let go of what was erased in a zone; return when they did."""
        with self._changed:
            self._erasures += 1
            readers = list(self._readers)
        for reader in readers:
            with self._changed:
                while not reader.free and reader in self._readers:
                    self._changed.wait()
                connection = reader.free.pop() if reader in self._readers else None
            if connection is not None:
                self._ask(reader, connection, Asked(zone, None))

    def end_unused(self) -> None:
        """End the readers that nobody needed for a while."""
        latest = time.monotonic() - _UNUSED_SECONDS
        with self._changed:
            unused = [
                reader
                for reader in self._readers
                if reader.used < latest and len(reader.free) == _SOCKETS_PER_READER
            ]
            self._readers = [reader for reader in self._readers if reader not in unused]
        for reader in unused:
            reader.close()

    def close(self) -> None:
        """End all readers; no question may follow."""
        with self._changed:
            self._closed = True
            starting = self._starting
        if starting is not None:
            starting.join()
        for reader in self._readers:
            reader.close()
        self._readers = []

    def _take(self) -> tuple[_Reader, socket.socket] | None:
        """Return a connection that is free, of the reader with the most of them."""
        reader = max(self._readers, key=lambda reader: len(reader.free), default=None)
        return None if reader is None or not reader.free else (reader, reader.free.pop())

    def _ask(self, reader: _Reader, connection: socket.socket, asked: Asked) -> Answered | None:
        """Return what a reader says; None where it is no more."""
        try:
            send(connection, asked)
            said = receive(connection)
            answered = None if said is None else msgspec.msgpack.decode(said, type=Answered)
        except (OSError, msgspec.MsgspecError):
            answered = None
        with self._changed:
            if answered is not None:
                reader.used = time.monotonic()
                reader.free.append(connection)
            lost = answered is None and reader in self._readers
            if lost:
                self._readers.remove(reader)
                self._not_before = time.monotonic() + _AFTER_FAILURE_SECONDS
            self._changed.notify_all()
        if lost:
            _log.warning("a reader process ended")
            reader.close()
        return answered

    def _start_another(self) -> None:
        """Start a reader where there may be one more; under the lock."""
        if (
            self._closed
            or self._starting is not None
            or len(self._readers) >= self._most
            or time.monotonic() < self._not_before
        ):
            return
        self._starting = threading.Thread(target=self._start, name="reader-start", daemon=True)
        self._starting.start()

    def _start(self) -> None:
        reader = None
        try:
            reader = _Reader(self._home, self._seconds)
            ready = reader.wait_until_ready()
        except OSError:
            ready = False
        with self._changed:
            self._starting = None
            used = ready and not self._closed
            if used and reader is not None:
                self._readers.append(reader)
            else:
                self._not_before = time.monotonic() + _AFTER_FAILURE_SECONDS
        if not used:
            if not ready:
                _log.warning("a reader process did not start")
            if reader is not None:
                reader.close()


def readers_at_most(asked: int) -> int:
    """Return how many readers there may be where so many are wanted: one core is this process's."""
    return max(0, min(asked, usable_cores() - 1))
