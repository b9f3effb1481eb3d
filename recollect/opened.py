"""An open zone of a home, and the node that works for it: what every side of a memory shares."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Self

from projections.files import ZoneFiles
from projections.identity.entity_queries import entity_count
from projections.sqlite import value
from recollect.following import followed
from recollect.home import Home
from recollect.ledgers import open_node
from schemas.errors import InvalidInput
from schemas.zones import DEFAULT_ZONE, check_zone
from streams.engine.node import Node
from streams.ledger import CHANGES, EVENTS, partition_of
from streams.projecting.projector import Progress
from streams.reading.heads import head_text


class Opened:
    """One zone of a home, open until it is closed, or as a context manager."""

    def __init__(self, home: Home | Path | str, zone: str = DEFAULT_ZONE) -> None:
        self.home = home if isinstance(home, Home) else Home(Path(home))
        self.zone = check_zone(zone)
        self._node = open_node(self.home)
        self._gateway = self._node.gateway
        # A worker or replica in this home brings the files up by itself; asking needs no ledger.
        self._followed = followed(self.home)

    def exists(self) -> bool:
        """Return whether the zone has come into being: with its first event."""
        if self._followed:
            return self._node.zone(self.zone).exists()
        return self._node.ledger.head(self.zone).number > 0

    def _must_exist(self) -> None:
        if not self.exists():
            raise InvalidInput(f"zone {self.zone} holds nothing; ingest something first")

    def drive(self, progress: Progress | None = None) -> int:
        """Conclude everything that is in the ledger; return how many records that were."""
        if not self.exists():
            return 0
        return self._node.decide(self.zone, progress)

    def wait(self, timeout: float) -> bool:
        """Return True as soon as the zone's ledger has something new, False after `timeout` s."""
        partition = partition_of(self.zone)
        ledger = self._node.ledger
        ends = {(topic, partition): ledger.end(topic, partition) for topic in (EVENTS, CHANGES)}
        return ledger.wait(ends, timeout)

    def head(self) -> str:
        """Return the text that names the end of the zone's ledger, for `verify` to expect."""
        return head_text(self._node.ledger.head(self.zone))

    @property
    def node(self) -> Node:
        """The node that does the work, for commands that look inside."""
        return self._node

    def close(self) -> None:
        """Close every file."""
        self._node.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def counted(files: ZoneFiles) -> dict[str, int]:
    """Return how many facts, entities, vectors and observations a zone holds."""
    return {
        "facts": value(files.memory.connection, "SELECT count(*) FROM facts"),
        "entities": entity_count(files.identity.connection),
        "vectors": value(files.embeddings.connection, "SELECT count(*) FROM embeddings"),
        "observations": value(
            files.memory.connection,
            "SELECT count(*) FROM analysis_runs WHERE analysis_type_id LIKE 'observation%'",
        ),
    }


def unix_ms() -> int:
    """Return the time, in unix ms."""
    return time.time_ns() // 1_000_000
