"""Which version of a stored memory a text replaces, and who may read it."""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import StoredMemoryVersion
from recollect.schemas.events import Event, Remember
from recollect.schemas.memory_terms import (
    EVERYONE,
    NO_AUTHOR,
    PRIVATE_PEER,
    MemoryAuthor,
    Owner,
    owner_of,
    place_of,
    reader_of,
)
from recollect.streams.agents.state import State

_numbers = msgspec.json.Decoder(tuple[int, ...])


def reader_of_event(event: Event) -> Owner:
    """Return who may read an event: everyone, or the readers of a stored memory."""
    content = event.payload
    if not isinstance(content, Remember):
        return EVERYONE
    return reader_of(content.scope, content.visibility, content.user_id, content.agent_id)


def author_of_event(event: Event) -> MemoryAuthor:
    """Return who stored the text of an event."""
    content = event.payload
    if not isinstance(content, Remember):
        return NO_AUTHOR
    return MemoryAuthor(content.scope, content.user_id, content.agent_id)


def is_private(event: Event) -> bool:
    """Return whether not everyone may read an event.

    A private event contributes to nothing that everyone sees: episodes, pages, observations, names
    of entities.
    """
    return reader_of_event(event) != EVERYONE or is_private_conversation(event)


def is_private_conversation(event: Event) -> bool:
    """Return whether an event is in a conversation of private memories."""
    peer = event.payload.peer_id if isinstance(event.payload, Remember) else None
    return peer is not None and peer.startswith(PRIVATE_PEER)


def previous_version(content: Remember, state: State) -> StoredMemoryVersion | None:
    """Return the version that a text replaces: by its path if it has one, else by `replaces`."""
    if place := place_of_text(content):
        return state.memory_at(place)
    replaced = None if content.replaces is None else state.memory_version(content.replaces)
    if replaced is None:
        return None
    newest = state.newest_memory_version(replaced.memory_id)
    return None if newest is None or newest.state == "deleted" else newest


def texts_of(id_: str, state: State) -> tuple[int, ...]:
    """Return the numbers of the events of a memory's text, or of a consolidated memory's texts."""
    if (row := state.consolidation(id_)) is not None:
        return _numbers.decode(row.sources)
    memory = state.stored_memory(id_)
    return () if memory is None else (memory.number,)


def place_of_text(content: Remember) -> str:
    """Return the hash of a text's owner, readers, namespace and path key; "" without a key."""
    owner = owner_of(content.scope, content.user_id, content.agent_id)
    reader = reader_of(content.scope, content.visibility, content.user_id, content.agent_id)
    return place_of(owner, reader, content.namespace, content.path_key)
