"""The owner of a zone: questions that name them are read as if they asked about themselves.

In the memory of one person's phone, most questions name that person or say "I". Both forms must
give the same results, and neither implies that the person wrote the answer: it may be in a friend's
message or in a notification. So the owner's name is replaced by "I" or "my".

The owner is the participant of most conversations: of ten or more, and of more than twice as many
as any other, apart from assistants. Two people who only talk to each other share all conversations,
so neither is the owner; nor is somebody who talks to no other person.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from recollect.projections.identity import entities_for_recall
from recollect.projections.identity import entity_queries as identity
from recollect.projections.recall.index.turn_index import Turns
from recollect.projections.recall.question.entity_names import NamedEntity, entity_ids


def in_first_person(text: str, named: Sequence[NamedEntity], turns: Turns) -> str:
    """Return a question with "I" and "my" instead of the owner's name."""
    for item in reversed(named):
        if item.senders and turns.is_owner(item.senders):
            after = text[item.end :]
            rest = after.removeprefix("'s").removeprefix("’s")
            text = text[: item.start] + ("I" if rest == after else "my") + rest
    return text


def owner_ids(turns: Turns, connection: apsw.Connection) -> set[str]:
    """Return the ids of the zone's owner, or of the only person who writes in it; empty if none.

    `connection`: that of identity.db.
    """
    sender = turns.most_active_sender
    if sender is None:
        return set()
    handle = entities_for_recall.entity_of_sender(connection, *sender)
    entity = None if handle is None else identity.canonical(connection, handle)
    if entity is None:
        return set()
    ids = entity_ids(connection, [entity])
    senders = entities_for_recall.senders(connection, sorted(ids))
    return ids if turns.is_owner(senders) or turns.is_only_person(senders) else set()
