"""A broker in the background: `python -m tests.broker start`, and `stop`.

Its data, log, port and process number stay in one directory outside the checkout, so a broker
that is started again has the same address and the same topics.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import sys
import time
from pathlib import Path

from tests.broker.jars import BrokerError, cache, locked
from tests.broker.kafka import STOP, Broker


def runs(broker: Broker) -> bool:
    """Whether a broker, of whatever process, holds the data: Kafka locks a file there."""
    lock = broker.data / ".lock"
    if not lock.exists():
        return False
    with lock.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def start(broker: Broker) -> None:
    """Start the broker where it does not run, and say its address."""
    if not runs(broker):
        broker.start(detached=True)
        print(f"A broker runs in the background; its data and log are in {broker.directory}")
    print(f"kafka://{broker.address}")


def stop(broker: Broker) -> None:
    """End the broker where it runs."""
    if not runs(broker):
        print("No broker runs.")
        return
    os.kill(int((broker.directory / "pid").read_text()), signal.SIGTERM)
    deadline = time.monotonic() + STOP
    while runs(broker):
        if time.monotonic() > deadline:
            raise BrokerError(f"the broker has not ended in {STOP:.0f} s; see {broker.log}")
        time.sleep(0.1)
    print("The broker has ended.")


def main() -> None:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m tests.broker", description=__doc__)
    parser.add_argument("command", choices=["start", "stop"])
    parser.add_argument("--directory", type=Path, default=cache() / "broker")
    arguments = parser.parse_args()
    with locked(arguments.directory / "command.lock"):
        broker = Broker(arguments.directory)
        try:
            {"start": start, "stop": stop}[arguments.command](broker)
        except BrokerError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
