"""A third-party agent in a package of its own, for tests to register."""

from __future__ import annotations

from pathlib import Path

RATINGS = '''
"""A third-party agent that extracts ratings: who gives what how many stars."""

import re

from recollect.schemas.changes import DecidedPart, Fact
from recollect.schemas.ids import fact_id
from recollect.streams.agents import Agent, Extract


class Ratings(Agent):
    kinds = frozenset({"message"})

    def extract(self, event, conversation):
        return Extract(re.findall(r"I give (.+?) (\\d) stars", event.payload.content))

    def resolve(self, event, extract, state):
        puts = []
        for what, stars in extract.content:
            text = f"{event.payload.sender_name} rates {what} {stars} of 5"
            name = fact_id(event.id, text, event.occurred_at)
            moment = event.ingested_at
            puts.append(
                Fact(name, text, None, event.occurred_at, moment, event.id, "{}", moment, "")
            )
        return [DecidedPart((event.number,), puts=puts)]


AGENT = Ratings()
AGAIN = AGENT
'''

#: How a home names it.
TOY = "toys.ratings:AGENT"


def write_package(folder: Path) -> Path:
    """Write the package into a new folder, and return that; it is to be on the import path."""
    (folder / "toys").mkdir(parents=True)
    (folder / "toys" / "__init__.py").write_text("")
    (folder / "toys" / "ratings.py").write_text(RATINGS)
    return folder
