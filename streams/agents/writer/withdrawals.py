"""Withdrawals: the effect on facts of editing or deleting a message that states them.

A fact ends when no event states it any more. While another event states it, it continues, without
the edited or deleted message among its occasions.
"""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import FactOccasion
from recollect.schemas.ids import time_of
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.message_analysis import AnalysedMessage

#: The `char_start` of the row of a fact's own event.
_OWN_EVENT = -1


def withdraw(
    message: AnalysedMessage, state: State
) -> tuple[frozenset[str], tuple[FactOccasion, ...]]:
    """Return the facts that only replaced versions of a message state, and the withdrawal rows.

    The rows withdraw this message's statements of facts that other events still state.
    """
    ended: set[str] = set()
    withdrawn: list[FactOccasion] = []
    for event_id in message.replaced:
        own = state.current_facts(event_id)
        again = [fact for fact, _, current in state.occasions_of(event_id) if current]
        for fact in dict.fromkeys((*own, *again)):
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
    return frozenset(ended), tuple(withdrawn)


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
