"""Zones of any size, written directly into a zone's files through their projections.

For benchmarks that read only the files; filling the ledger too would take an hour. A zone has
turns, a fact for each sentence, senders, mentioned entities, clustered vectors, and token vectors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np

from bench.kit.homes import DIMENSION, RandomEncoder
from bench.kit.made import Writer
from recollect.projections.embeddings import canonical_vectors
from recollect.projections.embeddings.token_vectors import FORMAT, code_bytes, projected_dimensions
from recollect.projections.files import ZoneFiles
from recollect.projections.readmodel import Watermark
from recollect.projections.sqlite import rows
from recollect.schemas.changes import (
    Embedding,
    Entity,
    Fact,
    FactEntity,
    Handle,
    Mention,
    Row,
    Section,
    TokenVectorsRow,
)
from recollect.schemas.events import Event, Message
from recollect.schemas.names import normalise_name

# Turns per transaction.
_BATCH = 2_000
_CLUSTERS = 4_000
# The distance of a vector from the centre of its cluster, relative to the cluster's length.
_SPREAD = 0.8
_NAME = re.compile(r"\b[A-Z][a-z]+\b")
_SENTENCE = re.compile(r"[^.]+\.")
_WORD = re.compile(r"\w{4,}")


def fill(directory: Path, count: int) -> None:
    """Write a zone of `count` turns into a directory."""
    # vec0's index stays empty, since it would double the time and the space, and recall does not
    # use it.
    with ZoneFiles(directory, None, DIMENSION) as files:
        turns = _turns(count)
        made = _Made()
        while some := list(islice(turns, _BATCH)):
            _write(files, some, made)
    with ZoneFiles(directory, RandomEncoder.model, DIMENSION) as files:
        files.embeddings.connection.execute(files.embeddings.index_schema())


def open_to_read(directory: Path) -> ZoneFiles:
    """Open the files of `fill` as recall does."""
    return ZoneFiles(directory, RandomEncoder.model, DIMENSION, readonly=True)


def forget(files: ZoneFiles, numbers: Sequence[int]) -> None:
    """Delete turns and everything derived from them, as the change record of an erasure does."""
    ids = json.dumps([_id(number) for number in numbers])
    memory, embeddings = files.memory.connection, files.embeddings.connection
    for model in files.all:
        model.connection.execute("BEGIN IMMEDIATE")
    turns = "(SELECT value FROM json_each(?))"
    facts = rows(memory, f"SELECT id FROM facts WHERE source_event_id IN {turns}", (ids,))
    targets = json.dumps([*map(_id, numbers), *(id_ for (id_,) in facts)])
    files.events.connection.execute(f"DELETE FROM events WHERE id IN {turns}", (ids,))
    files.identity.connection.execute(f"DELETE FROM mentions WHERE event_id IN {turns}", (ids,))
    memory.execute(f"DELETE FROM fact_entities WHERE fact_id IN {turns}", (targets,))
    memory.execute(f"DELETE FROM facts WHERE id IN {turns}", (targets,))
    for table in ("embeddings", "token_vectors"):
        embeddings.execute(f"DELETE FROM {table} WHERE target_id IN {turns}", (targets,))
    for model in files.all:
        mark = model.watermark()
        model.set_watermark(
            msgspec.structs.replace(mark, number=mark.number + 1, offset=mark.offset + 1)
        )
        model.connection.execute("COMMIT")


class _Made:
    """The entities (by name) and the vector clusters created so far."""

    def __init__(self) -> None:
        self.entities: set[str] = set()
        self.random = np.random.Generator(np.random.SFC64(5))
        self.clusters = self.random.standard_normal((_CLUSTERS, DIMENSION), np.float32)

    def vectors(self, count: int) -> list[bytes]:
        """Return canonical vectors, each near the centre of a cluster."""
        clusters = self.clusters[self.random.integers(0, _CLUSTERS, count)]
        vectors = clusters + _SPREAD * self.random.standard_normal((count, DIMENSION), np.float32)
        return canonical_vectors.quantise(vectors)


def _turns(count: int) -> Iterator[Event]:
    for number, draft in enumerate(Writer().drafts(count), 1):
        yield Event(
            zone="default",
            number=number,
            id=_id(number),
            platform=draft.platform,
            occurred_at=draft.occurred_at,
            ingested_at=draft.occurred_at,
            payload=draft.payload,
        )


def _id(number: int) -> str:
    return f"E{number:025}"


def _write(files: ZoneFiles, turns: list[Event], made: _Made) -> None:
    memory: list[Row] = []
    identity: list[Row] = []
    targets: list[tuple[str, str, int]] = []
    tokens: list[Row] = []
    for turn in turns:
        assert isinstance(turn.payload, Message)
        at, payload = turn.occurred_at, turn.payload
        speaker = payload.sender_name or payload.sender_id
        identity += _entity(speaker, at, made)
        if speaker not in made.entities:
            identity.append(
                Handle(payload.sender_id, turn.platform, payload.sender_id, speaker, speaker, at)
            )
        made.entities.add(speaker)
        identity.append(Mention(turn.id, "", speaker, -1, -1, speaker, "person", 1.0))
        targets.append(("event", turn.id, at))
        tokens.append(_tokens(turn.id, payload.content, at, made))
        for place, sentence in enumerate(_SENTENCE.findall(payload.content)):
            text = f"{speaker} said: {sentence.strip()}"
            fact = f"F{turn.number:022}{place:03}"
            memory.append(Fact(fact, text, None, at, at, turn.id, "{}", at, fact))
            targets.append(("fact", fact, at))
            for name in dict.fromkeys(_NAME.findall(sentence)[1:]):
                identity += _entity(name, at, made)
                made.entities.add(name)
                memory.append(FactEntity(fact, name))
                identity.append(Mention(turn.id, fact, name, 1, 1 + len(name), name, "person", 1.0))
    vectors = [
        Embedding(f"V{id_}", type_, id_, RandomEncoder.model, vector, DIMENSION, id_, at)
        for (type_, id_, at), vector in zip(targets, made.vectors(len(targets)), strict=True)
    ]
    last = Watermark(number=turns[-1].number, offset=turns[-1].number)
    for model in files.all:
        model.connection.execute("BEGIN")
    files.events.project_events(turns, [])
    files.memory.project([Section(puts=tuple(memory))])
    files.identity.project([Section(puts=tuple(identity))])
    files.embeddings.project([Section(puts=(*vectors, *tokens))])
    for model in files.all:
        model.set_watermark(last)
        model.connection.execute("COMMIT")


def _entity(name: str, at: int, made: _Made) -> list[Row]:
    if name in made.entities:
        return []
    return [Entity(name, name, "person", normalise_name(name), "inferred", at)]


def _tokens(id_: str, text: str, at: int, made: _Made) -> Row:
    count = len(_WORD.findall(text))
    codes = made.random.integers(
        0, 256, (count, code_bytes(projected_dimensions(DIMENSION))), np.uint8
    )
    return TokenVectorsRow(
        target_type="event",
        target_id=id_,
        model=RandomEncoder.model,
        form=FORMAT,
        codes=codes.tobytes(),
        scales=np.full(count, 0.01, "<f2").tobytes(),
        units=np.array([count], "<u2").tobytes(),
        text_hash=id_,
        created_at=at,
    )
