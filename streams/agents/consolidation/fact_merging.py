"""The daily merge of facts: of several duplicates, one is kept and cites all messages (B10).

A repetition by the same sender is counted when it arrives. This pass merges facts of several
senders, and of a person whose accounts were merged later. Nothing is deleted: the other facts are
hidden, and shown again if the merge is undone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from recollect.projections.events.event_queries import event_by_id
from recollect.projections.memory.pass_queries import (
    MergeableFact,
    entities_with_new_facts,
    facts_with_words,
    mergeable_facts,
    merged_facts_said_again,
    new_facts,
    stated_values,
)
from recollect.schemas.changes import DecidedPart, EntityFact, FactMerge, FactOccasion
from recollect.schemas.events import Event, RunPass, UndoMerge
from recollect.schemas.names import normalise_name
from recollect.streams.agents.consolidation.pass_scope import scope_of
from recollect.streams.agents.mental_models.entity_pages import page_fact
from recollect.streams.agents.state import State
from recollect.streams.mental_models.page import PageFact
from recollect.streams.mental_models.same_facts import SAME_TIME_MS, meanings, telling_words

#: The name of this pass.
FACT_MERGE = "fact_merge"
#: How much longer a fact with the same words may be, because of other forms of names.
_MORE_CHARACTERS = 100
#: The reasons of the occasions that merges add begin with this.
_MERGED = "merged: "
_numbers = msgspec.json.Decoder(list[int])


class FactPair(NamedTuple):
    """A fact to merge into another, and the last record that changed either."""

    fact_id: str
    keeper_id: str
    last_change: int


# What a tick finds; the state is read untracked


def facts_to_merge(state: State, before: int) -> Iterator[FactPair]:
    """Yield the facts to merge, and merged facts that have been stated again since.

    Only facts that are new since the last merge are compared with others, by what they say, so the
    cost is linear in their number; after an erasure all are. `before`: the number of the tick.
    """
    for fact_id, keeper_id, event_id in merged_facts_said_again(state.memory):
        event = event_by_id(state.events, event_id)
        if event is not None:
            yield FactPair(fact_id, keeper_id, event.number)
    merged: set[str] = set()
    kept: set[str] = set()
    scope = scope_of(FACT_MERGE, state.events, state.memory, before)
    new = entities_with_new_facts(state.memory, scope.since)
    groups = {tuple(state.group_of(entity)) for entity in new}
    for group in sorted(groups):
        for duplicates in _saying_the_same(_compared(group, scope.since, state), group, state):
            keeper = max(duplicates, key=_rank)
            kept_id = keeper.row.fact_id
            for duplicate in duplicates:
                fact_id = duplicate.row.fact_id
                if duplicate is keeper or duplicate.has_merged or kept_id in merged:
                    continue
                if fact_id not in merged | kept:
                    merged.add(fact_id)
                    kept.add(kept_id)
                    last_change = scope.last_change(duplicate.row.number, keeper.row.number)
                    yield FactPair(fact_id, kept_id, last_change)


def _compared(group: Sequence[str], since: int, state: State) -> list[MergeableFact]:
    """Return the facts about an entity that may contain new duplicates.

    They are the facts that are new after the record `since`, and those with the same words or
    values; or all if many are new.
    """
    memory = state.memory
    new = new_facts(memory, group, since)
    if new is None:
        return mergeable_facts(memory, group)
    among = set(new)
    slots: dict[str, set[str]] = {}
    for fact in mergeable_facts(memory, group, new):
        page = _page_fact(fact.row, group, state)
        among.update(
            facts_with_words(memory, telling_words(page), len(page.text) + _MORE_CHARACTERS)
        )
        if page.attribute:
            slots.setdefault(page.attribute, set()).add(normalise_name(page.value))
    for attribute, values in slots.items():
        among.update(
            id_
            for id_, value in stated_values(memory, group, attribute)
            if normalise_name(value) in values
        )
    return mergeable_facts(memory, group, sorted(among))


def _saying_the_same(
    facts: Sequence[MergeableFact], group: Sequence[str], state: State
) -> Iterator[list[MergeableFact]]:
    """Yield each set of two or more facts that say the same thing, in the order of statement.

    Statements of a one-time event are duplicates only within a day.
    """
    by_key: dict[Hashable, list[tuple[MergeableFact, bool]]] = {}
    for fact in facts:
        for meaning in meanings(_page_fact(fact.row, group, state), group[0]):
            by_key.setdefault(meaning.key, []).append((fact, meaning.is_timeless))
    for same in by_key.values():
        near: list[MergeableFact] = []
        for fact, is_timeless in same:
            if near and not is_timeless and fact.row.said_at - near[0].row.said_at > SAME_TIME_MS:
                yield from [near] if len(near) > 1 else []
                near = []
            near.append(fact)
        yield from [near] if len(near) > 1 else []


def _rank(fact: MergeableFact) -> tuple[object, ...]:
    """Return the order of preference: already kept, first-hand, links, recalls, newness."""
    first_hand = not fact.row.speaker
    links = fact.entities - (not first_hand)
    return fact.has_merged, first_hand, links, fact.recalls, fact.row.said_at, fact.row.fact_id


def _page_fact(row: EntityFact, group: Sequence[str], state: State) -> PageFact:
    """Return a fact, with canonical ids for the other entities in it."""
    fact = page_fact(row, frozenset(group))
    beside = ((state.canonical(id_), id_, name) for id_, name in fact.beside)
    return fact._replace(
        beside=tuple((id_ if found is None else found.id, name) for found, id_, name in beside)
    )


# What a command decides


def merge_facts(event: Event, command: RunPass, state: State) -> list[DecidedPart]:
    """Return the rows that merge a fact into its keeper, if they still say the same thing."""
    marker = DecidedPart((event.number,))
    fact_id, keeper_id = command.subject, command.keeper
    assert keeper_id is not None
    rows = state.entity_facts_of(fact_id)
    merge = state.fact_merge(fact_id)
    if merge is not None and (not merge.is_standing or merge.keeper_id != keeper_id):
        return [marker]
    if merge is not None:
        return [marker, *_occasions(event, merge, rows[0], state)] if rows else [marker]
    kept = state.entity_facts_of(keeper_id)
    reason = _why_same(rows, kept, state)
    if reason is None or state.is_merged_fact(keeper_id) or state.facts_merged_into(fact_id):
        return [marker]
    invalid_at = max(rows[0].said_at, kept[0].said_at)
    made = FactMerge(fact_id, keeper_id, reason, event.occurred_at, invalid_at, 1)
    sources = {event.number, *_sources(rows[0]), *_sources(kept[0])}
    part = DecidedPart(tuple(sorted(sources)), [made])
    return [marker, part, *_occasions(event, made, rows[0], state)]


def _why_same(rows: Sequence[EntityFact], kept: Sequence[EntityFact], state: State) -> str | None:
    """Return why two facts say the same thing about an entity; None if they do not."""
    if any(not row.is_told or row.ended_at is not None for row in (*rows, *kept)):
        return None
    for one in rows:
        group = state.group_of(one.entity_id)
        for other in kept:
            if other.entity_id in group:
                theirs = {m.key for m in meanings(_page_fact(other, group, state), group[0])}
                near = abs(one.said_at - other.said_at) <= SAME_TIME_MS
                for meaning in meanings(_page_fact(one, group, state), group[0]):
                    if meaning.key in theirs and (meaning.is_timeless or near):
                        return meaning.reason
    return None


def _occasions(
    event: Event, merge: FactMerge, row: EntityFact, state: State
) -> Iterator[DecidedPart]:
    """Yield the occasions that make the kept fact cite the events of the merged one too."""
    known = {occasion.event_id for occasion in state.occasions(merge.keeper_id)}
    reason = _MERGED + merge.reason
    own = state.occasions(row.fact_id)
    stated = [FactOccasion(merge.keeper_id, row.event_id, 0, row.said_at, row.text, reason, 1)]
    if any(occasion.event_id == row.event_id and not occasion.is_standing for occasion in own):
        stated = []
    stated += [
        msgspec.structs.replace(occasion, fact_id=merge.keeper_id, reason=reason)
        for occasion in own
        if occasion.is_standing
    ]
    for occasion in stated:
        stating = event_by_id(state.events, occasion.event_id)
        if occasion.event_id not in known and stating is not None:
            sources = {event.number, stating.number, *_sources(row)}
            yield DecidedPart(tuple(sorted(sources)), [occasion])


def _sources(row: EntityFact) -> list[int]:
    return _numbers.decode(row.sources)


def undo_fact_merge(event: Event, command: UndoMerge, state: State) -> list[DecidedPart]:
    """Return the rows that separate a merged fact from its keeper; none if it is not merged."""
    merge = state.fact_merge(command.merge_id)
    if merge is None or not merge.is_standing:
        return []
    part = DecidedPart((event.number,), [msgspec.structs.replace(merge, is_standing=0)])
    rows = state.entity_facts_of(merge.fact_id)
    stating = {row.event_id for row in rows}
    stating |= {occasion.event_id for occasion in state.occasions(merge.fact_id)}
    for occasion in state.occasions(merge.keeper_id):
        if (
            occasion.event_id in stating
            and occasion.reason.startswith(_MERGED)
            and occasion.is_standing
        ):
            part.puts.append(msgspec.structs.replace(occasion, text="", is_standing=0))
    return [part]
