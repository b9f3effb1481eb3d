"""Histories that broke earlier forms of the rules (docs/commit.md), as far as one machine can."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect.projections.content import content_hash
from recollect.projections.embeddings import canonical_vectors
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation
from recollect.schemas import events
from recollect.schemas.changes import DecidedPart
from recollect.schemas.errors import HomeError, InjectedFailure
from recollect.schemas.events import (
    Drop,
    Event,
    Message,
    Payload,
    Remember,
    Retry,
    Tick,
)
from recollect.schemas.ledger import records, upcast
from recollect.schemas.ledger.records import record_hash
from recollect.schemas.wire import RebuildLevel
from recollect.streams.agents import AGENTS, Agent, Conversation, Extract, State
from recollect.streams.agents.turn_closer import ABANDONED_AFTER_MS, CLOSE_TURNS
from recollect.streams.engine.zone_driver import MAX_ATTEMPTS, MAX_CRASHES, RebuildRegression
from recollect.streams.ledger import CHANGES, EVENTS, partition_of
from recollect.streams.ledger.sequencer import sequence
from recollect.streams.lifecycle.rebuilding import rebuild, rollback
from recollect.streams.lifecycle.verifying import LedgerCheck, verify
from recollect.streams.projecting.projector import project_changes, project_events
from recollect.streams.records.chain_readers import ChangeReader, EventReader
from recollect.streams.system import failpoints
from recollect.streams.system.failpoints import FAILPOINTS
from tests.protocol.kit import (
    DAY,
    DIMENSION,
    MINUTE,
    MODEL,
    START,
    ZONE,
    Home,
    Meddler,
    Poisoned,
    Switch,
    agree,
    command,
    complete,
    copy_of,
    files_holding,
    forge,
    forget,
    hashes_of,
    live,
    projected,
    say,
    vector_of,
)
from tests.slow_parameters import slow_except

ROOT = Path(__file__).resolve().parents[2]

MakeHome = Callable[..., Home]

BERLIN = say("Ada moved to Berlin.", "1")
TEA = say("I like green tea.", "2")
RED = say("We painted the kitchen red.", "3")


def whole(home: Home) -> dict[str, str]:
    """Require that verify finds nothing, and that live, replica and derivation agree."""
    found = verify(home.node, ZONE)
    assert found.ok, found.problems
    return agree(home)


# Chains


def test_w1s_1a_lands_and_w2s_batch_1b_2b_lands_after(make_home: MakeHome, room: Path) -> None:
    one = make_home("one")
    one.publish(BERLIN, TEA)

    def land_1a() -> None:
        with one.driver(batch=1) as driver:
            driver.catch_up()
            records_ = EventReader(one.ledger, ZONE).read(1)
            assert driver.decide(records_, driver.extract(records_)) == 1

    two = make_home_for(make_home, "two", room / "one", Meddler("2", land_1a))
    two.drive()
    one.drive()
    chain = ChangeReader(one.ledger, ZONE, one.node.current(ZONE).chain)
    assert [change.header.number for change in chain.read(100)] == [1, 2]
    assert chain.void == 2
    assert one.facts() == two.facts() == [(1, "Ada moved to Berlin."), (2, "Ada likes green tea.")]
    assert live(one) == live(two)
    whole(one)


def test_what_was_acknowledged_but_is_void_is_decided_again(
    make_home: MakeHome, room: Path
) -> None:
    """W1 appends A and B; W2's A has landed first, so both are void; B must not be lost."""
    two = make_home("two")
    two.publish(BERLIN, TEA)
    decided: list[int] = []

    def land_first() -> None:
        with two.driver(batch=1) as driver:
            driver.catch_up()
            records_ = EventReader(two.ledger, ZONE).read(1)
            driver.decide(records_, driver.extract(records_))

    one = make_home_for(make_home, "one", room / "two", Meddler("1", land_first))
    with one.driver() as driver:
        driver.catch_up()
        records_ = EventReader(one.ledger, ZONE).read(10)
        decided.append(driver.decide(records_, driver.extract(records_)))
        assert decided == [0]
        # B follows a record that is there, though no chain accepts either.
        check = LedgerCheck(two.ledger, ZONE, two.node.current(ZONE).chain, decided=1)
        check.run()
        assert (check.problems, check.void) == ([], 2)
        assert driver.run() == 1
    assert one.facts() == [(1, "Ada moved to Berlin."), (2, "Ada likes green tea.")]
    two.drive()
    assert live(one) == live(two)
    whole(two)


def make_home_for(make_home: MakeHome, name: str, ledger: Path, *more: Agent) -> Home:
    """A worker with files of its own on the ledger of another home."""
    home: Home = make_home(name, (*AGENTS, *more), ledger=ledger)
    return home


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_dropped_n_then_n_plus_1_lands(home: Home, after: int) -> None:
    home.publish(BERLIN, TEA, RED)
    home.publish(say("My bicycle is blue.", "4"))
    if after:
        home.drive() if after == 2 else drive_one(home)
    forge(home, min(after + 2, 4))
    home.drive()
    assert [number for number, _ in home.facts()] == [1, 2, 3, 4]
    assert "Ghosts" not in str(home.facts())
    whole(home)


def drive_one(home: Home) -> None:
    """Decide the first record and no more."""
    with home.driver() as driver:
        driver.catch_up()
        records_ = EventReader(home.ledger, ZONE).read(1)
        assert driver.decide(records_, driver.extract(records_)) == 1


def test_a_copy_of_an_accepted_record_is_applied_once(home: Home) -> None:
    home.tell(BERLIN, TEA)
    before = live(home)
    first = home.ledger.read(CHANGES, partition_of(ZONE), 0, 1, ZONE)[0]
    home.ledger.append(CHANGES, ZONE, [first.value])
    home.tell(RED)
    assert len(home.facts()) == 3
    assert projected(home) == live(home) != before


def test_what_an_overtaken_sequencer_appends_in_one_go_is_void(home: Home) -> None:
    home.tell(BERLIN)
    head = home.ledger.head(ZONE)
    home.publish(TEA)
    secret = home.ledger.keys.secret
    late = [RED, say("My bicycle is blue.", "4"), say("It has no bell.", "5")]
    _, overtaken, _ = sequence(
        ZONE, late, head, secret=secret, now=START, find_known=lambda source: None
    )
    assert [event.number for event in overtaken] == [2, 3, 4]
    home.ledger.append(EVENTS, ZONE, [event.value for event in overtaken])
    home.drive()
    assert home.facts() == [(1, "Ada moved to Berlin."), (2, "Ada likes green tea.")]
    assert verify(home.node, ZONE).void_records == 3
    whole(home)
    home.tell(RED)
    assert len(home.facts()) == 3
    whole(home)


@pytest.mark.parametrize("lost", [0, 1])
def test_an_event_whose_forerunner_was_taken_away_is_no_void_one(home: Home, lost: int) -> None:
    head = home.ledger.head(ZONE)
    drafts = [BERLIN, TEA, RED]
    secret = home.ledger.keys.secret
    _, events_, _ = sequence(
        ZONE, drafts, head, secret=secret, now=START, find_known=lambda source: None
    )
    kept = [event.value for event in events_ if event.number != lost + 1]
    home.ledger.append(EVENTS, ZONE, kept)
    problems = verify(home.node, ZONE).problems
    assert any(f"event {lost + 2} does not follow event {lost}:" in each for each in problems)


def test_a_zombies_record_with_the_right_number_and_another_past_is_void(home: Home) -> None:
    home.tell(BERLIN)
    home.publish(TEA)
    forge(home, 2)
    home.drive()
    assert home.facts() == [(1, "Ada moved to Berlin."), (2, "Ada likes green tea.")]
    whole(home)


# Crashes


def a_history(home: Home) -> None:
    """Messages, a turn that a tick completes, and an erasure."""
    late = START + 2 * ABANDONED_AFTER_MS
    home.publish(
        BERLIN,
        TEA,
        say("My bicycle is blue.", "t1", turn="T", thread="t"),
        say("We painted the kitchen red.", "3", at=START + MINUTE),
        command(Tick(source_id="tick:1", name=CLOSE_TURNS), late),
        forget(2),
        say("The cat sleeps under the sofa.", "5"),
    )


EXPECTED = [
    (1, "Ada moved to Berlin."),
    (3, "Ada's bicycle is blue."),
    (4, "Ada and others painted the kitchen red."),
    (7, "The cat sleeps under the sofa."),
]
COMMIT_STEPS = [name for name in FAILPOINTS if name.startswith(("commit.", "outbox."))]
SOME_STEPS = ("commit.produced", "commit.keys_destroyed", "commit.memory", "outbox.appended")


@pytest.mark.parametrize("name", slow_except(SOME_STEPS, COMMIT_STEPS))
def test_a_crash_at_any_step_of_a_commit_changes_nothing(
    home: Home, make_home: MakeHome, name: str
) -> None:
    undisturbed = make_home("undisturbed")
    a_history(undisturbed)
    undisturbed.drive()
    assert undisturbed.facts() == EXPECTED
    a_history(home)
    crashes = 0
    for count in range(1, 6):
        failpoints.arm(name, count)
        try:
            home.drive()
        except InjectedFailure:
            crashes += 1
        failpoints.disarm()
        home.restart()
    home.drive()
    assert crashes
    assert home.facts() == EXPECTED
    assert live(home) == live(undisturbed)
    assert not home.node.is_purge_pending(ZONE)
    whole(home)


@pytest.mark.parametrize("name", slow_except(SOME_STEPS, COMMIT_STEPS))
def test_a_crash_at_any_step_before_a_replica_evolves(
    home: Home, make_home: MakeHome, room: Path, name: str
) -> None:
    """Another worker projects what the one that died left in the topics, and goes on."""
    a_history(home)
    failpoints.arm(name)
    with pytest.raises(InjectedFailure):
        home.drive()
    failpoints.disarm()
    other = make_home_for(make_home, "other", room / "home")
    other.drive()
    home.restart()
    home.drive()
    assert home.facts() == other.facts() == EXPECTED
    assert live(home) == live(other)
    whole(home)


@pytest.mark.parametrize("name", ["append.keys", "append.committed"])
def test_a_crash_while_publishing_then_the_same_again(home: Home, name: str) -> None:
    failpoints.arm(name)
    with pytest.raises(InjectedFailure):
        home.publish(BERLIN, TEA)
    home.restart()
    assert {receipt.number for receipt in home.tell(BERLIN, TEA)} == {1, 2}
    assert home.facts() == [(1, "Ada moved to Berlin."), (2, "Ada likes green tea.")]
    whole(home)


def test_files_that_a_crash_left_apart_meet_again(home: Home) -> None:
    home.tell(BERLIN)
    failpoints.arm("commit.memory")
    home.publish(TEA)
    with pytest.raises(InjectedFailure):
        home.drive()
    with home.files() as files:
        assert files.memory.watermark().number == 2
        assert files.identity.watermark().number == files.embeddings.watermark().number == 1
    home.restart()
    home.drive()
    with home.files() as files:
        assert files.watermark().number == 2
    whole(home)


# Erasures


def test_a_forgotten_id_does_not_come_back(home: Home) -> None:
    home.tell(BERLIN, TEA)
    home.tell(forget(1))
    again = home.tell(BERLIN, say("Something else was said.", "1"))
    assert [receipt.status for receipt in again] == ["duplicate", "duplicate"]
    assert home.facts() == [(2, "Ada likes green tea.")]
    whole(home)


def test_an_extract_that_read_a_forgotten_event_is_made_again(home: Home) -> None:
    """Extract of 3 reads question 1, 2 forgets 1, and only then 3 is resolved."""
    home.publish(say("Where is the qwxyz treasure?", "q", thread="t"))
    home.publish(forget(1), say("My treasure is under the old oak.", "a", by="Bob", thread="t"))
    with home.driver() as driver, home.files() as files:
        # As if the forget had arrived after the answer was read.
        project_events(home.ledger, ZONE, files, upto=1)
        first, second, third = EventReader(home.ledger, ZONE).read(3)
        stale = driver.extract([third])
        assert stale[0].reads == {1}
        assert driver.decide([first], driver.extract([first])) == 1
        project_events(home.ledger, ZONE, files)
        assert driver.decide([second], driver.extract([second])) == 1
        assert driver.decide([third], stale) == 1
    assert home.facts() == [(3, "Bob's treasure is under the old oak.")]
    assert home.rows("memory", "SELECT context FROM facts") == [(None,)]
    home.drive()
    assert b"qwxyz" not in home.readable_parts()
    assert not files_holding(home.path, b"qwxyz")
    whole(home)


@pytest.mark.parametrize("step", [1, 2, 64])
def test_an_answer_forgets_its_question(home: Home, step: int) -> None:
    home.tell(
        say("I like green tea.", "0", thread="t"),
        say("Where is the qwxyz treasure?", "q", thread="t"),
        say("My treasure is under the old oak.", "a", by="Bob", thread="t"),
    )
    assert b"qwxyz" in home.readable_parts()
    with home.driver(batch=step) as driver:
        home.publish(forget(2), say("My map hangs on the wall.", "m", by="Bob", thread="t"))
        driver.run()
    assert b"qwxyz" not in home.readable_parts()
    home.drive()
    assert not files_holding(home.path, b"qwxyz")
    assert [number for number, _ in home.facts()] == [1, 3, 5]
    whole(home)


def test_what_superseded_goes_and_what_it_superseded_is_current_again(home: Home) -> None:
    home.tell(BERLIN)
    home.tell(say("Ada moved to Paris.", "2", at=START + MINUTE))
    assert home.current_facts() == ["Ada moved to Paris."]
    home.tell(forget(2))
    assert home.current_facts() == ["Ada moved to Berlin."]
    whole(home)


def test_said_twice_and_the_first_is_forgotten(home: Home) -> None:
    home.tell(BERLIN)
    home.tell(say("Ada moved to Berlin.", "2", at=START + MINUTE))
    assert home.facts() == [(1, "Ada moved to Berlin.")]
    home.tell(forget(1))
    assert home.facts() == [(2, "Ada moved to Berlin.")]
    whole(home)


def test_said_twice_and_the_second_is_forgotten(home: Home) -> None:
    home.tell(BERLIN)
    home.tell(say("Ada moved to Berlin.", "2", at=START + MINUTE))
    before = live(home)
    home.tell(forget(2))
    assert home.facts() == [(1, "Ada moved to Berlin.")]
    assert live(home) != before
    whole(home)


@pytest.mark.parametrize("stop_at", slow_except((0, 3, 8), range(9)))
def test_a_replica_that_evolves_with_keys_already_destroyed(home: Home, stop_at: int) -> None:
    """It has read up to anywhere when the keys go, and ends where everybody is."""
    home.tell(
        BERLIN,
        say("Where is the qwxyz treasure?", "q", thread="t"),
        say("The treasure is in Berlin.", "a", by="Bob", thread="t"),
        say("Ada moved to Paris.", "p", at=START + MINUTE),
        say("Ada moved to Berlin.", "b", at=START + 2 * MINUTE),
        say("My bicycle is blue.", "t1", turn="T", thread="t"),
        complete("T", "t2", thread="t"),
        say("My bicycle is blue.", "again"),
    )
    generation = home.node.current(ZONE)
    with copy_of(home) as copy, copy.node.open(ZONE, generation) as _:
        late = home.path.parent / "late"
        with ZoneFiles(late, MODEL, DIMENSION) as replica:
            project_upto(home, generation, replica, stop_at)
            home.tell(forget(4, 2))
            home.tell(forget(1))
            home.tell(forget(6))
            project_events(home.ledger, ZONE, replica)
            project_changes(home.ledger, ZONE, generation.chain, replica)
            assert hashes_of(replica) == live(home)
            assert not files_holding(home.path, b"qwxyz")
        # A replica is purged by whoever runs it; its rows are gone at any rate.
    whole(home)


def project_upto(home: Home, generation: Generation, files: ZoneFiles, number: int) -> None:
    """Project a replica up to a record, and no further."""
    if number:
        with copy_of(home) as earlier:
            truncate(earlier, number)
            project_events(earlier.ledger, ZONE, files, upto=number)
            project_changes(earlier.ledger, ZONE, generation.chain, files)
        assert files.watermark().number == number


def truncate(home: Home, number: int) -> None:
    """Cut a ledger off after a record, as a backup of then would be."""
    partition = partition_of(ZONE) << 40
    file = home.ledger._file
    with file.writing():
        for topic in (EVENTS, CHANGES):
            file.connection.execute(
                f"DELETE FROM {topic} WHERE position >= ?", (partition + number,)
            )


@pytest.mark.parametrize("name", ["commit.produced", "commit.accepted", "commit.keys_destroyed"])
def test_an_erasure_is_decided_and_the_key_is_destroyed_after_the_restart(
    home: Home, name: str
) -> None:
    home.tell(say("The qwxyz code is on the door.", "1"), TEA)
    home.publish(forget(1))
    failpoints.arm(name)
    with pytest.raises(InjectedFailure):
        home.drive()
    home.restart()
    home.drive()
    first, *_ = EventReader(home.ledger, ZONE).read(10)
    assert first.key is None
    assert first.event is None
    assert not files_holding(home.path, b"qwxyz")
    whole(home)


def test_nothing_of_what_is_forgotten_is_left_in_any_file(home: Home) -> None:
    text = "The qwxyz code is on the door."
    (vector,) = canonical_vectors.quantise(vector_of(text)[None])
    home.tell(say(text, "secret-id-7731"), TEA)
    assert files_holding(home.path, b"qwxyz")
    assert files_holding(home.path, vector)
    rebuild(home.node, ZONE, "derive")
    assert len(files_holding(home.path, b"qwxyz")) >= 2
    home.tell(forget(1))
    assert not files_holding(home.path, b"qwxyz", b"secret-id-7731", vector)
    whole(home)


def test_the_reason_of_a_parking_goes_with_the_record(make_home: MakeHome) -> None:
    """A reason may quote what it is about; so does what retries and drops make of it."""
    switch = Switch()
    home = make_home("home", (*AGENTS, Poisoned("poison", switch)))
    home.tell(say("The qwxyz poison is in the cup.", "1"))
    home.tell(say("The qwxyz poison is in the glass.", "2"), TEA)
    assert "qwxyz" in home.letters()[0][2]
    home.tell(command(Retry(source_id="r1", number=1)))
    switch.on = False
    home.tell(command(Retry(source_id="r2", number=1)), command(Drop(source_id="d", number=2)))
    home.tell(forget(1))
    home.tell(forget(2))
    assert b"qwxyz" not in home.readable_parts()
    assert not files_holding(home.path, b"qwxyz")
    whole(home)


def test_a_name_that_was_learnt_from_a_forgotten_event_stays_in_no_part(home: Home) -> None:
    known = say("I like green tea.", "1", by="Qwxyz")
    assert isinstance(known.payload, Message)
    home.tell(known)
    later = say("My bicycle is blue.", "2", by="Qwxyz")
    assert isinstance(later.payload, Message)
    home.tell(
        command(
            Message(
                source_id="2",
                sender_id="qwx-77",
                sender_name="Qwxyz Person",
                content="I like green tea with milk.",
            )
        ),
        command(Message(source_id="3", sender_id="qwx-77", content="My bicycle is blue.")),
    )
    home.tell(forget(1, 2))
    assert b"Qwxyz" not in home.readable_parts()
    assert not files_holding(home.path, b"Qwxyz")
    whole(home)


def test_forgetting_what_never_was_does_nothing(home: Home) -> None:
    home.tell(BERLIN)
    before = live(home)
    home.tell(forget(77, 0, -3))
    home.tell(forget(3, 4, at=START + 1))
    assert live(home) == before
    home.tell(TEA)
    assert home.facts() == [(1, "Ada moved to Berlin."), (4, "Ada likes green tea.")]
    whole(home)


def test_forgetting_twice_is_forgetting_once(home: Home) -> None:
    home.tell(BERLIN, TEA)
    home.tell(forget(1))
    once = live(home)
    home.tell(forget(1, at=START + 1))
    home.tell(forget(1, 1, at=START + 2))
    assert live(home) == once
    whole(home)


def test_forgetting_a_command(home: Home) -> None:
    remember = Remember(source_id="r", sender_id="user", content="The qwxyz key opens the shed.")
    late = START + 2 * ABANDONED_AFTER_MS
    home.tell(
        command(remember),
        say("My bicycle is blue.", "t1", turn="T", thread="t"),
        command(Tick(source_id="tick:1", name=CLOSE_TURNS), late),
    )
    assert [number for number, _ in home.facts()] == [1, 2]
    home.tell(forget(1))
    home.tell(forget(3))
    assert [number for number, _ in home.facts()] == [2]
    home.tell(forget(4))
    assert list(home.facts()) == []
    assert not files_holding(home.path, b"qwxyz")
    whole(home)


def test_forgetting_an_erasure_brings_nothing_back(home: Home) -> None:
    home.tell(say("The qwxyz code is on the door.", "1"), TEA)
    home.tell(forget(1))
    home.tell(forget(3))
    assert home.facts() == [(2, "Ada likes green tea.")]
    whole(home)
    rebuild(home.node, ZONE, "derive")
    assert home.facts() == [(2, "Ada likes green tea.")]
    whole(home)


def test_an_erasure_reaches_the_generation_that_is_kept(home: Home) -> None:
    """Both say Berlin at the same time, so that a row of the one equals a row of the other."""
    home.tell(say("The qwxyz code is in Berlin.", "1"), say("I love Berlin and Paris.", "2"))
    rebuild(home.node, ZONE, "derive")
    home.tell(forget(1))
    assert not files_holding(home.path, b"qwxyz")
    now = whole(home)
    rollback(home.node, ZONE)
    assert live(home) == now
    whole(home)


def test_an_erasure_that_comes_while_a_rebuild_is_at_work(home: Home, make_home: MakeHome) -> None:
    home.tell(say("The qwxyz code is in Berlin.", "1"), say("I love Berlin and Paris.", "2"))
    other = make_home("home")
    asked: list[bool] = []

    def meanwhile(_: int) -> None:
        if not asked:
            asked.append(True)
            other.tell(forget(1))

    rebuild(home.node, ZONE, "derive", progress=meanwhile)
    home.drive()
    assert not files_holding(home.path, b"qwxyz")
    assert [number for number, _ in home.facts()] == [2]
    whole(home)


# The outbox


def a_turn_and_a_tick(home: Home) -> None:
    late = START + 2 * ABANDONED_AFTER_MS
    home.publish(
        say("My bicycle is blue.", "t1", turn="T", thread="t"),
        command(Tick(source_id="tick:1", name=CLOSE_TURNS), late),
    )


def kinds_of(home: Home) -> list[str]:
    return [event.kind for event in EventReader(home.ledger, ZONE).read(1_000)]


@pytest.mark.parametrize("name", ["commit.produced", "commit.memory", "commit.embeddings"])
def test_a_tick_that_was_evolved_after_a_crash_still_gets_its_commands(
    home: Home, make_home: MakeHome, room: Path, name: str
) -> None:
    a_turn_and_a_tick(home)
    failpoints.arm(name)
    with pytest.raises(InjectedFailure):
        home.drive()
    other = make_home_for(make_home, "other", room / "home")
    other.drive()
    home.restart()
    home.drive()
    assert kinds_of(home) == ["message", "tick", "close_turn"]
    assert home.facts() == [(1, "Ada's bicycle is blue.")]
    whole(home)


def test_commands_of_a_void_change_are_not_appended(home: Home) -> None:
    home.tell(BERLIN)
    home.publish(TEA)
    forge(home, 2, commands=[command(Tick(source_id="ghost", name="nothing"))])
    home.drive()
    home.tell(RED)
    assert kinds_of(home) == ["message"] * 3
    assert "ghost" not in str(home.facts()).lower()
    whole(home)


def test_commands_are_appended_once_whoever_empties_the_outbox(
    home: Home, make_home: MakeHome, room: Path
) -> None:
    a_turn_and_a_tick(home)
    home.drive()
    other = make_home_for(make_home, "other", room / "home")
    other.drive()
    rebuild(home.node, ZONE, "derive")
    rebuild(home.node, ZONE, "project")
    home.drive()
    assert kinds_of(home) == ["message", "tick", "close_turn", "switch"]
    whole(home)


class QueryingAgent:
    """An agent that asks for a command of its own for every message."""

    kinds = frozenset({"message"})

    def __init__(self, name: str) -> None:
        self._name = name

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        tick = command(Tick(source_id=f"{self._name}:{event.number}", name="nothing"))
        return [DecidedPart((event.number,), outbox=[tick])]


def test_only_the_generation_in_use_appends_commands(make_home: MakeHome) -> None:
    """A rebuild, and a kept generation that an erasure is carried into, ask for nothing."""
    home = make_home("home", (*AGENTS, QueryingAgent("old")))
    home.tell(BERLIN)
    home.restart(AGENTS)
    rebuild(home.node, ZONE, "fresh")
    home.restart((*AGENTS, QueryingAgent("new")))
    home.tell(TEA)
    home.restart((*AGENTS, QueryingAgent("newest")))
    home.publish(RED)
    home.tell(forget(1))
    asked = sorted(
        event.event.payload.source_id
        for event in EventReader(home.ledger, ZONE).read(1_000)
        if event.event is not None and event.kind == "tick"
    )
    third = next(
        event.source.number
        for event in EventReader(home.ledger, ZONE).read(1_000)
        if event.event is not None and event.event.payload.source_id == "3"
    )
    # After the first, its tick and the switch to the new generation.
    second = 4
    assert asked == sorted(["old:1", f"new:{second}", f"newest:{third}"])


# Lockstep


def test_events_db_ahead_of_the_agents_changes_nothing(make_home: MakeHome) -> None:
    history = [
        say("Where is the treasure?", "q", thread="t"),
        say("My treasure is under the old oak.", "a", by="Bob", thread="t"),
        say("My bicycle is blue.", "t1", turn="T", thread="t"),
        say("Where is the map?", "t2", turn="T", thread="t"),
        complete("T", "t3", thread="t"),
        say("My map hangs on the wall.", "m", by="Bob", thread="t"),
        say("Ada moved to Berlin.", "b", at=START + DAY),
        say("Ada moved to Paris.", "p", at=START),
    ]
    interleaved, ahead = make_home("interleaved"), make_home("ahead")
    for draft in history:
        interleaved.tell(draft)
    ahead.publish(*history)
    ahead.node.project_turns(ZONE)
    with ahead.driver(batch=1) as driver:
        driver.run()
    assert live(interleaved) == live(ahead)
    whole(ahead)


def test_what_is_published_while_a_batch_is_extracted_is_seen_by_the_next(
    make_home: MakeHome, room: Path
) -> None:
    """The reader sees further than events.db was projected; an extract must not see less."""
    publisher = make_home("home")
    question = say("Where is the treasure?", "q", thread="t")
    answer = say("My treasure is under the old oak.", "a", by="Bob", thread="t")
    arrived = threading.Event()

    def publish() -> None:
        publisher.publish(question, answer)
        arrived.set()

    class Patient:
        """Holds the first record until the others are in the ledger."""

        kinds = frozenset({"message"})

        def extract(self, event: Event, conversation: Conversation) -> Extract:
            return Extract()

        def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
            return []

    home = make_home("home", (*AGENTS, Patient(), Meddler("1", publish, where="extract")))
    home.publish(BERLIN)
    with home.driver(batch=1) as driver:
        driver.catch_up()
        reader = EventReader(home.ledger, ZONE)
        first = driver.read(reader)
        extracted = driver.extract(first)
        assert arrived.is_set()
        following = [driver.read(reader), driver.read(reader)]
        assert driver.decide(first, extracted) == 1
        for records_ in following:
            assert driver.decide(records_, driver.extract(records_)) == 1
    assert home.rows("memory", "SELECT context FROM facts WHERE text LIKE '%oak%'") == [
        ("Ada asked: Where is the treasure?",)
    ]
    whole(home)


def test_what_is_said_within_a_turn_counts_as_if_it_came_one_by_one(make_home: MakeHome) -> None:
    """A turn is decided from one record, whose state holds nothing of the turn itself."""
    said = ["I like green tea.", "Ada moved to Berlin.", "I like green tea.", "Ada moved to Paris."]
    one_by_one, turn = make_home("one-by-one"), make_home("turn")
    for n, text in enumerate(said):
        one_by_one.tell(say(text, str(n), at=START + n))
        turn.publish(say(text, str(n), at=START + n, turn="T"))
    turn.tell(complete("T", "end"))
    assert [number for number, _ in turn.facts()] == [1, 2, 4]
    assert turn.facts() == one_by_one.facts()
    assert turn.current_facts() == one_by_one.current_facts()
    assert "Ada moved to Berlin." not in turn.current_facts()
    whole(turn)


def test_two_drivers_read_the_watermark_and_one_of_them_decides_first(home: Home) -> None:
    """The watermark counts that is read inside the lock."""
    home.publish(BERLIN, TEA)
    with home.driver() as one, home.driver() as two:
        one.catch_up()
        two.catch_up()
        records_ = EventReader(home.ledger, ZONE).read(10)
        extracted = two.extract(records_)
        assert one.decide(records_, one.extract(records_)) == 2
        assert two.decide(records_, extracted) == 0
        assert two.run() == 0
    assert len(home.changes()) == 2
    whole(home)


def test_two_drivers_evolve_the_same_change_records(home: Home, make_home: MakeHome) -> None:
    """Both find records without rows, as after a crash; each is applied once."""
    home.publish(BERLIN, TEA, RED)
    failpoints.arm("commit.accepted")
    with pytest.raises(InjectedFailure):
        home.drive()
    home.tell(command(Retry(source_id="nothing", number=1)))
    other = make_home("home")
    threads = [threading.Thread(target=one.drive) for one in (home, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(home.facts()) == 3
    whole(home)


# Parking

KILLER = """
import os, sys
from pathlib import Path
from recollect.streams.agents import AGENTS
from tests.protocol.kit import Home, Poisoned
where, path, times = sys.argv[1:]
for _ in range(int(times)):
    if not (child := os.fork()):
        kills = Poisoned("poison", where=where, act=lambda _: os._exit(9))
        Home(Path(path), (*AGENTS, kills)).drive()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("where", ["extract", pytest.param("resolve", marks=pytest.mark.slow)])
def test_a_record_that_kills_the_process_each_time_is_parked(home: Home, where: str) -> None:
    home.publish(BERLIN, say("This poison kills at once.", "p"), TEA)
    home.close()
    times = MAX_CRASHES + 3
    run = subprocess.run(
        [sys.executable, "-c", KILLER, where, str(home.path), str(times)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        check=False,
    )
    ends = [int(status) for status in run.stdout.split()]
    deaths = ends.count(9)
    assert ends == [9] * deaths + [0] * (times - deaths), run.stderr.decode()
    assert MAX_CRASHES <= deaths <= MAX_CRASHES + 1
    home.open()
    assert home.facts() == [(1, "Ada moved to Berlin."), (3, "Ada likes green tea.")]
    ((number, kind, reason, state),) = home.letters()
    assert (number, kind, state) == (2, "message", "parked")
    assert str(MAX_CRASHES) in reason
    home.drive()
    found = verify(home.node, ZONE)
    assert found.ok, found.problems
    before = live(home)
    rebuild(home.node, ZONE, "derive")
    assert live(home) == before


@pytest.mark.parametrize("where", ["extract", "resolve"])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_record_that_cannot_be_decided_is_parked_and_the_others_are_decided(
    make_home: MakeHome, place: int, where: str
) -> None:
    home = make_home("home", (*AGENTS, Poisoned("poison", where=where)))
    drafts = [say(f"My box number {n} is blue.", str(n), at=START + n * MINUTE) for n in range(5)]
    drafts[place] = say("My poison tastes of almonds.", "p")
    home.tell(*drafts)
    assert [number for number, _ in home.facts()] == [n + 1 for n in range(5) if n != place]
    ((number, _, reason, state),) = home.letters()
    assert (number, state) == (place + 1, "parked")
    assert "cannot swallow" in reason
    (header,) = [header for header, _ in home.changes() if header.number == place + 1]
    assert header.is_parked
    whole(home)
    rebuild(home.node, ZONE, "derive")
    assert [letter[0] for letter in home.letters()] == [place + 1]
    whole(home)


@pytest.mark.parametrize("where", ["extract", "resolve"])
def test_an_erasure_passes_a_record_that_cannot_be_decided(make_home: MakeHome, where: str) -> None:
    home = make_home("home", (*AGENTS, Poisoned("poison", where=where)))
    home.tell(BERLIN, say("My poison tastes of almonds.", "p"), TEA)
    home.tell(forget(1))
    assert home.facts() == [(3, "Ada likes green tea.")]
    assert [letter[0] for letter in home.letters()] == [2]
    whole(home)


def test_what_is_wrong_with_the_machine_is_no_reason_to_park(home: Home) -> None:
    home.publish(BERLIN)
    for _ in range(MAX_ATTEMPTS + 2):
        failpoints.arm("commit.projected")
        with pytest.raises(InjectedFailure):
            home.drive()
        home.restart()
    home.drive()
    assert home.letters() == []
    assert home.facts() == [(1, "Ada moved to Berlin.")]


def test_forgetting_a_parked_record(make_home: MakeHome) -> None:
    home = make_home("home", (*AGENTS, Poisoned("poison")))
    home.tell(BERLIN, say("This qwxyz poison tastes of almonds.", "p"), TEA)
    assert len(home.letters()) == 1
    home.tell(forget(2))
    assert home.letters() == []
    assert not files_holding(home.path, b"qwxyz")
    home.tell(command(Retry(source_id="r", number=2)))
    assert home.facts() == [(1, "Ada moved to Berlin."), (3, "Ada likes green tea.")]
    whole(home)


class Sneeze(Payload, frozen=True, kw_only=True, omit_defaults=True, tag="sneeze"):
    """A kind that a later recollect may know."""

    loudness: int


@contextmanager
def knowing_sneezes() -> Iterator[None]:
    """Be that later recollect."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(events.KINDS, "sneeze", Sneeze)
        patch.setitem(upcast.CURRENT_VERSIONS, "sneeze", 1)
        import msgspec

        patch.setitem(records._payloads, "sneeze", msgspec.msgpack.Decoder(Sneeze))
        yield


def test_an_unknown_kind_is_parked_and_a_rebuild_parks_it_again(home: Home) -> None:
    with knowing_sneezes():
        sneeze = command(Sneeze(source_id="s", loudness=3))  # type: ignore[arg-type]
        home.publish(BERLIN, sneeze, TEA)
    home.drive()
    ((number, kind, reason, state),) = home.letters()
    assert (number, kind, state) == (2, "sneeze", "parked")
    assert "sneeze" in reason
    assert [number for number, _ in home.facts()] == [1, 3]
    before = whole(home)
    rebuild(home.node, ZONE, "derive")
    assert live(home) == before
    with knowing_sneezes():
        # Who understands it now still reproduces the parking, until it is retried.
        rebuild(home.node, ZONE, "derive")
        assert live(home) == before
        home.tell(command(Retry(source_id="r", number=2)))
        assert home.letters()[0][3] == "retried"
        whole(home)


def test_a_version_that_is_too_new_is_parked(home: Home) -> None:
    with pytest.MonkeyPatch.context() as patch:
        version = upcast.CURRENT_VERSIONS["message"]
        patch.setitem(upcast.CURRENT_VERSIONS, "message", version + 1)
        patch.setitem(upcast.UPCASTERS, ("message", version), lambda payload: payload)
        patch.setattr(records, "CURRENT_VERSIONS", upcast.CURRENT_VERSIONS)
        home.publish(BERLIN)
    home.tell(TEA)
    ((number, kind, _, state),) = home.letters()
    assert (number, kind, state) == (1, "message", "parked")
    whole(home)


def test_a_parked_record_gives_its_facts_when_the_agent_is_mended(make_home: MakeHome) -> None:
    switch = Switch()
    home = make_home("home", (*AGENTS, Poisoned("poison", switch, where="extract")))
    home.tell(BERLIN, say("My poison tastes of almonds.", "p"), TEA)
    switch.on = False
    home.tell(command(Retry(source_id="r1", number=2)))
    assert (2, "Ada's poison tastes of almonds.") in home.facts()
    assert home.letters()[0][3] == "retried"
    before = whole(home)
    home.tell(command(Retry(source_id="r2", number=2)), command(Drop(source_id="d", number=2)))
    assert live(home)["memory"] == before["memory"]
    home.tell(command(Retry(source_id="r3", number=1)), command(Retry(source_id="r4", number=99)))
    assert live(home)["memory"] == before["memory"]
    whole(home)
    rebuild(home.node, ZONE, "derive")
    whole(home)


def test_a_retry_that_fails_again_leaves_the_record_parked(make_home: MakeHome) -> None:
    switch = Switch()
    home = make_home("home", (*AGENTS, Poisoned("poison", switch)))
    home.tell(say("My poison tastes of almonds.", "p"), TEA)
    home.tell(command(Retry(source_id="r1", number=1)))
    assert [(letter[0], letter[3]) for letter in home.letters()] == [(1, "parked"), (3, "parked")]
    switch.on = False
    home.tell(command(Retry(source_id="r2", number=1)))
    assert home.letters()[0][3] == "retried"
    assert [number for number, _ in home.facts()] == [1, 2]
    whole(home)


def test_a_dropped_record_is_given_up(make_home: MakeHome) -> None:
    switch = Switch()
    home = make_home("home", (*AGENTS, Poisoned("poison", switch)))
    home.tell(say("My poison tastes of almonds.", "p"), TEA)
    home.tell(command(Drop(source_id="d1", number=1)))
    assert home.letters()[0][3] == "dropped"
    switch.on = False
    home.tell(command(Drop(source_id="d2", number=1)), command(Retry(source_id="r", number=1)))
    assert home.letters()[0][3] == "dropped"
    assert [number for number, _ in home.facts()] == [2]
    whole(home)


@pytest.mark.parametrize("where", ["extract", "resolve"])
def test_a_new_failure_in_a_rebuild_is_loud(make_home: MakeHome, where: str) -> None:
    switch = Switch(on=False)
    home = make_home("home", (*AGENTS, Poisoned("green", switch, where=where)))
    home.tell(BERLIN, TEA, RED)
    before = live(home)
    switch.on = True
    with pytest.raises(RebuildRegression, match="record 2"):
        rebuild(home.node, ZONE, "derive")
    assert live(home) == before
    switch.on = False
    rebuild(home.node, ZONE, "derive")
    assert live(home) == before
    whole(home)


def test_a_record_that_fails_for_the_first_time_during_a_rebuild_is_no_new_failure(
    make_home: MakeHome,
) -> None:
    agents = (*AGENTS, Poisoned("poison"))
    home, other = make_home("home", agents), make_home("home", agents)
    home.tell(BERLIN, TEA)
    asked: list[bool] = []

    def meanwhile(_: int) -> None:
        if not asked:
            asked.append(True)
            other.publish(say("My poison tastes of almonds.", "p"))

    rebuild(home.node, ZONE, "derive", progress=meanwhile)
    home.drive()
    assert [letter[0] for letter in home.letters()] == [3]
    whole(home)


# Generations


def test_a_zombie_writes_to_the_old_chain_after_the_switch(home: Home) -> None:
    home.tell(BERLIN)
    old = home.node.current(ZONE)
    rebuild(home.node, ZONE, "derive")
    new = home.node.current(ZONE)
    assert old.chain != new.chain
    home.publish(TEA)
    with home.node.open(ZONE, old) as files:
        home.node.driver(ZONE, old, files).run()
    home.tell(RED)
    assert home.facts() == [
        (1, "Ada moved to Berlin."),
        (3, "Ada likes green tea."),
        (4, "Ada and others painted the kitchen red."),
    ]
    now = whole(home)
    assert rollback(home.node, ZONE).chain == old.chain
    assert live(home) == now
    whole(home)


@pytest.mark.parametrize(
    ("level", "name"),
    [
        ("project", "commit.identity"),
        ("project", "rebuild.written"),
        ("derive", "commit.produced"),
        ("derive", "commit.identity"),
        ("derive", "rebuild.written"),
        ("fresh", "commit.produced"),
        ("fresh", "rebuild.written"),
    ],
)
def test_an_abandoned_rebuild_is_resumed(home: Home, level: str, name: str) -> None:
    home.tell(BERLIN, TEA, RED)
    before = live(home)
    failpoints.arm(name)
    with pytest.raises(InjectedFailure):
        rebuild(home.node, ZONE, level)  # type: ignore[arg-type]
    failpoints.disarm()
    home.restart()
    assert live(home) == before
    (unfinished,) = [g for g in home.node.zone(ZONE).generations() if not g.complete]
    home.tell(say("My bicycle is blue.", "4"))
    rebuild(home.node, ZONE, level)  # type: ignore[arg-type]
    assert home.node.current(ZONE).name == unfinished.name
    assert len(home.facts()) == 4
    whole(home)


def test_an_abandoned_rebuild_of_another_level_is_dropped(home: Home) -> None:
    home.tell(BERLIN, TEA, RED)
    failpoints.arm("rebuild.written")
    with pytest.raises(InjectedFailure):
        rebuild(home.node, ZONE, "derive")
    failpoints.disarm()
    rebuild(home.node, ZONE, "project")
    assert all(generation.complete for generation in home.node.zone(ZONE).generations())
    whole(home)


def test_an_abandoned_rebuild_does_not_keep_what_is_forgotten(home: Home) -> None:
    home.tell(say("The qwxyz code is on the door.", "1"), TEA)
    failpoints.arm("rebuild.written")
    with pytest.raises(InjectedFailure):
        rebuild(home.node, ZONE, "derive")
    failpoints.disarm()
    home.tell(forget(1))
    assert not files_holding(home.path, b"qwxyz")
    whole(home)


@pytest.mark.parametrize("level", ["project", "derive"])
def test_a_crash_after_the_switch(home: Home, level: str) -> None:
    home.tell(BERLIN, TEA, RED)
    before = live(home)
    failpoints.arm("rebuild.switched")
    with pytest.raises(InjectedFailure):
        rebuild(home.node, ZONE, level)  # type: ignore[arg-type]
    failpoints.disarm()
    home.restart()
    assert live(home) == before
    whole(home)
    rollback(home.node, ZONE)
    assert live(home) == before
    whole(home)


def test_going_back_where_nothing_is_kept_says_so(home: Home) -> None:
    with pytest.raises(HomeError, match="no generation"):
        rollback(home.node, ZONE)
    home.tell(BERLIN)
    with pytest.raises(HomeError, match="no generation"):
        rollback(home.node, ZONE)


def test_the_derived_files_are_lost_and_come_back(home: Home) -> None:
    """The ledger says what was decided."""
    home.tell(BERLIN, TEA, forget(2))
    before = live(home)
    home.close()
    shutil.rmtree(home.path / "zones")
    (home.path / "driver.db").unlink()
    home.open()
    home.drive()
    assert live(home) == before
    assert len(home.changes()) == 3
    whole(home)


def lose(home: Home) -> None:
    """Lose everything that is derived, as a new machine has it."""
    home.close()
    shutil.rmtree(home.path / "zones")
    (home.path / "driver.db").unlink()
    home.open()


def test_derive_rollback_the_zones_files_are_lost(make_home: MakeHome) -> None:
    """What was rejected was decided by other agents; it does not come back, however long."""
    home = make_home("home", (*AGENTS, Poisoned("green")))
    home.tell(BERLIN, TEA)
    home.restart(AGENTS)
    rebuild(home.node, ZONE, "fresh")
    home.restart((*AGENTS, Poisoned("green")))
    rejected = home.facts()
    old = rollback(home.node, ZONE)
    before = live(home)
    assert home.facts() != rejected
    assert home.ledger.head(ZONE).number == len(kinds_of(home)) == 4
    lose(home)
    home.drive()
    assert home.node.current(ZONE).chain == old.chain
    assert live(home) == before
    found = verify(home.node, ZONE)
    assert found.ok, found.problems


@pytest.mark.parametrize("level", ["derive", "fresh"])
def test_a_rebuild_the_zones_files_are_lost(home: Home, level: RebuildLevel) -> None:
    home.tell(BERLIN, TEA)
    rebuild(home.node, ZONE, level)
    new, before = home.node.current(ZONE), live(home)
    lose(home)
    home.drive()
    assert home.node.current(ZONE).chain == new.chain
    assert live(home) == before
    whole(home)


@pytest.mark.parametrize("back", [False, True])
def test_a_crash_between_the_switch_in_the_ledger_and_that_of_the_files(
    home: Home, back: bool
) -> None:
    home.tell(BERLIN, TEA)
    first = home.node.current(ZONE).chain
    if back:
        rebuild(home.node, ZONE, "derive")
    failpoints.arm("rebuild.announced")
    with pytest.raises(InjectedFailure):
        rollback(home.node, ZONE) if back else rebuild(home.node, ZONE, "derive")
    failpoints.disarm()
    home.restart()
    home.tell(RED)
    # Whoever comes next goes on as the ledger says.
    assert (home.node.current(ZONE).chain == first) == back
    assert len(home.facts()) == 3
    whole(home)
    lose(home)
    home.drive()
    assert (home.node.current(ZONE).chain == first) == back
    whole(home)


def test_a_switch_cannot_be_erased(home: Home) -> None:
    """It holds nothing but the name of a chain, and a replica that comes late must know it."""
    home.tell(BERLIN, TEA)
    rebuild(home.node, ZONE, "derive")
    chain = home.node.current(ZONE).chain
    home.tell(forget(3, 1))
    lose(home)
    home.drive()
    assert home.node.current(ZONE).chain == chain
    assert home.facts() == [(2, "Ada likes green tea.")]
    whole(home)


def test_every_change_record_names_its_event_and_the_record_before(home: Home) -> None:
    """The chain, read without the readers."""
    home.tell(BERLIN, TEA, forget(1), RED)
    raw = home.ledger.read(CHANGES, partition_of(ZONE), 0, 100, ZONE)
    told = home.ledger.read(EVENTS, partition_of(ZONE), 0, 100, ZONE)
    previous = bytes(32)
    for record, event, (header, _) in zip(raw, told, home.changes(), strict=True):
        assert header.previous == previous
        assert header.event_hash == record_hash(event.value)
        previous = record_hash(record.value)
    with home.files() as files:
        assert files.watermark().hash == previous
        assert content_hash(files.memory)
