"""Several brokers, and the controller that says which of them leads each partition.

The controller is a process of its own, so a broker may lose its disk and take nothing of the
cluster's metadata with it. What the controller decided stands in its log, which `history` reads.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from aiokafka.conn import create_conn
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

from tests.broker.jars import BrokerError
from tests.broker.kafka import (
    COMMON,
    CONTROLLER,
    HOST,
    PLAINTEXT,
    START,
    Server,
    answers,
    copies,
    java,
    new_cluster,
)

_CONTROLLER_ID = 100
# Two cores run four of them.
_MEMORY = "256m"
_PROPERTIES = {
    **COMMON,
    # Nobody leads who does not hold everything.
    "unclean.leader.election.enable": "false",
    # A broker that stands still is out of the in-sync sets soon.
    "replica.lag.time.max.ms": "4000",
    # Who led before it was away leads again soon, so that the next one can be hit.
    "leader.imbalance.check.interval.seconds": "3",
    "leader.imbalance.per.broker.percentage": "0",
    # What retention takes, it takes while a test looks.
    "log.retention.check.interval.ms": "1000",
}
_LOOK_SECONDS = 2.0
_PAUSE_SECONDS = 0.2


class Led(NamedTuple):
    """A partition as a broker knows it: -1 leads what nobody leads."""

    leader: int
    replicas: frozenset[int]
    in_sync: frozenset[int]


class Member(Server):
    """A broker of a cluster, by its number from 1 on."""

    def __init__(
        self, directory: Path, number: int, properties: dict[str, str], cluster: str
    ) -> None:
        own = {"process.roles": "broker", "node.id": str(number)}
        super().__init__(directory, properties | own, (PLAINTEXT,), cluster=cluster, memory=_MEMORY)
        self.number = number
        self.paused = False

    @property
    def address(self) -> str:
        """Where it listens, as host:port."""
        return f"{HOST}:{self.ports[PLAINTEXT]}"

    @property
    def up(self) -> bool:
        """Whether it runs and is not paused."""
        return self._process is not None and not self.paused

    def answers(self) -> bool:
        return answers(self.address)

    def pause(self) -> None:
        self.paused = True
        super().pause()

    def resume(self) -> None:
        super().resume()
        self.paused = False

    def kill(self) -> None:
        super().kill()
        self.paused = False

    def look(self) -> dict[tuple[str, int], Led]:
        """Return all partitions as this broker knows them; none where it does not answer."""
        try:
            return asyncio.run(_look(HOST, self.ports[PLAINTEXT]))
        except (OSError, KafkaError, TimeoutError):
            return {}


async def _look(host: str, port: int) -> dict[tuple[str, int], Led]:
    async with asyncio.timeout(_LOOK_SECONDS):
        connection = await create_conn(host, port)
        try:
            found = await connection.send(MetadataRequest(None))
        finally:
            connection.close()
    return {
        (topic, partition): Led(leader, frozenset(replicas), frozenset(in_sync))
        for _, topic, _, partitions in found.topics
        for _, partition, leader, replicas, in_sync, *_ in partitions
    }


class Cluster:
    """Brokers that hold every record several times; use it as a context manager."""

    def __init__(self, directory: Path, brokers: int = 3) -> None:
        self.directory = directory
        name = new_cluster()
        properties = _PROPERTIES | copies(brokers)
        own = {"process.roles": "controller", "node.id": str(_CONTROLLER_ID)}
        self.controller = Server(
            directory / "controller",
            properties | own,
            (CONTROLLER,),
            cluster=name,
            memory=_MEMORY,
        )
        voters = f"{_CONTROLLER_ID}@{HOST}:{self.controller.ports[CONTROLLER]}"
        properties["controller.quorum.voters"] = voters
        self.controller.properties["controller.quorum.voters"] = voters
        self.brokers = [
            Member(directory / f"broker-{number}", number, properties, name)
            for number in range(1, brokers + 1)
        ]

    @property
    def address(self) -> str:
        """Where all brokers listen, as host:port,host:port."""
        return ",".join(broker.address for broker in self.brokers)

    @property
    def up(self) -> list[Member]:
        """The brokers that run and are not paused."""
        return [broker for broker in self.brokers if broker.up]

    def start(self) -> None:
        """Start all, and return when they answer."""
        try:
            self.controller.start()
            for broker in self.brokers:
                broker.launch()
            for broker in self.brokers:
                broker.wait()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Kill all."""
        for server in (*self.brokers, self.controller):
            server.kill()

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def wait_until(
        self, true: Callable[[dict[tuple[str, int], Led]], bool], what: str, seconds: float = START
    ) -> None:
        """Wait until a condition holds for the partitions, as every running broker knows them.

        Raises BrokerError, with `what` was waited for, where it does not become true in time.
        """
        deadline = time.monotonic() + seconds
        while not all(true(broker.look()) for broker in self.up):
            if time.monotonic() > deadline:
                raise BrokerError(f"{what}: not within {seconds:.0f} s")
            time.sleep(_PAUSE_SECONDS)

    def wait_until_whole(self, seconds: float = START) -> None:
        """Wait until every partition has a leader, and every copy of it all records."""
        self.wait_until(
            lambda known: (
                bool(known)
                and all(led.leader > 0 and led.in_sync == led.replicas for led in known.values())
            ),
            "every broker holds everything",
            seconds,
        )

    def history(self) -> History:
        """Return what the controller decided of the partitions, by its own log."""
        (log,) = (self.controller.data / "__cluster_metadata-0").glob("0*0.log")
        tool = ["kafka.tools.DumpLogSegments", "--cluster-metadata-decoder"]
        done = subprocess.run(
            java(*tool, "--skip-record-metadata", "--files", str(log)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise BrokerError(f"the log of the controller cannot be read: {done.stderr[-3000:]}")
        return History.of(
            msgspec.json.decode(found[1])
            for found in re.finditer(r"payload: (\{.*\})$", done.stdout, re.MULTILINE)
        )


class History(NamedTuple):
    """Counts of what the controller decided about partitions, without Kafka's own topics."""

    #: How often a partition was given another leader.
    leader_changes: int
    #: How often an in-sync set lost members, and how often it had less than two then.
    shrinks: int
    below_two: int
    #: How often one was made leader that may not hold everything.
    unclean: int

    @classmethod
    def of(cls, records: Iterable[Any]) -> History:
        """Return the history that records of the controller's log tell."""
        names: dict[str, str] = {}
        leaders: dict[tuple[str, int], int] = {}
        in_sync: dict[tuple[str, int], int] = {}
        changes = shrinks = below = unclean = 0
        for record in records:
            data = record["data"]
            if record["type"] == "TOPIC_RECORD":
                names[data["topicId"]] = data["name"]
            if record["type"] not in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD"):
                continue
            if names.get(data["topicId"], "__").startswith("__"):
                continue
            place = data["topicId"], data["partitionId"]
            # A change says only what is other than before; -1 leads what nobody leads.
            if (leader := data.get("leader", -1)) >= 0:
                changes += leaders.get(place, leader) != leader
                leaders[place] = leader
            if (members := data.get("isr")) is not None:
                shrunk = len(members) < in_sync.get(place, 0)
                shrinks += shrunk
                below += shrunk and len(members) < 2
                in_sync[place] = len(members)
            unclean += data.get("leaderRecoveryState", 0) == 1
        return cls(changes, shrinks, below, unclean)
