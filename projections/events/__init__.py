"""events.db: raw turns, searchable as soon as they are ingested."""

from recollect.projections.events.events_file import EventsModel

__all__ = ["EventsModel"]
