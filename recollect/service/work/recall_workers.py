"""Recall workers: further processes that answer recalls under load.

The Python code of a process runs on one core; the other cores serve only the encoder and SQLite. A
recall worker is a further process on the same home. It reads the home's files like any other
process, so its answers reflect everything that was published or erased before the query. It decides
nothing, and may be killed at any time: the service itself then answers the unanswered queries. A
worker starts when several queries run at once, and ends after a minute without queries, so that an
idle service takes the memory of one process.
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

from recollect.home.memory_spans import is_tracing
from recollect.home.open_zone import OpenHome
from recollect.home.settings.configuration import CONFIG_VARIABLE
from recollect.library.library_home import Recollect
from recollect.library.library_zone import Zone
from recollect.schemas.wire import Query
from recollect.streams.system.cores import usable_cores

# Concurrent queries per worker: while one runs Python code, the questions of others are embedded.
_SOCKETS_PER_WORKER = 3
#: Another worker is started when this many queries run in the service itself.
START_THRESHOLD = 4
_MAX_IDLE_SECONDS = 60.0
_START_TIMEOUT_SECONDS = 60.0
# The delay after a failed start before the next one.
_RETRY_SECONDS = 10.0
# The size of the big-endian length before each message.
_LENGTH_BYTES = 4

_log = logging.getLogger("recollect")


class RecallRequest(msgspec.Struct, array_like=True):
    """A query to a zone. `query` None: the worker updates the zone's index after an erasure."""

    zone: str
    query: Query | None


class RecallResponse(msgspec.Struct, array_like=True):
    """The answer as JSON, and the types and ids of the memories in it.

    `answer` None: the worker could not answer, or there was no query.
    """

    answer: bytes | None = None
    found: list[tuple[str, str]] = []


def send(connection: socket.socket, message: msgspec.Struct) -> None:
    """Send a message to the other process."""
    content = msgspec.msgpack.encode(message)
    connection.sendall(len(content).to_bytes(_LENGTH_BYTES, "big") + content)


def receive(connection: socket.socket) -> bytes | None:
    """Return the next message of the other process; None once it has disconnected."""
    length = _receive_exactly(connection, _LENGTH_BYTES)
    return None if length is None else _receive_exactly(connection, int.from_bytes(length, "big"))


def _receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = connection.recv(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class _RecallWorker:
    """A worker process and its connections, one for each concurrent query."""

    def __init__(self, opened: OpenHome, seconds: float) -> None:
        pairs = [socket.socketpair() for _ in range(_SOCKETS_PER_WORKER)]
        self.free = [ours for ours, _ in pairs]
        self.connections = list(self.free)
        theirs = [end.fileno() for _, end in pairs]
        home, config = opened.home.directory, opened.home.configuration.explicit_file
        command = [sys.executable, "-m", "recollect.service.work.recall_worker_main"]
        try:
            self.process = subprocess.Popen(
                [*command, str(home), opened.ledger or "", *map(str, theirs)],
                env={**os.environ, **({} if config is None else {CONFIG_VARIABLE: str(config)})},
                pass_fds=theirs,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # Tracebacks may quote memories.
                stderr=subprocess.DEVNULL,
                # Ctrl-C must reach only the service, which then ends its workers.
                start_new_session=True,
            )
        except OSError:
            self._disconnect()
            raise
        finally:
            for _, end in pairs:
                end.close()
        for connection in self.connections:
            connection.settimeout(seconds)
        self.last_used = time.monotonic()

    def wait_until_ready(self) -> bool:
        """Wait until the worker is ready; return False if it does not say so in time."""
        first = self.connections[0]
        before = first.gettimeout()
        first.settimeout(_START_TIMEOUT_SECONDS)
        try:
            return receive(first) is not None
        except OSError:
            return False
        finally:
            first.settimeout(before)

    def close(self) -> None:
        """Disconnect, and kill the process if it does not end within a second."""
        self._disconnect()
        try:
            self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _disconnect(self) -> None:
        for connection in self.connections:
            connection.close()


class RecallWorkers:
    """The recall workers of a home. Any thread may call any method."""

    def __init__(self, recollect: Recollect, max_workers: int, seconds: float) -> None:
        """`seconds`: the timeout of a query."""
        self._home = recollect._open_home
        self._accesses = recollect._accesses
        self._max_workers = max_workers
        self._seconds = seconds
        self._changed = threading.Condition()
        self._workers: list[_RecallWorker] = []
        self._starting: threading.Thread | None = None
        self._no_start_before = 0.0
        # The number of queries running in this process.
        self._running_here = 0
        self._closed = False
        # The number of erasures so far.
        self._erasures = 0

    def recall(self, zone: Zone, query: Query) -> bytes:
        """Return a zone's answer to a query, as JSON.

        Raises:
            InvalidInput: the query is invalid.
        """
        if zone._zone.restricted_reader is not None:
            return msgspec.json.encode(zone.recall(query))
        with self._changed:
            erasures = self._erasures
            # A traced query runs here, since its spans belong to this process.
            free_connection = self._take() if self._running_here and not is_tracing() else None
            if free_connection is None:
                self._running_here += 1
                if self._running_here >= START_THRESHOLD:
                    self._start_another()
        if free_connection is None:
            try:
                return msgspec.json.encode(zone.recall(query))
            finally:
                with self._changed:
                    self._running_here -= 1
        response = self._request(*free_connection, RecallRequest(zone.name, query))
        with self._changed:
            # After an erasure, the answer may contain erased memories.
            is_current = erasures == self._erasures
        if response is None or response.answer is None or not is_current:
            return msgspec.json.encode(zone.recall(query))
        if self._accesses is not None:
            self._accesses.count(zone.name, response.found)
        return response.answer

    def follow(self, zone: str) -> None:
        """Update a zone's index in all workers after an erasure; return once it is updated."""
        with self._changed:
            self._erasures += 1
            workers = list(self._workers)
        for worker in workers:
            with self._changed:
                while not worker.free and worker in self._workers:
                    self._changed.wait()
                connection = worker.free.pop() if worker in self._workers else None
            if connection is not None:
                self._request(worker, connection, RecallRequest(zone, None))

    def end_unused(self) -> None:
        """End the workers that have been idle for a minute."""
        limit = time.monotonic() - _MAX_IDLE_SECONDS
        with self._changed:
            unused = [
                worker
                for worker in self._workers
                if worker.last_used < limit and len(worker.free) == _SOCKETS_PER_WORKER
            ]
            self._workers = [worker for worker in self._workers if worker not in unused]
        for worker in unused:
            worker.close()

    def close(self) -> None:
        """End all workers; no query may follow."""
        with self._changed:
            self._closed = True
            starting = self._starting
        if starting is not None:
            starting.join()
        for worker in self._workers:
            worker.close()
        self._workers = []

    def _take(self) -> tuple[_RecallWorker, socket.socket] | None:
        """Take a connection of the worker that has the most free ones."""
        worker = max(self._workers, key=lambda worker: len(worker.free), default=None)
        return None if worker is None or not worker.free else (worker, worker.free.pop())

    def _request(
        self, worker: _RecallWorker, connection: socket.socket, request: RecallRequest
    ) -> RecallResponse | None:
        """Return a worker's response; None if the worker has ended or timed out."""
        try:
            send(connection, request)
            message = receive(connection)
            response = (
                None if message is None else msgspec.msgpack.decode(message, type=RecallResponse)
            )
        except (OSError, msgspec.MsgspecError):
            response = None
        with self._changed:
            if response is not None:
                worker.last_used = time.monotonic()
                worker.free.append(connection)
            is_lost = response is None and worker in self._workers
            if is_lost:
                self._workers.remove(worker)
                self._no_start_before = time.monotonic() + _RETRY_SECONDS
            self._changed.notify_all()
        if is_lost:
            _log.warning("a recall worker ended unexpectedly")
            worker.close()
        return response

    def _start_another(self) -> None:
        """Start a worker if another one is allowed; the caller holds the lock."""
        if (
            self._closed
            or self._starting is not None
            or len(self._workers) >= self._max_workers
            or time.monotonic() < self._no_start_before
        ):
            return
        self._starting = threading.Thread(target=self._start, name="worker-start", daemon=True)
        self._starting.start()

    def _start(self) -> None:
        worker = None
        try:
            worker = _RecallWorker(self._home, self._seconds)
            is_ready = worker.wait_until_ready()
        except OSError:
            is_ready = False
        with self._changed:
            self._starting = None
            is_used = is_ready and not self._closed
            if is_used and worker is not None:
                self._workers.append(worker)
            else:
                self._no_start_before = time.monotonic() + _RETRY_SECONDS
        if not is_used:
            if not is_ready:
                _log.warning("a recall worker did not start")
            if worker is not None:
                worker.close()


def max_recall_workers(configured: int) -> int:
    """Return the configured maximum, at most one for each core besides the service's own."""
    return max(0, min(configured, usable_cores() - 1))
