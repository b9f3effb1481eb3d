"""Suggestions for a mistyped name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import apsw

from recollect.home.open_zone import OpenZone
from recollect.projections.events.event_queries import platforms
from recollect.projections.identity.entity_list import names_about_as_long
from recollect.projections.recall.question.entity_names import ids_of
from recollect.schemas.errors import AgentMismatch
from recollect.schemas.names import normalise_name
from recollect.schemas.wire import Query

# The least similarity, from 0 to 1, at which one name may be a typo for another.
_ALIKE = 0.6
_MAX_SUGGESTIONS = 3
# Up to so many names are listed completely.
_FEW = 8


def nearest(given: str, known: Iterable[str]) -> list[str]:
    """Return the names that are most like the one that was given, the nearest first."""
    by_form = {name.casefold(): name for name in known}
    return [
        by_form[form]
        for form in get_close_matches(given.casefold(), by_form, _MAX_SUGGESTIONS, _ALIKE)
    ]


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?", or an empty text."""
    found = nearest(given, known)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def unknown_entity(connection: apsw.Connection, given: str) -> str:
    """Return the message for an unknown entity."""
    names = names_about_as_long(connection, normalise_name(given))
    return f"nobody and nothing is called {given!r}{did_you_mean(given, names)}"


def unknown_platform(given: str, known: Iterable[str]) -> str:
    """Return the message for an unknown platform."""
    known = sorted(known)
    near = did_you_mean(given, known)
    if not near and 0 < len(known) <= _FEW:
        near = f"; events came from {', '.join(known)}"
    return f"no event came from the platform {given!r}{near}"


def unknown_zone(zone: OpenZone) -> str:
    """Return the message for an empty zone."""
    known = sorted(_zones(zone))
    near = did_you_mean(zone.name, known)
    if not near and 0 < len(known) <= _FEW:
        near = f"; the zones here: {', '.join(known)}"
    return f"zone {zone.name} holds nothing yet{near or '; ingest something first'}"


def _zones(zone: OpenZone) -> list[str]:
    """Return the zones of the home; a home that follows a ledger is read without the ledger."""
    if not zone.open_home.followed:
        return zone.node.ledger.zones()
    places = zone.open_home.home.directory / "zones"
    return [place.name for place in places.iterdir()] if places.is_dir() else []


def hints(zone: OpenZone, query: Query | None = None) -> list[str]:
    """Return hints on unknown names: of the zone, or in a question's filters.

    Without a question, also if the zone was decided by other agents than those of the home.
    """
    if not zone.exists():
        return [unknown_zone(zone)]
    found: list[str] = []
    if query is None:
        try:
            zone.node.check_agents(zone.name, zone.node.current(zone.name))
        except AgentMismatch as error:
            found.append(str(error))
        return found
    with zone.files() as files:
        if query.entity is not None and not ids_of(files.identity.connection, query.entity):
            found.append(unknown_entity(files.identity.connection, query.entity))
        if query.platform is not None:
            known = platforms(files.events.connection)
            if query.platform not in known:
                found.append(unknown_platform(query.platform, known))
    return found
