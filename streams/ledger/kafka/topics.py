"""The topics of a Kafka ledger: made with these settings, and refused with any others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAlreadyExistsError, for_code

from schemas.errors import HomeError
from schemas.inbound import MAX_RECORD_BYTES
from streams.ledger.base import CHANGES, EVENTS, PARTITIONS, RECORDINGS
from streams.ledger.kafka.settings import KafkaSettings

INBOX = "inbox"
KEYS = "keys"

#: The largest record: the largest that the door lets in, which may grow threefold when its
#: numbers are packed. Change records are split before they are that large.
MOST_RECORD_BYTES = 4 * 1024 * 1024

#: The largest record that the broker takes into the inbox: one that the door would refuse still
#: gets in, to be parked.
MOST_INBOX_BYTES = MAX_RECORD_BYTES + 65_536

_DAY_MS = 86_400_000
#: As our own producers write: not at all, whatever the broker's default is.
_AS_WRITTEN = {"compression.type": "producer"}
_FOR_EVER = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    **_AS_WRITTEN,
}

#: What each topic must be set to. Compaction would eat records of the ledger; of the keys it
#: leaves what was not destroyed, and within the hour nothing else.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    INBOX: {
        "cleanup.policy": "delete",
        "retention.ms": str(7 * _DAY_MS),
        "max.message.bytes": str(MOST_INBOX_BYTES),
        # Anybody's client may compress as it likes; the broker turns it into what we can read.
        "compression.type": "gzip",
    },
    EVENTS: {**_FOR_EVER, "max.message.bytes": str(MOST_RECORD_BYTES)},
    RECORDINGS: {**_FOR_EVER, "max.message.bytes": str(MOST_RECORD_BYTES)},
    CHANGES: {**_FOR_EVER, "max.message.bytes": str(MOST_RECORD_BYTES)},
    KEYS: {
        **_AS_WRITTEN,
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "max.compaction.lag.ms": "3600000",
        "segment.ms": "3600000",
        "delete.retention.ms": str(_DAY_MS),
    },
}

_MADE_WITHIN_SECONDS = 30.0
_UNKNOWN_TOPIC = 3


async def ensure_topics(admin: AIOKafkaAdminClient, settings: KafkaSettings) -> None:
    """Make the topics that are not there, and check those that are.

    Raises:
        HomeError: a topic has other settings than ours, or cannot be made.
    """
    names = {settings.topic(name): name for name in SETTINGS}
    found = await _partitions(admin, list(names))
    missing = [name for name in names if name not in found]
    if missing:
        await _make(admin, settings, missing)
        await _wait_for(admin, list(names))
    for name, count in found.items():
        if count != PARTITIONS:
            raise HomeError(
                f"topic {name} has {count} partitions, not {PARTITIONS}: it is not recollect's; "
                "give RECOLLECT_LEDGER another prefix (kafka://host:port/prefix)"
            )
    if found:
        await _check_configs(admin, {name: SETTINGS[names[name]] for name in found})


async def _partitions(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, int]:
    """Return how many partitions each topic has that is there."""
    return {
        str(topic["topic"]): len(topic["partitions"])
        for topic in await admin.describe_topics(names)
        if topic["error_code"] == 0 and topic["partitions"]
    }


async def _make(admin: AIOKafkaAdminClient, settings: KafkaSettings, names: list[str]) -> None:
    wanted = [
        NewTopic(
            name=name,
            num_partitions=PARTITIONS,
            replication_factor=settings.replication,
            # aiokafka takes -1, the broker's own default, only beside (no) assignments.
            replica_assignments={} if settings.replication == -1 else None,
            topic_configs=dict(SETTINGS[name.removeprefix(f"{settings.prefix}.")]),
        )
        for name in names
    ]
    response = await admin.create_topics(wanted)
    for name, code, *message in response.topic_errors:
        # Another node may have made it at this moment.
        if code not in (0, TopicAlreadyExistsError.errno):
            raise HomeError(
                f"topic {name} cannot be made: {(message and message[0]) or for_code(code)}; "
                "make it by hand, or allow this user to"
            )


async def _wait_for(admin: AIOKafkaAdminClient, names: list[str]) -> None:
    """Wait until the brokers know new topics."""
    try:
        async with asyncio.timeout(_MADE_WITHIN_SECONDS):
            while len(await _partitions(admin, names)) < len(names):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise HomeError(
            f"the topics {', '.join(names)} were made, but the brokers do not show them after "
            f"{_MADE_WITHIN_SECONDS:.0f} s; look at the brokers' log"
        ) from None


async def _check_configs(
    admin: AIOKafkaAdminClient, wanted: Mapping[str, Mapping[str, str]]
) -> None:
    """Compare the settings of topics with ours; a user who may not read them is believed."""
    resources = [
        ConfigResource(ConfigResourceType.TOPIC, name, configs=dict(settings))
        for name, settings in wanted.items()
    ]
    for response in await admin.describe_configs(resources):
        for code, message, _, name, entries in response.resources:
            if code:
                raise HomeError(f"the settings of topic {name} cannot be read: {message}")
            there: dict[str, Any] = {entry[0]: entry[1] for entry in entries}
            wrong = [
                f"{key}={there.get(key)}, not {value}"
                for key, value in wanted[name].items()
                if there.get(key) != value
            ]
            if wrong:
                raise HomeError(
                    f"topic {name} is set otherwise than recollect needs: {'; '.join(wrong)}. "
                    "Alter it (kafka-configs --alter), or give RECOLLECT_LEDGER another prefix"
                )
