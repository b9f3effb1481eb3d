"""The broker as a container, where a Docker daemon answers."""

from __future__ import annotations

import os
import time

from docker.client import DockerClient
from docker.errors import DockerException
from testcontainers.core.container import DockerContainer

from tests.broker.jars import BrokerError, version
from tests.broker.kafka import HOST, PROPERTIES, START, answers, free_ports


class NoImage(Exception):
    """The daemon cannot get or run the image."""


def docker_answers() -> bool:
    """Whether a Docker daemon can be used."""
    try:
        client = DockerClient.from_env(timeout=5)
    except DockerException:
        return False
    try:
        return bool(client.ping())
    except DockerException:
        return False
    finally:
        client.close()


class Container:
    """A broker in a container of RECOLLECT_KAFKA_IMAGE, else of apache/kafka."""

    def __init__(self) -> None:
        self.image = os.environ.get("RECOLLECT_KAFKA_IMAGE") or f"apache/kafka:{version()}"
        (port,) = free_ports(1)
        self.address = f"{HOST}:{port}"
        properties = {
            **PROPERTIES,
            "listeners": f"PLAINTEXT://0.0.0.0:9092,CONTROLLER://{HOST}:9093",
            "advertised.listeners": f"PLAINTEXT://{self.address}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.quorum.voters": f"1@{HOST}:9093",
        }
        self._container = DockerContainer(self.image)
        # Docker's own form for loopback only, which the annotation there leaves out.
        self._container.ports["9092/tcp"] = (HOST, port)  # type: ignore[assignment]
        self._container.with_env("KAFKA_HEAP_OPTS", "-Xmx512m")
        for name, value in properties.items():
            self._container.with_env(f"KAFKA_{name.upper().replace('.', '_')}", value)

    def start(self) -> None:
        """Start it, and return when it answers.

        Raises NoImage where the container cannot be made, BrokerError where it does not come up.
        """
        try:
            self._container.start()
        except DockerException as error:
            self.kill()
            raise NoImage(f"{self.image}: {error}") from error
        deadline = time.monotonic() + START
        while not answers(self.address):
            if time.monotonic() > deadline:
                out, err = self._container.get_logs()
                self.kill()
                raise BrokerError(
                    f"Kafka did not come up in a container of {self.image} within {START:.0f} s. "
                    f"The end of its log:\n{(out + err).decode(errors='replace')[-3000:]}"
                )
            time.sleep(0.1)

    def kill(self) -> None:
        """End it, and remove the container with its data."""
        self._container.stop(force=True, delete_volume=True)
