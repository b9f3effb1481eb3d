"""What goes wrong on Kafka is parked, gone on with, or named; nothing wrong is ever served."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from tests.broker.kafka import Broker
from tests.kafka.conftest import Make
from tests.kafka.kit import (
    Recollect,
    Running,
    bounds_of,
    delete_topic,
    line,
    make_topic,
    post,
    post_events,
    records_of,
    truncate,
    wait_until,
    write,
)
from tests.kafka.nodes.test_service import served

#: The partition of the zone "default", by murmur2.
PLACE = 7

POISONED = """
import recollect.home.ledgers
from functools import partial
from recollect.streams.agents import AGENTS
from tests.protocol.kit import Poisoned
recollect.home.ledgers.Node = partial(
    recollect.home.ledgers.Node, agents=(*AGENTS, Poisoned("hemlock", where={where!r}))
)
"""


def boxes(first: int, last: int, **other: str) -> list[dict[str, object]]:
    """Return messages m1, m2, … that hold their number; `other` gives some another text."""
    return [
        line(f"m{n}", other.get(f"m{n}", f"The box number {n} is green."), number=n)
        for n in range(first, last + 1)
    ]


def sources_of(home: Recollect, query: str, zone: str = "default") -> set[str]:
    found = home.ask("--zone", zone, "recall", query, "-k", "50")["results"]
    return {source for result in found for source in result["source_event_ids"]}


def named(home: Recollect, commands: Sequence[tuple[str, ...]], *words: str) -> None:
    """Require that commands fail, say why in words, and serve nothing."""
    for command in commands:
        ended = home.run(*command)
        assert ended.status == 1, (command, ended)
        assert all(word in ended.errors for word in words), (command, ended)
        assert command[0] == "verify" or ended.output == "", (command, ended)


def says(running: Running, *words: str) -> None:
    """Wait until a process says something on stderr, in whichever line."""
    wait_until(
        lambda: any(all(word in said for word in words) for said in running.errors.splitlines()),
        lambda: f"it says {words}: {running.errors}",
    )


# Records that cannot be swallowed


@pytest.mark.parametrize("where", ["extract", "resolve"])
def test_what_an_agent_cannot_swallow_is_parked_and_the_rest_is_decided(
    make: Make, kafka_url: str, where: str
) -> None:
    """At the first, a middle and the last place of what is published together."""
    home, well = make("a"), make("b")
    worker = home.worker(script=POISONED.format(where=where))
    poison = {f"m{n}": f"Hemlock: hemlock number {n}." for n in (1, 40, 90)}
    post_events(kafka_url, "default", boxes(1, 90, **poison))
    post_events(kafka_url, "other", boxes(1, 3))
    home.wait_for("default", 90)
    home.wait_for("other", 3)
    assert [number for number, _ in home.letters("default")] == [1, 40, 90]
    assert all("cannot swallow" in reason for _, reason in home.letters("default"))
    for number in (2, 39, 41, 89):
        assert f"m{number}" in sources_of(home, f"Which is the box number {number}?")
    assert home.letters("other") == []
    # Raw turns are there whatever became of them.
    assert "m40" in sources_of(home, "hemlock")
    assert "m40" in sources_of(well, "hemlock")
    verified = well.ask("verify")
    assert verified["ok"], verified["problems"]
    assert well.hashes() == home.hashes()

    # Somebody has mended the agent.
    assert worker.stop() == 0
    mended = home.worker()
    assert well.ask("deadletters", "retry", "40")["done"]
    home.wait_for("default", 91)
    assert [number for number, _ in home.letters("default")] == [1, 90]
    assert mended.stop() == 0
    assert well.hashes() == home.hashes()


# Records of strangers

NOBODYS = [(None, b"garbage"), (b"", None), (b"no zone!", b"\x92\xc4"), (b"\xff\xfe", b"garbage")]


def test_a_strangers_record_of_no_zone_stops_nobody(make: Make, kafka_url: str) -> None:
    homes = make("a"), make("b")
    workers = [home.worker() for home in homes]
    copy = make("c")
    replica = copy.replica()
    zones = ["default", "z1", "z2", "z3"]
    for zone in zones:
        post_events(kafka_url, zone, boxes(1, 1))
        copy.wait_for(zone, 1)
    for topic in ("events", "changes"):
        for partition in range(12):
            post(kafka_url, topic, NOBODYS, partition=partition)
    for zone in zones:
        post_events(kafka_url, zone, boxes(2, 3))
        copy.wait_for(zone, 3)
        verified = copy.ask("--zone", zone, "verify")
        assert verified["ok"], verified["problems"]
    for running in (*workers, replica):
        assert "has stopped" not in running.errors
        assert running.stop() == 0, running.errors
    late = make("d")
    late.once()
    assert late.zones() == sorted(zones)
    assert late.hashes("z1") == copy.hashes("z1")


@pytest.mark.parametrize("topic", ["events", "changes"])
def test_a_strangers_record_under_a_zones_name_is_void_or_named(
    make: Make, kafka_url: str, topic: str
) -> None:
    """Other zones go on, those of the same partition included; nothing is left out silently."""
    home, other = make("a"), make("b")
    worker = home.worker()
    post_events(kafka_url, "default", boxes(1, 2))
    home.wait_for("default", 2)
    post(kafka_url, topic, [(b"default", b"garbage")])
    at = f"{topic}/{PLACE} offset 2"
    post_events(kafka_url, "default", boxes(3, 4))
    post_events(kafka_url, "z3", boxes(1, 2))
    home.wait_for("z3", 2)
    partitions = {each.partition for each in records_of(kafka_url, "events") if each.key == b"z3"}
    assert partitions == {PLACE}, "the zones are neighbours"
    wait_until(
        lambda: home.decided() == 4 or at in worker.errors,
        lambda: f"it goes on, or says where it is: {worker.errors}",
    )
    goes_on = home.decided() == 4
    if not goes_on:
        named(other, [("recall", "box"), ("verify",)], at)
        status = other.run("status", "--json")
        assert at in status.errors or status.json()["lag"] > 0
    else:
        assert sources_of(other, "box") == {"m1", "m2", "m3", "m4"}
    assert at in other.run("verify").errors, "verify names what is no record of ours"
    assert worker.stop() == (0 if goes_on else 1)


@pytest.mark.parametrize("topic", ["events", "changes"])
def test_a_strangers_record_is_named_everywhere_and_passed_over_by_command(
    make: Make, kafka_url: str, topic: str
) -> None:
    """Fault 27: every node then agrees, and so does every rebuild."""
    home, other = make("a"), make("b")
    worker = home.worker()
    post_events(kafka_url, "default", boxes(1, 2))
    home.wait_for("default", 2)
    post(kafka_url, topic, [(b"default", b"garbage")])
    at = f"{topic}/{PLACE} offset 2"
    post_events(kafka_url, "default", boxes(3, 4))
    says(worker, at)
    with served(other) as (_, client):

        def ready() -> object:
            return httpx.get(client.base_url.copy_with(path="/health/ready"), timeout=60).json()

        degraded = {"status": "degraded", "unreadable": [at]}
        wait_until(lambda: ready() == degraded, lambda: f"the service names it: {ready()}")
        doctor = other.run("doctor")
        assert doctor.status == 1
        assert at in doctor.output
        fix = f"recollect --zone default skip {topic} 2"
        assert fix in doctor.output
        assert other.ask(*fix.split()[1:])["topic"] == topic
        home.wait_for("default", 5)
        wait_until(lambda: ready() == {"status": "ok"}, lambda: f"the service is well: {ready()}")
    assert other.run("doctor").status == 0
    assert sources_of(other, "box") == {"m1", "m2", "m3", "m4"}
    assert other.ask("verify")["ok"]
    assert worker.stop() == 0
    late = make("c")
    late.once()
    assert late.ask("verify")["ok"]
    late.ask("rebuild", "--level", "derive")
    assert sources_of(late, "box") == {"m1", "m2", "m3", "m4"}
    assert late.ask("verify")["ok"]


# A ledger that has lost something


def test_changes_that_were_deleted_are_missed(make: Make, kafka_url: str, tmp_path: Path) -> None:
    home, late = make("a"), make("b")
    worker = home.worker()
    post_events(kafka_url, "default", boxes(1, 6))
    home.wait_for("default", 6)
    ((_, end),) = [bounds_of(kafka_url, "changes")[PLACE]]
    truncate(kafka_url, "changes", {PLACE: end - 2})
    post_events(kafka_url, "z1", boxes(1, 1))
    home.wait_for("z1", 1)
    begins = (f"changes/{PLACE}", f"{end - 2}", "restore")
    # Who never read them cannot do without them.
    named(late, [("recall", "box"), ("status",)], *begins)
    named(home, [("verify",)], f"changes/{PLACE}", "missing")
    # Without being asked for anything.
    says(worker, *begins)
    assert worker.stop() == 1
    # Those of other partitions are as they were.
    assert sources_of(late, "box", "z1") == {"m1"}


def test_a_topic_that_was_made_anew_ends_the_worker(make: Make, kafka_url: str) -> None:
    home, other = make("a"), make("b")
    worker = home.worker()
    post_events(kafka_url, "default", boxes(1, 5))
    home.wait_for("default", 5)
    other.ask("recall", "box")
    delete_topic(kafka_url, "events")
    settings = {"retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": "4194304"}
    make_topic(kafka_url, "events", settings)
    assert worker.ended() == 1
    assert "Traceback" not in worker.errors
    assert "events" in worker.errors
    # As soon as the group hears of it, or when the topic is read.
    assert "deleted" in worker.errors or "restore" in worker.errors
    everything = [("recall", "box"), ("status",), ("verify",), ("worker", "--once")]
    named(other, everything, f"events/{PLACE}", "restore")
    # Another zone begins there, up to where the old one ended.
    post(kafka_url, "events", [(b"z3", b"garbage")] * 5)
    named(other, everything, f"events/{PLACE}", "restore")
    again = home.worker()
    assert again.ended() == 1
    assert "restore" in again.errors


def test_a_ledger_that_was_restored_from_an_older_backup_is_noticed(
    own_broker: Broker, own_url: str, make_own: Make, tmp_path: Path
) -> None:
    home = make_own("a")

    def ingest(into: Recollect, first: int, last: int, what: str) -> None:
        lines = [
            line(f"{what}-{n}", f"The {what} number {n} is green.", number=n)
            for n in range(first, last + 1)
        ]
        into.ask("ingest", write(tmp_path / "e.jsonl", lines))

    ingest(home, 1, 2, "box")
    # As a snapshot of its disk is: it stands still for that long.
    os.kill(own_broker.pid, signal.SIGSTOP)
    backup = shutil.copytree(own_broker.data, tmp_path / "backup")
    os.kill(own_broker.pid, signal.SIGCONT)
    ingest(home, 3, 4, "box")
    own_broker.kill()
    shutil.rmtree(own_broker.data)
    shutil.copytree(backup, own_broker.data)
    own_broker.start()

    everything = [
        ("recall", "box"),
        ("status",),
        ("verify",),
        ("worker", "--once"),
        ("ingest", str(tmp_path / "e.jsonl")),
        ("rebuild",),
        ("forget", "box-1"),
    ]
    # Records are missing at the end.
    named(home, everything, f"events/{PLACE} ends at offset 2", "4 was read", "restore")
    worker = home.start("worker")
    assert worker.ended() == 1
    assert f"/{PLACE} ends at offset 2" in worker.errors

    # Others have written on from there, as far as the lost records went.
    fresh = make_own("b")
    ingest(fresh, 3, 4, "cat")
    named(home, everything, f"/{PLACE} offset 3", "another history")
    replica = home.start("replica")
    assert replica.ended() == 1
    assert "another history" in replica.errors
    ingest(fresh, 5, 6, "cat")
    named(home, everything[:3], f"/{PLACE} offset 3", "another history")

    # Who gives its copy up still has files of what is gone.
    shutil.rmtree(home.home / "copy")
    everything = [each for each in everything if each[0] not in ("worker", "ingest")]
    named(home, everything, "is not in the ledger")
    assert "cat-3" not in home.events()

    # A home that has seen nothing else is whole.
    assert sources_of(fresh, "Which number?") >= {"box-1", "cat-3", "cat-6"}
    verified = fresh.ask("verify")
    assert verified["ok"], verified["problems"]


def test_a_key_that_the_brokers_lost_is_no_erasure(
    own_broker: Broker, own_url: str, make_own: Make, tmp_path: Path
) -> None:
    """A machine lost its power before the ends of `keys` were on its disk."""
    home = make_own("a")
    home.ask("ingest", write(tmp_path / "e.jsonl", boxes(1, 2)))
    os.kill(own_broker.pid, signal.SIGSTOP)
    keys = [path for path in own_broker.data.glob("keys-*") if path.is_dir()]
    flushed = {path: shutil.copytree(path, tmp_path / "flushed" / path.name) for path in keys}
    os.kill(own_broker.pid, signal.SIGCONT)
    home.ask("ingest", write(tmp_path / "e.jsonl", boxes(3, 4)))
    own_broker.kill()
    for path, before in flushed.items():
        shutil.rmtree(path)
        shutil.copytree(before, path)
    own_broker.start()

    fresh = make_own("b")
    for _ in range(2):
        named(
            fresh,
            [("recall", "box"), ("status",), ("worker", "--once"), ("rebuild",)],
            f"events/{PLACE} offset 2",
            "key of event 3",
            "lost",
            "restore",
        )
    assert fresh.decided() == 0
    assert sources_of(fresh, "box", "z1") == set()
    post_events(own_url, "z3", boxes(1, 1))
    assert fresh.run("worker", "--once").status == 1
    assert sources_of(fresh, "box", "z3") == {"m1"}, "a neighbour in the same partition goes on"

    # Nobody has the keys any more: the events are given up, and workers go on by themselves.
    worker = fresh.worker()
    says(worker, "key of event 3", "recollect forget '#3' --zone default")
    gone = fresh.ask("forget", "#3", "#4")
    assert gone["forgotten"] == ["#3", "#4"]
    post_events(own_url, "default", [line("last", "The last box is green.", number=9)])
    fresh.wait_for("default", 6)
    assert worker.stop() == 0, worker.errors
    for node in (fresh, make_own("c")):
        assert sources_of(node, "box") == {"m1", "m2", "last"}
        verified = node.ask("verify")
        assert verified["ok"], verified["problems"]


def test_a_worker_outlives_its_broker(own_broker: Broker, own_url: str, make_own: Make) -> None:
    home = make_own("a")
    worker = home.worker()
    post_events(own_url, "default", boxes(1, 2))
    home.wait_for("default", 2)
    own_broker.kill()
    own_broker.start()
    post_events(own_url, "default", boxes(3, 4))
    home.wait_for("default", 4)
    assert worker.stop() == 0, worker.errors
    verified = home.ask("verify")
    assert verified["ok"], verified["problems"]
