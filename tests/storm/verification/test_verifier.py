"""The verifier finds every damage that a storm could do, on topics that are made by hand.

The records are written with the product's own code, so that a format which only one of the two
knows shows up here; the verifier itself may not know any of that code.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiokafka.partitioner import murmur2

from recollect.schemas.changes import DeadLetter, DecidedPart, encode_part
from recollect.schemas.events import AnyPayload, CloseTurn, Draft, Forget, Message, Park, Tick
from recollect.schemas.ledger.fragments import split
from recollect.schemas.ledger.records import (
    CHANGE_FORMAT,
    GENESIS,
    ChangeHeader,
    Source,
    record_hash,
    write_change,
    write_event,
)
from recollect.schemas.ledger.seal import new_key, source_digest
from tests.kill.checks import Checks
from tests.storm.verification.topics import PARTITIONS, Raw, Topics
from tests.storm.verification.truth import (
    INBOX,
    Forgotten,
    Note,
    Notes,
    Refused,
    Said,
    Truth,
    digest_of,
)
from tests.storm.verification.verifier import decode, doubled, lacking, lost, stopped, verify

SECRET = bytes(range(32))
ROOT = Path(__file__).resolve().parents[3]

Logs = dict[str, dict[int, list[Raw]]]


class Tiny:
    """A ledger of a few records, as workers that make no mistake would leave it."""

    def __init__(self) -> None:
        self.logs: Logs = {topic: {n: [] for n in range(PARTITIONS)} for topic in Topics._fields}
        self.keys: dict[bytes, bytes] = {}
        self.notes: list[Note] = []
        self.heads: dict[str, tuple[int, bytes]] = {}
        self.tails: dict[str, bytes] = {}
        self.sources: dict[tuple[str, int], tuple[Source, bytes, int]] = {}
        self.last_key = b""
        self._put("keys", b"agreed:secret:" + bytes(16), SECRET, 0)

    def event(
        self, zone: str, payload: AnyPayload, platform: str = "slack", *, void: bool = False
    ) -> int:
        """Append an event; a void one follows no record that is there."""
        number, previous = self.heads.get(zone, (0, GENESIS))
        key_id, key = new_key()
        value = write_event(
            Draft(platform=platform, occurred_at=1_767_600_000_000, payload=payload),
            zone=zone,
            number=number + 1,
            previous=b"\xff" * 32 if void else previous,
            ingested_at=1_767_600_000_000,
            source=source_digest(SECRET, zone, platform, payload.source_id),
            key_id=key_id,
            key=key,
        )
        self._put("keys", key_id, key)
        self.keys[key_id] = key
        offset = self._put("events", zone.encode(), value)
        self.last_key = key_id
        if not void:
            self.heads[zone] = number + 1, record_hash(value)
            self.sources[zone, number + 1] = (
                Source(number + 1, key_id),
                record_hash(value),
                offset,
            )
        return number + 1

    def say(self, zone: str, id: str, content: str = "It rains.", line: str = INBOX) -> int:
        """Append a message, and note it as the loader would."""
        number = self.event(zone, Message(source_id=id, sender_id="U1", content=content))
        at = len(self.notes)
        self.notes.append(Said(zone, "slack", id, digest_of(content), line, at))
        return number

    def decide(
        self,
        zone: str,
        number: int,
        *parts: DecidedPart,
        erases: tuple[int, ...] = (),
        parked: bool = False,
        of: int | None = None,
        void: bool = False,
        limit: int = 900_000,
    ) -> None:
        """Append the change record of an event; `of`: one that says it is of another event."""
        _, event_hash, offset = self.sources[zone, number if of is None else of]
        header = ChangeHeader(
            format=CHANGE_FORMAT,
            chain="c0",
            zone=zone,
            number=number,
            event_hash=event_hash,
            event_offset=offset,
            previous=b"\xff" * 32 if void else self.tails.get(zone, GENESIS),
            is_parked=parked,
            command_count=sum(len(part.outbox) for part in parts),
            erased_events=tuple(self.sources[zone, each][0] for each in erases),
        )
        sealed = [
            (tuple(self.sources[zone, each][0] for each in part.sources), encode_part(part))
            for part in parts
        ]
        value = write_change(header, sealed, self.keys)
        if not void:
            self.tails[zone] = record_hash(value)
        for piece in split(value, limit):
            self._put("changes", zone.encode(), piece)

    def end_key(self, key_id: bytes) -> None:
        """Destroy a key."""
        self._put("keys", key_id, None)

    def offer(self, key: bytes | None, body: bytes) -> None:
        """Leave a record in the inbox."""
        self._put("inbox", key, body, 0)

    def records(self, topic: str, zone: str) -> list[Raw]:
        """Return the records of the zone's partition, to be damaged."""
        return self.logs[topic][_partition(zone.encode())]

    def failing(self) -> set[str]:
        """Return the checks that fail."""
        checks = Checks()
        verify(decode(Topics(**self.logs)), Truth.of(self.notes), checks)
        return {what.removeprefix("ledger: ") for what, _ in checks.failed}

    def lacking(self) -> dict[str, int]:
        return lacking(decode(Topics(**self.logs)), Truth.of(self.notes))

    def _put(
        self, topic: str, key: bytes | None, value: bytes | None, number: int | None = None
    ) -> int:
        log = self.logs[topic][_partition(key or b"") if number is None else number]
        log.append(Raw(len(log), key, value))
        return len(log) - 1


def _partition(key: bytes) -> int:
    return int((murmur2(key) & 0x7FFFFFFF) % PARTITIONS)


def letter(number: int, reason: str) -> DecidedPart:
    """Return a decided part that holds some text."""
    return DecidedPart((number,), puts=[DeadLetter(number, "message", reason, "parked", 0)])


def whole() -> Tiny:
    """Return a ledger in which everything is as it should be, and everything happens once."""
    tiny = Tiny()
    for zone in ("ada", "carla"):
        for id in ("m1", "m2", "m3"):
            number = tiny.say(zone, id, f"It rains on {id}.")
            tiny.decide(zone, number, letter(number, "first"), DecidedPart((1, number)))
    # Said twice, once in a file and once in the inbox: it has a place in neither order.
    tiny.decide("ada", tiny.say("ada", "m5", line="file-1"))
    tiny.notes.append(Said("ada", "slack", "m5", digest_of("It rains."), INBOX, 0))
    # Another worker's copies, which came second.
    tiny.event("ada", Message(source_id="m2", sender_id="U1", content="Void."), void=True)
    tiny.end_key(tiny.last_key)
    tiny.decide("ada", 2, letter(2, "void"), void=True)
    # What nobody can read is parked.
    tiny.notes.append(Refused("ada", b"ada", b"{"))
    number = tiny.event("ada", Park(source_id="park:1", reason="no", body=b"{"), "recollect")
    tiny.decide("ada", number)
    # A tick asks for a command.
    number = tiny.event("ada", Tick(source_id="tick:1", name="close_turns"), "recollect")
    close = CloseTurn(source_id="close-turn:t1", platform="slack", turn_id="t1")
    draft = Draft(platform="recollect", occurred_at=1, payload=close)
    tiny.decide("ada", number, DecidedPart((1, number), outbox=[draft]))
    tiny.decide("ada", tiny.event("ada", close, "recollect"))
    # And something is forgotten whose change record was large.
    secret = tiny.say("carla", "m4", "It is behind the bagokudik.")
    tiny.decide("carla", secret, letter(secret, "bagokudik" * 50), limit=60)
    forget = Forget(source_id=f"forget:{secret}", targets=(secret,))
    number = tiny.event("carla", forget, "recollect")
    tiny.decide("carla", number, letter(number, "gone"), erases=(secret,))
    tiny.end_key(tiny.sources["carla", secret][0].key_id)
    tiny.notes.append(Forgotten("carla", "slack", "m4", "bagokudik"))
    return tiny


def test_a_whole_ledger_passes_and_lacks_nothing():
    tiny = whole()
    assert not tiny.failing()
    assert not tiny.lacking()
    ledger = decode(Topics(**tiny.logs))
    assert [len(zone.void) for zone in ledger.zones.values()] == [1, 0]
    assert ledger.zones["carla"].fragments > 3


def lose_an_event(tiny: Tiny) -> None:
    tiny.notes.append(Said("ada", "slack", "m9", digest_of("It rains."), INBOX, 999))


def drop_the_last_record(tiny: Tiny) -> None:
    tiny.records("events", "carla").pop()


def drop_a_record(tiny: Tiny) -> None:
    del tiny.records("events", "ada")[1]


def double_an_event(tiny: Tiny) -> None:
    number = tiny.event("ada", Message(source_id="m1", sender_id="U1", content="It rains on m1."))
    tiny.decide("ada", number)


def change_what_an_event_says(tiny: Tiny) -> None:
    tiny.notes.append(Said("ada", "slack", "m1", digest_of("It snows."), INBOX, 0))


def swap_two(tiny: Tiny) -> None:
    one, two = tiny.notes[0], tiny.notes[1]
    assert isinstance(one, Said)
    assert isinstance(two, Said)
    tiny.notes[0] = msgspec.structs.replace(one, at=two.at)
    tiny.notes[1] = msgspec.structs.replace(two, at=one.at)


def break_the_chain(tiny: Tiny) -> None:
    """Write the second event again, as if it followed nothing: what comes after is void."""
    log = tiny.records("events", "carla")
    envelope, sealed = msgspec.msgpack.decode(log[1].value or b"")
    fields = msgspec.msgpack.decode(envelope)
    fields[3] = bytes(32)
    value = msgspec.msgpack.encode([msgspec.msgpack.encode(fields), sealed])
    log[1] = Raw(1, log[1].key, value)


def flip_a_bit_of_a_payload(tiny: Tiny) -> None:
    """Of the last event, so that no hash is after it to notice."""
    log = tiny.records("events", "ada")
    last = log[-1].value or b""
    log[-1] = Raw(len(log) - 1, b"ada", last[:-1] + bytes([last[-1] ^ 1]))


def publish_as_a_stranger(tiny: Tiny) -> None:
    number = tiny.event("ada", Message(source_id="x", sender_id="U1", content="Who said this?"))
    tiny.decide("ada", number)


def decide_nothing(tiny: Tiny) -> None:
    tiny.say("ada", "m6")


def decide_another_event(tiny: Tiny) -> None:
    number = tiny.say("ada", "m6")
    tiny.decide("ada", number, of=1)


def decide_as_another_chain(tiny: Tiny) -> None:
    log = tiny.records("changes", "ada")
    header, parts = msgspec.msgpack.decode(log[0].value or b"")
    fields = msgspec.msgpack.decode(header)
    fields[1] = "c1"
    value = msgspec.msgpack.encode([msgspec.msgpack.encode(fields), parts])
    log.append(Raw(len(log), b"ada", value))


def flip_a_bit_of_a_change(tiny: Tiny) -> None:
    log = tiny.records("changes", "carla")
    number = tiny.say("carla", "m6")
    tiny.decide("carla", number, letter(number, "flipped"))
    last = log[-1].value or b""
    log[-1] = Raw(len(log) - 1, b"carla", last[:-1] + bytes([last[-1] ^ 1]))


def flip_a_bit_of_a_fragment(tiny: Tiny) -> None:
    log = tiny.records("changes", "carla")
    at = next(i for i, each in enumerate(log) if b"fragment" in (each.value or b""))
    value = log[at].value or b""
    log[at] = Raw(at, b"carla", value[:80] + bytes([value[80] ^ 1]) + value[81:])


def give_an_event_up(tiny: Tiny) -> None:
    tiny.decide("ada", tiny.say("ada", "m6"), parked=True)


def lose_a_key(tiny: Tiny) -> None:
    tiny.decide("ada", tiny.say("ada", "m6"))
    tiny.end_key(tiny.last_key)


def park_twice(tiny: Tiny) -> None:
    number = tiny.event("ada", Park(source_id="park:2", reason="no", body=b"{"), "recollect")
    tiny.decide("ada", number)


def park_never(tiny: Tiny) -> None:
    tiny.notes.append(Refused("ada", b"ada", b"not this one"))


def park_what_was_fine(tiny: Tiny) -> None:
    number = tiny.event("ada", Park(source_id="park:2", reason="no", body=b"?"), "recollect")
    tiny.decide("ada", number)


def never_append_a_command(tiny: Tiny) -> None:
    number = tiny.event("ada", Tick(source_id="tick:2", name="close_turns"), "recollect")
    done = CloseTurn(source_id="close-turn:t2", platform="slack", turn_id="t2")
    draft = Draft(platform="recollect", occurred_at=1, payload=done)
    tiny.decide("ada", number, DecidedPart((number,), outbox=[draft]))


def append_a_ghost(tiny: Tiny) -> None:
    done = CloseTurn(source_id="close-turn:t9", platform="slack", turn_id="t9")
    tiny.decide("ada", tiny.event("ada", done, "recollect"))


def keep_a_forgotten_key(tiny: Tiny) -> None:
    """Take the record that destroys it out again."""
    source, _, _ = tiny.sources["carla", 4]
    for log in tiny.logs["keys"].values():
        log[:] = [each for each in log if (each.key, each.value) != (source.key_id, None)]


def keep_the_key_of_a_void_copy(tiny: Tiny) -> None:
    message = Message(source_id="m4", sender_id="U1", content="It is behind the bagokudik.")
    tiny.event("carla", message, void=True)


def repeat_forgotten_words(tiny: Tiny) -> None:
    number = tiny.say("carla", "m6")
    tiny.decide("carla", number, letter(number, "the bagokudik was it"))


def leave_it_in_the_inbox(tiny: Tiny) -> None:
    tiny.offer(b"carla", b'{"content": "It is behind the bagokudik."}')


def erase_nothing(tiny: Tiny) -> None:
    tiny.notes.append(Forgotten("ada", "slack", "m3", "nobody says this"))


LOST = "every event that was acknowledged is there"
ONE_EACH = "every event has one change record"
UNREADABLE = "every record is there and can be read"
KEYS = "no copy of what was forgotten has a key"
WORDS = "nothing that can be read holds what was forgotten"
OTHER = "every event says what was published"
ITS_OWN = "every change record is that of its event"
PARKED = "what cannot be taken in is parked, once"
ASKED = "every command that was asked for is there"
STRANGE = "nothing is there that nobody published"
UNEXPLAINED = "no key is missing but by an erasure"
STANDING = "what was forgotten was erased"
VOID_KEYS = "no void copy has a key"


@pytest.mark.parametrize(
    ("damage", "failing"),
    [
        (lose_an_event, {LOST}),
        (drop_the_last_record, {ONE_EACH}),
        (drop_a_record, {UNREADABLE, LOST, ONE_EACH, PARKED, ASKED, VOID_KEYS}),
        (double_an_event, {"no event is there twice"}),
        (change_what_an_event_says, {OTHER}),
        (swap_two, {"the order within each zone is kept"}),
        (break_the_chain, {LOST, ONE_EACH, VOID_KEYS}),
        (flip_a_bit_of_a_payload, {"what the events say is sealed as it was", ITS_OWN}),
        (publish_as_a_stranger, {STRANGE}),
        (decide_nothing, {ONE_EACH}),
        (decide_another_event, {ITS_OWN}),
        (decide_as_another_chain, {"there is one chain of changes"}),
        (flip_a_bit_of_a_change, {"what was decided is sealed as it was"}),
        (flip_a_bit_of_a_fragment, {UNREADABLE, ONE_EACH, UNEXPLAINED, STANDING}),
        (give_an_event_up, {"no event that was taken in is given up"}),
        (lose_a_key, {UNEXPLAINED, OTHER}),
        (park_twice, {PARKED}),
        (park_never, {PARKED}),
        (park_what_was_fine, {"nothing else is parked"}),
        (never_append_a_command, {ASKED}),
        (append_a_ghost, {"every command that is there was asked for"}),
        (keep_a_forgotten_key, {KEYS, WORDS}),
        (keep_the_key_of_a_void_copy, {KEYS, WORDS, VOID_KEYS}),
        (repeat_forgotten_words, {WORDS}),
        (leave_it_in_the_inbox, {WORDS}),
        (erase_nothing, {STANDING, KEYS}),
    ],
    ids=lambda item: item.__name__ if callable(item) else "",
)
def test_damage_is_found(damage: Callable[[Tiny], Any], failing: set[str]):
    tiny = whole()
    damage(tiny)
    assert tiny.failing() == failing


def test_what_is_not_there_yet_is_counted():
    tiny = whole()
    never_append_a_command(tiny)
    decide_nothing(tiny)
    lose_an_event(tiny)
    park_never(tiny)
    tiny.offer(b"ada", b"{}")
    assert tiny.lacking() == {"events": 1, "parked": 1, "changes": 1, "commands": 1, "inbox": 1}


def test_what_is_lost_doubled_and_stopped_is_counted():
    tiny = whole()
    ledger = decode(Topics(**tiny.logs))
    assert not lost(ledger, Truth.of(tiny.notes))
    assert not doubled(ledger)
    assert not stopped(ledger)
    lose_an_event(tiny)
    double_an_event(tiny)
    decide_nothing(tiny)
    tiny.offer(b"ada", b"{}")
    tiny.offer(b"nobody", b"{}")
    ledger = decode(Topics(**tiny.logs))
    assert len(lost(ledger, Truth.of(tiny.notes))) == 1
    assert len(doubled(ledger)) == 1
    assert stopped(ledger).keys() >= {"ada", "nobody"}


def test_a_marker_in_the_inbox_is_nothing_to_take_in():
    tiny = whole()
    tiny.offer(b"recollect:marker", b"")
    assert not tiny.lacking()
    assert not stopped(decode(Topics(**tiny.logs)))


def test_a_conflict_with_what_was_forgotten_may_be_parked_or_not():
    for body in (None, b"other"):
        tiny = whole()
        tiny.notes.append(Refused("carla", b"carla", b"other", ("slack", "m4")))
        if body is not None:
            park = Park(source_id="park:3", reason="conflict", body=body)
            tiny.decide("carla", tiny.event("carla", park, "recollect"))
        assert not tiny.failing()


def test_notes_are_read_as_they_were_written(tmp_path):
    noted: list[Note] = [
        Said("ada", "slack", "m1", "d", INBOX, 3),
        Refused("ada", b"\xff", b"\x00{", ("slack", "m1")),
        Forgotten("ada", "slack", "m1", "bagokudik"),
    ]
    notes = Notes(tmp_path / "notes.jsonl")
    notes.add(*noted)
    notes.close()
    assert Truth.read(notes.path) == Truth.of(noted)


def test_the_verifier_knows_no_code_of_the_product():
    script = (
        "import sys, tests.storm.verification.verifier\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'recollect'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[]"
