"""One broker for all processes of a test run, whoever of them comes first or ends last.

A process holds a shared lock on the file `users` while it needs the broker. A keeper process
starts the broker, then asks for that lock alone. It gets it as soon as the last user is gone,
killed ones included, and ends the broker.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.broker.container import Container, NoImage, docker_answers
from tests.broker.jars import BrokerError, locked
from tests.broker.kafka import Broker

ROOT = Path(__file__).resolve().parents[2]
# Kept, because a process that is forgotten while it runs is warned of.
_keepers: list[subprocess.Popen[bytes]] = []


@contextmanager
def lease(directory: Path) -> Iterator[str]:
    """Give the address of the broker of `directory`, which runs for as long as this is held."""
    directory.mkdir(parents=True, exist_ok=True)
    address = directory / "address"
    with (directory / "users").open("a+") as users:
        with locked(directory / "starting"):
            # Waits here while a keeper, left alone, ends its broker.
            fcntl.lockf(users, fcntl.LOCK_SH)
            if not address.exists():
                _start_keeper(directory)
        yield address.read_text()


def _start_keeper(directory: Path) -> None:
    log = directory / "keeper.log"
    with log.open("wb") as output:
        keeper = subprocess.Popen(
            [sys.executable, "-m", __name__, str(directory)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    _keepers.append(keeper)
    while not (directory / "address").exists():
        if keeper.poll() is not None:
            raise BrokerError(log.read_text(errors="replace"))
        time.sleep(0.05)
    note = directory / "note"
    if note.exists():
        warnings.warn(note.read_text(), stacklevel=2)


def _broker(directory: Path) -> Broker | Container:
    """Start a container where Docker answers and has the image, else Kafka from its jars."""
    if os.environ.get("RECOLLECT_TEST_BROKER") != "jars" and docker_answers():
        container = Container()
        try:
            container.start()
        except NoImage as error:
            (directory / "note").write_text(f"Kafka runs from its jars, not in Docker: {error}")
        else:
            return container
    broker = Broker(directory / "broker")
    broker.start()
    return broker


def keep(directory: Path) -> None:
    """Run a broker until nobody uses it."""
    broker = _broker(directory)
    address = directory / "address"
    part = directory / "address.part"
    part.write_text(broker.address)
    part.rename(address)
    with (directory / "users").open("a+") as users:
        fcntl.lockf(users, fcntl.LOCK_EX)
        address.unlink()
        broker.kill()
        shutil.rmtree(directory / "broker" / "data", ignore_errors=True)


if __name__ == "__main__":
    try:
        keep(Path(sys.argv[1]))
    except BrokerError as error:
        sys.exit(str(error))
