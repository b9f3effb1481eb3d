"""Consolidation and the daily passes by hand."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone
from recollect.projections.memory import observation_queries
from recollect.schemas.wire import ConsolidationReport


def consolidate(zone: OpenZone) -> ConsolidationReport:
    """Bring all observations up to date, and run the daily passes now.

    Nothing is written unless the agents consolidate.
    """
    # Imported here: they load the agents, which a query does not need.
    from recollect.home.ticks.due_consolidation import consolidates, tick_if_changed
    from recollect.home.ticks.due_passes import pass_if_due

    zone.must_exist()
    if not consolidates(zone.node, zone.name):
        return ConsolidationReport(written=0, ended=0, consolidates=False)
    with zone.files() as files:
        before = files.memory.watermark().number
    if tick_if_changed(zone):
        zone.decide()
    if pass_if_due(zone.node, zone.name, zone.open_home.home.configuration.passes_hour, asked=True):
        zone.decide()
    with zone.files() as files:
        written, ended = observation_queries.versions_since(files.memory.connection, before)
    return ConsolidationReport(written=written, ended=ended, consolidates=True)
