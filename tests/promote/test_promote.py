"""An embedded home moves to Kafka: nothing is lost or rebuilt, and nothing is left behind."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from contextlib import closing, nullcontext
from pathlib import Path

import apsw
import pytest

from recollect.cli.app import run
from recollect.home.follower_lock import hold_follower_lock
from recollect.home.home_directory import Home
from recollect.home.settings.configuration import Configuration
from recollect.operations.upkeep.doctor import examine
from recollect.operations.upkeep.promoting import PromotionReport, promote
from recollect.schemas.errors import Busy, HomeError, InvalidInput
from recollect.streams.ledger import EVENTS, TOPICS, LedgerUnavailable, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.lifecycle import promotion
from recollect.streams.projecting.projector import OnProgress
from tests.promote import kit
from tests.promote.kit import FORGOTTEN, PLAIN, REBUILT, WAITING, ZONES
from tests.protocol.kit import say

DONE = (PLAIN, REBUILT, FORGOTTEN)
OTHERS = (REBUILT, FORGOTTEN)

#: An idle worker, in short.
OPEN = """
import pathlib, sys, time
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
ledger = EmbeddedLedger(pathlib.Path(sys.argv[1]))
print("open", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny encoder, small pages, and no ledger that the developer happens to use."""
    monkeypatch.setattr(Home, "load_encoder", kit.tiny)
    monkeypatch.setattr(promotion, "BATCH_SIZE", 10)
    monkeypatch.delenv("RECOLLECT_LEDGER", raising=False)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with zones of every kind, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Home, "load_encoder", kit.tiny)
        patch.delenv("RECOLLECT_LEDGER", raising=False)
        kit.make_home(path)
        kit.fill(path)
    return path


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    path = tmp_path / "home"
    shutil.copytree(filled, path)
    return path


def killed(path: Path, url: str, where: str) -> None:
    """Promote in a process that is killed on the way."""
    command = [sys.executable, "-m", "tests.promote.worker", str(path), url, where]
    done = subprocess.run(command, timeout=120, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()


def hashes_of_a_new_home(
    url: str, path: Path, zones: tuple[str, ...] = ZONES
) -> dict[str, dict[str, str]]:
    """Return the hashes that a new home on a Kafka ledger comes to."""
    kit.make_home(path)
    for zone in zones:
        with kit.memory(path, zone, url) as opened:
            opened.drive()
    return {zone: kit.hashes(path, zone, url) for zone in zones}


def trapped(path: Path, url: str) -> str:
    """Try to publish to the embedded ledger, as who has not heard of a move; return the answer."""
    with closing(EmbeddedLedger(path)) as ledger, pytest.raises(apsw.ConstraintError) as refused:
        ledger.publish(PLAIN, [say("I am too late.", "late")])
    return str(refused.value)


# The whole path


def test_everything_moves_and_nothing_is_rebuilt(home, kafka_url, tmp_path, capsys):
    ours = kit.embedded_records(home)
    with closing(EmbeddedLedger(home)) as embedded:
        times = kit.times_of(embedded, PLAIN)
    before = {zone: kit.hashes(home, zone) for zone in DONE}
    marks = {zone: kit.watermarks(home, zone) for zone in DONE}
    generations = {zone: kit.generation(home, zone) for zone in DONE}
    assert generations[REBUILT].chain != "c0"

    assert run(["--home", str(home), "promote", "--to", kafka_url, "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    counts = {
        topic: sum(len(records) for place, records in ours.items() if place[0] == topic)
        for topic in TOPICS
    }
    assert told.pop("seconds") > 0
    # One event was erased before.
    assert told == {"to": kafka_url, **counts, "keys": counts[EVENTS] - 1}
    assert Home(home).settings.promoted_to == kafka_url
    with kit.kafka(kafka_url, tmp_path / "reader") as ledger:
        assert kit.records_of(ledger) == ours
        assert kit.times_of(ledger, PLAIN) == times

    assert {zone: kit.watermarks(home, zone) for zone in DONE} == marks
    assert {zone: kit.hashes(home, zone, kafka_url) for zone in DONE} == before
    assert {zone: kit.generation(home, zone) for zone in DONE} == generations
    # What nobody had decided is decided by whoever asks for it.
    with kit.memory(home, WAITING, kafka_url) as opened:
        opened.drive()
    waiting = {WAITING: kit.hashes(home, WAITING, kafka_url)}
    assert hashes_of_a_new_home(kafka_url, tmp_path / "new") == {**before, **waiting}
    assert kit.generation(tmp_path / "new", REBUILT).chain == generations[REBUILT].chain


def test_the_command_says_what_moved_and_what_to_set(home, kafka_url, capsys):
    assert run(["--home", str(home), "promote", "--to", kafka_url]) == 0
    said, told = capsys.readouterr().out.splitlines()
    assert said.startswith("moved ")
    assert told == f"now set RECOLLECT_LEDGER={kafka_url}"


def test_what_was_ingested_before_is_known_and_what_is_new_is_decided(home, kafka_url, tmp_path):
    promote(Home(home), kafka_url)
    with kit.memory(home, PLAIN, kafka_url) as memory:
        again = memory.publish(kit.messages(PLAIN, 20, 10))
        assert [receipt.status for receipt in again] == ["duplicate"] * 5 + ["new"] * 5
        assert [receipt.number for receipt in again] == list(range(21, 31))
        other = memory.publish([say("I live in Elsewhere.", f"{PLAIN}-3")])
        assert other[0].status == "conflict"
        memory.drive()
    ours = kit.hashes(home, PLAIN, kafka_url)
    assert hashes_of_a_new_home(kafka_url, tmp_path / "new", (PLAIN,)) == {PLAIN: ours}


def test_an_event_that_moved_can_be_forgotten_to_the_last_byte(home, kafka_url):
    with kit.memory(home, PLAIN) as memory:
        memory.publish([say(f"I saw that {kit.SECRET_WORDS}.", "hat")])
        memory.drive()
    key_id, key = kit.key_of(home, PLAIN, 26)
    words = kit.SECRET_WORDS.encode()
    assert kit.held_in(home, words, key)
    promote(Home(home), kafka_url)
    left = [str(path.relative_to(home)) for path in home.glob("*.db*")]
    assert not set(kit.held_in(home, words, key)) & set(left)

    with kit.memory(home, PLAIN, kafka_url) as memory:
        assert memory.forget("hat").facts >= 1
    assert kit.held_in(home, words, key) == []
    kit.verify(home, PLAIN, kafka_url)
    with kit.kafka(kafka_url, home / "copy") as ledger:
        assert ledger.keys.get([key_id]) == {}


def test_a_home_without_an_event_moves_too(tmp_path, kafka_url):
    home = kit.make_home(tmp_path / "empty")
    assert promote(home, kafka_url) == PromotionReport(kafka_url, 0, 0, 0, 0)
    with kit.memory(home.directory, PLAIN, kafka_url) as memory:
        memory.publish(kit.messages(PLAIN, 0, 2))
        memory.drive()
    kit.verify(home.directory, PLAIN, kafka_url)


def test_a_zone_that_was_rolled_back_stays_so_on_every_node(home, kafka_url, tmp_path):
    with kit.memory(home, REBUILT) as memory:
        memory.rollback()
    assert kit.generation(home, REBUILT).chain == "c0"
    before = kit.hashes(home, REBUILT)
    promote(Home(home), kafka_url)
    assert kit.hashes(home, REBUILT, kafka_url) == before
    assert hashes_of_a_new_home(kafka_url, tmp_path / "new", (REBUILT,)) == {REBUILT: before}
    assert kit.generation(tmp_path / "new", REBUILT).chain == "c0"


def test_progress_ends_where_it_was_said_to(home, kafka_url):
    told: list[int] = []

    def show(steps: int) -> nullcontext[OnProgress]:
        told.append(steps)
        return nullcontext(told.append)

    promote(Home(home), kafka_url, show)
    assert sum(told[1:]) == told[0] > 0


# What is left


def test_the_embedded_files_hold_nothing_and_take_nothing_any_more(home, kafka_url):
    size = (home / "ledger.db").stat().st_size
    promote(Home(home), kafka_url)
    assert (home / "ledger.db").stat().st_size < size / 2
    assert kafka_url in trapped(home, kafka_url)
    with closing(EmbeddedLedger(home)) as ledger:
        assert not any(kit.records_of(ledger).values())
    checks = {check.check: check for check in examine(Configuration(home))}
    assert checks["ledger"].ok
    with pytest.raises(HomeError, match=kafka_url), kit.memory(home, PLAIN):
        pass


def test_who_waited_to_open_the_ledger_is_refused_and_loses_nothing(home, kafka_url):
    """Such an ingest began before the move and had seen that the home was not promoted."""
    answers: list[str] = []
    waiting = threading.Thread(target=lambda: answers.append(trapped(home, kafka_url)))

    def progress(_: int) -> None:
        if not waiting.ident:
            waiting.start()

    promote(Home(home), kafka_url, lambda _: nullcontext(progress))
    waiting.join(60)
    assert answers == [f"the ledger of this home was moved: set RECOLLECT_LEDGER={kafka_url}"]


# Killed on the way


@pytest.mark.parametrize("where", ["0.1", "0.5", "0.9", "before the move"])
def test_a_copy_that_was_killed_goes_on_with_what_happened_since(where, home, kafka_url, tmp_path):
    killed(home, kafka_url, where)
    # Until the move the home is as before; what it forgets must be forgotten there as well.
    key_id, key = kit.key_of(home, FORGOTTEN, 4)
    with kit.memory(home, FORGOTTEN) as memory:
        memory.publish(kit.messages(FORGOTTEN, 25, 3))
        memory.forget(f"{FORGOTTEN}-3")
    with kit.memory(home, REBUILT) as memory:
        memory.rebuild("derive")
    killed(home, kafka_url, "0.95")
    before = {zone: kit.hashes(home, zone) for zone in OTHERS}
    ours = kit.embedded_records(home)
    promote(Home(home), kafka_url)
    assert {zone: kit.hashes(home, zone, kafka_url) for zone in OTHERS} == before
    assert kit.held_in(home, key) == []
    with kit.kafka(kafka_url, tmp_path / "reader") as ledger:
        theirs = kit.records_of(ledger)
        assert {place: theirs[place][: len(ours[place])] for place in ours} == ours
        assert ledger.keys.get([key_id]) == {}
    assert hashes_of_a_new_home(kafka_url, tmp_path / "new", OTHERS) == before


@pytest.mark.parametrize(
    "where", ["after the move", "chains announced", "noted", "some keys destroyed"]
)
def test_what_is_left_after_the_move_is_done_by_the_next_call(where, home, kafka_url, tmp_path):
    before = {zone: kit.hashes(home, zone) for zone in OTHERS}
    killed(home, kafka_url, where)
    # From here on the topics are the ledger, whether or not somebody finishes this.
    assert kafka_url in trapped(home, kafka_url)
    with kit.memory(home, PLAIN, kafka_url) as memory:
        memory.publish(kit.messages(PLAIN, 25, 2))
        memory.drive()
    with pytest.raises(HomeError, match="was moved"):
        promote(Home(home), f"{kafka_url}-elsewhere")
    promote(Home(home), kafka_url)
    with closing(EmbeddedLedger(home)) as ledger:
        assert not any(kit.records_of(ledger).values())
    after = {zone: kit.hashes(home, zone, kafka_url) for zone in OTHERS}
    assert after == before
    with kit.kafka(kafka_url, tmp_path / "reader") as ledger:
        assert kit.kinds_of(ledger, REBUILT).count("switch") == 1
    assert hashes_of_a_new_home(kafka_url, tmp_path / "new", OTHERS) == after
    with pytest.raises(HomeError, match="was moved"):
        promote(Home(home), kafka_url)


# Refused


def test_a_second_time_is_refused(home, kafka_url, capsys):
    promote(Home(home), kafka_url)
    assert run(["--home", str(home), "promote", "--to", kafka_url]) == 2
    assert f"was moved; set RECOLLECT_LEDGER to {kafka_url}" in capsys.readouterr().err


def test_another_ledger_than_the_embedded_is_refused(home, kafka_url, monkeypatch):
    monkeypatch.setenv("RECOLLECT_LEDGER", kafka_url)
    with pytest.raises(InvalidInput, match="remove the setting"):
        promote(Home(home), kafka_url)


@pytest.mark.parametrize("url", ["embedded", "kafka://", "kafka://host", "kafka://host:1/a b"])
def test_what_is_no_address_is_refused(home, url):
    with pytest.raises(InvalidInput, match="the ledger"):
        promote(Home(home), url)


def test_a_broker_that_does_not_answer_leaves_the_home_as_it_was(home):
    before = kit.hashes(home, PLAIN)
    with pytest.raises(LedgerUnavailable):
        promote(Home(home), "kafka://127.0.0.1:1")
    assert kit.hashes(home, PLAIN) == before


def test_a_process_that_has_the_ledger_open_is_in_the_way(home, kafka_url):
    command = [sys.executable, "-c", OPEN, str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"open\n"
            with pytest.raises(Busy, match="stop the workers"):
                promote(Home(home), kafka_url)
        finally:
            process.kill()
    promote(Home(home), kafka_url)


def test_a_memory_of_this_process_is_in_the_way(home, kafka_url):
    with kit.memory(home, PLAIN) as memory:
        with pytest.raises(Busy, match="stop the workers"):
            promote(Home(home), kafka_url)
        memory.publish([say("I am still here.", "still")])
        memory.drive()
    promote(Home(home), kafka_url)


def test_a_home_that_has_worked_on_kafka_is_left_alone(kafka_url, tmp_path):
    path = kit.make_home(tmp_path / "on-kafka").directory
    with kit.memory(path, PLAIN, kafka_url) as memory:
        memory.publish(kit.messages(PLAIN, 0, 3))
        memory.drive()
    with pytest.raises(HomeError, match="RECOLLECT_LEDGER"):
        promote(Home(path), kafka_url)
    kit.verify(path, PLAIN, kafka_url)


def test_a_process_that_follows_kafka_in_this_home_is_in_the_way(home, kafka_url):
    with hold_follower_lock(Home(home)), pytest.raises(Busy, match=r"follower\.lock"):
        promote(Home(home), kafka_url)


def test_topics_of_another_ledger_are_left_alone(home, kafka_url, tmp_path):
    other = kit.make_home(tmp_path / "other").directory
    with kit.memory(other, PLAIN, kafka_url) as memory:
        memory.publish(kit.messages(PLAIN, 0, 3))
        memory.drive()
    before = kit.hashes(other, PLAIN, kafka_url)
    with pytest.raises(HomeError, match="belong to another ledger"):
        promote(Home(home), kafka_url)
    assert kit.hashes(other, PLAIN, kafka_url) == before
    assert Home(home).settings.promoted_to is None
    kit.verify(home, PLAIN)


def test_topics_of_a_twin_that_went_other_ways_are_left_alone(home, kafka_url, tmp_path):
    twin = tmp_path / "twin"
    shutil.copytree(home, twin)
    for path, text in ((home, "I am the one."), (twin, "I am the other.")):
        with kit.memory(path, PLAIN) as memory:
            memory.publish([say(text, "who")])
            memory.drive()
    promote(Home(twin), kafka_url)
    with kit.kafka(kafka_url, tmp_path / "reader") as ledger:
        before = kit.records_of(ledger)
        with pytest.raises(HomeError, match="records of another ledger"):
            promote(Home(home), kafka_url)
        assert kit.records_of(ledger) == before


def test_topics_that_hold_more_are_left_alone(home, kafka_url, tmp_path):
    twin = tmp_path / "twin"
    shutil.copytree(home, twin)
    with kit.memory(twin, PLAIN) as memory:
        memory.publish([say("There is more here.", "more")])
    promote(Home(twin), kafka_url)
    with pytest.raises(HomeError, match="records of another ledger"):
        promote(Home(home), kafka_url)


@pytest.mark.parametrize("zone", [PLAIN, "a zone of the other's own"])
def test_who_writes_to_the_topics_meanwhile_is_noticed(zone, home, kafka_url, tmp_path):
    zone = zone.replace(" ", "-").replace("'", "")
    taken = {partition_of(each) for each in ZONES}
    assert (partition_of(zone) in taken) == (zone == PLAIN)
    with kit.kafka(kafka_url, tmp_path / "intruder") as intruder:

        def progress(_: int) -> None:
            intruder.publish(zone, [say("I could not wait.", "early")])

        with pytest.raises(HomeError, match="another process wrote"):
            promote(Home(home), kafka_url, lambda _: nullcontext(progress))
    with kit.memory(home, PLAIN) as memory:
        memory.publish([say("I am still here.", "still")])
        memory.drive()
    kit.verify(home, PLAIN)


def test_workers_on_the_topics_are_in_the_way(home, kafka_url, monkeypatch):
    monkeypatch.setattr(KafkaLedger, "workers", lambda _: 1)
    with pytest.raises(Busy, match="workers are running on"):
        promote(Home(home), kafka_url)
    assert Home(home).settings.promoted_to is None
