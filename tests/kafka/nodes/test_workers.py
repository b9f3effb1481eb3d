"""Workers share the zones, take over from each other, and agree with a home that is alone."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.conftest import Make
from tests.kafka.kit import (
    MODELS,
    Recollect,
    Running,
    kinds_of,
    line,
    members_of,
    post_events,
    records_of,
    wait_until,
    write,
)
from tests.processes import children_of

ZONES = [f"zone-{number}" for number in range(24)]
TEXTS = (
    "I moved to Berlin last month.",
    "Where is the map of Paris?",
    "My sister works at Bluebell in Lyon, therefore she likes trains.",
    "I booked the train to Bergen.",
)


def said(first: int, last: int) -> list[dict[str, Any]]:
    """Return messages of some people, as numbers from first to last."""
    return [
        line(
            f"m{number}",
            f"{TEXTS[number % 4]} It was day {number // 3}.",
            number=number,
            sender_id=("ada", "bob", "eve")[number % 3],
            thread_id=f"t{number % 2}",
        )
        for number in range(first, last + 1)
    ]


def driven(home: Recollect) -> set[str]:
    """Return the zones that were decided in a home, and not only followed."""
    with closing(sqlite3.connect(home.home / "driver.db")) as database:
        return {zone for (zone,) in database.execute("SELECT zone FROM outboxes")}


def sharing(url: str, *wanted: int) -> None:
    """Wait until the workers have so many partitions each."""
    wait_until(
        lambda: sorted(map(len, members_of(url).values())) == sorted(wanted),
        lambda: f"the workers have {wanted} partitions: {members_of(url)}",
    )


def embedded(
    make: Make, lines: list[dict[str, Any]], path: Path, *zones: str
) -> dict[str, dict[str, str]]:
    """Return the hashes, by zone, of a home that is alone and was given the same events."""
    alone = make("alone", "embedded")
    for zone in zones or ("default",):
        alone.ask("--zone", zone, "ingest", write(path, lines))
    return {zone: alone.hashes(zone) for zone in alone.zones()}


def chain_of(home: Recollect, zone: str = "default") -> str:
    """Return the chain of the generation that a home has in use."""
    directory = home.home / "zones" / zone / home.generation(zone)
    return str(json.loads((directory / "generation.json").read_text())["chain"])


def verified(home: Recollect, zone: str = "default") -> dict[str, str]:
    """Require that a zone is what its ledger says; return its hashes."""
    found = home.ask("--zone", zone, "verify")
    assert found["ok"], found["problems"]
    return {model["model"]: model["hash"] for model in found["models"]}


def test_two_workers_share_the_zones_and_one_takes_over_from_the_other(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    homes = make("a"), make("b")
    workers = homes[0].worker(), homes[1].worker()
    sharing(kafka_url, 6, 6)
    for zone in ZONES:
        post_events(kafka_url, zone, said(0, 5))
    wait_until(
        lambda: all(any(home.decided(zone) == 6 for home in homes) for zone in ZONES),
        lambda: f"all is decided: {[worker.errors for worker in workers]}",
    )
    shares = [driven(home) for home in homes]
    assert all(shares), "one of them has nothing to do"
    assert shares[0] | shares[1] == set(ZONES)
    assert not shares[0] & shares[1], "both drive the same zone"

    workers[0].kill()
    for zone in ZONES:
        post_events(kafka_url, zone, said(6, 9))
    for zone in ZONES:
        homes[1].wait_for(zone, 10)
    assert driven(homes[1]) == set(ZONES)
    sharing(kafka_url, 12)

    # The first comes back, and follows what the other did meanwhile.
    workers = homes[0].worker(), workers[1]
    wanted = embedded(make, said(0, 9), tmp_path / "e.jsonl", *ZONES)
    for zone in ZONES:
        assert homes[1].hashes(zone) == wanted[zone]
        if zone in shares[0]:
            homes[0].wait_for(zone, 10)
            assert homes[0].hashes(zone) == wanted[zone]
    assert [worker.stop() for worker in workers] == [0, 0]


def test_a_worker_that_hangs_loses_its_zones_and_harms_nothing_when_it_goes_on(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    first, second = make("a"), make("b")
    hanging = first.worker()
    sharing(kafka_url, 12)
    post_events(kafka_url, "default", said(0, 3))
    first.wait_for("default", 4)
    hanging.send(signal.SIGSTOP)
    post_events(kafka_url, "default", said(4, 7))
    other = second.worker()
    sharing(kafka_url, 12)
    second.wait_for("default", 8)
    post_events(kafka_url, "default", said(8, 9))
    hanging.send(signal.SIGCONT)
    sharing(kafka_url, 6, 6)
    post_events(kafka_url, "default", said(10, 11))
    for home in (first, second):
        home.wait_for("default", 12)
    wanted = embedded(make, said(0, 11), tmp_path / "e.jsonl")["default"]
    assert first.hashes() == second.hashes() == wanted
    assert (hanging.stop(), other.stop()) == (0, 0), hanging.errors
    assert verified(first) == verified(second) == wanted


def others_of(worker: Running) -> list[int]:
    """Return the processes of a worker besides the one that was started."""
    return [
        child
        for child in children_of(worker.process.pid)
        if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def test_the_processes_of_a_worker_live_and_die_together(make: Make, kafka_url: str) -> None:
    home = make("a")
    # In the order of their starts: the one that decides, the one that projects.
    for which in (0, 1):
        worker = home.worker()
        post_events(kafka_url, "default", said(3 * which, 3 * which + 2))
        home.wait_for("default", 3 * which + 3)
        os.kill(others_of(worker)[which], signal.SIGKILL)
        assert worker.ended() == -signal.SIGKILL
        name = ("deciding", "projecting")[which]
        assert f"the {name} process exited (-9), so this worker exits too" in worker.errors

    worker = home.worker()
    post_events(kafka_url, "default", said(6, 8))
    home.wait_for("default", 9)
    others = others_of(worker)
    assert len(others) == 2
    worker.kill()
    wait_until(
        lambda: not any(Path(f"/proc/{each}").exists() for each in others),
        lambda: "the others end too",
    )

    worker = home.worker()
    others = others_of(worker)
    assert worker.stop() == 0
    assert not any(Path(f"/proc/{each}").exists() for each in others)
    verified(home)


def test_a_worker_decides_what_commands_of_its_own_home_publish(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    """They write into the copy that the worker reads, so it has the events before it is told."""
    home = make("a")
    worker = home.worker()
    for number in range(6):
        ingested = home.ask("ingest", write(tmp_path / f"{number}.jsonl", said(number, number)))
        assert ingested["new"] == 1
        home.wait_for("default", number + 1)
    assert worker.stop() == 0


def test_who_ingests_leaves_the_deciding_to_the_workers(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    home, guest = make("a"), make("b")
    worker = home.worker()
    sharing(kafka_url, 12)
    guest.ask("ingest", write(tmp_path / "e.jsonl", said(0, 5)))
    assert guest.decided() == 6
    assert driven(guest) == set()
    # What a worker has decided is on the broker before it is in its own files.
    wait_until(lambda: driven(home) == {"default"}, lambda: f"the worker drives {driven(home)}")
    # A worker that does not answer is not waited for for ever.
    worker.send(signal.SIGSTOP)
    guest.ask("ingest", write(tmp_path / "f.jsonl", said(6, 7)))
    assert guest.decided() == 8
    worker.send(signal.SIGCONT)
    home.wait_for("default", 8)
    assert home.hashes() == guest.hashes()
    assert worker.stop() == 0


def test_a_home_has_one_worker_or_replica_at_a_time(make: Make, kafka_url: str) -> None:
    home = make("a")
    worker = home.worker()
    for command in ("worker", "replica"):
        refused = home.start(command)
        assert refused.ended() == 1
        assert str(home.home) in refused.errors
        assert refused.errors.count("\n") == 1
    assert worker.runs
    post_events(kafka_url, "default", said(0, 1))
    home.wait_for("default", 2)
    worker.kill()
    again = home.worker()
    assert again.runs, again.errors
    assert again.stop() == 0


@pytest.mark.parametrize("command", ["status", "worker", "replica"])
def test_a_home_with_another_encoder_is_refused(make: Make, kafka_url: str, command: str) -> None:
    make("a").ask("status")
    other = make("b")
    settings = json.loads((other.home / "home.json").read_text())
    settings["encoder"] = {
        **dict.fromkeys(("sha256", "tokenizer_sha256", "config_sha256"), "5" * 64),
        "name": "mini",
        "precision": "int8",
        "source": "wheel",
        "place": "mini==1",
        "revision": "1",
        "dimension": 384,
        "settings": {"pooling": "mean", "query_prefix": "", "max_length": 256},
    }
    (other.home / "home.json").write_text(json.dumps(settings))
    refused = other.start(command)
    assert refused.ended() == 2, refused.errors
    for word in ("encoder none", "mini/int8", "recollect init"):
        assert word in refused.errors


@pytest.mark.parametrize("level", ["derive", "fresh"])
def test_a_worker_goes_over_to_what_another_home_derived_again(
    make: Make, kafka_url: str, tmp_path: Path, level: str
) -> None:
    home, other = make("a"), make("b")
    worker = home.worker()
    sharing(kafka_url, 12)
    post_events(kafka_url, "default", said(0, 5))
    home.wait_for("default", 6)
    first = chain_of(home)

    rebuilt = other.ask("rebuild", "--level", level)
    assert rebuilt["level"] == level
    second = chain_of(other)
    assert second != first
    wait_until(lambda: chain_of(home) == second, lambda: f"it adopts the chain: {worker.errors}")
    post_events(kafka_url, "default", said(6, 7))
    # The switch is a record of the zone as well.
    home.wait_for("default", 9)
    assert chain_of(home) == second
    assert other.ask("recall", "Which day was day 2?")["results"]
    wanted = embedded(make, said(0, 7), tmp_path / "e.jsonl")["default"]
    assert home.hashes()["memory"] == other.hashes()["memory"] == wanted["memory"]

    other.ask("rollback")
    assert chain_of(other) == first
    wait_until(lambda: chain_of(home) == first, lambda: f"it goes back as well: {worker.errors}")
    post_events(kafka_url, "default", said(8, 9))
    home.wait_for("default", 12)
    # A node that comes late finds the chain that counts by itself.
    late = make("c")
    assert late.ask("recall", "Which day was day 3?")["results"]
    assert chain_of(home) == chain_of(late) == first
    assert worker.stop() == 0, worker.errors
    assert verified(home) == verified(other) == verified(late)


TICKING = """
import recollect.operations.processes.embedded_worker, recollect.streams.workers.kafka_worker
recollect.operations.processes.embedded_worker.TICK_SECONDS = 1
recollect.streams.workers.kafka_worker._PERIODIC_SECONDS = 0
"""


def test_ticks_close_abandoned_turns_once_and_end_when_nothing_is_due(
    make: Make, kafka_url: str
) -> None:
    homes = make("a", RECOLLECT_TICKS="on"), make("b", RECOLLECT_TICKS="on")
    workers = [home.worker(script=TICKING) for home in homes]
    sharing(kafka_url, 6, 6)
    zones = ZONES[:8]
    for zone in zones:
        post_events(
            kafka_url,
            zone,
            [
                line("m1", "I live in Berlin.", turn_id="T1", direction="out"),
                line("m2", "The box is green."),
            ],
        )

    wait_until(
        lambda: sum("close_turn" in kinds for kinds in kinds_of(kafka_url).values()) == len(zones),
        lambda: f"the turns are closed: {kinds_of(kafka_url)} {workers[0].errors}",
    )

    def grows() -> bool:
        before = len(records_of(kafka_url, "events"))
        for home in homes * 3:
            home.looked_around()
        return len(records_of(kafka_url, "events")) > before

    # What was closed is news, and is ticked once more; then there is none.
    wait_until(lambda: not grows(), lambda: f"the ledger grows on: {kinds_of(kafka_url)}")
    for zone in zones:
        kinds = kinds_of(kafka_url)[zone]
        assert kinds.count("message") == 2
        assert kinds.count("close_turn") == 1
        assert kinds.index("tick") < kinds.index("close_turn")
        (home,) = [home for home in homes if zone in driven(home)]
        # Its messages are processed, like the one that belongs to no turn.
        processed = home.query("memory", "SELECT event_id FROM memory_processing_log", zone)
        messages = home.query("events", "SELECT id FROM events WHERE kind = 'message'", zone)
        assert set(messages) <= set(processed)
    assert [worker.stop() for worker in workers] == [0, 0]


def test_with_ticks_off_a_worker_appends_none(make: Make, kafka_url: str) -> None:
    home = make("a")
    worker = home.worker(script=TICKING)
    post_events(kafka_url, "z", [line("m1", "I live in Berlin.", turn_id="T1", direction="out")])
    home.wait_for("z", 1)
    for _ in range(3):
        home.looked_around()
    assert len(records_of(kafka_url, "events")) == 1
    assert worker.stop() == 0


def test_files_that_lost_their_last_commits_are_brought_up_by_their_own_watermarks(
    make: Make, kafka_url: str
) -> None:
    """A power cut may take the last commits of three files, and leave those of driver.db."""
    home = make("a")

    def taken(first: int, last: int) -> None:
        worker = home.worker()
        lines = [line(f"m{n}", f"Ada lives in house {n}.", number=n) for n in range(first, last)]
        post_events(kafka_url, "default", lines)
        home.wait_for("default", last - 1)
        assert worker.stop() == 0

    decided = [f"{model}.db" for model in MODELS if model != "events"]
    taken(1, 4)
    files = home.home / "zones" / "default" / home.generation()
    before = {name: (files / name).read_bytes() for name in decided}
    assert not any((files / f"{name}-wal").exists() for name in decided), "all is in the files"
    taken(4, 7)
    wanted = home.hashes()
    for name, content in before.items():
        (files / name).write_bytes(content)
    assert home.decided() == 3

    worker = home.worker()
    home.wait_for("default", 6)
    assert home.hashes() == wanted
    assert worker.stop() == 0
