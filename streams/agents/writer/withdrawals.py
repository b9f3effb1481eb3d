"""Withdrawals: the effect on facts of editing or deleting a message that states them.

A fact ends when no event states it any more. While another event states it, it continues, without
the edited or deleted message among its occasions. What the message ended holds again, unless its
new version ends it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import (
    AnyRow,
    FactOccasion,
    FactSentence,
    FactSupersession,
    StatedEnding,
    WithdrawnSupersession,
)
from recollect.schemas.ids import time_of
from recollect.schemas.times import LATEST_MS
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.claims.late_claims import ChangedClaim, next_end
from recollect.streams.agents.writer.claims.statement_ends import end_again
from recollect.streams.agents.writer.message_analysis import AnalysedMessage
from recollect.streams.agents.writer.pending_rows import OWN_EVENT, PendingRows


class Withdrawal(NamedTuple):
    """The effect of a message on the facts of the versions that it replaces.

    `ended`: the facts that only these versions state. `ended_before`: those that ended already when
    one of these versions replaced another. `rows`: they withdraw this message's statements of facts
    that other events still state. `supersessions`: the facts that these versions ended, each with
    what ends it instead: another value of the same attribute, or nothing. `changed`: the claims
    that these versions no longer state, in the periods in which they may not hold any more.
    `endings` and `sentences`: those of these versions, withdrawn.
    """

    ended: frozenset[str]
    ended_before: frozenset[str]
    rows: tuple[FactOccasion, ...]
    supersessions: tuple[FactSupersession | WithdrawnSupersession, ...]
    changed: tuple[ChangedClaim, ...]
    endings: tuple[StatedEnding, ...]
    sentences: tuple[FactSentence, ...]


def withdraw(message: AnalysedMessage, state: State, pending: PendingRows) -> Withdrawal:
    """Return which facts of the versions that a message replaces end, and the withdrawal rows.

    The statements of these versions no longer count in `pending`.
    """
    pending.replaced.update(message.replaced)
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
        if fact not in ends or ends[fact][0] not in message.replaced:
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
                    FactOccasion(fact, event_id, OWN_EVENT, at, "", "edited or deleted", 0)
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
    sentences = state.sentences_of_events(message.replaced)
    pending.unstated.update(row.fact_id for row in withdrawn if row.char_start == OWN_EVENT)
    changed = []
    for row in withdrawn:
        times = pending.stated_times(row.fact_id, time_of(row.fact_id), state)
        if times and (claim := state.claim_of(row.fact_id)) is not None:
            since, until = sorted((min(times), row.said_at))
            changed.append(ChangedClaim(claim, (claim.subject,), since, until))
    for fact in sorted(ended):
        if (claim := state.claim_of(fact)) is not None:
            since = min((claim.as_of, time_of(fact), *state.repeat_times(fact)))
            until = ends[fact][1] if fact in ends else LATEST_MS
            changed.append(ChangedClaim(claim, (claim.subject,), since, until))
    new_ends: dict[str, FactSupersession | WithdrawnSupersession] = {}
    for end in _ends_without_repeats(withdrawn, ends, state, pending, ended):
        new_ends[end.fact_id] = end
    for fact, by in _released(message.replaced, ended, withdrawn, state):
        if fact not in known and fact not in new_ends:
            by_value = _end_by_value(fact, state, pending, ended)
            new_ends[fact] = by_value or WithdrawnSupersession(fact, by)
    pending.supersede(new_ends.values())
    for fact in dict.fromkeys((*new_ends, *(row.fact_id for row in withdrawn))):
        # Another statement may end it, also one before which it was said again until now.
        for end in end_again(fact, state, pending, ended):
            new_ends[fact] = end
            pending.supersede([end])
    return Withdrawal(
        frozenset(ended),
        frozenset(ended_before),
        tuple(withdrawn),
        tuple(new_ends.values()),
        tuple(changed),
        tuple(endings),
        tuple(
            msgspec.structs.replace(
                each, sentence="", vector=b"", attributes="{}", names="", is_standing=0
            )
            for each in sentences
        ),
    )


def _released(
    replaced: Sequence[str], ended: Set[str], withdrawn: Sequence[FactOccasion], state: State
) -> Iterable[tuple[str, str]]:
    """Yield the facts that statements superseded which no longer stand, each with what did.

    They are those of `replaced` events, of facts that ended, and the `withdrawn` ones.
    """
    gone = {(row.fact_id, row.said_at) for row in withdrawn}
    lasting = {row.fact_id for row in withdrawn}
    # What a claim ended that began on an announced day.
    own = (state.claim_of(row.fact_id) for row in withdrawn if row.char_start == OWN_EVENT)
    gone |= {(claim.fact_id, claim.as_of) for claim in own if claim is not None}
    for fact, (by, at) in state.superseded_by([*replaced, *sorted(ended | lasting)]).items():
        if by not in lasting or (by, at) in gone:
            yield fact, by


def _ends_without_repeats(
    withdrawn: Sequence[FactOccasion],
    ends: Mapping[str, tuple[str, int]],
    state: State,
    pending: PendingRows,
    ended: Set[str],
) -> Iterable[FactSupersession]:
    """Yield the ends of facts that hold less long without statements that were withdrawn.

    `ends`: their ends before.
    """
    for fact in dict.fromkeys(row.fact_id for row in withdrawn):
        end = _end_by_value(fact, state, pending, ended)
        if end is not None and (fact not in ends or end.invalid_at < ends[fact][1]):
            yield end


def _end_by_value(
    fact: str, state: State, pending: PendingRows, ended: Set[str]
) -> FactSupersession | None:
    """Return the end of a fact by the first other value stated after it, or None."""
    claim = state.claim_of(fact)
    if claim is None:
        return None
    last = max(pending.stated_times(fact, claim.as_of, state), default=claim.as_of)
    return next_end(claim, (claim.subject,), last, state, pending, ended)


def holding_again(rows: Iterable[AnyRow], state: State) -> list[WithdrawnSupersession]:
    """Return the rows by which those of the supersessions hold that were withdrawn before."""
    return [
        WithdrawnSupersession(row.fact_id, row.superseded_by, 0)
        for row in rows
        if isinstance(row, FactSupersession) and state.is_withdrawn(row.fact_id, row.superseded_by)
    ]


def _is_stated_by_others(
    rows: dict[str, FactOccasion], replaced: tuple[str, ...], *, is_own: bool
) -> bool:
    """Return whether an event outside of `replaced` states a fact, whose occasions are `rows`.

    `is_own`: the event from which the fact comes is among the replaced ones.
    """
    if any(row.is_standing and row.event_id not in replaced for row in rows.values()):
        return True
    is_withdrawn = any(row.char_start == OWN_EVENT for row in rows.values())
    return not is_own and not is_withdrawn
