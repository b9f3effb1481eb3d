"""The topics: made once, as the reference says, and refused where they are anything else."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from recollect.schemas.events import Draft, Message
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from tests.kafka.conftest import Make
from tests.kafka.kit import (
    Recollect,
    bounds_of,
    line,
    make_topic,
    place_of,
    records_of,
    topics_of,
    wait_until,
    with_admin,
    write,
)

DAY_MS = 86_400_000
FOR_EVER = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
#: On one broker: what only one machine has is flushed.
SAFE = {
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "false",
    "flush.messages": "1",
}
ROLLED = {"segment.ms": "200000", "message.timestamp.type": "LogAppendTime"}
ANY_TIME = {"message.timestamp.after.max.ms": "9223372036854775807"}
#: What stands in the reference, and what must not be left to a broker's defaults.
DOCUMENTED = {
    "inbox": {**FOR_EVER, **SAFE, **ROLLED},
    "events": {**FOR_EVER, **SAFE, **ANY_TIME},
    "changes": {**FOR_EVER, **SAFE, **ANY_TIME},
    "recordings": {**FOR_EVER, **SAFE, **ANY_TIME},
    "keys": {"cleanup.policy": "compact", **SAFE, **ROLLED, "max.compaction.lag.ms": "200000"},
}
#: As the build of 2026-11-22 made them.
BEFORE = {
    "inbox": {
        "cleanup.policy": "delete",
        "retention.ms": str(7 * DAY_MS),
        "max.message.bytes": "1114112",
        "compression.type": "gzip",
    },
    **{
        name: {**FOR_EVER, "max.message.bytes": "4194304", "compression.type": "producer"}
        for name in ("events", "changes", "recordings")
    },
    "keys": {
        "compression.type": "producer",
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "max.compaction.lag.ms": "3600000",
        "segment.ms": "3600000",
        "delete.retention.ms": str(DAY_MS),
    },
}


def described(url: str) -> dict[str, int]:
    """Return the number of partitions of each topic of a ledger."""
    wanted = [place_of(url).topic(name) for name in DOCUMENTED]
    found = with_admin(url, lambda admin: admin.describe_topics(wanted))
    return {topic["topic"]: len(topic["partitions"]) for topic in found if not topic["error_code"]}


def configured(url: str, name: str) -> dict[str, str]:
    """Return the settings of a topic, as the broker tells an administrator."""

    async def ask(admin: AIOKafkaAdminClient) -> dict[str, str]:
        resource = ConfigResource(ConfigResourceType.TOPIC, place_of(url).topic(name))
        (response,) = await admin.describe_configs([resource])
        ((code, _, _, _, entries),) = response.resources
        assert code == 0
        return {entry[0]: entry[1] for entry in entries}

    return with_admin(url, ask)


def alter(url: str, name: str, settings: dict[str, str]) -> None:
    """Set a topic's settings to these, and all others to the broker's."""
    resource = ConfigResource(ConfigResourceType.TOPIC, place_of(url).topic(name), settings)
    with_admin(url, lambda admin: admin.alter_configs([resource]))
    wait_until(
        lambda: settings.items() <= configured(url, name).items(), f"topic {name} is altered"
    )


def test_the_first_node_makes_the_topics_as_documented(make: Make, kafka_url: str) -> None:
    make("a").ask("status")
    assert described(kafka_url) == {place_of(kafka_url).topic(name): 12 for name in DOCUMENTED}
    for name, wanted in DOCUMENTED.items():
        there = configured(kafka_url, name)
        assert {key: there[key] for key in wanted} == wanted, name
    # A change record of 900,000 bytes, and an event of a mebibyte packed and sealed.
    assert int(configured(kafka_url, "changes")["max.message.bytes"]) > 1_000_000
    assert int(configured(kafka_url, "events")["max.message.bytes"]) > 3 * 1_048_576
    assert int(configured(kafka_url, "inbox")["max.message.bytes"]) > 1_048_576


def test_a_later_node_makes_none(make: Make, kafka_url: str, tmp_path: Path) -> None:
    first, second = make("a"), make("b")
    first.ask("ingest", write(tmp_path / "e.jsonl", [line("1", "The box is green.")]))
    before = records_of(kafka_url, "events"), topics_of(kafka_url)
    assert second.ask("recall", "box")["results"][0]["source_event_ids"] == ["1"]
    assert (records_of(kafka_url, "events"), topics_of(kafka_url)) == before


def test_nodes_that_start_at_once_make_each_topic_once(kafka_url: str, tmp_path: Path) -> None:
    def start(name: str) -> bytes:
        settings = KafkaSettings.read(kafka_url, {})
        with closing(KafkaLedger(settings, tmp_path / name)) as ledger:
            return ledger.keys.secret

    with ThreadPoolExecutor(4) as threads:
        secrets = list(threads.map(start, "abcd"))
    assert described(kafka_url) == {place_of(kafka_url).topic(name): 12 for name in DOCUMENTED}
    assert len(set(secrets)) == 1, "the nodes do not know sources by the same hash"


@pytest.mark.parametrize(
    ("name", "other", "says"),
    [
        ("events", {"partitions": 6}, ("6 partitions", "12")),
        ("inbox", {"partitions": 13}, ("13 partitions", "12")),
        ("events", {"cleanup.policy": "compact"}, ("cleanup.policy=compact", "delete")),
        ("changes", {"retention.ms": str(7 * DAY_MS)}, (f"retention.ms={7 * DAY_MS}", "-1")),
        ("recordings", {"retention.bytes": "1000"}, ("retention.bytes=1000", "-1")),
        ("keys", {"cleanup.policy": "delete"}, ("cleanup.policy=delete", "compact")),
        ("inbox", {"cleanup.policy": "compact"}, ("cleanup.policy=compact", "delete")),
        ("events", {"max.message.bytes": "1048588"}, ("max.message.bytes=1048588", "4194304")),
    ],
    ids=lambda value: " ".join(map(str, value.items())) if isinstance(value, dict) else None,
)
def test_a_topic_that_is_set_otherwise_is_refused_by_name(
    make: Make, kafka_url: str, name: str, other: dict[str, Any], says: tuple[str, str]
) -> None:
    home = make("a")
    home.ask("status")
    right = configured(kafka_url, name)
    wanted = {key: right[key] for key in ("cleanup.policy", "retention.ms", "max.message.bytes")}
    for key in ("min.cleanable.dirty.ratio", "max.compaction.lag.ms", "segment.ms"):
        wanted[key] = right[key]
    wanted |= {"retention.bytes": right["retention.bytes"]}
    wanted |= {"delete.retention.ms": right["delete.retention.ms"]}
    # Somebody else's prefix, where one topic is there before us.
    url = f"{kafka_url}.2"
    prefixed = make("b", url)
    partitions = other.get("partitions", 12)
    make_topic(url, name, {**wanted, **{k: v for k, v in other.items() if "." in k}}, partitions)
    ended = prefixed.run("status")
    assert ended.status == 2
    assert ended.errors.count("\n") == 1, ended.errors
    for word in (place_of(url).topic(name), *says):
        assert word in ended.errors, ended.errors


def test_a_topic_that_somebody_made_rightly_is_used(make: Make, kafka_url: str) -> None:
    make_topic(kafka_url, "events", {**FOR_EVER, "max.message.bytes": "4194304"})
    make("a").ask("status")
    assert described(kafka_url) == {place_of(kafka_url).topic(name): 12 for name in DOCUMENTED}


def test_topics_of_the_build_before_are_brought_to_todays_settings(
    make: Make, kafka_url: str
) -> None:
    for name, settings in BEFORE.items():
        make_topic(kafka_url, name, settings)
    # One that recollect does not speak of stays as somebody set it.
    alter(kafka_url, "events", {**BEFORE["events"], "segment.bytes": "104857600"})
    make("a").ask("status")
    for name, wanted in DOCUMENTED.items():
        there = configured(kafka_url, name)
        assert {key: there[key] for key in wanted} == wanted, name
        assert {key: there[key] for key in BEFORE[name] if key not in wanted} == {
            key: value for key, value in BEFORE[name].items() if key not in wanted
        }
    assert configured(kafka_url, "events")["segment.bytes"] == "104857600"


def test_settings_that_keep_more_or_less_long_than_ours_stay(make: Make, kafka_url: str) -> None:
    """A node that erases faster sets the pace for all; one that does not changes nothing."""
    make("a", RECOLLECT_KAFKA_ERASE_SECONDS="30").ask("status")
    make("b").ask("status")
    assert configured(kafka_url, "keys")["segment.ms"] == "10000"
    assert configured(kafka_url, "inbox")["file.delete.delay.ms"] == "10000"
    make("c", RECOLLECT_KAFKA_ERASE_SECONDS="6").ask("status")
    assert configured(kafka_url, "keys")["segment.ms"] == "2000"
    assert configured(kafka_url, "inbox")["file.delete.delay.ms"] == "2000"


def test_the_doctor_names_what_has_fewer_replicas_than_are_wanted(
    make: Make, kafka_url: str
) -> None:
    def brokers(home: Recollect) -> tuple[bool, str]:
        checks = home.run("doctor", "--json").json()["checks"]
        (found,) = [each for each in checks if each["check"] == "brokers"]
        return found["ok"], found["detail"]

    first = make("a")
    assert brokers(first)[0]
    first.ask("status")
    assert brokers(first)[0], "no broker can have more than one of one"
    second = make("b", RECOLLECT_KAFKA_REPLICATION="2")
    second.ask("status")
    ok, detail = brokers(second)
    assert not ok
    for name in map(place_of(kafka_url).topic, DOCUMENTED):
        assert f"topic {name} is kept on 1 of 1 brokers, not on 2" in detail


def test_prefixes_are_ledgers_of_their_own(make: Make, kafka_url: str, tmp_path: Path) -> None:
    one, other = make("a"), make("b", f"{kafka_url}.other")
    one.ask("ingest", write(tmp_path / "a.jsonl", [line("1", "The box is green.")]))
    other.ask("ingest", write(tmp_path / "b.jsonl", [line("1", "The cat is red.")]))
    assert one.ask("recall", "cat")["results"] == []
    assert other.ask("recall", "box")["results"] == []
    for home in (one, other):
        assert sum(end for _, end in bounds_of(home.url, "events")) == 1


@pytest.mark.parametrize("years", [-10, 10])
def test_who_has_a_wrong_clock_can_publish_and_decide(
    kafka_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, years: int
) -> None:
    wrong = time.time_ns() + years * 365 * DAY_MS * 1_000_000
    monkeypatch.setattr(time, "time_ns", lambda: wrong)
    monkeypatch.setattr(time, "time", lambda: wrong / 1e9)
    message = Message(source_id="m1", sender_id="U1", content="The box is green.")
    draft = Draft(platform="chat", occurred_at=DAY_MS, payload=message)
    settings = KafkaSettings.read(kafka_url, {})
    with closing(KafkaLedger(settings, tmp_path / "copy")) as ledger:
        (receipt,) = ledger.publish("ada", [draft])
        ledger.append("changes", "ada", [b"a change"])
    assert receipt.status == "new"
    assert [len(records_of(kafka_url, topic)) for topic in ("events", "changes")] == [1, 1]
