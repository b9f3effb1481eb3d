"""The agent that finds the relationships which new facts state between entities (C6).

It reads only the decided rows of a fact: its text, the names in it and its slot. So the result does
not depend on whether rules or a language model wrote the fact. How long a relationship holds, and
how often it was stated, follow from its facts and are not stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.schemas.changes import (
    DecidedPart,
    Entity,
    Fact,
    FactClaim,
    Mention,
    RelationshipEvidence,
)
from recollect.schemas.events import Event
from recollect.schemas.memory_terms import READERS_MARK
from recollect.streams.agents.agent import Conversation, DerivingAgent, Extract
from recollect.streams.agents.state import State
from recollect.streams.relationships.stated_relationships import NamedEntity, relationships_in
from recollect.text.lexicon import PRONOUNS


class RelationshipFinder(DerivingAgent):
    """Adds the relationships between entities to the facts that other agents decided."""

    kinds: frozenset[str] = frozenset()

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        return []

    def derive(
        self, event: Event, decided: Sequence[DecidedPart], state: State
    ) -> list[DecidedPart]:
        """Return the relationships that the new facts state, with the sources of each fact."""
        facts = [
            (part.sources, row) for part in decided for row in part.puts if isinstance(row, Fact)
        ]
        if not facts:
            return []
        rows = _DecidedRows(decided, state)
        return [
            DecidedPart(sources, [*evidence])
            for sources, fact in facts
            if (evidence := _evidence(fact, rows))
        ]


class _DecidedRows:
    """The names and slots of the facts that were decided for a record."""

    def __init__(self, decided: Sequence[DecidedPart], state: State) -> None:
        self._state = state
        self._mentions: dict[str, list[Mention]] = {}
        self._slots: dict[str, FactClaim] = {}
        self._new: dict[str, str] = {}
        for part in decided:
            for row in part.puts:
                if isinstance(row, Mention) and row.fact_id and row.entity_id:
                    self._mentions.setdefault(row.fact_id, []).append(row)
                elif isinstance(row, FactClaim):
                    self._slots[row.fact_id] = row
                elif isinstance(row, Entity):
                    self._new[row.id] = row.normalized

    def slot(self, fact: Fact) -> tuple[str, str, str] | None:
        """Return (entity, attribute, value) of a fact's slot."""
        row = self._slots.get(fact.id)
        if row is None:
            return None
        return row.subject.partition(READERS_MARK)[0], row.attribute, row.value

    def names(self, fact: Fact) -> list[NamedEntity]:
        """Return the names in a fact in order, the name of its speaker first."""
        found = sorted(
            self._mentions.get(fact.id, ()),
            key=lambda row: (row.char_offset_start, row.entity_id),
        )
        return [
            NamedEntity(row.entity_id, self._name(row, fact.text), row.mention_type, row.confidence)
            for row in found
        ]

    def _name(self, row: Mention, text: str) -> str:
        """Return the name of a mention in a fact's text, which has names in place of pronouns."""
        if row.mention_text.lower() not in PRONOUNS:
            return row.mention_text
        normalized = self._new.get(row.entity_id)
        if normalized is None:
            entity = self._state.entity(row.entity_id)
            normalized = "" if entity is None else entity.normalized
        for name in dict.fromkeys((normalized, normalized.partition(" ")[0])):
            match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
            if name and match is not None:
                return match[0]
        return ""


def _evidence(fact: Fact, rows: _DecidedRows) -> list[RelationshipEvidence]:
    if not (names := rows.names(fact)):
        return []
    speaker, *others = names
    return [
        RelationshipEvidence(
            fact_id=fact.id,
            source_entity_id=relationship.source,
            target_entity_id=relationship.target,
            relationship_type=relationship.type,
            confidence=relationship.confidence,
            char_start=relationship.start,
            char_end=relationship.end,
            rule=relationship.rule,
        )
        for relationship in relationships_in(fact.text, others, speaker, rows.slot(fact))
    ]
