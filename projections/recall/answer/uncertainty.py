"""Uncertain facts: a message states that they depend on something, and that has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.projections.events import event_list
from recollect.projections.events.event_list import ListedEvent
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entities_for_recall import entities_of_events
from recollect.projections.memory import dependency_queries as queries
from recollect.projections.memory.dependency_queries import CurrentFact, SideFact, TwoSides
from recollect.schemas.times import LATEST_MS, format_time
from recollect.schemas.wire import Uncertainty
from recollect.text.rescheduling import is_rescheduled, plain_forms

#: The slots that a single word of a condition names.
_SLOTS: Mapping[str, tuple[str, ...]] = {
    "job": ("employer", "role"),
    "employer": ("employer",),
    "company": ("employer",),
    "role": ("role",),
    "home": ("home",),
    "address": ("home",),
    "apartment": ("home",),
    "flat": ("home",),
}


def uncertainties(
    files: ZoneFiles, fact_ids: Sequence[str], until: int = LATEST_MS
) -> dict[str, Uncertainty]:
    """Return fact id -> why it is uncertain, for each of these facts that is uncertain.

    A dependency says that a consequence depends on a condition. A current fact with the words of
    the consequence is uncertain if a fact with the words of the condition ended or was rescheduled
    after the current fact was last stated. Both facts must be by the sender of the dependency, or
    from its thread. Changes after `until` (unix ms) do not count. Of several changes, the latest is
    given.
    """
    connection = files.memory.connection
    if not fact_ids or not queries.has_dependencies(connection):
        return {}
    facts = queries.current_facts(connection, sorted(set(fact_ids)))
    words = {fact.id: frozenset(plain_forms(fact.text)) for fact in facts}
    known = frozenset[str]().union(*words.values())
    pairs = [
        (fact, sides)
        for sides in queries.with_consequence(connection, known)
        for fact in facts
        if sides.consequence <= words[fact.id] and fact.event_id != sides.dependency.event_id
    ]
    by_fact: dict[str, tuple[int, Uncertainty]] = {}
    for sides in dict.fromkeys(sides for _, sides in pairs):
        dependent = [fact for fact, other in pairs if other is sides]
        after = min(fact.last_said for fact in dependent)
        changes = [
            *queries.facts_with_words(connection, sides.condition, after),
            *_ended_values(files, sides, after),
        ]
        dated = [
            (change, at) for change in changes if (at := _changed_at(change, sides)) is not None
        ]
        ids = {sides.dependency.event_id, *(fact.event_id for fact in dependent)}
        ids |= {
            id_ for change, _ in dated for id_ in (change.event_id, change.newer_event_id) if id_
        }
        events = event_list.with_ids(files.events.connection, sorted(ids))
        for fact in dependent:
            for change, at in dated:
                if not fact.last_said < at <= until or change.id == fact.id:
                    continue
                if fact.id in by_fact and by_fact[fact.id][0] >= at:
                    continue
                why = _why(fact, change, at, sides, events)
                if why is not None:
                    by_fact[fact.id] = at, why
    return {id_: why for id_, (_, why) in by_fact.items()}


def _ended_values(files: ZoneFiles, sides: TwoSides, after: int) -> list[SideFact]:
    """Return the facts that ended and state a value of the slot that a condition names.

    The slot belongs to somebody whom the message is by or about; "if I change jobs" names the
    sender's employer.
    """
    attributes = _attributes_of(sides)
    if not attributes:
        return []
    event = sides.dependency.event_id
    subjects = entities_of_events(files.identity.connection, [event]).get(event, [])
    return queries.ended_values(files.memory.connection, subjects, attributes, after)


def _attributes_of(sides: TwoSides) -> Sequence[str]:
    (term, *others) = sides.condition
    return () if others else _SLOTS.get(term, ())


def _changed_at(change: SideFact, sides: TwoSides) -> int | None:
    """Return when a fact on the condition's side changed (unix ms): it ended, or reports a move.

    A retracted move does not count. The message that states the dependency reports no move.
    """
    if change.event_id == sides.dependency.event_id and change.newer is None:
        return None
    reports_move = is_rescheduled(change.text, sides.condition)
    if change.ended_at is None and not reports_move:
        return None
    if not sides.condition <= frozenset(plain_forms(change.text)):
        return change.ended_at if _attributes_of(sides) and change.newer is not None else None
    if not reports_move:
        return change.ended_at
    if change.ended_at is None:
        return change.as_of
    return None if change.newer is None else change.ended_at


def _why(
    fact: CurrentFact,
    change: SideFact,
    at: int,
    sides: TwoSides,
    events: Mapping[str, ListedEvent],
) -> Uncertainty | None:
    """Return why a fact is uncertain; None if the messages have nothing to do with each other."""
    stated = events.get(sides.dependency.event_id)
    change_event = events.get(change.newer_event_id or change.event_id)
    first = events.get(change.event_id)
    dependent = events.get(fact.event_id)
    if stated is None or change_event is None or first is None or dependent is None:
        return None
    if not (_belong(stated, first) and _belong(stated, dependent)):
        return None
    if not sides.condition <= frozenset(plain_forms(change.text)):
        # A value of the sender's own slot.
        sender = (stated.sender_name or "").split(" ")[0]
        if first.sender_id != stated.sender_id or not change.text.startswith(sender or "\0"):
            return None
    if change.ended_at is None:
        text = change.text
    else:
        text = change.newer or f"no longer so: {change.text}"
    return Uncertainty(
        since=format_time(at),
        dependency=stated.content[sides.dependency.char_start : sides.dependency.char_end].strip(),
        change=text,
        source_event_ids=list(dict.fromkeys((stated.source_id, change_event.source_id))),
    )


def _belong(one: ListedEvent, other: ListedEvent) -> bool:
    """Return whether two events are by one sender, or from one thread."""
    if one.platform != other.platform:
        return False
    same_thread = one.thread_id is not None and one.thread_id == other.thread_id
    return one.sender_id == other.sender_id or same_thread
