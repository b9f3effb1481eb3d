"""Any history of publishing, deciding, crashing, erasing and rebuilding, against a plain model."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from recollect.schemas.errors import HomeError, InjectedFailure
from recollect.schemas.events import Content, Draft, RecallCount, RecallsCounted, Remember
from recollect.schemas.ledger.records import ChangeRecord, read_change
from recollect.schemas.wire import RebuildLevel
from recollect.streams.deciding.decider import Extracted
from recollect.streams.engine.zone_driver import ZoneDriver
from recollect.streams.ledger import CHANGES, partition_of
from recollect.streams.lifecycle.rebuilding import rebuild, rollback
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.records.chain_readers import EventReader, UnsealedEvent
from recollect.streams.system import failpoints
from recollect.streams.system.failpoints import FAILPOINTS
from tests.protocol.kit import (
    START,
    ZONE,
    Home,
    agree,
    command,
    complete,
    files_holding,
    forge,
    forget,
    in_memory,
    live,
    say,
)
from tests.protocol.oracle import POOL, Oracle, Said

HOUR = 3_600_000
TEXTS = st.sampled_from(sorted(POOL))
SPEAKERS = st.sampled_from(["Ada", "Bob"])
THREADS = st.sampled_from([None, "t1", "t2"])
TURNS = st.sampled_from([None, None, "T1", "T2"])
TIMES = st.sampled_from([0, HOUR, 24 * HOUR, 25 * HOUR, 49 * HOUR])
# Not integers: those that Hypothesis draws depend on the numbers in our modules, whatever the seed.
PLACES = st.sampled_from(range(1_001))
STEPS = st.sampled_from([name for name in FAILPOINTS if name.startswith("commit.")])
REBUILD_STEPS = ("rebuild.written", "rebuild.announced", "rebuild.switched")
LEVELS: st.SearchStrategy[RebuildLevel] = st.sampled_from(["index", "project", "derive", "fresh"])


class Protocol(RuleBasedStateMachine):
    """One ledger, the home that it lies in, and a second worker with files of its own."""

    @initialize()
    def start(self) -> None:
        self.stack = ExitStack()
        room = self.stack.enter_context(in_memory())
        self.home = Home(room / "home")
        self.other = Home(room / "other", ledger=room / "home")
        self.oracle = Oracle()
        self.published: list[Draft] = []
        self.numbers: list[int] = []
        self.pending: tuple[ZoneDriver, list[UnsealedEvent], list[Extracted]] | None = None
        self.held = ExitStack()
        # Not to be guessed from anything else in a file, but the same in every run.
        self.token = 0
        # Nothing is derived of a ledger that is not there: it comes with its first event.
        self.append([("Hello qekuzopat.", "Ada", 0, None, None, False)])

    def _name(self, what: str) -> str:
        self.token += 1
        return f"{what}-zyq{self.token:04d}qyz"

    def _publish(self, drafts: list[Draft], said: list[Said]) -> None:
        self._note_switches()
        receipts = self.home.publish(*drafts)
        for receipt, draft, item in zip(receipts, drafts, said, strict=True):
            assert receipt.status == "new"
            item.number, item.event_id = receipt.number, receipt.event_id
            self.oracle.add(item)
            self.published.append(draft)
            self.numbers.append(receipt.number)

    def _note_switches(self) -> None:
        """A rebuild and a rollback put a record of their own into the ledger."""
        opened = EventReader(self.home.ledger, ZONE).read(10_000)
        for record in opened[len(self.oracle.history) :]:
            assert record.kind == "switch"
            self.oracle.add(Said(record.source.number, "", "switch", ""))

    # Publishing

    @rule(
        told=st.lists(st.tuples(TEXTS, SPEAKERS, TIMES, THREADS, TURNS, st.booleans()), min_size=1,
                      max_size=5)
    )  # fmt: skip
    def append(self, told: list[tuple[str, str, int, str | None, str | None, bool]]) -> None:
        drafts, said = [], []
        for text, by, after, thread, turn, out in told:
            name = self._name("m")
            at = START + after
            drafts.append(say(text, name, by=by, at=at, thread=thread, turn=turn, out=out))
            said.append(Said(0, "", "message", name, text, by, at, turn, out))
        self._publish(drafts, said)

    @rule(turn=st.sampled_from(["T1", "T2"]), thread=THREADS)
    def complete_a_turn(self, turn: str, thread: str | None) -> None:
        name = self._name("c")
        draft = complete(turn, name, thread=thread)
        self._publish([draft], [Said(0, "", "turn_completed", name, turn=turn, at=START)])

    @rule(text=TEXTS, after=TIMES)
    def remember(self, text: str, after: int) -> None:
        name, at = self._name("r"), START + after
        payload = Remember(source_id=name, sender_id="user", content=text)
        self._publish([command(payload, at)], [Said(0, "", "remember", name, text, None, at)])

    @rule(place=PLACES, count=st.sampled_from((1, 2, 3)))
    def recall(self, place: int, count: int) -> None:
        facts = self.home.rows("memory", "SELECT id FROM facts ORDER BY id")
        assume(facts)
        fact, name = str(facts[place % len(facts)][0]), self._name("a")
        payload = RecallsCounted(source_id=name, accesses=(RecallCount("fact", fact, count),))
        self._publish(
            [command(payload)], [Said(0, "", "recalled", name, fact_id=fact, count=count)]
        )

    @rule(places=st.lists(PLACES, min_size=1, max_size=3))
    def forget(self, places: list[int]) -> None:
        assume(self.oracle.history)
        numbers = tuple(place % len(self.oracle.history) + 1 for place in places)
        at = START + len(self.oracle.history)
        draft = forget(*numbers, at=at)
        self._publish([draft], [Said(0, "", "forget", draft.payload.source_id, targets=numbers)])

    @rule(place=PLACES, many=st.sampled_from((1, 2, 3, 4)))
    def redeliver(self, place: int, many: int) -> None:
        assume(self.published)
        first = place % len(self.published)
        again = self.published[first : first + many]
        assert {receipt.status for receipt in self.home.publish(*again)} == {"duplicate"}

    @rule(place=PLACES)
    def deliver_another_text_under_a_known_id(self, place: int) -> None:
        assume(self.published)
        at = place % len(self.published)
        known = self.published[at].payload
        assume(isinstance(known, Content))
        changed = msgspec.structs.replace(known, content="Something else was said.")
        draft = msgspec.structs.replace(self.published[at], payload=changed)
        (receipt,) = self.home.publish(draft)
        gone = self.numbers[at] in self.oracle.forgotten()
        # What is forgotten is not compared with; until its key is gone it still can be.
        assert receipt.status == "conflict" or (gone and receipt.status == "duplicate")

    # Deciding

    @rule(many=st.sampled_from([1, 3, 64]))
    def extract(self, many: int) -> None:
        self._drop_pending()
        driver = self.held.enter_context(self.home.driver(batch=many))
        driver.catch_up()
        with self.home.files() as files:
            mark = files.watermark()
        reader = EventReader(
            self.home.ledger, ZONE, mark.number, mark.event_offset, mark.event_hash
        )
        if records := driver.read(reader):
            self.pending = driver, records, driver.extract(records)

    @precondition(lambda self: self.pending is not None)
    @rule()
    def resolve(self) -> None:
        assert self.pending is not None
        driver, records, extracted = self.pending
        assert driver.decide(records, extracted) in (0, len(records))
        self._drop_pending()

    @rule()
    def drive(self) -> None:
        self.home.drive()

    @rule()
    def the_other_drives(self) -> None:
        self._follow()
        self.other.drive()

    def _follow(self) -> None:
        """Be on the chain that is in use, as every worker is; a new one is begun from nothing."""
        chain = self.home.node.current(ZONE).chain
        directory = self.other.node.zone(ZONE)
        if directory.exists() and directory.current().chain == chain:
            return
        shutil.rmtree(directory.path, ignore_errors=True)
        described = self.home.node.current(ZONE)
        first = directory.create(msgspec.structs.replace(described, level="first"))
        with self.other.node.open(ZONE, first):
            # One in use has its files.
            pass
        directory.activate(first, None)

    # What goes wrong

    @rule(step=STEPS, count=st.sampled_from((1, 2, 3)), other=st.booleans())
    def crash(self, step: str, count: int, other: bool) -> None:
        self._drop_pending()
        self._follow()
        home = self.other if other else self.home
        self._crashing(step, count, home.drive)
        home.restart()

    @rule(
        step=st.one_of(
            STEPS, st.sampled_from(["rebuild.written", "rebuild.announced", "rebuild.switched"])
        ),
        count=st.sampled_from((1, 2)),
        level=LEVELS,
    )
    def crash_a_rebuild(self, step: str, count: int, level: RebuildLevel) -> None:
        self._drop_pending()
        self._crashing(step, count, lambda: rebuild(self.home.node, ZONE, level))
        self.home.restart()
        self._note_switches()

    def _crashing(self, step: str, count: int, act: Callable[[], object]) -> None:
        failpoints.arm(step, count)
        try:
            act()
        except InjectedFailure:
            pass
        finally:
            failpoints.disarm()

    @rule()
    def restart(self) -> None:
        self._drop_pending()
        self.home.restart()

    @rule(place=PLACES)
    def void_record(self, place: int) -> None:
        assume(self.oracle.history)
        number = place % len(self.oracle.history) + 1
        assume(number not in self.oracle.forgotten())
        forge(self.home, number)

    @rule(place=PLACES, to=PLACES)
    def void_copy(self, place: int, to: int) -> None:
        """An older record comes again at another place of the chain."""
        held = self.home.ledger.read(CHANGES, partition_of(ZONE), 0, 10_000, ZONE)
        assume(held)
        header, record = read_change(held[place % len(held)].value)
        moved = msgspec.structs.replace(header, number=to % len(self.oracle.history) + 1)
        assume(moved.number != header.number)
        value = msgspec.msgpack.encode(ChangeRecord(msgspec.msgpack.encode(moved), record.parts))
        # A copy of a copy may be the record itself, and verify names a doubled record.
        assume(value not in {item.value for item in held})
        self.home.ledger.append(CHANGES, ZONE, [value])

    # Generations

    @rule(level=LEVELS)
    def rebuild(self, level: RebuildLevel) -> None:
        self._drop_pending()
        rebuild(self.home.node, ZONE, level)
        self._note_switches()

    @rule()
    def rollback(self) -> None:
        self._drop_pending()
        directory = self.home.node.zone(ZONE)
        before = directory.current().previous if directory.exists() else None
        if before in {generation.name for generation in directory.generations()}:
            assert rollback(self.home.node, ZONE).name == before
            self._note_switches()
        else:
            with pytest.raises(HomeError, match="no generation"):
                rollback(self.home.node, ZONE)

    # What must hold

    @rule()
    def settle(self) -> None:
        self._drop_pending()
        self.home.drive()
        self._follow()
        self.other.drive()
        self._check_rows()
        found = verify(self.home.node, ZONE)
        assert found.ok, found.problems
        assert live(self.other) == agree(self.home)
        lost = [word.encode() for word in self.oracle.words_that_must_be_gone()]
        if lost:
            assert not files_holding(self.home.path, *lost)
            readable = self.home.readable_parts()
            assert not any(word in readable for word in lost)

    def _check_rows(self) -> None:
        oracle, home = self.oracle, self.home
        assert {
            int(number): (source, text)
            for number, source, text in home.rows(
                "events", "SELECT number, source_id, content FROM events"
            )
        } == oracle.turns_of_talk()
        assert {
            str(event)
            for (event,) in home.rows("memory", "SELECT event_id FROM memory_processing_log")
        } == oracle.processed()
        facts, must = Counter(home.facts()), oracle.facts()
        assert not must - facts
        assert set(facts - must) <= oracle.moves()
        assert set((facts - must).values()) <= {1}
        readable = {said.event_id for said in oracle.readable()}
        counted = oracle.accesses()
        for fact, source, count in home.rows(
            "memory", "SELECT id, source_event_id, access_count FROM facts"
        ):
            assert source in readable
            assert count == counted[fact]

    def _drop_pending(self) -> None:
        self.pending = None
        self.held.close()
        self.held = ExitStack()

    def teardown(self) -> None:
        if not hasattr(self, "stack"):
            return
        try:
            self.settle()
        finally:
            failpoints.disarm()
            self._drop_pending()
            self.home.close()
            self.other.close()
            self.stack.close()


SLOW = bool(os.environ.get("RECOLLECT_SLOW"))
PROFILE = settings(
    max_examples=600 if SLOW else 60,
    stateful_step_count=60 if SLOW else 25,
    derandomize=not SLOW,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink] if SLOW else [Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
@pytest.mark.timeout(3_600 if SLOW else 600)
def test_any_history_ends_where_the_plain_model_says() -> None:
    run_state_machine_as_test(Protocol, settings=PROFILE)
