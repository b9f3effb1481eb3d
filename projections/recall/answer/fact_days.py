"""The days that facts speak of, as results show them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from recollect.projections.memory import facts_for_recall as memory
from recollect.schemas.wire import DateRange


def days_of_facts(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, DateRange]:
    """Return fact id -> the days that it speaks of, for facts that name any."""
    return {
        fact_id: DateRange(row.first_day, row.last_day)
        for fact_id, row in memory.days_of_facts(connection, fact_ids).items()
    }
