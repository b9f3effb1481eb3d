"""Kafka's own jars: named by pom.xml, brought once by Maven into a cache outside the checkout."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

POM = Path(__file__).with_name("pom.xml")
INSTALL = "apt-get install openjdk-17-jre-headless maven"


class BrokerError(Exception):
    """The broker cannot be had, or does not come up."""


def cache() -> Path:
    """Return where everything of ours is kept outside the checkout."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recollect"


def version() -> str:
    """Return the version of Kafka that the pom names."""
    found = ElementTree.parse(POM).findtext(".//{*}kafka.version")
    assert found is not None
    return found


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold `path` alone among processes; a killed process lets go of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        yield


def java() -> str:
    """Return the Java to run Kafka with."""
    found = shutil.which("java")
    if found is None:
        raise BrokerError(f"Kafka runs on Java 17 or later, and no java is in PATH: {INSTALL}")
    return found


def bring() -> Path:
    """Return the directory of Kafka's jars, brought by Maven if this is the first time."""
    jars = cache() / f"kafka-{version()}"
    if jars.is_dir():
        return jars
    with locked(cache() / f"{jars.name}.lock"):
        if not jars.is_dir():
            _copy(jars)
    return jars


def _copy(jars: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise BrokerError(f"Kafka's jars come by Maven, and no mvn is in PATH: {INSTALL}")
    # Complete or not there at all: Maven fills another directory, which then takes the name.
    with tempfile.TemporaryDirectory(dir=jars.parent, prefix="kafka-") as part:
        copied = Path(part, "jars")
        command = [maven, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
        done = subprocess.run(
            [*command, f"-DoutputDirectory={copied}"],
            cwd=part,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode != 0:
            raise BrokerError(
                f"Maven did not bring Kafka's jars (exit {done.returncode}); "
                f"can it reach its registry?\n{done.stdout[-3000:]}"
            )
        copied.rename(jars)
