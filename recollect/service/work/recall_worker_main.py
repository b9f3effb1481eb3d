"""A recall worker: a process that answers a service's recalls until the service disconnects.

python -m recollect.service.work.recall_worker_main HOME LEDGER DESCRIPTOR...

LEDGER is empty for the configured ledger. Each DESCRIPTOR is the number of a connected socket.
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
from recollect.service.work.recall_workers import RecallRequest, RecallResponse, receive, send

# The garbage collector runs less often, and objects made during startup are frozen, since they live
# as long as the process.
_GC_THRESHOLD = 20_000
_WARM_UP = "Where does Ada live?"


def main() -> None:
    """Answer requests on the given sockets, one thread for each, until they are closed."""
    home, ledger, *descriptors = sys.argv[1:]
    connections = [socket.socket(fileno=int(descriptor)) for descriptor in descriptors]
    with Recollect(home, ledger=ledger or None) as opened:
        gateway = opened._open_home.node.gateway
        if gateway.model is not None:
            gateway.encode_query_tokens(_WARM_UP)
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GC_THRESHOLD)
        send(connections[0], RecallResponse())
        threads = [
            threading.Thread(target=_serve, args=(opened, connection)) for connection in connections
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _serve(opened: Recollect, connection: socket.socket) -> None:
    try:
        while (message := receive(connection)) is not None:
            request = msgspec.msgpack.decode(message, type=RecallRequest)
            send(connection, _response_to(opened, request))
    except OSError:
        # The service was killed.
        return


def _response_to(opened: Recollect, request: RecallRequest) -> RecallResponse:
    try:
        if request.query is None:
            opened._open_home.recallers.follow(request.zone)
            return RecallResponse()
        answer = opened.zone(request.zone).recall(request.query)
        return RecallResponse(msgspec.json.encode(answer), targets_of(answer.results))
    except (RecollectError, OSError):
        # Without an answer, the service runs the query itself and reports the error.
        return RecallResponse()


if __name__ == "__main__":
    main()
