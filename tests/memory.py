"""A zone of a home for tests: the library's methods, and access to the node below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from recollect import Query, Recollect
from recollect.home.consistency_token import LedgerPosition
from recollect.home.home_directory import Home
from recollect.operations.ingestion.ingesting import command, publish
from recollect.operations.upkeep.maintenance import records_to_read
from recollect.projections.recall import DEFAULT_PROFILE, PROFILES, Profile, Recaller
from recollect.schemas.events import AnyPayload, Draft
from recollect.schemas.wire import Explanation, RecallAnswer, Receipt
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.streams.engine.node import Node


class Memory:
    """A library zone of a home opened for it alone, with its node."""

    def __init__(
        self,
        home: Home | Path | str,
        zone: str = DEFAULT_ZONE,
        *,
        profile: Profile = DEFAULT_PROFILE,
    ) -> None:
        self.home = home if isinstance(home, Home) else Home(Path(home))
        self.zone = zone
        self._recollect = Recollect(self.home)
        self._of = self._recollect.zone(zone)
        self._profile = _named(profile)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    @property
    def node(self) -> Node:
        return self._of._zone.node

    def publish(self, drafts: Sequence[Draft]) -> list[Receipt]:
        return publish(self._of._zone, drafts)

    def drive(self, progress: Callable[[int], None] | None = None) -> int:
        return self._of.decide(progress)

    def command(self, payload: AnyPayload, at: int | None = None) -> Receipt:
        return command(self._of._zone, payload, at)

    def recall(
        self, query: Query | str, *, known_at: int | LedgerPosition | None = None
    ) -> RecallAnswer:
        return self._of.recall(self._query(query, known_at))

    def explain(
        self, query: Query | str, id_: str, *, known_at: int | LedgerPosition | None = None
    ) -> Explanation | None:
        return self._of.explain(self._query(query, known_at), id_)

    def records_to_read(self) -> int:
        return records_to_read(self._of._zone)

    def recaller(self) -> Recaller:
        """Return the recaller that answers the zone's queries."""
        recallers = self._of._zone.open_home.recallers
        return recallers.in_current_state(self.zone, self._profile, lambda recaller: recaller)

    def close_recallers(self) -> None:
        """Close the recallers, which drops their caches of the files."""
        self._of._zone.open_home.recallers.close()

    def close(self) -> None:
        self._recollect.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _query(self, query: Query | str, known_at: int | LedgerPosition | None) -> Query:
        if isinstance(query, str):
            query = Query(query)
        at = str(known_at) if isinstance(known_at, LedgerPosition) else known_at
        return msgspec.structs.replace(query, known_at=at, profile=self._profile)


def _named(profile: Profile) -> str:
    """Return the name of a ranking profile; register one of a test's own."""
    for name, known in PROFILES.items():
        if known == profile:
            return name
    PROFILES[f"of a test: {profile}"] = profile
    return f"of a test: {profile}"
