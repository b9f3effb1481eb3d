"""events.db: the raw turns, searchable at once."""

from projections.events.events_file import EventsModel

__all__ = ["EventsModel"]
