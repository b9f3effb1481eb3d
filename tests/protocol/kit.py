"""Test kit for the protocol: a home with a tiny encoder, short drafts, and queries on its files."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from recollect.projections.content import content_hash
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation
from recollect.projections.sqlite import rows
from recollect.schemas.changes import DecidedPart, Fact, encode_part
from recollect.schemas.errors import InjectedFailure, IntegrityError
from recollect.schemas.events import (
    AnyPayload,
    Content,
    Draft,
    Event,
    Forget,
    Message,
    TurnCompleted,
)
from recollect.schemas.ledger.records import (
    CHANGE_FORMAT,
    ChangeHeader,
    ChangeRecord,
    read_change,
    unseal_part,
    write_change,
)
from recollect.schemas.wire import Receipt
from recollect.streams.agents import AGENTS, Agent, Conversation, Extract, State
from recollect.streams.encoder.encoder import TokenVectors
from recollect.streams.encoder.gateway import EncoderGateway, ReaderHandle
from recollect.streams.engine.node import Node
from recollect.streams.engine.zone_driver import BATCH_SIZE, ZoneDriver
from recollect.streams.ledger import CHANGES, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.lifecycle.rebuilding import rebuild
from recollect.streams.projecting.projector import project_changes, project_events
from recollect.streams.records.chain_readers import EventReader
from recollect.streams.system import failpoints
from tests.opened import sections_of

ZONE = "z"
MODEL = "tiny"
DIMENSION = 8
#: 2026-01-05T10:00:00Z, a Monday.
START = 1_767_607_200_000
MINUTE = 60_000
DAY = 86_400_000


def vector_of(text: str) -> npt.NDArray[np.float32]:
    """Return a unit vector made from eight bytes of a text's hash."""
    raw = np.frombuffer(hashlib.blake2b(text.encode(), digest_size=DIMENSION).digest(), np.uint8)
    vector = raw.astype(np.float32) + np.float32(1)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class TinyEncoder:
    """An encoder whose vectors are hashes."""

    model = MODEL
    dimension = DIMENSION

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.stack([vector_of(text) for text in texts])

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        return vector_of(text)

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [self.encode_query_tokens(text) for text in texts]

    def encode_query_tokens(self, text: str) -> TokenVectors:
        words = list(re.finditer(r"\w+", text))
        return TokenVectors(
            ids=np.zeros(len(words), np.int32),
            offsets=np.array([word.span() for word in words], np.int32).reshape(-1, 2),
            vectors=np.array([vector_of(word[0]) for word in words], np.float32).reshape(
                -1, DIMENSION
            ),
            pooled=vector_of(text),
        )

    def count_tokens(self, text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    def close(self) -> None:
        pass


@contextmanager
def in_memory() -> Iterator[Path]:
    """A temporary directory, in memory if the system allows it."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as path:
        yield Path(path)


class Home:
    """A home directory with an open node; it can be closed and opened again."""

    def __init__(
        self,
        path: Path,
        agents: Sequence[Agent] = AGENTS,
        ledger: Path | None = None,
        reader: ReaderHandle | None = None,
    ) -> None:
        """`ledger`: the home whose ledger this one uses; by default its own."""
        self.path = path
        self.reader = reader
        self.agents = agents
        self._ledger_path = ledger or path
        self.open()

    def open(self) -> None:
        self.gateway = EncoderGateway(MODEL, DIMENSION, TinyEncoder, reader=self.reader)
        self.path.mkdir(parents=True, exist_ok=True)
        self.ledger = EmbeddedLedger(self._ledger_path)
        self.node = Node(self.path, self.ledger, self.gateway, self.agents)

    def close(self) -> None:
        self.node.close()

    def restart(self, agents: Sequence[Agent] | None = None) -> None:
        """Close and open the node, as a new process would."""
        self.close()
        self.agents = self.agents if agents is None else agents
        self.open()

    def publish(self, *drafts: Draft, zone: str = ZONE) -> list[Receipt]:
        return self.ledger.publish(zone, drafts)

    def drive(self, zone: str = ZONE) -> int:
        return self.node.drive(zone)

    def tell(self, *drafts: Draft) -> list[Receipt]:
        """Publish and decide."""
        receipts = self.publish(*drafts)
        self.drive()
        return receipts

    @contextmanager
    def files(self, zone: str = ZONE) -> Iterator[ZoneFiles]:
        with self.node.open(zone, self.node.current(zone)) as files:
            yield files

    @contextmanager
    def driver(
        self, files: ZoneFiles | None = None, batch: int = BATCH_SIZE, zone: str = ZONE
    ) -> Iterator[ZoneDriver]:
        """Return a driver of the generation in use, on its own files or on others."""
        generation = self.node.current(zone)
        with self.node.open(zone, generation) as own:
            yield ZoneDriver(
                self.ledger,
                zone,
                generation.chain,
                files or own,
                self.gateway,
                self.node.journal,
                agents=self.agents,
                batch=batch,
            )

    def rows(self, model: str, sql: str, zone: str = ZONE) -> list[tuple[Any, ...]]:
        """Return the rows of a query on a file of the generation in use."""
        with self.files(zone) as files:
            (found,) = [item for item in files.all if item.name == model]
            return rows(found.connection, sql)

    def facts(self, zone: str = ZONE) -> list[tuple[int, str]]:
        """Return (number of the source event, sentence) of every fact, sorted."""
        numbers = {
            str(event): int(number)
            for number, event in self.rows("events", "SELECT number, id FROM events", zone)
        }
        return sorted(
            (numbers.get(source, -1), str(text).split(": ", 1)[-1])
            for source, text in self.rows("memory", "SELECT source_event_id, text FROM facts", zone)
        )

    def current_facts(self) -> list[str]:
        """Return the sentences of the facts that are not superseded."""
        return sorted(
            str(text).split(": ", 1)[-1]
            for (text,) in self.rows(
                "memory",
                "SELECT text FROM facts WHERE id NOT IN (SELECT fact_id FROM fact_supersessions)",
            )
        )

    def letters(self) -> list[tuple[int, str, str, str]]:
        """Return (number, kind, reason, state) of every record that was ever parked."""
        return [
            (int(number), str(kind), str(reason), str(state))
            for number, kind, reason, state in self.rows(
                "memory", "SELECT number, kind, reason, state FROM dead_letters ORDER BY number"
            )
        ]

    def changes(self, zone: str = ZONE) -> list[tuple[ChangeHeader, ChangeRecord]]:
        """Return every change record of a zone, void ones included."""
        found = self.ledger.read(CHANGES, partition_of(zone), 0, 1_000_000, zone)
        return [read_change(record.value) for record in found]

    def readable_parts(self, zone: str = ZONE) -> bytes:
        """Return the text of all change parts that can be unsealed, of every chain."""
        texts = []
        for _, record in self.changes(zone):
            for part in record.parts:
                keys = self.ledger.keys.get([source.key_id for source in part.sources])
                # A copy at another place of the chain is sealed for its own.
                with suppress(IntegrityError):
                    if (text := unseal_part(record, part, keys)) is not None:
                        texts.append(sections_of(text))
        return b"\n".join(texts)


def tell_dying(home: Home, drafts: Sequence[Draft], name: str, every: int) -> None:
    """Tell drafts one at a time, to a process that dies at a failpoint now and then.

    It dies at the third of every few drafts, and is told that draft again.
    """
    for place, draft in enumerate(drafts):
        if place % every == 2:
            failpoints.arm(name)
            with pytest.raises(InjectedFailure):
                home.tell(draft)
            failpoints.disarm()
            home.restart()
        home.tell(draft)


def hashes_of(files: ZoneFiles) -> dict[str, str]:
    """Return the content hash of each file."""
    return {model.name: content_hash(model) for model in files.all}


def live(home: Home, zone: str = ZONE) -> dict[str, str]:
    """Return the hashes of the files in use."""
    with home.files(zone) as files:
        return hashes_of(files)


def projected(home: Home, zone: str = ZONE, generation: Generation | None = None) -> dict[str, str]:
    """Return the hashes of files newly projected from the topics, as by a late replica."""
    chain = (generation or home.node.current(zone)).chain
    with (
        TemporaryDirectory(dir=home.path.parent) as scratch,
        ZoneFiles(Path(scratch), MODEL, DIMENSION) as files,
    ):
        project_events(home.ledger, zone, files)
        project_changes(home.ledger, zone, chain, files)
        return hashes_of(files)


@contextmanager
def copy_of(home: Home) -> Iterator[Home]:
    """A copy of a home."""
    with TemporaryDirectory(dir=home.path.parent) as scratch:
        path = Path(scratch) / "home"
        shutil.copytree(home.path, path)
        copy = Home(path, home.agents, reader=home.reader)
        try:
            yield copy
        finally:
            copy.close()


def derived(home: Home, zone: str = ZONE) -> dict[str, str]:
    """Return the hashes after deciding everything again, in a copy of the home."""
    with copy_of(home) as copy:
        rebuild(copy.node, zone, "derive")
        return live(copy, zone)


def agree(home: Home, zone: str = ZONE) -> dict[str, str]:
    """Check that files in use, a late replica and a derived copy are equal; return hashes."""
    ours = live(home, zone)
    assert projected(home, zone) == ours, "a replica differs"
    assert derived(home, zone) == ours, "deciding again differs"
    return ours


def say(
    text: str,
    id: str,
    *,
    by: str = "Ada",
    at: int = START,
    thread: str | None = None,
    turn: str | None = None,
    out: bool = False,
    ingested_at: int = START,
) -> Draft:
    """Return a message, ingested at START so that rows of two events can be equal."""
    return Draft(
        platform="chat",
        occurred_at=at,
        ingested_at=ingested_at,
        payload=Message(
            source_id=id,
            sender_id=by.lower(),
            sender_name=by,
            content=text,
            thread_id=thread,
            turn_id=turn,
            direction="out" if out else "in",
        ),
    )


def complete(turn: str, id: str, *, thread: str | None = None, at: int = START) -> Draft:
    """Return the end of a turn."""
    return Draft(
        platform="chat",
        occurred_at=at,
        ingested_at=START,
        payload=TurnCompleted(
            source_id=id, sender_id="agent", content="", turn_id=turn, thread_id=thread
        ),
    )


def command(payload: AnyPayload, at: int = START) -> Draft:
    """Return a command."""
    return Draft(platform="recollect", occurred_at=at, ingested_at=START, payload=payload)


def forget(*numbers: int, at: int = START) -> Draft:
    """Return the command that erases events."""
    name = "forget:" + ",".join(map(str, numbers)) + f":{at}"
    return command(Forget(source_id=name, targets=numbers), at)


class Switch(msgspec.Struct):
    """Whether `Poisoned` fails at the moment."""

    on: bool = True


class Poisoned:
    """An agent that fails on records that contain a word; `where` is the step that fails."""

    kinds = frozenset({"message", "turn_completed", "remember", "edit"})

    def __init__(
        self,
        word: str,
        switch: Switch | None = None,
        where: str = "resolve",
        act: Callable[[Event], None] | None = None,
    ) -> None:
        self.word = word
        self.switch = switch or Switch()
        self.where = where
        self._act = act

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        if self.where == "extract":
            self._check(event)
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        if self.where == "resolve":
            self._check(event)
        return []

    def _check(self, event: Event) -> None:
        assert isinstance(event.payload, Content)
        if self.switch.on and self.word in event.payload.content:
            if self._act is not None:
                self._act(event)
            raise ValueError(f"cannot swallow {event.payload.content!r}")


class Meddler:
    """An agent that decides nothing, and calls a function once while it handles a record."""

    kinds = frozenset({"message", "turn_completed", "remember"})

    def __init__(self, source_id: str, act: Callable[[], object], where: str = "resolve") -> None:
        self._source_id = source_id
        self._act: Callable[[], object] | None = act
        self._where = where

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        self._at("extract", event)
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        self._at("resolve", event)
        return []

    def _at(self, where: str, event: Event) -> None:
        act = self._act
        if act is not None and where == self._where and event.payload.source_id == self._source_id:
            self._act = None
            act()


def forge(
    home: Home,
    number: int,
    previous: bytes | None = None,
    text: str = "Ghosts live here.",
    commands: Sequence[Draft] = (),
) -> None:
    """Append a change record for event `number` that decides a ghost.

    `previous` is that of no record unless it is given.
    """
    reader = EventReader(home.ledger, ZONE)
    opened = reader.read(1_000)[number - 1]
    fact = Fact(f"ghost{number}", text, None, START, START, "nobody", "{}", START, "ghost")
    part = DecidedPart((number,), puts=[fact], outbox=list(commands))
    header = ChangeHeader(
        format=CHANGE_FORMAT,
        chain=home.node.current(ZONE).chain,
        zone=ZONE,
        number=number,
        event_hash=opened.hash,
        event_offset=opened.offset,
        previous=previous or hashlib.sha256(b"of no record").digest(),
        is_parked=False,
        command_count=len(commands),
        erased_events=(),
    )
    assert opened.key is not None
    value = write_change(
        header,
        [((opened.source,), encode_part(part))],
        {opened.source.key_id: opened.key},
    )
    home.ledger.append(CHANGES, ZONE, [value])


def files_holding(home: Path, *needles: bytes) -> list[str]:
    """Return the files below a home that hold one of these byte strings."""
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if any(needle in content for needle in needles):
                found.append(str(path.relative_to(home)))
    return found
