"""The page about an entity: read from the state, composed, and turned into rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import EntityFact, MentalModelPage
from recollect.streams.agents.state import State
from recollect.streams.consolidation.days import day_of
from recollect.streams.mental_models.page import MAX_FACTS, PageFact, compose, render

_numbers = msgspec.json.Decoder(list[int])
_json = msgspec.json.Encoder()
_beside = msgspec.json.Decoder(list[tuple[str, str]])

#: Section, id, first and last character in the text, rank, and ids of the cited facts.
PlacedBlock = tuple[str, str, int, int, int, tuple[str, ...]]
_blocks = msgspec.json.Decoder(list[PlacedBlock])


class EntityPage(NamedTuple):
    """A page as text; `sources`: the numbers of the events that its lines quote."""

    name: str
    text: str
    blocks: tuple[PlacedBlock, ...]
    sources: frozenset[int]

    def row(self, model_id: str, entities: Sequence[str], note_end: int) -> MentalModelPage:
        """Return the row of a version whose text is a `note_end`-character note, then this page."""
        return MentalModelPage(
            model_id=model_id,
            entities=_json.encode(entities).decode(),
            blocks=_json.encode(self.blocks).decode(),
            note_end=note_end,
            replaced_by=None,
        )


def blocks_of(page: MentalModelPage) -> list[PlacedBlock]:
    """Return the blocks of a stored page."""
    return _blocks.decode(page.blocks)


def page_about(entities: Sequence[str], at: int, state: State, note: str = "") -> EntityPage:
    """Return the page about an entity and all that are merged with it, as of a time (unix ms).

    `note`: the text before the page. Without facts, the page has no blocks and no text.
    """
    rows = state.entity_facts(entities, MAX_FACTS)
    group = frozenset(entities)
    page = compose([page_fact(row, group) for row in rows], day_of(at))
    text = note
    blocks: list[PlacedBlock] = []
    for words, block in render(page.blocks):
        start = len(text)
        text += words if text else words.removeprefix("\n")
        if block is not None:
            place = (start, len(text))
            blocks.append((block.section, block.id, *place, block.rank, block.facts))
    cited = {fact for block in blocks for fact in block[-1]}
    sources = {
        number for row in rows if row.fact_id in cited for number in _numbers.decode(row.sources)
    }
    return EntityPage(page.name, text if blocks else "", tuple(blocks), frozenset(sources))


def page_fact(row: EntityFact, group: frozenset[str]) -> PageFact:
    """Return a stored fact about the entities of a group, as pages read it."""
    beside = _beside.decode(row.beside)
    return PageFact(
        id=row.fact_id,
        text=row.text,
        name=row.name,
        speaker=row.speaker,
        said_at=row.said_at,
        days=None if row.first_day is None else (row.first_day, row.last_day or row.first_day),
        attribute=row.attribute,
        value=row.value,
        ended_at=row.ended_at,
        beside=tuple(other for other in beside if other[0] not in group),
    )
