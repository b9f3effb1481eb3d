"""What arrives late costs about as much as what arrives in order (G8)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, START, Zone, says
from tests.agents.told_histories import annotate

SLOTS = {
    "ended by sentences": ["I have a kayak.", "I sold it.", "I have a scooter.", "I sold it."],
    "ended by either": ["I live in Turin.", "I moved out.", "I live in Oslo.", "I moved out."],
    "ended by values": ["I work at Siemens.", "I work at Philips."],
}


def statements_run(told: Sequence[tuple[int, str]]) -> int:
    """Return how many SQL statements are run on memory.db while messages are decided."""
    zone = Zone(RuleWriter(), annotate=annotate)
    count = 0

    def counted(*_: object) -> bool:
        nonlocal count
        count += 1
        return True

    zone.state().memory.exec_trace = counted
    for day, text in told:
        zone.read(says("Ada", text, at=START + day * DAY, id=f"d{day}", thread_id=f"t{day}"))
    return count


@pytest.mark.parametrize("texts", SLOTS.values(), ids=SLOTS)
def test_a_slot_in_newest_first_order_costs_little_more_than_in_order(texts: list[str]) -> None:
    told = [(day, texts[day % len(texts)]) for day in range(80)]
    assert statements_run(told[::-1]) < 1.3 * statements_run(told)
