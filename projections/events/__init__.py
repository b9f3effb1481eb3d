"""events.db: the raw turns, searchable at once."""

from projections.events.model import EventsModel

__all__ = ["EventsModel"]
