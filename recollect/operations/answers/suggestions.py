"""Hints on unknown names in a query, and on a zone that was decided by other agents."""

from __future__ import annotations

import apsw

from recollect.home.name_suggestions import (
    MAX_SUGGESTIONS,
    did_you_mean,
    unknown_platform,
    unknown_zone,
)
from recollect.home.open_zone import OpenZone
from recollect.projections.events.event_queries import platforms
from recollect.projections.identity.entity_list import names_with_words, typo_candidates
from recollect.projections.recall.question.entity_names import ids_of_name
from recollect.schemas.errors import AgentMismatch
from recollect.schemas.names import normalise_name
from recollect.schemas.wire import Query


def unknown_entity(connection: apsw.Connection, given: str) -> str:
    """Return the message for an unknown entity."""
    normalized = normalise_name(given)
    # A first or last name that several entities have is the name of none.
    if longer := names_with_words(connection, normalized, MAX_SUGGESTIONS):
        return f"no entity is called {given!r}; did you mean {' or '.join(longer)}?"
    names = typo_candidates(connection, normalized)
    return f"no entity is called {given!r}{did_you_mean(given, names)}"


def hints(zone: OpenZone, query: Query | None = None) -> list[str]:
    """Return hints on an unknown zone, and on unknown names in a query's filters.

    Without a query, also return a hint if the zone was decided by other agents than the home's.
    """
    if not zone.exists():
        return [unknown_zone(zone.name, zone.open_home.zone_names())]
    suggestions: list[str] = []
    if query is None:
        try:
            zone.node.check_agents(zone.name, zone.node.current(zone.name))
        except AgentMismatch as error:
            suggestions.append(str(error))
        return suggestions
    with zone.files() as files:
        if query.entity is not None and not ids_of_name(files.identity.connection, query.entity):
            suggestions.append(unknown_entity(files.identity.connection, query.entity))
        if query.platform is not None:
            known_platforms = platforms(files.events.connection)
            if query.platform not in known_platforms:
                suggestions.append(unknown_platform(query.platform, known_platforms))
    return suggestions
