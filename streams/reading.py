"""Reading a zone's records: only what extends its chain counts, whatever else the topic holds."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple, TypeVar

from schemas.changes import Section, decode_outbox, decode_sections
from schemas.errors import IntegrityError, RecollectError, UnknownVersion
from schemas.events import Draft, Event
from schemas.fragments import Assembler
from schemas.records import (
    GENESIS,
    ChangeHeader,
    ChangeRecord,
    Source,
    open_event,
    open_part,
    read_change,
    read_event,
    record_hash,
)
from streams.ledger import CHANGES, EVENTS, KeyStore, Ledger, partition_of

Unreadable = TypeVar("Unreadable", bound=RecollectError)


def located(error: Unreadable, topic: str, zone: str, offset: int) -> Unreadable:
    """Return the error with the record that it is about."""
    place = f"{topic}/{partition_of(zone)} offset {offset}"
    return type(error)(f"{place}: {error} (zone {zone})")


class OpenedEvent(NamedTuple):
    """An accepted event. `event` is None where it was erased or cannot be understood.

    `problem` says why it cannot be understood; None where it can, or was erased.
    """

    offset: int
    hash: bytes
    source: Source
    kind: str
    occurred_at: int
    key: bytes | None
    event: Event | None
    problem: str | None


class AcceptedChange(NamedTuple):
    """A change record that extends its chain; `offset` is that of its last fragment."""

    offset: int
    hash: bytes
    header: ChangeHeader
    record: ChangeRecord


class EventReader:
    """Reads the accepted events of a zone, from a place where it was before."""

    def __init__(
        self, ledger: Ledger, zone: str, number: int = 0, offset: int = 0, hash: bytes = GENESIS
    ) -> None:
        self._ledger = ledger
        self._zone = zone
        self.number = number
        self.offset = offset
        self.hash = hash
        #: How many records did not extend the chain.
        self.void = 0

    def read(self, limit: int, without: Set[int] = frozenset()) -> list[OpenedEvent]:
        """Return up to `limit` events, in order; none at the end of the ledger.

        Those whose number is in `without` come as if they were erased.

        Raises:
            IntegrityError: a record was changed after it was written, or is missing.
            UnknownVersion: a record is of a form that only a newer program reads.
        """
        found: list[OpenedEvent] = []
        while limit > 0 and not found:
            records = self._ledger.read(
                EVENTS, partition_of(self._zone), self.offset, limit, self._zone
            )
            if not records:
                return []
            offset = self.offset
            try:
                accepted = []
                for offset, _, value in records:
                    envelope, sealed = read_event(value)
                    if envelope.number == self.number + 1 and envelope.previous == self.hash:
                        self.number += 1
                        self.hash = record_hash(value)
                        accepted.append((offset, self.hash, envelope, sealed))
                    else:
                        self.void += 1
                    self.offset = offset + 1
                keys = self._ledger.keys.get([envelope.key_id for _, _, envelope, _ in accepted])
                for offset, hash_, envelope, sealed in accepted:
                    key = keys.get(envelope.key_id)
                    event = problem = None
                    if key is not None and envelope.number not in without:
                        try:
                            event = open_event(envelope, sealed, key)
                        except KeyError:
                            problem = f"unknown kind {envelope.kind!r}; upgrade recollect"
                        except UnknownVersion as error:
                            problem = str(error)
                    found.append(
                        OpenedEvent(
                            offset,
                            hash_,
                            Source(envelope.number, envelope.key_id),
                            envelope.kind,
                            envelope.occurred_at,
                            key,
                            event,
                            problem,
                        )
                    )
            except (IntegrityError, UnknownVersion) as error:
                raise located(error, EVENTS, self._zone, offset) from None
        return found


class ChangeReader:
    """Reads the accepted change records of a zone's chain, from a place where it was before."""

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        chain: str,
        number: int = 0,
        offset: int = 0,
        hash: bytes = GENESIS,
    ) -> None:
        self._ledger = ledger
        self._zone = zone
        self._chain = chain
        self.number = number
        self.offset = offset
        self.hash = hash
        self._assembler = Assembler()
        #: How many records of this chain did not extend it.
        self.void = 0

    def read(self, limit: int) -> list[AcceptedChange]:
        """Return up to `limit` accepted records, in order; none at the end of the topic.

        Raises:
            IntegrityError: a record was changed after it was written, or is missing.
            UnknownVersion: a record is of a form that only a newer program reads.
        """
        found: list[AcceptedChange] = []
        while not found:
            records = self._ledger.read(
                CHANGES, partition_of(self._zone), self.offset, limit, self._zone
            )
            if not records:
                return []
            try:
                for offset, _, value in records:
                    self.offset = offset + 1
                    whole = self._assembler.add(value)
                    if whole is None:
                        continue
                    header, change = read_change(whole)
                    if header.chain != self._chain:
                        continue
                    if header.number == self.number + 1 and header.previous == self.hash:
                        self.number += 1
                        self.hash = record_hash(whole)
                        # Whoever starts here from a watermark must accept the same.
                        self._assembler.forget()
                        found.append(AcceptedChange(offset, self.hash, header, change))
                    else:
                        self.void += 1
            except (IntegrityError, UnknownVersion) as error:
                raise located(error, CHANGES, self._zone, self.offset - 1) from None
        return found


def open_sections(
    keys: KeyStore,
    changes: Sequence[AcceptedChange],
    models: tuple[str, ...],
    without: Set[int] = frozenset(),
) -> dict[str, list[Section]]:
    """Return the sections of change records, in order, for each read model.

    Parts whose sources were erased, or are in `without`, are left out.
    """
    wanted = {
        source.key_id
        for change in changes
        for part in change.record.parts
        for source in part.sources
    }
    present = keys.get(list(wanted))
    sections: dict[str, list[Section]] = {model: [] for model in models}
    for change in changes:
        try:
            for part in change.record.parts:
                if without and any(source.number in without for source in part.sources):
                    continue
                text = open_part(change.record, part, present)
                if text is not None:
                    found = decode_sections(text, models, change.header.format)
                    for model, section in found.items():
                        sections[model].append(section)
        except (IntegrityError, UnknownVersion) as error:
            raise located(error, CHANGES, change.header.zone, change.offset) from None
    return sections


def open_outbox(keys: KeyStore, change: AcceptedChange) -> list[Draft]:
    """Return the commands that an accepted change record asks for."""
    commands: list[Draft] = []
    for part in change.record.parts:
        text = open_part(change.record, part, keys.get([source.key_id for source in part.sources]))
        if text is not None:
            commands.extend(decode_outbox(text, change.header.format))
    return commands
