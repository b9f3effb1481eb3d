"""A reader: the process that answers recalls for a service, until the service hangs up.

python -m recollect.service.work.recall_worker_main HOME LEDGER DESCRIPTOR...

LEDGER is empty where the settings name it.
"""

from __future__ import annotations

import gc
import socket
import sys
import threading

import msgspec

from recollect.library.library_home import Recollect
from recollect.operations.answers.recall_counter import targets_of
from recollect.schemas.errors import RecollectError
from recollect.service.work.recall_workers import Answered, Asked, receive, send

# What a start leaves lives as long as the process.
_BEFORE_COLLECTING = 20_000
_WARM_UP = "Where does Ada live?"


def main() -> None:
    """Answer what comes over some sockets, each on a thread, until they are closed."""
    home, ledger, *descriptors = sys.argv[1:]
    connections = [socket.socket(fileno=int(descriptor)) for descriptor in descriptors]
    with Recollect(home, ledger=ledger or None) as opened:
        gateway = opened._open_home.node.gateway
        if gateway.model is not None:
            gateway.encode_query_tokens(_WARM_UP)
        gc.collect()
        gc.freeze()
        gc.set_threshold(_BEFORE_COLLECTING)
        send(connections[0], Answered())
        threads = [
            threading.Thread(target=_answer, args=(opened, connection))
            for connection in connections
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _answer(opened: Recollect, connection: socket.socket) -> None:
    try:
        while (said := receive(connection)) is not None:
            asked = msgspec.msgpack.decode(said, type=Asked)
            send(connection, _answered(opened, asked))
    except OSError:
        # The service was killed.
        return


def _answered(opened: Recollect, asked: Asked) -> Answered:
    try:
        if asked.query is None:
            opened._open_home.recallers.follow(asked.zone)
            return Answered()
        answer = opened.zone(asked.zone).recall(asked.query)
        return Answered(msgspec.json.encode(answer), targets_of(answer.results))
    except (RecollectError, OSError):
        # The service tries it itself, and says what is wrong.
        return Answered()


if __name__ == "__main__":
    main()
