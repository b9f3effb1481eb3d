"""The load: what is published to the inbox and through the command line, and what is forgotten.

Most events go to the inbox with plain aiokafka, as any client would send them: with copies of
earlier ones, some that say something else under a known id, and records that nobody can read.
Beside it the real command ingests files, in part the very events that the inbox is given at the
same moment, so that two sequencers meet; it forgets some, and ticks close turns. The clocks of
both publishers jump: a client stamps its records with the time that it takes for the right one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaProducer

from recollect.schemas.errors import RecollectError
from recollect.schemas.events import Draft, Tick
from recollect.streams.agents.turn_closer import CLOSE_TURNS
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from tests.kill.commands import Ended, Wrong
from tests.kill.world import START_MS
from tests.storm.damage import clocks
from tests.storm.process import Recollect
from tests.storm.verification.topics import PARTITIONS
from tests.storm.verification.truth import (
    INBOX,
    Forgotten,
    Notes,
    Refused,
    Said,
    Unsure,
    digest_of,
)
from tests.storm.world import Line, World

# Of the inbox's records: shares that are no new event.
_COPIES, _CONFLICTS, _MALFORMED = 0.06, 0.01, 0.015
# Of the new ones, the share that may be forgotten.
_FORGETTABLE = 0.04
_SLICE_SECONDS = 0.1
# Between two jumps of the publishers' clocks.
_JUMP_SECONDS = 5.0
_MAX_INBOX_BYTES = 1_100_000
_HOUR_MS = 3_600_000
# An event is forgotten, or said otherwise, when it has been there for a while.
SETTLED_SECONDS = 5.0
# A command that takes so long hangs; it is killed, and given again.
_MAX_SECONDS = 120.0


@dataclass(frozen=True)
class Sent:
    """An event that the broker has acknowledged; `token` is a word that no other has."""

    zone: str
    line: Line
    token: str | None
    at: float


@dataclass
class Counts:
    """What the load did."""

    inbox: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    #: Commands that failed, and were given again: what they said.
    retried: list[str] = field(default_factory=list)


class Inbox:
    """Publishes to the inbox in a thread of its own, and notes what is acknowledged."""

    def __init__(self, servers: str, world: World, notes: Notes, counts: Counts, seed: int) -> None:
        self._servers = servers
        self._world = world
        self._notes = notes
        self._counts = counts
        self._draw = random.Random(f"inbox {seed}")
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._extra: list[tuple[str, Line]] = []
        self._zone_of_turn: dict[str, str] = {}
        #: Events that were acknowledged.
        self.sent: list[Sent] = []
        #: Records a second; 0 rests.
        self.rate = 0.0
        # By how many seconds its clock is off.
        self._off = 0.0
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="inbox", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Publish nothing more, and return when all is acknowledged."""
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def also(self, zone: str, lines: list[Line]) -> None:
        """Publish these lines as well, soon."""
        with self._lock:
            self._extra += [(zone, line) for line in lines]

    def _run(self) -> None:
        try:
            asyncio.run(self._publish())
        except BaseException as error:
            self._failure = error

    async def _publish(self) -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._servers,
            acks="all",
            enable_idempotence=True,
            max_request_size=2 * _MAX_INBOX_BYTES,
            max_batch_size=_MAX_INBOX_BYTES,
        )
        await producer.start()
        waiting: set[asyncio.Task[None]] = set()
        due, last = 0.0, time.monotonic()
        jump_at = last + _JUMP_SECONDS
        try:
            while not self._ended.is_set() or self._extra:
                await asyncio.sleep(_SLICE_SECONDS)
                now = time.monotonic()
                if now > jump_at:
                    jump_at = now + _JUMP_SECONDS
                    self._off = clocks.another(self._draw, self._off)
                    self._counts.inbox["jumps of its clock"] += 1
                # What a broken broker held up is not made good.
                due, last = min(due + (now - last) * self.rate, self.rate), now
                with self._lock:
                    extra, self._extra = self._extra, []
                sends = [self._line(producer, zone, line) for zone, line in extra]
                while due >= 1:
                    due -= 1
                    sends.append(self._next(producer))
                for send in sends:
                    # In this order: the first step of each puts its record in line.
                    waiting.add(asyncio.ensure_future(send))
                waiting = {task for task in waiting if not self._over(task)}
            await asyncio.gather(*waiting)
        finally:
            await producer.stop()

    @staticmethod
    def _over(task: asyncio.Task[None]) -> bool:
        if task.done():
            task.result()
        return task.done()

    def _next(self, producer: AIOKafkaProducer) -> Coroutine[Any, Any, None]:
        world = self._world
        chance = world.chance()
        earlier = world.choice(self.sent) if self.sent else None
        if earlier is not None and earlier.at < time.monotonic() - SETTLED_SECONDS:
            if chance < _COPIES:
                self._counts.inbox["copies"] += 1
                return self._line(producer, earlier.zone, earlier.line, earlier.token)
            if chance < _COPIES + _CONFLICTS and earlier.line["content"] and not earlier.token:
                return self._conflict(producer, earlier)
        self._counts.inbox["new"] += 1
        if chance > 1 - _MALFORMED:
            self._counts.inbox["new"] -= 1
            return self._malformed(producer)
        zone = world.zone()
        if chance > 1 - _MALFORMED - _FORGETTABLE:
            line, token = world.forgettable()
            return self._line(producer, zone, line, token)
        line = world.line()
        if "turn_id" in line:
            zone = self._zone_of_turn.setdefault(line["turn_id"], zone)
        return self._line(producer, zone, line)

    async def _line(
        self, producer: AIOKafkaProducer, zone: str, line: Line, token: str | None = None
    ) -> None:
        body = json.dumps(line).encode()
        metadata = await self._send(producer, zone.encode(), body)
        if metadata is None:
            self._notes.add(Unsure(zone, line["platform"], line["id"]))
            return
        self._notes.add(_held(zone, line, INBOX, metadata.offset))
        self.sent.append(Sent(zone, line, token, time.monotonic()))

    async def _conflict(self, producer: AIOKafkaProducer, earlier: Sent) -> None:
        line = {**earlier.line, "content": f"{earlier.line['content']} This was never said."}
        body, key = json.dumps(line).encode(), earlier.zone.encode()
        if await self._send(producer, key, body) is not None:
            self._counts.inbox["conflicts"] += 1
            self._notes.add(Refused(earlier.zone, key, body, (line["platform"], line["id"])))

    async def _malformed(self, producer: AIOKafkaProducer) -> None:
        zone, key, body = self._world.malformed()
        if await self._send(producer, key, body) is not None:
            self._counts.inbox["malformed"] += 1
            self._notes.add(Refused(zone, key, body))

    async def _send(self, producer: AIOKafkaProducer, key: bytes | None, body: bytes) -> Any:
        """Publish a record; return where it is, or None where that is not known."""
        try:
            at = int((time.time() + self._off) * 1_000)
            return await (await producer.send(INBOX, body, key, timestamp_ms=at))
        except Exception as error:
            self._counts.inbox[f"not acknowledged ({type(error).__name__})"] += 1
            return None


class Commands:
    """Gives commands in a thread of its own, one after the other, each until it has succeeded."""

    def __init__(
        self,
        url: str,
        recollect: Recollect,
        world: World,
        inbox: Inbox,
        notes: Notes,
        counts: Counts,
        seed: int,
        say: Callable[[str], None],
    ) -> None:
        self._say = say
        self._url = url
        self._recollect = recollect
        self._directory = recollect.home.parent
        self._world = world
        self._inbox = inbox
        self._notes = notes
        self._counts = counts
        self._draw = random.Random(f"commands {seed}")
        self._ended = threading.Event()
        self._files = 0
        self._ticks = 0
        self._forgotten: set[str] = set()
        self._unsure: list[Forgotten] = []
        self._late = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="commands", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Give no further command, and return when the last one has succeeded."""
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def settle(self) -> bool:
        """Forget what was not there when it should be forgotten, now that all of it is; or had an
        earlier try erased it? Return whether there was any."""
        for gone in self._unsure:
            self._erase(gone)
            self._notes.add(gone)
        return bool(self._unsure)

    def begin_late(self) -> None:
        """Forget events and close turns as well, from now on."""
        self._late = True

    def _run(self) -> None:
        turns = itertools.cycle((self._forget, self._tick, self._forget, self._ingest))
        try:
            while not self._ended.wait(self._draw.uniform(0.5, 2.0)):
                self._jump()
                (next(turns) if self._late else self._ingest)()
        except BaseException as error:
            self._failure = error

    def _jump(self) -> None:
        clock = self._recollect.clock
        if clock is not None:
            clock.jump(clocks.another(self._draw, clock.off))
            self._counts.commands["jumps of its clock"] += 1

    def _ingest(self) -> None:
        """Ingest a file, and let the inbox be given a part of it at the same time."""
        zone = self._world.zone()
        lines = [line for line in (self._world.line() for _ in range(12)) if "turn_id" not in line]
        self._files += 1
        path = self._directory / f"file-{self._files}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self._inbox.also(zone, [line for line in lines if self._draw.random() < 0.3])
        wait = () if self._draw.random() < 0.2 else ("--no-wait",)
        try:
            ended = self._until_done("ingest", str(path), "--zone", zone, *wait)
        except Wrong:
            self._notes.add(*(Unsure(zone, line["platform"], line["id"]) for line in lines))
            raise
        assert ended is not None
        counts = ended.json()
        if counts["new"] + counts["duplicate"] != len(lines):
            raise Wrong(f"{path.name} has {len(lines)} events, but ingest says {counts}")
        self._notes.add(*(_held(zone, line, path.name, at) for at, line in enumerate(lines)))

    def _forget(self) -> None:
        settled = time.monotonic() - SETTLED_SECONDS
        known = [
            sent
            for sent in self._inbox.sent
            if sent.token and sent.at < settled and sent.token not in self._forgotten
        ]
        if not known:
            return
        sent = self._draw.choice(known)
        assert sent.token is not None
        self._forgotten.add(sent.token)
        gone = Forgotten(sent.zone, sent.line["platform"], sent.line["id"], sent.token)
        if self._erase(gone):
            self._notes.add(gone)
        else:
            self._unsure.append(gone)

    def _erase(self, gone: Forgotten) -> bool:
        """Forget an event; return False where it is not there: not yet, or not any more."""
        arguments = ("forget", gone.id, "--platform", gone.platform, "--zone", gone.zone)
        return self._until_done(*arguments, unless="holds no event") is not None

    def _tick(self) -> None:
        """Close the turns that nobody ended, in a few zones."""
        self._ticks += 1
        at = START_MS + (24 + self._ticks) * _HOUR_MS
        payload = Tick(source_id=f"tick:{CLOSE_TURNS}:{self._ticks}", name=CLOSE_TURNS)
        draft = Draft(platform="recollect", occurred_at=at, ingested_at=at, payload=payload)
        ledger = KafkaLedger(KafkaSettings.read(self._url, {}), self._directory / "ticks")
        try:
            for zone in self._draw.sample(self._world.zones, PARTITIONS):
                ledger.publish(zone, [draft])
            self._counts.commands["tick"] += 1
        except RecollectError as error:
            self._counts.retried.append(f"tick: {error}")
            self._say(self._counts.retried[-1])
        finally:
            ledger.close()

    def _until_done(self, *arguments: str, unless: str = "") -> Ended | None:
        """Run a command until it succeeds; None where it fails and says `unless`."""
        name = arguments[0]
        given_up = 0.0
        while True:
            ended = self._recollect.run([*arguments, "--json"], kill_after=_MAX_SECONDS)
            if ended.status == 0:
                self._counts.commands[name] += 1
                return ended
            if unless and unless in ended.errors:
                return None
            said = ended.errors.strip()[-300:]
            self._counts.retried.append(f"{name} after {ended.seconds:.0f} s: {said}")
            self._say(self._counts.retried[-1])
            if self._ended.is_set():
                given_up = given_up or time.monotonic() + _MAX_SECONDS
                if time.monotonic() > given_up:
                    raise Wrong(f"recollect {' '.join(arguments)} never succeeds: {said}")
            time.sleep(1)


def _held(zone: str, line: Line, where: str, at: int) -> Said:
    return Said(zone, line["platform"], line["id"], digest_of(line["content"]), where, at)
