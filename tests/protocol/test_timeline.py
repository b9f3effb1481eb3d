"""When a record could be known, whatever it says of itself."""

from __future__ import annotations

import time

from recollect.streams.ledger import EVENTS
from recollect.streams.ledger.sequencer import sequence
from recollect.streams.records.timeline import Timeline
from tests.protocol.kit import DAY, START, ZONE, Home, say

#: 2199-01-01T00:00:00Z
FAR = 7_226_582_400_000


def test_one_record_with_ingested_at_in_2199(home: Home) -> None:
    """An older build took it so; what came after it can be known before that year."""
    home.publish(say("Ada moved to Berlin.", "1"), say("I like green tea.", "2"))
    began = time.time_ns() // 1_000_000
    _, (far,), _ = sequence(
        ZONE,
        [say("We painted the kitchen red.", "3", ingested_at=FAR)],
        home.ledger.head(ZONE),
        secret=home.ledger.keys.secret,
        now=FAR,
        find_known=lambda source: None,
    )
    home.ledger.keys.add({far.key_id: far.key})
    home.ledger.append(EVENTS, ZONE, [far.value])
    home.publish(say("My bicycle is blue.", "4"), say("It has no bell.", "5", ingested_at=START))
    home.drive()
    ended = time.time_ns() // 1_000_000
    timeline = Timeline(home.ledger, ZONE)
    timeline.refresh()
    assert timeline.last_known(ended) == 5
    assert timeline.last_known(began - DAY) == 2
    assert began <= timeline.known_since(3) <= timeline.known_since(5) <= ended
