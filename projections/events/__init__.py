"""events.db: the raw turns, searchable at once."""

from recollect.projections.events.events_file import EventsModel

__all__ = ["EventsModel"]
