"""The query service on a real socket: recalls per second, latency, ingestion, start-up.

python -m bench.serving.service [--questions N] [--home DIR]
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from bench.kit.encoders import MISSING, cached_name
from bench.kit.homes import Homes
from bench.kit.made import Writer
from bench.kit.report import Report, Target, count, percentile
from bench.serving.concurrency import made_events, made_questions, print_report
from recollect import Recollect

ITEMS = 5_000
QUESTIONS = 3_000
CLIENTS = 16
# Warm-up questions, also asked concurrently, so that a recall worker starts.
_WARM = 500
MIN_PER_S, MAX_P95_MS, MAX_START_S, MAX_IDLE_MB = 200.0, 100.0, 1.5, 250.0
_ZONE = "default"
_URL = re.compile(rb'"url": ?"http://127\.0\.0\.1:(\d+)"')


class Serving:
    """A service in a process of its own."""

    def __init__(self, home: Path) -> None:
        self._began = time.perf_counter()
        command = [sys.executable, "-m", "recollect", "--home", str(home), "serve"]
        self.process = subprocess.Popen(
            [*command, "--json", "--port", "0", "--no-auth"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "RECOLLECT_REQUESTS_PER_SECOND": "0"},
        )
        assert self.process.stdout is not None
        address = _URL.search(self.process.stdout.readline())
        assert address, "the service did not start"
        self.port = int(address[1])

    def since_start(self) -> float:
        """Return the seconds since the process was started."""
        return time.perf_counter() - self._began

    def memory_mb(self) -> float:
        """Return the memory of the service and its workers in MB; shared memory counts once."""
        found = (Path(f"/proc/{id_}/smaps_rollup").read_text() for id_ in self._processes())
        return sum(int(re.findall(r"\nPss:\s+(\d+) kB", one)[0]) for one in found) / 1_000

    def resident_mb(self) -> float:
        """Return the resident memory of the process in MB, shared memory included."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) / 1_000

    def busy_ms(self) -> float:
        """Return the processor time of the service and its workers so far."""
        stats = (Path(f"/proc/{id_}/stat").read_text() for id_ in self._processes())
        ticks = sum(sum(map(int, one.rpartition(")")[2].split()[11:13])) for one in stats)
        return 1_000 * ticks / os.sysconf("SC_CLK_TCK")

    def _processes(self) -> list[int]:
        """Return the process ids of the service and its workers."""
        own = self.process.pid
        tasks = Path(f"/proc/{own}/task").glob("*/children")
        return [own, *(int(id_) for task in tasks for id_ in task.read_text().split())]

    def close(self) -> None:
        """End the service."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class _Client:
    """A persistent connection that implements only as much HTTP as is needed."""

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port))
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def post(self, path: str, body: bytes, media: str = "application/json") -> bytes:
        """Return the body of a response."""
        head = (
            f"POST /v1/zones/{_ZONE}{path} HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._connection.sendall(head.encode() + body)
        while b"\r\n\r\n" not in self._rest:
            self._receive()
        answer, _, self._rest = self._rest.partition(b"\r\n\r\n")
        assert b" 200 " in answer.partition(b"\r\n")[0], answer
        length = int(re.findall(rb"content-length: (\d+)", answer)[0])
        while len(self._rest) < length:
            self._receive()
        content, self._rest = self._rest[:length], self._rest[length:]
        return content

    def recall(self, question: str) -> bytes:
        """Return the answer to a question."""
        return self.post("/memories/recall", json.dumps({"query": question}).encode())

    def _receive(self) -> None:
        more = self._connection.recv(65_536)
        assert more, "the service closed the connection"
        self._rest += more


def run(homes: Homes, *, questions: int = QUESTIONS, kept: Path | None = None) -> Report:
    """Ingest 5,000 items over HTTP, query from 16 clients, and restart the service.

    `kept`: a home that was filled before; None: create one.
    """
    title, about = (
        "The query service",
        f"`recollect serve` runs in one process, {CLIENTS} clients with persistent connections in "
        f"another, on the same machine. {count(ITEMS)} items are sent as one NDJSON stream. Each "
        f"of {count(questions)} questions is new, is embedded, and gets 20 results. Processor time "
        "includes the service and its recall worker. The start time ends with the first answer. "
        "`idle MB` is the resident memory at that moment. `MB after` is the memory of the service "
        "and its worker after all questions, with shared memory counted once.",
    )
    columns = ["recalls/s", "p50 ms", "p95 ms", "p99 ms", "CPU ms/recall", "items/s", "decided/s"]
    columns += ["start s", "idle MB", "MB after"]
    name = cached_name()
    if name is None:
        return Report(title, about, columns, [], skipped=MISSING)
    home, writer = kept or homes.fresh(), Writer(seed=3)
    with Recollect(home, encoder=name) as made:
        filled = made.zone().exists()
    asking = made_questions(writer)
    service = Serving(home)
    items, decided = "", ""
    try:
        if not filled:
            items, decided = _ingest(service)
        per_s, latencies, busy = _measure(service, asking, questions)
        after = service.memory_mb()
    finally:
        service.close()
    service = Serving(home)
    try:
        _Client(service.port).recall(next(asking))
        start = service.since_start()
        idle = service.resident_mb()
    finally:
        service.close()
    p95 = percentile(latencies, 0.95)
    cells = [
        f"{per_s:.0f}",
        *(f"{percentile(latencies, share):.1f}" for share in (0.5, 0.95, 0.99)),
    ]
    cells += [f"{busy:.2f}", items, decided, f"{start:.2f}", f"{idle:.0f}", f"{after:.0f}"]
    return Report(
        title,
        about,
        columns,
        [cells],
        [
            Target(
                f"{CLIENTS} clients: at least {MIN_PER_S:.0f} recalls/s",
                f"{per_s:.0f}",
                per_s >= MIN_PER_S,
            ),
            Target(f"p95 of at most {MAX_P95_MS:.0f} ms", f"{p95:.0f} ms", p95 <= MAX_P95_MS),
            Target(f"a start within {MAX_START_S} s", f"{start:.2f} s", start <= MAX_START_S),
            Target(f"idle, at most {MAX_IDLE_MB:.0f} MB", f"{idle:.0f} MB", idle <= MAX_IDLE_MB),
        ],
    )


def _ingest(service: Serving) -> tuple[str, str]:
    """Send the items; return how many per second became durable, and how many were decided."""
    lines = b"\n".join(json.dumps(event).encode() for event in islice(made_events(), ITEMS))
    client = _Client(service.port)
    began = time.perf_counter()
    report = json.loads(client.post("/events", lines, "application/x-ndjson"))
    durable = time.perf_counter() - began
    assert report["new"] == ITEMS, report
    while True:
        waited = json.dumps({"token": report["token"]}).encode()
        try:
            client.post("/wait", waited)
            break
        except AssertionError:
            # Deciding takes longer than one call may wait, so wait again.
            continue
    return f"{ITEMS / durable:.0f}", f"{ITEMS / (time.perf_counter() - began):.0f}"


def _measure(
    service: Serving, asking: Iterator[str], questions: int
) -> tuple[float, list[float], float]:
    """Return the recalls per second, the ms of each, and the processor ms per recall."""
    _ask_at_once(service, [next(asking) for _ in range(_WARM)])
    some = [next(asking) for _ in range(questions)]
    began, busy = time.perf_counter(), service.busy_ms()
    latencies = _ask_at_once(service, some)
    wall = time.perf_counter() - began
    return questions / wall, latencies, (service.busy_ms() - busy) / questions


def _ask_at_once(service: Serving, questions: list[str]) -> list[float]:
    """Run all clients, each asking one question after another; return the ms of each."""
    left, drawing, latencies = iter(questions), threading.Lock(), list[float]()

    def ask() -> None:
        client = _Client(service.port)
        while True:
            with drawing:
                question = next(left, None)
            if question is None:
                return
            began = time.perf_counter()
            client.recall(question)
            latencies.append((time.perf_counter() - began) * 1e3)

    clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return latencies


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report."""
    print_report("service", __doc__, run, QUESTIONS, arguments)


if __name__ == "__main__":
    main()
