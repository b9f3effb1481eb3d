"""Nobody who may publish can take the id of a command, nor stand in the way of a later one."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from recollect.home.home_directory import Home
from recollect.operations.processes.worker_processes import work
from recollect.schemas.errors import CommandConflict, InvalidInput
from recollect.schemas.events import (
    DecideMerge,
    Draft,
    Drop,
    Message,
    ProposeMerge,
    Retry,
    Tick,
    UndoMerge,
)
from recollect.schemas.inbound import InboundEvent, draft_of
from recollect.streams.agents.turn_closer import ABANDONED_AFTER_MS, CLOSE_TURNS
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.publishing.inbox import InboxRecord, ingest_records
from tests.forget.kit import ZONE, Recollect, line

LOOK_ALIKES = [
    "recollect",
    "Recollect ",
    " RECOLLECT",
    "\u3000recollect\u00a0",
    "\uff52\uff45\uff43\uff4f\uff4c\uff4c\uff45\uff43\uff54",
    "recolleCT\t",
]


def test_a_command_that_no_one_could_read_is_refused() -> None:
    """Trace: such a record, and every later one of its zone, could never be read again."""
    no_number: Any = "one"
    with pytest.raises(InvalidInput, match=r"^number: expected `int`.*; drop was not recorded"):
        command(Drop(source_id="drop:1", number=no_number), 0)


def test_nobody_can_take_the_id_of_an_erasure(recollect: Recollect) -> None:
    """Trace: an event called forget:1 on the platform of commands, and event 1 could stay."""
    recollect.ingest(line("1", "My PIN is qwxyz."))
    taken = recollect.ingest(line("forget:1", "First come.", platform="recollect"))
    assert (taken["new"], taken["rejected"]) == (0, 1)
    assert "reserved for commands" in taken["rejections"][0]["reason"]
    recollect.run("forget", "1")
    assert not recollect.left("qwxyz")
    assert recollect.whole()


@pytest.mark.parametrize("platform", LOOK_ALIKES)
def test_the_platform_of_commands_is_refused_however_it_is_written(
    recollect: Recollect, platform: str
) -> None:
    for kind in ("message", "remember", "turn_completed"):
        event = line("switch:c1:0", "words", platform=platform, kind=kind, turn_id="t")
        assert recollect.ingest(event)["rejected"] == 1
    assert recollect.run("status")["events"] == 0
    with recollect.memory() as memory, pytest.raises(InvalidInput, match="reserved for commands"):
        memory.publish(
            [
                draft_of(InboundEvent(**line("1", "This one is fine."))),
                Draft(
                    platform=platform,
                    occurred_at=1,
                    payload=Message(source_id="tick:1", sender_id="u", content="words"),
                ),
            ]
        )
    assert recollect.run("status")["events"] == 0


@pytest.mark.parametrize("platform", ["recollect-app", "my recollect", "recollecting", "slack"])
def test_other_names_are_taken(recollect: Recollect, platform: str) -> None:
    assert recollect.ingest(line("1", "words", platform=platform))["new"] == 1


def test_what_recollect_itself_writes_is_still_taken(recollect: Recollect) -> None:
    recollect.run("remember", "The deploy key is in the blue safe.")
    with recollect.memory() as memory:
        memory.create_mental_model("Keys", "All keys are in the safe.")
    results = recollect.run("recall", "Where is the deploy key?")["results"]
    assert any("blue safe" in result["text"] for result in results)
    assert recollect.whole()


def old(source_id: str, **fields: Any) -> Draft:
    """A record as the build before let anybody publish it."""
    payload = Message(source_id=source_id, sender_id="mallory", content="I was here first.")
    return Draft(platform="recollect", occurred_at=1, payload=payload, **fields)


def test_an_old_home_where_the_id_of_an_erasure_was_taken_still_forgets(
    recollect: Recollect,
) -> None:
    recollect.ingest(line("1", "My PIN is qwxyz."))
    recollect.publish(old("forget:1"), old("forget:1,2"), old("forget"))
    recollect.run("forget", "1")
    assert not recollect.left("qwxyz")
    assert recollect.whole()


def test_two_commands_of_one_kind_have_different_ids(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I know Bob Stone."), line("2", "Robert Stone called."))
    with recollect.memory() as memory:
        for _ in range(3):
            # Twice decided, undone or dropped is harmless, and never a conflict.
            source = random_id("decide-merge")
            decided = DecideMerge(source_id=source, candidate_id="none", approve=True)
            assert memory.command(decided).status == "new"
            undone = UndoMerge(source_id=random_id("undo-merge"), merge_id="none")
            assert memory.command(undone).status == "new"
            proposed = ProposeMerge(
                source_id=random_id("merge:a:b"),
                entity_a="a",
                entity_b="b",
                confidence=0.5,
                reason="why not",
            )
            assert memory.command(proposed).status == "new"
            retried = Retry(source_id=random_id("retry"), number=1)
            assert memory.command(retried).status == "new"
            dropped = Drop(source_id=random_id("drop"), number=1)
            assert memory.command(dropped).status == "new"


def test_a_command_that_the_ledger_does_not_take_fails_loudly(recollect: Recollect) -> None:
    recollect.publish(old("tick:close_turns:1"))
    ledger = EmbeddedLedger(recollect.home)
    try:
        tick = Tick(source_id="tick:close_turns:1", name=CLOSE_TURNS)
        with pytest.raises(CommandConflict, match="record 1 already has the id"):
            publish_commands(ledger, ZONE, [command(tick, 1)])
        taken = command(Tick(source_id="tick:close_turns:2", name=CLOSE_TURNS), 2)
        first, again = publish_commands(ledger, ZONE, [taken, taken])
        by_two = [command(Drop(source_id="drop:1", number=1, given_by=giver), 3) for giver in "ab"]
        one, other = publish_commands(ledger, ZONE, by_two)
    finally:
        ledger.close()
    assert (first.status, again.status) == ("new", "duplicate")
    assert (one.status, other.status) == ("new", "duplicate")


def test_a_tick_whose_id_was_taken_is_reported_and_the_zone_goes_on(
    recollect: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_TICKS", "on")
    monkeypatch.setattr("recollect.operations.processes.embedded_worker.time.time", lambda: 600.0)
    recollect.publish(old("tick:close_turns:2"))
    told: list[object] = []

    def report(zone: str, moved: int | Exception) -> None:
        told.append(moved)
        if len(told) > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(Home(recollect.home), report)
    refused, decided = told
    assert isinstance(refused, CommandConflict)
    assert decided == 1


def test_a_parked_record_is_parked_once_and_never_lost(recollect: Recollect) -> None:
    """Also in an old home, where somebody has the id that follows from its bytes."""
    record, other = b"{qwxyz", b"{marimba"
    ids = []
    for body in (record, other):
        framed = (len(part).to_bytes(8, "big") + part for part in (ZONE.encode(), body))
        ids.append(f"park:{hashlib.sha256(b''.join(framed)).hexdigest()}")
    recollect.publish(old(ids[0]))
    ledger = EmbeddedLedger(recollect.home)
    try:
        for at in (1_000, 2_000, 2_000):
            # The same bytes come again, at another time.
            for body in (record, other):
                ingest_records(ledger, [InboxRecord(ZONE.encode(), body, at)])
    finally:
        ledger.close()
    recollect.run("worker", "--once")
    letters = recollect.run("deadletters")["dead_letters"]
    assert [letter["number"] for letter in letters] == [2, 3]
    assert len(recollect.left("qwxyz")) == 1
    assert recollect.run("forget", "#2", "#3")["events"] == 2
    assert not recollect.left("qwxyz", "marimba")


# The end of a turn that nobody ended


@pytest.fixture(autouse=True)
def no_ticks_but_these(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_TICKS", "off")


def turn(id: str, text: str, **fields: Any) -> dict[str, Any]:
    return line(id, text, turn_id="T", thread_id="t", **fields)


def tick_after(recollect: Recollect, hours: int) -> None:
    at = 1_767_607_200_000 + hours * ABANDONED_AFTER_MS
    tick = Tick(source_id=f"tick:{CLOSE_TURNS}:{hours}", name=CLOSE_TURNS)
    recollect.publish(command(tick, at, ingested_at=at))
    recollect.run("worker", "--once")


def facts(recollect: Recollect) -> int:
    return int(recollect.run("status")["facts"])


def test_nobody_can_take_the_id_of_a_turns_end(recollect: Recollect) -> None:
    recollect.ingest(turn("m1", "My bicycle is blue."))
    recollect.ingest(
        line("recollect:close-turn:T", "First come."),
        line("close-turn:T", "First come."),
    )
    before = facts(recollect)
    tick_after(recollect, 2)
    assert facts(recollect) == before + 1
    assert recollect.whole()


def test_a_turn_is_closed_by_one_command_however_many_ticks_ask(recollect: Recollect) -> None:
    recollect.ingest(turn("m1", "My bicycle is blue."))
    at = 1_767_607_200_000
    ticks = [
        command(
            Tick(source_id=f"tick:{CLOSE_TURNS}:{hours}", name=CLOSE_TURNS),
            at + hours * ABANDONED_AFTER_MS,
        )
        for hours in (2, 3, 4)
    ]
    recollect.publish(*ticks)
    recollect.run("worker", "--once")
    assert facts(recollect) == 1
    with recollect.memory() as memory:
        assert len(memory.node.ledger.events_of_kind(ZONE, "close_turn", 0)) == 1
    assert recollect.whole()
    # Deciding again asks again, and finds the command there.
    recollect.run("rebuild", "--level", "derive")
    recollect.run("worker", "--once")
    with recollect.memory() as memory:
        assert len(memory.node.ledger.events_of_kind(ZONE, "close_turn", 0)) == 1
    assert facts(recollect) == 1
    assert recollect.whole()


def test_what_comes_into_a_closed_turn_is_decided(recollect: Recollect) -> None:
    recollect.ingest(turn("m1", "My bicycle is blue."))
    tick_after(recollect, 2)
    recollect.ingest(turn("m2", "My boat is red."))
    assert facts(recollect) == 2
    assert recollect.whole()
