"""The end of an import: what is due then is appended and decided, in a home without a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.home.ticks.abandoned_turns import tick_if_abandoned
from recollect.home.ticks.due_analyses import automatic_analyses, publish_due
from recollect.home.ticks.due_archival import archive_if_due
from recollect.home.ticks.due_consolidation import tick_if_changed
from recollect.home.ticks.due_passes import pass_if_due
from recollect.home.ticks.due_refreshes import refresh_due_models
from recollect.projections.memory.listing.tier_list import ARCHIVE_CHECK_INTERVAL


def conclude_import(zone: OpenZone, *, of_files: bool) -> None:
    """Append the commands that are due, one kind after the other, and decide each.

    `of_files`: the import was of files, so conversations are complete: abandoned turns are
    closed, and ended episodes analysed.
    """
    if _is_concluded_here(zone):
        append_due_commands(zone, of_files=of_files)


def append_due_commands(zone: OpenZone, *, of_files: bool) -> None:
    """Append the commands that are due, also if a worker would append them later."""
    for append_if_due in _steps(zone, of_files=of_files):
        if append_if_due():
            zone.decide()


def archive_after_storing(zone: OpenZone, stored: int) -> None:
    """Archive the memories that are due, once for every `ARCHIVE_CHECK_INTERVAL` stored ones."""
    if not zone.note_stored(stored, ARCHIVE_CHECK_INTERVAL):
        return
    configuration = zone.open_home.home.configuration
    is_asked = configuration.ticks and _is_concluded_here(zone)
    if is_asked and archive_if_due(zone.node, zone.name, configuration.tier_limits):
        zone.decide()


def _is_concluded_here(zone: OpenZone) -> bool:
    """Return whether this process must append due commands, since no worker does."""
    has_worker = zone.open_home.has_follower or zone.node.ledger.workers()
    return not has_worker and zone.exists()


def _steps(zone: OpenZone, *, of_files: bool) -> Iterator[Callable[[], bool | int]]:
    """Yield functions that append due commands; each returns whether it appended any."""
    home, node = zone.open_home.home, zone.node
    configuration, own_types = home.configuration, automatic_analyses(home)
    if configuration.ticks and of_files:
        yield lambda: tick_if_abandoned(zone)
    if configuration.ticks:
        yield lambda: tick_if_changed(zone)
        yield lambda: pass_if_due(node, zone.name, configuration.passes_hour)
        # The passes merge facts of observations; importing the same again must add nothing.
        yield lambda: tick_if_changed(zone)
        yield lambda: archive_if_due(node, zone.name, configuration.tier_limits)
    if own_types is not None and of_files:
        yield lambda: publish_due(node, zone.name, own_types, unix_ms())
    if configuration.ticks:
        yield lambda: refresh_due_models(node, zone.name, configuration.profile_facts)
