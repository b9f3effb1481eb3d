"""What a language model has not read of a zone, and what is known of it from turn to turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Set

from recollect.projections.events import event_queries as events
from recollect.projections.files import ZoneFiles
from recollect.schemas.changes import ProcessedEvent
from recollect.streams.deciding.decider import LedgerConversation
from recollect.streams.ledger import Ledger
from recollect.streams.writing.model_loop import WriteTask, has_text, write_task_for
from recollect.streams.writing.recorder import Recordings

#: Beyond all numbers of a ledger.
_AFTER_ALL = 2**62


class Unread:
    """The events of a zone that a model has not read, in the ledger's order.

    What was said is looked through once, and again only when all that was found is taken: so a
    backlog that is read in many turns takes time in proportion to its length.
    """

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self.recordings = Recordings(ledger, zone)
        self._found: deque[tuple[int, str]] = deque()
        # Those that an assistant said, or that are empty: there is nothing to read in them.
        self._wordless: set[int] = set()

    def __len__(self) -> int:
        """Return how many were found and are not taken."""
        return len(self._found)

    def look(self, files: ZoneFiles, read: Set[int]) -> None:
        """Look through what was said for what is not among the numbers that were `read`."""
        self._found.extend(
            each
            for each in events.message_ids(files.events.connection)
            if each[0] not in read and each[0] not in self._wordless
        )

    def take(self, files: ZoneFiles, most: int, context: int) -> list[WriteTask]:
        """Return the next events, `most` of them at most, each with up to `context` before it."""
        taken: list[WriteTask] = []
        thread = LedgerConversation(files.events.connection)
        while self._found and len(taken) < most:
            number, id_ = self._found.popleft()
            event = events.event_by_number(files.events.connection, number)
            if event is None or files.memory.row(ProcessedEvent, (id_,)) is None:
                continue
            if not has_text(event):
                self._wordless.add(number)
                continue
            ready = write_task_for(event, thread, _AFTER_ALL, context)
            if ready is not None:
                taken.append(ready)
        return taken

    def give_back(self, untried: Iterable[WriteTask]) -> None:
        """Put events, in their order, before all others that are not taken."""
        self._found.extendleft(
            (each.event.number, each.event.id) for each in reversed(list(untried))
        )
