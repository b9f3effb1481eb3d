"""The scan over a broker's directory and the home of a worker, while both are at work."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest.mock import patch

import msgspec
from aiokafka.record import MemoryRecords

from recollect.home.home_directory import Home
from recollect.operations.processes.worker_processes import work
from tests.broker.fixture import SCHEME
from tests.broker.kafka import Broker
from tests.kafka.kit import PATIENCE, Recollect, bounds_of, post, wait_until
from tests.memory import Memory
from tests.recall.kit import EncodedHome
from tests.residue.collecting import keys_of, traces_of
from tests.residue.needles import Place, Search
from tests.residue.steps import (
    EVERY_STORED,
    Residue,
    Say,
    apart,
    ask,
    ask_again,
    forget,
    store_indexes,
    verify,
    with_memory,
)
from tests.residue.world import Line, World

#: What production does in ten minutes; Kafka looks as often as it does by default, or more often.
ERASE_SECONDS = 6
_LOOKS = {"log.retention.check.interval.ms": "500"}
_ZONE = "default"
# A file system may keep the bytes of a file this small without a block.
_SMALL = 65_536
Step = Callable[[Memory], object]
#: Kinds of which every trace stands on the broker's disk: in the inbox until the message is taken
#: in, or among the keys until it is forgotten.
EVERY_ON_DISK = (
    *("word", "name", "handle", "source id", "thread", "turn", "metadata"),
    *("key",),
)


def run(room: Path, world: World, say: Say) -> Residue:
    """Have a worker take in what is published, forget, and look after each step."""
    store_indexes(len(world.lines))
    broker = Broker(room / "broker", extra=_LOOKS)
    node = _Node(room / "home", f"{SCHEME}{broker.address}", room / "worker.log")
    scan = _Scan(broker, world, say)
    with patch.dict(os.environ, node.recollect.environment(), clear=True):
        try:
            broker.start()
            scan.run(node, room)
        finally:
            node.kill()
            broker.kill()
    return scan.residue


class _Node:
    """A home on the ledger, and its worker, a process that is only ever killed."""

    def __init__(self, home: Path, url: str, log: Path) -> None:
        self.recollect = Recollect(home, url, RECOLLECT_KAFKA_ERASE_SECONDS=str(ERASE_SECONDS))
        self._log = log
        self._worker: BaseProcess | None = None
        Home.create_or_open(home, without_encoder=True)

    @property
    def home(self) -> Path:
        return self.recollect.home

    def start(self) -> None:
        """Start the worker, and return when it beats."""
        heartbeat = self.home / "heartbeat"
        heartbeat.unlink(missing_ok=True)
        self._worker = multiprocessing.get_context("fork").Process(
            target=_work, args=(self.home, self._log)
        )
        self._worker.start()
        wait_until(heartbeat.exists, self.said)

    def kill(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.join()
            self._worker = None

    def said(self) -> str:
        """Return the end of what the worker said."""
        return self._log.read_text("utf-8", "replace")[-3_000:] if self._log.exists() else ""


def _work(home: Path, log: Path) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with log.open("ab") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    work(EncodedHome(home), lambda zone, moved: print(zone, repr(moved), flush=True))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class _Scan:
    def __init__(self, broker: Broker, world: World, say: Say) -> None:
        self.residue = Residue()
        self._broker = broker
        self._world = world
        self._say = say

    def run(self, node: _Node, room: Path) -> None:
        world, url = self._world, node.recollect.url
        self._do("the topics are made", node.home, lambda memory: memory.status())
        _publish(url, world.lines)
        # Which of it could be found is known only when it has been decided.
        inbox = [(path, raw) for path, raw in _read(self._broker.data) if "inbox-" in str(path)]
        node.start()
        node.recollect.wait_for(_ZONE, len(world.lines), seconds=20 * PATIENCE)
        token = room / "token"
        self._do("asked", node.home, lambda memory: _fill(memory, world, token))
        traces = traces_of(node.home, world.gone, keys_of(node.home / "copy"))
        search = Search(traces)
        on_disk = [*_found(search, inbox), *_found(search, _read(self._broker.directory))]
        self.residue.begin(traces, [*on_disk, *_found(search, _read(node.home))])
        self._proves(on_disk)
        self._say(f"{len(world.lines)} events, {len(traces)} traces of what is to be forgotten")

        given = token.read_text()

        def again(memory: Memory) -> None:
            ask_again(memory, world, given)

        steps: list[tuple[str, list[Step]]] = [
            ("forgotten", [lambda memory: forget(memory, world), again]),
            ("rebuilt from the rows", [lambda memory: memory.rebuild("index")]),
            ("rebuilt from the changes", [lambda memory: memory.rebuild("project"), again]),
            ("derived again", [lambda memory: memory.rebuild("derive"), again]),
            ("rolled back", [lambda memory: memory.rollback(), again]),
        ]
        for name, parts in steps:
            for part in parts:
                self._do(name, node.home, part)
            self._look(name, search, node.home)
        _publish(url, world.lines)
        wait_until(lambda: _taken(url), node.said, 20 * PATIENCE)
        self._look("published again", search, node.home)
        node.kill()
        self._broker.kill()
        self._broker.start()
        node.start()
        more = world.lines[-1] | {"id": "after-the-restart", "content": "The kettle is blue."}
        _publish(url, [more])
        wait_until(lambda: "after-the-restart" in node.recollect.events(), node.said, 2 * PATIENCE)
        self._do("asked", node.home, lambda memory: ask_again(memory, world, given))
        self._look("broker and worker restarted", search, node.home)
        late = room / "late"
        Home.create_or_open(late, without_encoder=True)
        self._do("a new home", late, _drive_and_verify)
        self._look("a new home, verified", search, node.home, late)

    def _proves(self, on_disk: Sequence[Place]) -> None:
        """Note what the search does not find though it stands on the broker's disk, or must."""
        there = {place.trace for place in on_disk}
        for kind in EVERY_ON_DISK:
            found = sum(trace.kind == kind for trace in there)
            if found != self.residue.looked_for[kind]:
                self.residue.wrong.append(
                    f"of {self.residue.looked_for[kind]} traces ({kind}) the search finds {found} "
                    "on the broker's disk before anything is forgotten"
                )
        for kind in EVERY_STORED:
            if not self.residue.there[kind]:
                self.residue.wrong.append(f"recall's stored index holds no trace ({kind}) before")

    def _do(self, name: str, home: Path, step: Step) -> None:
        """Do something in a process that is killed as soon as it has done."""
        if status := apart(with_memory, home, step):
            self.residue.wrong.append(f"{name}: ended with {status}")

    def _look(self, name: str, search: Search, *homes: Path) -> None:
        """Look until nothing is left, or the time in which it must be gone is long over."""
        began = time.monotonic()
        while True:
            found = {
                where: list(_found(search, self._counted(_read(*directories))))
                for where, directories in (
                    ("on the broker's disk", [self._broker.directory]),
                    ("in the home", homes),
                )
            }
            places = [place for each in found.values() for place in each]
            seconds = time.monotonic() - began
            if not places or seconds > ERASE_SECONDS + PATIENCE:
                break
            time.sleep(0.2)
        self.residue.left += [(name, place) for place in places]
        counts = ", ".join(f"{len(each)} {where}" for where, each in found.items())
        self._say(f"{name:28} {counts} after {seconds:.1f} s")

    def _counted(self, files: Iterator[tuple[Path, bytes]]) -> Iterator[tuple[Path, bytes]]:
        for path, raw in files:
            self.residue.bytes_read += len(raw)
            yield path, raw


def _publish(url: str, lines: Sequence[Line]) -> None:
    """Publish lines into the inbox, with words as they are said and not as escapes."""
    post(url, "inbox", [(_ZONE.encode(), msgspec.json.encode(line)) for line in lines])


def _taken(url: str) -> bool:
    """Return whether the inbox holds no messages, but perhaps one that is a marker."""
    return all(end - start <= 1 for start, end in bounds_of(url, "inbox"))


def _fill(memory: Memory, world: World, said: Path) -> None:
    token = memory.consistency_token()
    ask(memory, world, token)
    # What is forgotten is in the generation before, and in a moment of the past.
    memory.rebuild("project")
    ask(memory, world, token)
    said.write_text(token)


def _drive_and_verify(memory: Memory) -> None:
    memory.drive()
    verify(memory)


def _read(*directories: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield files below directories, whose owners are at work; a segment's also as its records."""
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            try:
                raw = path.read_bytes() if path.is_file() and _is_written(path) else b""
            except FileNotFoundError:
                continue
            yield path, raw
            if ".log" in path.name and path.parent.name.rpartition("-")[2].isdigit():
                yield path, _unpacked(raw)


def _is_written(path: Path) -> bool:
    """Return whether a file has blocks: the broker's indexes have a size before they have any."""
    file = path.stat()
    return bool(file.st_blocks) or file.st_size < _SMALL


def _unpacked(raw: bytes) -> bytes:
    """Return the keys and values of all records of a segment's file."""
    batches, parts = MemoryRecords(raw), []
    while batches.has_next():
        batch = batches.next_batch()
        assert batch is not None
        parts += [part for record in batch for part in (record.key, record.value) if part]
    return b"\n".join(parts)


def _found(
    search: Search, files: Iterator[tuple[Path, bytes]] | Sequence[tuple[Path, bytes]]
) -> Iterator[Place]:
    for path, raw in files:
        yield from search.bytes(raw, path)
