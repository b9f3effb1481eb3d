"""Withdrawals: the effect on facts of editing or deleting a message that states them.

A fact ends when no event states it any more. While another event states it, it continues, without
the edited or deleted message among its occasions. What the message ended holds again, unless its
new version ends it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import msgspec

from recollect.schemas.attributes import is_single_valued
from recollect.schemas.changes import (
    FactOccasion,
    FactSupersession,
    StatedEnding,
    WithdrawnSupersession,
)
from recollect.schemas.ids import time_of
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.message_analysis import AnalysedMessage

#: The `char_start` of the row of a fact's own event.
_OWN_EVENT = -1


class Withdrawal(NamedTuple):
    """The effect of a message on the facts of the versions that it replaces.

    `ended`: the facts that only these versions state. `ended_before`: those that ended already when
    one of these versions replaced another. `rows`: they withdraw this message's statements of facts
    that other events still state. `supersessions`: the facts that these versions ended, each with
    what ends it instead: a later value of the same attribute, or nothing. `endings`: what these
    versions say that they may end, withdrawn.
    """

    ended: frozenset[str]
    ended_before: frozenset[str]
    rows: tuple[FactOccasion, ...]
    supersessions: tuple[FactSupersession | WithdrawnSupersession, ...]
    endings: tuple[StatedEnding, ...]


def withdraw(message: AnalysedMessage, state: State) -> Withdrawal:
    """Return which facts of the versions that a message replaces end, and the withdrawal rows."""
    ended: set[str] = set()
    ended_before: set[str] = set()
    withdrawn: list[FactOccasion] = []
    stated = state.facts_of_events(message.replaced)
    repeated = state.facts_repeated_by(message.replaced)
    ends = state.supersessions([fact for _, fact in (*stated, *repeated)])
    own_facts: dict[str, list[str]] = {}
    repeated_facts: dict[str, list[str]] = {}
    for event_id, fact in stated:
        if fact in ends and ends[fact][0] in message.replaced:
            ended_before.add(fact)
        else:
            # Even if another message ended it: it is no longer what that message ended.
            own_facts.setdefault(event_id, []).append(fact)
    for event_id, fact in repeated:
        if fact not in ends:
            repeated_facts.setdefault(event_id, []).append(fact)
    for event_id in message.replaced:
        own = own_facts.get(event_id, [])
        for fact in dict.fromkeys((*own, *repeated_facts.get(event_id, ()))):
            rows = {row.event_id: row for row in state.occasions(fact)}
            if not _is_stated_by_others(rows, message.replaced, is_own=fact in own):
                ended.add(fact)
            elif fact in own:
                at = time_of(fact)
                withdrawn.append(
                    FactOccasion(fact, event_id, _OWN_EVENT, at, "", "edited or deleted", 0)
                )
            else:
                withdrawn.append(msgspec.structs.replace(rows[event_id], text="", is_standing=0))
    endings = [
        msgspec.structs.replace(
            row, attributes="{}", nouns="[]", left_values="{}", words="", is_standing=0
        )
        for row in state.endings_of_events(message.replaced)
    ]
    known = {fact for _, fact in (*stated, *repeated)}
    return Withdrawal(
        frozenset(ended),
        frozenset(ended_before),
        tuple(withdrawn),
        tuple(_withdrawn_supersessions(message.replaced, ended, known, ends, state)),
        tuple(endings),
    )


def _withdrawn_supersessions(
    replaced: Sequence[str],
    ended: Set[str],
    known: Set[str],
    ends: Mapping[str, tuple[str, int]],
    state: State,
) -> Iterable[FactSupersession | WithdrawnSupersession]:
    """Yield the new ends of the facts that replaced versions of a message superseded.

    `ended`: the facts that only these versions state; `known`: all that they state, with their
    `ends`.
    """
    superseded = state.superseded_by([*replaced, *sorted(ended)])
    for fact, (by, _) in superseded.items():
        if fact in known:
            continue
        end = ends.get(by) if _are_successive(fact, by, state) else None
        if end is None or end[0] in ended or end[0] in replaced:
            yield WithdrawnSupersession(fact, by)
        else:
            yield FactSupersession(fact, *end)


def _are_successive(fact: str, later: str, state: State) -> bool:
    """Return whether two facts state values of the same single-valued attribute."""
    one, other = state.claim_of(fact), state.claim_of(later)
    return (
        one is not None
        and other is not None
        and one.attribute == other.attribute
        and is_single_valued(one.attribute)
    )


def _is_stated_by_others(
    rows: dict[str, FactOccasion], replaced: tuple[str, ...], *, is_own: bool
) -> bool:
    """Return whether an event outside of `replaced` states a fact, whose occasions are `rows`.

    `is_own`: the event from which the fact comes is among the replaced ones.
    """
    if any(row.is_standing and row.event_id not in replaced for row in rows.values()):
        return True
    is_withdrawn = any(row.char_start == _OWN_EVENT for row in rows.values())
    return not is_own and not is_withdrawn
