"""Kafka from its own jars, on 127.0.0.1 only: its processes, and a broker that stands alone.

Each can be ended, killed, stopped for a while and started again on the same directory and port,
and dies with the process that started it, however that one ends.
"""

from __future__ import annotations

import asyncio
import base64
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from tests.broker import jars, security
from tests.broker.jars import BrokerError

HOST = "127.0.0.1"
PLAINTEXT, CONTROLLER = "PLAINTEXT", "CONTROLLER"
# Seconds until a started broker must answer, on a machine that may be busy with much else.
START = 90.0
STOP = 30.0

# What fits a broker that lives for one test run, on one machine, with little memory.
COMMON = {
    "controller.listener.names": CONTROLLER,
    "inter.broker.listener.name": PLAINTEXT,
    "auto.create.topics.enable": "false",
    "delete.topic.enable": "true",
    "num.partitions": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "1",
    # Tests wait for nothing that production waits for.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    # A killed broker is let in again only when its former session has ended.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    # Whatever is compacted or deleted is gone from the disk at once.
    "log.initial.task.delay.ms": "100",
    "log.cleaner.backoff.ms": "200",
    "log.cleaner.dedupe.buffer.size": "8388608",
    "log.segment.delete.delay.ms": "100",
}


def copies(count: int) -> dict[str, str]:
    """Return the properties by which each record has so many copies, and needs all but one."""
    least = str(max(1, count - 1))
    return {
        "default.replication.factor": str(count),
        "min.insync.replicas": least,
        "offsets.topic.replication.factor": str(count),
        "transaction.state.log.replication.factor": str(count),
        "transaction.state.log.min.isr": least,
        "share.coordinator.state.topic.replication.factor": str(count),
        "share.coordinator.state.topic.min.isr": least,
    }


#: Those of a broker that stands alone.
PROPERTIES = {**COMMON, **copies(1), "process.roles": "broker,controller", "node.id": "1"}


def free_ports(count: int) -> list[int]:
    """Return ports on which nothing listens.

    They lie below those that systems give to clients: a client that seeks a broker which is
    down must not be given the broker's own port, and then find itself there.
    """
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


async def _answers(address: str) -> bool:
    client = AIOKafkaAdminClient(bootstrap_servers=address, request_timeout_ms=5_000)
    try:
        await client.start()
        return bool((await client.describe_cluster())["brokers"])
    finally:
        await client.close()


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def answers(address: str) -> bool:
    """Whether a broker accepts connections at `address` and answers what its cluster is."""
    host, _, port = address.rpartition(":")
    # Asked first, since the client logs an error where nothing listens.
    if not _accepts(host, int(port)):
        return False
    try:
        return asyncio.run(_answers(address))
    except (OSError, KafkaError):
        return False


class Server:
    """A process of Kafka with its data, its log and its ports in one directory.

    `protocols` are those of its listeners, one port each. Where `cluster` is not given, its
    storage is formatted as that of a cluster of its own.
    """

    def __init__(
        self,
        directory: Path,
        properties: Mapping[str, str],
        protocols: Sequence[str],
        *,
        cluster: str = "",
        memory: str = "512m",
    ) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "broker.log"
        self.properties = dict(properties)
        self._file = directory / "server.properties"
        self._protocols = tuple(protocols)
        self._cluster = cluster or new_cluster()
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True, exist_ok=True)
        ports = self._former_ports()
        if len(ports) != len(self._protocols):
            ports = free_ports(len(self._protocols))
        self.ports = dict(zip(self._protocols, ports, strict=True))

    @property
    def pid(self) -> int:
        """Its process, for the signals of a test."""
        if self._process is None:
            raise BrokerError("this broker is not running; start it first")
        return self._process.pid

    def answers(self) -> bool:
        """Whether it accepts connections, and is ready for them."""
        return _accepts(HOST, next(iter(self.ports.values())))

    def start(self, *, detached: bool = False) -> None:
        """Start it, and return when it answers; a `detached` one outlives this process.

        Raises BrokerError, with the end of its log, where it does not come up.
        """
        self.launch(detached=detached)
        self.wait()

    def launch(self, *, detached: bool = False) -> None:
        """Start it, and return before it answers."""
        if self._process is not None:
            raise BrokerError("this broker is running already; stop or kill it first")
        self._write_properties()
        self._format()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                java(f"-Xmx{self._memory}", "kafka.Kafka", str(self._file)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if not detached:
            self._watch()
        (self.directory / "pid").write_text(str(self._process.pid))

    def wait(self) -> None:
        """Return when it answers.

        Raises BrokerError, with the end of its log, where it does not come up.
        """
        assert self._process is not None
        deadline = time.monotonic() + START
        try:
            while not self.answers():
                if self._process.poll() is not None:
                    raise self._failed(f"it ended with exit code {self._process.returncode}")
                if time.monotonic() > deadline:
                    raise self._failed(f"it did not answer at {self.ports} within {START:.0f} s")
                time.sleep(0.1)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """End it in order; one that is not running is left as it is."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it with SIGKILL, even where it stands still."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Let it stand still (SIGSTOP), as one whose machine sleeps."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on (SIGCONT)."""
        os.kill(self.pid, signal.SIGCONT)

    def lose_disk(self) -> None:
        """Remove all that it has stored, while it does not run: it starts with an empty disk."""
        if self._process is not None:
            raise BrokerError("this broker is running; stop or kill it first")
        shutil.rmtree(self.data)

    def _former_ports(self) -> list[int]:
        """Return the ports of the former start, in the order of its listeners."""
        if not self._file.exists():
            return []
        lines = self._file.read_text("utf-8").splitlines()
        listeners = next(line for line in lines if line.startswith("listeners="))
        return [int(listener.rpartition(":")[2]) for listener in listeners.split(",")]

    def _write_properties(self) -> None:
        listeners = {name: f"{name}://{HOST}:{port}" for name, port in self.ports.items()}
        advertised = [each for name, each in listeners.items() if name != CONTROLLER]
        protocols = {name: name for name in (PLAINTEXT, *self._protocols)}
        protocols[CONTROLLER] = PLAINTEXT
        properties = {
            "log.dirs": str(self.data),
            "listeners": ",".join(listeners.values()),
            "listener.security.protocol.map": ",".join(f"{a}:{b}" for a, b in protocols.items()),
            **({"advertised.listeners": ",".join(advertised)} if advertised else {}),
            **self.properties,
        }
        text = "".join(f"{name}={value}\n" for name, value in properties.items())
        self._file.write_text(text, "utf-8")

    def _format(self) -> None:
        if (self.data / "meta.properties").exists():
            return
        tool = ["kafka.tools.StorageTool", "format", "-t", self._cluster, "-c", str(self._file)]
        with self.log.open("ab") as log:
            done = subprocess.run(java(*tool), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if done.returncode != 0:
            raise self._failed("its storage could not be formatted")

    def _watch(self) -> None:
        """Have it killed as soon as this process is gone.

        The watcher waits for the end of a pipe whose other end only this process holds.
        """
        self._watcher = subprocess.Popen(
            ["sh", "-c", 'read -r _; kill -9 "$0"', str(self.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _end(self, number: int) -> None:
        if self._watcher is not None:
            # First, so that it never kills a process that was given the same number.
            self._watcher.kill()
            self._watcher.wait()
            assert self._watcher.stdin is not None
            self._watcher.stdin.close()
            self._watcher = None
        if self._process is not None:
            self._process.send_signal(number)
            try:
                self._process.wait(STOP)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _failed(self, what: str) -> BrokerError:
        return BrokerError(f"Kafka did not come up: {what} (it needs Java 17). {tail(self.log)}")


class Broker(Server):
    """A broker that stands alone: it is its own controller (KRaft)."""

    def __init__(
        self,
        directory: Path,
        port: int | None = None,
        *,
        extra: Mapping[str, str] | None = None,
        secure: bool = False,
    ) -> None:
        more = security.PROTOCOLS if secure else ()
        super().__init__(directory, PROPERTIES, (PLAINTEXT, CONTROLLER, *more))
        self.certificate = directory / "certificate.pem"
        if port is not None:
            self.ports[PLAINTEXT] = port
        self.properties["controller.quorum.voters"] = f"1@{HOST}:{self.ports[CONTROLLER]}"
        if secure:
            self.properties |= security.properties(self.certificate)
        self.properties |= extra or {}

    @property
    def address(self) -> str:
        """Where it listens, as host:port."""
        return self.addresses[PLAINTEXT]

    @property
    def addresses(self) -> dict[str, str]:
        """Where it listens, by security protocol."""
        return {name: f"{HOST}:{port}" for name, port in self.ports.items() if name != CONTROLLER}

    def answers(self) -> bool:
        return answers(self.address)

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def java(*arguments: str) -> list[str]:
    """Return the command that runs a class of Kafka's."""
    return [
        jars.java(),
        # It never runs long enough to win back what an optimising compiler takes.
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        f"{jars.bring()}/*",
        *arguments,
    ]


def new_cluster() -> str:
    """Return the id of a new cluster."""
    # A leading hyphen would be read as an option.
    return "A" + base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")[1:]


def tail(log: Path) -> str:
    """Return the end of a log, for an error message."""
    text = log.read_text("utf-8", errors="replace")[-3000:] if log.exists() else ""
    return f"The end of {log}:\n{text}" if text else f"{log} says nothing."
