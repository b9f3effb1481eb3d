"""The topics of a Kafka ledger.

Missing topics are created with our settings. Topics with the settings of an earlier build are
altered. Topics with any other settings are refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAlreadyExistsError, for_code

from recollect.schemas.errors import HomeError
from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.ledger.ledger import CHANGES, EVENTS, PARTITIONS, RECORDINGS

INBOX = "inbox"
KEYS = "keys"
#: All topics of a ledger, without the prefix.
NAMES = (INBOX, EVENTS, CHANGES, RECORDINGS, KEYS)

#: The maximum size of a record. The largest accepted draft fits, although it may grow threefold
#: when its numbers are packed. Change records are split before they reach this size.
MAX_TOPIC_RECORD_BYTES = 4 * 1024 * 1024

#: The largest record that the broker accepts into the inbox. It allows for drafts that are too
#: large, so that they can be parked.
MAX_INBOX_BYTES = MAX_RECORD_BYTES + 65_536

_DAY_MS = 86_400_000
_MAX_REPLICAS = 3
# Maximum `file.delete.delay.ms`.
_DELETE_MS = 10_000

# Keep the producer's compression (none), whatever the broker's default is.
_PRODUCER_COMPRESSION = {"compression.type": "producer"}
_UNLIMITED = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
# Times come from the writers, whose clocks may be years ahead.
_ANY_TIME = {"message.timestamp.after.max.ms": str(2**63 - 1)}
_RETAIN_FOREVER = {
    **_UNLIMITED,
    **_ANY_TIME,
    "max.message.bytes": str(MAX_TOPIC_RECORD_BYTES),
    **_PRODUCER_COMPRESSION,
}

# Settings whose existing value may be lower than ours (`_UPPER_BOUNDED`) or higher
# (`_LOWER_BOUNDED`).
_UPPER_BOUNDED = {
    "segment.ms",
    "max.compaction.lag.ms",
    "min.cleanable.dirty.ratio",
    "file.delete.delay.ms",
    "flush.messages",
}
_LOWER_BOUNDED = {"min.insync.replicas"}
# Settings that are altered if a topic has other values: an earlier build set them, and altering
# them loses no records. Any other difference means that the topic is not ours.
_ALTERABLE = {
    *_UPPER_BOUNDED,
    *_LOWER_BOUNDED,
    "delete.retention.ms",
    "message.timestamp.type",
    "message.timestamp.after.max.ms",
    "unclean.leader.election.enable",
}
_ALTERABLE_IN_INBOX = {*_ALTERABLE, "retention.ms", "retention.bytes"}


def topic_settings(name: str, replicas: int, erase_seconds: float) -> dict[str, str]:
    """Return the settings of a topic with this many replicas; `name` is without the prefix.

    An acknowledged record is on two machines, or at least on a disk: if a topic requires fewer than
    two replicas in sync, the broker flushes each append. A third of the erasure deadline is for
    rolling segments; the rest is for the broker's cleaner.
    """
    rolling_settings = {
        # Segments roll by the broker's clock, whatever timestamps the clients send.
        "message.timestamp.type": "LogAppendTime",
        "segment.ms": str(int(erase_seconds * 1_000 / 3)),
        "file.delete.delay.ms": str(min(_DELETE_MS, int(erase_seconds * 1_000 / 3))),
    }
    of_topic = {
        # Only the sequencers delete its records, and only those that are in the ledger.
        INBOX: {
            **_UNLIMITED,
            **rolling_settings,
            "max.message.bytes": str(MAX_INBOX_BYTES),
            # Clients may use any compression; the broker converts it to one that we can read.
            "compression.type": "gzip",
        },
        EVENTS: _RETAIN_FOREVER,
        RECORDINGS: _RETAIN_FOREVER,
        CHANGES: _RETAIN_FOREVER,
        # Only this topic is compacted: here compaction removes destroyed keys, but in the others
        # it would lose records.
        KEYS: {
            **_PRODUCER_COMPRESSION,
            **rolling_settings,
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.01",
            "max.compaction.lag.ms": rolling_settings["segment.ms"],
            "delete.retention.ms": str(_DAY_MS),
        },
    }
    in_sync = 2 if replicas >= _MAX_REPLICAS else 1
    return {
        **of_topic[name],
        "min.insync.replicas": str(in_sync),
        "unclean.leader.election.enable": "false",
        **({"flush.messages": "1"} if in_sync == 1 else {}),
    }


class TopicCheck(NamedTuple):
    """The result of checking the topics.

    `roll_seconds`: for `inbox` and `keys`, the age of a segment after which the next record rolls
    it. `warnings`: settings that are less safe than possible.
    """

    roll_seconds: Mapping[str, float]
    warnings: Sequence[str]


_CREATED_WITHIN_SECONDS = 30.0
# Kafka's code for a setting whose value comes from the topic itself.
_SOURCE_TOPIC = 1


async def ensure_topics(admin: AIOKafkaAdminClient, settings: KafkaSettings) -> TopicCheck:
    """Create missing topics, check the others, and alter settings of an earlier build.

    Raises:
        HomeError: a topic's settings differ from ours, or it cannot be created or altered.
    """
    names = {settings.topic(name): name for name in NAMES}
    replicas = settings.replication
    brokers = len((await admin.describe_cluster())["brokers"])
    if replicas is None:
        replicas = min(_MAX_REPLICAS, brokers)
    existing = await _partitions(admin, list(names))
    missing = [name for name in names if name not in existing]
    if missing:
        await _create(admin, settings, {name: names[name] for name in missing}, replicas)
        await _wait_for(admin, list(names))
    for name, partitions in existing.items():
        if len(partitions) != PARTITIONS:
            raise HomeError(
                f"topic {name} has {len(partitions)} partitions, not {PARTITIONS}: it is not "
                "recollect's; give RECOLLECT_LEDGER another prefix (kafka://host:port/prefix)"
            )
    replica_counts = {name: min(partitions) for name, partitions in existing.items()}
    roll_seconds = dict.fromkeys((INBOX, KEYS), settings.erase_seconds / 3)
    for response in await admin.describe_configs(
        [ConfigResource(ConfigResourceType.TOPIC, name) for name in existing]
    ):
        for code, message, _, name, entries in response.resources:
            if code:
                raise HomeError(f"the settings of topic {name} cannot be read: {message}")
            segment_ms = await _reconcile(
                admin, settings, name, names[name], replica_counts[name], entries
            )
            roll_seconds[names[name]] = segment_ms / 1_000
    return TopicCheck(
        roll_seconds,
        [
            f"topic {name} is kept on {count} of {brokers} brokers, not on {replicas}: add "
            "replicas (kafka-reassign-partitions)"
            for name, count in replica_counts.items()
            if count < replicas
        ],
    )


async def _partitions(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, list[int]]:
    """Return topic -> number of replicas of each partition, for the topics that exist."""
    return {
        str(topic["topic"]): [len(partition["replicas"]) for partition in topic["partitions"]]
        for topic in await admin.describe_topics(names)
        if topic["error_code"] == 0 and topic["partitions"]
    }


async def _create(
    admin: AIOKafkaAdminClient, settings: KafkaSettings, names: Mapping[str, str], replicas: int
) -> None:
    new_topics = [
        NewTopic(
            name=name,
            num_partitions=PARTITIONS,
            replication_factor=replicas,
            topic_configs=topic_settings(topic, replicas, settings.erase_seconds),
        )
        for name, topic in names.items()
    ]
    response = await admin.create_topics(new_topics)
    for name, code, *message in response.topic_errors:
        # Another node may have created it at this moment.
        if code not in (0, TopicAlreadyExistsError.errno):
            raise HomeError(
                f"topic {name} cannot be created: {(message and message[0]) or for_code(code)}; "
                "create it by hand, or allow this user to"
            )


async def _wait_for(admin: AIOKafkaAdminClient, names: list[str]) -> None:
    """Wait until the brokers know new topics."""
    try:
        async with asyncio.timeout(_CREATED_WITHIN_SECONDS):
            while len(await _partitions(admin, names)) < len(names):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise HomeError(
            f"the topics {', '.join(names)} were created, but are still not visible after "
            f"{_CREATED_WITHIN_SECONDS:.0f} s; check the brokers' logs"
        ) from None


async def _reconcile(
    admin: AIOKafkaAdminClient,
    settings: KafkaSettings,
    name: str,
    topic: str,
    replicas: int,
    entries: Sequence[Any],
) -> int:
    """Check the settings (`entries`) of a topic, and alter them if needed; return `segment.ms`."""
    required = topic_settings(topic, replicas, settings.erase_seconds)
    current = {str(key): str(value) for key, value, *_ in entries}
    differing = {
        key: value for key, value in required.items() if not _satisfies(key, current[key], value)
    }
    differences = "; ".join(
        f"{key}={current[key]}, not {value}" for key, value in differing.items()
    )
    if differing.keys() - (_ALTERABLE_IN_INBOX if topic == INBOX else _ALTERABLE):
        raise HomeError(
            f"topic {name} has settings that recollect cannot work with: {differences}. "
            "Alter it (kafka-configs --alter), or give RECOLLECT_LEDGER another prefix"
        )
    if differing:
        # Every setting that the request does not name falls back to the broker's default.
        overrides = {
            str(key): str(value) for key, value, _, source, *_ in entries if source == _SOURCE_TOPIC
        }
        response, *_ = await admin.alter_configs(
            [ConfigResource(ConfigResourceType.TOPIC, name, configs={**overrides, **differing})]
        )
        for code, message, *_ in response.resources:
            if code:
                raise HomeError(
                    f"topic {name} has the settings of an older build ({differences}), and they "
                    f"cannot be altered ({message or for_code(code).__name__}): allow this user "
                    f"to, or run kafka-configs --bootstrap-server {settings.servers[0]} --alter "
                    f"--entity-type topics --entity-name {name} --add-config "
                    + ",".join(f"{key}={value}" for key, value in differing.items())
                )
    return int(differing.get("segment.ms", current["segment.ms"]))


def _satisfies(key: str, current: str, required: str) -> bool:
    if key in _UPPER_BOUNDED:
        return float(current) <= float(required)
    if key in _LOWER_BOUNDED:
        return float(current) >= float(required)
    return current == required
