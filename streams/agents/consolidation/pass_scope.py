"""What a daily merge compares: what is new since its last tick, or everything after an erasure."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from recollect.projections.events.event_queries import last_erasure
from recollect.projections.memory.pass_queries import last_tick


class PassScope(NamedTuple):
    """What a tick compares: rows with a greater number than `since`.

    An erasure brings rows back with their old numbers, or writes them anew under these. So the
    first tick after one compares all rows: `since` is 0, and `erasure` the number of the erasure;
    else that is 0.
    """

    since: int
    erasure: int

    def last_change(self, *numbers: int) -> int:
        """Return the last record that changed what a command is about, for the command's id.

        That may be the erasure: it makes the command differ from the command of an earlier tick,
        which a rebuild without the erased events may request too.
        """
        return max(*numbers, self.erasure)


def scope_of(name: str, events: apsw.Connection, memory: apsw.Connection, before: int) -> PassScope:
    """Return the scope of the tick of a merge, by the pass's name. `before`: the tick's number."""
    last, erasure = last_tick(memory, name, before), last_erasure(events, before)
    return PassScope(0, erasure) if erasure > last else PassScope(last, 0)
