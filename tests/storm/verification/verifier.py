"""The verifier: reads what the topics hold, byte by byte, and compares it with the truth.

It shares no code with the product: what records, chains, seals, keys and fragments look like is
written down here a second time, so that a mistake over there is not repeated; only the dictionary
of what is deflated is looked up.

A record that does not extend its zone's chain is void. That is how workers that do not know of
each other stay out of each other's way, so void records are counted, and are no fault.
"""

from __future__ import annotations

import hashlib
import itertools
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tests.kill.checks import Checks
from tests.storm.verification.topics import PARTITIONS, Log, Raw, Topics
from tests.storm.verification.truth import Name, Truth, digest_of

CHAIN = "c0"
GENESIS = bytes(32)
NONCE_BYTES = 12
#: What recollect itself appends has this platform.
OURS = "recollect"
#: A command that a change record asked for: the end of a turn that nobody ended.
ASKED = "close-turn:"
#: What closes a segment of the inbox where nothing else comes: a key, and no value.
MARKER = b"recollect:marker"
_MAX_SHOWN = 4

_DICTIONARY = (
    Path(__file__).parents[3].joinpath("schemas", "ledger", "compression.bin").read_bytes()
)
_pack = msgspec.msgpack.encode
_unpack = msgspec.msgpack.decode


class Event(NamedTuple):
    """A record of `events`: its envelope, and the payload under its key."""

    offset: int
    hash: bytes
    number: int
    previous: bytes
    kind: str
    platform: str
    key_id: bytes
    source: bytes
    envelope: bytes
    sealed: bytes


class Change(NamedTuple):
    """A record of `changes`: its header, and the parts under the keys of their sources."""

    offset: int
    hash: bytes
    chain: str
    number: int
    event_hash: bytes
    event_offset: int
    previous: bytes
    parked: bool
    asks: int
    erases: list[tuple[int, bytes]]
    header: bytes
    #: ((number, key id) of each source, sealed text)
    parts: list[tuple[list[tuple[int, bytes]], bytes]]


@dataclass
class Zone:
    """The records of a zone, as its chains have them."""

    name: str
    accepted: list[Event] = field(default_factory=list)
    void: list[Event] = field(default_factory=list)
    decided: list[Change] = field(default_factory=list)
    void_changes: list[Change] = field(default_factory=list)
    fragments: int = 0


@dataclass
class Ledger:
    """The topics, decoded. `problems` are records that cannot be what they should."""

    zones: dict[str, Zone] = field(default_factory=dict)
    keys: dict[bytes, bytes] = field(default_factory=dict)
    secret: bytes = b""
    inbox: list[Raw] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def source(self, name: Name) -> bytes:
        """Return the keyed hash that stands for an event's own id (BLAKE2b-128)."""
        digest = hashlib.blake2b(key=self.secret, digest_size=16)
        for part in name:
            encoded = part.encode()
            digest.update(len(encoded).to_bytes(4, "big") + encoded)
        return digest.digest()

    def payload(self, event: Event) -> dict[str, Any] | None:
        """Return what an event says, or None where its key is gone.

        Raises:
            InvalidTag: it was changed after it was sealed.
        """
        key = self.keys.get(event.key_id)
        if key is None:
            return None
        payload: dict[str, Any] = _unpack(_inflate(_unseal(key, event.sealed, event.envelope)))
        return payload

    def texts(self, change: Change) -> Iterator[bytes]:
        """Yield the parts of a change whose keys are all there.

        Raises:
            InvalidTag: one was changed after it was sealed.
        """
        for sources, sealed in change.parts:
            keys = [self.keys.get(key_id) for _, key_id in sources]
            present = [key for key in keys if key is not None]
            if len(present) == len(keys):
                # Vectors and tokens, which come after the rows, are nobody's words.
                rows, *_ = _unpack(_unseal(_joint(present), sealed, change.header + _pack(sources)))
                yield _inflate(rows)

    def accepted(self) -> Iterator[tuple[Zone, Event]]:
        """Yield every accepted event."""
        for zone in self.zones.values():
            for event in zone.accepted:
                yield zone, event


def _inflate(text: bytes) -> bytes:
    return zlib.decompressobj(-zlib.MAX_WBITS, _DICTIONARY).decompress(text)


def _unseal(key: bytes, sealed: bytes, context: bytes) -> bytes:
    return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)


def _joint(keys: Sequence[bytes]) -> bytes:
    if len(keys) == 1:
        return keys[0]
    return HKDF(hashes.SHA256(), 32, salt=None, info=b"recollect change").derive(b"".join(keys))


def _hash(value: bytes) -> bytes:
    return hashlib.sha256(value).digest()


# Decoding


def decode(topics: Topics) -> Ledger:
    """Return what the topics say."""
    ledger = Ledger()
    _take_keys(ledger, topics.keys)
    ledger.inbox = [
        record
        for number in range(PARTITIONS)
        for record in topics.inbox[number]
        if record.key != MARKER or record.value
    ]
    homes: dict[str, set[int]] = defaultdict(set)
    for name, log, take in (
        ("events", topics.events, _take_event),
        ("changes", topics.changes, _Assembler().take),
    ):
        for number in range(PARTITIONS):
            for expected, record in enumerate(log[number]):
                if record.offset != expected:
                    ledger.problems.append(f"{name}/{number}: offset {expected} is missing")
                    break
            for record in log[number]:
                zone = (record.key or b"").decode()
                homes[zone].add(number)
                try:
                    take(ledger.zones.setdefault(zone, Zone(zone)), record)
                except (msgspec.DecodeError, ValueError, TypeError) as error:
                    ledger.problems.append(f"{name}/{number} offset {record.offset}: {error}")
    ledger.problems += [
        f"zone {zone} lies in the partitions {sorted(found)}"
        for zone, found in homes.items()
        if len(found) > 1
    ]
    return ledger


def _take_keys(ledger: Ledger, log: Log) -> None:
    for number in range(PARTITIONS):
        for _, key, value in log[number]:
            assert key is not None
            if key.startswith(b"agreed:"):
                if key.startswith(b"agreed:secret:") and not ledger.secret:
                    # The first one counts.
                    ledger.secret = value or b""
            elif value is None:
                ledger.keys.pop(key, None)
            else:
                ledger.keys[key] = value


def _take_event(zone: Zone, record: Raw) -> None:
    value = record.value or b""
    envelope, sealed = _unpack(value)
    _, name, number, previous, kind, _, _, _, platform, key_id, source = _unpack(envelope)
    if name != zone.name:
        raise ValueError(f"an event of zone {name} under the key of zone {zone.name}")
    event = Event(
        *(record.offset, _hash(value), number, previous, kind),
        *(platform, key_id, source, envelope, sealed),
    )
    last = zone.accepted[-1].hash if zone.accepted else GENESIS
    extends = (number, previous) == (len(zone.accepted) + 1, last)
    (zone.accepted if extends else zone.void).append(event)


class _Assembler:
    """Change records of each zone, some of them from fragments."""

    def __init__(self) -> None:
        self._begun: dict[str, dict[bytes, list[bytes]]] = defaultdict(dict)

    def take(self, zone: Zone, record: Raw) -> None:
        value = record.value or b""
        fields = _unpack(value)
        if fields[0] == "fragment":
            _, whole, index, count, data, check = fields
            if check != _hash(_pack((whole, index, count, data))):
                raise ValueError("a fragment was changed after it was written")
            zone.fragments += 1
            pieces = self._begun[zone.name].setdefault(whole, [])
            if index != len(pieces):
                # A copy of one before, or the tail of what has no beginning.
                return
            pieces.append(data)
            if len(pieces) < count:
                return
            value = b"".join(self._begun[zone.name].pop(whole))
            if _hash(value) != whole:
                raise ValueError("the fragments that end here are not those of one record")
            fields = _unpack(value)
        header, parts = fields
        _, chain, name, number, event_hash, event_offset, previous, parked, asks, erases = _unpack(
            header
        )
        if name != zone.name:
            raise ValueError(f"a change of zone {name} under the key of zone {zone.name}")
        change = Change(
            *(record.offset, _hash(value), chain, number, event_hash, event_offset),
            *(previous, parked, asks, erases, header, parts),
        )
        last = zone.decided[-1].hash if zone.decided else GENESIS
        if (chain, number, previous) == (CHAIN, len(zone.decided) + 1, last):
            zone.decided.append(change)
            # What began before the record that it would follow was there is void.
            self._begun[zone.name].clear()
        else:
            zone.void_changes.append(change)


# Comparing


@dataclass
class Found:
    """What the accepted events are: by the keyed hash of their source's id, and opened."""

    numbers: dict[tuple[str, bytes], list[int]] = field(default_factory=dict)
    payloads: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    #: (zone, body) of what could not be taken in -> how often it is parked
    parks: Counter[tuple[str, bytes]] = field(default_factory=Counter)
    #: Events that were changed after they were sealed.
    changed: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, ledger: Ledger) -> Found:
        """Open every accepted event."""
        found = cls()
        for zone, event in ledger.accepted():
            found.numbers.setdefault((zone.name, event.source), []).append(event.number)
            try:
                payload = ledger.payload(event)
            except (InvalidTag, ValueError):
                found.changed.append(f"event {event.number} of {zone.name}")
                continue
            if payload is not None:
                found.payloads[zone.name, event.number] = payload
                if event.kind == "park":
                    found.parks[zone.name, payload["body"]] += 1
        return found

    def source_id(self, zone: Zone, event: Event) -> str:
        """Return the id that the source gave to an event; "" where it was forgotten."""
        payload = self.payloads.get((zone.name, event.number))
        return str(payload["source_id"]) if payload else ""


def lacking(ledger: Ledger, truth: Truth) -> dict[str, int]:
    """Return how much is not there yet, by what it is; nothing once all is done."""
    found = Found.of(ledger)
    lacks = {
        "events": sum((name[0], ledger.source(name)) not in found.numbers for name in truth.said),
        "parked": sum(
            max(0, least - found.parks[place]) for place, (least, _) in _parks(truth).items()
        ),
        "changes": sum(len(zone.accepted) - len(zone.decided) for zone in ledger.zones.values()),
        "commands": sum(
            (zone.name, source) not in found.numbers
            for zone in ledger.zones.values()
            for source in _asked(ledger, zone)
        ),
        "inbox": len(ledger.inbox),
    }
    return {what: count for what, count in lacks.items() if count}


def verify(ledger: Ledger, truth: Truth, checks: Checks) -> None:
    """Note everything in which the ledger is not what the truth says."""
    found = Found.of(ledger)
    _note(checks, "every record is there and can be read", ledger.problems)
    _note(checks, "what the events say is sealed as it was", found.changed)
    _check_said(ledger, truth, found, checks)
    _check_order(ledger, truth, found, checks)
    _check_parked(truth, found, checks)
    _check_strangers(ledger, truth, checks)
    _check_changes(ledger, checks)
    _check_commands(ledger, found, checks)
    _check_forgotten(ledger, truth, found, checks)


def _note(checks: Checks, what: str, problems: Iterable[object]) -> None:
    found = list(map(str, problems))
    shown = "; ".join(found[:_MAX_SHOWN])
    checks.note(f"ledger: {what}", f"{len(found)}, first {shown}" if found else "")


def lost(ledger: Ledger, truth: Truth) -> list[Name]:
    """Return the events that were acknowledged, and are not there."""
    there = {(zone.name, event.source) for zone, event in ledger.accepted()}
    return [name for name in truth.said if (name[0], ledger.source(name)) not in there]


def doubled(ledger: Ledger) -> list[str]:
    """Return which events are there more than once."""
    numbers = Found.of(ledger).numbers
    return [
        f"{zone} has one source in the events {some}"
        for (zone, _), some in numbers.items()
        if len(some) > 1
    ]


def stopped(ledger: Ledger) -> dict[str, str]:
    """Return the zones that stand still, each with what it lacks."""
    waiting = Counter((record.key or b"").decode(errors="replace") for record in ledger.inbox)
    found = {}
    for name in sorted(ledger.zones.keys() | waiting.keys()):
        zone = ledger.zones.get(name, Zone(name))
        left = len(zone.accepted) - len(zone.decided)
        if left or waiting[name]:
            found[name] = f"{left} events to decide, {waiting[name]} records in the inbox"
    return found


def _check_said(ledger: Ledger, truth: Truth, found: Found, checks: Checks) -> None:
    other = []
    for name, digest in truth.said.items():
        for number in found.numbers.get((name[0], ledger.source(name)), []):
            payload = found.payloads.get((name[0], number))
            if payload is None:
                if name not in truth.forgotten:
                    other.append(f"{name} cannot be read")
            elif payload["source_id"] != name[2] or digest_of(payload["content"]) != digest:
                other.append(f"{name} says something else")
    _note(checks, "every event that was acknowledged is there", lost(ledger, truth))
    _note(checks, "no event is there twice", doubled(ledger))
    _note(checks, "every event says what was published", other)


def _check_order(ledger: Ledger, truth: Truth, found: Found, checks: Checks) -> None:
    """Compare the order of each line within each zone; what came in two lines has none."""
    lines: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for name, places in truth.lines.items():
        numbers = found.numbers.get((name[0], ledger.source(name)), [])
        if len(places) == 1 and numbers:
            ((line, at),) = places.items()
            lines[name[0], line].append((at, numbers[0]))
    wrong = []
    for (zone, line), pairs in lines.items():
        ordered = [number for _, number in sorted(pairs)]
        wrong += [
            f"{zone}: what {line} has one after the other are the events {one} and {other}"
            for one, other in itertools.pairwise(ordered)
            if one >= other
        ]
    _note(checks, "the order within each zone is kept", wrong)


def _parks(truth: Truth) -> dict[tuple[str, bytes], tuple[int, int]]:
    """Return how often each body must be parked in its zone at least, and may at most."""
    wanted: dict[tuple[str, bytes], tuple[int, int]] = {}
    for note in truth.refused:
        least, most = wanted.get((note.zone, note.body), (0, 0))
        # Of what was forgotten nobody can say any more whether it said the same.
        sure = note.of is None or (note.zone, *note.of) not in truth.forgotten
        wanted[note.zone, note.body] = (least + sure, most + 1)
    return wanted


def _check_parked(truth: Truth, found: Found, checks: Checks) -> None:
    wanted = _parks(truth)
    wrong = [
        f"{zone} has {found.parks[zone, body]} times {body[:60]!r}"
        for (zone, body), (least, most) in wanted.items()
        if not least <= found.parks[zone, body] <= most
    ]
    _note(checks, "what cannot be taken in is parked, once", wrong)
    _note(checks, "nothing else is parked", (place for place in found.parks if place not in wanted))


def _check_strangers(ledger: Ledger, truth: Truth, checks: Checks) -> None:
    known = {(name[0], ledger.source(name)) for name in (*truth.said, *truth.unsure)}
    strange = [
        f"event {event.number} of {zone.name}, a {event.kind} of {event.platform}"
        for zone, event in ledger.accepted()
        if (zone.name, event.source) not in known and event.platform != OURS
    ]
    _note(checks, "nothing is there that nobody published", strange)


def _check_changes(ledger: Ledger, checks: Checks) -> None:
    lacks, others, chains, parked, changed, closed = [], [], [], [], [], []
    for zone in ledger.zones.values():
        if len(zone.decided) != len(zone.accepted):
            lacks.append(f"{zone.name}: {len(zone.decided)} changes of {len(zone.accepted)} events")
        chains += [
            f"{change.chain} of {zone.name}"
            for change in zone.void_changes
            if change.chain != CHAIN
        ]
        for event, change in zip(zone.accepted, zone.decided, strict=False):
            what = f"event {event.number} of {zone.name}, a {event.kind}"
            if (change.event_hash, change.event_offset) != (event.hash, event.offset):
                others.append(what)
            if change.parked:
                parked.append(what)
            try:
                list(ledger.texts(change))
            except (InvalidTag, ValueError):
                changed.append(what)
        erased = {key_id for change in zone.decided for _, key_id in change.erases}
        closed += [
            f"event {event.number} of {zone.name}, a {event.kind}"
            for event in zone.accepted
            if event.key_id not in ledger.keys and event.key_id not in erased
        ]
    _note(checks, "every event has one change record", lacks)
    _note(checks, "every change record is that of its event", others)
    _note(checks, "there is one chain of changes", chains)
    _note(checks, "no event that was taken in is given up", parked)
    _note(checks, "what was decided is sealed as it was", changed)
    _note(checks, "no key is missing but by an erasure", closed)


def _asked(ledger: Ledger, zone: Zone) -> dict[bytes, int]:
    """Return the commands that changes ask for, by source: the first record that does."""
    asked: dict[bytes, int] = {}
    for change in zone.decided:
        if change.asks:
            for text in _opened(ledger, change):
                for draft in _unpack(text).get("outbox", ()):
                    name = (zone.name, draft["platform"], draft["payload"]["source_id"])
                    asked.setdefault(ledger.source(name), change.number)
    return asked


def _check_commands(ledger: Ledger, found: Found, checks: Checks) -> None:
    never, ghosts = [], []
    for zone in ledger.zones.values():
        asked = _asked(ledger, zone)
        never += [
            f"one of {zone.name}, by change {number}"
            for source, number in asked.items()
            if (zone.name, source) not in found.numbers
        ]
        ghosts += [
            f"event {event.number} of {zone.name}"
            for event in zone.accepted
            if found.source_id(zone, event).startswith(ASKED)
            and asked.get(event.source, event.number) >= event.number
        ]
    _note(checks, "every command that was asked for is there", never)
    _note(checks, "every command that is there was asked for", ghosts)


def _check_forgotten(ledger: Ledger, truth: Truth, found: Found, checks: Checks) -> None:
    standing, keys, said = [], [], []
    words: dict[str, list[bytes]] = defaultdict(list)
    for name, token in truth.forgotten.items():
        words[name[0]].append(token.encode())
        source = ledger.source(name)
        zone = ledger.zones.get(name[0], Zone(name[0]))
        erased = {number for change in zone.decided for number, _ in change.erases}
        standing += [
            name for number in found.numbers.get((zone.name, source), []) if number not in erased
        ]
        keys += [
            f"{'void copy of' if event in zone.void else ''} event {event.number}, {name}"
            for event in (*zone.accepted, *zone.void)
            if event.source == source and event.key_id in ledger.keys
        ]
    for name_, some in words.items():
        zone = ledger.zones.get(name_, Zone(name_))
        said += [f"{word.decode()} in {name_}" for word in _words_in(some, _readable(ledger, zone))]
    every = [word for some in words.values() for word in some]
    left = [record.value or b"" for record in ledger.inbox]
    said += [f"{word.decode()} in the inbox" for word in _words_in(every, left)]
    void = [
        f"event {event.number} of {zone.name}, at offset {event.offset}"
        for zone in ledger.zones.values()
        for event in zone.void
        if event.key_id in ledger.keys
    ]
    _note(checks, "no void copy has a key", void)
    _note(checks, "what was forgotten was erased", standing)
    _note(checks, "no copy of what was forgotten has a key", keys)
    _note(checks, "nothing that can be read holds what was forgotten", said)


def _readable(ledger: Ledger, zone: Zone) -> Iterator[bytes]:
    """Yield all of a zone's records that anybody can open, void ones too."""
    for event in (*zone.accepted, *zone.void):
        key = ledger.keys.get(event.key_id)
        if key is not None:
            with suppress(InvalidTag, ValueError):
                yield _inflate(_unseal(key, event.sealed, event.envelope))
    for change in (*zone.decided, *zone.void_changes):
        yield from _opened(ledger, change)


def _opened(ledger: Ledger, change: Change) -> Iterator[bytes]:
    """Yield what opens of a change; that a part was changed is another check's affair."""
    with suppress(InvalidTag, ValueError):
        yield from ledger.texts(change)


def _words_in(words: Sequence[bytes], texts: Iterable[bytes]) -> set[bytes]:
    return {word for text in texts for word in words if word in text}
