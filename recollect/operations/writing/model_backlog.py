"""The events of a zone that a language model has not processed yet, kept between runs."""

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

#: Larger than every event number.
_AFTER_ALL = 2**62


class ModelBacklog:
    """The events of a zone that a model has not processed, in the ledger's order.

    The zone is scanned again only when everything found before has been taken, so that processing
    a backlog in many runs takes time linear in its length.
    """

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self.recordings = Recordings(ledger, zone)
        self._found: deque[tuple[int, str]] = deque()
        # Empty messages and those of assistants, which the model does not process.
        self._without_text: set[int] = set()

    def __len__(self) -> int:
        """Return the number of events that were found and not yet taken."""
        return len(self._found)

    def scan(self, files: ZoneFiles, processed: Set[int]) -> None:
        """Add all messages of the zone except those whose numbers are in `processed`."""
        self._found.extend(
            each
            for each in events.message_ids(files.events.connection)
            if each[0] not in processed and each[0] not in self._without_text
        )

    def take(self, files: ZoneFiles, limit: int, context: int) -> list[WriteTask]:
        """Return the next events, at most `limit`, each with up to `context` earlier ones."""
        taken: list[WriteTask] = []
        thread = LedgerConversation(files.events.connection)
        while self._found and len(taken) < limit:
            number, id_ = self._found.popleft()
            event = events.event_by_number(files.events.connection, number)
            if event is None or files.memory.row(ProcessedEvent, (id_,)) is None:
                continue
            if not has_text(event):
                self._without_text.add(number)
                continue
            task = write_task_for(event, thread, _AFTER_ALL, context)
            if task is not None:
                taken.append(task)
        return taken

    def give_back(self, untried: Iterable[WriteTask]) -> None:
        """Put events back at the front, in their order."""
        self._found.extendleft(
            (each.event.number, each.event.id) for each in reversed(list(untried))
        )
