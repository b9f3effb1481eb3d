"""Rebuild derived layers in a new generation, next to the one in use."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import apsw
import msgspec

from recollect.projections.embeddings.token_vectors import FORMAT, TokenCodes
from recollect.projections.events.event_queries import active_chain
from recollect.projections.generations import (
    CONSOLIDATION,
    Generation,
    ZoneDirectory,
    agents_of_zone,
)
from recollect.projections.row_changes import change_count
from recollect.projections.sqlite import atomic, connect, scalar
from recollect.schemas.changes import Embedding, RecordedAnnotations, TokenVectorsRow
from recollect.schemas.errors import CorruptFile, HomeError
from recollect.schemas.events import ActivateChain
from recollect.schemas.wire import RebuildLevel, RebuildReport
from recollect.streams.deciding.erasing import parked_records
from recollect.streams.encoder.gateway import Encoding
from recollect.streams.engine.node import Node
from recollect.streams.engine.zone_driver import ZoneDriver
from recollect.streams.ledger import CHANGES, Ledger, partition_of
from recollect.streams.lifecycle.generation_difference import difference
from recollect.streams.projecting.background import BackgroundProjection
from recollect.streams.projecting.projector import (
    OnProgress,
    drop_index,
    project_changes,
    project_events,
)
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.records.chain_readers import ChangeReader, last_switch, open_sections
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive


def rebuild(
    node: Node,
    zone: str,
    level: RebuildLevel,
    progress: OnProgress | None = None,
    *,
    compare: bool = False,
    encoder: str | None = None,
    consolidation: bool | None = None,
    writer_role: int | None = None,
    prepare: Callable[[Generation], str | None] | None = None,
) -> RebuildReport:
    """Rebuild a zone; the current generation serves until the new one replaces it.

    `encoder`: the model with which level `fresh` encodes. `consolidation` and `writer_role`: the
    settings of the new generation (levels `derive` and `fresh`); None keeps the setting of the
    current generation. `prepare` is called with the new generation before it is compared or
    activated; it may publish further events. If it returns a reason, the new generation is not
    activated.

    A killed rebuild resumes when the same level is requested again. With `compare` (levels `derive`
    and `fresh`) the new generation is built and compared, but replaces the current one only when
    the same level is requested without `compare`.

    Raises:
        RebuildRegression: a record that was decided before cannot be decided now (level `derive`).
    """
    directory = _existing_directory(node, zone)
    with exclusive(directory.path / "rebuild.lock", wait=False):
        current = _current_generation(node, zone) if level == "project" else node.current(zone)
        if level == "index":
            assert current is not None
            return _reindex(node, zone, current)
        wanted = _described(node, zone, current, level, encoder, consolidation, writer_role)
        new_generation = _resume_or_create(node, directory, zone, current, wanted)
        gateway = node.gateway_of(new_generation.encoder)
        encoded_before = gateway.encoded_count
        if level == "project":
            records, encoded = _project(node, zone, new_generation, progress), 0
        else:
            assert current is not None
            records, encoded = _derive(node, zone, current, new_generation, progress)
        failpoint("rebuild.written")
        stopped = None if prepare is None else prepare(new_generation)
        if compare or stopped is not None:
            assert current is not None
            diff = None
            if stopped is None:
                with node.open(zone, current) as used, node.open(zone, new_generation) as built:
                    diff = difference(used, built)
            return RebuildReport(
                level=level,
                generation=new_generation.name,
                records=records,
                encoded=encoded + gateway.encoded_count - encoded_before,
                difference=diff,
                stopped=stopped,
            )
        with node.driving(zone):
            if level == "project":
                _project(node, zone, new_generation, None)
            else:
                assert current is not None
                activate_chain(node, zone, new_generation)
                _derive(node, zone, current, new_generation, None)
            # A rollback to damaged files would be useless.
            kept = current if current and _is_intact(node, zone, current) else None
            directory.activate(new_generation, kept)
        failpoint("rebuild.switched")
        for old in directory.generations():
            if old.name not in (new_generation.name, kept.name if kept else None):
                directory.remove(old)
        encoded += gateway.encoded_count - encoded_before
    # The kept generation may lack an erasure that the new one has applied meanwhile.
    node.finish_purge(zone)
    return RebuildReport(
        level=level, generation=new_generation.name, records=records, encoded=encoded
    )


def rollback(node: Node, zone: str, progress: OnProgress | None = None) -> Generation:
    """Return to the previous generation, after bringing it up to date.

    Raises:
        HomeError: no previous generation was kept.
        AgentMismatch: it was decided by other agents than this home's.
    """
    directory = _existing_directory(node, zone)
    with exclusive(directory.path / "rebuild.lock", wait=False), node.driving(zone):
        current = node.current(zone)
        kept = [item for item in directory.generations() if item.complete]
        older = [item for item in kept if item.name == current.previous]
        if not older:
            raise HomeError(f"zone {zone} has no generation before {current.name} to roll back to")
        node.check_agents(zone, older[0])
        if older[0].chain != current.chain:
            activate_chain(node, zone, older[0])
        with node.open(zone, older[0]) as files:
            node.driver(zone, older[0], files, owner=False).run(progress)
        restored = directory.activate(older[0], current)
    node.finish_purge(zone)
    return restored


def _existing_directory(node: Node, zone: str) -> ZoneDirectory:
    """Return a zone's directory; raise HomeError if the zone has no event yet."""
    directory = node.zone(zone)
    if not node.ledger.head(zone).number:
        raise HomeError(f"{directory.path} has no generation; ingest something first")
    return directory


def activate_chain(node: Node, zone: str, generation: Generation) -> None:
    """Publish a command that makes a generation's chain the active one.

    Every node obeys it: the other nodes, this node if it is killed before it switches itself, and
    any node that recreates lost files.
    """
    chain, model = generation.chain, generation.encoder
    switch = ActivateChain(
        source_id=random_id(f"switch:{chain}"),
        chain=chain,
        encoder=None if model == node.gateway.model else model,
        writer_role=generation.writer_role,
        consolidation=generation.consolidation,
    )
    publish_commands(node.ledger, zone, [command(switch, time.time_ns() // 1_000_000)])
    failpoint("rebuild.announced")


def records_to_read(node: Node, zone: str) -> int:
    """Return the number of ledger records that a rebuild of the zone reads."""
    return node.ledger.head(zone).number


def _current_generation(node: Node, zone: str) -> Generation | None:
    """Return the current generation; None if the pointer to it is missing or dangling."""
    try:
        return node.current(zone)
    except CorruptFile:
        return None


def _is_intact(node: Node, zone: str, generation: Generation) -> bool:
    """Return whether a generation's files are undamaged and belong to the active chain."""
    try:
        with node.open(zone, generation) as files:
            files.check()
            for model in files.all:
                if scalar(model.connection, "PRAGMA quick_check(1)") != "ok":
                    return False
                model.watermark()
            for model in (files.events, files.memory, files.embeddings):
                change_count(model.connection)
            switched = active_chain(files.events.connection)
    except (CorruptFile, apsw.Error):
        return False
    # The switch to its replacement may be in the ledger already.
    if switched in (None, generation.chain):
        return True
    switch = last_switch(node.ledger, zone)
    return switch is not None and switched == switch.chain


def _described(
    node: Node,
    zone: str,
    current: Generation | None,
    level: RebuildLevel,
    encoder: str | None,
    consolidation: bool | None,
    writer_role: int | None,
) -> Generation:
    """Describe the generation to build, without creating it; its name is empty."""
    in_use = msgspec.structs.replace(
        current or node.first_generation(zone), name="", level=level, complete=False, previous=None
    )
    if level == "project":
        return in_use
    gateway = node.gateway_of(encoder or in_use.encoder)
    if consolidation is None:
        consolidation = in_use.consolidation
    elif consolidation == (CONSOLIDATION in node.agent_names):
        consolidation = None
    return msgspec.structs.replace(
        in_use,
        # A unique name: no other chain's first record can have this offset.
        chain=f"c{node.ledger.end(CHANGES, partition_of(zone))}",
        encoder=gateway.model,
        dimension=gateway.dimension,
        agents=agents_of_zone(node.agent_names, consolidation),
        consolidation=consolidation,
        writer_role=in_use.writer_role if writer_role is None else writer_role,
    )


def _resume_or_create(
    node: Node,
    directory: ZoneDirectory,
    zone: str,
    current: Generation | None,
    wanted: Generation,
) -> Generation:
    """Return the unfinished generation that is like the wanted one, or a new one."""
    directory.clear_leftovers()
    chain_in_use = current.chain if current is not None else wanted.chain
    for generation in directory.generations():
        if generation.complete:
            continue
        on_chain_in_use = generation.chain == chain_in_use
        like_wanted = msgspec.structs.replace(wanted, name=generation.name, chain=generation.chain)
        if generation == like_wanted and on_chain_in_use == (wanted.level == "project"):
            return generation
        directory.remove(generation)
    return directory.create(wanted)


def _reindex(node: Node, zone: str, current: Generation) -> RebuildReport:
    with node.driving(zone), node.open(zone, current) as files:
        for model in files.all:
            with atomic(model.connection):
                model.reindex()
        drop_index(files)
        number = files.events.watermark().number
        return RebuildReport(level="index", generation=current.name, records=number, encoded=0)


def _project(node: Node, zone: str, new_generation: Generation, progress: OnProgress | None) -> int:
    with node.open(zone, new_generation) as files:
        with BackgroundProjection(node.ledger, zone) as background:
            for number in background.run(files, new_generation):
                project_changes(
                    node.ledger, zone, new_generation.chain, files, upto=number, progress=progress
                )
        project_events(node.ledger, zone, files)
        project_changes(node.ledger, zone, new_generation.chain, files, progress=progress)
        return files.memory.watermark().number


def _derive(
    node: Node,
    zone: str,
    current: Generation,
    new_generation: Generation,
    progress: OnProgress | None,
) -> tuple[int, int]:
    """Decide all events again in the new generation's chain; return (records, texts encoded)."""
    fresh = new_generation.level == "fresh"
    with node.open(zone, current) as live:
        decided = 0 if fresh else live.memory.watermark().number
        parked = {} if fresh else parked_records(live)
    with node.open(zone, new_generation) as files:
        own = gateway = node.gateway_of(new_generation.encoder)
        recorded = None
        if not fresh:
            recorded = RecordedResults(node.ledger, zone, current.chain, own.model, files.directory)
            gateway = own.replaying(recorded.find_encoding, recorded.find_annotations)
        driver = ZoneDriver(
            node.ledger,
            zone,
            new_generation.chain,
            files,
            gateway,
            node.journal,
            agents=node.agents_of(new_generation),
            parked=parked,
            decided=decided,
            owner=False,
            publishes=False,
        )
        try:
            driver.run(progress)
        finally:
            if recorded is not None:
                recorded.close()
        return files.watermark().number, gateway.encoded_count if gateway is not own else 0


class RecordedResults:
    """The encodings (by text) and annotations (by event) recorded in a chain.

    They are read from the topic, not from the generation's files.
    """

    def __init__(
        self, ledger: Ledger, zone: str, chain: str, model: str | None, directory: Path
    ) -> None:
        self._path = directory / "recorded.db"
        self._remove()
        self._connection = connect(self._path)
        self._connection.execute("CREATE TABLE vectors (text_hash TEXT PRIMARY KEY, vector BLOB)")
        self._connection.execute(
            "CREATE TABLE tokens (text_hash TEXT PRIMARY KEY, codes BLOB, scales BLOB, units BLOB)"
        )
        self._connection.execute(
            "CREATE TABLE texts_read (number INTEGER PRIMARY KEY, reader BLOB, text BLOB, "
            "content BLOB)"
        )
        reader = ChangeReader(ledger, zone, chain)
        while changes := reader.read(500):
            sections = open_sections(ledger.keys, changes, ("embeddings",))["embeddings"]
            puts = [row for section in sections for row in section.puts]
            annotations = [row for row in puts if isinstance(row, RecordedAnnotations)]
            rows = [
                row
                for row in puts
                if not isinstance(row, RecordedAnnotations) and row.model == model
            ]
            with atomic(self._connection):
                self._connection.executemany(
                    "INSERT OR REPLACE INTO texts_read VALUES (?, ?, ?, ?)",
                    map(msgspec.structs.astuple, annotations),
                )
                self._connection.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                    ((row.text_hash, row.embedding) for row in rows if isinstance(row, Embedding)),
                )
                self._connection.executemany(
                    "INSERT OR IGNORE INTO tokens VALUES (?, ?, ?, ?)",
                    (
                        (row.text_hash, row.codes, row.scales, row.units)
                        for row in rows
                        if isinstance(row, TokenVectorsRow) and row.form == FORMAT
                    ),
                )

    def find_encoding(self, key: str) -> Encoding | None:
        """Return the recorded encoding of a text, given its hash."""
        vector = scalar(self._connection, "SELECT vector FROM vectors WHERE text_hash = ?", (key,))
        if vector is None:
            return None
        tokens = self._connection.execute(
            "SELECT codes, scales, units FROM tokens WHERE text_hash = ?", (key,)
        ).fetchone()
        return Encoding(vector, None if tokens is None else TokenCodes(*tokens))

    def find_annotations(self, number: int, reader: bytes, text: bytes) -> bytes | None:
        """Return the recorded annotations of an event's text; see `AnnotationLookup`."""
        found: bytes | None = scalar(
            self._connection,
            "SELECT content FROM texts_read WHERE number = ? AND reader = ? AND text = ?",
            (number, reader, text),
        )
        return found

    def close(self) -> None:
        """Delete the temporary database."""
        self._connection.close()
        self._remove()

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
